"""The jobs of the command line as functions. SPDX-License-Identifier: BSD-3-Clause"""
import json
import numbers
import os
import tempfile
import warnings

import numpy as np

from ._data import Data, as_data, is_frame, is_path, is_sparse, is_table, is_texts, set_classes
from ._errors import ConvergenceWarning, KindredWarning, chars, in_python, text
from ._frames import check_names, columns_text, frame_text, in_rows, is_plain, quoted, renamed, renames
from ._kindred import ffi, lib
from ._results import Report, Result, quality_dict
from ._session import Session, seed_of


def _choice(value, option, what=None):
    """The number of a value among those that the library lists for an option of the command line."""
    if value is None:
        return 0
    listed, choices = lib.kdr_choices(chars(option)), []
    while listed[len(choices)]:
        choices.append(text(listed[len(choices)]))
    if value not in choices:
        raise ValueError(f"{what or option} is {value!r}: {', '.join(choices)} are allowed")
    return choices.index(value)


def _prep(weight, norm, scale, features=None, top_features=None, fit_on=None, top_by=None):
    """A kdr_prep_options, which must live as long as what points to it."""
    out = ffi.new("kdr_prep_options *")
    lib.kdr_prep_options_init(out)
    out.align = _choice(features, "features")
    out.weight = _choice(weight, "weight")
    out.norm = _choice(norm, "norm")
    out.scale = _choice(scale, "scale")
    out.top_features = top_features or 0
    out.top_by = _choice(top_by, "top-by", "top_by")
    out.fit_each = _choice(fit_on, "fit-on", "fit_on") == 1
    return out


def _preprocessing(value, *specified):
    """Who chooses weight, norm and scale: as on the command line, the caller if one of them is given, also as "none"."""
    if value in (None, "default") and any(v is not None for v in specified):
        value = "none"
    return _choice(value, "preprocess")


def settings(session, method, options):
    """Options of a method, by name, as `--set` takes them."""
    out = ffi.new("kdr_options **")
    session.check(lib.kdr_options_new(session.ctx, chars(method), out))
    held = ffi.gc(out[0], lib.kdr_options_free)
    for name, value in options.items():
        if isinstance(value, (bool, np.bool_)):
            status = lib.kdr_options_set(session.ctx, held, chars(name), chars("1" if value else "0"))
        elif isinstance(value, str):
            status = lib.kdr_options_set(session.ctx, held, chars(name), chars(value))
        elif np.ndim(value) == 1:
            numbers = np.ascontiguousarray(value, np.float64)
            status = lib.kdr_options_set_numbers(session.ctx, held, chars(name),
                                                 ffi.cast("double *", numbers.ctypes.data), len(numbers))
        else:
            status = lib.kdr_options_set_number(session.ctx, held, chars(name), float(value))
        session.check(status)
    return held


def as_tasks(x):
    """Tasks with their names: one table or path, a sequence of them, or a dict of them. In both, a list of texts is a task."""
    if isinstance(x, dict) and not is_sparse(x):  # SciPy has a matrix that is a dict
        return list(x.values()), [str(name) for name in x]
    if not is_table(x) and isinstance(x, (list, tuple)) and len(x) > 0 and all(is_table(t) or is_texts(t) for t in x):
        return list(x), [None] * len(x)
    return [x], [None]


