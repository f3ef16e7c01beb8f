"""Estimators in the style of scikit-learn, made from the registry. SPDX-License-Identifier: BSD-3-Clause

Nothing here names a method: each registered method becomes a class with its options as parameters, its arrays as fitted attributes,
and a docstring in numpydoc format. scikit-learn is used if it is installed, but it is not needed.
"""
import keyword
import numbers
import os
import re
import tempfile
from textwrap import wrap

import numpy as np

from ._data import Data, as_texts, check_matrix, distinct, is_anndata, is_frame, is_missing, is_path, is_sparse, is_texts, some_row
from ._docs import braces, choices
from ._frames import check_names, is_plain, renamed, with_missing
from ._jobs import TextSets, _of_texts, as_tasks, cluster, compares, explain_by, join_texts, load, read, transfer, with_vectors, without_texts
from ._progress import Bar
from ._results import load_model, methods
from ._session import Session

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
    from sklearn.exceptions import NotFittedError
except ImportError:
    class NotFittedError(ValueError, AttributeError):
        """The estimator has not been fitted."""

    class BaseEstimator:
        """The part of scikit-learn's BaseEstimator that is needed if scikit-learn is not installed."""

        @classmethod
        def _get_param_names(cls):
            import inspect
            return sorted(p for p in inspect.signature(cls.__init__).parameters if p != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self._get_param_names():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            return f"{type(self).__name__}()"

    class ClusterMixin:
        def fit_predict(self, X, y=None, **how):
            return self.fit(X, **how).labels_

    class ClassifierMixin:
        def score(self, X, y):
            return float(np.mean(self.predict(X) == np.asarray(y)))


def parameter(name):
    """The name of an option as a parameter: `lambda` is a keyword of Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _columns(x):
    """Column names of a table, if they are texts; else None."""
    if is_frame(x) and all(isinstance(c, str) for c in x.columns):
        return np.array(x.columns, dtype=object)
    if is_anndata(x):
        return np.array(x.var_names, dtype=object)
    if isinstance(x, Data) and x.feature_names:
        return np.array(x.feature_names, dtype=object)
    return None


def _width(x):
    return x.shape[1] if hasattr(x, "shape") and len(x.shape) == 2 else np.asarray(x).shape[1]


def _rows_of(x, rows):
    return x.iloc[rows] if is_frame(x) else x[rows]


def _rows_of_view(x, rows, count):
    """Some rows of a view that has one for each row of a table."""
    names = x[1] if isinstance(x, tuple) and len(x) == 2 else None
    x = x if names is None else x[0]
    if is_path(x):
        raise ValueError(f"explain is the path {os.fspath(x)!r}: with tasks, pass its contents")
    size = x.shape[0] if hasattr(x, "shape") else len(x)
    if size != count:
        raise ValueError(f"explain has {size} rows, but tasks has length {count}: one row for each entry is needed")
    part = x.iloc[rows] if hasattr(x, "iloc") else [x[i] for i in rows] if isinstance(x, (list, tuple)) else x[rows]
    return part if names is None else (part, names)


def _checked(x):
    """A table that has been checked; objects with names are returned unchanged."""
    return x if isinstance(x, (Data, TextSets)) or is_frame(x) or is_anndata(x) or is_path(x) or is_texts(x) else check_matrix(x)


READING = ("columns", "rename", "recode", "missing", "na", "decimal", "thousands", "skip_rows", "sheet", "id_column", "label_column", "task_column", "text_column", "texts", "vectors")


def _check_reading(how):
    for name in how:
        if name not in READING:
            raise TypeError(f"fit() got an unexpected keyword argument '{name}': {', '.join(READING)} are allowed")
    if "vectors" in how:
        how["texts"] = with_vectors(how.get("texts"), how.pop("vectors"))


def _whole(sets, values, unknown):
    """Values of the samples of all data sets of one table, in the order of its rows; `unknown` for rows that were skipped."""
    if all(v is None for v in values):
        return None
    rows = [d.rows for d in sets]
    if len(sets) == 1 and len(rows[0]) == sets[0].table_rows:
        return values[0]
    out = np.full(sets[0].table_rows, unknown, next(v.dtype for v in values if v is not None))
    for r, v in zip(rows, values):
        out[r] = unknown if v is None else v
    return out


def _until_stopped(job, *args, **how):
    """The result of a job, and the KeyboardInterrupt that ended it early, or None."""
    try:
        return job(*args, **how), None
    except KeyboardInterrupt as stop:
        if not hasattr(stop, "result"):
            raise
        return stop.result, stop
    except ValueError as error:  # estimators have k as n_clusters
        raise type(error)(re.sub("^k(?=[:=]| has )", "n_clusters", str(error))) from None


class Estimator(BaseEstimator):
    """Base class of all estimators: their entry in the registry, models, pickling."""

    _entry: dict = {}

    def _options(self):
        return {o["name"]: getattr(self, parameter(o["name"])) for o in self._entry["options"]
                if not self._is_default(o)}

    def _is_default(self, option):
        value = getattr(self, parameter(option["name"]))
        return value is None or (type(value) is type(option["default"]) and value == option["default"])

    def _remember(self, table, result):
        self.result_ = result
        self.n_features_in_ = _width(table)
        names = _columns(table)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_iter_ = max(1, result.iterations)
        self.objective_ = result.objective
        self.relatedness_ = result.relatedness
        self.correspondence_ = result.correspondence
        self.warnings_ = result.warnings
        self.stop_ = result.stop
        for name, array in result.arrays.items():
            if not hasattr(type(self), f"{name}_"):
                one = isinstance(array, list) and len(array) == 1
                setattr(self, f"{name}_", array[0] if one else array)

        predicts = "predict" in self._entry["flags"]
        self._fitted_model = result.model() if predicts else None
        if predicts:
            self.predict_agreement_ = {name: float(result.fields.get(f"predict_agreement.{name}", 1)) for t, name in enumerate(result.tasks)
                                       if result.labels(t) is not None}

    def _progress(self):
        return Bar(messages=self.verbose > 1) if self.verbose else None

    def _finished(self, stop):
        """Ends fit. After Ctrl-C, raises KeyboardInterrupt when the attributes have the best result so far."""
        self.interrupted_ = stop is not None
        if stop is not None:
            raise stop
        return self

    def _model(self):
        self._check_fitted()
        return self._fitted_model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_features_in_")

    def _check_fitted(self):
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                                 "arguments before using this estimator.")

    def _check_width(self, x):
        if getattr(self, "_text_column", None) is not None and (is_frame(x) or (is_path(x) and not os.path.isdir(x))):
            return read(x, text_column=self._text_column, model=self._fitted_model)
        x = _checked(with_missing(x, None if self._fitted_model is None else self._fitted_model._missing()))
        if not is_path(x) and not is_texts(x) and _columns(x) is None and _width(x) != self.n_features_in_:
            raise ValueError(f"X has {_width(x)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                             "features as input")
        return x

    def __getstate__(self):
        """A pickle contains the model as a model file, because results belong to the library."""
        state = dict(self.__dict__)
        state.pop("_fitted_model", None)
        if any(isinstance(s, Data) for s in state.get("_sources", ((),))[0]):
            state.pop("_sources")
        result = state.pop("result_", None)
        if result is not None and "predict" in self._entry["flags"]:
            with tempfile.TemporaryDirectory(prefix="kindred-") as folder:
                path = os.path.join(folder, "model.h5")
                result.save_model(path)
                with open(path, "rb") as file:
                    state["_saved_model"] = file.read()
            state["_values"] = result._values
        return state

    def __setstate__(self, state):
        saved, values = state.pop("_saved_model", None), state.pop("_values", None)
        self.__dict__.update(state)
        if saved is not None:
            with tempfile.TemporaryDirectory(prefix="kindred-") as folder:
                path = os.path.join(folder, "model.h5")
                with open(path, "wb") as file:
                    file.write(saved)
                self._fitted_model = load_model(path)
            self._fitted_model._values = values


def _with_tasks(X, tasks, reading):
    """One table and the data set of each row, as a frame with a task column, or as a dict of parts and the rows of each part."""
    groups, table = np.asarray(tasks), np.array(as_texts(X, "X"), dtype=object) if is_texts(X) else _checked(X)
    if len(groups) != table.shape[0]:
        raise ValueError(f"tasks has length {len(groups)}, but X has shape {table.shape}: one entry for each row is needed")
    if is_frame(table):
        title = "task"
        while title in table.columns:
            title += "_"
        return table.assign(**{title: groups.astype(str)}), {**reading, "task_column": title}, None
    names = list(dict.fromkeys(groups.tolist()))
    rows = [np.flatnonzero(groups == name) for name in names]
    return {str(name): _rows_of(table, r) for name, r in zip(names, rows)}, reading, rows


class Clusterer(ClusterMixin, Estimator):
    """Base class of the estimators that cluster."""

    def fit(self, X, y=None, tasks=None, init=None, map=False, known=None, explain=None, **reading):
        """Cluster one or more related data sets.

        Parameters
        ----------
        X : table, list of tables or dict of tables
            The data sets; tables are as for :func:`cluster`.
        y : object, optional
            Not used; for compatibility with scikit-learn.
        tasks : array, optional
            The data set that each row of a single table `X` belongs to.
        init : list of arrays, optional
            Initial labels of each data set, from 0.
        map : bool, default=False
            Also compute a two-dimensional map of the samples (``result_.map()``).
        known : array, path, list or dict, optional
            Classes of some samples, -1 or None if unknown, as for :func:`cluster`. With
            `tasks`, one class per row of `X`. They are not passed as `y`, because
            scikit-learn passes all classes to ``fit`` where it only scores with them.
        explain : table or texts, list or dict of these, optional
            What explains the clusters instead of `X`, as for :func:`cluster`. With
            `tasks`, one row per row of `X`.
        **reading : dict
            Options of :func:`cluster` for paths, DataFrames and texts: ``columns``,
            ``rename``, ``recode``, ``missing``, ``na``, ``decimal``, ``thousands``, ``skip_rows``,
            ``sheet``, ``id_column``,
            ``label_column``, ``task_column``, ``text_column``, ``texts`` and
            ``vectors``. Rows that ``missing="drop-row"`` skips, or that only one of
            `X` and `explain` has, have the label -1.

        Returns
        -------
        object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data or a parameter cannot be used.
        KeyboardInterrupt
            After Ctrl-C. The estimator then has the best result so far, and
            ``interrupted_`` is True.
        """
        _check_reading(reading)
        seen, rows = X, None
        if tasks is not None:
            X, reading, rows = _with_tasks(X, tasks, reading)
            explain = explain if explain is None or rows is None else [_rows_of_view(explain, r, len(tasks)) for r in rows]
            known = known if known is None or is_path(known) else [np.asarray(known, dtype=object)[r] for r in rows]
        tables, names = as_tasks(X)
        by_name = isinstance(X, dict) and not is_sparse(X)
        many = tables[0] is not X
        session = Session()
        alone = self._entry["id"] == "auto" and compares(self._options(), with_vectors(reading.get("texts"), reading.get("vectors")))
        (tables,) = join_texts(session, [(tables, names, "task", False)], _of_texts(reading, explain), alone=alone)
        with_texts, reading = reading, without_texts(reading)
        tables = [_checked(with_missing(t, reading.get("missing"))) for t in tables]
        sets, of = load(session, tables, names if many else ["task1"] if not is_path(X) and not isinstance(X, Data) else [None],
                        "task", reading, method=self._entry["id"], explained=explain is not None)
        if explain is not None:
            explain_by(session, sets, of, names, explain, with_texts)
        k = self.n_clusters
        for d in sets:
            if isinstance(k, numbers.Real) and d.shape[0] < k:
                raise ValueError(f"n_samples={d.shape[0]} should be >= n_clusters={k}.")
        result, stop = _until_stopped(cluster, sets, k, self._entry["id"], self._options(), init=init, map=map, model="predict" in self._entry["flags"],
                                      known=known,
                                      preprocess=self.preprocess, seed=self.random_state, threads=self.threads, device=self.device, progress=self._progress())
        first, self._text_column = seen if tasks is not None else tables[0], None if explain is not None else with_texts.get("text_column")
        self._remember(sets[0] if is_path(first) or is_texts(first) or isinstance(first, TextSets) else first, result)
        every = range(len(sets))

        def as_given(values, unknown):
            """Values of the samples of each data set in the form of X."""
            if rows is not None:
                whole = np.full(sum(len(r) for r in rows), unknown, np.asarray(unknown).dtype)
                for r, d, v in zip(rows, sets, values):
                    whole[r[d.rows]] = unknown if v is None else v
                return whole
            each = [_whole([sets[t] for t in every if of[t] == i], [values[t] for t in every if of[t] == i], unknown)
                    for i in range(len(tables))]
            return dict(zip(names, each)) if by_name else each if many else each[0]
        self.labels_ = as_given([result.labels(name) for name in result.tasks], -1)
        self.confidence_ = as_given([result.confidence(name) for name in result.tasks], np.nan)
        self.second_ = as_given([result.second(name) for name in result.tasks], -1)
        self.levels_ = {number: as_given([level.labels(name) for name in result.tasks], -1) for number, level in result.levels.items()}
        found = [result.clusters(name) for name in result.tasks]
        split = by_name or bool(reading.get("task_column"))

        def formed(values):
            return dict(zip(result.tasks, values)) if split else values if many else values[0]
        self.clusters_ = formed(found)
        self.n_clusters_ = formed([result.k(name) for name in result.tasks])
        centres = _centres(self._entry)
        if centres is not None and centres in result.arrays:
            self.cluster_centers_ = formed(result.arrays[centres])
        inertia = [v for name, v in result.fields.items() if name.startswith("inertia.")]
        if inertia:
            self.inertia_ = float(sum(inertia))
        self.advice_ = {name: result.advice(name) for name in result.tasks}
        self.sharing_ = {name: result.sharing(name) for name in result.tasks}
        return self._finished(stop)

    def fit_predict(self, X, y=None, tasks=None, init=None, **how):
        """Cluster data sets and return the labels.

        Parameters
        ----------
        X : table, list of tables or dict of tables
            The data sets, as for :meth:`fit`.
        y : object, optional
            Not used; for compatibility with scikit-learn.
        tasks : array, optional
            The data set that each row of a single table `X` belongs to.
        init : list of arrays, optional
            Initial labels of each data set, from 0.
        **how : dict
            Further options of :meth:`fit`.

        Returns
        -------
        array, list of arrays or dict of arrays
            ``labels_``.
        """
        return self.fit(X, y, tasks, init, **how).labels_

    def _task(self, task):
        return task


def _centres(entry):
    """The name of the array with the cluster centres of each data set in the space of its features, if a method has one."""
    named = (f["name"] for f in entry["fields"] if f["name"] == "centres" and f["shape"] == "k x d" and f["per_task"])
    return None if "recipe" in entry["flags"] else next(named, None)


class Centred:
    """transform and score, for methods whose clusters have centres in the space of the features."""

    def transform(self, X, task=None):
        """Return the distances of samples to the cluster centres.

        Parameters
        ----------
        X : table
            The samples, which are preprocessed as in :meth:`fit`.
        task : str or int, optional
            The data set whose centres are used, by name or number. Needed if the
            estimator was fitted on several.

        Returns
        -------
        array
            One row per sample and one column per cluster.
        """
        self._check_fitted()
        X = self._check_width(X)
        model, centres = self._model(), self.cluster_centers_
        if isinstance(centres, (list, dict)):
            if task is None and len(model.tasks) > 1:
                raise ValueError(f"task is needed: the estimator was fitted on {', '.join(model.tasks)}")
            centres = (list(centres.values()) if isinstance(centres, dict) else centres)[model.index(0 if task is None else task)]
        x = model.prepared(X, task).X
        squares = np.asarray(x.multiply(x).sum(axis=1)).reshape(-1, 1) if is_sparse(x) else (x * x).sum(axis=1)[:, None]
        return np.sqrt(np.maximum(0, squares - 2 * np.asarray(x @ centres.T) + (centres * centres).sum(axis=1)))

    def fit_transform(self, X, y=None, **how):
        """Cluster one data set and return the distances to the cluster centres.

        Parameters
        ----------
        X : table
            The data set.
        y : object, optional
            Not used; for compatibility with scikit-learn.
        **how : dict
            Further options of :meth:`fit`.

        Returns
        -------
        array
            One row per sample and one column per cluster.
        """
        return self.fit(X, y, **how).transform(X)

    def score(self, X, y=None, task=None):
        """Return minus the sum of squared distances to the nearest centres, as
        scikit-learn's KMeans does.

        Parameters
        ----------
        X : table
            The samples.
        y : object, optional
            Not used; for compatibility with scikit-learn.
        task : str or int, optional
            The data set whose centres are used, by name or number. Needed if the
            estimator was fitted on several.

        Returns
        -------
        float
            The score; larger is better.
        """
        return -float((self.transform(X, task).min(axis=1) ** 2).sum())


class Predicts:
    """predict, for methods whose models label new samples."""

    def predict(self, X, task=None, rename=None):
        """Label new samples.

        Parameters
        ----------
        X : table
            The samples. DataFrames and paths are read as the tables that the
            estimator was fitted on.
        task : str or int, optional
            The data set that the samples belong to, by name or number. Clustering
            methods need it if they were fitted on several data sets.
        rename : dict or path, optional
            New column names, as for :func:`read`.

        Returns
        -------
        array
            One label per sample.
        """
        self._check_fitted()
        return self._model().predict(self._check_width(X), self._task(task), self.threads, rename)


class Grows:
    """fit_more, for methods whose models keep samples."""

    def fit_more(self, X, n_clusters=None, new_clusters="auto", map=None, explain=None):
        """Add data sets to a fitted estimator.

        They are clustered together with up to 2,000 samples of each earlier data
        set. Earlier clusters keep their numbers.

        Parameters
        ----------
        X : table, list of tables or dict of tables
            The data sets, read as the tables that the estimator was fitted on.
        n_clusters : int, list or dict, optional
            Number of clusters of each of them, old and new ones together. The
            default is that of the earlier data sets.
        new_clusters : {'auto', 'yes', 'no'}, default='auto'
            Which clusters get new numbers: those that probably continue no earlier
            cluster, also doubtful ones, or none.
        map : bool, optional
            Also compute a two-dimensional map of the new samples (``result_.map()``).
            By default it is computed if the earlier data sets have one.
        explain : table or texts, list or dict of these, optional
            What explains the clusters of the new data sets, as for :func:`cluster`.

        Returns
        -------
        object
            The estimator. ``labels_`` and ``confidence_`` have the new data sets in
            addition to the earlier ones: in a list, or a dict if `X` or the data of
            :meth:`fit` are one. :meth:`predict` knows all data sets.
        """
        self._check_fitted()
        before = self._model().tasks
        if map is None:
            map = hasattr(self, "result_") and any(self.result_.map(t) is not None for t in range(len(before)))
        result, stop = _until_stopped(self._model().add, X, n_clusters, new_clusters, map=map, explain=explain, seed=self.random_state, threads=self.threads,
                                      device=self.device, progress=self._progress())
        by_name = isinstance(self.labels_, dict) or (isinstance(X, dict) and not is_sparse(X))
        new = result.tasks[len(before):]  # by name: a number may be the name of another

        def joined(earlier, values):
            if not isinstance(earlier, (list, dict)):
                earlier = [earlier]
            if by_name:
                return {**(earlier if isinstance(earlier, dict) else dict(zip(before, earlier))), **dict(zip(new, values))}
            return [*earlier, *values]
        self.labels_ = joined(self.labels_, [result.labels(name) for name in new])
        self.confidence_ = joined(self.confidence_, [result.confidence(name) for name in new])
        self.second_ = joined(self.second_, [result.second(name) for name in new])
        self.n_clusters_ = joined(self.n_clusters_, [result.k(name) for name in new])
        self.clusters_ = joined(self.clusters_ if isinstance(self.clusters_, dict) or len(before) > 1 else [self.clusters_],
                                [result.clusters(name) for name in new])
        self.advice_ = {**self.advice_, **{name: result.advice(name) for name in new}}
        self.predict_agreement_ = {**self.predict_agreement_,
                                   **{name: float(result.fields.get(f"predict_agreement.{name}", 1)) for name in new}}
        self.result_, self._fitted_model = result, result.model()
        return self._finished(stop)


class Probable:
    """predict_proba, for methods that learn from the source alone."""

    def predict_proba(self, X):
        """Return calibrated class probabilities of new samples.

        Each call fits the method four times on the samples that were passed to
        :meth:`fit`, to calibrate on samples that are held out.

        Parameters
        ----------
        X : table
            The samples.

        Returns
        -------
        array
            One row per sample and one column for each of ``classes_``.
        """
        self._check_fitted()
        x = self._check_width(X)
        if not hasattr(self, "_sources"):
            raise ValueError("predict_proba needs the samples that were fitted, but a pickle does not contain them if they were Data objects: fit again")
        sources, labels = self._sources
        x = self._model().read(x)
        result = transfer({f"source{i + 1}": s for i, s in enumerate(sources)}, labels, {"target": x}, self._entry["id"], self._options(),
                          probabilities=True, preprocess=self.preprocess, seed=self.random_state, threads=self.threads, device=self.device)
        return _in_order(result, -1, self.classes_)


def _in_order(result, task, classes):
    """Probabilities of a task with their columns in the order of classes_."""
    found, p = {c: j for j, c in enumerate(np.asarray(result.classes).tolist())}, result.probabilities(task)
    out = np.zeros((p.shape[0], len(classes)))
    for j, c in enumerate(classes.tolist()):
        out[:, j] = p[:, found[c]]
    return out


class Transfer(ClassifierMixin, Estimator):
    """Base class of the estimators that label a target from a labelled source."""

    def fit(self, X, y=None, X_target=None, bridge=None, sample_domain=None, views=None, probabilities=False, map=False, explain=None, **reading):
        """Learn from a labelled source and label a target.

        Parameters
        ----------
        X : table, list of tables or dict of tables
            The sources; tables are as for :func:`cluster`.
        y : array or list of arrays, optional
            The classes of each source. Leave it out if ``label_column`` names the
            column with the classes, or for folders of texts.
        X_target : table, list of tables or dict of tables, optional
            The targets. Methods that learn from the source alone do not need them.
        bridge : table, list of tables or dict of tables, optional
            Unlabelled data sets between source and target, for methods that use
            them.
        sample_domain : array, optional
            For a single table `X` with all samples, as in skada: positive numbers
            for rows of sources, negative numbers for rows of targets.
        views : table, list of tables or dict of tables, optional
            The samples of the bridges in the features of the target, if source and
            target have no features in common.
        probabilities : bool, default=False
            Also compute class probabilities of the targets (``probabilities_``),
            calibrated in three additional fits.
        map : bool, default=False
            Also compute a two-dimensional map of the samples (``result_.map()``).
        explain : table or texts, list or dict of these, optional
            What explains the classes of the targets, as for :func:`cluster`.
        **reading : dict
            Options of :func:`transfer` for paths, DataFrames and texts:
            ``columns``, ``rename``, ``recode``, ``missing``, ``na``, ``decimal``,
            ``id_column``, ``label_column``, ``task_column``, ``text_column``,
            ``texts`` and ``vectors``.

        Returns
        -------
        object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data or a parameter cannot be used, or if classes are missing.
        KeyboardInterrupt
            After Ctrl-C. The estimator then has the best result so far, and
            ``interrupted_`` is True.
        """
        _check_reading(reading)
        if y is None and not reading.get("label_column") and not _has_folders(X):
            raise ValueError("requires y to be passed, but the target y is None")
        if sample_domain is not None:
            domain = np.asarray(sample_domain)
            if X_target is not None:
                raise ValueError("sample_domain and X_target cannot be combined: pass one of them")
            if not ((domain > 0).any() and (domain < 0).any()):
                raise ValueError("sample_domain must have positive numbers (sources) and negative numbers (targets)")
            table, y = _checked(X), np.asarray(y)
            X = [_rows_of(table, np.flatnonzero(domain == d)) for d in np.unique(domain[domain > 0])]
            y = [y[domain == d] for d in np.unique(domain[domain > 0])]
            X_target = [_rows_of(table, np.flatnonzero(domain == d)) for d in np.unique(domain[domain < 0])[::-1]]
            X_target = X_target[0] if len(X_target) == 1 else X_target
        tables, names = as_tasks(X)
        t_tables, t_names = as_tasks(X_target) if X_target is not None else ([], [])
        many = X_target is not None and t_tables[0] is not X_target
        b_tables, b_names = as_tasks(bridge) if bridge is not None else ([], [])
        session, given = Session(), tables
        tables, t_tables, b_tables = join_texts(
            session, [(tables, names, "source", y is not None), (t_tables, t_names, "target", True), (b_tables, b_names, "bridge", True)],
            _of_texts(reading, explain))
        label_column, with_texts, reading = reading.get("label_column"), reading, without_texts(reading)
        tables = [_checked(with_missing(s, reading.get("missing"))) for s in tables]
        made = {"method": self._entry["id"], "family": "transfer", "more": True}
        sources, of = load(session, tables, names, "source1" if len(tables) == 1 else "source", reading, **made,
                           may_lack_labels=y is not None)
        if y is None:
            labels = [_classes_of(d, renamed(given[i], reading.get("rename")), label_column) for d, i in zip(sources, of)]
        else:
            labels = [np.asarray(y)] if len(sources) == 1 and (not isinstance(y, (list, tuple)) or np.ndim(y) == 1) else \
                [np.asarray(v) for v in y]
            labels = [_check_classes(l, s) for l, s in zip(labels, sources)]
        plain = X_target is None
        if plain and not self._stands_alone():
            raise ValueError(f"X_target is missing: {type(self).__name__} also learns from the samples to be labelled")
        # Methods that learn from the source alone do not use the target.
        if plain and explain is not None:
            raise ValueError("explain has no effect without X_target: it explains the classes of the target")
        targets, t_of = ([some_row(session, sources[0], "target")], None) if plain else load(
            session, t_tables, t_names, "target", reading, **made, may_lack_labels=True, explained=explain is not None)
        if explain is not None:
            explain_by(session, targets, t_of, t_names, explain, with_texts)
        bridges = () if bridge is None else load(session, b_tables, b_names, "bridge", reading, **made, may_lack_labels=True)[0]
        check_names([*sources, *targets, *bridges], reading if explain is None else {})
        result, stop = _until_stopped(transfer, sources, labels, targets, self._entry["id"], self._options(), bridges=bridges,
                                      views=views, probabilities=probabilities and not plain, map=map, model="predict" in self._entry["flags"],
                                      preprocess=self.preprocess, seed=self.random_state, threads=self.threads, device=self.device, progress=self._progress())
        self._remember(sources[0] if is_path(tables[0]) or isinstance(tables[0], TextSets) else tables[0], result)
        self._text_column = None if explain is not None else with_texts.get("text_column")
        every = np.concatenate(labels)
        self.classes_ = distinct(every[[not is_missing(v) for v in every.tolist()]], "y")[0]
        self._sources = [s if is_path(t) or is_frame(t) and (reading or not is_plain(t)) else t
                         for s, t in zip(sources, (tables[i] for i in of))], labels
        last = range(len(result.tasks) - len(targets), len(result.tasks))
        if probabilities and not plain:
            known = [_in_order(result, t, self.classes_) for t in last]
            self.probabilities_ = known if many else known[0]
            self.calibration_ = result.calibration
        if not plain:
            for name, values in (("confidence_", [result.confidence(t) for t in last]),
                                 ("second_", [result.second(t) for t in last]),
                                 ("clusters_", [result.clusters(t) for t in last])):
                setattr(self, name, values if many else values[0])
        found = [result.labels(t) for t in last]
        self.transduction_ = None if plain else (found if many else found[0])
        self.advice_ = {name: result.advice(t) for t, name in enumerate(result.tasks)}
        return self._finished(stop)

    def _stands_alone(self):
        return "inductive" in self._entry["flags"]

    def fit_predict(self, X, y=None, X_target=None, **how):
        """Learn from a labelled source and return the labels of the target.

        Parameters
        ----------
        X : table, list of tables or dict of tables
            The sources, as for :meth:`fit`.
        y : array or list of arrays, optional
            The classes of each source.
        X_target : table, list of tables or dict of tables, optional
            The targets.
        **how : dict
            Further options of :meth:`fit`.

        Returns
        -------
        array or list of arrays
            ``transduction_``.
        """
        return self.fit(X, y, X_target, **how).transduction_

    def _task(self, task):
        return self._model().tasks[-1] if task is None else task


def _has_folders(x):
    """Whether all tables are folders, whose sub-folders are classes."""
    return all(is_path(t) and os.path.isdir(t) for t in as_tasks(x)[0])


def _classes_of(data, table, column):
    """The known classes of a data set, with the values of a frame instead of texts."""
    values = {str(v): v for v in table[column].dropna().unique().tolist()} if is_frame(table) else {}
    return np.array([values.get(c, c) for c in data.labels])


def _check_classes(y, table):
    if y.ndim != 1:
        if y.ndim == 2 and y.shape[1] == 1:
            import warnings
            from sklearn.exceptions import DataConversionWarning
            warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning, stacklevel=3)
            y = y.ravel()
        else:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != table.shape[0]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{table.shape[0]}, {len(y)}]")
    if y.dtype.kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity.")
        if (y[np.isfinite(y)] != np.floor(y[np.isfinite(y)])).any():
            raise ValueError("Unknown label type: 'continuous'")
    return y


# --- classes from the registry -----------------------------------------------------------------------------------------


def _parameters(entry):
    """Parameters with their defaults, as source text."""
    out = ["n_clusters=8"] if entry["family"] == "cluster" else []
    out += [f"{parameter(o['name'])}={o['default']!r}" for o in entry["options"]]
    return out + ["preprocess='default'", "random_state=1", "threads=None", "device=None", "verbose=0"]


def _sentence(words):
    """A description of the registry as a sentence: those begin in lower case and end without a full stop."""
    words = words.replace("k='auto'", "n_clusters=None")
    return (words[:1].upper() + words[1:] if len(words.split(" ", 1)[0]) > 1 else words).rstrip(".") + "."


def _range(option):
    """The numbers that an option allows, as a sentence."""
    low, high, unbounded = f"{option['min']:g}", f"{option['max']:g}", option["max"] >= 1e5
    if option["type"] not in ("int", "real", "reals"):
        return ""
    if unbounded:
        return f" It must be {'greater than' if option['open_min'] else 'at least'} {low}."
    bounds = f"{low}{' (excluded)' if option['open_min'] else ''} to {high}{' (excluded)' if option['open_max'] else ''}"
    return f" It must be in the range {bounds}."


def _entry_of(name, kind, words):
    """A parameter or attribute in numpydoc's form."""
    return [f"{name} : {kind}", *wrap(words, 84, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)]


_TYPES = {"int": "int", "real": "float", "bool": "bool", "reals": "float or list of float"}
_FORM = "array, list of arrays or dict of arrays"
_SHARED = [("objective_", "array", "The value of the objective after each iteration."),
           ("n_iter_", "int", "Number of iterations."),
           ("stop_", "str", "Why the fit ended: converged, max_iter, time, cancelled or stalled."),
           ("interrupted_", "bool", "Whether Ctrl-C ended the fit."),
           ("relatedness_", "array or None", "How much each data set (row) draws on each other one (column)."),
           ("correspondence_", "list of dict", "How clusters of pairs of data sets match; see :attr:`Result.correspondence`."),
           ("advice_", "dict of list", "Advice about each data set, by name."),
           ("warnings_", "list of str", "Warnings about the data and the result."),
           ("n_features_in_", "int", "Number of features."),
           ("feature_names_in_", "array", "Names of the features, if the data have names."),
           ("result_", "Result", "The result, with everything else that is known.")]
_CLUSTERED = [("labels_", _FORM, "Cluster of each sample, from 0, or -1 if it has no content: an array for one table, a list for a list, a dict for a dict."),
              ("n_clusters_", "int, list or dict", "Number of clusters of each data set."),
              ("confidence_", _FORM, "How certain each label is, from 0 to 1."),
              ("sharing_", "dict", "What each data set has from the others, by name; see :meth:`Result.sharing`."),
              ("second_", _FORM, "The second-best cluster of each sample; -1 if there is none."),
              ("clusters_", "list of dict", "Features that distinguish each cluster; see :meth:`Result.clusters`.")]
_LABELLED = [("transduction_", "array or list of arrays", "Labels of the target; None without a target."),
             ("classes_", "array", "The classes."),
             ("confidence_", "array or list of arrays", "How certain each label is, from 0 to 1."),
             ("second_", "array or list of arrays", "The second-best label of each sample; None if there is none."),
             ("clusters_", "list of dict", "Features that distinguish each class; see :meth:`Result.clusters`.")]


def _example(entry):
    """An example that runs, on data that the method can use."""
    design, name = "topics" if "nonneg" in entry["flags"] else "blobs", entry["class"]
    if entry["family"] == "cluster":
        return [f'>>> north, south = kindred.generate("{design}", k=3, samples=60, seed=1)',
                f'>>> model = kindred.{name}(n_clusters=3).fit({{"north": north, "south": south}})',
                '>>> model.labels_["south"].shape', "(60,)"]
    bridge = "bridge" in entry["flags"]
    return [f'>>> old, {"between, " if bridge else ""}new = kindred.generate("{design}", tasks={3 if bridge else 2}, k=3, samples=60, seed=1)',
            f">>> model = kindred.{name}().fit(old, old.labels, new{', bridge=between' if bridge else ''})",
            ">>> model.transduction_.shape", "(60,)"]


def _document(entry):
    """The docstring of an estimator, in numpydoc's form."""
    clusters = entry["family"] == "cluster"
    job = "cluster" if clusters else "transfer"
    lines = [f"{entry['title'][:1].upper()}{entry['title'][1:]}.", "", *wrap(_sentence(entry["summary"]), 84, break_on_hyphens=False), "",
             f"This is the method ``{entry['id']}`` of :func:`{job}`.", "", "Parameters", "----------"]
    if clusters:
        found = " None and ``\"auto\"`` estimate it." if "auto_k" in entry["flags"] else ""
        lines += _entry_of("n_clusters", "int, range, str, list or dict, default=8",
                           f"Number of clusters: one for all data sets, or one for each. A range such as ``range(3, 9)`` or ``\"3-8\"`` fits every number in it (`levels_`).{found}")
    for o in entry["options"]:
        kind = braces(o["choices"]) if o["choices"] else _TYPES[o["type"]]
        lines += _entry_of(parameter(o["name"]), f"{kind}, default={o['default']!r}", _sentence(o["help"]) + _range(o))
    lines += _entry_of("preprocess", f"{braces(choices('preprocess'))}, default='default'", "With ``\"default\"``, kindred chooses the preprocessing "
                       "by the kind of data. ``\"by-data\"`` also scales the rows of dense data to unit length. ``\"none\"`` uses the data as they are.")
    lines += _entry_of("random_state", "int, RandomState, Generator or None, default=1", "Seed of all random choices. An int gives the same labels as "
                       "``--seed`` of the program. None draws a new seed.")
    lines += _entry_of("threads", "int, optional", "Number of worker threads. The default uses all available cores. Results do not depend on it.")
    lines += _entry_of("device", "{'auto', 'cpu', 'cuda', 'cuda:N'}, optional", "Where to compute large matrix products. By default the device of "
                       ":func:`set_device`, else ``\"auto\"``.")
    lines += _entry_of("verbose", "int, default=0", "1 shows a progress bar with the remaining time, 2 also prints messages.")
    lines += ["", "Attributes", "----------"]
    attributes = (_CLUSTERED if clusters else _LABELLED) + _SHARED
    if _centres(entry) is not None:
        attributes = attributes + [("cluster_centers_", _FORM, "Centres of the clusters, after preprocessing. ``result_.numbers(task)`` has the label of each row."),
                                   ("inertia_", "float", "Sum of squared distances to the nearest centres, if the method computes it.")]
    if "predict" in entry["flags"]:
        attributes = attributes + [("predict_agreement_", "dict of float",
                                    "Fraction of the samples of each data set for which `predict` alone would give the same label, by name.")]
    known = {name for name, _, _ in attributes}
    for attribute in attributes:
        lines += _entry_of(*attribute)
    for f in entry["fields"]:
        if f"{f['name']}_" not in known:
            lines += _entry_of(f"{f['name']}_", f"{'array or list of arrays' if f['per_task'] else 'array'} ({f['shape']})", _sentence(f["help"]))
    lines += ["", "See Also", "--------", f"{job} : The same as a function.", "report : Show the result as a page.", "", "References", "----------"]
    for reference in entry["references"]:
        lines += wrap(reference, 84, initial_indent="* ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([*lines, "", "Examples", "--------", ">>> import kindred", *_example(entry), ""])


def make_class(entry):
    """The estimator of a registered method."""
    base = Clusterer if entry["family"] == "cluster" else Transfer
    bases = (Predicts, base) if "predict" in entry["flags"] else (base,)
    if base is Clusterer and "predict" in entry["flags"] and _centres(entry) is not None:
        bases = (Centred, *bases)
    if base is Transfer and "inductive" in entry["flags"]:
        bases = (Probable, *bases)
    if entry["id"] == "auto":
        bases = (Grows, *bases)
    names = [p.split("=")[0] for p in _parameters(entry)]
    source = f"def __init__(self, *, {', '.join(_parameters(entry))}):\n" + "".join(
        f"    self.{n} = {n}\n" for n in names)
    scope: dict = {}
    exec(source, scope)  # as dataclasses do: scikit-learn needs the parameters in the signature
    return type(entry["class"], bases, {"__init__": scope["__init__"], "__doc__": _document(entry), "_entry": entry,
                                        "__module__": "kindred", "__qualname__": entry["class"],
                                        "_more_tags": _tags(entry)})


def _tags(entry):
    """Tags for scikit-learn's own checks."""
    def _more_tags(self):
        tags = {"requires_y": entry["family"] == "transfer"}
        if "nonneg" in entry["flags"]:
            tags["requires_positive_X"] = True
        return tags
    return _more_tags


CLASSES = {entry["class"]: make_class(entry) for entry in methods() if entry["family"] != "features"}
