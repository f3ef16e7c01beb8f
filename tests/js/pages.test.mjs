// The page in a real browser, driven by puppeteer-core. SPDX-License-Identifier: BSD-3-Clause
//
// Environment: KINDRED_WEB, the folder that `make web` makes; KINDRED_PACKAGE, the npm package; KINDRED_TOOLS, a folder with
// node_modules/puppeteer-core; KINDRED_BROWSER, chromium or firefox; KINDRED_SHOTS, a folder for screenshots (optional).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

const web = path.resolve(process.env.KINDRED_WEB);
const firefox = process.env.KINDRED_BROWSER === "firefox";
const puppeteer = createRequire(path.resolve(process.env.KINDRED_TOOLS) + "/")("puppeteer-core");
const kindred = await import(pathToFileURL(path.resolve(process.env.KINDRED_PACKAGE, "kindred.mjs")));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "kindred-pages-"));
const downloads = path.join(folder, "downloads");
fs.mkdirSync(downloads);
const minutes = 60000;

let requests = [];
const types = { html: "text/html", js: "text/javascript", css: "text/css" };
const server = http.createServer((request, response) => {
  requests.push(request.url);
  const file = path.join(web, request.url === "/" ? "index.html" : request.url);
  const known = fs.existsSync(file);
  response.writeHead(known ? 200 : 404, { "content-type": types[file.split(".").at(-1)] || "application/octet-stream" });
  response.end(known ? fs.readFileSync(file) : "");
});

let browser;
let page;
let base;
const problems = [];

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${server.address().port}/`;
  browser = await puppeteer.launch(firefox
    ? { browser: "firefox", executablePath: process.env.KINDRED_FIREFOX || "/usr/bin/firefox-esr", protocolTimeout: 10 * minutes, extraPrefsFirefox: {
      "browser.download.folderList": 2, "browser.download.dir": downloads, "browser.download.useDownloadDir": true, "browser.download.always_ask_before_handling_new_types": false } }
    : { executablePath: process.env.KINDRED_CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"], protocolTimeout: 10 * minutes });
});

after(async () => {
  await browser.close();
  server.close();
  server.closeAllConnections();
  fs.rmSync(folder, { recursive: true, force: true });
});

async function open(address = base, size = { width: 1200, height: 900 }) {
  if (page) await page.close();
  page = await browser.newPage();
  problems.length = 0;
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  await page.setViewport(size);
  if (!firefox) {
    const session = await browser.target().createCDPSession();
    await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
  }
  await page.goto(address);
  await page.waitForSelector("body.ready", { timeout: 3 * minutes });
}

beforeEach(async () => { if (page) assert.deepEqual(problems, []); });

const save = (name, content) => {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  return file;
};
const shot = async (name) => {
  if (process.env.KINDRED_SHOTS) await page.screenshot({ path: path.join(process.env.KINDRED_SHOTS, `${firefox ? "firefox" : "chromium"}-${name}.png`), fullPage: true });
};

// Gives files to the page and waits until all data sets are described.
async function give(...files) {
  const input = await page.$("#file-input");
  await input.uploadFile(...files);
  await described();
}
const described = () => page.waitForFunction(
  () => document.querySelectorAll(".set").length > 0 && [...document.querySelectorAll(".set")].every((set) => set.querySelector(".shape, .fatal")), { timeout: 5 * minutes });
async function set(id, value) {
  await page.$eval("#" + id, (element, text) => { element.value = text; element.dispatchEvent(new Event("change")); }, value);
}
const text = (selector) => page.$eval(selector, (element) => element.textContent);

// Runs the job; gives the message of an error, or null.
async function run() {
  await page.click("#run");
  await page.waitForFunction(() => document.getElementById("cancel").hidden, { timeout: 9 * minutes });
  return await page.$eval("#job-message", (element) => (element.hidden ? null : element.textContent));
}

async function downloaded(name) {
  const file = path.join(downloads, name);
  fs.rmSync(file, { force: true });
  await page.evaluate((wanted) => [...document.querySelectorAll("#downloads a")].find((link) => link.download === wanted).click(), name);
  for (let wait = 0; wait < 600; wait++) {
    if (fs.existsSync(file) && fs.statSync(file).size > 0 && !fs.existsSync(file + ".part") && !fs.existsSync(file + ".crdownload")) return fs.readFileSync(file);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${name} was not downloaded`);
}
const lines = (bytes) => bytes.toString().trimEnd().split("\n");

