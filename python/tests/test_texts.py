"""Texts as input: folders, columns of files and lists of str."""
import json
import os
import tempfile
import unittest
from pathlib import Path

import kindred
import numpy as np
from common import PartsTest

TOPICS = {"bread": "flour oven baker dough pastry crust loaf salt", "ships": "voyage harbour sailor anchor captain wave deck mast"}
FILLER = "the and of to a in is was it for on with as his that they all".split()


def texts(topic, start, count, ending=""):
    own = TOPICS[topic].split()
    return [" ".join(f"{FILLER[(i + j) % len(FILLER)]} {own[(i * 3 + j) % 8]}{ending}" for j in range(6)) + f" {topic}{'x' * i}q"
            for i in range(start, start + count)]


class Texts(PartsTest):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def path(self, name):
        return os.path.join(self.place.name, name)

    def folder(self, name, start, count):
        for topic in TOPICS:
            os.makedirs(self.path(f"{name}/{topic}"))
            for i, t in enumerate(texts(topic, start, count)):
                with open(self.path(f"{name}/{topic}/{i:02}.txt"), "w") as f:
                    f.write(t)
        return self.path(name)

    def test_a_folder_of_tables_is_not_read_as_texts(self):
        folder = self.path("tables")
        os.makedirs(folder)
        for i in range(3):
            kindred.write([[1, 2], [3, i]], f"{folder}/{i}.csv")
        for call in (lambda: kindred.cluster(folder, 2), lambda: kindred.vectorize([folder]), lambda: kindred.read(folder),
                     lambda: kindred.transfer(folder, targets=folder)):
            with self.assertRaisesRegex(ValueError, r"tables holds 3 CSV files, not texts; give the files themselves: .*/tables/\*\.csv$"):
                call()

    def test_lists_of_texts_are_counted_as_folders_are(self):
        a, b = texts("bread", 0, 15) + texts("ships", 0, 15), texts("bread", 15, 10) + texts("ships", 15, 10)
        from_lists = kindred.cluster({"a": a, "b": b}, 2)
        from_folders = kindred.cluster({"a": self.folder("a", 0, 15), "b": self.folder("b", 15, 10)}, 2)
        for t in range(2):
            self.assertEqual(from_lists.labels(t).tolist(), from_folders.labels(t).tolist())
        self.assertEqual(from_lists.labels(0).tolist(), [0] * 15 + [1] * 15)
        self.assertIn("texts in English (stop words removed", from_lists.to_json())
        self.assertEqual(len(kindred.cluster([a], 2).labels(0)), 30)

    def test_options_of_texts(self):
        folder = self.folder("f", 0, 15)
        self.assertEqual(kindred.read(folder).shape[1], 16)
        plain = kindred.read(folder, texts={"stop_words": "none", "stemmer": "none", "min_df": 1})
        self.assertIn("the", plain.feature_names)
        self.assertLess(kindred.read(folder, texts={"min_length": 6}).shape[1], 16)
        listed = kindred.read(folder, texts={"stop_words": ["english", "german"], "stemmer": "none"})
        self.assertNotIn("the", listed.feature_names)
        (made,) = kindred.vectorize({"a": ["the der Haus", "house"]}, stopwords=["english", "german"])
        self.assertEqual(made.feature_names, ["haus", "house"])
        with self.assertRaisesRegex(ValueError, "klingon.*danish, dutch, english"):
            kindred.vectorize({"a": ["x"]}, stopwords=["english", "klingon"])
        with self.assertRaisesRegex(ValueError, "stemer"):
            kindred.read(folder, texts={"stemer": "none"})

    def test_estimators_fit_and_predict_texts(self):
        fitted = kindred.Auto(n_clusters=2).fit([texts("bread", 0, 15) + texts("ships", 0, 15)])
        self.assertEqual(fitted.labels_[0].tolist(), [0] * 15 + [1] * 15)
        self.assertEqual(fitted.predict(texts("ships", 20, 3, "s") + texts("bread", 20, 2, "s")).tolist(), [1, 1, 1, 0, 0])

    def test_short_texts_are_compared_by_word_vectors(self):
        vectors = Path(self.path("v.txt"))
        vectors.write_text("".join(f"{w} {1 + .01 * i} {t} {1 - t}\n" for t, words in enumerate(TOPICS.values()) for i, w in enumerate(words.split())))
        own = [words.split() for words in TOPICS.values()]
        short = [f"{own[i % 2][i // 2 % 8]} {own[i % 2][(i // 2 + 1) % 8]}" for i in range(40)]
        result = kindred.cluster([short], 2, vectors=vectors)
        self.assertEqual(result.labels(0).tolist(), [0, 1] * 20)
        self.assertIn("word vectors, because the median text has 2 words", json.loads(result.to_json())["tasks"][0]["compared_by"])
        self.assertEqual(kindred.cluster([short], 2, texts={"vectors": str(vectors)}).labels(0).tolist(), [0, 1] * 20)
        fitted = kindred.Auto(n_clusters=2).fit([short], vectors=vectors)
        self.assertEqual(fitted.predict(["mast", "oven", "zebra"]).tolist(), [1, 0, -1])
        found = kindred.transfer([short], [["bread", "ships"] * 20], [["mast deck", "salt loaf"]], vectors=vectors)
        self.assertEqual(list(found.labels(-1)), ["ships", "bread"])
        data = kindred.read(self.folder("f", 0, 3), texts={"stemmer": "none"}, vectors=vectors)
        self.assertEqual(data.shape, (6, 3))
        with self.assertRaisesRegex(ValueError, "word vectors have no effect on texts that only explain"):
            kindred.cluster(np.eye(3), 2, explain=short[:3], vectors=vectors)
        with self.assertRaisesRegex(OSError, "none.txt: cannot open"):
            kindred.cluster([short], 2, vectors="none.txt")

    def test_texts_of_frames_series_and_arrays(self):
        from pandas import NA, DataFrame, Series
        list_ = texts("bread", 0, 15) + texts("ships", 0, 15)
        frame = DataFrame({"nr": [f"r{i}" for i in range(30)], "body": list_, "price": np.arange(30) % 7, "topic": [1, 2] * 15})
        frame.to_csv(self.path("t.csv"), index=False)
        want = [0] * 15 + [1] * 15
        for table, how in ((frame, {"text_column": "body"}), (Series(list_), {}), (np.array(list_), {}), (np.array(list_, object), {}),
                           ({"a": Series(list_)}, {}), ([tuple(list_)], {}), (self.path("t.csv"), {"text_column": "body"})):
            self.assertEqual(kindred.cluster(table, 2, **how).labels(0).tolist(), want)
        both = kindred.cluster({"a": frame, "b": self.path("t.csv"), "c": list_}, 2, text_column="body")
        self.assertEqual([both.labels(t).tolist() for t in "abc"], [want] * 3)
        self.assertEqual(kindred.cluster(frame, 2, text_column="body", id_column="nr").ids(0), list(frame["nr"]))
        self.assertEqual(kindred.cluster(frame.set_index("nr"), 2, text_column="body").ids(0), list(frame["nr"]))
        self.assertEqual(sorted(kindred.cluster(frame, 2, text_column="body", task_column="topic").tasks), ["1", "2"])
        named = kindred.cluster(frame.assign(topic=["loaf"] + [None] * 14 + ["sea"] + [NA] * 14), 2, text_column="body", known_column="topic")
        self.assertEqual(named.names(), ["loaf", "sea"])
        self.assertEqual([d.shape[0] for d in kindred.prepare([frame, list_], text_column="body")], [30, 30])
        self.assertEqual(kindred.read(frame, text_column="body").feature_names, kindred.read(self.path("t.csv"), text_column="body").feature_names)
        fitted = kindred.Auto(n_clusters=2).fit(frame, text_column="body")
        self.assertEqual(fitted.labels_.tolist(), want)
        for new in (frame.iloc[::15], self.path("t.csv")):
            self.assertEqual(fitted.predict(new).tolist(), want if isinstance(new, str) else want[::15])
        groups = ["u", "v"] * 15
        self.assertEqual(kindred.Auto(n_clusters=2).fit(frame, tasks=groups, text_column="body").labels_.tolist(),
                         kindred.Auto(n_clusters=2).fit(list_, tasks=groups).labels_.tolist())
        with self.assertRaisesRegex(ValueError, "fitted on texts: pass a list or Series"):
            fitted.result_.model().predict(frame)
        labelled = kindred.LogReg().fit(frame.assign(topic=[7] * 15 + [8] * 15), X_target=frame, text_column="body", label_column="topic")
        self.assertEqual(labelled.transduction_.tolist(), [7] * 15 + [8] * 15)

    def test_missing_texts_are_empty_and_others_an_error(self):
        list_ = texts("bread", 0, 15) + texts("ships", 0, 15)
        for nothing in (None, float("nan"), ""):
            found = kindred.cluster([list_ + [nothing]], 2, seed=1)
            self.assertEqual(found.labels(0).tolist(), [0] * 15 + [1] * 15 + [-1])
        for odd, kind in ((3, "int"), (b"loaf", "bytes"), (2.5, "float")):
            for call in (lambda: kindred.cluster({"north": list_ + [odd]}, 2), lambda: kindred.vectorize({"north": list_ + [odd]})):
                with self.assertRaisesRegex(TypeError, f"^north: text 30 has the type {kind}: every text must be a str"):
                    call()

    def test_options_that_name_columns_of_texts(self):
        from pandas import DataFrame
        list_ = texts("bread", 0, 15) + texts("ships", 0, 15)
        frame = DataFrame({"body": list_, "price": range(30)})
        frame.to_csv(self.path("t.csv"), index=False)
        for option in ("text_column", "id_column", "label_column", "task_column"):
            for table in (frame, self.path("t.csv")):
                with self.assertRaisesRegex(ValueError, "no column 'nix'"):
                    kindred.cluster(table, 2, **{"text_column": "body", option: "nix"})
            for table in ([list_], np.eye(5)):
                with self.assertRaisesRegex(ValueError, option):
                    kindred.cluster(table, 2, **{option: "nix"})
        for option in ({"columns": "price"}, {"rename": {"price": "p"}}, {"recode": {"price": {"1": "2"}}}):
            for table in (frame, self.path("t.csv")):
                with self.assertRaisesRegex(ValueError, f"{next(iter(option))} has no effect on texts"):
                    kindred.cluster(table, 2, text_column="body", **option)

    def test_transfer_counts_sources_and_targets_together(self):
        source, target = self.folder("old", 0, 15), self.folder("new", 20, 5)
        expected = ["bread"] * 5 + ["ships"] * 5
        self.assertEqual(list(kindred.transfer(source, targets=target).labels(-1)), expected)
        known = ["bread"] * 15 + ["ships"] * 15
        new = texts("bread", 20, 5, "s") + texts("ships", 20, 5, "s")
        result = kindred.transfer([texts("bread", 0, 15) + texts("ships", 0, 15)], [known], [new])
        self.assertEqual(list(result.labels(-1)), expected)
        self.assertEqual(list(kindred.LogReg().fit(source, X_target=target).transduction_), expected)
        with open(self.path("t.csv"), "w") as f:
            f.write("body,class\n" + "".join(f'"{t}",{c}\n' for c in TOPICS for t in texts(c, 0, 15)))
        made = kindred.LogReg().fit(self.path("t.csv"), label_column="class", text_column="body")
        self.assertEqual(list(made.predict(new)), expected)

    def test_without_transfer_each_data_set_has_words_of_its_own(self):
        def same(found, alone):
            for t, one in enumerate(alone):
                self.assertEqual(kindred.evaluate(found.labels(t), one.labels(0))["ari"], 1)
                self.assertEqual(found.confidence(t).tolist(), one.confidence(0).tolist())

        some, other = ([f"{a} {b}" for a, b in zip(texts("bread", i, n) + texts("ships", i, n), texts(*more, 2 * n))]
                       for i, n, more in ((0, 20, ("ships", 0)), (40, 15, ("bread", 7))))
        alone = [kindred.cluster([one], 2) for one in (some, other)]
        for k in (2, "auto"):
            found = kindred.cluster({"some": some, "other": other}, k, options={"transfer": False})
            same(found, [kindred.cluster([one], k) for one in (some, other)])
            self.assertEqual(found.to_json().count(" words of its own"), 2)
        fitted = kindred.Auto(n_clusters=2, transfer=False).fit([some, other])
        for labels, one in zip(fitted.labels_, alone):
            self.assertEqual(kindred.evaluate(labels, one.labels(0))["ari"], 1)
        data = kindred.read([self.folder("a", 0, 15), self.folder("b", 15, 10)])
        same(kindred.cluster(list(data.values()), 2, options={"transfer": False}), [kindred.cluster(self.path(name), 2) for name in "ab"])

    def test_a_column_names_the_texts_of_a_file(self):
        names = [f"r{i}" for i in range(30)]
        with open(self.path("t.csv"), "w") as f:
            f.write("nr,body\n" + "".join(f'{n},"{t}"\n' for n, t in zip(names, texts("bread", 0, 15) + texts("ships", 0, 15))))
        result = kindred.cluster(self.path("t.csv"), 2, text_column="body", id_column="nr")
        self.assertEqual(json.loads(result.to_json())["tasks"][0]["ids"], names)

    def test_a_column_divides_the_texts_of_a_file(self):
        rows = [(f"region{i % 2}", t) for i, t in enumerate(texts("bread", 0, 15) + texts("ships", 0, 15))]
        for name in ("t.csv", "u.csv"):
            with open(self.path(name), "w") as f:
                f.write("region,body\n" + "".join(f'{r},"{t}"\n' for r, t in rows))
        result = kindred.cluster(self.path("t.csv"), 2, text_column="body", task_column="region")
        self.assertEqual(sorted(result.tasks), ["region0", "region1"])
        self.assertEqual([len(result.labels(t)) for t in result.tasks], [15, 15])
        both = kindred.cluster([self.path("t.csv"), self.path("u.csv")], 2, text_column="body", task_column="region")
        self.assertEqual(sorted(both.tasks), ["t-region0", "t-region1", "u-region0", "u-region1"])
        fitted = kindred.Auto(n_clusters=2).fit(self.path("t.csv"), text_column="body", task_column="region")
        self.assertEqual(len(fitted.labels_), 30)
        self.assertEqual(list(fitted.labels_[0::2]), list(result.labels("region0")))


if __name__ == "__main__":
    unittest.main()
