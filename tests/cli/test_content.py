"""Rows without content: one entry per row in every output, no label, and the reason."""
import csv
import random
import unittest

from harness import CliTest

TEXTS = ["the delivery was late and the parcel broken", "late delivery again parcel lost", "", "😀😀", "great app easy login nice design",
         "the app login is nice and easy", "parcel delivery late", "😀", "nice app design", "login app easy"]
EMPTY = [2, 3, 7]


class Content(CliTest):
    def setUp(self):
        super().setUp()
        self.table("t.csv", TEXTS)

    def table(self, name, texts, classes=None):
        with open(self.path(name), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f)
            out.writerow(["nr", "body"] + (["class"] if classes else []))
            out.writerows([i + 1, t] + ([classes[i]] if classes else []) for i, t in enumerate(texts))

    def rows(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as f:
            return list(csv.DictReader(f))

    def lines(self, name):
        return self.read(name).split("\n")[:-1]

    def check(self, folder, name, column, empty=EMPTY, reason="no known words"):
        rows, labels = self.rows(f"{folder}/{name}.samples.csv"), self.lines(f"{folder}/{name}.labels")
        self.assertEqual((len(rows), len(labels)), (len(TEXTS), len(TEXTS)))
        for i, row in enumerate(rows):
            self.assertEqual((row[column] == "", row["confidence"] == "", row["reason"]), (i in empty, i in empty, reason if i in empty else ""))
            self.assertEqual(labels[i], "?" if i in empty else row[column])
        return rows

    def test_cluster_with_levels_a_model_and_the_table(self):
        r = self.run_kindred("cluster", "-k", "2-3", "--text-column", "body", "t.csv", "u=t.csv", "-o", "out", "--report", "--save-model", "m.h5", "--quality")
        self.assertIn("t: 3 texts without known words have no label (rows 3, 4, 8)", r.stdout)
        rows = self.check("out", "t", "cluster")
        self.assertEqual([row["cluster_2"] == "" for row in rows], [i in EMPTY for i in range(len(TEXTS))])
        result = self.result()
        for level in [result, *result["levels"]]:
            for task in level["tasks"]:
                self.assertEqual([i for i, c in enumerate(task["labels"]) if c == -1], EMPTY)
                self.assertEqual(sum(task["sizes"]), len(TEXTS) - len(EMPTY))
        task = result["tasks"][0]
        self.assertEqual([(u["row"], u["reason"]) for u in task["unlabelled"]], [(i + 1, "no known words") for i in EMPTY])
        self.assertFalse(set(task["embedding"]["rows"]) & set(EMPTY))
        for cluster in task["clusters"]:
            self.assertTrue(all(task["labels"][i] == cluster["number"] for i in cluster["typical"] + cluster["doubtful"]))
        self.run_kindred("cut", "-k", "2", "out/result.json", "-o", "two")
        self.check("two", "t", "cluster")
        self.write("edits.json", '{"format": "kindred-edits", "version": 1, "edits": [{"do": "merge", "cluster": 1, "into": 0}]}')
        self.run_kindred("relabel", "--report", "-o", "edited", "out/result.json", "edits.json")
        self.check("edited", "u", "cluster")
        self.check("edited", "t", "cluster")
        self.run_kindred("predict", "--model", "m.h5", "--task", "t", "--text-column", "body", "t.csv", "-o", "new.labels")
        self.assertEqual([i for i, line in enumerate(self.lines("new.labels")) if line == "?"], EMPTY)
        self.assertEqual({row["reason"] for row in self.rows("new.samples.csv")}, {"", "no known words"})
        self.table("unknown.csv", ["xylophon zither", "late parcel"] * 5)
        r = self.run_kindred("predict", "--model", "m.h5", "--task", "t", "--text-column", "body", "unknown.csv")
        self.assertEqual(r.stdout.split("\n")[0], "?")
        self.assertIn("5 texts without known words have no label (rows 1, 3, 5, ...)", r.stderr)
        self.run_kindred("cluster", "--into", "m.h5", "v=t.csv", "--text-column", "body", "-o", "more")
        self.check("more", "v", "cluster")

    def test_write_table_has_an_empty_cell(self):
        self.run_kindred("cluster", "-k", "2", "--text-column", "body", "t.csv", "-o", "out", "--write-table", "w.csv")
        self.assertEqual([i for i, row in enumerate(self.rows("w.csv")) if row["cluster"] == ""], EMPTY)

    def test_the_other_samples_have_the_labels_of_a_run_without_these(self):
        self.table("full.csv", [t for i, t in enumerate(TEXTS) if i not in EMPTY])
        for name in ("t", "full"):
            self.run_kindred("cluster", "-k", "2", "--text-column", "body", name + ".csv", "-o", name)
        self.assertEqual([c for c in self.lines("t/t.labels") if c != "?"], self.lines("full/full.labels"))

    def test_known_classes_and_initial_labels_keep_their_rows(self):
        known = ["?"] * len(TEXTS)
        known[2], known[4], known[6] = "delivery", "app", "delivery"  # row 3 has no content
        self.write("known.txt", "\n".join(known) + "\n")
        self.run_kindred("cluster", "-k", "2", "--text-column", "body", "--id-column", "nr", "t.csv", "--known", "known.txt", "-o", "out")
        self.assertEqual([row["name"] for row in self.check("out", "t", "cluster")], ["delivery", "delivery", "", "", "app", "app", "delivery", "", "app", "app"])
        self.write("init.txt", "\n".join("0010110011") + "\n")
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2", "--text-column", "body", "t.csv", "--init", "init.txt", "-o", "started")
        self.assertEqual(self.lines("started/t.labels"), list("00??110?11"))

    def test_transfer(self):
        classes = ["late", "late", "good", "late", "good", "good", "late", "good", "good", "good"]
        self.table("s.csv", TEXTS, classes)
        common = ["transfer", "--source", "s.csv", "--label-column", "class", "--target", "t.csv", "--text-column", "body", "--report"]
        r = self.run_kindred(*common, "--probabilities", "-o", "out")
        self.assertIn("target: 3 texts without known words have no label", r.stdout)
        rows = self.check("out", "target", "class")
        self.assertEqual([row["class"] for row in rows], [c if i not in EMPTY else "" for i, c in enumerate(classes)])
        self.assertEqual([i for i, row in enumerate(self.rows("out/target.probabilities.csv")) if row["late"] == ""], EMPTY)
        self.run_kindred(*common, "--abstain", "0.2", "-o", "less")
        reasons = [row["reason"] for row in self.rows("less/target.samples.csv")]
        self.assertEqual([i for i, r in enumerate(reasons) if r == "no known words"], EMPTY)
        self.assertGreater(reasons.count("low confidence"), 0)
        asked = ["row,id,class,suggested\n", "9,10,good,\n"]
        self.write("asked.csv", "".join(asked))
        self.run_kindred(*common, "--target-labels", "asked.csv", "-o", "known")
        self.assertEqual(self.rows("known/target.samples.csv")[8]["confidence"], "1")

    def test_sparse_rows_without_entries_and_rows_without_values(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n5 3 6\n1 1 3\n1 2 1\n2 1 4\n4 3 2\n5 3 5\n5 2 1\n")
        r = self.run_kindred("cluster", "-k", "2", "a.mtx", "-o", "sparse")
        self.assertIn("a: 1 sample without entries has no label (row 3)", r.stdout)
        self.assertEqual(self.lines("sparse/a.labels")[2], "?")
        self.write("b.csv", "x,y,c\n1,2,a\n2,3,b\n,,\n10,11,a\n11,12,b\n0,0,\n")
        r = self.run_kindred("cluster", "-k", "2", "b.csv", "-o", "dense")
        self.assertIn("b: 1 sample without any value has no label (row 3)", r.stdout)
        self.assertEqual([c == "?" for c in self.lines("dense/b.labels")], [False, False, True, False, False, False])  # zeros are values
        self.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n5 3 1\n1 1 0\n")
        self.fails("cluster", "-k", "2", "none.mtx", "-o", "no", code=3, says=["data set none", "no sample has content", "no entries"])


    def test_embeddings_of_zeros(self):
        draw = random.Random(1)
        rows = [[draw.gauss(2 if j % 3 == i % 2 else 0, 1) for j in range(80)] for i in range(40)]
        rows[5] = [0] * 80
        self.write("e.csv", "\n".join(",".join(map(str, r)) for r in rows) + "\n")
        self.assertIn("appear to be embeddings: samples are compared by cosine", self.run_kindred("inspect", "e.csv").stdout)
        r = self.run_kindred("cluster", "-k", "2", "e.csv", "-o", "out", "--save-model", "m.h5")
        self.assertIn("e: 1 embedding of zeros has no label (row 6)", r.stdout)
        self.assertEqual([i for i, c in enumerate(self.lines("out/e.labels")) if c == "?"], [5])
        self.assertEqual((self.result()["data"], self.rows("out/e.samples.csv")[5]["reason"]), ("embeddings", "all values are 0"))
        self.run_kindred("predict", "--model", "m.h5", "e.csv", "-o", "new.labels")
        self.assertEqual(self.lines("new.labels"), self.lines("out/e.labels"))


if __name__ == "__main__":
    unittest.main()
