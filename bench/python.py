#!/usr/bin/env python3
"""What the Python layer costs: time a fit beside the C call itself, memory beside the data, k-means beside scikit-learn.
SPDX-License-Identifier: BSD-3-Clause

Run with the interpreter that has the package (make python): build/release/venv/bin/python bench/python.py [GIGABYTES]
"""
import resource
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans

import kindred
from kindred._kindred import ffi, lib


def best(call, repeats=20):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_fit(x, k):
    """kdr_fit on the same memory, with nothing around it."""
    ctx = ffi.new("kdr_context **")
    lib.kdr_context_new(ctx, ffi.NULL)
    task = ffi.new("kdr_task *")
    part = getattr(task.x, "as").dense
    part.data, (part.rows, part.cols), part.stride, task.k = ffi.cast("double *", x.ctypes.data), x.shape, x.shape[1], k
    problem, out = ffi.new("kdr_problem *"), ffi.new("kdr_result **")
    problem.tasks, problem.ntasks = task, 1
    lib.kdr_fit(ctx[0], ffi.new("char[]", b"kmeans"), problem, ffi.NULL, out)
    lib.kdr_result_free(out[0])
    lib.kdr_context_free(ctx[0])


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    small = rng.normal(size=(200, 10))
    c, python = best(lambda: plain_fit(small, 3)), best(lambda: kindred.KMeans(n_clusters=3).fit(small))
    print(f"k-means 200 x 10: C {1e3 * c:.2f} ms, Python {1e3 * python:.2f} ms, overhead {1e3 * (python - c):.2f} ms")

    x = rng.normal(size=(9298, 256)) + 4 * rng.integers(0, 2, (9298, 1))
    start = x[:100].copy()
    theirs = best(lambda: KMeans(100, init=start, n_init=1, max_iter=20, tol=0).fit(x), 3)
    ours = best(lambda: kindred.KMeans(n_clusters=100, n_init=1, max_iter=20, tol=0).fit(x), 3)
    print(f"k-means 9298 x 256, k = 100, 20 iterations: ours {ours:.3f} s, scikit-learn {theirs:.3f} s, ratio {theirs / ours:.1f}")

    size = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    rows = int(size * 2 ** 30 / 8 / 64)
    big = np.zeros((rows, 64))
    big[:] = rng.normal(size=(1, 64))
    big[::2] += 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kindred.KMeans(n_clusters=2, n_init=1, max_iter=3).fit(big)
    python_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"k-means {rows} x 64 ({big.nbytes / 2 ** 30:.2f} GB): {python_peak / 2 ** 20:.2f} GB more at the peak, "
          f"{100 * python_peak * 1024 / big.nbytes:.0f} % of the data")


if __name__ == "__main__":
    main()
