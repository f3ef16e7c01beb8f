"""Simple implementations that benchmarks and tests compare kindred with. SPDX-License-Identifier: BSD-3-Clause

They use vectorised NumPy and SciPy as a careful user would: no loops over samples, and sparse matrices stay sparse if
the method allows it. They need no other file of this repository."""

import math
import time

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, linprog

TINY = 1e-300


# --- ensembles ---
# A dense co-association matrix, its dense spectrum, k-means.


def ensemble_runs(x, count, features, k, seed=0):
    """Labels of `count` runs of k-means, each on its own random features: (count, n)."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        chosen = rng.choice(x.shape[1], features, replace=False)
        out.append(KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(x[:, chosen]).labels_)
    return np.array(out)


def ensemble_consensus(labels, k, seed=0):
    """The final partition from the labels of all runs: n x n all the way."""
    from sklearn.cluster import KMeans

    n = labels.shape[1]
    h = np.zeros((n, n))
    for run in labels:
        h += run[:, None] == run[None, :]
    h /= len(labels)
    scale = 1 / np.sqrt(h.sum(axis=1))
    _, u = scipy.linalg.eigh(h * scale[:, None] * scale[None, :], subset_by_index=[n - k, n - 1])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return KMeans(k, n_init=10, random_state=seed).fit(u).labels_


# --- lssmtc ---
# Algorithm 1 of [GZ09] with the square root in the update of P; all eigenvectors of a d x d matrix in every iteration.


def inverse(g):
    w, v = np.linalg.eigh(g)
    keep = w > 1e-12 * w.max()
    return (v[:, keep] / w[keep]) @ v[:, keep].T


def lssmtc_objective(xs, ps, w, lam, eps):
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


# --- mbc ---
# Multitask Bregman clustering [ZZ10] with squared Euclidean distances; relations by SciPy's linear programming (HiGHS).


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


# --- mtcfir and snmf ---
# As [ZZL19] writes them: layers by a (d + 1) x (d + 1) solve, similarities and distances as dense matrices.


def mtcfir_layer(h, p):
    """eqs. 4-6; features that are zero everywhere are skipped."""
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
        z.append(mtcfir_layer(z[-1], noise))
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


# --- ttl ---
# The sweeps of src/methods/ttl/ttl.c with norm = rescaleG; N = F A G' is never formed.


def scale_by_ratio(x, num, den):
    """x num / den, and x where den vanishes."""
    x *= np.where(den > TINY, num / np.maximum(den, TINY), 1)


def update_side(side, b, s, w):
    """F1, F2a, F2b, A1, A2a, A2b of one side; b = X'G and s = G'G of its two data sets."""
    f1, f2, a1, a2 = side["F1"], side["F2"], side["A1"], side["A2"]
    h = [f1 @ a1 + f2[k] @ a2[k] for k in range(2)]
    scale_by_ratio(f1, (w[0] * b[0] + w[1] * b[1]) @ a1.T, (w[0] * h[0] @ s[0] + w[1] * h[1] @ s[1]) @ a1.T)
    shared = f1 @ a1
    for k in range(2):
        scale_by_ratio(f2[k], b[k] @ a2[k].T, ((shared + f2[k] @ a2[k]) @ s[k]) @ a2[k].T)
    h = [shared + f2[k] @ a2[k] for k in range(2)]
    scale_by_ratio(a1, f1.T @ (w[0] * b[0] + w[1] * b[1]), f1.T @ (w[0] * h[0] @ s[0] + w[1] * h[1] @ s[1]))
    shared = f1 @ a1
    for k in range(2):
        scale_by_ratio(a2[k], f2[k].T @ b[k], f2[k].T @ ((shared + f2[k] @ a2[k]) @ s[k]))
    for f, a in ((f1, a1), (f2[0], a2[0]), (f2[1], a2[1])):
        total = f.sum(0)
        total[total == 0] = 1
        f /= total
        a *= total[:, None]
    shared = f1 @ a1
    side["H"] = [shared + f2[k] @ a2[k] for k in range(2)]


def rows_to_one(g):
    total = g.sum(1, keepdims=True)
    g /= np.where(total > 0, total, 1)


def random_side(rng, m, p1, p2, c):
    def factor(p):
        f = rng.random((m, p))
        return f / f.sum(0)

    return {"F1": factor(p1), "F2": [factor(p2), factor(p2)], "A1": rng.random((p1, c)),
            "A2": [rng.random((p2, c)), rng.random((p2, c))]}


def ttl(xs, xi, xt, ys, classes, p1=15, p2=15, sweeps=80, seed=0, w=(1, 1, 1, 1), gi=None, gt=None):
    """Source, bridge and target as rows; gi and gt: where the labels start (default: all classes alike). Returns G_i, G_t and the
    objective after each sweep."""
    rng = np.random.default_rng(seed)
    gs = np.eye(classes)[ys]
    gi = np.full((xi.shape[0], classes), 1 / classes) if gi is None else gi.copy()
    gt = np.full((xt.shape[0], classes), 1 / classes) if gt is None else gt.copy()
    xs_t, xi_t, xt_t = xs.T.tocsr(), xi.T.tocsr(), xt.T.tocsr()
    hat, tilde = (random_side(rng, xs.shape[1], p1, p2, classes) for _ in range(2))
    squares = [x.multiply(x).sum() for x in (xs, xi, xt)]
    bs, ss = xs_t @ gs, gs.T @ gs
    bi, si, bt, st = xi_t @ gi, gi.T @ gi, xt_t @ gt, gt.T @ gt
    trace = []
    for _ in range(sweeps):
        update_side(hat, [bs, bi], [ss, si], w[:2])
        update_side(tilde, [bi, bt], [si, st], w[2:])
        h, k = w[1] * hat["H"][1] + w[2] * tilde["H"][0], tilde["H"][1]
        q = w[1] * hat["H"][1].T @ hat["H"][1] + w[2] * tilde["H"][0].T @ tilde["H"][0]
        scale_by_ratio(gi, xi @ h, gi @ q)
        scale_by_ratio(gt, xt @ k, gt @ (k.T @ k))
        rows_to_one(gi)
        rows_to_one(gt)
        bi, si, bt, st = xi_t @ gi, gi.T @ gi, xt_t @ gt, gt.T @ gt
        value = 0
        terms = ((squares[0], bs, hat["H"][0], ss), (squares[1], bi, hat["H"][1], si), (squares[1], bi, tilde["H"][0], si),
                 (squares[2], bt, tilde["H"][1], st))
        for weight, (square, b, f, s) in zip(w, terms):
            value += weight * (square - 2 * np.vdot(b, f) + np.vdot(f.T @ f, s))
        trace.append(value)
    return gi, gt, trace
