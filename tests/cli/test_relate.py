"""relate: measures of tasks and pairs."""
import json
import unittest

from harness import CliTest


class Relate(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", "x,y,z\n1,0,2\n2,1,0\n1,1,1\n0,2,1\n3,0,0\n1,2,1\n")
        self.write("b.csv", "y,z,w\n9,1,8\n8,0,9\n9,1,9\n8,2,8\n9,1,7\n7,0,9\n")

    def test_table(self):
        text = self.run_kindred("relate", "a.csv", "b.csv").stdout
        self.assertRegex(text, r"\na +6 +3 ")
        self.assertRegex(text, r"\na +b +2 +0\.500 +2\.000 ")
        self.assertIn("MMD gaussian", text)
        self.assertNotIn("MMD", self.run_kindred("relate", "--no-mmd", "a.csv", "b.csv").stdout)

    def test_a_stop_in_the_last_pair(self):
        text = self.fails("relate", "--time-limit", "0.000001", "a.csv", "b.csv", code=4, says="stopped at the time limit in pair 1 of 1")
        self.assertNotIn("after", text)

    def test_json_and_output_are_the_same(self):
        printed = json.loads(self.run_kindred("relate", "--json", "one=a.csv", "b.csv").stdout)
        self.run_kindred("relate", "-q", "-o", "out", "one=a.csv", "b.csv")
        self.assertEqual(printed, self.result())
        self.assertEqual([t["name"] for t in printed["tasks"]], ["one", "b"])
        (pair,) = printed["pairs"]
        self.assertEqual((pair["from"], pair["to"], pair["shared_features"]), ("one", "b", 2))
        self.assertEqual(pair["a_distance"], 2)
        for key in ("overlap", "mmd_linear", "mmd_gaussian", "bandwidth"):
            self.assertGreater(pair[key], 0)
        self.fails("relate", "-o", "out", "a.csv", "b.csv", code=2, says="--force")
        self.run_kindred("relate", "-o", "out", "--force", "a.csv", "b.csv")
        self.assertEqual(self.leftovers(), [])

    def test_data_sets_without_a_common_feature_are_not_compared(self):
        """The zeros that stand for the columns of the other made them alike."""
        self.write("c.csv", "p,q\n1,2\n3,4\n5,7\n2,2\n4,1\n6,6\n")
        relation = json.loads(self.run_kindred("relate", "--json", "a.csv", "b.csv", "c.csv").stdout)
        for pair in relation["pairs"]:
            apart = "c" in (pair["from"], pair["to"])
            self.assertEqual(pair["shared_features"] == 0, apart)
            self.assertEqual((pair["nearness"], pair["apart"], pair["apart_back"]) == (0, 1, 1), apart, pair)
        advice = [task["advice"] for task in relation["tasks"]]
        self.assertIn("c: has no feature in common with the other data sets", advice[2])
        self.assertNotIn("no feature in common", advice[0] + advice[1])

    def test_features_that_differ_most(self):
        """The standardised mean differences of numpy, of columns that both have and of columns that one has."""
        rows = {name: [list(map(float, line.split(","))) for line in self.read(name + ".csv").split()[1:]] for name in "ab"}
        a = {"x": [r[0] for r in rows["a"]], "y": [r[1] for r in rows["a"]], "z": [r[2] for r in rows["a"]], "w": [0] * 6}
        b = {"x": [0] * 6, "y": [r[0] for r in rows["b"]], "z": [r[1] for r in rows["b"]], "w": [r[2] for r in rows["b"]]}
        def mean(v):
            return sum(v) / len(v)
        def variance(v):
            return mean([(x - mean(v)) ** 2 for x in v])
        want = {n: (mean(b[n]) - mean(a[n])) / ((variance(a[n]) + variance(b[n])) / 2 + (mean(b[n]) - mean(a[n])) ** 2 / 4) ** .5 for n in a}
        for how in ([], ["--scale", "standard"]):
            (pair,) = json.loads(self.run_kindred("relate", "--json", *how, "a.csv", "b.csv").stdout)["pairs"]
            got = {d["feature"]: d["difference"] for d in pair["differences"]}
            self.assertEqual(list(got), sorted(got, key=lambda n: -abs(got[n])))
            self.assertEqual(set(got), {n for n in want if abs(want[n]) > 1e-9})
            for name in got:
                self.assertAlmostEqual(got[name], want[name], 9)
        self.assertRegex(self.run_kindred("relate", "a.csv", "b.csv").stdout, r"\n  a, b: w \(1\.\d\d higher in b\), y \(")
        # Sparse matrices, the same; at most five.
        entries = lambda m: "".join(f"{i + 1} {j + 1} {v}\n" for i, row in enumerate(m) for j, v in enumerate(row) if v)
        m = [[[i % 3 + (j == t) * 4 + (i * j) % 2 for j in range(8)] for i in range(6)] for t in range(2)]
        for name, rows in zip(("p", "q"), m):
            self.write(name + ".mtx", "%%MatrixMarket matrix coordinate real general\n6 8 " + f"{sum(v != 0 for r in rows for v in r)}\n" + entries(rows))
            self.write(name + ".csv", "".join(",".join(map(str, r)) + "\n" for r in rows))
        found = [json.loads(self.run_kindred("relate", "--json", "--weight", "none", f"p.{e}", f"q.{e}").stdout)["pairs"][0]["differences"]
                 for e in ("mtx", "csv")]
        self.assertEqual([d["feature"] for d in found[0]], ["x1", "x2"])
        for one, other in zip(*found):
            self.assertAlmostEqual(one["difference"], other["difference"], 9)

    def test_one_task_and_one_sample(self):
        self.write("c.csv", "x,y,z\n1,2,3\n")
        self.assertEqual(json.loads(self.run_kindred("relate", "--json", "a.csv").stdout)["pairs"], [])
        (pair,) = json.loads(self.run_kindred("relate", "--json", "a.csv", "c.csv").stdout)["pairs"]
        self.assertIsNone(pair["a_distance"])
        self.assertRegex(self.run_kindred("relate", "a.csv", "c.csv").stdout, r"\na +c +3 +1\.000 +- ")

    def test_missing_values_as_cluster(self):
        """relate and embed accept the missing values that cluster accepts, prepare tables like it, and refuse the rest with the same message."""
        for name, shift in (("north", 0), ("south", 5)):
            self.write(name + ".csv", "income,plan,since\n" + "".join(
                f"{'' if i % 7 == shift else 1000 * (i % 3) + 13 * i + shift},{['basic', 'pro', ''][i % 3]},{'' if i % 9 == 2 else f'201{i % 3}-0{1 + i % 8}-11'}\n"
                for i in range(30 + shift)))
        self.run_kindred("cluster", "-k", 3, "-o", "out", "north.csv", "south.csv")
        done = json.loads(self.run_kindred("relate", "--json", "north.csv", "south.csv").stdout)
        self.assertEqual(done["preprocessing"], self.result()["preprocessing"])
        self.assertEqual(done["pairs"][0]["overlap"], 1)
        self.assertTrue(0 <= done["pairs"][0]["a_distance"] <= 2)
        rows = self.run_kindred("embed", "north.csv", "south.csv").stdout.splitlines()
        self.assertEqual(len(rows), 1 + 30 + 35)
        self.assertNotIn("nan", "".join(rows))
        self.write("plain.csv", "x,y\n" + "".join(f"{i % 3},{'' if i == 4 else i % 5}\n" for i in range(20)))
        refused = [self.fails(*args, "plain.csv", code=3, says="column 'y' has 1 missing value") for args in (["cluster", "-k", 2], ["relate"], ["embed"])]
        self.assertEqual(len(set(refused)), 1)

    def test_misuse(self):
        self.fails("relate", code=2, says="needs at least one")
        self.fails("relate", "--rare", "2", "a.csv", code=2, says=["rare", "2"])
        self.fails("relate", "--folds", "1", "a.csv", code=2, says=["folds", "1"])
        self.fails("relate", "none.csv", code=3, says="none.csv")
        self.write("wide.npy", b"")
        self.fails("relate", "a.csv", "wide.npy", code=3, says="wide.npy")


if __name__ == "__main__":
    unittest.main()
