#!/usr/bin/env python3
"""Runs the examples of the documentation and compares what they print.

In every ```console block of the given Markdown files, lines that begin with "$ " are run with a POSIX shell, in one folder
per file, with the built program and the Python package of its build first on PATH; the lines below are what they must print. "..." stands for anything within
a line, and alone on a line for any lines. The number of spaces between words does not matter, because column widths depend
on names. A block below a line <!-- not run --> is left alone, one below <!-- needs data --> is run where the real data are
(KINDRED_DATA, else ../shared/data beside the project). <!-- needs data: COMMANDS --> runs these commands first;
KINDRED_SOURCE is the root of the source."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from parts import missing_part  # noqa: E402

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
data = os.path.abspath(os.environ.get("KINDRED_DATA") or os.path.join(root, "..", "shared", "data"))


def blocks(path):
    """(line number, text, marker) of each console block."""
    marker, start, lines = "", None, []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if start is None and line.strip() == "```console":
            start, lines = number, []
        elif start is not None and line.strip() == "```":
            yield start, lines, marker
            start, marker = None, ""
        elif start is not None:
            lines.append(line)
        elif line.startswith("<!--"):
            marker = line.strip("<!-> ")


def commands(lines):
    """(command, expected lines) pairs; a command continues after a backslash, and takes its here-document."""
    found, ends = [], None
    for line in lines:
        if ends:
            found[-1][0] += "\n" + line
            ends = None if line == ends else ends
        elif line.startswith("$ "):
            found.append([line[2:], []])
            here = re.search(r"<<'(\w+)'", line)
            ends = here and here.group(1)
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif found:
            found[-1][1].append(line)
    return found


def squeezed(line):
    return re.sub(r"(?<=\S) +", " ", line.rstrip())


def matches(expected, printed):
    pattern = ""
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(piece.rstrip()) for piece in re.split(r"\.\.\.", squeezed(line))) + r"[ \t]*\n"
    text = "".join(squeezed(line) + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, text) is not None


def main():
    program, files = os.path.abspath(sys.argv[1]), sys.argv[2:]
    folders = os.path.dirname(program), os.path.join(os.path.dirname(os.path.dirname(program)), "venv", "bin")
    env = dict(os.environ, PATH=":".join([*folders, os.environ["PATH"]]), KINDRED_DATA=data, KINDRED_SOURCE=root)
    ran = failed = skipped = 0
    for path in files:
        with tempfile.TemporaryDirectory(prefix="kindred-docs-") as folder:
            part = None  # that the build lacks: what follows stands on what was not made
            for start, lines, marker in blocks(path):
                if part:
                    skipped += 1
                    continue
                if marker == "not run":
                    continue
                kind, _, first = marker.partition(":")
                if kind == "needs data" and not os.path.isdir(data):
                    skipped += 1
                    print(f"{path}:{start}: skipped: no data (docs/data.md)")
                    continue
                if first:
                    subprocess.run(["sh", "-c", first], cwd=folder, env=env, check=True)
                for command, expected in commands(lines):
                    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300)
                    printed = done.stdout.decode("utf-8", "replace")
                    ran += 1
                    part = missing_part(printed)
                    if part:
                        skipped += 1
                        print(f"{path}:{start}: skipped from here on: {part}")
                        break
                    if not matches(expected, printed):
                        failed += 1
                        print(f"{path}:{start}: $ {command}\nexpected:\n" + "\n".join(expected) + "\nprinted:\n" + printed)
    print(f"{ran} commands run, {failed} failed, {skipped} blocks skipped")
    return 1 if failed or ran == 0 else 0


sys.exit(main())
