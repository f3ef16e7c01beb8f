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

kdr_status kdri_memory_check(kdr_context *ctx, double bytes, const char *what, int64_t rows, int64_t cols)
{
	const double giga = 1e9;
	double total = kdri_memory_total();
	if (total <= 0 || bytes <= total)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s on %lld samples with %lld features needs about %.1f GB of memory; this machine has %.1f GB",
	        what, (long long)rows, (long long)cols, bytes / giga, total / giga);
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

kdr_status kdri_memory_allows(kdr_context *ctx, const char *what, const kdr_estimate *e)
{
	static const double doubt = 2; /* a device may hold some of it, and there may be swap space */
	const bool limited = ctx->max_memory > 0;
	const double limit = limited ? ctx->max_memory : kdri_memory_total();
	char needed[32], data[32], allowed[32];
	kdri_bytes_text(e->bytes, needed, sizeof needed);
	kdri_bytes_text(e->data_bytes, data, sizeof data);
	kdri_bytes_text(limit, allowed, sizeof allowed);
	kdri_message(ctx, "%s: estimated memory: %s (data: %s)", what, needed, data);
	if (!(limit > 0) || e->bytes <= limit * (limited ? 1 : doubt))
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_MEMORY,
	        "%s is estimated to need %s of memory for these data (%s of it for the data); %s %s: %s",
	        what, needed, data, limited ? "--max-memory allows" : "this machine has", allowed,
	        limited ? "raise the limit or use fewer samples" : "use fewer samples");
}
