"""Results, models and reports. SPDX-License-Identifier: BSD-3-Clause"""
import json
import numbers
import operator
import os
import tempfile

import numpy as np

from ._data import Data, _names, as_data, is_frame, is_path, is_texts, until_null, view
from ._docs import documented
from ._errors import chars, in_python, text
from ._kindred import ffi, lib
from ._session import Session, seed_of


def quality_dict(q):
    """A kdr_quality as a dict; unknown values are NaN."""
    out = {name: getattr(q, name) for name, _ in ffi.typeof("kdr_quality").fields if name not in ("n", "silhouette_kind")}
    out["silhouette_kind"] = "exact" if q.silhouette_kind == lib.KDR_SILHOUETTE_EXACT else "simplified"
    return out


_SHOWN = 12  # data sets, and labels of each, in a repr


def _index(names, task):
    if isinstance(task, (bool, np.bool_)):
        raise TypeError(f"task is {task!r}: use the name of a data set or its number")
    if isinstance(task, str) or str(task) in names:  # keys of a dict may be numbers: names have priority
        task = str(task)
        if task not in names:
            raise ValueError(f"there is no data set '{task}': the data sets are {', '.join(names)}")
        return names.index(task)
    if not isinstance(task, numbers.Integral):
        raise TypeError(f"task is {task!r}: use the name of a data set or its number")
    if not -len(names) <= task < len(names):
        raise ValueError(f"there is no data set {task}: " + ("the only one is 0" if len(names) == 1 else f"they are numbered from 0 to {len(names) - 1}"))
    return int(task) % len(names)


