#!/usr/bin/python3
"""Measures the accuracy of `transfer` on real data, compared with scikit-learn and POT. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer.py CASE... [--build DIR] [--out FILE.csv] [--minutes M] [--only TEXT] [--rows DIR]

plain           auto and four alternatives on the same features and draws: scikit-learn's LogisticRegression and
                SelfTrainingClassifier, POT's SinkhornTransport and EMDTransport with one nearest neighbour; three draws of 800 samples
shift           targets in which half of the classes keep a fifth of their samples; `once` is the vote before class proportions are corrected
dirichlet       targets whose class proportions are drawn from a Dirichlet distribution
unlike          one class at a time is removed from the source: how well unlike_source ranks the target's samples of that class first (AUROC), compared
                with low confidence; one draw of 400 samples
ask             three rounds of ten labels given to samples that auto chose (option ask), and to random samples; accuracy on the samples that neither
                got a label; one draw of 400 samples
given           auto with and without ten random true labels of the target, accuracy on its other samples; six draws of 400 samples
curved          data whose classes no line separates, and some whose classes a line does separate: five designs and four small data sets of
                scikit-learn, each made into a source and a target in four ways; `linear` is the vote without the gate, and so without non-linear methods
absent          targets that lack a class, compared with targets that have all
landmarks       the pairs of the preset transfer-auto on neighbour and landmark graphs, all samples, one draw
splits, sweeps  ttl and nmtf on six newsgroup problems whose source and target share no word, and for several numbers of sweeps
bridges         ttl over every candidate bridge
800, all        the preset transfer-auto (all: with all samples), whose rows `python -m kindred.bench` keeps in the folder --rows

A case writes bench/results/transfer-CASE.csv (or --out), row by row. A later call continues, and --minutes limits its time. bench/docs.py writes the
tables of the documentation from these files. Known classes of targets are used only for scores."""

import functools
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import common
import numpy as np
import scipy.io
import scipy.sparse as sp

PRESET = common.ROOT / "bench" / "plans" / "transfer-auto.json"
AMAZON, WEBKB = ["books", "dvd", "electronics", "kitchen"], ["cornell", "texas", "washington", "wisconsin"]
MEMBERS = ["m:svm", "m:logreg", "m:self", "m:shifted", "m:aligned", "m:ridge", "m:kmeans", "m:proto", "m:nmtf", "m:msda"]
PEERS = ["sk-logreg", "sk-selftrain", "ot-sinkhorn", "ot-emd"]
KNOWN = ["sure", "classes", "cv", "distance", "moved", "differ"]  # what is known of a run without its truth
TASK = ["collection", "data", "sources", "target", "draw"]
SAMPLE, SHIFTED = 800, ("shift", "dirichlet")


# --- tasks ---------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def load(folder, task):
    """Counts or pixels, and class names; newsgroups are named by their subject."""
    try:
        x = common.load_dense(folder, task)
    except common.Absent:
        x = common.load_csr(folder, task)
    names = common.load_labels(folder, task)
    return x, np.array([n.split(".")[0] for n in names]) if folder.startswith("20ng") else names


def prepare(folder, xs):
    """The preprocessing that `kindred transfer` chooses: tf-idf of words, cpm of molecules, pixels in rows of unit length."""
    if folder == "sc_mixology3":
        totals = np.concatenate([x.sum(1) for x in xs])
        middle = np.median(totals[totals > 0])
        return [common.unit(np.log1p(x / np.maximum(x.sum(1), 1e-300)[:, None] * middle)) for x in xs]
    return common.tfidf(xs) if sp.issparse(xs[0]) else [common.unit(x) for x in xs]


def draw(folder, task, sample, rng, keep=None):
    """At most `sample` rows; `keep` {class: share} drops some of a class first."""
    x, y = load(folder, task)
    rows = np.arange(len(y))
    if keep:
        rows = rows[[rng.random() < keep.get(c, 1) for c in y[rows]]]
    if sample and len(rows) > sample:
        rows = np.sort(rng.choice(rows, sample, replace=False))
    return x[rows], y[rows]


