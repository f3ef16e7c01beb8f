"""Tables of docs/transfer.md from what bench/transfer_table.py --csv wrote: a line a run. SPDX-License-Identifier: BSD-3-Clause

Each maker returns the table's lines; bench/transfer_docs.py puts them into the page."""

import collections
import csv
import pathlib

import numpy as np

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "transfer-auto"
TASK = ["collection", "data", "sources", "target"]
SHORT = {"m:svm": "svm, own cost", "m:logreg": "logreg, cost 1", "m:self": "self-training", "m:shifted": "shifted", "m:aligned": "aligned", "m:ridge": "ridge",
         "m:kmeans": "k-means", "m:proto": "prototypes", "m:nmtf": "tri-fact.", "m:msda": "denoised", "once": "held once"}
PEERS = {"sk-logreg": "LogisticRegression", "sk-selftrain": "SelfTrainingClassifier", "ot-sinkhorn": "SinkhornTransport", "ot-emd": "EMDTransport"}
KNOWN = {"cv": "accuracy in cross-validation on the source", "distance": "A-distance", "log classes": "number of classes", "moved": "how far shares moved",
         "differ": "how the members disagree"}


def short(value, sign=False):
    return (("%+.3f" if sign else "%.3f") % value).replace("0.", ".", 1)


def read(name):
    """The lines of a file, as dictionaries; numbers where they are."""
    with open(RESULTS / (name + ".csv"), newline="") as f:
        return [{k: v if k in TASK + ["draw", "named"] else float(v) for k, v in row.items()} for row in csv.DictReader(f)]


def by_task(rows, columns):
    """{collection: [mean over the draws of each task, a dictionary]}, in the file's order; `all` at the end."""
    draws = collections.OrderedDict()
    for r in rows:
        draws.setdefault(tuple(r[t] for t in TASK), []).append(r)
    groups = collections.OrderedDict()
    for task, runs in draws.items():
        groups.setdefault(task[0], []).append({c: np.mean([r[c] for r in runs]) for c in columns})
    groups["all"] = [t for g in groups.values() for t in g]
    return groups


def shifted(name):
    """svm, logreg, members, the vote held once, and auto; the worst task."""
    columns = ["svm", "logreg"] + [c for c in SHORT if c not in ("m:svm", "m:logreg", "once")] + ["once", "auto"]
    out = ["| collection | tasks | %s | worst against svm | against logreg |" % " | ".join(SHORT.get(c, c) for c in columns),
           "|---|---:|" + "---:|" * (len(columns) + 2)]
    for group, tasks in by_task(read(name), columns).items():
        cells = ["**%s**" % short(v) if c == "auto" else short(v) for c in columns for v in [np.mean([t[c] for t in tasks])]]
        cells += [short(min(t["auto"] - t[c] for t in tasks), True) for c in ("svm", "logreg")]
        out.append("| %s | %d | %s |" % (group, len(tasks), " | ".join(cells)))
    return out


def peers(name):
    groups = by_task(read(name), list(PEERS) + ["auto"])
    out = ["| collection | tasks | %s | auto |" % " | ".join(PEERS.values()), "|---|---:|" + "---:|" * (len(PEERS) + 1)]
    for group, tasks in groups.items():
        cells = [short(np.mean([t[c] for t in tasks])) for c in PEERS] + ["**%s**" % short(np.mean([t["auto"] for t in tasks]))]
        out.append("| %s | %d | %s |" % (group, len(tasks), " | ".join(cells)))
    ahead = ["%d of %d" % (sum(t["auto"] > t[c] for t in groups["all"]), len(groups["all"])) for c in PEERS]
    return out + ["| auto is ahead | | %s | |" % " | ".join(ahead)]


def absent(name):
    """How often a class that the target lacks is named, and how many that it has."""
    out = ["| collection | targets | lack a class: it is named | others named | lack none: classes named |", "|---|---:|---:|---:|---:|"]
    rows = read(name)
    for group in list(dict.fromkeys(r["collection"] for r in rows)) + ["all"]:
        own = [r for r in rows if group in (r["collection"], "all")]
        count = collections.Counter()
        for r in own:
            said = {int(c) for c in r["named"].split("+") if c}
            lacks = r["lacks"] >= 0
            count["lack"] += lacks
            count["found"] += lacks and r["lacks"] in said
            count["wrong", lacks] += len(said - {r["lacks"]})
            count["there", lacks] += int(r["classes"]) - lacks
        out.append("| %s | %d | %d of %d | %d of %d | %d of %d |" % (group, len(own), count["found"], count["lack"], count["wrong", True], count["there", True],
                                                                  count["wrong", False], count["there", False]))
    return out


# --- confidence ------------------------------------------------------------------------------------------------------------------------


