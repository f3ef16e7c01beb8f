"""Functions that several tests use. SPDX-License-Identifier: BSD-3-Clause"""
import os
import subprocess
import sys
import warnings

import numpy as np

import kindred

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))
from parts import PartsTest  # noqa: E402,F401

PROGRAM = os.environ.get("KINDRED", "kindred")
ENTRIES = {entry["id"]: entry for entry in kindred.methods() if entry["family"] != "features"}


def blobs(seed, n=40, k=3, d=5, shift=0.0):
    """Clearly separated groups, positive values, so that every method can be used."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).uniform(2, 12, (k, d))
    y = np.arange(n) % k
    return np.abs(centres[y] + shift + rng.normal(0, .3, (n, d))), y


def run(*args, cwd):
    done = subprocess.run([PROGRAM, *map(str, args)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def quiet(call, *args, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **how)
