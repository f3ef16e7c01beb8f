#!/usr/bin/env python3
"""How often auto's number of clusters is right, with collections left out. SPDX-License-Identifier: BSD-3-Clause

    bench/auto_k.py gather build/release/cli/kindred k.jsonl [--size 400] [--seeds 2] [--classes] [--minutes 5]
    bench/auto_k.py table k.jsonl

`gather` writes the three curves that `-k auto` looks at (gap, modularity, agreement; src/methods/auto/guess_k.c) of draws of every
collection in KINDRED_DATA, a line a draw; it passes over those that are there already. --classes draws tasks of 2 to 10 of
the classes of a set instead, so that there are more numbers to guess than the collections have. `table` prints how
often rules are right, and for what is chosen (weights of the curves, the bound of "fairly sure", the width of the
range) the same with the choice made on the other collections each time."""
import argparse
import itertools
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import auto_left_out as left
import auto_table
import common

CURVES = {"gap": "eigengap", "modularity": "modularity", "agreement": "agreement"}
SOME = [("20ng_full", "all"), ("dmoz4", "computers"), ("dmoz4", "health"), ("dmoz4", "science"), ("dmoz4", "sports"),
        ("handdigits", "mnist"), ("handdigits", "usps"), ("cluto_ohscal", "ohscal"), ("la12", "la1"), ("nuswide10", "text"),
        ("cluto_sjmn", "hitech"), ("cluto_sjmn", "reviews"), ("cluto_trec", "tr11"), ("cluto_trec", "tr45")]
# what guess_k.c does
RULE, NEARLY, AGREED = {"gap": 1, "modularity": 1}, 0.3, 0.85


def some_classes(task, size, seed, folder):
    """A copy of the task with 2 to 10 of its classes of 25 samples (60 where there are many) and more."""
    name, matrix, labels = task
    x, classes = auto_table.load(matrix, labels)
    classes = np.array(classes)
    rng = np.random.default_rng([seed, sum(map(ord, matrix.parent.name + name))])
    names, counts = np.unique(classes, return_counts=True)
    large = names[counts >= (25 if len(classes) < 1000 else 60)]
    chosen = rng.choice(large, int(rng.integers(2, min(10, len(large)) + 1)), replace=False)
    rows = auto_table.some_rows(rng, np.flatnonzero(np.isin(classes, chosen)), size)
    return auto_table.write(name, x[rows], classes[rows], folder)


def gather(args):
    end = time.monotonic() + 60 * args.minutes if args.minutes else float("inf")
    done = {(d["set"], d["seed"]) for d in left.load(args.runs)} if os.path.exists(args.runs) else set()
    sets = [(name, [task]) for name, task in SOME] if args.classes else left.COLLECTIONS
    order = itertools.product(range(1, args.seeds + 1), sets)
    if args.classes:  # all draws of a set after each other: it is read once
        order = ((seed, one) for one in sets for seed in range(1, args.seeds + 1))
    for seed, (name, wanted) in order:
        title = name + ("" if not wanted else ":" + "+".join(wanted))
        if (title, seed) in done:
            continue
        if time.monotonic() > end:
            return
        with tempfile.TemporaryDirectory() as folder:
            tasks = auto_table.tasks_of(name, wanted)
            tasks = [some_classes(tasks[0], args.size, seed, folder)] if args.classes else auto_table.draw(tasks, args.size, seed, folder)
            arrays = pathlib.Path(folder) / "arrays"
            quick = ["--no-transfer", "--set", "seeds=1", "--set", "n_init=1"]  # the curves do not see members
            left.run(os.path.abspath(args.program), tasks, "auto", seed, [*quick, "--arrays", str(arrays)])
            line = {"set": title, "source": left.SOURCES.get(name, name), "seed": seed, "tasks": [t[0] for t in tasks],
                    "k": [auto_table.classes(t[2]) for t in tasks]}
            for key, file in CURVES.items():
                line[key] = [[round(float(v), 5) for v in np.load(arrays / f"{file}.{t[0]}.npy")] for t in tasks]
            left.write(args.runs, line)


def in_range(v):
    return (v - v.min()) / max(v.max() - v.min(), 1e-12)


