#!/bin/sh
# Installs into a new folder and uses what is there as others would: the CMake package, pkg-config (shared and
# static), the program, its manual and its completions. Usage: run.sh BUILD SOURCE
set -eu
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix" >/dev/null
libdir=$(dirname "$(find "$prefix" -name 'libkindred.so' | head -1)")
export LD_LIBRARY_PATH="$libdir"
expected="a: .* .* .* .* .* .*"

echo "CMake package"
cmake -S "$source/tests/install/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" \
	-DEXAMPLE="$source/examples/cluster.c" >/dev/null
cmake --build "$work/consumer" >/dev/null
"$work/consumer/consumer" | grep -q "$expected"

echo "pkg-config, shared"
export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion kindred)" = "$("$prefix/bin/kindred" version | cut -d' ' -f2 | cut -d- -f1)" ]
# shellcheck disable=SC2046 # flags are words
cc "$source/examples/cluster.c" $(pkg-config --cflags --libs kindred) -o "$work/shared"
"$work/shared" | grep -q "$expected"

echo "pkg-config, static"
# The linker would take the shared one where both lie.
mkdir "$work/static"
cp -r "$prefix/." "$work/static"
find "$work/static" -name 'libkindred.so*' -delete
# shellcheck disable=SC2046
cc "$source/examples/cluster.c" $(PKG_CONFIG_PATH=$(dirname "$(find "$work/static" -name kindred.pc)") pkg-config --static --cflags --libs kindred) \
	-o "$work/alone"
if ldd "$work/alone" | grep -q libkindred; then
	echo "install: the static program needs libkindred.so" >&2
	exit 1
fi
"$work/alone" | grep -q "$expected"

echo "C++ includes the header too"
printf '#include <kindred/kindred.h>\nint main() { return kdr_version()[0] == 0; }\n' >"$work/plus.cc"
# shellcheck disable=SC2046
c++ -std=c++17 -Wall -Wextra -pedantic -Werror "$work/plus.cc" $(pkg-config --cflags --libs kindred) -o "$work/plus"
"$work/plus"

echo "each header by itself: C11, C++17"
for header in "$prefix"/include/kindred/*.h; do
	printf '#include "%s"\nint main(void) { return 0; }\n' "$header" >"$work/one.c"
	printf 'extern "C" {\n#include "%s"\n}\nint main() { return 0; }\n' "$header" >"$work/one.cc"
	cc -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" "$work/one.c"
	c++ -std=c++17 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$prefix/include" "$work/one.cc"
done

echo "KDR_STABLE_ONLY refuses what is experimental"
printf '#define KDR_STABLE_ONLY\n#include <kindred/kindred.h>\nint main(void) { kdr_selector_load(0, 0, 0); return 0; }\n' >"$work/new.c"
if cc -I"$prefix/include" -c "$work/new.c" -o "$work/new.o" 2>/dev/null; then
	echo "install: an experimental function was called with KDR_STABLE_ONLY" >&2
	exit 1
fi

test -s "$prefix/share/doc/kindred/CITATION.cff"
"$prefix/bin/kindred" --cite mbc | grep -q "Multitask Bregman clustering"

echo "manual and completions"
for page in "$prefix"/share/man/man1/kindred*.1; do
	LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>"$work/warnings" >/dev/null
	if [ -s "$work/warnings" ]; then
		cat "$page" "$work/warnings" >&2
		exit 1
	fi
done
bash -n "$prefix/share/bash-completion/completions/kindred"
zsh -n "$prefix/share/zsh/site-functions/_kindred"
grep -q "^complete -c kindred" "$prefix/share/fish/vendor_completions.d/kindred.fish"
echo "install: all good"