def transfer_task(folder, sources, target, sample, seed, keep=None):
    """[X_source.., X_target], [y_source.., y_target] as numbers, number of classes."""
    rng = np.random.default_rng(seed)
    parts = [draw(folder, s, sample, rng) for s in sources] + [draw(folder, target, sample, rng, keep)]
    classes = sorted(set(np.concatenate([y for _, y in parts[:-1]])))
    number = {c: i for i, c in enumerate(classes)}
    return prepare(folder, [x for x, _ in parts]), [np.array([number.get(c, -1) for c in y], dtype=np.int64) for _, y in parts], len(classes)


def pairs(group, folder, sets, together=True):
    out = [(group, folder, (a,), b) for a, b in itertools.permutations(sets, 2)]
    if together and len(sets) > 2:
        out += [(group + ", all sources", folder, tuple(a for a in sets if a != b), b) for b in sets]
    return out


def all_tasks():
    """(collection, folder, sources, target)"""
    return (pairs("amazon", "amazon_sentiment4", AMAZON) + pairs("webkb", "webkb4", WEBKB)
            + pairs("digits", "handdigits", ["mnist", "mnist_crop", "usps"], False)
            + pairs("20NG, 2 classes", "20ng_rec_vs_talk", ["task1", "task2"]) + pairs("20NG, 2 classes", "20ng_comp_vs_sci", ["task1", "task2"])
            + [("20NG, 3-4 classes", "20ng_4task", ("task%d" % a,), "task%d" % b) for a, b in ((1, 3), (3, 1), (2, 4), (4, 2))]
            + pairs("sc_mixology3", "sc_mixology3", ["celseq2", "dropseq"]) + pairs("la12", "la12", ["la1", "la2"]))


# --- auto, its members and its peers -------------------------------------------------------------------------------------


def peers(xs, ys):
    """Accuracy of each peer on the same features."""
    import ot
    from sklearn.decomposition import TruncatedSVD
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.semi_supervised import SelfTrainingClassifier

    warnings.simplefilter("ignore")
    stack = (lambda parts: sp.vstack(parts).tocsr()) if sp.issparse(xs[0]) else np.vstack
    x, y, z = stack(xs[:-1]), np.concatenate(ys[:-1]), xs[-1]
    both, out = stack([x, z]), {}
    out["sk-logreg"] = LogisticRegression(max_iter=1000).fit(x, y).predict(z)
    out["sk-selftrain"] = SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(both, np.concatenate([y, np.full(z.shape[0], -1)])).predict(z)
    e = common.unit(TruncatedSVD(min(100, both.shape[1] - 1, both.shape[0] - 2), random_state=0).fit_transform(both))
    es, et = e[: x.shape[0]], e[x.shape[0]:]
    for name, how in (("ot-sinkhorn", ot.da.SinkhornTransport(reg_e=0.1, max_iter=200)), ("ot-emd", ot.da.EMDTransport())):
        out[name] = KNeighborsClassifier(1).fit(how.fit(Xs=es, ys=y, Xt=et).transform(Xs=es), y).predict(et)
    return {k: np.mean(v == ys[-1]) for k, v in out.items()}


def keeps_of(case, entry):
    """What share of its classes each draw of a target keeps, by the end of the draw's name."""
    names = sorted(set(load(entry[1], entry[3])[1]))
    number = [t[1:] for t in all_tasks()].index(entry[1:])
    if case == "shift":  # the even classes, then the odd ones
        return {f"_s{i}": {c: 0.2 for c in names[i::2]} for i in range(2)}
    if case == "dirichlet":  # the largest share 1, none below .03
        shares = np.random.default_rng(number).dirichlet(np.full(len(names), 2.0), 2)
        return {f"_d{i}": dict(zip(names, np.maximum(w / w.max(), 0.03))) for i, w in enumerate(shares)}
    if case == "absent":
        return {"": None, "_a1": {names[number % len(names)]: 0}}
    return {"": None}


