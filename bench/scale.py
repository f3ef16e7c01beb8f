#!/usr/bin/python3
"""How time and memory of the jobs grow with the number of samples, and how near the estimates come.

usage: bench/scale.py KINDRED FILE.jsonl [--sizes N,N,...] [--jobs NAME,...] [--kinds dense,sparse] [--minutes M]
                      [--most SECONDS] [--data DIR] [--table]

Data are made by `kindred generate`, three tasks of a third of the samples each, five clusters: dense, 50 columns of blobs that
overlap; sparse, 60 words a sample out of 50,000. A job is a method (of the transfers the first task is the source, the
second the target, the third the bridge where one is needed), or one of vectorize, predict, relate, inspect, convert. Every
run is one line of FILE.jsonl; a run that has its line is not made again, so that the script can be stopped and started at
any time, and it stops by itself after --minutes. A job that would take more than --most seconds by what the size before took
is left out, and said to be. --table prints what there is as Markdown: seconds of processor time at each size, the
exponent that fits them best, peak memory, and estimates divided by what came.

OMP_NUM_THREADS says how many threads (default 1: the figure is then processor time, which other work disturbs less)."""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

CLUSTER = ["kmeans", "bregman", "mbc", "pca-kmeans", "lssmtc", "asi", "ec", "ncut", "auto", "snmf", "mtcfir"]
TRANSFER = ["svm", "logreg", "self-training", "aligned-ridge", "ot-prototypes", "tsvm", "gfhf", "llgc", "lssttc", "nmtf",
            "ttl", "trec", "transfer-auto"]
OTHER = ["msda", "vectorize", "predict", "relate", "inspect", "convert"]
BRIDGED = ["ttl"]
# Methods for numbers that are not negative.
NONNEGATIVE = ["nmtf", "ttl"]
COLUMNS, WORDS, LENGTH, CLUSTERS = 50, 50000, 60, 5


