"""Random commands with random options on small files: no crash, no hang, no file left behind, no input changed.

KINDRED_RANDOM is the number of commands, KINDRED_RANDOM_SEED the seed of the first."""
import hashlib
import json
import os
import random
import re
import resource
import shutil
import subprocess
import unittest

from harness import BLOBS_A, BLOBS_B, KINDRED, CliTest

COUNT = int(os.environ.get("KINDRED_RANDOM", "60"))
SEED = int(os.environ.get("KINDRED_RANDOM_SEED", "1"))
SECONDS = 120  # of a command that takes a fraction of one: it hangs
COMMANDS = ["cluster", "transfer", "predict", "relate", "embed", "evaluate", "convert", "inspect", "vectorize", "generate", "report", "cut", "relabel", "methods"]
NOT_TRIED = {"open", "help", "output"}  # a browser; not a job; see below
GOOD = ["1", "2", "3", "7", "0.5"]
NUMBERS = ["-1", "0", "40", "1e9", "nan", "", "x", "3-5", "2,3", "auto"]
WORDS = ["x", "y", "kind", "", "?", "name=1", "a=b", "x:category", ",", ";", "|", "utf-8", "=", "kmeans", "nonsense", "-", "\u00e4", "max_iter=3", "seed=x"]


def options_of(command):
    """[(option, placeholder or None)] of the help."""
    text = subprocess.run([KINDRED, command, "--help"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ {2,6}(?:-\w, )?--(?:\[no-\])?([a-z0-9-]+)(?:[ =](\S+))?", text, re.MULTILINE)
    choices = dict(re.findall(r"--([a-z0-9-]+) [A-Z]+\s[^-]*?one of:\s+([a-z0-9_,\s-]+?)\n\s+(?:-|\n)", text))
    return [(name, value if value and value.upper() == value else None, re.split(r",\s+", choices[name].strip()) if name in choices else [])
            for name, value in found if name not in NOT_TRIED]


class Random(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", BLOBS_A)
        self.write("b.csv", BLOBS_B)
        self.write("kinds.csv", "name,x,kind,when\n" + "".join(f"n{i},{i % 4},{'uv'[i % 2]},2020-01-{i % 28 + 1:02}\n" for i in range(24)))
        self.write("holes.csv", "x,y\n1,\n,2\n3,4\n")
        self.write("a.labels", "u\nv\n" * 10)
        self.write("b.labels", "u\nv\n" * 6)
        self.write("c.mtx", "%%MatrixMarket matrix coordinate real general\n6 4 8\n" + "".join(f"{i % 6 + 1} {i % 4 + 1} {i + 1}\n" for i in range(8)))
        self.write("texts.txt", "one two three\ntwo three four\nfive six\n" * 4)
        self.write("posts.csv", "id,body,kind\n" + "".join(f"a{i},{t},{'uv'[i % 2]}\n" for i, t in enumerate(["red fox runs", "blue whale swims", "", "red cat sleeps"] * 5)))
        self.write("posts.jsonl", '{"body": "red fox"}\n{"body": "blue whale"}\n' * 6)
        self.write("vectors.txt", "".join(f"{w} {len(w)} {ord(w[0]) % 7} 1\n" for w in "red blue fox whale cat runs swims sleeps one two three".split()))
        self.write("known.csv", "id,class\n1,u\n2,v\nn3,u\n")
        self.write("names.csv", "number,name\n0,first\n1,second\n")
        self.write("pairs.txt", "1,3\nn0,n2\n")
        self.write("changes.csv", "column,old,new\nkind,u,w\nx,1,2\n")
        header = b'{"embeddings":{"dtype":"F32","shape":[20,3],"data_offsets":[0,240]}}'
        self.write("e.safetensors", len(header).to_bytes(8, "little") + header + bytes(range(240)))
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": [{"do": "merge", "cluster": 1, "into": 0}]}))
        self.write("broken.csv", "x,y\n1,2,3\n\"")
        self.write("empty", "")
        self.run_kindred("cluster", "-k", "2-3", "-q", "-o", "done", "--save-model", "m.h5", "--report", "a.csv", "b.csv")
        self.run_kindred("transfer", "-q", "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv", "--save-model", "t.h5", "-o", "moved")
        self.inputs = self.files()
        self.copy = self.dir + "-copy"
        shutil.copytree(self.dir, self.copy)
        self.addCleanup(shutil.rmtree, self.copy, ignore_errors=True)
        self.names = [n for n in sorted(self.inputs) if ".html" not in n] + ["missing", "done", "."]

    def files(self):
        found = {}
        for root, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(root, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, self.dir)] = hashlib.sha256(f.read()).hexdigest()
        return found

    def value(self, dice, placeholder, choices):
        if choices and dice.random() < .9:
            return dice.choice(choices)
        if re.search("DIR|FILE|TASK|MODEL", placeholder) and dice.random() < .9:
            return dice.choice(["out", "new", "out/x.csv", "new.h5", "t.csv"] if dice.random() < .6 else self.names)
        if re.fullmatch(r"[A-Z]|K\[.*|SECONDS|SIZE|FRACTION", placeholder):
            return dice.choice(GOOD if dice.random() < .8 else NUMBERS)
        return dice.choice(WORDS if dice.random() < .8 else NUMBERS)

    def command(self, dice, options):
        command = dice.choice(COMMANDS)
        words = [command]
        if command == "cluster" and dice.random() < .9:
            words += ["-k", dice.choice(["2", "3", "2-4", "auto"])]
        if command == "transfer" and dice.random() < .9:
            words += ["--source", "a.csv", "--labels", "a.labels", "--target", dice.choice(["b.csv", "a.csv"])]
        if command == "predict" and dice.random() < .9:
            words += ["--model", dice.choice(["m.h5", "t.h5"])]
        for name, placeholder, choices in dice.sample(options[command], dice.choice([0, 0, 1, 1, 1, 2, 3])):
            words += ["--" + name] + ([self.value(dice, placeholder, choices)] if placeholder else [])
        usual = {"cut": ["done/result.json"], "report": ["done/result.json"], "relabel": ["done/result.json", "edits.json"], "evaluate": ["a.labels", "done/a.labels"],
                 "vectorize": ["texts.txt"], "convert": ["a.csv", "out/x.npy"]}.get(command, ["a.csv", "b.csv"][:dice.choice([1, 2])])
        if "--text-column" not in words and command in ("cluster", "relate", "embed", "inspect", "transfer") and dice.random() < .15:
            words += ["--text-column", "body"]
            usual = ["posts.csv"]
            words = ["posts.csv" if w in ("a.csv", "b.csv") else w for w in words]
        if command not in ("transfer", "generate", "methods"):
            words += usual if dice.random() < .75 else dice.choices(self.names, k=dice.choice([0, 1, 2, 3]))
        if command == "cut":
            words += ["-k", "3"]
        if (dice.random() < .6 or command in ("relabel", "cut", "generate", "vectorize")) and command not in ("methods", "inspect", "evaluate", "convert"):
            words += ["-o", dice.choice(["out", "out", "out", "new", "done", "."])]
        return words

    def test_commands(self):
        options = {c: options_of(c) for c in COMMANDS}
        self.assertGreater(sum(len(o) for o in options.values()), 200)
        seen = {}

        def limits():  # what a wrong number could ask for
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
        for i in range(SEED, SEED + COUNT):
            words = self.command(random.Random(i), options)
            about = f"seed {i}: kindred {' '.join(map(repr, words))}"
            try:
                done = subprocess.run([KINDRED, *words], cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, preexec_fn=limits,
                                      env={**os.environ, "OMP_NUM_THREADS": "2"})
            except subprocess.TimeoutExpired:
                self.fail(f"{about}: does not end")
            seen[done.returncode] = seen.get(done.returncode, 0) + 1
            self.assertIn(done.returncode, (0, 1, 2, 3, 4, 5), f"{about}\n{done.stderr.decode()}")
            now = self.files()
            self.assertEqual(self.leftovers(), [], about)
            # With --force, an output that the command names is replaced, and so is a result in its folder.
            changed = [n for n, h in self.inputs.items() if now.get(n) != h and not ("--force" in words and (n in words or "/" in n))]
            self.assertEqual(changed, [], f"{about}: an input has changed")
            if done.returncode in (2, 3):
                self.assertIn(b"kindred: ", done.stderr, about)
                self.assertEqual(sorted(now), sorted(self.inputs), f"{about}: a file was left behind\n{done.stderr.decode()}")
            if now != self.inputs:
                self.restore()
        self.assertIn(0, seen)
        print({k: seen[k] for k in sorted(seen)}, "exit statuses")

    def restore(self):
        for name in os.listdir(self.dir):
            shutil.rmtree(self.path(name)) if os.path.isdir(self.path(name)) else os.unlink(self.path(name))
        shutil.copytree(self.copy, self.dir, dirs_exist_ok=True)


if __name__ == "__main__":
    unittest.main()
