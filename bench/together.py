#!/usr/bin/python3
"""Measures whether clustering together is better than clustering each data set alone. SPDX-License-Identifier: BSD-3-Clause

usage: bench/together.py CASE... [--build DIR] [--out FILE.csv] [--label TEXT] [--draws N] [--others N] [--minutes M] [--only TEXT] [--jobs N]

real  every collection with at least two data sets: one data set, cut to 25, 60 and 200 samples or complete, beside two others of at most --others
      samples (700; 0: all); --draws draws (5)
made  one data set of a collection, split in two, so that what they have in common is known: 60 samples and 600
        alike        drawn from the same samples
        proportions  the larger part has class proportions from a Dirichlet distribution
        shifted      a constant per column is added to the smaller part (dense data), or its columns are scaled at random (counts)
        disjoint     the parts have no class in common
        unrelated    the columns of the larger part are in a random order
apart 25 and 60 samples of the collections of `real`, in ten other draws: how far apart the data sets are, and whether clusters were carried over
whole the same in the draws of `real`, with complete other data sets
posts the README's example (examples/newsgroups.py) in ten draws

The score of the first three is the adjusted mutual information (AMI) of the smaller data set and its known classes, which are used only for this and for the number of clusters. The score of
`posts` is the NMI that the program prints.
Columns: `alone` is a run with that file only; `together` is the default method of the version that --label names; `pooled` is k-means on all samples;
`into` adds the data set to a model of the others; `mbc`, `lssmtc` and `mtcfir` are the papers' methods.
A case writes bench/results/together-CASE.csv (or --out). A later call continues, and --minutes limits its time. With a --label other than `now`, only `together`
is measured: `before` is release 0.2.0."""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

import common
import auto
import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score as ami

# Collections that the vote of auto was chosen on, and collections that it was not.
OLD = ["webkb4", "20ng_rec_vs_talk", "20ng_comp_vs_sci", "20ng_4task", "reuters3", "handdigits:mnist_crop+usps", "cluto_trec", "sc_mixology3",
       "cluto_sjmn", "amazon_sentiment4", "dmoz4", "la12"]
NEW = ["coil20", "gas6", "vowel4", "pendigits2", "cellmix4", "sc_rnamix2", "splat_simul4", "wine2", "office_caltech_surf", "ytspam5",
       "sentences20ng:subject_test+subject_train", "sentences20ng:body_test+body_train"]
BASES = ["20ng_4task", "la12", "handdigits:mnist_crop+usps", "pendigits2", "gas6", "sentences20ng:body_test+body_train", "office_caltech_surf", "wine2", "coil20"]
DESIGNS = ["alike", "proportions", "shifted", "disjoint", "unrelated"]
SIZES = ["25", "60", "200", "all"]
PEERS = ["alone", "pooled", "into", "mbc", "lssmtc", "mtcfir"]


def sets_of(title):
    """(name, matrix or table file, labels file) of the data sets of a collection."""
    if title.startswith("sentences20ng:"):
        folder, names = common.DATA / "sentences20ng", title.split(":")[1].split("+")
        return [(n, folder / f"{n}.npy.gz", folder / (n.split("_")[1] + ".labels")) for n in names]
    return auto.tasks_of(title)


@functools.lru_cache(maxsize=8)
def load(path, labels):
    """Column names (None: a matrix), samples and classes."""
    return auto.load_table(path, labels) if path.suffix == ".csv" else (None, auto.load(path), auto.lines(labels))


class Part:
    """Some samples of a data set in a file."""

    def __init__(self, folder, name, head, x, y):
        self.name, self.y = name, y
        self.path = pathlib.Path(folder) / (name + (".csv" if head else ".mtx" if sp.issparse(x) else ".npy"))
        auto.write(self.path, x, head)
        self.k = max(2, len(set(y)))


def labels_of(args, parts, k, *more):
    """Labels of the first part, or None if the method cannot use the data."""
    result, _ = common.program_timed(args, "cluster", "--threads", 1, "-k", ",".join(map(str, k)), *more,
                                     *(["--header"] if parts[0].path.suffix == ".csv" else []), *(f"{p.name}={p.path}" for p in parts), optional=True)
    return result and next(t["labels"] for t in result["tasks"] if t["name"] == parts[0].name)


