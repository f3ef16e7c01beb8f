"""Each command compared with the library's call for the same job: same labels, same JSON."""

import json
import os
import re
import subprocess
import unittest

from harness import CliTest

JOBS = os.environ["KINDRED_JOBS"]
# What may differ between two runs of the same.
FREE = ("seconds", "peak_rss_bytes", "command_line", "files")


def told(path):
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    return {name: value for name, value in result.items() if name not in FREE}


class Jobs(CliTest):
    def setUp(self):
        super().setUp()
        self.run_kindred("generate", "--design", "topics", "--tasks", 3, "-k", 3, "-n", "90,50,40", "--words", 300,
                    "--length", 30, "--seed", 4, "-q", "-o", "data")
        self.tasks = [f"data/task{i}.mtx" for i in (1, 2, 3)]

    def library(self, *arguments):
        r = subprocess.run([JOBS, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return r.stdout

    def same(self, command, library, labels):
        self.run_kindred(*command, "-q", "-o", "cli", "--force")
        printed = self.library(*library, "out=lib.json", "samples=lib.samples.csv", "features_to=lib.features.csv")
        self.assertEqual(told(self.path("cli/result.json")), told(self.path("lib.json")))
        with open(self.path(f"cli/{labels}.labels"), encoding="utf-8") as f:
            self.assertEqual(f.read(), printed)
        for cli, lib in ((f"cli/{labels}.samples.csv", "lib.samples.csv"), ("cli/features.csv", "lib.features.csv")):
            self.assertEqual(self.read(cli), self.read(lib))
        return told(self.path("lib.json"))

    def test_cluster_by_itself(self):
        r = self.same(["cluster", "-k", 3, *self.tasks], ["cluster", "k=3", *self.tasks], "task3")
        self.assertEqual(r["data"], "word counts")
        self.assertIn("tfidf; l2", r["preprocessing"])
        for task in r["tasks"]:
            self.assertEqual(len(task["confidence"]), task["n"])
            self.assertEqual([c["size"] for c in task["clusters"]], task["sizes"])
            self.assertTrue(all(c["features"] for c in task["clusters"]))
            self.assertTrue(task["advice"])
        self.assertEqual([len(c["quality"]) for c in r["correspondence"]], [3] * 6)

    def test_cluster_finds_k_for_each(self):
        self.same(["cluster", "-k", "auto,auto", *self.tasks[:2]], ["cluster", "each=1", *self.tasks[:2]], "task2")

    def test_cluster_as_told(self):
        r = self.same(["cluster", "-m", "mbc", "-k", 3, "--weight", "tfidf", "--norm", "l2", "--set", "lambda=0.3", "--score",
                       *self.tasks],
                      ["cluster", "method=mbc", "k=3", "weight=tfidf", "set=lambda:0.3", "score=1", *self.tasks], "task3")
        self.assertEqual(r["options"]["lambda"], 0.3)
        self.assertGreater(r["tasks"][0]["metrics"]["nmi"], 0.5)
        self.assertEqual([len(c["quality"]) for c in r["correspondence"]], [3] * len(r["correspondence"]))

    def test_cluster_pooled_on_learnt_features(self):
        r = self.same(["cluster", "-m", "kmeans", "-k", 3, "--pooled", "--features-from", "msda", *self.tasks],
                      ["cluster", "method=kmeans", "k=3", "pooled=1", "features=msda", *self.tasks], "task3")
        self.assertEqual(r["features_from"]["method"], "msda")
        self.assertEqual(r["data"], "word counts")

    def test_transfer(self):
        r = self.same(["transfer", "--source", self.tasks[0], "--labels", "data/task1.labels", "--target", self.tasks[1],
                       "--truth", "data/task2.labels"],
                      ["transfer", "labels=data/task1.labels", "score=data/task2.labels", "source:" + self.tasks[0],
                       "target:" + self.tasks[1]], "target")
        self.assertEqual(r["data"], "word counts")
        self.assertGreater(r["tasks"][1]["metrics"]["acc"], 0.5)

    def test_quality_and_probabilities(self):
        r = self.same(["cluster", "-m", "kmeans", "-k", 3, "--quality", *self.tasks],
                      ["cluster", "method=kmeans", "k=3", "quality=1", *self.tasks], "task3")
        self.assertEqual([t["quality"]["resamples"] for t in r["tasks"]], [5] * 3)
        r = self.same(["transfer", "-m", "svm", "--source", self.tasks[0], "--labels", "data/task1.labels", "--target", self.tasks[1],
                       "--probabilities"],
                      ["transfer", "method=svm", "labels=data/task1.labels", "probabilities=1", "source:" + self.tasks[0],
                       "target:" + self.tasks[1]], "target")
        self.assertEqual((r["calibration"]["held_out"], len(r["tasks"][1]["probabilities"])), (90, 50))

    def test_transfer_over_the_best_bridge(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", 4, "-k", 3, "-n", "60", "--words", 200, "--seed", 9, "-q",
                    "-o", "more")
        four = [f"more/task{i}.mtx" for i in (1, 2, 3, 4)]
        r = self.same(["transfer", "-m", "nmtf", "--source", four[0], "--labels", "more/task1.labels", "--bridge", four[1],
                       "--bridge", four[2], "--bridge-all", "--target", four[3], "--truth", "more/task4.labels"],
                      ["transfer", "method=nmtf", "every=1", "labels=more/task1.labels", "score=more/task4.labels",
                       "source:" + four[0], "bridge:" + four[1], "bridge:" + four[2], "target:" + four[3]], "target")
        self.assertEqual([b["rank"] for b in r["bridges"]], [0, 1])
        self.assertTrue(all(b["acc"] is not None for b in r["bridges"]))

    def test_relate(self):
        self.run_kindred("relate", "-q", "-o", "cli", *self.tasks)
        self.library("relate", "out=lib.json", *self.tasks)
        r = told(self.path("lib.json"))
        self.assertEqual(told(self.path("cli/result.json")), r)
        self.assertIn("tfidf; l2", r["preprocessing"])

    def test_model_and_predict(self):
        """A model saved by either labels the same, and either can read the other's."""
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--weight", "tfidf", "--norm", "l2", "-q", "-o", "cli", "--save-model",
                    "cli.h5", *self.tasks[:2])
        self.library("cluster", "method=kmeans", "k=3", "weight=tfidf", "save=lib.h5", "page=lib.html", "out=lib.json",
                     *self.tasks[:2])
        by_program = self.run_kindred("predict", "--model", "lib.h5", "--task", "task2", self.tasks[2]).stdout
        self.assertEqual(by_program, self.library("predict", "model=cli.h5", "task=task2", "out=p.json", self.tasks[2]))
        self.assertEqual(by_program.split(), [str(v) for v in told(self.path("p.json"))["tasks"][0]["labels"]])
        self.run_kindred("report", "-q", "-o", "cli.html", "lib.json")
        with open(self.path("cli.html"), encoding="utf-8") as a, open(self.path("lib.html"), encoding="utf-8") as b:
            # The memory in use is looked up anew.
            self.assertEqual(*(re.sub(r"[\d.]+\s[kMG]B", "", page.read()) for page in (a, b)))


if __name__ == "__main__":
    unittest.main()
