"""Transitive transfer learning in NumPy and scipy.sparse, as a careful user would write it: N = F A G' is never formed, sparse
matrices stay sparse, products that several updates need are made once. The same sweeps as src/methods/ttl/ttl.c with norm = rescaleG."""

import numpy as np

TINY = 1e-300


def ratio(x, num, den):
    """x num / den, and x where den vanishes."""
    x *= np.where(den > TINY, num / np.maximum(den, TINY), 1)


def update_side(side, b, s, w):
    """F1, F2a, F2b, A1, A2a, A2b of one side; b = X'G and s = G'G of its two data sets."""
    f1, f2, a1, a2 = side["F1"], side["F2"], side["A1"], side["A2"]
    h = [f1 @ a1 + f2[k] @ a2[k] for k in range(2)]
    ratio(f1, (w[0] * b[0] + w[1] * b[1]) @ a1.T, (w[0] * h[0] @ s[0] + w[1] * h[1] @ s[1]) @ a1.T)
    shared = f1 @ a1
    for k in range(2):
        ratio(f2[k], b[k] @ a2[k].T, ((shared + f2[k] @ a2[k]) @ s[k]) @ a2[k].T)
    h = [shared + f2[k] @ a2[k] for k in range(2)]
    ratio(a1, f1.T @ (w[0] * b[0] + w[1] * b[1]), f1.T @ (w[0] * h[0] @ s[0] + w[1] * h[1] @ s[1]))
    shared = f1 @ a1
    for k in range(2):
        ratio(a2[k], f2[k].T @ b[k], f2[k].T @ ((shared + f2[k] @ a2[k]) @ s[k]))
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


def fit(xs, xi, xt, ys, classes, p1=15, p2=15, sweeps=80, seed=0, w=(1, 1, 1, 1), gi=None, gt=None):
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
        ratio(gi, xi @ h, gi @ q)
        ratio(gt, xt @ k, gt @ (k.T @ k))
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
