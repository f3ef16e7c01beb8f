"""The jobs of the command line as functions. SPDX-License-Identifier: BSD-3-Clause"""
import json
import numbers
import os
import tempfile
import warnings

import numpy as np

from ._data import Data, as_data, as_texts, is_anndata, is_frame, is_missing, is_path, is_sparse, is_table, is_texts, set_classes, strings, until_null
from ._docs import choices, documented
from ._errors import ConvergenceWarning, KindredWarning, chars, in_python, text
from ._frames import check_names, columns_text, frame_text, in_rows, is_plain, quoted, recodes, renamed, renames, with_missing
from ._kindred import ffi, lib
from ._results import Report, Result, quality_dict
from ._session import Session, seed_of


class Job:
    """Options of a job by name, as on the command line; None is the default. `o` has the other members, such as arrays."""

    def __init__(self, session, family="cluster", **options):
        out = ffi.new("kdr_job **")
        session.check(lib.kdr_job_new(session.ctx, lib.KDR_FAMILY_TRANSFER if family == "transfer" else lib.KDR_FAMILY_CLUSTER, out))
        self._job = ffi.gc(out[0], lib.kdr_job_free)
        self.o = lib.kdr_job_options_of(self._job)
        for name, value in options.items():
            values = [f"{key}={_word(v)}" for key, v in value.items()] if isinstance(value, dict) else [] if value is None else [_word(value)]
            for word in values:
                session.check(lib.kdr_job_set(session.ctx, self._job, chars(name.replace("_", "-")), chars(word)))


def _word(value):
    """A value as on the command line."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if not isinstance(value, str) and np.ndim(value) == 1:
        return ",".join(map(_word, value))
    if isinstance(value, numbers.Real):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def clusters_text(k, names):
    """The number of clusters as on the command line: 3, 3-8, auto, or one such value for each data set; None if there is none."""
    if isinstance(k, dict):
        wrong = [name for name in k if name not in names] or [name for name in names if name not in k]
        if wrong:
            raise ValueError(f"k has the keys {', '.join(map(str, k))}, but the data sets are {', '.join(names)}: one number for each data set is needed")
        k = [k[name] for name in names]
    if isinstance(k, range):
        return f"{k[0]}-{k[-1]}" if len(k) > 0 and k.step == 1 else f"{k.start}:{k.stop}:{k.step}"
    if not isinstance(k, str) and np.iterable(k):
        if len(k) != len(names):
            raise ValueError(f"k has length {len(k)}, but the data sets are {', '.join(names)}: use one number for all, or one for each")
        return ",".join("auto" if v is None else clusters_text(v, names) for v in k)
    return k if k is None else _word(k)


def as_tasks(x):
    """Data sets and their names, from one table or path, a sequence or a dict. In the latter two, a list of texts is a data set."""
    if isinstance(x, dict) and not is_sparse(x):  # SciPy has a matrix that is a dict
        return list(x.values()), [str(name) for name in x]
    if not is_table(x) and isinstance(x, (list, tuple)) and len(x) > 0 and all(is_table(t) or is_texts(t) for t in x):
        return list(x), [None] * len(x)
    return [x], [None]


def written_texts(written, **fields):
    """Writes texts and what else is known of them to a file of JSON objects, which keeps their line ends, and adds its path to `written`."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json", delete=False) as f:
        written.append(f.name)
        for values in zip(*fields.values()):
            f.write(json.dumps(dict(zip(fields, values))) + "\n")
    return f.name


def _of_texts(reading, explain=None):
    """Options of read() that apply to texts, whose column may be one of the views."""
    return {name: value for name, value in reading.items()
            if name in ("texts", "id_column", "label_column", "task_column") or (name == "text_column" and explain is None)}


def without_texts(reading):
    """Options of read() that do not apply to texts only."""
    return {name: value for name, value in reading.items() if name not in ("text_column", "texts", "vectors")}


class TextSets(list):
    """The data sets of a table of texts, one for each value of task_column."""
    from_texts = True


def compares(options, texts, max_memory=None):
    """Whether texts are also read alone: if data sets learn from each other, not with a limit of memory or a file of vectors."""
    return "transfer" in (options or {}) or not (max_memory or (texts or {}).get("vectors"))


def _named_texts(table, how, called, may_lack_labels, explained):
    """The texts of a list, Series or array, or of the text column of a frame, and what is known of them by name: ids, classes, data sets."""
    if not is_frame(table):
        lacking = [] if explained else [o for o in ("id_column", "label_column", "task_column") if o in how and not (o == "label_column" and may_lack_labels)]
        if lacking:
            raise ValueError(f"{called} is a list of texts, without columns: use a DataFrame or a path with {', '.join(lacking)}")
        index = getattr(table, "index", None)
        ids = None if index is None or callable(index) or type(index).__name__ == "RangeIndex" else list(map(str, index))
        return as_texts(table, called), {} if ids is None else {"id_column": ids}
    titles, fields = [str(c) for c in table.columns], {}

    def column(name):
        if str(name) not in titles:
            raise ValueError(f"{called} has no column {str(name)!r}: its columns are {', '.join(titles)}")
        return table.iloc[:, titles.index(str(name))].tolist()
    if type(table.index).__name__ != "RangeIndex":
        fields["id_column"] = list(map(str, table.index))
    for option in ("id_column", "label_column") if explained else ("id_column", "label_column", "task_column"):
        if option in how and not (str(how[option]) not in titles and (explained or (option == "label_column" and may_lack_labels))):
            fields[option] = ["" if is_missing(v) else str(v) for v in column(how[option])]
    return as_texts(column(how["text_column"]), f"{called}, column {str(how['text_column'])!r}"), fields


def join_texts(session, groups, how, alone=False, explained=False):
    """Reads all texts in groups of tables over a common vocabulary: folders, texts in memory and, with text_column, files and frames.

    A group is (tables, names, stem, may_lack_labels). alone: also reads each data set alone, for comparing with runs alone. explained: the
    texts are views, so that columns may be in the tables that they explain. Returns the tables of each group."""
    how = {name: value for name, value in how.items() if value is not None}
    by_column, how["together_only"] = "text_column" in how, not alone
    joined, found, written = [list(tables) for tables, *_ in groups], [], []
    for g, (tables, names, stem, may_lack_labels) in enumerate(groups):
        for i, table in enumerate(tables):
            own = names[i] or (stem if len(tables) == 1 else f"{stem}{i + 1}")
            if is_texts(table) or (by_column and is_frame(table)):
                found.append(((g, i), own, _named_texts(table, how, own, may_lack_labels, explained), True))
            elif is_path(table) and (by_column or os.path.isdir(table)):
                found.append(((g, i), names[i], table, may_lack_labels))
    if by_column and not any(is_frame(joined[g][i]) or is_path(joined[g][i]) for (g, i), *_ in found):
        raise ValueError(f"text_column is {how['text_column']!r}, but no table has columns of texts: use it with DataFrames and files")
    held = [content[1] for _, _, content, _ in found if not is_path(content)]
    if held:
        how.update(text_column=how.get("text_column", "text"), temporary=len(held) == len(found))
        if all("id_column" in fields for fields in held) and (len(held) == len(found) or "id_column" in how):
            how.setdefault("id_column", "id")
        else:
            how.pop("id_column", None)
    if not by_column or (held and explained):
        how.pop("task_column", None)  # of tables without texts
    sets = [TextSets() for _ in found]
    try:
        named = []
        for _, name, content, may_lack_labels in found:
            if not is_path(content):
                fields = {how[option]: values for option, values in content[1].items() if option in how}
                content = written_texts(written, **{**fields, how["text_column"]: content[0]})
            named.append((name, content, may_lack_labels))
        for number, data in _read_tasks(session, named, how) if named else ():
            data.from_texts = True
            sets[number].append(data)
    finally:
        for path in written:
            os.unlink(path)
    for ((g, i), *_), of in zip(found, sets):
        joined[g][i] = of if "task_column" in how else of[0]
    return joined


