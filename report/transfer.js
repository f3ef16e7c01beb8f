/* How sure: confidence, quality without truth; transfer: right and wrong, probabilities, bridges, features that carried
 * labels, samples to look at first.
 * SPDX-License-Identifier: BSD-3-Clause */

function confusion(t) {
  if (!t.truth) return null;
  const seen = new Map();
  t.labels.values.forEach((v, i) => {
    const key = `${t.truth.values[i]} ${v}`;
    seen.set(key, (seen.get(key) || 0) + 1);
  });
  const given = [...new Set(t.labels.values)].filter((c) => c >= 0).sort((a, b) => a - b), known = [...new Set(t.truth.values)].filter((c) => c >= 0).sort((a, b) => a - b);
  const matrix = known.map((k) => given.map((g) => seen.get(`${k} ${g}`) || 0));
  const t2 = table([{ title: "Known class ↓, predicted →" }, ...given.map((g) => ({ title: nameOf(g), num: true })), { title: "Right", num: true }],
    known.map((k, i) => [{ head: truthNames[k] }, ...matrix[i].map((v) => el("span", { class: "heat" }, count(v))),
      percent((seen.get(`${k} ${k}`) || 0) / Math.max(1, sum(matrix[i])))]), { label: `Confusion of ${t.name}` });
  const cells = [...t2.querySelectorAll("td .heat")].map((s) => s.parentElement);
  cells.forEach((c, n) => {
    const i = Math.floor(n / given.length), j = n % given.length, share = matrix[i][j] / Math.max(1, sum(matrix[i]));
    paint(c, "background-color", () => known[i] === given[j]
      ? (scheme() === "dark" ? `rgba(44,199,155,${(0.6 * share).toFixed(2)})` : `rgba(0,135,95,${(0.5 * share).toFixed(2)})`)
      : (scheme() === "dark" ? `rgba(255,138,76,${(0.75 * share).toFixed(2)})` : `rgba(213,94,0,${(0.6 * share).toFixed(2)})`));
  });
  return [el("h3", {}, `Confusion matrix: ${t.name}`), el("p", {}, "Each row is a known class, each column a predicted class."), t2];
}

/* Ten bins of confidence: how many samples, and with truth how many of them are right. */
function bins(t) {
  const out = Array.from({ length: 10 }, () => ({ n: 0, right: 0, known: 0, sum: 0 }));
  t.confidence.forEach((v, i) => {
    if (!isNumber(v)) return;
    const b = out[Math.max(0, Math.min(9, Math.floor(v * 10)))];
    b.n++;
    b.sum += v;
    if (t.truth && t.truth.values[i] >= 0 && t.labels.values[i] >= 0) {
      b.known++;
      b.right += t.truth.values[i] === t.labels.values[i];
    }
  });
  return out;
}

function confidenceSection(t) {
  if (!t.confidence || !t.labels) return null;
  const b = bins(t), most = Math.max(...b.map((x) => x.n), 1), w = isTransfer ? 44 : 30, h = isTransfer ? 150 : 110, scored = isTransfer && t.truth;
  const bars = b.map((x, i) => {
    const full = h * x.n / most, right = scored && x.known ? full * x.right / x.known : full;
    const g = svg("g", {}, svg("title", {}, `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}: ${plural(x.n, "sample")}${scored ? `, ${x.right} right` : ""}`));
    const a = svg("rect", { x: 30 + i * w, y: 20 + h - right, width: w - 6, height: right }), c = svg("rect", { x: 30 + i * w, y: 20 + h - full, width: w - 6, height: Math.max(0, full - right), class: "hatch" });
    paint(a, "fill", () => hue(0));
    paint(c, "fill", () => hue(1));
    g.append(a, c, svg("text", { x: 30 + i * w + (w - 6) / 2, y: 14 + h - full, "text-anchor": "middle" }, x.n ? count(x.n) : ""));
    return g;
  });
  const ticks = [0, 2, 4, 6, 8, 10].map((i) => svg("text", { x: 30 + i * w - 3, y: h + 38, "text-anchor": "middle" }, (i / 10).toFixed(1)));
  const chart = svg("svg", { viewBox: `0 0 ${42 + 10 * w} ${h + 58}`, class: "chart", role: "img", "aria-label": `Histogram of confidence in ${t.name}` },
    bars, svg("line", { x1: 24, x2: 30 + 10 * w, y1: 20 + h, y2: 20 + h, class: "axis" }), ticks, svg("text", { x: 30 + 5 * w, y: h + 54, "text-anchor": "middle" }, "confidence"));
  const curve = scored ? calibration(b) : null;
  if (!isTransfer) return el("figure", {}, el("figcaption", {}, t.name), chart, histogramTable(b, scored));
  return [el("h3", {}, `Confidence: ${t.name}`),
    scored ? el("p", {}, mark(1, () => hue(0)), " right ", mark(1, () => hue(1)), " wrong. The second chart shows the fraction of right labels at each confidence. On the diagonal, the confidence is correct.") : null,
    el("div", { class: "charts" }, el("figure", {}, chart), curve ? el("figure", {}, curve) : null),
    histogramTable(b, scored)];
}

