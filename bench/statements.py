#!/usr/bin/python3
"""Measures how often kindred's statements about its own results are correct. SPDX-License-Identifier: BSD-3-Clause

usage: bench/statements.py [CASE...] [--build DIR] [--size N] [--seeds N] [--jobs N] [--minutes M] [--only TEXT]

clusters  `cluster` with the number of classes given: confidence of samples and data sets, "no clearer than random data", matching clusters; also on
          tables whose columns are shuffled, each for itself, so that they have no clusters ("noise of ...")
k         `cluster -k auto` and `-k auto,auto,...`: the number of clusters and how sure the program is
transfer  `transfer`: confidence, the three verdicts, classes with few predicted labels, distance of source and target
fit       computes the constants of src/engine/ensemble/probability_right.c from these results, and how often matches are right that get each probability
          with the constants of the other sources; runs nothing

A case writes bench/results/statements-CASE.csv, one run after the other, on at most --size samples per data set (400) and for --seeds draws (2).
A later call continues. bench/docs.py writes the tables of docs/notes/statements.md from these files. Known classes are used only for scores."""

import itertools
import pathlib
import re
import sys
import tempfile

import auto
import common
import numpy as np
import together
import transfer
from scipy.optimize import linear_sum_assignment, linprog

BINS = 20
F = [float(v) for v in re.findall(r"F\d = (-?[\d.]+)", (common.ROOT / "src/engine/ensemble/probability_right.c").read_text())]


def right_samples(labels, truth):
    """Whether each sample has the class that its cluster is matched with, one to one."""
    names, number = np.unique(truth, return_inverse=True)
    counts = np.zeros((max(labels) + 1, len(names)))
    np.add.at(counts, (labels, number), 1)
    matched = dict(zip(*linear_sum_assignment(-counts)))
    return np.array([matched.get(z, -1) == c for z, c in zip(labels, number)])


def field(result, name, task, default=0):
    fields = result["method_fields"]
    return fields.get(f"{name}.{task}", fields.get(name, default))


NOISE = "noise of "
# Used for no choice before the constants of this page were fitted.
NEW = [t for t in together.NEW if not t.startswith("sentences")]


def measured(kind):
    """Tables (kind: tables or tables_made) in the committed results, so that the page is the same on machines without data."""
    return {r["set"].split("/")[1] for r in common.read_csv(common.RESULTS / "statements-clusters.csv") if r["set"].startswith(kind + "/")}


REAL, MADE = measured("tables"), measured("tables_made")


def cluster_keys(args, noise=()):
    tables = [*auto.folders("tables"), *auto.folders("tables_made")]
    return [(title, args.size, seed) for seed in range(1, args.seeds + 1) for title in [*auto.SETS, *NEW, *tables, *(NOISE + t for t in tables if noise)]]


def drawn(title, size, seed, folder):
    """The data sets of a title, drawn; of noise, each column in another order."""
    tasks = auto.draw(auto.tasks_of(title.removeprefix(NOISE)), int(size), int(seed), folder)
    if title.startswith(NOISE):
        rng = np.random.default_rng(int(seed))
        for stem, path, labels in tasks:
            head, x, _ = auto.load_table(path, labels)
            auto.write(path, np.column_stack([rng.permutation(x[:, j]) for j in range(x.shape[1])]), head)
    return tasks


# --- clusters ------------------------------------------------------------------------------------------------------------


def majorities(result, tasks):
    """Of each data set, the majority class of each number of a cluster; None: it has no such cluster."""
    out = {}
    for t, task in zip(result["tasks"], tasks):
        names, number = np.unique(auto.lines(task[2]), return_inverse=True)
        counts = np.zeros((max(t["labels"]) + 1, len(names)))
        np.add.at(counts, (t["labels"], number), 1)
        out[t["name"]] = [names[row.argmax()] if row.sum() else None for row in counts]
    return out


