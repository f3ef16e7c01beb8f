#!/usr/bin/env python3
"""Runs the scripts of examples/ that need no other data, and checks the files that they write.

usage: examples.py PROGRAM"""
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from parts import PartsTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(sys.argv.pop(1))


class Examples(PartsTest):
    @contextlib.contextmanager
    def ran(self, *command):
        """The folder that the script wrote. `python3` is the interpreter of this test."""
        path = ":".join([os.path.dirname(PROGRAM), os.path.dirname(sys.executable), os.environ["PATH"]])
        with tempfile.TemporaryDirectory(prefix="kindred-examples-") as folder:
            out = pathlib.Path(folder, "out")
            done = subprocess.run([*command, out], cwd=folder, env=dict(os.environ, PATH=path), capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            yield out

    def test_segments(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("openpyxl is needed")

        def rows(path):
            table = list(openpyxl.load_workbook(path).active.values)
            return [dict(zip(table[0], row)) for row in table[1:]]

        ages = {"price-sensitive families": 38, "young app users": 26, "Käse-Genießer 50+": 58}  # as the script makes them
        with self.ran("sh", ROOT / "examples/segments.sh") as out:
            named = {}
            for name, count in {"nord": 240, "süd": 120, "nord-march": 30, "west": 90}.items():
                before, after = rows(out / f"{name}.xlsx"), rows(out / f"segments-{name}.xlsx")
                self.assertEqual(len(after), count)
                self.assertEqual([{k: row[k] for k in before[0]} for row in after], before, "the customers are unchanged")
                for row in after:
                    self.assertGreater(row["cluster_confidence"], 0)
                    self.assertEqual(named.setdefault(row["cluster"], row["cluster_name"]), row["cluster_name"], "one name in every file")
                for segment, age in ages.items():
                    members = [row["age"] for row in after if row["cluster_name"] == segment and row["age"]]
                    self.assertGreater(len(members), 2, (name, segment))
                    self.assertAlmostEqual(statistics.median(members), age, delta=4, msg=f"{name}: a segment has the same people in every file")
            self.assertEqual(set(named.values()), set(ages))
            self.assertEqual((out / "nord-march.labels").read_text().split(), [str(row["cluster"]) for row in rows(out / "segments-nord-march.xlsx")])
            self.assertIn("Müsli", (out / "first/report.html").read_text(encoding="utf-8"))
            for report in ("named/report.html", "second/result.json"):
                self.assertIn("Käse-Genießer 50+", (out / report).read_text(encoding="utf-8"), report)

    def test_cells(self):
        try:
            import anndata
        except Exception:  # an installed anndata may not import with a newer NumPy
            self.skipTest("anndata is needed")
        with self.ran(sys.executable, ROOT / "examples/cells.py") as out:
            reference, new = anndata.read_h5ad(out / "reference.h5ad").obs, anndata.read_h5ad(out / "new.h5ad").obs
            self.assertEqual(list(reference["donor"].value_counts()), [300, 170, 120])
            self.assertGreater((reference["cell_type"].astype(str) == reference["made_as"].astype(str)).mean(), .98)
            self.assertEqual(len(set(zip(reference["kindred"], reference["cell_type"]))), 3, "one name for each cluster")
            self.assertIn('"monocyte"', (out / "report.html").read_text(encoding="utf-8"))
            unknown = new["made_as"] == "plasma cell"
            rank = new["kindred_unlike_source"]
            self.assertGreater((new["kindred"].astype(str) == new["made_as"].astype(str))[~unknown].mean(), .98)
            self.assertGreater((rank[unknown].to_numpy()[:, None] > rank[~unknown].to_numpy()).mean(), .9, "how often a plasma cell ranks above another cell")
            self.assertLess(new["kindred_confidence"][unknown].max(), new["kindred_confidence"][~unknown].median())


unittest.main()
