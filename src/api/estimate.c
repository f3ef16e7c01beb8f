/* Estimates the memory of a fit before it starts. SPDX-License-Identifier: BSD-3-Clause */
#include "api/estimate.h"
#include "comm/comm.h"
#include "core/links.h"
#include "matrix/traits.h"

/* --- sizes ------------------------------------------------------------------------------------ */

kdri_extent kdri_extent_dense(double n, double d)
{
	return (kdri_extent){ .n = n, .d = d, .entries = n * d, .dense = true };
}

kdri_extent kdri_extent_of(const kdr_task_shape *t)
{
	kdri_extent x = kdri_extent_dense((double)t->rows, (double)t->cols);
	x.dense = t->dense;
	x.streamed = t->streamed;
	x.entries = t->dense ? x.entries : (double)t->entries;
	return x;
}

kdri_extent kdri_extent_of_mat(const kdr_mat *x)
{
	const kdr_task_shape shape = { .rows = kdr_mat_rows(x),
		                       .cols = kdr_mat_cols(x),
		                       .entries = kdr_mat_nnz(x),
		                       .dense = x->kind == KDR_MAT_DENSE };
	return kdri_extent_of(&shape);
}

kdri_extent kdri_extent_rows(const kdri_extent *x, double rows)
{
	kdri_extent some = *x;
	some.n = KDRI_MIN(rows, x->n);
	some.entries *= some.n / x->n;
	return some;
}

double kdri_extent_values(const kdri_extent *x)
{
	return x->streamed ? 0 : 8 * x->entries;
}

double kdri_extent_bytes(const kdri_extent *x)
{
	return kdri_extent_values(x) * (x->dense ? 1 : 1.5) + (x->dense || x->streamed ? 0 : 8 * x->n);
}

kdri_extent kdri_sizes_role(const kdri_sizes *s, int role)
{
	kdri_extent all = { .dense = true };
	for (int64_t t = 0; t < s->ntasks; t++) {
		const kdri_extent x = kdri_extent_of(&s->tasks[t]);
		if (role >= 0 && (int)s->tasks[t].role != role)
			continue;
		all.n += x.n;
		all.entries += x.entries;
		all.d = KDRI_MAX(all.d, x.d);
		all.dense &= x.dense;
		all.streamed |= x.streamed;
	}
	return all;
}

/* --- bytes ------------------------------------------------------------------------------------ */

double kdri_algo_bytes(const kdri_algo *algo, const kdri_sizes *s, const kdr_options *options)
{
	enum { USUAL = 5 }; /* clusters, if they are to be found */
	const kdri_extent all = kdri_sizes_role(s, -1);
	const bool each =
	        algo->info.family == KDR_FAMILY_CLUSTER && !(algo->info.flags & KDR_ALGO_JOINT) && !s->pooled;
	double k = (double)s->classes, kept = 8 * all.n, more = 0; /* labels */
	for (int64_t t = 0; t < s->ntasks; t++)
		k = KDRI_MAX(k, (double)s->tasks[t].k);
	k = k > 0 ? k : USUAL;
	for (int64_t t = 0; t < (each ? s->ntasks : 1); t++) {
		const kdri_extent x = each ? kdri_extent_of(&s->tasks[t]) : all;
		const kdri_bytes b = algo->estimate_bytes(
		        s, &x, each && s->tasks[t].k > 0 ? (double)s->tasks[t].k : k, options);
		kept += b.kept;
		more = KDRI_MAX(more, b.more);
	}
	return kept + more + (s->pooled ? kdri_extent_bytes(&all) : 0);
}

double kdri_member_bytes(const kdri_algo *algo, const kdri_sizes *sizes, const kdri_setting *const *settings)
{
	kdr_options *options = NULL;
	double bytes = INFINITY;
	kdr_status st = kdri_options_new(sizes->ctx, algo, NULL, &options);
	for (; st == KDR_OK && *settings; settings++)
		st = kdri_options_apply(sizes->ctx, options, *settings);
	if (st == KDR_OK)
		bytes = kdri_algo_bytes(algo, sizes, options);
	kdr_options_free(options);
	return bytes;
}

