"""Known classes while clustering. SPDX-License-Identifier: BSD-3-Clause"""
import os
import tempfile
import unittest

import kindred
import numpy as np
import pandas as pd


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

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            known = os.path.join(folder, "known")
            with open(known, "w", encoding="utf-8") as f:
                f.write("".join(f"{v}\n" for v in self.some([1, 30], "?")))
            result = kindred.cluster(self.x, k=3, known=known)
            self.assertEqual(result.names(), ["low", "mid", None])
        with self.assertRaises(FileNotFoundError):
            kindred.cluster(self.x, k=3, known="nowhere.known")

    def test_ids(self):
        ids = [f"c{i}" for i in range(75)]
        frame = pd.DataFrame(self.x, columns=list("abcd"), index=ids)
        expected = kindred.cluster(frame, k=3, known=self.some([1, 30, 60])).labels()
        given = {"c60": "high", "c1": "low", "c30": "mid"}
        for known in (given, pd.Series(given), pd.Series(self.some([1, 30, 60]), index=ids).sample(frac=1, random_state=1), [given],
                      pd.Series({**given, "c5": pd.NA}), {"task": pd.Series(given)}):
            result = kindred.cluster({"task": frame}, k=3, known=known)
            self.assertEqual(sorted(result.names()), ["high", "low", "mid"])
            self.assertEqual([result.names()[result.labels()[i]] for i in (1, 30, 60)], ["low", "mid", "high"])
            self.assertGreater(kindred.evaluate(result.labels(), expected)["acc"], .95)
        with self.assertRaisesRegex(ValueError, "no sample has the ids 'x0', 'x1', 'x2' and 2 more; .*'c0'"):
            kindred.cluster(frame, k=3, known={**given, **{f"x{i}": "low" for i in range(5)}})
        with self.assertRaisesRegex(ValueError, "several samples have the id 'c60'"):
            kindred.cluster([frame, frame], k=3, known=given)
        # several data sets share the ids
        other = pd.DataFrame(self.z, columns=list("abcd"), index=[f"d{i}" for i in range(75)])
        for known in ({"c1": "low", "d30": "mid", "d60": "high"}, pd.Series({"d60": "high", "d30": "mid", "c1": "low"})):
            result = kindred.cluster({"a": frame, "b": other}, k=3, known=known)
            self.assertEqual(result.names("a")[result.labels("a")[1]], "low")
            self.assertEqual([result.names("b")[result.labels("b")[i]] for i in (30, 60)], ["mid", "high"])
        # rows without ids are numbered; a series with one class per sample needs none
        result = kindred.cluster(self.x, k=3, known={1: "low", 30: "mid", 60: "high"})
        np.testing.assert_array_equal(result.labels(), kindred.cluster(self.x, k=3, known=pd.Series(self.some([1, 30, 60]))).labels())

    def test_arrays_with_missing_values(self):
        expected = kindred.cluster(self.x, k=3, known=self.some([1, 30, 60])).labels()
        some = np.isin(np.arange(75), [1, 30, 60])
        for known in (np.ma.array(self.names, mask=~some), pd.array(np.where(some, self.names, None), dtype="string"),
                      pd.Categorical(np.where(some, self.names, None)), list(np.where(some, self.names, ""))):
            np.testing.assert_array_equal(kindred.cluster(self.x, k=3, known=known).labels(), expected)

    def test_known_column(self):
        frame = pd.DataFrame(self.x, columns=list("abcd")).assign(kind=self.some([1, 30, 60]))
        result = kindred.cluster([frame, pd.DataFrame(self.z, columns=list("abcd"))], k=3, known_column="kind")
        self.assertEqual([result.names(0)[result.labels(0)[i]] for i in (1, 30, 60)], ["low", "mid", "high"])
        for other in ({"known": self.some([1])}, {"label_column": "a"}):
            with self.assertRaisesRegex(ValueError, "known_column has no effect with"):
                kindred.cluster(frame, k=3, known_column="kind", **other)
        with self.assertRaisesRegex(ValueError, "no class is known"):
            kindred.cluster(frame, k=3, known_column="kid")

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
