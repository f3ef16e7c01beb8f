"""Python and the command line: same labels, same arrays, same JSON, for every registered method."""
import json
import os
import tempfile
import unittest

import numpy as np

import kindred
from common import ENTRIES, PartsTest, blobs, quiet, run


def csv(path, x):
    with open(path, "w") as file:
        file.write(",".join(f"f{j}" for j in range(x.shape[1])) + "\n")
        file.writelines(",".join(repr(float(v)) for v in row) + "\n" for row in x)


def same(test, ours, theirs):
    """Equality except for values that differ from run to run."""
    for one in (ours, theirs):
        for name in ("seconds", "peak_rss_bytes", "threads", "command_line", "files"):
            one.pop(name, None)
        for task in one["tasks"]:
            task.pop("path", None)
    test.assertEqual(ours, theirs)


class Parity(PartsTest):
    names = ("c2", "c0", "c1")  # in another order than sorted

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.a, self.ya = blobs(1)
        self.b, self.yb = blobs(2, shift=.4)
        for name, x in (("a", self.a), ("b", self.b), ("c", blobs(3, shift=.2)[0])):
            csv(self.path(f"{name}.csv"), x)
        with open(self.path("a.labels"), "w") as file:
            file.writelines(f"{self.names[v]}\n" for v in self.ya)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def arrays(self, result, folder):
        """Every array against the .npy that the program wrote."""
        count = 0
        for name, value in result.arrays.items():
            for t, array in enumerate(value if isinstance(value, list) else [value]):
                if array is None:
                    continue
                file = f"{name}.{result.tasks[t]}.npy" if isinstance(value, list) else f"{name}.npy"
                np.testing.assert_array_equal(np.load(os.path.join(folder, file)), array, file)
                count += 1
        self.assertEqual(count, len(os.listdir(folder)))

    def test_clustering_methods(self):
        tables = {"a": kindred.read(self.path("a.csv")), "b": kindred.read(self.path("b.csv"))}
        for id_, entry in ENTRIES.items():
            if entry["family"] != "cluster":
                continue
            with self.subTest(id_):
                run("cluster", "-q", "-m", id_, "-k", 3, "--seed", 5, "-o", id_, "--arrays", f"{id_}.arrays", "a.csv", "b.csv",
                    cwd=self.folder.name)
                result = quiet(kindred.cluster, tables, 3, id_, seed=5)
                with open(self.path(f"{id_}/result.json")) as file:
                    same(self, result.to_dict(), json.load(file))
                self.arrays(result, self.path(f"{id_}.arrays"))
                estimator = quiet(getattr(kindred, entry["class"])(n_clusters=3, random_state=5).fit, tables)
                for name in tables:
                    np.testing.assert_array_equal(estimator.labels_[name], result.labels(name))

    def test_transfer_methods(self):
        source, target = kindred.read(self.path("a.csv")), kindred.read(self.path("b.csv"))
        names = np.array(self.names)[self.ya]
        for id_, entry in ENTRIES.items():
            if entry["family"] != "transfer":
                continue
            with self.subTest(id_):
                bridge = ["--bridge", "c.csv"] if "bridge" in entry["flags"] else []
                run("transfer", "-q", "-m", id_, "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", *bridge,
                    "--seed", 5, "-o", id_, cwd=self.folder.name)
                between = {"bridge": kindred.read(self.path("c.csv"))} if bridge else ()
                result = quiet(kindred.transfer, {"source": source}, names, {"target": target}, id_, bridges=between, seed=5)
                with open(self.path(f"{id_}/result.json")) as file:
                    same(self, result.to_dict(), json.load(file))

    def test_names_of_classes_do_not_matter(self):
        """Renamed classes: the same labels by other names, from the program and from Python, on overlapping classes of two sources."""
        rng = np.random.default_rng(4)
        points = [np.abs(np.array([[3, 3, 4], [4, 5, 3], [5, 4, 5]])[y] + rng.normal(0, 1, (len(y), 3))) for y in [rng.permutation(36) % 3 for _ in range(3)]]
        words = [rng.poisson(np.abs(np.sin(np.arange(90) * (y[:, None] + 1.7))) * .3 + .02).astype(float) for y in [rng.permutation(36) % 3 for _ in range(3)]]
        for data in (points, words):
            classes = [rng.permutation(36) % 3 for _ in range(2)]
            for name, x in zip("abc", data):
                csv(self.path(f"{name}.csv"), x)
            for id_, entry in ENTRIES.items():
                if entry["family"] != "transfer" or "bridge" in entry["flags"] or id_ == "trec":  # the labels of trec are clusters
                    continue
                seen = set()
                for names in (("c0", "c1", "c2"), ("c2", "c0", "c1"), ("beta", "alpha", "10")):
                    given = [np.array(names)[y] for y in classes]
                    sources = []
                    for name, labels in zip("ab", given):
                        with open(self.path(f"{name}.labels"), "w") as file:
                            file.writelines(f"{label}\n" for label in labels)
                        sources += ["--source", f"{name}.csv", "--labels", f"{name}.labels"]
                    run("transfer", "-q", "--force", "-m", id_, *sources, "--target", "c.csv", "-o", "out", cwd=self.folder.name)
                    with open(self.path("out/target.labels")) as file:
                        seen.add(tuple(names.index(line.strip()) for line in file))
                    found = quiet(kindred.transfer, [kindred.read(self.path("a.csv")), kindred.read(self.path("b.csv"))], given, kindred.read(self.path("c.csv")), id_)
                    seen.add(tuple(names.index(label) for label in found.labels(-1)))
                self.assertEqual(len(seen), 1, id_)

    def test_models_interchange(self):
        tables = {"a": kindred.read(self.path("a.csv")), "b": kindred.read(self.path("b.csv"))}
        for id_, entry in ENTRIES.items():
            if entry["family"] != "cluster" or "predict" not in entry["flags"]:
                continue
            with self.subTest(id_):
                result = quiet(kindred.cluster, tables, 3, id_)
                result.save_model(self.path(f"{id_}.h5"))
                run("predict", "-q", "--model", f"{id_}.h5", "--task", "b", "-o", f"{id_}.p", "b.csv", cwd=self.folder.name)
                with open(self.path(f"{id_}.p")) as file:
                    theirs = np.array([int(line) for line in file])
                np.testing.assert_array_equal(result.model().predict(tables["b"], "b"), theirs)
                np.testing.assert_array_equal(kindred.load_model(self.path(f"{id_}.h5")).predict(tables["b"], "b"), theirs)


if __name__ == "__main__":
    unittest.main()
