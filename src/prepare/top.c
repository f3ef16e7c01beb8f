/* The choice of features. SPDX-License-Identifier: BSD-3-Clause
 *
 * All tasks are ranked together. Features are ranked by:
 *
 *   df           the number of samples it is not zero in; among equals by its variance in the original data
 *   variance     sum_i (x_ij - mean_j)^2 / n, of values after weight and norm                         (E1)
 *   dispersion   the variation of a gene beyond that expected from its mean, as usual for molecule counts
 *                [Satija, Farrell, Gennert, Schier & Regev, Nature Biotechnology 33, 2015: "seurat" in scanpy]
 *
 * Dispersion uses the original counts, with each sample scaled to the median total as by the weight cpm, but without
 * the logarithm. With mean_j and variance v_j (by n - 1) of a gene:
 *
 *   d_j = ln(v_j / mean_j),   m_j = ln(1 + mean_j)                                                            (E2)
 *   bins of equal width from the smallest m to the largest, 20 of them, their upper ends included             (E3)
 *   score_j = (d_j - mean of d in the bin of j) / standard deviation of d in it (by n - 1)                    (E4)
 *
 * A gene that is alone in its bin has score 1; one that does not vary has no score and is ranked last.
 *
 * Scores are compared in single precision: rounding in the sums must not decide between equals. */
#include "comm/comm.h"
#include "prepare/prep.h"

#include <stdlib.h>

enum { BINS = 20 };

typedef struct candidate {
	double first; /* larger is better */
	float second; /* decides among equals */
	int64_t column;
} candidate;

static int top_better(const void *pa, const void *pb)
{
	const candidate *a = pa, *b = pb;
	if (a->first != b->first)
		return a->first > b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second > b->second ? -1 : 1;
	return a->column < b->column ? -1 : 1;
}

static int by_column(const void *pa, const void *pb)
{
	const candidate *a = pa, *b = pb;
	return (a->column > b->column) - (a->column < b->column);
}

/* The documents of each column: integers, which need no rounding. */
static kdr_status rank_df(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns, const double *m2, double rows, candidate *list)
{
	kdr_status st;
	int64_t *df = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &df, prep->cols));
	for (int64_t t = 0; t < count; t++)
		kdri_count_documents(tasks[t], &columns[t], df);
	KDRI_TRY(kdri_sum_int(ctx, df, prep->cols));
	for (int64_t j = 0; j < prep->cols; j++)
		list[j] = (candidate){ (double)df[j], (float)(m2[j] / KDRI_MAX(rows, 1)), j };
done:
	kdri_free(ctx, df);
	return st;
}

/* (E3): the bin of m, whose range is low .. low + width * BINS. */
static int bin_of(double m, double low, double width)
{
	if (!(width > 0))
		return 0;
	int bin = (int)ceil((m - low) / width) - 1;
	bin = KDRI_MIN(KDRI_MAX(bin, 0), BINS - 1);
	/* Division may have rounded across an end. */
	while (bin > 0 && m <= low + bin * width)
		bin--;
	while (bin < BINS - 1 && m > low + (bin + 1) * width)
		bin++;
	return bin;
}

/* mean and m2 become m and d of (E2); d is NaN if it is undefined. Then (E3) and (E4). */
static void rank_dispersion(int64_t cols, double rows, double *mean, double *m2, candidate *list)
{
	double low = INFINITY, high = -INFINITY, sum[BINS] = { 0 }, squares[BINS] = { 0 }, n[BINS] = { 0 };
	for (int64_t j = 0; j < cols; j++) {
		double v = rows > 1 ? m2[j] / (rows - 1) : 0, ratio = mean[j] > 0 ? v / mean[j] : 0;
		m2[j] = ratio > 0 ? log(ratio) : NAN; /* (E2) */
		mean[j] = log1p(KDRI_MAX(mean[j], 0));
		low = KDRI_MIN(low, mean[j]);
		high = KDRI_MAX(high, mean[j]);
	}
	double width = (high - low) / BINS;
	for (int64_t j = 0; j < cols; j++)
		if (!isnan(m2[j])) {
			int b = bin_of(mean[j], low, width); /* (E3) */
			sum[b] += m2[j];
			n[b]++;
		}
	for (int64_t j = 0; j < cols; j++)
		if (!isnan(m2[j])) {
			int b = bin_of(mean[j], low, width);
			squares[b] += pow(m2[j] - sum[b] / n[b], 2);
		}
	for (int64_t j = 0; j < cols; j++) {
		int b = bin_of(mean[j], low, width);
		double sd = n[b] > 1 ? sqrt(squares[b] / (n[b] - 1)) : 0;
		double score = isnan(m2[j]) ? -INFINITY
		               : n[b] == 1  ? 1
		               : sd > 0     ? (m2[j] - sum[b] / n[b]) / sd
		                            : 0;
		list[j] = (candidate){ (float)score, isnan(m2[j]) ? 0 : (float)m2[j], j }; /* (E4) */
	}
}

