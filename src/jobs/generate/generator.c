/* What all designs of synthetic data share. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/generate/synth.h"

#include <stdio.h>

enum { DEFAULT_SAMPLES = 300, MOST_TASKS = 1 << 20 };
static const int64_t most_samples = (int64_t)1 << 40;

/* --- making one -------------------------------------------------------------------------------- */

kdr_status kdri_check_count(kdr_context *ctx, const char *what, const char *name, int64_t value, int64_t min,
                            int64_t max)
{
	if (value >= min && value <= max)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_ARGUMENT, "generate %s: %s is %lld; use %lld to %lld", what, name,
	                 (long long)value, (long long)min, (long long)max);
}

kdr_status kdri_check_real(kdr_context *ctx, const char *what, const char *name, double value, double min,
                           double max)
{
	if (value >= min && value <= max)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_ARGUMENT, "generate %s: %s is %g; use %g to %g", what, name, value, min,
	                 max);
}

kdr_status kdri_generator_new(kdr_context *ctx, const kdri_design *design, const char *what, int64_t tasks,
                              int64_t k, const int64_t *samples, kdr_generator **out)
{
	kdr_status st;
	kdr_generator *g = NULL;
	KDRI_TRY(kdri_check_count(ctx, what, "tasks", tasks, 1, MOST_TASKS));
	KDRI_TRY(kdri_check_count(ctx, what, "k", k, 1, INT32_MAX));
	for (int64_t t = 0; t < tasks && samples; t++)
		KDRI_TRY(kdri_check_count(ctx, what, "samples", samples[t], 1, most_samples));
	KDRI_TRY(KDRI_NEW0(ctx, &g, 1));
	g->allocator = ctx->allocator;
	g->design = design;
	g->seed = ctx->seed;
	g->tasks = tasks;
	g->k = k;
	KDRI_TRY(KDRI_NEW(ctx, &g->samples, tasks));
	for (int64_t t = 0; t < tasks; t++)
		g->samples[t] = samples ? samples[t] : DEFAULT_SAMPLES;
	*out = g;
	g = NULL;
done:
	kdr_generator_free(g);
	return st;
}

void kdr_generator_free(kdr_generator *g)
{
	if (!g)
		return;
	kdr_allocator a = g->allocator;
	if (g->state)
		g->design->free_state(&a, g->state);
	KDRI_FREE_WITH(&a, g->samples, g->bound, g->start, g);
}

/* --- queries --------------------------------------------------------------------------------- */

int64_t kdr_generator_tasks(const kdr_generator *g)
{
	return g ? g->tasks : 0;
}

/* --- rows -------------------------------------------------------------------------------------- */

/* Tasks are below 2^20 and rows below 2^40, so every row has its own number. */
static kdri_rng row_stream(const kdr_generator *g, int64_t task, int64_t index)
{
	return kdri_rng_stream(g->seed, g->design->stage, (uint64_t)task << 40 | (uint64_t)index);
}

static bool has_row(const kdr_generator *g, int64_t task, int64_t index)
{
	return task >= 0 && task < g->tasks && index >= 0 && index < g->samples[task];
}

int64_t kdri_generator_dense_row(const kdr_generator *g, int64_t task, int64_t index, double *row)
{
	kdri_rng rng = row_stream(g, task, index);
	int64_t label = kdri_class_of(g, task, index);
	if (g->design->place_row)
		g->design->place_row(g, index, row);
	else
		g->design->dense_row(g, task, label, &rng, row);
	return label;
}

static int64_t sparse_row(const kdr_generator *g, int64_t task, int64_t index, int32_t *cols, double *vals,
                          int64_t *nnz)
{
	kdri_rng rng = row_stream(g, task, index);
	int64_t label = kdri_class_of(g, task, index);
	*nnz = g->design->sparse_row(g, task, label, &rng, cols, vals);
	return label;
}

kdr_status kdri_generator_row(kdr_generator *g, int64_t task, int64_t index, double *row, int64_t *label)
{
	if (!has_row(g, task, index))
		return KDR_ERR_ARGUMENT;
	*label = kdri_generator_dense_row(g, task, index, row);
	return KDR_OK;
}

