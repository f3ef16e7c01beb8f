// Runs commands of the WebAssembly module in node or Chromium; bench/wasm.py calls it. SPDX-License-Identifier: BSD-3-Clause
// Usage: node bench/wasm.mjs node|chromium REPEATS PACKAGE WEB TOOLS < jobs.json
//
// A job is {args, files: {name: path}}. Prints the processor and wall-clock seconds of the start, which includes compiling the module,
// and those of each run of each job with a digest of the written files.
import crypto from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , where, repeats, package_, web, tools] = process.argv;
const jobs = JSON.parse(fs.readFileSync(0));
const ticks = 100; // per second, of /proc

function descendants(root) {
  const parents = new Map();
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      parents.set(Number(pid), { parent: Number(fields[1]), time: (Number(fields[11]) + Number(fields[12])) / ticks });
    } catch { /* it has ended */ }
  }
  let sum = 0;
  for (const [pid, { time }] of parents) {
    let at = pid;
    while (at && at !== root) at = parents.has(at) ? parents.get(at).parent : 0;
    if (at === root) sum += time;
  }
  return sum;
}

let call;
let used;
let close = () => {};
if (where === "node") {
  const kindred = await import(pathToFileURL(path.resolve(package_, "kindred.mjs")));
  call = (args, files) => kindred.command(args, Object.fromEntries(Object.entries(files).map(([name, file]) => [name, fs.readFileSync(file)])), { threads: 1 });
  used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
} else {
  const puppeteer = createRequire(path.resolve(tools) + "/")("puppeteer-core");
  const browser = await puppeteer.launch({ executablePath: process.env.KINDRED_CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"], protocolTimeout: 3600000 });
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path.resolve(web, "kindred.html")).href);
  await page.waitForSelector("body.ready", { timeout: 600000 });
  await page.evaluate(() => { // files are chosen, but not described
    const input = document.createElement("input");
    Object.assign(input, { type: "file", multiple: true, id: "bench" });
    document.body.append(input);
  });
  call = async (args, files) => {
    const list = Object.entries(files);
    if (list.length > 0) await (await page.$("#bench")).uploadFile(...list.map(([, file]) => file));
    return page.evaluate(async (words, names) => {
      const chosen = [...document.getElementById("bench").files];
      const result = await kindred.command(words, Object.fromEntries(names.map((name, i) => [name, chosen[i]])), { threads: 1 });
      const kept = Object.entries(result.files).filter(([name]) => name.endsWith(".labels"));
      return { files: Object.fromEntries(kept.map(([name, bytes]) => [name, new TextDecoder().decode(bytes)])) };
    }, args, list.map(([name]) => name));
  };
  used = () => descendants(browser.process().pid);
  close = () => browser.close();
}

await call(["methods", "--json"], {});
console.log(JSON.stringify({ wall: performance.now() / 1000, cpu: used() }));
for (const { args, files } of jobs) {
  const runs = [];
  let digest = "";
  for (let i = 0; i < Number(repeats); i++) {
    const before = used();
    const begin = performance.now();
    const result = await call(args, files);
    runs.push({ wall: (performance.now() - begin) / 1000, cpu: used() - before });
    const hash = crypto.createHash("sha256");
    for (const name of Object.keys(result.files).filter((each) => each.endsWith(".labels")).sort()) hash.update(Buffer.from(result.files[name]));
    digest = hash.digest("hex");
  }
  console.log(JSON.stringify({ runs, digest }));
}
await close();
