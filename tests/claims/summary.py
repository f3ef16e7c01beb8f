"""The summary: short, the most important first, without names of internals unless -v is given."""
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import CliTest  # noqa: E402

WIDTH, LINES = 80, 25
# What only -v prints: the parts of a vote, how data were prepared, and how a method works inside.
INTERNAL = re.compile(r"votes?\b|mixture|prototypes|preprocessing|tf-?idf|handled with|A-distance|relatedness|iterations?\b|objective|standard deviations")


class Summary(CliTest):
    def data(self, design, *more):
        self.run_kindred("generate", "--design", design, "-o", self.path("in"), "--seed", "3", *more)
        end = "mtx" if design == "topics" else "csv"
        return [self.path(f"in/task{t}.{end}") for t in (1, 2, 3)]

    def check(self, *args, attention=None, rows=(), files="result.json", most=LINES):
        out = self.path("out")
        lines = self.run_kindred(*args, "-o", out, "--force").stdout.rstrip("\n").split("\n")
        text = "\n".join(lines)
        self.assertLessEqual(len(lines), most, text)
        table = next(i for i, line in enumerate(lines) if line.startswith(("Clustered ", "Labelled ")))
        if attention:
            self.assertTrue(any(re.search(attention, line) for line in lines[:table]), text)
        else:
            self.assertEqual(table, 0, text)
        order = [table] + [next(i for i, line in enumerate(lines) if re.match(row, line)) for row in (*rows, f"written to .*{files}")]
        self.assertEqual(order, sorted(order), text)
        self.assertIsNone(INTERNAL.search(text), text)
        for line in lines:
            if not line.startswith(("written to", "warning", "next:", "k = ", "  k = ", "numbers of")):
                self.assertLessEqual(len(line), WIDTH, line)
        self.assertRegex(self.run_kindred(*args, "-o", out, "--force", "-v").stdout, "preprocessing: ")
        return text

    def test_three_tables(self):
        text = self.check("cluster", "-k", "4", *self.data("tables", "--tasks", "3", "-k", "4"), attention="has no feature", rows=("data set +samples +confidence", "cluster +task1 +task2 +task3"))
        self.assertRegex(text, r" \(others ")

    def test_three_sets_of_words(self):
        text = self.check("cluster", "-k", "4", *self.data("topics", "--tasks", "3", "-k", "4"), rows=("data set", "cluster"))
        self.assertRegex(text, r"\d+ % \(others \d+ %\)")

    def test_three_sets_of_numbers(self):
        self.check("cluster", "-k", "3", *self.data("blobs", "--tasks", "3"), rows=("data set", "cluster"))

    def test_k_auto(self):
        self.check("cluster", "-k", "auto", *self.data("tables", "--tasks", "3"), attention=r"^k = \d+", rows=("data set", "cluster"))

    def test_range_of_k(self):
        self.check("cluster", "-k", "2-4", *self.data("tables", "--tasks", "3")[:2], attention=r"k = \d+", rows=("data set", "cluster", "numbers of clusters"), most=30)  # splits come on top

    def test_one_data_set(self):
        self.check("cluster", "-k", "3", self.data("tables", "--tasks", "3")[0], rows=("data set", "cluster"))

    def test_separately(self):
        text = self.check("cluster", "-k", "4", "-m", "kmeans", "--missing", "mean", *self.data("tables", "--tasks", "3", "-k", "4"), attention="has no feature|treated as", rows=("data set", "cluster"))
        self.assertRegex(text, r"\n +11 +- +- +\d+  \w")

    def test_known_classes(self):
        self.check("cluster", "-k", "3", "--score", *self.data("blobs", "--tasks", "3"), rows=("data set .* acc", "acc, nmi", "cluster"))

    def test_noise_is_said_first(self):
        draw = random.Random(1)

        def noise(name):
            rows = "".join(",".join(["%.3f" % draw.gauss(0, 1) for _ in range(6)] + [draw.choice("abc"), draw.choice("abcde")]) + "\n" for _ in range(150))
            return self.write(name, "a,b,c,d,e,f,u,v\n" + rows)
        self.check("cluster", "-k", "4", noise("a.csv"), noise("b.csv"),
                   attention="no clearer than those of random data", rows=("data set", "cluster"))

    def test_transfer(self):
        a, b, _ = self.data("tables", "--tasks", "3")
        text = self.check("transfer", "--source", a, "--labels", a.replace(".csv", ".labels"), "--target", b, attention="skipped, because not all data sets", rows=("data set", "class", ".*: (trust|check)"))
        self.assertIn("in tests with tables, 77 % of such labels were right", text)

    def test_interrupted_by_the_time_limit(self):
        self.check("cluster", "-k", "4", "--time-limit", "0.001", *self.data("topics", "--tasks", "3")[:2], attention="time limit", rows=("data set", "cluster"), most=30)  # warnings come on top

    def test_many_data_sets_have_one_column_of_sizes(self):
        self.run_kindred("generate", "--tasks", "12", "-n", "30", "-o", self.path("in"))
        out = self.run_kindred("cluster", "-k", "3", "-o", self.path("out"), *(self.path(f"in/task{t}.csv") for t in range(1, 13))).stdout
        self.assertRegex(out, r"cluster +samples\n")


if __name__ == "__main__":
    unittest.main()
