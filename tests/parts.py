"""Tests of optional parts (HDF5, expat, utf8proc, libstemmer, LIBSVM, zlib, iconv) are skipped by name where the build lacks the part."""
import contextlib
import functools
import re
import sys
import unittest

MISSING = re.compile(r"this build of kindred has no [A-Za-z0-9]+")


def missing_part(error):
    """Why the error is none: the part that this build lacks, or None."""
    found = MISSING.search(str(error))
    return found and found.group(0)


@contextlib.contextmanager
def skip_missing(name):
    """Turns an error about a missing part into a skipped test, with the reason on standard error."""
    try:
        yield
    except Exception as error:
        reason = missing_part(error)
        if not reason:
            raise
        print(f"skipped: {name}: {reason}", file=sys.stderr)
        raise unittest.SkipTest(reason) from None


class PartsTest(unittest.TestCase):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if name == "setUp" or name.startswith("test"):
                setattr(cls, name, cls._skipping(method))

    @staticmethod
    def _skipping(method):
        @functools.wraps(method)
        def run(self, *args, **kwargs):
            with skip_missing(self.id()):
                return method(self, *args, **kwargs)
        return run

    @contextlib.contextmanager
    def subTest(self, *args, **kwargs):
        with super().subTest(*args, **kwargs), skip_missing(self.id()):
            yield


def exit_status(main):
    """What a script of its own ends with: main's status, or 77 (skipped) where the build lacks a part."""
    try:
        return main()
    except Exception as error:
        reason = missing_part(error)
        if not reason:
            raise
        print(f"skipped: {reason}")
        return 77
