"""Makes the seeds of the binary readers' fuzz targets: small files of every kind they read.

SPDX-License-Identifier: BSD-3-Clause
Usage: make_corpus_bin.py CORPUS_FOLDER (models: saved by hand with `kindred cluster --save-model`)
"""
import gzip
import os
import sys

import h5py
import numpy as np
import scipy.io
import scipy.sparse as sp


def path(kind, name):
    os.makedirs(os.path.join(sys.argv[1], kind), exist_ok=True)
    return os.path.join(sys.argv[1], kind, name)


x = np.arange(12.0).reshape(4, 3)
s = sp.csr_matrix(np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 0.0]]))
np.save(path("npy", "c.npy"), x)
np.save(path("npy", "f.npy"), np.asfortranarray(x.astype(">i2")))
np.save(path("npy", "half.npy"), x[:, 0].astype("f2"))
with open(path("npy", "v3.npy"), "wb") as f:
    np.lib.format.write_array(f, x.astype("u1"), (3, 0))
with gzip.GzipFile(path("npy", "z.npy.gz"), "wb", mtime=0) as f:
    np.save(f, x)
np.savez(path("npz", "dense.npz"), x)
np.savez_compressed(path("npz", "packed.npz"), x)
sp.save_npz(path("npz", "csr.npz"), s)
sp.save_npz(path("npz", "csc.npz"), s.tocsc(), False)

with h5py.File(path("hdf5", "plain.h5"), "w", libver="earliest") as f:
    f["X"] = x
    f.create_dataset("features", data=["a", "b", "c"], dtype=h5py.string_dtype())
with h5py.File(path("hdf5", "chunked.h5"), "w", libver="latest") as f:
    f.create_dataset("g/X", data=x, chunks=(2, 2), compression="gzip", shuffle=True)


def sparse_group(f, name, m, kind):
    g = f.create_group(name)
    g.attrs["encoding-type"], g.attrs["shape"] = kind, m.shape
    g["data"], g["indices"], g["indptr"] = m.data, m.indices, m.indptr


with h5py.File(path("hdf5", "csr.h5"), "w") as f:
    sparse_group(f, "X", s, "csr_matrix")
text = h5py.string_dtype()
with h5py.File(path("h5ad", "new.h5ad"), "w") as f:
    sparse_group(f, "X", s.tocsc(), "csc_matrix")
    for name, n in (("obs", 4), ("var", 3)):
        f.create_group(name).attrs["_index"] = "_index"
        f[name].create_dataset("_index", data=[f"{name}{i}" for i in range(n)], dtype=text)
    f["obs/kind/codes"] = np.array([0, 1, -1, 0], np.int8)
    f["obs/kind"].create_dataset("categories", data=["x", "y"], dtype=text)
with h5py.File(path("h5ad", "old.h5ad"), "w") as f:
    f["X"] = x
    f["obs"] = np.array([(b"a", 0), (b"b", 1), (b"c", 0), (b"d", -1)], [("index", "S1"), ("kind", "i1")])
    f["var"] = np.array([(b"x",), (b"y",), (b"z",)], [("index", "S1")])
    f["uns/kind_categories"] = np.array([b"p", b"q"])
with h5py.File(path("h5ad", "plain.h5ad"), "w") as f:
    f["X"] = x
    f.create_group("obs").create_dataset("kind", data=["u", "v", "u", "w"], dtype=text)
for packed in (True, False):
    scipy.io.savemat(path("mat", f"dense{packed:d}.mat"), {"x": x, "t": "text"}, do_compression=packed)
    scipy.io.savemat(path("mat", f"sparse{packed:d}.mat"), {"s": s}, do_compression=packed)
scipy.io.savemat(path("mat", "mixed.mat"), {"u": x.astype("u1"), "c": {"a": 1}, "o": np.array([1, "a"], object)})
with h5py.File(path("mat", "v73.mat"), "w") as f:
    f["x"] = x.T
    f["x"].attrs["MATLAB_class"] = np.bytes_(b"double")