def matches(result, tasks, noise):
    """quality:right for each match of clusters of two data sets that share a class; right: both have the same majority class, and the data are no
    noise. Of a cluster without a counterpart, none:right; right: no cluster of the other has its majority class, or they are noise."""
    majority, out = majorities(result, tasks), []
    for entry in result.get("correspondence", []):
        a, b = majority[entry["from"]], majority[entry["to"]]
        for z, row in enumerate(entry["matrix"]):
            if z >= len(a) or a[z] is None or not set(a) & set(b) - {None}:
                continue
            if max(row) > 0:
                out.append("%.3f:%d" % (entry["quality"][z], a[z] == b[row.index(max(row))] and not noise))
            else:
                out.append("none:%d" % (noise or a[z] not in b))
    return " ".join(out)


def transported(cost, a, b):
    """(E3) of auto_report.c; the best counterpart of each row."""
    if cost.shape[0] == cost.shape[1]:
        return linear_sum_assignment(cost)[1]
    rows = np.kron(np.eye(len(a)), np.ones(len(b)))
    columns = np.kron(np.ones(len(a)), np.eye(len(b)))
    flow = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[a / a.sum(), b / b.sum()]).x
    return flow.reshape(cost.shape).argmax(1)


def terms(result, tasks, noise, arrays):
    """What (E2) and (E3) of probability_right.c use for each match, suppressed or not: cosine:clusters:few columns:right, or, of tables,
    cosine:lower estimate:right. Matches of clusters that were carried over are left out."""
    majority, out = majorities(result, tasks), []
    if result["data"] == "a table":
        for entry in result.get("correspondence", []):
            a, b = majority[entry["from"]], majority[entry["to"]]
            least = min(field(result, "estimated_ari", entry[end]) for end in ("from", "to"))
            for z, row in enumerate(entry["matrix"]):
                if z < len(a) and a[z] is not None and max(row) > 0 and set(a) & set(b) - {None}:
                    right = a[z] == b[row.index(max(row))] and not noise
                    out.append("%.4f:%.4f:%d" % ((logit(entry["quality"][z], 1e-9) - F[0] - F[2] * least) / F[1], least, right))
        return " ".join(out)
    of = {t["name"]: t for t in result["tasks"]}
    carried = {t["name"] for t in result["tasks"] if (t.get("sharing") or {}).get("from")}
    centres = {name: np.load(arrays / f"centroids.{name}.npy") for name in of if (arrays / f"centroids.{name}.npy").exists()}
    order = list(of)
    chances = {name: np.load(arrays / f"match_quality.{name}.npy") for name in centres if (arrays / f"match_quality.{name}.npy").exists()}

    def numbers(name):
        """The number of each row of the arrays: that with the same chances of a match."""
        said = {e["to"]: e["quality"] for e in result["correspondence"] if e["from"] == name}
        rows = [[chances[name][order.index(to)][z] for to in said] for z in range(of[name]["k"])]
        by = {n: [said[to][n] for to in said] for n in set(of[name]["labels"])}
        return [min(by, key=lambda n: np.abs(np.subtract(by[n], row)).sum()) for row in rows]

    for entry in result.get("correspondence", []):
        names = entry["from"], entry["to"]
        a, b = (majority[n] for n in names)
        if carried & set(names) or not all(n in chances for n in names) or not set(a) & set(b) - {None}:
            continue
        number = [numbers(n) for n in names]
        sizes = [np.bincount(of[n]["labels"], minlength=len(majority[n]))[own].astype(float) for n, own in zip(names, number)]
        u = []
        for n, size in zip(names, sizes):
            away = centres[n] - size @ centres[n] / size.sum()
            u.append(away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300))
        cosine = u[0] @ u[1].T
        for z, best in enumerate(transported(1 - cosine, *sizes)):
            right = a[number[0][z]] == b[number[1][best]] and not noise
            out.append("%.4f:%d:%d:%d" % (cosine[z, best], len(u[0]), centres[names[0]].shape[1] < 200, right))
    return " ".join(out)


