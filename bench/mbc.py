#!/usr/bin/python3
"""Multitask Bregman clustering: against NumPy and SciPy, against our own k-means, and as the data grow.

usage: bench/mbc.py LIBKINDRED.so [ng20-3] [sweep] [divergences] [text] [growth] [--repeats N] [--threads N]

ng20-3       both tasks are all documents of 20 Newsgroups (tf-idf, unit rows), 20 and 6 clusters, 40 sweeps, against
             bench/peers/mbc.py from the same start; both end at the same objective
sweep        1,000,000 x 32 dense in 4 tasks, K = 50: seconds a sweep, against a sweep of k-means on each task
divergences  the same data: each divergence against the squared Euclidean
text         the data of ng20-3, which both divergences take: a sweep with kl against one with the squared Euclidean
growth       seconds a sweep over four sizes, dense and sparse, against what the smallest predicts

Times are the least of N. A sweep is a difference of two runs' times, so that what is done once does not count. The
program's peak of memory is its own, from result.json."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse as sp

import common

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402
from peers import mbc as peer  # noqa: E402

CASES = ["ng20-3", "sweep", "divergences", "text", "growth"]


def start(n, k, seed):
    labels = np.random.default_rng(seed).integers(k, size=n)
    labels[:k] = np.arange(k)
    return labels


def newsgroups():
    x = common.load_csr("20ng_full")
    n, df = x.shape[0], np.bincount(x.indices, minlength=x.shape[1])
    x = x @ sp.diags(np.log((1 + n) / (1 + df)) + 1)
    x = (sp.diags(1 / np.sqrt(peer.squared_norms(x))) @ x).tocsr()
    x.sort_indices()
    return x


def blobs(n, d=32, tasks=4, clusters=50):
    """Positive, so that every divergence takes them; each task has its own version of the same clusters."""
    rng = np.random.default_rng(0)
    centres, each = rng.uniform(1, 10, size=(clusters, d)), n // tasks
    out = []
    for _ in range(tasks):
        own = centres * rng.lognormal(0, 0.05, size=centres.shape)
        out.append(own[rng.integers(clusters, size=each)] * rng.lognormal(0, 0.7, size=(each, d)))
    return out


def peak(program, sweeps):
    """Bytes of memory and seconds of the fit of the whole program on NG20-3."""
    path = common.DATA / "20ng_full" / "all.mtx.gz"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "cluster", "-m", "mbc", "-k", "20,6", "--weight", "tfidf", "--norm", "l2", "--set",
                        "n_init=1", "--set", "start=random", "--set", f"max_iter={sweeps}", "--set", "tol=0", "-q",
                        "-o", f"{folder}/out", f"a={path}", f"b={path}"], check=True)
        with open(f"{folder}/out/result.json") as f:
            return json.load(f)["peak_rss_bytes"]


def ng20_3(lib, args):
    if common.load_csr("20ng_full") is None:
        print("mbc: ng20-3 skipped: no data in", common.DATA)
        return []
    x, ks, sweeps = newsgroups(), [20, 6], 40
    init = [start(x.shape[0], k, s) for s, k in enumerate(ks)]
    problem, keep = lib.prepare([x, x], ks, init=init)
    found = {}

    def ours():
        return common.seconds(lambda: found.update(
            a=lib.fit("mbc", problem, keep, tol=0, max_iter=sweeps, alone="false")))

    def theirs():
        return common.seconds(lambda: found.update(b=peer.mbc([x, x], ks, init, sweeps=sweeps)))

    ours_s, peer_s = common.best_of(args.repeats, ours, theirs)
    a, (trace, _) = found["a"], found["b"]
    difference = a["objective"][-1] / trace[len(a["objective"]) - 1] - 1
    if abs(difference) > 1e-6:
        sys.exit(f"mbc: ng20-3: objective differs by {difference:g}")
    program = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(args.library))), "cli", "kindred")
    extra = f"{a['iterations']} sweeps, {1e3 * ours_s / a['iterations']:.1f} ms each; objective {difference:+.0e}"
    if os.path.exists(program):
        extra += f"; whole program {peak(program, sweeps) / 1e6:.0f} MB"
    return [{"bench": "mbc", "case": f"ng20-3, 2 x {x.shape[0]} x {x.shape[1]}, K=20,6, threads={args.threads}",
             "ours_s": ours_s, "peer": "NumPy + SciPy", "peer_s": peer_s, "ratio": peer_s / ours_s, "extra": extra}]


def sweep_timer(lib, method, xs, k, init, few=2, many=14, **options):
    """A function that gives the seconds of a sweep: of those between the second and the last."""
    problem, keep = lib.prepare(xs, k, init=init)

    def timer():
        found = {}

        def run(sweeps):
            return common.seconds(lambda: found.update(r=lib.fit(method, problem, keep, tol=0, max_iter=sweeps, **options)))
        short, long = run(few), run(many)
        return (long - short) / (found["r"]["iterations"] - few)
    return timer


def sweep(lib, args):
    xs, k = blobs(1_000_000), 50
    init = [start(len(x), k, t) for t, x in enumerate(xs)]
    ours = sweep_timer(lib, "mbc", xs, k, init, alone="false")
    kmeans = sweep_timer(lib, "kmeans", xs, k, init)
    ours_s, kmeans_s = common.best_of(args.repeats, ours, kmeans)
    return [{"bench": "mbc", "case": f"a sweep, 4 x 250000 x 32, K=50, threads={args.threads}", "ours_s": ours_s,
             "peer": "our k-means", "peer_s": kmeans_s, "ratio": kmeans_s / ours_s,
             "extra": f"{ours_s / kmeans_s:.2f} of a sweep of k-means (at most 1.5)"}]


def divergences(lib, args):
    xs, k = blobs(1_000_000), 50
    init = [start(len(x), k, t) for t, x in enumerate(xs)]
    names = ["sqeuclidean", "mahalanobis", "kl", "is"]
    timers = [sweep_timer(lib, "mbc", xs, k, init, alone="false", divergence=v) for v in names]
    seconds = common.best_of(args.repeats, *timers)
    return [{"bench": "mbc", "case": f"a sweep with {v}, 4 x 250000 x 32, K=50, threads={args.threads}",
             "ours_s": s, "peer": "our sqeuclidean", "peer_s": seconds[0], "ratio": seconds[0] / s,
             "extra": f"{s / seconds[0]:.2f} of it (at most 3)"} for v, s in zip(names[1:], seconds[1:])]


def text(lib, args):
    if common.load_csr("20ng_full") is None:
        print("mbc: text skipped: no data in", common.DATA)
        return []
    x, ks = newsgroups(), [20, 6]
    init = [start(x.shape[0], k, s) for s, k in enumerate(ks)]
    names = ["sqeuclidean", "kl"]
    timers = [sweep_timer(lib, "mbc", [x, x], ks, init, many=22, alone="false", divergence=v) for v in names]
    square_s, kl_s = common.best_of(args.repeats, *timers)
    return [{"bench": "mbc", "case": f"a sweep with kl, 2 x {x.shape[0]} x {x.shape[1]}, K=20,6, threads={args.threads}",
             "ours_s": kl_s, "peer": "our sqeuclidean", "peer_s": square_s, "ratio": square_s / kl_s,
             "extra": f"{kl_s / square_s:.2f} of it (at most 3)"}]


def growth(lib, args):
    rows = []
    for what, sizes in (("dense", [125_000, 250_000, 500_000, 1_000_000]), ("sparse", [10_000, 20_000, 40_000, 80_000])):
        first = None
        for n in sizes:
            if what == "dense":
                xs, k = blobs(n), 50
            else:
                half = common.synthetic_csr(n, 20_000, 60)
                xs, k = [half[: n // 2], half[n // 2:]], 20
            init = [start(x.shape[0], k, t) for t, x in enumerate(xs)]
            seconds, = common.best_of(args.repeats, sweep_timer(lib, "mbc", xs, k, init, alone="false"))
            nnz = sum(x.nnz if sp.issparse(x) else x.size for x in xs)
            first = first or (seconds, nnz)
            expected = first[0] * nnz / first[1]
            rows.append({"bench": "mbc", "case": f"{what}, {n} samples, {nnz / 1e6:.1f} M entries, K={k}",
                         "ours_s": seconds, "peer": "linear", "peer_s": expected, "ratio": expected / seconds,
                         "extra": f"{1e9 * seconds / nnz:.2f} ns an entry and sweep"})
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library", help="libkindred.so")
    ap.add_argument("cases", nargs="*", default=CASES, help=", ".join(CASES))
    ap.add_argument("--repeats", type=int, default=3)
    ap.add_argument("--threads", type=int, default=common.cores())
    ap.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(args.threads)
    runs = {"ng20-3": ng20_3, "sweep": sweep, "divergences": divergences, "text": text, "growth": growth}
    rows = [row for case in args.cases for row in runs[case](lib, args)]
    common.report(f"multitask Bregman clustering, {args.threads} threads", rows, keep=not args.no_save)


if __name__ == "__main__":
    main()
