#!/usr/bin/python3
"""The versions of the exported functions follow semantic versioning. SPDX-License-Identifier: BSD-3-Clause

Usage: abi.py [--update]

src/exports.txt lists the functions that the library exports (the test `exports` compares it with the library). debian/libkindred*.symbols
has, for each, the first version that has it, and is the record of what was promised under the library's present name, libkindred.so.MAJOR.MINOR below 1.0 and
libkindred.so.MAJOR from then on. A function of the record that is no longer exported breaks programs: the library then needs a new name, and so a new
version in VERSION. A new function is added to the record by --update. After a change of the library's name, --update starts a new record.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    version = (ROOT / "VERSION").read_text().strip()
    major, minor, _ = version.split(".")
    name = "0." + minor if major == "0" else major
    node = "KINDRED_" + name
    record = ROOT / ("debian/libkindred%s.symbols" % name)
    first = "libkindred.so.%s libkindred%s #MINVER#" % (name, name)
    exports = (ROOT / "src/exports.txt").read_text().split()
    lines = record.read_text().splitlines() if record.exists() else []
    since = dict(re.findall(r"^ (\w+)@%s (\S+)$" % re.escape(node), "\n".join(lines), flags=re.M))
    if "--update" in sys.argv:
        new = [" %s@%s %s" % (symbol, node, since.get(symbol, version)) for symbol in sorted({*since, *exports})]
        record.write_text("\n".join([first, " %s@%s %s" % (node, node, "%s.0" % name), *new]) + "\n")
        print("%s: %d functions" % (record.relative_to(ROOT), len(new)))
        return 0
    wrong = []
    if not lines or lines[0] != first:
        wrong.append("%s: its first line must be %r: run tests/claims/abi.py --update" % (record.relative_to(ROOT), first))
    wrong += ["%s is exported, but not in %s: run tests/claims/abi.py --update" % (symbol, record.name) for symbol in exports if symbol not in since]
    wrong += ["%s was promised for libkindred.so.%s and is no longer exported: restore it, or raise the version" % (symbol, name)
              for symbol in since if symbol not in exports]
    number = tuple(map(int, version.split(".")))
    wrong += ["%s: version %s is newer than VERSION" % (symbol, text) for symbol, text in since.items() if tuple(map(int, text.split("."))) > number]
    others = [path.name for path in (ROOT / "debian").glob("libkindred[0-9]*") if not path.name.startswith("libkindred%s." % name)]
    wrong += ["debian/%s belongs to another name of the library: rename it" % other for other in others]
    if "Package: libkindred%s\n" % name not in (ROOT / "debian/control").read_text():
        wrong.append("debian/control has no package libkindred%s" % name)
    print("\n".join(wrong) or "libkindred.so.%s: %d functions" % (name, len(exports)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
