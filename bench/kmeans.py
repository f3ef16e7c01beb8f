#!/usr/bin/python3
"""k-means against scikit-learn: same start, same iterations, same inertia, less time.

usage: bench/kmeans.py LIBKINDRED.so [CASE...] [--repeats N]

Both start from the means of the same random labels and run until no label changes (tol = 0), with as many
threads each. The peer is the better of scikit-learn's two algorithms, lloyd and elkan. Times are the best of N (busy
machines: see common.py). million-10 stops at 20
iterations, where kindred's centres are the means of its labels and scikit-learn's labels are those nearest
to its centres, so that the inertias differ a little. Labels can be permuted where clusters ran empty.
The data are read from $KINDRED_DATA (default ../shared/data)."""

import argparse
import gzip
import os
import sys
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp
import sklearn
from sklearn.cluster import KMeans

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "ref"))
import common  # noqa: E402  (the benchmarks' own: this folder comes first)
from fit_ctypes import Library  # noqa: E402

DATA = common.DATA


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


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library", help="libkindred.so")
    ap.add_argument("cases", nargs="*", default=["usps-10", "usps-100", "20ng-20"], help=", ".join(CASES))
    ap.add_argument("--repeats", type=int, default=5)
    ap.add_argument("--threads", type=int, default=common.cores())
    ap.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = ap.parse_args()
    if not common.DATA.is_dir():
        print(f"kmeans: skipped: no data in {common.DATA}")
        sys.exit(77)
    lib = Library(args.library)
    lib.threads(args.threads)
    warnings.simplefilter("ignore")
    rows = []
    for case in args.cases:
        load, k = CASES[case]
        x = load()
        labels, means = start(x, k)
        iters = 20 if case == "million-10" else 100
        problem, keep = lib.prepare([x], k, init=[labels])
        found = {}

        def ours():
            return common.seconds(lambda: found.update(a=lib.fit("kmeans", problem, keep, tol=0, max_iter=iters)))

        def theirs(algorithm):
            return common.seconds(lambda: found.update(b=KMeans(k, init=means, n_init=1, tol=0, max_iter=iters,
                                                                algorithm=algorithm).fit(x)))

        ours()
        ours_s, *peers = common.best_of(args.repeats, ours, lambda: theirs("lloyd"), lambda: theirs("elkan"))
        peer_s = min(peers)
        a, b = found["a"], found["b"]
        difference = a["fields"]["inertia.t0"] / b.inertia_ - 1
        if case != "million-10" and (abs(difference) > 1e-9 or a["iterations"] != b.n_iter_):
            sys.exit(f"kmeans: {case}: inertia differs by {difference:g}, {a['iterations']} iterations against {b.n_iter_}")
        rows.append({"bench": "kmeans", "case": f"{case}, {x.shape[0]} x {x.shape[1]}, k={k}, threads={args.threads}",
                     "ours_s": ours_s, "peer": f"scikit-learn {sklearn.__version__}, {'lloyd' if peers[0] <= peers[1] else 'elkan'}", "peer_s": peer_s,
                     "ratio": peer_s / ours_s,
                     "extra": f"{a['iterations']} iterations, {1e3 * ours_s / a['iterations']:.2f} ms each; inertia "
                              f"{difference:+.0e}; lloyd {peers[0]:.3g} s, elkan {peers[1]:.3g} s"})
    common.report(f"k-means: same start, same iterations, same inertia; {args.threads} threads each", rows,
                  keep=not args.no_save)


if __name__ == "__main__":
    main()
