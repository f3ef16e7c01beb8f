"""Several numbers of clusters in one run: -k 3-8, levels of result.json, samples.csv, kindred cut."""
import csv
import pathlib
import unittest

from harness import CliTest

# Arrays that do not depend on the number of clusters.
SHARED = {"ncut": ["eigenvalues"], "pca-kmeans": ["mean", "components", "variances", "embedding"],
          "mtcfir": ["alpha", "layers", "layer_bias", "mmd2_linear", "mmd2_gauss"]}


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def groups(labels):
    """A clustering without its numbers."""
    found = {}
    for i, label in enumerate(labels):
        found.setdefault(label, []).append(i)
    return sorted(found.values())


class Levels(CliTest):
    def table(self, name="t.csv", shift=0):
        """Two far groups; the first has two parts and the second three."""
        centres = [(0, 0), (0, 6), (60, 0), (60, 8), (70, 4)]
        lines = [f"{x + shift + i % 3 * .1:.3f},{y + i % 4 * .1:.3f}" for i in range(40) for x, y in [centres[i * 3 % 5]]]
        return self.write(name, "x,y\n" + "\n".join(lines) + "\n")

    def check_levels(self, levels, expected):
        self.assertEqual([level["k"] for level in levels], expected)
        for before, level in zip([None, *levels], levels):
            for t, task in enumerate(level["tasks"]):
                labels, k = task["labels"], task["k"]
                self.assertEqual(task["sizes"], [labels.count(c) for c in range(max(k, max(labels) + 1))])
                self.assertEqual(len(task["confidence"]), len(labels))
                if before is None:
                    self.assertNotIn("parents", task)
                    continue
                old = before["tasks"][t]["labels"]
                shared = [[sum(a == p and b == c for a, b in zip(old, labels)) for p in range(max(old) + 1)] for c in range(len(task["sizes"]))]
                for c, parent in enumerate(task["parents"]):
                    self.assertEqual(parent, -1) if task["sizes"][c] == 0 else self.assertEqual(shared[c][parent], max(shared[c]))
                for split in task["splits"]:
                    self.assertEqual([task["parents"][c] for c in split["into"]], [split["of"]] * 2)
                    self.assertTrue(all(abs(f["effect"]) >= .2 and len(f["means"]) == 2 for f in split["features"]))

    def check_numbers(self, levels):
        """A cluster that has not changed keeps its number."""
        for before, level in zip(levels, levels[1:]):
            for t, task in enumerate(level["tasks"]):
                old, new = before["tasks"][t]["labels"], task["labels"]
                for c in range(max(old) + 1):
                    inside = [i for i, label in enumerate(old) if label == c]
                    numbers = {new[i] for i in inside}
                    if len(numbers) == 1 and new.count(new[inside[0]]) == len(inside):
                        self.assertEqual(numbers, {c})

    def test_levels_and_single_runs(self):
        """With kmeans every level is that of a single run; auto derives those other than the suggested one."""
        for method, source in (("kmeans", "t.csv"), ("auto", "t.csv")):
            self.table()
            out = f"{method}-out"
            self.run_kindred("cluster", "-m", method, "-k", "2-6", "-q", "-o", out, source)
            r = self.result(f"{out}/result.json")
            self.check_levels(r["levels"], [2, 3, 4, 5, 6])
            self.check_numbers(r["levels"])
            main = next(level for level in r["levels"] if level["k"] == r["tasks"][0]["k"])
            self.assertEqual(r["tasks"][0]["labels"], main["tasks"][0]["labels"])
            for level in r["levels"] if method == "kmeans" else [main]:
                self.run_kindred("cluster", "-m", method, "-k", level["k"], "-q", "-o", "one", "--force", source)
                one = self.result("one/result.json")["tasks"][0]
                self.assertEqual(groups(one["labels"]), groups(level["tasks"][0]["labels"]))
                self.assertEqual(sorted(one["sizes"]), sorted(level["tasks"][0]["sizes"]))

    def test_what_levels_share_is_what_a_single_run_computes(self):
        """Methods that compute a graph, directions or features once give the same levels and arrays as single runs."""
        self.run_kindred("generate", "--design", "blobs", "--tasks", 2, "-k", 3, "-n", 40, "-d", 10, "--separation", 8, "-q", "-o", "blobs")
        files = ["blobs/task1.csv", "blobs/task2.csv"]
        for method in ("ncut", "pca-kmeans", "mtcfir"):
            ranged = ["cluster", "-m", method, "-q", "--force"]
            self.run_kindred(*ranged, "-k", "2-5", "-o", "out", "--arrays", f"{method}-range", *files)
            r = self.result()
            self.assertNotEqual(r["tasks"][0]["k"], 5)  # the main result is not the first fit
            for level in r["levels"]:
                self.run_kindred(*ranged, "-k", level["k"], "-o", "one", "--arrays", f"{method}-{level['k']}", *files)
                one = self.result("one/result.json")
                for a, b in zip(one["tasks"], level["tasks"]):
                    self.assertEqual(groups(a["labels"]), groups(b["labels"]))
                if level["k"] == r["tasks"][0]["k"]:
                    self.assertEqual(one["method_fields"], r["method_fields"])
                    self.assertEqual(one["objective"], r["objective"])
            alone = pathlib.Path(self.path(f"{method}-{r['tasks'][0]['k']}"))
            names = sorted(p.name for p in alone.iterdir())
            self.assertEqual(names, sorted(p.name for p in pathlib.Path(self.path(f"{method}-range")).iterdir()))
            shared = [n for n in names if n.split(".")[0] in SHARED[method]]
            self.assertTrue(shared, names)
            for name in shared:
                self.assertEqual((alone / name).read_bytes(), pathlib.Path(self.path(f"{method}-range"), name).read_bytes(), name)

    def test_threads_change_nothing(self):
        self.table()
        runs = []
        for threads in (1, 3):
            self.run_kindred("cluster", "-k", "2-5", "--threads", threads, "-q", "-o", "out", "--force", "t.csv")
            runs.append(self.result()["levels"])
        self.assertEqual(*runs)

    def test_splits_are_explained(self):
        self.table()
        self.run_kindred("cluster", "-m", "kmeans", "-k", "1-2", "-q", "-o", "out", "t.csv")
        first, second = self.result()["levels"]
        self.assertEqual(first["tasks"][0]["sizes"], [40])
        task = second["tasks"][0]
        self.assertEqual(task["parents"], [0, 0])
        (split,) = task["splits"]
        self.assertEqual(split["features"][0]["name"], "x")
        low, high = split["features"][0]["means"]
        self.assertTrue(abs(high - low) > 50, split)
        labels = task["labels"]
        xs = [float(line.split(",")[0]) for line in self.read("t.csv").splitlines()[1:]]
        left = [x for x, label in zip(xs, labels) if label == split["into"][0]]
        self.assertAlmostEqual(low, sum(left) / len(left))

    def test_files(self):
        self.table()
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2-4", "-q", "-o", "out", "t.csv")
        levels = self.result()["levels"]
        found = rows(self.path("out/t.samples.csv"))
        self.assertEqual(list(found[0]), ["id", "cluster", "name", "confidence", "second", "cluster_2", "cluster_3", "cluster_4"])
        for level in levels:
            self.assertEqual([int(r[f"cluster_{level['k']}"]) for r in found], level["tasks"][0]["labels"])
        suggested = self.result()["tasks"][0]["k"]
        self.assertEqual([r["cluster"] for r in found], [r[f"cluster_{suggested}"] for r in found])
        self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-q", "-o", "two", "t.csv")
        self.assertNotIn("levels", self.result("two/result.json"))
        done = self.run_kindred("cut", "-k", 2, "-o", "cut", "out/result.json")
        self.assertIn("written: cut", done.stdout)
        self.assertEqual(self.read("cut/t.labels"), self.read("two/t.labels"))
        cut, two = (list(csv.DictReader(self.read(f"{folder}/t.samples.csv").splitlines())) for folder in ("cut", "two"))
        self.assertEqual(cut, [{c: v for c, v in row.items() if c != "name"} for row in two])  # titles are those of the main result
        self.fails("cut", "-k", 2, "-o", "cut", "out/result.json", code=2, says="t.labels")
        self.run_kindred("cut", "-k", 3, "-o", "cut", "--force", "-q", "out/result.json")
        self.assertEqual([int(v) for v in self.read("cut/t.labels").split()], levels[1]["tasks"][0]["labels"])

    def test_several_data_sets(self):
        self.table("a.csv")
        self.table("b.csv", shift=1)
        self.run_kindred("cluster", "-k", "2-5,2-3", "-q", "-o", "out", "a.csv", "b.csv")
        levels = self.result()["levels"]
        self.assertEqual([[t["k"] for t in level["tasks"]] for level in levels], [[2, 2], [3, 3], [4, 3], [5, 3]])
        self.check_levels(levels, [2, 3, 4, 5])
        self.assertEqual(rows(self.path("out/b.samples.csv"))[0].keys() >= {"cluster_2", "cluster_5"}, True)
        self.run_kindred("cut", "-k", "4,3", "-q", "-o", "four", "out/result.json")
        self.assertEqual([int(v) for v in self.read("four/b.labels").split()], levels[2]["tasks"][1]["labels"])
        self.run_kindred("cluster", "-k", "2-4", "-q", "-o", "same", "a.csv", "b.csv")
        self.check_levels(self.result("same/result.json")["levels"], [2, 3, 4])
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2-4", "--pooled", "-q", "-o", "pooled", "a.csv", "b.csv")
        self.check_levels(self.result("pooled/result.json")["levels"], [2, 3, 4])
        self.check_numbers(self.result("pooled/result.json")["levels"])

    def test_neighbours_of_the_k_that_was_found(self):
        self.table()
        self.run_kindred("cluster", "-k", "auto", "-q", "-o", "out", "t.csv")
        r = self.result()
        k = r["tasks"][0]["k"]
        self.assertIn(k, [level["k"] for level in r["levels"]])
        self.check_levels(r["levels"], [v for v in (k - 1, k, k + 1) if v > 1])
        main = next(level for level in r["levels"] if level["k"] == k)
        self.assertEqual(main["tasks"][0]["labels"], r["tasks"][0]["labels"])
        first = list(dict.fromkeys(r["tasks"][0]["labels"]))
        self.assertEqual(first, sorted(first))  # numbered as without levels

    def test_refused(self):
        self.table()
        for k in ("8-3", "0-4", "3-", "-3", "3-x", "2-3-4", "1-65", "3--5", "3-5,"):
            self.fails("cluster", "-m", "kmeans", f"-k{k}", "t.csv", code=2, says="-k")
        for k, says in (("8-3", "runs backwards; use 3-8"), ("0-4", "a range such as 3-8"), ("3-", "a range such as 3-8"), ("1-65", "65 numbers; use a range of at most 64")):
            self.fails("cluster", "-m", "kmeans", f"-k{k}", "t.csv", code=2, says=[f"'{k}'", says])
        self.fails("cluster", "-m", "kmeans", "-k", "39-41", "t.csv", code=2, says=["41", "40 samples"])
        self.fails("cluster", "-k", "2-3,auto", "t.csv", "t2=t.csv", code=2, says=["range", "auto"])
        self.write("start.txt", "0\n1\n" * 20)
        self.fails("cluster", "-m", "kmeans", "-k", "2-3", "--init", "start.txt", "t.csv", code=2, says=["--init", "range"])
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2-3", "-q", "-o", "out", "t.csv")
        self.fails("cut", "-k", 5, "-o", "cut", "out/result.json", code=2, says=["5", "2, 3"])
        self.fails("cut", "-k", "2,3", "-o", "cut", "out/result.json", code=2, says=["1 data set", "2 numbers"])
        self.fails("cut", "-k", "two", "-o", "cut", "out/result.json", code=2, says="'two'")
        self.fails("cut", "-k", 2, "out/result.json", code=2, says="-o DIR")
        self.fails("cut", "-o", "cut", "out/result.json", code=2, says="-k K")
        self.fails("cut", "-k", 2, "-o", "cut", code=2, says="RESULT.json")
        self.run_kindred("cluster", "-m", "kmeans", "-k", "2", "-q", "-o", "one", "t.csv")
        self.fails("cut", "-k", 2, "-o", "cut", "one/result.json", code=3, says=["one k only", "3-8"])
        text = self.read("out/result.json")
        for old, new in (('"name": "t"', '"name": "../t"'), ('"labels": [', '"labels": ["a", '), ("{", "[")):
            self.write("bad.json", text.replace(old, new) if old in text else text.replace(old.replace(": ", ":"), new.replace(": ", ":")))
            self.fails("cut", "-k", 2, "-o", "cut", "bad.json", code=3, says="bad.json")

    def test_the_suggested_number_is_the_main_result(self):
        self.table()
        for method, k, suggested in (("kmeans", "2-7", 5), ("kmeans", "3-5", 5), ("auto", "4-6", None)):
            done = self.run_kindred("cluster", "-m", method, "-k", k, "-o", "out", "--force", "t.csv")
            main = self.result()["tasks"][0]
            if suggested:
                self.assertEqual(main["k"], suggested)
            self.assertIn(f"suggested: {main['k']}", done.stdout)
            self.assertEqual([int(v) for v in self.read("out/t.labels").split()], main["labels"])
            self.assertEqual(len(main["clusters"]), main["k"])

    def test_a_time_limit_keeps_what_was_fitted(self):
        self.table()
        self.run_kindred("cluster", "-k", "2-6", "--time-limit", "0.000001", "-q", "-o", "out", "t.csv")
        r = self.result()
        self.assertIn(r["tasks"][0]["k"], [level["k"] for level in r["levels"]])
        if len(r["levels"]) < 5:
            self.assertTrue(any("stopped before" in w for w in r["warnings"]), r["warnings"])

    def test_a_time_limit_ends_the_search_for_k(self):
        """Without time for the search, there is an answer and a warning, and no evidence is claimed."""
        self.table()
        self.run_kindred("generate", "--design", "topics", "-k", 4, "-n", 60, "-q", "-o", "words")
        words = ["words/task1.mtx", "words/task2.mtx"]
        for k, smallest in (("auto", 2), ("4-6", 4)):
            for files in (["t.csv"], words):
                self.run_kindred("cluster", "-k", k, "--time-limit", "0.000001", "-q", "-o", "out", "--force", *files)
                r = self.result()
                self.assertEqual(r["stop"], "time")
                self.assertEqual([t["k"] for t in r["tasks"]], [smallest] * len(files))
                self.assertTrue(any("before the number of clusters was found" in w for w in r["warnings"]), r["warnings"])
                self.assertNotIn("k_evidence", r["method_fields"])


if __name__ == "__main__":
    unittest.main()
