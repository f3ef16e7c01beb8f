#!/usr/bin/python3
"""Compares `transfer` and `cluster` with published figures and with four methods of domain adaptation. SPDX-License-Identifier: BSD-3-Clause

usage: bench/published.py CASE... [--build DIR] [--out FILE.csv] [--size N] [--minutes M] [--only TEXT] [--jobs N]

office     the 12 pairs of Office-Caltech10 with SURF features, all samples
amazon     the 12 pairs of Amazon reviews, 400 of the 2,000 samples of each domain
pairs      every pair of data sets with the same classes in KINDRED_DATA, at most --size samples each (200), one draw
sentences  posts and subject lines of newsgroups, as words and as sentence embeddings: clusters, and classes carried from train to test
cells      clusters of cells of several batches
classes    classes of these cells carried from batch to batch; harmony_nn: the 15 nearest cells of the source in Harmony's embedding vote

Harmony is the package harmonypy (Debian: python3-harmonypy) with default options, on the 20 leading directions of log(1 + counts per 10,000); `cells` then runs k-means.
Its rows are skipped without the package.

`kindred` is the program without any option but -k. The alternatives get the features that kindred has prepared (tables: numbers standardised on the source and one
column per category), and neither they nor kindred see a class of a target. Their settings:
svm    scikit-learn's LinearSVC, trained on the source
coral  correlation alignment (Sun, Feng and Saenko 2016): each domain less its own mean, all values scaled to a mean column variance of 1, source features times
       (C_s + I)^-1/2 (C_t + I)^1/2; then svm
tca    transfer component analysis (Pan and others 2011): linear kernel of rows of unit length, mu = 1, components of unit length; then svm
sa     subspace alignment (Fernando and others 2013): principal components of each domain, those of the source turned towards the target's; then svm
Features are scaled to a mean squared row length of 1. The cost of the SVM (0.1, 1, 10 or 100) and the number of components (10, 30 or 100) are those with the highest accuracy in 3-fold cross-validation on the source.

A case writes bench/results/published-CASE.csv (or --out), row by row. A later call continues. bench/docs.py writes the tables of docs/benchmarks.md from these files."""

import csv
import gzip
import pathlib
import sys
import tempfile
import warnings

import auto
import common
import numpy as np
import scipy.linalg
import scipy.sparse as sp
import statements
import tables
import together
from scipy.sparse.linalg import LinearOperator, eigsh

OFFICE = ["caltech10", "amazon", "webcam", "dslr"]
AMAZON = ["books", "dvd", "electronics", "kitchen"]
METHODS = ["kindred", "svm", "coral", "tca", "sa"]
COSTS, COMPONENTS = (0.1, 1, 10, 100), (10, 30, 100)

# Accuracy in % on Office-Caltech10 with SURF features, as reported in the papers and gathered in the list "transferlearning" (J. Wang and others,
# https://github.com/jindongwang/transferlearning, data/benchmark.md). Order: C-A C-W C-D A-C A-W A-D W-C W-A W-D D-C D-A D-W.
PUBLISHED = {
    "1-NN": "23.70 25.76 25.48 26.00 29.83 25.48 19.86 22.96 59.24 26.27 28.50 63.39",
    "SVM": "55.64 45.22 43.73 45.77 42.04 39.66 31.43 34.76 82.80 29.39 26.62 63.39",
    "GFK (2012)": "41.02 40.68 38.85 40.25 38.98 36.31 30.72 29.75 80.89 30.28 32.05 75.59",
    "TCA (2011)": "45.82 30.51 35.67 40.07 35.25 34.39 29.92 28.81 85.99 32.06 31.42 86.44",
    "SA (2013)": "49.27 40.00 39.49 39.98 33.22 33.76 35.17 39.25 75.16 34.55 39.87 76.95",
    "TJM (2014)": "46.76 38.98 44.59 39.45 42.03 45.22 30.19 29.96 89.17 31.43 32.78 85.42",
    "JDA (2013)": "44.78 41.69 45.22 39.36 37.97 39.49 31.17 32.78 89.17 31.52 33.09 89.49",
    "VDA (2017)": "46.14 46.10 51.59 42.21 51.19 48.41 27.60 26.10 89.18 31.26 37.68 90.85",
    "JGSA (2017)": "53.13 48.47 48.41 41.50 45.08 45.22 33.57 40.81 88.54 30.28 38.73 93.22",
    "TKL (2015)": "54.28 46.50 51.19 45.59 49.04 46.44 34.82 40.92 83.44 35.80 40.71 84.75",
}


