/* Fitting of weights: checks, document frequencies, median row totals. SPDX-License-Identifier: BSD-3-Clause
 *
 * tfidf: idf = ln((1 + n) / (1 + df)) + 1, as scikit-learn's TfidfTransformer with smooth_idf. A
 * document has a word where its entry is not zero, stored or not, so dense and sparse data agree.
 * cpm: the median is taken over the rows whose total is positive; of an even number, the mean of the
 * two in the middle. */
#include "comm/comm.h"
#include "matrix/linalg.h"
#include "prepare/prep.h"

#include <float.h>

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
		bool finite = isfinite(b->value);
		return kdri_fail(
		        ctx, KDR_ERR_DATA, "data set %s: row %lld, column %lld%s%.60s%s is %g: %s%s%s%s",
		        d->name, (long long)b->row + 1, (long long)b->column + 1, *name ? " ('" : "", name,
		        *name ? "')" : "", b->value, finite ? "weight " : "values must be finite",
		        finite ? weight : "", finite ? " needs values " : "", finite ? least_text : "");
	}
	return KDR_OK;
}

/* --- document frequencies ---------------------------------------------------------------------- */

void kdri_count_documents(const kdr_data *d, const kdri_columns *columns, int64_t *df)
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
		kdri_count_documents(tasks[t], &columns[t], df);
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
