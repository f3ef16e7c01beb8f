"""transfer through bridges: candidates, views, selectors, bad input."""
import json
import os
import random
import unittest

from harness import CliTest


class Bridge(CliTest):
    """Words 0-9 are the source's alone, 20-29 the target's alone; odd words belong to one class, even ones to the other."""

    def setUp(self):
        super().setUp()
        for seed, (name, low, high) in enumerate((("s", 0, 20), ("t", 10, 30), ("near", 0, 30), ("far", 0, 30))):
            self.make(name, low, high, seed, 4 if name == "far" else 0)

    def make(self, name, low, high, seed, noise):
        rng = random.Random(seed)
        words, labels, rows = [f"w{j}" for j in range(low, high)], [], []
        for i in range(60):
            c = rng.randrange(2)
            labels.append("odd" if c else "even")
            row = [int(rng.random() < (.5 if j % 2 == c else .05)) for j in range(low, high)]
            rows.append([v + (noise if j % 7 == 0 else 0) for j, v in enumerate(row)])
        self.write(name + ".csv", ",".join(words) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
        self.write(name + ".labels", "\n".join(labels) + "\n")

    def transfer(self, *more, method="ttl", code=0):
        return self.run_kindred("transfer", "-m", method, "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv",
                                "--set", "p1=4", "--set", "p2=3", *more, code=code)

    def refuses(self, *more, code, says, method="ttl"):
        self.fails("transfer", "-m", method, "--source", "s.csv", "--labels", "s.labels", "--target", "t.csv", *more, code=code,
                   says=says)

    def test_one_bridge(self):
        for method in ("ttl", "nmtf"):
            text = self.transfer("--bridge", "near.csv", "--truth", "t.labels", "-v", "-o", "out", "--force", method=method).stdout
            r = self.result()
            self.assertEqual([t["name"] for t in r["tasks"]], ["source", "bridge", "target"])
            self.assertGreater(r["tasks"][2]["metrics"]["acc"], 0.9)
            self.assertTrue({"bridge.labels", "target.labels"} <= set(os.listdir(self.path("out"))))
            self.assertNotIn("bridges", r)
            self.assertIn("features shared with the target", text)
            clusters = r["feature_clusters"]
            self.assertEqual(len(clusters), 8 if method == "ttl" else 4)
            self.assertTrue(all(c["class"] in ("odd", "even") and c["features"][0].startswith("w") for c in clusters))
        self.assertGreater(len(r["objective"]), 1)
        self.assertIn("objective_start", r["method_fields"])

    def test_sweeps_are_a_rule_unless_a_tolerance_is_asked_for(self):
        for method in ("ttl", "nmtf"):
            text = self.transfer("--bridge", "near.csv", "--strict", "-v", "-o", "out", "--force", method=method).stdout
            self.assertIn("ran 20 iterations", text)
            self.assertNotIn("converged", text)
            self.assertEqual((self.result()["stop"], self.result()["complete"]), ("max_iter", True))
            self.transfer("--bridge", "near.csv", "--strict", "--set", "tol=1e-12", "-o", "out", "--force", method=method, code=5)
            self.assertIs(self.result()["complete"], False)

    def test_candidates_are_ranked_by_what_comes_back(self):
        text = self.transfer("--bridge", "far.csv", "--bridge", "near.csv", "--truth", "t.labels", "-o", "out").stdout
        r = self.result()
        best, other = r["bridges"]
        self.assertEqual([t["name"] for t in r["tasks"]], ["source", best["name"], "target"])
        self.assertEqual([(b["rank"], b["chosen"]) for b in r["bridges"]], [(0, True), (1, False)])
        self.assertIn("chosen bridge: %s (%.1f %% of the source's classes are recovered" % (best["name"], 100 * best["back"]), text)
        self.assertGreaterEqual(best["back"], other["back"])
        self.assertTrue(all(b["score"] == b["back"] and b["acc"] is not None for b in r["bridges"]))
        self.assertEqual(best["acc"], r["tasks"][2]["metrics"]["acc"])
        self.transfer("--bridge", "far.csv", "--bridge", "near.csv", "--truth", "t.labels", "--bridge-all", "-o", "all")
        self.assertEqual(self.result("all/result.json")["tasks"], r["tasks"])

    def test_a_bridge_that_swaps_the_classes_is_not_taken(self):
        """One whose words of the source and of the target mean opposite things carries no class back."""
        rng = random.Random(9)
        rows = []
        for i in range(60):
            c = rng.randrange(2)
            rows.append([int(rng.random() < (.5 if (j % 2 == c) != (j >= 10 and rng.random() < .5) else .05)) for j in range(30)])
        self.write("muddle.csv", ",".join(f"w{j}" for j in range(30)) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
        r = self.transfer("--bridge", "muddle.csv", "--bridge", "near.csv", "-o", "out")
        self.assertEqual([b["name"] for b in self.result()["bridges"]], ["near", "muddle"])

    def test_two_views(self):
        lines = [line.split(",") for line in self.read("near.csv").splitlines()]
        self.write("v1.csv", "".join(",".join(line[:20]) + "\n" for line in lines))
        self.write("v2.csv", "".join(",".join(line[10:]) + "\n" for line in lines))
        self.transfer("--bridge", "v1.csv,v2.csv", "--truth", "t.labels", "-o", "out")
        r = self.result()
        self.assertEqual([(t["name"], t["d"]) for t in r["tasks"]],
                         [("source", 20), ("bridge", 20), ("bridge-view2", 20), ("target", 20)])
        self.assertGreater(r["tasks"][3]["metrics"]["acc"], 0.9)
        self.transfer("--bridge", "v1.csv,v2.csv", "--bridge", "v1.csv,v2.csv", "-o", "x", code=2)  # two tasks of one name
        self.refuses("--bridge", "v1.csv,v2.csv", "--bridge", "near.csv", code=2, says="for all of them, or for none")
        self.refuses("--bridge", "v1.csv,v2.csv,near.csv", code=2, says="two views")
        self.refuses("--bridge", "v1.csv,v2.csv", code=2, says="two views", method="svm")

    def test_auto_goes_through_bridges_where_features_differ(self):
        lines = [line.split(",") for line in self.read("near.csv").splitlines()]
        self.write("v1.csv", "".join(",".join(line[:20]) + "\n" for line in lines))
        self.write("v2.csv", "".join(",".join(line[10:]) + "\n" for line in lines))
        target = [line.split(",") for line in self.read("t.csv").splitlines()]
        self.write("apart.csv", "".join(",".join(line[10:]) + "\n" for line in target))  # no word of the source
        for bridge, target in (("v1.csv,v2.csv", "t.csv"), ("near.csv", "apart.csv")):
            done = self.run_kindred("transfer", "-v", "--source", "s.csv", "--labels", "s.labels", "--target", target, "--bridge", bridge,
                                    "--truth", "t.labels", "-o", "out", "--force")
            r = self.result()
            members = r["method_fields"]["members"]
            self.assertEqual(r["method"], "auto")
            self.assertIn("ttl through", members)
            self.assertIn("nmtf through", members)
            self.assertNotIn("svm", members)
            task = [t for t in r["tasks"] if t["name"] == "target"][0]
            self.assertGreater(task["metrics"]["acc"], 0.75, members)
            self.assertEqual(len(task["confidence"]), 60)
            self.assertIn("ttl through", done.stdout)

    def test_known_target_rows_stay(self):
        wrong = ["odd" if c == "even" else "even" for c in self.read("t.labels").split()]
        self.write("known", "\n".join(wrong[:5] + ["?"] * 55) + "\n")
        self.transfer("--bridge", "near.csv", "--target-labels", "known", "-o", "out")
        self.assertEqual(self.read("out/target.labels").split()[:5], wrong[:5])

    def test_selector(self):
        for name in ("s", "t"):  # one vocabulary
            self.make(name, 0, 30, len(name) + ord(name), 0)
        args = [w for n in ("s", "t", "near", "far") for w in ("--source", n + ".csv", "--labels", n + ".labels")]
        done = self.run_kindred("transfer", "--train-selector", "sel.json", *args, code=None)
        if done.returncode == 0:
            self.assertIn("triples", done.stdout)
        else:  # on so little data it may be that no bridge helps, or all do
            self.assertEqual(done.returncode, 3)
            self.assertIn("nothing can be learned", done.stderr)
        self.write("sel.json", json.dumps({"kind": "selector", "beta": [0, 0, 0, 0, 1, 0, 1]}))
        text = self.transfer("--bridge", "far.csv", "--bridge", "near.csv", "--selector", "sel.json", "-o", "out").stdout
        self.assertIn("probability", text)
        ranked = self.result()["bridges"]
        self.assertEqual(ranked[0]["name"], "far")
        self.assertEqual([b["back"] for b in ranked], [None, None])  # the selector decides, one is fitted
        self.refuses("--bridge", "near.csv", "--selector", "sel.json", code=2, says="several --bridge")
        for bad in ("{", "[]", '{"kind": "selector", "beta": [1]}', '{"beta": [0, 0, 0, 0, 1, 0, 1]}'):
            self.write("bad.json", bad)
            self.refuses("--bridge", "near.csv", "--bridge", "far.csv", "--selector", "bad.json", code=3, says="bad.json")
        self.fails("transfer", "--source", "s.csv", "--labels", "s.labels", "--train-selector", "x.json", code=2, says="three or more")

    def test_bad_input(self):
        self.refuses(code=2, says="needs a data set between")
        self.write("other.csv", "z\n" + "1\n" * 60)
        self.refuses("--bridge", "other.csv", code=3, says="the bridge has no feature in common with the source")
        self.write("half.csv", "w3\n" + "1\n" * 60)
        self.refuses("--bridge", "half.csv", code=3, says="the target has no feature in common with the bridge")
        header, rest = self.read("near.csv").split("\n", 1)
        self.write("neg.csv", header + "\n" + rest.replace("1", "-1", 1))
        self.refuses("--bridge", "neg.csv", code=3, says=["bridge", "-1"])
        self.write("t.csv", "w12,w13\n" + "0,0\n" * 60)
        self.refuses("--bridge", "near.csv", code=3, says="the target: all values are zero")
        self.write("s.labels", "odd\n" * 60)
        self.refuses("--bridge", "near.csv", code=3, says="at least two")


if __name__ == "__main__":
    unittest.main()
