#!/bin/sh
# Makes the archive for Windows (x86-64): OUT/kindred-VERSION-windows-x86_64.zip. Usage: tools/package/windows.sh [OUT] (default: dist)
#
# It has kindred.exe, libkindred.dll with the import library and headers, and the documentation. Everything is compiled here with
# mingw-w64, and the run-time libraries of the compiler are part of the program and of the library, so that neither needs another
# file. BLAS is the built-in one. HDF5, expat, utf8proc, libstemmer, LIBSVM and iconv are left out, because Debian has none
# of them for Windows. The same commit gives the same bytes. JOBS is the number of compilers that run at a time (default 2), and
# BUILD the folder to build in (default: build/windows).
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
jobs=${JOBS:-2}
build=${BUILD:-build/windows}
for tool in x86_64-w64-mingw32-gcc-posix zip; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "windows: $tool is missing (Debian: gcc-mingw-w64-x86-64-posix libz-mingw-w64-dev zip)" >&2
		exit 77
	}
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y include/kindred/version.h)}
export SOURCE_DATE_EPOCH
mkdir -p "$build"
generator="Unix Makefiles"
command -v ninja >/dev/null 2>&1 && generator=Ninja
cmake -S . -B "$build" -G "$generator" -DCMAKE_TOOLCHAIN_FILE=cmake/windows.cmake -DCMAKE_BUILD_TYPE=Release \
	-DKINDRED_BLAS=builtin -DKINDRED_TESTS=OFF -DKINDRED_BENCH=OFF \
	-DKINDRED_CUDA=OFF -DKINDRED_WERROR=ON -DKINDRED_ZLIB=ON -DKINDRED_OPENMP=ON -DKINDRED_HDF5=OFF >"$build.log" 2>&1 || {
	cat "$build.log"
	exit 1
}
# The linker writes the time of the commit into them: an earlier build may have another one.
rm -f "$build/cli/kindred.exe" "$build/src/libkindred.dll" "$build/src/libkindred.dll.a"
cmake --build "$build" -j "$jobs" --target kindred kindred_shared
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=kindred-$version-windows-x86_64
stage=$build/$name
rm -rf "${stage:?}"
mkdir -p "$stage/include" "$stage/lib" "$stage/docs" "$out"
cp "$build/cli/kindred.exe" "$build/src/libkindred.dll" "$stage"
cp "$build/src/libkindred.dll.a" "$stage/lib"
x86_64-w64-mingw32-strip "$stage/kindred.exe" "$stage/libkindred.dll"
cp -R include/kindred "$stage/include"
rm -f "$stage/include/kindred/mpi.h"
cp LICENSE README.md CHANGELOG.md "$stage"
cp -R docs/*.md docs/notes docs/pictures docs/reproduction "$stage/docs"
cp examples/cluster.c "$stage"
chmod -R u=rwX,go=rX "$stage"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
out=$(cd "$out" && pwd)
rm -f "$out/$name.zip"
(cd "$build" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -9 -@ "$out/$name.zip")
ls -l "$out/$name.zip"
(cd "$out" && sha256sum "$name.zip" | tee "$name.zip.sha256")
