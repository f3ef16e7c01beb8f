#!/usr/bin/python3
"""What a GPU is worth: kindred on the card and on the processor, and plain PyTorch on the same card.

    cmake --build build/release --target kindred kindred_cuda gpu && python3 bench/gpu.py build/release [STEP...]

Steps: rates kmeans neighbours text-kmeans text-neighbours text dense auto nmtf directions newsgroups; --tiny: sizes that a processor does in seconds, --device cpu for a dry run.
20 Newsgroups is read from KINDRED_GPU_DATA (a.npz and b.npz: two halves of it as counts); without it that step is left out.
SPDX-License-Identifier: BSD-3-Clause"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {  # step: (arguments of bench/gpu.c, of peers/gpu.py)
    "rates": (("12288",), ("12288",)),
    "kmeans": (("1000000", "256", "100", "20"),) * 2,
    "neighbours": (("1000000", "50", "10"),) * 2,
    "text-kmeans": (("1000000", "59030", "100", "20"),) * 2,
    "text-neighbours": (("200000", "59030", "10"),) * 2,
    "text": (("18845", "59030", "20"), None),
    "dense": (("100000", "3000", "10"), None),
    "auto": (("1000000", "50", "10"), None),
    "nmtf": (("200000", "59030", "20"), None),
    "directions": (("400000", "1000", "50"), None),
}
TINY = {
    "rates": (("256",), ("256",)),
    "kmeans": (("20000", "16", "10", "20"),) * 2,
    "neighbours": (("3000", "50", "10"),) * 2,
    "text-kmeans": (("3000", "2000", "5", "10"),) * 2,
    "text-neighbours": (("2000", "5000", "10"),) * 2,
    "text": (("600", "2000", "5"), None),
    "dense": (("600", "40", "5"), None),
    "auto": (("2000", "20", "5"), None),
    "nmtf": (("400", "2000", "5"), None),
    "directions": (("3000", "100", "5"), None),
}


def run(title, command, limit):
    print("$ " + " ".join(str(c) for c in command), flush=True)
    start = time.perf_counter()
    try:
        done = subprocess.run([str(c) for c in command], timeout=limit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        sys.exit("%s is not there: cmake --build %s --target kindred kindred_cuda gpu" % (command[0], command[0].parents[1]))
    except subprocess.TimeoutExpired:
        print("%s: more than %d s" % (title, limit), flush=True)
        return
    print(done.stdout.rstrip(), flush=True)
    print("%s: %.2f s in all, exit %d" % (title, time.perf_counter() - start, done.returncode), flush=True)


def newsgroups(build, device, limit):
    """End to end: files in, labels and result out."""
    data = os.environ.get("KINDRED_GPU_DATA")
    if not data:
        print("newsgroups: KINDRED_GPU_DATA is not set")
        return
    for precision in ("auto", "double"):
        with tempfile.TemporaryDirectory() as out:
            run("newsgroups " + precision,
                [build / "cli" / "kindred", "cluster", "-m", "mtcfir", "-k", "20", "--weight", "tfidf", "--norm", "l2", "--set",
                 "precision=" + precision, "--device", device, "--score", "-o", out + "/result", data + "/a.npz", data + "/b.npz"],
                limit)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("steps", nargs="*")
    p.add_argument("--device", default="cuda")
    p.add_argument("--tiny", action="store_true")
    p.add_argument("--limit", type=int, default=120)
    p.add_argument("--no-peers", action="store_true")
    a = p.parse_args()
    os.environ.setdefault("KINDRED_PLUGINS", str((a.build / "src").resolve()))
    sizes = TINY if a.tiny else SIZES
    for step in a.steps or list(sizes) + ["newsgroups"]:
        if step == "newsgroups":
            newsgroups(a.build, a.device, a.limit)
            continue
        ours, peers = sizes[step]
        what = "mtcfir" if step == "dense" else step
        for precision in (("auto", "double") if step == "text" else (None,)):
            run(step, [a.build / "bench" / "gpu", what, a.device, *ours, *([precision] if precision else [])], a.limit)
        if peers and not a.no_peers:
            run(step + " (torch)", [sys.executable, HERE / "peers" / "gpu.py", step, *peers], a.limit)


if __name__ == "__main__":
    main()
