#!/usr/bin/python3
"""Compares k-means with scikit-learn: same start, same iterations, same inertia. SPDX-License-Identifier: BSD-3-Clause

Both start from the means of the same random labels and run until no label changes (tol = 0) with the same number of
threads. The alternative is the faster of scikit-learn's two algorithms, lloyd and elkan. million-10 stops after 20 iterations. At that point
kindred's centres are the means of its labels, while scikit-learn's labels are those of the nearest centre, so the inertias
differ slightly. bench/scale.py peers compares k-means on a million samples with MiniBatchKMeans and faiss."""

import functools
import sys
import warnings

import common
import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.cluster import KMeans


def start(x, k):
    """Random labels, every cluster among them, and the means of these."""
    labels = np.random.default_rng(1).integers(k, size=x.shape[0])
    labels[:k] = np.arange(k)
    one_hot = sp.csr_matrix((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    means = np.asarray((one_hot @ x).todense() if sp.issparse(x) else one_hot @ x)
    return labels, means / np.bincount(labels)[:, None]


def compare(load, k, args, iterations=100):
    warnings.simplefilter("ignore")
    x, lib, found = load(), common.library(args), {}
    labels, means = start(x, k)
    problem = lib.prepare([x], k, init=[labels])

    def ours():
        found["kindred"] = lib.fit("kmeans", *problem, tol=0, max_iter=iterations)

    def theirs(algorithm):
        found["peer"] = KMeans(k, init=means, n_init=1, tol=0, max_iter=iterations, algorithm=algorithm).fit(x)

    ours()
    ours_s, lloyd, elkan = common.best_of(args.repeats, ours, lambda: theirs("lloyd"), lambda: theirs("elkan"))
    a, b = found["kindred"], found["peer"]
    difference = a["fields"]["inertia.t0"] / b.inertia_ - 1
    if iterations == 100 and (abs(difference) > 1e-9 or a["iterations"] != b.n_iter_):
        sys.exit(f"kmeans: inertia differs by {difference:g}, {a['iterations']} iterations against {b.n_iter_}")
    kind = "sparse" if sp.issparse(x) else "dense"
    return [common.row(f"{x.shape[0]} x {x.shape[1]} {kind}, k = {k}", ours_s,
                       f"scikit-learn {sklearn.__version__}, {'lloyd' if lloyd <= elkan else 'elkan'}", min(lloyd, elkan),
                       f"{a['iterations']} iterations; inertia {difference:+.0e}; lloyd {lloyd:.3g} s, elkan {elkan:.3g} s")]


def usps():
    return common.load_dense("handdigits", "usps")


def newsgroups():
    return common.tfidf([common.load_csr("20ng_full")])[0]


def million():
    return common.blobs(1_000_000, 16, 20)[0]


CASES = {
    "usps-10": functools.partial(compare, usps, 10),
    "usps-100": functools.partial(compare, usps, 100),
    "20ng-20": functools.partial(compare, newsgroups, 20),
    "20ng-100": functools.partial(compare, newsgroups, 100),
    "million-10": functools.partial(compare, million, 10, iterations=20),
}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, CASES, default=["usps-10", "usps-100", "20ng-20"]))
