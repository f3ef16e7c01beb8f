"""Saved models: every method's is read back, and gives the samples of the fit the labels they had there."""
import json
import os
import random
import re
import shlex
import subprocess
import sys
import unittest

from harness import KINDRED, CliTest

try:
    import h5py
except ImportError:
    h5py = None


def overlapping(n, seed, shift):
    """Three clusters that overlap, so that rules that differ label some samples differently."""
    r = random.Random(seed)
    rows = [[abs(r.gauss(1.5 * (i % 3 == j) + shift, 1)) for j in range(4)] for i in range(n)]
    return "x,y,z,w\n" + "".join("%.6f,%.6f,%.6f,%.6f\n" % tuple(row) for row in rows)


@unittest.skipUnless(h5py, "h5py is missing")
class Models(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.csv", overlapping(90, 1, 0))
        self.write("b.csv", overlapping(80, 2, 0.5))
        self.write("a.labels", "".join("abc"[i % 3] + "\n" for i in range(90)))

    def fit(self, method, *more, files=("a.csv", "b.csv"), **kwargs):
        command = (["cluster", "-k", 3, *files] if method["family"] == "cluster" else
                   ["transfer", "--source", files[0], "--labels", "a.labels", "--target", files[1]])
        bridge = ["--bridge", files[1]] if method["id"] in ("ttl", "nmtf") else []
        return self.run_kindred(*command, "-m", method["id"], *bridge, "--save-model", "m.h5", "--force", "-o", "out", *more, **kwargs)

    def predict(self, task, model="m.h5"):
        return self.run_kindred("predict", "--model", model, "--task", task["name"], task["path"]).stdout.split()

    def methods(self):
        return [m for m in json.loads(self.run_kindred("methods", "--json").stdout) if m["family"] != "features"]

    def forget_samples(self, model, to):
        with open(self.path(model), "rb") as f:
            self.write(to, f.read())
        with self.change_model(to) as f:
            del f["known"]

    def test_every_method(self):
        fitted = differ = 0
        for method in self.methods():
            with self.subTest(method["id"]):
                if "predict" not in method["capabilities"]:
                    done = self.fit(method, code=2)
                    self.assertIn("no model to save", done.stderr)
                    self.assertFalse(os.path.exists(self.path("m.h5")))
                    continue
                done = self.fit(method)
                fitted += 1
                fields = self.result()["method_fields"]
                self.forget_samples("m.h5", "rule.h5")
                for task in self.result()["tasks"]:
                    if not task.get("labels"):
                        continue
                    labels = self.read(f"out/{task['name']}.labels").split()
                    self.assertEqual(self.predict(task), labels)
                    rule = self.predict(task, "rule.h5")  # as models of version 0.1 do
                    share = sum(a == b for a, b in zip(rule, labels)) / len(labels)
                    self.assertAlmostEqual(fields.get(f"predict_agreement.{task['name']}", 1), share, places=9)
                    self.assertEqual(f"of those of {task['name']} would get the same label" in done.stdout, share < 1)
                    differ += share < 1
                os.remove(self.path("m.h5"))
        if fitted:  # none without HDF5: all are skipped
            self.assertGreater(differ, 2)

    def test_constant_data(self):
        self.write("same.csv", "x,y\n" + "1,2\n" * 30)
        self.write("a.labels", "a\nb\nc\n" * 10)
        for method in self.methods():
            if method["id"] in ("asi", "lssmtc", "lssttc", "kmeans", "pca-kmeans"):
                self.fit(method, files=("same.csv", "same2=same.csv"))
                task = self.result()["tasks"][-1]
                self.assertEqual(self.predict(task), self.read(f"out/{task['name']}.labels").split(), method["id"])

    def test_keep_false_has_no_model(self):
        for method in ("snmf", "pca-kmeans", "mtcfir"):
            self.fails("cluster", "-m", method, "-k", 3, "--set", "keep=false", "--save-model", "m.h5", "-o", "out", "a.csv",
                       "b.csv", code=2, says=["keep=true", method])
            self.assertFalse(os.path.exists(self.path("m.h5")))
            self.assertFalse(os.path.exists(self.path("out/result.json")))

    def test_a_damaged_number_of_clusters_takes_no_memory(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-q", "--save-model", "m.h5", "-o", "out", "a.csv", "b.csv")
        for k in (1 << 24, 1 << 28, 1 << 50):
            with self.change_model("m.h5") as f:
                f["tasks/1"].attrs.modify("k", k)
            run = subprocess.Popen([KINDRED, "predict", "--model", "m.h5", "--task", "b", "b.csv"], cwd=self.dir,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            printed = run.stderr.read()
            run.stderr.close()
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(run.returncode, 3, printed)
            self.assertIn("more clusters than the file can describe", printed)
            if not os.environ.get("KINDRED_SANITIZE"):
                self.assertLess(usage.ru_maxrss, 100 << 10)  # kilobytes

    def test_the_checksum_is_the_documented_one(self):
        with open(os.path.join(os.path.dirname(__file__), "../../docs/notes/model-file.md")) as f:
            program = re.search(r"```python\n(import zlib.*?)```", f.read(), re.S)[1]
        for more in (["-m", "kmeans", "--scale", "minmax"], ["-m", "auto"], ["-m", "auto", "--model-without-samples"]):
            self.run_kindred("cluster", "-k", 3, "-q", *more, "--force", "--save-model", "model.h5", "-o", "out", "a.csv", "b.csv")
            subprocess.run([sys.executable, "-c", program], cwd=self.dir, check=True)
        with h5py.File(self.path("model.h5"), "r+") as f:
            f["moments/0/mean"][0, 0] += 1e-9
        self.fails("predict", "--model", "model.h5", "--task", "a", "a.csv", code=3, says="does not match its checksum")
        self.assertNotEqual(subprocess.run([sys.executable, "-c", program], cwd=self.dir, stderr=subprocess.DEVNULL).returncode, 0)

    def test_damaged_preprocessing_names_the_file(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "--scale", "minmax", "-q", "--save-model", "m.h5", "-o", "out", "a.csv")
        with self.change_model("m.h5") as f:
            del f["prep/scale"]
        self.fails("predict", "--model", "m.h5", "a.csv", code=3, says=["m.h5: the model file is damaged: preprocessing", "scale: is missing"])

    def test_exact_models_stay_small(self):
        self.run_kindred("cluster", "-m", "kmeans", "-k", 3, "-q", "--save-model", "m.h5", "-o", "out", "a.csv")
        with h5py.File(self.path("m.h5")) as f:
            self.assertEqual(len(f["known"]), 0)


class Changes(CliTest):
    """Names and values that change are kept in the model, and hints are commands."""

    def table(self, name, age, yes, no, shift=0):
        rng = random.Random(name)
        rows = [(30 + 15 * (i % 3) + rng.gauss(shift, 3), 2000 + 900 * (i % 3) + rng.gauss(0, 150), yes if i % 3 == 2 or i % 7 == 0 else no) for i in range(90)]
        self.write(name, f"id,{age},income,smoker\n" + "".join(f"{name[0]}{i},{a:.1f},{b:.0f},{s}\n" for i, (a, b, s) in enumerate(rows)))

    def test_model(self):
        self.table("a.csv", "age", "yes", "no")
        self.table("b.csv", "Alter", "ja", "nein", 1)
        how = ["--rename", "Alter=age", "--recode", "smoker:ja=yes", "--recode", "smoker:nein=no"]
        self.run_kindred("cluster", "-k", 3, *how, "--save-model", "m.h5", "-o", "out", "-q", "a.csv", "b.csv")
        labels = self.read("out/b.labels")
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "b", "-o", "new", "b.csv")
        self.assertEqual(self.read("new"), labels)
        self.assertNotIn("warning", done.stderr)
        done = self.run_kindred("cluster", "--into", "m.h5", "--save-model", "m2.h5", "-o", "more", "c=b.csv")
        self.assertNotIn("Alter", done.stderr + done.stdout)
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "a", "-o", "again", "a.csv")  # it has the new names already
        self.assertEqual(self.read("again"), self.read("out/a.labels"))
        # the caller's own changes come first
        self.table("d.csv", "Jahre", "oui", "ja")
        done = self.run_kindred("predict", "--model", "m.h5", "--task", "a", "-o", "own", "--rename", "Jahre=age", "--recode", "smoker:oui=yes", "--recode", "smoker:ja=no",
                                "d.csv")
        self.assertNotIn("warning", done.stderr)

    def test_hints_are_commands(self):
        self.table("a.csv", "age", "yes", "no")
        self.table("b.csv", "AGE", "ja", "nein", 1)
        done = self.run_kindred("inspect", "a.csv", "b.csv")
        commands = ["--rename 'AGE=age'", "--recode 'smoker:nein=no'", "--recode 'smoker:ja=yes'"]
        for text in commands:
            self.assertIn(text, done.stdout)
        self.run_kindred("cluster", "-k", 3, "--save-model", "m.h5", "-o", "out", "-q", "a.csv")
        done = self.run_kindred("predict", "--model", "m.h5", "-o", "new", "b.csv")
        for text in commands:
            self.assertIn(text, done.stderr)
        done = self.run_kindred("predict", "--model", "m.h5", "-o", "new", "--force", "b.csv", *shlex.split(" ".join(commands)))
        self.assertNotIn("warning", done.stderr)

    def rates(self, name, times, rows=60):
        draw = random.Random(rows)
        self.write(name, "rate,age,country\n" + "".join(
            f"{times * (.2 + .6 * (i % 2) + draw.gauss(0, .05)):.4f},{40 + 20 * (i % 2) + draw.gauss(0, 5):.1f},DE\n" for i in range(rows)))

    def test_predict_compares_ranges_with_those_of_the_model(self):
        self.rates("fit.csv", 1)
        self.rates("percent.csv", 100, 61)
        self.rates("fraction.csv", 1, 62)
        for method in ("auto", "kmeans"):
            self.run_kindred("cluster", "-m", method, "-k", 2, "--save-model", "m.h5", "--force", "-o", "out", "-q", "fit.csv")
            done = self.run_kindred("predict", "--model", "m.h5", "-o", "new", "--force", "percent.csv")
            warning, = [x for x in done.stderr.splitlines() if "warning" in x]  # and none about country, which is constant
            for text in ("'rate'", "percent", "the data that the model was fitted on", "percent or fractions"):
                self.assertIn(text, warning)
            done = self.run_kindred("predict", "--model", "m.h5", "-o", "new", "--force", "fraction.csv")
            self.assertNotIn("warning", done.stderr)

if __name__ == "__main__":
    unittest.main()