# --- the alternatives ----------------------------------------------------------------------------------------------------


def prepared(preprocessing, xs):
    """The features that kindred made of these data sets, from its description."""
    for step in (w.split(" ")[0] for w in preprocessing.split("; ")[1:]):
        if step == "tfidf":
            xs = common.tfidf(xs)
        elif step == "cpm":
            totals = [np.asarray(x.sum(1)).ravel() for x in xs]
            middle = np.median(np.concatenate(totals))
            xs = [np.log1p(x / np.maximum(t, 1e-300)[:, None] * middle) for x, t in zip(xs, totals)]
        elif step == "sqrt":
            xs = [np.sqrt(x) for x in xs]
        elif step == "l2":
            xs = [common.unit(x) for x in xs]
        elif step == "standard":
            both = np.vstack(xs)
            spread = both.std(0)
            xs = [(x - both.mean(0)) / np.where(spread > 0, spread, 1) for x in xs]
        else:
            sys.exit(f"published: unknown step {step} in {preprocessing}")
    return [x.toarray() if sp.issparse(x) else np.asarray(x, dtype=float) for x in xs]


def classify(candidates, y):
    """Predicted classes of the target; candidates: (source, target) in different features. Features and cost by cross-validation on the source."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC

    warnings.simplefilter("ignore")
    candidates = [(x / np.sqrt(mean), z / np.sqrt(mean)) for x, z in candidates for mean in [np.mean(np.asarray((x.multiply(x) if sp.issparse(x) else x * x).sum(1)))]]

    for i, (x, z) in enumerate(candidates):  # the weights of an SVM are combinations of rows of the source
        if not sp.issparse(x) and x.shape[1] > x.shape[0]:
            rows = scipy.linalg.svd(x, full_matrices=False)[2].T
            candidates[i] = x @ rows, z @ rows

    def model(x, cost):
        return LinearSVC(C=cost, dual=x.shape[0] <= x.shape[1], random_state=0)

    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(y, y))
    # Of equal accuracies the first features and the smallest cost.
    best = max(((sum(np.sum(model(x, c).fit(x[a], y[a]).predict(x[b]) == y[b]) for a, b in folds if len(set(y[a])) > 1), -i, -c) for i, (x, _) in enumerate(candidates) for c in COSTS))
    x, z = candidates[-best[1]]
    return model(x, -best[2]).fit(x, y).predict(z)


def less_mean(x):
    return x - x.mean(0)


def coral(x, z):
    x, z = less_mean(x), less_mean(z)
    scale = np.sqrt(x.shape[1] / np.mean(np.concatenate([(x * x).sum(1), (z * z).sum(1)])))
    u, s, v = scipy.linalg.svd(scale * x, full_matrices=False)
    _, s_t, v_t = scipy.linalg.svd(scale * z, full_matrices=False)
    white = (u * (s / np.sqrt(s ** 2 / (len(x) - 1) + 1))) @ v
    return [(white + ((white @ v_t.T) * (np.sqrt(s_t ** 2 / (len(z) - 1) + 1) - 1)) @ v_t, scale * z)]


def tca(x, z, mu=1):
    both = common.unit(np.vstack([x, z]))
    n, kernel = len(both), both @ both.T
    e = np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(z), -1 / len(z))])
    v = kernel @ e / np.linalg.norm(e)  # K M K = v v', with M of Frobenius norm 1
    shrink, v = 1 - 1 / np.sqrt(1 + v @ v / mu), v / np.linalg.norm(v)

    def half(w):  # (mu I + v v')^-1/2 w
        return (w - shrink * np.outer(v, v @ w)) / np.sqrt(mu)

    def apply(w):
        w = kernel @ half(w.reshape(n, -1))
        return half(kernel @ less_mean(w))

    most = min(COMPONENTS[-1], n - 2)
    _, w = eigsh(LinearOperator((n, n), apply, matmat=apply, dtype=float), most, v0=np.ones(n))
    found = kernel @ half(w[:, ::-1])
    parts = [common.unit(found[:, :k]) for k in sorted({min(k, most) for k in COMPONENTS})]
    return [(p[: len(x)], p[len(x):]) for p in parts]


def sa(x, z):
    x, z = less_mean(x), less_mean(z)
    p, q = (scipy.linalg.svd(a, full_matrices=False)[2] for a in (x, z))
    sizes = sorted({min(k, len(p), len(q)) for k in COMPONENTS})
    return [(x @ p[:k].T @ (p[:k] @ q[:k].T), z @ q[:k].T) for k in sizes]


HOW = {"svm": lambda x, z: [(x, z)], "coral": coral, "tca": tca, "sa": sa}


# --- pairs ---------------------------------------------------------------------------------------------------------------


def transfer(args, source, target, *more):
    """kindred's result; source and target: (name, file, file of classes)."""
    with tempfile.TemporaryDirectory() as folder:
        hidden = pathlib.Path(folder) / target[1].name  # beside no classes
        hidden.symlink_to(target[1].resolve())
        return common.program(args, "transfer", "--threads", 1, *more, "--source", f"{source[0]}={source[1]}", "--labels", source[2], "--target", f"{target[0]}={hidden}")


