#!/usr/bin/python3
"""Whether a device gives the processor's labels on real data: every set under KINDRED_DATA, every method that is carried.

    KINDRED_DATA=... python3 bench/gpu_same.py PROGRAM [--device cuda] [--sets SET...] [--methods METHOD...] [--limit SECONDS]

A line a run: set, method, seconds on both, and for each task how many labels differ (numbers of clusters as they are, and matched as
well as they can be), and where the values of the objective first differ. Runs above the limit are left out, and said to be. Ends with
status 1 if a label differs where precision is double. SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TEXT = ("--weight", "tfidf", "--norm", "l2")
SETS = {  # name: (files, clusters, preprocessing)
    "reuters3": ("*.mtx*", 3, TEXT),
    "webkb4": ("*.mtx*", 4, TEXT),
    "20ng_rec_vs_talk": ("*.mtx*", 2, TEXT),
    "20ng_4task": ("*.mtx*", 4, TEXT),
    "cluto_trec": ("*.mtx*", 6, TEXT),
    "cluto_sjmn": ("*.mtx*", 5, TEXT),
    "la12": ("*.mtx*", 6, TEXT),
    "dmoz4": ("*.mtx*", 5, TEXT),
    "cluto_ohscal": ("*.mtx*", 10, TEXT),
    "20ng_full": ("*.mtx*", 20, TEXT),
    "amazon_sentiment4": ("*.mtx*", 2, TEXT),
    "sc_mixology3": ("*.npy*", 3, ("--weight", "cpm")),
    "handdigits": ("*.npy*", 10, ()),
    "nuswide10": ("*image.npy*", 10, ()),
}
CLUSTER = {  # what is run: method and options
    "kmeans": ("-m", "kmeans"),
    "kmeans spherical": ("-m", "kmeans", "--set", "spherical=true"),
    "pca-kmeans": ("-m", "pca-kmeans"),
    "ncut": ("-m", "ncut"),
    "auto": (),
    "snmf": ("-m", "snmf", "--set", "precision=double"),
    "mtcfir": ("-m", "mtcfir", "--set", "precision=double"),
    "mtcfir single": ("-m", "mtcfir", "--set", "precision=single"),
    "lssmtc": ("-m", "lssmtc"),
}
TRANSFER = {"nmtf": ("-m", "nmtf"), "ttl": ("-m", "ttl"), "aligned-ridge": ("-m", "aligned-ridge"), "transfer": ("-m", "auto")}


def run(command, device, out, limit):
    start = time.perf_counter()
    try:
        done = subprocess.run([*command, "--device", device, "-q", "--force", "-o", str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "above %d s" % limit
    if done.returncode:
        return None, done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "status %d" % done.returncode
    result = json.loads((out / "result.json").read_text())
    result["wall"] = time.perf_counter() - start
    return result, None


def matched(a, b):
    """How many labels differ if b's clusters may be renamed: the largest entries of the table first, which is exact for small differences."""
    table = {}
    for pair in zip(a, b):
        table[pair] = table.get(pair, 0) + 1
    left, right, same = set(), set(), 0
    for (x, y), count in sorted(table.items(), key=lambda e: -e[1]):
        if x not in left and y not in right:
            left.add(x)
            right.add(y)
            same += count
    return len(a) - same


def compare(name, what, command, device, limit, scratch):
    """Whether the labels are the same; None: not run."""
    cpu, why = run(command, "cpu", scratch / "cpu", limit)
    if why is None:
        card, why = run(command, device, scratch / "card", limit)
    if why is not None:
        print("%-18s %-17s not compared: %s" % (name, what, why), flush=True)
        return None
    parts, same = [], True
    for one, two in zip(cpu["tasks"], card["tasks"]):
        if one.get("labels") is None:
            continue
        a, b = one["labels"], two["labels"]
        differ = sum(x != y for x, y in zip(a, b))
        same = same and differ == 0 and len(a) == len(b)
        parts.append("%d of %d" % (differ, len(a)) + (" (renamed %d)" % matched(a, b) if differ else ""))
    far = max((abs(x - y) / max(abs(x), 1e-300) for x, y in zip(cpu["objective"], card["objective"])), default=0)
    print("%-18s %-17s cpu %6.2f s, %s %6.2f s; differ %s; objective within %.1e" %
          (name, what, cpu["wall"], device, card["wall"], ", ".join(parts), far), flush=True)
    return same


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--device", default="cuda")
    p.add_argument("--sets", nargs="*", default=list(SETS))
    p.add_argument("--methods", nargs="*", default=[*CLUSTER, *TRANSFER])
    p.add_argument("--limit", type=float, default=60)
    a = p.parse_args()
    data, bad, done = pathlib.Path(os.environ["KINDRED_DATA"]), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name in a.sets:
            pattern, k, prepare = SETS[name]
            files = sorted((data / name).glob(pattern))
            if not files:
                print("%-18s is not there" % name, flush=True)
                continue
            for what in a.methods:
                if what in CLUSTER:
                    command = [a.program, "cluster", *CLUSTER[what], "-k", str(k), *prepare, *map(str, files)]
                elif len(files) > 1 + (what == "ttl"):
                    bridge = ["--bridge", str(files[2])] if what == "ttl" else []
                    labels = str(files[0].with_name(files[0].name.split(".")[0] + ".labels"))
                    command = [a.program, "transfer", *TRANSFER[what], *prepare, "--source", str(files[0]), "--labels", labels, "--target", str(files[1]), *bridge]
                else:
                    continue
                same = compare(name, what, command, a.device, a.limit, pathlib.Path(folder))
                done += same is not None
                bad += same is False and "single" not in what
    print("%d runs compared, %d of them in double with labels that differ" % (done, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
