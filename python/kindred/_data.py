"""Converts NumPy, SciPy, pandas and AnnData objects and files to data sets of the library. SPDX-License-Identifier: BSD-3-Clause

float64 arrays in C order and CSR matrices are borrowed; everything else is converted once. Preprocessing that changes values makes a copy,
so that the caller's objects are never changed.
"""
import os
import sys

import numpy as np

from ._errors import chars, text
from ._kindred import ffi, lib


def _comes_from(x, package):
    """Whether the class of x, or one that it is derived from, is defined in a package."""
    return any(c.__module__.split(".")[0] == package for c in type(x).__mro__)


def is_sparse(x):
    """Whether x is a sparse matrix of SciPy or of a derived class, such as adata[:50].X."""
    return hasattr(x, "tocsr") and _comes_from(x, "scipy")


def is_frame(x):
    return hasattr(x, "columns") and _comes_from(x, "pandas")


def is_anndata(x):
    return hasattr(x, "obs_names") and hasattr(x, "var_names") and hasattr(x, "X")


def is_path(x):
    return isinstance(x, (str, os.PathLike))


def is_missing(value):
    """Whether a value is None, NaN, or NA or NaT of pandas."""
    return value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) or type(value).__name__ in ("NAType", "NaTType")


def is_texts(x):
    """Whether x is a list, Series or array of texts, one for each sample; as_texts() checks the entries. A list of paths has the same
    type, so that callers decide by its position."""
    if not isinstance(x, (list, tuple)):
        if getattr(x, "ndim", 0) != 1 or not hasattr(x, "tolist") or getattr(x.dtype, "kind", "O") in "iufcbmM":
            return False
        x = x.tolist()
    return any(isinstance(v, str) for v in x) and all(isinstance(v, (str, bytes)) or not (hasattr(v, "__len__") or is_path(v)) for v in x)


def as_texts(x, called):
    """Texts as a list of str. Missing ones are empty, as in files."""
    out = ["" if is_missing(v) else v for v in (x if isinstance(x, (list, tuple)) else x.tolist())]
    wrong = next((i for i, v in enumerate(out) if not isinstance(v, str)), None)
    if wrong is not None:
        raise TypeError(f"{called}: text {wrong} has the type {type(out[wrong]).__name__}: every text must be a str, or None if it is missing")
    return out


def is_table(x):
    """Whether x is one data set, and not a sequence of them or rows of one."""
    return isinstance(x, Data) or is_path(x) or is_sparse(x) or is_frame(x) or is_anndata(x) or (
        hasattr(x, "__array__") and getattr(x, "ndim", 0) == 2)


def strings(values):
    """A C array of C strings, and the objects that keep it alive."""
    keep = [chars(v) for v in values]
    return ffi.new("char *[]", keep), keep


def until_null(at, *arguments):
    """Yields the results of at(*arguments, 0), at(*arguments, 1), ..., up to the first NULL."""
    index = 0
    while (found := at(*arguments, index)) != ffi.NULL:
        yield found
        index += 1


