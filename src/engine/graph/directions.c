/* Leading directions of one task, and of all of them. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  X_t - 1 m_t' = U S V', Y = U S                         m_t: the mean of task t, or of each its own
 *
 * and rows of Y are scaled to unit length if samples are compared by cosine. Sparse data stay sparse: the products are
 * those of X and the means. Of few rows with many columns, U and S are those of the products X X', of all pairs of rows.
 * If rows are distributed over ranks, m and V are those of all rows. */
#include "comm/comm.h"
#include "engine/graph/views.h"
#include "matrix/device_use.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"
#include "matrix/range.h"

enum { MOST_DIRECTIONS = 128, ROUNDS = 5 };

/* Y = U S of an operator (E1), `count` columns; rows of unit length if `unit`. */
static kdr_status coordinates(kdr_context *ctx, const kdri_op *op, int64_t count, double **out)
{
	kdr_status st;
	double *u = NULL, *s = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &s, count));
	KDRI_TRY(kdri_leading(ctx, op, count, ROUNDS, &u, s, NULL));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (op->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < count; j++)
			u[i * count + j] *= s[j];
	*out = u;
	u = NULL;
done:
	KDRI_FREE(ctx, u, s);
	return st;
}

/* A row that consists of rounding errors has no direction. */
static void scale_row(double *y, int64_t width, double largest)
{
	double length = sqrt(kdri_nrm2sq(y, width));
	for (int64_t j = 0; j < width; j++)
		y[j] = length > 1e-10 * largest ? y[j] / length : 0;
}

static kdr_status views_directions_scale_rows(kdr_context *ctx, double *y, int64_t n, int64_t width)
{
	double largest = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) \
        reduction(max \
                  : largest) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++)
		largest = KDRI_MAX(largest, sqrt(kdri_nrm2sq(y + i * width, width)));
	KDRI_DO(kdri_max(ctx, &largest, 1));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n > KDRI_BLOCK)
	for (int64_t i = 0; i < n; i++)
		scale_row(y + i * width, width, largest);
	return KDR_OK;
}

kdr_status kdri_views_leading(kdr_context *ctx, const kdri_views_task *task, int64_t k, double **out,
                              int64_t *width)
{
	kdr_status st;
	const kdr_mat *x = &task->rows.view;
	int64_t d = kdr_mat_cols(x), all;
	double *mean = NULL;
	kdri_held *held = NULL;
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(x), NULL, &all));
	KDRI_TRY(KDRI_NEW(ctx, &mean, d));
	KDRI_TRY(kdri_mat_col_means(ctx, x, mean));
	const kdri_centred centred = { x, mean };
	const kdri_op op = kdri_op_centred(&centred);
	*width = KDRI_MIN(2 * k, KDRI_MIN(all, d));
	KDRI_TRY(kdri_hold_leading(ctx, x, *width, ROUNDS, &held));
	KDRI_TRY(coordinates(ctx, &op, *width, out));
done:
	kdri_unhold(ctx, held);
	kdri_free(ctx, mean);
	return st;
}

static kdr_status own_directions(kdr_context *ctx, kdri_views_task *task, int64_t k)
{
	int64_t n = kdr_mat_rows(&task->rows.view), all;
	KDRI_DO(kdri_part(ctx, n, NULL, &all));
	KDRI_DO(kdri_views_leading(ctx, task, k, &task->leading, &task->width));
	KDRI_DO(KDRI_NEW0(ctx, &task->spread, task->width));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < task->width; j++)
			task->spread[j] +=
			        task->leading[i * task->width + j] * task->leading[i * task->width + j];
	KDRI_DO(kdri_sum(ctx, task->spread, task->width));
	for (int64_t j = 0; j < task->width; j++)
		task->spread[j] = sqrt(task->spread[j] / (double)all); /* the mean is 0 */
	if (task->cosine)
		KDRI_DO(views_directions_scale_rows(ctx, task->leading, n, task->width));
	return KDR_OK;
}

/* All tasks stacked, each minus its own mean. */
typedef struct pool {
	const kdri_views *views;
	const double *means; /* ntasks x d */
} pool;

static kdr_status pool_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                             double *y, int64_t ldy)
{
	kdr_status st = KDR_OK;
	const pool *p = op->data;
	for (int64_t t = 0; t < p->views->ntasks && st == KDR_OK; t++) {
		const kdri_centred part = { &p->views->tasks[t].rows.view, p->means + t * op->cols };
		const kdri_op own = kdri_op_centred(&part);
		st = own.apply(ctx, &own, x, k, ldx, y + p->views->begin[t] * ldy, ldy);
	}
	return st;
}

