"""evaluate --emd: how far two partitions of the same samples are apart; relations of many data sets."""
import json
import unittest

from harness import BLOBS_A, CliTest


class Emd(CliTest):
    def setUp(self):
        super().setUp()
        # Four points on a line, as two pairs.
        self.write("x.csv", "x,y\n0,0\n2,0\n10,0\n14,0\n")
        self.write("pairs.labels", "0\n0\n1\n1\n")

    def emd(self, labels, truth="pairs.labels", data="x.csv"):
        self.write("other.labels", labels)
        return json.loads(self.run_kindred("evaluate", "--json", "--emd", data, "other.labels", truth).stdout)["emd"]

    def test_equal_partitions_are_zero_apart(self):
        self.assertEqual(self.emd("b\nb\na\na\n"), {"uniform": 0, "proportional": 0})

    def test_weights_are_uniform_or_by_size(self):
        # Means 1 and 12 against 4 (three samples) and 14 (one).
        got = self.emd("0\n0\n0\n1\n")
        self.assertAlmostEqual(got["uniform"], (9 + 4) / 2, places=12)
        self.assertAlmostEqual(got["proportional"], 0.5 * 9 + 0.25 * 64 + 0.25 * 4, places=12)

    def test_different_numbers_of_clusters(self):
        # All in one cluster: half of its mean 6.5 moves to 1 and half to 12.
        got = self.emd("z\nz\nz\nz\n")
        self.assertAlmostEqual(got["uniform"], 30.25, places=12)
        self.assertAlmostEqual(got["proportional"], 30.25, places=12)

    def test_sparse_data_give_the_same(self):
        self.write("x.mtx", "%%MatrixMarket matrix coordinate real general\n4 2 3\n2 1 2\n3 1 10\n4 1 14\n")
        self.assertEqual(self.emd("0\n0\n0\n1\n"), self.emd("0\n0\n0\n1\n", data="x.mtx"))

    def test_text_says_what_it_is(self):
        out = self.run_kindred("evaluate", "--emd", "x.csv", "pairs.labels", "pairs.labels").stdout
        self.assertIn("emd             0  distance of the clusterings", out)
        self.assertIn("emd_uniform     0", out)
        self.assertNotIn("emd", self.run_kindred("evaluate", "pairs.labels", "pairs.labels").stdout)

    def test_bad_data_are_one_line(self):
        self.write("short.csv", "x\n1\n2\n")
        self.fails("evaluate", "--emd", "short.csv", "pairs.labels", "pairs.labels", code=3,
                   says=["short.csv has 2 samples", "4 labels"])
        self.fails("evaluate", "--emd", "none.csv", "pairs.labels", "pairs.labels", code=3, says="none.csv")


