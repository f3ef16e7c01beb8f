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
    confidence: list(t.confidence).length ? Float64Array.from(t.confidence, (v) => isNumber(v) ? v : NaN) : null, /* NaN: no label */
    meanConfidence: typeof t.mean_confidence === "string" ? t.mean_confidence : "–", /* as the program prints it */
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

/* Clusters of several data sets that correspond are one group, with one name, colour, shape and card; a cluster without a
 * counterpart is a group of its own, even if another data set has its number. From here on labels are indices of groups. */
const groups = []; /* of each: the clusters {task, number} */
const taskIndex = (v) => typeof v === "number" ? v : tasks.findIndex((t) => t.name === v);
const correspondence = list(D.correspondence).map((m) => ({ from: taskIndex(m.from), to: taskIndex(m.to), matrix: list(m.matrix), quality: list(m.quality) }))
  .filter((m) => m.from >= 0 && m.to >= 0 && m.from !== m.to && m.matrix.length);

/* Pairs of clusters whose entry is the largest of its row and of its column, and the only one as large. */
function counterpartsOf(m) {
  const at = (i, j) => isNumber(list(m.matrix[i])[j]) ? m.matrix[i][j] : 0, width = Math.max(...m.matrix.map((r) => list(r).length)), out = [];
  const others = (v, n, skip, value) => v > 0 && [...Array(n).keys()].every((x) => x === skip || value(x) < v);
  for (let i = 0; i < m.matrix.length; i++)
    for (let j = 0; j < width; j++)
      if (others(at(i, j), width, j, (x) => at(i, x)) && others(at(i, j), m.matrix.length, i, (x) => at(x, j))) out.push([i, j]);
  return out;
}

function findGroups() {
  const numbers = (t) => {
    const out = new Set(t.clusters.filter((c) => c && Number.isInteger(c.number) && c.number >= 0 && c.number < 1e6).map((c) => c.number));
    if (t.labels) for (const v of t.labels.values) if (v >= 0) out.add(v);
    return [...out].sort((a, b) => a - b);
  };
  const parent = new Map(), inside = new Map(), key = (t, c) => `${t} ${c}`;
  const root = (k) => { while (parent.get(k) !== k) k = parent.get(k); return k; };
  const all = tasks.flatMap((t) => numbers(t).map((number) => ({ task: t.index, number })));
  for (const c of all) {
    parent.set(key(c.task, c.number), key(c.task, c.number));
    inside.set(key(c.task, c.number), [c.task]);
  }
  /* Never two clusters of one data set. */
  const join = (a, b) => {
    if (!parent.has(a) || !parent.has(b)) return;
    const to = root(a), from = root(b), both = [...inside.get(to), ...inside.get(from)];
    if (to === from || new Set(both).size < both.length) return;
    parent.set(from, to);
    inside.set(to, both);
  };
  /* Equal numbers are one cluster, except in results of earlier versions that state otherwise. */
  if (D.shared_clusters !== false) {
    const first = new Map();
    for (const c of all) {
      if (first.has(c.number)) join(first.get(c.number), key(c.task, c.number));
      else first.set(c.number, key(c.task, c.number));
    }
  }
  for (const m of correspondence) for (const [i, j] of counterpartsOf(m)) join(key(m.from, i), key(m.to, j));
  const index = new Map();
  for (const c of all) {
    const r = root(key(c.task, c.number));
    if (!index.has(r)) { index.set(r, groups.length); groups.push([]); }
    groups[index.get(r)].push(c);
    tasks[c.task].groups = tasks[c.task].groups || new Map();
    tasks[c.task].groups.set(c.number, index.get(r));
  }
  for (const t of tasks) {
    const to = (v) => t.groups && t.groups.has(v) ? t.groups.get(v) : -1;
    for (const field of [t.labels, t.second, t.before]) if (field) field.values = field.values.map(to);
    t.clusters = t.clusters.map((c) => c && Number.isInteger(c.number) ? { ...c, own: c.number, number: to(c.number) } : c);
  }
}
if (!classNames.length) findGroups();
/* The group of a cluster of a data set. */
const groupOf = (t, c) => groupNow(t, c);

