/* Several numbers of clusters: a slider for k, which also colours the map, and a tree of how clusters split.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree follows the R package clustree (Zappia and Oshlack, GigaScience 2018): a row per number of clusters, a circle per cluster, and a
 * line to each cluster of the row above that a tenth or more of its samples come from. */

const LEAST_SHARE = 0.1, LEVEL_TREES = 8;

const levels = list(D.levels).map((l) => ({
  k: object(l).k,
  tasks: list(object(l).tasks).map((t) => ({
    name: String(object(t).name), sizes: list(t.sizes).map((v) => isNumber(v) && v > 0 ? v : 0), parents: list(t.parents), sure: list(t.sure), splits: list(t.splits),
    labels: list(t.labels).length ? whole(t.labels) : null,
  })),
})).filter((l) => isNumber(l.k) && l.tasks.length === tasks.length);
const mainLevel = Math.max(0, levels.findIndex((l) => l.k === D.level));
const colouredByLevel = levels.length > 1 && levels.every((l) => l.tasks.every((t, i) => t.labels && t.labels.length === tasks[i].n));
view.level = mainLevel;
modes.level = {
  title: "cluster at the chosen k", has: () => colouredByLevel, category: (t, i) => levels[view.level].tasks[t.index].labels[i],
  name: (c) => `cluster ${c}`, all: () => [...Array(Math.max(...levels.map((l) => Math.max(...l.tasks.map((t) => t.sizes.length))))).keys()],
};

/* For cluster c of a level: [cluster of the level before, share of its samples that were in it], largest first. */
function origins(before, t, c) {
  if (!t.labels || !before.labels) return t.parents[c] >= 0 ? [[t.parents[c], 1]] : [];
  const found = new Map();
  for (let i = 0; i < t.labels.length; i++) if (t.labels[i] === c) found.set(before.labels[i], (found.get(before.labels[i]) || 0) + 1);
  return [...found].map(([a, n]) => [a, n / t.sizes[c]]).filter(([, v]) => v >= LEAST_SHARE).sort((a, b) => b[1] - a[1]);
}

/* Clusters of a row from left to right: children below their parents. */
function rowOrder(before, t) {
  const place = (c) => before ? before.indexOf(t.parents[c]) : 0;
  return t.sizes.map((_, c) => c).filter((c) => t.sizes[c]).sort((a, b) => place(a) - place(b) || a - b);
}

