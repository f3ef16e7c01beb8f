"""Binary formats against NumPy, SciPy, h5py and AnnData: theirs read by us, ours read by them, bit for bit.

SPDX-License-Identifier: BSD-3-Clause
Usage: io_bin.py libkindred.so
"""
import gzip
import itertools
import os
import sys
import tempfile
import warnings

try:
    import anndata
    import h5py
    import numpy as np
    import pandas as pd
    import scipy.io
    import scipy.sparse as sp
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

import binlib

warnings.filterwarnings("ignore")
rng = np.random.default_rng(7)
folder = tempfile.TemporaryDirectory(prefix="kindred-io-bin-")


def path(name):
    return os.path.join(folder.name, name)


def dense(rows=23, cols=11):
    x = rng.standard_normal((rows, cols)) * np.exp(rng.uniform(-300, 300, (rows, cols)))
    x[0, 0], x[1, 1], x[2, 2], x[3, 3] = np.nan, -np.inf, -0.0, 5e-324
    return x


def sparse(rows=40, cols=29, density=0.15):
    return sp.random(rows, cols, density, "csr", random_state=rng, data_rvs=rng.standard_normal)


def expect(status, words, call):
    try:
        call()
    except binlib.KindredError as error:
        if error.status != status or words not in str(error):
            raise AssertionError(f"{error.status}: {error}; expected {status}: {words}")
        return
    raise AssertionError(f"no error; expected {status}: {words}")


def npy__all_types_orders_and_byte_orders(k):
    for kind, order, end in itertools.product(
            "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split(), "CF", "<>"):
        for shape in ((5, 7), (9,), (1, 4), (6, 1), (300, 700)):
            dtype = np.dtype(end + kind)
            if kind[0] == "f":
                x = rng.standard_normal(shape).astype(dtype)
            elif kind == "b1":
                x = rng.random(shape) < 0.5
            else:
                info = np.iinfo(dtype)
                x = rng.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)
            x = np.asarray(x, dtype, order=order)
            np.save(path("a.npy"), x)
            got = k.read(path("a.npy")).x
            binlib.same(got, x.astype(np.float64).reshape(shape[0], -1), f"{dtype} {order} {shape}")


def npy__versions_and_gzip(k):
    x = dense()
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(path("v.npy"), "wb") as f:
            np.lib.format.write_array(f, x, version)
        binlib.same(k.read(path("v.npy")).x, x, f"version {version}")
    with gzip.open(path("z.npy.gz"), "wb") as f:
        np.save(f, np.asfortranarray(x))
    binlib.same(k.read(path("z.npy.gz")).x, x, "gzip")
    raw = open(path("z.npy.gz"), "rb").read()
    open(path("z.npy.gz"), "wb").write(raw[:-30])
    expect(21, "truncated", lambda: k.read(path("z.npy.gz")))


def npy__written__numpy_reads(k):
    x, s = dense(), sparse()
    k.write(path("w.npy"), x)
    binlib.same(np.load(path("w.npy")), x, "dense")
    k.write(path("w.npy.gz"), s)
    binlib.same(np.load(gzip.open(path("w.npy.gz"))), s.toarray(), "sparse, gzip")


def npz__dense_stored_and_deflated(k):
    x, y = dense(), np.asfortranarray(dense(5, 4))
    for save in (np.savez, np.savez_compressed):
        save(path("one.npz"), x)
        binlib.same(k.read(path("one.npz")).x, x, save.__name__)
        save(path("two.npz"), x=x, y=y)
        binlib.same(k.read(path("two.npz:y")).x, y, save.__name__)
        expect(20, "x, y", lambda: k.read(path("two.npz")))
        expect(20, "no array 'z'", lambda: k.read(path("two.npz:z")))
    np.savez(path("object.npz"), np.array([{}], dtype=object))
    expect(21, "Python objects", lambda: k.read(path("object.npz")))


