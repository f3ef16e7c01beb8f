#!/usr/bin/python3
"""Measures the method auto of `cluster` on real data, compared with simpler methods. SPDX-License-Identifier: BSD-3-Clause

usage: bench/auto.py CASE... [--build DIR] [--out FILE.csv] [--size N] [--seeds N] [--label TEXT] [--minutes M] [--only TEXT] [--jobs N]

quality    auto, auto --no-transfer, k-means, normalised cut and pooled k-means with the same preprocessing, on at most --size samples per data
           set (400; 0: all)
texts      processor time and NMI of auto with one thread on texts with complete vocabularies, at most --size samples per data set (400); --label
           names the version of the program. A collection of one data set is drawn three times. With --jobs 1 only
landmarks  auto and ncut on neighbour graphs and on 1000, 2000 and 4000 landmarks, all samples
known      auto without known classes, and with the classes of 1 %, 5 % and 10 % of the samples, drawn at random; also on the tables. NMI is computed
           on the samples whose class was not given in the run with known classes, for both answers

The data sets are those of every collection in KINDRED_DATA. A case writes bench/results/auto-CASE.csv (or --out), one draw after the other.
A later call continues, and --minutes limits its time. bench/docs.py makes tables of them; docs/known.md, docs/notes/auto.md and docs/notes/graphs.md discuss them.
Known classes are used only for scores. bench/statements.py counts how often the statements of auto are correct."""

import csv
import functools
import gzip
import pathlib
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
SHARES = (0.01, 0.05, 0.1)
# The constants of engine/ensemble/steer.c were chosen on these.
CHOSEN_ON = {"webkb4", "20ng_comp_vs_sci", "reuters3", "cluto_trec", "cluto_sjmn", "amazon_sentiment4", "nuswide10:text", "20ng_full", "la12"}


def mean(values):
    return float(np.mean([*values]))


# --- data and runs -------------------------------------------------------------------------------------------------------


def folders(kind):
    """Collections of tables, as KIND/NAME; kind: tables or tables_made."""
    return [f"{kind}/{p.name}" for p in sorted((common.DATA / kind).glob("*")) if p.is_dir()]


def tasks_of(title):
    """(name, matrix or table, labels file) of each data set; tables of `tables` have their classes in the column label."""
    name, wanted = SETS.get(title, (title, None))
    folder = common.DATA / name
    if not folder.is_dir():
        raise common.Absent(f"no data in {folder}")
    files = sorted(folder.glob("*.csv")) if "/" in title else [p for p in sorted(folder.iterdir()) if p.suffix != ".labels" and p.name != "features.txt"]
    stems = {p.name.split(".")[0]: p for p in files}
    return [(stem, path, folder / (stem + ".labels")) for stem, path in stems.items() if not wanted or stem in wanted]


@functools.lru_cache(maxsize=4)
def load(path):
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as f:
        return sp.csr_matrix(scipy.io.mmread(f)) if ".mtx" in path.name else np.load(f)


def lines(path):
    return np.array(path.read_text().removesuffix("\n").split("\n"))


def load_table(path, labels):
    """Column names, rows of texts, and classes, which are no column."""
    with open(path, newline="", encoding="utf-8") as f:
        head, *rows = list(csv.reader(f))
    if labels.exists():
        return head, np.array(rows, dtype=object), lines(labels)
    at = head.index("label")
    return head[:at] + head[at + 1:], np.array([r[:at] + r[at + 1:] for r in rows], dtype=object), np.array([r[at] for r in rows])