class Data:
    """A data set: samples in rows, features in columns.

    The library owns the values or borrows them from the array that they come from.
    Functions such as :func:`read`, :func:`generate` and :func:`vectorize` return
    objects of this class.

    See Also
    --------
    read : Read a data set from a file.
    inspect : Summarise a data set.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", samples=50, seed=1)
    >>> north
    <kindred.Data 'task1': 50 samples x 2 features>
    >>> north.shape, north.feature_names
    ((50, 2), ['f1', 'f2'])
    """

    def __init__(self, pointer, keep=None):
        self._data = ffi.gc(pointer, lib.kdr_data_free)
        self._keep = keep

    @property
    def name(self):
        """Name of the data set."""
        return text(lib.kdr_data_name(self._data))

    @property
    def path(self):
        """The file that the data were read from; empty if there is none."""
        return text(lib.kdr_data_path(self._data))

    @property
    def streamed(self):
        """Whether the data stay on disk; see the option ``stream`` of :func:`read`."""
        return bool(lib.kdr_data_streamed(self._data))

    @property
    def shape(self):
        """Number of samples and number of features."""
        m = lib.kdr_data_mat(self._data)
        part = getattr(m, "as").dense if m.kind == lib.KDR_MAT_DENSE else getattr(m, "as").csr
        return part.rows, part.cols

    @property
    def X(self):
        """The values as a read-only NumPy array or SciPy CSR matrix, without a copy."""
        m = lib.kdr_data_mat(self._data)
        rows, cols = self.shape
        if m.kind == lib.KDR_MAT_DENSE:
            d = getattr(m, "as").dense
            if rows == 0 or cols == 0:
                return np.zeros((rows, cols))
            flat = view(d.data, (rows - 1) * d.stride + cols, np.float64, self)
            return np.lib.stride_tricks.as_strided(flat, (rows, cols), (8 * d.stride, 8), writeable=False)
        from scipy.sparse import csr_matrix
        c = getattr(m, "as").csr
        nnz = c.rowptr[rows]
        return csr_matrix((view(c.val, nnz, np.float64, self), view(c.col, nnz, np.int32, self),
                           view(c.rowptr, rows + 1, np.int64, self)), shape=(rows, cols), copy=False)

    @property
    def feature_names(self):
        """Names of the features, or None."""
        return _names(lib.kdr_data_features(self._data), self.shape[1])

    @property
    def ids(self):
        """Names of the samples, or None."""
        return _names(lib.kdr_data_ids(self._data), self.shape[0])

    @property
    def excerpts(self):
        """The first words of the text of each sample; None if the samples are not texts."""
        return _names(lib.kdr_data_excerpts(self._data), self.shape[0])

    @property
    def columns(self):
        """How each column of the table was treated, as a list of dicts.

        The keys are ``name``, ``number`` (from 1), ``kind``, ``features`` (number of
        features it became), ``missing`` (number of missing values), ``constant`` and
        ``why``. None if the data do not come from a table.
        """
        found = list(until_null(lib.kdr_data_column_at, self._data))
        return None if not found else [{"name": text(c.name), "number": c.number, "kind": text(lib.kdr_column_kind_name(c.kind)), "features": c.features,
                 "missing": c.missing, "constant": bool(c.constant), "why": text(c.why)}
                for c in found]

    @property
    def left_out(self):
        """Rows of the file that were skipped: tuples of row number (from 1), name and reason."""
        return [(r.row, text(r.id), text(r.reason)) for r in until_null(lib.kdr_data_left_out_at, self._data)]

    @property
    def rows(self):
        """The row of the table, from 0, that each sample comes from."""
        origin = lib.kdr_data_origin(self._data, ffi.NULL)
        if origin != ffi.NULL:
            return view(origin, self.shape[0], np.int64, self).copy()
        return np.setdiff1d(np.arange(self.table_rows), [row - 1 for row, _, _ in self.left_out])

    @property
    def table_rows(self):
        """Number of rows of the table that the data come from."""
        count = ffi.new("int64_t *")
        lib.kdr_data_origin(self._data, count)
        return count[0]

    @property
    def labels(self):
        """Class of each sample by name, None if a class is unknown; None if the data have no classes."""
        values = lib.kdr_data_labels(self._data)
        if values == ffi.NULL:
            return None
        count = ffi.new("int64_t *")
        names = np.array(_names(lib.kdr_data_classes(self._data, count), count[0]) + [None], dtype=object)
        return names[view(values, self.shape[0], np.int64, self)]

    def __repr__(self):
        return f"<kindred.Data {self.name!r}: {self.shape[0]} samples x {self.shape[1]} features>"


def _names(pointer, count):
    return None if pointer == ffi.NULL else [text(pointer[i]) for i in range(count)]


def view(pointer, count, dtype, owner):
    """Memory of the library as a read-only array, which keeps `owner` alive."""
    if count == 0:
        return np.zeros(0, dtype)
    size = int(count) * np.dtype(dtype).itemsize
    array = np.frombuffer(_Owned(ffi.buffer(pointer, size), owner), dtype=dtype) if sys.version_info >= (3, 12) \
        else np.asarray(_Exposed(int(ffi.cast("uintptr_t", pointer)), int(count), np.dtype(dtype), owner))
    return array


class _Exposed:
    """NumPy's array interface over memory that `owner` holds."""

    def __init__(self, address, count, dtype, owner):
        self.owner = owner
        self.__array_interface__ = {"shape": (count,), "typestr": dtype.str, "data": (address, True), "version": 3}


class _Owned:
    """The same through the buffer protocol."""

    def __init__(self, buffer, owner):
        self.buffer, self.owner = buffer, owner

    def __buffer__(self, flags):
        return memoryview(self.buffer).toreadonly()


def check_indices(x, what):
    """Raises an error if a sparse matrix is damaged. SciPy's routines in C trust its indices, and would write outside its arrays."""
    try:
        if hasattr(x, "check_format"):
            x.check_format(full_check=True)
        elif x.format == "coo" and x.nnz > 0:
            for axis, size in zip((x.row, x.col), x.shape):
                if axis.min() < 0 or axis.max() >= size:
                    raise ValueError(f"an index is {axis.min() if axis.min() < 0 else axis.max()}, but the shape is {x.shape}")
    except ValueError as error:
        raise ValueError(f"{what} is a damaged sparse matrix: {error}") from None


