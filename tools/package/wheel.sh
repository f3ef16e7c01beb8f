#!/bin/sh
# Makes the Python wheel: OUT/kindred-VERSION-cp39-abi3-manylinux_2_XX_ARCH.whl, and its SBOM.
# Usage: tools/package/wheel.sh [OUT [JOBS]]   (default: dist, 2)
#
# The library is built in build/wheel. It has the built-in BLAS: OpenBLAS would make the wheel more than four times as large, and complete jobs
# take the same time to within a tenth (docs/install.md). HDF5 and the other libraries are linked statically if their archives are installed, since Debian's
# shared HDF5 needs curl, OpenSSL, Kerberos and LDAP. Libraries that remain, such as that of OpenMP, are copied into the wheel and found by $ORIGIN, as
# auditwheel does. Libraries of every Linux system (glibc, the loader, the compiler's runtime) are not included. The tag has the newest version
# of glibc that any file needs.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
out=${1:-dist}
jobs=${2:-2}
mkdir -p "$out"
out=$(cd "$out" && pwd)
build=build/wheel
work=$root/build/wheel-work
rm -rf "$work"
mkdir -p "$work"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}" PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3

# The library. An archive that is missing is replaced by the shared library, which is then copied into the wheel.
${CC:-cc} -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -c tools/package/wheel.c -o "$work/wheel.o"
archive() { # archive NAME...: the paths of static libraries, separated by semicolons; nothing if one is missing
	paths=
	for name; do
		path=$(${CC:-cc} -print-file-name="$name")
		[ "$path" = "${path#/}" ] && return
		paths=$paths${paths:+;}$(readlink -f "$path")
	done
	echo "$paths"
}
set --
for part in "HDF5 hdf5/serial/libhdf5.a libsz.a libaec.a" "ZLIB libz.a" "EXPAT libexpat.a" "UTF8PROC libutf8proc.a" "STEMMER libstemmer.a" "LIBSVM libsvm.a"; do
	# shellcheck disable=SC2086 # a list
	paths=$(archive ${part#* })
	[ -n "$paths" ] || continue
	echo "$paths" | tr ';' '\n' >>"$work/linked"
	case $part in LIBSVM*) paths="$paths;stdc++" ;; esac # which is C++
	set -- "$@" "-DKINDRED_${part%% *}_LIBRARY=$paths"
done
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKINDRED_BLAS=builtin -DKINDRED_TESTS=OFF -DKINDRED_BENCH=OFF -DKINDRED_CUDA=OFF -DKINDRED_WERROR=ON \
	-DCMAKE_SHARED_LINKER_FLAGS="-s -Wl,--no-undefined -Wl,-z,text -Wl,--wrap=hypot,--wrap=arc4random_buf,--wrap=stdout,--wrap=stderr $work/wheel.o" "$@" >/dev/null
cmake --build "$build" -j "$jobs" --target kindred_shared >"$work/log" || {
	tail -30 "$work/log" >&2
	exit 1
}

# The package.
cp -r python "$work/python"
ln -s "$root/include" "$root/VERSION" "$root/bench" "$work"
KINDRED_LIBRARY=$root/$build/src/libkindred.so $python -m pip wheel --quiet --no-build-isolation --no-deps --no-index -w "$work" "$work/python"
$python -m wheel unpack -d "$work/unpacked" "$work"/kindred-*.whl >/dev/null
top=$(echo "$work"/unpacked/kindred-*)
library=$(echo "$top"/kindred/libkindred.so.*)
: >"$work/copied"
# ldd lists all dependencies, also indirect ones.
ldd "$library" | awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' |
while read -r name path; do
	case $name in
	libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so* | ld-linux* | libgcc_s.so* | libstdc++.so*) continue ;;
	esac
	mkdir -p "$top/kindred/libs"
	cp "$path" "$top/kindred/libs/$name"
	chmod u+w "$top/kindred/libs/$name"
	patchelf --set-rpath '$ORIGIN' "$top/kindred/libs/$name"
	readlink -f "$path" >>"$work/copied"
done
# --add-needed etc. are not used: the names stay the same, because Debian 12's patchelf cannot rename versioned libraries.
patchelf --set-rpath '$ORIGIN/libs' "$library"

# Licences and versions of the libraries inside, by the Debian package that each is from.
info=$(echo "$top"/kindred-*.dist-info)
mkdir -p "$info/licenses"
cp LICENSE "$info/licenses/kindred"
sort -u "$work/linked" "$work/copied" | while read -r path; do
	package=$(dpkg-query -S "$path" 2>/dev/null || dpkg-query -S "${path#/usr}")
	package=${package%%: *}
	cp "/usr/share/doc/${package%%:*}/copyright" "$info/licenses/${package%%:*}"
	echo "$(basename "$path") ${package%%:*} $(dpkg-query -W -f '${Version}' "$package")"
done >"$work/libraries"

# The tag.
oldest=$(find "$top" -name '*.so*' -exec objdump -T {} + | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
machine=$(uname -m)
tag=cp39-abi3-manylinux_$(echo "${oldest#GLIBC_}" | tr . _)_$machine
sed -i "s/^Tag: .*/Tag: $tag/" "$info/WHEEL"
strip -R .note.gnu.build-id "$top"/kindred/_kindred.abi3.so # its debugging symbols have the folder's name
chmod -R u=rwX,go=rX "$top"
find "$top" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
rm -f "$out"/kindred-*.whl "$out"/kindred-*.whl.spdx.json
$python -m wheel pack -d "$out" "$top" >/dev/null
wheel=$(echo "$out"/kindred-*-"$tag".whl)
$python tools/package/sbom.py "$wheel" --libs "$work/libraries" >"$wheel.spdx.json"
ls -l "$wheel" | awk '{print $NF ": " $5 " bytes"}'
