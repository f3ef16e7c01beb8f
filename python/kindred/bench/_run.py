"""Runs a table: every row at every setting in every repeat. SPDX-License-Identifier: BSD-3-Clause

All rows of a repeat use the same data. Known classes are used for scores, for the number of clusters if the plan has none, and as the classes of
sources; no method gets the classes of the data that it labels. Failed runs are counted, and the other rows continue.
"""
from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._data import view
from .._errors import chars, text
from .._jobs import Job
from .._kindred import ffi, lib
from .._session import Session
from ._draw import Draws, address
from ._plan import Row, Table, method

_SMALL = 200  # values of an array that is recorded


@dataclass
class Line:
    """One row at one setting of its grid."""
    row: int
    options: dict[str, str]  # at this point of the grid
    values: Any   # repeats x scores x scored data sets; NaN if a run failed
    seconds: float = 0.0  # of all runs
    runs: int = 0
    failed: int = 0
    error: str | None = None  # of the first run that failed
    record: dict[str, list[float]] = field(default_factory=dict)

    @property
    def setting(self) -> str:
        """ "lambda = 0.5, l = 4", or nothing."""
        return ", ".join(f"{name} = {value}" for name, value in self.options.items())

    @property
    def seconds_per_run(self) -> float:
        return self.seconds / self.runs if self.runs else 0.0


@dataclass
class Outcome:
    """What the runs of a table gave."""
    table: Table
    tasks: list[str]  # the data sets that are scored
    lines: list[Line]
    repeats: int = 0
    interrupted: bool = False
    some: bool = False  # lines without runs are not shown


def new_lines(table: Table, row: int | None = None) -> list[Line]:
    """The lines of all rows, or of one, without values."""
    shape = table.repeats, len(table.scores), sum(f.scored for f in table.files)
    return [Line(r, options, np.full(shape, np.nan)) for r, one in enumerate(table.rows) if row in (None, r) for options in one.settings()]


def _given(table: Table, row: Row) -> list[int]:
    """The data sets that a method gets: clustering methods only those that are scored; only some methods get bridges."""
    transfers, bridges = method(row.method)["family"] == "transfer", method(row.method)["flags"] & {"bridge", "bridges"}
    return [i for i, file in enumerate(table.files) if file.scored or (transfers and (file.role != "bridge" or bridges))]


def _fit(draws: Draws, row: Row, options: Any) -> Any:
    """The result of one run, or None if it failed."""
    table, session = draws.table, draws.session
    transfers = method(row.method)["family"] == "transfer"
    # Classes of sources were numbered first.
    classes = max((int(view(lib.kdr_data_labels(data._data), data.shape[0], np.int64, data).max()) + 1
                   for file, data in zip(table.files, draws.sets) if file.role == "source"), default=0)
    chosen = _given(table, row)
    tasks, problem, out = ffi.new("kdr_task[]", len(chosen)), ffi.new("kdr_problem *"), ffi.new("kdr_result **")
    for task, i in zip(tasks, chosen):
        role, data = table.files[i].role, draws.sets[i]._data
        task.name, task.x = lib.kdr_data_name(data), lib.kdr_data_mat(data)
        task.role = getattr(lib, f"KDR_ROLE_{role.upper()}") if transfers else lib.KDR_ROLE_TASK
        task.k = classes if transfers else draws.k[i]
        if not transfers and draws.starts[i] is not None:
            task.init = address(draws.starts[i])
        if role == "source":
            task.labels = lib.kdr_data_labels(data)
    lib.kdr_problem_init(problem)
    problem.tasks, problem.ntasks, problem.pooled = tasks, len(chosen), row.pooled
    problem.classes = classes if transfers else 0
    status = lib.kdr_fit(session.ctx, chars(row.method), problem, options, out)
    if session.interrupted:
        session.check(status)  # raises KeyboardInterrupt
    return ffi.gc(out[0], lib.kdr_result_free) if status == lib.KDR_OK else None


def _score(draws: Draws, row: Row, result: Any) -> Any:
    """Scores x scored data sets. The accuracy of a method that names classes is the fraction that is correct, without matching."""
    table, session, known = draws.table, draws.session, method(row.method)
    named = known["family"] == "transfer" and "clusters_target" not in known["flags"]
    found, n, scores = [], ffi.new("int64_t *"), ffi.new("kdr_scores *")
    for place, i in enumerate(_given(table, row)):
        if not table.files[i].scored:
            continue
        labels, truth = lib.kdr_result_labels(result, place, n), lib.kdr_data_labels(draws.sets[i]._data)
        session.check(lib.kdr_evaluate(session.ctx, labels, truth, n[0], scores))
        if named:
            scores.acc = np.count_nonzero(view(labels, n[0], np.int64, result) == view(truth, n[0], np.int64, draws.sets[i])) / n[0]
        found.append([getattr(scores, score) for score in table.scores])
    return np.array(found).T


def _record(line: Line, result: Any, first: bool) -> None:
    """Adds numbers, relatedness and small arrays to the record of a line; in the first repeat also the objective."""
    def add(name: str, pointer: Any, count: int) -> None:
        line.record.setdefault(name, []).extend(pointer[i] for i in range(count))
    count, number, words = ffi.new("int64_t *"), ffi.new("double *"), ffi.new("char **")
    objective, related = lib.kdr_result_objective(result, count), lib.kdr_result_relatedness(result)
    if first and objective != ffi.NULL:
        add("objective", objective, count[0])
    if related != ffi.NULL:
        add("relatedness", related, lib.kdr_result_ntasks(result) ** 2)
    for i in range(lib.kdr_result_field_count(result)):
        words[0] = ffi.NULL
        name = text(lib.kdr_result_field_at(result, i, number, words))
        if words[0] == ffi.NULL:
            add(name, number, 1)
    for i in range(lib.kdr_result_array_count(result)):
        array = lib.kdr_result_array_at(result, i)
        size = int(np.prod([array.shape[d] for d in range(array.ndim)]))
        if array.task < 0 and array.type == lib.KDR_FLOAT64 and size <= _SMALL:
            add(text(array.name), ffi.cast("double *", array.data), size)


def _run_line(draws: Draws, line: Line, repeat: int) -> None:
    row = draws.table.rows[line.row]
    # A wrong option is an error in the plan and ends the run; a fit that fails is a result.
    job = Job(draws.session, method(row.method)["family"], method=row.method, set={**row.set, **line.options})
    start = time.perf_counter()
    result = _fit(draws, row, job.o.settings)
    line.seconds += time.perf_counter() - start
    line.runs += 1
    if result is None:
        line.failed += 1
        line.error = line.error or text(lib.kdr_context_error(draws.session.ctx))
        return
    line.values[repeat] = _score(draws, row, result)
    if draws.table.record:
        _record(line, result, repeat == 0)


def run_table(session: Session, table: Table, seed: int, limit: float | None = None, row: int | None = None) -> Outcome:
    """Runs all rows of a table, or one. After Ctrl-C and after `limit` seconds, the outcome has the complete repeats, or a part of the first."""
    start, draws = time.monotonic(), Draws(session, table)
    out = Outcome(table, [name for name, file in zip(draws.names, table.files) if file.scored], new_lines(table, row))
    try:
        for r in range(table.repeats):
            out.repeats = max(r, 1)
            draws.repeat(seed + r)
            for line in out.lines:
                one = table.rows[line.row]
                if one.method and (not one.repeats or r < one.repeats):
                    _run_line(draws, line, r)
                if limit is not None and time.monotonic() - start > limit:
                    return out
            out.repeats = r + 1
    except KeyboardInterrupt:
        out.interrupted = True
    return out
