#!/bin/sh
# Runs a program for Windows under wine, with a folder of its own for wine's files. Usage: tools/wine.sh PROGRAM.exe [ARGUMENT...]
# KINDRED_WINE is that folder (default: build/wine).
WINEPREFIX=${KINDRED_WINE:-$(cd "$(dirname "$0")/.." && pwd)/build/wine}
export WINEPREFIX WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="mscoree,mshtml=" WINEARCH=win64
unset DISPLAY WAYLAND_DISPLAY
exec "${WINE:-wine}" "$@"