def written_texts(texts, written):
    """Texts in memory as a file of JSON objects, which keeps their line ends; its path is added to `written`."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json", delete=False) as f:
        written.append(f.name)
        for number, document in enumerate(texts):
            if not isinstance(document, str):
                raise TypeError(f"text {number} is a {type(document).__name__}: texts are strings")
            f.write(json.dumps({"text": document}) + "\n")
    return f.name


def join_texts(session, groups, how):
    """Groups of tables, (tables, names, stem, may_lack_labels) each, with all texts read together, over one vocabulary: folders, lists of
    texts and, with text_column, files. Returns the tables of each group."""
    how = {name: value for name, value in how.items() if value is not None}
    joined, named, places, written = [list(tables) for tables, *_ in groups], [], [], []
    try:
        for g, (tables, names, stem, may_lack_labels) in enumerate(groups):
            for i, table in enumerate(tables):
                if is_texts(table):
                    own = names[i] or (stem if len(tables) == 1 else f"{stem}{i + 1}")
                    named.append((own, written_texts(table, written), True))
                elif is_path(table) and ("text_column" in how or os.path.isdir(table)):
                    named.append((names[i], table, may_lack_labels))
                else:
                    continue
                places.append((g, i))
        if written and any(is_path(groups[g][0][i]) and not os.path.isdir(groups[g][0][i]) for g, i in places):
            raise ValueError("text_column: files and lists of texts cannot be read together: read the texts of the files into lists first")
        if written:
            how["text_column"] = "text"
        for number, data in _read_tasks(session, named, how) if named else ():
            data.from_texts = True
            g, i = places[number]
            joined[g][i] = data
    finally:
        for path in written:
            os.unlink(path)
    return joined


def load(session, tables, names, stem, how=None, *, method=None, family="cluster", may_lack_labels=False, more=False):
    """Data sets from tables, frames and paths, in their order, and the number of the table that each comes from.

    how: options of read(). Frames that are more than numbers are read by the same rules as files. more: other tables of the job may
    have columns that these lack; the caller checks."""
    how = {name: value for name, value in (how or {}).items() if value is not None}
    read_how = dict(how, may_lack_labels=True) if may_lack_labels and "label_column" in how else dict(how)
    if "missing" not in how and method is not None and skips_missing(method, family):
        read_how["missing"] = "keep"
    tables, names = list(tables), list(names)
    for i, table in enumerate(tables):
        frame = _elsewhere(table) if is_path(table) else None
        if frame is not None:
            tables[i], names[i] = frame, names[i] or _stem(table)
    paths = [i for i, table in enumerate(tables) if is_path(table)]
    lenient = more or (len(tables) > 1 and len(paths) < len(tables))  # the library checks those of several paths
    if lenient and (how.get("columns") or how.get("rename")):
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
            if getattr(table, "from_texts", False):
                found[i] = [as_data(session, table, name or table.name)]
                continue
            needs = [n for n in ("columns", "rename", "id_column", "label_column", "task_column") if how.get(n)]
            if needs:
                raise ValueError(f"{own}: an array has no named columns: give a DataFrame or a path with {', '.join(needs)}")
            found[i] = [as_data(session, table, name or (table.name if isinstance(table, Data) else own))]
    if lenient and not more:
        check_names([data for i in found for data in found[i]], how)
    if how.get("task_column") and len(tables) > 1:
        alone = [i for i in found if i not in paths or len(paths) == 1]  # the library names those of several paths
        for i in alone:
            start = names[i] or (_stem(tables[i]) if is_path(tables[i]) else f"{stem}{i + 1}")
            found[i] = [as_data(session, data, f"{start}-{data.name}") for data in found[i]]
    return [data for i in found for data in found[i]], [i for i in found for _ in found[i]]


def skips_missing(method, family):
    """Whether a method skips missing values of tables, which are then kept by default."""
    found, kind = ffi.new("const kdr_algo **"), lib.KDR_FAMILY_TRANSFER if family == "transfer" else lib.KDR_FAMILY_CLUSTER
    return lib.kdr_algo_require(ffi.NULL, chars(method), kind, found) == lib.KDR_OK and bool(found[0].flags & lib.KDR_ALGO_TABLES)


def read_frame(session, frame, name, how):
    """The data sets of a frame: one, or one for each value of task_column."""
    frame, how = renamed(frame, how.get("rename")), dict(how)
    rename = how.pop("rename", None)
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


def _pointers(sets):
    return ffi.new("kdr_data *[]", [s._data for s in sets]) if sets else ffi.NULL


def finish(session, result):
    """Passes the library's warnings on. After Ctrl-C, raises KeyboardInterrupt whose attribute `result` is the best so far."""
    if session.interrupted:
        stop = KeyboardInterrupt("interrupted: the best result so far is the attribute `result` of this exception")
        stop.result = result
        raise stop
    for line in dict.fromkeys(map(in_python, [*session.warnings, *result.warnings])):
        warnings.warn(line, KindredWarning, stacklevel=4)
    if result.stop in ("max_iter", "time") and not result.complete:
        what = "the time limit" if result.stop == "time" else "max_iter"
        warnings.warn(f"{result.method} stopped at {what} before it converged", ConvergenceWarning, stacklevel=4)
    return result


