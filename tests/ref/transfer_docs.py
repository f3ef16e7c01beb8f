"""docs/transfer.md: its tables are what the committed results give, and a table of made-up results is what it should be."""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import transfer_docs as td  # noqa: E402


def test_made_up():
    groups, names, _ = td.plan()
    tables = ["la12: la1 to la2", "la12: la2 to la1"]
    assert all(groups[t] == "la12" for t in tables) and groups["webkb: all others to texas"] == "webkb, all sources"
    kept = td.RESULTS
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        td.RESULTS = folder / "results"
        for t, table in enumerate(tables):
            where = folder / "transfer-auto" / str(t)
            where.mkdir(parents=True)
            for r, name in enumerate(names):
                right = [.5 + t / 10, .7 + t / 10] if name == "svm" else [.75, .25] if name == "logreg" else [.875, None]
                (where / ("%d.json" % r)).write_text(json.dumps({"table": table, "row": name, "lines": [{"scores": {"acc": [right]}}]}))
        (folder / "transfer-auto" / "1" / "0.json").unlink()  # the second table lacks its svm
        td.take(folder, "few")
        lines = td.lines("few")
        td.RESULTS = kept
    row = next(line for line in lines if line.startswith("| la12 | 1 |"))
    assert row.startswith("| la12 | 1 | .600 | .500 | .875 |") and row.endswith("| **.875** | +.275 | +.375 |"), row
    assert lines[-1] == "(1 tasks, mean of 2 draws; %d tasks of the preset were not run)" % (len(groups) - 1), lines[-1]


def test_committed_page():
    assert td.page() == td.PAGE.read_text(), "run bench/transfer_docs.py"


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name, "ok")
