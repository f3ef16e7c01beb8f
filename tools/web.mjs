// Makes the folder of the page from web/ and the npm package. SPDX-License-Identifier: BSD-3-Clause
// Usage: node tools/web.mjs FOLDER_OF_THE_PACKAGE FOLDER_OF_THE_PAGE
//
// index.html and its files are for a web server, such as GitHub Pages; kindred.html is the same page as one file. The policy of
// both allows the scripts of the page and of the report by their hashes, and no connection at all.
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import zlib from "node:zlib";

const [, , package_, out] = process.argv.map((each, i) => (i > 1 ? path.resolve(each) : each));
const root = path.join(path.dirname(new URL(import.meta.url).pathname), "..");
const read = (name) => fs.readFileSync(path.join(root, "web", name), "utf8");
const hash = (text) => `'sha256-${crypto.createHash("sha256").update(text).digest("base64")}'`;
const { version } = JSON.parse(fs.readFileSync(path.join(package_, "package.json")));

// The report's script and style are the same for every result.
const { cluster } = await import(pathToFileURL(path.join(package_, "kindred.mjs")));
const { html } = await cluster([{ name: "a", data: [[0, 1], [1, 0], [5, 6], [6, 5]] }], { k: 2, method: "kmeans", report: true, worker: false });
const reportScript = hash(/<script>([^]*?)<\/script>/.exec(html)[1]);
const reportStyle = hash(/<style>([^]*?)<\/style>/.exec(html)[1]);

const wasm = (name, file) => `"use strict";
async function ${name}() {
  const packed = Uint8Array.from(atob("${zlib.gzipSync(fs.readFileSync(path.join(package_, file)), { level: 9 }).toString("base64")}"), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
`;
const scripts = { "kindred-wasm.js": wasm("kindredWasm", "kindred.wasm"), "kindred.js": fs.readFileSync(path.join(package_, "script/kindred.js"), "utf8"), "app.js": read("app.js") };
const style = read("style.css");

function page(script, styles, head, body) {
  const policy = ["default-src 'none'", `script-src 'wasm-unsafe-eval' ${reportScript} ${script}`, `style-src ${reportStyle} ${styles}`,
    "worker-src 'self' blob:", "img-src data: blob:", "connect-src 'none'", "form-action 'none'", "base-uri 'none'"].join("; ");
  return read("index.html").replace("@POLICY@", policy).replace("@VERSION@", version).replace("@STYLE@", () => head).replace("@SCRIPTS@", () => body);
}

fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
const write = (name, text) => fs.writeFileSync(path.join(out, name), text);
const names = Object.keys(scripts);
const index = page("'self'", "'self'", '<link rel="stylesheet" href="style.css">', names.map((name) => `<script src="${name}"></script>`).join("\n"));
write("index.html", index);
write("style.css", style);
for (const name of names) write(name, scripts[name]);
const threads = wasm("kindredThreadsWasm", "kindred-threads.wasm"); // app.js loads it if the page may use threads
write("kindred-threads-wasm.js", threads);
const all = crypto.createHash("sha256").update([index, style, threads, ...Object.values(scripts)].join("")).digest("hex").slice(0, 16);
write("service-worker.js", read("service-worker.js").replace("@HASH@", all));
write(".nojekyll", "");
// Inside a page, "</script" would end a script.
const inline = Object.values(scripts).map((text) => text.replace(/<\/script/gi, "<\\/script"));
write("kindred.html", page(inline.map(hash).join(" "), hash(style), `<style>${style}</style>`, inline.map((text) => `<script>${text}</script>`).join("\n")));
for (const name of fs.readdirSync(out)) console.log(name, fs.statSync(path.join(out, name)).size);