def load(session, tables, names, stem, how=None, *, method=None, family="cluster", may_lack_labels=False, more=False,
         explained=False):
    """Data sets from tables, frames and paths, in order, and the index of the table that each comes from.

    how: options of read(). Frames with anything but numbers are read by the same rules as files. more: other tables of the job may
    have columns that these lack; the caller checks this. explained: their views may have these columns and classes."""
    how = {name: value for name, value in (how or {}).items() if value is not None}
    read_how = dict(how, may_lack_labels=True) if (may_lack_labels or explained) and "label_column" in how else dict(how)
    if method is not None:
        usual = default_missing(session, method, family)
        read_how.update({"missing": usual} if usual and "missing" not in how else {})
    tables, names = [with_missing(table, how.get("missing")) for table in tables], list(names)
    for i, table in enumerate(tables):
        frame = _elsewhere(table) if is_path(table) else None
        if frame is not None:
            tables[i], names[i] = frame, names[i] or _stem(table)
    paths = [i for i, table in enumerate(tables) if is_path(table)]
    lenient = more or (len(tables) > 1 and len(paths) < len(tables))  # the library checks those of several paths
    if (lenient or explained) and (how.get("columns") or how.get("rename") or how.get("recode")):
        read_how["may_lack_columns"] = True
    found = {i: [] for i in range(len(tables))}
    if paths:
        for i, data in _read_tasks(session, [(names[j], tables[j]) for j in paths], read_how):
            found[paths[i]].append(data)
    for i, (table, name) in enumerate(zip(tables, names)):
        own = name or (stem if len(tables) == 1 else f"{stem}{i + 1}")
        if is_frame(table) and (how or not is_plain(table)):
            found[i] = read_frame(session, table, own, read_how)
        elif i not in paths:
            unused = [n for n in ("columns", "rename", "recode") if how.get(n)]
            if unused and not explained and (isinstance(table, TextSets) or getattr(table, "from_texts", False)):
                raise ValueError(f"{', '.join(unused)} has no effect on texts, of which only the words are used: remove it")
            if isinstance(table, TextSets):
                found[i] = list(table)
                continue
            if getattr(table, "from_texts", False):
                found[i] = [as_data(session, table, name or table.name)]
                continue
            classes = how.get("label_column") if is_anndata(table) else None
            has_classes = classes is not None or read_how.get("may_lack_labels")
            needs = [n for n in ("columns", "rename", "recode", "id_column", "label_column", "task_column") if how.get(n) and not (n == "label_column" and has_classes)]
            if needs and not explained:
                raise ValueError(f"{own} is an array without column names: use a DataFrame or a path with {', '.join(needs)}")
            found[i] = [as_data(session, table, name or (table.name if isinstance(table, Data) else own))]
            if classes in getattr(table, "obs", ()):
                set_classes(session, found[i][0], table.obs[classes])
            elif classes is not None and not read_how.get("may_lack_labels"):
                raise ValueError(f"{own}: there is no obs[{classes!r}]: obs has the columns {', '.join(map(str, table.obs.columns))}")
    if lenient and not more and not explained:
        check_names([data for i in found for data in found[i]], how)
    if how.get("task_column") and len(tables) > 1:
        alone = [i for i in found if (i not in paths and not isinstance(tables[i], TextSets)) or paths == [i]]  # the library names those of several paths
        for i in alone:
            start = names[i] or (_stem(tables[i]) if is_path(tables[i]) else f"{stem}{i + 1}")
            found[i] = [as_data(session, data, f"{start}-{data.name}") for data in found[i]]
    return [data for i in found for data in found[i]], [i for i in found for _ in found[i]]


def load_all(session, tables, names, reading, **how):
    """Data sets from tables, of which some may be texts."""
    (tables,) = join_texts(session, [(tables, names, "task", False)], {**_of_texts(reading), "model": reading.get("model"),
                                                                           "texts": with_vectors(reading.get("texts"), reading.get("vectors"))})
    return load(session, tables, names, "task", without_texts(reading), **how)[0]


def default_missing(session, method, family):
    """How missing values of tables are handled by default: "keep" for methods that skip them, "mean" for the default method of transfer,
    None (an error) otherwise."""
    kind = lib.KDR_FAMILY_TRANSFER if family == "transfer" else lib.KDR_FAMILY_CLUSTER
    found, usual = ffi.new("const kdr_algo **"), ffi.new("const kdr_algo **")
    session.check(lib.kdr_algo_require(session.ctx, chars(method), kind, found))
    if found[0].flags & lib.KDR_ALGO_TABLES:
        return "keep"
    return "mean" if lib.kdr_algo_require(ffi.NULL, ffi.NULL, kind, usual) == lib.KDR_OK and found[0] == usual[0] else None


def read_frame(session, frame, name, how):
    """The data sets of a frame: one, or one for each value of task_column."""
    frame, how = renamed(frame, how.get("rename")), dict(how)
    rename = how.pop("rename", None)
    how["model_rename"] = renames(rename)  # so that a model keeps it
    body, options = frame_text(frame, how)
    o, keep = reading(options)
    keep.append(ffi.from_buffer(body))
    o.memory, o.memory_bytes = keep[-1], len(body)
    try:
        sets = [data for _, data in _read_listed(session, [(name, name)], o, keep)]
        if rename is not None and not how.get("may_lack_columns"):
            check_names(sets, {"rename": rename})
        return sets
    except (ValueError, TypeError) as error:
        raise type(error)(in_rows(str(error))) from None


def _is_named_matrix(x):
    """Whether x is a matrix and the names of its columns."""
    return isinstance(x, tuple) and len(x) == 2 and is_table(x[0]) and not is_path(x[0]) and not is_table(x[1]) and \
        np.ndim(x[1]) == 1 and len(x[1]) == x[0].shape[1]


def _is_view(x):
    return x is None or is_table(x) or is_texts(x) or _is_named_matrix(x) or (hasattr(x, "__array__") and x.dtype.kind not in "iufcb")


def _listed_views(explain, count, names):
    """The view of each data set that was passed, or None."""
    if isinstance(explain, dict) and not is_sparse(explain):
        strange = [name for name in explain if name not in names]
        if strange:
            raise ValueError(f"explain has {strange[0]!r}, but the data sets are {', '.join(names)}")
        return [explain.get(name) for name in names]
    views = [explain]
    if isinstance(explain, (list, tuple)) and not _is_named_matrix(explain) and all(map(_is_view, explain)) and (len(explain) == count or not is_texts(explain)):
        views = list(explain)  # texts as many as data sets are paths
    if len(views) != count:
        raise ValueError(f"explain has {len(views)} entr{'y' if len(views) == 1 else 'ies'} for {count} data set{'s' * (count > 1)}: one for each is needed, None if there is none")
    return views