def absent_classes(answer, sure, shares):
    """Classes that the answer reports as absent from the target, as transfer_auto/report.c does."""
    known, given = shares.T
    mean = np.array([sure[answer == k].mean() if (answer == k).any() else 0 for k in range(len(known))])
    doubt = np.array([np.delete(mean, k).mean() - mean[k] for k in range(len(known))])
    return np.flatnonzero((known > 0) & ((given <= 0.1 * known) | ((given <= 0.4 * known) & (doubt >= 0.1))))


def bins(values, right, count):
    """mean value:samples:right answers for each of `count` intervals of the values that has samples."""
    which = np.minimum((values * count).astype(int), count - 1)
    return " ".join("%.4f:%d:%d" % (values[which == b].mean(), (which == b).sum(), right[which == b].sum()) for b in np.unique(which))


def read_bins(text):
    """Columns: mean value, samples, right ones."""
    return np.array([[float(v) for v in one.split(":")] for one in text.split()])


class Run:
    """One draw of a task: its data sets, their classes, and fits on them."""

    def __init__(self, lib, entry, sample, seed, keep=None):
        self.lib, self.seed, self.t = lib, seed, len(entry[2])
        self.xs, self.ys, self.classes = transfer_task(*entry[1:], sample, seed, keep)
        self.truth = self.ys[-1]

    def fit(self, method="auto-transfer", known=None, kept=None, **options):
        """known: given labels of the target; kept: the rows of each source."""
        self.lib.seed(self.seed + 1)
        kept = kept or [slice(None)] * self.t
        problem = self.lib.transfer([x[r] for x, r in zip(self.xs, kept)] + self.xs[-1:], [y[r] for y, r in zip(self.ys, kept)] + [known], self.classes)
        return self.lib.fit(method, *problem, **({"without": False} if method == "auto-transfer" else {}), **options)

    def accuracy(self, *which, **options):
        return np.mean(self.fit(*which, **options)["labels"][-1] == self.truth)


def key_of(entry, draw):
    return (*entry[:2], "+".join(entry[2]), entry[3], str(draw))


def run_auto(lib, case, entry, seed, keep):
    """One run: {column: value}."""
    run = Run(lib, entry, SAMPLE, seed, keep)
    t, truth, found = run.t, run.truth, run.fit()
    answer, arrays, fields = found["labels"][-1], found["arrays"], found["fields"]
    sure, votes = arrays["confidence", t], [v for v in arrays["votes", t] if v[0] >= 0]
    out = {m: np.mean(v == truth) if v[0] >= 0 else np.nan for m, v in zip(MEMBERS, arrays["votes", t])}
    out.update(auto=np.mean(answer == truth), sure=sure.mean(), classes=str(run.classes), cv=fields["source_accuracy.t%d" % t], distance=fields["a_distance.t%d" % t],
               moved=fields["shares_moved.t%d" % t], differ=np.mean([np.mean(a != b) for a, b in itertools.combinations(votes, 2)]))
    if case in SHIFTED:
        out.update(svm=run.accuracy("svm"), logreg=run.accuracy("logreg"), once=run.accuracy(follow_shares=0))
    if case == "plain":
        out.update(peers(run.xs, run.ys), confidence=bins(sure, answer == truth, 50))
    if case == "absent":
        lost = [c for c, share in (keep or {}).items() if share == 0]
        names = sorted(set(np.concatenate([load(entry[1], s)[1] for s in entry[2]])))
        out.update(lacks=str(names.index(lost[0]) if lost else -1), named="+".join(map(str, absent_classes(answer, sure, arrays["shares", t]))))
    return out


