#!/usr/bin/python3
"""Collects the rows of the papers' tables: those of `python -m kindred.bench all`, and those of scikit-learn and POT. SPDX-License-Identifier: BSD-3-Clause

usage: bench/papers.py [CASE...] [--build DIR] [--out FILE.csv] [--rows DIR] [--minutes M] [--only TEXT]

rows   runs `python -m kindred.bench all -o DIR` (--rows; --only is passed on), which keeps one file per row and continues an interrupted run. The rows in DIR
       replace the same rows of bench/results/papers.csv (--out)
peers  runs alternatives on the tables that use complete files, with the same preprocessing, samples and numbers of clusters: KMeans,
       SpectralClustering (10 nearest neighbours), AgglomerativeClustering (Ward) and BayesianGaussianMixture on each data set separately. Tables with a
       source and a target get a logistic regression after POT's SinkhornTransport. All except KMeans get at most 100 leading directions
       (TruncatedSVD), because they need dense data. At most 3 repeats; data sets of more than 12,000 samples and rows that the file already has are
       skipped

papers.csv has one line per row, setting and data set, with the values of all repeats of each score. papers-records.csv has the processor time of
each row, and the relatedness, discrepancies and objectives that docs/notes/reproduction.md shows. bench/docs.py writes that page."""

import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

import auto
import common

SCORES = ["acc", "nmi", "ari"]
HEAD = ["preset", "table", "row", "method", "setting", "task", *SCORES]
RECORDS = ["preset", "table", "row", "setting", "name", "values"]
KEPT = ["objective", "relatedness", "mmd2_linear", "mmd2_gauss", "d_m_uniform.X1.X2"]
RESULTS = common.RESULTS / "papers.csv"
MASK = (1 << 64) - 1
MOST_ROWS, MOST_REPEATS = 12000, 3


def plans():
    """The presets that are tables of a paper, by name."""
    found = {p.stem: json.loads(p.read_text()) for p in sorted((common.ROOT / "bench" / "plans").glob("*.json"))}
    return {name: plan for name, plan in found.items() if "paper" in plan}


def words():
    """The comments of docs/notes/reproduction.md on the tables, and the records it shows."""
    return json.loads((common.ROOT / "bench" / "papers.json").read_text())


# --- the files -----------------------------------------------------------------------------------------------------------


def records_of(path):
    return path.with_name(path.stem + "-records.csv")


def numbers(text):
    """Values in one cell; those of failed runs are None."""
    return [None if v == "-" else float(v) for v in text.split()]


def cell(values):
    return " ".join("-" if v is None else f"{v:.6g}" for v in values)


def load(path=RESULTS):
    """{(preset, table, row): {"method", "tasks", "seconds", "lines": [{"setting", "scores": {score: [values of each task]}, "record"}]}}"""
    rows = {}
    for r in common.read_csv(path):
        row = rows.setdefault((r["preset"], r["table"], r["row"]), {"method": r["method"], "tasks": [], "seconds": 0.0, "lines": []})
        if not row["lines"] or row["lines"][-1]["setting"] != r["setting"]:
            row["lines"].append({"setting": r["setting"], "scores": {s: [] for s in SCORES if r[s]}, "record": {}})
        row["tasks"] += [r["task"]] if len(row["lines"]) == 1 else []
        for score, tasks in row["lines"][-1]["scores"].items():
            tasks.append(numbers(r[score]))
    for r in common.read_csv(records_of(path)):
        row = rows[r["preset"], r["table"], r["row"]]
        if r["name"] == "seconds":
            row["seconds"] = float(r["values"])
        else:
            next(line for line in row["lines"] if line["setting"] == r["setting"])["record"][r["name"]] = numbers(r["values"])
    return rows


def save(rows, path, command):
    """In the order of the presets and of their tables and rows; peers last."""
    place = {(name, t["title"]): (i, j) for i, (name, plan) in enumerate(plans().items()) for j, t in enumerate(plan["tables"])}
    order = {(name, t["title"], r.get("name", r.get("method"))): k for name, plan in plans().items() for t in plan["tables"]
             for k, r in enumerate(t.get("rows", plan.get("rows", [])))}
    keys = sorted(rows, key=lambda k: (place.get(k[:2], (99, 99)), k[:2], order.get(k, 99), k))
    lines, records = [], []
    for key in keys:
        records.append([*key, "", "seconds", f"{rows[key]['seconds']:.4g}"])
        for line in rows[key]["lines"]:
            for t, task in enumerate(rows[key]["tasks"]):
                lines.append([*key, rows[key]["method"], line["setting"], task, *(cell(line["scores"][s][t]) if s in line["scores"] else "" for s in SCORES)])
            records += [[*key, line["setting"], name, cell(values)] for name, values in line["record"].items()]
    comment = common.comments(path) or [common.provenance(command)]
    common.write_csv(path, HEAD, lines, comment)
    common.write_csv(records_of(path), RECORDS, records, comment)


