/* Several sets of samples in the directions they share. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  y_i = (x_i - m_t) / |x_i - m_t|,  m_t the mean of the set that row i belongs to
 *   (E2)  Y = U S V', cut to `width` directions;  E = U S, rows to unit length
 *
 * Subtracting the means removes differences between entire sets, such as the words of one shop. Y is never formed:
 * products with it are products with X, minus those with the means, times the lengths.
 *
 * A hundred directions of a million rows are nearly the same as those of some ten thousand of them, and cost only one
 * product with all rows instead of two per round, and no memory except E. Of m rows, one of each of m runs of about
 * equal length, V_m being theirs,
 *
 *   (E3)  E = Y V_m, rows to unit length. */
#include "engine/linear/aligned.h"

#include "matrix/device_held.h"
#include "matrix/range.h"

enum { ROUNDS = 5, SCALED_ROWS = 32768 };

kdr_status kdri_sets_means(kdr_context *ctx, const kdri_sets *sets, double *means)
{
	int64_t d = kdr_mat_cols(sets->x);
	for (int64_t t = 0; t < sets->count; t++) {
		int64_t n = sets->begin[t + 1] - sets->begin[t];
		kdr_mat part = kdri_rows(sets->x, sets->begin[t], sets->begin[t + 1]);
		KDRI_DO(kdri_mat_col_sums(ctx, &part, means + t * d));
		for (int64_t j = 0; j < d; j++)
			means[t * d + j] /= (double)KDRI_MAX(n, 1);
	}
	return KDR_OK;
}

int64_t kdri_aligned_width(const kdri_sets *sets)
{
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x);
	return KDRI_MAX(1, KDRI_MIN(KDRI_ALIGNED_MOST, KDRI_MIN(d, n - 2)));
}

typedef struct rows {
	const kdri_sets *sets;
	const double *means;
	double *scale; /* n: 1 / |x_i - m_t| */
} rows;

/* Rows of set t from `begin` on are multiplied up to here at a time. */
static int64_t block_end(const kdri_sets *sets, int64_t t, int64_t begin)
{
	return KDRI_MIN(begin + SCALED_ROWS, sets->begin[t + 1]);
}

static kdr_status aligned_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	const rows *r = op->data;
	bool dense = r->sets->x->kind == KDR_MAT_DENSE;
	for (int64_t t = 0; t < r->sets->count; t++)
		for (int64_t begin = r->sets->begin[t], end; begin < r->sets->begin[t + 1]; begin = end) {
			end = dense ? r->sets->begin[t + 1] : block_end(r->sets, t, begin);
			kdr_mat part = kdri_rows(r->sets->x, begin, end);
			const kdri_centred centred = { &part, r->means + t * op->cols };
			const kdri_op own = kdri_op_centred(&centred);
			KDRI_DO(own.apply(ctx, &own, x, k, ldx, y + begin * ldy, ldy));
			for (int64_t i = begin; i < end; i++)
				for (int64_t j = 0; j < k; j++)
					y[i * ldy + j] *= r->scale[i]; /* (E1) */
		}
	return KDR_OK;
}

static kdr_status apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                          double *y, int64_t ldy)
{
	kdr_status st;
	const rows *r = op->data;
	double *scaled = NULL, *own_y = NULL;
	bool first = true;
	KDRI_TRY(KDRI_NEW(ctx, &scaled, KDRI_MIN(op->rows, SCALED_ROWS) * k));
	KDRI_TRY(KDRI_NEW(ctx, &own_y, op->cols * k));
	for (int64_t t = 0; t < r->sets->count; t++)
		for (int64_t begin = r->sets->begin[t], end; begin < r->sets->begin[t + 1]; begin = end) {
			end = block_end(r->sets, t, begin);
			kdr_mat part = kdri_rows(r->sets->x, begin, end);
			const kdri_centred centred = { &part, r->means + t * op->cols };
			const kdri_op own = kdri_op_centred(&centred);
			for (int64_t i = begin; i < end; i++)
				for (int64_t j = 0; j < k; j++)
					scaled[(i - begin) * k + j] = r->scale[i] * x[i * ldx + j];
			KDRI_TRY(own.apply_t(ctx, &own, scaled, k, k, own_y, k));
			for (int64_t i = 0; i < op->cols; i++)
				for (int64_t j = 0; j < k; j++)
					y[i * ldy + j] = (first ? 0 : y[i * ldy + j]) + own_y[i * k + j];
			first = false;
		}
done:
	kdri_free(ctx, scaled);
	kdri_free(ctx, own_y);
	return st;
}

