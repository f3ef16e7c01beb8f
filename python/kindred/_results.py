"""Results, models and reports. SPDX-License-Identifier: BSD-3-Clause"""
import json
import numbers
import os
import tempfile

import numpy as np

from ._data import Data, _names, as_data, is_frame, is_path, is_texts, until_null, view
from ._errors import chars, in_python, text
from ._kindred import ffi, lib
from ._session import Session


def quality_dict(q):
    """kdr_quality as a dict; what has no figure is NaN."""
    out = {name: getattr(q, name) for name, _ in ffi.typeof("kdr_quality").fields if name not in ("n", "silhouette_kind")}
    out["silhouette_kind"] = "exact" if q.silhouette_kind == lib.KDR_SILHOUETTE_EXACT else "simplified"
    return out


_SHOWN = 12  # data sets, and labels of each, in a repr


def _index(names, task):
    if isinstance(task, (bool, np.bool_)):
        raise TypeError(f"task is {task!r}: a name or a whole number is allowed")
    if isinstance(task, str) or str(task) in names:  # data sets of a dict may have numbers for names: a name comes first
        task = str(task)
        if task not in names:
            raise ValueError(f"there is no task '{task}': {', '.join(names)}")
        return names.index(task)
    if not isinstance(task, numbers.Integral):
        raise TypeError(f"task is {task!r}: a name or a whole number is allowed")
    if not -len(names) <= task < len(names):
        raise ValueError(f"there is no task {task}: there are {len(names)}")
    return int(task) % len(names)