function levelTree(index, choose) {
  const step = 64, left = 54, n = tasks[index].n, widest = Math.max(...levels.map((l) => l.tasks[index].sizes.length));
  const width = left + Math.max(260, widest * 62), height = levels.length * step + 10, place = (l, order, c) => [left + (width - left) * (order.indexOf(c) + 0.5) / order.length, l * step + step / 2];
  const lines = svg("g"), nodes = svg("g"), rows = [];
  let before = null;
  levels.forEach((level, l) => {
    const t = level.tasks[index], order = rowOrder(before, t);
    const row = svg("g", { class: "level", onclick: () => choose(l) },
      svg("rect", { x: 0, y: l * step + 4, width, height: step - 8, rx: 6 }), svg("text", { x: 8, y: l * step + step / 2 + 5 }, `k = ${level.k}`));
    rows.push(row);
    for (const c of order) {
      const [x, y] = place(l, order, c), radius = 6 + 14 * Math.sqrt(t.sizes[c] / Math.max(1, n));
      for (const [a, part] of before ? origins(levels[l - 1].tasks[index], t, c) : []) {
        const [px, py] = place(l - 1, before, a);
        if (before.includes(a)) lines.append(svg("line", { x1: px, y1: py, x2: x, y2: y, "stroke-width": 1 + 4 * part, opacity: 0.25 + 0.5 * part }));
      }
      const words = `k = ${level.k}, cluster ${c}: ${plural(t.sizes[c], "sample")}${isNumber(t.sure[c]) ? `, mean confidence ${share(t.sure[c])}` : ""}`;
      const node = svg("circle", { cx: x, cy: y, r: radius });
      nodes.append(svg("g", {}, svg("title", {}, words), paint(node, "fill", () => hue(c)), svg("text", { class: "number", x, y: y + 4 }, String(c))));
    }
    before = order;
  });
  return { rows, node: el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Tree of ${tasks[index].name}` },
    svg("svg", { class: "tree", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `How clusters of ${tasks[index].name} split; the table below has the same` }, rows, lines, nodes)) };
}

/** "3 (53 of its 72 samples) and 4 (9)": a child can also have samples of other clusters. Results of older versions have no counts. */
function sides(split) {
  const [left, right, all] = list(split.samples);
  return list(split.into).map((c, i) => all === undefined ? String(c) : `${c} (${i ? count(right) : `${count(left)} of its ${plural(all, "sample")}`})`).join(" and ");
}

function splitWords(split) {
  const names = list(split.features).slice(0, 3).map((f) => `${object(f).name} (${(list(f.texts).length ? f.texts.map(String) : list(f.means).map((v) => number(v, 2))).join(" and ")})`);
  return names.length ? `differ most in ${listed(names)}` : "hardly differ in any feature";
}

function levelsSection() {
  if (levels.length < 2) return;
  const trees = [], said = el("div", { "aria-live": "polite" }), shownK = el("output", { for: "level" });
  const slider = el("input", { type: "range", id: "level", min: 0, max: levels.length - 1, step: 1, value: view.level, oninput: () => choose(Number(slider.value)) });
  const splits = levels.flatMap((level) => level.tasks.flatMap((t) => t.splits.map((s) => [level, t, s])));
  function choose(l, quietly) {
    view.level = l;
    slider.value = l;
    slider.setAttribute("aria-valuetext", `${levels[l].k} clusters`);
    shownK.textContent = `k = ${levels[l].k}`;
    for (const tree of trees) tree.rows.forEach((row, i) => row.classList.toggle("chosen", i === l));
    const here = splits.filter(([level]) => level === levels[l]);
    said.replaceChildren(l === 0 ? el("p", {}, "The smallest number of clusters.") : here.length ? el("ul", { class: "plain" }, here.map(([, t, s]) => el("li", {},
      `${tasks.length > 1 ? `${t.name}: cluster` : "Cluster"} ${s.of} splits into ${sides(s)}, which ${splitWords(s)}.`)))
      : el("p", {}, "No cluster splits at this number."));
    if (quietly || !colouredByLevel) return;
    showLevel(l);
    if (!panels.length) return;
    view.mode = "level";
    for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === "level";
    legend(document.getElementById("legend"));
    drawAll();
  }
  for (const t of tasks.slice(0, LEVEL_TREES)) trees.push(levelTree(t.index, choose));
  section("levels", "Several numbers of clusters",
    el("p", {}, `This run fitted k = ${listed(levels.map((l) => String(l.k)))} clusters. A cluster keeps its number and colour while it does not split. `,
      colouredByLevel && panels.length ? "The slider also changes the map, the cards and the counterparts below." : ""),
    el("p", { class: "slider" }, el("label", { for: "level" }, "Number of clusters "), slider, " ", shownK), said,
    el("p", { class: "note" }, "A circle is a cluster; its area grows with its size. A line leads from the cluster above that its samples come from; thin lines are a few of them."),
    trees.map((tree, i) => [tasks.length > 1 ? el("h3", {}, tasks[i].name) : null, tree.node]),
    tasks.length > LEVEL_TREES ? el("p", { class: "note" }, `The first ${LEVEL_TREES} of ${tasks.length} data sets are shown.`) : null,
    splits.length ? behind("Table of the splits", [{ title: "k", num: true }, { title: "Data set" }, { title: "Cluster" }, { title: "Splits into" }, { title: "Difference", words: true }],
      splits.map(([level, t, s]) => [String(level.k), t.name, String(s.of), sides(s), splitWords(s)])) : null);
  choose(view.level, true);
}
