"""Text formats compared with pandas, SciPy and scikit-learn: what they write is read bit for bit, what we write they read.

Run as `python3 io_text.py path/to/libkindred.so`.
"""
import ctypes
import gzip
import io
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import common
from common import i64, np, pointer

pd, scipy_io, sparse, datasets = common.require("pandas", "scipy.io", "scipy.sparse", "sklearn.datasets")
text = ctypes.c_char_p
kindred = common.Kindred()
rng = np.random.default_rng(1)
folder = tempfile.TemporaryDirectory()


class ReadOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("format", text), ("name", text), ("label_column", text), ("id_column", text), ("header", ctypes.c_int),
                ("missing", text), ("decimal", text), ("rest", ctypes.c_char * 512)]  # the rest: zeros


def path(name):
    return str(pathlib.Path(folder.name) / name)


def array(address, count, dtype):
    """A copy of `count` values at an address."""
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(address, size), dtype=dtype) if count else np.empty(0, dtype)


class Data:
    """A data set as kdr_read gives it."""

    def __init__(self, name, **options):
        lib = kindred.lib
        options = {k: v.encode() if isinstance(v, str) else v for k, v in options.items()}
        self.handle = pointer()
        kindred.call("read", [text, ctypes.POINTER(ReadOptions), pointer], path(name).encode(),
                     ctypes.byref(ReadOptions(size=ctypes.sizeof(ReadOptions), **options)), ctypes.byref(self.handle))
        lib.kdr_data_mat.restype, lib.kdr_data_mat.argtypes = common.Mat, [pointer]
        m = lib.kdr_data_mat(self.handle)
        if m.kind == 0:
            d = m.as_.dense
            self.x = array(d.data, d.rows * d.cols, np.float64).reshape(d.rows, d.cols)
        else:
            c = m.as_.csr
            indptr = array(c.rowptr, c.rows + 1, np.int64)
            self.x = sparse.csr_matrix((array(c.val, indptr[-1], np.float64), array(c.col, indptr[-1], np.int32), indptr),
                                       shape=(c.rows, c.cols))
        rows, cols = self.x.shape
        self.features = self.strings("features", cols)
        self.ids = self.strings("ids", rows)
        lib.kdr_data_labels.restype, lib.kdr_data_labels.argtypes = pointer, [pointer]
        labels = lib.kdr_data_labels(self.handle)
        lib.kdr_data_classes.restype, lib.kdr_data_classes.argtypes = ctypes.POINTER(text), [pointer, pointer]
        count = i64()
        names = lib.kdr_data_classes(self.handle, ctypes.byref(count))
        self.labels = [names[k].decode() for k in array(labels, rows, np.int64)] if labels else None

    def __del__(self):
        if self.handle:
            kindred.lib.kdr_data_free.argtypes = [pointer]
            kindred.lib.kdr_data_free(self.handle)

    def strings(self, what, count):
        function = getattr(kindred.lib, "kdr_data_" + what)
        function.restype, function.argtypes = ctypes.POINTER(text), [pointer]
        names = function(self.handle)
        return [names[i].decode() for i in range(count)] if names else None

    def write(self, name):
        kindred.call("write", [text, text, pointer, ctypes.c_bool], path(name).encode(), None, self.handle, True)


def same(got, want):
    """The same bits (and, for sparse matrices, the same pattern)."""
    if sparse.issparse(want):
        want = want.tocsr().sorted_indices()
        assert sparse.issparse(got) and got.shape == want.shape, (got.shape, want.shape)
        assert np.array_equal(got.indptr, want.indptr) and np.array_equal(got.indices, want.indices)
        got, want = got.data, want.data
    want = np.ascontiguousarray(want, dtype=np.float64)
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.array_equal(np.ascontiguousarray(got).view(np.uint64), want.view(np.uint64))


