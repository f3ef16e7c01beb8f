#!/usr/bin/env python3
"""auto and ncut on a graph of landmarks beside the graph of neighbours. SPDX-License-Identifier: BSD-3-Clause

    bench/landmarks.py gather build/release/cli/kindred runs.jsonl [--sets 20ng_full,...] [--grid 1000x10,2000x10] [--jobs 2] [--minutes 5]
    bench/landmarks.py table runs.jsonl

`gather` runs both methods on all samples of every collection in KINDRED_DATA, with neighbours and with landmarks=M neighbors=R (--grid
MxR); ncut gets the preprocessing that auto chose (--only ncut: that it would choose, stopped before its vote). One line a run: NMI of every task, seconds. It
adds to the file and passes over what is there. `table` prints the mean NMI by collection. Truth scores, and nothing else."""
import argparse
import json
import multiprocessing.pool
import os
import subprocess
import threading
import time

import auto_left_out
import auto_table

lock = threading.Lock()


def title_of(name, wanted):
    return name + ("" if not wanted else ":" + "+".join(wanted))


def load(path):
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def run(program, name, wanted, seed, method, how, flags):
    """One run: NMI and seconds, and the flags of its preprocessing."""
    tasks = auto_table.tasks_of(name, wanted)
    k = ",".join(str(auto_table.classes(t[2])) for t in tasks)
    command = [program, "cluster", "-q", "--threads", "1", "-k", k, "--seed", str(seed), "-m", method, *flags]
    if how != "neighbours":
        m, r = how.split("x")
        command += ["--set", "graph=landmarks", "--set", "landmarks=" + m, "--set", "neighbors=" + r]
    command += ["--truth", ",".join(str(t[2]) for t in tasks), *(f"{t[0]}={t[1]}" for t in tasks)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip()}, []
    result = json.loads(done.stdout)
    return {"nmi": [t["metrics"]["nmi"] for t in result["tasks"]], "seconds": result["seconds"]["fit"],
            "n": sum(t["n"] for t in result["tasks"])}, auto_table.flags(result["preprocessing"])


def gather(args):
    program, end = os.path.abspath(args.program), time.monotonic() + 60 * args.minutes
    done = {(r["set"], r["seed"], r["method"], r["how"]): r for r in load(args.runs)}

    def collection(job):
        seed, (name, wanted) = job
        title = title_of(name, wanted)
        flags = done.get((title, seed, "auto", "neighbours"), {}).get("flags")
        for method, how in [(m, h) for h in ["neighbours"] + args.grid.split(",") for m in ("auto", "ncut")]:
            if (title, seed, method, how) in done or (args.only and method != args.only):
                continue
            if time.monotonic() > end:
                return
            if method == "ncut" and flags is None:
                flags = run(program, name, wanted, seed, "auto", "neighbours", ["--time-limit", "0.01"])[1]
            line, chosen = run(program, name, wanted, seed, method, how, flags if method == "ncut" else [])
            if method == "auto" and how == "neighbours":
                flags = line["flags"] = chosen
            with lock, open(args.runs, "a") as out:
                out.write(json.dumps({"set": title, "seed": seed, "method": method, "how": how, **line}) + "\n")

    wanted = args.sets.split(",") if args.sets else None
    chosen = [c for c in auto_left_out.COLLECTIONS if not wanted or c[0] in wanted]
    chosen.sort(key=lambda c: wanted.index(c[0]) if wanted else 0)
    jobs = [(seed, c) for seed in range(1, args.seeds + 1) for c in chosen]
    with multiprocessing.pool.ThreadPool(args.jobs) as pool:
        pool.map(collection, jobs, chunksize=1)


def table(args):
    runs = [r for r in load(args.runs) if "nmi" in r]
    hows = sorted({r["how"] for r in runs if r["how"] != "neighbours"}, key=lambda h: [int(v) for v in h.split("x")])
    for method in ("auto", "ncut"):
        print(f"\n| {method} | samples | neighbours |" + "".join(f" {h} |" for h in hows) + "\n|---|---|---|" + "---|" * len(hows))
        sums = {}
        for title in dict.fromkeys(r["set"] for r in runs):
            cells, n = [], 0
            for how in ["neighbours", *hows]:
                found = [r for r in runs if (r["set"], r["method"], r["how"]) == (title, method, how)]
                nmi = [sum(r["nmi"]) / len(r["nmi"]) for r in found]
                n = found[0]["n"] if found else n
                cells.append(f"{sum(nmi) / len(nmi):.3f}, {sum(r['seconds'] for r in found) / len(found):.1f} s" if nmi else "")
                if nmi:
                    sums.setdefault(how, {})[title] = sum(nmi) / len(nmi)
            print(f"| {title} | {n} | " + " | ".join(cells) + " |")
        whole = [t for t in sums.get("neighbours", {}) if all(t in sums.get(h, {}) for h in hows)]
        if whole:
            print(f"| mean of {len(whole)} | | " + " | ".join(f"{sum(sums[h][t] for t in whole) / len(whole):.3f}" for h in ["neighbours", *hows])
                  + " |")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    g = commands.add_parser("gather")
    g.add_argument("program")
    g.add_argument("runs")
    g.add_argument("--sets")
    g.add_argument("--grid", default="2000x10")
    g.add_argument("--only", choices=("auto", "ncut"), help="one of both methods alone")
    g.add_argument("--seeds", type=int, default=1)
    g.add_argument("--jobs", type=int, default=1)
    g.add_argument("--minutes", type=float, default=1e9)
    t = commands.add_parser("table")
    t.add_argument("runs")
    args = parser.parse_args()
    (gather if args.command == "gather" else table)(args)


if __name__ == "__main__":
    main()
