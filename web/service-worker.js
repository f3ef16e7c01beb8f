/* Keeps the files of the page, so that it works offline, and isolates the page from its second visit on. SPDX-License-Identifier: BSD-3-Clause */
"use strict";
const cacheName = "kindred-@HASH@";
const files = ["./", "index.html", "style.css", "kindred.js", "kindred-wasm.js", "kindred-threads-wasm.js", "app.js"];
self.addEventListener("install", (event) => event.waitUntil(
  caches.open(cacheName).then((cache) => cache.addAll(files)).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(
  caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("kindred-") && name !== cacheName).map((name) => caches.delete(name))))
    .then(() => self.clients.claim())));
/* Isolated pages may use threads, and a static host cannot send the headers that isolate a page. */
function isolated(response) {
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
self.addEventListener("fetch", (event) => event.respondWith(
  caches.match(event.request, { ignoreSearch: true }).then((found) => found || fetch(event.request)).then(isolated)));
