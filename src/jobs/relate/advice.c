/* Which tasks are near each other: a sentence for each. SPDX-License-Identifier: BSD-3-Clause
 *
 * From the nearness of their samples (engine/graph/nearness.c), compared as auto would compare them
 * (engine/graph/views.c). */
#include "core/internal.h"
#include "engine/graph/knn.h"
#include "engine/graph/views.h"
#include "jobs/relate/relate.h"

#include <stdio.h>

static kdr_status advice_check(kdr_context *ctx, const kdr_mat *x, int64_t count)
{
	if (!x || count < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "no data set was given; at least one is needed");
	for (int64_t t = 0; t < count; t++)
		if (kdr_mat_cols(&x[t]) != kdr_mat_cols(&x[0]))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "data set %lld has %lld columns, but the first has %lld; align them first",
			        (long long)t + 1, (long long)kdr_mat_cols(&x[t]),
			        (long long)kdr_mat_cols(&x[0]));
	return KDR_OK;
}

static void advice_say(const char *const *names, int64_t count, const kdri_relate_pair *pairs,
                       const double *nearness, int64_t t, char *out)
{
	bool shares = !pairs || count < 2;
	for (int64_t k = 0; pairs && k < count * (count - 1) / 2; k++)
		shares = shares || ((pairs[k].a == t || pairs[k].b == t) && pairs[k].shared > 0);
	if (!shares) {
		kdri_snprintf(
		        out, KDRI_ADVICE_ROOM,
		        "%s: has no feature in common with the other data sets, so they cannot be compared; rename matching columns with --rename",
		        names[t]);
		return;
	}
	int64_t best = -1;
	for (int64_t s = 0; s < count; s++)
		if (s != t && (best < 0 || nearness[t * count + s] > nearness[t * count + best]))
			best = s;
	kdri_nearness_advice(names[t], best < 0 ? NULL : names[best],
	                     best < 0 ? 0 : nearness[t * count + best], out, KDRI_ADVICE_ROOM);
}

kdr_status kdri_relate_advice(kdr_context *ctx, const kdr_mat *x, const char *const *names, int64_t count,
                              const kdri_relate_pair *pairs, double *nearness,
                              char (*advice)[KDRI_ADVICE_ROOM])
{
	kdr_status st;
	const kdri_views_options options = { .together = true,
		                             .later = true }; /* rows only: no graph is used */
	kdri_views v = { 0 };
	kdr_task *tasks = NULL;
	const kdr_mat **rows = NULL;
	double *near = NULL;
	KDRI_TRY(advice_check(ctx, x, count));
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	KDRI_TRY(KDRI_NEW(ctx, &rows, count));
	KDRI_TRY(KDRI_NEW(ctx, &near, count * count));
	for (int64_t t = 0; t < count; t++)
		tasks[t].x = x[t];
	const kdr_problem problem = { .size = sizeof(kdr_problem), .tasks = tasks, .ntasks = count };
	KDRI_TRY(kdri_views_new(ctx, &problem, &options, &v));
	for (int64_t t = 0; t < count; t++)
		rows[t] = &v.tasks[t].rows.view;
	KDRI_TRY(
	        kdri_nearness(ctx, rows, count, v.tasks[0].cosine, v.tasks[0].centred ? v.mean : NULL, near));
	for (int64_t k = 0; pairs && k < count * (count - 1) / 2; k++)
		if (pairs[k].shared == 0)
			near[pairs[k].a * count + pairs[k].b] = near[pairs[k].b * count + pairs[k].a] = 0;
	for (int64_t t = 0; t < count && advice; t++)
		advice_say(names, count, pairs, near, t, advice[t]);
	if (nearness)
		memcpy(nearness, near, (size_t)(count * count) * sizeof *near);
done:
	kdri_views_free(ctx, &v);
	KDRI_FREE(ctx, tasks, rows, near);
	return st;
}
