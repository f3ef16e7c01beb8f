/* The number of processors that this process may use. SPDX-License-Identifier: BSD-3-Clause
 *
 * OpenMP considers CPU affinity, but not a container's quota of processor time, which is specified in control groups
 * (groups.c) as quota and period in microseconds; quota / period is a number of processors. */
#include "core/groups.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* The first two numbers of a file, or one number each of two. "max" and -1 are no limit. */
static double cpus_share(FILE *quota_and_period, FILE *period_alone)
{
	double quota = 0, period = 0;
	if (quota_and_period && !period_alone && fscanf(quota_and_period, "%lf %lf", &quota, &period) != 2)
		quota = 0;
	if (quota_and_period && period_alone &&
	    (fscanf(quota_and_period, "%lf", &quota) != 1 || fscanf(period_alone, "%lf", &period) != 1))
		quota = 0;
	if (quota_and_period)
		fclose(quota_and_period);
	if (period_alone)
		fclose(period_alone);
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* What one group may use. */
static double cpus_share_of(const char *root, const char *folder, bool second)
{
	char name[KDRI_GROUP_LINE + 32];
	if (second) {
		snprintf(name, sizeof name, "%s/cpu.max", folder);
		return cpus_share(kdri_open_below(root, name), NULL);
	}
	snprintf(name, sizeof name, "%s/cpu.cfs_quota_us", folder);
	FILE *quota = kdri_open_below(root, name);
	snprintf(name, sizeof name, "%s/cpu.cfs_period_us", folder);
	return cpus_share(quota, kdri_open_below(root, name));
}

double kdri_cpu_quota(const char *root)
{
	return kdri_group_least(root, "cpu", cpus_share_of);
}

int kdri_cpus(void)
{
#ifdef _OPENMP
	int threads = omp_get_max_threads();
	/* A user who sets this variable overrides the detection. */
	if (getenv("OMP_NUM_THREADS"))
		return threads;
	double quota = kdri_cpu_quota("");
	return quota < threads ? KDRI_MAX(1, (int)ceil(quota)) : threads;
#elif defined __EMSCRIPTEN_PTHREADS__ /* set in js/worker.js */
	const char *threads = getenv("OMP_NUM_THREADS");
	return threads ? KDRI_MAX(1, atoi(threads)) : 1;
#else
	return 1;
#endif
}
