"""Class probabilities from every transfer method, and the hint about units."""
import csv
import json
import math
import random
import unittest

from harness import CliTest


def classes_of_two(n, seed, noise):
    """Two classes along x; a share of labels is wrong, so that no sample is certain."""
    r, rows, labels = random.Random(seed), [], []
    for i in range(n):
        c = i % 2
        rows.append((c * 2 + r.gauss(0, 1), r.gauss(0, 1), r.gauss(0, 1)))
        labels.append("ab"[c if r.random() > noise else 1 - c])
    return "x,y,z\n" + "".join("%.6f,%.6f,%.6f\n" % row for row in rows), labels


class Probabilities(CliTest):
    def setUp(self):
        super().setUp()
        self.methods = [m["id"] for m in json.loads(self.run_kindred("methods", "--json").stdout)
                        if m["family"] == "transfer"]

    def test_every_method_has_them(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", "60,40,40", "--words", 150, "--seed", 5, "-q",
                         "-o", "data")
        self.assertGreater(len(self.methods), 10)
        for method in self.methods:
            bridge = ("--bridge", "data/task3.mtx") if method in ("ttl", "nmtf") else ()
            args = ["transfer", "-m", method, "--source", "data/task1.mtx", "--labels", "data/task1.labels", "--target",
                    "data/task2.mtx", *bridge, "--weight", "tfidf", "--norm", "l2", "--probabilities", "-q", "-o", "out", "--force",
                    "--arrays", "arrays"]
            if method == "trec":  # finds clusters of the target, which no class belongs to
                self.fails(*args, code=2, says=["trec", "clusters"])
                continue
            self.run_kindred(*args)
            r = self.result()
            target, calibration = r["tasks"][-1], r["calibration"]
            self.assertEqual(calibration["held_out"], 60, method)
            self.assertTrue(math.isfinite(calibration["log_loss"]), method)
            self.assertIn("shift", calibration["note"])
            p = target["probabilities"]
            self.assertEqual((len(p), len(p[0])), (target["n"], 3), method)
            for row in p:
                self.assertAlmostEqual(sum(row), 1, places=9)
                self.assertTrue(all(0 <= v <= 1 for v in row))
            for row, label in zip(p, target["labels"]):
                self.assertEqual(row[calibration["classes"].index(label)], max(row), method)
            with open(self.path("out/target.probabilities.csv"), newline="") as f:
                table = list(csv.reader(f))
            self.assertEqual(table[0], ["id", *calibration["classes"]])
            self.assertEqual([[float(v) for v in row[1:]] for row in table[1:]], p)

    def test_they_are_calibrated(self):
        """If one label in five is wrong, no confidence should exceed four in five; plain shares and margins do."""
        train, labels = classes_of_two(300, 1, 0.2)
        fresh, truth = classes_of_two(400, 2, 0.2)
        self.write("s.csv", train)
        self.write("t.csv", fresh)
        self.write("s.labels", "\n".join(labels) + "\n")
        for method in ("svm", "logreg", "gfhf", "auto", "self-training"):
            self.run_kindred("transfer", "-m", method, "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv",
                             "--probabilities", "-q", "-o", "out", "--force")
            r = self.result()
            p = [dict(zip(r["calibration"]["classes"], row)) for row in r["tasks"][-1]["probabilities"]]
            loss = -sum(math.log(row[c]) for row, c in zip(p, truth)) / len(truth)
            self.assertLess(loss, 0.66, method)  # 0.5 is the best there is, 0.69 is saying nothing
            sure = [max(row.values()) for row in p]
            right = sum(row[c] > 0.5 for row, c in zip(p, truth)) / len(truth)
            self.assertAlmostEqual(sum(sure) / len(sure), right, delta=0.08, msg=method)

    def test_no_class_is_more_probable_than_the_label(self):
        """Also if a vote, a constraint on proportions or a given label decides."""
        r = random.Random(7)
        for name, classes in (("s", "abc" * 30), ("t", "a" * 40 + "bc" * 10)):
            self.write(f"{name}.csv", "x,y,z\n" + "".join(
                ",".join("%.4f" % r.gauss(1.2 * (c == d) + 0.7 * (name == "t"), 1) for d in "abc") + "\n" for c in classes))
            self.write(f"{name}.labels", "\n".join(classes) + "\n")
        self.write("known.labels", "a\nb\na\nb\n" + "?\n" * 56)
        took = 0
        for method in self.methods:
            if method in ("trec", "ttl", "nmtf"):
                continue
            for more in ([], ["--target-labels", "known.labels"]):
                done = self.run_kindred("transfer", "-m", method, "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", *more,
                                        "--scale", "minmax", "--probabilities", "-q", "-o", "out", "--force", code=None)
                if more and done.returncode:  # few methods take them
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                r = self.result()
                for row, label in zip(r["tasks"][-1]["probabilities"], r["tasks"][-1]["labels"]):
                    self.assertEqual(row[r["calibration"]["classes"].index(label)], max(row), method)
                if more:
                    took += 1
                    self.assertEqual(r["tasks"][-1]["labels"][:4], list("abab"), method)
        self.assertGreater(took, 2)

    def test_only_on_request(self):
        train, labels = classes_of_two(40, 1, 0)
        self.write("s.csv", train)
        self.write("s.labels", "\n".join(labels) + "\n")
        self.run_kindred("transfer", "-m", "svm", "--source", "s.csv", "--labels", "s.labels", "--target", "s.csv", "-q", "-o", "out")
        self.assertNotIn("calibration", self.result())
        self.assertNotIn("probabilities", self.result()["tasks"][-1])

    def test_a_class_with_one_sample_and_known_targets(self):
        train, labels = classes_of_two(40, 1, 0)
        labels[0] = "rare"
        self.write("s.csv", train)
        self.write("s.labels", "\n".join(labels) + "\n")
        self.write("known.labels", "a\n" + "?\n" * 39)
        self.run_kindred("transfer", "-m", "logreg", "--source", "s.csv", "--labels", "s.labels", "--target", "s.csv",
                         "--target-labels", "known.labels", "--probabilities", "-q", "-o", "out")
        r = self.result()
        self.assertEqual(r["calibration"]["held_out"], 39)
        first = dict(zip(r["calibration"]["classes"], r["tasks"][-1]["probabilities"][0]))
        self.assertEqual(first, {"rare": 0, "a": 1, "b": 0})