/* 1 / |x_i - m_t|, from |x|^2 - 2 <x, m> + |m|^2; 0 where that is rounding. */
static kdr_status find_scales(kdr_context *ctx, const rows *r)
{
	kdr_status st = KDR_OK;
	int64_t d = kdr_mat_cols(r->sets->x), longest = 1;
	double *with_mean = NULL;
	for (int64_t t = 0; t < r->sets->count; t++)
		longest = KDRI_MAX(longest, r->sets->begin[t + 1] - r->sets->begin[t]);
	KDRI_TRY(KDRI_NEW(ctx, &with_mean, longest));
	KDRI_TRY(kdri_mat_row_norms(ctx, r->sets->x, r->scale));
	for (int64_t t = 0; t < r->sets->count; t++) {
		int64_t begin = r->sets->begin[t], end = r->sets->begin[t + 1];
		const double *mean = r->means + t * d;
		double square = kdri_nrm2sq(mean, d);
		kdr_mat part = kdri_rows(r->sets->x, begin, end);
		KDRI_TRY(kdri_mat_mul(ctx, &part, mean, 1, 1, with_mean, 1));
		for (int64_t i = begin; i < end; i++) {
			double own = r->scale[i], length = own - 2 * with_mean[i - begin] + square;
			r->scale[i] = length > 1e-12 * (own + square) ? 1 / sqrt(length) : 0;
		}
	}
done:
	kdri_free(ctx, with_mean);
	return st;
}

/* Uses a device if that is faster: for dense rows all at once, since the device can address parts of them; for sparse
 * rows block by block, as they are multiplied. *held: as many blocks as fit in memory; the caller releases them. */
static kdr_status hold_rows(kdr_context *ctx, const kdri_sets *sets, int64_t width, kdri_held **held)
{
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x), count = 0;
	int64_t k = KDRI_MIN(width + KDRI_LEADING_BESIDE, KDRI_MIN(n, d));
	double flops = (2 * ROUNDS + 1) * (double)k * kdri_held_flops(sets->x);
	if (sets->x->kind == KDR_MAT_DENSE)
		return kdri_hold(ctx, sets->x, true, k, flops, &held[0]);
	for (int64_t t = 0; t < sets->count; t++)
		for (int64_t begin = sets->begin[t], end; begin < sets->begin[t + 1]; begin = end) {
			end = block_end(sets, t, begin);
			kdr_mat part = kdri_rows(sets->x, begin, end);
			KDRI_DO(kdri_hold(ctx, &part, true, k, flops, &held[count++]));
		}
	return KDR_OK;
}

/* Rows of e (n x width) to unit length. */
static void to_unit(double *e, int64_t n, int64_t width)
{
	for (int64_t i = 0; i < n; i++) {
		double *row = e + i * width, length = sqrt(kdri_nrm2sq(row, width));
		for (int64_t j = 0; j < width; j++)
			row[j] = length > 1e-10 ? row[j] / length : 0;
	}
}

