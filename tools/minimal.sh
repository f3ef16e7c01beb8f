#!/bin/sh
# Builds kindred with only a C compiler, with the built-in BLAS and without any optional library, and runs the compiled tests and those of
# the command line. Tests of missing parts are skipped. -O1 halves the compile time, and the tests take as long as with -O2.
# Usage: tools/minimal.sh [JOBS]
set -eu
cd "$(dirname "$0")/.."
jobs=${1:-2}
build=build/minimal
generator="Unix Makefiles"
command -v ninja >/dev/null 2>&1 && generator=Ninja
off="-DKINDRED_BLAS=builtin"
for part in HDF5 ZLIB EXPAT UTF8PROC STEMMER LIBSVM ICONV OPENMP CMOCKA CUDA; do
	off="$off -DKINDRED_$part=OFF"
done
# shellcheck disable=SC2086 # a list of options
cmake -S . -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DKINDRED_WERROR=ON -DKINDRED_BENCH=OFF $off
cmake --build "$build" -j "$jobs"
"$build"/cli/kindred version -v
"$build"/cli/kindred version -v | grep -q '^blas: builtin$'
for part in hdf5 zlib expat utf8proc stemmer libsvm iconv; do
	"$build"/cli/kindred version -v | grep -q "^$part: no: " || {
		echo "minimal: the build says nothing of $part" >&2
		exit 1
	}
done
# What needs a missing part is refused before the work, by a line that names it.
"$build"/cli/kindred generate --force -o "$build/blobs" >/dev/null
if "$build"/cli/kindred cluster -k 2 -q --save-model "$build/model.h5" "$build"/blobs/*.csv >/dev/null 2>"$build/refused" ||
	! grep -q HDF5 "$build/refused"; then
	echo "minimal: --save-model was not refused for want of HDF5" >&2
	exit 1
fi
ctest --test-dir "$build" --output-on-failure -j "$jobs" -R '^(unit|cli|fuzz|exports|oom$)' -LE deep
