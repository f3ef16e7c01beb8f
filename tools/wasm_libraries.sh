#!/bin/sh
# Compiles the libraries that kindred uses to WebAssembly, from Debian's source packages, into FOLDER/include and FOLDER/lib.
# Usage: tools/wasm_libraries.sh FOLDER [JOBS]
#
# The archives are downloaded once, into FOLDER/sources. A library that is already compiled is not compiled again.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
jobs=${2:-2}
sources=$folder/sources
flags="-O3 -msimd128 -DNDEBUG -w"
compiler=$("$(dirname "$0")/wasm_compiler.sh")
mkdir -p "$folder/include" "$folder/lib" "$sources"

# Downloads the original archive of a source package, without changing apt's own list of sources.
fetch() {
	ls "$sources/$1"_*.orig.tar.* >/dev/null 2>&1 && return
	lists=$folder/apt
	mkdir -p "$lists/sources" "$lists/lists/partial"
	if [ -e /etc/apt/sources.list.d/debian.sources ]; then
		sed 's/^Types: *deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$lists/sources/source.sources"
	else
		sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$lists/sources/source.list"
	fi
	options="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$lists/sources -o Dir::State::lists=$lists/lists"
	# shellcheck disable=SC2086 # a list of options
	[ -e "$lists/updated" ] || { apt-get $options -qq update && touch "$lists/updated"; }
	# shellcheck disable=SC2086
	(cd "$sources" && apt-get $options -qq --download-only --tar-only source "$1") || true
	if ! ls "$sources/$1"_*.orig.tar.* >/dev/null 2>&1; then
		echo "wasm: cannot download the source package $1; put its .orig.tar file into $sources" >&2
		exit 1
	fi
}

unpack() {
	fetch "$1"
	rm -rf "${sources:?}/$1"
	mkdir "$sources/$1"
	tar -C "$sources/$1" --strip-components=1 -xf "$(find "$sources" -maxdepth 1 -name "$1_*.orig.tar.*" ! -name '*.asc')"
}

# archive NAME FLAGS -- FILE...: compiles files of the current folder into lib/libNAME.a
archive() {
	name=$1
	more=$2
	shift 3
	mkdir -p objects
	printf '%s\n' "$@" | xargs -P "$jobs" -I FILE sh -c "$compiler $flags $more -c FILE -o objects/\$(echo FILE | tr / _).o"
	emar rcs "$folder/lib/lib$name.a" objects/*.o
}

if [ ! -e "$folder/lib/libz.a" ]; then
	unpack zlib
	cd "$sources/zlib"
	archive z "-DHAVE_UNISTD_H -DSTDC" -- adler32.c crc32.c deflate.c gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c inflate.c \
		inftrees.c trees.c zutil.c compress.c uncompr.c
	cp zlib.h zconf.h "$folder/include"
fi

if [ ! -e "$folder/lib/libexpat.a" ]; then
	unpack expat
	cd "$sources/expat/expat/lib"
	: >expat_config.h
	archive expat "-I. -DXML_DTD -DXML_NS -DXML_GE=1 -DXML_CONTEXT_BYTES=1024 -DXML_POOR_ENTROPY -DBYTEORDER=1234 -DHAVE_MEMMOVE" -- \
		xmlparse.c xmlrole.c xmltok.c
	cp expat.h expat_external.h "$folder/include"
fi

if [ ! -e "$folder/lib/libutf8proc.a" ]; then
	unpack utf8proc
	cd "$sources/utf8proc"
	archive utf8proc "-DUTF8PROC_STATIC" -- utf8proc.c
	cp utf8proc.h "$folder/include"
fi

if [ ! -e "$folder/lib/libsvm.a" ]; then
	unpack libsvm
	cd "$sources/libsvm"
	em++ $flags -c svm.cpp -o svm.o
	emar rcs "$folder/lib/libsvm.a" svm.o
	mkdir -p "$folder/include/libsvm"
	cp svm.h "$folder/include/libsvm"
fi

# Snowball's compiler runs here and writes C.
if [ ! -e "$folder/lib/libstemmer.a" ]; then
	unpack snowball
	cd "$sources/snowball"
	make -s -j "$jobs" CC=cc libstemmer.a >/dev/null
	# shellcheck disable=SC2046 # a list of files
	archive stemmer "-Iinclude" -- libstemmer/libstemmer.c runtime/api.c runtime/utilities.c $(find src_c -name 'stem_*.c')
	cp include/libstemmer.h "$folder/include"
fi

# HDF5's own configuration takes hundreds of compiler calls. Instead, the header of the installed library (libhdf5-dev, of the
# same version) is adapted: sizes of types, and no threads, networks or szip. H5detect describes the number types of the machine
# and runs in node.
if [ ! -e "$folder/lib/libhdf5.a" ]; then
	unpack hdf5
	cd "$sources/hdf5/src"
	installed=$(find /usr/include -name H5pubconf.h | grep -v mpi | head -n 1)
	[ -n "$installed" ] || installed=$(find /usr/include -name 'H5pubconf-64.h' | head -n 1)
	sed -E -e '/H5_HAVE_(THREADSAFE|ROS3_VFD|LIBCURL|CURL_CURL_H|LIBCRYPTO|OPENSSL_[A-Z]*_H|LIBSZ|SZLIB_H|FILTER_SZIP|FLOAT128|QUADMATH_H|LIBPTHREAD|PTHREAD_H|FORK|EMBEDDED_LIBINFO|SYS_TIMEB_H|TIOCGETD|GETPWUID|FLOCK)\b/d' \
		-e 's/(H5_SIZEOF_(LONG|PTRDIFF_T|SIZE_T|SSIZE_T|U?INT_FAST16_T|U?INT_FAST32_T)) 8/\1 4/' \
		-e "s/(H5_SIZEOF_TIME_T) 8/\1 $(printf '#include <time.h>\nchar size[sizeof(time_t) == 4 ? 1 : -1];' | emcc -x c -c -o /dev/null - 2>/dev/null && echo 4 || echo 8)/" \
		"$installed" >H5pubconf.h
	cat >H5lib_settings.c <<-'SETTINGS'
		#include "H5private.h"
		char H5libhdf5_settings[] = "";
	SETTINGS
	emcc -w -DNDEBUG -I. H5detect.c -o detect.js
	node --no-experimental-fetch detect.js >H5Tinit.c
	files=$(ls H5*.c | grep -v -e H5detect.c -e H5make_libsettings.c -e H5FDhdfs.c -e H5FDmpio.c -e H5FDros3.c -e H5FDs3comms.c)
	# shellcheck disable=SC2086 # a list of files
	archive hdf5 "-I. -I$folder/include" -- $files
	cp H5*.h hdf5.h "$folder/include"
fi
