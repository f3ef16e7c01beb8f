#!/bin/sh
# Builds the source tarball, the Debian packages and the wheel a second time and compares their bytes with those in DIST.
# Usage: tools/package/reproduce.sh [DIST]   (default: dist, made by make packages of the same commit)
#
# The second build runs in a clone in another folder, with another time zone, locale and file mode mask.
set -eu
cd "$(dirname "$0")/../.."
dist=$(cd "${1:-dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/another-folder-for-the-clone"
mkdir "$work/dist"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)} # as in tools/package/all.sh
export SOURCE_DATE_EPOCH
(
	umask 027
	export TZ=Pacific/Kiritimati LC_ALL=C.UTF-8
	cd "$work/another-folder-for-the-clone"
	tools/package/source.sh "$work/dist" >/dev/null
	tools/package/debian.sh "$work/dist" "$work/another-folder-for-debian" >/dev/null
	tools/package/wheel.sh "$work/dist" >/dev/null
)
status=0
for file in "$work"/dist/*.tar.gz "$work"/dist/*.deb "$work"/dist/*.whl; do
	name=$(basename "$file")
	first=$(sha256sum <"$dist/$name" | cut -d' ' -f1)
	second=$(sha256sum <"$file" | cut -d' ' -f1)
	if [ "$first" = "$second" ]; then
		echo "equal      $first  $name"
	else
		echo "DIFFERENT  $first  $second  $name"
		status=1
	fi
done
exit $status
