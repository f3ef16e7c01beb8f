#!/usr/bin/python3
"""Links and pictures of the documentation: every relative link of README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ points to
a file of the project and, if it has an anchor, to a heading; drawn pictures are what tools/pictures.py draws; the screenshot
of the report is small."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import pictures  # noqa: E402

LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path):
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", lambda m: m[0].strip("`"), text)


def anchors(path):
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.M)
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def main():
    wrong, count = [], 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in LINK.findall(prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            count += 1
            if not path.exists():
                wrong.append("%s: %s does not exist" % (page.relative_to(ROOT), target))
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                wrong.append("%s: %s: no such heading" % (page.relative_to(ROOT), target))
    for path, text in pictures.drawn().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append("%s is out of date: run tools/pictures.py" % path.relative_to(ROOT))
    if (pictures.FOLDER / "report.png").stat().st_size >= 200_000:
        wrong.append("docs/pictures/report.png has 200 kB or more")
    for line in wrong:
        print(line)
    print("%d links, %d pictures, %d wrong" % (count, len(pictures.PICTURES), len(wrong)))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
