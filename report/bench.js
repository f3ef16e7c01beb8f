/* bench: tables with intervals, curves over the grid. SPDX-License-Identifier: BSD-3-Clause */

const METRICS = { acc: "Accuracy", nmi: "NMI", nmi_arithmetic: "NMI, arithmetic", nmi_max: "NMI, max", ari: "ARI", purity: "Purity",
  homogeneity: "Homogeneity", completeness: "Completeness", v_measure: "V-measure" };

/* The scores of a row: of each data set, and their mean. The deviation of the mean is that of the means of the repeats, since
 * data sets share the seeds of a repeat. */
function scoresOf(row, metric) {
  const own = list(object(row.scores)[metric]).filter((s) => s && isNumber(s.mean)), whole = object(object(row.means)[metric]);
  if (!own.length) return null;
  if (isNumber(whole.mean)) return { tasks: own, mean: whole.mean, std: whole.std };
  const repeats = list(own[0].values).map((_, r) => sum(own.map((s) => list(s.values)[r])) / own.length).filter(isNumber);
  const mean = repeats.length ? sum(repeats) / repeats.length : sum(own.map((s) => s.mean)) / own.length;
  return { tasks: own, mean, std: repeats.length > 1 ? Math.sqrt(sum(repeats.map((v) => (v - mean) ** 2)) / (repeats.length - 1)) : repeats.length ? 0 : null };
}

/* Figures from elsewhere for one data set, such as "paper 0.85". */
function referencesOf(row, metric, at) {
  return Object.entries(object(row.references)).map(([label, scores]) => [label, list(object(scores)[metric])[at]])
    .filter(([, v]) => isNumber(v)).map(([label, v]) => `${label} ${Number(v.toPrecision(3))}`).join(", ");
}

