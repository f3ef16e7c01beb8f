#!/usr/bin/python3
"""Measures methods on tables of numbers and categories: clusters, number of clusters, transfer. SPDX-License-Identifier: BSD-3-Clause

usage: bench/tables.py CASE... [--build DIR] [--seeds N] [--rows N]

clusters  mean adjusted Rand index of auto, mixture and k-means over the designs of tables_made, with k given
others    the same for designs made here, which differ from those of tables_made; no choice in kindred was made on them
rows      runtime and memory of auto on one table of a million rows (--rows) and 30 columns
k         how often `-k auto` finds the number of segments of tables_made: exactly, within one, and mean |ln(k / true)|
transfer  accuracy and balanced accuracy over every pair of data sets in tables: auto, logreg, forest, and methods of scikit-learn and POT on
          columns standardised on the source; writes bench/results/tables-transfer.csv

Data sets are read from KINDRED_DATA. docs/notes/tables.md and docs/notes/transfer.md discuss the results."""

import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import auto
import common
import numpy as np
from sklearn.metrics import adjusted_rand_score, balanced_accuracy_score

CLUSTERS = {"auto": [], "mixture": ["-m", "mixture"], "mixture, pooled": ["-m", "mixture", "--pooled"],
            "k-means, standardised": ["-m", "kmeans", "--scale", "standard", "--missing", "mean"]}
TRANSFER = {"auto": ["--missing", "mean"], "logreg": ["-m", "logreg", "--scale", "standard", "--missing", "mean"], "forest": ["-m", "forest", "--missing", "mean"]}
PEERS = ["sklearn: logistic regression", "sklearn: random forest", "sklearn: gradient boosting", "POT: Sinkhorn"]


def run(args, command, *words):
    """The result, and the labels of every data set by its name."""
    result = common.program(args, command, *words)
    return result, {t["name"]: list(map(str, t["labels"])) for t in result["tasks"]}


def designs(args):
    """(seed, tables, true segments of each, number of segments) of every made design."""
    for seed, title in itertools.product(range(1, args.seeds + 1), auto.folders("tables_made")):
        tasks = auto.tasks_of(title)
        truth = [auto.lines(t[2]) for t in tasks]
        yield seed, [t[1] for t in tasks], truth, len(set(np.concatenate(truth)))


class Other:
    """Tables of four numbers, two yes/no columns and two categories, of k segments, with a departure from independent normal
    columns within segments. Segments are common to the tables, unless a design states otherwise."""
    ROWS, TABLES = 300, 3

    def __init__(self, name, seed):
        self.name, self.draw = name, np.random.default_rng([seed, *name.encode()])
        self.k = 4
        shape = (self.k, 4)
        self.mean, self.lean = self.draw.normal(0, 1.8, shape), self.draw.normal(0, 1.2, (self.k, 2))
        self.levels = 25 if name == "many levels" else 5
        self.taste = self.draw.normal(0, 1.3, (self.k, 2, self.levels))
        self.shares = np.array([.68, .2, .08, .04]) if name == "unequal sizes" else np.full(self.k, 1 / self.k)
        self.loading = self.draw.normal(0, 1, (self.k, 4, 2))
        if name == "nested":  # two groups far apart, each of two segments that differ a little
            self.mean = np.repeat(self.draw.normal(0, 2.5, (2, 4)), 2, axis=0) + self.draw.normal(0, .9, shape)
            self.lean = np.repeat(self.lean[:2], 2, axis=0)
            self.taste = np.repeat(self.taste[:2], 2, axis=0)
        if name == "dependence only":  # the same margins in every segment
            self.mean[:], self.lean[:], self.taste[:] = 0, 0, self.taste[0]

    def numbers(self, segment):
        n, draw, noise = len(segment), self.draw, self.draw.normal(0, 1, (len(segment), 4))
        if self.name == "correlated":
            noise = .5 * noise + np.einsum("njf,nf->nj", self.loading[segment], draw.normal(0, .8, (n, 2)))
        elif self.name == "one factor":
            noise = noise + 3 * draw.normal(0, 1, (n, 1))
        elif self.name == "heavy tails":
            noise = draw.standard_t(1.5, (n, 4))
        elif self.name == "two peaks":  # numbers of a segment have two modes
            noise = .5 * noise + 2 * draw.choice((-1, 1), (n, 4))
        elif self.name == "dependence only":
            sign = np.array([1, -1, 1, -1])[segment], np.array([1, 1, -1, -1])[segment]
            noise[:, 1] = .95 * sign[0] * noise[:, 0] + .3 * noise[:, 1]
            noise[:, 3] = .95 * sign[1] * noise[:, 2] + .3 * noise[:, 3]
        x = self.mean[segment] + noise
        if self.name == "counts":
            x = draw.poisson(np.exp(np.clip(.7 * self.mean[segment], -3, 4))) * (draw.random((n, 4)) > .2)
        return x

    def table(self, number):
        shares = self.draw.permutation(self.shares) if self.name == "unequal sizes" else self.shares
        segment = self.draw.choice(self.k, self.ROWS, p=shares)
        if self.name == "unrelated":
            for own in (self.mean, self.lean, self.taste):
                own[:] = own.std() * self.draw.normal(0, 1, own.shape)
        x = self.numbers(segment)
        gone = self.draw.random(x.shape) < (.4 * (x > np.median(x, axis=0)) if self.name == "missing by value" else .02)
        cells = [[f"{v:.6g}" if not g else "" for v, g in zip(c, h)] for c, h in zip(x.T, gone.T)]
        for j in range(2):
            cells.append(np.where(self.draw.normal(self.lean[segment, j]) > 0, "yes", "no"))
        for j in range(2):
            gumbel = self.draw.gumbel(size=(self.ROWS, self.levels))
            cells.append([f"v{v}" for v in np.argmax(self.taste[segment, j] + gumbel, axis=1)])
        return "n1,n2,n3,n4,b1,b2,c1,c2\n" + "".join(",".join(row) + "\n" for row in zip(*cells)), [str(s) for s in segment]


