#!/bin/sh
# Makes every artefact of a release: OUT has the files, SHA256SUMS, a table of sizes and times (artefacts.md), and the recipes of
# packaging/ with the checksum of the tarball. Usage: tools/package/all.sh [OUT [NAME...]]
# (default: dist, and all of: source debian wheel static windows)
# A script that exits with 77 lacks a tool; its artefact is skipped, and the last lines say so. All others must succeed.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- source debian wheel static windows
rm -rf "$out"
mkdir -p "$out"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)}
export SOURCE_DATE_EPOCH
skipped=
before=0
echo "| file, made on $(uname -m) | size | processor time of the build |
|---|---:|---:|" >"$out/artefacts.md"
for name; do
	echo "== $name"
	touch "$out/.start"
	status=0
	"tools/package/$name.sh" "$out" || status=$?
	case $status in
	0) ;;
	77) skipped="$skipped $name" ;;
	*)
		echo "packages: $name failed with status $status" >&2
		exit 1
		;;
	esac
	times >"$out/.times" # of this shell, and of the programs it has run; in a pipeline it would be that of another shell
	now=$(awk 'NR == 2 {split($1, user, /[ms]/); split($2, sys, /[ms]/); printf "%d", 60 * (user[1] + sys[1]) + user[2] + sys[2]}' "$out/.times")
	first="$((now - before)) s"
	before=$now
	for file in $(find "$out" -maxdepth 1 -newer "$out/.start" \( -name '*.tar.gz' -o -name '*.deb' -o -name '*.whl' -o -name '*.zip' \) | LC_ALL=C sort); do
		echo "| \`$(basename "$file")\` | $((($(stat -c %s "$file") + 999) / 1000)) kB | $first |" >>"$out/artefacts.md"
		first='with the file above'
	done
done
rm -f "$out/.start" "$out/.times"
if [ -e "$out/kindred-$(cat VERSION).tar.gz" ]; then
	echo "== recipes"
	tools/package/recipes.sh "$out"
fi
(cd "$out" && find . -maxdepth 1 -type f ! -name "SHA256SUMS*" ! -name artefacts.md -printf '%f\n' | LC_ALL=C sort | xargs sha256sum) >"$out/SHA256SUMS.new"
mv "$out/SHA256SUMS.new" "$out/SHA256SUMS"
echo "== $out"
cat "$out/artefacts.md"
[ -z "$skipped" ] || echo "skipped, because a tool is missing:$skipped"
