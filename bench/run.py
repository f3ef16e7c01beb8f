#!/usr/bin/python3
"""Runs the speed benchmarks and keeps their rows in bench/results.csv. SPDX-License-Identifier: BSD-3-Clause

usage: bench/run.py [SUBJECT...] [--build DIR] [--out FILE.csv] [--cpu]

Subjects: kmeans methods readers graphs embed; default all. Each prints a table that compares kindred with a named alternative in the
same run. bench/docs.py writes the README's table from the file. `kindred bench`, bench/auto.py and bench/transfer.py measure the quality of
the labels."""

import subprocess
import sys

import common

SUBJECTS = ["kmeans", "methods", "readers", "graphs", "embed"]


def main():
    args = common.arguments(__doc__, SUBJECTS)
    out = args.out or common.ROOT / "bench" / "results.csv"
    failed = []
    for subject in args.cases:
        print(f"## {subject}", flush=True)
        code = subprocess.call([sys.executable, str(common.ROOT / "bench" / f"{subject}.py"), "--build", str(args.build), "--out", str(out),
                                *(["--cpu"] if args.cpu else [])])
        failed += [subject] if code not in (0, 77) else []
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
