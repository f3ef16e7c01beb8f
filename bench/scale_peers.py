#!/usr/bin/python3
"""k-means on many samples beside scikit-learn's KMeans and MiniBatchKMeans and, where it is installed, faiss.

usage: bench/scale_peers.py KINDRED [--rows N] [--columns D] [--clusters K] [--iterations I] [--to FILE.jsonl] [--machine NAME]

Every one gets the same float64 blobs (faiss: float32, which is all it takes), the same first centres (those that scikit-learn's
k-means++ draws on a tenth of the rows; kindred as labels of the nearest of them), one run and at most I iterations
(MiniBatchKMeans: as many passes over the data). Seconds are of the wall clock, of the fit alone, and of all cores' processor
time (kindred's: of the whole command, which reads and writes files besides); the inertia is measured in float64 by one function for all. Peak memory is that of a process of each one's own, data
included. --to also writes a line each, which bench/scale_docs.py takes."""

import argparse
import json
import multiprocessing
import os
import pathlib
import platform
import resource
import subprocess
import tempfile
import time

import numpy as np


def inertia(x, centres):
    """Sum of squared distances to the nearest centre, block by block."""
    total = 0.0
    squares = (centres ** 2).sum(axis=1)
    for i in range(0, len(x), 50000):
        block = x[i:i + 50000]
        total += (np.maximum((squares - 2 * block @ centres.T).min(axis=1), -np.inf) + (block ** 2).sum(axis=1)).sum()
    return total


def nearest(x, centres):
    squares = (centres ** 2).sum(axis=1)
    return np.concatenate([(squares - 2 * x[i:i + 50000] @ centres.T).argmin(axis=1) for i in range(0, len(x), 50000)])


def by_sklearn(x, centres, iterations, small):
    from sklearn.cluster import KMeans, MiniBatchKMeans

    if small:
        model = MiniBatchKMeans(len(centres), init=centres, n_init=1, max_iter=iterations, batch_size=4096, random_state=1)
    else:
        model = KMeans(len(centres), init=centres, n_init=1, max_iter=iterations, tol=0)
    return model.fit(x).cluster_centers_


def by_faiss(x, centres, iterations):
    import faiss

    model = faiss.Kmeans(x.shape[1], len(centres), niter=iterations, nredo=1, max_points_per_centroid=len(x))
    model.train(x, init_centroids=centres.astype("float32"))
    return model.centroids.astype("float64")


def work(who, folder, iterations, queue, kindred):
    if who == "kindred":  # started from here, since a child's peak begins with what its parent holds
        queue.put(by_kindred(kindred, folder, iterations))
        return
    x, centres = np.load(folder / "x.npy"), np.load(folder / "centres.npy")
    if who == "faiss":
        x = x.astype("float32")
    wall, cpu = time.perf_counter(), time.process_time()
    found = by_faiss(x, centres, iterations) if who == "faiss" else by_sklearn(x, centres, iterations, "Mini" in who)
    queue.put((time.perf_counter() - wall, time.process_time() - cpu, found,
               resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


def by_kindred(kindred, folder, iterations):
    k = len(np.load(folder / "centres.npy"))
    child = subprocess.Popen([kindred, "cluster", "-m", "kmeans", "-k", str(k), "--init", str(folder / "first.labels"), "--set",
                              f"max_iter={iterations}", "--set", "tol=0", "-q", "--force", "-o", str(folder / "out"),
                              "--arrays", str(folder / "arrays"), str(folder / "x.npy")])
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit("kindred failed")
    with open(folder / "out" / "result.json", encoding="utf-8") as f:
        result = json.load(f)
    centres = np.load(next((folder / "arrays").glob("*centres*.npy")))
    return (result["seconds"]["fit"], usage.ru_utime + usage.ru_stime, centres, result["peak_rss_bytes"])


def version(who):
    """Of a peer, for its name."""
    if "scikit" in who:
        import sklearn
        return " " + sklearn.__version__
    if who == "faiss":
        import faiss
        return " " + faiss.__version__
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kindred")
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--clusters", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--to", type=pathlib.Path)
    parser.add_argument("--machine", default=platform.machine())
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        means = rng.normal(size=(args.clusters, args.columns)) * 0.5
        x = rng.normal(size=(args.rows, args.columns))
        x += means[rng.integers(0, args.clusters, args.rows)]
        np.save(folder / "x.npy", x)
        from sklearn.cluster import kmeans_plusplus
        centres, _ = kmeans_plusplus(x[: max(args.rows // 10, args.clusters)], args.clusters, random_state=1)
        np.save(folder / "centres.npy", centres)
        np.savetxt(folder / "first.labels", nearest(x, centres), fmt="%d")
        print(f"{args.rows:,} x {args.columns}, k = {args.clusters}, {args.iterations} iterations, "
              f"{len(os.sched_getaffinity(0))} cores\n")
        print("| | wall (s) | processor (s) | inertia / kindred's | peak memory |")
        print("|---|---:|---:|---:|---:|")
        reference = None
        for who in ("kindred", "scikit-learn KMeans", "scikit-learn MiniBatchKMeans", "faiss"):
            try:
                if who == "faiss":
                    import faiss  # noqa: F401
            except ImportError:
                print(f"| {who} | not installed | | | |")
                continue
            spawn = multiprocessing.get_context("spawn")
            queue = spawn.SimpleQueue()
            child = spawn.Process(target=work, args=(who, folder, args.iterations, queue, args.kindred))
            child.start()
            while queue.empty() and child.is_alive():
                time.sleep(0.05)
            if queue.empty():
                print(f"| {who} | failed | | | |")
                continue
            answer = queue.get()
            child.join()
            wall, cpu, found, peak = answer
            value = inertia(x, np.asarray(found))
            reference = reference or value
            print(f"| {who} | {wall:.2f} | {cpu:.2f} | {value / reference:.5f} | {peak / 1e9:.2f} GB |", flush=True)
            if args.to:
                line = {"who": who + version(who), "machine": args.machine, "rows": args.rows, "columns": args.columns,
                        "clusters": args.clusters, "iterations": args.iterations, "cores": len(os.sched_getaffinity(0)),
                        "seconds": round(wall, 3), "processor": round(cpu, 3), "inertia": value / reference, "peak": peak}
                with open(args.to, "a", encoding="utf-8") as f:
                    f.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