def clusters(args):
    head = ["set", "size", "seed", "task", "data", "samples", "classes", "nmi", "accuracy", "agreement", "said_noise", "matches", "terms", "agreement_bins"]

    def make(key):
        title, size, seed = key
        with tempfile.TemporaryDirectory() as folder:
            tasks, noise = drawn(title, size, seed, folder), title.startswith(NOISE)
            arrays = pathlib.Path(folder, "arrays")
            r = auto.cluster(args, tasks, ",".join(str(auto.classes(t)) for t in tasks), seed, "--arrays", arrays)
            said = {w.split(":")[0] for w in r.get("warnings", []) if "no clearer than" in w}
            for i, (given, task) in enumerate(zip(tasks, r["tasks"])):
                right = right_samples(np.array(task["labels"]), auto.lines(given[2]))
                sure = np.array(task.get("agreement", task["confidence"]))  # tables: their confidence needs no map
                yield [given[0], r.get("data", ""), task["n"], auto.classes(given), "%.4f" % task["metrics"]["nmi"], "%.4f" % right.mean(),
                       "%.4f" % sure.mean(), int(given[0] in said), matches(r, tasks, noise) if i == 0 else "",
                       terms(r, tasks, noise, arrays) if i == 0 else "", transfer.bins(sure, right, BINS)]

    return common.fill(args, "statements-clusters", head, cluster_keys(args, noise=True), make)


# --- number of clusters --------------------------------------------------------------------------------------------------


def number(args):
    def evidence(r, task):
        """What the tables count; nothing: k was not found."""
        return ("supported" if field(r, "k_sure", task) else "a suggestion") if field(r, "k_evidence", task, "") else ""

    def make(key):
        title, size, seed = key
        with tempfile.TemporaryDirectory() as folder:
            tasks, found = drawn(title, size, seed, folder), []
            for k in ("auto", ",".join(["auto"] * len(tasks))):
                r = auto.cluster(args, tasks, k, seed)
                found.append([(t["k"], evidence(r, t["name"])) for t in r["tasks"]])
            return [[t[0], r.get("data", ""), auto.classes(t), *found[0][i], *found[1][i]] for i, t in enumerate(tasks)]

    return common.fill(args, "statements-k", ["set", "size", "seed", "task", "data", "classes", "for_all", "evidence", "for_each", "each_evidence"],
                       cluster_keys(args), make)


# --- transfer ------------------------------------------------------------------------------------------------------------


def transfer_tasks():
    """{title: (collection, folder, sources, target)}"""
    out = {}
    for group, folder, sources, target in transfer.all_tasks():
        out[f"{folder}: {'+'.join(sources)} to {target}"] = group.split(",")[0], folder, sources, target
    for folder in [*auto.folders("tables"), *auto.folders("tables_made"), *NEW]:
        name = folder.split("/")[-1]
        classes = {t[0]: set(auto.load_table(*t[1:])[2] if t[1].suffix == ".csv" else auto.lines(t[2])) for t in auto.tasks_of(folder)}
        for a, b in itertools.permutations(classes, 2):
            if len(classes[a] & classes[b]) >= max(2, 0.6 * len(classes[b])):
                out[f"{name}: {a} to {b}"] = name, folder, (a,), b
    return out


def few_predictions(result, truth, source, right):
    """rare:found for each class that a warning says few samples were labelled with: whether it is rare in the target, and its recall."""
    for w in result.get("warnings", []):
        if "few samples were labelled " in w:
            c = re.search(r"few samples were labelled '?(.*?)'? \(", w)[1]
            yield "%d:%.2f" % (np.mean(truth == c) < 0.5 * np.mean(source == c), right[truth == c].mean() if (truth == c).any() else 1)


