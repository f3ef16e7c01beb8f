/* Curves: how k was found, how the objective fell. SPDX-License-Identifier: BSD-3-Clause */

/* Points [x, y] as a line; `marks`: x values to mark with a word. */
function lineChart(points, { label, xTitle, marks = [], log = false, whole = false }) {
  const w = 420, h = 190, left = 58, bottom = 40, top = 16, xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  const f = log ? Math.log10 : (v) => v, x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys.map(f)), y1 = Math.max(...ys.map(f));
  const x = (v) => left + (x1 > x0 ? (v - x0) / (x1 - x0) : 0.5) * (w - left - 14), y = (v) => top + (1 - (y1 > y0 ? (f(v) - y0) / (y1 - y0) : 0.5)) * (h - top - bottom);
  const line = svg("path", { class: "line", fill: "none", d: points.map((p, i) => `${i ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("") });
  paint(line, "stroke", () => hue(0));
  const dots = points.length <= 40 ? points.map((p) => paint(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.5 }, svg("title", {}, `${number(p[0])}: ${number(p[1])}`)), "fill", () => hue(0))) : [];
  const marked = marks.map((m, nth) => {
    const p = points.find((q) => q[0] === m.x);
    if (!p) return null;
    const right = x(p[0]) > w * 0.7;
    return [paint(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 6, fill: "none", "stroke-width": 2 }), "stroke", () => hue(m.colour)),
      svg("text", { x: x(p[0]) + (right ? -9 : 9), y: nth ? Math.min(h - bottom - 4, y(p[1]) + 22) : Math.max(top + 4, y(p[1]) - 7), "text-anchor": right ? "end" : "start", class: "strong halo" }, m.word)];
  });
  const many = whole && x1 - x0 <= 20 ? 2 : (x1 - x0) / 4, ticks = [];
  for (let v = x0; v <= x1 + 1e-9; v += Math.max(many, 1e-9)) ticks.push(svg("text", { x: x(v), y: h - bottom + 18, "text-anchor": "middle" }, number(whole ? Math.round(v) : v, 2)));
  return svg("svg", { viewBox: `0 0 ${w} ${h}`, class: "chart", role: "img", "aria-label": label },
    svg("path", { d: `M${left} ${top}V${h - bottom}H${w - 10}`, class: "axis", fill: "none" }), line, dots, marked, x1 > x0 ? ticks : null,
    svg("text", { x: left - 6, y: top + 8, "text-anchor": "end" }, number(Math.max(...ys))), svg("text", { x: left - 6, y: h - bottom, "text-anchor": "end" }, number(Math.min(...ys))),
    svg("text", { x: (left + w) / 2, y: h - 4, "text-anchor": "middle" }, xTitle));
}

function choiceOfK() {
  const with_ = tasks.filter((t) => list(object(t.raw.k_curves).eigengap).length);
  if (!with_.length) return;
  const said = object(D.method_fields).k_evidence, next = /next best k = (\d+)/.exec(String(said || "")), parts = [];
  for (const t of with_.slice(0, 12)) {
    const c = t.raw.k_curves, first = isNumber(c.from) ? c.from : 2, k = t.raw.k;
    const marks = [{ x: k, word: `k = ${k}`, colour: 1 }];
    if (next && Number(next[1]) !== k) marks.push({ x: Number(next[1]), word: "next best", colour: 2 });
    const points = (v) => list(v).map((y, i) => [first + i, y]).filter((p) => isNumber(p[1]));
    const gap = points(c.eigengap), stable = points(c.stability);
    parts.push(el("h3", {}, t.name), el("div", { class: "charts" },
      el("figure", {}, el("figcaption", {}, "Gap behind eigenvalue k: a large one speaks for k"), lineChart(gap, { label: `Eigengap by k in ${t.name}`, xTitle: "k", marks, whole: true })),
      stable.length ? el("figure", {}, el("figcaption", {}, "Stability: 1 where different starts agree"), lineChart(stable, { label: `Stability by k in ${t.name}`, xTitle: "k", marks, whole: true })) : null),
    behind(`Table of both curves of ${t.name}`, [{ title: "k", num: true }, { title: "Eigengap", num: true }, { title: "Stability", num: true }],
      gap.map((p, i) => [{ head: count(p[0]) }, number(p[1], 4), stable[i] ? number(stable[i][1], 3) : "–"])));
  }
  section("k", "How many clusters", said ? el("p", {}, `${said}.`) : null, parts);
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
  return [el("h3", {}, "Objective"), el("p", {}, `${plural(steps, "iteration")}, from ${number(all[0], 4)} to ${number(all[all.length - 1], 4)}${log ? ", on a logarithmic axis" : ""}.${rose ? ` It rose in ${rose} of them.` : ""}`),
    el("div", { class: "charts" }, el("figure", {}, lineChart(thin(points, 400), { label: "Objective by iteration", xTitle: "iteration", log, whole: true }))),
    el("details", { class: "behind" }, el("summary", {}, "Table of the objective"), pages([{ title: "Iteration", num: true }, { title: "Objective", num: true }], points.length, (i) => [{ head: count(points[i][0]) }, number(points[i][1], 6)], "Objective"))];
}