def runs(case, args):
    columns = {"plain": ["auto", *PEERS, *KNOWN, "confidence"], "absent": ["auto", *KNOWN, "lacks", "named"]}.get(
        case, ["svm", "logreg", *MEMBERS, "once", "auto", *KNOWN])
    lib, wanted = common.library(args), {}
    for entry in all_tasks()[:: 2 if case in SHIFTED else 1]:
        for seed, (end, keep) in itertools.product(range(3 if case == "plain" else 1), keeps_of(case, entry).items()):
            wanted[key_of(entry, f"{seed}{end}")] = entry, seed, keep

    def make(key):
        out = run_auto(lib, case, *wanted[key])
        return [[v if isinstance(v, str) else "%.6g" % v for v in (out[c] for c in columns)]]

    return common.fill(args, f"transfer-{case}", TASK + columns, wanted, make)


GIVEN, GIVEN_SAMPLE, GIVEN_DRAWS, ROUNDS = 10, 400, 6, 3


def given(args):
    lib, wanted = common.library(args), {key_of(e, d): e for e in all_tasks() for d in range(GIVEN_DRAWS)}

    def make(key):
        run = Run(lib, wanted[key], GIVEN_SAMPLE, int(key[-1]))
        known = np.full(len(run.truth), -1, dtype=np.int64)
        chosen = np.random.default_rng(7000 + run.seed).choice(np.flatnonzero(run.truth >= 0), GIVEN, replace=False)
        known[chosen] = run.truth[chosen]
        return [["%.6g" % np.mean((run.fit(known=labels)["labels"][-1] == run.truth)[known < 0]) for labels in (None, known)]]

    return common.fill(args, "transfer-given", TASK + ["without", "with"], wanted, make)


# --- what differs from the source, and what to label next -----------------------------------------------------------------


def auroc(score, positive):
    """The share of pairs of a positive and another sample in which the positive one has the higher score, ties counted half."""
    from scipy import stats

    n = positive.sum()
    return (stats.rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * (len(score) - n))


def alternating():
    """All tasks, every fourth one first, so that a run that --minutes ends early has some of each collection."""
    return all_tasks()[::4] + all_tasks()[2::4] + all_tasks()[1::2]


def unlike(args):
    lib, wanted = common.library(args), {}
    for entry in alternating():
        names = sorted(set(np.concatenate([load(entry[1], s)[1] for s in entry[2]])))
        wanted.update({(*key_of(entry, 0), str(name)): (entry, k) for k, name in enumerate(names if len(names) > 2 else [])})

    def make(key):
        entry, k = wanted[key]
        run = Run(lib, entry, GIVEN_SAMPLE, 0)
        kept, removed = [y != k for y in run.ys[:-1]], run.truth == k
        if removed.sum() < 5 or (~removed).sum() < 5 or any(len(set(y[r])) < 2 for y, r in zip(run.ys, kept)):
            return [[removed.sum(), "", ""]]
        arrays = run.fit(kept=kept)["arrays"]
        return [[removed.sum(), *("%.6g" % auroc(score, removed) for score in (arrays["unlike_source", run.t], -arrays["confidence", run.t]))]]

    return common.fill(args, "transfer-unlike", TASK + ["class", "samples", "unlike_source", "low_confidence"], wanted, make)


def ask(args):
    lib, wanted = common.library(args), {key_of(e, 0): e for e in alternating()}

    def make(key):
        run = Run(lib, wanted[key], GIVEN_SAMPLE, int(key[-1]))
        truth, rng = run.truth, np.random.default_rng(9000 + run.seed)

        def fit(known):
            found = run.fit(known=known if (known >= 0).any() else None, ask=GIVEN)
            return found["labels"][-1], found["arrays"]["ask", run.t]

        answers, labelled = {}, truth < 0
        for arm in ("ask", "random"):
            known = np.full(len(truth), -1, dtype=np.int64)
            answers[arm, 0], chosen = fit(known) if arm == "ask" else (answers["ask", 0], None)
            for step in range(1, ROUNDS + 1):
                rows = chosen if arm == "ask" else rng.choice(np.flatnonzero((known < 0) & (truth >= 0)), GIVEN, replace=False)
                known[rows] = truth[rows]
                answers[arm, step], chosen = fit(known)
            labelled |= known >= 0
        right = {k: "%.6g" % np.mean((a == truth)[~labelled]) for k, a in answers.items()}
        return [[(~labelled).sum(), right["ask", 0], *(right[arm, s] for arm in ("ask", "random") for s in range(1, ROUNDS + 1))]]

    columns = ["samples", "none", *(f"{arm}{s * GIVEN}" for arm in ("ask", "random") for s in range(1, ROUNDS + 1))]
    return common.fill(args, "transfer-ask", TASK + columns, wanted, make)


