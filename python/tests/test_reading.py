"""Reading files and folders: several at once, task columns, samples in columns, formats of pandas."""
import os
import tempfile
import unittest
from unittest import mock

import anndata
import numpy as np
import pandas

try:
    import openpyxl
except ImportError:
    openpyxl = None

import kindred
from common import PartsTest, quiet


class Reading(PartsTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def test_transpose(self):
        np.save(self.path("x.npy"), np.arange(6.).reshape(2, 3))
        np.testing.assert_array_equal(kindred.read(self.path("x.npy"), transpose=True).X, np.arange(6.).reshape(2, 3).T)

    def test_a_column_of_classes_that_may_be_missing(self):
        a = anndata.AnnData(np.ones((3, 2), np.float32), obs=pandas.DataFrame({"kind": ["p", "q", "p"]}, index=list("abc")))
        a.write_h5ad(self.path("a.h5ad"))
        for path in (self.write("t.csv", "x,y,kind\n1,2,p\n3,4,q\n"), self.path("a.h5ad")):
            self.assertEqual(list(kindred.read(path, label_column="kind", may_lack_labels=True).labels[:2]), ["p", "q"])
            self.assertIsNone(kindred.read(path, label_column="none", may_lack_labels=True).labels)
            with self.assertRaises(ValueError):
                kindred.read(path, label_column="none")

    def test_batches(self):
        x = np.random.default_rng(0).normal(size=(30, 2)) + 10 * (np.arange(30) % 2)[:, None]
        a = anndata.AnnData(x.astype(np.float32), obs=pandas.DataFrame({"batch": ["b%d" % (i % 3) for i in range(30)]},
                                                                       index=["c%d" % i for i in range(30)]))
        a.write_h5ad(self.path("a.h5ad"))
        tasks = kindred.read(self.path("a.h5ad"), task_column="batch")
        self.assertEqual(list(tasks), ["b0", "b1", "b2"])
        self.assertEqual(tasks["b1"].ids, ["c%d" % i for i in range(1, 30, 3)])
        result = quiet(kindred.cluster, tasks, 2, "kmeans")
        for t in range(3):
            self.assertEqual(kindred.evaluate(result.labels(t), np.arange(t, 30, 3) % 2)["acc"], 1)

    @unittest.skipIf(openpyxl is None, "openpyxl is needed")
    def test_sheets_of_one_workbook_have_the_names_of_the_sheets(self):
        book = openpyxl.Workbook()
        for title in ("Nord", "Süd"):
            sheet = book.create_sheet(title)
            for row in [("age", "income"), *((20 + 20 * (i % 3), 1000 * (i % 3)) for i in range(12))]:
                sheet.append(row)
        for name in ("two.xlsx", "three.xlsx"):
            book.save(self.path(name))
        nord, süd, other = (self.path(name) for name in ("two.xlsx:Nord", "two.xlsx:Süd", "three.xlsx:Nord"))
        self.assertEqual(list(kindred.read([nord, süd, other])), ["Nord", "Süd", "three"])
        self.assertEqual(kindred.cluster([nord, süd], k=3).tasks, ["Nord", "Süd"])
        self.assertEqual(kindred.cluster({"x": nord, "two": süd}, k=3).tasks, ["x", "two"])
        self.assertEqual(kindred.read(süd).name, "two")

    def test_folders_of_texts(self):
        for folder, text in (("one", "fish bird"), ("two", "bird cat")):
            self.write(f"{folder}/a.txt", text)
        tasks = kindred.read([self.path("one"), self.path("two")])
        self.assertEqual({n: t.feature_names for n, t in tasks.items()}, {n: ["bird", "cat", "fish"] for n in ("one", "two")})
        self.assertEqual(kindred.read(self.path("one")).feature_names, ["bird", "fish"])
        self.assertEqual(tasks["two"].excerpts, ["bird cat"])
        self.assertEqual(list(kindred.read({"x": self.path("one"), "y": self.path("two")})), ["x", "y"])

    def table(self, name, rows):
        lines = ["id,city,size,weight"] + [f"s{i},{'Paris' if i % 2 else 'Rome'},{i % 2 * 10 + i / 100},{i % 2 * 7 - i / 90}"
                                          for i in range(rows)]
        return self.write(name, "\n".join(lines[:4] + ["odd,Rome,nix,1"] + lines[4:]) + "\n")

    def test_columns_missing_values_and_rows_left_out(self):
        path = self.table("t.csv", 20)
        with self.assertRaisesRegex(ValueError, "'nix'.*na='nix'"):
            kindred.read(path)
        data = kindred.read(path, na=["gone", "nix"], missing="drop-row")
        self.assertEqual([c["kind"] for c in data.columns], ["id", "category", "number", "number"])
        self.assertEqual(data.feature_names, ["city=Rome", "city=Paris", "size", "weight"])
        self.assertEqual([(row, id_) for row, id_, _ in data.left_out], [(4, "odd")])
        self.assertEqual((data.shape, data.ids[0]), ((20, 4), "s0"))
        self.assertEqual(kindred.read(path, na="nix", missing="mean", columns="size,weight").shape, (21, 2))

    def test_a_memory_limit(self):
        x = np.random.default_rng(1).normal(size=(500, 4))
        with self.assertRaisesRegex(MemoryError, "method 'snmf' needs another .* MB of memory, but .* of the 1 MB that max_memory allows are in use"):
            kindred.cluster(x, 3, "snmf", max_memory=1e6)
        few = kindred.cluster(x, 3, "kmeans", max_memory=5e6)
        np.testing.assert_array_equal(few.labels(0), kindred.cluster(x, 3, "kmeans").labels(0))

    def test_data_that_stay_on_disk(self):
        x = np.random.default_rng(1).normal(size=(5000, 4))
        np.save(self.path("big.npy"), x)
        labels = []
        for stream in (False, True):
            data = kindred.read(self.path("big.npy"), stream=stream)
            self.assertEqual(data.streamed, stream)
            np.testing.assert_array_equal(data.X, x)
            labels.append(kindred.KMeans(n_clusters=3).fit(data).labels_)
            prepared, = kindred.prepare([data], norm="l2")
            np.testing.assert_allclose((np.asarray(prepared.X) ** 2).sum(axis=1), 1)
            np.testing.assert_array_equal(data.X, x)
        np.testing.assert_array_equal(*labels)
        self.assertFalse(kindred.read(self.path("big.npy")).streamed)

    def test_a_model_tells_how_new_tables_are_read(self):
        data = kindred.read(self.table("t.csv", 20), na="nix", missing="drop-row")
        result = quiet(kindred.cluster, data, 2, "kmeans")
        result.save_model(self.path("m.h5"))
        model = kindred.load_model(self.path("m.h5"))
        new = kindred.read(self.table("new.csv", 12), na="nix", missing="drop-row", model=model)
        np.testing.assert_array_equal(model.predict(new), result.labels(0)[:12])

    def test_parquet_by_way_of_pandas(self):
        frame = pandas.DataFrame({"a": [1., 2.], "b": [3, 4], "name": ["x", "y"]})
        with mock.patch("pandas.read_parquet", return_value=frame) as reader:
            data = kindred.read("folder/t.parquet")
        reader.assert_called_once_with("folder/t.parquet")
        self.assertEqual((data.name, data.feature_names), ("t", ["a", "b"]))
        np.testing.assert_array_equal(data.X, [[1, 3], [2, 4]])

    def test_unknown_option(self):
        with self.assertRaises(TypeError):
            kindred.read("x.csv", nope=1)


if __name__ == "__main__":
    unittest.main()
