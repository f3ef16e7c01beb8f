#!/usr/bin/python3
"""Compares the readers of text formats with pandas.read_csv and scipy.io.mmread. SPDX-License-Identifier: BSD-3-Clause

The files are created in a temporary folder: a CSV file of random normal numbers as pandas prints them, and a Matrix Market file of
sparse rows. Every file is read in a separate process. kindred uses all cores; the alternatives can use only one. Peak memory is the
growth of the resident set, and must stay below 1.5 times the matrix + 64 MB."""

import json
import os
import subprocess
import sys
import tempfile

import common

# Prints one line of JSON: seconds, processor seconds and the growth of the resident set in bytes.
CHILD = """
import ctypes, json, sys, time
def resident():  # the peak of this program alone; getrusage's is inherited from the parent
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
reader, path, library, threads = sys.argv[1:5]
if reader == "pandas":
    import pandas
    call = lambda: pandas.read_csv(path).shape
elif reader == "SciPy":
    import scipy.io
    call = lambda: scipy.io.mmread(path).shape
else:
    lib, ctx, data = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_void_p()
    lib.kdr_context_error.restype = ctypes.c_char_p
    assert lib.kdr_context_new(ctypes.byref(ctx), None) == 0
    lib.kdr_context_set_threads(ctx, int(threads))
    def call():
        if lib.kdr_read(ctx, path.encode(), None, ctypes.byref(data)):
            sys.exit(lib.kdr_context_error(ctx).decode())
before, wall, cpu = resident(), time.perf_counter(), time.process_time()
call()
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "bytes": resident() - before}))
"""


def read(reader, path, args):
    """The best of several readings, and the largest peak."""
    clock, runs = "cpu" if common.CPU_TIME else "wall", []
    for _ in range(args.repeats):
        done = subprocess.run([sys.executable, "-c", CHILD, reader, path, str(args.build / "src" / "libkindred.so"), str(args.threads)],
                              check=True, stdout=subprocess.PIPE, text=True)
        runs.append(json.loads(done.stdout))
    return min(r[clock] for r in runs), max(r["bytes"] for r in runs)


def compare(case, peer, path, args, matrix_bytes):
    ours, peak = read("kindred", path, args)
    theirs, peer_peak = read(peer, path, args)
    size, bound = os.path.getsize(path), 1.5 * matrix_bytes + 64e6
    if peak > bound:
        sys.exit(f"readers: {case}: {peak / 1e6:.0f} MB, more than {bound / 1e6:.0f} MB")
    return [common.row(case, ours, f"{peer} {dict(common.versions())[peer]}", theirs,
                       f"{size / ours / 1e6:.0f} MB/s; peak {peak / 1e6:.0f} MB of {bound / 1e6:.0f} allowed, peer {peer_peak / 1e6:.0f} MB")]


def csv(args):
    import numpy as np
    import pandas

    rng, rows = np.random.default_rng(1), 0
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        while f.tell() < args.megabytes * 1e6:
            pandas.DataFrame(rng.standard_normal((5000, 50))).to_csv(f, index=False, header=rows == 0)
            rows += 5000
        f.flush()
        return compare(f"CSV, {args.megabytes} MB", "pandas", f.name, args, rows * 50 * 8)


def mtx(args, rows=40000, cols=30000):
    import numpy as np

    rng, each = np.random.default_rng(1), args.entries // rows
    values = [f"{v:.6g}" for v in rng.exponential(3, 100000)]
    with tempfile.NamedTemporaryFile("w", suffix=".mtx") as f:
        f.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {each * rows}\n")
        for i in range(rows):  # distinct columns in order: random steps
            col, k = np.cumsum(rng.integers(1, cols // each, each)).tolist(), int(rng.integers(0, len(values) - each))
            f.write("".join([f"{i + 1} {c} {v}\n" for c, v in zip(col, values[k:k + each])]))
        f.flush()
        return compare(f"Matrix Market, {each * rows} entries", "SciPy", f.name, args, each * rows * 12 + (rows + 1) * 8)


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"csv": csv, "mtx": mtx}, more=[
        ("--megabytes", {"type": int, "default": 64}), ("--entries", {"type": int, "default": 4_000_000})]))
