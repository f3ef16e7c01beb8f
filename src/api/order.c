/* Fits that do not depend on the order of their data sets. SPDX-License-Identifier: BSD-3-Clause
 *
 * Members of an ensemble that use all data sets draw their starts among the rows in the order of the data sets, so that another order of
 * files could change a vote. Such a method therefore fits them in an order of their own: the smallest first, and those of one size by
 *
 *     (E1)  s_t = sum_i r_i sum_j x_ij (1 + |x_ij|),   r_i: uniform in (0, 1), the same for row i of every data set
 *
 * which is a sum, so that last bits (preprocessing in another order, several ranks) and the order of columns hardly change it. Cells
 * without a value are left out. What is known about each data set by its number in the job is found through the order. */
#include <stdlib.h>

#include "api/result.h"

#include "api/method.h"
#include "comm/comm.h"
#include "matrix/linalg.h"

typedef struct place {
	int64_t task, rows;
	double sum; /* (E1) */
} place;

/* Of the rows here. */
static double sum_of(const kdr_mat *x, int64_t first)
{
	double sum = 0;
	for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
		const kdri_entries row = kdri_row_entries(x, i);
		kdri_rng rng = kdri_rng_stream(0, "order", (uint64_t)(first + i));
		double own = 0;
		for (int64_t p = 0; p < row.count; p++)
			own += isnan(row.val[p]) ? 0 : row.val[p] * (1 + fabs(row.val[p]));
		sum += kdri_rng_uniform(&rng) * own;
	}
	return sum;
}

static int by_size(const void *x, const void *y)
{
	const place *a = x, *b = y;
	if (a->rows != b->rows)
		return a->rows < b->rows ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum < b->sum ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task); /* equal data sets */
}

/* order[i]: the task at place i. */
static kdr_status find_order(kdr_context *ctx, const kdr_problem *problem, int64_t *order)
{
	kdr_status st;
	place *places = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &places, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		places[t] = (place){ .task = t };
		KDRI_TRY(kdri_part(ctx, kdr_mat_rows(&problem->tasks[t].x), NULL, &places[t].rows));
	}
	qsort(places, (size_t)problem->ntasks, sizeof *places, by_size);
	for (int64_t i = 0; i < problem->ntasks; i++) {
		const kdr_mat *x = &problem->tasks[places[i].task].x;
		const int64_t rows = places[i].rows;
		int64_t first;
		if ((i == 0 || places[i - 1].rows != rows) &&
		    (i + 1 == problem->ntasks || places[i + 1].rows != rows))
			continue; /* data on disk are not read for this */
		KDRI_TRY(kdri_part(ctx, kdr_mat_rows(x), &first, &places[i].rows));
		places[i].sum = sum_of(x, first);
		KDRI_TRY(kdri_sum(ctx, &places[i].sum, 1));
	}
	qsort(places, (size_t)problem->ntasks, sizeof *places, by_size);
	for (int64_t i = 0; i < problem->ntasks; i++)
		order[i] = places[i].task;
done:
	kdri_free(ctx, places);
	return st;
}

/* --- the result ------------------------------------------------------------------------------------ */

void kdri_order_put_back(const kdri_order *o, kdr_result *r)
{
	const int64_t *order = o->order;
	if (!order)
		return;
	memcpy(o->room, r->tasks, (size_t)r->ntasks * sizeof *o->room);
	for (int64_t i = 0; i < r->ntasks; i++)
		r->tasks[order[i]] = o->room[i];
	for (int64_t i = 0; i < r->array_count; i++)
		r->arrays[i].task = r->arrays[i].task < 0 ? -1 : order[r->arrays[i].task];
	for (int64_t i = 0; i < r->field_count; i++)
		r->fields[i].task = r->fields[i].task < 0 ? -1 : order[r->fields[i].task];
	for (int64_t i = 0; i < r->match_count; i++) {
		r->matches[i].from = order[r->matches[i].from];
		r->matches[i].to = order[r->matches[i].to];
	}
}

void kdri_order_free(kdr_context *ctx, kdri_order *o)
{
	KDRI_FREE(ctx, o->order, o->place, o->tasks, o->room);
	*o = (kdri_order){ 0 };
}

kdr_status kdri_order_find(kdr_context *ctx, const kdr_problem *problem, kdr_result *result, kdri_order *out)
{
	const int64_t T = problem->ntasks;
	int64_t *order, *at;
	out->problem = *problem;
	if (T == 1)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &out->order, T));
	KDRI_DO(KDRI_NEW(ctx, &out->place, T));
	KDRI_DO(KDRI_NEW(ctx, &out->tasks, T));
	KDRI_DO(KDRI_NEW(ctx, &out->room, T));
	order = out->order;
	at = out->place;
	KDRI_DO(find_order(ctx, problem, order));
	memcpy(out->room, result->tasks, (size_t)T * sizeof *out->room);
	for (int64_t i = 0; i < T; i++) {
		at[order[i]] = i;
		out->tasks[i] = problem->tasks[order[i]];
		out->tasks[i].name = out->room[order[i]].name; /* its number, if it has none */
		result->tasks[i] = out->room[order[i]];
	}
	out->problem.tasks = out->tasks;
	return KDR_OK;
}
