#!/usr/bin/python3
"""The tables of docs/scale.md on a million samples, on what grows how, and on peers. SPDX-License-Identifier: BSD-3-Clause

usage: bench/scale_docs.py [--take FILE.jsonl...] [--check]

--take puts what bench/scale.py found (and bench/scale_peers.py --to, bench/scaling.py --to) into bench/results/scale/growth.csv (and peers.csv,
scaling.csv), a row a run; of a job that was run twice on a machine at a size with as many threads the last counts, of runs over ranks all those of the machine
are taken anew, the least seconds of each. Without it every table of docs/scale.md between `<!-- million KIND -->`, `<!-- growth KIND -->`, `<!-- beside JOB -->`, `<!-- peers -->`
or `<!-- scaling KIND -->` and `<!-- end -->` is written from these files. --check: only whether the page is what the files give.

Seconds are of the clock and of the whole command, reading and writing included; those of the fit stand beside, since that is what is
estimated. The tables are those of MAIN; what a core of another machine took, which had other work, is in one more column, by the processor. The exponent is the slope of log seconds over log samples, of jobs in PAIRS below and above that size by itself."""

import argparse
import csv
import json
import math
import pathlib
import re
import sys

import scaling

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "scale"
PAGE = ROOT / "docs" / "scale.md"
HEAD = ["kind", "job", "n", "machine", "threads", "seconds", "fit", "processor", "peak", "data", "said_seconds", "said_peak", "nmi"]
PEERS = ["who", "machine", "rows", "columns", "clusters", "iterations", "cores", "seconds", "processor", "inertia", "peak"]
RANKS = ["machine", "kind", "method", "rows", "ranks", "seconds", "mean", "exchanges", "bytes_sent", "stretch", "efficiency"]
# As the issue lists them.
JOBS = ["auto", "kmeans", "mbc", "lssmtc", "ec", "ncut", "svm", "logreg", "auto-transfer", "vectorize", "predict"]
NAMES = {"auto": "`cluster` (`auto`)", "auto-transfer": "`transfer` (`auto`)"}
MILLION = 1000000
# Up to so many samples neighbours are sought among all pairs, beyond there are landmarks: each grows its own way.
PAIRS = {("dense", "auto"): 600000, ("sparse", "auto"): 350000, ("dense", "ncut"): 134000, ("sparse", "ncut"): 240000}
MAIN, BESIDE = ("x86-64", "2"), "arm64"


