/* Values of features: codes, text, histograms. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { decodeCodes, featureTable, fieldText, fieldNumber, histogram } = load(["values"], ["decodeCodes", "featureTable", "fieldText", "fieldNumber", "histogram"]);
const base64 = (...bytes) => Buffer.from(bytes).toString("base64");

test("codes are one byte per point, or pairs of a gap and a byte", () => {
  assert.deepEqual([...decodeCodes({ codes: base64(0, 254, 255) }, 3)], [0, 254, 255]);
  assert.deepEqual([...decodeCodes({ codes: base64(1, 9, 0, 8, 2, 255), fill: 7 }, 8)], [7, 9, 8, 7, 7, 255, 7, 7]);
  const far = decodeCodes({ codes: base64(255, 0, 44, 5), fill: 0 }, 400);
  assert.equal(far.findIndex((v) => v === 5), 300);
});

test("damaged codes give null", () => {
  for (const [coded, n] of [[{ codes: "*" }, 3], [{ codes: base64(1, 2) }, 3], [{ codes: base64(1), fill: 0 }, 3], [{ codes: base64(3, 1), fill: 0 }, 3],
    [{ codes: base64(0, 1), fill: 256 }, 3], [{ codes: base64(0, 1), fill: -1 }, 3]]) assert.equal(decodeCodes(coded, n), null);
});

test("features are joined by name over data sets; values of the file come before those of the fit", () => {
  const own = { unit: "date", low: 100, high: 354, codes: base64(0, 254) };
  const [f, g, ...none] = featureTable([
    { values: [{ name: "a", low: 0, high: 254, codes: base64(2, 255) }, { name: "b", low: -1, high: 1, codes: base64(0, 254), own }, null, { name: 3, low: 0, high: 1, codes: "" }, { name: "c", low: "0", high: 1, codes: "" }], points: 2, rows: [1, 4], samples: 5 },
    { values: [{ name: "a", low: -5, high: 249, codes: base64(254) }], points: 1, rows: null, samples: 1 }]);
  assert.equal(none.length, 0);
  assert.deepEqual([f.name, f.unit, f.low, f.high], ["a", "value", -5, 254]);
  assert.deepEqual([...f.values(0)], [NaN, 2, NaN, NaN, NaN]);
  assert.deepEqual([...f.values(1)], [249]);
  assert.deepEqual([g.unit, g.low, g.values(1), [...g.values(0)]], ["date", 100, null, [NaN, 100, NaN, NaN, 354]]);
  assert.equal(g.coded("fit", 0).low, -1);
});

test("values as text and back", () => {
  const date = { unit: "date", low: 18000, high: 19000 }, number = { unit: "number", low: 0, high: 2 };
  assert.equal(fieldText(date, 18690), "2021-03-04");
  assert.equal(fieldNumber(date, " 2021-03-04 "), 18690);
  assert.ok(Number.isNaN(fieldNumber(date, "4 March")));
  assert.deepEqual([fieldText(number, 1.23456), fieldText(number, 2), fieldText(number, NaN), fieldText(number, -0.5)], ["1.23", "2", "–", "−0.50"]);
  assert.deepEqual([fieldNumber(number, "−0.5"), fieldNumber(number, "1,5"), fieldNumber(number, "")], [-0.5, 1.5, NaN]);
  assert.equal(fieldText({ unit: "date", low: 0, high: 1 }, 1e300), "–");
});

test("the highest value is in the last bin, and what is outside is not counted", () => {
  assert.deepEqual(histogram(0, 4, 4, (put) => [0, 1, 1.5, 4, 4.1, -1, NaN].forEach(put)).counts, [1, 2, 0, 1]);
  assert.deepEqual(histogram(2, 2, 2, (put) => [2].forEach(put)).counts, [1, 0]);
});
