#!/usr/bin/python3
"""What a user would pick instead, on the papers' tables: scikit-learn and POT. SPDX-License-Identifier: BSD-3-Clause

usage: bench/peers_papers.py [-o bench/results/papers] [--presets NAME ...] [--minutes M] [--repeats N] [--sample N]

For each table of the papers' presets (cli/plans) that is made of files, by the same preprocessing, samples and numbers of clusters as `kindred bench`:
of tables to be clustered KMeans, SpectralClustering (10 nearest neighbours), AgglomerativeClustering (Ward) and BayesianGaussianMixture, each task by
itself; of tables of a source and a target a logistic regression after POT's SinkhornTransport. The last three of the clusterings and POT get at most
100 leading directions (TruncatedSVD), since they want dense data. Writes DIR/PRESET/TABLE/peer-NAME.json, in the form of `kindred bench`; what is there for
the same plan is not run again. At most 3 repeats. Tables with features or samples by lot, and tasks of more than 12,000 samples, are left out."""

import argparse
import gzip
import hashlib
import importlib.util
import json
import math
import os
import pathlib
import sys
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp

import common
from reproduction import slug

MASK = (1 << 64) - 1
MOST_ROWS, MOST_REPEATS = 12000, 3


class Random:
    """kdr_random."""

    def __init__(self, state):
        self.state = state & MASK

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def read(item):
    """(matrix, classes, name) of a file of a plan."""
    plan = {"path": item} if isinstance(item, str) else item
    path = common.DATA / plan["path"]
    stem = path.name
    for end in (".gz", ".mtx", ".npy"):
        stem = stem.removesuffix(end)
    x = np.load(gzip.open(path)) if ".npy" in path.name else sp.csr_matrix(scipy.io.mmread(str(path)), dtype=float)
    labels = np.array((path.parent / (stem + ".labels")).read_text().split())
    classes = plan.get("classes")
    if isinstance(classes, list):
        classes = {c: [c] for c in classes}
    if classes:
        names = {old: new for new, olds in classes.items() for old in olds}
        keep = np.flatnonzero([c in names for c in labels])
        x, labels = x[keep], np.array([names[c] for c in labels[keep]])
    return x.astype(float), labels, plan.get("name", stem)


def draw(sets, sample, seed):
    """The rows of a repeat, as cli/bench_draw.c draws them."""
    random, out = Random(seed ^ 0x6B696E6472656421), []
    for x, labels, name in sets:
        n = x.shape[0]
        if sample and sample < n:
            rows = []
            for i in range(n):
                if random() % (n - i) < sample - len(rows):
                    rows.append(i)
            x, labels = x[rows], labels[rows]
        out.append((x, labels, name))
    return out


def prepare(xs, table):
    """Weight, norm and scale, fitted on all together; sets of other collections have the same columns already."""
    if table.get("weight") == "tfidf":
        df = sum(np.asarray((x != 0).sum(0)).ravel() for x in xs)
        idf = np.log((1 + sum(x.shape[0] for x in xs)) / (1 + df)) + 1
        xs = [sp.csr_matrix(x @ sp.diags(idf)) for x in xs]
    if table.get("norm") == "l2":
        lengths = [np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel()) for x in xs]
        xs = [sp.csr_matrix(sp.diags(1 / np.where(n > 0, n, 1)) @ x) for x, n in zip(xs, lengths)]
    if table.get("scale") == "minmax":
        low, high = min_max(xs)
        xs = [(x - low) / np.where(high > low, high - low, 1) for x in xs]
    return xs


def min_max(xs):
    return np.min([x.min(0) for x in xs], 0), np.max([x.max(0) for x in xs], 0)


def directions(x, seed, most=100):
    from sklearn.decomposition import TruncatedSVD

    count = min(most, min(x.shape) - 1)
    if not sp.issparse(x) and x.shape[1] <= most:
        return x
    return TruncatedSVD(count, random_state=seed).fit_transform(x)


def clusterings(seed, k):
    from sklearn import cluster, mixture

    return {
        "scikit-learn KMeans": lambda x: cluster.KMeans(k, n_init=10, random_state=seed).fit_predict(x),
        "scikit-learn SpectralClustering": lambda x: cluster.SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=min(10, x.shape[0] - 1), random_state=seed).fit_predict(directions(x, seed)),
        "scikit-learn AgglomerativeClustering": lambda x: cluster.AgglomerativeClustering(k).fit_predict(directions(x, seed)),
        "scikit-learn BayesianGaussianMixture": lambda x: mixture.BayesianGaussianMixture(
            n_components=k, covariance_type="diag", random_state=seed, max_iter=200).fit_predict(directions(x, seed)),
    }


