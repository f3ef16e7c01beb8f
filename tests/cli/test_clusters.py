"""One list of clusters for all data sets: equal numbers are one cluster, and each has a title."""
import collections
import csv
import json
import math
import random
import unittest

from harness import CliTest

TOPICS = {name: [f"{name}{i}" for i in range(12)] for name in ("space", "bread", "sport", "music", "money")}
COMMON = [f"common{i}" for i in range(40)]


class Clusters(CliTest):
    def texts(self, name, topics, n, seed):
        """A CSV of texts: 8 words of a topic and 6 of all."""
        draw = random.Random(seed)
        of = [topics[i % len(topics)] for i in range(n)]
        with open(self.path(name), "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["text", "topic"])
            for topic in of:
                w.writerow([" ".join(draw.choices(TOPICS[topic], k=8) + draw.choices(COMMON, k=6)), topic])
        return of

    def setUp(self):
        super().setUp()
        self.a = self.texts("a.csv", ["space", "bread", "sport"], 90, 1)
        self.b = self.texts("b.csv", ["space", "bread", "music"], 90, 2)

    def cluster(self, *more, k=3):
        self.run_kindred("cluster", "-k", k, "--text-column", "text", "-q", "--force", "-o", "out", *more)
        return self.result()

    def numbers(self, labels, topics):
        """The number that most texts of a topic have."""
        found = collections.defaultdict(collections.Counter)
        for label, topic in zip(labels, topics):
            found[topic][label] += 1
        return {topic: count.most_common(1)[0][0] for topic, count in found.items()}

    def check(self, result):
        a, b = (self.numbers(t["labels"], of) for t, of in zip(result["tasks"], (self.a, self.b)))
        self.assertEqual({t: a[t] for t in ("space", "bread")}, {t: b[t] for t in ("space", "bread")})
        self.assertNotIn(b["music"], a.values())
        self.assertEqual(len(set(b.values())), 3)
        return a, b

    def test_a_cluster_without_counterpart_has_its_own_number(self):
        result = self.cluster("a.csv", "b.csv", "--save-model", "m.h5", "--write-table", "t.csv", "--report")
        a, b = self.check(result)
        for task, name in zip(result["tasks"], "ab"):
            self.assertEqual([int(v) for v in self.read(f"out/{name}.labels").split()], task["labels"])
            for path in (f"out/{name}.samples.csv", f"t-{name}.csv"):
                with open(self.path(path), newline="") as f:
                    self.assertEqual([int(r["cluster"]) for r in csv.DictReader(f)], task["labels"])
            self.assertEqual(task["sizes"], [task["labels"].count(c) for c in range(max(task["labels"]) + 1)])
            self.assertEqual({c["number"] for c in task["clusters"]}, set(task["labels"]))
            self.assertLessEqual({v for v in task["second"] if v is not None}, set(task["labels"]))
        with open(self.path("out/features.csv"), newline="") as f:
            rows = [r for r in csv.DictReader(f) if r["task"] == "b" and r["feature"].startswith("music")]
        self.assertTrue(any(int(r["cluster"]) == b["music"] and float(r["effect"]) > 0 for r in rows))
        # The model says the same, and new data sets continue these numbers.
        for name, numbers, of in (("a", a, self.a), ("b", b, self.b)):
            done = self.run_kindred("predict", "--model", "m.h5", "--task", name, "-q", "--text-column", "text", f"{name}.csv")
            self.assertEqual(self.numbers([int(v) for v in done.stdout.split()], of), numbers)
        topics = self.texts("c.csv", ["music", "sport", "space"], 60, 5)
        self.run_kindred("cluster", "--into", "m.h5", "-q", "-o", "into", "--save-model", "m2.h5", "c.csv", "--text-column", "text")
        new = self.numbers(self.result("into/result.json")["tasks"][2]["labels"], topics)
        self.assertEqual(new, {"music": b["music"], "sport": a["sport"], "space": a["space"]})
        done = self.run_kindred("predict", "--model", "m2.h5", "--task", "b", "-q", "--text-column", "text", "b.csv")
        self.assertEqual(self.numbers([int(v) for v in done.stdout.split()], self.b), b)

    def test_levels_keep_numbers(self):
        result = self.cluster("a.csv", "b.csv", k="3-4")
        at = next(level for level in result["levels"] if level["k"] == 3)
        self.check({"tasks": at["tasks"]})
        self.run_kindred("cut", "-k", 3, "-q", "-o", "three", "out/result.json")
        self.assertEqual([int(v) for v in self.read("three/b.labels").split()], at["tasks"][1]["labels"])
        with open(self.path("out/b.samples.csv"), newline="") as f:
            self.assertEqual([int(r["cluster_3"]) for r in csv.DictReader(f)], at["tasks"][1]["labels"])

    def test_relabel_knows_them(self):
        result = self.cluster("a.csv", "b.csv")
        _, b = self.check(result)
        self.write("edits.json", json.dumps({"format": "kindred-edits", "version": 1, "edits": [
            {"do": "rename", "cluster": b["music"], "name": "songs"}]}))
        self.run_kindred("relabel", "-q", "-o", "new", "out/result.json", "edits.json")
        for name, of in (("a", []), ("b", self.b)):
            with open(self.path(f"new/{name}.samples.csv"), newline="") as f:
                named = {i for i, r in enumerate(csv.DictReader(f)) if r.get("name") == "songs"}
            self.assertEqual(named, {i for i, label in enumerate(result["tasks"]["ab".index(name)]["labels"]) if label == b["music"]})

    def test_methods_that_relate_no_clusters(self):
        labels = [t["labels"] for t in self.cluster("a.csv", "b.csv", "-m", "kmeans")["tasks"]]
        self.assertFalse(set(labels[0]) & set(labels[1]))
        labels = [t["labels"] for t in self.cluster("a.csv", "b.csv", "-m", "kmeans", "--pooled", k=4)["tasks"]]
        self.assertTrue(set(labels[0]) & set(labels[1]))

    def test_titles(self):
        result = self.cluster("a.csv", "b.csv")
        a, b = self.check(result)
        titles = {}
        for task in result["tasks"]:
            for c in task["clusters"]:
                self.assertEqual(titles.setdefault(c["number"], c["title"]), c["title"])  # one for all data sets
        self.assertEqual(len(set(titles.values())), 4)
        words = [w for title in titles.values() for w in title.split(", ")]
        self.assertEqual(len(words), len(set(words)))  # no two titles share a word
        for topic, number in {**a, **b}.items():
            found = titles[number].split(", ")
            self.assertTrue(3 <= len(found) <= 5 and all(w.startswith(topic) for w in found), (topic, found))
        printed = self.run_kindred("cluster", "-k", 3, "--text-column", "text", "--force", "-o", "out", "a.csv", "b.csv").stdout
        for title in titles.values():
            self.assertIn(title, printed)

    def test_titles_of_tables(self):
        self.write("t.csv", "plan,age,member\n" + "".join(
            f"{('basic', 'pro')[i % 2]},{(25, 60)[i % 2] + i % 5},{('no', 'yes')[i % 2]}\n" for i in range(40)))
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "tables", "t.csv")
        titles = sorted(c["title"] for c in self.result("tables/result.json")["tasks"][0]["clusters"])
        self.assertEqual(len(titles), 2)
        self.assertTrue(any("plan: basic" in t and "age low" in t for t in titles), titles)
        self.assertTrue(any("plan: pro" in t and "age high" in t for t in titles), titles)

    def test_columns_of_names_with_umlauts_are_aligned(self):
        self.write("r.csv", "x,y,class\n" + "".join(f"{i % 2 * 10 + i % 3},{i % 2 * 9 + i % 4},{('Möbelhäuser', 'x' * 19 + 'äöü')[i % 2]}\n" for i in range(20)))
        printed = self.run_kindred("cluster", "-k", 2, "-o", "out", "--known-column", "class", "Übergröße=r.csv", "plain-name=r.csv").stdout
        lines = printed.splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("data set"))
        for line in lines[first + 1:first + 3]:
            self.assertTrue(line[:lines[first].index("samples") + len("samples")].endswith(" 20"), printed)
        first = next(i for i, line in enumerate(lines) if line.startswith("cluster "))
        for name in ("Übergröße", "plain-name"):
            self.assertTrue(lines[first + 1][:lines[first].index(name) + len(name)].endswith(" 10"), printed)
        self.assertIn("x" * 19 + "ä  ", printed)  # cut after a character
        self.assertNotIn("\\x", printed)


