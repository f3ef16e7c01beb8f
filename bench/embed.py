#!/usr/bin/python3
"""Compares the two-dimensional map of samples with scikit-learn's t-SNE: trustworthiness and runtime. SPDX-License-Identifier: BSD-3-Clause

Both map the same rows: pixels minus their mean, tf-idf of words, log molecule counts minus the mean of each batch, all scaled to
unit length. t-SNE maps one data set after the other with scikit-learn's defaults (perplexity 30; it starts from PCA if it accepts the
data). Trustworthiness [Venna & Kaski 2001] with 15 neighbours is computed by scikit-learn on at most --most evenly spaced samples per data
set. The mean over data sets is weighted by their samples."""

import ctypes as C
import functools
import sys

import common
import numpy as np
import scipy.sparse as sp
from sklearn.manifold import TSNE, trustworthiness

WORDS = {"20ng_4task": ["task1", "task2", "task3", "task4"], "webkb4": ["cornell", "texas", "washington", "wisconsin"]}


def load(case):
    """The data sets of a case as both get them."""
    if case in WORDS:
        return common.tfidf([common.load_csr(case, t) for t in WORDS[case]])
    if case == "sc_mixology3":
        tasks = [common.load_dense(case, t) for t in ("celseq2", "dropseq")]
        middle = np.median(np.concatenate([x.sum(1) for x in tasks]))
        tasks = [common.unit(np.log1p(x * (middle / x.sum(1))[:, None])) for x in tasks]
    else:
        tasks = [common.unit(common.load_dense("handdigits", case))]
    return [common.unit(x - x.mean(0)) for x in tasks]


class Options(C.Structure):
    """kdr_embed_options; choice 2: no preprocessing."""
    _fields_ = [("size", C.c_size_t), ("layout", C.c_int), ("neighbors", C.c_int64), ("sweeps", C.c_int64), ("centre", C.c_bool),
                ("prep", C.c_void_p), ("choice", C.c_int)]


def ours(lib, tasks):
    """The map of each data set; the call alone is timed."""
    problem, keep = lib.prepare(tasks, 2)  # for its matrices
    sets, out, options = (C.c_void_p * len(tasks))(), C.c_void_p(), Options(size=C.sizeof(Options), choice=2)
    for t in range(len(tasks)):
        one = C.c_void_p()
        lib.check(lib.lib.kdr_data_borrow(lib.ctx, b"t%d" % t, C.byref(problem.tasks[t].x), None, None, C.byref(one)))
        sets[t] = one.value
    took = common.seconds(lambda: lib.check(
        lib.lib.kdr_embed(lib.ctx, sets, C.c_int64(len(tasks)), C.byref(options), C.byref(out))))
    lib.lib.kdr_embedding_task.restype = C.POINTER(C.c_double)
    points = [np.ctypeslib.as_array(lib.lib.kdr_embedding_task(out, C.c_int64(t), None), (x.shape[0], 2)).copy()
              for t, x in enumerate(tasks)]
    lib.lib.kdr_embedding_free(out)
    for one in sets:
        lib.lib.kdr_data_free(C.c_void_p(one))
    del keep
    return points, took


def theirs(tasks):
    points = []
    took = common.seconds(lambda: points.extend(
        TSNE(init="random" if sp.issparse(x) else "pca", random_state=1).fit_transform(x) for x in tasks))
    return points, took


def trust(tasks, points, most):
    """Rows have unit length: distances come from their products."""
    total = 0
    for x, y in zip(tasks, points):
        rows = np.arange(x.shape[0])[::max(1, -(-x.shape[0] // most))]
        products = x[rows] @ x[rows].T
        distances = np.sqrt(np.maximum(0, 2 - 2 * (products.toarray() if sp.issparse(products) else products)))
        np.fill_diagonal(distances, 0)
        total += len(y) * trustworthiness(distances, y[rows], n_neighbors=15, metric="precomputed")
    return total / sum(map(len, points))


def compare(case, args):
    tasks = load(case)
    (own, own_s), (peer, peer_s) = ours(common.library(args), tasks), theirs(tasks)
    return [common.row(f"{case}, {sum(x.shape[0] for x in tasks)} samples", own_s, "scikit-learn TSNE", peer_s,
                       f"trustworthiness {trust(tasks, own, args.most):.4f}, peer {trust(tasks, peer, args.most):.4f}")]


CASES = {case: functools.partial(compare, case) for case in ("usps", "20ng_4task", "sc_mixology3", "mnist", "webkb4")}

if __name__ == "__main__":
    sys.exit(common.main(__doc__, CASES, default=["usps", "20ng_4task", "sc_mixology3"], more=[("--most", {"type": int, "default": 4000})]))
