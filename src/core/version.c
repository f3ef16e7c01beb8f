/* Version and build. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

#ifndef KDR_BUILD_COMPILER
#define KDR_BUILD_COMPILER "unknown compiler"
#endif
#ifndef KDR_BUILD_BLAS
#define KDR_BUILD_BLAS "unknown"
#endif
#ifndef KDR_BUILD_TYPE
#define KDR_BUILD_TYPE "unknown"
#endif

const char *kdr_version(void)
{
	return KDR_VERSION;
}

void kdri_set_absent(kdr_context *ctx, const char *what, const char *part, const char *instead)
{
	kdri_set_error(ctx, "%s: this build of kindred has no %s%s%s", what, part, instead ? "; " : "",
	               instead ? instead : "");
}

/* The parts a build may lack. */
static const struct {
	const char *name;
	bool have;
} parts[] = {
#ifdef KDRI_HAVE_HDF5
	{ "hdf5", true },
#else
	{ "hdf5", false },
#endif
#ifdef KDRI_HAVE_ZLIB
	{ "zlib", true },
#else
	{ "zlib", false },
#endif
#ifdef KDRI_HAVE_UTF8PROC
	{ "utf8proc", true },
#else
	{ "utf8proc", false },
#endif
#ifdef KDRI_HAVE_STEMMER
	{ "stemmer", true },
#else
	{ "stemmer", false },
#endif
#ifdef KDRI_HAVE_LIBSVM
	{ "libsvm", true },
#else
	{ "libsvm", false },
#endif
#ifdef _OPENMP
	{ "openmp", true },
#else
	{ "openmp", false },
#endif
};

bool kdr_build_has(const char *part)
{
	for (size_t i = 0; part && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(parts[i].name, part) == 0)
			return parts[i].have;
	return false;
}

const char *kdr_build_info(void)
{
	return "compiler: " KDR_BUILD_COMPILER "\n"
	       "build: " KDR_BUILD_TYPE "\n"
	       "blas: " KDR_BUILD_BLAS "\n"
#ifdef _OPENMP
	       "threads: OpenMP\n"
#else
	       "threads: one: no OpenMP\n"
#endif
#ifdef KDRI_HAVE_HDF5
	       "hdf5: yes\n"
#else
	       "hdf5: no: .h5, .h5ad and MATLAB 7.3 files and models are refused\n"
#endif
#ifdef KDRI_HAVE_ZLIB
	       "zlib: yes\n"
#else
	       "zlib: no: .gz files and compressed parts of .npz and .mat files are refused\n"
#endif
#ifdef KDRI_HAVE_UTF8PROC
	       "utf8proc: yes\n"
#else
	       "utf8proc: no: text beyond ASCII is refused, unless tokens=ascii\n"
#endif
#ifdef KDRI_HAVE_STEMMER
	       "stemmer: yes\n"
#else
	       "stemmer: no: stemmers are refused\n"
#endif
#ifdef KDRI_HAVE_LIBSVM
	       "libsvm: yes\n"
#else
	       "libsvm: no: trec with classifier=svm is refused\n"
#endif
#ifdef KDR_HAVE_TARGET_CLONES
	       "kernels: chosen at run time\n";
#else
	       "kernels: one instruction set\n";
#endif
}
