// Labels and messages of every method on the golden cases are those of the program. tests/js/record.py wrote the file.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { cluster, configure, transfer } from "kindred";

const { cases, runs } = JSON.parse(fs.readFileSync(new URL("golden.json", import.meta.url)));
const byName = new Map(cases.map((each) => [each.name, each]));
configure({ worker: false }); // a worker for each of these small jobs would take longer than the job

// What the program writes: class names, or numbers.
const labelsOf = (result) => result.tasks.map((task) => (task.classes ? Array.from(task.labels, (i) => (i < 0 ? "?" : task.classes[i])) : Array.from(task.labels)));

for (const family of ["cluster", "transfer"])
  for (const method of new Set(runs.filter((each) => each.family === family).map((each) => each.method)))
    test(`${family} ${method}`, async () => {
      for (const run of runs.filter((each) => each.method === method)) {
        const { k, sets, y, bridge } = byName.get(run.case);
        const data = sets.map((rows, i) => ({ name: `task${i + 1}`, data: rows }));
        let got;
        try {
          got = family === "cluster"
            ? await cluster(data, { k, method })
            : await transfer({
              source: { name: "source", data: sets[0], labels: y[0] }, target: { name: "target", data: sets[1] },
              ...(bridge ? { bridge: { name: "bridge", data: bridge } } : {}),
            }, { method });
        } catch (error) {
          assert.equal(error.message, run.error, run.case);
          assert.equal(error.code, run.code);
          continue;
        }
        assert.deepEqual(labelsOf(got), run.labels, run.case);
      }
    });
