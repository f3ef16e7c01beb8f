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

const char *kdr_build_info(void)
{
	return "compiler: " KDR_BUILD_COMPILER "\n"
	       "build: " KDR_BUILD_TYPE "\n"
	       "blas: " KDR_BUILD_BLAS "\n"
#ifdef _OPENMP
	       "threads: OpenMP\n"
#else
	       "threads: none\n"
#endif
#ifdef KDR_HAVE_TARGET_CLONES
	       "kernels: chosen at run time\n";
#else
	       "kernels: one instruction set\n";
#endif
}