/* Counts brought to the median total, whatever the weight of the preprocessing is. */
static kdr_status dispersion(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                             const kdri_columns *columns, double *rows, double *mean, double *m2)
{
	kdr_status st = KDR_OK;
	kdr_prep own = {
		.cols = prep->cols, .sets = 1, .tasks = prep->tasks, .options = { .weight = KDR_WEIGHT_CPM }
	};
	char why[sizeof ctx->error];
	for (int64_t t = 0; t < count; t++) {
		st = kdri_check_values(ctx, &own, tasks[t], &columns[t]);
		if (st == KDR_ERR_DATA) {
			memcpy(why, ctx->error, sizeof why);
			st = kdri_fail(ctx, st, "ranking features by dispersion needs counts: %.400s", why);
		}
		if (st != KDR_OK)
			goto done;
	}
	KDRI_TRY(kdri_fit_weight(ctx, &own, tasks, count, columns));
	KDRI_TRY(kdri_column_moments(ctx, &own, tasks, count, columns, KDRI_MOMENTS_COUNTS, rows, mean, m2));
done:
	kdri_free(ctx, own.median);
	return st;
}

kdr_status kdri_fit_top(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                        const kdri_columns *columns)
{
	kdr_status st = KDR_OK;
	int64_t top = prep->options.top_features, cols = prep->cols, *kept = NULL;
	double *mean = NULL, *m2 = NULL, rows = 0;
	candidate *list = NULL;
	if (top > cols)
		KDRI_TRY(kdri_prep_warn(
		        ctx, prep, "top features: %lld were requested, but there are only %lld; all are kept",
		        (long long)top, (long long)cols));
	if (top == 0 || top >= cols)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &mean, cols));
	KDRI_TRY(KDRI_NEW(ctx, &m2, cols));
	KDRI_TRY(KDRI_NEW(ctx, &list, cols));
	KDRI_TRY(KDRI_NEW(ctx, &kept, top));
	switch (prep->options.top_by) {
	case KDR_TOP_DF:
		KDRI_TRY(kdri_column_moments(ctx, prep, tasks, count, columns, KDRI_MOMENTS_RAW, &rows, mean,
		                             m2));
		KDRI_TRY(rank_df(ctx, prep, tasks, count, columns, m2, rows, list));
		break;
	case KDR_TOP_VARIANCE:
		KDRI_TRY(kdri_column_moments(ctx, prep, tasks, count, columns, KDRI_MOMENTS_WEIGHTED, &rows,
		                             mean, m2));
		for (int64_t j = 0; j < cols; j++)
			list[j] = (candidate){ (float)(m2[j] / KDRI_MAX(rows, 1)), 0, j }; /* (E1) */
		break;
	case KDR_TOP_DISPERSION:
		KDRI_TRY(dispersion(ctx, prep, tasks, count, columns, &rows, mean, m2));
		rank_dispersion(cols, rows, mean, m2, list);
		break;
	}
	qsort(list, (size_t)cols, sizeof *list, top_better);
	qsort(list, (size_t)top, sizeof *list, by_column);
	for (int64_t k = 0; k < top; k++)
		kept[k] = list[k].column;
	KDRI_TRY(kdri_prep_keep(ctx, prep, kept, top));
	kept = NULL;
done:
	KDRI_FREE(ctx, mean, m2, list, kept);
	return st;
}
