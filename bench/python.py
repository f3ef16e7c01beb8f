#!/usr/bin/env python3
"""Measures the overhead of the Python package, compared with the C call and with scikit-learn. SPDX-License-Identifier: BSD-3-Clause

Run it with the interpreter that has the package (make python): build/release/venv/bin/python bench/python.py

overhead  a small fit compared with kdr_fit on the same memory
kmeans    k-means on usps with k = 100 compared with scikit-learn, same start, one thread each
memory    peak memory of a fit beyond its data (--gigabytes), compared with kdr_fit; each in a separate process"""

import resource
import subprocess
import sys
import warnings

import common
import numpy as np


def plain_fit(x, k):
    """kdr_fit with nothing around it."""
    from kindred._kindred import ffi, lib

    ctx, task, problem, out = ffi.new("kdr_context **"), ffi.new("kdr_task *"), ffi.new("kdr_problem *"), ffi.new("kdr_result **")
    lib.kdr_context_new(ctx, ffi.NULL)
    lib.kdr_problem_init(problem)
    part = getattr(task.x, "as").dense
    part.data, (part.rows, part.cols), part.stride, task.k = ffi.cast("double *", x.ctypes.data), x.shape, x.shape[1], k
    problem.tasks, problem.ntasks = task, 1
    lib.kdr_fit(ctx[0], ffi.new("char[]", b"kmeans"), problem, ffi.NULL, out)
    lib.kdr_result_free(out[0])
    lib.kdr_context_free(ctx[0])


def package_fit(x, k):
    import kindred

    kindred.KMeans(n_clusters=k).fit(x)


def overhead(args):
    x = np.random.default_rng(1).normal(size=(200, 10))
    python, c = common.best_of(20, lambda: package_fit(x, 3), lambda: plain_fit(x, 3))
    return [common.row("k-means, 200 x 10", python, "kdr_fit from C", c, f"{1e3 * (python - c):.2f} ms more")]


def kmeans(args, k=100):
    import kindred
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    x = common.load_dense("handdigits", "usps")
    labels = np.random.default_rng(1).permutation(len(x)) % k
    start = np.array([x[labels == j].mean(axis=0) for j in range(k)])
    settings = {"init": start, "n_init": 1, "max_iter": 300, "tol": 0}
    with threadpool_limits(1):
        ours, lloyd, elkan = common.best_of(
            args.repeats, lambda: kindred.cluster(x, k, "kmeans", {"tol": 0, "max_iter": 300}, init=labels, threads=1),
            lambda: KMeans(k, algorithm="lloyd", **settings).fit(x), lambda: KMeans(k, algorithm="elkan", **settings).fit(x))
    return [common.row(f"k-means, {len(x)} x {x.shape[1]}, k = {k}", ours, "scikit-learn", min(lloyd, elkan), f"lloyd {lloyd:.3g} s, elkan {elkan:.3g} s")]


def peak(which, rows):
    """Prints the bytes at the peak of a fit beyond those of its data; run in a process of its own."""
    big = np.empty((rows, 64))
    big[:] = np.random.default_rng(1).normal(size=(1, 64))
    big[::2] += 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (plain_fit if which == "c" else package_fit)(big, 2)
    print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))


def memory(args):
    rows, found = int(args.gigabytes * 2 ** 30 / 8 / 64), {}
    for which in ("python", "c"):
        code = f"import sys; sys.path.insert(0, {str(common.ROOT / 'bench')!r}); import python; python.peak({which!r}, {rows})"
        took = common.time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        found[which] = common.time.perf_counter() - took, int(done.stdout)
    (ours, own), (theirs, peer) = found["python"], found["c"]
    return [common.row(f"k-means, {rows} x 64, process", ours, "kdr_fit from C", theirs,
                       f"{own / 1e9:.3f} GB beyond the data, C {peer / 1e9:.3f} GB: {100 * (own - peer) / (rows * 512):.1f} % of the data more")]


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"overhead": overhead, "kmeans": kmeans, "memory": memory}, more=[("--gigabytes", {"type": float, "default": 1})]))
