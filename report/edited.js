/* The labels that the page shows: those of the result with its edits, or those of another level. SPDX-License-Identifier: BSD-3-Clause
 *
 * Edits refer to clusters by their own numbers (history.js). Clusters of several data sets are one group with one colour and card if they
 * were one before and have the same name, or if an edit gave them the same name. */

const edits = createHistory();
const STORED = `kindred edits ${D.fingerprint}`;

/* The number of a group in a data set; classes have their own. */
const ownNumbers = tasks.map((t) => new Map(t.groups ? [...t.groups].map(([c, g]) => [g, c]) : []));
const ownNumber = (t, g) => classNames.length ? g : ownNumbers[t.index].has(g) ? ownNumbers[t.index].get(g) : -1;

const editBase = {
  classes: classNames.length > 0, names: classNames.length ? [...truthNames] : [], /* classes that only the known ones have cannot be edited */
  numbers: classNames.length ? truthNames.length : 1 + Math.max(-1, ...tasks.flatMap((t) => [...(t.groups ? t.groups.keys() : []), ...t.second && !t.second.names ? list(t.raw.second).filter((v) => Number.isInteger(v) && v < 1e6) : []].reduce((a, b) => Math.max(a, b), -1))),
  tasks: tasks.map((t) => ({
    name: t.name, labels: t.labels ? t.labels.values.map((g) => ownNumber(t, g)) : new Int32Array(0), second: t.second ? t.second.values.map((g) => ownNumber(t, g)) : null,
    exists: new Set(!t.labels ? [] : classNames.length ? classNames.keys() : t.clusters.filter((c) => c && Number.isInteger(c.own) && c.merged_into === undefined).map((c) => c.own)),
    names: new Map(classNames.length ? [] : t.clusters.filter((c) => c && typeof c.name === "string").map((c) => [c.own, c.name])),
    notes: new Map(t.clusters.filter((c) => c && typeof c.note === "string").map((c) => [classNames.length ? c.number : c.own, c.note])),
    wrong: new Set(list(t.raw.wrong)),
    sampleNotes: new Map(list(t.raw.sample_notes).filter((n) => n && typeof n.text === "string").map((n) => [n.row, n.text])),
    idIndex: () => Array.isArray(t.ids) ? new Map(t.ids.map((id, i) => [String(id), i])) : null,
    clusters: t.clusters, k: t.raw.k, shown: t.labels ? t.labels.values : null, shownSecond: t.second, truth: t.truth ? t.truth.values : null,
  })),
  count: clusterCount,
};
for (const t of editBase.tasks) for (const v of t.labels) if (v >= 0) t.exists.add(v);

/* Whether the result itself has been edited before. */
const editedBefore = editBase.tasks.some((t) => t.names.size || t.clusters.some((c) => c && c.merged_into !== undefined));

let state = applyEdits(editBase, []);
let shownLevel = null; /* null: the result with its edits */

/* Whether labels differ from those that the result's figures were computed from. */
const labelsChanged = () => shownLevel !== null || state.tasks.some((t) => t.changed.size);

/* --- groups ---------------------------------------------------------------------------------------------------------- */

/* "task number" to group, and the groups' members. Unnamed clusters keep their group, and so does a name that all of a group have. */
function regroup() {
  const found = new Map(), groupBy = new Map(), members = new Map(), taken = new Set();
  let next = groups.length;
  for (const named_ of [false, true])
    state.tasks.forEach((t, at) => {
      for (const c of [...t.exists].sort((a, b) => a - b)) {
        const name = t.names.get(c), was = tasks[at].groups && tasks[at].groups.has(c) ? tasks[at].groups.get(c) : undefined;
        if ((name !== undefined) !== named_) continue;
        const key = name !== undefined ? `name ${name}` : was !== undefined ? `group ${was}` : `new ${c}`;
        if (!groupBy.has(key)) {
          const g = was !== undefined && !taken.has(was) ? was : next++;
          taken.add(g);
          groupBy.set(key, g);
          if (name !== undefined) givenNames.set(g, name);
          else if (was === undefined) givenNames.set(g, `cluster ${c}`);
        }
        const g = groupBy.get(key);
        found.set(`${at} ${c}`, g);
        if (!members.has(g)) members.set(g, []);
        members.get(g).push({ task: at, number: c });
      }
    });
  return { found, members };
}

