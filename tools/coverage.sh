#!/bin/sh
# Measures the line coverage of src/ by the tests with gcov. Usage: tools/coverage.sh [CTEST OPTION...]
# Prints the files with the lowest coverage and the total; build/coverage/lines.txt lists all files.
set -eu
cd "$(dirname "$0")/.."
cmake --preset coverage >/dev/null
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
ctest --test-dir build/coverage --output-on-failure "$@" || echo "coverage: some tests failed; the figures are those of the run"
# One object a source file: gcov names each source with the share of its lines that ran.
find build/coverage/src -name '*.gcda' -exec gcov -n {} + 2>/dev/null |
awk -v root="$PWD/" '
	/^File / { name = substr($0, 7, length($0) - 7); sub(root, "", name) }
	/^Lines executed:/ && name ~ /^src\/.*\.c$/ {
		split(substr($0, 16), part, "% of ")
		print part[1], part[2], name
		name = ""
	}' | sort -n > build/coverage/lines.txt
head -n 10 build/coverage/lines.txt
awk '{ ran += $1 / 100 * $2; all += $2 } END { printf "src: %.1f %% of %d lines in %d files\n", 100 * ran / all, all, NR }' \
	build/coverage/lines.txt
