#!/usr/bin/python3
"""How often a statement is right, as it is printed, is what docs/notes/statements.md reports."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", (ROOT / "docs/notes/statements.md").read_text(encoding="utf-8"), re.M)


def correct(statement):
    """The percentage of correct statements; nothing unless there is one such row."""
    return next((100 * int(right) / int(printed) for name, printed, right, _ in ROWS if name == statement and printed.isdigit()), None)


def accuracy(statement):
    return next((100 * float(value) for name, kind, _, value in ROWS if (name, kind) == (statement, "all that were not used to choose the limits")), None)


def printed(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(encoding="utf-8"))


def main():
    found = []
    for path, before in (("src/methods/auto/find_k.c", ""), ("src/methods/auto/tables_k.c", "tables: ")):
        values = printed(path, r"\.right = \w+->sure \? (\d+) : (\d+)")
        for value, name in zip(values.groups(), ("k, repeated clusterings agree", "k, other suggestions")):
            found.append((before + name, int(value), correct(before + name)))
    for name in ("trustworthy", "trust with care", "check before use"):
        found.append((name, int(printed("src/methods/transfer_auto/report.c", name + r": at this confidence, (\d+) % of labels")[1]), accuracy(name)))
    confused = printed("src/methods/transfer_auto/report.c", r"as in (\d+) of (\d+) tests")
    found.append(("few predictions", 100 * int(confused[1]) / int(confused[2]), correct("few predictions of class X: probably confused")))
    wrong = [f"{name}: {value:.0f} % is printed, {measured if measured is None else round(measured, 1)} % was measured" for name, value, measured in found
             if measured is None or abs(value - measured) > (4 if name == "few predictions" else 0.5)]
    print(*wrong, f"{len(found)} figures, {len(wrong)} findings", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