@documented
class Result:
    """Labels and everything else that a job found.

    Functions and methods that take `task` accept the name of a data set or its number
    from 0. :meth:`to_json` returns everything as the program's result.json.

    See Also
    --------
    cluster : Cluster data sets; returns a result.
    transfer : Label data sets; returns a result.
    report : Show a result as a page.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", samples=[60, 40], seed=1)
    >>> result = kindred.cluster({"north": north, "south": south}, k=3, method="kmeans")
    >>> result.tasks
    ['north', 'south']
    >>> len(result.labels("south")), result.k("south"), result.stop
    (40, 3, 'converged')
    """

    def __init__(self, pointer, classes=None):
        self._result = ffi.gc(pointer, lib.kdr_result_free)
        self._values = classes  # classes by name, as the caller passed them

    def __reduce__(self):
        raise TypeError("a Result cannot be pickled: keep its to_json(), or pickle a fitted estimator")

    @property
    def method(self):
        """Name of the method."""
        return text(lib.kdr_result_algo(self._result).id)

    @property
    def tasks(self):
        """Names of the data sets."""
        return [text(lib.kdr_result_task_name(self._result, t)) for t in range(lib.kdr_result_ntasks(self._result))]

    @property
    def classes(self):
        """The classes that labels refer to; None if labels are cluster numbers."""
        count = ffi.new("int64_t *")
        names = _names(lib.kdr_result_classes(self._result, count), count[0])
        if names is None or self._values is None:
            return names
        return np.array([self._values.get(n, n) for n in names])

    def labels(self, task=0):
        """Return the labels of a data set.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            Cluster numbers from 0, or classes; -1 or None for a sample without a
            label, such as a text without known words. None if the method does not
            label this data set, as the sources of a transfer.
        """
        count = ffi.new("int64_t *")
        values = lib.kdr_result_labels(self._result, self.index(task), count)
        if values == ffi.NULL:
            return None
        numbers = view(values, count[0], np.int64, self).copy()
        if self.classes is None:
            return numbers
        # None among classes needs objects; labels of all samples keep the type of the classes
        classes = np.asarray(self.classes) if (numbers >= 0).all() else np.append(np.asarray(self.classes, object), None)
        return classes[numbers]

    def index(self, task):
        """Return the number of a data set.

        Parameters
        ----------
        task : str or int
            Name of the data set, or its number from 0. Negative numbers count from
            the last.

        Returns
        -------
        int
            The number, from 0.

        Raises
        ------
        ValueError
            If no data set has this name or number.
        """
        return _index(self.tasks, task)

    def k(self, task=0):
        """Return the number of clusters of a data set, as specified or as found by the
        method.

        Parameters
        ----------
        <task>

        Returns
        -------
        int
            Number of clusters.
        """
        return lib.kdr_result_k(self._result, self.index(task))

    def numbers(self, task=0):
        """Return the number of each cluster of a data set, by which `labels` and `second` name it.

        Equal numbers mean the same cluster in all data sets. Rows of arrays with one row per cluster, such as centres, and the rows and
        columns of `correspondence` are in the order of this list: ``centres[numbers == label]`` is the centre of a label.

        Parameters
        ----------
        <task>

        Returns
        -------
        array
            One number per cluster.
        """
        index = self.index(task)
        return np.array([lib.kdr_result_number(self._result, index, c) for c in range(self.k(index))], np.int64)

    @property
    def objective(self):
        """The value of the objective after each iteration."""
        count = ffi.new("int64_t *")
        values = lib.kdr_result_objective(self._result, count)
        return view(values, count[0], np.float64, self).copy()

    @property
    def stop(self):
        """Why the fit ended: converged, max_iter, time, cancelled or stalled."""
        return text(lib.kdr_stop_name(lib.kdr_result_stop(self._result)))

    @property
    def complete(self):
        """Whether the fit converged, or made its fixed number of rounds."""
        return bool(lib.kdr_result_complete(self._result))

    @property
    def iterations(self):
        """Number of iterations."""
        return lib.kdr_result_iterations(self._result)

    @property
    def warnings(self):
        """Warnings about the data and the result, one sentence each."""
        return [in_python(text(lib.kdr_result_warning_at(self._result, i))) for i in
                range(lib.kdr_result_warning_count(self._result))]

    @property
    def fields(self):
        """Named numbers and texts of the method: ``method_fields`` of result.json."""
        number, words, out = ffi.new("double *"), ffi.new("const char **"), {}
        for i in range(lib.kdr_result_field_count(self._result)):
            words[0] = ffi.NULL
            name = text(lib.kdr_result_field_at(self._result, i, number, words))
            out[name] = number[0] if words[0] == ffi.NULL else text(words[0])
        return out

    @property
    def arrays(self):
        """Arrays of the method by name: one array, or a list with one for each data set (None if a data set has none)."""
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
        """How much each data set (row) draws on each other one (column); None if the method does not learn this."""
        n = len(self.tasks)
        values = lib.kdr_result_relatedness(self._result)
        return None if values == ffi.NULL else view(values, n * n, np.float64, self).reshape(n, n).copy()

    @property
    def correspondence(self):
        """How clusters of pairs of data sets match, as a list of dicts.

        The keys are ``from``, ``to``, ``matrix`` (one row per cluster of ``from`` and
        one column per cluster of ``to``) and ``quality`` (how good the best match of
        each row is, up to 1; None if unknown).
        """
        out, names = [], self.tasks
        for i in range(lib.kdr_result_correspondence_count(self._result)):
            c = lib.kdr_result_correspondence_at(self._result, i)
            quality = None if c.quality == ffi.NULL else view(c.quality, c.rows, np.float64, self).copy()
            matrix = view(c.matrix, c.rows * c.cols, np.float64, self).reshape(c.rows, c.cols).copy()
            out.append({"from": names[getattr(c, "from")], "to": names[c.to], "matrix": matrix, "quality": quality})
        return out

    def advice(self, task=0):
        """Return the advice about a data set, such as what clustering together changed.

        Parameters
        ----------
        <task>

        Returns
        -------
        list of str
            One sentence per entry.
        """
        task, out = self.index(task), []
        while True:
            line = lib.kdr_result_advice(self._result, task, len(out))
            if line == ffi.NULL:
                return out
            out.append(in_python(text(line)))

    def sharing(self, task=0):
        """Return what a data set has from those it was clustered together with (method auto).

        Parameters
        ----------
        <task>

        Returns
        -------
        dict or None
            ``"from"``: the data set whose clusters it takes over, or None. ``"apart"``: distance
            from the nearest data set (0.5 = alike, 1 = apart), or None. ``"moved"``: number of
            samples that would be in another cluster in a run alone, or None. ``"reason"``: why.
            None for a single data set and for other methods.
        """
        s = lib.kdr_result_sharing(self._result, self.index(task))
        if s.reason == ffi.NULL:
            return None
        source = getattr(s, "from")
        return {"from": None if source == ffi.NULL else text(source), "apart": None if np.isnan(s.apart) else s.apart,
                "moved": None if s.moved < 0 else s.moved, "reason": in_python(text(s.reason))}

    def _per_sample(self, values, task, dtype, width=1):
        if values == ffi.NULL:
            return None
        rows = lib.kdr_result_task_shape(self._result, task).rows
        return view(values, rows * width, dtype, self).copy()

    def ids(self, task=0):
        """Return the sample names of a data set.

        Parameters
        ----------
        <task>

        Returns
        -------
        list of str or None
            The names; None if the samples have none.
        """
        task = self.index(task)
        return _names(lib.kdr_result_ids(self._result, task), lib.kdr_result_task_shape(self._result, task).rows)

    def map(self, task=0):
        """Return the two-dimensional map of a data set.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            Two integers from 0 to 65535 per sample, on a common scale for all data
            sets; None unless the job was run with ``map=True``. The map of more
            than 200,000 samples shows a part of them, which :meth:`map_rows` lists.
        """
        m = lib.kdr_result_map(self._result, self.index(task))
        return None if m.n == 0 else np.column_stack([view(v, m.n, np.int32, self) for v in (m.x, m.y)])

    def representation(self, task=0):
        """Return coordinates of the samples in a space that all data sets share.

        They are the method's own, if it has them (``lssmtc``); otherwise the samples minus the mean of their data
        set, along the leading directions of all data sets. Distances in it compare samples of different data sets.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            One row per sample and up to 50 columns, NaN for samples without a label; None unless the job was run with
            ``representation=True``, and for data sets with different features.
        """
        task, columns = self.index(task), ffi.new("int64_t *")
        values = lib.kdr_result_representation(self._result, task, columns)
        found = self._per_sample(values, task, np.float64, columns[0])
        return None if found is None else found.reshape(-1, columns[0])

    def match(self, cluster):
        """Return the probability that a cluster is the same group in all data sets that have it.

        Parameters
        ----------
        cluster : int
            The number of the cluster.

        Returns
        -------
        float
            The lowest probability for two of the data sets; 1 if the method does not estimate it. NaN for a cluster of one data set
            and for classes.
        """
        return lib.kdr_result_match(self._result, cluster)

    def map_rows(self, task=0):
        """Return the samples that the map shows.

        Parameters
        ----------
        <task>

        Returns
        -------
        array
            Sample numbers from 0, one per row of :meth:`map`.
        """
        m = lib.kdr_result_map(self._result, self.index(task))
        return np.arange(m.n) if m.rows == ffi.NULL else view(m.rows, m.n, np.int64, self).copy()

    def left_out(self, task=0):
        """Return the rows of the file that were skipped.

        Parameters
        ----------
        <task>

        Returns
        -------
        list of tuple
            Row number (from 1), name and reason of each.
        """
        return [(r.row, text(r.id), text(r.reason)) for r in until_null(lib.kdr_result_left_out_at, self._result, self.index(task))]

    def confidence(self, task=0):
        """Return how certain each label of a data set is.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            One number per sample, from 0 (uncertain) to 1 (certain); None if
            unknown. :meth:`confidence_from` returns how it was measured.
        """
        task = self.index(task)
        return self._per_sample(lib.kdr_result_confidence(self._result, task, ffi.NULL), task, np.float64)

    def confidence_from(self, task=0):
        """Return how the confidence was measured.

        Parameters
        ----------
        <task>

        Returns
        -------
        str or None
            ``"method"``: the method estimates it. ``"share"``: share of the label
            in the method's probabilities. ``"softmax"``: the same from scores, not
            calibrated. ``"distance"``: from the distances to the nearest two
            cluster means.
        """
        out = ffi.new("const char **")
        lib.kdr_result_confidence(self._result, self.index(task), out)
        return text(out[0])

    def second(self, task=0):
        """Return the second-best label of each sample.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            Cluster numbers, -1 if there is none, or classes, None if there is none.
            None if unknown for all samples.
        """
        task = self.index(task)
        numbers = self._per_sample(lib.kdr_result_second(self._result, task), task, np.int64)
        if numbers is None or self.classes is None:
            return numbers
        classes = np.append(np.asarray(self.classes, object), None)
        return classes[numbers]

    def probabilities(self, task=-1):
        """Return the calibrated class probabilities of a target.

        Parameters
        ----------
        task : str or int, default=-1
            Name of the data set, or its number from 0. The default is the last one.

        Returns
        -------
        array or None
            One row per sample and one column for each of :attr:`classes`; None
            unless the job was run with ``probabilities=True``.
        """
        task, count = self.index(task), ffi.new("int64_t *")
        values = lib.kdr_result_probabilities(self._result, task, count)
        flat = self._per_sample(values, task, np.float64, count[0])
        return None if flat is None else flat.reshape(-1, count[0])

    @property
    def calibration(self):
        """How probabilities were calibrated, as a dict; None without probabilities.

        The keys are ``held_out`` (number of samples that the fit had not seen),
        ``temperature`` and ``label`` (learnt on them), ``accuracy`` and ``log_loss``.
        """
        c = lib.kdr_result_calibration(self._result)
        return None if c == ffi.NULL else {name: getattr(c, name) for name, _ in ffi.typeof("kdr_calibration").fields}

    def quality(self, task=0):
        """Return scores of the clusters of a data set that need no known classes.

        Parameters
        ----------
        <task>

        Returns
        -------
        dict or None
            Silhouette (-1 to 1, larger is better), Davies-Bouldin (smaller is
            better), Calinski-Harabasz (larger is better) and stability (up to 1,
            larger is better); None unless the job was run with ``quality=True``.
        """
        q = lib.kdr_result_quality(self._result, self.index(task))
        return None if q == ffi.NULL else quality_dict(q)

    def clusters(self, task=0):
        """Return the features that distinguish each cluster of a data set.

        Parameters
        ----------
        <task>

        Returns
        -------
        list of dict
            ``clusters`` of result.json: the number, the size and the distinctive
            features of each cluster.
        """
        return json.loads(self.to_json(samples=False))["tasks"][self.index(task)].get("clusters", [])

    def names(self, task=0):
        """Return what the clusters of a data set are called: the name that :meth:`rename_clusters` gave, or the known class
        (:func:`cluster`), else the title.

        Parameters
        ----------
        <task>

        Returns
        -------
        list
            Names by cluster number: ``names()[label]`` is the name of a label. None for a cluster without one.
        """
        numbers = set(self.numbers(task).tolist())
        found = [lib.kdr_result_name(self._result, n) if n in numbers else ffi.NULL for n in range(max(numbers, default=-1) + 1)]
        return [None if name == ffi.NULL else text(name) for name in found]

    def rename_clusters(self, names):
        """Give names to clusters. They are in result.json, reports, tables and models from then on.

        Parameters
        ----------
        names : dict or path
            The name of each cluster, by number; or a file with a number and a name in each line, such as ``3,families``. Other
            clusters keep their names.

        Raises
        ------
        ValueError
            If there is no cluster with a number, or if a name is empty or would be that of two clusters. Nothing changes then.
            (Numbers in a file that no cluster has become a warning.)

        Examples
        --------
        >>> import kindred
        >>> result = kindred.cluster([[1, 2], [1, 3], [8, 9], [8, 8]], 2, "kmeans")
        >>> result.rename_clusters({0: "low", 1: "high"})
        >>> result.names()
        ['low', 'high']
        """
        session, result = Session(), getattr(self, "_whole", self)._result
        if not hasattr(names, "items"):
            session.check(lib.kdr_result_read_names(session.ctx, result, chars(names)))
            return
        for number, name in names.items():
            if isinstance(number, bool) or not hasattr(number, "__index__") or not isinstance(name, str):
                raise ValueError(f"names has {number!r}: {name!r}: use the number of a cluster and a text")
        texts = [ffi.new("char[]", name.encode()) for name in names.values()]
        session.check(lib.kdr_result_rename(session.ctx, result, ffi.new("int64_t[]", [operator.index(n) for n in names]),
                                            ffi.new("const char *[]", texts), len(texts)))

    @property
    def levels(self):
        """Results by number of clusters, if several were fitted (a range, or 'auto'); one of them is equal to this result. Each has labels,
        confidence, second and arrays; `to_dict()["levels"]` also has the parents of clusters and what distinguishes the sides of splits."""
        levels = [Level(pointer, self) for pointer in until_null(lib.kdr_result_level_at, self._result)]
        return dict(zip([level["k"] for level in json.loads(self.to_json(samples=False))["levels"]], levels)) if levels else {}

    def cut(self, k):
        """Return the result for one of several numbers of clusters.

        Parameters
        ----------
        k : int
            One of the numbers that were fitted (:attr:`levels`).

        Returns
        -------
        Result
            Labels, confidence, second and arrays for `k` clusters.

        Raises
        ------
        ValueError
            If this number was not fitted.
        """
        levels = self.levels
        if k not in levels:
            raise ValueError(f"k is {k!r}: " + (f"the result has {', '.join(map(str, levels))} clusters" if levels else
                             "the result has one number of clusters; use a range such as range(3, 9) in cluster()"))
        return levels[k]

    def save_samples(self, path, task=0, force=False):
        """Write a CSV file with one line per sample: id, cluster or class, confidence,
        second-best label, and the cluster at each of `levels`; for targets of
        method auto also unlike_source and target_cluster.
        Texts that a spreadsheet would evaluate as a formula get an apostrophe.

        Parameters
        ----------
        path : path
            The file.
        <task>
        force : bool, default=False
            Replace an existing file.
        """
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_SAMPLES, self.index(task), chars(path),
                                                 force))

    def save_table(self, path, task=0, columns=None, force=False):
        """Write a copy of the CSV, TSV or Excel file that a data set was read from, with more columns: the label, and the name of the
        cluster, the confidence and the second-best label, if the result has them.

        Parameters
        ----------
        path : path
            The file to write. An Excel file stays one; if several of its sheets are data sets of the result, all of them get the columns.
        <task>
        columns : list of str, optional
            Columns to add, of ``"label"``, ``"name"``, ``"confidence"`` and ``"second"``.
        force : bool, default=False
            Replace an existing file.

        Raises
        ------
        UnsupportedError
            If the data set was not read from a table (:func:`read`).
        """
        session, wanted = Session(), ffi.NULL if columns is None else chars(columns if isinstance(columns, str) else ",".join(columns))
        session.check(lib.kdr_result_write_input(session.ctx, self._result, self.index(task), wanted, chars(path), force))

    def unlike_source(self, task=-1):
        """Return how little each sample of a target resembles the source.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            Rank of each sample, from 0 to 1 (least like the source); None if the
            method does not compute it. A high rank does not mean that a sample
            belongs to a class that the source lacks.
        """
        return self.arrays.get("unlike_source", [None] * len(self.tasks))[self.index(task)]

    def ask(self, task=-1):
        """Return the samples of a target that a person should label next.

        Parameters
        ----------
        <task>

        Returns
        -------
        array or None
            Row numbers from 0, most useful first; None unless :func:`transfer` was
            called with `ask`.
        """
        return self.arrays.get("ask", [None] * len(self.tasks))[self.index(task)]

    def save_ask(self, path, task=-1, force=False):
        """Write a CSV file with the samples of :meth:`ask` and an empty column for their classes.

        Fill in the column ``class`` and give the file to :func:`transfer` as
        `target_labels`.

        Parameters
        ----------
        path : path
            The file.
        <task>
        force : bool, default=False
            Replace an existing file.
        """
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_ASK, self.index(task), chars(path), force))

    def save_features(self, path, force=False):
        """Write a CSV file with the features that distinguish clusters.

        Parameters
        ----------
        path : path
            The file.
        force : bool, default=False
            Replace an existing file.
        """
        session = Session()
        session.check(lib.kdr_result_write_table(session.ctx, self._result, lib.KDR_TABLE_FEATURES, 0, chars(path), force))

    def to_json(self, samples=True):
        """Return the program's result.json as text.

        Parameters
        ----------
        samples : bool, default=True
            Whether to include the lists with an entry for each sample.

        Returns
        -------
        str
            The JSON text.
        """
        session, out, length = Session(), ffi.new("char **"), ffi.new("size_t *")
        session.check(lib.kdr_result_json(session.ctx, self._result, samples, out, length))
        try:
            return ffi.unpack(out[0], length[0]).decode("utf-8", "replace")
        finally:
            lib.kdr_free(session.ctx, out[0])

    def to_dict(self):
        """Return the program's result.json as a dict.

        Returns
        -------
        dict
            What ``json.loads`` makes of :meth:`to_json`.
        """
        return json.loads(self.to_json())

    def save(self, path, force=False):
        """Write result.json to a file.

        Parameters
        ----------
        path : path
            The file, which is written completely or not at all.
        force : bool, default=False
            Replace an existing file.
        """
        session = Session()
        session.check(lib.kdr_result_write(session.ctx, self._result, chars(path), force))

    def save_model(self, path, force=False):
        """Write a model file, which :func:`load_model` and ``kindred predict`` read.

        Parameters
        ----------
        path : path
            The file.
        force : bool, default=False
            Replace an existing file.

        Raises
        ------
        UnsupportedError
            If the method cannot label new samples.
        """
        session = Session()
        session.check(lib.kdr_model_save(session.ctx, chars(path), self._result, force))

    def model(self):
        """Return the model, which labels new samples.

        Returns
        -------
        Model
            A model in memory.

        Raises
        ------
        UnsupportedError
            If the method cannot label new samples.
        """
        session, out = Session(), ffi.new("kdr_model **")
        session.check(lib.kdr_model_new(session.ctx, self._result, out))
        return Model(out[0], self, self._values)

    def to_frame(self):
        """Return the labels as a pandas DataFrame with one row per labelled sample.

        Returns
        -------
        DataFrame
            Columns ``task``, ``id`` (if samples have names), ``label``, ``name`` (if
            some cluster has a name or title), ``confidence`` and ``second``.
        """
        import pandas
        parts = []
        for t, task in enumerate(self.tasks):
            labels = self.labels(t)
            if labels is None:
                continue
            names = self.names(t) if self.classes is None else []
            called = [names[label] if label >= 0 else None for label in labels] if any(names) else None
            columns = {"task": [task] * len(labels), "id": self.ids(t), "label": labels, "name": called, "confidence": self.confidence(t),
                       "second": self.second(t)}
            parts.append(pandas.DataFrame({name: values for name, values in columns.items() if values is not None}))
        return pandas.concat(parts, ignore_index=True) if parts else pandas.DataFrame(columns=["task", "label"])

    def __repr__(self):
        lines = [f"<kindred.Result of {self.method} on {len(self.tasks)} data set{'s' if len(self.tasks) > 1 else ''}"]
        for t, name in enumerate(self.tasks[:_SHOWN]):
            labels, sure = self.labels(t), self.confidence(t)
            if labels is None:
                lines.append(f"  {name}: no labels")
                continue
            named = labels[labels >= 0] if self.classes is None else labels[[each is not None for each in labels]]
            found, sizes = np.unique(named if self.classes is None else named.astype(np.asarray(self.classes).dtype), return_counts=True)
            shown = [f"{f}: {n}" for f, n in zip(found[:_SHOWN], sizes)] + (["..."] if len(found) > _SHOWN else [])
            kind = "cluster" if self.classes is None else "class"
            plural = kind + ("" if len(found) == 1 else "s" if kind == "cluster" else "es")
            known = "" if sure is None or not np.isfinite(sure).any() else f", mean confidence {np.nanmean(sure):.2f}"
            without = f", {len(labels) - len(named)} without a label" if len(named) < len(labels) else ""
            lines.append(f"  {name}: {len(labels)} samples in {len(found)} {plural} ({', '.join(shown)}){without}{known}")
        if len(self.tasks) > _SHOWN:
            lines.append(f"  and {len(self.tasks) - _SHOWN} more")
        for name, words in self.fields.items():
            if name.split(".")[0] == "k_evidence":  # k was estimated: of all data sets together, or of each
                lines.append(f"  {name[len('k_evidence.'):]}{': ' if '.' in name else ''}{words}")
        count = self.iterations
        lines.append(f"  {self.stop} after {count} iteration{'' if count == 1 else 's'}>")
        return "\n".join(lines)

    def _repr_html_(self):
        return Report(self)._repr_html_()


