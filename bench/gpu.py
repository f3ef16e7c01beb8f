#!/usr/bin/python3
"""Measures the speed of a GPU: kindred on a device, PyTorch on the same card, and kindred on the CPU. SPDX-License-Identifier: BSD-3-Clause

usage: bench/gpu.py [CASE...] [--build DIR] [--out FILE.csv] [--device cuda] [--tiny] [--sets SET...] [--only COMMAND...] [--samples N...]

kmeans, text-kmeans          1,000,000 x 256, k = 100, and 1,000,000 texts of 59,030 words: 20 iterations, without transfers to and from the card
neighbours, text-neighbours  exact 10 neighbours of 1,000,000 x 50 and of 200,000 texts
mtcfir, mtcfir-text          100,000 x 3,000, and text of the shape of 20 Newsgroups; compared with one large product of as many operations
nmtf, pca-kmeans, auto       200,000 texts in 20 classes, 20 sweeps; 400,000 x 1,000; 2 x 500,000 x 50: compared with the CPU
commands                     entire commands, dense data and texts of several sizes, with --device cpu, cuda and auto (runs only if named)
same                         checks that labels on the device are those of the CPU, on real data (runs only if named)

--tiny uses sizes that a CPU handles in seconds, so that `--device cpu --tiny` is a dry run. Without PyTorch, the CPU is the alternative.
Build with: cmake --build build/release --target kindred kindred_shared kindred_cuda kindred_bench_shim"""

import ctypes as C
import functools
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import auto
import common
import numpy as np
import scipy.sparse as sp

CLUSTER = {  # what is run: method and options
    "kmeans": ("-m", "kmeans"), "kmeans spherical": ("-m", "kmeans", "--set", "spherical=true"), "pca-kmeans": ("-m", "pca-kmeans"), "ncut": ("-m", "ncut"),
    "auto": (), "snmf": ("-m", "snmf", "--set", "precision=double"), "mtcfir": ("-m", "mtcfir", "--set", "precision=double"),
    "mtcfir single": ("-m", "mtcfir", "--set", "precision=single"), "lssmtc": ("-m", "lssmtc"),
}
TRANSFER = {"nmtf": ("-m", "nmtf"), "ttl": ("-m", "ttl"), "aligned-ridge": ("-m", "aligned-ridge"), "transfer": ("-m", "auto")}


def library(args, device):
    lib = common.library(args)
    lib.check(lib.lib.kdr_context_set_device(lib.ctx, device.encode()))
    return lib


def text(n, d, topics):
    """120 words by Zipf's law, 30 % of them of the row's topic, rows of length 1; and the topics."""
    rng = np.random.default_rng(1)
    topic = rng.integers(topics, size=n)
    word = (d ** rng.random((n, 120))).astype(np.int64) - 1
    word = np.where(rng.random((n, 120)) < 0.3, (word * topics + topic[:, None]) % d, word)
    x = sp.csr_matrix((np.ones(word.size), (np.repeat(np.arange(n), 120), word.ravel())), (n, d))
    x.sum_duplicates()
    x.data = np.log(2 + x.indices)
    return common.unit(x), topic


# --- PyTorch ---------------------------------------------------------------------------------------------------------------


