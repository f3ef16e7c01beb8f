"""The kind of data that chooses the preprocessing: the same in joint and single runs, and a warning if kinds differ."""
import datetime
import itertools
import math
import os
import random
import unittest
from statistics import NormalDist

from harness import CliTest


class Kinds(CliTest):
    def rows(self, name, rows, features=None):
        head = [features] if features else []
        self.write(name, "".join(",".join(str(v) for v in row) + "\n" for row in itertools.chain(head, rows)))

    def preprocessing(self, *files, k=2):
        """The line of the summary about the preprocessing."""
        text = self.run_kindred("cluster", "-v", "-k", k, "--threads", 1, "-o", "out", "--force", *files).stdout
        return next(line for line in text.splitlines() if line.startswith("preprocessing:"))

    def regions(self, centres):
        """Spending in regions with other means: two kinds of customer, of which the second spends five times as much on
        `fresh` and a fifth on `milk`."""
        random.seed(1)
        for region, (fresh, milk) in centres.items():
            self.rows(region, [(f"{fresh * 5 ** (i % 2) * random.lognormvariate(0, .6):.3f}",
                                f"{milk * 5 ** -(i % 2) * random.lognormvariate(0, .6):.3f}") for i in range(80)],
                      ("fresh", "milk"))

    def test_joint_run_keeps_the_logarithms_of_single_runs(self):
        # Columns of one region differ tenfold, those of both together do not.
        self.regions({"north.csv": (100, 4000), "south.csv": (1100, 400)})
        for files in (["north.csv"], ["south.csv"], ["north.csv", "south.csv"]):
            self.assertIn("2 numbers on a log scale", self.preprocessing(*files), files)
        for name in ("north", "south"):
            found = [int(v) for v in self.read(f"out/{name}.labels").split()]
            right = sum(v == i % 2 for i, v in enumerate(found))
            self.assertGreaterEqual(max(right, 80 - right), 72, name)

    def test_means_of_data_sets_do_not_hide_skewness(self):
        # Spending is skewed in both data sets, but both together have two modes.
        random.seed(4)
        for name, mean, n in (("a.csv", 10, 60), ("b.csv", 400, 100)):
            self.rows(name, [(f"{mean * math.exp(.45 * NormalDist().inv_cdf((i + .5) / n)):.3f}",
                              f"{random.gauss(i % 2 * .3, .03):.3f}") for i in range(n)], ("spent", "score"))
        for files in (["a.csv"], ["b.csv"], ["a.csv", "b.csv"]):
            self.assertIn("1 number on a log scale", self.preprocessing(*files), files)

    def test_dates_with_a_tail_have_a_log_scale(self):
        """Days since the first date, or before the last: a tail on either side makes no clusters of its own, and a model keeps the scale."""
        random.seed(6)
        rows = [[f"{random.gauss(i % 3 * 4, 1):.3f}", f"{random.gauss((i % 3) ** 2 * 300, 90):.1f}", "xyz"[i % 3] if random.random() < .6 else random.choice("xyz")]
                for i in range(240)]
        days = [int(random.gammavariate(.3, 900)) for _ in rows]
        for name, start, sign in (("early.csv", datetime.date(2015, 1, 1), 1), ("late.csv", datetime.date(2024, 6, 30), -1)):
            self.rows(name, [[*row, start + sign * datetime.timedelta(days=d)] for row, d in zip(rows, days)], ("age", "spent", "plan", "since"))
            self.assertIn("1 number on a log scale", self.preprocessing(name, k="auto"), name)
            self.assertEqual(self.result()["tasks"][0]["k"], 3, name)
        self.run_kindred("cluster", "-k", 3, "--save-model", "m.h5", "-o", "out", "--force", "late.csv")
        self.assertEqual(self.run_kindred("predict", "--model", "m.h5", "late.csv").stdout.split(), self.read("out/late.labels").split())

    def abundances(self, samples, taxa, depth, seed=3):
        """Dirichlet-multinomial counts of one depth: few taxa dominate and most counts are zero."""
        random.seed(seed)
        base = [[random.lognormvariate(0, 2) for _ in range(taxa)] for _ in range(2)]
        rows = []
        for i in range(samples):
            share = [random.gammavariate(20 * b / sum(base[i % 2]) + 1e-9, 1) for b in base[i % 2]]
            row = [0] * taxa
            for taxon in random.choices(range(taxa), share, k=depth):
                row[taxon] += 1
            rows.append(row)
        return rows

    def test_counts_of_one_depth_are_relative_abundances(self):
        rows = self.abundances(40, 120, 2000)
        self.rows("even.csv", rows)
        self.assertIn("sqrt; l2", self.preprocessing("even.csv"))
        self.rows("deeper.csv", self.abundances(40, 120, 4000))  # each data set has a depth of its own
        self.assertIn("sqrt; l2", self.preprocessing("even.csv", "deeper.csv"))
        rare = sorted(range(120), key=lambda j: sum(row[j] for row in rows))[:40]  # filtered: nearly one depth
        self.rows("filtered.csv", [[v for j, v in enumerate(row) if j not in rare] for row in rows])
        self.assertIn("sqrt; l2", self.preprocessing("filtered.csv"))
        self.rows("shares.csv", [[f"{v / 2000:.3f}" for v in row] for row in rows])  # rounded shares add up to nearly 1
        self.assertIn("sqrt; l2", self.preprocessing("shares.csv"))
        self.assertIn("sqrt; l2", self.preprocessing("even.csv", "shares.csv"))  # each data set has a total of its own
        self.rows("percent.csv", [[f"{v / 20:.4f}" for v in row] for row in rows])
        self.assertIn("sqrt; l2", self.preprocessing("percent.csv", "shares.csv"))
        uneven = [[v * (2 + i % 3) for v in row] for i, row in enumerate(rows)]
        self.rows("uneven.csv", uneven)
        self.assertIn("cpm; l2", self.preprocessing("uneven.csv"))

    def test_long_texts_are_no_cells(self):
        """Counts with row sums above 1,000 are those of words if most features are named like words, or come from texts."""
        counts = [[v * (2 + i % 3) for v in row] for i, row in enumerate(self.abundances(40, 120, 1000))]
        name = lambda j: "".join("bcdfghjklm"[int(c)] + "a" for c in f"{j:03}")
        for names, kind in (([name(j) for j in range(120)], "word"),  # "bacafa"
                            ([name(j) if j % 4 else str(1900 + j) for j in range(120)], "word"),
                            ([name(j) + " " + name(j + 1) for j in range(120)], "word"),
                            ([name(j).upper() for j in range(120)], "molecule"),
                            ([name(j) + str(1 + j % 9) for j in range(120)], "molecule"),
                            ([name(j).capitalize() for j in range(120)], "molecule")):
            self.rows("counts.csv", counts, names)
            self.assertIn(f"appear to be {kind} counts", self.run_kindred("relate", "counts.csv").stdout, names[:2])
            self.assertIn("sqrt; l2" if kind == "word" else "cpm; l2", self.preprocessing("counts.csv"))
        os.makedirs(self.path("texts"))
        for i in range(24):
            words = [f"{name(random.randrange(60) + 60 * (i % 2))}{random.randrange(9)}" for _ in range(1100 + 100 * (i % 4))]
            self.write(f"texts/{i}.txt", " ".join(words) + "\n")
        self.assertIn("appear to be word counts", self.run_kindred("relate", "texts").stdout)

    def test_counts_beside_fractions_are_reported(self):
        counts = [[v * (2 + i % 3) for v in row] for i, row in enumerate(self.abundances(40, 120, 1000))]
        self.rows("counts.csv", counts, [f"g{j}" for j in range(120)])
        self.rows("shares.csv", [[v / sum(row) for v in row] for row in counts], [f"g{j}" for j in range(120)])
        says = "counts has whole numbers (molecule counts), but shares does not (histograms)"
        for options in ((), ("-m", "kmeans")):
            self.run_kindred("cluster", "-k", 2, "-o", "out", "--force", *options, "counts.csv", "shares.csv")
            self.assertEqual([w for w in self.result()["warnings"] if says in w][0].count("for example counts"), 1)
        for files, options in ((("counts.csv", "copy=counts.csv"), ()), (("counts.csv", "shares.csv"), ("--norm", "l1"))):
            self.run_kindred("cluster", "-k", 2, "-o", "out", "--force", *options, *files)
            self.assertNotIn("whole numbers", str(self.result()["warnings"]))


