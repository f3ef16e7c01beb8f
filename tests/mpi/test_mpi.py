#!/usr/bin/python3
"""The program under mpirun: 1 to 4 ranks against one process, and what happens when one of them fails.

Run by tools/mpi.sh, in a build with KINDRED_MPI. Ranks share the cores there are: --oversubscribe."""
import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from harness import KINDRED, CliTest  # noqa: E402

MPIRUN = ["mpirun", "-q", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
RANKS = (1, 2, 3, 4)


class MpiTest(CliTest):
    def mpi(self, ranks, *args, code=0, timeout=120):
        done = subprocess.run([*MPIRUN, "-n", str(ranks), KINDRED, *map(str, args)], cwd=self.dir, capture_output=True,
                              text=True, timeout=timeout)
        self.assertEqual(done.returncode, code, f"{args}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def blobs(self, n, d=6, to="npy", tasks=2, k=4, separation=1.5):
        self.run_kindred("generate", "--tasks", tasks, "-k", k, "-n", n, "-d", d, "--separation", separation, "--shift", 0.3, "--to", to,
                         "-o", "data", "-q")
        return [f"data/task{t + 1}.{to}" for t in range(tasks)]

    def labels(self, folder, tasks):
        return [self.read(f"{folder}/{t}.labels").split() for t in tasks]

    def same(self, *args, tasks=("task1", "task2"), ranks=RANKS):
        """All numbers of ranks give the labels of one process without mpirun; returns the last result."""
        self.run_kindred(*args, "-o", "alone", "--force", "-q")
        tasks = tasks or [t["name"] for t in self.result("alone/result.json")["tasks"] if t["labels"]]
        one = self.labels("alone", tasks)
        for r in ranks:
            self.mpi(r, *args, "-o", "out", "--force", "-q")
            self.assertEqual(self.labels("out", tasks), one, f"{r} ranks: {args}")
            self.assertEqual(self.leftovers(), [])
            self.nearly(self.result(), self.result("alone/result.json"))
        result = self.result()
        self.assertEqual([t["n"] for t in result["tasks"] if t["labels"]], [len(x) for x in one])
        return result

    OF_THE_RUN = ("command_line", "threads", "seconds", "peak_rss_bytes", "method_fields", "table",
                  "exploratory_p", "exploratory_p_adjusted")  # the last two are not computed by several processes

    def nearly(self, many, one, where="result"):
        """All that result.json says, to rounding: profiles, confidences, examples, scores."""
        self.assertIs(type(many) if type(many) is not int else float, type(one) if type(one) is not int else float, where)
        if isinstance(one, dict):
            self.assertEqual([k for k in many if k not in self.OF_THE_RUN], [k for k in one if k not in self.OF_THE_RUN], where)
            for k in one:
                if k not in self.OF_THE_RUN:
                    self.nearly(many[k], one[k], f"{where}.{k}")
        elif isinstance(one, list):
            self.assertEqual(len(many), len(one), where)
            for i, (a, b) in enumerate(zip(many, one)):
                self.nearly(a, b, f"{where}[{i}]")
        elif isinstance(one, float):
            self.assertAlmostEqual(many, one, delta=1e-6 * max(1, abs(one)), msg=where)
        else:
            self.assertEqual(many, one, where)

    def ranks_of(self, run):
        for _ in range(200):
            found = subprocess.run(["ps", "--ppid", str(run.pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
            if len(found) == 3:
                return [int(p) for p in found]
            time.sleep(0.05)
        self.fail("no ranks")

    def one_line(self, done, *says):
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("kindred: "), lines[0])
        for piece in says:
            self.assertIn(piece, lines[0])


class Methods(MpiTest):
    def test_kmeans(self):
        files = self.blobs(501)
        result = self.same("cluster", "-m", "kmeans", "-k", 4, "--set", "n_init=2", *files)
        self.assertEqual(result["method_fields"]["ranks"], 4)

    def test_kmeans_pooled_and_prepared(self):
        files = self.blobs(301)
        for scale in ("standard", "minmax"):
            self.same("cluster", "-m", "kmeans", "-k", 4, "--pooled", "--set", "n_init=1", "--scale", scale, *files, ranks=(3,))

    def test_kmeans_sparse(self):
        self.run_kindred("generate", "--design", "topics", "-k", 3, "-n", 150, "--words", 200, "-o", "data", "-q")
        files = ["data/task1.mtx", "data/task2.mtx"]
        for weight in ("tfidf", "cpm"):
            self.same("cluster", "-m", "kmeans", "-k", 3, "--set", "n_init=1", "--weight", weight, "--norm", "l2", *files, ranks=(2, 3))

    def test_mbc_and_bregman(self):
        files = self.blobs(401)
        self.same("cluster", "-m", "mbc", "-k", 4, "--set", "n_init=2", *files)
        self.same("cluster", "-m", "bregman", "-k", 4, "--set", "n_init=1", *files)
        self.same("cluster", "-m", "mbc", "-k", 4, "--set", "n_init=1", "--set", "divergence=mahalanobis", *files, ranks=(2, 4))
        self.same("cluster", "-m", "mbc", "-k", 4, "--set", "n_init=1", "--set", "divergence=kl", "--scale", "minmax", *files, ranks=(3,))

    def test_pca_kmeans(self):
        self.same("cluster", "-m", "pca-kmeans", "-k", 4, "--set", "n_init=1", *self.blobs(301))

    def test_ncut(self):
        """On landmarks, which several ranks take by themselves."""
        files = self.blobs(501)
        args = ["cluster", "-m", "ncut", "-k", 4, "--set", "n_init=2"]
        one = self.same(*args, "--set", "graph=landmarks", "--set", "landmarks=200", *files)
        self.assertLess(one["method_fields"]["ncut.task1"], 1)
        self.same(*args, "--set", "graph=landmarks", "--set", "rounding=rotation", "--pooled", *files, ranks=(3,))
        self.run_kindred(*args, "--set", "graph=landmarks", *files, "-o", "alone", "--force", "-q")
        self.mpi(2, *args, *files, "-o", "out", "--force", "-q")
        self.assertEqual(self.labels("out", ("task1", "task2")), self.labels("alone", ("task1", "task2")))

    def test_ncut_sparse(self):
        self.run_kindred("generate", "--design", "topics", "-k", 3, "-n", 150, "--words", 200, "-o", "data", "-q")
        self.same("cluster", "-m", "ncut", "-k", 3, "--set", "n_init=1", "--set", "graph=landmarks", "--set", "landmarks=70", "--weight", "tfidf",
                  "--norm", "l2", "data/task1.mtx", "data/task2.mtx", ranks=(2, 4))

    def test_lssmtc(self):
        files = self.blobs(401)
        self.same("cluster", "-m", "lssmtc", "-k", 4, "--set", "n_init=1", *files)

    def test_lssmtc_of_many_columns(self):
        """More than 192 of both sides: block Lanczos on X; fewer rows than columns: X'X, where one process takes XX'."""
        for n, ranks in ((250, (2, 3)), (60, (3,))):
            self.run_kindred("generate", "--design", "topics", "-k", 3, "-n", n, "--words", 300, "-o", "data", "-q", "--force")
            result = self.same("cluster", "-m", "lssmtc", "-k", 3, "--set", "n_init=1", "--weight", "tfidf", "--norm", "l2", "data/task1.mtx",
                               "data/task2.mtx", ranks=ranks)
            self.assertEqual(result["method_fields"]["w_step"], "direct" if n == 250 else "factored")

    def test_ec(self):
        files = self.blobs(301)
        result = self.same("cluster", "-m", "ec", "-k", 4, "--set", "runs=8", *files)
        alone = self.result("alone/result.json")["method_fields"]
        self.assertEqual({name: value for name, value in result["method_fields"].items() if name in alone}, alone)
        self.same("cluster", "-m", "ec", "-k", "auto", "--set", "runs=6", *files, ranks=(3,))

    def test_ec_of_many_rows(self):
        """Above 32,768 samples the starts of the last k-means compete on some of the rows."""
        files = self.blobs(33000, d=3, tasks=1)
        self.same("cluster", "-m", "ec", "-k", 4, "--set", "runs=2", "--set", "max_iter=5", "--set", "n_init=2", *files, tasks=("task1",),
                  ranks=(3,))

    def test_arrays_of_all_rows(self):
        """Whether samples are rows of an array or its columns, rank 0 writes those of all ranks."""
        import numpy
        files = self.blobs(120)
        args = ["cluster", "-m", "ec", "-k", 4, "--set", "runs=5", *files, "-q", "--force"]
        self.run_kindred(*args, "-o", "alone", "--arrays", "one")
        self.mpi(3, *args, "-o", "out", "--arrays", "many")
        names = sorted(os.listdir(self.path("one")))
        self.assertEqual(sorted(os.listdir(self.path("many"))), names)
        for name in names:
            self.assertTrue((numpy.load(self.path(f"many/{name}")) == numpy.load(self.path(f"one/{name}"))).all(), name)

    def test_svm_and_logreg(self):
        source, target = self.blobs(401)
        for method in ("svm", "logreg"):
            args = ["transfer", "-m", method, "--source", source, "--labels", "data/task1.labels", "--target", target, "--truth",
                    "data/task2.labels"]
            self.same(*args, tasks=("target",))

    def test_nmtf_and_ttl(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", 101, "--words", 150, "-o", "data", "-q")
        args = ["--source", "data/task1.mtx", "--labels", "data/task1.labels", "--bridge", "data/task2.mtx", "--target", "data/task3.mtx",
                "--truth", "data/task3.labels", "--weight", "tfidf", "--norm", "l2", "--set", "max_iter=10"]
        for method in ("nmtf", "ttl"):
            result = self.same("transfer", "-m", method, *args, tasks=("bridge", "target"))
            alone = self.result("alone/result.json")
            self.assertAlmostEqual(result["objective"][-1] / alone["objective"][-1], 1, delta=1e-9)
            self.assertEqual(result["tasks"][2]["metrics"], alone["tasks"][2]["metrics"])
            self.assertEqual(result["method_fields"]["identity"], alone["method_fields"]["identity"])

    def test_a_choice_of_bridges(self):
        """All that is said of each, too."""
        self.run_kindred("generate", "--design", "topics", "--tasks", 4, "-k", 2, "-n", 61, "--words", 50, "-o", "data", "-q")
        result = self.same("transfer", "-m", "ttl", "--source", "data/task1.mtx", "--labels", "data/task1.labels", "--bridge", "data/task2.mtx",
                           "--bridge", "data/task3.mtx", "--target", "data/task4.mtx", "--truth", "data/task4.labels", "--set", "max_iter=3",
                           tasks=None, ranks=(2, 4))
        self.assertEqual(sorted(b["name"] for b in result["bridges"]), ["task2", "task3"])

    def test_probabilities(self):
        """Of classes, and where some are known; as a table, as an array and in result.json."""
        import numpy
        source, target = self.blobs(150, separation=1)
        known = self.read("data/task2.labels").split()
        self.write("known", "".join(f"{c if i % 9 == 0 else '?'}\n" for i, c in enumerate(known)))
        args = ["transfer", "-m", "logreg", "--source", source, "--labels", "data/task1.labels", "--target", target, "--probabilities",
                "--target-labels", "known", "--force"]
        self.run_kindred(*args, "-o", "alone", "--arrays", "one", "-q")
        self.mpi(3, *args, "-o", "out", "--arrays", "many", "-q")
        self.nearly(self.result(), self.result("alone/result.json"))
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(os.listdir(self.path("alone"))))
        one, many = (numpy.load(self.path(f"{folder}/calibrated.target.npy")) for folder in ("one", "many"))
        numpy.testing.assert_allclose(many, one, atol=1e-6)
        lines = [self.read(f"{folder}/target.probabilities.csv").splitlines() for folder in ("alone", "out")]
        self.assertEqual([x.split(",")[0] for x in lines[1]], [x.split(",")[0] for x in lines[0]])
        self.assertEqual(lines[1][0], lines[0][0])
        numpy.testing.assert_allclose([[float(v) for v in x.split(",")[1:]] for x in lines[1][1:]], many, atol=1e-12)

    def test_truth_and_init(self):
        files = self.blobs(300)
        self.write("init", "".join(f"{i % 4}\n" for i in range(300)))
        args = ["cluster", "-m", "kmeans", "-k", 4, "--init", "init,init", "--truth", "data/task1.labels,data/task2.labels", *files]
        self.run_kindred(*args, "-o", "alone", "-q")
        one = self.result("alone/result.json")
        for r in (2, 4):
            self.mpi(r, *args, "-o", "out", "--force", "-q")
            many = self.result()
            self.assertEqual([t["labels"] for t in many["tasks"]], [t["labels"] for t in one["tasks"]])
            self.assertEqual([t["metrics"] for t in many["tasks"]], [t["metrics"] for t in one["tasks"]])


class Parts(MpiTest):
    def test_a_file_for_each_rank(self):
        """Uneven ones, of three ranks; the rows of all in the order of the ranks are those of one file."""
        import numpy
        files = self.blobs(200, tasks=1)
        x = numpy.load(self.path(files[0]))
        for r, (begin, end) in enumerate(((0, 7), (7, 150), (150, 200))):
            numpy.save(self.path(f"part-{r}.npy"), x[begin:end])
        args = ["cluster", "-m", "kmeans", "-k", 4, "--set", "n_init=1", "-q"]
        self.run_kindred(*args, "-o", "alone", files[0])
        self.mpi(3, *args, "-o", "out", "part-{rank}.npy")
        self.assertEqual(self.read("out/part.labels"), self.read("alone/task1.labels"))
        self.mpi(3, *args, "-o", "list", "x=part-0.npy,part-1.npy,part-2.npy")
        self.assertEqual(self.read("list/x.labels"), self.read("alone/task1.labels"))

    def test_the_file_of_one_rank(self):
        files = self.blobs(60, tasks=1)
        os.rename(self.path(files[0]), self.path("part0.npy"))
        self.mpi(1, "cluster", "-m", "kmeans", "-k", 2, "-o", "out", "-q", "part{rank}.npy")
        self.assertEqual(len(self.read("out/part.labels").split()), 60)

    def test_labels_of_files_for_each_rank(self):
        """A file of labels is of all rows, in the order of the ranks."""
        import numpy
        source, target = self.blobs(120)
        for name, file in (("s", source), ("t", target)):
            x = numpy.load(self.path(file))
            for r, (begin, end) in enumerate(((0, 10), (10, 100), (100, 120))):
                numpy.save(self.path(f"{name}{r}.npy"), x[begin:end])
        args = ["transfer", "-m", "logreg", "--labels", "data/task1.labels", "--truth", "data/task2.labels", "-q", "-o"]
        self.run_kindred(*args, "alone", "--source", source, "--target", target)
        self.mpi(3, *args, "out", "--source", "s{rank}.npy", "--target", "t{rank}.npy")
        self.nearly(self.result()["tasks"][1]["metrics"], self.result("alone/result.json")["tasks"][1]["metrics"])
        self.assertEqual(self.read("out/target.labels"), self.read("alone/target.labels"))

    CLUSTER = (("kmeans", []), ("mbc", []), ("bregman", []), ("pca-kmeans", []), ("lssmtc", []), ("ec", ["--set", "runs=4"]),
               ("ncut", ["--set", "graph=landmarks", "--set", "landmarks=40"]))

    def test_uneven_and_empty_files_of_every_method(self):
        """Four ranks: the first and the last without a row of a task, those in the middle, one with a row, one with nearly all."""
        import numpy
        files = self.blobs(90, tasks=3)
        for name, file, ends in zip("abc", files, ((0, 1, 86), (5, 5, 5), (89, 90, 90))):
            for r, part in enumerate(numpy.split(numpy.load(self.path(file)), ends)):
                numpy.save(self.path(f"{name}{r}.npy"), part)
        for method, more in self.CLUSTER:
            args = ["cluster", "-m", method, "-k", 4, "-q", "--force", *more]
            self.run_kindred(*args, "-o", "alone", "a=" + files[0], "b=" + files[1], "c=" + files[2])
            self.mpi(4, *args, "-o", "out", "a{rank}.npy", "b{rank}.npy", "c{rank}.npy")
            self.assertEqual(self.labels("out", "abc"), self.labels("alone", "abc"), method)
        few = ["--scale", "minmax", "--set", "max_iter=10"]
        for method, more in (("svm", []), ("logreg", []), ("nmtf", few), ("ttl", few)):
            args = ["transfer", "-m", method, "--labels", "data/task1.labels", "--truth", "data/task2.labels", "-q", "--force", *more, "-o"]
            bridge = [["--bridge", files[2]], ["--bridge", "c{rank}.npy"]] if method == "ttl" else [[], []]
            self.run_kindred(*args, "alone", "--source", files[0], "--target", files[1], *bridge[0])
            self.mpi(4, *args, "out", "--source", "a{rank}.npy", "--target", "b{rank}.npy", *bridge[1])
            self.assertEqual(self.read("out/target.labels"), self.read("alone/target.labels"), method)
            self.assertEqual(self.result()["tasks"][-1]["metrics"], self.result("alone/result.json")["tasks"][-1]["metrics"])

    def test_more_ranks_than_rows(self):
        self.write("few.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 5\n2 2 4\n3 1 5.5\n")
        for method, more in self.CLUSTER:
            args = ["cluster", "-m", method, "-k", 2, "-q", "--force", *more, "few.mtx"]
            self.run_kindred(*args, "-o", "alone")
            self.mpi(4, *args, "-o", "out")
            self.assertEqual(self.read("out/few.labels"), self.read("alone/few.labels"), method)

    def test_formats_that_are_not_read_in_parts(self):
        self.write("x.svmlight", "1 1:2 3:4\n0 2:1\n")
        done = self.mpi(2, "cluster", "-m", "kmeans", "-k", 2, "x.svmlight", code=3)
        self.one_line(done, "svmlight", "npy", "csv", "h5ad")

    def test_tables_and_hdf5(self):
        tables = self.blobs(101, to="csv")
        files = ["task1.h5", "task2.h5"]
        for table, file in zip(tables, files):
            self.run_kindred("convert", table, file, "-q")
        for list in (tables, files):
            self.same("cluster", "-m", "kmeans", "-k", 4, "--set", "n_init=1", *list, ranks=(3,))

    def test_a_column_of_tasks(self):
        """Of AnnData: ranks have other rows of other tasks, and some have none of one."""
        try:
            import h5py
        except ImportError:
            self.skipTest("h5py is needed")
        import numpy
        files = self.blobs(120)
        x = numpy.vstack([numpy.load(self.path(f)) for f in files])
        with h5py.File(self.path("cells.h5ad"), "w") as f:
            f["X"] = x
            obs = f.create_group("obs")
            obs.attrs["_index"] = "_index"
            obs["_index"] = [f"cell{i}" for i in range(240)]
            batch = obs.create_group("batch")
            batch["codes"] = numpy.r_[numpy.full(200, 2), numpy.zeros(40)].astype("i1")
            batch["categories"] = ["late", "never", "early"]
            f.create_group("var")
        self.same("cluster", "-m", "mbc", "-k", 4, "--set", "n_init=1", "--batch-key", "batch", "cells.h5ad", tasks=("early", "late"))
        self.assertEqual(self.result()["tasks"][1]["ids"][:2], ["cell200", "cell201"])


class Outputs(MpiTest):
    def test_arrays_by_sample_are_whole(self):
        import numpy
        source, target = self.blobs(101)
        args = ["transfer", "-m", "logreg", "--source", source, "--labels", "data/task1.labels", "--target", target, "-q"]
        self.run_kindred(*args, "-o", "alone", "--arrays", "one")
        self.mpi(3, *args, "-o", "out", "--arrays", "many")
        for name in os.listdir(self.path("one")):
            numpy.testing.assert_allclose(numpy.load(self.path(f"many/{name}")), numpy.load(self.path(f"one/{name}")), atol=1e-6)

    def test_models(self):
        """Of methods whose models hold sums over all rows: they label new samples as that of one process does."""
        source, target = self.blobs(101)
        for args in (["cluster", "-m", "lssmtc", "-k", 4, source, target],
                     ["transfer", "-m", "svm", "--source", source, "--labels", "data/task1.labels", "--target", target]):
            self.run_kindred(*args, "-o", "alone", "--save-model", "one.h5", "-q", "--force")
            self.mpi(3, *args, "-o", "out", "--save-model", "many.h5", "-q", "--force")
            for model in ("one", "many"):
                more = ["--task", "task1"] if args[0] == "cluster" else []
                self.run_kindred("predict", "--model", f"{model}.h5", *more, source, "-o", f"as-{model}", "-q", "--force")
            self.assertEqual(self.read("as-many"), self.read("as-one"))

    def test_standard_output(self):
        import json
        files = self.blobs(101)
        args = ["cluster", "-m", "kmeans", "-k", 4, "--set", "n_init=1", *files]
        one = json.loads(self.run_kindred(*args).stdout)
        self.nearly(json.loads(self.mpi(3, *args).stdout), one)

    def test_what_is_refused_beforehand(self):
        files = self.blobs(50, tasks=1)
        for flag in (["--report", "-o", "out"], ["--write-h5ad", "x.h5ad"]):
            self.one_line(self.mpi(2, "cluster", "-m", "kmeans", "-k", 2, *flag, files[0], code=2), "mpirun")
            self.assertEqual([n for n in os.listdir(self.dir) if n not in ("data", "out")], [])


class Failures(MpiTest):
    def test_a_bad_file_on_one_rank(self):
        files = self.blobs(60, tasks=1)
        os.rename(self.path(files[0]), self.path("part0.npy"))
        self.write("part1.npy", b"\x93NUMPY, and no more")
        done = self.mpi(2, "cluster", "-m", "kmeans", "-k", 2, "-o", "out", "part{rank}.npy", code=3)
        self.one_line(done, "rank 1: ", "part1.npy")
        self.assertFalse(os.path.exists(self.path("out/result.json")))

    def test_columns_that_differ(self):
        import numpy
        numpy.save(self.path("part0.npy"), numpy.eye(5))
        numpy.save(self.path("part1.npy"), numpy.eye(5)[:, :4])
        done = self.mpi(2, "cluster", "-m", "kmeans", "-k", 2, "part{rank}.npy", code=3)
        self.one_line(done, "4 to 5 columns")

    def test_a_method_that_cannot(self):
        files = self.blobs(60, tasks=1)
        done = self.mpi(2, "cluster", "-m", "snmf", "-k", 2, files[0], code=2)
        self.one_line(done, "snmf", "kmeans")
        done = self.mpi(2, "cluster", "-m", "ncut", "-k", 2, "--set", "graph=neighbours", files[0], code=2)
        self.one_line(done, "graph=neighbours", "graph=landmarks")

    def test_misuse_is_said_once(self):
        self.one_line(self.mpi(3, "cluster", "-k", "no", "x.npy", code=2), "-k")

    def unlike(self, first, second):
        """Two ranks started with different arguments, one of which fails: the outcome."""
        done = subprocess.run([*MPIRUN, "-n", "1", *map(str, first), ":", "-n", "1", *map(str, second)], cwd=self.dir, capture_output=True,
                              text=True, timeout=300)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.leftovers(), [])
        self.assertFalse(os.path.exists(self.path("out/result.json")))
        return done

    def test_a_rank_that_fails_before_it_reads(self):
        """It comes by fewer places where ranks agree than the others do."""
        files = self.blobs(60)
        cluster = [KINDRED, "cluster", "-m", "kmeans", "-k", 2, "-o", "out", files[0]]
        self.one_line(self.unlike(cluster, [KINDRED, "cluster", "-m", "nothing", "-k", 2, files[0]]), "rank 1: ", "nothing")
        transfer = [KINDRED, "transfer", "--source", files[0], "--labels", "data/task1.labels", "--target", files[1], "-o", "out", "-m"]
        self.one_line(self.unlike([*transfer, "nothing"], [*transfer, "svm"]), "nothing")

    def test_a_rank_without_memory(self):
        """Of address space: too little for the libraries, for MPI, for linear algebra."""
        files = self.blobs(60, tasks=1)
        cluster = [KINDRED, "cluster", "-m", "kmeans", "-k", 2, "-o", "out", files[0]]
        started = 0
        for limit in (60000, 250000, 300000):
            limited = ["sh", "-c", f'ulimit -v {limit}; exec "$@"', "sh"]
            alone = subprocess.run([*limited, KINDRED, "--version"], capture_output=True, text=True)
            done = self.unlike(cluster, [*limited, *cluster])
            if "error while loading shared libraries" not in alone.stderr:  # else nothing of kindred's has run
                self.one_line(done, "ulimit -v")
                started += 1
        self.assertGreaterEqual(started, 2)

    def long_run(self, method="kmeans", more=()):
        files = ["data/task1.npy"]
        if not os.path.exists(self.path(files[0])):
            self.blobs(20000, d=20, tasks=1, k=30)
        return subprocess.Popen([*MPIRUN, "-n", "3", KINDRED, "cluster", "-m", method, "-k", "200", "--set", "n_init=1000",
                                 "-o", "out", "-q", *more, files[0]], cwd=self.dir, stderr=subprocess.PIPE, text=True)

    def test_a_rank_killed_in_the_middle(self):
        """Of methods that meet in other places each, some while files are read or the graph is made."""
        for method, wait in (("kmeans", 2), ("mbc", 2), ("lssmtc", 2), ("ncut", 1), ("ncut", 4)):
            run = self.long_run(method)
            ranks = self.ranks_of(run)
            time.sleep(wait)
            self.assertIsNone(run.poll(), method)
            os.kill(ranks[1], signal.SIGKILL)
            run.communicate(timeout=300)
            self.assertNotEqual(run.returncode, 0)
            self.assertFalse(os.path.exists(self.path("out/result.json")))
            self.assertEqual(self.leftovers(), [])

    def test_a_signal_and_a_time_limit_of_ncut(self):
        run = self.long_run("ncut")
        ranks = self.ranks_of(run)
        time.sleep(4)
        os.kill(ranks[2], signal.SIGINT)
        run.communicate(timeout=300)
        self.assertEqual(self.result()["stop"], "cancelled")
        self.assertEqual(len(self.read("out/task1.labels").split()), 20000)
        for limit in (0.2, 3): # before the graph is there, and after that
            self.mpi(3, "cluster", "-m", "ncut", "-k", 200, "--set", "n_init=1000", "--time-limit", limit, "-o", "out", "-q", "--force",
                     "data/task1.npy")
            self.assertEqual(self.result()["stop"], "time")
            self.assertEqual(len(self.read("out/task1.labels").split()), 20000)

    def test_time_limit_keeps_the_best(self):
        files = self.blobs(20000, d=20, tasks=1, k=30)
        self.mpi(3, "cluster", "-m", "kmeans", "-k", 200, "--set", "n_init=1000", "--time-limit", 3, "-o", "out", "-q", files[0])
        self.assertEqual(self.result()["stop"], "time")
        self.assertEqual(len(self.read("out/task1.labels").split()), 20000)

    def test_a_disk_that_is_full(self):
        """For rank 0, which writes: a limit on the size of files that it gets when it has started."""
        import resource
        run = self.long_run(more=["--time-limit", "4"])
        resource.prlimit(self.ranks_of(run)[0], resource.RLIMIT_FSIZE, (100000, 100000))
        said = run.communicate(timeout=300)[1]
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("task1.samples.csv: cannot write", said)
        self.assertIn("nothing was written", said)
        self.assertFalse(os.path.exists(self.path("out"))) # not even task1.labels, which was small enough
        self.assertEqual(self.leftovers(), [])

    def test_a_signal_to_one_rank_keeps_the_best(self):
        run = self.long_run()
        ranks = self.ranks_of(run)
        time.sleep(3)
        os.kill(ranks[2], signal.SIGINT)
        run.communicate(timeout=300)
        self.assertEqual(self.result()["stop"], "cancelled")
        self.assertEqual(len(self.read("out/task1.labels").split()), 20000)


class TransferFailures(MpiTest):
    """The same of ttl, which meets the other ranks in the start, in the sweeps and at the end."""

    def long_run(self, *more):
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", 20000, "--words", 300, "-o", "data", "-q")
        return subprocess.Popen([*MPIRUN, "-n", "3", KINDRED, "transfer", "-m", "ttl", "--source", "data/task1.mtx", "--labels",
                                 "data/task1.labels", "--bridge", "data/task2.mtx", "--target", "data/task3.mtx", "--set", "init=half",
                                 "--set", "max_iter=1000000", "--set", "tol=0", "-o", "out", "-q", *more], cwd=self.dir,
                                stderr=subprocess.PIPE, text=True)

    def stopped(self, reason):
        self.assertEqual(self.result()["stop"], reason)
        self.assertEqual(len(self.read("out/target.labels").split()), 20000)
        self.assertEqual(self.leftovers(), [])

    def test_time_limit_keeps_the_best(self):
        run = self.long_run("--time-limit", "4")
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 0)
        self.stopped("time")

    def test_a_signal_to_one_rank_keeps_the_best(self):
        run = self.long_run()
        ranks = self.ranks_of(run)
        time.sleep(4)
        os.kill(ranks[1], signal.SIGINT)
        run.communicate(timeout=300)
        self.assertEqual(run.returncode, 130)
        self.stopped("cancelled")

    def test_a_rank_killed_in_the_middle(self):
        run = self.long_run()
        ranks = self.ranks_of(run)
        time.sleep(3)
        os.kill(ranks[2], signal.SIGKILL)
        run.communicate(timeout=300)
        self.assertNotEqual(run.returncode, 0)
        self.assertFalse(os.path.exists(self.path("out/result.json")))
        self.assertEqual(self.leftovers(), [])

    def test_a_bad_file_on_one_rank(self):
        for r in range(2):
            self.write(f"s{r}.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 4\n")
            self.write(f"t{r}.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 4\n")
        self.write("t1.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n")
        self.write("labels", "a\nb\na\nb\n")
        args = ["transfer", "-m", "nmtf", "--source", "s{rank}.mtx", "--labels", "labels", "--target", "t{rank}.mtx", "-o", "out"]
        self.one_line(self.mpi(2, *args, code=3), "rank 1: ", "t1.mtx")
        self.assertFalse(os.path.exists(self.path("out/result.json")))

    def test_negative_numbers_on_one_rank(self):
        self.write("s.csv", "1,2\n3,1\n2,2\n1,4\n")
        self.write("t.csv", "1,2\n3,1\n2,2\n1,-4\n")
        self.write("labels", "a\nb\na\nb\n")
        args = ["transfer", "-m", "nmtf", "--source", "s.csv", "--labels", "labels", "--target", "t.csv"]
        self.one_line(self.mpi(3, *args, code=3), "rank 2: ", "values >= 0")

    def test_classes_that_differ(self):
        """Columns of classes in files of their own number them by first appearance: nobody takes one rank's for another's."""
        self.write("s0.csv", "x,y,c\n1,2,a\n3,1,b\n")
        self.write("s1.csv", "x,y,c\n3,1,b\n1,2,a\n")
        for r in range(2):
            self.write(f"t{r}.csv", "x,y,c\n1,2,a\n3,1,b\n")
        args = ["transfer", "-m", "svm", "--source", "s{rank}.csv", "--label-column", "c", "--target", "t{rank}.csv"]
        self.one_line(self.mpi(2, *args, code=2), "different lists of classes")


class Traffic(MpiTest):
    """docs/notes/mpi.md: what an iteration sends."""

    def sent(self, method, files, k, iterations, **options):
        settings = [x for name, value in options.items() for x in ("--set", f"{name}={value}")]
        self.mpi(2, "cluster", "-m", method, "-k", k, "--set", "tol=0", "--set", "n_init=1", "--set", f"max_iter={iterations}",
                 *settings, "-o", "out", "--force", "-q", *files)
        result = self.result()
        self.assertEqual(result["iterations"], iterations)
        self.exchanges = result["method_fields"]["exchanges"]
        return result["method_fields"]["bytes_sent"]

    def one_iteration(self, method, files, k, **options):
        """Bytes and exchanges."""
        less, before = self.sent(method, files, k, 7, **options), self.exchanges
        return self.sent(method, files, k, 8, **options) - less, self.exchanges - before

    def test_kmeans(self):
        d, k = 20, 25
        files = self.blobs(3000, d=d, tasks=2, k=30, separation=0.1)
        for tasks in (1, 2):
            # a word; sums and masses in two parts, counts of clusters and of labels that moved, of all tasks at once
            self.assertEqual(self.one_iteration("kmeans", files[:tasks], k), (8 * (1 + tasks * (2 * k * (d + 1) + k + 1)), 2))

    def test_kmeans_of_few_numbers(self):
        d, k = 4, 4
        files = self.blobs(3000, d=d, tasks=1, k=30, separation=0.1)
        self.assertEqual(self.one_iteration("kmeans", files, k), (8 * (1 + 2 * k * (d + 1) + k + 1), 1))

    def test_mbc(self):
        d, k, tasks = 20, 25, 2
        files = self.blobs(3000, d=d, tasks=tasks, k=30, separation=0.1)
        self.assertEqual(self.one_iteration("mbc", files, k, alone=0), (8 * (1 + tasks * (2 * k * (d + 1) + k + 1)), 2))

    def test_lssmtc(self):
        d, k, tasks = 20, 6, 2
        files = self.blobs(500, d=d, tasks=tasks, k=8, separation=0.5)
        each = self.sent("lssmtc", files, k, 5) - self.sent("lssmtc", files, k, 4)
        # X'P and P'P of each task, the spread in the subspace; the wish to stop; a word before each but that
        self.assertEqual(each, 8 * (tasks * (d * k + k * k + 2) + 3))

    def test_ncut(self):
        """By landmarks: their rows; sums of all pairs of them in two parts; their eigenvectors; sums of clusters in two parts."""
        d, k, few, many = 20, 6, 100, 300
        files = self.blobs(1000, d=d, tasks=1, k=8, separation=0.5)
        how = ["-m", "ncut", "--set", "n_init=1", "--set", "max_iter=1"]
        more = self.sent_with(files, k, many, *how) - self.sent_with(files, k, few, *how)
        self.assertEqual(more, 8 * ((many - few) * (d + k + 2 * k) + many * (many + 1) - few * (few + 1)))

    def test_auto(self):
        """The same for a normalised cut and a vote, there with the clusters of the partitions as columns, and their ballots and answers."""
        d, k, few, many, partitions = 6, 4, 100, 300, 7
        files = self.blobs(1000, d=d, tasks=1, k=k, separation=4)
        more = self.sent_with(files, k, many) - self.sent_with(files, k, few)
        columns = [m + partitions * k for m in (few, many)]
        self.assertEqual(more, 8 * ((many - few) * (d + 6 * k + partitions + 1) + many * (many + 1) - few * (few + 1) +
                                    columns[1] * (columns[1] + 1) - columns[0] * (columns[0] + 1)))

    def sent_with(self, files, k, landmarks, *more):
        self.mpi(2, "cluster", "-k", k, "--set", f"landmarks={landmarks}", "-o", "out", "--force", "-q", *more, *files)
        return self.result()["method_fields"]["bytes_sent"]


if __name__ == "__main__":
    unittest.main()
