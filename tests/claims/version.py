#!/usr/bin/python3
"""One version everywhere. SPDX-License-Identifier: BSD-3-Clause

The file VERSION has the version. CMake, the library's name, the program, the Python package and the manual pages read it. Files that
cannot read it are compared with it here: the header, the newest entries of both changelogs, CITATION.cff and the recipes in packaging/.
In a source that is no release, the program adds a suffix, which cmake/version_suffix.cmake makes; it is tried here on small folders.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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


def suffix(newest, commit):
    """What is added to the version in a source without git whose changelog begins with `newest`."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "cmake").mkdir()
        script = shutil.copy(ROOT / "cmake/version_suffix.cmake", pathlib.Path(folder) / "cmake")
        (pathlib.Path(folder) / "cmake/commit.txt").write_text(commit + "\n")
        (pathlib.Path(folder) / "CHANGELOG.md").write_text("# Changes\n\n%s\n\n## 0.0.1\n" % newest)
        return subprocess.run(["cmake", "-P", script], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


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
    unreleased = "## %s (unreleased)" % version
    for newest, commit, expected in ((unreleased, "0123abcd" * 5, "-dev+0123abcd"), (unreleased, "$Format:%H$", "-dev"), ("## " + version, "0123abcd" * 5, "")):
        found = suffix(newest, commit)
        if found != expected:
            wrong.append("cmake/version_suffix.cmake: %r for %r and %r, expected %r" % (found, newest, commit, expected))
    printed = subprocess.run([os.environ["KINDRED"], "version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    form = r"-dev(\+[0-9a-f]{8})?" if unreleased in (ROOT / "CHANGELOG.md").read_text() else ""
    if not re.fullmatch("kindred %s%s\n" % (re.escape(version), form), printed):
        wrong.append("kindred version prints %r" % printed)
    print("\n".join(wrong) or "version %s: %d places agree" % (version, len(PLACES) + 3))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
