"""mtcfir and --features-from, as a user runs them."""
import os
import unittest

from harness import CliTest


class Mtcfir(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", "3", "-k", "3", "-d", "6", "--separation", "8", "--samples", "60", "-q",
                         "-o", "data")
        self.files = [f"data/task{t}.csv" for t in (1, 2, 3)]

    def test_relatedness_is_reported_in_numbers_and_in_words(self):
        done = self.run_kindred("cluster", "-m", "mtcfir", "-k", 3, "--scale", "minmax", "--score", "-o", "out",
                                "--report", "--arrays", "arrays", *self.files)
        r = self.result()
        matrix = r["relatedness"]["matrix"]
        self.assertEqual([matrix[t][t] for t in range(3)], [1, 1, 1])
        best = max((1, 2), key=lambda s: matrix[0][s])
        self.assertIn("relatedness: what each task draws on", done.stdout)
        self.assertIn("task1 draws mostly on" if matrix[0][best] >= 0.05 else "task1 draws on hardly", done.stdout)
        for name in ("alpha", "thresholds", "mmd2_linear", "mmd2_gauss"):
            self.assertTrue(os.path.exists(self.path(f"arrays/{name}.npy")), name)
        self.assertIn("Relatedness of the tasks", self.read("out/report.html"))

    def test_predict_gives_training_samples_their_labels(self):
        for final in ("snmf", "ncut"):
            self.run_kindred("cluster", "-m", "mtcfir", "--set", f"final={final}", "-k", 3, "--scale", "minmax", "-o",
                             final, "--save-model", f"{final}.h5", *self.files)
            done = self.run_kindred("predict", "--model", f"{final}.h5", "--task", "task2", self.files[1])
            wanted = self.read(f"{final}/task2.labels").split()
            same = sum(a == b for a, b in zip(done.stdout.split(), wanted))
            self.assertGreaterEqual(same, 0.95 * len(wanted))

    def test_bad_input_is_one_line(self):
        base = ["cluster", "-m", "mtcfir", "-k", 2]
        self.fails(*base, "--set", "noise=1", self.files[0], code=2, says=["noise", "1"])
        self.fails(*base, "--set", "variant=nX", self.files[0], code=2, says=["nX", "nF"])
        self.write("two.csv", "a,b\n1,2\n3,4\n")
        self.fails(*base, "two.csv", code=3, says=["two", "2 samples", "at least 3"])
        self.write("five.csv", "a,b\n" + "".join(f"{i},{i * i % 3}\n" for i in range(1, 6)))
        done = self.run_kindred(*base, "--set", "neighbors=9", "-o", "capped", "five.csv")
        self.assertIn("9 neighbours are more than its 5 samples allow: 3 are taken", done.stdout)


class FeaturesFrom(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", "2", "-k", "3", "-d", "6", "--separation", "8", "--samples", "60", "-q",
                         "-o", "data")
        self.files = [f"data/task{t}.csv" for t in (1, 2)]

    def test_any_method_can_take_them(self):
        for method in ("kmeans", "lssmtc", "ncut"):
            done = self.run_kindred("cluster", "-m", method, "-k", 3, "--features-from", "msda", "--features-set",
                                    "layers=2", "--scale", "minmax", "-o", method, *self.files)
            self.assertIn("features from msda: 18 columns", done.stdout)
            told = self.result(f"{method}/result.json")["features_from"]
            self.assertEqual((told["method"], told["options"]["layers"], told["columns"]), ("msda", 2, 18))

    def test_transfer_takes_them(self):
        self.run_kindred("transfer", "-m", "logreg", "--source", self.files[0], "--labels", "data/task1.labels",
                         "--target", self.files[1], "--truth", "data/task2.labels", "--features-from", "msda", "--scale",
                         "minmax", "-o", "out")
        self.assertEqual(self.result()["features_from"]["columns"], 24)

    def test_bad_input_is_one_line(self):
        base = ["cluster", "-m", "kmeans", "-k", 2, self.files[0]]
        self.fails(*base, "--features-from", "kmeans", code=2, says=["kmeans", "does not learn features"])
        self.fails(*base, "--features-from", "msdaa", code=2, says="did you mean msda")
        self.fails(*base, "--features-set", "layers=2", code=2, says=["--features-set", "--features-from"])
        self.fails(*base, "--features-from", "msda", "--features-set", "layer=2", code=2, says="layers")
        self.fails(*base, "--features-from", "msda", "--features-set", "noise=0", code=2, says="noise")
        self.fails(*base, "--features-from", "msda", "--save-model", "m.h5", code=2, says="'predict' cannot repeat")
        self.fails("cluster", "-m", "msda", "-k", 2, self.files[0], code=2, says="does not cluster")


if __name__ == "__main__":
    unittest.main()
