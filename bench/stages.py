#!/usr/bin/python3
"""Shows where the time of a command goes: its stages with 1 to 16 threads. SPDX-License-Identifier: BSD-3-Clause

usage: bench/stages.py COMMAND... [--threads 1,2,4,8,16] [--build DIR] [--out FILE.csv] [--rows N] [--repeats R] [--least SHARE] [--label TEXT]

COMMAND is cluster, kmeans (cluster -m kmeans with 20 starts) or transfer on two generated data sets of --rows x 50 (100,000), or in quotes a
command of the program with its arguments but without --threads, for example "relate a.csv b.csv".

The program records when stages begin and end (cli/session.c). For each stage and number of threads, the script prints seconds by the
clock, processor seconds, and the share of the threads' time in which they waited: 1 - processor / (clock x threads). Members of a vote run side by
side; while n of them run, each has 1/n of the threads and of the processor time. "start" is what comes before the first stage, and
"writing" what comes after the last one, with the end of the process. Stages with less than --least of the time (0.01) are added to "other".
Of --repeats runs (1), the one with the least clock time counts. --out also writes the rows to a CSV file; rows with another --label stay."""

import argparse
import os
import pathlib
import shlex
import subprocess
import tempfile
import time

import common

HEAD = ["label", "command", "threads", "stage", "clock_s", "processor_s", "waiting"]
GENERATED = {"cluster": "cluster -k 8 -o {out} {data}/task1.npy {data}/task2.npy",
             "kmeans": "cluster -m kmeans -k 8 --set n_init=20 -o {out} {data}/task1.npy {data}/task2.npy",
             "transfer": "transfer --source {data}/task1.npy --labels {data}/task1.labels --target {data}/task2.npy -o {out}"}


def run(program, words, threads, folder):
    """One run: its events (clock, processor, thread, what, stage), beginning and end included."""
    record = folder / "stages.csv"
    record.unlink(missing_ok=True)
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    child = subprocess.Popen([program, *words, "--threads", str(threads), "-q", "--force"], env={**os.environ, "KINDRED_STAGES": str(record)})
    _, status, usage = os.wait4(child.pid, 0)
    end = time.clock_gettime(time.CLOCK_MONOTONIC)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"status {child.returncode}: {shlex.join(words)}")
    lines = [line.split(",", 4) for line in record.read_text().splitlines()]
    events = sorted(((float(c), float(p), thread, what, stage) for thread, what, c, p, stage in lines), key=lambda e: e[0])
    return [(begin, 0.0, "0", "", ""), *events, (end, usage.ru_utime + usage.ru_stime, "0", "", "")]


def attribute(events, threads):
    """Of each path of stages: [clock, processor, thread seconds]."""
    found, stages, base = {}, {"0": []}, {"0": ()}  # of each thread: its open stages, and those of the thread that started it
    last_end = max((e[0] for e in events if e[3] == "end"), default=0)
    for (clock, processor, thread, what, stage), after in zip(events, events[1:]):
        stack = stages.setdefault(thread, [])
        if what == "begin":
            stack.append(stage)
        elif what == "end" and stage in stack:
            del stack[len(stack) - 1 - stack[::-1].index(stage):]
        elif what == "start":
            base[f"{thread}.{stage}"] = base[thread] + tuple(stack)
        paths = [base[t] + tuple(stages[t]) for t in stages if t == "0" or stages[t]]
        # a thread that waits for others is in the stage that contains theirs
        leaves = [p for p in paths if not any(q[:len(p)] == p and len(q) > len(p) for q in paths)]
        if leaves == [()]:
            leaves = [("start",) if not found or list(found) == [("start",)] else ("writing",) if clock >= last_end else ("between",)]
        for path in {p[:i]: 0 for p in leaves for i in range(1, len(p) + 1)}:
            share = sum(p[:len(path)] == path for p in leaves) / len(leaves)
            row = found.setdefault(path, [0.0, 0.0, 0.0])
            row[0] += after[0] - clock
            row[1] += share * (after[1] - processor)
            row[2] += share * threads * (after[0] - clock)
    return found


