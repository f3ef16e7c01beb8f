#!/bin/sh
# Fuzzes every reader for some time, several at once. Usage: tools/fuzz.sh [SECONDS [JOBS]]   (default 60 s each, 2 at once)
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
cmake --preset fuzz -DKINDRED_FUZZ_SECONDS="$seconds" >/dev/null
cmake --build --preset fuzz --target fuzzers
ctest --test-dir build/fuzz -R '^fuzz\.' -j "${2:-2}" --output-on-failure
# Print how many inputs each fuzzer tried.
awk '/^[0-9]+\/[0-9]+ Testing: fuzz/ {name = $3} /^stat::number_of_executed_units/ {print name ": " $2 " inputs"; all += $2}
     END {print all " inputs in total"}' build/fuzz/Testing/Temporary/LastTest.log