class Level(Result):
    """The result for one of several numbers of clusters."""

    def __init__(self, pointer, whole):
        self._result, self._whole, self._values = pointer, whole, None  # the memory is that of the whole result


@documented
class Model:
    """A fitted method that labels new samples.

    See Also
    --------
    Result.model : Returns the model of a result.
    load_model : Read a model file.

    Examples
    --------
    >>> import kindred
    >>> old, new = kindred.generate("blobs", samples=60, seed=1)
    >>> model = kindred.cluster(old, k=3, method="kmeans").model()
    >>> model
    <kindred.Model of kmeans on task1>
    >>> model.predict(new.X).shape
    (60,)
    """

    def __init__(self, pointer, keep=None, classes=None):
        self._model = ffi.gc(pointer, lib.kdr_model_free)
        self._keep, self._values = keep, classes

    @property
    def method(self):
        """Name of the method."""
        return text(lib.kdr_model_algo(self._model).id)

    @property
    def tasks(self):
        """Names of the data sets that the model was fitted on."""
        return [text(lib.kdr_model_task_name(self._model, t)) for t in range(lib.kdr_model_ntasks(self._model))]

    def index(self, task):
        """Return the number of a data set.

        Parameters
        ----------
        task : str or int
            Name of the data set, or its number from 0. Negative numbers count from
            the last.

        Returns
        -------
        int
            The number, from 0.

        Raises
        ------
        ValueError
            If no data set has this name or number.
        """
        return _index(self.tasks, task)

    def predict(self, X, task=None, threads=None, rename=None):
        """Label new samples.

        Parameters
        ----------
        X : table
            The samples. DataFrames and paths are read as the tables that the model
            was fitted on.
        task : str or int, optional
            The data set that the samples belong to. Needed if the model has
            several.
        threads : int, optional
            Number of worker threads. The default uses all available cores.
        rename : dict or path, optional
            New column names, as for :func:`read`.

        Returns
        -------
        array
            One label per sample.
        """
        return self.result(X, task, threads, rename).labels()

    def read(self, X, rename=None):
        """Read samples as the tables that the model was fitted on.

        Parameters
        ----------
        X : table
            The samples.
        rename : dict or path, optional
            New column names, as for :func:`read`.

        Returns
        -------
        Data
            The samples as a data set.
        """
        return self._read(Session(), X, rename)

    def _missing(self):
        """How missing values were handled in the tables that the model was fitted on, or None."""
        from ._jobs import reading
        return text(reading({"model": self})[0].missing)

    def _read(self, session, X, rename):
        from ._frames import is_plain, known_columns, renamed, with_missing
        from ._jobs import join_texts, read, read_frame, reading
        if is_path(X):
            return read(X, model=self, rename=rename)
        if is_texts(X):
            return join_texts(session, [([X], [None], "samples", True)], {"model": self})[0][0]
        X = renamed(X, rename)
        o = reading({"model": self})[0]
        if is_frame(X) and o.texts != ffi.NULL:
            raise ValueError("the model was fitted on texts: pass a list or Series of texts, such as the column of the DataFrame that has them")
        X = with_missing(X, text(o.missing))
        known = text(o.columns)
        if is_frame(X):
            X, unknown = known_columns(X, known, None if o.terms == ffi.NULL else [text(o.terms[i]) for i in range(o.nterms)])
            session.warnings += unknown
        if is_frame(X) and (known is not None or not is_plain(X)):
            return read_frame(session, X, "samples", {"model": self})[0]
        return as_data(session, X, None if isinstance(X, Data) else "samples")

    def result(self, X, task=None, threads=None, rename=None):
        """Label new samples and return everything that is known about the labels.

        Parameters
        ----------
        X : table
            The samples, as for :meth:`predict`.
        task : str or int, optional
            The data set that the samples belong to. Needed if the model has
            several.
        threads : int, optional
            Number of worker threads. The default uses all available cores.
        rename : dict or path, optional
            New column names, as for :func:`read`.

        Returns
        -------
        Result
            A result with one data set.
        """
        return self._apply(X, task, threads, rename)[1]

    def add(self, tasks, k=None, new_clusters="auto", *, map=False, explain=None, seed=1, threads=None, time_limit=None, progress=None, max_memory=None,
            device=None):
        """Cluster or label further data sets together with the samples that the model keeps.

        Clusters of the model keep their numbers; a model of :func:`transfer` labels
        the data sets with the classes of its sources. The model must be one of
        ``cluster(..., model=True)`` or ``transfer(..., model=True)`` with method
        ``auto``, or a file that was saved from one.

        Parameters
        ----------
        tasks : table, list of tables or dict of tables
            The data sets, read as the tables that the model was fitted on. Their
            names must differ from those of the model.
        k : int, list or dict, optional
            Number of clusters of each new data set, old and new ones together. The
            default is that of the model. Not for a model of :func:`transfer`.
        new_clusters : {'auto', 'yes', 'no'}, default='auto'
            Which clusters get new numbers: those that probably continue no cluster
            of the model, also doubtful ones, or none.
        map : bool, default=False
            Also compute a two-dimensional map of the new samples (:meth:`Result.map`).
        explain : table or texts, list or dict of these, optional
            What explains the clusters of the new data sets, as for :func:`cluster`.
        <seed>
        <threads>
        <limits>

        Returns
        -------
        Result
            The data sets of the model, without labels, and the new data sets. Its
            :meth:`Result.model` has all of them. After a transfer, the sources of the
            model and the new data sets.

        Raises
        ------
        ValueError
            If the data do not fit the model, or the model keeps no samples.

        Examples
        --------
        >>> import kindred
        >>> a, b, c = kindred.generate("blobs", tasks=3, k=3, samples=60, seed=1)
        >>> model = kindred.cluster({"a": a, "b": b}, k=3, model=True).model()
        >>> result = model.add({"c": c})
        >>> result.tasks
        ['a', 'b', 'c']
        >>> result.labels("c").shape
        (60,)
        """
        from ._jobs import Job, _pointers, as_tasks, clusters_text, explain_by, finish
        session = Session(seed_of(seed), threads, time_limit, progress, max_memory, device)
        tables, names = as_tasks(tasks)
        sets = []
        for i, (table, name) in enumerate(zip(tables, names)):
            data = self._read(session, table, None)
            given = is_path(table) or isinstance(table, Data)
            sets.append(as_data(session, data, name or (data.name if given else f"task{len(self.tasks) + i + 1}")))
        if explain is not None:
            explain_by(session, sets, range(len(sets)), names, explain, {})
        transfer = lib.kdr_model_algo(self._model).family == lib.KDR_FAMILY_TRANSFER
        job = Job(session, "transfer") if transfer else \
            Job(session, new_clusters=new_clusters, clusters=clusters_text(k, [data.name for data in sets]))
        o, out = job.o, ffi.new("kdr_result **")
        o.into, o.model, o.map = self._model, True, map
        if transfer:
            if k is not None:
                raise ValueError(f"k is {k!r}, but the model is one of transfer(), whose classes are those of the source")
            targets, keep = ffi.new("kdr_transfer_sets *"), _pointers(sets)
            lib.kdr_transfer_sets_init(targets)
            targets.targets, targets.ntargets = keep, len(sets)
            session.check(lib.kdr_transfer(session.ctx, targets, o, out), keeps=True)
            return finish(session, Result(out[0], self._values))
        session.check(lib.kdr_cluster(session.ctx, _pointers(sets), len(sets), o, out), keeps=True)
        return finish(session, Result(out[0]))

    def prepared(self, X, task=None):
        """Return new samples after the preprocessing that the model was fitted with.

        Parameters
        ----------
        X : table
            The samples, as for :meth:`predict`.
        task : str or int, optional
            The data set that the samples belong to. Needed if the model has
            several.

        Returns
        -------
        Data
            The preprocessed samples.
        """
        return self._apply(X, task, None)[0]

    def _apply(self, X, task, threads, rename=None):
        from ._jobs import finish
        session = Session(threads=threads)
        data = self._read(session, X, rename)
        options, out = ffi.new("kdr_predict_options *"), ffi.new("kdr_result **")
        lib.kdr_predict_options_init(options)
        name = ffi.NULL if task is None else chars(self.tasks[self.index(task)])
        options.task = name
        session.check(lib.kdr_predict(session.ctx, self._model, data._data, options, out))  # preprocesses data in place
        return data, finish(session, Result(out[0], self._values))

    def __repr__(self):
        return f"<kindred.Model of {self.method} on {', '.join(self.tasks)}>"


