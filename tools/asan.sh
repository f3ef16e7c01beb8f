#!/bin/sh
# Runs the tests under the address and undefined-behaviour sanitizers. Usage: tools/asan.sh [JOBS [CTEST OPTION...]]
#
# The unit tests, `oom` and the tests of damaged HDF5 files also check for leaks. The unit tests run as one program in a few parts, because on some
# machines the leak check at the end of a process takes seconds, however small the program. `oom` fails a sample of allocations; failing all of
# them takes a quarter of an hour here and is part of the full suite. Of the tests of the command line, only those of external input are run: files,
# arguments, limits, commands. The compiled tests cover the methods. The tests of the command line start thousands of processes and do not check for
# leaks; neither do the replays of the fuzzers' files, for which libFuzzer does.
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
[ $# -eq 0 ] || shift
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$jobs"
ctest --test-dir build/asan --output-on-failure -j "$jobs" -LE 'processes|deep' "$@"
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan --output-on-failure -j "$jobs" -L processes \
	-R '^cli\.test_(bad_input|data|commands|limits|cluster|transfer|vectorize|tables|formats|samples)' "$@"

# Tables must not crash the interpreter: test the Python package over the sanitized library, whose runtime must be loaded first.
KINDRED_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
export KINDRED_PRELOAD
ASAN_OPTIONS=detect_leaks=0 tools/python.sh build/asan
for test in tables files reading; do
	echo "python.test_$test"
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$KINDRED_PRELOAD build/asan/venv/bin/python "python/tests/test_$test.py"
done
