#!/bin/sh
# The wheel in another Debian, with its Python and NumPy (trixie: Python 3.13, NumPy 2) and no compiler. Part of make release: needs root and the network.
# Usage: wheel.sh SOURCE DIST [SUITE]
set -eu
source=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
suite=${3:-trixie}
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "skipped: this test needs root and mmdebstrap" >&2
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mmdebstrap --quiet --variant=apt --include=python3,python3-venv,python3-pip,python3-numpy,python3-cffi "$suite" "$work/root" "${KINDRED_MIRROR:-http://deb.debian.org/debian}"
mkdir "$work/root/test"
cp "$dist"/kindred-*.whl "$source/tests/install/wheel.py" "$work/root/test/"
unshare --mount --pid --net --fork sh -ec 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"
	exec chroot "$0" env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 sh -ec "$1"' "$work/root" '
	cd /test
	python3 -m venv --system-site-packages venv
	venv/bin/python -m pip install --quiet --no-index kindred-*.whl
	venv/bin/python -m pip check
	env PATH=/nowhere venv/bin/python wheel.py
'
