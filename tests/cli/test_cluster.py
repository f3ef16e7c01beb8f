"""cluster, end to end: the contract's arguments and files."""
import json
import os
import unittest

from harness import BLOBS_A, BLOBS_B, CliTest


class Cluster(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)
        self.write("b.csv", BLOBS_B)

    def test_result_goes_to_stdout_as_json(self):
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "a.csv")
        r = json.loads(done.stdout)
        for key in ("kindred", "command", "method", "options", "seed", "threads", "tasks", "objective", "stop",
                    "iterations", "seconds", "peak_rss_bytes", "warnings", "method_fields"):
            self.assertIn(key, r)
        self.assertEqual((r["command"], r["method"], r["seed"], r["stop"]), ("cluster", "kmeans", 1, "converged"))
        self.assertEqual(set(r["seconds"]), {"read", "prepare", "fit", "write", "total"})
        t = r["tasks"][0]
        self.assertEqual((t["name"], t["path"], t["n"], t["d"], t["nnz"], t["k"]), ("a", "a.csv", 20, 2, 40, 2))
        self.assertEqual(sorted(t["sizes"]), [10, 10])
        self.assertEqual(len(t["labels"]), 20)
        self.assertIsNone(t["metrics"])
        self.assertIn("objective_start", r["method_fields"])
        self.assertEqual(len(r["objective"]), r["iterations"])
        self.assertEqual(done.stderr, "")  # quiet in pipes

    def test_output_folder_has_labels_and_result(self):
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "a.csv", "second=b.csv")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.labels", "a.samples.csv", "features.csv", "result.json", "second.labels", "second.samples.csv"])
        r = self.result()
        for t in r["tasks"]:
            lines = self.read(f"out/{t['name']}.labels").split("\n")
            self.assertEqual(lines.pop(), "")
            self.assertEqual([int(x) for x in lines], t["labels"])
        self.assertIn("second", done.stdout)  # the summary

    def test_columns_are_matched_by_name(self):
        self.run_kindred("cluster", "-m", "kmeans", "--pooled", "-k", 2, "-o", "out", "a.csv", "b.csv")
        a, b = (t["labels"] for t in self.result()["tasks"])
        self.assertEqual(a[0], b[0])
        self.assertNotEqual(a[0], b[1])

    def test_k_for_each_task(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2,3", "-o", "out", "a.csv", "b.csv")
        self.assertEqual([t["k"] for t in self.result()["tasks"]], [2, 3])

    def uneven(self, *sizes):
        points = [(100 * c + i % 5, 100 * c + i % 7) for c, n in enumerate(sizes) for i in range(n)]
        self.write("uneven.csv", "x,y\n" + "".join("%d,%d\n" % p for p in points))

    def warnings_of(self, k, *sizes):
        self.uneven(*sizes)
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", k, "-o", "out", "--force", "uneven.csv", "a.csv")
        said = self.result()["warnings"]
        for text in said:
            self.assertIn("warning: " + text, done.stdout)
        return said

    def test_a_cluster_with_nearly_all_or_hardly_any_samples_is_reported(self):
        self.assertEqual(self.warnings_of(2, 149, 151), [])
        self.assertEqual(self.warnings_of(2, 180, 20), [])  # 90 % is not more than 90 %
        self.assertEqual(self.warnings_of(2, 188, 12), ["data set uneven: one cluster has 188 of 200 samples (94 %)"])
        self.assertEqual(self.warnings_of(2, 297, 3), ["data set uneven: one cluster has 297 of 300 samples (99 %)"])  # 3 are 1 %
        self.assertEqual(self.warnings_of(2, 298, 2), ["data set uneven: one cluster has 298 of 300 samples (99.3 %), another only 2 (0.67 %)"])
        self.assertEqual(self.warnings_of(3, 150, 148, 2), ["data set uneven: one cluster has only 2 of 300 samples (0.67 %)"])
        self.assertEqual(self.warnings_of(2, 98, 1), [])  # of 99 samples, 1 % is less than one

    def test_the_report_page_shows_the_warning(self):
        self.uneven(188, 12)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--report", "uneven.csv")
        self.assertIn("one cluster has 188 of 200 samples", self.read("out/report.html"))

    def test_existing_result_is_kept_unless_forced(self):
        args = ("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "a.csv")
        self.run_kindred(*args)
        before = self.read("out/result.json")
        self.fails(*args, code=2, says=["out/result.json", "--force"])
        self.assertEqual(self.read("out/result.json"), before)
        self.run_kindred(*args, "--force", "--seed", 2)
        self.assertEqual(self.result()["seed"], 2)

    def test_same_labels_for_any_number_of_threads(self):
        labels = []
        for threads in (1, 2, 3):
            self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--threads", threads, "-o", f"out{threads}", "a.csv", "b.csv")
            r = self.result(f"out{threads}/result.json")
            labels.append([t["labels"] for t in r["tasks"]] + [r["objective"]])
        self.assertEqual(labels[0], labels[1])
        self.assertEqual(labels[0], labels[2])

    def test_scores_from_truth_and_from_labels_beside(self):
        truth = "".join(f"{'even' if i % 2 == 0 else 'odd'}\n" for i in range(20))
        self.write("truth.txt", truth)
        self.write("a.labels", truth)
        for extra in (("--truth", "truth.txt"), ("--score",)):
            self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--force", *extra, "a.csv")
            m = self.result()["tasks"][0]["metrics"]
            self.assertEqual((m["acc"], m["nmi"], m["ari"]), (1, 1, 1))

    def test_init_starts_exactly_there(self):
        self.write("start", "".join(f"{i // 10}\n" for i in range(20)))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--init", "start", "--set", "max_iter=0", "a.csv")
        self.assertEqual(self.result()["tasks"][0]["labels"], [i // 10 for i in range(20)])

    def test_arrays_and_model_and_predict(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--arrays", "arr", "--save-model", "m.h5", "a.csv")
        with open(self.path("arr/centres.a.npy"), "rb") as f:
            self.assertEqual(f.read(6), b"\x93NUMPY")
        done = self.run_kindred("predict", "--model", "m.h5", "a.csv")
        self.assertEqual([int(x) for x in done.stdout.split()], self.result()["tasks"][0]["labels"])
        # other order of columns, matched by name
        done = self.run_kindred("predict", "--model", "m.h5", "-o", "p.labels", "b.csv")
        self.assertEqual(len(self.read("p.labels").split()), 12)
        self.fails("predict", "--model", "a.csv", "a.csv", code=3, says="a.csv")

    def test_preprocessing_is_applied_and_recorded(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--weight", "tfidf", "--norm", "l2",
                         "--top-features", 1, "c=" + self.write("c.mtx", MTX))
        r = self.result()
        self.assertEqual(r["tasks"][0]["d"], 1)
        self.assertIn("tfidf", r["preprocessing"])

    def test_report(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--report", "a.csv")
        page = self.read("out/report.html")
        self.assertIn("</html>", page)
        self.run_kindred("report", "-o", "again.html", "out/result.json")
        self.assertEqual(self.read("again.html"), page)

    def test_standard_input(self):
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--format", "csv", "-", stdin=BLOBS_A)
        self.assertEqual(json.loads(done.stdout)["tasks"][0]["n"], 20)
        self.fails("cluster", "-k", 2, "-", code=2, says="--format", stdin=BLOBS_A)

    def test_time_limit_keeps_a_result(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--time-limit", 1e-9, "-o", "out", "a.csv")
        r = self.result()
        self.assertEqual(r["stop"], "time")
        self.assertEqual(len(r["tasks"][0]["labels"]), 20)

    def test_strict(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--strict", "--set", "max_iter=1", "--set", "tol=0", "-o", "out",
                         "a.csv", code=5)
        self.assertEqual(self.result()["stop"], "max_iter")

    def test_iterations_that_are_a_rule_are_no_fault(self):
        for setting, code, says in (("max_iter=2", 0, ": ran 2 iterations"), ("tol=1e-300", 5, "warning: not converged: stopped after 20 iterations")):
            text = self.run_kindred("cluster", "-v", "-m", "lssmtc", "-k", 2, "--strict", "--set", setting, "-o", "out", "--force", "a.csv", "b.csv",
                                    code=code).stdout
            self.assertIn(says, text)
            self.assertEqual((self.result()["stop"], self.result()["complete"]), ("max_iter", code == 0))
            self.assertRegex(text, r"\ncluster +a +b\n")

    def test_options_in_force_are_recorded(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "--set", "n_init=3", "--set", "start=random", "-o", "out", "a.csv")
        options = self.result()["options"]
        self.assertEqual((options["n_init"], options["start"], options["spherical"]), (3, "random", False))

    def test_matches_leave_out_empty_clusters_and_low_chances(self):
        rows = "".join("6,0,1\n" if i % 2 else "0,6,1\n" for i in range(12))
        for name in ("a", "b"):
            self.write(name + ".csv", "x,y,z\n" + rows)
        done = self.run_kindred("cluster", "-v", "-m", "lssmtc", "-k", 4, "-o", "out", "a.csv", "b.csv")
        result = self.result()
        self.assertEqual([t["sizes"] for t in result["tasks"]], [[6, 6, 0, 0]] * 2)
        self.assertIn("a 1 = b 1 (", done.stdout)
        listed = done.stdout.partition("match best")[2]
        self.assertNotIn("a 2", listed)
        for c in result["correspondence"]:
            self.assertEqual([sum(row) > 0 for row in c["matrix"]], [True, True, False, False])
        # Clusters of other columns: nothing belongs together.
        for t, name in enumerate("cd"):
            body = ("".join(str(9 * (j == i % 3 + 4 * t) + (i * 7 + j * 5) % 3 * .1) + ("\n" if j == 7 else ",") for j in range(8))
                    for i in range(30))
            self.write(name + ".csv", "p,q,r,s,t,u,v,w\n" + "".join(body))
        done = self.run_kindred("cluster", "-v", "-m", "lssmtc", "-k", 3, "--weight", "none", "--force", "-o", "out", "c.csv", "d.csv")
        self.assertNotIn("c 0", done.stdout.partition("match best")[2])
        for c in self.result()["correspondence"]:
            for row, chance in zip(c["matrix"], c["quality"]):
                self.assertEqual(sum(row) > 0, chance >= .3)


MTX = """%%MatrixMarket matrix coordinate integer general
4 3 6
1 1 2
2 1 1
3 2 4
4 2 1
4 3 1
3 3 2
"""


if __name__ == "__main__":
    unittest.main()