class Runs:
    """Groups of tasks that have one k: all of a draw, or each."""

    def __init__(self, lines, one):
        self.groups, self.k, self.source = [], [], []
        for d in lines:
            every = range(len(d["k"]))
            for group in [list(every)] if one else [[t] for t in every]:
                length = min(len(d["gap"][t]) for t in group)
                curves = {key: np.array([d[key][t][:length] for t in group]) for key in CURVES}
                for t in group:
                    self.groups.append(curves)
                    self.k.append(d["k"][t])
                    self.source.append(d["source"])
        self.k, self.source = np.array(self.k), np.array(self.source)

    def scores(self, rule):
        return [sum(w * np.mean([in_range(v) for v in g[key]], axis=0) for key, w in rule.items()) for g in self.groups]

    def guess(self, rule):
        return np.array([2 + int(np.argmax(s)) for s in self.scores(rule)])

    def agreement(self, guess):
        return np.array([g["agreement"].mean(0)[k - 2] for g, k in zip(self.groups, guess)])

    def ranges(self, rule, nearly):
        near = [np.flatnonzero(s >= s.max() - nearly) + 2 for s in self.scores(rule)]
        return (np.array([r.min() <= k <= r.max() for r, k in zip(near, self.k)]),
                np.array([r.max() - r.min() + 1 for r in near]))

    def others(self):
        """(the tasks of all other collections, those of this one)"""
        for name in sorted(set(self.source)):
            yield self.source != name, self.source == name


def chosen_elsewhere(runs, values, good):
    """Of `values` (choices x tasks) the one that `good` (choice, tasks) likes best on the other collections."""
    out = np.zeros(len(runs.k))
    for rest, own in runs.others():
        out[own] = values[max(range(len(values)), key=lambda c: good(c, rest))][own]
    return out


def table(args):
    lines = left.load(args.runs)
    grid = [dict(zip(CURVES, w)) for w in itertools.product((0, 0.5, 1, 2), repeat=3) if any(w)]
    print("| one k for | rule | exact | within one | of | mean error of ln k |\n|---|---|---:|---:|---:|---:|")
    for one in (True, False):
        r = Runs(lines, one)
        guesses = {"gap": r.guess({"gap": 1}), "gap and modularity": r.guess(RULE),
                   "agreement and modularity": r.guess({"agreement": 1, "modularity": 1}),
                   "all three": r.guess(dict.fromkeys(CURVES, 1))}
        every = np.array([r.guess(rule) for rule in grid])
        even = np.array([1 / (r.source == s).sum() for s in r.source])

        def good(c, rest):
            w, off = even * rest, np.abs(np.log(every[c] / r.k))
            return w @ (every[c] == r.k) + w @ (np.abs(every[c] - r.k) <= 1) - w @ off

        guesses["chosen on the others"] = chosen_elsewhere(r, every, good)
        for name, g in guesses.items():
            print("| %s | %s | %d | %d | %d | %.2f |" % ("all" if one else "each", name, (g == r.k).sum(), (abs(g - r.k) <= 1).sum(),
                                                      len(g), np.abs(np.log(g / r.k)).mean()))
    for one in (True, False):
        r, name = Runs(lines, one), "one for all" if one else "one for each"
        g = r.guess(RULE)
        right, sure = g == r.k, r.agreement(g)
        said = sure >= AGREED
        print("\n%s: fairly sure %d of %d; not sure %d of %d, within one %d" % (
            name, (said & right).sum(), said.sum(), (~said & right).sum(), (~said).sum(), (~said & (abs(g - r.k) <= 1)).sum()))
        for wanted in (0.8, 0.9):
            hit = total = 0
            for rest, own in r.others():
                for bound in np.arange(0.6, 1, 0.01):
                    q = (sure >= bound) & rest
                    if q.sum() >= 3 and (q & right).sum() >= wanted * q.sum():
                        hit, total = hit + ((sure >= bound) & own & right).sum(), total + ((sure >= bound) & own).sum()
                        break
            print("  the lowest bound that is right %d of 10 on the others: %d of %d" % (10 * wanted, hit, total))
        holds, width = r.ranges(RULE, NEARLY)
        print("  the range holds k: %d of %d, %.1f wide" % (holds.sum(), len(holds), width.mean()))
        every = [r.ranges(RULE, v) for v in np.arange(0.1, 1.6, 0.1)]
        hit, wide = 0, []
        for rest, own in r.others():
            holds, width = next((e for e in every if e[0][rest].mean() >= 0.8), every[-1])
            hit, wide = hit + holds[own].sum(), wide + list(width[own])
        print("  one that holds it 8 of 10 on the others: %d of %d, %.1f wide" % (hit, len(r.k), np.mean(wide)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    g = commands.add_parser("gather")
    g.add_argument("program")
    g.add_argument("runs", help="a line a draw; added to")
    g.add_argument("--size", type=int, default=400)
    g.add_argument("--seeds", type=int, default=2)
    g.add_argument("--classes", action="store_true", help="tasks of some of the classes of each set")
    g.add_argument("--minutes", type=float, default=0)
    t = commands.add_parser("table")
    t.add_argument("runs")
    args = parser.parse_args()
    if not common.DATA.is_dir():
        print("skipped: no data")
        return 0
    {"gather": gather, "table": table}[args.command](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
