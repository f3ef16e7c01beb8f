#!/usr/bin/env python3
"""The size of the source is a decision: no folder grows by more than 5 % beyond its number in tests/claims/budget.txt.

usage: budget.py [--write]

The numbers are lines of tracked files. If a folder has to grow, --write records its number, in the same commit."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).with_suffix(".txt")
MARGIN = 1.05


def folder_of(path):
    """src/jobs/report/out.c: src/jobs; python/kindred/auto.py: python."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" and len(parts) > 2 else parts[0]


def sizes():
    """{folder: lines}"""
    names = subprocess.run(["git", "ls-files", "-z", "src", "cli", "include", "report", "python", "r", "js", "web"], cwd=ROOT, capture_output=True, text=True)
    if names.returncode:
        print(f"skipped: not a checkout: {names.stderr.strip()}")
        sys.exit(77)
    found = {}
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).exists():
            folder = folder_of(name)
            found[folder] = found.get(folder, 0) + (ROOT / name).read_bytes().count(b"\n")
    return found


def main():
    now = sizes()
    if sys.argv[1:] == ["--write"]:
        RECORD.write_text("".join(f"{lines:6} {folder}\n" for folder, lines in sorted(now.items())))
        return 0
    recorded = {folder: int(lines) for lines, folder in (line.split() for line in RECORD.read_text().splitlines())}
    wrong = [f"{f}: {n} lines, {recorded[f]} are recorded; make it smaller, or run tests/claims/budget.py --write and say why in the commit"
             for f, n in sorted(now.items()) if f in recorded and n > MARGIN * recorded[f]]
    wrong += [f"{f}: not recorded in tests/claims/budget.txt; run tests/claims/budget.py --write" for f in sorted(now.keys() - recorded.keys())]
    print("\n".join(wrong) or f"{len(now)} folders, {sum(now.values())} lines")
    return 1 if wrong else 0


sys.exit(main())
