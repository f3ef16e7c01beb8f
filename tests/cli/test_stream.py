"""Data that stay on disk: the same to the last digit as in memory, whatever the format; and sizes of memory as options."""
import json
import os
import unittest

from harness import CliTest


class Stream(CliTest):
    """Every array is above the size from which scratch files are used."""

    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", 2, "-k", 3, "-n", "3000,2000", "-d", 6, "--separation", ".5", "--to", "npy",
                         "-o", "dense")
        self.run_kindred("generate", "--design", "topics", "--tasks", 2, "-k", 3, "-n", "1500,1000", "--words", 800,
                         "--length", 25, "-o", "words")
        self.run_kindred("convert", "words/task1.mtx", "words/a.h5")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--set", "n_init=1", "--write-h5ad", "words/a.h5ad",
                         "words/task1.mtx")
        self.run_kindred("convert", "words/task1.mtx", "words/a.npz")
        self.run_kindred("convert", "dense/task1.npy", "dense/a.h5")
        # A scratch file is created there and removed afterwards.
        os.mkdir(self.path("scratch"))
        self.env = {**os.environ, "TMPDIR": self.path("scratch")}

    def both(self, *args, out=None):
        """Standard output, or a file, of a run in memory and of one from disk."""
        found = []
        for stream in ("--no-stream", "--stream"):
            done = self.run_kindred(*args, stream, env=self.env)
            if out:
                with open(self.path(out), "rb") as f:
                    found.append(f.read())
            else:
                found.append(done.stdout)
        self.assertEqual(os.listdir(self.path("scratch")), [])
        return found

    def same_result(self, *args):
        memory, disk = map(json.loads, self.both(*args))
        # Means in the units of the file, and the sentences made of them, need the original values, which data on disk do not keep.
        for cluster in (c for result in (memory, disk) for task in result["tasks"] for c in task.get("clusters") or ()):
            cluster.pop("description", None), cluster.pop("described", None)
            cluster["features"] = [(f["name"], f["effect"]) for f in cluster["features"]]
        for key in ("tasks", "objective", "iterations", "stop", "relatedness", "warnings"):
            self.assertEqual(memory.get(key), disk.get(key), (args, key))

    def test_clusters_are_the_same_in_every_format(self):
        for path in ("dense/task1.npy", "dense/a.h5", "words/task1.mtx", "words/a.h5", "words/a.h5ad",
                     "words/a.npz"):
            for method in ("kmeans", "bregman"):
                self.same_result("cluster", "-m", method, "-k", 3, path)

    def test_preprocessing_and_several_tasks(self):
        for prep in (["--weight", "tfidf", "--norm", "l2"], ["--top-features", 100], ["--scale", "standard"]):
            self.same_result("cluster", "-m", "kmeans", "-k", 3, *prep, "words/task1.mtx", "words/task2.mtx")
        self.same_result("cluster", "-m", "mbc", "-k", 3, "--norm", "l2", "dense/task1.npy", "dense/task2.npy")

    def test_transfer_is_the_same(self):
        for method in ("svm", "logreg"):
            for where, ending in (("dense", "npy"), ("words", "mtx")):
                self.same_result("transfer", "-m", method, "--source", f"{where}/task1.{ending}", "--labels",
                                 f"{where}/task1.labels", "--target", f"{where}/task2.{ending}", "--norm", "l2")

    def test_relate_inspect_convert_predict_are_the_same(self):
        for where, ending in (("dense", "npy"), ("words", "mtx")):
            files = [f"{where}/task{i}.{ending}" for i in (1, 2)]
            for command in ("relate", "inspect"):
                memory, disk = self.both(command, "--json", *files)
                self.assertEqual(memory, disk)
            for to in ("x.npy", "x.mtx", "x.npz", "x.csv"):
                memory, disk = self.both("convert", "--force", files[0], to, out=to)
                self.assertEqual(memory, disk, (files[0], to))
            self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--norm", "l2", "--save-model", f"{where}.h5", files[0])
            memory, disk = self.both("predict", "--model", f"{where}.h5", files[1])
            self.assertEqual(memory, disk)
            self.assertEqual(len(memory.splitlines()), 2000 if where == "dense" else 1000)

    def test_a_file_is_not_changed(self):
        with open(self.path("dense/task1.npy"), "rb") as f:
            before = f.read()
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--scale", "standard", "--stream", "dense/task1.npy")
        with open(self.path("dense/task1.npy"), "rb") as f:
            self.assertEqual(f.read(), before)

    def test_other_layouts_of_npy(self):
        import numpy as np
        x = np.load(self.path("dense/task1.npy"))
        np.save(self.path("f4.npy"), x.astype("f4"))
        np.save(self.path("fortran.npy"), np.asfortranarray(x))
        np.save(self.path("swapped.npy"), x.astype(">f8"))
        for name in ("f4", "fortran", "swapped"):
            self.same_result("cluster", "-m", "kmeans", "-k", 3, name + ".npy")

    def test_no_room_for_a_scratch_file(self):
        self.fails("cluster", "-m", "kmeans", "-k", 3, "--stream", "words/task1.mtx", code=1,
                   says=["TMPDIR", "MB"], env={**os.environ, "TMPDIR": self.path("absent")})

    def test_truncated_file(self):
        with open(self.path("dense/task1.npy"), "rb") as f:
            self.write("short.npy", f.read()[:-8])
        self.fails("cluster", "-m", "kmeans", "-k", 3, "--stream", "short.npy", code=3, says=["short.npy"])


