#!/usr/bin/python3
"""LSSMTC against plain NumPy with a d x d eigen-decomposition in every iteration, and on all of 20 Newsgroups.

usage: bench/lss.py LIBKINDRED.so [--repeats N] [--peer-iterations N] [--threads N] [--skip-full]

Two tasks of 20ng_rec_vs_talk (tf-idf, unit rows; d = 2000, n = 3834), 20 iterations from the same labels, once
with the default eps = 1/2 and once as printed (eps = 0). The time of an iteration is what 20 take more than
none, so that the one-time factorisation is left out of it; "total" has it in. The peer's iterations cost the
same each time: a few are timed, and multiplied up. Then 20ng_full in two halves (n = 18,845, d = 59,030), at
defaults with k = 20. Flops are those of the products an iteration needs, beside the rate of dgemm here."""

import argparse
import os
import resource
import sys
import time

import numpy as np
import scipy.sparse as sp

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "ref")]  # both have a common.py: ours first
import common  # noqa: E402
from fit_ctypes import Library  # noqa: E402
from peers import lss as peer  # noqa: E402

LAMBDA, ITERATIONS = 0.25, 20


def tfidf(xs):
    """Weights of all tasks together, unit rows."""
    x = sp.vstack(xs).tocsr()
    df = np.bincount(x.indices, minlength=x.shape[1])
    x = x @ sp.diags(np.log((1 + x.shape[0]) / (1 + df)) + 1)
    norm = np.sqrt(x.multiply(x).sum(axis=1).A1)
    x = (sp.diags(1 / np.where(norm > 0, norm, 1)) @ x).tocsr()
    x.sort_indices()
    cuts = np.cumsum([0] + [t.shape[0] for t in xs])
    return [x[a:b] for a, b in zip(cuts[:-1], cuts[1:])]


def dgemm_rate(n=1500):
    a = np.random.default_rng(0).normal(size=(n, n))
    return 2 * n**3 / common.best_of(3, lambda: common.seconds(lambda: a @ a))[0]


def rec_vs_talk(lib, args):
    tasks = [common.load_csr("20ng_rec_vs_talk", t) for t in ("task1", "task2")]
    if tasks[0] is None:
        print("skipped: no data")
        sys.exit(77)
    xs, c = tfidf(tasks), 2
    rng = np.random.default_rng(1)
    labels = [rng.integers(c, size=x.shape[0]) for x in xs]
    problem, keep = lib.prepare(xs, c, init=labels)
    dense = [x.toarray() for x in xs]
    rows = []
    for eps in (0.5, 0.0):

        def ours(iterations):
            return lib.fit("lssmtc", problem, keep, eps=eps, max_iter=iterations, tol=0, **{"lambda": LAMBDA})

        none, total = common.best_of(args.repeats, lambda: common.seconds(lambda: ours(0)),
                                     lambda: common.seconds(lambda: ours(ITERATIONS)))
        each = max(total - none, 1e-9) / ITERATIONS
        ps, w, seconds = peer.lssmtc(dense, labels, c, c, LAMBDA, eps, args.peer_iterations)
        theirs = min(seconds)
        # The same numbers? After as many iterations as the peer made.
        check = ours(args.peer_iterations)["objective"][-1]
        want = peer.objective(dense, ps, w, LAMBDA, eps)
        gap = abs(check - want) / abs(want)
        nnz, flops = sum(x.nnz for x in xs), 0
        flops = 2 * nnz * 3 * c
        rows += [
            dict(bench="lss", case=f"iteration, eps {eps}", ours_s=each, peer="numpy", peer_s=theirs,
                 ratio=theirs / each, extra=f"J differs by {gap:.0e}; P step {flops / 1e6:.1f} Mflop = "
                 f"{1e3 * flops / args.rate:.2f} ms of dgemm"),
            dict(bench="lss", case=f"total of 20, eps {eps}", ours_s=total, peer="numpy",
                 peer_s=theirs * (ITERATIONS + 1), ratio=theirs * (ITERATIONS + 1) / total,
                 extra=f"start {none:.3f} s"),
        ]
    return rows


def full(lib):
    x = common.load_csr("20ng_full")
    if x is None:
        return []
    half = x.shape[0] // 2
    xs = tfidf([x[:half], x[half:]])
    problem, keep = lib.prepare(xs, 20)
    start, cpu = time.perf_counter(), time.process_time()
    r = lib.fit("lssmtc", problem, keep)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [dict(bench="lss", case="20ng_full, k 20", ours_s=wall, peer="limit", peer_s=90, ratio=90 / wall,
                 extra=f"{r['iterations']} iterations, {cpu:.0f} s of processor, peak {peak:.2f} GB")]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("library")
    ap.add_argument("--repeats", type=int, default=3)
    ap.add_argument("--peer-iterations", type=int, default=2)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--skip-full", action="store_true")
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(args.threads)
    args.rate = dgemm_rate()
    rows = ([] if args.skip_full else full(lib)) + rec_vs_talk(lib, args)
    common.report(f"LSSMTC (dgemm here: {args.rate / 1e9:.0f} Gflop/s)", rows)


if __name__ == "__main__":
    main()
