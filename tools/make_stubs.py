#!/usr/bin/env python3
"""Writes kindred/__init__.pyi from the registry and the functions' own signatures. SPDX-License-Identifier: BSD-3-Clause

Usage: make_stubs.py [--check]. A test runs it with --check: the stubs are those of the methods there are.
"""
import inspect
import sys
from pathlib import Path

import kindred
from kindred import _estimators

FILE = Path(__file__).resolve().parents[1] / "python" / "kindred" / "__init__.pyi"
TYPES = {"int": "int", "real": "float", "bool": "bool", "choice": "str", "reals": "float | Sequence[float]"}
HEAD = '''"""Made by make_stubs.py from the registry. SPDX-License-Identifier: BSD-3-Clause"""
from typing import Any, Callable, Mapping, Sequence

import numpy as np

Tables = Any
__version__: str

class NumericError(ArithmeticError): ...
class UnsupportedError(ValueError): ...
class ConvergenceWarning(UserWarning): ...
class KindredWarning(UserWarning): ...
'''


def members(cls):
    """Public methods and properties of a class, as declarations."""
    out = []
    for name, value in vars(cls).items():
        if name.startswith("_") and name != "_repr_html_":
            continue
        if isinstance(value, property):
            out.append(f"    @property\n    def {name}(self) -> Any: ...")
        elif inspect.isfunction(value):
            out.append(f"    def {name}{plain(value)} -> Any: ...")
    return out or ["    ..."]


def plain(function):
    """A signature whose defaults are left out."""
    parts, star = [], False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = "**" if p.kind is p.VAR_KEYWORD else ""
        kind = "" if p.name == "self" else ": Any"
        parts.append(f"{mark}{p.name}{kind}{' = ...' if p.default is not p.empty else ''}")
    return f"({', '.join(parts)})"


def estimator(entry):
    parts = ["n_clusters: int | str | Sequence[int] | None = ..."] if entry["family"] == "cluster" else []
    parts += [f"{_estimators.parameter(o['name'])}: {TYPES[o['type']]} = ..." for o in entry["options"]]
    parts += ["random_state: int | np.random.RandomState | np.random.Generator | None = ...", "threads: int | None = ...",
              "device: str | None = ..."]
    base = "Clusterer" if entry["family"] == "cluster" else "Transfer"
    lines = [f"class {entry['class']}({base}):"] + [f"    {f['name']}_: Any" for f in entry["fields"]]
    lines.append(f"    def __init__(self, *, {', '.join(parts)}) -> None: ...")
    if "predict" in entry["flags"]:
        lines.append("    def predict(self, X: Tables, task: str | None = ...) -> np.ndarray[Any, Any]: ...")
    if "inductive" in entry["flags"] and entry["family"] == "transfer":
        lines.append("    def predict_proba(self, X: Tables) -> np.ndarray[Any, Any]: ...")
    return "\n".join(lines)


def stubs():
    parts = [HEAD]
    for name in ("Data", "Result", "Model", "Report"):
        parts.append("\n".join([f"class {name}:"] + members(getattr(kindred, name))) + "\n")
    common = ["    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...", "    def set_params(self, **params: Any) -> Any: ..."]
    fitted = ["    labels_: Any", "    n_features_in_: int", "    objective_: np.ndarray[Any, Any]", "    relatedness_: Any",
              "    correspondence_: Any", "    warnings_: list[str]", "    advice_: Mapping[str, list[str]]", "    result_: Result"]
    for cls in (_estimators.Clusterer, _estimators.Transfer):
        own = fitted if cls is _estimators.Clusterer else fitted[1:] + ["    transduction_: Any", "    classes_: Any"]
        parts.append("\n".join([f"class {cls.__name__}:"] + own + common + members(cls)) + "\n")
    for name in kindred.__all__:
        value = getattr(kindred, name)
        if inspect.isfunction(value):
            parts.append(f"def {name}{plain(value)} -> Any: ...")
    parts += ["", *(estimator(e) for e in kindred.methods() if e["family"] != "features")]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not FILE.exists() or FILE.read_text() != stubs():
            sys.exit("kindred/__init__.pyi is not what the registry says: run tools/make_stubs.py")
    else:
        FILE.write_text(stubs())
