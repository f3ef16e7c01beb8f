#!/usr/bin/python3
"""Weak and strong scaling of k-means and mbc over ranks of mpirun, on one machine. SPDX-License-Identifier: BSD-3-Clause

    bench/scaling.py --kindred build/mpi/cli/kindred [--ranks 1,2] [--rows 250000[,1000000]] [--limit SECONDS] --to FILE.jsonl

Weak: every rank has `rows` rows of `cols` columns in files of its own, so that the work of a rank stays; the ideal is a constant
time. Copies: as many processes as the largest number of ranks, at once, each with such files and without MPI: what the machine
itself loses; ranks wait for the slowest in every exchange, so that the slowest copy is the one to compare with. Strong: as many
rows in all for any number of ranks (--strong); the ideal is time / ranks. Further sizes of --rows: one rank, the most, and copies.
Waiting: what bench/waiting.c says of the machine, with stretches of work of any length. One thread a rank. Iterations are fixed
(tol 0, max_iter), data are blobs that overlap, so that none converges before. Seconds are those of the fit as rank 0 tells them.
Where there are more ranks than cores the line says so: oversubscribed.

A line a run is appended to --to as soon as it is over, and a table is printed; bench/scale_docs.py --take makes the table of docs/scale.md
of such lines: the least seconds of each kind of run. All is gone through --repeats times; what does not begin within --limit
seconds is left out, and said. Needs mpirun, a C compiler for waiting.c, and taskset."""
import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

METHODS = ("kmeans", "mbc")
TASKS = 2