def accuracies(args, source, target, table=False):
    """Of all methods."""
    result = transfer(args, source, target, *(["--header"] if table else []))
    y, truth = auto.lines(source[2]), auto.lines(target[2])
    if table:
        (a, _), (b, _) = tables.read_table(source), tables.read_table(target)
        x, z = tables.encoded(a, b)
    else:
        x, z = prepared(result["preprocessing"], [auto.load(source[1]), auto.load(target[1])])
    found = {"kindred": np.array(result["tasks"][-1]["labels"]), **{m: classify(how(x, z), y) for m, how in HOW.items()}}
    return [["%.4f" % np.mean(found[m] == truth) for m in METHODS]]


def full(case, title, sets, size=sys.maxsize):
    def run(args):
        known = {t[0]: t for t in auto.tasks_of(title)}

        def make(key):
            with tempfile.TemporaryDirectory() as folder:
                auto.load.cache_clear()
                return accuracies(args, *auto.draw([known[key[0]], known[key[1]]], size, 1, folder))

        return common.fill(args, f"published-{case}", ["source", "target", *METHODS], [(a, b) for a in sets for b in sets if a != b], make)
    return run


def all_pairs():
    """{(collection, source, target): folder} of pairs of single data sets, made tables excluded."""
    out = {}
    for group, folder, sources, target in statements.transfer_tasks().values():
        if len(sources) == 1 and not folder.startswith("tables_made"):
            out[folder.split("/")[-1], sources[0], target] = folder
    for kind in ("subject", "body"):
        title = f"sentences20ng:{kind}_test+{kind}_train"
        names = [s[0] for s in together.sets_of(title)]
        out.update({("sentences20ng", a, b): title for a, b in (names, names[::-1])})
    return out


def pairs(args):
    known = all_pairs()

    def make(key):
        folder = known[key]
        sets = {t[0]: t for t in (together.sets_of if folder.startswith("sentences") else auto.tasks_of)(folder)}
        with tempfile.TemporaryDirectory() as to:
            drawn = auto.draw([sets[key[1]], sets[key[2]]], args.size, 1, to)
            for _, _, labels in drawn if folder.startswith("20ng") else []:  # by their subject
                labels.write_text("".join(c.split(".")[0] + "\n" for c in auto.lines(labels)))
            auto.load.cache_clear()
            return accuracies(args, *drawn, table=folder.startswith("tables"))

    return common.fill(args, "published-pairs", ["collection", "source", "target", *METHODS], known, make)


# --- sentences -----------------------------------------------------------------------------------------------------------


def texts_of(part, kind):
    with gzip.open(common.DATA / "sentences20ng" / f"{part}.csv.gz", "rt", newline="", encoding="utf-8") as f:
        return [r["subject"] + (" " + r["body"] if kind == "body" else "") for r in csv.DictReader(f)]


