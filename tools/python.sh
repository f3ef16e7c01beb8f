#!/bin/sh
# Builds the Python package into BUILD/venv with the library of an existing build. Usage: tools/python.sh [BUILD]   (default build/release)
# The environment uses Debian's packages (NumPy, cffi, ...); nothing is downloaded.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
[ -e "$build/src/libkindred.so" ] || { cmake --preset "$(basename "$build")" >/dev/null; cmake --build "$build" --target kindred_shared; }
venv=$build/venv
[ -e "$venv/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$venv"
# Build in a copy, so that the source tree stays unchanged.
rm -rf "$build/python"
mkdir -p "$build/python"
cp -r python "$build/python/python"
ln -s "$PWD/include" "$PWD/VERSION" "$PWD/bench" "$build/python"
KINDRED_LIBRARY=$build/src/libkindred.so
case $KINDRED_LIBRARY in /*) ;; *) KINDRED_LIBRARY=$PWD/$KINDRED_LIBRARY ;; esac
export KINDRED_LIBRARY
"$venv/bin/python" -m pip install --quiet --no-build-isolation --no-deps --no-index --force-reinstall "$build/python/python"
# KINDRED_PRELOAD names a library that the interpreter must load first, such as the runtime of a sanitizer.
LD_PRELOAD=${KINDRED_PRELOAD-} "$venv/bin/python" -c 'import kindred; print("kindred", kindred.__version__, "for Python:", kindred.__file__)'
