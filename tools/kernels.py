#!/usr/bin/env python3
"""Runs the tests of results with the BLAS kernels of other processors, and lists which labels differ between them.

Usage: tools/kernels.py BUILD [KERNEL...]   (default: those of OpenBLAS for this architecture; one that this processor cannot run is left out)

1. Every unit and ref test (make check's) must pass with each kernel.
2. Every clustering method, auto included, clusters generated data and, if KINDRED_DATA or ../shared/data has it, coil20, with 25 samples per data set. Differing
   labels are listed. They are a failure for single methods, unless memberships are tied (tests/unit/test_snmf.c); auto has a member that cuts a graph
   with equal eigenvalues (tests/unit/test_graph.c).
SPDX-License-Identifier: BSD-3-Clause"""
import gzip
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("KINDRED_DATA") or ROOT.parent / "shared" / "data")
# OpenBLAS's name, and the flag of /proc/cpuinfo that it needs.
KERNELS = {"x86_64": {"Haswell": "avx2", "SkylakeX": "avx512bw", "Sandybridge": "avx"}, "aarch64": {"ARMV8": "asimd", "NEOVERSEN1": "asimddp"}}
TIED = 1e-9


def usable(wanted):
    known = KERNELS.get(platform.machine(), {})
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    for name in wanted or known:
        if name in known and known[name] not in flags:
            print("%s: skipped: this processor has no %s" % (name, known[name]))
        else:
            yield name


def run(program, kernel, folder, files, method, k):
    """Labels of each data set, and memberships of each, if the method has them."""
    out = folder / kernel
    command = [program, "cluster", "-q", "--threads", "1", "--force", "-m", method, "-k", k, "-o", out, "--save-model", out / "model.h5", *files]
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    out.mkdir(exist_ok=True)
    done = subprocess.run([str(part) for part in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return None
    import h5py

    labels = [task["labels"] for task in json.loads((out / "result.json").read_text())["tasks"]]
    with h5py.File(out / "model.h5") as model:
        group = model.get("arrays/memberships")
        return labels, [group[str(t)][()] for t in range(len(labels))] if group else None


def tied(first, second, memberships):
    """Whether every sample that two runs put into different clusters has two equal largest memberships."""
    for a, b, y in zip(first, second, memberships):
        # A cluster is named by its samples: numbers depend on the order of clusters.
        members = [{c: frozenset(i for i, x in enumerate(each) if x == c) for c in set(each)} for each in (a, b)]
        for i in range(len(a)):
            if members[0][a[i]] != members[1][b[i]]:
                top = sorted(y[i])[-2:]
                others = members[0][a[i]] ^ members[1][b[i]]
                if top[1] - top[0] > TIED * top[1] and not any(sorted(y[j])[-1] - sorted(y[j])[-2] <= TIED * sorted(y[j])[-1] for j in others):
                    return False
    return True


def cases(program, folder):
    """(name, files, k) of small data sets."""
    import numpy

    for design, seed in itertools.product(("blobs", "topics"), (1, 2)):
        made = folder / ("%s%d" % (design, seed))
        done = subprocess.run([program, "generate", "--design", design, "--tasks", "2", "-k", "4", "-n", "25", "--seed", str(seed), "-q", "-o", made], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        yield "%s, seed %d" % (design, seed), sorted(p for p in made.iterdir() if p.suffix in (".mtx", ".npy", ".csv")), "4"
    if not (DATA / "coil20").is_dir():
        print("coil20: skipped: no data (docs/data.md)")
        return
    for draw in range(10):
        rng, files, k = numpy.random.default_rng(draw), [], []
        for name in ("coil1", "coil2"):
            labels = (DATA / "coil20" / (name + ".labels")).read_text().split()
            rows = numpy.sort(rng.permutation(len(labels))[:25])
            with gzip.open(DATA / "coil20" / (name + ".npy.gz")) as file:
                numpy.save(folder / ("%s-%d.npy" % (name, draw)), numpy.load(file)[rows])
            files.append(folder / ("%s-%d.npy" % (name, draw)))
            k.append(str(len({labels[i] for i in rows})))
        yield "coil20, draw %d" % draw, files, ",".join(k)


def compare(program, kernels):
    """Prints what differs; the number of differences that ties do not explain."""
    methods = [m["id"] for m in json.loads(subprocess.check_output([program, "methods", "--json"])) if m["family"] == "cluster"]
    runs = unexplained = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, files, k in cases(program, pathlib.Path(folder)):
            for method in methods:
                found = {kernel: run(program, kernel, pathlib.Path(folder), files, method, k) for kernel in kernels}
                if not all(found.values()):
                    continue
                runs += 1
                first = kernels[0]
                for kernel in kernels[1:]:
                    (a, y), (b, _) = found[first], found[kernel]
                    moved = sum(x != z for one, other in zip(a, b) for x, z in zip(one, other))
                    if not moved:
                        continue
                    why = "its member mtcfir has equal eigenvalues" if method == "auto" else "tied memberships" if y and tied(a, b, y) else "UNEXPLAINED"
                    unexplained += why == "UNEXPLAINED"
                    print("%s, %s: %d of %d labels differ between %s and %s (%s)" % (name, method, moved, sum(map(len, a)), first, kernel, why), flush=True)
    print("%d runs compared on %s" % (runs, ", ".join(kernels)))
    return unexplained


def main():
    build, kernels = sys.argv[1], list(usable(sys.argv[2:]))
    status = 0
    for kernel in kernels:
        print("== tests with the kernel %s" % kernel, flush=True)
        status |= subprocess.call([sys.executable, ROOT / "tools/tests.py", build, "-R", r"^(unit|ref)\.", "-LE", "deep"], env={**os.environ, "OPENBLAS_CORETYPE": kernel})
    print("== labels", flush=True)
    return 1 if compare(os.path.join(build, "cli/kindred"), kernels) or status else 0


if __name__ == "__main__":
    sys.exit(main())
