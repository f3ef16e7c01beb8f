#!/usr/bin/python3
"""Writes the tables of the documentation from the result files. SPDX-License-Identifier: BSD-3-Clause

usage: bench/docs.py [--check] [--print NAME]

Writes every table between `<!-- table NAME -->` (or `<!-- NAME -->`) and `<!-- end -->` in README.md, docs/*.md and docs/notes/*.md from
bench/results.csv and bench/results/*.csv, and the complete page docs/notes/reproduction.md with its figures from bench/results/papers*.csv. With
--check it only reports which pages are not up to date. The first line of a result file names the command that wrote it."""

import argparse
import collections
import json
import re
import sys

import auto
import common
import embeddings
import figures
import into
import levels
import numpy as np
import papers
import published
import reproduction
import statements
import together
import transfer
from auto import mean
from figures import markdown, short

DOCS = common.ROOT / "docs"
TABLES = DOCS / "notes" / "reproduction.md"  # generated completely
PAGES = [common.ROOT / "README.md"] + sorted(p for folder in (DOCS, DOCS / "notes") for p in folder.glob("*.md") if p != TABLES)


def rows_of(name):
    return common.read_csv(common.RESULTS / f"{name}.csv")


def groups_of(rows):
    """Collections in the file's order with their rows; `all` at the end."""
    return [(group, [r for r in rows if group in (r["collection"], "all")]) for group in [*dict.fromkeys(r["collection"] for r in rows), "all"]]


# --- README.md and docs/notes/speed.md -----------------------------------------------------------------------------------

# (label, script, case, whether README.md has it)
SPEED = [("k-means, 9298 x 256 dense, k = 10; same start, equally good result", "methods", "k-means, 9298 x 256 dense, k = 10", True),
         ("the same, k = 100", "methods", "k-means, 9298 x 256 dense, k = 100", False),
         ("k-means, 18845 x 59030 sparse, k = 20", "methods", "k-means, 18845 x 59030 sparse, k = 20", False),
         ("sparse matrix (1.7 million entries) times 20 columns", "methods", "XB, 1704184 entries, 20 columns", False),
         ("clustering two data sets of 18845 documents with `mbc`, 40 iterations", "methods", "mbc, 2 x 18845 x 59030, 40 sweeps", False),
         ("clustering three data sets with `mtcfir`, 592 documents in total, 4780 words", "methods", "mtcfir, reuters3, 592 x 4780", False),
         ("clustering four data sets with `mtcfir`, 13400 documents in total, 3000 words", "methods", "mtcfir, 20ng_4task, 13400 x 3000", False),
         ("transfer through a bridge with `ttl`, 8143 documents, 6000 words, 80 iterations", "methods", "ttl, 8143 documents, 6000 words, 80 sweeps", False),
         ("reading CSV, 64 MB", "readers", "CSV, 64 MB", True),
         ("reading Matrix Market, 4 million entries", "readers", "Matrix Market, 4000000 entries", False)]


def duration(text):
    """Two digits, in milliseconds if short."""
    value = float(text)
    return f"{1000 * value:.0f} ms" if value < 0.1 else f"{value:.0f} s" if value >= 10 else f"{value:#.2g} s"