def explain_by(session, sets, of, names, explain, how):
    """Gives data sets the views that explain them. of: the number of the table that each data set is from; how: options of read()."""
    count, before = max(of, default=-1) + 1, len(session.warnings)
    views = _listed_views(explain, count, [name or next(d.name for d, i in zip(sets, of) if i == t) for t, name in enumerate(names)])
    places = [i for i, view in enumerate(views) if view is not None]
    called = {i: "explain" if count == 1 else f"explain[{i}]" for i in places}
    columns = [[str(n) for n in views[i][1]] if _is_named_matrix(views[i]) else None for i in places]
    tables = [views[i][0] if c else views[i] for i, c in zip(places, columns)]
    in_texts = {name: how.get(name) for name in ("id_column", "label_column", "text_column", "texts", "task_column")}
    (tables,) = join_texts(session, [(tables, list(called.values()), "explain", True)], in_texts, explained=True)
    others = {name: value for name, value in how.items() if name not in ("text_column", "texts") and value is not None}
    others = {"missing": "keep", "may_lack_columns": True, **others, **({"may_lack_labels": True} if "label_column" in others else {})}
    for i, table, own in zip(places, tables, columns):
        (view,), _ = load(session, [table], [None if is_path(table) else called[i]], "explain", others if is_path(table) or is_frame(table) else None)
        if own is not None:
            view = _with_names(session, view, own)
        parts = [d for d, t in zip(sets, of) if t == i]
        for data in parts:
            _explain(session, data, _rows_like(session, view, data) if len(parts) > 1 else view)
    for line in session.warnings[before:]:
        warnings.warn(in_python(line), KindredWarning, stacklevel=4)
    del session.warnings[before:]


def _with_names(session, data, names):
    """A data set with these column names, which borrows its matrix."""
    out, (features, keep) = ffi.new("kdr_data **"), strings(names)
    session.check(lib.kdr_data_borrow(session.ctx, chars(data.name), ffi.new("kdr_mat *", lib.kdr_data_mat(data._data)), features, ffi.NULL, out))
    return Data(out[0], (data, keep))


def _rows_like(session, view, data):
    """The rows of a view of an entire table that belong to one of its data sets."""
    if view.ids is not None and data.ids is not None:
        wanted = set(data.ids)
        rows = [i for i, name in enumerate(view.ids) if name in wanted]
    elif view.table_rows != data.table_rows:
        return view  # the library names both numbers
    else:
        rows = np.flatnonzero(np.isin(view.rows, data.rows)).tolist()
    out = ffi.new("kdr_data **")
    session.check(lib.kdr_data_rows(session.ctx, view._data, ffi.new("int64_t[]", rows), len(rows), out))
    return Data(out[0])


def _explain(session, data, view):
    """Gives a data set its view, which it owns afterwards. It may lose rows."""
    out = ffi.new("kdr_data **", data._data)
    ffi.gc(data._data, None)
    try:
        session.check(lib.kdr_data_explain(session.ctx, out, view._data))
        ffi.gc(view._data, None)
    finally:
        data._data = ffi.gc(out[0], lib.kdr_data_free)
    data._keep = (data._keep, view._keep)


def combine(session, sets, explain, both_views):
    """Lets samples be compared by both views."""
    if both_views and explain is None:
        raise ValueError("both_views needs a second view: pass explain")
    if both_views:
        session.check(lib.kdr_data_combine(session.ctx, _pointers(sets), len(sets)))


def _pointers(sets):
    return ffi.new("kdr_data *[]", [s._data for s in sets]) if sets else ffi.NULL


def finish(session, result):
    """Issues the warnings of the library. After Ctrl-C, raises KeyboardInterrupt with the best result so far as its attribute `result`."""
    if session.interrupted:
        stop = KeyboardInterrupt("interrupted; the attribute `result` of this exception is the best result so far")
        stop.result = result
        raise stop
    for line in dict.fromkeys(map(in_python, [*session.warnings, *result.warnings])):
        warnings.warn(line, KindredWarning, stacklevel=4)
    if result.stop in ("max_iter", "time") and not result.complete:
        what = "the time limit" if result.stop == "time" else "max_iter"
        warnings.warn(f"{result.method} reached {what} before it converged: increase {'time_limit' if result.stop == 'time' else 'max_iter'} for a better result", ConvergenceWarning, stacklevel=4)
    return result


@documented
def cluster(tasks, k=None, method="auto", options=None, *, columns=None, rename=None, recode=None, missing=None, na=None, decimal=None, thousands=None, skip_rows=None, sheet=None, id_column=None,
            label_column=None, task_column=None, text_column=None, texts=None, vectors=None, weight=None, norm=None, scale=None, features=None,
            top_features=None, top_by=None, fit_on=None, preprocess="default", pooled=False, init=None, quality=False, resamples=None, map=False,
            model=False, seed=1, threads=None, time_limit=None, progress=None, max_memory=None, device=None, known=None, known_column=None,
            explain=None, both_views=False,
            report_features=None, model_size=None, model_without_samples=False, representation=False):
    """Cluster one or more related data sets together.

    Parameters
    ----------
    tasks : table, list of tables or dict of tables
        The data sets. A table is an array, a sparse matrix, a DataFrame, an AnnData
        object, a :class:`Data` object, a path, a Series or array of texts, or a list of
        texts (inside a list or dict). The keys of a dict are the names of the data sets.
    k : int, range, str, list, dict or None, optional
        Number of clusters: one for all data sets, or one for each. A range such as
        ``range(3, 9)`` or ``"3-8"`` fits every number in it (:attr:`Result.levels`).
        None and ``"auto"`` estimate it if the method can, as ``auto`` and ``ec`` do.
    method : str, default='auto'
        Name of the method; see :func:`methods`.
    options : dict, optional
        Options of the method by name.
    <reading>
    <texts>
    <preparing>
    <fit_on>
    <preprocess>
    pooled : bool, default=False
        Stack all data sets into one and cluster that.
    init : list of arrays, optional
        Initial labels of each data set, from 0. The method then makes a single run
        that starts from them.
    quality : bool, default=False
        Also compute scores that need no known classes (:meth:`Result.quality`).
    resamples : int, optional
        Number of additional fits that measure the stability for `quality`. The
        default is 5; 0 skips the stability.
    map : bool, default=False
        Also compute a two-dimensional map of the samples (:meth:`Result.map`),
        which the report then draws.
    <model>
    <seed>
    <threads>
    <limits>
    known : array, Series, dict, path or list, optional
        Classes of some samples, for the methods ``auto`` and ``kmeans``: an array
        with one class per sample, a Series or dict with the ids of some samples and
        their classes, or a file with one class per line or with id and class. None,
        NaN, "?" and the integer -1 mean unknown. For several data sets, a list or
        dict with one entry each, None if no class is known, or ids of any of them.
        Known samples keep their class, influence the other samples, and name the
        clusters (:meth:`Result.names`). With ``k="auto"``, k is their number unless
        another number is clearly better.
    known_column : str, optional
        Instead of `known`: the column of DataFrames and files, or of AnnData's
        ``obs``, that has the known classes, empty if unknown. It is not a feature.
    explain : table or texts, list or dict of these, optional
        What explains the clusters instead of the features that samples are compared
        by: texts (a list, array or Series of str), a DataFrame, a matrix, a pair of
        matrix and column names, an AnnData object or a path. For several data sets,
        a list or dict with one entry each. Rows are matched by ids if both have them,
        such as the index of a DataFrame, otherwise by position. `text_column` and
        `texts` then apply to it, and `label_column` to either.
    both_views : bool, default=False
        Compare samples by both: `tasks` and `explain`. The result cannot be saved as
        a model.
    <kept>
    representation : bool, default=False
        Also compute coordinates of the samples in a space that all data sets share
        (:meth:`Result.representation`).

    Returns
    -------
    Result
        The labels of each data set, and everything else that is known about the
        clusters.

    Raises
    ------
    ValueError
        If the data or an option cannot be used.
    MemoryError
        If the job needs more memory than is available or `max_memory` allows.
    KeyboardInterrupt
        After Ctrl-C. The attribute ``result`` of the exception is the best result
        so far.

    See Also
    --------
    transfer : Label a data set from a labelled one.
    relate : Measure how related data sets are.
    evaluate : Compare labels with known classes.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", k=3, samples=100, seed=1)
    >>> result = kindred.cluster({"north": north, "south": south}, k=3)
    >>> result.labels("north").shape
    (100,)
    >>> kindred.evaluate(result.labels("north"), north.labels)["acc"]
    1.0
    """
    session = Session(seed_of(seed), threads, time_limit, progress, max_memory, device)
    tables, names = as_tasks(tasks)
    if known_column is not None and (known is not None or label_column is not None):
        raise ValueError(f"known_column has no effect with {'known' if known is not None else 'label_column'}: remove one of them")
    label_column = label_column if known_column is None else known_column
    how = {"columns": columns, "rename": rename, "recode": recode, "missing": missing, "na": na, "decimal": decimal, "thousands": thousands, "skip_rows": skip_rows, "sheet": sheet, "id_column": id_column,
           "label_column": label_column, "task_column": task_column}
    texts = {**how, "text_column": text_column, "texts": with_vectors(texts, vectors)}
    (tables,) = join_texts(session, [(tables, names, "task", False)], _of_texts(texts, explain),
                           alone=method in (None, "auto") and compares(options, texts["texts"], max_memory))
    sets, of = load(session, tables, names, "task", how, method=method, may_lack_labels=known_column is not None, explained=explain is not None)
    if explain is not None:
        explain_by(session, sets, of, names, explain, texts)
    combine(session, sets, explain, both_views)
    job = Job(session, method=method, set=options, clusters=clusters_text(k, [data.name for data in sets]), weight=weight, norm=norm, scale=scale,
              features=features, top_features=top_features, top_by=top_by, fit_on=fit_on, preprocess=preprocess, pooled=pooled, quality=quality,
              resamples=resamples, report_features=report_features, model_size=model_size, model_without_samples=model_without_samples)
    o, out = job.o, ffi.new("kdr_result **")
    o.map, o.model, o.known_in_data, o.representation = map, model, known_column is not None, representation
    starts = None
    if init is not None:
        init = [init] if len(sets) == 1 and np.ndim(init[0]) == 0 else init
        starts = [np.ascontiguousarray(i, np.int64) for i in init]
        if [len(s) for s in starts] != [s.shape[0] for s in sets]:
            raise ValueError(f"init has {', '.join(str(len(s)) for s in starts)} labels for data sets of {', '.join(str(s.shape[0]) for s in sets)} "
                             "samples: one label for each sample is needed")
        rows = ffi.new("const int64_t *[]", [ffi.cast("const int64_t *", s.ctypes.data) for s in starts])
        o.init = rows
    given = _known_samples(o, known, sets)
    session.check(lib.kdr_cluster(session.ctx, _pointers(sets), len(sets), o, out), keeps=True)
    del given  # the options point into it until here
    return finish(session, Result(out[0]))


