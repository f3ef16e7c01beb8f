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

import json
import pathlib
import subprocess
import sys
import tempfile

import common
import auto
import numpy as np
import scipy.io
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

auto.SETS["handdigits:mnist+mnist_crop+usps"] = ("handdigits", ["mnist", "mnist_crop", "usps"])
SEVERAL = ["webkb4", "20ng_4task", "reuters3", "cluto_trec", "amazon_sentiment4", "handdigits:mnist+mnist_crop+usps", "dmoz4"]
ALL = [title for title in auto.SETS if title != "handdigits:mnist+mnist_crop+usps"]
BINS = [0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01]


def run(args, command, tasks, *more, folder):
    """Labels of each data set, and the result."""
    call = [args.program, command, "-q", "--threads", "1", "--seed", "1", "--force", "-o", folder, *more, *(f"{t[0]}={t[1]}" for t in tasks)]
    done = subprocess.run(list(map(str, call)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"into: {' '.join(map(str, call))}: {done.stderr.strip()}")
    result = json.loads((pathlib.Path(folder) / "result.json").read_text())
    return {t["name"]: np.array(t["labels"]) for t in result["tasks"]}, result


def truth_of(task):
    return np.array(task[2].read_text().removesuffix("\n").split("\n"))


def classes_of(tasks):
    return [len(set(truth_of(t))) for t in tasks]


def tables_of(name):
    """The tables of a design, without their labels."""
    return [(p.stem, p, p.with_suffix(".labels")) for p in sorted((common.DATA / "tables_made" / name).glob("t*.csv"))]


def several():
    """Names of collections with three or more data sets."""
    made = sorted(p.name for p in (common.DATA / "tables_made").iterdir()) if (common.DATA / "tables_made").is_dir() else []
    return SEVERAL + [f"tables_made/{name}" for name in made if len(tables_of(name)) > 2]


def drawn(title, size, folder):
    if title.startswith("tables_made/"):
        return tables_of(title.split("/")[1])
    tasks = auto.tasks_of(title)
    return auto.draw(tasks, size, 1, folder) if size else tasks


def clusters_of(title, tasks):
    """The number of clusters of each data set; tables of a design have the same segments."""
    if title.startswith("tables_made/"):
        return [len(set().union(*(set(truth_of(t)) for t in tasks)))] * len(tasks)
    return classes_of(tasks)


# --- add -----------------------------------------------------------------------------------------------------------------


def majority(labels, truth):
    return {z: max(sorted(set(truth[labels == z])), key=list(truth[labels == z]).count) for z in set(labels)}


def add_rows(args, key):
    title, size, left = key[0], int(key[1]), int(key[2])
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        tasks = drawn(title, size, room)
        k = clusters_of(title, tasks)
        new, rest = tasks[left], [t for i, t in enumerate(tasks) if i != left]
        k_rest = [v for i, v in enumerate(k) if i != left]
        text, truth = ",".join(map(str, k_rest)), truth_of(new)
        together, _ = run(args, "cluster", rest + [new], "-k", f"{text},{k[left]}", folder=room / "all")
        alone, _ = run(args, "cluster", [new], "-k", k[left], folder=room / "alone")
        before, _ = run(args, "cluster", rest, "-k", text, "--save-model", room / "m.h5", folder=room / "old")
        given, first = run(args, "cluster", [new], "--into", room / "m.h5", "-k", k[left], folder=room / "k")
        model, _ = run(args, "cluster", [new], "--into", room / "m.h5", folder=room / "model")
        run(args, "cluster", rest, "-k", text, "--save-model", room / "means.h5", "--model-without-samples", folder=room / "old2")
        means, _ = run(args, "cluster", [new], "--into", room / "means.h5", "-k", k[left], folder=room / "k2")
        nmi = [normalized_mutual_info_score(truth, found[new[0]]) for found in (together, alone, given, model, means)]
        old = np.concatenate([before[t[0]] for t in rest])
        of_old = majority(old, np.concatenate([truth_of(t) for t in rest]))
        of_new = majority(given[new[0]], truth)
        known = set(of_old.values())
        same = [z for z in of_new if of_new[z] in known]
        right = sum(of_old.get(z) == of_new[z] for z in same)
        fresh = sum(z not in of_old for z in of_new if of_new[z] not in known)
        return [[new[0], len(truth), k[left], max(k_rest), *("%.4f" % v for v in nmi), len(same), right, len(of_new) - len(same), fresh]]


def add(args):
    head = ["set", "size", "left", "task", "samples", "classes", "model_clusters", "together", "alone", "into_k", "into", "into_means", "known", "right", "unknown", "new"]
    keys = []
    for title in several():
        count = len(drawn(title, 0, None))
        keys += [(title, str(args.size), str(left)) for left in range(count)]
    table = table_of("add", head, keys, args)
    table.fill(lambda key: add_rows(args, key), args.minutes, args.only, args.jobs)
    show(ADD_HEAD, add_table([dict(zip(head, r)) for rows in table.rows.values() for r in rows]))


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
        room = pathlib.Path(room)
        tasks = drawn(key[0], int(key[1]), room)
        k = clusters_of(key[0], tasks)
        run(args, "cluster", tasks[:-2], "-k", ",".join(map(str, k[:-2])), "--save-model", room / "m.h5", folder=room / "old")
        found = []
        for turn in ((-2, -1), (-1, -2)):
            labels, model = {}, room / "m.h5"
            for i, at in enumerate(turn):
                new, _ = run(args, "cluster", [tasks[at]], "--into", model, "-k", k[at], "--save-model", room / f"m{turn[0]}{i}.h5", folder=room / f"o{turn[0]}{i}")
                labels[tasks[at][0]] = new[tasks[at][0]]
                model = room / f"m{turn[0]}{i}.h5"
            found.append(labels)
        return [[t[0], len(truth_of(t)), "%.4f" % adjusted_rand_score(found[0][t[0]], found[1][t[0]]),
                 "%.4f" % np.mean(found[0][t[0]] == found[1][t[0]])] for t in tasks[-2:]]


def order(args):
    head = ["set", "size", "task", "samples", "ari", "equal"]
    table = table_of("order", head, [(title, str(args.size)) for title in several()], args)
    table.fill(lambda key: order_rows(args, key), args.minutes, args.only, args.jobs)
    show(ORDER_HEAD, order_table([dict(zip(head, r)) for rows in table.rows.values() for r in rows]))


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


def predict_rows(args, key):
    title, size = key[0], int(key[1])
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)
        tasks, part, held = drawn(title, size, room), [], []
        random = np.random.default_rng(5)
        (room / "part").mkdir()
        (room / "held").mkdir()
        for name, path, labels in tasks:
            x = auto.load(path)
            out = random.random(x.shape[0]) < 0.2
            held.append(out)
            for folder, rows in (("part", ~out), ("held", out)):
                target = room / folder / (name + (".mtx" if sp.issparse(x) else ".npy"))
                scipy.io.mmwrite(str(target), x[rows]) if sp.issparse(x) else np.save(target, x[rows])
                if folder == "part":
                    beside = room / folder / (name + ".labels")
                    beside.write_text("".join(v + "\n" for v in truth_of((name, path, labels))[rows]))
                    part.append((name, target, beside))
        k = [min(a, b) for a, b in zip(classes_of(tasks), classes_of(part))]
        text = ",".join(map(str, k))
        together, _ = run(args, "cluster", tasks, "-k", text, folder=room / "all")
        fitted, _ = run(args, "cluster", part, "-k", text, "--save-model", room / "m.h5", folder=room / "fit")
        run(args, "cluster", part, "-k", text, "--save-model", room / "means.h5", "--model-without-samples", folder=room / "fit2")
        for i, (name, path, labels) in enumerate(tasks):
            to = aligned(together[name][~held[i]], fitted[name], k[i])
            reference, truth = to[together[name]][held[i]], truth_of(tasks[i])[held[i]]
            sample = room / "held" / part[i][1].name
            cells, bins = [], ""
            for model in ("means.h5", "m.h5"):
                out = room / f"{name}.{model}.labels"
                done = subprocess.run([str(args.program), "predict", "-q", "--force", "--model", str(room / model), "--task", name, "-o", str(out), str(sample)],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"into: predict: {done.stderr.strip()}")
                found = np.array(out.read_text().split(), int)
                cells += ["%.4f" % np.mean(found == reference), "%.4f" % normalized_mutual_info_score(truth, found)]
            lines = out.with_suffix(".samples.csv").read_text().splitlines()
            at = lines[0].split(",").index("confidence")
            sure = np.array([float(line.split(",")[at]) for line in lines[1:]])
            for low, high in zip(BINS, BINS[1:]):
                some = (sure >= low) & (sure < high)
                bins += f" {int((found == reference)[some].sum())}/{int(some.sum())}"
            yield [name, int((~held[i]).sum()), "%.4f" % np.mean(to[together[name]][~held[i]] == fitted[name]), *cells,
                   "%.4f" % normalized_mutual_info_score(truth, reference), bins.strip()]


