"""Known classes and links of samples while clustering. SPDX-License-Identifier: BSD-3-Clause"""
import os
import tempfile
import unittest

import kindred
import numpy as np


class Known(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        self.y = np.repeat([0, 1, 2], 25)
        means = np.array([[0, 0, 0, 0], [2.2, 2.2, 0, 0], [0, 2.5, 2.5, 1]])
        self.x, self.z = means[self.y] + rng.normal(size=(75, 4)), means[self.y] + .3 + rng.normal(size=(75, 4))
        self.names = np.array(["low", "mid", "high"], dtype=object)[self.y]

    def some(self, rows, unknown=None):
        return np.where(np.isin(np.arange(75), rows), self.names, unknown)

    def test_known_classes_name_the_clusters(self):
        for unknown in (None, "?", np.nan):
            result = kindred.cluster(self.x, k=3, known=self.some([1, 30, 60], unknown))
            self.assertEqual(result.names(), ["low", "mid", "high"])
            self.assertEqual(result.labels()[[1, 30, 60]].tolist(), [0, 1, 2])
        self.assertEqual(kindred.cluster(self.x, k=3).names(), [None] * 3)
        again = kindred.cluster(self.x, k=3, known=[self.some([1, 30, 60])])
        np.testing.assert_array_equal(again.labels(), result.labels())

    def test_integers_are_cluster_numbers(self):
        for method in ("auto", "kmeans"):
            given = np.where(np.isin(np.arange(75), [1, 60]), 2 - self.y, -1)
            labels = kindred.cluster(self.x, 3, method, known=given).labels()
            self.assertEqual(labels[[1, 60]].tolist(), [2, 0])

    def test_several_data_sets(self):
        sets = {"a": self.x, "b": self.z}
        for known in ({"b": self.some([30, 60])}, [None, self.some([30, 60])]):
            result = kindred.cluster(sets, k=3, known=known)
            self.assertEqual(result.names("b")[:2], ["mid", "high"])
            self.assertEqual(result.labels("b")[[30, 60]].tolist(), [0, 1])
        with self.assertRaisesRegex(ValueError, "'c'"):
            kindred.cluster(sets, k=3, known={"c": self.some([1])})
        with self.assertRaisesRegex(ValueError, "1 entries for 2 data sets"):
            kindred.cluster(sets, k=3, known=[self.some([1])])

    def test_links(self):
        result = kindred.cluster(self.x, k=3, must_link=[(0, 30), (30, 70)], cannot_link=[(4, 5)])
        labels = result.labels()
        self.assertEqual(len(set(labels[[0, 30, 70]])), 1)
        self.assertNotEqual(labels[4], labels[5])
        labels = kindred.cluster([self.x, self.z], k=3, method="kmeans", must_link=[((1, 0), ("task2", 30))]).labels(1)
        self.assertEqual(labels[0], labels[30])
        with self.assertRaisesRegex(ValueError, "row 2 and row 1 must be in different clusters"):
            kindred.cluster(self.x, k=3, must_link=[(0, 1)], cannot_link=[(1, 0), (0, 1)])
        for bad in ([(0, 75)], [(0, 1, 2)], [(0, "x")]):
            with self.assertRaises((ValueError, TypeError)):
                kindred.cluster(self.x, k=3, must_link=bad)
        with self.assertRaisesRegex(ValueError, "does not name its data set"):
            kindred.cluster([self.x, self.z], k=3, must_link=[(0, 1)])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            known, must = os.path.join(folder, "known"), os.path.join(folder, "must")
            with open(known, "w", encoding="utf-8") as f:
                f.write("".join(f"{v}\n" for v in self.some([1, 30], "?")))
            with open(must, "w", encoding="utf-8") as f:
                f.write("11 12\n")
            result = kindred.cluster(self.x, k=3, known=known, must_link=must)
            self.assertEqual(result.names(), ["low", "mid", None])
            self.assertEqual(result.labels()[10], result.labels()[11])
        with self.assertRaises(FileNotFoundError):
            kindred.cluster(self.x, k=3, known="nowhere.known")

    def test_estimators(self):
        given = np.where(np.isin(np.arange(75), [1, 30, 60]), self.y, -1)
        model = kindred.KMeans(n_clusters=3).fit(self.x, known=given)
        self.assertEqual(model.labels_[[1, 30, 60]].tolist(), [0, 1, 2])
        both, tasks = np.vstack([self.x, self.z]), np.repeat(["a", "b"], 75)
        model = kindred.Auto(n_clusters=3).fit(both, tasks=tasks, known=np.concatenate([given, given]))
        self.assertEqual(model.labels_[[1, 30, 60, 76, 105, 135]].tolist(), [0, 1, 2, 0, 1, 2])

    def test_other_methods_refuse(self):
        with self.assertRaisesRegex(Exception, "auto, kmeans"):
            kindred.cluster(self.x, 3, "ncut", known=self.some([1]))
        with self.assertRaisesRegex(ValueError, "3 classes are known"):
            kindred.cluster(self.x, 2, known=self.some([1, 30, 60]))
        with self.assertRaisesRegex(ValueError, "3 known labels"):
            kindred.cluster(self.x, 3, known=["low", None, "mid"])


if __name__ == "__main__":
    unittest.main()
