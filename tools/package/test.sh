#!/bin/sh
# Tests every artefact in DIST, and builds those that must be reproducible a second time. Usage: tools/package/test.sh [DIST]   (default: dist)
# Needs root and a mirror of Debian for the tests in clean systems; a test that exits with 77 is reported as skipped.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
dist=$(cd "${1:-dist}" && pwd)
mkdir -p build/packages
failed=
check() { # check NAME COMMAND...
	name=$1
	shift
	status=0
	tools/stage.sh "$name" "$@" || status=$?
	case $status in
	0) ;;
	77) echo "$name: skipped" ;;
	*) failed="$failed $name" ;;
	esac
}
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)
# The minimal system that two of the tests begin with.
if [ -z "${KINDRED_BASE-}" ] && [ "$(id -u)" = 0 ]; then
	KINDRED_BASE=$root/build/packages/base.tar
	export KINDRED_BASE
	mmdebstrap --quiet --variant=apt bookworm "$KINDRED_BASE" "${KINDRED_MIRROR:-http://deb.debian.org/debian}"
fi
check source tests/packages/source.sh "$dist"
check debian tests/packages/debian.sh "$root" "$dist"
check wheel tests/install/wheel.sh "$root" "$root/build/packages" "$(echo "$dist"/kindred-*.whl)"
check 'wheel, Debian 13' tests/packages/wheel.sh "$root" "$dist" trixie
check docker tests/packages/docker.sh "$dist"
# The other programs must give the labels of the ordinary build.
for archive in "$dist"/kindred-*-linux-*.tar.gz; do
	[ ! -e "$archive" ] || check "$(basename "$archive")" /usr/bin/python3 tests/packages/static.py --suite "$archive" build/release/cli/kindred
done
for archive in "$dist"/kindred-*-windows-*.zip; do
	[ ! -e "$archive" ] || check "$(basename "$archive")" /usr/bin/python3 tests/packages/windows.py --suite "$archive" build/release/cli/kindred
done
check reproduce tools/package/reproduce.sh "$dist"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
