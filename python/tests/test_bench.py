"""python -m kindred.bench: plans, presets, tables, scores, wrong plans. SPDX-License-Identifier: BSD-3-Clause"""
import contextlib
import csv
import io
import json
import math
import os
import pickle
import shutil
import signal
import statistics
import subprocess
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cli"))
from harness import CliTest  # noqa: E402
from kindred.bench import __main__ as command  # noqa: E402
from kindred.bench._draw import Stream  # noqa: E402
from kindred.bench._plan import make_plan, presets, read_preset  # noqa: E402

COMMAND = [sys.executable, "-m", "kindred.bench"]


class Bench(CliTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def tasks(self, n=60):
        self.run_kindred("generate", "--tasks", "2", "-k", "3", "-n", n, "--separation", "1.5", "-o", "d", "-q")
        return "d/task1.csv", "d/task2.csv"

    def plan(self, **table):
        whole = {"title": "t", "tables": [{"title": "one", **table}]}
        self.write("plan.json", json.dumps(whole))
        return "plan.json"

    def run_bench(self, *args, code=0, env=None):
        """Runs the command in this process or, if it starts processes, in its own."""
        args = list(map(str, args))
        if "-o" in args and "--plan" not in args and "--methods" not in args:
            done = subprocess.run([*COMMAND, *args], cwd=self.dir, capture_output=True, text=True, env=env, timeout=300)
        else:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.dict(os.environ, env or {}, clear=env is not None):
                try:
                    status = command.main(args)
                except SystemExit as stop:
                    status = stop.code
            done = subprocess.CompletedProcess(args, status, out.getvalue(), err.getvalue())
        self.assertEqual(done.returncode, code, f"{args}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def fails(self, *args, code, says, **kwargs):
        """It fails with one line on standard error that contains every piece of `says`, and nothing on stdout."""
        done = self.run_bench(*args, code=code, **kwargs)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akindred\.bench: .*\n\Z")
        for piece in says if isinstance(says, (list, tuple)) else [says]:
            self.assertIn(piece, done.stderr)

    def bench(self, *args, **kwargs):
        self.run_bench(*args, "-o", "out", "--force", **kwargs)
        with open(self.path("out/bench.json")) as f:
            return json.load(f)["tables"]

    def test_methods_and_grid_give_a_row_each_and_the_mean_of_the_values(self):
        table, = self.bench("--methods", "kmeans,lssmtc", "--grid", "lambda=0.25,0.5", "--repeats", "3", *self.tasks())
        self.assertEqual([(r["name"], r["setting"]) for r in table["rows"]],
                         [("kmeans", ""), ("lssmtc", "lambda = 0.25"), ("lssmtc", "lambda = 0.5")])
        for row in table["rows"]:
            for cell in row["scores"]["acc"]:
                self.assertEqual(len(cell["values"]), 3)
                mean = sum(cell["values"]) / 3
                self.assertAlmostEqual(cell["mean"], mean, places=14)
                deviation = math.sqrt(sum((v - mean) ** 2 for v in cell["values"]) / 2)
                self.assertAlmostEqual(cell["std"], deviation, places=14)

    def test_a_repeat_is_the_run_with_that_seed(self):
        a, b = self.tasks()
        table, = self.bench("--methods", "kmeans", "--set", "n_init=1", "--set", "start=random", "-k", "4", "--seed",
                            "5", "--repeats", "3", a, b)
        for r in range(3):
            self.run_kindred("cluster", "-m", "kmeans", "--set", "n_init=1", "--set", "start=random", "-k", "4",
                             "--seed", 5 + r, "--score", "-o", "one", "--force", a, b)
            for t, task in enumerate(self.result("one/result.json")["tasks"]):
                self.assertEqual(table["rows"][0]["scores"]["nmi"][t]["values"][r], task["metrics"]["nmi"])

    def test_transfer_is_scored_by_names_and_clustering_beside_it_by_the_best_map(self):
        a, b = self.tasks()
        table, = self.bench("--plan", self.plan(source=a, target=b, repeats=1, rows=[
            {"method": "logreg"}, {"method": "kmeans"}]))
        self.assertEqual(table["tasks"], ["task2"])
        self.run_kindred("transfer", "-m", "logreg", "--source", a, "--labels", "d/task1.labels", "--target", b,
                         "--truth", "d/task2.labels", "-o", "one")
        want = [t for t in self.result("one/result.json")["tasks"] if t["name"] == "target"][0]["metrics"]["acc"]
        self.assertEqual(table["rows"][0]["scores"]["acc"][0]["values"], [want])

    def test_auto_beside_sources_is_that_of_transfer(self):
        a, b = self.tasks()
        table, = self.bench("--plan", self.plan(source=a, target=b, repeats=1, rows=[
            {"method": "auto"}, {"name": "alone", "method": "auto", "alone": True}]))
        self.run_kindred("transfer", "-m", "auto", "--seed", 1, "--source", a, "--labels", "d/task1.labels", "--target", b, "--truth",
                         "d/task2.labels", "-o", "one")
        self.run_kindred("cluster", "-m", "auto", "--seed", 1, "-k", "3", "--score", "-o", "two", b)
        want = [t for t in self.result("one/result.json")["tasks"] if t["name"] == "target"] + self.result("two/result.json")["tasks"]
        self.assertEqual([r["name"] for r in table["rows"]], ["auto", "alone"])
        self.assertEqual([r["scores"]["nmi"][0]["values"][0] for r in table["rows"]], [t["metrics"]["nmi"] for t in want])
        self.fails("--plan", self.plan(source=a, target=b, rows=[{"method": "svm", "alone": True}]), code=3,
                   says="'alone': method 'svm' cannot")

    def test_sample_draws_so_many_rows_anew_in_each_repeat(self):
        tasks = self.tasks(200)
        table, = self.bench("--methods", "kmeans", "--sample", "50", "--repeats", "6", *tasks)
        values = table["rows"][0]["scores"]["acc"][0]["values"]
        self.assertTrue(all(abs(v * 50 - round(v * 50)) < 1e-9 for v in values), values)
        self.assertGreater(len(set(values)), 1)

    def test_classes_keep_their_samples_alone(self):
        a, _ = self.tasks()
        two = {"path": a, "name": "two", "classes": ["c2", "c0"]}
        table, = self.bench("--plan", self.plan(data=[a, two], repeats=1, rows=[{"method": "kmeans"}]))
        self.assertEqual(table["tasks"], ["task1", "two"])
        with open(self.path("d/task1.labels")) as f:
            labels = f.read().split()
        rows = [0] + [i + 1 for i, c in enumerate(labels) if c != "c1"]
        lines = self.read(a).splitlines()
        self.write("two.csv", "\n".join(lines[i] for i in rows) + "\n")
        self.write("two.labels", "\n".join(labels[i - 1] for i in rows[1:]) + "\n")
        want, = self.bench("--methods", "kmeans", "--repeats", "1", "-k", "2", "two.csv")
        self.assertEqual(table["rows"][0]["scores"]["nmi"][1]["values"], want["rows"][0]["scores"]["nmi"][0]["values"])
        self.fails("--plan", self.plan(data=[{"path": a, "classes": ["c9"]}], rows=[{"method": "kmeans"}]),
                   code=3, says="no sample has the class 'c9'")

    def test_parts_do_not_meet_and_rare_classes_are_thinned(self):
        a, _ = self.tasks(300)
        rows = [{"method": "svm"}]
        def sizes(**more):
            tables = self.bench("--plan", self.plan(source={"path": a, "name": "s", "part": [0, .3]}, target={
                "path": a, "name": "t", **more}, repeats=1, rows=rows))
            value = tables[0]["rows"][0]["scores"]["acc"][0]["values"][0]
            return [n for n in range(1, 301) if abs(value * n - round(value * n)) < 1e-9]
        self.assertTrue(set(sizes(part=[.3, 1])) & set(range(180, 240)))
        few = sizes(keep={"c0": 0, "c1": 0})
        self.assertTrue(set(few) & set(range(60, 140)), few)
        for bad in ({"part": [.5]}, {"part": [.5, .2]}, {"part": 3}, {"keep": {"c0": 2}}, {"keep": 1}):
            self.fails("--plan", self.plan(source=a, target={"path": a, **bad}, rows=rows), code=3,
                       says="plan.json: table 1: '")

    def test_summary_has_means_by_collection_and_the_worst_case(self):
        self.run_kindred("generate", "--tasks", "3", "-k", "3", "-n", "60", "--separation", "1", "-o", "d", "-q")
        plan = {"title": "all", "summary": {"row": "auto", "against": ["svm"]},
                "rows": [{"method": "svm"}, {"name": "auto", "method": "self-training"}],
                "tables": [{"title": "blobs", "pairs": ["d/task1.csv", "d/task2.csv", "d/task3.csv"], "repeats": 2}]}
        self.write("plan.json", json.dumps(plan))
        tables = self.bench("--plan", "plan.json")
        values = [[row["scores"]["acc"][0]["mean"] for row in t["rows"]] for t in tables]
        lines = [[w.strip() for w in line.split("|")[1:-1]] for line in self.read("out/bench.md").splitlines() if "|" in line]
        lines = lines[-3:]
        for line, part in zip(lines, (values[:6], values[6:], values)):
            self.assertEqual(int(line[1]), len(part))
            for i in range(2):
                self.assertAlmostEqual(float(line[2 + i]), sum(v[i] for v in part) / len(part), delta=6e-4)
            self.assertAlmostEqual(float(line[4]), min(v[1] - v[0] for v in part), delta=6e-4)
        self.assertEqual([line[0] for line in lines], ["blobs", "blobs, all sources", "all"])
        plan["summary"]["against"] = ["nobody"]
        self.write("plan.json", json.dumps(plan))
        self.fails("--plan", "plan.json", code=3, says="the table has no row 'nobody'")

    def test_paired_p_is_that_of_scipy(self):
        try:
            from scipy.stats import ttest_rel
        except ImportError:
            self.skipTest("SciPy is not installed")
        rows = [{"name": "one", "method": "kmeans", "set": {"n_init": 1, "start": "random", "max_iter": 2}},
                {"name": "ten", "method": "kmeans"}]
        for repeats in (2, 7, 40):
            table, = self.bench("--plan", self.plan(generate="blobs", separation=1, repeats=repeats, rows=rows,
                                                    scores=["ari"], paired="ten"))
            one, ten = ([sum(c["values"][r] for c in row["scores"]["ari"]) / 2 for r in range(repeats)]
                        for row in table["rows"])
            p = ttest_rel(one, ten).pvalue
            self.assertIn(f" {p:.1e} |", self.read("out/bench.md"))

    def test_pick_shows_the_best_setting_and_says_that_the_truth_chose_it(self):
        done = self.run_bench("--methods", "kmeans", "--grid", "max_iter=0,100", "--set", "start=random",
                                "--pick", "--repeats", "4", *self.tasks())
        self.assertIn("CHOSEN BY THE KNOWN CLASSES", done.stdout)
        self.assertIn("max_iter = 100", done.stdout)
        self.assertNotIn("max_iter = 0 ", done.stdout)

    def test_a_run_that_fails_is_told_and_the_others_go_on(self):
        a, b = self.tasks()
        done = self.run_bench("--methods", "kmeans,mbc", "--set", "divergence=is", "--repeats", "2", a, b)
        self.assertIn("mbc: 2 of 2 runs failed: ", done.stdout)
        self.assertRegex(done.stdout, r"\| kmeans \| \d")

    def test_all_runs_failed_is_a_failure(self):
        a, b = self.tasks()
        done = self.run_bench("--methods", "mbc", "--set", "divergence=is", "--repeats", "2", a, b, code=1)
        self.assertIn("mbc: 2 of 2 runs failed: ", done.stdout)
        self.assertIn("all 2 runs failed", done.stderr)

    def test_presets_are_listed_shown_and_run(self):
        names = [line.split()[0] for line in self.run_bench("--list").stdout.splitlines()]
        self.assertIn("berikov", names)
        plans = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "plans")
        self.assertEqual(names, sorted(name[:-len(".json")] for name in os.listdir(plans)))
        for name in names:
            json.loads(self.run_bench("--show", name).stdout)
        self.assertIn("| kmeans |", self.run_bench("defaults", "--quick").stdout)

    def test_quick_berikov_has_the_figures_of_the_paper_beside_ours(self):
        text = self.run_bench("berikov", "--repeats", "1").stdout
        self.assertIn("paper 0.73", text)
        self.assertIn("study 0.812", text)

    def test_tables_have_their_classes_in_a_column_and_missing_values(self):
        for name in ("one", "two"):
            self.write(name + ".csv", "x,y,kind\n" + "".join(
                f"{i % 2 * 5 + i / 50},{'' if i == 7 else i % 2},{'ab'[i % 2]}\n" for i in range(40)))
        table = {"title": "t", "source": ["one.csv"], "target": ["two.csv"], "label_column": "kind", "missing": "mean", "repeats": 1,
                 "scores": ["acc"], "rows": [{"method": "forest"}]}
        self.write("plan.json", json.dumps({"title": "p", "tables": [table]}))
        self.assertIn("| forest | 1.000", self.run_bench("--plan", "plan.json").stdout)
        self.write("plan.json", json.dumps({"title": "p", "tables": [{**table, "missing": "guess"}]}))
        self.fails("--plan", "plan.json", code=3, says=["missing", "mean"])

    def test_wrong_plans_and_arguments_are_refused(self):
        a, b = self.tasks()
        rows = [{"method": "kmeans"}]
        wrong = [
            ({"dta": [a], "rows": rows}, "did you mean 'data'"),
            ({"rows": rows}, "no data"),
            ({"data": [a], "rows": []}, "'rows' must be a list"),
            ({"data": [a], "rows": [{"method": "nothing"}]}, "unknown method 'nothing'"),
            ({"data": [a], "rows": [{"method": "svm"}]}, "needs 'source' and 'target'"),
            ({"data": [a], "rows": rows, "scores": ["f1"]}, "'scores' must be a list of"),
            ({"data": [a], "rows": rows, "weight": "tf"}, "'weight' must be one of none, binary"),
            ({"data": [a], "rows": rows, "repeats": 0}, "'repeats' must be a number"),
            ({"data": [a], "rows": rows, "k": 0}, "'k' must be an integer"),
            ({"data": [a], "rows": rows, "paired": "x"}, "the table has no row 'x'"),
            ({"data": [a], "rows": [{"method": "kmeans", "references": {"p": {"acc": [1, 2]}}}]}, "a list of 1 figures"),
            ({"data": ["none.csv"], "rows": rows}, "cannot open"),
        ]
        for table, says in wrong:
            self.fails("--plan", self.plan(**table), code=3, says=says)
        self.fails("--plan", self.plan(data=[a], rows=[{"method": "kmeans", "set": {"n_int": 1}}]), code=3,
                   says="n_init")
        self.write("plan.json", "{")
        self.fails("--plan", "plan.json", code=3, says="plan.json: line 1")
        self.fails("--plan", "nowhere.json", code=3, says="nowhere.json: cannot open")
        self.fails(code=2, says="--methods")
        self.fails("berikof", code=2, says="did you mean 'berikov'?")
        self.fails("--methods", "kmeans", code=2, says="at least one data file")
        self.fails("--methods", "kmeans", "--set", "lambda=1", a, code=2, says="none of the methods")
        self.fails("--methods", "kmeans", "-k", "2,2,2", a, code=2, says="one for each")
        self.fails("gz09-webkb4", code=3, says="KINDRED_DATA", env={**os.environ, "KINDRED_DATA": ""})
        os.remove(self.path("d/task1.labels"))
        self.fails("--methods", "kmeans", a, code=3, says="task1.labels")

    def test_results_are_not_replaced_without_force(self):
        tasks = self.tasks()
        self.run_bench("--methods", "kmeans", "--repeats", "1", "-o", "out", *tasks)
        self.fails("--methods", "kmeans", "--repeats", "1", "-o", "out", *tasks, code=2, says="--force")
        self.assertEqual(self.leftovers(), [])

    def rows(self, folder):
        """Every file of a row below the folder, by its path: its contents without the seconds."""
        found = {}
        for where, _, names in os.walk(self.path(folder)):
            for name in names:
                if where == self.path(folder):
                    continue
                with open(os.path.join(where, name)) as f:
                    row = json.load(f)
                row.pop("seconds")
                for line in row["lines"]:
                    line.pop("seconds")
                found[os.path.relpath(os.path.join(where, name), self.path(folder))] = row
        return found

    def test_rows_of_a_preset_have_files_that_are_not_made_again(self):
        first = self.run_bench("defaults", "--repeats", "2", "--threads", "1", "-o", "one").stdout
        self.run_bench("defaults", "--repeats", "2", "--threads", "3", "-o", "two", "-q")
        rows = self.rows("one")
        self.assertGreater(len(rows), 3)
        self.assertEqual(rows, self.rows("two"))  # twice the same figures, whatever the number of threads
        plain = self.run_bench("defaults", "--repeats", "2").stdout
        def no_seconds(text):
            return [line.rsplit("|", 2)[0] for line in text.splitlines() if line.startswith("| ")]
        self.assertTrue(no_seconds(plain))
        self.assertEqual(no_seconds(plain), no_seconds(first))  # rows by themselves are rows of a table
        again = self.run_bench("defaults", "--repeats", "2", "-o", "one", "--force").stdout
        self.assertNotIn(" of ", again.split("##")[0])
        gone = sorted(rows)[0]
        os.remove(self.path("one/" + gone))
        again = self.run_bench("defaults", "--repeats", "2", "-o", "one", "--force").stdout
        self.assertIn(f"{len(rows) - 1} of {len(rows)} rows are already saved", again)
        self.assertEqual(rows, self.rows("one"))
        # A row with other defaults is computed again; files of versions that did not write them, or lack an option, are kept.
        name = next(name for name, row in rows.items() if row["method"] == "kmeans")
        row = json.loads(self.read("one/" + name))
        for change, there in (({"max_iter": 7}, -1), ({"max_iter": "7"}, -1), ({"start": "random"}, -1), ({"gone": 3}, 0), (None, 0)):
            changed = {**row, "defaults": {**row["defaults"], **(change or {})}}
            if change is None:
                del changed["defaults"]
            self.write("one/" + name, json.dumps(changed))
            again = self.run_bench("defaults", "--repeats", "2", "-o", "one", "--force").stdout
            if there:
                self.assertIn(f"{len(rows) - 1} of {len(rows)} rows are already saved", again)
                self.assertEqual(rows, self.rows("one"))
            else:
                self.assertNotIn(" of ", again.split("##")[0])
        self.write("one/" + name, json.dumps(row))
        again = self.run_bench("defaults", "--repeats", "3", "-o", "one", "--force").stdout
        self.assertIn(f"0 of {len(rows)} rows are already saved", again)  # the plan is another one
        self.fails("defaults", "--repeats", "3", "-o", "one", code=2, says="--force")
        self.write("one/" + gone, "{")
        self.fails("defaults", "--repeats", "3", "-o", "one", "--force", code=3, says=gone)

    def test_all_is_every_preset_of_a_paper_and_goes_on_after_a_stop(self):
        env = {**os.environ, "KINDRED_DATA": ""}
        self.fails("all", code=2, says="-o DIR")
        self.fails("all", "defaults", "-o", "d", code=2, says="-o DIR")
        self.fails("defaults", "--only", "x", code=2, says=["--only", "-o DIR"])
        self.fails("defaults", "--only", "x", "-o", "d", code=2, says=["--only x", "PRESET/TABLE/ROW.json"])
        self.fails("all", "--only", "nothing", "-o", "d", code=2, says=["--only nothing", "PRESET/TABLE/ROW.json"], env=env)
        self.run_bench("all", "--only", "berikov/berikov-s-monte-carlo-design-as-printed/ec.", "--only", "printed/k-means", "-o",
                         "some", "--repeats", "1", "--threads", "5", env=env)
        some = self.rows("some")
        self.assertEqual(sorted(os.path.basename(name) for name in some), ["ec.json", "k-means.json"])
        started = [*COMMAND, "all", "-o", "d", "--repeats", "1", "--threads", "2"]
        with subprocess.Popen(started, cwd=self.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            for _ in range(3):
                run.stdout.readline()
            run.send_signal(signal.SIGINT)
            out, err = run.communicate()
            self.assertEqual(run.returncode, 130, err)
        there = self.rows("d")
        count = sum(len(t["rows"]) for t in json.loads(self.run_bench("--show", "berikov").stdout)["tables"])
        self.assertGreaterEqual(len(there), 2)
        self.assertLess(len(there), count)
        self.assertIn("run the same command again to continue", err)
        self.assertIn("KINDRED_DATA", err)
        self.assertEqual(self.leftovers(), [])
        done = self.run_bench("all", "-o", "d", "--repeats", "1", "--time-limit", "1e-9", env=env, code=130)
        self.assertIn(f"{len(there)} of {count} rows are already saved", done.stdout)
        self.run_bench("all", "-o", "d", "--repeats", "1", "-q", env=env)
        rows = self.rows("d")
        self.assertEqual(len(rows), count)
        self.assertEqual({k: rows[k] for k in there}, there)
        self.assertEqual({k: rows[k] for k in some}, some)

    def test_formats_have_the_figures_of_the_table(self):
        self.run_kindred("generate", "--tasks", 2, "-k", 3, "-n", 60, "--separation", 1.5, "--seed", 3, "-q", "-o", "g")
        plan = {"title": "t", "tables": [{"title": "50 % of a_b & c", "data": ["g/task1.csv", "g/task2.csv"], "repeats": 3, "scores": ["acc", "ari"], "paired": "one, \"two\"",
                "rows": [{"name": 'one, "two"', "method": "kmeans", "set": {"n_init": 1}, "references": {"paper": {"acc": [0.5, None]}}},
                         {"name": "ncut", "method": "ncut"}]}]}
        self.write("p.json", json.dumps(plan))
        self.run_bench("-q", "--plan", "p.json", "-o", "out")
        rows = [line.strip("| ").split(" | ") for line in self.read("out/bench.md").splitlines() if line.startswith("| ")]
        table = json.loads(self.read("out/bench.json"))["tables"][0]
        self.assertEqual(table["rows"][0]["references"], {"paper": {"acc": [0.5, None], "ari": [None, None]}})
        self.assertEqual(table["notes"], ["Mean \u00b1 standard deviation of 3 repeats.",
                                          "p: two-sided paired t-test of acc against 'one, \"two\"', not corrected for the number of rows."])
        self.assertNotIn("p", table["rows"][0])
        self.assertGreaterEqual(table["rows"][1]["p"], 0)
        for row, line in zip(table["rows"], rows[1:]):
            for s, score in enumerate(("acc", "ari")):
                own, mean = row["scores"][score], row["means"][score]
                self.assertEqual(line[1 + 3 * s + 2], f"{mean['mean']:.3f} \u00b1 {mean['std']:.3f}")
                values = [sum(v) / 2 for v in zip(*(x["values"] for x in own))]  # the mean of each repeat
                self.assertAlmostEqual(mean["std"], statistics.stdev(values))
        self.assertIn("(paper 0.5)", rows[1][1])
        # LaTeX: nothing that it would take for its own
        self.run_bench("-q", "--plan", "p.json", "--format", "latex", "-o", "tex")
        text = self.read("tex/bench.tex")
        self.assertIn("\\caption{50 \\% of a\\_b \\& c}", text)
        self.assertIn("\\begin{tabular}{lrrrrrrrr}", text)
        self.assertIn(" & ".join(rows[2][:-1]).replace("\u00b1", "$\\pm$") + " & ", text)
        self.assertEqual(text.count("\\begin{"), text.count("\\end{"))
        # CSV: a line for each row, score and data set, and their mean
        done = self.run_bench("--plan", "p.json", "--format", "csv")
        lines = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(lines), 2 * 2 * 3)
        self.assertEqual([r["data_set"] for r in lines[:3]], ["task1", "task2", "mean"])
        self.assertEqual((lines[0]["row"], lines[0]["table"], lines[0]["references"]), ('one, "two"', "50 % of a_b & c", "paper 0.5"))
        self.assertEqual(float(lines[2]["std"]), table["rows"][0]["means"]["acc"]["std"])
        self.fails("--plan", "p.json", "--format", "html", code=2, says=["html", "latex"])

    def test_a_plan_that_was_shown_runs(self):
        os.makedirs(self.path("data"))
        self.run_kindred("generate", "--tasks", 2, "-k", 2, "-n", 40, "--seed", 3, "-q", "-o", "data/set")
        shown = json.loads(self.run_bench("--show", "gz09-webkb4").stdout)
        names = sorted({path.split("/")[0] for t in shown["tables"] for path in t["data"]})
        self.assertEqual(names, ["webkb4"])  # relative, as those below
        os.makedirs(self.path("plans"))
        table = {"title": "t", "data": ["set/task1.csv", "set/task2.csv"], "repeats": 1, "rows": [{"method": "kmeans"}]}
        self.write("plans/my.json", json.dumps({"title": "t", "tables": [table]}))
        text = self.run_bench("--plan", "plans/my.json", env={**os.environ, "KINDRED_DATA": self.path("data")}).stdout
        self.assertIn("| kmeans | ", text)
        self.fails("--plan", "plans/my.json", code=3, says="plans/set/task1.csv", env={k: v for k, v in os.environ.items() if k != "KINDRED_DATA"})
        # a file in the plan's own folder comes first
        shutil.copytree(self.path("data/set"), self.path("plans/set"))
        self.run_kindred("generate", "--tasks", 2, "-k", 2, "-n", 40, "--seed", 4, "--separation", .1, "-q", "--force", "-o", "data/set")
        again = self.run_bench("--plan", "plans/my.json", env={**os.environ, "KINDRED_DATA": self.path("data")}).stdout
        self.assertEqual(again.split("|")[:-2], text.split("|")[:-2])  # but for the seconds

    def test_only_prints_its_figures(self):
        run = ("berikov", "--quick", "--repeats", 1, "--only", "printed/ec.", "--only", "printed/k-means", "-o", "d")
        for _ in range(2):  # made, and read back
            lines = [line for line in self.run_bench(*run).stdout.splitlines() if line.startswith(("| ", "## "))]
            self.assertEqual(len(lines), 4, lines)
            self.assertTrue(lines[0].startswith("## Berikov's Monte-Carlo design as printed"))
            self.assertTrue(lines[2].startswith("| ec | ") and "(paper 0.56" in lines[2], lines)
            self.assertTrue(lines[3].startswith("| k-means | "), lines)
        self.assertFalse(os.path.exists(self.path("d/bench.md")))

    def test_words_of_source_and_target_do_not_meet(self):
        """Features drawn by lot: with halves that do not overlap a classifier of the source has nothing to go by."""
        self.run_kindred("generate", "--design", "topics", "--tasks", "2", "-k", "2", "-n", "80", "-o", "d", "-q")
        def table(words):
            plan = self.plan(source={"path": "d/task1.mtx", "words": [0, .5]}, target={"path": "d/task2.mtx", "words": words},
                             repeats=1, record=True, fit_on="each", rows=[{"method": "svm"}, {
                                 "name": "theirs", "missing": "not described", "references": {"paper": {"acc": [.5]}}}])
            return self.bench("--plan", plan)[0]["rows"]
        rows = table([0, .5])
        self.assertEqual(rows[1]["scores"]["acc"][0]["values"], [None])
        self.assertIn("| theirs | - (paper 0.5) |", self.read("out/bench.md"))
        same, other = rows[0]["scores"]["acc"][0]["mean"], table([.5, 1])[0]["scores"]["acc"][0]["mean"]
        self.assertGreater(same, .8)
        self.assertLess(other, .75)
        self.fails("--plan", self.plan(source="d/task1.mtx", target={"path": "d/task2.mtx", "words": [1]},
                                                rows=[{"method": "svm"}]), code=3, says="'words' must be two numbers")

    def test_pairs_and_classes_by_other_names(self):
        """A table of pairs stands for every ordered pair and, of three, for all others to each; rows come from the plan."""
        for name, shift in (("a", 0), ("b", 1), ("c", 2)):
            rows = [f"{i % 2 * 5 + shift * 0.3 + i * 0.01},{i * 0.02 + shift}" for i in range(20)]
            self.write(f"{name}.csv", "\n".join(["x,y"] + rows) + "\n")
            self.write(f"{name}.labels", "".join(f"{name}{i % 2}\n" for i in range(20)))
        sets = [{"path": f"{n}.csv", "name": n, "classes": {"low": [n + "0"], "high": [n + "1"]}} for n in "abc"]
        plan = {"title": "t", "rows": [{"method": "svm"}],
                "tables": [{"title": "pairs", "pairs": sets, "repeats": 1, "scores": ["acc"]}]}
        self.write("plan.json", json.dumps(plan))
        out = self.run_bench("--plan", "plan.json").stdout
        self.assertEqual(out.count("## pairs: "), 9)
        self.assertIn("## pairs: a to b", out)
        self.assertIn("## pairs: all others to c", out)
        self.assertEqual(out.count("| svm | 1.000"), 9)
        plan["tables"][0]["pairs"][0]["classes"] = {"low": []}
        self.write("plan.json", json.dumps(plan))
        self.fails("--plan", "plan.json", code=3, says=["classes", "'low' must be a list of names"])

    def test_an_option_can_have_one_value_per_data_set(self):
        self.run_kindred("generate", "--tasks", 3, "-k", 3, "-n", 60, "-q", "-o", "g")
        files = [f"g/task{i}.csv" for i in (1, 2, 3)]
        rows = [{"name": name, "method": "mtcfir", "set": {"n_init": 1, "neighbors": value}}
                for name, value in (("list", [12, 15, 10]), ("text", "12,15,10"))]
        rows.append({"method": "mtcfir", "set": {"n_init": 1}, "grid": {"neighbors": [[12, 15, 10], 0.3]}})
        table = {"title": "one", "data": files, "k": 3, "repeats": 1, "rows": rows}
        self.write("plan.json", json.dumps({"title": "t", "tables": [table]}))
        self.run_bench("--plan", "plan.json", "-o", "out")
        lines = json.loads(self.read("out/bench.json"))["tables"][0]["rows"]
        self.assertEqual([r["setting"] for r in lines], ["", "", "neighbors = 12,15,10", "neighbors = 0.3"])
        self.assertEqual(lines[0]["scores"], lines[1]["scores"])
        self.assertEqual(lines[0]["scores"], lines[2]["scores"])
        done = self.run_bench("--methods", "mtcfir", "--set", "neighbors=12,15,10", "--set", "n_init=1", "-k",
                                3, "--repeats", 1, "-o", "set", *files)
        self.assertIn("mtcfir", done.stdout)
        self.assertEqual(json.loads(self.read("set/bench.json"))["tables"][0]["rows"][0]["scores"], lines[0]["scores"])
        for value, says in (([12, "x"], "must have numbers only"), ({"a": 1}, "must be a number")):
            rows[0]["set"]["neighbors"] = value
            self.write("plan.json", json.dumps({"title": "t", "tables": [table]}))
            self.fails("--plan", "plan.json", code=3, says=says)

    def test_fit_on_each_fits_the_scale_on_each_data_set(self):
        for name, factor in (("small", 1), ("large", 1000)):  # the second column is noise
            self.write(f"{name}.csv", "x,y\n" + "".join(f"{(i % 2 + i % 7 * .01) * factor},{i * 7 % 20}\n" for i in range(40)))
            self.write(f"{name}.labels", "0\n1\n" * 20)
        for more, accuracy in ((), ".5"), (("--fit-on", "each"), "1"):
            out = self.run_bench("--methods", "kmeans", "-k", 2, "--repeats", 1, "--format", "csv", "--scale", "standard", *more,
                                   "small.csv", "large.csv").stdout
            self.assertEqual([float(row["mean"]) for row in csv.DictReader(io.StringIO(out)) if (row["data_set"], row["score"]) == ("small", "acc")],
                             [float(accuracy)])

    def test_options_without_effect_are_refused(self):
        for option, needs, rest in (("--weight tfidf", "--methods", "defaults"), ("--fit-on each", "--methods", "defaults"), ("-k 2", "--methods", "defaults"),
                                    ("--grid lambda=1,2", "--methods", "defaults"), ("--pick", "--grid", "--methods kmeans a.csv"),
                                    ("--top-by variance", "--top-features", "--methods kmeans a.csv"), ("--report", "-o DIR", "defaults")):
            self.fails(*rest.split(), *option.split(), code=2, says=f"{option.split()[0]} has no effect without {needs}")

    def test_control_characters_are_not_printed(self):
        name = "a\x1b[31mred\x07"
        self.write(name + ".csv", "x,y\n" + "".join(f"{i % 2 * 9 + i % 3},{i % 5}\n" for i in range(20)))
        self.write(name + ".labels", "".join(f"\x1b[3{i % 2}m\n" for i in range(20)))
        done = self.run_bench("--methods", "kmeans", "--repeats", 1, name + ".csv")
        self.assertIn("a\\x1b[31mred\\x07", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        self.fails(name, code=2, says="a\\x1b[31mred\\x07")

    def test_random_numbers_are_those_of_splitmix64(self):
        stream = Stream(1234567)  # the first values of the reference implementation
        self.assertEqual(stream.take(2).tolist() + stream.take(3).tolist(),
                         [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821])

    def test_keys_depend_on_what_is_run_alone(self):
        from kindred.bench._rows import Unit
        def key(**table):
            given = {"title": "one", "note": "n", "generate": "blobs", "rows": [{"name": "a", "method": "kmeans", "references": {"p": {}}}], **table}
            return Unit("p", make_plan("p", {"title": "t", "tables": [given]}, ""), 0, 0, False, 1).key()
        for same in ({"title": "two"}, {"note": "m"}, {"paired": "a"}, {"rows": [{"name": "b", "method": "kmeans"}]}):
            self.assertEqual(key(**same), key())
        others = ({"repeats": 3}, {"separation": 2}, {"k": 4}, {"norm": "l2"}, {"sample": 9}, {"start": "random"}, {"scores": ["nmi"]}, {"record": True},
                  {"rows": [{"method": "kmeans", "set": {"n_init": 1}}]}, {"rows": [{"method": "kmeans", "grid": {"n_init": [1]}}]}, {"rows": [{"method": "ncut"}]})
        self.assertEqual(len({key(), *(key(**other) for other in others)}), 1 + len(others))

    def test_plans_of_the_package_can_be_sent_to_processes(self):
        for name in presets():
            plan = read_preset(name)
            self.assertEqual(pickle.loads(pickle.dumps(plan)), plan)

    def test_report_is_a_page_of_the_tables(self):
        done = self.run_bench("--methods", "kmeans", "--repeats", 1, "-o", "out", "--report", *self.tasks())
        self.assertIn("bench.html", done.stdout)
        self.assertIn("methods compared", self.read("out/bench.html"))
        self.fails("--methods", "kmeans", "-o", "out", "--report", "d/task1.csv", code=2, says="--force")

    def test_after_a_stop_the_table_has_the_complete_repeats(self):
        """SIGTERM is as Ctrl-C. The table is printed and saved, and nothing is left half-written."""
        started = [*COMMAND, "--methods", "kmeans", "--set", "n_init=50", "--repeats", "100000", "-o", "out", *self.tasks(2000)]
        with subprocess.Popen(started, cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            with self.assertRaises(subprocess.TimeoutExpired):
                run.communicate(timeout=5)
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, err)
        self.assertRegex(out, r"repeats? \(stopped before all 100000\)")
        self.assertRegex(out, r"\| kmeans \| \d")
        self.assertLess(json.loads(self.read("out/bench.json"))["tables"][0]["repeats"], 100000)
        self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    unittest.main()
