/* Detects the kind of machine. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/linalg.h"

int kdri_machine(void)
{
/* clang 14's analyser, which reads a build made by gcc, does not support the level names. */
#if (defined KDR_HAVE_TARGET_CLONES || defined KDR_HAVE_TARGETS) && !defined __clang_analyzer__
	if (__builtin_cpu_supports("x86-64-v4"))
		return 512;
	if (__builtin_cpu_supports("x86-64-v3"))
		return 256;
#endif
	return 0;
}
