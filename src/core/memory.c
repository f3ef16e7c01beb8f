/* Whether the machine can hold what a method is about to need. SPDX-License-Identifier: BSD-3-Clause */
#include "core/internal.h"

#include <stdio.h>
#include <unistd.h>

/* What Linux says could be had without swapping. */
static double available(void)
{
	char line[256];
	double kilobytes = -1;
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && kilobytes < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) != 1)
			kilobytes = -1;
	if (f)
		fclose(f);
	return kilobytes < 0 ? INFINITY : 1024 * kilobytes;
}

/* The limit of the control group a container is, under either version's name. */
static double group_limit(void)
{
	static const char *const names[] = { "/sys/fs/cgroup/memory.max",
		                             "/sys/fs/cgroup/memory/memory.limit_in_bytes" };
	double least = INFINITY, bytes;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		FILE *f = fopen(names[i], "re");
		if (f && fscanf(f, "%lf", &bytes) == 1)
			least = KDRI_MIN(least, bytes);
		if (f)
			fclose(f);
	}
	return least;
}

double kdri_memory_free(const kdr_context *ctx)
{
	double there = KDRI_MIN(available(), group_limit());
	return ctx->max_memory > 0 ? KDRI_MIN(there, ctx->max_memory) : there;
}

double kdri_memory_there(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	return pages > 0 && size > 0 ? (double)pages * (double)size : 0;
}

kdr_status kdri_memory_check(kdr_context *ctx, double bytes, const char *what, int64_t rows, int64_t cols)
{
	const double giga = 1e9;
	double there = kdri_memory_there();
	if (there <= 0 || bytes <= there)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of memory; this machine has %.1f GB",
	        what, (long long)rows, (long long)cols, bytes / giga, there / giga);
}
