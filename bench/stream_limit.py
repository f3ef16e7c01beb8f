#!/usr/bin/python3
"""Data larger than the memory allowed: each job that streams, in a control group with a limit, and without one.

usage: bench/stream_limit.py KINDRED [--limit MB] [--rows N] [--columns D] [--length L] [--data DIR] [--formats npy,mtx,h5]

Needs root and a memory controller (version 1 or 2). Data are made by `kindred generate`: two tasks of N rows, dense (D columns,
.npy) and sparse (texts of L words of 50,000; .mtx, and the same as .h5). Each job is run three times: without a limit; in a
group of --limit megabytes, page cache and mapped files counted as the kernel counts them, inputs being out of the cache
before; and, of each format one job, there with --no-stream, which has to fail, or else the limit is none. Printed as
Markdown: the size of the inputs in memory, what the group held at most, how often it was full, seconds, and whether the outcome
is the same to the last byte."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

CLUSTERS, WORDS = 5, 50000


class Group:
    """A control group with a limit."""

    def __init__(self, limit):
        self.limit = limit
        old = pathlib.Path("/sys/fs/cgroup/memory")
        self.second = not old.is_dir()
        self.folder = (pathlib.Path("/sys/fs/cgroup") if self.second else old) / f"kindred-stream-{os.getpid()}"

    def __enter__(self):
        self.folder.mkdir()
        (self.folder / ("memory.max" if self.second else "memory.limit_in_bytes")).write_text(str(self.limit))
        return self

    def __exit__(self, *_):
        for _ in range(50):  # a process that reads HDF5 for another may be a moment longer there
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)
        return None

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self):
        name = "memory.peak" if self.second else "memory.max_usage_in_bytes"
        return int((self.folder / name).read_text()) if (self.folder / name).exists() else 0

    def full(self):
        if not self.second:
            return int((self.folder / "memory.failcnt").read_text())
        return int(dict(line.split() for line in (self.folder / "memory.events").read_text().splitlines())["max"])


def forget(paths):
    """Out of the machine's cache: pages that are there already are nobody's new memory."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def run(arguments, group):
    """Status, standard output, the last line of standard error, seconds."""
    begin = time.perf_counter()
    done = subprocess.run(arguments, capture_output=True, check=False, preexec_fn=group.join if group else None)
    error = done.stderr.decode().strip().splitlines()
    return done.returncode, done.stdout, error[-1] if error else "", time.perf_counter() - begin


def outcome(out, stdout):
    """What a job leaves, less what differs from run to run."""
    if out is None:
        return stdout
    if out.is_dir():
        return [(p.name, p.read_bytes()) for p in sorted(out.glob("*.labels"))]
    return out.read_bytes()


def make(kindred, args):
    """Folders of the two kinds of data, and bytes a task takes in memory."""
    sizes = {}
    for kind, design in (("dense", ["-d", str(args.columns), "--to", "npy"]),
                         ("words", ["--design", "topics", "--words", str(WORDS), "--length", str(args.length)])):
        folder = args.data / kind
        if not (folder / "task2.labels").exists():
            subprocess.run([kindred, "generate", "--tasks", "2", "-k", str(CLUSTERS), "-n", str(args.rows), "-q", "--force", "-o",
                            str(folder), *design], check=True)
    for i in (1, 2):
        if not (args.data / f"words/task{i}.h5").exists():
            subprocess.run([kindred, "convert", "--stream", str(args.data / f"words/task{i}.mtx"),
                            str(args.data / f"words/task{i}.h5")], check=True)
    sizes["npy"] = 8 * args.rows * args.columns
    with open(args.data / "words/task1.mtx", "rb") as lines:
        entries = int(next(line for line in lines if not line.startswith(b"%")).split()[2])
    sizes["mtx"] = sizes["h5"] = 12 * entries + 8 * args.rows
    return sizes


def jobs(kindred, data, ending, out):
    """Each job's arguments, its inputs, and where it writes."""
    folder = data / ("dense" if ending == "npy" else "words")
    one, two = (folder / f"task{i}.{ending}" for i in (1, 2))
    few = ["--set", "max_iter=5"]
    model = folder / "model.h5"
    if not model.exists():
        subprocess.run([kindred, "cluster", "-m", "kmeans", "-k", str(CLUSTERS), *few, "--set", "n_init=1", "--save-model",
                        str(model), "-q", "--force", "-o", str(out / "model"), str(one)], check=True)
    for method in ("kmeans", "bregman"):
        yield method, ["cluster", "-m", method, "-k", str(CLUSTERS), *few, "--set", "n_init=1", "-q", "--force", "-o",
                       str(out / method), str(one)], [one], out / method
    for method in ("svm", "logreg"):
        yield method, ["transfer", "-m", method, "--source", str(one), "--labels", str(folder / "task1.labels"), "--target",
                       str(two), *few, "-q", "--force", "-o", str(out / method)], [one, two], out / method
    yield "predict", ["predict", "--model", str(model), "-q", "--force", "-o", str(out / "p.labels"), str(two)], [two], \
        out / "p.labels"
    yield "relate", ["relate", "--json", "-q", str(one), str(two)], [one, two], None
    yield "inspect", ["inspect", "--json", str(one)], [one], None
    to = out / {"npy": "x.h5", "mtx": "x.npz", "h5": "x.mtx"}[ending]
    yield "convert", ["convert", "--force", str(one), str(to)], [one], to


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kindred")
    parser.add_argument("--limit", type=float, default=150)
    parser.add_argument("--rows", type=int, default=150000)
    parser.add_argument("--columns", type=int, default=300)
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--formats", default="npy,mtx,h5")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("stream-data"))
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    out = args.data / "out"
    out.mkdir(exist_ok=True)
    sizes = make(args.kindred, args)
    bad = 0
    print(f"{args.rows:,} rows a task; a limit of {args.limit:.0f} MB\n\n| job | format | inputs | most held | full | seconds "
          "| without a limit | the same |\n|---|---|---:|---:|---:|---:|---:|---|", flush=True)
    for ending in args.formats.split(","):
        for name, arguments, inputs, where in jobs(args.kindred, args.data, ending, out):
            free = run([args.kindred, *arguments], None)
            expected = outcome(where, free[1]) if free[0] == 0 else None
            forget(inputs)
            with Group(int(args.limit * 1e6)) as group:
                bound = run([args.kindred, *arguments], group)
                peak, full = group.peak(), group.full()
            found = outcome(where, bound[1]) if bound[0] == 0 else None
            same = "yes" if free[0] == bound[0] == 0 and found == expected else f"no: {bound[0]} {bound[2]}"
            bad += same != "yes"
            print(f"| `{name}` | .{ending} | {sizes[ending] * len(inputs) / 1e6:.0f} MB | {peak / 1e6:.0f} MB | {full:,} "
                  f"| {bound[3]:.1f} | {free[3]:.1f} | {same} |", flush=True)
        forget(inputs)
        with Group(int(args.limit * 1e6)) as group:
            bound = run([args.kindred, *arguments, "--no-stream"], group)
        print(f"| `{name} --no-stream` | .{ending} | | | | {bound[3]:.1f} | | status {bound[0]} {bound[2]} |", flush=True)
        bad += bound[0] == 0
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
