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


def accuracy(statement, data):
    return next((100 * float(value) for name, kind, _, value in ROWS if (name, kind) == (statement, data)), None)


def printed(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(encoding="utf-8"))


def main():
    found = []
    for path, before in (("src/engine/ensemble/find_k.c", ("", "")), ("src/engine/ensemble/tables_k.c", ("tables, generated ones only: ", "tables, real ones only: "))):
        values = printed(path, r"\.right = \w+->sure \? (\d+) : (\d+)")
        for value, kind, name in zip(values.groups(), before, ("k, repeated clusterings agree", "k, other suggestions")):
            found.append((kind + name, int(value), correct(kind + name)))
    report, other = "src/methods/transfer_auto/report.c", "other data, not used to choose the limits"
    numbers = re.findall(r'"trustworthy", sure < good \? (\d+) : (\d+)', (ROOT / report).read_text(encoding="utf-8"))
    for kind, values in zip(("real tables", other), numbers, strict=True):
        found += [(f"{name}, {kind}", int(value), accuracy(name, kind)) for name, value in zip(("trust with care", "trustworthy"), values)]
    found.append(("check before use", int(printed(report, r"check before use: at this confidence, (\d+) %% of labels")[1]), accuracy("check before use", other)))
    wrong = [f"{name}: {value:.0f} % is printed, {measured if measured is None else round(measured, 1)} % was measured" for name, value, measured in found
             if measured is None or abs(value - measured) > 0.5]
    print(*wrong, f"{len(found)} figures, {len(wrong)} findings", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