static kdr_status pool_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                               double *y, int64_t ldy)
{
	kdr_status st;
	const pool *p = op->data;
	double *own_y = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &own_y, op->cols * k));
	for (int64_t t = 0; t < p->views->ntasks; t++) {
		const kdri_centred part = { &p->views->tasks[t].rows.view, p->means + t * op->cols };
		const kdri_op own = kdri_op_centred(&part);
		KDRI_TRY(own.apply_t(ctx, &own, x + p->views->begin[t] * ldx, k, ldx, own_y, k));
		for (int64_t i = 0; i < op->cols; i++)
			for (int64_t j = 0; j < k; j++)
				y[i * ldy + j] = (t ? y[i * ldy + j] : 0) + own_y[i * k + j];
	}
done:
	kdri_free(ctx, own_y);
	return st;
}

/* Two rounds with products of all pairs of rows are as exact as ROUNDS with the rows, because each applies them twice. */
enum { FEW_ROUNDS = 2 };

/* Products of all pairs of few rows take a fifth of the time of several passes over twice as many columns. */
static bool few_rows(const kdri_views *v, int64_t d)
{
	int64_t n = 0;
	bool sparse = true;
	for (int64_t t = 0; t < v->ntasks; t++) {
		n += v->rows[t];
		sparse = sparse && v->tasks[t].sparse;
	}
	return sparse && n <= KDRI_VIEWS_FEW && 2 * n <= d;
}

/* Subtracts their mean from `count` numbers. */
static void centre(double *v, int64_t count, int64_t step)
{
	const double each = 1 / (double)count;
	double mean = 0;
	for (int64_t i = 0; i < count; i++)
		mean += v[i * step] * each;
	for (int64_t i = 0; i < count; i++)
		v[i * step] -= mean;
}

/* Products of rows become those of rows minus the mean of their task. */
static void centre_products(double *a, const int64_t *begin, int64_t tasks)
{
	const int64_t n = begin[tasks];
	for (int64_t i = 0; i < n; i++)
		for (int64_t t = 0; t < tasks; t++)
			centre(a + i * n + begin[t], begin[t + 1] - begin[t], 1);
	for (int64_t j = 0; j < n; j++)
		for (int64_t t = 0; t < tasks; t++)
			centre(a + begin[t] * n + j, begin[t + 1] - begin[t], n);
}

/* All rows, of all ranks, as sparse rows; begin[t]: the first of task t. */
static kdr_status stack_all(kdr_context *ctx, const kdri_views *v, int64_t *begin, kdri_own *out)
{
	kdr_status st;
	int64_t row[KDRI_VIEWS_FEW];
	kdri_own *taken = NULL, *parts = NULL;
	const kdr_mat **list = NULL;
	for (int64_t i = 0; i < KDRI_VIEWS_FEW; i++)
		row[i] = i;
	KDRI_TRY(KDRI_NEW0(ctx, &taken, v->ntasks));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, v->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &list, v->ntasks));
	begin[0] = 0;
	for (int64_t t = 0; t < v->ntasks; t++) {
		const kdr_mat *x = &v->tasks[t].rows.view;
		if (kdri_together(ctx)) {
			KDRI_TRY(kdri_mat_take_all(ctx, x, row, v->rows[t], &taken[t]));
			x = &taken[t].view;
		}
		KDRI_TRY(kdri_mat_by_content(ctx, x, &parts[t]));
		list[t] = &parts[t].view;
		begin[t + 1] = begin[t] + v->rows[t];
	}
	KDRI_TRY(kdri_mat_stack(ctx, list, v->ntasks, out));
done:
	for (int64_t t = 0; parts && t < v->ntasks; t++) {
		kdri_own_free(ctx, &parts[t]);
		kdri_own_free(ctx, &taken[t]);
	}
	KDRI_FREE(ctx, taken, parts, list);
	return st;
}

/* The leading coordinates of rows of which these are the products. Every rank has them all and works separately. */
static kdr_status from_products(kdr_context *ctx, const double *products, int64_t n, int64_t count,
                                double **out)
{
	kdr_status st;
	double *s = NULL;
	const kdr_mat view = kdr_mat_from_dense(products, n, n);
	const kdri_op op = kdri_op_mat(&view);
	kdri_apart(ctx);
	KDRI_TRY(KDRI_NEW(ctx, &s, count));
	KDRI_TRY(kdri_leading(ctx, &op, count, FEW_ROUNDS, out, s, NULL));
	for (int64_t j = 0; j < count;
	     j++) /* differences of products are rounded: no direction is shorter than that */
		s[j] = s[j] > 1e-10 * s[0] ? sqrt(s[j]) : 0;
	for (int64_t i = 0; i < n * count; i++)
		(*out)[i] *= s[i % count];
done:
	kdri_rejoin(ctx);
	kdri_free(ctx, s);
	return st;
}

