#!/bin/sh
# Runs the unit tests of multi-threaded code under the thread sanitizer. Usage: tools/tsan.sh [JOBS [CTEST OPTION...]]
# (default: the tests listed here; use -R '^unit' for all that were built)
#
# The build uses clang with libomp and its Archer tool, which informs the sanitizer about the synchronisation of parallel regions. gcc's libgomp does not,
# and every region would appear to be a race. Libraries that were not built with the sanitizer (OpenBLAS, HDF5) are ignored. Tests without parallel regions
# are not run, nor are those that repeat others for minutes (extremes, read: every method and format on odd data).
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
[ $# -eq 0 ] || shift
tests="auto auto_parts auto_transfer block conformance csv direct_transfer generate graph kmeans linalg_blas linalg_blas_builtin linalg_mat
linalg_solve lss mbc mmd mtcfir mtx npy prep relate side_by_side silhouette svmlight text_vectorize transport trifactor ttl vote"
targets="" names=""
for test in $tests; do
	targets="$targets test_$test"
	names="$names${names:+|}$test"
done
cmake --preset tsan >/dev/null
# shellcheck disable=SC2086 # a list of targets
cmake --build --preset tsan -j "$jobs" --target $targets
archer=$(dirname "$(readlink -f "$(command -v clang)")")/../lib/libarcher.so
[ -e "$archer" ] || { echo "tsan: libarcher.so is missing: install libomp-dev" >&2; exit 1; }
export OMP_TOOL_LIBRARIES="$archer" OPENBLAS_NUM_THREADS=1
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=0:exitcode=66"
[ $# -gt 0 ] || set -- -R "^unit\\.test_($names)\$"
ctest --test-dir build/tsan --output-on-failure -j "$jobs" "$@"
