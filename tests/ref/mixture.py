#!/usr/bin/python3
"""Mixtures of numbers and categories against EM as its equations are written down (src/engine/mixture/mixture.c).

usage: tests/ref/mixture.py LIBKINDRED.so

From the same start and for the same number of iterations: random tables with missing cells, a number that repeats another (weight 1/2),
shared and own variances, each table alone and all pooled, as they are and less their own means."""

import os
import sys

try:
    import numpy as np
except ImportError as e:
    print("skipped:", e)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fit_ctypes import Library  # noqa: E402

LEVELS = (3, 5)


def em(x, codes, tables, start, k, shared, weight, iterations):
    """Posteriors and log-likelihood; x has NaN, codes -1 where cells are missing."""
    n, p = x.shape
    r = np.full((n, k), 0.05 / k)
    r[np.arange(n), start] += 0.95
    present = ~np.isnan(x)
    filled = np.where(present, x, 0)
    g = np.array([x[present[:, j], j].var() for j in range(p)])
    base = [np.bincount(c[c >= 0], minlength=l) / (c >= 0).sum() for c, l in zip(codes.T, LEVELS)]
    for _ in range(iterations):
        pi = np.array([(r[tables == t].sum(0) + 1) / ((tables == t).sum() + k) for t in range(tables.max() + 1)])  # (E1)
        w = r.T @ present  # (E2)
        mean = r.T @ filled / w
        s = np.stack([(r[:, c, None] * present * (filled - mean[c]) ** 2).sum(0) / w[c] for c in range(k)])
        v = np.tile((w * s).sum(0) / w.sum(0), (k, 1)) if shared else (w * s + 0.5 * g) / (w + 1)
        v = np.maximum(v, 0.02 * g)
        theta = []  # (E3)
        for c, l, f in zip(codes.T, LEVELS, base):
            counts = np.stack([r[c == z].sum(0) for z in range(l)], axis=1) + f
            theta.append(counts / counts.sum(1, keepdims=True))
        log = np.log(pi)[tables]  # (E4)
        for c in range(k):
            density = -0.5 * (np.log(2 * np.pi * v[c]) + (filled - mean[c]) ** 2 / v[c])
            log[:, c] += (weight * density * present).sum(1)
            for code, t in zip(codes.T, theta):
                log[:, c] += np.where(code >= 0, np.log(t[c])[np.maximum(code, 0)], 0)
        top = log.max(1, keepdims=True)
        total = top[:, 0] + np.log(np.exp(log - top).sum(1))
        r = np.exp(log - total[:, None])
    return r, total.sum()  # (E5)


def made_table(rng, n, k, p):
    z = rng.integers(k, size=n)
    x = rng.normal(size=(k, p))[z] * 2 + rng.normal(size=(n, p)) * rng.uniform(0.5, 30, size=p)
    x[:, -1] = 3 * x[:, 0] + 1  # repeats the first
    x[:, 1:-1][rng.random((n, p - 2)) < 0.1] = np.nan
    codes = np.stack([np.where(rng.random(n) < 0.1, -1, (z + rng.integers(l, size=n) * (rng.random(n) < 0.5)) % l) for l in LEVELS], axis=1)
    return x, codes


def matrix(x, codes):
    parts = [x]
    for c, l in zip(codes.T, LEVELS):
        parts.append(np.where((c >= 0)[:, None], np.eye(l)[np.maximum(c, 0)], np.nan))
    return np.hstack(parts)


def case(lib, rng, turn):
    k, p, count, iterations = int(rng.integers(2, 5)), int(rng.integers(3, 6)), int(rng.integers(1, 4)), int(rng.integers(1, 12))
    shared, pooled, centred = turn % 2 == 0, turn % 3 > 0, turn % 3 == 2
    tables = [made_table(rng, int(rng.integers(80, 200)), k, p) for _ in range(count)]
    starts = [rng.integers(k, size=len(x)) for x, _ in tables]
    problem, keep = lib.prepare([matrix(*t) for t in tables], k, init=starts, pooled=pooled)
    category = np.array([-1] * p + [c for c, l in enumerate(LEVELS) for _ in range(l)], dtype=np.int64)
    problem.category = category.ctypes.data
    found = lib.fit("mixture", problem, keep, covariance="shared" if shared else "own", centre="yes" if centred else "no", max_iter=iterations, tol=0)
    weight = np.array([0.5] + [1.0] * (p - 2) + [0.5])
    for first in [0] if pooled else range(count):
        group = tables if pooled else [tables[first]]
        x = np.vstack([t[0] - (np.nanmean(t[0], axis=0) if pooled and centred else 0) for t in group])
        number = np.concatenate([np.full(len(t[0]), i) for i, t in enumerate(group)])
        start = np.concatenate(starts if pooled else [starts[first]])
        r, total = em(x, np.vstack([t[1] for t in group]), number, start, k, shared, weight, iterations)
        own = np.vstack([found["arrays"]["probability", first + t] for t in range(len(group))])
        said = found["fields"]["loglik"] if pooled else found["fields"].get(f"loglik.t{first}", found["fields"].get("loglik"))
        assert abs(own - r).max() < 1e-7, (turn, "posteriors differ by", abs(own - r).max())
        assert abs(said - total) < 1e-8 * abs(total), (turn, "log-likelihood", said, total)
        labels = np.concatenate(found["labels"] if pooled else [found["labels"][first]])
        assert (np.sort(r, axis=1)[:, -1] - r[np.arange(len(r)), labels] < 1e-7).all(), (turn, "labels")


def main():
    lib, rng = Library(sys.argv[1]), np.random.default_rng(3)
    for turn in range(24):
        case(lib, rng, turn)
    print("24 mixtures agree")


if __name__ == "__main__":
    main()
