/* Sources and targets in the directions they share. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/aligned/aligned_tasks.h"

#include "engine/linear/aligned.h"

kdr_status kdri_aligned_tasks_new(kdr_context *ctx, const kdr_problem *problem, int64_t most,
                                  kdr_result *result, kdri_aligned_tasks *out)
{
	kdr_status st;
	kdri_aligned_tasks t = { .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	double *means = NULL;
	int64_t size;
	KDRI_TRY(kdri_domains_new(ctx, problem, result, &t.d));
	const kdri_sets sets = { &t.d.set.x.view, t.d.ntasks, t.d.begin };
	KDRI_TRY(kdri_mul(ctx, sets.count, t.d.set.d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	KDRI_TRY(kdri_sets_means(ctx, &sets, means));
	t.width = kdri_aligned_width(&sets);
	if (most > 0)
		t.width = KDRI_MAX(1, KDRI_MIN(most, KDRI_MIN(t.d.set.d, t.d.n - 2)));
	KDRI_TRY(kdri_aligned_new(ctx, &sets, means, t.width, 0, &t.e));
	*out = t;
	t = (kdri_aligned_tasks){ .d.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, means);
	kdri_aligned_tasks_free(ctx, &t);
	return st;
}

void kdri_aligned_tasks_free(kdr_context *ctx, kdri_aligned_tasks *t)
{
	kdri_domains_free(ctx, &t->d);
	kdri_free(ctx, t->e);
	t->e = NULL;
}
