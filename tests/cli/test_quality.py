"""How good clusters are without truth: cluster --quality, evaluate --data."""
import json
import random
import unittest

from harness import CliTest


def blobs(groups, seed=1, spread=1.0, each=20):
    r = random.Random(seed)
    return "x,y\n" + "".join(f"{(i % groups) * 10 + r.gauss(0, spread)},{(i % groups) ** 2 * 4 + r.gauss(0, spread)}\n"
                             for i in range(each * groups))


class Quality(CliTest):
    def quality(self, *args):
        return json.loads(self.run_kindred("evaluate", "--json", *args).stdout)

    def test_cluster_and_evaluate_agree(self):
        self.write("a.csv", blobs(3))
        printed = self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--quality", "-o", "out", "a.csv").stdout
        q = self.result()["tasks"][0]["quality"]
        for word in ("silhouette", "davies_bouldin", "calinski_harabasz", "stability", "not whether they are meaningful"):
            self.assertIn(word, printed)
        self.assertEqual((q["silhouette_kind"], q["resamples"], q["stability"]), ("exact", 5, 1))
        self.assertGreater(q["silhouette"], 0.6)
        r = self.quality("out/a.labels", "--data", "a.csv", "-m", "kmeans")
        self.assertEqual(r["quality"], q)
        self.assertEqual((r["n"], r["clusters"]), (60, 3))
        self.assertNotIn("acc", r)
        both = self.quality("out/a.labels", "out/a.labels", "--data", "a.csv", "--resamples", 0)
        self.assertEqual((both["acc"], both["quality"]["stability"], both["quality"]["resamples"]), (1, None, 0))

    def test_only_on_request(self):
        self.write("a.csv", blobs(2))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "-o", "out", "a.csv")
        self.assertNotIn("quality", self.result()["tasks"][0])

    def test_stability_tells_the_right_k_from_too_many(self):
        self.write("a.csv", blobs(3))
        found = {}
        for k in (3, 9):
            self.run_kindred("cluster", "-m", "kmeans", "-k", k, "--quality", "--resamples", 8, "-q", "-o", "out", "--force", "a.csv")
            found[k] = self.result()["tasks"][0]["quality"]
        self.assertEqual(found[3]["stability"], 1)
        self.assertLess(found[9]["stability"], 0.9)
        self.assertEqual(found[9]["resamples"], 8)

    def test_same_for_any_number_of_threads_and_labels_as_without(self):
        self.write("a.csv", blobs(4, spread=3))
        self.write("b.csv", blobs(4, seed=2, spread=3))
        told = []
        for n in (1, 3):
            self.run_kindred("cluster", "-k", 4, "--quality", "--threads", n, "-q", "-o", "out", "--force", "a.csv", "b.csv")
            told.append([(t["labels"], t["quality"]) for t in self.result()["tasks"]])
        self.run_kindred("cluster", "-k", 4, "-q", "-o", "out", "--force", "a.csv", "b.csv")
        self.assertEqual(told[0], told[1])
        self.assertEqual([t["labels"] for t in self.result()["tasks"]], [labels for labels, _ in told[0]])

    def test_one_cluster_has_no_figures(self):
        self.write("a.csv", blobs(2))
        self.write("one.labels", "0\n" * 40)
        q = self.quality("one.labels", "--data", "a.csv")["quality"]
        self.assertEqual([q[n] for n in ("silhouette", "davies_bouldin", "calinski_harabasz", "stability")], [None] * 4)

    def test_misuse(self):
        self.write("a.csv", blobs(2))
        self.write("l.labels", "0\n1\n" * 20)
        self.write("short.labels", "0\n1\n")
        self.fails("evaluate", "l.labels", code=2, says=["LABELS", "TRUTH", "--data"])
        self.fails("evaluate", "l.labels", "--data", "a.csv", "--emd", "a.csv", code=2, says=["--emd", "TRUTH"])
        self.fails("evaluate", "short.labels", "--data", "a.csv", code=3, says=["40 samples", "2 labels"])
        self.fails("evaluate", "l.labels", "--data", "a.csv", "--resamples", "x", code=2, says="--resamples")
        self.fails("evaluate", "l.labels", "--data", "a.csv", "-m", "kmean", code=2, says="kmeans")
        self.fails("evaluate", "l.labels", "--data", "none.csv", code=3, says="none.csv")
        self.fails("cluster", "-k", 2, "--quality", "--resamples", "-1", "a.csv", code=2, says="--resamples")


if __name__ == "__main__":
    unittest.main()
