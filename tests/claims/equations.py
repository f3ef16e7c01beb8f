#!/usr/bin/python3
"""Equations and the lines that carry them out. A file numbers its equations, (E1), in the comment it opens with, each
at the start of a line, at its end, or set off by two spaces. Each is cited by a line of the same folder, outside the
opening comments; and each citation has its equation.

A line cites an equation of its own file; or of the file it names, "(E3) of msda_run.c" or "of ballot.c, (E1)"; or of
the one file with such an equation among those that its file's opening comment names."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"E\d+'?"
DEFINED = re.compile(r"(?:^ \*|  )\s*\((%s)\)(?! of |,? and |, \(| to )" % NUMBER, re.M)
CITED = re.compile(r"\(%s(?:, %s)*\)" % (NUMBER, NUMBER))
# Behind or before a citation, which may go on with others: the file it is of. A comment's own stars count for nothing.
OF = re.compile(r"(?:(?:,| and|, and| to|-)? ?\(%s\))* of ([\w/]+\.[ch])\b" % NUMBER)
BEFORE = re.compile(r" of ([\w/]+\.[ch]), $")
FILE = re.compile(r"\b([\w/]+\.[ch])\b")


class Source:
    def __init__(self, path):
        self.path, text = path, path.read_text()
        end = re.match(r"(?:\s*/\*.*?\*/)*", text, re.S).end()
        self.named = {pathlib.Path(name).name for name in FILE.findall(text[:end])}
        self.equations = {}  # number: line
        for m in DEFINED.finditer(text[:end]):
            self.equations.setdefault(m[1], text.count("\n", 0, m.end()) + 1)
        self.citations = []  # number, line, in the opening comment, file it says
        for m in CITED.finditer(text):
            behind = re.sub(r"\s*\n[\s*]*", " ", text[m.end():m.end() + 160])
            before = re.sub(r"\s*\n[\s*]*", " ", text[max(0, m.start() - 80):m.start()])
            of = OF.match(behind) or BEFORE.search(before)
            line = text.count("\n", 0, m.start()) + 1
            for number in re.findall(NUMBER, m[0]):
                if self.equations.get(number) != line or m.start() >= end:
                    self.citations.append((number, line, m.start() < end, pathlib.Path(of[1]).name if of else None))


def owner(source, number, of, by_name):
    """The source whose equation is cited, or an error message."""
    if of is None and number in source.equations:
        return source
    names = [of] if of else source.named
    found = [s for name in names for s in by_name.get(name, []) if number in s.equations]
    if len(found) == 1:
        return found[0]
    if found:
        return "several of the files named have such an equation: say which"
    return "%s has no such equation" % of if of else "no such equation here, nor in a file the opening comment names"


def main():
    sources = [Source(path) for path in sorted((ROOT / "src").rglob("*.[ch]"))]
    by_name = {}
    for source in sources:
        by_name.setdefault(source.path.name, []).append(source)
    wrong, used, citations = [], set(), 0
    for source in sources:
        for number, line, opening, of in source.citations:
            found = owner(source, number, of, by_name)
            citations += not opening
            if isinstance(found, str):
                wrong.append("%s:%d: (%s): %s" % (source.path.relative_to(ROOT), line, number, found))
            elif not opening and found.path.parent == source.path.parent:
                used.add((found.path, number))
    count = 0
    for source in sources:
        for number, line in source.equations.items():
            count += 1
            if (source.path, number) not in used:
                wrong.append("%s:%d: (%s) is cited by no line of its folder" %
                             (source.path.relative_to(ROOT), line, number))
    for line in wrong:
        print(line)
    print("%d equations, %d citations, %d wrong" % (count, citations, len(wrong)))
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