def pot(source, classes, target, seed):
    """Logistic regression on the source after it has been carried to the target."""
    import ot
    from sklearn.linear_model import LogisticRegression

    both = directions(sp.vstack([source, target]) if sp.issparse(source) else np.vstack([source, target]), seed)
    a, b = both[:source.shape[0]], both[source.shape[0]:]
    number = {c: i for i, c in enumerate(sorted(set(classes)))}
    moved = ot.da.SinkhornTransport(reg_e=.1, norm="max").fit(Xs=a, ys=np.array([number[c] for c in classes]), Xt=b).transform(Xs=a)
    return LogisticRegression(max_iter=1000).fit(moved, classes).predict(b)


def scores(labels, truth, named):
    from scipy.optimize import linear_sum_assignment
    from sklearn import metrics

    table = metrics.cluster.contingency_matrix(truth, labels)
    rows, cols = linear_sum_assignment(-table)
    return {"acc": float(np.mean(labels == truth)) if named else float(table[rows, cols].sum() / len(truth)),
            "nmi": float(metrics.normalized_mutual_info_score(truth, labels, average_method="geometric")),
            "ari": float(metrics.adjusted_rand_score(truth, labels))}


def able(table):
    """Whether the table is made of whole files alone."""
    items = [i for key in ("data", "source", "target") for i in ([table[key]] if isinstance(table.get(key), (str, dict)) else table.get(key, []))]
    return bool(items) and "bridge" not in table and "curve" not in table and not any(isinstance(i, dict) and ("part" in i or "words" in i) for i in items)


def run(name, sets, table, repeats, sample):
    """The values of a peer: scores of each task over repeats."""
    wanted = table.get("scores", ["acc", "nmi"])
    scored = [2] if "target" in table else range(len(sets))
    values = {s: [[] for _ in scored] for s in wanted}
    names = [sets[1][2]] if "target" in table else [s[2] for s in sets]
    for r in range(repeats):
        drawn = draw(sets, sample, 1 + r)
        xs = prepare([x for x, _, _ in drawn], table)
        if "target" in table:
            found = [(pot(xs[0], drawn[0][1], xs[1], r), drawn[1][1], True)]
        else:
            found = [(clusterings(r, len(set(truth)))[name](x), truth, False) for x, (_, truth, _) in zip(xs, drawn)]
        for t, (labels, truth, named) in enumerate(found):
            got = scores(labels, truth, named)
            for s in wanted:
                values[s][t].append(got.get(s))
    return names, values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=pathlib.Path, default=common.ROOT / "bench" / "results" / "papers")
    parser.add_argument("--presets", nargs="*")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--repeats", type=int, default=MOST_REPEATS)
    parser.add_argument("--sample", type=int, default=0)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    if not common.DATA.exists():
        print("skipped: no data")
        return 0
    until, absent = time.monotonic() + 60 * args.minutes, 0
    for path in sorted((common.ROOT / "cli" / "plans").glob("*.json")):
        plan = json.loads(path.read_text())
        if "paper" not in plan or (args.presets and path.stem not in args.presets):
            continue
        for table in plan["tables"]:
            if not able(table):
                continue
            names = ["POT SinkhornTransport"] if "target" in table else list(clusterings(0, 2))
            if "target" in table and not importlib.util.find_spec("ot"):
                absent += 1
                continue
            sets = None
            for name in names:
                repeats = min(table.get("repeats", 10), args.repeats, MOST_REPEATS)
                sample = args.sample or table.get("sample", 0)
                made_from = {k: v for k, v in table.items() if k not in ("title", "note", "rows", "paired", "pick", "record", "start")}
                key = hashlib.sha256(json.dumps([name, repeats, sample, made_from], sort_keys=True).encode()).hexdigest()[:16]
                file = args.output / path.stem / slug(table["title"]) / f"peer-{slug(name)}.json"
                if file.exists() and json.loads(file.read_text())["key"] == key:
                    continue
                if time.monotonic() > until:
                    print("stopped: the same command goes on")
                    return 130
                items = [table["source"], table["target"]] if "target" in table else table["data"]
                sets = sets or [read(i) for i in items]
                if max(s[0].shape[0] for s in sets) > MOST_ROWS and not sample:
                    break
                start = time.process_time()
                tasks, values = run(name, sets, table, repeats, sample)
                whole = {"row": name, "preset": path.stem, "table": table["title"], "method": "peer", "key": key, "repeats": repeats, "sample": sample,
                         "seconds": time.process_time() - start, "tasks": tasks, "lines": [{"setting": "", "scores": values}]}
                file.parent.mkdir(parents=True, exist_ok=True)
                part = file.with_suffix(".tmp")
                part.write_text(json.dumps(whole, indent=1) + "\n")
                os.replace(part, file)
                print(f"{path.stem}: {table['title']}: {name}, {whole['seconds']:.1f} s", flush=True)
    print(f"done; {absent} tables need POT, which is not installed" if absent else "done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