# --- classes that no line separates --------------------------------------------------------------------------------------


def curved_data(name, seed):
    """Columns and classes."""
    import sklearn.datasets

    rng, n = np.random.default_rng(seed + 17), 800
    if name == "rings":
        y, angle = rng.integers(0, 3, n), rng.uniform(0, 2 * np.pi, n)
        return (1 + y + 0.15 * rng.normal(size=n))[:, None] * np.c_[np.cos(angle), np.sin(angle)], y
    if name == "moons":
        y, angle = rng.integers(0, 2, n), rng.uniform(0, np.pi, n)
        return np.c_[np.cos(angle) + y, np.where(y, -1, 1) * np.sin(angle) + 0.5 * y] + 0.1 * rng.normal(size=(n, 2)), y
    if name == "pieces":  # eleven classes of four clusters each
        means, piece = 1.6 * rng.normal(size=(44, 10)), rng.integers(0, 44, 2 * n)
        return means[piece] + 0.7 * rng.normal(size=(2 * n, 10)), piece % 11
    if name == "signs":
        x = rng.normal(size=(n, 6))
        return x, ((x[:, 0] > 0) ^ (x[:, 1] > 0)).astype(int)
    if name == "clouds":
        means, y = rng.normal(size=(4, 12)), rng.integers(0, 4, n)
        return means[y] + 1.2 * rng.normal(size=(n, 12)), y
    found = getattr(sklearn.datasets, f"load_{name}")()
    return found.data.astype(float), found.target


