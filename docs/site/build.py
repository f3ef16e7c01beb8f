#!/usr/bin/env python3
"""Builds the documentation site. SPDX-License-Identifier: BSD-3-Clause

Usage: build.py BUILD OUT, with the Python of BUILD/venv (tools/python.sh makes it) and the program of BUILD.
Collects the pages in OUT-work: the guides of docs/, the Python reference, the C reference (headers.py) and a gallery of reports, which
the program makes from generated data. Then runs Sphinx on them, with warnings as errors.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kindred
from headers import Reference

ROOT = Path(__file__).resolve().parents[2]
# Guides in the order of the menu; pages of docs/ that are not listed here follow by name.
GUIDES = ["index", "install", "concepts", "auto", "transfer", "tables", "text", "data", "formats", "results", "report", "python", "scale", "gpu"]
PROJECT = ["architecture", "dependencies", "model-file", "bench", "reproduction"]  # these are in the menu of the project
HEADERS = ["kindred", "context", "status", "data", "text", "job", "fit", "algorithm", "result", "model", "report", "metrics", "generate", "embed",
           "inspect", "bridge", "matrix", "mpi", "version", "export"]
FUNCTIONS = {
    "Jobs": ["cluster", "transfer", "relate", "embed", "evaluate", "prepare", "relabel", "report"],
    "Reading and writing": ["read", "write", "convert", "inspect", "vectorize", "generate", "load_model"],
    "AnnData": ["cluster_anndata", "transfer_anndata", "write_h5ad"],
    "Methods and devices": ["methods", "devices", "set_device", "set_max_unpacked"],
}
CLASSES = ["Data", "Result", "Model", "Report"]
ERRORS = ["NumericError", "UnsupportedError", "ConvergenceWarning", "KindredWarning"]
LINK = re.compile(r"(!?)\[([^\]\n]*)\]\(([^)\s]+)\)")


def heading(title, mark="="):
    return f"{title}\n{mark * len(title)}\n\n"


def menu(caption, pages):
    entries = "".join(f"   {page}\n" for page in pages)
    return f".. toctree::\n   :hidden:\n   :caption: {caption}\n\n{entries}\n"


def listed(pages, depth=1):
    entries = "".join(f"   {page}\n" for page in pages)
    return f".. toctree::\n   :maxdepth: {depth}\n\n{entries}\n"


def with_links(text, page, pages, source):
    """Markdown whose links work on the site: files of the project are copied, and links to folders and to other pages removed."""
    def link(m):
        target, _, anchor = m[3].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return m[0]
        path = Path(os.path.normpath(page.parent / target))
        if path in pages or not (ROOT / path).exists():
            return m[0]
        if (ROOT / path).is_dir() or path.suffix == ".md":
            return m[2]
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
        return m[0]
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def guides(source):
    """Copies the guides, the pages of the methods, the notes and the pages about the project. Returns the names of the pages of each group."""
    docs, notes, methods = (sorted((ROOT / folder).glob("*.md")) for folder in ("docs", "docs/notes", "docs/methods"))
    others = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    docs.sort(key=lambda path: GUIDES.index(path.stem) if path.stem in GUIDES else len(GUIDES))
    pages = {path.relative_to(ROOT) for path in [*docs, *notes, *methods, *others]}
    for page in pages:
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        (source / page).write_text(with_links((ROOT / page).read_text(), page, pages, source))
    others[1:1] = [path for path in docs if path.stem in PROJECT]
    docs = [path for path in docs if path.stem not in PROJECT]
    return [[str(path.relative_to(ROOT).with_suffix("")) for path in group] for group in (docs, methods, notes, others)]


def python_reference(source):
    folder = source / "python"
    folder.mkdir()
    here = ".. currentmodule:: kindred\n\n"
    for number, (title, names) in enumerate(FUNCTIONS.items()):
        (folder / f"functions{number + 1}.rst").write_text(
            heading(title) + here + "".join(f".. autofunction:: kindred.{name}\n\n" for name in names))
    (folder / "classes.rst").write_text(
        heading("Classes") + here + "".join(f".. autoclass:: kindred.{name}()\n   :members:\n\n" for name in CLASSES))
    (folder / "errors.rst").write_text(
        heading("Exceptions and warnings") + here + "".join(f".. autoclass:: kindred.{name}()\n\n" for name in ERRORS))
    (folder / "plot.rst").write_text(
        heading("Pictures") + "The module ``kindred.plot`` needs matplotlib.\n\n.. currentmodule:: kindred\n\n"
        + "".join(f".. autofunction:: kindred.plot.{name}\n\n" for name in ("map", "clusters")))
    entries = [entry for entry in kindred.methods() if entry["family"] != "features"]
    text = heading("Estimators") + (
        "Every method is an estimator in the style of scikit-learn. The name in the second column is the name of the method for\n"
        ":func:`kindred.cluster`, :func:`kindred.transfer` and the program.\n\n")
    for family, title in (("cluster", "Clustering"), ("transfer", "Transfer")):
        text += heading(title, "-") + ".. list-table::\n   :header-rows: 1\n   :widths: 20 20 60\n\n   * - Estimator\n     - Method\n     - Description\n"
        for entry in entries:
            if entry["family"] == family:
                text += f"   * - :class:`kindred.{entry['class']}`\n     - ``{entry['id']}``\n     - {entry['title'][:1].upper()}{entry['title'][1:]}\n"
        text += "\n"
    (folder / "estimators.rst").write_text(text + ".. toctree::\n   :hidden:\n\n" + "".join(f"   {e['class']}\n" for e in entries))
    for entry in entries:
        name, methods = entry["class"], []
        for member in ("fit", "fit_predict", "predict", "predict_proba", "transform", "fit_transform", "score"):
            value = getattr(getattr(kindred, name), member, None)
            if value is not None and value.__module__.startswith("kindred"):
                methods.append(f"   .. automethod:: kindred.{name}.{member}\n")
        (folder / f"{name}.rst").write_text(
            heading(name) + here + f".. autoclass:: kindred.{name}\n\n" + "\n".join(methods))
    (folder / "index.rst").write_text(
        heading("Python reference") + "The package ``kindred`` has functions for the jobs of the program and an estimator for every method. "
        "The guide :doc:`/docs/python` introduces it.\n\n"
        + listed([f"functions{i + 1}" for i in range(len(FUNCTIONS))] + ["classes", "estimators", "plot", "errors"], 2))


def c_reference(source):
    folder, reference = source / "c", Reference(ROOT / "include" / "kindred")
    folder.mkdir()
    missing = set(reference.texts) ^ {f"{name}.h" for name in HEADERS}
    if missing:
        sys.exit(f"HEADERS in build.py and include/kindred differ: {', '.join(sorted(missing))}")
    for name in HEADERS:
        (folder / f"{name}.rst").write_text(reference.page(f"{name}.h"))
    (folder / "index.rst").write_text(
        heading("C reference") + "The library is ``libkindred``; ``kindred/kindred.h`` includes all headers except ``kindred/mpi.h``. "
        "``examples/cluster.c`` is a minimal program:\n\n.. literalinclude:: cluster.c\n   :language: c\n\n" + listed(HEADERS))
    shutil.copy(ROOT / "examples" / "cluster.c", folder)


# Title, text, and the commands that make the report.
GALLERY = [
    ("texts", "Clusters of texts", "Word counts of two collections of documents with four common topics. Each cluster is described by the "
     "words that set it apart, and clusters of the two collections are matched.",
     ["kindred generate --design topics --tasks 2 -k 4 -n 200 --purity 0.6 -o texts",
      "kindred cluster -k 4 --report -o texts-out texts/task1.mtx texts/task2.mtx"]),
    ("tables", "Segments of tables", "Two tables with numbers in different units, categories, dates and missing values. They have three "
     "common segments, and each has a column of its own.",
     ["kindred generate --design tables --tasks 2 -k 3 -n 300 -o tables",
      "kindred cluster -k 3 --report -o tables-out tables/task1.csv tables/task2.csv"]),
    ("transfer", "Labels from another data set", "The classes of the first data set are known. kindred labels the second one, and reports how "
     "certain each label is.",
     ["kindred generate --tasks 2 -k 4 -d 6 -n 300 --shift 1 -o transfer",
      "kindred transfer --source transfer/task1.csv --labels transfer/task1.labels --target transfer/task2.csv --report -o transfer-out"]),
]


def gallery(source, program, work):
    """Runs the commands of the gallery and shows their reports."""
    folder = source / "extra" / "reports"
    folder.mkdir(parents=True)
    text = "# Gallery of reports\n\nA report is one self-contained HTML page that `--report` writes. These are made from generated data.\n\n"
    work.mkdir()
    for name, title, words, commands in GALLERY:
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=work, env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
                                  capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{command}\n{done.stderr}")
        shutil.copy(work / f"{name}-out" / "report.html", folder / f"{name}.html")
        shown = "\n".join(f"$ {command}" for command in commands)
        text += (f"## {title}\n\n{words}\n\n```console\n{shown}\n```\n\n"
                 f"<p><a href=\"reports/{name}.html\">Open this report on a page of its own.</a></p>\n"
                 f"<iframe class=\"report\" src=\"reports/{name}.html\" title=\"{title}\" loading=\"lazy\"></iframe>\n\n")
    (source / "gallery.md").write_text(text)


def main(build, out):
    work = out.with_name(out.name + "-work")
    source = work / "source"
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "site" / "static", source / "static")
    shutil.copy(ROOT / "docs" / "site" / "conf.py", source)
    docs, methods, notes, others = guides(source)
    python_reference(source)
    c_reference(source)
    gallery(source, build / "cli" / "kindred", work / "gallery")
    front = (ROOT / "docs" / "site" / "front.rst").read_text()
    (source / "index.rst").write_text(front + "\n" + menu("Guides", docs) + menu("Reference", ["python/index", "c/index", "gallery"])
                                      + menu("Methods", methods) + menu("Notes", notes) + menu("Project", others))
    return subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-d", str(work / "cache"), str(source), str(out)]).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: build.py BUILD OUT")
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