let grouped = { found: new Map(), members: new Map() };
/* Clusters {task, number} of a group. */
const membersOf = (g) => state.classes ? state.tasks.flatMap((t, at) => t.exists.has(g) ? [{ task: at, number: g }] : []) : grouped.members.get(g) || [];
/* At another level clusters with one number are one group if the data sets' numbers mean the same, else each is a group of its own. */
const numbersMatch = tasks.length < 2 || groups.some((g) => g.length > 1);
const levelGroup = (at, c) => numbersMatch ? c : at * Math.max(...levels.map((l) => Math.max(...l.tasks.map((t) => t.sizes.length)))) + c;
const groupNow = (at, c) => shownLevel !== null ? levelGroup(at, c) : state.classes ? c : grouped.found.has(`${at} ${c}`) ? grouped.found.get(`${at} ${c}`) : -1;

/* --- what depends on labels --------------------------------------------------------------------------------------------- */

/* What a cluster with other samples has: features from the values in the page. */
function computedProfile(t, g, own) {
  const rows = members(t, g), inside = tasks.map((o) => new Uint8Array(o.samples)), outside = tasks.map((o) => new Uint8Array(o.samples));
  for (let i = 0; i < t.samples; i++) (t.labels.values[i] === g ? inside : outside)[t.index][i] = 1;
  const order = t.confidence && shownLevel === null ? [...rows].filter((i) => isNumber(t.confidence[i])).sort((a, b) => t.confidence[b] - t.confidence[a] || a - b) : [];
  return { number: g, own, size: rows.length, features: featureFields.length ? effects(featureFields, inside, outside).slice(0, 16) : [], typical: order.slice(0, 3), doubtful: order.slice(-3).reverse() };
}

function setLabels(t, at) {
  const level = shownLevel === null ? null : levels[shownLevel].tasks[at], edited = state.tasks[at], base = editBase.tasks[at];
  t.byLabel = null;
  if (level) {
    t.labels.values = level.labels.map((c) => c < 0 ? -1 : levelGroup(at, c));
    t.second = null;
    t.raw.k = level.sizes.filter((s) => s > 0).length;
    return;
  }
  const group = new Map([...edited.exists].map((c) => [c, groupNow(at, c)]));
  t.labels.values = edited.labels.map((c) => group.has(c) ? group.get(c) : -1);
  if (base.second) {
    t.second = { names: null };
    t.second.values = base.second.map((c, i) => { const g = c < 0 || !edited.into.has(c) ? -1 : groupNow(at, edited.into.get(c)); return g === t.labels.values[i] ? -1 : g; });
  }
  t.raw.k = base.k === undefined ? undefined : base.k + edited.exists.size - base.exists.size;
}

function setProfiles(t, at) {
  const edited = state.tasks[at], base = editBase.tasks[at];
  if (shownLevel !== null) {
    t.clusters = levels[shownLevel].tasks[at].sizes.flatMap((s, c) => s > 0 ? [computedProfile(t, levelGroup(at, c), c)] : []);
    return;
  }
  t.clusters = [...edited.exists].map((c) => {
    const was = base.clusters.find((p) => p && (state.classes ? p.number : p.own) === c), g = groupNow(at, c);
    return edited.changed.has(c) ? computedProfile(t, g, c) : was ? { ...was, number: g } : { number: g, own: c, features: [] };
  });
}

