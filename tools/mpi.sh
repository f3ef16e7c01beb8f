#!/bin/sh
# Builds kindred with MPI in a separate folder and tests it under mpirun: 1 to 4 ranks compared with one process, and ranks that fail.
# Usage: tools/mpi.sh [JOBS]
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
cmake --preset mpi >/dev/null
cmake --build --preset mpi -j "$jobs" --target kindred kindred_shared test_ranks test_ranks_auto test_ranks_transfer
# Ranks mostly wait for each other, so several tests run at once.
ctest --test-dir build/mpi --output-on-failure -j "$jobs" -R '^(mpi|unit\.test_ranks|exports)'
