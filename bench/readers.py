#!/usr/bin/env python3
"""Text readers beside pandas.read_csv and scipy.io.mmread, each in a process of its own. SPDX-License-Identifier: BSD-3-Clause

Usage: readers.py path/to/libkindred.so [--folder DIR] [--csv-mb 200] [--entries 20000000] [--repeats 3]

Makes a CSV file of random normal numbers as pandas prints them, and Matrix Market files of the same entries by row and
in random order, in a temporary folder. Ours uses all cores (--threads), the peers the one they can. Peak memory is
the process's largest resident set beyond that of the empty process, beside the bound of 1.5 x the matrix + 64 MB.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import common

# Children print one JSON line: seconds, and the growth of the resident set in bytes.
CHILD = """
import ctypes, json, sys, time
def rss():
    # the high-water mark of this program alone; getrusage's is inherited from the parent
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))
what, path, library, threads = sys.argv[1:5]
if what == "pandas":
    import pandas
    call = lambda: pandas.read_csv(path).shape
elif what == "scipy":
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
before = rss()
start = time.perf_counter()
cpu = time.process_time()
call()
print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "bytes": rss() - before}))
"""


def run(what, path, library="", threads=1):
    """One reading in a fresh process."""
    out = subprocess.run([sys.executable, "-c", CHILD, what, str(path), str(library), str(threads)], check=True,
                         stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout)


def make_csv(path, megabytes):
    """Random normal numbers in 50 columns, as pandas prints them; returns the bytes of the matrix."""
    import numpy as np
    import pandas as pd

    rng, rows = np.random.default_rng(1), 0
    names = [f"f{j}" for j in range(50)]
    with open(path, "w") as f:
        while f.tell() < megabytes * 1e6:
            pd.DataFrame(rng.standard_normal((5000, 50)), columns=names).to_csv(f, index=False, header=rows == 0)
            rows += 5000
    return rows * 50 * 8


def make_mtx(by_row, shuffled, entries, rows=200000, cols=30000):
    """Entries by row, and the same lines in random order; returns the bytes of the matrix."""
    import numpy as np

    rng = np.random.default_rng(1)
    per_row = entries // rows
    values = [f"{v:.6g}" for v in rng.exponential(3, 100000)]
    head = f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {per_row * rows}\n"
    with open(by_row, "w") as f:
        f.write(head)
        for i in range(rows):
            # distinct columns, increasing: a random start and random steps
            col = np.cumsum(rng.integers(1, cols // per_row, per_row)).tolist()
            k = int(rng.integers(0, len(values) - per_row))
            f.write("".join([f"{i + 1} {c} {v}\n" for c, v in zip(col, values[k:k + per_row])]))
    if shuffled:
        with open(by_row, "rb") as f:
            f.readline()
            f.readline()
            lines = f.readlines()
        order = rng.permutation(len(lines))
        with open(shuffled, "wb") as f:
            f.write(head.encode())
            for block in range(0, len(lines), 1 << 20):
                f.write(b"".join([lines[k] for k in order[block:block + (1 << 20)]]))
    return per_row * rows * 12 + (rows + 1) * 8


def compare(case, peer, path, library, threads, repeats, matrix_bytes):
    """Ours and the peer in turns; the best of each."""
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(run("kindred", path, library, threads))
        theirs.append(run(peer, path))
    clock = "cpu" if common.CPU_TIME else "seconds"
    a, b = min(ours, key=lambda r: r[clock]), min(theirs, key=lambda r: r[clock])
    peak, bound = max(r["bytes"] for r in ours), 1.5 * matrix_bytes + 64e6
    size = os.path.getsize(path)
    return {"bench": "readers", "case": f"{case}, {size / 1e6:.0f} MB, {threads} threads", "ours_s": a[clock],
            "peer": peer, "peer_s": b[clock], "ratio": b[clock] / a[clock],
            "extra": f"{size / a[clock] / 1e6:.0f} MB/s; CPU {a['cpu']:.2f} s against {b['cpu']:.2f} s; peak "
                     f"{peak / 1e6:.0f} MB of {bound / 1e6:.0f} allowed, peer {b['bytes'] / 1e6:.0f} MB"}, peak <= bound


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", help="libkindred.so")
    parser.add_argument("--folder", help="where the files go; kept there, and used again")
    parser.add_argument("--csv-mb", type=int, default=200)
    parser.add_argument("--entries", type=int, default=20_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=common.cores())
    parser.add_argument("--unsorted", action="store_true", help="also the entries in random order (takes minutes)")
    parser.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = parser.parse_args()
    temporary = None if args.folder else tempfile.TemporaryDirectory()
    folder = pathlib.Path(args.folder or temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    csv, by_row, shuffled = folder / "numbers.csv", folder / "by_row.mtx", folder / "shuffled.mtx"
    sizes = folder / "sizes.json"
    if not sizes.exists():
        csv_bytes = make_csv(csv, args.csv_mb)
        mtx_bytes = make_mtx(by_row, shuffled if args.unsorted else None, args.entries)
        sizes.write_text(json.dumps([csv_bytes, mtx_bytes]))
    csv_bytes, mtx_bytes = json.loads(sizes.read_text())
    library = os.path.abspath(args.library)
    results = [compare("CSV", "pandas", csv, library, args.threads, args.repeats, csv_bytes),
               compare("mtx by row", "scipy", by_row, library, args.threads, args.repeats, mtx_bytes)]
    if args.unsorted:
        results.append(compare("mtx in random order", "scipy", shuffled, library, args.threads, 1, mtx_bytes))
    common.report("Text readers", [row for row, _ in results], keep=not args.no_save)
    if not all(within for _, within in results):
        sys.exit("readers: more memory than allowed")


if __name__ == "__main__":
    main()
