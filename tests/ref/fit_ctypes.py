"""kdr_fit from Python, for tests and benchmarks that compare with other libraries."""

import ctypes as C
import time

import numpy as np
import scipy.sparse as sp


class Dense(C.Structure):
    _fields_ = [("data", C.c_void_p), ("rows", C.c_int64), ("cols", C.c_int64), ("stride", C.c_int64)]


class Csr(C.Structure):
    _fields_ = [
        ("rows", C.c_int64),
        ("cols", C.c_int64),
        ("rowptr", C.c_void_p),
        ("col", C.c_void_p),
        ("val", C.c_void_p),
    ]


class Either(C.Union):
    _fields_ = [("dense", Dense), ("csr", Csr)]


class Mat(C.Structure):
    _fields_ = [("kind", C.c_int), ("as_", Either)]


class Task(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("role", C.c_int),
        ("x", Mat),
        ("k", C.c_int64),
        ("init", C.c_void_p),
        ("labels", C.c_void_p),
        ("weights", C.c_void_p),
    ]


class Problem(C.Structure):
    _fields_ = [
        ("size", C.c_size_t),
        ("tasks", C.POINTER(Task)),
        ("ntasks", C.c_int64),
        ("classes", C.c_int64),
        ("pooled", C.c_bool),
        ("class_names", C.c_void_p),
        ("views", C.c_bool),
        ("category", C.c_void_p),
    ]


class Array(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("task", C.c_int64),
        ("type", C.c_int),
        ("ndim", C.c_int),
        ("shape", C.c_int64 * 3),
        ("data", C.c_void_p),
    ]


ROLES = {"task": 0, "source": 1, "bridge": 2, "target": 3}
STOPS = ["converged", "max_iter", "time", "cancelled", "stalled"]


def text(value):
    """An option's value as on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Library:
    def __init__(self, path):
        lib = self.lib = C.CDLL(path)
        lib.kdr_context_error.restype = C.c_char_p
        lib.kdr_result_labels.restype = C.POINTER(C.c_int64)
        lib.kdr_result_objective.restype = C.POINTER(C.c_double)
        lib.kdr_result_array.restype = Array
        lib.kdr_result_array_at.restype = Array
        lib.kdr_result_array_count.restype = C.c_int64
        lib.kdr_result_iterations.restype = C.c_int64
        lib.kdr_result_ntasks.restype = C.c_int64
        lib.kdr_result_field_count.restype = C.c_int64
        lib.kdr_result_field_at.restype = C.c_char_p
        lib.kdr_result_warning_count.restype = C.c_int64
        lib.kdr_result_warning_at.restype = C.c_char_p
        for name in ("labels", "objective", "array", "iterations", "ntasks", "field_count", "free", "stop"):
            getattr(lib, "kdr_result_" + name).argtypes = None
        self.ctx = C.c_void_p()
        if lib.kdr_context_new(C.byref(self.ctx), None):
            raise MemoryError("kdr_context_new")

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.kdr_context_error(self.ctx).decode())

    def threads(self, n):
        self.lib.kdr_context_set_threads(self.ctx, C.c_int(n))

    def seed(self, n):
        self.lib.kdr_context_set_seed(self.ctx, C.c_uint64(n))

    def transfer(self, xs, labels, classes, weights=None, bridges=()):
        """A problem of labelled sources (labels[t] given) and targets (labels[t] None or -1 where unknown); the tasks
        numbered in `bridges` are bridges."""
        problem, (tasks, keep, shapes) = self.prepare(xs, classes, weights=weights)
        problem.classes = classes
        for t, known in enumerate(labels):
            tasks[t].role = ROLES["target" if known is None or np.min(known) < 0 else "source"]
            if t in bridges:
                tasks[t].role = ROLES["bridge"]
            if known is not None:
                keep.append(np.ascontiguousarray(known, dtype=np.int64))
                tasks[t].labels = keep[-1].ctypes.data
        return problem, (tasks, keep, shapes)

    def prepare(self, xs, k, init=None, weights=None, pooled=False):
        """A problem of several tasks, and what must stay alive with it."""
        keep, tasks = [], (Task * len(xs))()
        for t, x in enumerate(xs):
            task = tasks[t]
            task.name = b"t%d" % t
            task.k = k[t] if isinstance(k, (list, tuple)) else k
            if sp.issparse(x):
                parts = (x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(np.float64))
                task.x.kind = 1
                task.x.as_.csr = Csr(*x.shape, *(p.ctypes.data for p in parts))
                keep.append(parts)
            else:
                x = np.ascontiguousarray(x, dtype=np.float64)
                task.x.kind = 0
                task.x.as_.dense = Dense(x.ctypes.data, *x.shape, x.shape[1])
                keep.append(x)
            if init is not None:
                keep.append(np.ascontiguousarray(init[t], dtype=np.int64))
                task.init = keep[-1].ctypes.data
            if weights is not None and weights[t] is not None:
                keep.append(np.ascontiguousarray(weights[t], dtype=np.float64))
                task.weights = keep[-1].ctypes.data
        return Problem(C.sizeof(Problem), tasks, len(xs), 0, pooled), (tasks, keep, [x.shape for x in xs])

    def fit(self, method, problem, shapes, **options):
        lib, opts, result = self.lib, C.c_void_p(), C.c_void_p()
        self.check(lib.kdr_options_new(self.ctx, method.encode(), C.byref(opts)))
        try:
            for name, value in options.items():
                self.check(lib.kdr_options_set(self.ctx, opts, name.encode(), text(value).encode()))
            begin = time.perf_counter()
            self.check(lib.kdr_fit(self.ctx, method.encode(), C.byref(problem), opts, C.byref(result)))
            seconds = time.perf_counter() - begin
        finally:
            lib.kdr_options_free(opts)
        return {**self.unpack(result), "seconds": seconds}

    def unpack(self, result):
        lib, n = self.lib, C.c_int64()
        out = {"labels": [], "arrays": {}, "fields": {}}
        for t in range(lib.kdr_result_ntasks(result)):
            p = lib.kdr_result_labels(result, C.c_int64(t), C.byref(n))
            out["labels"].append(np.ctypeslib.as_array(p, (n.value,)).copy() if p else None)
        for i in range(lib.kdr_result_array_count(result)):
            a = lib.kdr_result_array_at(result, C.c_int64(i))
            shape = tuple(a.shape[: a.ndim])
            p = C.cast(a.data, C.POINTER(C.c_int64 if a.type else C.c_double))
            value = np.ctypeslib.as_array(p, shape).copy() if np.prod(shape) else np.zeros(shape)
            out["arrays"][a.name.decode(), a.task] = value
        out["centres"] = [v for (name, _), v in sorted(out["arrays"].items()) if name in ("centres", "centroids")]
        p = lib.kdr_result_objective(result, C.byref(n))
        out["objective"] = np.ctypeslib.as_array(p, (n.value,)).copy() if n.value else np.zeros(0)
        out["iterations"] = lib.kdr_result_iterations(result)
        out["stop"] = STOPS[lib.kdr_result_stop(result)]
        for i in range(lib.kdr_result_field_count(result)):
            number, text = C.c_double(), C.c_char_p()
            name = lib.kdr_result_field_at(result, C.c_int64(i), C.byref(number), C.byref(text))
            out["fields"][name.decode()] = text.value.decode() if text.value else number.value
        out["warnings"] = [
            lib.kdr_result_warning_at(result, C.c_int64(i)).decode()
            for i in range(lib.kdr_result_warning_count(result))
        ]
        lib.kdr_result_free(result)
        return out
