"""kindred: clustering related data sets together, and carrying labels from one to another.

    import kindred
    kindred.Auto(n_clusters=4).fit_predict([X1, X2, X3])              # scikit-learn's manner
    kindred.cluster({"texas": X1, "cornell": X2}, k=4).advice("texas")  # the program's

Every method that `kindred methods` lists is a class here, made from the library's registry.
SPDX-License-Identifier: BSD-3-Clause
"""
from ._anndata import cluster_anndata, transfer_anndata
from ._data import Data
from ._errors import ConvergenceWarning, KindredWarning, NumericError, UnsupportedError, text as _text
from ._estimators import CLASSES as _CLASSES
from ._files import convert, inspect, vectorize, write, write_h5ad
from ._jobs import cluster, embed, estimate, evaluate, generate, prepare, read, relate, report, transfer
from ._kindred import lib as _lib
from ._results import Model, Report, Result, load_model, methods
from ._session import devices, set_device

globals().update(_CLASSES)
__version__ = _text(_lib.kdr_version())
__all__ = ["ConvergenceWarning", "Data", "KindredWarning", "Model", "NumericError", "Report", "Result", "UnsupportedError",
           "cluster", "cluster_anndata", "convert", "devices", "embed", "estimate", "evaluate", "generate", "inspect", "load_model", "methods", "prepare",
           "read", "relate", "report", "set_device", "transfer", "transfer_anndata", "vectorize", "write", "write_h5ad", *_CLASSES]