class Limit(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--tasks", 1, "-k", 3, "-n", 3000, "-d", 6, "--to", "npy", "-o", "data")

    def test_a_method_that_needs_more(self):
        self.fails("cluster", "-m", "snmf", "-k", 3, "--max-memory", "20M", "-o", "out", "data/task1.npy", code=1,
                   says=["method 'snmf' needs another", " MB of memory, but", " of the 20 MB that --max-memory allows are in use; "
                         "raise the limit or use fewer samples"])
        self.assertFalse(os.path.exists(self.path("out/result.json")))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--max-memory", "20M", "-o", "out", "data/task1.npy")

    def test_what_the_machine_cannot_hold(self):
        self.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1000000 3 1000000\n"
                   + "".join(f"{i + 1} {i % 3 + 1} 1\n" for i in range(1000000)))
        for method in ("snmf", "mtcfir"):
            self.fails("cluster", "-m", method, "-k", 3, "wide.mtx", code=1,
                       says=[f"method '{method}' needs another", " TB of memory", "this machine has"])

    def test_auto_skips_what_needs_more(self):
        """snmf has 3000 x 3000 numbers."""
        self.run_kindred("cluster", "-k", 3, "--max-memory", "30M", "-o", "out", "data/task1.npy")
        self.assertTrue(any("method 'snmf'" in w and "--max-memory allows" in w for w in self.result()["warnings"]), self.result()["warnings"])

    def test_jobs_that_fit_nothing(self):
        """predict, relate, embed and vectorize end with the figures, and nothing is written."""
        self.run_kindred("cluster", "-m", "snmf", "-k", 3, "-q", "-o", "out", "--save-model", "m.h5", "data/task1.npy")
        self.write("texts.txt", "".join("of words there are some, and others: %s\n" % " ".join(
            f"w{chr(97 + (i * j) % 26)}{chr(97 + j)}" for j in range(20)) for i in range(110000)))
        for args in (["predict", "--model", "m.h5", "-o", "p.labels", "data/task1.npy"], ["relate", "a=data/task1.npy", "b=data/task1.npy"],
                     ["embed", "-o", "e.csv", "data/task1.npy"], ["vectorize", "-o", "words", "texts.txt"]):
            self.run_kindred(*args, "--force")
            before = sorted(os.listdir(self.dir))
            self.fails(*args, "--force", "--max-memory", "600K", code=1, says=["needs another", "of the 600 kB that --max-memory allows are in use"])
            self.assertEqual(sorted(os.listdir(self.dir)), before)


class Size(CliTest):
    def test_wrong_sizes(self):
        self.write("a.csv", "x,y\n1,2\n3,4\n")
        for size in ("", "0", "-1", "G", "5X", "1GB", "nan", "inf", "1e400"):
            self.fails("cluster", "-k", 2, "--max-memory", size, "a.csv", code=2, says=["--max-memory", "K, M, G or T"])


if __name__ == "__main__":
    unittest.main()
