#!/usr/bin/python3
"""Measures how embeddings are compared best. SPDX-License-Identifier: BSD-3-Clause

usage: bench/embeddings.py CASE... [--build DIR] [--out FILE.csv] [--only TEXT]

cluster   NMI of `cluster` with the true number of clusters, by what is removed before samples are compared by cosine: nothing, the mean of each
          data set, and also the 1, 2 or 3 leading directions of all data sets
transfer  accuracy of `transfer` from the first data set to the last, with that of logistic regression (scikit-learn, the best C by five folds of the source)
          and of 15 nearest neighbours by cosine, on the same embeddings as they are
views     sentences20ng by words, by embeddings and by both (--both-views): NMI of `cluster -k 8` for train and test, titles of the clusters, and accuracy of
          `transfer` from train to test with that of the two others above on the same rows; both have their rows side by side as kindred joins them
vectors   NMI of `cluster` on texts that are cut to their first words: by words, by idf-weighted means of word vectors as --vectors makes them, and by these
          means less the mean of each data set

Embeddings: sentences20ng has those of sentences; `lsa` are the 128 leading directions of the tf-idf of a collection, scaled by their strength, of at
most 500 samples of each data set. A case writes bench/results/embeddings-CASE.csv (or --out)."""

import collections
import csv
import functools
import gzip
import pathlib
import re
import sys
import tarfile
import tempfile

import common
import auto
import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.linalg
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import normalize

MOST, DIRECTIONS, NEAREST = 500, 128, 15
TEXTS = ["webkb4", "reuters3", "20ng_4task", "la12", "dmoz4", "cluto_trec", "ytspam5", "amazon_sentiment4"]
TRANSFERS = ["webkb4", "la12", "amazon_sentiment4", "ytspam5"]  # with the same classes in all data sets
SENTENCES = ["subject", "body"]
CUTS = [3, 5, 8, 12, 20, 40, 80, 1000]  # words of each text
COLLECTIONS = ["posts", "pages", "groups1", "groups2", "comments"]  # the threshold was chosen on the first two
WORDS_ENOUGH = 11  # of src/text/vectors.c
OTHERS = {"groups1": "alt.atheism comp.graphics misc.forsale rec.motorcycles sci.electronics soc.religion.christian".split(),
          "groups2": "comp.sys.ibm.pc.hardware comp.windows.x rec.sport.hockey sci.med talk.politics.misc talk.religion.misc".split()}
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
    yield [len(truth), "%.4f" % np.mean(found == truth), *others(common.unit(source), classes, common.unit(target), truth)]


def transfer(args):
    names = [f"sentences:{n}" for n in SENTENCES] + [f"lsa:{t}" for t in TRANSFERS]
    return common.fill(args, "embeddings-transfer", ["embeddings", "samples", "kindred", "logistic regression", "15 nearest"], [(n,) for n in names],
                       lambda key: transfer_rows(args, key))


def tfidf(sets):
    x = TfidfVectorizer(stop_words="english", min_df=2).fit([t for texts in sets for t in texts])
    return [x.transform(texts) for texts in sets]


def side_by_side(a, b):
    """Rows of both at unit length, such that cosines differ equally much in both: (E1) of src/jobs/combine.c."""
    def spread(sets):
        x = sets[0]
        cosines = x @ x.T
        return (cosines.toarray() if scipy.sparse.issparse(cosines) else cosines)[~np.eye(x.shape[0], dtype=bool)].std()
    parts = [[scipy.sparse.csr_matrix(x) / np.sqrt(spread(sets)) for x in sets] for sets in (a, b)]
    return [normalize(scipy.sparse.hstack(pair).tocsr()) for pair in zip(*parts)]


def others(source, classes, target, truth):
    """Accuracy of logistic regression, the best C by five folds of the source, and of 15 nearest neighbours by cosine."""
    best = max((1, 10, 100), key=lambda c: cross_val_score(LogisticRegression(C=c, max_iter=1000), source, classes, cv=5).mean())
    linear = LogisticRegression(C=best, max_iter=1000).fit(source, classes).score(target, truth)
    cosines = target @ source.T
    cosines = cosines.toarray() if scipy.sparse.issparse(cosines) else cosines
    near = classes[np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]]
    return "%.4f" % linear, "%.4f" % np.mean(np.array([max(sorted(set(row)), key=list(row).count) for row in near]) == truth)


