"""convert, inspect and vectorize."""
import gzip
import json
import os
import subprocess
import time
import unittest

from harness import KINDRED, CliTest

TABLE = "x,y,z,kind\n1,0,2.5,red\n0,0,-3,blue\n0.1,1e300,5e-324,red\n"


class Convert(CliTest):
    def test_round_trips_keep_every_bit(self):
        self.write("a.csv", TABLE)
        self.run_kindred("convert", "--label-column", "kind", "a.csv", "first.csv")
        reference = self.read("first.csv")
        for ending in ("tsv", "mtx", "svm", "npy", "npz", "h5", "csv.gz", "mtx.gz", "npy.gz"):
            os.mkdir(self.path(ending))
            there = f"{ending}/b.{ending}"
            self.run_kindred("convert", "--label-column", "kind", "a.csv", there)
            back = ("--label-column", "label") if ending in ("tsv", "csv.gz") else ()
            self.run_kindred("convert", *back, there, f"{ending}/back.csv")
            got, want = self.read(f"{ending}/back.csv"), reference
            if ending not in ("tsv", "csv.gz", "svm"):  # classes went to b.labels
                want = "".join(line.rsplit(",", 1)[0] + "\n" for line in want.splitlines())
                self.assertEqual(self.read(f"{ending}/b.labels"), "red\nblue\nred\n")
            self.assertEqual(got, want, ending)

    def test_features_beside_are_shared_not_fought_over(self):
        self.write("a.csv", "x,y\n1,2\n")
        self.write("b.csv", "x,y\n3,4\n")
        self.write("c.csv", "u,v\n3,4\n")
        os.mkdir(self.path("out"))
        self.run_kindred("convert", "a.csv", "out/a.npy")
        self.run_kindred("convert", "b.csv", "out/b.npy")
        self.run_kindred("convert", "-q", "c.csv", "out/c.npy", code=2)
        self.assertEqual(self.read("out/features.txt"), "x\ny\n")

    def test_a_kill_leaves_the_old_file_or_the_new(self):
        old, new = b"old\n", None
        rows = "".join(f"{i},{i * .37},{i % 7}\n" for i in range(30000))
        source = self.write("big.csv", "x,y,z\n" + rows)
        self.run_kindred("convert", source, "new.tsv")
        with open(self.path("new.tsv"), "rb") as f:
            new = f.read()
        seen = set()
        for delay in (0, .005, .01, .02, .03, .05, .1, .3):
            self.write("out.tsv", old)
            process = subprocess.Popen([KINDRED, "convert", "-q", "--force", source, "out.tsv"], cwd=self.dir)
            time.sleep(delay)
            process.kill()
            process.wait()
            with open(self.path("out.tsv"), "rb") as f:
                found = f.read()
            self.assertIn(found, (old, new))
            seen.add(found)
        self.assertIn(old, seen)  # at least the kill at once came before the end

    def test_bad_conversions(self):
        self.write("a.csv", "x,y\n1,2\n")
        self.fails("convert", "a.csv", code=2, says="two files")
        self.fails("convert", "a.csv", "b.foo", code=2, says=["b.foo", "csv"])
        self.fails("convert", "a.csv", "b.mat", code=2, says="mat")
        self.fails("convert", "none.csv", "b.npy", code=3, says="none.csv")
        self.run_kindred("convert", "a.csv", "b.npy")
        self.fails("convert", "a.csv", "b.npy", code=2, says="--force")
        self.run_kindred("convert", "--from", "csv", "--to", "npy", self.write("plain", "1,2\n3,4\n"), "other")
        with open(self.path("other"), "rb") as f:
            self.assertEqual(f.read(6), b"\x93NUMPY")


