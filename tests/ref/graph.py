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
    distance = pairwise_distances(x, metric="cosine" if similarity == "cosine" else "sqeuclidean")
    full = np.maximum(1 - distance, 0) if similarity == "cosine" else np.exp(-distance / (2 * sigma**2))
    np.fill_diagonal(full, 0)
    if not neighbors:
        return full
    np.fill_diagonal(distance, np.inf)
    near = np.zeros((n, n), dtype=bool)
    order = np.argsort(np.round(distance, 9), axis=1, kind="stable")  # ties: the lower index
    np.put_along_axis(near, order[:, : min(neighbors, n - 1)], True, axis=1)
    return np.where(near | near.T, full, 0)


def test_the_graph_is_sklearns_where_there_are_no_ties():
    for seed in range(4):
        x, _ = blobs(200, 6, 3, seed)
        for metric, similarity in (("cosine", "cosine"), ("euclidean", "gauss")):
            near = kneighbors_graph(x, 12, metric=metric, include_self=False).toarray() > 0
            assert np.array_equal(affinity(x, 12, similarity, 50.0) > 0, near | near.T)


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
            # The solver stops where clusters can no longer change; eigenvectors are half as accurate as their values.
            close(got @ got.T, y @ y.T, 1e-4, "inner products of the embedding")


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


def transfer(method, x, labels, classes, **options):
    """Rows with a label are the source, the rest the target; scores and labels of the target."""
    known = labels >= 0
    problem, keep = lib.transfer([x[known], x[~known]], [labels[known], None], classes)
    out = lib.fit(method, problem, keep, **options)
    assert out["labels"][0] is None
    return out["arrays"]["scores", 1], out["labels"][1], out


def half_known(x, truth, seed):
    """The labelled rows first, as `transfer` stacks them."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(len(truth)) < 0.7
    hidden[: truth.max() + 1] = False
    order = np.argsort(hidden, kind="stable")
    return x[order], np.where(hidden[order], -1, truth[order]), truth[order]


def graph_of(x, labels, neighbors, similarity, out):
    dense = x.toarray() if sp.issparse(x) else x
    return affinity(dense, neighbors, similarity, out["fields"].get("sigma"))


def options_of_graphs():
    for neighbors in (0, 10):
        for similarity in ("cosine", "gauss"):
            yield dict(neighbors=neighbors, similarity=similarity)


def test_gfhf_equals_the_direct_solution():
    for seed, (x, truth, k) in enumerate(cases()):
        x, labels, _ = half_known(x, truth, seed)
        u, y = labels < 0, np.eye(k)[np.maximum(labels, 0)]
        for options in options_of_graphs():
            scores, got, out = transfer("gfhf", x, labels, k, tol=1e-13, **options)
            w = graph_of(x, labels, out=out, **options)
            lap = np.diag(w.sum(1)) - w
            f = np.linalg.lstsq(lap[np.ix_(u, u)], w[np.ix_(u, ~u)] @ y[~u], rcond=None)[0]
            close(scores, f, 1e-9, f"harmonic functions {options}")
            assert (got == f.argmax(1)).mean() > 0.999
            scaled = f * (np.bincount(labels[~u], minlength=k) / (~u).sum() / f.sum(0))
            close(transfer("gfhf", x, labels, k, tol=1e-13, cmn=1, **options)[0], scaled, 1e-9, "class masses")


def test_llgc_equals_the_direct_solution():
    for seed, (x, truth, k) in enumerate(cases()):
        x, labels, _ = half_known(x, truth, seed)
        u, y = labels < 0, np.eye(k)[np.maximum(labels, 0)] * (labels >= 0)[:, None]
        for alpha in (0.2, 0.99):
            for options in options_of_graphs():
                scores, _, out = transfer("llgc", x, labels, k, tol=1e-13, alpha=alpha, **options)
                w = graph_of(x, labels, out=out, **options)
                d = np.sqrt(w.sum(1))
                f = (1 - alpha) * np.linalg.solve(np.eye(len(w)) - alpha * w / np.outer(d, d), y)
                close(scores, f[u], 1e-10, f"scores {options}")


def test_gfhf_and_llgc_equal_sklearn():
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading

    for seed, (x, truth, k) in enumerate(cases()):
        if sp.issparse(x):
            continue
        x, labels, _ = half_known(x, truth, seed)
        gamma = 0.05
        options = dict(neighbors=0, similarity="gauss", sigma=(1 / (2 * gamma)) ** 0.5)
        theirs = LabelPropagation(gamma=gamma, max_iter=100000, tol=1e-12).fit(x, labels)
        scores, got, _ = transfer("gfhf", x, labels, k, **options)
        close(scores, theirs.label_distributions_[labels < 0], 1e-6, "label propagation")
        assert (got == theirs.transduction_[labels < 0]).all()
        theirs = LabelSpreading(gamma=gamma, alpha=0.9, max_iter=100000, tol=1e-14).fit(x, labels)
        scores, got, _ = transfer("llgc", x, labels, k, alpha=0.9, **options)
        close(scores / scores.sum(1)[:, None], theirs.label_distributions_[labels < 0], 1e-8, "label spreading")
        assert (got == theirs.transduction_[labels < 0]).all()


if __name__ == "__main__":
    main(dict(globals()))
