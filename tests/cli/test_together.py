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

    def counts(self, name, seed, n, d=300, total=60, noise=0.25, depths=1):
        """Sparse counts of three topics, with totals from `total` to `depths` times that."""
        r, lines = random.Random(seed), []
        topics = [random.Random(t).sample(range(d), 25) for t in range(3)]
        for i in range(n):
            found = {}
            for _ in range(total * (1 + i % depths)):
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
        self.same_as_alone([self.counts("a.mtx", 3, 40, total=1500, noise=0.7, depths=2), self.counts("b.mtx", 4, 70, total=2500, noise=0.7, depths=2)], "3")

    def test_no_transfer_is_a_run_alone_tables(self):
        files = []
        for name, n in (("a", 80), ("b", 130)):
            rows, y = blobs(n, n, centres(5, 3, 3))
            table = [[*row, "pqr"[z] if i % 3 else "s"] for i, (row, z) in enumerate(zip(rows, y))]
            files.append(self.csv(f"{name}.csv", table, "x,y,z,colour"))
        for k in ("3", "auto"):
            self.same_as_alone(files, k, "--header")

    def test_runs_alone_vote_again_if_counts_differ_only_by_their_total(self):
        def cuts(*files):
            """How often graphs were cut: in the runs alone, and again with preprocessing that was fitted on both files."""
            record = self.path("stages.csv")
            self.run_kindred("cluster", "-q", "-k", 3, "-o", "out", "--force", *files, env={**os.environ, "KINDRED_STAGES": record})
            with open(record) as f:
                events = [line.rstrip().split(",") for line in f]
            os.remove(record)
            return sum("begin" in event and event[-1] == "normalised cut" for event in events)

        cells = [self.counts(f"{n}.mtx", n, n, total=20 * n, noise=0.7, depths=2) for n in (60, 100, 120)]
        words = [self.counts("c.mtx", 1, 45, 2000, 40, 0.5), self.counts("d.mtx", 2, 120, 2000, 30, 0.6)]
        self.assertEqual(cuts(*cells[1:]), 2)
        self.assertEqual(cuts(*cells), 4)  # the smallest gains by the totals of the others
        self.assertEqual(cuts(*words), 4)

    TOPICS = ["goal match team coach league", "stock market bank price trade", "star planet orbit telescope moon"]
    USUAL = {"north": "the of and to in".split(), "south": "der die und das ist".split()}

    def documents(self, name, n, page="{}"):
        """Texts whose words depend on what is read with them: other languages, rare words of which a data set has one, and a text that
        has only such words."""
        r, texts = random.Random(n), []
        for i in range(n):
            own = [r.choice(self.TOPICS[i % 3].split() + self.USUAL[name] * 2 + ["common", f"rare{i}"]) for _ in range(14)]
            texts.append(page.format(" ".join([*own, *self.USUAL[name]])))
        texts[5] = f"rare{n + 5}"
        return texts

    def folder(self, name, n, page="{}"):
        os.mkdir(self.path(name))
        for i, text in enumerate(self.documents(name, n, page)):
            self.write(f"{name}/{i:03d}.txt", text)
        return name

    def table(self, name, texts, **columns):
        titles = ["id", "body", *columns]
        rows = [[str(i), text, *(values[i] for values in columns.values())] for i, text in enumerate(texts)]
        return self.write(name, "\n".join(",".join(row) for row in [titles, *rows]) + "\n")

    def test_no_transfer_is_a_run_alone_folders_of_texts(self):
        files = [self.folder("north", 40), self.folder("south", 75, "<html><body><p class=odd>{}</p></body></html>")]
        for k in ("3", "2,4", "auto"):
            self.same_as_alone(files, k)
        self.same_levels(files, "2-4")
        together = self.cluster("--no-transfer", "-k", 3, *files)
        self.assertEqual([t["labels"][5] for t in together["tasks"]], [-1, -1])
        for task, file in zip(together["tasks"], files):
            alone = self.cluster("-k", 3, file)
            steps = alone["preprocessing"].split("; ", 1)[1]
            self.assertIn(f"; clusters of {file}: {alone['tasks'][0]['d']} words of its own; {steps}", together["preprocessing"])
            self.assertNotEqual(alone["tasks"][0]["d"], task["d"])

    def test_no_transfer_is_a_run_alone_tables_of_texts(self):
        texts = {"north": self.documents("north", 40), "south": self.documents("south", 75)}
        files = [self.table(f"{name}.csv", own) for name, own in texts.items()]
        self.same_as_alone(files, "3", "--text-column", "body")
        for name, own in texts.items():
            self.write(f"{name}.jsonl", "".join(json.dumps({"body": text}) + "\n" for text in own))
        self.same_as_alone(["north.jsonl", "south.jsonl"], "3", "--text-column", "body")

    def test_no_transfer_is_a_run_alone_data_sets_of_a_file_of_texts(self):
        texts = {"north": self.documents("north", 40), "south": self.documents("south", 75)}
        files = [self.table(f"{name}.csv", own) for name, own in texts.items()]
        mixed = [(text, name) for pair in zip(texts["south"], [*texts["north"], *[None] * 35]) for text, name in zip(pair, ("south", "north")) if text]
        both = self.table("both.csv", [text for text, _ in mixed], place=[name for _, name in mixed])
        together = self.cluster("--no-transfer", "-k", 3, "--text-column", "body", "--task-column", "place", both)["tasks"]
        self.assertEqual([t["name"] for t in together], ["south", "north"])
        for task, file in zip(together, reversed(files)):
            alone = self.cluster("-k", 3, "--text-column", "body", file)["tasks"][0]
            self.assertEqual(parts(task["labels"]), parts(alone["labels"]))
            self.assertEqual(task["confidence"], alone["confidence"])

    def test_no_transfer_is_a_run_alone_texts_with_known_classes(self):
        files, known = [self.folder("north", 40), self.folder("south", 75)], []
        for file, n in zip(files, (40, 75)):
            known.append(self.write(f"{file}.known", "".join(f"{'abc'[i % 3] if i < 9 else '?'}\n" for i in range(n))))
        together = self.cluster("--no-transfer", "-k", 3, "--known", ",".join(known), *files)["tasks"]
        for file, classes, task in zip(files, known, together):
            alone = self.cluster("-k", 3, "--known", classes, file)["tasks"][0]
            self.assertEqual(parts(task["labels"]), parts(alone["labels"]))
            self.assertEqual(task["confidence"], alone["confidence"])

    def test_moved_compares_with_a_run_alone_of_texts(self):
        """Also if clusters may be carried over to one of them, for which the runs alone have common words."""
        for name, n, seed in (("a", 80, 1), ("b", 70, 2), ("c", 15, 3)):
            r = random.Random(seed)
            os.mkdir(self.path(name))
            for i in range(n):
                words = [*self.TOPICS[i % 3].split(), *self.TOPICS[(i + 1) % 3].split()[:3], "common", f"{name}{i % 20}", f"x{i % 30}"]
                self.write(f"{name}/{i:03d}.txt", " ".join(r.choice(words) for _ in range(7)))
        for files in (["a", "b"], ["a", "b", "c"]):
            together = self.cluster("-k", 3, *files)
            for file, task in zip(files, together["tasks"]):
                alone = self.cluster("-k", 3, file)
                self.assertEqual(task["sharing"]["moved"] == 0, parts(task["labels"]) == parts(alone["tasks"][0]["labels"]))
                if task["sharing"]["from"] is None:
                    self.assertEqual(together["method_fields"][f"confidence_alone.{file}"], alone["method_fields"][f"confidence.{file}"])

    def test_texts_that_cannot_be_read_twice_have_common_words(self):
        files = [self.table(f"{name}.csv", self.documents(name, n)) for name, n in (("north", 40), ("south", 75))]
        done = self.run_kindred("cluster", "-q", "--no-transfer", "-k", 3, "--text-column", "body", "--format", "csv", "-", files[1], stdin=self.read("north.csv"))
        self.assertIn("; clusters of south: ", json.loads(done.stdout)["preprocessing"])
        self.assertNotIn("; clusters of stdin: ", json.loads(done.stdout)["preprocessing"])

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

    def test_no_transfer_finds_the_number_of_a_run_alone(self):
        """Also if one data set has a group that the other lacks."""
        common = centres(1, 3, 20, 1.5)
        a, b = (sum((blobs(seed + i, n, [c])[0] for i, (c, n) in enumerate(zip(common, sizes))), []) for seed, sizes in ((1, (110, 78, 8)), (9, (120, 80, 0))))
        files = [self.csv("a.csv", a), self.csv("b.csv", b)]
        self.same_as_alone(files, "auto")

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

    def test_clusters_are_carried_over_with_the_preprocessing_of_clusters(self):
        # Rows are compared at unit length: the brightness of a picture has no influence, not on the classifier either.
        r, bright, found = random.Random(7), [[v + 6 for v in row] for row in centres(11, 4, 80)], []
        for most in (1, 500):
            files = []
            for n in (40, 240):
                rows, y = blobs(n, n, bright, 3)
                files.append(self.csv(f"{n}-{most}.csv", [[max(v, 0) * factor for v in row] for row in rows for factor in [r.uniform(1, most)]]))
            task = self.cluster("-k", "4", *files)["tasks"][0]
            self.assertEqual(task["sharing"]["from"], f"240-{most}")
            found.append(parts(task["labels"]))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], parts(blobs(40, 40, bright, 3)[1]))

    def test_order_and_a_further_small_data_set_change_nothing(self):
        small, large, second, other = self.split()
        first = self.cluster("-k", 4, small, large, other)["tasks"][0]
        for files in ([other, large, small], [small, second, large, other], [large, small]):
            again = next(t for t in self.cluster("-k", 4, *files)["tasks"] if t["name"] == "small")
            self.assertEqual(parts(again["labels"]), parts(first["labels"]))
            self.assertEqual(again["confidence"], first["confidence"])
            self.assertEqual(again["sharing"]["apart"], first["sharing"]["apart"])

    def same_in_any_order(self, files, k, *options, known=None):
        def run(order):
            own = [] if known is None else ["--known", ",".join(known[i] for i in order)]
            ks = k.split(",")
            of = ",".join(ks[i] for i in order) if len(ks) > 1 else k
            result = self.cluster("-k", of, *options, *own, *(files[i] for i in order))
            tasks = sorted(result["tasks"], key=lambda t: t["name"])
            names, of_pair = [t["name"] for t in result["tasks"]], {}
            for i, one in enumerate(names):
                for j, other in enumerate(names):
                    of_pair[one, other] = "relatedness" in result and result["relatedness"]["matrix"][i][j]
            levels = [sorted(level["tasks"], key=lambda t: t["name"]) for level in result.get("levels", [])]
            return tasks, result["method_fields"], of_pair, levels, result["objective"][-1]

        (first, fields, related, levels, objective), orders = run(range(len(files))), [[*range(len(files))][::-1]]
        if len(files) > 2:
            orders.append([1, 2, 0, *range(3, len(files))])
        for order in orders:
            tasks, other, pairs, others, value = run(order)
            self.assertEqual([parts(t["labels"]) for t in tasks], [parts(t["labels"]) for t in first], k)
            self.assertEqual([t["sharing"] for t in tasks], [t["sharing"] for t in first])
            self.assertEqual(other.keys(), fields.keys())
            # What is said about data sets has the order of the files.
            told = [key.split(".", 1)[1] for key in other if key.startswith("agreement.")]
            self.assertEqual(told, [os.path.splitext(os.path.basename(files[i]))[0] for i in order])
            # Tables are preprocessed in the order of the files, which may change last bits.
            for one, same in [(value, objective), *((other[name], fields[name]) for name in fields), *((pairs[pair], related[pair]) for pair in related),
                              *zip(sum((t["confidence"] for t in tasks), []), sum((t["confidence"] for t in first), []))]:
                self.assertEqual(one, same) if isinstance(one, str) else self.assertAlmostEqual(one, same, places=9)
            for one, level in zip(others, levels):
                self.assertEqual([parts(t["labels"]) for t in one], [parts(t["labels"]) for t in level])

    def test_any_order_of_numbers(self):
        files = [self.csv(f"{n}.csv", blobs(n, n, centres(n % 2), 2.5)[0]) for n in (130, 150, 161)]
        for k in ("4", "3,4,5", "auto", "3-5", "3-5,4-6,4-5"):
            self.same_in_any_order(files, k)
        # Of one size.
        self.same_in_any_order([self.csv(f"even{s}.csv", blobs(s, 120, centres(1), 2.5)[0]) for s in (1, 2, 3)], "4")

    def test_any_order_of_counts(self):
        self.same_in_any_order([self.counts("a.mtx", 1, 90, noise=0.7), self.counts("b.mtx", 2, 120, noise=0.75), self.counts("c.mtx", 3, 60, noise=0.75)], "3")

    def test_any_order_of_tables(self):
        files = [self.csv(f"{n}.csv", [[*row, "pqr"[z] if i % 3 else "s"] for i, (row, z) in enumerate(zip(*blobs(n, n, centres(5, 3, 3), 1.5)))], "x,y,z,colour") for n in (70, 90, 80)]
        for k in ("3", "auto", "2-4"):
            self.same_in_any_order(files, k, "--header")

    def test_any_order_of_texts(self):
        self.same_in_any_order([self.folder("north", 40), self.folder("south", 75)], "3")

    def test_any_order_of_known_classes(self):
        files = [self.csv(f"{n}.csv", blobs(n, n, centres(1), 2.2)[0]) for n in (60, 91, 75)]
        known = [self.write(f"{n}.known", "".join(f"{'abcd'[z] if i % 4 == 0 else '?'}\n" for i, z in enumerate(blobs(n, n, centres(1), 2.2)[1])))
                 for n in (60, 91, 75)]
        self.same_in_any_order(files, "4", known=known)

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
        self.assertLess(pairs[0]["apart_back"], 0.55)
        self.assertGreater(pairs[1]["apart"], 0.65)
        self.assertAlmostEqual(pairs[0]["apart"], self.cluster("-k", 4, small, large)["tasks"][0]["sharing"]["apart"], places=9)
        self.assertRegex(self.run_kindred("relate", small, large).stdout, r"small +large +0\.[0-9]+\nlarge +small +0\.[0-9]+\n")


if __name__ == "__main__":
    unittest.main()