class Counts(CliTest):
    """Data sets of counts with other genes: a zero is a measurement, so only those that all have are used."""
    def counts(self, name, genes, cells=60):
        draw = random.Random(name)
        lines = ["cell," + ",".join(genes)]
        for i in range(cells):
            depth = draw.uniform(.5, 2)
            lines.append(f"{name}{i}," + ",".join(str(int(draw.expovariate(1) * 30 * depth * (4 if j % 3 == i % 3 else 1))) for j, _ in enumerate(genes)))
        self.write(f"{name}.csv", "\n".join(lines) + "\n")

    def run_two(self, first, second, *more):
        self.counts("p", first)
        self.counts("q", second)
        self.run_kindred("cluster", "-k", 3, "-q", "-o", "out", "--force", *more, "p.csv", "q.csv")
        return self.result()

    def test_genes_that_a_data_set_lacks_are_lost_and_counted(self):
        genes = [f"{'ABCDEFG'[i % 7]}{'XYZUVW'[i % 6]}{'KLM'[i % 5 % 3]}{i}" for i in range(160)]
        for names in (genes, [f"ENSG{i:011d}" for i in range(160)], [f"gene{i}" for i in range(160)]):
            r = self.run_two(names[:150], names[20:])
            self.assertIn("features: intersect (2 data sets, 130 columns)", r["preprocessing"])
            said, = [w for w in r["warnings"] if "features: " in w]
            for text in ("130 kept", "p 20", "q 10", "--features union"):
                self.assertIn(text, said)
            self.assertIn("those that a data set lacks are skipped", self.run_kindred("inspect", "p.csv", "q.csv").stdout)
            r = self.run_two(names[:150], names[20:], "--features", "union")
            self.assertIn("features: union (2 data sets, 160 columns)", r["preprocessing"])
        self.run_two(names[:150], names[20:], "--weight", "cpm")
        self.assertIn("features: intersect", self.result()["preprocessing"])

    def test_other_tables_are_united(self):
        self.write("a.csv", "x,y\n" + "".join(f"{i % 5},{i % 2 * 4 + i % 3}\n" for i in range(30)))
        self.write("b.csv", "x,y,z\n" + "".join(f"{i % 5},{i % 2 * 4 + i % 3},{i % 7}\n" for i in range(30)))
        self.run_kindred("cluster", "-k", 2, "-q", "-o", "out", "a.csv", "b.csv")
        self.assertIn("features: union (2 data sets, 3 columns)", self.result()["preprocessing"])

if __name__ == "__main__":
    unittest.main()
