#!/usr/bin/python3
"""Labels and objectives of every method on every collection, compared with those on record.

Usage: labels.py [--write] [--only TEXT] [--jobs N] PROGRAM [FILE]

Every clustering method runs on all data sets of a collection (KINDRED_DATA, else ../shared/data), every transfer method from
its first data set to two others that have the same classes; at most 400 samples per data set, evenly spaced, two seeds, one
thread. auto preprocesses as it sees fit, other methods as PREPARE says. auto also runs in the other ways of WAYS, with one seed. FILE (tests/golden/regression.csv) has one
row per run: a hash of the labels, the last objective, which may differ by 1e-7 of itself, and for auto a hash of result.json without times. A row that is not on record is
no difference; a hash that is not on record is not compared. --write replaces the rows that ran. Rows differ between machines where rounding decides;
compare on one machine, before and after a change. SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import concurrent.futures
import csv
import gzip
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.abspath(os.environ.get("KINDRED_DATA") or os.path.join(ROOT, "..", "shared", "data"))
MOST, SEEDS = 400, (1, 2)
# Other ways to run auto: samples per data set, words of the command line; {k}: the numbers of classes, {low} and {high}: a range around them.
WAYS = {"auto-k": (400, ["-k", "auto"]), "range": (400, ["-k", "{low}-{high}"]), "alone": (400, ["-k", "{k}", "--no-transfer"]),
        "auto-k-alone": (400, ["-k", "auto", "--no-transfer"]), "range-alone": (400, ["-k", "{low}-{high}", "--no-transfer"]),
        "known": (400, ["-k", "{k}", "--known", "{known}"]), "600": (600, ["-k", "{k}"]), "1200": (1200, ["-k", "{k}"]),
        "1200-auto-k": (1200, ["-k", "auto"])}
# What differs between two runs of the same program.
TIMES = {"seconds", "peak_rss_bytes", "command_line", "kindred", "path"}
PREPARE = {"mtx": ["--weight", "tfidf", "--norm", "l2"], "npy": ["--weight", "none"], "csv": ["--scale", "minmax"]}
# Data sets whose columns are their own: only this one of the collection is clustered, none is a source.
ALONE = {"nuswide10": "image"}
# Collections whose third data set is also tried as a bridge from the first to the second, by the methods that take one.
BRIDGED, BRIDGING = ("amazon_sentiment4", "webkb4"), ("ttl", "auto-transfer")


def collections():
    """name: folder, in order."""
    found = {}
    for top, folders, files in sorted(os.walk(DATA)):
        if any(f.split(".", 1)[-1] in ("mtx", "mtx.gz", "npy", "npy.gz", "csv") for f in files):
            found[os.path.relpath(top, DATA)] = top
    return dict(sorted(found.items()))


def sets_of(folder):
    stems = {}
    for f in sorted(os.listdir(folder)):
        stem, _, kind = f.partition(".")
        if kind in ("mtx", "mtx.gz", "npy", "npy.gz", "csv"):
            stems[stem] = (os.path.join(folder, f), kind)
    return stems


def opened(path):
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")


def cut_table(path, folder, stem, most=MOST):
    """A table whose column `label` is removed, or whose labels are in a separate file."""
    with open(path, newline="") as f:
        header, *rows = list(csv.reader(f))
    rows = [rows[i] for i in picked(len(rows), most)]
    if "label" in header:
        at = header.index("label")
        labels = [r.pop(at) for r in rows]
        header.pop(at)
    else:
        labels = cut_labels(path[:-len(".csv")] + ".labels", most)
    out = os.path.join(folder, stem + ".csv")
    with open(out, "w", newline="") as f:
        csv.writer(f).writerows([header, *rows])
    return out, labels


def picked(n, most=MOST):
    return range(n) if n <= most else [i * n // most for i in range(most)]


def cut_labels(path, most=MOST):
    if not os.path.exists(path):  # several data sets have the same samples: body_test and subject_test, test.labels
        folder, name = os.path.split(path)
        path = os.path.join(folder, name.split("_", 1)[-1])
    with open(path) as f:
        labels = f.read().split("\n")
    labels = labels[:-1] if labels[-1] == "" else labels
    return [labels[i] for i in picked(len(labels), most)]


def cut(path, kind, folder, stem, most=MOST):
    """The file with at most that many rows: its path, and the rows' classes."""
    if kind == "csv":
        return cut_table(path, folder, stem, most)
    out = os.path.join(folder, stem + (".npy" if kind.startswith("npy") else ".mtx"))
    with opened(path) as f:
        if kind.startswith("npy"):
            x = np.load(f)
            np.save(out, x[list(picked(len(x), most))])
        else:
            x = scipy.io.mmread(f).tocsr()
            scipy.io.mmwrite(out, x[list(picked(x.shape[0], most))])
    return out, cut_labels(path[:-len(kind)] + "labels", most)


