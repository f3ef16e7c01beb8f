#!/usr/bin/python3
"""How near the estimates of time and memory come, for every method of the registry at four sizes. SPDX-License-Identifier: BSD-3-Clause

usage: bench/estimates.py run KINDRED FILE.csv [--set NAME] [--jobs NAME,...] [--kinds dense,sparse] [--minutes M]
                          [--most SECONDS] [--data DIR] [--part I/P] [--make]
       bench/estimates.py again KINDRED FILE.csv NEW.csv [--set NAME] [--jobs NAME,...] [--data DIR]
       bench/estimates.py take MACHINE FILE.csv...   (into bench/results/scale/estimates-MACHINE.csv)
       bench/estimates.py [write | check]            (the tables of docs/scale.md)

Constants of the models are chosen by the sets whose names begin with `choose` and held against the set `report`, whose sizes, columns,
clusters and words are others. Data are made by `kindred generate` as bench/scale.py does, three tasks. Sizes of a method are chosen so that the largest
takes some seconds. A row of the file is one run: seconds of the fit (of the processor where those are fewer: one thread is used,
and other work disturbs them less), peak memory of the process, and what `estimated` in result.json said of both. A run that has its
row is not made again; `again` makes the estimates of rows anew and stops the fits, whose seconds and memory stay, so that a change of the
models need not wait for them; after --minutes no other is begun, and one that takes more than --most seconds is ended.
--part 0/2 makes every second of the jobs, so that several processes can share the work, and the data, if --make has made those first."""

import argparse
import csv
import os
import pathlib
import re
import subprocess
import sys
import time

import scale

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "scale"
PAGE = ROOT / "docs" / "scale.md"
HEAD = ["set", "kind", "job", "n", "columns", "clusters", "status", "seconds", "estimated_seconds", "peak", "estimated_bytes"]
# Samples of the four runs of a method; columns, clusters and separation of blobs; words, words a sample and clusters of text.
SETS = {"choose": {"sizes": [6000, 12000, 24000, 48000], "dense": (50, 5, 0.3), "sparse": (50000, 60, 5)},
        "choose-too": {"sizes": [5000, 10000, 20000, 40000], "dense": (30, 8, 0.3), "sparse": (20000, 100, 8)},
        "choose-more": {"sizes": [7000, 14000, 28000, 56000], "dense": (80, 6, 0.5), "sparse": (30000, 40, 12)},
        "report": {"sizes": [4500, 9000, 18000, 36000], "dense": (40, 10, 0.4), "sparse": (40000, 80, 7)}}
# What a method's sizes are of those: dense and sparse. Others have them as they are.
SHARE = {"snmf": (1 / 12, 1 / 12), "mtcfir": (1 / 12, 1 / 60), "trec": (1 / 12, 1 / 12), "msda": (1, 1 / 60), "auto": (1 / 4, 3 / 4),
         "auto-transfer": (1 / 2, 1 / 4), "harmony": (1 / 2, 1 / 2), "pca-kmeans": (1, 1 / 12), "cocc": (4, 1), "svm": (4, 2), "logreg": (4, 2),
         "ot-prototypes": (2, 1), "lssttc": (4, 1), "nmtf": (1, 1 / 2), "ttl": (1, 1 / 2)}


def data(kindred, root, which, kind, n):
    """Three tasks of n samples in all, in files that take no time to read."""
    s = SETS[which]
    if kind == "dense":
        scale.COLUMNS, scale.CLUSTERS, scale.SEPARATION = s["dense"]
    else:
        scale.WORDS, scale.LENGTH, scale.CLUSTERS = s["sparse"]
    folder = root / which / f"{kind}-{n}"
    if kind == "dense" or not (folder / "task3.npz").exists():
        folder, tasks, _ = scale.make(kindred, root / which, kind, n, False)
        if kind == "dense":
            return folder, tasks
        for task in tasks:
            subprocess.run([kindred, "convert", "--force", "-q", str(task), str(task.with_suffix(".npz"))], check=True)
            task.unlink()
    return folder, [folder / f"task{i}.npz" for i in (1, 2, 3)]


