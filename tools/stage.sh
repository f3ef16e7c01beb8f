#!/bin/sh
# Runs one stage of a long check, and prints its name, how long it took, and the processor time of its processes, which does not depend
# on what else runs. Usage: tools/stage.sh NAME COMMAND...
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
spent=$(mktemp)
times >"$spent" # not in a pipeline, which would be another shell
processor=$(awk 'NR == 2 {split($1, user, /[ms]/); split($2, sys, /[ms]/); printf "%d", 60 * (user[1] + sys[1]) + user[2] + sys[2]}' "$spent")
rm -f "$spent"
echo "== $name: $how, $(($(date +%s) - start)) s, processor $processor s"
exit $code
