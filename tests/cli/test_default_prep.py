"""The default preprocessing gives every method, with every choice of its options, values that it accepts."""
import json
import random
import unittest

from harness import CliTest

ROWS = 20


def tables():
    """Two classes in turn. The first row of `units` has the lowest value of every column: min-max scaling would make it zero."""
    r = random.Random(1)
    units = [[abs(r.gauss(3 + 4 * c, .5)) + .5, abs(r.gauss(300 + 400 * c, 50)) + 9, abs(r.gauss(.03 + .04 * c, .005)) + .01]
             for c in [0, 1] * (ROWS // 2)]
    units[0] = [.4, 5, .009]
    return {
        "units": units,
        "negative": [[r.gauss(4 * c - 2, .5), r.gauss(2 - 4 * c, .5), r.gauss(0, .5)] for c in [0, 1] * (ROWS // 2)],
        "counts": [[r.randrange(2, 9) * (1 + 4 * ((j < 4) == c)) if (i + j) % 9 else 0 for j in range(8)] for i, c in enumerate([0, 1] * (ROWS // 2))],
        "table": [[*row[:2], ("red", "blue")[i % 2], ("yes", "no")[i % 3 == 0]] for i, row in enumerate(units)],
    }


def refused(method, settings, kind):
    """What the error must say, where the data themselves do not suit the method; None: it must work."""
    if settings.get("similarity") == "precomputed":
        return "square matrix"
    if settings.get("divergence") == "is":
        return None if kind == "units" else "option floor="
    if kind == "negative" and ("nonnegative" in method["capabilities"] or settings.get("divergence") == "kl"):
        return "--scale minmax"
    return None


class DefaultPreprocessing(CliTest):
    def setUp(self):
        super().setUp()
        self.kinds = tables()
        for kind, rows in self.kinds.items():
            for name, part in (("a", rows), ("b", rows[::-1])):
                self.write(f"{kind}_{name}.csv", "\n".join(",".join(map(str, row)) for row in [[f"c{j}" for j in range(len(rows[0]))], *part]) + "\n")
        self.write("classes", "u\nv\n" * (ROWS // 2))
        self.methods = json.loads(self.run_kindred("methods", "--json").stdout)

    def command(self, method, kind):
        a, b = f"{kind}_a.csv", f"{kind}_b.csv"
        if method["family"] == "cluster":
            return ["cluster", "-m", method["id"], "-k", 2, a, b]
        bridge = ["--bridge", a] if "bridge" in method["capabilities"] else []
        return ["transfer", "-m", method["id"], "--source", a, "--labels", "classes", "--target", b, *bridge]

    def check(self, family):
        for method in self.methods:
            if method["family"] != family:
                continue
            choices = [(o["name"], c) for o in method["options"] if o["type"] == "choice" for c in o["choices"] if c != o["default"]]
            for settings in [{}, *({name: value} for name, value in choices)]:
                given = [f"--set={name}={value}" for name, value in settings.items()]
                for kind in self.kinds:
                    with self.subTest(method=method["id"], settings=settings, kind=kind):
                        says = refused(method, settings, kind)
                        command = [*self.command(method, kind), "-q", "--threads", 1, *given]
                        self.fails(*command, code=3, says=says) if says else self.run_kindred(*command)

    def test_of_clustering_methods(self):
        self.check("cluster")

    def test_of_transfer_methods(self):
        self.check("transfer")

    def test_itakura_saito_compares_ratios(self):
        rows = [[c * 10 + 1 + i % 3 * .1, (c * 10 + 1 + i % 4 * .1) * 1000] for i, c in enumerate([0, 1] * 10)]
        self.write("r.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
        done = self.run_kindred("cluster", "-m", "bregman", "-k", 2, "--set", "divergence=is", "-o", "out", "r.csv").stdout
        self.assertEqual(self.read("out/r.labels").split(), ["0", "1"] * 10)
        self.assertNotIn("minmax", done)


if __name__ == "__main__":
    unittest.main()
