/* How far apart the samples of two data sets are. SPDX-License-Identifier: BSD-3-Clause
 *
 * For data sets t and j in the same features, preprocessed together:
 *
 *     (E1)  [X_t; X_j] = U S V', Y = U S with the 60 leading directions, without centring
 *     (E2)  y_i <- y_i - the mean of its data set
 *     (E3)  u = mean over i in t of the share of samples a of j with e_a < d_i
 *
 * d_i is the distance of sample i to its third nearest sample in j, e_a that of sample a to its third nearest other sample in j. Distances are
 * 1 - cosine if all rows of X have unit length, otherwise Euclidean. If t is a random part of the same data, u is near 0.5; it is 1 if every
 * sample of t is farther from j than samples of j from each other. Subtracting the means lets a constant difference, such as that of two
 * laboratories, have no effect. */
#include "engine/graph/apart.h"

#include "matrix/range.h"

#include <stdlib.h>

enum { DIRECTIONS = 60, ROUNDS = 5, NEIGHBOUR = 3 };

const char *kdri_apart_word(double apart)
{
	return isnan(apart)                 ? ""
	       : apart < KDRI_APART_ALIKE   ? "alike"
	       : apart < KDRI_APART_RELATED ? "related"
	                                    : "apart";
}

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

/* (E2), and rows of unit length for cosines. */
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

/* (E1) and (E2): the rows of t, then those of j. */
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

/* (E3) */
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
