"""Scores, assignment, transport and silhouettes against scikit-learn, SciPy and POT."""
import ctypes

import common
from common import address, close, f64, i64, np, pointer

common.require("sklearn", "scipy", "ot")
import ot  # noqa: E402
import scipy.sparse  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from sklearn import metrics as reference  # noqa: E402

kindred = common.Kindred()
one_thread = common.Kindred(threads=1)


class Scores(ctypes.Structure):
    _fields_ = [(name, i64) for name in ("n", "clusters", "classes")] + [
        (name, f64)
        for name in ("acc", "nmi", "nmi_arithmetic", "nmi_max", "ari", "purity", "homogeneity", "completeness",
                     "v_measure")
    ]


def evaluate(labels, truth):
    labels, truth = (np.ascontiguousarray(x, dtype=np.int64) for x in (labels, truth))
    out = Scores()
    kindred.call("evaluate", [pointer, pointer, i64, pointer], address(labels), address(truth), len(labels),
                 ctypes.byref(out))
    return out


def assign(cost):
    cost = np.ascontiguousarray(cost, dtype=float)
    to = np.empty(cost.shape[0], dtype=np.int64)
    total = f64()
    kindred.call("assign", [pointer, i64, i64, pointer, pointer], address(cost), *cost.shape, address(to),
                 ctypes.byref(total))
    return to, total.value


def transport(cost, supply, demand):
    cost, supply, demand = (np.ascontiguousarray(x, dtype=float) for x in (cost, supply, demand))
    flow, u, v, total = np.empty(cost.shape), np.empty(len(supply)), np.empty(len(demand)), f64()
    kindred.call("transport", [pointer, i64, i64] + [pointer] * 6, address(cost), *cost.shape, address(supply),
                 address(demand), address(flow), address(u), address(v), ctypes.byref(total))
    return flow, u, v, total.value


def silhouette(x, labels, kind=0, library=None):
    labels = np.ascontiguousarray(labels, dtype=np.int64)
    m, values, mean = common.mat(x), np.empty(len(labels)), f64()
    (library or kindred).call("silhouette", [pointer, pointer, ctypes.c_int, pointer, pointer], ctypes.byref(m),
                              address(labels), kind, address(values), ctypes.byref(mean))
    close(mean.value, values.mean(), 1e-12, "mean silhouette")
    return values


def partitions():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 60))
        a, b = (rng.integers(0, rng.integers(1, 12), n) for _ in range(2))
        if rng.random() < 0.3:  # related partitions
            b = np.where(rng.random(n) < 0.8, a, b)
        yield a, b
    for n in (1, 2, 7, 3000):
        one, singles, some = np.zeros(n), np.arange(n), rng.integers(0, 3, n)
        for a in (one, singles, some):
            for b in (one, singles, some):
                yield a, b
    for _ in range(20):  # labels over the whole range of 64 bits
        values = rng.integers(-2**63, 2**63 - 1, 9)
        yield rng.choice(values, 200), rng.choice(values[:4], 200)
    yield np.array([-2**63, 2**63 - 1]), np.array([5, -5])
    for k, c in ((20, 30), (2000, 10), (30000, 20000)):
        yield rng.integers(0, k, 100000), rng.integers(0, c, 100000)
    heavy = (rng.pareto(1.0, 100000)).astype(int)
    yield heavy, np.where(rng.random(100000) < 0.9, heavy, 0)


def best_map(labels, truth):
    table = reference.cluster.contingency_matrix(truth, labels)
    rows, cols = linear_sum_assignment(-table)
    return table[rows, cols].sum() / len(labels)


def test_scores_equal_scikit_learn():
    for labels, truth in partitions():
        got = evaluate(labels, truth)
        labels, truth = (np.unique(x, return_inverse=True)[1] for x in (labels, truth))
        where = f"n={got.n} clusters={got.clusters} classes={got.classes}"
        assert (got.clusters, got.classes) == (labels.max() + 1, truth.max() + 1), where
        for kind, value in (("geometric", got.nmi), ("arithmetic", got.nmi_arithmetic), ("max", got.nmi_max)):
            want = reference.normalized_mutual_info_score(truth, labels, average_method=kind)
            close(value, want, 1e-12, f"nmi {kind}, {where}")
        close(got.ari, reference.adjusted_rand_score(truth, labels), 1e-12, f"ari, {where}")
        close([got.homogeneity, got.completeness, got.v_measure],
              reference.homogeneity_completeness_v_measure(truth, labels), 1e-12, f"v-measure, {where}")
        if got.clusters * got.classes < 10**7:
            table = reference.cluster.contingency_matrix(truth, labels, sparse=True)
            close(got.purity, table.max(axis=0).sum() / got.n, 1e-15, f"purity, {where}")
            close(got.acc, best_map(labels, truth), 1e-15, f"accuracy, {where}")


