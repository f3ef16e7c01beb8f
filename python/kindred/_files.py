"""Functions for files and texts. SPDX-License-Identifier: BSD-3-Clause"""
import os

import numpy as np

from ._data import Data, as_data, as_texts
from ._docs import documented
from ._errors import chars
from ._jobs import listed, read, reading, written_texts
from ._kindred import ffi, lib
from ._session import Session

_KINDS = ("folder", "lines", "table", "json")


@documented
def vectorize(corpora, *, kind=None, text_field=None, label_field=None, threads=None, **options):
    """Count the words of texts over a common vocabulary.

    Parameters
    ----------
    corpora : list or dict
        The corpora, by name if it is a dict. A corpus is a list of texts or a path:
        a folder with one text per file, or a file.
    kind : {'folder', 'lines', 'table', 'json'}, optional
        What a path holds: a folder, one text per line, a CSV or TSV file, or one
        JSON object per line. The default is ``"folder"`` for folders and
        ``"lines"`` for files.
    text_field : str, optional
        Column or field with the text. The default is ``"text"``.
    label_field : str, optional
        Column or field with the class.
    <threads>
    **options : dict
        How texts become features: ``stopwords`` (``"english"``, ``"auto"``, a
        file, or a list such as ``["english", "german"]``), ``stemmer``
        (``"porter"``, ``"auto"``, or a list of languages), ``min_df``,
        ``max_df``, ``min_df_share``, ``max_df_share``, ``max_features``,
        ``ngram_min``, ``ngram_max``, ``min_length``, ``max_length``, ``binary``,
        ``keep_case``, ``strip_html``, ``strip_mail``, ``keep_subject``,
        ``drop_empty``, ``vocabulary``, and ``detect`` to choose what is not
        specified from the texts.

    Returns
    -------
    list of Data
        One sparse data set per corpus, with the terms as feature names.

    Raises
    ------
    TypeError
        If a text is not a string or an option is unknown.
    OSError
        If a file cannot be read.

    See Also
    --------
    cluster : Takes lists of texts and folders directly.

    Examples
    --------
    >>> import kindred
    >>> fruit, cars = kindred.vectorize({"fruit": ["red apple", "green apple"], "cars": ["red car"]})
    >>> fruit.feature_names
    ['apple', 'red', 'car', 'green']
    >>> fruit.X.toarray().tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
    """
    session, o = Session(threads=threads), ffi.new("kdr_text_options *")
    lib.kdr_text_options_init(o)
    fields, keep, written = dict(ffi.typeof("kdr_text_options").fields[1:]), [], []  # all but the size
    for name, value in options.items():
        if name not in fields:
            raise TypeError(f"vectorize() got an unexpected keyword argument '{name}': {', '.join(fields)} are allowed")
        value = listed(value)
        keep.append(chars(value) if isinstance(value, (str, os.PathLike)) else value)
        setattr(o, name, keep[-1])
    items = list(corpora.items()) if isinstance(corpora, dict) else [(None, c) for c in corpora]
    c, out = ffi.new("kdr_corpus[]", max(1, len(items))), ffi.new("kdr_data *[]", max(1, len(items)))
    try:
        for i, (name, corpus) in enumerate(items):
            form = kind
            if not isinstance(corpus, (str, os.PathLike)):
                name = name or f"task{i + 1}"
                corpus, form = written_texts(written, **{text_field or "text": as_texts(list(corpus), name)}), "json"
            form = form or ("folder" if os.path.isdir(corpus) else "lines")
            if form not in _KINDS:
                raise ValueError(f"kind is {form!r}: {', '.join(_KINDS)} are allowed")
            for field, value in (("path", corpus), ("name", name), ("text_field", text_field), ("label_field", label_field)):
                if value is not None:
                    keep.append(chars(value))
                    setattr(c[i], field, keep[-1])
            c[i].kind = _KINDS.index(form)
        session.check(lib.kdr_vectorize(session.ctx, c, len(items), o, out, ffi.NULL))
    finally:
        for path in written:
            os.unlink(path)
    return [Data(out[i]) for i in range(len(items))]


