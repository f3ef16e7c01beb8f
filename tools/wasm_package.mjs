// Makes the npm package from the compiled program and js/. SPDX-License-Identifier: BSD-3-Clause
// Usage: node tools/wasm_package.mjs FOLDER_OF_THE_COMPILED_PROGRAM FOLDER_OF_THE_PACKAGE
import fs from "node:fs";
import path from "node:path";

const [, , built, out] = process.argv;
const root = path.join(path.dirname(new URL(import.meta.url).pathname), "..");
const read = (name) => fs.readFileSync(path.join(root, name), "utf8");
const version = /KDR_VERSION +"([^"]*)"/.exec(read("include/kindred/version.h"))[1];

// The worker: the loader that emscripten wrote, the code that runs a job, and the messages of the two kinds of worker.
const loader = (name) => fs.readFileSync(path.join(built, name), "utf8");
const worker = (start) => `${start}
${read("js/worker.js")}
if (typeof postMessage === "function" && typeof importScripts === "function")
  kindredServe(createKindred, (take) => { onmessage = (event) => take(event.data); }, (message, move) => postMessage(message, move));
else if (typeof require === "function" && !require("node:worker_threads").isMainThread) {
  const { parentPort } = require("node:worker_threads");
  kindredServe(createKindred, (take) => parentPort.on("message", take), (message, move) => parentPort.postMessage(message, move));
}
`;
// A thread of the module for several threads: emscripten's two scripts, where the second does not load the first any more; node gets
// the names that a browser's worker has.
const several = loader("kindred-threads.js");
const thread = `if (typeof importScripts === "undefined") {
  const { parentPort } = require("node:worker_threads");
  Object.assign(globalThis, { self: globalThis, location: { href: "" }, postMessage: (message, move) => parentPort.postMessage(message, move) });
  parentPort.on("message", (data) => onmessage({ data }));
}
globalThis.importScripts = () => {}; // a declaration would hide it above
${several}
${loader("kindred-threads.worker.js")}
`;
const newWorker = "new Worker(pthreadMainJs)";
if (!several.includes(newWorker)) throw new Error("emscripten starts threads in another way than this script expects");
const threaded = worker(several.replace(newWorker, `kindredThread(${JSON.stringify(thread).replace(/\$/g, "$$$$")})`));
const names = /const kindredApi = \{ ([^}]*) \};/.exec(read("js/kindred.js"))[1];
const common = `const isNode = typeof process === "object" && !!process.versions && !!process.versions.node;
const workerText = ${JSON.stringify(worker(loader("kindred.js")))};
const threadedText = ${JSON.stringify(threaded)};
`;
const fromDisk = (folder) => `const hasThreads = () => true;
async function loadModule(several) {
  if (isNode) {
    const fs = await import("node:fs/promises");
    return WebAssembly.compile(await fs.readFile(several ? ${folder.disk("kindred-threads.wasm")} : ${folder.disk("kindred.wasm")}));
  }
  return WebAssembly.compile(await (await fetch(several ? ${folder.web("kindred-threads.wasm")} : ${folder.web("kindred.wasm")})).arrayBuffer());
}
`;
const beside = (name) => `new URL("./${name}", import.meta.url)`;
const esm = common + fromDisk({ disk: beside, web: beside });
const cjs = common + fromDisk({ disk: (name) => `require("node:path").join(__dirname, "${name}")`, web: (name) => `"${name}"` });
// For a page: `kindredWasm` and, if it is defined, `kindredThreadsWasm` are functions that give the bytes, because the page may not load anything.
const script = common + "const hasThreads = () => typeof kindredThreadsWasm === \"function\";\nasync function loadModule(several) { return WebAssembly.compile(await (several ? kindredThreadsWasm() : kindredWasm())); }\n";
const api = read("js/kindred.js");

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
const write = (name, text) => fs.writeFileSync(path.join(out, name), text);
write("kindred.mjs", `${esm}${api}export { ${names} };\nexport default kindredApi;\n`);
write("kindred.cjs", `"use strict";\n${cjs}${api}module.exports = kindredApi;\n`);
fs.mkdirSync(path.join(out, "script"));
write("script/kindred.js", `const kindred = (() => {\n"use strict";\n${script}${api}return { ...kindredApi, zip: toZip };\n})();\n`);
for (const name of ["kindred.wasm", "kindred-threads.wasm"]) fs.copyFileSync(path.join(built, name), path.join(out, name));
for (const name of ["index.d.ts", "README.md"]) fs.copyFileSync(path.join(root, "js", name), path.join(out, name));
fs.copyFileSync(path.join(root, "LICENSE"), path.join(out, "LICENSE"));
fs.cpSync(path.join(root, "js/test"), path.join(out, "test"), { recursive: true });
write("package.json", JSON.stringify({ ...JSON.parse(read("js/package.json")), version }, null, 2) + "\n");
