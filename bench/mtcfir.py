#!/usr/bin/python3
"""MTCFIR: against plain NumPy, against the machine's own products, and as the data grow.

usage: bench/mtcfir.py LIBKINDRED.so [reuters3] [20ng_4task] [snmf] [20ng_full] [growth] [synthetic] [40000] [--repeats N] [--threads N]
(default: the first three)

reuters3, 20ng_4task  tf-idf, unit rows; from the same start, against bench/peers/mtcfir.py in the same process
snmf                  snmf as auto runs it, 120 iterations, from the same starts, against the same in NumPy: 20ng_4task, whose cosines
                      are not formed, and three starts on 4,000 points, whose Gaussian similarities are; NumPy forms both
20ng_full             all of 20 Newsgroups as two halves, 59,030 words: seconds and memory of the whole program
growth                1,000 to 8,000 documents of the same: seconds, memory, and the rate of the dense products
synthetic             2,500 to 20,000 rows of 2,000 words without any clusters: SNMF never ends before its last iteration
40000                 40,000 such rows

The rate is the flops of the dense products and factorisations over all seconds of the fit, as a share of what the
machine's BLAS reaches on one large product with as many threads, measured just before and after. Counted are, for
each dense layer, its Gram matrix and its product with the weights; for each layer the inverse and what it adds to K;
and for each task the distances. Symmetric ones count half. Not counted: sparse products, k-means, SNMF, and the
small dense products within it. Times are the least of N."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp

import common

sys.path.insert(0, str(common.ROOT / "tests" / "ref"))
from fit_ctypes import Library  # noqa: E402
from peers import mtcfir as peer  # noqa: E402

CASES = ["reuters3", "20ng_4task", "snmf", "20ng_full", "growth", "synthetic", "40000"]
QUICK = CASES[:3]  # the others take most of an hour: by name


def rate(single, n=3000, repeats=2):
    """Gflop/s of one large product."""
    a = np.random.default_rng(0).random((n, n)).astype(np.float32 if single else np.float64)
    return max(2e-9 * n ** 3 / common.seconds(lambda: a @ a) for _ in range(repeats))


def tfidf(xs):
    """Over all tasks together, then rows of unit length."""
    x = sp.vstack(xs).tocsr()
    n, df = x.shape[0], np.bincount(x.indices, minlength=x.shape[1])
    x = x @ sp.diags(np.log((1 + n) / (1 + df)) + 1)
    norm = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    x = (sp.diags(1 / np.where(norm > 0, norm, 1)) @ x).tocsr()
    x.sort_indices()
    begin = np.r_[0, np.cumsum([y.shape[0] for y in xs])]
    return [x[begin[t]: begin[t + 1]] for t in range(len(xs))]


def side_by_side(lib, args, name, ks, aim):
    xs = [common.load_csr(name, f"task{t + 1}") for t in range(len(ks))]
    if xs[0] is None:
        print(f"mtcfir: {name} skipped: no data in", common.DATA)
        return []
    xs = tfidf(xs)
    problem, keep = lib.prepare(xs, ks)
    init = [r for r in lib.fit("kmeans", problem, keep)["labels"]]
    problem, keep = lib.prepare(xs, ks, init=init)
    found = {}

    def ours():  # the fit alone: not the copies that Python makes of its result
        took = common.seconds(lambda: found.update(a=lib.fit("mtcfir", problem, keep)))
        return took if common.CPU_TIME else found["a"]["seconds"]

    def theirs():
        return common.seconds(lambda: found.update(b=peer.mtcfir(xs, ks, init)))

    n, d = sum(x.shape[0] for x in xs), xs[0].shape[1]
    fast = rate(n > 4096)
    ours_s, peer_s = common.best_of(args.repeats, ours, theirs)
    fast = max(fast, rate(n > 4096))
    a, (alpha, labels, total) = found["a"], found["b"]
    same = np.mean([np.mean(x == y) for x, y in zip(a["labels"], labels)])
    off = np.abs(a["arrays"]["alpha", -1] / alpha - 1).max()
    if same < 0.98 or off > 1e-2:
        sys.exit(f"mtcfir: {name}: {same:.3f} of the labels agree, alpha is off by {off:g}")
    gflop = a["fields"]["dense_gflop"]
    extra = (f"{100 * same:.1f}% of labels equal; {gflop / ours_s:.0f} Gflop/s, {100 * gflop / ours_s / fast:.0f}% of "
             f"{'sgemm' if n > 4096 else 'dgemm'} ({fast:.0f}); aim {aim}x")
    return [{"bench": "mtcfir", "case": f"{name}, {n} x {d}, threads={args.threads}", "ours_s": ours_s,
             "peer": "NumPy", "peer_s": peer_s, "ratio": peer_s / ours_s, "extra": extra}]


def snmf_row(lib, args, case, xs, ks, init, similar, **options):
    """One line: a fit of all tasks against NumPy on each, with what `similar` makes of its rows."""
    problem, keep = lib.prepare(xs, ks, init=init)
    found = {}

    def ours():
        took = common.seconds(lambda: found.update(a=lib.fit("snmf", problem, keep, max_iter=120, tol=0, keep=False, **options)))
        return took if common.CPU_TIME else found["a"]["seconds"]

    def theirs():
        def work():
            made = {id(x): similar(x) for x in xs}
            found.update(b=[peer.snmf(made[id(x)], i, k, 120, -1)[0].argmax(axis=1) for x, k, i in zip(xs, ks, init)])
        return common.seconds(work)

    ours_s, peer_s = common.best_of(args.repeats, ours, theirs)
    same = np.mean([np.mean(common_names(a, b) == b) for a, b in zip(found["a"]["labels"], found["b"])])
    if same < 0.98:
        sys.exit(f"snmf: {case}: {same:.3f} of the labels agree")
    return {"bench": "snmf", "case": f"{case}, threads={args.threads}", "ours_s": ours_s, "peer": "NumPy", "peer_s": peer_s,
            "ratio": peer_s / ours_s, "extra": f"{100 * same:.1f}% of labels equal"}


def common_names(labels, other):
    """Clusters by the names that `other` has for most of their samples."""
    table = np.zeros((labels.max() + 1, other.max() + 1), dtype=int)
    np.add.at(table, (labels, other), 1)
    return table.argmax(axis=1)[labels]


def snmf(lib, args):
    rng, rows = np.random.default_rng(1), []
    xs = [common.load_csr("20ng_4task", f"task{t + 1}") for t in range(4)]
    if xs[0] is None:
        print("snmf: 20ng_4task skipped: no data in", common.DATA)
    else:
        xs, ks = tfidf(xs), [3, 4, 3, 4]
        problem, keep = lib.prepare(xs, ks)
        init = [r for r in lib.fit("kmeans", problem, keep)["labels"]]
        rows.append(snmf_row(lib, args, "20ng_4task, 4 tasks", xs, ks, init, lambda x: np.maximum((x @ x.T).toarray(), 0)))
    x = rng.normal(size=(6, 8))[rng.integers(6, size=4000)] + 0.7 * rng.normal(size=(4000, 8))

    def gauss(x):
        square = (x * x).sum(axis=1)
        return np.exp(-np.maximum(square[:, None] + square[None, :] - 2 * x @ x.T, 0) / (2 * 3.0 ** 2))

    init = [rng.integers(6, size=4000) for _ in range(3)]
    rows.append(snmf_row(lib, args, "4,000 x 8, Gaussian, 3 starts", [x] * 3, [6] * 3, init, gauss, similarity="gauss", sigma=3, precision="single"))
    return rows


def program(args):
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(args.library))), "cli", "kindred")


def whole_program(args, folder, files, k, *more):
    """result.json of one run. A child inherits the peak memory of the process it is started from: so a shell, which is
    small, starts it in its turn."""
    subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", program(args), "cluster", "-m", "mtcfir", "-k", str(k),
                    "--weight", "tfidf", "--norm", "l2", "-q", "--threads", str(args.threads), "-o", f"{folder}/out",
                    "--force", *more, *files], check=True)
    with open(f"{folder}/out/result.json") as f:
        return json.load(f)


def row_of(case, r, args, single=True):
    fast, s = rate(single), r["seconds"]["fit"]
    gflop = r["method_fields"]["dense_gflop"]
    return {"bench": "mtcfir", "case": case, "ours_s": s, "peer": "sgemm" if single else "dgemm", "peer_s": gflop / fast,
            "ratio": gflop / fast / s,
            "extra": f"{gflop / s:.0f} of {fast:.0f} Gflop/s; whole program {r['peak_rss_bytes'] / 1e9:.2f} GB"}


def newsgroups(lib, args, sizes):
    """Two tasks of as many documents each, drawn at even distances."""
    x = common.load_csr("20ng_full")
    if x is None:
        print("mtcfir: 20ng_full skipped: no data in", common.DATA)
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            drawn = x[np.linspace(0, x.shape[0] - 1, 2 * n).astype(int)]
            files = [f"{folder}/{n}_{t}.mtx" for t in range(2)]
            for t in range(2):
                scipy.io.mmwrite(files[t], drawn[t::2])
            r = whole_program(args, folder, files, 20)
            rows.append(row_of(f"20ng_full, 2 x {n} x {x.shape[1]}, k=20", r, args, 2 * n > 4096))
    return rows


def synthetic(lib, args, sizes):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            x = common.synthetic_csr(n, 2000, 60)
            files = [f"{folder}/{n}_{t}.mtx" for t in range(4)]
            for t in range(4):
                scipy.io.mmwrite(files[t], x[t::4])
            r = whole_program(args, folder, files, 5)
            rows.append(row_of(f"4 tasks, {n} x 2000 in all, k=5", r, args, n > 4096))
    return rows


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("library", help="libkindred.so")
    ap.add_argument("cases", nargs="*", default=QUICK, help=", ".join(CASES) + "; default the first three")
    ap.add_argument("--repeats", type=int, default=1)
    ap.add_argument("--threads", type=int, default=common.cores())
    ap.add_argument("--no-save", action="store_true", help="leave results.csv alone")
    args = ap.parse_args()
    lib = Library(args.library)
    lib.threads(args.threads)
    runs = {"reuters3": lambda: side_by_side(lib, args, "reuters3", [3, 3, 3], 10),
            "20ng_4task": lambda: side_by_side(lib, args, "20ng_4task", [3, 4, 3, 4], 5),
            "snmf": lambda: snmf(lib, args),
            "20ng_full": lambda: newsgroups(lib, args, [9422]),
            "growth": lambda: newsgroups(lib, args, [500, 1000, 2000, 4000]),
            "synthetic": lambda: synthetic(lib, args, [2500, 5000, 10000, 20000]),
            "40000": lambda: synthetic(lib, args, [40000])}
    rows = [row for case in args.cases for row in runs[case]()]
    common.report(f"MTCFIR, {args.threads} threads", rows, keep=not args.no_save)


if __name__ == "__main__":
    main()
