"""Functions that the benchmark scripts share: command line, data, timing and tables. SPDX-License-Identifier: BSD-3-Clause

Every script is called as

    bench/SUBJECT.py [CASE...] [--build DIR] [--out FILE.csv]

and prints one Markdown table that compares kindred with a named alternative measured in the same run. With --out the rows
are also written to a CSV file, where they replace earlier rows of the same case and kind of machine. Times are wall-clock times on all
cores. With --cpu they are processor times with one thread each, which are less sensitive to other work on the machine.

Data sets are read from KINDRED_DATA (default: ../shared/data next to the repository). Cases without data are skipped.
Import this module before NumPy: --cpu sets the number of threads of libraries that read it when they are loaded."""

import argparse
import concurrent.futures
import csv
import datetime
import gzip
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

CPU_TIME = "--cpu" in sys.argv
if CPU_TIME:
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("KINDRED_DATA") or ROOT.parent / "shared" / "data").resolve()
RESULTS = ROOT / "bench" / "results"
ARCHITECTURE = {"x86_64": "x86-64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
sys.path.append(str(ROOT / "tests" / "ref"))  # fit_ctypes.py and peers.py, which the tests use as well
FIELDS = ["bench", "case", "machine", "kindred_s", "peer", "peer_s", "ratio", "note"]


class Absent(Exception):
    """Something that a case needs is not installed or not available."""


# --- command line -------------------------------------------------------------------------------------------------------


def cores():
    """Cores that this process may use, or 1 if processor time is compared."""
    return 1 if CPU_TIME else len(os.sched_getaffinity(0))


def run_cases(cases, args):
    """Runs the chosen cases; the exit status of the script, 1 if a table is incomplete, 77 if something that a case needs is absent."""
    try:
        return 1 if any([cases[case](args) for case in args.cases]) else 0
    except Absent as reason:
        print(f"skipped: {reason}")
        return 77


def measure(doc, cases, default=None, more=()):
    """A script whose cases take long and continue their tables (fill)."""
    limits = [("--minutes", {"type": float, "default": float("inf")}), ("--only", {"default": "", "metavar": "TEXT"}), ("--jobs", {"type": int, "default": 1})]
    return run_cases(cases, arguments(doc, cases, default, [*limits, *more]))


def arguments(doc, cases, default=None, more=()):
    """The command line of a script; `more` has further options as (name, settings of argparse)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(cases))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build folder (build/release)")
    parser.add_argument("--out", type=pathlib.Path, help="CSV file for the results")
    parser.add_argument("--cpu", action="store_true", help="compare processor times, one thread each")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--repeats", type=int, default=3, help="keep the best of N runs (3)")
    for name, settings in more:
        parser.add_argument(name, **settings)
    args = parser.parse_args()
    unknown = [c for c in args.cases if c not in cases]
    if unknown:
        parser.error(f"unknown case {unknown[0]}; the cases are {', '.join(cases)}")
    args.cases = args.cases or list(default or cases)
    args.build = args.build.resolve()
    args.program = args.build / "cli" / "kindred"
    args.bench = [args.build / "venv" / "bin" / "python", "-m", "kindred.bench"]  # tools/python.sh makes it
    return args


def main(doc, cases, default=None, more=()):
    """Runs the cases, each a function from the arguments to rows, and reports what they measured. Exit status; 77: all were skipped."""
    args = arguments(doc, cases, default, more)
    rows = []
    for name in args.cases:
        try:
            found = cases[name](args)
        except Absent as reason:
            print(f"{name}: skipped: {reason}", file=sys.stderr)
            continue
        rows += found
        if args.out:
            merge(args.out, found, "make bench" if CPU_TIME and args.out.name == "results.csv" else command_line())
    report(rows)
    return 0 if rows else 77


def program(args, command, *words):
    """The result that a command prints."""
    return program_timed(args, command, *words)[0]


def program_timed(args, command, *words, optional=False):
    """The same, and its processor time. optional: None for data that the method cannot use."""
    before = sum(os.times()[2:4])  # of child processes
    done = subprocess.run([args.program, command, "-q", *map(str, words)], capture_output=True, text=True)
    if done.returncode and not optional:
        sys.exit(f"{command} {' '.join(map(str, words))}: {done.stderr.strip()}")
    return (None, None) if done.returncode else (json.loads(done.stdout), sum(os.times()[2:4]) - before)


def library(args):
    """libkindred through ctypes (tests/ref/fit_ctypes.py), with the number of threads of the command line."""
    from fit_ctypes import Library

    lib = Library(str(args.build / "src" / "libkindred.so"))
    lib.threads(args.threads)
    return lib


def fit_with_events(lib, on_event, method, problem, **options):
    """A fit whose events on_event(event) sees: kind, stage, iteration, seconds, ..."""
    import ctypes as C

    class Event(C.Structure):
        _fields_ = [("kind", C.c_int), ("stage", C.c_char_p), ("message", C.c_char_p), ("iteration", C.c_int64), ("total", C.c_int64),
                    ("objective", C.c_double), ("seconds", C.c_double)]

    watch = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(Event))(lambda _, event: (on_event(event[0]), 0)[1])
    lib.lib.kdr_context_set_progress(lib.ctx, watch, None)
    try:
        return lib.fit(method, *problem, **options)
    finally:
        lib.lib.kdr_context_set_progress(lib.ctx, None, None)


# --- data ---------------------------------------------------------------------------------------------------------------


def load_csr(name, task="all"):
    """A data set as scipy CSR with float64 values."""
    import scipy.io
    import scipy.sparse

    path = next((DATA / name).glob(task + ".mtx*"), None)
    if path is None:
        raise Absent(f"no data in {DATA / name}")
    x = scipy.sparse.csr_matrix(scipy.io.mmread(str(path)), dtype="float64")
    x.sort_indices()
    return x


def load_dense(name, task):
    """A data set as a float64 array."""
    import numpy as np

    path = DATA / name / (task + ".npy.gz")
    if not path.exists():
        raise Absent(f"no data in {DATA / name}")
    with gzip.open(path) as f:
        return np.ascontiguousarray(np.load(f), dtype="float64")


def load_labels(name, task):
    """The class name of each sample."""
    import numpy as np

    return np.array((DATA / name / (task + ".labels")).read_text().removesuffix("\n").split("\n"))


def unit(x):
    """Rows of length 1; empty rows stay as they are."""
    import numpy as np
    import scipy.sparse as sp

    length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel() if sp.issparse(x) else (x * x).sum(axis=1))
    scale = 1 / np.where(length > 0, length, 1)
    if not sp.issparse(x):
        return x * scale[:, None]
    x = sp.csr_matrix(sp.diags(scale) @ x)
    x.sort_indices()
    return x


def tfidf(xs, of=None):
    """tf-idf over all data sets together (or over the data sets `of`) and rows of length 1, as --weight tfidf --norm l2."""
    import numpy as np
    import scipy.sparse as sp

    of = xs if of is None else of
    df = sum(np.bincount(x.indices, minlength=x.shape[1]) for x in of)
    idf = sp.diags(np.log((1 + sum(x.shape[0] for x in of)) / (1 + df)) + 1)
    return [unit(sp.csr_matrix(x @ idf)) for x in xs]


def blobs(rows, cols, clusters, spread=2.0, seed=0):
    """Samples of Gaussian clusters, and their clusters."""
    import numpy as np

    rng = np.random.default_rng(seed)
    truth = rng.integers(clusters, size=rows)
    return rng.normal(size=(clusters, cols))[truth] * spread + rng.normal(size=(rows, cols)), truth


# --- timing -------------------------------------------------------------------------------------------------------------


def seconds(call):
    """Seconds of one call, by the wall clock or of the processor (--cpu)."""
    timer = time.process_time if CPU_TIME else time.perf_counter
    start = timer()
    call()
    return timer() - start


def run_timed(command, **settings):
    """Seconds of a command by the clock and of the processor, and its peak memory in bytes."""
    start, child = time.perf_counter(), subprocess.Popen(list(map(str, command)), **settings)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))}: status {child.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss


def best_of(repeats, *calls):
    """The least seconds of each call. The calls take turns, so that a busy moment of the machine affects all of them."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            best[i] = min(best[i], seconds(call))
    return best


# --- results ------------------------------------------------------------------------------------------------------------


def machine():
    """This machine in words."""
    text = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.M)
    name = re.sub(r"\((R|TM)\)|Processor|CPU|@.*", "", model[1]).split() if model else []
    units = [u for flag, u in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if re.search(rf"\b{flag}\b", text)][:1]
    return f"{len(os.sched_getaffinity(0))} {ARCHITECTURE} cores ({', '.join([' '.join(name)] * bool(name) + units)})".replace(" ()", "")


