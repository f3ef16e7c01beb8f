#!/bin/sh
# Prints the time of the source in seconds since 1970: that of the last commit or, in an unpacked tarball, of its files.
set -eu
cd "$(dirname "$0")/../.."
if [ -e .git ] && git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	git log -1 --format=%ct
else
	stat -c %Y VERSION
fi
