"""mbc with lambda = 0 and bregman, squared Euclidean: scikit-learn's k-means of each task, from the same start."""

import sys

from common import require

np, sp, cluster = require("numpy", "scipy.sparse", "sklearn.cluster")

from common import close, main  # noqa: E402
from fit_ctypes import Library  # noqa: E402

lib = Library(sys.argv[1])


def make_tasks(rng, count, sparse):
    """Tasks over the same features with a K each, and labels to start from: a Voronoi partition."""
    d = int(rng.integers(2, 30))
    xs, ks, init = [], [], []
    for _ in range(count):
        k, n = int(rng.integers(2, 9)), int(rng.integers(80, 400))
        centres = rng.normal(size=(k, d)) * rng.choice([0.7, 2.0])
        x = centres[rng.integers(k, size=n)] + rng.normal(size=(n, d))
        if sparse:
            x = np.where(rng.random((n, d)) < 0.4, x, 0)
        seeds = x[rng.choice(n, k, replace=False)]
        labels = ((x[:, None] - seeds[None]) ** 2).sum(axis=2).argmin(axis=1)
        labels[:k] = np.arange(k)
        xs.append(sp.csr_matrix(x) if sparse else x)
        ks.append(k)
        init.append(labels)
    return xs, ks, init


def test_without_attraction_it_is_kmeans_of_every_task():
    rng, compared = np.random.default_rng(11), 0
    for turn in range(40):
        xs, ks, init = make_tasks(rng, 1 + turn % 3, turn % 2 == 1)
        expected = []
        for x, k, labels in zip(xs, ks, init):
            means = np.stack([np.asarray(x[labels == j].mean(axis=0)).ravel() for j in range(k)])
            expected.append(cluster.KMeans(k, init=means, n_init=1, tol=0, algorithm="lloyd", max_iter=500).fit(x))
        problem, keep = lib.prepare(xs, ks, init=init)
        ours = {"mbc": lib.fit("mbc", problem, keep, **{"lambda": 0, "tol": 0, "max_iter": 500}),
                "bregman": lib.fit("bregman", problem, keep, tol=0, max_iter=500)}
        for method, out in ours.items():
            assert out["stop"] == "converged", method
            for t, (x, theirs) in enumerate(zip(xs, expected)):
                # An emptied cluster keeps its centroid here and is placed anew there.
                if len(np.unique(out["labels"][t])) < ks[t]:
                    continue
                assert np.array_equal(out["labels"][t], theirs.labels_), (turn, method, t)
                inertia = out["fields"][f"local_loss.t{t}"] * x.shape[0]
                close(inertia, theirs.inertia_, 1e-10 * theirs.inertia_, "inertia")
                close(out["arrays"]["centroids", t], theirs.cluster_centers_, 1e-10, "centroids")
                compared += 1
    assert compared > 140, compared


if __name__ == "__main__":
    main(dict(globals()))
