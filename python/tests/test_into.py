"""Data sets are added to a model and to an estimator."""
import tempfile
import unittest

import common  # noqa: F401
import kindred
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

    def test_bad_input(self):
        model = kindred.cluster({"a": self.a, "b": self.b}, k=3, model=True).model()
        with self.assertRaisesRegex(ValueError, "already has a data set 'a'"):
            model.add({"a": self.c})
        with self.assertRaisesRegex(ValueError, "'auto', 'yes' or 'no'"):
            model.add({"c": self.c}, new_clusters="maybe")
        with self.assertRaisesRegex(ValueError, "the model has 3 clusters"):
            model.add({"c": self.c}, k=5, new_clusters="no")
        with self.assertRaisesRegex(ValueError, "keeps no samples"):
            kindred.cluster({"a": self.a, "b": self.b}, k=3).model().add({"c": self.c})
        with self.assertRaisesRegex(ValueError, "method auto"):
            kindred.cluster(self.a, k=3, method="kmeans", model=True).model().add({"c": self.c})
        with self.assertRaises(kindred.NotFittedError if hasattr(kindred, "NotFittedError") else Exception):
            kindred.Auto(n_clusters=3).fit_more(self.c)


if __name__ == "__main__":
    unittest.main()
