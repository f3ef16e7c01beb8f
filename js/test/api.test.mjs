// The functions of the package. SPDX-License-Identifier: BSD-3-Clause
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import * as kindred from "kindred";

const { cluster, transfer, predict, relate, embed, inspect, read, report, methods, command, KindredError } = kindred;
const bytes = (text) => new TextEncoder().encode(text);

// Two groups of points around (0, 0) and (10, 10), and the group of each point.
function groups(n, shift = 0) {
  const rows = [];
  const truth = [];
  for (let i = 0; i < n; i++) {
    const group = i % 2;
    rows.push([10 * group + shift + Math.sin(i), 10 * group + Math.cos(3 * i)]);
    truth.push(group);
  }
  return { rows, truth };
}

const sameGroups = (labels, truth) =>
  Array.from(labels).every((label, i) => (label === labels[0]) === (truth[i] === truth[0]));

test("cluster takes rows, typed arrays, objects, sparse matrices and files", async () => {
  const { rows, truth } = groups(30);
  const flat = rows.flat();
  const csr = { indptr: rows.map((_, i) => 2 * i).concat(60), indices: rows.flatMap(() => [0, 1]), values: flat, shape: [30, 2] };
  const csv = bytes("x,y\n" + rows.map((row) => row.join(",") + "\n").join(""));
  const forms = [
    { name: "a", data: rows, columns: ["x", "y"] },
    { name: "a", data: Float64Array.from(flat), columns: ["x", "y"] },
    { name: "a", data: Float32Array.from(flat), columns: 2 },
    { name: "a", data: rows.map(([x, y]) => ({ x, y })) },
    { name: "a", data: csr, columns: ["x", "y"] },
    { name: "a.csv", bytes: csv },
    { name: "a.csv", bytes: csv.buffer },
  ];
  for (const form of forms) {
    const result = await cluster([form], { k: 2, method: "kmeans" });
    assert.equal(result.tasks.length, 1);
    assert.ok(result.tasks[0].labels instanceof Int32Array);
    assert.ok(result.tasks[0].confidence instanceof Float64Array);
    assert.equal(result.tasks[0].name, "a");
    assert.ok(sameGroups(result.tasks[0].labels, truth));
    assert.match(new TextDecoder().decode(result.files["a.samples.csv"]), /^id,cluster,(name,)?confidence,second\n/);
  }
});

test("texts and tables explain clusters of embeddings", async () => {
  const { rows, truth } = groups(30);
  const words = [["orbit", "moon", "rocket"], ["bread", "oven", "flour"]];
  const texts = truth.map((group, i) => `${words[group][i % 3]} ${words[group][(i + 1) % 3]}, "again"\nand ${i}`);
  const named = (task) => task.clusters.map((each) => each.features.filter((one) => one.effect > 0).map((one) => one.name));
  for (const explain of [texts, [texts]]) {
    const result = await cluster([{ name: "a", data: rows, columns: ["x", "y"] }], { k: 2, explain, report: true });
    const [task] = result.tasks;
    assert.equal(task.explained_by, "explain1.csv");
    assert.ok(sameGroups(task.labels, truth));
    truth.slice(0, 2).forEach((group, i) => assert.ok(words[group].every((word) => named(task)[task.labels[i]].includes(word))));
    assert.ok(result.html.includes(`${words[0][0]} ${words[0][1]}, `));
  }
  const set = { name: "a", data: rows, columns: ["x", "y"] };
  const both = await cluster([set, { ...set, name: "b" }], { k: 2, explain: [texts, { name: "v", data: truth.map((group) => ({ text: words[group].join(" ") })) }] });
  assert.deepEqual(both.tasks.map((task) => task.explained_by), ["explain1.csv", "v.csv"]);
  await assert.rejects(cluster([set], { k: 2, explain: texts.slice(1) }), /30 rows.* 29/);
});