class Torch:
    """PyTorch on the card (or the processor), or nothing where it is not installed."""

    def __init__(self, x, single):
        import torch

        self.torch, self.device = torch, "cuda" if torch.cuda.is_available() else "cpu"
        self.kind = torch.float32 if single else torch.float64
        self.name = f"PyTorch {torch.__version__.split('+')[0]}, float{32 if single else 64}"
        if sp.issparse(x):
            self.x, self.turned = self.csr(x), self.csr(x.T.tocsr())
        else:
            self.x = torch.tensor(x, dtype=self.kind, device=self.device)

    def csr(self, x):
        index = {"dtype": self.torch.int64, "device": self.device}
        return self.torch.sparse_csr_tensor(self.torch.tensor(x.indptr, **index), self.torch.tensor(x.indices, **index),
                                            self.torch.tensor(x.data, dtype=self.kind, device=self.device), x.shape)

    def seconds(self, call):
        def run():
            call()
            if self.device == "cuda":
                self.torch.cuda.synchronize()

        run()  # the first call loads libraries
        return common.best_of(2, run)[0]

    def kmeans(self, first, iterations):
        torch, n, k = self.torch, self.x.shape[0], first.shape[0]
        first = torch.tensor(first, dtype=self.kind, device=self.device)
        sparse = hasattr(self, "turned")

        def run():
            c = first
            for _ in range(iterations):
                labels = ((c * c).sum(1) - 2 * (self.x @ c.T.contiguous())).argmin(1)
                if sparse:
                    member = torch.zeros(n, k, device=self.device, dtype=self.kind)
                    member[torch.arange(n, device=self.device), labels] = 1
                    sums = (self.turned @ member).T
                else:
                    sums = torch.zeros_like(c).index_add_(0, labels, self.x)
                c = sums / torch.bincount(labels, minlength=k).clamp(min=1).to(self.kind)[:, None]

        return self.seconds(run)

    def neighbours(self, k, tile=4096):
        """Exact neighbours of all rows, a tile of them at a time."""
        torch, (n, d) = self.torch, self.x.shape
        if hasattr(self, "turned"):
            begin, col, value = self.x.crow_indices(), self.x.col_indices(), self.x.values()
            row = torch.repeat_interleave(torch.arange(n, device=self.device), begin[1:] - begin[:-1])
        else:
            squares = (self.x * self.x).sum(1)

        def run():
            for i in range(0, n, tile):
                if hasattr(self, "turned"):
                    part, inside = torch.zeros(d, min(tile, n - i), device=self.device, dtype=self.kind), slice(int(begin[i]), int(begin[min(i + tile, n)]))
                    part[col[inside], row[inside] - i] = value[inside]
                    (self.x @ part).T.topk(k + 1)
                else:
                    (squares - 2 * (self.x[i:i + tile] @ self.x.T)).topk(k + 1, largest=False)

        return self.seconds(run)

    def product_rate(self, n):
        """Gflop/s of one large product."""
        a = self.torch.randn(n, n, device=self.device, dtype=self.kind)
        return 2e-9 * n ** 3 / self.seconds(lambda: a @ a)


def torch_peers(x, measure):
    """(name, what `measure` gives) in both precisions, if PyTorch is installed."""
    if "PyTorch" in dict(common.versions()):
        for single in (True, False):
            peer = Torch(x, single)
            yield peer.name, measure(peer)


# --- cases -----------------------------------------------------------------------------------------------------------------


def rows_of(case, ours, peers, processor, note=""):
    """A row for each alternative; the CPU is measured only if there is no other."""
    peers = list(peers) or [("kindred on the processor", processor())]
    return [common.row(case, ours, name, theirs, note) for name, theirs in peers]


def kmeans_seconds(args, device, x, k, iterations):
    """Seconds of the iterations, from event to event, and of the entire fit."""
    lib, at = library(args, device), []
    problem = lib.prepare([x], k)
    for _ in range(2):  # the first one opens the device
        at.clear()
        found = common.fit_with_events(lib, lambda e: at.append((e.iteration, e.seconds)) if e.stage == b"kmeans" and e.iteration else None, "kmeans", problem,
                                       start="random", n_init=1, max_iter=iterations, tol=0)
    each = (at[-1][1] - at[0][1]) / max(at[-1][0] - at[0][0], 1)
    return each * iterations, found["seconds"]


def kmeans(sparse, args):
    n, d, k, iterations = (1_000_000, 59030, 100, 20) if sparse else (1_000_000, 256, 100, 20)
    if args.tiny:
        n, d, k, iterations = (3000, 2000, 5, 10) if sparse else (20000, 16, 10, 20)
    x = text(n, d, k)[0] if sparse else common.blobs(n, d, k, 1)[0]
    ours, call = kmeans_seconds(args, args.device, x, k, iterations)
    first = x[np.random.default_rng(2).choice(n, k, replace=False)]
    first = first.toarray() if sparse else first
    return rows_of(f"k-means, {n} x {d}{' texts' * sparse}, k = {k}, {iterations} iterations", ours,
                   torch_peers(x, lambda t: t.kmeans(first, iterations)), lambda: kmeans_seconds(args, "cpu", x, k, iterations)[0], f"entire call {call:.3g} s")