class Inspect(CliTest):
    def test_finds_what_is_odd(self):
        self.write("a.csv", "x,y,x,c\n1,2,3,7\n1,2,3,7\nnan,4,3,7\n0,0,0,7\n")
        self.write("b.csv", "x,q\n1,2\n-3,0.5\n")
        report = json.loads(self.run_kindred("inspect", "--json", "a.csv", "b.csv").stdout)
        a, b = report["tasks"]
        self.assertEqual((a["rows"], a["cols"], a["nonfinite"], a["duplicate_rows"], a["duplicate_names"], a["empty_rows"],
                          a["constant_cols"]), (4, 4, 1, 1, 1, 0, 1))
        self.assertEqual((b["min"], b["max"], b["integers"], b["negatives"]), (-3, 2, False, 1))
        self.assertTrue(any(p["fatal"] for p in a["problems"]))
        self.assertIn("1 feature name in common", report["pairs"][0]["found"])
        text = self.run_kindred("inspect", "a.csv", "b.csv").stdout
        for piece in ("line 4, column 1 (x): missing value", "--missing", "->", "a, b:"):
            self.assertIn(piece, text)

    def test_bad_files(self):
        self.fails("inspect", code=2, says="needs at least one")
        self.fails("inspect", "none.csv", code=3, says="none.csv")


class Vectorize(CliTest):
    def folder(self, name, documents):
        for path, text in documents.items():
            full = self.path(os.path.join(name, path))
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w") as f:
                f.write(text)

    def test_folders_of_files(self):
        self.folder("one", {"sport/a.txt": "The ball and the goal", "sport/b.txt": "goal! goal!", "war/c.txt": "the war"})
        self.folder("two", {"war/x": "War and peace", "sport/y": "Ball"})
        self.run_kindred("vectorize", "-o", "out", "--stop-words", "english", "one", "two")
        names = self.read("out/features.txt").split()
        self.assertEqual(sorted(names), ["ball", "goal", "peace", "war"])
        self.assertEqual(self.read("out/one.labels").split(), ["sport", "sport", "war"])
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "res", "out/one.mtx", "out/two.mtx")
        self.assertEqual([t["d"] for t in self.result("res/result.json")["tasks"]], [4, 4])

    def test_lines_table_and_json_agree(self):
        self.write("a.txt", "red apple\ngreen pear\n")
        self.write("b.tsv", "id\ttext\n1\tred apple\n2\tgreen pear\n")
        self.write("c.jsonl", '{"text": "red apple"}\n{"text": "green pear"}\n')
        self.run_kindred("vectorize", "-o", "out", "a.txt", "b.tsv", "c.jsonl")
        self.assertEqual(self.read("out/a.mtx"), self.read("out/b.mtx"))
        self.assertEqual(self.read("out/a.mtx"), self.read("out/c.mtx"))

    def test_old_vocabulary_for_new_documents(self):
        self.write("a.txt", "red apple\ngreen pear\n")
        self.run_kindred("vectorize", "-o", "out", "a.txt")
        self.write("new.txt", "red plum\n")
        self.run_kindred("vectorize", "-o", "out2", "--vocabulary", "out/features.txt", "new.txt")
        self.assertEqual(self.read("out/features.txt"), self.read("out2/features.txt"))

    def test_bad_input(self):
        self.fails("vectorize", "-o", "out", code=2, says="needs at least one")
        self.fails("vectorize", "-o", "out", "none.txt", code=3, says="none.txt")
        self.write("a.jsonl", '{"text": "x"}\n{"text": 3}\n')
        self.fails("vectorize", "-o", "out", "a.jsonl", code=3, says=["a.jsonl", "2"])
        self.fails("vectorize", "-o", "out", "--stemmer", "klingon", self.write("b.txt", "word\n"), code=2, says="klingon")
        whole = gzip.compress(b"some words\n" * 5000)
        self.fails("vectorize", "-o", "out", self.write("c.txt.gz", whole[:len(whole) // 2]), code=3, says="truncated")
        self.assertFalse(os.path.exists(self.path("out/features.txt")))


if __name__ == "__main__":
    unittest.main()
