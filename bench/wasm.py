#!/usr/bin/python3
"""Compares the program as WebAssembly, in node and Chromium, with the native program on one thread. SPDX-License-Identifier: BSD-3-Clause

Needs `make web`. The native program, node and Chromium run in turn, --repeats times; times are the best. With --cpu they are
processor times: for the native program those of its process, including its start; for node and Chromium those of all their threads
and processes during a job. Starting them and compiling the module is a case of its own. Labels must be equal. The column kindred_s is
WebAssembly on one thread, peer_s the native program."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import common
import numpy

BUILD = common.ROOT / "build" / "wasm"
START = "start, and list the methods"


def native(program, args, files, folder):
    """The time of the program, and a digest of the labels."""
    out = folder / "native"
    shutil.rmtree(out, ignore_errors=True)
    (out / "out").mkdir(parents=True)
    for name, path in files.items():
        (out / name).symlink_to(path)
    words = [str(each).replace("/out", "out") for each in args]
    wall, cpu, _ = common.run_timed([program, *words, "--threads", "1"], cwd=out, stdout=subprocess.DEVNULL)
    digest = hashlib.sha256()
    for path in sorted((out / "out").glob("*.labels")):
        digest.update(path.read_bytes())
    return cpu if common.CPU_TIME else wall, digest.hexdigest()


def jobs(folder):
    """(case, arguments, {name: path})"""
    random = numpy.random.default_rng(1)
    centres = 4 * random.normal(size=(10, 50))
    for name, rows in (("large", 20000), ("medium", 5000)):
        numpy.save(folder / f"{name}.npy", centres[random.integers(0, 10, rows)] + random.normal(size=(rows, 50)))
    with open(folder / "table.csv", "w", encoding="ascii") as file:
        file.write(",".join(f"x{i}" for i in range(20)) + "\n")
        while file.tell() < 64 << 20:
            block = random.normal(size=(2000, 20))
            file.write("".join(",".join("%.6f" % value for value in row) + "\n" for row in block))
    webkb = {f"{task}.mtx": common.DATA / "webkb4" / f"{task}.mtx" for task in ("cornell", "texas", "washington", "wisconsin")}
    webkb["features.txt"] = common.DATA / "webkb4" / "features.txt"
    yield "k-means, 20,000 x 50, 10 clusters", ["cluster", "-m", "kmeans", "-k", 10, "-q", "-o", "/out", "large.npy"], {"large.npy": folder / "large.npy"}
    if all(path.exists() for path in webkb.values()):
        yield "auto, webkb4", ["cluster", "-k", 4, "-q", "-o", "/out", *(n for n in webkb if n.endswith(".mtx"))], webkb
    yield "auto, 5,000 x 50", ["cluster", "-k", 10, "-q", "-o", "/out", "medium.npy"], {"medium.npy": folder / "medium.npy"}
    yield "read 64 MB of CSV", ["convert", "table.csv", "/out/table.npy"], {"table.csv": folder / "table.csv"}


def measure(where, listed):
    """The time of the start, and of each job the best time of two runs in the same process and a digest of the labels."""
    given = json.dumps([{"args": [str(each) for each in words], "files": {n: str(p) for n, p in files.items()}} for _, words, files in listed])
    done = subprocess.run(["node", str(common.ROOT / "bench" / "wasm.mjs"), where, "2", str(BUILD / "package"),
                           str(common.ROOT / "build" / "web"), str(BUILD / "tools")], input=given, stdout=subprocess.PIPE, text=True, check=True)
    start, *found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    clock = "cpu" if common.CPU_TIME else "wall"
    return [(start[clock], "")] + [(min(run[clock] for run in each["runs"]), each["digest"]) for each in found]


def compare(args, places=("node", "chromium")):
    if not (BUILD / "package").exists() or not shutil.which("node"):
        raise common.Absent("build/wasm; run make web")
    if not (shutil.which("chromium") and (BUILD / "tools/node_modules/puppeteer-core").exists()):
        places = ("node",)
    runs = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        listed = list(jobs(folder))
        cases = [START] + [case for case, _, _ in listed]
        for _ in range(args.repeats):
            one = [native(args.program, ["methods", "--json"], {}, folder)] + [native(args.program, words, files, folder) for _, words, files in listed]
            for where, found in [("native", one)] + [(where, measure(where, listed)) for where in places]:
                for case, (seconds, digest) in zip(cases, found):
                    runs.setdefault((case, where), []).append((seconds, digest))
    best = {key: min(each) for key, each in runs.items()}
    note = {(case, where): "labels equal" if {digest for _, digest in runs[case, where]} == {best[case, "native"][1]} else "labels differ"
            for case, words, _ in listed if words[0] == "cluster" for where in places}
    return [common.row(f"{case}; {where}", best[case, where][0], "native, one thread", best[case, "native"][0], note.get((case, where), ""))
            for where in places for case in cases]


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"all": compare}))
