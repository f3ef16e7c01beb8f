#!/usr/bin/python3
"""Measures runtime and memory as data grow: sizes, other libraries, ranks, and data larger than memory. SPDX-License-Identifier: BSD-3-Clause

usage: bench/scale.py CASE... [--build DIR] [--out FILE.csv] [--minutes M] [--only TEXT] [--machine NAME] [--data DIR] ...

growth  every method, and vectorize, predict, relate, inspect and convert, at four sizes (--sizes). Dense data are overlapping blobs with 50 columns;
        sparse data have 60 words per sample out of 50,000. There are three data sets with five clusters; in a transfer they are the source, the
        target and the bridge. Quadratic methods get a sixteenth of each size. A run of more than --most seconds is ended.
peers   k-means on 1,000,000 x 50 compared with scikit-learn's KMeans and MiniBatchKMeans and with faiss: same initial centres, same iterations. Peak
        memory is that of a separate process for each, including the data; one function computes the inertia for all
ranks   k-means and mbc over ranks of mpirun (--ranks), one thread each: weak scaling (--rows per rank), strong scaling (--strong rows in total), as many
        separate processes without MPI (copies), and the time that the machine itself loses when cores wait for each other (waiting.c).
        Needs a build with KINDRED_MPI=ON, mpirun, taskset and cc. Iterations are fixed; the result is the minimum of --repeats runs
threads the commands of stages.py on two data sets of --size x 50 (100,000) with --counts threads (1,2,4,8,16); with --mpi DIR, a build with MPI, cluster and
        k-means also over as many ranks; and scikit-learn's KMeans, LogisticRegression and SpectralClustering (the last on 10,000 rows) with as many
        threads. --label names the version (after); rows of other versions stay. The result is the run with the least clock time of --repeats
memory  every job that streams, in a control group of --limit megabytes that is smaller than its data, compared with the same job without a limit. The
        results must be identical, and --no-stream must fail. Needs root and a memory controller (version 1 or 2)

A case writes bench/results/scale-CASE.csv (or --out) and replaces the rows of the same run on the same machine (--machine); growth
continues an interrupted run. bench/docs.py writes the tables of docs/scale.md, docs/notes/scale.md and docs/notes/mpi.md from these files.
OMP_NUM_THREADS sets the threads of growth (1)."""

import ast
import json
import multiprocessing
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import common
import numpy as np
import stages

OTHER = ["vectorize", "predict", "relate", "inspect", "convert"]
SMALL = ["snmf", "mtcfir", "trec"]  # they hold n x n numbers, or move one sample after another
TAUGHT = 10000  # samples that the model of predict was fitted to
COLUMNS, WORDS, LENGTH, CLUSTERS = 50, 50000, 60, 5
THREADS = ["version", "threads", "command", "seconds", "processor_s"]
GROWTH = ["kind", "job", "n", "machine", "threads", "seconds", "fit", "processor", "peak", "data", "nmi"]
PEERS = ["who", "machine", "rows", "columns", "clusters", "iterations", "cores", "seconds", "processor", "inertia", "peak"]
RANKS = ["machine", "kind", "method", "rows", "ranks", "seconds", "mean", "exchanges", "bytes_sent", "stretch", "efficiency"]


def kindred(args, *words):
    subprocess.run([args.program, *map(str, words)], check=True)


def replace_rows(path, head, rows, machine, command):
    """Replaces the rows of one machine in the file."""
    kept = [r for r in common.read_csv(path) if r["machine"] != machine]
    common.write_csv(path, head, kept + rows, [c for c in common.comments(path)] or common.provenance(command))


# --- growth --------------------------------------------------------------------------------------------------------------


