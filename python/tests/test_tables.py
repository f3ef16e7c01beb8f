"""Tables as input and output: NumPy, SciPy, pandas and AnnData objects in every form, without copies."""
import multiprocessing
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas
import scipy.sparse

import kindred
from common import PartsTest, blobs, quiet


def _fit_elsewhere(x):
    return kindred.KMeans(n_clusters=9, threads=4).fit(x).labels_


class Forms(PartsTest):
    def setUp(self):
        self.a, self.ya = blobs(1)
        self.b, self.yb = blobs(2, n=25)
        self.model = kindred.KMeans(n_clusters=3)

    def test_labels_follow_the_form_of_the_input(self):
        both = [quiet(self.model.fit_predict, self.a), quiet(kindred.KMeans(n_clusters=3).fit_predict, self.b)]
        as_list = quiet(self.model.fit_predict, [self.a, self.b])
        as_dict = quiet(self.model.fit_predict, {"a": self.a, "b": self.b})
        stacked = quiet(self.model.fit_predict, np.vstack([self.a, self.b]), tasks=["a"] * 40 + ["b"] * 25)
        for t, name in enumerate("ab"):
            np.testing.assert_array_equal(as_list[t], as_dict[name])
            self.assertEqual(kindred.evaluate(as_list[t], both[t])["nmi"], 1)
        np.testing.assert_array_equal(stacked, np.concatenate(as_list))

    def test_dtypes_orders_and_sparse_formats_give_the_same(self):
        x = np.round(self.a * 8)
        want = quiet(self.model.fit_predict, x)
        for form in (x.astype(np.float32), np.asfortranarray(x), x.astype(np.int16), x.tolist(), scipy.sparse.csr_matrix(x),
                     scipy.sparse.csc_matrix(x), scipy.sparse.coo_matrix(x), pandas.DataFrame(x),
                     np.repeat(x, 2, axis=0)[::2], anndata.AnnData(x.astype(np.float32))):
            np.testing.assert_array_equal(quiet(self.model.fit_predict, form), want, str(type(form)))

    def test_frames_are_aligned_by_name(self):
        names = list("vwxyz")
        a = pandas.DataFrame(self.a, columns=names)
        b = pandas.DataFrame(self.b, columns=names)[["z", "x", "v", "y", "w"]]
        plain = quiet(kindred.MBC(n_clusters=3).fit_predict, [self.a, self.b])
        named = quiet(kindred.MBC(n_clusters=3).fit_predict, [a, b])
        for t in range(2):
            np.testing.assert_array_equal(plain[t], named[t])
        fitted = quiet(kindred.KMeans(n_clusters=3).fit, a)
        self.assertEqual(list(fitted.feature_names_in_), names)
        np.testing.assert_array_equal(fitted.predict(a[["z", "y", "x", "w", "v"]]), fitted.labels_)

    def test_what_the_caller_holds_is_never_changed(self):
        counts = scipy.sparse.random(60, 30, .3, "csr", random_state=1, data_rvs=lambda n: np.arange(n) % 5 + 1.0)
        dense, before = counts.toarray(), counts.copy()
        dense.setflags(write=False)
        quiet(kindred.Auto(n_clusters=2).fit, [counts, dense])
        self.assertEqual((counts != before).nnz, 0)

    def test_damaged_sparse_matrices_are_errors(self):
        """SciPy's routines in C would write outside their arrays."""
        made = scipy.sparse.random(60, 30, .3, "csr", random_state=1)
        for kind in ("csr", "csc", "bsr", "coo"):
            for field, at, value in (("indptr", 5, 10 ** 6), ("indices", 3, -5), ("indices", 3, 10 ** 6), ("row", 3, 10 ** 6), ("col", 3, -1)):
                damaged = made.asformat(kind).copy()
                if not hasattr(damaged, field):
                    continue
                damaged.has_canonical_format = False
                getattr(damaged, field)[at] = value
                for call in (lambda: kindred.cluster(damaged, 2, "kmeans"), lambda: kindred.KMeans(n_clusters=2).fit(damaged)):
                    with self.assertRaisesRegex(ValueError, "X is a damaged sparse matrix: "):
                        call()
        cells = self.anndata()
        cells.layers["counts"].indptr[2] = 10 ** 6
        with self.assertRaisesRegex(ValueError, "layers.'counts'. is a damaged sparse matrix: "):
            kindred.cluster_anndata(cells, "batch", 3, layer="counts")

    def test_anndata_with_batches(self):
        adata = anndata.AnnData(np.vstack([self.a, self.b]).astype(np.float32))
        adata.obs["batch"] = ["one"] * 40 + ["two"] * 25
        quiet(kindred.cluster_anndata, adata, batch_key="batch", k=3)
        truth = np.concatenate([self.ya, self.yb])
        for batch in ("one", "two"):
            rows = (adata.obs["batch"] == batch).to_numpy()
            self.assertEqual(kindred.evaluate(adata.obs["kindred"][rows], truth[rows])["acc"], 1)
        self.assertTrue(adata.obs["kindred_confidence"].between(0, 1).all())
        self.assertEqual(list(adata.obs["kindred_second"].cat.categories), list(adata.obs["kindred"].cat.categories))
        self.assertFalse((adata.obs["kindred_second"].astype(str) == adata.obs["kindred"].astype(str)).any())
        known = [np.where(np.arange(40) < 9, np.array(["1", "T", "NK"])[self.ya], None), None]
        named = adata.copy()
        quiet(kindred.cluster_anndata, named, batch_key="batch", k=3, known=known)  # a class that could be a number
        self.assertEqual(list(named.obs["kindred"][:40]), list(np.array(["1", "T", "NK"])[self.ya]))
        for key in (None, "batch"):
            named.obs["type"] = np.where(np.arange(65) < 9, np.array(["1", "T", "NK"])[truth], None)
            quiet(kindred.cluster_anndata, named, batch_key=key, k=3, known_column="type")
            self.assertEqual(list(named.obs["kindred"][:40]), list(np.array(["1", "T", "NK"])[self.ya]))
        self.assertEqual(sorted(quiet(kindred.transfer, named, targets=named.X, label_column="type", method="logreg").classes), ["1", "NK", "T"])
        with self.assertRaisesRegex(ValueError, "there is no obs.'nix'.: obs has the columns batch"):
            kindred.cluster(adata, 3, label_column="nix")
        found = adata.uns["kindred"]
        self.assertEqual((found["method"], list(found["tasks"])), ("auto", ["one", "two"]))
        self.assertEqual(found["clusters"].groupby("task")["size"].sum().to_dict(), {"one": 40, "two": 25})
        self.assertEqual(set(found["features"]["cluster"]), {"0", "1", "2"})

    def test_anndata_keeps_nothing_of_an_earlier_run(self):
        cells = self.anndata()
        cells.X = cells.layers["counts"].tocsr()
        cells.obs["kindred_unlike_source"] = cells.obs["kindred_own"] = 1.0
        quiet(kindred.cluster_anndata, cells, "batch", 3, map=True)
        self.assertIn("kindred_match", cells.obs)
        self.assertNotIn("kindred_unlike_source", cells.obs)
        quiet(kindred.cluster_anndata, cells, None, 3, method="kmeans", representation=False)
        self.assertNotIn("kindred_match", cells.obs)
        self.assertIn("kindred_own", cells.obs)
        self.assertNotIn("X_kindred", cells.obsm)
        self.assertNotIn("X_kindred_rep", cells.obsm)
        cells.obs["batch"] = ["one", None] * 20
        with self.assertRaisesRegex(ValueError, "obs.'batch'. is missing for 20 of 40 cells, the first of which is 'cell1'"):
            kindred.cluster_anndata(cells, "batch", 3)

    def anndata(self, rows=40):
        """Sparse counts in two batches, with a layer, an array of obsm and known types."""
        x = scipy.sparse.csr_matrix(np.round(self.a[:rows]))
        adata = anndata.AnnData(np.ones(x.shape, np.float32), obs=pandas.DataFrame(
            {"batch": ["one", "two"] * (rows // 2), "type": pandas.Categorical(np.array(["T", "B", "NK"])[self.ya[:rows]])},
            index=[f"cell{i}" for i in range(rows)]))
        adata.layers["counts"], adata.obsm["X_pca"] = x.tocsc(), self.a[:rows]
        return adata

    def test_anndata_with_sparse_matrices_views_layers_and_maps(self):
        adata = self.anndata()
        adata.X = adata.layers["counts"].tocsr()
        want = quiet(self.model.fit_predict, np.round(self.a[:30]))
        for form in (adata[:30], adata[:30].X, adata[:30].layers["counts"], adata[[*range(30)]].X):
            np.testing.assert_array_equal(quiet(self.model.fit_predict, form), want)
        adata = self.anndata()
        for how in ({"layer": "counts"}, {"obsm": "X_pca"}):
            quiet(kindred.cluster_anndata, adata, "batch", 3, method="kmeans", map=True, key="k", **how)
            for batch in ("one", "two"):
                rows = (adata.obs["batch"] == batch).to_numpy()
                self.assertEqual(kindred.evaluate(adata.obs["k"][rows], self.ya[rows])["acc"], 1)
            self.assertTrue(np.isfinite(adata.obsm["X_k"]).all())
        for how, words in (({"layer": "no"}, "layers.'no'.*counts"), ({"obsm": "no"}, "obsm.'no'.*X_pca"),
                           ({"layer": "counts", "obsm": "X_pca"}, "cannot be combined"), ({"batch_key": "no"}, "obs.'no'.*batch")):
            with self.assertRaisesRegex(ValueError, words):
                kindred.cluster_anndata(adata, k=3, **how)
        with tempfile.TemporaryDirectory() as folder:
            adata.write_h5ad(f"{folder}/a.h5ad")
            again = anndata.read_h5ad(f"{folder}/a.h5ad")
        self.assertEqual(len(again.uns["k"]["clusters"]), 6)

    def test_labels_from_one_anndata_to_another(self):
        source, target = self.anndata(), self.anndata(30)
        source.obs.loc["cell0", "type"] = None
        del target.obs["type"]
        for key in (None, "batch"):
            result = quiet(kindred.transfer_anndata, source, target, "type", batch_key=key, layer="counts", method="logreg",
                           probabilities=True, map=True)
            self.assertEqual(list(target.obs["kindred"]), list(np.array(["T", "B", "NK"])[self.ya[:30]]))
            self.assertEqual((target.obsm["X_kindred"].shape, target.obsm["X_kindred_probabilities"].shape), ((30, 2), (30, 3)))
            best = target.uns["kindred"]["classes"][target.obsm["X_kindred_probabilities"].argmax(1)]
            self.assertEqual(list(best), list(target.obs["kindred"]))
        self.assertEqual(result.tasks, ["source one", "source two", "target one", "target two"])
        with self.assertRaisesRegex(ValueError, "obs.'kind'.*batch, type"):
            kindred.transfer_anndata(source, target, "kind")

    def test_transfer_in_every_form(self):
        y = np.array(["x", "y", "z"])[self.ya]
        plain = quiet(kindred.SVM().fit, self.a, y, self.b)
        np.testing.assert_array_equal(plain.transduction_, np.array(["x", "y", "z"])[self.yb])
        np.testing.assert_array_equal(plain.predict(self.b), plain.transduction_)
        stacked = np.vstack([self.a, self.b])
        skada = quiet(kindred.SVM().fit, stacked, np.concatenate([y, y[:25]]), sample_domain=[1] * 40 + [-2] * 25)
        np.testing.assert_array_equal(skada.transduction_, plain.transduction_)
        numbers = quiet(kindred.SVM().fit, self.a, self.ya * 10, self.b)
        np.testing.assert_array_equal(numbers.transduction_, self.yb * 10)
        two = quiet(kindred.AutoTransfer().fit, [self.a[:20], self.a[20:]], [y[:20], y[20:]], self.b)
        np.testing.assert_array_equal(two.transduction_, plain.transduction_)

    def test_pickle_keeps_predict(self):
        for estimator in (kindred.KMeans(n_clusters=3).fit(self.a), kindred.LogReg().fit(self.a, self.ya)):
            again = pickle.loads(pickle.dumps(estimator))
            np.testing.assert_array_equal(again.predict(self.b), estimator.predict(self.b))

    def test_pickle_of_a_result_is_refused_with_a_reason(self):
        with self.assertRaisesRegex(TypeError, "to_json"):
            pickle.dumps(kindred.cluster(self.a, k=3, method="kmeans"))

    def test_numbers_of_clusters_that_are_none(self):
        for k in ("two", 2.5, float("nan"), [2, "three"]):
            with self.assertRaisesRegex(ValueError, "^k: .*whole number"):
                kindred.cluster([self.a, self.b], k=k, method="kmeans")
        with self.assertRaisesRegex(ValueError, "^n_clusters: '2.5'"):
            kindred.KMeans(n_clusters=2.5).fit(self.a)
        with self.assertRaisesRegex(ValueError, "there is no method 'kmean'; did you mean kmeans?"):
            kindred.cluster(self.a, k=2, method="kmean")

    def test_forked_processes(self):
        """Forked processes do not have the threads of their parent and must not wait for them."""
        wide, _ = blobs(5, n=3000, k=9)
        here = kindred.KMeans(n_clusters=9, threads=4).fit(wide).labels_
        with multiprocessing.get_context("fork").Pool(2) as pool:
            for there in pool.map_async(_fit_elsewhere, [wide] * 3).get(timeout=100):
                np.testing.assert_array_equal(there, here)

    def test_source_folder_says_that_it_is_one(self):
        folder = Path(__file__).resolve().parent.parent
        done = subprocess.run([sys.executable, "-c", "import kindred"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install .", done.stderr.splitlines()[-1])

    def test_random_states(self):
        x, _ = blobs(3, n=200, k=9)
        fit = lambda state: quiet(kindred.KMeans(n_clusters=5, n_init=1, start="random", random_state=state).fit_predict, x)
        np.testing.assert_array_equal(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
        for make in (np.random.RandomState, np.random.default_rng):
            first, second = (quiet(kindred.cluster, self.a, 3, "kmeans", seed=make(3)).labels().tolist() for _ in range(2))
            self.assertEqual(first, second)
        with self.assertRaisesRegex(ValueError, "seed or random_state is .x.: use an int, None, or a RandomState or Generator"):
            kindred.cluster(self.a, 3, seed="x")
        np.testing.assert_array_equal(fit(np.random.default_rng(3)), fit(np.random.default_rng(3)))
        self.assertEqual(len(fit(None)), 200)
        with self.assertRaisesRegex(ValueError, "random_state"):
            fit("three")

    def test_jobs_beside_estimators(self):
        sets = kindred.generate("topics", tasks=2, k=3, samples=[60, 40], words=200, seed=3)
        self.assertEqual([s.shape for s in sets], [(60, 200), (40, 200)])
        relation = kindred.relate(sets)
        self.assertEqual(len(relation["tasks"]), 2)
        prepared = kindred.prepare(sets, weight="tfidf", norm="l2")
        np.testing.assert_allclose(np.sqrt(prepared[0].X.multiply(prepared[0].X).sum(1)), 1)
        self.assertEqual(sets[0].X.max(), int(sets[0].X.max()))
        page = kindred.report(quiet(kindred.cluster, sets, 3))
        self.assertIn("<iframe", page._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            page.save(f"{folder}/r.html")

    def test_generated_tables(self):
        sets = kindred.generate("tables", tasks=2, k=3, samples=150, separation=2, seed=3)
        self.assertTrue(np.isnan(sets[0].X).any())
        self.assertEqual({c["kind"] for c in sets[0].columns}, {"number", "category", "date"})
        found = quiet(kindred.cluster, sets, 3)
        for i, one in enumerate(sets):
            self.assertGreater(kindred.evaluate(found.labels(i), one.labels)["ari"], .9)

    def test_progress_and_stopping(self):
        seen = []
        quiet(kindred.cluster, self.a, 3, "kmeans", progress=lambda event: seen.append(event))
        shares = [event["fraction"] for event in seen if event["kind"] == "iteration"]
        self.assertTrue(shares and shares == sorted(shares) and 0 < shares[-1] <= 1)
        self.assertEqual({event["counted"] for event in seen if event["kind"] == "iteration"}, {"kmeans"})
        self.assertTrue(all(event["remaining"] != event["remaining"] for event in seen))  # NaN: it takes less than two seconds

        def angry(event):
            raise LookupError("the caller's own")
        with self.assertRaises(LookupError):
            quiet(kindred.cluster, self.a, 3, "kmeans", progress=angry)

        def interrupt(event):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt) as caught:
            kindred.cluster(self.a, 3, "kmeans", progress=interrupt)
        self.assertEqual(caught.exception.result.stop, "cancelled")
        with self.assertRaises(KeyboardInterrupt):
            kindred.transfer(self.a, self.ya, self.b, "svm", progress=interrupt)

    def test_ctrl_c_leaves_a_loop_of_fits_and_keeps_the_best_so_far(self):
        """A real signal to this process while it fits; the GIL is free, so that a timer in another thread can send it."""
        import os
        import signal
        import threading
        x, _ = blobs(5, n=4000, k=30, d=20)
        # A process started in the background ignores Ctrl-C, and Python leaves that as it is.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(.3, os.kill, (os.getpid(), signal.SIGINT))
        model, fits = kindred.KMeans(n_clusters=25, n_init=3000), 0
        with self.assertRaises(KeyboardInterrupt):
            timer.start()
            for _ in range(50):
                quiet(model.fit, x)
                fits += 1
        timer.join()
        self.assertEqual((fits, model.interrupted_, model.stop_, len(model.labels_)), (0, True, "cancelled", 4000))
        self.assertFalse(quiet(kindred.KMeans(n_clusters=3).fit, self.a).interrupted_)


class Harm(PartsTest):
    """No input crashes the interpreter; errors are the messages of the library."""

    def test_errors_are_exceptions(self):
        x, y = blobs(1)
        cases = [(ValueError, lambda: kindred.KMeans(n_clusters=99).fit(x)),
                 (ValueError, lambda: kindred.KMeans(n_clusters=3, tol=-1).fit(x)),
                 (ValueError, lambda: kindred.cluster(x, 3, "kmeens")),
                 (ValueError, lambda: kindred.cluster(x, 3, "kmeans", {"no_such": 1})),
                 (OSError, lambda: kindred.read("/no/such/file.csv")),
                 (ValueError, lambda: kindred.evaluate([1, 2], [1])),
                 (ValueError, lambda: kindred.GFHF().fit(x, y)),
                 (ValueError, lambda: kindred.KMeans().fit(x * np.nan))]
        for kind, call in cases:
            with self.assertRaises(kind) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))

    def test_random_shapes_dtypes_and_values(self):
        rng = np.random.default_rng(4)
        dtypes = [np.float64, np.float32, np.int8, np.uint16, bool, object, complex, "U3"]
        fills = [0, 1, -1, 1e300, -1e308, 5e-324, np.nan, np.inf]
        for trial in range(300):
            shape = tuple(rng.integers(0, 7, rng.integers(0, 4)))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                x = np.asarray(rng.normal(size=shape)).astype(dtypes[trial % len(dtypes)])
                if x.dtype.kind == "f" and x.size:
                    x.flat[rng.integers(x.size)] = fills[trial % len(fills)]
                x = x[::-1] if x.ndim and trial % 3 == 0 else x
                x = np.asfortranarray(x) if trial % 3 == 1 else x
                if trial % 2 and x.ndim:
                    x.setflags(write=False)
                estimator = [kindred.KMeans, kindred.NCut, kindred.Auto, kindred.SVM][trial % 4]
                try:
                    if estimator is kindred.SVM:
                        estimator().fit(x, rng.integers(0, 3, len(x) if x.ndim else 1), x)
                    else:
                        estimator(n_clusters=2).fit(x)
                except (ValueError, TypeError, MemoryError, ArithmeticError):
                    pass


class Recode(unittest.TestCase):
    def frames(self):
        rng = np.random.default_rng(4)
        part = np.arange(90) % 3
        def frame(age, yes, no):
            return pandas.DataFrame({age: 30 + 15 * part + rng.normal(0, 3, 90), "income": 2000 + 900 * part + rng.normal(0, 150, 90), "smoker": np.where(part == 2, yes, no)})
        return frame("age", "yes", "no"), frame("Alter", "ja", "nein")

    def test_models_keep_new_names_and_values(self):
        a, b = self.frames()
        how = {"rename": {"Alter": "age"}, "recode": {"smoker": {"ja": "yes", "nein": "no"}}}
        result = kindred.cluster({"a": a, "b": b}, k=3, model=True, **how)
        self.assertEqual(sorted(c["name"] for c in result.to_dict()["tasks"][1]["columns"]), ["age", "income", "smoker"])
        np.testing.assert_array_equal(result.model().predict(b, task="b"), result.labels("b"))
        with self.assertRaisesRegex(TypeError, "recode is"):
            kindred.cluster(a, k=3, recode={"smoker": "yes"})
        with self.assertRaisesRegex(ValueError, "no cell of column 'smoker' is 'oui'"):
            kindred.cluster(a, k=3, recode={"smoker": {"oui": "yes"}})
        with self.assertRaisesRegex(ValueError, "array without column names"):
            kindred.cluster(np.eye(5), k=2, recode={"smoker": {"oui": "yes"}})


if __name__ == "__main__":
    unittest.main()