kdr_status kdri_shape_check(kdr_context *ctx, const kdr_task_shape *tasks, int64_t ntasks, double *bytes)
{
	*bytes = 0;
	if (!ctx || !tasks || ntasks < 1)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "an estimate needs the size of at least one data set");
	for (int64_t t = 0; t < ntasks; t++) {
		const kdr_task_shape *x = &tasks[t];
		if (x->rows < 1 || x->cols < 1 || x->entries < 0)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "data set %lld has %lld rows, %lld columns and %lld entries; at least 1, 1 and 0 are needed",
			        (long long)t + 1, (long long)x->rows, (long long)x->cols,
			        (long long)x->entries);
		const kdri_extent size = kdri_extent_of(x);
		*bytes += kdri_extent_bytes(&size);
	}
	return KDR_OK;
}

static kdr_status estimate_sizes(const kdri_algo *algo, const kdri_sizes *sizes, const kdr_options *options,
                                 kdr_estimate *out)
{
	kdr_status st;
	kdr_context *ctx = sizes->ctx;
	kdr_options *defaults = NULL;
	double data;
	KDRI_TRY(kdri_shape_check(ctx, sizes->tasks, sizes->ntasks, &data));
	if (options && kdr_options_algo(options) != &algo->info)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "the options are for method '%s', not '%s'",
		                 kdr_options_algo(options)->id, algo->info.id);
	if (!options)
		KDRI_TRY(kdri_options_new(ctx, algo, NULL, &defaults));
	const double bytes = kdri_algo_bytes(algo, sizes, options ? options : defaults);
	if (isinf(bytes)) /* the error is in the context */
		st = KDR_ERR_MEMORY;
	else
		*out = (kdr_estimate){ .bytes = data + bytes, .data_bytes = data };
done:
	kdr_options_free(defaults);
	return st;
}

kdr_status kdr_estimate_bytes(kdr_context *ctx, const char *algo_id, const kdr_task_shape *tasks,
                              int64_t ntasks, int64_t classes, bool pooled, const kdr_options *options,
                              kdr_estimate *out)
{
	KDRI_NEED(ctx, algo_id && tasks && out);
	const kdri_algo *algo = kdri_algo_find(algo_id);
	if (!algo)
		return kdri_algo_unknown(ctx, algo_id, NULL);
	kdri_sizes sizes = { .tasks = tasks,
		             .ntasks = ntasks,
		             .classes = classes,
		             .pooled = pooled,
		             .nonnegative = true,
		             .threads = ctx->threads,
		             .ctx = ctx };
	for (int64_t t = 0; t < ntasks; t++)
		sizes.nonnegative &= !tasks[t].dense; /* sparse data are taken to be counts */
	return estimate_sizes(algo, &sizes, options, out);
}

kdr_status kdri_estimate_problem(kdr_context *ctx, const kdri_algo *algo, const kdr_problem *problem,
                                 const bool *streamed, const kdr_options *options, kdr_estimate *out)
{
	kdr_status st;
	kdr_task_shape *shapes = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &shapes, problem->ntasks));
	kdri_sizes sizes = { .tasks = shapes,
		             .ntasks = problem->ntasks,
		             .classes = problem->classes,
		             .pooled = problem->pooled,
		             .several = kdri_ranks(ctx) > 1,
		             .started = true,
		             .known = kdri_has_links(problem),
		             .table = problem->category != NULL,
		             .nonnegative = true,
		             .threads = ctx->threads,
		             .ctx = ctx };
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		/* A rank may have no rows of a task. */
		shapes[t] = (kdr_task_shape){ .rows = KDRI_MAX(kdr_mat_rows(&task->x), 1),
			                      .cols = kdr_mat_cols(&task->x),
			                      .entries = kdr_mat_nnz(&task->x),
			                      .dense = task->x.kind == KDR_MAT_DENSE,
			                      .streamed = streamed && streamed[t],
			                      .k = task->k,
			                      .role = task->role };
		sizes.started &= task->init != NULL;
		sizes.nonnegative =
		        sizes.nonnegative && !shapes[t].streamed && !kdri_traits_here(ctx, &task->x).negative;
	}
	KDRI_TRY(estimate_sizes(algo, &sizes, options, out));
done:
	kdri_free(ctx, shapes);
	return st;
}
