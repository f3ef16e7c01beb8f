"""Tables of numbers and categories: regional customer tables with known segments, clustered and scored."""
import datetime
import json
import random
import unittest

from harness import CliTest

REGIONS = ("north", "south", "east", "west")
CITIES = ("Rome", "Oslo", "Bern", "Wien")


def customers(region, n, seed, missing=0.03):
    """Rows of one region and their segments: income is skewed, branches are noise that only the north has."""
    draw = random.Random(seed)
    rows, segments = [], []
    for i in range(n):
        s = draw.choices((0, 1, 2), (5, 3, 2) if region in ("north", "east") else (2, 3, 5))[0]
        row = {"customer": "C%05d" % (1000 * seed + i),
               "income": round(draw.lognormvariate((3.0, 3.9, 4.8)[s], 0.25) * 1000),
               "age": round(draw.gauss((28, 45, 62)[s], 6)),
               "visits": draw.randint(0, (4, 9, 20)[s]),
               "newsletter": "yes" if draw.random() < (.9, .5, .1)[s] else "no",
               "plan": draw.choices(("basic", "plus", "gold"), ((8, 1, 1), (1, 8, 1), (1, 1, 8))[s])[0],
               "city": draw.choice(CITIES),
               "since": str(datetime.date(2015, 1, 1) + datetime.timedelta(draw.randint(0, 3000)))}
        if region == "north":
            row["branch"] = "B%d" % draw.randint(1, 9)
        for name in ("income", "age", "plan"):
            if draw.random() < missing:
                row[name] = ""
        rows.append(row)
        segments.append(s)
    return rows, segments


def text(rows):
    names = list(rows[0])
    return "\n".join([",".join(names)] + [",".join(str(r[c]) for c in names) for r in rows]) + "\n"


def rand_index(a, b):
    """Adjusted Rand index."""
    pairs = lambda counts: sum(c * (c - 1) / 2 for c in counts)
    table, rows, columns = {}, {}, {}
    for x, y in zip(a, b):
        table[x, y] = table.get((x, y), 0) + 1
        rows[x] = rows.get(x, 0) + 1
        columns[y] = columns.get(y, 0) + 1
    chance = pairs(rows.values()) * pairs(columns.values()) / pairs([len(a)])
    most = (pairs(rows.values()) + pairs(columns.values())) / 2
    return (pairs(table.values()) - chance) / (most - chance)