def write(target, x, head):
    if head:
        with open(target, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([head, *x])
    elif sp.issparse(x):
        scipy.io.mmwrite(str(target), x)
    else:
        np.save(target, x.astype("float64"))


def draw(tasks, size, seed, folder):
    """Copies of the data sets with at most `size` rows each."""
    out = []
    for number, (stem, path, labels) in enumerate(tasks):
        head, x, names = load_table(path, labels) if path.suffix == ".csv" else (None, load(path), lines(labels))
        rows = np.arange(x.shape[0])
        if len(rows) > size:
            rows = np.sort(np.random.default_rng(1000 * seed + number).choice(rows, size, replace=False))
        end = ".csv" if head else ".mtx" if sp.issparse(x) else ".npy"
        target, beside = (pathlib.Path(folder) / (stem + e) for e in (end, ".labels"))
        write(target, x[rows], head)
        beside.write_text("".join(names[i] + "\n" for i in rows))
        out.append((stem, target, beside))
    return out


def classes(task):
    return len(set(lines(task[2])))


def cluster(args, tasks, k, seed, *more, run=common.program):
    """The result of a run."""
    return run(args, "cluster", "-k", k, "--seed", seed, *more, *(["--header"] if tasks[0][1].suffix == ".csv" else []),
               "--truth", ",".join(str(t[2]) for t in tasks), *(f"{t[0]}={t[1]}" for t in tasks))


def nmi(result):
    return [t["metrics"]["nmi"] for t in result["tasks"]]


def flags(result):
    """The preprocessing of a result as options."""
    known = {v: option for option, values in (("--weight", "binary log1p cpm tfidf sqrt"), ("--norm", "l1 l2"), ("--scale", "standard")) for v in values.split()}
    words = [w.split(" ")[0] for w in result["preprocessing"].split("; ")[1:]]
    return [text for w in words if w in known for text in (known[w], w)]


# --- quality -------------------------------------------------------------------------------------------------------------


def quality(args):
    def make(key):
        with tempfile.TemporaryDirectory() as folder:
            seed, tasks = key[2], draw(tasks_of(key[0]), int(key[1]) or sys.maxsize, int(key[2]), folder)
            k = [classes(t) for t in tasks]
            each = ",".join(map(str, k))
            auto = cluster(args, tasks, each, seed)
            same, found = flags(auto), {"auto": nmi(auto)}
            for method in ("kmeans", "ncut"):
                found[method] = nmi(cluster(args, tasks, each, seed, "-m", method, *same))
            if len(tasks) > 1:
                found["single"] = nmi(cluster(args, tasks, each, seed, "--no-transfer"))
                found["pooled"] = nmi(cluster(args, tasks, ",".join([str(max(k))] * len(k)), seed, "-m", "kmeans", "--pooled", *same))
        return [[t["name"], t["n"], *("%.4f" % found[m][i] if m in found else "" for m in METHODS), "%.2f" % auto["seconds"]["fit"]]
                for i, t in enumerate(auto["tasks"])]

    keys = [(title, args.size, seed) for seed in range(1, args.seeds + 1) for title in SETS]
    return common.fill(args, "auto-quality", ["set", "size", "seed", "task", "samples", *METHODS, "seconds"], keys, make)


def texts(args):
    def make(key):
        with tempfile.TemporaryDirectory() as folder:
            one, *others = tasks_of(key[1])
            tasks = draw([one, *others] if others else [(f"draw{i}", *one[1:]) for i in (1, 2, 3)], int(key[2]), int(key[3]), folder)
            found, seconds = cluster(args, tasks, ",".join(str(classes(t)) for t in tasks), key[3], "--threads", 1, run=common.program_timed)
        return [[" ".join(str(t["n"]) for t in found["tasks"]), "%.2f" % seconds, " ".join("%.4f" % v for v in nmi(found))]]

    keys = [(args.label, title, args.size, seed) for seed in range(1, args.seeds + 1) for title in SETS
            if not title.startswith(("handdigits", "sc_", "nuswide10:image"))]
    return common.fill(args, "auto-texts", ["version", "set", "size", "seed", "samples", "processor_s", "nmi"], keys, make)


# --- landmarks -----------------------------------------------------------------------------------------------------------


def landmarks(args):
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
    return common.fill(args, "auto-landmarks", ["set", "seed", "method", "graph", "samples", "nmi", "seconds"], keys, make)


# --- known classes -------------------------------------------------------------------------------------------------------


def known_files(truth, seed, share, folder):
    """Whether each sample's class is given, and a file of the given classes, for each data set."""
    given, files = [], []
    for t, y in enumerate(truth):
        chosen = np.random.default_rng([seed, t, round(1000 * share)]).permutation(len(y))[:max(1, round(share * len(y)))]
        given.append(np.isin(np.arange(len(y)), chosen))
        files.append(pathlib.Path(folder) / f"{t}.known")
        files[-1].write_text("".join((c if g else "?") + "\n" for c, g in zip(y, given[-1])))
    return given, files


def known(args):
    from sklearn.metrics import normalized_mutual_info_score

    def make(key):
        with tempfile.TemporaryDirectory() as folder:
            tasks = draw(tasks_of(key[0]), args.size or sys.maxsize, int(key[1]), folder)
            truth = [lines(t[2]) for t in tasks]
            ks = ",".join(str(len(set(y))) for y in truth)

            def labels(*files):
                more = ["--known", ",".join(map(str, files))] if files else []
                return [np.array(t["labels"]) for t in cluster(args, tasks, ks, 1, "--threads", 1, *more)["tasks"]]

            before = labels()
            for share in SHARES:
                given, files = known_files(truth, int(key[1]), share, folder)
                if len({frozenset(y) for y in truth}) == 1:
                    after = labels(*files)
                else:  # each has its own names: one list of classes would be longer than k
                    after = [labels(*(f if s == t else "?" for s, f in enumerate(files)))[t] for t in range(len(tasks))]
                for t, (name, _, _) in enumerate(tasks):
                    scores = [normalized_mutual_info_score(truth[t][~given[t]], z[t][~given[t]], average_method="geometric") for z in (before, after)]
                    yield [name, len(truth[t]), share, *("%.6g" % s for s in scores)]

    keys = [(title, seed) for title in [*SETS, *folders("tables"), *folders("tables_made")] for seed in range(args.seeds)]
    return common.fill(args, "auto-known", ["collection", "draw", "task", "samples", "share", "unsupervised", "known"], keys, make)


CASES = {"quality": quality, "texts": texts, "landmarks": landmarks, "known": known}

if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["quality"], [("--size", {"type": int, "default": 400}), ("--seeds", {"type": int, "default": 2}), ("--label", {"default": "now"})]))
