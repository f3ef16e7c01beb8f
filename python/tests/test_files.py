"""Files and texts: vectorize, convert and inspect."""
import os
import tempfile
import unittest

import numpy as np
import scipy.sparse

import kindred
from common import PartsTest, blobs


class Files(PartsTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_texts_in_memory_and_in_folders_are_the_same(self):
        texts = ["A cat sat.", "The dog\nsat down.", "a cat, a dog"]
        os.mkdir(self.path("pets"))
        for i, line in enumerate(texts):
            with open(self.path(f"pets/{i}.txt"), "w") as f:
                f.write(line)
        memory, folder = kindred.vectorize({"a": texts, "b": self.path("pets")}, min_length=1)
        self.assertEqual((memory.name, folder.name), ("a", "b"))
        self.assertEqual(memory.feature_names, folder.feature_names)
        self.assertEqual((memory.X != folder.X).nnz, 0)
        self.assertEqual(memory.X[2, memory.feature_names.index("a")], 2)
        (stopped,) = kindred.vectorize([texts], stopwords="english", max_features=2)
        self.assertEqual(stopped.shape, (3, 2))

    def test_tables_and_mistakes_of_vectorize(self):
        with open(self.path("t.csv"), "w") as f:
            f.write("title,class\nred fox,p\nblue whale,q\n")
        (data,) = kindred.vectorize([self.path("t.csv")], kind="table", text_field="title", label_field="class")
        self.assertEqual(list(data.labels), ["p", "q"])
        with self.assertRaisesRegex(TypeError, "stemmer"):
            kindred.vectorize([["a"]], stemer="porter")
        with self.assertRaisesRegex(TypeError, "text 1 has the type int"):
            kindred.vectorize([["a", 2]])
        with self.assertRaisesRegex(ValueError, "folder, lines, table, json"):
            kindred.vectorize([self.path("t.csv")], kind="tabel")
        with self.assertRaises(OSError):
            kindred.vectorize([self.path("nowhere")])

    def test_write_read_convert(self):
        x = scipy.sparse.random(20, 7, .3, "csr", random_state=3)
        kindred.write(x, self.path("x.mtx"))
        with self.assertRaises(OSError):
            kindred.write(x, self.path("x.mtx"))
        kindred.convert(self.path("x.mtx"), self.path("x.npz"))
        self.assertEqual((kindred.read(self.path("x.npz")).X != x).nnz, 0)
        self.assertEqual((scipy.sparse.load_npz(self.path("x.npz")) != x).nnz, 0)

    def test_the_size_that_a_file_unpacks_to(self):
        np.savez_compressed(self.path("x.npz"), np.zeros((500, 20)))
        self.addCleanup(kindred.set_max_unpacked, None)
        kindred.set_max_unpacked(50e3)
        with self.assertRaisesRegex(MemoryError, "0.05 MB are allowed"):
            kindred.read(self.path("x.npz"))
        kindred.set_max_unpacked(None)
        self.assertEqual(kindred.read(self.path("x.npz")).shape, (500, 20))
        with self.assertRaisesRegex(ValueError, "a number of bytes above 0"):
            kindred.set_max_unpacked("1G")

    def test_inspect_counts(self):
        x, _ = blobs(1)
        x[3] = x[2]
        x[:, 1] = 5
        seen = kindred.inspect(x)
        self.assertEqual((seen["rows"], seen["cols"]), x.shape)
        self.assertEqual((seen["duplicate_rows"], seen["constant_cols"]), (1, 1))
        np.save(self.path("x.npy"), x)
        self.assertEqual(kindred.inspect(self.path("x.npy")), seen)

    def test_relabel(self):
        result = kindred.cluster({"a": blobs(1)[0]}, 3, "kmeans")
        result.save(self.path("result.json"))
        edits = '{"format": "kindred-edits", "version": 1, "edits": [%s]}'
        with open(self.path("edits.json"), "w") as f:
            f.write(edits % '{"do": "merge", "cluster": 2, "into": 1}')
        kindred.relabel(self.path("result.json"), self.path("edits.json"), self.path("new"))
        np.testing.assert_array_equal(np.loadtxt(self.path("new/a.labels"), int), np.minimum(result.labels(), 1))
        with self.assertRaises(FileExistsError):
            kindred.relabel(self.path("result.json"), self.path("edits.json"), self.path("new"))
        with open(self.path("edits.json"), "w") as f:
            f.write(edits % '{"do": "merge", "cluster": 7, "into": 1}')
        with self.assertRaisesRegex(ValueError, "7"):
            kindred.relabel(self.path("result.json"), self.path("edits.json"), self.path("newer"))

    def test_report_features(self):
        x = blobs(1)[0]
        for n, expected in ((0, 0), (1, 1), (None, x.shape[1])):
            task = kindred.cluster({"a": x}, 3, "kmeans", map=True, report_features=n).to_dict()["tasks"][0]
            self.assertEqual(len(task.get("values", [])), expected)
        with self.assertRaisesRegex(ValueError, "report_features: '-1' is not valid; use a whole number from 0"):
            kindred.cluster(x, 3, "kmeans", report_features=-1)

    def test_save_table_gives_the_table_back(self):
        with open(self.path("t.csv"), "w") as f:
            f.write("name;x;y\n" + "".join(f"p{i};{i % 2 * 9 + i * .01};{i % 2 * 5 - i * .02}\n" for i in range(30)))
        result = kindred.cluster(kindred.read(self.path("t.csv"), id_column="name"), 2, "kmeans")
        result.save_table(self.path("out.csv"))
        with open(self.path("out.csv")) as f:
            lines = f.read().splitlines()
        self.assertEqual(lines[0], "name;x;y;cluster;cluster_name;cluster_confidence;cluster_second")
        self.assertEqual([line.split(";")[3] for line in lines[1:]], [str(label) for label in result.labels()])
        self.assertRaises(FileExistsError, result.save_table, self.path("out.csv"))
        self.assertRaisesRegex(FileExistsError, "was read", result.save_table, self.path("t.csv"), force=True)
        self.assertRaisesRegex(FileExistsError, "was read", kindred.convert, self.path("t.csv"), self.path("t.csv"), force=True)
        result.save_table(self.path("out.csv"), columns=["second", "label"], force=True)
        with open(self.path("out.csv")) as f:
            self.assertEqual(f.readline(), "name;x;y;cluster_second;cluster\n")
        self.assertRaisesRegex(ValueError, "'labels' is not valid; use a list of label, name", result.save_table, self.path("b.csv"), columns="labels")
        self.assertRaisesRegex(ValueError, "was not read from a CSV", kindred.cluster(np.eye(4), 2, "kmeans").save_table, self.path("b.csv"))

    def test_write_h5ad_gives_the_file_back_with_what_was_found(self):
        import h5py
        with open(self.path("all.csv"), "w") as f:
            f.write("site,name,x,y\n" + "".join(f"{'ab'[i % 3 == 0]},p{i},{i % 2 * 9 + i * .01},{i % 2 * 5 - i * .02}\n" for i in range(30)))
        reading = {"task_column": "site", "id_column": "name"}
        tasks = kindred.read(self.path("all.csv"), **reading)
        result = kindred.cluster(kindred.read(self.path("all.csv"), **reading), 2, "kmeans", map=True)
        kindred.write_h5ad(self.path("out.h5ad"), tasks, result, **reading)
        with h5py.File(self.path("out.h5ad")) as f:
            names = [name.decode() for name in f["obs"][f["obs"].attrs["_index"]][:]]
            found = f["obs/kindred"]
            values = [found["categories"][c].decode() for c in found["codes"][:]] if isinstance(found, h5py.Group) else found[:]
            self.assertEqual(f["obsm/X_kindred"].shape, (30, 2))
            self.assertEqual(f["obs/kindred_confidence"].shape, (30,))
        want = {p: str(label) for task in tasks for p, label in zip(result.ids(task), result.labels(task))}
        self.assertEqual([str(v) for v in values], [want[p] for p in names])
        self.assertRaises(FileExistsError, kindred.write_h5ad, self.path("out.h5ad"), tasks, result, **reading)
        self.assertRaisesRegex(TypeError, "cluster_anndata", kindred.write_h5ad, self.path("b.h5ad"), np.zeros((3, 2)))


if __name__ == "__main__":
    unittest.main()
