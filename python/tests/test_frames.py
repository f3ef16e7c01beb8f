"""Data frames follow the rules for tables in files. SPDX-License-Identifier: BSD-3-Clause"""
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd

import kindred
from common import PartsTest, quiet


def customers(n, seed):
    """A table with text, dates, booleans, categories and missing values, in three segments."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 3, n)
    return pd.DataFrame({
        "customer": [f"C{100000 + i}" for i in range(n)],
        "income": np.where(rng.random(n) < .03, np.nan, np.exp(2 + 1.1 * s + .3 * rng.normal(size=n))),
        "age": (20 + 16 * s + 4 * rng.normal(size=n)).round().astype(int),
        "newsletter": rng.random(n) < .9 - .3 * s,
        "plan": pd.Categorical(np.array(["basic", "plus", "gold"])[s]),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(s * 300 + rng.integers(0, 50, n), unit="D"),
        "city": rng.choice(["Rome", "Paris", None], n, p=[.5, .45, .05])}), s


class Frames(PartsTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        self.a, self.sa = customers(90, 1)
        self.b, self.sb = customers(60, 2)
        self.north, self.south = (os.path.join(self.dir, f"{name}.csv") for name in ("north", "south"))
        self.a.to_csv(self.north, index=False)
        self.b.to_csv(self.south, index=False)

    def test_frames_give_the_labels_of_files(self):
        files = quiet(kindred.Auto(n_clusters=3).fit, {"north": self.north, "south": self.south})
        self.assertEqual(kindred.evaluate(files.labels_["north"], self.sa)["acc"], 1)
        for tables in ({"north": self.a, "south": self.b}, {"north": pd.read_csv(self.north), "south": self.south}):
            model = quiet(kindred.Auto(n_clusters=3).fit, tables)
            for name in tables:
                np.testing.assert_array_equal(model.labels_[name], files.labels_[name])
            np.testing.assert_array_equal(quiet(model.predict, self.a, task=0), quiet(files.predict, self.north, task="north"))
        self.assertEqual(list(model.feature_names_in_), list(self.a.columns))
        self.assertEqual(model.result_.ids("north")[:2], ["C100000", "C100001"])
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(quiet(again.predict, self.b, task="south"), quiet(model.predict, self.south, task=1))
        width = kindred.read(self.b, missing="mean").shape[1]
        mixed = quiet(kindred.cluster, [self.north, self.b, np.zeros((3, width))], 1, "kmeans", missing="mean")
        self.assertEqual(mixed.tasks, ["north", "task2", "task3"])

    def test_equal_values_of_different_types_are_different_cells(self):
        frame = pd.DataFrame({"x": [True, 1, "1.0", 1.0, "no", "no"] * 3, "y": np.arange(18) % 5})
        self.assertEqual(kindred.read(frame, columns={"x": "category"}).feature_names[:-1], ["x=True", "x=1", "x=1.0", "x=no"])

    def kinds(self, frame, **how):
        return {c["name"]: c["kind"] for c in kindred.read(frame, missing="keep", **how).columns}

    def test_kinds_come_from_dtypes_and_then_from_values(self):
        self.assertEqual(self.kinds(self.a), {"customer": "id", "income": "number", "age": "number", "newsletter": "category",
                                              "plan": "category", "since": "date", "city": "category"})
        frame = pd.DataFrame({"code": pd.Categorical(range(20)), "flag": pd.array([True, None] * 10, "boolean"),
                              "count": pd.array([1, None] * 10, "Int64"), "wait": pd.to_timedelta(np.arange(20) % 7, unit="h"),
                              "amount": ["1.234,50", "7,00"] * 10, "when": pd.date_range("2024-01-01", periods=20, tz="UTC"),
                              'odd "name", too': np.arange(20) / 7})
        data = kindred.read(frame.drop(columns=["wait", 'odd "name", too']), missing="keep")
        self.assertEqual({c["name"]: c["kind"] for c in data.columns},
                         {"code": "category", "flag": "category", "count": "number", "amount": "number", "when": "date"})
        self.assertEqual(data.X[0, data.feature_names.index("amount")], 1234.5)
        data = kindred.read(frame[["wait", 'odd "name", too']])
        np.testing.assert_allclose(data.X, np.column_stack([np.arange(20) % 7 / 24, np.arange(20) / 7]), rtol=0, atol=0)
        text = pd.DataFrame({"a": list("pqpqpqpq"), "b": list("xxyyxxyy")})
        self.assertEqual(kindred.read(text).feature_names, ["a=p", "a=q", "b=x", "b=y"])

    def test_columns_in_every_form(self):
        self.assertEqual(self.kinds(self.a, columns="-plan")["plan"], "skipped")
        self.assertEqual([n for n, kind in self.kinds(self.a, columns=["age", "city"]).items() if kind != "skipped"], ["age", "city"])
        kinds = self.kinds(self.a, columns={"plan": None, "age": "category"})
        self.assertEqual((kinds["plan"], kinds["age"], kinds["newsletter"]), ("skipped", "category", "category"))
        self.assertEqual(kindred.read(self.north, columns=["age"]).feature_names, ["age"])
        self.assertEqual(kindred.read(self.a.set_index("customer"), missing="keep").ids[0], "C100000")
        self.assertEqual(kindred.read(self.a, id_column="city", missing="mean").ids[0], kindred.read(self.north, id_column="city", missing="mean").ids[0])

    def test_whole_numbers_that_name_rows(self):
        frame = pd.DataFrame({"id": [7, 3, 9, 4, 5, 8, 1], "x": np.arange(7.) % 3, "y": np.arange(7.) % 2})
        self.assertEqual(kindred.read(frame).feature_names, ["x", "y"])
        self.assertEqual(quiet(kindred.KMeans(n_clusters=2).fit, frame).result_.ids()[0], "7")

    def test_columns_of_classes_and_tasks(self):
        labelled = self.a.assign(segment=self.sa * 10)
        for target in (self.south, self.b, self.b.assign(segment=self.sb)):
            result = quiet(kindred.transfer, labelled, targets=target, label_column="segment", missing="mean")
            np.testing.assert_array_equal(result.labels(-1), self.sb * 10)
        filled = quiet(kindred.transfer, labelled, targets=self.b, label_column="segment")  # missing="mean" is the default of auto
        np.testing.assert_array_equal(filled.labels(-1), self.sb * 10)
        with self.assertRaisesRegex(ValueError, "missing value"):
            quiet(kindred.transfer, labelled, targets=self.b, method="svm", label_column="segment")
        model = quiet(kindred.AutoTransfer().fit, labelled, X_target=self.b, label_column="segment", missing="mean")
        np.testing.assert_array_equal(model.transduction_, self.sb * 10)
        np.testing.assert_array_equal(model.classes_, [0, 10, 20])
        plain = quiet(kindred.SVM().fit, labelled, label_column="segment", missing="mean")
        np.testing.assert_array_equal(quiet(plain.predict, self.south), self.sb * 10)
        self.assertEqual(quiet(plain.predict_proba, self.b).shape, (60, 3))
        both = pd.concat([self.a.assign(region="n"), self.b.assign(region="s")], ignore_index=True).sample(frac=1, random_state=1)
        one = quiet(kindred.Auto(n_clusters=3).fit, both, task_column="region")
        two = quiet(kindred.Auto(n_clusters=3).fit, both.drop(columns="region"), tasks=both["region"])
        np.testing.assert_array_equal(one.labels_, two.labels_)
        self.assertEqual((len(one.labels_), set(one.clusters_)), (150, {"n", "s"}))
        self.assertEqual(kindred.evaluate(one.labels_, np.concatenate([self.sa, self.sb])[both.index])["acc"], 1)
        named = quiet(kindred.cluster, [both, self.north], 2, "kmeans", task_column="newsletter", missing="mean")
        self.assertEqual(sorted(named.tasks), ["north-False", "north-True", "task1-False", "task1-True"])

    def test_missing_applies_to_arrays_as_to_frames(self):
        x = np.random.default_rng(1).normal(size=(40, 3)) + 9 * (np.arange(40) % 2)[:, None]
        x[[2, 7], 1] = np.nan
        frame = pd.DataFrame(x, columns=["f1", "f2", "f3"])
        for missing in ("mean", "zero", "drop-row", "drop-column"):
            np.testing.assert_array_equal(kindred.cluster(x, 2, "kmeans", missing=missing).labels(), kindred.cluster(frame, 2, "kmeans", missing=missing).labels())
        model = kindred.KMeans(n_clusters=2).fit([x, x[:30]], missing="mean")
        np.testing.assert_array_equal(model.labels_[0], kindred.KMeans(n_clusters=2).fit(frame, missing="mean").labels_)
        np.testing.assert_array_equal(model.predict(x, task=0), model.labels_[0])
        np.testing.assert_array_equal(model.result_.model().predict(x, task=0), model.labels_[0])
        self.assertEqual(kindred.embed(x, missing="mean", sweeps=5).shape, (40, 2))
        with self.assertRaisesRegex(ValueError, "contains NaN"):
            kindred.KMeans(n_clusters=2).fit(x)

    def test_missing_values_of_a_single_column_are_rows(self):
        frame = pd.DataFrame({"age": [30, np.nan, 31, 60, 61, 62.5]})
        self.assertEqual(len(kindred.KMeans(n_clusters=2).fit(frame, missing="mean").labels_), 6)
        self.assertEqual(kindred.read(pd.DataFrame({"kind": ["p", None, "q", "p", "q", "p"]}), missing="keep").shape[0], 6)
        with self.assertRaisesRegex(ValueError, "row 1, column 'age': missing value"):
            kindred.cluster(frame, 2, "kmeans")
        with self.assertRaisesRegex(ValueError, "kmean"):  # before the data are read
            kindred.cluster(frame, 2, "kmean")

    def test_columns_that_the_model_does_not_know_are_named_and_ignored(self):
        plain = pd.DataFrame({"u": np.arange(40) % 2 * 9.0, "v": np.linspace(0, 1, 40)})
        for frame, more in ((plain, {"kind": "new", "size": 1.0}), (plain, {"size": 1.0}), (plain.assign(kind=["p", "q"] * 20), {"size": 1.0})):
            model = quiet(kindred.cluster, frame, 2, "kmeans").model()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = model.predict(frame.assign(**more))
            self.assertEqual([str(w.message) for w in caught], [f"columns that the model does not know are ignored: {', '.join(map(repr, more))}"])
            np.testing.assert_array_equal(found, model.predict(frame))

    def test_columns_that_tell_frames_apart_are_left_out(self):
        rng = np.random.default_rng(4)
        frames = []
        for first in (1000, 5000):  # ids that repeat, so that they are no row names
            s = np.arange(60) % 3
            frames.append(pd.DataFrame({"order_id": first + np.arange(60) // 2, "shop": first, **{c: 6.0 * (s == j) + rng.normal(size=60) for j, c in enumerate("abc")}}))
        for add in ({}, {"city": ["Bonn"] * 60}):  # plain numbers, and a table
            both = [f.assign(**{k: [v[0] + str(f["shop"][0])] * 60 for k, v in add.items()}) for f in frames]
            result = quiet(kindred.cluster, both, 3)
            said, = [w for w in result.warnings if "only distinguish" in w]
            for name in ["shop", *add]:
                self.assertIn(f"'{name}'", said)
            self.assertIn("'order_id'", said)
            kept = quiet(kindred.cluster, both, 3, columns="+shop")
            self.assertNotIn("'shop'", next(w for w in kept.warnings if "only distinguish" in w))

    def test_relate_and_embed_accept_missing_values(self):
        self.assertTrue(self.a.isna().any().any())
        self.assertEqual(len(quiet(kindred.relate, [self.a, self.b])["pairs"]), 1)
        self.assertTrue(np.isfinite(quiet(kindred.embed, self.a, sweeps=20)).all())

    def test_rows_left_out_keep_their_place(self):
        model = quiet(kindred.KMeans(n_clusters=3).fit, self.a, missing="drop-row")
        gone = self.a.drop(columns="customer").isna().any(axis=1).to_numpy()
        np.testing.assert_array_equal(model.labels_ == -1, gone)

    def test_errors_name_the_column_in_words_of_python(self):
        frame = pd.DataFrame({"x": [1, 2, "oops", 4] * 5, "y": np.arange(20) % 5})
        cases = [(frame, {}, ValueError, "row 2, column 'x': 'oops' is not a number.*na='oops'"),
                 (self.a, {}, ValueError, "column 'city'.*missing='zero'"),
                 (self.a.assign(tags=[[1]] * 90), {}, TypeError, "column 'tags' has a value of type list"),
                 (self.a.assign(tags=["a", 1, [1]] * 30), {}, TypeError, "column 'tags' has a value of type list"),
                 (self.a.assign(tags=["a", 1.5, pd.NA] * 30), {"missing": "mean"}, ValueError, "row 0, column 'tags': 'a' is not a number"),
                 (self.a.assign(z=1j), {}, ValueError, "Complex data not supported: column 'z'"),
                 (self.a, {"columns": "nix"}, ValueError, "no column 'nix'"),
                 (self.a, {"rename": {"nix": "age2"}, "missing": "mean"}, ValueError, "no table has a column 'nix'"),
                 (self.a.assign(code=["a", 1, 2.5] * 30), {"missing": "mean"}, ValueError, "row 0, column 'code': 'a' is not a number"),
                 (np.zeros((5, 2)), {"id_column": "x"}, ValueError, "array without column names.*id_column"),
                 (self.a, {"colums": "x"}, TypeError, "unexpected keyword argument 'colums'")]
        for table, how, kind, words in cases:
            with self.assertRaisesRegex(kind, words) as caught:
                quiet(kindred.KMeans(n_clusters=2).fit, table, **how)
            self.assertNotIn("--", str(caught.exception))

    def test_predict_warns_of_unknown_and_missing_columns(self):
        model = quiet(kindred.KMeans(n_clusters=3).fit, self.a, missing="mean")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.predict(self.a.drop(columns="income").assign(shoe=1.5, plan="platinum"))
        text = "\n".join(str(w.message) for w in caught)
        for name in ("income", "shoe", "platinum"):
            self.assertIn(name, text)
        with self.assertRaisesRegex(ValueError, "there is no data set 1"):
            model.predict(self.a, task=1)
        with self.assertRaisesRegex(TypeError, "task is 0.5"):
            model.predict(self.a, task=0.5)
        with self.assertRaisesRegex(TypeError, "task is True"):
            model.predict(self.a, task=True)

    def test_rename_and_columns_that_only_some_tables_have(self):
        odd = self.b.rename(columns={"income": "Income EUR"}).drop(columns="city")
        path, names = os.path.join(self.dir, "odd.csv"), os.path.join(self.dir, "names.csv")
        odd.to_csv(path, index=False)
        with open(names, "w") as file:
            file.write("old,new\nIncome EUR,income\nnot there,anywhere\n")
        how = {"columns": "-city", "missing": "mean"}
        want = quiet(kindred.cluster, {"north": self.a, "south": self.b}, 3, "kmeans", **how)
        for rename in ({"Income EUR": "income"}, names):
            for a, b in ((self.a, odd), (self.north, path), (self.a, path), (self.north, odd)):
                got = quiet(kindred.cluster, {"north": a, "south": b}, 3, "kmeans", rename=rename, **how)
                for name in want.tasks:
                    np.testing.assert_array_equal(got.labels(name), want.labels(name))
        model = quiet(kindred.KMeans(n_clusters=3).fit, {"north": self.a, "south": odd}, rename={"Income EUR": "income"}, **how)
        for new in (odd, path):
            np.testing.assert_array_equal(model.predict(new, "south", rename={"Income EUR": "income"}), want.labels("south"))
        moved = quiet(kindred.transfer, self.a, targets=odd, method="logreg", label_column="class", missing="mean",
                      rename={"plan": "class", "Income EUR": "income"}, columns="-customer")
        self.assertEqual(sorted(moved.classes), ["basic", "gold", "plus"])
        self.assertEqual(len(kindred.relate({"a": self.a, "b": odd}, rename=names, missing="mean")["pairs"]), 1)
        self.assertEqual(kindred.inspect(path, rename={"age": "years"}, missing="mean")["rows"], 60)
        for tables in ({"north": self.a, "south": odd}, {"north": self.north, "south": path}):
            with self.assertRaisesRegex(ValueError, "column 'incme'.*'income'"):
                quiet(kindred.cluster, tables, 3, "kmeans", columns="-incme", missing="mean")
            with self.assertRaisesRegex(ValueError, "'Income EUR' and 'age' would both be called 'x'"):
                quiet(kindred.cluster, tables, 3, "kmeans", rename={"Income EUR": "x", "age": "x"}, missing="mean")
            with self.assertRaisesRegex(ValueError, "no (file|table) has a column"):
                quiet(kindred.cluster, tables, 3, "kmeans", rename={"Incme": "earnings"}, missing="mean")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kindred.cluster({"a": self.a, "b": self.b.rename(columns={"age": "Age"})}, 3, "kmeans", missing="mean")
        said = [str(w.message) for w in caught if "almost the same name" in str(w.message)]
        self.assertEqual(len(said), 1)
        self.assertIn("rename={'Age': 'age'}", said[0])
        with self.assertRaisesRegex(TypeError, "rename is 3"):
            quiet(kindred.cluster, self.a, 3, "kmeans", rename=3)

    def test_numbers_in_texts_are_read_by_their_own_evidence(self):
        values = [1.234, 2.345, None, 4.567]
        for numbers in (values, np.array(values, dtype=object)):  # numbers say nothing about texts, nor need they be asked about
            frame = pd.DataFrame({"a": numbers, "b": ["1,5", "2,5", "3,5", "1.234,5"], "c": ["39.364 €", "1.250 €", "7 €", "8 €"]})
            with self.assertWarns(kindred.KindredWarning) as caught:
                X = kindred.read(frame.drop(columns="b"), missing="zero").X
            self.assertIn("column 2 (c): '39.364 €' was read as 39364; use decimal='.' if it is 39.364", str(caught.warning))
            np.testing.assert_array_equal(X, [[1.234, 39364], [2.345, 1250], [0, 7], [4.567, 8]])
            X = quiet(kindred.read, frame, missing="zero").X
            np.testing.assert_array_equal(X[:, :2], [[1.234, 1.5], [2.345, 2.5], [0, 3.5], [4.567, 1234.5]])
        swiss = pd.DataFrame({"a": ["1'234", "2'345", "3", "5"], "b": [None, "1.500", "2.345", "3.125"]})
        np.testing.assert_array_equal(quiet(kindred.read, swiss, missing="zero").X, [[1234, 0], [2345, 1.5], [3, 2.345], [5, 3.125]])
        unclear = pd.DataFrame({"a": ["1.234", "12.500"], "b": [.5, 1.5]})
        with self.assertRaisesRegex(ValueError, "row 0, column 'a': '1.234' is ambiguous.*decimal='\\.'.*thousands='\\.'"):
            kindred.read(unclear)
        for how, want in (({"decimal": ","}, [1234, 12500]), ({"thousands": "."}, [1234, 12500]), ({"thousands": "none"}, [1.234, 12.5])):
            np.testing.assert_array_equal(kindred.read(unclear, **how).X, np.column_stack([want, [.5, 1.5]]))
            quiet(kindred.cluster, unclear, 2, "kmeans", **how)

    def test_rows_above_the_header_and_sheets(self):
        path = os.path.join(self.dir, "t.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("Bericht 2024\nStand: Mai\n\nx;y\n1,5;2\n2,5;3\n3,5;1\n")
        with self.assertWarnsRegex(kindred.KindredWarning, "3 rows were skipped, because the header appears to be in line 4; use skip_rows"):
            kindred.read(path)
        for how in ({}, {"skip_rows": 3}, {"skip_rows": "auto"}):
            data = quiet(kindred.read, path, **how)
            self.assertEqual(data.feature_names, ["x", "y"])
            np.testing.assert_array_equal(data.X, [[1.5, 2], [2.5, 3], [3.5, 1]])
        book = os.path.join(self.dir, "b.xlsx")
        with pd.ExcelWriter(book) as writer:
            for i, name in enumerate(("North", "South")):
                pd.DataFrame({"x": [1.5 + i, 2, 9, 8], "y": [2, 3, 1, 7.5]}).to_excel(writer, sheet_name=name, index=False)
        self.assertEqual(quiet(kindred.read, book, sheet="South").X[0, 0], 2.5)
        self.assertEqual(quiet(kindred.cluster, book, 2, "kmeans", sheet="all").tasks, ["North", "South"])

    def test_task_is_a_name_or_else_a_number_from_0(self):
        x = np.array([[0.0, 0], [0, 1], [9, 9], [9, 8]])
        model = kindred.KMeans(n_clusters=2).fit({1: x, 0: x + 100})  # numbers as names, in another order
        np.testing.assert_array_equal(model.predict(x, task=1), model.labels_["1"])
        np.testing.assert_array_equal(model.predict(x + 100, task=0), model.labels_["0"])
        with self.assertRaisesRegex(ValueError, "there is no data set 2"):
            model.predict(x, task=2)
        labels = kindred.LogReg().fit(x, ["a", "a", "b", "b"], {"left": x, "right": x[::-1]})
        seen = []
        labels._model().result = lambda X, task, *more: seen.append(task) or type("R", (), {"labels": lambda self: [0]})()
        for task in (0, "left", None):
            labels.predict(x, task=task)
        self.assertEqual(seen, [0, "left", "right"])

    def test_transfer_refuses_a_target_without_the_features_of_the_source(self):
        other = self.b[["income", "age"]].rename(columns={"income": "u", "age": "v"}).fillna(1)
        for call in (lambda: kindred.transfer(self.a[["income", "age"]].fillna(1), self.sa, other, "logreg"),
                     lambda: kindred.LLGC().fit(self.a[["age"]], self.sa, other)):
            with self.assertRaisesRegex(ValueError, r"share no column \(.*\); use rename={'OLD': 'NEW'} or features='position'") as caught:
                quiet(call)
            self.assertNotIn("--", str(caught.exception))
        # Columns without names are compared by position: the target has entries where the source has zeros only.
        x, y = np.zeros((20, 40)), np.zeros((20, 40))
        x[:, :20], y[:, 20:] = np.arange(400).reshape(20, 20) % 7, 1 + np.arange(400).reshape(20, 20) % 5
        with self.assertRaisesRegex(ValueError, "share no column"):
            quiet(kindred.transfer, x, [0, 1] * 10, y, "svm")

    def test_a_model_says_how_files_are_read(self):
        model = quiet(kindred.KMeans(n_clusters=3).fit, self.a, missing="mean")
        data = kindred.read(self.south, model=model)
        np.testing.assert_array_equal(quiet(model.predict, data), quiet(model.predict, self.b))


if __name__ == "__main__":
    unittest.main()
