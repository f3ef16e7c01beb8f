"""What the benchmark drivers share: data, timing, tables. SPDX-License-Identifier: BSD-3-Clause

Data come from KINDRED_DATA (default ../shared/data beside the repository). Every driver prints one
Markdown table and appends its rows to bench/results.csv. Times are of the wall clock on all cores. On a busy machine
compare processor time, one thread against one: bench/run.py --cpu, or KINDRED_CPU_TIME=1 OMP_NUM_THREADS=1
OPENBLAS_NUM_THREADS=1 for a driver by itself.
"""

import csv
import ctypes
import os
import pathlib
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("KINDRED_DATA") or ROOT.parent / "shared" / "data")
RESULTS = ROOT / "bench" / "results.csv"
FIELDS = ["bench", "case", "ours_s", "peer", "peer_s", "ratio", "extra"]


CPU_TIME = bool(os.environ.get("KINDRED_CPU_TIME"))


def cores():
    """Cores this process may use, or 1 where processor time is compared."""
    return 1 if CPU_TIME else len(os.sched_getaffinity(0))


def shim(path):
    """The shared object of bench_shim.c, every function of which returns seconds."""
    lib = ctypes.CDLL(os.path.abspath(path))
    for name in ("bench_spmm", "bench_spmm_t", "bench_copy"):
        getattr(lib, name).restype = ctypes.c_double
    return lib


def pointer(array):
    """The address of a contiguous numpy array."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def load_csr(name, task="all"):
    """A task of a data set as scipy CSR with float64 values, or None where the data are absent."""
    import scipy.io
    import scipy.sparse

    for suffix in (".mtx.gz", ".mtx"):
        path = DATA / name / (task + suffix)
        if path.exists():
            x = scipy.sparse.csr_matrix(scipy.io.mmread(str(path)), dtype="float64")
            x.sort_indices()
            return x
    return None


def synthetic_csr(rows, cols, per_row, seed=1):
    """Text-like: column j is drawn with a probability falling as 1 / (j + 10)."""
    import numpy as np
    import scipy.sparse

    rng = np.random.default_rng(seed)
    weight = 1.0 / (np.arange(cols) + 10)
    col = rng.choice(cols, size=rows * per_row, p=weight / weight.sum())
    row = np.repeat(np.arange(rows), per_row)
    x = scipy.sparse.coo_matrix((np.ones(rows * per_row), (row, col)), shape=(rows, cols)).tocsr()
    x.sort_indices()
    return x


def seconds(call):
    """Seconds of one call: of the wall clock, or processor time where KINDRED_CPU_TIME is set."""
    timer = time.process_time if CPU_TIME else time.perf_counter
    start = timer()
    call()
    return timer() - start


def best_of(repeats, *timers):
    """The least of `repeats` timings of each timer (a function that returns seconds). The timers take
    turns, so that a busy moment of the machine hits all of them alike."""
    best = [float("inf")] * len(timers)
    for _ in range(repeats):
        for i, timer in enumerate(timers):
            best[i] = min(best[i], timer())
    return best


def report(title, rows, keep=True):
    """Prints rows (dicts over FIELDS) as a Markdown table and appends them to results.csv."""
    print(f"### {title}{', processor time' if CPU_TIME else ''}\n")
    print("| case | ours (s) | peer | peer (s) | ratio | |")
    print("|---|---:|---|---:|---:|---|")
    for r in rows:
        print(f"| {r['case']} | {r['ours_s']:.4g} | {r['peer']} | {r['peer_s']:.4g} "
              f"| {r['ratio']:.2f} | {r['extra']} |")
    print()
    if not keep:
        return
    new = not RESULTS.exists()
    with open(RESULTS, "a", newline="") as out:
        table = csv.DictWriter(out, FIELDS)
        if new:
            table.writeheader()
        for r in rows:
            table.writerow({**r, "ours_s": f"{r['ours_s']:.6g}", "peer_s": f"{r['peer_s']:.6g}",
                            "ratio": f"{r['ratio']:.3f}"})
