"""report: a page of a result, how it is opened, and the values of features in it."""
import base64
import json
import os
import signal
import unittest

from harness import CliTest


class Report(CliTest):
    def setUp(self):
        super().setUp()
        self.write("result.json", '{"kindred": "0", "command": "cluster", "method": "kmeans", "tasks": []}')
        os.mkdir(self.path("bin"))

    def browser(self, name, code=0):
        """A program that notes what it was asked to open."""
        path = self.write(f"bin/{name}", f'#!/bin/sh\nprintf "%s" "$1" > "{self.dir}/opened.$(basename "$0")"\nexit {code}\n')
        os.chmod(path, 0o755)
        return path

    def open(self, *args, display=":7", browser=None):
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        env["PATH"] = self.path("bin") + ":/usr/bin:/bin" if os.path.isdir("/bin") else self.path("bin")
        env.update({"DISPLAY": display} if display else {})
        env.update({"BROWSER": browser} if browser else {})
        return self.run_kindred("report", "--open", "--force", *args, "result.json", env=env)

    def opened(self, name):
        path = self.path(f"opened.{name}")
        return self.read(path) if os.path.exists(path) else None

    def test_the_default_browser_gets_the_page(self):
        self.browser("xdg-open")
        done = self.open()
        self.assertEqual((self.opened("xdg-open"), done.stderr), ("report.html", ""))
        self.open("-o", "-odd name.html")
        self.assertEqual(self.opened("xdg-open"), "./-odd name.html")
        self.assertTrue(os.path.exists(self.path("-odd name.html")))

    def test_another_where_the_first_fails(self):
        for name, code in (("xdg-open", 3), ("x-www-browser", 0)):
            self.browser(name, code)
        self.assertEqual(self.open().stderr, "")
        self.assertEqual([self.opened(n) for n in ("xdg-open", "x-www-browser")], ["report.html"] * 2)

    def test_a_browser_named_by_the_environment_is_first(self):
        self.browser("xdg-open")
        own = self.browser("mine")
        for display in (":7", None):
            self.assertEqual(self.open(display=display, browser=own).stderr, "")
            self.assertEqual((self.opened("mine"), self.opened("xdg-open")), ("report.html", None))
            os.remove(self.path("opened.mine"))

    def test_one_that_goes_on_running_is_not_waited_for(self):
        path = self.write("bin/slow", f'#!/bin/sh\necho $$ > "{self.dir}/pid"\nsleep 60 && touch "{self.dir}/ended"\n')
        os.chmod(path, 0o755)
        self.open(browser=path)
        self.assertFalse(os.path.exists(self.path("ended")))
        os.kill(int(self.read("pid")), signal.SIGTERM)

    def test_no_browser_is_said_plainly(self):
        self.browser("xdg-open")
        said = self.open(display=None).stderr
        self.assertEqual(len(said.splitlines()), 1, said)
        for piece in ("no browser could be started", "DISPLAY is not set", "open report.html"):
            self.assertIn(piece, said)
        self.assertIsNone(self.opened("xdg-open"))
        for name in ("xdg-open", "x-www-browser", "sensible-browser"):
            self.browser(name, 4)
        self.assertIn("no browser could be started; open report.html", self.open().stderr)
        self.assertTrue(os.path.exists(self.path("report.html")))


class Numbers(CliTest):
    def test_a_mean_is_rounded_once_and_without_samples_that_have_no_label(self):
        """Rounded to three digits and then to two, these would be 0.90; with 0 for the last, 0.80."""
        task = {"name": "t", "n": 9, "d": 2, "k": 1, "labels": [0] * 8 + [-1], "sizes": [8], "confidence": [0.8946] * 8 + [None]}
        self.write("result.json", json.dumps({"kindred": "0", "command": "cluster", "method": "auto", "tasks": [task]}))
        self.run_kindred("report", "-q", "-o", "page.html", "result.json")
        data = self.read("page.html").split('id="data">')[1].split("</script>")[0]
        shown = json.loads(data)["tasks"][0]
        self.assertEqual((shown["mean_confidence"], shown["confidence"]), ("0.89", [0.8946] * 8 + [None]))


def decoded(values, n):
    """The bytes of n samples: 0 (low) to 254 (high), 255 if missing."""
    data = base64.b64decode(values["codes"])
    if "fill" not in values:
        return list(data)
    out, at = [values["fill"]] * n, 0
    for gap, code in zip(data[::2], data[1::2]):
        at += gap
        out[at] = code
        at += 1
    return out


