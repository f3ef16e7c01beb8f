#!/usr/bin/python3
"""A rank's own file without rows, under mpirun: a part without rows in every format; elsewhere an error as ever.

Run by tools/mpi.sh beside test_mpi.py, which has all methods on such files of one format."""
import unittest

import numpy
import test_mpi

TITLES = [f"c{j}" for j in range(4)]
HEADER = "%%MatrixMarket matrix "


class Empty(test_mpi.MpiTest):
    def setUp(self):
        super().setUp()
        self.x = numpy.round(numpy.random.default_rng(3).normal(size=(24, 4)) * 2) + numpy.repeat([[0], [9], [30]], 8, axis=0)
        self.parts = [self.x[:0], self.x[:20], self.x[20:20], self.x[20:]]

    def table(self, name, part, sep=",", text=False, first=0):
        lines = [sep.join((["id"] if text else []) + TITLES + (["kind", "class"] if text else []))]
        for i, row in enumerate(part):
            lines.append(sep.join(([f"s{first + i}"] if text else []) + [f"{v:g}" for v in row] +
                                  ([("red", "blue")[i % 2], "AB"[i % 2]] if text else [])))
        self.write(name, "\n".join(lines) + "\n")

    def coordinates(self, name, part):
        at = numpy.argwhere(part)
        lines = [f"{i + 1} {j + 1} {part[i, j]:g}" for i, j in at]
        self.write(name, "\n".join([HEADER + "coordinate real general", f"{len(part)} 4 {len(at)}", *lines]) + "\n")

    def array(self, name, part):
        self.write(name, "\n".join([HEADER + "array real general", f"{len(part)} 4", *(f"{v:g}" for v in part.T.ravel())]) + "\n")

    def hdf5(self, name, part, sparse=False, classes=False):
        import h5py
        import scipy.sparse
        with h5py.File(self.path(name), "w") as f:
            if sparse:
                x = scipy.sparse.csr_matrix(part)
                group = f.create_group("X")
                group.attrs["encoding-type"] = "csr_matrix"
                group.attrs["shape"] = x.shape
                for what in ("data", "indices", "indptr"):
                    group[what] = getattr(x, what)
            else:
                f["X"] = part
            if name.endswith("h5ad"):
                for frame, names in (("obs", [f"{name}{i}" for i in range(len(part))]), ("var", TITLES)):
                    group = f.create_group(frame)
                    group.attrs["_index"] = "_index"
                    group["_index"] = numpy.array(names, dtype="S20")
            if classes:
                column = f["obs"].create_group("class")
                column["codes"] = (numpy.arange(len(part)) % 2).astype("i1")
                column["categories"] = ["A", "B"]

    def test_formats(self):
        """One command, a task for each format; labels of all rows beside them."""
        try:
            import h5py  # noqa: F401
            import scipy.sparse
        except ImportError:
            self.skipTest("h5py and SciPy are needed")
        for r, part in enumerate(self.parts):
            self.table(f"csv{r}.csv", part)
            self.table(f"tsv{r}.tsv", part, sep="\t")
            self.coordinates(f"mtx{r}.mtx", part)
            self.array(f"array{r}.mtx", part)
            numpy.save(self.path(f"npy{r}.npy"), part)
            scipy.sparse.save_npz(self.path(f"npz{r}.npz"), scipy.sparse.csr_matrix(part))
            self.hdf5(f"hdf{r}.h5", part)
            self.hdf5(f"hdfs{r}.h5", part, sparse=True)
            self.hdf5(f"ad{r}.h5ad", part)
            self.hdf5(f"ads{r}.h5ad", part, sparse=True)
        numpy.save(self.path("whole.npy"), self.x)
        self.write("init", "".join(f"{i % 3}\n" for i in range(24)))
        files = ("csv{rank}.csv", "tsv{rank}.tsv", "mtx{rank}.mtx", "array{rank}.mtx", "npy{rank}.npy", "npz{rank}.npz", "hdf{rank}.h5",
                 "hdfs{rank}.h5", "ad{rank}.h5ad", "ads{rank}.h5ad")
        args = ["cluster", "-m", "kmeans", "-k", 3, "-q", "-o"]
        self.run_kindred(*args, "alone", "--init", "init", "--truth", "init", "whole.npy")
        alone = self.result("alone/result.json")["tasks"][0]
        for more in ([], ["--stream"]):
            many = ",".join(["init"] * len(files))
            self.mpi(4, *args, "out", "--force", "--features", "position", "--init", many, "--truth", many, *more, *files)
            for t, (file, task) in enumerate(zip(files, self.result()["tasks"])):  # k-means matches no clusters: each has its numbers
                self.assertEqual(task["labels"], [3 * t + label for label in alone["labels"]], file)
                self.assertEqual(task["metrics"], alone["metrics"], file)

    def test_names_classes_and_texts(self):
        """Ids, a column of classes, and one of texts, which a part without rows cannot know to be one."""
        numbers = (0, 0, 20, 20)
        for r, part in enumerate(self.parts):
            self.table(f"t{r}.csv", part, text=True, first=numbers[r])
        self.table("whole.csv", self.x, text=True)
        args = ["cluster", "-m", "kmeans", "-k", 3, "--set", "n_init=1", "--scale", "minmax", "--label-column", "class", "-q", "-o"]
        self.run_kindred(*args, "alone", "t=whole.csv")
        self.mpi(4, *args, "out", "t{rank}.csv")
        one, many = self.result("alone/result.json"), self.result()
        for name in ("clusters", "confidence", "metrics"): # means are to rounding
            self.nearly(many["tasks"][0][name], one["tasks"][0][name])
        for name in ("labels", "ids"):
            self.assertEqual(many["tasks"][0][name], one["tasks"][0][name])
        rows = [[line.split(",")[:2] for line in self.read(f"{folder}/t.samples.csv").splitlines()] for folder in ("out", "alone")]
        self.assertEqual(rows[0], rows[1])

    def test_classes_of_anndata(self):
        try:
            import h5py  # noqa: F401
            import scipy.sparse  # noqa: F401
        except ImportError:
            self.skipTest("h5py and SciPy are needed")
        for r, part in enumerate(self.parts[:3]):
            self.hdf5(f"s{r}.h5ad", part, classes=True)
            self.hdf5(f"t{r}.h5ad", part[::-1], sparse=True)
        self.hdf5("s.h5ad", self.x[:20], classes=True)
        self.hdf5("t.h5ad", self.x[:20][::-1], sparse=True)
        args = ["transfer", "-m", "logreg", "--label-column", "class", "-q", "-o"]
        self.run_kindred(*args, "alone", "--source", "s.h5ad", "--target", "t.h5ad")
        self.mpi(3, *args, "out", "--source", "s{rank}.h5ad", "--target", "t{rank}.h5ad")
        self.assertEqual(self.read("out/target.labels"), self.read("alone/target.labels"))

    def test_parts_that_do_not_fit(self):
        """Each in one line; and nobody waits for ever where ranks see other columns."""
        save = lambda r, part: numpy.save(self.path(f"p{r}.npy"), part)
        save(0, self.x), save(1, numpy.zeros((0, 5)))
        cluster = ["cluster", "-m", "kmeans", "-k", 2, "-o", "out"]
        self.one_line(self.mpi(2, *cluster, "p{rank}.npy", code=3), "rank 1: p1.npy", "its columns differ", "rank 0")
        save(0, self.x[:0]), save(1, self.x[:0])
        self.one_line(self.mpi(2, *cluster, "p{rank}.npy", code=3), "data set p", "no rank has a row")
        for zero, one, says in (("a,b\n1,2\n3,4\n", "a,c\n", ("rank 1: p1.csv", "its columns differ")),
                                ("a,b\n1,2\n3,4\n", "a,b\nred,3\nblue,4\nred,4\n", ("2 to 3 columns",)),
                                ("a,d\n1,2020-01-03\n2,2020-01-04\n", "a,d\n", ("p0.csv", "dates", "--columns '-d'")),
                                ("a,t\n1,p\n2,q\n5,p\n", "a,t\n1,q\n2,p\n", ("the same data sets",))):
            self.write("p0.csv", zero)
            self.write("p1.csv", one)
            more = ["--task-column", "t"] if "t\n" in zero[:5] else []
            self.one_line(self.mpi(2, *cluster, *more, "p{rank}.csv", code=2 if "dates" in says else 3), *says)
        self.write("p1.csv", "a,t\n")
        self.one_line(self.mpi(2, *cluster, "--task-column", "t", "p{rank}.csv", code=3), "rank 1: p1.csv", "no rows")
        self.one_line(self.mpi(2, *cluster, "--missing", "mean", "p{rank}.csv", code=2), "--missing mean", "drop-row")
        self.assertEqual(self.leftovers(), [])

    def test_an_empty_file_of_all_rows(self):
        """Of which each rank would have a part; and without ranks."""
        numpy.save(self.path("p0.npy"), self.x[:0])
        self.table("p.csv", self.x[:0])
        for file, says in (("p0.npy", "empty (0 x 4)"), ("p.csv", "a header of 4 columns, but no rows"), ("p{rank}.npy", "empty (0 x 4)")):
            for ranks in (1, 2) if file != "p{rank}.npy" else (1,):
                self.one_line(self.mpi(ranks, "cluster", "-m", "kmeans", "-k", 2, file, code=3), says)


if __name__ == "__main__":
    unittest.main()
