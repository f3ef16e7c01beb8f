/* The limits of a process's control groups. SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups are nested, and the smallest limit of a group and its ancestors applies. The folder of a process's group is
 * found from:
 *
 *   /proc/self/cgroup     "0::/a/b" (version 2), "4:cpu,cpuacct:/a/b" (version 1): the path of the group
 *   /proc/self/mountinfo  "... ROOT FOLDER ... - cgroup2 ...": the group ROOT appears as FOLDER
 *
 * so the folder of /a/b is FOLDER followed by /a/b without ROOT. In a container its own group may appear as the root,
 * under any path. */
#include "core/groups.h"
#include "core/system.h"

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
