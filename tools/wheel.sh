#!/bin/sh
# Makes a wheel that carries the library and the libraries it stands on. Usage: tools/wheel.sh [OUT [BUILD]]
# (default build/wheel, and the library of build/release, which is built)
#
# auditwheel's way with plain tools: what every Linux has (glibc, the loader, the compiler's own run time of C) stays outside;
# everything else that the library needs is copied beside it and found by $ORIGIN. (Names stay: the patchelf of Debian 12 cannot rename what has versions.)
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
ln -s "$PWD/include" "$work/include"
KINDRED_LIBRARY=$build/src/libkindred.so /usr/bin/python3 -m pip wheel --quiet --no-build-isolation --no-deps \
	--no-index -w "$work" "$work/python"
/usr/bin/python3 -m wheel unpack -d "$work/unpacked" "$work"/kindred-*.whl >/dev/null
home=$(echo "$work"/unpacked/kindred-*/kindred)
mkdir "$home/libs"
# Closed under "needs": ldd lists what is needed at any depth.
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
