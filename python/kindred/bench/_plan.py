"""Plans: tables, rows and data sets, read from JSON and checked. SPDX-License-Identifier: BSD-3-Clause

`{"title": "reviews", "pairs": [A, B, C], ...}` stands for one table from each data set to each other one and, for three or more,
one from all others to each. Tables without `rows` have those of the plan.
"""
from __future__ import annotations

import difflib
import itertools
import json
import math
import os
import re
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from .._docs import choices
from .._errors import chars
from .._kindred import ffi, lib
from .._results import describe

SCORES = ("acc", "nmi", "nmi_arithmetic", "nmi_max", "ari", "purity", "homogeneity", "completeness", "v_measure")
PREPARING = {"features": "features", "weight": "weight", "norm": "norm", "scale": "scale", "top_by": "top-by", "fit_on": "fit-on"}
MOST_LINES = 100_000  # settings of all grids of a table
_NEEDED = object()


def safe(words: str) -> str:
    """Control characters as \\xNN, so that names in data cannot change the terminal."""
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda found: f"\\x{ord(found[0]):02x}", words)


def complain(message: object) -> None:
    """Prints an error or a warning."""
    print(f"kindred.bench: {safe(str(message))}", file=sys.stderr, flush=True)


class PlanError(ValueError):
    """Something in a plan, or in the data that it names, is wrong."""


@dataclass
class File:
    """A data set of a table."""
    path: str   # or, if the data are generated, the name of the data set
    given: str  # the path as the plan has it
    role: str   # "task", "source", "bridge" or "target"
    k: int = 0  # 0: the number of known classes
    name: str | None = None
    classes: list[tuple[str, str]] = field(default_factory=list)  # only these classes, and the name of each here
    part: list[float] | None = None
    words: list[float] | None = None
    keep: dict[str, float] = field(default_factory=dict)

    @property
    def scored(self) -> bool:
        return self.role in ("task", "target")


@dataclass
class Row:
    """A method with its settings, or published values only."""
    name: str
    method: str | None
    pooled: bool = False
    repeats: int = 0  # maximum; 0: those of the table
    set: dict[str, str] = field(default_factory=dict)
    grid: dict[str, list[str]] = field(default_factory=dict)
    references: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)

    def settings(self) -> list[dict[str, str]]:
        """The points of the grid. The first option varies fastest."""
        names = list(self.grid)[::-1]
        return [dict(zip(names[::-1], values[::-1])) for values in itertools.product(*(self.grid[name] for name in names))]


@dataclass
class Table:
    """Data and rows. All rows use the same data and seeds."""
    title: str
    group: str  # in the summary of the plan
    note: str | None
    files: list[File]
    rows: list[Row]
    design: str | None  # how the data are generated; None: they are files
    separation: float   # 0: the default of the design
    preparing: dict[str, Any]  # arguments of kindred.prepare(); weight "auto": chosen by the kind of data
    label_column: str | None
    missing: str | None
    scores: list[str]
    sample: int  # maximum number of samples per data set; 0: all
    repeats: int
    random_start: bool
    pick: bool
    paired: str | None
    record: bool

    @property
    def own_features(self) -> bool:
        """Whether the data sets have no common features, so that they are not aligned."""
        return any("own_features" in method(row.method)["flags"] for row in self.rows if row.method)


@dataclass
class Plan:
    """What a JSON file describes."""
    title: str
    paper: str | None
    tables: list[Table]
    summary: str | None  # the row that the summary compares with `against`
    against: list[str]


@lru_cache(maxsize=None)
def method(name: str | None) -> dict[str, Any]:
    """The method with this id."""
    return describe(lib.kdr_algo_find(chars(name)))


def _method_id(name: str, sources: bool) -> str | None:
    """The id of a method; None if there is none. "auto" is a method of both families: with sources, that of transfer."""
    found = ffi.new("const kdr_algo **")
    if sources and lib.kdr_algo_require(ffi.NULL, chars(name), lib.KDR_FAMILY_TRANSFER, found) == lib.KDR_OK:
        return ffi.string(found[0].id).decode()
    return name if lib.kdr_algo_find(chars(name)) != ffi.NULL else None


