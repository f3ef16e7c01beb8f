#!/usr/bin/python3
"""The Monte-Carlo experiment of [B19, section 3], as printed and with all separations scaled by 0.28.

usage: bench/trec_montecarlo.py LIBKINDRED.so KINDRED [--repeats N]     (or bench/run.py --build BUILD trec_montecarlo)

Each repetition makes a source and a target (`kindred generate --design berikov --seed i`), clusters the target
by ec and by trec (L = 10, three features a run, sigma = 4, C = 10, Q_min = 5, It_max = 40) and scores both
with the adjusted Rand index. p is that of the paired t-test between them. The classes of the target are used
for scoring alone. Beside ours stand the paper's figures and those of our own earlier study of the design
("study"), made with another implementation.

"x 0.28" scales where the classes start, not the strips' step: of the two readings tried the one nearer the study,
chosen after seeing both (src/synth/berikov.c). The p values are not corrected for the number of rows.

[B19] V. Berikov: Heterogeneous transfer learning in ensemble clustering. 2019."""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy.stats import ttest_rel
from sklearn.metrics import adjusted_rand_score as ari

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "ref"))
from fit_ctypes import Library  # noqa: E402

SOURCE, TARGET = 1, 3
# separation, label, options of trec, figures of the paper (ec, trec), figures of the study
CASES = [
    (1.0, "as printed", {}, ".56 .73", "1.00 .99"),
    (1.0, "as printed, h only", {"meta": "coassociation"}, "- .68", ""),
    (1.0, "as printed, silhouette only", {"meta": "silhouette"}, "- .31", ""),
    (0.28, "x 0.28", {}, "", ".755 .812"),
    (0.28, "x 0.28, h only", {"meta": "coassociation"}, "", "- .852"),
    (0.28, "x 0.28, silhouette only", {"meta": "silhouette"}, "", "- .601"),
    (0.28, "x 0.28, gamma 1/16", {"sigma": 8**0.5}, "", "- .834"),
    (0.28, "x 0.28, standardised", {"standardise": "true"}, "", "- .856"),
    (0.28, "x 0.28, balanced", {"balanced": "true"}, "", "- .732"),
    (0.28, "x 0.28, logistic", {"classifier": "logistic"}, "", ""),
    (0.28, "x 0.28, runs of 8 clusters", {"k_min": 8, "k_max": 8}, "", ".73 .889"),
    (0.28, "x 0.28, L = 50", {"runs": 50}, "", ".80 .891"),
]


def make(program, separation, seed):
    """(x, classes) of source and target."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "generate", "--design", "berikov", "--to", "npy", "--separation", str(separation),
                        "--seed", str(seed), "-q", "-o", folder], check=True)
        return [(np.load(f"{folder}/{name}.npy"), np.array(open(f"{folder}/{name}.labels").read().split()))
                for name in ("source", "target")]


def fit(lib, data, seed, options):
    """Labels of the target by ec and by trec, and whether the transfer was trusted."""
    (xs, ys), (xt, _) = data
    names, classes = np.unique(ys, return_inverse=True)
    classes = classes.astype(np.int64)
    problem, keep = lib.prepare([xs, xt], len(names))
    problem.tasks[0].role, problem.tasks[1].role = SOURCE, TARGET
    problem.tasks[0].labels = classes.ctypes.data
    problem.classes = len(names)
    lib.seed(seed)
    r = lib.fit("trec", problem, keep, **{"runs": 10, "features": 3, "q_min": 5, "it_max": 40, **options})
    return r["arrays"]["ec_labels", 1], r["labels"][1], r["fields"]["trusted"] == "yes"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("library")
    ap.add_argument("program")
    ap.add_argument("--repeats", type=int, default=40)
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(1)
    data = {s: [make(args.program, s, i + 1) for i in range(args.repeats)] for s in {c[0] for c in CASES}}
    print(f"ARI, mean of {args.repeats} repetitions\n")
    print("| separation, variant | ec | trec | p | trusted | paper (ec trec) | study (ec trec) |")
    print("|---|---:|---:|---:|---:|---|---|")
    for separation, label, options, paper, study in CASES:
        ec, trec, trusted = [], [], 0
        for i, d in enumerate(data[separation]):
            a, b, t = fit(lib, d, i + 1, options)
            ec.append(ari(d[1][1], a))
            trec.append(ari(d[1][1], b))
            trusted += t
        p = ttest_rel(trec, ec).pvalue if np.any(np.array(ec) != np.array(trec)) else 1.0
        print(f"| {label} | {np.mean(ec):.3f} | {np.mean(trec):.3f} | {p:.1e} | {trusted}/{args.repeats} "
              f"| {paper} | {study} |", flush=True)


if __name__ == "__main__":
    main()