def views_rows(args, key):
    """One row of the table: rows of words, embeddings or both."""
    name, by = key
    embedded = sentences(name)
    texts = [[t.partition("\n")[0] if name == "subject" else t.replace("\n", " ") for t in of] for of, _ in posts("\n")]
    classes, truth = (np.array(labels) for _, labels in embedded)
    rows = {"words": tfidf(texts), "embeddings": [common.unit(x) for x, _ in embedded]}
    rows["both"] = side_by_side(rows["words"], rows["embeddings"])
    with tempfile.TemporaryDirectory() as room:
        tables = [f"{room}/{part}.csv" for part in ("train", "test")]
        for path, of in zip(tables, texts):
            with open(path, "w", newline="", encoding="utf-8") as f:
                csv.writer(f).writerows([["text"], *([t] for t in of)])
        pathlib.Path(room, "classes").write_text("\n".join(classes) + "\n")
        files = tables if by == "words" else write(room, [x for x, _ in embedded])
        explain = [] if by == "words" else ["--explain", ",".join(tables)]
        both = ["--both-views"] if by == "both" else []
        found = common.program(args, "cluster", "--threads", 1, "--seed", 1, "-k", 8, *files, "--text-column", "text", *explain, *both)["tasks"]
        result = common.program(args, "transfer", "--threads", 1, "--seed", 1, "--source", files[0], "--labels", f"{room}/classes", "--target", files[1], "--text-column", "text",
                                *(explain[:1] + [tables[1]] if by == "embeddings" else explain), *both)
    scores = ["%.4f" % normalized_mutual_info_score(labels, task["labels"]) for (_, labels), task in zip(embedded, found)]
    titles = "; ".join(c["title"] for c in found[0]["clusters"] if "title" in c)
    yield [*scores, "%.4f" % np.mean(np.array(result["tasks"][-1]["labels"]) == truth), *others(rows[by][0], classes, rows[by][1], truth), titles]


def views(args):
    return common.fill(args, "embeddings-views", ["texts", "by", "NMI of train", "NMI of test", "kindred", "logistic regression", "15 nearest", "titles"],
                       [(name, by) for name in SENTENCES for by in ("words", "embeddings", "both")], lambda key: views_rows(args, key))


VIEWS_HEAD = ["texts", "compared by", "NMI of train", "NMI of test", "transfer: kindred", "logistic regression", "15 nearest neighbours"]


def views_table(rows):
    return [[r["texts"], r["by"], *("%.3f" % float(r[c]) for c in ("NMI of train", "NMI of test", "kindred", "logistic regression", "15 nearest"))] for r in rows]


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


