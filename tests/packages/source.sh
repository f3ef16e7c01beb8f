#!/bin/sh
# The source tarball: its checksum is right, its SBOM names it, another tarball made from it has the same bytes, and make check passes in it
# without git and without a network. Usage: source.sh DIST [quick]   (quick: no make check)
set -eu
dist=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tarball=$(echo "$dist"/kindred-*[0-9].tar.gz)
(cd "$dist" && sha256sum --check --quiet "$(basename "$tarball").sha256")
tar -C "$work" -xzf "$tarball"
cd "$work"/kindred-*
[ ! -e .git ]
version=$(cat VERSION)
/usr/bin/python3 - "$dist/kindred-$version.spdx.json" "$tarball" <<'P'
import hashlib
import json
import sys

document = json.load(open(sys.argv[1]))
first = document["packages"][0]
assert document["spdxVersion"] == "SPDX-2.3" and first["name"] == "kindred", first
assert first["checksums"][0]["checksumValue"] == hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
known = {entry["SPDXID"] for entry in document["packages"]} | {"SPDXRef-DOCUMENT"}
assert len(known) == len(document["packages"]) + 1
for relation in document["relationships"]:
    assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= known, relation
print("sbom:", len(document["packages"]), "packages")
P
tools/package/source.sh "$work/again" >/dev/null
cmp "$tarball" "$work/again/kindred-$version.tar.gz"
echo "source: a tarball made from the tarball has the same bytes"
[ "${2-}" = quick ] && exit 0
unshare --net make check