def rows_of(path):
    """What a file holds."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def put(path, rows, how):
    with open(path, how, newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, HEAD, lineterminator="\n")
        if f.tell() == 0:
            out.writeheader()
        out.writerows(rows)


def plan(methods, which, jobs, kinds):
    """Every run: the smallest of all methods first."""
    for i in range(4):
        for kind in kinds:
            for job in jobs or methods:
                share = SHARE.get(job, (1, 1))[kind == "sparse"]
                yield kind, job, int(SETS[which]["sizes"][i] * share) // 3 * 3


def run(args):
    """The runs that have no row yet."""
    os.environ["OMP_NUM_THREADS"] = "1"
    methods = scale.registry(args.kindred)
    end = time.monotonic() + 60 * args.minutes
    part, parts = map(int, args.part.split("/"))
    args.data.mkdir(parents=True, exist_ok=True)
    (args.data / args.set).mkdir(exist_ok=True)
    every = list(plan(methods, args.set, args.jobs and args.jobs.split(","), args.kinds.split(",")))
    if args.make:
        for kind, n in sorted({(kind, n) for kind, _, n in every}, key=lambda pair: -pair[1])[part::parts]:
            data(args.kindred, args.data, args.set, kind, n)
        return
    for kind, job, n in every[part::parts]:
        done = rows_of(args.file)
        mine = [r for r in done if (r["set"], r["kind"], r["job"]) == (args.set, kind, job)]
        if any(int(r["n"]) == n for r in mine):
            continue
        if time.monotonic() > end:
            return
        folder, tasks = data(args.kindred, args.data, args.set, kind, n)
        out = folder / f"out-{job}-{part}"
        out.mkdir(exist_ok=True)
        line = scale.run(scale.command(args.kindred, methods[job], job, kind, folder, tasks, out), out, args.most)
        row = {"set": args.set, "kind": kind, "job": job, "n": n, "columns": scale.COLUMNS if kind == "dense" else scale.WORDS,
               "clusters": scale.CLUSTERS, "status": line["status"]}
        if line["status"] == 0:
            row["seconds"] = f"{min(line['seconds']['fit'], line['cpu']):.4g}"
            row["peak"] = line["peak"]
            row["estimated_seconds"] = f"{line['estimated']['seconds']:.4g}"
            row["estimated_bytes"] = line["estimated"]["bytes"]
        else:
            print(line["error"], file=sys.stderr)
        put(args.file, [row], "a")
        print(",".join(str(row.get(h, "")) for h in HEAD), flush=True)


def again(args):
    """Rows of fits that were made, with what is said of them now."""
    os.environ["OMP_NUM_THREADS"] = "1"
    methods = scale.registry(args.kindred)
    jobs = args.jobs.split(",") if args.jobs else methods
    (args.data / args.set).mkdir(parents=True, exist_ok=True)
    for row in rows_of(args.file):
        if row["set"] != args.set or row["status"] != "0" or row["job"] not in jobs:
            continue
        folder, tasks = data(args.kindred, args.data, args.set, row["kind"], int(row["n"]))
        out = folder / f"again-{row['job']}"
        out.mkdir(exist_ok=True)
        line = scale.run([*scale.command(args.kindred, methods[row["job"]], row["job"], row["kind"], folder, tasks, out),
                          "--time-limit", "0.02"], out, 60)
        row["estimated_seconds"] = f"{line['estimated']['seconds']:.4g}"
        row["estimated_bytes"] = line["estimated"]["bytes"]
        put(args.new, [row], "a")


def ratios(rows, what, estimated):
    """Estimates divided by what came, by size."""
    rows = sorted((r for r in rows if r["status"] == "0"), key=lambda r: int(r["n"]))
    return [float(r[estimated]) / max(float(r[what]), 1e-9) for r in rows]


def shown(values):
    """So that 0.5 to 2 is read off, and what lies outside stands out."""
    return " ".join(f"{v:.2f}" if 0.5 <= v <= 2 else f"**{v:.2f}**" for v in values)


def lines(machine, which):
    """The table of a set on a machine, and how many lie within a factor of two."""
    rows = [r for r in rows_of(RESULTS / f"estimates-{machine}.csv") if r["set"] == which]
    out = ["| method | blobs: samples | time | memory | text: samples | time | memory |", "|---|---|---|---|---|---|---|"]
    count = {"seconds": [0, 0], "peak": [0, 0]}
    missing = 0
    for job in sorted({r["job"] for r in rows}):
        cells = []
        for kind in ("dense", "sparse"):
            mine = [r for r in rows if (r["job"], r["kind"]) == (job, kind)]
            sizes = sorted(int(r["n"]) for r in mine if r["status"] == "0")
            missing += 4 - len(sizes)
            cells.append(f"{sizes[0]:,} to {sizes[-1]:,}" if sizes else "")
            for what, estimated in (("seconds", "estimated_seconds"), ("peak", "estimated_bytes")):
                values = ratios(mine, what, estimated)
                count[what][0] += sum(0.5 <= v <= 2 for v in values)
                count[what][1] += len(values)
                cells.append(shown(values))
        out.append(f"| `{job}` | " + " | ".join(cells) + " |")
    note = "Within a factor of two: time in %d of %d runs, memory in %d of %d" % (*count["seconds"], *count["peak"])
    return out + ["", note + (f"; {missing} runs are missing." if missing else ".")]


def page():
    """docs/scale.md with its tables of estimates as the files have them."""
    def fill(match):
        return "%s\n%s\n<!-- end -->" % (match.group(1), "\n".join(lines(match.group(2), match.group(3))))

    return re.sub(r"(<!-- estimates (\S+) (\S+) -->)\n.*?<!-- end -->", fill, PAGE.read_text(encoding="utf-8"), flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = parser.add_subparsers(dest="verb", required=True)
    one = sub.add_parser("run")
    one.add_argument("kindred")
    one.add_argument("file", type=pathlib.Path)
    one.add_argument("--set", choices=SETS, default="choose")
    one.add_argument("--jobs")
    one.add_argument("--kinds", default="dense,sparse")
    one.add_argument("--minutes", type=float, default=5)
    one.add_argument("--most", type=float, default=40)
    one.add_argument("--data", type=pathlib.Path, default=pathlib.Path("estimate-data"))
    one.add_argument("--part", default="0/1")
    one.add_argument("--make", action="store_true")
    three = sub.add_parser("again")
    three.add_argument("kindred")
    three.add_argument("file", type=pathlib.Path)
    three.add_argument("new", type=pathlib.Path)
    three.add_argument("--set", choices=SETS, default="choose")
    three.add_argument("--jobs")
    three.add_argument("--data", type=pathlib.Path, default=pathlib.Path("estimate-data"))
    two = sub.add_parser("take")
    two.add_argument("machine")
    two.add_argument("file", type=pathlib.Path, nargs="+")
    sub.add_parser("write")
    sub.add_parser("check")
    args = parser.parse_args()
    if args.verb == "run":
        run(args)
    elif args.verb == "again":
        again(args)
    elif args.verb == "take":
        rows = {(r["set"], r["job"], r["kind"], int(r["n"])): r for f in args.file for r in rows_of(f)}
        RESULTS.mkdir(parents=True, exist_ok=True)
        put(RESULTS / f"estimates-{args.machine}.csv", [rows[key] for key in sorted(rows)], "w")
    elif args.verb == "write":
        PAGE.write_text(page(), encoding="utf-8")
    elif page() != PAGE.read_text(encoding="utf-8"):
        return "docs/scale.md is not what bench/results/scale gives: run bench/estimates.py write"
    return 0


if __name__ == "__main__":
    sys.exit(main())
