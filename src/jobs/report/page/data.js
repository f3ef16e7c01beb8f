/* The result as the page uses it. SPDX-License-Identifier: BSD-3-Clause
 *
 * The block has the schema of result.json; labels, second choices and known classes that are texts come as {names, index}.
 * Anything may be missing. */

const D = JSON.parse(document.getElementById("data").textContent);
const list = (v) => Array.isArray(v) ? v : [];
const object = (v) => v && typeof v === "object" && !Array.isArray(v) ? v : {};
const isTransfer = D.command === "transfer";
const isBench = Array.isArray(D.tables);

/* Numbers one a sample are kept as typed arrays: of 200,000 samples there are no 200,000 objects. */
const whole = (v) => Int32Array.from(v, (x) => isNumber(x) && x < 1e6 ? x : -1);

/* {names, values}: values are indices into names, or plain numbers where names is null; -1: none. */
function named(v) {
  if (Array.isArray(v)) return { names: null, values: whole(v) };
  const o = object(v);
  if (!Array.isArray(o.index)) return null;
  return { names: list(o.names).map(String), values: whole(o.index) };
}

/* Texts of some samples, by their rows. */
function byRow(rows, texts) {
  const out = new Map();
  if (list(rows).length === list(texts).length) list(rows).forEach((r, i) => { if (typeof texts[i] === "string" && texts[i]) out.set(r, texts[i]); });
  return out;
}

const tasks = list(D.tasks).map((t, index) => {
  const labels = named(t.labels), truth = named(t.truth), second = named(t.second), place = object(t.embedding);
  const drawn = list(place.x).length && list(place.x).length === list(place.y).length;
  const rows = list(place.rows).length ? place.rows : null;
  return {
    raw: t, index, name: t.name === undefined || t.name === null ? "(unnamed)" : String(t.name), n: isNumber(t.n) ? t.n : 0,
    ids: Array.isArray(t.ids) ? t.ids : byRow(object(t.ids).rows, object(t.ids).names), /* of a few where there was no room for all */
    labels: labels && labels.values.length ? labels : null,
    truth: truth && truth.values.length ? truth : null,
    second,
    confidence: list(t.confidence).length ? Float64Array.from(t.confidence, (v) => isNumber(v) ? v : 0) : null,
    moved: list(t.moved).some((v) => v) ? Uint8Array.from(t.moved, (v) => v ? 1 : 0) : null,
    before: named(t.before),
    strongest: t.strongest && list(t.strongest.index).length ? t.strongest : null,
    clusters: list(t.clusters),
    excerpts: byRow(object(t.excerpts).rows, object(t.excerpts).texts),
    probabilities: list(t.probabilities).length ? t.probabilities : null,
    x: drawn ? Uint16Array.from(place.x) : null, y: drawn ? Uint16Array.from(place.y) : null, rows,
    points: drawn ? place.x.length : 0,
  };
});

/* Names of labels over all tasks, so that a class has one number, colour and shape everywhere. */
const classNames = [];
for (const t of tasks) /* clusters that are classes have their names in order of their numbers */
  for (const c of t.clusters) if (c && typeof c.class === "string" && c.number === classNames.length) classNames.push(c.class);
for (const t of tasks) {
  for (const field of [t.labels, t.second, t.before]) {
    if (!field || !field.names) continue;
    const map = field.names.map((name) => {
      if (name === "?") return -1;
      if (!classNames.includes(name)) classNames.push(name);
      return classNames.indexOf(name);
    });
    field.values = field.values.map((v) => v >= 0 && v < map.length ? map[v] : -1);
  }
}
const truthNames = [...classNames];
for (const t of tasks) {
  if (!t.truth) continue;
  const names = t.truth.names || [];
  const map = names.map((name) => {
    if (!truthNames.includes(name)) truthNames.push(name);
    return truthNames.indexOf(name);
  });
  t.truth.values = t.truth.values.map((v) => v >= 0 && v < map.length ? map[v] : -1);
}

const labelled = tasks.filter((t) => t.labels);
let clusterCount = 0;
for (const t of labelled) for (const v of t.labels.values) if (v >= clusterCount) clusterCount = v + 1;
for (const t of tasks) for (const c of t.clusters) if (c && Number.isInteger(c.number) && c.number < 1e6 && c.number >= clusterCount) clusterCount = c.number + 1;

/* What a cluster is called: a class, or a number. */
const nameOf = (c) => c < 0 ? "none" : classNames.length ? classNames[c] || `class ${c}` : `cluster ${c}`;
const Name = (c) => { const s = nameOf(c); return classNames.length ? s : s[0].toUpperCase() + s.slice(1); };
const idOf = (t, i) => { const id = t.ids instanceof Map ? t.ids.get(i) : t.ids[i]; return id === undefined ? `row ${count(i + 1)}` : String(id); };
const rowOf = (t, p) => t.rows ? t.rows[p] : p;

/* The label of a sample; a labelled source has its known classes. */
const labelOf = (t, i) => t.labels ? t.labels.values[i] : isTransfer && t.truth ? t.truth.values[i] : -1;

/* Rows of a task by label: sorted once, in their order. */
function members(t, c) {
  if (!t.labels) return [];
  if (!t.byLabel) {
    const v = t.labels.values, start = new Int32Array(clusterCount + 2), order = new Int32Array(v.length);
    for (let i = 0; i < v.length; i++) start[Math.max(v[i], -1) + 2]++;
    for (let k = 1; k < start.length; k++) start[k] += start[k - 1];
    t.byLabel = { start: start.slice(), order };
    for (let i = 0; i < v.length; i++) order[start[Math.max(v[i], -1) + 1]++] = i;
  }
  return t.byLabel.order.subarray(t.byLabel.start[c + 1], t.byLabel.start[c + 2]);
}

const about = object(D.about);
const strongest = (t, p) => t.strongest
  ? list(t.strongest.index[p]).map((j) => t.strongest.names[j]).filter((s) => s !== undefined) : [];
const features = (cluster) => list(object(cluster).features).filter((f) => f && isNumber(f.effect) && f.name !== undefined);
