/* Samples of all data sets in one space. SPDX-License-Identifier: BSD-3-Clause
 *
 * The space is the array that the method marks as such (kdr_field_desc.common_space); else the coordinates that the map of the report
 * starts from (kdri_embed_shared): samples minus the mean of their data set, along the leading directions of all. */
#include "comm/comm.h"
#include "engine/embed/embed.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

enum { MOST = 50 }; /* columns */

/* The method's own; nothing if it has none for these data sets. */
static kdr_status stack_array(kdr_context *ctx, const kdr_result *r, const char *name, kdri_own *out)
{
	kdr_status st;
	kdr_mat *parts = NULL;
	const kdr_mat **list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &parts, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &list, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdr_array a = kdr_result_array(r, name, t);
		if (!a.data || a.type != KDR_FLOAT64 || a.ndim != 2 || a.shape[0] != r->tasks[t].n ||
		    (t > 0 && a.shape[1] != kdr_mat_cols(&parts[0])))
			goto done;
		parts[t] = kdr_mat_from_dense(a.data, a.shape[0], a.shape[1]);
		list[t] = &parts[t];
	}
	KDRI_TRY(kdri_mat_stack(ctx, list, r->ntasks, out));
done:
	KDRI_FREE(ctx, parts, list);
	return st;
}

/* The map's; nothing if data sets have different columns. */
static kdr_status stack_directions(kdr_context *ctx, const kdr_result *r, kdr_data *const *data,
                                   kdri_own *out)
{
	kdr_status st;
	kdr_mat *x = NULL;
	double *shared = NULL;
	int64_t width = 0, n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &x, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		x[t] = kdr_data_mat(data[t]);
		if (data[t]->cols != data[0]->cols || data[t]->rows != r->tasks[t].n)
			goto done;
		n += r->tasks[t].n;
	}
	KDRI_TRY(kdri_embed_shared(ctx, x, r->ntasks, MOST, &shared, &width));
	*out = (kdri_own){ kdr_mat_from_dense(shared, n, width), { shared } };
done:
	kdri_free(ctx, x);
	return st;
}

kdr_status kdri_job_representation(kdr_context *ctx, const kdri_job *job, kdr_result *r,
                                   kdr_data *const *data)
{
	kdr_status st = KDR_OK;
	kdri_own all = { 0 };
	int64_t at = 0;
	if (!job->wanted->representation || kdri_several(ctx) || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	for (const kdr_field_desc *f = r->algo->fields; f && f->name && !all.parts[0]; f++)
		if (f->common_space)
			KDRI_TRY(stack_array(ctx, r, f->name, &all));
	if (!all.parts[0])
		KDRI_TRY(stack_directions(ctx, r, data, &all));
	if (!all.parts[0])
		goto done;
	const int64_t columns = kdr_mat_cols(&all.view), width = KDRI_MIN(columns, MOST);
	const double *x = all.parts[0];
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		KDRI_TRY(KDRI_NEW(ctx, &task->shared, task->n * width));
		task->width = width;
		for (int64_t i = 0; i < task->n; i++, at++)
			memcpy(task->shared + i * width, x + at * columns, (size_t)width * sizeof *x);
	}
done:
	kdri_own_free(ctx, &all);
	return st;
}
