#!/bin/sh
# Checks the formatting of all sources, or runs static analysis. Usage: tools/lint.sh format|tidy [BUILD]
#
# clang-tidy spends nearly all of its time in the path analysis of single functions. TIDY_NODES limits the nodes it visits to 30000; its own limit of
# 225000 takes four times as long. On older versions of files in which it had found problems, it still finds the same problem, or one of
# several. Use TIDY_NODES=225000 for the full analysis.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
format)
	find include src cli tests bench examples r -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
	;;
tidy)
	build=${2:-build/ci}
	# Two at a time; each file that the build has (MPI's two are seldom in it) is analysed with the flags it was built with.
	find "$PWD/src" "$PWD/cli" -name '*.c' | while read -r file; do
		grep -q "\"file\": \"$file\"" "$build/compile_commands.json" && printf '%s\0' "$file"
	done | xargs -0 -P 2 -n 4 clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option \
		--extra-arg=-Wno-unknown-attributes --extra-arg=-Wno-ignored-attributes \
		--extra-arg=-Wno-unused-command-line-argument --extra-arg=-Xclang --extra-arg=-analyzer-config \
		--extra-arg=-Xclang --extra-arg=max-nodes="${TIDY_NODES:-30000}"
	;;
*)
	echo "usage: tools/lint.sh format|tidy [BUILD]" >&2
	exit 2
	;;
esac