kdr_status kdri_generator_sparse_row(kdr_generator *g, int64_t task, int64_t index, int32_t *cols,
                                     double *vals, int64_t *nnz, int64_t *label)
{
	if (!has_row(g, task, index))
		return KDR_ERR_ARGUMENT;
	if (!g->design->sparse_row)
		return KDR_ERR_UNSUPPORTED;
	*label = sparse_row(g, task, index, cols, vals, nnz);
	return KDR_OK;
}

/* --- entire tasks ------------------------------------------------------------------------------ */

static kdr_status generator_fill_dense(kdr_context *ctx, const kdr_generator *g, int64_t task, kdr_data *d)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, d->rows, d->cols, &size));
	KDRI_DO(KDRI_NEW(ctx, &d->dense, size));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < d->rows; i++)
		d->labels[i] = kdri_generator_dense_row(g, task, i, d->dense + i * d->cols);
	return KDR_OK;
}

/* Rows are made in the room each may need, then pushed together. */
static kdr_status fill_sparse(kdr_context *ctx, const kdr_generator *g, int64_t task, kdr_data *d)
{
	kdr_status st;
	int64_t *length = NULL, end = 0;
	d->kind = KDR_MAT_CSR;
	KDRI_TRY(KDRI_NEW(ctx, &d->rowptr, d->rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &length, d->rows));
	for (int64_t i = 0; i < d->rows; i++) {
		d->rowptr[i] = end;
		end += g->design->room(g, row_stream(g, task, i));
	}
	d->rowptr[d->rows] = end;
	KDRI_TRY(KDRI_NEW(ctx, &d->col, end));
	KDRI_TRY(KDRI_NEW(ctx, &d->val, end));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < d->rows; i++)
		d->labels[i] =
		        sparse_row(g, task, i, d->col + d->rowptr[i], d->val + d->rowptr[i], &length[i]);
	end = 0;
	for (int64_t i = 0; i < d->rows; i++) {
		memmove(d->col + end, d->col + d->rowptr[i], (size_t)length[i] * sizeof *d->col);
		memmove(d->val + end, d->val + d->rowptr[i], (size_t)length[i] * sizeof *d->val);
		d->rowptr[i] = end;
		end += length[i];
	}
	d->rowptr[d->rows] = end;
	KDRI_TRY(KDRI_GROW(ctx, &d->col, end));
	KDRI_TRY(KDRI_GROW(ctx, &d->val, end));
done:
	kdri_free(ctx, length);
	return st;
}

kdr_status kdr_generator_data(kdr_context *ctx, kdr_generator *g, int64_t task, kdr_data **out)
{
	kdr_status st;
	kdr_data *d = NULL;
	char text[64];
	KDRI_NEED(ctx, g && out);
	KDRI_TRY(kdri_check_count(ctx, "data", "task", task, 0, g->tasks - 1));
	snprintf(text, sizeof text, "task%lld", (long long)task + 1);
	KDRI_TRY(kdri_data_new(ctx, text, "", &d));
	d->rows = g->samples[task];
	d->cols = g->features;
	d->nclasses = g->k;
	KDRI_TRY(KDRI_NEW(ctx, &d->labels, d->rows));
	KDRI_TRY(KDRI_NEW0(ctx, &d->classes, d->nclasses));
	for (int64_t c = 0; c < d->nclasses; c++) {
		snprintf(text, sizeof text, "c%lld", (long long)c);
		KDRI_TRY(kdri_strdup(ctx, text, &d->classes[c]));
	}
	if (!g->design->fill)
		KDRI_TRY(KDRI_NEW0(ctx, &d->features, d->cols));
	for (int64_t j = 0; d->features && j < d->cols; j++) {
		g->design->feature_name(g, task, j, text, sizeof text);
		KDRI_TRY(kdri_strdup(ctx, text, &d->features[j]));
	}
	if (g->design->fill)
		KDRI_TRY(g->design->fill(ctx, g, task, d));
	else if (g->design->sparse_row)
		KDRI_TRY(fill_sparse(ctx, g, task, d));
	else
		KDRI_TRY(generator_fill_dense(ctx, g, task, d));
	*out = d;
	d = NULL;
done:
	kdr_data_free(d);
	return st;
}
