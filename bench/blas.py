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


def check(condition, message):
    if not condition:
        sys.exit("blas: " + message)


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


def repeated(call, operations):
    """A call often enough to be timed, and how often."""
    times = max(1, int(ENOUGH / operations))

    def calls():
        for _ in range(times):
            call()

    return calls, times


def product(lib, args, m, n, k, trans, kind):
    rng = np.random.default_rng(m + n + k)
    a = rng.standard_normal((k, m) if trans[0] == "T" else (m, k)).astype(kind)
    b = rng.standard_normal((n, k) if trans[1] == "T" else (k, n)).astype(kind)
    left, right = a.T if trans[0] == "T" else a, b.T if trans[1] == "T" else b
    c, out = np.empty((m, n), kind), np.empty((m, n), kind)
    function = lib.bench_gemm if kind == "float64" else lib.bench_gemm_single
    parameters = [C.c_int(t == "T") for t in trans] + [C.c_int64(s) for s in (m, n, k)] + [address(x) for x in (a, b, c)]
    ours, times = repeated(lambda: function(*parameters), 2 * m * n * k)
    theirs, _ = repeated(lambda: np.matmul(left, right, out=out), 2 * m * n * k)
    ours(), theirs()
    check(np.allclose(c, out, rtol=0, atol=(1e-12 if kind == "float64" else 1e-3) * np.abs(out).max()), "a product differs")
    seconds = [s / times for s in common.best_of(args.repeats, ours, theirs)]
    name = f"{m} x {k} by {k} x {n}{' transposed' * (trans != 'NN')}{{}}, {'double' if kind == 'float64' else 'single'}"
    name = name.format({"NT": " (B)", "TN": " (A)"}.get(trans, ""))
    return common.row(name, seconds[0], peer(), seconds[1], f"{2e-9 * m * n * k / seconds[0]:.1f} Gflop/s")


def products(args):
    lib = shim(args)
    return [product(lib, args, *shape, kind) for kind in ("float64", "float32") for shape in SHAPES
            if kind == "float64" or shape[0] == 1000]


def definite(n, seed):
    x = np.random.default_rng(seed).standard_normal((n, n))
    return x @ x.T / n + np.eye(n)


def factors(args):
    lib, rows = shim(args), []
    for n in (200, 1000, 2000):
        a = definite(n, n)
        b = np.random.default_rng(1).standard_normal((n, 20))
        found, x = a.copy(), b.copy()

        def solve(n=n, a=a, b=b, x=x, found=found):
            x[:], found[:] = b, a
            return lib.bench_solve(C.c_int64(n), C.c_int64(20), address(found), address(x))

        def inverse(n=n, a=a, found=found):
            found[:] = a
            return lib.bench_inverse(C.c_int64(n), address(found))

        columns = np.asfortranarray(a)  # as LAPACK stores it: SciPy has nothing to transpose

        def their_solve(a=columns, b=np.asfortranarray(b)):
            factor, _ = scipy.linalg.lapack.dpotrf(a, lower=1)
            return scipy.linalg.lapack.dpotrs(factor, b, lower=1)[0]

        def their_inverse(a=columns):
            factor, _ = scipy.linalg.lapack.dpotrf(a, lower=1)
            return scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)[0]

        check(solve() == 0 and np.allclose(a @ x, b, rtol=0, atol=1e-10), "a solution is wrong")
        check(inverse() == 0 and np.allclose(a @ found, np.eye(n), rtol=0, atol=1e-10), "an inverse is wrong")
        for name, ours, theirs, operations in (
                ("solutions, 20 right-hand sides", solve, their_solve, n**3 / 3),
                ("inverse", inverse, their_inverse, n**3)):
            ours, times = repeated(ours, operations)
            theirs, _ = repeated(theirs, operations)
            seconds = [s / times for s in common.best_of(args.repeats, ours, theirs)]
            rows.append(common.row(f"Cholesky, {name}, order {n}", seconds[0], peer(), seconds[1]))
    return rows


def eigen(args):
    lib, rows = shim(args), []
    for n in (20, 100, 1000):
        rng = np.random.default_rng(n)
        x = rng.standard_normal((n, n))
        points = rng.standard_normal((n, 2))
        apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        for name, a in (("random", x + x.T), ("Gaussian kernel", np.exp(-apart / 2))):
            found, values = a.copy(), np.empty(n)

            def ours(a=a, found=found, values=values, n=n):
                found[:] = a
                return lib.bench_eigh(C.c_int64(n), address(found), address(values))

            def theirs(a=np.asfortranarray(a)):
                return scipy.linalg.lapack.dsyevd(a, lower=1)

            scale = np.abs(theirs()[0]).max()
            check(ours() == 0 and np.allclose(values, theirs()[0], rtol=0, atol=1e-12 * scale), "eigenvalues differ")
            check(np.allclose(a @ found, found * values, rtol=0, atol=1e-11 * scale), "these are no eigenvectors")
            ours, times = repeated(ours, 9 * n**3)
            theirs, _ = repeated(theirs, 9 * n**3)
            seconds = [s / times for s in common.best_of(args.repeats, ours, theirs)]
            rows.append(common.row(f"eigenvectors, {name}, order {n}", seconds[0], peer(), seconds[1]))
    return rows


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"products": products, "factors": factors, "eigen": eigen}))
