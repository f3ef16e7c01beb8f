"""Neighbour graphs, ncut, gfhf and llgc against scikit-learn and direct dense solutions."""

import sys

from common import require

np, sp, _ = require("numpy", "scipy.sparse", "sklearn")
from sklearn.cluster import SpectralClustering  # noqa: E402
from sklearn.metrics import adjusted_rand_score, pairwise_distances  # noqa: E402
from sklearn.neighbors import kneighbors_graph  # noqa: E402

from common import close, main  # noqa: E402
from fit_ctypes import Library  # noqa: E402

lib = Library(sys.argv[1])


def blobs(n, d, k, seed, spread=4.0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    return rng.normal(size=(k, d))[truth] * spread + rng.normal(size=(n, d)), truth


def text(n, d, k, seed):
    """Counts of words by topic, as rows of a sparse matrix."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    weight = np.full((k, d), 0.2)
    for c in range(k):
        weight[c, c::k] = 3
    rows = [np.bincount(rng.choice(d, size=30, p=weight[c] / weight[c].sum()), minlength=d) for c in truth]
    return sp.csr_matrix(np.array(rows, dtype=float)), truth


def affinity(x, neighbors, similarity, sigma=None):
    """The graph as the headers define it, from scikit-learn's parts."""
    n = x.shape[0]
    if similarity == "cosine":
        full = np.maximum(1 - pairwise_distances(x, metric="cosine"), 0)
    else:
        full = np.exp(-pairwise_distances(x, metric="euclidean") ** 2 / (2 * sigma**2))
    np.fill_diagonal(full, 0)
    if not neighbors:
        return full
    metric = "cosine" if similarity == "cosine" else "euclidean"
    near = kneighbors_graph(x, min(neighbors, n - 1), metric=metric, include_self=False).toarray() > 0
    return np.where(near | near.T, full, 0)


def ncut_value(w, labels):
    total = 0
    for c in np.unique(labels):
        inside = labels == c
        total += w[inside][:, ~inside].sum() / w[inside].sum()
    return total


def fit_ncut(x, k, **options):
    problem, keep = lib.prepare([x], k)
    return lib.fit("ncut", problem, keep, **options)


def cases():
    for seed, (n, d, k) in enumerate([(60, 3, 2), (150, 5, 4), (400, 10, 5), (333, 20, 3)]):
        yield *blobs(n, d, k, seed), k
        yield *text(n, 40 + d, k, seed), k


def test_ncut_finds_sklearns_partition_and_value():
    met = []
    for x, truth, k in cases():
        for neighbors in (0, 10, 20):
            for similarity in ("cosine", "gauss"):
                dense = x.toarray() if sp.issparse(x) else x
                sigma = pairwise_distances(dense)[np.triu_indices(len(truth), 1)].mean()
                w = affinity(dense, neighbors, similarity, sigma)
                ours = fit_ncut(x, k, neighbors=neighbors, similarity=similarity)
                if similarity == "gauss":
                    close(ours["fields"]["sigma.t0"], sigma, 1e-9 * sigma, "sigma")
                labels = ours["labels"][0]
                close(ours["objective"], [ncut_value(w, labels)], 1e-8, "ncut of our labels")
                theirs = SpectralClustering(k, affinity="precomputed", assign_labels="kmeans", random_state=0)
                value = ncut_value(w, theirs.fit_predict(w + 1e-12))
                assert ours["objective"][0] <= value + 0.02 * k, (ours["objective"], value)
                if value < 0.05 * k:  # clear clusters have one answer; scikit-learn does not scale the rows
                    same = adjusted_rand_score(theirs.labels_, labels)
                    assert same == 1, (same, neighbors, similarity, value)
                    met.append((neighbors, similarity))
    assert len(set(met)) >= 4, met


def test_eigenvalues_are_those_of_the_dense_matrix():
    for x, _, k in cases():
        dense = x.toarray() if sp.issparse(x) else x
        w = affinity(dense, 10, "cosine")
        d = w.sum(1)
        values, vectors = np.linalg.eigh(w / np.sqrt(np.outer(d, d)))
        out = fit_ncut(x, k)
        close(out["arrays"]["eigenvalues", 0], values[::-1][:k], 1e-9, "eigenvalues")
        if values[-k] - values[-k - 1] > 1e-6:
            y = vectors[:, -k:]
            y /= np.linalg.norm(y, axis=1)[:, None]
            got = out["arrays"]["embedding", 0]
            close(got @ got.T, y @ y.T, 1e-5, "inner products of the embedding")


def test_rotation_agrees_with_sklearns_discretize():
    for x, truth, k in cases():
        dense = x.toarray() if sp.issparse(x) else x
        w = affinity(dense, 10, "cosine")
        theirs = SpectralClustering(k, affinity="precomputed", assign_labels="discretize", random_state=0)
        value = ncut_value(w, theirs.fit_predict(w + 1e-12))
        ours = fit_ncut(x, k, rounding="rotation")
        assert ours["objective"][0] <= value + 0.02 * k
        if value < 0.05 * k:
            assert adjusted_rand_score(theirs.labels_, ours["labels"][0]) == 1


def test_separate_parts_are_found_as_they_are():
    for parts in (2, 3, 7):
        x, truth = blobs(parts * 60, 12, parts, parts, spread=0.2)
        x = np.hstack([x, 100 * np.eye(parts)[truth]])
        for k in (parts, parts + 2):
            out = fit_ncut(x, k, neighbors=8)
            assert out["fields"]["components.t0"] == parts
            assert sum(abs(out["arrays"]["eigenvalues", 0] - 1) < 1e-12) == parts
            for c in np.unique(out["labels"][0]):
                assert len(np.unique(truth[out["labels"][0] == c])) == 1, "a cluster crosses parts"
        assert adjusted_rand_score(fit_ncut(x, parts, neighbors=8)["labels"][0], truth) == 1


if __name__ == "__main__":
    main(dict(globals()))