def cluster(tasks, k=None, method="auto", options=None, *, columns=None, rename=None, missing=None, na=None, decimal=None, id_column=None,
            label_column=None, task_column=None, text_column=None, texts=None, weight=None, norm=None, scale=None, features=None,
            top_features=None, top_by=None, fit_on=None, preprocess="default", pooled=False, init=None, quality=False, resamples=None, map=False,
            seed=1, threads=None, time_limit=None, progress=None, max_memory=None, device=None):
    """Clusters one or several related tables together: `kindred cluster`.

    tasks: a table, a list of tables, or a dict of them by name; a table is an array, a sparse matrix, a DataFrame, an AnnData
    object, what read() gives, or a path. columns, rename, missing, na, decimal, id_column, label_column and task_column are those of
    read(), for paths and DataFrames. Texts are folders, files with text_column, or lists of str (in a list or dict of tasks, such as
    cluster([texts])); the dict texts has options of vectorize, such as {"stemmer": "none", "min_df": 5}; what it does not have is chosen from
    the texts. k: the number of clusters, a list or a dict with one for each task, or None where
    the method can find it. preprocess: "default" (chosen by the kind of data unless weight, norm or scale is given, also as
    "none"), "none" (the data as they are, or weight, norm and scale as given) or "by-data" (unit rows as well, as auto). quality: also say how good clusters are without truth (`Result.quality`), and how well several data sets mix (`Result.mixing`), with so many resamples (None: 5) for the
    stability. map: also lay the samples out in a plane (`Result.map`), which a report of the result then draws. max_memory: bytes; a fit that would take more is refused before it starts. Returns a
    Result."""
    session = Session(seed_of(seed), threads, time_limit, progress, max_memory, device)
    tables, names = as_tasks(tasks)
    how = {"columns": columns, "rename": rename, "missing": missing, "na": na, "decimal": decimal, "id_column": id_column,
           "label_column": label_column, "task_column": task_column}
    texts = {"label_column": label_column, "text_column": text_column, "texts": texts}
    (tables,) = join_texts(session, [(tables, names, "task", False)], texts)
    sets, _ = load(session, tables, names, "task", how, method=method)
    o, out = ffi.new("kdr_job_options *"), ffi.new("kdr_result **")
    lib.kdr_job_options_init(o)
    held = settings(session, method, options or {})
    name = chars(method)
    o.method, o.settings = name, held
    o.choice = _preprocessing(preprocess, weight, norm, scale)
    prep = _prep(weight, norm, scale, features, top_features, fit_on, top_by)
    o.prep = prep
    each = clusters_of_each(k, [data.name for data in sets])
    if isinstance(each, int):
        o.k = each
    else:
        each = np.ascontiguousarray(each, np.int64)
        o.each_k = ffi.cast("int64_t *", each.ctypes.data)
    starts = None
    if init is not None:
        init = [init] if len(sets) == 1 and np.ndim(init[0]) == 0 else init
        starts = [np.ascontiguousarray(i, np.int64) for i in init]
        if [len(s) for s in starts] != [s.shape[0] for s in sets]:
            raise ValueError("init has one label for each sample of each task")
        rows = ffi.new("const int64_t *[]", [ffi.cast("const int64_t *", s.ctypes.data) for s in starts])
        o.init = rows
    o.pooled = pooled
    o.map = map
    o.quality, o.resamples = quality, _resamples(resamples)
    session.check(lib.kdr_cluster(session.ctx, _pointers(sets), len(sets), o, out), keeps=True)
    return finish(session, Result(out[0]))


