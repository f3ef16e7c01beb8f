"""What data sets have from each other: runs alone, clusters carried over, and what is reported about it."""
import json
import os
import random
import unittest

from harness import CliTest


def blobs(seed, n, centres, spread=1.0):
    """n points of random centres, and whose they are."""
    r = random.Random(seed)
    y = [r.randrange(len(centres)) for _ in range(n)]
    return [[c + r.gauss(0, spread) for c in centres[k]] for k in y], y


def centres(seed, k=4, d=12, scale=1.6):
    r = random.Random(seed)
    return [[r.gauss(0, scale) for _ in range(d)] for _ in range(k)]


def parts(labels):
    """A partition without the numbers of its clusters."""
    first = {}
    return [first.setdefault(z, len(first)) for z in labels]


class Together(CliTest):
    def csv(self, name, rows, header=None):
        text = [header] if header else []
        text += [",".join(v if isinstance(v, str) else f"{v:.6g}" for v in row) for row in rows]
        return self.write(name, "\n".join(text) + "\n")

    def cluster(self, *args):
        return json.loads(self.run_kindred("cluster", "-q", *args).stdout)

    def counts(self, name, seed, n, d=300, total=60, noise=0.25):
        """Sparse counts of three topics."""
        r, lines = random.Random(seed), []
        topics = [random.Random(t).sample(range(d), 25) for t in range(3)]
        for i in range(n):
            found = {}
            for _ in range(total):
                w = r.randrange(d) if r.random() < noise else r.choice(topics[i % 3])
                found[w] = found.get(w, 0) + 1
            lines += [f"{i + 1} {w + 1} {v}" for w, v in sorted(found.items())]
        return self.write(name, f"%%MatrixMarket matrix coordinate integer general\n{n} {d} {len(lines)}\n" + "\n".join(lines) + "\n")

    def same_as_alone(self, files, k, *options):
        together = self.cluster("--no-transfer", "--threads", 2, "-k", k, *options, *files)
        for i, (file, task) in enumerate(zip(files, together["tasks"])):
            own = k.split(",")[i] if k.count(",") == len(files) - 1 else k
            alone = self.cluster("--threads", 1, "-k", own, *options, file)["tasks"][0]
            self.assertEqual(task["k"], alone["k"])
            self.assertEqual(parts(task["labels"]), parts(alone["labels"]))
            self.assertEqual(task["confidence"], alone["confidence"])
            self.assertEqual(task["sharing"]["from"], None)
            self.assertEqual(task["sharing"]["moved"], 0)

    def test_no_transfer_is_a_run_alone_dense(self):
        files = [self.csv(f"{n}.csv", blobs(n, n, centres(n % 2))[0]) for n in (60, 91)]
        for k in ("4", "3,5", "auto"):
            self.same_as_alone(files, k)

    def test_no_transfer_is_a_run_alone_sparse(self):
        # The weights of words depend on all files if preprocessing is shared.
        files = [self.counts("a.mtx", 1, 45), self.counts("b.mtx", 2, 120, total=40, noise=0.6)]
        for k in ("3", "auto"):
            self.same_as_alone(files, k)

    def test_no_transfer_is_a_run_alone_molecules(self):
        self.same_as_alone([self.counts("a.mtx", 3, 40, total=1500, noise=0.7), self.counts("b.mtx", 4, 70, total=2500, noise=0.7)], "3")

    def test_no_transfer_is_a_run_alone_tables(self):
        files = []
        for name, n in (("a", 80), ("b", 130)):
            rows, y = blobs(n, n, centres(5, 3, 3))
            table = [[*row, "pqr"[z] if i % 3 else "s"] for i, (row, z) in enumerate(zip(rows, y))]
            files.append(self.csv(f"{name}.csv", table, "x,y,z,colour"))
        for k in ("3", "auto"):
            self.same_as_alone(files, k, "--header")

    def test_no_transfer_is_a_run_alone_texts(self):
        words = ["goal match team coach league", "stock market bank price trade", "star planet orbit telescope moon"]
        for name, n in (("a", 40), ("b", 75)):
            r = random.Random(n)
            os.mkdir(self.path(name))
            for i in range(n):
                self.write(f"{name}/{i:03d}.txt", " ".join(r.choice(words[i % 3].split() + ["other", "common", name * 3]) for _ in range(12)))
        self.same_as_alone(["a", "b"], "3")

    def test_a_data_set_may_be_a_table_only_alone(self):
        # The columns of `units` differ in their units, so that it is a table; together with the others it is not, or they are.
        small, large, _, _ = self.split()
        units = self.csv("units.csv", [[v * 10 ** (j % 4) for j, v in enumerate(row)] for row in blobs(5, 60, centres(1, 4, 12, 6.0))[0]])
        far = self.csv("far.csv", blobs(4, 520, centres(9, 4, 12, 6.0))[0])
        for files in ([small, far], [small, units], [units, far], [far, large, units]):
            self.same_as_alone(files, "4")
            for task in self.cluster("-k", 4, *files)["tasks"]:
                self.assertEqual(len(task["labels"]), task["n"])

    def test_no_transfer_is_a_run_alone_relative(self):
        """Shares of taxa, whose square roots are taken; one data set has percent."""
        r, files = random.Random(8), []
        for name, n, total in (("a", 40, 1), ("b", 70, 100)):
            rows = [[r.gammavariate(0.2 + 3 * (j % 3 == i % 3), 1) for j in range(90)] for i in range(n)]
            files.append(self.csv(f"{name}.csv", [[total * v / sum(row) for v in row] for row in rows]))
        self.same_as_alone(files, "3")

    def same_levels(self, files, k, *options):
        """With a range of k, every number of clusters has the labels of a run alone with that range."""
        together = self.cluster("--no-transfer", "--threads", 2, "-k", k, *options, *files)
        for i, file in enumerate(files):
            own = k.split(",")[i] if "," in k else k
            alone = self.cluster("--threads", 1, "-k", own, *options, file)
            by_k = {level["tasks"][0]["k"]: level["tasks"][0] for level in alone.get("levels", [])} | {alone["tasks"][0]["k"]: alone["tasks"][0]}
            for level in [*together["levels"], together]:
                task = level["tasks"][i]
                self.assertEqual(parts(task["labels"]), parts(by_k[task["k"]]["labels"]), (file, task["k"]))
                self.assertEqual(task.get("confidence"), by_k[task["k"]].get("confidence"))
            for field in ("agreement", "agreement_kmeans"):
                if together["tasks"][i]["k"] == alone["tasks"][0]["k"]:
                    self.assertEqual(together["method_fields"].get(f"{field}.{together['tasks'][i]['name']}"), alone["method_fields"].get(f"{field}.{alone['tasks'][0]['name']}"))
        self.assertEqual(together["method_fields"].get("members"), alone["method_fields"].get("members"))

    def test_no_transfer_every_level_is_that_of_a_run_alone(self):
        self.same_levels([self.csv(f"{n}.csv", blobs(n, n, centres(n % 2))[0]) for n in (60, 91)], "3-5")
        self.same_levels([self.counts("a.mtx", 3, 40, total=1500, noise=0.7), self.counts("b.mtx", 4, 70, total=2500, noise=0.7)], "2-4,3")
        tables = [self.csv(f"{n}.csv", [[*row, "pqr"[z]] for row, z in zip(*blobs(n, n, centres(5, 3, 3)))], "x,y,z,colour") for n in (70, 90)]
        self.same_levels(tables, "2-4", "--header")

    def test_preprocessing_of_clusters_found_alone_is_reported(self):
        few, many = self.counts("few.mtx", 1, 30, d=1500), self.counts("many.mtx", 2, 90, d=1500, total=1500, noise=0.7)
        alone = [self.cluster("-k", 3, file)["preprocessing"].split("; ", 1)[1] for file in (few, many)]
        self.assertNotEqual(*alone)
        text = self.cluster("-k", 3, "--no-transfer", few, many)["preprocessing"]
        common = self.cluster("-k", 3, few, many)["preprocessing"]
        self.assertEqual(text, common + "".join(f"; clusters of {name}: {own}" for name, own in zip(("few", "many"), alone) if own != common.split("; ", 1)[1]))

    def test_no_transfer_with_known_classes(self):
        files = [self.csv(f"{n}.csv", blobs(n, n, centres(1), 2.2)[0]) for n in (60, 91)]
        known = [self.write(f"{n}.known", "".join(f"{'abcd'[z] if i % 4 == 0 else '?'}\n" for i, z in enumerate(blobs(n, n, centres(1), 2.2)[1])))
                 for n in (60, 91)]
        together = self.cluster("--no-transfer", "-k", 4, "--known", ",".join(known), *files)
        for file, classes, task in zip(files, known, together["tasks"]):
            alone = self.cluster("-k", 4, "--known", classes, file)["tasks"][0]
            self.assertEqual(parts(task["labels"]), parts(alone["labels"]))

    def test_moved_compares_with_a_run_alone(self):
        files = [self.csv(f"{n}.csv", blobs(n, n, centres(n), 2.5)[0]) for n in (130, 150)]
        together = self.cluster("-k", 4, *files)
        for file, task in zip(files, together["tasks"]):
            alone = self.cluster("-k", 4, file)["tasks"][0]
            same = parts(task["labels"]) == parts(alone["labels"])
            self.assertEqual(task["sharing"]["moved"] == 0, same)
            self.assertEqual(together["method_fields"][f"confidence_alone.{task['name']}"],
                             self.cluster("-k", 4, file)["method_fields"][f"confidence.{alone['name']}"])

    def test_large_data_sets_are_as_alone(self):
        files = [self.counts("a.mtx", 1, 1001, noise=0.75), self.counts("b.mtx", 2, 90)]
        together = self.cluster("-k", 3, *files)["tasks"][0]
        alone = self.cluster("-k", 3, files[0])["tasks"][0]
        self.assertEqual(parts(together["labels"]), parts(alone["labels"]))
        self.assertEqual(together["confidence"], alone["confidence"])
        self.assertIn("more than 1000 samples", together["sharing"]["reason"])

    def split(self):
        """A small data set, a larger one with the same clusters, another small one and one without relation."""
        common = centres(1, 4, 12, 1.0)
        return [self.csv("small.csv", blobs(1, 32, common)[0]), self.csv("large.csv", blobs(2, 240, common)[0]),
                self.csv("second.csv", blobs(3, 36, common)[0]), self.csv("other.csv", blobs(4, 200, centres(9, 4, 12, 1.0))[0])]

    def test_alike_data_sets_share_clusters(self):
        small, large, second, other = self.split()
        for k in (("-k", 4), ("-k", "auto", "--set", "k_max=5")):
            tasks = self.cluster(*k, small, large, other)["tasks"]
            sharing = tasks[0]["sharing"]
            self.assertEqual(sharing["from"], "large")
            self.assertLess(sharing["apart"], 0.65)
            self.assertRegex(tasks[0]["advice"][0], "^small: clusters carried over from large: it has [0-9.]+ samples per cluster")
            self.assertRegex(tasks[0]["advice"][1], "^small: [0-9]+ of 32 samples are in another cluster than in a run alone")
            self.assertEqual([t["sharing"]["from"] for t in tasks[1:]], [None, None])
        # The clusters have the numbers of those they come from.
        by_number = {}
        for name, n, seed in (("large", 240, 2), ("small", 32, 1)):
            truth = blobs(seed, n, centres(1, 4, 12, 1.0))[1]
            for z, y in zip(next(t for t in tasks if t["name"] == name)["labels"], truth):
                by_number.setdefault((name, y), []).append(z)
        usual = {key: max(set(v), key=v.count) for key, v in by_number.items()}
        self.assertEqual([usual["large", y] for y in range(4)], [usual["small", y] for y in range(4)])

    def test_order_and_a_further_small_data_set_change_nothing(self):
        small, large, second, other = self.split()
        first = self.cluster("-k", 4, small, large, other)["tasks"][0]
        for files in ([other, large, small], [small, second, large, other], [large, small]):
            again = next(t for t in self.cluster("-k", 4, *files)["tasks"] if t["name"] == "small")
            self.assertEqual(parts(again["labels"]), parts(first["labels"]))
            self.assertEqual(again["confidence"], first["confidence"])
            self.assertEqual(again["sharing"]["apart"], first["sharing"]["apart"])

    def test_unrelated_data_sets_share_no_clusters(self):
        small, _, _, other = self.split()
        task = self.cluster("-k", 4, small, other)["tasks"][0]
        self.assertIsNone(task["sharing"]["from"])
        self.assertGreater(task["sharing"]["apart"], 0.65)
        self.assertRegex(task["advice"][-1], r"^clusters were not carried over: too different from other \(0\.[0-9]+; carried over below 0\.65\)")

    def test_other_proportions_share_no_clusters(self):
        common = centres(1, 4, 12, 1.0)
        small = self.csv("small.csv", [row for row, y in zip(*blobs(1, 64, common)) if y == 0])
        large = self.csv("large.csv", blobs(2, 240, common, 3.0)[0])
        task = self.cluster("-k", "2,4", small, large)["tasks"][0]
        self.assertIsNone(task["sharing"]["from"])
        self.assertRegex(task["sharing"]["reason"], "proportions would differ|too different")

    def test_reasons(self):
        small, large, _, other = self.split()
        few = self.csv("few.csv", blobs(7, 9, centres(1, 4, 12, 1.0))[0])
        start = self.write("small.init", "0\n1\n2\n3\n" * 8) + "," + self.write("large.init", "0\n1\n2\n3\n" * 60)
        for says, args in (("fewer than 10 samples", ["-k", 2, few, large]), ("times as many samples", ["-k", 4, small, self.csv("b.csv", blobs(3, 40, centres(1))[0])]),
                           ("samples per cluster", ["-k", 4, other, large]), ("switched off", ["--no-transfer", "-k", 4, small, large]),
                           ("time limit", ["--time-limit", 100, "-k", 4, small, large]), ("range of k", ["-k", "3-5", small, large]),
                           ("initial labels", ["-k", 4, "--init", start, small, large])):
            self.assertIn(says, self.cluster(*args)["tasks"][0]["sharing"]["reason"])

    def test_relate_prints_the_distance(self):
        small, large, _, other = self.split()
        pairs = json.loads(self.run_kindred("relate", "--json", small, large, other).stdout)["pairs"]
        for pair in pairs:
            for key in ("apart", "apart_back"):
                self.assertEqual(pair[key + "_word"], "alike" if pair[key] < 0.55 else "related" if pair[key] < 0.65 else "apart")
        self.assertEqual((pairs[0]["apart_back_word"], pairs[1]["apart_word"]), ("alike", "apart"))
        self.assertAlmostEqual(pairs[0]["apart"], self.cluster("-k", 4, small, large)["tasks"][0]["sharing"]["apart"], places=9)
        self.assertRegex(self.run_kindred("relate", small, large).stdout, r"small +large +0\.[0-9]+  [a-z]+\nlarge +small +0\.[0-9]+  alike\n")


if __name__ == "__main__":
    unittest.main()
