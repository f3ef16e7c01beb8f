/* Feature clusters that a transfer shares with source and target. SPDX-License-Identifier: BSD-3-Clause
 *
 * A method that factorises features reports, for each side, the leading columns of each of its clusters (top_<side>,
 * clusters x columns) and their association with classes (association_<side>, clusters x classes). A cluster belongs
 * to the class in which it has the largest share of the class's weight. */
#include "jobs/job.h"
#include "jobs/transfer/transfer.h"

#include <stdio.h>

static const char *const sides[2] = { "source", "target" };

static kdr_array side_array(const kdr_result *r, const char *what, int side)
{
	char name[64];
	snprintf(name, sizeof name, "%s_%s", what, sides[side]);
	return kdr_result_array(r, name, -1);
}

static void find_class(const kdr_array *a, kdri_shared_features *f)
{
	const double *w = a->data;
	double sum = 0, most = -1;
	for (int64_t k = 0; k < a->shape[1]; k++) {
		double total = 0;
		for (int64_t i = 0; i < a->shape[0]; i++)
			total += w[i * a->shape[1] + k];
		double part = total > 0 ? w[f->cluster * a->shape[1] + k] / total : 0;
		sum += part;
		if (part > most) {
			most = part;
			f->class_index = k;
		}
	}
	f->share = sum > 0 ? most / sum : 0;
}

kdr_status kdri_job_shared(kdr_context *ctx, kdr_result *r, int64_t target)
{
	for (int side = 0; side < 2; side++) {
		kdr_array top = side_array(r, "top", side), a = side_array(r, "association", side);
		if (!top.data || !a.data)
			continue;
		KDRI_DO(KDRI_GROW(ctx, &r->shared, r->shared_count + top.shape[0]));
		for (int64_t k = 0; k < top.shape[0]; k++) {
			kdri_shared_features f = { .task = side ? target : 0,
				                   .with_target = side == 1,
				                   .cluster = k,
				                   .columns = (const int64_t *)top.data + k * top.shape[1],
				                   .ncolumns = top.shape[1] };
			find_class(&a, &f);
			r->shared[r->shared_count++] = f;
		}
	}
	return KDR_OK;
}
