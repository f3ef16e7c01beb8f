/* Links, queues and files of the page. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./load.mjs";

const { linkFields, linkText, rangesOf, rangesText } = load(["link"], ["linkFields", "linkText", "rangesOf", "rangesText"]);
const { answersText, csvText, marginOf, queueOf } = load(["label_next"], ["answersText", "csvText", "marginOf", "queueOf"], { D: {} });
const plain = { colour: "cluster", zoom: 1, level: -1, search: "", select: "" };

test("ranges are read back, and what is out of range is skipped", () => {
  const samples = [[0, [1, 2, 3, 9]], [1, []], [2, [0]]];
  assert.equal(rangesText(samples), "0:1-3,9;2:0");
  assert.deepEqual(rangesOf("0:1-3,9;2:0", [10, 5, 1]), [[0, [1, 2, 3, 9]], [2, [0]]]);
  assert.deepEqual(rangesOf("0:8-99999999999;7:1;x;1:2-,a", [10, 5]), [[0, [8, 9]]]);
  assert.equal(rangesText([[0, Array.from({ length: 9000 }, (_, i) => 2 * i)]]), null);
});

test("a link holds what differs and gives it back", () => {
  const view = { colour: "feature:a&b=<c>", zoom: 2.5, level: -1, search: "50 % #1", select: "0:1-3" }, text = linkText(view, plain);
  assert.match(text, /^#view&/);
  assert.deepEqual(linkFields(text, plain), { colour: view.colour, zoom: 2.5, search: view.search, select: view.select });
  assert.equal(linkText(plain, plain), "");
});

test("a damaged link gives only what is sound", () => {
  assert.deepEqual(linkFields("#view&zoom=x&zoom=&level=2&__proto__=1&constructor=2&colour=%E0%A4%A&search", plain), { level: 2 });
  assert.deepEqual(linkFields("#map", plain), {});
  assert.deepEqual(linkFields("#viewer&zoom=2", plain), {});
});

test("the queue has what was asked for first, then the smallest margins", () => {
  assert.deepEqual(queueOf([3, 1, 3, 99, -1], [0.5, 0.9, 0.1, 0.7, NaN]), [3, 1, 2, 0]);
  assert.deepEqual(queueOf([], [0.5, 0.1, 0.3], 2), [1, 2]);
  assert.ok(Math.abs(marginOf([0.2, 0.7, 0.1]) - 0.5) < 1e-12);
  assert.equal(marginOf([1]), 1);
});

test("answers and tables are CSV", () => {
  assert.equal(answersText([[0, "a,b", "x\"y"], [7, "c", "z"]]), 'row,id,class\n1,"a,b","x""y"\n8,c,z\n');
  assert.equal(csvText([["a\nb", 1]]), '"a\nb",1\n');
  assert.equal(csvText([["=1+1", "+a", "-x", "@b", "\tc", "-1.5", "+2e-3", "-.5", "a=b", "−1"]]), '"\'=1+1","\'+a","\'-x","\'@b","\'\tc",-1.5,+2e-3,-.5,a=b,−1\n');
  assert.equal(answersText([[0, "=cmd|' /C calc'!A0", "-"]]), 'row,id,class\n1,"\'=cmd|\' /C calc\'!A0","\'-"\n');
});

test("words of a result are those of its method and of the program", () => {
  const { relatednessWords } = load(["across"], ["relatednessWords"]);
  assert.match(relatednessWords("auto"), /nearest samples/);
  assert.match(relatednessWords("mtcfir"), /own weight is 1/);
  const listed = (items) => items.join(" and "), { meanConfidences } = load(["answer"], ["meanConfidences"], { listed });
  const sets = [..."abcdefg"].map((name, i) => ({ name, meanConfidence: `0.8${i}` }));
  assert.equal(meanConfidences(sets.slice(0, 1)), "0.80");
  assert.equal(meanConfidences(sets.slice(0, 2)), "0.80 (a) and 0.81 (b)");
  assert.match(meanConfidences(sets), /0.85 \(f\) and others$/);
});
