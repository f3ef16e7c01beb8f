#!/bin/sh
# Makes a wheel that contains the library and its dependencies. Usage: tools/wheel.sh [OUT [BUILD]]
# (default: build/wheel, and the library of build/release, which is built first)
#
# The script works like auditwheel with standard tools. Libraries of every Linux system (glibc, the loader, the compiler's C runtime) are not included.
# All other libraries are copied into the same folder and found by $ORIGIN. Their names stay the same, because Debian 12's patchelf cannot rename versioned libraries.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/wheel}
build=${2:-$PWD/build/release}
work=build/wheel-work
rm -rf "$work"
mkdir -p "$out" "$work"
if [ $# -lt 2 ]; then
	cmake --preset release >/dev/null
	cmake --build --preset release --target kindred_shared
fi
cp -r python "$work/python"
ln -s "$PWD/include" "$PWD/VERSION" "$work"
KINDRED_LIBRARY=$build/src/libkindred.so /usr/bin/python3 -m pip wheel --quiet --no-build-isolation --no-deps \
	--no-index -w "$work" "$work/python"
/usr/bin/python3 -m wheel unpack -d "$work/unpacked" "$work"/kindred-*.whl >/dev/null
home=$(echo "$work"/unpacked/kindred-*/kindred)
mkdir "$home/libs"
# ldd lists all dependencies, also indirect ones.
library=$(echo "$home"/libkindred.so.*)
ldd "$library" | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' |
while read -r name path; do
	case $name in
	libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so* | ld-linux* | libgcc_s.so* | libstdc++.so*) continue ;;
	esac
	cp "$path" "$home/libs/$name"
	chmod u+w "$home/libs/$name"
	patchelf --set-rpath '$ORIGIN' "$home/libs/$name"
done
patchelf --set-rpath '$ORIGIN/libs' "$library"
/usr/bin/python3 -m wheel pack -d "$out" "$work"/unpacked/kindred-* >/dev/null
ls -l "$out"/kindred-*.whl | awk '{print $NF ": " $5 " bytes"}'
