#!/usr/bin/python3
"""The built-in BLAS and LAPACK against the library that NumPy and SciPy use, on one thread. SPDX-License-Identifier: BSD-3-Clause

products   products of dense matrices, in double and single precision
factors    Cholesky: solutions and inverses
eigen      all eigenvectors of symmetric matrices: of random entries, and of a Gaussian kernel, most of whose eigenvalues are zero

Needs a build with -DKINDRED_BLAS=builtin in --build DIR, and measures processor time. The results
are in bench/results/blas.csv; bench/docs.py makes the table of docs/notes/blas.md."""

import ctypes as C
import subprocess
import sys

sys.argv += ["--cpu"] * ("--cpu" not in sys.argv)  # before common, which reads it

import common
import numpy as np
import scipy.linalg

SHAPES = [(1000, 1000, 1000, "NN"), (1000, 1000, 1000, "NT"), (1000, 1000, 1000, "TN"), (384, 768, 2048, "NT"), (256, 256, 128, "NT"),
          (1000, 1000, 64, "NN"), (4000, 4, 300, "NN"), (2000, 20, 2000, "NN"), (20, 2000, 2000, "NN"), (30, 30, 30, "NN"), (2000, 1, 2000, "NN")]
ENOUGH = 5e8  # operations for one timing


def peer():
    """The BLAS that this process has loaded, by its file name."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        names = {line.split("/")[-1].strip() for line in f if "blas" in line}
    real = sorted(n for n in names if n.startswith(("libopenblas", "libblis", "libmkl")))
    return real[0].removesuffix(".so") if real else "reference BLAS"


def shim(args):
    version = subprocess.run([str(args.program), "version", "-v"], capture_output=True, text=True, check=True).stdout
    if "blas: builtin" not in version:
        raise common.Absent(f"{args.build} was not built with -DKINDRED_BLAS=builtin")
    return C.CDLL(str(args.build / "bench" / "kindred_bench_shim.so"))


def address(x):
    return C.c_void_p(x.ctypes.data)


def compare(args, name, ours, theirs, operations, note=""):
    """A row for two calls, each repeated often enough to be timed."""
    times = max(1, int(ENOUGH / operations))
    own, other = (s / times for s in common.best_of(args.repeats, *(lambda call=call: [call() for _ in range(times)] for call in (ours, theirs))))
    return common.row(name, own, peer(), other, note.format(f"{1e-9 * operations / own:.1f}"))


def product(lib, args, m, n, k, trans, kind):
    rng = np.random.default_rng(m + n + k)
    a = rng.standard_normal((k, m) if trans[0] == "T" else (m, k)).astype(kind)
    b = rng.standard_normal((n, k) if trans[1] == "T" else (k, n)).astype(kind)
    left, right = a.T if trans[0] == "T" else a, b.T if trans[1] == "T" else b
    c, out, double = np.empty((m, n), kind), np.empty((m, n), kind), kind == "float64"
    function = lib.bench_gemm if double else lib.bench_gemm_single
    parameters = [C.c_int(t == "T") for t in trans] + [C.c_int64(s) for s in (m, n, k)] + [address(x) for x in (a, b, c)]
    function(*parameters), np.matmul(left, right, out=out)
    common.check(np.allclose(c, out, rtol=0, atol=(1e-12 if double else 1e-3) * np.abs(out).max()), "a product differs")
    which = {"NT": " transposed (B)", "TN": " transposed (A)"}.get(trans, "")
    return compare(args, f"{m} x {k} by {k} x {n}{which}, {'double' if double else 'single'}", lambda: function(*parameters),
                   lambda: np.matmul(left, right, out=out), 2 * m * n * k, "{} Gflop/s")


def products(args):
    lib = shim(args)
    return [product(lib, args, *shape, kind) for kind in ("float64", "float32") for shape in SHAPES
            if kind == "float64" or shape[0] == 1000]


def factors(args):
    lib, rows, lapack = shim(args), [], scipy.linalg.lapack
    for n in (200, 1000, 2000):
        x = np.random.default_rng(n).standard_normal((n, n))
        a, b = x @ x.T / n + np.eye(n), np.random.default_rng(1).standard_normal((n, 20))
        columns, right = np.asfortranarray(a), np.asfortranarray(b)  # as LAPACK stores them: SciPy has nothing to transpose
        found, x = a.copy(), b.copy()

        def solve():
            x[:], found[:] = b, a
            return lib.bench_solve(C.c_int64(n), C.c_int64(20), address(found), address(x))

        def inverse():
            found[:] = a
            return lib.bench_inverse(C.c_int64(n), address(found))

        common.check(solve() == 0 and np.allclose(a @ x, b, rtol=0, atol=1e-10), "a solution is wrong")
        common.check(inverse() == 0 and np.allclose(a @ found, np.eye(n), rtol=0, atol=1e-10), "an inverse is wrong")
        rows += [compare(args, f"Cholesky, solutions, 20 right-hand sides, order {n}", solve,
                         lambda: lapack.dpotrs(lapack.dpotrf(columns, lower=1)[0], right, lower=1), n**3 / 3),
                 compare(args, f"Cholesky, inverse, order {n}", inverse, lambda: lapack.dpotri(lapack.dpotrf(columns, lower=1)[0], lower=1, overwrite_c=1), n**3)]
    return rows


def eigen(args):
    lib, rows = shim(args), []
    for n in (20, 100, 1000):
        rng = np.random.default_rng(n)
        x, points = rng.standard_normal((n, n)), rng.standard_normal((n, 2))
        apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        for name, a in (("random", x + x.T), ("Gaussian kernel", np.exp(-apart / 2))):
            found, values, columns = a.copy(), np.empty(n), np.asfortranarray(a)

            def ours():
                found[:] = a
                return lib.bench_eigh(C.c_int64(n), address(found), address(values))

            def theirs():
                return scipy.linalg.lapack.dsyevd(columns, lower=1)

            scale = np.abs(theirs()[0]).max()
            common.check(ours() == 0 and np.allclose(values, theirs()[0], rtol=0, atol=1e-12 * scale), "eigenvalues differ")
            common.check(np.allclose(a @ found, found * values, rtol=0, atol=1e-11 * scale), "these are no eigenvectors")
            rows.append(compare(args, f"eigenvectors, {name}, order {n}", ours, theirs, 9 * n**3))
    return rows


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"products": products, "factors": factors, "eigen": eigen}))
