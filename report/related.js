/* relate: how alike data sets are, pair by pair. SPDX-License-Identifier: BSD-3-Clause */

const MEASURES = [
  ["nearness", "Nearness", "How near the samples of the row are to those of the column, relative to the samples of their own data set; 1 = equally near."],
  ["a_distance", "A-distance", "0 = a classifier cannot distinguish the two; 2 = it makes no errors."],
  ["overlap", "Features in common", "As a fraction of the features that either has, 0 to 1."],
];

/* A square of one measure, by rows and columns of data sets; itself is left empty. */
function square(pairs, key) {
  const n = tasks.length, out = Array.from({ length: n }, () => Array(n).fill(null));
  for (const p of pairs) {
    const a = taskIndex(p.from), b = taskIndex(p.to);
    if (a < 0 || b < 0 || a >= n || b >= n) continue;
    out[a][b] = p[key];
    out[b][a] = isNumber(p[`${key}_back`]) ? p[`${key}_back`] : p[key];
  }
  return out;
}

function related() {
  const pairs = list(D.pairs).filter((p) => p && typeof p === "object"), names = tasks.map((t) => t.name);
  if (D.command !== "relate" || !pairs.length) return;
  const has = MEASURES.filter(([key]) => pairs.some((p) => isNumber(p[key])));
  section("pairs", "Pairs of data sets",
    el("p", {}, "These measures compare samples, not classes. Similar data sets do not always help each other."),
    el("div", { class: "charts" }, has.map(([key, title, words]) => el("figure", { class: "square" }, el("figcaption", {}, el("strong", {}, title), ". ", words),
      heat(names, square(pairs, key), title, true)))),
    el("h3", {}, "All measures"),
    table([{ title: "Pair" }, { title: "Features in common", num: true }, { title: "Overlap", num: true }, { title: "A-distance", num: true }, { title: "MMD, linear", num: true }, { title: "MMD, Gaussian", num: true }, { title: "Nearness, first to second", num: true }, { title: "Second to first", num: true }],
      pairs.map((p) => [{ head: `${p.from} – ${p.to}` }, count(p.shared_features), share(p.overlap), share(p.a_distance), number(p.mmd_linear, 4), number(p.mmd_gaussian, 4), share(p.nearness), share(p.nearness_back)]), { label: "Pairs" }),
    tasks.some((t) => isNumber(t.raw.complexity)) ? [el("h3", {}, "Each data set"), el("p", {}, "Complexity is the fraction of features that are rare, from 0 to 1."),
      table([{ title: "Data set" }, { title: "Observed features", num: true }, { title: "Complexity", num: true }, { title: "Complexity of the observed features", num: true }],
        tasks.map((t) => [{ head: t.name }, count(t.raw.observed_features), share(t.raw.complexity), share(t.raw.complexity_observed)]), { label: "Data sets" })] : null);
}
