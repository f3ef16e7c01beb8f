#!/bin/sh
# Writes the recipes of packaging/ to OUT/recipes with the checksum of the source tarball, and checks their syntax.
# Usage: tools/package/recipes.sh [OUT]   (default: dist, which must have the tarball)
set -eu
cd "$(dirname "$0")/../.."
out=$(cd "${1:-dist}" && pwd)
sum=$(sha256sum "$out/kindred-$(cat VERSION).tar.gz" | cut -d' ' -f1)
rm -rf "$out/recipes"
for file in conda/meta.yaml homebrew/kindred.rb spack/package.py docker/Dockerfile; do
	mkdir -p "$out/recipes/$(dirname "$file")"
	sed "s/SHA256_OF_THE_TARBALL/$sum/" "packaging/$file" >"$out/recipes/$file"
done
tests/packages/recipes.py "$out/recipes"
