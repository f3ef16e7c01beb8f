/* Colours of the map: by cluster, class, data set, confidence, what moved, and any feature or column. The legend selects.
 * SPDX-License-Identifier: BSD-3-Clause */

const STEPS = 8;
/* From low to high: the lightness changes with the value, so that it can be read without telling hues apart. */
const RAMP = { light: [[58, 134, 200], [150, 74, 150], [122, 0, 46]], dark: [[64, 122, 190], [222, 120, 150], [255, 232, 140]] };

const modes = {
  cluster: {
    title: isTransfer ? "class" : "cluster", has: (t) => t.labels, category: labelOf,
    name: nameOf, all: () => [...Array(clusterCount).keys()],
  },
  truth: {
    title: "known class", has: (t) => t.truth, category: (t, i) => t.truth ? t.truth.values[i] : -1,
    name: (c) => c < 0 ? "unknown" : truthNames[c], all: () => truthNames.map((_, c) => c),
  },
  task: { title: "data set", has: () => tasks.length > 1, category: (t) => t.index, name: (c) => tasks[c].name, all: () => tasks.map((_, c) => c) },
  confidence: {
    title: "confidence", has: (t) => t.confidence, category: (t, i) => t.confidence && isNumber(t.confidence[i]) ? step(t.confidence[i]) : -1,
    name: (c) => c < 0 ? "unknown" : ["below 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 and above"][c],
    all: () => [0, 1, 2, 3, 4], colour: (c) => c < 0 ? hue(-1) : SCALE[scheme()][c],
  },
  moved: {
    title: "moved by transfer", has: (t) => t.moved, category: (t, i) => t.moved && t.moved[i] ? 1 : -1,
    name: (c) => c < 0 ? "stayed" : "moved", all: () => [-1, 1], colour: (c) => hue(c),
  },
};
const colourOf = (mode, c) => mode.colour ? mode.colour(c) : hue(c);

/* --- fields: numbers of samples (values.js) --------------------------------------------------------------------- */

const featureFields = featureTable(tasks.map((t) => ({ values: list(t.raw.values), points: t.points, rows: t.rows, samples: t.samples })));
const numberFields = [];
let sizeValues = [];
if (tasks.some((t) => t.confidence))
  numberFields.push({ key: "confidence", title: "confidence", unit: "number", low: 0, high: 1,
    values: (t) => tasks[t].confidence ? cached(tasks[t], "confidence32", () => Float32Array.from(tasks[t].confidence)) : null });
if (labelled.length && clusterCount > 1)
  numberFields.push(sizesNow({ key: "size", title: isTransfer ? "size of the class" : "size of the cluster", unit: "number", values: (t) => sizeValues[t] }));
for (const f of featureFields) numberFields.push(Object.assign(f, { key: `feature:${f.name}`, title: f.name, feature: true }));
const fieldByKey = new Map(numberFields.map((f) => [f.key, f]));

/* The size of the cluster of each sample. */
function sizesNow(field) {
  sizeValues = tasks.map((t) => t.labels ? Float32Array.from(t.labels.values, (c) => c >= 0 ? members(t, c).length : NaN) : null);
  field.low = Infinity;
  field.high = -Infinity;
  for (const t of labelled) for (let c = 0; c < clusterCount; c++) if (members(t, c).length) { field.low = Math.min(field.low, members(t, c).length); field.high = Math.max(field.high, members(t, c).length); }
  field.steps = field.mode = null;
  return field;
}

/* What depends on labels, after they have been edited. */
const afterLabels = [];
function refreshLabels() {
  for (const t of tasks) t.searched = null;
  if (fieldByKey.has("size")) sizesNow(fieldByKey.get("size"));
  for (const p of panels) p.known.delete("size");
  for (const f of afterLabels) f();
}

function cached(place, name, make) {
  if (place[name] === undefined) place[name] = make();
  return place[name];
}

const valueOf = (field, t, i) => { const v = field.values(t); return v ? v[i] : NaN; };

function ramp(v) {
  const stops = RAMP[scheme()], at = Math.max(0, Math.min(0.9999, v)) * (stops.length - 1), k = Math.floor(at), f = at - k;
  return `#${stops[k].map((x, i) => Math.round(x + f * (stops[k + 1][i] - x)).toString(16).padStart(2, "0")).join("")}`;
}

