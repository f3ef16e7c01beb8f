#!/bin/sh
# The wheel in an environment that has NumPy, cffi and nothing of ours: no compiler, no development packages, no libraries but
# those every Linux has. Usage: wheel.sh SOURCE FOLDER BUILD
set -eu
cd "$2"
rm -rf wheel venv run
"$1/tools/wheel.sh" "$PWD/wheel" "$3"
/usr/bin/python3 -m venv venv
site=$(echo venv/lib/python3*/site-packages)
# NumPy and cffi as a package index would bring them: Debian's, by name.
for part in numpy cffi _cffi_backend pycparser ply; do
	for path in /usr/lib/python3/dist-packages/"$part" /usr/lib/python3/dist-packages/"$part".*.so; do
		[ -e "$path" ] && ln -s "$path" "$site/"
	done
done
venv/bin/python -m pip install --quiet --no-index --no-deps wheel/kindred-*.whl
mkdir run
cd run
env -i PATH=/nowhere HOME="$PWD" ../venv/bin/python - <<'P'
import os

import numpy as np

import kindred
rng = np.random.default_rng(1)
y = np.arange(60) % 3
x = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(60, 2))
assert kindred.evaluate(kindred.Auto(n_clusters=3).fit_predict([x, x + .1])[1], y)["acc"] == 1
model = kindred.SVM().fit(x, y)
assert (model.predict(x) == y).all()
with open("/proc/self/maps") as maps:
    used = {line.split()[-1] for line in maps if ".so" in line}
ours = [p for p in used if "/site-packages/kindred/" in p]
carried = os.listdir(os.path.join(os.path.dirname(kindred.__file__), "libs"))
assert any("openblas" in name for name in carried), carried
# (NumPy may have brought its BLAS before us, under the same name.)
for part in ("hdf5", "stemmer", "svm", "utf8proc"):
    assert all(p in ours for p in used if part in os.path.basename(p)), part
print("wheel:", len(ours), "libraries of its own")
P
