"""Samples least like the source, samples to label next, and known classes of a target. SPDX-License-Identifier: BSD-3-Clause"""
import csv
import os
import tempfile
import unittest
import warnings

import numpy as np

import kindred
from common import PartsTest

try:
    import anndata
except ImportError:
    anndata = None


class Labelling(PartsTest):
    def setUp(self):
        rng = np.random.default_rng(5)
        self.y, self.truth = np.arange(60) % 2, np.arange(50) % 3
        means = np.array([[0, 0, 0, 0], [2, 2, 0, 0], [0, 0, 9, 9]], float)
        self.x = means[self.y] + rng.normal(size=(60, 4))
        self.z = means[self.truth] + 0.2 + rng.normal(size=(50, 4))

    def test_ranks_and_questions(self):
        result = kindred.transfer(self.x, self.y, self.z, ask=6)
        rank, rows = result.unlike_source(), result.ask()
        self.assertEqual((rank.shape, rank.min() >= 0, rank.max() <= 1), ((50,), True, True))
        self.assertGreater(rank[self.truth == 2].mean(), rank[self.truth != 2].mean() + .3)
        self.assertEqual((len(set(rows.tolist())), rows.dtype), (6, np.int64))
        self.assertEqual(result.to_dict()["tasks"][-1]["ask"], rows.tolist())
        self.assertIsNone(kindred.transfer(self.x, self.y, self.z, "svm").unlike_source())
        self.assertIsNone(kindred.transfer(self.x, self.y, self.z).ask())
        model = kindred.AutoTransfer(ask=6).fit(self.x, self.y, self.z)
        self.assertEqual(model.result_.ask().tolist(), rows.tolist())

    def test_classes_given_back(self):
        rows = kindred.transfer(self.x, self.y, self.z, ask=6).ask()
        wrong = 1 - np.minimum(self.truth, 1)  # not what the method finds: they must stay
        given = [int(wrong[i]) if i in rows else None for i in range(50)]
        labels = kindred.transfer(self.x, self.y, self.z, target_labels=given).labels(-1)
        self.assertEqual(labels[rows].tolist(), wrong[rows].tolist())
        again = kindred.transfer(self.x, self.y, self.z, target_labels=np.where(np.isin(np.arange(50), rows), wrong, np.nan), ask=6)
        self.assertEqual(again.labels(-1).tolist(), labels.tolist())
        self.assertFalse(set(again.ask().tolist()) & set(rows.tolist()))

    def test_a_file_filled_in(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ask.csv")
            result = kindred.transfer(self.x, self.y, self.z, ask=5)
            result.save_ask(path)
            with open(path, newline="") as f:
                table = list(csv.DictReader(f))
            self.assertEqual([int(r["row"]) - 1 for r in table], result.ask().tolist())
            for r in table:
                r["class"] = "1"
            with open(path, "w", newline="") as f:
                w = csv.DictWriter(f, list(table[0]))
                w.writeheader()
                w.writerows(table)
            for files in (path, [path]):
                labels = kindred.transfer(self.x, self.y, self.z, target_labels=files).labels(-1)
                self.assertEqual(labels[result.ask()].tolist(), [1] * 5)
            with self.assertRaisesRegex(Exception, "exists"):
                result.save_ask(path)

    def test_what_is_refused(self):
        for ask in (0, -1, 1.5, True, "few"):
            with self.assertRaisesRegex(ValueError, "ask: .* use a whole number, 1 or larger"):
                kindred.transfer(self.x, self.y, self.z, ask=ask)
        with self.assertRaisesRegex(Exception, "ask is 51.*50 samples"):
            kindred.transfer(self.x, self.y, self.z, ask=51)
        with self.assertRaisesRegex(Exception, "ask is not available with method svm"):
            kindred.transfer(self.x, self.y, self.z, "svm", ask=5)
        with self.assertRaisesRegex(Exception, "3 known labels"):
            kindred.transfer(self.x, self.y, self.z, target_labels=[0, 1, None])
        with self.assertRaisesRegex(Exception, "no source has the class '7'"):
            kindred.transfer(self.x, self.y, self.z, target_labels=[7] * 50)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere.csv"):
            kindred.transfer(self.x, self.y, self.z, target_labels="nowhere.csv")


class UnlikeSource(unittest.TestCase):
    @unittest.skipUnless(anndata, "no anndata")
    def test_samples_least_like_the_source(self):
        rng = np.random.default_rng(5)
        means = np.array([[0, 0, 0], [2, 2, 0], [0, 9, 9.0]])
        y, z = np.repeat([0, 1], 40), np.repeat([0, 1, 2], [30, 30, 15])
        source, target = (anndata.AnnData(means[c] + rng.normal(size=(len(c), 3))) for c in (y, z))
        source.obs["kind"] = np.array(["low", "mid"])[y]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = kindred.transfer_anndata(source, target, label_key="kind")
        self.assertEqual(target.obs["kindred_unlike_source"].tolist(), result.unlike_source().tolist())
        self.assertGreater(target.obs["kindred_unlike_source"][z == 2].min(), target.obs["kindred_unlike_source"][z < 2].max())


if __name__ == "__main__":
    unittest.main()
