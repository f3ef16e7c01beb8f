/* Search. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { queryWords, searchAll } = load(["search"], ["queryWords", "searchAll"]);
const texts = [["row a\nwheat harvest", "row b\nship"], ["row c\nharvest of ships"]];
const search = (q, shown) => searchAll(q, [2, 1], (t, i) => texts[t][i], ["wheat", "buckwheat", "ship"], shown);

test("a query is words and phrases", () => {
  assert.deepEqual(queryWords('  Two "Words here" x"y'), ["two", "words here", 'x"y']);
  assert.deepEqual([queryWords(""), queryWords('""'), queryWords('"open end')], [[], [], ["open end"]]);
});

test("all words must be there, in any order", () => {
  assert.deepEqual(search("HARVEST").samples, [[0, [0]], [1, [0]]]);
  assert.deepEqual(search("ship harvest").samples, [[1, [0]]]);
  assert.deepEqual(search('"wheat harvest"').count, 1);
  assert.deepEqual(search("nothing"), { samples: [], count: 0, features: [] });
  assert.deepEqual(search("  ").count, 0);
});

test("features whose name begins with the word come first", () => assert.deepEqual(search("wheat").features, ["wheat", "buckwheat"]));
test("hidden samples are not found", () => assert.equal(search("row", (t) => t === 1).count, 1));
test("queries are text, not patterns", () => assert.equal(search(".*").count + search("[").count + search("\\").count + search("<img src=x>").count, 0));
