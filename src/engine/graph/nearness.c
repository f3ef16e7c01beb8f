/* How near the samples of two data sets are. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  a_ts = mean over samples i of t of max_{j in s, j != i} cos(x_i - m, x_j - m), clipped at 0
 *         r_ts = min(1, a_ts / a_tt)
 *   (E2)  by distance: d_ts = mean of min_j |x_i - x_j|, r_ts = min(1, d_tt / d_ts)
 *
 * over the same number of samples of each task, because the nearest of many is nearer than the nearest of few. If rows
 * are distributed over ranks, these samples are sent to all ranks, and each computes the result. */
/* How far apart the samples of two data sets are.
 *
 * For data sets t and j in the same features, preprocessed together:
 *
 *     (E3)  [X_t; X_j] = U S V', Y = U S with the 60 leading directions, without centring
 *     (E4)  y_i <- y_i - the mean of its data set
 *     (E5)  u = mean over i in t of the share of samples a of j with e_a < d_i
 *
 * d_i is the distance of sample i to its third nearest sample in j, e_a that of sample a to its third nearest other sample in j. Distances are
 * 1 - cosine if all rows of X have unit length, otherwise Euclidean. If t is a random part of the same data, u is near 0.5; it is 1 if every
 * sample of t is farther from j than samples of j from each other. Subtracting the means lets a constant difference, such as that of two
 * laboratories, have no effect. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm.h"
#include "engine/graph/knn.h"
#include "matrix/linalg.h"
#include "matrix/range.h"

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

void kdri_nearness_advice(const char *name, const char *nearest, double nearness, char *out, size_t room)
{
	if (!nearest)
		snprintf(out, room, "%s: there is no other data set to compare with", name);
	else
		kdri_snprintf(
		        out, room,
		        "%s: the most similar data set is %s (similarity %.2f; 1 = as similar as to itself); to check whether they help each other, cluster with and without --no-transfer",
		        name, nearest, nearness);
}

enum { DIRECTIONS = 60, ROUNDS = 5, NEIGHBOUR = 3 };

kdr_status kdri_apart_rows(kdr_context *ctx, int64_t n, int64_t **rows, int64_t *count)
{
	const int64_t most = KDRI_MIN(n, KDRI_APART_MOST);
	/* One of each of equal stretches, so that data sorted by class keep their shares. The seed is fixed, because a measure of data
	 * must not change with that of a run. */
	kdri_rng rng = kdri_rng_stream(1, "apart", (uint64_t)n);
	KDRI_DO(KDRI_NEW(ctx, rows, most));
	for (int64_t i = 0; i < most; i++)
		(*rows)[i] = n > most ? kdri_chunk_draw(&rng, n, most, i) : i;
	*count = most;
	return KDR_OK;
}

/* Whether all rows that are not zero have unit length. */
static kdr_status has_unit_rows(kdr_context *ctx, const kdr_mat *x, bool *out)
{
	kdr_status st;
	double *norm = NULL;
	*out = true;
	KDRI_TRY(KDRI_NEW(ctx, &norm, kdr_mat_rows(x)));
	KDRI_TRY(kdri_mat_row_norms(ctx, x, norm));
	for (int64_t i = 0; i < kdr_mat_rows(x); i++)
		*out = *out && (norm[i] == 0 || fabs(norm[i] - 1) < 1e-9);
done:
	kdri_free(ctx, norm);
	return st;
}

/* (E4), and rows of unit length for cosines. */
static kdr_status centre(kdr_context *ctx, double *y, int64_t n, int64_t width, bool unit)
{
	kdr_status st;
	double *mean = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &mean, width));
	for (int64_t i = 0; i < n; i++)
		kdri_axpy(1 / (double)n, y + i * width, mean, width);
	for (int64_t i = 0; i < n; i++) {
		kdri_axpy(-1, mean, y + i * width, width);
		const double length = unit ? sqrt(kdri_nrm2sq(y + i * width, width)) : 1;
		for (int64_t c = 0; c < width && length > 0; c++)
			y[i * width + c] /= length;
	}
done:
	kdri_free(ctx, mean);
	return st;
}

