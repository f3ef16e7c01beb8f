#!/usr/bin/python3
"""The program knows no method: what it does with one it asks of the registry. So no string of cli/*.c is the id of a
method, but for the defaults, which the library names, and words that mean something else; and no error message names
one. Help and examples may."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What else such a word means.
ELSE = {
    ("cmd_cluster.c", "auto"): "-k auto",
    ("cmd_vectorize.c", "svm"): "a format",
}
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
MESSAGE = re.compile(r'\bcli_(?:error|warn|usage_error|stop)\(\s*(?:EXIT_\w+,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)')


def main():
    sources = "".join(path.read_text() for path in (ROOT / "src/methods").rglob("*.c"))
    ids = set(re.findall(r'\.info = \{\s*\.id = "([^"]+)"', sources))
    count = len(re.findall(r"^KDR_ALGORITHM", (ROOT / "src/methods/algorithms.def").read_text(), re.M))
    wrong = []
    for path in sorted((ROOT / "cli").glob("*.c")):
        text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), path.read_text())
        for m in STRING.finditer(text):
            if m[1] in ids and (path.name, m[1]) not in ELSE:
                wrong.append("cli/%s:%d: \"%s\" is the id of a method" %
                             (path.name, text.count("\n", 0, m.start()) + 1, m[1]))
        for m in MESSAGE.finditer(text):
            for word in re.findall(r"'([\w-]+)'|\(([\w-]+)[,)]|, ([\w-]+)\)", m[1]):
                if ids & set(word):
                    wrong.append("cli/%s:%d: a message names the method %s" %
                                 (path.name, text.count("\n", 0, m.start()) + 1, "".join(word)))
    for line in wrong:
        print(line)
    print("%d methods, %d wrong" % (len(ids), len(wrong)))
    return 1 if wrong or len(ids) != count else 0


if __name__ == "__main__":
    sys.exit(main())
