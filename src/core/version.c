/* Version and build. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

#include <pthread.h>
#include <stdio.h>

#ifdef KDR_VERSION_SUFFIX_FILE /* cmake/version_suffix.cmake writes it */
#include KDR_VERSION_SUFFIX_FILE
#else
#define KDR_VERSION_SUFFIX ""
#endif
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
	return KDR_VERSION KDR_VERSION_SUFFIX;
}

/* 1 if the macro `x` is defined as 1, else 0: BEFORE_1 puts a comma, and so the 1, before the 0. */
#define HAVE(x)                HAVE_VALUE(x)
#define HAVE_VALUE(value)      HAVE_PAIR(BEFORE_##value)
#define HAVE_PAIR(before)      HAVE_SECOND(before 1, 0, )
#define HAVE_SECOND(a, b, ...) b
#define BEFORE_1               0,
#ifdef _OPENMP
#define HAVE_OPENMP 1
#endif

/* The parts a build may lack. */
static const struct {
	const char *name;
	bool have;
	const char *without;
} parts[] = {
	{ "openmp", HAVE(HAVE_OPENMP), "everything runs on one thread" },
	{ "hdf5", HAVE(KDRI_HAVE_HDF5), ".h5, .h5ad and MATLAB 7.3 files and models are not supported" },
	{ "zlib", HAVE(KDRI_HAVE_ZLIB),
	  ".gz files and compressed parts of .npz and .mat files are not supported" },
	{ "expat", HAVE(KDRI_HAVE_EXPAT), "Excel workbooks are not supported" },
	{ "utf8proc", HAVE(KDRI_HAVE_UTF8PROC),
	  "text beyond ASCII is not supported, except with tokens=ascii" },
	{ "stemmer", HAVE(KDRI_HAVE_STEMMER), "stemming is not supported" },
	{ "iconv", HAVE(KDRI_HAVE_ICONV),
	  "texts in GB18030, Big5, Shift-JIS, EUC-KR and EUC-JP are not supported" },
	{ "mpi", HAVE(KDRI_HAVE_MPI), "jobs run in one process" },
	{ "libsvm", HAVE(KDRI_HAVE_LIBSVM), "trec with classifier=svm is not supported" },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

bool kdr_build_has(const char *part)
{
	for (int i = 0; part && i < PARTS; i++)
		if (strcmp(parts[i].name, part) == 0)
			return parts[i].have;
	return false;
}

static char info[1024];

static void describe_build(void)
{
	int n = snprintf(info, sizeof info, "compiler: %s\nbuild: %s\nblas: %s\n", KDR_BUILD_COMPILER,
	                 KDR_BUILD_TYPE, KDR_BUILD_BLAS);
	for (int i = 0; i < PARTS; i++)
		n += snprintf(info + n, sizeof info - (size_t)n, "%s: %s%s\n", parts[i].name,
		              parts[i].have ? "yes" : "no: ", parts[i].have ? "" : parts[i].without);
	snprintf(info + n, sizeof info - (size_t)n, "kernels: %s\n",
	         HAVE(KDR_HAVE_TARGET_CLONES) ? "chosen at run time"
	         : HAVE(KDR_HAVE_TARGETS)     ? "products chosen at run time"
	                                      : "one instruction set");
}

const char *kdr_build_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, describe_build);
	return info;
}