def _known_samples(o, known, sets):
    """Gives job options the known classes of each data set. Returns what must live as long."""
    if known is None:
        return None
    names = [s.name for s in sets]
    if is_path(known):
        known = [known] * len(sets)  # a file of ids may be that of several
    elif isinstance(known, dict) and not _by_data_set(known, names):
        known = _by_id(known.items(), sets)
    elif isinstance(known, dict):
        strange = [name for name in known if name not in names]
        if strange:
            raise ValueError(f"known has classes of {strange[0]!r}, but the data sets are {', '.join(names)}")
        known = [known.get(name) for name in names]
    elif _is_series(known):
        known = [known] if len(sets) == 1 else _by_id(known.items(), sets)
    elif len(sets) == 1 and not (len(known) == 1 and (known[0] is None or isinstance(known[0], dict) or is_path(known[0]) or np.ndim(known[0]) == 1)):
        known = [known]
    if len(known) != len(sets):
        raise ValueError(f"known has {len(known)} entries for {len(sets)} data sets: one for each is needed, None if no class is known")
    if all(v is None or (is_path(v) and os.path.exists(v)) for v in known):
        keep = [chars("?" if v is None else v) for v in known]
        keep.append(ffi.new("char *[]", keep))
        o.known_files, o.nknown_files = ffi.cast("const char *const *", keep[-1]), len(known)
        return keep
    missing = [v for v in known if is_path(v)]
    if missing:
        raise FileNotFoundError(f"known: {os.fspath(missing[0])}: no such file, or classes of other data sets are arrays")
    keep, each = [], []
    for values, data in zip(known, sets):
        if isinstance(values, dict) or (_is_series(values) and _has_ids(values, data)):
            values = _by_id(values.items(), [data])[0]
        if isinstance(values, np.ma.MaskedArray):
            values = values.astype(object).filled(None)
        held = None if values is None else _labels(["?" if _unknown(v) else str(v) for v in np.asarray(values, dtype=object).tolist()])
        keep.append(held)
        each.append(ffi.NULL if held is None else held[-1])
    keep.append(ffi.new("const kdr_labels *[]", each))
    o.each_known = keep[-1]
    return keep


def _by_data_set(known, names):
    """Whether the keys of a dict are data sets, and not ids."""
    return any(np.ndim(v) > 0 or isinstance(v, dict) for v in known.values()) or all(name in names for name in known)


def _is_series(values):
    return type(values).__name__ == "Series" and hasattr(values, "index") and hasattr(values, "items")


def _has_ids(series, data):
    """Whether the index of a series has ids: always if it does not have one class per sample, and otherwise if one of them is a sample."""
    return len(series) != data.shape[0] or (data.ids is not None and not set(data.ids).isdisjoint(map(str, series.index)))


def _by_id(items, sets):
    """An array of classes for each data set from pairs of id and class. Rows of data without ids are numbered from 0."""
    where, found = {}, [np.full(s.shape[0], None, dtype=object) for s in sets]
    for s, data in enumerate(sets):
        for i, name in enumerate(data.ids if data.ids is not None else range(data.shape[0])):
            where.setdefault(str(name), []).append((s, i))
    items = [(str(name), value) for name, value in items]
    strange = [name for name, _ in items if name not in where]
    if strange:
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        raise ValueError(f"known: no sample has the id{'s' * (len(strange) > 1)} {', '.join(map(repr, strange[:3]))}{more}; "
                         f"the data have ids such as {next(iter(where))!r}")
    for name, value in items:
        if len(where[name]) > 1:
            raise ValueError(f"known: several samples have the id {name!r}, so that their class is unclear")
        (s, i), = where[name]
        found[s][i] = value
    return found


def _unknown(value):
    """Whether a known class is none: None, NaN, pandas.NA, "?", an empty text, or -1 as in scikit-learn."""
    return is_missing(value) or (isinstance(value, str) and value in ("", "?")) or \
        (isinstance(value, numbers.Integral) and not isinstance(value, bool) and value == -1)


