#!/usr/bin/python3
"""The layout of samples in two dimensions beside scikit-learn's t-SNE: how far both can be trusted, and how long they take.

usage: bench/embed.py LIBKINDRED.so [CASE...] [--most N]

Cases: usps, 20ng_4task, sc_mixology3; and those whose figures chose the constants: mnist, webkb4. Both lay out the same rows:
pixels less their mean, tf-idf of words, log counts of molecules less each batch's mean, all of unit length. t-SNE does a
task after the other, as scikit-learn has it (perplexity 30; the start is PCA where it takes the data). Trustworthiness
[Venna & Kaski 2001] with 15 neighbours is scikit-learn's, the mean over tasks by their samples, of --most samples a task
(default 4000, evenly spread) where there are more: it takes time with the square. Times are those of the layouts alone,
search for neighbours included."""

import argparse
import ctypes as C
import gzip
import os
import sys

import numpy as np
import scipy.sparse as sp
from sklearn.manifold import TSNE, trustworthiness

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "ref")]  # both have a common.py: ours first
import common  # noqa: E402
from fit_ctypes import Csr, Dense, Library, Mat  # noqa: E402

WORDS = {"20ng_4task": ["task1", "task2", "task3", "task4"], "webkb4": ["cornell", "texas", "washington", "wisconsin"]}


def unit(x):
    length = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel() if sp.issparse(x) else (x * x).sum(1))
    length[length == 0] = 1
    return (sp.diags(1 / length) @ x).tocsr() if sp.issparse(x) else x / length[:, None]


def dense(folder, task):
    with gzip.open(common.DATA / folder / (task + ".npy.gz")) as f:
        return np.load(f).astype(float)


def load(case):
    """The tasks of a case as both layouts get them, or None where the data are absent."""
    folder = "handdigits" if case in ("usps", "mnist") else case
    if not (common.DATA / folder).exists():
        return None
    if case in WORDS:
        tasks = [common.load_csr(case, t) for t in WORDS[case]]
        df = sum(np.bincount(x.indices[x.data != 0], minlength=x.shape[1]) for x in tasks)
        idf = np.log((1 + sum(x.shape[0] for x in tasks)) / (1 + df)) + 1
        return [unit(x @ sp.diags(idf)) for x in tasks]
    if case == "sc_mixology3":
        tasks = [dense(case, t) for t in ("celseq2", "dropseq")]
        middle = np.median(np.concatenate([x.sum(1) for x in tasks]))
        tasks = [unit(np.log1p(x * (middle / x.sum(1))[:, None])) for x in tasks]
    else:
        tasks = [unit(dense("handdigits", case))]
    return [unit(x - x.mean(0)) for x in tasks]


def matrix(x, keep):
    m = Mat()
    if sp.issparse(x):
        x = x.tocsr()
        x.sort_indices()
        arrays = x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(float)
        m.kind, m.as_.csr = 1, Csr(*x.shape, *(a.ctypes.data for a in arrays))
    else:
        arrays = (np.ascontiguousarray(x),)
        m.kind, m.as_.dense = 0, Dense(arrays[0].ctypes.data, *x.shape, x.shape[1])
    keep.append(arrays)
    return m


def ours(lib, tasks):
    keep, points = [], [np.empty((x.shape[0], 2)) for x in tasks]
    mats = (Mat * len(tasks))(*(matrix(x, keep) for x in tasks))
    places = (C.c_void_p * len(tasks))(*(p.ctypes.data for p in points))
    seconds = common.seconds(
        lambda: lib.check(lib.lib.kdr_embed_matrices(lib.ctx, mats, C.c_int64(len(tasks)), None, places)))
    return points, seconds


def tsne(tasks):
    points = []

    def run():
        for x in tasks:
            points.append(TSNE(init="random" if sp.issparse(x) else "pca", random_state=1).fit_transform(x))
    return points, common.seconds(run)


def trust(tasks, points, most):
    """Rows have unit length: distances come from their products."""
    total, n = 0, 0
    for x, y in zip(tasks, points):
        rows = np.arange(x.shape[0])[::max(1, -(-x.shape[0] // most))]
        products = x[rows] @ x[rows].T
        products = products.toarray() if sp.issparse(products) else products
        distances = np.sqrt(np.maximum(0, 2 - 2 * products))
        np.fill_diagonal(distances, 0)
        total += len(y) * trustworthiness(distances, y[rows], n_neighbors=15, metric="precomputed")
        n += len(y)
    return total / n


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library")
    ap.add_argument("cases", nargs="*", default=["usps", "20ng_4task", "sc_mixology3"])
    ap.add_argument("--most", type=int, default=4000)
    args = ap.parse_args()
    lib, rows = Library(args.library), []
    lib.threads(common.cores())
    for case in args.cases:
        tasks = load(case)
        if tasks is None:
            print(f"{case}: skipped: no data", file=sys.stderr)
            continue
        own, own_s = ours(lib, tasks)
        peer, peer_s = tsne(tasks)
        a, b = trust(tasks, own, args.most), trust(tasks, peer, args.most)
        rows.append({"bench": "embed", "case": f"{case}, {sum(x.shape[0] for x in tasks)} samples", "ours_s": own_s,
                     "peer": "scikit-learn TSNE", "peer_s": peer_s, "ratio": peer_s / own_s,
                     "extra": f"trustworthiness {a:.4f}, peer {b:.4f}"})
    if not rows:
        sys.exit(77)
    common.report("Layouts in two dimensions", rows)


if __name__ == "__main__":
    main()
