#!/usr/bin/python3
"""Transitive transfer learning: against NumPy and scipy.sparse, and as the data grow.

usage: bench/ttl.py LIBKINDRED.so [comp-talk] [growth] [--repeats N] [--threads N]

comp-talk  computers against talk from 20 Newsgroups: sources, bridge and target of all their groups, 6,000 words, 80 sweeps, against
           bench/peers/ttl.py from the same labels
growth     seconds of one core a sweep over four sizes up to all of 20 Newsgroups (20 classes), documents and words growing alike, against
           what the smallest predicts

Times are the least of N, the two taking turns. A sweep is a difference of two fits' times. The data come from $KINDRED_DATA."""

import argparse
import resource
import sys
import time

import numpy as np
import scipy.sparse as sp

import common
import newsgroups_tasks as ng

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402
from peers import ttl as peer  # noqa: E402

# All groups of both kinds; thirds of each are source, bridge and target.
COMP = ["comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware", "comp.windows.x"]
TALK = ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"]


def thirds(counts, labels, words):
    """Every third document is source, bridge, target."""
    top = np.sort(np.argsort(-np.asarray(counts.sum(0)).ravel(), kind="stable")[:words])
    xs, ys = [], []
    for k in range(3):
        xs.append(ng.tfidf(sp.csr_matrix(counts[k::3][:, top])))
        ys.append(labels[k::3])
    return xs, ys


def clock(lib, xs, ys, classes, sweeps, start="half"):
    problem, keep = lib.transfer(xs, [ys[0], None, None], classes, bridges=[1])
    found = {}
    took = common.seconds(lambda: found.update(out=lib.fit("ttl", problem, keep, max_iter=sweeps, tol=0, init=start)))
    # the fit alone, where its own clock will do: not the copies that Python makes of its result
    return took if common.CPU_TIME else found["out"]["seconds"], found["out"]


def comp_talk(lib, data, repeats):
    counts, classes = data
    rows = np.flatnonzero(np.isin(classes, COMP + TALK))
    xs, ys = thirds(counts[rows], np.isin(classes[rows], TALK).astype(np.int64), 6000)
    last = {}

    def ours():
        seconds, last["ours"] = clock(lib, xs, ys, 2, 80)
        return seconds

    def theirs():
        return common.seconds(lambda: last.update(peer=peer.fit(*xs, ys[0], 2, sweeps=80)))

    a, b = common.best_of(repeats, ours, theirs)
    gap = abs(last["ours"]["objective"][-1] / last["peer"][2][-1] - 1)
    case = f"comp-talk, {len(rows)} documents, {xs[0].shape[1]} words, 80 sweeps"
    return [{"bench": "ttl", "case": case, "ours_s": a, "peer": "NumPy, scipy.sparse", "peer_s": b, "ratio": b / a,
             "extra": f"objectives differ by {gap:.1e}"}]


def growth(lib, data, repeats):
    counts, classes = data
    rows, first = [], None
    lib.threads(1)
    names = np.unique(classes)
    codes = np.searchsorted(names, classes)
    order = np.random.default_rng(1).permutation(len(codes))
    for share in (8, 4, 2, 1):
        part = np.sort(order[: len(order) // share])
        words = counts.shape[1] // share
        xs, ys = thirds(counts[part], codes[part], words)

        def core(sweeps):
            begin = time.process_time()
            clock(lib, xs, ys, len(names), sweeps)
            return time.process_time() - begin

        few, many = common.best_of(repeats, lambda: core(2), lambda: core(8))
        sweep = (many - few) / 6
        # nnz c + (m + n) p c: what a sweep costs.
        cost = len(names) * (sum(x.nnz for x in xs) * 2 + (2 * xs[0].shape[1] * 45 + len(part)) * 4)
        first = first or sweep / cost
        rows.append({"bench": "ttl-growth", "case": f"{len(part)} documents, {words} words, 20 classes, a sweep",
                     "ours_s": sweep, "peer": "from the smallest", "peer_s": first * cost, "ratio": first * cost / sweep,
                     "extra": f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB"})
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("cases", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=common.cores())
    args = parser.parse_args()
    data = ng.load()
    if data is None:
        print("skipped: no data")
        return
    lib = Library(args.library)
    lib.threads(args.threads)
    for name, run in (("comp-talk", comp_talk), ("growth", growth)):
        if not args.cases or name in args.cases:
            common.report(f"ttl: {name}", run(lib, data, args.repeats))


if __name__ == "__main__":
    main()
