"""Damaged files of every format: an error or a result, soon, and nothing left behind.

KINDRED_DAMAGED=2000 damages that many files instead of 100, and KINDRED_DAMAGED_FIRST=N begins with damage number N."""
import gzip
import os
import random
import resource
import shutil
import subprocess
import unittest

from harness import BLOBS_A, KINDRED, CliTest

COUNT, FIRST = int(os.environ.get("KINDRED_DAMAGED", "100")), int(os.environ.get("KINDRED_DAMAGED_FIRST", "0"))
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fuzz/corpus")
ALLOWED = {0: "a result", 2: "misuse, such as more clusters than samples", 3: "bad data", 4: "numerical failure"}
TOKENS = [b"nan", b"-1", b"1e999", b"\0", b"\xff\xfe", b'"', b",,", b"\n\n", b"99999999999999999999", b"{", b"]", b"%", b":"]


def damage(r, raw):
    """Bytes changed, cut off, inserted, cleared, repeated or exchanged."""
    raw = bytearray(raw)
    for _ in range(r.choice((1, 1, 1, 2, 5))):
        a, b = sorted(r.randrange(len(raw) + 1) for _ in range(2))
        b = min(b, a + r.choice((1, 4, 64, 4096)))
        kind = r.randrange(8)
        if kind < 2 and a < len(raw):
            raw[a] ^= 1 << r.randrange(8)
        elif kind == 2:
            del raw[a:]
        elif kind == 3:
            raw[a:a] = r.randbytes(r.choice((1, 3, 200)))
        elif kind == 4:
            raw[a:b] = bytes([r.choice((0, 255))]) * (b - a)
        elif kind == 5:
            raw[a:b] = r.choice(TOKENS)
        elif kind == 6:
            raw[a:a] = raw[a:b] * r.choice((1, 2, 50))
        else:
            c = r.randrange(len(raw) + 1)
            raw[a:b], raw[c:c + b - a] = raw[c:c + b - a], raw[a:b]
    return bytes(raw)