class Result:
    """What a job found: labels, arrays, figures and words. Everything of the program's result.json is in `to_json()`."""

    def __init__(self, pointer, classes=None):
        self._result = ffi.gc(pointer, lib.kdr_result_free)
        self._values = classes  # class by name, as the caller gave it

    def __reduce__(self):
        raise TypeError("a Result cannot be pickled: keep its to_json(), or pickle an estimator, which can predict afterwards")

    @property
    def method(self):
        return text(lib.kdr_result_algo(self._result).id)

    @property
    def tasks(self):
        """Names of the tasks."""
        return [text(lib.kdr_result_task_name(self._result, t)) for t in range(lib.kdr_result_ntasks(self._result))]

    @property
    def classes(self):
        """Classes that labels are indices of, as they were given; None where labels are numbers of clusters."""
        count = ffi.new("int64_t *")
        names = _names(lib.kdr_result_classes(self._result, count), count[0])
        if names is None or self._values is None:
            return names
        return np.array([self._values.get(n, n) for n in names])

    def labels(self, task=0):
        """Labels of a task, by name or number: clusters from 0, or classes; None where it has none."""
        count = ffi.new("int64_t *")
        values = lib.kdr_result_labels(self._result, self.index(task), count)
        if values == ffi.NULL:
            return None
        numbers = view(values, count[0], np.int64, self).copy()
        return numbers if self.classes is None else np.asarray(self.classes)[numbers]

    def index(self, task):
        """The number of a task, by name or number from 0 (from the last: -1)."""
        return _index(self.tasks, task)

    def k(self, task=0):
        return lib.kdr_result_k(self._result, self.index(task))

    @property
    def objective(self):
        count = ffi.new("int64_t *")
        values = lib.kdr_result_objective(self._result, count)
        return view(values, count[0], np.float64, self).copy()

    @property
    def stop(self):
        return text(lib.kdr_stop_name(lib.kdr_result_stop(self._result)))

    @property
    def complete(self):
        """Whether it converged, or made as many rounds as the method does where no tol is set."""
        return bool(lib.kdr_result_complete(self._result))

    @property
    def iterations(self):
        return lib.kdr_result_iterations(self._result)

    @property
    def warnings(self):
        return [in_python(text(lib.kdr_result_warning_at(self._result, i))) for i in
                range(lib.kdr_result_warning_count(self._result))]

    @property
    def fields(self):
        """Named numbers and texts of the method: method_fields of result.json."""
        number, words, out = ffi.new("double *"), ffi.new("const char **"), {}
        for i in range(lib.kdr_result_field_count(self._result)):
            words[0] = ffi.NULL
            name = text(lib.kdr_result_field_at(self._result, i, number, words))
            out[name] = number[0] if words[0] == ffi.NULL else text(words[0])
        return out

    @property
    def arrays(self):
        """Arrays by name: one, or a list with one for each task (None where a task has none)."""
        per_task = {f["name"]: f["per_task"] for f in describe(lib.kdr_result_algo(self._result))["fields"]}
        out = {}
        for i in range(lib.kdr_result_array_count(self._result)):
            a = lib.kdr_result_array_at(self._result, i)
            shape = tuple(a.shape[j] for j in range(a.ndim))
            size = int(np.prod(shape, dtype=np.int64))
            array = view(a.data, size, np.float64 if a.type == lib.KDR_FLOAT64 else np.int64, self).reshape(shape)
            name = text(a.name)
            if per_task.get(name, a.task >= 0):
                out.setdefault(name, [None] * len(self.tasks))[a.task] = array
            else:
                out[name] = array
        return out

    @property
    def relatedness(self):
        n = len(self.tasks)
        values = lib.kdr_result_relatedness(self._result)
        return None if values == ffi.NULL else view(values, n * n, np.float64, self).reshape(n, n).copy()

    @property
    def correspondence(self):
        """Clusters matched between pairs of tasks: dicts with from, to, matrix and quality."""
        out, names = [], self.tasks
        for i in range(lib.kdr_result_correspondence_count(self._result)):
            c = lib.kdr_result_correspondence_at(self._result, i)
            quality = None if c.quality == ffi.NULL else view(c.quality, c.rows, np.float64, self).copy()
            matrix = view(c.matrix, c.rows * c.cols, np.float64, self).reshape(c.rows, c.cols).copy()
            out.append({"from": names[getattr(c, "from")], "to": names[c.to], "matrix": matrix, "quality": quality})
        return out

    def advice(self, task=0):
        """Sentences about a task."""
        task, out = self.index(task), []
        while True:
            line = lib.kdr_result_advice(self._result, task, len(out))
            if line == ffi.NULL:
                return out
            out.append(in_python(text(line)))

    def _per_sample(self, values, task, dtype, width=1):
        if values == ffi.NULL:
            return None
        rows = lib.kdr_result_task_shape(self._result, task).rows
        return view(values, rows * width, dtype, self).copy()

    def ids(self, task=0):
        """Names of the samples of a task; None where they have none."""
        task = self.index(task)
        return _names(lib.kdr_result_ids(self._result, task), lib.kdr_result_task_shape(self._result, task).rows)

    def map(self, task=0):
        """Samples of a task as points of a plane, two columns of whole numbers from 0 to 65535 on one scale for all tasks, as the
        report draws them; None unless the job was called with map=True. Of more than 200,000 samples `map_rows` says which."""
        m = lib.kdr_result_map(self._result, self.index(task))
        return None if m.n == 0 else np.column_stack([view(v, m.n, np.int32, self) for v in (m.x, m.y)])

    def map_rows(self, task=0):
        """The samples that `map` has points for."""
        m = lib.kdr_result_map(self._result, self.index(task))
        return np.arange(m.n) if m.rows == ffi.NULL else view(m.rows, m.n, np.int64, self).copy()

    def left_out(self, task=0):
        """Rows of the file that were not taken: (row, id, reason) each."""
        return [(r.row, text(r.id), text(r.reason)) for r in until_null(lib.kdr_result_left_out_at, self._result, self.index(task))]

    def confidence(self, task=0):
        """How sure each label of a task is, 0 to 1; None where nothing is known. `confidence_from` says what it is."""
        task = self.index(task)
        return self._per_sample(lib.kdr_result_confidence(self._result, task, ffi.NULL), task, np.float64)

    def confidence_from(self, task=0):
        out = ffi.new("const char **")
        lib.kdr_result_confidence(self._result, self.index(task), out)
        return text(out[0])

    def second(self, task=0):
        """The next best label of each sample; -1 (of classes: None) where there is none."""
        task = self.index(task)
        numbers = self._per_sample(lib.kdr_result_second(self._result, task), task, np.int64)
        if numbers is None or self.classes is None:
            return numbers
        classes = np.append(np.asarray(self.classes, object), None)
        return classes[numbers]

    def probabilities(self, task=-1):
        """Calibrated probabilities of a target, a column for each of `classes`; None where they were not asked for."""
        task, count = self.index(task), ffi.new("int64_t *")
        values = lib.kdr_result_probabilities(self._result, task, count)
        flat = self._per_sample(values, task, np.float64, count[0])
        return None if flat is None else flat.reshape(-1, count[0])

    @property
    def calibration(self):
        """What probabilities were calibrated on, as a dict; None where there are none."""
        c = lib.kdr_result_calibration(self._result)
        return None if c == ffi.NULL else {name: getattr(c, name) for name, _ in ffi.typeof("kdr_calibration").fields}

    def quality(self, task=0):
        """How good the clusters of a task are without truth, as a dict; None where that was not asked for."""
        q = lib.kdr_result_quality(self._result, self.index(task))
        return None if q == ffi.NULL else quality_dict(q)

    def mixing(self):
        """How well several data sets mix, as a dict: `mixing` of result.json; None without quality=True or with one data set."""
        return json.loads(self.to_json(samples=False)).get("mixing")

    def clusters(self, task=0):
        """What sets each cluster of a task apart: `clusters` of result.json."""
        return json.loads(self.to_json(samples=False))["tasks"][self.index(task)].get("clusters", [])

    def save_samples(self, path, task=0, force=False):
        """samples.csv of a task: id, cluster or class, confidence, second; of targets of auto also unlike_source and target_cluster."""
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_SAMPLES, self.index(task), chars(path),
                                                 force))

    def unlike_source(self, task=-1):
        """Rank of each sample of a target by how little it is like the source, 0 to 1 (least like it); None if it was not computed. It does not
        mean that a sample belongs to a class that the source lacks."""
        return self.arrays.get("unlike_source", [None] * len(self.tasks))[self.index(task)]

    def ask(self, task=-1):
        """Rows of a target, from 0, that a person should label next, most useful first; None unless transfer was called with ask=N."""
        return self.arrays.get("ask", [None] * len(self.tasks))[self.index(task)]

    def save_ask(self, path, task=-1, force=False):
        """ask.csv of a target: the samples of `ask` with an empty column `class` to fill in. transfer(..., target_labels=path) reads it."""
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_ASK, self.index(task), chars(path), force))

    def save_features(self, path, force=False):
        """features.csv: what sets clusters apart."""
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_FEATURES, 0, chars(path), force))

    def to_json(self, samples=True):
        """result.json, as the program writes it; with samples=False without the lists that have an entry for each sample."""
        session, out, length = Session(), ffi.new("char **"), ffi.new("size_t *")
        session.check(lib.kdr_result_json(session.ctx, self._result, samples, out, length))
        try:
            return ffi.unpack(out[0], length[0]).decode("utf-8", "replace")
        finally:
            lib.kdr_free(session.ctx, out[0])

    def to_dict(self):
        return json.loads(self.to_json())

    def save(self, path, force=False):
        """result.json to a file, whole or not at all."""
        session = Session()
        session.check(lib.kdr_result_write(session.ctx, self._result, chars(path), force))

    def save_model(self, path, force=False):
        """A model that `load_model` and `kindred predict` read."""
        session = Session()
        session.check(lib.kdr_model_save(session.ctx, chars(path), self._result, force))

    def model(self):
        """The same in memory."""
        session, out = Session(), ffi.new("kdr_model **")
        session.check(lib.kdr_model_new(session.ctx, self._result, out))
        return Model(out[0], self, self._values)

    def to_frame(self):
        """A pandas DataFrame with a row for each labelled sample: task, id (if samples have names), label, confidence and second."""
        import pandas
        parts = []
        for t, task in enumerate(self.tasks):
            labels = self.labels(t)
            if labels is None:
                continue
            columns = {"task": [task] * len(labels), "id": self.ids(t), "label": labels, "confidence": self.confidence(t), "second": self.second(t)}
            parts.append(pandas.DataFrame({name: values for name, values in columns.items() if values is not None}))
        return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=["task", "label"])

    def __repr__(self):
        lines = [f"<kindred.Result of {self.method} on {len(self.tasks)} data set{'s' if len(self.tasks) > 1 else ''}"]
        for t, name in enumerate(self.tasks[:_SHOWN]):
            labels, sure = self.labels(t), self.confidence(t)
            if labels is None:
                lines.append(f"  {name}: no labels")
                continue
            found, sizes = np.unique(labels, return_counts=True)
            shown = [f"{f}: {n}" for f, n in zip(found[:_SHOWN], sizes)] + (["..."] if len(found) > _SHOWN else [])
            kind = "cluster" if self.classes is None else "class"
            plural = kind + ("" if len(found) == 1 else "s" if kind == "cluster" else "es")
            known = "" if sure is None or not np.isfinite(sure).any() else f", mean confidence {np.nanmean(sure):.2f}"
            lines.append(f"  {name}: {len(labels)} samples in {len(found)} {plural} ({', '.join(shown)}){known}")
        if len(self.tasks) > _SHOWN:
            lines.append(f"  and {len(self.tasks) - _SHOWN} more")
        count = self.iterations
        lines.append(f"  {self.stop} after {count} iteration{'' if count == 1 else 's'}>")
        return "\n".join(lines)

    def _repr_html_(self):
        return Report(self)._repr_html_()


