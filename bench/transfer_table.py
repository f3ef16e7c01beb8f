#!/usr/bin/python3
"""auto of transfer, its members, svm and logreg on the real data. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_table.py LIBKINDRED.so [--sample 800] [--seeds 3] [--groups amazon,webkb] [--shift | --dirichlet | --absent] [--tasks] [--peers]
                               [--keep DIR] [--minutes 5] [--part 0/8]

Accuracy on the target, mean over tasks and draws. --sample 0 takes all samples. --shift draws targets whose class shares
moved: half of the classes (by turns) keep a fifth of their samples; `once` is the vote before shares are treated. --dirichlet draws other shifts: two draws
a task of how much of each class is kept. --absent draws
targets that lack a class (another one from task to task) and says how often the answer names it. --peers adds scikit-learn's LogisticRegression and
SelfTrainingClassifier and POT's SinkhornTransport and EMDTransport with one nearest neighbour, all on the same features.
--keep leaves what each run gave in a folder, where a later call finds it: with --minutes the work is done in pieces, and the
table is of the tasks that have all their runs; with --part i/n one of n processes does every n-th task. At the end: how sure the vote was and how often it was right."""

import argparse
import collections
import pathlib
import sys
import time
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


def shifts(names):
    """Which classes lose four fifths: the even ones, then the odd ones."""
    return [{c: 0.2 for c in names[i::2]} for i in range(2)]


def drawn(entry, names):
    """Two draws of the share of each class that is kept: Dirichlet (2, 2, ..), the largest 1, none below .03."""
    rng = np.random.default_rng([t[1:] for t in tt.all_tasks()].index(entry[1:]))
    return [dict(zip(names, np.maximum(w / w.max(), 0.03))) for w in rng.dirichlet(np.full(len(names), 2.0), 2)]


def lacking(entry, names):
    """One class that the target is to have no sample of: by turns."""
    turn = [t[1:] for t in tt.all_tasks()].index(entry[1:])
    return [{names[turn % len(names)]: 0}]


def named(got):
    """Classes that the answer says the target seems to lack, as transfer_auto/report.c does."""
    known, given = got["shares"].T
    sure = np.array([got["sure"][got["answer"] == k].mean() if (got["answer"] == k).any() else 0 for k in range(len(known))])
    doubt = [np.delete(sure, k).mean() - sure[k] for k in range(len(known))]
    return np.flatnonzero((known > 0) & ((given <= 0.1 * known) | ((given <= 0.4 * known) & (np.array(doubt) >= 0.1))))


def print_absent(by_group):
    """Of each collection: how often the class that is not there is named, and how many others are."""
    print("\n| collection | targets | lack a class: it is named | others named | lack none: classes named |\n|---|---:|---:|---:|---:|")
    for group, gots in by_group.items():
        there = [g for g in gots if g["lacks"] < 0]
        absent = [g for g in gots if g["lacks"] >= 0]
        print("| %s | %d | %d of %d | %d of %d | %s |" % (
            group, len(gots), sum(g["lacks"] in named(g) for g in absent), len(absent),
            sum(len(set(named(g)) - {int(g["lacks"])}) for g in absent), sum(len(g["shares"]) - 1 for g in absent),
            "%d of %d" % (sum(len(named(g)) for g in there), sum(len(g["shares"]) for g in there)) if there else "-"))


def run(lib, entry, args, seed, keep):
    """Votes, answer, confidence and truth of one task and draw; accuracies of what else was asked."""
    group, folder, sources, target = entry
    xs, ys, classes = tt.task(folder, sources, target, args.sample, seed, keep)
    lib.seed(seed + 1)
    problem = lib.transfer(xs, ys[:-1] + [None], classes)
    answer = lib.fit("auto-transfer", *problem, without=False)
    t = len(xs) - 1
    arrays, fields = answer["arrays"], answer["fields"]
    got = {"votes": arrays["votes", t].astype(np.int8), "answer": answer["labels"][-1].astype(np.int8),
           "sure": arrays["confidence", t], "truth": ys[-1].astype(np.int8), "shares": arrays["shares", t],
           "seconds": answer["seconds"], "classes": classes, "moved": fields["shares_moved.t%d" % t],
           "distance": fields["a_distance.t%d" % t], "cv": fields["source_accuracy.t%d" % t]}
    lost = [c for c, share in (keep or {}).items() if share == 0]
    got["lacks"] = sorted(set(np.concatenate([tt.load(folder, s)[1] for s in sources]))).index(lost[0]) if lost else -1
    if args.shift or args.dirichlet:
        got["once"] = np.mean(lib.fit("auto-transfer", *problem, without=False, follow_shares=0)["labels"][-1] == ys[-1])
    for m in ("svm", "logreg"):
        got[m] = np.mean(lib.fit(m, *problem)["labels"][-1] == ys[-1])
    return got


