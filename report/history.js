/* Edits: a history with undo and redo, a file of them, and what they do to labels. SPDX-License-Identifier: BSD-3-Clause
 *
 * The format and its checks are those of `kindred relabel` (src/jobs/edit/edits.c, docs/relabel.md). The module needs no document
 * and is tested with node (tests/page). */

const EDIT_NAME = 200, EDIT_NOTE = 2000;

/* Steps of one or more edits. Subscribers are called after each change. */
function createHistory() {
  let steps = [], at = 0;
  const subscribers = new Set(), changed = () => { for (const f of [...subscribers]) f(); };
  return {
    push(edits) { steps = [...steps.slice(0, at), edits]; at = steps.length; changed(); },
    undo() { if (at > 0) { at--; changed(); } },
    redo() { if (at < steps.length) { at++; changed(); } },
    /* One step per edit. */
    load(edits) { steps = edits.map((e) => [e]); at = steps.length; changed(); },
    get canUndo() { return at > 0; },
    get canRedo() { return at < steps.length; },
    get edits() { return steps.slice(0, at).flat(); },
    subscribe(f) { subscribers.add(f); return () => subscribers.delete(f); },
  };
}

/* --- files ------------------------------------------------------------------------------------------------------ */

/* One edit per line, so that errors name it. */
function writeEdits(result, edits) {
  return `{"format": "kindred-edits", "version": 1,\n"result": ${JSON.stringify(result)},\n"edits": [\n${edits.map((e) => `  ${JSON.stringify(e)}`).join(",\n")}\n]}\n`;
}

const lineAt = (text, position) => { let line = 1; for (let i = 0; i < position && i < text.length; i++) if (text[i] === "\n") line++; return line; };

/* Where the values of a JSON text begin that is known to be valid: positions of the root's members and of the entries of "edits". */
function positionsOf(text) {
  const members = new Map(), entries = [];
  let depth = 0, key = null, expects = false, inEdits = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (" \t\n\r".includes(c)) continue;
    if (expects && c !== "]" && c !== "}") {
      if (depth === 1 && key !== null) members.set(key, i);
      if (depth === 2 && inEdits) entries.push(i);
      expects = false;
    }
    if (c === "\"") {
      const from = i;
      for (i++; text[i] !== "\""; i++) if (text[i] === "\\") i++;
      if (depth === 1 && !members.has(JSON.parse(text.slice(from, i + 1))) && /^\s*:/.test(text.slice(i + 1, i + 200))) key = JSON.parse(text.slice(from, i + 1));
    } else if (c === "{" || c === "[") {
      depth++;
      if (depth === 2) inEdits = c === "[" && key === "edits";
      expects = depth === 2 && inEdits;
    } else if (c === "}" || c === "]") depth--;
    else if (c === ":" && depth === 1) expects = true;
    else if (c === "," && depth === 2 && inEdits) expects = true;
  }
  return { members, entries };
}

/* The line that a parser's message names, in the words of Chromium or Firefox; the last one if it names none. */
function lineOfError(text, message) {
  const line = /line (\d+)/.exec(message), position = /position (\d+)/.exec(message);
  return line ? Number(line[1]) : position ? lineAt(text, Number(position[1])) : lineAt(text, text.length);
}

/* The edits of a file, with the line of each. Throws an Error that begins with "line N: ". */
function readEdits(text, result) {
  let root;
  try { root = JSON.parse(text); } catch (e) { throw new Error(`line ${lineOfError(text, String(e.message))}: not valid JSON`); }
  const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);
  const at = isObject(root) ? positionsOf(text) : { members: new Map(), entries: [] };
  const fail = (key, words) => { throw new Error(`line ${lineAt(text, at.members.get(key) || 0)}: ${words}`); };
  if (!isObject(root) || root.format !== "kindred-edits") fail("format", "not an edits file, which is an object with \"format\": \"kindred-edits\"");
  if (root.version !== 1) fail("version", "'version' must be 1: a newer edits file needs a newer kindred");
  for (const key of Object.keys(root)) if (!["format", "version", "result", "edits"].includes(key)) fail(key, "unknown field: format, version, result and edits are allowed");
  if (root.result !== undefined && root.result !== result) fail("result", "these are edits of another result");
  if (!Array.isArray(root.edits)) fail("edits", "'edits' must be a list");
  return { edits: root.edits, lines: root.edits.map((_, i) => lineAt(text, at.entries[i] || 0)) };
}

