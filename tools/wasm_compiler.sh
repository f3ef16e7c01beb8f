#!/bin/sh
# Prints the command that compiles C to WebAssembly: clang with emscripten's flags or, if clang is not found, emcc. emcc is a Python
# program, and starting it takes longer than compiling a small file.
set -eu
clang=$(em-config LLVM_ROOT 2>/dev/null || true)/clang
suffix=$(em-config CLANG_ADD_VERSION 2>/dev/null || true) # Debian's name is clang-14
[ -z "$suffix" ] || clang=$clang-$suffix
if [ -x "$clang" ] && flags=$(emcc --cflags 2>/dev/null | tail -n 1) && [ -n "$flags" ]; then
	echo "$clang $flags"
else
	echo emcc
fi
