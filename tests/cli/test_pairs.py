"""Every pair of output options with every job: all files are complete, and nothing else remains."""
import csv
import itertools
import json
import os
import shutil
import unittest

from harness import CliTest

try:
    import h5py
    import numpy
except ImportError:  # without them, only the first bytes are compared
    h5py = numpy = None

RESULT = {
    "--report": ["--report"], "--report-features": ["--report", "--report-features", "1"], "--arrays": ["--arrays", "arrays"],
    "--arrays OUT": ["--arrays", "out"], "--save-model": ["--save-model", "out/saved.h5"], "--model-size": ["--save-model", "saved.h5", "--model-size", "6"],
    "--model-without-samples": ["--save-model", "saved.h5", "--model-without-samples"], "--write-table": ["--write-table", "out/table.csv"],
    "--write-columns": ["--write-table", "out/part.csv", "--write-columns", "label,confidence"], "--write-h5ad": ["--write-h5ad", "annotated.h5ad"],
    "--key-added": ["--write-h5ad", "out/keyed.h5ad", "--key-added", "other"], "--score": ["--score"], "--explain": ["--explain", "EXPLAIN"],
    "--raw-cells": ["--raw-cells"],
}
NAMES = {"--names": ["--names", "names.csv"]}
CLUSTER = {**RESULT, **NAMES, "--quality": ["--quality", "--resamples", "1"], "--no-transfer": ["--no-transfer"]}
TRANSFER = {**RESULT, "--probabilities": ["--probabilities"], "--ask": ["--ask", "3"], "--abstain": ["--abstain", "0.2"]}
COMMON = ["--threads", "1", "-q", "-o", "out"]
TABLES, COPIES = ("--write-table", "--write-columns"), ("--write-h5ad", "--key-added")
# Pairs that are refused, and why: these words are in the message.
REFUSED = {frozenset([t, c]): "--write-table" for t in TABLES for c in COPIES}


def table(n, shift):
    return [[i % 3 * 10 + shift + i % 4 * .1, i % 3 * 7 - i % 5 * .1] for i in range(n)]