function histogramTable(b, scored) {
  return behind("Table of the histogram", [{ title: "Confidence" }, { title: "Samples", num: true }, ...(scored ? [{ title: "Right", num: true }, { title: "Fraction right", num: true }] : [])],
    b.map((x, i) => [{ head: `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}` }, count(x.n), ...(scored ? [count(x.right), x.known ? percent(x.right / x.known) : "–"] : [])]));
}

function calibration(b) {
  const s = 170, x = (v) => 40 + v * s, y = (v) => 15 + (1 - v) * s, points = b.filter((p) => p.known);
  const dots = points.map((p) => {
    const d = svg("circle", { cx: x(p.sum / p.n), cy: y(p.right / p.known), r: 3 + 7 * Math.sqrt(p.n / Math.max(...b.map((q) => q.n))) },
      svg("title", {}, `confidence ${number(p.sum / p.n, 2)}: ${percent(p.right / p.known)} of ${p.known} right`));
    return paint(d, "fill", () => hue(0));
  });
  return svg("svg", { viewBox: `0 0 ${s + 60} ${s + 58}`, class: "chart square", role: "img", "aria-label": "Calibration: fraction of right labels by confidence" },
    svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: "guide" }), svg("path", { d: `M${x(0)} ${y(1)}V${y(0)}H${x(1)}`, class: "axis", fill: "none" }), dots,
    [0, 0.5, 1].map((v) => [svg("text", { x: x(v), y: y(0) + 18, "text-anchor": "middle" }, v), svg("text", { x: x(0) - 6, y: y(v) + 4, "text-anchor": "end" }, v)]),
    svg("text", { x: x(0.5), y: y(0) + 36, "text-anchor": "middle" }, "confidence"), svg("text", { x: x(0), y: 10, "text-anchor": "start" }, "fraction right"));
}

/* The samples to look at first: those the method is least sure of. */
function doubtful(t) {
  if (!t.confidence || !t.labels) return null;
  const order = Int32Array.from(t.confidence, (_, i) => i).filter((i) => isNumber(t.confidence[i])).sort((a, b) => t.confidence[a] - t.confidence[b] || a - b);
  const columns = [{ title: "Sample" }, { title: "Predicted class" }];
  if (t.second) columns.push({ title: "Second choice" });
  columns.push({ title: "Confidence", num: true });
  if (t.probabilities) columns.push({ title: "Probabilities" });
  if (t.truth) columns.push({ title: "Known class" });
  if (t.excerpts.size) columns.push({ title: "Text", words: true });
  return [el("h3", {}, `Samples to check first: ${t.name}`),
    pages(columns, order.length, (n) => {
      const i = order[n], row = [{ head: idOf(t, i) }, Name(t.labels.values[i])];
      if (t.second) row.push(t.second.values[i] >= 0 ? Name(t.second.values[i]) : "–");
      row.push(share(t.confidence[i]));
      if (t.probabilities) row.push(probable(t.probabilities[i]));
      if (t.truth) row.push(modes.truth.name(t.truth.values[i]));
      if (t.excerpts.size) row.push(t.excerpts.get(i) || "–");
      return row;
    }, `Samples of ${t.name}, least certain first`)];
}

