#!/usr/bin/python3
"""Measures `cluster --into` and `predict` on real data. SPDX-License-Identifier: BSD-3-Clause

usage: bench/into.py CASE... [--build DIR] [--out FILE.csv] [--size N] [--jobs N] [--minutes M] [--only TEXT]

add      collections of three or more data sets: cluster all but one, add that one to the model, and compare its NMI with those of clustering
         all together and of clustering it alone. With the true number of clusters (-k), also to a model without samples, and with that of the model. Counts how many
         of its clusters continue a cluster of the model with the same majority class, and how many get a new number
order    adds the last two data sets in both orders and compares their labels (adjusted Rand index)
predict  fits four fifths of the samples, labels the others with the model, and compares with the labels that they get in a fit of all samples:
         by the model with samples and by the one without. Also by confidence

The rule of predict was chosen with a prototype on the collections of ALL except dmoz4 and la12, with all of them in view. A case writes bench/results/into-CASE.csv (or --out). A later call continues, and --minutes limits its time. Known classes are used only
for scores and for the number of clusters. docs/notes/into.md discusses the tables."""

import pathlib
import subprocess
import sys
import tempfile

import common
import auto
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

auto.SETS["handdigits:mnist+mnist_crop+usps"] = ("handdigits", ["mnist", "mnist_crop", "usps"])
SEVERAL = ["webkb4", "20ng_4task", "reuters3", "cluto_trec", "amazon_sentiment4", "handdigits:mnist+mnist_crop+usps", "dmoz4"]
ALL = [title for title in auto.SETS if title != "handdigits:mnist+mnist_crop+usps"]
BINS = [0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01]


def run(args, tasks, *more):
    """Labels of each data set."""
    result = common.program(args, "cluster", "--threads", 1, "--seed", 1, "--force", *more, *(f"{t[0]}={t[1]}" for t in tasks))
    return {t["name"]: np.array(t["labels"]) for t in result["tasks"]}


def several():
    """Names of collections with three or more data sets."""
    return SEVERAL + [title for title in auto.folders("tables_made") if len(auto.tasks_of(title)) > 2]


def drawn(title, size, folder):
    """Tables are not drawn: they are small."""
    tasks = auto.tasks_of(title)
    return auto.draw(tasks, size, 1, folder) if size and "/" not in title else tasks


def clusters_of(title, tasks):
    """The number of clusters of each data set; tables of a design have the same segments."""
    if "/" in title:
        return [len(set().union(*(set(auto.lines(t[2])) for t in tasks)))] * len(tasks)
    return [auto.classes(t) for t in tasks]


# --- add -----------------------------------------------------------------------------------------------------------------


def majority(labels, truth):
    return {z: max(sorted(set(truth[labels == z])), key=list(truth[labels == z]).count) for z in set(labels)}


def add_rows(args, key):
    title, size, left = key[0], int(key[1]), int(key[2])
    with tempfile.TemporaryDirectory() as room:
        tasks = drawn(title, size, room)
        k = clusters_of(title, tasks)
        new, rest = tasks[left], [t for i, t in enumerate(tasks) if i != left]
        k_rest = [v for i, v in enumerate(k) if i != left]
        text, truth = ",".join(map(str, k_rest)), auto.lines(new[2])
        together = run(args, rest + [new], "-k", f"{text},{k[left]}")
        alone = run(args, [new], "-k", k[left])
        before = run(args, rest, "-k", text, "--save-model", f"{room}/m.h5")
        given = run(args, [new], "--into", f"{room}/m.h5", "-k", k[left])
        model = run(args, [new], "--into", f"{room}/m.h5")
        run(args, rest, "-k", text, "--save-model", f"{room}/means.h5", "--model-without-samples")
        means = run(args, [new], "--into", f"{room}/means.h5", "-k", k[left])
        nmi = [normalized_mutual_info_score(truth, found[new[0]]) for found in (together, alone, given, model, means)]
        old = np.concatenate([before[t[0]] for t in rest])
        of_old = majority(old, np.concatenate([auto.lines(t[2]) for t in rest]))
        of_new = majority(given[new[0]], truth)
        known = set(of_old.values())
        same = [z for z in of_new if of_new[z] in known]
        right = sum(of_old.get(z) == of_new[z] for z in same)
        fresh = sum(z not in of_old for z in of_new if of_new[z] not in known)
        return [[new[0], len(truth), k[left], max(k_rest), *("%.4f" % v for v in nmi), len(same), right, len(of_new) - len(same), fresh]]


