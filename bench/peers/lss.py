"""LSSMTC as printed, in plain NumPy: the d x d matrix and all its eigenvectors in every iteration.

SPDX-License-Identifier: BSD-3-Clause

Algorithm 1 of Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive
transfer classification. ICDM 2009, with the square root in the update of P. Rows are samples. What does not
change from one iteration to the next (X'X) is formed once."""

import time

import numpy as np


def inverse(g):
    w, v = np.linalg.eigh(g)
    keep = w > 1e-12 * w.max()
    return (v[:, keep] / w[keep]) @ v[:, keep].T


def objective(xs, ps, w, lam, eps):
    """J, with M and M_k at their best."""
    g, f = sum(p.T @ p for p in ps), sum(p.T @ x for p, x in zip(ps, xs))
    m = inverse(g) @ (f @ w)
    own = sum(((x - p @ (inverse(p.T @ p) @ (p.T @ x))) ** 2).sum() for p, x in zip(ps, xs))
    shared = sum(((x @ w - p @ m) ** 2).sum() - eps * ((x @ w) ** 2).sum() for p, x in zip(ps, xs))
    return lam * own + (1 - lam) * shared


def lssmtc(xs, labels, c, l, lam, eps, iterations, soften=0.2):
    """Dense tasks and their first labels to (P of each task, W, seconds of each iteration)."""
    ps = [np.eye(c)[y] + soften for y in labels]
    x = np.vstack(xs)
    total = x.T @ x

    def w_step():
        p = np.vstack(ps)
        f = x.T @ p
        values, vectors = np.linalg.eigh((1 - eps) * total - f @ inverse(p.T @ p) @ f.T)
        if eps == 0:  # within the range of the data: not among the directions in which nothing varies
            inside = ((x @ vectors) ** 2).sum(axis=0) > 1e-12 * np.trace(total)
            vectors = vectors[:, inside]
        return vectors[:, :l]

    w = w_step()
    seconds = []
    for _ in range(iterations):
        start = time.perf_counter()
        p = np.vstack(ps)
        m = inverse(p.T @ p) @ (p.T @ (x @ w))
        for k, xk in enumerate(xs):
            p = ps[k]
            own = inverse(p.T @ p) @ (p.T @ xk)
            a = lam * xk @ own.T + (1 - lam) * (xk @ w) @ m.T
            b = lam * own @ own.T + (1 - lam) * m @ m.T
            over = np.maximum(a, 0) + p @ np.maximum(-b, 0)
            under = np.maximum(-a, 0) + p @ np.maximum(b, 0)
            ps[k] = p * np.sqrt(np.where(under > 0, over / np.where(under > 0, under, 1), 1))
        w = w_step()
        seconds.append(time.perf_counter() - start)
    return ps, w, seconds