const labelled = tasks.filter((t) => t.labels);
let clusterCount = 0;
for (const t of labelled) for (const v of t.labels.values) if (v >= clusterCount) clusterCount = v + 1;
for (const t of tasks) for (const c of t.clusters) if (c && Number.isInteger(c.number) && c.number < 1e6 && c.number >= clusterCount) clusterCount = c.number + 1;

/* What a cluster is called: a class, its name, or a number; "south 1" if another group has clusters of that number. */
const groupNames = groups.map((g, at) => {
  const given = g.map((c) => object(tasks[c.task].clusters.find((p) => p && p.own === c.number)).name).find((n) => typeof n === "string");
  if (given !== undefined) return given;
  const first = g[0].number, same = groups.map((o, i) => [o[0].number, o.length, i]).filter((o) => o[0] === first);
  const keeps = same.length === 1 || at === same.filter((o) => o[1] > 1).map((o) => o[2])[0];
  return keeps ? `cluster ${first}` : g.map((c) => `${tasks[c.task].name} ${c.number}`).join(", ");
});
const givenNames = new Map(); /* by edits (edited.js) */
const nameOf = (c) => c < 0 ? "none" : givenNames.has(c) ? givenNames.get(c) : classNames.length ? classNames[c] || `class ${c}` : groupNames[c] || `cluster ${c}`;
const Name = (c) => nameOf(c).replace(/^(cluster \d+)$/, (s) => s[0].toUpperCase() + s.slice(1));
const idOf = (t, i) => { const id = t.ids instanceof Map ? t.ids.get(i) : t.ids[i]; return id === undefined ? `row ${count(i + 1)}` : String(id); };
const rowOf = (t, p) => t.rows ? t.rows[p] : p;
/* The point of a sample; -1: it is not drawn. */
function pointOf(t, i) {
  if (!t.rows) return i < t.points ? i : -1;
  if (!t.pointOfRow) t.pointOfRow = new Map(t.rows.map((r, p) => [r, p]));
  return t.pointOfRow.has(i) ? t.pointOfRow.get(i) : -1;
}

/* The label of a sample; a labelled source has its known classes. */
const labelOf = (t, i) => t.labels ? t.labels.values[i] : isTransfer && t.truth ? t.truth.values[i] : -1;

/* Rows of a task by label: sorted once, in their order. */
function members(t, c) {
  if (!t.labels || c >= clusterCount) return [];
  if (!t.byLabel) {
    const v = t.labels.values, start = new Int32Array(clusterCount + 2), order = new Int32Array(v.length);
    for (let i = 0; i < v.length; i++) start[Math.max(v[i], -1) + 2]++;
    for (let k = 1; k < start.length; k++) start[k] += start[k - 1];
    t.byLabel = { start: start.slice(), order };
    for (let i = 0; i < v.length; i++) order[start[Math.max(v[i], -1) + 1]++] = i;
  }
  return t.byLabel.order.subarray(t.byLabel.start[c + 1], t.byLabel.start[c + 2]);
}

/* What is selected, compared and filtered (selection.js). The number of samples is that of what is known of each, whatever `n` says. */
for (const t of tasks) {
  t.samples = Math.max(t.labels ? t.labels.values.length : 0, t.truth ? t.truth.values.length : 0, t.rows ? 0 : t.points);
  if (t.rows) for (const i of t.rows) if (Number.isInteger(i) && i >= t.samples && i < 1e8) t.samples = i + 1;
}
const store = createStore(tasks.map((t) => t.samples));
store.subscribe(followSelection);

const about = object(D.about);
const strongest = (t, p) => t.strongest
  ? list(t.strongest.index[p]).map((j) => t.strongest.names[j]).filter((s) => s !== undefined) : [];
const features = (cluster) => list(object(cluster).features).filter((f) => f && isNumber(f.effect) && f.name !== undefined);
