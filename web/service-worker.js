/* Keeps the files of the page, so that it works offline. SPDX-License-Identifier: BSD-3-Clause */
"use strict";
const cacheName = "kindred-@HASH@";
const files = ["./", "index.html", "style.css", "kindred.js", "kindred-wasm.js", "app.js"];
self.addEventListener("install", (event) => event.waitUntil(
  caches.open(cacheName).then((cache) => cache.addAll(files)).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(
  caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("kindred-") && name !== cacheName).map((name) => caches.delete(name))))
    .then(() => self.clients.claim())));
self.addEventListener("fetch", (event) => event.respondWith(
  caches.match(event.request, { ignoreSearch: true }).then((found) => found || fetch(event.request))));
