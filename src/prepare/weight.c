/* Fitting of weights: checks, document frequencies, median row totals. SPDX-License-Identifier: BSD-3-Clause
 *
 * tfidf: idf = ln((1 + n) / (1 + df)) + 1, as scikit-learn's TfidfTransformer with smooth_idf. A
 * document has a word where its entry is not zero, stored or not, so dense and sparse data agree.
 * cpm: the median is taken over the rows whose total is positive; of an even number, the mean of the
 * two in the middle. */
/* The choice of features.
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
#include <float.h>
#include <stdlib.h>

#include "comm/comm.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

/* --- what the steps are defined for ------------------------------------------------------------ */

typedef struct bad_entry {
	int64_t row, column; /* column of the data set; row -1: none */
	double value;
} bad_entry;

static double least_value(const kdr_prep *prep)
{
	switch (prep->options.weight) {
	case KDR_WEIGHT_NONE: return -DBL_MAX;
	case KDR_WEIGHT_LOG1P: return nextafter(-1, 0);
	default: return 0;
	}
}

/* Totals of counts, and their products with idf, must be numbers. */
static double most_value(const kdr_prep *prep)
{
	kdr_weight w = prep->options.weight;
	return w == KDR_WEIGHT_CPM || w == KDR_WEIGHT_TFIDF ? 1e290 : DBL_MAX;
}

/* The first entry in rows begin..end-1 that is below `least`, above `most` or not finite; `missing`: NaN is allowed. */
static bad_entry find_bad(const kdr_data *d, const kdri_columns *columns, double least, double most,
                          bool missing, int64_t begin, int64_t end)
{
	bool sparse = d->kind == KDR_MAT_CSR;
	for (int64_t i = begin; i < end; i++) {
		int64_t first = sparse ? d->rowptr[i] : i * d->cols;
		int64_t last = sparse ? d->rowptr[i + 1] : first + d->cols;
		const double *x = sparse ? d->val : d->dense;
		for (int64_t p = first; p < last; p++)
			if (!(x[p] >= least && x[p] <= most) && !(missing && isnan(x[p]))) {
				int64_t j = sparse ? d->col[p] : p - first;
				if (columns->to[j] >= 0)
					return (bad_entry){ i, j, x[p] };
			}
	}
	return (bad_entry){ .row = -1 };
}

kdr_status kdri_check_values(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d,
                             const kdri_columns *columns)
{
	enum { CHUNKS = 64 };
	bad_entry found[CHUNKS];
	kdri_row_chunks chunks = { .count = CHUNKS, .rows = d->rows };
	double least = least_value(prep), most = most_value(prep);
	kdr_mat x = kdr_data_mat(d);
	bool large = kdr_mat_nnz(&x) > 1 << 15; /* else threads cost more than they save */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (large)
	for (int64_t c = 0; c < CHUNKS; c++)
		found[c] = find_bad(d, columns, least, most, prep->options.scale == KDR_SCALE_TABLE,
		                    kdri_row_chunk_begin(&chunks, c), kdri_row_chunk_begin(&chunks, c + 1));
	for (int64_t c = 0; c < CHUNKS; c++) {
		const bad_entry *b = &found[c];
		if (b->row < 0)
			continue;
		const char *name = d->features ? d->features[b->column] : "";
		const char *weight = kdri_weight_names[prep->options.weight];
		const char *least_text = b->value > 0                               ? "up to 1e290"
		                         : prep->options.weight == KDR_WEIGHT_LOG1P ? "above -1"
		                                                                    : ">= 0";
		char called[KDRI_ROW_NAME];
		bool finite = isfinite(b->value);
		return kdri_fail(ctx, KDR_ERR_DATA, "data set %s: %s, column %lld%s%.60s%s is %g: %s%s%s%s",
		                 d->name, kdri_row_name(d, b->row, called), (long long)b->column + 1,
		                 *name ? " ('" : "", name, *name ? "')" : "", b->value,
		                 finite ? "weight " : "values must be finite", finite ? weight : "",
		                 finite ? " needs values " : "", finite ? least_text : "");
	}
	return KDR_OK;
}

/* --- document frequencies ---------------------------------------------------------------------- */

/* Adds the number of rows with a non-zero entry in each aligned column. */
static void count_documents(const kdr_data *d, const kdri_columns *columns, int64_t *df)
{
	if (d->kind == KDR_MAT_CSR) {
		for (int64_t p = 0; p < d->rowptr[d->rows]; p++)
			if (d->val[p] != 0 && columns->to[d->col[p]] >= 0)
				df[columns->to[d->col[p]]]++;
		return;
	}
	for (int64_t i = 0; i < d->rows; i++)
		for (int64_t j = 0; j < d->cols; j++)
			if (d->dense[i * d->cols + j] != 0 && columns->to[j] >= 0)
				df[columns->to[j]]++;
}

