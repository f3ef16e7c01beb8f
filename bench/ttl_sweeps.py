#!/usr/bin/python3
"""How many sweeps of nmtf and ttl: accuracy on triples of universities and of reviews. SPDX-License-Identifier: BSD-3-Clause

usage: bench/ttl_sweeps.py LIBKINDRED.so [--keep FILE] [--part 0/8] [--minutes M]

Every source, bridge and target among four sets, all samples, tf-idf of the three together. What is found goes to
bench/results/bridges/sweeps.csv or FILE, which a later call goes on with: collection, source, bridge, target, method, sweeps,
accuracy. Zero sweeps are the chain of regressions that both start from. bench/transfer_docs.py makes the table of docs/through-a-bridge.md of it."""

import argparse
import csv
import itertools
import pathlib
import sys
import time

import numpy as np

import common
import transfer_tasks as tt

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402

SWEEPS = [0, 10, 20, 30, 40, 80]
TRIPLES = [(folder, *three) for folder, sets in (("webkb4", tt.WEBKB), ("amazon_sentiment4", tt.AMAZON)) for three in itertools.permutations(sets, 3)]


def accuracies(lib, folder, source, bridge, target):
    """(method, sweeps, accuracy) of one triple."""
    xs, ys, classes = tt.task(folder, (source, bridge), target, 0, 0)
    lib.seed(1)
    problem = lib.transfer(xs, [ys[0], None, None], classes, bridges=[1])
    for method in ("nmtf", "ttl"):
        for sweeps in SWEEPS:
            yield method, sweeps, float(np.mean(lib.fit(method, *problem, max_iter=sweeps)["labels"][-1] == ys[2]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--keep", type=pathlib.Path, default=common.ROOT / "bench" / "results" / "bridges" / "sweeps.csv")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--minutes", type=float, default=np.inf)
    args = parser.parse_args()
    if not (common.DATA / "amazon_sentiment4").exists():
        print("skipped: no data")
        return
    lib = Library(args.library)
    until = time.monotonic() + 60 * args.minutes
    part, parts = map(int, args.part.split("/"))
    args.keep.parent.mkdir(parents=True, exist_ok=True)
    there = list(csv.reader(args.keep.open(newline="")))[1:] if args.keep.exists() else []
    done = {tuple(r[:4]) for r in there}
    for triple in TRIPLES[part::parts]:
        if triple in done or time.monotonic() > until:
            continue
        there += [[*triple, m, s, "%.6f" % a] for m, s, a in accuracies(lib, *triple)]
        with args.keep.open("w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([["collection", "source", "bridge", "target", "method", "sweeps", "accuracy"]] + there)
    print("%d of %d triples" % (len(there) // (2 * len(SWEEPS)), len(TRIPLES[part::parts])))


if __name__ == "__main__":
    main()
