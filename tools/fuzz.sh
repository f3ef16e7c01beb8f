#!/bin/sh
# Fuzzes every reader for a while, some at a time. Usage: tools/fuzz.sh [SECONDS [JOBS]]   (default 60 each, 2 at a time)
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
cmake --preset fuzz -DKINDRED_FUZZ_SECONDS="$seconds" >/dev/null
cmake --build --preset fuzz --target fuzzers
ctest --test-dir build/fuzz -R '^fuzz\.' -j "${2:-2}" --output-on-failure
# What the fuzzers did, for the record.
awk '/^[0-9]+\/[0-9]+ Testing: fuzz/ {name = $3} /^stat::number_of_executed_units/ {print name ": " $2 " inputs"; all += $2}
     END {print all " inputs in all"}' build/fuzz/Testing/Temporary/LastTest.log