def test_accuracy_on_a_large_sparse_table_equals_dense():
    rng = np.random.default_rng(2)
    for k, c, n in ((1500, 1500, 4000), (1000, 2500, 20000), (2500, 300, 3000)):
        labels, truth = rng.integers(0, k, n), rng.integers(0, c, n)
        close(evaluate(labels, truth).acc, best_map(labels, truth), 1e-15, f"accuracy {k} x {c}")


def costs(rng, rows, cols):
    kind = rng.integers(0, 5)
    if kind == 0:
        return rng.random((rows, cols))
    if kind == 1:
        return rng.integers(0, 4, (rows, cols)).astype(float)  # many ties
    if kind == 2:
        return np.full((rows, cols), 0.7)
    if kind == 3:
        return rng.normal(size=(rows, 1)) + rng.normal(size=(1, cols))  # every map is optimal
    x, y = rng.normal(size=(rows, 2)), rng.normal(size=(cols, 2))
    return ((x[:, None] - y[None]) ** 2).sum(2)


def test_assignment_equals_scipy():
    rng = np.random.default_rng(3)
    shapes = [tuple(rng.integers(1, 25, 2)) for _ in range(400)] + [(1, 1), (1, 50), (50, 1), (200, 170), (300, 300)]
    for rows, cols in shapes:
        cost = costs(rng, rows, cols)
        to, total = assign(cost)
        r, c = linear_sum_assignment(cost)
        used = to[to >= 0]
        assert len(used) == min(rows, cols) == len(set(used)) and used.max() < cols
        close(total, cost[r, c].sum(), 1e-12 * max(1, abs(cost).sum()), f"assignment {rows} x {cols}")


def marginals(rng, n):
    kind = rng.integers(0, 5)
    if kind == 0:
        x = np.ones(n)
    elif kind == 1:
        x = rng.integers(0, 4, n).astype(float)  # with zeros
    elif kind == 2:
        x = rng.random(n) ** 8  # very uneven
    elif kind == 3:
        x = rng.random(n) * (rng.random(n) < 0.5)
    else:
        x = rng.random(n)
    if x.sum() == 0:
        x[rng.integers(0, n)] = 1
    return x / x.sum()


def check_transport(cost, supply, demand):
    where = f"transport {cost.shape}"
    flow, u, v, total = transport(cost, supply, demand)
    size, mass = max(1, abs(cost).max()), supply.sum()
    assert (flow >= 0).all()
    close(flow.sum(1), supply, 1e-14 * mass * len(demand), where + " supplies")
    close(flow.sum(0), demand, 1e-14 * mass * len(supply), where + " demands")
    close(total, (flow * cost).sum(), 1e-13 * size * mass, where + " total")
    slack = cost - u[:, None] - v[None]
    assert slack.min() >= -1e-13 * size, f"{where}: dual infeasible by {slack.min()}"
    assert (flow * slack).max() <= 1e-13 * size * mass, f"{where}: complementary slackness"
    close(total, supply @ u + demand @ v, 1e-12 * size * mass, where + " duality")
    want = ot.emd2(supply / mass, demand / demand.sum(), cost, numItermax=10**7) * mass
    close(total, want, 1e-12 * size * mass, where)
    return flow


def test_transport_equals_pot():
    rng = np.random.default_rng(4)
    shapes = [tuple(rng.integers(1, 16, 2)) for _ in range(400)] + [(1, 40), (40, 1), (60, 90), (120, 119), (200, 199)]
    for rows, cols in shapes:
        check_transport(costs(rng, rows, cols), marginals(rng, rows), marginals(rng, cols))


def test_transport_of_uniform_marginals_is_in_whole_units():
    rng = np.random.default_rng(5)
    for rows, cols in [tuple(rng.integers(1, 30, 2)) for _ in range(60)] + [(49, 49), (49, 98), (200, 199)]:
        flow = check_transport(rng.random((rows, cols)), np.full(rows, 1 / rows), np.full(cols, 1 / cols))
        units = flow * np.lcm(rows, cols)
        close(units, np.rint(units), 1e-12, f"units of {rows} x {cols}")
        assert np.count_nonzero(flow) <= rows + cols - 1


