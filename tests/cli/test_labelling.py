"""Samples least like the source, samples for a person to label, and the labels given back."""
import csv
import os
import random
import unittest

from harness import CliTest


def rows(path, delimiter=","):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter=delimiter))


class Labelling(CliTest):
    COMMON = ["transfer", "--source", "s.csv", "--label-column", "kind", "--target", "t.csv", "--id-column", "name", "--force", "-o", "out"]

    def setUp(self):
        super().setUp()
        rng = random.Random(4)
        means = {"low": (0, 0, 0), "mid": (2, 2, 0), "new": (0, 9, 9)}
        def table(path, counts, shift):
            with open(self.path(path), "w", newline="", encoding="utf-8") as f:
                w = csv.writer(f)
                w.writerow(["name", "x", "y", "z", "kind"])
                at = 0
                for kind, count in counts:
                    for _ in range(count):
                        w.writerow([f"{path[0]},{at}"] + [round(m + shift + rng.gauss(0, 1), 3) for m in means[kind]] + [kind])
                        at += 1
        table("s.csv", [("low", 40), ("mid", 40)], 0)
        table("t.csv", [("low", 30), ("mid", 30), ("new", 12)], .3)

    def answer(self, name, classes=None, delimiter=","):
        """Fills in a file as a person would; returns how many classes."""
        path, given = self.path(name), 0
        truth = [r["kind"] for r in rows(self.path("t.csv"))]
        table = rows(path)
        for r in table:
            r["class"] = (classes or (lambda k: k if k != "new" else ""))(truth[int(r["row"]) - 1])
            given += r["class"] != ""
        with open(path, "w", newline="", encoding="utf-8") as f:
            w = csv.DictWriter(f, list(table[0]), delimiter=delimiter)
            w.writeheader()
            w.writerows(table)
        return given

    def test_least_like_the_source(self):
        done = self.run_kindred(*self.COMMON, "-v")
        target, found = self.result()["tasks"][-1], rows(self.path("out/target.samples.csv"))
        self.assertEqual(list(found[0]), ["id", "class", "confidence", "second", "unlike_source", "target_cluster"])
        unlike = [float(r["unlike_source"]) for r in found]
        self.assertEqual(unlike, target["unlike_source"])
        self.assertEqual([int(r["target_cluster"]) for r in found], target["target_cluster"])
        self.assertTrue(all(0 <= u <= 1 for u in unlike))
        self.assertGreater(min(unlike[60:]), .8)  # the class that the source lacks
        clusters = target["least_like_source"]
        self.assertLessEqual(len(clusters), 10)
        means = [c["mean_unlike_source"] for c in clusters]
        self.assertEqual(means, sorted(means, reverse=True))
        first = [i for i, c in enumerate(target["target_cluster"]) if c == clusters[0]["target_cluster"]]
        self.assertEqual(len(first), clusters[0]["size"])
        self.assertAlmostEqual(sum(unlike[i] for i in first) / len(first), means[0])
        self.assertIn(clusters[0]["class"], ("low", "mid"))
        self.assertIn("target: clusters least like the source", done.stdout)
        self.assertNotIn("new class", done.stdout)
        self.assertNotIn("unlike_source", self.result()["tasks"][0])
        # another method has no such column
        self.run_kindred(*self.COMMON, "-m", "svm")
        self.assertEqual(list(rows(self.path("out/target.samples.csv"))[0]), ["id", "class", "confidence", "second"])

    def test_nothing_is_claimed_about_absent_classes(self):
        done = self.run_kindred(*self.COMMON)
        target = self.result()["tasks"][-1]
        self.assertNotIn("may belong to a class", done.stdout)
        self.assertEqual(target["agreement"], target["confidence"])  # which nothing lowers

    def test_known_classes_by_id(self):
        self.write("some.csv", 'name,kind\n"t,3",mid\n"t,40",low\n"t,41",mid\n')
        self.run_kindred(*self.COMMON, "--target-labels", "some.csv")
        classes = [r["class"] for r in rows(self.path("out/target.samples.csv"))]
        self.assertEqual([classes[i] for i in (3, 40, 41)], ["mid", "low", "mid"])
        self.write("some.csv", '"t,3",mid\n"x,40",low\n')
        self.fails(*self.COMMON, "--target-labels", "some.csv", code=3, says="no sample has the id 'x,40'")

    def test_rounds_of_questions(self):
        done = self.run_kindred(*self.COMMON, "--ask", 8)
        self.assertIn(", *.ask.csv\nnext: fill in the column 'class'", done.stdout)
        asked = rows(self.path("out/target.ask.csv"))
        self.assertEqual(list(asked[0]), ["row", "id", "class", "suggested", "second", "margin", "confidence", "target_cluster",
                                          "name", "x", "y", "z", "kind"])
        self.assertEqual(len(asked), 8)
        table = rows(self.path("t.csv"))
        target = self.result()["tasks"][-1]
        self.assertEqual([int(r["row"]) - 1 for r in asked], target["ask"])
        for r in asked:
            row = int(r["row"]) - 1
            self.assertEqual({c: r[c] for c in ("name", "x", "y", "z", "kind")}, table[row])
            self.assertEqual((r["id"], r["class"], r["suggested"], r["second"]), (table[row]["name"], "", target["labels"][row], target["second"][row]))
        os.rename(self.path("out/target.ask.csv"), self.path("one.csv"))
        self.fails(*self.COMMON, "--target-labels", "one.csv", code=3, says=["one.csv", "no class is filled in"])
        given = self.answer("one.csv", delimiter=";")  # as some spreadsheets save it
        self.run_kindred(*self.COMMON, "--target-labels", "one.csv", "--ask", 8)
        again = rows(self.path("out/target.ask.csv"))
        kept = {r["row"] for r in rows(self.path("one.csv"), ";") if r["class"]}
        self.assertEqual(len(kept), given)
        self.assertFalse(kept & {r["row"] for r in again})
        os.rename(self.path("out/target.ask.csv"), self.path("two.csv"))
        self.answer("two.csv")
        self.run_kindred(*self.COMMON, "--target-labels", "one.csv", "--target-labels", "two.csv")
        labels = self.read("out/target.labels").split("\n")
        for r in rows(self.path("two.csv")):
            if r["class"]:
                self.assertEqual(labels[int(r["row"]) - 1], r["class"])

    def test_texts_and_matrices_are_shown(self):
        for kind in ("ball", "vote"):
            os.makedirs(self.path(f"a/{kind}"))
            os.makedirs(self.path(f"b/{kind}"))
            for i in range(12):
                for folder in "ab":
                    self.write(f"{folder}/{kind}/{i}.txt", f"{kind} {kind} the of word{i % 4} and {folder}{i % 3}\n")
        self.run_kindred("transfer", "--source", "a", "--target", "b", "--ask", 3, "-o", "texts")
        asked = rows(self.path("texts/target.ask.csv"))
        self.assertEqual(len(asked), 3)
        self.assertTrue(all("ball ball" in r["text"] or "vote vote" in r["text"] for r in asked))
        rng = random.Random(2)
        for name in "st":
            self.write(name + ".svm", "".join(f"{i % 2} {1 + i % 2}:{9 + rng.random()} 3:{rng.random()}\n" for i in range(20)))
        self.run_kindred("transfer", "--source", "s.svm", "--target", "t.svm", "--ask", 2, "-o", "matrix")
        self.assertTrue(all(r["strongest_features"] for r in rows(self.path("matrix/target.ask.csv"))))

    def test_what_cannot_be_asked(self):
        for n in ("0", "-3", "ten", "1.5", ""):
            self.fails(*self.COMMON, f"--ask={n}", code=2, says=["--ask", "use a whole number, 1 or larger"])
        self.fails(*self.COMMON, "--ask", 73, code=2, says=["ask is 73", "target", "72 samples"])
        self.fails(*self.COMMON, "--ask", 5, "-m", "svm", code=2, says=["--ask", "svm", "not available with method"])
        self.fails(*self.COMMON[:-3], "--ask", 5, code=2, says="--ask needs -o DIR")
        os.makedirs(self.path("full"), exist_ok=True)
        self.write("full/target.ask.csv", "mine\n")
        self.fails(*self.COMMON[:-3], "-o", "full", "--ask", 5, code=2, says="target.ask.csv")
        self.assertEqual(self.read("full/target.ask.csv"), "mine\n")

    def test_answers_that_do_not_fit(self):
        head = "row,id,class\n"
        for text, says in (("73,x,low\n", "row '73' is not one of the 72 samples"), ("0,x,low\n", "row '0'"), ("one,x,low\n", "row 'one'"),
                           ('5,"t,9",low\n', "the file belongs to other data"), ('5,"t,4",low\n5,"t,4",mid\n', "two classes"),
                           ('5,"t,4",new\n', "no source has the class 'new'"), ("5\n", "expected row, id and class")):
            self.write("bad.csv", head + text)
            self.fails(*self.COMMON, "--target-labels", "bad.csv", code=3, says=says)
        self.write("plain", "?\n" * 72)
        self.write("good.csv", head + '5,"t,4",low\n')
        self.fails(*self.COMMON, "--target-labels", "good.csv", "--target-labels", "plain", code=3, says=["plain", "row, id and class"])
        self.fails(*self.COMMON, "--target-labels", "good.csv", "--ask", 72, code=2, says="71 samples without a known class")


if __name__ == "__main__":
    unittest.main()