def _labels(texts):
    """A kdr_labels of these texts, preceded by what must live as long."""
    names, index = np.unique(texts, return_inverse=True)
    keep = [chars(str(n)) for n in names]
    found = ffi.new("kdr_labels *")
    keep += [ffi.new("char *[]", keep), ffi.new("int64_t[]", index.tolist()), found]
    found.names, found.values, found.n, found.count = keep[-3], keep[-2], len(texts), len(names)
    return keep


@documented
def transfer(sources, labels=None, targets=None, method="auto", options=None, *, columns=None, rename=None, recode=None, missing=None, na=None, decimal=None, thousands=None, skip_rows=None, sheet=None,
             id_column=None, label_column=None, task_column=None, text_column=None, texts=None, vectors=None, bridges=(), views=None, weight=None, norm=None,
             scale=None, features=None, top_features=None, top_by=None, fit_on=None, preprocess="default", probabilities=False,
             map=False, model=False, seed=1, threads=None, time_limit=None, progress=None, max_memory=None, device=None, ask=None, target_labels=None,
             explain=None, both_views=False, report_features=None, model_size=None, model_without_samples=False, representation=False):
    """Label target data sets with the classes of labelled source data sets.

    Parameters
    ----------
    sources : table, list of tables or dict of tables
        The labelled data sets; tables are as for :func:`cluster`.
    labels : array or list of arrays, optional
        The classes of the samples of each source. Leave it out if `label_column`
        names the column with the classes, or if the sources are folders of texts
        whose sub-folders are the classes.
    targets : table, list of tables or dict of tables
        The data sets to label. This argument is required.
    method : str, default='auto'
        Name of the method; see :func:`methods`.
    options : dict, optional
        Options of the method by name.
    <reading>
    <texts>
    bridges : table, list of tables or dict of tables, optional
        Unlabelled data sets between source and target, for methods that use them.
    views : table, list of tables or dict of tables, optional
        The samples of the bridges in the features of the target, if source and
        target have no features in common.
    <preparing>
    <fit_on>
    <preprocess>
    probabilities : bool, default=False
        Also compute class probabilities (:meth:`Result.probabilities`). They are
        calibrated on samples of the sources that are held out in three additional
        fits.
    map : bool, default=False
        Also compute a two-dimensional map of the samples (:meth:`Result.map`).
    <model>
    <seed>
    <threads>
    <limits>
    ask : int, optional
        Method auto only: choose this number of samples of each target for a person
        to label next (:meth:`Result.ask`, :meth:`Result.save_ask`).
    target_labels : array, path or list of paths, optional
        Known classes of the samples of the first target; None, NaN or "?" if
        unknown. They stay fixed. A path is a file that :meth:`Result.save_ask`
        wrote, with classes filled in.
    explain : table or texts, list or dict of these, optional
        What explains the classes of the targets, as for :func:`cluster`.
    both_views : bool, default=False
        Compare samples by both views. `explain` then has one entry for each source,
        followed by one for each target. The result cannot be saved as a model.
    <kept>
    representation : bool, default=False
        Also compute coordinates of the samples in a space that all data sets share
        (:meth:`Result.representation`).

    Returns
    -------
    Result
        The classes of the targets, which are the last data sets of the result.

    Raises
    ------
    ValueError
        If the data or an option cannot be used, or if a source has no classes.
    MemoryError
        If the job needs more memory than is available or `max_memory` allows.
    KeyboardInterrupt
        After Ctrl-C. The attribute ``result`` of the exception is the best result
        so far.

    See Also
    --------
    cluster : Cluster related data sets without labels.
    transfer_anndata : The same for AnnData objects.

    Examples
    --------
    >>> import kindred
    >>> old, new = kindred.generate("blobs", k=3, samples=100, shift=0.2, rotation=0, seed=1)
    >>> result = kindred.transfer(old, old.labels, new)
    >>> sorted(set(result.labels(-1)))
    ['c0', 'c1', 'c2']
    >>> float((result.labels(-1) == new.labels).mean()) > 0.9
    True
    """
    session = Session(seed_of(seed), threads, time_limit, progress, max_memory, device)
    if targets is None:
        raise ValueError("targets is missing: pass the data set to label")
    (s_tables, s_names), (t_tables, t_names) = as_tasks(sources), as_tasks(targets)
    how = {"columns": columns, "rename": rename, "recode": recode, "missing": missing, "na": na, "decimal": decimal, "thousands": thousands, "skip_rows": skip_rows, "sheet": sheet, "id_column": id_column,
           "label_column": label_column, "task_column": task_column}
    made = {"how": how, "method": method, "family": "transfer", "more": True}
    b_tables, b_names = as_tasks(bridges) if is_path(bridges) or len(bridges) else ([], [])
    texts, given = with_vectors(texts, vectors), s_tables
    s_tables, t_tables, b_tables = join_texts(
        session, [(s_tables, s_names, "source", labels is not None), (t_tables, t_names, "target", True), (b_tables, b_names, "bridge", True)],
        _of_texts({**how, "text_column": text_column, "texts": texts}, explain))
    source, s_of = load(session, s_tables, s_names, "source", **made, may_lack_labels=labels is not None, explained=bool(both_views))
    target, of = load(session, t_tables, t_names, "target", **made, may_lack_labels=True, explained=explain is not None)
    if explain is not None:
        sets, of, names = ([*source, *target], [*s_of, *(i + len(s_tables) for i in of)], [*s_names, *t_names]) if both_views else (target, of, t_names)
        explain_by(session, sets, of, names, explain, {**how, "text_column": text_column, "texts": texts})
    combine(session, [*source, *target], explain, both_views)
    values = {}
    if labels is None:
        bare = next((data.name for data in source if data.labels is None), None)
        if bare is not None:
            raise ValueError(f"{bare} has no classes: pass labels or, for DataFrames and paths, label_column")
        for table in (renamed(table, rename) for table in given):
            if is_frame(table) and label_column in table.columns:
                values.update({str(v): v for v in table[label_column].dropna().unique().tolist()})
    else:
        labels = [labels] if len(source) == 1 and np.ndim(labels) == 1 and np.ndim(labels[0]) == 0 else list(labels)
        if len(labels) != len(source):
            raise ValueError(f"labels has length {len(labels)}, but the number of sources is {len(source)}: pass one array for each source")
        for data, y in zip(source, labels):
            if len(y) != data.shape[0]:
                raise ValueError(f"{data.name}: the number of samples is {data.shape[0]}, but labels has length {len(y)}: one label for each sample is needed")
            for v in set_classes(session, data, y).tolist():
                values.setdefault(str(v), v)
    bridge, _ = load(session, b_tables, b_names, "bridge", **made, may_lack_labels=True)
    check_names([*source, *target, *bridge], how if explain is None else {})
    view_tables, view_names = as_tasks(views) if views is not None else ([], [])
    view_sets, _ = load(session, view_tables, view_names, "view")
    job = Job(session, "transfer", method=method, set=options, ask=ask, weight=weight, norm=norm, scale=scale, features=features,
              top_features=top_features, top_by=top_by, fit_on=fit_on, preprocess=preprocess, probabilities=probabilities,
              report_features=report_features, model_size=model_size, model_without_samples=model_without_samples)
    sets, o, out = ffi.new("kdr_transfer_sets *"), job.o, ffi.new("kdr_result **")
    lib.kdr_transfer_sets_init(sets)
    keep = [_pointers(source), _pointers(target), _pointers(bridge), _pointers(view_sets)]
    sets.sources, sets.nsources, sets.targets, sets.ntargets = keep[0], len(source), keep[1], len(target)
    sets.bridges, sets.nbridges, sets.views = keep[2], len(bridge), keep[3]
    known = _known(o, target_labels, values)
    o.map, o.model, o.representation = map, model, representation
    session.check(lib.kdr_transfer(session.ctx, sets, o, out), keeps=True)
    del known  # the options point into it until here
    return finish(session, Result(out[0], values))


