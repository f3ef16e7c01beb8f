"""Reads data frames by the rules for tables. SPDX-License-Identifier: BSD-3-Clause

A frame with anything but finite numbers is passed to the library's table reader as text in memory. Categories, dates, row names and
missing values therefore follow the same rules in files and in frames. The dtypes determine the kinds of columns if they can, and the
values determine the others.
"""
import csv
import difflib
import os
import re
from numbers import Number

import numpy as np

from ._data import is_missing

ITEM = re.compile(r'(?:^|,)\s*([-+]?)(?:"((?:[^"]|"")*)"\??|([^,:"]*))(:[^,]*)?')


def is_plain(frame):
    """Whether a frame has only finite numbers, which the library uses directly.

    Whole numbers that are all different may be row names, which the table reader decides."""
    if len(frame) == 0:
        return True
    for position, dtype in enumerate(frame.dtypes):
        if not isinstance(dtype, np.dtype) or dtype.kind not in "iuf":
            return False
        column = frame.iloc[:, position]
        if dtype.kind == "f" and not np.isfinite(column.to_numpy()).all():
            return False
        if dtype.kind in "iu" and len(frame) > 1 and frame.shape[1] > 1 and column.is_unique:
            return False
    return True


def columns_text(columns):
    """The option `columns` in the form of the library: from a str, a list of names, or a dict of kinds by name."""
    if columns is None or isinstance(columns, str):
        return columns
    if isinstance(columns, dict):
        return ",".join(f"-{quoted(name)}" if kind in (None, False) else f"{quoted(name)}:{kind}" for name, kind in columns.items())
    return ",".join(map(quoted, columns))


def _items(columns):
    """The items of the option `columns`: sign, name, and whether it has a kind."""
    return [(sign, quoted.replace('""', '"') or plain.strip(), bool(kind)) for sign, quoted, plain, kind in ITEM.findall(columns)
            if sign or quoted or plain or kind]


def with_missing(table, missing):
    """A dense array with NaN as a frame of numbers if the option `missing` is given, because only tables have it. Others are returned unchanged."""
    values = np.asarray(table) if missing is not None and (isinstance(table, list) or hasattr(table, "__array__")) and not hasattr(table, "columns") else None
    if values is None or values.ndim != 2 or values.dtype.kind not in "fiub" or not np.isnan(values).any():
        return table
    from pandas import DataFrame
    return DataFrame(values, columns=[f"f{j + 1}" for j in range(values.shape[1])])


def known_columns(frame, columns, features):
    """A frame without the columns that a model does not know, and warnings about them. The model reads `columns` or, if this is None, has the
    names `features`, or None. As many numbers as the model has features may be matched by position."""
    names = set(features or ()) if columns is None else {name for _, name, _ in _items(columns)}
    more = [c for c in frame.columns if str(c) not in names]
    by_name = columns is not None or len(frame.columns) > len(names) or not is_plain(frame)
    if not names or not more or not by_name or len(more) == len(frame.columns):
        return frame, []
    return frame.drop(columns=more), [f"columns that the model does not know are ignored: {', '.join(repr(str(c)) for c in more)}"]


def renames(rename):
    """The option `rename` as a dict of new names by old ones: a dict, or the path of a CSV file with an old and a new name on each line."""
    if rename is None or isinstance(rename, dict):
        return {str(old): str(new) for old, new in (rename or {}).items()}
    if not isinstance(rename, (str, os.PathLike)):
        raise TypeError(f"rename is {rename!r}: use a dict that maps old to new names, or the path of a CSV file with an old and a new name on each line")
    with open(rename, encoding="utf-8-sig", newline="") as file:
        lines = file.read().splitlines()
    rows = [next(csv.reader([line], delimiter=next((d for d in ",;\t|" if d in line), ","))) for line in lines if line.strip()]
    return {row[0].strip(): row[1].strip() for row in rows if len(row) == 2}


def recodes(recode):
    """The option `recode`, a dict of new values by old ones for each column, as the program has it."""
    if not all(isinstance(values, dict) for values in recode.values()):
        raise TypeError(f"recode is {recode!r}: use a dict such as {{'smoker': {{'ja': 'yes'}}}}, or the path of a CSV file with column, old and new")
    return [f"{quoted(column)}:{quoted(old)}={'' if new is None else new}" for column, values in recode.items() for old, new in values.items()]


def renamed(table, rename):
    """A frame with new column names; other tables are returned unchanged."""
    names = renames(rename)
    if not names or not hasattr(table, "columns") or not hasattr(table, "set_axis"):
        return table
    before = [str(c) for c in table.columns]
    after = [names.get(c, c) for c in before]
    for i, name in enumerate(after):
        first = after.index(name)
        if first < i and (before[i] in names or before[first] in names):
            raise ValueError(f"columns {before[first]!r} and {before[i]!r} would both be called {name!r}: use different new names")
    return table.set_axis(after, axis=1) if after != before else table


