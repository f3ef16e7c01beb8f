"""The examples of docs/python.md and README.md run. SPDX-License-Identifier: BSD-3-Clause"""
import importlib.util
import os
import re
import tempfile
import unittest

import numpy as np
import pandas as pd

from common import PartsTest, quiet

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def shop(n, seed):
    """Customers in four segments."""
    rng = np.random.default_rng(seed)
    segment = rng.integers(0, 4, n)
    return pd.DataFrame({"age": 20 + 15 * segment + rng.normal(size=n), "income": 30 * (segment % 2) + rng.normal(size=n), "visits": rng.poisson(3, n)})


class Guide(PartsTest):
    def test_examples_run(self):
        import anndata

        os.environ["MPLBACKEND"] = "Agg"
        rng = np.random.default_rng(1)
        y = np.repeat([0, 1, 2], 30)
        X = np.abs(rng.normal(size=(90, 8)) + 4 * np.eye(8)[y])  # TTL needs entries >= 0
        cells = [anndata.AnnData(rng.poisson(1 + 8 * np.eye(40)[y]).astype(np.float32), obs=pd.DataFrame(
            {"batch": ["a", "b"] * 45, "cell_type": [f"type{c}" for c in y]}, index=[f"cell{i}" for i in range(90)])) for _ in range(2)]
        for one in cells:
            one.layers["counts"] = one.X.copy()
        names = {"X_source": X[::2], "y_source": y[::2], "X_target": X[1::2], "X_bridge": X[::3], "X": X, "y": y,
                 "domain": np.where(np.arange(90) % 2, -1, 1), "adata": cells[0], "reference": cells[1]}
        blocks = []
        for page in ("docs/python.md", "README.md"):
            with open(os.path.join(ROOT, page), encoding="utf-8") as f:
                found = re.findall(r"```python\n(.*?)```", f.read(), re.S)
            self.assertTrue(found, page)
            blocks += [(page, block) for block in found]
        self.assertGreaterEqual(len(blocks), 5)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for i, file in enumerate(("north.csv", "south.csv", "new.csv")):
                    shop(120 >> i, i).to_csv(file, index=False)
                for page, block in blocks:
                    if "kindred.plot" in block and not importlib.util.find_spec("matplotlib"):
                        continue
                    quiet(exec, compile(block, page, "exec"), names)
                self.assertTrue(os.path.exists("report.html"))
            finally:
                os.chdir(before)
        self.assertEqual(sorted(set(names["model"].labels_["north"])), [0, 1, 2, 3])
        self.assertIn("kindred", names["adata"].obs)


if __name__ == "__main__":
    unittest.main()
