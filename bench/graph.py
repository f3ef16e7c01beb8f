#!/usr/bin/python3
"""Neighbour graphs, normalised cuts and labels spread over a graph: at size, and against a peer at a size it can do.

usage: bench/graph.py LIBKINDRED.so [CASE...] [--methods M,M] [--threads N] [--peer-rows N] [--rows N]

`text`: rows of about 100 words out of 30,000, drawn from topics over a Zipf law, tf-idf; `dense`: Gaussian blobs in 50
dimensions. 20 neighbours by cosine, 20 clusters or classes; gfhf and llgc know 1 sample in 100. Peer, at 1500 rows:
scikit-learn's NearestNeighbors(algorithm="brute") for the same graph, then its SpectralClustering (ncut), or a direct
solution of the sparse linear system by SciPy (gfhf, llgc). The rows without a peer show the size of 50,000. The ari of
both beside the truth says that they do the same work."""

import argparse
import os
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "ref")]  # both have a common.py: ours first
import common  # noqa: E402
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
METHODS = ["ncut", "gfhf", "llgc"]
ALPHA = 0.99


def known_of(truth):
    """1 sample in 100, every class among them."""
    known = np.zeros(len(truth), dtype=bool)
    known[::100] = True
    known[np.unique(truth, return_index=True)[1]] = True
    return known


def ours(lib, method, x, truth):
    if method == "ncut":
        problem, keep = lib.prepare([x], CLUSTERS)
        begin = time.perf_counter()
        out = lib.fit(method, problem, keep, neighbors=NEIGHBORS)
        return time.perf_counter() - begin, adjusted_rand_score(truth, out["labels"][0])
    known = known_of(truth)
    problem, keep = lib.transfer([x[known], x[~known]], [truth[known], None], CLUSTERS)
    begin = time.perf_counter()
    out = lib.fit(method, problem, keep, neighbors=NEIGHBORS)
    return time.perf_counter() - begin, adjusted_rand_score(truth[~known], out["labels"][1])


def theirs(method, x, truth, threads):
    begin = time.perf_counter()
    w = kneighbors_graph(x, NEIGHBORS, metric="cosine", mode="distance", n_jobs=threads)
    w.data = np.maximum(1 - w.data, 0)
    w = w.maximum(w.T).tocsr()
    if method == "ncut":
        labels = SpectralClustering(CLUSTERS, affinity="precomputed", random_state=0).fit_predict(w)
        return time.perf_counter() - begin, adjusted_rand_score(truth, labels)
    known, degree = known_of(truth), w.sum(axis=1).A1
    y = np.eye(CLUSTERS)[truth] * known[:, None]
    if method == "gfhf":
        f = spsolve((sp.diags(degree) - w)[~known][:, ~known].tocsc(), w[~known] @ y)
    else:
        root = sp.diags(1 / np.sqrt(degree))
        f = spsolve((sp.identity(len(truth)) - ALPHA * root @ w @ root).tocsc(), y)[~known]
    return time.perf_counter() - begin, adjusted_rand_score(truth[~known], f.argmax(axis=1))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library")
    ap.add_argument("cases", nargs="*", default=list(CASES))
    ap.add_argument("--methods", default=",".join(METHODS))
    ap.add_argument("--threads", type=int, default=common.cores())
    ap.add_argument("--rows", type=int, default=50000)
    ap.add_argument("--peer-rows", type=int, default=1500)
    ap.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = ap.parse_args()
    warnings.simplefilter("ignore")
    lib = Library(args.library)
    lib.threads(args.threads)
    rows = []
    for case in args.cases:
        for n in (args.peer_rows, args.rows):
            x, truth = CASES[case](n)
            for method in args.methods.split(","):
                seconds, ari = ours(lib, method, x, truth)
                row = {"bench": "graph", "case": f"{method}, {case} {x.shape[0]} x {x.shape[1]}", "ours_s": seconds,
                       "peer": "none", "peer_s": float("nan"), "ratio": float("nan"), "extra": f"ari {ari:.3f}"}
                if n == args.peer_rows:
                    peer_s, peer_ari = theirs(method, x, truth, args.threads)
                    row.update(peer="scikit-learn" if method == "ncut" else "scikit-learn + SciPy", peer_s=peer_s,
                               ratio=peer_s / seconds, extra=f"ari {ari:.3f}, peer {peer_ari:.3f}")
                print(f"{row['case']}: {seconds:.2f} s, {row['extra']}", file=sys.stderr, flush=True)
                rows.append(row)
    common.report(f"graphs of {NEIGHBORS} neighbours, {args.threads} threads", rows, keep=not args.no_save)


if __name__ == "__main__":
    main()
