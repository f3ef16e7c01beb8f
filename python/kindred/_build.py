"""Builds the extension from the declarations of the public headers. SPDX-License-Identifier: BSD-3-Clause

cffi in API mode: the C compiler checks each declaration against the headers, so that a struct that grew or a function that
changed is found when building, not when crashing. Nothing is written twice: the headers are the list.
"""
import re
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).resolve().parents[2] / "include"


def declarations(header, seen):
    """The declarations of a header and of those it includes, in the subset of C that cffi reads."""
    path = INCLUDE / header
    if path in seen:
        return ""
    seen.add(path)
    text = path.read_text()
    before = "".join(declarations(name, seen) for name in re.findall(r'#include "(kindred/[^"]+)"', text))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    text = re.sub(r"^KDR_DEFINE_INIT\((\w+)\)", r"void \1_init(\1 *options);", text, flags=re.M)
    text = re.sub(r"^static inline (.*?)\n\{.*?^}", r"\1;", text, flags=re.M | re.S)
    text = re.sub(r'extern "C" \{|^}\s*$', "", text, flags=re.M)
    text = re.sub(r"\bKDR_(?:API|EXPERIMENTAL)\b|\bKDR_PRINTF\([^)]*\)", "", text)
    text = re.sub(r"(\bKDR_\w+ = )[^,}\n]+", r"\1...", text)         # values of constants: the compiler knows them
    text = re.sub(r"\[[^\]\n]*[A-Z_][^\]\n]*\](?=;)", "[...]", text)  # and lengths of arrays
    return before + text


ffi = FFI()
ffi.cdef(declarations("kindred/kindred.h", set()) + """
extern "Python" int kindred_progress(void *user, const kdr_event *event);
""")
ffi.set_source("kindred._kindred", '#include "kindred/kindred.h"', include_dirs=[str(INCLUDE)])

if __name__ == "__main__":
    ffi.compile(verbose=True)
