/* The features that make two data sets differ most. SPDX-License-Identifier: BSD-3-Clause
 *
 * With means a and b and variances v and w of a feature in two data sets,
 *   difference = (b - a) / sqrt((v + w) / 2 + ((b - a) / 2)^2)
 * is the standardised mean difference, whose standard deviation is that of both data sets together, each with the same weight. It
 * orders features as Cohen's d = (b - a) / sqrt((v + w) / 2) does, but stays finite if a feature is constant in both: 0 if the means
 * are equal, 2 or -2 if the data sets do not overlap at all. Column-wise scaling does not change it. */
#include "jobs/relate/relate.h"

/* Smaller differences are rounding errors. */
static const double LEAST = 1e-9;

/* Mean and variance of each column; an entry that is not stored is a zero, NaN does not count. */
static kdr_status find_moments(kdr_context *ctx, const kdr_mat *x, double *mean, double *variance)
{
	kdr_status st;
	const int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	const bool sparse = x->kind == KDR_MAT_CSR;
	int64_t *known = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &known, cols));
	for (int64_t j = 0; j < cols; j++) {
		known[j] = rows;
		mean[j] = variance[j] = 0;
	}
	/* Sums first, then squares of deviations: no cancellation. */
	for (int pass = 0; pass < 2; pass++) {
		for (int64_t i = 0; i < rows; i++) {
			const int64_t begin = sparse ? x->as.csr.rowptr[i] : 0,
			              end = sparse ? x->as.csr.rowptr[i + 1] : cols;
			for (int64_t p = begin; p < end; p++) {
				const int64_t j = sparse ? x->as.csr.col[p] : p;
				const double v = sparse ? x->as.csr.val[p]
				                        : x->as.dense.data[i * x->as.dense.stride + p];
				if (pass == 0) {
					known[j] -= isnan(v);
					mean[j] += isnan(v) ? 0 : v;
				} else if (!isnan(v)) {
					/* Entries that are not stored deviate by the mean: added below for all, and taken back here. */
					variance[j] += (v - mean[j]) * (v - mean[j]) -
					               (sparse ? mean[j] * mean[j] : 0);
				} else if (sparse) {
					variance[j] -= mean[j] * mean[j];
				}
			}
		}
		for (int64_t j = 0; j < cols; j++)
			if (pass == 0)
				mean[j] /= (double)KDRI_MAX(known[j], 1);
			else
				variance[j] = KDRI_MAX(
				        0, (variance[j] + (sparse ? (double)rows * mean[j] * mean[j] : 0)) /
				                   (double)KDRI_MAX(known[j], 1));
	}
done:
	kdri_free(ctx, known);
	return st;
}

/* Keeps the largest, in decreasing order; of equals the first. */
static void keep_largest(kdri_relate_pair *pair, int64_t feature, double difference)
{
	int at = pair->ndifferences;
	while (at > 0 && fabs(pair->differences[at - 1].value) < fabs(difference))
		at--;
	if (at == KDRI_DIFFERENCES)
		return;
	pair->ndifferences = KDRI_MIN(pair->ndifferences + 1, KDRI_DIFFERENCES);
	for (int i = pair->ndifferences - 1; i > at; i--)
		pair->differences[i] = pair->differences[i - 1];
	pair->differences[at] = (kdri_difference){ feature, difference };
}

kdr_status kdri_relate_differences(kdr_context *ctx, const kdr_mat *x, int64_t count, kdri_relate_pair *pairs)
{
	kdr_status st;
	const int64_t cols = count > 0 ? kdr_mat_cols(&x[0]) : 0;
	double *mean = NULL, *variance = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &mean, count * cols));
	KDRI_TRY(KDRI_NEW(ctx, &variance, count * cols));
	for (int64_t t = 0; t < count; t++)
		KDRI_TRY(find_moments(ctx, &x[t], mean + t * cols, variance + t * cols));
	for (int64_t k = 0; k < count * (count - 1) / 2; k++) {
		const int64_t a = pairs[k].a * cols, b = pairs[k].b * cols;
		for (int64_t j = 0; j < cols; j++) {
			const double by = mean[b + j] - mean[a + j];
			const double deviation = sqrt((variance[a + j] + variance[b + j]) / 2 + by * by / 4);
			if (deviation > 0 && fabs(by / deviation) > LEAST)
				keep_largest(&pairs[k], j, by / deviation);
		}
	}
done:
	KDRI_FREE(ctx, mean, variance);
	return st;
}
