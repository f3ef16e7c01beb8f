"""Attributes of estimators and results, frames, progress and pictures. SPDX-License-Identifier: BSD-3-Clause"""
import importlib.util
import io
import unittest
from unittest import mock

import numpy as np
import pandas as pd
import scipy.sparse

import kindred
import kindred.plot
from common import PartsTest, blobs, quiet
from kindred._progress import Bar


class Attributes(PartsTest):
    def setUp(self):
        self.x, self.y = blobs(1, n=60)
        self.z, _ = blobs(2, n=30)

    def test_named_methods_preprocess_as_the_program_does(self):
        """Molecule counts are weighted by default; centres, transform and score refer to the weighted data."""
        rng = np.random.default_rng(3)
        y = np.arange(80) % 2
        x = rng.poisson(np.where((np.arange(100) % 2)[None] == y[:, None], 40, 10) * rng.uniform(.2, 3, 80)[:, None]).astype(float)
        model = kindred.KMeans(n_clusters=2).fit(x)
        self.assertIn("cpm; l2", model.result_.to_dict()["preprocessing"])
        self.assertEqual(kindred.evaluate(model.labels_, y)["nmi"], 1)
        self.assertLessEqual(np.linalg.norm(model.cluster_centers_, axis=1).max(), 1)
        np.testing.assert_array_equal(model.transform(x).argmin(axis=1), model.labels_)
        self.assertAlmostEqual(-model.score(x), model.inertia_, places=6)
        plain = kindred.KMeans(n_clusters=2, preprocess="none").fit(x)
        self.assertNotIn("cpm", plain.result_.to_dict()["preprocessing"])
        self.assertLess(kindred.evaluate(plain.labels_, y)["nmi"], .9)
        np.testing.assert_array_equal(kindred.cluster(x, 2, "kmeans", weight="none").labels(), plain.labels_)

    def test_agreement_of_predictions_with_the_fit(self):
        """What a model would label differently is reported, for votes and for other methods."""
        x, z = kindred.generate("blobs", k=3, samples=80, separation=1.2, seed=2)
        model = kindred.AutoTransfer().fit(x, x.labels, z)
        (share,) = model.predict_agreement_.values()
        self.assertTrue(0 < share < 1, share)
        result = kindred.transfer(x, x.labels, z, model=True)
        self.assertEqual([v for name, v in result.fields.items() if name.startswith("predict_agreement.")], [share])
        self.assertEqual(kindred.KMeans(n_clusters=3).fit({"a": x, "b": z}).predict_agreement_, {"a": 1.0, "b": 1.0})
        self.assertFalse(hasattr(kindred.NCut(n_clusters=3).fit(x), "predict_agreement_"))

    def test_centres_inertia_transform_and_score(self):
        model = kindred.KMeans(n_clusters=3).fit(self.x)
        distances = np.linalg.norm(self.x[:, None] - model.cluster_centers_[None], axis=2)
        for table in (self.x, scipy.sparse.csr_matrix(self.x)):
            np.testing.assert_allclose(model.transform(table), distances, atol=1e-6)
        self.assertAlmostEqual(model.inertia_, (distances.min(axis=1) ** 2).sum())
        self.assertAlmostEqual(model.score(self.x), -model.inertia_)
        frame = pd.DataFrame(self.x, columns=list("vwxyz"))
        named = kindred.KMeans(n_clusters=3).fit(frame)
        np.testing.assert_allclose(named.transform(frame[list("zyxwv")]), distances, atol=1e-6)
        two = quiet(kindred.KMeans(n_clusters=3).fit, {"a": self.x, "b": self.z})
        self.assertEqual(two.transform(self.z, task="b").shape, (30, 3))
        with self.assertRaisesRegex(ValueError, "task is needed"):
            two.transform(self.z)
        self.assertFalse(hasattr(kindred.NCut, "transform"))

    def test_numbers_of_clusters(self):
        self.assertEqual(kindred.KMeans(n_clusters=3).fit(self.x).n_clusters_, 3)
        self.assertEqual(quiet(kindred.KMeans(n_clusters=[3, 2]).fit, [self.x, self.z]).n_clusters_, [3, 2])
        each = quiet(kindred.KMeans(n_clusters={"b": 2, "a": 3}).fit, {"a": self.x, "b": self.z})
        self.assertEqual((each.n_clusters_, set(each.labels_["b"])), ({"a": 3, "b": 2}, {3, 4}))  # k-means matches none of them
        np.testing.assert_array_equal(each.result_.numbers("b"), [3, 4])
        numbers = each.result_.numbers("b")
        distances = np.linalg.norm(self.z[:, None] - each.cluster_centers_["b"][None], axis=2)  # labels are those of the nearest centres
        np.testing.assert_array_equal(numbers[distances.argmin(axis=1)], each.labels_["b"])
        for k in (0, -1, "three", 2.5, True, [3, 0], {"a": 3}, {"a": 3, "c": 2}, [3]):
            with self.assertRaisesRegex(ValueError, "^n_clusters[: ]"):
                kindred.KMeans(n_clusters=k).fit({"a": self.x, "b": self.z})
            with self.assertRaisesRegex(ValueError, "^k[: ]"):
                kindred.cluster({"a": self.x, "b": self.z}, k, "kmeans")

    def test_frame_and_repr_of_a_result(self):
        result = quiet(kindred.cluster, {"a": self.x, "b": self.z}, 3, "kmeans")
        frame = result.to_frame()
        self.assertEqual(list(frame.columns), ["task", "label", "confidence", "second"])
        np.testing.assert_array_equal(frame["label"], np.concatenate([result.labels(0), result.labels(1)]))
        for words in ("kmeans on 2 data sets", "a: 60 samples in 3 clusters", "0: 20", "mean confidence 0.", "converged after"):
            self.assertIn(words, repr(result))
        named = pd.DataFrame(self.z, index=[f"r{i}" for i in range(30)])
        moved = quiet(kindred.transfer, self.x, np.array(["p", "q", "r"])[self.y], named, "svm")
        self.assertEqual(list(moved.to_frame()["id"][:2]), ["r0", "r1"])
        self.assertIn("target: 30 samples in 3 classes (p: 10", repr(moved))
        self.assertIn("<iframe", moved._repr_html_())

    def test_what_data_sets_share(self):
        small = self.x[:12]
        model = quiet(kindred.Auto(n_clusters=3).fit, {"small": small, "large": self.x})
        self.assertEqual(model.sharing_["small"]["from"], "large")
        self.assertLess(model.sharing_["small"]["apart"], 0.65)
        self.assertEqual(model.sharing_["small"]["moved"], 0)
        self.assertIn("samples per cluster", model.sharing_["small"]["reason"])
        self.assertIsNone(model.sharing_["large"]["from"])
        self.assertIsNone(model.sharing_["large"]["apart"])
        self.assertIsNone(quiet(kindred.cluster, self.x, 3).sharing())

    def test_progress_bar(self):
        event = {"kind": "iteration", "stage": "kmeans", "counted": "kmeans", "message": None, "fraction": .5, "remaining": 75., "at_most": True}
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        bar = Bar(stream=terminal)
        bar(event)
        self.assertIn("\rkmeans  50% |############------------| at most 1 min 15 s left", terminal.getvalue())
        bar.clear()
        self.assertTrue(terminal.getvalue().endswith(" \r"))
        log = io.StringIO()
        with mock.patch("sys.stderr", log), mock.patch.object(Bar, "ELSEWHERE", 0):
            quiet(kindred.KMeans(n_clusters=3, verbose=2).fit, self.x)
        self.assertRegex(log.getvalue(), r"kmeans +\d+% \|")
        silent = io.StringIO()
        with mock.patch("sys.stderr", silent):
            quiet(kindred.KMeans(n_clusters=3).fit, self.x)
        self.assertEqual(silent.getvalue(), "")

    def test_pictures(self):
        model = quiet(kindred.KMeans(n_clusters=3).fit, {"a": self.x, "b": self.z}, map=True)
        axes = [mock.Mock(), mock.Mock()]
        kindred.plot.map(model, axes=axes)
        self.assertEqual([sum(len(call.args[0]) for call in ax.scatter.call_args_list) for ax in axes], [60, 30])
        one = mock.Mock()
        kindred.plot.clusters(model.result_, tasks="b", axes=one, features=2)
        self.assertEqual(len(one.barh.call_args.args[1]), 6)
        one.set_title.assert_called_once_with("b")
        target = mock.Mock()
        moved = quiet(kindred.transfer, self.x, self.y, self.z, "svm", map=True)
        kindred.plot.map(moved, axes=target)  # the source has no labels of its own
        target.set_title.assert_called_once_with("target")
        with self.assertRaisesRegex(ValueError, "'source' has no labels"):
            kindred.plot.clusters(moved, tasks="source")
        with self.assertRaisesRegex(ValueError, "map=True"):
            kindred.plot.map(kindred.KMeans(n_clusters=3).fit(self.x), axes=one)
        with self.assertRaisesRegex(ValueError, "axes has length 1, but 2 data sets are drawn"):
            kindred.plot.clusters(model, axes=one)
        with mock.patch.dict("sys.modules", {"matplotlib": None, "matplotlib.pyplot": None}), self.assertRaisesRegex(ImportError, "needs matplotlib"):
            kindred.plot.clusters(model)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_pictures_by_matplotlib(self):
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        for fit in (lambda: quiet(kindred.cluster, {"a": self.x, "b": self.z}, 3, "kmeans", map=True),
                    lambda: quiet(kindred.transfer, self.x, np.array(["u", "v", "w"])[self.y], self.z, "svm", map=True)):
            result = fit()
            labels = result.labels(-1)
            ax, = kindred.plot.map(result, tasks=-1)
            points = {p.get_label(): np.asarray(p.get_offsets()) for p in ax.collections}
            self.assertEqual(sorted(points), sorted({str(v) for v in labels}))
            for name, xy in points.items():
                np.testing.assert_array_equal(xy, result.map(-1)[labels.astype(str) == name])
            self.assertEqual(len({tuple(p.get_facecolor()[0]) for p in ax.collections}), 3)
            self.assertEqual([t.get_text() for t in ax.get_legend().get_texts()], sorted(points))
            bars, = kindred.plot.clusters(result, tasks=-1, features=2)
            best = [f for c in result.clusters(-1) for f in c["features"][:2]]
            np.testing.assert_allclose([b.get_width() for b in bars.patches], [f["effect"] for f in best])
            tops = {t.get_position()[1]: t.get_text() for t in bars.get_yticklabels()}
            self.assertTrue(all(f["name"] in tops[b.get_y() + b.get_height() / 2] for b, f in zip(bars.patches, best)))
            for axes in (ax, bars):
                axes.figure.savefig(io.BytesIO(), format="png")
                plt.close(axes.figure)


if __name__ == "__main__":
    unittest.main()
