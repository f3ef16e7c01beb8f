#!/usr/bin/python3
"""Writes a list of components (SBOM) as SPDX 2.3 JSON. SPDX-License-Identifier: BSD-3-Clause

Usage: sbom.py TARBALL            the source tarball and the libraries it can be built with
       sbom.py WHEEL --libs FILE  a wheel and the libraries inside; FILE has lines of name, Debian package and version

The libraries are read from cmake/dependencies.cmake and python/pyproject.toml. Only their licences are in this file, and a library
without one is an error. The time is SOURCE_DATE_EPOCH, so that equal input gives equal bytes.
"""
import hashlib
import json
import os
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENSES = {
    "blas": "BSD-3-Clause", "hdf5": "LicenseRef-HDF5", "zlib": "Zlib", "expat": "MIT", "utf8proc": "MIT", "stemmer": "BSD-3-Clause",
    "libsvm": "BSD-3-Clause", "iconv": "NOASSERTION", "openmp": "GPL-3.0-or-later WITH GCC-exception-3.1", "mpi": "BSD-3-Clause",
    "cmocka": "Apache-2.0", "cuda": "LicenseRef-NVIDIA-CUDA", "numpy": "BSD-3-Clause", "cffi": "MIT", "scipy": "BSD-3-Clause", "scikit-learn": "BSD-3-Clause",
    "pandas": "BSD-3-Clause", "anndata": "BSD-3-Clause", "matplotlib": "LicenseRef-matplotlib",
}
OTHER_LICENSES = {"LicenseRef-HDF5": "The HDF5 licence (BSD-style), see the file COPYING of HDF5",
                  "LicenseRef-NVIDIA-CUDA": "The licence of NVIDIA's CUDA toolkit",
                  "LicenseRef-matplotlib": "The licence of matplotlib (based on that of Python)"}


def build_dependencies():
    """(name, Debian package or None, relationship) of every library that the build looks for."""
    text = (ROOT / "cmake/dependencies.cmake").read_text()
    for name, package in re.findall(r"^ *kindred_part\((\w+) (\S+)", text, flags=re.M):
        yield name.lower(), package, "TEST_DEPENDENCY_OF" if name == "CMOCKA" else "OPTIONAL_DEPENDENCY_OF"
    known = re.findall(r'KINDRED_(\w+) (?:AUTO|system) CACHE|option\(KINDRED_(MPI) ', text)
    for name in sorted({a or b for a, b in known}):
        yield name.lower(), None, "OPTIONAL_DEPENDENCY_OF"
    if "KINDRED_CUDA" in (ROOT / "cmake/cuda.cmake").read_text():
        yield "cuda", None, "OPTIONAL_DEPENDENCY_OF"


def python_dependencies():
    text = (ROOT / "python/pyproject.toml").read_text()
    for key, kind in (("dependencies", "RUNTIME_DEPENDENCY_OF"), ("all", "OPTIONAL_DEPENDENCY_OF")):
        for requirement in re.findall(r'"([^"]+)"', re.search(r"^%s = \[(.*)\]" % key, text, flags=re.M)[1]):
            yield re.match(r"[\w-]+", requirement)[0], None, kind


def package(name, version, license_id, **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": license_id, "copyrightText": "NOASSERTION", **more}


def main():
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--libs"):
        sys.exit(__doc__)
    artefact = pathlib.Path(sys.argv[1])
    version = (ROOT / "VERSION").read_text().strip()
    digest = hashlib.sha256(artefact.read_bytes()).hexdigest()
    main_package = package("kindred", version, "BSD-3-Clause", packageFileName=artefact.name, copyrightText="2026 the kindred authors",
                           checksums=[{"algorithm": "SHA256", "checksumValue": digest}])
    packages, relations = [main_package], [("SPDXRef-DOCUMENT", "DESCRIBES", main_package["SPDXID"])]
    if len(sys.argv) == 4:
        for line in pathlib.Path(sys.argv[3]).read_text().splitlines():
            name, debian, found = line.split()
            packages.append(package(name, found, "NOASSERTION", comment="taken from the Debian package " + debian))
            relations.append((main_package["SPDXID"], "CONTAINS", packages[-1]["SPDXID"]))
        dependencies = [entry for entry in python_dependencies() if entry[2] == "RUNTIME_DEPENDENCY_OF"]
    else:
        dependencies = [*build_dependencies(), *python_dependencies()]
    for name, debian, kind in dependencies:
        if name not in LICENSES:
            sys.exit("sbom: no licence is known for %s: add it to tools/package/sbom.py" % name)
        comment = {"comment": "Debian package " + debian} if debian else {}
        packages.append(package(name, "NOASSERTION", LICENSES[name], **comment))
        relations.append((packages[-1]["SPDXID"], kind, main_package["SPDXID"]))
    used = {entry["licenseDeclared"] for entry in packages}
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": artefact.name,
        "documentNamespace": "https://spdx.org/spdxdocs/%s-%s" % (artefact.name, digest[:32]),
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))),
                         "creators": ["Tool: kindred-sbom.py-" + version]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
        "hasExtractedLicensingInfos": [{"licenseId": name, "extractedText": text} for name, text in OTHER_LICENSES.items() if name in used],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
