/* The answer in words: what was run, on what, how sure, what to doubt. SPDX-License-Identifier: BSD-3-Clause */

/* A word the shell takes as it stands, or quoted. */
const quoted = (s) => /^[\w@%+=:,./-]+$/.test(s) ? s : `'${String(s).replace(/'/g, "'\\''")}'`;

/* The command that repeats the run: as it was given, or, where a program called the library, as far as the result tells. */
function command() {
  if (typeof D.command_line === "string" && D.command_line) return D.command_line;
  const words = ["kindred", D.command || "cluster"];
  if (D.method && D.method !== "auto") words.push("-m", D.method);
  for (const o of list(about.options)) {
    const v = object(D.options)[o.name];
    if (v !== undefined && o.changed) words.push("--set", `${o.name}=${Array.isArray(v) ? v.join(",") : v}`);
  }
  if (isNumber(D.seed) && D.seed !== 1) words.push("--seed", D.seed);
  const path = (t) => t.raw.path || t.name;
  if (isTransfer) {
    const target = tasks.filter((t) => t.labels), rest = tasks.filter((t) => !t.labels);
    rest.forEach((t, i) => {
      words.push(i === 0 ? "--source" : "--bridge", path(t));
      if (i === 0) words.push("--labels", path(t).replace(/(\.[a-z0-9]+)?(\.gz)?$/i, ".labels"));
    });
    for (const t of target) words.push("--target", path(t));
  } else if (D.command === "cluster") {
    const k = tasks.map((t) => t.raw.k), guessed = object(D.method_fields).k_evidence !== undefined;
    words.push("-k", guessed ? "auto" : new Set(k).size === 1 ? k[0] : k.join(","));
    for (const t of tasks) words.push(path(t));
  } else {
    for (const t of tasks) words.push(path(t));
  }
  return words.map(String).map(quoted).join(" ");
}

function copyButton(text) {
  const b = el("button", { type: "button", class: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = "Copied";
    } catch (e) { /* pages from disk may not: select it, so that a key does */
      const range = document.createRange();
      range.selectNodeContents(b.previousElementSibling);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      b.textContent = "Selected";
    }
    say(`${b.textContent}.`);
    setTimeout(() => { b.textContent = "Copy"; }, 2000);
  } }, "Copy");
  return b;
}

/* What confidence is, by how it was found. */
const CONFIDENCE = {
  method: "the estimated probability that a label is right",
  share: "the part of the probabilities or memberships that the label has",
  softmax: "the part of the scores that the label has; it ranks the samples but is not calibrated",
  probability: "the calibrated probability of the label",
  distance: "how much nearer a sample is to the mean of its own cluster than to the next one; near 0 at a border",
};

/* The mean confidence of each data set: of six, the others are in the table. */
const meanConfidences = (sure) => listed(sure.slice(0, 6).map((t) => `${t.meanConfidence}${sure.length > 1 ? ` (${t.name})` : ""}`).concat(sure.length > 6 ? ["others"] : []));

/* Sentences about the result. */
function sentences() {
  const out = [], n = sum(tasks.map((t) => t.n)), method = about.title || D.method || "An unknown method";
  const names = listed(tasks.slice(0, 8).map((t) => t.name).concat(tasks.length > 8 ? ["others"] : []));
  const d = tasks.length ? tasks[0].raw.d : undefined;
  if (isTransfer) {
    const target = labelled[0];
    if (target) out.push(`${method} labelled ${plural(target.n, "sample")} of ${target.name} with the classes ${listed(classNames.slice(0, 8))}` +
      (tasks[0] !== target ? `, learned from ${plural(tasks[0].n, "labelled sample")} of ${tasks[0].name}.` : "."));
  } else if (D.command === "relate") {
    out.push(`${plural(n, "sample")} of ${plural(tasks.length, "data set")}: ${names}${isNumber(d) ? `, ${plural(d, "feature")}` : ""}.`);
  } else if (tasks.length) {
    const ks = [...new Set(labelled.map((t) => t.raw.k))];
    out.push(`${method} found ${ks.length === 1 ? plural(ks[0], "cluster") : `${ks.join(", ")} clusters`} in ${plural(n, "sample")} of ` +
      `${tasks.length === 1 ? names : `${tasks.length} data sets: ${names}`}${isNumber(d) ? `, ${plural(d, "feature")}` : ""}.`);
  }
  const views = [...new Set(tasks.map((t) => t.raw.explained_by).filter((v) => typeof v === "string"))];
  if (views.length) out.push(`The ${isTransfer ? "classes" : "clusters"} are explained by ${listed(views.slice(0, 8).concat(views.length > 8 ? ["others"] : []))}, not by the features that samples were compared by.`);
  const sure = labelled.filter((t) => t.confidence);
  if (sure.length) {
    const doubtful = sum(sure.map((t) => t.confidence.filter((v) => v < 0.5).length));
    out.push(`Mean confidence ${meanConfidences(sure)}, on a scale from 0 to 1: ${CONFIDENCE[sure[0].raw.confidence_from] || CONFIDENCE.method}.`);
    out.push(`${plural(doubtful, "sample")} ${doubtful === 1 ? "has" : "have"} a confidence below 0.5.`);
  }
  const scored = labelled.filter((t) => isNumber(object(t.raw.metrics).acc));
  if (scored.length) out.push(`Accuracy compared with the known classes: ${listed(scored.slice(0, 6).map((t) => `${number(t.raw.metrics.acc)}${scored.length > 1 ? ` (${t.name})` : ""}`))}.`);
  for (const t of tasks) if (list(t.raw.left_out).length) out.push(`${plural(t.raw.left_out.length, "row")} of ${t.name} skipped; see Data below.`);
  if (D.stop && D.stop !== "converged" && !(D.stop === "max_iter" && D.complete)) out.push({ max_iter: "The method reached the iteration limit before it converged.",
    time: "The method stopped at the time limit; this is the best result so far.", cancelled: "The run was interrupted; this is the best result so far.",
    stalled: "The method stopped because it made no more progress." }[D.stop] || `The method stopped: ${D.stop}.`);
  return out;
}