class Separately(CliTest):
    def test_titles_of_data_sets_that_were_clustered_separately(self):
        """Both have the same kinds of clusters, but those of b are clearer, so that all phrases are theirs."""
        for name, noise in (("a", 6), ("b", 1)):
            draw = random.Random(noise)
            with open(self.path(f"{name}.csv"), "w", newline="") as f:
                w = csv.writer(f)
                w.writerow(["age", "sum"])
                w.writerows([draw.gauss(30 + 20 * (i % 2), noise), draw.gauss(50 * (i % 2), noise)] for i in range(80))
        self.run_kindred("cluster", "-k", 2, "-q", "-m", "kmeans", "-o", "out", "a.csv", "b.csv")
        clusters = [c for t in self.result()["tasks"] for c in t["clusters"]]
        titles = {c["number"]: c.get("title") for c in clusters}
        self.assertTrue(all(titles.values()), titles)
        self.assertEqual(len(set(titles.values())), len(titles), titles)


class OwnGroups(CliTest):
    """Groups that one data set has and the others do not."""

    def table(self, name, sizes, seed):
        draw, centres = random.Random(seed), random.Random(0)
        means = [[centres.gauss(0, 1.5) for _ in range(20)] for _ in range(4)]
        with open(self.path(name), "w", newline="") as f:
            w = csv.writer(f)
            w.writerow([f"g{j}" for j in range(20)])
            for mean, size in zip(means, sizes):
                w.writerows([f"{m + draw.gauss(0, 1):.4f}" for m in mean] for _ in range(size))

    def setUp(self):
        super().setUp()
        self.table("a.csv", (110, 78, 12), 1)
        self.table("b.csv", (120, 80, 0), 2)
        self.table("c.csv", (100, 88, 12), 3)

    def said(self, *words):
        self.run_kindred("cluster", "-q", "--force", "-o", "out", *words)
        return [w for w in self.result()["warnings"] if "of their own" in w or "of its own" in w]

    def test_is_reported_with_what_separates_it(self):
        said = self.said("-k", 2, "a.csv", "b.csv")
        labels = self.result()["tasks"][0]["labels"]
        self.assertEqual(said, [f"12 samples of a form a group of their own within cluster {labels[-1]}; use -k 3,2 to separate it"])
        self.assertEqual(self.said("-k", "3,2", "a.csv", "b.csv"), [])
        a, b = (t["labels"] for t in self.result()["tasks"])
        self.assertEqual([len(set(a[188:])), len(set(a)), set(a[188:]) & set(a[:188]) | set(a[188:]) & set(b)], [1, 3, set()])

    def test_is_not_reported_if_others_have_it(self):
        self.assertEqual(self.said("-k", 2, "a.csv", "c.csv"), [])
        self.assertEqual(self.said("-k", 2, "a.csv"), [])
        for more in ((), ("--pooled",)):
            self.assertEqual(self.said("-k", 2, "-m", "kmeans", *more, "a.csv", "b.csv"), [], more)

    def test_gets_a_cluster_if_the_number_is_found(self):
        for more in ((), ("--report", "--save-model", "m.h5", "--write-table", "t.csv"), ("--quality",)):
            self.assertEqual(self.said("-k", "auto", *more, "a.csv", "b.csv"),
                             ["a has 3 clusters instead of 2: a group that only a has is a cluster of its own"], more)
            self.assertEqual([len(set(t["labels"])) for t in self.result()["tasks"]], [3, 2])
            self.assertIn("k = 2 ", self.result()["tasks"][1]["advice"][-1])
        self.run_kindred("predict", "-q", "--force", "--model", "m.h5", "--task", "a", "-o", "p.labels", "a.csv")
        self.assertEqual(len(set(self.read("p.labels").split())), 3)
        self.write("some.csv", "x\n" * 5 + "?\n" * 175 + "y\n" * 5 + "?\n" * 15)
        self.write("none.csv", "?\n" * 200)
        self.assertEqual(len(self.said("-k", 2, "--known", "some.csv,none.csv", "a.csv", "b.csv")), 1)

    def test_gets_a_cluster_within_a_range(self):
        own = "%s has 3 clusters instead of 2: a group that only %s has is a cluster of its own"
        self.assertEqual(self.said("-k", "3,2", "a.csv", "b.csv"), [])
        alone = [t["labels"] for t in self.result()["tasks"]]
        for k, levels in (("2-4", [[3, 2], [4, 3], [4, 4]]), ("2-3", [[3, 2], [3, 3]])):
            self.assertEqual(self.said("-k", k, "a.csv", "b.csv"), [own % ("a", "a")], k)
            r = self.result()
            self.assertEqual([r["level"], [t["labels"] for t in r["tasks"]]], [2, alone], k)
            self.assertEqual([[t["k"] for t in level["tasks"]] for level in r["levels"]], levels, k)
            self.assertIn("k = 2 ", r["tasks"][1]["advice"][-1])
            self.assertEqual([level["tasks"] for level in r["levels"]][0][0]["labels"], alone[0])
        self.run_kindred("cut", "-q", "-k", 2, "-o", "cut", "out/result.json")
        self.assertEqual(self.read("cut/a.labels"), self.read("out/a.labels"))
        # each has a group that the other one lacks: all levels are there
        self.table("d.csv", (110, 78, 8), 1)
        self.table("e.csv", (110, 78, 0, 8), 4)
        self.assertEqual(self.said("-k", "2-4", "d.csv", "e.csv"), [own % ("d", "d"), own % ("e", "e")])
        self.assertEqual([self.result()["level"], [level["k"] for level in self.result()["levels"]]], [3, [2, 3, 4]])
        # the range ends before, or says nothing of a group
        for k in ("2-2", "1-2", "2-2,2-4"):
            self.assertRegex(self.said("-k", k, "a.csv", "b.csv")[0], "; use -k 3,2 to separate it$")
        self.assertEqual(self.said("-k", "2-4", "a.csv", "c.csv"), [])

    def test_that_one_more_cluster_does_not_separate_has_no_advice(self):
        """Clusters of three kinds of samples each: one of these is divided instead."""
        for name, own, seed in (("a.csv", 10, 28), ("b.csv", 0, 7028)):
            draw, centres = random.Random(seed), random.Random(28)
            rows = [[f"g{j}" for j in range(16)]]
            for size in (24, 24, 24, 24, 24, own):
                mean = [centres.gauss(0, 1.5) for _ in range(16)]
                kinds = [[m + centres.gauss(0, 1.5) for m in mean] for _ in range(3)]
                rows += [[f"{m + draw.gauss(0, 1):.2f}" for m in kinds[i % 3]] for i in range(size)]
            self.write(name, "".join(",".join(row) + "\n" for row in rows))
        said = "10 samples of a form a group of their own within cluster %d"
        self.assertEqual(self.said("-k", "auto", "a.csv", "b.csv"), [said % self.result()["tasks"][0]["labels"][-1]])
        self.assertEqual([t["k"] for t in self.result()["tasks"]], [5, 5])
        # who asks for five clusters is told how many to try
        self.assertEqual(self.said("-k", 5, "a.csv", "b.csv"), [said % self.result()["tasks"][0]["labels"][-1] + "; use -k 6,5 to separate it"])

    def test_that_gets_a_cluster_is_found_in_the_original_data(self):
        """Skewed numbers, which the first fit transforms."""
        for name in ("a.csv", "b.csv"):
            head, *rows = self.read(name).split()
            self.write(name, "\n".join([head, *(",".join(f"{math.expm1(float(v) + 8):.2f}" for v in row.split(",")) for row in rows)]) + "\n")
        self.assertEqual(len(self.said("-k", "auto", "--scale", "standard", "--weight", "log1p", "a.csv", "b.csv")), 1)
        found = self.result()
        self.said("-k", "3,2", "--scale", "standard", "--weight", "log1p", "a.csv", "b.csv")
        self.assertEqual([t["labels"] for t in self.result()["tasks"]], [t["labels"] for t in found["tasks"]])
        self.assertEqual([t["clusters"] for t in self.result()["tasks"]], [t["clusters"] for t in found["tasks"]])

    def test_in_a_table_leaves_the_common_clusters(self):
        self.table("a.csv", (110, 78, 20), 1)
        for name in ("a.csv", "b.csv"):
            head, *rows = self.read(name).split()
            self.write(name, "\n".join([head + ",kind", *(f"{row},{'xyz'[i % 3]}" for i, row in enumerate(rows))]) + "\n")
        self.assertRegex(self.said("-k", "auto", "a.csv", "b.csv")[0], "samples of a form a group of their own .* use -k 4,3 ")
        self.assertEqual([t["k"] for t in self.result()["tasks"]], [3, 3])


