/* How many processors this process may keep busy. SPDX-License-Identifier: BSD-3-Clause
 *
 * Affinity is what OpenMP counts. A container's share of processor time is not: it stands in the control
 * groups, as quota and period in microseconds; quota / period is a number of processors. Groups lie in each
 * other, and the least share on the way up holds. Which folder is a process's group:
 *
 *   /proc/self/cgroup     "0::/a/b" (version 2), "4:cpu,cpuacct:/a/b" (version 1): the path of the group
 *   /proc/self/mountinfo  "... ROOT FOLDER ... - cgroup2 ...": the group ROOT appears as FOLDER
 *
 * so /a/b is FOLDER less ROOT. A container sees its own group as a root, under whatever path. */
#include "core/internal.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { LINE = 4096 };

/* Opens ROOT/path: tests have a root of their own. */
static FILE *open_below(const char *root, const char *path)
{
	char name[2 * LINE];
	int n = snprintf(name, sizeof name, "%s%s", root, path);
	return n > 0 && (size_t)n < sizeof name ? fopen(name, "re") : NULL;
}

/* The first two numbers of a file, or one number each of two. "max" and -1 are no limit. */
static double share(FILE *quota_and_period, FILE *period_alone)
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
static double share_of(const char *root, const char *folder, bool second)
{
	char name[LINE + 32];
	if (second) {
		snprintf(name, sizeof name, "%s/cpu.max", folder);
		return share(open_below(root, name), NULL);
	}
	snprintf(name, sizeof name, "%s/cpu.cfs_quota_us", folder);
	FILE *quota = open_below(root, name);
	snprintf(name, sizeof name, "%s/cpu.cfs_period_us", folder);
	return share(quota, open_below(root, name));
}

/* Whether a comma-separated list holds a word. */
static bool listed(const char *list, const char *word)
{
	const size_t n = strlen(word);
	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ',') && (p[n] == '\0' || p[n] == ',' || p[n] == '\n'))
			return true;
	return false;
}

/* The path of this process's group. */
static bool find_group(const char *root, bool second, char *out)
{
	char line[LINE];
	bool found = false;
	FILE *f = open_below(root, "/proc/self/cgroup");
	while (f && !found && fgets(line, sizeof line, f)) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		found = second ? controllers[1] == '\0' : listed(controllers + 1, "cpu");
		if (found)
			snprintf(out, LINE, "%s", path);
	}
	if (f)
		fclose(f);
	return found;
}

/* The folder where groups are mounted, and which of them is its root. */
static bool find_mount(const char *root, bool second, char *group, char *folder)
{
	char line[LINE], kind[64], options[LINE];
	bool found = false;
	FILE *f = open_below(root, "/proc/self/mountinfo");
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", group, folder) != 2 ||
		    sscanf(rest, " - %63s %*s %4095s", kind, options) != 2)
			continue;
		found = strcmp(kind, second ? "cgroup2" : "cgroup") == 0 &&
		        (second || listed(options, "cpu"));
	}
	if (f)
		fclose(f);
	return found;
}

static double least_share(const char *root, bool second)
{
	char path[LINE], group[LINE], folder[LINE], at[2 * LINE];
	if (!find_group(root, second, path) || !find_mount(root, second, group, folder))
		return INFINITY;
	size_t n = strcmp(group, "/") == 0 ? 0 : strlen(group);
	bool below = strncmp(path, group, n) == 0 && (path[n] == '/' || path[n] == '\0');
	snprintf(at, sizeof at, "%s%s", folder, below ? path + n : "");
	double least = INFINITY;
	for (size_t end = strlen(at); end >= strlen(folder); end--)
		if (at[end] == '/' || at[end] == '\0') {
			at[end] = '\0';
			least = fmin(least, share_of(root, at, second));
		}
	return least;
}

double kdri_cpu_quota(const char *root)
{
	return fmin(least_share(root, true), least_share(root, false));
}

int kdri_cpus(void)
{
#ifdef _OPENMP
	int threads = omp_get_max_threads();
	/* Who sets this knows better. */
	if (getenv("OMP_NUM_THREADS"))
		return threads;
	double quota = kdri_cpu_quota("");
	return quota < threads ? KDRI_MAX(1, (int)ceil(quota)) : threads;
#else
	return 1;
#endif
}
