#!/usr/bin/python3
"""Co-clustering based classification against a slow one, which forms every distribution of the paper whole.

usage: tests/ref/cocc.py LIBKINDRED.so"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import common as ref_common  # noqa: E402

np, sp = ref_common.require("numpy", "scipy.sparse")
from fit_ctypes import Library  # noqa: E402


def documents(rng, n, d=60, classes=3, drift=0.0):
    """Counts of words: each class has its own, of which `drift` moves to words that the other set hardly uses."""
    y = rng.integers(classes, size=n)
    p = np.full((classes, d), 0.3)
    for c in range(classes):
        p[c, 12 * c : 12 * c + 8] += 3 * (1 - drift)
        p[c, 12 * c + 8 : 12 * c + 12] += 3 * drift
        p[c, 40 + 4 * c : 44 + 4 * c] += 1.0  # what both sets use
    return rng.poisson(p[y]).astype(float), y


def kl(p, q):
    """sum p log(p / q); infinite where q lacks what p has."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0).sum()


def spread(f, rows, cols, nr, nc):
    """f^ of the paper: f(r^, c^) f(r)/f(r^) f(c)/f(c^)."""
    a, b = np.eye(nr)[rows], np.eye(nc)[cols]
    joint = a.T @ f @ b
    fr, fc = f.sum(axis=1), f.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pr, pc = np.nan_to_num(fr / (a.T @ fr)[rows]), np.nan_to_num(fc / (b.T @ fc)[cols])
    return (a @ joint @ b.T) * np.outer(pr, pc)


def objective(f, g, labels, words, c, m, lam):
    classes = np.arange(c)
    return kl(f, spread(f, labels, words, c, m)) + lam * kl(g, spread(g, classes, words, c, m))


def choose(costs, now):
    best = np.nanargmin(np.where(np.isnan(costs), np.inf, costs))
    return now if costs[now] <= costs[best] else best


def slow(f, g, labels, words, c, m, lam, turns):
    """Each word, then each document, to the cluster of least divergence from it, clusters as they were before."""
    trace = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(turns):
            a, b = np.eye(c)[labels], np.eye(m)[words]
            joint, known = a.T @ f @ b, g @ b
            given_f, given_g = joint / joint.sum(axis=0), known / known.sum(axis=0)  # of the class by word cluster
            fc = (a.T @ f).sum(axis=1)
            new = words.copy()
            for w in range(f.shape[1]):
                costs = np.zeros(m)
                for j in range(m):
                    if f[:, w].sum() > 0:
                        q = given_f[labels, j] * f.sum(axis=1) / fc[labels]
                        costs[j] += f[:, w].sum() * kl(f[:, w] / f[:, w].sum(), q) if joint[:, j].sum() > 0 else np.inf
                    if g[:, w].sum() > 0 and lam > 0:
                        part = g[:, w].sum() * kl(g[:, w] / g[:, w].sum(), given_g[:, j])
                        costs[j] += lam * part if known[:, j].sum() > 0 else np.inf
                new[w] = choose(costs, words[w])
            words = new
            b = np.eye(m)[words]
            joint = a.T @ f @ b
            given = joint / joint.sum(axis=1, keepdims=True)
            fw = f.sum(axis=0)
            share = np.nan_to_num(fw / (b.T @ fw)[words])
            for i in range(len(f)):
                p = f[i] / f[i].sum()
                costs = [kl(p, given[j][words] * share) if joint[j].sum() > 0 else np.inf for j in range(c)]
                labels[i] = int(np.argmin(costs))
            trace.append(objective(f, g, labels, words, c, m, lam))
    return trace, labels, words


def bayes(x, y, z, c):
    """Multinomial naive Bayes with every entry raised by the mean entry that is not 0."""
    unit = x.sum() / np.count_nonzero(x)
    counts = np.array([x[y == j].sum(axis=0) for j in range(c)]) + unit
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    return (z @ logs.T + unit * np.log(np.bincount(y, minlength=c) / len(y))).argmax(axis=1)


def test_turns__as_the_paper_writes_them(lib):
    rng = np.random.default_rng(0)
    for lam, m in ((0.25, 8), (1.0, 5), (0.0, 12)):
        (x, y), (z, _) = documents(rng, 50), documents(rng, 40, drift=0.6)
        f, g = z / z.sum(), np.array([x[y == c].sum(axis=0) for c in range(3)]) / x.sum()
        for data in ((x, z), (sp.csr_matrix(x), sp.csr_matrix(z))):
            problem, keep = lib.transfer(list(data), [y, None], 3)
            words = lib.fit("cocc", problem, keep, max_iter=0, words=m, **{"lambda": lam})["arrays"]["word_clusters", -1]
            r = lib.fit("cocc", problem, keep, max_iter=4, words=m, **{"lambda": lam})
            start = bayes(x, y, z, 3)
            first = objective(f, g, start, words, 3, m, lam)
            assert abs(r["fields"]["objective_start"] - first) < 1e-10, (r["fields"]["objective_start"], first)
            want, labels, after = slow(f, g, start.copy(), words.copy(), 3, m, lam, r["iterations"])
            ref_common.close(r["objective"], want, 1e-10, "objective")
            assert (r["labels"][1] == labels).all()
            assert (r["arrays"]["word_clusters", -1] == after).all()


def test_other_words__more_are_right_than_by_naive_bayes(lib):
    rng = np.random.default_rng(1)
    gain = []
    for _ in range(5):
        (x, y), (z, truth) = documents(rng, 300), documents(rng, 300, drift=0.9)
        r = lib.fit("cocc", *lib.transfer([x, z], [y, None], 3), words=16)
        gain.append((r["labels"][1] == truth).mean() - (bayes(x, y, z, 3) == truth).mean())
    print(f"     accuracy above naive Bayes: {np.mean(gain):+.3f}")
    assert np.mean(gain) > 0.02


if __name__ == "__main__":
    library = Library(sys.argv[1])
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function(library)
            print("ok", name)