def add(args):
    head = ["set", "size", "left", "task", "samples", "classes", "model_clusters", "together", "alone", "into_k", "into", "into_means", "known", "right", "unknown", "new"]
    keys = [(title, args.size, left) for title in several() for left in range(len(auto.tasks_of(title)))]
    return common.fill(args, "into-add", head, keys, lambda key: add_rows(args, key))


ADD_HEAD = ["collection", "data sets", "alone", "together", "added, k given", "without samples", "added", "difference", "continued", "new"]


def add_table(rows):
    """One row per collection, and all."""
    name = {id(r): "tables_made" if r["set"].startswith("tables_made/") else r["set"] for r in rows}
    out = []
    for title in [*dict.fromkeys(name.values()), None]:
        own = [r for r in rows if title in (None, name[id(r)])]
        values = [auto.mean(float(r[c]) for r in own) for c in ("alone", "together", "into_k", "into_means", "into")]
        count = {c: sum(int(r[c]) for r in own) for c in ("known", "right", "unknown", "new")}
        out.append([title or "all", len(own), *("%.3f" % v for v in values), ("%+.3f" % (values[2] - values[1])).replace("-0.000", "+0.000"),
                    f"{count['right']} of {count['known']}" if count["known"] else "", f"{count['new']} of {count['unknown']}" if count["unknown"] else ""])
    return out


# --- order ---------------------------------------------------------------------------------------------------------------


def order_rows(args, key):
    with tempfile.TemporaryDirectory() as room:
        tasks = drawn(key[0], int(key[1]), room)
        k = clusters_of(key[0], tasks)
        run(args, tasks[:-2], "-k", ",".join(map(str, k[:-2])), "--save-model", f"{room}/m.h5")
        found = []
        for turn in ((-2, -1), (-1, -2)):
            labels, model = {}, f"{room}/m.h5"
            for i, at in enumerate(turn):
                new = run(args, [tasks[at]], "--into", model, "-k", k[at], "--save-model", f"{room}/m{turn[0]}{i}.h5")
                labels[tasks[at][0]] = new[tasks[at][0]]  # the model's other data sets have no labels here
                model = f"{room}/m{turn[0]}{i}.h5"
            found.append(labels)
        return [[t[0], len(auto.lines(t[2])), "%.4f" % adjusted_rand_score(found[0][t[0]], found[1][t[0]]),
                 "%.4f" % np.mean(found[0][t[0]] == found[1][t[0]])] for t in tasks[-2:]]


def order(args):
    return common.fill(args, "into-order", ["set", "size", "task", "samples", "ari", "equal"], [(title, args.size) for title in several()],
                       lambda key: order_rows(args, key))


ORDER_HEAD = ["data sets", "mean adjusted Rand index", "lowest", "same number"]


def order_table(rows):
    ari = [float(r["ari"]) for r in rows]
    return [[len(rows), "%.3f" % auto.mean(ari), "%.3f" % min(ari), "%.3f" % auto.mean(float(r["equal"]) for r in rows)]]


# --- predict -------------------------------------------------------------------------------------------------------------


def aligned(found, reference, k):
    """`found` with the numbers of the reference that agree most."""
    table = np.zeros((k, k))
    np.add.at(table, (found, reference), 1)
    rows, cols = linear_sum_assignment(-table)
    to = np.empty(k, int)
    to[rows] = cols
    return to