/* (E1) of all tasks from the products of their centred rows. */
static kdr_status pooled_from_products(kdr_context *ctx, const kdri_views *v, int64_t count, double **out)
{
	kdr_status st;
	const int64_t T = v->ntasks;
	int64_t *begin = NULL;
	double *products = NULL, *all = NULL;
	kdri_own rows = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	KDRI_TRY(KDRI_NEW(ctx, &begin, T + 1));
	KDRI_TRY(stack_all(ctx, v, begin, &rows));
	const int64_t n = begin[T];
	KDRI_TRY(KDRI_NEW(ctx, &products, n * n));
	KDRI_TRY(kdri_gram(ctx, &rows.view, products));
	centre_products(products, begin, T);
	KDRI_TRY(from_products(ctx, products, n, count, &all));
	KDRI_TRY(kdri_share(ctx, all, n * count * (int64_t)sizeof *all,
	                    0)); /* if time was short, they differ */
	for (int64_t t = 0; t < T; t++) {
		const int64_t here = kdr_mat_rows(&v->tasks[t].rows.view);
		int64_t start, total;
		KDRI_TRY(kdri_part(ctx, here, &start, &total));
		memmove(all + v->begin[t] * count, all + (begin[t] + start) * count,
		        (size_t)(here * count) * sizeof *all);
	}
	*out = all;
	all = NULL;
done:
	kdri_own_free(ctx, &rows);
	KDRI_FREE(ctx, begin, products, all);
	return st;
}

kdr_status kdri_views_pooled(kdr_context *ctx, const kdri_views *v, int64_t count, double **out)
{
	kdr_status st;
	int64_t n = v->begin[v->ntasks], d = kdr_mat_cols(&v->tasks[0].rows.view), size;
	double *means = NULL;
	kdri_held **held = NULL;
	static const char kept_name[] = "directions of all data sets";
	uint64_t key = kdri_hash_number((uint64_t)count, ctx->seed);
	for (int64_t t = 0; t < v->ntasks && kdri_keeps(ctx); t++)
		key = kdri_mat_hash(&v->tasks[t].rows.view, key);
	if (kdri_repeats(ctx)) {
		double *found = NULL;
		KDRI_TRY(kdri_mul(ctx, n, count, &size));
		KDRI_TRY(KDRI_NEW(ctx, &found, size));
		if (kdri_kept_find(ctx, kept_name, key, found, (size_t)size * sizeof *found)) {
			*out = found;
			return KDR_OK;
		}
		kdri_free(ctx, found);
	}
	if (few_rows(v, d)) {
		KDRI_TRY(pooled_from_products(ctx, v, count, out));
		st = kdri_kept_put(ctx, kept_name, key, *out, (size_t)(n * count) * sizeof **out);
		goto done;
	}
	KDRI_TRY(kdri_mul(ctx, v->ntasks, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &means, size));
	for (int64_t t = 0; t < v->ntasks; t++)
		KDRI_TRY(kdri_mat_col_means(ctx, &v->tasks[t].rows.view, means + t * d));
	KDRI_TRY(KDRI_NEW0(ctx, &held, v->ntasks));
	for (int64_t t = 0; t < v->ntasks; t++)
		KDRI_TRY(kdri_hold_leading(ctx, &v->tasks[t].rows.view, count, ROUNDS, &held[t]));
	const pool p = { v, means };
	const kdri_op op = { n, d, pool_apply, pool_apply_t, &p };
	KDRI_TRY(coordinates(ctx, &op, count, out));
	KDRI_TRY(kdri_kept_put(ctx, kept_name, key, *out, (size_t)(n * count) * sizeof **out));
done:
	for (int64_t t = 0; held && t < v->ntasks; t++)
		kdri_unhold(ctx, held[t]);
	KDRI_FREE(ctx, held, means);
	return st;
}

static kdr_status pooled_directions(kdr_context *ctx, kdri_views *v, const int64_t *k)
{
	int64_t n = v->begin[v->ntasks], d = kdr_mat_cols(&v->tasks[0].rows.view), most = 1, all = 0, size;
	for (int64_t t = 0; t < v->ntasks; t++) {
		most = KDRI_MAX(most, k[t]);
		all += v->rows[t];
	}
	v->directions = KDRI_MIN(KDRI_MAX(MOST_DIRECTIONS, 2 * most), KDRI_MIN(all, d));
	v->width = KDRI_MIN(2 * most, v->directions);
	KDRI_DO(kdri_views_pooled(ctx, v, v->directions, &v->centred));
	KDRI_DO(kdri_mul(ctx, n, v->width, &size));
	KDRI_DO(KDRI_NEW(ctx, &v->shared, size));
	for (int64_t i = 0; i < n; i++)
		memcpy(v->shared + i * v->width, v->centred + i * v->directions,
		       (size_t)v->width * sizeof *v->shared);
	if (v->tasks[0].cosine)
		KDRI_DO(views_directions_scale_rows(ctx, v->shared, n, v->width));
	return KDR_OK;
}

kdr_status kdri_views_directions(kdr_context *ctx, kdri_views *v, const int64_t *k, bool pooled)
{
	for (int64_t t = 0; t < v->ntasks; t++)
		if (!v->options.given || !v->options.given[t])
			KDRI_DO(own_directions(ctx, &v->tasks[t], k[t]));
	if (v->options.together && pooled)
		KDRI_DO(pooled_directions(ctx, v, k));
	return KDR_OK;
}