def speed(kind):
    """All cases on both machines, or those of README.md on x86-64."""
    found = {(r["machine"], r["bench"], r["case"]): r for r in common.read_csv(common.ROOT / "bench" / "results.csv")}
    machines, out = ("x86-64", "arm64") if kind == "all" else ("x86-64",), []
    for label, bench, case, brief in SPEED:
        cells = [label]
        for machine in machines:
            r = found[machine, bench, case]
            peer = re.split(r"[ ,]+\d|,", r["peer"])[0]
            ratio, theirs = float(r["ratio"]), duration(r["peer_s"])
            cells += [duration(r["kindred_s"]), f"{peer}, {theirs}" if machine == "x86-64" else theirs, f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"]
        out += [cells] if brief or kind == "all" else []
    head = ["x86-64: kindred", "alternative", "ratio", "arm64: kindred", "alternative", "ratio"] if kind == "all" else ["kindred", "alternative", "ratio"]
    return markdown(["what", *head], out)


# --- docs/notes/transfer.md and docs/notes/transfer.md ----------------------------------------------------------------------------------------------------

MEMBERS = {"svm": "svm, own cost", "logreg": "logreg, cost 1", "self": "self-training", "shifted": "shifted", "aligned": "aligned", "ridge": "ridge",
           "kmeans": "k-means", "proto": "prototypes", "nmtf": "tri-fact.", "msda": "denoised"}
PRESET = {"svm": "svm", "logistic regression": "logreg", "self-training": "self", "self-training, shifted": "shifted", "self-training, aligned": "aligned",
          "aligned ridge": "ridge", "k-means from the classes": "kmeans", "prototypes by transport": "proto", "tri-factorisation": "nmtf", "denoised features": "msda"}
PEERS = {"sk-logreg": "LogisticRegression", "sk-selftrain": "SelfTrainingClassifier", "ot-sinkhorn": "SinkhornTransport", "ot-emd": "EMDTransport"}
KNOWN = {"cv": "accuracy in cross-validation on the source", "distance": "A-distance", "log classes": "number of classes", "moved": "change of the class proportions",
         "differ": "disagreement of the members"}
GROUPS = {"all of these": "all above", "shares that moved": "changed class proportions"}  # how the tables name groups of the preset
TASK = transfer.TASK[:4]


def preset_pairs(rows, names):
    """{pair of the preset: its collection}, {pair: its values by row} of the pairs that have all of these rows, and a note on the others."""
    groups, found = {t: g for t, (g, _) in transfer.preset_tables().items()}, {}
    for table, row, value in rows:
        found.setdefault(table, {})[row] = value
    complete = {t: found[t] for t in groups if all(n in found.get(t, {}) for n in names)}
    missing = len(groups) - len(complete)
    return groups, complete, "; %d of the preset's pairs not run" % missing if missing else ""


def preset(name, only=None):
    """One line per collection of the preset transfer-auto, and one for all unchanged collections (no drawn class proportions, no halves of one data set).
    The columns are the rows of the preset, or those in `only`."""
    plan = json.loads(transfer.PRESET.read_text())
    names, summary = [n for r in plan["rows"] for n in [r.get("name", r["method"])] if not only or n in only], plan["summary"]
    values = [(r["table"], r["row"], [float(v) for c, v in r.items() if c.startswith("draw") and v]) for r in rows_of(f"transfer-{name}")]
    draws = max(len(v) for _, _, v in values)
    groups, complete, note = preset_pairs([(t, row, mean(v)) for t, row, v in values if v], names)
    special = {g for t, g in groups.items() if ":" not in t or g in ("no shift", "few labels, no shift", "shares that moved")}
    order, out = list(dict.fromkeys(groups.values())), []
    for group in [g for g in order if g not in special] + ["all of these"] + [g for g in order if g in special]:
        tables = [t for t in complete if groups[t] == group or (group == "all of these" and groups[t] not in special)]
        if tables:
            cells = ["%.3f" % mean([complete[t][n] for t in tables]) for n in names]
            cells += [short(min(complete[t][summary["row"]] - complete[t][a] for t in tables), True) for a in summary["against"]]
            out.append([GROUPS.get(group, group), len(tables), *cells])
    titles = [MEMBERS[PRESET[n.removeprefix("member: ")]] if n.startswith("member: ") else n for n in names]
    against = " | against ".join(summary["against"])
    return markdown(["collection", "pairs", *titles, *f"worst pair against {against}".split(" | ")], out) + [
        "", "(%d pairs, %s%s)" % (len(complete), "one draw" if draws == 1 else "mean of %d draws" % draws, note)]


def landmarks(name):
    """Neighbours next to numbers of landmarks, a line for each collection; the worst and best task of the first of these numbers."""
    values = [(r["table"], r["row"], float(r["accuracy"])) for r in rows_of(f"transfer-{name}")]
    names, out = list(dict.fromkeys(row for _, row, _ in values)), []
    groups, complete, note = preset_pairs(values, names)
    for group in list(dict.fromkeys(groups.values())) + ["all"]:
        own = [v for t, v in complete.items() if group in (groups[t], "all")]
        if own:
            apart = [v[names[1]] - v[names[0]] for v in own]
            out.append([GROUPS.get(group, group), len(own), *("%.3f" % mean([v[n] for v in own]) for n in names), short(min(apart), True), short(max(apart), True)])
    head = ["collection", "pairs", "neighbours", *names[1:-1], names[-1] + " landmarks", "worst", "best"]
    return markdown(head, out) + ["", f"(worst and best: difference between {names[1]} landmarks and neighbours on a single pair{note})"]


def numeric(name):
    """Runs of a case of bench/transfer.py, numbers as such."""
    return [{k: v if k in transfer.TASK + ["named", "confidence"] else float(v) for k, v in r.items()} for r in rows_of(f"transfer-{name}")]


def by_task(rows, columns):
    """{collection: [mean over the draws of each task]}, in the file's order; `all` at the end."""
    draws, groups = {}, {}
    for r in rows:
        draws.setdefault(tuple(r[t] for t in TASK), []).append(r)
    for task, runs in draws.items():
        groups.setdefault(task[0], []).append({c: np.mean([r[c] for r in runs]) for c in columns})
    groups["all"] = [t for g in groups.values() for t in g]
    return groups


def shifted(name):
    """svm, logreg, members, the vote held once, and auto; the worst task."""
    members = {f"m:{m}": title for m, title in MEMBERS.items() if m not in ("svm", "logreg")}
    columns = {"svm": "svm", "logreg": "logreg", **members, "once": "first vote", "auto": "auto"}
    out = []
    for group, tasks in by_task(numeric(name), columns).items():
        votes = {c: [t[c] for t in tasks if not np.isnan(t[c])] for c in columns}  # of a member: the pairs on which it votes
        cells = [short(mean(v)) if v else "" for v in votes.values()]
        out.append([group, len(tasks), *cells, *(short(min(t["auto"] - t[c] for t in tasks), True) for c in ("svm", "logreg"))])
    return markdown(["collection", "pairs", *columns.values(), "worst pair against svm", "against logreg"], out)


def transfer_peers(_):
    groups = by_task(numeric("plain"), [*PEERS, "auto"])
    out = [[group, len(tasks), *(short(np.mean([t[c] for t in tasks])) for c in PEERS), short(np.mean([t["auto"] for t in tasks]))]
           for group, tasks in groups.items()]
    ahead = ["%d of %d" % (sum(t["auto"] > t[c] for t in groups["all"]), len(groups["all"])) for c in PEERS]
    return markdown(["collection", "pairs", *PEERS.values(), "auto"], out) + ["| auto is better | | %s | |" % " | ".join(ahead)]


def given(_):
    """Accuracy with and without given labels, the gain with its standard error over tasks and draws."""
    out = []
    for group, own in groups_of(numeric("given")):
        gain = np.array([r["with"] - r["without"] for r in own])
        out.append([group, len(own), *(short(mean([r[c] for r in own])) for c in ("without", "with")), short(gain.mean(), True),
                    short(gain.std(ddof=1) / len(gain) ** 0.5), short(gain.min(), True), short(gain.max(), True)])
    return markdown(["collection", "runs", "without", "with", "gain", "standard error of the gain", "worst", "best"], out)


def asked():
    """{collection: {column of transfer-ask.csv: accuracies}}, `all` at the end."""
    return {group: {c: np.array([float(r[c]) for r in own]) for c in own[0] if c not in TASK} for group, own in groups_of(rows_of("transfer-ask"))}


def known_classes(_):
    """NMI on the other samples if the classes of some are known; tables count as one collection for each of their folders."""
    rows, out, groups = rows_of("auto-known"), [], {}
    for r in rows:
        name = "tables" if r["collection"].startswith("tables/") else "generated tables" if r["collection"].startswith("tables_made/") else r["collection"]
        groups.setdefault(name, []).append(r)
    for name, own in [*groups.items(), ("mean of the collections", None)] if rows else []:
        parts = [own] if own else list(groups.values())
        shares = sorted({r["share"] for r in rows}, key=float)
        gains = [mean([mean([float(r["known"]) - float(r["unsupervised"]) for r in p if r["share"] == s]) for p in parts]) for s in shares]
        start = mean([mean([float(r["unsupervised"]) for r in p]) for p in parts])
        tasks = len({(r["collection"], r["task"]) for r in own or rows})
        out.append([name + (" *" if name in auto.CHOSEN_ON else ""), tasks, short(start), *(short(g, True) for g in gains)])
    return markdown(["collection", "data sets", "no class known", *("%g %% known" % (100 * s) for s in auto.SHARES)], out)


def ask(_):
    """Accuracy after rounds of labels for chosen and for random samples; the gain after the last round and its worst task."""
    arms = [f"{arm}{n}" for arm in ("ask", "random") for n in (10, 20, 30)]
    out = [[group, len(a["none"]), "%.3f" % a["none"].mean(), *("%.3f" % a[c].mean() for c in arms),
            *("%+.3f" % (a[f"{arm}30"] - a["none"]).min() for arm in ("ask", "random"))] for group, a in asked().items()]
    return markdown(["collection", "pairs", "no labels", "10 chosen", "20", "30", "10 random", "20", "30", "worst chosen", "worst random"], out)


def ask_figure():
    """Accuracy against labels given, mean over all tasks; bars are the standard error of the gain."""
    a = asked()["all"]
    series = {title: [(n, (a[f"{arm}{n}"] if n else a["none"]).mean(),
                       (a[f"{arm}{n}"] - a["none"]).std(ddof=1) / len(a["none"]) ** 0.5 if n else 0) for n in (0, 10, 20, 30)]
              for title, arm in (("chosen with --ask", "ask"), ("random", "random"))}
    return figures.curves("Accuracy on the samples without a given label", "labels given", "accuracy", series)


def unlike(_):
    """AUROC of unlike_source, and of low confidence, for a class that was removed from the source."""
    out = []
    for group, own in groups_of([r for r in rows_of("transfer-unlike") if r["unlike_source"]]):
        score, confidence = (np.array([float(r[c]) for r in own]) for c in ("unlike_source", "low_confidence"))
        out.append([group, len({(r["sources"], r["target"], r["data"]) for r in own}), len(own), "%.3f" % score.mean(), "%.3f" % score.min(),
                    "%.3f" % score.max(), "%d of %d" % ((score < 0.5).sum(), len(own)), "%.3f" % confidence.mean()])
    return markdown(["collection", "pairs", "removed classes", "unlike_source", "worst", "best", "below 0.5", "low confidence"], out)


def curved(_):
    out = [[group.replace("_", " "), len(own), sum(int(r["led"]) for r in own), *(short(mean([float(r[c]) for r in own])) for c in ("logreg", "forest", "linear", "auto"))]
           for group, own in groups_of(rows_of("transfer-curved"))]
    return markdown(["data", "runs", "non-linear members lead", "logreg", "forest", "auto without them", "auto"], out)


def absent(name):
    """How often a class that the target lacks is named, and how many that it has."""
    out = []
    for group, own in groups_of(numeric(name)):
        count = collections.Counter()
        for r in own:
            named, lacks = {int(c) for c in r["named"].split("+") if c}, r["lacks"] >= 0
            count["lack"] += lacks
            count["found"] += lacks and r["lacks"] in named
            count["wrong", lacks] += len(named - {r["lacks"]})
            count["there", lacks] += int(r["classes"]) - lacks
        out.append([group, len(own), "%d of %d" % (count["found"], count["lack"]), *("%d of %d" % (count["wrong", x], count["there", x]) for x in (True, False))])
    return markdown(["collection", "targets", "missing classes named in a warning", "other classes named for these targets", "classes named for targets with all classes"], out)


def confidence(_):
    """Right answers by confidence, pooled; the calibration error; the more confident half."""
    edges = [.9, .8, .7, .6, .5, .4, .3, 0]
    sure, count, right = np.concatenate([transfer.read_bins(r["confidence"]) for r in numeric("plain")]).T
    tenth = np.minimum((sure * 10).astype(int), 9)
    error = sum(abs((sure * count - right)[tenth == b].sum()) for b in range(10)) / count.sum()
    inside = [(sure >= low) & (sure < high) for low, high in zip(edges, [9] + edges)]
    order = np.argsort(-sure, kind="stable")
    half = order[:np.searchsorted(np.cumsum(count[order]), count.sum() / 2) + 1]
    heads = ["0.9 or more"] + ["%s to %s" % both for both in zip(edges[1:-1], edges)] + ["below 0.3"]
    out = [["samples", *(f"{int(count[i].sum()):,}" for i in inside)], ["accuracy", *(short(right[i].sum() / max(count[i].sum(), 1)) for i in inside)]]
    return markdown(["confidence", *heads], out) + ["", "(%s samples; calibration error %s; accuracy %s on the more confident half, %s on all samples)" % (
        f"{int(count.sum()):,}", short(error), short(right[half].sum() / count[half].sum()), short(right.sum() / count.sum()))]


def calibration_tasks():
    """Runs with their bins and properties; collections without `, all sources`."""
    for r in numeric("plain"):
        sure, count, right = transfer.read_bins(r["confidence"]).T
        yield {"collection": r["collection"].replace(", all sources", ""), "sure": sure, "count": count, "right": right,
               "known": {**r, "log classes": np.log(r["classes"])}}


def calibration_features(task, use):
    s = np.clip(task["sure"], .02, .98)
    return np.column_stack([np.ones(len(s)), np.log(s / (1 - s))] + [np.full(len(s), task["known"][u]) for u in use])


def recalibrated(tasks, use):
    """Confidences of every bin, corrected by what the other collections taught; each of these weighs the same."""
    constants = {}
    for name in {t["collection"] for t in tasks}:
        others = [t for t in tasks if t["collection"] != name]
        runs = collections.Counter(t["collection"] for t in others)
        sums = (np.concatenate([t[what] / (runs[t["collection"]] * t["count"].sum()) for t in others]) for what in ("count", "right"))
        constants[name] = statements.regression(np.concatenate([calibration_features(t, use) for t in others]), *sums, 1e-9)
    return [statements.logistic(calibration_features(t, use) @ constants[t["collection"]]) for t in tasks]


def calibration(_):
    """Gap between mean confidence and accuracy, without and with a correction, each collection held out in turn."""
    tasks, known = list(calibration_tasks()), list(KNOWN)
    names = sorted({t["collection"] for t in tasks})
    ways = [("nothing", [t["sure"] for t in tasks]), ("the confidence alone", recalibrated(tasks, []))]
    ways += [("and " + KNOWN[k], recalibrated(tasks, [k])) for k in known]
    ways += [("and the first three", recalibrated(tasks, known[:3])), ("and all of these", recalibrated(tasks, known))]
    out = []
    for label, sures in ways:
        over = np.array([((s * t["count"]).sum() - t["right"].sum()) / t["count"].sum() for t, s in zip(tasks, sures)])
        out.append([label, short(np.abs(over).mean()), *(short(over[[t["collection"] == n for t in tasks]].mean(), True) for n in names)])
    return markdown(["corrected by", "gap", *names], out) + ["", "(%d pairs and draws)" % len(tasks)]


# --- docs/notes/through-a-bridge.md --------------------------------------------------------------------------------------------

COLLECTIONS = {"webkb4": "universities", "20ng": "newsgroups", "amazon_sentiment4": "reviews"}


def splits(name):
    """Mean, deviation and worst over the word splits; `name` is splits-each or splits-together."""
    own, out = [r for r in rows_of("transfer-splits") if r["idf"] == name.split("-")[1]], []
    for task in dict.fromkeys(r["task"] for r in own):
        values = 100 * np.array([[float(r[c]) for c in ("svm", "chain", "nmtf", "ttl")] for r in own if r["task"] == task])
        cells, worst = ["%.1f ± %.1f" % both for both in zip(values.mean(0), values.std(0))], ["%.1f" % v for v in values.min(0)]
        out.append([task.replace("-", " - "), len(values), *cells[:3], worst[2], cells[3], worst[3]])
    return markdown(["pair", "splits", "SVM", "chain of regressions", "`nmtf`, two stages", "worst split", "`ttl`", "worst split"], out)


def sweeps(_):
    own = rows_of("transfer-sweeps")
    counts = sorted({int(r["sweeps"]) for r in own})
    out = [["%s, `%s`" % (COLLECTIONS[folder], method), *(short(np.mean([float(r["accuracy"]) for r in own if (r["collection"], r["method"], int(r["sweeps"])) == (
        folder, method, c)])) for c in counts)] for folder in ("webkb4", "amazon_sentiment4") for method in ("nmtf", "ttl")]
    return markdown(["sweeps", *("%d%s" % (c, "" if c else " (chain)") for c in counts)], out) + ["", "(%d triples)" % len(
        {(r["source"], r["bridge"], r["target"]) for r in own})]


def bridges(_):
    """What rules for choosing a bridge are worth: accuracy, how far below the best bridge, and how often that is taken."""
    rules = {"back": lambda b: float(b["back"]) if b["back"] else -1, "way": lambda b: -max(float(b["a_source_bridge"]), float(b["a_bridge_target"])), "any": None}
    pairs, out = {}, []
    for r in rows_of("transfer-bridges"):
        pairs.setdefault((r["collection"], r["pair"]), []).append(r)
    for group in [*dict.fromkeys(c for c, _ in pairs), "all"]:
        own, got = [p for (c, _), p in pairs.items() if group in (c, "all")], []
        for score in rules.values():
            acc = [np.array([float(b["acc"]) for b in p]) for p in own]
            took = [a.mean() if score is None else a[int(np.argmax([score(b) for b in p]))] for a, p in zip(acc, own)]
            got.append(np.array([(t, a.max() - t) for t, a in zip(took, acc)]))
        both = got[:2]
        cells = [short(x[:, 0].mean()) for x in got] + [short(x[:, 1].mean()) for x in both] + [short(x[:, 1].max()) for x in both]
        out.append([COLLECTIONS.get(group, group), len(own), " or ".join(map(str, sorted({len(p) for p in own}))), *cells, *((x[:, 1] < 1e-9).sum() for x in both)])
    return markdown(["collection", "pairs", "bridges per pair", "accuracy: `back`", "A-distances", "mean bridge", "loss against the best bridge: `back`", "A-distances",
                     "largest loss: `back`", "A-distances", "best bridge chosen: `back`", "A-distances"], out)


# --- docs/scale.md, docs/notes/scale.md and docs/notes/mpi.md --------------------------------------------------------------

JOBS = ["auto", "kmeans", "mbc", "lssmtc", "ec", "ncut", "svm", "logreg", "auto-transfer", "vectorize", "predict"]
TITLES = {"auto": "`cluster` (`auto`)", "auto-transfer": "`transfer` (`auto`)"}
MILLION, MAIN, OTHER = 1000000, ("x86-64", "2"), "arm64"
# Up to this many samples neighbours are found among all pairs, beyond there are landmarks: each grows its own way.
PAIRS = {("dense", "auto"): 600000, ("sparse", "auto"): 350000, ("dense", "ncut"): 134000, ("sparse", "ncut"): 240000}


def title(job):
    return TITLES.get(job, f"`{job}`")


def seconds(text):
    """Three digits without an exponent."""
    return "" if not text else f"{float(text):.0f} s" if float(text) >= 100 else f"{float(text):.3g} s"


def gigabytes(text):
    return f"{float(text) / 1e9:.2f} GB"


def of_main(kind):
    """Runs on the machine of the tables, by job and size."""
    return {(r["job"], int(r["n"])): r for r in rows_of("scale-growth") if r["kind"] == kind and (r["machine"], r["threads"]) == MAIN}


def exponent(points):
    """The slope of log seconds over log n."""
    x, y = np.log(np.array(points)).T
    return ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()


def growth(kind):
    """Seconds of each job at each size, and how they grow."""
    rows, out = of_main(kind), []
    sizes = sorted({n for _, n in rows})
    for job in JOBS:
        mine = {n: float(rows[job, n]["seconds"]) for n in sizes if (job, n) in rows}
        if mine:
            most = PAIRS.get((kind, job), 0)
            parts = [[(n, s) for n, s in mine.items() if n <= most], [(n, s) for n, s in mine.items() if n > most]]
            out.append([title(job), *(seconds(mine.get(n, "")) for n in sizes), ", then ".join(f"{exponent(p):.2f}" for p in parts if len(p) > 1)])
    return markdown(["", *(f"{n:,}" for n in sizes), "exponent"], out)


def million(kind):
    """What a million samples took and held."""
    rows, other, out = of_main(kind), {}, []
    for r in sorted(rows_of("scale-growth"), key=lambda r: -int(r["threads"])):  # one thread if there is such a run
        if (r["kind"], r["machine"], int(r["n"])) == (kind, OTHER, MILLION):
            other[r["job"]] = seconds(r["processor"])
    allowed = max((3 * float(r["data"]) + 2e9 for (_, n), r in rows.items() if n == MILLION), default=2e9)
    for job in JOBS:
        r = rows.get((job, MILLION))
        if r or job in other:
            cells = [""] * 6
            if r:
                cells = [seconds(r["seconds"]), seconds(r["fit"]), seconds(r["processor"]), gigabytes(r["peak"]),
                         f"{100 * float(r['peak']) / (3 * float(r['data']) + 2e9):.0f} %", f"{float(r['nmi']):.2f}" if r["nmi"] else ""]
            out.append([title(job), *cells, other.get(job, "")])
    return markdown(["", "command", "fit", "processor", "peak", f"of {allowed / 1e9:.1f} GB", "NMI", f"{OTHER}: processor"], out)


def of_other(job):
    """Runs of a job on the other machine with two threads."""
    return [r for r in rows_of("scale-growth") if (r["job"], r["machine"], r["threads"]) == (job, OTHER, MAIN[1])]


def scale_short(_):
    """Runtime and peak memory for a million samples; the two methods named auto have newer runs on the other machine."""
    kinds, out = ("dense", "sparse"), []
    main = {kind: of_main(kind) for kind in kinds}
    for job in ("auto", "kmeans", "mbc", "ncut", "auto-transfer", "svm", "vectorize", "predict"):
        newer = {r["kind"]: r for r in of_other(job) if int(r["n"]) == MILLION} if job in TITLES else {}
        found = [newer.get(kind) or main[kind].get((job, MILLION)) for kind in kinds]
        cells = [cell for r in found for cell in ([seconds(r["seconds"]), gigabytes(r["peak"])] if r else ["", ""])]
        out.append([title(job), *cells, OTHER if newer else MAIN[0]])
    return markdown(["command or method", "dense: runtime", "memory", "text: runtime", "memory", "machine, 2 cores"], out)


def beside(job):
    """A job on the other machine with two threads."""
    own = of_other(job)
    out = [[{"dense": "blobs", "sparse": "text"}[r["kind"]], f"{int(r['n']):,}", seconds(r["seconds"]), seconds(r["fit"]), gigabytes(r["peak"]),
            f"{float(r['nmi']):.3f}"] for r in sorted(own, key=lambda r: (r["kind"], int(r["n"])))]
    return markdown([title(job), "samples", "command", "fit", "peak", "NMI"], out)


def kmeans_peers(_):
    out = [[r["machine"], r["who"], f"{float(r['seconds']):.2f}", f"{float(r['processor']):.2f}", f"{float(r['inertia']):.5f}", gigabytes(r["peak"])]
           for r in rows_of("scale-peers")]
    return markdown(["machine", "", "seconds", "processor", "inertia", "peak memory"], out, left=2)


def waiting():
    """Efficiency by the length of a stretch of work: every second line of each machine."""
    of = {}
    for r in rows_of("scale-ranks"):
        if r["kind"] == "waiting":
            of.setdefault(r["machine"], []).append(r)
    out = [[r["machine"], r["ranks"], f"{1000 * float(r['stretch']):,.1f} ms", f"{100 * float(r['efficiency']):.0f} %"] for mine in of.values() for r in mine[::2]]
    return markdown(["machine", "cores", "length of a period", "efficiency"], out)


def scaling(kind):
    """Weak or strong scaling: seconds, and their share of the ideal; of weak the same for copies without MPI."""
    if kind == "waiting":
        return waiting()
    of = {(r["machine"], r["kind"], int(r["rows"]), int(r["ranks"]), r["method"]): r for r in rows_of("scale-ranks") if r["kind"] in (kind, "copies")}
    out = []
    for key in sorted({key[:4] for key in of if key[1] == kind or kind == "weak"}, key=lambda key: (key[0], key[2], key[1] == "copies", key[3])):
        cells = []
        for method in ("kmeans", "mbc"):
            r, one = of.get((*key, method)), of.get((key[0], kind, key[2], 1, method))
            ideal = float(one["seconds"]) / (key[3] if kind == "strong" else 1) if one else 0
            cells += ["", ""] if not r else [f"{float(r['seconds']):.2f} s" + (f" (mean {float(r['mean']):.2f})" if r["mean"] else ""),
                                             f"{100 * ideal / float(r['seconds']):.0f} %" if one else ""]
        out.append([key[0], f"{key[2]:,}", f"slowest of {key[3]} copies" if key[1] == "copies" else key[3], *cells])
    return markdown(["machine", "rows in total" if kind == "strong" else "rows per rank", "ranks", "`kmeans`", "efficiency", "`mbc`", "efficiency"], out)


def tables_transfer(_):
    """Mean over the pairs of each collection."""
    cells, mean = collections.defaultdict(list), lambda rows: "%s / %s" % tuple(map(short, np.mean(rows, axis=0)))
    for r in rows_of("tables-transfer"):
        cells[r["collection"], r["method"]].append((float(r["accuracy"]), float(r["balanced_accuracy"])))
    names, methods = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    rows = [[name, *(mean(cells[name, m]) for m in methods)] for name in names]
    rows.append(["mean", *(mean([np.mean(cells[name, m], axis=0) for name in names]) for m in methods)])
    return markdown(["collection", *methods], rows)


# --- docs/notes/statements.md --------------------------------------------------------------------------------------------


def said(what):
    if what == "confidence":
        return markdown(["confidence of", "runs", "accuracy", "agreement", "error", "confidence", "error, collection held out"],
                        [[name, n, *map(short, values)] for name, n, *values in statements.calibration()])
    if what == "verdicts":
        return markdown(["statement", "kind of data", "data sets", "accuracy"], [[*row[:3], short(row[3])] for row in statements.verdicts()], 2)
    if what == "matches":
        return markdown(["kind of data", "probability", "matches", "right"], [[*row[:3], short(row[3])] for row in statements.matches_left_out()], 2)
    return markdown(["statement", "times printed", "correct", "correct means"], [[name, n, right, meaning] for name, n, right, meaning in statements.frequencies()])


# --- docs/notes/auto.md ----------------------------------------------------------------------------------------------------------


def quality_cells(size):
    """{(collection, data set): {method: mean NMI over the draws}} of bench/auto.py quality; size 0: all samples."""
    found = {}
    for r in rows_of("auto-quality"):
        for m in auto.METHODS:
            if r["size"] == size and r[m]:
                found.setdefault((r["set"], r["task"]), {}).setdefault(m, []).append(float(r[m]))
    return {key: {m: mean(v) for m, v in one.items()} for key, one in found.items()}


SIZES = {"400": "400", "1,500": "1500", "all": "0"}


def quality_summary(kind):
    """One line per number of samples, over all data sets; `summary`: only the means."""
    out = []
    for title, size in SIZES.items():
        own = list(quality_cells(size).values())
        out.append([title, *(short(mean([c[m] for c in own if m in c])) for m in ("kmeans", "ncut", "pooled")), short(mean([c.get("single", c["auto"]) for c in own])), short(mean([c["auto"] for c in own])),
                    *(short(mean([max(c.values()) - c[m] for c in own])) for m in ("auto", "ncut", "kmeans")),
                    *(f"{sum(c['auto'] > c[m] + 0.02 for c in own)}, {sum(c['auto'] < c[m] - 0.02 for c in own)}" for m in ("kmeans", "ncut"))])
    head = ["samples per data set", "k-means", "normalised cut", "k-means on pooled data", "`auto`, each alone", "`auto`", "regret: `auto`", "normalised cut", "k-means",
            "`auto` better, worse than k-means by 0.02", "than normalised cut"]
    return markdown(head[:6], [r[:6] for r in out]) if kind == "summary" else markdown(head, out)


def quality(kind):
    """One line per collection for a number of samples."""
    if kind in ("sizes", "summary"):
        return quality_summary(kind)
    cells, out = quality_cells("0" if kind == "all" else kind), []
    for title in [*dict.fromkeys(key[0] for key in cells), None]:
        own = [c for key, c in cells.items() if title in (None, key[0])]
        pooled = [c["pooled"] for c in own if "pooled" in c]
        out.append([title.replace(":", ": ").replace("+", ", ") if title else "all", len(own), *(short(mean([c[m] for c in own])) for m in ("kmeans", "ncut")),
                    short(mean(pooled)) if pooled else "", short(mean([c["auto"] for c in own])), *(short(min(c["auto"] - c[m] for c in own), True) for m in ("kmeans", "ncut")),
                    short(mean([max(c.values()) - c["auto"] for c in own]))])
    return markdown(["collection", "data sets", "k-means", "ncut", "pooled", "auto", "worst against k-means", "against ncut", "regret"], out)


def auto_texts(size):
    """Processor seconds and mean NMI of each version, a line for each collection of texts and their mean."""
    rows = [r for r in rows_of("auto-texts") if r["size"] == size]
    found = {(r["set"], r["version"]): (float(r["processor_s"]), mean(map(float, r["nmi"].split()))) for r in rows}
    versions, sets = (list(dict.fromkeys(r[name] for r in rows)) for name in ("version", "set"))
    lines = [(t.replace(":", ": "), next(r["samples"] for r in rows if r["set"] == t), [t]) for t in sets] + [("mean", "", sets)]
    return markdown(["collection", "samples", *(f"processor, s: {v}" for v in versions), *(f"NMI: {v}" for v in versions)],
                    [[name, n, *(("%.1f", "%.3f")[i] % mean(found[t, v][i] for t in own) for i in (0, 1) for v in versions)] for name, n, own in lines], 2)


def threads(_):
    """Seconds by the clock, processor seconds in brackets: three commands in each version, then the last version over ranks and scikit-learn."""
    rows = rows_of("scale-threads")
    found = {(r["version"], r["threads"], r["command"]): "%.1f (%.0f)" % (float(r["seconds"]), float(r["processor_s"])) for r in rows}
    names = {"cluster": "`cluster`", "kmeans": "`cluster -m kmeans`, 20 starts", "transfer": "`transfer`"}
    versions = list(dict.fromkeys(r["version"] for r in rows))
    others = list(dict.fromkeys(r["command"] for r in rows if r["version"] == versions[-1] and r["command"] not in names))
    columns = [(f"{name}: {v}", v, c) for c, name in names.items() for v in versions] + [(c.replace("cluster,", "`cluster`,").replace("kmeans,", "k-means,"), versions[-1], c) for c in others]
    return markdown(["threads", *(c[0] for c in columns)], [[n, *(found.get((v, n, c), "") for _, v, c in columns)] for n in ("1", "2", "4", "8", "16")])


def scaling_figure():
    """How many times faster than with one thread: commands on threads and ranks of one machine."""
    rows = rows_of("scale-threads")
    last = [r for r in rows if r["version"] == rows[-1]["version"]]
    series = {}
    for command, name in (("cluster", "cluster, threads"), ("kmeans", "k-means, threads"), ("transfer", "transfer, threads"), ("cluster, ranks", "cluster, ranks"), ("kmeans, ranks", "k-means, ranks")):
        times = {int(r["threads"]): float(r["seconds"]) for r in last if r["command"] == command}
        if times:
            series[name] = [(n, times[1] / s, 0) for n, s in sorted(times.items())]
    if "k-means, ranks" not in series:
        times = {int(r["ranks"]): float(r["seconds"]) for r in rows_of("scale-ranks") if (r["machine"], r["kind"], r["method"]) == ("x86-64", "strong", "kmeans")}
        series["k-means of 1,000,000 rows, ranks"] = [(n, times[1] / s, 0) for n, s in sorted(times.items()) if n in (1, 2, 4, 8, 16)]
    return figures.curves("Strong scaling on 16 x86-64 cores", "threads or ranks", "times as fast as one", series)


def stages(command):
    """Clock seconds, processor seconds and the share of waiting of each stage, with one thread and with the most threads, by version."""
    rows = [r for r in rows_of("stages") if r["command"] == command]
    most = max((int(r["threads"]) for r in rows), default=1)
    columns = [(v, n) for v in dict.fromkeys(r["label"] for r in rows) for n in dict.fromkeys(("1", str(most)))]
    found = {(r["stage"], r["label"], r["threads"]): "%.2f (%.2f) %.0f %%" % (float(r["clock_s"]), float(r["processor_s"]), 100 * float(r["waiting"])) for r in rows}
    return markdown(["stage", *(f"{v}{': ' if v else ''}{n} thread{'s' * (n != '1')}" for v, n in columns)],
                    [["&emsp;" * s.count(" / ") + s.split(" / ")[-1], *(found.get((s, v, n), "") for v, n in columns)] for s in dict.fromkeys(r["stage"] for r in rows)])


def readers_threads(_):
    """Clock seconds of `kindred inspect` (processor seconds in brackets) and of one call of kdr_read."""
    rows = rows_of("readers-threads")
    found = {(r["file"], r["command"], r["threads"]): "%.2f" % float(r["seconds"]) + " (%.1f)" % float(r["processor_s"]) * (r["command"] == "inspect") for r in rows}
    counts = list(dict.fromkeys(r["threads"] for r in rows))
    return markdown(["file", "", *(f"{n} thread{'s' * (n != '1')}" for n in counts)],
                    [[f"{f}, {round(float(mb))} MB", {"inspect": "`kindred inspect`", "read": "`kdr_read`"}[c], *(found[f, c, n] for n in counts)]
                     for f, mb, c in dict.fromkeys((r["file"], r["megabytes"], r["command"]) for r in rows)])


# --- other pages -----------------------------------------------------------------------------------------------------------


def blas():
    """Times of the built-in BLAS and of another one; the last column is their quotient."""
    return markdown(["operation", "built-in", "OpenBLAS", "OpenBLAS / built-in"],
                    [[r["case"], *("%.3g ms" % (1e3 * float(r[key])) for key in ("kindred_s", "peer_s")), r["ratio"]] for r in rows_of("blas")])


def gpu_commands(_):
    """Seconds of entire commands of 10,000 samples and more on the processor and on a card."""
    return markdown(["command", "data", "samples", "`cpu`", "`cuda`", "`auto`"],
                    [["`%s`" % r["command"], r["data"], f"{int(r['samples']):,}", *(r[f"{d}_s"] for d in ("cpu", "cuda", "auto"))]
                     for r in sorted(rows_of("gpu-commands"), key=lambda r: (r["command"], r["data"], int(r["samples"]))) if int(r["samples"]) >= 10_000], 2)


def r_overhead():
    """Processor seconds of a call from R and of the C call in it, and the memory of the conversion in megabytes."""
    return markdown(["sparse matrix", "call from R", "C call alone", "overhead", "data", "memory for the transpose", "samples in columns"],
                    [[f"{int(r['rows']):,} x {int(r['columns']):,}, {int(r['entries']):,} entries", *("%.2f s" % float(r[key]) for key in ("seconds", "c_seconds")),
                      "%.1f %%" % float(r["overhead_percent"]), *("%.1f MB" % (float(r[key]) / 1e6) for key in ("data_bytes", "transpose_bytes", "samples_in_columns_bytes"))]
                     for r in rows_of("r-overhead")])


def wasm():
    """Processor times of WebAssembly in node and Chromium, and of the native program."""
    found, native = {}, {}
    for r in rows_of("wasm"):
        case, where = r["case"].rsplit("; ", 1)
        quotient = "" if case.startswith("start") else " (%.1f)" % (float(r["kindred_s"]) / float(r["peer_s"]))
        found[case, where] = "%.2f s" % float(r["kindred_s"]) + quotient
        native[case] = "%.2f s" % float(r["peer_s"])
    return markdown(["job", "native", "node (quotient)", "Chromium (quotient)"], [[case, native[case], found.get((case, "node"), ""), found.get((case, "chromium"), "")] for case in native])


def added(name):
    """Data sets that are added to a model, and labels of new samples: bench/into.py."""
    head, table, case = {"add": (into.ADD_HEAD, into.add_table, "add"), "order": (into.ORDER_HEAD, into.order_table, "order"),
                         "predict": (into.PREDICT_HEAD, into.predict_table, "predict"), "confidence": (into.CONFIDENCE_HEAD, into.confidence_table, "predict")}[name]
    return markdown(head, table(rows_of(f"into-{case}")), 0 if name == "order" else 1)


def shared(kind):
    """Clustering together and alone: bench/together.py."""
    if kind in ("posts", "apart"):
        return markdown(*getattr(together, f"{kind}_table")(rows_of(f"together-{kind}")), 2 if kind == "apart" else 1)
    if kind in ("draws", "whole"):
        real = [r for r in rows_of("together-real") if r["version"] == "now" and r["collection"] in together.OLD + together.NEW and r["size"] in together.SIZES[:2]]
        return markdown(*together.brief_table(rows_of("together-whole") if kind == "whole" else real + rows_of("together-apart")), 1)
    head, rows = together.table(kind, rows_of("together-made" if kind == "made" else "together-real"), rows_of("together-apart") if kind == "short" else ())
    return markdown(head, rows, 2 if kind == "real" else 1)


def embedded(name):
    """What is removed from embeddings, and transfer by them: bench/embeddings.py."""
    head, table = {"cluster": (embeddings.CLUSTER_HEAD, embeddings.cluster_table), "transfer": (embeddings.TRANSFER_HEAD, embeddings.transfer_table), "views": (embeddings.VIEWS_HEAD, embeddings.views_table), "vectors": (embeddings.VECTORS_HEAD, embeddings.vectors_table)}[name]
    return markdown(head, table(rows_of(f"embeddings-{name}")))


def compared(kind):
    """Published figures and methods of domain adaptation: bench/published.py."""
    if kind == "short":
        return markdown(*published.short_table({case: rows_of(f"published-{case}") for case in ("office", "amazon", "pairs")}))
    return markdown(*published.table(kind, rows_of("published-" + {"summary": "pairs"}.get(kind, kind))))


MAKERS = {"embeddings": embedded, "published": compared, "together": shared, "into": added, "levels": lambda _: markdown(levels.TABLE_HEAD, levels.table(rows_of("levels"))), "levels-methods": lambda _: markdown(levels.METHOD_TABLE_HEAD, levels.method_table(rows_of("levels_methods")), left=2), "wasm": lambda _: wasm(), "gpu-commands": gpu_commands, "r-overhead": lambda _: r_overhead(), "speed": speed, "800": preset, "800-short": lambda _: preset("800", ("svm", "logreg", "auto")), "all": preset, "landmarks": landmarks, "shift": shifted, "dirichlet": shifted, "absent": absent,
          "transfer-peers": transfer_peers, "given": given, "ask": ask, "known": known_classes, "unlike": unlike, "curved": curved, "confidence": confidence, "calibration": calibration, "splits-each": splits, "splits-together": splits, "sweeps": sweeps,
          "bridges": bridges, "million": million, "growth": growth, "beside": beside, "peers": kmeans_peers, "scale-short": scale_short, "papers-verdicts": lambda _: reproduction.verdicts(), "papers-auto": lambda _: reproduction.auto_compared(papers.load()), "quality": quality, "threads": threads, "readers-threads": readers_threads, "stages": stages, "scaling": scaling, "said": said, "tables-transfer": tables_transfer, "blas": lambda _: blas(), "auto-texts": auto_texts}
BLOCK = re.compile(r"(<!-- (?:table )?(%s)(?: (\S+))? -->)\n.*?<!-- end -->" % "|".join(map(re.escape, MAKERS)), re.S)


def filled(text):
    """A page with its tables as the files have them."""
    return BLOCK.sub(lambda m: "%s\n%s\n<!-- end -->" % (m[1], "\n".join(MAKERS[m[2]](m[3] or m[2]))), text)


def loose(text):
    """First lines of tables with accuracies that no file gives, and that are not marked so (`<!-- by hand: ... -->`)."""
    rest = re.sub(r"<!-- by hand: [^>]*-->\n\|.*?\n\n", "", BLOCK.sub("", text), flags=re.S)
    return [t.split("\n")[0] for t in re.findall(r"(?:^\|.*\n)+", rest, flags=re.M) if re.search(r"\|\s*[-+*]*\d*\.\d", t)]


def pages():
    """{path: what it should contain}"""
    wanted = {page: filled(page.read_text(encoding="utf-8")) for page in PAGES}
    folder = DOCS / "reproduction"
    wanted[TABLES], figures = reproduction.page(papers.load(), f"../{folder.name}")
    wanted[DOCS / "pictures" / "labelling.svg"] = ask_figure()
    wanted[DOCS / "pictures" / "scaling.svg"] = scaling_figure()
    return wanted | {folder / name: text for name, text in figures.items()}


def stale():
    """Files that are not what the results give."""
    wanted = pages()
    return [p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text] + [
        p for p in (DOCS / "reproduction").glob("*.svg") if p not in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", metavar="NAME", help="print one table: a name, or a name and its argument, such as 'million dense'")
    args = parser.parse_args()
    if args.print:
        name, *kind = args.print.split()
        print("\n".join(MAKERS[name](*kind or [name])))
        return 0
    wanted, old = pages(), stale()
    if args.check:
        print("\n".join(f"{p.relative_to(common.ROOT)} is not what the results give: run bench/docs.py" for p in old) or "ok")
        return 1 if old else 0
    for path in old:
        path.write_text(wanted[path], encoding="utf-8") if path in wanted else path.unlink()
        print(path.relative_to(common.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
