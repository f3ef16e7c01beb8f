#!/bin/sh
# The Debian packages in a Debian 12 that has never seen the source: install, upgrade, the commands of autopkgtest, purge. Part of make release, since it needs
# root and the network (a mirror of Debian).
# Usage: debian.sh SOURCE DIST
#
# The first installation is an older version: the same packages under another version number. KINDRED_MIRROR names another mirror, and KINDRED_BASE a
# tarball of a minimal system (mmdebstrap --variant=apt bookworm FILE), which saves a minute.
set -eu
source=$(cd "$1" && pwd)
dist=$(cd "$2" && pwd)
mirror=${KINDRED_MIRROR:-http://deb.debian.org/debian}
packages="kindred libkindred0.3 libkindred-dev python3-kindred kindred-doc"
if [ "$(id -u)" != 0 ]; then
	echo "skipped: this test needs root" >&2
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

# Runs a command in the chroot. Its /proc and /dev disappear with the command.
inside() {
	unshare --mount --pid --fork sh -ec 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive OMP_NUM_THREADS=2 "$@"' "$root" "$@"
}
apt() { inside apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; exit 1; }; }
files() { # all files except caches, logs and the records of apt and dpkg
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./run -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune -o -print | LC_ALL=C sort)
}

if [ -n "${KINDRED_BASE-}" ]; then
	mkdir "$root"
	tar -C "$root" -xf "$KINDRED_BASE"
elif command -v mmdebstrap >/dev/null; then
	mmdebstrap --quiet --variant=apt bookworm "$root" "$mirror"
else
	debootstrap --variant=minbase bookworm "$root" "$mirror" >/dev/null
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
version=$(dpkg-deb -f "$(echo "$dist"/kindred_*.deb)" Version)
older=$(cat "$source/VERSION")-0
mkdir "$root/new" "$root/older"
for package in $packages; do
	file=$(echo "$dist/${package}_${version}"_*.deb)
	cp "$file" "$root/new/$package.deb"
	dpkg-deb -R "$file" "$work/unpacked"
	sed -i "s/^Version: .*/Version: $older/; s/(= $version)/(= $older)/g" "$work/unpacked/DEBIAN/control"
	dpkg-deb -Znone --root-owner-group -b "$work/unpacked" "$root/older/$package.deb" >/dev/null
	rm -rf "$work/unpacked"
done
chmod -R a+rX "$root/new" "$root/older"

echo "dependencies"
apt update
pattern=$(echo "$packages libkindred0" | sed 's/\./\\./g; s/ /|/g')
needs=$( (for package in $packages; do dpkg-deb -f "$root/new/$package.deb" Depends Pre-Depends | sed 's/^[^:]*: //'; done
	sed -n 's/^Depends: //p' "$source/debian/tests/control") | tr ',' '\n' | sed 's/^ *//; s/ *$//' | grep . | grep -vE "^($pattern)( |\$)" | sort -u | paste -sd,)
apt satisfy "$needs"
files >"$work/before"

echo "install $older"
# shellcheck disable=SC2046,SC2086 # lists
apt install $(printf '/older/%s.deb ' $packages)
[ "$(inside dpkg-query -W -f '${Version}' kindred)" = "$older" ]
echo "upgrade to $version"
# shellcheck disable=SC2046,SC2086
apt install $(printf '/new/%s.deb ' $packages)
for package in $packages; do
	[ "$(inside dpkg-query -W -f '${db:Status-Status} ${Version}' "$package")" = "installed $version" ]
done
[ "$(inside kindred --version)" = "kindred $(cat "$source/VERSION")$(cmake -P "$source/cmake/version_suffix.cmake")" ]
apt install libkindred0 # provided by the package with the library's full name

mkdir -p "$root/tmp/tests/debian"
cp -r "$source/examples" "$root/tmp/tests/"
cp -r "$source/debian/tests" "$root/tmp/tests/debian/"
for name in $(sed -n 's/^Tests: //p' "$source/debian/tests/control"); do
	echo "autopkgtest $name"
	mkdir "$root/tmp/$name"
	inside sh -c "cd /tmp/tests && AUTOPKGTEST_TMP=/tmp/$name debian/tests/$name" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	tail -1 "$work/log"
done
# Every command has a manual page, and the guides are there.
for command in $(inside kindred --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	[ -s "$root/usr/share/man/man1/kindred-$command.1.gz" ] || { echo "no manual page for $command" >&2; exit 1; }
done
[ -s "$root/usr/share/doc/kindred/docs/index.md" ] && [ -s "$root/usr/share/doc/kindred/examples/cluster.c" ]

echo "purge"
# shellcheck disable=SC2086
apt purge $packages
files >"$work/after"
if ! diff "$work/before" "$work/after" >"$work/diff"; then
	echo "files that differ after the packages were removed:" >&2
	cat "$work/diff" >&2
	exit 1
fi
echo "debian: installed, upgraded, tested and removed without a trace"
