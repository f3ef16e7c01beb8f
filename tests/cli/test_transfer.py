"""transfer, end to end: class names out, plain accuracy, and only files that exist are called written."""
import os
import json
import random
import unittest

from harness import CliTest


class Transfer(CliTest):
    def setUp(self):
        super().setUp()
        rows = [(i % 2 * 9 + i % 3 * .1, i % 5 * .1) for i in range(30)]
        self.write("s.csv", "x,y\n" + "".join(f"{a},{b}\n" for a, b in rows))
        self.write("t.csv", "x,y\n" + "".join(f"{a + .2},{b}\n" for a, b in rows[:20]))
        self.write("s.labels", "".join(f"{'odd' if i % 2 else 'even'}\n" for i in range(30)))
        self.write("truth", "".join(f"{'odd' if i % 2 else 'even'}\n" for i in range(20)))

    def test_target_gets_class_names(self):
        done = self.run_kindred("transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", "--truth", "truth",
                                "-o", "out")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["features.csv", "result.json", "target.labels", "target.samples.csv"])
        self.assertEqual(self.read("out/target.labels"), self.read("truth"))
        target = self.result()["tasks"][-1]
        self.assertEqual((target["name"], target["labels"][:2], target["metrics"]["acc"]), ("target", ["even", "odd"], 1))
        self.assertNotIn("source.labels", done.stdout)
        self.assertRegex(done.stdout, r"\nclass +target\n")
        self.assertRegex(done.stdout, r"\neven +10 +x 0.29 \(others 9.3\)\n")
        self.assertIn("target.labels", done.stdout)

    def test_arrays_have_the_weights_of_the_model(self):
        """Without --arrays and --save-model they are not computed; the labels are the same."""
        given = ["transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", "-q", "--force", "-o", "out"]
        self.run_kindred(*given)
        labels = self.read("out/target.labels")
        self.run_kindred(*given, "--arrays", "arrays")
        self.assertEqual(self.read("out/target.labels"), labels)
        self.assertTrue({"weights.npy", "intercept.npy", "unit_rows.npy"} <= set(os.listdir(self.path("arrays"))))

    def test_bad_arguments(self):
        self.fails("transfer", "--source", "s.csv", "--labels", "s.labels", code=2, says="--target")
        self.fails("transfer", "--source", "s.csv", "--target", "t.csv", code=2, says="--labels")
        self.fails("transfer", "--source", "s.csv", "--labels", "truth", "--target", "t.csv", code=3, says=["20", "30"])
        self.fails("transfer", "--source", "s.csv", "--labels", self.write("one", "a\n" * 30), "--target", "t.csv", code=3,
                   says="at least two")

    def test_landmarks_in_place_of_neighbours(self):
        """The user can set what samples are joined to, and small data are joined to neighbours."""
        given = ["transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", "-o", "out", "--force", "-q"]
        self.run_kindred(*given, "--set", "graph=landmarks", "--set", "landmarks=12")
        self.assertEqual(self.read("out/target.labels"), self.read("truth"))
        self.assertEqual([self.result()["options"][o] for o in ("graph", "landmarks")], ["landmarks", 12])
        sure = {}
        for graph in ("auto", "neighbours"):
            self.run_kindred(*given, "--set", "graph=" + graph)
            sure[graph] = self.result()["tasks"][-1]["confidence"]
        self.assertEqual(sure["auto"], sure["neighbours"])
        self.fails(*given, "--set", "graph=landmark", code=2, says=["graph", "landmarks", "neighbours"])

    def test_classes_in_a_column_that_the_target_need_not_have(self):
        """A labelled table and one without that column; where it has it, it is scored."""
        rows = self.read("s.csv").split("\n")[1:31]
        classes = self.read("s.labels").split("\n")
        self.write("both.csv", "x,y,kind\n" + "".join(f"{r},{c}\n" for r, c in zip(rows, classes)))
        self.run_kindred("transfer", "--source", "both.csv", "--label-column", "kind", "--target", "t.csv", "-o", "out")
        self.assertEqual(self.read("out/target.labels"), self.read("truth"))
        self.assertIsNone(self.result()["tasks"][-1]["metrics"])
        self.run_kindred("transfer", "--source", "both.csv", "--label-column", "kind", "--target", "both.csv", "-o", "out", "--force")
        self.assertEqual(self.result()["tasks"][-1]["metrics"]["acc"], 1)
        self.fails("transfer", "--source", "t.csv", "--label-column", "kind", "--target", "both.csv", code=3, says=["t.csv", "'kind'", "x, y"])

    def test_sources_and_targets_may_be_named(self):
        done = self.run_kindred("transfer", "-v", "--source", "old=s.csv", "--labels", "s.labels", "--source", "s.csv", "--labels", "s.labels",
                                "--target", "new=t.csv", "--target", "t.csv", "-o", "out")
        self.assertEqual([t["name"] for t in self.result()["tasks"]], ["old", "source2", "new", "t"])
        self.assertEqual(self.read("out/new.labels"), self.read("truth"))
        self.assertEqual(self.read("out/t.labels"), self.read("truth"))
        self.assertIn("old: leaving out this source", done.stdout)
        self.fails("transfer", "-v", "--source", "a=s.csv", "--labels", "s.labels", "--target", "a=t.csv", code=2, says="'a'")

    def test_a_model_knows_whose_new_samples_are(self):
        self.run_kindred("transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", "--save-model", "m.h5", "-o", "out")
        self.run_kindred("predict", "--model", "m.h5", "t.csv", "-o", "again.labels")
        self.assertEqual(self.read("again.labels"), self.read("truth"))

    def test_labels_do_not_depend_on_the_names_of_classes(self):
        """Sorted names would number the classes in another way, and ties and random numbers depend on these numbers."""
        rng, centres = random.Random(3), [(5, 5, 6), (6.5, 5.3, 5), (5.2, 6.4, 6.6), (6.2, 6.6, 5.1)]
        for name, n, shift in (("u", 90, 0), ("v", 70, .5), ("w", 60, .2)):
            self.write(name + ".csv", "p,q,r\n" + "".join(
                ",".join(f"{abs(m + shift + rng.gauss(0, 1)):.3f}" for m in centres[i * 7 % 4]) + "\n" for i in range(n)))
        known = json.loads(self.run_kindred("methods", "--json").stdout)
        for method in (m for m in known if m["family"] == "transfer" and m["id"] != "trec"):  # trec numbers clusters
            bridge = ["--bridge", "w.csv"] if "bridge" in method["capabilities"] else []
            found = []
            for names in ("1234", "3142", "bdac"):
                self.write("u.labels", "".join(names[i * 7 % 4] + "\n" for i in range(90)))
                self.run_kindred("transfer", "-q", "-m", method["id"], "--source", "u.csv", "--labels", "u.labels", "--target", "v.csv", *bridge,
                                 "--force", "-o", "out")
                found.append([names.index(label) for label in self.read("out/target.labels").split()])
            with self.subTest(method["id"]):
                self.assertEqual(found[0], found[1])
                self.assertEqual(found[0], found[2])

    def test_shifted_target_of_one_class(self):
        """Methods that centre each data set would split the class: the other class is as frequent in the source."""
        rng, flowers = random.Random(5), {"setosa": ((5, .35), (3.4, .38), (1.5, .17), (.25, .1)), "versicolor": ((5.9, .5), (2.8, .3), (4.3, .47), (1.3, .2))}

        def rows(name, shift):
            return ["".join(f"{rng.gauss(*g) + s:.2f}," for g, s in zip(flowers[name], shift))[:-1] for _ in range(50)]

        self.write("f.csv", "\n".join(["a,b,c,d", *rows("setosa", [0] * 4), *rows("versicolor", [0] * 4)]) + "\n")
        self.write("f.labels", "setosa\n" * 50 + "versicolor\n" * 50)
        for name in flowers:
            self.write("g.csv", "\n".join(["a,b,c,d", *rows(name, (1, 0, .5, 0))]) + "\n")
            done = self.run_kindred("transfer", "-v", "--source", "f.csv", "--labels", "f.labels", "--target", "g.csv", "--force", "-o", "out")
            self.assertEqual(self.read("out/target.labels"), f"{name}\n" * 50)
        self.assertIn("classes appear to be absent, so methods based on class means were run again", done.stdout)
        self.assertIn("few samples were labelled 'setosa' (0.0 %, but 50.0 % of the source samples): the target appears to have few such samples, or none",
                      done.stdout + done.stderr)

    def test_texts_of_one_class_with_other_words(self):
        """The neighbours of a text show that the vote has split a class."""
        rng = random.Random(1)

        def text(kind, own, other, new, domain):
            """25 words: of its class, of the other class, of its domain, and common ones."""
            words = []
            for _ in range(25):
                u = rng.random()
                if u < own + other:
                    words.append(f"{kind if u < own else 'ba'['ab'.index(kind)]}{min(int(rng.expovariate(.15)), 39)}")
                elif u < own + other + new:
                    words.append(f"{domain}{min(int(rng.expovariate(.1)), 59)}")
                else:
                    words.append(f"c{rng.randrange(120)}")
            return " ".join(words) + "\n"

        self.write("posts.csv", "text\n" + "".join(text(kind, .35, .05, .2, "s") for kind in "ab" for _ in range(60)))
        self.write("posts.labels", "a\n" * 60 + "b\n" * 60)
        self.write("new.csv", "text\n" + "".join(text("b", .2, .1, .3, "t") for _ in range(60)))
        done = self.run_kindred("transfer", "-v", "--text-column", "text", "--source", "posts.csv", "--labels", "posts.labels", "--target", "new.csv", "-o", "out")
        self.assertIn("classes appear to be absent, so methods based on class means were run again", done.stdout)
        self.assertGreater(self.read("out/target.labels").count("b"), 45)  # of 60; 36 without the second vote

    def test_sources_with_different_classes(self):
        """Each alone has one, and the vote without it is held all the same."""
        rows, classes = self.read("s.csv").split("\n")[:31], self.read("s.labels").split()
        three = [c if i % 3 else "third" for i, c in enumerate(classes)]
        for name, drop in (("a", "odd"), ("b", "third")):
            keep = [i for i, c in enumerate(three) if c != drop]
            self.write(name + ".csv", "\n".join([rows[0]] + [rows[i + 1] for i in keep]) + "\n")
            self.write(name + ".labels", "".join(three[i] + "\n" for i in keep))
        done = self.run_kindred("transfer", "-v", "--source", "a.csv", "--labels", "a.labels", "--source", "b.csv", "--labels", "b.labels",
                                "--target", "t.csv", "-o", "out")
        self.assertIn("only this source has class 'third'", done.stdout)
        self.assertIn("only this source has class 'odd'", done.stdout)

    def test_labels_of_the_wrong_length(self):
        common = ("transfer", "--source", "s.csv", "--target", "t.csv")
        self.fails(*common, "--labels", "truth", code=3, says="truth: 20 labels, but data set source has 30 samples")
        self.fails(*common, "--labels", "s.labels", "--truth", self.write("one", "odd\n"), code=3,
                   says="one: 1 label, but data set target has 20 samples")
        self.fails(*common, "--labels", "s.labels", "--target-labels", "one", code=3, says="1 known label, but data set target has 20 samples")

    def test_nothing_in_common(self):
        """Every method that aligns features refuses a target without the source's, or with almost none of them, also as texts."""
        rng = random.Random(5)
        self.write("other.csv", "p,q\n1,2\n3,1\n2,2\n")
        tables = ["transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "other.csv"]
        self.fails(*tables, code=3, says=["source and target share no column", "--rename", "--features position"])
        methods = json.loads(self.run_kindred("methods", "--json").stdout)
        names = [m.get("called") or m["id"] for m in methods if m["family"] == "transfer"]
        self.assertGreater(len(names), 10)
        for method in names:
            if method not in ("trec", "ttl"):  # trec clusters a target with features of its own, ttl always needs a bridge
                self.fails(*tables, "-m", method, code=3, says="source and target share no column (")
        self.run_kindred(*tables, "-m", "trec", "-o", "out")
        # One vocabulary over texts of two kinds: the columns are the same, but no word occurs in both.
        for name, letter in (("old", "a"), ("new", "b")):
            for kind in range(2):
                os.makedirs(self.path(f"{name}/{'xy'[kind]}"))
                for i in range(8):
                    text = " ".join(f"{letter}{'xy'[kind]}{rng.choice('bcdfghjklmnp')}{rng.choice('bcdfghjk')}" for _ in range(40))
                    self.write(f"{name}/{'xy'[kind]}/{i}.txt", text + "\n")
        texts = ["transfer", "--source", "old", "--target", "new"]
        self.fails(*texts, code=3, says=["share no word", "bridge"])
        self.write("new/x/0.txt", self.read("new/x/0.txt") + " " + self.read("old/x/0.txt").split()[0] + "\n")
        self.fails(*texts, code=3, says="share almost no word (1 of")
        self.fails(*texts, "-m", "svm", code=3, says=["share almost no word"])

    def test_bridges_that_are_not_needed_are_said_so(self):
        done = self.run_kindred("transfer", "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", "--bridge", "s.csv", "-o", "out")
        self.assertIn("bridges are not used", done.stdout + done.stderr)

    def test_auto_is_the_default_and_may_abstain(self):
        """Without -m several classifiers vote; --abstain leaves the least sure without a class."""
        self.run_kindred("generate", "--design", "topics", "--tasks", "2", "-k", "3", "-n", "80", "--words", "300", "-o", "w", "-q")
        args = ["transfer", "-v", "--source", "w/task1.mtx", "--labels", "w/task1.labels", "--target", "w/task2.mtx", "--score"]
        done = self.run_kindred(*args, "-o", "out")
        self.assertIn("a plain SVM would label", done.stdout)
        result = json.loads(self.read("out/result.json"))
        self.assertEqual(result["method"], "auto")
        target = result["tasks"][-1]
        self.assertEqual(len(target["confidence"]), 80)
        self.assertGreater(target["metrics"]["acc"], 0.6)
        self.run_kindred(*args, "--abstain", "0.25", "-o", "less")
        less = json.loads(self.read("less/result.json"))["tasks"][-1]
        self.assertEqual(less["labels"].count("?"), 20)
        self.assertEqual(self.read("less/target.labels").split("\n").count("?"), 20)
        sure = [c for c, l in zip(less["confidence"], less["labels"]) if l != "?"]
        left = [c for c, l in zip(less["confidence"], less["labels"]) if l == "?"]
        self.assertGreaterEqual(min(sure), max(left))
        self.fails(*args, "--abstain", "1.5", "-o", "no", code=2, says=["abstain", "1.5"])
        self.fails(*args, "-m", "svm", "--abstain", "0.5", "-o", "no", code=2, says=["abstain", "svm"])

    def test_rare_class_in_a_table(self):
        """A table in different units with a rare class: clusters of columns without a meaning do not outvote the classifiers."""
        rng = random.Random(3)
        for name, shift in (("a", 0), ("b", .2)):
            rows, classes = [], []
            for _ in range(300):
                size, group = rng.gauss(0, 1), rng.choice((-1, 1))
                classes.append("yes" if abs(size) > 1.5 else "no")
                rows.append(",".join([f"{size + shift:.4f}", *(f"{10 ** j * (group + rng.gauss(0, .5)):.3f}" for j in range(3)), rng.choice("rgb")]))
            self.write(name + ".csv", "size,height,age,income,colour\n" + "\n".join(rows) + "\n")
            self.write(name + ".labels", "\n".join(classes) + "\n")
        right = {}
        for method, more in (("auto", []), ("logreg", ["--scale", "standard"])):
            self.run_kindred("transfer", "-m", method, *more, "--source", "a.csv", "--labels", "a.labels", "--target", "b.csv",
                             "--truth", "b.labels", "-q", "-o", method)
            right[method] = json.loads(self.read(method + "/result.json"))["tasks"][-1]["metrics"]["acc"]
        self.assertGreater(right["auto"], right["logreg"] - .02)
        result = json.loads(self.read("auto/result.json"))
        self.assertIs(result["options"]["tables"], True)
        self.assertIn("random forest", result["method_fields"]["members"])
        self.assertIn("k-means from the classes 0.", result["method_fields"]["excluded.target"])

    def test_a_column_that_the_target_lacks_is_not_zero(self):
        rng = random.Random(2)
        def table(name, columns):
            rows = [{"age": 30 + 15 * (i % 3) + rng.gauss(0, 5), "income": 2000 + 700 * (i % 3) + rng.gauss(0, 300), "score": 50 + 8 * (i % 3) + rng.gauss(0, 5),
                     "plan": rng.choice("ab" if name == "s.csv" else "abc")} for i in range(120)]
            self.write(name, ",".join(["id", *columns, "kind"]) + "\n" + "".join(
                ",".join([f"r{i}", *(str(r[c]) for c in columns), "xyz"[i % 3]]) + "\n" for i, r in enumerate(rows)))
        table("s.csv", ["age", "income", "score", "plan"])
        table("t.csv", ["age", "income", "plan"])
        done = self.run_kindred("transfer", "--source", "s.csv", "--label-column", "kind", "--target", "t.csv", "-o", "out", "-v")
        result = self.result()
        self.assertLess(result["method_fields"]["a_distance.target"], 1)
        self.assertIn("feature 'score' skipped, because not all data sets have it", done.stdout + done.stderr)
        self.assertGreater(result["tasks"][-1]["metrics"]["acc"] if result["tasks"][-1]["metrics"] else 1, .8)
        self.assertNotIn("plan=c", done.stdout + done.stderr)  # a text that the source lacks is no column


if __name__ == "__main__":
    unittest.main()