def transfers(args):
    head = ["task", "size", "seed", "collection", "data", "classes", "accuracy", "agreement", "distance", "source_accuracy", "moved", "few", "agreement_bins"]
    known = transfer_tasks()

    def make(key):
        title, size, seed = key
        collection, folder, sources, target = known[title]
        with tempfile.TemporaryDirectory() as to:
            tasks = {t[0]: t for t in auto.tasks_of(folder)}
            *given, (name, path, labels) = auto.draw([tasks[n] for n in (*sources, target)], int(size), int(seed), to)
            for file in [g[2] for g in given] + [labels] if folder.startswith("20ng") else []:  # by their subject
                file.write_text("".join(c.split(".")[0] + "\n" for c in auto.lines(file)))
            truth, source = auto.lines(labels), np.concatenate([auto.lines(g[2]) for g in given])
            labels.unlink()
            flags = [text for n, file, own in given for text in ("--source", f"{n}={file}", "--labels", own)]
            r = common.program(args, "transfer", "--seed", seed, "--missing", "mean", *(["--header"] if "/" in folder else []), *flags, "--target", f"{name}={path}")
        t = r["tasks"][-1]
        sure, right = np.array(t["agreement"]), np.array(t["labels"]) == truth
        return [[collection, r.get("data", ""), t["k"], "%.4f" % right.mean(), "%.4f" % sure.mean(), "%.3f" % field(r, "a_distance", t["name"], -1),
                 "%.4f" % field(r, "source_accuracy", t["name"], -1), "%.4f" % field(r, "shares_moved", t["name"], -1),
                 " ".join(few_predictions(r, truth, source, right)), transfer.bins(sure, right, BINS)]]

    keys = [(title, args.size, seed) for seed in range(1, args.seeds + 1) for title in known]
    return common.fill(args, "statements-transfer", head, keys, make)


# --- what the results say --------------------------------------------------------------------------------------------------


def logit(p, least=0.01):
    p = np.clip(p, least, 1 - least)
    return np.log(p / (1 - p))


def logistic(x):
    return 1 / (1 + np.exp(-x))


def source_of(title):
    """Collections of one source are held out together."""
    name = title.split(":")[0]
    return "20ng" if name.startswith("20ng") else name


def load_clusters():
    out = []
    for r in common.read_csv(common.RESULTS / "statements-clusters.csv"):
        if r["set"].startswith(NOISE):
            continue
        b = transfer.read_bins(r["agreement_bins"])
        x = np.column_stack([np.ones(len(b)), np.full(len(b), logit(float(r["agreement"]))), logit(b[:, 0]) - logit(float(r["agreement"])),
                             np.full(len(b), np.log(int(r["classes"])))])  # (E1)
        out.append({"source": source_of(r["set"]), "data": r["data"], "bins": b, "x": x, "right": float(r["accuracy"]), "row": r})
    return out


def load_transfers():
    out = []
    for r in common.read_csv(common.RESULTS / "statements-transfer.csv"):
        b = transfer.read_bins(r["agreement_bins"])
        table = r["data"].startswith("measurements")
        out.append({"source": r["collection"], "data": "tables" if table else "other data", "bins": b, "right": float(r["accuracy"]), "row": r})
    return out


def regression(x, count, right, ridge=1e-3):
    """Logistic regression of right samples by Newton's method; the first column is the intercept."""
    w, ridge = np.zeros(x.shape[1]), ridge * np.diag([0] + [1] * (x.shape[1] - 1))
    for _ in range(50):
        p = logistic(x @ w)
        w += np.linalg.solve((x * (count * p * (1 - p))[:, None]).T @ x + ridge, x.T @ (right - count * p) - ridge @ w)
    return w


def fitted(runs):
    """Constants for which each data set weighs the same."""
    return regression(np.vstack([r["x"] for r in runs]), *(np.concatenate([r["bins"][:, c] / r["bins"][:, 1].sum() for r in runs]) for c in (1, 2)))