// The labels that the package gives for the same files.
async function expected(files, options) {
  const result = await kindred.cluster(files.map((file) => ({ name: path.basename(file), bytes: new Uint8Array(fs.readFileSync(file)) })), { ...options, seed: 1 });
  return result.tasks.map((task) => Array.from(task.labels, String));
}

// The report is drawn: the page in the frame has sections that its script made.
async function reportDrawn() {
  for (let wait = 0; wait < 300; wait++) {
    for (const frame of page.frames().slice(1)) {
      const count = await frame.evaluate(() => document.querySelectorAll("section").length).catch(() => 0);
      if (count > 2) return count;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the report was not drawn");
}

function table(n, shift, extra = () => "") {
  const rows = ["x,y,colour" + (extra(-1) ? "," + extra(-1) : "")];
  for (let i = 0; i < n; i++) {
    const group = i % 3;
    rows.push([(6 * group + shift + Math.sin(7 * i)).toFixed(4), (group === 1 ? 8 : 0) + Number(Math.cos(5 * i).toFixed(4)), ["red", "green", "blue"][(i * i) % 3], ...(extra(i) ? [extra(i)] : [])].join(","));
  }
  return rows.join("\n") + "\n";
}

const a = save("a.csv", table(90, 0));
const b = save("b.csv", table(60, 1));

test("1: two tables, clusters, all downloads, the report", async () => {
  await open();
  await give(a, b);
  await set("k", "3");
  assert.equal(await run(), null);
  const want = await expected([a, b], { k: 3 });
  assert.deepEqual(lines(await downloaded("a.labels")), want[0]);
  assert.deepEqual(lines(await downloaded("b.labels")), want[1]);
  assert.equal(lines(await downloaded("a.samples.csv")).length, 91);
  assert.equal(JSON.parse(await downloaded("result.json")).tasks.length, 2);
  assert.match((await downloaded("report.html")).toString(), /^<!DOCTYPE html>/i);
  const model = await downloaded("model.h5");
  const predicted = await kindred.predict(new Uint8Array(model), { name: "a.csv", bytes: new Uint8Array(fs.readFileSync(a)) }, { task: "a" });
  assert.equal(predicted.tasks[0].labels.length, 90);
  assert.equal((await downloaded("kindred.zip")).subarray(0, 2).toString(), "PK");
  assert.ok(await reportDrawn() > 2);
  await shot("clusters");
});

test("2: an Excel workbook", async (context) => {
  const file = path.join(folder, "book.xlsx");
  const script = "import openpyxl, sys\nb = openpyxl.Workbook()\nfor line in open(sys.argv[1]): b.active.append([float(c) if c[-1].isdigit() else c for c in line.strip().split(',')])\nb.save(sys.argv[2])";
  if (spawnSync("/usr/bin/python3", ["-c", script, a, file]).status !== 0) return context.skip("openpyxl is not installed");
  await open();
  await give(file);
  assert.match(await text(".shape"), /^90 samples/);
  assert.equal(await run(), null);
  assert.deepEqual(lines(await downloaded("book.labels")), (await expected([file], { k: 3 }))[0]);
});

test("3: Matrix Market, NumPy and AnnData", async () => {
  for (const kind of ["mtx", "npy", "h5ad"]) {
    const args = kind === "h5ad" ? ["cluster", "-k", 2, "-m", "kmeans", "--write-h5ad", "/out/m.h5ad", "-o", "/out/result", "a.csv"] : ["convert", "a.csv", `/out/m.${kind}`];
    const made = await kindred.command(args, { "a.csv": fs.readFileSync(a) });
    const file = save(`m.${kind}`, made.files[`m.${kind}`]);
    await open();
    await give(file);
    await set("method", "kmeans");
    assert.equal(await run(), null, kind);
    assert.deepEqual(lines(await downloaded("m.labels")), (await expected([file], { k: 3, method: "kmeans" }))[0]);
  }
  const sparse = { name: "sparse", data: { indptr: [0, 1, 2, 3, 4], indices: [0, 1, 0, 1], values: [1, 2, 1, 2], shape: [4, 2] } };
  const labels = await page.evaluate((set) => kindred.cluster([set], { k: 2, method: "kmeans" }).then((result) => Array.from(result.tasks[0].labels)), sparse);
  assert.deepEqual(labels, [0, 1, 0, 1]);
});

test("4: a folder of texts", async () => {
  const words = [["apple pear fruit tree orchard", "pear fruit apple garden juice"], ["engine wheel motor car road", "car motor engine brake wheel"]];
  for (let i = 0; i < 24; i++) save(`letters/${i}.txt`, `${words[i % 2][(i >> 1) % 2]} ${words[i % 2][0]}`);
  await open();
  if (firefox) { // puppeteer cannot choose a folder there
    const files = fs.readdirSync(path.join(folder, "letters")).map((name) => [name, fs.readFileSync(path.join(folder, "letters", name), "utf8")]);
    await page.evaluate((list) => addFiles(list.map(([name, content]) => ({ path: `letters/${name}`, file: new File([content], name) }))), files);
  } else {
    await (await page.$("#folder-input")).uploadFile(path.join(folder, "letters"));
  }
  await described();
  await set("k", "2");
  assert.equal(await run(), null);
  assert.equal(lines(await downloaded("letters.labels")).length, 24);
});

test("5: labels are transferred from a column of classes", async () => {
  const source = save("old.csv", table(90, 0, (i) => (i < 0 ? "species" : ["rose", "lily", "iris"][i % 3])));
  await open();
  await give(source, b);
  await page.click("input[value=transfer]");
  assert.match(await run(), /labelled source/);
  await page.select(".set[data-name='old.csv'] .set-head select", "source");
  assert.match(await run(), /column with the known classes/);
  await set("label-column", "species");
  assert.equal(await run(), null);
  assert.deepEqual(lines(await downloaded("target.labels")), Array.from({ length: 60 }, (_, i) => ["rose", "lily", "iris"][i % 3]));
  await reportDrawn();
  await shot("transfer");
});

test("6: one file is split into data sets by a column", async () => {
  const file = save("all.csv", table(120, 0, (i) => (i < 0 ? "shop" : ["north", "south"][(i >> 2) % 2])));
  await open();
  await give(file);
  await set("task-column", "shop");
  assert.equal(await run(), null);
  assert.equal(lines(await downloaded("north.labels")).length, 60);
});

test("7: the kind of a column is corrected", async () => {
  const file = save("codes.csv", table(60, 0, (i) => (i < 0 ? '"code, old"' : String(1 + (i % 4)))));
  await open();
  await give(file);
  const before = await text(".shape");
  await page.select("select[aria-label='Kind of code, old']", "category");
  await page.waitForFunction((old) => document.querySelector(".shape").textContent !== old, { timeout: minutes }, before);
  assert.match(await text(".shape"), /^60 samples, 8 features/);
  await page.select("select[aria-label='Kind of colour']", "skip");
  await page.waitForFunction(() => /6 features/.test(document.querySelector(".shape").textContent), { timeout: minutes });
  assert.equal(await run(), null);
  assert.equal(JSON.parse(await downloaded("result.json")).tasks[0].d, 6);
  assert.ok(!(await downloaded("features.csv")).toString().includes("colour"));
});

test("8: built-in examples, and a range of numbers of clusters", async () => {
  await open();
  for (const [example, k] of [["customers", "3-4"], ["points", "auto"], ["labels", ""]]) {
    await page.click(`[data-example=${example}]`);
    await described();
    await page.waitForFunction(() => document.querySelector("input[value=cluster]").checked || document.getElementById("label-column").value === "class", { timeout: minutes });
    if (k) await set("k", k);
    assert.equal(await run(), null, example);
    await reportDrawn();
  }
});

test("9: files are dropped; data sets are removed and left out", async () => {
  await open();
  await page.evaluate((first, second) => {
    const data = new DataTransfer();
    data.items.add(new File([first], "first.csv"));
    data.items.add(new File([second], "second.csv"));
    document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, fs.readFileSync(a, "utf8"), fs.readFileSync(b, "utf8"));
  await page.waitForFunction(() => document.querySelectorAll(".shape").length === 2, { timeout: minutes });
  await page.click("[aria-label='Remove second.csv']");
  assert.equal((await page.$$(".set")).length, 1);
  await page.click(".set input[type=checkbox]");
  assert.equal(await page.$eval("#run", (button) => button.disabled), true);
  await page.click(".set input[type=checkbox]");
  await set("method", "kmeans");
  assert.equal(await run(), null);
});

test("10: one HTML file, opened from the disk", async () => {
  await open(pathToFileURL(path.join(web, "kindred.html")).href);
  await give(a);
  assert.equal(await run(), null);
  assert.deepEqual(lines(await downloaded("a.labels")), (await expected([a], { k: 3 }))[0]);
  await reportDrawn();
});

test("wrong files give the program's messages", async () => {
  const cases = [
    ["short.csv", "x,y\n1,2\n3\n", /short\.csv: line 3/],
    ["words.csv", "x,y\n1,2\n3,abc\n4,5\n6,7\n", /'abc' is not a number/],
    ["empty.csv", "", /empty/],
    ["bad.npy", "not numpy", /bad\.npy/],
    ["bad.xlsx", "not a workbook", /bad\.xlsx/],
    ["bad.h5ad", "not hdf5", /bad\.h5ad/],
    ["picture.png", "\x89PNG", /picture\.png/],
  ];
  await open();
  await give(...cases.map(([name, content]) => save(name, content)));
  await page.waitForFunction((count) => document.querySelectorAll(".fatal").length === count, { timeout: 2 * minutes }, cases.length);
  for (const [name, , pattern] of cases) assert.match(await text(`.set[data-name='${name}'] .fatal`), pattern);
  await shot("wrong-files");
  await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "Treat 'abc' as missing").click());
  await page.waitForSelector(".set[data-name='words.csv'] .shape", { timeout: minutes });
  assert.match(await text(".set[data-name='words.csv'] .shape"), /^4 samples, 2 features, 1 missing value$/);
  await page.click("#clear");
  await give(a);
  await set("k", "1000");
  assert.match(await run(), /cannot form 1000 clusters from 90 samples/);
  await set("k", "many");
  assert.match(await run(), /many/);
  await shot("wrong-k");
});

test("a job that needs more memory than allowed ends with a message", async () => {
  await open();
  await give(save("wide.csv", table(40, 0)));
  const message = await page.evaluate(() => kindred.cluster([sets[0].input], { k: 2, maxMemory: "10K" }).catch((error) => error.message));
  assert.match(message, /needs another .* of memory/);
});

test("a job is cancelled, and the page can be used again", async () => {
  const rows = Array.from({ length: 4000 }, (_, i) => `${Math.sin(i)},${Math.cos(3 * i)},${Math.sin(i * i)}\n`);
  await open();
  await give(save("long.csv", "x,y,z\n" + rows.join("")));
  await set("k", "3-30");
  await page.click("#run");
  await page.waitForFunction(() => /\d s/.test(document.getElementById("stage").textContent), { timeout: 2 * minutes });
  await page.click("#cancel");
  await page.waitForFunction(() => document.getElementById("job-message").textContent === "Cancelled.", { timeout: minutes });
  await set("k", "2");
  await set("method", "kmeans");
  assert.equal(await run(), null);
});

test("200,000 rows are read and clustered while the page stays responsive", async () => {
  const rows = Array.from({ length: 200000 }, (_, i) => `${(Math.sin(i) + 5 * (i % 4)).toFixed(5)},${(Math.cos(3 * i) - 7 * (i % 4)).toFixed(5)},${(i % 10) / 10}\n`);
  await open();
  await page.evaluate(() => { // the longest time between two timers
    window.longest = 0;
    let last = performance.now();
    setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now; }, 20);
  });
  await give(save("many.csv", "x,y,z\n" + rows.join("")));
  const frozen = await page.evaluate(() => window.longest);
  assert.match(await text(".shape"), /^200,000 samples, 3 features/);
  await set("k", "4");
  await set("method", "kmeans");
  assert.equal(await run(), null);
  assert.equal(lines(await downloaded("many.labels")).length, 200000);
  await reportDrawn();
  console.log(`${firefox ? "firefox" : "chromium"}: longest pause while reading 200,000 rows: ${Math.round(frozen)} ms`);
});

