"""docs/transfer.md and docs/through-a-bridge.md: their tables are what the committed results give, and tables of made-up results are what they should be."""

import json
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import bridge_docs as bd  # noqa: E402
import transfer_docs as td  # noqa: E402
import transfer_runs as runs  # noqa: E402


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


def test_landmarks():
    """Means of tasks that have every graph; the worst and the best of the first number of landmarks."""
    kept = td.RESULTS
    with tempfile.TemporaryDirectory() as folder:
        td.RESULTS = pathlib.Path(folder)
        (td.RESULTS / "few.csv").write_text("table,row,draws\nla12: la1 to la2,neighbours,.5,2s\nla12: la1 to la2,2000,.75,1s\n"
                                            "la12: la2 to la1,neighbours,1,2s\nla12: la2 to la1,2000,.875,1s\nwebkb: cornell to texas,neighbours,1,1s\n")
        lines = td.landmarks("few")
        td.RESULTS = kept
    assert lines[2] == "| la12 | 2 | .750 | .812 | -.125 | +.250 |" and lines[3].startswith("| all | 2 |"), lines
    assert lines[-1].endswith("62 tasks of the preset were not run)"), lines[-1]


def test_tables_of_runs():
    """Means over draws, then tasks; bins of confidence; classes that are named."""
    kept = runs.RESULTS
    with tempfile.TemporaryDirectory() as folder:
        runs.RESULTS = pathlib.Path(folder)
        (runs.RESULTS / "plain.csv").write_text(
            "collection,data,sources,target,draw,auto,sk-logreg,sk-selftrain,ot-sinkhorn,ot-emd\n"
            "a,d,x,y,0,.5,.25,.5,.1,.9\na,d,x,y,1,.75,.25,.5,.1,.9\nb,d,x,y,0,1,0,.5,.1,.9\n")
        peers = runs.peers("plain")
        (runs.RESULTS / "plain-confidence.csv").write_text(
            "collection,data,sources,target,draw,confidence,samples,right\na,d,x,y,0,.95,10,9\na,d,x,y,0,.85,5,4\na,d,x,y,0,.31,5,0\n")
        confidence = runs.confidence("plain")[-1]
        (runs.RESULTS / "absent.csv").write_text(
            "collection,data,sources,target,draw,classes,lacks,named\na,d,x,y,0,3,-1,\na,d,x,y,0_a1,3,2,2+0\na,d,z,y,0_a1,3,1,0\n")
        absent = runs.absent("absent")
        runs.RESULTS = kept
    assert peers[2] == "| a | 1 | .250 | .500 | .100 | .900 | **.625** |", peers[2]
    assert peers[-1] == "| auto is ahead | | 2 of 2 | 2 of 2 | 2 of 2 | 1 of 2 | |", peers[-1]
    assert confidence == "(20 samples; calibration error .115; the surer half is right in .900, all in .650)", confidence
    assert absent[2] == "| a | 3 | 1 of 2 | 2 of 4 | 0 of 3 |", absent[2]


def test_mending_finds_what_is_there():
    """Confidence that is too high by a known amount everywhere is mended from other collections."""
    tasks = [{"collection": name, "sure": sure, "count": 1000 + 0 * sure, "right": 1000 * sure / (sure + np.e * (1 - sure)), "known": {}}
             for name in "ab" for sure in [np.linspace(.1, .9, 9)]]
    for task, p in zip(tasks, runs.mended(tasks, [])):
        assert np.abs(p - task["right"] / 1000).max() < 1e-5, p


def test_bridge_rules():
    one = {"a_source_bridge": 1, "a_bridge_target": 1.5, "back": .9, "acc": .8}
    lines = bd.rules({"webkb4 a b": [one, dict(one, back=.5, acc=.9, a_bridge_target=1.2)]})
    assert lines[2] == "| universities | 1 | 2 | .800 | .900 | .850 | .100 | .000 | .100 | .000 | 0 | 1 |", lines[2]


def test_committed_pages():
    for page in td.PAGES:
        text = page.read_text()
        assert td.filled(text) == text, "%s: run bench/transfer_docs.py" % page
        assert not td.loose(text), "%s: from which file is the table %s" % (page, td.loose(text))
    assert td.loose("| a |\n|---|\n| .25 |\n") == ["| a |"] and not td.loose("<!-- by hand: so -->\n| a |\n|---|\n| .25 |\n\n")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name, "ok")
