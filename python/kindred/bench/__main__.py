"""The command line: python -m kindred.bench. SPDX-License-Identifier: BSD-3-Clause"""
from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from .._docs import choices
from .._errors import chars, text
from .._kindred import ffi, lib
from .._session import Session
from ._plan import PREPARING, Plan, PlanError, Table, complain, make_plan, method, presets, read_plan, read_preset, safe, suggestion
from ._rows import Crew, Unit, read_table, write_text
from ._run import Outcome, run_table
from ._tables import FORMATS, row_means, summary_text, table_json, table_text

DESCRIPTION = """Compare methods on the same data with the same seeds, and print tables of means and standard deviations. PRESETs
reproduce tables of papers and show the published values next to ours; set KINDRED_DATA to the folder with their data. With --methods,
the arguments are data files, and the known classes of each are read from <stem>.labels next to it."""
EPILOG = """With -o DIR, the rows of presets run in parallel, and each is saved in its own file. Run the same command again to continue a
stopped run. 'all' runs every preset of a paper. Repeat r uses the seed --seed + r. docs/bench.md describes plans."""


class Parser(argparse.ArgumentParser):
    """Errors are one line, as in the program."""

    def error(self, message: str) -> NoReturn:
        complain(message)
        self.exit(2)


def _at_least(least: float, kind: type = int) -> Any:
    def read(given: str) -> Any:
        try:
            value = kind(given)
            if value >= least:
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"'{given}' is not valid; use {'an integer' if kind is int else 'a number'}, {least:g} or larger")
    return read


