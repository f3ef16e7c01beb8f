#!/usr/bin/python3
"""Measures the method auto of `cluster` on real data, compared with simpler methods. SPDX-License-Identifier: BSD-3-Clause

usage: bench/auto.py CASE... [--build DIR] [--out FILE.csv] [--size N] [--seeds N] [--minutes M] [--only TEXT]

quality    auto, auto --no-transfer, k-means, normalised cut and pooled k-means with the same preprocessing, on at most --size samples per data
           set (400; 0: all). It also counts how often the statements of auto are correct: that its methods agree, that clusters are no clearer
           than noise, and that clusters of two data sets match
k          how often `-k auto` finds the number of classes
landmarks  auto and ncut on neighbour graphs and on 1000, 2000 and 4000 landmarks, all samples

The data sets are those of every collection in KINDRED_DATA. A case writes bench/results/auto-CASE.csv (or --out), one draw after the other.
A later call continues, and --minutes limits its time. At the end it prints its tables, which docs/notes/auto.md and docs/notes/graphs.md discuss. Known
classes are used only for scores."""

import functools
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import common
import numpy as np
import scipy.io
import scipy.sparse as sp

# Folder, and its data sets if not all are used together. Those of one source are one collection: 20ng.
COLLECTIONS = [("webkb4", None), ("20ng_rec_vs_talk", None), ("20ng_comp_vs_sci", None), ("20ng_4task", None), ("reuters3", None),
               ("handdigits", ["mnist_crop", "usps"]), ("cluto_trec", None), ("sc_mixology3", None), ("cluto_sjmn", None), ("cluto_ohscal", None),
               ("amazon_sentiment4", None), ("nuswide10", ["image"]), ("nuswide10", ["text"]), ("handdigits", ["mnist"]), ("20ng_full", None), ("dmoz4", None),
               ("la12", None)]
SETS = {name + (":" + "+".join(wanted) if wanted else ""): (name, wanted) for name, wanted in COLLECTIONS}
METHODS = ["auto", "single", "kmeans", "ncut", "pooled"]
GRAPHS = ["neighbours", "1000", "2000", "4000"]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def short(value, sign=""):
    return (f"%{sign}.3f" % value).replace("0.", ".", 1) if abs(value) < 1 else f"%{sign}.3f" % value


# --- data and runs -------------------------------------------------------------------------------------------------------


def tasks_of(title):
    """(name, matrix file, labels file) of each data set."""
    name, wanted = SETS[title]
    folder = common.DATA / name
    if not folder.is_dir():
        raise common.Absent(f"no data in {folder}")
    stems = {p.name.split(".")[0]: p for p in sorted(folder.iterdir()) if p.suffix != ".labels" and p.name != "features.txt"}
    return [(stem, path, folder / (stem + ".labels")) for stem, path in stems.items() if not wanted or stem in wanted]


@functools.lru_cache(maxsize=4)
def load(path):
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as f:
        return sp.csr_matrix(scipy.io.mmread(f)) if ".mtx" in path.name else np.load(f)


def draw(tasks, size, seed, folder):
    """Copies of the data sets with at most `size` rows each."""
    out = []
    for number, (stem, path, labels) in enumerate(tasks):
        x, names = load(path), labels.read_text().removesuffix("\n").split("\n")
        rows = np.arange(x.shape[0])
        if len(rows) > size:
            rows = np.sort(np.random.default_rng(1000 * seed + number).choice(rows, size, replace=False))
        target, beside = (pathlib.Path(folder) / (stem + end) for end in (".mtx" if sp.issparse(x) else ".npy", ".labels"))
        scipy.io.mmwrite(str(target), x[rows]) if sp.issparse(x) else np.save(target, x[rows].astype("float64"))
        beside.write_text("".join(names[i] + "\n" for i in rows))
        out.append((stem, target, beside))
    return out


def classes(task):
    return len(set(task[2].read_text().split("\n")) - {""})