def clusters_of_each(k, names, what="k"):
    """The number of clusters as the library takes it, 0 if it is to be found; or a list of them, in the order of the data sets."""
    if isinstance(k, dict):
        wrong = [name for name in k if name not in names] or [name for name in names if name not in k]
        if wrong:
            raise ValueError(f"{what} has {', '.join(map(str, k))}, but the data sets are {', '.join(names)}: one number for each is needed")
        k = [k[name] for name in names]
    if k is not None and np.ndim(k) == 1:
        if len(k) != len(names):
            raise ValueError(f"{what} has {len(k)} numbers for {len(names)} data sets: one for all, or one for each")
        return [_clusters(v, what) for v in k]
    return _clusters(k, what)


def _clusters(k, what):
    if k is None or (isinstance(k, str) and k == "auto"):
        return 0
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Real) or not float(k).is_integer() or k < 1:
        raise ValueError(f"{what} is {k!r}: a whole number from 1 is allowed, a list or dict with one for each data set, or 'auto'")
    return int(k)


def _resamples(count):
    return 0 if count is None else -1 if count == 0 else int(count)


def transfer(sources, labels=None, targets=None, method="auto", options=None, *, columns=None, rename=None, missing=None, na=None, decimal=None,
             id_column=None, label_column=None, task_column=None, text_column=None, texts=None, bridges=(), views=None, weight=None, norm=None,
             scale=None, features=None, top_features=None, top_by=None, fit_on=None, preprocess="default", probabilities=False,
             map=False, seed=1, threads=None, time_limit=None, progress=None, max_memory=None, device=None, ask=None, target_labels=None):
    """Labels target tables from labelled source tables: `kindred transfer`.

    sources, targets: a table, a list of tables or a dict of them, each as for cluster(); labels: classes of the source's rows, or
    a list of such. With label_column, sources that are paths or DataFrames have their classes in that column, and labels is
    None. columns, rename, missing, na, decimal, id_column and task_column are those of read(); text_column and texts those of cluster(), and
    sub-folders of a folder of texts are classes. probabilities: of
    the classes, calibrated on samples of the sources held out in three more fits (`Result.probabilities`). map: also lay the samples
    out in a plane (`Result.map`). max_memory: bytes; a fit that would take more is refused before it starts. Returns a Result whose last tasks are the targets.

    ask: method auto also chooses this number of samples of each target for a person to label next (`Result.ask`, `Result.save_ask`).
    target_labels: known classes of the first target's rows, None, NaN or "?" where unknown; or the path of a file that `save_ask` wrote, with
    classes filled in, or a list of such paths. They stay fixed."""
    session = Session(seed_of(seed), threads, time_limit, progress, max_memory, device)
    if targets is None:
        raise ValueError("targets is None: a table to label is needed")
    (s_tables, s_names), (t_tables, t_names) = as_tasks(sources), as_tasks(targets)
    how = {"columns": columns, "rename": rename, "missing": missing, "na": na, "decimal": decimal, "id_column": id_column,
           "label_column": label_column, "task_column": task_column}
    made = {"how": how, "method": method, "family": "transfer", "more": True}
    b_tables, b_names = as_tasks(bridges) if is_path(bridges) or len(bridges) else ([], [])
    s_tables, t_tables, b_tables = join_texts(
        session, [(s_tables, s_names, "source", labels is not None), (t_tables, t_names, "target", True), (b_tables, b_names, "bridge", True)],
        {"label_column": label_column, "text_column": text_column, "texts": texts})
    source, _ = load(session, s_tables, s_names, "source", **made, may_lack_labels=labels is not None)
    target, _ = load(session, t_tables, t_names, "target", **made, may_lack_labels=True)
    values = {}
    if labels is None:
        bare = next((data.name for data in source if data.labels is None), None)
        if bare is not None:
            raise ValueError(f"{bare} has no classes: give labels, or label_column for DataFrames and paths")
        for table in (renamed(table, rename) for table in s_tables):
            if is_frame(table) and label_column in table.columns:
                values.update({str(v): v for v in table[label_column].dropna().unique().tolist()})
    else:
        labels = [labels] if len(source) == 1 and np.ndim(labels) == 1 and np.ndim(labels[0]) == 0 else list(labels)
        if len(labels) != len(source):
            raise ValueError(f"labels of {len(labels)} sources for {len(source)} sources")
        for data, y in zip(source, labels):
            if len(y) != data.shape[0]:
                raise ValueError(f"{len(y)} labels for {data.shape[0]} samples of {data.name}")
            for v in set_classes(session, data, y).tolist():
                values.setdefault(str(v), v)
    bridge, _ = load(session, b_tables, b_names, "bridge", **made, may_lack_labels=True)
    check_names([*source, *target, *bridge], how)
    view_tables, view_names = as_tasks(views) if views is not None else ([], [])
    view_sets, _ = load(session, view_tables, view_names, "view")
    sets, o, out = ffi.new("kdr_transfer_sets *"), ffi.new("kdr_job_options *"), ffi.new("kdr_result **")
    lib.kdr_transfer_sets_init(sets)
    keep = [_pointers(source), _pointers(target), _pointers(bridge), _pointers(view_sets)]
    sets.sources, sets.nsources, sets.targets, sets.ntargets = keep[0], len(source), keep[1], len(target)
    sets.bridges, sets.nbridges, sets.views = keep[2], len(bridge), keep[3]
    lib.kdr_job_options_init(o)
    options = dict(options or {})
    if ask is not None:
        options["ask"] = _asked(ask)
    held = settings(session, _registered(method), options)
    name = chars(_registered(method))
    o.method, o.settings = name, held
    known = _known(o, target_labels, values)
    o.choice = _preprocessing(preprocess, weight, norm, scale)
    prep = _prep(weight, norm, scale, features, top_features, fit_on, top_by)
    o.prep = prep
    o.probabilities = probabilities
    o.map = map
    session.check(lib.kdr_transfer(session.ctx, sets, o, out), keeps=True)
    del known  # the options point into it until here
    return finish(session, Result(out[0], values))


