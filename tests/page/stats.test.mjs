/* What sets samples apart, overlap, polygons. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { effects, featureTable, insidePolygon, overlapOf } = load(["values", "stats"], ["effects", "featureTable", "insidePolygon", "overlapOf"]);
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const set = (columns, own) => ({ values: Object.entries(columns).map(([name, codes]) => ({ name, low: 0, high: 254, codes: base64(codes), ...(own ? { own: { unit: "number", low: 10, high: 264, codes: base64(codes) } } : {}) })),
  points: Object.values(columns)[0].length, rows: null, samples: Object.values(columns)[0].length });
const mask = (...v) => Uint8Array.from(v);
const effect = (x, inside, outside) => {
  const mean = (v) => v.reduce((a, b) => a + b, 0) / v.length, m = mean(x), s = Math.sqrt(mean(x.map((v) => (v - m) ** 2)));
  return (mean(inside) - mean(outside)) / s;
};

test("the effect is the difference of means in standard deviations, the largest first", () => {
  const x = [10, 20, 30, 200], y = [9, 9, 9, 8], features = featureTable([set({ x, y, same: [1, 1, 1, 1] }, true)]);
  const found = effects(features, [mask(0, 0, 1, 1)], [mask(1, 1, 0, 0)]);
  assert.deepEqual(found.map((f) => f.name), ["x", "y"]);
  assert.ok(Math.abs(found[0].effect - effect(x, [30, 200], [10, 20])) < 1e-9);
  assert.ok(Math.abs(found[1].effect - effect(y, [9, 8], [9, 9])) < 1e-9);
  assert.deepEqual([found[0].mean_inside, found[0].mean_outside], [125, 25]); /* of the file: 10 more */
});

test("missing values are skipped and zeros counted", () => {
  const features = featureTable([set({ x: [0, 255, 4, 4] })]), [found] = effects(features, [mask(1, 1, 0, 0)], [mask(0, 0, 1, 1)]);
  assert.ok(Math.abs(found.effect - effect([0, 4, 4], [0], [4, 4])) < 1e-9);
  assert.deepEqual([found.share_inside, found.share_outside], [0, 1]);
});

test("data sets are compared within themselves if they can be", () => {
  const features = featureTable([set({ x: [0, 10, 0, 10] }), set({ x: [100, 110, 100, 110] })]);
  const [within] = effects(features, [mask(0, 1, 0, 0), mask(0, 1, 0, 0)], [mask(1, 0, 1, 1), mask(1, 0, 1, 1)]);
  assert.ok(Math.abs(within.effect - effect([0, 10, 0, 10], [10], [0, 0, 10])) < 1e-9);
  const [between] = effects(features, [mask(1, 1, 1, 1), mask(0, 0, 0, 0)], [mask(0, 0, 0, 0), mask(1, 1, 1, 1)]);
  assert.ok(Math.abs(between.effect - effect([0, 10, 0, 10, 100, 110, 100, 110], [0, 10, 0, 10], [100, 110, 100, 110])) < 1e-9);
});

test("no group, no effect", () => {
  const features = featureTable([set({ x: [1, 2] })]);
  assert.deepEqual(effects(features, [mask(0, 0)], [mask(1, 1)]), []);
});

test("overlap", () => {
  assert.deepEqual(overlapOf([mask(1, 1, 0), mask(1)], [mask(0, 1, 1), mask(1)]), { a: 3, b: 3, both: 2, either: 4, jaccard: 0.5 });
  assert.equal(overlapOf([mask(0)], [mask(0)]).jaccard, 0);
});

test("a polygon may be concave and have few corners", () => {
  const u = [[0, 0], [6, 0], [6, 6], [4, 6], [4, 2], [2, 2], [2, 6], [0, 6]];
  assert.deepEqual([[1, 5], [3, 5], [5, 5], [3, 1], [7, 1]].map(([x, y]) => insidePolygon(u, x, y)), [true, false, true, true, false]);
  assert.equal(insidePolygon([[0, 0]], 0, 0), false);
});