def left_out(runs):
    """The mean estimate of each run with constants fitted without its source."""
    known = {s: fitted([r for r in runs if r["source"] != s]) for s in {r["source"] for r in runs}}
    return np.array([np.average(logistic(r["x"] @ known[r["source"]]), weights=r["bins"][:, 1]) for r in runs])


def raw(runs):
    return np.array([np.average(r["bins"][:, 0], weights=r["bins"][:, 1]) for r in runs])


def calibration():
    """(what, runs, mean right, mean reported before, mean error, mean reported now, mean error with the source held out)"""
    found, moved = load_clusters(), load_transfers()
    other = [r for r in found if r["data"] != "a table"]
    estimate = dict(zip(map(id, other), left_out(other)))
    names = {"counts of molecules": "molecule counts", "counts of words": "word counts"}
    kinds = [(f"clusters, {names.get(kind, kind)}", [r for r in other if r["data"] == kind], None) for kind in sorted({r["data"] for r in other})]
    kinds += [("clusters, all above", other, None), *((f"clusters, {kind} tables", [r for r in found if r["data"] == "a table" and (r["source"].startswith("tables_made/") == (kind == "generated"))], "raw")
                                                           for kind in ("real", "generated"))]
    kinds += [(f"classes, {kind}", [r for r in moved if r["data"] == data and (names is None or r["source"] in names)], "raw")
              for kind, data, names in (("real tables", "tables", REAL), ("generated tables", "tables", MADE), ("measurements", "tables", NEW), ("other data", "other data", None))]
    for name, runs, how in kinds:
        said, right = raw(runs), np.array([r["right"] for r in runs])
        now = said if how == "raw" else np.array([estimate[id(r)] for r in runs])
        yield name, len(runs), right.mean(), said.mean(), abs(said - right).mean(), now.mean(), abs(now - right).mean()


def frequencies():
    """(the statement, how often it is made, how often it is right, what right means)"""
    rows = common.read_csv(common.RESULTS / "statements-clusters.csv")
    for name, table in (("", False), ("tables: ", True)):
        kind = [r for r in rows if (r["data"] == "a table") == table]
        said = [r for r in kind if r["said_noise"] == "1"]
        yield f"{name}no clearer than random data", len(said), sum(r["set"].startswith(NOISE) or float(r["nmi"]) < 0.1 for r in said), "NMI below 0.1, or made of noise"
        if table:
            missed = [r for r in kind if r["set"].startswith(NOISE)]
            yield "tables of noise without that warning", sum(r["said_noise"] == "0" for r in missed), 0, f"of {len(missed)} such tables"
        pairs = [m.split(":") for r in kind for m in r["matches"].split()]
        for low, high in ((0, 0.3), (0.3, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 0.9), (0.9, 1.01)):
            own = [right == "1" for value, right in pairs if value != "none" and low <= float(value) < high]
            if own:
                yield f"{name}match, {100 * low:.0f} to {min(100 * high, 100):.0f} %", len(own), sum(own), "the same majority class"
    ks = common.read_csv(common.RESULTS / "statements-k.csv")
    for name, chosen in (("tables, generated ones only: ", None), ("tables, real ones only: ", None), ("", False), ("collections used to choose the rule: ", True)):
        for word in ("supported", "a suggestion"):
            rows = [r for r in ks if ((r["data"] == "a table") == (chosen is None) and (chosen is None or (r["set"] not in NEW) == chosen)
                                      and (chosen is not None or r["set"].startswith("tables/") == ("real" in name)))]
            own = [(int(r[k]), int(r["classes"])) for r in rows for k, e in (("for_all", "evidence"), ("for_each", "each_evidence")) if word in r[e]]
            if own:
                said = "k, repeated clusterings agree" if word == "supported" else "k, other suggestions"
                yield name + said, len(own), sum(k == c for k, c in own), "the number of classes"


