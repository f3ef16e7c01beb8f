#!/bin/sh
# A build with MPI in a folder of its own, and the program under mpirun: 1 to 4 ranks against one process, ranks that fail.
# Usage: tools/mpi.sh [JOBS]
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
cmake --preset mpi >/dev/null
cmake --build --preset mpi -j "$jobs" --target kindred kindred_shared test_ranks test_ranks_auto test_ranks_transfer
# Most of the time ranks wait for each other: two tests side by side.
ctest --test-dir build/mpi --output-on-failure -j "$jobs" -R '^(mpi|unit\.test_ranks|exports)'
