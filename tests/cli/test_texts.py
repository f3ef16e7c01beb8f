"""Texts given directly to cluster, transfer and predict."""
import csv
import os
import unittest

from harness import CliTest

TOPICS = {"ships": "voyage harbour sailor anchor captain wave deck mast", "bread": "flour oven baker dough pastry crust loaf salt"}
FILLER = "the and of to a in is was it for on with as his that they all"
GERMAN = "und die der in den von zu das mit sich auf für ist nicht es sie er hat wird bei einer"


class Texts(CliTest):
    def folder(self, name, count=20, filler=FILLER, start=0, head=None, ending=""):
        for topic, words in TOPICS.items():
            for i in range(start, start + count):
                own, common = words.split(), filler.split()
                text = " ".join(f"{common[(i + j) % len(common)]} {own[(i * 3 + j) % 8]}{ending if (i + j) % 3 == 0 else ''} "
                                f"{common[(i * 5 + j) % len(common)]}" for j in range(8))
                path = self.path(os.path.join(name, topic, f"{i:03}.txt"))
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as f:
                    f.write((head(i) if head else "") + text + f" {topic}{i * 'x'}q\n")

    def names(self, out):
        with open(self.path(out + "/features.csv"), newline="") as f:
            return {row["feature"] for row in csv.DictReader(f)}

    def test_stop_words_rare_words_and_headers_are_removed(self):
        self.folder("texts", head=lambda i: f"From: user{i}@example.org\nSubject: news\nMessage-ID: <{i}@host>\n\n")
        out = self.run_kindred("cluster", "-k", 2, "-o", "out", "--score", "texts").stdout
        self.assertIn("texts in English (stop words removed", out)
        self.assertIn("headers removed except the Subject", out)
        self.assertIn("words in fewer than 2 documents removed", out)
        result = self.result("out/result.json")
        self.assertEqual(result["tasks"][0]["metrics"]["nmi"], 1)
        self.assertEqual(result["tasks"][0]["d"], 17)  # of two topics, and the Subject
        self.assertTrue(self.names("out") <= set(" ".join(TOPICS.values()).split()) | {"news"})

    def test_explicit_options_win(self):
        self.folder("texts")
        common = ("cluster", "-k", 2, "-q", "--force", "-o", "out")
        sizes = {}
        for name, options in (("auto", ()), ("all", ("--stop-words", "none", "--stemmer", "none", "--min-df", 1)),
                              ("long", ("--min-length", 5)), ("pairs", ("--ngrams", "1,2"))):
            self.run_kindred(*common, *options, "texts")
            sizes[name] = self.result("out/result.json")["tasks"][0]["d"]
        self.assertEqual(sizes["auto"], 16)
        self.assertEqual(sizes["all"], 16 + len(FILLER.split()) - 1 + 40)  # "a" is too short
        self.assertEqual(sizes["long"], 10)
        self.assertGreater(sizes["pairs"], 16)
        self.fails(*common, "--min-df", "1.5", "texts", code=2, says="--min-df")
        self.fails(*common, "--keep-subject", "texts", code=2, says="--strip-mail")
        self.write("t.csv", "x,y\n1,2\n3,4\n5,6\n")
        self.fails(*common, "--stemmer", "none", "t.csv", code=2, says="--text-column")

    def test_other_languages_are_detected(self):
        self.folder("texts", filler=GERMAN)
        out = self.run_kindred("cluster", "-k", 2, "-o", "out", "texts").stdout
        self.assertIn("texts in German (stop words removed", out)
        self.folder("latin", filler="lorem ipsum dolor sit amet consectetur")
        out = self.run_kindred("cluster", "-k", 2, "-o", "out2", "latin").stdout
        self.assertIn("texts (no stop words removed)", out)

    def test_stems_are_shown_as_words_and_predict_counts_as_the_fit_did(self):
        self.folder("texts", ending="s")
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "--save-model", "m.h5", "texts")
        self.assertEqual(self.result("out/result.json")["tasks"][0]["d"], 16)
        self.assertTrue({"voyage", "pastry"} <= self.names("out"))  # the stems are "voyag" and "pastri"
        self.assertTrue(self.names("out") <= {w + e for w in " ".join(TOPICS.values()).split() for e in ("", "s")})
        # The same texts with every word in its plural: other words, the same stems.
        for topic, words in TOPICS.items():
            os.makedirs(self.path("new"), exist_ok=True)
            for i in range(4):
                self.write(f"new/{topic}{i}.txt", "the " + " ".join(w + "s" for w in words.split()[i:i + 4]) + "\n")
        labels = self.run_kindred("predict", "--model", "m.h5", "-q", "new").stdout.split()
        self.assertEqual(len(set(labels[:4])), 1)
        self.assertEqual(len(set(labels[4:])), 1)
        self.assertNotEqual(labels[0], labels[4])
        known = self.run_kindred("predict", "--model", "m.h5", "-q", "texts").stdout.split()
        self.assertEqual(known, self.read("out/texts.labels").split())

    def test_transfer_and_columns_of_texts(self):
        self.folder("old")
        self.folder("new", start=40, count=15)
        self.run_kindred("transfer", "--source", "old", "--target", "new", "-q", "-o", "out")
        self.assertEqual(self.read("out/target.labels").split(), ["bread"] * 15 + ["ships"] * 15)
        rows = {"train": ["text,kind"], "test": ["id,text"]}
        for topic, words in TOPICS.items():
            own = words.split()
            rows["train"] += [f'"the {own[i % 8]}, and {own[(i + 3) % 8]} of it",{topic}' for i in range(16)]
            rows["test"] += [f'{i},"they {own[i]} {own[(i + 1) % 8]}"' for i in range(8)]
        for name, lines in rows.items():
            self.write(name + ".csv", "\n".join(lines) + "\n")
        self.run_kindred("transfer", "--source", "train.csv", "--target", "test.csv", "--text-column", "text", "--label-column", "kind",
                         "-q", "-o", "columns", "--save-model", "c.h5")
        self.assertEqual(self.read("columns/target.labels").split(), ["ships"] * 8 + ["bread"] * 8)
        again = self.run_kindred("predict", "--model", "c.h5", "-q", "--text-column", "text", "test.csv").stdout
        self.assertEqual(again.split(), ["ships"] * 8 + ["bread"] * 8)

    def test_vectorize_detects_only_if_asked(self):
        self.folder("texts")
        self.run_kindred("vectorize", "-q", "-o", "plain", "texts")
        self.run_kindred("vectorize", "-q", "-o", "chosen", "--detect", "texts")
        self.assertIn("the", self.read("plain/features.txt").split())
        self.assertEqual(sorted(self.read("chosen/features.txt").split()), sorted(" ".join(TOPICS.values()).split()))


if __name__ == "__main__":
    unittest.main()