def load_model(path):
    """Read a model file.

    Parameters
    ----------
    path : path
        A file written by :meth:`Result.save_model` or by ``kindred cluster
        --save-model``.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a model file.

    See Also
    --------
    Result.save_model : Write a model file.

    Examples
    --------
    >>> import kindred
    >>> old, new = kindred.generate("blobs", samples=60, seed=1)
    >>> kindred.cluster(old, k=3, method="kmeans").save_model("model.h5")
    >>> kindred.load_model("model.h5").predict(new.X).shape
    (60,)
    """
    session, out = Session(), ffi.new("kdr_model **")
    session.check(lib.kdr_model_load(session.ctx, chars(path), out))
    return Model(out[0])


class Report:
    """A result as a self-contained HTML page, which notebooks display.

    Parameters
    ----------
    result : Result
        What to show.

    Attributes
    ----------
    html : str
        The page.

    See Also
    --------
    report : Makes a page of a result or a fitted estimator.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> page = kindred.Report(kindred.cluster([north, south], k=3, method="kmeans"))
    >>> page.save("page.html")
    """

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
        """Write the page to a file.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced.
        """
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
               "open_min": bool(d.open_min), "open_max": bool(d.open_max), "automatic": text(d.automatic), "help": in_python(text(d.help))}


