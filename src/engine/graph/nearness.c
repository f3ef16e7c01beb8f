/* How near the samples of one task are to those of another. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  a_ts = mean over samples i of t of max_{j in s, j != i} cos(x_i - m, x_j - m), clipped at 0
 *         r_ts = min(1, a_ts / a_tt)
 *   (E2)  by distance: d_ts = mean of min_j |x_i - x_j|, r_ts = min(1, d_tt / d_ts)
 *
 * over the same number of samples of each task, because the nearest of many is nearer than the nearest of few. If rows
 * are distributed over ranks, these samples are sent to all ranks, and each computes the result. */
#include "engine/graph/nearness.h"

#include <stdio.h>

#include "comm/comm.h"
#include "matrix/products.h"

enum { MOST = 400 };

typedef struct search {
	int64_t each, count; /* samples of a task; tasks */
	bool cosine;
	const double *norm, *shift; /* |x_i - m|^2 and <x_i, m> */
	double square;              /* |m|^2 */
	double *best;               /* samples x tasks */
} search;

static void nearness_scan(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const search *q = user;
	for (int64_t c = 0; c < cols; c++) {
		int64_t j = col + c;
		double *best = &q->best[row * q->count + j / q->each], lengths, near;
		if (j == row)
			continue;
		if (q->cosine) {
			lengths = sqrt(q->norm[row] * q->norm[j]);
			near = lengths > 0 ? (piece[c] - q->shift[row] - q->shift[j] + q->square) / lengths
			                   : 0;
		} else {
			near = -sqrt(KDRI_MAX(q->norm[row] + q->norm[j] - 2 * piece[c], 0));
		}
		*best = KDRI_MAX(*best, near);
	}
}

/* The same number of evenly spaced rows of each task, stacked. */
static kdr_status sample(kdr_context *ctx, const kdr_mat *const *tasks, int64_t count, const int64_t *all,
                         int64_t each, kdri_own *out)
{
	kdr_status st;
	kdri_own *parts = NULL;
	const kdr_mat **views = NULL;
	int64_t *rows = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &parts, count));
	KDRI_TRY(KDRI_NEW(ctx, &views, count));
	KDRI_TRY(KDRI_NEW(ctx, &rows, each));
	for (int64_t t = 0; t < count; t++)
		parts[t].view = kdr_mat_from_dense(NULL, 0, 0);
	for (int64_t t = 0; t < count; t++) {
		for (int64_t i = 0; i < each; i++)
			rows[i] = kdri_chunk_begin(all[t], each, i);
		KDRI_TRY(kdri_mat_take_all(ctx, tasks[t], rows, each, &parts[t]));
		views[t] = &parts[t].view;
	}
	KDRI_TRY(kdri_mat_stack(ctx, views, count, out));
done:
	for (int64_t t = 0; parts && t < count; t++)
		kdri_own_free(ctx, &parts[t]);
	KDRI_FREE(ctx, parts, views, rows);
	return st;
}

/* (E1), (E2) from the best of each sample. */
static void summarise(const search *q, double *out)
{
	int64_t T = q->count;
	for (int64_t t = 0; t < T; t++) {
		for (int64_t s = 0; s < T; s++) {
			double sum = 0;
			for (int64_t i = t * q->each; i < (t + 1) * q->each; i++)
				sum += q->best[i * T + s];
			out[t * T + s] = sum / (double)q->each;
		}
		double own = out[t * T + t];
		for (int64_t s = 0; s < T; s++) {
			double other = out[t * T + s], r = 1;
			if (s != t && q->cosine)
				r = own > 0 ? KDRI_MAX(other, 0) / own : other >= own;
			else if (s != t) /* both are distances, with a minus */
				r = other < 0 ? own / other : 1;
			out[t * T + s] = KDRI_MIN(r, 1);
		}
	}
}

kdr_status kdri_nearness(kdr_context *ctx, const kdr_mat *const *tasks, int64_t count, bool cosine,
                         const double *mean, double *out)
{
	kdr_status st = KDR_OK;
	int64_t each = MOST, total, *all = NULL;
	kdri_own x = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_products products = { 0 };
	double *norm = NULL, *shift = NULL;
	search q = { .count = count, .cosine = cosine };
	KDRI_TRY(KDRI_NEW(ctx, &all, count));
	for (int64_t t = 0; t < count; t++)
		all[t] = kdr_mat_rows(tasks[t]);
	KDRI_TRY(kdri_sum_int(ctx, all, count));
	for (int64_t t = 0; t < count; t++)
		each = KDRI_MIN(each, all[t]);
	if (each < 2) { /* no sample has another of its own task */
		for (int64_t p = 0; p < count * count; p++)
			out[p] = p % (count + 1) == 0;
		goto done;
	}
	q.each = each;
	total = each * count;
	KDRI_TRY(sample(ctx, tasks, count, all, each, &x));
	KDRI_TRY(KDRI_NEW(ctx, &norm, total));
	KDRI_TRY(KDRI_NEW0(ctx, &shift, total));
	KDRI_TRY(KDRI_NEW(ctx, &q.best, total * count));
	KDRI_TRY(kdri_mat_row_norms(ctx, &x.view, norm));
	if (mean && cosine) {
		KDRI_TRY(kdri_mat_mul(ctx, &x.view, mean, 1, 1, shift, 1));
		q.square = kdri_nrm2sq(mean, kdr_mat_cols(&x.view));
		for (int64_t i = 0; i < total; i++) {
			double left = norm[i] - 2 * shift[i] + q.square;
			norm[i] = left > 1e-14 * (norm[i] + q.square) ? left : 0;
		}
	}
	for (int64_t p = 0; p < total * count; p++)
		q.best[p] = -INFINITY;
	q.norm = norm;
	q.shift = shift;
	KDRI_TRY(kdri_products_new(ctx, &x.view, &products));
	KDRI_TRY(kdri_products_rows(ctx, &products, 0, total, nearness_scan, &q));
	summarise(&q, out);
done:
	kdri_free(ctx, all);
	kdri_products_free(ctx, &products);
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, norm, shift, q.best);
	return st;
}

/* Nearness below which samples have hardly any near samples in other tasks. */
static const double far_away = 0.35;

void kdri_nearness_advice(const char *name, const char *nearest, double nearness, char *out, size_t room)
{
	if (!nearest)
		snprintf(out, room, "%s: there is no other data set to compare with", name);
	else if (nearness < far_away)
		kdri_snprintf(
		        out, room,
		        "%s: has little in common with the others (nearest: %s, similarity %.2f; 1 = as similar as to itself)",
		        name, nearest, nearness);
	else
		kdri_snprintf(
		        out, room,
		        "%s: is near %s (similarity %.2f; 1 = as similar as to itself); to check whether they help each other, cluster with and without --no-transfer",
		        name, nearest, nearness);
}
