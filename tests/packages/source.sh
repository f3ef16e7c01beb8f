#!/bin/sh
# The source tarball: its checksum is right, its SBOM names it, another tarball made from it has the same bytes, and make check passes in it
# without git and without a network. Usage: source.sh DIST, or source.sh --quick (makes a tarball, and does not run make check)
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
version=$(cat "$source/VERSION")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$1" = --quick ]; then
	"$source/tools/package/source.sh" "$work/dist"
	dist=$work/dist
else
	dist=$(cd "$1" && pwd)
fi
tarball=$dist/kindred-$version.tar.gz # the archives of the static programs also end with a digit
(cd "$dist" && sha256sum --check --quiet "$(basename "$tarball").sha256")
tar -C "$work" -xzf "$tarball"
cd "$work"/kindred-*
[ ! -e .git ]
[ "$(cat VERSION)" = "$version" ]
! commit=$(git -C "$source" rev-parse HEAD 2>/dev/null) || [ "$(cat cmake/commit.txt)" = "$commit" ]
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
[ "$1" = --quick ] && exit 0
unshare --net sh -c 'ip link set lo up && exec make check' # a kernel of Jupyter is reached through the loopback interface