def check_matrix(x, what="X"):
    """x as a float64 array in C order or CSR matrix. Errors have the wording of scikit-learn."""
    if is_sparse(x):
        if x.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        check_indices(x, what)
        x = x.tocsr()
        if x.dtype != np.float64:
            x = x.astype(np.float64)
        if not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        values = x.data
    else:
        x = np.asarray(x)
        if x.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        try:
            x = np.asarray(x, dtype=np.float64, order="C")
        except TypeError as error:
            raise TypeError(f"argument must be a string or a number: {error}") from None
        if x.ndim != 2:
            raise ValueError(f"Expected 2D array, got {x.ndim}D array instead: {what} has samples in rows and features in "
                             "columns. Reshape your data either using array.reshape(-1, 1) if your data has a single "
                             "feature or array.reshape(1, -1) if it contains a single sample.")
        values = x
    if x.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={x.shape}) while a minimum of 1 is required.")
    if x.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={x.shape}) while a minimum of 1 is required.")
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError("Input contains NaN" if np.isnan(values).any() else
                         "Input contains infinity or a value too large for dtype('float64').")
    return x


def _parts(x):
    """The matrix, the column names and the row names."""
    if is_frame(x):
        columns = [str(c) for c in x.columns] if all(isinstance(c, str) for c in x.columns) else None
        index = None if type(x.index).__name__ == "RangeIndex" else [str(i) for i in x.index]
        return x.to_numpy(), columns, index
    if is_anndata(x):
        return x.X.to_memory() if hasattr(x.X, "to_memory") else x.X, [str(v) for v in x.var_names], [str(o) for o in x.obs_names]
    return x, None, None


def as_data(session, x, name):
    """A data set that borrows x if possible."""
    if isinstance(x, Data):
        # Jobs preprocess in place: a view keeps the caller's data set unchanged.
        out = ffi.new("kdr_data **")
        session.check(lib.kdr_data_view(session.ctx, x._data, chars(name or x.name), out))
        return Data(out[0], x)
    if is_path(x):
        from ._jobs import read
        return as_data(session, read(x), name)
    if is_frame(x):
        from ._frames import is_plain
        from ._jobs import read_frame
        if not is_plain(x):
            return read_frame(session, x, name, {})[0]
    matrix, columns, ids = _parts(x)
    matrix = check_matrix(matrix)
    m = ffi.new("kdr_mat *")
    part = getattr(m, "as")
    rows, cols = matrix.shape
    if is_sparse(matrix):
        if cols >= 2 ** 31:
            raise ValueError(f"X has {cols} columns: fewer than 2**31 are allowed")
        keep = [np.ascontiguousarray(matrix.indptr, np.int64), np.ascontiguousarray(matrix.indices, np.int32),
                np.ascontiguousarray(matrix.data)]
        m.kind = lib.KDR_MAT_CSR
        part.csr.rows, part.csr.cols = rows, cols
        part.csr.rowptr = ffi.cast("int64_t *", keep[0].ctypes.data)
        part.csr.col = ffi.cast("int32_t *", keep[1].ctypes.data)
        part.csr.val = ffi.cast("double *", keep[2].ctypes.data)
    else:
        keep = [matrix]
        m.kind = lib.KDR_MAT_DENSE
        part.dense.data = ffi.cast("double *", matrix.ctypes.data)
        part.dense.rows, part.dense.cols, part.dense.stride = rows, cols, cols
    features, kept = strings(columns) if columns else (ffi.NULL, None)
    names, also = strings(ids) if ids else (ffi.NULL, None)
    out = ffi.new("kdr_data **")
    session.check(lib.kdr_data_borrow(session.ctx, chars(name), m, features, names, out))
    return Data(out[0], (keep, kept, also))


def some_row(session, data, name):
    """A data set of one row of another one: the first that has an entry, because a job needs samples with content."""
    x = data.X
    row = int(np.argmax(np.diff(x.indptr) > 0)) if is_sparse(x) else 0
    out, rows = ffi.new("kdr_data **"), ffi.new("int64_t[]", [row])
    session.check(lib.kdr_data_rows(session.ctx, data._data, rows, 1, out))
    return as_data(session, Data(out[0]), name)


def distinct(values, called):
    """The distinct classes in order, and the index of each value."""
    try:
        return np.unique(values, return_inverse=True)
    except TypeError:
        kinds = {type(v).__name__: v for v in values.tolist()}
        raise TypeError(f"{called} has values of different types, such as {', '.join(map(repr, list(kinds.values())[:3]))}: use one type") from None


def set_classes(session, data, y):
    """Sets the classes of a data set; None and NaN are unknown. Returns the distinct classes as they were passed."""
    y = np.asarray(y)
    known = np.array([not is_missing(v) for v in y.tolist()], bool)
    values, index = distinct(y[known], "labels")
    codes = np.full(len(y), -1, np.int64)
    codes[known] = index
    names, keep = strings(values.tolist())
    session.check(lib.kdr_data_set_labels(session.ctx, data._data, ffi.cast("int64_t *", codes.ctypes.data), names,
                                          len(values)))
    return values