def npz__sparse_csr_csc_every_index_width(k):
    s = sparse()
    for layout, dtype, index, compressed in itertools.product(
            ("csr", "csc"), (np.float64, np.float32, np.int64, np.bool_), (np.int32, np.int64), (True, False)):
        m = (s * 10).astype(dtype).asformat(layout)
        m.indices, m.indptr = m.indices.astype(index), m.indptr.astype(index)
        sp.save_npz(path("s.npz"), m, compressed)
        want = sp.csr_matrix(m).astype(np.float64)
        want.sort_indices()
        binlib.same(k.read(path("s.npz")).x, want, f"{layout} {dtype} {index}")
    sp.save_npz(path("s.npz"), s.tocoo())
    binlib.same(k.read(path("s.npz")).x, sp.csr_matrix(s), "coo")
    sp.save_npz(path("s.npz"), s.todia())
    expect(60, "'dia'", lambda: k.read(path("s.npz")))
    sp.save_npz(path("s.npz"), sp.csr_matrix((4, 3)))
    assert k.read(path("s.npz")).x.nnz == 0


def npz__unsorted_and_duplicated__sorted_and_summed(k):
    for layout in (sp.csr_matrix, sp.csc_matrix):
        n = 500
        m = layout((12, 9))
        m.indptr = np.sort(np.r_[0, rng.integers(0, n, m.shape[0 if layout is sp.csr_matrix else 1] - 1), n])
        m.indices = rng.integers(0, m.shape[1 if layout is sp.csr_matrix else 0], n)
        m.data = rng.integers(-50, 50, n).astype(float)  # sums are exact
        sp.save_npz(path("d.npz"), m)
        want = m.toarray()
        got = k.read(path("d.npz")).x
        assert got.has_canonical_format
        binlib.same(got.toarray(), want, layout.__name__)


def npz__written__numpy_and_scipy_read(k):
    x, s = dense(), sparse()
    k.write(path("w.npz"), x)
    with np.load(path("w.npz")) as f:
        assert f.files == ["arr_0"]
        binlib.same(f["arr_0"], x, "dense")
    k.write(path("w.npz"), s)
    binlib.same(sp.load_npz(path("w.npz")), s, "sparse")
    binlib.same(k.read(path("w.npz")).x, s, "sparse, back")


def hdf5__types_chunks_and_filters(k):
    for dtype in ("i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 >f8 >i4 bool").split():
        x = (rng.standard_normal((61, 17)) * 100).astype(dtype) if dtype != "bool" else rng.random((61, 17)) < 0.5
        for options in ({}, {"chunks": (7, 5)}, {"chunks": (10, 17), "compression": "gzip", "shuffle": True},
                        {"chunks": True, "fletcher32": True}):
            with h5py.File(path("a.h5"), "w") as f:
                f.create_dataset("deep/er/data", data=x, **options)
                f["name"] = "text"
                f["one"] = np.arange(4)
            binlib.same(k.read(path("a.h5")).x, x.astype(float), f"{dtype} {options}")
            binlib.same(k.read(path("a.h5:/deep/er/data")).x, x.astype(float), f"{dtype} {options}")
    binlib.same(k.read(path("a.h5:one")).x, np.arange(4.0).reshape(4, 1), "1-D")
    expect(20, "no dataset 'nothing'", lambda: k.read(path("a.h5:nothing")))
    expect(21, "not a matrix of numbers", lambda: k.read(path("a.h5:name")))
    with h5py.File(path("a.h5"), "a") as f:
        f["second"] = np.ones((2, 2))
    expect(20, "/deep/er/data, /second", lambda: k.read(path("a.h5")))


