#!/usr/bin/env python3
"""Sparse times dense against scipy.sparse. SPDX-License-Identifier: BSD-3-Clause

usage: spmm.py SHIM [--repeats N] [--no-save]      SHIM: build/<preset>/bench/kindred_bench_shim.so

Bandwidth counts compulsory traffic alone, each array once: 12 bytes an entry of X, 8 a row pointer, and
8 for each number of B and of the output (X' B: the output twice, since it is added to). It is given as a
share of a plain parallel copy of 256 MiB on as many threads. B is read once per entry, mostly from a
cache, so a product may be bound by the caches and still show a low share.
"""

import argparse
import os
import sys

os.environ.setdefault("OMP_PROC_BIND", "false")

try:
    import numpy as np
    import scipy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import common


def copy_bandwidth(lib, threads):
    """Bytes a second of a plain copy."""
    n = 1 << 25
    source, target = np.ones(n), np.zeros(n)
    best, = common.best_of(5, lambda: lib.bench_copy(common.pointer(source), common.pointer(target),
                                                     common.ctypes.c_int64(n), threads))
    return 16 * n / best


def bench(lib, x, name, k, threads, transposed, repeats, copy):
    """One row of the table."""
    rows, cols = x.shape
    rowptr, col = x.indptr.astype("int64"), x.indices.astype("int32")
    rng = np.random.default_rng(k)
    b = rng.standard_normal((rows if transposed else cols, k))
    y = np.empty((cols if transposed else rows, k))
    size = common.ctypes.c_int64
    function = lib.bench_spmm_t if transposed else lib.bench_spmm
    kept = []

    def ours():
        wall = []
        cpu = common.seconds(lambda: wall.append(function(
            size(rows), size(cols), common.pointer(rowptr), common.pointer(col), common.pointer(x.data), common.pointer(b),
            size(k), common.pointer(y), threads)))
        return cpu if common.CPU_TIME else wall[0]

    def peer():
        kept[:] = [(x.T if transposed else x)]
        return common.seconds(lambda: kept.append(kept[0] @ b))

    ours_s, peer_s = common.best_of(repeats, ours, peer)
    error = np.abs(y - kept[1]).max() / max(np.abs(kept[1]).max(), 1e-300)
    if ours_s < 0 or not error <= 1e-12:
        sys.exit(f"spmm: {name}: differs from scipy by {error:g}")
    traffic = 12 * x.nnz + 8 * (rows + 1) + 8 * k * (rows + cols + (cols if transposed else 0))
    rate = traffic / ours_s
    return {"bench": "spmm", "case": f"{name} {'XᵀB' if transposed else 'XB'} k={k} threads={threads}",
            "ours_s": ours_s, "peer": f"scipy {scipy.__version__} 1 thread", "peer_s": peer_s,
            "ratio": peer_s / ours_s,
            "extra": f"{rate / 1e9:.1f} GB/s, {100 * rate / copy:.0f} % of copy; "
                     f"{2 * x.nnz * k / ours_s / 1e9:.1f} Gflop/s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shim")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = parser.parse_args()
    lib = common.shim(args.shim)
    x, name = common.load_csr("20ng_full"), "20ng_full"
    if x is None:
        print(f"no data in {common.DATA}: a synthetic matrix of like shape is used\n")
        x, name = common.synthetic_csr(18845, 59030, 90), "synthetic"
    every = common.cores()
    table = []
    for threads in sorted({1, every}):
        copy = copy_bandwidth(lib, threads)
        for transposed in (False, True):
            for k in (1, 5, 20, 64):
                table.append(bench(lib, x, name, k, threads, transposed, args.repeats, copy))
    common.report(f"Sparse times dense: {name}, {x.shape[0]} x {x.shape[1]}, {x.nnz} entries; ours on 1 and on "
                  f"all {every} cores, scipy on the one core it can use", table, keep=not args.no_save)


if __name__ == "__main__":
    main()
