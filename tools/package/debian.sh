#!/bin/sh
# Builds the Debian packages from the source tarball: OUT/kindred_VERSION-0kindred1_ARCH.deb and four more.
# Usage: tools/package/debian.sh [OUT [WORK]]   (default: dist, and a temporary folder)
#
# The build runs in a copy, so that the source tree stays unchanged. lintian must report neither an error nor a warning.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ $# -ge 2 ]; then
	work=$2
	rm -rf "$work"
	mkdir -p "$work"
	work=$(cd "$work" && pwd)
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
name=kindred-$(cat VERSION)
tools/package/source.sh "$work/source" >/dev/null
tar -C "$work" -xzf "$work/source/$name.tar.gz"
cd "$work/$name"
# Packages with debugging symbols are not part of a release. The files have the time of the newest entry in debian/changelog.
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-parallel=2 noautodbgsym} dpkg-buildpackage -us -uc -b >"$work/build.log" 2>&1 || {
	tail -50 "$work/build.log" >&2
	exit 1
}
cd "$work"
if lintian --allow-root --fail-on error,warning --info --tag-display-limit 0 kindred_*.changes >lintian.log 2>&1; then
	echo "lintian: no errors, no warnings"
else
	cat lintian.log >&2
	exit 1
fi
for package in *.deb; do
	case $package in *-dbgsym_*) continue ;; esac
	cp "$package" "$out/"
	(cd "$out" && sha256sum "$package")
done
