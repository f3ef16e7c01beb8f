"""Parameter descriptions that several docstrings share. SPDX-License-Identifier: BSD-3-Clause

A docstring includes a group by a line such as "<reading>" in its list of parameters. The values of choices come from the library.
"""
import inspect
import re

from ._errors import text
from ._kindred import ffi, lib


def choices(option):
    """The values that the library lists for an option of the command line."""
    listed, out = lib.kdr_choices(option.encode()), []
    while listed != ffi.NULL and listed[len(out)] != ffi.NULL:
        out.append(text(listed[len(out)]))
    return out


def braces(values):
    """The values of a choice as numpydoc writes them: {'a', 'b'}."""
    return "{" + ", ".join(map(repr, values)) + "}"


_GROUPS = {
    "model": """\
model : bool, default=False
    Also compare the labels of the samples with those that a saved model would
    predict for them; `Result.fields` has the fraction that agrees as
    ``predict_agreement.NAME``, unless it is 1. An error if the method cannot
    predict. The model of ``auto`` then keeps samples: data sets can be added to it
    (:meth:`Model.add`), and ``cluster`` labels new samples by a vote.""",
    "kept": """\
report_features : int, optional
    With `map`: number of features that the report gets for colouring and
    comparing. The default is 200; 0 includes none.
model_size : int, optional
    With `model`: keep at most this number of samples of each data set. The
    default is 2000.
model_without_samples : bool, default=False
    With `model`: keep means and covariances of the clusters instead of samples.""",
    "reading": f"""\
columns : str, list of str or dict, optional
    The columns to use: a list of names; a dict that maps names to ``"number"``,
    ``"category"``, ``"date"``, ``"id"``, ``"text"``, or None to skip the column; or
    text as for ``--columns`` of the program. Only for paths and DataFrames.
rename : dict or path, optional
    New column names by old ones, or a CSV file with an old and a new name on each
    line. All other options refer to the new names.
recode : dict or path, optional
    New values by old ones for each column, such as ``{{"smoker": {{"ja": "yes"}}}}``,
    None for a missing value, or a CSV file with column, old and new. Models keep
    it and `rename`.
missing : {braces(choices("missing"))}, optional
    How to handle missing values. By default those of tables are kept if the method
    skips them, and are an error otherwise; NaN in arrays is always an error.
na : str or list of str, optional
    Further texts that mean a missing value, besides ``NA``, ``NaN``, ``null`` and
    similar ones.
decimal : {{'.', ','}}, optional
    Decimal sign of numbers. By default it is detected for each column.
thousands : {{'.', ',', "'", 'space', 'none'}}, optional
    What separates thousands. By default it is detected for each column.
skip_rows : int or 'auto', optional
    Number of rows above the header of a file. By default titles above the header
    are found.
sheet : str, optional
    Sheet of a workbook; ``"all"``: each sheet is a data set. By default it is the
    first.
id_column : str, optional
    Column with the sample names.
label_column : str, optional
    Column with the known classes.
task_column : str, optional
    Column that splits the rows of a table into data sets.""",
    "texts": """\
text_column : str, optional
    Column of a DataFrame, CSV or Excel file, or field of a JSON lines file, whose words
    are counted.
texts : dict, optional
    Options of :func:`vectorize`, such as ``{"stemmer": "none", "min_df": 5}``. The
    others are chosen from the texts.
vectors : path, optional
    File of word vectors (word2vec text, GloVe, fastText ``.vec``). If texts are short,
    they are compared by the means of their vectors and explained by their words.""",
    "preparing": f"""\
weight : {braces(choices("weight"))}, optional
    How to weight entries: 1 if not zero (``"binary"``), log(1 + x) (``"log1p"``), the
    same after scaling each row to the median row sum (``"cpm"``), tf-idf, or square
    root (``"sqrt"``).
norm : {braces(choices("norm"))}, optional
    Scale each row to length 1 by the sum of absolute values or by the Euclidean norm.
scale : {braces(choices("scale"))}, optional
    Scale each column: to standard deviation 1 and, for dense data, mean 0
    (``"standard"``), to the range 0 to 1 (``"minmax"``), or as suits a table of
    numbers and categories (``"table"``).
features : {braces(choices("features"))}, optional
    How to match the columns of several data sets. By default they are matched by
    name if all data sets have column names, and by position otherwise. Of genes,
    only those that all data sets have are used by default.
top_features : int, optional
    Keep only this number of features, ranked by `top_by`.
top_by : {braces(choices("top-by"))}, optional
    Rank features by the number of samples in which they are not zero, by variance,
    or by variance beyond what the mean explains (for molecule counts). The default
    is ``"df"``.""",
    "fit_on": f"""\
fit_on : {braces(choices("fit-on"))}, optional
    Fit the preprocessing on all data sets together (the default) or on each one
    alone.""",
    "preprocess": f"""\
preprocess : {braces(choices("preprocess"))}, default='default'
    With ``"default"``, kindred chooses the preprocessing by the kind of data,
    unless `weight`, `norm` or `scale` is given. ``"by-data"`` also scales the rows
    of dense data to unit length, as ``auto`` does. ``"none"`` uses the data as they
    are, after `weight`, `norm` and `scale`.""",
    "seed": """\
seed : int, RandomState, Generator or None, default=1
    Seed of all random choices. An int gives the same result as ``--seed`` of the
    program. None draws a new seed.""",
    "threads": """\
threads : int, optional
    Number of worker threads. The default uses all available cores. Results do not
    depend on it.""",
    "limits": """\
time_limit : float, optional
    Stop after this number of seconds and return the best result so far.
progress : bool or callable, optional
    True shows a progress bar. A function is called with a dict for each event and
    stops the job if it returns True.
max_memory : float, optional
    Memory limit in bytes. A job that allocates more raises :class:`MemoryError`. The
    arrays that you pass do not count.
device : {'auto', 'cpu', 'cuda', 'cuda:N'}, optional
    Where to compute large matrix products. By default the device of
    :func:`set_device`, else ``"auto"``: a GPU, if one is available and the job is
    large enough to benefit.""",
    "other_reading": """\
**reading : dict
    Options of :func:`read` for paths and DataFrames.""",
    "task": """\
task : str or int, default=0
    Name of the data set, or its number from 0. Negative numbers count from the
    last.""",
}


def documented(thing):
    """Replaces the lines that name a group in the docstring of a function, or of a class and its methods."""
    if inspect.isclass(thing):
        for value in vars(thing).values():
            if inspect.isfunction(value):
                documented(value)
    if thing.__doc__:  # python -OO has none
        thing.__doc__ = re.sub(r"^( *)<(\w+)>$", lambda m: "\n".join(m[1] + line for line in _GROUPS[m[2]].split("\n")), thing.__doc__,
                               flags=re.M)
    return thing
