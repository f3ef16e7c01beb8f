#!/bin/sh
# Makes every artefact of a release: OUT has the files, SHA256SUMS, and the recipes of packaging/ with the checksum of the tarball.
# Usage: tools/package/all.sh [OUT]   (default: dist)
# A script that exits with 77 lacks a tool; its artefact is left out, and the last lines say so. All others must succeed.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
rm -rf "$out"
mkdir -p "$out"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}
export SOURCE_DATE_EPOCH
skipped=
times=
for name in source debian wheel static windows; do
	[ -x "tools/package/$name.sh" ] || continue
	echo "== $name"
	start=$(date +%s)
	status=0
	"tools/package/$name.sh" "$out" || status=$?
	case $status in
	0) times="$times$name: $(($(date +%s) - start)) s
" ;;
	77) skipped="$skipped $name" ;;
	*)
		echo "packages: $name failed with status $status" >&2
		exit 1
		;;
	esac
done
echo "== recipes"
tools/package/recipes.sh "$out"
(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
echo "== $out"
printf %s "$times"
(cd "$out" && cut -c67- SHA256SUMS | while read -r file; do printf '%9d kB  %s\n' $((($(stat -c %s "$file") + 999) / 1000)) "$file"; done)
[ -z "$skipped" ] || echo "left out, because a tool is missing:$skipped"
