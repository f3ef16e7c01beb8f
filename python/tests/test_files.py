"""Files and texts: what the program's vectorize, convert and inspect do."""
import os
import tempfile
import unittest

import numpy as np
import scipy.sparse

import kindred
from common import blobs


class Files(unittest.TestCase):
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
        with self.assertRaisesRegex(TypeError, "text 1 is a int"):
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

    def test_inspect_counts(self):
        x, _ = blobs(1)
        x[3] = x[2]
        x[:, 1] = 5
        seen = kindred.inspect(x)
        self.assertEqual((seen["rows"], seen["cols"]), x.shape)
        self.assertEqual((seen["duplicate_rows"], seen["constant_cols"]), (1, 1))
        np.save(self.path("x.npy"), x)
        self.assertEqual(kindred.inspect(self.path("x.npy")), seen)


if __name__ == "__main__":
    unittest.main()
