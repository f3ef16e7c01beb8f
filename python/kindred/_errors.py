"""Exceptions and warnings, and the messages of the library in terms of Python. SPDX-License-Identifier: BSD-3-Clause"""
import re

try:
    from ._kindred import ffi, lib
except ModuleNotFoundError as missing:
    raise ImportError("the extension of kindred is not built: run Python in a folder other than python/ of the source, or install the package with "
                      "'pip install .' in python/ or 'make python' in the folder above") from missing


class NumericError(ArithmeticError):
    """A factorisation or an iteration broke down.

    See Also
    --------
    UnsupportedError : A request that this build or method cannot serve.

    Examples
    --------
    >>> import kindred
    >>> issubclass(kindred.NumericError, ArithmeticError)
    True
    """


class UnsupportedError(ValueError):
    """A valid request that is not available in this build or for this method.

    See Also
    --------
    NumericError : A computation that broke down.

    Examples
    --------
    >>> import kindred
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> try:
    ...     kindred.cluster(north, k=3, method="ncut").model()
    ... except kindred.UnsupportedError:
    ...     print("ncut cannot label new samples")
    ncut cannot label new samples
    """


class ConvergenceWarning(UserWarning):
    """A method reached its limit of iterations or time before it converged.

    See Also
    --------
    KindredWarning : All other warnings.

    Examples
    --------
    >>> import kindred, warnings
    >>> north, south = kindred.generate("blobs", samples=60, seed=1)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = kindred.cluster(north, k=3, method="kmeans", options={"max_iter": 1, "n_init": 1})
    >>> [w.category.__name__ for w in caught]
    ['ConvergenceWarning']
    """


class KindredWarning(UserWarning):
    """A warning about the data or the result.

    See Also
    --------
    ConvergenceWarning : A method that did not converge.

    Examples
    --------
    >>> import kindred, warnings
    >>> warnings.simplefilter("default", kindred.KindredWarning)
    """


_EXCEPTIONS = {
    lib.KDR_ERR_EXISTS: FileExistsError,
    lib.KDR_ERR_READ: OSError,
    lib.KDR_ERR_NUMERIC: NumericError,
    lib.KDR_ERR_MEMORY: MemoryError,
    lib.KDR_ERR_SIZE: MemoryError,
    lib.KDR_ERR_WRITE: OSError,
    lib.KDR_ERR_UNSUPPORTED: UnsupportedError,
    lib.KDR_ERR_INTERNAL: RuntimeError,
}


def check(ctx, status):
    """Raises the exception for a status; does nothing for success."""
    if status == lib.KDR_OK:
        return
    line = text(lib.kdr_context_error(ctx)) or text(lib.kdr_strerror(status))
    raise _EXCEPTIONS.get(status, ValueError)(in_python(line))


_OPTION = re.compile(r"(?<![\w-])(?:--([a-z][a-z-]*)|-k(?![\w-]))(?:[ =](?:('[^']*')|([a-z0-9-]+(?:,[0-9]+)*)(?=[\s,;:)]|$)))?")
_FLAGS = {"transpose": "transpose=True", "force": "force=True", "guard": "guard=True", "no-transfer": "transfer=False",
          "probabilities": "probabilities=True", "quality": "quality=True", "report": "map=True", "save-model": "model=True", "pooled": "pooled=True", "bridge": "bridges",
          "into": "add()", "to": "format", "max-unpacked": "set_max_unpacked()"}


def in_python(line):
    """A message of the library with its options in Python notation: `--missing mean` becomes missing='mean'. Values that kdr_choices does
    not list are quoted in messages."""
    def option(match):
        name, quoted, word = match[1] or "k", match[2], match[3] or ""
        rest = match[0][len(name) + (2 if match[1] else 1):]
        if name in _FLAGS and not line.startswith(":", match.end()):
            return _FLAGS[name] + rest
        spelt, listed, values = name.replace("-", "_"), lib.kdr_choices(name.encode()), []
        while listed != ffi.NULL and listed[len(values)] != ffi.NULL:
            values.append(text(listed[len(values)]))
        if name == "k":
            values = ["auto", "3-8"]
        if quoted and name == "rename" and "=" in quoted:
            return "rename={%r: %r}" % tuple(quoted[1:-1].split("=", 1))
        if quoted:
            return f"{spelt}={quoted}"
        if word.replace(",", "").isdigit():
            return f"{spelt}=[{word.replace(',', ', ')}]" if "," in word else f"{spelt}={word}"
        return f"{spelt}={word!r}" if word in values else spelt + rest
    return _OPTION.sub(option, line.replace("OLD=NEW", "'OLD=NEW'"))


def text(chars):
    """A C string as str; file names need not be UTF-8."""
    return None if chars == ffi.NULL else ffi.string(chars).decode("utf-8", "surrogateescape")


def chars(value):
    """A str as a C string, which lives as long as the returned object."""
    return ffi.new("char[]", str(value).encode("utf-8", "surrogateescape"))