/* Clusters that correspond, in the labels shown: rows and columns of merged clusters are added; levels match by number. */
function matchesNow() {
  if (shownLevel !== null) {
    const sizes = levels[shownLevel].tasks.map((t) => t.sizes);
    if (!numbersMatch) return [];
    return tasks.slice(1).map((t, i) => ({ from: i, to: i + 1, quality: [], matrix: sizes[i].map((a, r) => sizes[i + 1].map((b, c) => r === c && a > 0 && b > 0 ? 1 : 0)) }));
  }
  if (!state.tasks.some((t) => t.changed.size)) return correspondence;
  return correspondence.map((m) => {
    const cols = Math.max(...m.matrix.map((r) => list(r).length)), out = m.matrix.map(() => new Array(cols).fill(0));
    const now = (t, c, most) => { const to = state.tasks[t].into.get(c); return to !== undefined && to < most ? to : c; };
    m.matrix.forEach((row, r) => list(row).forEach((v, c) => { out[now(m.from, r, out.length)][now(m.to, c, cols)] += isNumber(v) ? v : 0; }));
    return { ...m, matrix: out };
  });
}

/* Known classes are renamed and merged as the labels are, so that the two can be compared. */
function followClasses() {
  const { into } = state.tasks[labelled[0].index];
  state.names.forEach((name, c) => { givenNames.set(c, name); truthNames[c] = name; });
  for (const t of tasks) if (t.truth) t.truth.values = editBase.tasks[t.index].truth.map((c) => into.has(c) ? into.get(c) : c);
}

/* Takes the labels of the history or the level into every section. */
function applyLabels() {
  state = applyEdits(editBase, edits.edits);
  givenNames.clear();
  grouped = state.classes ? grouped : regroup();
  if (state.classes) followClasses();
  if (shownLevel !== null) levels[shownLevel].tasks.forEach((t, at) => t.sizes.forEach((_, c) => givenNames.set(levelGroup(at, c), numbersMatch ? `cluster ${c}` : `${tasks[at].name} ${c}`)));
  if (shownLevel === null && !edits.edits.length && !editedBefore) { /* as it came */
    clusterCount = editBase.count;
    for (const t of labelled) {
      const base = editBase.tasks[t.index];
      t.byLabel = null;
      t.labels.values = base.shown;
      t.second = base.shownSecond;
      t.clusters = base.clusters;
      t.raw.k = base.k;
    }
    return;
  }
  clusterCount = 0;
  for (const t of labelled) { setLabels(t, t.index); for (const v of t.labels.values) if (v >= clusterCount) clusterCount = v + 1; }
  for (const t of labelled) setProfiles(t, t.index);
}

function redraw() {
  applyLabels();
  refreshLabels();
  for (const p of panels) for (const key of ["cluster", "level", "truth"]) p.known.delete(key);
  const key = document.getElementById("legend"), form = document.querySelector("form.by");
  if (key) legend(key);
  drawAll();
  for (const id of parts.keys()) drawPart(id);
  if (form) form.replaceWith(selectForm());
  highlight.next = highlight.number;
  store.touch();
  contents();
}

/* Shows a level of the result, or the result itself. */
function showLevel(l) {
  shownLevel = l === mainLevel || !colouredByLevel ? null : l;
  redraw();
}

/* --- kept in the browser --------------------------------------------------------------------------------------------------- */

const keeper = {
  works: true,
  get(key) { try { return localStorage.getItem(key); } catch (e) { keeper.works = false; return null; } },
  put(key, text) {
    try { if (text === null) localStorage.removeItem(key); else localStorage.setItem(key, text); keeper.works = true; } catch (e) { keeper.works = false; }
  },
};

/* Edits of an earlier visit, if they still fit. */
function restoreEdits() {
  const text = keeper.get(STORED);
  if (!text || !labelled.length) return;
  try {
    const read = readEdits(text, D.fingerprint).edits;
    applyEdits(editBase, read);
    edits.load(read);
  } catch (e) { keeper.put(STORED, null); }
}

/* What edits say about a sample: lines for its tooltip. */
function editLines(t, i) {
  const at = state.tasks[t.index], out = [];
  if (at.wrong.has(i)) out.push(["wrong", "marked by hand"]);
  if (at.sampleNotes.has(i)) out.push(["note", at.sampleNotes.get(i)]);
  return out;
}

/* Notes on a group. */
function notesOf(g) {
  return shownLevel === null ? [...new Set(membersOf(g).map((c) => state.tasks[c.task].notes.get(c.number)).filter(Boolean))] : [];
}