class Mixed(CliTest):
    def setUp(self):
        super().setUp()
        self.truth = {}
        for i, region in enumerate(REGIONS):
            rows, self.truth[region] = customers(region, 150 + 50 * i, i + 1)
            self.write(region + ".csv", text(rows))
        self.files = [r + ".csv" for r in REGIONS]

    def labels(self, region, folder="out"):
        return [int(x) for x in self.read(f"{folder}/{region}.labels").split()]

    def rand(self, region, folder="out"):
        return rand_index(self.labels(region, folder), self.truth[region])

    def test_regions_are_clustered_by_segment_not_by_branch(self):
        done = self.run_kindred("cluster", "-v", "-k", 3, "--id-column", "customer", "-o", "out", *self.files)
        for region in REGIONS:
            self.assertGreater(self.rand(region), .75, region)
        self.assertIn("treated as a table: 4 numbers, 1 yes/no, 3 categories; 1 number on a log scale", done.stdout)
        result = self.result()
        self.assertEqual(result["method_fields"]["shared_segments"], 1)
        # one number means one segment in all regions
        names = {}
        for region in REGIONS:
            for label, segment in zip(self.labels(region), self.truth[region]):
                names.setdefault(label, []).append(segment)
        for segments in names.values():
            self.assertGreater(max(segments.count(s) for s in set(segments)) / len(segments), .8)

    def test_alone_and_together(self):
        self.run_kindred("cluster", "-q", "-k", 3, "--no-transfer", "-o", "out", *self.files)
        self.assertNotIn("shared_segments", self.result()["method_fields"])
        self.assertGreater(self.rand("west"), .7)
        self.run_kindred("cluster", "-k", 3, "-o", "one", "west.csv")
        self.assertNotIn("advice", self.result("one/result.json")["tasks"][0])

    def test_models_score_new_customers(self):
        self.run_kindred("cluster", "-q", "-k", 3, "-o", "out", "--save-model", "m.h5", *self.files)
        self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "south", "-o", "again", "south.csv")
        again = [int(x) for x in self.read("again").split()]
        self.assertGreater(rand_index(again, self.labels("south")), .85)
        rows, segments = customers("south", 200, 77)
        rows[0]["city"] = "Lima"  # nobody has seen it
        for row in rows:
            del row["visits"]
        self.write("new.csv", text(rows))
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "south", "-o", "scored", "new.csv")
        self.assertRegex(done.stderr, "'visits'.* which the model was fitted on: treated as missing")
        self.assertIn("fitted on: 'city=Lima'; such values are treated as missing", done.stderr)
        self.assertGreater(rand_index([int(x) for x in self.read("scored").split()], segments), .7)

    def test_a_first_line_that_repeats_names_is_a_header(self):
        """Texts only: the file itself does not show whether its first line is a header."""
        self.write("source.csv", "colour,shape,kind\n" + "red,round,a\nblue,square,b\n" * 6)
        self.write("target.csv", "colour,shape\nred,round\nblue,square\nred,round\n")
        self.run_kindred("transfer", "-m", "logreg", "--source", "source.csv", "--label-column", "kind", "--target", "target.csv", "-o", "out")
        self.assertEqual(self.read("out/target.labels").split(), ["a", "b", "a"])
        self.write("numbers.csv", "colour,shape,size\n" + "red,round,1\nblue,square,2.5\n" * 6)
        for order in (("target.csv", "numbers.csv"), ("numbers.csv", "target.csv")):
            self.run_kindred("cluster", "-m", "kmeans", "-k", 2, "-o", "out", "--force", *order)
            self.assertEqual({t["name"]: t["n"] for t in self.result()["tasks"]}, {"target": 3, "numbers": 12})

    def test_k_is_found(self):
        done = self.run_kindred("cluster", "-k", "auto", "-o", "out", *self.files)
        self.assertRegex(done.stdout, r"k = 3: [a-z ]+, right for \d\d % of the [a-z]+ test tables \(repeated clusterings agree by")

    def test_columns_that_say_nothing_about_each_other_are_noise(self):
        """Generated tables, and the same with every column in another order."""
        for seed, k in ((1, 3), (5, 4)):
            self.run_kindred("generate", "--design", "tables", "--tasks", 1, "-k", k, "-n", 200, "--seed", seed, "-q", "-o", "in", "--force")
            head, *rows = [line.split(",") for line in self.read("in/task1.csv").split("\n")[:-1]]
            columns, draw = [list(c) for c in zip(*rows)], random.Random(seed)
            for column in columns:
                draw.shuffle(column)
            self.write("noise.csv", "\n".join(",".join(row) for row in (head, *zip(*columns))) + "\n")
            for name, noise in (("in/task1.csv", False), ("noise.csv", True)):
                self.run_kindred("cluster", "-q", "-k", k, "-o", "out", "--force", name)
                self.assertEqual(any("no clearer than those of random data" in w for w in self.result()["warnings"]), noise, (seed, name))

    def test_the_mixture_is_a_method(self):
        for more in ([], ["--pooled"], ["--set", "covariance=own"]):
            self.run_kindred("cluster", "-q", "-m", "mixture", *more, "-k", 3, "-o", "out", "--force", "--save-model", "m.h5",
                             *self.files)
            self.assertGreater(self.rand("west"), .6, more)
            objective = self.result()["objective"]
            self.assertTrue(all(b <= a + 1e-9 * abs(a) for a, b in zip(objective, objective[1:])), more)
            self.run_kindred("predict", "-q", "--model", "m.h5", "--task", "west", "-o", "again", "--force", "west.csv")
            self.assertEqual(self.read("again"), self.read("out/west.labels"), more)

    def test_the_answer_does_not_depend_on_threads(self):
        for threads in (1, 3):
            self.run_kindred("cluster", "-q", "-k", 3, "--threads", threads, "-o", f"out{threads}", *self.files)
        for region in REGIONS:
            self.assertEqual(self.read(f"out1/{region}.labels"), self.read(f"out3/{region}.labels"))

    def test_everything_else_works_on_tables(self):
        self.run_kindred("cluster", "-q", "-k", 3, "--quality", "--report", "-o", "out", *self.files)
        result = self.result()
        self.assertGreater(result["tasks"][0]["quality"]["stability"], .5)
        self.assertIn("treated as a table", self.read("out/report.html"))

    def test_methods_without_missing_values_refuse_them(self):
        self.fails("cluster", "-m", "kmeans", "-k", 3, "north.csv", code=3, says=["north.csv", "--missing"])
        self.fails("cluster", "-k", 3, "--scale", "standard", "north.csv", code=3, says=["'income' has", "missing value", "--missing"])
        rows, _ = customers("north", 60, 5)
        for row in rows:
            row.update(("w%d" % j, j * row["visits"] % 7 / 3) for j in range(70))
        self.write("wide.csv", text(rows))
        self.fails("cluster", "-k", 3, "wide.csv", code=3, says=["missing value", "--missing"])

    def test_tables_of_texts_alone(self):
        draw = random.Random(3)
        kinds = [draw.randint(0, 1) for _ in range(120)]
        self.write("t.csv", "shape,colour,smell\n" + "".join(
            ",".join(draw.choice("ab" if k else "cd") + draw.choice(("", "x")) for _ in range(3)) + "\n" for k in kinds))
        done = self.run_kindred("cluster", "-v", "--header", "-k", 2, "-o", "out", "t.csv")
        self.assertIn("treated as a table: 3 categories", done.stdout)
        self.assertGreater(rand_index(self.labels("t"), kinds), .95)


