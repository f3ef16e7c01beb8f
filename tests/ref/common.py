"""ctypes declarations that the reference tests share: the library, a context, and matrices.

A test is run as `python3 test.py path/to/libkindred.so`. Missing reference packages mean exit status 77, which
ctest shows as skipped.
"""
import ctypes
import importlib
import sys

SKIP = 77


def require(*names):
    """Imports reference packages, or leaves with the status for skipped."""
    modules = []
    for name in names:
        try:
            modules.append(importlib.import_module(name))
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(SKIP)
    return modules[0] if len(modules) == 1 else modules


np = require("numpy")

i64 = ctypes.c_int64
f64 = ctypes.c_double
status = ctypes.c_int
pointer = ctypes.c_void_p


class Dense(ctypes.Structure):
    _fields_ = [("data", pointer), ("rows", i64), ("cols", i64), ("stride", i64)]


class Csr(ctypes.Structure):
    _fields_ = [("rows", i64), ("cols", i64), ("rowptr", pointer), ("col", pointer), ("val", pointer)]


class _Either(ctypes.Union):
    _fields_ = [("dense", Dense), ("csr", Csr)]


class Mat(ctypes.Structure):
    """kdr_mat. Build one with `mat`, which keeps the arrays alive."""

    _fields_ = [("kind", ctypes.c_int), ("as_", _Either)]


def address(array):
    return None if array is None else array.ctypes.data


def mat(x):
    """kdr_mat of a 2-d array or of a scipy.sparse matrix."""
    m = Mat()
    if hasattr(x, "tocsr"):
        x = x.tocsr().sorted_indices()
        parts = (x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(np.float64))
        m.kind = 1
        m.as_.csr = Csr(x.shape[0], x.shape[1], *(address(p) for p in parts))
    else:
        parts = np.ascontiguousarray(x, dtype=np.float64)
        m.kind = 0
        m.as_.dense = Dense(address(parts), parts.shape[0], parts.shape[1], parts.shape[1])
    m.keep = parts
    return m


class Error(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Kindred:
    """The shared library with one context. Functions are declared on first use by `call`."""

    def __init__(self, path=None, threads=0):
        self.lib = ctypes.CDLL(path or sys.argv[1])
        self.lib.kdr_context_error.restype = ctypes.c_char_p
        self.lib.kdr_context_error.argtypes = [pointer]
        self.lib.kdr_context_set_threads.argtypes = [pointer, ctypes.c_int]
        self.lib.kdr_context_free.argtypes = [pointer]
        self.lib.kdr_free.argtypes = [pointer, pointer]
        self.ctx = pointer()
        assert self.lib.kdr_context_new(ctypes.byref(self.ctx), None) == 0
        if threads:
            self.lib.kdr_context_set_threads(self.ctx, threads)

    def __del__(self):
        if getattr(self, "ctx", None):
            self.lib.kdr_context_free(self.ctx)

    def call(self, name, argtypes, *args):
        """Calls kdr_`name`(ctx, args...), which returns a status; raises Error with the library's words."""
        function = getattr(self.lib, "kdr_" + name)
        function.argtypes = [pointer] + list(argtypes)
        function.restype = status
        code = function(self.ctx, *args)
        if code:
            raise Error(code, self.lib.kdr_context_error(self.ctx).decode())


def close(got, want, tolerance, what):
    """Fails unless |got - want| <= tolerance everywhere."""
    got, want = np.asarray(got), np.asarray(want)
    gap = np.max(np.abs(got - want)) if got.size else 0.0
    assert got.shape == want.shape and gap <= tolerance, f"{what}: off by {gap} (allowed {tolerance}): {got} != {want}"


def main(namespace):
    """Runs every function whose name starts with test_, in the order of definition."""
    for name, function in list(namespace.items()):
        if name.startswith("test_"):
            function()
            print(f"ok {name}")