def posts(between=" "):
    for part in ("train", "test"):
        with gzip.open(common.DATA / "sentences20ng" / f"{part}.csv.gz", "rt", encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        yield [r["subject"] + between + r["body"] for r in rows], [r["group"] for r in rows]


def pages():
    """Web pages without headers and tags; a data set per university."""
    sets = {}
    with tarfile.open(common.DATA / "raw" / "webkb4-4univ-4class.tar.xz") as f:
        for member in sorted((m for m in f if m.isfile()), key=lambda m: m.name):
            _, kind, place, _ = member.name.split("/", 3)
            text = f.extractfile(member).read().decode("latin-1").replace("\r", "").partition("\n\n")[2]
            texts, truth = sets.setdefault(place, ([], []))
            texts.append(re.sub(r"(?s)<[^>]*>", " ", text))
            truth.append(kind)
    return sets.values()


def shuffled(x, names, rng):
    """Texts with the words of each row of counts, in random order."""
    return [" ".join(rng.permutation(np.repeat(names[row.indices], row.data.astype(int)))) for row in x]


def counted(name):
    """Texts from counts of words that are not stemmed."""
    rng = np.random.default_rng(1)
    folder = common.DATA / ("ytspam5" if name == "comments" else "20ng_full")
    names = np.array(auto.lines(folder / "features.txt"))
    if name == "comments":
        for path in sorted(folder.glob("*.mtx.gz")):
            stem = path.name.split(".")[0]
            yield shuffled(common.load_csr("ytspam5", stem), names, rng), list(auto.lines(folder / f"{stem}.labels"))
        return
    x, truth = common.load_csr("20ng_full"), np.array(auto.lines(folder / "all.labels"))
    for part in range(2):
        rows = np.concatenate([np.flatnonzero(truth == g)[part:200:2] for g in OTHERS[name]])
        yield shuffled(x[rows], names, rng), list(truth[rows])


def texts_of(name):
    return list(posts() if name == "posts" else pages() if name == "pages" else counted(name))


def word_means(sets, vectors):
    """Means of word vectors by idf, and the number of known words of each text."""
    documents = [[[w for w in re.findall(r"[a-z]{2,}", t.lower()) if w not in ENGLISH_STOP_WORDS] for t in texts] for texts, _ in sets]
    df = collections.Counter(w for d in documents for words in d for w in set(words))
    n = sum(map(len, documents))
    means, known = [], []
    for d in documents:
        x = np.zeros((len(d), len(next(iter(vectors.values())))))
        for i, words in enumerate(d):
            found = [w for w in words if w in vectors]
            known.append(len(found))
            if found:
                x[i] = np.average([vectors[w] for w in found], axis=0, weights=[np.log((1 + n) / (1 + df[w])) + 1 for w in found])
        means.append(x)
    return means, np.median(known)


@functools.cache
def word_vectors():
    with gzip.open(common.DATA / "sentences20ng" / "vectors.txt.gz", "rt", encoding="utf-8") as f:
        return {word: np.array(values.split(), float) for word, _, values in (line.partition(" ") for line in f)}


def vectors_rows(args, key):
    sets = [([" ".join(t.split()[:int(key[1])]) for t in texts], truth) for texts, truth in texts_of(key[0])]
    k = ",".join(str(len(set(t))) for _, t in sets)
    means, known = word_means(sets, word_vectors())
    centred = [x - x[x.any(axis=1)].mean(axis=0) * x.any(axis=1)[:, None] for x in means]
    cells = []
    with tempfile.TemporaryDirectory() as room:
        tables = [f"{room}/set{i}.csv" for i in range(len(sets))]
        for path, (texts, _) in zip(tables, sets):
            with open(path, "w", newline="", encoding="utf-8") as f:
                csv.writer(f).writerows([["text"], *([t] for t in texts)])
        for x in (None, means, centred):
            files = write(room, x) if x else [*tables, "--text-column", "text"]
            result = common.program(args, "cluster", "--threads", 1, "--seed", 1, "-k", k, *files)
            cells.append("%.4f" % np.mean([normalized_mutual_info_score(truth, task["labels"]) for (_, truth), task in zip(sets, result["tasks"])]))
    yield ["%g" % known, *cells]


def vectors(args):
    return common.fill(args, "embeddings-vectors", ["collection", "words", "known", "by words", "by vectors", "mean removed"],
                       [(c, str(n)) for c in COLLECTIONS for n in CUTS], lambda key: vectors_rows(args, key))


VECTORS_HEAD = ["collection", "cut to", "known words", "by words", "by vectors", "mean removed", "used"]


def vectors_table(rows):
    """One row per collection and length; the last column is what --vectors uses."""
    return [[r["collection"], "all" if r["words"] == str(CUTS[-1]) else r["words"], r["known"], *("%.3f" % float(r[c]) for c in ("by words", "by vectors", "mean removed")),
             "vectors" if float(r["known"]) < WORDS_ENOUGH else "words"] for r in rows]


CASES = {"cluster": cluster, "transfer": transfer, "views": views, "vectors": vectors}

if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, ["cluster"]))
