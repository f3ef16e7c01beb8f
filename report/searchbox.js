/* The search box, and tables of samples. SPDX-License-Identifier: BSD-3-Clause */

/* What was found: a mask per data set, or null where nothing is searched for. */
const found = { masks: null, count: 0 };

/* All that a sample can be found by, in lower case. */
function searchedText(t, i) {
  if (!t.searched) t.searched = new Array(t.samples);
  if (t.searched[i] === undefined) {
    const c = labelOf(t, i), words = [idOf(t, i), t.name];
    if (c >= 0) words.push(nameOf(c));
    if (t.truth && t.truth.values[i] >= 0) words.push(truthNames[t.truth.values[i]]);
    if (t.excerpts.has(i)) words.push(t.excerpts.get(i));
    words.push(...strongest(t, pointOf(t, i)));
    t.searched[i] = words.join("\n").toLowerCase();
  }
  return t.searched[i];
}

/* Rows of a table of samples: `samples` are [data set, rows], the least sure first where that is known. */
function sampleTable(samples, label, size) {
  const pairs = samples.filter(([, rows]) => rows.length), total = sum(pairs.map(([, rows]) => rows.length)), of = new Int32Array(total), row = new Int32Array(total), sure = new Float32Array(total);
  let at = 0;
  for (const [t, rows] of pairs) for (const i of rows) { of[at] = t; row[at] = i; sure[at++] = tasks[t].confidence && isNumber(tasks[t].confidence[i]) ? tasks[t].confidence[i] : 2; }
  const order = Int32Array.from(sure, (_, i) => i), used = pairs.map(([t]) => tasks[t]);
  if (used.some((t) => t.confidence)) order.sort((a, b) => sure[a] - sure[b] || a - b);
  const field = modeOf(view.mode).field, there = new Set(used.flatMap((t) => sampleLines(t, 0).map(([k]) => k)));
  if (used.some((t) => t.excerpts.size)) there.add("begins");
  const shownFields = ["cluster", "class", "known class", "confidence", ...(field ? [field.title] : []), "probabilities", "strongest", "begins"].filter((k) => there.has(k));
  return pages([{ title: "Data set" }, { title: "Sample" }, ...shownFields.map((f) => ({ title: f[0].toUpperCase() + f.slice(1), words: f === "begins" }))], total, (n) => {
    const t = tasks[of[order[n]]], lines = new Map(sampleLines(t, row[order[n]]));
    return [t.name, { head: lines.get("") }, ...shownFields.map((f) => lines.has(f) ? String(lines.get(f)) : "–")];
  }, label, size);
}

/* All samples that are drawn and not filtered away. */
function samplesTable(drawn) {
  const make = () => sampleTable(drawn.map((t) => {
    const rows = [];
    for (let p = 0; p < t.points; p++) if (store.shown(t.index, rowOf(t, p))) rows.push(rowOf(t, p));
    return [t.index, rows];
  }), "Samples");
  const node = behindLazily("Table of the samples", make);
  store.subscribe((part) => {
    if (!(part & store.FILTERS) || node.children.length < 2) return;
    if (node.open) node.lastChild.replaceWith(make());
    else node.lastChild.remove();
  });
  return node;
}

function searchBox() {
  const said = el("p", { class: "note", role: "status", id: "search-count", hidden: true }), out = el("div", { id: "search-results" });
  const input = el("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", placeholder: "id, word, class or feature" });
  let timer = 0, last = "";
  function run() {
    last = input.value;
    const r = searchAll(input.value, tasks.map((t) => t.samples), (t, i) => searchedText(tasks[t], i), featureFields.map((f) => f.name), store.shown);
    const active = queryWords(input.value).length > 0;
    found.masks = active && r.count ? tasks.map((t) => new Uint8Array(t.samples)) : null;
    found.count = r.count;
    for (const [t, rows] of found.masks ? r.samples : []) for (const i of rows) found.masks[t][i] = 1;
    said.hidden = !active;
    said.textContent = active ? `${plural(r.count, "sample")} and ${plural(r.features.length, "feature")} found.` : "";
    out.replaceChildren(...(active ? [
      r.features.length ? el("ul", { class: "legend", "aria-label": "Features found" }, r.features.slice(0, 12).map((name) => el("li", {},
        el("button", { type: "button", class: "key", onclick: () => colourBy(`feature:${name}`) }, `Colour by ${cut(name, 40)}`)))) : null,
      r.count ? el("p", {}, el("button", { type: "button", id: "search-select", onclick: (e) => { const words = `“${cut(last, 40)}”`; input.value = ""; run(); selectSamples(r.samples, words, e); } }, `Select ${plural(r.count, "sample")}`)) : null,
      r.count ? sampleTable(r.samples, "Samples found", 5) : null].filter(Boolean) : []));
    drawAll();
  }
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(run, 150); });
  input.addEventListener("keydown", (e) => { if (e.key === "Escape") { input.value = ""; run(); } else if (e.key === "Enter") { clearTimeout(timer); run(); } });
  store.subscribe((part) => { if (part & store.FILTERS && last) run(); });
  return el("div", { class: "search", role: "search" }, el("p", {}, el("label", { for: "search" }, "Search "), input), said, out);
}