test("100 MB of CSV are read in a worker while the page draws frames", async () => {
  const file = path.join(folder, "large.csv");
  const rows = Array.from({ length: 5000 }, (_, i) => Array.from({ length: 20 }, (_, j) => Math.sin(i * 20 + j).toFixed(6)).join(",") + "\n").join("");
  const out = fs.openSync(file, "w");
  let count = 0;
  fs.writeSync(out, Array.from({ length: 20 }, (_, j) => `x${j}`).join(",") + "\n");
  for (let size = 0; size < 100e6; size += rows.length, count += 5000) fs.writeSync(out, rows);
  fs.closeSync(out);
  await open();
  await page.evaluate(() => {
    window.frames_ = [];
    const draw = (now) => { window.frames_.push(now); requestAnimationFrame(draw); };
    requestAnimationFrame(draw);
  });
  await give(file);
  const frames = await page.evaluate(() => window.frames_);
  assert.match(await text(".shape"), new RegExp(`^${count.toLocaleString("en")} samples, 20 features`));
  assert.ok(frames.length > 10, `${frames.length} frames`); // a page that reads the file itself draws none
  const longest = Math.max(...frames.slice(1).map((now, i) => now - frames[i]));
  console.log(`${firefox ? "firefox" : "chromium"}: ${frames.length} frames while 100 MB were read; longest ${Math.round(longest)} ms`);
  fs.rmSync(file);
});

