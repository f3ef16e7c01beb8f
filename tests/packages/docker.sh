#!/bin/sh
# Builds the image of packaging/docker/Dockerfile with buildah, which needs no daemon, and runs the demo in it. Part of make release: needs root,
# buildah and a mirror of Debian. Usage: docker.sh DIST
#
# The base image is made by mmdebstrap instead of downloaded. KINDRED_MIRROR names another mirror, and KINDRED_BASE a tarball of the base.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
dist=$(cd "$1" && pwd)
if [ "$(id -u)" != 0 ] || ! command -v buildah >/dev/null; then
	echo "skipped: this test needs root and buildah" >&2
	exit 77
fi
work=$(mktemp -d)
builder() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
trap 'builder rm --all >/dev/null 2>&1; rm -rf "$work"' EXIT
base=${KINDRED_BASE:-$work/base.tar}
[ -e "$base" ] || mmdebstrap --quiet --variant=apt bookworm "$base" "${KINDRED_MIRROR:-http://deb.debian.org/debian}"
empty=$(builder from scratch)
builder add --quiet "$empty" "$base" / >/dev/null
builder commit --quiet --rm "$empty" debian:bookworm-slim >/dev/null

mkdir "$work/context"
cp "$dist/kindred-$(cat "$root/VERSION").tar.gz" "$work/context"
builder bud --isolation chroot --network host --pull-never --tag kindred --file "$dist/recipes/docker/Dockerfile" "$work/context" >"$work/log" 2>&1 || {
	tail -50 "$work/log" >&2
	exit 1
}
grep '^\[.*STEP' "$work/log"
container=$(builder from --pull-never kindred)
[ "$(builder inspect --format '{{index .OCIv1.Config.Entrypoint 0}}' "$container")" = kindred ]
[ "$(builder run --isolation chroot "$container" kindred --version)" = "kindred $(cat "$root/VERSION")$(cmake -P "$root/cmake/version_suffix.cmake")" ]
builder run --isolation chroot "$container" sh -c 'kindred demo -o demo && test -s /data/demo/result/task1.labels'
echo "docker: the image has $(du -sm "$(builder mount "$container")" | cut -f1) MB, of which $(($(stat -c %s "$base") >> 20)) MB are the base"