def neighbours(sparse, args):
    n, d, k = ((2000, 5000, 10) if sparse else (3000, 50, 10)) if args.tiny else (200_000, 59030, 10) if sparse else (1_000_000, 50, 10)
    shim, x = C.CDLL(str(args.build / "bench" / "kindred_bench_shim.so")), text(n, d, 20)[0] if sparse else common.blobs(n, d, 100, 1)[0]
    arrays = (x.indptr.astype("int64"), x.indices.astype("int32"), x.data) if sparse else (None, None, np.ascontiguousarray(x))
    index = np.empty((n, k), dtype=np.int32)

    def ours(device):
        status = shim.bench_neighbours(C.c_int64(n), C.c_int64(d), *(C.c_void_p(a.ctypes.data) if a is not None else None for a in arrays), C.c_int64(k),
                                       C.c_void_p(index.ctypes.data), device.encode(), C.c_int(args.threads))
        if status:
            sys.exit(f"gpu: neighbours on {device}: status {status}")

    return rows_of(f"{k} neighbours of {n} x {d}{' texts' * sparse}", common.best_of(1, lambda: ours(args.device))[0],
                   torch_peers(x, lambda t: t.neighbours(k)), lambda: common.best_of(1, lambda: ours("cpu"))[0], "with all transfers")


def fit_seconds(args, device, method, xs, k, **options):
    lib = library(args, device)
    problem = lib.prepare(xs, k)
    return lib.fit(method, *problem, **options)