def predict(args):
    head = ["set", "size", "task", "samples", "stable", "means", "nmi_means", "vote", "nmi_vote", "nmi_together", "by_confidence"]
    table = table_of("predict", head, [(title, str(args.size)) for title in ALL], args)
    table.fill(lambda key: list(predict_rows(args, key)), args.minutes, args.only, args.jobs)
    rows = [dict(zip(head, r)) for rows in table.rows.values() for r in rows]
    show(PREDICT_HEAD, predict_table(rows))
    show(CONFIDENCE_HEAD, confidence_table(rows))


PREDICT_HEAD = ["collection", "fit of a part", "nearest mean", "vote", "NMI: nearest mean", "vote", "fit of all"]
CONFIDENCE_HEAD = ["confidence", "samples", "as in the fit of all"]


def predict_table(rows):
    def mean(own, column):  # each collection counts once
        by = {}
        for r in own:
            by.setdefault(r["set"], []).append(float(r[column]))
        return auto.mean(auto.mean(v) for v in by.values())

    groups = [(t, [r for r in rows if r["set"] == t]) for t in dict.fromkeys(r["set"] for r in rows)]
    groups += [("all", rows)]
    return [[title, *("%.3f" % mean(own, c) for c in ("stable", "means", "vote", "nmi_means", "nmi_vote", "nmi_together"))]
            for title, own in groups if own]