/* The leading directions of all rows of r: *u (rows x width), v (columns x width), either may be NULL. */
static kdr_status leading(kdr_context *ctx, rows *r, int64_t width, double **u, double *s, double *v)
{
	kdr_status st;
	int64_t n = r->sets->begin[r->sets->count], blocks = n / SCALED_ROWS + r->sets->count + 1;
	const kdri_op op = { n, kdr_mat_cols(r->sets->x), aligned_apply, apply_t, r };
	kdri_held **held = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &r->scale, n));
	KDRI_TRY(find_scales(ctx, r));
	KDRI_TRY(KDRI_NEW0(ctx, &held, blocks));
	KDRI_TRY(hold_rows(ctx, r->sets, width, held));
	KDRI_TRY(kdri_leading(ctx, &op, width, ROUNDS, u, s, v));
done:
	for (int64_t b = 0; held && b < blocks; b++)
		kdri_unhold(ctx, held[b]);
	kdri_free(ctx, held);
	return st;
}

/* V of (E3): v (columns x width). */
static kdr_status some_directions(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                                  int64_t m, double *v)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count], *chosen = NULL, *begin = NULL;
	double *s = NULL;
	kdri_own taken = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_rng rng = kdri_rng_stream(ctx->seed, "aligned", 0);
	rows r = { .means = means };
	KDRI_TRY(KDRI_NEW(ctx, &chosen, m));
	KDRI_TRY(KDRI_NEW0(ctx, &begin, sets->count + 1));
	KDRI_TRY(KDRI_NEW(ctx, &s, width));
	for (int64_t j = 0; j < m; j++) {
		chosen[j] = kdri_chunk_draw(&rng, n, m, j);
		for (int64_t t = 0; t < sets->count; t++)
			begin[t + 1] += chosen[j] < sets->begin[t + 1];
	}
	KDRI_TRY(kdri_mat_take(ctx, sets->x, chosen, m, &taken));
	const kdri_sets some = { &taken.view, sets->count, begin };
	r.sets = &some;
	KDRI_TRY(leading(ctx, &r, width, NULL, s, v));
done:
	kdri_free(ctx, chosen);
	kdri_free(ctx, begin);
	kdri_free(ctx, s);
	kdri_free(ctx, r.scale);
	kdri_own_free(ctx, &taken);
	return st;
}

/* (E3) */
static kdr_status by_some(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                          int64_t m, double **out)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count], d = kdr_mat_cols(sets->x), size;
	double *v = NULL, *e = NULL;
	rows r = { .sets = sets, .means = means };
	const kdri_op op = { n, d, aligned_apply, apply_t, &r };
	KDRI_TRY(KDRI_NEW(ctx, &v, d * width));
	KDRI_TRY(some_directions(ctx, sets, means, width, m, v));
	KDRI_TRY(KDRI_NEW(ctx, &r.scale, n));
	KDRI_TRY(find_scales(ctx, &r));
	KDRI_TRY(kdri_mul(ctx, n, width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &e, size));
	KDRI_TRY(aligned_apply(ctx, &op, v, width, width, e, width));
	to_unit(e, n, width);
	*out = e;
	e = NULL;
done:
	kdri_free(ctx, v);
	kdri_free(ctx, e);
	kdri_free(ctx, r.scale);
	return st;
}

kdr_status kdri_aligned_new(kdr_context *ctx, const kdri_sets *sets, const double *means, int64_t width,
                            int64_t most, double **out)
{
	kdr_status st;
	int64_t n = sets->begin[sets->count];
	double *u = NULL, *s = NULL;
	rows r = { .sets = sets, .means = means };
	if (most > 0 && n > most)
		return by_some(ctx, sets, means, width, most, out);
	KDRI_TRY(KDRI_NEW(ctx, &s, width));
	KDRI_TRY(leading(ctx, &r, width, &u, s, NULL));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < width; j++)
			u[i * width + j] *= s[j]; /* (E2) */
	to_unit(u, n, width);
	*out = u;
	u = NULL;
done:
	kdri_free(ctx, u);
	kdri_free(ctx, s);
	kdri_free(ctx, r.scale);
	return st;
}
