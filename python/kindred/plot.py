"""Pictures of results with matplotlib, which is needed only here. SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

from ._results import Result

__all__ = ["clusters", "map"]


def _result(result):
    found = getattr(result, "result_", result)
    if not isinstance(found, Result):
        raise TypeError(f"result has the type {type(result).__name__}: pass a Result or a fitted estimator")
    return found


def _axes(axes, count, width, height):
    """The axes that were passed, or new ones for `count` pictures in a row."""
    if axes is not None:
        axes = list(np.ravel(np.asarray(axes, dtype=object)))
        if len(axes) != count:
            raise ValueError(f"axes has length {len(axes)}, but {count} data set{' is' if count == 1 else 's are'} drawn: pass one for each")
        return axes
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("kindred.plot needs matplotlib: install it, or pass axes") from None
    return list(plt.subplots(1, count, figsize=(width * count, height), squeeze=False)[1][0])


def _tasks(result, tasks):
    """Numbers of the data sets to draw: those specified, or all that have labels. Sources of a transfer have none."""
    if tasks is None:
        return [t for t in range(len(result.tasks)) if result.labels(t) is not None]
    chosen = [result.index(t) for t in ([tasks] if isinstance(tasks, (str, int)) else tasks)]
    for t in chosen:
        if result.labels(t) is None:
            raise ValueError(f"data set '{result.tasks[t]}' has no labels to draw")
    return chosen


def map(result, tasks=None, axes=None, size=6):
    """Draw the two-dimensional map of the samples, one picture per data set, coloured by
    label.

    Parameters
    ----------
    result : Result or fitted estimator
        A result of ``cluster(..., map=True)`` or ``transfer(..., map=True)``, or an
        estimator after ``fit(..., map=True)``.
    tasks : str, int or list of them, optional
        The data sets to draw, by name or number. The default is all that have
        labels.
    axes : list of matplotlib axes, optional
        Axes to draw on, one per data set. By default a new figure is made.
    size : float, default=6
        Size of the points.

    Returns
    -------
    list of matplotlib axes
        The axes.

    Raises
    ------
    ValueError
        If the result has no map.
    ImportError
        If matplotlib is not installed.

    See Also
    --------
    kindred.plot.clusters : Draw the features that distinguish clusters.

    Examples
    --------
    >>> import kindred, kindred.plot
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> result = kindred.cluster([north, south], k=3, map=True)
    >>> axes = kindred.plot.map(result)
    """
    result = _result(result)
    chosen = _tasks(result, tasks)
    if any(result.map(t) is None for t in chosen):
        raise ValueError("the result has no map: compute it with map=True")
    names = sorted({str(v) for t in chosen for v in result.labels(t)}, key=lambda v: (len(v), v))
    axes = _axes(axes, len(chosen), 5, 4.5)
    for ax, t in zip(axes, chosen):
        xy, labels = result.map(t), np.asarray(result.labels(t)).astype(str)[result.map_rows(t)]
        for number, name in enumerate(names):
            rows = labels == name
            if rows.any():
                ax.scatter(xy[rows, 0], xy[rows, 1], s=size, c=f"C{number % 10}", label=name)
        ax.set_title(result.tasks[t])
        ax.set_xticks([])
        ax.set_yticks([])
        ax.legend(title="class" if result.classes is not None else "cluster", markerscale=2)
    return axes


def clusters(result, tasks=None, axes=None, features=4):
    """Draw the features that distinguish each cluster, one picture per data set.

    The length of a bar is the difference of the means inside and outside the cluster,
    in standard deviations.

    Parameters
    ----------
    result : Result or fitted estimator
        What to draw.
    tasks : str, int or list of them, optional
        The data sets to draw, by name or number. The default is all that have
        labels.
    axes : list of matplotlib axes, optional
        Axes to draw on, one per data set. By default a new figure is made.
    features : int, default=4
        Number of features per cluster.

    Returns
    -------
    list of matplotlib axes
        The axes.

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    See Also
    --------
    kindred.plot.map : Draw the map of the samples.

    Examples
    --------
    >>> import kindred, kindred.plot
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> result = kindred.cluster([north, south], k=3)
    >>> axes = kindred.plot.clusters(result)
    """
    result = _result(result)
    chosen = _tasks(result, tasks)
    axes = _axes(axes, len(chosen), 5.5, 4.5)
    for ax, t in zip(axes, chosen):
        names, effects, colours = [], [], []
        for number, cluster in enumerate(result.clusters(t)):
            title = cluster["class"] if "class" in cluster else cluster["number"]
            for feature in cluster.get("features", [])[:features]:
                names.append(f"{title}: {feature['name']}")
                effects.append(feature["effect"])
                colours.append(f"C{number % 10}")
        places = np.arange(len(names))[::-1]
        ax.barh(places, effects, color=colours)
        ax.set_yticks(places)
        ax.set_yticklabels(names)
        ax.axvline(0, color="0.5", linewidth=.8)
        ax.set_xlabel("difference of means, in standard deviations")
        ax.set_title(result.tasks[t])
    return axes