def hdf5__hostile__refused(k):
    with h5py.File(path("big.h5"), "w") as f:
        f.create_dataset("x", (2**20, 2**20), chunks=(64, 64))
    expect(41, "claims", lambda: k.read(path("big.h5")))
    with h5py.File(path("big.h5"), "w") as f:
        f.create_dataset("x", (2**62, 2**62), chunks=(64, 64))
    expect(41, "larger than any", lambda: k.read(path("big.h5")))
    with h5py.File(path("other.h5"), "w") as f:
        f["x"] = np.ones((3, 3))
    with h5py.File(path("ext.h5"), "w") as f:
        f["x"] = h5py.ExternalLink("other.h5", "/x")
        f["soft"] = h5py.SoftLink("/x")
        f["loop"] = h5py.SoftLink("/loop")
        f["self"] = f["/"]
    for name in (":x", ":soft", ":loop", ""):
        expect(20, "has ", lambda: k.read(path("ext.h5" + name)))
    with h5py.File(path("filter.h5"), "w") as f:
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_chunk((3, 3))
        made.set_filter(32765, h5py.h5z.FLAG_OPTIONAL, (1,))
        h5py.h5d.create(f.id, b"x", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((3, 3)), made)
    expect(60, "filter 32765", lambda: k.read(path("filter.h5")))
    layout = h5py.VirtualLayout((3, 3), float)
    layout[:] = h5py.VirtualSource(path("other.h5"), "x", (3, 3))
    with h5py.File(path("ext.h5"), "w") as f:
        f.create_virtual_dataset("x", layout)
    expect(60, "other files", lambda: k.read(path("ext.h5")))
    with h5py.File(path("ext.h5"), "w") as f:
        f.create_dataset("x", (3, 3), float, external=[("raw.bin", 0, 72)])
    expect(60, "other files", lambda: k.read(path("ext.h5")))
    with h5py.File(path("deep.h5"), "w") as f:
        f["/".join("g" * 300) + "/x"] = np.ones((2, 2))
    expect(20, "0 matrices", lambda: k.read(path("deep.h5")))
    raw = open(path("other.h5"), "rb").read()
    for cut in (0, 7, 100, len(raw) // 2, len(raw) - 8):
        open(path("cut.h5"), "wb").write(raw[:cut])
        expect(21, "HDF5" if cut else "empty", lambda: k.read(path("cut.h5")))
    expect(22, "directory", lambda: k.read(folder.name, format="hdf5"))


def hdf5__written__h5py_and_anndata_read(k):
    x, s = dense(), sparse()
    names = [f"gene {i} \u00e4" for i in range(x.shape[1])]
    k.write(path("w.h5"), x, names)
    with h5py.File(path("w.h5")) as f:
        binlib.same(f["X"][:], x, "dense")
        assert [n.decode() for n in f["features"][:]] == names
    assert k.read(path("w.h5")).features == names
    k.write(path("w.h5"), s)
    with h5py.File(path("w.h5")) as f:
        binlib.same(anndata._io.specs.read_elem(f["X"]), s, "sparse")
    binlib.same(k.read(path("w.h5")).x, s, "sparse, back")


def h5ad__dense_csr_csc_layers_names_labels(k):
    base, counts = sparse(30, 8, 0.4), sparse(30, 8, 0.4)
    colour = pd.Categorical(rng.choice(["red", "green", "blue"], 30))
    colour[3] = np.nan
    obs = pd.DataFrame({"colour": colour, "batch": rng.integers(-2, 3, 30),
                        "word": rng.choice(["b", "a", "c"], 30).astype(object)},
                       index=[f"cell{i}" for i in range(30)])
    var = pd.DataFrame(index=[f"gene{i}" for i in range(8)])
    obs.index.name, var.index.name = "barcode", None
    for x in (base, base.tocsc(), base.toarray(), base.toarray().astype(np.float32)):
        a = anndata.AnnData(x, obs, var, layers={"counts": counts}, dtype=x.dtype)
        a.raw = a
        a = a[:, :5].copy()
        a.strings_to_categoricals = lambda *_, **__: None  # keep plain strings plain
        a.write_h5ad(path("a.h5ad"))
        with h5py.File(path("a.h5ad"), "a") as f:
            if "word" not in f["obs"] or isinstance(f["obs/word"], h5py.Group):
                del f["obs/word"]
                f["obs"].create_dataset("word", data=obs["word"].tolist(), dtype=h5py.string_dtype())
        want = x[:, :5]
        want = sp.csr_matrix(want).astype(float) if sp.issparse(want) else want.astype(float)
        got = k.read(path("a.h5ad"), "colour")
        binlib.same(got.x, want, "X")
        assert got.ids == list(obs.index) and got.features == list(var.index[:5])
        assert got.classes == list(colour.categories)
        assert np.array_equal(got.labels, colour.codes)
        assert k.read(path("a.h5ad")).labels is None
        binlib.same(k.read(path("a.h5ad:layers/counts")).x, counts[:, :5], "layer")
        raw = k.read(path("a.h5ad:raw/X"))
        assert raw.features == list(var.index) and raw.x.shape == (30, 8)
        got = k.read(path("a.h5ad"), "word")
        assert [got.classes[i] for i in got.labels] == obs["word"].tolist()
        assert got.classes == list(dict.fromkeys(obs["word"]))
        got = k.read(path("a.h5ad"), "batch")
        assert [int(got.classes[i]) for i in got.labels] == obs["batch"].tolist()
        assert [int(i) for i in got.classes] == sorted(set(obs["batch"]))
        expect(20, "its columns are: barcode, batch, colour", lambda: k.read(path("a.h5ad"), "nothing"))
        expect(20, "no dataset 'layers/nothing'", lambda: k.read(path("a.h5ad:layers/nothing")))


def h5ad__older_layouts(k):
    s = sparse(20, 6, 0.5)
    codes = rng.integers(-1, 3, 20).astype(np.int8)
    text = h5py.string_dtype()
    with h5py.File(path("old.h5ad"), "w") as f:  # 0.7
        g = f.create_group("X")
        g.attrs["encoding-type"], g.attrs["shape"] = "csr_matrix", s.shape
        g["data"], g["indices"], g["indptr"] = s.data, s.indices, s.indptr
        o = f.create_group("obs")
        o.attrs["_index"] = "index"
        o.create_dataset("index", data=[f"c{i}" for i in range(20)], dtype=text)
        o["kind"] = codes
        o.create_dataset("__categories/kind", data=["x", "y", "z"], dtype=text)
    got = k.read(path("old.h5ad"), "kind")
    binlib.same(got.x, s, "0.7")
    assert got.classes == ["x", "y", "z"] and np.array_equal(got.labels, codes) and got.ids[19] == "c19"
    with h5py.File(path("old.h5ad"), "w") as f:  # 0.6
        g = f.create_group("X")
        c = s.tocsc()
        g.attrs["h5sparse_format"], g.attrs["h5sparse_shape"] = b"csc", s.shape
        g["data"], g["indices"], g["indptr"] = c.data, c.indices, c.indptr
        table = np.zeros(20, [("index", "S4"), ("kind", "i1"), ("n", "i4"), ("w", "f8")])
        table["index"], table["kind"], table["n"] = [b"c%d" % i for i in range(20)], codes, np.arange(20) % 4
        f["obs"] = table
        f["var"] = np.array([(b"g%d" % i,) for i in range(6)], [("index", "S3")])
        f["uns/kind_categories"] = np.array([b"x", b"y", b"z"])
    got = k.read(path("old.h5ad"), "kind")
    binlib.same(got.x, s, "0.6")
    assert got.classes == ["x", "y", "z"] and np.array_equal(got.labels, codes)
    assert got.ids[19] == "c19" and got.features == [f"g{i}" for i in range(6)]
    assert k.read(path("old.h5ad"), "n").classes == ["0", "1", "2", "3"]
    expect(20, "no column 'nothing'", lambda: k.read(path("old.h5ad"), "nothing"))
    with h5py.File(path("old.h5ad"), "a") as f:
        del f["var"]
        f["var"] = np.array([(b"g",)], [("index", "S3")])
    expect(21, "1 names for 6 columns", lambda: k.read(path("old.h5ad")))


def mat5__classes_compression_sparse(k):
    for compress, order in itertools.product((True, False), "CF"):
        for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 bool".split():
            x = (rng.standard_normal((13, 7)) * 50).astype(dtype)
            scipy.io.savemat(path("a.mat"), {"x": np.asarray(x, order=order), "word": "text", "c": {"a": 1}},
                             do_compression=compress)
            binlib.same(k.read(path("a.mat")).x, x.astype(float), f"{dtype} {compress}")
        s = sparse()
        scipy.io.savemat(path("a.mat"), {"s": s, "x": dense(), "z": np.ones((2, 2)) * 1j, "t": np.ones((2, 2, 2)),
                                         "cell": np.array([1, "a"], object)}, do_compression=compress)
        binlib.same(k.read(path("a.mat:s")).x, s, "sparse")
        expect(20, "2 matrices", lambda: k.read(path("a.mat")))
        expect(20, "no variable 'nothing'", lambda: k.read(path("a.mat:nothing")))
        expect(21, "complex", lambda: k.read(path("a.mat:z")))
        expect(21, "two dimensions", lambda: k.read(path("a.mat:t")))
        expect(21, "cell", lambda: k.read(path("a.mat:cell")))
        raw = open(path("a.mat"), "rb").read()
        for cut in (0, 4, 100, 127, 128, 140):
            open(path("cut.mat"), "wb").write(raw[:cut])
            try:
                k.read(path("cut.mat"))
            except binlib.KindredError as error:
                assert error.status in (20, 21), error
            else:
                raise AssertionError(f"cut at {cut} was read")


def by_column__many_entries__the_same_by_row(k):
    """Beyond a size values move within their own array; MATLAB's elements are read block by block."""
    for n, shape in ((200_000, (3000, 900)), (8_700_000, (300_000, 900))):
        m = sp.coo_matrix((rng.standard_normal(n), (rng.integers(0, shape[0], n), rng.integers(0, shape[1], n))),
                          shape=shape).tocsc()
        m.sum_duplicates()
        m.data[rng.integers(0, m.nnz, 5)] = np.nan
        sp.save_npz(path("big.npz"), m, compressed=False)
        binlib.same(k.read(path("big.npz")).x, m.tocsr(), f"{m.nnz} entries")
        if n < 1_000_000:
            scipy.io.savemat(path("big.mat"), {"m": m})
            binlib.same(k.read(path("big.mat")).x, m.tocsr(), "mat")
        else:
            assert m.nnz > 1 << 23
    os.remove(path("big.npz"))


def mat73__hdf5_layout(k):
    x, s = rng.standard_normal((9, 4)), sparse().tocsc()
    with h5py.File(path("b.mat"), "w", userblock_size=512) as f:
        f["x"] = x.T
        f["x"].attrs["MATLAB_class"] = np.bytes_(b"double")
        f["word"] = np.array([[104], [105]], np.uint16)
        f["word"].attrs["MATLAB_class"] = np.bytes_(b"char")
        g = f.create_group("st")
        g.attrs["MATLAB_class"] = np.bytes_(b"struct")
        f["z"] = np.zeros((2, 2), complex)
        f["#refs#/a"] = np.ones((2, 2))
    with open(path("b.mat"), "r+b") as f:
        f.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")
    binlib.same(k.read(path("b.mat")).x, x, "only")
    binlib.same(k.read(path("b.mat:x")).x, x, "named")
    expect(21, "struct", lambda: k.read(path("b.mat:st")))
    expect(21, "text", lambda: k.read(path("b.mat:word")))
    expect(21, "real", lambda: k.read(path("b.mat:z")))
    expect(20, "no variable 'y'", lambda: k.read(path("b.mat:y")))
    with h5py.File(path("c.mat"), "w") as f:
        g = f.create_group("s")
        g.attrs["MATLAB_class"], g.attrs["MATLAB_sparse"] = np.bytes_(b"double"), np.uint64(s.shape[0])
        g["data"], g["ir"], g["jc"] = s.data, s.indices.astype(np.uint64), s.indptr.astype(np.uint64)
    want = s.tocsr()
    want.sort_indices()
    binlib.same(k.read(path("c.mat")).x, want, "sparse")


binlib.run([value for name, value in list(globals().items()) if "__" in name and callable(value)
            and getattr(value, "__module__", "") == "__main__"])
