/* What jobs that fit nothing will take. SPDX-License-Identifier: BSD-3-Clause
 *
 * By the means of engine/cost/cost.c: work in its units, memory array by array. What a job does is told where it is done:
 * src/relate, src/engine/embed, and each method's predict; vectorize, whose work is in the texts, sees to itself (text/foresee.c). */
#include "api/estimate.h"
#include "api/model.h"
#include "engine/cost/cost.h"
#include "engine/graph/views.h"
#include "jobs/job.h"
#include "jobs/relate/relate.h"

static kdr_task_shape shape_of(const kdr_data *data)
{
	kdr_mat x = kdr_data_mat(data);
	return (kdr_task_shape){ .rows = data->rows,
		                 .cols = data->cols,
		                 .entries = kdr_mat_nnz(&x),
		                 .dense = x.kind == KDR_MAT_DENSE,
		                 .streamed = data->streamed };
}

/* --- relate ------------------------------------------------------------------------------------------- */

static kdri_extent below(const kdri_extent *a, const kdri_extent *b)
{
	kdri_extent both = *a;
	both.n += b->n;
	both.entries += b->entries;
	both.dense &= b->dense;
	both.streamed |= b->streamed;
	return both;
}

static kdri_extent at_most(const kdri_extent *x, double rows)
{
	double share = KDRI_MIN(rows / x->n, 1);
	kdri_extent some = *x;
	some.n *= share;
	some.entries *= share;
	return some;
}

/* A classifier of all folds at once; and the pairs of some rows. */
static void pair_cost(const kdri_extent *a, const kdri_extent *b, const kdr_relate_options *o, kdri_cost *c)
{
	static const double kernel = 3, median = 1500; /* rows whose distances are all held for it */
	const kdri_extent both = below(a, b), some_a = at_most(a, (double)o->most_rows),
	                  some_b = at_most(b, (double)o->most_rows), some = below(&some_a, &some_b);
	const double folds = KDRI_MIN((double)o->folds, KDRI_MIN(a->n, b->n)), before = c->held;
	kdri_cost_hold(c, kdri_extent_bytes(&both) + 8 * folds * (both.n + both.d));
	kdri_cost_linear(c, &both, folds, both.dense ? 0.3 : 0.5); /* two classes are soon told apart */
	kdri_cost_drop(c, c->held - before);
	if (o->no_mmd)
		return;
	const double few = KDRI_MIN(some.n, median);
	kdri_cost_hold(c, 3 * kdri_extent_bytes(&some) + 4 * few * few);
	kdri_cost_pairs(c, &some, 0.5);
	c->steps += kernel * some.n * some.n / 2;
	kdri_cost_drop(c, c->held - before);
}

kdr_status kdr_estimate_relate(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks,
                               const kdr_relate_options *options, kdr_estimate *out)
{
	kdr_status st;
	const kdr_relate_options o = kdri_relate_resolve(options);
	kdri_cost c = { 0 };
	double data;
	if (!ctx || !out || !tasks || ntasks < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "an estimate needs tasks and a place for the answer");
	KDRI_TRY(kdri_shape_check(ctx, tasks, ntasks, &data));
	for (int64_t b = 0; b < ntasks; b++) {
		const kdri_extent y = kdri_extent_of(&tasks[b]);
		kdri_cost_pass(&c, &y, 4, 4); /* checks, counts, means, lengths */
		for (int64_t a = 0; a < b; a++) {
			const kdri_extent x = kdri_extent_of(&tasks[a]);
			pair_cost(&x, &y, &o, &c);
		}
		kdri_cost_hold(&c, y.dense ? 0 : kdri_extent_bytes(&y) * 2 / 3); /* rows of unit length */
	}
	KDRI_TRY(kdri_estimate_work(ctx, &c, data, out));
done:
	return st;
}

/* --- embed -------------------------------------------------------------------------------------------- */

kdr_status kdr_estimate_embed(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks,
                              const kdr_embed_options *options, kdr_estimate *out)
{
	enum { NEIGHBORS = 15, SHARED = 20, SWEEPS = 300, FEW = 5000, MORE = 200, SAMPLES = 8 };
	kdr_status st;
	kdri_cost c = { 0 };
	double data, all = 0, edges = 0;
	const kdr_embed_options defaults = { 0 }, *o = options ? options : &defaults;
	if (!ctx || !out || !tasks || ntasks < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "an estimate needs tasks and a place for the answer");
	KDRI_TRY(kdri_shape_check(ctx, tasks, ntasks, &data));
	double neighbours = o->neighbors > 0 ? (double)o->neighbors : NEIGHBORS;
	for (int64_t t = 0; t < ntasks; t++) {
		const kdri_extent x = kdri_extent_of(&tasks[t]);
		kdri_cost_hold(&c, kdri_extent_bytes(&x) * (x.dense ? 1 : 2.0 / 3)); /* rows of unit length */
		kdri_cost_graph(&c, &x, neighbours, KDRI_VIEWS_PRODUCTS);
		kdri_cost_directions(&c, &x, KDRI_MIN(SHARED, x.d));
		all += x.n;
		edges += 1.5 * neighbours * x.n;
	}
	double sweeps = o->layout != KDR_EMBED_FORCES ? 0
	                : o->sweeps > 0               ? (double)o->sweeps
	                                              : SWEEPS + MORE * KDRI_MIN(FEW / all, 1);
	c.steps += sweeps * (edges + 2 * SAMPLES * all);
	kdri_cost_hold(&c, 8 * all * 12 + 16 * edges);
	KDRI_TRY(kdri_estimate_work(ctx, &c, data, out));
done:
	return st;
}

