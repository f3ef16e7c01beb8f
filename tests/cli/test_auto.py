"""auto, the default of cluster: preprocessing by the data, k, the guard, time, bad input."""
import json
import random
import unittest

from harness import CliTest


def documents(rows, seed, vocabulary=120, topics=3, own=0):
    """Counts of words: topic i % topics has its own words, and all share the rest."""
    rng = random.Random(seed)
    each = 20
    lines, entries = [], 0
    for i in range(rows):
        words = [i % topics * each + rng.randrange(each) for _ in range(18)]
        words += [topics * each + (own + rng.randrange(40)) % (vocabulary - topics * each) for _ in range(6)]
        for w in sorted(set(words)):
            lines.append(f"{i + 1} {w + 1} {words.count(w)}")
            entries += 1
    return f"%%MatrixMarket matrix coordinate integer general\n{rows} {vocabulary} {entries}\n" + "\n".join(lines) + "\n"


class Auto(CliTest):
    def setUp(self):
        super().setUp()
        # Wide enough that a document has few of the words.
        self.write("a.mtx", documents(60, 1, 400))
        self.write("b.mtx", documents(45, 2, 400, own=20))

    def same_partition(self, labels, topics=3):
        return len({(i % topics, c) for i, c in enumerate(labels)}) == topics

    def test_it_is_the_default_and_chooses_preprocessing(self):
        done = self.run_kindred("cluster", "-v", "-k", 3, "-o", "out", "a.mtx", "b.mtx")
        r = self.result()
        self.assertEqual(r["method"], "auto")
        self.assertEqual(r["data"], "word counts")
        self.assertIn("tfidf; l2", r["preprocessing"])
        for t in r["tasks"]:
            self.assertTrue(self.same_partition(t["labels"]))
        fields = r["method_fields"]
        for name in ("confidence.a", "agreement_alone.a", "agreement_kmeans.b", "moved.b", "advice.a", "members"):
            self.assertIn(name, fields)
        self.assertEqual(r["relatedness"]["tasks"], ["a", "b"])
        self.assertEqual({(c["from"], c["to"]) for c in r["correspondence"]}, {("a", "b"), ("b", "a")})
        for piece in ("confidence", "appear to be word counts", "mtcfir", "a 0 = b", fields["advice.a"], "written to out"):
            self.assertIn(piece, done.stdout)

    def test_what_the_user_says_about_preprocessing_counts(self):
        self.run_kindred("cluster", "-k", 3, "-o", "out", "--weight", "log1p", "a.mtx")
        r = self.result()
        self.assertNotIn("data", r)
        self.assertIn("log1p", r["preprocessing"])
        self.assertNotIn("tfidf", r["preprocessing"])

    def test_copies_of_a_text_are_no_cluster_of_their_own(self):
        rng = random.Random(1)
        spam = [[560 + i] * 3 + list(range(570, 578)) for i in range(3)]
        texts = [[150 * (i % 2) + rng.randrange(200) for _ in range(6)] + [350 + rng.randrange(250)] for i in range(401)]
        texts += [spam[i % 3] for i in range(23)]
        cells = [(i, w, t.count(w)) for i, t in enumerate(texts) for w in sorted(set(t))]
        self.write("c.mtx", f"%%MatrixMarket matrix coordinate integer general\n424 600 {len(cells)}\n" + "".join("%d %d %d\n" % (i + 1, w + 1, n) for i, w, n in cells))
        for method in ("auto", "ncut"):
            r = json.loads(self.run_kindred("cluster", "-m", method, "--weight", "tfidf", "--norm", "l2", "-k", 2, "c.mtx").stdout)
            labels = r["tasks"][0]["labels"]
            right = sum(a == i % 2 for i, a in enumerate(labels[:401]))
            self.assertGreater(max(right, 401 - right), 360, method)
            for i in range(3):
                self.assertEqual(len(set(labels[401 + i::3])), 1, method)

    def test_without_transfer_each_task_is_as_if_alone(self):
        say = ("--weight", "none", "--norm", "l2")  # tf-idf would be fitted on both
        self.run_kindred("cluster", "-k", 3, "--no-transfer", *say, "-o", "out", "a.mtx", "b.mtx")
        both = self.result()
        self.assertFalse(both["options"]["transfer"])
        self.assertNotIn("mtcfir", both["method_fields"]["members"])
        self.run_kindred("cluster", "-k", 3, *say, "-o", "alone", "b.mtx")
        self.assertEqual(both["tasks"][1]["labels"], self.result("alone/result.json")["tasks"][0]["labels"])

    def test_a_large_task_helps_a_small_one_and_not_the_other_way_round(self):
        self.run_kindred("generate", "-n", "1100,80", "-k", 3, "-d", 3, "-q", "-o", "data")
        self.run_kindred("cluster", "-k", 3, "-o", "out", "data/task1.csv", "data/task2.csv")
        fields = self.result()["method_fields"]
        self.assertIn("clustered alone, because it is large", fields["advice.task1"])
        self.assertNotIn("moved.task1", fields)
        self.assertIn("moved.task2", fields)
        self.assertIn("pool 1.5, shared directions 1.5", fields["members"])  # the mean over both

    def test_k_is_found_and_said_how_surely(self):
        done = self.run_kindred("cluster", "-k", "auto", "-o", "out", "--arrays", "arr", "a.mtx", "b.mtx")
        r = self.result()
        self.assertEqual([t["k"] for t in r["tasks"]], [3, 3])
        self.assertIn("k = 3: ", r["method_fields"]["k_evidence"])
        self.assertIn("of the test data sets (repeated clusterings agree by", done.stdout)
        for name in ("eigengap.a", "k_agreement.b", "agreement.b", "confidence.a", "moved.b"):
            with open(self.path(f"arr/{name}.npy"), "rb") as f:
                self.assertEqual(f.read(6), b"\x93NUMPY")
        self.run_kindred("cluster", "-k", "auto,2", "-o", "two", "a.mtx", "b.mtx")
        r = self.result("two/result.json")
        self.assertEqual([t["k"] for t in r["tasks"]], [3, 2])
        self.assertIn("k_evidence.a", r["method_fields"])

    def test_evidence_for_identical_samples(self):
        """Each task has its line, also one whose samples are all the same."""
        self.write("same.csv", "x,y\n" + "1,2\n" * 30)
        self.write("two.csv", "x,y\n" + "".join(f"{i % 2 * 50 + i % 7 * .1},{i % 5 * .1}\n" for i in range(60)))
        done = self.run_kindred("cluster", "-k", "auto,auto", "-o", "out", "same.csv", "two.csv")
        self.assertIn("same: k = 1: all samples are identical", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^two: k = \d")
        self.assertIn("k_evidence.same", self.result()["method_fields"])
        done = self.run_kindred("cluster", "-k", "auto", "-o", "out1", "same.csv")
        self.assertRegex(done.stdout, r"(?m)^k = 1: all samples are identical")

    def test_a_time_limit_leaves_members_out_and_says_so(self):
        done = self.run_kindred("cluster", "-v", "-k", 3, "--time-limit", 1e-9, "-o", "out", "a.mtx", "b.mtx")
        r = self.result()
        self.assertEqual(r["stop"], "time")
        self.assertEqual(len(r["tasks"][1]["labels"]), 45)
        self.assertIn("time limit reached: method 'mtcfir' was skipped", " ".join(r["warnings"]))
        self.assertIn("warning: stopped at the time limit; this is the best result so far", done.stdout)
        self.assertIn("runs finished in time", done.stdout)
        self.assertNotIn("the methods agree", done.stdout)
        # One voter agrees with itself: no confidence is made of that. The graph is worth a moment's grace, unless that is over too.
        self.assertRegex(done.stdout, r"methods \(votes\): (normalised cut 3|k-means 1)\n")
        self.assertNotIn("confidence", done.stdout)
        self.assertNotIn("confidence.a", r["method_fields"])
        self.assertNotIn("method", {t.get("confidence_from") for t in r["tasks"]})

    def test_same_labels_for_any_number_of_threads(self):
        found = []
        for threads in (1, 2, 5):
            done = self.run_kindred("cluster", "-k", 3, "--threads", threads, "a.mtx", "b.mtx")
            r = json.loads(done.stdout)
            found.append(([t["labels"] for t in r["tasks"]], r["objective"], r["method_fields"]))
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[0], found[2])

    def test_model_and_predict(self):
        self.run_kindred("cluster", "-k", 3, "-o", "out", "--save-model", "m.h5", "a.mtx", "b.mtx")
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "b", "b.mtx")
        labels = self.result()["tasks"][1]["labels"]
        self.assertEqual([int(x) for x in done.stdout.split()], labels)

    def test_tables_of_a_few_measurements_keep_their_sizes(self):
        # Clusters in one direction: the cosine would not tell them apart.
        rows = [(s + i % 5 * 0.01, s + i % 7 * 0.01) for i in range(60) for s in [1 + i % 3 * 4]]
        self.write("t.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
        self.run_kindred("cluster", "-k", 3, "-o", "out", "t.csv")
        r = self.result()
        self.assertEqual(r["data"], "measurements")
        self.assertTrue(self.same_partition(r["tasks"][0]["labels"]))

    def test_relate_gives_advice(self):
        done = self.run_kindred("relate", "a.mtx", "b.mtx")
        self.assertIn("a: the most similar data set is b", done.stdout)
        r = json.loads(self.run_kindred("relate", "--json", "a.mtx", "b.mtx").stdout)
        self.assertIn("the most similar data set is a", r["tasks"][1]["advice"])
        self.assertGreater(r["pairs"][0]["nearness"], 0.5)

    def test_bad_input(self):
        self.fails("cluster", "a.mtx", code=2, says=["-k", "auto"])
        self.fails("cluster", "-k", "many", "a.mtx", code=2, says=["many", "auto"])
        self.fails("cluster", "-k", 61, "a.mtx", code=2, says=["61", "60 samples"])
        self.fails("cluster", "-k", "3,3,3", "a.mtx", "b.mtx", code=2, says="3 values for 2 data sets")
        self.fails("cluster", "-k", 3, "-m", "kmeans", "--no-transfer", "a.mtx", code=2, says=["--[no-]transfer", "kmeans"])
        self.fails("cluster", "-k", 3, "--pooled", "a.mtx", "b.mtx", code=2, says=["auto", "pool"])
        self.fails("cluster", "-k", 3, "--set", "seeds=0", "a.mtx", code=2, says=["seeds", "1"])
        self.fails("cluster", "-k", 3, "--set", "neighbours=3", "a.mtx", code=2, says="neighbors")
        self.write("bad.csv", "x,y\n1,inf\n2,3\n")
        self.fails("cluster", "-k", 2, "bad.csv", code=3, says="bad.csv")
        self.write("start", "0\n1\n")
        self.fails("cluster", "-k", 2, "--init", "start", "a.mtx", code=3, says="60 samples")
        self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    unittest.main()
