"""Results other than labels: second-best labels, probabilities, descriptions of clusters, quality."""
import csv
import os
import tempfile
import unittest

import numpy as np

import kindred
from common import ENTRIES, PartsTest, blobs, quiet


class Out(PartsTest):
    def setUp(self):
        self.x, self.y = blobs(1, n=60)
        self.z, self.t = blobs(2, n=30, shift=.2)

    def test_clusterers_have_them_in_the_form_of_labels(self):
        one = quiet(kindred.KMeans(n_clusters=3).fit, self.x)
        self.assertEqual((one.second_.shape, one.confidence_.shape, len(one.clusters_)), ((60,), (60,), 3))
        self.assertTrue((one.second_ != one.labels_).all())
        self.assertTrue(all({f["effect"] > 0 for f in c["features"]} for c in one.clusters_))
        two = quiet(kindred.Auto(n_clusters=3).fit, {"a": self.x, "b": self.z})
        self.assertEqual([two.second_[n].shape for n in "ab"], [(60,), (30,)])
        self.assertEqual([len(two.clusters_[n]) for n in "ab"], [3, 3])
        rows = quiet(kindred.Auto(n_clusters=3).fit, np.vstack([self.x, self.z]), tasks=[0] * 60 + [1] * 30)
        self.assertEqual((rows.second_.shape, rows.confidence_.shape), ((90,), (90,)))

    def test_map(self):
        one = quiet(kindred.cluster, {"a": self.x, "b": self.z}, 3, "kmeans", map=True)
        self.assertEqual([one.map(t).shape for t in "ab"], [(60, 2), (30, 2)])
        np.testing.assert_array_equal(one.map_rows("b"), np.arange(30))
        place = one.to_dict()["tasks"][1]["embedding"]
        np.testing.assert_array_equal(one.map("b"), np.column_stack([place["x"], place["y"]]))
        both = np.vstack([one.map("a"), one.map("b")])
        self.assertEqual((both.min() >= 0, both.max()), (True, 65535))
        self.assertIsNone(quiet(kindred.cluster, self.x, 3, "kmeans").map())
        t = quiet(kindred.transfer, self.x, self.y, self.z, "svm", map=True)
        self.assertEqual([t.map(0).shape, t.map(1).shape], [(60, 2), (30, 2)])
        # the layout that embed gives for the same rows, but for the scale
        xy = kindred.embed([self.x, self.z], top_by="variance")
        self.assertEqual([p.shape for p in xy], [(60, 2), (30, 2)])
        again = quiet(kindred.cluster, [self.x, self.z], 3, "kmeans", map=True, preprocess="by-data")
        for c in range(2):
            for p, m in zip(xy, (again.map(0), again.map(1))):
                self.assertGreater(np.corrcoef(p[:, c], m[:, c])[0, 1], 1 - 1e-6)

    def test_probabilities_of_every_transfer_method(self):
        y = np.array(["u", "w", "v"])[self.y]
        for entry in ENTRIES.values():
            if entry["family"] != "transfer" or "clusters_target" in entry["flags"]:
                continue
            with self.subTest(entry["id"]):
                bridge = {"bridge": blobs(3)[0]} if "bridge" in entry["flags"] else {}
                model = quiet(getattr(kindred, entry["class"])().fit, self.x, y, self.z, probabilities=True, **bridge)
                p = model.probabilities_
                self.assertEqual(p.shape, (30, 3))
                np.testing.assert_allclose(p.sum(1), 1, atol=1e-9)
                self.assertGreater(np.mean(model.classes_[p.argmax(1)] == model.transduction_), .9)
                self.assertEqual(model.calibration_["held_out"], 60)
                self.assertEqual(model.second_.shape, (30,))

    def test_predict_proba_is_calibrated_and_agrees_with_predict(self):
        rng = np.random.default_rng(5)
        x = rng.normal(size=(400, 2))
        y = (x[:, 0] + rng.normal(0, 1.5, 400) > 0).astype(int)
        for method in (kindred.SVM, kindred.LogReg):
            model = quiet(method().fit, x[:250], y[:250])
            p = quiet(model.predict_proba, x[250:])
            np.testing.assert_array_equal(p.argmax(1), model.predict(x[250:]))
            self.assertAlmostEqual(p.max(1).mean(), (p.argmax(1) == y[250:]).mean(), delta=.1)

    def test_quality_equals_scikit_learn(self):
        from sklearn import metrics
        r = quiet(kindred.cluster, self.x, 3, "kmeans", quality=True, resamples=2)
        q, labels = r.quality(), r.labels()
        self.assertEqual((q["resamples"], q["stability"]), (2, 1))
        for name in ("silhouette", "davies_bouldin", "calinski_harabasz"):
            self.assertAlmostEqual(q[name] / getattr(metrics, f"{name}_score")(self.x, labels), 1, places=10)
        again = quiet(kindred.evaluate, labels, self.y, self.x, "kmeans", resamples=2)
        self.assertEqual({n: again[n] for n in q}, q)
        self.assertEqual(again["acc"], 1)
        self.assertTrue(np.isnan(quiet(kindred.evaluate, labels, data=self.x, resamples=0)["stability"]))
        with self.assertRaisesRegex(ValueError, "truth, or data"):
            kindred.evaluate(labels)

    def compare_p(self, x, labels, clusters):
        """The p-values of clusters are those of SciPy, adjusted by Benjamini and Hochberg over all columns that vary."""
        from scipy.stats import mannwhitneyu
        compared = 0
        for c in clusters:
            inside = labels == c["number"]
            varies = [j for j in range(x.shape[1]) if len(set(x[:, j])) > 1]
            p = mannwhitneyu(x[inside][:, varies], x[~inside][:, varies], method="asymptotic").pvalue
            order = np.argsort(p)
            adjusted = np.empty(len(p))
            adjusted[order] = np.minimum.accumulate((p[order] * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
            for f in c["features"]:
                j = varies.index(int(f["name"].split()[1]) - 1)
                np.testing.assert_allclose([f["exploratory_p"], f["exploratory_p_adjusted"]], [p[j], min(1, adjusted[j])], rtol=1e-8)
                compared += 1
        self.assertGreater(compared, 0)

    def test_markers_have_the_p_values_of_scipy(self):
        import scipy.sparse
        rng = np.random.default_rng(3)
        y = np.arange(90) % 3
        tied = rng.poisson(.3 + 2 * (np.arange(40) % 3 == y[:, None]), (90, 40)).astype(float)
        tied[:, 7] = 2  # constant: not tested
        signed = rng.normal(size=(90, 12)) + .7 * (np.arange(12) % 3 == y[:, None])
        signed[rng.random(signed.shape) < .5] = 0
        for x in (tied, signed):
            for form in (x, scipy.sparse.csr_matrix(x)):
                r = quiet(kindred.cluster, form, 3, "kmeans", preprocess="none")
                self.compare_p(x, r.labels(), r.clusters())
        one = quiet(kindred.cluster, tied, 1, "kmeans")
        self.assertEqual(one.clusters()[0]["features"], [])

    def test_markers_of_large_data_are_tested_on_every_second_sample(self):
        rng = np.random.default_rng(4)
        y = np.arange(550) % 2
        x = rng.normal(size=(550, 4000)) + .3 * (np.arange(4000) < 5) * y[:, None]  # 2.2 million entries
        x[:, :2] += 8 * y[:, None]
        r = quiet(kindred.cluster, x, 2, "kmeans", preprocess="none")
        labels, clusters = r.labels(), r.clusters()
        half = np.sort(np.concatenate([np.flatnonzero(labels == c)[::2] for c in range(2)]))
        self.compare_p(x[half], labels[half], clusters)

    def test_markers_of_the_report(self):
        """Of each cluster the features with the largest effects, with the mean and the share of samples that have them in every cluster."""
        rng = np.random.default_rng(5)
        y = np.arange(60) % 3
        counts = rng.poisson(.1 + 3 * (np.arange(6) % 3 == y[:, None]), (60, 6)).astype(float)
        for x, share, of in ((counts, counts != 0, "not zero"), (self.x, self.x > self.x.mean(0), "above the mean")):
            r = quiet(kindred.cluster, x, 3, "kmeans", preprocess="none")
            m, labels = r.to_dict()["tasks"][0]["markers"], r.labels()
            columns = [int(f.split()[1]) - 1 for f in m["features"]]
            best = {int(c["features"][0]["name"].split()[1]) - 1 for c in r.clusters() if c["features"][0]["effect"] > 0}
            self.assertTrue(best <= set(columns))
            self.assertEqual((m["share_of"], len(columns)), (of, len(set(columns))))
            self.assertIn("exploratory", m["note"])
            for c in range(3):
                np.testing.assert_allclose(m["mean"][c], x[labels == c][:, columns].mean(0))
                np.testing.assert_allclose(m["share"][c], share[labels == c][:, columns].mean(0))

    def test_tables(self):
        r = quiet(kindred.cluster, self.x, 3, "kmeans")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.csv")
            r.save_samples(path)
            r.save_features(os.path.join(folder, "f.csv"))
            with open(path, newline="") as f:
                rows = list(csv.DictReader(f))
        self.assertEqual([int(s["cluster"]) for s in rows], r.labels().tolist())
        self.assertEqual([float(s["confidence"]) for s in rows], r.confidence().tolist())
        self.assertEqual((r.confidence_from(), r.left_out(), r.ids()), ("distance", [], None))


if __name__ == "__main__":
    unittest.main()