def confidence_table(rows):
    total = sum(np.array([list(map(int, cell.split("/"))) for cell in r["by_confidence"].split()]) for r in rows)
    return [[f"{low:.1f} to {min(high, 1):.1f}", count, "%.2f" % (right / count)] for low, high, (right, count) in zip(BINS, BINS[1:], total) if count]


def show(head, rows):
    print("\n| %s |\n|---|%s" % (" | ".join(head), "---:|" * (len(head) - 1)))
    print("\n".join("| %s |" % " | ".join(map(str, r)) for r in rows))


def table_of(case, head, keys, args):
    return common.Table(args.out or common.RESULTS / f"into-{case}.csv", head, list(keys), f"bench/into.py {case}")


CASES = {"add": add, "order": order, "predict": predict}


def main():
    args = common.arguments(__doc__, CASES, ["add"], more=[
        ("--size", {"type": int, "default": 400}), ("--jobs", {"type": int, "default": 1}), ("--minutes", {"type": float, "default": float("inf")}),
        ("--kindred", {"type": pathlib.Path, "help": "program (default: that of --build)"}), ("--only", {"default": "", "metavar": "TEXT"})])
    args.program = args.kindred or args.program
    return common.run_cases(CASES, args)


if __name__ == "__main__":
    sys.exit(main())