def check_names(sets, how):
    """Raises an error if an option names a column that no table has. A single table may lack it."""
    have = {str(c["name"]) for data in sets for c in data.columns or ()} | {n for data in sets for n in data.feature_names or ()}
    wanted = [(name, name) for _, name, _ in _items(columns_text(how.get("columns")) or "") if name != "*" and not name.isdigit()]
    if isinstance(how.get("rename"), dict):
        wanted += renames(how["rename"]).items()
    for name, called in wanted:
        if have and called not in have:
            near = difflib.get_close_matches(name, sorted(have), 3)
            raise ValueError(f"no table has a column {name!r}" + (f"; did you mean {', '.join(map(repr, near))}?" if near else ""))


def quoted(name):
    return '"' + str(name).replace('"', '""') + '"'


def _kind(column, name):
    """The kind of a column, if its dtype determines one; "" if the values decide."""
    kind = getattr(column.dtype, "kind", "O")
    if kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r}")
    if str(column.dtype) == "category" or kind == "b":
        return "category"
    if kind in "Mmf":
        return "date" if kind == "M" else "number"
    if kind in "iu":
        return ""
    from pandas.api.types import infer_dtype
    found = infer_dtype(column, skipna=True)
    if found in ("complex", "bytes", "interval", "mixed", "mixed-integer"):
        odd = next((v for v in column if not isinstance(v, (str, int, float, np.number, np.bool_)) and not is_missing(v)), None)
        if odd is not None:
            raise TypeError(f"column {name!r} has a value of type {type(odd).__name__}: texts, numbers, dates, booleans and "
                            "categories are allowed")
    return "category" if found == "boolean" else ""


def _cells(column):
    """The values of a column as cells of a table: texts in quotes, missing ones empty."""
    kind, missing = getattr(column.dtype, "kind", "O"), column.isna().to_numpy()
    if kind == "m":
        column, kind = column.dt.total_seconds() / 86400, "f"
    if kind == "f":
        values = column.to_numpy(np.float64, na_value=np.nan).tolist()
        return [repr(v) if v == v else "" for v in values]
    if kind == "M":
        column = column.dt.tz_localize(None) if getattr(column.dtype, "tz", None) is not None else column
        cells = np.datetime_as_string(column.to_numpy("datetime64[s]")).tolist()
    elif kind in "iu" and not missing.any():
        return list(map(str, column.tolist()))
    else:
        known = {}  # texts repeat: quote each only once; True and 1 are equal
        cells = [known.get(v) or known.setdefault(v, quoted(v)) if isinstance(v, str) else
                 str(v) if isinstance(v, Number) and not isinstance(v, bool) else quoted(v) for v in column.astype(object).where(~missing, "").tolist()]
    return ["" if gone else cell for cell, gone in zip(cells, missing)] if missing.any() else cells


def frame_text(frame, options):
    """A frame as the text of a table, and the options to read it with."""
    options = {name: value for name, value in options.items() if value is not None}
    titles = [str(c) for c in frame.columns]
    columns = [frame.iloc[:, position] for position in range(frame.shape[1])]
    kinds = [(title, kind) for title, kind in zip(titles, map(_kind, columns, frame.columns)) if kind]
    cells = [_cells(column) for column in columns]
    counted = frame.index.name is None and getattr(frame.index.dtype, "kind", "O") in "iu"  # as after selecting rows
    if not counted and "id_column" not in options:
        title = str(frame.index.name or "index")
        while title in titles:
            title += "_"
        titles, cells = [title, *titles], [[quoted(i) for i in frame.index], *cells]
        options["id_column"] = title
    if "columns" in options:
        options["columns"] = columns_text(options["columns"])
        items = _items(options["columns"])
        named = {name for _, name, _ in items}
        if any(not sign and not kind for sign, _, kind in items) or "*" in named:
            kinds = []  # the columns are listed: no others are read
        kinds = [(title, kind) for title, kind in kinds if title not in named]
    taken = {str(options[o]) for o in ("id_column", "label_column", "task_column") if o in options}
    items = [f"{quoted(title)}?:{kind}" for title, kind in kinds if title not in taken]
    if items and not options.get("model"):
        options["columns"] = ",".join(([options["columns"]] if options.get("columns") else []) + items)
    options.update(delimiter=",", encoding="utf-8", header=True, typed=True)
    lines = (options["delimiter"].join(row) or "?" for row in [[*map(quoted, titles)], *zip(*cells)])  # the reader skips blank lines
    return "\n".join(lines).encode("utf-8", "surrogateescape"), options


_PLACE = re.compile(r"\bline (\d+)(?:, column \d+ \((.*?)\))?")


def in_rows(message):
    """Replaces line numbers of the text in a message by row numbers of the frame, from 0."""
    def place(match):
        title = "" if match[2] is None else f", column '{match[2]}'"
        return f"row {max(0, int(match[1]) - 2)}{title}"
    return _PLACE.sub(place, message)
