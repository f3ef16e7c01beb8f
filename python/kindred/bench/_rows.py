"""Rows of presets as files, computed by several processes. SPDX-License-Identifier: BSD-3-Clause

Each row has a file, DIR/PRESET/TABLE/ROW.json, with all its values and a key: a hash of everything in the plan that the values depend on. Titles,
notes and references may change without a new run. Next to the key are the options that the plan does not set; a row is computed again
if a default of its method has changed.

Each row is run by its own process with one thread, and as many processes run at a time as there are threads, because most rows are too small for
two threads. If fewer rows than threads remain, each process gets several threads; the values are the same. A file is written completely
or not at all, so that a stopped run can continue.
"""
from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import text
from .._kindred import lib
from .._session import Session
from ._plan import Plan, PlanError, Row, Table, complain, method
from ._run import Outcome, new_lines, run_table
from ._tables import finite


@dataclass
class Unit:
    """One row of one table of a preset."""
    preset: str
    plan: Plan
    table: int
    row: int
    quick: bool
    seed: int

    @property
    def of(self) -> tuple[Table, Row]:
        table = self.plan.tables[self.table]
        return table, table.rows[self.row]

    @property
    def path(self) -> str:
        """PRESET/TABLE/ROW.json"""
        table, row = self.of
        return f"{self.preset}/{slug(table.title)}/{slug(row.name)}{'.quick' if self.quick else ''}.json"

    @property
    def title(self) -> str:
        table, row = self.of
        return f"{self.preset}: {table.title}: {row.name}"

    def key(self) -> str:
        table, row = self.of
        used = {"files": [{**asdict(file), "path": ""} for file in table.files], "row": {**asdict(row), "name": "", "references": {}},
                "own_features": table.own_features, "seed": self.seed}
        for name in ("design", "separation", "preparing", "label_column", "missing", "sample", "repeats", "random_start", "record", "scores"):
            used[name] = getattr(table, name)
        return hashlib.sha256(json.dumps(used, sort_keys=True).encode()).hexdigest()[:16]


def slug(title: str) -> str:
    """The text in lower case, with "-" for everything but letters and digits."""
    out = ""
    for c in title:
        if c.isascii() and c.isalnum():
            out += c.lower()
        elif c == "=":
            out += "is"  # "eps = 0" and "eps 0" are different
        elif out and out[-1] != "-":
            out += "-"
    return out[:127].rstrip("-")


def _defaults(row: Row) -> dict[str, Any]:
    """The options of the method that the plan does not set."""
    found = {o["name"]: o["default"] for o in method(row.method)["options"] if o["name"] not in row.set and o["name"] not in row.grid}
    return {name: finite(value) if isinstance(value, float) else value for name, value in found.items()}


def write_text(session: Session, path: Path, content: str, force: bool = True) -> None:
    """Writes a file completely or not at all."""
    body = content.encode("utf-8", "surrogateescape")
    session.check(lib.kdr_write_file(session.ctx, os.fsencode(path), body, len(body), force))


def write_row(session: Session, unit: Unit, path: Path, out: Outcome, seconds: float) -> None:
    table, row = unit.of
    lines = []
    for line in out.lines:
        entry: dict[str, Any] = {"setting": line.setting, "seconds": line.seconds, "runs": line.runs, "failed": line.failed}
        entry.update({"error": line.error} if line.error else {})
        entry["scores"] = {score: [[finite(v) for v in line.values[:out.repeats, s, t].tolist()] for t in range(len(out.tasks))]
                           for s, score in enumerate(table.scores)}
        entry.update({"record": {name: [finite(v) for v in values] for name, values in line.record.items()}} if line.record else {})
        lines.append(entry)
    whole = {"kindred": text(lib.kdr_version()), "preset": unit.preset, "table": table.title, "row": row.name, "method": row.method, "key": unit.key(),
             "defaults": _defaults(row), "seed": unit.seed, "repeats": out.repeats, "sample": table.sample, "seconds": seconds, "tasks": out.tasks, "lines": lines}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(session, path, json.dumps(whole, ensure_ascii=False) + "\n")


