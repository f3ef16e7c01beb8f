"""docs/scale.md: its tables of estimates are what the committed results give, and a table of made-up results is what it should be."""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import estimates as e  # noqa: E402


def row(kind, n, seconds, told, peak, bytes_told, status=0):
    return dict(zip(e.HEAD, ["report", kind, "kmeans", n, 30, 8, status, seconds, told, peak, bytes_told]))


def test_made_up():
    kept = e.RESULTS
    with tempfile.TemporaryDirectory() as folder:
        e.RESULTS = pathlib.Path(folder)
        rows = [row("dense", 4000, 2, 1, 100, 201), row("dense", 2000, 1, 0.49, 100, 150), row("sparse", 2000, "", "", "", "", -9)]
        e.put(e.RESULTS / "estimates-toy.csv", [{**r, "set": "choose"} for r in rows] + rows, "w")
        lines = e.lines("toy", "report")
        e.RESULTS = kept
    assert lines[2] == "| `kmeans` | 2,000 to 4,000 | **0.49** 0.50 | 1.50 **2.01** |  |  |  |", lines[2]
    assert lines[-1] == "Within a factor of two: time in 1 of 2 runs, memory in 1 of 2; 6 runs are missing.", lines[-1]


def test_plan_has_every_method_at_four_sizes_that_differ_between_sets():
    runs = {which: list(e.plan({"kmeans": {}, "svm": {}}, which, None, ["dense", "sparse"])) for which in e.SETS}
    for which in e.SETS:
        for job in ("kmeans", "svm"):
            assert len({n for kind, j, n in runs[which] if j == job and kind == "dense"}) == 4
    assert not set(runs["choose"]) & set(runs["report"])


def test_committed_page():
    assert e.page() == e.PAGE.read_text(encoding="utf-8"), "run bench/estimates.py write"


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name, "ok")
