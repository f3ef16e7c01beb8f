#!/usr/bin/python3
"""Only system_posix.c and system_windows.c know the operating system: core/system.h and cli/system.h are what other files use.

Macros that name Windows, and headers that mingw-w64 does not have, may stand in the files listed here alone. The rest of the
list is left out of a build for Windows by CMake, for the reason given."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WINDOWS = re.compile(r"\b(_WIN32|_WIN64|WIN32|__MINGW32__|__MINGW64__|_MSC_VER|__CYGWIN__)\b|<windows\.h>")
ABSENT = re.compile(r"#\s*include\s+<(sys/(mman|resource|wait|prctl|socket|utsname|time|ioctl)|dlfcn|dirent|spawn|poll|termios|"
                    r"pwd|sched|glob|fnmatch|langinfo|iconv)\.h>")
CALLS = re.compile(r"(?<![\w.>])(open|stat|lstat|access|mkdir|unlink|rename|link|fopen|opendir|fsync|pread|fork|"
                   r"open_memstream|isatty|mmap|sysconf|pthread_atfork|sigaction|uselocale)\s*\(")
ALLOWED = {
    "src/core/system_posix.c": "",
    "src/core/system_windows.c": "",
    "cli/system_posix.c": "",
    "cli/system_windows.c": "",
    "cli/start.c": "what libraries read from the environment of Linux while they are loaded",
    "cli/ranks.c": "MPI",
    "src/matrix/device_plugin.c": "plug-ins for GPUs",
    "src/matrix/reserve.c": "address space for a BLAS that is not the built-in one",
    "src/io/hdf5/system_posix.c": "",
    "src/io/hdf5/system_windows.c": "",
    "src/text/recode.c": "iconv",
    "src/matrix/cuda/": "CUDA",
}


def code_of(text):
    """Without comments and strings."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def main():
    wrong = []
    for folder in ("src", "cli", "include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            name = path.relative_to(ROOT).as_posix()
            if any(name == one or (one.endswith("/") and name.startswith(one)) for one in ALLOWED):
                continue
            for number, line in enumerate(code_of(path.read_text()).split("\n"), 1):
                for pattern, what in ((WINDOWS, "names Windows"), (ABSENT, "includes a header that Windows does not have"),
                                      (CALLS, "calls the system itself")):
                    found = pattern.search(line)
                    if found:
                        wrong.append("%s:%d: %s: %s" % (name, number, what, found.group().strip()))
    print("\n".join(wrong) or "only the files of the systems know them")
    sys.exit(1 if wrong else 0)


main()