def _known(o, target_labels, values):
    """Gives job options the known classes of the target; values: the sources' classes by name. Returns what must live as long."""
    if target_labels is None:
        return None
    paths = [target_labels] if is_path(target_labels) else list(target_labels)
    if paths and all(is_path(p) and os.path.exists(p) for p in paths):
        keep = [chars(p) for p in paths]
        keep.append(ffi.new("char *[]", keep))
        o.known_files, o.nknown_files = ffi.cast("const char *const *", keep[-1]), len(paths)
        return keep
    if is_path(target_labels):
        raise FileNotFoundError(f"target_labels: {os.fspath(target_labels)}: no such file")
    unknown = [v is None or (isinstance(v, (float, np.floating)) and np.isnan(v)) for v in paths]
    named = {value: name for name, value in values.items()}
    keep = _labels(["?" if u else named.get(v, str(v)) for u, v in zip(unknown, paths)])
    o.known = keep[-1]
    return keep


_READ_TEXT = ("format", "name", "label_column", "id_column", "missing", "decimal", "thousands", "skip_rows", "sheet", "columns", "delimiter", "encoding",
              "task_column", "text_column", "feature_names")
_READ_FLAGS = ("transpose", "typed", "may_lack_labels", "may_lack_columns", "temporary", "together_only")


def _elsewhere(path):
    """A frame from a format that pandas reads and the library does not (Parquet, Arrow); None for other formats."""
    ending = str(path).lower().rsplit(".", 1)[-1]
    if ending in ("parquet", "pq"):
        import pandas
        return pandas.read_parquet(path)
    if ending in ("feather", "arrow"):
        import pandas
        return pandas.read_feather(path)
    return None


@documented
def read(path, *, format=None, name=None, columns=None, rename=None, recode=None, missing=None, na=None, decimal=None, thousands=None, skip_rows=None, sheet=None, id_column=None, label_column=None,
         task_column=None, text_column=None, texts=None, vectors=None, delimiter=None, encoding=None, header=None, transpose=False, model=None, stream=None,
         feature_names=None, may_lack_labels=False, may_lack_columns=False):
    r"""Read a data set from a file, a folder or a DataFrame.

    The formats are those of the program and, through pandas, Parquet and Feather. A
    folder is a 10x folder or a folder of texts.

    Parameters
    ----------
    path : path, DataFrame, list of paths or dict of paths
        What to read. Several paths are read together, which gives folders of texts
        a common vocabulary.
    format : str, optional
        Format of the file, such as ``"csv"`` or ``"mtx"``. By default it follows
        from the name.
    name : str, optional
        Name of the data set. By default it is the file name without its ending.
    <reading>
    <texts>
    delimiter : {',', ';', 'tab', '|'}, optional
        Separator of the columns. By default it is detected.
    encoding : {'utf-8', 'latin-1', 'utf-16le', 'utf-16be'}, optional
        Character encoding. By default it is detected.
    header : bool, optional
        Whether the first line holds column names. By default this is detected.
    transpose : bool, default=False
        Whether samples are in columns.
    model : Model or estimator, optional
        Read the table as those that this model was fitted on.
    stream : bool, optional
        True leaves the data on disk and reads them as they are needed. By default
        this happens if three times their size exceeds the available memory.
    feature_names : str, optional
        AnnData files: column of ``var`` with the names of the features, such as gene
        symbols.
    may_lack_labels : bool, default=False
        Accept a table without `label_column`; it then has no classes.
    may_lack_columns : bool, default=False
        Accept a table that lacks some of the columns that `columns` and `rename`
        name.

    Returns
    -------
    Data or dict of Data
        A dict by name if several paths were given or `task_column` was used.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If its contents cannot be used. The message names the line and what would
        work.

    See Also
    --------
    inspect : Summarise a data set.
    write : Write a data set to a file.

    Examples
    --------
    >>> import kindred
    >>> with open("plants.csv", "w") as file:
    ...     _ = file.write("height,width,kind\n1.5,0.2,a\n1.7,0.3,a\n4.1,1.2,b\n")
    >>> plants = kindred.read("plants.csv", label_column="kind")
    >>> plants
    <kindred.Data 'plants': 3 samples x 2 features>
    >>> plants.labels.tolist()
    ['a', 'a', 'b']
    """
    options = {option: value for option, value in locals().items() if option not in ("path", "name") and value is not None}
    if vectors is not None:
        options["texts"] = with_vectors(texts, options.pop("vectors"))
    session = Session()
    several = isinstance(path, (list, tuple, dict))
    named = list(path.items()) if isinstance(path, dict) else [(name, p) for p in (path if several else [path])]
    reading(options)  # raises an error if they are wrong
    frame = None if several else path if is_frame(path) else _elsewhere(path)
    if frame is not None and text_column is not None:
        sets = load_all(session, [frame], [named[0][0] or ("data" if frame is path else _stem(path))], options)
    elif frame is not None:
        sets = read_frame(session, frame, named[0][0] or ("data" if frame is path else _stem(path)), options)
    else:
        sets = [data for _, data in _read_tasks(session, named, options)]
    for line in session.warnings:
        warnings.warn(in_python(line), KindredWarning, stacklevel=3)
    if not several and not options.get("task_column"):
        return sets[0]
    return {s.name: s for s in sets}


def _stem(path):
    return str(path).replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _read_tasks(session, named, options):
    """The data sets of named paths that are read together, each with the index of its path."""
    return _read_listed(session, named, *reading(options))


def _read_listed(session, named, o, keep):
    list_ = ffi.new("kdr_task_path[]", len(named))
    for entry, (name, one, *may_lack_labels) in zip(list_, named):
        keep += [chars(one), chars(name) if name is not None else ffi.NULL]
        entry.path, entry.name = keep[-2:]
        entry.may_lack_labels = bool(may_lack_labels and may_lack_labels[0])
    out, of, count = ffi.new("kdr_data ***"), ffi.new("int64_t **"), ffi.new("int64_t *")
    session.check(lib.kdr_read_tasks(session.ctx, list_, len(named), o, out, of, count))
    sets = [(of[0][i], Data(out[0][i])) for i in range(count[0])]
    lib.kdr_free(session.ctx, out[0])
    lib.kdr_free(session.ctx, of[0])
    session.warnings += dict.fromkeys(text(note) for _, data in sets for note in until_null(lib.kdr_data_note_at, data._data))
    return sets


def with_vectors(texts, vectors):
    """Options for texts, with those of their word vectors."""
    return texts if vectors is None else {**(texts or {}), "vectors": os.fspath(vectors)}


def _text_settings(texts):
    """Options for texts as lines, with their names on the command line."""
    spelt = {"stopwords": "stop-words", "max_features": "top-features"}
    return "".join(f"{spelt.get(name, name.replace('_', '-'))}={int(value) if isinstance(value, bool) else listed(value)}\n"
                   for name, value in texts.items())


def listed(value):
    """A list of languages as the library takes it; other values are returned as they are."""
    return ",".join(value) if isinstance(value, (list, tuple)) else value