class Generated(CliTest):
    """kindred generate --design tables."""

    def generate(self, folder, *more):
        self.run_kindred("generate", "-q", "--design", "tables", "--seed", 5, "-o", folder, *more)

    def test_the_same_seed_gives_the_same_bytes(self):
        for folder in ("a", "b"):
            self.generate(folder, "--tasks", 2, "-n", "80,50")
        for name in ("task1.csv", "task2.csv", "task1.labels", "task2.labels"):
            self.assertEqual(self.read("a/" + name), self.read("b/" + name))
        self.fails("generate", "--design", "tables", "-o", "a", code=2, says="--force")

    def test_every_kind_of_column_and_holes(self):
        self.generate("a", "--tasks", 2, "-n", "80,50")
        first, second = ([line.split(",") for line in self.read(f"a/task{t}.csv").splitlines()] for t in (1, 2))
        self.assertEqual((len(first), len(second)), (81, 51))
        for kind in ("number1", "skewed1", "outliers1", "grade1", "yesno1", "category1", "date1", "noise_number1"):
            self.assertIn(kind, first[0])
        self.assertEqual([a for a, b in zip(first[0], second[0]) if a != b], ["only1_noise_category1"])
        column = lambda name: {row[first[0].index(name)] for row in first[1:]} - {""}
        self.assertEqual(column("yesno1"), {"yes", "no"})
        self.assertLessEqual(column("grade1"), set("12345"))
        self.assertTrue(all(datetime.date.fromisoformat(d) for d in column("date1")))
        self.assertTrue(column("category1") <= set("ABCDEFG"))
        self.assertTrue(any("" in row for row in first))
        self.generate("full", "--missing-cells", 0)
        self.assertNotIn(",,", self.read("full/task1.csv"))

    def test_segments_are_found_if_they_are_common_and_if_not(self):
        for folder, more, shared in (("common", [], 1), ("own", ["--unrelated"], 0)):
            self.generate(folder, "-k", 3, "--separation", 2, *more)
            done = self.run_kindred("cluster", "-v", "-k", 3, "--score", "-o", "out", "--force", f"{folder}/task1.csv",
                                    f"{folder}/task2.csv")
            self.assertIn("treated as a table", done.stdout)
            self.assertEqual(self.result()["method_fields"].get("shared_segments"), shared)
            for task in self.result()["tasks"]:
                self.assertGreater(task["metrics"]["ari"], .9, folder)

    def test_options_of_other_designs_are_refused(self):
        for more, design in ((["--rotation", 5], "tables"), (["--words", 10], "topics"), (["--to", "npy"], "tables")):
            self.fails("generate", "--design", "tables", "-o", "x", *more, code=2, says=[more[0], design])
        self.fails("generate", "-o", "x", "--unrelated", code=2, says=["--unrelated", "tables"])


