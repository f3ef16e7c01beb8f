#!/usr/bin/python3
"""Can what is known of a task mend the confidence of its answers? SPDX-License-Identifier: BSD-3-Clause

usage: bench/transfer_calibration.py DIR

DIR has what `bench/transfer_table.py --keep DIR` left. A logistic regression of right answers on the confidence and what is known of the task is fitted to
all collections but one, each weighing the same, and tried on that one. gap: mean over tasks of |mean confidence - accuracy|; then confidence less accuracy by
collection, each as it is when left out."""

import collections
import itertools
import pathlib
import sys

import numpy as np

KNOWN = ["source accuracy", "A-distance", "log classes", "shares moved", "members' disagreement"]
TRIED = [(), (0,), (1,), (2,), (3,), (4,), (0, 1, 2), (0, 1, 2, 3, 4)]


def read(path):
    with np.load(path) as f:
        got = dict(f)
    votes = [v for v in got["votes"] if v[0] >= 0]
    differ = np.mean([np.mean(a != b) for a, b in itertools.combinations(votes, 2)])
    name = path.name.split("_")[0]
    return {"collection": name if name != "20ng" else "20NG, 3-4 classes" if "4task" in path.name else "20NG, 2 classes",
            "sure": got["sure"], "right": (got["answer"] == got["truth"]).astype(float),
            "known": [float(got["cv"]), float(got["distance"]), np.log(float(got["classes"])), float(got["moved"]), differ]}


def features(task, use):
    s = np.clip(task["sure"], 0.02, 0.98)
    return np.column_stack([np.log(s / (1 - s))] + [np.full(len(s), task["known"][u]) for u in use])


def left_out(tasks, use):
    """Confidences of all tasks, mended by what the other collections taught."""
    from sklearn.linear_model import LogisticRegression

    out = {}
    for name in sorted({t["collection"] for t in tasks}):
        others = [t for t in tasks if t["collection"] != name]
        count = collections.Counter(t["collection"] for t in others)
        x, y = np.concatenate([features(t, use) for t in others]), np.concatenate([t["right"] for t in others])
        weight = np.concatenate([np.full(len(t["sure"]), 1 / (count[t["collection"]] * len(t["sure"]))) for t in others])
        mean, scale = x.mean(0), x.std(0) + 1e-9
        model = LogisticRegression(C=1e6, max_iter=500).fit((x - mean) / scale, y, sample_weight=weight * len(y) / weight.sum())
        for i, t in enumerate(tasks):
            if t["collection"] == name:
                out[i] = model.predict_proba((features(t, use) - mean) / scale)[:, 1]
    return [out[i] for i in range(len(tasks))]


def main():
    tasks = [read(p) for p in sorted(pathlib.Path(sys.argv[1]).glob("*_800_[0-9].npz"))]
    names = sorted({t["collection"] for t in tasks})
    print("%d tasks and draws" % len(tasks))
    print("| mended by | gap | " + " | ".join(names) + " |\n|---|" + "---:|" * (len(names) + 1))
    for label, sures in [("nothing: as it is", [t["sure"] for t in tasks])] + [
            (" + ".join(["confidence"] + [KNOWN[u] for u in use]), left_out(tasks, use)) for use in TRIED]:
        over = np.array([s.mean() - t["right"].mean() for t, s in zip(tasks, sures)])
        print("| %s | %.3f | %s |" % (label, np.abs(over).mean(), " | ".join(
            "%+.3f" % over[[t["collection"] == n for t in tasks]].mean() for n in names)), flush=True)


if __name__ == "__main__":
    main()
