#!/usr/bin/env python3
"""Writes kindred/__init__.pyi from the registry and the signatures of the functions. SPDX-License-Identifier: BSD-3-Clause

Usage: make_stubs.py [--check]. A test runs it with --check, which fails if the stubs are not up to date.
"""
import inspect
import sys
from pathlib import Path

import kindred
from kindred import _estimators
from kindred._docs import choices

FILE = Path(__file__).resolve().parents[1] / "python" / "kindred" / "__init__.pyi"
TYPES = {"int": "int", "real": "float", "bool": "bool", "reals": "float | Sequence[float]"}
# Types of parameters by name, which mean the same everywhere, and return types of functions, methods and properties.
COLUMNS = "str | Sequence[str] | Mapping[str, str | None] | None"
PARAMETERS = {
    "X": "Tables", "tasks": "Tables", "sources": "Tables", "targets": "Tables", "X_target": "Tables", "table": "Tables", "path": "Any",
    "k": "int | str | Sequence[int | str | range] | Mapping[str, int | str | range] | None", "method": "str", "options": "Mapping[str, Any] | None", "columns": COLUMNS,
    "missing": "str | None", "decimal": "str | None", "thousands": "str | None", "skip_rows": "int | str | None", "sheet": "str | None", "id_column": "str | None", "label_column": "str | None", "task_column": "str | None",
    "na": "str | Sequence[str] | None", "weight": "str | None", "norm": "str | None", "scale": "str | None", "threads": "int | None",
    "device": "str | None", "time_limit": "float | None", "max_memory": "float | None", "size": "float | None", "map": "bool", "probabilities": "bool", "force": "bool",
    "format": "str | None", "name": "str | None", "text_column": "str | None", "texts": "Mapping[str, Any] | None", "delimiter": "str | None",
    "encoding": "str | None", "header": "bool | None", "transpose": "bool", "stream": "bool | None", "may_lack_labels": "bool",
    "may_lack_columns": "bool", "features": "str | None", "top_features": "int | None", "top_by": "str | None", "fit_on": "str | None",
    "preprocess": "str", "pooled": "bool", "quality": "bool", "resamples": "int | None",
    "batch_key": "str | None", "label_key": "str", "layer": "str | None", "obsm": "str | None", "key": "str",
    "task": "str | int | None", "progress": "bool | Callable[[dict[str, Any]], Any] | None",
    "seed": "int | np.random.RandomState | np.random.Generator | None"}
ARRAY = "np.ndarray[Any, Any]"
RETURNS = {
    "cluster": "Result", "transfer": "Result", "cluster_anndata": "Result", "transfer_anndata": "Result", "load_model": "Model",
    "report": "Report", "evaluate": "dict[str, float]", "inspect": "dict[str, Any]", "relate": "dict[str, Any]",
    "prepare": "list[Data]", "generate": "list[Data]", "methods": "list[dict[str, Any]]", "devices": "str", "write": "None", "convert": "None",
    "write_h5ad": "None", "set_device": "None", "set_max_unpacked": "None",
    "Result.method": "str", "Result.tasks": "list[str]", "Result.labels": ARRAY, "Result.index": "int", "Result.k": "int", "Result.numbers": ARRAY, "Result.save_table": "None", "Result.names": "list[str | None]", "Result.rename_clusters": "None", "Result.objective": ARRAY,
    "Result.stop": "str", "Result.complete": "bool", "Result.iterations": "int", "Result.warnings": "list[str]", "Result.fields": "dict[str, Any]",
    "Result.arrays": "dict[str, Any]", "Result.correspondence": "list[dict[str, Any]]", "Result.advice": "list[str]", "Result.sharing": "dict[str, Any] | None", "Result.ids": "list[str] | None",
    "Result.map": f"{ARRAY} | None", "Result.map_rows": ARRAY, "Result.confidence": f"{ARRAY} | None", "Result.second": f"{ARRAY} | None",
    "Result.probabilities": f"{ARRAY} | None", "Result.quality": "dict[str, Any] | None", "Result.clusters": "list[dict[str, Any]]",
    "Result.to_json": "str", "Result.levels": "dict[int, Result]", "Result.to_dict": "dict[str, Any]", "Result.model": "Model", "Result.relatedness": f"{ARRAY} | None",
    "Result._repr_html_": "str", "Report._repr_html_": "str", "Report.save": "None",
    "Model.method": "str", "Model.tasks": "list[str]", "Model.index": "int", "Model.predict": ARRAY, "Model.read": "Data", "Model.result": "Result",
    "Data.name": "str", "Data.path": "str", "Data.streamed": "bool", "Data.shape": "tuple[int, int]", "Data.feature_names": "list[str] | None",
    "Data.ids": "list[str] | None", "Data.excerpts": "list[str] | None", "Data.columns": "list[dict[str, Any]] | None",
    "Data.left_out": "list[tuple[int, str, str]]", "Data.rows": ARRAY, "Data.table_rows": "int", "Data.labels": f"{ARRAY} | None",
    "Clusterer.fit": "Fitted", "Transfer.fit": "Fitted"}
