"""Makes the seeds of the binary readers' fuzz targets: small files of every kind they read.

SPDX-License-Identifier: BSD-3-Clause
HDF5 has none: its targets make their own files.
Usage: make_corpus_bin.py CORPUS_FOLDER
"""
import gzip
import json
import os
import struct
import sys

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
sp.save_npz(path("npz", "coo.npz"), s.tocoo(), False)


def tensors(name, **arrays):
    """A .safetensors file: the length of the header, the header, the elements."""
    header, data = {"__metadata__": {"format": "np"}}, b""
    for key, (dtype, a) in arrays.items():
        header[key] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    with open(path("safetensors", name), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


tensors("one.safetensors", x=("F32", x.astype("f4")))
tensors("two.safetensors", a=("F16", x.astype("f2")), b=("I64", x.astype("i8")))
tensors("brain.safetensors", x=("BF16", (x.astype("f4").view("u4") >> 16).astype("u2")), bias=("F64", np.zeros((1, 1, 1))))

for packed in (True, False):
    scipy.io.savemat(path("mat", f"dense{packed:d}.mat"), {"x": x, "t": "text"}, do_compression=packed)
    scipy.io.savemat(path("mat", f"sparse{packed:d}.mat"), {"s": s}, do_compression=packed)
scipy.io.savemat(path("mat", "mixed.mat"), {"u": x.astype("u1"), "c": {"a": 1}, "o": np.array([1, "a"], object)})
