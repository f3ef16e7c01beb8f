"""Mixing of data sets against NumPy implementations written from the papers' definitions: iLISI, kBET acceptance, batch ASW."""
import ctypes

import common
from common import address, close, f64, i64, np, pointer

common.require("sklearn", "scipy")
import scipy.optimize  # noqa: E402
import scipy.sparse  # noqa: E402
import scipy.stats  # noqa: E402
from sklearn.metrics import silhouette_samples  # noqa: E402

kindred = common.Kindred()
one_thread = common.Kindred(threads=1)
kindred.lib.kdr_chi_square_critical.restype = f64
kindred.lib.kdr_chi_square_critical.argtypes = [f64, i64]


class Figures(ctypes.Structure):
    _fields_ = [("ilisi", f64), ("kbet", f64), ("batch_asw", f64), ("tested", i64)]


def mixing(x, batch, cluster, library=None, sets=None):
    batch, cluster = (np.ascontiguousarray(v, dtype=np.int64) for v in (batch, cluster))
    m, out = common.mat(x), Figures()
    (library or kindred).call("mixing", [pointer, pointer, i64, pointer, pointer], ctypes.byref(m), address(batch),
                              batch.max() + 1 if sets is None else sets, address(cluster), ctypes.byref(out))
    return out


def neighbours(x, k, rows):
    """Indices of the k nearest other samples and their distances; of equally near ones the lower index first."""
    index, far = [], []
    for i in rows:
        d = np.sqrt(((x - x[i]) ** 2).sum(1))
        near = np.flatnonzero(d <= np.partition(d, k)[k])
        order = [j for j in near[np.argsort(d[near], kind="stable")] if j != i][:k]
        index.append(order)
        far.append(d[order])
    return np.array(index), np.array(far)


def lisi(distances, batches, perplexity):
    """Korsunsky et al. 2019: the inverse Simpson index of Gaussian-like weights with a given perplexity."""
    def weights(beta):
        p = np.exp(-beta * (distances - distances.min()))
        return p / p.sum()

    def gap(log_beta):
        p = weights(np.exp(log_beta))
        p = p[p > 0]
        return -(p * np.log(p)).sum() - np.log(perplexity)

    p = weights(np.exp(scipy.optimize.brentq(gap, -25, 25, xtol=1e-13)))
    return 1 / sum(p[batches == b].sum() ** 2 for b in np.unique(batches))


def ilisi(x, batch, rows):
    k = min(90, len(x) - 1)
    index, far = neighbours(x, k, rows)
    values = [lisi(d, batch[j], k / 3) for j, d in zip(index, far)]
    return (np.median(values) - 1) / (len(np.unique(batch)) - 1)


def kbet(x, batch, rows):
    """Buettner et al. 2019, the size of neighbourhoods as in scib (Luecken et al. 2022)."""
    names, sizes = np.unique(batch, return_counts=True)
    k0 = min(len(x), 70, max(10, int(sizes.mean() / 4)))
    expected = k0 * sizes / len(x)
    index, _ = neighbours(x, k0 - 1, rows)
    accepted = 0
    for i, j in zip(rows, index):
        seen = np.append(batch[j], batch[i])
        observed = np.array([(seen == b).sum() for b in names])
        accepted += scipy.stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(names) - 1) >= 0.05
    return accepted / len(rows)


def batch_asw(x, batch, cluster):
    """Luecken et al. 2022."""
    values = []
    for c in np.unique(cluster):
        inside = cluster == c
        kinds = len(np.unique(batch[inside]))
        if kinds > 1 and kinds < inside.sum():
            values.append(np.mean(1 - np.abs(silhouette_samples(x[inside], batch[inside]))))
    return np.mean(values) if values else np.nan


def sets():
    rng = np.random.default_rng(5)
    for n, d, batches, shift in ((40, 2, 2, 0), (300, 5, 2, 0.5), (400, 20, 3, 1.5), (500, 3, 4, 0.2), (260, 2, 2, 50)):
        batch, cluster = rng.integers(0, batches, n), rng.integers(0, 4, n)
        yield rng.normal(size=(n, d)) + 5 * cluster[:, None] + shift * batch[:, None], batch, cluster


def test_equals_the_definitions():
    seen = []
    for x, batch, cluster in sets():
        got, rows = mixing(x, batch, cluster), np.arange(len(x))
        close(got.ilisi, ilisi(x, batch, rows), 1e-7, "iLISI")
        close(got.kbet, kbet(x, batch, rows), 1e-12, "kBET")
        close(got.batch_asw, batch_asw(x, batch, cluster), 1e-9, "batch ASW")
        assert got.tested == len(x)
        seen.append((got.ilisi, got.kbet, got.batch_asw))
    assert min(s[0] for s in seen) < 1e-6 and max(s[0] for s in seen) > 0.6  # both ends occur
    assert min(s[1] for s in seen) == 0 and max(s[1] for s in seen) > 0.9


def test_sparse_rows_and_threads_make_no_difference():
    for x, batch, cluster in sets():
        a, b = mixing(x, batch, cluster), mixing(x, batch, cluster, one_thread)
        c = mixing(scipy.sparse.csr_matrix(x), batch, cluster)
        for name in ("ilisi", "kbet", "batch_asw"):
            assert getattr(a, name) == getattr(b, name)
            close(getattr(c, name), getattr(a, name), 1e-8, name)


def test_large_data_are_tested_by_an_even_choice():
    rng = np.random.default_rng(6)
    n = 10500  # every second sample is tested
    batch, cluster = rng.integers(0, 2, n), rng.integers(0, 5, n)
    x = rng.normal(size=(n, 2)) + 8 * cluster[:, None] + 0.5 * batch[:, None]
    got, rows = mixing(x, batch, cluster), np.arange(0, n, 2)
    assert got.tested == len(rows)
    some = rows[:: 50]
    close(got.kbet, kbet(x, batch, rows), 1e-12, "kBET")
    close(got.ilisi, ilisi(x, batch, some), 0.05, "iLISI")
    close(got.batch_asw, batch_asw(x, batch, cluster), 1e-9, "batch ASW")


def test_equal_samples_and_absent_data_sets():
    x, batch = np.repeat(np.arange(3.0), 60)[:, None], np.tile([0, 2], 90)
    got = mixing(x, batch, np.zeros(180), sets=4)  # nobody is of data sets 1 and 3
    assert got.kbet == 1 and got.batch_asw > 0.9
    close(got.ilisi, 1, 0.01, "iLISI")


def test_what_has_no_figure():
    x = np.random.default_rng(1).normal(size=(30, 2))
    one = mixing(x, np.zeros(30), np.arange(30) % 2)
    assert all(np.isnan(v) for v in (one.ilisi, one.kbet, one.batch_asw)) and one.tested == 0
    apart = mixing(x, np.arange(30) % 2, np.arange(30) % 2)  # no cluster has samples of both
    assert np.isnan(apart.batch_asw) and np.isfinite(apart.ilisi)


def test_chi_square():
    for degrees in (1, 2, 3, 4, 7, 10, 99, 1000):
        want = scipy.stats.chi2.isf(0.05, degrees)
        close(kindred.lib.kdr_chi_square_critical(0.05, degrees) / want, 1, 1e-10, f"chi-square of {degrees}")


common.main(globals())
