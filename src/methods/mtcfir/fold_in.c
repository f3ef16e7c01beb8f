/* New samples in a factorisation of similarities. SPDX-License-Identifier: BSD-3-Clause
 *
 * Memberships Y (n x k) were computed so that M = Y Y' [snmf_steps.c]. A new sample with similarities s (n) to the
 * training samples adds a row s' to M, and gets the memberships that explain that row,
 *
 *   (E1)  y = argmin |s - Y y|^2 over y >= 0,   label = argmax_c y_c
 *
 * a convex problem of k numbers that only needs A = Y'Y and b = Y's. It is solved one coordinate at a time, in turn:
 *
 *   (E2)  y_c <- max(0, y_c + (b_c - A_c. y) / A_cc)
 *
 * Plain votes, argmax of Y's, would be biased: if all samples are somewhat similar, a large cluster outvotes the
 * right one. With hard memberships (E1) is the mean similarity to each cluster. */
#include "methods/mtcfir/fold_in.h"

/* Of (E2). It converges fast unless two clusters are nearly the same, and then either is right. */
enum { SWEEPS = 1000 };
static const double enough = 1e-12;

/* (E2); `y` is scratch. Equal memberships: the first cluster. */
static int64_t fold_in_explain(const double *a, const double *b, int64_t k, double *y)
{
	int64_t best = 0;
	memset(y, 0, (size_t)k * sizeof *y);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		double change = 0, size = 0;
		for (int64_t c = 0; c < k; c++) {
			double old = y[c], own = a[c * k + c];
			if (own <= 0) /* an empty cluster */
				continue;
			y[c] = KDRI_MAX(0.0, old + (b[c] - kdri_dot(a + c * k, y, k)) / own);
			change = KDRI_MAX(change, fabs(y[c] - old));
			size = KDRI_MAX(size, y[c]);
		}
		if (change <= enough * size)
			break;
	}
	for (int64_t c = 1; c < k; c++)
		if (y[c] > y[best])
			best = c;
	return best;
}

kdr_status kdri_fold_in(kdr_context *ctx, kdri_block s, const double *y, int64_t k, int64_t *labels)
{
	kdr_status st;
	double *a = NULL, *b = NULL, *scratch = NULL;
	int64_t n = s.cols, size;
	KDRI_TRY(kdri_mul(ctx, s.rows, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &a, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &b, size));
	KDRI_TRY(KDRI_NEW(ctx, &scratch, size));
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < k; c++)
			kdri_axpy(y[i * k + c], y + i * k, a + c * k, k);
	KDRI_TRY(kdri_block_mul(ctx, s, y, k, k, b, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < s.rows; i++)
		labels[i] = fold_in_explain(a, b + i * k, k, scratch + i * k); /* (E1) */
done:
	kdri_free(ctx, a);
	kdri_free(ctx, b);
	kdri_free(ctx, scratch);
	return st;
}
