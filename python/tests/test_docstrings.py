"""Docstrings: all examples run, and all follow numpydoc. SPDX-License-Identifier: BSD-3-Clause

The format is checked by numpydoc's own validator, if it is installed."""
import doctest
import importlib.util
import inspect
import os
import re
import tempfile
import unittest
import warnings

import kindred
import kindred.plot
from common import PartsTest

# Rules of numpydoc that are not ours: the first line begins after the quotes; properties and small methods are described in one
# sentence, without an extended summary, sections See Also and Examples; lines may be longer than those of a terminal.
OTHER_RULES = {"GL01", "GL02", "ES01", "YD01", "RT02", "RT03", "SA01", "EX01", "SS06", "PR06"}
MADE_BY_FUNCTIONS = {"Data", "Model", "Result"}  # their constructors are not for users


def public():
    """(name, object, whether it must have an example) of everything a user can call, and of the attributes of classes."""
    yield "kindred", kindred, True
    for name in kindred.__all__:
        thing = getattr(kindred, name)
        yield name, thing, True
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member, value in inspect.getmembers(thing):
                owner = next((c for c in thing.__mro__ if member in vars(c)), None)
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)) and owner.__module__.startswith("kindred"):
                    yield f"{name}.{member}", value, False
    for name in kindred.plot.__all__:
        yield f"plot.{name}", getattr(kindred.plot, name), True


class Docstrings(PartsTest):
    def test_everything_public_has_one(self):
        for name, thing, example in public():
            with self.subTest(name):
                self.assertTrue(inspect.getdoc(thing), f"{name} has no docstring")
                self.assertNotRegex(thing.__doc__, r"(?m)^ *<\w+>$")
                if example:
                    self.assertIn(">>> ", thing.__doc__)

    def test_examples_run(self):
        finder, count = doctest.DocTestFinder(recurse=False), 0
        before = os.getcwd()
        for name, thing, _ in public():
            if name.startswith("plot.") and importlib.util.find_spec("matplotlib") is None:
                print(f"skipped: {name}: matplotlib is not installed")
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                os.chdir(folder)
                try:
                    for test in finder.find(thing, name, module=False, globs={}):
                        report = []
                        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
                        count += tried
                        self.assertEqual(failed, 0, "".join(report))
                finally:
                    os.chdir(before)
        self.assertGreater(count, 200)

    def test_choices_are_listed(self):
        """The values of choices that are written out in docstrings, and not taken from the library."""
        for entry in kindred.methods():
            for option in entry["options"] if entry["family"] != "features" else ():
                for value in option["choices"]:
                    self.assertIn(repr(value), getattr(kindred, entry["class"]).__doc__)
        self.assertIn("{'forces', 'directions'}", kindred.embed.__doc__)
        fields = re.findall(r"``(\w+)``", inspect.getdoc(kindred.vectorize).split("**options")[1].split("Returns")[0])
        with self.assertRaises(TypeError) as caught:
            kindred.vectorize([["a"]], no_such_option=1)
        allowed = re.findall(r"\w+", str(caught.exception).split(":", 1)[1])
        self.assertEqual([name for name in fields if name not in allowed], [])

    @unittest.skipIf(importlib.util.find_spec("numpydoc") is None, "numpydoc is not installed")
    def test_numpydoc_format(self):
        from numpydoc.validate import validate
        wrong = []
        for name, thing, _ in public():
            if name != "kindred":
                found = validate(f"kindred.{name}")["errors"]
                wrong += [f"{name}: {code} {message}" for code, message in found if code not in OTHER_RULES and (code != "PR01" or name not in MADE_BY_FUNCTIONS)]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
