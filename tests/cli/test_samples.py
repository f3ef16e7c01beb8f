"""Samples keep their ids, and clusters say what they are: samples.csv, features.csv, result.json."""
import collections
import csv
import math
import os
import random
import unittest

from harness import CliTest

try:
    import pandas
except ImportError:
    pandas = None

ODD = ["=1+1", "+sum", "-x", "@me", "a,b", 'say "hi"', "two\nlines", " edge ", "007", "1e5", "é ü", "tab\there", "NA", "plain"]


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Samples(CliTest):
    def table(self, name="t.csv", shift=0.0):
        """Two groups in three columns; ids that a careless writer would spoil."""
        with open(self.path(name), "w", newline="", encoding="utf-8") as f:
            w = csv.writer(f)
            w.writerow(["id", "x", "y", "z"])
            for i, name_of in enumerate(ODD):
                low = i % 2 == 0
                w.writerow([name_of] + [round((1 if low else 9) + shift + 0.1 * ((i * (j + 2)) % 5), 3) for j in range(3)])
        return self.path(name)

    def test_ids_travel(self):
        self.table()
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--id-column", "id", "--raw-cells", "-q", "-o", "out", "t.csv")
        task, found = self.result()["tasks"][0], rows(self.path("out/t.samples.csv"))
        self.assertEqual([r["id"] for r in found], [name.strip() for name in ODD])
        self.assertEqual(task["ids"], [r["id"] for r in found])
        self.assertEqual([int(r["cluster"]) for r in found], task["labels"])
        self.assertEqual([int(line) for line in self.read("out/t.labels").split()], task["labels"])
        self.assertEqual([float(r["confidence"]) for r in found], task["confidence"])
        self.assertEqual(task["confidence_from"], "distance")
        self.assertTrue(all(0.5 < c <= 1 for c in task["confidence"]))
        self.assertEqual([int(r["second"]) for r in found], task["second"])
        self.assertEqual(task["second"], [1 - label for label in task["labels"]])
        if pandas:
            again = pandas.read_csv(self.path("out/t.samples.csv"), dtype={"id": str}, keep_default_na=False,
                                    float_precision="round_trip")
            self.assertEqual(list(again["id"]), [name.strip() for name in ODD])
            self.assertEqual(list(again["confidence"]), task["confidence"])
        text = self.read("out/t.samples.csv")
        for name in ("=1+1", "+sum", "-x", "@me", "007"):
            self.assertIn(f'"{name}",', text)

    def test_samples_without_ids_are_numbered(self):
        self.write("n.csv", "a,b\n" + "".join(f"{i % 2 * 5},{i % 2 * 5 + i * .1}\n" for i in range(8)))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "-o", "out", "n.csv")
        self.assertEqual([r["id"] for r in rows(self.path("out/n.samples.csv"))], [str(i + 1) for i in range(8)])
        self.assertNotIn("ids", self.result()["tasks"][0])

    def test_force_covers_them(self):
        self.table()
        os.mkdir(self.path("out"))
        for name in ("t.samples.csv", "features.csv"):
            self.write(f"out/{name}", "mine\n")
            self.fails("cluster", "-m", "kmeans", "-k", 2, "--id-column", "id", "-q", "-o", "out", "t.csv", code=2, says=name)
            self.assertEqual(self.read(f"out/{name}"), "mine\n")
            self.assertFalse(os.path.exists(self.path("out/result.json")))
            os.remove(self.path(f"out/{name}"))
        for force in ((), ("--force",)):
            self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--id-column", "id", "-q", "-o", "out", *force, "t.csv")
        self.assertEqual(len(rows(self.path("out/t.samples.csv"))), len(ODD))
        self.assertEqual(self.leftovers(), [])

    def test_a_cluster_low_in_everything_says_so(self):
        self.table()
        printed = self.run_kindred("cluster", "-v", "-m", "kmeans", "-k", 2, "--id-column", "id", "-o", "out", "t.csv").stdout
        low = next(line for line in printed.splitlines() if line.startswith("  t 0:"))
        for feature in "xyz":
            self.assertRegex(low, rf"\b{feature} [0-9.]+ \(others [0-9.]+\) \(-")
        clusters = self.result()["tasks"][0]["clusters"]
        self.assertEqual({f["name"] for f in clusters[0]["features"]}, set("xyz"))
        for inside, outside in zip(clusters[0]["features"], clusters[1]["features"]):
            self.assertLess(inside["effect"], 0)
            self.assertAlmostEqual(inside["effect"], -outside["effect"])
            self.assertNotIn("share_inside", inside)
        table = rows(self.path("out/features.csv"))
        self.assertEqual([(r["cluster"], r["feature"], float(r["effect"])) for r in table],
                         [(str(c["number"]), f["name"], f["effect"]) for c in clusters for f in c["features"]])
        self.assertEqual({r["share_inside"] for r in table}, {""})

    def test_what_hardly_differs_is_left_out(self):
        """A column of noise is not a feature of a cluster, and a cluster without any is reported as such."""
        self.write("noise.csv", "a,same\n" + "".join(f"{i % 2 * 9},{(i // 2 * 7919) % 100}\n" for i in range(200)))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--scale", "standard", "-q", "-o", "out", "noise.csv")
        for cluster in self.result()["tasks"][0]["clusters"]:
            self.assertEqual([f["name"] for f in cluster["features"]], ["a"])

    def test_counts_have_shares_whatever_the_method(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 2, "-k", 3, "-n", "60,40", "--words", 200, "--seed", 5, "-q",
                         "-o", "data")
        tasks = ["data/task1.mtx", "data/task2.mtx"]
        for method in ("auto", "kmeans", "ncut", "snmf", "mbc", "lssmtc"):
            self.run_kindred("cluster", "-m", method, "-k", 3, "--weight", "tfidf", "--norm", "l2", "-q", "-o", "out", "--force",
                             *tasks)
            for task in self.result()["tasks"]:
                self.assertEqual(len(task["second"]), task["n"])
                self.assertTrue(all(a != b for a, b in zip(task["labels"], task["second"])))
                for cluster in task["clusters"]:
                    effects = [f["effect"] for f in cluster["features"]]
                    self.assertEqual(effects, sorted(effects, key=abs, reverse=True))
                    self.assertTrue(min(effects) < 0 < max(effects), method)
                    for f in cluster["features"]:
                        self.assertEqual(f["effect"] > 0, f["mean_inside"] > f["mean_outside"])
                        self.assertTrue(0 <= f["share_inside"] <= 1 and 0 <= f["share_outside"] <= 1)

    def test_predict_writes_them_beside_its_labels(self):
        self.table()
        self.table("new.csv", 0.05)
        for method in ("kmeans", "auto"):
            self.run_kindred("cluster", "-m", method, "-k", 2, "--id-column", "id", "-q", "-o", "out", "--force", "--save-model", "m.h5",
                             "t.csv")
            self.run_kindred("predict", "--model", "m.h5", "--id-column", "id", "-o", "new.labels", "--raw-cells", "--force", "new.csv")
            found = rows(self.path("new.samples.csv"))
            self.assertEqual([r["id"] for r in found], [name.strip() for name in ODD])
            self.assertEqual([r["cluster"] for r in found], self.read("new.labels").split())
            self.assertEqual([r["second"] for r in found], [str(1 - int(r["cluster"])) for r in found])
            self.assertTrue(all(0.5 < float(r["confidence"]) <= 1 for r in found), method)
        self.fails("predict", "--model", "m.h5", "--id-column", "id", "-o", "other.labels", "--force", "none.csv", code=3, says="none.csv")
        self.write("late.samples.csv", "mine\n")
        self.fails("predict", "--model", "m.h5", "--id-column", "id", "-o", "late.labels", "new.csv", code=2, says="late.samples.csv")
        self.assertFalse(os.path.exists(self.path("late.labels")))

    def test_predict_writes_into_a_folder(self):
        self.table()
        self.table("new.csv", 0.05)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--id-column", "id", "-q", "-o", "out", "--save-model", "m.h5", "t.csv")
        common = ("predict", "--model", "m.h5", "--id-column", "id")
        self.run_kindred(*common, "-o", "new.labels", "new.csv")
        self.run_kindred(*common, "-o", "out", "new.csv")  # a folder that exists
        self.run_kindred(*common, "-o", "further/off/", "named=new.csv")  # or is named as one
        for name in ("out/new", "further/off/named"):
            self.assertEqual(self.read(name + ".labels"), self.read("new.labels"))
            self.assertEqual(self.read(name + ".samples.csv"), self.read("new.samples.csv"))
        self.fails(*common, "-o", "out", "new.csv", code=2, says="out/new.labels")
        self.run_kindred(*common, "-o", "out", "--force", "new.csv")

    def test_quiet_prints_no_warnings(self):
        self.table()
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--id-column", "id", "-q", "-o", "out", "--save-model", "m.h5", "t.csv")
        self.write("less.csv", "id,x\na,1\nb,2\n")
        common = ("predict", "--model", "m.h5", "--id-column", "id", "less.csv")
        self.assertIn("warning: ", self.run_kindred(*common).stderr)
        self.assertEqual(self.run_kindred(*common, "-q").stderr, "")
        self.fails(*common, "-q", "--strict", code=3, says="--strict")  # an error all the same

    def test_predict_of_classes_has_a_second(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 2, "-k", 3, "-n", "80,50", "--words", 200, "--seed", 5, "-q",
                         "-o", "data")
        for method in ("svm", "auto"):
            self.run_kindred("transfer", "-m", method, "--source", "data/task1.mtx", "--labels", "data/task1.labels", "--target",
                             "data/task2.mtx", "--weight", "tfidf", "--norm", "l2", "-q", "-o", "out", "--force", "--save-model", "m.h5")
            self.run_kindred("predict", "--model", "m.h5", "--task", "target", "-o", "again.labels", "--force", "data/task2.mtx")
            found = rows(self.path("again.samples.csv"))
            self.assertEqual([r["class"] for r in found], self.read("again.labels").split())
            self.assertTrue(all(r["second"] in ("c0", "c1", "c2") and r["second"] != r["class"] for r in found))
            self.assertTrue(all(1 / 3 <= float(r["confidence"]) <= 1 for r in found))

    def test_rows_left_out_are_listed(self):
        self.write("holes.csv", "name,a,b\n" + "".join(f"s{i},{i % 2 * 5},{'' if i in (2, 5) else i % 2 * 5 + i * .1}\n" for i in range(9)))
        printed = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--id-column", "name", "--missing", "drop-row", "-o", "out",
                                   "holes.csv").stdout
        task = self.result()["tasks"][0]
        self.assertEqual([(l["row"], l["id"]) for l in task["left_out"]], [(3, "s2"), (6, "s5")])
        self.assertTrue(all("b" in l["reason"] for l in task["left_out"]))
        self.assertEqual(task["ids"], [f"s{i}" for i in range(9) if i not in (2, 5)])
        self.assertIn("2 rows were skipped", printed)

    def test_transfer_says_the_same_of_classes(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 2, "-k", 3, "-n", "80,50", "--words", 200, "--seed", 5, "-q",
                         "-o", "data")
        for method, source in (("auto", "method"), ("svm", "softmax"), ("logreg", "share"), ("gfhf", "share")):
            self.run_kindred("transfer", "-m", method, "--source", "data/task1.mtx", "--labels", "data/task1.labels", "--target",
                             "data/task2.mtx", "--weight", "tfidf", "--norm", "l2", "-q", "-o", "out", "--force")
            target, found = self.result()["tasks"][-1], rows(self.path("out/target.samples.csv"))
            more = ["unlike_source", "target_cluster"] if method == "auto" else []
            self.assertEqual(list(found[0]), ["id", "class", "confidence", "second", *more])
            self.assertEqual([r["class"] for r in found], target["labels"])
            self.assertEqual([r["second"] or None for r in found], target["second"])
            self.assertEqual(target["confidence_from"], source)
            self.assertEqual({c["class"] for c in target["clusters"]}, {"c0", "c1", "c2"})
            self.assertEqual({r["class"] for r in rows(self.path("out/features.csv"))}, {"c0", "c1", "c2"})