def curved_split(x, y, how, rng):
    """A source and a target: [x, x], [y, y]."""
    if how == "halves":  # by the first direction within the classes, blurred
        within = x - np.array([x[y == k].mean(0) for k in range(y.max() + 1)])[y]
        along = within @ np.linalg.svd(within, full_matrices=False)[2][0]
        low = along + 0.5 * along.std() * rng.normal(size=len(x))
        return [x[low < np.median(low)], x[low >= np.median(low)]], [y[low < np.median(low)], y[low >= np.median(low)]]
    order, d = rng.permutation(len(x)), x.shape[1]
    a, b = order[: len(x) // 2], order[len(x) // 2:]
    z = x[b].copy()
    if how == "scaled":
        z = z * rng.uniform(0.7, 1.4, d) + 0.3 * x.std(0) * rng.normal(size=d)
    if how == "noisy":
        z = z + 0.5 * x.std(0) * rng.normal(size=z.shape)
    if how == "turned":
        q = np.linalg.qr(np.eye(d) + 0.15 * rng.normal(size=(d, d)))[0]
        z = z @ (q * np.sign(np.diag(q)))
    return [x[a], z], [y[a], y[b]]


CURVED = ["rings", "moons", "pieces", "signs", "clouds", "digits", "wine", "breast_cancer", "iris"]


def curved(args):
    lib = common.library(args)
    keys = [(name, how, str(seed)) for name in CURVED for how in ("halves", "scaled", "noisy", "turned") for seed in range(3)]

    def make(key):
        name, how, seed = key[0], key[1], int(key[2])
        x, y = curved_data(name, seed)
        x = common.unit(x) if name == "digits" else (x - x.mean(0)) / np.maximum(x.std(0), 1e-9)
        xs, ys = curved_split(x, y, how, np.random.default_rng(seed))
        problem = lib.transfer(xs, [ys[0].astype(np.int64), None], int(y.max()) + 1)

        def fit(method, **options):
            lib.seed(seed + 1)
            return lib.fit(method, *problem, **options)

        found = fit("auto-transfer", without=False)
        led = any(m in found["fields"]["members"] for m in ("forest", "neighbours"))
        others = [fit("auto-transfer", without=False, gate=False), fit("logreg"), fit("forest")]
        return [[*("%.6g" % np.mean(f["labels"][-1] == ys[1]) for f in (found, *others)), str(int(led))]]

    return common.fill(args, "transfer-curved", ["collection", "target", "draw", "auto", "linear", "logreg", "forest", "led"], keys, make)


# --- the preset, and landmarks -------------------------------------------------------------------------------------------

# Tables of the preset that are counted as one collection.
TOGETHER = {"20NG rec - talk": "20NG, 2 classes", "20NG comp - sci": "20NG, 2 classes", "20NG of 3 classes": "20NG, 3-4 classes",
            "20NG of 4 classes": "20NG, 3-4 classes"}


def preset_tables():
    """Every table of the preset with its pairs written out: {title: (collection, table of a plan)}."""
    out = {}
    for table in json.loads(PRESET.read_text())["tables"]:
        rest = {k: v for k, v in table.items() if k not in ("pairs", "title", "paired", "group")}
        if "pairs" not in table:
            out[table["title"]] = table["group"], {"title": table["title"], **rest}
            continue
        group, files = TOGETHER.get(table["title"], table["title"]), table["pairs"]
        sources = [([a], b, a["name"], group) for a, b in itertools.permutations(files, 2)]
        sources += [([a for a in files if a is not b], b, "all others", group + ", all sources") for b in files if len(files) > 2]
        for source, target, name, of in sources:
            title = "%s: %s to %s" % (table["title"], name, target["name"])
            out[title] = of, {"title": title, "source": source, "target": [target], **rest}
    return out


def landmarks(args):
    tables, graphs = preset_tables(), {"neighbours": {"graph": "neighbours"}}
    graphs.update({str(m): {"graph": "landmarks", "landmarks": m} for m in (2000, 500, 100)})

    def make(key):
        title, graph = key
        table = {k: [{**f, "path": str(common.DATA / f["path"])} for f in v] if k in ("source", "target") else v for k, v in tables[title][1].items()}
        plan = {"title": title, "tables": [table], "rows": [{"name": graph, "method": "auto-transfer", "set": {"without": False, **graphs[graph]}}]}
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "plan.json").write_text(json.dumps(plan))
            _, processor, _ = common.run_timed([*args.bench, "--plan", folder + "/plan.json", "-o", folder + "/out", "--sample", 1000000, "--repeats", 1,
                                                "--threads", 1, "-q"], env={**os.environ, "OMP_NUM_THREADS": "1"})
            found = json.loads((pathlib.Path(folder) / "out" / "bench.json").read_text())["tables"][0]["rows"][0]
        return [["%.6g" % found["scores"]["acc"][0]["values"][0], "%.1f" % processor]]

    return common.fill(args, "transfer-landmarks", ["table", "row", "accuracy", "processor_s"], itertools.product(tables, graphs), make)


def preset(case, args):
    """The rows of `python -m kindred.bench transfer-auto` in one file; existing rows are not run again."""
    if not args.rows:
        sys.exit(f"{case}: --rows DIR is needed: the folder in which kindred.bench keeps the rows")
    sample = ["--sample", "1000000"] if case == "all" else []
    subprocess.run([*args.bench, "transfer-auto", *sample, "-o", args.rows, "--force", "-q"], check=True, env={**os.environ, "KINDRED_DATA": str(common.DATA)})
    out = args.out or common.RESULTS / f"transfer-{case}.csv"
    found = []
    for path in (pathlib.Path(args.rows) / "transfer-auto").glob("*/*.json"):
        one = json.loads(path.read_text())
        found.append([one["table"], one["row"], *("" if a is None else "%.6g" % a for a in one["lines"][0]["scores"]["acc"][0])])
    draws = max(map(len, found)) - 2
    command = " ".join(["python -m kindred.bench transfer-auto", *sample, "-o DIR"])
    common.write_csv(out, ["table", "row", *(f"draw{i + 1}" for i in range(draws))], [r + [""] * (draws + 2 - len(r)) for r in sorted(found)],
                     common.provenance(command))
    return 0


