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
        self.fails("cluster", "-k", "3", "a.npy", "b.npy", "--explain", "a.csv", "--text-column", "body", code=2,
                   says=["--explain has 1 file for 2 data files; give one for each", "X or obsm/NAME"])
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "none.csv", "--text-column", "body", code=3, says=["none.csv"])
        self.write("empty.csv", "key,body\n")
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "empty.csv", "--text-column", "body", code=3, says=["empty.csv"])
        self.write("a.ids", "".join(f"a{i}\n" for i in range(44)) + "a3\n")
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--id-column", "key", code=3, says=["'a3'", "45", "4"])
        self.write("a.ids", "".join(f"z{i}\n" for i in range(45)))
        self.fails("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--id-column", "key", code=3, says=["'z0'", "'a0'"])

    def test_options_of_files_are_for_the_data(self):
        """Texts have no other columns, so these options change what samples are compared by."""
        rows = [[f"{v:.4f}" for v in row] for row in np.load(self.path("a.npy"))]
        rows[3][5] = ""
        self.write("t.csv", "\n".join([",".join(f"e{j}" for j in range(24)), *map(",".join, rows)]) + "\n")
        explained = ["--explain", "a.csv", "--text-column", "body"]
        result = self.json("cluster", "-k", "3", "t.csv", *explained, "--missing", "mean", "--columns", "e0,e1,e2,e3,e4,e5,e6,e7")
        self.assertEqual(result["tasks"][0]["d"], 8)
        self.check_words(result)
        self.fails("cluster", "-k", "3", "a.csv", "--text-column", "body", "--missing", "mean", code=2, says=["--missing", "--text-column"])

    def test_written_as_anndata(self):
        self.run_kindred("cluster", "-k", "3", "a.npy", "b.npy", "--explain", "a.csv,b.csv", "--text-column", "body", "--write-h5ad", "w.h5ad", "-q", "-o", "out")
        for task in self.result()["tasks"]:
            with h5py.File(self.path(f"w-{task['name']}.h5ad")) as f:
                self.assertEqual(f["X"].shape, (task["n"], 24))
                self.assertEqual(f["obs/kindred/codes"][:].tolist(), task["labels"])

    def test_titles_in_samples(self):
        """A title is the name of a cluster until it gets another: in samples.csv, with relabel and with predict."""
        self.run_kindred("cluster", "-k", "3", "a.npy", "--explain", "a.csv", "--text-column", "body", "--save-model", "m.h5", "-q", "-o", "out")
        titles = {str(c["number"]): c["title"] for c in self.result()["tasks"][0]["clusters"]}
        self.write("edits.json", '{"format": "kindred-edits", "version": 1, "edits": [{"do": "note", "task": "a", "samples": [3], "text": "ask"}]}')
        self.run_kindred("relabel", "-q", "-o", "again", "out/result.json", "edits.json")
        self.run_kindred("predict", "--model", "m.h5", "-q", "-o", "p.labels", "a.npy")
        for path in ("out/a.samples.csv", "again/a.samples.csv", "p.samples.csv"):
            with open(self.path(path), newline="") as f:
                rows = list(csv.DictReader(f))
            self.assertEqual(list(rows[0])[:4], ["id", "cluster", "name", "confidence"], path)
            self.assertTrue(all(r["name"] == titles[r["cluster"]] for r in rows), path)
        self.run_kindred("cluster", "-k", "3", "a.npy", "-q", "-o", "plain")  # columns without names give no titles
        self.assertTrue(self.read("plain/a.samples.csv").startswith("id,cluster,confidence,"))

    def test_splits_rank_words_as_titles_do(self):
        """A word that one side lacks comes before one that differs by more standard deviations."""
        np.save(self.path("s.npy"), np.array([0, 4, 40])[np.arange(60) % 3, None] + .1 * np.random.RandomState(1).randn(60, 24))
        self.write("s.csv", "body\n" + "".join(self.line(i) + "\n" for i in range(60)))
        result = self.json("cluster", "-m", "kmeans", "-k", "2-3", "s.npy", "--explain", "s.csv", "--text-column", "body", "--min-df", "1")
        (split,) = result["levels"][1]["tasks"][0]["splits"]
        found = {f["name"]: (place, abs(f["effect"])) for place, f in enumerate(split["features"])}
        self.assertLess(found["beta"][0], found["oven"][0])
        self.assertLess(found["beta"][1], found["oven"][1])

    @staticmethod
    def line(i):
        """oven: in all texts of two groups and in 40 % of the third; beta: in 45 % of the first."""
        n = i // 3
        return ["oven cup" + " beta" * (n % 20 < 9), "cup" + " oven" * (n % 5 < 2), "oven cup"][i % 3]

    def halves(self, name, n):
        """Embeddings tell topics 0 and 2 apart, texts 0 and 1: only both tell all three."""
        rng = np.random.RandomState(n)
        np.save(self.path(f"{name}.npy"), np.eye(2)[np.array([0, 0, 1])[np.arange(n) % 3]] @ rng_of(2, 24) + .1 * rng.randn(n, 24))
        self.write(f"{name}.txt.csv", "body,topic\n" + "".join(f"{self.text([0, 1, 0][i % 3])},t{i % 3}\n" for i in range(n)))

    def test_both_views_compare(self):
        self.halves("p", 60)
        self.halves("q", 48)
        views = ["--explain", "p.txt.csv,q.txt.csv", "--text-column", "body", "--label-column", "topic"]

        def accuracy(*args):
            return min(t["metrics"]["acc"] for t in self.json("cluster", "-k", "3", "p.npy", "q.npy", *views, "--score", *args)["tasks"])
        self.assertLess(accuracy(), .9)
        self.assertEqual(accuracy("--both-views"), 1)
        out = self.run_kindred("cluster", "-k", "3", "p.npy", "q.npy", *views, "--both-views", "--report", "-o", "out")
        self.assertIn("samples are compared by both views", out.stdout)
        self.assertIn("rocket", set().union(*self.words_of(self.result()["tasks"][0]).values()))
        labels = "".join(f"t{i % 3}\n" for i in range(60))
        self.write("p.classes", labels)
        target = ["transfer", "-m", "logreg", "--source", "p.npy", "--labels", "p.classes", "--target", "q.npy", "--text-column", "body", "--label-column", "topic"]
        one, both = (self.json(*target, "--explain", *more)["tasks"][-1]["metrics"]["acc"] for more in (["q.txt.csv"], ["p.txt.csv,q.txt.csv", "--both-views"]))
        self.assertLess(one, .9)
        self.assertEqual(both, 1)
        # A run with several numbers of clusters or k = auto does not combine twice.
        for k in ("2-4", "auto"):
            self.assertEqual(self.json("cluster", "-k", k, "p.npy", "q.npy", *views, "--both-views")["tasks"][0]["d"], self.result()["tasks"][0]["d"])
        self.fails("cluster", "-k", "3", "p.npy", "--both-views", code=2, says=["--both-views", "--explain"])
        self.fails("cluster", "-k", "3", "p.npy", "--explain", "p.txt.csv", "--text-column", "body", "--both-views", "--save-model", "m.h5", code=2, says=["--save-model", "--both-views"])
        self.fails(*target, "--explain", "q.txt.csv", "--both-views", code=2, says=["--explain has 1 file for 2"])

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
        result = self.json("cluster", "-k", "3", "c.h5ad:obsm/X_pca", "--explain", "X", "--write-h5ad", "w.h5ad")
        with h5py.File(self.path("w.h5ad")) as f:
            titles = f["obs/kindred_title/categories"].asstr()[:].tolist()
            self.assertEqual(f["obs/kindred_title/codes"][:].tolist(), result["tasks"][0]["labels"])
            self.assertIn("kindred_title", f["obs"].attrs["column-order"].tolist())
        self.assertEqual(titles, [c["title"] for c in result["tasks"][0]["clusters"]])
        self.assertEqual(result["tasks"][0]["explained_by"], "c.h5ad:X")
        names = set().union(*self.words_of(result["tasks"][0]).values())
        self.assertEqual(names & {"g0", "g2", "g4"}, {"g0", "g2", "g4"})


def rng_of(rows, cols):
    return 3 * np.random.RandomState(11).randn(rows, cols)


if __name__ == "__main__":
    unittest.main()
