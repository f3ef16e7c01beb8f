"""Builds libkindred with CMake and the extension over it; the package carries both. SPDX-License-Identifier: BSD-3-Clause

KINDRED_LIBRARY names a libkindred.so that is built already; without it CMake builds one in build/python of the tree.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def version():
    text = (ROOT / "include/kindred/version.h").read_text()
    return re.search(r'KDR_VERSION\s+"([^"]+)"', text).group(1)


def library():
    """The shared library that the wheel carries."""
    given = os.environ.get("KINDRED_LIBRARY")
    if given:
        return Path(given).resolve()
    build = ROOT / "build" / "python"
    subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DKINDRED_TESTS=OFF",
                           "-DKINDRED_BENCH=OFF"])
    subprocess.check_call(["cmake", "--build", build, "--target", "kindred_shared", "--parallel"])
    return (build / "src" / "libkindred.so").resolve()


class BuildExt(build_ext):
    """The extension finds the library beside itself, wherever the package lies."""

    def build_extension(self, ext):
        built = library()
        home = Path(self.get_ext_fullpath(ext.name)).parent
        home.mkdir(parents=True, exist_ok=True)
        soname = re.search(r"SONAME\s+(\S+)", subprocess.check_output(["objdump", "-p", built], text=True)).group(1)
        shutil.copy2(built, home / soname)
        ext.extra_link_args = [str(home / soname), "-Wl,-rpath,$ORIGIN"]
        super().build_extension(ext)


setup(version=version(), cffi_modules=["kindred/_build.py:ffi"], cmdclass={"build_ext": BuildExt})
