/* The number of processors that this process may use. SPDX-License-Identifier: BSD-3-Clause
 *
 * OpenMP considers CPU affinity, but not a container's quota of processor time, which is specified in control groups
 * as quota and period in microseconds; quota / period is a number of processors. */
#include <stdio.h>
#include <stdlib.h>

#include "core/internal.h"
#include "core/limit.h"
#include "core/system.h"

/* The limits of a process's control groups.
 *
 * Groups are nested, and the smallest limit of a group and its ancestors applies. The folder of a process's group is
 * found from:
 *
 *   /proc/self/cgroup     "0::/a/b" (version 2), "4:cpu,cpuacct:/a/b" (version 1): the path of the group
 *   /proc/self/mountinfo  "... ROOT FOLDER ... - cgroup2 ...": the group ROOT appears as FOLDER
 *
 * so the folder of /a/b is FOLDER followed by /a/b without ROOT. In a container its own group may appear as the root,
 * under any path. */

enum { LINE = KDRI_GROUP_LINE };

FILE *kdri_open_below(const char *root, const char *path)
{
	char name[2 * LINE];
	int n = snprintf(name, sizeof name, "%s%s", root, path);
	return n > 0 && (size_t)n < sizeof name ? kdri_fopen(name) : NULL;
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
static bool find_group(const char *root, bool second, const char *controller, char *out)
{
	char line[LINE];
	bool found = false;
	FILE *f = kdri_open_below(root, "/proc/self/cgroup");
	while (f && !found && fgets(line, sizeof line, f)) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		found = second ? controllers[1] == '\0' : listed(controllers + 1, controller);
		if (found)
			snprintf(out, LINE, "%s", path);
	}
	if (f)
		fclose(f);
	return found;
}

/* The folder where groups are mounted, and which of them is its root. */
static bool find_mount(const char *root, bool second, const char *controller, char *group, char *folder)
{
	char line[LINE], kind[64], options[LINE];
	bool found = false;
	FILE *f = kdri_open_below(root, "/proc/self/mountinfo");
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *rest = strstr(line, " - ");
		if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", group, folder) != 2 ||
		    sscanf(rest, " - %63s %*s %4095s", kind, options) != 2)
			continue;
		found = strcmp(kind, second ? "cgroup2" : "cgroup") == 0 &&
		        (second || listed(options, controller));
	}
	if (f)
		fclose(f);
	return found;
}

/* The smallest limit from the process's group up to the root. */
static double least_of(const char *root, bool second, const char *controller, kdri_group_limit *limit)
{
	char path[LINE], group[LINE], folder[LINE], at[2 * LINE];
	if (!find_group(root, second, controller, path) ||
	    !find_mount(root, second, controller, group, folder))
		return INFINITY;
	size_t n = strcmp(group, "/") == 0 ? 0 : strlen(group);
	bool below = strncmp(path, group, n) == 0 && (path[n] == '/' || path[n] == '\0');
	snprintf(at, sizeof at, "%s%s", folder, below ? path + n : "");
	double least = INFINITY;
	for (size_t end = strlen(at); end >= strlen(folder); end--)
		if (at[end] == '/' || at[end] == '\0') {
			at[end] = '\0';
			least = fmin(least, limit(root, at, second));
		}
	return least;
}

double kdri_group_least(const char *root, const char *controller, kdri_group_limit *limit)
{
	return fmin(least_of(root, true, controller, limit), least_of(root, false, controller, limit));
}

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

/* Idle OpenMP threads that sleep.
 *
 * Between two parallel regions the threads of gcc's OpenMP library, libgomp, spin for some milliseconds before they
 * sleep. On a busy machine they take the processors from threads that have work. OMP_WAIT_POLICY and GOMP_SPINCOUNT
 * control this, but libgomp reads them when it is loaded, and the environment belongs to the host process. libgomp also
 * shortens the spinning to about a microsecond while it manages more threads than there are processors. So this file
 * starts a thread that runs one parallel region and then sleeps for ever: its team counts, and costs only the address
 * space of the stacks. Other OpenMP libraries are not affected. */

#ifdef _OPENMP
#include <omp.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int spare; /* threads that sleep here and that libgomp counts */
static bool ready;

static void *sleep_with_team(void *more)
{
	int count = 0;
#pragma omp parallel num_threads(*(const int *)more + 1) reduction(+ : count)
	count++;
	(void)pthread_mutex_lock(&lock);
	spare += count - 1;
	ready = true;
	(void)pthread_cond_signal(&started);
	for (;;)
		(void)pthread_cond_wait(&never, &lock);
	return NULL;
}

void kdri_wait_asleep(int threads)
{
	static _Atomic int enough = 0; /* no team that is at least this large needs more */
	pthread_t thread;
	int more;
	if (threads < 2 || (enough > 0 && threads >= enough) || omp_in_parallel())
		return;
	if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) { /* the user has decided */
		enough = 2;
		return;
	}
	(void)pthread_mutex_lock(&lock);
	more = KDRI_MAX(1, omp_get_num_procs() - threads + 1) - spare;
	ready = false;
	if (more > 0 && kdri_thread_start(&thread, sleep_with_team, &more)) {
		while (!ready)
			(void)pthread_cond_wait(&started, &lock);
		(void)pthread_detach(thread);
	}
	enough = threads; /* if no thread could be started, it will not be tried again */
	(void)pthread_mutex_unlock(&lock);
}
#endif