/* Equal steps from the lowest value to one that few exceed, so that single large values do not take all colours. */
function fieldSteps(field) {
  if (field.steps) return field.steps;
  const above = [];
  for (const t of tasks) for (const v of field.values(t.index) || []) if (v > field.low) above.push(v);
  const sorted = Float32Array.from(above).sort(), top = sorted.length ? sorted[Math.floor(0.99 * (sorted.length - 1))] : field.high;
  const whole = field.unit === "share" ? 2 : STEPS, high = field.unit === "share" || !(top > field.low) ? field.high : top;
  return field.steps = { count: whole, low: field.low, high, width: (high - field.low) / whole || 1 };
}

function fieldMode(field) {
  if (field.mode) return field.mode;
  const s = fieldSteps(field), end = (c) => s.low + c * s.width;
  return field.mode = {
    title: field.title, has: () => true, field,
    category: (t, i) => { const v = valueOf(field, t.index, i); return Number.isNaN(v) ? -1 : Math.max(0, Math.min(s.count - 1, Math.floor((v - s.low) / s.width))); },
    name: (c) => c < 0 ? "no value" : field.unit === "share" ? ["no", "yes"][c] : c === s.count - 1 ? `${fieldText(field, end(c))} and above` : `${fieldText(field, end(c))} to ${fieldText(field, end(c + 1))}`,
    all: () => [...Array(s.count).keys()], colour: (c) => c < 0 ? hue(-1) : ramp(c / (s.count - 1)),
  };
}

/* The mode of view.mode: one of `modes`, or the key of a field. */
const modeOf = (id) => modes[id] || (fieldByKey.has(id) ? fieldMode(fieldByKey.get(id)) : modes.cluster);

/* --- legend --------------------------------------------------------------------------------------------------------- */

/* All samples of a category of a mode, as the store takes them. */
function samplesOf(mode, c) {
  return tasks.map((t) => {
    const rows = [];
    for (let i = 0; i < t.samples; i++) if (mode.category(t, i) === c) rows.push(i);
    return [t.index, rows];
  });
}

function legend(place) {
  const mode = modeOf(view.mode), present = new Set();
  for (const panel of panels) for (const c of panel.codes(view.mode)) present.add(c);
  const items = mode.all().filter((c) => present.has(c)).concat(present.has(-1) && !mode.all().includes(-1) ? [-1] : []);
  place.replaceChildren(...items.slice(0, 60).map((c) => {
    const inside = [mark(mode.colour ? 0 : c, () => colourOf(mode, c)), " ", mode.name(c)];
    if (view.mode === "cluster" && c >= 0) return el("li", {}, chooser(c, { class: "key" }, inside));
    const words = view.mode === "task" || view.mode === "truth" || view.mode === "level" ? mode.name(c) : `${mode.title} ${mode.name(c)}`;
    return el("li", {}, el("button", { type: "button", class: "key", title: `Select: ${words}`, onclick: (e) => selectSamples(samplesOf(mode, c), words, e) }, inside));
  }));
}

function colourBy(id) {
  view.mode = modes[id] || fieldByKey.has(id) ? id : "cluster";
  const field = fieldByKey.has(id) && !modes[id];
  for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === (field ? "field" : id);
  const choice = document.getElementById("colour-field");
  if (choice && field) choice.value = id;
  legend(document.getElementById("legend"));
  drawAll();
  say(`Coloured by ${modeOf(view.mode).title}.`);
}

/* The switch above the map. */
function colourSwitch() {
  const choices = Object.entries(modes).filter(([, m]) => tasks.some((t) => m.has(t))), others = numberFields.filter((f) => f.key !== "confidence");
  if (!choices.some(([id]) => id === view.mode)) view.mode = choices.length ? choices[0][0] : "cluster";
  const radios = choices.map(([id, m]) => el("label", {}, el("input", { type: "radio", name: "mode", value: id, checked: id === view.mode, onchange: () => colourBy(id) }), ` ${m.title}`));
  const choice = others.length ? fieldChoice("colour-field", "Feature or column to colour by", others, () => colourBy(choice.value)) : null;
  return el("fieldset", { class: "switch" }, el("legend", {}, "Colour by"), radios,
    choice ? el("span", { class: "field" }, el("label", {}, el("input", { type: "radio", name: "mode", value: "field", onchange: () => colourBy(choice.value) }), " feature or column "), choice) : null);
}

/* A list of fields to choose from. */
function fieldChoice(id, label, from, onchange) {
  return el("select", { id, "aria-label": label, onchange }, from.map((f) => el("option", { value: f.key }, cut(f.title, 60))));
}