def runs_of(program, name, folder, temp):
    """(key, command) of each run of a collection."""
    methods = json.loads(subprocess.run([program, "methods", "--json"], capture_output=True, check=True).stdout)
    methods = methods["methods"] if isinstance(methods, dict) else methods
    files, classes = {}, {}
    for stem, (path, kind) in sets_of(folder).items():
        files[stem], classes[stem] = cut(path, kind, temp, stem)
        with open(os.path.join(temp, stem + ".labels"), "w") as f:
            f.writelines(c + "\n" for c in classes[stem])
    prepare = PREPARE[kind.partition(".")[0]]
    stems = [s for s in files if ALONE.get(name, s) == s]
    first, *rest = stems
    same = [s for s in rest if set(classes[s]) == set(classes[first])]
    for entry, seed in itertools.product(methods, SEEDS):
        method = entry["id"]
        common = [*(["--missing", "mean"] if kind == "csv" else []), "--seed", str(seed), "--threads", "1", "-q", "--no-progress",
                  *([] if method.startswith("auto") else prepare)]
        if entry["family"] == "cluster":
            k = ",".join(str(len(set(classes[s]))) for s in stems)
            yield f"{name},cluster,{method},{seed}", ["cluster", "-m", method, "-k", k, *common, *(files[s] for s in stems)]
        elif entry["family"] == "transfer":
            for target in same[:2]:
                command = ["transfer", "-m", method, "--source", files[first], "--labels", os.path.join(temp, first + ".labels"),
                           "--target", files[target], *common]
                yield f"{name}:{first}-{target},transfer,{method},{seed}", command
                if name in BRIDGED and method in BRIDGING and target == same[0]:
                    yield (f"{name}:{first}-{same[1]}-{target},transfer,{method},{seed}", [*command, "--bridge", files[same[1]]])


def ways_of(name, folder, temp):
    """(key, command) of the other ways to run auto."""
    cuts = {}
    for way, (most, words) in WAYS.items():
        if most not in cuts:
            place = os.path.join(temp, str(most))
            os.mkdir(place)
            stems = {s: v for s, v in sets_of(folder).items() if ALONE.get(name, s) == s}
            cuts[most] = {s: cut(path, kind, place, s, most) for s, (path, kind) in stems.items()}
            for stem, (_, classes) in cuts[most].items():
                with open(os.path.join(place, stem + ".known"), "w") as f:
                    f.writelines((c if i % 10 == 0 else "?") + "\n" for i, c in enumerate(classes))
        files = [path for path, _ in cuts[most].values()]
        counts = [len(set(classes)) for _, classes in cuts[most].values()]
        known = ",".join(os.path.join(temp, str(most), s + ".known") for s in cuts[most])
        values = {"k": ",".join(map(str, counts)), "low": max(2, min(counts) - 1), "high": max(3, max(counts) + 1), "known": known}
        yield (f"{name},cluster:{way},auto,1",
               ["cluster", *(w.format(**values) for w in words), *(["--missing", "mean"] if files[0].endswith(".csv") else []), "--seed", "1",
                "--threads", "1", "-q", "--no-progress", *files])


def untimed(value):
    """A part of result.json without what differs between two runs."""
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if k not in TIMES}
    return [untimed(v) for v in value] if isinstance(value, list) else value


def hash_of(value):
    return hashlib.sha256(json.dumps(value, separators=(",", ":")).encode()).hexdigest()[:16]


def result_of(program, command):
    """(hash of the labels, last objective, hash of the result of auto), or the exit status of a run that was refused."""
    done = subprocess.run([program, *command], capture_output=True, text=True, timeout=900,
                          env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    if done.returncode != 0:
        return f"status {done.returncode}", "", ""
    result = json.loads(done.stdout)
    trace = result["objective"]
    whole = hash_of(untimed(result)) if result["method"] == "auto" else ""
    return hash_of([t["labels"] for t in result["tasks"]]), f"{trace[-1]:.12g}" if trace else "", whole


def same(a, b):
    if a[0] != b[0] or bool(a[1]) != bool(b[1]) or (a[2] and b[2] and a[2] != b[2]):
        return False
    return not a[1] or abs(float(a[1]) - float(b[1])) <= 1e-7 * max(abs(float(a[1])), abs(float(b[1])))


def read(path):
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        rows = [line.rstrip("\n").split(",") for line in f if not line.startswith("#")]
    return {",".join(r[:4]): (r[4], r[5], r[6] if len(r) > 6 else "") for r in rows[1:]}


def write(path, rows):
    with open(path, "w") as f:
        f.write("# Made by tests/regress/labels.py --write; see tests/golden/README.md.\n")
        f.write("collection,command,method,seed,labels,objective,result\n")
        f.writelines(f"{key},{labels},{objective},{whole}\n" for key, (labels, objective, whole) in sorted(rows.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file", nargs="?", default=os.path.join(ROOT, "tests", "golden", "regression.csv"))
    parser.add_argument("--write", action="store_true", help="record the results instead of comparing them")
    parser.add_argument("--only", default="", help="runs whose 'collection,command,method,seed' contains this text")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if not os.path.isdir(DATA):
        print("skipped: no data")
        return 77
    program = os.path.abspath(args.program)
    known, ran, differ, fresh = read(args.file), 0, [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, folder in collections().items():
            with tempfile.TemporaryDirectory(prefix="kindred-regress-") as temp:
                every = itertools.chain(runs_of(program, name, folder, temp), ways_of(name, folder, temp))
                runs = [r for r in every if args.only in r[0]]
                for (key, command), found in zip(runs, pool.map(lambda r: result_of(program, r[1]), runs)):
                    ran += 1
                    if args.write:
                        known[key] = found
                    elif key not in known:
                        fresh += 1
                        print(f"{key}: not on record; --write records it", flush=True)
                    elif not same(found, known[key]):
                        differ.append(key)
                        print(f"{key}: {known[key]} was, {found} is", flush=True)
            print(f"{name}: {len(runs)} runs", flush=True)
            if args.write:
                write(args.file, known)
    print(f"{ran} runs, {len(differ)} differ, {fresh} not on record")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
