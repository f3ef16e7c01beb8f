"""--vectors: short texts are compared by means of word vectors and explained by their words."""
import csv
import gzip
import json
import random
import unittest

from harness import CliTest

WORDS = ["rocket orbit moon launch comet planet crater lander probe galaxy nebula eclipse".split(),
         "goal match league keeper striker referee stadium trophy penalty midfield coach corner".split(),
         "bread oven flour yeast dough crust baker bagel muffin rye loaf pastry".split()]
DIM = 8


def topic_vectors(words=WORDS, dim=DIM, seed=1):
    """(word, numbers): the words of a topic are near each other."""
    draw = random.Random(seed)
    centres = [[draw.gauss(0, 1) for _ in range(dim)] for _ in words]
    return [(w, [c + draw.gauss(0, .2) for c in centre]) for centre, topic in zip(centres, words) for w in topic]


def as_lines(vectors, end=""):
    return [" ".join([w, *("%.4f" % v for v in values)]) + end for w, values in vectors]


class Vectors(CliTest):
    def setUp(self):
        super().setUp()
        self.draw = random.Random(3)
        self.vectors = [("the", [.1] * DIM), *topic_vectors(), ("unused", [.5] * DIM)]
        self.write("glove.txt", "\n".join(as_lines(self.vectors)) + "\n")
        self.table("a.csv", 60)
        self.table("b.csv", 45)

    def table(self, name, rows, words=2, extra=()):
        """Texts of words of one topic each; most pairs of texts have no word in common."""
        texts = [" ".join(self.draw.sample(WORDS[i % 3], words)) for i in range(rows)] + list(extra)
        with open(self.path(name), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f)
            out.writerow(["key", "topic", "place", "body"])
            out.writerows([f"{name[0]}{i}", f"t{i % 3}", f"p{i // 3 % 2}", t] for i, t in enumerate(texts))
        return texts

    def json(self, *args):
        out = self.run_kindred(*args, "-q").stdout
        return self.result(f"{args[args.index('-o') + 1]}/result.json") if "-o" in args else json.loads(out)

    def cluster(self, *more, vectors="glove.txt", files=("a.csv", "b.csv"), k=3):
        return self.json("cluster", "-k", k, "--text-column", "body", "--vectors", vectors, *files, *more)

    def check_topics(self, result, rows=None):
        for task in result["tasks"]:
            found = {(i % 3, c) for i, c in enumerate(task["labels"][:rows])}
            self.assertEqual((len(found), len({c for _, c in found})), (3, 3), task["labels"])

    def refused(self, text, *words, lines=None, status=3):
        if lines is not None:
            self.write("bad.txt", lines)
        r = self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", "bad.txt", "a.csv", *words, code=status)
        self.assertIn(text, r.stderr)
        self.assertEqual(len(r.stderr.strip().split("\n")), 1, r.stderr)
        return r.stderr

    def test_summary_states_what_texts_are_compared_by(self):
        self.table("c.csv", 30, extra=["zebra", ""])
        r = self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", "glove.txt", "a.csv", "c.csv", "-o", "out")
        self.assertIn("texts are compared by word vectors, because the median text has 2 words with a vector (from 11 on, words are better); "
                      "without a vector: 1 of 36 words, 2 of 92 texts\n", r.stdout)
        self.assertIn("c: 2 texts without known words have no label (rows 31, 32)", r.stdout)
        result = self.result()
        self.check_topics(result, 30)
        self.assertEqual(result["data"], "embeddings")
        self.assertEqual(result["tasks"][1]["labels"][30:], [-1, -1])
        self.assertEqual(result["tasks"][0]["explained_by"], "a.csv")
        for cluster in result["tasks"][0]["clusters"]:
            topic = next(i % 3 for i, c in enumerate(result["tasks"][0]["labels"]) if c == cluster["number"])
            self.assertTrue(set(cluster["title"].split(", ")) <= set(WORDS[topic]), cluster)
        with open(self.path("out/c.samples.csv"), newline="") as f:
            self.assertEqual([row["reason"] for row in csv.DictReader(f)][29:], ["", "no known words", "no known words"])

    def test_long_texts_are_compared_by_words(self):
        self.table("c.csv", 45, words=11)
        with_vectors = self.cluster("-o", "out", files=["c.csv"])
        self.assertEqual(with_vectors["tasks"][0]["compared_by"], "words, because the median text has 11 words with a vector (below 11, vectors are better)")
        words = self.json("cluster", "-k", "3", "--text-column", "body", "c.csv")
        self.assertEqual([t["labels"] for t in with_vectors["tasks"]], [t["labels"] for t in words["tasks"]])
        self.assertEqual((with_vectors["data"], with_vectors["tasks"][0]["d"]), (words["data"], words["tasks"][0]["d"]))
        self.assertNotIn("compared_by", words["tasks"][0])

    def test_formats_give_the_same_labels(self):
        wanted = [t["labels"] for t in self.cluster()["tasks"]]
        lines = as_lines(self.vectors, " ")
        head = f"{len(lines)} {DIM}"
        self.write("w2v.txt", "\n".join([head, *lines]) + "\n")
        self.write("crlf.vec", "\r\n".join([head, *lines]))
        self.write("tabs.txt", "\n".join(line.strip().replace(" ", "\t") for line in lines))
        self.write("cased.txt", "\n".join(line.capitalize() for line in as_lines(self.vectors)))
        self.write("blanks.txt", "\n".join([*as_lines(self.vectors), *as_lines([(". . .", [.1] * DIM)])]) + "\n")
        with gzip.open(self.path("glove.txt.gz"), "wt") as f:
            f.write(self.read("glove.txt"))
        for name in ("w2v.txt", "crlf.vec", "tabs.txt", "cased.txt", "blanks.txt", "glove.txt.gz"):
            with self.subTest(name=name):
                self.assertEqual([t["labels"] for t in self.cluster(vectors=name)["tasks"]], wanted)
                self.assertEqual(self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", name, "a.csv").stderr, "")

    def test_own_spelling_comes_first(self):
        """A word in capitals counts only if the file does not have it in lower case; the first of two counts, with a warning."""
        wanted = [t["labels"] for t in self.cluster()["tasks"]]
        wrong = [(w.capitalize(), [9.0] * DIM) for w, _ in self.vectors]
        for name, vectors in (("before", wrong + self.vectors), ("after", self.vectors + wrong)):
            self.write(f"{name}.txt", "\n".join(as_lines(vectors)))
            self.assertEqual([t["labels"] for t in self.cluster(vectors=f"{name}.txt")["tasks"]], wanted)
        self.write("twice.txt", "\n".join(as_lines(self.vectors + [(WORDS[0][0], [9.0] * DIM)])))
        self.assertEqual([t["labels"] for t in self.cluster(vectors="twice.txt")["tasks"]], wanted)
        r = self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", "twice.txt", "a.csv")
        self.assertIn("warning: twice.txt: 1 word of the texts occurs again; the first vector is used", r.stderr)

    def test_bad_files(self):
        lines = as_lines(self.vectors)
        shorter = lines[4].rsplit(" ", 1)[0]
        self.refused(f"bad.txt: line 5 has {DIM - 1} numbers after its word, expected {DIM} as in line 1", lines="\n".join([*lines[:4], shorter, *lines[5:]]))
        self.refused(f"bad.txt: line 5 has {DIM + 1} numbers after its word, expected {DIM} as in line 1", lines="\n".join([*lines[:4], lines[4] + " 1", *lines[5:]]))
        self.refused(f"bad.txt: line 2 has {DIM} numbers after its word, expected 5 by its first line", lines="\n".join(["39 5", *lines]))
        self.refused(f"bad.txt: line {len(lines) + 1} has 0 numbers after its word, expected {DIM} as in line 1", lines="\n".join([*lines, "last"]))
        self.refused("bad.txt: line 2: number 3 is '0.x'; a finite number is expected", lines="\n".join([lines[0], "rocket 1 2 0.x 4 5 6 7 8", *lines[2:]]))
        self.refused("bad.txt: line 2: number 8 is 'nan'; a finite number is expected", lines="\n".join([lines[0], "rocket 1 2 3 4 5 6 7 nan", *lines[2:]]))
        self.refused("bad.txt: has no word vectors; each line needs a word and its numbers", lines="")
        self.refused("bad.txt: has no word vectors; each line needs a word and its numbers", lines="0 8\n")
        self.refused("bad.txt: line 1 is '%PDF-1.4'; a word and its numbers are expected", lines="%PDF-1.4\nx y\n")
        self.refused("bad.txt: none of its 2 words occurs in the texts; use vectors of the language of the texts", lines="haus 1 2\nhund 3 4\n")
        with open(self.path("bad.txt"), "wb") as f:
            f.write(b"39 8\n" + bytes(random.Random(1).randrange(256) for _ in range(4000)))
        self.assertRegex(self.refused("bad.txt: line "), "line [0-9]+ (is not text; word vectors are read as text|has [0-9]+ number)")
        with open(self.path("bad.txt"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00v\x00 1 2\n" + bytes(100))
        self.refused("bad.txt: line 1 is not text; word vectors are read as text (word2vec text, GloVe, fastText .vec), not in a binary format")
        with open(self.path("bad.txt"), "wb") as f:
            f.write(gzip.compress("\n".join(lines).encode())[:-20])
        self.refused("bad.txt: the gzip stream is ")
        r = self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", "absent.txt", "a.csv", code=3)
        self.assertIn("absent.txt: cannot open", r.stderr)
        self.write("short.txt", "\n".join([f"100 {DIM}", *lines]))
        r = self.run_kindred("cluster", "-k", "3", "--text-column", "body", "--vectors", "short.txt", "a.csv")
        self.assertIn(f"warning: short.txt: has {len(lines)} words, but 100 by its first line; is it complete?", r.stderr)

    def test_options_without_effect(self):
        for words, text in ((["cluster", "-k", "3", "a.csv", "--vectors", "glove.txt"], "text options are given, but no data set is a folder of texts"),
                            (["cluster", "-k", "3", "a.csv", "--explain", "a.csv", "--text-column", "body", "--vectors", "glove.txt"], "--vectors has no effect with --explain"),
                            (["cluster", "--into", "m.h5", "a.csv", "--text-column", "body", "--vectors", "glove.txt"], "--vectors has no effect with --into"),
                            (["vectorize", "-o", "v", "a.csv", "--vectors", "glove.txt"], "vectors")):
            with self.subTest(words=words):
                self.assertIn(text, self.run_kindred(*words, code=None).stderr)

    def test_pairs(self):
        """With other options: k is found, columns split the file, classes are known, levels, quality, tables and reports are written."""
        self.write("known.csv", "key,topic\n" + "".join(f"a{i},t{i % 3}\n" for i in range(9)))
        self.assertEqual(len(self.cluster(k="auto")["tasks"][0]["sizes"]), 3)
        self.check_topics(self.cluster("--known", "known.csv,?", "--id-column", "key"))
        self.check_topics(self.cluster("--report", "--write-table", "w.csv", "-o", "r", "--quality", "--resamples", 1, files=["a.csv"]))
        with open(self.path("w.csv"), newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual((len(rows), len({r["cluster"] for r in rows})), (60, 3))
        self.assertTrue(set(rows[0]["cluster_name"].split(", ")) <= set(WORDS[0]), rows[0])
        self.assertIn(rows[0]["body"], self.read("r/report.html"))
        self.check_topics(self.cluster("-m", "kmeans", "--pooled"))
        self.check_topics(self.cluster("--no-transfer", "--stemmer", "none", "--ngrams", "1,2"))
        self.assertEqual([len(level["tasks"][0]["sizes"]) for level in self.cluster(k="2-4")["levels"]], [2, 3, 4])
        split = self.cluster("--task-column", "place", files=["a.csv"])
        self.assertEqual([t["name"] for t in split["tasks"]], ["p0", "p1"])
        for task in split["tasks"]:
            self.assertEqual(len(set(zip(task["labels"], [i % 3 for i in range(30)]))), 3)
        for command in ("relate", "embed", "inspect"):
            self.run_kindred(command, "--text-column", "body", "--vectors", "glove.txt", "a.csv", *(["-o", "map.csv"] if command == "embed" else []))

    def test_transfer(self):
        for more in ([], ["--probabilities"], ["-m", "logreg"], ["--abstain", ".1"]):
            found = self.json("transfer", "--source", "a.csv", "--label-column", "topic", "--target", "b.csv", "--text-column", "body", "--vectors", "glove.txt", *more)
            target = found["tasks"][-1]
            right = [label in (f"t{i % 3}", "?") for i, label in enumerate(target["labels"])]
            self.assertEqual(sum(right), 45, (more, target["labels"]))
            self.assertIn("word vectors", target["compared_by"])

    def test_models(self):
        """The model has the vectors of its words, so that predict and --into need no file of vectors."""
        texts = self.table("new.csv", 30, extra=["zebra", "", "Rocket ORBIT"])
        for more in ([], ["--model-without-samples"], ["-m", "kmeans"]):
            fitted = self.cluster("--save-model", "m.h5", "--force", "-o", "out", *more, files=["a.csv"])
            of = [fitted["tasks"][0]["labels"][i] for i in range(3)]
            r = self.run_kindred("predict", "--model", "m.h5", "--text-column", "body", "new.csv")
            wanted = [str(of[i % 3]) for i in range(30)] + ["?", "?", str(of[0])]
            self.assertEqual(r.stdout.split("\n")[:-1], wanted, texts)
            self.assertIn("new: 2 texts without known words have no label (rows 31, 32)", r.stderr)
        again = self.run_kindred("predict", "--model", "m.h5", "--text-column", "body", "a.csv").stdout.split("\n")[:-1]
        self.assertEqual(again, [str(c) for c in fitted["tasks"][0]["labels"]])
        r = self.run_kindred("predict", "--model", "m.h5", "a.csv", code=3)
        self.assertIn("a.csv is a table, but the model was fitted on texts; name the column with the texts: --text-column NAME", r.stderr)
        self.cluster("--save-model", "m.h5", "--force", "-o", "out", files=["a.csv"])
        added = self.json("cluster", "--into", "m.h5", "b.csv", "--text-column", "body")
        self.assertEqual([of[i % 3] for i in range(45)], added["tasks"][-1]["labels"])
        self.json("transfer", "--source", "a.csv", "--label-column", "topic", "--target", "b.csv", "--text-column", "body", "--vectors", "glove.txt", "--save-model", "t.h5", "-o", "o2")
        r = self.run_kindred("predict", "--model", "t.h5", "--text-column", "body", "new.csv")
        self.assertEqual(r.stdout.split("\n")[:-1], [f"t{i % 3}" for i in range(30)] + ["?", "?", "t0"])


if __name__ == "__main__":
    unittest.main()
