#!/usr/bin/python3
"""Compares methods on nearest-neighbour graphs with scikit-learn and SciPy. SPDX-License-Identifier: BSD-3-Clause

text   rows of about 100 words out of 30,000, drawn from topics with a Zipf distribution, tf-idf
dense  Gaussian clusters in 50 dimensions

The graphs have 20 neighbours by cosine, and there are 20 clusters or classes. gfhf and llgc know the label of one sample in 100. The alternatives
build the same graph with scikit-learn's brute-force search. They then use SpectralClustering (ncut) or a direct solution of the sparse linear
system by SciPy (gfhf, llgc). The adjusted Rand index of both shows that they do the same work."""

import functools
import sys
import warnings

import common
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

NEIGHBORS, CLUSTERS, ALPHA = 20, 20, 0.99


def text(rows, words=30000, length=100):
    """Half of a document's words belong to its own topic."""
    rng = np.random.default_rng(1)
    truth, law = rng.integers(CLUSTERS, size=rows), np.cumsum(1.0 / (np.arange(words) + 10))
    word = np.searchsorted(law / law[-1], rng.random((rows, length)))
    word = np.where(rng.random((rows, length)) < 0.5, word - word % CLUSTERS + truth[:, None], word) % words
    x = sp.csr_matrix((np.ones(word.size), (np.repeat(np.arange(rows), length), word.ravel())), (rows, words))
    x.sum_duplicates()
    return common.tfidf([x])[0], truth


def dense(rows):
    return common.blobs(rows, 50, CLUSTERS, 0.7)


def plain(method, x, truth, known, threads):
    """What the peer finds."""
    w = kneighbors_graph(x, NEIGHBORS, metric="cosine", mode="distance", n_jobs=threads)
    w.data = np.maximum(1 - w.data, 0)
    w = w.maximum(w.T).tocsr()
    if method == "ncut":
        return SpectralClustering(CLUSTERS, affinity="precomputed", random_state=0).fit_predict(w)
    degree, y = w.sum(axis=1).A1, np.eye(CLUSTERS)[truth] * known[:, None]
    if method == "gfhf":
        return spsolve((sp.diags(degree) - w)[~known][:, ~known].tocsc(), w[~known] @ y).argmax(axis=1)
    root = sp.diags(1 / np.sqrt(degree))
    return spsolve((sp.identity(len(truth)) - ALPHA * root @ w @ root).tocsc(), y)[~known].argmax(axis=1)


def compare(make, args):
    warnings.simplefilter("ignore")
    lib, (x, truth), rows = common.library(args), make(args.rows), []
    known = np.zeros(len(truth), dtype=bool)
    known[::100] = True
    known[np.unique(truth, return_index=True)[1]] = True  # every class is among them
    for method in ("ncut", "gfhf", "llgc"):
        found, score = {}, lambda labels: adjusted_rand_score(truth if method == "ncut" else truth[~known], labels)
        problem = lib.prepare([x], CLUSTERS) if method == "ncut" else lib.transfer([x[known], x[~known]], [truth[known], None], CLUSTERS)
        options = {"alpha": ALPHA} if method == "llgc" else {}
        ours, theirs = common.best_of(1, lambda: found.update(a=lib.fit(method, *problem, neighbors=NEIGHBORS, **options)["labels"][-1]),
                                      lambda: found.update(b=plain(method, x, truth, known, args.threads)))
        rows.append(common.row(f"{method}, {make.__name__}, {x.shape[0]} x {x.shape[1]}", ours,
                               "scikit-learn" if method == "ncut" else "scikit-learn + SciPy", theirs,
                               f"adjusted Rand index {score(found['a']):.3f}, peer {score(found['b']):.3f}"))
    return rows


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {f.__name__: functools.partial(compare, f) for f in (text, dense)},
                         more=[("--rows", {"type": int, "default": 1500, "help": "samples (1500)"})]))