def accuracies(got):
    """What a row of the table has."""
    one = {k: float(v) for k, v in got.items() if np.ndim(v) == 0}
    for name, vote in zip(MEMBERS, got["votes"]):
        one[name] = np.mean(vote == got["truth"]) if vote[0] >= 0 else np.nan
    one["auto"], one["mean_sure"] = np.mean(got["answer"] == got["truth"]), np.mean(got["sure"])
    return one


def runs_of(entry, args):
    """(seed, which classes shrink, file) of a task's runs."""
    names = sorted(set(tt.load(entry[1], entry[3])[1]))
    keeps = shifts(names) if args.shift else drawn(entry, names) if args.dirichlet else [None] + lacking(entry, names) if args.absent else [None]
    mark = "s" if args.shift else "d" if args.dirichlet else "a"
    for seed in range(args.seeds):
        for i, keep in enumerate(keeps):
            name = "_".join([entry[1], "+".join(entry[2]), entry[3], str(args.sample), str(seed)] + ["%s%d" % (mark, i)] * (keep is not None))
            yield seed, keep, pathlib.Path(args.keep) / (name + ".npz") if args.keep else None


def kept(path, until, make):
    """What `make` gives, from its file where that lies there; None: out of time."""
    if path and path.exists():
        with np.load(path) as f:
            return dict(f)
    if time.monotonic() > until:
        return None
    got = make()
    if path:
        np.savez_compressed(path, **got)
    return got


def gather(lib, entry, args, until):
    """All runs of a task; None: out of time."""
    out = []
    for seed, keep, path in runs_of(entry, args):
        got = kept(path, until, lambda: run(lib, entry, args, seed, keep))
        if got is None:
            return None
        got.setdefault("lacks", -1)
        if args.peers:
            more = kept(path and path.with_suffix(".peers.npz"), until,
                        lambda: peers(*tt.task(*entry[1:], args.sample, seed, keep)))
            if more is None:
                return None
            got.update(more)
        out.append(got)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--sample", type=int, default=800)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--groups", default="")
    parser.add_argument("--shift", action="store_true")
    parser.add_argument("--dirichlet", action="store_true")
    parser.add_argument("--absent", action="store_true")
    parser.add_argument("--tasks", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th task")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--keep", help="folder of what the runs gave")
    parser.add_argument("--minutes", type=float, default=np.inf)
    args = parser.parse_args()
    if not (common.DATA / "amazon_sentiment4").exists():
        print("skipped: no data")
        return
    lib = Library(args.library)
    until = time.monotonic() + 60 * args.minutes
    if args.keep:
        pathlib.Path(args.keep).mkdir(parents=True, exist_ok=True)
    columns = ["svm", "logreg"] + MEMBERS + (PEERS if args.peers else []) + ["once"] * (args.shift or args.dirichlet) + ["auto"]
    tasks = [t for t in tt.all_tasks() if not args.groups or t[0] in args.groups.split("/")][:: args.every]
    part, parts = map(int, args.part.split("/"))
    tasks = tasks[part::parts]
    by_group, sures, rights, rows = collections.defaultdict(list), [], [], []
    raw = collections.defaultdict(list)
    for entry in tasks:
        got = gather(lib, entry, args, until)
        if got is None:
            continue
        sures += [g["sure"] for g in got]
        rights += [g["answer"] == g["truth"] for g in got]
        raw[entry[0]] += got
        ones = [accuracies(g) for g in got]
        mean = {k: float(np.mean([o[k] for o in ones])) for k in ones[0]}
        by_group[entry[0]].append(mean)
        rows.append((entry, mean))
        if args.tasks:
            print("# %s: %s to %s: %s sure %.3f A %.2f cv %.2f moved %.2f %.1f s" % (
                entry[0], "+".join(entry[2]), entry[3], " ".join("%s %.3f" % (c, mean[c]) for c in columns),
                mean["mean_sure"], mean["distance"], mean["cv"], mean["moved"], mean["seconds"]), flush=True)
    if len(rows) < len(tasks):
        print("%d of %d tasks are done: call again" % (len(rows), len(tasks)))
    if not rows:
        return
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
    if args.absent:
        print_absent(raw)
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