def write(data, path, *, format=None, force=False):
    """Write a data set to a file.

    Parameters
    ----------
    data : table
        The data set; tables are as for :func:`cluster`.
    path : path
        The file.
    format : str, optional
        Format of the file, such as ``"csv"`` or ``"mtx"``. By default it follows
        from the name.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    FileExistsError
        If the file exists and `force` is False.

    See Also
    --------
    read : Read a data set.

    Examples
    --------
    >>> import kindred
    >>> kindred.write([[1, 2], [3, 4]], "points.csv")
    >>> kindred.read("points.csv").X.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    session = Session()
    data = data if isinstance(data, Data) else as_data(session, data, "data")
    session.check(lib.kdr_write(session.ctx, chars(path), chars(format) if format else ffi.NULL, data._data, force))


def convert(source, target, *, force=False, **options):
    """Read a file and write it in another format.

    Parameters
    ----------
    source : path
        The file to read.
    target : path
        The file to write; its name determines the format.
    force : bool, default=False
        Replace an existing file.
    **options : dict
        Options of :func:`read`.

    Raises
    ------
    FileExistsError
        If the target exists and `force` is False, or is the source.

    See Also
    --------
    read : Read a data set.
    write : Write a data set.

    Examples
    --------
    >>> import kindred
    >>> kindred.write([[1, 0], [0, 4]], "matrix.csv")
    >>> kindred.convert("matrix.csv", "matrix.mtx")
    >>> kindred.read("matrix.mtx").shape
    (2, 2)
    """
    if os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
        raise FileExistsError(f"{target}: was read by this function and is not replaced; choose another name")
    write(read(source, **options), target, force=force)


def write_h5ad(path, tasks, result=None, *, input=None, key="kindred", force=False, **options):
    """Write the file that data were read from as AnnData, with the labels of a result.

    The new file has ``obs["kindred"]`` (the labels), ``obs["kindred_confidence"]``, ``obs["kindred_second"]``,
    ``obs["kindred_match"]`` (:meth:`Result.match`), if the result has a map, ``obsm["X_kindred"]``, and if it was made
    with ``representation=True``, ``obsm["X_kindred_rep"]``.

    Parameters
    ----------
    path : path
        The file to write.
    tasks : Data, list of Data or dict of Data
        What :func:`read` returned.
    result : Result, optional
        The result for these data sets.
    input : path, optional
        The file to copy. By default it is the one that the first data set was read
        from.
    key : str, default='kindred'
        Names in the file begin with it.
    force : bool, default=False
        Replace an existing file.
    **options : dict
        Options of :func:`read`, if the file is not AnnData and is therefore read
        again.

    Raises
    ------
    TypeError
        If a data set was not read from a file. For AnnData objects in memory, use
        :func:`cluster_anndata`.
    FileExistsError
        If the file exists and `force` is False.

    See Also
    --------
    cluster_anndata : Cluster an AnnData object in memory.

    Examples
    --------
    >>> import kindred
    >>> north, _ = kindred.generate("blobs", samples=60, seed=1)
    >>> kindred.write(north.X, "cells.csv")
    >>> cells = kindred.read("cells.csv")
    >>> kindred.write_h5ad("cells.h5ad", cells, kindred.cluster(cells, k=3))
    >>> kindred.read("cells.h5ad").shape
    (60, 2)
    """
    session = Session()
    sets = list(tasks.values()) if isinstance(tasks, dict) else [tasks] if isinstance(tasks, Data) else list(tasks)
    if not sets or not all(isinstance(s, Data) for s in sets):
        raise TypeError("tasks must come from read(): use cluster_anndata() for objects in memory")
    o, keep = reading(options)
    pointers, xy = ffi.new("kdr_data *[]", [s._data for s in sets]), ffi.NULL
    maps = [_map_of(result, s.name) for s in sets]
    if all(m is not None for m in maps):
        xy = ffi.new("const double *[]", [ffi.cast("const double *", m.ctypes.data) for m in maps])
    session.check(lib.kdr_write_h5ad(session.ctx, chars(path), chars(input or sets[0].path), o, pointers, len(sets),
                                     result._result if result is not None else ffi.NULL, xy, chars(key), force))
    del keep, maps


def _map_of(result, name):
    """The map of a data set, or None if it does not show all samples."""
    if result is None or name not in result.tasks:
        return None
    task = result.tasks.index(name)
    places = result.map(task)
    return None if places is None or len(places) != len(result.labels(task)) else np.ascontiguousarray(places, np.float64)


def inspect(table, **options):
    """Summarise the values of a data set and its problems.

    Parameters
    ----------
    table : table
        The data set; tables are as for :func:`cluster`.
    **options : dict
        Options of :func:`read` for paths and DataFrames.

    Returns
    -------
    dict
        Rows, columns and nonzeros; the smallest and largest value; and the numbers
        of negative values, values that are not finite, empty rows and columns,
        constant columns, duplicate rows and duplicate feature names.

    See Also
    --------
    read : Read a data set.

    Examples
    --------
    >>> import kindred
    >>> found = kindred.inspect([[1, 0, 5], [2, 0, 5], [2, 0, 5]])
    >>> found["empty_cols"], found["constant_cols"], found["duplicate_rows"]
    (1, 2, 1)
    """
    session = Session()
    data = read(table, **options) if options else table if isinstance(table, Data) else as_data(session, table, "data")
    out = ffi.new("kdr_inspection *")
    session.check(lib.kdr_inspect(session.ctx, data._data, out))
    return {name: getattr(out, name) for name, _ in ffi.typeof("kdr_inspection").fields}


def relabel(result, edits, folder, *, h5ad=None, key="kindred", table=None, columns=None, model=None, force=False):
    """Apply edits that were made in the report to the files of a result.

    Parameters
    ----------
    result : path
        The ``result.json`` that belongs to the report (:meth:`Result.save`).
    edits : path
        The edits file that the report saved, or a file with numbers and names of
        clusters (:meth:`Result.rename_clusters`).
    folder : path
        Folder for ``result.json``, labels and samples. It is created if it does not
        exist.
    h5ad : path, optional
        Also write the AnnData input to this file, with the edited labels.
    key : str, default='kindred'
        Names in that file begin with it.
    table : path, optional
        Also write the CSV, TSV or Excel input to this file, with the edited labels.
    columns : list of str, optional
        The columns to add to it, as for :meth:`Result.save_table`.
    model : path, optional
        Also write a copy of this model into the folder, with the edited names of
        classes or clusters.
    force : bool, default=False
        Replace existing files.

    Raises
    ------
    ValueError
        If the edits are invalid or belong to another result.
    FileExistsError
        If a file exists and `force` is False.

    See Also
    --------
    report : Make the page in which edits are made.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", k=3, samples=60, seed=1)
    >>> kindred.cluster({"north": north, "south": south}, k=3, method="kmeans").save("result.json")
    >>> with open("edits.json", "w") as f:
    ...     _ = f.write('{"format": "kindred-edits", "version": 1, "edits": [{"do": "merge", "cluster": 2, "into": 1}]}')
    >>> kindred.relabel("result.json", "edits.json", "edited")
    >>> sorted(set(open("edited/north.labels").read().split()))
    ['0', '1']
    """
    session = Session()
    os.makedirs(folder, exist_ok=True)
    if columns is not None and table is None:
        raise ValueError("columns has no effect without table: pass the file to write")
    o, keep = ffi.new("kdr_relabel_options *"), []
    lib.kdr_relabel_options_init(o)
    columns = columns if columns is None or isinstance(columns, str) else ",".join(columns)
    for name, value in {"h5ad": h5ad, "key": key, "table": table, "columns": columns, "model": model}.items():
        if value is not None:
            keep.append(chars(value))
            setattr(o, name, keep[-1])
    session.check(lib.kdr_relabel(session.ctx, chars(result), chars(edits), chars(folder), o, force))
