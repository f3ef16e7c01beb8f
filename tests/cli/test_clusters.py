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