def sentences(args):
    """NMI of clusters and accuracy of classes."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.neighbors import KNeighborsClassifier

    folder = common.DATA / "sentences20ng"
    names = ("train", "test")
    truth = {p: auto.lines(folder / f"{p}.labels") for p in names}

    def make(key):
        kind, features = key
        with tempfile.TemporaryDirectory() as to:
            sets = {p: (p, pathlib.Path(to) / f"{p}.csv", folder / f"{p}.labels") for p in names}
            if features == "words":
                own = {p: texts_of(p, kind) for p in names}
                for p in names:
                    with open(sets[p][1], "w", newline="", encoding="utf-8") as f:
                        csv.writer(f).writerows([["text"], *([t] for t in own[p])])
                more = ["--text-column", "text"]
                vectorizer = TfidfVectorizer(stop_words="english").fit(own["train"] + own["test"])
                x = {p: vectorizer.transform(own[p]) for p in names}
            else:
                sets = {p: (p, folder / f"{kind}_{p}.npy.gz", folder / f"{p}.labels") for p in names}
                more, x = [], {p: common.unit(auto.load(sets[p][1]).astype(float)) for p in names}

            def nmi(*files, extra=()):
                result = common.program(args, "cluster", "-k", 8, "--threads", 1, *more, *extra, *(f"{p}={sets[p][1]}" for p in files))
                return {t["name"]: normalized_mutual_info_score(truth[t["name"]], t["labels"], average_method="geometric") for t in result["tasks"]}

            both, kmeans = nmi(*names), {p: normalized_mutual_info_score(truth[p], KMeans(8, n_init=10, random_state=0).fit_predict(x[p]), average_method="geometric") for p in names}
            alone = {p: nmi(p)[p] for p in names}
            moved = np.array(transfer(args, sets["train"], sets["test"], *more)["tasks"][-1]["labels"])
            found = {"kindred": moved, "logreg": LogisticRegression(max_iter=1000, C=10).fit(x["train"], truth["train"]).predict(x["test"]),
                     "nn15": KNeighborsClassifier(15, metric="cosine").fit(x["train"], truth["train"]).predict(x["test"]),
                     "svm": classify([(x["train"], x["test"])], truth["train"])}
        return [["%.4f" % v for v in (*(d[p] for p in names for d in (both, alone, kmeans)), *(np.mean(found[m] == truth["test"]) for m in SENTENCE_METHODS))]]

    head = ["texts", "features", *(f"{p}_{m}" for p in names for m in ("together", "alone", "kmeans")), *SENTENCE_METHODS]
    return common.fill(args, "published-sentences", head, [(k, f) for k in ("subject", "body") for f in ("words", "embeddings")], make)


SENTENCE_METHODS = ["kindred", "svm", "logreg", "nn15"]


# --- cells ---------------------------------------------------------------------------------------------------------------

CELLS = ["sc_mixology3", "sc_rnamix2", "cellmix4", "splat_simul4"]
CLUSTERINGS = {"auto": [], "auto, each batch alone": [], "harmony": None, "k-means, pooled": ["-m", "kmeans", "--pooled"],
               "k-means, each batch alone": ["-m", "kmeans"]}


def entropy(labels, batch):
    """(E1) mean over cells of the entropy of the batches in a cell's cluster, each batch weighted to the same total, divided by the logarithm of their number."""
    count = np.zeros((labels.max() + 1, batch.max() + 1))
    np.add.at(count, (labels, batch), 1)
    share = count / count.sum(0)
    share = share / np.maximum(share.sum(1, keepdims=True), 1e-300)
    each = -np.sum(np.where(share > 0, share * np.log(np.where(share > 0, share, 1)), 0), axis=1) / np.log(count.shape[1])
    return np.sum(each * count.sum(1)) / count.sum()


def harmony(counts):
    """Coordinates of the cells of each batch without effects of the batches, by harmonypy; counts: cells x genes of each."""
    import pandas
    from sklearn.decomposition import PCA
    try:
        import harmonypy
    except ImportError:
        raise common.Absent("no harmonypy (Debian: python3-harmonypy)") from None

    x = np.vstack([c.toarray() if sp.issparse(c) else c for c in counts])
    x = np.log1p(1e4 * x / np.maximum(x.sum(1, keepdims=True), 1))
    batch = np.repeat([str(b) for b in range(len(counts))], [c.shape[0] for c in counts])
    np.random.seed(0)  # harmonypy draws from it
    moved = harmonypy.run_harmony(PCA(20, random_state=0).fit_transform(x), pandas.DataFrame({"batch": batch}), "batch").Z_corr.T
    return [moved[batch == str(b)] for b in range(len(counts))]


