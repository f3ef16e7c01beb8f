"""Known classes of samples while clustering."""
import csv
import random
import unittest

from harness import CliTest


def table(path, seed, shift, n=60, categories=False, ids=True):
    """Three groups of n / 3 samples in a row; the ids begin with the seed."""
    rng, means = random.Random(seed), ((0, 0, 0), (2.2, 2.2, 0), (0, 2.5, 2.5))
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(["name"] * ids + ["x", "y", "z"] + ["plan"] * categories)
        for i in range(n):
            kind = i // (n // 3)
            cells = [round(m + shift + rng.gauss(0, 1), 3) for m in means[kind]]
            w.writerow([f"{seed}-{i}"] * ids + cells + ["abc"[kind if rng.random() < .7 else rng.randrange(3)]] * categories)


class Known(CliTest):
    TRUTH = ["low"] * 20 + ["mid"] * 20 + ["high"] * 20
    COMMON = ["cluster", "--id-column", "name", "--force", "-o", "out", "-q"]

    def setUp(self):
        super().setUp()
        table(self.path("a.csv"), 1, 0)
        table(self.path("b.csv"), 2, .3)

    def test_known_classes_of_no_data_set(self):
        for text in ("?", "?,?"):
            self.fails(*self.COMMON, "-k", 3, "--known", text, "a.csv", "b.csv", code=2, says="--known has no effect: it names no file")

    def known(self, name, rows, truth=None):
        """A file with the classes of some rows."""
        truth = truth or self.TRUTH
        return self.write(name, "".join((truth[i] if i in rows else "?") + "\n" for i in range(len(truth))))

    def samples(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_known_samples_keep_and_name_their_cluster(self):
        self.known("a.known", [3, 25, 47, 50])
        for method in ("auto", "kmeans"):
            with self.subTest(method=method):
                self.run_kindred(*self.COMMON, "-m", method, "-k", 3, "--known", "a.known", "a.csv")
                task = self.result()["tasks"][0]
                self.assertEqual(task["names"], ["low", "mid", "high"])
                self.assertEqual([task["labels"][i] for i in (3, 25, 47, 50)], [0, 1, 2, 2])
                self.assertEqual([c["name"] for c in task["clusters"]], ["low", "mid", "high"])
                self.assertGreater(sum(task["names"][c] == y for c, y in zip(task["labels"], self.TRUTH)), 45)
                rows = self.samples("out/a.samples.csv")
                self.assertEqual([r["name"] for r in rows], [task["names"][c] for c in task["labels"]])
                if method == "auto":
                    self.assertEqual([task["confidence"][i] for i in (3, 25, 47, 50)], [1] * 4)

    def test_ids_and_classes(self):
        """In any order, with and without a header, for any subset; one file for all data sets or one each."""
        self.known("a.known", [3, 25, 47])
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "a.known,?", "a.csv", "b.csv")
        expected = [t["labels"] for t in self.result()["tasks"]]
        pairs = [("1-3", "low"), ("1-25", "mid"), ("1-47", "high")]
        for header, delimiter, ends in (("", ",", "\n"), ("id,class\n", ",", "\r\n"), ("sample;type\n", ";", "\n"), ("", "\t", "\n")):
            self.write("pairs.csv", header + "".join(f"{i}{delimiter}{c}{ends}" for i, c in pairs))
            for files in ("pairs.csv", "pairs.csv,?"):
                self.run_kindred(*self.COMMON, "-k", 3, "--known", files, "a.csv", "b.csv")
                self.assertEqual([t["labels"] for t in self.result()["tasks"]], expected)
        self.write("pairs.csv", 'id,class\n2-50,high\n1-3,"low"\n1-47,high\n2-30,mid\n1-9,\n1-10,?\n')
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "pairs.csv", "a.csv", "b.csv")
        a, b = self.result()["tasks"]
        self.assertEqual([a["names"][a["labels"][i]] for i in (3, 47)], ["low", "high"])
        self.assertEqual([b["names"][b["labels"][i]] for i in (50, 30)], ["high", "mid"])
        # rows of data without ids have numbers from 1
        table(self.path("c.csv"), 1, 0, ids=False)
        self.write("pairs.csv", "48,high\n4,low\n26,mid\n")
        self.run_kindred("cluster", "--force", "-o", "out", "-q", "-k", 3, "--known", "pairs.csv", "c.csv")
        task = self.result()["tasks"][0]
        self.assertEqual([task["names"][task["labels"][i]] for i in (3, 25, 47)], ["low", "mid", "high"])

    def test_strange_ids(self):
        common = [*self.COMMON[:3], "-q", "-k", 3, "a.csv"]
        self.write("pairs.csv", "1-3,low\nq1,low\n1-47,high\n")
        self.fails(*common, "--known", "pairs.csv", code=3, says=["no sample has the id 'q1';", "such as '1-0'"])
        self.write("pairs.csv", "1-3,low\n" + "".join(f"q{i},low\n" for i in range(7)))
        self.fails(*common, "--known", "pairs.csv", code=3, says="no sample has the ids 'q0', 'q1', 'q2' and 4 more")
        self.write("pairs.csv", "2-3,low\n1-47,high\n2-5,low\n")
        self.fails(*common, "b.csv", "--known", "pairs.csv,?", code=3, says="no sample has the ids '2-3', '2-5'")
        self.write("pairs.csv", "1-3,low\n1-4,high\n1-3,high\n")
        self.fails(*common, "--known", "pairs.csv", code=3, says=["'1-3'", "'low' and 'high'"])
        # a class may contain a comma
        self.write("names.known", "".join(f"{c}, all\n" for c in self.TRUTH))
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "names.known", "a.csv")
        self.assertEqual(self.result()["tasks"][0]["names"], ["low, all", "mid, all", "high, all"])

    def test_known_column(self):
        rows = self.read("a.csv").splitlines()
        some = {3: "low", 25: "mid", 47: "high"}
        self.write("c.csv", "\n".join([rows[0] + ",type"] + [f"{r},{some.get(i, '')}" for i, r in enumerate(rows[1:])]) + "\n")
        self.known("a.known", [3, 25, 47])
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "a.known,?", "a.csv", "b.csv")
        expected = [(t["labels"], t["names"]) for t in self.result()["tasks"]]
        self.run_kindred(*self.COMMON, "-k", 3, "--known-column", "type", "a=c.csv", "b.csv")
        self.assertEqual([(t["labels"], t["names"]) for t in self.result()["tasks"]], expected)
        self.assertNotIn("type", self.read("out/features.csv"))
        self.assertIsNone(self.result()["tasks"][0]["metrics"])
        self.fails(*self.COMMON, "-k", 3, "--known-column", "tpye", "c.csv", code=3, says=["no class is known", "--known-column"])
        for other in (("--known", "a.known"), ("--truth", "a.known"), ("--label-column", "x")):
            self.fails(*self.COMMON, "-k", 3, "--known-column", "type", *other, "c.csv", code=2, says=["--known-column has no effect with " + other[0]])
        self.fails(*self.COMMON, "-k", 3, "-m", "ncut", "--known-column", "type", "c.csv", code=None, says="auto, kmeans")

    def test_known_classes_are_evidence_for_k(self):
        def words(*arguments):
            self.run_kindred(*self.COMMON, "-k", "auto", *arguments, "a.csv")
            return self.result()["tasks"][0]["k"], self.result()["method_fields"]["k_evidence"]
        k, text = words()
        self.assertNotIn("classes", text)
        self.known("a.known", [3, 47])
        self.assertEqual(words("--known", "a.known")[0], 3)
        self.assertIn("k = 3, although only 2 classes are known", words("--known", "a.known")[1])
        self.known("a.known", [3, 25, 47])
        self.assertIn("k = 3, also the number of known classes", words("--known", "a.known")[1])
        self.known("a.known", [3, 10, 25, 47, 55], ["low"] * 10 + ["low2"] * 10 + self.TRUTH[20:50] + ["high2"] * 10)
        k, text = words("--known", "a.known")
        self.assertEqual(k, 5)
        self.assertIn("k = 5, the number of known classes; without them, k would be 3", text)
        for name, seed in (("s", 4), ("t", 5)):
            table(self.path(f"{name}.csv"), seed, 0, n=90, categories=True)
        self.known("s.known", [1, 40, 70], ["low"] * 30 + ["mid"] * 30 + ["high"] * 30)
        self.run_kindred(*self.COMMON, "-k", "auto", "--known", "s.known,?", "s.csv", "t.csv")
        self.assertEqual(self.result()["tasks"][0]["k"], 3)
        self.assertIn("known classes", self.result()["method_fields"]["k_evidence"])

    def test_the_reason_for_k_is_printed_once(self):
        table(self.path("s.csv"), 4, 0, n=90, categories=True)
        self.known("s.known", [1, 40, 70], ["low"] * 30 + ["mid"] * 30 + ["high"] * 30)
        self.known("a.known", [3, 25, 47])
        for known, files, reasons in (("s.known", ["s.csv"], 1), ("a.known", ["a.csv"], 1), ("a.known,?", ["a.csv", "b.csv"], 1), ("a.known,?", ["a.csv", "b.csv"], 2)):
            for detail in ([], ["-v"]):
                printed = self.run_kindred(*self.COMMON[:-1], "-k", ",".join(["auto"] * reasons), "--known", known, *detail, *files).stdout
                self.assertEqual(printed.count("only a suggestion"), reasons, printed)
                self.assertEqual(printed.count("known class"), reasons, printed)

    def test_a_wrong_class_is_kept(self):
        self.known("a.known", [3, 4, 5, 25, 47], ["high"] + self.TRUTH[1:3] + ["high", "low", "low"] + self.TRUTH[6:])
        for method in ("auto", "kmeans"):
            self.run_kindred(*self.COMMON, "-m", method, "-k", 3, "--known", "a.known", "a.csv")
            task = self.result()["tasks"][0]
            self.assertEqual([task["names"][task["labels"][i]] for i in (3, 4, 5, 25, 47)], ["high", "low", "low", "mid", "high"])

    def test_other_clusters_stay_unnamed(self):
        self.known("a.known", [25, 26])
        for method in ("auto", "kmeans"):
            self.run_kindred(*self.COMMON, "-m", method, "-k", 3, "--known", "a.known", "a.csv")
            self.assertEqual(self.result()["tasks"][0]["names"], ["mid", None, None])
        page = self.run_kindred("report", "out/result.json", "--force", "-o", "page.html")
        self.assertIn('"mid"', self.read("page.html"))
        self.assertEqual(page.returncode, 0)

    def test_classes_have_one_number_in_all_data_sets(self):
        self.known("a.known", [3, 25, 47])
        self.known("b.known", [50, 30])
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "a.known,b.known", "a.csv", "b.csv")
        a, b = self.result()["tasks"]
        self.assertEqual((a["labels"][3], a["labels"][25], a["labels"][47]), (0, 1, 2))
        self.assertEqual((b["labels"][50], b["labels"][30]), (2, 1))
        self.assertEqual(b["names"][1:], ["mid", "high"])
        for m in self.result()["correspondence"]:
            for c in (1, 2):
                self.assertEqual(max(range(3), key=lambda z: m["matrix"][c][z]), c)
        # a data set without known classes gets numbers and names from its counterparts
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "?,b.known", "a.csv", "b.csv")
        a, b = self.result()["tasks"]
        self.assertEqual(b["names"][:2], ["mid", "high"])
        for m in self.result()["correspondence"]:
            for c in (0, 1):
                if m["to"] in (0, "a") and m["matrix"][c][c] == max(map(max, m["matrix"])):
                    self.assertEqual(a["names"][c], b["names"][c])

    def test_numbers_of_clusters_are_kept(self):
        """Integers below k are cluster numbers, as those of an earlier run."""
        self.known("a.known", [3, 47], ["2"] * 20 + ["1"] * 20 + ["0"] * 20)
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "a.known", "a.csv")
        task = self.result()["tasks"][0]
        self.assertEqual(task["names"], ["0", None, "2"])
        self.assertEqual((task["labels"][3], task["labels"][47]), (2, 0))

    def test_bad_input(self):
        common = [*self.COMMON[:3], "-q", "a.csv"]
        self.known("a.known", [3, 25, 47])
        self.fails(*common, "-k", 2, "--known", "a.known", code=2, says=["3 classes are known", "at least 3"])
        self.fails(*common, "-k", "2-5", "--known", "a.known", code=2, says=["k begins at 2", "3 classes are known"])
        for method in ("ncut", "snmf"):
            self.fails(*common, "-k", 3, "-m", method, "--known", "a.known", code=None, says=[f"'{method}'", "auto, kmeans"])
        self.fails(*common, "b.csv", "-k", 3, "--known", "a.known", code=3, says=["one file of known classes for 2 data sets", "id and class"])
        self.fails(*common, "b.csv", "-k", 3, "--known", "a.known,a.known,?", code=2, says="--known has 3 files for 2 data sets")
        self.write("short", "low\n?\n")
        self.fails(*common, "-k", 3, "--known", "short", code=3, says=["2 known labels", "60 samples"])
        self.fails(*common, "-k", 3, "--known", "nowhere", code=None, says="nowhere")

    def test_ranges_of_k_keep_the_numbers_of_classes(self):
        self.known("a.known", [3, 25])
        self.run_kindred(*self.COMMON, "-k", "2-5", "--known", "a.known", "a.csv")
        for level in self.result()["levels"]:
            task = level["tasks"][0]
            self.assertEqual((task["labels"][3], task["labels"][25]), (0, 1), level["k"])
            self.assertEqual(task["names"][:2], ["low", "mid"])
        self.run_kindred("cut", "out/result.json", "-k", 4, "--force", "-o", "four")
        self.assertEqual([self.samples("four/a.samples.csv")[i]["name"] for i in (3, 25)], ["low", "mid"])
        self.known("a.known", [3, 25, 47])
        self.run_kindred(*self.COMMON, "-k", "auto", "--known", "a.known", "a.csv")
        self.assertGreaterEqual(self.result()["tasks"][0]["k"], 3)

    def test_tables_with_categories(self):
        for name, seed in (("s", 4), ("t", 5)):
            table(self.path(f"{name}.csv"), seed, 0, n=90, categories=True)
        truth = ["low"] * 30 + ["mid"] * 30 + ["high"] * 30
        self.known("s.known", [1, 40, 70, 71], truth)
        self.run_kindred(*self.COMMON, "-k", 3, "--known", "s.known,?", "s.csv", "t.csv")
        task = self.result()["tasks"][0]
        self.assertEqual([task["labels"][i] for i in (1, 40, 70, 71)], [0, 1, 2, 2])
        self.assertEqual(task["names"], ["low", "mid", "high"])
        self.assertEqual([task["confidence"][i] for i in (1, 40)], [1, 1])

    def test_any_number_of_threads_dense_and_sparse(self):
        self.known("a.known", [3, 25, 47])
        rows = [[float(r[c]) for c in "xyz"] for r in self.samples("a.csv")]
        self.write("s.mtx", "%%MatrixMarket matrix coordinate real general\n60 3 180\n" +
                   "".join(f"{i + 1} {j + 1} {v!r}\n" for i, r in enumerate(rows) for j, v in enumerate(r)))
        self.write("s.csv", "x,y,z\n" + "".join(",".join(map(repr, r)) + "\n" for r in rows))
        for method in ("auto", "kmeans"):
            found = []
            for name, threads in (("s.csv", 1), ("s.csv", 3), ("s.mtx", 1)):
                self.run_kindred("cluster", "--force", "-o", "out", "-q", "-m", method, "--weight", "none", "-k", 3, "--threads", threads, "--known", "a.known", name)
                found.append(self.read("out/s.labels"))
            self.assertEqual(found[0], found[1])
            self.assertEqual(found[0], found[2])


if __name__ == "__main__":
    unittest.main()
