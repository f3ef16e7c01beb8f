"""Figures without truth against scikit-learn: silhouette, Davies-Bouldin, Calinski-Harabasz; dense and sparse alike."""
import ctypes

import common
from common import address, close, f64, i64, np, pointer

common.require("sklearn", "scipy")
import scipy.sparse  # noqa: E402
from scipy.spatial.distance import cdist  # noqa: E402
from sklearn import metrics as reference  # noqa: E402

kindred = common.Kindred()
one_thread = common.Kindred(threads=1)


class Quality(ctypes.Structure):
    _fields_ = [("n", i64), ("clusters", i64), ("kind", ctypes.c_int), ("silhouette", f64), ("davies_bouldin", f64),
                ("calinski_harabasz", f64), ("stability", f64), ("resamples", i64)]


def quality(x, labels, library=None):
    labels, m, out = np.ascontiguousarray(labels, dtype=np.int64), common.mat(x), Quality()
    (library or kindred).call("quality_find", [pointer] * 3, ctypes.byref(m), address(labels), ctypes.byref(out))
    return out


def sets():
    rng = np.random.default_rng(3)
    for n, d, k in ((4, 1, 2), (30, 2, 3), (200, 7, 5), (500, 40, 12), (300, 3, 299)):
        labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
        x = rng.normal(size=(n, d)) + labels[:, None] * rng.normal(size=d)
        x[rng.random((n, d)) < 0.5] = 0
        yield x, labels * 7 - 11
    x, labels = rng.normal(size=(120, 5)), rng.integers(0, 4, 120)
    yield 1e6 + x, labels  # far from the origin
    yield np.repeat(x[:6], 20, axis=0), np.repeat(np.arange(6), 20)  # no spread within
    yield np.ones((10, 3)), np.arange(10) % 2  # nothing differs


def davies_bouldin(x, labels):
    names = np.unique(labels)
    means = np.array([x[labels == c].mean(0) for c in names])
    spread = np.array([np.linalg.norm(x[labels == c] - m, axis=1).mean() for c, m in zip(names, means)])
    far = np.linalg.norm(means[:, None] - means, axis=2)
    if np.allclose(spread, 0) or np.allclose(far, 0):
        return 0.0
    far[far == 0] = np.inf
    return np.max((spread[:, None] + spread) / far, axis=1).mean()


def test_equals_scikit_learn():
    for x, labels in sets():
        for form in (x, scipy.sparse.csr_matrix(x)):
            got = quality(form, labels)
            assert (got.n, got.clusters, got.kind) == (len(labels), len(set(labels)), 0)
            scale = 1e-10
            if np.abs(x).max() > 1e5:  # scikit-learn's own distances are good to 1e-2 there: against data moved back
                near = x - 1e6
                close(got.davies_bouldin, davies_bouldin(near, labels), 1e-7, "Davies-Bouldin far away")
                close(got.silhouette, reference.silhouette_score(near, labels), 1e-7, "silhouette far away")
                close(got.calinski_harabasz, reference.calinski_harabasz_score(near, labels), 1e-7, "Calinski-Harabasz far away")
                continue
            close(got.davies_bouldin, davies_bouldin(x, labels), scale, "Davies-Bouldin by definition")
            # scikit-learn's distance of a sample to itself is 0 to 1e-8 alone: small clusters and equal samples show it.
            if np.bincount(np.unique(labels, return_inverse=True)[1]).min() > 2 and \
                    davies_bouldin(x, labels) > 1e-6:
                close(got.davies_bouldin, reference.davies_bouldin_score(x, labels), scale, "Davies-Bouldin")
            want = reference.calinski_harabasz_score(x, labels)
            close(got.calinski_harabasz / max(want, 1), want / max(want, 1), scale, "Calinski-Harabasz")
            # From scikit-learn's own distances, equal samples would be up to 1e-8 apart, on some machines.
            close(got.silhouette, reference.silhouette_score(cdist(x, x), labels, metric="precomputed"), scale, "silhouette")
            assert np.isnan(got.stability)


def test_dense_equals_sparse_and_one_thread_many():
    for x, labels in sets():
        a, b, c = quality(x, labels), quality(scipy.sparse.csr_matrix(x), labels), quality(x, labels, one_thread)
        for name in ("silhouette", "davies_bouldin", "calinski_harabasz"):
            close(getattr(b, name), getattr(a, name), 1e-10 * max(1, abs(getattr(a, name))), name)
            assert getattr(a, name) == getattr(c, name)


def test_what_has_no_figure():
    x = np.random.default_rng(1).normal(size=(6, 2))
    for labels in (np.zeros(6), np.arange(6)):
        got = quality(x, labels)
        assert all(np.isnan(v) for v in (got.silhouette, got.davies_bouldin, got.calinski_harabasz))


def test_above_20000_the_silhouette_is_simplified():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 20001)
    x = rng.normal(size=(20001, 2)) + 6 * labels[:, None]
    got = quality(x, labels)
    means = np.array([x[labels == c].mean(0) for c in range(3)])
    far = np.linalg.norm(x[:, None] - means, axis=2)
    own = far[np.arange(len(x)), labels]
    far[np.arange(len(x)), labels] = np.inf
    assert got.kind == 1
    close(got.silhouette, np.mean((far.min(1) - own) / np.maximum(far.min(1), own)), 1e-10, "simplified silhouette")
    close(got.davies_bouldin, reference.davies_bouldin_score(x, labels), 1e-10, "Davies-Bouldin")


common.main(globals())
