#!/bin/sh
# The shared library exports what src/exports.txt lists, and nothing else. Usage: exports.sh LIBRARY LIST
set -eu
nm -D --defined-only "$1" | awk '$2 ~ /[TBDR]/ {print $3}' | LC_ALL=C sort >"${TMPDIR:-/tmp}/exports.$$"
status=0
diff -u "$2" "${TMPDIR:-/tmp}/exports.$$" || status=1
rm -f "${TMPDIR:-/tmp}/exports.$$"
[ $status = 0 ] || echo "exports differ: mend src/exports.txt if the change is meant" >&2
exit $status