class Mbc(CliTest):
    """cluster -m mbc from the outside."""

    def setUp(self):
        super().setUp()
        rows = [(9, 1, 0), (8, 0, 1), (1, 9, 0), (0, 8, 1), (1, 0, 9), (0, 1, 8)]
        self.write("a.csv", "red,green,blue\n" + "".join("%d,%d,%d\n" % r for r in rows * 4))
        self.write("b.csv", "blue,green,red\n" + "".join("%d,%d,%d\n" % r[::-1] for r in rows * 3))

    def test_summary_says_which_clusters_match_and_why(self):
        out = self.run_kindred("cluster", "-v", "-m", "mbc", "-k", 3, "-o", "out", "a.csv", "b.csv").stdout
        lines = [line for line in out.splitlines() if line.startswith("  a ") and " = b " in line]
        self.assertEqual(len(lines), 3, out)
        for line in lines:
            left, right = line.split(": ")[1].split(" | ")
            self.assertEqual(left.split(", ")[0], right.split(", ")[0])

    def test_result_has_relations_and_losses(self):
        self.run_kindred("cluster", "-m", "mbc", "-k", "3,2", "-o", "out", "--arrays", "arrays", "a.csv", "b.csv",
                         "--set", "divergence=kl")
        r = self.result()
        self.assertEqual({(c["from"], c["to"]) for c in r["correspondence"]}, {("a", "b"), ("b", "a")})
        for c in r["correspondence"]:
            for row in c["matrix"]:
                self.assertAlmostEqual(sum(row), 1 / len(c["matrix"]), places=12)
        for key in ("local_loss.a", "local_loss_alone.b", "d_m_uniform.a.b", "d_m_proportional.b.a", "objective_start"):
            self.assertIn(key, r["method_fields"])
        self.assertNotIn("s_nmi.a.b", r["method_fields"])
        self.assertGreater(len(self.read_bytes("arrays/steps.npy")), 128)

    def read_bytes(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_same_samples_have_s_nmi(self):
        self.run_kindred("cluster", "-m", "mbc", "-k", 3, "-o", "out", "a.csv", "again=a.csv")
        self.assertAlmostEqual(self.result()["method_fields"]["s_nmi.a.again"], 1, places=9)

    def test_saved_model_labels_its_own_samples_alike(self):
        for divergence in ("sqeuclidean", "mahalanobis", "kl", "is"):
            with self.subTest(divergence):
                self.run_kindred("cluster", "-m", "mbc", "-k", 3, "-o", "out", "--force", "--save-model", "m.h5", "a.csv",
                                 "b.csv", "--set", f"divergence={divergence}", "--set", "floor=0.5")
                out = self.run_kindred("predict", "--model", "m.h5", "--task", "b", "b.csv").stdout
                self.assertEqual([int(x) for x in out.split()], self.result()["tasks"][1]["labels"])

    def test_bad_input_is_one_line(self):
        cluster = ("cluster", "-m", "mbc", "-k", 2)
        self.write("zero.csv", "red,green,blue\n1,2,3\n4,0,6\n7,8,9\n")
        self.write("empty.csv", "red,green,blue\n1,2,3\n0,0,0\n7,8,9\n")
        self.write("other.csv", "up,down\n1,2\n3,4\n5,6\n")
        self.fails(*cluster, "--set", "divergence=is", "zero.csv", code=3,
                   says=["data set zero", "row 2, column 2 is 0", "values > 0", "floor"])
        self.fails(*cluster, "--set", "divergence=kl", "empty.csv", code=3, says=["data set empty", "row 2", "sums to 0"])
        self.fails("cluster", "-m", "mbc", "-k", "2,4", "a.csv", "zero.csv", code=2, says=["data set zero", "4 clusters from 3 samples", "3"])
        self.fails(*cluster, "--features", "intersect", "a.csv", "other.csv", code=3, says=["other", "no"])
        self.fails(*cluster, "--set", "divergence=cosine", "a.csv", code=2, says=["divergence", "sqeuclidean", "kl"])
        self.write("blobs.csv", BLOBS_A)
        self.fails(*cluster, "--set", "divergence=kl", "blobs.csv", code=3, says=["column", "values >= 0"])


class ManyDataSets(CliTest):
    def fit(self, method, count):
        rows = ["site,x,y"]
        for t in range(count):
            rows += [f"s{t:03},{x + .01 * t},{y - .01 * t}" for x, y in ((0, 0), (.5, .2), (5, 5), (5.5, 5.2))]
        self.write("all.csv", "\n".join(rows) + "\n")
        return json.loads(self.run_kindred("cluster", "-q", "-m", method, "-k", 2, "--task-column", "site", "all.csv").stdout)

    def test_pairs_are_reported_in_full_up_to_100_data_sets(self):
        """Beyond, the result grows with their number and not with its square."""
        for method, directions in (("mbc", 1), ("auto", 2)):
            for count, pairs in ((100, 4950), (101, 2 * 101 - 3)):
                got = self.fit(method, count)
                named = [(m["from"], m["to"]) for m in got["correspondence"]]
                self.assertEqual(len(named), directions * pairs, (method, count))
                self.assertEqual(len(set(named)), len(named))
                self.assertEqual("correspondence_pairs" in got, count > 100)
                far = [m for m in named if "s000" not in m and abs(int(m[0][1:]) - int(m[1][1:])) > 1]
                self.assertEqual(bool(far), count <= 100)
                if method == "mbc":
                    self.assertEqual(sum(k.startswith("d_m_uniform.") for k in got["method_fields"]), pairs)
                for task in got["tasks"]:  # counterparts have one number everywhere
                    self.assertEqual(task["labels"], [0, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
