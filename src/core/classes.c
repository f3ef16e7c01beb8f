/* What a user knows about samples before they are clustered. SPDX-License-Identifier: BSD-3-Clause */
#include "core/classes.h"

bool kdri_has_known_classes(const kdr_problem *problem)
{
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].labels)
			return true;
	return false;
}

void kdri_known_classes_free(kdr_context *ctx, kdri_known_classes *k)
{
	kdri_free(ctx, k->known);
	*k = (kdri_known_classes){ 0 };
}

kdr_status kdri_known_classes_new(kdr_context *ctx, const kdr_problem *problem, int64_t first, int64_t count,
                                  kdri_known_classes *out)
{
	kdri_known_classes k = { 0 };
	int64_t at = 0;
	for (int64_t t = first; t < first + count; t++)
		k.n += kdr_mat_rows(&problem->tasks[t].x);
	KDRI_DO(KDRI_NEW(ctx, &k.known, k.n));
	for (int64_t t = first; t < first + count; t++)
		for (int64_t i = 0; i < kdr_mat_rows(&problem->tasks[t].x); i++, at++) {
			k.known[at] = problem->tasks[t].labels ? problem->tasks[t].labels[i] : -1;
			k.nknown += k.known[at] >= 0;
		}
	*out = k;
	return KDR_OK;
}
