"""transfer, end to end: class names out, plain accuracy, and only files that exist are called written."""
import os
import json
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
        self.assertIn("target.labels", done.stdout)

    def test_bad_arguments(self):
        self.fails("transfer", "--source", "s.csv", "--labels", "s.labels", code=2, says="--target")
        self.fails("transfer", "--source", "s.csv", "--target", "t.csv", code=2, says="--labels")
        self.fails("transfer", "--source", "s.csv", "--labels", "truth", "--target", "t.csv", code=3, says=["20", "30"])
        self.fails("transfer", "--source", "s.csv", "--labels", self.write("one", "a\n" * 30), "--target", "t.csv", code=3,
                   says="at least two")


    def test_auto_is_the_default_and_may_abstain(self):
        """Without -m ten classifiers vote; --abstain leaves the least sure without a class."""
        self.run_kindred("generate", "--design", "topics", "--tasks", "2", "-k", "3", "-n", "80", "--words", "300", "-o", "w", "-q")
        args = ["transfer", "--source", "w/task1.mtx", "--labels", "w/task1.labels", "--target", "w/task2.mtx", "--score"]
        done = self.run_kindred(*args, "-o", "out")
        self.assertIn("a plain svm would label", done.stdout)
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


if __name__ == "__main__":
    unittest.main()
