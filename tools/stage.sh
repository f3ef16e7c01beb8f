#!/bin/sh
# Runs one stage of a long check, and prints its name and how long it took. Usage: tools/stage.sh NAME COMMAND...
set -u
# A make started by the stage (R CMD INSTALL runs one) must not look for the jobs of the make that started it: the pipe is closed by then.
unset MAKEFLAGS MFLAGS MAKELEVEL
name=$1
shift
echo "== $name"
start=$(date +%s)
"$@"
code=$?
[ $code -eq 0 ] && how=passed || how="FAILED (status $code)"
echo "== $name: $how, $(($(date +%s) - start)) s"
exit $code