class Units(CliTest):
    def setUp(self):
        super().setUp()
        r = random.Random(3)
        self.write("mixed.csv", "grams,kilometres\n" + "".join(
            "%.3f,%.6f\n" % (r.gauss(0, 300), i % 2 * 4 + r.gauss(0, 0.3)) for i in range(80)))
        self.write("mixed.labels", "0\n1\n" * 40)

    def hint(self, *args):
        self.run_kindred("cluster", *args, "-q", "-o", "out", "--force")
        return [w for w in self.result()["warnings"] if "--scale" in w]

    def test_an_explicit_method_on_mixed_units_is_told(self):
        for method in ("ncut", "snmf", "ec", "kmeans"):
            found = self.hint("-m", method, "-k", 2, "mixed.csv")
            self.assertEqual(len(found), 1, method)
            for piece in ("grams", "kilometres", "--scale standard", method):
                self.assertIn(piece, found[0])
        before = json.loads(self.run_kindred("evaluate", "--json", "out/mixed.labels", "mixed.labels").stdout)["acc"]
        self.assertEqual(self.hint("-m", "kmeans", "-k", 2, "--scale", "standard", "mixed.csv"), [])
        after = json.loads(self.run_kindred("evaluate", "--json", "out/mixed.labels", "mixed.labels").stdout)["acc"]
        self.assertGreater(after, before + 0.2)

    def test_nobody_else_is(self):
        self.assertEqual(self.hint("-k", 2, "mixed.csv"), [])  # auto scales by itself
        self.assertEqual(self.hint("-m", "kmeans", "-k", 2, "--scale", "none", "mixed.csv"), [])  # told
        self.assertEqual(self.hint("-m", "bregman", "--set", "divergence=mahalanobis", "-k", 2, "mixed.csv"), [])
        self.run_kindred("generate", "--design", "topics", "--tasks", 1, "-k", 2, "-n", 60, "--words", 200, "-q", "-o", "text")
        self.run_kindred("generate", "--design", "blobs", "--tasks", 1, "-k", 2, "-n", 60, "-q", "-o", "blobs")
        self.assertEqual(self.hint("-m", "kmeans", "-k", 2, "text/task1.mtx"), [])
        self.assertEqual(self.hint("-m", "kmeans", "-k", 2, "blobs/task1.csv"), [])
        r = random.Random(4)  # pixels from 0 to 16: some never lit much, all on one scale
        self.write("pixels.csv", "".join(",".join(str(16 if j == i % 3 else r.randrange(0, 3 + 13 * (j % 2))) for j in range(8)) + "\n"
                                         for i in range(60)))
        self.assertEqual(self.hint("-m", "kmeans", "-k", 2, "pixels.csv"), [])

    def test_transfer_chooses_as_auto_does_and_hints_as_well(self):
        args = ["transfer", "--source", "mixed.csv", "--labels", "mixed.labels", "--target", "mixed.csv", "-q", "-o", "out", "--force"]
        self.run_kindred(*args)
        self.assertIn("standard", self.result()["preprocessing"])
        self.run_kindred(*args, "-m", "svm")
        self.assertTrue(any("--scale standard" in w for w in self.result()["warnings"]))
        self.assertNotIn("standard", self.result()["preprocessing"])


if __name__ == "__main__":
    unittest.main()
