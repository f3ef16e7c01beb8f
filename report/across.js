/* Across data sets: which clusters are counterparts, how related the sets are, what transfer moved.
 * SPDX-License-Identifier: BSD-3-Clause */

/* A match turned round. */
function turned(m) {
  const cols = Math.max(...m.matrix.map((r) => r.length));
  return { from: m.to, to: m.from, quality: [], matrix: Array.from({ length: cols }, (_, j) => m.matrix.map((r) => r[j])) };
}

/* Shares of a row that go to each column, times the quality of the match if it is known. */
function shares(m, i) {
  const row = m.matrix[i].map((v) => isNumber(v) && v > 0 ? v : 0), whole = sum(row);
  const good = isNumber(m.quality[i]) ? Math.max(0, Math.min(1, m.quality[i])) : 1;
  return row.map((v) => whole > 0 ? v / whole * good : 0);
}

/* Sizes of the clusters of a data set by their own numbers. */
function sizesOf(t) {
  const k = shownLevel !== null ? levels[shownLevel].tasks[t.index].sizes.length : 1 + Math.max(0, ...t.groups ? t.groups.keys() : []);
  return Array.from({ length: k }, (_, c) => groupOf(t.index, c) < 0 ? 0 : members(t, groupOf(t.index, c)).length);
}

/* Clusters of neighbouring tasks as columns, bands as wide as the match. */
function flow(all) {
  const chain = [];
  for (let t = 0; t + 1 < tasks.length; t++) {
    const m = all.find((x) => x.from === t && x.to === t + 1) || all.filter((x) => x.from === t + 1 && x.to === t).map(turned)[0];
    if (m) chain.push(m);
  }
  if (!chain.length) return null;
  const used = tasks.filter((t) => chain.some((m) => m.from === t.index || m.to === t.index) && t.labels);
  const gapX = 190, nodeW = 16, height = 300, top = 34, gap = 8, width = (used.length - 1) * gapX + nodeW + 130;
  const at = new Map();
  for (const [column, t] of used.entries()) {
    const sizes = sizesOf(t), present = sizes.filter((s) => s > 0).length, room = height - gap * Math.max(0, present - 1);
    const whole = sum(sizes) || 1;
    let y = top;
    at.set(t.index, sizes.map((s) => {
      const h = s > 0 ? Math.max(3, room * s / whole) : 0, node = { x: 10 + column * gapX, y, h, size: s };
      if (s > 0) y += h + gap;
      return node;
    }));
  }
  const bottom = Math.max(...[...at.values()].flat().map((n) => n.y + n.h)) + 10;
  const bands = [], nodes = [], titles = [];
  for (const m of chain) {
    const a = at.get(m.from), b = at.get(m.to);
    if (!a || !b) continue;
    /* bands in the middle of their nodes */
    const outOf = m.matrix.map((_, i) => sum(shares(m, i))), into = b.map((_, j) => sum(m.matrix.map((_r, i) => shares(m, i)[j] || 0)));
    const startA = a.map((n, i) => n.y + n.h * Math.max(0, 1 - (outOf[i] || 0)) / 2), startB = b.map((n, j) => n.y + n.h * Math.max(0, 1 - (into[j] || 0)) / 2);
    m.matrix.forEach((_, i) => shares(m, i).forEach((s, j) => {
      const from = groupOf(m.from, i), to = groupOf(m.to, j);
      if (s < 0.02 || !a[i] || !b[j] || !a[i].h || !b[j].h) return;
      const ha = a[i].h * s, hb = b[j].h * s / Math.max(1, into[j]), x0 = a[i].x + nodeW, x1 = b[j].x, mid = (x0 + x1) / 2;
      const band = svg("path", { class: "band", d: `M${x0} ${startA[i]}C${mid} ${startA[i]} ${mid} ${startB[j]} ${x1} ${startB[j]}V${startB[j] + hb}` +
        `C${mid} ${startB[j] + hb} ${mid} ${startA[i] + ha} ${x0} ${startA[i] + ha}Z` },
        svg("title", {}, `${nameOf(from)} of ${tasks[m.from].name} = ${nameOf(to)} of ${tasks[m.to].name}: ${percent(s)}`));
      paint(band, "fill", () => hue(from));
      watch((now) => band.classList.toggle("faded", now !== null && now !== from && now !== to));
      bands.push(band);
      startA[i] += ha;
      startB[j] += hb;
    }));
  }
  for (const [column, t] of used.entries()) {
    titles.push(svg("text", { x: 10 + column * gapX, y: 20, class: "strong" }, cut(t.name, 22)));
    at.get(t.index).forEach((n, number) => {
      const c = groupOf(t.index, number);
      if (!n.h) return;
      const box = svg("rect", { x: n.x, y: n.y, width: nodeW, height: n.h, rx: 2 });
      paint(box, "fill", () => hue(c));
      const group = svg("g", { class: "node", tabindex: 0, role: "button", "data-cluster": c, "aria-label": `${Name(c)} of ${t.name}: ${plural(n.size, "sample")}`,
        onclick: (e) => select(c, e), onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); select(c, e); } } },
        box, n.h >= 9 ? svg("text", { x: n.x + nodeW + 5, y: n.y + n.h / 2 + 4, class: "halo" }, `${cut(nameOf(c), 14)}`) : null);
      watch((now) => { group.classList.toggle("faded", now !== null && now !== c); group.setAttribute("aria-pressed", String(now === c)); });
      nodes.push(group);
    });
  }
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Matching clusters" },
    svg("svg", { class: "flow", viewBox: `0 0 ${width} ${bottom}`, width, height: bottom, role: "group", "aria-label": "Clusters of neighbouring data sets; wider bands join better matches" }, bands, nodes, titles));
}