class Damage(CliTest):
    def make(self):
        """A sound file of every format, and the commands that read it."""
        inspect, cluster = ["inspect"], ["cluster", "-m", "kmeans", "-k", "2", "-o", "out"]
        self.write("a.csv", "id,kind," + BLOBS_A.replace("\n", "\na,b,", 20))
        self.write("a.labels", "p\nq\n" * 10)
        self.write("a.jsonl", '{"text": "red fox", "kind": "p"}\n{"text": "blue whale \\u00e9", "kind": "q"}\n' * 5)
        self.write("edits.json", '{"format": "kindred-edits", "version": 1, "edits": [{"do": "rename", "cluster": 0, "name": "x"},\n'
                   '{"do": "wrong", "task": "a", "samples": [3, 5]}, {"do": "note", "cluster": 0, "text": "n"}]}')
        self.write("vectors.vec", "10 3\n" + "".join(f"{w} {len(w)} {ord(w[0]) % 7} 1.5\n" for w in "red fox blue whale cat é dog sun moon sea".split()))
        self.write("names.table", 'number,name\n0,"first, of all"\n1=second\n')
        self.write("recode.table", "column,old,new\nkind,b,c\nx,0.1,0.3\n")
        self.write("rename.table", "old,new\nx,z\ny,w\n")
        self.write("known.table", "row,class\n1,p\n2,q\n3,p\n")
        header = b'{"embeddings":{"dtype":"F32","shape":[20,3],"data_offsets":[0,240]},"__metadata__":{"format":"pt"}}'
        self.write("e.safetensors", len(header).to_bytes(8, "little") + header + bytes(range(240)))
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "-o", "sound", "a.csv")
        shutil.copy(self.path("sound/result.json"), self.path("result.json"))
        for ending in ("tsv", "mtx", "mtx.gz", "svm", "npy", "npz", "h5", "csv.gz"):
            self.run_kindred("convert", "--label-column", "kind", "--id-column", "id", "a.csv", f"c.{ending}", code=None)
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "--write-h5ad", "d.h5ad", "-o", "s1", "a.csv", code=None)
        self.run_kindred("cluster", "-m", "auto", "-k", 2, "-q", "--save-model", "m.h5", "-o", "s2", "a.csv", code=None)
        for kind in ("mat", "npz", "xlsx", "table", "tenx"):
            for name in sorted(os.listdir(f"{CORPUS}/{kind}")):
                to = f"{kind}-{name.split('.')[0]}.{ {'table': 'csv', 'tenx': 'mtx'}.get(kind, kind)}"
                shutil.copy(f"{CORPUS}/{kind}/{name}", self.path(to))
        special = {"a.labels": ["evaluate", "labels.txt"], "a.jsonl": ["vectorize", "-o", "out"], "result.json": ["report", "-o", "out.html"],
                   "edits.json": ["relabel", "-o", "out", "result.json"], "m.h5": ["predict", "a.csv", "-o", "out.labels", "--model"],
                   "vectors.vec": ["cluster", "-k", "2", "--text-column", "text", "-o", "out", "a.jsonl", "--vectors"],
                   "names.table": [*cluster, "a.csv", "--names"], "recode.table": [*cluster, "--columns", "x,y,kind", "a.csv", "--recode"],
                   "rename.table": [*cluster, "a.csv", "--rename"], "known.table": [*cluster, "--columns", "x,y", "a.csv", "--known"],
                   "explained.csv": [*cluster, "c.npy", "--explain"]}
        shutil.copy(self.path("a.csv"), self.path("explained.csv"))
        shutil.copy(self.path("a.labels"), self.path("labels.txt"))
        files = []
        for name in sorted(os.listdir(self.dir)):
            if os.path.isfile(self.path(name)) and name != "labels.txt":
                with open(self.path(name), "rb") as f:
                    files.append((name, f.read(), [special[name]] if name in special else [inspect, cluster]))
        return files

    def check(self, command, name, number):
        before = set(os.listdir(self.dir))
        done = subprocess.run([KINDRED, *command, f"damaged-{name}"], cwd=self.dir, capture_output=True, timeout=100, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30)))
        what = f"damage {number} of {name}, {command[0]}: status {done.returncode}: {done.stderr.decode(errors='replace')}"
        self.assertIn(done.returncode, ALLOWED, what)
        made = set(os.listdir(self.dir)) - before
        if done.returncode:
            self.assertIn("kindred: ", what)
            self.assertEqual(made, set(), what)
        self.assertEqual(self.leftovers(), [], what)
        for path in made:
            (shutil.rmtree if os.path.isdir(self.path(path)) else os.remove)(self.path(path))
        return done.returncode

    def test_a_copy_that_cannot_be_changed_is_due_to_its_input(self):
        """Groups whose list of names lies outside of the file: reading the matrix does not need that of obs."""
        self.write("a.csv", BLOBS_A)
        done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "--write-h5ad", "d.h5ad", "-o", "out", "a.csv", code=None)
        if "no HDF5" in done.stderr:
            self.skipTest("this build has no HDF5")
        with open(self.path("d.h5ad"), "rb") as f:
            sound = f.read()
        lists = [i for i in range(len(sound)) if sound[i:i + 4] == b"\x11\0\x10\0"]
        self.assertGreater(len(lists), 1)
        blamed = 0
        for at in lists:
            self.write("d.h5ad", sound[:at + 14] + b"\xd0" + sound[at + 15:])
            done = self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "--force", "--write-h5ad", "o.h5ad", "-o", "new", "d.h5ad", code=None)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            blamed += "d.h5ad:obs" in done.stderr and "the file is damaged" in done.stderr
            self.assertNotIn("o.h5ad", done.stderr)
            shutil.rmtree(self.path("new"), ignore_errors=True)
        self.assertGreater(blamed, 0)

    def test_damaged_files(self):
        files, seen = self.make(), set()
        self.assertGreater(len(files), 20)
        for number in range(FIRST, FIRST + COUNT):
            name, raw, commands = files[number % len(files)]
            r = random.Random(number)
            if name.endswith(".gz") and r.random() < .5:  # damage within
                raw = gzip.compress(damage(r, gzip.decompress(raw)))
            else:
                raw = damage(r, raw)
            self.write(f"damaged-{name}", raw)
            for command in commands:
                seen.add(self.check(command, name, number))
            os.remove(self.path(f"damaged-{name}"))
        self.assertLessEqual({0, 3}, seen)


if __name__ == "__main__":
    unittest.main()
