"""kindred relabel: renames, merges, marks and notes of an edits file, in every file of a result."""
import csv
import json
import os
import re
import unittest

from harness import CliTest

try:
    import anndata
    import numpy
except ImportError:
    anndata = None


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Relabel(CliTest):
    def cluster(self):
        """Two data sets of three groups each."""
        centres = [(0, 0), (0, 60), (60, 0)]
        for name in "ab":
            lines = [f"{name}{i},{x + i % 4 * .1:.3f},{y + i % 5 * .1:.3f},g{i % 3}" for i in range(24) for x, y in [centres[i % 3]]]
            self.write(f"{name}.csv", "id,x,y,kind\n" + "\n".join(lines) + "\n")
        self.run_kindred("cluster", "-m", "kmeans", "--pooled", "-k", 3, "--id-column", "id", "--label-column", "kind", "--score", "--report", "-q", "--force", "-o", "out",
                         "a.csv", "b.csv")
        return json.loads(self.read("out/result.json"))

    def edits(self, *edits, **more):
        head = {"format": "kindred-edits", "version": 1, **more}
        text = json.dumps(head)[:-1] + ', "edits": [\n' + ",\n".join(map(json.dumps, edits)) + "\n]}\n"
        return self.write("edits.json", text)

    def relabel(self, *edits):
        self.edits(*edits)
        self.run_kindred("relabel", "-q", "--report", "--force", "-o", "new", "out/result.json", "edits.json")
        return json.loads(self.read("new/result.json"))

    def test_every_output_follows(self):
        before = self.cluster()
        after = self.relabel({"do": "rename", "cluster": 0, "name": "first, of all"}, {"do": "merge", "cluster": 2, "into": 1},
                             {"do": "wrong", "task": "a", "samples": [0, "a3"]}, {"do": "wrong", "task": "b", "samples": ["b4"]},
                             {"do": "note", "task": "b", "samples": [4], "text": "see\n\"this\""}, {"do": "note", "cluster": 1, "text": "wide"})
        for t, name in enumerate("ab"):
            old, new = before["tasks"][t], after["tasks"][t]
            expected = [1 if label == 2 else label for label in old["labels"]]
            self.assertEqual(new["labels"], expected)
            self.assertEqual(new["sizes"], [expected.count(c) for c in range(3)])
            self.assertEqual(new["k"], 2)
            self.assertEqual([int(v) for v in self.read(f"new/{name}.labels").split()], expected)
            table = rows(self.path(f"new/{name}.samples.csv"))
            self.assertEqual([r["id"] for r in table], old["ids"])
            self.assertEqual([int(r["cluster"]) for r in table], expected)
            self.assertEqual([r["name"] for r in table], ["first, of all" if label == 0 else "" for label in expected])
            self.assertTrue(all(int(r["second"]) != label for r, label in zip(table, expected) if r["second"]))
            clusters = {c["number"]: c for c in new["clusters"]}
            self.assertEqual(clusters[0]["name"], "first, of all")
            self.assertEqual(clusters[1]["note"], "wide")
            self.assertEqual(clusters[2]["merged_into"], 1)
            self.assertNotIn("features", clusters[1])  # other samples than those they were computed from
            self.assertLess(new["metrics"]["acc"], old["metrics"]["acc"])
        self.assertEqual(after["tasks"][0]["wrong"], [0, 3])
        self.assertEqual([(r["wrong"], r["note"]) for r in rows(self.path("new/b.samples.csv"))][4], ("1", 'see\n"this"'))
        self.assertEqual(after["tasks"][1]["sample_notes"], [{"row": 4, "text": 'see\n"this"'}])
        self.assertEqual(len(after["edited"]["edits"]), 6)
        page = self.read("new/report.html")
        self.assertIn("first, of all", page)
        for field in ("seed", "options", "relatedness", "preprocessing"):
            self.assertEqual(after.get(field), before.get(field))

    def test_no_edits_change_no_file(self):
        before = self.cluster()
        after = self.relabel()
        self.assertEqual(after.pop("edited"), {"file": "edits.json", "edits": []})
        for task in after["tasks"]:
            self.assertEqual([task.pop(k) for k in ("wrong", "sample_notes")], [[], []])
        self.assertEqual(sorted(after.pop("files")), sorted(set(before.pop("files")) - {"features.csv"}))
        self.assertEqual(after, before)
        for name in ("a.labels", "b.labels", "a.samples.csv", "b.samples.csv"):
            self.assertEqual(self.read(f"new/{name}"), self.read(f"out/{name}"))

    def test_second_call_continues(self):
        self.cluster()
        self.relabel({"do": "rename", "cluster": 0, "name": "one"}, {"do": "wrong", "task": "a", "samples": [1]})
        self.edits({"do": "rename", "task": "b", "cluster": 0, "name": "two"}, {"do": "wrong", "task": "b", "samples": [2]})
        self.run_kindred("relabel", "-q", "-o", "twice", "new/result.json", "edits.json")
        last = json.loads(self.read("twice/result.json"))
        self.assertEqual([t["clusters"][0]["name"] for t in last["tasks"]], ["one", "two"])
        self.assertEqual(last["tasks"][0]["wrong"], [1])
        self.assertEqual(last["tasks"][1]["wrong"], [2])
        self.assertEqual(len(last["edited"]["edits"]), 4)

    def test_classes(self):
        self.cluster()
        self.write("a.labels", "".join(f"g{i % 3}\n" for i in range(24)))
        self.run_kindred("transfer", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", "--columns=-id,-kind", "--probabilities",
                         "--report", "-q", "-o", "out", "--force")
        before = json.loads(self.read("out/result.json"))["tasks"][-1]
        after = self.relabel({"do": "rename", "cluster": "g0", "name": "zero"}, {"do": "merge", "cluster": "g1", "into": "zero"})
        target = after["tasks"][-1]
        expected = [{"g0": "zero", "g1": "zero"}.get(label, label) for label in before["labels"]]
        self.assertEqual(target["labels"], expected)
        self.assertEqual(self.read("new/target.labels").splitlines(), expected)
        self.assertEqual(after["calibration"]["classes"], ["zero", "g2"])
        self.assertTrue(all(len(p) == 2 and abs(sum(p) - 1) < 1e-9 for p in target["probabilities"]))
        table = rows(self.path("new/target.probabilities.csv"))
        self.assertEqual([[float(r[name]) for name in ("zero", "g2")] for r in table], target["probabilities"])
        self.assertEqual(list(table[0]), ["id", "zero", "g2"])
        self.assertEqual(set(after["tasks"][0]["truth"]), {"zero", "g2"})

    def test_model_of_classes(self):
        self.cluster()
        self.write("a.labels", "".join(f"g{i % 3}\n" for i in range(24)))
        self.run_kindred("transfer", "-m", "logreg", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", "--columns=-id,-kind", "--save-model", "m.h5",
                         "-q", "-o", "out", "--force")
        self.edits({"do": "rename", "cluster": "g0", "name": "zero"}, {"do": "merge", "cluster": "g1", "into": "zero"})
        self.run_kindred("relabel", "-q", "--model", "m.h5", "-o", "new", "out/result.json", "edits.json")
        for model, out in (("m.h5", "old"), ("new/m.h5", "renamed")):
            self.run_kindred("predict", "--model", model, "--columns=-id,-kind", "-q", "-o", out, "b.csv")
        old, new = (self.read(out).split() for out in ("old", "renamed"))
        self.assertEqual(new, [{"g0": "zero", "g1": "zero"}.get(label, label) for label in old])
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--columns=-id,-kind", "--save-model", "k.h5", "-q", "-o", "clusters", "a.csv")
        self.edits()
        self.fails("relabel", "--model", "m.h5", "-o", "none", "clusters/result.json", "edits.json", code=3, says="m.h5: is a model of classes, but clusters/result.json has clusters")
        self.fails("relabel", "--model", "k.h5", "-o", "none", "out/result.json", "edits.json", code=3, says="k.h5: is a model of clusters")

    @unittest.skipIf(anndata is None, "anndata is needed")
    def test_h5ad(self):
        x = [[50.0 * (i % 2) + i % 5, 3.0 * (i % 4), 1.0] for i in range(20)]
        made = anndata.AnnData(numpy.array(x, dtype=numpy.float32))
        made.obs_names = [f"c{i}" for i in range(20)]
        made.obs["batch"] = ["p" if i < 8 else "q" for i in range(20)]
        made.write_h5ad(self.path("a.h5ad"))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--batch-key", "batch", "-q", "-o", "out", "a.h5ad")
        self.edits({"do": "rename", "cluster": 0, "name": "low"}, {"do": "wrong", "task": "q", "samples": ["c9"]})
        self.run_kindred("relabel", "-q", "--write-h5ad", "b.h5ad", "-o", "new", "out/result.json", "edits.json")
        labels = {}
        for task in json.loads(self.read("new/result.json"))["tasks"]:
            labels.update(zip(task["ids"], task["labels"]))
        found = anndata.read_h5ad(self.path("b.h5ad")).obs
        self.assertEqual(list(found["kindred"]), [{0: "low"}.get(labels[f"c{i}"], str(labels[f"c{i}"])) for i in range(20)])
        # several files have the names that cluster gives them
        made.write_h5ad(self.path("f.h5ad"))
        self.edits()
        for inputs, names in ((("--batch-key", "batch", "a.h5ad", "f.h5ad"), "af"), (("x=a.h5ad", "y=a.h5ad"), "xy")):
            self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "--force", "-o", "two", "--write-h5ad", "c.h5ad", *inputs)
            self.run_kindred("relabel", "-q", "--force", "-o", "new", "--write-h5ad", "r.h5ad", "two/result.json", "edits.json")
            for name in names:
                was, now = (anndata.read_h5ad(self.path(f"{start}-{name}.h5ad")).obs for start in "cr")
                self.assertEqual(list(was["kindred"]), list(now["kindred"]))
        self.assertEqual(sorted(name for name in os.listdir(self.dir) if name.startswith("r-")), ["r-a.h5ad", "r-f.h5ad", "r-x.h5ad", "r-y.h5ad"])
        self.assertNotEqual(list(now["kindred"]), list(anndata.read_h5ad(self.path("r-x.h5ad")).obs["kindred"]))
        self.fails("relabel", "--write-h5ad", "b.h5ad", "-o", "other", "out/result.json", "edits.json", code=2, says="b.h5ad")
        self.cluster()
        self.edits()
        self.fails("relabel", "--write-h5ad", "c.h5ad", "-o", "other", "out/result.json", "edits.json", code=2, says="no data set was read from an .h5ad")

    def test_bad_edits_are_refused_by_line_and_nothing_is_written(self):
        self.cluster()
        good = {"do": "rename", "cluster": 0, "name": "x"}
        for bad, says in (({"do": "merge", "cluster": 9, "into": 1}, "no cluster 9"), ({"do": "merge", "cluster": 1, "into": 1}, "itself"),
                          ({"do": "rename", "cluster": 1, "name": "  "}, "empty"), ({"do": "rename", "cluster": 1, "name": "x"}, "another cluster"),
                          ({"do": "rename", "cluster": 1, "name": "a\nb"}, "control character"), ({"do": "rename", "cluster": 1, "name": "n" * 201}, "201"),
                          ({"do": "rename", "cluster": "1", "name": "n"}, "number of a cluster"), ({"do": "rename", "cluster": 1, "nam": "n"}, "'nam'"),
                          ({"do": "wrong", "task": "a", "samples": [24]}, "0 to 23"), ({"do": "wrong", "task": "a", "samples": [-1]}, "-1"),
                          ({"do": "wrong", "task": "a", "samples": ["b1"]}, "'b1'"), ({"do": "wrong", "task": "c", "samples": [1]}, "'c'"),
                          ({"do": "wrong", "samples": [1]}, "'task'"), ({"do": "wrong", "task": "a", "samples": []}, "'samples'"),
                          ({"do": "wrong", "task": "a", "samples": [1.5]}, "counted from 0"), ({"do": "move", "task": "a", "samples": [1], "into": 1}, "rename, merge, wrong or note"),
                          ({"do": "note", "cluster": 0, "text": "n" * 2001}, "2001"), ({"do": "note", "text": "n"}, "'cluster'"),
                          ({"do": "split"}, "rename, merge, wrong or note"), (7, "object")):
            self.edits(good, bad)
            self.fails("relabel", "-o", "new", "out/result.json", "edits.json", code=3, says=["edits.json: line 3: edit 2", says])
        for text, says in (("[]", "line 1: not an edits file"), ('{"format": "kindred-edits",\n"version": 2}', "line 2: 'version' must be 1"),
                           ('{"format": "kindred-edits", "version": 1,\n"edits": {}}', "line 2: 'edits' must be a list"),
                           ('{"format": "kindred-edits", "version": 1, "edits": [],\n"more": 1}', "line 2: unknown field"),
                           ('{"format": "kindred-edits",\n"version": 1, "result": "x", "edits": []}', "line 2: these are edits of another result"),
                           ('{"format": "kindred-edits",\n"version": 1, "edits": [{"do"', "line 2, column")):
            self.write("edits.json", text)
            self.fails("relabel", "-o", "new", "out/result.json", "edits.json", code=3, says=says)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_fingerprint_of_the_page(self):
        self.cluster()
        mark = re.search(r'"fingerprint":"([^"]+)"', self.read("out/report.html")).group(1)
        self.edits({"do": "merge", "cluster": 2, "into": 1}, result=mark.replace("\\u002f", "/"))
        self.run_kindred("relabel", "-q", "-o", "new", "out/result.json", "edits.json")
        self.fails("relabel", "-o", "twice", "new/result.json", "edits.json", code=3, says="another result")

    def test_misuse(self):
        self.cluster()
        self.edits()
        self.fails("relabel", "-o", "new", "out/result.json", code=2, says="EDITS.json")
        self.fails("relabel", "out/result.json", "edits.json", code=2, says="-o DIR")
        self.fails("relabel", "-o", "new", "out/result.json", "none.json", code=3, says="none.json")
        self.run_kindred("relate", "-q", "-o", "related", "a.csv", "b.csv", "--columns=-id,-kind")
        self.fails("relabel", "-o", "new", "related/result.json", "edits.json", code=3, says="no labels")
        self.run_kindred("relabel", "-q", "-o", "new", "out/result.json", "edits.json")
        self.fails("relabel", "-q", "-o", "new", "out/result.json", "edits.json", code=2, says="a.labels")


if __name__ == "__main__":
    unittest.main()
