#!/usr/bin/python3
"""Harmony against a slow one: the same rounds in plain NumPy, with the regression solved as the paper writes it.

usage: tests/ref/harmony.py LIBKINDRED.so"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import common as ref_common  # noqa: E402

np, sp = ref_common.require("numpy", "scipy.sparse")
from fit_ctypes import Library  # noqa: E402


def shifted(rng, n=(90, 60, 45), d=12, k=3, push=6.0):
    """Tasks with the same clusters, each pushed aside; the second lacks a cluster, where that is worth something."""
    centres = rng.normal(size=(k, d)) * 4
    xs, ys = [], []
    for t, rows in enumerate(n):
        y = rng.integers(k - (t == 1), size=rows)
        xs.append(centres[y] + rng.normal(size=(rows, d)) + push * rng.normal(size=d) / np.sqrt(d) * (t > 0))
        ys.append(y)
    return xs, ys


def unit(z):
    size = np.linalg.norm(z, axis=1, keepdims=True)
    return np.divide(z, size, out=np.zeros_like(z), where=size > 0)


def slow(z, task, y, theta, sigma, ridge, rounds, blocks=20, inner=20, inner_tol=1e-5):
    n, tasks, c = len(z), task.max() + 1, len(y)
    phi = np.eye(tasks)[task]
    pr = phi.mean(axis=0)
    moved = z.copy()

    def soft(rows, penalty):
        logs = -2 * (1 - unit(moved)[rows] @ y.T) / sigma + penalty
        e = np.exp(logs - logs.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def value(r):
        o, e = phi.T @ r, np.outer(pr, r.sum(axis=0))
        entropy = np.where(r > 0, r * np.log(np.where(r > 0, r, 1)), 0)
        own = 2 * (1 - unit(moved) @ y.T)
        return (r * own).sum() + sigma * entropy.sum() + sigma * theta * (o * np.log((o + 1) / (e + 1))).sum()

    r = soft(slice(None), 0)
    j, trace = value(r), []
    for _ in range(rounds):
        before = j
        for _ in range(inner):
            y = unit(r.T @ unit(moved))
            for b in range(blocks):
                rows = np.arange(b, n, blocks)
                others = np.delete(np.arange(n), rows)
                o, e = phi[others].T @ r[others], np.outer(pr, r[others].sum(axis=0))
                r[rows] = soft(rows, phi[rows] @ (theta * np.log((e + 1) / (o + 1))))
            j = value(r)
            if before - j <= inner_tol * abs(before):
                break
            before = j
        design = np.hstack([np.ones((n, 1)), phi])
        moved = z.copy()
        for cluster in range(c):
            weighted = design * r[:, [cluster]]
            lam = np.diag([0.0] + [ridge] * tasks)
            b = np.linalg.solve(weighted.T @ design + lam, weighted.T @ z)
            b[0] = 0
            moved -= weighted @ b
        trace.append(j)
    return trace, moved


def test_rounds__as_plain_numpy(lib):
    rng = np.random.default_rng(0)
    for seed, (theta, sigma, ridge) in enumerate(((2, 0.1, 1), (1, 0.3, 0.1), (0, 0.1, 5))):
        xs, _ = shifted(rng)
        task = np.repeat(np.arange(len(xs)), [len(x) for x in xs])
        for data in (xs, [sp.csr_matrix(x) for x in xs]):
            lib.seed(seed + 1)
            options = dict(l=5, clusters=7, theta=theta, sigma=sigma, ridge=ridge, max_iter=3, tol=0)
            r = lib.fit("harmony", *lib.prepare(data, 3), **options)
            z = np.vstack([r["arrays"]["unmoved", t] for t in range(len(xs))])
            centred = np.vstack(xs) - np.vstack(xs).mean(axis=0)
            _, _, vt = np.linalg.svd(centred)
            ref_common.close(np.abs(z), np.abs(centred @ vt[:5].T), 1e-6, "leading directions")
            want, moved = slow(z, task, r["arrays"]["soft_centres", -1], theta, sigma, ridge, r["iterations"])
            ref_common.close(r["objective"], want, 1e-8 * abs(want[0]), "objective")
            got = np.vstack([r["arrays"]["embedding", t] for t in range(len(xs))])
            ref_common.close(got, moved, 1e-7, "moved samples")


def test_pushed_tasks__are_brought_together(lib):
    from sklearn.metrics import normalized_mutual_info_score as nmi

    rng = np.random.default_rng(1)
    xs, ys = shifted(rng, n=(300, 200, 200), push=14.0)
    y = np.concatenate(ys)
    lib.seed(1)
    problem, keep = lib.prepare(xs, 3)
    together = np.concatenate(lib.fit("harmony", problem, keep)["labels"])
    problem, keep = lib.prepare(xs, 3, pooled=True)
    pooled = np.concatenate(lib.fit("kmeans", problem, keep)["labels"])
    print(f"     NMI of all tasks together: harmony {nmi(y, together):.3f}, pooled k-means {nmi(y, pooled):.3f}")
    assert nmi(y, together) > 0.9 and nmi(y, together) > nmi(y, pooled) + 0.2


if __name__ == "__main__":
    library = Library(sys.argv[1])
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function(library)
            print("ok", name)