class Model:
    """A fitted method that labels samples it has not seen."""

    def __init__(self, pointer, keep=None, classes=None):
        self._model = ffi.gc(pointer, lib.kdr_model_free)
        self._keep, self._values = keep, classes

    @property
    def method(self):
        return text(lib.kdr_model_algo(self._model).id)

    @property
    def tasks(self):
        return [text(lib.kdr_model_task_name(self._model, t)) for t in range(lib.kdr_model_ntasks(self._model))]

    def index(self, task):
        """The number of a task, by name or number from 0."""
        return _index(self.tasks, task)

    def predict(self, X, task=None, threads=None, rename=None):
        """Labels for the rows of X, as samples of `task`: a name, or else a number from 0 (None: the only one).

        X may be a DataFrame or a path: it is read as the tables were that the model was fitted on, after its columns
        have got new names by `rename`, as for read()."""
        return self.result(X, task, threads, rename).labels()

    def read(self, X, session=None, rename=None):
        """X as a data set of the library: DataFrames, paths and lists of texts are read as the tables were that the model was fitted on."""
        from ._frames import is_plain, renamed, unknown_columns
        from ._jobs import join_texts, read, read_frame, reading
        session = session or Session()
        if is_path(X):
            return read(X, model=self, rename=rename)
        if is_texts(X):
            return join_texts(session, [([X], [None], "samples", True)], {"model": self})[0][0]
        X = renamed(X, rename)
        known = text(reading({"model": self})[0].columns)
        if is_frame(X) and (known is not None or not is_plain(X)):
            session.warnings += unknown_columns(X, known)
            return read_frame(session, X, "samples", {"model": self})[0]
        return as_data(session, X, None if isinstance(X, Data) else "samples")

    def result(self, X, task=None, threads=None, rename=None):
        """The same with all that is known: a Result."""
        return self._apply(X, task, threads, rename)[1]

    def prepared(self, X, task=None):
        """X as a table of the library after the preprocessing that the model was fitted with."""
        return self._apply(X, task, None)[0]

    def _apply(self, X, task, threads, rename=None):
        from ._jobs import finish
        session = Session(threads=threads)
        data = self.read(X, session, rename)
        options, out = ffi.new("kdr_predict_options *"), ffi.new("kdr_result **")
        lib.kdr_predict_options_init(options)
        name = ffi.NULL if task is None else chars(self.tasks[self.index(task)])
        options.task = name
        session.check(lib.kdr_predict(session.ctx, self._model, data._data, options, out))  # preprocesses data in place
        return data, finish(session, Result(out[0], self._values))

    def __repr__(self):
        return f"<kindred.Model of {self.method} on {', '.join(self.tasks)}>"


