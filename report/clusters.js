/* The clusters: a card each, with what sets it apart, its most typical and most doubtful samples, known classes inside.
 * SPDX-License-Identifier: BSD-3-Clause */

const CARDS = 60;

/* Features with bars on one scale for the page; those below average have theirs to the left. */
const largestEffect = tasks.flatMap((t) => t.clusters.flatMap((c) => features(c).slice(0, 6))).reduce((most, f) => Math.max(most, Math.abs(f.effect)), 1e-9);
function featureBars(items, most, largest = largestEffect) {
  const top = items.slice(0, most);
  if (!top.length) return null;
  return el("ul", { class: "features" }, top.map((f) => {
    const less = f.effect < 0, line = el("span", { class: "strip", "aria-hidden": "true" });
    const part = el("span", { class: less ? "less" : "more", css: { width: `${Math.min(100, Math.round(100 * Math.abs(f.effect) / largest))}%` } });
    line.append(part);
    return el("li", { title: `effect ${number(f.effect, 2)} standard deviations; mean inside ${meanOf(f, "inside")}, outside ${meanOf(f, "outside")}` },
      el("span", { class: "word" }, String(f.text || f.name)), line,
      el("span", { class: "num" }, `${less ? "−" : ""}${Math.abs(f.effect).toFixed(1)}`));
  }));
}

/* A mean in the user's units, if these are known. */
const meanOf = (f, side) => typeof f[side] === "string" ? f[side] : number(f[`mean_${side}`], 4);

/* The surest and the least sure samples of a cluster, with the first words of texts. */
function typical(t, profile) {
  const rows = (v) => list(v).filter((i) => Number.isInteger(i) && i >= 0 && i < t.n);
  const example = (i) => el("li", {}, el("span", { class: "who" }, idOf(t, i)),
    t.confidence ? el("small", {}, ` ${share(t.confidence[i])}`) : null,
    t.second && t.second.values[i] >= 0 && t.confidence && t.confidence[i] < 0.7 ? el("small", { class: "or" }, ` or ${nameOf(t.second.values[i])}`) : null,
    t.excerpts.has(i) ? el("q", { class: "excerpt" }, t.excerpts.get(i)) : null);
  const part = (title, v) => v.length ? el("div", {}, el("h5", {}, title), el("ul", { class: "plain" }, v.map(example))) : null;
  const sides = [part("Most typical", rows(object(profile).typical)), part("Least certain", rows(object(profile).doubtful))].filter(Boolean);
  return sides.length ? el("div", { class: t.excerpts.size ? "pair texts" : "pair" }, sides) : null;
}

/* Known classes inside, largest first. */
function inside(t, rows) {
  if (!t.truth || !rows.length) return null;
  const sizes = new Map();
  for (const i of rows) sizes.set(t.truth.values[i], (sizes.get(t.truth.values[i]) || 0) + 1);
  const order = [...sizes].sort((a, b) => b[1] - a[1]);
  return el("p", { class: "inside" }, "Known classes: ",
    listed(order.slice(0, 4).map(([c, m]) => `${modes.truth.name(c)} ${percent(m / rows.length)}`).concat(order.length > 4 ? [`${order.length - 4} more`] : [])), ".");
}

function part(t, c) {
  const rows = members(t, c), profile = t.clusters.find((p) => p && p.number === c);
  if (!rows.length && !profile) return null;
  const size = t.labels ? rows.length : object(profile).size;
  const own = object(profile).own, renamed = Number.isInteger(own) && groups[c] && nameOf(c) === `cluster ${groups[c][0].number}` && own !== groups[c][0].number;
  return el("div", { class: "part" },
    el("h4", {}, t.name, el("small", {}, ` ${plural(size, "sample")}, ${percent(t.n ? size / t.n : NaN)}${renamed ? `; number ${own} in the labels file` : ""}`)),
    typeof object(profile).description === "string" ? el("p", { class: "description" }, profile.description) : null,
    featureBars(features(profile), 6), inside(t, rows), typical(t, profile));
}

/* The probability that the clusters of a card belong together, as in the summary: the least of the first data set and each other; NaN: unknown. */
function matchOf(c) {
  const has = membersOf(c).map((m) => m.task).sort((a, b) => a - b);
  const found = matchesNow().filter((m) => m.from === has[0] && has.includes(m.to)).flatMap((m) => list(m.quality).filter((q, i) => isNumber(q) && groupOf(m.from, i) === c));
  return found.length ? Math.min(...found) : NaN;
}

/* The proposed title. Select it to give the cluster a name. */
function titleOf(c, title) {
  const box = el("div", { class: "title" }), shown = el("button", { type: "button", title: "Rename", onclick: () => open() }, title || "Rename");
  const close = () => { box.replaceChildren(shown); shown.focus(); };
  const open = () => {
    const name = el("input", { maxlength: EDIT_NAME, autocomplete: "off", size: 28, "aria-label": `Name of ${nameOf(c)}` });
    name.value = givenNames.has(c) || state.classes ? nameOf(c) : cut(title || "", EDIT_NAME);
    box.replaceChildren(el("form", { onsubmit: (e) => { e.preventDefault(); if (!tryEdit(renameEdits(c, name.value.trim()))) box.append(el("p", { class: "wrong", role: "alert" }, editWrong.textContent)); },
      onkeydown: (e) => { if (e.key === "Escape") close(); } }, name, " ", el("button", { type: "submit" }, "Rename")));
    name.select();
  };
  box.append(shown);
  return box;
}

function clusters() {
  if (!labelled.length || !clusterCount) return;
  const cards = [];
  for (let c = 0; c < Math.min(clusterCount, CARDS); c++) {
    const parts = labelled.map((t) => part(t, c)).filter(Boolean);
    if (!parts.length) continue;
    const title = labelled.map((t) => object(t.clusters.find((p) => p && p.number === c)).title).find((v) => typeof v === "string");
    const match = isTransfer ? NaN : matchOf(c);
    cards.push(el("article", { class: "card", id: `cluster-${c}`, "aria-label": Name(c) },
      el("h3", {}, chooser(c, { class: "key" }, mark(c), " ", Name(c)), isNumber(match) ? el("small", {}, ` match ${percent(match)}`) : null),
      shownLevel === null ? titleOf(c, title) : title ? el("div", { class: "title" }, title) : null, notesOf(c).map((note) => el("p", { class: "usernote" }, note)), parts));
  }
  const rows = labelled.flatMap((t) => t.clusters.flatMap((p) => features(p).map((f) => [t.name, Name(p.number), { head: String(f.name) },
    number(f.effect, 2), meanOf(f, "inside"), meanOf(f, "outside")])));
  section("clusters", isTransfer ? "The classes" : "The clusters",
    el("p", {}, `${isTransfer ? "The features that distinguish each class in each data set" : labelled.length > 1 ? "Matching clusters have the same number, colour and shape in every data set" : "The features that distinguish each cluster"}. ` +
      "The bars show how far the mean inside is from the mean outside, in standard deviations; all bars have the same scale. Select a name to highlight it everywhere, and a title to change the name."),
    el("div", { class: "cards" }, cards),
    clusterCount > CARDS ? el("p", { class: "note" }, `The first ${CARDS} of ${clusterCount} are shown.`) : null,
    rows.length ? behindLazily("Table of the features", () => pages([{ title: "Data set" }, { title: isTransfer ? "Class" : "Cluster" }, { title: "Feature" }, { title: "Effect", num: true },
        { title: "Mean inside", num: true }, { title: "Mean outside", num: true }], rows.length, (i) => rows[i], "Features of the clusters")) : null);
}