class Matches(CliTest):
    def test_of_clusters_that_the_first_data_set_lacks_are_printed(self):
        """b and c have a cluster with a number of its own, 3; c differs from b."""
        draw = random.Random(0)
        p, q, r = ([draw.gauss(0, 1.5) for _ in range(70)] for _ in range(3))
        draw = random.Random(9)
        far_r, far_p = ([v + 1.2 * draw.gauss(0, 1.5) for v in mean] for mean in (r, p))
        for seed, (name, *means) in enumerate((("a.csv", p, q), ("b.csv", p, r), ("c.csv", far_p, far_r)), 1):
            draw = random.Random(seed)
            rows = ([f"{v + draw.gauss(0, 1):.4f}" for v in mean] for mean in (*means, [-v for v in means[0]]) for _ in range(60))
            self.write(name, "\n".join(",".join(row) for row in ([f"g{j}" for j in range(70)], *rows)) + "\n")
        out = self.run_kindred("cluster", "-k", 3, "-o", "out", "a.csv", "b.csv", "c.csv").stdout
        pair = next(c for c in self.result()["correspondence"] if (c["from"], c["to"]) == ("b", "c"))
        self.assertTrue(0.5 < pair["quality"][3] < 0.8, pair["quality"])
        self.assertRegex(out, r"\n +3 +- +60 +60  \(match %.0f %%\)" % (100 * pair["quality"][3]))
        self.assertRegex(out, r"\(doubtful match, \d\d %\)")


if __name__ == "__main__":
    unittest.main()
