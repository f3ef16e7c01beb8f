#!/bin/sh
# Compiles the libraries that kindred uses for a system without Debian packages of them, from Debian's source packages, into
# FOLDER/include and FOLDER/lib. Usage: tools/libraries.sh wasm|windows FOLDER [JOBS]
#
# The archives are downloaded once, into FOLDER/sources. A library that is already compiled, with the same options, is not compiled again.
set -eu
system=$1
tools=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
jobs=${3:-2}
sources=$folder/sources
if [ "$system" = wasm ]; then
	compiler=$("$tools/wasm_compiler.sh") cxx=em++ ar=emar
	flags="-O3 -msimd128 -pthread -DNDEBUG -w"
	entropy=-DXML_POOR_ENTROPY
else
	prefix=x86_64-w64-mingw32-
	compiler=${prefix}gcc-posix cxx=${prefix}g++-posix ar=${prefix}ar
	flags="-O2 -DNDEBUG -w -D__USE_MINGW_ANSI_STDIO=1 -D_FILE_OFFSET_BITS=64"
	entropy=-D_WIN32
fi
[ "$(cat "$folder/flags" 2>/dev/null)" = "$flags" ] || rm -rf "${folder:?}/lib"
echo "$flags" >"$folder/flags"
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
		echo "libraries: cannot download the source package $1; put its .orig.tar file into $sources" >&2
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
	printf '%s\n' "$@" | xargs -P "$jobs" -I {} sh -c "$compiler $flags $more -c {} -o objects/\$(echo {} | tr / _).o"
	$ar rcs "$folder/lib/lib$name.a" objects/*.o
}

if [ "$system" = wasm ] && [ ! -e "$folder/lib/libz.a" ]; then # Debian has one for Windows
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
	archive expat "-I. -DXML_DTD -DXML_NS -DXML_GE=1 -DXML_CONTEXT_BYTES=1024 $entropy -DBYTEORDER=1234 -DHAVE_MEMMOVE" -- \
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
	# shellcheck disable=SC2086 # a list of options
	$cxx $flags -c svm.cpp -o svm.o
	$ar rcs "$folder/lib/libsvm.a" svm.o
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
# same version) is adapted: sizes of types, no threads, networks or szip, and nothing that the system lacks. H5detect describes
# the number types of the machine and must run. It runs in node or, for Windows, as a program for Linux on x86-64: there, only
# long and two of the fast integers have other sizes.
if [ ! -e "$folder/lib/libhdf5.a" ]; then
	unpack hdf5
	cd "$sources/hdf5/src"
	installed=$(find /usr/include -name H5pubconf.h | grep -v mpi | head -n 1)
	[ -n "$installed" ] || installed=$(find /usr/include -name 'H5pubconf-64.h' | head -n 1)
	absent="THREADSAFE|ROS3_VFD|LIBCURL|CURL_CURL_H|LIBCRYPTO|OPENSSL_[A-Z]*_H|LIBSZ|SZLIB_H|FILTER_SZIP|FLOAT128|QUADMATH_H|LIBPTHREAD|PTHREAD_H|FORK|EMBEDDED_LIBINFO|SYS_TIMEB_H|TIOCGETD|GETPWUID|FLOCK"
	if [ "$system" = wasm ]; then
		types="LONG|PTRDIFF_T|SIZE_T|SSIZE_T|U?INT_FAST16_T|U?INT_FAST32_T"
	else
		types="LONG|U?INT_FAST32_T"
		absent="$absent|ALARM|ARPA_INET_H|ASPRINTF|DLFCN_H|FCNTL|FEATURES_H|GETRUSAGE|IOCTL|LIBDL|LSTAT|NETDB_H|NETINET_IN_H|PREADWRITE|PWD_H|RANDOM|RAND_R|SIGLONGJMP|SIGPROCMASK|SRANDOM|STAT_ST_BLOCKS|SYMLINK|SYS_FILE_H|SYS_IOCTL_H|SYS_RESOURCE_H|SYS_SOCKET_H|TIOCGWINSZ|TMPFILE|TM_GMTOFF|UNISTD_H|VASPRINTF|WAITPID"
	fi
	if [ "$system" = windows ]; then
		sed '/H5_HAVE_GETPWUID\b/d' "$installed" >H5pubconf.h
		sed -E -e 's/DETECT_I\(long,/DETECT_I(int,/' -e 's/DETECT_I\(unsigned long,/DETECT_I(unsigned,/' \
			-e 's/DETECT_I\((u?int)_fast(16|32)_t/DETECT_I(\1\2_t/' H5detect.c >detect.c
		printf '#include <float.h>\n#include <stdint.h>\n_Static_assert(sizeof(long) == 4 && sizeof(int_fast16_t) == 2 && sizeof(int_fast32_t) == 4 &&
			sizeof(long double) == 16 && LDBL_MANT_DIG == 64, "other types");' | $compiler -x c -c -o /dev/null -
		x86_64-linux-gnu-gcc -O1 -w -static -I. detect.c -o detect
		run=
		[ "$(uname -m)" = x86_64 ] || run=qemu-x86_64-static
		$run ./detect >H5Tinit.c
	fi
	# Whether time_t has four bytes depends on the version of emscripten.
	printf '#include <time.h>\nchar size[sizeof(time_t) == 4 ? 1 : -1];' | $compiler -x c -c -o /dev/null - 2>/dev/null && types="$types|TIME_T"
	sed -E -e "/H5_HAVE_($absent)\b/d" -e "s/(H5_SIZEOF_($types)) 8/\1 4/" -e 's/(H5_DEFAULT_PLUGINDIR).*/\1 ""/' "$installed" >H5pubconf.h
	[ "$system" = wasm ] || {
		sed -i -E 's/(H5_SIZEOF_U?INT_FAST16_T) 8/\1 2/' H5pubconf.h
		printf '#define H5_HAVE_WIN32_API 1\n#define H5_HAVE_MINGW 1\n#define H5_HAVE_WINDOWS 1\n' >>H5pubconf.h
	}
	cat >H5lib_settings.c <<-'SETTINGS'
		#include "H5private.h"
		char H5libhdf5_settings[] = "";
	SETTINGS
	if [ "$system" = wasm ]; then
		emcc -w -DNDEBUG -I. H5detect.c -o detect.js
		node --no-experimental-fetch detect.js >H5Tinit.c
	fi
	rm H5detect.c H5make_libsettings.c H5FDhdfs.c H5FDmpio.c H5FDros3.c H5FDs3comms.c
	level= # its files are many, and most of them take their time to read and write
	[ "$system" = wasm ] || level=-O1
	archive hdf5 "$level -I. -I$folder/include" -- H5*.c
	cp H5*.h hdf5.h "$folder/include"
fi
