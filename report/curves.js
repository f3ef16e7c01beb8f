/* Curves: how k was found, how the objective fell. SPDX-License-Identifier: BSD-3-Clause */

/* Points [x, y] as a line; `marks`: x values to mark with a word. */
function lineChart(points, { label, xTitle, marks = [], log = false, whole = false, least = 0 }) {
  const w = 420, bottom = 40, top = 16 + 13 * marks.length, h = 174 + top, left = 58, xs = points.map((p) => p[0]), f = log ? Math.log10 : (v) => v, x0 = Math.min(...xs), x1 = Math.max(...xs);
  let lowest = Math.min(...points.map((p) => p[1])), highest = Math.max(...points.map((p) => p[1]));
  const more = Math.max(0, least - (highest - lowest)) / 2; /* differences that mean nothing do not look like much */
  lowest -= more;
  highest += more;
  const y0 = f(lowest), y1 = f(highest);
  const x = (v) => left + (x1 > x0 ? (v - x0) / (x1 - x0) : 0.5) * (w - left - 14), y = (v) => top + (1 - (y1 > y0 ? (f(v) - y0) / (y1 - y0) : 0.5)) * (h - top - bottom);
  const line = svg("path", { class: "line", fill: "none", d: points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("") });
  paint(line, "stroke", () => hue(0));
  const dots = points.length <= 40 ? points.map((p) => paint(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.5 }, svg("title", {}, `${number(p[0])}: ${number(p[1])}`)), "fill", () => hue(0))) : [];
  const marked = marks.map((m, nth) => {
    const p = points.find((q) => q[0] === m.x);
    if (!p) return null;
    /* the words above the curve, each in a line of its own, so that they are in nobody's way */
    return [svg("line", { x1: x(p[0]), x2: x(p[0]), y1: 4 + 13 * nth, y2: h - bottom, class: "guide" }),
      paint(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 6, fill: "none", "stroke-width": 2 }), "stroke", () => hue(m.colour)),
      svg("text", { x: x(p[0]) + (x(p[0]) > w * 0.7 ? -5 : 5), y: 12 + 13 * nth, "text-anchor": x(p[0]) > w * 0.7 ? "end" : "start", class: "strong halo" }, m.word)];
  });
  const ticks = marksOf(xs, whole).map((v) => svg("text", { x: x(v), y: h - bottom + 18, "text-anchor": "middle" }, number(v, 2)));
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "chart", role: "img", "aria-label": label },
    svg("path", { d: `M${left} ${top}V${h - bottom}H${w - 10}`, class: "axis", fill: "none" }), line, dots, marked, x1 > x0 ? ticks : null,
    svg("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, number(highest)), svg("text", { x: left - 6, y: h - bottom, "text-anchor": "end" }, number(lowest)),
    svg("text", { x: (left + w) / 2, y: h - 4, "text-anchor": "middle" }, xTitle));
}

/* Where the axis has numbers: at the points where they are few, else at equal distances. */
function marksOf(xs, whole) {
  const all = [...new Set(xs)].sort((a, b) => a - b), low = all[0], high = all[all.length - 1], apart = all.every((v, i) => !i || v - all[i - 1] > (high - low) / 9);
  if (all.length <= 8 && apart) return all;
  const by = whole ? Math.max(1, Math.ceil((high - low) / 9)) : (high - low) / 4, out = [];
  for (let v = low; v <= high + 1e-9; v += by) out.push(v);
  return out;
}

const CURVES = {
  eigengap: ["Gap", "Gap after eigenvalue k: a large gap supports k"],
  modularity: ["Modularity", "Modularity: how much denser the links inside k clusters are than expected by chance; higher is better"],
  agreement: ["Agreement", "Agreement between different kinds of clustering into k, at most 1: shows how sure the choice is, but does not influence it"],
};

