#!/usr/bin/python3
"""Compares the readers of text formats with pandas.read_csv and scipy.io.mmread. SPDX-License-Identifier: BSD-3-Clause

The files are created in a temporary folder: a CSV file of random normal numbers as pandas prints them, and a Matrix Market file of
sparse rows. Every file is read in a separate process. kindred uses all cores; the alternatives can use only one. Peak memory is the
growth of the resident set, and must stay below 1.5 times the matrix + 64 MB.

    bench/readers.py threads --kindred build/release/cli/kindred --mb 1000

compares kindred with itself on 1, 2, 4, 8 and 16 threads instead, for `kindred inspect` (which reads a table twice) and, if the shared
library is there, for one call of kdr_read. It needs no other package and writes bench/results/readers-threads.csv. TMPDIR=/dev/shm
keeps the disk out of it."""

import json
import os
import pathlib
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


def readings(reader, path, library, threads, repeats):
    """What the child printed in each reading."""
    command = [sys.executable, "-c", CHILD, reader, path, str(library), str(threads)]
    return [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout) for _ in range(repeats)]


def read(reader, path, args):
    """The best of several readings, and the largest peak."""
    runs = readings(reader, path, args.build / "src" / "libkindred.so", args.threads, args.repeats)
    return min(r["cpu" if common.CPU_TIME else "wall"] for r in runs), max(r["bytes"] for r in runs)


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


# --- threads --------------------------------------------------------------------------------------------------------------


def with_texts(numbers, path):
    """The table of numbers with names of rows and a category, so that every cell is inspected before it is read."""
    with open(numbers, encoding="ascii") as f, open(path, "w", encoding="ascii") as out:
        out.write("sample,group," + next(f))
        out.writelines(f"s{i},{'abcde'[i % 5]},{line}" for i, line in enumerate(f))


def files(program, folder, megabytes):
    """Three files of about that size each: a table of numbers, one with texts, and a sparse matrix."""
    def generate(name, *options):
        subprocess.run([program, "generate", "--tasks", "1", "-o", f"{folder}/{name}", *options], check=True, stdout=subprocess.DEVNULL)

    generate("numbers", "-k", "8", "-d", "50", "-n", str(round(megabytes * 1e6 / 960)))
    with_texts(f"{folder}/numbers/task1.csv", f"{folder}/texts.csv")
    generate("sparse", "--design", "topics", "--words", "20000", "--length", "150", "-n", str(round(megabytes * 1e6 / 1660)))
    return {"CSV of numbers": f"{folder}/numbers/task1.csv", "CSV with texts": f"{folder}/texts.csv", "Matrix Market": f"{folder}/sparse/task1.mtx"}


def threads(args):
    program, rows = (args.kindred or args.program).resolve(), []
    library = program.parent.parent / "src" / "libkindred.so"
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files(program, folder, args.mb).items():
            for count in (1, 2, 4, 8, 16):
                runs = {"inspect": [common.run_timed([program, "inspect", path, "--threads", count], stdout=subprocess.DEVNULL)[:2] for _ in range(args.repeats)]}
                if library.exists():
                    runs["read"] = [(r["wall"], r["cpu"]) for r in readings("kindred", path, library, count, args.repeats)]
                for what, found in runs.items():
                    rows.append([name, round(os.path.getsize(path) / 1e6), what, count, f"{min(found)[0]:.3f}", f"{min(f[1] for f in found):.3f}"])
                    print(*rows[-1], sep=", ", flush=True)
    common.write_csv(args.out or common.RESULTS / "readers-threads.csv", ["file", "megabytes", "command", "threads", "seconds", "processor_s"], rows,
                     common.provenance(f"bench/readers.py threads --mb {args.mb}") + f"; best of {args.repeats}")


CASES, MORE = {"csv": csv, "mtx": mtx, "threads": threads}, [
    ("--megabytes", {"type": int, "default": 64}), ("--entries", {"type": int, "default": 4_000_000}),
    ("--kindred", {"type": pathlib.Path, "help": "case threads: the program (of --build)"}),
    ("--mb", {"type": int, "default": 1000, "help": "case threads: size of each file in MB (1000)"})]

if __name__ == "__main__":
    if sys.argv[1:2] == ["threads"]:
        sys.exit(threads(common.arguments(__doc__, CASES, more=MORE)))
    sys.exit(common.main(__doc__, CASES, default=["csv", "mtx"], more=MORE))