def read_row(unit: Unit, path: Path) -> tuple[dict[str, Any] | None, float]:
    """The file of a row, None if it has to be computed, and its seconds, NaN if there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        seconds, defaults = found.get("seconds", math.nan), found.get("defaults", {})
        same = all(defaults[name] == value for name, value in _defaults(unit.of[1]).items() if name in defaults)
        return found if same and found.get("key") == unit.key() else None, seconds
    except FileNotFoundError:
        return None, math.nan
    except (json.JSONDecodeError, AttributeError, TypeError):
        raise PlanError(f"{path}: not the file of a row; delete it to compute the row again") from None


def read_table(units: list[Unit], folder: Path) -> Outcome | None:
    """A table from the files of its rows; None if there are none."""
    out = None
    for unit in units:
        table, path = unit.of[0], folder / unit.path
        found, _ = read_row(unit, path)
        if found is None:
            continue
        out = out or Outcome(table, found["tasks"], new_lines(table))
        out.repeats = found["repeats"]
        for line, entry in zip((line for line in out.lines if line.row == unit.row), found["lines"]):
            line.seconds, line.runs, line.failed, line.error = entry["seconds"], entry["runs"], entry["failed"], entry.get("error")
            for s, score in enumerate(table.scores):
                line.values[:out.repeats, s] = np.array(entry["scores"][score], float).T  # null becomes NaN
    return out


def _work(unit: Unit, path: Path, threads: int, device: str | None) -> None:
    """One row, in its own process. SIGINT is blocked here: the parent, which gets it too, sends SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    start = time.process_time()  # other programs do not count
    try:
        session = Session(threads=threads, device=device)
        out = run_table(session, unit.of[0], unit.seed, row=unit.row)
        if out.interrupted:
            raise KeyboardInterrupt
        write_row(session, unit, path, out, time.process_time() - start)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError, ArithmeticError, MemoryError) as error:
        complain(error)
        sys.exit(1)


class Crew:
    """Computes the rows that have no file yet, several at a time."""

    def __init__(self, units: list[Unit], folder: Path, threads: int, device: str | None, limit: float | None, quiet: bool):
        self.units, self.paths, self.threads, self.device, self.limit, self.quiet = units, [folder / unit.path for unit in units], threads, device, limit, quiet
        for i, path in enumerate(self.paths):
            if path in self.paths[:i]:
                raise PlanError(f"two rows of preset {units[i].preset} would be saved as {path}; give them different names")
        found = [read_row(unit, path) for unit, path in zip(units, self.paths)]
        self.seconds = [seconds for _, seconds in found]
        self.waiting = {i for i, (row, _) in enumerate(found) if row is None}
        self.running: dict[int, tuple[Any, float]] = {}
        self.failed = 0

    def _expected(self, i: int) -> float:
        """Seconds that a row will take: as before, or the mean of those that are known; NaN if none is."""
        known = [s for s in self.seconds if not math.isnan(s)]
        return self.seconds[i] if not math.isnan(self.seconds[i]) else sum(known) / len(known) if known else math.nan

    def _remaining(self) -> str:
        now = time.monotonic()
        left = [self._expected(i) for i in self.waiting] + [max(self._expected(i) - now + start, 0) for i, (_, start) in self.running.items()]
        seconds = sum(left) / self.threads
        return "all rows are done" if not left else "about " + (f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} hours") + " left"

    def _done(self) -> int:
        return len(self.units) - len(self.waiting) - len(self.running) - self.failed

    def _start(self, context: Any, i: int) -> None:
        left = len(self.waiting) + len(self.running)
        self.waiting.remove(i)
        process = context.Process(target=_work, args=(self.units[i], self.paths[i], self.threads // min(left, self.threads), self.device))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # processes inherit it; Ctrl-C stays pending here
        try:
            process.start()
            self.running[i] = process, time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _end(self) -> None:
        """Waits until at least one row ends."""
        ended = wait([process.sentinel for process, _ in self.running.values()])
        for i, (process, start) in [item for item in self.running.items() if item[1][0].sentinel in ended]:
            process.join()
            del self.running[i]
            if process.exitcode == 0:
                self.seconds[i] = time.monotonic() - start
                if not self.quiet:
                    print(f"{self._done()} of {len(self.units)}  {self.units[i].title}, {self.seconds[i]:.1f} s; {self._remaining()}", flush=True)
            else:
                self.failed += 1
                why = signal.strsignal(-process.exitcode) if process.exitcode < 0 else "failed; the line above gives the reason"
                complain(f"{self.units[i].title}: {why}")

    def run(self) -> int:
        """Exit status."""
        total, start = len(self.units), time.monotonic()
        if self.waiting and not self.quiet:
            print(f"{self._done()} of {total} rows are already saved" + (f"; {self._remaining()}" if self._done() else ""), flush=True)
        # The longest rows first, so that all processes end at about the same time.
        order = sorted(self.waiting, key=lambda i: (-self._expected(i) if not math.isnan(self._expected(i)) else 0, i))
        # Not fork: this process may have threads. The server imports the package once.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        try:
            while order or self.running:
                over = self.limit is not None and time.monotonic() - start > self.limit
                while order and not over and len(self.running) < self.threads:
                    self._start(context, order.pop(0))
                if not self.running:
                    break
                self._end()
        except KeyboardInterrupt:
            for process, _ in self.running.values():
                process.terminate()
            for process, _ in self.running.values():
                process.join()
            complain(f"stopped: {self._done()} of {total} rows are saved; run the same command again to continue")
            return 130
        if self.failed:
            complain(f"{self.failed} of {total} rows failed")
            return 1
        if order:
            complain(f"stopped at the time limit: {self._done()} of {total} rows are saved; run the same command again to continue")
            return 130
        return 0
