/* Whether the machine can hold what a method is about to need. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

#include <unistd.h>

kdr_status kdri_memory_check(kdr_context *ctx, double bytes, const char *what, int64_t rows, int64_t cols)
{
	const double giga = 1e9;
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	double there = (double)pages * (double)size;
	if (pages <= 0 || size <= 0 || bytes <= there)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of memory; this machine has %.1f GB",
	        what, (long long)rows, (long long)cols, bytes / giga, there / giga);
}
