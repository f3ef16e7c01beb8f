#!/usr/bin/python3
"""auto of transfer, its members, svm and logreg on the real data. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_table.py LIBKINDRED.so [--sample 800] [--seeds 3] [--groups amazon,webkb] [--shift] [--tasks] [--peers]

Accuracy on the target, mean over tasks and draws. --sample 0 takes all samples. --shift draws targets whose class shares
moved: half of the classes (by turns) keep a fifth of their samples. --peers adds scikit-learn's LogisticRegression and
SelfTrainingClassifier and POT's SinkhornTransport and EMDTransport with one nearest neighbour, all on the same features.
At the end: how sure the vote was and how often it was right."""

import argparse
import collections
import sys
import warnings

import numpy as np

import common
import transfer_tasks as tt

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402

MEMBERS = ["m:svm", "m:logreg", "m:self", "m:shifted", "m:aligned", "m:ridge", "m:kmeans", "m:proto", "m:nmtf", "m:msda"]
PEERS = ["sk-logreg", "sk-selftrain", "ot-sinkhorn", "ot-emd"]


def peers(xs, ys, classes):
    """Right answers of each peer, on the same features."""
    import ot
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.semi_supervised import SelfTrainingClassifier

    stack = sp.vstack if sp.issparse(xs[0]) else np.vstack
    x, y, z = stack(xs[:-1]), np.concatenate(ys[:-1]), xs[-1]
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out["sk-logreg"] = LogisticRegression(max_iter=1000).fit(x, y).predict(z)
        both = stack([x, z])
        known = np.concatenate([y, np.full(z.shape[0], -1)])
        out["sk-selftrain"] = SelfTrainingClassifier(LogisticRegression(max_iter=1000)).fit(
            both.tocsr() if sp.issparse(both) else both, known).predict(z)
        width = min(100, both.shape[1] - 1, both.shape[0] - 2)
        e = TruncatedSVD(width, random_state=0).fit_transform(both)
        e /= np.maximum(np.linalg.norm(e, axis=1), 1e-12)[:, None]
        es, et = e[: x.shape[0]], e[x.shape[0] :]
        for name, how in (("ot-sinkhorn", ot.da.SinkhornTransport(reg_e=0.1, max_iter=200)), ("ot-emd", ot.da.EMDTransport())):
            moved = how.fit(Xs=es, ys=y, Xt=et).transform(Xs=es)
            out[name] = KNeighborsClassifier(1).fit(moved, y).predict(et)
    return {k: np.mean(v == ys[-1]) for k, v in out.items()}


def shifts(ys, names):
    """Which classes lose four fifths: the even ones, then the odd ones."""
    return [{c: 0.2 for c in names[i::2]} for i in range(2)]


def run(lib, entry, args, seed, keep=None, votes=collections.Counter()):
    group, folder, sources, target = entry
    xs, ys, classes = tt.task(folder, sources, target, args.sample, seed, keep)
    lib.seed(seed + 1)
    problem = lib.transfer(xs, ys[:-1] + [None], classes)
    got = {m: np.mean(lib.fit(m, *problem)["labels"][-1] == ys[-1]) for m in ("svm", "logreg")}
    answer = lib.fit("auto-transfer", *problem, without=False)
    t = len(xs) - 1
    for name, vote in zip(MEMBERS, answer["arrays"]["votes", t]):
        got[name] = np.mean(vote == ys[-1]) if vote[0] >= 0 else np.nan
    right = answer["labels"][-1] == ys[-1]
    got["auto"], got["seconds"] = right.mean(), answer["seconds"]
    if args.peers:
        got.update(peers(xs, ys, classes))
    sure = answer["arrays"]["confidence", t]
    got["sure"], got["moved"] = sure.mean(), answer["fields"]["shares_moved.t%d" % t]
    got["distance"] = answer["fields"]["a_distance.t%d" % t]
    got["cv"] = answer["fields"]["source_accuracy.t%d" % t]
    got["classes"] = classes
    return got, sure, right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sample", type=int, default=800)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--groups", default="")
    parser.add_argument("--shift", action="store_true")
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th task")
    args = parser.parse_args()
    if not (common.DATA / "amazon_sentiment4").exists():
        print("skipped: no data")
        return
    lib = Library(args.library)
    columns = ["svm", "logreg"] + MEMBERS + (PEERS if args.peers else []) + ["auto"]
    tasks = [t for t in tt.all_tasks() if not args.groups or t[0] in args.groups.split(",")][:: args.every]
    by_group, sures, rights, rows = collections.defaultdict(list), [], [], []
    for entry in tasks:
        got = []
        for seed in range(args.seeds):
            keeps = shifts(None, sorted(set(tt.load(entry[1], entry[3])[1]))) if args.shift else [None]
            for keep in keeps:
                one, sure, right = run(lib, entry, args, seed, keep)
                got.append(one)
                sures.append(sure)
                rights.append(right)
        mean = {k: float(np.mean([g[k] for g in got])) for k in got[0]}
        by_group[entry[0]].append(mean)
        rows.append((entry, mean))
        if args.tasks:
            print("# %s: %s to %s: %s sure %.3f A %.2f cv %.2f moved %.2f %.1f s" % (
                entry[0], "+".join(entry[2]), entry[3], " ".join("%s %.3f" % (c, mean[c]) for c in columns), mean["sure"],
                mean["distance"], mean["cv"], mean["moved"], mean["seconds"]), flush=True)
    print("| collection | tasks | " + " | ".join(columns) + " | worst: svm | worst: logreg | s |")
    print("|---|---:|" + "---:|" * (len(columns) + 3))
    groups = list(by_group.items()) + [("all", [m for _, m in rows])]
    for group, means in groups:
        worst = [min(m["auto"] - m[k] for m in means) for k in ("svm", "logreg")]
        print("| %s | %d | %s | %+.3f | %+.3f | %.1f |" % (
            group, len(means), " | ".join("%.3f" % np.nanmean([m[c] for m in means]) for c in columns), *worst,
            np.mean([m["seconds"] for m in means])), flush=True)
    for peer in PEERS if args.peers else []:
        ahead = sum(m["auto"] > m[peer] for _, m in rows)
        print("ahead of %s on %d of %d tasks, %+.3f in the mean" % (
            peer, ahead, len(rows), np.mean([m["auto"] - m[peer] for _, m in rows])))
    sure, right = np.concatenate(sures), np.concatenate(rights)
    edges = np.linspace(0, 1, 11)
    error = 0
    print("\n| confidence | samples | right |\n|---|---:|---:|")
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (sure >= low) & ((sure < high) | (high == 1))
        if inside.sum():
            error += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
            print("| %.1f to %.1f | %d | %.3f |" % (low, high, inside.sum(), right[inside].mean()))
    half = sure >= np.median(sure)
    print("\ncalibration error %.3f; the surer half is right in %.3f, all in %.3f" % (error, right[half].mean(), right.mean()))


if __name__ == "__main__":
    main()
