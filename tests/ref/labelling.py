"""Samples to label next, and ranks of samples least like the source, against the definitions in transfer_auto/unlike.c."""

import sys

from common import require

np = require("numpy")

from common import main  # noqa: E402
from fit_ctypes import Library  # noqa: E402

lib = Library(sys.argv[1])


def problem(seed, classes=4, n=90):
    """Noisy classes; the target has one more that the source lacks."""
    rng = np.random.default_rng(seed)
    means = 2.2 * rng.normal(size=(classes + 1, 30))
    ys, yt = np.arange(n) % classes, np.arange(n) % (classes + 1)
    return [means[ys] + rng.normal(size=(n, 30)), means[yt] + 0.5 + rng.normal(size=(n, 30))], ys, yt


def chosen(margin, cluster, known, count):
    """By margin, at most twice the even share from each cluster; then by margin alone."""
    order = [i for i in np.argsort(margin, kind="stable") if known is None or known[i] < 0]
    most = -(-2 * count // (cluster.max() + 1))
    first, used = [], {}
    for i in order:
        if used.get(cluster[i], 0) < most:
            used[cluster[i]] = used.get(cluster[i], 0) + 1
            first.append(i)
    return (first + [i for i in order if i not in first])[:count]


def test_the_choice():
    for seed in range(3):
        xs, ys, yt = problem(seed)
        known = np.where(np.arange(90) % 3 == 0, np.minimum(yt, 3), -1)
        for labels in (None, known):
            found = lib.fit("auto-transfer", *lib.transfer(xs, [ys, labels], 4), without=False, ask=12)
            a = {name: found["arrays"][name, 1] for name in ("ask", "margin", "probabilities", "target_clusters")}
            answer = found["labels"][-1]
            own = a["probabilities"][np.arange(90), answer]
            other = a["probabilities"].copy()
            other[np.arange(90), answer] = 0
            assert np.allclose(a["margin"], own - other.max(1))
            assert list(a["ask"]) == chosen(a["margin"], a["target_clusters"], labels, 12)


def test_a_class_that_the_source_lacks_ranks_high():
    for seed in range(3):
        xs, ys, yt = problem(seed)
        rank = lib.fit("auto-transfer", *lib.transfer(xs, [ys, None], 4), without=False)["arrays"]["unlike_source", 1]
        assert rank.min() >= 0 and rank.max() <= 1 and abs(rank.mean() - 0.5) < 1e-9
        pairs = rank[yt == 4][:, None] - rank[yt != 4]
        assert np.mean((pairs > 0) + 0.5 * (pairs == 0)) > 0.9


if __name__ == "__main__":
    main(dict(globals()))