/* "± std" as a line, the mean as a mark, rows below each other. */
function intervals(rows, metric, taskName) {
  const data = rows.map((r) => {
    const s = scoresOf(r, metric), own = s && (taskName === null ? s : s.tasks.find((t) => t.task === taskName));
    return own && isNumber(own.mean) ? { name: rowName(r), mean: own.mean, std: isNumber(own.std) ? own.std : 0 } : null;
  }).filter(Boolean);
  if (!data.length) return null;
  const ends = data.flatMap((d) => [d.mean - d.std, d.mean + d.std]), spare = Math.max(0.01, 0.08 * (Math.max(...ends) - Math.min(...ends)));
  const low = Math.floor((Math.min(...ends) - spare) * 50) / 50, high = Math.ceil((Math.max(...ends) + spare) * 50) / 50, w = 520, left = 190, line = 24;
  const x = (v) => left + (v - low) / (high - low || 1) * (w - left - 60);
  return svg("svg", { viewBox: `0 0 ${w} ${data.length * line + 34}`, class: "chart wide", role: "img", "aria-label": `${METRICS[metric] || metric}: mean and standard deviation` },
    svg("line", { x1: x(low), x2: x(high), y1: data.length * line + 10, y2: data.length * line + 10, class: "axis" }),
    [low, (low + high) / 2, high].map((v) => svg("text", { x: x(v), y: data.length * line + 28, "text-anchor": "middle" }, number(v, 2))),
    data.map((d, i) => {
      const y = i * line + 16;
      return svg("g", {}, svg("title", {}, `${d.name}: ${number(d.mean)} ± ${number(d.std)}`), svg("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, cut(d.name, 26)),
        paint(svg("line", { x1: x(d.mean - d.std), x2: x(d.mean + d.std), y1: y, y2: y, "stroke-width": 3 }), "stroke", () => hue(0)),
        paint(svg("circle", { cx: x(d.mean), cy: y, r: 5 }), "fill", () => hue(0)), svg("text", { x: w - 4, y: y + 4, "text-anchor": "end" }, number(d.mean)));
    }));
}

const rowName = (r) => String(r.name === undefined ? r.method : r.name) + (r.setting && !String(r.name).includes(r.setting) ? ` ${r.setting}` : "");

/* Rows of one method that differ in one number: a curve. */
function grids(rows, metric) {
  const groups = new Map();
  for (const r of rows) {
    const m = /^([\w-]+) ?= ?(-?[\d.]+(?:e[+-]?\d+)?)$/i.exec(String(r.setting || ""));
    const s = scoresOf(r, metric);
    if (!m || !s) continue;
    const key = `${r.method} ${m[1]}`;
    groups.set(key, (groups.get(key) || []).concat([[Number(m[2]), s.mean]]));
  }
  return [...groups].filter(([, p]) => p.length > 1).map(([key, p]) => {
    const [method, name] = key.split(" ");
    p.sort((a, b) => a[0] - b[0]);
    return el("figure", {}, el("figcaption", {}, `${method}: mean ${METRICS[metric] || metric} over ${name}`), lineChart(p, { label: `${method} over ${name}`, xTitle: name, least: 0.04 }));
  });
}

function benchTable(t, index) {
  const all = list(t.rows).filter((r) => r && typeof r === "object"), rows = all.filter((r) => r.shown !== false), names = list(t.tasks).map(String);
  const metrics = Object.keys(METRICS).filter((m) => rows.some((r) => scoresOf(r, m))), several = names.length > 1, paired = rows.some((r) => isNumber(r.p));
  const columns = [{ title: "Method" }, ...metrics.flatMap((m) => [...names.map((n) => ({ title: `${n} ${METRICS[m]}`, num: true })), ...several ? [{ title: `Mean ${METRICS[m]}`, num: true }] : []]),
    ...paired ? [{ title: "p", num: true }] : [], { title: "Seconds", num: true }, { title: "Failed", num: true }];
  const best = new Map(metrics.map((m) => [m, Math.max(...rows.map((r) => scoresOf(r, m)).filter(Boolean).map((s) => s.mean))]));
  const text = (s) => s ? `${s.mean.toFixed(3)}${isNumber(s.std) ? ` ± ${s.std.toFixed(3)}` : ""}` : "–";
  const bold = (s, m, what) => s && s.mean === best.get(m) ? el("strong", {}, what) : what;
  const body = rows.map((r) => [{ head: rowName(r) }, ...metrics.flatMap((m) => {
    const s = scoresOf(r, m), cells = names.map((n, i) => {
      const own = text(s && s.tasks.find((x) => x.task === n)), others = referencesOf(r, m, i);
      return [several ? own : bold(s, m, own), others ? el("small", {}, ` (${others})`) : null];
    });
    return several ? [...cells, bold(s, m, text(s))] : cells;
  }), ...paired ? [isNumber(r.p) ? r.p.toExponential(1).replace(/(?<=e[+-])(?=\d$)/, "0") : ""] : [], seconds(r.seconds), count(r.failed || 0)]);
  const curves = metrics.slice(0, 1).flatMap((m) => grids(all, m));
  section(`bench-${index}`, t.title === undefined ? "Comparison" : String(t.title).replace(/^./, (l) => l.toUpperCase()),
    (list(t.notes).length ? t.notes.map(String) : [`Mean ± standard deviation of ${plural(t.repeats || 0, "repeat")}.${t.picked_on_truth ? " Settings were chosen by the known classes." : ""}`])
      .map((line) => el("p", {}, line)),
    el("p", {}, `The best mean is bold.${rows.some((r) => Object.keys(object(r.references)).length) ? " Figures in brackets are from the papers." : ""}`),
    el("div", { class: "charts" }, metrics.slice(0, 2).map((m) => el("figure", {}, el("figcaption", {}, `${METRICS[m]}, mean over data sets`), intervals(rows, m, null)))),
    table(columns, body, { label: t.title === undefined ? "Comparison" : String(t.title) }),
    curves.length ? [el("h3", {}, "Results over the grid"), el("div", { class: "charts" }, curves)] : null,
    all.length > rows.length || curves.length ? behind("Table of all settings", [{ title: "Setting" }, ...metrics.map((m) => ({ title: `Mean ${METRICS[m]}`, num: true })), { title: "Seconds", num: true }],
      all.map((r) => [{ head: rowName(r) }, ...metrics.map((m) => text(scoresOf(r, m))), seconds(r.seconds)])) : null);
}

function bench() { list(D.tables).forEach((t, i) => { if (t && typeof t === "object") benchTable(t, i); }); }
