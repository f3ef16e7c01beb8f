#!/bin/sh
# Unpacks the static libraries that kindred can use, from Debian's packages of another architecture, into a folder. Nothing is
# installed. Usage: tools/package/sysroot.sh ARCHITECTURE FOLDER   (ARCHITECTURE: arm64 or x86_64)
set -eu
architecture=$(echo "$1" | sed s/x86_64/amd64/) # as Debian calls it
folder=$2
mkdir -p "$folder/link"
folder=$(cd "$folder" && pwd)
# Debian's libm.a of the cross compiler for x86-64 is a linker script with the paths of x86-64 itself; link/libm.a has the right ones.
processor=$(echo "$1" | sed s/arm64/aarch64/)
script=/usr/$processor-linux-gnu/lib/libm.a
if head -c 20 "$script" 2>/dev/null | grep -q 'GNU ld script'; then
	sed "s|/usr/lib/$processor-linux-gnu/|/usr/$processor-linux-gnu/lib/|g" "$script" >"$folder/link/libm.a"
fi
[ -e "$folder/complete" ] && exit 0
work=$folder/apt
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
: >"$work/status"
cat >"$work/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "root";
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
END
export APT_CONFIG="$work/apt.conf"
apt-get update -qq
(cd "$work" && apt-get download -qq zlib1g-dev libhdf5-dev libaec-dev libexpat1-dev libutf8proc-dev libstemmer-dev libsvm-dev)
for package in "$work"/*.deb; do
	dpkg-deb -x "$package" "$folder"
done
rm -rf "$work"
: >"$folder/complete"