def _parser() -> Parser:
    p = Parser(prog="python -m kindred.bench", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    p.add_argument("arguments", nargs="*", metavar="PRESET", help="presets, or 'all'; with --methods: data files")
    p.add_argument("--list", action="store_true", help="list the presets")
    p.add_argument("--show", metavar="PRESET", help="print the plan of a preset, as a template for your own")
    p.add_argument("--plan", type=Path, metavar="FILE", help="run your own plan (JSON)")
    p.add_argument("--methods", metavar="M[,M2,...]", help="compare these methods on the data files")
    p.add_argument("--repeats", type=_at_least(1), metavar="N", help="number of repeats of each row (default: as in the plan, or 10)")
    p.add_argument("--sample", type=_at_least(2), metavar="N", help="use at most N samples of each data set, drawn again for each repeat")
    p.add_argument("--quick", action="store_true", help="run a quick preview: 2 repeats, at most 300 samples per data set")
    p.add_argument("--only", action="append", metavar="TEXT",
                   help="with -o DIR: run and print only the rows of presets whose file name, PRESET/TABLE/ROW.json, contains this text")
    p.add_argument("--format", choices=list(FORMATS), default="md",
                   help="print tables as Markdown (default), LaTeX, or CSV with one line per row, data set and score")
    p.add_argument("-o", "--output", type=Path, metavar="DIR", help="write bench.md (with --format: bench.csv or bench.tex) and bench.json to this "
                   "folder; for presets also one file per row, so that a stopped run can continue")
    p.add_argument("--report", action="store_true", help="with -o DIR: also write the tables as an HTML page, bench.html")
    p.add_argument("--force", action="store_true", help="replace existing files")
    p.add_argument("--seed", type=_at_least(0), default=1, metavar="N", help="seed of the first repeat (default 1)")
    p.add_argument("--threads", type=_at_least(1), metavar="N", help="number of threads (default: all available); the results do not depend on it")
    p.add_argument("--device", metavar="DEVICE", help="where to run large computations: auto, cpu, cuda or cuda:N (default auto)")
    p.add_argument("--time-limit", type=_at_least(0, float), metavar="SECONDS",
                   help="stop each table after this time; with presets and -o DIR: start no row after this time")
    p.add_argument("-q", "--quiet", action="store_true", help="print only errors: no tables and no warnings")
    m = p.add_argument_group("with --methods")
    m.add_argument("-k", "--clusters", metavar="K[,K2,...]",
                   help="number of clusters: one value for all data sets, or one each (default: the number of known classes)")
    m.add_argument("--set", action="append", metavar="NAME=VALUE", help="set an option for every method that has it")
    m.add_argument("--grid", action="append", metavar="NAME=V,V2,...", help="try several values of an option, one row for each")
    m.add_argument("--pick", action="store_true", help="with --grid: show only the best setting, chosen by the known classes")
    for key, option in PREPARING.items():
        m.add_argument(f"--{option}", dest=key, choices=choices(option), help="preprocessing, as in 'kindred cluster' (default: none)")
    m.add_argument("--top-features", type=_at_least(1), metavar="N", help="keep the N highest-ranked features, see --top-by (default: all)")
    return p


def _options(parser: Parser, option: str, given: list[str] | None, names: list[str]) -> dict[str, dict[str, str]]:
    """{method: {option: text}}: what each method has of --set or --grid. The last value of an option is used."""
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for words in given or []:
        name, equals, value = words.partition("=")
        having = [m for m in names if name in [o["name"] for o in method(m)["options"]]]
        if not equals:
            parser.error(f"--{option}: '{words}' is not valid; use NAME=VALUE")
        if not having:
            parser.error(f"--{option}: none of the methods has the option in '{words}'")
        for m in having:
            found[m][name] = value
    return found


def _plan_of_methods(parser: Parser, args: argparse.Namespace) -> Plan:
    names = args.methods.split(",")
    if not args.arguments:
        parser.error("--methods needs at least one data file, with its classes in <stem>.labels")
    session = Session()
    for name in names:
        if lib.kdr_algo_require(session.ctx, chars(name), lib.KDR_FAMILY_CLUSTER, ffi.NULL) != lib.KDR_OK:
            parser.error(text(lib.kdr_context_error(session.ctx)))
    chosen, grid = _options(parser, "set", args.set, names), _options(parser, "grid", args.grid, names)
    table: dict[str, Any] = {"title": "methods compared", "data": args.arguments, "pick": "truth" if args.pick else "none", "rows": [
        {"method": name, "set": chosen[name], "grid": {option: values.split(",") for option, values in grid[name].items()}} for name in names]}
    table.update({key: getattr(args, key) for key in (*PREPARING, "top_features") if getattr(args, key) is not None})
    if args.clusters is not None:
        each = args.clusters.split(",")
        if len(each) not in (1, len(args.arguments)) or not all(n.isdecimal() and int(n) > 0 for n in each):
            parser.error(f"-k: '{args.clusters}' is not valid; use one whole number, 1 or larger, for all data sets, or one for each")
        table["k"] = [int(n) for n in each] if len(each) > 1 else int(each[0])
    return make_plan("--methods", {"title": "methods compared", "tables": [table]}, "")


def _has_data(table: Table) -> bool:
    return table.design is not None or os.path.exists(table.files[0].path)


def _require(parser: Parser, name: str) -> None:
    if name not in presets():
        near = suggestion(name, list(presets()))
        parser.error(f"unknown preset '{name}'" + (near or "; 'python -m kindred.bench --list' lists the presets"))


def _units(parser: Parser, args: argparse.Namespace, plans: dict[str, Plan]) -> list[Unit]:
    """The rows to run."""
    units = [Unit(name, plan, t, r, args.quick, args.seed) for name, plan in plans.items() for t, table in enumerate(plan.tables) if _has_data(table)
             for r, row in enumerate(table.rows) if row.method]
    chosen = [unit for unit in units if args.only is None or any(part in unit.path for part in args.only)]
    if args.only and not chosen:
        parser.error(f"--only {args.only[0]}: no row matches; rows are named PRESET/TABLE/ROW.json, as in the folder of -o")
    skipped = sum(row.method is not None for plan in plans.values() for table in plan.tables if not _has_data(table) for row in table.rows)
    if skipped and not args.quiet:
        complain(f"warning: {skipped} row{' was' if skipped == 1 else 's were'} skipped; set KINDRED_DATA to the folder with the data sets")
    return chosen


class Printer:
    """Prints tables and keeps what the files of -o get."""

    def __init__(self, args: argparse.Namespace):
        self.format, self.quiet, self.text = args.format, args.quiet, ""
        self.tables: list[dict[str, Any]] = []
        self.runs = self.failed = 0

    def put(self, part: str) -> None:
        self.text += part
        if not self.quiet:
            print(safe(part), end="", flush=True)

    def add(self, out: Outcome) -> None:
        self.put(table_text(out, self.format, not self.tables))
        self.tables.append(table_json(out))
        self.runs += sum(line.runs for line in out.lines)
        self.failed += sum(line.failed for line in out.lines)

    def write(self, session: Session, folder: Path, names: list[str], force: bool) -> None:
        whole = {"kindred": text(lib.kdr_version()), "command": "bench", "tables": self.tables}
        write_text(session, folder / names[0], self.text, force)
        write_text(session, folder / names[1], json.dumps(whole, ensure_ascii=False) + "\n", force)
        if len(names) > 2:
            session.check(lib.kdr_report(session.ctx, os.fsencode(folder / names[1]), os.fsencode(folder / names[2]), force))
        if not self.quiet:
            print(f"{chr(10) if self.format == 'csv' else ''}written to {folder}: {', '.join(names)}")


def _plans(parser: Parser, args: argparse.Namespace, every: bool) -> dict[str, Plan]:
    if args.methods:
        return {"": _plan_of_methods(parser, args)}
    if args.plan:
        return {"": read_plan(args.plan, str(args.plan), str(args.plan.parent))}
    if every:
        return {name: plan for name, plan in ((name, read_preset(name)) for name in presets()) if plan.paper}
    for name in args.arguments:
        _require(parser, name)
    plans = {name: read_preset(name) for name in args.arguments}
    for name, path in ((name, table.files[0].path) for name, plan in plans.items() for table in plan.tables if not _has_data(table)):
        raise PlanError(f"preset {name} needs {path}, which was not found; set KINDRED_DATA to the folder with the data sets")
    return plans


def _run(parser: Parser, args: argparse.Namespace) -> int:
    every = args.arguments[:1] == ["all"] and not args.methods and not args.plan
    by_rows = args.output is not None and not args.methods and not args.plan
    plans = _plans(parser, args, every)
    for table in (table for plan in plans.values() for table in plan.tables):
        table.repeats = args.repeats or (2 if args.quick else table.repeats)
        table.sample = args.sample or (300 if args.quick else table.sample)
    units = _units(parser, args, plans) if by_rows else []
    names = [FORMATS[args.format], "bench.json", *(["bench.html"] if args.report else [])]
    keeps = args.output is not None and not every and not args.only  # some rows make no table to be kept, but are printed
    for path in (args.output / name for name in names) if keeps and not args.force else ():
        if path.exists():
            parser.error(f"{path} already exists; use --force to replace it")
    if args.output:
        args.output.mkdir(parents=True, exist_ok=True)
    session = Session(threads=args.threads, device=args.device, progress=sys.stderr.isatty() and not args.quiet)
    if by_rows:
        code = Crew(units, args.output, lib.kdr_context_threads(session.ctx), args.device, args.time_limit, args.quiet).run()
        if code or (every and not args.only):
            return code
    printer, going = Printer(args), True
    for plan in plans.values():
        means = {}
        for t, table in enumerate(plan.tables if going else []):
            out = read_table([unit for unit in units if unit.of[0] is table], args.output) if by_rows else run_table(session, table, args.seed, args.time_limit)
            if out is None:
                continue
            out.some = bool(args.only)
            printer.add(out)
            means[t], going = row_means(out), not out.interrupted
            for line in dict.fromkeys(session.warnings) if not args.quiet else ():
                complain(f"warning: {line}")
            session.warnings.clear()
            if not going:
                break
        if plan.summary and means and not args.only and args.format != "csv":  # in CSV, its values are means of those printed
            printer.put(summary_text(plan, means, args.format))
    if keeps:
        session.interrupted = False
        printer.write(session, args.output, names, args.force)
    # Some failed runs are a result, which the lines below the table report.
    if going and printer.runs and printer.failed == printer.runs:
        complain(f"all {printer.failed} runs failed; the lines below the table give the reasons")
        return 1
    return 0 if going else 130


def _check(parser: Parser, args: argparse.Namespace) -> None:
    """Options that would have no effect are errors."""
    if (args.plan and (args.methods or args.arguments)) or not (args.methods or args.plan or args.arguments):
        parser.error("use one of: preset names ('python -m kindred.bench --list' lists them), --plan FILE, or --methods with data files")
    if args.arguments[:1] == ["all"] and not args.methods and (not args.output or len(args.arguments) > 1):
        parser.error("all needs -o DIR, the folder for the results, and no other preset")
    if args.only and (args.methods or args.plan or not args.output):
        parser.error("--only needs presets and -o DIR, the folder with their rows")
    of_methods = {"-k": args.clusters, "--set": args.set, "--grid": args.grid, "--top-features": args.top_features,
                  **{f"--{option}": getattr(args, key) for key, option in PREPARING.items()}}
    rules = [(option, value, "--methods", args.methods) for option, value in of_methods.items()]
    rules += [("--pick", args.pick, "--grid", args.grid), ("--report", args.report, "-o DIR", args.output), ("--top-by", args.top_by, "--top-features", args.top_features)]
    for option, used, needs, has in rules:
        if used and not has:
            parser.error(f"{option} has no effect without {needs}; add it, or remove {option}")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line. Returns the exit status: 0, 1 (all runs failed, or a row), 2 (usage), 3 (a plan or data), 130 (stopped)."""
    parser = _parser()
    args = parser.parse_intermixed_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        if args.list:
            for name in presets():
                print(f"{name:22} {read_preset(name).title}")
            return 0
        if args.show is not None:
            _require(parser, args.show)
            print(presets()[args.show].read_text(encoding="utf-8"), end="")
            return 0
        _check(parser, args)
        return _run(parser, args)
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError, ArithmeticError, MemoryError) as error:
        complain(error)
        return 3 if isinstance(error, (OSError, ValueError)) else 1


if __name__ == "__main__":
    sys.exit(main())
