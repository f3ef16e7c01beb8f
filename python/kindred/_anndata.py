"""Functions for AnnData objects in memory. SPDX-License-Identifier: BSD-3-Clause"""
import json

import numpy as np

from ._data import check_indices, is_sparse
from ._jobs import cluster, transfer


def _parts(adata, batch_key, layer, obsm, default):
    """The tables of the batches by name, and the rows of each."""
    if layer is not None and obsm is not None:
        raise ValueError(f"layer {layer!r} and obsm {obsm!r} cannot be combined: use one of them")
    for key, place in ((layer, "layers"), (obsm, "obsm")):
        if key is not None and key not in getattr(adata, place):
            raise ValueError(f"there is no {place}[{key!r}]: {place} has {', '.join(map(str, getattr(adata, place))) or 'no entries'}")
    if batch_key is None:
        rows = {default: np.arange(adata.shape[0])}
    elif batch_key not in adata.obs:
        raise ValueError(f"there is no obs[{batch_key!r}]: obs has the columns {', '.join(map(str, adata.obs.columns))}")
    else:
        missing = np.flatnonzero(adata.obs[batch_key].isna())
        if len(missing) > 0:
            raise ValueError(f"obs[{batch_key!r}] is missing for {len(missing)} of {adata.shape[0]} cells, the first of which is "
                             f"{str(adata.obs_names[missing[0]])!r}: every cell needs a batch; select the others with adata[adata.obs[{batch_key!r}].notna()]")
        batch = np.asarray(adata.obs[batch_key].astype(str))
        rows = {str(name): np.flatnonzero(batch == name) for name in sorted(set(batch))}
    return {name: _View(adata, r, layer, obsm) for name, r in rows.items()}, rows


class _View:
    """Some rows of an AnnData object: X, a layer or an array of obsm, with the names of rows and columns."""

    def __init__(self, adata, rows, layer, obsm):
        whole = adata.obsm[obsm] if obsm is not None else adata.layers[layer] if layer is not None else adata.X
        if is_sparse(whole):
            check_indices(whole, f"obsm[{obsm!r}]" if obsm is not None else f"layers[{layer!r}]" if layer is not None else "X")
        self.X = whole.iloc[rows].to_numpy() if hasattr(whole, "iloc") else whole[rows]
        self.obs, self.obs_names = adata.obs.iloc[rows], [str(adata.obs_names[i]) for i in rows]
        self.var_names = [f"{obsm}{j + 1}" for j in range(self.X.shape[1])] if obsm is not None else [str(v) for v in adata.var_names]
        self.shape = self.X.shape


def _explaining(adata, rows, explain, feature_names):
    """The genes that explain each batch, or None."""
    if explain is None:
        return None
    if explain != "X" and explain not in adata.layers:
        raise ValueError(f"explain is {explain!r}: use 'X' or a layer ({', '.join(map(str, adata.layers)) or 'there are none'})")
    views = [_View(adata, r, None if explain == "X" else explain, None) for r in rows.values()]
    if feature_names is not None:
        if feature_names not in adata.var:
            raise ValueError(f"there is no var[{feature_names!r}]: var has the columns {', '.join(map(str, adata.var.columns))}")
        for view in views:
            view.var_names = [str(v) for v in adata.var[feature_names]]
    return views


def _categories(result):
    """The names of clusters as categories, by number: those that were given or known, else the numbers. Two clusters are never one category."""
    out, numbers = [], {n for task in result.tasks for n in result.numbers(task).tolist()}
    given = {n: name for task in json.loads(result.to_json(samples=False))["tasks"] for n, name in enumerate(task.get("names", [])) if name is not None}
    for n in range(max(numbers, default=-1) + 1):
        name = given.get(n, str(n))
        while name in out:
            name += f" ({n})"
        out.append(name)
    return out


def _titles(result):
    """What clusters are called, by number: their names, titles or numbers. None if no cluster has a title."""
    titles = {}
    for task in result.tasks:
        for c in result.clusters(task):
            if c.get("title"):
                titles[c["number"]] = c["title"]
    if not titles:
        return None
    out = []
    for n, name in enumerate(_categories(result)):
        title = titles.get(n, name) if name == str(n) else name
        while title in out:
            title += f" ({n})"
        out.append(title)
    return out


# "_may_be_new" is one of version 0.2.
_COLUMNS = ("", "_title", "_confidence", "_second", "_match", "_unlike_source", "_may_be_new")


