#!/usr/bin/python3
"""Measures what known classes of a few samples do for `cluster`. SPDX-License-Identifier: BSD-3-Clause

usage: bench/known.py [--kindred PATH] [--jobs N] [--size N] [--draws N] [--only TEXT] [--method METHOD] [--out FILE.csv]

For each collection of KINDRED_DATA (those of bench/auto.py, and the tables), at most --size samples per data set (400; 0: all) are clustered without
known classes, and with the classes of 1 %, 5 % and 10 % of the samples, drawn at random. NMI is computed on the samples whose class was not given in
the run with known classes, for both answers. Writes bench/results/known.csv (or --out), one row per data set, draw and share; docs/known.md shows its means."""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import subprocess
import tempfile

import auto
import common
import numpy as np
from sklearn.metrics import normalized_mutual_info_score

SHARES = (0.01, 0.05, 0.1)
FIELDS = ["collection", "task", "samples", "draw", "share", "unsupervised", "known"]
# The constants of engine/ensemble/steer.c were chosen on these.
CHOSEN_ON = {"webkb4", "20ng_comp_vs_sci", "reuters3", "cluto_trec", "cluto_sjmn", "amazon_sentiment4", "nuswide10:text", "20ng_full", "la12"}


def table_folders():
    """Collections of tables: (name, [(file, classes)])."""
    for kind in ("tables", "tables_made"):
        for folder in sorted(p for p in (common.DATA / kind).glob("*") if p.is_dir()):
            yield f"{kind}/{folder.name}", sorted(folder.glob("*.csv"))


def draw_tables(files, size, seed, folder):
    """Copies of tables without the column `label`, and their classes."""
    out = []
    for number, path in enumerate(files):
        with open(path, newline="", encoding="utf-8") as f:
            head, *rows = list(csv.reader(f))
        beside = path.with_suffix(".labels")
        labels = beside.read_text().split("\n")[:len(rows)] if beside.exists() else [r[head.index("label")] for r in rows]
        keep = np.arange(len(rows))
        if len(rows) > size:
            keep = np.sort(np.random.default_rng(1000 * seed + number).choice(keep, size, replace=False))
        columns = [c for c, name in enumerate(head) if name != "label" or beside.exists()]
        with open(folder / path.name, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([[r[c] for c in columns] for r in [head] + [rows[i] for i in keep]])
        (folder / beside.name).write_text("".join(labels[i] + "\n" for i in keep))
        out.append((path.stem, folder / path.name, folder / beside.name))
    return out


def cluster(args, folder, tasks, ks, known=None):
    """The labels of each data set."""
    command = [str(args.kindred), "cluster", "-q", "--force", "--threads", "1", "--seed", "1", "-m", args.method, "-k", ",".join(map(str, ks)), "-o", str(folder / "out")]
    command += ["--known", ",".join(map(str, known))] if known else []
    command += ["--header"] if tasks[0][1].suffix == ".csv" else []
    subprocess.run(command + [str(path) for _, path, _ in tasks], check=True, capture_output=True)
    return [t["labels"] for t in json.loads((folder / "out" / "result.json").read_text())["tasks"]]


def measure(args, title, files, draw):
    """The rows of one draw of a collection."""
    out, size = [], args.size or 10**9
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tasks = draw_tables(files, size, draw, folder) if files else auto.draw(auto.tasks_of(title), size, draw, folder)
        truth = [np.array(labels.read_text().removesuffix("\n").split("\n")) for _, _, labels in tasks]
        # Data sets with the same classes share their numbers; otherwise each has its own names.
        same = len({frozenset(y) for y in truth}) == 1
        ks = [len(set(y)) for y in truth]
        before = cluster(args, folder, tasks, ks)
        for share in SHARES:
            given, files_known = [], []
            for t, y in enumerate(truth):
                rng = np.random.default_rng([draw, t, round(1000 * share)])
                rows = rng.permutation(len(y))[:max(1, round(share * len(y)))]
                given.append(np.isin(np.arange(len(y)), rows))
                files_known.append(folder / f"{t}.known")
                files_known[-1].write_text("".join((c if g else "?") + "\n" for c, g in zip(y, given[-1])))
            if same:
                after = cluster(args, folder, tasks, ks, files_known)
            else:  # one list of classes would be longer than k
                after = [cluster(args, folder, tasks, ks, [f if s == t else "?" for s, f in enumerate(files_known)])[t] for t in range(len(tasks))]
            for t, (stem, _, _) in enumerate(tasks):
                others = ~given[t]
                scores = [normalized_mutual_info_score(truth[t][others], np.array(labels[t])[others], average_method="geometric") for labels in (before, after)]
                out.append([title, stem, len(truth[t]), draw, share, *("%.6f" % s for s in scores)])
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kindred", type=pathlib.Path, default=common.ROOT / "build" / "release" / "cli" / "kindred", help="the program")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--size", type=int, default=400, help="samples per data set (0: all)")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--only", default="", help="collections whose name contains this text")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--out", type=pathlib.Path, default=common.RESULTS / "known.csv")
    args = parser.parse_args()
    wanted = [(title, None) for title in auto.SETS if (common.DATA / auto.SETS[title][0]).is_dir()] + list(table_folders())
    todo = [(title, files, draw) for title, files in wanted if args.only in title for draw in range(args.draws)]
    if not todo:
        print("skipped: no data")
        return 77
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(lambda job: measure(args, *job), todo):
            rows += found
            print(found[0][0], found[0][3], " ".join("%+.3f" % np.mean([float(r[6]) - float(r[5]) for r in found if r[4] == s]) for s in SHARES), flush=True)
    with open(args.out, "w", newline="", encoding="utf-8") as f:
        f.write(f"# bench/known.py --size {args.size} --draws {args.draws} --method {args.method}\n")
        csv.writer(f, lineterminator="\n").writerows([FIELDS] + rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