const cut = (s, n) => { const letters = [...String(s)]; return letters.length > n ? `${letters.slice(0, n - 1).join("")}…` : String(s); };

/* Best counterparts with what they share. */
function counterparts(all) {
  const rows = [];
  for (const m of all) {
    if (m.from > m.to) continue;
    m.matrix.forEach((r, i) => {
      const own = shares(m, i), j = own.indexOf(Math.max(...own));
      const called = (t, c) => `${tasks[t].name} ${Name(groupOf(t, c))}`;
      if (!(own[j] > 0)) { rows.push([called(m.from, i), `none in ${tasks[m.to].name}`, "–", "–", "–", "–"]); return; }
      const name = (t, c) => features(tasks[t].clusters.find((p) => p && p.number === groupOf(t, c))).filter((f) => f.effect > 0).map((f) => String(f.name));
      const a = name(m.from, i), b = name(m.to, j), both = a.filter((f) => b.includes(f));
      const words = (w) => w.slice(0, 5).join(", ") || "–";
      rows.push([called(m.from, i), called(m.to, j), number(isNumber(m.quality[i]) ? m.quality[i] : own[j], 2),
        words(both), words(a.filter((f) => !both.includes(f))), words(b.filter((f) => !both.includes(f)))]);
    });
  }
  return rows;
}

/* A square of numbers. Colours go from 0 to the largest, or with `spread` over the numbers there are. */
function heat(names, matrix, caption, spread) {
  const flat = matrix.flat().filter(isNumber), high = Math.max(1e-9, ...flat), least = Math.min(0, ...flat);
  const low = spread && flat.length ? Math.max(least, Math.min(...flat) - 0.25 * (high - Math.min(...flat)) - 1e-9) : least;
  const t = table([{ title: "" }, ...names.map((n) => ({ title: cut(n, 24), num: true }))],
    matrix.map((r, i) => [{ head: cut(names[i], 24) }, ...list(r).map((v) => el("span", { class: "heat" }, share(v)))]), { label: caption });
  const cells = [...t.querySelectorAll("td")], values = matrix.map(list).flat();
  cells.forEach((c, k) => {
    const v = isNumber(values[k]) ? (values[k] - low) / (high - low) : 0;
    paint(c, "background-color", () => scheme() === "dark" ? `rgba(86,169,232,${(0.75 * v).toFixed(2)})` : `rgba(0,114,178,${(0.6 * v).toFixed(2)})`);
  });
  return t;
}

/* From where to where samples moved, for the tasks that tell. */
function moves() {
  const out = [];
  for (const t of tasks) {
    if (!t.moved || !t.labels) continue;
    const pairs = new Map();
    t.moved.forEach((yes, i) => {
      const key = `${t.before ? t.before.values[i] : -1} ${t.labels.values[i]}`;
      if (!yes) return;
      if (!pairs.has(key)) pairs.set(key, []);
      pairs.get(key).push(i);
    });
    for (const [key, who] of pairs) {
      const [from, to] = key.split(" ").map(Number);
      out.push([who.length, [t.name, from >= 0 ? Name(from) : "another cluster", Name(to), count(who.length), who.slice(0, 3).map((i) => idOf(t, i)).join(", ")]]);
    }
  }
  return out.sort((a, b) => b[0] - a[0]).map(([, row]) => row);
}

/* What the numbers of relatedness are: of auto nearness, of other methods weights. */
const relatednessWords = (method) => method === "auto"
  ? "Each row compares the samples of a data set with those of the others, from 0 to 1. At 1, their nearest samples in the other data set are as near as those in their own; below 0.35, few of them have a near neighbour there."
  : "Each row shows how much the method used the other data sets for this one. A data set's own weight is 1.";

function across() {
  const all = matchesNow(), related = object(D.relatedness), parts = [];
  const rows = list(related.matrix).filter((r) => Array.isArray(r) && r.length);
  if (all.length && !isTransfer) {
    const table = counterparts(all);
    parts.push(el("h3", {}, "Matching clusters"), el("p", {}, "Clusters of neighbouring data sets. A wider band means a better match; a cluster without a band has no match."), flow(all),
      behind("Table of the matches, with their common and different features", [{ title: "Cluster" }, { title: "Best match" }, { title: "Match quality, 0 to 1", num: true },
        { title: "Features of both" }, { title: "Only of the first" }, { title: "Only of the second" }], table.map((r) => [{ head: r[0] }, ...r.slice(1)])));
  }
  const moved = moves().map((r) => [{ head: r[0] }, ...r.slice(1)]), few = moved.length > 12 ? 8 : 12;
  const columns = [{ title: "Data set" }, { title: "From" }, { title: "To" }, { title: "Samples", num: true }, { title: "Examples" }];
  if (moved.length) parts.push(el("h3", {}, "What clustering together changed"),
    el("p", {}, "Samples that would be in another cluster if each data set were clustered alone. The most frequent moves come first."),
    table(columns, moved.slice(0, few), { label: "Samples that moved" }),
    moved.length > few ? behind(`${plural(moved.length - few, "more move")}`, columns, moved.slice(few)) : null);
  if (rows.length > 1) parts.push(el("h3", {}, "Relatedness of the data sets"),
    el("p", {}, relatednessWords(D.method)),
    heat((list(related.tasks).length === rows.length ? related.tasks : tasks.map((t) => t.name)).map(String), rows, "Relatedness"));
  if (parts.length) section("across", "Across data sets", parts);
}