/* --- what edits do ------------------------------------------------------------------------------------------------ */

/* `base`: {classes, names, numbers, tasks: [{name, labels, exists, idIndex}]}. Labels are cluster numbers, or with `classes` indices of
 * `names`; -1: none. `exists`: a Set of numbers. `idIndex()`: a Map from ids to rows, or null. Gives copies of the tasks with labels, into
 * (where each number of the base is now), names, notes, wrong and sampleNotes, and the names and count of clusters. Throws an Error with
 * `edit`, the index of an edit that cannot be applied. */
function applyEdits(base, edits) {
  const out = {
    classes: base.classes, numbers: base.numbers, names: [...base.names],
    tasks: base.tasks.map((t) => ({
      name: t.name, labels: t.labels.slice(), exists: new Set(t.exists), changed: new Set(), names: new Map(t.names || []), notes: new Map(t.notes || []),
      into: new Map([...Array(base.numbers).keys()].map((c) => [c, c])), wrong: new Set(t.wrong || []), sampleNotes: new Map(t.sampleNotes || []), idIndex: t.idIndex,
    })),
  };
  edits.forEach((e, i) => {
    try { applyEdit(out, e); } catch (error) { error.edit = i; throw error; }
  });
  return out;
}

function applyEdit(out, e) {
  const fail = (words) => { throw new Error(`edit ${e && typeof e === "object" && EDIT_KINDS[e.do] ? e.do : "?"}: ${words}`); };
  if (e === null || typeof e !== "object" || Array.isArray(e)) fail("an object such as {\"do\": \"rename\"} is expected");
  const kind = Object.hasOwn(EDIT_KINDS, e.do) ? EDIT_KINDS[e.do] : null;
  if (!kind) fail("'do' must be rename, merge, wrong or note");
  for (const key of Object.keys(e)) if (key !== "do" && !kind.keys.includes(key)) fail(`unknown field '${key.slice(0, 40)}'`);
  if (e.task !== undefined && typeof e.task !== "string") fail("'task' must be a string");
  const scope = out.tasks.filter((t) => t.labels.length && (e.task === undefined || t.name === e.task));
  if (e.task !== undefined && !scope.length) fail(`the result has no labels of data set '${e.task.slice(0, 60)}'`);
  kind.apply({ out, e, scope, fail });
}

/* A text of at most `most` characters. */
function editText({ e, fail }, key, note) {
  const text = e[key], most = note ? EDIT_NOTE : EDIT_NAME;
  if (typeof text !== "string") fail(`'${key}' must be a string`);
  for (const c of text) if (c < " " && !(note && (c === "\n" || c === "\t"))) fail(`'${key}' has a control character`);
  if ([...text].length > most) fail(`'${key}' has ${[...text].length} characters; ${most} are allowed`);
  if (!note && !text.trim()) fail(`'${key}' is empty`);
  return text;
}

/* What a class or cluster of a task is called; undefined: it has no name. */
const editedName = (out, t, c) => out.classes ? out.names[c] : t.names.get(c);

function editNumber({ out, e, scope, fail }, key) {
  const v = e[key];
  if (!out.classes) return Number.isInteger(v) && v >= 0 ? v : fail(`'${key}' must be the number of a cluster`);
  if (typeof v !== "string") fail(`'${key}' must be the name of a class`);
  return out.names.findIndex((name, c) => name === v && scope.some((t) => t.exists.has(c)));
}

function existing(d, key) {
  const c = editNumber(d, key);
  if (!d.scope.some((t) => t.exists.has(c))) d.fail(`there is no ${d.out.classes ? "class" : "cluster"} ${String(d.e[key]).slice(0, 60)}`);
  return c;
}

