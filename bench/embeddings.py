#!/usr/bin/python3
"""Measures how embeddings are compared best. SPDX-License-Identifier: BSD-3-Clause

usage: bench/embeddings.py CASE... [--build DIR] [--out FILE.csv] [--only TEXT]

cluster   NMI of `cluster` with the true number of clusters, by what is removed before samples are compared by cosine: nothing, the mean of each
          data set, and also the 1, 2 or 3 leading directions of all data sets
transfer  accuracy of `transfer` from the first data set to the last, with that of logistic regression (scikit-learn, the best C by five folds of the source)
          and of 15 nearest neighbours by cosine, on the same embeddings as they are

Embeddings: sentences20ng has those of sentences; `lsa` are the 128 leading directions of the tf-idf of a collection, scaled by their strength, of at
most 500 samples of each data set. A case writes bench/results/embeddings-CASE.csv (or --out)."""

import gzip
import pathlib
import sys
import tempfile

import common
import auto
import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.linalg
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import cross_val_score

MOST, DIRECTIONS, NEAREST = 500, 128, 15
TEXTS = ["webkb4", "reuters3", "20ng_4task", "la12", "dmoz4", "cluto_trec", "ytspam5", "amazon_sentiment4"]
TRANSFERS = ["webkb4", "la12", "amazon_sentiment4", "ytspam5"]  # with the same classes in all data sets
SENTENCES = ["subject", "body"]
VARIANTS = ["nothing", "mean", "mean + 1", "mean + 2", "mean + 3"]


def load(path):
    with gzip.open(path) if str(path).endswith(".gz") else open(path, "rb") as f:
        return np.load(f).astype(float)


def sentences(name):
    folder = common.DATA / "sentences20ng"
    return [(load(folder / f"{name}_{part}.npy.gz"), auto.lines(folder / f"{part}.labels")) for part in ("train", "test")]


def lsa(title):
    """Leading directions of the tf-idf of all data sets together."""
    sets = []
    for _, path, labels in auto.tasks_of(title):
        with gzip.open(path) if str(path).endswith(".gz") else open(path, "rb") as f:
            x = scipy.io.mmread(f).tocsr()
        truth = np.array(auto.lines(labels))
        rows = np.random.default_rng(1).permutation(x.shape[0])[:MOST]
        rows = np.sort(rows[np.diff(x.indptr)[rows] > 0])
        sets.append((x[rows], truth[rows]))
    x = scipy.sparse.vstack([s[0] for s in sets]).tocsr().astype(float)
    df = np.diff(x.tocsc().indptr)
    x = x @ scipy.sparse.diags(np.log(x.shape[0] / np.maximum(df, 1)))
    x = scipy.sparse.diags(1 / np.maximum(scipy.sparse.linalg.norm(x, axis=1), 1e-12)) @ x
    u, s, _ = scipy.sparse.linalg.svds(x, k=DIRECTIONS, random_state=1)
    z = (u * s)[:, ::-1]
    ends = np.cumsum([len(t) for _, t in sets])[:-1]
    return list(zip(np.split(z, ends), [t for _, t in sets]))


def embeddings(name):
    kind, title = name.split(":")
    return sentences(title) if kind == "sentences" else lsa(title)


def removed(sets, variant):
    if variant == "nothing":
        return [x for x, _ in sets]
    x = [x - x.mean(axis=0) for x, _ in sets]
    count = int(variant.split("+")[1]) if "+" in variant else 0
    if count:
        v = np.linalg.svd(np.vstack(x), full_matrices=False)[2][:count]
        x = [a - a @ v.T @ v for a in x]
    return x


def write(room, sets):
    paths = []
    for i, x in enumerate(sets):
        paths.append(f"{room}/set{i}.npy")
        np.save(paths[-1], x)
    return paths


def cluster_rows(args, key):
    sets = embeddings(key[0])
    k = ",".join(str(len(set(t))) for _, t in sets)
    cells = []
    for variant in VARIANTS:
        with tempfile.TemporaryDirectory() as room:
            result = common.program(args, "cluster", "--threads", 1, "--seed", 1, "-k", k, "--norm", "l2", *write(room, removed(sets, variant)))
        cells.append("%.4f" % np.mean([normalized_mutual_info_score(truth, task["labels"]) for (_, truth), task in zip(sets, result["tasks"])]))
    yield [sum(len(t) for _, t in sets), sets[0][0].shape[1], *cells]


def cluster(args):
    names = [f"sentences:{n}" for n in SENTENCES] + [f"lsa:{t}" for t in TEXTS]
    return common.fill(args, "embeddings-cluster", ["embeddings", "samples", "columns", *VARIANTS], [(n,) for n in names], lambda key: cluster_rows(args, key))


def transfer_rows(args, key):
    (source, classes), *_, (target, truth) = embeddings(key[0])
    classes, truth = np.array(classes), np.array(truth)
    with tempfile.TemporaryDirectory() as room:
        paths = write(room, [source, target])
        for name, labels in (("source", classes), ("target", truth)):
            pathlib.Path(room, name + ".labels").write_text("\n".join(labels) + "\n")
        result = common.program(args, "transfer", "--threads", 1, "--seed", 1, "--source", paths[0], "--labels", f"{room}/source.labels", "--target", paths[1])
    found = np.array(result["tasks"][-1]["labels"])
    a, b = common.unit(source), common.unit(target)
    best = max((1, 10, 100), key=lambda c: cross_val_score(LogisticRegression(C=c, max_iter=1000), a, classes, cv=5).mean())
    linear = LogisticRegression(C=best, max_iter=1000).fit(a, classes).score(b, truth)
    near = classes[np.argsort(-(b @ a.T), axis=1, kind="stable")[:, :NEAREST]]
    votes = np.array([max(sorted(set(row)), key=list(row).count) for row in near])
    yield [len(truth), "%.4f" % np.mean(found == truth), "%.4f" % linear, "%.4f" % np.mean(votes == truth)]


def transfer(args):
    names = [f"sentences:{n}" for n in SENTENCES] + [f"lsa:{t}" for t in TRANSFERS]
    return common.fill(args, "embeddings-transfer", ["embeddings", "samples", "kindred", "logistic regression", "15 nearest"], [(n,) for n in names],
                       lambda key: transfer_rows(args, key))


def cluster_table(rows):
    """One row per collection; at the end, what would be chosen without each of them."""
    lines = [[r["embeddings"], *("%.3f" % float(r[v]) for v in VARIANTS)] for r in rows]
    chosen = [max(VARIANTS, key=lambda v: auto.mean(float(o[v]) for o in rows if o is not r)) for r in rows]
    lines.append(["mean", *("%.3f" % auto.mean(float(r[v]) for r in rows) for v in VARIANTS)])
    lines.append(["best on the others for", *(str(chosen.count(v)) for v in VARIANTS)])
    return lines


CLUSTER_HEAD = ["removed", *VARIANTS]
TRANSFER_HEAD = ["embeddings", "kindred", "logistic regression", "15 nearest neighbours"]


def transfer_table(rows):
    return [[r["embeddings"], *("%.3f" % float(r[c]) for c in ("kindred", "logistic regression", "15 nearest"))] for r in rows]


CASES = {"cluster": cluster, "transfer": transfer}

if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["cluster"]))