def mtcfir(sparse, args):
    n, d, k = ((600, 2000, 5) if sparse else (600, 40, 5)) if args.tiny else (18845, 59030, 20) if sparse else (100_000, 3000, 10)
    x = text(n, d, k)[0] if sparse else 1 / (1 + np.exp(-common.blobs(n, d, k, 1)[0]))
    found = fit_seconds(args, args.device, "mtcfir", [x[:n // 2], x[n // 2:]], k)
    gflop = found["fields"]["dense_gflop"]
    peers = [(name + ", one product", gflop / rate) for name, rate in torch_peers(np.zeros((1, 1)), lambda t: t.product_rate(256 if args.tiny else 12288))]
    return rows_of(f"mtcfir, {n} x {d}{' texts' * sparse}, k = {k}", found["seconds"], peers,
                   lambda: fit_seconds(args, "cpu", "mtcfir", [x[:n // 2], x[n // 2:]], k)["seconds"], f"{gflop / 1e3:.1f} Tflop")


def on_both(method, args):
    """A method on the device and on the processor."""
    options = {}
    if method == "nmtf":
        n, d, k = (400, 2000, 5) if args.tiny else (200_000, 59030, 20)
        x, topic = text(n, d, k)
        options = {"init": "half", "max_iter": 20, "tol": 0}
    else:
        n, d, k = ((3000, 100, 5) if args.tiny else (400_000, 1000, 50)) if method == "pca-kmeans" else (2000, 20, 5) if args.tiny else (1_000_000, 50, 10)
        x, topic = common.blobs(n, d, 2 * k, 1)
    halves, seconds, labels = [x[:n // 2], x[n // 2:]], [], []
    for device in (args.device, "cpu"):
        lib = library(args, device)
        problem = lib.transfer(halves, [topic[:n // 2], None], k) if method == "nmtf" else lib.prepare(halves, k)
        found = lib.fit(method, *problem, **options)
        seconds.append(found["seconds"])
        labels.append(found["labels"][-1])
    return [common.row(f"{method}, {n} x {d}, k = {k}", seconds[0], "kindred on the processor", seconds[1], f"{np.sum(labels[0] != labels[1])} labels differ")]


# --- labels on real data -----------------------------------------------------------------------------------------------------


def run_program(command, device, out):
    done = subprocess.run([*command, "--device", device, "-q", "--force", "-o", str(out)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"gpu: {done.stderr.strip()}")
    return json.loads((out / "result.json").read_text())


def same(args):
    rows, bad = [], 0
    for name in args.sets or auto.SETS:
        tasks = auto.tasks_of(name)
        files, k = [str(t[1]) for t in tasks], max(map(auto.classes, tasks))
        prepare = ("--weight", "cpm") if name == "sc_mixology3" else ("--weight", "tfidf", "--norm", "l2") if ".mtx" in files[0] else ()
        for what in [*CLUSTER, *(w for w in TRANSFER if len(files) >= 2 + (w == "ttl"))]:
            command = [args.program, "cluster", *CLUSTER.get(what, ()), "-k", str(k), *prepare, *files]
            if what in TRANSFER:
                bridge = ["--bridge", files[2]] if what == "ttl" else []
                command = [args.program, "transfer", *TRANSFER[what], *prepare, "--source", files[0], "--labels", str(tasks[0][2]), "--target", files[1], *bridge]
            with tempfile.TemporaryDirectory() as folder:
                card, cpu = (run_program(command, device, pathlib.Path(folder) / device.replace(":", "-")) for device in (args.device, "cpu"))
            differ = sum(x != y for a, b in zip(cpu["tasks"], card["tasks"]) for x, y in zip(a.get("labels") or [], b.get("labels") or []))
            far = max((abs(x - y) / max(abs(x), 1e-300) for x, y in zip(cpu["objective"], card["objective"])), default=0)
            bad += differ > 0 and "single" not in what
            rows.append(common.row(f"{what}, {name}", card["seconds"]["fit"], "kindred on the processor", cpu["seconds"]["fit"],
                                   f"{differ} labels differ; objective within {far:.1e}"))
            print(rows[-1]["case"], rows[-1]["note"], flush=True)
    if bad:
        common.report(rows)
        sys.exit(f"gpu: labels of {bad} runs in double precision differ")
    return rows


# --- entire commands -----------------------------------------------------------------------------------------------------------

COMMANDS = {  # the most samples of dense data and of texts
    "cluster": (1_000_000, 40_000), "cluster -m kmeans": (1_000_000, 200_000), "cluster -m pca-kmeans": (1_000_000, 40_000), "cluster -m ncut": (200_000, 40_000),
    "cluster -m lssmtc": (200_000, 10_000), "cluster -m mtcfir": (10_000, 10_000), "cluster -m snmf": (10_000, 10_000),
    "transfer": (1_000_000, 40_000), "transfer -m nmtf": (0, 40_000), "transfer -m aligned-ridge": (40_000, 10_000),
}


def write_halves(folder, n, sparse):
    """Two data sets with the labels of both, 8 classes: n samples in all, of 50 columns or of 10,000 words."""
    x, topic = text(n, 10_000, 8) if sparse else common.blobs(n, 50, 8, 1)
    for name, part in (("a", slice(0, n // 2)), ("b", slice(n // 2, n))):
        (sp.save_npz if sparse else np.save)(folder / f"{name}.np{'z' if sparse else 'y'}", x[part])
        (folder / f"{name}.labels").write_text("\n".join(map(str, topic[part])) + "\n", encoding="utf-8")
    return [folder / f"{name}.np{'z' if sparse else 'y'}" for name in "ab"]


def command_rows(args, name, files, sparse, n):
    """Seconds by the clock of a command, from start to end, on three choices of device."""
    folder, labels, devices = files[0].parent, {}, ("cpu", args.device, "auto")
    data = ["--source", files[0], "--labels", folder / "a.labels", "--target", files[1]] if name.startswith("transfer") else ["-k", "8", *files]
    command = [str(args.program), *name.split(), "--threads", str(args.threads), *map(str, data)]

    def run(device):
        labels[device] = [t.get("labels") for t in run_program(command, device, folder / "out")["tasks"]]

    seconds = dict(zip(devices, common.best_of(2 if n <= 40_000 else 1, *(functools.partial(run, d) for d in devices))))
    for device in devices[1:]:
        yield common.row(f"{name}, {n} {'texts' if sparse else 'x 50'}, --device {device}", seconds[device], "--device cpu", seconds["cpu"],
                         "same labels" if labels[device] == labels["cpu"] else "other labels")


def commands(args):
    rows = []
    for sparse, n in itertools.product((False, True), (1000, 4000) if args.tiny else args.samples or (1000, 10_000, 40_000, 200_000, 1_000_000)):
        wanted = [name for name, most in COMMANDS.items() if n <= most[sparse] and (not args.only or name in args.only)]
        with tempfile.TemporaryDirectory() as folder:
            files = write_halves(pathlib.Path(folder), n, sparse) if wanted else None
            for row in (row for name in wanted for row in command_rows(args, name, files, sparse, n)):
                rows.append(row)
                print(row["case"], f"{row['kindred_s']} s, cpu {row['peer_s']} s,", row["note"], flush=True)
    return rows


CASES = {"kmeans": functools.partial(kmeans, False), "text-kmeans": functools.partial(kmeans, True), "neighbours": functools.partial(neighbours, False),
         "text-neighbours": functools.partial(neighbours, True), "mtcfir": functools.partial(mtcfir, False), "mtcfir-text": functools.partial(mtcfir, True)}
CASES.update({m: functools.partial(on_both, m) for m in ("nmtf", "pca-kmeans", "auto")}, commands=commands, same=same)

if __name__ == "__main__":
    sys.exit(common.main(__doc__, CASES, default=[c for c in CASES if c not in ("commands", "same")], more=[
        ("--device", {"default": "cuda"}), ("--tiny", {"action": "store_true"}), ("--sets", {"nargs": "*"}), ("--only", {"nargs": "*", "metavar": "COMMAND"}),
        ("--samples", {"nargs": "*", "type": int})]))