def rows_of(name):
    """What a file of results holds."""
    path = RESULTS / name
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def put(name, head, rows):
    RESULTS.mkdir(parents=True, exist_ok=True)
    with open(RESULTS / name, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, head, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def row_of(line):
    """A run as it is kept."""
    said = line.get("estimated", {})
    return {"kind": line["kind"], "job": line["job"], "n": line["n"], "machine": line["machine"], "threads": line["threads"],
            "seconds": f"{line['wall']:.3g}", "fit": f"{line['seconds']['fit']:.3g}" if "seconds" in line else "",
            "processor": f"{line['cpu']:.3g}", "peak": line["peak"], "data": int(line["data"]),
            "said_seconds": f"{said['seconds']:.3g}" if said else "", "said_peak": said.get("bytes", ""), "nmi": line.get("nmi", "")}


def key_of(row):
    return row["kind"], row["job"], int(row["n"]), row["machine"], int(row["threads"])


def take(files):
    """Lines of runs into the two files."""
    runs = {key_of(r): r for r in rows_of("growth.csv")}
    beside = {(r["machine"], r["who"]): r for r in rows_of("peers.csv")}
    ranks = []
    for file in files:
        for text in file.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            if "ranks" in line:
                ranks.append(line)
            elif "who" in line:
                beside[line["machine"], line["who"]] = {key: line[key] for key in PEERS}
            elif line["status"] == 0:
                runs[key_of(line)] = row_of(line)
    put("growth.csv", HEAD, [runs[key] for key in sorted(runs)])
    put("peers.csv", PEERS, list(beside.values()))
    put("scaling.csv", RANKS, [r for r in rows_of("scaling.csv") if r["machine"] not in {m["machine"] for m in ranks}] + over_ranks(ranks))


def over_ranks(lines):
    """Rows of scaling.csv; `rows` of a rank, of strong runs in all."""
    out = []
    for machine in sorted({m["machine"] for m in lines}):
        mine = [m for m in lines if m["machine"] == machine]
        for (kind, method, rows, ranks), m in sorted(scaling.best(mine).items()):
            out.append({"machine": machine, "kind": kind, "method": method, "rows": rows, "ranks": ranks, "seconds": f"{m['seconds']:.3f}",
                        "mean": f"{m['mean']:.3f}" if "mean" in m else "", "exchanges": m.get("exchanges", ""), "bytes_sent": m.get("bytes_sent", "")})
        out += [{"machine": machine, "kind": "waiting", "ranks": m["ranks"], "stretch": f"{m['stretch']:.3g}", "efficiency": m["efficiency"]}
                for m in mine if m["kind"] == "waiting"]
    return out


def exponent(points):
    """The slope of log seconds over log n."""
    points = [(math.log(n), math.log(s)) for n, s in points]
    mean = [sum(p[i] for p in points) / len(points) for i in (0, 1)]
    return (sum((x - mean[0]) * (y - mean[1]) for x, y in points)) / sum((x - mean[0]) ** 2 for x, _ in points)


def seconds(text):
    """Three digits, without an exponent."""
    value = float(text)
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s"


def gigabytes(text):
    return f"{float(text) / 1e9:.2f} GB"


def of_main(kind):
    """Runs on the machine of the tables, by job and size."""
    return {(r["job"], int(r["n"])): r for r in rows_of("growth.csv") if r["kind"] == kind and (r["machine"], r["threads"]) == MAIN}


def growth(kind):
    """A line a job: seconds at each size, and how they grow."""
    rows = of_main(kind)
    sizes = sorted({n for _, n in rows})
    out = ["| | %s | exponent |" % " | ".join(f"{n:,}" for n in sizes), "|---|" + "---:|" * (len(sizes) + 1)]
    for job in JOBS:
        mine = {n: float(rows[job, n]["seconds"]) for n in sizes if (job, n) in rows}
        if not mine:
            continue
        cells = [seconds(mine[n]) if n in mine else "" for n in sizes]
        most = PAIRS.get((kind, job), 0)
        cells.append(", then ".join(f"{exponent(points):.2f}" for points in ([(n, s) for n, s in mine.items() if n <= most],
                                                                            [(n, s) for n, s in mine.items() if n > most])
                                    if len(points) > 1))
        out.append("| %s | %s |" % (NAMES.get(job, f"`{job}`"), " | ".join(cells)))
    return out


def million(kind):
    """A line a job: what a million samples took and held, and what was said before."""
    rows, beside = of_main(kind), {}
    for r in sorted(rows_of("growth.csv"), key=lambda r: -int(r["threads"])):  # one thread where there is one
        if (r["kind"], r["machine"], int(r["n"])) == (kind, BESIDE, MILLION):
            beside[r["job"]] = seconds(r["processor"])
    allowed = max((3 * float(r["data"]) + 2e9 for (_, n), r in rows.items() if n == MILLION), default=2e9)
    out = [f"| | command | fit | said | processor | peak | said | of {allowed / 1e9:.1f} GB | NMI | {BESIDE}: processor |", "|---|" + "---:|" * 9]
    for job in JOBS:
        r = rows.get((job, MILLION))
        if not r and job not in beside:
            continue
        cells = [""] * 8
        if r:
            cells = [seconds(r["seconds"]), seconds(r["fit"]) if r["fit"] else "", seconds(r["said_seconds"]) if r["said_seconds"] else "",
                     seconds(r["processor"]), gigabytes(r["peak"]), gigabytes(r["said_peak"]) if r["said_peak"] else "",
                     f"{100 * float(r['peak']) / (3 * float(r['data']) + 2e9):.0f} %", f"{float(r['nmi']):.2f}" if r["nmi"] else ""]
        out.append("| %s | %s | %s |" % (NAMES.get(job, f"`{job}`"), " | ".join(cells), beside.get(job, "")))
    return out


def beside(job):
    """A job on the other machine with two threads: a line a size, and what was said before."""
    out = [f"| {NAMES.get(job, f'`{job}`')} | samples | command | fit | said | peak | said | NMI |", "|---|" + "---:|" * 7]
    rows = [r for r in rows_of("growth.csv") if (r["job"], r["machine"], r["threads"]) == (job, BESIDE, MAIN[1])]
    for r in sorted(rows, key=lambda r: (r["kind"], int(r["n"]))):
        out.append("| %s | %s |" % ({"dense": "blobs", "sparse": "text"}[r["kind"]], " | ".join(
            [f"{int(r['n']):,}", seconds(r["seconds"]), seconds(r["fit"]), seconds(r["said_seconds"]), gigabytes(r["peak"]), gigabytes(r["said_peak"]),
             f"{float(r['nmi']):.3f}"])))
    return out


def peers():
    """k-means beside others."""
    rows = rows_of("peers.csv")
    out = ["| machine | | seconds | processor | inertia | peak memory |", "|---|---|---:|---:|---:|---:|"]
    return out + [f"| {r['machine']} | {r['who']} | {float(r['seconds']):.2f} | {float(r['processor']):.2f} | {float(r['inertia']):.5f} | "
                  f"{float(r['peak']) / 1e9:.2f} GB |" for r in rows]


def over(kind):
    """Weak or strong scaling: seconds, and their share of the ideal; of weak the same for copies without MPI."""
    rows = [r for r in rows_of("scaling.csv") if r["kind"] in (kind, "copies")]
    of = {(r["machine"], r["kind"], int(r["rows"]), int(r["ranks"]), r["method"]): r for r in rows}
    out = ["| machine | rows %s | ranks | `kmeans` | | `mbc` | |" % ("in all" if kind == "strong" else "a rank"), "|---|---:|---:|---:|---:|---:|---:|"]
    for key in sorted({key[:4] for key in of if key[1] == kind or kind == "weak"}, key=lambda key: (key[0], key[2], key[1] == "copies", key[3])):
        cells = []
        for method in ("kmeans", "mbc"):
            r, one = of.get((*key, method)), of.get((key[0], kind, key[2], 1, method))
            ideal = float(one["seconds"]) / (key[3] if kind == "strong" else 1) if one else 0
            cells += ["", ""] if not r else [f"{float(r['seconds']):.2f} s" + (f" (mean {float(r['mean']):.2f})" if r["mean"] else ""),
                                             f"{100 * ideal / float(r['seconds']):.0f} %" if one else ""]
        out.append("| %s | %s | %s | %s |" % (key[0], f"{key[2]:,}", f"the slowest of {key[3]} copies" if key[1] == "copies" else key[3],
                                              " | ".join(cells)))
    return out


def waiting():
    """What bench/waiting.c says: efficiency by the length of a stretch of work."""
    of = {}
    for r in rows_of("scaling.csv"):
        if r["kind"] == "waiting":
            of.setdefault(r["machine"], []).append(r)
    rows = [r for mine in of.values() for r in mine[::2]]
    return ["| machine | cores | " + "a stretch of | efficiency |", "|---|---:|---:|---:|"] + \
           [f"| {r['machine']} | {r['ranks']} | {1000 * float(r['stretch']):,.1f} ms | {100 * float(r['efficiency']):.0f} % |" for r in rows]


def ranks(kind):
    return waiting() if kind == "waiting" else over(kind)


def page():
    """docs/scale.md with its tables as the files have them."""
    def fill(match):
        name, *kind = match.group(2).split()
        lines = {"peers": peers, "million": million, "growth": growth, "beside": beside, "scaling": ranks}[name](*kind)
        return "%s\n%s\n<!-- end -->" % (match.group(1), "\n".join(lines))

    return re.sub(r"(<!-- (peers|million \S+|growth \S+|beside \S+|scaling \S+) -->)\n.*?<!-- end -->", fill, PAGE.read_text(encoding="utf-8"), flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--take", nargs="+", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.take:
        take(args.take)
    if not args.check:
        PAGE.write_text(page(), encoding="utf-8")
    elif page() != PAGE.read_text(encoding="utf-8"):
        return "docs/scale.md is not what bench/results/scale gives: run bench/scale_docs.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
