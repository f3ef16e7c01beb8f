"""Every option that names a file to read: an output of the same command never replaces that file. No two outputs are one file."""
import re
import unittest

from harness import CliTest

TOPICS = ["rocket orbit moon", "goal match league", "bread oven flour", "rocket moon lander", "league goal keeper"]
KMEANS, TEXTS = "cluster -m kmeans -k 2 a.csv", "cluster -m kmeans -k 2 --text-column body texts.csv"
TRANSFER = "transfer -m svm --source a.csv --labels a.classes --target c.csv"
# Of each option of these commands: its file, and the rest of the command. The output is that of --save-model; predict: -o.
READS = {
    "cluster": {
        "init": ("a.init", KMEANS), "known": ("known.csv", KMEANS),
        "truth": ("a.classes", KMEANS), "names": ("names.csv", KMEANS), "into": ("m.h5", "cluster c.csv"), "rename": ("rename.csv", KMEANS),
        "recode": ("recode.csv", KMEANS), "explain": ("texts.csv", KMEANS + " --id-column id --text-column body"), "vectors": ("vectors.txt", TEXTS),
        "vocabulary": ("terms.txt", TEXTS), "stop-words": ("stop.txt", TEXTS)},
    "transfer": {
        "source": ("a.csv", "transfer --labels a.classes --target c.csv"), "labels": ("a.classes", "transfer --source a.csv --target c.csv"),
        "target": ("c.csv", "transfer --source a.csv --labels a.classes"), "target-labels": ("c.known", TRANSFER), "truth": ("c.classes", TRANSFER),
        "into": ("t.h5", "transfer c.csv"), "rename": ("rename.csv", TRANSFER), "recode": ("recode.csv", TRANSFER),
        "bridge": ("d.csv", TRANSFER.replace("svm", "auto")), "explain": ("texts.csv", TRANSFER.replace("c.csv", "a.csv") + " --id-column id --text-column body"),
        "vocabulary": ("terms.txt", TRANSFER.replace("a.csv", "texts.csv").replace("c.csv", "texts.csv") + " --text-column body"),
        "stop-words": ("stop.txt", TRANSFER.replace("a.csv", "texts.csv").replace("c.csv", "texts.csv") + " --text-column body"),
        "vectors": ("vectors.txt", TRANSFER.replace("a.csv", "texts.csv").replace("c.csv", "texts.csv") + " --text-column body"),
        "selector": ("s.json", "transfer -m ttl --source a.csv --labels a.classes --target c.csv --bridge d.csv --bridge a.csv")},
    "predict": {"model": ("m.h5", "predict c.csv"), "names": ("names.csv", "predict --model m.h5 c.csv"), "rename": ("rename.csv", "predict --model m.h5 c.csv"),
                "recode": ("recode.csv", "predict --model m.h5 c.csv")},
}
WRITES = {"output", "save-model", "write-table", "write-h5ad", "train-selector", "arrays"}
COLUMNS = {"columns", "write-columns"}  # lists of names


class Protected(CliTest):
    def setUp(self):
        super().setUp()
        for name, n in (("a", 20), ("c", 12), ("d", 12)):
            self.write(f"{name}.csv", "id,kind,x,y\n" + "".join(f"{name}{i},{'uv'[i % 2]},{i % 2 * 10 + i % 3 * .1},{i % 2 * 7 - i % 5 * .1}\n" for i in range(n)))
            self.write(f"{name}.classes", "u\nv\n" * (n // 2))
        self.write("a.init", "0\n1\n" * 10)
        self.write("c.known", "u\nv\n" + "?\n" * 10)
        self.write("known.csv", "id,class\na0,u\na1,v\n")
        self.write("names.csv", "0,first\n")
        self.write("rename.csv", "old,new\nx,z\n")
        self.write("recode.csv", "column,old,new\nkind,u,w\n")
        self.write("texts.csv", "id,body\n" + "".join(f"a{i},{TOPICS[i % 5]}\n" for i in range(20)))
        words = sorted(set(" ".join(TOPICS).split()))
        self.write("vectors.txt", "".join(f"{w} {len(w)} {ord(w[0]) % 7} 1\n" for w in words))
        self.write("terms.txt", "\n".join(words) + "\n")
        self.write("stop.txt", "rocket\n")
        self.write("s.json", '{"kind": "selector", "beta": [0, 0, 0, 0, 1, 0, 1]}')
        self.run_kindred("cluster", "-q", "-k", 2, "-o", "first", "--save-model", "m.h5", "a.csv")
        self.run_kindred(*TRANSFER.replace("svm", "auto").split(), "-q", "-o", "moved", "--save-model", "t.h5")

    def bytes_of(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_every_option_is_listed(self):
        for command, reads in READS.items():
            found = re.findall(r"^ {2,6}(?:-\w, )?--([a-z0-9-]+) (\S*(?:FILE|MODEL|DIR|LIST)\S*)", self.run_kindred(command, "--help").stdout, re.M)
            self.assertEqual({name for name, _ in found} - WRITES - COLUMNS, set(reads), command)

    def test_no_option_lets_its_file_be_replaced(self):
        for command, reads in READS.items():
            for option, (name, rest) in reads.items():
                with self.subTest(command=command, option=option):
                    before = self.bytes_of(name)
                    said = self.fails(*rest.split(), "-q", "--force", f"--{option}", name, "-o" if command == "predict" else "--save-model", "./" + name, code=2,
                                      says=f"./{name}: was read by this command and is not replaced")
                    self.assertEqual(self.bytes_of(name), before, said)

    def test_two_outputs_are_two_files(self):
        common = ["cluster", "-q", "-m", "kmeans", "-k", 2, "-o", "out", "a.csv"]
        for force in ([], ["--force"]):
            for more in (["--save-model", "out/result.json"], ["--write-table", "out/a.samples.csv"], ["--report", "--save-model", "./out/report.html"],
                         ["--write-table", "t.csv", "--save-model", "t.csv"], ["--save-model", "out/x/../a.labels"], ["--arrays", "z", "--save-model", "z/centres.a.npy"]):
                self.fails(*common, *more, *force, code=2, says=[more[-1], "two outputs have this name"])
        self.fails("predict", "-q", "--model", "m.h5", "c.csv", "-o", "p.labels", "--write-table", "p.samples.csv", code=2, says="two outputs have this name")
        self.fails("convert", "-q", "--force", "--to", "mtx", "a.csv", "new/features.txt", code=2, says="two outputs have this name")

    def test_a_matrix_lies_next_to_its_own_names(self):
        self.run_kindred("convert", "-q", "a.csv", "a.mtx")
        self.write("p.csv", self.read("a.csv").replace("x,y", "p,q"))
        self.fails("convert", "-q", "p.csv", "p.mtx", code=2, says="features.txt: already exists")
        self.assertRaises(FileNotFoundError, self.read, "p.mtx")


if __name__ == "__main__":
    unittest.main()
