"""Names of clusters: given by a person, kept by results, levels, files and models. SPDX-License-Identifier: BSD-3-Clause"""
import os
import tempfile
import unittest

import numpy as np
import pandas as pd

import kindred
from common import PartsTest, blobs, quiet


class Names(PartsTest):
    def setUp(self):
        super().setUp()
        self.x, self.y = blobs(1, n=60)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_names_are_kept(self):
        result = kindred.cluster({"a": self.x, "b": self.x[:30]}, 3, model=True)
        self.assertEqual(result.names("b"), [None] * 3)
        result.rename_clusters({0: "low", np.int64(2): "high"})
        self.assertEqual(result.names("b"), ["low", None, "high"])
        result.rename_clusters({0: "high", 2: "low"})  # both at once
        self.assertEqual(result.names(), ["high", None, "low"])
        self.assertEqual(result.to_dict()["tasks"][1]["names"], ["high", None, "low"])
        self.assertEqual(result.clusters("b")[2]["name"], "low")
        self.assertEqual(result.model().result(self.x, task="a").names(), ["high", None, "low"])
        result.save_model(self.path("m.h5"))
        model = kindred.load_model(self.path("m.h5"))
        self.assertEqual(model.result(self.x, task="b").names(), ["high", None, "low"])
        self.assertEqual(quiet(model.add, {"c": self.x[5:50]}).names("c"), ["high", None, "low"])
        result.save_samples(self.path("s.csv"))
        frame = pd.read_csv(self.path("s.csv"))
        np.testing.assert_array_equal(frame["name"].fillna("-"), np.array(["high", "-", "low"])[result.labels()])

    def test_titles_are_names(self):
        result = kindred.cluster(pd.DataFrame(self.x, columns=list("pqrst")), 3)
        self.assertEqual(result.names(), [c["title"] for c in result.clusters()])
        result.rename_clusters({1: "one"})
        self.assertEqual(result.names()[1], "one")
        self.assertEqual(result.names()[0], result.clusters()[0]["title"])

    def test_levels(self):
        result = kindred.cluster(self.x, range(2, 5), "kmeans")
        result.cut(4).rename_clusters({3: "fourth", 0: "first"})
        self.assertEqual(result.cut(4).names(), ["first", None, None, "fourth"])
        self.assertEqual(result.cut(2).names(), ["first", None])

    def test_files(self):
        result = kindred.cluster(self.x, 3, "kmeans")
        with open(self.path("n.csv"), "w") as f:
            f.write("number;name\n1;middle\n8;none\n")
        result.rename_clusters(self.path("n.csv"))
        self.assertEqual(result.names(), [None, "middle", None])
        self.assertIn("there is no cluster 8", " ".join(result.warnings))
        self.assertRaises(OSError, result.rename_clusters, self.path("none.csv"))

    def test_what_is_refused(self):
        result = kindred.cluster(self.x, 3, "kmeans")
        result.rename_clusters({0: "low"})
        for names, words in (({3: "x"}, "there is no cluster 3: the clusters are 0, 1, 2"), ({1: "low"}, "clusters 0 and 1 would have the same name, 'low'"),
                             ({1: "x", 2: "x"}, "same name"), ({1: " "}, "is empty"), ({1: "a\nb"}, "control character"), ({-1: "x"}, "no cluster -1"),
                             ({"a": "x"}, "use the number"), ({1: None}, "use the number"), ({True: "x"}, "use the number")):
            with self.assertRaisesRegex(ValueError, words):
                result.rename_clusters(names)
        result.rename_clusters({})
        self.assertEqual(result.names(), ["low", None, None])
        moved = kindred.transfer(self.x, self.y, self.x + .1, "svm")
        self.assertRaisesRegex(ValueError, "the labels are classes", moved.rename_clusters, {0: "x"})
        self.assertEqual(set(moved.names(-1)), {None})


if __name__ == "__main__":
    unittest.main()
