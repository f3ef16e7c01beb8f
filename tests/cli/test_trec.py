"""Transfer between data sets with different features, -k auto, and the data made for both."""
import unittest

from harness import CliTest


class Trec(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--design", "berikov", "-q", "-o", "data")

    def transfer(self, *more, code=0):
        return self.run_kindred("transfer", "-m", "trec", "--source", "data/source.csv", "--labels", "data/source.labels",
                                "--target", "data/target.csv", "--set", "features=3", *more, code=code)

    def test_labels_are_clusters_scored_by_the_best_map(self):
        self.transfer("--truth", "data/target.labels", "-o", "out")
        result = self.result()
        target = result["tasks"][1]
        self.assertEqual((target["name"], target["n"], target["d"], target["k"]), ("target", 80, 24, 4))
        self.assertEqual(sorted(set(target["labels"])), [0, 1, 2, 3])
        self.assertEqual(target["metrics"]["acc"], 1)
        self.assertEqual(result["tasks"][0]["d"], 16)
        self.assertEqual(self.read("out/target.labels").split(), [str(v) for v in target["labels"]])
        fields = result["method_fields"]
        self.assertEqual(fields["trusted"], "yes")
        self.assertGreater(fields["heldout_accuracy"], fields["majority_accuracy"])

    def test_guard_keeps_ec(self):
        self.write("random.labels", "".join(f"{'abcd'[i * i * 7 // 3 % 4]}\n" for i in range(100)))
        base = ["transfer", "-m", "trec", "--source", "data/source.csv", "--labels", "random.labels", "--target",
                "data/target.csv", "--set", "features=3"]
        self.run_kindred(*base, "--guard", "-o", "out")
        self.assertEqual(self.result()["method_fields"]["kept"], "ec")
        self.assertIn("not trusted", self.result()["warnings"][-1])
        self.run_kindred(*base, "-o", "free")
        self.assertEqual(self.result("free/result.json")["method_fields"]["kept"], "trec")

    def test_bad_input_is_one_line(self):
        base = ["transfer", "-m", "trec", "--source", "data/source.csv", "--target", "data/target.csv"]
        self.fails(*base, code=2, says="has no classes: add --labels FILE or --label-column NAME")
        self.write("short.labels", "a\nb\n")
        self.fails(*base, "--labels", "short.labels", code=3, says=["short.labels", "2 labels", "100 samples"])
        self.write("one.labels", "a\n" * 100)
        self.fails(*base, "--labels", "one.labels", code=3, says="1 class")
        good = [*base, "--labels", "data/source.labels"]
        self.fails(*good, "--set", "features=17", code=2, says=["features is 17", "16 columns"])
        self.fails(*good, "--set", "runs=0", code=2, says="runs")
        self.fails("generate", "--design", "berikov", "--samples", "5", "-o", "x", code=2, says="--samples")
        self.fails("transfer", "-m", "svm", *good[3:], "--guard", code=2, says="--guard is not available with method svm")
        for method in ([], ["-m", "auto"]):
            self.fails("transfer", *method, *good[3:], "--guard", code=2, says="--guard is not available with method auto")


class AutoK(CliTest):
    def test_k_auto_is_found(self):
        self.run_kindred("generate", "-k", "4", "-d", "6", "--separation", "6", "--tasks", "1", "-q", "-o", "data")
        self.run_kindred("cluster", "-m", "ec", "-k", "auto", "--truth", "data/task1.labels", "-o", "out", "data/task1.csv")
        self.assertEqual(self.result()["tasks"][0]["k"], 4)
        self.fails("cluster", "-m", "kmeans", "-k", "auto", "data/task1.csv", code=2, says=["-k auto", "kmeans"])
        self.fails("cluster", "-m", "ec", "-k", "some", "data/task1.csv", code=2, says="or auto")


if __name__ == "__main__":
    unittest.main()
