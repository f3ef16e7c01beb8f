#!/usr/bin/python3
"""k-means against scikit-learn: same start, same iterations, same inertia, less time.

usage: bench/kmeans.py LIBKINDRED.so [CASE...] [--repeats N]

Both start from the means of the same random labels and run until no label changes (tol = 0), with two
threads each. Times are the best of N. On a busy machine, compare processor time on one thread instead:
KINDRED_CPU_TIME=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 with --threads 1. million-10 stops at 20
iterations, where kindred's centres are the means of its labels and scikit-learn's labels are those nearest
to its centres, so that the inertias differ a little. Labels can be permuted where clusters ran empty.
The data are read from $KINDRED_DATA (default ../shared/data)."""

import argparse
import gzip
import os
import sys
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.cluster import KMeans

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "ref"))
from fit_ctypes import Library  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("KINDRED_DATA", os.path.join(HERE, "..", "..", "shared", "data"))


def usps():
    with gzip.open(os.path.join(DATA, "handdigits", "usps.npy.gz")) as f:
        return np.ascontiguousarray(np.load(f), dtype=np.float64)


def newsgroups():
    with gzip.open(os.path.join(DATA, "20ng_full", "all.mtx.gz")) as f:
        x = scipy.io.mmread(f).tocsr().astype(np.float64)
    n, df = x.shape[0], np.bincount(x.indices, minlength=x.shape[1])
    x = x @ sp.diags(np.log((1 + n) / (1 + df)) + 1)
    x = (sp.diags(1 / np.maximum(np.sqrt(x.multiply(x).sum(axis=1).A1), 1e-300)) @ x).tocsr()
    x.sort_indices()
    return x


def blobs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(20, 16))[rng.integers(20, size=1_000_000)] * 2 + rng.normal(size=(1_000_000, 16))


CASES = {
    "usps-10": (usps, 10),
    "usps-100": (usps, 100),
    "20ng-20": (newsgroups, 20),
    "20ng-100": (newsgroups, 100),
    "million-10": (blobs, 10),
}


def start(x, k):
    labels = np.random.default_rng(1).integers(k, size=x.shape[0])
    labels[:k] = np.arange(k)
    one_hot = sp.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    means = np.asarray((one_hot @ x).todense() if sp.issparse(x) else one_hot @ x)
    return labels, means / np.bincount(labels)[:, None]


clock = time.process_time if os.environ.get("KINDRED_CPU_TIME") else time.perf_counter


def best(f, repeats):
    times, value = [], None
    for _ in range(repeats):
        t = clock()
        value = f()
        times.append(clock() - t)
    return min(times), value


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("library")
    ap.add_argument("cases", nargs="*", default=list(CASES))
    ap.add_argument("--repeats", type=int, default=3)
    ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(args.threads)
    warnings.simplefilter("ignore")
    print("case        n x d                iterations      sklearn s  ms/it   kindred s  ms/it  speed-up  inertia")
    for case in args.cases:
        load, k = CASES[case]
        x = load()
        labels, means = start(x, k)
        iters = 20 if case == "million-10" else 100
        problem, keep = lib.prepare([x], k, init=[labels])
        ours = lambda: lib.fit("kmeans", problem, keep, tol=0, max_iter=iters)  # noqa: E731
        theirs = lambda: KMeans(  # noqa: E731
            k, init=means, n_init=1, tol=0, max_iter=iters, algorithm="lloyd"
        ).fit(x)
        ours()
        t0, a = best(ours, args.repeats)
        t1, b = best(theirs, args.repeats)
        inertia = a["fields"]["inertia.t0"]
        print(
            f"{case:11} {str(x.shape):20} {b.n_iter_:4}/{a['iterations']:<4} {a['stop'][:4]} "
            f"{t1:10.3f} {1e3 * t1 / b.n_iter_:7.2f} {t0:10.3f} {1e3 * t0 / a['iterations']:7.2f} "
            f"{t1 / t0:8.1f}x  {inertia / b.inertia_ - 1:+.1e}  labels equal {np.mean(a['labels'][0] == b.labels_):.4f}"
        )


if __name__ == "__main__":
    main()
