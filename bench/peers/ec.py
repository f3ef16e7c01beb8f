"""Ensemble clustering the plain way: a dense co-association matrix, its dense spectrum, k-means."""

import numpy as np
import scipy.linalg
from sklearn.cluster import KMeans


def runs(x, count, features, k, seed=0):
    """Labels of `count` runs of k-means, each on its own random features: (count, n)."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        chosen = rng.choice(x.shape[1], features, replace=False)
        out.append(KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(x[:, chosen]).labels_)
    return np.array(out)


def consensus(labels, k, seed=0):
    """The final partition from the labels of all runs: n x n all the way."""
    n = labels.shape[1]
    h = np.zeros((n, n))
    for run in labels:
        h += run[:, None] == run[None, :]
    h /= len(labels)
    scale = 1 / np.sqrt(h.sum(axis=1))
    _, u = scipy.linalg.eigh(h * scale[:, None] * scale[None, :], subset_by_index=[n - k, n - 1])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return KMeans(k, n_init=10, random_state=seed).fit(u).labels_