def into(args, parts, folder):
    """The first part, added to a model of the others."""
    model = pathlib.Path(folder) / "model.h5"
    return labels_of(args, parts[1:], [p.k for p in parts[1:]], "--save-model", model) and labels_of(args, parts[:1], [parts[0].k], "--into", model)


def scores(args, parts, folder, label):
    k = [p.k for p in parts]
    found = {"together": labels_of(args, parts, k)}
    if label == "now":
        same = max(k)
        found.update(alone=labels_of(args, parts[:1], k[:1]), pooled=labels_of(args, parts, [same] * len(k), "-m", "kmeans", "--pooled"),
                     into=into(args, parts, folder),
                     **{m: labels_of(args, parts, k, "-m", m) for m in ("mbc", "lssmtc", "mtcfir")})
    return [[len(parts[0].y), k[0], "%.4f" % ami(parts[0].y, found["together"]),
             *("%.4f" % ami(parts[0].y, found[m]) if found.get(m) is not None else "" for m in PEERS)]]


# --- real ----------------------------------------------------------------------------------------------------------------


def real_parts(title, size, draw, others, folder):
    """The data set of a draw in its size, and two others."""
    rng, sets = np.random.default_rng(100 * draw), sets_of(title)
    first = sets[draw % len(sets)]
    rest = [s for s in sets if s is not first]
    chosen = [(first, size)] + [(rest[i], others) for i in sorted(rng.choice(len(rest), min(2, len(rest)), replace=False))]
    out = []
    for (name, path, labels), most in chosen:
        head, x, y = load(path, labels)
        rows = np.sort(rng.permutation(len(y))[:most])
        out.append(Part(folder, name, head, x[rows], y[rows]))
    return out


def titles():
    return OLD + NEW + auto.folders("tables") + auto.folders("tables_made")


def real(args):
    def make(key):
        label, title, size, draw = key
        with tempfile.TemporaryDirectory() as folder:
            parts = real_parts(title, sys.maxsize if size == "all" else int(size), int(draw), args.others or sys.maxsize, folder)
            return scores(args, parts, folder, label)

    keys = [(args.label, t, s, d) for d in range(args.draws) for t in titles() for s in SIZES if d < 2 or not t.startswith("tables_made")]
    return common.fill(args, "together-real", ["version", "collection", "size", "draw", "n", "k", "together", *PEERS], keys, make)


# --- made ----------------------------------------------------------------------------------------------------------------