def divided(tasks, room):
    """Whether each sample is held out, the other samples as data sets, and the files of those held out."""
    random, held, part, files = np.random.default_rng(5), [], [], []
    for name, path, labels in tasks:
        x, names = auto.load(path), auto.lines(labels)
        held.append(random.random(x.shape[0]) < 0.2)
        end = ".npy" if isinstance(x, np.ndarray) else ".mtx"
        part.append((name, room / f"{name}-part{end}", room / f"{name}-part.labels"))
        files.append(room / f"{name}-held{end}")
        auto.write(part[-1][1], x[~held[-1]], None)
        auto.write(files[-1], x[held[-1]], None)
        part[-1][2].write_text("".join(v + "\n" for v in names[~held[-1]]))
    return held, part, files


def predicted(args, model, name, file, out):
    """Labels of the samples of a file, and their confidence."""
    subprocess.run([args.program, "predict", "-q", "--force", "--model", model, "--task", name, "-o", out, file], check=True)
    lines = out.with_suffix(".samples.csv").read_text().splitlines()
    at = lines[0].split(",").index("confidence")
    return np.array(out.read_text().split(), int), np.array([float(line.split(",")[at]) for line in lines[1:]])


def predict_rows(args, key):
    with tempfile.TemporaryDirectory() as place:
        room = pathlib.Path(place)
        tasks = drawn(key[0], int(key[1]), room)
        held, part, files = divided(tasks, room)
        k = [min(auto.classes(a), auto.classes(b)) for a, b in zip(tasks, part)]
        text = ",".join(map(str, k))
        together = run(args, tasks, "-k", text)
        fitted = run(args, part, "-k", text, "--save-model", room / "m.h5")
        run(args, part, "-k", text, "--save-model", room / "means.h5", "--model-without-samples")
        for i, task in enumerate(tasks):
            name, out = task[0], held[i]
            to = aligned(together[name][~out], fitted[name], k[i])
            reference, truth, cells = to[together[name]][out], auto.lines(task[2])[out], []
            for model in ("means.h5", "m.h5"):
                found, sure = predicted(args, room / model, name, files[i], room / f"{name}.{model}.labels")
                cells += ["%.4f" % np.mean(found == reference), "%.4f" % normalized_mutual_info_score(truth, found)]
            within = [(sure >= low) & (sure < high) for low, high in zip(BINS, BINS[1:])]
            yield [name, (~out).sum(), "%.4f" % np.mean(to[together[name]][~out] == fitted[name]), *cells,
                   "%.4f" % normalized_mutual_info_score(truth, reference), " ".join(f"{(found == reference)[some].sum()}/{some.sum()}" for some in within)]


def predict(args):
    head = ["set", "size", "task", "samples", "stable", "means", "nmi_means", "vote", "nmi_vote", "nmi_together", "by_confidence"]
    return common.fill(args, "into-predict", head, [(title, args.size) for title in ALL], lambda key: predict_rows(args, key))


PREDICT_HEAD = ["collection", "fit of a part", "nearest mean", "vote", "NMI: nearest mean", "vote", "fit of all"]
CONFIDENCE_HEAD = ["confidence", "samples", "as in the fit of all"]


def predict_table(rows):
    def mean(own, column):  # each collection counts once
        by = {}
        for r in own:
            by.setdefault(r["set"], []).append(float(r[column]))
        return auto.mean(auto.mean(v) for v in by.values())

    groups = [(t, [r for r in rows if r["set"] == t]) for t in dict.fromkeys(r["set"] for r in rows)] + [("all", rows)]
    return [[title, *("%.3f" % mean(own, c) for c in ("stable", "means", "vote", "nmi_means", "nmi_vote", "nmi_together"))]
            for title, own in groups if own]


def confidence_table(rows):
    total = sum(np.array([list(map(int, cell.split("/"))) for cell in r["by_confidence"].split()]) for r in rows)
    return [[f"{low:.1f} to {min(high, 1):.1f}", count, "%.2f" % (right / count)] for low, high, (right, count) in zip(BINS, BINS[1:], total) if count]


CASES = {"add": add, "order": order, "predict": predict}

if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["add"], [("--size", {"type": int, "default": 400})]))
