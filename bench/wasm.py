#!/usr/bin/python3
"""Compares the program as WebAssembly, in node and Chromium, with the native program on one thread. SPDX-License-Identifier: BSD-3-Clause

Needs `make web`. Times are the best of --repeats runs. With --cpu they are processor times: for the native program those of its process,
including its start; for node and Chromium those of all their threads and processes during the job, without starting them and compiling
the module. Labels must be equal. The column kindred_s is WebAssembly, peer_s the native program."""

import hashlib
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import common
import numpy

BUILD = common.ROOT / "build" / "wasm"


def native(program, args, files, folder, repeats):
    """The best time of the program, and a digest of the labels."""
    best = float("inf")
    out = folder / "native"
    for _ in range(repeats):
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for name, path in files.items():
            (out / name).symlink_to(path)
        words = [str(each).replace("/out", "out") for each in args]
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        (out / "out").mkdir()
        subprocess.run([program, *words, "--threads", "1"], cwd=out, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, cpu if common.CPU_TIME else time.perf_counter() - wall)
    digest = hashlib.sha256()
    for path in sorted((out / "out").glob("*.labels")):
        digest.update(path.read_bytes())
    return best, digest.hexdigest()


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


def measure(where, args, listed, folder):
    given = json.dumps([{"args": [str(each) for each in words], "files": {n: str(p) for n, p in files.items()}} for _, words, files in listed])
    done = subprocess.run(["node", str(common.ROOT / "bench" / "wasm.mjs"), where, str(args.repeats), str(BUILD / "package"),
                           str(common.ROOT / "build" / "web"), str(BUILD / "tools")], input=given, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")][1:]
    clock = "cpu" if common.CPU_TIME else "wall"
    return [(min(run[clock] for run in each["runs"]), each["digest"]) for each in found]


def compare(args, places=("node", "chromium")):
    if not (BUILD / "package").exists() or not shutil.which("node"):
        raise common.Absent("build/wasm; run make web")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        listed = list(jobs(folder))
        ours = [native(args.program, words, files, folder, args.repeats) for _, words, files in listed]
        for where in places:
            if where == "chromium" and not (shutil.which("chromium") and (BUILD / "tools/node_modules/puppeteer-core").exists()):
                continue
            for (case, words, _), (seconds, digest), (peer, want) in zip(listed, measure(where, args, listed, folder), ours):
                rows.append(common.row(f"{case}; {where}", seconds, "native, one thread", peer, "" if words[0] == "convert" else "labels equal" if digest == want else "labels differ"))
    return rows


if __name__ == "__main__":
    sys.exit(common.main(__doc__, {"all": compare}))
