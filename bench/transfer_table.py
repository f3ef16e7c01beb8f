#!/usr/bin/python3
"""auto of transfer, its members, svm and logreg on the real data. SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_table.py LIBKINDRED.so --keep DIR [--sample 800] [--seeds 3] [--groups amazon/webkb] [--shift | --dirichlet | --absent] [--peers]
                               [--every 2] [--minutes 5] [--part 0/8] [--csv NAME]

--sample 0 takes all samples. --shift draws targets whose class shares moved: half of the classes (by turns) keep a fifth of their samples; `once` is
the vote before shares are treated. --dirichlet draws other shifts: two draws a task of how much of each class is kept. --absent draws targets that lack a
class (another one from task to task), beside those that lack none. --peers adds scikit-learn's LogisticRegression and SelfTrainingClassifier and POT's
SinkhornTransport and EMDTransport with one nearest neighbour, all on the same features.
DIR has what each run gave, and a later call goes on with it: with --minutes the work is done in pieces, with --part i/n one of n processes does every
n-th task. --csv puts what is there into bench/results/transfer-auto: a line a run in NAME.csv (collection, data, sources, target, draw, accuracies, what is
known of the task, classes named as absent) and, of runs as they came, NAME-confidence.csv: samples and right answers by confidence. bench/transfer_docs.py
makes the tables of docs/transfer.md from these."""

import argparse
import csv
import itertools
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


def line_of(got, columns):
    """What a run's line has in these columns."""
    one = {k: v for k, v in got.items() if np.ndim(v) == 0}
    votes = [v for v in got["votes"] if v[0] >= 0]
    one.update({m: np.mean(v == got["truth"]) if v[0] >= 0 else np.nan for m, v in zip(MEMBERS, got["votes"])})
    one.update(auto=np.mean(got["answer"] == got["truth"]), sure=np.mean(got["sure"]),
               differ=np.mean([np.mean(a != b) for a, b in itertools.combinations(votes, 2)]))
    return ["+".join(map(str, named(got))) if c == "named" else "%d" % one[c] if c in ("classes", "lacks") else "%.6f" % one[c] for c in columns]


def bins_of(got):
    """(mean confidence, samples, right) of each fiftieth part of the confidence that has samples."""
    right = got["answer"] == got["truth"]
    which = np.minimum((got["sure"] * 50).astype(int), 49)
    for b in np.unique(which):
        yield "%.4f" % got["sure"][which == b].mean(), int((which == b).sum()), int(right[which == b].sum())


def write(name, rows):
    path = common.ROOT / "bench" / "results" / "transfer-auto" / (name + ".csv")
    with path.open("w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)
    print("%s: %d lines" % (path, len(rows) - 1))


def runs_of(entry, args):
    """(seed, which classes shrink, file) of a task's runs."""
    names = sorted(set(tt.load(entry[1], entry[3])[1]))
    keeps = shifts(names) if args.shift else drawn(entry, names) if args.dirichlet else [None] + lacking(entry, names) if args.absent else [None]
    mark = "s" if args.shift else "d" if args.dirichlet else "a"
    for seed in range(args.seeds):
        for i, keep in enumerate(keeps):
            name = "_".join([entry[1], "+".join(entry[2]), entry[3], str(args.sample), str(seed)] + ["%s%d" % (mark, i)] * (keep is not None))
            yield seed, keep, args.keep / (name + ".npz")


def kept(path, until, make):
    """What `make` gives, from its file where that lies there; None: out of time."""
    if path.exists():
        with np.load(path) as f:
            return dict(f)
    if time.monotonic() > until:
        return None
    got = make()
    np.savez_compressed(path, **got)
    return got


def gather(lib, entry, args, until):
    """(name of the draw, what it gave) of all runs of a task; None: out of time."""
    out = []
    for seed, keep, path in runs_of(entry, args):
        got = kept(path, until, lambda: run(lib, entry, args, seed, keep))
        if got is None:
            return None
        if args.peers:
            more = kept(path.with_suffix(".peers.npz"), until, lambda: peers(*tt.task(*entry[1:], args.sample, seed, keep)))
            if more is None:
                return None
            got.update(more)
        out.append((path.stem.split("_%d_" % args.sample)[1], got))
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
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only every so-many-th task")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--keep", type=pathlib.Path, required=True, help="folder of what the runs gave")
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--csv", metavar="NAME")
    args = parser.parse_args()
    if not (common.DATA / "amazon_sentiment4").exists():
        print("skipped: no data")
        return
    lib = Library(args.library)
    until = time.monotonic() + 60 * args.minutes
    args.keep.mkdir(parents=True, exist_ok=True)
    shifted = args.shift or args.dirichlet
    columns = (["svm", "logreg"] + MEMBERS + ["once"] * shifted + ["auto"] + PEERS * args.peers
               + ["sure", "classes", "cv", "distance", "moved", "differ"] + ["lacks", "named"] * args.absent)
    tasks = [t for t in tt.all_tasks() if not args.groups or t[0] in args.groups.split("/")][:: args.every]
    part, parts = map(int, args.part.split("/"))
    rows, bins, done = [], [], 0
    for entry in tasks[part::parts]:
        got = gather(lib, entry, args, until)
        done += got is not None
        for draw, one in got or []:
            task = [entry[0], entry[1], "+".join(entry[2]), entry[3], draw]
            rows.append(task + line_of(one, columns))
            bins += [task + list(b) for b in bins_of(one)]
    print("%d of %d tasks" % (done, len(tasks[part::parts])), flush=True)
    if args.csv:
        task = ["collection", "data", "sources", "target", "draw"]
        write(args.csv, [task + columns] + rows)
        if not (shifted or args.absent):
            write(args.csv + "-confidence", [task + ["confidence", "samples", "right"]] + bins)


if __name__ == "__main__":
    main()