def reading(options):
    """The options of read() in the form of the library, and the objects that must live as long."""
    o = ffi.new("kdr_read_options *")
    lib.kdr_read_options_init(o)
    keep, model = [], None
    for name, value in options.items():
        if name == "texts":
            keep.append(chars(_text_settings(value)) if value else ffi.NULL)
            o.texts = keep[-1]
        elif name in _READ_FLAGS:
            setattr(o, name, bool(value))
        elif name == "stream":
            o.stream = lib.KDR_STREAM_BY_SIZE if value is None else lib.KDR_STREAM_YES if value else lib.KDR_STREAM_NO
        elif name == "na":
            tokens = [chars(token) for token in ([value] if isinstance(value, str) else value)]
            keep += [tokens, ffi.new("char *[]", tokens + [ffi.NULL])]
            o.na = ffi.cast("const char *const *", keep[-1])
        elif name == "model":
            model = getattr(value, "_fitted_model", value)
        elif name == "header":
            o.header = lib.KDR_HEADER_YES if value else lib.KDR_HEADER_NO
        elif name in ("rename", "model_rename", "recode"):
            items = value
            if isinstance(value, dict):
                items = recodes(value) if name == "recode" else [f"{quoted(old)}={new}" for old, new in renames(value).items()]
            items = [os.fspath(items)] if isinstance(items, (str, os.PathLike)) else items or []
            tokens = [chars(item) for item in items]
            keep += [tokens, ffi.new("char *[]", tokens + [ffi.NULL])]
            setattr(o, name, ffi.cast("const char *const *", keep[-1]))
        elif name == "columns":
            keep.append(chars(columns_text(value)) if value is not None else ffi.NULL)
            o.columns = keep[-1]
        elif name not in _READ_TEXT:
            raise TypeError(f"read() got an unexpected keyword argument '{name}'")
        elif value is not None:
            keep.append(chars(str(value) if name == "skip_rows" else value))
            setattr(o, name, keep[-1])
    if model is not None:
        keep.append(model)
        lib.kdr_model_reading(model._model, o)
    return o, keep


@documented
def prepare(tasks, *, weight=None, norm=None, scale=None, features=None, top_features=None, top_by=None,
            fit_on=None, **reading):
    """Align and preprocess data sets together.

    Parameters
    ----------
    tasks : table, list of tables or dict of tables
        The data sets; tables are as for :func:`cluster`.
    <preparing>
    <fit_on>
    <other_reading>

    Returns
    -------
    list of Data
        New data sets, in the same order. The input is not changed.

    See Also
    --------
    cluster : Chooses the preprocessing by the kind of data.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", seed=1)
    >>> first, second = kindred.prepare([north, south], scale="standard")
    >>> abs(first.X.mean()) < 1
    True
    """
    session = Session()
    tables, names = as_tasks(tasks)
    sets = load_all(session, tables, names, reading)
    job = Job(session, weight=weight, norm=norm, scale=scale, features=features, top_features=top_features, top_by=top_by, fit_on=fit_on)
    session.check(lib.kdr_prepare(session.ctx, _pointers(sets), len(sets), job.o.prep, ffi.NULL))
    for line in session.messages:
        warnings.warn(in_python(line), KindredWarning, stacklevel=2)
    return sets


@documented
def relate(tasks, *, weight=None, norm=None, scale=None, features=None, top_features=None, top_by=None, seed=1, threads=None, **reading):
    """Measure how related data sets are, before anything is clustered.

    Parameters
    ----------
    tasks : list of tables or dict of tables
        The data sets; tables are as for :func:`cluster`.
    <preparing>
    <seed>
    <threads>
    <other_reading>

    Returns
    -------
    dict
        What ``kindred relate --json`` prints. ``"tasks"`` describes each data set
        and ``"pairs"`` each pair: the overlap of the features, the A-distance (0 =
        indistinguishable, 2 = fully separable), the maximum mean discrepancies, and
        the features that differ most.

    See Also
    --------
    cluster : Cluster the data sets together.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", seed=1)
    >>> pair = kindred.relate([north, south])["pairs"][0]
    >>> pair["shared_features"]
    2
    >>> 0 <= pair["a_distance"] <= 2
    True
    """
    import json
    session = Session(seed_of(seed), threads)
    tables, names = as_tasks(tasks)
    sets = load_all(session, tables, names, reading, method="auto")
    o, line, length = ffi.new("kdr_relate_options *"), ffi.new("char **"), ffi.new("size_t *")
    lib.kdr_relate_options_init(o)
    job = Job(session, weight=weight, norm=norm, scale=scale, features=features, top_features=top_features, top_by=top_by)
    o.prep = job.o.prep
    session.check(lib.kdr_relate(session.ctx, _pointers(sets), len(sets), o, line, length))
    try:
        found = json.loads(ffi.unpack(line[0], length[0]).decode())
    finally:
        lib.kdr_free(session.ctx, line[0])
    for task in found["tasks"]:
        if "advice" in task:
            task["advice"] = in_python(task["advice"])
    return found


@documented
def embed(tasks, *, layout="forces", neighbors=None, sweeps=None, weight=None, norm=None, scale=None, features=None, top_features=None, top_by=None,
          fit_on=None, seed=1, threads=None, **reading):
    """Compute a two-dimensional map of the samples.

    Parameters
    ----------
    tasks : table, list of tables or dict of tables
        The data sets; tables are as for :func:`cluster`. Data sets with the same
        features are drawn on common axes.
    layout : {'forces', 'directions'}, default='forces'
        ``"forces"`` places similar samples together. ``"directions"`` uses the two
        leading principal directions.
    neighbors : int, optional
        Number of neighbours that attract a sample. The default is 15, or fewer for
        few samples.
    sweeps : int, optional
        Number of passes over the samples. The default is 300 to 500, depending on
        the number of samples.
    <preparing>
    <fit_on>
    <seed>
    <threads>
    <other_reading>

    Returns
    -------
    array, list of arrays or dict of arrays
        Two coordinates per sample, in the form of `tasks`.

    See Also
    --------
    plot.map : Draw the map of a result.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> kindred.embed(north).shape
    (60, 2)
    """
    session = Session(seed_of(seed), threads)
    tables, names = as_tasks(tasks)
    sets = load_all(session, tables, names, reading, method="auto")
    o, out = ffi.new("kdr_embed_options *"), ffi.new("kdr_embedding **")
    lib.kdr_embed_options_init(o)
    if layout not in choices("layout"):
        raise ValueError(f"layout is {layout!r}: {', '.join(choices('layout'))} are allowed")
    o.layout, o.neighbors, o.sweeps = choices("layout").index(layout), neighbors or 0, sweeps or 0
    job = Job(session, weight=weight, norm=norm, scale=scale, features=features, top_features=top_features, top_by=top_by, fit_on=fit_on)
    o.prep = job.o.prep
    session.check(lib.kdr_embed(session.ctx, _pointers(sets), len(sets), o, out))
    held, n, points = ffi.gc(out[0], lib.kdr_embedding_free), ffi.new("int64_t *"), []
    for t in range(len(sets)):
        xy = lib.kdr_embedding_task(held, t, n)
        points.append(np.frombuffer(ffi.buffer(xy, 16 * n[0]), np.float64).reshape(-1, 2).copy())
    if isinstance(tasks, dict) and not is_sparse(tasks):
        return dict(zip(names, points))
    return points[0] if tables[0] is tasks else points


def _codes(values):
    return np.ascontiguousarray(np.unique(values.astype(str) if values.dtype == object else values, return_inverse=True)[1],
                                np.int64)


