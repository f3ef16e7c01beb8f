"""Builds libkindred with CMake and the extension that uses it; the package contains both. SPDX-License-Identifier: BSD-3-Clause

Set KINDRED_LIBRARY to use a libkindred.so that has been built; by default CMake builds one in build/python. Set KINDRED_BUNDLE=no if
the library is installed separately, as in packages of distributions: the extension is then linked with it, and the package has no copy.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def version():
    return (ROOT / "VERSION").read_text().strip()


def library():
    """The shared library that becomes a part of the package."""
    given = os.environ.get("KINDRED_LIBRARY")
    if given:
        return Path(given).resolve()
    build = ROOT / "build" / "python"
    subprocess.check_call(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DKINDRED_TESTS=OFF",
                           "-DKINDRED_BENCH=OFF"])
    subprocess.check_call(["cmake", "--build", build, "--target", "kindred_shared",
                           "--parallel", str(os.cpu_count() or 1)])  # without a number, make runs all at once
    return (build / "src" / "libkindred.so").resolve()


class BuildExt(build_ext):
    """Puts the library into the folder of the extension, which finds it there."""

    def build_extension(self, ext):
        built = library()
        if os.environ.get("KINDRED_BUNDLE") == "no":
            ext.extra_link_args = [str(built)]
            super().build_extension(ext)
            return
        home = Path(self.get_ext_fullpath(ext.name)).parent
        home.mkdir(parents=True, exist_ok=True)
        soname = re.search(r"SONAME\s+(\S+)", subprocess.check_output(["objdump", "-p", built], text=True)).group(1)
        shutil.copy2(built, home / soname)
        ext.extra_link_args = [str(home / soname), "-Wl,-rpath,$ORIGIN"]
        super().build_extension(ext)


class BuildPy(build_py):
    """Puts the plans of kindred.bench into the package."""

    def run(self):
        super().run()
        shutil.copytree(ROOT / "bench" / "plans", Path(self.build_lib) / "kindred" / "bench" / "plans", dirs_exist_ok=True)


# The extension uses the limited API: one wheel for CPython 3.9 and every later version.
setup(version=version(), cffi_modules=["kindred/_build.py:ffi"], cmdclass={"build_ext": BuildExt, "build_py": BuildPy},
      options={"bdist_wheel": {"py_limited_api": "cp39"}})
