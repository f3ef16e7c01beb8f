#!/usr/bin/python3
"""Includes only go down. What a folder may include is in the table below; docs/architecture.md draws it.

A family of methods, a folder of src/methods, includes no other family. Rooms, the folders of src/jobs, are in the second table. The program sees public headers alone. And
whatever the table allows, no folder reaches itself by way of others, and no file: x.c and x.h are one file."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# `method` is api/method.h: what a method sees of its caller. `def` is the list of methods, methods/algorithms.def.
BASE = {"core", "comm", "matrix"}
ENGINE = BASE | {"engine", "method"}
LIBRARY = BASE | {"api", "engine", "io", "method", "prepare", "text"}
ALLOWED = {
    "core": set(),
    "comm": {"core"},
    "matrix": {"core", "comm"},
    "io": {"core"},
    "prepare": BASE,
    "text": {"core", "io"},
    "method": {"core"},
    "engine": ENGINE,
    "methods/common": ENGINE,
    "methods": ENGINE | {"methods/common"},
    "api": BASE | {"engine", "io", "prepare", "method", "def"},
    "jobs": LIBRARY,
}
# The rooms of src/jobs: each may include what `jobs` may, the files of src/jobs itself, and these rooms.
ROOMS = {
    "generate": set(),
    "relate": set(),
    "say": set(),
    "model": {"say"},
    "write": {"say"},
    "report": {"say", "write"},
    "edit": {"report", "say", "write"},
    "transfer": {"model", "relate", "say"},
    "together": {"model", "say", "transfer"},
}
for room, others in ROOMS.items():
    ALLOWED["jobs/" + room] = LIBRARY | {"jobs"} | {"jobs/" + other for other in others}
# Headers of sources that are compiled into the program in addition to the library: they include nothing of it.
SHARED = {"core/json_read.h", "core/json_write.h", "core/stages.h", "core/system.h", "core/utf8.h", "core/words.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def place(path):
    """The row of a file of src/, and the folder it is in: one folder for each engine and each family."""
    parts = path.split("/")
    if path == "api/method.h":
        return "method", "method"
    if path == "methods/algorithms.def":
        return "def", "def"
    if parts[0] == "engine":
        return "engine", "/".join(parts[:-1])
    if parts[0] == "methods" and len(parts) > 2:
        return ("methods/common" if parts[1] == "common" else "methods"), "/".join(parts[:-1])
    if parts[0] == "jobs" and len(parts) > 2:
        return "jobs/" + parts[1], "jobs/" + parts[1]
    return parts[0], path if parts[0] == "methods" else parts[0]


def check_library(wrong):
    """The arrows between folders, and those between files."""
    arrows, files = {}, {}
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        name = str(path.relative_to(ROOT / "src"))
        row, folder = place(name)
        if row not in ALLOWED:
            wrong.append("src/%s: the folder '%s' is not in the table" % (name, row))
            continue
        for include in INCLUDE.findall(path.read_text()):
            if include.startswith("kindred/"):
                continue
            if (path.parent / include).is_file() and "/" not in include:
                continue
            if name[:-2] != include[:-2]:
                files.setdefault(name[:-2], set()).add(include[:-2])
            if not (ROOT / "src" / include).is_file():
                wrong.append("src/%s includes \"%s\": not a path from src/" % (name, include))
                continue
            to, target = place(include)
            if target == folder:
                continue
            arrows.setdefault(folder, set()).add(target)
            if to == "methods" and row == "methods":
                wrong.append("src/%s includes %s: no family includes another's headers" % (name, include))
            elif to not in ALLOWED[row]:
                wrong.append("src/%s includes %s: %s may include %s" %
                             (name, include, row, ", ".join(sorted(ALLOWED[row])) or "nothing"))
    return arrows, files


def find_circle(arrows):
    """Folders or files that include each other in a circle, or None."""
    done, path = set(), []

    def walk(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for other in sorted(arrows.get(folder, ())):
            circle = walk(other)
            if circle:
                return circle
        path.pop()
        done.add(folder)
        return None

    for folder in sorted(arrows):
        circle = walk(folder)
        if circle:
            return circle
    return None


def check_outside(wrong):
    """The program, the examples and the public headers see public headers, and their neighbours."""
    for folder in ("cli", "examples", "include/kindred"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for include in INCLUDE.findall(path.read_text()):
                if folder == "cli" and include in SHARED:
                    continue
                if not include.startswith("kindred/") and not (path.parent / include).is_file():
                    wrong.append("%s includes %s: public headers alone" % (path.relative_to(ROOT), include))


def main():
    wrong = []
    arrows, files = check_library(wrong)
    for circle in filter(None, map(find_circle, (arrows, files))):
        wrong.append("a circle: " + " -> ".join(circle))
    check_outside(wrong)
    for line in wrong:
        print(line)
    print("%d arrows between folders, %d wrong" % (sum(map(len, arrows.values())), len(wrong)))
    return 1 if wrong or not arrows else 0


if __name__ == "__main__":
    sys.exit(main())
