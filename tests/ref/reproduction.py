"""docs/reproduction.md: significance by a known example, the page by made-up results, and that the page is what the committed results give."""

import json
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
try:
    import significance
except ImportError:
    print("skipped: SciPy is not installed")
    sys.exit(77)
import reproduction  # noqa: E402
import svg  # noqa: E402


def near(a, b, tolerance):
    assert abs(a - b) <= tolerance, (a, b)


def test_example():
    """Demsar 2006, section 3.2: four variants of C4.5 on 14 data sets; his mean ranks, and what he has from them."""
    chi2, f, p = significance.friedman([3.143, 2.000, 2.893, 1.964], 14)
    near(chi2, 9.28, .01)
    near(f, 3.69, .01)
    assert .01 < p < .05
    near(significance.critical_difference(4, 14), 1.25, .005)
    near(significance.critical_difference(2, 30), 1.960 * (2 * 3 / (6 * 30)) ** .5, 1e-3)


def test_ranks():
    assert significance.mean_ranks([[3, 2, 1], [3, 3, 1], [1, 2, 3]]) == [(1 + 1.5 + 3) / 3, (2 + 1.5 + 2) / 3, (3 + 3 + 1) / 3]
    scores = [[(7 * i * i + 3 * m * i + m) % 29 + m / 10 for m in range(4)] for i in range(9)]  # no ties
    chi2 = significance.friedman(significance.mean_ranks(scores), 9)[0]
    near(chi2, float(significance.stats.friedmanchisquare(*zip(*scores)).statistic), 1e-9)


def test_holm_and_wilcoxon():
    for ours, want in zip(significance.holm([.01, .04, .03, .005]), (.03, .06, .06, .02)):
        near(ours, want, 1e-12)
    # Six differences of one sign: the smallest two-sided p there is, 2 / 2^6.
    found = significance.against([[i + 2.0 + .1 * i, 1.0 + i, 1.0 + i] for i in range(6)], 0)
    assert [m for m, _, _, _ in found] == [1, 2]
    for _, difference, p, corrected in found:
        near(difference, 1.25, 1e-12)
        near(p, 2 / 64, 1e-12)
        near(corrected, 4 / 64, 1e-12)


def test_figures_are_well_formed():
    for text in (svg.curves("a < b & c", "x", "y", {"one": [(1, .5, .1), (2, .7, 0)], "two": [(1, .4, 0)]}),
                 svg.curves("flat", "x", "y", {"one": [(0, 1, 0)]}), svg.curves("long", "x", "y", {"one": [(i, 1 / (1 + i), 0) for i in range(80)]}),
                 svg.critical("ranks", ["a", "b", "c"], [1.2, 1.9, 2.9], .8)):
        root = xml.fromstring(text)
        width, height = float(root.get("width")), float(root.get("height"))
        for e in root.iter():
            for k, bound in (("x", width), ("x1", width), ("x2", width), ("y", height), ("y1", height), ("y2", height)):
                if e.get(k) is not None:
                    assert 0 <= float(e.get(k)) <= bound, (e.tag, e.attrib)
    near(len(svg.ticks(0, 1)), 6, 2)


def test_page_of_results():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        where = folder / "gz09-webkb4" / "webkb4-raw-counts"
        where.mkdir(parents=True)
        one = [[.5, .7], [.4, .4], [.1, .1], [.2, .2]]
        (where / "k-means.json").write_text(json.dumps({"row": "k-means", "method": "kmeans", "tasks": ["a", "b", "c", "d"], "repeats": 2, "seconds": 60, "lines": [
            {"setting": "", "scores": {"acc": one, "nmi": one}}]}))
        (where / "ncut.json").write_text((where / "k-means.json").read_text())  # of another method: as good as not there
        text, _ = reproduction.page(folder, "figures")
        assert "| NCut | not run (.491)" in text
        row = next(line for line in text.splitlines() if line.startswith("| k-means | **.600**"))
        assert "**.600** ± .141 (.578, +.022)" in row, row
        assert "**.400** ± .000 (.567, -.167)" in row, row
        assert "not run (.594)" in text and "1 of " in text
        assert reproduction.slug("LSSMTC, eps = 0 (the paper's W step)") == "lssmtc-eps-is-0-the-paper-s-w-step"


def test_committed_page():
    text, figures = reproduction.page(ROOT / "bench" / "results" / "papers", "reproduction")
    assert (ROOT / "docs" / "reproduction.md").read_text() == text, "run bench/reproduction.py"
    for name, figure in figures.items():
        assert (ROOT / "docs" / "reproduction" / name).read_text() == figure, name


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name, "ok")
