#!/usr/bin/python3
"""svm and logreg against LIBLINEAR, to the same accuracy of the same objective.

usage: bench/linear.py LIBKINDRED.so [SET...] [--threads N] [--cost C]

Sets: rec_vs_talk (2 classes) and 20ng (20 classes) of 20 Newsgroups, tf-idf and unit rows, sparse; usps, dense.
One class against the rest. Each solver runs with tolerances from loose to tight; its time is that of the fastest run
whose objective, summed over the classes, is within 1e-4 or 1e-6 of the least that any run found (relative). LIBLINEAR
is that inside scikit-learn, primal (trust region) and dual (coordinate descent; not deterministic across versions),
which uses one thread; ours is timed with one and with all. Predictions of both at 1e-6 are compared."""

import argparse
import gzip
import os
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "ref")]  # both have a common.py: ours first
import common  # noqa: E402
from fit_ctypes import Library  # noqa: E402
from lss import tfidf  # noqa: E402

GAPS = [1e-4, 1e-6]
# On a busy machine KINDRED_CPU_TIME=1 with --threads 1 compares the processor time of both.
clock = time.process_time if os.environ.get("KINDRED_CPU_TIME") else time.perf_counter


def labels_of(name, task):
    lines = open(common.DATA / name / f"{task}.labels").read().split("\n")
    return np.unique([line for line in lines if line], return_inverse=True)[1]


def rec_vs_talk():
    xs = [common.load_csr("20ng_rec_vs_talk", t) for t in ("task1", "task2")]
    return sp.vstack(tfidf(xs)).tocsr(), np.concatenate([labels_of("20ng_rec_vs_talk", t) for t in ("task1", "task2")])


def newsgroups():
    return tfidf([common.load_csr("20ng_full")])[0], labels_of("20ng_full", "all")


def usps():
    with gzip.open(common.DATA / "handdigits" / "usps.npy.gz") as f:
        x = np.load(f).astype(np.float64)
    return np.ascontiguousarray(x / x.max()), labels_of("handdigits", "usps")


SETS = {"rec_vs_talk": rec_vs_talk, "20ng": newsgroups, "usps": usps}


def objective(method, x, y, coef, intercept, cost):
    """Summed over one-against-the-rest; the intercept is penalised like a weight."""
    total = 0
    for c, (w, b) in enumerate(zip(coef, intercept)):
        z = (x @ w + b) * np.where(y == (c if len(coef) > 1 else 1), 1, -1)
        loss = np.maximum(0, 1 - z) ** 2 if method == "svm" else np.logaddexp(0, -z)
        total += 0.5 * (w @ w + b * b) + cost * loss.sum()
    return total


def run_ours(lib, method, x, y, cost, tol):
    classes = int(y.max()) + 1
    problem, keep = lib.transfer([x, x[:1]], [y, None], classes)
    begin = clock()
    out = lib.fit(method, problem, keep, cost=cost, tol=tol)
    seconds = clock() - begin
    first = 1 if classes == 2 else 0
    return seconds, out["arrays"]["weights", -1][first:], out["arrays"]["intercept", -1][first:]


def run_theirs(dual, method, x, y, cost, tol):
    if method == "svm":
        model = LinearSVC(C=cost, dual=dual, tol=tol, max_iter=20000, random_state=0)
    else:
        model = LogisticRegression(C=cost, solver="liblinear", dual=dual, tol=tol, max_iter=20000, random_state=0,
                                   multi_class="ovr")
    begin = clock()
    model.fit(x, y)
    seconds = clock() - begin
    return seconds, model.coef_, np.broadcast_to(model.intercept_, (len(model.coef_),))


def ladder(run, tols, give_up):
    """(seconds, coefficients, intercepts) for each tolerance, until a run takes more than `give_up` seconds."""
    found = []
    for tol in tols:
        found.append(run(tol))
        if found[-1][0] > give_up:
            break
    return found


def compare(lib, name, method, args):
    x, y = SETS[name]()
    solvers = {}
    for threads in sorted({1, args.threads}):
        lib.threads(threads)
        solvers[f"ours, {threads} thread{'s'[:threads - 1]}"] = ladder(
            lambda tol: run_ours(lib, method, x, y, args.cost, tol), [1e-2, 1e-3, 1e-4, 1e-5, 1e-6], 20)
    for dual in (False, True):
        solvers["LIBLINEAR, " + ("dual" if dual else "primal")] = ladder(
            lambda tol: run_theirs(dual, method, x, y, args.cost, tol), [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8], 20)
    values = {s: [objective(method, x, y, w, b, args.cost) for _, w, b in runs] for s, runs in solvers.items()}
    least = min(min(v) for v in values.values())
    best = {}
    for gap in GAPS:
        for s, runs in solvers.items():
            enough = [t for (t, _, _), v in zip(runs, values[s]) if v <= least * (1 + gap)]
            best[s, gap] = min(enough, default=float("nan"))
    primal = [s for s in solvers if s.startswith("LIBLINEAR")]
    rows = []
    for gap in GAPS:
        peer = min(primal, key=lambda s: best[s, gap] if best[s, gap] == best[s, gap] else np.inf)
        for s in solvers:
            if s.startswith("ours"):
                others = "; ".join(f"{p.split(', ')[1]} {best[p, gap]:.3g} s" for p in primal)
                rows.append({"bench": "linear", "case": f"{method} {name}, {x.shape[0]} x {x.shape[1]}, {y.max() + 1} "
                             f"classes, within {gap:g}, {s}", "ours_s": best[s, gap], "peer": peer,
                             "peer_s": best[peer, gap], "ratio": best[peer, gap] / best[s, gap], "extra": others})
    first = next(iter(solvers))
    scores = [x @ w.T + b for _, w, b in (solvers[first][-1], solvers["LIBLINEAR, primal"][-1])]
    same = np.mean((scores[0].argmax(axis=1) == scores[1].argmax(axis=1)) if y.max() > 1 else
                   ((scores[0] > 0) == (scores[1] > 0)).ravel())
    rows[-1]["extra"] += f"; {100 * same:.2f} % of predictions alike"
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library", help="libkindred.so")
    ap.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    ap.add_argument("--threads", type=int, default=common.cores())
    ap.add_argument("--cost", type=float, default=1)
    ap.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = ap.parse_args()
    if common.load_csr("20ng_full") is None:
        print("skipped: no data in", common.DATA)
        sys.exit(77)
    warnings.simplefilter("ignore")
    lib = Library(args.library)
    rows = [row for name in args.sets for method in ("svm", "logreg") for row in compare(lib, name, method, args)]
    common.report("linear classifiers, cost " + format(args.cost, "g"), rows, keep=not args.no_save)


if __name__ == "__main__":
    main()