class Values(CliTest):
    """--report-features."""

    def cluster(self, *args, code=0):
        return self.run_kindred("cluster", "-m", "kmeans", "-k", "2", "--force", "--missing", "mean", "-q", *args, code=code)

    def result(self):
        return json.loads(self.read("out/result.json"))["tasks"]

    def numbers(self):
        """One column is missing in places, one is almost always 0, one is a date, one says nothing."""
        rows = [f"{i % 30 + (50 if i % 2 else 0) if i % 7 else ''},{int(i in (3, 301))},2021-03-{4 + i % 2 + i % 20:02},{5},{i % 2}" for i in range(600)]
        return self.write("t.csv", "amount,rare,joined,same,side\n" + "\n".join(rows) + "\n")

    def test_values_of_a_table_are_those_of_the_file(self):
        self.cluster("--report", "-o", "out", self.numbers())
        task = self.result()[0]
        values = {v["name"]: v for v in task["values"]}
        self.assertEqual(set(values), {"amount", "rare", "joined", "side"})
        own = values["amount"]["own"]
        self.assertEqual((own["unit"], own["low"], own["high"]), ("number", 0, 79))
        codes = decoded(own, 600)
        for i in range(600):
            want = 255 if i % 7 == 0 else (i % 30 + (50 if i % 2 else 0)) / 79 * 254
            self.assertAlmostEqual(codes[i], want, delta=0.51)
        self.assertEqual([i for i, c in enumerate(decoded(values["rare"]["own"], 600)) if c], [3, 301])
        self.assertEqual((values["rare"]["own"]["unit"], values["joined"]["own"]["unit"]), ("share", "date"))
        self.assertEqual(values["joined"]["own"]["low"], 18690)  # 2021-03-04, in days since 1970
        with open(self.path("out/report.html"), encoding="utf-8") as f:
            self.assertIn(own["codes"], f.read())

    def test_effects_can_be_computed_from_the_values(self):
        self.run_kindred("generate", "--design", "topics", "--tasks", "2", "-k", "2", "-n", "90,50", "--words", "60", "-q", "-o", "data")
        self.cluster("--report", "-o", "out", self.path("data/task1.mtx"), self.path("data/task2.mtx"))
        for task in self.result():
            values = {v["name"]: v for v in task["values"]}
            for cluster in task["clusters"]:
                for f in cluster["features"]:
                    v, n = values[f["name"]], task["n"]
                    x = [v["low"] + c / 254 * (v["high"] - v["low"]) for c in decoded(v, n)]
                    inside = [a for a, c in zip(x, task["labels"]) if c == cluster["number"]]
                    outside = [a for a, c in zip(x, task["labels"]) if c != cluster["number"]]
                    mean = sum(x) / n
                    effect = (sum(inside) / len(inside) - sum(outside) / len(outside)) / (sum((a - mean) ** 2 for a in x) / n) ** .5
                    self.assertAlmostEqual(effect, f["effect"], delta=0.02)
        self.assertEqual([v["name"] for v in self.result()[0]["values"]], [v["name"] for v in self.result()[1]["values"]])

    def test_number_of_features(self):
        for n, have in (("1", 1), ("3", 3), ("0", 0)):
            self.cluster("--report", "--report-features", n, "-o", "out", self.numbers())
            self.assertEqual(len(self.result()[0].get("values", [])), have)
        self.assertIn("--report-features has no effect without --report", self.cluster("--report-features", "3", "-o", "out", self.numbers(), code=2).stderr)
        for bad in ("-1", "x", "1.5", "100001"):
            self.assertIn("report-features", self.cluster("--report", "--report-features", bad, "-o", "out", self.numbers(), code=2).stderr)

    def test_values_that_are_no_codes_are_left_out(self):
        self.cluster("--report", "-o", "out", self.numbers())
        result = json.loads(self.read("out/result.json"))
        result["tasks"][0]["values"][0]["codes"] = '"</script><script>'
        result["tasks"][0]["values"][1]["own"]["codes"] = "AAA"
        result["tasks"][0]["values"][2]["name"] = 7
        self.write("out/result.json", json.dumps(result))
        self.run_kindred("report", "--force", "-q", "out/result.json")
        page = self.read("out/report.html")
        self.assertEqual((page.count('"codes":'), page.count("</script><script>")), (2, 0))


if __name__ == "__main__":
    unittest.main()