def summarise(found, shown):
    """{path: (clock, processor, share of waiting)} in the order in which stages began, a total first. Stages that are not in `shown` are added up."""
    rows = {("total",): [sum(r[i] for p, r in found.items() if len(p) == 1) for i in range(3)]}

    def add(parent, name):
        children = [p for p in found if len(p) == len(parent) + 1 and p[:-1] == parent]
        if len(children) == 1 and parent and found[children[0]][0] > 0.9 * found[parent][0]:  # the stage "kmeans" of the member "k-means"
            return add(children[0], name)
        for p in children:
            if p not in shown and found[p][0] < 0.001 * rows["total",][0]:
                continue
            row = rows.setdefault(name + (p[-1] if p in shown else "other",), [0.0, 0.0, 0.0])
            row[:] = [a + b for a, b in zip(row, found[p])]
            if p in shown:
                add(p, name + p[-1:])
        return None

    add((), ())
    return {p: (clock, processor, max(0.0, 1 - processor / available) if available > 0 else 0.0) for p, (clock, processor, available) in rows.items()}


def measure(args, command, folder):
    """Of each number of threads: the times of the stages."""
    words = shlex.split(GENERATED.get(command, command).format(data=folder / "data", out=folder / "out"))
    if command in GENERATED and not (folder / "data").exists():
        subprocess.run([args.program, *f"generate --tasks 2 -k 8 -d 50 -n {args.rows} --to npy --separation 1.5 -q -o".split(), folder / "data"], check=True)
    if command not in GENERATED and words[0] in ("cluster", "transfer") and not {"-o", "--out"} & set(words):
        words += ["-o", str(folder / "out")]
    tables = {}
    for threads in args.threads:
        runs = [run(args.program, words, threads, folder) for _ in range(args.repeats)]
        tables[threads] = attribute(min(runs, key=lambda e: e[-1][0] - e[0][0]), threads)
    shown = {p for t in tables.values() for p, row in t.items() if row[0] >= args.least * sum(r[0] for q, r in t.items() if len(q) == 1)}
    return {threads: summarise(found, shown) for threads, found in tables.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("--build", type=pathlib.Path, default=common.ROOT / "build" / "release", help="build folder (build/release)")
    parser.add_argument("--out", type=pathlib.Path, help="CSV file for the results")
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2, 4, 8, 16])
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.01)
    parser.add_argument("--label", default="")
    args = parser.parse_args()
    args.program = args.build.resolve() / "cli" / "kindred"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for command in args.commands:
            tables = measure(args, command, pathlib.Path(name))
            print(f"\n{command}, {common.machine()}: clock s (processor s) share of waiting\n\n| stage |"
                  + "".join(f" {t} thread{'s' * (t > 1)} |" for t in args.threads) + "\n|---|" + "---:|" * len(args.threads))
            for path in dict.fromkeys(p for t in tables.values() for p in t):
                cells = []
                for threads in args.threads:
                    clock, processor, share = tables[threads].get(path, (0, 0, 0))
                    cells.append(f"{clock:.2f} ({processor:.2f}) {100 * share:.0f} %")
                    rows.append([args.label, command, threads, " / ".join(path), f"{clock:.3f}", f"{processor:.3f}", f"{share:.2f}"])
                print(f"| {'&emsp;' * (len(path) - 1)}{path[-1]} | " + " | ".join(cells) + " |", flush=True)
    if args.out:
        fresh = {(args.label, c) for c in args.commands}
        kept = [[r[h] for h in HEAD] for r in common.read_csv(args.out) if (r["label"], r["command"]) not in fresh]
        common.write_csv(args.out, HEAD, kept + rows, sorted({*common.comments(args.out), common.provenance(common.command_line())}))


if __name__ == "__main__":
    main()
