#!/usr/bin/python3
"""Writes docs/methods, one page per method, from the registry. SPDX-License-Identifier: BSD-3-Clause

usage: tools/method_pages.py PROGRAM [--check]

PROGRAM is kindred. With --check, only reports pages that are not up to date; the exit status is then 1."""
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs" / "methods"


def main():
    check, (program,) = "--check" in sys.argv, [a for a in sys.argv[1:] if a != "--check"]
    run = lambda *words: subprocess.run([program, "methods", *words], capture_output=True, text=True, check=True).stdout
    pages = {FOLDER / f"{m['id']}.md": run(m["id"], "--markdown") for m in json.loads(run("--json"))}
    wrong = [p for p, text in pages.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    extra = [p for p in FOLDER.glob("*.md") if p not in pages]
    for path in wrong if not check else []:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(pages[path], encoding="utf-8")
    for path in extra if not check else []:
        path.unlink()
    for path in (wrong + extra) if check else []:
        print(f"{path.relative_to(FOLDER.parents[1])} is not up to date: run tools/method_pages.py")
    print(f"{len(pages)} pages, {len(wrong) + len(extra)} {'wrong' if check else 'changed'}")
    return 1 if check and wrong + extra else 0


if __name__ == "__main__":
    sys.exit(main())