def provenance(command):
    """The comment line of a result file."""
    return f"# {command}; {datetime.date.today()}; {machine()}"


def command_line():
    """This script's command, without where results and builds are."""
    words = ["bench/" + pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]
    return " ".join(w for i, w in enumerate(words) if w not in ("--build", "--out") and words[i - 1] not in ("--build", "--out"))


def read_csv(path):
    """Rows of a result file as dictionaries; lines that begin with # are comments."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def comments(path):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")] if path.exists() else []


def write_csv(path, head, rows, comment):
    """One header line below the comment lines; a row is a dictionary or a list in the order of `head`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with open(part, "w", newline="", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in ([comment] if isinstance(comment, str) else comment))
        out = csv.writer(f, lineterminator="\n")
        out.writerow(head)
        out.writerows([r.get(h, "") for h in head] if isinstance(r, dict) else r for r in rows)
    os.replace(part, path)


class Table:
    """A result file that grows while a long benchmark runs, and that a later call continues. `keys` are the first columns of
    all rows it should have, in their order: rows are written in that order, others after them."""

    def __init__(self, path, head, keys, command):
        self.path, self.head, self.comment = path, head, comments(path) or [provenance(command)]
        self.width = len(keys[0])
        self.place = {tuple(map(str, k)): i for i, k in enumerate(keys)}
        self.rows = {}
        for r in read_csv(path):
            values = [r[h] for h in head]
            self.rows.setdefault(tuple(values[:self.width]), []).append(values)

    def __contains__(self, key):
        return tuple(map(str, key)) in self.rows

    def put(self, key, *rows):
        """The rows of a key, each with the values after it; the file is complete at any time."""
        key = tuple(map(str, key))
        self.rows[key] = [[*key, *row] for row in rows]
        order = sorted(self.rows, key=lambda k: (self.place.get(k, len(self.place)), k))
        write_csv(self.path, self.head, [r for k in order for r in self.rows[k]], self.comment)

    def fill(self, make, minutes, only="", jobs=1):
        """Asks make(key) for the rows of every key that has none, `jobs` at a time, until the time is up; returns how many keys have none."""
        end = time.monotonic() + 60 * minutes
        wanted = [k for k in self.place if k not in self.rows and only in " ".join(k)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            started = {pool.submit(lambda k: time.monotonic() <= end and list(make(k)), k): k for k in wanted}
            for done in concurrent.futures.as_completed(started):
                if done.result() is not False:
                    self.put(started[done], *done.result())
                    print(f"{self.path.name}: {' '.join(started[done])}", flush=True)
        left = sum(k not in self.rows for k in wanted)
        if left:
            print(f"stopped: {left} of {len(self.place)} are missing; call it again to continue")
        return left


def fill(args, name, head, keys, make):
    """Continues bench/results/NAME.csv (or --out); returns how many keys have no rows."""
    table = Table(args.out or RESULTS / f"{name}.csv", head, list(keys), "bench/" + name.replace("-", ".py ", 1))
    return table.fill(make, args.minutes, args.only, args.jobs)


def check(condition, message):
    if not condition:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {message}")


def row(case, ours, peer, theirs, note=""):
    """One line of a table: seconds of kindred and of its peer."""
    return {"bench": pathlib.Path(sys.argv[0]).stem, "case": case, "machine": ARCHITECTURE, "kindred_s": f"{ours:.4g}", "peer": peer,
            "peer_s": f"{theirs:.4g}", "ratio": f"{theirs / ours:.2f}", "note": note}


def report(rows):
    """Prints the rows as a Markdown table."""
    clock = "processor time" if CPU_TIME else "wall-clock time"
    print(f"\n{machine()}, {clock}\n\n| case | kindred (s) | peer | peer (s) | ratio | |\n|---|---:|---|---:|---:|---|")
    for r in rows:
        print(f"| {r['case']} | {r['kindred_s']} | {r['peer']} | {r['peer_s']} | {r['ratio']} | {r['note']} |")
    print(flush=True)


def merge(path, rows, command):
    """Writes rows to a file of rows; each replaces that of the same case on the same kind of machine."""
    fresh = {(r["machine"], r["bench"], r["case"]) for r in rows}
    rows = [r for r in read_csv(path) if (r["machine"], r["bench"], r["case"]) not in fresh] + rows
    names = ", ".join(f"{name} {version}" for name, version in versions())
    kept = [c for c in comments(path) if f" {ARCHITECTURE} cores" not in c]
    write_csv(path, FIELDS, sorted(rows, key=lambda r: (r["machine"], r["bench"], r["case"])), sorted(kept + [provenance(command) + "; " + names]))


def versions():
    """Names and versions of the alternatives that are installed."""
    for module, name in (("sklearn", "scikit-learn"), ("scipy", "SciPy"), ("numpy", "NumPy"), ("pandas", "pandas"), ("faiss", "faiss"), ("torch", "PyTorch")):
        try:
            yield name, __import__(module).__version__
        except ImportError:
            pass
