/* Edits: history, files, effects on labels. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { applyEdits, createHistory, editWords, readEdits, writeEdits } = load(["history"], ["applyEdits", "createHistory", "editWords", "readEdits", "writeEdits"]);
const task = (name, labels, ids = null) => ({ name, labels: Int32Array.from(labels), exists: new Set(labels.filter((c) => c >= 0)), idIndex: () => ids && new Map(ids.map((id, i) => [id, i])) });
const clusters = () => ({ classes: false, names: [], numbers: 3, tasks: [task("a", [0, 0, 1, 2], ["p", "q", "r", "s"]), task("b", [0, 1])] });
const classes = () => ({ classes: true, names: ["x", "y"], numbers: 2, tasks: [task("s", []), task("t", [0, 1, -1])] });
const apply = (base, ...edits) => applyEdits(base, edits);
const fails = (base, edit, words) => assert.throws(() => apply(base, edit), (e) => e.message.includes(words) && e.edit === 0, words);

test("undo and redo go through the steps, and a new step forgets what was undone", () => {
  const h = createHistory(), seen = [];
  h.subscribe(() => seen.push(h.edits.length));
  h.push([{ do: "a" }, { do: "b" }]);
  h.push([{ do: "c" }]);
  h.undo();
  assert.deepEqual([h.edits.length, h.canUndo, h.canRedo], [2, true, true]);
  h.redo();
  h.undo();
  h.push([{ do: "d" }]);
  assert.deepEqual(h.edits.map((e) => e.do), ["a", "b", "d"]);
  assert.equal(h.canRedo, false);
  h.undo(); h.undo(); h.undo();
  assert.equal(h.canUndo, false);
  h.load([{ do: "e" }, { do: "f" }]);
  h.undo();
  assert.deepEqual(h.edits.map((e) => e.do), ["e"]);
  assert.deepEqual(seen, [2, 3, 2, 3, 2, 3, 2, 0, 2, 1]);
});

test("edits change labels, names, marks and notes of copies", () => {
  const base = clusters();
  const out = apply(base, { do: "rename", cluster: 0, name: "first" }, { do: "merge", task: "a", cluster: 2, into: 1 },
    { do: "wrong", task: "a", samples: ["s"] }, { do: "note", cluster: 1, text: "n" }, { do: "note", task: "b", samples: [1], text: "m" });
  assert.deepEqual([...out.tasks[0].labels], [0, 0, 1, 1]);
  assert.deepEqual([...out.tasks[1].labels], [0, 1]);
  assert.deepEqual([...base.tasks[0].labels], [0, 0, 1, 2]);
  assert.deepEqual([out.tasks[0].names.get(0), out.tasks[1].names.get(0)], ["first", "first"]);
  assert.equal(out.tasks[0].into.get(2), 1);
  assert.deepEqual([[...out.tasks[0].wrong], out.tasks[0].notes.get(1), out.tasks[1].sampleNotes.get(1), out.numbers], [[3], "n", "m", 3]);
  assert.deepEqual([...out.tasks[0].changed], [1]);
});

test("classes are renamed and merged in all data sets", () => {
  const out = apply(classes(), { do: "rename", cluster: "x", name: "z" }, { do: "merge", cluster: "y", into: "z" });
  assert.deepEqual([[...out.tasks[1].labels], out.names], [[0, 0, -1], ["z", "y"]]);
  fails(classes(), { do: "rename", cluster: "x", name: "y" }, "merge the two");
  fails(classes(), { do: "rename", cluster: "x", name: "?" }, "without a class");
  fails(classes(), { do: "rename", task: "t", cluster: "x", name: "q" }, "one name");
});

test("invalid edits are refused", () => {
  for (const [edit, words] of [[{ do: "merge", cluster: 9, into: 1 }, "no cluster 9"], [{ do: "merge", cluster: 1, into: 1 }, "itself"], [{ do: "merge", cluster: 0, into: 2 }, "b does not have"],
    [{ do: "rename", cluster: 1, name: " " }, "empty"], [{ do: "rename", cluster: 1, name: "a\nb" }, "control"], [{ do: "rename", cluster: 1, name: "n".repeat(201) }, "201"],
    [{ do: "rename", cluster: "1", name: "n" }, "number"], [{ do: "rename", cluster: 1, nam: "n" }, "'nam'"], [{ do: "wrong", task: "a", samples: [4] }, "0 to 3"],
    [{ do: "wrong", task: "a", samples: ["z"] }, "'z'"], [{ do: "wrong", task: "c", samples: [1] }, "'c'"], [{ do: "wrong", samples: [1] }, "'task'"],
    [{ do: "wrong", task: "a", samples: [] }, "'samples'"], [{ do: "wrong", task: "a", samples: [1.5] }, "counted from 0"], [{ do: "move", task: "a", samples: [1], into: 1 }, "rename, merge, wrong or note"],
    [{ do: "note", cluster: 0, text: "n".repeat(2001) }, "2001"], [{ do: "note", text: "n" }, "'cluster'"], [{ do: "constructor" }, "rename, merge"], [7, "object"], [null, "object"]])
    fails(clusters(), edit, words);
});

test("a file is read back as it was written", () => {
  const edits = [{ do: "rename", cluster: 0, name: "</script> \"x\" \u202e" }, { do: "wrong", task: "a", samples: [1, 2] }];
  assert.deepEqual(readEdits(writeEdits("mark", edits), "mark"), { edits, lines: [4, 5] });
  assert.deepEqual(readEdits('{"edits":[\n\n{"do":"a","x":["]",{"y":1}]}, 5\n,[]], "version":1,"format":"kindred-edits"}', "any"), { edits: [{ do: "a", x: ["]", { y: 1 }] }, 5, []], lines: [3, 3, 4] });
});

test("a damaged file is refused with its line", () => {
  const text = writeEdits("mark", [{ do: "wrong", task: "a", samples: [1] }]);
  for (const [bad, words] of [[text.slice(0, 60), "not valid JSON"], [text.replace("[1]", "[1"), "line 4"], [text.replace("version\": 1", "version\": 2"), "line 1: 'version'"],
    [text.replace("\"mark\"", "\"other\""), "line 2: these are edits of another result"], ["[]", "line 1: not an edits file"], ["", "line 1: not valid"],
    ['{"format": "kindred-edits", "version": 1,\n\n"edits": {}}', "line 3: 'edits'"], ['{"format": "kindred-edits", "version": 1,\n"more": 1, "edits": []}', "line 2: unknown"]])
    assert.throws(() => readEdits(bad, "mark"), (e) => e.message.includes(words), words);
});

test("edits in words", () => {
  assert.equal(editWords({ do: "merge", cluster: 1, into: 2, task: "a" }, (e, key) => `cluster ${e[key]}`), "cluster 1 of a is merged into cluster 2");
  assert.equal(editWords({ do: "wrong", task: "a", samples: [1] }, (e, key) => `cluster ${e[key]}`), "1 sample of a marked as wrong");
});