def _write(adata, key, rows, result, tasks, categories=None):
    """Writes obs[key], obs[key + "_title"] if clusters have titles, obs[key + "_confidence"], obs[key + "_second"],
    obs[key + "_match"], for a transfer obs[key + "_unlike_source"],
    obsm["X_" + key + "_rep"], obsm["X_" + key] if the result has a map, and uns[key]. Those of an earlier run are removed."""
    import pandas
    for column in _COLUMNS:
        if key + column in adata.obs:
            del adata.obs[key + column]
    for array in ("", "_rep", "_probabilities"):
        adata.obsm.pop(f"X_{key}{array}", None)
    n = adata.shape[0]
    labels, second, confidence, match, places, shared = np.full(n, None, object), np.full(n, None, object), np.full(n, np.nan), np.full(n, np.nan), None, None
    names, titles = (_categories(result), _titles(result)) if result.classes is None else (None, None)
    for task, r in zip(tasks, rows.values()):
        for column, values in ((labels, result.labels(task)), (second, result.second(task))):
            if values is not None and names is not None:
                column[r] = [names[v] if v >= 0 else None for v in values]
            elif values is not None:
                column[r] = [None if v is None else str(v) for v in values]
        sure, xy = result.confidence(task), result.map(task)
        coordinates = result.representation(task)
        if sure is not None:
            confidence[r] = sure
        if names is not None:
            chances = [result.match(number) for number in range(len(names))]
            match[r] = [chances[v] if v >= 0 else np.nan for v in result.labels(task)]
        if coordinates is not None:
            shared = np.full((n, coordinates.shape[1]), np.nan) if shared is None else shared
            shared[r] = coordinates
        if xy is not None:
            places = np.full((n, 2), np.nan) if places is None else places
            places[r[result.map_rows(task)]] = xy
    adata.obs[key] = pandas.Categorical(labels, names or categories)
    if titles:
        of = dict(zip(names, titles))
        adata.obs[f"{key}_title"] = pandas.Categorical([of.get(v) for v in labels], titles)
    adata.obs[f"{key}_confidence"] = confidence
    if any(v is not None for v in second):
        adata.obs[f"{key}_second"] = pandas.Categorical(second, names or categories)
    if np.isfinite(match).any():
        adata.obs[f"{key}_match"] = match
    unlike = result.arrays.get("unlike_source")
    if unlike is not None:
        values = np.full(n, np.nan)
        for task, r in zip(tasks, rows.values()):
            values[r] = np.nan if unlike[result.index(task)] is None else unlike[result.index(task)]
        adata.obs[f"{key}_unlike_source"] = values
    if places is not None:
        adata.obsm[f"X_{key}"] = places
    if shared is not None:
        adata.obsm[f"X_{key}_rep"] = shared
    adata.uns[key] = _statistics(result)


def _statistics(result):
    """Everything in a result except labels, in types that an h5ad file can hold."""
    import pandas
    clusters, features = [], []
    for task in result.tasks:
        for c in result.clusters(task):
            which = {"task": task, "cluster": str(c["class"] if "class" in c else c["number"])}
            clusters.append({**which, "size": c["size"]})
            features += [{**which, "feature": f["name"], **{name: v for name, v in f.items() if isinstance(v, (int, float))}}
                         for f in c.get("features", [])]
    out = {"method": result.method, "tasks": np.array(result.tasks, dtype=object),
           "objective": result.objective, "stop": result.stop,
           "clusters": pandas.DataFrame(clusters, index=[str(i) for i in range(len(clusters))]),
           "features": pandas.DataFrame(features, index=[str(i) for i in range(len(features))]),
           "advice": {task.replace("/", "_"): np.array(result.advice(task), dtype=object) for task in result.tasks},
           "warnings": np.array(result.warnings, dtype=object)}
    if result.relatedness is not None:
        out["relatedness"] = result.relatedness
    return out


def cluster_anndata(adata, batch_key=None, k=None, *, key="kindred", layer=None, obsm=None, explain=None, feature_names=None, **options):
    """Cluster the batches of an AnnData object together.

    The labels are written to ``obs[key]`` (names of known classes, otherwise numbers), the
    names or titles of the clusters to ``obs[key + "_title"]``, the
    confidence to ``obs[key + "_confidence"]``, the second choice to ``obs[key +
    "_second"]``, and the probability that the cluster is the same group in all
    batches to ``obs[key + "_match"]``. ``obsm["X_" + key + "_rep"]`` has coordinates
    that all batches share (:meth:`Result.representation`), for example for
    ``scanpy.pp.neighbors(adata, use_rep="X_kindred_rep")``. With ``map=True``, the
    map is written to ``obsm["X_" + key]``.
    ``uns[key]`` has the method, objective, relatedness, advice, and DataFrames of the
    clusters and of the features that distinguish them.

    Parameters
    ----------
    adata : AnnData
        The cells; it is changed.
    batch_key : str, optional
        Column of ``obs`` that splits the cells into data sets. By default they are
        one data set.
    k : int, list of int, dict or None, optional
        Number of clusters, as for :func:`cluster`.
    key : str, default='kindred'
        Name of the columns and entries to write.
    layer : str, optional
        Use ``layers[layer]``, such as ``"counts"``, instead of ``X``.
    obsm : str, optional
        Use ``obsm[obsm]``, such as ``"X_pca"``, instead of ``X``.
    explain : str, optional
        Explain the clusters by ``"X"`` or a layer, such as the genes of cells that are
        compared by ``obsm="X_pca"``.
    feature_names : str, optional
        With `explain`: column of ``var`` with the names of the features, such as gene
        symbols.
    **options : dict
        Further options of :func:`cluster`.

    Returns
    -------
    Result
        The result, in which each batch is a data set.

    Raises
    ------
    ValueError
        If ``obs`` has no column `batch_key`, or if the layer or array does not
        exist.

    See Also
    --------
    transfer_anndata : Label cells from a labelled object.
    write_h5ad : Write labels to a copy of a file.

    Examples
    --------
    >>> import anndata, kindred, numpy
    >>> first, second = kindred.generate("topics", samples=60, seed=1)
    >>> cells = anndata.AnnData(numpy.vstack([first.X.toarray(), second.X.toarray()]).astype("float32"))
    >>> cells.obs["batch"] = ["a"] * 60 + ["b"] * 60
    >>> result = kindred.cluster_anndata(cells, "batch", k=4)
    >>> cells.obs["kindred"].nunique()
    4
    """
    tables, rows = _parts(adata, batch_key, layer, obsm, "all")
    result = cluster(tables, k, explain=_explaining(adata, rows, explain, feature_names), **{"representation": True, **options})
    _write(adata, key, rows, result, range(len(rows)))
    adata.uns[key]["batch_key"] = batch_key or ""
    return result


