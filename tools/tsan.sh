#!/bin/sh
# The unit tests under the thread sanitizer. Usage: tools/tsan.sh [CTEST OPTION...]   (default: -R '^unit\.')
#
# clang with libomp and its Archer tool, which tells the sanitizer where threads of a parallel region meet; gcc's libgomp
# says nothing of that, and every region would look like a race. Libraries that were not built with the sanitizer
# (OpenBLAS, HDF5) are passed over.
set -eu
cd "$(dirname "$0")/.."
cmake --preset tsan >/dev/null
cmake --build --preset tsan
archer=$(dirname "$(readlink -f "$(command -v clang)")")/../lib/libarcher.so
[ -e "$archer" ] || { echo "tsan: libarcher.so is missing: install libomp-dev" >&2; exit 1; }
export OMP_TOOL_LIBRARIES="$archer" OPENBLAS_NUM_THREADS=1
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=0:exitcode=66"
[ $# -gt 0 ] || set -- -R '^unit\.'
ctest --test-dir build/tsan --output-on-failure "$@"
