#!/usr/bin/python3
"""ec: what its consensus costs, beside its own k-means runs and beside a dense version.

usage: bench/ec.py LIBKINDRED.so [--rows N] [--threads T] [--repeats R]

1. N x 16 (default 1,000,000), 20 runs, k = 10: seconds of the whole fit over seconds of its runs, and the
   process's peak memory.
2. 4,000 x 16: seconds of the consensus step (all that comes after the runs) against NumPy, SciPy and
   scikit-learn with a dense co-association matrix (peers/ec.py), from runs of the same shape."""

import argparse
import ctypes as C
import os
import resource
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "tests", "ref"))
from fit_ctypes import Library  # noqa: E402
import peers.ec as peer  # noqa: E402


class Event(C.Structure):
    _fields_ = [("kind", C.c_int), ("stage", C.c_char_p), ("message", C.c_char_p), ("iteration", C.c_int64),
                ("total", C.c_int64), ("objective", C.c_double), ("seconds", C.c_double)]


END = 3
CALLBACK = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(Event))


def blobs(n, d=16, centres=20):
    rng = np.random.default_rng(0)
    return rng.normal(size=(centres, d))[rng.integers(centres, size=n)] * 2 + rng.normal(size=(n, d))


def timed_fit(lib, x, k, **options):
    """The result, seconds of the runs, seconds of the rest."""
    ends = []

    @CALLBACK
    def watch(_, event):
        if event[0].kind == END and event[0].stage == b"ensemble":
            ends.append(time.perf_counter())
        return 0

    problem, keep = lib.prepare([x], k)
    lib.lib.kdr_context_set_progress(lib.ctx, watch, None)
    start = time.perf_counter()
    result = lib.fit("ec", problem, keep, **options)
    stop = time.perf_counter()
    lib.lib.kdr_context_set_progress(lib.ctx, None, None)
    return result, ends[0] - start, stop - ends[0]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("library")
    ap.add_argument("--rows", type=int, default=1_000_000)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--repeats", type=int, default=3)
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(args.threads)

    print("| rows | runs (s) | consensus (s) | whole / runs | peak memory |")
    print("|---:|---:|---:|---:|---:|")
    x = blobs(args.rows)
    for _ in range(args.repeats):
        _, runs, rest = timed_fit(lib, x, 10, runs=20)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"| {args.rows:,} | {runs:.2f} | {rest:.2f} | {(runs + rest) / runs:.3f} | {peak:.2f} GB |",
              flush=True)

    print("\n| consensus step, 4,000 rows | ours (s) | dense (s) | ratio |")
    print("|---|---:|---:|---:|")
    x = blobs(4000)
    labels = peer.runs(x, 20, 8, 10)
    best = min(timed_fit(lib, x, 10, runs=20)[2] for _ in range(5 * args.repeats))
    dense = float("inf")
    for _ in range(args.repeats):
        start = time.perf_counter()
        peer.consensus(labels, 10)
        dense = min(dense, time.perf_counter() - start)
    print(f"| L = 20, k = 10 | {best:.4f} | {dense:.3f} | {dense / best:.0f}x |")


if __name__ == "__main__":
    main()
