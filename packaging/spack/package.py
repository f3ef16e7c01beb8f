# Spack package. Never built: see ../README.md.
# SPDX-License-Identifier: BSD-3-Clause

from spack.package import *


class Kindred(CMakePackage):
    """kindred clusters several related data sets together, and transfers
    labels from a labelled data set to an unlabelled one."""

    homepage = "https://example.org/kindred"
    url = "https://example.org/kindred/kindred-0.3.0.tar.gz"

    license("BSD-3-Clause")

    version("0.3.0", sha256="SHA256_OF_THE_TARBALL")

    variant("hdf5", default=True, description="Model files, .h5, .h5ad")
    variant("openmp", default=True, description="Use several threads")
    variant("mpi", default=False, description="Use several machines")
    variant("cuda", default=False, description="Plug-in for NVIDIA GPUs")
    variant(
        "builtin_blas",
        default=False,
        description="Use the BLAS and LAPACK routines of kindred",
    )

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("blas", when="~builtin_blas")
    depends_on("lapack", when="~builtin_blas")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("mpi", when="+mpi")
    depends_on("cuda", when="+cuda")
    depends_on("expat")
    depends_on("libsvm")
    depends_on("utf8proc")
    depends_on("zlib-api")

    def cmake_args(self):
        blas = "builtin" if self.spec.satisfies("+builtin_blas") else "system"
        return [
            self.define("KINDRED_TESTS", False),
            self.define("KINDRED_BENCH", False),
            self.define("KINDRED_BLAS", blas),
            self.define_from_variant("KINDRED_HDF5", "hdf5"),
            self.define_from_variant("KINDRED_OPENMP", "openmp"),
            self.define_from_variant("KINDRED_MPI", "mpi"),
            self.define_from_variant("KINDRED_CUDA", "cuda"),
        ]

    @run_after("install")
    def check_demo(self):
        kindred = Executable(self.prefix.bin.kindred)
        kindred("version", "-v")
