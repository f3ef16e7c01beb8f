#!/usr/bin/python3
"""The tables of docs/transfer.md and docs/through-a-bridge.md from files of results. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_docs.py [--take FOLDER NAME] [--check] [--print NAME]

Every table between `<!-- table NAME -->` and `<!-- end -->` is written from bench/results; --check: only whether the pages are what the files give.
Which files, and what makes them:
  800, all              transfer-auto/NAME.csv: `kindred bench transfer-auto -o FOLDER` (all: with --sample 1000000), then --take FOLDER NAME, which puts
                        the accuracies of FOLDER's rows there: table, row, one column a draw. Tasks that lack a row are left out and counted.
  peers, confidence, calibration, shift, dirichlet, absent
                        transfer-auto/{plain,shift,dirichlet,absent}.csv: bench/transfer_table.py --csv NAME (plain: --peers, three draws)
  landmarks             transfer-auto/landmarks.csv: bench/transfer_landmarks.py, all samples, one draw
  splits-each, splits-together, sweeps, bridges
                        bridges/splits.csv: bench/ttl_tables.py --seeds 40, without and with --together; bridges/sweeps.csv: bench/ttl_sweeps.py;
                        papers/bridges.json: bench/bridges.py"""

import argparse
import csv
import json
import pathlib
import re
import sys

import bridge_docs
import transfer_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "transfer-auto"
PAGES = [ROOT / "docs" / "transfer.md", ROOT / "docs" / "through-a-bridge.md"]
PLAN = ROOT / "cli" / "plans" / "transfer-auto.json"
SHORT = {"member: svm": "svm, own cost", "member: logistic regression": "logreg, cost 1", "member: self-training": "self-training", "member: self-training, shifted": "shifted",
         "member: self-training, aligned": "aligned", "member: aligned ridge": "ridge", "member: k-means from the classes": "k-means",
         "member: prototypes by transport": "prototypes", "member: tri-factorisation": "tri-fact.", "member: denoised features": "denoised"}
TOGETHER = {"20NG rec - talk": "20NG, 2 classes", "20NG comp - sci": "20NG, 2 classes", "20NG of 3 classes": "20NG, 3-4 classes",
            "20NG of 4 classes": "20NG, 3-4 classes"}


def plan():
    """Titles of tables and their collections, in order; names of rows."""
    p = json.loads(PLAN.read_text())
    groups = {}
    for t in p["tables"]:
        if "pairs" not in t:
            groups[t["title"]] = t["group"]
            continue
        names = [f["name"] for f in t["pairs"]]
        group = TOGETHER.get(t["title"], t["title"])
        for a in names:
            for b in names:
                if a != b:
                    groups["%s: %s to %s" % (t["title"], a, b)] = group
        for b in names if len(names) > 2 else []:
            groups["%s: all others to %s" % (t["title"], b)] = group + ", all sources"
    return groups, [r.get("name", r["method"]) for r in p["rows"]], p["summary"]


