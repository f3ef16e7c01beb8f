#!/usr/bin/env python3
"""What the Python layer costs: time a fit beside the C call itself, memory beside the data, k-means beside scikit-learn.
SPDX-License-Identifier: BSD-3-Clause

Run with the interpreter that has the package (make python): build/release/venv/bin/python bench/python.py [GIGABYTES]
"""
import os
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

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


def peak_of(what, rows):
    """Kilobytes at the peak of a fresh process that fits `rows` x 64 numbers, beyond those it had with the data in memory."""
    done = subprocess.run([sys.executable, __file__, "--peak", what, str(rows)], check=True, capture_output=True, text=True)
    return int(done.stdout)


def peak(what, rows):
    big = np.empty((rows, 64))
    big[:] = np.random.default_rng(1).normal(size=(1, 64))
    big[::2] += 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if what == "c":
        plain_fit(big, 2)
    else:
        kindred.KMeans(n_clusters=2).fit(big)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


def main():
    if sys.argv[1:2] == ["--peak"]:
        return peak(sys.argv[2], int(sys.argv[3]))
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    small = rng.normal(size=(200, 10))
    c, python = best(lambda: plain_fit(small, 3)), best(lambda: kindred.KMeans(n_clusters=3).fit(small))
    print(f"k-means 200 x 10: C {1e3 * c:.2f} ms, Python {1e3 * python:.2f} ms, overhead {1e3 * (python - c):.2f} ms")

    # One thread against one, from the same start: rows in 100 arbitrary groups, and the means of these.
    k = 100
    usps = os.path.join(os.environ.get("KINDRED_DATA", "../shared/data"), "handdigits", "usps.npy.gz")
    x = kindred.read(usps).X if os.path.exists(usps) else np.repeat(rng.normal(size=(k, 256)), 93, axis=0) + \
        2 * rng.normal(size=(9300, 256))
    labels = rng.permutation(len(x)) % k
    start = np.array([x[labels == j].mean(axis=0) for j in range(k)])
    with threadpool_limits(1):
        theirs = {a: best(lambda: KMeans(k, init=start, n_init=1, max_iter=300, tol=0, algorithm=a).fit(x), 3)
                  for a in ("lloyd", "elkan")}
    ours = best(lambda: kindred.cluster(x, k, "kmeans", {"tol": 0, "max_iter": 300}, init=labels, threads=1), 3)
    print(f"k-means {len(x)} x {x.shape[1]}, k = {k}, same start: ours {ours:.3f} s, scikit-learn lloyd {theirs['lloyd']:.3f} s, "
          f"elkan {theirs['elkan']:.3f} s, ratio {min(theirs.values()) / ours:.1f}")

    size = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    rows = int(size * 2 ** 30 / 8 / 64)
    c, python = peak_of("c", rows), peak_of("python", rows)
    print(f"k-means {rows} x 64 ({rows * 512 / 2 ** 30:.2f} GB): at the peak {c / 2 ** 20:.3f} GB more from C, {python / 2 ** 20:.3f} "
          f"GB from Python: {100 * (python - c) * 1024 / (rows * 512):.1f} % of the data more")


if __name__ == "__main__":
    main()
