#!/bin/sh
# Builds the artefacts a second time and compares their bytes with those in DIST.
# Usage: tools/package/reproduce.sh [--update] [DIST [NAME...]]
# (default: dist, made by make packages of the same source, and all of: source debian wheel static windows)
# --update writes the table of sizes and times to packaging/README.md. KEEP names a folder for files that differ.
#
# The second build runs in the unpacked source tarball, in another folder, with another time zone, locale and file mode mask, and without
# ccache, so that it compiles everything again. Only the downloaded archives and libraries of Debian are taken from the first build.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
update=
[ "${1-}" != --update ] || { update=yes && shift; }
dist=$(cd "${1:-dist}" && pwd)
[ $# -eq 0 ] || shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/another-folder-for-the-second-build"
tools/package/source.sh "$work/source" >/dev/null
tar -C "$work/another-folder-for-the-second-build" --strip-components=1 -xzf "$work"/source/kindred-*.tar.gz
rm -rf "$work/source"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(tools/package/stamp.sh)} # as in tools/package/all.sh
DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=2 noautodbgsym} nocheck" # the tests were run by the first build, and write no file
export SOURCE_DATE_EPOCH DEB_BUILD_OPTIONS CCACHE_DISABLE=1
unset CMAKE_C_COMPILER_LAUNCHER
(
	umask 027
	export TZ=Pacific/Kiritimati LC_ALL=C.UTF-8
	cd "$work/another-folder-for-the-second-build"
	if [ -d "$root/build/windows-libraries/sources" ]; then
		mkdir -p build/windows-libraries/sources
		cp "$root"/build/windows-libraries/sources/*.orig.tar.* build/windows-libraries/sources
	fi
	for sysroot in "$root"/build/sysroot-*; do
		[ ! -e "$sysroot/complete" ] || cp -R "$sysroot" build
	done
	tools/package/all.sh "$work/dist" "$@" >"$work/log" 2>&1 || {
		tail -30 "$work/log"
		exit 1
	}
	cat "$work/dist/artefacts.md"
)
status=0
for file in "$work"/dist/*.tar.gz "$work"/dist/*.deb "$work"/dist/*.whl "$work"/dist/*.zip; do
	[ -e "$file" ] || continue
	name=$(basename "$file")
	first=$(sha256sum <"$dist/$name" | cut -d' ' -f1)
	second=$(sha256sum <"$file" | cut -d' ' -f1)
	if [ "$first" = "$second" ]; then
		echo "equal      $first  $name"
	else
		echo "DIFFERENT  $first  $second  $name"
		[ -z "${KEEP-}" ] || cp "$file" "$KEEP"
		status=1
	fi
done
[ -z "$update" ] || sed -i -e '/<!-- artefacts -->/,/<!-- end -->/{//!d}' -e "/<!-- artefacts -->/r $work/dist/artefacts.md" packaging/README.md
exit $status
