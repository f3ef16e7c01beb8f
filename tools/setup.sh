#!/bin/sh
# Installs the missing packages that are needed to build kindred (and, with "check", to test it; with "optional", without skipping a test) on Debian or Ubuntu. On other systems it prints what
# to install. If nothing is missing, it does nothing and needs no network.
# Usage: tools/setup.sh [build|check|optional|deep|bench|packages]
# or tools/setup.sh docs, for the documentation site alone, and tools/setup.sh windows, for make windows.
set -eu

build="gcc make cmake ninja-build pkg-config libopenblas-openmp-dev zlib1g-dev
libhdf5-dev libexpat1-dev libutf8proc-dev libstemmer-dev libsvm-dev"
check="g++ clang clang-format clang-tidy libclang-rt-dev libomp-dev libcmocka-dev python3 python3-numpy python3-scipy
python3-sklearn python3-pot python3-h5py python3-pandas python3-anndata python3-openpyxl man-db zsh valgrind locales
python3-cffi python3-setuptools python3-wheel python3-venv python3-pip python3-mypy python3-nbclient
python3-ipykernel python3-numpydoc patchelf"
optional="r-base-dev r-cran-testthat r-cran-matrix r-cran-knitr r-cran-rmarkdown devscripts qpdf octave firefox-esr"
deep="ccache chromium chromium-driver python3-selenium libopenmpi-dev openmpi-bin"
docs="python3 python3-numpy python3-scipy python3-cffi python3-setuptools python3-wheel python3-venv python3-pip
python3-sphinx python3-numpydoc python3-myst-parser furo"
windows="gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix libz-mingw-w64-dev zip python3"
packages="debhelper dh-python dpkg-dev fakeroot lintian python3-all-dev mmdebstrap buildah ruby rubocop flake8 black isort
python3-yaml qemu-user-static"
bench="python3 python3-numpy python3-scipy python3-sklearn python3-pandas python3-faiss"

# Only where there is none: that of another source may be installed.
command -v node >/dev/null 2>&1 || check="$check nodejs"
command -v npm >/dev/null 2>&1 || optional="$optional npm"

# Programs for another processor; wine runs programs of this processor alone.
if [ "$(uname -m)" = x86_64 ]; then
	windows="$windows wine64 wine"
	packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++-12-dev-arm64-cross"
else
	windows="$windows gcc-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user-static"
	packages="$packages libstdc++-12-dev-amd64-cross"
fi

case "${1:-build}" in
build) wanted=$build ;;
check) wanted="$build $check" ;;
optional | deep)
	wanted="$build $check $deep $docs"
	[ "$1" != optional ] || wanted="$wanted $optional"
	[ "$(uname -m)" != x86_64 ] || wanted="$wanted $windows"
	;;
docs) wanted="$build $docs" ;;
windows) wanted="$build $windows" ;;
bench) wanted="$build $bench" ;;
packages) wanted="$build $check $packages $windows" ;;
*)
	echo "usage: tools/setup.sh [build|check|optional|deep|docs|windows|bench|packages]" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
	# Elsewhere: CMake itself says which library is missing; name them all here once.
	missing=""
	for tool in cc cmake ninja pkg-config; do
		command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
	done
	if command -v pkg-config >/dev/null 2>&1; then
		for module in openblas zlib hdf5 libutf8proc; do
			pkg-config --exists "$module" 2>/dev/null || missing="$missing $module"
		done
	fi
	[ -z "$missing" ] && exit 0
	echo "kindred: not a Debian or Ubuntu system; please install:$missing" >&2
	echo "kindred: (Debian calls them: $wanted)" | tr "\n" " " >&2; echo >&2
	exit 1
fi

missing=""
for package in $wanted; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

run=""
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "kindred: missing packages, and neither root nor sudo to install them:$missing" >&2
		exit 1
	fi
	run=sudo
fi
echo "kindred: installing:$missing"
$run apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