def make_text(folder, n):
    """Documents of 60 words, a line each; words fall off as 1 / (rank + 10)."""
    import numpy as np

    rng = np.random.default_rng(n)
    weight = 1.0 / (np.arange(WORDS) + 10)
    share = np.cumsum(weight / weight.sum())
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = np.array(["".join(letters[(i // 26**j) % 26] for j in range(4)) + "en" for i in range(WORDS)])
    with open(folder / "text.txt", "w", encoding="ascii") as out:
        for at in range(0, n, 10000):
            rows = words[np.searchsorted(share, rng.random((min(10000, n - at), LENGTH)))]
            out.writelines(" ".join(row) + "\n" for row in rows)


def make(kindred, root, kind, n, text):
    """The three tasks of n samples in all, made once; bytes they take in memory."""
    folder = root / f"{kind}-{n}"
    ending = "npy" if kind == "dense" else "mtx"
    if not (folder / f"task3.{ending}").exists():
        design = (["--design", "blobs", "-d", str(COLUMNS), "--separation", "0.3", "--shift", "0.05", "--to", "npy"]
                  if kind == "dense" else
                  ["--design", "topics", "--words", str(WORDS), "--length", str(LENGTH), "--purity", "0.4"])
        subprocess.run([kindred, "generate", "--tasks", "3", "-k", str(CLUSTERS), "-n", str(n // 3), "-q", "--force",
                        "-o", str(folder), *design], check=True)
    if text and not (folder / "text.txt").exists():
        make_text(folder, n)
    tasks = [folder / f"task{i}.{ending}" for i in (1, 2, 3)]
    if kind == "dense":
        return folder, tasks, 8.0 * n * COLUMNS
    entries = 0
    for path in tasks:
        with open(path, "rb") as lines:
            size = next(line for line in lines if not line.startswith(b"%"))
        entries += int(size.split()[2])
    return folder, tasks, 12.0 * entries + 8.0 * n


def command(kindred, job, kind, folder, tasks, out):
    """The arguments of a job."""
    words = ["--weight", "tfidf", "--norm", "l2"] if kind == "sparse" else []
    sparse_only = ["--scale", "minmax"] if kind == "dense" and job in NONNEGATIVE else words
    end = ["-q", "--force", "-o", str(out)]
    if job in CLUSTER:
        prep = [] if job == "auto" else words
        return [kindred, "cluster", "-m", job, "-k", str(CLUSTERS), "--score", *prep, *end, *map(str, tasks)]
    if job in TRANSFER:
        method = "auto" if job == "transfer-auto" else job
        bridge = ["--bridge", str(tasks[2])] if job in BRIDGED else []
        prep = [] if job == "transfer-auto" else sparse_only
        return [kindred, "transfer", "-m", method, "--source", str(tasks[0]), "--labels",
                str(tasks[0].with_suffix(".labels")), "--target", str(tasks[1]), "--truth",
                str(tasks[1].with_suffix(".labels")), *bridge, *prep, *end]
    if job == "msda":
        return [kindred, "cluster", "-m", "kmeans", "-k", str(CLUSTERS), "--features-from", "msda", *words, *end,
                *map(str, tasks)]
    if job == "vectorize":
        return [kindred, "vectorize", "--from", "lines", "--force", "-q", "-o", str(out), str(folder / "text.txt")]
    if job == "predict":
        model = folder / "kmeans.h5"
        if not model.exists():
            subprocess.run([kindred, "cluster", "-m", "kmeans", "-k", str(CLUSTERS), *words, "--set", "max_iter=5", "--set",
                            "n_init=1", "--save-model", str(model), *end, str(tasks[0])], check=True)
        return [kindred, "predict", "--model", str(model), "-q", "--force", "-o", str(out / "predicted.labels"), str(tasks[1])]
    if job == "relate":
        return [kindred, "relate", "--json", *words, "-q", *map(str, tasks)]
    if job == "inspect":
        return [kindred, "inspect", "--json", *map(str, tasks)]
    return [kindred, "convert", "--force", str(tasks[0]), str(out / ("x.h5" if kind == "dense" else "x.npz"))]


def run(kindred, job, kind, n, folder, tasks, size, threads):
    """One run: a line of the file."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    result = out / "result.json"
    arguments = command(kindred, job, kind, folder, tasks, out)
    if result.exists():
        result.unlink()
    begin = time.perf_counter()
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = child.stderr.read().decode().strip().splitlines()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    line = {"job": job, "kind": kind, "n": n, "threads": threads, "status": child.returncode,
            "wall": round(time.perf_counter() - begin, 3), "cpu": round(usage.ru_utime + usage.ru_stime, 3),
            "peak": usage.ru_maxrss * 1024, "data": size}
    if child.returncode != 0:
        line["error"] = error[-1] if error else ""
    if result.exists():
        with open(result, encoding="utf-8") as f:
            r = json.load(f)
        line["seconds"] = r["seconds"]
        line["iterations"] = r["iterations"]
        line["peak"] = r["peak_rss_bytes"]  # a child's begins with what its parent had
        if "estimated" in r:
            line["estimated"] = r["estimated"]
        scores = [t["metrics"]["nmi"] for t in r["tasks"] if t.get("metrics")]
        if scores:
            line["nmi"] = round(sum(scores) / len(scores), 4)
    return line


def exponent(points):
    """The slope of log seconds over log n."""
    points = [(math.log(n), math.log(max(s, 1e-3))) for n, s in points]
    mean = [sum(p[i] for p in points) / len(points) for i in (0, 1)]
    over = sum((x - mean[0]) ** 2 for x, _ in points)
    return sum((x - mean[0]) * (y - mean[1]) for x, y in points) / over if over else float("nan")


def table(lines):
    """Everything measured, as Markdown."""
    sizes = sorted({r["n"] for r in lines})
    for kind in ("dense", "sparse"):
        print(f"### {kind}\n")
        print("| job | " + " | ".join(f"{n:,}" for n in sizes) + " | exponent | peak at the largest | allowed "
              "| estimate / time | estimate / memory |")
        print("|---|" + "---:|" * (len(sizes) + 5))
        for job in CLUSTER + TRANSFER + OTHER:
            mine = {r["n"]: r for r in lines if r["job"] == job and r["kind"] == kind}
            good = {n: r for n, r in mine.items() if r["status"] == 0}
            if not mine:
                continue
            cells = [f"{good[n]['cpu']:.3g}" if n in good else "refused" if n in mine else "" for n in sizes]
            last = good[max(good)] if good else None
            slope = exponent([(n, r["cpu"]) for n, r in good.items()]) if len(good) > 1 else float("nan")
            told = [r for r in good.values() if "estimated" in r]
            ratio = [[f"{r['estimated'][a] / max(b(r), 1e-9):.2f}" for r in sorted(told, key=lambda r: r["n"])]
                     for a, b in (("seconds", lambda r: r["cpu"]), ("bytes", lambda r: r["peak"]))]
            print(f"| {job} | " + " | ".join(cells) + f" | {slope:.2f} | "
                  + (f"{last['peak'] / 1e9:.2f} GB | {(3 * last['data'] + 2e9) / 1e9:.2f} GB" if last else " | ")
                  + f" | {' '.join(ratio[0])} | {' '.join(ratio[1])} |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kindred")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--sizes", default="31250,62500,125000,250000")
    parser.add_argument("--jobs", default=",".join(CLUSTER + TRANSFER + OTHER))
    parser.add_argument("--kinds", default="dense,sparse")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--most", type=float, default=60)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("scale-data"))
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threads = int(os.environ["OMP_NUM_THREADS"])
    lines = []
    if args.file.exists():
        with open(args.file, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
    if args.table:
        table(lines)
        return 0
    end = time.monotonic() + 60 * args.minutes
    for n in map(int, args.sizes.split(",")):
        for kind in args.kinds.split(","):
            for job in args.jobs.split(","):
                mine = [r for r in lines if (r["job"], r["kind"], r["threads"]) == (job, kind, threads)]
                if any(r["n"] == n for r in mine):
                    continue
                before = max((r for r in mine if r["n"] < n), key=lambda r: r["n"], default=None)
                if before and (before["status"] != 0 or before["cpu"] * (n / before["n"]) ** 1.2 > args.most):
                    print(f"left out: {job} {kind} {n}", file=sys.stderr)
                    continue
                if time.monotonic() > end:
                    return 0
                folder, tasks, size = make(args.kindred, args.data, kind, n, job == "vectorize")
                line = run(args.kindred, job, kind, n, folder, tasks, size, threads)
                lines.append(line)
                with open(args.file, "a", encoding="utf-8") as f:
                    f.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
