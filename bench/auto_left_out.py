#!/usr/bin/env python3
"""auto on every collection, by collection. SPDX-License-Identifier: BSD-3-Clause

    bench/auto_left_out.py gather build/release/cli/kindred runs.jsonl --size 400 --seeds 3 [--minutes 5]
    bench/auto_left_out.py table runs.jsonl [before.jsonl]
    bench/auto_left_out.py sentences runs.jsonl

`gather` draws at most --size samples a task (0: all) of every collection in KINDRED_DATA, runs auto, auto --no-transfer,
k-means, normalised cut and pooled k-means, and writes one line a draw: NMI of every task, and all that auto says about
it (the number of clusters is auto_k.py's). Truth scores, and nothing else. It adds to the file and passes over the draws
that are there already, so that a long table can be gathered in pieces (--minutes: begin no draw after that). `table`
prints the mean, the worst task against k-means and against normalised cut, and the regret against the best of all of
them, by collection and in all. `sentences` prints how often each sentence of the summary was right; it chooses no
constant itself."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import auto_table
import common

COLLECTIONS = [
    ("webkb4", None),
    ("20ng_rec_vs_talk", None),
    ("20ng_comp_vs_sci", None),
    ("20ng_4task", None),
    ("reuters3", None),
    ("handdigits", ["mnist_crop", "usps"]),
    ("cluto_trec", None),
    ("sc_mixology3", None),
    ("cluto_sjmn", None),
    ("cluto_ohscal", None),
    ("amazon_sentiment4", None),
    ("nuswide10", ["image"]),
    ("nuswide10", ["text"]),
    ("handdigits", ["mnist"]),
    ("20ng_full", None),
    ("dmoz4", None),
    ("la12", None),
]
# Draws of one source are one collection: what was chosen on one of them is not judged on another.
SOURCES = {"20ng_rec_vs_talk": "20ng", "20ng_comp_vs_sci": "20ng", "20ng_4task": "20ng", "20ng_full": "20ng"}


def run(program, tasks, k, seed, arguments):
    command = [program, "cluster", "-q", "-k", k, "--seed", str(seed), *arguments]
    command += ["--truth", ",".join(str(t[2]) for t in tasks), *(f"{t[0]}={t[1]}" for t in tasks)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def matches(result, tasks):
    """Of each match between clusters of two tasks: its quality, whether it is the best of its row and column by cosine,
    and whether both clusters have the same majority class."""
    import numpy as np

    out, majority = [], []
    for t, task in enumerate(tasks):
        truth = [x for x in task[2].read_text().split("\n") if x]
        names = sorted(set(truth))
        counts = np.zeros((result["tasks"][t]["k"], len(names)))
        for label, name in zip(result["tasks"][t]["labels"], truth):
            counts[label, names.index(name)] += 1
        majority.append([names[i] for i in counts.argmax(1)])
    order = [t[0] for t in tasks]
    for entry in result.get("correspondence", []):
        a, b = order.index(entry["from"]), order.index(entry["to"])
        shared = len(set(majority[a]) & set(majority[b])) > 0
        for z, row in enumerate(entry["matrix"]):
            if max(row) > 0:
                other = row.index(max(row))
                out.append([entry["quality"][z], majority[a][z] == majority[b][other], shared,
                            len(row), min(result["tasks"][a]["n"], result["tasks"][b]["n"])])
    return out


def gather(args):
    program = os.path.abspath(args.program)
    end = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")
    done = {(line["set"], line["size"], line["seed"]) for line in load(args.runs)} if os.path.exists(args.runs) else set()
    # a seed of all collections before the next seed
    for seed in range(1, args.seeds + 1):
        for name, wanted in COLLECTIONS:
            if args.sets and name not in args.sets.split(","):
                continue
            title = name + ("" if not wanted else ":" + "+".join(wanted))
            if (title, args.size, seed) in done:
                continue
            if time.monotonic() > end:
                return
            with tempfile.TemporaryDirectory() as folder:
                tasks = auto_table.tasks_of(name, wanted)
                if args.size:
                    tasks = auto_table.draw(tasks, args.size, seed, folder)
                k = [auto_table.classes(t[2]) for t in tasks]
                each = ",".join(map(str, k))
                line = {"set": title, "source": SOURCES.get(name, name),
                        "size": args.size, "seed": seed, "tasks": [t[0] for t in tasks], "k": k, "nmi": {}}
                auto = run(program, tasks, each, seed, [])
                if args.only:
                    line["nmi"]["auto"] = [t["metrics"]["nmi"] for t in auto["tasks"]]
                    line["seconds"] = auto["seconds"]["fit"]
                    write(args.runs, line)
                    continue
                same = auto_table.flags(auto["preprocessing"])
                line["auto"] = {key: value for key, value in auto["method_fields"].items()}
                line["advice"] = [" ".join(t.get("advice", [])) for t in auto["tasks"]]
                line["sizes"] = [t["n"] for t in auto["tasks"]]
                line["relatedness"] = auto.get("relatedness")
                line["seconds"] = auto["seconds"]["fit"]
                line["matches"] = matches(auto, tasks) if len(tasks) > 1 else []
                got = {"auto": auto}
                for method, extra in (("kmeans", ["-m", "kmeans"]), ("ncut", ["-m", "ncut"])):
                    got[method] = run(program, tasks, each, seed, extra + same)
                if len(tasks) > 1:
                    # where no other task had a vote, it would be the same once more
                    voted = any(key.startswith("moved.") for key in auto["method_fields"])
                    got["single"] = run(program, tasks, each, seed, ["--no-transfer"]) if voted else auto
                    got["pooled"] = run(program, tasks, ",".join([str(max(k))] * len(k)), seed,
                                        ["-m", "kmeans", "--pooled", *same])
                line["nmi"] = {m: [t["metrics"]["nmi"] for t in r["tasks"]] for m, r in got.items()}
                write(args.runs, line)


def write(path, line):
    with open(path, "a") as out:
        out.write(json.dumps(line) + "\n")


def load(path):
    return [json.loads(line) for line in open(path) if line.strip()]


def by_task(lines):
    """(set, task) -> method -> mean NMI over seeds."""
    out = {}
    for line in lines:
        for t, task in enumerate(line["tasks"]):
            cell = out.setdefault((line["set"], task), {})
            for method, values in line["nmi"].items():
                cell.setdefault(method, []).append(values[t])
    return {key: {m: sum(v) / len(v) for m, v in cell.items()} for key, cell in out.items()}


def summary(cells):
    mean = lambda method: sum(c[method] for c in cells) / len(cells)
    worst = lambda method: min(c["auto"] - c[method] for c in cells)
    best = [max(c.values()) for c in cells]
    regret = lambda method: sum(b - c[method] for b, c in zip(best, cells)) / len(cells)
    return mean, worst, regret


def short(value, sign=""):
    return ("%" + sign + ".3f") % value if abs(value) >= 1 else (("%" + sign + ".3f") % value).replace("0.", ".", 1)


def table(args):
    now = by_task(load(args.runs))
    before = by_task(load(args.before)) if args.before else {}
    print("| left out | tasks | k-means | ncut | pooled | " + ("auto before | " if before else "") + "auto | worst against k-means | "
          "against ncut | regret |")
    print("|---|" + "---:|" * (8 + bool(before)))
    sets = list(dict.fromkeys(key[0] for key in now))
    for name in [*sets, None]:
        keys = [key for key in now if name in (None, key[0])]
        cells = [now[key] for key in keys]
        mean, worst, regret = summary(cells)
        pooled = [c["pooled"] for c in cells if "pooled" in c]
        row = [name or "all", len(cells), short(mean("kmeans")), short(mean("ncut")),
               short(sum(pooled) / len(pooled)) if pooled else ""]
        if before:
            old = [before[key]["auto"] for key in keys if key in before]
            row.append(short(sum(old) / len(old)) if old else "")
        row += [short(mean("auto")), short(worst("kmeans"), "+"), short(worst("ncut"), "+"), short(regret("auto"))]
        print("| " + " | ".join(map(str, row)) + " |")
    cells = list(now.values())
    mean, worst, regret = summary(cells)
    print("\nregret: auto %s, ncut %s, k-means %s" % tuple(short(regret(m)) for m in ("auto", "ncut", "kmeans")))
    for other in ("kmeans", "ncut"):
        gain = [c["auto"] - c[other] for c in cells]
        print("more than .02 above %s on %d tasks, below on %d" % (other, sum(g > 0.02 for g in gain), sum(g < -0.02 for g in gain)))
    both = [(before[key], now[key]) for key in now if key in before]
    if both:
        for name, cells in (("before", [{**new, "auto": old["auto"]} for old, new in both]), ("after", [new for _, new in both])):
            mean, worst, regret = summary(cells)
            print("%s, on the %d tasks that have both: mean %s, worst against k-means %s, against ncut %s, regret %s" % (
                name, len(both), short(mean("auto")), short(worst("kmeans"), "+"), short(worst("ncut"), "+"), short(regret("auto"))))
        source = {line["set"]: line["source"] for line in load(args.runs)}
        pairs = [(source[key[0]], before[key]["auto"], now[key]["auto"]) for key in now if key in before]
        chosen = 0
        for name in set(source.values()):
            better = sum(new - old for other, old, new in pairs if other != name) > 0
            chosen += sum(new if better else old for own, old, new in pairs if own == name)
        print("of both, the one that is better on the other collections: mean %s" % short(chosen / len(pairs)))


def sentences(args):
    lines = load(args.runs)
    said = {}

    def count(name, right):
        said.setdefault(name, [0, 0])
        said[name][0] += right
        said[name][1] += 1

    for line in lines:
        for t, task in enumerate(line["tasks"]):
            nmi = {m: v[t] for m, v in line["nmi"].items()}
            said_of = lambda what: line["auto"].get(what + "." + task, line["auto"].get(what, 0))
            if line["sizes"][t] >= 100 and said_of("beyond_noise") < 2.9:
                count("no clearer than noise (NMI below .1)", nmi["auto"] < 0.1)
            agree = "the members agree" if said_of("confidence") >= 0.75 else "they do not"
            count(agree + " (NMI .3 and more)", nmi["auto"] >= 0.3)
        for quality, same, shared, *_ in line["matches"]:
            if shared:
                for low, high in ((-1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01)):
                    if low <= quality < high:
                        count(f"match of quality {low} to {high}", same)
    for name, (right, total) in sorted(said.items()):
        print(f"{name}: {right} of {total} ({right / total:.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    g = commands.add_parser("gather")
    g.add_argument("program")
    g.add_argument("runs", help="a line a draw; added to")
    g.add_argument("--size", type=int, default=400)
    g.add_argument("--seeds", type=int, default=3)
    g.add_argument("--sets", default="")
    g.add_argument("--minutes", type=float, default=0)
    g.add_argument("--only", action="store_true", help="auto alone")
    t = commands.add_parser("table")
    t.add_argument("runs")
    t.add_argument("before", nargs="?")
    s = commands.add_parser("sentences")
    s.add_argument("runs")
    args = parser.parse_args()
    if not common.DATA.is_dir():
        print("skipped: no data")
        return 0
    {"gather": gather, "table": table, "sentences": sentences}[args.command](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
