"""vectorize: from text files to matrices that the other commands read."""
import gzip
import os
import unittest

from harness import CliTest


class Vectorize(CliTest):
    def folder(self, name, documents):
        for path, text in documents.items():
            full = self.path(os.path.join(name, path))
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())

    def matrix(self, name):
        """Rows of {column: value} of a Matrix Market file."""
        lines = [line for line in self.read(name).splitlines() if not line.startswith("%")]
        rows, cols, nnz = map(int, lines[0].split())
        self.assertEqual(len(lines), nnz + 1)
        out = [{} for _ in range(rows)]
        for line in lines[1:]:
            i, j, value = line.split()
            out[int(i) - 1][int(j) - 1] = float(value)
        return out, cols

    def named(self, name):
        rows, cols = self.matrix(name)
        features = self.read(os.path.join(os.path.dirname(name), "features.txt")).splitlines()
        self.assertEqual(len(features), cols)
        return [{features[j]: v for j, v in row.items()} for row in rows]

    def test_folders_become_tasks_over_one_vocabulary(self):
        self.folder("a", {"x/1": "red red Blue", "y/1": b"caf\xe9 blue", "y/2": "123"})
        self.folder("b", {"x/1": "blue green"})
        text = self.run_kindred("vectorize", "-o", "out", "a", "second=b").stdout
        self.assertIn("4 documents", text)
        self.assertIn("1 document not in UTF-8", text)
        self.assertEqual(self.read("out/features.txt").splitlines(), ["blue", "caf\u00e9", "green", "red"])
        self.assertEqual(self.named("out/a.mtx"), [{"red": 2, "blue": 1}, {"caf\u00e9": 1, "blue": 1}, {}])
        self.assertEqual(self.named("out/second.mtx"), [{"blue": 1, "green": 1}])
        self.assertEqual(self.read("out/a.labels"), "x\ny\ny\n")
        self.assertEqual(self.read("out/a.ids"), "x/1\ny/1\ny/2\n")
        self.assertEqual(self.read("out/a.excerpts"), "red red Blue\ncaf\u00e9 blue\n123\n")
        # The same again, without the empty document, in another format and for the next command.
        self.run_kindred("vectorize", "--drop-empty", "--to", "npz", "-q", "-o", "out2", "a", "second=b")
        self.assertEqual(self.read("out2/a.labels"), "x\ny\n")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "c", "--score", "out2/a.npz")
        task = self.result("c/result.json")["tasks"][0]
        self.assertEqual((task["n"], task["ids"]), (2, ["x/1", "y/1"]))  # from a.ids beside it
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "c", "--force", "--report", "out2/a.npz")
        task = self.result("c/result.json")["tasks"][0]
        self.assertEqual(task["excerpts"], {"rows": [0, 1], "texts": ["red red Blue", "caf\u00e9 blue"]})
        self.write("out2/a.ids", "one line too few\n")
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "c", "--force", "out2/a.npz")
        self.assertNotIn("ids", self.result("c/result.json")["tasks"][0])

    def test_files_of_documents(self):
        self.write("l.txt", "one two\nthree\n")
        self.write("t.tsv", "who\ttext\tclass\nme\t\"a\"\"b\" cc\tk\n")
        self.write("j.jsonl", '{"body": "ab \\u00e9t\\u00e9", "y": 3}\n')
        with gzip.open(self.path("z.csv.gz"), "wt") as f:
            f.write("1,zipped text\n")
        self.run_kindred("vectorize", "-o", "l", "l.txt")
        self.assertEqual(self.named("l/l.mtx"), [{"one": 1, "two": 1}, {"three": 1}])
        self.run_kindred("vectorize", "--label-column", "class", "-o", "t", "t.tsv")
        self.assertEqual(self.named("t/t.mtx"), [{"cc": 1}])
        self.assertEqual(self.read("t/t.labels"), "k\n")
        self.run_kindred("vectorize", "--text-column", "body", "--label-column", "y", "-o", "j", "j.jsonl")
        self.assertEqual(self.named("j/j.mtx"), [{"ab": 1, "\u00e9t\u00e9": 1}])
        self.assertEqual(self.read("j/j.labels"), "3\n")
        self.run_kindred("vectorize", "--text-column", "2", "-o", "z", "z.csv.gz")
        self.assertEqual(self.named("z/z.mtx"), [{"text": 1, "zipped": 1}])
        # What separates columns is detected: by the names in the header, or by rows with the same number of fields.
        self.write("e.csv", 'nr;text;"class"\n1;"one; two, two";k\n2;three, four;l\n')
        self.run_kindred("vectorize", "--label-column", "class", "-o", "e", "e.csv")
        self.assertEqual(self.named("e/e.mtx"), [{"one": 1, "two": 2}, {"three": 1, "four": 1}])
        self.assertEqual(self.read("e/e.labels"), "k\nl\n")
        self.write("f.csv", "1;five, six\r\n2;seven\r\n")
        self.run_kindred("vectorize", "--text-column", "2", "-o", "f", "f.csv")
        self.assertEqual(self.named("f/f.mtx"), [{"five": 1, "six": 1}, {"seven": 1}])
        self.write("g.csv", "nr,text\n1,eight; nine\n")  # a comma stays the first guess
        self.run_kindred("vectorize", "-o", "g", "g.csv")
        self.assertEqual(self.named("g/g.mtx"), [{"eight": 1, "nine": 1}])
        self.run_kindred("vectorize", "--from", "lines", "-o", "s", "-", stdin="standard input\n")
        self.assertEqual(self.named("s/stdin.mtx"), [{"standard": 1, "input": 1}])

    def test_options(self):
        self.folder("m", {"1": "Subject: The Dogs\nFrom: x\n\n<b>Run</b>ning &amp; running dogs", "2": "cats run"})
        common = ("vectorize", "-q", "--force", "-o", "o")
        self.run_kindred(*common, "--strip-mail", "--keep-subject", "--strip-html", "--stop-words", "english",
                         "--stemmer", "porter", "m")
        self.assertEqual(self.named("o/m.mtx"), [{"run": 2, "dog": 2}, {"cat": 1, "run": 1}])
        self.write("d.txt", "aa bb\naa bb\naa cc\naa\n")
        for options, features in (
                (("--min-df", "2"), "aa bb"), (("--max-df", "50%"), "bb cc"), (("--max-df", "0.25"), "cc"),
                (("--min-df", "75%"), "aa"), (("--top-features", "2"), "aa bb"),
                (("--ngrams", "2"), "aa_bb aa_cc"), (("--ngrams", "1,2", "--top-features", "3"), "aa aa_bb bb")):
            self.run_kindred(*common, *options, "d.txt")
            self.assertEqual(self.read("o/features.txt").split("\n")[:-1], [f.replace("_", " ") for f in features.split()],
                             options)

    def test_fixed_vocabulary_maps_new_documents(self):
        self.write("old.txt", "red blue\nred\n")
        self.write("new.txt", "blue blue green\n")
        self.run_kindred("vectorize", "-o", "out", "old.txt")
        self.run_kindred("vectorize", "-o", "next", "--vocabulary", "out/features.txt", "new.txt")
        self.assertEqual(self.read("next/features.txt"), self.read("out/features.txt"))
        self.assertEqual(self.matrix("next/new.mtx"), ([{1: 2.0}], 2))

    def test_misuse_and_bad_data(self):
        self.write("d.txt", "aa bb\n")
        go = ("vectorize", "-o", "out")
        self.fails("vectorize", "d.txt", code=2, says="-o DIR")
        self.fails(*go, code=2, says="needs at least one")
        self.fails(*go, "none", code=3, says="none")
        self.fails(*go, "--from", "folder", "d.txt", code=3, says="a folder")
        self.fails(*go, "--min-df", "1.5", "d.txt", code=2, says=["--min-df", "1.5"])
        self.fails(*go, "--ngrams", "4", "d.txt", code=2, says="--ngrams")
        self.fails(*go, "--stemmer", "klingon", "d.txt", code=2, says=["klingon", "porter"])
        self.fails(*go, "--keep-subject", "d.txt", code=2, says="--strip-mail")
        self.fails(*go, "--vocabulary", "d.txt", "--min-df", "2", "d.txt", code=2, says="--vocabulary")
        self.fails(*go, "--min-length", "10", "d.txt", code=3, says="no term")
        self.fails(*go, "d.txt", "d.txt", code=2, says="two data sets")
        self.write("bad.jsonl", '{"text": "a"}\n{"text": 1}\n')
        self.fails(*go, "bad.jsonl", code=3, says=["bad.jsonl", "line 2"])
        self.write("t.csv", "id,body\n1,x\n")
        self.fails(*go, "t.csv", code=2, says=["'text'", "id, body"])
        self.assertEqual(self.leftovers(), [])
        self.run_kindred(*go, "d.txt")
        self.fails(*go, "d.txt", code=2, says=["features.txt", "--force"])


if __name__ == "__main__":
    unittest.main()
