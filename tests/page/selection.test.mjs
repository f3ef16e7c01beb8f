/* The store of the page: selection, groups, filters. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { createStore } = load(["selection"], ["createStore"]);
const rows = (s, t) => [...s.rows(t)];

test("replace, add, subtract, invert and clear change the selection", () => {
  const s = createStore([4, 3]);
  s.replace([[0, [0, 1]], [1, [2]]], "cluster 0");
  assert.deepEqual([rows(s, 0), rows(s, 1), s.count, s.words], [[0, 1], [2], 3, "cluster 0"]);
  s.add([[0, [1, 3]]], "cluster 1");
  assert.deepEqual([rows(s, 0), s.words], [[0, 1, 3], "cluster 0 + cluster 1"]);
  s.subtract([[0, [0]]], "cluster 2");
  assert.deepEqual([rows(s, 0), s.words], [[1, 3], "cluster 0 + cluster 1 − cluster 2"]);
  s.invert();
  assert.deepEqual([rows(s, 0), rows(s, 1), s.countOf(1)], [[0, 2], [0, 1], 2]);
  s.clear();
  assert.deepEqual([s.count, s.words], [0, ""]);
  s.combine("add", [[1, [0]]], "class a");
  assert.equal(s.words, "class a");
});

test("samples that do not exist are skipped", () => {
  const s = createStore([2]);
  s.replace([[0, [-1, 0, 2, 1.5, NaN, "1"]], [1, [0]], [-1, [0]]]);
  assert.deepEqual([rows(s, 0), s.count, s.has(0, 0), s.has(3, 0), s.has(0, "0")], [[0], 1, true, false, false]);
});

test("groups are copies that later changes do not reach", () => {
  const s = createStore([3]);
  s.replace([[0, [0, 1]]], "first");
  s.keep("a");
  s.replace([[0, [2]]]);
  s.keep("b", "second");
  assert.deepEqual([[...s.group("a").rows(0)], s.group("a").words, s.group("b").words, s.group("b").count], [[0, 1], "first", "second", 1]);
  s.drop("a");
  assert.equal(s.group("a"), null);
  assert.deepEqual(s.groupNames(), ["b"]);
});

test("filters hide samples from counts, lists and new selections, and give them back", () => {
  const s = createStore([4]);
  s.replace([[0, [0, 1]]]);
  s.keep("a");
  s.filter("rank", (t, i) => i > 0, "rank above 0");
  assert.deepEqual([rows(s, 0), s.count, s.group("a").count, s.shownCount, s.filters()], [[1], 1, 1, 3, [{ key: "rank", words: "rank above 0" }]]);
  s.add([[0, [0, 2]]]);
  s.filter("low", (t, i) => i < 2);
  assert.equal(s.shownCount, 1);
  assert.deepEqual([0, 1, 2, 3].filter((i) => s.passesOthers("low", 0, i)), [1, 2, 3]);
  s.filter("low", null);
  s.filter("rank", null);
  assert.deepEqual([rows(s, 0), s.shownCount, s.shownMask(0)], [[0, 1, 2], 4, null]);
});

test("invert leaves hidden samples as they are", () => {
  const s = createStore([3]);
  s.replace([[0, [0]]]);
  s.filter("f", (t, i) => i > 0);
  s.invert();
  s.filter("f", null);
  assert.deepEqual(rows(s, 0), [0, 1, 2]);
});

test("subscribers are called once with the part that changed, until they unsubscribe", () => {
  const s = createStore([2]), calls = [], end = s.subscribe((part) => calls.push(part));
  s.replace([[0, [0]]]);
  s.keep("a");
  s.filter("f", () => true);
  s.filter("unknown", null);
  s.together(() => { s.clear(); s.filter("f", null); });
  end();
  s.clear();
  assert.deepEqual(calls, [s.SELECTION, s.GROUPS, s.FILTERS, s.SELECTION + s.FILTERS]);
});
