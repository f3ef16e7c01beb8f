"""Multitask Bregman clustering in plain NumPy and SciPy: the peer of bench/mbc.py. SPDX-License-Identifier: BSD-3-Clause

Vectorised, scipy.sparse where the data are sparse, no loops over samples; squared Euclidean distances. Sums over
clusters are a product with a sparse indicator matrix, relations come from scipy's linear_sum_assignment where both
tasks have as many clusters, else from its linear programming (HiGHS).
"""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, linprog


def indicator(labels, k):
    n = len(labels)
    return sp.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(k, n))


def sums(x, labels, k):
    s = indicator(labels, k) @ x
    return np.asarray(s.todense()) if sp.issparse(s) else s


def squared_norms(x):
    return np.asarray(x.multiply(x).sum(axis=1)).ravel() if sp.issparse(x) else np.einsum("ij,ij->i", x, x)


def relation(cost):
    a, b = cost.shape
    if a == b:
        rows, cols = linear_sum_assignment(cost)
        w = np.zeros((a, b))
        w[rows, cols] = 1 / a
        return w
    rows = sp.kron(sp.identity(a), np.ones((1, b)))
    cols = sp.kron(np.ones((1, a)), sp.identity(b))
    r = linprog(cost.ravel(), A_eq=sp.vstack([rows, cols]).tocsr(),
                b_eq=np.r_[np.full(a, 1 / a), np.full(b, 1 / b)], method="highs")
    return r.x.reshape(a, b)


def mbc(xs, ks, init, lam=0.5, sweeps=40):
    """Objective after each sweep, and the labels."""
    tasks = range(len(xs))
    norms = [squared_norms(x) for x in xs]
    labels = [np.asarray(z) for z in init]
    u = [sums(x, z, k) / np.maximum(np.bincount(z, minlength=k), 1)[:, None] for x, z, k in zip(xs, labels, ks)]
    trace = []
    for _ in range(sweeps):
        # W
        w = {}
        for t in tasks:
            for s in range(t + 1, len(xs)):
                cost = squared_norms(u[t])[:, None] + squared_norms(u[s])[None, :] - 2 * u[t] @ u[s].T
                w[t, s] = relation(np.maximum(cost, 0))
                w[s, t] = w[t, s].T
        # H
        for t in tasks:
            v = squared_norms(u[t])[None, :] - 2 * np.asarray(xs[t] @ u[t].T)
            labels[t] = np.argmin(v, axis=1)
        # U
        for t in tasks:
            n, k = xs[t].shape[0], ks[t]
            size = np.bincount(labels[t], minlength=k)
            pull = sum(w[t, s] @ u[s] for s in tasks if s != t) * (2 * lam / max(len(xs) - 1, 1))
            u[t] = (sums(xs[t], labels[t], k) / n + pull) / (size / n + 2 * lam / k)[:, None]
        # the objective
        value = 0
        for t in tasks:
            d = norms[t] - 2 * np.asarray(xs[t] @ u[t].T)[np.arange(len(labels[t])), labels[t]]
            value += (d + squared_norms(u[t])[labels[t]]).mean()
            for s in range(t + 1, len(xs)):
                cost = squared_norms(u[t])[:, None] + squared_norms(u[s])[None, :] - 2 * u[t] @ u[s].T
                value += 2 * lam / max(len(xs) - 1, 1) * (w[t, s] * cost).sum()
        trace.append(value)
    return np.array(trace), labels
