"""Names of clusters: given by a person, kept by results, levels, files and models. SPDX-License-Identifier: BSD-3-Clause"""
import os
import tempfile
import unittest

import numpy as np
import pandas as pd

try:
    import anndata
except Exception:  # an installed anndata may not import with a newer NumPy
    anndata = None

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

    def test_frames_and_tables(self):
        frame = pd.DataFrame(self.x, columns=list("pqrst")).round(6)
        frame.to_csv(self.path("a.csv"), index=False)
        frame[:40].to_csv(self.path("b.csv"), index=False)
        sets = {name: kindred.read(self.path(f"{name}.csv")) for name in "ab"}
        result = kindred.cluster(sets, "2-4", representation=True)
        result.rename_clusters({0: "zero"})
        found = result.to_frame()
        self.assertEqual(list(found.columns), ["task", "label", "name", "confidence", "second"])
        self.assertEqual(list(found["name"]), [result.names(task)[label] for task, label in zip(found["task"], found["label"])])
        result.cut(2).save_table(self.path("two.csv"), "b", columns=["name", "label"])
        table = pd.read_csv(self.path("two.csv"))
        self.assertEqual([list(table["cluster"]), list(table.columns[-2:])], [list(result.cut(2).labels("b")), ["cluster_name", "cluster"]])
        self.assertEqual(set(table["cluster_name"][table["cluster"] == 0]), {"zero"})
        # relabel
        result.save(self.path("r.json"))
        with open(self.path("n.csv"), "w") as f:
            f.write("0,first\n")
        kindred.relabel(self.path("r.json"), self.path("n.csv"), self.path("new"), table=self.path("new.csv"), columns=["label", "name"])
        for name in "ab":
            table = pd.read_csv(self.path(f"new-{name}.csv"))
            self.assertEqual(list(table["cluster"]), list(result.labels(name)))
            self.assertEqual(set(table["cluster_name"][table["cluster"] == 0]), {"first"})
        self.assertRaisesRegex(ValueError, "no effect without table", kindred.relabel, self.path("r.json"), self.path("n.csv"), self.path("new"), columns="label")
        # coordinates and matches
        for name, n in (("a", 60), ("b", 40)):
            self.assertEqual(result.representation(name).shape, (n, 5))
        self.assertIsNone(kindred.cluster(sets, 3).representation())
        both = set(result.labels("a")) & set(result.labels("b"))
        self.assertTrue(all(0 < result.match(c) <= 1 for c in both))
        self.assertTrue(np.isnan(kindred.cluster(self.x, 3).match(0)))

    @unittest.skipIf(anndata is None, "needs anndata")
    def test_anndata(self):
        cells = anndata.AnnData(np.vstack([self.x, self.x + .1]).astype(np.float32))
        cells.obs["batch"] = ["a"] * 60 + ["b"] * 60
        result = kindred.cluster_anndata(cells, "batch", 3, key="seg", known={"1": "one"})
        self.assertEqual(list(cells.obs.columns), ["batch", "seg", "seg_title", "seg_confidence", "seg_second", "seg_match"])
        names = ["one" if name == "one" else str(number) for number, name in enumerate(result.names())]
        labels = np.concatenate([result.labels("a"), result.labels("b")])
        self.assertEqual([str(v) for v in cells.obs["seg"]], [names[label] for label in labels])
        np.testing.assert_array_equal(cells.obs["seg_match"], [result.match(label) for label in labels])
        self.assertEqual(set(cells.obsm), {"X_seg_rep"})
        np.testing.assert_array_equal(cells.obsm["X_seg_rep"][60:], result.representation("b"))
        new = cells[:60].copy()
        kindred.transfer_anndata(cells[60:], new, "seg")
        self.assertEqual(set(new.obsm), {"X_seg_rep", "X_kindred_rep"})
        self.assertNotIn("kindred_match", new.obs)
        # as a file
        cells.write_h5ad(self.path("c.h5ad"))
        data = kindred.read(self.path("c.h5ad"))
        result = kindred.cluster(data, 3, representation=True)
        result.rename_clusters({2: "two"})
        kindred.write_h5ad(self.path("d.h5ad"), data, result, key="neu")
        found = anndata.read_h5ad(self.path("d.h5ad"))
        self.assertEqual([str(v) for v in found.obs["neu"]], ["two" if v == 2 else str(v) for v in result.labels()])
        np.testing.assert_array_equal(found.obsm["X_neu_rep"], result.representation())

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
