#!/bin/sh
# The wheel in an environment that has NumPy and cffi only: no compiler, no development packages, no libraries other than those every Linux
# has. Runs with Debian's Python and with the python3 first on PATH, if that is another one for which NumPy and cffi can be found.
# Usage: wheel.sh SOURCE FOLDER [WHEEL]   (by default the wheel is made first)
set -eu
source=$1
wheel=${3-}
cd "$2"
rm -rf wheel venv run
if [ -z "$wheel" ]; then
	"$source/tools/package/wheel.sh" "$PWD/wheel"
	wheel=$(echo "$PWD"/wheel/kindred-*.whl)
fi

# The name: one wheel for all versions of Python, and no file inside needs a newer glibc than the tag says.
version=$(cat "$source/VERSION")
case $wheel in
*/kindred-"$version"-cp39-abi3-manylinux_2_*_"$(uname -m)".whl) ;;
*)
	echo "wheel: unexpected name: $wheel" >&2
	exit 1
	;;
esac
minor=$(echo "$wheel" | sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/')
mkdir run
/usr/bin/python3 -m zipfile -e "$wheel" run/unpacked
newest=$(find run/unpacked -name '*.so*' -exec objdump -T {} + | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -1)
[ "$newest" = "GLIBC_2.$minor" ] || { echo "wheel: the tag says 2.$minor, the files need $newest" >&2; exit 1; }
# Only these may come from the system.
find run/unpacked -name '*.so*' -exec objdump -p {} + | awk '$1 == "NEEDED" {print $2}' | sort -u | while read -r name; do
	case $name in
	libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | ld-linux-*.so.* | libgcc_s.so.1 | libstdc++.so.6) continue ;;
	esac
	find run/unpacked -name "$name" | grep -q . || { echo "wheel: $name is missing" >&2; exit 1; }
done
[ -s run/unpacked/kindred-"$version".dist-info/licenses/kindred ]

try() { # try PYTHON
	rm -rf venv
	"$1" -m venv venv
	site=$(echo "$PWD"/venv/lib/python3*/site-packages)
	# NumPy and cffi as a package index would bring them, with their metadata: Debian's, by name, or those of this Python.
	for part in numpy cffi _cffi_backend pycparser ply; do
		for path in /usr/lib/python3/dist-packages/"$part" /usr/lib/python3/dist-packages/"$part".*.so /usr/lib/python3/dist-packages/"$part"-*-info \
			/usr/lib/python3/dist-packages/"$part"-*.egg-info; do
			[ -e "$path" ] && ln -sf "$path" "$site/"
		done
	done
	if ! venv/bin/python -c 'import numpy, cffi, _cffi_backend' 2>/dev/null; then
		echo "wheel: skipped: no NumPy and cffi for $("$1" --version)"
		return
	fi
	venv/bin/python -m pip install --quiet --no-index --no-deps "$wheel"
	venv/bin/python -m pip check
	(
		cd run
		env -i PATH=/nowhere HOME="$PWD" PYTHONDONTWRITEBYTECODE=1 ../venv/bin/python "$source/tests/install/wheel.py"
		for test in null labelling; do
			env -i PATH=/nowhere HOME="$PWD" PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive ../venv/bin/python "$source/python/tests/test_$test.py"
		done
	)
}
try /usr/bin/python3
other=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || echo /usr/bin/python3)
if [ "$("$other" --version)" != "$(/usr/bin/python3 --version)" ]; then
	try "$other"
fi
ls -l "$wheel"
