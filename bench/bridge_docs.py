"""Tables of docs/through-a-bridge.md from files of results. SPDX-License-Identifier: BSD-3-Clause

Each maker returns the table's lines; bench/transfer_docs.py puts them into the page."""

import csv
import json
import pathlib

import numpy as np

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
COLLECTIONS = {"webkb4": "universities", "20ng": "newsgroups", "amazon_sentiment4": "reviews"}
RULES = {
    "back": lambda b: b["back"] if b["back"] is not None else -1,
    "the shorter way": lambda b: -max(b["a_source_bridge"], b["a_bridge_target"]),  # A(s,t) - max(A(s,i), A(i,t)) was the rule before
    "any": None,
}


def short(value):
    return ("%.3f" % value).replace("0.", ".", 1)


def rows(name):
    with open(RESULTS / "bridges" / (name + ".csv"), newline="") as f:
        return list(csv.DictReader(f))


def splits(name):
    """Mean, deviation and worst over the word splits; `name` is splits-each or splits-together."""
    own = [r for r in rows("splits") if r["idf"] == name.split("-")[1]]
    out = ["| task | splits | SVM | chain of regressions | `nmtf`, two stages | worst split | `ttl` | worst split |", "|---|" + "---:|" * 7]
    for task in dict.fromkeys(r["task"] for r in own):
        values = 100 * np.array([[float(r[c]) for c in ("svm", "chain", "nmtf", "ttl")] for r in own if r["task"] == task])
        cells = ["%.1f ± %.1f" % both for both in zip(values.mean(0), values.std(0))]
        worst = ["%.1f" % v for v in values.min(0)]
        out.append("| %s | %d | %s |" % (task.replace("-", " - "), len(values), " | ".join([*cells[:3], worst[2], cells[3], worst[3]])))
    return out


def sweeps(name):
    own = rows(name)
    counts = sorted({int(r["sweeps"]) for r in own})
    out = ["| sweeps | %s |" % " | ".join("%d%s" % (c, "" if c else " (chain)") for c in counts), "|---|" + "---:|" * len(counts)]
    for folder in ("webkb4", "amazon_sentiment4"):
        for method in ("nmtf", "ttl"):
            cells = [short(np.mean([float(r["accuracy"]) for r in own if (r["collection"], r["method"], int(r["sweeps"])) == (folder, method, c)]))
                     for c in counts]
            out.append("| %s, `%s` | %s |" % (COLLECTIONS[folder], method, " | ".join(cells)))
    return out + ["", "(%d triples)" % len({(r["source"], r["bridge"], r["target"]) for r in own})]


def bridges(name):
    return rules(json.loads((RESULTS / "papers" / (name + ".json")).read_text()))


def rules(found):
    """What rules for choosing a bridge are worth: accuracy, how far below the best bridge, and how often that is taken."""
    groups = {g: [k for k in found if k.split()[0] == g] for g in dict.fromkeys(k.split()[0] for k in found)}
    groups["all"] = list(found)
    heads = ["accuracy: `back`", "the shorter way", "any", "below the best: `back`", "the shorter way", "at worst: `back`", "the shorter way", "the best taken: `back`",
             "the shorter way"]
    out = ["| pairs | number | bridges each | %s |" % " | ".join(heads), "|---|" + "---:|" * (len(heads) + 2)]
    for group, keys in groups.items():
        got = {}
        for rule, score in RULES.items():
            acc = [np.array([b["acc"] for b in found[k]]) for k in keys]
            took = [a.mean() if score is None else a[int(np.argmax([score(b) for b in found[k]]))] for a, k in zip(acc, keys)]
            got[rule] = np.array([(t, a.max() - t) for t, a in zip(took, acc)])
        back, way, either = got.values()
        each = sorted({len(found[k]) for k in keys})
        cells = [short(x[:, 0].mean()) for x in (back, way, either)] + [short(x[:, 1].mean()) for x in (back, way)]
        cells += [short(x[:, 1].max()) for x in (back, way)] + ["%d" % (x[:, 1] < 1e-9).sum() for x in (back, way)]
        out.append("| %s | %d | %s | %s |" % (COLLECTIONS.get(group, group), len(keys), " or ".join(map(str, each)), " | ".join(cells)))
    return out
