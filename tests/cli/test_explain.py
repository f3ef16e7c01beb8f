"""--explain: samples are compared by one file and explained by another."""
import csv
import json
import random
import unittest

from harness import CliTest

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = np = None

WORDS = [["rocket", "orbit", "moon", "launch"], ["goal", "match", "league", "keeper"], ["bread", "oven", "flour", "yeast"]]


@unittest.skipUnless(np is not None, "needs numpy and h5py")
class Explain(CliTest):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(3)
        for name, n in (("a", 45), ("b", 36)):
            self.embed(f"{name}.npy", n)
            with open(self.path(f"{name}.csv"), "w", newline="") as f:
                w = csv.writer(f)
                w.writerow(["key", "topic", "body"])
                for i in range(n):
                    w.writerow([f"{name}{i}", f"t{i % 3}", self.text(i)])

    def text(self, i):
        return f"{self.draw.choice(['a', 'the'])} {' '.join(self.draw.sample(WORDS[i % 3], 3))} {self.draw.choice(['today', 'again'])}"

    def embed(self, name, n, order=None):
        """Rows in three directions of a space whose columns have no names."""
        rng = np.random.RandomState(n)
        x = np.eye(3)[np.arange(n) % 3] @ rng_of(3, 24) + .1 * rng.randn(n, 24)
        np.save(self.path(name), x if order is None else x[order])

    def json(self, *args):
        return json.loads(self.run_kindred(*args, "-q").stdout)

    def words_of(self, task):
        return {c["number"]: {f["name"] for f in c["features"] if f["effect"] > 0} for c in task["clusters"]}

    def check_words(self, result):
        for task in result["tasks"]:
            topics = {i % 3: label for i, label in enumerate(task["labels"])}
            self.assertEqual(len(set(topics.values())), 3)
            for topic, label in topics.items():
                found = self.words_of(task)[label]
                self.assertGreaterEqual(len(found & set(WORDS[topic])), 3, found)
                for other in range(3):
                    if other != topic:
                        self.assertFalse(found & set(WORDS[other]))

    def test_texts_explain_embeddings(self):
        for more in ([], ["--report", "--save-model", "m.h5"], ["--quality", "--resamples", "1"], ["-k", "2-4"], ["--no-transfer"], ["-m", "kmeans", "--arrays", "x"]):
            k = [] if "-k" in more else ["-k", "3"]
            out = self.run_kindred("cluster", *k, "a.npy", "b.npy", "--explain", "a.csv,b.csv", "--text-column", "body", "-o", "out", "--force", *more)
            result = self.result()
            self.assertEqual([t["explained_by"] for t in result["tasks"]], ["a.csv", "b.csv"])
            self.assertEqual([t["d"] for t in result["tasks"]], [24, 24])
            if k:
                self.check_words(result)
                self.assertNotIn("column ", out.stdout.split("\ncluster ")[1])
        # Explaining changes no label.
        plain = self.json("cluster", "-k", "3", "a.npy", "b.npy")
        again = self.json("cluster", "-k", "3", "a.npy", "b.npy", "--explain", "a.csv,b.csv", "--text-column", "body")
        self.assertEqual([t["labels"] for t in plain["tasks"]], [t["labels"] for t in again["tasks"]])

    def test_classes_and_table_of_the_view(self):
        result = self.json("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--label-column", "topic", "--score",
                           "--write-table", "with.csv")
        self.assertEqual(result["tasks"][0]["metrics"]["acc"], 1)
        with open(self.path("with.csv"), newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([int(r["cluster"]) for r in rows], result["tasks"][0]["labels"])
        self.assertEqual(rows[4]["key"], "a4")

    def test_report_shows_texts(self):
        self.run_kindred("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "-o", "out", "--report", "-q")
        with open(self.path("a.csv"), newline="") as f:
            first = next(csv.DictReader(f))["body"]
        self.assertIn(first, self.read("out/report.html"))

    def test_transfer(self):
        self.write("classes.txt", "".join(f"t{i % 3}\n" for i in range(45)))
        out = self.run_kindred("transfer", "--source", "a.npy", "--labels", "classes.txt", "--target", "b.npy", "--explain", "b.csv", "--text-column", "body",
                               "--ask", "4", "-o", "out")
        target = self.result()["tasks"][1]
        self.assertEqual(target["explained_by"], "b.csv")
        for c in target["clusters"]:
            topic = int(c["class"][1:])
            self.assertGreaterEqual(len({f["name"] for f in c["features"]} & set(WORDS[topic])), 3)
        self.assertIn("t0", out.stdout)
        with open(self.path("out/target.ask.csv"), newline="") as f:
            self.assertTrue(any(word in str(row) for row in csv.DictReader(f) for word in WORDS[0] + WORDS[1] + WORDS[2]))

    def test_into(self):
        self.run_kindred("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--save-model", "m.h5", "-q", "-o", "out")
        self.run_kindred("cluster", "--into", "m.h5", "b.npy", "--explain", "b.csv", "--text-column", "body", "-o", "out2", "--report")
        tasks = self.result("out2/result.json")["tasks"]
        self.assertNotIn("clusters", tasks[0])  # nothing explains the samples of the model
        self.assertEqual(len(tasks[1]["clusters"]), 3)
        self.assertIn("orbit", set().union(*self.words_of(tasks[1]).values()))

    def test_rows_by_id(self):
        order = list(range(45))
        self.draw.shuffle(order)
        self.embed("moved.npy", 45, order)
        self.write("moved.ids", "".join(f"a{i}\n" for i in order[:43]) + "x1\nx2\n")
        done = self.run_kindred("cluster", "-k", "3", "moved.npy", "--explain", "a.csv", "--text-column", "body", "--id-column", "key", "-o", "out")
        task = self.result()["tasks"][0]
        self.assertEqual(task["ids"], [f"a{i}" for i in order[:43]])
        self.assertIn("2 rows not in a.csv are skipped: x1, x2", done.stderr)
        self.assertIn("2 rows not in moved.npy are skipped", done.stderr)
        for i, label in zip(order, task["labels"]):
            self.assertTrue(self.words_of(task)[label] & set(WORDS[i % 3]))

    def test_wrong_views(self):
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "b.csv", "--text-column", "body", code=3, says=["45 rows", "36", "a.npy", "b.csv"])
        self.fails("cluster", "-k", "3", "a.npy", "b.npy", "--explain", "a.csv", "--text-column", "body", code=2, says=["--explain has 1 file for 2"])
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "none.csv", "--text-column", "body", code=3, says=["none.csv"])
        self.write("empty.csv", "key,body\n")
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "empty.csv", "--text-column", "body", code=3, says=["empty.csv"])
        self.write("a.ids", "".join(f"a{i}\n" for i in range(44)) + "a3\n")
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--id-column", "key", code=3, says=["'a3'", "45", "4"])
        self.write("a.ids", "".join(f"z{i}\n" for i in range(45)))
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--id-column", "key", code=3, says=["'z0'", "'a0'"])

    def test_tables_explain(self):
        self.write("t.csv", "plan,age\n" + "".join(f"{['basic', 'pro', 'free'][i % 3]},{20 + i % 3 * 15 + i % 4}\n" for i in range(45)))
        self.run_kindred("cluster", "-k", "3", "a.npy", "--explain", "t.csv", "-o", "out")
        task = self.result()["tasks"][0]
        for i, label in enumerate(task["labels"][:3]):
            self.assertIn(["plan = basic", "plan = pro", "plan = free"][i] + " 100 %", next(c for c in task["clusters"] if c["number"] == label)["description"])

    def cells(self):
        with h5py.File(self.path("c.h5ad"), "w") as f:
            x = np.load(self.path("a.npy"))
            genes = np.zeros((45, 6))
            genes[np.arange(45), np.arange(45) % 3 * 2] = 5
            f["X"] = genes
            f["obsm/X_pca"] = x
            for group, names in (("obs", [f"c{i}" for i in range(45)]), ("var", [f"g{i}" for i in range(6)])):
                f.require_group(group).attrs["_index"] = "_index"
                f[group].create_dataset("_index", data=names, dtype=h5py.string_dtype())
            f["var"].create_dataset("symbol", data=["TP53", "", "TP53", "MYC", "EGFR", "KIT"], dtype=h5py.string_dtype())
            kind = f["var"].create_group("kind")
            kind.create_dataset("categories", data=["ACTB", "CD3E"], dtype=h5py.string_dtype())
            kind["codes"] = np.array([1, 0, -1, 0, 0, 0], np.int8)

    def test_names_of_features(self):
        """Gene symbols come from a column of var: repeated ones are numbered, missing ones keep the name of the index."""
        self.cells()
        for args in (["c.h5ad"], ["c.h5ad:X"], ["c.h5ad:obsm/X_pca", "--explain", "X"], ["a.npy", "--explain", "c.h5ad"]):
            result = self.json("cluster", "-k", "3", *args, "--feature-names", "symbol")
            names = set().union(*self.words_of(result["tasks"][0]).values())
            self.assertEqual(names, {"TP53", "TP53-1", "EGFR"}, args)
        with_codes = set().union(*self.words_of(self.json("cluster", "-k", "3", "c.h5ad", "--feature-names", "kind")["tasks"][0]).values())
        self.assertEqual(with_codes, {"CD3E", "g2", "ACTB-2"})
        self.assertIn("TP53-1", self.run_kindred("inspect", "c.h5ad", "--feature-names", "symbol", "--json").stdout + self.run_kindred("convert", "c.h5ad", "c.csv", "--feature-names", "symbol").stdout + self.read("c.csv"))
        self.fails("cluster", "-k", "3", "c.h5ad", "--feature-names", "name", code=3, says=["var has no column 'name'", "symbol", "kind"])
        self.fails("cluster", "-k", "3", "a.npy", "--feature-names", "name", code=2, says=["--feature-names", "AnnData"])
        self.fails("cluster", "-k", "3", "c.h5ad:obsm/X_pca", "--feature-names", "symbol", code=2, says=["--feature-names", "obsm", "--explain X"])

    def test_parts_of_one_anndata_file(self):
        self.cells()
        result = self.json("cluster", "-k", "3", "c.h5ad:obsm/X_pca", "--explain", "X")
        self.assertEqual(result["tasks"][0]["explained_by"], "c.h5ad:X")
        names = set().union(*self.words_of(result["tasks"][0]).values())
        self.assertEqual(names & {"g0", "g2", "g4"}, {"g0", "g2", "g4"})


def rng_of(rows, cols):
    return 3 * np.random.RandomState(11).randn(rows, cols)


if __name__ == "__main__":
    unittest.main()