def transfer_anndata(source, target, label_key, *, batch_key=None, key="kindred", layer=None, obsm=None, explain=None, feature_names=None, **options):
    """Label the cells of an AnnData object from a labelled one.

    The classes are written to `target` as :func:`cluster_anndata` does. ``obs[key +
    "_unlike_source"]`` ranks cells by how little they resemble the source. With
    ``probabilities=True``, ``obsm["X_" + key + "_probabilities"]`` has one column for
    each of ``uns[key]["classes"]``.

    Parameters
    ----------
    source : AnnData
        The labelled cells.
    target : AnnData
        The cells to label; it is changed.
    label_key : str
        Column of ``source.obs`` with the classes. Cells without a class are not
        used.
    batch_key : str, optional
        Column of ``obs`` that splits the cells of source and target into data sets,
        if it exists there.
    key : str, default='kindred'
        Name of the columns and entries to write.
    layer : str, optional
        Use ``layers[layer]``, such as ``"counts"``, instead of ``X``.
    obsm : str, optional
        Use ``obsm[obsm]``, such as ``"X_pca"``, instead of ``X``.
    explain, feature_names : str, optional
        What explains the classes of `target`, as for :func:`cluster_anndata`.
    **options : dict
        Further options of :func:`transfer`.

    Returns
    -------
    Result
        The result, whose last data sets are those of `target`.

    Raises
    ------
    ValueError
        If ``source.obs`` has no column `label_key`, or if it has no classes.

    See Also
    --------
    cluster_anndata : Cluster the batches of an object.

    Examples
    --------
    >>> import anndata, kindred
    >>> old, new = kindred.generate("topics", samples=60, seed=1)
    >>> reference = anndata.AnnData(old.X.toarray().astype("float32"))
    >>> reference.obs["kind"] = old.labels
    >>> cells = anndata.AnnData(new.X.toarray().astype("float32"))
    >>> result = kindred.transfer_anndata(reference, cells, "kind")
    >>> sorted(cells.obs["kindred"].unique())
    ['c0', 'c1', 'c2', 'c3']
    """
    import pandas
    if label_key not in source.obs:
        raise ValueError(f"there is no obs[{label_key!r}] in the source: obs has the columns {', '.join(map(str, source.obs.columns))}")
    given = source.obs[label_key].astype(object)
    known = np.flatnonzero(~pandas.isna(given).to_numpy())
    if len(known) == 0:
        raise ValueError(f"obs[{label_key!r}] of the source has no values: at least one cell must have a class")
    learnt = source[known]
    classes = given.to_numpy()[known].astype(str)
    sources, s_rows = _parts(learnt, batch_key if batch_key in source.obs else None, layer, obsm, "source")
    targets, rows = _parts(target, batch_key if batch_key in target.obs else None, layer, obsm, "target")
    if batch_key is not None and len(s_rows) + len(rows) == 2 and batch_key not in source.obs and batch_key not in target.obs:
        raise ValueError(f"there is no obs[{batch_key!r}] in the source or the target")
    both = set(sources) & set(targets)
    result = transfer({f"source {n}" if n in both else n: t for n, t in sources.items()}, [classes[r] for r in s_rows.values()],
                      {f"target {n}" if n in both else n: t for n, t in targets.items()},
                      explain=_explaining(target, rows, explain, feature_names), **{"representation": True, **options})
    tasks = range(len(result.tasks) - len(rows), len(result.tasks))
    _write(target, key, rows, result, tasks, sorted(set(classes)))
    target.uns[key].update(classes=np.array([str(c) for c in result.classes], dtype=object), label_key=label_key, batch_key=batch_key or "")
    if options.get("probabilities"):
        whole = np.zeros((target.shape[0], len(result.classes)))
        for task, r in zip(tasks, rows.values()):
            whole[r] = result.probabilities(task)
        target.obsm[f"X_{key}_probabilities"] = whole
    return result
