#!/bin/sh
# One program without dependencies for Linux: build/static/kindred-VERSION-linux-ARCH.tar.gz, with manual pages and completions.
# Usage: tools/static.sh [JOBS]
#
# BLAS is the built-in one. HDF5 is left out, since its static library needs those of curl and OpenSSL, and so is iconv, since
# that of glibc loads files of its own at run time. Plug-ins for GPUs cannot be loaded. The rest is taken where static libraries
# are installed. The archive has the time of the commit and no owner. The program is run in an empty root, and a part
# of the command line's tests is run with it.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
jobs=${1:-2}
build=build/static
generator="Unix Makefiles"
command -v ninja >/dev/null 2>&1 && generator=Ninja
svm=AUTO # is C++
[ -e "$(${CC:-cc} -print-file-name=libstdc++.a)" ] || svm=OFF
cmake -S . -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DKINDRED_STATIC=ON -DKINDRED_BLAS=builtin -DKINDRED_TESTS=OFF \
	-DKINDRED_BENCH=OFF -DKINDRED_HDF5=OFF -DKINDRED_ICONV=OFF -DKINDRED_CUDA=OFF -DKINDRED_LIBSVM=$svm -DKINDRED_WERROR=ON
cmake --build "$build" -j "$jobs" --target kindred kindred_manual
program=$root/$build/cli/kindred

version=$("$program" --version | awk '{ print $2 }')
architecture=$(uname -m)
[ "$architecture" = aarch64 ] && architecture=arm64
name=kindred-$version-linux-$architecture
rm -rf "${build:?}/$name"
mkdir -p "$build/$name/bin" "$build/$name/share/man/man1" "$build/$name/share/completions"
cp "$program" "$build/$name/bin"
strip "$build/$name/bin/kindred"
cp LICENSE "$build/$name"
cp "$build"/cli/*.1 "$build/$name/share/man/man1"
cp "$build"/cli/kindred.bash "$build"/cli/_kindred "$build"/cli/kindred.fish "$build/$name/share/completions"
stamp=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
tar -C "$build" --sort=name --mtime="@$stamp" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw -cf - "$name" | gzip -n -9 >"$build/$name.tar.gz"

# An empty root: no loader, no libraries, no /proc, no /tmp.
if unshare -r true 2>/dev/null; then
	empty=$(mktemp -d)
	trap 'rm -rf "$empty"' EXIT
	tar -C "$empty" -xzf "$build/$name.tar.gz"
	unshare -r chroot "$empty" "/$name/bin/kindred" demo -o /demo >/dev/null
	"$program" demo -o "$empty/here" >/dev/null
	for task in task1 task2 task3; do
		cmp "$empty/demo/result/$task.labels" "$empty/here/result/$task.labels"
	done
	echo "static: the demo runs in an empty root"
else
	echo "static: no user namespaces: the program was not tried in an empty root"
fi
export KINDRED="$root/$build/$name/bin/kindred" PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive
for test in bad_input cluster transfer formats limits commands; do
	/usr/bin/python3 "tests/cli/test_$test.py"
done
ls -l "$build/$name.tar.gz"
sha256sum "$build/$name.tar.gz"