def cell_clusters(args, title, method):
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    sets = auto.tasks_of(title)
    truth, k = [auto.lines(s[2]) for s in sets], len(set(np.concatenate([auto.lines(s[2]) for s in sets])))
    run = lambda *words: common.program(args, "cluster", "-k", k, "--threads", 1, *words)
    files = [f"{s[0]}={s[1]}" for s in sets]
    how, joint = CLUSTERINGS[method], ["", "", ""]
    if method.endswith("alone"):
        labels = [run(*how, f)["tasks"][0]["labels"] for f in files]  # numbers of different batches have nothing to do with each other
    else:
        if method == "harmony":
            moved = harmony([auto.load(s[1]) for s in sets])
            found = KMeans(k, n_init=10, random_state=0).fit_predict(np.vstack(moved))
            labels = np.split(found, np.cumsum([len(t) for t in truth])[:-1])
        else:
            labels = [t["labels"] for t in run(*how, *files)["tasks"]]
        stacked, batch = np.concatenate(labels), np.repeat(np.arange(len(sets)), [len(t) for t in truth])
        joint = [normalized_mutual_info_score(np.concatenate(truth), stacked, average_method="geometric"), adjusted_rand_score(np.concatenate(truth), stacked), entropy(stacked, batch)]
        joint = ["%.4f" % v for v in joint]
    return [[len(sets), sum(map(len, truth)), k, "%.4f" % np.mean([normalized_mutual_info_score(t, z, average_method="geometric") for t, z in zip(truth, labels)]), *joint]]


def harmony_neighbours(source, target):
    """Classes of the 15 nearest cells of the source in Harmony's embedding."""
    from sklearn.neighbors import KNeighborsClassifier

    x, z = harmony([auto.load(source[1]), auto.load(target[1])])
    return KNeighborsClassifier(15).fit(x, auto.lines(source[2])).predict(z)


def cells(args):
    return common.fill(args, "published-cells", ["collection", "method", "batches", "cells", "k", "nmi_each", "nmi", "ari", "entropy"],
                       [(t, m) for t in CELLS for m in CLUSTERINGS], lambda key: cell_clusters(args, *key))


def cell_classes(args):
    def make(key):
        known = {t[0]: t for t in auto.tasks_of(key[0])}
        source, target = known[key[1]], known[key[2]]
        found = harmony_neighbours(source, target)
        return [[*accuracies(args, source, target)[0], "%.4f" % np.mean(found == auto.lines(target[2]))]]

    keys = [(t, a[0], b[0]) for t in CELLS for a in auto.tasks_of(t) for b in auto.tasks_of(t) if a[0] != b[0]]
    return common.fill(args, "published-classes", ["collection", "source", "target", *METHODS, "harmony_nn"], keys, make)


# --- tables --------------------------------------------------------------------------------------------------------------

NAMES = {"kindred": "kindred", "svm": "SVM", "coral": "CORAL, then SVM", "tca": "TCA, then SVM", "sa": "subspace alignment, then SVM", "logreg": "logistic regression",
         "nn15": "15 nearest neighbours", "harmony_nn": "Harmony, then 15 nearest neighbours"}
# Collections on which, as far as we know, no rule of `transfer` was chosen.
FRESH = ["gas6", "cellmix4", "sc_rnamix2", "splat_simul4", "wine2", "office_caltech_surf", "ytspam5", "sentences20ng"]
LETTERS = {"caltech10": "C", "amazon": "A", "webcam": "W", "dslr": "D", "books": "B", "dvd": "D", "electronics": "E", "kitchen": "K"}


def percent(values):
    return [*("%.1f" % (100 * v) for v in values), "%.1f" % (100 * np.mean(values))]


def grid(rows, more=()):
    """A line for each method, a column for each pair."""
    head = ["method", *(f"{LETTERS[r['source']]}-{LETTERS[r['target']]}" for r in rows), "mean"]
    ours = [["kindred, no option set" if m == "kindred" else NAMES[m] + ", measured here", *percent([float(r[m]) for r in rows])] for m in reversed(METHODS)]
    return head, [*more, *ours]


def short_table(rows):
    """README.md: means of groups of pairs, and how often and by how much kindred is behind. rows: {case: rows}"""
    office, amazon, pairs = (rows[case] for case in ("office", "amazon", "pairs"))
    mean = lambda own: [np.mean([float(r[m]) for r in own]) for m in METHODS]
    groups = {c: [r for r in pairs if r["collection"] == c] for c in dict.fromkeys(r["collection"] for r in pairs)}
    over = lambda names: np.mean([mean(groups[c]) for c in names], axis=0)
    best = max(np.mean([float(v) for v in line.split()]) for line in PUBLISHED.values()) / 100
    lines = [[label, count, *("%.3f" % v for v in values)] for label, count, values in (
        (f"photographs (Office-Caltech10; best of {len(PUBLISHED)} published methods, not shown: {best:.3f})", len(office), mean(office)), ("reviews (Amazon)", len(amazon), mean(amazon)),
        (f"{len(FRESH)} collections not used to choose rules", sum(len(groups[c]) for c in FRESH), over(FRESH)))]
    gains = {m: np.array([float(r["kindred"]) - float(r[m]) for r in pairs]) for m in METHODS[1:]}
    lines += [[f"all {len(groups)} collections: on how many pairs kindred is better, worse", len(pairs), "", *(f"{np.sum(g > 0.005)}, {np.sum(g < -0.005)}" for g in gains.values())],
              [f"all {len(groups)} collections: kindred minus alternative on the worst pair", len(pairs), "", *("%+.3f" % g.min() for g in gains.values())]]
    return ["data", "pairs", *(NAMES[m].split(",")[0] for m in METHODS)], lines, 1


