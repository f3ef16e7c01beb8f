"""Several numbers of clusters in one fit: ranges for k, levels of results and estimators. SPDX-License-Identifier: BSD-3-Clause"""
import gc
import json
import os
import tempfile
import unittest

import numpy as np

import kindred
from common import PartsTest, blobs, quiet, run


class Levels(PartsTest):
    def setUp(self):
        self.x, _ = blobs(1, n=60, k=5)
        self.z, _ = blobs(2, n=40, k=5)

    def same(self, a, b):
        """The same groups, whatever their numbers."""
        self.assertEqual(kindred.evaluate(a, b)["ari"], 1)

    def test_evidence_for_an_estimated_number_is_shown(self):
        self.assertRegex(repr(kindred.cluster(self.x)), r"\n  k = \d.*right for \d\d % of the test data sets")
        self.assertRegex(repr(kindred.cluster({"a": self.x, "b": self.z}, options={"same_k": False})), r"(?s)\n  a: k = .*\n  b: k = ")
        self.assertNotIn("test data sets", repr(kindred.cluster(self.x, 5)))

    def test_ranges(self):
        for k in (range(2, 6), "2-5"):
            r = kindred.cluster(self.x, k, "kmeans")
            self.assertEqual(list(r.levels), [2, 3, 4, 5])
            self.assertIn(r.k(), r.levels)
            np.testing.assert_array_equal(r.levels[r.k()].labels(), r.labels())
            for number, level in r.levels.items():
                self.assertEqual(level.k(), number)
                self.assertEqual(level.confidence().shape, (60,))
                self.same(level.labels(), kindred.cluster(self.x, number, "kmeans").labels())
            np.testing.assert_array_equal(r.cut(3).labels(), r.levels[3].labels())
            with self.assertRaisesRegex(ValueError, "the result has 2, 3, 4, 5 clusters"):
                r.cut(6)
        self.assertEqual(kindred.cluster(self.x, 3, "kmeans").levels, {})
        with self.assertRaisesRegex(ValueError, "one number of clusters"):
            kindred.cluster(self.x, 3, "kmeans").cut(3)
        level = kindred.cluster(self.x, range(2, 4), "kmeans").levels[2]
        gc.collect()  # the level keeps the result that it is part of
        self.assertEqual(len(level.labels()), 60)
        self.assertIn("2 clusters", repr(level))

    def test_the_program_finds_the_same(self):
        r = kindred.cluster({"t": self.x}, "2-4")
        with tempfile.TemporaryDirectory() as folder:
            np.savetxt(os.path.join(folder, "t.csv"), self.x, delimiter=",", fmt="%.17g")
            run("cluster", "-k", "2-4", "-q", "-o", "out", "t.csv", cwd=folder)
            with open(os.path.join(folder, "out", "result.json"), encoding="utf-8") as f:
                levels = json.load(f)["levels"]
            path = os.path.join(folder, "samples.csv")
            r.save_samples(path)
            with open(path, encoding="utf-8") as f:
                self.assertTrue(f.readline().strip().endswith("second,cluster_2,cluster_3,cluster_4"))
        self.assertEqual([level["tasks"][0]["labels"] for level in levels], [level.labels().tolist() for level in r.levels.values()])
        self.assertEqual([len(level["tasks"][0].get("parents", [])) for level in levels], [0, 3, 4])

    def test_several_data_sets(self):
        for k in ({"a": range(2, 5), "b": "3-4"}, [range(2, 5), range(3, 5)]):
            r = quiet(kindred.cluster, {"a": self.x, "b": self.z}, k, "kmeans")
            self.assertEqual([[level.k(t) for t in "ab"] for level in r.levels.values()], [[2, 3], [3, 4], [4, 4]])
        r = quiet(kindred.cluster, [self.x, self.z], [3, range(2, 4)], "kmeans")
        self.assertEqual([[level.k(t) for t in (0, 1)] for level in r.levels.values()], [[3, 2], [3, 3]])

    def test_estimators(self):
        model = kindred.KMeans(n_clusters=range(2, 5)).fit(self.x)
        self.assertEqual(list(model.levels_), [2, 3, 4])
        np.testing.assert_array_equal(model.levels_[model.n_clusters_], model.labels_)
        np.testing.assert_array_equal(model.predict(self.x), model.labels_)
        both = quiet(kindred.KMeans(n_clusters="2-3").fit, {"a": self.x, "b": self.z})
        self.assertEqual({name: len(v) for name, v in both.levels_[2].items()}, {"a": 60, "b": 40})
        rows = quiet(kindred.KMeans(n_clusters="2-3").fit, np.vstack([self.x, self.z]), tasks=["a"] * 60 + ["b"] * 40)
        np.testing.assert_array_equal(rows.levels_[2][:60], both.levels_[2]["a"])
        self.assertEqual(kindred.KMeans(n_clusters=3).fit(self.x).levels_, {})

    def test_neighbours_of_a_k_that_was_found(self):
        r = quiet(kindred.cluster, self.x)
        self.assertIn(r.k(), r.levels)
        np.testing.assert_array_equal(r.levels[r.k()].labels(), r.labels())
        self.assertTrue(set(r.levels) <= {r.k() - 1, r.k(), r.k() + 1} and len(r.levels) > 1)

    def test_refused(self):
        for k in (range(8, 3), range(0, 4), range(2, 9, 2), range(1, 66), "8-3", "0-4", "3-", "-3", "2-3-4", "a-b"):
            with self.assertRaisesRegex(ValueError, "^k: "):
                kindred.cluster(self.x, k, "kmeans")
            with self.assertRaisesRegex(ValueError, "^n_clusters: "):
                kindred.KMeans(n_clusters=k).fit(self.x)
        with self.assertRaisesRegex(ValueError, "auto"):
            kindred.cluster([self.x, self.z], [range(2, 4), "auto"])
        with self.assertRaisesRegex(ValueError, "61"):
            kindred.cluster(self.x, range(59, 62), "kmeans")
        with self.assertRaisesRegex(ValueError, "61"):
            kindred.KMeans(n_clusters=range(59, 62)).fit(self.x)


if __name__ == "__main__":
    unittest.main()
