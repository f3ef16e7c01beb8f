#!/usr/bin/python3
"""Measures `cluster` with a range of six numbers of clusters: time and quality. SPDX-License-Identifier: BSD-3-Clause

usage: bench/levels.py [auto] [methods] [--build DIR] [--out FILE.csv] [--size N] [--minutes M] [--only TEXT]

auto (the default), and methods: the processor times of the other methods on the collections of METHOD_SETS.

For every collection in KINDRED_DATA, every folder of tables and tables_made, and generated data, with at most --size samples per data set (300; methods: 1,000): the
processor time, one thread, of a range and of its largest number alone; and the NMI with the known classes, at their true number, of
a run with that number alone and of the level of the range. The range begins one below the number of classes (at 2 or above).

Writes bench/results/levels.csv, or levels_methods.csv, or --out, one collection after the other; a later call continues, and --minutes limits its time.
docs/levels.md has the tables. Settings were chosen on CHOSEN; the other collections were measured once, at the end."""

import json
import pathlib
import subprocess
import sys
import tempfile

import auto
import common

CHOSEN = ["webkb4", "20ng_4task", "sc_mixology3", "cluto_trec", "tables/adult", *(f"tables_made/d{i}" for i in (1, 3, 5, 7, 9)), "generated blobs"]
SPAN = 6
GENERATED = {"generated blobs": ["--design", "blobs", "--tasks", "1", "-k", "5", "-n", "1000", "-d", "10", "--separation", "4"],
             "generated topics": ["--design", "topics", "-k", "5", "-n", "400"],
             "generated tables": ["--design", "tables", "--tasks", "2", "-k", "5", "-n", "400"]}
METHOD_SETS = ["reuters3", "nuswide10:image", "generated blobs", "tables/german"]
COMPUTED_ONCE = {"ncut": "neighbour graph", "pca-kmeans": "principal directions", "mtcfir": "learnt features"}
METHOD_HEAD = ["method", "set", "size", "largest_s", "range_s"]
HEAD = ["set", "size", "classes", "range", "suggested", "largest_s", "range_s", "alone", "level"]


def titles():
    return [*auto.SETS, *auto.folders("tables"), *auto.folders("tables_made"), *GENERATED]


def data_of(args, title, size, room):
    """Input files, options for their known classes, and the number of classes of each data set."""
    room = pathlib.Path(room)
    if title in GENERATED:
        subprocess.run([args.program, "generate", *GENERATED[title], "--seed", "5", "-q", "-o", room], check=True)
        tasks = [(p.stem, p, p.with_suffix(".labels")) for p in sorted(room.iterdir()) if p.suffix in (".csv", ".mtx") and p.stem.startswith("task")]
    elif "/" not in title:
        tasks = auto.draw(auto.tasks_of(title), size, 1, room) if size else auto.tasks_of(title)
    else:
        return tables_of(title, size, room)
    return [f"{t[0]}={t[1]}" for t in tasks], ["--truth", ",".join(str(t[2]) for t in tasks)], [auto.classes(t) for t in tasks]