def make_text(path, n):
    """Documents of 60 words, one per line; frequencies fall as 1 / (rank + 10)."""
    rng, weight = np.random.default_rng(n), 1.0 / (np.arange(WORDS) + 10)
    share, letters = np.cumsum(weight / weight.sum()), "abcdefghijklmnopqrstuvwxyz"
    words = np.array(["".join(letters[(i // 26**j) % 26] for j in range(4)) + "en " for i in range(WORDS)], dtype="S7")
    with open(path, "wb") as out:
        for at in range(0, n, 10000):
            rows = words[np.searchsorted(share, rng.random((min(10000, n - at), LENGTH)))].view(np.uint8)
            rows[:, -1] = ord("\n")
            out.write(rows.tobytes())


def make_data(args, kind, n, tasks):
    """Data sets of n samples in total, made once: files, and their size in memory in bytes."""
    folder, ending = args.data / f"{kind}-{n}-{tasks}", "npy" if kind == "dense" else "mtx"
    files = [folder / f"task{i + 1}.{ending}" for i in range(tasks)]
    if not files[-1].exists():
        design = (["--design", "blobs", "-d", COLUMNS, "--separation", "0.3", "--shift", "0.05", "--to", "npy"] if kind == "dense" else
                  ["--design", "topics", "--words", WORDS, "--length", LENGTH, "--purity", "0.4"])
        kindred(args, "generate", "--tasks", tasks, "-k", CLUSTERS, "-n", n // tasks, "-q", "--force", "-o", folder, *design)
    if kind == "dense":
        return files, 8 * n * COLUMNS
    entries = 0
    for path in files:
        with open(path, "rb") as lines:
            entries += int(next(line for line in lines if not line.startswith(b"%")).split()[2])
    return files, 12 * entries + 8 * n


def growth_command(args, method, job, kind, files, out):
    """The arguments of a job; `method` is its entry in the registry, if it is one."""
    words, end = ["--weight", "tfidf", "--norm", "l2"] if kind == "sparse" else [], ["-q", "--force", "-o", out]
    if method:
        can = method["capabilities"]
        prepare = [] if job in ("auto", "auto-transfer") else ["--scale", "minmax"] if kind == "dense" and "nonnegative" in can else words
        if method["family"] == "cluster":
            return ["cluster", "-m", job, "-k", CLUSTERS, "--score", *prepare, *end, *files]
        if method["family"] == "transfer":
            labels = [f.with_suffix(".labels") for f in files]
            return ["transfer", "-m", job, "--source", files[0], "--labels", labels[0], "--target", files[1], "--truth", labels[1],
                    *(["--bridge", files[2]] if "bridge" in can else []), *prepare, *end]
        return ["cluster", "-m", "kmeans", "-k", CLUSTERS, "--features-from", job, *prepare, *end, *files]
    if job == "vectorize":
        text = files[0].parent / "text.txt"
        if not text.exists():  # by another process: the memory of this one would count as the peak of those it starts
            child = multiprocessing.get_context("spawn").Process(target=make_text, args=(text, int(text.parent.name.split("-")[1])))
            child.start()
            child.join()
        return ["vectorize", "--from", "lines", "--force", "-q", "-o", out, text]
    if job == "predict":
        model = args.data / f"{kind}.model"
        if not model.exists():
            known, _ = make_data(args, kind, TAUGHT, 1)
            kindred(args, "cluster", "-m", "kmeans", "-k", CLUSTERS, *words, "--save-model", model, *end, *known)
        return ["predict", "--model", model, "-q", "--force", "-o", out / "predicted.labels", files[0]]
    if job == "relate":
        return ["relate", "--json", *words, "-q", *files]
    return ["inspect", "--json", *files] if job == "inspect" else ["convert", "--force", files[0], out / ("x.h5" if kind == "dense" else "x.npz")]


def growth_run(args, words, out):
    """One run of the program; None if it failed or took too long."""
    result = out / "result.json"
    result.unlink(missing_ok=True)
    begin = time.perf_counter()
    child = subprocess.Popen([args.program, *map(str, words)], stdout=subprocess.DEVNULL)
    timer = threading.Timer(args.most, child.kill)
    timer.start()
    _, status, usage = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        print(f"no result: status {child.returncode}: {' '.join(map(str, words))}", file=sys.stderr)
        return None
    found = {"seconds": f"{time.perf_counter() - begin:.3g}", "processor": f"{usage.ru_utime + usage.ru_stime:.3g}", "peak": usage.ru_maxrss * 1024}
    if result.exists():
        r = json.loads(result.read_text())
        scores = [t["metrics"]["nmi"] for t in r["tasks"] if t.get("metrics")]
        found.update(fit=f"{r['seconds']['fit']:.3g}", peak=r["peak_rss_bytes"])  # a child's peak begins with what its parent had
        found.update({"nmi": round(sum(scores) / len(scores), 4)} if scores else {})
    return found


def growth(args):
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    methods = {m["id"]: m for m in json.loads(subprocess.run([args.program, "methods", "--json"], check=True, capture_output=True).stdout)}
    args.data.mkdir(parents=True, exist_ok=True)
    keys = [(kind, job, int(n) // (16 if job in SMALL else 1), args.machine, int(os.environ["OMP_NUM_THREADS"])) for n in args.sizes.split(",")
            for job in [*methods, *OTHER] for kind in ("dense", "sparse") if (kind, job) != ("dense", "vectorize")]

    def make(key):
        kind, job, n = key[0], key[1], int(key[2])
        method = methods.get(job)
        two = method and method["family"] == "transfer" and "bridge" not in method["capabilities"]
        files, size = make_data(args, kind, n, 2 if two else 1 if job == "predict" else 3)
        out = files[0].parent / "out"
        out.mkdir(exist_ok=True)
        found = growth_run(args, growth_command(args, method, job, kind, files, out), out)
        return [[({"data": size} | found).get(h, "") for h in GROWTH[5:]]] if found else []

    table = common.Table(args.out or common.RESULTS / "scale-growth.csv", GROWTH, keys, "bench/scale.py growth")
    table.place.update({k: i for i, k in enumerate(sorted({*table.place, *table.rows}, key=lambda k: (k[0], k[1], int(k[2]), *k[3:])))})
    return table.fill(make, args.minutes, args.only)


# --- peers ---------------------------------------------------------------------------------------------------------------


def blocks(x, centres):
    """Rows and their squared distances to the centres, less the rows' own squares."""
    squares = (centres ** 2).sum(axis=1)
    for i in range(0, len(x), 50000):
        yield x[i:i + 50000], squares - 2 * x[i:i + 50000] @ centres.T


def peer_fit(who, folder, iterations, program, queue):
    """Runs in a process of its own: seconds, processor seconds, centres, peak bytes."""
    centres = np.load(folder / "centres.npy")
    if who == "kindred":
        words = ["cluster", "-m", "kmeans", "-k", len(centres), "--init", folder / "first.labels", "--set", f"max_iter={iterations}", "--set", "tol=0", "-q",
                 "-o", folder / "out", "--arrays", folder / "arrays", folder / "x.npy"]
        child = subprocess.Popen([program, *map(str, words)])
        _, status, usage = os.wait4(child.pid, 0)
        result = json.loads((folder / "out" / "result.json").read_text())
        found = np.load(next((folder / "arrays").glob("*centres*.npy")))
        return queue.put((result["seconds"]["fit"], usage.ru_utime + usage.ru_stime, found, result["peak_rss_bytes"]))
    x = np.load(folder / "x.npy").astype("float32" if who == "faiss" else "float64")
    wall, cpu = time.perf_counter(), time.process_time()
    if who == "faiss":
        import faiss

        model = faiss.Kmeans(x.shape[1], len(centres), niter=iterations, nredo=1, max_points_per_centroid=len(x))
        model.train(x, init_centroids=centres.astype("float32"))
        found = model.centroids.astype("float64")
    else:
        from sklearn.cluster import KMeans, MiniBatchKMeans

        settings = {"init": centres, "n_init": 1, "max_iter": iterations}
        model = MiniBatchKMeans(len(centres), batch_size=4096, random_state=1, **settings) if "Mini" in who else KMeans(len(centres), tol=0, **settings)
        found = model.fit(x).cluster_centers_
    return queue.put((time.perf_counter() - wall, time.process_time() - cpu, found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


def peers(args, n=1_000_000, columns=50, k=20, iterations=10):
    from sklearn.cluster import kmeans_plusplus

    versions, rows, reference = dict(common.versions()), [], None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        x, _ = common.blobs(n, columns, k, 0.5, seed=1)
        centres, _ = kmeans_plusplus(x[:n // 10], k, random_state=1)
        np.save(folder / "x.npy", x)
        np.save(folder / "centres.npy", centres)
        np.savetxt(folder / "first.labels", np.concatenate([d.argmin(axis=1) for _, d in blocks(x, centres)]), fmt="%d")
        for who in ["kindred", "scikit-learn KMeans", "scikit-learn MiniBatchKMeans"] + ["faiss"] * ("faiss" in versions):
            spawn = multiprocessing.get_context("spawn")
            queue = spawn.SimpleQueue()
            child = spawn.Process(target=peer_fit, args=(who, folder, iterations, args.program, queue))
            child.start()
            wall, cpu, found, peak = queue.get()
            child.join()
            value = sum((d.min(axis=1) + (part ** 2).sum(axis=1)).sum() for part, d in blocks(x, found))
            reference = reference or value
            name = " ".join([who] + [versions[p] for p in ("scikit-learn", "faiss") if p in who])
            rows.append(dict(zip(PEERS, [name, args.machine, n, columns, k, iterations, common.cores(), round(wall, 3), round(cpu, 3), value / reference, peak])))
            print(f"{name}: {wall:.2f} s, inertia {value / reference:.5f}, {peak / 1e9:.2f} GB; ratio {wall / rows[0]['seconds']:.2f}", flush=True)
    replace_rows(args.out or common.RESULTS / "scale-peers.csv", PEERS, rows, args.machine, "bench/scale.py peers")


# --- ranks ---------------------------------------------------------------------------------------------------------------


def npy_header(f):
    """The header of a .npy file of version 1; the file is then where its numbers begin."""
    if f.read(8) != b"\x93NUMPY\x01\x00":
        sys.exit(f"ranks: {f.name} is not a .npy file of version 1")
    return ast.literal_eval(f.read(int.from_bytes(f.read(2), "little")).decode("latin-1"))


def join_npy(parts, to):
    """The rows of several .npy files, one after the other."""
    rows = 0
    for part in parts:
        with open(part, "rb") as f:
            head = npy_header(f)
            rows += head["shape"][0]
    text = repr(dict(head, shape=(rows, head["shape"][1])))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(to, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin-1"))
        for part in parts:
            with open(part, "rb") as f:
                npy_header(f)
                shutil.copyfileobj(f, out, 1 << 24)


def ranks_job(args, method, out, data):
    """A fit of both data sets in the folder `data`."""
    return [args.program, "cluster", "-m", method, "-k", "20", "--threads", "1", "--set", "n_init=1", "--set", "tol=0", "--set", "max_iter=20", "-q", "--force",
            "-o", str(out), *(["--set", "alone=0"] if method == "mbc" else []), *(f"{'ab'[t]}={data}/task{t + 1}.npy" for t in range(2))]


def ranks_run(args, method, count, out, data):
    """Seconds of a fit over `count` ranks, exchanges and bytes sent."""
    bind = ["--bind-to", "core"] if count <= common.cores() else ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    subprocess.run(["mpirun", "-q", "--allow-run-as-root", "-n", str(count), *bind, *ranks_job(args, method, out, data)], check=True)
    r = json.loads((out / "result.json").read_text())
    return {"seconds": r["seconds"]["fit"], "exchanges": r["method_fields"].get("exchanges", ""), "bytes_sent": r["method_fields"].get("bytes_sent", "")}


def ranks_copies(args, method, count, out, data):
    """Seconds of separate processes at once, each on a core of its own: the slowest, and their mean."""
    cpus = sorted(os.sched_getaffinity(0))
    running = [subprocess.Popen(["taskset", "-c", str(cpus[r % len(cpus)]), *ranks_job(args, method, f"{out}{r}", f"{data}{r}")]) for r in range(count)]
    if any([p.wait() for p in running]):
        sys.exit("ranks: a copy failed")
    found = [json.loads(pathlib.Path(f"{out}{r}", "result.json").read_text())["seconds"]["fit"] for r in range(count)]
    return {"seconds": max(found), "mean": f"{sum(found) / count:.3f}"}


def ranks_waiting(folder, count):
    """What bench/waiting.c finds, compiled for this machine."""
    subprocess.run(["cc", "-std=c17", "-O3", "-march=native", "-pthread", "-o", folder / "waiting", common.ROOT / "bench" / "waiting.c"], check=True)
    done = subprocess.run([folder / "waiting", str(count), "5"], check=True, capture_output=True, text=True)
    return [{"ranks": count, "stretch": f"{m['stretch']:.3g}", "efficiency": m["efficiency"]} for m in map(json.loads, done.stdout.splitlines())]


def ranks(args):
    counts, best = [int(r) for r in args.ranks.split(",")], {}
    most, share = max(counts), args.strong // max(counts)
    with tempfile.TemporaryDirectory(dir=args.data if args.data.is_dir() else None) as name:
        folder = pathlib.Path(name)
        for size, data in ((args.rows, "weak"), (share, "part")):
            for r in range(most):
                kindred(args, "generate", "--tasks", 2, "-k", 20, "-n", size // 2, "-d", COLUMNS, "--separation", "0.2", "--shift", "0.1", "--to", "npy", "--seed", r + 1,
                        "-q", "-o", folder / f"{data}{r}")
        (folder / "strong").mkdir()
        for t in (1, 2):
            join_npy([folder / f"part{r}" / f"task{t}.npy" for r in range(most)], folder / "strong" / f"task{t}.npy")
        for _ in range(args.repeats):
            for method in ("kmeans", "mbc"):
                # one rank reads the files of the first; {rank} is replaced by its number
                runs = {("weak", method, args.rows, c): ranks_run(args, method, c, folder / "out", folder / ("weak0" if c == 1 else "weak{rank}")) for c in counts}
                runs["copies", method, args.rows, most] = ranks_copies(args, method, most, folder / "copy", folder / "weak")
                runs.update({("strong", method, args.strong, c): ranks_run(args, method, c, folder / "out", folder / "strong") for c in counts})
                best.update({key: r for key, r in runs.items() if key not in best or r["seconds"] < best[key]["seconds"]})
        waiting = ranks_waiting(folder, most) if most <= common.cores() else []
    rows = [{**dict(zip(RANKS[1:5], key)), **r, "seconds": f"{r['seconds']:.3f}"} for key, r in sorted(best.items())]
    rows = [{"machine": args.machine, **r} for r in rows + [{"kind": "waiting", **w} for w in waiting]]
    for r in rows:
        print(" ".join(f"{h} {r[h]}" for h in RANKS if r.get(h, "") != ""))
    replace_rows(args.out or common.RESULTS / "scale-ranks.csv", RANKS, rows, args.machine, "bench/scale.py ranks")


# --- threads -------------------------------------------------------------------------------------------------------------

PEER_FITS = {"KMeans": "from sklearn.cluster import KMeans as M\n[M(8, n_init=20).fit(numpy.load(f)) for f in files]",
             "LogisticRegression": "from sklearn.linear_model import LogisticRegression as M\n"
                                   "M(max_iter=1000).fit(numpy.load(files[0]), open(files[0][:-3] + 'labels').read().split()).predict(numpy.load(files[1]))",
             "SpectralClustering": "from sklearn.cluster import SpectralClustering as M\n"
                                   "[M(8, affinity='nearest_neighbors', n_jobs=-1).fit(numpy.load(f)[:10000]) for f in files]"}


def threads_run(words, count):
    """Seconds by the clock and of the processor; scikit-learn prints its own, without the time to load it."""
    # kindred runs BLAS on one thread in each of its own, unless the environment says otherwise
    more = {"OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(count)} if words[0] == sys.executable else {}
    begin, before = time.perf_counter(), os.times()
    done = subprocess.run([str(w) for w in words], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **more})
    wall, after = time.perf_counter() - begin, os.times()
    if done.stdout.startswith("fit "):
        return tuple(float(v) for v in done.stdout.split()[1:])
    return wall, after.children_user - before.children_user + after.children_system - before.children_system


def threads(args):
    counts, rows = [int(c) for c in args.counts.split(",")], []
    path = args.out or common.RESULTS / "scale-threads.csv"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kindred(args, "generate", "--tasks", 2, "-k", 8, "-d", COLUMNS, "-n", args.size, "--to", "npy", "--separation", "1.5", "-q", "-o", folder / "data")
        files = [str(folder / "data" / f"task{t}.npy") for t in (1, 2)]
        for count in counts:
            jobs = {}
            for command, text in stages.GENERATED.items():
                words = text.format(data=folder / "data", out=folder / "out").split() + ["--device", "cpu", "-q", "--force"]
                jobs[command] = [args.program, *words, "--threads", count]
                if args.mpi and command != "transfer":
                    bind = ["--bind-to", "core"] if count <= common.cores() else ["--oversubscribe"]
                    jobs[f"{command}, ranks"] = ["mpirun", "-q", "--allow-run-as-root", "-n", count, *bind, args.mpi / "cli" / "kindred", *words, "--threads", 1]
            for peer, code in PEER_FITS.items():
                timed = f"import time, numpy\nfiles = {files!r}\nimport sklearn\na, b = time.perf_counter(), time.process_time()\n{code}\n"
                jobs[f"scikit-learn {peer}"] = [sys.executable, "-c", timed + "print('fit', time.perf_counter() - a, time.process_time() - b)"]
            for command, words in jobs.items():
                if args.only and args.only not in command:
                    continue
                wall, processor = min(threads_run(words, count) for _ in range(args.repeats))
                rows.append([args.label, count, command, f"{wall:.2f}", f"{processor:.2f}"])
                print(f"{command}, {count}: {wall:.2f} s, processor {processor:.2f} s", flush=True)
    fresh = {(r[0], str(r[1]), r[2]) for r in rows}
    kept = [[r[h] for h in THREADS] for r in common.read_csv(path) if (r["version"], r["threads"], r["command"]) not in fresh]
    common.write_csv(path, THREADS, kept + rows, [*common.comments(path), common.provenance(common.command_line())])


# --- memory --------------------------------------------------------------------------------------------------------------


class Group:
    """A control group with a limit of memory."""

    def __init__(self, limit):
        old = pathlib.Path("/sys/fs/cgroup/memory")
        self.limit, self.second = limit, not old.is_dir()
        self.folder = (pathlib.Path("/sys/fs/cgroup") if self.second else old) / f"kindred-stream-{os.getpid()}"

    def __enter__(self):
        self.folder.mkdir()
        (self.folder / ("memory.max" if self.second else "memory.limit_in_bytes")).write_text(str(self.limit))
        return self

    def __exit__(self, *_):
        for _ in range(50):  # a process that reads HDF5 for another may stay a moment longer
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)
        return None

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self):
        path = self.folder / ("memory.peak" if self.second else "memory.max_usage_in_bytes")
        return int(path.read_text()) if path.exists() else 0


def forget(paths):
    """Drops files from the page cache, because cached pages do not count as new memory."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def memory_run(args, words, out, group=None):
    """(what the job leaves or None, seconds, status)"""
    begin = time.perf_counter()
    done = subprocess.run([args.program, *map(str, words)], capture_output=True, check=False, preexec_fn=group.join if group else None)
    left = None
    if done.returncode == 0:
        left = done.stdout if out is None else [(p.name, p.read_bytes()) for p in sorted(out.glob("*.labels"))] if out.is_dir() else out.read_bytes()
    return left, time.perf_counter() - begin, done.returncode


def memory_jobs(folder, ending, out):
    """(name, arguments, inputs, what it writes)"""
    one, two = (folder / f"task{i}.{ending}" for i in (1, 2))
    few, end = ["--set", "max_iter=5"], ["-q", "--force", "-o"]
    for method in ("kmeans", "bregman"):
        yield method, ["cluster", "-m", method, "-k", CLUSTERS, *few, "--set", "n_init=1", *end, out / method, one], [one], out / method
    for method in ("svm", "logreg"):
        yield (method, ["transfer", "-m", method, "--source", one, "--labels", folder / "task1.labels", "--target", two, *few, *end, out / method], [one, two],
               out / method)
    yield "predict", ["predict", "--model", folder / "model.h5", *end, out / "p.labels", two], [two], out / "p.labels"
    yield "relate", ["relate", "--json", "-q", one, two], [one, two], None
    yield "inspect", ["inspect", "--json", one], [one], None
    to = out / {"npy": "x.h5", "mtx": "x.npz", "h5": "x.mtx"}[ending]
    yield "convert", ["convert", "--force", one, to], [one], to


def memory(args, n=50000, columns=300, length=200):
    designs = {"dense": ["-d", columns, "--to", "npy"], "words": ["--design", "topics", "--words", WORDS, "--length", length]}
    out, bad, rows = args.data / "out", 0, []
    out.mkdir(parents=True, exist_ok=True)
    for kind, design in designs.items():
        folder, ending = args.data / kind, "npy" if kind == "dense" else "mtx"
        if not (folder / "model.h5").exists():
            kindred(args, "generate", "--tasks", 2, "-k", CLUSTERS, "-n", n, "-q", "--force", "-o", folder, *design)
            for i in (1, 2) if kind == "words" else ():
                kindred(args, "convert", "--stream", folder / f"task{i}.mtx", folder / f"task{i}.h5")
            kindred(args, "cluster", "-m", "kmeans", "-k", CLUSTERS, "--set", "max_iter=5", "--set", "n_init=1", "--save-model", folder / "model.h5", "-q", "--force",
                    "-o", out / "model", folder / f"task1.{ending}")
    for ending in ("npy", "mtx", "h5"):
        for name, words, inputs, where in memory_jobs(args.data / ("dense" if ending == "npy" else "words"), ending, out):
            expected, free_s, _ = memory_run(args, words, where)
            forget(inputs)
            with Group(int(args.limit * 1e6)) as group:
                found, bound_s, status = memory_run(args, words, where, group)
                peak = group.peak()
            same = expected is not None and found == expected
            bad += not same
            rows.append([name, ending, round(sum(os.path.getsize(p) for p in inputs) / 1e6), round(peak / 1e6), f"{bound_s:.1f}", f"{free_s:.1f}",
                         "yes" if same else f"no, status {status}"])
            print(f"{name} .{ending}: files of {rows[-1][2]} MB in {args.limit:.0f} MB: {bound_s:.1f} s, without a limit {free_s:.1f} s; the same: {rows[-1][-1]}", flush=True)
        forget(inputs)
        with Group(int(args.limit * 1e6)) as group:
            _, _, status = memory_run(args, [*words, "--no-stream"], where, group)
        print(f"{name} --no-stream .{ending}: status {status}", flush=True)
        bad += status == 0
    if args.out:
        common.write_csv(args.out, ["job", "format", "files_mb", "peak_mb", "seconds", "seconds_without_limit", "same"], rows, common.provenance("bench/scale.py memory"))
    return bad


CASES = {"growth": growth, "peers": peers, "ranks": ranks, "threads": threads, "memory": memory}


def main():
    args = common.arguments(__doc__, CASES, ["peers"], more=[
        ("--minutes", {"type": float, "default": float("inf")}), ("--only", {"default": "", "metavar": "TEXT"}), ("--machine", {"default": common.ARCHITECTURE}),
        ("--data", {"type": pathlib.Path, "default": common.ROOT / "bench" / "out", "help": "folder for made-up data, kept and used again (bench/out)"}),
        ("--sizes", {"default": "64000,160000,400000,1000000"}), ("--most", {"type": float, "default": 600}), ("--ranks", {"default": "1,2"}),
        ("--rows", {"type": int, "default": 250000}), ("--strong", {"type": int, "default": 1000000}), ("--limit", {"type": float, "default": 80}),
        ("--size", {"type": int, "default": 100000}), ("--counts", {"default": "1,2,4,8,16"}), ("--mpi", {"type": pathlib.Path}), ("--label", {"default": "after"})])
    args.data = args.data.resolve()
    return 1 if any([CASES[case](args) for case in args.cases]) else 0


if __name__ == "__main__":
    sys.exit(main())
