# The short commands; the build itself is CMake's. SPDX-License-Identifier: BSD-3-Clause
.PHONY: all setup demo check bench install clean
PREFIX ?= /usr/local

all: setup
	cmake --preset release
	cmake --build --preset release

setup:
	@tools/setup.sh build

check:
	@tools/setup.sh check
	cmake --preset ci
	cmake --build --preset ci
	ctest --test-dir build/ci --output-on-failure -j 2

install: all
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
