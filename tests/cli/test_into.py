"""cluster --into and transfer --into: data sets are added to a saved model."""
import collections
import os
import random
import unittest

from harness import CliTest

try:
    import h5py
except ImportError:
    h5py = None


def points(n, seed, centres, sigma=0.6):
    r = random.Random(seed)
    rows = [[r.gauss(c, sigma) for c in centres[i % len(centres)]] for i in range(n)]
    return "x,y,z\n" + "".join("%.5f,%.5f,%.5f\n" % tuple(row) for row in rows)


CORNERS = [(0, 0, 0), (6, 0, 0), (0, 6, 0)]


@unittest.skipUnless(h5py, "h5py is missing")
class Into(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", points(90, 1, CORNERS))
        self.write("b.csv", points(60, 2, CORNERS))
        self.write("c.csv", points(45, 3, CORNERS))
        self.write("a.labels", "".join("pqr"[i % 3] + "\n" for i in range(90)))

    def model(self, *more):
        self.run_kindred("cluster", "-k", 3, "-q", "--save-model", "m.h5", "--force", "-o", "out", "a.csv", "b.csv", *more)

    def labels(self, name):
        return self.read(name).split()

    def numbers(self, name, of=3):
        """The most frequent number of each corner."""
        labels = self.labels(name)
        return [collections.Counter(labels[i::of]).most_common(1)[0][0] for i in range(of)]

    def test_clusters_keep_their_numbers(self):
        self.model()
        done = self.run_kindred("cluster", "--into", "m.h5", "--save-model", "m2.h5", "-o", "new", "c.csv")
        self.assertEqual(self.numbers("new/c.labels"), self.numbers("out/a.labels"))
        self.assertIn("continues clusters of the model", done.stdout)
        self.assertEqual(sorted(f for f in os.listdir(self.path("new")) if f.endswith(".labels")), ["c.labels"])
        tasks = {t["name"]: t for t in self.result("new/result.json")["tasks"]}
        self.assertEqual(list(tasks), ["a", "b", "c"])
        self.assertEqual([len(tasks[t]["labels"]) for t in tasks], [0, 0, 45])
        self.assertEqual(sum(tasks["a"]["sizes"]), 90)
        # The new model recognises the samples of all data sets
        for name, of in (("a", "out"), ("b", "out"), ("c", "new")):
            got = self.run_kindred("predict", "--model", "m2.h5", "--task", name, f"{name}.csv").stdout
            self.assertEqual(got, self.read(f"{of}/{name}.labels"))
        # and further data sets can be added to it
        self.write("d.csv", points(30, 4, CORNERS))
        self.run_kindred("cluster", "--into", "m2.h5", "-q", "-o", "more", "d.csv")
        self.assertEqual(self.numbers("more/d.labels"), self.numbers("out/a.labels"))

    def test_new_clusters(self):
        self.model()
        self.write("n.csv", points(90, 5, [CORNERS[0], (6, 6, 9), CORNERS[2]], 0.3))
        for how, most in (("auto", 3), ("yes", 3), ("no", 2)):
            self.run_kindred("cluster", "--into", "m.h5", "--new-clusters", how, "-q", "--force", "-o", "new", "n.csv")
            numbers = list(map(int, self.numbers("new/n.labels")))
            old = list(map(int, self.numbers("out/a.labels")))
            self.assertEqual((numbers[0], numbers[2]), (old[0], old[2]), how)
            self.assertEqual(max(numbers), most, how)
            fields = self.result("new/result.json")["method_fields"]
            self.assertEqual(fields["new_clusters.n"], how != "no")
        # Two data sets with the same new cluster give it the same number
        self.write("o.csv", points(60, 6, [CORNERS[0], (6, 6, 9), CORNERS[2]], 0.3))
        self.run_kindred("cluster", "--into", "m.h5", "-q", "--force", "-o", "new", "n.csv", "o.csv")
        self.assertEqual(self.numbers("new/n.labels"), self.numbers("new/o.labels"))

    def test_sparse_and_words(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", "60,60,50", "--words", 400, "--length", 30, "--seed", 7, "-q",
                         "-o", "data")
        self.run_kindred("cluster", "-k", 3, "-q", "--save-model", "m.h5", "-o", "out", "data/task1.mtx", "data/task2.mtx")
        self.run_kindred("cluster", "--into", "m.h5", "-q", "-o", "new", "data/task3.mtx")
        self.run_kindred("cluster", "-k", 3, "-q", "-o", "all", "data/task1.mtx", "data/task2.mtx", "data/task3.mtx")
        # words that are only in the new data set do not dominate: the same clusters as together, and their numbers
        together, added = self.labels("all/task3.labels"), self.labels("new/task3.labels")
        pairs = collections.Counter(zip(together, added))
        self.assertGreater(sum(n for _, n in pairs.most_common(3)), 45)
        truth = self.labels("data/task1.labels"), self.labels("data/task3.labels")
        for c in set(truth[0]):
            old = collections.Counter(z for z, t in zip(self.labels("out/task1.labels"), truth[0]) if t == c).most_common(1)[0][0]
            new = collections.Counter(z for z, t in zip(added, truth[1]) if t == c).most_common(1)[0][0]
            self.assertEqual(old, new)
        # new samples are labelled by a vote
        self.run_kindred("predict", "--model", "m.h5", "--task", "task1", "-q", "-o", "p.labels", "data/task3.mtx")
        self.assertGreater(sum(a == b for a, b in zip(self.labels("p.labels"), added)), 40)
        with self.change_model("m.h5") as f:
            values = f["arrays/centroids/0"][:2]
            del f["arrays/centroids/0"]
            f["arrays/centroids/0"] = values
        self.fails("cluster", "--into", "m.h5", "data/task3.mtx", code=3, says="'centroids' does not have 3 clusters")

    def test_threads(self):
        self.model()
        for threads in (1, 2):
            self.run_kindred("cluster", "--into", "m.h5", "-q", "--threads", threads, "-o", f"t{threads}", "c.csv")
        self.assertEqual(self.read("t1/c.samples.csv"), self.read("t2/c.samples.csv"))

    def test_mixed_tables(self):
        r = random.Random(1)
        for name, n in (("ta", 80), ("tb", 60), ("tc", 50)):
            rows = ["income,plan,active"]
            for i in range(n):
                rich = i % 2
                rows.append("%s,%s,%s" % ("" if r.random() < 0.05 else "%.1f" % r.gauss(90 if rich else 20, 4),
                                          r.choice(["gold", "gold", "silver"] if rich else ["basic", "basic", "silver"]),
                                          "yes" if (r.random() < 0.9) == rich else "no"))
            self.write(f"{name}.csv", "\n".join(rows) + "\n")
        self.run_kindred("cluster", "-k", 2, "-q", "--save-model", "m.h5", "-o", "out", "ta.csv", "tb.csv")
        self.run_kindred("cluster", "--into", "m.h5", "-q", "--save-model", "m2.h5", "-o", "new", "tc.csv")
        self.assertEqual(self.numbers("new/tc.labels", 2), self.numbers("out/ta.labels", 2))
        for name, of in (("ta", "out"), ("tc", "new")):
            got = self.run_kindred("predict", "--model", "m2.h5", "--task", name, f"{name}.csv").stdout
            self.assertEqual(got, self.read(f"{of}/{name}.labels"))

    def test_transfer(self):
        self.run_kindred("transfer", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", "-q", "--save-model", "m.h5", "-o", "out")
        self.run_kindred("transfer", "--into", "m.h5", "-q", "--save-model", "m2.h5", "-o", "new", "c.csv")
        self.assertEqual(self.numbers("new/c.labels"), ["p", "q", "r"])
        self.assertEqual(sorted(f for f in os.listdir(self.path("new")) if f.endswith(".labels")), ["c.labels"])
        self.assertEqual(self.run_kindred("predict", "--model", "m2.h5", "c.csv").stdout, self.read("new/c.labels"))
        self.run_kindred("transfer", "--into", "m2.h5", "-q", "-o", "more", "--target", "d=c.csv")
        self.assertEqual(self.numbers("more/d.labels"), ["p", "q", "r"])
        self.fails("transfer", "--into", "m.h5", "--source", "a.csv", "c.csv", code=2, says="takes the source from the model")
        self.fails("transfer", "--into", "m.h5", code=2, says="one or more targets")
        self.fails("cluster", "--into", "m.h5", "c.csv", code=2, says=["'kindred cluster'", "'kindred transfer'"])

    def test_model_size(self):
        self.model("--model-size", 30)
        with h5py.File(self.path("m.h5")) as f:
            for t in "01":
                self.assertLessEqual(len(f[f"remembered/{t}/labels"]), 30)
                self.assertEqual(set(f[f"remembered/{t}/labels"][:]), {0, 1, 2})
                self.assertEqual(f[f"remembered/{t}/x"].shape, (len(f[f"remembered/{t}/labels"]), 3))
        self.run_kindred("cluster", "--into", "m.h5", "-q", "-o", "new", "c.csv")
        self.assertEqual(self.numbers("new/c.labels"), self.numbers("out/a.labels"))

    def test_without_samples(self):
        self.model("--model-without-samples")
        with h5py.File(self.path("m.h5")) as f:
            self.assertEqual([len(f["remembered"]), len(f["known"])], [0, 0])
            self.assertEqual(f["moments/0/directions"].shape, (3, 3, 3))
            self.assertEqual(list(f["moments/1"].attrs["draws"]), list(f["tasks/1"].attrs["sizes"]))
        self.run_kindred("predict", "--model", "m.h5", "--task", "a", "c.csv")
        for threads in (1, 2):
            self.run_kindred("cluster", "--into", "m.h5", "-q", "--force", "--save-model", "m2.h5", "--model-without-samples", "--threads", threads, "-o", f"t{threads}", "c.csv")
            self.assertEqual(self.numbers(f"t{threads}/c.labels"), self.numbers("out/a.labels"))
        self.assertEqual(self.read("t1/c.samples.csv"), self.read("t2/c.samples.csv"))
        # samples that were drawn are not stored, and what the model had stays the same
        with h5py.File(self.path("m.h5")) as f, h5py.File(self.path("m2.h5")) as g:
            self.assertEqual([len(g["remembered"]), len(g["known"]), len(g["moments"])], [0, 0, 3])
            self.assertTrue((f["moments/0/mean"][:] == g["moments/0/mean"][:]).all())
        self.run_kindred("cluster", "--into", "m2.h5", "-q", "-o", "more", "d=c.csv")
        self.assertEqual(self.numbers("more/d.labels"), self.numbers("out/a.labels"))
        # a further data set with samples
        self.run_kindred("cluster", "--into", "m.h5", "-q", "--force", "--save-model", "m3.h5", "-o", "t3", "c.csv")
        with h5py.File(self.path("m3.h5")) as f:
            self.assertEqual([list(f["remembered"]), sorted(f["moments"])], [["2"], ["0", "1"]])
        self.run_kindred("cluster", "--into", "m3.h5", "-q", "--force", "-o", "more", "d=c.csv")
        self.assertEqual(self.numbers("more/d.labels"), self.numbers("out/a.labels"))
        self.fails("cluster", "-k", 3, "--model-without-samples", "a.csv", code=2, says="--save-model")
        self.fails("cluster", "-k", 3, "--model-size", 0, "--save-model", "n.h5", "a.csv", code=2, says="--model-size")
        self.fails("cluster", "-k", 3, "-m", "snmf", "--model-without-samples", "--save-model", "n.h5", "a.csv", code=2, says=["snmf", "samples"])

    def test_without_samples_of_other_kinds(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", "60,60,50", "--words", 400, "--length", 30, "--seed", 7, "-q",
                         "-o", "words")
        self.run_kindred("generate", "--design", "tables", "--tasks", 3, "-k", 3, "-n", 90, "--separation", 2, "--seed", 6, "-q", "-o", "tables")
        for folder, ending in (("words", "mtx"), ("tables", "csv")):
            first, second, third = (f"{folder}/task{i}.{ending}" for i in (1, 2, 3))
            self.run_kindred("cluster", "-k", 3, "-q", "--force", "--save-model", "m.h5", "--model-without-samples", "-o", "out", first, second)
            with h5py.File(self.path("m.h5")) as f:
                self.assertEqual(len(f["remembered"]) + len(f["known"]), 0)
                self.assertEqual("directions" in f["moments/0"], folder == "tables")
            self.run_kindred("cluster", "--into", "m.h5", "-q", "--force", "-o", "new", third)
            pairs = collections.Counter(zip(self.labels(f"{folder}/task3.labels"), self.labels("new/task3.labels")))
            self.assertGreater(sum(n for _, n in pairs.most_common(3)), 0.8 * sum(pairs.values()), folder)
            of = [collections.Counter(), collections.Counter()]  # the clusters of both data sets with the same class have the same number
            for i, (labels, truth) in enumerate((("out/task1.labels", "task1"), ("new/task3.labels", "task3"))):
                of[i].update(zip(self.labels(f"{folder}/{truth}.labels"), self.labels(labels)))
            for c in {c for c, _ in of[0]}:
                self.assertEqual(*(max((n, z) for (t, z), n in o.items() if t == c)[1] for o in of), folder)

    def test_transfer_without_samples(self):
        self.run_kindred("transfer", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", "-q", "--save-model", "m.h5",
                         "--model-without-samples", "-o", "out")
        with h5py.File(self.path("m.h5")) as f:
            self.assertEqual([len(f["remembered"]), len(f["known"]), list(f["moments"])], [0, 0, ["0"]])
        self.run_kindred("transfer", "--into", "m.h5", "-q", "--save-model", "m2.h5", "--model-without-samples", "-o", "new", "c.csv")
        self.assertEqual(self.numbers("new/c.labels"), ["p", "q", "r"])
        self.run_kindred("transfer", "--into", "m2.h5", "-q", "-o", "more", "--target", "d=c.csv")
        self.assertEqual(self.numbers("more/d.labels"), ["p", "q", "r"])

    def test_damaged_covariances(self):
        self.model("--model-without-samples")
        with open(self.path("m.h5"), "rb") as f:
            sound = f.read()
        for name, change in (("mean", lambda v: v[:, :2]), ("mean", lambda v: v * float("nan")), ("variance", lambda v: v - 1), ("variance", lambda v: v[:2]),
                             ("directions", lambda v: v[:, :, :1]), ("directions", lambda v: v[0])):
            with open(self.path("m.h5"), "wb") as f:
                f.write(sound)
            with self.change_model("m.h5") as f:
                values = change(f[f"moments/0/{name}"][:])
                del f[f"moments/0/{name}"]
                f[f"moments/0/{name}"] = values
            self.fails("cluster", "--into", "m.h5", "c.csv", code=3, says="means and covariances that it keeps are invalid")
        for values in ([1, 2], [5, -1, 3], [2**40, 1, 1]):
            with self.change_model("m.h5") as f:
                f.attrs.modify("format_version", 1)
                f["moments/0"].attrs["draws"] = values
            self.fails("cluster", "--into", "m.h5", "c.csv", code=3, says="means and covariances that it keeps are invalid")
        with open(self.path("m.h5"), "wb") as f:
            f.write(sound)
        with self.change_model("m.h5") as f:
            del f["moments"]
        self.fails("cluster", "--into", "m.h5", "c.csv", code=2, says=["neither samples nor covariances", "older version"])

    def test_bad_input(self):
        self.model()
        self.write("other.csv", "u,v\n1,2\n2,3\n")
        for args, says, code in ((["a=c.csv"], "already has a data set 'a'", 2), (["-k", "auto", "c.csv"], "-k auto", 2),
                                 (["-k", "2-4", "c.csv"], "range", 2), (["-k", 4, "--new-clusters", "no", "c.csv"], "the model has 3 clusters", 2),
                                 (["--new-clusters", "maybe", "c.csv"], "auto, yes, no", 2), (["--weight", "tfidf", "c.csv"], "preprocessing", 2),
                                 (["--pooled", "c.csv"], "--pooled", 2), (["-m", "kmeans", "c.csv"], "-m kmeans", 2), (["--quality", "c.csv"], "--quality", 2),
                                 (["other.csv"], "none of the model's columns", 3), ([], "at least one data file", 2)):
            self.fails("cluster", "--into", "m.h5", *args, code=code, says=says)
        self.fails("cluster", "-k", 3, "--new-clusters", "no", "c.csv", code=2, says="--into")
        self.fails("cluster", "--into", "absent.h5", "c.csv", code=3, says="absent.h5")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-q", "--save-model", "k.h5", "-o", "k", "a.csv")
        self.fails("cluster", "--into", "k.h5", "c.csv", code=2, says=["method auto", "method kmeans"])

    def test_damaged_samples(self):
        self.model()
        for name, change in (("labels", lambda v: v * 0 + 7), ("x", lambda v: v[:, :2]), ("labels", lambda v: v[:5]), ("x", lambda v: v * float("inf"))):
            self.model()
            with self.change_model("m.h5") as f:
                values = change(f[f"remembered/0/{name}"][:])
                del f[f"remembered/0/{name}"]
                f[f"remembered/0/{name}"] = values
            self.fails("cluster", "--into", "m.h5", "c.csv", code=3, says="samples that it keeps are invalid")
        self.model()
        with self.change_model("m.h5") as f:
            f.attrs.modify("format_version", 2)
        self.fails("cluster", "--into", "m.h5", "c.csv", code=3, says=["unsupported version 2, written by kindred 0.", "version 1 is supported"])

    def test_predict_by_vote(self):
        self.model()
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "a", "-o", "p.labels", "c.csv")
        self.assertIn("of 45 samples: confidence below 0.5", done.stderr)
        self.assertEqual(self.numbers("p.labels"), self.numbers("out/a.labels"))
        rows = self.read("p.samples.csv").splitlines()
        self.assertEqual(rows[0], "id,cluster,name,confidence,second")
        self.assertTrue(all(0 < float(r.split(",")[-2]) <= 1 for r in rows[1:]))
        # each sample is labelled by itself
        self.write("one.csv", "\n".join(self.read("c.csv").splitlines()[:2]) + "\n")
        self.run_kindred("predict", "--model", "m.h5", "--task", "a", "-q", "-o", "one.labels", "one.csv")
        self.assertEqual(self.read("one.samples.csv").splitlines()[1], rows[1])


if __name__ == "__main__":
    unittest.main()
