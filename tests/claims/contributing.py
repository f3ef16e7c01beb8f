#!/usr/bin/python3
"""CONTRIBUTING.md is true of the source: its files, functions and code exist.

usage: contributing.py [--write FOLDER]

- Every path in inline code with a folder and an ending exists, unless it contains a placeholder in capitals (ID, SUBJECT).
- Every kdr_ and kdri_ name in inline code occurs in the source.
- A code block below `<!-- in: FILE -->` occurs in that file, up to white space.

--write makes C files of the code that is not in the source, so that tests/CMakeLists.txt can compile and test it: a block below
`<!-- file: PATH -->` (new files), and the one below `<!-- branch of: FUNCTION -->`. It also writes methods/algorithms.def with
the new method."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^ *<!-- (in|file|branch of): (\S+) -->\n( *)```c\n(.*?)^ *```$", re.S | re.M)
ADVICE = """/* A branch of kdri_guard_advice from CONTRIBUTING.md. */
#include <stdio.h>

#include "engine/ensemble/poll.h"

void sample_advice(const kdri_guard *g, int64_t n, const char *name, char *out, size_t room);
void sample_advice(const kdri_guard *g, int64_t n, const char *name, char *out, size_t room)
{
	if (n == 0)
		out[0] = '\\0';
%s}
"""


def blocks():
    """(kind, name, code) of the marked blocks of CONTRIBUTING.md."""
    for kind, name, indent, code in BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        yield kind, name, "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    methods = (ROOT / "src/methods/algorithms.def").read_text()
    for kind, name, code in blocks():
        if kind == "file":
            (folder / pathlib.Path(name).name).write_text(code)
        if kind == "file" and name.startswith("src/methods/"):
            methods += "KDR_ALGORITHM(%s)\n" % pathlib.Path(name).stem
        if kind == "branch of":
            (folder / "advice.c").write_text(ADVICE % code)
    (folder / "methods").mkdir(exist_ok=True)
    (folder / "methods/algorithms.def").write_text(methods)


def flat(text):
    return "".join(text.split())


def main():
    if sys.argv[1:2] == ["--write"]:
        write(pathlib.Path(sys.argv[2]))
        return 0
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = "".join(path.read_text(encoding="utf-8") for folder in ("include", "src") for path in sorted((ROOT / folder).rglob("*.[ch]")))
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.S | re.M))
    new = {name for kind, name, _ in blocks() if kind == "file"}
    wrong, paths, names, found = [], 0, 0, 0
    for code in inline:
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)+", code) and not re.search(r"\b[A-Z]{2,}\b|_ID\b", code) and code not in new:
            paths += 1
            if not (ROOT / code).exists() and not code.startswith("build/"):
                wrong.append("%s does not exist" % code)
        elif re.fullmatch(r"(?:kdri?|KDRI?)_\w*[a-zA-Z]", code) and not code.endswith("_ID"):
            names += 1
            if not re.search(r"\b%s\b" % code, source):
                wrong.append("%s is not in the source" % code)
    for kind, name, code in blocks():
        if kind == "in":
            found += 1
            if flat(code) not in flat((ROOT / name).read_text(encoding="utf-8")):
                wrong.append("%s does not contain:\n%s" % (name, code))
        elif kind == "branch of":
            if not re.search(r"\b%s\b" % name, source):
                wrong.append("%s is not in the source" % name)
    for line in wrong:
        print("CONTRIBUTING.md: " + line)
    print("%d paths, %d names, %d pieces of the source, %d wrong" % (paths, names, found, len(wrong)))
    return 1 if wrong or not (paths and names and found) else 0


if __name__ == "__main__":
    sys.exit(main())