def test_transport_reconciles_totals():
    rng = np.random.default_rng(6)
    for _ in range(50):
        supply, demand = rng.random(7), rng.random(9)
        demand *= supply.sum() / demand.sum() * (1 + 9e-10 * rng.uniform(-1, 1))
        flow, _, _, _ = transport(rng.random((7, 9)), supply, demand)
        close(flow.sum(1), supply, 1e-14, "supplies")
        close(flow.sum(0), demand, 5e-9, "demands")


def blobs(rng, n, d, k, spread=1.0):
    centres = rng.normal(size=(k, d)) * 3
    labels = rng.integers(0, k, n)
    return centres[labels] + spread * rng.normal(size=(n, d)), labels


def plain_silhouette(x, labels):
    """From the differences alone, with no expansion of squares."""
    labels = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(labels)
    distance = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    sums = np.stack([distance[:, labels == c].sum(1) for c in range(len(sizes))], 1)
    rows = np.arange(len(x))
    own = sizes[labels]
    a = sums[rows, labels] / np.maximum(own - 1, 1)
    other = sums / sizes
    other[rows, labels] = np.inf
    b = other.min(1)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.where(own > 1, (b - a) / np.maximum(a, b), 0))


def plain_simplified(x, labels):
    labels = np.unique(labels, return_inverse=True)[1]
    centres = np.stack([x[labels == c].mean(0) for c in range(labels.max() + 1)])
    distance = np.sqrt(((x[:, None] - centres[None]) ** 2).sum(2))
    rows = np.arange(len(x))
    a = distance[rows, labels].copy()
    distance[rows, labels] = np.inf
    b = distance.min(1)
    return np.where(np.bincount(labels)[labels] > 1, (b - a) / np.maximum(a, b), 0)


def test_silhouette_equals_scikit_learn():
    rng = np.random.default_rng(7)
    for _ in range(60):
        n, d, k = (int(rng.integers(low, high)) for low, high in ((4, 150), (1, 40), (2, 6)))
        x, labels = blobs(rng, n, d, k)
        labels[:2] = 0, 1
        if len(np.unique(labels)) == n:
            continue
        close(silhouette(x, labels), reference.silhouette_samples(x, labels), 1e-11, f"silhouette {n} x {d}")
    x, labels = blobs(rng, 5000, 20, 7)  # several blocks and tiles
    close(silhouette(x, labels), reference.silhouette_samples(x, labels), 1e-11, "silhouette 5000 x 20")


def test_silhouette_equals_plain_differences():
    rng = np.random.default_rng(8)
    for offset, spread in ((0, 1), (0, 1e-6), (1e5, 1), (0, 0)):
        for n, d in ((30, 3), (300, 11)):
            x, labels = blobs(rng, n, d, 4, spread)
            labels[:2] = 0, 1
            close(silhouette(x + offset, labels), plain_silhouette(x + offset, labels), 1e-12,
                  f"offset {offset} spread {spread}")
            if spread:  # centroids are sums, so the plain way is less exact too
                close(silhouette(x + offset, labels, 1), plain_simplified(x + offset, labels), 1e-8,
                      f"simplified, offset {offset} spread {spread}")


def test_silhouette_of_sparse_equals_dense():
    rng = np.random.default_rng(9)
    for n, d, density in ((50, 30, 0.1), (400, 3000, 0.02), (700, 200, 0.05)):
        x = scipy.sparse.random(n, d, density, format="csr", random_state=1)
        labels = rng.integers(-3, 2, n)
        close(silhouette(x, labels), reference.silhouette_samples(x.toarray(), labels), 1e-11, f"sparse {n} x {d}")
        close(silhouette(x, labels), silhouette(x.toarray(), labels), 1e-12, f"sparse as dense {n} x {d}")
        close(silhouette(x, labels, 1), silhouette(x.toarray(), labels, 1), 1e-12, f"simplified sparse {n} x {d}")


def test_silhouette_does_not_depend_on_threads():
    rng = np.random.default_rng(10)
    x, labels = blobs(rng, 1500, 17, 5)
    for data in (x, scipy.sparse.csr_matrix(np.where(x > 2, x, 0))):
        for kind in (0, 1):
            assert (silhouette(data, labels, kind) == silhouette(data, labels, kind, one_thread)).all()


if __name__ == "__main__":
    common.main(globals())
