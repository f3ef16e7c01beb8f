"""Data sets are added to a model and to an estimator."""
import tempfile
import unittest
from unittest import mock

import common  # noqa: F401
import kindred
import kindred.plot
import numpy as np


class Into(unittest.TestCase):
    def setUp(self):
        self.a, self.b, self.c, self.d = kindred.generate("blobs", tasks=4, k=3, samples=60, separation=8, shift=0.2, rotation=0, seed=2)

    def same(self, labels, data, others, of):
        """Each class has the number that it has in another data set."""
        for name in np.unique(data.labels):
            mine, theirs = (np.bincount(v[d.labels == name]).argmax() for v, d in ((labels, data), (others, of)))
            self.assertEqual(mine, theirs)

    def test_fit_more(self):
        model = kindred.Auto(n_clusters=3, random_state=1).fit([self.a.X, self.b.X])
        first = [v.copy() for v in model.labels_]
        self.assertIs(model.fit_more(self.c.X), model)
        self.assertEqual([len(v) for v in model.labels_], [60, 60, 60])
        np.testing.assert_array_equal(model.labels_[0], first[0])
        self.same(model.labels_[2], self.c, first[0], self.a)
        np.testing.assert_array_equal(model.predict(self.c.X, task="task3"), model.labels_[2])
        np.testing.assert_array_equal(model.predict(self.a.X, task="task1"), first[0])
        model.fit_more({"d": self.d})
        self.assertEqual(list(model.labels_), ["task1", "task2", "task3", "d"])
        self.same(model.labels_["d"], self.d, first[0], self.a)

    def test_fit_more_draws_maps(self):
        model = kindred.Auto(n_clusters=3).fit({"a": self.a, "b": self.b}).fit_more({"c": self.c}, map=True)
        drawn = mock.Mock()
        kindred.plot.map(model, axes=drawn)
        drawn.set_title.assert_called_once_with("c")
        self.assertEqual(sum(len(call.args[0]) for call in drawn.scatter.call_args_list), 60)
        model.fit_more({"d": self.d})  # as the data sets before
        self.assertEqual(model.result_.map("d").shape, (60, 2))
        self.assertIsNone(model.fit_more({"e": self.d}, map=False).result_.map("e"))
        added = kindred.cluster({"a": self.a}, k=3, model=True).model().add({"c": self.c}, map=True)
        self.assertEqual(added.map("c").shape, (60, 2))

    def test_order(self):
        found = []
        for turn in ((self.c, self.d), (self.d, self.c)):
            model = kindred.Auto(n_clusters=3, random_state=1).fit({"a": self.a, "b": self.b})
            for data in turn:
                model.fit_more({data.name: data})
            found.append(model.labels_)
        for name in found[0]:
            np.testing.assert_array_equal(found[0][name], found[1][name])

    def test_model_file(self):
        result = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True)
        with tempfile.TemporaryDirectory() as folder:
            result.save_model(f"{folder}/m.h5")
            added = kindred.load_model(f"{folder}/m.h5").add({"c": self.c})
        self.assertEqual(added.tasks, ["a", "b", "c"])
        self.assertIsNone(added.labels("a"))
        self.same(added.labels("c"), self.c, result.labels("a"), self.a)
        np.testing.assert_array_equal(result.model().add({"c": self.c}).labels("c"), added.labels("c"))

    def test_without_samples(self):
        kept = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True)
        means = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True, model_without_samples=True)
        with tempfile.TemporaryDirectory() as folder:
            kept.save_model(f"{folder}/kept.h5")
            means.save_model(f"{folder}/means.h5")
            import h5py
            with h5py.File(f"{folder}/means.h5") as f:
                self.assertEqual([len(f["remembered"]), len(f["known"]), sorted(f["moments"])], [0, 0, ["0", "1"]])
            added = kindred.load_model(f"{folder}/means.h5").add({"c": self.c})
        self.same(added.labels("c"), self.c, means.labels("a"), self.a)
        np.testing.assert_array_equal(means.model().add({"c": self.c}).labels("c"), added.labels("c"))
        self.same(added.model().add({"d": self.d}).labels("d"), self.d, means.labels("a"), self.a)
        small = kindred.cluster(self.a, k=3, model=True, model_size=20).model().add({"c": self.c})
        self.assertEqual(len(small.labels("c")), 60)
        for how in ({"model_size": 5}, {"model_without_samples": True}):
            with self.assertRaisesRegex(ValueError, "model=True"):
                kindred.cluster(self.a, k=3, **how)
        with self.assertRaisesRegex(ValueError, "model_size: '0' is not valid; use a whole number, 1 or larger"):
            kindred.cluster(self.a, k=3, model=True, model_size=0)

    def test_further_targets(self):
        names = np.array([10, 20, 30])[np.unique(self.a.labels, return_inverse=True)[1]]
        result = kindred.transfer(self.a, names, self.b, model=True)
        more = result.model().add({"c": self.c, "d": self.d})
        self.assertEqual(more.tasks[-2:], ["c", "d"])
        for name, data in (("c", self.c), ("d", self.d)):
            truth = np.array([10, 20, 30])[np.unique(data.labels, return_inverse=True)[1]]
            self.assertGreater(np.mean(more.labels(name) == truth), 0.9)
        again = more.model().add({"e": self.b})
        self.assertEqual(len(again.labels("e")), 60)
        with self.assertRaisesRegex(ValueError, "transfer"):
            result.model().add({"c": self.c}, k=3)

    def test_confidence_of_new_samples(self):
        result = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True)
        model = result.model()
        np.testing.assert_array_equal(model.predict(self.a, "a"), result.labels("a"))  # samples of the fit come back as they were
        centres = np.array([self.a.X[result.labels("a") == z].mean(axis=0) for z in range(3)])
        share = np.linspace(0.2, 0.5, 16)
        between = np.stack([share, 0.7 - share, np.full(16, 0.3)], axis=1) @ centres
        found = model.result(between, "a")
        low = int((found.confidence() < 0.5).sum())
        self.assertGreater(low, 0)
        self.assertEqual(found.advice(), [f"{low} of 16 samples: confidence below 0.5"])

    def test_bad_files(self):
        import h5py
        result = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True)
        with tempfile.TemporaryDirectory() as folder:
            result.save_model(f"{folder}/m.h5")
            with self.assertRaisesRegex(ValueError, "none of the model's columns"):
                import pandas
                kindred.cluster(pandas.DataFrame(self.a.X, columns=["x", "y"]), k=3, model=True).model().add(
                    {"c": pandas.DataFrame(self.c.X, columns=["u", "v"])})
            with h5py.File(f"{folder}/m.h5", "r+") as f:
                f.attrs.modify("format_version", 2)
            with self.assertRaisesRegex(ValueError, "unsupported version 2, written by kindred .*; version 1"):
                kindred.load_model(f"{folder}/m.h5")

    def test_bad_input(self):
        model = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True).model()
        with self.assertRaisesRegex(ValueError, "already has a data set 'a'"):
            model.add({"a": self.c})
        with self.assertRaisesRegex(ValueError, "new_clusters: .maybe. is not valid; use one of: auto, yes, no"):
            model.add({"c": self.c}, new_clusters="maybe")
        with self.assertRaisesRegex(ValueError, "the model has 3 clusters"):
            model.add({"c": self.c}, k=5, new_clusters="no")
        with self.assertRaisesRegex(ValueError, "neither samples nor covariances.*model = TRUE"):
            kindred.cluster({"a": self.a, "b": self.b}, k=3).model().add({"c": self.c})
        with self.assertRaisesRegex(ValueError, "method auto"):
            kindred.cluster(self.a, k=3, method="kmeans", model=True).model().add({"c": self.c})
        with self.assertRaises(kindred.NotFittedError if hasattr(kindred, "NotFittedError") else Exception):
            kindred.Auto(n_clusters=3).fit_more(self.c)


if __name__ == "__main__":
    unittest.main()