def suggestion(word: str, words: Sequence[str]) -> str:
    """ "; did you mean 'x'?", or nothing if no word is similar."""
    near = difflib.get_close_matches(word, words, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


class _Object:
    """An object of the plan. Its place begins all messages."""

    def __init__(self, place: str, value: Any, keys: Sequence[str]):
        self.place, self.value = place, value
        if not isinstance(value, dict):
            raise self.wrong("this must be an object, {...}")
        for key in value:
            if key not in keys:
                raise self.wrong(f"unknown key '{key}'{suggestion(key, keys)}")

    def wrong(self, message: str) -> PlanError:
        return PlanError(f"{self.place}: {message}")

    def take(self, key: str, valid: Callable[[Any], Any], what: str, default: Any = None) -> Any:
        """The value of a key, which must be valid."""
        value = self.value.get(key, default)
        if (key in self.value or default is _NEEDED) and not valid(value):
            raise self.wrong(f"'{key}' must be {what}")
        return value

    def text(self, key: str, default: Any = None) -> Any:
        return self.take(key, lambda v: isinstance(v, str), "a string", default)

    def number(self, key: str, low: float, high: float, default: float) -> Any:
        return self.take(key, lambda v: _is_number(v) and low <= v <= high, f"a number from {low:g} to {high:g}", default)

    def choice(self, key: str, allowed: Sequence[str]) -> Any:
        return self.take(key, lambda v: v in allowed, f"one of {', '.join(allowed)}")

    def list(self, key: str, what: str) -> Any:
        return self.take(key, lambda v: isinstance(v, list) and v, f"a list of {what}", _NEEDED)

    def object(self, key: str, what: str) -> Any:
        return self.take(key, lambda v: isinstance(v, dict), f"an object with {what}", {})

    def option(self, value: Any) -> str:
        """The value of an option as text, as `--set` takes it; a list has one number per data set."""
        if isinstance(value, list) and value:
            if not all(map(_is_number, value)):
                raise self.wrong("a list of option values must have numbers only")
            return ",".join(f"{v:.15g}" for v in value)
        if isinstance(value, (str, int)):  # a bool is an int
            return str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, float):
            return f"{value:.15g}"
        raise self.wrong("an option value must be a number, a string, true or false")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _stem_of(item: Any) -> str:
    """What the title of a pair calls a data set."""
    given = item if isinstance(item, dict) else {"path": item}
    return str(given.get("name") or os.path.basename(str(given.get("path", "?"))))


def _find(path: str, folder: str) -> str:
    """A relative path starts at the folder of the plan or, if there is no such file, at KINDRED_DATA."""
    data = os.environ.get("KINDRED_DATA")
    tried = [os.path.join(folder, path)] + ([os.path.join(data, path)] if data else [])
    return next((p for p in tried if os.path.exists(p)), tried[0])


def _share(o: _Object, key: str) -> Any:
    return o.take(key, lambda v: isinstance(v, list) and len(v) == 2 and all(map(_is_number, v)) and 0 <= v[0] < v[1] <= 1,
                  "two numbers from 0 to 1, the smaller one first")


def _classes(o: _Object) -> list[tuple[str, str]]:
    """["a", "b"]: only these; {"x": ["a", "b"], "y": ["c"]}: only these, with other names."""
    classes = o.take("classes", lambda v: isinstance(v, (list, dict)) and v, "a list of names, or an object of such lists", [])
    if isinstance(classes, list):
        return [(o.option(c), o.option(c)) for c in classes]
    named = _Object(f"{o.place}: classes", classes, list(classes))
    return [(o.option(c), name) for name in classes for c in named.list(name, "names")]


def _file(table: _Object, item: Any, key: str, role: str, folder: str) -> File:
    given = item if isinstance(item, dict) else {"path": item}
    if not isinstance(given.get("path"), str):
        raise table.wrong(f"'{key}' must be a file, an object with its \"path\", or a list of these")
    o = _Object(table.place, given, ("path", "name", "classes", "part", "keep", "words"))
    keep = o.object("keep", "classes and the fraction of each that is kept")
    kept = _Object(o.place, keep, list(keep))
    return File(_find(given["path"], folder), given["path"], role, name=o.text("name"), classes=_classes(o), part=_share(o, "part"),
                words=_share(o, "words"), keep={name: kept.number(name, 0, 1, 1) for name in keep})