def _asked(ask):
    if isinstance(ask, (bool, np.bool_)) or not isinstance(ask, numbers.Integral) or ask < 1:
        raise ValueError(f"ask is {ask!r}: a whole number from 1 is allowed")
    return int(ask)


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
    names, index = np.unique(["?" if u else named.get(v, str(v)) for u, v in zip(unknown, paths)], return_inverse=True)
    keep = [chars(str(n)) for n in names]
    known = ffi.new("kdr_labels *")
    keep += [ffi.new("char *[]", keep), ffi.new("int64_t[]", index.tolist()), known]
    known.names, known.values, known.n, known.count = keep[-3], keep[-2], len(paths), len(names)
    o.known = known
    return keep


def _registered(method):
    """The id of a transfer method: `auto` is the name of one in each family."""
    found = ffi.new("const kdr_algo **")
    known = lib.kdr_algo_require(ffi.NULL, chars(method), lib.KDR_FAMILY_TRANSFER, found) == lib.KDR_OK
    return text(found[0].id) if known else method


_READ_TEXT = ("format", "name", "label_column", "id_column", "missing", "decimal", "columns", "delimiter", "encoding",
              "task_column", "text_column")
_READ_FLAGS = ("transpose", "may_lack_labels", "may_lack_columns")


def _elsewhere(path):
    """What pandas reads and the library does not: Parquet, Arrow."""
    ending = str(path).lower().rsplit(".", 1)[-1]
    if ending in ("parquet", "pq"):
        import pandas
        return pandas.read_parquet(path)
    if ending in ("feather", "arrow"):
        import pandas
        return pandas.read_feather(path)
    return None