def numbers(*shape):
    """Values of many sizes: normal, any bits, integers."""
    bits = rng.integers(0, 2**64, size=shape, dtype=np.uint64).view(np.float64)
    kind = rng.integers(0, 3, size=shape)
    integers = rng.integers(-1000, 1000, size=shape).astype(float)
    return np.where((kind == 0) & np.isfinite(bits), bits, np.where(kind == 1, integers, rng.standard_normal(shape)))


def sparse_numbers(rows, cols, density=0.2):
    x = sparse.random(rows, cols, density, format="csr", random_state=2)
    x.data = numbers(x.nnz)
    x.eliminate_zeros()
    return x


def test_csv_from_pandas():
    x = numbers(300, 7)
    names = ["plain", "with, comma", 'a "quoted" one', "üñí", "5", "two\nlines", " blanks "]
    frame = pd.DataFrame(x, columns=names, index=[f"row {i}" for i in range(len(x))])
    for kwargs in ({}, {"sep": ";"}, {"lineterminator": "\r\n"}, {"quoting": 1}, {"compression": "gzip"},
                   {"float_format": "%.17g"}, {"encoding": "utf-8-sig"}):
        for index in (False, True):
            name = "p.csv.gz" if "compression" in kwargs else "p.csv"
            frame.to_csv(path(name), index=index, **kwargs)
            d = Data(name, header=1)
            same(d.x, x)
            # blanks around an unquoted name are not part of it
            assert [n.strip() for n in d.features] == [n.strip() for n in names], d.features
            assert d.ids == (list(frame.index) if index else None)
    frame.to_csv(path("p.tsv"), sep="\t", index=False)
    same(Data("p.tsv").x, x)
    pd.DataFrame(x).to_csv(path("bare.csv"), index=False, header=False)
    d = Data("bare.csv")
    same(d.x, x)
    assert d.features is None and d.ids is None


def test_csv_decimal_comma_from_pandas():
    x = rng.standard_normal((50, 3))
    pd.DataFrame(x, columns=list("abc")).to_csv(path("comma.csv"), sep=";", decimal=",", index=False)
    same(Data("comma.csv", decimal=",").x, x)


def test_csv_labels_and_missing_from_pandas():
    x = numbers(40, 3)
    species = np.array(["setosa", "virginica", "a, b"])[rng.integers(0, 3, 40)]
    frame = pd.DataFrame(x, columns=list("abc"))
    frame["species"] = species
    frame.to_csv(path("l.csv"), index=False)
    d = Data("l.csv", label_column="species")
    same(d.x, x)
    assert d.labels == list(species) and d.features == list("abc")
    holes = frame.mask(rng.random(frame.shape) < 0.1).drop(columns="species")
    for na in ("", "NA", "nan"):
        holes.to_csv(path("h.csv"), index=False, na_rep=na)
        same(Data("h.csv", missing="zero").x, holes.fillna(0).to_numpy())
        same(Data("h.csv", missing="drop-row").x, holes.dropna().to_numpy())
        try:
            Data("h.csv")
            raise AssertionError("missing cells went unnoticed")
        except common.Error as error:
            assert error.code in (20, 21) and "line" in str(error), error


def test_csv_to_pandas():
    x = numbers(200, 6)
    names = ["plain", "with, comma", 'a "quoted" one', "5", "two\nlines", " blanks "]
    pd.DataFrame(x, columns=names, index=[f"r{i}" for i in range(200)]).to_csv(path("in.csv"))
    d = Data("in.csv")
    for name in ("out.csv", "out.csv.gz", "out.tsv"):
        d.write(name)
        frame = pd.read_csv(path(name), sep="\t" if "tsv" in name else ",", index_col=0, float_precision="round_trip")
        same(frame.to_numpy(), x)
        assert [n.strip() for n in frame.columns] == [n.strip() for n in names]
        assert list(frame.index) == d.ids


