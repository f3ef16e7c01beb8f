#!/usr/bin/env python3
"""Builds the documentation site with warnings as errors, then checks it. SPDX-License-Identifier: BSD-3-Clause

Usage: site.py BUILD. Every link within the site must lead to a page and an anchor that exist, and every public function of C and
name of Python must have an entry. Skipped (77) if Sphinx, numpydoc or MyST is not installed."""
import importlib.util
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(filter(None, (attrs.get("id"), attrs.get("name"))))
        self.links += [attrs[name] for name in ("href", "src") if attrs.get(name) and (tag, name) != ("link", "href")]


def broken(site, pages):
    """Links within the site that lead nowhere."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.exists() or (parts.fragment and known and unquote(parts.fragment) not in known.ids):
                yield f"{path.relative_to(site)}: {link}"


def main(build):
    for name in ("sphinx", "numpydoc", "myst_parser"):
        if importlib.util.find_spec(name) is None:
            print(f"skipped: {name} is not installed")
            return 77
    site, python = build / "site", build / "venv" / "bin" / "python"
    if subprocess.run([python, ROOT / "docs" / "site" / "build.py", build, site]).returncode != 0:
        return 1
    pages = {path: Page(path) for path in site.rglob("*.html") if path.parent.name != "reports"}
    ids = set().union(*(page.ids for page in pages.values()))
    wrong = list(broken(site, pages))
    functions = [f"c.{line.strip()}" for line in (ROOT / "src" / "exports.txt").read_text().splitlines() if line.startswith("kdr_")]
    names = subprocess.run([python, "-c", "import kindred; print(*kindred.__all__)"], capture_output=True, text=True, check=True).stdout.split()
    wrong += [f"no entry for {name}" for name in [*functions, *(f"kindred.{name}" for name in names)] if name not in ids]
    print("\n".join(wrong) or f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(functions) + len(names)} names")
    return 1 if wrong or len(functions) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