static kdr_status fit_idf(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns)
{
	kdr_status st;
	int64_t *df = NULL, size, n = 0;
	KDRI_TRY(kdri_mul(ctx, prep->sets, prep->cols, &size));
	KDRI_TRY(KDRI_NEW(ctx, &prep->idf, size));
	KDRI_TRY(KDRI_NEW0(ctx, &df, prep->cols));
	for (int64_t t = 0; t < count; t++) {
		count_documents(tasks[t], &columns[t], df);
		n += tasks[t]->rows;
		if (!prep->fit_each && t + 1 < count)
			continue;
		KDRI_TRY(kdri_sum_int(ctx, df, prep->cols));
		KDRI_TRY(kdri_sum_int(ctx, &n, 1));
		double *idf = prep->idf + (prep->fit_each ? t : 0) * prep->cols;
		for (int64_t j = 0; j < prep->cols; j++) {
			idf[j] = log((1.0 + (double)n) / (1.0 + (double)df[j])) + 1;
			df[j] = 0;
		}
		prep->rows = prep->fit_each ? 0 : n;
		n = 0;
	}
done:
	kdri_free(ctx, df);
	return st;
}

/* --- median row totals ------------------------------------------------------------------------- */

/* Appends the positive row totals over the aligned columns. */
static int64_t append_totals(const kdr_data *d, const kdri_columns *columns, double *totals, int64_t n)
{
	bool sparse = d->kind == KDR_MAT_CSR;
	for (int64_t i = 0; i < d->rows; i++) {
		int64_t first = sparse ? d->rowptr[i] : i * d->cols;
		int64_t last = sparse ? d->rowptr[i + 1] : first + d->cols;
		const double *x = sparse ? d->val : d->dense;
		double total = 0;
		for (int64_t p = first; p < last; p++)
			if (columns->to[sparse ? d->col[p] : p - first] >= 0)
				total += x[p];
		if (total > 0)
			totals[n++] = total;
	}
	return n;
}

/* The `rank`-th smallest, from 0, of the positive numbers of all ranks: bit by bit, since positive numbers are ordered as the
 * integers of their bits are. */
static kdr_status select_of_all(kdr_context *ctx, const double *v, int64_t n, int64_t rank, double *out)
{
	uint64_t found = 0;
	for (int bit = 62; bit >= 0; bit--) {
		uint64_t least = found | (uint64_t)1 << bit, own;
		int64_t below = 0;
		for (int64_t i = 0; i < n; i++) {
			memcpy(&own, &v[i], sizeof own);
			below += own < least;
		}
		KDRI_DO(kdri_sum_int(ctx, &below, 1));
		if (below <= rank)
			found = least;
	}
	memcpy(out, &found, sizeof *out);
	return KDR_OK;
}

/* kdri_median of the positive numbers of all ranks; 1 if there are none. */
static kdr_status median_of_all(kdr_context *ctx, double *totals, int64_t n, double *out)
{
	int64_t all = n;
	double below, above;
	*out = 1; /* no row is scaled */
	if (!kdri_together(ctx)) {
		if (n > 0)
			*out = kdri_median(totals, n);
		return KDR_OK;
	}
	KDRI_DO(kdri_sum_int(ctx, &all, 1));
	if (all == 0)
		return KDR_OK;
	KDRI_DO(select_of_all(ctx, totals, n, (all - 1) / 2, &below));
	KDRI_DO(select_of_all(ctx, totals, n, all / 2, &above));
	*out = (below + above) / 2;
	return KDR_OK;
}

static kdr_status fit_median(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                             const kdri_columns *columns)
{
	kdr_status st;
	double *totals = NULL;
	int64_t rows = 0, n = 0;
	for (int64_t t = 0; t < count; t++)
		rows += tasks[t]->rows;
	KDRI_TRY(KDRI_NEW(ctx, &prep->median, prep->sets));
	KDRI_TRY(KDRI_NEW(ctx, &totals, rows));
	for (int64_t t = 0; t < count; t++) {
		n = append_totals(tasks[t], &columns[t], totals, n);
		if (!prep->fit_each && t + 1 < count)
			continue;
		KDRI_TRY(median_of_all(ctx, totals, n, &prep->median[prep->fit_each ? t : 0]));
		n = 0;
	}
done:
	kdri_free(ctx, totals);
	return st;
}

kdr_status kdri_fit_weight(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           const kdri_columns *columns)
{
	switch (prep->options.weight) {
	case KDR_WEIGHT_TFIDF: return fit_idf(ctx, prep, tasks, count, columns);
	case KDR_WEIGHT_CPM: return fit_median(ctx, prep, tasks, count, columns);
	default: return KDR_OK;
	}
}

uint64_t kdri_prep_totals(const kdr_prep *p)
{
	const bool more = p->offset || p->kept || p->column_kind || p->fill;
	return p->median && !more ? kdri_hash_number((uint64_t)p->options.norm, (uint64_t)p->cols) : 0;
}

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
		count_documents(tasks[t], &columns[t], df);
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
