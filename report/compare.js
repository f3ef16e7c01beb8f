/* Two groups of samples side by side: sizes, overlap, and the features that differ. SPDX-License-Identifier: BSD-3-Clause */

/* The selection becomes a group. */
function keepGroup(name) {
  if (!store.count) { say("Select samples first."); return; }
  store.keep(name, store.words || "a selection");
  say(`Group ${name.toUpperCase()} has ${plural(store.group(name).count, "sample")}.`);
}

/* What can be a group: [[key, title, samples()]]. */
function groupChoices() {
  return categories().flatMap(([id, title, values]) => values.slice(0, 200).map(([c, name]) => [`${id} ${c}`, id === "cluster" || id === "moved" ? name : `${title}: ${name}`, () => samplesOf(modes[id], c)]));
}

function compareSection() {
  if (!sum(tasks.map((t) => t.samples)) || D.command === "relate") return;
  let choices = groupChoices();
  const out = el("div", { id: "compared" });
  const pick = (name) => {
    const node = el("select", { id: `group-${name}`, onchange: () => {
      const chosen = choices.find(([key]) => key === node.value);
      if (node.value === "selection") keepGroup(name);
      else if (chosen) store.keep(name, chosen[1], chosen[2]());
      else store.drop(name);
      if (node.value === "selection" && !store.count) node.value = "";
    } });
    fill(node);
    return node;
  };
  const fill = (node) => node.replaceChildren(el("option", { value: "" }, "choose…"), el("option", { value: "selection" }, "the current selection"), ...choices.map(([key, title]) => el("option", { value: key }, cut(title, 60))));
  const a = pick("a"), b = pick("b");
  function draw() {
    const groups_ = ["a", "b"].map((name) => store.group(name));
    if (!groups_[0] || !groups_[1]) {
      out.replaceChildren(el("p", {}, `${groups_[0] ? "Choose group B" : groups_[1] ? "Choose group A" : "Choose two groups"}: clusters, classes, data sets or selections that you have kept.`));
      return;
    }
    const masks = groups_.map(masksOf), o = overlapOf(...masks), only = (x, y) => x.map((m, t) => m.map((v, i) => v && !y[t][i] ? 1 : 0));
    const card = (name, g) => el("article", { class: "card", "aria-label": `Group ${name}` }, el("h3", {}, `Group ${name}: `, el("span", { class: "who" }, g.words)), el("p", {}, groupWords({ ...g, words: "" }, "")), countTables(g, "group"));
    const same = o.a === o.both && o.b === o.both;
    out.replaceChildren(el("div", { class: "cards pairs" }, card("A", groups_[0]), card("B", groups_[1])),
      el("h3", {}, "Overlap"), el("p", { id: "overlap" }, `${plural(o.both, "sample")} ${o.both === 1 ? "is" : "are"} in both groups (Jaccard index ${share(o.jaccard)}; 0: none, 1: the groups are equal).`),
      el("h3", {}, "Features that differ"),
      same ? el("p", {}, "The groups are equal.") : el("p", {}, `The bars show the mean of A minus the mean of B, in standard deviations.${o.both ? " Samples in both groups are excluded." : ""}`),
      same ? "" : effectView(effects(featureFields, only(masks[0], masks[1]), only(masks[1], masks[0])), ["A", "B"], "Features that differ between the groups"));
  }
  store.subscribe((part) => {
    if (!(part & (store.GROUPS | store.FILTERS))) return;
    for (const [name, node] of [["a", a], ["b", b]]) {
      const g = store.group(name), chosen = choices.find(([key]) => key === node.value);
      if (!g) node.value = "";
      else if (!chosen || chosen[1] !== g.words) node.value = "selection";
    }
    draw();
  });
  afterLabels.push(() => { /* groups stay as they were kept */
    choices = groupChoices();
    for (const [name, node] of [["a", a], ["b", b]]) { fill(node); node.value = store.group(name) ? "selection" : ""; }
    draw();
  });
  section("compare", "Compare two groups", el("p", { class: "by" }, el("label", { for: "group-a" }, "Group A "), a, " ", el("label", { for: "group-b" }, "Group B "), b), out);
  draw();
}