def take(folder, name):
    """The rows' files into one."""
    rows = []
    for path in sorted((pathlib.Path(folder) / "transfer-auto").glob("*/*.json")):
        one = json.loads(path.read_text())
        accuracies = one["lines"][0]["scores"]["acc"][0]  # of the one task that is labelled
        rows.append([one["table"], one["row"]] + ["" if a is None else "%.6f" % a for a in accuracies])
    RESULTS.mkdir(parents=True, exist_ok=True)
    with open(RESULTS / (name + ".csv"), "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([["table", "row", "draws"]] + sorted(rows))
    print("%d rows" % len(rows))


def means(name):
    """{table: {row: mean over draws}} of tables that have every row; how many tables are not whole; most draws."""
    groups, names, _ = plan()
    found, draws = {}, 0
    with open(RESULTS / (name + ".csv"), newline="") as f:
        for table, row, *values in list(csv.reader(f))[1:]:
            values = [float(v) for v in values if v]
            draws = max(draws, len(values))
            if values:
                found.setdefault(table, {})[row] = sum(values) / len(values)
    whole = {t: found[t] for t in groups if t in found and all(r in found[t] for r in names)}
    return whole, len(groups) - len(whole), draws


def lines(name):
    """The table, a line for each collection and one for all that are as they came (no drawn shares, no halves of one set)."""
    groups, names, summary = plan()
    whole, missing, draws = means(name)
    titles = [SHORT.get(n, n) for n in names]
    out = ["| collection | tasks | %s | worst against %s |" % (" | ".join(titles), " | against ".join(summary["against"])),
           "|---|---:|" + "---:|" * (len(names) + len(summary["against"]))]
    special = {g for t, g in groups.items() if ":" not in t or g in ("no shift", "few labels, no shift", "shares that moved")}
    order = list(dict.fromkeys(groups.values()))
    for group in [g for g in order if g not in special] + ["all of these"] + [g for g in order if g in special]:
        tables = [t for t in whole if groups[t] == group or (group == "all of these" and groups[t] not in special)]
        if not tables:
            continue
        cells = ["%.3f" % (sum(whole[t][n] for t in tables) / len(tables)) for n in names]
        cells = ["**%s**" % c if n == summary["row"] else c for c, n in zip(cells, names)]
        worst = ["%+.3f" % min(whole[t][summary["row"]] - whole[t][a] for t in tables) for a in summary["against"]]
        out.append("| %s | %d | %s |" % (group, len(tables), " | ".join(cells + worst).replace("0.", ".")))
    note = "(%d tasks, %s%s)" % (len(whole), "one draw" if draws == 1 else "mean of %d draws" % draws,
                                  "; %d task%s of the preset %s not run" % (missing, *(("", "was") if missing == 1 else ("s", "were"))) if missing else "")
    return out + ["", note]


def landmarks(name):
    """Neighbours beside so many landmarks, a line for each collection; the worst task of the first of these numbers."""
    groups, _, _ = plan()
    found, names = {}, []
    with open(RESULTS / (name + ".csv"), newline="") as f:
        for table, row, *values in list(csv.reader(f))[1:]:
            values = [float(v) for v in values if not v.endswith("s")]  # then the seconds
            found.setdefault(table, {})[row] = sum(values) / len(values)
            names += [row] if row not in names else []
    whole = {t: found[t] for t in groups if len(found.get(t, {})) == len(names)}
    out = ["| collection | tasks | neighbours | %s landmarks | worst | best |" % " | ".join(names[1:]), "|---|---:|" + "---:|" * (len(names) + 2)]
    for group in list(dict.fromkeys(groups.values())) + ["all"]:
        tables = [t for t in whole if group in (groups[t], "all")]
        if not tables:
            continue
        apart = [whole[t][names[1]] - whole[t][names[0]] for t in tables]
        cells = ["%.3f" % (sum(whole[t][n] for t in tables) / len(tables)) for n in names] + ["%+.3f" % min(apart), "%+.3f" % max(apart)]
        out.append("| %s | %d | %s |" % (group, len(tables), " | ".join(cells).replace("0.", ".")))
    return out + ["", "(worst and best: %s landmarks less neighbours, single tasks%s)" % (
        names[1], "" if len(whole) == len(groups) else "; %d tasks of the preset were not run" % (len(groups) - len(whole)))]


MAKERS = {"landmarks": landmarks, "800": lines, "all": lines, "shift": transfer_runs.shifted, "dirichlet": transfer_runs.shifted, "absent": transfer_runs.absent,
          "peers": lambda _: transfer_runs.peers("plain"), "confidence": lambda _: transfer_runs.confidence("plain"),
          "calibration": lambda _: transfer_runs.calibration("plain"), "splits-each": bridge_docs.splits, "splits-together": bridge_docs.splits,
          "sweeps": bridge_docs.sweeps, "bridges": bridge_docs.bridges}


def filled(text):
    """A page with its tables as the files have them."""
    def fill(match):
        return "%s\n%s\n<!-- end -->" % (match.group(1), "\n".join(MAKERS[match.group(2)](match.group(2))))

    return re.sub(r"(<!-- table (\S+) -->)\n.*?<!-- end -->", fill, text, flags=re.S)


def loose(text):
    """First lines of tables with accuracies that no file gives, and that do not say so (`<!-- by hand: ... -->`)."""
    rest = re.sub(r"<!-- table \S+ -->\n.*?<!-- end -->|<!-- by hand: [^>]*-->\n\|.*?\n\n", "", text, flags=re.S)
    return [t.split("\n")[0] for t in re.findall(r"(?:^\|.*\n)+", rest, flags=re.M) if re.search(r"\|\s*[-+*]*\d*\.\d", t)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--take", nargs=2, metavar=("FOLDER", "NAME"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", metavar="NAME")
    args = parser.parse_args()
    if args.take:
        take(*args.take)
    if args.print:
        print("\n".join(MAKERS[args.print](args.print)))
        return
    for page in PAGES:
        text = page.read_text()
        if args.check and filled(text) != text:
            sys.exit("%s is not what bench/results gives: run bench/transfer_docs.py" % page)
        page.write_text(filled(text))


if __name__ == "__main__":
    main()
