"""What `kindred vectorize`, `convert` and `inspect` do, as functions. SPDX-License-Identifier: BSD-3-Clause"""
import os

import numpy as np

from ._data import Data, as_data
from ._errors import chars
from ._jobs import as_estimate, read, reading, written_texts
from ._kindred import ffi, lib
from ._session import Session

_KINDS = ("folder", "lines", "table", "json")


def vectorize(corpora, *, kind=None, text_field=None, label_field=None, threads=None, estimate=False, **options):
    """Texts to matrices over one shared vocabulary: `kindred vectorize`. Returns a list of Data, one for each corpus.

    corpora: a list, or a dict by name, of paths (a folder of files, or a file with a document a line) and of lists of texts.
    kind: "folder", "lines", "table" (CSV or TSV) or "json" (an object a line), where the path does not tell; text_field and
    label_field name their columns. Options are those of the C struct: stopwords="english", stemmer="porter", min_df=2,
    max_features=5000, strip_html=True, binary=True, ... With estimate=True, returns only the
    memory it needs, as kindred.estimate does, estimated from the first 8 MB."""
    session, o = Session(threads=threads), ffi.new("kdr_text_options *")
    lib.kdr_text_options_init(o)
    fields, keep, written = dict(ffi.typeof("kdr_text_options").fields[1:]), [], []  # all but the size
    for name, value in options.items():
        if name not in fields:
            raise TypeError(f"vectorize() got an unexpected keyword argument '{name}': {', '.join(fields)}")
        keep.append(chars(value) if isinstance(value, (str, os.PathLike)) else value)
        setattr(o, name, keep[-1])
    items = list(corpora.items()) if isinstance(corpora, dict) else [(None, c) for c in corpora]
    c, out = ffi.new("kdr_corpus[]", max(1, len(items))), ffi.new("kdr_data *[]", max(1, len(items)))
    try:
        for i, (name, corpus) in enumerate(items):
            form = kind
            if not isinstance(corpus, (str, os.PathLike)):
                corpus, form, name = written_texts(corpus, written), "json", name or f"task{i + 1}"
            form = form or ("folder" if os.path.isdir(corpus) else "lines")
            if form not in _KINDS:
                raise ValueError(f"kind is {form!r}: {', '.join(_KINDS)} are allowed")
            for field, value in (("path", corpus), ("name", name), ("text_field", text_field), ("label_field", label_field)):
                if value is not None:
                    keep.append(chars(value))
                    setattr(c[i], field, keep[-1])
            c[i].kind = _KINDS.index(form)
        if estimate:
            e = ffi.new("kdr_estimate *")
            session.check(lib.kdr_estimate_bytes_vectorize(session.ctx, c, len(items), o, e))
            return as_estimate(e)
        session.check(lib.kdr_vectorize(session.ctx, c, len(items), o, out, ffi.NULL))
    finally:
        for path in written:
            os.unlink(path)
    return [Data(out[i]) for i in range(len(items))]


def write(data, path, *, format=None, force=False):
    """Writes a table to a file, in the format its name tells or `format`; an existing file is replaced with force=True."""
    session = Session()
    data = data if isinstance(data, Data) else as_data(session, data, "data")
    session.check(lib.kdr_write(session.ctx, chars(path), chars(format) if format else ffi.NULL, data._data, force))


def convert(source, target, *, force=False, **options):
    """Reads one file and writes another: `kindred convert`. Options are those of read()."""
    write(read(source, **options), target, force=force)


def write_h5ad(path, tasks, result=None, *, input=None, force=False, **options):
    """Gives the file that data were read from back as AnnData, with obs["kindred"] (the label), obs["kindred_confidence"], and
    obsm["X_kindred"] where the result has a map: `--write-h5ad`.

    tasks: what read() gave, one table or several. result: that of cluster() or transfer() on them. input: the file, where it is not
    the one the first table came from; another format than AnnData is read again, with the options of read() given here."""
    session = Session()
    sets = list(tasks.values()) if isinstance(tasks, dict) else [tasks] if isinstance(tasks, Data) else list(tasks)
    if not sets or not all(isinstance(s, Data) for s in sets):
        raise TypeError("write_h5ad: tables as read() gives them are needed: objects in memory have cluster_anndata()")
    o, keep = reading(options)
    pointers, xy = ffi.new("kdr_data *[]", [s._data for s in sets]), ffi.NULL
    maps = [_map_of(result, s.name) for s in sets]
    if all(m is not None for m in maps):
        xy = ffi.new("const double *[]", [ffi.cast("const double *", m.ctypes.data) for m in maps])
    session.check(lib.kdr_write_h5ad(session.ctx, chars(path), chars(input or sets[0].path), o, pointers, len(sets),
                                     result._result if result is not None else ffi.NULL, xy, force))
    del keep, maps


def _map_of(result, name):
    """The places of a task's samples, or None where there are none for all of them."""
    if result is None or name not in result.tasks:
        return None
    task = result.tasks.index(name)
    places = result.map(task)
    return None if places is None or len(places) != len(result.labels(task)) else np.ascontiguousarray(places, np.float64)


def inspect(table, **options):
    """What is in a table and what is odd about it, as a dict: `kindred inspect`. A path is read first, with the options of read()."""
    session = Session()
    data = read(table, **options) if options else table if isinstance(table, Data) else as_data(session, table, "data")
    out = ffi.new("kdr_inspection *")
    session.check(lib.kdr_inspect(session.ctx, data._data, out))
    return {name: getattr(out, name) for name, _ in ffi.typeof("kdr_inspection").fields}
