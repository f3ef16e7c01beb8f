/* Whitening for the Mahalanobis distance. SPDX-License-Identifier: BSD-3-Clause
 *
 *     (E1)  S = 1/n sum over all samples of all tasks of (x - m)(x - m)'
 *     (E2)  L L' = S + ridge tr(S)/d I,   R = L^-1,   |R (x - y)|^2 = (x - y)' (L L')^-1 (x - y)
 * The ridge keeps (E2) regular if there are fewer samples than features. Dense rows are centred before
 * they are multiplied; sparse ones are not, and m m' is subtracted, so that they stay sparse. The sums of several
 * ranks are added in floating point: the last bits of S then depend on the distribution of the rows. */
#include "methods/mbc/bregman_task.h"

/* R is d x d: beyond this it is no longer a reasonable thing to hold. */
enum { MOST_FEATURES = 10000, BLOCK_ROWS = 4096 };

/* S += X' X, sparse: row f of it is the sum of x_f x over the samples that have x_f. */
static kdr_status bregman_whiten_add_sparse(kdr_context *ctx, const kdr_mat *x, double *s)
{
	kdr_status st;
	kdri_own turned = { 0 };
	int64_t d = kdr_mat_cols(x);
	KDRI_TRY(kdri_mat_transpose(ctx, x, &turned));
	const kdr_csr *a = &x->as.csr, *t = &turned.view.as.csr;
#pragma omp parallel for schedule(dynamic, 16) num_threads(kdri_team(ctx))
	for (int64_t f = 0; f < d; f++)
		for (int64_t p = t->rowptr[f]; p < t->rowptr[f + 1]; p++)
			for (int64_t q = a->rowptr[t->col[p]]; q < a->rowptr[t->col[p] + 1]; q++)
				s[f * d + a->col[q]] += t->val[p] * a->val[q];
done:
	kdri_own_free(ctx, &turned);
	return st;
}

/* S += (X - 1 m')' (X - 1 m'), dense. */
static kdr_status add_dense(kdr_context *ctx, const kdr_dense *x, const double *mean, double *s)
{
	kdr_status st;
	double *rows = NULL, *part = NULL;
	int64_t d = x->cols, size;
	KDRI_TRY(kdri_mul(ctx, KDRI_MIN(BLOCK_ROWS, x->rows), d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &rows, size));
	KDRI_TRY(KDRI_NEW(ctx, &part, d * d));
	for (int64_t begin = 0; begin < x->rows; begin += BLOCK_ROWS) {
		int64_t count = KDRI_MIN(BLOCK_ROWS, x->rows - begin);
		for (int64_t i = 0; i < count; i++)
			for (int64_t f = 0; f < d; f++)
				rows[i * d + f] = x->data[(begin + i) * x->stride + f] - mean[f];
		KDRI_TRY(kdri_syrk(ctx, true, d, count, rows, d, part, d));
		for (int64_t i = 0; i < d * d; i++)
			s[i] += part[i];
	}
done:
	KDRI_FREE(ctx, rows, part);
	return st;
}

/* (E1) */
static kdr_status covariance(kdr_context *ctx, const kdr_task *tasks, int64_t count, double *s)
{
	kdr_status st;
	double *mean = NULL, *sum = NULL, n = 0, sparse = 0;
	int64_t d = kdr_mat_cols(&tasks[0].x);
	KDRI_TRY(KDRI_NEW0(ctx, &mean, d));
	KDRI_TRY(KDRI_NEW(ctx, &sum, d));
	for (int64_t t = 0; t < count; t++) {
		KDRI_TRY(kdri_mat_col_sums(ctx, &tasks[t].x, sum));
		for (int64_t f = 0; f < d; f++)
			mean[f] += sum[f];
		n += (double)kdr_mat_rows(&tasks[t].x);
	}
	KDRI_TRY(kdri_sum(ctx, mean, d));
	KDRI_TRY(kdri_sum(ctx, &n, 1));
	for (int64_t f = 0; f < d; f++)
		mean[f] /= n;
	for (int64_t t = 0; t < count; t++) {
		const kdr_mat *x = &tasks[t].x;
		if (x->kind == KDR_MAT_DENSE) {
			KDRI_TRY(add_dense(ctx, &x->as.dense, mean, s));
			continue;
		}
		KDRI_TRY(bregman_whiten_add_sparse(ctx, x, s));
		/* sum of (x - m)(x - m)' = X' X - m sum' - sum m' + rows m m' */
		KDRI_TRY(kdri_mat_col_sums(ctx, x, sum));
		sparse = (double)kdr_mat_rows(x);
		for (int64_t f = 0; f < d; f++)
			for (int64_t g = 0; g < d; g++)
				s[f * d + g] +=
				        sparse * mean[f] * mean[g] - mean[f] * sum[g] - sum[f] * mean[g];
	}
	KDRI_TRY(kdri_sum(ctx, s, d * d));
	for (int64_t i = 0; i < d * d; i++)
		s[i] /= n;
done:
	KDRI_FREE(ctx, mean, sum);
	return st;
}

/* R = L^-1, column by column of the identity; L lower, row-major. */
static void invert_lower(const double *l, int64_t d, double *r)
{
	for (int64_t f = 0; f < d; f++) {
		for (int64_t g = 0; g < f; g++) {
			double by = l[f * d + g];
			for (int64_t h = 0; h <= g; h++)
				r[f * d + h] -= by * r[g * d + h];
		}
		r[f * d + f] = 1;
		for (int64_t h = 0; h <= f; h++)
			r[f * d + h] /= l[f * d + f];
	}
}

kdr_status kdri_whitening(kdr_context *ctx, const kdr_task *tasks, int64_t count, double ridge,
                          double **whitening, double **inverse)
{
	kdr_status st;
	double *l = NULL, *r = NULL, trace = 0;
	int64_t d = kdr_mat_cols(&tasks[0].x);
	if (d > MOST_FEATURES)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "divergence mahalanobis needs a matrix of features x features, but there are %lld features; at most %d are allowed (use --top-features)",
		        (long long)d, MOST_FEATURES);
	KDRI_TRY(KDRI_NEW0(ctx, &l, d * d));
	KDRI_TRY(KDRI_NEW0(ctx, &r, d * d));
	KDRI_TRY(covariance(ctx, tasks, count, l));
	for (int64_t f = 0; f < d; f++)
		trace += l[f * d + f];
	if (!(trace > 0) || !isfinite(trace))
		KDRI_TRY(kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "divergence mahalanobis: the variance of the samples is %g, but must be positive",
		        trace));
	for (int64_t f = 0; f < d; f++)
		l[f * d + f] += ridge * trace / (double)d;
	KDRI_TRY(kdri_cholesky(ctx, d, l, d)); /* (E2) */
	for (int64_t f = 0; f < d; f++)
		for (int64_t g = f + 1; g < d; g++)
			l[f * d + g] = 0;
	invert_lower(l, d, r);
	*whitening = r;
	*inverse = l;
	l = r = NULL;
done:
	KDRI_FREE(ctx, l, r);
	return st;
}