def verdicts():
    """(statement, kind of data, data sets, mean accuracy)"""
    runs = load_transfers()
    sure = dict(zip(map(id, runs), raw(runs)))
    kinds = [("real tables", lambda r: r["source"] in REAL), ("generated tables", lambda r: r["source"] in MADE),
             ("other data, not used to choose the limits", lambda r: r["source"] in NEW),
             ("other data, used to choose the limits", lambda r: r["source"] not in {*REAL, *MADE, *NEW})]
    for name, low, high in (("trustworthy", 0.8, 2), ("trust with care", 0.65, 0.8), ("check before use", -1, 0.65)):
        for kind, of in kinds:
            own = [r["right"] for r in runs if of(r) and low <= sure[id(r)] < high]
            yield name, kind, len(own), np.mean(own) if own else np.nan
    for name, low, high in (("class proportions differ by more than 15 %: less reliable", 0.15, 2), ("class proportions differ by less", -1, 0.15)):
        own = [r["right"] for r in runs if low < float(r["row"]["moved"]) <= high]
        yield name, "all", len(own), np.mean(own)
    found = [r for r in load_clusters()]
    for name, low, high in (("clusters: the methods disagree", 0, 0.75), ("clusters: the methods agree", 0.75, 2)):
        own = [r["right"] for r in found if r["data"] != "a table" and low <= float(r["row"]["agreement"]) < high]
        yield name, "other data", len(own), np.mean(own)


def load_matches(table):
    """(source, x of (E2) or (E3), right, weight) of the matches of each run, suppressed ones included; runs weigh the same, noise a third."""
    out = []
    for r in common.read_csv(common.RESULTS / "statements-clusters.csv"):
        values = np.array([[float(v) for v in one.split(":")] for one in r["terms"].split()])
        if (r["data"] == "a table") != table or not len(values):
            continue
        x = values[:, :2] if table else np.column_stack([values[:, 0], np.log(values[:, 1]), values[:, 2]])
        noise = r["set"].startswith(NOISE)
        out.append((source_of(r["set"].removeprefix(NOISE)), np.column_stack([np.ones(len(x)), x]), values[:, -1],
                    np.full(len(x), (1 / 3 if noise else 1) / len(x))))
    return out


def match_constants(runs):
    x, right, weight = (np.concatenate([r[i] for r in runs]) for i in (1, 2, 3))
    return regression(x, weight, weight * right)


RANGES = (0, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9, 1.01)


def matches_left_out():
    """(kind of data, range, matches, right, each run weighing the same) with constants fitted without the source."""
    for kind, table in (("other data", False), ("tables", True)):
        runs = load_matches(table)
        known = {s: match_constants([r for r in runs if r[0] != s]) for s in {r[0] for r in runs}}
        for low, high in itertools.pairwise(RANGES):
            count, weight, hits = 0, 0, 0
            for source, x, right, w in runs:
                p = logistic(x @ known[source])
                here = (low <= p) & (p < high)
                count, weight, hits = count + here.sum(), weight + w[here].sum(), hits + (w * right)[here].sum()
            yield kind, f"{100 * low:.0f} to {min(100 * high, 100):.0f} %", int(count), hits / weight if weight else np.nan


def fit(args):
    print("B0 B1 B2 B3", *("%.2f" % v for v in fitted([r for r in load_clusters() if r["data"] != "a table"])))
    print("C0 C1 C2 C3", *("%.2f" % v for v in match_constants(load_matches(False))))
    print("F0 F1 F2", *("%.2f" % v for v in match_constants(load_matches(True))))
    for row in matches_left_out():
        print(*row[:3], "%.2f" % row[3])


CASES = {"clusters": clusters, "k": number, "transfer": transfers, "fit": fit}


if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["clusters", "k", "transfer"], [("--size", {"type": int, "default": 400}), ("--seeds", {"type": int, "default": 2})]))
