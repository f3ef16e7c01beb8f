#!/bin/sh
# Formatting and static analysis, over all sources. Usage: tools/lint.sh format|tidy [BUILD]
#
# Nearly all of the time of tidy is the analyser's walk over the paths of a function, of which it looks at no more than
# TIDY_NODES places: 30000, where its own bound is 225000 and takes four times as long. Of older states of files in which it
# had found something it still finds that, or one of several things. TIDY_NODES=225000 walks further.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
format)
	find include src cli tests bench examples -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
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
