"""mtcfir, msda and snmf against NumPy and SciPy: layers against simulated noise, M against a quadratic program, whole
fits against the plain version of peers.py.

usage: mtcfir.py LIBKINDRED.so"""

import os
import sys
import unittest

try:
    import numpy as np
    import scipy.optimize
    import scipy.sparse as sp
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fit_ctypes import Library  # noqa: E402
import peers  # noqa: E402


def tasks(rng, sizes, d, k, shift=0.3):
    centres = rng.random((k, d)) * (rng.random((k, d)) < 0.4)
    out = []
    for n in sizes:
        own = centres + shift * rng.random((k, d)) * (rng.random((k, d)) < 0.2)
        x = own[np.arange(n) % k] + 0.2 * rng.random((n, d))
        out.append(np.where(x < 0.12, 0, x))
    return out


class Msda(unittest.TestCase):
    def test_a_layer_is_the_limit_of_many_corrupted_copies(self):
        rng = np.random.default_rng(1)
        for n, d, p in ((40, 6, 0.5), (8, 15, 0.3)):  # both sides of n = d
            x, = tasks(rng, [n], d, 3)
            problem, keep = lib.prepare([x], 1)
            got = lib.fit("msda", problem, keep, layers=1, noise=p)["arrays"]["features", 0]
            np.testing.assert_allclose(got[:, :d], x, rtol=0, atol=0)
            full = np.hstack([x, np.ones((n, 1))])
            errors = []
            for copies in (300, 30000):
                q_sum, p_sum = np.zeros((d + 1, d + 1)), np.zeros((d, d + 1))
                for _ in range(copies // 100):
                    mask = np.concatenate([rng.random((100, n, d)) >= p, np.ones((100, n, 1))], axis=2)
                    noisy = (full * mask).reshape(-1, d + 1)
                    q_sum += noisy.T @ noisy
                    p_sum += np.tile(x, (100, 1)).T @ noisy
                errors.append(np.abs(np.tanh(full @ np.linalg.solve(q_sum, p_sum.T)) - got[:, d:]).max())
            self.assertLess(errors[1], 0.02)
            self.assertLess(errors[1], 0.4 * errors[0])  # 100 times the copies: about a tenth of the error

    def test_layers_equal_the_plain_ones(self):
        rng = np.random.default_rng(2)
        xs = tasks(rng, [30, 25], 12, 3)
        problem, keep = lib.prepare([sp.csr_matrix(x) for x in xs], 1)
        got = lib.fit("msda", problem, keep, layers=2, noise=0.6)["arrays"]
        h = np.vstack(xs)
        for i in (1, 2):
            h = peers.mtcfir_layer(h, 0.6)
            ours = np.vstack([got["features", t][:, i * 12: (i + 1) * 12] for t in range(2)])
            np.testing.assert_allclose(ours, h, rtol=0, atol=1e-9)


class Mtcfir(unittest.TestCase):
    def test_fit_equals_the_plain_version(self):
        rng = np.random.default_rng(3)
        for d in (15, 150):
            xs, ks = tasks(rng, [40, 30, 35], d, 3), [3, 2, 3]
            init = [rng.integers(k, size=len(x)) for x, k in zip(xs, ks)]
            for form in (np.asarray, sp.csr_matrix):
                problem, keep = lib.prepare([form(x) for x in xs], ks, init=init)
                ours = lib.fit("mtcfir", problem, keep, max_iter=100, tol=0)
                alpha, labels, total = peers.mtcfir(xs, ks, init, max_iter=100, tol=-1)
                np.testing.assert_allclose(ours["arrays"]["alpha", -1], alpha, atol=1e-12)
                np.testing.assert_allclose(ours["objective"][-1], total, rtol=1e-7)
                for a, b in zip(ours["labels"], labels):
                    np.testing.assert_array_equal(a, b)

    def test_columns_solve_the_quadratic_program(self):
        """eq. 9 with the sample itself left out and beta of eq. 19, for every column, by SciPy."""
        rng = np.random.default_rng(4)
        xs, l = tasks(rng, [9, 8], 6, 2), 3
        problem, keep = lib.prepare(xs, 2)
        got = lib.fit("mtcfir", problem, keep, variant="nF", neighbors=l)["arrays"]
        z = np.vstack(xs)
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        v, begin = z @ z.T, [0, 9, 17]
        for t in range(2):
            own, n = slice(begin[t], begin[t + 1]), begin[t + 1] - begin[t]
            a = sum(got["alpha", -1][t, s] * ((v[own, None, begin[s]: begin[s + 1]] -
                                               v[None, own, begin[s]: begin[s + 1]]) ** 2).sum(axis=2) for s in range(2))
            m = np.zeros((n, n))
            for j in range(n):
                rest = np.delete(np.arange(n), j)
                near = np.sort(a[rest, j])
                beta = (l * near[l] - near[:l].sum()) / 2
                r = scipy.optimize.minimize(
                    lambda c: a[rest, j] @ c + beta * c @ c, np.full(n - 1, 1 / (n - 1)),
                    jac=lambda c: a[rest, j] + 2 * beta * c, bounds=[(0, 1)] * (n - 1), method="SLSQP",
                    constraints={"type": "eq", "fun": lambda c: c.sum() - 1, "jac": np.ones_like},
                    options={"ftol": 1e-14, "maxiter": 500})
                m[rest, j] = r.x / r.x.max()
            ours = sp.csr_matrix((got["similarity_val", t], got["similarity_col", t], got["similarity_rowptr", t]),
                                 shape=(n, n)).toarray()
            np.testing.assert_allclose(ours, (m + m.T) / 2, atol=1e-5)

    def test_discrepancy_is_that_of_the_definition(self):
        rng = np.random.default_rng(5)
        xs = tasks(rng, [20, 15], 7, 2)
        problem, keep = lib.prepare(xs, 2)
        got = lib.fit("mtcfir", problem, keep, layers=1)["arrays"]
        h = np.vstack(xs)
        for after, z in enumerate((h, np.hstack([h, peers.mtcfir_layer(h, 0.5)]))):
            gap = ((z[:, None] - z[None]) ** 2).sum(axis=2)
            sigma = np.median(np.sqrt(gap[np.tril_indices(35, -1)]))
            for name, kernel in (("mmd2_linear", z @ z.T), ("mmd2_gauss", np.exp(-gap / (2 * sigma ** 2)))):
                want = kernel[:20, :20].mean() + kernel[20:, 20:].mean() - 2 * kernel[:20, 20:].mean()
                self.assertAlmostEqual(got[name, -1][after, 0, 1], want, delta=1e-9)


class Snmf(unittest.TestCase):
    def test_fit_equals_the_plain_version(self):
        rng = np.random.default_rng(6)
        x, = tasks(rng, [50], 8, 3)
        init = rng.integers(3, size=50)
        for form in (np.asarray, sp.csr_matrix):
            problem, keep = lib.prepare([form(x)], 3, init=[init])
            ours = lib.fit("snmf", problem, keep, max_iter=80, tol=0)
            z = x / np.linalg.norm(x, axis=1, keepdims=True)
            y, trace = peers.snmf(np.maximum(z @ z.T, 0), init, 3, 80, -1)
            np.testing.assert_allclose(ours["objective"], trace, rtol=1e-8)
            np.testing.assert_allclose(ours["arrays"]["memberships", 0], y, atol=1e-7)


if __name__ == "__main__":
    lib = Library(os.path.abspath(sys.argv[1]))
    unittest.main(argv=sys.argv[:1])
