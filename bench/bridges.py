#!/usr/bin/python3
"""Which bridge: by what comes back over it, and by the shorter way. SPDX-License-Identifier: BSD-3-Clause

usage: bench/bridges.py KINDRED [--keep FILE] [--minutes M] [--splits N]

Every ordered pair of sets of reviews and of universities with each of the other two as a bridge, and the six tasks of 20 Newsgroups
(newsgroups_tasks.py, idf of all sets) with four bridges each. All candidates are fitted by ttl; bench/bridge_docs.py makes the
table of docs/through-a-bridge.md of what is kept."""

import argparse
import itertools
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import scipy.io

import bridge_docs
import common
import newsgroups_tasks as ng
import transfer_tasks as tt

SUBJECTS = {
    "rec": ["rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey"],
    "comp": ["comp.graphics", "comp.os.ms-windows.misc", "comp.sys.mac.hardware", "comp.windows.x"],
    "sci": ["sci.crypt", "sci.electronics", "sci.med", "sci.space"],
    "talk": ["talk.politics.guns", "talk.politics.mideast", "talk.politics.misc", "talk.religion.misc"],
}

def ask(kindred, source, labels, target, truth, bridges):
    """The bridges of a run, with accuracies."""
    args = [kindred, "transfer", "-m", "ttl", "-q", "--source", source, "--labels", labels, "--target", target, "--truth", truth,
            "--weight", "tfidf", "--norm", "l2"]
    for b in bridges:
        args += ["--bridge", b]
    done = subprocess.run(args, check=True, stdout=subprocess.PIPE)
    return [{k: v for k, v in b.items() if k != "path"} for b in json.loads(done.stdout)["bridges"]]


def files(folder, sets):
    """(key, run) of every pair."""
    def path(name):
        return next(str(p) for p in (common.DATA / folder).glob(name + ".mtx*"))

    for s, t in itertools.permutations(sets, 2):
        others = [path(i) for i in sets if i not in (s, t)]
        yield "%s %s %s" % (folder, s, t), lambda k, s=s, t=t, others=others: ask(
            k, path(s), str(common.DATA / folder / (s + ".labels")), path(t), str(common.DATA / folder / (t + ".labels")), others)


def newsgroups(splits):
    data = []

    def run(kindred, name, seed):
        data[:] = data or [ng.load()]
        s, _, t = ng.TASKS[name]
        a, b = name.split("-")
        pairs = itertools.product([g for g in SUBJECTS[a] if g not in (s[0], t[0])], [g for g in SUBJECTS[b] if g not in (s[1], t[1])])
        with tempfile.TemporaryDirectory() as folder:
            xs, ys = ng.counts(data[0], (s, *pairs, t), seed)
            bridges = ["%s/b%d.mtx" % (folder, i) for i in range(len(xs) - 2)]
            for path, x in zip(bridges, xs[1:-1]):
                scipy.io.mmwrite(path, x)
            for part, x, y in (("s", xs[0], ys[0]), ("t", xs[-1], ys[-1])):
                scipy.io.mmwrite("%s/%s.mtx" % (folder, part), x)
                pathlib.Path(folder, part + ".labels").write_text("".join("%d\n" % c for c in y))
            return ask(kindred, folder + "/s.mtx", folder + "/s.labels", folder + "/t.mtx", folder + "/t.labels", bridges)

    for seed, name in itertools.product(range(splits), ng.TASKS):
        yield "20ng %s %d" % (name, seed), lambda k, name=name, seed=seed: run(k, name, seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kindred")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--splits", type=int, default=1)
    args = parser.parse_args()
    if not (common.DATA / "amazon_sentiment4").exists():
        print("skipped: no data")
        return
    until = time.monotonic() + 60 * args.minutes
    found = json.loads(args.keep.read_text()) if args.keep and args.keep.exists() else {}
    for key, run in itertools.chain(files("webkb4", tt.WEBKB), newsgroups(args.splits), files("amazon_sentiment4", tt.AMAZON)):
        if key in found or time.monotonic() > until:
            continue
        found[key] = run(args.kindred)
        if args.keep:
            args.keep.write_text(json.dumps(found))
    print("\n".join(bridge_docs.rules(found)))


if __name__ == "__main__":
    main()