# --- bridges -------------------------------------------------------------------------------------------------------------

# The six tasks of [TSZY15] table 4: class 1 and class 2 of source, bridge and target. The paper writes only "misc" and "windows"; these are our readings.
NEWSGROUPS = {
    "rec-comp": (("rec.autos", "comp.os.ms-windows.misc"), ("rec.sport.baseball", "comp.sys.mac.hardware"), ("rec.sport.hockey", "comp.windows.x")),
    "rec-talk": (("rec.autos", "talk.politics.guns"), ("rec.motorcycles", "talk.politics.mideast"), ("rec.sport.hockey", "talk.politics.misc")),
    "rec-sci": (("rec.autos", "sci.electronics"), ("rec.motorcycles", "sci.med"), ("rec.sport.hockey", "sci.space")),
    "sci-comp": (("sci.electronics", "comp.graphics"), ("sci.med", "comp.os.ms-windows.misc"), ("sci.space", "comp.windows.x")),
    "sci-talk": (("sci.crypt", "talk.politics.guns"), ("sci.electronics", "talk.politics.mideast"), ("sci.med", "talk.politics.misc")),
    "comp-talk": (("comp.graphics", "talk.politics.guns"), ("comp.os.ms-windows.misc", "talk.politics.mideast"), ("comp.windows.x", "talk.politics.misc")),
}
SUBJECTS = {
    "rec": ["rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey"],
    "comp": ["comp.graphics", "comp.os.ms-windows.misc", "comp.sys.mac.hardware", "comp.windows.x"],
    "sci": ["sci.crypt", "sci.electronics", "sci.med", "sci.space"],
    "talk": ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"],
}


def newsgroups_counts(groups, seed, words=4000):
    """Counts and classes of source, bridges and target, each a pair of groups: the most frequent words of these documents, a random half of
    which is removed from the source and the other half from the target, so that they share no word."""
    counts, classes = newsgroups()
    rows = [np.concatenate([np.flatnonzero(classes == c) for c in pair]) for pair in groups]
    part = counts[np.concatenate(rows)]
    top = np.sort(np.argsort(-np.asarray(part.sum(0)).ravel(), kind="stable")[:words])
    half = np.random.default_rng(seed).permutation(len(top)) < len(top) // 2
    xs = [sp.csr_matrix(counts[r][:, top]) for r in rows]
    for i, kept in ((0, ~half), (-1, half)):
        xs[i] = sp.csr_matrix(xs[i] @ sp.diags(kept.astype(float)))
        xs[i].eliminate_zeros()
    return xs, [(classes[r] == pair[1]).astype(np.int64) for r, pair in zip(rows, groups)]


@functools.lru_cache(maxsize=1)
def newsgroups():
    return common.load_csr("20ng_full"), common.load_labels("20ng_full", "all")


def newsgroups_task(name, seed, together=False):
    """[X_s, X_i, X_t], [y_s, y_i, y_t] of a task; together: idf of all three, else of each."""
    xs, ys = newsgroups_counts(NEWSGROUPS[name], seed)
    return common.tfidf(xs) if together else [common.tfidf([x])[0] for x in xs], ys


def splits(args):
    lib = common.library(args)

    def make(key):
        name, seed, idf = key
        xs, ys = newsgroups_task(name, int(seed), idf == "together")
        lib.seed(int(seed) + 1)
        direct, bridged = lib.transfer([xs[0], xs[2]], [ys[0], None], 2), lib.transfer(xs, [ys[0], None, None], 2, bridges=[1])
        tried = [(direct, "svm", {}), (bridged, "ttl", {"max_iter": 0}), (bridged, "nmtf", {}), (bridged, "ttl", {})]
        return [["%.6g" % np.mean(lib.fit(method, *problem, **options)["labels"][-1] == ys[2]) for problem, method, options in tried]]

    keys = [(name, seed, idf) for idf in ("each", "together") for name in NEWSGROUPS for seed in range(40)]
    return common.fill(args, "transfer-splits", ["task", "split", "idf", "svm", "chain", "nmtf", "ttl"], keys, make)


