#!/bin/sh
# Makes programs without dependencies for Linux: OUT/kindred-VERSION-linux-ARCH.tar.gz, with manual pages and completions.
# Usage: tools/package/static.sh [OUT [ARCH...]]   (default: dist, and the architectures of this machine's compilers: x86_64, arm64)
#
# BLAS is the built-in one. iconv is left out, because that of glibc loads files of its own at run time, and plug-ins for GPUs
# cannot be loaded. HDF5, zlib, expat, utf8proc, libstemmer and LIBSVM are taken if their static libraries are installed or, for another
# architecture, can be downloaded (sysroot.sh). The same commit gives the same bytes. JOBS is the number of compilers that run at
# a time (default 2), and BUILD the folder to build in (default: build/static).
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
[ $# -gt 0 ] && shift
jobs=${JOBS:-2}
native=$(uname -m | sed s/aarch64/arm64/)
[ "$native" = arm64 ] && other=x86_64 || other=arm64
if [ $# -eq 0 ]; then
	set -- "$native"
	! command -v "$(echo "$other" | sed s/arm64/aarch64/)-linux-gnu-gcc" >/dev/null 2>&1 || set -- "$native" "$other"
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}
export SOURCE_DATE_EPOCH
generator="Unix Makefiles"
command -v ninja >/dev/null 2>&1 && generator=Ninja
mkdir -p "$out"
out=$(cd "$out" && pwd)

for architecture; do
	build=${BUILD:-build/static}
	cc=${CC:-cc} prefix="" options=""
	if [ "$architecture" != "$native" ]; then
		[ "$architecture" = "$other" ] || {
			echo "static: $architecture cannot be built here; use $native or $other" >&2
			exit 2
		}
		processor=$(echo "$architecture" | sed s/arm64/aarch64/)
		build=$build-$architecture prefix=$processor-linux-gnu-
		cc=${prefix}gcc
		command -v "$cc" >/dev/null 2>&1 || {
			echo "static: $cc is missing (Debian: gcc-$(echo "$processor" | tr _ -)-linux-gnu)" >&2
			exit 77
		}
		sysroot=$PWD/build/sysroot-$architecture
		tools/package/sysroot.sh "$architecture" "$sysroot" || echo "static: no libraries for $architecture; parts that need them are left out"
		options="-DCMAKE_TOOLCHAIN_FILE=cmake/linux.cmake -DKINDRED_PROCESSOR=$processor -DKINDRED_SYSROOT=$sysroot"
	fi
	svm=AUTO # is C++
	[ -e "$($cc -print-file-name=libstdc++.a)" ] || svm=OFF
	mkdir -p "$build"
	# shellcheck disable=SC2086 # a list of options
	cmake -S . -B "$build" -G "$generator" $options -DCMAKE_BUILD_TYPE=Release -DKINDRED_STATIC=ON -DKINDRED_BLAS=builtin \
		-DKINDRED_TESTS=OFF -DKINDRED_BENCH=OFF -DKINDRED_ICONV=OFF -DKINDRED_CUDA=OFF -DKINDRED_LIBSVM=$svm \
		-DKINDRED_WERROR=ON >"$build.log" 2>&1 || {
		cat "$build.log"
		exit 1
	}
	cmake --build "$build" -j "$jobs" --target kindred kindred_manual
	version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
	name=kindred-$version-linux-$architecture
	rm -rf "${build:?}/$name"
	mkdir -p "$build/$name/bin" "$build/$name/share/man/man1" "$build/$name/share/completions"
	cp "$build/cli/kindred" "$build/$name/bin"
	"${prefix}strip" "$build/$name/bin/kindred"
	cp LICENSE "$build/$name"
	mkdir "$build/$name/licenses" # of the libraries inside
	for package in libgcc-12-dev libc6-dev zlib1g-dev libhdf5-dev libaec-dev libexpat1-dev libutf8proc-dev libstemmer-dev libsvm-dev; do
		[ ! -e "/usr/share/doc/$package/copyright" ] || cp "/usr/share/doc/$package/copyright" "$build/$name/licenses/$package"
	done
	cp "$build"/cli/*.1 "$build/$name/share/man/man1"
	cp "$build"/cli/kindred.bash "$build"/cli/_kindred "$build"/cli/kindred.fish "$build/$name/share/completions"
	tar -C "$build" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
		-cf "$build/$name.tar" "$name"
	gzip -n -9 <"$build/$name.tar" >"$out/$name.tar.gz"
	rm "$build/$name.tar"
	ls -l "$out/$name.tar.gz"
	(cd "$out" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
done
