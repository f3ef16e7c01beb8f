/* The selection: how many samples, from where, what sets them apart, and which they are. SPDX-License-Identifier: BSD-3-Clause */

/* Categories to select by: [key, title, [[value, name]]]. */
function categories() {
  return Object.entries(modes).filter(([id, m]) => id !== "confidence" && id !== "level" && tasks.some((t) => m.has(t)))
    .map(([id, m]) => [id, m.title, m.all().map((c) => [c, m.name(c)])]);
}

/* The form "Select by": a category and its value, or a number and its range. */
function selectForm() {
  const sets = categories();
  if (!sets.length && !numberFields.length) return null;
  const kind = el("select", { id: "by-kind", "aria-label": "Select by", onchange: () => fill() }, sets.map(([id, title]) => el("option", { value: id }, title)),
    numberFields.map((f) => el("option", { value: `number ${f.key}` }, cut(f.title, 60))));
  const value = el("select", { id: "by-value", "aria-label": "Value" }), from = el("input", { id: "by-from", size: 8, "aria-label": "From" }), to = el("input", { id: "by-to", size: 8, "aria-label": "to" });
  const range = el("span", {}, " from ", from, " to ", to), wrong = el("span", { class: "wrong", role: "alert" });
  const field = () => kind.value.startsWith("number ") ? fieldByKey.get(kind.value.slice(7)) : null;
  function fill() {
    const f = field();
    value.hidden = Boolean(f);
    range.hidden = !f;
    wrong.textContent = "";
    if (f) { from.value = fieldText(f, f.low); to.value = fieldText(f, f.high); }
    else value.replaceChildren(...(sets.find(([id]) => id === kind.value) || [, , []])[2].slice(0, 2000).map(([c, name]) => el("option", { value: c }, cut(name, 60))));
  }
  function go(e) {
    e.preventDefault();
    const f = field();
    if (!f) {
      const c = Number(value.value);
      if (kind.value === "cluster") { if (highlight.number !== c || howOf() !== "replace") select(c); return; }
      selectSamples(samplesOf(modes[kind.value], c), modes[kind.value].name(c));
      return;
    }
    const low = fieldNumber(f, from.value), high = fieldNumber(f, to.value);
    wrong.textContent = low <= high ? "" : f.unit === "date" ? " Use two dates such as 2024-05-31, the earlier one first." : " Use two numbers, the smaller one first.";
    if (low <= high) selectSamples(rangeSamples(f, low, high), `${f.title} ${from.value.trim()} to ${to.value.trim()}`);
  }
  fill();
  return el("form", { class: "by", onsubmit: go }, el("label", { for: "by-kind" }, "Select by "), kind, " ", value, range, " ", el("button", { type: "submit" }, "Select"), wrong);
}

/* Values are rounded to codes: how far one may be outside of a range that was typed. */
const slackOf = (field) => (field.high - field.low) * (field.feature ? 1 / 500 : 1e-6);

/* Samples whose value of a field is in a range. */
function rangeSamples(field, low, high) {
  const slack = slackOf(field);
  return tasks.map((t) => {
    const rows = [], values = field.values(t.index);
    for (let i = 0; values && i < values.length; i++) if (values[i] >= low - slack && values[i] <= high + slack) rows.push(i);
    return [t.index, rows];
  });
}

/* Masks of the samples shown that are in a group ({has}), and of those that are not. */
function masksOf(group) {
  return tasks.map((t) => Uint8Array.from({ length: t.samples }, (_, i) => group.has(t.index, i) ? 1 : 0));
}
const restOf = (masks) => masks.map((m, t) => m.map((v, i) => v || !store.shown(t, i) ? 0 : 1));

/* Features of two groups with bars, and all of them in a table. */
function effectView(found_, titles, label) {
  if (!featureFields.length) return el("p", { class: "note" }, "This page has no values of features. Run the command with --report and without --report-features 0 to include them.");
  if (!found_.length) return el("p", {}, `None of the ${plural(featureFields.length, "embedded feature")} differs by 0.2 standard deviations or more.`);
  const shown_ = (f, v) => f.unit === "share" ? percent(v) : f.unit === "value" ? number(v, 4) : fieldText(f, v), items = found_.map((f) => ({ ...f, inside: shown_(f, f.mean_inside), outside: shown_(f, f.mean_outside) }));
  const columns = [{ title: "Feature" }, { title: "Effect", num: true }, { title: `Mean, ${titles[0]}`, num: true }, { title: `Mean, ${titles[1]}`, num: true }, { title: `Not zero, ${titles[0]}`, num: true }, { title: `Not zero, ${titles[1]}`, num: true }];
  return el("div", {}, featureBars(items, 10, Math.abs(items[0].effect)),
    behindLazily(`Table of ${plural(items.length, "feature")}`, () => pages(columns, items.length, (i) => [{ head: items[i].name }, number(items[i].effect, 2), items[i].inside, items[i].outside,
      percent(items[i].share_inside), percent(items[i].share_outside)], label)));
}

