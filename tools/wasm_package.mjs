// Makes the npm package from the compiled program and js/. SPDX-License-Identifier: BSD-3-Clause
// Usage: node tools/wasm_package.mjs FOLDER_OF_THE_COMPILED_PROGRAM FOLDER_OF_THE_PACKAGE
import fs from "node:fs";
import path from "node:path";

const [, , built, out] = process.argv;
const root = path.join(path.dirname(new URL(import.meta.url).pathname), "..");
const read = (name) => fs.readFileSync(path.join(root, name), "utf8");
const version = /KDR_VERSION +"([^"]*)"/.exec(read("include/kindred/version.h"))[1];

// The worker: the loader that emscripten wrote, the code that runs a job, and the messages of the two kinds of worker.
const loader = fs.readFileSync(path.join(built, "kindred.js"), "utf8");
const worker = `${loader}
${read("js/worker.js")}
if (typeof postMessage === "function" && typeof importScripts === "function")
  kindredServe(createKindred, (take) => { onmessage = (event) => take(event.data); }, (message, move) => postMessage(message, move));
else if (typeof require === "function" && !require("node:worker_threads").isMainThread) {
  const { parentPort } = require("node:worker_threads");
  kindredServe(createKindred, (take) => parentPort.on("message", take), (message, move) => parentPort.postMessage(message, move));
}
`;
const names = /const kindredApi = \{ ([^}]*) \};/.exec(read("js/kindred.js"))[1];
const common = `const isNode = typeof process === "object" && !!process.versions && !!process.versions.node;
const workerText = ${JSON.stringify(worker)};
`;
const fromDisk = (folder) => `async function loadModule() {
  if (isNode) {
    const fs = await import("node:fs/promises");
    return WebAssembly.compile(await fs.readFile(${folder.disk}));
  }
  return WebAssembly.compile(await (await fetch(${folder.web})).arrayBuffer());
}
`;
const esm = common + fromDisk({ disk: 'new URL("./kindred.wasm", import.meta.url)', web: 'new URL("./kindred.wasm", import.meta.url)' });
const cjs = common + fromDisk({ disk: 'require("node:path").join(__dirname, "kindred.wasm")', web: '"kindred.wasm"' });
// For a page: `kindredWasm` is a function that gives the bytes, because the page may not load anything.
const script = common + "async function loadModule() { return WebAssembly.compile(await kindredWasm()); }\n";
const api = read("js/kindred.js");

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
const write = (name, text) => fs.writeFileSync(path.join(out, name), text);
write("kindred.mjs", `${esm}${api}export { ${names} };\nexport default kindredApi;\n`);
write("kindred.cjs", `"use strict";\n${cjs}${api}module.exports = kindredApi;\n`);
fs.mkdirSync(path.join(out, "script"));
write("script/kindred.js", `const kindred = (() => {\n"use strict";\n${script}${api}return { ...kindredApi, zip: toZip };\n})();\n`);
fs.copyFileSync(path.join(built, "kindred.wasm"), path.join(out, "kindred.wasm"));
for (const name of ["index.d.ts", "README.md"]) fs.copyFileSync(path.join(root, "js", name), path.join(out, name));
fs.copyFileSync(path.join(root, "LICENSE"), path.join(out, "LICENSE"));
fs.cpSync(path.join(root, "js/test"), path.join(out, "test"), { recursive: true });
write("package.json", JSON.stringify({ ...JSON.parse(read("js/package.json")), version }, null, 2) + "\n");
