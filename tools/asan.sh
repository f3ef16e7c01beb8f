#!/bin/sh
# The tests under the address and undefined-behaviour sanitizers. Usage: tools/asan.sh [JOBS [CTEST OPTION...]]
#
# Unit tests, `oom` and damaged HDF5 files look for leaks as well, the unit tests as one program in a few parts: on some
# machines the search at the end of a process takes seconds, however small the program. `oom` fails a sample of allocations
# (all of them take a quarter of an hour so, and are in the full suite). Of the command line's tests those of what comes in
# from outside are run: files, arguments, limits, commands; methods have been through the compiled ones. They start
# thousands of processes and do not look for leaks; nor do replays of the fuzzers' files, on which libFuzzer does.
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
[ $# -eq 0 ] || shift
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$jobs"
ctest --test-dir build/asan --output-on-failure -j "$jobs" -LE 'processes|deep' "$@"
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan --output-on-failure -j "$jobs" -L processes \
	-R '^cli\.test_(bad_input|data|commands|limits|cluster|transfer|vectorize|tables|formats|samples)' "$@"

# No table crashes the interpreter: the Python package over the same library, whose run time must come first.
KINDRED_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
export KINDRED_PRELOAD
ASAN_OPTIONS=detect_leaks=0 tools/python.sh build/asan
for test in tables files reading; do
	echo "python.test_$test"
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$KINDRED_PRELOAD build/asan/venv/bin/python "python/tests/test_$test.py"
done