class Forest(CliTest):
    def test_labels_are_carried_with_missing_values(self):
        rows, segments = customers("north", 300, 1)
        for row, segment in zip(rows, segments):
            row["segment"] = "ABC"[segment]
        self.write("north.csv", text(rows))
        rows, segments = customers("west", 200, 2)
        self.write("west.csv", text(rows))
        self.run_kindred("transfer", "-q", "-m", "forest", "--source", "north.csv", "--label-column", "segment", "--target",
                         "west.csv", "-o", "out", "--save-model", "m.h5")
        answer = self.read("out/target.labels").split()
        right = sum(a == "ABC"[s] for a, s in zip(answer, segments)) / len(segments)
        self.assertGreater(right, .9)
        self.run_kindred("predict", "-q", "--model", "m.h5", "-o", "again", "west.csv")
        self.assertEqual(self.read("again").split(), answer)


class Apart(CliTest):
    """Columns that only distinguish data sets: ids, places, times."""
    def shop(self, city, first, year, level=None, rows=60, shift=0.0):
        draw = random.Random(first)
        lines = ["Kunde,CustomerNo,City,Opened,Year,a,b,c"]
        for i in range(rows):
            z = i % 3
            where = level[i % len(level)] if level else city
            x = [draw.gauss(6 * (z == j), .7) + shift for j in range(3)]
            lines.append(f"{first + 7 * draw.randrange(rows)},{first + i // 2 * 3},{where},{year}-0{1 + i % 9}-11,{year}," + ",".join(f"{v:.3f}" for v in x))
        self.write(f"{city}.csv", "\n".join(lines) + "\n")

    def warned(self, *files, more=()):
        self.run_kindred("cluster", "-k", 3, "-q", "-o", "out", "--force", *more, *files)
        return [w for w in self.result()["warnings"] if "only distinguish" in w]

    def test_ids_and_places_do_not_switch_sharing_off(self):
        self.shop("berlin", 10000, 2019)
        self.shop("paris", 50000, 2020)
        done = self.run_kindred("cluster", "-k", 3, "-o", "out", "berlin.csv", "paris.csv")
        warning, = [line for line in done.stdout.splitlines() if "which only distinguish" in line]
        for name in ("CustomerNo", "City", "Opened", "Year"):
            self.assertIn(f"'{name}'", warning)
            self.assertIn(f"+{name}", warning)
        self.assertNotIn("'a'", warning)
        self.assertNotIn("clustered separately", done.stdout)
        self.assertEqual({c["number"] for t in self.result()["tasks"] for c in t["clusters"]}, {0, 1, 2})  # all have counterparts
        why = {c["name"]: c["why"] for c in self.result()["tasks"][0]["columns"]}
        self.assertEqual(why["City"], "it distinguishes the data sets")
        pair, = json.loads(self.run_kindred("relate", "--json", "--columns", "-Kunde", "berlin.csv", "paris.csv").stdout)["pairs"]
        self.assertLess(pair["a_distance"], 1)

    def test_columns_overrides(self):
        self.shop("berlin", 10000, 2019)
        self.shop("paris", 50000, 2020)
        said, = self.warned("berlin.csv", "paris.csv", more=["--columns", "+CustomerNo,City:category,-Opened"])
        self.assertIn("skipped: 'Year',", said)
        self.assertEqual(self.result()["tasks"][0]["columns"][1]["features"], 1)

    def test_a_category_that_is_constant_in_each_stays_if_asked_for(self):
        self.shop("berlin", 10000, 2019)
        self.shop("paris", 50000, 2020)
        for more in ([], ["--scale", "standard"]):
            self.warned("berlin.csv", "paris.csv", more=["--columns", "+City", *more])
            for task in self.result()["tasks"]:
                self.assertEqual({c["name"]: c["features"] for c in task["columns"]}["City"], 1, more)
            self.run_kindred("cluster", "-k", 3, "-q", "-o", "out", "--force", *more, "berlin.csv", "paris.csv")
            self.assertEqual({c["name"]: c["features"] for c in self.result()["tasks"][0]["columns"]}["City"], 0, more)

    def test_measurements_that_do_not_overlap_stay_and_are_named(self):
        self.shop("berlin", 10000, 2019)
        self.shop("paris", 50000, 2019, shift=40)
        self.warned("berlin.csv", "paris.csv")
        kept = [w for w in self.result()["warnings"] if "do not overlap" in w]
        self.assertEqual(len(kept), 1)
        for name in ("Kunde", "a", "b", "c"):  # numbers of customers without a title that says so
            self.assertIn(f"'{name}'", kept[0])
        self.assertEqual({c["name"]: c["features"] for c in self.result()["tasks"][0]["columns"]}["a"], 1)

    def test_what_two_data_sets_share_stays(self):
        self.shop("berlin", 10000, 2019, ["Mitte", "Pankow", "Wedding"])
        self.shop("paris", 10000, 2019, ["Mitte", "Montmartre", "Bastille"])
        self.assertEqual(self.warned("berlin.csv", "paris.csv"), [])
        self.shop("paris", 10000, 2019, ["Montmartre", "Bastille"])
        said, = self.warned("berlin.csv", "paris.csv")
        self.assertIn("skipped: 'City',", said)
        self.shop("rome", 10000, 2019, ["Montmartre", "Trastevere"])  # which two of three share
        self.assertEqual(self.warned("berlin.csv", "paris.csv", "rome.csv"), [])

    def test_yes_and_no_in_other_words_stay(self):
        self.shop("berlin", 10000, 2019, ["yes", "no"])
        self.shop("paris", 10000, 2019, ["ja", "nein"])
        self.assertEqual(self.warned("berlin.csv", "paris.csv"), [])

    def test_few_rows_say_nothing(self):
        self.shop("berlin", 10000, 2019, rows=9)
        self.shop("paris", 50000, 2020, rows=9)
        self.assertEqual(self.warned("berlin.csv", "paris.csv"), [])

    def test_the_model_of_such_tables_labels_new_ones(self):
        self.shop("berlin", 10000, 2019)
        self.shop("paris", 50000, 2020)
        self.run_kindred("cluster", "-k", 3, "-q", "-o", "out", "--save-model", "m.h5", "berlin.csv", "paris.csv")
        self.shop("rome", 90000, 2021)
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "paris", "-o", "new", "rome.csv")
        self.assertNotIn("City", done.stderr)
        self.assertEqual(len(set(self.read("new").split())), 3)

if __name__ == "__main__":
    unittest.main()
