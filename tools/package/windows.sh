#!/bin/sh
# Makes the archive for Windows (x86-64): OUT/kindred-VERSION-windows-x86_64.zip. Usage: tools/package/windows.sh [OUT] (default: dist)
#
# It has kindred.exe, libkindred.dll with the import library and headers, and the documentation. Everything is compiled here with
# mingw-w64, and the run-time libraries of the compiler are part of the program and of the library, so that neither needs another
# file. BLAS is the built-in one. HDF5, expat, utf8proc, libstemmer and LIBSVM are compiled from Debian's source packages, which are
# downloaded once (tools/libraries.sh); iconv is not available. The same commit gives the same bytes. JOBS is the number of compilers
# that run at a time (default 2), and BUILD the folder to build in (default: build/windows). PARTS=OFF omits these libraries.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
jobs=${JOBS:-2}
build=${BUILD:-build/windows}
for tool in x86_64-w64-mingw32-gcc-posix zip; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "windows: $tool is missing (Debian: g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine64 wine zip)" >&2
		exit 77
	}
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}
export SOURCE_DATE_EPOCH
libraries=$PWD/build/windows-libraries
parts=${PARTS:-ON}
[ "$parts" = OFF ] || tools/libraries.sh windows "$libraries" "$jobs" || {
	echo "windows: the libraries cannot be downloaded or compiled; use PARTS=OFF for a program without HDF5, Excel files and models" >&2
	exit 1
}
mkdir -p "$build"
generator="Unix Makefiles"
command -v ninja >/dev/null 2>&1 && generator=Ninja
cmake -S . -B "$build" -G "$generator" -DCMAKE_TOOLCHAIN_FILE=cmake/windows.cmake -DCMAKE_BUILD_TYPE=Release \
	-DKINDRED_BLAS=builtin -DKINDRED_TESTS=OFF -DKINDRED_BENCH=OFF \
	-DKINDRED_CUDA=OFF -DKINDRED_WERROR=ON -DKINDRED_OPENMP=ON -DKINDRED_SYSROOT="$libraries" -DKINDRED_ZLIB=ON -DKINDRED_HDF5=$parts \
	-DKINDRED_EXPAT=$parts -DKINDRED_UTF8PROC=$parts -DKINDRED_STEMMER=$parts -DKINDRED_LIBSVM=$parts -DKINDRED_ICONV=OFF >"$build.log" 2>&1 || {
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
mkdir "$stage/licenses" # of the libraries inside
for package in gcc-mingw-w64-x86-64-posix-runtime mingw-w64-x86-64-dev libz-mingw-w64-dev libhdf5-dev libexpat1-dev libutf8proc-dev libstemmer-dev libsvm-dev; do
	[ ! -e "/usr/share/doc/$package/copyright" ] || cp "/usr/share/doc/$package/copyright" "$stage/licenses/$package"
done
cp -R docs/*.md docs/notes docs/pictures docs/reproduction "$stage/docs"
cp examples/cluster.c "$stage"
chmod -R u=rwX,go=rX "$stage"
find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
out=$(cd "$out" && pwd)
rm -f "$out/$name.zip"
(cd "$build" && find "$name" -type f | LC_ALL=C sort | TZ=UTC zip -q -X -9 -@ "$out/$name.zip")
ls -l "$out/$name.zip"
(cd "$out" && sha256sum "$name.zip" | tee "$name.zip.sha256")