/* Rows of the samples that an edit names. */
function editRows({ e, scope, fail }) {
  const [t] = scope, ids = Array.isArray(e.samples) && e.samples.some((s) => typeof s === "string") ? t.idIndex() : null;
  if (e.task === undefined) fail("'task', the name of a data set, is needed");
  if (!Array.isArray(e.samples) || !e.samples.length) fail("'samples' must be a list of rows or ids");
  return e.samples.map((s) => {
    const row = typeof s === "string" ? (ids ? ids.get(s) : undefined) : s;
    if (row === undefined) fail(`data set ${t.name} has no sample '${String(s).slice(0, 60)}'`);
    if (!Number.isInteger(row)) fail("samples are rows, counted from 0, or ids in quotes");
    if (row < 0 || row >= t.labels.length) fail(`sample ${row} is out of range: ${t.name} has the rows 0 to ${t.labels.length - 1}`);
    return row;
  });
}

function applyRename(d) {
  const { out, e, scope, fail } = d, name = editText(d, "name", false), c = existing(d, "cluster");
  if (out.classes && e.task !== undefined) fail("a class has one name in all data sets: omit 'task'");
  if (out.classes && name === "?") fail("'?' stands for samples without a class and cannot be a name");
  for (const t of scope) if (t.exists.has(c)) for (const o of t.exists)
    if (o !== c && editedName(out, t, o) === name) fail(`${t.name} has another ${out.classes ? "class" : "cluster"} with this name: merge the two instead`);
  if (out.classes) out.names[c] = name;
  else for (const t of scope) if (t.exists.has(c)) t.names.set(c, name);
}

function applyMerge(d) {
  const { scope, fail } = d, from = existing(d, "cluster"), into = existing(d, "into");
  if (from === into) fail("a cluster cannot be merged into itself");
  const inside = scope.filter((t) => t.exists.has(from));
  for (const t of inside) if (!t.exists.has(into)) fail(`${t.name} does not have the cluster to merge into`);
  for (const t of inside) {
    for (let i = 0; i < t.labels.length; i++) if (t.labels[i] === from) t.labels[i] = into;
    for (const [c, now] of t.into) if (now === from) t.into.set(c, into);
    t.exists.delete(from);
    t.changed.add(into);
  }
}

function applyNote(d) {
  const { e, scope, fail } = d, text = editText(d, "text", true), put = (map, key) => { if (text) map.set(key, text); else map.delete(key); };
  if (e.samples !== undefined) {
    if (e.cluster !== undefined) fail("a note is about 'samples' or about a 'cluster', not both");
    for (const i of editRows(d)) put(scope[0].sampleNotes, i);
    return;
  }
  const c = existing(d, "cluster");
  for (const t of scope) if (t.exists.has(c)) put(t.notes, c);
}

const EDIT_KINDS = {
  rename: { keys: ["task", "cluster", "name"], apply: applyRename },
  merge: { keys: ["task", "cluster", "into"], apply: applyMerge },
  wrong: { keys: ["task", "samples"], apply: (d) => { for (const i of editRows(d)) d.scope[0].wrong.add(i); } },
  note: { keys: ["task", "cluster", "samples", "text"], apply: applyNote },
};

/* An edit in words; `called(edit, key)` names its cluster. */
function editWords(e, called) {
  const samples = () => e.samples.length === 1 ? "1 sample" : `${e.samples.length} samples`, of = e.task === undefined ? "" : ` of ${e.task}`;
  switch (e.do) {
    case "rename": return `${called(e, "cluster")}${of} is called “${e.name}”`;
    case "merge": return `${called(e, "cluster")}${of} is merged into ${called(e, "into")}`;
    case "wrong": return `${samples()}${of} marked as wrong`;
    default: return `${e.samples ? samples() : called(e, "cluster")}${of}: ${e.text ? `note “${e.text}”` : "note removed"}`;
  }
}
