#!/usr/bin/python3
"""Integrative NMF against a slow one: the same coordinate steps in plain NumPy, and the optimum of each block by SciPy.

usage: tests/ref/inmf.py LIBKINDRED.so"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import common as ref_common  # noqa: E402

np, sp, optimize = ref_common.require("numpy", "scipy.sparse", "scipy.optimize")
from fit_ctypes import Library  # noqa: E402

LAMBDA = 5.0


def tasks(rng, own):
    """Two nonnegative tasks of three factors; with `own`, some features that only one of them has."""
    w = rng.gamma(0.5, 2, size=(3, 12))
    out, labels = [], []
    for t, n in enumerate((40, 30)):
        y = rng.integers(3, size=n)
        h = rng.uniform(0, 0.2, size=(n, 3))
        h[np.arange(n), y] += rng.uniform(1, 2, size=n)
        x = h @ (w + rng.gamma(0.3, 1, size=w.shape) * (rng.uniform(size=w.shape) < 0.3))
        if own:
            x[:, 8 + 2 * t : 10 + 2 * t] = 0
        out.append(x * (rng.uniform(size=x.shape) < 0.8))
        labels.append(y)
    return out, labels


def objective(xs, hs, w, vs, lam):
    return sum(((x - h @ (w + v)) ** 2).sum() + lam * ((h @ v) ** 2).sum() for x, h, v in zip(xs, hs, vs))


def descend(z, g, b, keep=None, sweeps=4):
    for i in range(len(z)):
        if keep is not None and not keep[i]:
            continue
        for _ in range(sweeps):
            for j in range(z.shape[1]):
                if g[j, j] > 0:
                    z[i, j] = max(0, z[i, j] + (b[i, j] - z[i] @ g[:, j]) / g[j, j])


def slow(xs, labels, k, lam, rounds):
    d = xs[0].shape[1]
    has = [x.any(axis=0) for x in xs]
    shared = np.all(has, axis=0)
    x, y = np.vstack(xs), np.concatenate(labels)
    w = np.array([x[y == j].mean(axis=0) for j in range(k)])
    vs = [np.where(~shared & h, w, 0) for h in has]
    w = np.where(shared, w, 0)
    hs = [np.eye(k)[y] + 0.2 for y in labels]
    trace = []
    for _ in range(rounds):
        for x, h, v in zip(xs, hs, vs):
            descend(h, (w + v) @ (w + v).T + lam * v @ v.T, x @ (w + v).T)
        g, b = np.zeros((k, k)), np.zeros((d, k))
        for x, h, v, there in zip(xs, hs, vs, has):
            z = v.T.copy()
            descend(z, (1 + lam) * h.T @ h, x.T @ h - w.T @ h.T @ h, there)
            v[:] = z.T
            g += h.T @ h
            b += x.T @ h - v.T @ h.T @ h
        z = w.T.copy()
        descend(z, g, b, shared)
        w = z.T
        trace.append(objective(xs, hs, w, vs, lam))
    return trace, hs, w, vs


def test_steps__as_plain_numpy(lib):
    rng = np.random.default_rng(0)
    for own in (False, True):
        xs, labels = tasks(rng, own)
        for lam in (0, 0.5, 5):
            want, hs, w, vs = slow(xs, labels, 3, lam, 12)
            for data in (xs, [sp.csr_matrix(x) for x in xs]):
                problem, keep = lib.prepare(data, 3, init=labels)
                r = lib.fit("inmf", problem, keep, max_iter=12, tol=0, **{"lambda": lam})
                ref_common.close(r["objective"], want, 1e-9 * want[0], "objective")
                ref_common.close(r["arrays"]["W", -1], w, 1e-7 * w.max(), "W")
                for t, (h, v) in enumerate(zip(hs, vs)):
                    part = h / np.sqrt((h**2).mean(axis=0))
                    ref_common.close(r["arrays"]["H", t], part, 1e-7 * part.max(), "H")
                    ref_common.close(r["arrays"]["V", t], v, 1e-7 * w.max(), "V")
                    assert (r["labels"][t] == part.argmax(axis=1)).all()
                    if own:
                        assert not r["arrays"]["V", t][:, ~xs[t].any(axis=0)].any()


def test_the_end__no_block_can_be_improved(lib):
    """At the end each row of each block is the optimum of its own nonnegative least squares."""
    rng = np.random.default_rng(1)
    xs, labels = tasks(rng, True)
    problem, keep = lib.prepare(xs, 3, init=labels)
    r = lib.fit("inmf", problem, keep, max_iter=20000, tol=0, **{"lambda": LAMBDA})
    w = r["arrays"]["W", -1]
    for t, x in enumerate(xs):
        v = r["arrays"]["V", t]
        h = r["arrays"]["H", t] * r["arrays"]["sizes", t]
        a = np.hstack([w + v, np.sqrt(LAMBDA) * v])
        for i in range(0, len(x), 7):
            best, _ = optimize.nnls(a.T, np.concatenate([x[i], np.zeros(x.shape[1])]))
            ref_common.close(h[i], best, 1e-4 * max(1, best.max()), "a row of H")


def test_blobs__finds_them(lib):
    rng = np.random.default_rng(2)
    xs, labels = tasks(rng, True)
    for x, y in zip(xs, labels):
        for j in range(3):
            x[y == j, 2 * j : 2 * j + 2] += rng.uniform(4, 8, size=((y == j).sum(), 2))
    r = lib.fit("inmf", *lib.prepare(xs, 3))
    from sklearn.metrics import normalized_mutual_info_score as nmi

    for y, got in zip(labels, r["labels"]):
        assert nmi(y, got) > 0.9, nmi(y, got)


if __name__ == "__main__":
    library = Library(sys.argv[1])
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function(library)
            print("ok", name)
