# The short commands; the build itself is CMake's. SPDX-License-Identifier: BSD-3-Clause
.PHONY: check-web all static windows setup setup-check build-check demo python docs check check-data check-deep check-kernels regression fuzz tsan coverage bench install format clean r packages release wasm web
PREFIX ?= /usr/local
JOBS ?= 2
# The builds for MPI, the wheel and the static program compile most files as the build of the tests does: ccache, if installed, saves them.
ifneq ($(shell command -v ccache),)
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
endif

all: setup
	cmake --preset release
	cmake --build --preset release

setup:
	@tools/setup.sh build

# Builds the program, and runs the main job on built-in data; the last line says where the result lies.
demo: setup
	cmake --preset release
	cmake --build --preset release --target kindred
	build/release/cli/kindred demo -o demo

# One program without dependencies, tested in an empty root: dist/kindred-VERSION-linux-ARCH.tar.gz. With a cross compiler, also for arm64.
static: export JOBS := $(JOBS)
static: all
	tools/package/static.sh dist
	for archive in dist/kindred-*-linux-*.tar.gz; do tests/packages/static.py --suite $$archive build/release/cli/kindred || exit 1; done

# The program and the library for Windows, tested under wine: dist/kindred-VERSION-windows-x86_64.zip
windows: export JOBS := $(JOBS)
windows: all
	@tools/setup.sh windows
	tools/package/windows.sh dist
	for archive in dist/kindred-*-windows-*.zip; do tests/packages/windows.py $$archive build/release/cli/kindred || exit 1; done

# The program as WebAssembly, and the npm package: build/wasm/kindred-VERSION.tgz. Needs emscripten.
wasm:
	tools/wasm.sh $(JOBS)

# The page that runs kindred in a browser, as a folder of static files: build/web. Needs what `make wasm` needs.
web: wasm
	node tools/web.mjs build/wasm/package build/web

# Tests of the npm package, and of the page in Chromium and Firefox. Not part of check-deep, because compiling HDF5 and kindred for them takes many minutes.
check-web: web all
	for part in package chromium firefox; do KINDRED=$(CURDIR)/build/release/cli/kindred /usr/bin/python3 tests/js/run.py $$part || exit 1; done

# The Python package, in build/release/venv.
python: all
	@tools/setup.sh check
	tools/python.sh build/release

# The R package with the C sources in it, build/r/kindred_VERSION.tar.gz; it needs R (Debian: r-base-dev). docs/r.md
r:
	tools/r.sh build

# The documentation site, in build/site: guides, Python and C reference, gallery of reports. Needs no network.
docs: all
	@tools/setup.sh docs
	tools/python.sh build/release
	build/release/venv/bin/python docs/site/build.py build/release build/site
	@echo "Open build/site/index.html in a browser."

# Build, and all tests but the long ones (ctest label deep): minutes. Tests run side by side, and idle threads that spin would hold up the others.
check check-data check-deep check-kernels fuzz tsan: export OMP_WAIT_POLICY ?= passive
check: build-check
	tools/tests.py build/ci -j $(JOBS) -LE deep

# Installs what tests use if it is there, such as R and Octave; `make check` installs what most tests need.
setup-check:
	@tools/setup.sh optional

# The tests that read real data (ctest label data), from KINDRED_DATA or ../shared/data.
check-data: build-check
	tools/tests.py build/ci -L data

# After a change of numerics: the tests of results with the BLAS kernels of other processors, and which labels differ between them.
check-kernels: build-check
	/usr/bin/python3 tools/kernels.py build/ci $(KERNELS)

build-check:
	@tools/setup.sh check
	cmake --preset ci
	cmake --build --preset ci

# What takes longer: clang-tidy, the packages for other systems, fuzzing (a while for each reader; longer: make fuzz FUZZ_SECONDS=600),
# the tests under the sanitizers of addresses and undefined behaviour, those of what runs in threads under that of threads, the
# program under mpirun, and a build with nothing but a C compiler. Two stages run at a time, because each one waits for its longest
# test; each prints its output at its end, with its name and its seconds.
FUZZ_SECONDS ?= 20
STAGE = @tools/stage.sh
DEEP = deep-tests deep-asan deep-minimal deep-mpi deep-tsan deep-fuzz
.PHONY: $(DEEP)
check-deep:
	@tools/setup.sh deep
	cmake --preset ci
	$(STAGE) build cmake --build --preset ci
	@$(MAKE) --no-print-directory -j2 -k --output-sync=target $(DEEP)
deep-tests:
	$(STAGE) 'deep tests' tools/tests.py build/ci -j $(JOBS) -L deep
deep-asan:
	$(STAGE) asan tools/asan.sh $(JOBS)
deep-minimal:
	$(STAGE) minimal tools/minimal.sh $(JOBS)
deep-mpi:
	$(STAGE) mpi tools/mpi.sh $(JOBS)
deep-tsan:
	$(STAGE) tsan tools/tsan.sh $(JOBS)
deep-fuzz:
	$(STAGE) fuzz tools/fuzz.sh $(FUZZ_SECONDS) $$((2 * $(JOBS)))

# Labels and objectives of every method on the real data, compared with those on record (an hour; the same kind of machine).
regression: all
	/usr/bin/python3 tests/regress/labels.py --jobs $(JOBS) build/release/cli/kindred

fuzz:
	@tools/setup.sh check
	tools/fuzz.sh $(FUZZ_SECONDS)

# The threaded unit tests under the thread sanitizer; CONTRIBUTING.md says what it can and cannot see.
tsan:
	tools/tsan.sh $(JOBS)

# Line coverage of src/ by the unit tests.
coverage:
	tools/coverage.sh -R '^unit\.'

# Speed next to named alternatives in the same run, into bench/results.csv; bench/docs.py then updates the README's table.
bench:
	@tools/setup.sh bench
	cmake --preset release
	cmake --build --preset release
	for subject in methods readers embed; do \
		/usr/bin/python3 bench/$$subject.py --build build/release --cpu --out bench/results.csv || test $$? = 77 || exit 1; \
	done

install: all
	cmake --install build/release --prefix $(PREFIX)

# What people install, in dist/: source tarball, Debian packages, wheel, static and Windows programs, with SHA256SUMS.
.PHONY: packages release
packages:
	@tools/setup.sh packages
	tools/package/all.sh dist

# The same, and the tests of each in systems that have never seen the source. Needs root and a mirror of Debian; about an hour.
release: packages
	@tools/setup.sh deep
	cmake --preset release
	cmake --build --preset release --target kindred
	tools/package/test.sh dist

format:
	find include src cli tests bench examples r -name '*.[ch]' -print0 | xargs -0 clang-format -i

clean:
	rm -rf build demo dist
