#!/usr/bin/python3
"""k-means against scikit-learn, from the same start until no label changes.

usage: tests/ref/kmeans.py LIBKINDRED.so

Both count assignments, the one that changes nothing included, so the numbers of iterations agree. Only
where the initial labels are the answer already does kindred need one and scikit-learn two, since that
does not know the labels its centres came from. Starts without empty clusters: the libraries fill those
in a different order."""

import os
import sys

try:
    import numpy as np
    import scipy.sparse as sp
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize
except ImportError as e:
    print("skipped:", e)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fit_ctypes import Library  # noqa: E402


def start(rng, x, k):
    """Labels of a Voronoi partition, a little mixed up, and their means."""
    dense = x.toarray() if sp.issparse(x) else x
    seeds = dense[rng.choice(len(dense), k, replace=False)]
    labels = ((dense[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1)
    labels[:k] = np.arange(k)
    means = np.stack([dense[labels == j].mean(axis=0) for j in range(k)])
    return labels, means


def case(lib, rng, turn):
    n, d, k = rng.integers(50, 600), rng.integers(2, 40), rng.integers(2, 20)
    centres = rng.normal(size=(k, d)) * rng.choice([0.5, 2.0])
    x = centres[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    if turn % 3 == 1:
        x = sp.csr_matrix(np.where(rng.random((n, d)) < 0.2, x, 0))
    if turn % 3 == 2:
        x = x + 1e4
    weights = rng.random(n) if turn % 5 == 0 else None
    spherical = turn % 7 == 6
    labels, means = start(rng, x, k)
    if weights is not None or spherical:
        # Start at weighted means, or at means of unit vectors, which are not known beforehand: take them
        # from kindred, with no iteration made.
        problem, keep = lib.prepare([x], k, [labels], None if weights is None else [weights])
        means = lib.fit("kmeans", problem, keep, max_iter=0, spherical=spherical)["centres"][0]
    problem, keep = lib.prepare([x], k, [labels], None if weights is None else [weights])
    a = lib.fit("kmeans", problem, keep, tol=0, spherical=spherical)
    if spherical:
        # scikit-learn has none; at a fixed point every row has its largest cosine at its own centre.
        unit = normalize(x)
        cosine = unit @ a["centres"][0].T
        best = cosine.max(axis=1)
        own = cosine[np.arange(n), a["labels"][0]]
        assert a["stop"] == "converged" and (own >= best - 1e-12).all()
        unit = unit.toarray() if sp.issparse(unit) else unit
        square = ((unit - a["centres"][0][a["labels"][0]]) ** 2).sum(axis=1)
        objective = (square if weights is None else weights * square).sum()
        assert abs(a["fields"]["inertia.t0"] - objective) <= 1e-9 * objective
        return
    b = KMeans(k, init=means, n_init=1, tol=0, algorithm="lloyd").fit(x, sample_weight=weights)
    inertia = a["fields"]["inertia.t0"]
    assert a["stop"] == "converged"
    assert abs(inertia - b.inertia_) <= 1e-9 * b.inertia_, (turn, inertia, b.inertia_)
    assert (a["labels"][0] == b.labels_).all(), (turn, np.mean(a["labels"][0] == b.labels_))
    assert a["iterations"] == b.n_iter_ or (a["iterations"] == 1 and b.n_iter_ == 2), turn
    assert np.allclose(a["centres"][0], b.cluster_centers_, rtol=1e-9, atol=1e-9)
    assert (np.diff(a["objective"]) <= 0).all()


def restarts(lib, rng):
    """Ten runs from k-means++ are about as good as scikit-learn's ten."""
    ratios = []
    for turn in range(10):
        centres = rng.normal(size=(15, 5)) * 4
        x = centres[rng.integers(15, size=500)] + rng.normal(size=(500, 5))
        lib.seed(turn)
        problem, keep = lib.prepare([x], 15)
        a = lib.fit("kmeans", problem, keep)
        ratios.append(a["fields"]["inertia.t0"] / KMeans(15, n_init=10, random_state=turn).fit(x).inertia_)
    assert 0.98 < np.mean(ratios) < 1.02, ratios


def main():
    lib = Library(sys.argv[1])
    rng = np.random.default_rng(5)
    for turn in range(60):
        case(lib, rng, turn)
    restarts(lib, rng)
    print("60 problems and 10 restarts agree with scikit-learn")


if __name__ == "__main__":
    main()
