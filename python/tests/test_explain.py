"""explain: samples are compared by one table and explained by another."""
import json
import os
import tempfile
import unittest
import warnings

import numpy as np

import kindred
from common import PartsTest

try:
    import pandas
except ImportError:
    pandas = None
try:
    import anndata
except ImportError:
    anndata = None

WORDS = [["rocket", "orbit", "moon", "launch"], ["goal", "match", "league", "keeper"], ["bread", "oven", "flour", "yeast"]]
CENTRES = 3 * np.random.RandomState(11).randn(3, 24)


def embedded(n):
    return CENTRES[np.arange(n) % 3] + .1 * np.random.RandomState(n).randn(n, 24)


def texts(n):
    return [" ".join(WORDS[i % 3][(i // 3 + j) % 4] for j in range(3)) + f" {['today', 'again'][i % 2]}" for i in range(n)]


def counts(n):
    """Word counts of the topics, one column per word."""
    x = np.zeros((n, 12))
    for i, words in enumerate(texts(n)):
        for word in words.split()[:3]:
            x[i, sum(WORDS, []).index(word)] += 1
    return x


class Explain(PartsTest):
    def test_both_views_compare(self):
        """Embeddings tell topics 0 and 2 apart, texts 0 and 1: only both tell all three."""
        def halves(n):
            words = [WORDS[[0, 1, 0][i % 3]] for i in range(n)]
            return CENTRES[np.array([0, 0, 2])[np.arange(n) % 3]] + .1 * np.random.RandomState(n).randn(n, 24), \
                [" ".join(w[(i // 3 + j) % 4] for j in range(3)) for i, w in enumerate(words)]
        (a, b), (c, d) = halves(60), halves(48)
        for both in (False, True):
            result = kindred.cluster([a, c], 3, explain=[b, d], both_views=both)
            labels = kindred.transfer(a, np.arange(60) % 3, c, "logreg", explain=[b, d] if both else d, both_views=both).labels(-1)
            right = [len({tuple(p) for p in zip(result.labels(t), np.arange(len(result.labels(t))) % 3)}) == 3 for t in (0, 1)]
            self.assertEqual(right, [both, both])
            self.assertEqual(np.array_equal(np.asarray(labels, int), np.arange(48) % 3), both)
        with self.assertRaisesRegex(Exception, "both views, which a model cannot do"), tempfile.TemporaryDirectory() as room:
            result.save_model(os.path.join(room, "m.h5"))
        with self.assertRaisesRegex(ValueError, "both_views needs a second view"):
            kindred.cluster(a, 3, both_views=True)

    def check_words(self, labels, clusters, order=None):
        """Every cluster is explained by words of its topic only."""
        labels = np.asarray(labels)
        for topic in range(3):
            rows = [i for i, of in enumerate(order if order is not None else range(len(labels))) if of % 3 == topic and labels[i] >= 0]
            (label,) = set(labels[rows].tolist())
            found = {f["name"] for c in clusters if c["number"] == label for f in c["features"] if f["effect"] > 0}
            self.assertGreaterEqual(len(found & set(WORDS[topic])), 3, found)
            self.assertFalse(found & set(sum(WORDS, [])) - set(WORDS[topic]))

    def views(self, n):
        """Everything that can explain n samples."""
        from scipy.sparse import coo_matrix, csr_matrix
        names = sum(WORDS, [])
        yield texts(n)
        yield np.array(texts(n))
        yield counts(n), names
        yield csr_matrix(counts(n)), np.array(names)
        yield coo_matrix(counts(n)), names
        if pandas is not None:
            yield pandas.DataFrame(counts(n), columns=names)
            yield pandas.Series(texts(n))
        if anndata is not None:
            cells = anndata.AnnData(counts(n).astype("float32"))
            cells.var_names = names
            yield cells
        yield kindred.vectorize({"v": texts(n)})[0]

    def test_everything_explains(self):
        x = embedded(45)
        plain = kindred.Auto(n_clusters=3).fit(x)
        for view in self.views(45):
            with self.subTest(type(view)):
                fitted = kindred.Auto(n_clusters=3).fit(x, explain=view)
                self.assertEqual(fitted.labels_.tolist(), plain.labels_.tolist())
                self.check_words(fitted.labels_, fitted.clusters_)
                self.assertEqual(fitted.n_features_in_, 24)
                self.assertEqual(fitted.predict(embedded(9)).tolist(), fitted.labels_[:9].tolist())
                result = kindred.cluster(x, 3, explain=view)
                self.check_words(result.labels(), result.clusters())

    def test_several_data_sets(self):
        x = {"a": embedded(45), "b": embedded(36)}
        for view in ({"a": texts(45), "b": texts(36)}, [texts(45), (counts(36), sum(WORDS, []))]):
            fitted = kindred.KMeans(n_clusters=3).fit(x, explain=view)
            for name in x:
                self.check_words(fitted.labels_[name], fitted.clusters_[name])
        one = kindred.KMeans(n_clusters=3).fit(list(x.values()), explain=[None, texts(36)])
        self.assertEqual(json.loads(one.result_.to_json())["tasks"][1]["explained_by"], "explain[1]")
        self.check_words(one.labels_[1], one.clusters_[1])
        single = kindred.KMeans(n_clusters=3).fit([x["a"]], explain=[texts(45)])
        self.check_words(single.labels_[0], single.clusters_[0])

    def test_rows_of_tasks(self):
        groups = np.array(["u", "v", "v", "u", "w"])[np.arange(60) % 5]
        views = [texts(60), (counts(60), sum(WORDS, [])), np.array(texts(60))]
        tables = [embedded(60)]
        if pandas is not None:
            tables.append(pandas.DataFrame(embedded(60)).add_prefix("e"))
            views.append(pandas.Series(texts(60)))
        for x in tables:
            for view in views:
                fitted = kindred.KMeans(n_clusters=3).fit(x, tasks=groups, explain=view)
                clusters = fitted.clusters_.values() if isinstance(fitted.clusters_, dict) else fitted.clusters_
                for name, found in zip("uvw", clusters):
                    rows = np.flatnonzero(groups == name)
                    self.check_words(fitted.labels_[rows], found, rows)

    @unittest.skipIf(pandas is None, "needs pandas")
    def test_rows_by_index(self):
        order = np.random.RandomState(5).permutation(45)
        x = pandas.DataFrame(embedded(45), index=[f"s{i}" for i in range(45)]).add_prefix("e")
        frame = pandas.DataFrame({"body": texts(45), "topic": [f"t{i % 3}" for i in range(45)]}, index=x.index).iloc[order]
        for view, how in ((frame["body"], {}), (frame, {"text_column": "body"}), (frame.reset_index(), {"text_column": "body", "id_column": "index"})):
            x_ = x if not how.get("id_column") else x.rename_axis("index").reset_index()
            fitted = kindred.Auto(n_clusters=3).fit(x_, explain=view, **how)
            self.check_words(fitted.labels_, fitted.clusters_)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            fitted = kindred.KMeans(n_clusters=3).fit(x, explain=frame["body"].drop(index=["s3", "s7"]))
        self.assertEqual(["task1: 2 rows not in explain are skipped: s3, s7"], [str(w.message) for w in found if "skipped" in str(w.message)])
        self.assertEqual(np.flatnonzero(fitted.labels_ == -1).tolist(), [3, 7])
        self.check_words(fitted.labels_, fitted.clusters_)
        known = kindred.cluster(embedded(45), 3, explain=frame.iloc[np.argsort(order)], text_column="body", known_column="topic")
        self.assertEqual(sorted(known.names()), ["t0", "t1", "t2"])
        table = kindred.cluster(x, 3, explain=frame[["topic"]])
        self.assertIn("topic = t0", json.dumps(table.clusters()))

    def test_report_and_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "view.json")
            with open(path, "w") as f:
                f.writelines(json.dumps({"body": t}) + "\n" for t in texts(45))
            result = kindred.cluster(embedded(45), 3, explain=path, text_column="body", map=True)
            self.check_words(result.labels(), result.clusters())
            self.assertIn(texts(45)[4], kindred.report(result).html)
            again = kindred.cluster([embedded(45), embedded(45)], 3, explain=[path, path], text_column="body")
            self.check_words(again.labels(1), again.clusters(1))

    def test_transfer_and_more_data(self):
        y = np.array([f"t{i % 3}" for i in range(45)])
        fitted = kindred.AutoTransfer().fit(embedded(45), y, embedded(36), explain=texts(36))
        for c in fitted.clusters_:
            self.assertGreaterEqual(len({f["name"] for f in c["features"]} & set(WORDS[int(c["class"][1:])])), 3)
        result = kindred.transfer(embedded(45), y, [embedded(36), embedded(30)], explain=[texts(36), texts(30)])
        self.assertEqual([t.get("explained_by") for t in json.loads(result.to_json())["tasks"]], [None, "explain[0]", "explain[1]"])
        with self.assertRaisesRegex(ValueError, "explain has no effect without X_target"):
            kindred.SVM().fit(counts(45), y, explain=texts(45))
        auto = kindred.Auto(n_clusters=3).fit([embedded(45)], explain=[texts(45)])
        auto.fit_more(embedded(36), explain=texts(36))
        self.check_words(auto.labels_[1], auto.clusters_[1])

    @unittest.skipIf(anndata is None, "needs anndata")
    def test_cells(self):
        cells = anndata.AnnData(counts(45).astype("float32"), var=pandas.DataFrame({"symbol": sum(WORDS, [])}, index=[f"ENSG{i}" for i in range(12)]))
        cells.obsm["X_pca"] = embedded(45)
        cells.layers["counts"] = cells.X.copy()
        for view in ("X", "counts"):
            result = kindred.cluster_anndata(cells, k=3, obsm="X_pca", explain=view, feature_names="symbol")
            titles = {c["number"]: c["title"] for c in result.clusters(0)}
            self.assertEqual([titles[int(n)] for n in cells.obs["kindred"]], cells.obs["kindred_title"].tolist())
            self.check_words(result.labels(), result.clusters())
            self.assertLessEqual(set(cells.uns["kindred"]["features"]["feature"]), set(sum(WORDS, [])))
        cells.obs["kind"] = [f"t{i % 3}" for i in range(45)]
        kindred.transfer_anndata(cells, cells.copy(), "kind", obsm="X_pca", explain="X")
        for how, says in (({"explain": "none"}, "'none'.*counts"), ({"explain": "X", "feature_names": "none"}, "symbol")):
            with self.assertRaisesRegex(ValueError, says):
                kindred.cluster_anndata(cells, k=3, obsm="X_pca", **how)

    def test_wrong_views(self):
        x, n = embedded(45), 45
        for view, says in ((texts(44), "task1 has 45 rows and explain 44"), (counts(44), "45 rows and explain 44"), ([texts(45), texts(45)], "explain has 2 entries for 1"),
                           ({"b": texts(45)}, "explain has 'b', but the data sets are task1"), ([], "explain"), (np.full((n, 3), np.nan), "NaN"),
                           ("no.csv", "no.csv"), ([texts(44)], "explain 44"), ([1.5] * n, "2D")):
            with self.subTest(says), self.assertRaisesRegex((ValueError, OSError, TypeError), says):
                kindred.Auto(n_clusters=3).fit(x, explain=view)
        with self.assertRaisesRegex(ValueError, "explain has 1 entry for 2"):
            kindred.cluster([x, x], 3, explain=texts(45))
        with self.assertRaisesRegex(ValueError, "explain has 44 rows, but tasks has length 45"):
            kindred.KMeans(n_clusters=3).fit(x, tasks=["a", "b", "b"] * 15, explain=texts(44))
        if pandas is not None:
            frame = pandas.DataFrame({"body": texts(n)}, index=["r1"] * 2 + [f"s{i}" for i in range(43)])
            with self.assertRaisesRegex(ValueError, "explain has no column 'text': its columns are body"):
                kindred.cluster(x, 3, explain=frame, text_column="text")
            with self.assertRaisesRegex(ValueError, "explain: the id 'r1' of row 2 is that of row 1, too"):
                kindred.cluster(pandas.DataFrame(x, index=[f"s{i}" for i in range(n)]).add_prefix("e"), 3, explain=frame["body"])


if __name__ == "__main__":
    unittest.main()