def read(path, **options):
    """Reads a table from a file in any format the program reads, or a folder (10x, or texts). Options: format, name,
    label_column (may_lack_labels: it need not be there), id_column, missing, decimal, columns, rename, delimiter, encoding, transpose, task_column; na, texts that stand for
    no value; model: tables are read as those were that it was fitted on; stream: the data stay on disk, and are read as they
    are needed (default: where three times their size is more than the memory there is); text_column: count the words of this column of a
    CSV file or field of JSON lines; texts: a dict of options for texts, as in cluster().

    columns is text as for the program, a list of the columns to use, or a dict of kinds by name: "number", "category", "date",
    "id", "text", or None to leave a column out. rename gives columns new names, which the other options then use: a dict of new names by old
    ones, or the path of a CSV file of old and new names. model may be an estimator. A DataFrame may be given instead of a path.
    Several paths, in a list or in a dict by name, are read together, which gives folders of texts one vocabulary, and the
    result is a dict of tables by name; so it is with task_column, one table for each of the column's values. Parquet and
    Feather files are read by pandas, and then as DataFrames are."""
    session = Session()
    several = isinstance(path, (list, tuple, dict))
    named = list(path.items()) if isinstance(path, dict) else [(options.get("name"), p) for p in (path if several else [path])]
    options = {name: value for name, value in options.items() if name != "name"}
    reading(options)  # names what is wrong with them
    frame = None if several else path if is_frame(path) else _elsewhere(path)
    if frame is not None:
        sets = read_frame(session, frame, named[0][0] or ("data" if frame is path else _stem(path)), options)
    else:
        sets = [data for _, data in _read_tasks(session, named, options)]
    if not several and not options.get("task_column"):
        return sets[0]
    return {s.name: s for s in sets}


def _stem(path):
    return str(path).replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _read_tasks(session, named, options):
    """Data sets of named paths that are read together, each with the number of its path."""
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
    return sets


def _text_settings(texts):
    """Options of texts as lines, by their names on the command line."""
    spelt = {"stopwords": "stop-words", "max_features": "top-features"}
    return "".join(f"{spelt.get(name, name.replace('_', '-'))}={int(value) if isinstance(value, bool) else value}\n"
                   for name, value in texts.items())


def reading(options):
    """The options of read() as the library takes them, and what must live as long."""
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
        elif name == "rename":
            items = value if value is None or not isinstance(value, dict) else [f"{quoted(old)}={new}" for old, new in renames(value).items()]
            items = [os.fspath(items)] if isinstance(items, (str, os.PathLike)) else items or []
            tokens = [chars(item) for item in items]
            keep += [tokens, ffi.new("char *[]", tokens + [ffi.NULL])]
            o.rename = ffi.cast("const char *const *", keep[-1])
        elif name == "columns":
            keep.append(chars(columns_text(value)) if value is not None else ffi.NULL)
            o.columns = keep[-1]
        elif name not in _READ_TEXT:
            raise TypeError(f"read() got an unexpected keyword argument '{name}'")
        elif value is not None:
            keep.append(chars(value))
            setattr(o, name, keep[-1])
    if model is not None:
        keep.append(model)
        lib.kdr_model_reading(model._model, o)
    return o, keep


def _shape(task):
    """Rows, columns, and stored entries or None where it is dense: of a table, or as given."""
    if isinstance(task, (tuple, list)) and len(task) in (2, 3) and all(np.ndim(v) == 0 for v in task):
        return int(task[0]), int(task[1]), int(task[2]) if len(task) == 3 else None
    entries = getattr(task.X if isinstance(task, Data) else task, "nnz", None)
    return *map(int, task.shape), None if entries is None else int(entries)