def slug(text):
    """As slug() of python/kindred/bench/_rows.py."""
    out = ""
    for c in text:
        if c.isascii() and c.isalnum():
            out += c.lower()
        elif c == "=":
            out += "is"
        elif out and out[-1] != "-":
            out += "-"
    return out[:127].rstrip("-")


def take(folder, rows):
    """Puts the rows that `python -m kindred.bench` left in a folder among `rows`; how many."""
    shown = words()
    recorded = {(key, "MTCFIR") for key in [*shown["alpha"], *shown["mmd"]]} | {tuple(c) for c in shown["convergence"].values()}
    recorded |= {(key, "MBC") for title in shown["d_m"] for key in (f"zz10-curves/{slug(title + ': MBC over lambda')}", f"zz10/{slug(title)}")}
    found = [p for p in pathlib.Path(folder).glob("*/*/*.json") if not p.name.endswith(".quick.json")]
    for path in found:
        one = json.loads(path.read_text())
        row = {"method": one["method"], "tasks": one["tasks"], "seconds": one["seconds"], "lines": []}
        for line in one["lines"]:
            kept = {}
            for name in KEPT if (f"{one['preset']}/{slug(one['table'])}", one["row"]) in recorded else []:
                values = line.get("record", {}).get(name, [])  # of each repeat in turn; the objective of the first alone
                first = len(values) if name.startswith("d_m") or name == "objective" else len(values) // one["repeats"]
                kept.update({name: values[:100 if name == "objective" else first]} if values else {})
            row["lines"].append({"setting": line["setting"], "scores": line["scores"], "record": kept})
        rows[one["preset"], one["table"], one["row"]] = row
    return len(found)


def run_rows(args):
    if not args.rows:
        sys.exit("rows: --rows DIR is needed: the folder in which kindred.bench keeps one file per row")
    limit = ["--time-limit", str(60 * args.minutes)] if args.minutes < float("inf") else []
    status = subprocess.call([*args.bench, "all", "-o", args.rows, *limit, *(["--only", args.only] if args.only else [])],
                             env={**os.environ, "KINDRED_DATA": str(common.DATA)})
    if status not in (0, 130):
        sys.exit(status)
    rows = load(args.out or RESULTS)
    print(f"{take(args.rows, rows)} rows of {args.rows}")
    save(rows, args.out or RESULTS, "python -m kindred.bench all -o DIR")


# --- scikit-learn and POT ------------------------------------------------------------------------------------------------


class Random:
    """As Stream of python/kindred/bench/_draw.py."""

    def __init__(self, state):
        self.state = state & MASK

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def read(item):
    """(matrix, classes, name) of a file of a plan."""
    import numpy as np

    plan = {"path": item} if isinstance(item, str) else item
    path = common.DATA / plan["path"]
    if not path.exists():
        raise common.Absent(f"no data in {path}")
    stem, classes = path.name.split(".")[0], plan.get("classes")
    x, labels = auto.load(path), auto.lines(path.parent / (stem + ".labels"))
    if classes:
        names = {old: new for new, olds in (classes.items() if isinstance(classes, dict) else ((c, [c]) for c in classes)) for old in olds}
        keep = np.flatnonzero([c in names for c in labels])
        x, labels = x[keep], np.array([names[c] for c in labels[keep]])
    return x.astype(float), labels, plan.get("name", stem)


def draw(sets, sample, seed):
    """The rows of a repeat, as kindred.bench draws them."""
    random, out = Random(seed ^ 0x6B696E6472656421), []
    for x, labels, name in sets:
        rows, n = [], x.shape[0]
        for i in range(n) if sample and sample < n else ():
            if random() % (n - i) < sample - len(rows):
                rows.append(i)
        out.append((x[rows], labels[rows], name) if rows else (x, labels, name))
    return out


def prepare(xs, table):
    """Weight, norm and scale, fitted on all data sets together; those of one table have the same columns."""
    import numpy as np

    if table.get("weight") == "tfidf":  # always with norm l2
        xs = common.tfidf(xs)
    elif table.get("norm") == "l2":
        xs = [common.unit(x) for x in xs]
    if table.get("scale") == "minmax":
        low, high = np.min([x.min(0) for x in xs], 0), np.max([x.max(0) for x in xs], 0)
        xs = [(x - low) / np.where(high > low, high - low, 1) for x in xs]
    return xs