def test_mtx_from_scipy():
    for rows, cols in ((1, 1), (40, 30), (3, 500)):
        x = sparse_numbers(rows, cols)
        for name in ("s.mtx", "s.mtx.gz"):
            for form in (x, x.tocsc(), x.tocoo()):
                buffer = io.BytesIO()
                scipy_io.mmwrite(buffer, form, precision=17)
                opener = gzip.open if name.endswith(".gz") else open
                with opener(path(name), "wb") as f:
                    f.write(buffer.getvalue())
                same(Data(name).x, x)
        counts = sparse.random(rows, cols, 0.3, format="csr", random_state=3)
        counts.data = rng.integers(1, 50, counts.nnz)
        scipy_io.mmwrite(path("i.mtx"), counts)
        same(Data("i.mtx").x, counts)
        scipy_io.mmwrite(path("pattern.mtx"), counts, field="pattern")
        ones = counts.copy()
        ones.data = np.ones(counts.nnz)
        same(Data("pattern.mtx").x, ones)
        dense = numbers(rows, cols)
        scipy_io.mmwrite(path("d.mtx"), dense, precision=17)
        same(Data("d.mtx").x, dense)


def test_mtx_symmetries_from_scipy():
    a = rng.standard_normal((12, 12))
    for x, symmetry in ((a + a.T, "symmetric"), (a - a.T, "skew-symmetric")):
        scipy_io.mmwrite(path("y.mtx"), x, symmetry=symmetry, precision=17)
        same(Data("y.mtx").x, x)
        scipy_io.mmwrite(path("y.mtx"), sparse.coo_matrix(x), symmetry=symmetry, precision=17)
        same(Data("y.mtx").x, sparse.csr_matrix(x))


def test_mtx_to_scipy():
    x, dense = sparse_numbers(50, 20), numbers(9, 4)
    scipy_io.mmwrite(path("a.mtx"), x, precision=17)
    scipy_io.mmwrite(path("b.mtx"), dense, precision=17)
    for name in ("out.mtx", "out.mtx.gz"):
        Data("a.mtx").write(name)
        same(sparse.csr_matrix(scipy_io.mmread(path(name))), x)
        Data("b.mtx").write(name)
        same(scipy_io.mmread(path(name)), dense)


def test_svmlight_both_ways():
    x = sparse_numbers(60, 25)
    y = rng.integers(-3, 4, 60)
    for zero_based in (False, True):
        # an entry in the first and last columns, so that base and width can be determined
        x[0, 0], x[0, 24] = 1.5, 2.5
        x.sort_indices()
        # 17 digits: scikit-learn's own 16 do not read back
        with open(path("s.svmlight"), "w") as f:
            for i in range(60):
                pairs = zip(x.indices[x.indptr[i]:x.indptr[i + 1]], x.data[x.indptr[i]:x.indptr[i + 1]])
                f.write(f"{y[i]} " + " ".join(f"{j + (not zero_based)}:{v!r}" for j, v in pairs) + "\n")
        d = Data("s.svmlight")
        same(d.x, x)
        assert d.labels == [str(v) for v in y]
    counts = x.copy()
    counts.data = rng.integers(1, 99, x.nnz).astype(float)
    for zero_based in (False, True):
        datasets.dump_svmlight_file(counts, y, path("d.svmlight"), zero_based=zero_based, comment="by scikit-learn",
                                    query_id=np.arange(60))
        d = Data("d.svmlight")
        same(d.x, counts)
        assert d.labels == [str(v) for v in y]
    d = Data("s.svmlight")
    for name in ("out.svmlight", "out.libsvm.gz"):
        d.write(name)
        back, labels = datasets.load_svmlight_file(path(name), zero_based=False)
        same(back, x)
        assert np.array_equal(labels, y)


def test_shortest_print_is_pythons():
    x = numbers(5000, 1)
    pd.DataFrame(x).to_csv(path("n.csv"), index=False, header=False)
    Data("n.csv").write("n_out.csv")
    for line, v in zip(open(path("n_out.csv")), x[:, 0]):
        assert float(line) == v
        digits = line.strip().lower().split("e")[0].replace("-", "").replace(".", "").strip("0")
        want = repr(float(v)).lower().split("e")[0].replace("-", "").replace(".", "").strip("0")
        assert digits == want, (line, v)


if __name__ == "__main__":
    common.main(globals())
