#!/bin/sh
# Compiles the program to WebAssembly and makes the npm package: build/wasm/kindred-VERSION.tgz, unpacked in build/wasm/package.
# Usage: tools/wasm.sh [JOBS]
#
# Needs emscripten, node-acorn, node 18 or newer, cmake and ninja. Needs the network once, for Debian's source packages
# (tools/libraries.sh).
set -eu
cd "$(dirname "$0")/.."
root=$PWD
jobs=${1:-2}
build=$root/build/wasm
libraries=$build/libraries
missing=""
for program in emcc em-config node npm cmake ninja; do
	command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -n "$missing" ]; then
	echo "wasm: please install:$missing (Debian: emscripten node-acorn nodejs npm cmake ninja-build)" >&2
	exit 1
fi
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}" # Debian's emscripten needs Debian's node modules
tools/libraries.sh wasm "$libraries" "$jobs"

compiler=$(tools/wasm_compiler.sh)
command -v ccache >/dev/null 2>&1 && compiler="ccache $compiler"
compiler="$compiler -pthread -D__EMSCRIPTEN_PTHREADS__=1" # objects for both modules
parts=""
for part in HDF5:hdf5 ZLIB:z EXPAT:expat UTF8PROC:utf8proc STEMMER:stemmer LIBSVM:svm; do
	name=KINDRED_${part%:*}
	parts="$parts -D$name=ON -D${name}_INCLUDE=$libraries/include -D${name}_LIBRARY=$libraries/lib/lib${part#*:}.a"
done
optimize="-O3 -DNDEBUG -msimd128"
mkdir -p "$build"
# shellcheck disable=SC2086 # a command with options
$compiler -std=gnu17 $optimize -Iinclude -Icli -Isrc -c js/engine.c -o "$build/engine.o"

link="-sMODULARIZE=1 -sEXPORT_NAME=createKindred -sENVIRONMENT=web,worker -sINVOKE_RUN=0 -sEXIT_RUNTIME=1 -sFORCE_FILESYSTEM=1"
link="$link -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sABORTING_MALLOC=0 -sTOTAL_STACK=8MB -sWASM_BIGINT=1"
link="$link -sEXPORTED_RUNTIME_METHODS=FS,callMain"
link="$link -Wl,--wrap=cli_progress_text -Wl,--wrap=kdr_context_set_isolation -Wl,--wrap=kdr_result_set_command_line $build/engine.o"
# shellcheck disable=SC2086 # a list of options
cmake -S . -B "$build/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$(em-config EMSCRIPTEN_ROOT)/cmake/Modules/Platform/Emscripten.cmake" \
	-DCMAKE_PROJECT_INCLUDE="$root/cmake/wasm.cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="$optimize" \
	-DCMAKE_C_COMPILE_OBJECT="$compiler <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>" -DCMAKE_EXE_LINKER_FLAGS="$link" \
	-DKINDRED_BLAS=builtin -DKINDRED_STATIC=ON -DKINDRED_OPENMP=OFF -DKINDRED_CUDA=OFF -DKINDRED_TESTS=OFF -DKINDRED_BENCH=OFF \
	$parts >"$build/configure.log"
cmake --build "$build/build" -j "$jobs" --target kindred

# The same objects as a module for several threads, for node and isolated pages.
cd "$build/build"
if [ ! -e cli/kindred-threads.wasm ] || [ -n "$(find cli/kindred.wasm -newer cli/kindred-threads.wasm)" ]; then
	threads="-pthread -Wno-pthreads-mem-growth -sPTHREAD_POOL_SIZE=Module.threads -sPTHREAD_POOL_SIZE_STRICT=2 -sDEFAULT_PTHREAD_STACK_SIZE=8MB"
	ninja -t commands kindred | tail -n 1 | sed -e "s#-o cli/kindred.js#$threads -o cli/kindred-threads.js#" -e 's/=FS,callMain/=FS,callMain,ENV/' | sh
fi
cd "$root"
node tools/wasm_package.mjs "$build/build/cli" "$build/package"
(cd "$build" && npm pack --silent ./package)
