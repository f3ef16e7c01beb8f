/* Drives Firefox over WebDriver BiDi: opens a report and does what a person would. Prints what it saw as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * usage: node firefox.mjs FOLDER_OF_NODE_MODULES FIREFOX PAGE */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, firefox, file] = process.argv.slice(2);
const puppeteer = (await import(pathToFileURL(createRequire(join(modules, "x.js")).resolve("puppeteer-core")).href)).default;
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
const seen = { messages: [] };
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 900 });
  page.on("console", (m) => seen.messages.push(m.text()));
  page.on("pageerror", (e) => seen.messages.push(String(e)));
  await page.goto(pathToFileURL(file).href);
  const settle = () => page.evaluate(() => new Promise((done) => { setTimeout(() => requestAnimationFrame(() => setTimeout(done, 50)), 250); }));
  const text = async (selector) => { await settle(); return page.evaluate((s) => document.querySelector(s).textContent, selector); };
  const click = (selector) => page.evaluate((s) => document.querySelector(s).click(), selector);
  const choose = (selector, index) => page.evaluate((s, i) => { const e = document.querySelector(s); e.selectedIndex = i; e.dispatchEvent(new Event("change")); }, selector, index);
  seen.ready = await page.evaluate(() => document.documentElement.dataset.ready);
  await page.focus("#search");
  await page.keyboard.type("row 1");
  seen.search = await text("#search-count");
  await page.keyboard.press("Escape");
  await click("input[name=shape][value=rectangle]");
  const box = await page.evaluate(() => { const c = document.querySelector(".panel canvas"); c.scrollIntoView({ block: "center", behavior: "instant" }); const r = c.getBoundingClientRect(); return [r.left + 5, r.top + 5, r.right - 5, r.bottom - 5]; });
  await page.mouse.move(box[0], box[1]);
  await page.mouse.down();
  await page.mouse.move((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, { steps: 3 });
  await page.mouse.move(box[2], box[3], { steps: 3 });
  await page.mouse.up();
  seen.selected = await text("#selected-count");
  seen.apart = await page.evaluate(() => document.querySelectorAll("#selected .features li").length);
  await choose("#group-a", 2);
  await choose("#group-b", 3);
  seen.overlap = await text("#overlap");
  await choose("#colour-field", 1);
  seen.legend = await page.evaluate(() => document.querySelectorAll("#legend button").length);
  seen.drawn = await page.evaluate(() => { const c = document.querySelector(".panel canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; });
  await page.evaluate(() => { document.getElementById("filters").open = true; const b = document.querySelectorAll(".filter[data-key=size] input")[1]; b.value = "1"; b.dispatchEvent(new Event("change")); const a = document.querySelector(".filter[data-key=confidence] input"); a.value = "0.5"; a.dispatchEvent(new Event("change")); });
  seen.filtered = await text("#filtered");
  const press = (words, within) => page.evaluate((w, s) => [...document.querySelectorAll(`${s} button`)].find((b) => b.textContent === w).click(), words, within);
  await page.evaluate(() => { const e = document.getElementById("edit-name"); e.value = "animals"; e.dispatchEvent(new Event("change")); });
  await press("Rename", "#edit");
  seen.renamed = await text("#edit .edits");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  await settle();
  seen.undone = await page.evaluate(() => document.querySelectorAll("#edit .edits li").length);
  await press("Redo", "#edit");
  await page.evaluate(() => { const s = document.getElementById("level"); s.value = 0; s.dispatchEvent(new Event("input")); });
  await settle();
  seen.level = await page.evaluate(() => document.querySelectorAll("#legend li").length);
  await press("Link to this view", "#take");
  seen.link = await page.evaluate(() => document.querySelector("#take-said input").value);
  await click("#slides-button");
  seen.sentences = await page.evaluate(() => document.querySelectorAll("#slides .five li").length);
  await page.keyboard.press("Escape");
  seen.wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
