#!/usr/bin/python3
"""The six 20 Newsgroups tasks of [TSZY15], tables 4 and 5: words split at random so that source and target share none.

usage: bench/ttl_tables.py LIBKINDRED.so [--seeds N] [--first N] [--tasks NAME ...] [--together] [--keep FILE] [--minutes M]

Accuracy on the target of a linear SVM trained on the source, of the chain of logistic regressions that ttl starts from, of nmtf in two stages (SIT), and of
ttl: a line a task and split in FILE, bench/results/bridges/splits.csv unless told, which a later call goes on with; --minutes stops then. 4,000 most
frequent words, tf-idf of each set (--together: of all), unit rows, default options. bench/bridge_docs.py makes the tables of docs/through-a-bridge.md."""

import argparse
import csv
import pathlib
import sys
import time

import numpy as np

import common
import newsgroups_tasks as ng

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402

HEAD = ["task", "split", "idf", "svm", "chain", "nmtf", "ttl"]


def accuracies(lib, data, name, seed, together):
    """Of svm, chain, nmtf, ttl on one word split."""
    xs, ys = ng.task(data, name, seed, together=together)
    lib.seed(seed + 1)
    direct = lib.transfer([xs[0], xs[2]], [ys[0], None], 2)
    bridged = lib.transfer(xs, [ys[0], None, None], 2, bridges=[1])
    runs = [(direct, "svm", {}), (bridged, "ttl", {"max_iter": 0}), (bridged, "nmtf", {}), (bridged, "ttl", {})]
    return [float(np.mean(lib.fit(method, *problem, **options)["labels"][-1] == ys[2])) for problem, method, options in runs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--tasks", nargs="*", default=list(ng.TASKS))
    parser.add_argument("--together", action="store_true", help="idf of all three sets together")
    parser.add_argument("--keep", type=pathlib.Path, default=common.ROOT / "bench" / "results" / "bridges" / "splits.csv")
    parser.add_argument("--minutes", type=float, default=np.inf)
    args = parser.parse_args()
    data = ng.load()
    if data is None:
        print("skipped: no data")
        return
    lib = Library(args.library)
    until = time.monotonic() + 60 * args.minutes
    args.keep.parent.mkdir(parents=True, exist_ok=True)
    there = list(csv.reader(args.keep.open(newline="")))[1:] if args.keep.exists() else []
    idf = "together" if args.together else "each"
    left = 0
    for seed in range(args.first, args.first + args.seeds):
        for name in args.tasks:
            if any(r[:3] == [name, str(seed), idf] for r in there):
                continue
            if time.monotonic() > until:
                left += 1
                continue
            there.append([name, str(seed), idf] + ["%.6f" % a for a in accuracies(lib, data, name, seed, args.together)])
            with args.keep.open("w", newline="") as f:
                csv.writer(f, lineterminator="\n").writerows([HEAD] + there)
    print("%d splits are there, %d are left" % (len(there), left))


if __name__ == "__main__":
    main()
