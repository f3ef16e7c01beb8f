#!/bin/sh
# Runs one stage of a long check, and prints its name and how long it took. Usage: tools/stage.sh NAME COMMAND...
set -u
name=$1
shift
echo "== $name"
start=$(date +%s)
"$@"
code=$?
[ $code -eq 0 ] && how=passed || how="FAILED (status $code)"
echo "== $name: $how, $(($(date +%s) - start)) s"
exit $code
