/* Checks whether the machine has the memory that a method needs. SPDX-License-Identifier: BSD-3-Clause */
#include "core/groups.h"
#include "core/system.h"

#include <stdio.h>

/* What one control group may have; "max" is no limit, and neither is what no machine has. */
static double limit_of(const char *root, const char *folder, bool second)
{
	const double absurd = 1e18;
	char name[KDRI_GROUP_LINE + 32];
	double bytes = INFINITY;
	snprintf(name, sizeof name, "%s/%s", folder, second ? "memory.max" : "memory.limit_in_bytes");
	FILE *f = kdri_open_below(root, name);
	if (f && (fscanf(f, "%lf", &bytes) != 1 || bytes <= 0 || bytes > absurd))
		bytes = INFINITY;
	if (f)
		fclose(f);
	return bytes;
}

double kdri_memory_quota(const char *root)
{
	return kdri_group_least(root, "memory", limit_of);
}

double kdri_memory_free(const kdr_context *ctx)
{
	double room = KDRI_MIN(kdri_system_available(), kdri_memory_quota(""));
	return ctx->max_memory > 0 ? KDRI_MIN(room, ctx->max_memory) : room;
}

double kdri_memory_total(void)
{
	double machine = kdri_system_memory(), quota = kdri_memory_quota("");
	if (machine > 0)
		return KDRI_MIN(machine, quota);
	return isfinite(quota) ? quota : 0;
}

void kdri_bytes_text(double bytes, char *text, size_t room)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	size_t unit = 0;
	double value = bytes / 1e3;
	for (; value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		value /= 1e3;
	kdri_snprintf(text, room, value < 99.95 ? "%.3g %s" : "%.0f %s", value, units[unit]);
}
