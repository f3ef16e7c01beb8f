#!/usr/bin/python3
"""Weak and strong scaling of k-means and mbc over ranks of mpirun, on one machine.

    bench/scaling.py --kindred build/mpi/cli/kindred [--ranks 1,2] [--rows 250000] [--cols 50] [--out FOLDER]

Weak: every rank has `rows` rows of `cols` columns in files of its own, so that the work of a rank stays; the ideal is a constant
time. Copies: as many processes as the largest number of ranks, at once, each with such files and without MPI: what the machine
itself loses; ranks wait for the slowest in every exchange, so that the slowest copy is the one to compare with. Strong:
as many rows in all as the largest number of ranks has; the ideal is time / ranks. One thread a rank. Iterations are fixed
(tol 0, max_iter), data are blobs that overlap, so that none converges before. Seconds are those of the fit as rank 0 tells
them, the least of `--repeats` runs. Where there are more ranks than cores the line says so: oversubscribed. Writes
scaling.json to --out, and a table to standard output."""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("scaling: %s\n%s%s" % (" ".join(command), done.stdout, done.stderr))


def generate(kindred, folder, rows, cols, k, seed=1):
    run([kindred, "generate", "--tasks", "2", "-k", str(k), "-n", str(rows), "-d", str(cols), "--separation", "0.2", "--shift", "0.1",
         "--to", "npy", "--seed", str(seed), "-o", folder, "-q", "--force"])


def job(args, method, folder):
    command = [args.kindred, "cluster", "-m", method, "-k", str(args.k), "--threads", "1", "--set", "n_init=1", "--set", "tol=0", "--set",
               "max_iter=%d" % args.iterations, "-q", "--force", "-o", folder]
    return command + (["--set", "alone=0"] if method == "mbc" else [])


def copies(args, method, count, data, folder):
    """Seconds of the fits of so many processes at once, in order."""
    cores = sorted(os.sched_getaffinity(0))
    running = [subprocess.Popen(["taskset", "-c", str(cores[r % len(cores)]), *job(args, method, "%s%d" % (folder, r)),
                                 "%s%d/task1.npy" % (data, r), "%s%d/task2.npy" % (data, r)]) for r in range(count)]
    if any([p.wait() for p in running]):
        sys.exit("scaling: a copy failed")
    seconds = []
    for r in range(count):
        with open(os.path.join("%s%d" % (folder, r), "result.json")) as f:
            seconds.append(json.load(f)["seconds"]["fit"])
    return sorted(seconds)


def measure(args, method, files, ranks, folder):
    cores = len(os.sched_getaffinity(0))
    bind = ["--bind-to", "core"] if ranks <= cores else ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    command = ["mpirun", "-q", "--allow-run-as-root", "-n", str(ranks), *bind, *job(args, method, folder)]
    best = None
    for _ in range(args.repeats):
        run(command + files)
        with open(os.path.join(folder, "result.json")) as f:
            result = json.load(f)
        if best is None or result["seconds"]["fit"] < best["seconds"]["fit"]:
            best = result
    return {"method": method, "ranks": ranks, "rows": sum(t["n"] for t in best["tasks"]), "iterations": best["iterations"],
            "seconds": best["seconds"]["fit"], "read": best["seconds"]["read"],
            "bytes_sent": best["method_fields"].get("bytes_sent"), "oversubscribed": ranks > cores}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kindred", required=True)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rows", type=int, default=250000)
    parser.add_argument("--cols", type=int, default=50)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", default=".")
    args = parser.parse_args()
    args.kindred = os.path.abspath(args.kindred)
    ranks = [int(r) for r in args.ranks.split(",")]
    found = []
    with tempfile.TemporaryDirectory(prefix="kindred-scaling-") as folder:
        own = os.path.join(folder, "rank")
        for r in range(max(ranks)):
            generate(args.kindred, own + str(r), args.rows // 2, args.cols, args.k, r + 1)
        for kind in ("weak", "strong"):
            first = {}
            for r in ranks:
                data = os.path.join(folder, "data")
                if kind == "strong" and r == ranks[0]:
                    generate(args.kindred, data, args.rows * max(ranks) // 2, args.cols, args.k)
                if kind == "weak":
                    data = own + "{rank}"
                for method in ("kmeans", "mbc"):
                    m = measure(args, method, ["a=" + data + "/task1.npy", "b=" + data + "/task2.npy"], r, os.path.join(folder, "out"))
                    m["kind"] = kind
                    one = first.setdefault(method, m)
                    # time of an iteration against what the first one's would be with as many rows a rank
                    share = (m["rows"] / m["ranks"]) / (one["rows"] / one["ranks"])
                    m["efficiency"] = one["seconds"] / one["iterations"] * share / (m["seconds"] / m["iterations"])
                    found.append(m)
                    print("%-6s %-6s %2d ranks %9d rows %3d iterations %8.3f s  efficiency %5.1f %%%s" %
                          (kind, method, r, m["rows"], m["iterations"], m["seconds"], 100 * m["efficiency"],
                           "  (oversubscribed)" if m["oversubscribed"] else ""), flush=True)
            if kind == "weak":
                for method in ("kmeans", "mbc"):
                    seconds = copies(args, method, max(ranks), own, os.path.join(folder, "copy"))
                    found.append({"kind": "copies", "method": method, "seconds": seconds})
                    print("copies %-6s %2d at once: %.3f to %.3f s, mean %.3f" %
                          (method, len(seconds), seconds[0], seconds[-1], sum(seconds) / len(seconds)), flush=True)
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, "scaling.json"), "w") as f:
        json.dump(found, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
