#!/usr/bin/python3
"""Tables of numbers and categories: clusters, number of clusters, transfer. SPDX-License-Identifier: BSD-3-Clause

usage: bench/tables.py CASE... [--build DIR] [--seeds N]

clusters  mean adjusted Rand index of auto, mixture and k-means over the designs of tables_made, with k given
k         how often `-k auto` finds the number of segments of tables_made: exactly, within one, and mean |ln(k / true)|
transfer  accuracy and balanced accuracy of transfer's auto and logistic regression over every pair of data sets in tables

Data sets are read from KINDRED_DATA. docs/notes/tables.md and docs/transfer.md discuss the figures."""

import csv
import itertools
import json
import math
import subprocess
import sys
import tempfile

import common
import numpy as np
from sklearn.metrics import adjusted_rand_score, balanced_accuracy_score

CLUSTERS = {"auto": [], "mixture": ["-m", "mixture"], "mixture, pooled": ["-m", "mixture", "--pooled"],
            "k-means, standardised": ["-m", "kmeans", "--scale", "standard", "--missing", "mean"]}
TRANSFER = {"auto": ["--missing", "mean"], "logreg": ["-m", "logreg", "--scale", "standard", "--missing", "mean"]}


def folders(name):
    """The tables of each collection."""
    found = [(p.name, sorted(p.glob("*.csv"))) for p in sorted((common.DATA / name).glob("*")) if p.is_dir()]
    if not found:
        raise common.Absent(f"no data in {common.DATA / name}")
    return found


def run(args, *arguments):
    """result.json, and the lines of every .labels file by its name."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([args.program, *map(str, arguments), "-q", "-o", out, "--force"], check=True)
        labels = {p.stem: p.read_text().splitlines() for p in common.pathlib.Path(out).glob("*.labels")}
        return json.loads((common.pathlib.Path(out) / "result.json").read_text()), labels


def designs(args):
    """(seed, tables, true segments of each, number of segments) of every made design."""
    for seed in range(1, args.seeds + 1):
        for _, tables in folders("tables_made"):
            truth = [t.with_suffix(".labels").read_text().split() for t in tables]
            yield seed, tables, truth, len({s for t in truth for s in t})


def rand_index(labels, tables, truth):
    return np.mean([adjusted_rand_score(t, labels[p.stem]) for p, t in zip(tables, truth)])


def clusters(args):
    print("| method | mean ARI |\n|---|---|")
    for name, options in CLUSTERS.items():
        found = [rand_index(run(args, "cluster", "-k", k, "--seed", seed, *options, *tables)[1], tables, truth)
                 for seed, tables, truth, k in designs(args)]
        print(f"| {name} | {np.mean(found):.3f} |", flush=True)


def number(args):
    found = []
    for seed, tables, truth, k in designs(args):
        result, labels = run(args, "cluster", "-k", "auto", "--seed", seed, *tables)
        found.append((k, result["tasks"][0]["k"], rand_index(labels, tables, truth)))
    print("| exact | within one | mean abs ln | mean ARI |\n|---|---|---|---|")
    print("| %.2f | %.2f | %.2f | %.3f |" % tuple(np.mean(v) for v in (
        [k == f for k, f, _ in found], [abs(k - f) <= 1 for k, f, _ in found], [abs(math.log(f / k)) for k, f, _ in found],
        [r for _, _, r in found])))


def transfer(args):
    print("| collection | " + " | ".join(TRANSFER) + " |\n|---|" + "---|" * len(TRANSFER))
    means = []
    for name, tables in folders("tables"):
        row = []
        for options in TRANSFER.values():
            scores = []
            for source, target in itertools.permutations(tables, 2):
                with open(target, newline="") as file:
                    truth = [r["label"] for r in csv.DictReader(file)]
                labels = run(args, "transfer", "--source", source, "--target", target, "--label-column", "label", *options)[1]
                answer = next(iter(labels.values()))
                scores.append((np.mean([a == t for a, t in zip(answer, truth)]), balanced_accuracy_score(truth, answer)))
            row.append(np.mean(scores, axis=0))
        means.append(row)
        print(f"| {name} | " + " | ".join("%.3f / %.3f" % tuple(r) for r in row) + " |", flush=True)
    print("| mean | " + " | ".join("%.3f / %.3f" % tuple(r) for r in np.mean(means, axis=0)) + " |")


CASES = {"clusters": clusters, "k": number, "transfer": transfer}

if __name__ == "__main__":
    sys.exit(common.run_cases(CASES, common.arguments(__doc__, CASES, ["clusters"], more=[("--seeds", {"type": int, "default": 1})])))
