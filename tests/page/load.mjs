/* Loads modules of the report's page for tests with node: they stand in one function there and have no exports.
 * SPDX-License-Identifier: BSD-3-Clause */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../../report");

/* load(["selection"], ["createStore"]) gives {createStore}; `known` are names that the modules expect. */
export function load(modules, names, known = {}) {
  const text = modules.map((m) => readFileSync(join(folder, `${m}.js`), "utf8")).join("\n");
  return new Function(...Object.keys(known), `"use strict";\n${text}\nreturn { ${names.join(", ")} };`)(...Object.values(known));
}
