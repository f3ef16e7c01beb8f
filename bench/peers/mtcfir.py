"""MTCFIR in plain NumPy: the peer of bench/mtcfir.py. SPDX-License-Identifier: BSD-3-Clause

As the paper writes it [ZZL19]: layers by a (d + 1) x (d + 1) solve, all features stacked, similarities and distances
as dense matrices, no loops over samples. NumPy's BLAS may use all cores."""

import math

import numpy as np
import scipy.sparse as sp


def layer(h, p):
    """eqs. 4-6; features that are zero everywhere are left out."""
    n, d = h.shape
    used = np.flatnonzero((h * h).sum(axis=0) > 0)
    x = np.hstack([h[:, used], np.ones((n, 1))])
    q = np.r_[np.full(len(used), 1 - p), 1.0]
    s = x.T @ x
    mean_q = s * np.outer(q, q)
    np.fill_diagonal(mean_q, q * np.diag(s))
    w = np.linalg.solve(mean_q, (s[: len(used)] * q).T)
    out = np.zeros((n, d))
    out[:, used] = np.tanh(x @ w)
    return out


def consistent(v, begin, t, l):
    """eqs. 8-20 for task t: alpha, and M after scaling and symmetrising."""
    own = slice(begin[t], begin[t + 1])
    n = begin[t + 1] - begin[t]
    eps = np.median(np.sort(v[own, own], axis=0)[n - 1 - l])
    alpha, a = [], np.zeros((n, n))
    for s in range(len(begin) - 1):
        part = v[own, begin[s]: begin[s + 1]]
        alpha.append((part >= eps - 1e-12).mean())
        g = part @ part.T
        a += alpha[-1] * (np.diag(g)[:, None] + np.diag(g)[None, :] - 2 * g)
    np.maximum(a, 0, out=a)
    np.fill_diagonal(a, np.inf)
    b = np.sort(a, axis=0)
    m = np.maximum((b[l] - a) / (b[l] - b[0]), 0)
    return alpha, (m + m.T) / 2


def snmf(m, labels, k, max_iter, tol):
    """eq. 25 from one-hot labels + 0.2."""
    y = np.eye(k)[labels] + 0.2
    square, trace = (m * m).sum(), []
    my = m @ y
    for _ in range(max_iter):
        before = trace[-1] if trace else square - 2 * (y * my).sum() + ((y.T @ y) ** 2).sum()
        y = y * np.sqrt(my / np.maximum(y @ (y.T @ y), 1e-300))
        my = m @ y
        trace.append(square - 2 * (y * my).sum() + ((y.T @ y) ** 2).sum())
        if before - trace[-1] <= tol * before:
            break
    return y, trace


def mtcfir(xs, ks, init, layers=3, noise=0.5, neighbors=0.3, max_iter=200, tol=1e-6):
    begin = np.r_[0, np.cumsum([x.shape[0] for x in xs])]
    h = np.vstack([x.toarray() if sp.issparse(x) else x for x in xs])
    z = [h]
    for _ in range(layers):
        z.append(layer(z[-1], noise))
    z = np.hstack(z)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    v = z @ z.T
    alphas, labels, total = [], [], 0
    for t, (x, k) in enumerate(zip(xs, ks)):
        alpha, m = consistent(v, begin, t, math.ceil(neighbors * x.shape[0] / k - 1e-9))
        y, trace = snmf(m, init[t], k, max_iter, tol)
        alphas.append(alpha)
        labels.append(y.argmax(axis=1))
        total += trace[-1]
    return np.array(alphas), labels, total