def run(command, wait=300):
    done = subprocess.run(command, capture_output=True, text=True, timeout=wait)
    if done.returncode:
        sys.exit("scaling: %s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return done.stdout


def generating(args, folder, rows, seed):
    return [args.kindred, "generate", "--tasks", str(TASKS), "-k", str(args.k), "-n", str(rows // TASKS), "-d", str(args.cols), "--separation", "0.2",
            "--shift", "0.1", "--to", "npy", "--seed", str(seed), "-o", folder, "-q", "--force"]


def generate(args, cores, name, rows, count):
    """`count` folders of `rows` rows each; as many at once as there are cores."""
    todo = [r for r in range(count) if not os.path.exists("%s%d/task%d.npy" % (name, r, TASKS))]
    while todo:
        now, todo = todo[:len(cores)], todo[len(cores):]
        started = [subprocess.Popen(generating(args, "%s%d" % (name, r), rows, r + 1)) for r in now]
        if any([p.wait() for p in started]):
            sys.exit("scaling: no data")


def header(f):
    """What the head of a .npy file (version 1) says; the file is where its numbers begin."""
    if f.read(8) != b"\x93NUMPY\x01\x00":
        sys.exit("scaling: %s is no .npy file of version 1" % f.name)
    return ast.literal_eval(f.read(int.from_bytes(f.read(2), "little")).decode("latin-1"))


def join(parts, to):
    """Rows of several .npy files, one after the other."""
    rows = 0
    for part in parts:
        with open(part, "rb") as f:
            head = header(f)
            rows += head["shape"][0]
    text = repr(dict(head, shape=(rows, head["shape"][1])))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(to, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin-1"))
        for part in parts:
            with open(part, "rb") as f:
                header(f)
                shutil.copyfileobj(f, out, 1 << 24)


def job(args, method, folder):
    command = [args.kindred, "cluster", "-m", method, "-k", str(args.k), "--threads", "1", "--set", "n_init=1", "--set", "tol=0", "--set",
               "max_iter=%d" % args.iterations, "-q", "--force", "-o", folder]
    return command + (["--set", "alone=0"] if method == "mbc" else [])


def result(folder):
    with open(os.path.join(folder, "result.json")) as f:
        return json.load(f)


def tasks_of(folder):
    return ["%s=%s/task%d.npy" % ("abcdefgh"[t], folder, t + 1) for t in range(TASKS)]


def copies(args, cores, method, count, data, folder):
    """Seconds of the fits of so many processes at once."""
    running = [subprocess.Popen(["taskset", "-c", str(cores[r % len(cores)]), *job(args, method, "%s%d" % (folder, r)), *tasks_of("%s%d" % (data, r))])
               for r in range(count)]
    if any([p.wait() for p in running]):
        sys.exit("scaling: a copy failed")
    return [result("%s%d" % (folder, r))["seconds"]["fit"] for r in range(count)]


def over_ranks(args, cores, method, files, ranks, folder):
    bind = ["--bind-to", "core"] if ranks <= len(cores) else ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    run(["mpirun", "-q", "--allow-run-as-root", "-n", str(ranks), *bind, *job(args, method, folder), *files])
    r = result(folder)
    return {"method": method, "ranks": ranks, "rows": sum(t["n"] for t in r["tasks"]), "iterations": r["iterations"], "seconds": r["seconds"]["fit"],
            "read": r["seconds"]["read"], "exchanges": r["method_fields"].get("exchanges"), "bytes_sent": r["method_fields"].get("bytes_sent")}


def waiting(folder, ranks):
    """Lines of bench/waiting.c."""
    program = os.path.join(folder, "waiting")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "waiting.c")
    run(["cc", "-std=c17", "-O3", "-march=native", "-pthread", "-o", program, source])
    return [json.loads(text) for text in run([program, str(ranks), "5"]).splitlines()]


def best(found):
    """The least seconds of each kind of run: {(kind, method, rows, ranks): line}, rows those of a rank, of strong runs those of all."""
    out = {}
    for m in found:
        if m["kind"] == "waiting":
            continue
        key = m["kind"], m["method"], m["rows"] if m["kind"] == "strong" else m["rows"] // m["ranks"], m["ranks"]
        if key not in out or m["seconds"] < out[key]["seconds"]:
            out[key] = m
    return out


def table(found):
    """Lines of text: seconds and efficiency of each kind of run, and of the slowest copy."""
    of, out = best(found), []
    for kind, method, rows, ranks in sorted(of):
        m = of[kind, method, rows, ranks]
        one = of.get((kind if kind == "strong" else "weak", method, rows, 1))
        text = "%-7s %-6s %9d rows %3d ranks %8.3f s" % (kind, method, rows, ranks, m["seconds"])
        if one:
            ideal = one["seconds"] / (ranks if kind == "strong" else 1)
            text += "  efficiency %5.1f %%" % (100 * ideal / m["seconds"])
        if kind == "copies":
            text += "  (the slowest; mean %.3f s)" % m["mean"]
        out.append(text + ("  (oversubscribed)" if m.get("oversubscribed") else ""))
    return out


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder, self.found, self.end = args, folder, [], time.monotonic() + args.limit
        self.cores = sorted(os.sched_getaffinity(0))
        self.ranks = [int(r) for r in args.ranks.split(",")]
        self.sizes = [int(r) for r in args.rows.split(",")]
        self.most = max(self.ranks)

    def data(self, rows):
        return os.path.join(self.folder, "data%d-" % rows)

    def put(self, kind, line):
        line = dict(line, kind=kind, machine=self.args.machine, cores=len(self.cores), columns=self.args.cols, clusters=self.args.k,
                    oversubscribed=line["ranks"] > len(self.cores))
        self.found.append(line)
        if self.args.to:
            with open(self.args.to, "a") as f:
                f.write(json.dumps(line) + "\n")

    def late(self, what):
        if time.monotonic() < self.end:
            return False
        print("left out: " + what, flush=True)
        return True

    def one(self, kind, method, folder, ranks):
        if self.late("%s %s %d" % (kind, method, ranks)):
            return
        line = over_ranks(self.args, self.cores, method, tasks_of(folder), ranks, os.path.join(self.folder, "out"))
        self.put(kind, line)
        print("%s %s %d ranks %d rows %.3f s" % (kind, method, ranks, line["rows"], line["seconds"]), flush=True)

    def weak(self, method, rows, ranks):
        # one rank reads the files of the first; {rank} stands for the number
        self.one("weak", method, self.data(rows) + ("0" if ranks == 1 else "{rank}"), ranks)

    def beside(self, method, rows):
        if self.late("copies %s %d" % (method, rows)):
            return
        seconds = copies(self.args, self.cores, method, self.most, self.data(rows), os.path.join(self.folder, "copy"))
        self.put("copies", {"method": method, "ranks": self.most, "rows": rows * self.most, "seconds": max(seconds), "least": min(seconds),
                            "mean": sum(seconds) / len(seconds)})

    def strong(self, method, ranks):
        whole = os.path.join(self.folder, "strong")
        if not os.path.exists(whole):
            generate(self.args, self.cores, self.data(self.args.strong // self.most), self.args.strong // self.most, self.most)
            os.mkdir(whole)
            for t in range(TASKS):
                parts = ["%s%d/task%d.npy" % (self.data(self.args.strong // self.most), r, t + 1) for r in range(self.most)]
                join(parts, "%s/task%d.npy" % (whole, t + 1))
        self.one("strong", method, whole, ranks)

    def all(self):
        if self.most <= len(self.cores) and shutil.which("cc"):
            for line in waiting(self.folder, self.most):
                self.put("waiting", line)
        for _ in range(self.args.repeats):
            for rows in self.sizes:
                generate(self.args, self.cores, self.data(rows), rows, self.most)
                for method in METHODS:
                    for r in self.ranks if rows == self.sizes[0] else sorted({1, self.most}):
                        self.weak(method, rows, r)
                    self.beside(method, rows)
                for method in METHODS if self.args.strong and rows == self.sizes[0] else ():
                    for r in reversed(self.ranks):
                        self.strong(method, r)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kindred")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--rows", default="250000", help="rows of a rank; further sizes after a comma")
    parser.add_argument("--strong", type=int, default=1000000, help="rows of the strong runs; 0: none")
    parser.add_argument("--cols", type=int, default=50)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which nothing begins")
    parser.add_argument("--machine", default=os.uname().machine)
    parser.add_argument("--to", help="file of lines, appended to")
    parser.add_argument("--folder", help="where data are made, and stay; else one that is removed")
    parser.add_argument("--table", nargs="+", help="only print the table of files of lines")
    args = parser.parse_args()
    if args.table:
        found = [json.loads(text) for name in args.table for text in open(name)]
        print("\n".join(table(found)))
        return
    if not args.kindred:
        parser.error("--kindred is needed")
    args.kindred = os.path.abspath(args.kindred)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    if args.folder:
        os.makedirs(args.folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kindred-scaling-", dir=args.folder) as scratch:
        if args.folder:
            scratch = args.folder
        bench = Bench(args, scratch)
        bench.all()
    print("\n".join(table(bench.found)))


if __name__ == "__main__":
    main()