test("a phone's screen", async () => {
  await open(base, { width: 360, height: 740 });
  await give(a, b);
  assert.equal(await run(), null);
  await reportDrawn();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than the screen`);
  await shot("phone");
});

test("nothing is requested after the page has loaded, and its policy forbids it", async () => {
  await open();
  await page.waitForFunction(() => document.getElementById("offline").textContent !== "", { timeout: minutes });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  requests = [];
  const seen = [];
  page.on("request", (request) => { if (!/^(blob|data|about):/.test(request.url())) seen.push(request.url()); });
  await give(a, b);
  assert.equal(await run(), null);
  await reportDrawn();
  // The browser itself looks for a newer service worker now and then; the page does not.
  requests = requests.filter((each) => each !== "/service-worker.js");
  assert.deepEqual(requests, []);
  assert.deepEqual(seen, []);
  const stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  assert.deepEqual(stored, [0, 0, ""]);
  // Attempts to send something fail.
  const sent = await page.evaluate(async (address) => Promise.all([
    fetch(address + "leak").then(() => "sent", () => "refused"),
    new Promise((resolve) => { const request = new XMLHttpRequest(); request.onload = () => resolve("sent"); request.onerror = () => resolve("refused"); try { request.open("GET", address + "leak"); request.send(); } catch { resolve("refused"); } }),
    new Promise((resolve) => { const image = new Image(); image.onload = () => resolve("sent"); image.onerror = () => resolve("refused"); image.src = address + "leak.png"; }),
  ]), base);
  assert.deepEqual(sent, ["refused", "refused", "refused"]);
  assert.ok(!requests.some((each) => each.includes("leak")));
  problems.length = 0; // the browser has reported these attempts
});

test("the second visit can use threads, with the same labels", async () => {
  await open();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await open();
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  await page.waitForFunction(() => typeof kindredThreadsWasm === "function", { timeout: minutes });
  await give(a, b);
  const found = await page.evaluate(async () => {
    const results = [];
    for (const threads of [1, 3]) results.push(await kindred.cluster(sets.map((set) => set.input), { k: 3, threads }));
    return results.map((result) => ({ threads: result.threads, labels: result.tasks.map((task) => Array.from(task.labels, String)) }));
  });
  assert.deepEqual(found.map((each) => each.threads), [1, 3]);
  assert.deepEqual(found[1].labels, found[0].labels);
  assert.deepEqual(found[0].labels, await expected([a, b], { k: 3 }));
});

test("the page works offline after the first load", async () => {
  await open();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null, { timeout: minutes });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await page.reload();
  await page.waitForSelector("body.ready", { timeout: 2 * minutes });
  await give(a);
  assert.equal(await run(), null);
});
