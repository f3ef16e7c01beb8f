/* Label next: samples of a target that a person should look at, one key per class. SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue begins with the samples that --ask chose. After them, or without --ask, come the samples with the smallest margin: the
 * difference of the two largest probabilities, else the confidence. Answers are saved as a file for --target-labels. */

const LABEL_KEYS = "1234567890abcdefghijklmnopqrstuvwxyz";

/* Rows in the order to ask: `ask` first, then by margin, at most `most`. */
function queueOf(ask, margins, most = 500) {
  const first = ask.filter((i, at) => Number.isInteger(i) && i >= 0 && i < margins.length && ask.indexOf(i) === at), seen = new Set(first);
  const rest = Int32Array.from(margins, (_, i) => i).sort((a, b) => margins[a] - margins[b] || a - b);
  return [...first, ...[...rest].filter((i) => !seen.has(i) && Number.isFinite(margins[i]))].slice(0, Math.max(most, first.length));
}

/* The two largest of a list of probabilities: their difference. */
function marginOf(row) {
  let a = -Infinity, b = -Infinity;
  for (const v of row) if (v > a) { b = a; a = v; } else if (v > b) b = v;
  return b === -Infinity ? 1 : a - b;
}

const QUOTE = "\u0022";
/* Spreadsheets evaluate texts that begin so: they get an apostrophe, as in the files of the program. Numbers do not. */
const isFormula = (s) => /^[=+\-@\t\r]/.test(s) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(s);
const csvCell = (v) => {
  const text = isFormula(String(v)) ? `'${v}` : String(v);
  return text !== String(v) || /[\u0022,\n\r]/.test(text) ? QUOTE + text.split(QUOTE).join(QUOTE + QUOTE) + QUOTE : text;
};
const csvText = (rows) => rows.map((r) => `${r.map(csvCell).join(",")}\n`).join("");

/* A file for --target-labels; rows are counted from 1 there. `answers`: [[row, id, class]]. */
const answersText = (answers) => csvText([["row", "id", "class"], ...answers.map(([row, id, name]) => [row + 1, id, name])]);

/* --- the section ---------------------------------------------------------------------------------------------------------- */

const labelling = { at: 0, answers: new Map(), queue: null };
const LABELS_STORED = `kindred labels ${D.fingerprint}`;

function labelTarget() {
  return isTransfer ? labelled.find((t) => t.confidence || t.probabilities || list(t.raw.ask).length) : undefined;
}

function startLabelling(t) {
  if (labelling.queue) return;
  const margins = Float64Array.from({ length: t.labels.values.length }, (_, i) => t.probabilities ? marginOf(list(t.probabilities[i])) : t.confidence ? t.confidence[i] : NaN);
  labelling.queue = queueOf(list(t.raw.ask), margins);
  try {
    for (const [row, c] of JSON.parse(keeper.get(LABELS_STORED) || "[]")) if (labelling.queue.includes(row) && classNames[c] !== undefined) labelling.answers.set(row, c);
  } catch (e) { /* what was kept is damaged: start again */ }
  const open = labelling.queue.findIndex((i) => !labelling.answers.has(i));
  labelling.at = open < 0 ? 0 : open;
}

function answerSample(t, c) {
  const i = labelling.queue[labelling.at];
  if (c === null) labelling.answers.delete(i);
  else labelling.answers.set(i, c);
  keeper.put(LABELS_STORED, labelling.answers.size ? JSON.stringify([...labelling.answers]) : null);
  say(c === null ? `${idOf(t, i)} has no label.` : `${idOf(t, i)} is ${classNames[c]}.`);
  goSample(c === null ? 0 : 1);
}

function goSample(by) {
  labelling.at = Math.max(0, Math.min(labelling.queue.length - 1, labelling.at + by));
  drawPart("label");
  document.getElementById("label-card").focus({ preventScroll: true });
}

function labelKey(t, e) {
  const c = LABEL_KEYS.indexOf(e.key), names = classNames;
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT|SUMMARY)$/.test(e.target.tagName)) return;
  if (e.key === "ArrowRight") goSample(1);
  else if (e.key === "ArrowLeft") goSample(-1);
  else if (e.key === "Backspace" || e.key === "Delete") answerSample(t, null);
  else if (c >= 0 && c < names.length) answerSample(t, c);
  else return;
  e.preventDefault();
}

function labelSection() {
  const t = labelTarget();
  if (!t) return;
  startLabelling(t);
  if (!labelling.queue.length) return;
  const i = labelling.queue[labelling.at], given = labelling.answers.get(i), names = classNames, done = [...labelling.answers].sort((a, b) => a[0] - b[0]);
  const file = `${t.name.replace(/[^\w.-]+/g, "_").slice(0, 60)}.answers.csv`, repeat = `${command()} --target-labels ${quoted(file)}`;
  const known = t.ids instanceof Map ? t.ids.size === 0 : !t.ids.length; /* ids are row numbers */
  section("label", "Label next", el("p", {}, "Look at the samples that the method is least sure about, and label them. Press the key of a class, or → to skip, ← to go back and Backspace to take a label away."),
    el("div", { id: "label-card", class: "labelcard", tabindex: 0, role: "group", "aria-label": `Sample ${labelling.at + 1} of ${labelling.queue.length}: ${idOf(t, i)}`, onkeydown: (e) => labelKey(t, e) },
      el("p", { class: "note" }, `Sample ${count(labelling.at + 1)} of ${count(labelling.queue.length)}; ${plural(labelling.answers.size, "label")} given.`),
      el("dl", {}, sampleLines(t, i).filter(([k]) => k !== "known class").map(([k, v]) => [el("dt", {}, { "": "sample", class: "predicted", or: "second choice" }[k] || k), el("dd", {}, v)])),
      el("div", { class: "classes", role: "group", "aria-label": "Classes" }, names.slice(0, 200).map((name, c) => button([c < LABEL_KEYS.length ? el("kbd", {}, LABEL_KEYS[c]) : null, " ", name], () => answerSample(t, c),
        { "aria-pressed": String(given === c), "aria-keyshortcuts": LABEL_KEYS[c] || null, class: "class" }))),
      el("p", { class: "tools" }, button("Back", () => goSample(-1), { disabled: labelling.at === 0 }), button("Skip", () => goSample(1), { disabled: labelling.at + 1 >= labelling.queue.length }),
        button("Remove label", () => answerSample(t, null), { disabled: given === undefined }), button("Show on the map", () => { store.replace([[t.index, [i]]], idOf(t, i)); say(`${idOf(t, i)} is selected.`); }))),
    el("p", { class: "tools" }, button("Save labels", () => download(file, "text/csv", answersText(done.map(([row, c]) => [row, known ? row + 1 : idOf(t, row), names[c]]))), { disabled: !done.length }),
      el("small", {}, keeper.works ? "Labels are kept in this browser until you save them." : "This browser does not keep labels: save them before you close the page.")),
    done.length ? el("div", {}, el("p", {}, "Then run:"), el("p", { class: "command" }, el("code", {}, repeat), copyButton(repeat)),
      behind(`Table of ${plural(done.length, "label")}`, [{ title: "Sample" }, { title: "Label" }, { title: "Predicted" }], done.map(([row, c]) => [{ head: idOf(t, row) }, names[c], Name(labelOf(t, row))]))) : null);
}
