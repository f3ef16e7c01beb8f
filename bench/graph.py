#!/usr/bin/python3
"""Neighbour graphs and normalised cuts at size, and against scikit-learn at a size it can do.

usage: bench/graph.py LIBKINDRED.so [CASE...] [--threads N] [--peer-rows N] [--rows N]

`text`: rows of about 100 words out of 30,000, drawn from topics over a Zipf law, tf-idf; `dense`: Gaussian blobs in 50 dimensions.
Peer: NearestNeighbors(algorithm="brute") for the same neighbours, then SpectralClustering on the graph."""

import argparse
import os
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "ref"))
from fit_ctypes import Library  # noqa: E402

NEIGHBORS, CLUSTERS = 20, 20


def text(rows, seed=1):
    """Topic text: half of a document's words come from its topic's own tenth of the vocabulary."""
    rng = np.random.default_rng(seed)
    cols, words, truth = 30000, 100, rng.integers(CLUSTERS, size=rows)
    law = np.cumsum(1.0 / (np.arange(cols) + 10))
    law /= law[-1]
    word = np.searchsorted(law, rng.random((rows, words)))
    own = rng.random((rows, words)) < 0.5
    word = np.where(own, word - word % CLUSTERS + truth[:, None], word) % cols
    x = sp.csr_matrix((np.ones(word.size), (np.repeat(np.arange(rows), words), word.ravel())), (rows, cols))
    x.sum_duplicates()
    df = np.bincount(x.indices, minlength=cols)
    x = (x @ sp.diags(np.log((1 + rows) / (1 + df)) + 1)).tocsr()
    x.sort_indices()
    return x, truth


def dense(rows, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(CLUSTERS, size=rows)
    return rng.normal(size=(CLUSTERS, 50))[truth] * 0.7 + rng.normal(size=(rows, 50)), truth


CASES = {"text": text, "dense": dense}


def ours(lib, x):
    problem, keep = lib.prepare([x], CLUSTERS)
    start = time.perf_counter()
    out = lib.fit("ncut", problem, keep, neighbors=NEIGHBORS)
    return time.perf_counter() - start, out


def theirs(x, threads):
    start = time.perf_counter()
    graph = kneighbors_graph(x, NEIGHBORS, metric="cosine", mode="distance", n_jobs=threads)
    graph.data = np.maximum(1 - graph.data, 0)
    graph = graph.maximum(graph.T)
    middle = time.perf_counter()
    labels = SpectralClustering(CLUSTERS, affinity="precomputed", random_state=0).fit_predict(graph)
    return middle - start, time.perf_counter() - middle, labels


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("library")
    ap.add_argument("cases", nargs="*", default=list(CASES))
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--rows", type=int, default=50000)
    ap.add_argument("--peer-rows", type=int, default=5000)
    args = ap.parse_args()
    warnings.simplefilter("ignore")
    lib = Library(args.library)
    lib.threads(args.threads)
    print(f"ncut, {NEIGHBORS} neighbours, {CLUSTERS} clusters, {args.threads} threads")
    for case in args.cases:
        x, truth = CASES[case](args.peer_rows)
        seconds, out = ours(lib, x)
        find, cut, labels = theirs(x, args.threads)
        print(f"{case:6} {str(x.shape):16} kindred {seconds:7.2f} s (ari {adjusted_rand_score(truth, out['labels'][0]):.3f})  "
              f"scikit-learn {find:7.2f} + {cut:.2f} s (ari {adjusted_rand_score(truth, labels):.3f})  "
              f"ratio {(find + cut) / seconds:.1f}", flush=True)
        x, truth = CASES[case](args.rows)
        seconds, out = ours(lib, x)
        print(f"{case:6} {str(x.shape):16} kindred {seconds:7.2f} s (ari {adjusted_rand_score(truth, out['labels'][0]):.3f})",
              flush=True)


if __name__ == "__main__":
    main()