def _files(o: _Object, folder: str) -> list[File]:
    if "generate" in o.value:
        if o.choice("generate", ("blobs", "topics", "berikov")) == "berikov":
            return [File(role, role, role) for role in ("source", "target")]
        return [File(f"task{i + 1}", f"task{i + 1}", "task") for i in range(int(o.number("tasks", 1, 100, 2)))]
    found = []
    for key, role in (("data", "task"), ("source", "source"), ("bridge", "bridge"), ("target", "target")):
        items = o.value.get(key, [])
        found += [_file(o, item, key, role, folder) for item in (items if isinstance(items, list) else [items])]
    if not found:
        raise o.wrong("no data: add 'data', or 'source' and 'target', or 'generate'")
    return found


def _clusters(o: _Object, files: list[File]) -> None:
    k = o.value.get("k", 0)
    each = k if isinstance(k, list) else [k] * len(files)
    if "k" in o.value and (len(each) < len(files) or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in each)):
        raise o.wrong("'k' must be an integer, 1 or larger, or one for each data set")
    for file, n in zip(files, each):
        file.k = n


def _references(o: _Object, scores: list[str], scored: int) -> dict[str, dict[str, list[float | None]]]:
    """{"paper": {"acc": [0.57, null]}}: one value per scored data set."""
    found: dict[str, dict[str, list[float | None]]] = {}
    for label, values in o.object("references", "labels and their values").items():
        for score, listed in values.items() if isinstance(values, dict) else [(label, None)]:
            if score not in scores or not isinstance(listed, list) or len(listed) != scored:
                raise o.wrong(f"references: '{score}' must be a score of the table, with a list of {scored} figures")
        found[label] = {score: [v if _is_number(v) else None for v in values.get(score, [None] * scored)] for score in scores}
    return found


def _row(place: str, item: Any, files: list[File], scores: list[str]) -> Row:
    o = _Object(place, item, ("name", "method", "missing", "repeats", "pooled", "set", "grid", "references", "alone"))
    references = _references(o, scores, sum(f.scored for f in files))
    if "missing" in item:
        o.text("missing", _NEEDED)
        return Row(o.text("name", _NEEDED), None, references=references)
    name, alone, sources = o.text("method", _NEEDED), item.get("alone") is True, any(f.role == "source" for f in files)
    found = _method_id(name, sources and not alone)
    if found is None:
        known = [ffi.string(lib.kdr_algo_at(i).id).decode() for i in range(lib.kdr_algo_count())]
        raise o.wrong(f"unknown method '{name}'" + (suggestion(name, known) or "; 'kindred methods' and kindred.methods() list the methods"))
    transfers = method(found)["family"] == "transfer"
    if alone and transfers:
        raise o.wrong(f"'alone': method '{name}' cannot run without the sources")
    if transfers and not sources:
        raise o.wrong(f"method '{name}' transfers labels: the table needs 'source' and 'target'")
    what = "option names and their values"
    grid = o.object("grid", what)
    axes = _Object(f"{place}: grid", grid, list(grid))
    return Row(o.text("name") or name, found, item.get("pooled") is True, int(o.number("repeats", 1, 1e5, 0)),
               {option: o.option(value) for option, value in o.object("set", what).items()},
               {option: [o.option(v) for v in axes.list(option, "values")] for option in grid}, references)


_TABLE = ("title", "note", "group", "data", "source", "bridge", "target", "generate", "tasks", "separation", "k", "top_features", "sample", "repeats",
          "start", "pick", "paired", "record", "curve", "scores", "rows", "label_column", "missing", *PREPARING)


