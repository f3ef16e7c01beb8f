"""Transfer tasks on the real data: sources, target, classes. SPDX-License-Identifier: BSD-3-Clause

Text is tf-idf of all sets of a task together, counts of molecules are cpm, both in unit rows; pixels are unit rows: what
`kindred transfer` does by itself."""

import functools
import gzip

import numpy as np
import scipy.sparse as sp

import common

AMAZON = ["books", "dvd", "electronics", "kitchen"]
WEBKB = ["cornell", "texas", "washington", "wisconsin"]
DIGITS = ["mnist", "mnist_crop", "usps"]
SUBJECTS = ("comp", "rec", "sci", "talk")


@functools.lru_cache(maxsize=None)
def load(folder, task):
    """Counts or pixels, and the classes' names; newsgroups are called by their subject."""
    path = common.DATA / folder / (task + ".npy.gz")
    if path.exists():
        with gzip.open(path) as f:
            x = np.load(f).astype(np.float64)
    else:
        x = common.load_csr(folder, task)
    names = np.array((common.DATA / folder / (task + ".labels")).read_text().split("\n")[: x.shape[0]])
    if folder.startswith("20ng"):
        names = np.array([n.split(".")[0] for n in names])
    return x, names


def unit(x):
    length = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel() if sp.issparse(x) else (x * x).sum(1))
    scale = 1 / np.where(length > 0, length, 1)
    return sp.csr_matrix(sp.diags(scale) @ x) if sp.issparse(x) else x * scale[:, None]


def prepare(folder, xs):
    """All sets together, as the program would."""
    if folder == "sc_mixology3":
        totals = np.concatenate([x.sum(1) for x in xs])
        middle = np.median(totals[totals > 0])
        return [unit(np.log1p(x / np.maximum(x.sum(1), 1e-300)[:, None] * middle)) for x in xs]
    if not sp.issparse(xs[0]):
        return [unit(x) for x in xs]
    n = sum(x.shape[0] for x in xs)
    df = sum(np.bincount(x.indices, minlength=x.shape[1]) for x in xs)
    idf = sp.diags(np.log((1 + n) / (1 + df)) + 1)
    out = [unit(sp.csr_matrix(x @ idf)) for x in xs]
    for x in out:
        x.sort_indices()
    return out


def draw(folder, names, sample, rng, keep=None):
    """One set: at most `sample` rows, drawn; `keep` {class: share} leaves out some of a class first."""
    x, y = load(folder, names)
    rows = np.arange(len(y))
    if keep:
        rows = rows[[rng.random() < keep.get(c, 1) for c in y[rows]]]
    if sample and len(rows) > sample:
        rows = np.sort(rng.choice(rows, sample, replace=False))
    return x[rows], y[rows]


def task(folder, sources, target, sample, seed, keep=None):
    """[X_source.., X_target], [y_source.., y_target] as numbers, number of classes."""
    rng = np.random.default_rng(seed)
    parts = [draw(folder, s, sample, rng) for s in sources] + [draw(folder, target, sample, rng, keep)]
    classes = sorted(set(np.concatenate([y for _, y in parts[:-1]])))
    number = {c: i for i, c in enumerate(classes)}
    xs = prepare(folder, [x for x, _ in parts])
    return xs, [np.array([number.get(c, -1) for c in y], dtype=np.int64) for _, y in parts], len(classes)


def pairs(group, folder, sets, together=True):
    out = [(group, folder, (a,), b) for a in sets for b in sets if a != b]
    if together and len(sets) > 2:
        out += [(group + ", all sources", folder, tuple(a for a in sets if a != b), b) for b in sets]
    return out


def all_tasks():
    """(group, folder, sources, target)"""
    return (pairs("amazon", "amazon_sentiment4", AMAZON) + pairs("webkb", "webkb4", WEBKB)
            + pairs("digits", "handdigits", DIGITS, False)
            + pairs("20NG, 2 classes", "20ng_rec_vs_talk", ["task1", "task2"])
            + pairs("20NG, 2 classes", "20ng_comp_vs_sci", ["task1", "task2"])
            + [("20NG, 3-4 classes", "20ng_4task", ("task%d" % a,), "task%d" % b)
               for a, b in ((1, 3), (3, 1), (2, 4), (4, 2))]
            + pairs("sc_mixology3", "sc_mixology3", ["celseq2", "dropseq"]) + pairs("la12", "la12", ["la1", "la2"]))
