#!/usr/bin/python3
"""One version everywhere. SPDX-License-Identifier: BSD-3-Clause

The file VERSION has the version. CMake, the library's name, the program, the Python package and the manual pages read it. Files that
cannot read it are compared with it here: the header, the newest entries of both changelogs, CITATION.cff and the recipes in packaging/.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# File and pattern: every match must be the version; a file in this list must have a match.
PLACES = [
    ("include/kindred/version.h", r'#define KDR_VERSION\s+"([^"]*)"'),
    ("CHANGELOG.md", r"\A(?:(?!^## ).)*^## (\S+)"),
    ("debian/changelog", r"\Akindred \(([^)]*)-[^-)]*\) "),
    ("CITATION.cff", r"^version: (\S+)"),
    ("packaging/conda/meta.yaml", r'set version = "([^"]*)"'),
    ("packaging/homebrew/kindred.rb", r"kindred-([0-9.]+)\.tar\.gz"),
    ("packaging/spack/package.py", r'version\("([^"]*)"'),
    ("packaging/docker/Dockerfile", r"^ARG VERSION=(\S+)"),
]


def main():
    version = (ROOT / "VERSION").read_text().strip()
    wrong = []
    if not re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", version):
        wrong.append("VERSION: %r is not MAJOR.MINOR.PATCH" % version)
    parts = [("include/kindred/version.h", r"#define KDR_VERSION_%s (\d+)" % name, number)
             for name, number in zip(("MAJOR", "MINOR", "PATCH"), version.split("."))]
    for name, pattern, expected in [(name, pattern, version) for name, pattern in PLACES] + parts:
        path = ROOT / name
        found = re.findall(pattern, path.read_text(), flags=re.M | re.S if "(?!" in pattern else re.M) if path.exists() else []
        if not found:
            wrong.append("%s: no version found (pattern %s)" % (name, pattern))
        wrong += ["%s has %s, but VERSION has %s" % (name, text, version) for text in found if text != expected]
    print("\n".join(wrong) or "version %s: %d places agree" % (version, len(PLACES) + 3))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
