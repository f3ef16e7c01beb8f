#!/bin/sh
# Formatting and static analysis, over all sources. Usage: tools/lint.sh format|tidy [BUILD]
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
format)
	find include src cli tests bench examples -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror
	;;
tidy)
	build=${2:-build/ci}
	# Two at a time; each file is analysed with the flags the build used.
	find "$PWD/src" "$PWD/cli" -name '*.c' -print0 | xargs -0 -P 2 -n 4 clang-tidy --quiet -p "$build" \
		--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-attributes --extra-arg=-Wno-ignored-attributes
	;;
*)
	echo "usage: tools/lint.sh format|tidy [BUILD]" >&2
	exit 2
	;;
esac