/* (E3) and (E4): the rows of t, then those of j. */
static kdr_status directions_of(kdr_context *ctx, const kdr_mat *t, const kdr_mat *j, double **out,
                                int64_t *width)
{
	kdr_status st;
	const kdr_mat *const parts[2] = { t, j };
	const int64_t nt = kdr_mat_rows(t), nj = kdr_mat_rows(j);
	kdri_own all = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	double *u = NULL, *s = NULL;
	bool unit[2];
	*width = KDRI_MIN(DIRECTIONS, KDRI_MIN(nt + nj, kdr_mat_cols(t)));
	KDRI_TRY(has_unit_rows(ctx, t, &unit[0]));
	KDRI_TRY(has_unit_rows(ctx, j, &unit[1]));
	KDRI_TRY(kdri_mat_stack(ctx, parts, 2, &all));
	KDRI_TRY(KDRI_NEW(ctx, &s, *width));
	const kdri_op op = kdri_op_mat(&all.view);
	KDRI_TRY(kdri_leading(ctx, &op, *width, ROUNDS, &u, s, NULL));
	for (int64_t i = 0; i < nt + nj; i++)
		for (int64_t c = 0; c < *width; c++)
			u[i * *width + c] *= s[c];
	KDRI_TRY(centre(ctx, u, nt, *width, unit[0] && unit[1]));
	KDRI_TRY(centre(ctx, u + nt * *width, nj, *width, unit[0] && unit[1]));
	*out = u;
	u = NULL;
done:
	kdri_own_free(ctx, &all);
	KDRI_FREE(ctx, u, s);
	return st;
}

/* The square of the distance of y to its third nearest of n rows, row `self` excluded; for unit rows it is twice 1 - cosine. */
static double third_nearest(const double *y, const double *rows, int64_t n, int64_t self, int64_t width)
{
	double nearest[NEIGHBOUR] = { INFINITY, INFINITY, INFINITY };
	for (int64_t a = 0; a < n; a++) {
		double d = a == self ? INFINITY : 0;
		for (int64_t c = 0; c < width && a != self; c++)
			d += (y[c] - rows[a * width + c]) * (y[c] - rows[a * width + c]);
		for (int m = 0; m < NEIGHBOUR; m++)
			if (d < nearest[m]) {
				const double other = nearest[m];
				nearest[m] = d;
				d = other;
			}
	}
	return nearest[NEIGHBOUR - 1];
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The share of n increasing numbers below x. */
static double share_below(const double *sorted, int64_t n, double x)
{
	int64_t low = 0, high = n;
	while (low < high) {
		const int64_t middle = (low + high) / 2;
		if (sorted[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return (double)low / (double)n;
}

/* (E5) */
static kdr_status compare(kdr_context *ctx, const kdr_mat *t, const kdr_mat *j, double *out)
{
	kdr_status st;
	const int64_t nt = kdr_mat_rows(t), nj = kdr_mat_rows(j);
	int64_t width;
	double *y = NULL, *own = NULL, *other = NULL, sum = 0;
	KDRI_TRY(directions_of(ctx, t, j, &y, &width));
	KDRI_TRY(KDRI_NEW(ctx, &own, nj));
	KDRI_TRY(KDRI_NEW(ctx, &other, nt));
	const double *rows = y + nt * width;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < nt + nj; i++) {
		if (i < nt)
			other[i] = third_nearest(y + i * width, rows, nj, -1, width);
		else
			own[i - nt] = third_nearest(y + i * width, rows, nj, i - nt, width);
	}
	qsort(own, (size_t)nj, sizeof *own, by_size);
	for (int64_t i = 0; i < nt; i++)
		sum += share_below(own, nj, other[i]);
	*out = sum / (double)nt;
done:
	KDRI_FREE(ctx, y, own, other);
	return st;
}

kdr_status kdri_apart_find(kdr_context *ctx, const kdr_mat *t, const kdr_mat *j, double *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *const x[2] = { t, j };
	kdri_own own[2] = { { .view = *t }, { .view = *j } };
	int64_t *rows = NULL, count;
	*out = NAN;
	if (kdr_mat_rows(t) < 1 || kdr_mat_rows(j) < KDRI_APART_LEAST)
		return KDR_OK;
	for (int p = 0; p < 2; p++) {
		if (kdr_mat_rows(x[p]) <= KDRI_APART_MOST)
			continue;
		KDRI_TRY(kdri_apart_rows(ctx, kdr_mat_rows(x[p]), &rows, &count));
		KDRI_TRY(kdri_mat_take(ctx, x[p], rows, count, &own[p]));
		kdri_free(ctx, rows);
		rows = NULL;
	}
	KDRI_TRY(compare(ctx, &own[0].view, &own[1].view, out));
done:
	kdri_free(ctx, rows);
	kdri_own_free(ctx, &own[0]);
	kdri_own_free(ctx, &own[1]);
	return st;
}