def as_estimate(e):
    """A kdr_estimate as a dict."""
    return {"bytes": e.bytes, "data_bytes": e.data_bytes}


def estimate(tasks, method="auto", k=5, options=None, *, family="cluster", pooled=False, threads=None, model=None):
    """Memory that a job needs, as a dict: bytes at the peak, data_bytes of which are the data themselves.

    tasks: tables, or sizes: (rows, columns), or (rows, columns, stored entries) for sparse ones. With family "transfer", the
    first is the source, the last the target and the others are bridges; k is the number of classes. The families "relate" and
    "embed" are jobs without a method. model: estimate the memory for predicting one task with this Model."""
    session, transferred = Session(threads=threads), family == "transfer"
    families = ("cluster", "transfer", "features", "relate", "embed")
    if family not in families:
        raise ValueError(f"family is {family!r}: {', '.join(families)} are allowed")
    tasks = [tasks] if is_table(tasks) else list(tasks)
    shapes, out = ffi.new("kdr_task_shape[]", len(tasks)), ffi.new("kdr_estimate *")
    for i, (shape, task) in enumerate(zip(shapes, tasks)):
        shape.rows, shape.cols, entries = _shape(task)
        shape.dense, shape.entries, shape.k = entries is None, entries or 0, 0 if k in (None, "auto") or transferred else k
        shape.streamed = isinstance(task, Data) and task.streamed
        if transferred:
            shape.role = (lib.KDR_ROLE_SOURCE if i == 0 else lib.KDR_ROLE_TARGET if i == len(tasks) - 1
                          else lib.KDR_ROLE_BRIDGE)
    if model is not None or family in ("relate", "embed"):
        if model is not None and len(tasks) != 1:
            raise ValueError(f"{len(tasks)} tasks were given: a model labels one at a time")
        session.check(lib.kdr_estimate_bytes_job(session.ctx, chars("predict" if model is not None else family),
                                                 ffi.NULL if model is None else model._model, shapes, len(tasks), out))
        return as_estimate(out)
    name = _registered(method) if transferred else method
    held = settings(session, name, options or {})
    session.check(lib.kdr_estimate_bytes(session.ctx, chars(name), shapes, len(tasks), k if transferred else 0, pooled, held,
                                         out))
    return as_estimate(out)


def prepare(tasks, *, weight=None, norm=None, scale=None, features=None, top_features=None, top_by=None,
            fit_on=None, **reading):
    """Aligns and preprocesses tables together. Returns new Data objects, one for each. Further options are those of read()."""
    session = Session()
    tables, names = as_tasks(tasks)
    sets, _ = load(session, tables, names, "task", reading)
    o = _prep(weight, norm, scale, features, top_features, fit_on, top_by)
    session.check(lib.kdr_prepare(session.ctx, _pointers(sets), len(sets), o, ffi.NULL))
    for line in session.messages:
        warnings.warn(in_python(line), KindredWarning, stacklevel=2)
    return sets


def relate(tasks, *, seed=1, threads=None, weight=None, norm=None, scale=None, features=None, top_features=None,
           top_by=None, **reading):
    """How related tables are, before anything is clustered: what `kindred relate --json` prints, as a dict. Further options are
    those of read()."""
    import json
    session = Session(seed_of(seed), threads)
    tables, names = as_tasks(tasks)
    sets, _ = load(session, tables, names, "task", reading)
    o, line, length = ffi.new("kdr_relate_options *"), ffi.new("char **"), ffi.new("size_t *")
    lib.kdr_relate_options_init(o)
    prep = _prep(weight, norm, scale, features, top_features, None, top_by)
    o.prep = prep
    session.check(lib.kdr_relate(session.ctx, _pointers(sets), len(sets), o, line, length))
    try:
        return json.loads(ffi.unpack(line[0], length[0]).decode())
    finally:
        lib.kdr_free(session.ctx, line[0])