test("several data sets, a score, arrays, a model, predictions and the report", async () => {
  const a = groups(40);
  const b = groups(30, 1);
  const seen = [];
  const result = await cluster(
    [{ name: "a", data: a.rows, columns: ["x", "y"] }, { name: "b", data: b.rows, columns: ["x", "y"] }],
    { k: 2, truth: [a.truth, b.truth], arrays: true, model: true, report: true, onProgress: (each) => seen.push(each) });
  assert.equal(result.method, "auto");
  assert.ok(sameGroups(result.tasks[1].labels, b.truth));
  assert.equal(result.tasks[0].metrics.acc, 1);
  assert.deepEqual(result.arrays["centroids.a"].shape, [2, 2]);
  assert.ok(seen.length > 0 && seen.every((each) => typeof each.stage === "string"));
  assert.match(result.summary, /Clustered 2 data sets/);
  assert.equal(result.tasks[0].path, "a.npy");
  assert.equal(result.command_line, "kindred cluster --output=out --arrays=out/arrays --save-model=model.h5 --report --clusters=2 --truth=truth0.txt,truth1.txt -- a=a.npy b=b.npy");
  assert.equal(await report(result), result.html);
  assert.match(result.html, /^<!DOCTYPE html>/i);
  const predicted = await predict(result, { name: "new", data: [[0.5, 0.5], [10, 10]], columns: ["x", "y"] }, { task: "a" });
  assert.deepEqual(Array.from(predicted.tasks[0].labels), [result.tasks[0].labels[0], result.tasks[0].labels[1]]);
  const plain = await cluster([{ name: "a", data: a.rows }], { k: 2, method: "kmeans" });
  assert.match(await report(plain), /^<!DOCTYPE html>/i);
});

test("transfer gives class names", async () => {
  const a = groups(40);
  const b = groups(30, 1);
  const labels = a.truth.map((group) => ["near, \"here\"", "far"][group]);
  const result = await transfer({ source: { name: "s", data: a.rows, labels }, target: { name: "t", data: b.rows } }, { model: true, method: "logreg" });
  const target = result.tasks.at(-1);
  assert.deepEqual(target.classes, ["far", "near, \"here\""]);
  assert.deepEqual(Array.from(target.labels), b.truth.map((group) => 1 - group));
  const predicted = await predict(result, { name: "new", data: [[0, 0], [10, 10]] });
  assert.deepEqual(Array.from(predicted.tasks[0].labels, (i) => predicted.tasks[0].classes[i]), ["near, \"here\"", "far"]);
});

test("relate and embed", async () => {
  const a = { name: "a", data: groups(40).rows };
  const b = { name: "b", data: groups(30, 1).rows };
  const related = await relate([a, b]);
  assert.equal(related.pairs.length, 1);
  assert.match(await report(related), /^<!DOCTYPE html>/i);
  const maps = await embed([a, b]);
  assert.deepEqual(maps.map((each) => [each.name, each.rows, each.xy.length]), [["a", 40, 80], ["b", 30, 60]]);
});

test("read and inspect describe a table", async () => {
  const text = "name,size,colour,when,species\n" + Array.from({ length: 30 }, (_, i) => `n${i},${i === 3 ? "" : i / 2},${["red", "green"][i % 2]},2024-01-${10 + (i % 20)},${["x", "y"][i % 2]}\n`).join("");
  const data = await read(bytes(text), "table.csv", { labelColumn: "species", missing: "mean" });
  assert.equal(data.rows, 30);
  assert.deepEqual(data.labels.slice(0, 3), ["x", "y", "x"]);
  assert.ok(data.data instanceof Float64Array && data.data.length === 30 * data.cols);
  assert.ok(data.columns.includes("size"));
  assert.equal(data.description.columns.find((each) => each.name === "size").missing, 1);
  assert.equal(data.description.columns.find((each) => each.name === "colour").kind, "category");
  const result = await cluster(data, { k: 2, labelColumn: "species" });
  assert.equal(result.tasks[0].labels.length, 30);
  const sparse = await read(bytes("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 5\n2 3 6\n3 4 7\n"), "m.mtx");
  assert.deepEqual(Array.from(sparse.data.indices), [0, 2, 3]);
  assert.deepEqual(Array.from(sparse.data.values), [5, 6, 7]);
  const found = await inspect([{ name: "bad.csv", bytes: bytes("x,y\n1,2\n3,abc\n4,5\n6,7\n8,9\n1,1\n2,2\n3,3\n") }]);
  assert.ok(found.tasks[0].problems.some((each) => each.fatal && /'abc' is not a number/.test(each.found)));
  assert.match(found.error, /bad\.csv cannot be read/);
  await assert.rejects(read(bytes("x,y\n1,2\n3,abc\n4,5\n6,7\n8,9\n1,1\n2,2\n3,3\n"), "bad.csv"), /'abc' is not a number/);
});

