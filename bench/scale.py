#!/usr/bin/python3
"""How time and memory of the jobs grow with the number of samples.

usage: bench/scale.py KINDRED FILE.jsonl [--sizes N,N,...] [--jobs NAME,...] [--kinds dense,sparse] [--minutes M]
                      [--most SECONDS] [--data DIR] [--machine NAME] [--cores LIST] [--by-job]

Data are made by `kindred generate`, three tasks of a third of the samples each, five clusters: dense, 50 columns of blobs that
overlap; sparse, 60 words a sample out of 50,000. A job is a method of the registry, or one of vectorize, predict, relate,
inspect, convert; without --jobs it is all of them. Of the transfers the first task is the source, the second the target, the
third the bridge; where none is needed there are two tasks of half of the samples, and predict labels one of all of them. Methods that
grow with n^2 and n^3 are given a sixteenth of each size. Sizes, and within a size jobs, come in the order given (--by-job: jobs, and of a job the sizes). Every run is one line of FILE.jsonl, with
the machine's name (--machine); a run that has its line is not made again, so that the script can be stopped and started at any
time. It begins nothing after --minutes, and what takes more than --most seconds, or is not done a moment after --minutes, is ended and has its line. A job that would take
more than --most seconds by what a smaller size took is left out, and said to be.

--cores 0-11: as many jobs at once as these cores have room for, each on cores of its own; data are made at the same time, and a
job begins as soon as its own are there. bench/scale_docs.py makes the tables of docs/scale.md of the lines.

OMP_NUM_THREADS says how many threads a job has (default 1)."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import threading
import time

OTHER = ["vectorize", "predict", "relate", "inspect", "convert"]
# Methods that hold n x n numbers, or move one sample after another.
SMALL, SMALLER = ["snmf", "mtcfir", "trec"], 16
TAUGHT = 10000  # samples that predict's model was fitted to
COLUMNS, WORDS, LENGTH, CLUSTERS, SEPARATION = 50, 50000, 60, 5, 0.3


def registry(kindred):
    """Every method by its id."""
    answer = subprocess.run([kindred, "methods", "--json"], check=True, capture_output=True).stdout
    return {m["id"]: m for m in json.loads(answer)}


def make_text(folder, n):
    """Documents of 60 words, a line each; words fall off as 1 / (rank + 10)."""
    import numpy as np

    rng = np.random.default_rng(n)
    weight = 1.0 / (np.arange(WORDS) + 10)
    share = np.cumsum(weight / weight.sum())
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = np.array(["".join(letters[(i // 26**j) % 26] for j in range(4)) + "en " for i in range(WORDS)], dtype="S7")
    with open(folder / "text.part", "wb") as out:
        for at in range(0, n, 10000):
            rows = words[np.searchsorted(share, rng.random((min(10000, n - at), LENGTH)))].view(np.uint8)
            rows[:, -1] = ord("\n")
            out.write(rows.tobytes())
    os.rename(folder / "text.part", folder / "text.txt")


def parts(method, job):
    """How many tasks a job's samples are in."""
    if method and method["family"] == "transfer" and "bridge" not in method["capabilities"]:
        return 2
    return 1 if job == "predict" else 3


