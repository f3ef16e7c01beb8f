#!/bin/sh
# The tests under the address and undefined-behaviour sanitizers. Usage: tools/asan.sh [JOBS [CTEST OPTION...]]
#
# Compiled tests look for leaks as well; all but `oom`, which counts its own allocations and takes a quarter of an hour so. The command line's tests do not: they start thousands of processes, and on some
# machines the search at the end of each takes seconds, however small the program.
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
[ $# -eq 0 ] || shift
cmake --preset asan >/dev/null
cmake --build --preset asan
ctest --test-dir build/asan --output-on-failure -j "$jobs" -LE 'processes|deep' -E '^oom$' "$@"
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir build/asan --output-on-failure -j "$jobs" -L processes "$@"