@documented
def evaluate(labels, truth=None, data=None, method="auto", options=None, *, weight=None, norm=None, scale=None, resamples=None,
             seed=1, threads=None):
    """Score labels against known classes, or without them from the data.

    Parameters
    ----------
    labels : array
        One label per sample.
    truth : array, optional
        The known classes, or other labels to compare with.
    data : table, optional
        The samples that the labels belong to; needed for scores without known
        classes.
    method : str, default='auto'
        The method whose stability is measured.
    options : dict, optional
        Options of the method by name.
    weight, norm, scale : str, optional
        Preprocessing of `data`, as for :func:`cluster`. The default is none.
    resamples : int, optional
        Number of fits on 4/5 of the samples that measure the stability. The default
        is 5; 0 skips it.
    <seed>
    <threads>

    Returns
    -------
    dict
        With `truth`: ``acc`` (accuracy under the best one-to-one map of clusters to
        classes), ``nmi``, ``ari``, ``purity`` and others. With `data`:
        ``silhouette`` (-1 to 1), ``davies_bouldin`` (smaller is better),
        ``calinski_harabasz`` (larger is better) and ``stability``, the mean
        adjusted Rand index between the labels and the clusters of the resamples.

    Raises
    ------
    ValueError
        If neither `truth` nor `data` is given, or if their lengths differ.

    See Also
    --------
    Result.quality : The same scores for a result.

    Examples
    --------
    >>> import kindred
    >>> scores = kindred.evaluate([0, 0, 1, 1], ["a", "a", "b", "a"])
    >>> scores["acc"], scores["purity"]
    (0.75, 0.75)
    """
    labels = np.asarray(labels)
    if truth is None and data is None:
        raise ValueError("nothing to compare the labels with: pass truth, or data, or both")
    session, out = Session(seed_of(seed), threads), {}
    a = _codes(labels)
    if truth is not None:
        truth = np.asarray(truth)
        if labels.shape != truth.shape or labels.ndim != 1:
            raise ValueError(f"labels has the shape {labels.shape} and truth {truth.shape}: two lists of the same length are needed")
        b, scores = _codes(truth), ffi.new("kdr_scores *")
        session.check(lib.kdr_evaluate(session.ctx, ffi.cast("int64_t *", a.ctypes.data), ffi.cast("int64_t *", b.ctypes.data),
                                       len(a), scores))
        out = {name: getattr(scores, name) for name, _ in ffi.typeof("kdr_scores").fields}
    if data is not None:
        out.update(_judge(session, a, data, method, options, weight, norm, scale, resamples))
    return out


def _judge(session, labels, table, method, options, weight, norm, scale, resamples):
    data = as_data(session, table, "data")
    if data.shape[0] != len(labels):
        raise ValueError(f"labels has length {len(labels)}, but data has shape {data.shape}: one label for each sample is needed")
    job, one, q = Job(session, method=method, set=options, weight=weight, norm=norm, scale=scale, resamples=resamples), _pointers([data]), ffi.new("kdr_quality *")
    session.check(lib.kdr_prepare(session.ctx, one, 1, job.o.prep, ffi.NULL))
    x, values = ffi.new("kdr_mat *", lib.kdr_data_mat(data._data)), ffi.cast("int64_t *", labels.ctypes.data)
    session.check(lib.kdr_quality_find(session.ctx, x, values, q))
    out = quality_dict(q)
    if job.o.resamples >= 0 and q.clusters > 1:
        found, made = ffi.new("double *"), ffi.new("int64_t *", job.o.resamples)
        job.o.prep = ffi.NULL  # the data have been prepared
        rows = ffi.new("const int64_t *[]", [values])
        session.check(lib.kdr_stability(session.ctx, one, 1, rows, job.o, made, found))
        out.update(stability=found[0], resamples=made[0])
    return out


_DESIGNS = {
    "blobs": ("tasks", "k", "features", "noise_features", "samples", "separation", "spread", "shift", "rotation", "missing",
              "imbalance"),
    "topics": ("tasks", "k", "words", "samples", "length", "purity", "domain", "missing"),
    "berikov": ("target", "separation"),
    "tables": ("tasks", "k", "features", "noise_features", "own_features", "samples", "separation", "shift", "missing",
               "imbalance", "missing_cells", "unrelated"),
}


@documented
def generate(design="blobs", *, seed=1, **spec):
    """Generate synthetic related data sets with known classes.

    Parameters
    ----------
    design : {'blobs', 'topics', 'berikov', 'tables'}, default='blobs'
        ``"blobs"``: Gaussian clusters with common centres. ``"topics"``: word
        counts from common topics. ``"tables"``: numbers in different units,
        categories and dates, with common segments. ``"berikov"``: a source or a
        target without common features.
    <seed>
    **spec : dict
        Options of the design. All but berikov: ``tasks`` (number of data sets),
        ``k`` (clusters), ``samples`` (a number, or one for each data set),
        ``missing`` (clusters missing in each data set after the first). Blobs and
        tables: ``features``, ``noise_features``, ``separation``, ``shift``,
        ``imbalance``. Blobs: ``spread``, ``rotation``. Topics: ``words``,
        ``length``, ``purity``, ``domain``. Tables: ``own_features``,
        ``missing_cells``, ``unrelated``. Berikov: ``target``, ``separation``.

    Returns
    -------
    list of Data
        The data sets, called task1, task2, and so on. Their attribute ``labels``
        holds the classes.

    Raises
    ------
    TypeError
        If the design has no such option.

    See Also
    --------
    cluster : Cluster the data sets.

    Examples
    --------
    >>> import kindred
    >>> kindred.generate("blobs", tasks=2, k=4, samples=[50, 30], seed=1)
    [<kindred.Data 'task1': 50 samples x 2 features>, <kindred.Data 'task2': 30 samples x 2 features>]
    """
    if design not in _DESIGNS:
        raise ValueError(f"design is {design!r}: {', '.join(_DESIGNS)} are allowed")
    session, out, keep = Session(seed_of(seed)), ffi.new("kdr_generator **"), None
    s = ffi.new("kdr_design *")
    lib.kdr_design_init(s, getattr(lib, f"KDR_DESIGN_{design.upper()}"))
    for name, value in spec.items():
        if name not in _DESIGNS[design]:
            raise TypeError(f"generate({design!r}) has no option {name!r}: {', '.join(_DESIGNS[design])} are allowed")
        if name == "samples":
            count = spec.get("tasks", s.tasks)
            keep = np.ascontiguousarray(np.broadcast_to(value, count), np.int64)
            value = ffi.cast("int64_t *", keep.ctypes.data)
        setattr(s, name, value)
    session.check(lib.kdr_generate(session.ctx, s, out))
    generator, sets = ffi.gc(out[0], lib.kdr_generator_free), []
    for t in range(lib.kdr_generator_tasks(generator)):
        data = ffi.new("kdr_data **")
        session.check(lib.kdr_generator_data(session.ctx, generator, t, data))
        sets.append(Data(data[0]))
    return sets


def report(result, path=None):
    """Make a self-contained HTML page of a result.

    Parameters
    ----------
    result : Result or fitted estimator
        What to show.
    path : path, optional
        Also write the page to this file.

    Returns
    -------
    Report
        The page, which a notebook displays.

    See Also
    --------
    Result.save : Write a result as JSON.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", seed=1)
    >>> page = kindred.report(kindred.cluster([north, south], k=3, map=True), "report.html")
    >>> "</html>" in page.html
    True
    """
    page = Report(result if isinstance(result, Result) else result.result_)
    if path is not None:
        page.save(path)
    return page
