#!/bin/sh
# Makes the source tarball, its checksum and its SBOM: OUT/kindred-VERSION.tar.gz, .sha256 and .spdx.json.
# Usage: tools/package/source.sh [OUT]   (default: dist)
#
# In a git checkout, the tarball has the files of the last commit, with its time. In an unpacked tarball, it has the files of that
# tarball with their time. Either way the same source gives the same bytes.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(cat VERSION)
name=kindred-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
if [ -e .git ] && git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	[ -z "$(git status --porcelain)" ] || echo "source: changes that are not committed are left out" >&2
	git archive --format=tar HEAD | tar -C "$work/$name" -xf -
else
	tar --exclude=./.git --exclude=./build --exclude=./dist --exclude=./demo --exclude=__pycache__ --exclude='./obj-*' --exclude=.pybuild --exclude=.pc -cf - . |
		tar -C "$work/$name" -xf -
fi
stamp=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}
tar -C "$work" --format=gnu --sort=name --mtime="@$stamp" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -cf "$work/$name.tar" "$name"
gzip -n -9 <"$work/$name.tar" >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
SOURCE_DATE_EPOCH=$stamp /usr/bin/python3 tools/package/sbom.py "$out/$name.tar.gz" >"$out/$name.spdx.json"
cat "$out/$name.tar.gz.sha256"
