#!/usr/bin/env python3
"""Runs the benchmarks, one after another, and prints their tables. SPDX-License-Identifier: BSD-3-Clause

Each compares kindred with a named alternative in the same run. bench/results.csv is written anew from what
they measured, so that a change shows in a diff.

Usage: bench/run.py --build BUILD [--cpu] [NAME...]

--cpu compares processor time, one thread against one: for a machine that is busy with other things.

Names: spmm kmeans readers mbc lss linear graph ec mtcfir ttl embed; default all. What methods are worth, in place of how fast they
are, is measured by `kindred bench`."""
import argparse
import os
import pathlib
import platform
import subprocess
import sys

import common

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "src/libkindred.so"
# name: which of the build's files the driver wants as its argument
DRIVERS = {
    "spmm": "bench/kindred_bench_shim.so",
    "kmeans": LIBRARY,
    "readers": LIBRARY,
    "mbc": LIBRARY,
    "lss": LIBRARY,
    "linear": LIBRARY,
    "graph": LIBRARY,
    "ec": LIBRARY,
    "mtcfir": LIBRARY,
    "ttl": LIBRARY,
    "embed": LIBRARY,
}


def machine():
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            name = next(line.split(":")[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name}, {common.cores()} cores, {platform.machine()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--cpu", action="store_true", help="processor time, one thread against one")
    parser.add_argument("names", nargs="*", default=list(DRIVERS))
    args = parser.parse_args()
    unknown = set(args.names) - set(DRIVERS)
    if unknown:
        sys.exit(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(DRIVERS)}")
    if args.cpu:
        os.environ.update(KINDRED_CPU_TIME="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if set(args.names) >= set(DRIVERS):
        common.RESULTS.unlink(missing_ok=True)
    print(f"machine: {machine()}\n", flush=True)
    failed = []
    for name in args.names:
        code = subprocess.call([sys.executable, str(HERE / f"{name}.py"), str(args.build / DRIVERS[name])])
        if code == 77:
            print(f"{name}: skipped\n", flush=True)
        elif code:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