def confidence(name):
    """Right answers by confidence, pooled; the calibration error; the surer half."""
    edges = [.9, .8, .7, .6, .5, .4, .3, 0]
    sure, count, right = np.array([[r[c] for c in ("confidence", "samples", "right")] for r in read(name + "-confidence")]).T
    cells = []
    tenth = np.minimum((sure * 10).astype(int), 9)
    error = sum(abs((sure * count - right)[tenth == b].sum()) for b in range(10)) / count.sum()
    for low, high in zip(edges, [9] + edges):
        inside = (sure >= low) & (sure < high)
        cells.append((count[inside].sum(), right[inside].sum()))
    order = np.argsort(-sure, kind="stable")
    half = np.searchsorted(np.cumsum(count[order]), count.sum() / 2) + 1
    heads = [".9 and more"] + ["%s to %s" % (short(a)[:2], short(b)[:2]) for a, b in zip(edges[1:-1], edges)] + ["below"]
    return ["| confidence | %s |" % " | ".join(heads), "|---|" + "---:|" * len(heads),
            "| samples | %s |" % " | ".join("{:,}".format(int(c)) for c, _ in cells), "| right | %s |" % " | ".join(short(r / max(c, 1)) for c, r in cells), "",
            "(%s samples; calibration error %s; the surer half is right in %s, all in %s)" % (
                "{:,}".format(int(count.sum())), short(error), short(right[order[:half]].sum() / count[order[:half]].sum()), short(right.sum() / count.sum()))]


def tasks_of(name):
    """Runs with their bins and what is known of them; collections without `, all sources`."""
    bins = collections.defaultdict(list)
    for r in read(name + "-confidence"):
        bins[tuple(r[t] for t in TASK + ["draw"])].append([r["confidence"], r["samples"], r["right"]])
    out = []
    for r in read(name):
        sure, count, right = np.array(bins[tuple(r[t] for t in TASK + ["draw"])]).T
        known = {**r, "log classes": np.log(r["classes"])}
        out.append({"collection": r["collection"].replace(", all sources", ""), "sure": sure, "count": count, "right": right, "known": known})
    return out


def features(task, use):
    s = np.clip(task["sure"], .02, .98)
    return np.column_stack([np.ones(len(s)), np.log(s / (1 - s))] + [np.full(len(s), task["known"][u]) for u in use])


def fit(x, count, right, rounds=50):
    """A logistic regression of right answers, by Newton's steps; the ridge only keeps them finite."""
    mean, scale = np.r_[0, x[:, 1:].mean(0)], np.r_[1, x[:, 1:].std(0) + 1e-9]
    z = (x - mean) / scale
    w = np.zeros(z.shape[1])
    for _ in range(rounds):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        step = np.linalg.solve(z.T @ (z * (count * p * (1 - p))[:, None]) + 1e-9 * np.eye(len(w)), z.T @ (right - count * p) - 1e-9 * w)
        w += step
        if abs(step).max() < 1e-9:
            break
    return lambda new: 1 / (1 + np.exp(-np.clip((new - mean) / scale @ w, -30, 30)))


def mended(tasks, use):
    """Confidences of every bin, mended by what the other collections taught; each of these weighs the same."""
    out = [None] * len(tasks)
    for name in {t["collection"] for t in tasks}:
        others = [t for t in tasks if t["collection"] != name]
        runs = collections.Counter(t["collection"] for t in others)
        weight = [1 / (runs[t["collection"]] * t["count"].sum()) for t in others]
        model = fit(np.concatenate([features(t, use) for t in others]), np.concatenate([w * t["count"] for t, w in zip(others, weight)]),
                    np.concatenate([w * t["right"] for t, w in zip(others, weight)]))
        for i, t in enumerate(tasks):
            if t["collection"] == name:
                out[i] = model(features(t, use))
    return out


def calibration(name):
    """Gap between mean confidence and accuracy, as it is and mended by what is known of a task, each collection left out in turn."""
    tasks = tasks_of(name)
    names = sorted({t["collection"] for t in tasks})
    known = list(KNOWN)
    ways = [("nothing: as it is", [t["sure"] for t in tasks]), ("the confidence alone", mended(tasks, []))]
    ways += [("and " + KNOWN[k], mended(tasks, [k])) for k in known]
    ways += [("and the first three", mended(tasks, known[:3])), ("and all of these", mended(tasks, known))]
    out = ["| mended by | gap | %s |" % " | ".join(names), "|---|" + "---:|" * (len(names) + 1)]
    for label, sures in ways:
        over = np.array([((s * t["count"]).sum() - t["right"].sum()) / t["count"].sum() for t, s in zip(tasks, sures)])
        out.append("| %s | %s | %s |" % (label, short(np.abs(over).mean()), " | ".join(short(over[[t["collection"] == n for t in tasks]].mean(), True) for n in names)))
    return out + ["", "(%d tasks and draws)" % len(tasks)]