class RankSums(CliTest):
    def test_p_values_of_many_samples(self):
        """Values that are negative, zero or tied, in columns long enough to be sorted by their bytes."""
        rng = random.Random(5)
        table = [[rng.gauss(8 * (i % 2), 1), rng.randint(-3, 3) + i % 2, rng.gauss(0.5 * (i % 2), 1) * 10.0 ** rng.randint(-2, 0), rng.choice([0, 0, -1.5, 2]) + i % 2]
                 for i in range(2400)]
        self.write("x.csv", "a,b,c,d\n" + "".join(",".join(repr(v) for v in row) + "\n" for row in table))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--weight", "none", "--set", "n_init=1", "-q", "-o", "out", "x.csv", "--init", self.write("first.labels", "0\n1\n" * 1200), "--set", "max_iter=0")
        labels = [int(line) for line in self.read("out/x.labels").split()]
        found = rows(self.path("out/features.csv"))
        self.assertEqual(len(found), 8, self.read("out/features.csv"))
        for r in found:
            values = [row["abcd".index(r["feature"])] for row in table]
            order, ranks, ties, i = sorted(values), {}, 0, 0
            for v, many in sorted(collections.Counter(order).items()):
                ranks[v], ties, i = i + (many + 1) / 2, ties + many ** 3 - many, i + many
            n, inside = len(values), [ranks[v] for v, c in zip(values, labels) if c == int(r["cluster"])]
            n1 = len(inside)
            u, mean = sum(inside) - n1 * (n1 + 1) / 2, n1 * (n - n1) / 2
            variance = n1 * (n - n1) / 12 * (n + 1 - ties / (n * (n - 1)))
            expected = min(1, math.erfc((abs(u - mean) - 0.5) / math.sqrt(2 * variance)))
            self.assertAlmostEqual(float(r["exploratory_p"]), expected, delta=1e-6 * expected)


if __name__ == "__main__":
    unittest.main()
