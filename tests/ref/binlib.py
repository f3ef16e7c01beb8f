"""The library through ctypes, as tests of binary formats need it. SPDX-License-Identifier: BSD-3-Clause

A struct here mirrors one in include/kindred/*.h.
"""
import ctypes as c
import os
import sys

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from parts import missing_part  # noqa: E402


class Dense(c.Structure):
    _fields_ = [("data", c.POINTER(c.c_double)), ("rows", c.c_int64), ("cols", c.c_int64), ("stride", c.c_int64)]


class Csr(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("rowptr", c.POINTER(c.c_int64)),
                ("col", c.POINTER(c.c_int32)), ("val", c.POINTER(c.c_double))]


class As(c.Union):
    _fields_ = [("dense", Dense), ("csr", Csr)]


class Mat(c.Structure):
    _fields_ = [("kind", c.c_int), ("u", As)]


class ReadOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("format", c.c_char_p), ("name", c.c_char_p), ("label_column", c.c_char_p),
                ("id_column", c.c_char_p), ("header", c.c_int), ("missing", c.c_char_p), ("decimal", c.c_char_p),
                ("rest", c.c_char * 512)]  # the rest: zeros


class KindredError(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Data:
    """What kdr_read gave: x (ndarray or csr_matrix), features, ids, labels, classes."""


def strings(pointer, count):
    return [pointer[i].decode() for i in range(count)] if pointer else None


def copied(pointer, count, dtype):
    return np.ctypeslib.as_array(pointer, (count,)).astype(dtype, copy=True) if count else np.zeros(0, dtype)


class Library:
    def __init__(self, path):
        self.lib = lib = c.CDLL(path)
        self.ctx = c.c_void_p()
        lib.kdr_data_mat.restype = Mat
        for name in ("kdr_data_features", "kdr_data_ids", "kdr_data_classes"):
            getattr(lib, name).restype = c.POINTER(c.c_char_p)
        lib.kdr_data_labels.restype = c.POINTER(c.c_int64)
        lib.kdr_context_error.restype = c.c_char_p
        self.check(lib.kdr_context_new(c.byref(self.ctx), None))

    def check(self, status):
        if status:
            text = self.lib.kdr_context_error(self.ctx).decode(errors="replace") if self.ctx else ""
            raise KindredError(status, text)

    def read(self, path, label_column=None, format=None):
        options = ReadOptions(size=c.sizeof(ReadOptions), format=format and format.encode(),
                              label_column=label_column and label_column.encode())
        handle = c.c_void_p()
        self.check(self.lib.kdr_read(self.ctx, str(path).encode(), c.byref(options), c.byref(handle)))
        try:
            return self.unpack(handle)
        finally:
            self.lib.kdr_data_free(handle)

    def unpack(self, handle):
        m, out, n = self.lib.kdr_data_mat(handle), Data(), c.c_int64()
        if m.kind == 0:
            rows, cols = m.u.dense.rows, m.u.dense.cols
            out.x = copied(m.u.dense.data, rows * cols, np.float64).reshape(rows, cols)
        else:
            rows, cols = m.u.csr.rows, m.u.csr.cols
            ptr = copied(m.u.csr.rowptr, rows + 1, np.int64)
            out.x = sp.csr_matrix((copied(m.u.csr.val, int(ptr[-1]), np.float64),
                                   copied(m.u.csr.col, int(ptr[-1]), np.int32), ptr), shape=(rows, cols))
        out.features = strings(self.lib.kdr_data_features(handle), cols)
        out.ids = strings(self.lib.kdr_data_ids(handle), rows)
        labels = self.lib.kdr_data_labels(handle)
        out.labels = copied(labels, rows, np.int64) if labels else None
        out.classes = strings(self.lib.kdr_data_classes(handle, c.byref(n)), n.value)
        return out

    def data(self, x, features=None):
        """A kdr_data handle of a copy of x; free it with free_data."""
        m, handle = Mat(), c.c_void_p()
        if sp.issparse(x):
            keep = (x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(np.float64))
            m.kind = 1
            m.u.csr = Csr(x.shape[0], x.shape[1], keep[0].ctypes.data_as(c.POINTER(c.c_int64)),
                          keep[1].ctypes.data_as(c.POINTER(c.c_int32)), keep[2].ctypes.data_as(c.POINTER(c.c_double)))
        else:
            keep = np.ascontiguousarray(x, np.float64)
            m.kind = 0
            m.u.dense = Dense(keep.ctypes.data_as(c.POINTER(c.c_double)), x.shape[0], x.shape[1], x.shape[1])
        names = (c.c_char_p * len(features))(*[f.encode() for f in features]) if features else None
        self.check(self.lib.kdr_data_new(self.ctx, b"x", c.byref(m), names, c.byref(handle)))
        return handle

    def free_data(self, handle):
        self.lib.kdr_data_free(handle)

    def write(self, path, x, features=None, force=True):
        handle = self.data(x, features)
        try:
            self.check(self.lib.kdr_write(self.ctx, str(path).encode(), None, handle, c.c_bool(force)))
        finally:
            self.lib.kdr_data_free(handle)


def same(a, b, what):
    """Bit for bit, NaNs included; a sparse matrix has the same entries in the same places."""
    if sp.issparse(a) != sp.issparse(b) or a.shape != b.shape:
        raise AssertionError(f"{what}: {type(a).__name__} {a.shape} against {type(b).__name__} {b.shape}")
    if sp.issparse(a):
        a, b = sp.csr_matrix(a), sp.csr_matrix(b)
        if not (np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices)):
            raise AssertionError(f"{what}: other places")
        a, b = a.data, b.data
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    nan = np.isnan(a)
    if not np.array_equal(nan, np.isnan(b)) or not np.array_equal(
            a[~nan].view(np.int64), b[~nan].view(np.int64)):
        raise AssertionError(f"{what}: other values")


def run(tests):
    """Runs the functions, says which fail, and sets the exit status; argv[1] is the library."""
    library, failed = Library(sys.argv[1]), 0
    for test in tests:
        try:
            test(library)
            print(f"ok   {test.__name__}")
        except Exception as error:  # noqa: BLE001 - a test may fail in any way
            if missing_part(error):
                print(f"skipped: {test.__name__}: {missing_part(error)}")
                continue
            failed += 1
            print(f"FAIL {test.__name__}: {type(error).__name__}: {error}")
    os.sys.exit(1 if failed else 0)
