#!/usr/bin/python3
"""The objective that 'kindred methods ID' prints, computed from the arrays of a result, is the last value of the result's trace.

usage: tests/ref/objectives.py LIBKINDRED.so"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import common as ref_common  # noqa: E402

np = ref_common.require("numpy")
from fit_ctypes import Library  # noqa: E402


def square(x):
    return float((x * x).sum())


def kmeans(xs, r):
    return sum(square(x - r["arrays"]["centres", t][r["labels"][t]]) for t, x in enumerate(xs))


def pca_kmeans(xs, r):
    return sum(square(r["arrays"]["embedding", t] - r["arrays"]["centres", t][r["labels"][t]]) for t in range(len(xs)))


def bregman(xs, r):
    return sum(square(x - r["arrays"]["centroids", t][r["labels"][t]]) / len(x) for t, x in enumerate(xs))


def mbc(xs, r, lam=0.7):
    """2 lambda d_M / (T - 1) for each unordered pair, since the divergence is symmetric."""
    return bregman(xs, r) + lam / (len(xs) - 1) * r["arrays"]["d_m_uniform", -1].sum()


def lssmtc(xs, r, lam=0.3, eps=0.4):
    w, shared = r["arrays"]["W", -1], r["arrays"]["shared_centres", -1]
    within = sum(square(x - r["arrays"]["P", t] @ r["arrays"]["centres", t]) for t, x in enumerate(xs))
    across = sum(square(x @ w - r["arrays"]["P", t] @ shared) - eps * square(x @ w) for t, x in enumerate(xs))
    return lam * within + (1 - lam) * across


def snmf(xs, r):
    total = 0
    for t, x in enumerate(xs):
        u = x / np.linalg.norm(x, axis=1)[:, None]
        total += square(np.maximum(u @ u.T, 0) - r["arrays"]["memberships", t] @ r["arrays"]["memberships", t].T)
    return total


CASES = {"kmeans": (kmeans, {}), "pca-kmeans": (pca_kmeans, {}), "bregman": (bregman, {}), "mbc": (mbc, {"lambda": 0.7}),
         "lssmtc": (lssmtc, {"lambda": 0.3, "eps": 0.4}), "snmf": (snmf, {})}


def main():
    lib = Library(sys.argv[1])
    rng = np.random.default_rng(3)
    centres = rng.gamma(2, 2, size=(3, 8))
    for tasks in (2, 3):
        xs = [np.abs(centres[rng.integers(3, size=n)] + rng.normal(0, 0.7, size=(n, 8))) for n in (40, 30, 25)[:tasks]]
        for name, (value, options) in CASES.items():
            lib.seed(1)
            r = lib.fit(name, *lib.prepare(xs, 3), max_iter=500, tol=0, **options)
            want, got = value(xs, r), r["objective"][-1]
            assert abs(want - got) <= 1e-6 * abs(want), (name, tasks, want, got)
    print("%d methods" % len(CASES))


if __name__ == "__main__":
    main()