def describe(algo):
    """An entry of the registry as a dict."""
    references = []
    while algo.references != ffi.NULL and algo.references[len(references)] != ffi.NULL:
        references.append(text(algo.references[len(references)]))
    flags = {name[len("KDR_ALGO_"):].lower() for name in dir(lib)
             if name.startswith("KDR_ALGO_") and isinstance(getattr(lib, name), int) and algo.flags & getattr(lib, name)}
    family = {lib.KDR_FAMILY_CLUSTER: "cluster", lib.KDR_FAMILY_TRANSFER: "transfer",
              lib.KDR_FAMILY_FEATURES: "features"}[algo.family]
    return {"id": text(algo.id), "class": text(algo.class_name), "title": text(algo.title), "summary": in_python(text(algo.summary)),
            "objective": text(algo.objective), "family": family, "flags": flags, "options": list(_options(algo)),
            "fields": [{"name": text(f.name), "per_task": bool(f.per_task), "shape": text(f.shape), "help": in_python(text(f.help))}
                       for f in until_null(lib.kdr_algo_field_at, algo)],
            "references": references}


def methods():
    """List all methods with their options, arrays and references.

    Returns
    -------
    list of dict
        One dict per method: ``id``, ``class`` (the estimator), ``title``,
        ``summary``, ``objective`` (what it minimises, with one line per symbol),
        ``family``, ``flags``, ``options``, ``fields`` (arrays of the result) and
        ``references``.

    See Also
    --------
    cluster : Takes the ``id`` of a method of the family cluster.
    transfer : Takes the ``id`` of a method of the family transfer.

    Examples
    --------
    >>> import kindred
    >>> kmeans = next(m for m in kindred.methods() if m["id"] == "kmeans")
    >>> kmeans["class"], kmeans["family"]
    ('KMeans', 'cluster')
    >>> [option["name"] for option in kmeans["options"]]
    ['start', 'spherical', 'n_init', 'max_iter', 'tol']
    """
    return [describe(lib.kdr_algo_at(i)) for i in range(lib.kdr_algo_count())]