/* Counts of a group by data set, cluster and known class. */
function countTables(group, what = "selection") {
  const rows = tasks.map((t) => [t, group.rows(t.index)]), by = (title, name, of) => {
    const sizes = new Map(), all = new Map();
    for (const [t, list_] of rows) for (const i of list_) { const c = of(t, i); sizes.set(c, (sizes.get(c) || 0) + 1); }
    for (const t of tasks) for (let i = 0; i < t.samples; i++) { const c = of(t, i); if (sizes.has(c)) all.set(c, (all.get(c) || 0) + (store.shown(t.index, i) ? 1 : 0)); }
    const total = sum([...sizes.values()]);
    return table([{ title }, { title: "Samples", num: true }, { title: `Of the ${what}`, num: true }, { title: `Of the ${title.toLowerCase()}`, num: true }],
      [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 30).map(([c, n]) => [{ head: name(c) }, count(n), percent(n / total), percent(n / all.get(c))]), { label: `${title}s of the ${what}` });
  };
  return el("div", { class: "charts" }, tasks.length > 1 ? by("Data set", (c) => tasks[c].name, (t) => t.index) : null,
    labelled.length ? by(isTransfer ? "Class" : "Cluster", Name, labelOf) : null, tasks.some((t) => t.truth) ? by("Known class", modes.truth.name, modes.truth.category) : null);
}

/* The sentence about a group. */
function groupWords(group, what) {
  const sure = [];
  for (const t of tasks) if (t.confidence) for (const i of group.rows(t.index)) if (isNumber(t.confidence[i])) sure.push(t.confidence[i]);
  return `${plural(group.count, "sample")} of ${count(store.shownCount)}${group.words ? ` (${group.words})` : ""}${what}${sure.length ? `, mean confidence ${share(sum(sure) / sure.length)}` : ""}.`;
}

function selectionSection() {
  if (!sum(tasks.map((t) => t.samples)) || D.command === "relate") return;
  const body = el("div", { id: "selected" }), bar_ = el("div", { class: "selectionbar", role: "group", "aria-label": "Selection", hidden: true });
  const button = (title, act) => el("button", { type: "button", onclick: act }, title);
  const said = el("p", { id: "selected-count", role: "status" });
  const buttons = () => [button("Invert", () => { store.invert(); say(`${plural(store.count, "sample")} selected.`); }), button("Clear", () => { store.clear(); say("Nothing is selected."); })];
  let waiting = false;
  function draw() {
    waiting = false;
    const n = store.count, group = { count: n, words: store.words, rows: store.rows, has: store.has };
    said.textContent = n ? groupWords(group, "") : "Nothing is selected. Draw a rectangle or a lasso on the map, click a cluster or an entry of the legend, or use the form.";
    bar_.hidden = !n;
    bar_.replaceChildren(el("span", {}, `${plural(n, "sample")} selected`), " ", el("a", { href: "#selection" }, "Details"), " ", ...buttons());
    if (!n) { body.replaceChildren(); return; }
    const apart = el("div", {}), masks = masksOf(group);
    body.replaceChildren(countTables(group), el("h3", {}, "Features that distinguish it"),
      el("p", {}, "Features whose mean differs most between the selection and the other samples, in standard deviations, as for clusters."), apart,
      behindLazily(`Table of ${plural(n, "selected sample")}`, () => sampleTable(store.samples(), "Selected samples")));
    setTimeout(() => { apart.replaceChildren(effectView(effects(featureFields, masks, restOf(masks)), ["selected", "others"], "Features that distinguish the selection")); apart.dataset.ready = "1"; }, 0);
  }
  store.subscribe((part) => {
    if (!(part & (store.SELECTION | store.FILTERS)) || waiting) return;
    waiting = true;
    setTimeout(draw, 0);
  });
  section("selection", "Selection", selectForm(), el("p", { class: "tools" }, ...buttons(), " ", button("Keep as group A", () => keepGroup("a")), " ", button("Keep as group B", () => keepGroup("b"))), said, body);
  document.body.append(bar_);
  draw();
}