OTHERS = ("plain", "correlated", "one factor", "heavy tails", "two peaks", "counts", "many levels", "unequal sizes", "nested",
          "missing by value", "unrelated", "dependence only")


def others(args):
    ways = {"auto, -k auto": ["-k", "auto"], **{f"{n}, true k": ["-k", "4", *o] for n, o in CLUSTERS.items()}}
    print("| design | " + " | ".join(ways) + " |\n|---|" + "---|" * len(ways))
    rows = []
    for name in OTHERS:
        scores = np.zeros((args.seeds, len(ways)))
        for seed in range(args.seeds):
            with tempfile.TemporaryDirectory() as folder:
                design = Other(name, seed)
                made = [design.table(t) for t in range(design.TABLES)]
                tables = [pathlib.Path(folder) / f"t{t}.csv" for t in range(design.TABLES)]
                for path, (content, _) in zip(tables, made):
                    path.write_text(content)
                for i, options in enumerate(ways.values()):
                    labels = run(args, "cluster", "--seed", seed + 1, *options, *tables)[1]
                    scores[seed, i] = rand_index(labels, tables, [truth for _, truth in made])
        rows.append(scores.mean(axis=0))
        print(f"| {name} | " + " | ".join("%.2f" % v for v in rows[-1]) + " |", flush=True)
    print("| mean | " + " | ".join("%.3f" % v for v in np.mean(rows, axis=0)) + " |")