def _table(place: str, item: Any, rows: Any, folder: str) -> Table:
    o = _Object(place, item, _TABLE)
    title = o.text("title", _NEEDED)
    by_data = o.value.get("weight") == "auto"
    preparing: dict[str, Any] = {key: o.choice(key, choices(option)) for key, option in PREPARING.items() if not (by_data and key == "weight")}
    preparing.update({"weight": "auto"} if by_data else {}, top_features=int(o.number("top_features", 1, 1e15, 0)))
    scores = o.list("scores", "scores") if "scores" in item else ["acc", "nmi"]
    if not all(s in SCORES for s in scores):
        raise o.wrong(f"'scores' must be a list of {', '.join(SCORES)}")
    files = _files(o, folder)
    _clusters(o, files)
    listed = _Object(place, {"rows": item.get("rows", rows)}, ("rows",)).list("rows", "methods")
    table = Table(title, group=o.text("group") or title, note=o.text("note"), files=files, rows=[_row(place, row, files, scores) for row in listed],
                  design=o.text("generate"), separation=o.number("separation", 0, 1e6, 0), preparing=preparing, label_column=o.text("label_column"),
                  missing=o.choice("missing", choices("missing")), scores=scores, sample=int(o.number("sample", 2, 1e15, 0)),
                  repeats=int(o.number("repeats", 1, 1e5, 10)), random_start=o.choice("start", ("own", "random")) == "random",
                  pick=o.choice("pick", ("none", "truth")) == "truth", paired=o.text("paired"), record=item.get("record") is True)
    if table.paired is not None and table.paired not in [row.name for row in table.rows]:
        raise o.wrong(f"'paired': the table has no row '{table.paired}'")
    if sum(math.prod(map(len, row.grid.values())) for row in table.rows) > MOST_LINES:
        raise o.wrong(f"the grid has more than {MOST_LINES} settings; make it smaller")
    return table


def _written_out(item: Any) -> Iterator[Any]:
    """The tables that `pairs` stands for; otherwise the table itself."""
    sets = item.get("pairs") if isinstance(item, dict) else None
    if not isinstance(sets, list):
        yield item
        return
    rest, title = {key: value for key, value in item.items() if key != "pairs"}, item.get("title", "")
    for source, target in itertools.permutations(sets, 2):
        yield {"group": title, **rest, "title": f"{title}: {_stem_of(source)} to {_stem_of(target)}", "source": [source], "target": [target]}
    for i, target in enumerate(sets if len(sets) > 2 else []):
        yield {"group": f"{title}, all sources", **rest, "title": f"{title}: all others to {_stem_of(target)}",
               "source": sets[:i] + sets[i + 1:], "target": [target]}


def make_plan(name: str, value: Any, folder: str) -> Plan:
    """Checks a plan. Messages begin with `name`, and relative paths start at `folder`."""
    o = _Object(name, value, ("title", "paper", "tables", "rows", "summary"))
    title, paper = o.text("title", _NEEDED), o.text("paper")
    items = [table for item in o.list("tables", "tables") for table in _written_out(item)]
    tables = [_table(f"{name}: table {i + 1}", item, value.get("rows"), folder) for i, item in enumerate(items)]
    if "summary" not in value:
        return Plan(title, paper, tables, None, [])
    s = _Object(f"{name}: summary", value["summary"], ("row", "against"))
    row, against = s.text("row", _NEEDED), [s.option(v) for v in s.value.get("against", [])]
    names = [r.name for r in tables[0].rows]
    if any(len(t.rows) != len(names) for t in tables):
        raise s.wrong("all tables must have the same rows")
    for wanted in [row, *against]:
        if wanted not in names:
            raise s.wrong(f"the table has no row '{wanted}'")
    return Plan(title, paper, tables, row, against)


def read_plan(path: Path, name: str, folder: str) -> Plan:
    """The plan in a JSON file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: cannot open: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise PlanError(f"{path}: line {error.lineno}: {error.msg}") from None
    return make_plan(name, value, folder)


def presets() -> dict[str, Path]:
    """The plans of the package by name: those that were installed with it or, in a checkout, those of bench/plans."""
    here = Path(__file__).resolve()
    folder = next((f for f in (here.parent / "plans", here.parents[3] / "bench" / "plans") if f.is_dir()), here.parent)
    return {path.stem: path for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)}


def read_preset(name: str) -> Plan:
    """A plan of the package; its data are in the folder KINDRED_DATA."""
    return read_plan(presets()[name], name, os.environ.get("KINDRED_DATA", ""))
