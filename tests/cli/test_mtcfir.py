"""mtcfir and --features-from, as a user runs them."""
import json
import os
import struct
import unittest

from harness import CliTest


class Mtcfir(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", "3", "-k", "3", "-d", "6", "--separation", "8", "--samples", "60", "-q",
                         "-o", "data")
        self.files = [f"data/task{t}.csv" for t in (1, 2, 3)]

    def test_relatedness_is_reported_in_numbers_and_in_words(self):
        done = self.run_kindred("cluster", "-v", "-m", "mtcfir", "-k", 3, "--scale", "minmax", "--score", "-o", "out",
                                "--report", "--arrays", "arrays", *self.files)
        r = self.result()
        matrix = r["relatedness"]["matrix"]
        self.assertEqual([matrix[t][t] for t in range(3)], [1, 1, 1])
        best = max((1, 2), key=lambda s: matrix[0][s])
        self.assertIn("relatedness: how much each data set", done.stdout)
        self.assertIn("task1: mostly uses" if matrix[0][best] >= 0.05 else "task1: hardly uses", done.stdout)
        for name in ("alpha", "thresholds", "mmd2_linear", "mmd2_gauss"):
            self.assertTrue(os.path.exists(self.path(f"arrays/{name}.npy")), name)
        self.assertIn('"relatedness":{"tasks":["task1"', self.read("out/report.html"))

    def test_scale_does_not_matter_with_unit_rows_or_without_layers(self):
        larger = []
        for file in self.files:
            header, *rows = self.read(file).split("\n")[:-1]
            cells = [[v if j >= 6 else repr(32 * float(v)) for j, v in enumerate(r.split(","))] for r in rows]
            larger.append("large-" + os.path.basename(file))
            self.write(larger[-1], "\n".join([header, *map(",".join, cells)]) + "\n")
        for how in (["--norm", "l2"], ["--weight", "none", "--set", "variant=nF"]):
            found = []
            for files in (self.files, larger):
                self.run_kindred("cluster", "-m", "mtcfir", "-k", 3, *how, "-q", "--force", "-o", "out", *files)
                found.append([t["labels"] for t in self.result()["tasks"]])
            self.assertEqual(*found)

    def test_predict_gives_training_samples_their_labels(self):
        for final in ("snmf", "ncut"):
            self.run_kindred("cluster", "-m", "mtcfir", "--set", f"final={final}", "-k", 3, "--scale", "minmax", "-o",
                             final, "--save-model", f"{final}.h5", *self.files)
            done = self.run_kindred("predict", "--model", f"{final}.h5", "--task", "task2", self.files[1])
            wanted = self.read(f"{final}/task2.labels").split()
            same = sum(a == b for a, b in zip(done.stdout.split(), wanted))
            self.assertGreaterEqual(same, 0.95 * len(wanted))

    def test_neighbours_of_each_task(self):
        args = ["-m", "mtcfir", "-k", 3, "--scale", "minmax", "--report", "--save-model", "m.h5", "--arrays", "arrays"]
        self.run_kindred("cluster", *args, "--set", "neighbors=12,0.25,10.5", "-o", "out", *self.files)
        self.assertEqual(self.result()["options"]["neighbors"], [12, 0.25, 10.5])
        self.assertIn('"neighbors":[12,0.25,10.5]', self.read("out/report.html"))
        with open(self.path("arrays/neighbors.npy"), "rb") as f:
            self.assertEqual(struct.unpack("<3q", f.read()[-24:]), (12, 5, 11))
        self.run_kindred("predict", "--model", "m.h5", "--task", "task1", self.files[0])
        self.assertIn("or one for each data set, separated by commas", self.run_kindred("methods", "mtcfir").stdout)
        described = json.loads(self.run_kindred("methods", "mtcfir", "--json").stdout)
        option, = [o for o in described["options"] if o["name"] == "neighbors"]
        self.assertEqual((option["type"], option["default"], option["min"]), ("reals", 0.3, 0))
        self.fails("cluster", *args[:4], "--set", "neighbors=12,15", *self.files, code=2,
                   says="option neighbors has 2 numbers, but there are 3 data sets; give one number, or 3")
        self.fails("cluster", *args[:4], "--set", "neighbors=12,,15", *self.files, code=2, says="12,,15")
        self.fails("cluster", *args[:4], "--set", "neighbors=12,0,15", *self.files, code=2, says="use a number above 0 and at most")

    def test_predict_learns_layers_that_the_model_lacks(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is not installed")
        self.run_kindred("cluster", "-m", "mtcfir", "-k", 3, "--scale", "minmax", "-o", "out", "--save-model", "m.h5",
                         *self.files)
        self.assertEqual(self.result()["method_fields"]["layers_kept"], 3)
        predict = ["predict", "--model", "m.h5", "--task", "task3", self.files[2]]
        wanted = self.run_kindred(*predict).stdout
        with h5py.File(self.path("m.h5"), "a") as f:
            self.assertEqual(f["arrays/layers"].shape, (3, 6, 6))
            del f["arrays/layers"], f["arrays/layer_bias"], f.attrs["checksum"]
        self.assertEqual(self.run_kindred(*predict).stdout, wanted)

    def test_snmf_predicts(self):
        for setting in ("similarity=cosine", "similarity=gauss", "final=ncut"):
            self.run_kindred("cluster", "-m", "snmf", "--set", setting, "-k", 3, "--scale", "standard", "-o", "out",
                             "--force", "--save-model", "m.h5", *self.files)
            done = self.run_kindred("predict", "--model", "m.h5", "--task", "task2", self.files[1])
            wanted = self.read("out/task2.labels").split()
            same = sum(a == b for a, b in zip(done.stdout.split(), wanted))
            self.assertGreaterEqual(same, 0.95 * len(wanted), setting)

    def test_bad_input_is_one_line(self):
        base = ["cluster", "-m", "mtcfir", "-k", 2]
        self.fails(*base, "--set", "noise=1", self.files[0], code=2, says=["noise", "1"])
        self.fails(*base, "--set", "variant=nX", self.files[0], code=2, says=["nX", "nF"])
        self.write("two.csv", "a,b\n1,2\n3,4\n")
        self.fails(*base, "two.csv", code=3, says=["two", "2 samples", "at least 3"])
        self.write("five.csv", "a,b\n" + "".join(f"{i},{i * i % 3}\n" for i in range(1, 6)))
        done = self.run_kindred(*base, "--set", "neighbors=9", "-o", "capped", "five.csv")
        self.assertIn("9 neighbours are more than its 5 samples allow; using 3", done.stdout)


class FeaturesFrom(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", "2", "-k", "3", "-d", "6", "--separation", "8", "--samples", "60", "-q",
                         "-o", "data")
        self.files = [f"data/task{t}.csv" for t in (1, 2)]

    def test_any_method_can_take_them(self):
        for method in ("kmeans", "lssmtc", "ncut"):
            done = self.run_kindred("cluster", "-v", "-m", method, "-k", 3, "--features-from", "msda", "--features-set",
                                    "layers=2", "--scale", "minmax", "-o", method, *self.files)
            self.assertIn("features learned by msda: 18 columns", done.stdout)
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
        self.fails(*base, "--features-from", "msda", "--save-model", "m.h5", code=2, says="'predict' cannot compute the learned features")
        self.fails("cluster", "-m", "msda", "-k", 2, self.files[0], code=2, says="does not cluster")


if __name__ == "__main__":
    unittest.main()
