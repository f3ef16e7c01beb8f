/* Markers: what each cluster has of the features that distinguish clusters, as dots. SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows are features, in order of the clusters they mark, and columns are clusters. The area of a dot is the share of the cluster's
 * samples that have the feature; its colour goes from the lowest to the highest cluster mean of the feature, in one hue and from light
 * to dark, so that it can be read without telling colours apart. */

const MARKER_SETS = 12;
const DOTS = { light: [[222, 235, 245], [5, 48, 97]], dark: [[52, 70, 86], [178, 224, 255]] };

/* 0: the lowest mean, 1: the highest. */
function dotColour(v) {
  const [low, high] = DOTS[scheme()];
  return `rgb(${low.map((x, i) => Math.round(x + v * (high[i] - x))).join(",")})`;
}

/* {features, of, clusters: [{number, mean, share}]} of a data set; null where there are no markers. */
function markersOf(t) {
  if (labelsChanged()) return null; /* they are those of the result */
  const m = object(t.raw.markers), features = list(m.features).map(String);
  const clusters = t.clusters.map((p, i) => ({ number: object(p).number, profile: p, mean: list(list(m.mean)[i]), share: list(list(m.share)[i]) }))
    .filter((c) => Number.isInteger(c.number) && c.mean.length === features.length && c.share.length === features.length).slice(0, CARDS);
  return features.length && clusters.length > 1 ? { features, of: m.share_of === "not zero" ? "not zero" : "above the mean of the feature", clusters } : null;
}

function dotPlot(t, m) {
  const longest = (names, most) => Math.min(most, Math.max(...names.map((v) => [...String(v)].length)));
  const pitch = 24, left = 26 + 8 * longest(m.features, 22), named = classNames.length > 0, top = named ? 34 + 8 * longest(m.clusters.map((c) => nameOf(c.number)), 13) : 40;
  const width = left + pitch * m.clusters.length + 10, height = top + pitch * m.features.length + 6, nodes = [];
  m.features.forEach((f, i) => nodes.push(svg("text", { x: left - 14, y: top + pitch * (i + .5) + 4, "text-anchor": "end" }, svg("title", {}, f), cut(f, 22))));
  m.clusters.forEach((c, k) => {
    const x = left + pitch * (k + .5), shapeOf = paint(svg("path", { d: shape(c.number), transform: `translate(${x} ${top - 10})` }), "fill", () => hue(c.number));
    const title = named ? svg("text", { transform: `translate(${x + 4} ${top - 22}) rotate(-90)` }, cut(nameOf(c.number), 13))
      : svg("text", { x, y: top - 22, "text-anchor": "middle" }, String(c.number));
    const dots = m.features.map((f, i) => {
      const means = m.clusters.map((o) => o.mean[i]).filter(isNumber), low = Math.min(...means), high = Math.max(...means);
      const share = isNumber(c.share[i]) ? Math.max(0, Math.min(1, c.share[i])) : 0;
      return paint(svg("circle", { class: "dot", cx: x, cy: top + pitch * (i + .5), r: (10 * Math.sqrt(share)).toFixed(2) },
        svg("title", {}, `${f} in ${nameOf(c.number)}: ${percent(share)} of the samples, mean ${number(c.mean[i], 3)}`)),
      "fill", () => dotColour(high > low && isNumber(c.mean[i]) ? (c.mean[i] - low) / (high - low) : 0));
    });
    const group = svg("g", { class: "node", tabindex: 0, role: "button", "data-cluster": c.number, "aria-label": `${Name(c.number)} of ${t.name}`,
      onclick: (e) => select(c.number, e), onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); select(c.number, e); } } },
    svg("rect", { class: "hit", x: x - pitch / 2, y: 2, width: pitch, height: height - 4, rx: 4 }), title, shapeOf, dots);
    watch((now) => { group.classList.toggle("faded", now !== null && now !== c.number); group.setAttribute("aria-pressed", String(now === c.number)); });
    nodes.push(group);
  });
  return el("figure", { class: "dots" }, el("figcaption", {}, t.name),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Markers of ${t.name}` },
      svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Features by cluster; larger dots mean that more of the samples have the feature" }, nodes)));
}

/* What sizes and colours mean. */
function dotKey() {
  const dot = (share, v, x) => paint(svg("circle", { class: "dot", cx: x, cy: 12, r: (10 * Math.sqrt(share)).toFixed(2) }), "fill", () => dotColour(v));
  const key = (nodes, width, words) => el("li", {}, svg("svg", { class: "dotkey", width, height: 24, viewBox: `0 0 ${width} 24`, "aria-hidden": "true" }, nodes), ` ${words}`);
  return el("ul", { class: "legend" }, key([dot(.1, .5, 8), dot(.5, .5, 28), dot(1, .5, 54)], 66, "10 %, 50 % and 100 % of the samples"),
    key([0, .25, .5, .75, 1].map((v, i) => dot(.6, v, 10 + 18 * i)), 94, "lowest to highest mean of the feature"));
}

function markers() {
  const all = labelled.map((t) => [t, markersOf(t)]).filter(([, m]) => m), drawn = all.slice(0, MARKER_SETS);
  if (!drawn.length) return;
  const tested = (c, f) => number(object(features(c.profile).find((o) => String(o.name) === f)).exploratory_p_adjusted, 4);
  const rows = drawn.flatMap(([t, m]) => m.clusters.flatMap((c) => m.features.map((f, i) =>
    [t.name, Name(c.number), { head: f }, number(c.mean[i], 4), percent(c.share[i]), tested(c, f)])));
  section("markers", "Markers",
    el("p", {}, `The features that distinguish the ${isTransfer ? "classes" : "clusters"} most. The area of a dot is the percentage of samples with the feature ` +
      `(${drawn[0][1].of}); a darker dot (on a dark page: a lighter one) means a higher mean compared with the other ${isTransfer ? "classes" : "clusters"}. Means are computed after preprocessing.`),
    dotKey(), el("div", { class: "charts" }, drawn.map(([t, m]) => dotPlot(t, m))),
    all.length > drawn.length ? el("p", { class: "note" }, `The first ${MARKER_SETS} of ${plural(all.length, "data set")} are shown.`) : null,
    el("p", { class: "note" }, `P-values in the table are exploratory, because the ${isTransfer ? "classes were predicted" : "clusters were found"} in the same data.`),
    behindLazily("Table of the markers", () => pages([{ title: "Data set" }, { title: isTransfer ? "Class" : "Cluster" }, { title: "Feature" }, { title: "Mean", num: true },
      { title: "Samples with it", num: true }, { title: "Adjusted p (exploratory)", num: true }], rows.length, (i) => rows[i], "Markers of the clusters")));
}
