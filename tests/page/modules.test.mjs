/* All modules of the page stand in one function. SPDX-License-Identifier: BSD-3-Clause */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../.."), folder = join(root, "report");
const modules = readdirSync(folder).filter((f) => f.endsWith(".js")), text = (f) => readFileSync(join(folder, f), "utf8");

test("every module is part of the page", () => {
  const listed = /set\(modules ([^)]*)\)/.exec(readFileSync(join(root, "src/CMakeLists.txt"), "utf8"))[1].split(/\s+/).map((m) => `${m}.js`);
  assert.deepEqual([...listed].sort(), [...modules].sort());
});

test("no name is declared twice, and modules have at most 400 lines", () => {
  const seen = new Map();
  for (const f of modules) {
    assert.ok(text(f).split("\n").length <= 400, f);
    for (const [, name] of text(f).matchAll(/^(?:async )?(?:function|class|const|let) ([\w$]+)/gm)) {
      assert.equal(seen.get(name), undefined, `${name} is declared in ${seen.get(name)} and ${f}`);
      seen.set(name, f);
    }
  }
});

test("nothing is parsed as markup or code, and nothing is fetched", () => {
  for (const f of modules) assert.doesNotMatch(text(f), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|\bimport\(/, f);
});
