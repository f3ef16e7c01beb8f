"""MATLAB files and CSV against GNU Octave: its files read by us, ours read by it, bit for bit.

SPDX-License-Identifier: BSD-3-Clause
Usage: io_octave.py libkindred.so      (skipped where Octave is not installed)
"""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sp
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
if not shutil.which("octave-cli"):
    print("skipped: GNU Octave is not installed (Debian: octave)")
    sys.exit(77)

import binlib

folder = tempfile.TemporaryDirectory(prefix="kindred-io-octave-")
rng = np.random.default_rng(11)


def path(name):
    return os.path.join(folder.name, name)


def octave(script):
    subprocess.run(["octave-cli", "--norc", "--quiet", "--eval", script], cwd=folder.name, check=True,
                   capture_output=True, text=True)


def dense():
    x = rng.standard_normal((31, 7)) * np.exp(rng.uniform(-300, 300, (31, 7)))
    x[0, 0], x[1, 1], x[2, 2] = -0.0, 5e-324, 1.7976931348623157e308
    return x


def as_octave(x):
    """The bytes of x, column by column: exact whatever Octave makes of decimal numbers."""
    np.asfortranarray(x).T.tofile(path("x.bin"))
    return f"f = fopen('x.bin'); x = fread(f, [{x.shape[0]} {x.shape[1]}], 'double'); fclose(f);"


def mat_files_of_octave_are_read(k):
    x, s = dense(), sp.random(40, 23, 0.2, "csr", random_state=3)
    for version in ("-v6", "-v7"):
        octave(as_octave(x) + f"save {version} x.mat x; y = int16(round(1000 * sin(x(:, 1:3)))); "
               f"save {version} y.mat y; fid = fopen('y.bin', 'w'); fwrite(fid, y, 'int16'); fclose(fid);")
        binlib.same(k.read(path("x.mat")).x, x, version)
        y = np.fromfile(path("y.bin"), np.int16).reshape(3, 31).T.astype(float)
        binlib.same(k.read(path("y.mat")).x, y, version + " int16")
        octave(as_octave(s.toarray()) + f"s = sparse(x); w = 'text'; save {version} s.mat s w;")
        binlib.same(k.read(path("s.mat:s")).x, s, version + " sparse")


def our_csv_is_read_by_octave(k):
    x = np.abs(dense()) + 1e-200  # dlmread takes a lone sign and subnormal numbers its own way
    k.write(path("c.csv"), x, [f"f{i}" for i in range(x.shape[1])])
    octave("x = dlmread('c.csv', ',', 1, 0); f = fopen('c.bin', 'w'); fwrite(f, x, 'double'); fclose(f);")
    binlib.same(np.fromfile(path("c.bin")).reshape(x.shape[1], x.shape[0]).T, x, "csv")


def our_hdf5_is_read_by_octave(k):
    x = dense()
    k.write(path("h.h5"), x)
    octave("d = load('-hdf5', 'h.h5'); n = fieldnames(d); x = d.(n{1}); "
           "f = fopen('h.bin', 'w'); fwrite(f, x, 'double'); fclose(f);")
    raw = np.fromfile(path("h.bin"))
    binlib.same(raw.reshape(x.shape), x, "hdf5")  # Octave's first index runs fastest: it sees the transpose


if __name__ == "__main__":
    binlib.run([mat_files_of_octave_are_read, our_csv_is_read_by_octave, our_hdf5_is_read_by_octave])