/* --- predict ------------------------------------------------------------------------------------------- */

/* Rows of the fit that new ones are compared with, and columns of what else the model keeps in the space of the data (centres,
 * directions, weights), which new rows are multiplied with: those of a task. */
static void model_sizes(const kdr_model *m, double *rows, double *columns)
{
	*rows = *columns = 0;
	for (int64_t i = 0; i < m->fitted->array_count; i++) {
		const kdr_array *a = &m->fitted->arrays[i];
		const double share = a->task < 0 ? 1 : 1 / (double)m->ntasks;
		if (strcmp(a->name, "train_x") == 0)
			*rows += (double)a->shape[0];
		else if (strcmp(a->name, "train_rowptr") == 0)
			*rows += (double)a->shape[0] - 1;
		else if (a->ndim == 2 && a->shape[1] == m->ncolumns)
			*columns += share * (double)a->shape[0];
		else if (a->ndim == 2 && a->shape[0] == m->ncolumns)
			*columns += share * (double)a->shape[1];
	}
}

kdr_status kdr_estimate_predict(kdr_context *ctx, const kdr_model *model, const kdr_task_shape *task,
                                kdr_estimate *out)
{
	enum { PREPARED = 6 }; /* passes: weights, lengths, checks, what sets clusters apart */
	kdr_status st;
	kdri_cost c = { 0 };
	double data, rows, columns;
	if (!ctx || !out || !model || !task)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "an estimate needs a model, a task and a place for the answer");
	KDRI_TRY(kdri_shape_check(ctx, task, 1, &data));
	const kdri_extent x = kdri_extent_of(task);
	model_sizes(model, &rows, &columns);
	kdri_cost_pass(&c, &x, 0, PREPARED);
	kdri_cost_hold(&c, kdri_extent_bytes(&x) + 60 * x.n);
	if (model->algo->estimate_predict) {
		model->algo->estimate_predict(task, rows, model->options, &c);
	} else {
		kdri_cost_pass(&c, &x, columns, 2); /* labels; how sure they are */
		c.steps += x.n * (columns + 20);
		kdri_cost_hold(&c, 8 * x.n * columns);
	}
	KDRI_TRY(kdri_estimate_work(ctx, &c, data, out));
done:
	return st;
}

/* --- before the work ------------------------------------------------------------------------------------- */

/* Whether anybody wants to know: ranks would have to fail together, and data without rows or columns do. */
static bool can_foresee(const kdr_context *ctx, const kdr_task_shape *shapes, int64_t count)
{
	bool can = !ctx->comm;
	for (int64_t t = 0; t < count; t++)
		can = can && shapes[t].rows > 0 && shapes[t].cols > 0;
	return can;
}

kdr_status kdri_foresee_predict(kdr_context *ctx, const kdr_model *model, const kdr_data *data)
{
	kdr_status st = KDR_OK;
	kdr_estimate e;
	const kdr_task_shape shape = shape_of(data);
	if (!can_foresee(ctx, &shape, 1))
		return KDR_OK;
	KDRI_TRY(kdr_estimate_predict(ctx, model, &shape, &e));
	KDRI_TRY(kdri_foresee(ctx, "predict", 0, &e));
done:
	return st;
}

/* Of several tasks, by sizes alone. */
static kdr_status foresee_tasks(kdr_context *ctx, kdr_data *const *sets, int64_t count, const char *what,
                                const kdr_relate_options *relate, const kdr_embed_options *embed)
{
	kdr_status st;
	kdr_estimate e;
	kdr_task_shape *shapes = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &shapes, count));
	for (int64_t t = 0; t < count; t++)
		shapes[t] = shape_of(sets[t]);
	if (!can_foresee(ctx, shapes, count))
		goto done;
	KDRI_TRY(relate ? kdr_estimate_relate(ctx, shapes, count, relate, &e)
	                : kdr_estimate_embed(ctx, shapes, count, embed, &e));
	KDRI_TRY(kdri_foresee(ctx, what, 0, &e));
done:
	kdri_free(ctx, shapes);
	return st;
}

kdr_status kdri_foresee_relate(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                               const kdr_relate_options *options)
{
	return foresee_tasks(ctx, sets, count, "relate", options, NULL);
}

kdr_status kdri_foresee_embed(kdr_context *ctx, kdr_data *const *sets, int64_t count,
                              const kdr_embed_options *options)
{
	return foresee_tasks(ctx, sets, count, "embed", NULL, options);
}