test("compressed files and folders of texts", async () => {
  const zlib = await import("node:zlib");
  const { rows, truth } = groups(20);
  const gz = zlib.gzipSync("x,y\n" + rows.map((row) => row.join(",") + "\n").join(""));
  const result = await cluster([{ name: "a.csv.gz", bytes: new Uint8Array(gz) }], { k: 2, method: "kmeans" });
  assert.ok(sameGroups(result.tasks[0].labels, truth));
  const words = [["apple pear fruit tree", "pear fruit apple garden"], ["engine wheel motor car", "car motor engine road"]];
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}.txt`, bytes(words[i % 2][(i >> 1) % 2])]));
  const texts = await cluster([{ name: "texts", files }], { k: 2, method: "kmeans" });
  assert.equal(texts.tasks[0].labels.length, 20);
});

test("errors have the program's messages", async () => {
  const small = { name: "a", data: [[1, 2], [3, 4]] };
  await assert.rejects(cluster([small], { k: 3 }), (error) => error instanceof KindredError && error.code === 2 && /cannot form 3 clusters from 2 samples/.test(error.message));
  await assert.rejects(cluster([small], { k: 2, nonsense: 1 }), /no option '--nonsense/);
  await assert.rejects(cluster([small], { k: 2, method: "kmens" }), /kmeans/);
  await assert.rejects(cluster([{ name: "a.csv", bytes: bytes("x,y\n1,2\n3\n") }], { k: 2 }), (error) => error.code === 3 && /^a\.csv: line 3/.test(error.message));
  await assert.rejects(cluster([{ name: "a.xyz", bytes: bytes("?") }], { k: 2 }), (error) => error.code === 3 || error.code === 2);
  await assert.rejects(cluster([], { k: 2 }), TypeError);
  await assert.rejects(cluster([{ name: "a", data: "text" }], { k: 2 }), TypeError);
  await assert.rejects(cluster([{ name: "a", data: new Float64Array(5), columns: 2 }], { k: 2 }), /5 values/);
  await assert.rejects(cluster([{ name: "a", data: [[1, 2], [3]] }], { k: 2 }), /row 2/);
  await assert.rejects(cluster([{ name: "../a", data: [[1, 2], [3, 4]] }], { k: 2 }), /name/);
  await assert.rejects(predict(new Uint8Array(10), small), KindredError);
  await assert.rejects(cluster([small], { k: 1, maxMemory: "1K" }), /memory/);
});

test("labels do not depend on the number of threads", async () => {
  const sets = ["a", "b"].map((name, i) => ({ name, data: groups(200, i).rows }));
  const files = { "a.csv": bytes("x,y\n" + groups(200).rows.map((row) => row.join(",") + "\n").join("")) };
  const [one, four] = await Promise.all([1, 4].map((threads) => cluster(sets, { k: 3, threads })));
  assert.equal(one.threads, 1);
  assert.equal(four.threads, 4);
  assert.deepEqual(four.tasks.map((task) => task.labels), one.tasks.map((task) => task.labels));
  assert.deepEqual(four.tasks.map((task) => task.confidence), one.tasks.map((task) => task.confidence));
  kindred.configure({ threadsWasm: fs.readFileSync(createRequire(import.meta.url).resolve("kindred/kindred.wasm")) }); // cannot share memory
  assert.deepEqual((await cluster(sets, { k: 3, threads: 2 })).tasks.map((task) => task.labels), one.tasks.map((task) => task.labels));
  kindred.configure({ threadsWasm: null });
  const words = ["cluster", "-k", 2, "-m", "kmeans", "-o", "/out", "a.csv"];
  const [first, second] = await Promise.all([1, 3].map((threads) => command(words, files, { threads })));
  assert.deepEqual(second.files["a.labels"], first.files["a.labels"]);
  const controller = new AbortController();
  const job = cluster(sets, { k: 5, threads: 2, set: { seeds: 200 }, signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(job, { name: "AbortError" });
});

test("known classes, a range of numbers of clusters, and more data for a model", async () => {
  const a = groups(40);
  const named = { name: "a", data: a.rows, columns: ["x", "y"], ids: a.rows.map((_, i) => `s${i}`) };
  const known = a.truth.map((group, i) => (i < 4 ? ["low", "high"][group] : "?"));
  const classes = await cluster([named], { k: 2, known: [known], model: true });
  assert.ok(sameGroups(classes.tasks[0].labels, a.truth));
  assert.match(classes.command_line, /--known=known0\.txt/);
  const more = await cluster([{ name: "b", data: groups(30, 1).rows, columns: ["x", "y"] }], { into: classes });
  assert.deepEqual(Array.from(more.tasks.at(-1).labels.slice(0, 2)), Array.from(classes.tasks[0].labels.slice(0, 2)));
  await assert.rejects(cluster([named], { into: {} }), /model must be the bytes/);
  const range = await cluster([named], { k: "2-4", method: "kmeans" });
  assert.deepEqual(range.levels.map((level) => level.k), [2, 3, 4]);
  const cut = await command(["cut", "-k", 3, "-o", "/out", "result.json"], { "result.json": range.files["result.json"] });
  assert.equal(new Set(new TextDecoder().decode(cut.files["a.labels"]).trim().split("\n")).size, 3);
  const source = { name: "old", data: a.rows, columns: ["x", "y"], labels: a.truth.map((group) => ["low", "high"][group]) };
  const learned = await transfer({ source, target: { name: "new", data: groups(20).rows, columns: ["x", "y"] } }, { model: true });
  const added = await transfer({ target: { name: "third", data: groups(20, 1).rows, columns: ["x", "y"] } }, { into: learned });
  assert.deepEqual(Array.from(added.tasks.at(-1).labels, (i) => added.tasks.at(-1).classes[i]).slice(0, 2), ["low", "high"]);
});

test("a job can be cancelled before and while it runs", async () => {
  const big = { name: "a", data: groups(3000).rows };
  await assert.rejects(cluster([big], { k: 2, signal: AbortSignal.abort() }), { name: "AbortError" });
  const controller = new AbortController();
  const job = cluster([big, { ...big, name: "b" }], { k: 5, set: { seeds: 200 }, signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(job, { name: "AbortError" });
});

test("CommonJS, the list of methods, and any command", async () => {
  const common = createRequire(import.meta.url)("kindred");
  assert.deepEqual(Object.keys(common).sort(), Object.keys(kindred.default).sort());
  const result = await common.cluster([{ name: "a", data: groups(10).rows }], { k: 2, method: "kmeans", worker: false });
  assert.equal(result.tasks[0].labels.length, 10);
  assert.ok((await methods()).some((each) => each.id === "kmeans"));
  const converted = await command(["convert", "a.csv", "/out/a.mtx"], { "a.csv": bytes("x,y\n1,2\n3,4\n") });
  assert.match(new TextDecoder().decode(converted.files["a.mtx"]), /^%%MatrixMarket/);
});