def made_parts(title, design, draw, folder):
    """Two parts of the largest data set of a collection."""
    rng = np.random.default_rng(1000 + draw)
    x, y = max((load(path, labels)[1:] for _, path, labels in sets_of(title)), key=lambda s: len(s[1]))
    order, classes = rng.permutation(len(y)), rng.permutation(sorted(set(y)))
    left, right = order[:len(order) // 4], order[len(order) // 4:]
    if design == "proportions":
        share = dict(zip(classes, rng.dirichlet(np.ones(len(classes)))))
        weight = np.array([share[c] / np.sum(y[right] == c) for c in y[right]])
        right = rng.choice(right, min(600, np.sum(weight > 1e-9), len(right) // 2), replace=False, p=weight / weight.sum())
    if design == "disjoint":
        half = set(classes[:len(classes) // 2])
        left, right = (np.array([i for i in part if (y[i] in half) == inside]) for part, inside in ((left, True), (right, False)))
    left, right = np.sort(left[:60]), np.sort(right[:600])
    a, b = x[left], x[right]
    if design == "shifted":
        d = x.shape[1]
        a = sp.csr_matrix(a @ sp.diags(rng.lognormal(0, 1, d))) if sp.issparse(a) else a + rng.normal(size=d) * np.std(x, axis=0)
    if design == "unrelated":
        b = b[:, rng.permutation(x.shape[1])]
    return [Part(folder, "small", None, a, y[left]), Part(folder, "large", None, b, y[right])]


def made(args):
    def make(key):
        label, title, design, draw = key
        with tempfile.TemporaryDirectory() as folder:
            return scores(args, made_parts(title, design, int(draw), folder), folder, label)

    keys = [(args.label, t, s, d) for d in range(args.draws) for s in DESIGNS for t in BASES]
    return common.fill(args, "together-made", ["version", "collection", "design", "draw", "n", "k", "together", *PEERS], keys, make)


# --- apart ---------------------------------------------------------------------------------------------------------------


def apart(args, name="together-apart", draws=range(5, 15), others=700):
    def make(key):
        title, size, draw = key
        with tempfile.TemporaryDirectory() as folder:
            parts = real_parts(title, int(size), int(draw), others, folder)
            result, _ = common.program_timed(args, "cluster", "--threads", 1, "-k", ",".join(str(p.k) for p in parts), *(f"{p.name}={p.path}" for p in parts))
            small = next(t for t in result["tasks"] if t["name"] == parts[0].name)
            distance = small["sharing"]["apart"]
            alone = labels_of(args, parts[:1], [parts[0].k])
            return [["" if distance is None else "%.3f" % distance, int(bool(small["sharing"]["from"])), *("%.4f" % ami(parts[0].y, found) for found in (small["labels"], alone))]]

    return common.fill(args, name, ["collection", "size", "draw", "apart", "carried", "together", "alone"],
                       [(t, s, d) for d in draws for t in OLD + NEW for s in SIZES[:2]], make)


def whole(args):
    return apart(args, "together-whole", range(5), sys.maxsize)


RANGES = {"carried over": [(0, 0.5), (0.5, 0.55), (0.55, 0.6), (0.6, 0.65)], "not carried over": [(0, 0.65), (0.65, 0.8), (0.8, 1.01)]}


def apart_table(rows):
    """A line for each range of distances: how often the labels are better, the same and worse than alone."""
    out = []
    for kind, ranges in RANGES.items():
        for low, high in ranges:
            gains = np.array([float(r["together"]) - float(r["alone"]) for r in rows
                              if r["apart"] and (r["carried"] == "1") == (kind == "carried over") and low <= float(r["apart"]) < high])
            if len(gains):
                out.append([kind, "%.2f to %.2f" % (low, min(high, 1)), len(gains), np.sum(gains > 0.001), np.sum(np.abs(gains) <= 0.001), np.sum(gains < -0.001), "%+.3f" % gains.mean()])
    return ["clusters", "distance", "cases", "better than alone", "equal", "worse", "mean gain (AMI)"], out


# --- posts ---------------------------------------------------------------------------------------------------------------


def posts(args):
    """NMI of both data sets."""
    def nmi(*more):
        result = common.program(args, "cluster", "-k", 4, "--text-column", "text", "--label-column", "group", "--score", *more)
        return {t["name"]: t["metrics"]["nmi"] for t in result["tasks"]}

    def make(key):
        with tempfile.TemporaryDirectory() as folder:
            archive = common.DATA / "raw" / "20news-bydate-8groups.tar.xz"
            subprocess.run([sys.executable, common.ROOT / "examples" / "newsgroups.py", archive, key[0]], cwd=folder, check=True)
            files = [pathlib.Path(folder) / f"{name}.csv" for name in ("early", "late")]
            found = {**nmi(files[0]), **nmi(files[1])}, nmi(*files), nmi("-m", "kmeans", "--pooled", *files)
            return [[name, *("%.4f" % one[name] for one in found)] for name in ("early", "late")]

    return common.fill(args, "together-posts", ["draw", "set", "alone", "together", "pooled"], [(d,) for d in range(10)], make)


def posts_table(rows):
    """A line for each data set: means, and how often clustering together was better than alone."""
    out = []
    for name in dict.fromkeys(r["set"] for r in rows):
        own = [r for r in rows if r["set"] == name]
        out.append([name, *("%.2f" % auto.mean([float(r[c]) for r in own]) for c in ("alone", "together", "pooled")),
                    "%d of %d" % (sum(float(r["together"]) > float(r["alone"]) for r in own), len(own))])
    return ["data set", "alone", "together", "pooled k-means", "together is better in"], out


# --- tables --------------------------------------------------------------------------------------------------------------

KINDS = {"used to choose rules": lambda c: c in OLD, "not used for that": lambda c: c in NEW, "tables": lambda c: c.startswith("tables/"), "made tables": lambda c: c.startswith("tables_made/")}
COLUMNS = ["alone", "before", "together", *PEERS[1:]]


def cells(rows, group, more=()):
    """{(group, collection): {column: mean over the draws}} of the draws that both versions have; alone and together also of `more` draws."""
    versions = {}
    for r in rows:
        versions.setdefault((r[group], r["collection"], r["draw"]), {})[r["version"]] = r
    found = {}
    for (value, title, _), one in versions.items():
        if len(one) == 2:
            values = {**{m: one["now"][m] for m in ("together", *PEERS)}, "before": one["before"]["together"]}
            for m, text in values.items():
                if text:
                    found.setdefault((value, title), {}).setdefault(m, []).append(float(text))
    for r in more:
        for m in ("alone", "together"):
            found[r["size"], r["collection"]][m].append(float(r[m]))
    return {key: {m: auto.mean(v) for m, v in one.items()} for key, one in found.items()}


def interval(gains):
    """The mean of values of collections, and its 95 % interval from resampled collections."""
    drawn = np.random.default_rng(1).choice(gains, (10000, len(gains))).mean(axis=1)
    return "%+.3f (%+.3f to %+.3f)" % (auto.mean(gains), *np.percentile(drawn, [2.5, 97.5]))


def line(own):
    """Means of all columns, the gain over alone, collections that gain and lose 0.02, and the largest loss."""
    gains = np.array([c["together"] - c["alone"] for c in own])
    return [len(own), *("%.3f" % auto.mean([c[m] for c in own if m in c]) if any(m in c for c in own) else "" for m in COLUMNS), interval(gains),
            f"{np.sum(gains > 0.02)}, {np.sum(gains < -0.02)}", "%+.3f" % gains.min()]


HEAD = ["collections", "alone", "together, before", "together", "pooled k-means", "`--into`", "`mbc`", "`lssmtc`", "`mtcfir`", "gain over alone (95 % interval)",
        "collections up, down by 0.02", "worst"]


def brief(own):
    """Means alone and together, and what `line` says about the gain."""
    return [*("%.3f" % auto.mean([c[m] for c in own]) for m in ("alone", "together")), *line(own)[-3:]]


def brief_table(rows):
    """Clustering alone and together: a line for each kind of collection and size of a table of `apart` or `whole`; those of `real` with alone and together may be added."""
    found = {}
    for r in rows:
        found.setdefault((r["size"], r["collection"]), []).append(r)
    means = {key: {m: auto.mean([float(r[m]) for r in own]) for m in ("alone", "together")} for key, own in found.items()}
    return ["kind of collections", "samples", "draws", "alone", "together", "gain over alone (95 % interval)", "collections up, down by 0.02", "worst"], [
        [name, s, max(len(own) for (z, t), own in found.items() if z == s and t in known), *brief([means[z, t] for z, t in means if z == s and t in known])]
        for name, known in list(zip(KINDS, (OLD, NEW))) for s in SIZES[:2]]


def table(kind, rows, more=()):
    """real: a line for each kind of collection and size. made: for each design. short: alone, together and pooled by size, on collections that no rule was chosen on. collections: a line each.
    more: rows of `apart`, further draws of alone and together."""
    if kind == "made":
        found = cells(rows, "design")
        return ["two parts", *HEAD], [[d, *line([c for (e, _), c in found.items() if e == d])] for d in DESIGNS]
    found = cells(rows, "size", more)
    if kind == "collections":
        shown = ("alone", "before", "together")
        return ["collection", *(f"{m}, {s}" for s in SIZES[:2] for m in shown)], [
            [t.replace(":", ": ").replace("+", ", "), *("%.3f" % found[s, t][m] if (s, t) in found else "" for s in SIZES[:2] for m in shown)] for t in dict.fromkeys(t for _, t in found)]
    if kind == "short":
        kinds = [("numbers, texts", NEW, [z for z in SIZES if z != "200"]), ("tables", [t for _, t in found if t.startswith("tables/")], SIZES[:2])]
        chosen = [(title, s, [c for (e, t), c in found.items() if e == s and t in known]) for title, known, sizes in kinds for s in sizes]
        return ["data", "samples", "alone", "together", "pooled k-means", "gain (95 % interval)", "up, down", "worst"], [
            [title, s, *("%.3f" % auto.mean([c[m] for c in own if m in c]) for m in ("alone", "together", "pooled")), *line(own)[-3:]] for title, s, own in chosen]
    return ["kind of collections", "samples", *HEAD], [[name, s, *line(own)] for name, belongs in KINDS.items() for s in SIZES
                                                               if (own := [c for (e, t), c in found.items() if e == s and belongs(t)])]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(common.measure(__doc__, {"real": real, "made": made, "apart": apart, "whole": whole, "posts": posts}, more=[
        ("--label", {"default": "now"}), ("--draws", {"type": int, "default": 5}), ("--others", {"type": int, "default": 700})]))