/* A row a task: size, k, scores, confidence. */
function taskTable() {
  const has = (f) => labelled.some(f), metrics = ["acc", "nmi", "ari"].filter((m) => has((t) => isNumber(object(t.raw.metrics)[m])));
  /* what is the same for all is in the sentence above */
  const differ = (f) => new Set(tasks.map((t) => t.raw[f])).size > 1, features = differ("d"), ks = differ("k") && !isTransfer;
  const sure = has((t) => t.confidence), columns = [{ title: "Data set" }, { title: "Samples", num: true }];
  if (features) columns.push({ title: "Features", num: true });
  if (ks) columns.push({ title: "Clusters", num: true });
  if (sure) columns.push({ title: "Confidence", num: true });
  for (const m of metrics) columns.push({ title: { acc: "Accuracy", nmi: "NMI", ari: "ARI" }[m], num: true });
  if (labelled.length) columns.push({ title: isTransfer ? "Class sizes" : "Cluster sizes" });
  return table(columns, tasks.map((t) => {
    const row = [{ head: t.name }, count(t.n)];
    if (features) row.push(count(t.raw.d));
    if (ks) row.push(isNumber(t.raw.k) ? count(t.raw.k) : "–");
    if (sure) row.push(t.confidence ? t.meanConfidence : "–");
    for (const m of metrics) row.push(number(object(t.raw.metrics)[m]));
    if (labelled.length) row.push(bar(t));
    return row;
  }), { label: "Data sets" });
}

/* Sizes as one bar in the clusters' colours. */
function bar(t) {
  if (!t.labels) return isTransfer ? "labels given" : "–";
  const sizes = new Map();
  for (const v of t.labels.values) sizes.set(v, (sizes.get(v) || 0) + 1);
  const keys = [...sizes.keys()].sort((a, b) => a - b).slice(0, 60);
  return el("span", { class: "sizes" }, keys.map((c) => paint(
    el("span", { title: `${nameOf(c)}: ${count(sizes.get(c))}`, css: { "flex-grow": sizes.get(c) } },
      el("span", { class: "unseen" }, `${nameOf(c)} ${sizes.get(c)}, `)), "background-color", () => hue(c))));
}

/* A row a cluster: its name, its size in each data set, and what says most about it, in the data set with most of it. */
function overview() {
  const MOST = 20, WORDS = 3, rows = [];
  for (let c = 0; c < clusterCount && rows.length < MOST; c++) {
    const sizes = labelled.map((t) => members(t, c).length), of = labelled[sizes.indexOf(Math.max(...sizes))];
    if (!sum(sizes)) continue;
    const profile = object(of.clusters.find((p) => p && p.number === c)), own = features(profile).filter((f) => f.effect > 0);
    rows.push([{ head: chooser(c, { class: "key" }, mark(c), " ", Name(c)) }, ...(labelled.length <= 6 ? sizes.map(count) : [count(sum(sizes))]),
      typeof profile.description === "string" ? profile.description : typeof profile.title === "string" ? profile.title : listed((own.length ? own : features(profile)).slice(0, WORDS).map((f) => String(f.name)))]);
  }
  if (!rows.length) return null;
  return table([{ title: isTransfer ? "Class" : "Cluster" }, ...(labelled.length <= 6 ? labelled.map((t) => ({ title: t.name, num: true })) : [{ title: "Samples", num: true }]),
    { title: "What distinguishes it", words: true }], rows, { label: isTransfer ? "Classes" : "Clusters" });
}

/* Advice on each task: the first line says most, the others have figures (how.js). */
const advised = () => tasks.map((t) => [t.raw.advice].flat().filter((a) => typeof a === "string")).filter((a) => a.length);

function answer() {
  const warnings = list(D.warnings), doubts = advised();
  const line = command();
  section("answer", "Summary",
    warnings.length ? el("div", { class: "warnings", role: "note" }, el("h3", {}, plural(warnings.length, "warning")),
      el("ul", {}, warnings.map((w) => el("li", {}, w)))) : null,
    overview(),
    el("ul", { class: "plain" }, sentences().map((s) => el("li", {}, s))),
    tasks.length ? taskTable() : null,
    labelled.some((t) => isNumber(object(t.raw.metrics).nmi)) ? el("p", { class: "note" },
      "Accuracy, NMI (normalised mutual information) and ARI (adjusted Rand index) compare the labels with the known classes; 1 is perfect.") : null,
    doubts.length ? el("div", { class: "advice" }, el("h3", {}, D.command === "relate" ? "Nearest data sets" : tasks.length > 1 && !isTransfer ? "What clustering together changed, and caveats" : "How reliable the result is"),
      el("ul", {}, doubts.map(([first, ...more]) => el("li", {}, [first, ...more.filter((a) => a.startsWith("k = "))].join("; "))))) : null,
    tasks.length ? el("p", { class: "command" }, el("code", {}, line), copyButton(line)) : null);
}
