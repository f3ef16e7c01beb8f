#!/bin/sh
# The shared library exports what src/exports.txt lists, and nothing else, under the version of its name (libkindred.so.0.3:
# KINDRED_0.3). Usage: exports.sh LIBRARY LIST...
set -eu
version=KINDRED_$(objdump -p "$1" | awk '$1 == "SONAME" {sub(/.*\.so\./, "", $2); print $2}')
library=$1
shift
nm -D --defined-only "$library" | awk '$2 ~ /[TBDR]/ {print $3}' | sed "s/@@$version\$//" | LC_ALL=C sort >"${TMPDIR:-/tmp}/exports.$$"
status=0
LC_ALL=C sort "$@" | diff -u - "${TMPDIR:-/tmp}/exports.$$" || status=1
rm -f "${TMPDIR:-/tmp}/exports.$$"
[ $status = 0 ] || echo "exports differ: update src/exports.txt if the change is intended" >&2
exit $status
