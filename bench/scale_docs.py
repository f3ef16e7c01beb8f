#!/usr/bin/python3
"""The tables of docs/scale.md on what grows how, and on peers. SPDX-License-Identifier: BSD-3-Clause

usage: bench/scale_docs.py [--take FILE.jsonl...] [--check]

--take puts what bench/scale.py found (and bench/scale_peers.py --to, bench/scaling.py --to) into bench/results/scale/growth.csv (and peers.csv,
scaling.csv), a row a run; of a job that was run twice at a size with as many threads the last counts, of runs over ranks all those of the machine
are taken anew, the least seconds of each. Without it every table of docs/scale.md between `<!-- growth KIND -->`, `<!-- million -->`, `<!-- peers -->`
or `<!-- scaling KIND -->` and `<!-- end -->` is written from these files. --check: only whether the page is what the files give.

Seconds are those of the fit, of vectorize and predict those of the whole command; with one thread, and of these two, of the
processor where these are fewer: other work disturbs them less. The exponent is the slope of log seconds over log samples over all
sizes below a million, one thread."""

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
HEAD = ["kind", "job", "n", "machine", "threads", "seconds", "processor", "peak", "data", "nmi"]
PEERS = ["who", "machine", "rows", "columns", "clusters", "iterations", "cores", "seconds", "processor", "inertia", "peak"]
RANKS = ["machine", "kind", "method", "rows", "ranks", "seconds", "mean", "exchanges", "bytes_sent", "stretch", "efficiency"]
# As the issue lists them.
JOBS = ["auto", "kmeans", "mbc", "lssmtc", "ec", "ncut", "svm", "logreg", "auto-transfer", "vectorize", "predict"]
NAMES = {"auto": "`cluster` (`auto`)", "auto-transfer": "`transfer` (`auto`)"}
MILLION = 1000000
OTHERWISE = {"auto": 18000}  # up to so many samples it has members that need n x n numbers, which say nothing of what comes beyond


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


def take(files):
    """Lines of runs into the two files."""
    runs = {(r["kind"], r["job"], int(r["n"]), int(r["threads"])): r for r in rows_of("growth.csv")}
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
                fit = line["seconds"]["fit"] if "seconds" in line else line["wall"]
                fit = min(fit, line["cpu"]) if line["threads"] == 1 or "seconds" not in line else fit
                runs[line["kind"], line["job"], line["n"], line["threads"]] = {
                    "kind": line["kind"], "job": line["job"], "n": line["n"], "machine": line["machine"], "threads": line["threads"],
                    "seconds": f"{fit:.3g}", "processor": f"{line['cpu']:.3g}", "peak": line["peak"], "data": int(line["data"]),
                    "nmi": line.get("nmi", "")}
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


def growth(kind):
    """A line a job: seconds at each size, one thread, and how they grow."""
    rows = [r for r in rows_of("growth.csv") if r["kind"] == kind and r["threads"] == "1"]
    sizes = sorted({int(r["n"]) for r in rows if int(r["n"]) < MILLION})
    out = ["| | %s | exponent | peak of the largest |" % " | ".join(f"{n:,}" for n in sizes), "|---|" + "---:|" * (len(sizes) + 2)]
    for job in JOBS:
        mine = {int(r["n"]): r for r in rows if r["job"] == job and int(r["n"]) < MILLION}
        if not mine:
            continue
        cells = [f"{float(mine[n]['seconds']):.2g} s" if n in mine else "" for n in sizes]
        points = [(n, float(r["seconds"])) for n, r in mine.items() if n > OTHERWISE.get(job, 0)]
        slope = f"{exponent(points):.2f}" if len(points) > 1 else ""
        out.append("| %s | %s | %.2f GB |" % (NAMES.get(job, f"`{job}`"), " | ".join(cells + [slope]), float(mine[max(mine)]["peak"]) / 1e9))
    return out


def million():
    """A line a job: a million samples of both kinds, what they took and held."""
    rows = {}
    for r in sorted(rows_of("growth.csv"), key=lambda r: -abs(int(r["threads"]) - 2)):  # two threads where there are some
        if int(r["n"]) == MILLION:
            rows[r["kind"], r["job"]] = r
    out = ["| | blobs | where | peak | of 3.2 GB | text | where | peak | of 4.0 GB |", "|---|---:|---|---:|---:|---:|---|---:|---:|"]
    for job in JOBS:
        cells = []
        for kind in ("dense", "sparse"):
            r = rows.get((kind, job))
            if not r:
                cells += ["", "", "", ""]
                continue
            peak, allowed = float(r["peak"]), 3 * float(r["data"]) + 2e9
            where = "%s, %s" % (r["machine"], "one thread" if r["threads"] == "1" else f"{r['threads']} threads")
            cells += [f"{float(r['seconds']):.3g} s", where, f"{peak / 1e9:.2f} GB", f"{100 * peak / allowed:.0f} %"]
        out.append("| %s | %s |" % (NAMES.get(job, f"`{job}`"), " | ".join(cells)))
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
    out = ["| rows %s | ranks | `kmeans` | | `mbc` | |" % ("in all" if kind == "strong" else "a rank"), "|---:|---:|---:|---:|---:|---:|"]
    for key in sorted({key[:4] for key in of if key[1] == kind or kind == "weak"}, key=lambda key: (key[0], key[2], key[1] == "copies", key[3])):
        cells = []
        for method in ("kmeans", "mbc"):
            r, one = of.get((*key, method)), of.get((key[0], kind, key[2], 1, method))
            ideal = float(one["seconds"]) / (key[3] if kind == "strong" else 1) if one else 0
            cells += ["", ""] if not r else [f"{float(r['seconds']):.2f} s" + (f" (mean {float(r['mean']):.2f})" if r["mean"] else ""),
                                             f"{100 * ideal / float(r['seconds']):.0f} %" if one else ""]
        out.append("| %s | %s | %s |" % (f"{key[2]:,}", f"the slowest of {key[3]} copies" if key[1] == "copies" else key[3], " | ".join(cells)))
    return out


def waiting():
    """What bench/waiting.c says: efficiency by the length of a stretch of work."""
    rows = [r for r in rows_of("scaling.csv") if r["kind"] == "waiting"]
    return ["| machine | cores | " + "a stretch of | efficiency at most |", "|---|---:|---:|---:|"] + \
           [f"| {r['machine']} | {r['ranks']} | {1000 * float(r['stretch']):,.1f} ms | {100 * float(r['efficiency']):.0f} % |" for r in rows[::2]]


def page():
    """docs/scale.md with its tables as the files have them."""
    def fill(match):
        of = {"peers": peers, "million": million, "scaling weak": lambda: over("weak"), "scaling strong": lambda: over("strong"),
              "scaling waiting": waiting}
        lines = of.get(match.group(2), lambda: growth(match.group(3)))()
        return "%s\n%s\n<!-- end -->" % (match.group(1), "\n".join(lines))

    return re.sub(r"(<!-- (peers|million|scaling \S+|growth (\S+)) -->)\n.*?<!-- end -->", fill, PAGE.read_text(encoding="utf-8"), flags=re.S)


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
