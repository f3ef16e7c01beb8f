"""Cluster related data sets together, and label a data set from a labelled one.

Use the functions, which do what the commands of the program do, or the estimators,
which follow the conventions of scikit-learn. Every method that :func:`methods` lists is
an estimator.

Examples
--------
>>> import kindred
>>> north, south = kindred.generate("blobs", k=3, samples=100, seed=1)
>>> result = kindred.cluster({"north": north, "south": south}, k=3)
>>> labels = kindred.Auto(n_clusters=3).fit_predict([north, south])
>>> (labels[0] == result.labels("north")).all()
True

SPDX-License-Identifier: BSD-3-Clause
"""
from ._anndata import cluster_anndata, transfer_anndata
from ._data import Data
from ._errors import ConvergenceWarning, KindredWarning, NumericError, UnsupportedError, text as _text
from ._estimators import CLASSES as _CLASSES
from ._files import convert, inspect, relabel, vectorize, write, write_h5ad
from ._jobs import cluster, embed, evaluate, generate, prepare, read, relate, report, transfer
from ._kindred import lib as _lib
from ._results import Model, Report, Result, load_model, methods
from ._session import devices, set_device, set_max_unpacked

globals().update(_CLASSES)
__version__ = _text(_lib.kdr_version())
__all__ = ["ConvergenceWarning", "Data", "KindredWarning", "Model", "NumericError", "Report", "Result", "UnsupportedError",
           "cluster", "cluster_anndata", "convert", "devices", "embed", "evaluate", "generate", "inspect", "load_model", "methods", "prepare",
           "read", "relabel", "relate", "report", "set_device", "set_max_unpacked", "transfer", "transfer_anndata", "vectorize", "write", "write_h5ad", *_CLASSES]
