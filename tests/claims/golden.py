#!/usr/bin/python3
"""Every file of golden numbers documents its origin: a row of tests/golden/README.md that names it, its origin
and the tests held against it, all of which are there and read it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "golden"
DATA = {".json", ".csv", ".npy", ".npz", ".mtx", ".mat", ".h5", ".txt"}


def rows():
    """(file, origin, tests) of each row of the table."""
    for line in (FOLDER / "README.md").read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            yield (FOLDER / cells[0].strip("`")).resolve(), cells[1], re.findall(r"`([^`]+)`", cells[2])


def main():
    wrong = []
    known = {}
    for path, origin, tests in rows():
        known[path] = origin
        if not path.is_file():
            wrong.append("%s is in the table but not in the repository" % path)
        if not origin:
            wrong.append("%s: the table does not say where it comes from" % path.name)
        for program in re.findall(r"`([\w/]+\.\w+)`", origin):
            if not (ROOT / program).is_file():
                wrong.append("%s: its program %s is not there" % (path.name, program))
        for test in tests:
            if not (ROOT / test).is_file() or path.name not in (ROOT / test).read_text():
                wrong.append("%s: %s does not read it" % (path.name, test))
        if not tests:
            wrong.append("%s: no test is held against it" % path.name)
    found = [p for p in FOLDER.iterdir() if p.name != "README.md"]
    found += [p for p in (ROOT / "tests/unit").glob("golden_*.h")]
    found += [p for p in (ROOT / "tests/ref").rglob("*") if p.suffix in DATA]
    for path in found:
        if path.resolve() not in known:
            wrong.append("%s has no row in tests/golden/README.md" % path.relative_to(ROOT))
    for line in wrong:
        print(line)
    print("%d golden files, %d wrong" % (len(found), len(wrong)))
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
