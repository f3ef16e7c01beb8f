#!/usr/bin/python3
"""What landmarks cost `transfer` in accuracy: the tasks of the preset transfer-auto on graphs of neighbours and of landmarks. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_landmarks.py KINDRED FILE.csv [--sample N] [--repeats R] [--jobs P] [--minutes M] [--only TEXT] [--part I/N]

Each task and graph is a process of one thread, P of them at a time, and a line of FILE.csv: table, row, one column a draw, then the seconds of the
processor. A line that is there is not run again, so that it can be stopped at any time; it stops by itself after M minutes. `neighbours` finds them exactly
on all of these tasks; the other rows are numbers of landmarks. bench/transfer_docs.py makes the table `landmarks` of docs/transfer.md of
bench/results/transfer-auto/landmarks.csv, which is the lines of several such files one below the other. --part I/N: each N-th task from the I-th on."""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(os.environ.get("KINDRED_DATA", pathlib.Path(__file__).resolve().parents[2] / "shared" / "data"))
PLAN = pathlib.Path(__file__).resolve().parent.parent / "cli" / "plans" / "transfer-auto.json"
ROWS = {"neighbours": {"graph": "neighbours"}}
ROWS.update({str(m): {"graph": "landmarks", "landmarks": m} for m in (2000, 500, 100)})


def tasks():
    """The preset's tables, pairs one by one, under the titles that the preset gives them."""
    for table in json.loads(PLAN.read_text())["tables"]:
        rest = {k: v for k, v in table.items() if k not in ("pairs", "title", "paired", "group")}
        if "pairs" not in table:
            yield {"title": table["title"], **rest}
            continue
        files = table["pairs"]
        for target in files:
            others = [f for f in files if f is not target]
            for source in others:
                yield {"title": "%s: %s to %s" % (table["title"], source["name"], target["name"]), "source": [source], "target": [target], **rest}
            if len(others) > 1:
                yield {"title": "%s: all others to %s" % (table["title"], target["name"]), "source": others, "target": [target], **rest}


def placed(table):
    """A table with the whole paths of its files: those of a plan are beside it."""
    return {k: [{**f, "path": str(DATA / f["path"])} for f in v] if k in ("source", "target") else v for k, v in table.items()}


def run(kindred, table, row, args):
    """Accuracies of the draws, and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "plan.json"
        plan.write_text(json.dumps({"title": table["title"], "tables": [placed(table)],
                                    "rows": [{"name": row, "method": "auto-transfer", "set": {"without": False, **ROWS[row]}}]}))
        child = subprocess.Popen([kindred, "bench", "--plan", str(plan), "-o", folder + "/out", "--sample", str(args.sample), "--repeats", str(args.repeats),
                                  "--threads", "1", "--no-progress"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
        said = child.stderr.read().decode().strip()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            return said.splitlines()[-1:] or ["status %d" % child.returncode], None
        found = json.loads((pathlib.Path(folder) / "out" / "bench.json").read_text())
    scores = found["tables"][0]["rows"][0]["scores"]["acc"][0]["values"]
    return ["%.6f" % a for a in scores], round(usage.ru_utime + usage.ru_stime, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kindred")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1000000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1")
    args = parser.parse_args()
    done = set()
    if args.file.exists():
        with open(args.file, newline="") as f:
            done = {tuple(line[:2]) for line in csv.reader(f)}
    else:
        args.file.write_text("table,row,draws\n")
    part, of = map(int, args.part.split("/"))
    wanted = [(t, row) for t in list(tasks())[part::of] for row in ROWS if args.only in t["title"] + "/" + row and (t["title"], row) not in done]
    end = time.monotonic() + 60 * args.minutes
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:

        def one(job):
            return (job, run(args.kindred, *job, args)) if time.monotonic() < end else (job, None)

        for (table, row), answer in pool.map(one, wanted):
            if answer is None:
                continue
            scores, seconds = answer
            if seconds is None:
                print("%s, %s: %s" % (table["title"], row, scores[0]), file=sys.stderr, flush=True)
                continue
            with open(args.file, "a", newline="") as f:
                csv.writer(f, lineterminator="\n").writerow([table["title"], row, *scores, "%ss" % seconds])
    return 0


if __name__ == "__main__":
    sys.exit(main())