def sweeps(args):
    """Every source, bridge and target among four data sets; zero sweeps are the chain of regressions that both methods start from."""
    lib = common.library(args)
    keys = [(folder, *three) for folder, sets in (("webkb4", WEBKB), ("amazon_sentiment4", AMAZON)) for three in itertools.permutations(sets, 3)]

    def make(key):
        folder, source, bridge, target = key
        xs, ys, classes = transfer_task(folder, (source, bridge), target, 0, 0)
        lib.seed(1)
        problem = lib.transfer(xs, [ys[0], None, None], classes, bridges=[1])
        return [[m, s, "%.6g" % np.mean(lib.fit(m, *problem, max_iter=s)["labels"][-1] == ys[2])] for m in ("nmtf", "ttl") for s in (0, 10, 20, 30, 40, 80)]

    return common.fill(args, "transfer-sweeps", ["collection", "source", "bridge", "target", "method", "sweeps", "accuracy"], keys, make)


def bridges(args):
    sets = {"webkb4": WEBKB, "amazon_sentiment4": AMAZON}
    keys = [("webkb4", f"{s} {t}") for s, t in itertools.permutations(WEBKB, 2)] + [("20ng", f"{name} 0") for name in NEWSGROUPS]
    keys += [("amazon_sentiment4", f"{s} {t}") for s, t in itertools.permutations(AMAZON, 2)]

    def make(key):
        collection, (s, t) = key[0], key[1].split()
        with tempfile.TemporaryDirectory() as folder:
            if collection in sets:
                files = [next((common.DATA / collection).glob(name + ".mtx*")) for name in (s, *(i for i in sets[collection] if i not in (s, t)), t)]
                labels = [common.DATA / collection / (name + ".labels") for name in (s, t)]
            else:
                (a, _, b), (one, two) = NEWSGROUPS[s], s.split("-")
                between = itertools.product([g for g in SUBJECTS[one] if g not in (a[0], b[0])], [g for g in SUBJECTS[two] if g not in (a[1], b[1])])
                xs, ys = newsgroups_counts((a, *between, b), int(t))
                files = [pathlib.Path(folder, f"{i}.mtx") for i in range(len(xs))]
                labels = [f.with_suffix(".labels") for f in (files[0], files[-1])]
                for path, x in zip(files, xs):
                    scipy.io.mmwrite(str(path), x)
                for path, y in zip(labels, (ys[0], ys[-1])):
                    path.write_text("".join("%d\n" % c for c in y))
            done = subprocess.run([args.program, "transfer", "-m", "ttl", "-q", "--source", files[0], "--labels", labels[0], "--target", files[-1], "--truth",
                                   labels[1], "--weight", "tfidf", "--norm", "l2", *(w for f in files[1:-1] for w in ("--bridge", f))], check=True, capture_output=True)
        return [[rank, b["name"], *("" if b[c] is None else "%.6g" % b[c] for c in ("back", "a_source_bridge", "a_bridge_target", "acc"))]
                for rank, b in enumerate(json.loads(done.stdout)["bridges"])]

    head = ["collection", "pair", "rank", "bridge", "back", "a_source_bridge", "a_bridge_target", "acc"]
    return common.fill(args, "transfer-bridges", head, keys, make)


CASES = {c: functools.partial(runs, c) for c in ("plain", "shift", "dirichlet", "absent")}
CASES.update(unlike=unlike, ask=ask, given=given, curved=curved, landmarks=landmarks, splits=splits, sweeps=sweeps, bridges=bridges)
CASES.update({c: functools.partial(preset, c) for c in ("800", "all")})


if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, [c for c in CASES if c not in ("800", "all")], [("--rows", {"metavar": "DIR"})]))