/* A field of the method, of all tasks or of this one. */
const fieldOf = (name, t) => { const f = object(D.method_fields), own = f[`${name}.${t.name}`]; return own === undefined ? f[name] : own; };

function choiceOfK() {
  const parts = [];
  for (const t of tasks.slice(0, 12)) {
    const c = object(t.raw.k_curves), first = isNumber(c.from) ? c.from : 2, k = t.raw.k, next = fieldOf("k_next", t);
    const curves = Object.keys(CURVES).map((name) => [name, list(c[name]).map((y, i) => [first + i, y]).filter((p) => isNumber(p[1]))]).filter(([, p]) => p.length > 1);
    if (!curves.length) continue;
    const marks = [{ x: k, word: `k = ${k}`, colour: 1 }], own = object(D.method_fields)[`k_evidence.${t.name}`];
    if (isNumber(next) && next !== k) marks.push({ x: next, word: `next: ${next}`, colour: 2 });
    parts.push(el("h3", {}, t.name), own ? el("p", {}, `${own}.`) : null, el("div", { class: "charts" }, curves.map(([name, points]) =>
      el("figure", {}, el("figcaption", {}, CURVES[name][1]), lineChart(points, { label: `${CURVES[name][0]} by k in ${t.name}`, xTitle: "k", marks, whole: true })))),
    behind(`Table of the curves of ${t.name}`, [{ title: "k", num: true }, ...curves.map(([name]) => ({ title: CURVES[name][0], num: true }))],
      curves[0][1].map((p) => [{ head: `${count(p[0])}${p[0] === k ? ", chosen" : p[0] === next ? ", next best" : ""}` },
        ...curves.map(([, points]) => { const q = points.find((r) => r[0] === p[0]); return q ? number(q[1], 4) : "–"; })])));
  }
  const evidence = object(D.method_fields).k_evidence;
  if (parts.length || evidence) section("k", "Number of clusters", evidence ? el("p", {}, `${evidence}.`) : null, parts);
}

/* At most `most` points, those of each stretch that lie highest and lowest. */
function thin(points, most) {
  if (points.length <= most) return points;
  const out = [], stretch = Math.ceil(2 * points.length / most);
  for (let i = 0; i < points.length; i += stretch) {
    const part = points.slice(i, i + stretch), high = part.reduce((a, b) => b[1] > a[1] ? b : a), low = part.reduce((a, b) => b[1] < a[1] ? b : a);
    out.push(...(high[0] <= low[0] ? [high, low] : [low, high]));
  }
  return out.filter((p, i) => i === 0 || p !== out[i - 1]);
}

function objectiveChart() {
  const thinned = object(D.objective), values = list(D.objective).filter(isNumber), start = object(D.method_fields).objective_start;
  const points = Array.isArray(thinned.points) ? thinned.points : values.map((v, i) => [i + 1, v]);
  const steps = thinned.count || values.length;
  if (isNumber(start)) points.unshift([0, start]);
  if (points.length < 2) return null;
  const all = points.map((p) => p[1]), rose = isNumber(thinned.rose) ? thinned.rose : values.filter((v, i) => i > 0 && v > values[i - 1]).length, log = Math.min(...all) > 0 && Math.max(...all) / Math.min(...all) > 100;
  return [el("h3", {}, "Objective"), el("p", {}, `${plural(steps, "iteration")}, from ${number(all[0], 4)} to ${number(all[all.length - 1], 4)}${log ? ", on a logarithmic axis" : ""}.${rose ? ` It increased in ${plural(rose, "iteration")}.` : ""}`),
    el("div", { class: "charts" }, el("figure", {}, lineChart(thin(points, 400), { label: "Objective by iteration", xTitle: "iteration", log, whole: true }))),
    el("details", { class: "behind" }, el("summary", {}, "Table of the objective"), pages([{ title: "Iteration", num: true }, { title: "Objective", num: true }], points.length, (i) => [{ head: count(points[i][0]) }, number(points[i][1], 6)], "Objective"))];
}