def table(kind, rows):
    """(head, lines, number of columns of text) of a table of docs/benchmarks.md."""
    if kind == "office":
        published = [[name, *percent([float(v) / 100 for v in line.split()])] for name, line in PUBLISHED.items()]
        return *grid(rows, sorted(published, key=lambda line: float(line[-1]))), 1
    if kind == "amazon":
        return *grid(rows), 1
    if kind == "pairs":
        groups = {c: [r for r in rows if r["collection"] == c] for c in dict.fromkeys(r["collection"] for r in rows)}
        means = {c: [np.mean([float(r[m]) for r in own]) for m in METHODS] for c, own in groups.items()}
        lines = [[f"`{c}`", len(groups[c]), *("%.3f" % v for v in means[c])] for c in groups]
        fresh = [c for c in FRESH if c in groups]
        lines += [[f"mean of {len(fresh)} collections not used to choose rules", sum(len(groups[c]) for c in fresh), *("%.3f" % v for v in np.mean([means[c] for c in fresh], axis=0))],
                  ["mean of the collections", len(rows), *("%.3f" % v for v in np.mean(list(means.values()), axis=0))],
                  ["mean of the pairs", len(rows), *("%.3f" % np.mean([float(r[m]) for r in rows]) for m in METHODS)]]
        return ["collection", "pairs", *(NAMES[m] for m in METHODS)], lines, 1
    if kind == "summary":
        lines = []
        for m in METHODS[1:]:
            gains = np.array([float(r["kindred"]) - float(r[m]) for r in rows])
            worst = rows[int(gains.argmin())]
            lines.append([NAMES[m], "%+.3f" % gains.mean(), np.sum(gains > 0.005), np.sum(np.abs(gains) <= 0.005), np.sum(gains < -0.005), "%+.3f" % gains.min(),
                          f"`{worst['collection']}`, {worst['source']} to {worst['target']}"])
        return ["kindred compared with", "mean difference", "better", "equal", "worse", "worst difference", "where"], lines, 1
    if kind == "sentences":
        lines = [[{"subject": "subject lines", "body": "subject and text"}[r["texts"]], r["features"],
                  *("%.3f" % np.mean([float(r[f"{p}_{m}"]) for p in ("train", "test")]) for m in ("together", "alone", "kmeans")),
                  *("%.3f" % float(r[m]) for m in SENTENCE_METHODS)] for r in rows]
        return ["texts", "features", "NMI: kindred, together", "kindred, each alone", "k-means", *(("accuracy: " if m == "kindred" else "") + NAMES[m] for m in SENTENCE_METHODS)], lines, 2
    if kind == "cells":
        lines = [[f"`{r['collection']}`", f"{r['batches']}, {r['cells']}", r["method"], *("%.3f" % float(r[m]) if r[m] else "" for m in ("nmi_each", "nmi", "ari", "entropy"))] for r in rows]
        return ["data", "batches, cells", "method", "NMI, mean of batches", "NMI, all cells", "ARI, all cells", "mixing in clusters"], lines, 3
    groups = {c: [r for r in rows if r["collection"] == c] for c in dict.fromkeys(r["collection"] for r in rows)}
    shown = [*METHODS, "harmony_nn"]
    return ["data", "pairs", *(NAMES[m] for m in shown)], [[f"`{c}`", len(own), *("%.3f" % np.mean([float(r[m]) for r in own]) for m in shown)] for c, own in groups.items()], 1


CASES = {"office": full("office", "office_caltech_surf", OFFICE), "amazon": full("amazon", "amazon_sentiment4", AMAZON, 400), "pairs": pairs, "sentences": sentences, "cells": cells,
         "classes": cell_classes}


if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, None, [("--size", {"type": int, "default": 200})]))
