"""Uses the installed wheel: clustering, a classifier, and every library that is inside. SPDX-License-Identifier: BSD-3-Clause"""
import gzip
import os
import subprocess
import sys

import numpy as np

import kindred
from kindred._kindred import ffi, lib

home = os.path.dirname(kindred.__file__)
info = ffi.string(lib.kdr_build_info()).decode()
for part in ("hdf5", "zlib", "expat", "utf8proc", "stemmer", "libsvm", "openmp"):
    assert lib.kdr_build_has(part.encode()), "no %s:\n%s" % (part, info)
assert "blas: builtin" in info, info

rng = np.random.default_rng(1)
y = np.arange(60) % 3
x = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(60, 2))
model = kindred.Auto(n_clusters=3).fit([x, x + .1])
assert kindred.evaluate(model.labels_[1], y)["acc"] == 1
assert (kindred.SVM().fit(x, y).predict(x) == y).all()

# HDF5: a model, written and read. zlib: a compressed table. libstemmer, utf8proc: texts. LIBSVM: trec.
means = kindred.KMeans(n_clusters=3).fit(x)
means.result_.save_model("model.h5", force=True)
assert (np.asarray(kindred.load_model("model.h5").predict(x)) == means.labels_).all()
with gzip.open("table.csv.gz", "wt") as table:
    table.write("a,b\n" + "".join("%g,%g\n" % tuple(row) for row in x))
assert (kindred.KMeans(n_clusters=3).fit("table.csv.gz").labels_ == means.labels_).all()
words = ["Ärzte heilen Kranke", "Katzen jagen Mäuse", "Die Katze jagt die Maus", "Der Arzt heilt den Kranken"] * 5
assert len(set(np.asarray(kindred.KMeans(n_clusters=2).fit({"a": words}).labels_["a"]))) == 2
trec = kindred.TrEC().fit(x, y, np.hstack([x, x[:, :1]]))
assert len(np.asarray(trec.transduction_)) == 60

subprocess.run([sys.executable, "-m", "kindred.bench", "defaults", "--repeats", "1", "-o", "rows", "--force", "-q"], check=True)  # a plan of the package
assert os.path.exists("rows/bench.json")

with open("/proc/self/maps") as maps:
    used = {line.split()[-1] for line in maps if ".so" in line}
ours = sorted(os.path.relpath(path, home) for path in used if path.startswith(home))
for part in ("hdf5", "stemmer", "svm", "utf8proc"):  # the system's zlib and expat are used by Python itself
    assert not any(part in os.path.basename(path) and not path.startswith(home) for path in used), (part, used)
print("wheel: Python %s, NumPy %s, %s" % (sys.version.split()[0], np.__version__, ", ".join(ours)))
