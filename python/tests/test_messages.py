"""Messages of the library name parameters of Python. SPDX-License-Identifier: BSD-3-Clause"""
import inspect
import pathlib
import re
import unittest

import common  # noqa: F401
import kindred
import numpy as np
from kindred._errors import _FLAGS, in_python

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"
OPTION = re.compile(r"(?<![\w-])(?:--([a-z][a-z-]*)|-k(?![\w-]))")


def parameters():
    """Names of parameters of all functions, methods and estimators, and of the options for texts."""
    found = {"add()", "set_max_unpacked()", "ngrams", "tokens", "guard", "features_from"}  # features_from: of the program and R only
    for thing in (getattr(kindred, name) for name in kindred.__all__):
        methods = [m for _, m in inspect.getmembers(thing, inspect.isfunction)] if inspect.isclass(thing) else [thing] if callable(thing) else []
        for method in methods:
            found |= set(inspect.signature(method).parameters)
    return found


class Messages(unittest.TestCase):
    def test_options_become_parameters(self):
        for line, expected in (("use --missing mean or --force", "use missing='mean' or force=True"),
                               ("use --rename 'a=b' to match", "use rename={'a': 'b'} to match"),
                               ("-k 9: use --na 'inf' or -k auto", "k=9: use na='inf' or k='auto'"),
                               ("specify it with --decimal '.' or ','", "specify it with decimal='.' or ','"),
                               ("use -k 3,2 to separate it", "use k=[3, 2] to separate it"),
                               ("--pooled: 'x' is not valid", "pooled: 'x' is not valid"),
                               ("use --text-column", "use text_column")):
            self.assertEqual(in_python(line), expected)

    def test_every_message_names_parameters(self):
        known, checked = parameters(), 0
        for path in SOURCES.rglob("*.c"):
            if path.parts[len(SOURCES.parts)] == "comm" or "cuda" in path.parts:
                continue
            source = path.read_text(encoding="utf-8")
            if path.parts[-2:] == ("jobs", "options.c"):
                source = source.split("enum { COUNT")[1]  # after the help of the program
            for line in re.findall(r'"((?:\\.|[^"\\])*)"', source):
                options = OPTION.findall(line)
                checked += bool(options)
                self.assertNotRegex(in_python(line), OPTION, path)
                for name in filter(None, options):
                    spelt = _FLAGS.get(name, name.replace("-", "_")).split("=")[0]
                    self.assertIn(spelt, known, f"{path}: {line}")
        self.assertGreater(checked, 50)

    def test_advice(self):
        near = kindred.relate(kindred.generate("blobs", k=3, samples=60, shift=0, rotation=0, seed=1))["tasks"]
        self.assertEqual([task["advice"].endswith("with and without transfer=False") for task in near], [True, True])

    def test_methods_and_errors(self):
        help = {o["name"]: o["help"] for o in next(m for m in kindred.methods() if m["id"] == "auto")["options"]}
        self.assertIn("k='auto'", help["k_max"])
        self.assertIn("n_clusters=None", kindred.Auto.__doc__)
        with self.assertRaisesRegex(ValueError, "needs k, the number of clusters"):
            kindred.cluster(np.eye(3), method="kmeans")


if __name__ == "__main__":
    unittest.main()