def rows(args):
    """Peak memory is compared with the encoded table: rows x features x 8 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.program, "generate", "-q", "--design", "tables", "--tasks", "1", "-k", "8", "-n", str(args.rows), "-d", "22",
                        "--noise-features", "7", "--own-columns", "1", "-o", folder], check=True)
        wall, processor, peak = common.run_timed([args.program, "cluster", "-q", "-k", "8", "--score", "-o", folder + "/out", folder + "/task1.csv"])
        task = json.loads((pathlib.Path(folder) / "out/result.json").read_text())["tasks"][0]
    data = args.rows * task["d"] * 8
    print("| rows | features | seconds | processor seconds | peak memory | of the data | ARI |\n|---|---|---|---|---|---|---|")
    print(f"| {args.rows} | {task['d']} | {wall:.1f} | {processor:.1f} | {peak / 1e9:.2f} GB | {peak / data:.2f} | {task['metrics']['ari']:.3f} |")


def rand_index(labels, tables, truth):
    return np.mean([adjusted_rand_score(t, labels[p.stem]) for p, t in zip(tables, truth)])


def clusters(args):
    print("| method | mean ARI |\n|---|---|")
    for name, options in CLUSTERS.items():
        found = [rand_index(run(args, "cluster", "-k", k, "--seed", seed, *options, *tables)[1], tables, truth)
                 for seed, tables, truth, k in designs(args)]
        print(f"| {name} | {np.mean(found):.3f} |", flush=True)


def number(args):
    found = []
    for seed, tables, truth, k in designs(args):
        result, labels = run(args, "cluster", "-k", "auto", "--seed", seed, *tables)
        found.append((k, result["tasks"][0]["k"], rand_index(labels, tables, truth)))
    print("| exact | within one | mean abs ln | mean ARI |\n|---|---|---|---|")
    print("| %.2f | %.2f | %.2f | %.3f |" % tuple(np.mean(v) for v in (
        [k == f for k, f, _ in found], [abs(k - f) <= 1 for k, f, _ in found], [abs(math.log(f / k)) for k, f, _ in found],
        [r for _, _, r in found])))


def read_table(task):
    """Columns of texts by name, and the classes."""
    head, rows, classes = auto.load_table(*task[1:])
    return dict(zip(head, rows.T)), classes


def encoded(source, target):
    """Numbers standardised on the source, with its means for missing ones; one column for each category of the source."""
    def number(text):
        try:
            return float(text)
        except ValueError:
            return np.nan

    parts = []
    for name in source:
        a, b = (np.array([number(v) for v in t[name]]) for t in (source, target))
        if all(np.isfinite(x[i]) or v == "" for x, t in ((a, source), (b, target)) for i, v in enumerate(t[name])):
            mean, spread = np.nanmean(a), np.nanstd(a) or 1
            parts.append([np.nan_to_num((x - mean) / spread)[:, None] for x in (a, b)])
        else:
            levels = sorted(set(source[name]))
            parts.append([np.array([[v == level for level in levels] for v in t[name]], dtype=float) for t in (source, target)])
    return [np.hstack([p[side] for p in parts]) for side in (0, 1)]


def peer(name, source, classes, target):
    """The answer of another library."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier

    x, z = encoded(source, target)
    if name == "POT: Sinkhorn":
        import ot

        number = np.unique(classes, return_inverse=True)[1]
        moved = ot.da.SinkhornTransport(reg_e=1, norm="median", max_iter=200).fit(Xs=x, ys=number, Xt=z).transform(Xs=x)
        return KNeighborsClassifier(1).fit(moved, classes).predict(z)
    model = {"sklearn: logistic regression": LogisticRegression(max_iter=2000), "sklearn: random forest": RandomForestClassifier(random_state=0),
             "sklearn: gradient boosting": GradientBoostingClassifier(random_state=0)}[name]
    return model.fit(x, classes).predict(z)


def transfer(args):
    head = ["collection", "source", "target", "method", "accuracy", "balanced_accuracy"]
    pairs = {(title.split("/")[1], a[0], b[0]): (a, b) for title in auto.folders("tables") for a, b in itertools.permutations(auto.tasks_of(title), 2)}

    def make(key):
        source, target = pairs[key[:3]]
        (columns, classes), (others, truth) = read_table(source), read_table(target)
        if key[3] in TRANSFER:
            answer = run(args, "transfer", "--source", source[1], "--target", target[1], "--label-column", "label", *TRANSFER[key[3]])[0]["tasks"][-1]["labels"]
        else:
            answer = peer(key[3], columns, classes, others)
        return [["%.4f" % np.mean(np.array(answer) == truth), "%.4f" % balanced_accuracy_score(truth, answer)]]

    return common.fill(args, "tables-transfer", head, [(*pair, method) for method in (*TRANSFER, *PEERS) for pair in pairs], make)


CASES = {"clusters": clusters, "others": others, "rows": rows, "k": number, "transfer": transfer}

if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["clusters"], [("--seeds", {"type": int, "default": 1}), ("--rows", {"type": int, "default": 1000000})]))