def make(kindred, root, kind, n, text=False, tasks=3):
    """The tasks of n samples in all, made once; bytes they take in memory."""
    folder = root / (f"{kind}-{n}" if tasks == 3 else f"{kind}-{n}-{tasks}")
    ending = "npy" if kind == "dense" else "mtx"
    if not (folder / f"task{tasks}.{ending}").exists():
        design = (["--design", "blobs", "-d", str(COLUMNS), "--separation", str(SEPARATION), "--shift", "0.05", "--to", "npy"]
                  if kind == "dense" else
                  ["--design", "topics", "--words", str(WORDS), "--length", str(LENGTH), "--purity", "0.4"])
        subprocess.run([kindred, "generate", "--tasks", str(tasks), "-k", str(CLUSTERS), "-n", str(n // tasks), "-q", "--force",
                        "-o", str(folder), *design], check=True)
    if text and not (folder / "text.txt").exists():  # by another process: what this one holds would count as the peak of those it starts
        subprocess.run([sys.executable, "-c", "import pathlib, sys; sys.path.insert(0, sys.argv[1]); import scale; "
                        "scale.make_text(pathlib.Path(sys.argv[2]), int(sys.argv[3]))",
                        str(pathlib.Path(__file__).resolve().parent), str(folder), str(n)], check=True)
    files = [folder / f"task{i + 1}.{ending}" for i in range(tasks)]
    if kind == "dense":
        return folder, files, 8.0 * n * COLUMNS
    entries = 0
    for path in files:
        with open(path, "rb") as lines:
            size = next(line for line in lines if not line.startswith(b"%"))
        entries += int(size.split()[2])
    return folder, files, 12.0 * entries + 8.0 * n


def command(kindred, method, job, kind, folder, tasks, out):
    """The arguments of a job; `method` is its entry in the registry, if it is one."""
    words = ["--weight", "tfidf", "--norm", "l2"] if kind == "sparse" else []
    end = ["-q", "--force", "-o", str(out)]
    if method:
        can = method["capabilities"]
        prep = ["--scale", "minmax"] if kind == "dense" and "nonnegative" in can else words
        if job in ("auto", "auto-transfer"):
            prep = []
        if method["family"] == "cluster":
            return [kindred, "cluster", "-m", job, "-k", str(CLUSTERS), "--score", *prep, *end, *map(str, tasks)]
        if method["family"] == "transfer":
            bridge = ["--bridge", str(tasks[2])] if "bridge" in can else []
            return [kindred, "transfer", "-m", job, "--source", str(tasks[0]), "--labels",
                    str(tasks[0].with_suffix(".labels")), "--target", str(tasks[1]), "--truth",
                    str(tasks[1].with_suffix(".labels")), *bridge, *prep, *end]
        return [kindred, "cluster", "-m", "kmeans", "-k", str(CLUSTERS), "--features-from", job, *prep, *end,
                *map(str, tasks)]
    if job == "vectorize":
        return [kindred, "vectorize", "--from", "lines", "--force", "-q", "-o", str(out), str(folder / "text.txt")]
    if job == "predict":
        taught, known, _ = make(kindred, folder.parent, kind, TAUGHT, tasks=1)
        model = taught / "kmeans.h5"
        if not model.exists():
            subprocess.run([kindred, "cluster", "-m", "kmeans", "-k", str(CLUSTERS), *words, "--save-model", str(model), *end,
                            str(known[0])], check=True)
        return [kindred, "predict", "--model", str(model), "-q", "--force", "-o", str(out / "predicted.labels"), str(tasks[0])]
    if job == "relate":
        return [kindred, "relate", "--json", *words, "-q", *map(str, tasks)]
    if job == "inspect":
        return [kindred, "inspect", "--json", *map(str, tasks)]
    return [kindred, "convert", "--force", str(tasks[0]), str(out / ("x.h5" if kind == "dense" else "x.npz"))]


def run(arguments, out, most, cores=None):
    """One run, on these cores: what goes into its line."""
    result = out / "result.json"
    if result.exists():
        result.unlink()
    begin = time.perf_counter()
    pinned = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    child = subprocess.Popen(pinned + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    clock = threading.Timer(most, child.kill)
    clock.start()
    error = child.stderr.read().decode().strip().splitlines()
    _, status, usage = os.wait4(child.pid, 0)
    clock.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    line = {"status": child.returncode, "wall": round(time.perf_counter() - begin, 3),
            "cpu": round(usage.ru_utime + usage.ru_stime, 3), "peak": usage.ru_maxrss * 1024}
    if child.returncode != 0:
        line["error"] = "ended" if child.returncode == -9 else error[-1] if error else ""
    if result.exists():
        with open(result, encoding="utf-8") as f:
            r = json.load(f)
        line["seconds"] = r["seconds"]
        line["iterations"] = r["iterations"]
        line["peak"] = r["peak_rss_bytes"]  # a child's begins with what its parent had
        if "estimated" in r:
            line["estimated"] = r["estimated"]
        scores = [t["metrics"]["nmi"] for t in r["tasks"] if t.get("metrics")]
        if scores:
            line["nmi"] = round(sum(scores) / len(scores), 4)
    return line


class Plan:
    """What is to be made and run, by several workers at once."""

    def __init__(self, args, methods, jobs, threads):
        self.args, self.methods, self.threads = args, methods, threads
        self.end = time.monotonic() + 60 * args.minutes
        self.changed, self.asked = threading.Condition(), threading.Lock()
        self.lines = []
        if args.file.exists():
            with open(args.file, encoding="utf-8") as f:
                self.lines = [json.loads(line) for line in f]
        sizes, kinds = list(map(int, args.sizes.split(","))), args.kinds.split(",")
        pairs = [(job, size) for job in jobs for size in sizes] if args.by_job else [(job, size) for size in sizes for job in jobs]
        self.runs = [(job, kind, size // SMALLER if job in SMALL else size) for job, size in pairs for kind in kinds
                     if not (job == "vectorize" and kind == "dense")]
        self.runs = [r for r in self.runs if not any((m["job"], m["kind"], m["n"], m["threads"]) == (*r, threads) for m in self.lines)]
        self.made, self.begun = {}, set()

    def needs(self, job, kind, n):
        """The data of a job."""
        return kind, n, parts(self.methods.get(job), job), job == "vectorize"

    def too_long(self, job, kind, n):
        """Whether a smaller size failed, or took so long that this one would take too long."""
        mine = [r for r in self.lines if (r["job"], r["kind"], r["threads"]) == (job, kind, self.threads) and r["n"] < n]
        before = max(mine, key=lambda r: r["n"], default=None)
        return before and (before["status"] != 0 or before["cpu"] * (n / before["n"]) ** 1.2 > self.args.most * self.threads)

    def take(self):
        """The next thing to do: data that a run waits for, or a run whose data are there; None where there is nothing left."""
        with self.changed:
            while time.monotonic() < self.end:
                for r in self.runs:
                    data = self.needs(*r)
                    if data not in self.begun:
                        self.begun.add(data)
                        return "make", data
                    if data in self.made:
                        self.runs.remove(r)
                        return "run", r
                if not self.runs:
                    return None
                self.changed.wait(1)
        return None

    def do(self, what, which, cores):
        if what == "make":
            kind, n, tasks, text = which
            if not text:  # of one folder only one is made at a time
                made = make(self.args.kindred, self.args.data, kind, n, tasks=tasks)
            else:
                while (kind, n, tasks, False) in self.begun and (kind, n, tasks, False) not in self.made:
                    time.sleep(0.2)
                made = make(self.args.kindred, self.args.data, kind, n, True, tasks)
            with self.changed:
                self.made[which] = made
                self.changed.notify_all()
            return
        job, kind, n = which
        if self.too_long(job, kind, n):
            print(f"left out: {job} {kind} {n}", file=sys.stderr, flush=True)
            return
        folder, tasks, bytes_of = self.made[self.needs(job, kind, n)]
        out = folder / f"out-{job}"
        out.mkdir(exist_ok=True)
        with self.asked:  # a model for predict is made by the first who needs it
            arguments = command(self.args.kindred, self.methods.get(job), job, kind, folder, tasks, out)
        line = {"job": job, "kind": kind, "n": n, "machine": self.args.machine, "threads": self.threads, "data": bytes_of}
        line.update(run(arguments, out, min(self.args.most, max(self.end + 5 - time.monotonic(), 1)), cores))
        with self.changed:
            self.lines.append(line)
            with open(self.args.file, "a", encoding="utf-8") as f:
                f.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)

    def work(self, cores):
        while (todo := self.take()) is not None:
            try:
                self.do(*todo, cores)
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"left out: {todo}: {error}", file=sys.stderr, flush=True)
                with self.changed:  # nor what needs these data
                    self.begun.discard(todo[1])
                    self.runs = [r for r in self.runs if todo[0] == "run" or self.needs(*r) != todo[1]]


def cores_of(text):
    """0-3,8 as numbers."""
    ends = [part.split("-") for part in text.split(",")]
    return [c for e in ends for c in range(int(e[0]), int(e[-1]) + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kindred")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--sizes", default="64000,160000,400000,1000000")
    parser.add_argument("--jobs")
    parser.add_argument("--kinds", default="dense,sparse")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--most", type=float, default=60)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("scale-data"))
    parser.add_argument("--machine", default=platform.machine())
    parser.add_argument("--cores", type=cores_of)
    parser.add_argument("--by-job", action="store_true")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    threads = int(os.environ["OMP_NUM_THREADS"])
    args.data.mkdir(parents=True, exist_ok=True)
    methods = registry(args.kindred)
    plan = Plan(args, methods, list(methods) + OTHER if args.jobs is None else [job for job in args.jobs.split(",") if job], threads)
    lots = [args.cores[i:i + threads] for i in range(0, len(args.cores) - threads + 1, threads)] if args.cores else [None]
    workers = [threading.Thread(target=plan.work, args=(lot,)) for lot in lots]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