def cluster(args, tasks, k, seed, *more):
    """The result of a run."""
    command = [args.program, "cluster", "-q", "-k", k, "--seed", str(seed), *more, "--truth", ",".join(str(t[2]) for t in tasks)]
    done = subprocess.run([*command, *(f"{t[0]}={t[1]}" for t in tasks)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"auto: {done.stderr.strip()}")
    return json.loads(done.stdout)


def nmi(result):
    return [t["metrics"]["nmi"] for t in result["tasks"]]


def flags(result):
    """The preprocessing of a result as options."""
    known = {v: option for option, values in (("--weight", "binary log1p cpm tfidf sqrt"), ("--norm", "l1 l2"), ("--scale", "standard")) for v in values.split()}
    words = [w.split(" ")[0] for w in result["preprocessing"].split("; ")[1:]]
    return [text for w in words if w in known for text in (known[w], w)]


def drawn(args, key, folder):
    tasks = tasks_of(key[0])
    return draw(tasks, int(key[1]), int(key[2]), folder) if int(key[1]) else tasks


def table_of(case, head, keys, args):
    return common.Table(args.out or common.RESULTS / f"auto-{case}.csv", head, list(keys), f"bench/auto.py {case}")


# --- quality -------------------------------------------------------------------------------------------------------------


def matches(result, tasks):
    """quality:right for each match of clusters of two data sets that share a class; right: both have the same majority class."""
    majority, out = {}, []
    for t, (name, _, labels) in zip(result["tasks"], tasks):
        truth = np.array(labels.read_text().removesuffix("\n").split("\n"))
        names, number = np.unique(truth, return_inverse=True)
        counts = np.zeros((t["k"], len(names)))
        np.add.at(counts, (t["labels"], number), 1)
        majority[name] = names[counts.argmax(1)]
    for entry in result.get("correspondence", []):
        a, b = majority[entry["from"]], majority[entry["to"]]
        for z, row in enumerate(entry["matrix"]):
            if max(row) > 0 and set(a) & set(b):
                out.append("%.3f:%d" % (entry["quality"][z], a[z] == b[row.index(max(row))]))
    return " ".join(out)


def quality_rows(args, key):
    with tempfile.TemporaryDirectory() as folder:
        tasks = drawn(args, key, folder)
        k, seed = [classes(t) for t in tasks], key[2]
        each = ",".join(map(str, k))
        auto = cluster(args, tasks, each, seed)
        same, fields, found = flags(auto), auto["method_fields"], {"auto": nmi(auto)}
        for method in ("kmeans", "ncut"):
            found[method] = nmi(cluster(args, tasks, each, seed, "-m", method, *same))
        if len(tasks) > 1:
            found["single"] = nmi(cluster(args, tasks, each, seed, "--no-transfer"))
            found["pooled"] = nmi(cluster(args, tasks, ",".join([str(max(k))] * len(k)), seed, "-m", "kmeans", "--pooled", *same))
        matched = matches(auto, tasks)
    for i, (name, task) in enumerate(zip((t[0] for t in tasks), auto["tasks"])):
        own = [fields.get(f"{f}.{name}", fields.get(f, 0)) for f in ("confidence", "beyond_noise")]
        yield [name, task["n"], *("%.4f" % found[m][i] if m in found else "" for m in METHODS), *("%.4f" % v for v in own),
               matched if i == 0 else "", "%.2f" % auto["seconds"]["fit"]]


def quality(args):
    head = ["set", "size", "seed", "task", "samples", *METHODS, "confidence", "beyond_noise", "matches", "seconds"]
    keys = [(title, args.size, seed) for seed in range(1, args.seeds + 1) for title in SETS]
    table = table_of("quality", head, keys, args)
    table.fill(lambda key: list(quality_rows(args, key)), args.minutes, args.only)
    print_quality([dict(zip(head, r)) for rows in table.rows.values() for r in rows])


def print_quality(rows):
    cells = {}
    for r in rows:
        for m in METHODS:
            if r[m]:
                cells.setdefault((r["set"], r["task"]), {}).setdefault(m, []).append(float(r[m]))
    cells = {key: {m: mean(v) for m, v in one.items()} for key, one in cells.items()}
    print("\n| collection | data sets | k-means | ncut | pooled | auto | worst against k-means | against ncut | regret |\n|---|" + "---:|" * 8)
    for title in [*dict.fromkeys(key[0] for key in cells), None]:
        own = [c for key, c in cells.items() if title in (None, key[0])]
        pooled = [c["pooled"] for c in own if "pooled" in c]
        values = [short(mean(c[m] for c in own)) for m in ("kmeans", "ncut")] + [short(mean(pooled)) if pooled else "", short(mean(c["auto"] for c in own))]
        values += [short(min(c["auto"] - c[m] for c in own), "+") for m in ("kmeans", "ncut")] + [short(mean(max(c.values()) - c["auto"] for c in own))]
        print(f"| {title or 'all'} | {len(own)} | {' | '.join(values)} |")
    said = {}
    for r in rows:
        if int(r["samples"]) >= 100 and float(r["beyond_noise"]) < 2.9:
            said.setdefault("no clearer than noise (NMI below .1)", []).append(float(r["auto"]) < 0.1)
        agree = "the methods agree" if float(r["confidence"]) >= 0.75 else "they do not agree"
        said.setdefault(agree + " (NMI .3 and more)", []).append(float(r["auto"]) >= 0.3)
        for match in r["matches"].split():
            value, right = match.split(":")
            bound = max(b for b in (-1, 0.2, 0.4, 0.6, 0.8) if float(value) >= b)
            said.setdefault(f"match of quality {bound} and more", []).append(right == "1")
    print("\n" + "\n".join(f"{name}: {sum(right)} of {len(right)}" for name, right in sorted(said.items())))


# --- number of clusters --------------------------------------------------------------------------------------------------


def number(args):
    head = ["set", "size", "seed", "task", "classes", "one_for_all", "sure", "one_for_each", "each_sure"]

    def make(key):
        with tempfile.TemporaryDirectory() as folder:
            tasks, found = drawn(args, key, folder), []
            for k in ("auto", ",".join(["auto"] * len(tasks))):
                r = cluster(args, tasks, k, key[2])
                sure = [r["method_fields"].get(f"k_sure.{t[0]}", r["method_fields"].get("k_sure", 0)) for t in tasks]
                found.append([(t["k"], int(s)) for t, s in zip(r["tasks"], sure)])
            return [[t[0], classes(t), *found[0][i], *found[1][i]] for i, t in enumerate(tasks)]

    table = table_of("k", head, [(title, args.size, seed) for seed in range(1, args.seeds + 1) for title in SETS], args)
    table.fill(make, args.minutes, args.only)
    rows = [list(map(int, r[4:])) for rows in table.rows.values() for r in rows]
    print("\n| one k for | exact | within one | of | fairly sure and right |\n|---|---:|---:|---:|---:|")
    for name, at in (("all", 1), ("each", 3)):
        sure = [r for r in rows if r[at + 1]]
        print(f"| {name} | {sum(r[at] == r[0] for r in rows)} | {sum(abs(r[at] - r[0]) <= 1 for r in rows)} | {len(rows)} | "
              f"{sum(r[at] == r[0] for r in sure)} of {len(sure)} |")


# --- landmarks -----------------------------------------------------------------------------------------------------------


def landmarks(args):
    head = ["set", "seed", "method", "graph", "samples", "nmi", "seconds"]

    def make(key):
        title, seed, method, graph = key
        tasks = tasks_of(title)
        k = ",".join(str(classes(t)) for t in tasks)
        # ncut gets the preprocessing that auto would choose: of a run that is stopped before its vote
        same = flags(cluster(args, tasks, k, seed, "--time-limit", "0.01")) if method == "ncut" else []
        how = ["graph=neighbours"] if graph == "neighbours" else ["graph=landmarks", f"landmarks={graph}"]
        r = cluster(args, tasks, k, seed, "-m", method, "--threads", "1", *same, *(w for s in how for w in ("--set", s)))
        return [[sum(t["n"] for t in r["tasks"]), " ".join("%.4f" % v for v in nmi(r)), "%.2f" % r["seconds"]["fit"]]]

    keys = [(title, seed, method, graph) for method in ("auto", "ncut") for seed in range(1, args.seeds + 1) for title in SETS for graph in GRAPHS]
    table = table_of("landmarks", head, keys, args)
    table.fill(make, args.minutes, args.only)
    rows = [dict(zip(head, r)) for rows in table.rows.values() for r in rows]
    for method in ("auto", "ncut"):
        print(f"\n| {method} | samples | {' | '.join(GRAPHS)} |\n|---|" + "---:|" * (len(GRAPHS) + 1))
        for title in SETS:
            own = [r for r in rows if (r["set"], r["method"]) == (title, method)]
            cells = [[r for r in own if r["graph"] == g] for g in GRAPHS]
            text = [f"{short(mean(mean(map(float, r['nmi'].split())) for r in c))}, {mean(float(r['seconds']) for r in c):.1f} s" if c else "" for c in cells]
            if own:
                print(f"| {title} | {own[0]['samples']} | {' | '.join(text)} |")


CASES = {"quality": quality, "k": number, "landmarks": landmarks}


def main():
    args = common.arguments(__doc__, CASES, ["quality"], more=[
        ("--size", {"type": int, "default": 400}), ("--seeds", {"type": int, "default": 2}), ("--minutes", {"type": float, "default": float("inf")}),
        ("--only", {"default": "", "metavar": "TEXT"})])
    return common.run_cases(CASES, args)


if __name__ == "__main__":
    sys.exit(main())
