"""The six tasks of [TSZY15] table 4 from 20 Newsgroups: source, bridge and target, of which source and target share no word."""

import numpy as np
import scipy.sparse as sp

import common

# class 1 : class 2 of source, bridge, target; the paper writes only "misc" and "windows", these are our readings.
TASKS = {
    "rec-comp": (("rec.autos", "comp.os.ms-windows.misc"), ("rec.sport.baseball", "comp.sys.mac.hardware"),
                 ("rec.sport.hockey", "comp.windows.x")),
    "rec-talk": (("rec.autos", "talk.politics.guns"), ("rec.motorcycles", "talk.politics.mideast"),
                 ("rec.sport.hockey", "talk.politics.misc")),
    "rec-sci": (("rec.autos", "sci.electronics"), ("rec.motorcycles", "sci.med"), ("rec.sport.hockey", "sci.space")),
    "sci-comp": (("sci.electronics", "comp.graphics"), ("sci.med", "comp.os.ms-windows.misc"),
                 ("sci.space", "comp.windows.x")),
    "sci-talk": (("sci.crypt", "talk.politics.guns"), ("sci.electronics", "talk.politics.mideast"),
                 ("sci.med", "talk.politics.misc")),
    "comp-talk": (("comp.graphics", "talk.politics.guns"), ("comp.os.ms-windows.misc", "talk.politics.mideast"),
                  ("comp.windows.x", "talk.politics.misc")),
}


def load():
    """(counts, classes) of all documents, or None where the data are absent."""
    x = common.load_csr("20ng_full")
    if x is None:
        return None
    return x, np.array((common.DATA / "20ng_full" / "all.labels").read_text().split())


def tfidf(x, of=None):
    """tf-idf and rows of length 1, as `--weight tfidf --norm l2 --fit-on each`; with `of`, sets whose documents are counted
    together, as without --fit-on."""
    of = [x] if of is None else of
    df = sum(np.bincount(o.indices, minlength=x.shape[1]) for o in of)
    x = sp.csr_matrix(x @ sp.diags(np.log((1 + sum(o.shape[0] for o in of)) / (1 + df)) + 1))
    length = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    x = sp.csr_matrix(sp.diags(1 / np.where(length > 0, length, 1)) @ x)
    x.sort_indices()
    return x


def counts(data, pairs, seed, words=4000):
    """Counts and classes of the source, of bridges and of the target, in this order: the most frequent words of these documents, a
    random half of which (A) is taken from the source and the other half (B) from the target."""
    all_counts, classes = data
    rows, labels = [], []
    for pair in pairs:
        index = np.concatenate([np.flatnonzero(classes == c) for c in pair])
        rows.append(index)
        labels.append((classes[index] == pair[1]).astype(np.int64))
    part = all_counts[np.concatenate(rows)]
    top = np.sort(np.argsort(-np.asarray(part.sum(0)).ravel(), kind="stable")[:words])
    in_a = np.random.default_rng(seed).permutation(len(top)) < len(top) // 2
    xs = [sp.csr_matrix(all_counts[r][:, top]) for r in rows]
    xs[0] = xs[0] @ sp.diags((~in_a).astype(float))
    xs[-1] = xs[-1] @ sp.diags(in_a.astype(float))
    xs = [sp.csr_matrix(x) for x in xs]
    for x in xs:
        x.eliminate_zeros()
    return xs, labels


def task(data, name, seed, words=4000, together=False):
    """[X_s, X_i, X_t], [y_s, y_i, y_t] of a task, tf-idf in unit rows; together: idf of all three."""
    xs, labels = counts(data, TASKS[name], seed, words)
    return [tfidf(x, xs if together else None) for x in xs], labels