HEAD = '''"""Made by make_stubs.py from the registry. SPDX-License-Identifier: BSD-3-Clause"""
from typing import Any, Callable, Literal, Mapping, Sequence, TypeVar

import numpy as np

Tables = Any
Fitted = TypeVar("Fitted")
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
        found = RETURNS.get(f"{cls.__name__}.{name}", "Any")
        if isinstance(value, property):
            out.append(f"    @property\n    def {name}(self) -> {found}: ...")
        elif inspect.isfunction(value):
            signature = plain(value).replace("(self", "(self: Fitted", 1) if found == "Fitted" else plain(value)
            out.append(f"    def {name}{signature} -> {found}: ...")
    return out or ["    ..."]


def plain(function):
    """A signature without its defaults."""
    parts, star = [], False
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        mark = "**" if p.kind is p.VAR_KEYWORD else ""
        kind = "" if p.name == "self" else f": {PARAMETERS.get(p.name, 'Any')}"
        parts.append(f"{mark}{p.name}{kind}{' = ...' if p.default is not p.empty else ''}")
    return f"({', '.join(parts)})"


def option_type(option):
    if option["type"] == "choice":
        return f"Literal[{', '.join(map(repr, option['choices']))}]"
    return TYPES[option["type"]]


def estimator(entry):
    parts = ["n_clusters: int | str | Sequence[int | str | range] | Mapping[str, int | str | range] | None = ..."] if entry["family"] == "cluster" else []
    parts += [f"{_estimators.parameter(o['name'])}: {option_type(o)} = ..." for o in entry["options"]]
    parts += [f"preprocess: Literal[{', '.join(map(repr, choices('preprocess')))}] = ...", "random_state: int | np.random.RandomState | np.random.Generator | None = ...", "threads: int | None = ...",
              "device: str | None = ...", "verbose: int = ..."]
    base = "Clusterer" if entry["family"] == "cluster" else "Transfer"
    lines = [f"class {entry['class']}({base}):"] + [f"    {f['name']}_: Any" for f in entry["fields"]]
    lines.append(f"    def __init__(self, *, {', '.join(parts)}) -> None: ...")
    if "predict" in entry["flags"]:
        lines.append("    def predict(self, X: Tables, task: str | int | None = ...) -> np.ndarray[Any, Any]: ...")
    if entry["id"] == "auto":
        lines.append("    def fit_more(self, X: Tables, n_clusters: int | Sequence[int] | Mapping[str, int] | None = ..., new_clusters: Literal['auto', 'yes', 'no'] = ..., map: bool | None = ...) -> Auto: ...")
    if hasattr(getattr(kindred, entry["class"]), "transform"):
        lines += ["    cluster_centers_: Any", *(["    inertia_: float"] if entry["id"] == "kmeans" else []),
                  "    def transform(self, X: Tables, task: str | int | None = ...) -> np.ndarray[Any, Any]: ...",
                  "    def score(self, X: Tables, y: Any = ..., task: str | int | None = ...) -> float: ..."]
    if "inductive" in entry["flags"] and entry["family"] == "transfer":
        lines.append("    def predict_proba(self, X: Tables) -> np.ndarray[Any, Any]: ...")
    return "\n".join(lines)


def stubs():
    parts = [HEAD]
    for name in ("Data", "Result", "Model", "Report"):
        parts.append("\n".join([f"class {name}:"] + members(getattr(kindred, name))) + "\n")
    common = ["    def get_params(self, deep: bool = ...) -> dict[str, Any]: ...", "    def set_params(self, **params: Any) -> Any: ..."]
    fitted = ["    labels_: Any", "    n_clusters_: Any", "    sharing_: Mapping[str, dict[str, Any] | None]", "    confidence_: Any", "    second_: Any", "    clusters_: Any", "    levels_: dict[int, Any]", "    interrupted_: bool", "    n_features_in_: int", "    objective_: np.ndarray[Any, Any]", "    relatedness_: Any",
              "    correspondence_: Any", "    warnings_: list[str]", "    advice_: Mapping[str, list[str]]", "    result_: Result"]
    for cls in (_estimators.Clusterer, _estimators.Transfer):
        own = fitted if cls is _estimators.Clusterer else fitted[3:] + ["    transduction_: Any", "    classes_: Any"]
        parts.append("\n".join([f"class {cls.__name__}:"] + own + common + members(cls)) + "\n")
    for name in kindred.__all__:
        value = getattr(kindred, name)
        if inspect.isfunction(value):
            parts.append(f"def {name}{plain(value)} -> {RETURNS.get(name, 'Any')}: ...")
    parts += ["", *(estimator(e) for e in kindred.methods() if e["family"] != "features")]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if not FILE.exists() or FILE.read_text() != stubs():
            sys.exit("kindred/__init__.pyi does not match the registry: run tools/make_stubs.py")
    else:
        FILE.write_text(stubs())
