#!/usr/bin/python3
"""The six 20 Newsgroups tasks of [TSZY15], tables 4 and 5: words split at random so that source and target share none.

usage: bench/ttl_tables.py LIBKINDRED.so [--seeds N] [--first N] [--tasks NAME ...] [--together] [--keep FILE] [--minutes M]

Accuracy on the target (percent, mean, standard deviation and the worst over N word splits) of a linear SVM trained on the source, of the chain of
logistic regressions that ttl starts from, of nmtf in two stages (SIT), and of ttl. `measured` are the values of an independent prototype
(4 seeds), `paper` those of [TSZY15]. 4,000 most frequent words, tf-idf of each set (--together: of all), unit rows, default options. --keep has what was found, for a later
call to go on with; --minutes stops then."""

import argparse
import json
import pathlib
import sys
import time

import numpy as np

import common
import newsgroups_tasks as ng

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402

MEASURED = {"rec-comp": 98.2, "rec-talk": 96.1, "rec-sci": 97.8, "sci-comp": 94.7, "sci-talk": 83.9, "comp-talk": 97.2}
PAPER = {"rec-comp": 57.9, "rec-talk": 68.8, "rec-sci": 52.0, "sci-comp": 56.3, "sci-talk": 53.2, "comp-talk": 72.2}


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
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=np.inf)
    args = parser.parse_args()
    data = ng.load()
    if data is None:
        print("skipped: no data")
        return
    lib = Library(args.library)
    until = time.monotonic() + 60 * args.minutes
    found = json.loads(args.keep.read_text()) if args.keep and args.keep.exists() else {}
    wanted = [(name, seed) for seed in range(args.first, args.first + args.seeds) for name in args.tasks]
    for name, seed in wanted:
        key = "%s %d %d" % (name, seed, args.together)
        if key in found or time.monotonic() > until:
            continue
        found[key] = accuracies(lib, data, name, seed, args.together)
        if args.keep:
            args.keep.write_text(json.dumps(found))
    print("| task | splits | svm | chain | nmtf | worst | ttl | worst | measured | paper |\n|---|" + "---:|" * 9)
    for name in args.tasks:
        scores = [found[k] for n, s in wanted if n == name for k in ["%s %d %d" % (n, s, args.together)] if k in found]
        if not scores:
            continue
        scores = 100 * np.array(scores)
        cells = [f"{m:.1f} ± {s:.1f}" for m, s in zip(scores.mean(0), scores.std(0))]
        for i in (3, 2):
            cells.insert(i + 1, "%.1f" % scores[:, i].min())
        print(f"| {name} | {len(scores)} | {' | '.join(cells)} | {MEASURED[name]} | {PAPER[name]} |", flush=True)
    if time.monotonic() <= until:
        print("done")


if __name__ == "__main__":
    main()
