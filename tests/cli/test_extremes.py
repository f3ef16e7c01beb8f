"""What data can lack or be too much of: missing features, extreme values, identical rows."""
import json
import os
import random
import unittest

from harness import CliTest


def table(names, rows):
    return ",".join(names) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)


def blobs(n=60):
    """Three clusters that differ in all of four columns, of which one is large."""
    return [[(i % 3) * 10 + (i * 7 % 5) / 5, (i % 3) * 1000 + i * 3 % 7, -(i % 3) * 8 + (i * 5 % 3) / 3, i * 11 % 4 / 4 + 5 * (i % 3)]
            for i in range(n)]


class Limits(CliTest):
    def test_predict_says_which_features_are_missing(self):
        self.write("full.csv", table("abcd", blobs()))
        self.write("part.csv", table("ca", [[r[2], r[0]] for r in blobs()]))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-o", "out", "--save-model", "m.h5", "full.csv")
        done = self.run_kindred("predict", "--model", "m.h5", "full.csv")
        self.assertEqual(done.stderr, "")
        done = self.run_kindred("predict", "--model", "m.h5", "part.csv")
        self.assertEqual(len(done.stdout.splitlines()), 60)
        self.assertIn("warning: part has no feature 'b' and 'd'", done.stderr)
        self.fails("predict", "--strict", "--model", "m.h5", "part.csv", code=3, says=["'b' and 'd'", "--strict"])
        self.fails("predict", "--strict", "--model", "m.h5", "-o", "l.txt", "part.csv", code=3, says="'b' and 'd'")
        self.assertFalse(os.path.exists(self.path("l.txt")))
        self.run_kindred("predict", "--strict", "--model", "m.h5", "full.csv")

    def test_a_column_missing_in_one_file_changes_no_preprocessing(self):
        self.write("one.csv", table("abcd", blobs()))
        self.write("two.csv", table("abcd", blobs(45)))
        self.write("less.csv", table("abd", [[r[0], r[1], r[3]] for r in blobs(45)]))
        for other in ("two", "less"):
            self.run_kindred("cluster", "-k", 3, "-o", other, "one.csv", f"{other}.csv")
            self.assertIn("treated as a table: 4 numbers", json.dumps(self.result(f"{other}/result.json")["preprocessing"]))

    def test_one_extreme_cell(self):
        for value in ("1.7e308", "-1.7e308", "1e160", "1e-320"):
            rows = blobs(100)
            rows[7][2] = value
            self.write("x.csv", table("abcd", rows))
            for method in ("auto", "ncut", "kmeans", "lssmtc", "mbc", "snmf", "ec", "pca-kmeans", "asi", "mtcfir"):
                self.run_kindred("cluster", "-m", method, "-k", 3, "-o", "out", "--force", "--time-limit", 20, "x.csv")
                self.assertEqual(sum(self.result()["tasks"][0]["sizes"]), 100)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--scale", "none", "-o", "out", "--force", "--save-model",
                         "m.h5", "x.csv")

    def test_a_model_of_scaled_values_scales_new_ones(self):
        rows = [[v * 1e200 for v in r] for r in blobs()]
        self.write("x.csv", table("abcd", rows))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-o", "out", "--save-model", "m.h5", "x.csv")
        self.assertTrue([w for w in self.result()["warnings"] if "multiplied by 2^" in w])
        self.assertEqual(self.run_kindred("predict", "--model", "m.h5", "x.csv").stdout, self.read("out/x.labels"))
        self.write("y.csv", table("abcd", blobs()))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-o", "out2", "--save-model", "n.h5", "y.csv")
        self.fails("predict", "--model", "n.h5", "x.csv", code=3, says="e+20")

    def test_mtcfir_out_of_time_says_so_and_still_clusters(self):
        self.write("x.csv", table("abcd", blobs()))
        self.write("y.csv", table("abcd", blobs(45)))
        self.run_kindred("cluster", "-m", "mtcfir", "-k", 3, "--time-limit", 1e-9, "-o", "out", "x.csv", "y.csv")
        r = self.result()
        self.assertEqual(r["stop"], "time")
        self.assertIn("data sets were not finished", " ".join(r["warnings"]))
        for t in r["tasks"]:
            self.assertEqual(len(set(t["labels"])), 3)

    def test_identical_rows(self):
        self.write("same.csv", table("ab", [[1, 2]] * 30))
        self.write("two.csv", table("ab", [[i % 2, 2] for i in range(30)]))
        self.run_kindred("cluster", "-k", "auto", "-o", "out", "same.csv")
        self.assertEqual(self.result()["tasks"][0]["sizes"], [30])
        self.assertIn("identical", self.result()["method_fields"]["k_evidence"])
        self.assertNotIn("clearer", " ".join(self.result()["tasks"][0]["advice"]))
        self.run_kindred("cluster", "-k", "auto", "-o", "out", "--force", "two.csv")
        self.assertLessEqual(self.result()["tasks"][0]["k"], 2)
        for method in ("auto", "ncut", "kmeans", "mbc"):
            self.run_kindred("cluster", "-m", method, "-k", 4, "-o", "out", "--force", "two.csv")
            self.assertTrue([w for w in self.result()["warnings"] if "only 2 distinct samples for k = 4" in w])

    def test_squares_that_overflow(self):
        draw = random.Random(3)
        for name, size in (("u", 1e200), ("v", 1.5e200), ("w", 8e307)):
            self.write(f"{name}.csv", table("abc", [[(1 + i % 2 + draw.uniform(0, .2)) * size for _ in "abc"] for i in range(40)]))
        for method in ("auto", "kmeans"):
            for names in (["u.csv"], ["u.csv", "v.csv"], ["w.csv"]):
                self.run_kindred("cluster", "-m", method, "-k", 2, "--quality", "-o", "out", "--force", *names)
                labels = self.result()["tasks"][0]["labels"]
                self.assertEqual(labels, [i % 2 for i in range(40)], (method, names))
                self.assertGreater(self.result()["tasks"][0]["quality"]["silhouette"], .5, (method, names))
        for names in (["u.csv", "v.csv"], ["u.csv", "w.csv"]):
            self.run_kindred("relate", *names)
            self.run_kindred("embed", "-o", "e.csv", "--force", *names)

if __name__ == "__main__":
    unittest.main()