def load_model(path):
    """A model saved by `Result.save_model` or by `kindred cluster --save-model`."""
    session, out = Session(), ffi.new("kdr_model **")
    session.check(lib.kdr_model_load(session.ctx, chars(path), out))
    return Model(out[0])


class Report:
    """A result as one self-contained page: shown in a notebook, or saved."""

    def __init__(self, result):
        with tempfile.TemporaryDirectory(prefix="kindred-") as folder:
            source, page = os.path.join(folder, "result.json"), os.path.join(folder, "report.html")
            with open(source, "w", encoding="utf-8") as file:
                file.write(result.to_json())
            session = Session()
            session.check(lib.kdr_report(session.ctx, chars(source), chars(page), True))
            with open(page, encoding="utf-8") as file:
                self.html = file.read()

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        import html
        return ('<iframe style="width:100%;height:640px;border:0" sandbox="allow-scripts" srcdoc="'
                + html.escape(self.html, quote=True) + '"></iframe>')


# --- the registry -----------------------------------------------------------------------------------------------------


def _options(algo):
    types = {lib.KDR_OPTION_INT: "int", lib.KDR_OPTION_REAL: "real", lib.KDR_OPTION_BOOL: "bool",
             lib.KDR_OPTION_CHOICE: "choice", lib.KDR_OPTION_REALS: "reals"}
    for d in until_null(lib.kdr_algo_option_at, algo):
        kind = types[d.type]
        choices = []
        while kind == "choice" and d.choices[len(choices)] != ffi.NULL:
            choices.append(text(d.choices[len(choices)]))
        default = d.initial
        if kind == "choice":
            default = choices[int(default)]
        elif kind == "bool":
            default = bool(default)
        elif kind == "int":
            default = int(default)
        yield {"name": text(d.name), "type": kind, "default": default, "min": d.min, "max": d.max, "choices": choices,
               "automatic": text(d.automatic), "help": text(d.help)}


def describe(algo):
    """An entry of the registry as a dict."""
    references = []
    while algo.references != ffi.NULL and algo.references[len(references)] != ffi.NULL:
        references.append(text(algo.references[len(references)]))
    flags = {name[len("KDR_ALGO_"):].lower() for name in dir(lib)
             if name.startswith("KDR_ALGO_") and isinstance(getattr(lib, name), int) and algo.flags & getattr(lib, name)}
    family = {lib.KDR_FAMILY_CLUSTER: "cluster", lib.KDR_FAMILY_TRANSFER: "transfer",
              lib.KDR_FAMILY_FEATURES: "features"}[algo.family]
    return {"id": text(algo.id), "class": text(algo.class_name), "title": text(algo.title), "summary": text(algo.summary),
            "family": family, "flags": flags, "options": list(_options(algo)),
            "fields": [{"name": text(f.name), "per_task": bool(f.per_task), "shape": text(f.shape), "help": text(f.help)}
                       for f in until_null(lib.kdr_algo_field_at, algo)],
            "references": references}


def methods():
    """The registry: every method with its options, arrays and references."""
    return [describe(lib.kdr_algo_at(i)) for i in range(lib.kdr_algo_count())]