def directions(x, seed, most=100):
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD

    if not sp.issparse(x) and x.shape[1] <= most:
        return x
    return TruncatedSVD(min(most, min(x.shape) - 1), random_state=seed).fit_transform(x)


def clusterings(seed, k):
    from sklearn import cluster, mixture

    return {
        "scikit-learn KMeans": lambda x: cluster.KMeans(k, n_init=10, random_state=seed).fit_predict(x),
        "scikit-learn SpectralClustering": lambda x: cluster.SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=min(10, x.shape[0] - 1), random_state=seed).fit_predict(directions(x, seed)),
        "scikit-learn AgglomerativeClustering": lambda x: cluster.AgglomerativeClustering(k).fit_predict(directions(x, seed)),
        "scikit-learn BayesianGaussianMixture": lambda x: mixture.BayesianGaussianMixture(
            n_components=k, covariance_type="diag", random_state=seed, max_iter=200).fit_predict(directions(x, seed)),
    }


def pot(source, classes, target, seed):
    """Logistic regression on the source after it has been transported to the target."""
    import numpy as np
    import ot
    import scipy.sparse as sp
    from sklearn.linear_model import LogisticRegression

    both = directions(sp.vstack([source, target]) if sp.issparse(source) else np.vstack([source, target]), seed)
    a, b = both[:source.shape[0]], both[source.shape[0]:]
    number = {c: i for i, c in enumerate(sorted(set(classes)))}
    moved = ot.da.SinkhornTransport(reg_e=.1, norm="max").fit(Xs=a, ys=np.array([number[c] for c in classes]), Xt=b).transform(Xs=a)
    return LogisticRegression(max_iter=1000).fit(moved, classes).predict(b)


def scores(labels, truth, named):
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from sklearn import metrics

    table = metrics.cluster.contingency_matrix(truth, labels)
    rows, cols = linear_sum_assignment(-table)
    return {"acc": np.mean(labels == truth) if named else table[rows, cols].sum() / len(truth),
            "nmi": metrics.normalized_mutual_info_score(truth, labels, average_method="geometric"), "ari": metrics.adjusted_rand_score(truth, labels)}


def able(table):
    """Whether the table is made of entire files alone."""
    items = [i for key in ("data", "source", "target") for i in ([table[key]] if isinstance(table.get(key), (str, dict)) else table.get(key, []))]
    return bool(items) and "bridge" not in table and "curve" not in table and not any(isinstance(i, dict) and ("part" in i or "words" in i) for i in items)


def peer_row(name, sets, table):
    """A row of a peer: scores of each data set over repeats."""
    wanted, transfers = table.get("scores", ["acc", "nmi"]), "target" in table
    names = [sets[1][2]] if transfers else [s[2] for s in sets]
    values, start = {s: [[] for _ in names] for s in wanted}, time.process_time()
    for r in range(min(table.get("repeats", 10), MOST_REPEATS)):
        drawn = draw(sets, table.get("sample", 0), 1 + r)
        xs = prepare([x for x, _, _ in drawn], table)
        if transfers:
            found = [(pot(xs[0], drawn[0][1], xs[1], r), drawn[1][1])]
        else:
            found = [(clusterings(r, len(set(truth)))[name](x), truth) for x, (_, truth, _) in zip(xs, drawn)]
        for t, (labels, truth) in enumerate(found):
            for s, v in scores(labels, truth, transfers).items():
                if s in wanted:
                    values[s][t].append(v)
    return {"method": "peer", "tasks": names, "seconds": time.process_time() - start, "lines": [{"setting": "", "scores": values, "record": {}}]}


def run_peers(args):
    warnings.filterwarnings("ignore")
    rows, until = load(args.out or RESULTS), time.monotonic() + 60 * args.minutes
    for preset, table in ((name, t) for name, plan in plans().items() for t in plan["tables"] if able(t)):
        sets = None
        for name in ["POT SinkhornTransport"] if "target" in table else clusterings(0, 2):
            key = preset, table["title"], name
            if key in rows or args.only not in "/".join(key):
                continue
            if time.monotonic() > until:
                sys.exit("stopped: call it again to continue")
            sets = sets or [read(i) for i in ([table["source"], table["target"]] if "target" in table else table["data"])]
            if max(s[0].shape[0] for s in sets) > MOST_ROWS and not table.get("sample"):
                break
            rows[key] = peer_row(name, sets, table)
            save(rows, args.out or RESULTS, "python -m kindred.bench all -o DIR, bench/papers.py peers")
            print(f"{': '.join(key)}, {rows[key]['seconds']:.1f} s", flush=True)


CASES = {"rows": run_rows, "peers": run_peers}


if __name__ == "__main__":
    sys.exit(common.measure(__doc__, CASES, more=[("--rows", {"metavar": "DIR"})]))