class Pairs(CliTest):
    def setUp(self):
        super().setUp()
        for name, n, shift in (("a", 15, 0), ("b", 12, .3), ("c", 12, -.2)):
            self.write(f"{name}.csv", "id,x,y\n" + "".join(f"s{i},{x},{y}\n" for i, (x, y) in enumerate(table(n, shift))))
            self.write(f"{name}.labels", "".join(f"c{i % 3}\n" for i in range(n)))
            self.write(f"view-{name}.csv", "id,colour,weight\n" + "".join(f"s{i},{'=rgb'[i % 3]},{i % 3 + i % 2 * .1}\n" for i in range(n)))
            if h5py:
                self.write_h5ad(f"{name}.h5ad", table(n, shift))
        self.write("names.csv", "number,name\n0,=first\n2,\"last, of all\"\n")
        self.keep = set(os.listdir(self.dir))

    def write_h5ad(self, name, rows):
        with h5py.File(self.path(name), "w") as f:
            f["X"] = numpy.array(rows)
            for group, names in (("obs", [f"s{i}" for i in range(len(rows))]), ("var", ["x", "y"])):
                f.create_group(group).attrs["_index"] = "_index"
                f[group].create_dataset("_index", data=names, dtype=h5py.string_dtype())

    def check_file(self, path):
        with open(path, "rb") as f:
            content = f.read()
        if path.endswith(".json"):
            json.loads(content)
        elif path.endswith(".csv"):
            rows = list(csv.reader(content.decode().splitlines(), strict=True))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, path)
            self.assertTrue(content.endswith(b"\n"), path)
        elif path.endswith(".html"):
            self.assertTrue(content.startswith(b"<!DOCTYPE html>") and content.rstrip().endswith(b"</html>"), path)
        elif path.endswith(".npy"):
            self.assertTrue(content.startswith(b"\x93NUMPY"), path)
            if numpy:
                numpy.load(path)
        elif path.endswith((".h5", ".h5ad")):
            self.assertTrue(content.startswith(b"\x89HDF"), path)
            if h5py:
                with h5py.File(path) as f:
                    f.visit(lambda name: None)
        elif path.endswith(".labels"):
            self.assertTrue(content.endswith(b"\n"), path)
        else:
            self.fail(f"unexpected file {path}")

    def check_made(self, command):
        """Every file but the inputs is complete; the folder has what result.json lists."""
        made = [os.path.join(root, f) for root, _, files in os.walk(self.dir) for f in files if root != self.dir or f not in self.keep]
        for path in made:
            self.check_file(path)
        self.assertEqual(self.leftovers(), [], command)
        if os.path.exists(self.path("out/result.json")):
            r = self.result()
            self.assertEqual(sorted(r["files"]), sorted(os.listdir(self.path("out"))), command)
            for t in r["tasks"]:
                if t.get("labels"):
                    self.assertEqual(len(self.read(f"out/{t['name']}.labels").splitlines()), t["n"], command)

    def clear(self):
        for name in set(os.listdir(self.dir)) - self.keep:
            path = self.path(name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def run_pairs(self, job, options, explained=()):
        """`job`: the command for inputs with an ending, with the model, edits, ... that it needs; `explained`: the data sets that --explain is for."""
        view = ",".join(f"view-{name}.csv" for name in explained)
        for pair in itertools.combinations_with_replacement(options, 2):
            words = [view if w == "EXPLAIN" else w for name in dict.fromkeys(pair) for w in options[name]]
            if "--write-h5ad" in words and not h5py or any(words.count(w) > 1 for w in words if w.startswith("-")):
                continue  # the same option twice
            command = job("h5ad" if any(c in COPIES for c in pair) else "csv") + words
            refused = REFUSED.get(frozenset(pair))
            done = self.run_kindred(*command, code=None)
            self.assertEqual(done.returncode, 2 if refused else 0, f"{command}\n{done.stderr}")
            if refused:
                self.assertIn(refused, done.stderr)
            self.check_made(command)
            self.clear()

    def inputs(self, *names):
        def words(ending):
            return [f"{n}.{ending}" for n in names] + (["--id-column", "id"] if ending == "csv" else [])
        return words

    def model(self, *command):
        """Makes model.h5, an input of other jobs."""
        self.run_kindred(*command, "--threads", 1, "-q", "--save-model", "model.h5", "--id-column", "id", "-o", "first")
        shutil.rmtree(self.path("first"))
        self.keep.add("model.h5")

    def test_cluster(self):
        files = self.inputs("a", "b")
        self.run_pairs(lambda ending: ["cluster", "-k", 3, *COMMON, *files(ending)], CLUSTER, "ab")

    def test_cluster_into(self):
        self.model("cluster", "-k", 3, "a.csv")
        files = self.inputs("b", "c")
        options = {k: v for k, v in CLUSTER.items() if k not in ("--quality", "--no-transfer")}
        self.run_pairs(lambda ending: ["cluster", "--into", "model.h5", *COMMON, *files(ending)], options, "bc")

    def test_range(self):
        files = self.inputs("a")
        options = {k: v for k, v in CLUSTER.items() if k not in ("--no-transfer", "--model-size")}
        self.run_pairs(lambda ending: ["cluster", "-m", "kmeans", "-k", "3-5", *COMMON, *files(ending)], options, "a")

    def test_transfer(self):
        files = self.inputs("a", "b")

        def job(ending):
            source, target, *more = files(ending)
            return ["transfer", *COMMON, "--source", source, "--labels", "a.labels", "--target", target, *more]
        self.run_pairs(job, TRANSFER, "b")

    def test_transfer_into(self):
        self.model("transfer", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv")
        files = self.inputs("c")
        options = {k: v for k, v in TRANSFER.items() if k not in ("--probabilities", "--ask", "--abstain")}
        self.run_pairs(lambda ending: ["transfer", "--into", "model.h5", *COMMON, *files(ending)], options, "c")

    def test_predict(self):
        self.model("cluster", "-k", 3, "a.csv")
        options = {"-o": ["-o", "out/"], "-o FILE": ["-o", "new.labels"], "--write-table": ["--write-table", "table.csv"], "--task": ["--task", "a"],
                   "--write-columns": ["--write-table", "part.csv", "--write-columns", "second,name"], "--strict": ["--strict"], "--names": ["-o", "named.labels", "--names", "names.csv"]}
        self.run_pairs(lambda ending: ["predict", "--model", "model.h5", "--threads", 1, "-q", "--id-column", "id", "b.csv"], options)

    def test_relabel(self):
        self.run_kindred("transfer", "--threads", 1, "-q", "--source", "a.h5ad", "--labels", "a.labels", "--target", "b.h5ad", "--probabilities", "--save-model",
                         "model.h5", "-o", "first")
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": [{"do": "rename", "cluster": "c1", "name": "first"}]}))
        self.keep |= {"first", "edits.json", "model.h5"}
        shutil.move(self.path("first/result.json"), self.path("first.json"))
        shutil.rmtree(self.path("first"))
        self.keep.add("first.json")
        options = {"--report": ["--report"], "--write-h5ad": ["--write-h5ad", "out/annotated.h5ad"], "--model": ["--model", "model.h5"], "--force": ["--force"],
                   "--raw-cells": ["--raw-cells"]}
        self.run_pairs(lambda ending: ["relabel", *COMMON, "first.json", "edits.json"], options)

    def test_cut(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", "3-5", "--threads", 1, "-q", "-o", "first", "--id-column", "id", "a.csv", "b.csv")
        shutil.move(self.path("first/result.json"), self.path("first.json"))
        shutil.rmtree(self.path("first"))
        self.keep.add("first.json")
        self.run_pairs(lambda ending: ["cut", *COMMON, "first.json"], {"-k": ["-k", "4"], "-k each": ["-k", "4,4"]})


if __name__ == "__main__":
    unittest.main()
