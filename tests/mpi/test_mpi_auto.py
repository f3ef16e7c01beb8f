#!/usr/bin/python3
"""auto under mpirun: against one process on a graph of landmarks, with what it says besides; and ranks that stop or fail.

Run by tools/mpi.sh beside test_mpi.py."""
import os
import shutil
import signal
import subprocess
import time
import unittest

import test_mpi
from harness import KINDRED

FEW = ["--set", "graph=landmarks", "--set", "landmarks=60", "--set", "seeds=1", "--set", "n_init=2"]
LANDMARKS = [*FEW, "--max-memory", "8G"]  # without runs of each data set alone


class Auto(test_mpi.MpiTest):
    def fields(self, many, one):
        """Numbers and sentences of the method: guard, noise, members, what k there might be."""
        for name, value in one["method_fields"].items():
            if isinstance(value, str):
                self.assertEqual(many["method_fields"][name], value, name)
            else:
                self.assertAlmostEqual(many["method_fields"][name], value, delta=1e-6 * max(1, abs(value)), msg=name)

    def auto(self, *args, **kwargs):
        result = self.same("cluster", *LANDMARKS, *args, **kwargs)
        self.fields(result, self.result("alone/result.json"))
        return result

    def test_dense(self):
        result = self.auto("-k", 4, "--truth", "data/task1.labels,data/task2.labels", *self.blobs(203))
        self.assertEqual(result["method_fields"]["ranks"], 4)
        self.assertIn("pool", result["method_fields"]["members"])
        self.assertEqual(len(result["correspondence"]), 2)
        self.assertTrue(all(len(t["confidence"]) == 203 for t in result["tasks"]))

    def test_words_and_k(self):
        """Preprocessing by what the data of all ranks look like, k by the graph. With a limit of memory, one process fits the neighbouring
        numbers of clusters separately, as ranks do (docs/levels.md)."""
        self.run_kindred("generate", "--design", "topics", "-k", 3, "-n", 90, "--words", 200, "-o", "data", "-q")
        result = self.auto("-k", "auto", "--set", "k_max=5", "data/task1.mtx", "data/task2.mtx", ranks=(3,))
        self.assertIn("; l2", result["preprocessing"])
        self.assertIn("k_evidence", result["method_fields"])

    def test_runs_alone_and_clusters_carried_over(self):
        """Also if a rank has no rows of the small data set."""
        import numpy
        file = self.blobs(203)[0]
        numpy.save(self.path("small.npy"), numpy.load(self.path("data/task2.npy"))[:48])
        for more, source in (((), "task1"), (("--no-transfer",), None)):
            result = self.same("cluster", *FEW, "-k", 4, *more, "small.npy", file, tasks=("small", "task1"), ranks=(2, 3))
            self.fields(result, self.result("alone/result.json"))
            self.assertEqual(result["tasks"][0]["sharing"]["from"], source)
        numpy.save(self.path("small-0.npy"), numpy.load(self.path("small.npy")))
        numpy.save(self.path("small-1.npy"), numpy.load(self.path("small.npy"))[:0])
        for rank, part in enumerate(numpy.split(numpy.load(self.path(file)), [100])):
            numpy.save(self.path(f"large-{rank}.npy"), part)
        self.run_kindred("cluster", *FEW, "-k", 4, "-o", "alone", "--force", "-q", "small.npy", file)
        self.mpi(2, "cluster", *FEW, "-k", 4, "-o", "out", "--force", "-q", "small-{rank}.npy", "large-{rank}.npy")
        self.assertEqual(self.read("out/small.labels"), self.read("alone/small.labels"))

    def test_landmarks_by_itself(self):
        """Several ranks need no option; neighbours are refused there."""
        import numpy
        files = self.blobs(150)
        self.run_kindred("cluster", "-k", 4, "--set", "graph=landmarks", "-o", "alone", "-q", *files)
        for name, file, ends in zip("ab", files, ((0, 3), (149, 149))): # parts without rows and with few
            for r, part in enumerate(numpy.split(numpy.load(self.path(file)), ends)):
                numpy.save(self.path(f"{name}-{r}.npy"), part)
        self.mpi(3, "cluster", "-k", 4, "-o", "out", "-q", "a-{rank}.npy", "b-{rank}.npy")
        for name, task in zip("ab", ("task1", "task2")):
            self.assertEqual(self.read(f"out/{name}.labels"), self.read(f"alone/{task}.labels"))
        done = self.mpi(2, "cluster", "-k", 4, "--set", "graph=neighbours", *files, code=2)
        self.one_line(done, "graph=neighbours", "graph=landmarks")

    def test_more_ranks_than_rows(self):
        self.write("few.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 5\n2 2 4\n3 1 5.5\n")
        self.run_kindred("cluster", "-k", 2, "--set", "graph=landmarks", "-q", "-o", "alone", "few.mtx")
        self.mpi(4, "cluster", "-k", 2, "-q", "-o", "out", "few.mtx")
        self.assertEqual(self.read("out/few.labels"), self.read("alone/few.labels"))

    def test_arrays_and_model(self):
        import numpy
        files = self.blobs(120)
        args = ["cluster", "-k", 4, *LANDMARKS, *files, "-q", "--force"]
        self.run_kindred(*args, "-o", "alone", "--arrays", "one", "--save-model", "one.h5")
        self.mpi(2, *args, "-o", "out", "--arrays", "many", "--save-model", "many.h5")
        names = sorted(os.listdir(self.path("one")))
        self.assertEqual(sorted(os.listdir(self.path("many"))), names)
        for name in names:
            numpy.testing.assert_allclose(numpy.load(self.path(f"many/{name}")), numpy.load(self.path(f"one/{name}")), atol=1e-9, err_msg=name)
        for model in ("one", "many"):
            self.run_kindred("predict", "--model", f"{model}.h5", "--task", "task1", files[0], "-o", f"as-{model}", "-q")
        self.assertEqual(self.read("as-many"), self.read("as-one"))

    def test_time_limit_and_interrupt(self):
        """Whatever is under way, an answer is written."""
        files = self.blobs(8000, d=30, tasks=1, k=30)
        for limit in (0.2, 2):
            self.mpi(3, "cluster", "-k", 20, "--set", "seeds=1000", "--time-limit", limit, "-o", "out", "--force", "-q", *files)
            self.assertEqual(self.result()["stop"], "time")
            self.assertEqual(len(self.read("out/task1.labels").split()), 8000)
        shutil.rmtree(self.path("out"))
        run = subprocess.Popen([*test_mpi.MPIRUN, "-n", "3", KINDRED, "cluster", "-k", "20", "--set", "seeds=1000", "-o", "out", "-q", *files],
                               cwd=self.dir, stderr=subprocess.PIPE, text=True)
        ranks = self.ranks_of(run)
        time.sleep(4)
        os.kill(ranks[1], signal.SIGINT) # one is asked, all stop
        run.communicate(timeout=100)
        self.assertEqual(self.result()["stop"], "cancelled")

    def test_a_rank_killed(self):
        files = self.blobs(8000, d=30, tasks=1, k=30)
        run = subprocess.Popen([*test_mpi.MPIRUN, "-n", "3", KINDRED, "cluster", "-k", "20", "--set", "seeds=1000", "-o", "out", "-q", *files],
                               cwd=self.dir, stderr=subprocess.PIPE, text=True)
        ranks = self.ranks_of(run)
        time.sleep(2)
        os.kill(ranks[1], signal.SIGKILL)
        run.communicate(timeout=300)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse(os.path.exists(self.path("out/result.json")))


class Quality(test_mpi.MpiTest):
    def test_many_samples(self):
        """Silhouettes are simplified everywhere."""
        files = self.blobs(20100, d=2, tasks=1, k=3)
        result = self.same("cluster", "-m", "kmeans", "-k", 3, "--set", "n_init=1", "--quality", *files, tasks=("task1",), ranks=(2,))
        self.assertGreater(result["tasks"][0]["quality"]["stability"], 0.9)

    def test_few_samples(self):
        """They are simplified on several ranks alone."""
        files = self.blobs(150)
        args = ["cluster", "-m", "kmeans", "-k", 4, "--quality", "-q", "--force", *files]
        self.run_kindred(*args, "-o", "alone")
        self.mpi(3, *args, "-o", "out")
        for one, many in zip(self.result("alone/result.json")["tasks"], self.result()["tasks"]):
            self.assertEqual(many["quality"]["silhouette_kind"], "simplified")
            for name in ("davies_bouldin", "calinski_harabasz", "stability", "resamples"):
                self.nearly(many["quality"][name], one["quality"][name], name)


if __name__ == "__main__":
    unittest.main()