def embed(tasks, *, layout="forces", neighbors=None, sweeps=None, seed=1, threads=None, weight=None, norm=None, scale=None,
          features=None, top_features=None, top_by=None, fit_on=None, **reading):
    """A two-dimensional map of the samples, as the report draws it: `kindred embed`. Further options are those of read(). Returns an array of two columns for one table,
    a list of them for a list of tables, a dict for a dict; several tables are drawn on common axes."""
    session = Session(seed_of(seed), threads)
    tables, names = as_tasks(tasks)
    sets, _ = load(session, tables, names, "task", reading)
    o, out = ffi.new("kdr_embed_options *"), ffi.new("kdr_embedding **")
    lib.kdr_embed_options_init(o)
    o.layout = _choice(layout, "layout")
    o.neighbors, o.sweeps = neighbors or 0, sweeps or 0
    prep = _prep(weight, norm, scale, features, top_features, fit_on, top_by)
    o.prep = prep
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


def evaluate(labels, truth=None, data=None, method="auto", options=None, *, weight=None, norm=None, scale=None, resamples=None,
             seed=1, threads=None):
    """Scores of a partition against known classes, or, with the data it is of, by itself: `kindred evaluate`.

    With data: silhouette, davies_bouldin and calinski_harabasz of the data as they are, or as weight, norm and scale make them,
    and stability: the mean adjusted Rand index of labels with what the method finds in parts of 4/5 of the rows."""
    labels = np.asarray(labels)
    if truth is None and data is None:
        raise ValueError("evaluate needs truth, or data: what the labels are compared with")
    session, out = Session(seed_of(seed), threads), {}
    a = _codes(labels)
    if truth is not None:
        truth = np.asarray(truth)
        if labels.shape != truth.shape or labels.ndim != 1:
            raise ValueError(f"labels have shape {labels.shape} and truth {truth.shape}: two lists of the same length are needed")
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
        raise ValueError(f"{len(labels)} labels for {data.shape[0]} samples")
    prep, one, q = _prep(weight, norm, scale), _pointers([data]), ffi.new("kdr_quality *")
    session.check(lib.kdr_prepare(session.ctx, one, 1, prep, ffi.NULL))
    x, values = ffi.new("kdr_mat *", lib.kdr_data_mat(data._data)), ffi.cast("int64_t *", labels.ctypes.data)
    session.check(lib.kdr_quality_find(session.ctx, x, values, q))
    out = quality_dict(q)
    count = _resamples(resamples)
    if count >= 0 and q.clusters > 1:
        o, found, made = ffi.new("kdr_job_options *"), ffi.new("double *"), ffi.new("int64_t *", count)
        lib.kdr_job_options_init(o)
        held, name = settings(session, method, options or {}), chars(method)
        o.method, o.settings = name, held
        o.choice = 0 if (weight or norm or scale) is None else 2  # as told: that has been done
        rows = ffi.new("const int64_t *[]", [values])
        session.check(lib.kdr_stability(session.ctx, one, 1, rows, o, made, found))
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


def generate(design="blobs", *, seed=1, **spec):
    """Synthetic related tables with known classes: designs blobs, topics, berikov and tables, with the fields of the C struct as
    keywords (tasks, k, samples, ...). Returns a list of Data."""
    if design not in _DESIGNS:
        raise ValueError(f"design is {design!r}: {', '.join(_DESIGNS)} are allowed")
    session, out, keep = Session(seed_of(seed)), ffi.new("kdr_generator **"), None
    s = ffi.new("kdr_design *")
    lib.kdr_design_init(s, getattr(lib, f"KDR_DESIGN_{design.upper()}"))
    for name, value in spec.items():
        if name not in _DESIGNS[design]:
            raise TypeError(f"generate('{design}') has no '{name}': {', '.join(_DESIGNS[design])}")
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
    """A result as a page: shown in a notebook; written to `path` where one is given."""
    page = Report(result if isinstance(result, Result) else result.result_)
    if path is not None:
        page.save(path)
    return page
