"""kdr_vectorize through ctypes, for the scripts in this folder."""
import ctypes as c
import os
import sys

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from parts import exit_status  # noqa: E402,F401

FOLDER, LINES, TABLE, JSON = range(4)
WORDS, ASCII, RUNS, LETTERS = range(4)


class Corpus(c.Structure):
    _fields_ = [("name", c.c_char_p), ("path", c.c_char_p), ("kind", c.c_int), ("text_field", c.c_char_p),
                ("label_field", c.c_char_p), ("delimiter", c.c_char), ("header", c.c_int)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("strip_html", c.c_bool), ("strip_mail", c.c_bool), ("keep_subject", c.c_bool),
                ("keep_case", c.c_bool), ("tokens", c.c_int), ("min_length", c.c_int64),
                ("max_length", c.c_int64), ("stopwords", c.c_char_p), ("stemmer", c.c_char_p),
                ("ngram_min", c.c_int64), ("ngram_max", c.c_int64), ("min_df", c.c_int64),
                ("min_df_share", c.c_double), ("max_df", c.c_int64), ("max_df_share", c.c_double),
                ("max_features", c.c_int64), ("binary", c.c_bool), ("vocabulary", c.c_char_p),
                ("drop_empty", c.c_bool)]


class Stats(c.Structure):
    _fields_ = [(name, c.c_int64) for name in ("documents", "dropped", "not_utf8", "bytes", "tokens", "terms")]


class Csr(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("rowptr", c.POINTER(c.c_int64)),
                ("col", c.POINTER(c.c_int32)), ("val", c.POINTER(c.c_double))]


class Dense(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_int64), ("cols", c.c_int64), ("stride", c.c_int64)]


class Either(c.Union):
    _fields_ = [("dense", Dense), ("csr", Csr)]


class Mat(c.Structure):
    _fields_ = [("kind", c.c_int), ("either", Either)]


class Task:
    """One data set, copied out of the library: matrix, features, ids, class names a row (or None)."""

    def __init__(self, lib, data):
        m = lib.kdr_data_mat(data)
        x = m.either.csr
        assert m.kind == 1
        rowptr = np.ctypeslib.as_array(x.rowptr, (x.rows + 1,)).copy()
        nnz = int(rowptr[-1])
        col = np.ctypeslib.as_array(x.col, (nnz,)).copy() if nnz else np.zeros(0, np.int32)
        val = np.ctypeslib.as_array(x.val, (nnz,)).copy() if nnz else np.zeros(0)
        for i in range(x.rows):  # the promise of kdr_csr
            assert np.all(np.diff(col[rowptr[i]:rowptr[i + 1]]) > 0)
        self.x = sp.csr_matrix((val, col, rowptr), shape=(x.rows, x.cols))
        self.features = [s.decode() for s in lib.kdr_data_features(data)[:x.cols]]
        self.ids = [s.decode(errors="surrogateescape") for s in lib.kdr_data_ids(data)[:x.rows]]
        count = c.c_int64()
        classes = lib.kdr_data_classes(data, c.byref(count))
        labels = lib.kdr_data_labels(data)
        self.labels = [classes[k].decode() if k >= 0 else None for k in labels[:x.rows]] if labels else None


class Library:
    def __init__(self, path):
        self.lib = lib = c.CDLL(path)
        strings = c.POINTER(c.c_char_p)
        lib.kdr_context_error.restype = c.c_char_p
        lib.kdr_context_error.argtypes = [c.c_void_p]
        lib.kdr_data_mat.restype = Mat
        lib.kdr_data_mat.argtypes = lib.kdr_data_free.argtypes = [c.c_void_p]
        for name in ("features", "ids"):
            f = getattr(lib, "kdr_data_" + name)
            f.restype, f.argtypes = strings, [c.c_void_p]
        lib.kdr_data_labels.restype, lib.kdr_data_labels.argtypes = c.POINTER(c.c_int64), [c.c_void_p]
        lib.kdr_data_classes.restype = strings
        lib.kdr_data_classes.argtypes = [c.c_void_p, c.c_void_p]
        lib.kdr_vectorize.argtypes = [c.c_void_p, c.c_void_p, c.c_int64, c.c_void_p, c.c_void_p, c.c_void_p]
        lib.kdr_context_set_threads.argtypes = [c.c_void_p, c.c_int]
        self.ctx = c.c_void_p()
        assert lib.kdr_context_new(c.byref(self.ctx), None) == 0

    def vectorize(self, corpora, threads=0, **options):
        """corpora: dicts of kdr_corpus fields. Returns (tasks, stats)."""
        lib, o, s = self.lib, Options(c.sizeof(Options)), Stats()
        lib.kdr_context_set_threads(self.ctx, threads)
        for name, value in options.items():
            setattr(o, name, value.encode() if isinstance(value, str) else value)
        array = (Corpus * len(corpora))()
        for a, fields in zip(array, corpora):
            for name, value in fields.items():
                setattr(a, name, value.encode(errors="surrogateescape") if isinstance(value, str) else value)
        out = (c.c_void_p * len(corpora))()
        status = lib.kdr_vectorize(self.ctx, array, len(corpora), c.byref(o), out, c.byref(s))
        if status != 0:
            raise RuntimeError(f"{status}: {lib.kdr_context_error(self.ctx).decode()}")
        tasks = [Task(lib, p) for p in out]
        for p in out:
            lib.kdr_data_free(p)
        return tasks, s
