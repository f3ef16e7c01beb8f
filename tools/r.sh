#!/bin/sh
# Builds the R package. Usage: tools/r.sh [BUILD [FOLDER]]
#   tools/r.sh BUILD          writes BUILD/r/kindred_VERSION.tar.gz, with the C sources of the library in it (default: build)
#   tools/r.sh BUILD FOLDER   installs the package into the R library FOLDER, linked with BUILD/src/libkindred.a, for quick tests
# The C sources are copied from src/ and include/; r/ has only the code that is particular to R. Nothing is downloaded.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
build=${1:-build}
mkdir -p "$build"
build=$(cd "$build" && pwd)
version=$(sed -n 's/^#define KDR_VERSION  *"\(.*\)"/\1/p' include/kindred/version.h)
stage=$build/r/kindred
rm -rf "$stage"
mkdir -p "$stage"
cp -r r/. "$stage"
sed -i "s/^Version: .*/Version: $version/" "$stage/DESCRIPTION"

if [ $# -gt 1 ]; then
	mkdir -p "$2"
	KINDRED_SOURCE=$root KINDRED_BUILD=$build R CMD INSTALL --no-test-load --no-docs --no-byte-compile --library="$2" "$stage" >"$build/r/install.log" 2>&1 ||
		{ cat "$build/r/install.log"; exit 1; }
	exit 0
fi

# The library: everything but the GPU plug-in, MPI, Windows and what only CMake reads.
# HDF5 runs in the process of R, as on Windows, because a fork of R must not return and packages may not call _exit.
cp -r src "$stage/src/kindred"
cp -r include "$stage/src/include"
! suffix=$(cmake -P cmake/version_suffix.cmake 2>/dev/null) || sed -i "s/^#define KDR_VERSION_SUFFIX .*/#define KDR_VERSION_SUFFIX \"$suffix\"/" "$stage/src/kindred/core/version.c"
cd "$stage/src"
rm -rf kindred/matrix/cuda kindred/comm/mpi.c kindred/io/hdf5/system_posix.c kindred/matrix/device_plugin.c kindred/core/system_windows.c include/kindred/mpi.h kindred/CMakeLists.txt kindred/exports*.txt

# The scripts and styles of the report as C arrays, as src/CMakeLists.txt makes them.
as_bytes()
{
	od -An -v -tx1 | sed "s/ \(..\)/'\\\\x\1',/g"
}
{
	echo '/* Made from report/ by tools/r.sh. SPDX-License-Identifier: BSD-3-Clause */'
	echo '#include "jobs/report/assets.h"'
	echo 'const char kdri_page_script[] = {'
	{
		printf '(function () {\n"use strict";\n'
		for module in $(sed -n 's/^set(modules \(.*\))/\1/p' "$root/src/CMakeLists.txt"); do
			cat "$root/report/$module.js"
		done
		printf '})();\n'
	} | as_bytes
	echo '};'
	echo 'const size_t kdri_page_script_size = sizeof kdri_page_script;'
	echo 'const char kdri_page_style[] = {'
	as_bytes <"$root/report/style.css"
	echo '};'
	echo 'const size_t kdri_page_style_size = sizeof kdri_page_style;'
} >kindred/jobs/report/assets.c
rm kindred/jobs/report/assets.c.in
find kindred include -type f | while read -r file; do
	case $file in
	*.c | *.h | *.def) ;;
	*) rm "$file" ;;
	esac
done

cd "$build/r"
R CMD build --no-manual ${KINDRED_R_BUILD-} kindred >build.log 2>&1 || { cat build.log; exit 1; }
ls -l "$build/r/kindred_$version.tar.gz"