def tables_of(title, size, room):
    """The same for a folder of tables: evenly spaced rows, one number of classes for all tables."""
    made, files, truth, seen = title.startswith("tables_made/"), [], [], set()
    for path in sorted((common.DATA / title).glob("*.csv")):
        head, *lines = path.read_text().splitlines()
        step = max(1, -(-len(lines) // size)) if size else 1
        files.append(room / path.name)
        files[-1].write_text("\n".join([head, *lines[::step]]) + "\n")
        if made:
            names = path.with_suffix(".labels").read_text().split()[::step]
            truth.append(room / (path.stem + ".labels"))
            truth[-1].write_text("\n".join(names) + "\n")
            seen |= set(names)
        else:
            column = head.split(",").index("label")
            seen |= {line.split(",")[column] for line in lines}
    return files, ["--truth", ",".join(map(str, truth))] if made else ["--label-column", "label"], [len(seen)] * len(files)


def call(args, files, k, *more, optional=False):
    """result.json of a run with one thread, and its processor time."""
    return common.program_timed(args, "cluster", "--threads", 1, "--seed", 1, "-k", k, *more, *files, optional=optional)


def joined(values):
    """One value if all are equal, otherwise one for each data set."""
    return str(values[0]) if len(set(values)) == 1 else ",".join(map(str, values))


def range_of(k):
    """The range as text, and its largest numbers."""
    below = 1 if min(k) > 2 else 0
    return joined([f"{v - below}-{v - below + SPAN - 1}" for v in k]), joined([v - below + SPAN - 1 for v in k])


def rows_of(args, key):
    with tempfile.TemporaryDirectory() as room:
        files, known, k = data_of(args, key[0], int(key[1]), room)
        text, largest = range_of(k)
        ranged, range_s = call(args, files, text, *known)
        _, largest_s = call(args, files, largest, *known)
        alone, _ = call(args, files, joined(k), *known)
    level = next(x for x in ranged["levels"] if [t["k"] for t in x["tasks"]] == k)
    nmi = [" ".join("%.4f" % t["metrics"]["nmi"] for t in r["tasks"]) for r in (alone, level)]
    return [[joined(k), text, joined([t["k"] for t in ranged["tasks"]]), "%.2f" % largest_s, "%.2f" % range_s, *nmi]]


def method_rows(args, key):
    with tempfile.TemporaryDirectory() as room:
        files, known, k = data_of(args, key[1], int(key[2]), room)
        range_s, largest_s = (call(args, files, numbers, "-m", key[0], *known, optional=True)[1] for numbers in range_of(k))
    return [["", ""] if None in (range_s, largest_s) else ["%.3f" % largest_s, "%.3f" % range_s]]


def methods_of(args):
    """Methods of cluster other than auto."""
    found = json.loads(subprocess.run([args.program, "methods", "--json"], capture_output=True, text=True, check=True).stdout)
    return [m["id"] for m in found if m["family"] == "cluster" and m["id"] != "auto"]


# --- tables --------------------------------------------------------------------------------------------------------------

TABLE_HEAD = ["data", "collections", "time of the range / of its largest number", "most", "NMI alone", "NMI of the level", "largest loss"]


def kind_of(title):
    if title in GENERATED:
        return "generated"
    return {"tables": "real tables", "tables_made": "made tables"}.get(title.split("/")[0] if "/" in title else "", "text, images, cells")


def table(rows):
    """One row per kind of data; collections that settings were chosen on apart."""
    out = []
    for chosen in (False, True):
        for kind in ("text, images, cells", "real tables", "made tables", "generated"):
            own = [r for r in rows if kind_of(r["set"]) == kind and (r["set"] in CHOSEN) == chosen]
            if not own:
                continue
            ratio = [float(r["range_s"]) / float(r["largest_s"]) for r in own]
            alone, level = ([[float(v) for v in r[c].split()] for r in own] for c in ("alone", "level"))
            change = [b - a for x, y in zip(alone, level) for a, b in zip(x, y)]
            out.append([kind + (", used for choices" if chosen else ""), len(own), "%.2f" % auto.mean(ratio), "%.2f" % max(ratio),
                        *("%.3f" % auto.mean(v for x in side for v in x) for side in (alone, level)), ("%.3f" % -min(min(change), 0)).replace("-0.000", "0.000")])
    return out


METHOD_TABLE_HEAD = ["method", "computed once", *METHOD_SETS]


def method_table(rows):
    """One row per method: the time of the range divided by that of its largest number, for each collection."""
    ratio = {(r["method"], r["set"]): "%.1f" % (float(r["range_s"]) / float(r["largest_s"])) if r["range_s"] else "–" for r in rows}
    names = list(dict.fromkeys(r["method"] for r in rows))
    return [[f"`{m}`", COMPUTED_ONCE.get(m, "–"), *(ratio.get((m, s), "–") for s in METHOD_SETS)] for m in names]


def measure_methods(args):
    keys = [(m, s, str(1000 if args.size is None else args.size)) for m in methods_of(args) for s in METHOD_SETS]
    found = common.Table(args.out or common.RESULTS / "levels_methods.csv", METHOD_HEAD, keys, "bench/levels.py methods")
    found.fill(lambda key: method_rows(args, key), args.minutes, args.only)
    for r in method_table([dict(zip(METHOD_HEAD, r)) for every in found.rows.values() for r in every]):
        print("| %s |" % " | ".join(r), flush=True)


def measure(args):
    found = common.Table(args.out or common.RESULTS / "levels.csv", HEAD, [(title, str(300 if args.size is None else args.size)) for title in titles()], "bench/levels.py")
    found.fill(lambda key: rows_of(args, key), args.minutes, args.only)
    rows = [dict(zip(HEAD, r)) for every in found.rows.values() for r in every]
    print("\n| %s |\n|---|%s" % (" | ".join(TABLE_HEAD), "---:|" * (len(TABLE_HEAD) - 1)))
    print("\n".join("| %s |" % " | ".join(map(str, r)) for r in table(rows)), flush=True)


def main():
    cases = {"auto": measure, "methods": measure_methods}
    args = common.arguments(__doc__, cases, default=["auto"],
                            more=[("--size", dict(type=int)), ("--minutes", dict(type=float, default=1e6)), ("--only", dict(default=""))])
    return common.run_cases(cases, args)


if __name__ == "__main__":
    sys.exit(main())
