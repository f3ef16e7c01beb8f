"""The data of a table in one repeat: read, drawn or generated, and preprocessed. SPDX-License-Identifier: BSD-3-Clause

Repeat r uses the seed `--seed` + r for everything: generated data, drawn samples and features, the common random start.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._data import Data, strings, view
from .._errors import chars, text
from .._jobs import Job, _pointers, reading
from .._kindred import ffi, lib
from .._session import Session
from ._plan import File, PlanError, Table

_MASK = 2 ** 64 - 1


class Stream:
    """Random numbers of splitmix64 (Steele, Lea & Flood, OOPSLA 2014)."""

    STEP = 0x9E3779B97F4A7C15

    def __init__(self, seed: int):
        self.state = seed & _MASK

    def take(self, count: int) -> Any:
        """The next numbers, from 0 to 2**64 - 1."""
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(self.STEP) + np.uint64(self.state)
        self.state = (self.state + count * self.STEP) & _MASK
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    def fractions(self, count: int) -> Any:
        """The next numbers, scaled to 0 to 1."""
        return self.take(count).astype(np.float64) * 2.0 ** -64


def address(array: Any) -> Any:
    """An array of int64 in the form of the library."""
    return ffi.cast("int64_t *", array.ctypes.data)


def class_names(data: Data) -> list[str]:
    """The names of the classes by number, without those that have no number."""
    count = ffi.new("int64_t *")
    names = lib.kdr_data_classes(data._data, count)
    return [text(names[i]) for i in range(count[0])] if names != ffi.NULL else []


def _new(session: Session, call: Any, *arguments: Any) -> Data:
    """The data set that a function of the library makes."""
    out = ffi.new("kdr_data **")
    session.check(call(session.ctx, *arguments, out))
    return Data(out[0])


def _set_classes(session: Session, data: Data, values: Any, names: list[str]) -> None:
    listed, _keep = strings(names)
    session.check(lib.kdr_data_set_labels(session.ctx, data._data, values, listed, len(names)))


def _some_rows(session: Session, data: Data, rows: Any) -> Data:
    rows = np.ascontiguousarray(rows, np.int64)
    return _new(session, lib.kdr_data_rows, data._data, address(rows), len(rows))


def _keep_classes(session: Session, file: File, data: Data) -> Data:
    """The samples of the classes that the plan lists, which are numbered in its order."""
    labels, number = data.labels, {old: i for i, (old, _) in enumerate(file.classes)}
    for old in number:
        if labels is None or old not in labels:
            raise PlanError(f"{file.path}: no sample has the class '{old}'")
    rows = [i for i, c in enumerate(labels) if c in number]
    values = np.array([number[labels[i]] for i in rows], np.int64)
    kept = _some_rows(session, data, rows)
    _set_classes(session, kept, address(values), [new for _, new in file.classes])
    return kept


def read_file(session: Session, table: Table, file: File) -> Data:
    """A data set with its known classes."""
    how, _keep = reading({"name": file.name, "label_column": table.label_column, "missing": table.missing})
    data = _new(session, lib.kdr_read, chars(file.path), how)
    if table.label_column is None:
        out = ffi.new("char **")
        session.check(lib.kdr_labels_beside(session.ctx, chars(file.path), out))
        beside = text(out[0])
        lib.kdr_free(session.ctx, out[0])
        if os.path.exists(beside):
            session.check(lib.kdr_data_read_labels(session.ctx, data._data, chars(beside)))
        elif file.role == "bridge":
            return data
        else:
            raise PlanError(f"{file.path}: {beside} was not found; known classes are needed for scoring, one per line")
    return _keep_classes(session, file, data) if file.classes else data


class Draws:
    """The data sets of a table, in one repeat after the other."""

    def __init__(self, session: Session, table: Table):
        self.session, self.table = session, table
        self.raw = [] if table.design else [read_file(session, table, file) for file in table.files]
        self.sets: list[Data] = []
        self.k: list[int] = []
        self.starts: list[Any] = []
        self.names = [file.path for file in table.files] if table.design else [data.name for data in self.raw]
        if not table.design:
            self._merge_classes(self.raw)

    def _merge_classes(self, sets: list[Data]) -> None:
        """Numbers classes by name, so that those of source and target agree. Counts the classes of each data set before."""
        self.classes = [len(set(class_names(data))) for data in sets]
        labelled = [data for data in sets if lib.kdr_data_labels(data._data) != ffi.NULL]
        self.session.check(lib.kdr_data_merge_classes(self.session.ctx, _pointers(labelled), len(labelled)))

    def repeat(self, seed: int) -> None:
        """Makes the data sets of a repeat: `sets`, their numbers of clusters `k`, and `starts`, which are None or initial labels."""
        table, random = self.table, Stream(seed ^ 0x6B696E6472656421)
        lib.kdr_context_set_seed(self.session.ctx, seed)
        drawn = table.sample > 0 or any(f.part or f.words or f.keep for f in table.files)
        if not self.sets or drawn or table.design:
            if table.design:
                self.sets = [self._generate(i) for i in range(len(table.files))]
                self._merge_classes(self.sets)
            else:
                self.sets = [self._draw(file, data, seed, random) for file, data in zip(table.files, self.raw)]
            self._prepare()
        self.k = [file.k or count for file, count in zip(table.files, self.classes)]
        self.starts = [self._start(data.shape[0], k, random) if table.random_start else None for data, k in zip(self.sets, self.k)]

    @staticmethod
    def _start(n: int, k: int, random: Stream) -> Any:
        """Random labels; the first k samples have one each."""
        rest = (random.take(max(n - k, 0)) % np.uint64(max(k, 1))).astype(np.int64)
        return np.concatenate([np.arange(min(n, k), dtype=np.int64), rest])

    def _generate(self, index: int) -> Data:
        table, design, out = self.table, ffi.new("kdr_design *"), ffi.new("kdr_generator **")
        lib.kdr_design_init(design, getattr(lib, f"KDR_DESIGN_{str(table.design).upper()}"))
        design.tasks, design.target = len(table.files), index == 1
        design.separation = table.separation or design.separation
        self.session.check(lib.kdr_generate(self.session.ctx, design, out))
        generator = ffi.gc(out[0], lib.kdr_generator_free)
        return _new(self.session, lib.kdr_generator_data, generator, 0 if table.design == "berikov" else index)

    def _draw(self, file: File, data: Data, seed: int, random: Stream) -> Data:
        """All samples of a data set, or some of them, drawn without replacement, in their old order. Data sets of the same size have the
        same random numbers for `part`, so that parts of one file are disjoint."""
        n = data.shape[0]
        able = np.ones(n, bool)
        if file.part:
            lots = Stream(seed ^ 0x6C6F7473).fractions(n)
            able &= (lots >= file.part[0]) & (lots < file.part[1])
        if file.keep and data.labels is not None:
            able &= Stream(seed ^ 0x736F6D65).fractions(n) < np.array([file.keep.get(c, 1) for c in data.labels], np.float64)
        rows = np.flatnonzero(able)
        if 0 < self.table.sample < len(rows):
            rows = rows[_selection(len(rows), self.table.sample, random)]
        drawn = _some_rows(self.session, data, rows)
        return self._draw_words(file, drawn, seed) if file.words else drawn

    def _draw_words(self, file: File, data: Data, seed: int) -> Data:
        """Sets all features to zero but those whose random number is in `words`. They are the same for data sets with the same number of features."""
        x = lib.kdr_data_mat(data._data)
        if x.kind != lib.KDR_MAT_CSR:
            raise PlanError(f"{file.path}: 'words' needs a sparse data set")
        old, (low, high) = getattr(x, "as").csr, file.words or (0, 1)
        lots = Stream(seed ^ 0x776F726473).fractions(old.cols)
        rowptr = view(old.rowptr, old.rows + 1, np.int64, data)
        col, val = view(old.col, rowptr[-1], np.int32, data), view(old.val, rowptr[-1], np.float64, data)
        inside = ((lots >= low) & (lots < high))[col]
        rowptr = np.concatenate([[0], np.cumsum(inside)]).astype(np.int64)[rowptr]
        col, val = np.append(col[inside], np.int32(0)), np.append(val[inside], 0.0)  # never empty: the library needs an address
        new = ffi.new("kdr_mat *")
        new.kind = lib.KDR_MAT_CSR
        csr = getattr(new, "as").csr
        csr.rows, csr.cols, csr.rowptr = old.rows, old.cols, address(rowptr)
        csr.col, csr.val = ffi.cast("int32_t *", col.ctypes.data), ffi.cast("double *", val.ctypes.data)
        kept = _new(self.session, lib.kdr_data_new, chars(data.name), new, lib.kdr_data_features(data._data))
        if lib.kdr_data_labels(data._data) != ffi.NULL:
            _set_classes(self.session, kept, lib.kdr_data_labels(data._data), class_names(data))
        return kept

    def _prepare(self) -> None:
        given, recipe = dict(self.table.preparing), ffi.new("kdr_recipe *")
        by_data = given["weight"] == "auto"
        job = Job(self.session, **{**given, "weight": None if by_data else given["weight"], "top_features": given["top_features"] or None})
        prep = job.o.prep
        if by_data:
            self.session.check(lib.kdr_recipe_find(self.session.ctx, _pointers(self.sets), len(self.sets), recipe))
            prep.weight, prep.norm, prep.scale = recipe.weight, recipe.norm, recipe.scale
        for sets in [[data] for data in self.sets] if self.table.own_features else [self.sets]:
            self.session.check(lib.kdr_prepare(self.session.ctx, _pointers(sets), len(sets), prep, ffi.NULL))


def _selection(n: int, take: int, random: Stream) -> list[int]:
    """Selection sampling (Knuth, algorithm S): each subset of this size is equally likely."""
    chosen: list[int] = []
    for i, number in enumerate(random.take(n).tolist()):
        if number % (n - i) < take - len(chosen):
            chosen.append(i)
    return chosen