function bridges() {
  const rows = list(D.bridges).filter((b) => b && typeof b === "object");
  if (!rows.length) return null;
  return [el("h3", {}, "Bridges, the best first"), table([{ title: "Bridge" }, { title: "Chosen" }, { title: "Score", num: true }, { title: "Probability", num: true }, { title: "Accuracy", num: true }, { title: "Why" }],
    rows.map((b) => [{ head: String(b.name) }, b.chosen ? "yes" : "no", number(b.score), number(b.probability, 2), number(b.acc), b.reason === undefined ? "–" : String(b.reason)]), { label: "Bridges" })];
}

function carriers() {
  const rows = list(D.feature_clusters).filter((f) => f && typeof f === "object");
  if (!rows.length) return null;
  return [el("h3", {}, "Features that transferred the labels"), table([{ title: "Class" }, { title: "Shared with" }, { title: "Fraction", num: true }, { title: "Features" }],
    rows.map((f) => [{ head: f.class === undefined ? "–" : String(f.class) }, String(f.shared_with), percent(f.share), list(f.features).slice(0, 12).map(String).join(", ")]), { label: "Features that transferred the labels" })];
}

/* --probabilities: what they were calibrated on, and how good they were there. */
function calibrated() {
  const c = object(D.calibration);
  if (!isNumber(c.held_out)) return null;
  const facts = [`Calibrated on ${plural(c.held_out, "held-out source sample")}`];
  if (isNumber(c.accuracy)) facts.push(`of which ${percent(c.accuracy)} had the right label`);
  if (isNumber(c.log_loss)) facts.push(`logarithmic loss ${number(c.log_loss)}${list(c.classes).length > 1 ? ` (${number(Math.log(c.classes.length))} for guessing)` : ""}`);
  if (isNumber(c.temperature)) facts.push(`temperature ${number(c.temperature, 2)}`);
  return [el("h3", {}, "Probabilities"), el("p", {}, `${facts.join(", ")}.`), c.note ? el("p", { class: "note" }, `${c.note}.`.replace(/^./, (l) => l.toUpperCase())) : null];
}

/* --quality: how compact, separate and repeatable clusters are. */
function quality() {
  const rated = labelled.filter((t) => isNumber(object(t.raw.quality).silhouette) || isNumber(object(t.raw.quality).stability));
  if (!rated.length) return null;
  const note = rated.map((t) => t.raw.quality.note).find((n) => typeof n === "string"), resamples = Math.max(...rated.map((t) => t.raw.quality.resamples || 0));
  return [el("h3", {}, "Quality scores without known classes"),
    table([{ title: "Data set" }, { title: "Silhouette", num: true }, { title: "Davies-Bouldin", num: true }, { title: "Calinski-Harabasz", num: true }, { title: "Stability", num: true }],
      rated.map((t) => [{ head: t.name }, number(t.raw.quality.silhouette), number(t.raw.quality.davies_bouldin, 2), number(t.raw.quality.calinski_harabasz, 1), number(t.raw.quality.stability, 2)]), { label: "Quality" }),
    el("p", { class: "note" }, "Silhouette: from −1 to 1, higher for compact and separate clusters. Davies-Bouldin: lower is better. Calinski-Harabasz: higher is better. " +
      (resamples ? `Stability: mean adjusted Rand index with ${plural(resamples, "fit")} on 4/5 of the samples, 1 if all are equal. ` : "") + (note ? `${note}.`.replace(/^./, (l) => l.toUpperCase()) : ""))];
}

function transfer() {
  const parts = [];
  if (isTransfer) {
    for (const t of labelled) parts.push(confusion(t), confidenceSection(t), doubtful(t));
    parts.push(calibrated(), bridges(), carriers());
  } else {
    if (labelled.some((t) => t.confidence))
      parts.push(el("p", {}, "Number of samples by confidence."), el("div", { class: "charts small" }, labelled.map(confidenceSection)));
    parts.push(quality());
  }
  const whole = parts.flat(2).filter(Boolean);
  if (whole.length) section("trust", isTransfer ? "Labels and confidence" : "Confidence and quality", whole);
}
