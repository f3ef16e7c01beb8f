#!/usr/bin/python3
"""The shared-subspace methods against scikit-learn and plain NumPy, and on the four universities.

usage: tests/ref/lss.py LIBKINDRED.so

pca-kmeans: components and partitions of scikit-learn's PCA and KMeans. lssmtc: the trace of peers.py.
On the real data (KINDRED_DATA, else ../shared/data; where absent that part is left out, and the test counts as
skipped): lssmtc at its defaults on webkb4, and lssttc both ways on 20ng_rec_vs_talk."""

import os
import sys

try:
    import numpy as np
    import scipy.sparse as sp
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.metrics import adjusted_rand_score
    from sklearn.metrics.cluster import contingency_matrix
    from scipy.optimize import linear_sum_assignment
except ImportError as e:
    print("skipped:", e)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import common as ref_common  # noqa: E402  (the tests' own: shares its name with the benchmarks')
from fit_ctypes import Library  # noqa: E402
import peers  # noqa: E402

DATA = os.environ.get("KINDRED_DATA") or os.path.join(HERE, "..", "..", "..", "shared", "data")


def blobs(rng, n, d, k, spread=1.0):
    centres = rng.normal(size=(k, d)) * 4
    return centres[np.arange(n) % k] + spread * rng.normal(size=(n, d)) * rng.integers(0, 2, size=(n, d))


def pca(lib):
    rng = np.random.default_rng(0)
    for n, d in ((80, 10), (30, 60), (200, 40)):
        x = blobs(rng, n, d, 3)
        want = PCA(0.95, svd_solver="full").fit(x)
        partition = KMeans(3, n_init=10, random_state=0).fit(want.transform(x)).labels_
        for data in (x, sp.csr_matrix(x)):
            r = lib.fit("pca-kmeans", *lib.prepare([data], 3))
            u, v = r["arrays"]["components", 0], r["arrays"]["variances", 0]
            assert u.shape[1] == want.n_components_, (u.shape, want.n_components_)
            ref_common.close(v, want.singular_values_**2, 1e-8 * v[0], "variances")
            ref_common.close(u @ u.T, want.components_.T @ want.components_, 1e-8, "projector")
            assert adjusted_rand_score(partition, r["labels"][0]) == 1
    print("pca-kmeans: as scikit-learn")


def descent(lib):
    rng = np.random.default_rng(1)
    for n, d in ((30, 8), (150, 220)):
        xs = [blobs(rng, n, d, 3, 2.0) + rng.normal(size=d) for _ in range(2)]
        labels = [rng.integers(3, size=n) for _ in xs]
        for eps, l in ((0.5, 3), (0.5, 2), (0.25, 5)):
            problem, keep = lib.prepare(xs, 3, init=labels)
            r = lib.fit("lssmtc", problem, keep, eps=eps, l=l, max_iter=6, tol=0, **{"lambda": 0.3})
            ps, w, _ = peers.lssmtc(xs, labels, 3, l, 0.3, eps, 6)
            want = peers.lssmtc_objective(xs, ps, w, 0.3, eps)
            got = r["objective"][-1]
            assert abs(got - want) <= 1e-8 * sum((x**2).sum() for x in xs), (n, d, eps, l, got, want)
    print("lssmtc: as plain NumPy")


def load(folder, task):
    import scipy.io

    for suffix in (".mtx", ".mtx.gz"):
        path = os.path.join(DATA, folder, task)
        if os.path.exists(path + suffix):
            x = sp.csr_matrix(scipy.io.mmread(path + suffix), dtype=float)
            with open(path + ".labels") as f:
                names = f.read().split()
            return x, names
    print("skipped: no data (docs/data.md)")
    sys.exit(77)


def tfidf(xs):
    x = sp.vstack(xs).tocsr()
    df = np.bincount(x.indices, minlength=x.shape[1])
    x = x @ sp.diags(np.log((1 + x.shape[0]) / (1 + df)) + 1)
    norm = np.sqrt(x.multiply(x).sum(axis=1).A1)
    x = (sp.diags(1 / np.where(norm > 0, norm, 1)) @ x).tocsr()
    x.sort_indices()
    cuts = np.cumsum([0] + [t.shape[0] for t in xs])
    return [x[a:b] for a, b in zip(cuts[:-1], cuts[1:])]


def accuracy(truth, labels):
    table = contingency_matrix(truth, labels)
    rows, cols = linear_sum_assignment(-table)
    return table[rows, cols].sum() / len(labels)


def universities(lib):
    tasks = [load("webkb4", t) for t in ("cornell", "texas", "washington", "wisconsin")]
    problem, keep = lib.prepare(tfidf([x for x, _ in tasks]), 4)
    acc = []
    for seed in range(1, 11):
        lib.seed(seed)
        r = lib.fit("lssmtc", problem, keep)
        acc.append([accuracy(names, labels) for (_, names), labels in zip(tasks, r["labels"])])
    lib.seed(1)
    print("webkb4, mean accuracy of each task over 10 seeds:", np.mean(acc, axis=0).round(3), "all:", np.mean(acc).round(4))
    assert np.mean(acc) >= 0.66


def transfer(lib):
    (a, na), (b, nb) = (load("20ng_rec_vs_talk", t) for t in ("task1", "task2"))
    na, nb = ([name.split(".")[0] for name in names] for names in (na, nb))
    classes = sorted(set(na))
    ya, yb = (np.array([classes.index(c) for c in names]) for names in (na, nb))
    for (x, y), (z, truth) in (((a, ya), (b, yb)), ((b, yb), (a, ya))):
        problem, keep = lib.transfer(tfidf([x, z]), [y, None], len(classes))
        r = lib.fit("lssttc", problem, keep)
        acc = np.mean(r["labels"][1] == truth)
        print("20ng_rec_vs_talk, lssttc accuracy:", round(acc, 4))
        assert acc >= 0.96, acc


if __name__ == "__main__":
    library = Library(sys.argv[1])
    pca(library)
    descent(library)
    universities(library)
    transfer(library)
