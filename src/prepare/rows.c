/* All preprocessing steps of one row. SPDX-License-Identifier: BSD-3-Clause
 *
 * A row is loaded into the storage of its chunk with its columns aligned, and changed there:
 *
 *   weight   binary  x <- 1 if x is not 0                                             (E1)
 *            log1p   x <- ln(1 + x)                                                      (E2)
 *            cpm     x <- ln(1 + x m / s)       s: the row's total, m: median total      (E3)
 *            tfidf   x <- x (ln((1 + n) / (1 + df)) + 1)    n rows, df of them non-zero  (E4)
 *            sqrt    x <- sqrt(x)                                                        (E7)
 *   norm     l1, l2  x <- x / |x|               a row of zeros is kept                     (E5)
 *   scale            x <- (x - offset) / divisor                                         (E6)
 *
 * All steps work on stored entries only. This is exact for sparse rows: (E1)-(E5) and (E7) keep zeros, and (E6) is only
 * used if offset is 0 or the row stores the entry (kdri_check_zeros). */
#include "prepare/prep.h"

#include <float.h>

/* --- chunks ------------------------------------------------------------------------------------ */

kdr_status kdri_row_chunks_new(kdr_context *ctx, const kdr_prep *prep, const kdr_data *d,
                               kdri_row_chunks *out)
{
	enum { MOST_CHUNKS = 64, LEAST_ROWS = 256, MOST_COLUMNS = 1 << 19 };
	kdr_status st;
	kdri_row_chunks c = { .rows = d->rows, .sparse = d->kind == KDR_MAT_CSR };
	/* Column statistics are kept for each chunk: wide data get fewer chunks, so that these stay small compared
	 * with the data. */
	c.count = KDRI_MIN(MOST_CHUNKS, MOST_COLUMNS / KDRI_MAX(prep->cols, 1));
	c.count = KDRI_MAX(1, KDRI_MIN(c.count, d->rows / LEAST_ROWS));
	c.length = prep->cols;
	if (c.sparse) {
		c.length = 0;
		for (int64_t i = 0; i < d->rows; i++)
			c.length = KDRI_MAX(c.length, d->rowptr[i + 1] - d->rowptr[i]);
	}
	int64_t total;
	KDRI_TRY(kdri_mul(ctx, c.count, c.length, &total));
	KDRI_TRY(KDRI_NEW(ctx, &c.val, total));
	if (c.sparse)
		KDRI_TRY(KDRI_NEW(ctx, &c.col, total));
	*out = c;
	c = (kdri_row_chunks){ 0 };
done:
	kdri_row_chunks_free(ctx, &c);
	return st;
}

void kdri_row_chunks_free(kdr_context *ctx, kdri_row_chunks *c)
{
	KDRI_FREE(ctx, c->col, c->val);
	*c = (kdri_row_chunks){ 0 };
}

kdri_row kdri_row_chunk_row(const kdri_row_chunks *c, int64_t chunk)
{
	return (kdri_row){ .col = c->sparse ? c->col + chunk * c->length : NULL,
		           .val = c->val + chunk * c->length };
}

/* --- loading ----------------------------------------------------------------------------------- */

/* Shell sort by column with Ciura's gaps: it is in place, and fast for rows of usual lengths. */
static void sort_row(kdri_row *row)
{
	static const int64_t gaps[] = { 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1 };
	for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
		for (int64_t i = gaps[g]; i < row->n; i++) {
			int32_t col = row->col[i];
			double val = row->val[i];
			int64_t j = i;
			for (; j >= gaps[g] && row->col[j - gaps[g]] > col; j -= gaps[g]) {
				row->col[j] = row->col[j - gaps[g]];
				row->val[j] = row->val[j - gaps[g]];
			}
			row->col[j] = col;
			row->val[j] = val;
		}
}

static void load_sparse(const kdr_data *d, const kdri_columns *columns, int64_t i, kdri_row *row)
{
	int64_t begin = d->rowptr[i], n = d->rowptr[i + 1] - begin;
	if (columns->identity) {
		memcpy(row->col, d->col + begin, (size_t)n * sizeof *row->col);
		memcpy(row->val, d->val + begin, (size_t)n * sizeof *row->val);
		row->n = n;
		return;
	}
	row->n = 0;
	for (int64_t p = begin; p < begin + n; p++) {
		int64_t to = columns->to[d->col[p]];
		if (to < 0)
			continue;
		row->col[row->n] = (int32_t)to;
		row->val[row->n++] = d->val[p];
	}
	if (!columns->increasing)
		sort_row(row);
}

/* Whether the cell of a column of its table was missing in row i, and has been filled. */
static bool has_hole(const kdri_sheet *s, int64_t i, int64_t column)
{
	int64_t low = 0, high = s->nholes; /* holes are in the order of rows */
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		if (s->hole_row[middle] < i)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->nholes && s->hole_row[low] == i; low++)
		if (s->source[s->hole_feature[low]] == column)
			return true;
	return false;
}

static void load_dense(const kdr_data *d, const kdri_columns *columns, int64_t i, int64_t cols, kdri_row *row)
{
	const double *x = d->dense + i * d->cols;
	row->n = cols;
	if (columns->identity) {
		memcpy(row->val, x, (size_t)cols * sizeof *x);
		return;
	}
	memset(row->val, 0, (size_t)cols * sizeof *row->val);
	for (int64_t j = 0; j < d->cols; j++)
		if (columns->to[j] >= 0)
			row->val[columns->to[j]] = columns->shift ? x[j] + columns->shift[j] : x[j];
	for (int64_t a = 0; a < columns->nabsent; a++) {
		const int64_t u = columns->absent[a];
		if (!columns->fill)
			row->val[u] = NAN;
		else if (columns->text_of[a] < 0 || has_hole(d->sheet, i, columns->text_of[a]))
			row->val[u] = columns->fill[u];
	}
}

void kdri_row_load(const kdr_data *d, const kdri_columns *columns, int64_t i, int64_t cols, kdri_row *row)
{
	if (d->kind == KDR_MAT_CSR)
		load_sparse(d, columns, i, row);
	else
		load_dense(d, columns, i, cols, row);
}

/* --- weight and norm --------------------------------------------------------------------------- */

static void weigh_cpm(double median, kdri_row *row)
{
	double total = 0;
	for (int64_t p = 0; p < row->n; p++)
		total += row->val[p];
	if (!(total > 0))
		return;
	double factor = median / total;
	for (int64_t p = 0; p < row->n; p++)
		row->val[p] = log1p(row->val[p] * factor); /* (E3) */
}

static void weigh_tfidf(const double *idf, kdri_row *row)
{
	if (row->col)
		for (int64_t p = 0; p < row->n; p++)
			row->val[p] *= idf[row->col[p]]; /* (E4) */
	else
		for (int64_t j = 0; j < row->n; j++)
			row->val[j] *= idf[j];
}

static double size_of(kdr_norm norm, const kdri_row *row)
{
	double size = 0;
	if (norm == KDR_NORM_L1)
		for (int64_t p = 0; p < row->n; p++)
			size += fabs(row->val[p]);
	else
		for (int64_t p = 0; p < row->n; p++)
			size += row->val[p] * row->val[p];
	return size;
}

static void rows_normalise(kdr_norm norm, kdri_row *row)
{
	double size = size_of(norm, row), largest = 0;
	if (!(size > 1e-290 &&
	      size < 1e290)) { /* squares that over- or underflow: the largest entry to 1 first */
		for (int64_t p = 0; p < row->n; p++)
			largest = KDRI_MAX(largest, fabs(row->val[p]));
		if (!(largest > 0))
			return;
		for (int64_t p = 0; p < row->n; p++)
			row->val[p] /= largest;
		size = size_of(norm, row);
	}
	if (norm == KDR_NORM_L2)
		size = sqrt(size);
	for (int64_t p = 0; p < row->n; p++)
		row->val[p] /= size; /* (E5) */
}

void kdri_row_weigh(const kdr_prep *prep, int64_t set, kdri_row *row)
{
	switch (prep->options.weight) {
	case KDR_WEIGHT_NONE: break;
	case KDR_WEIGHT_BINARY:
		for (int64_t p = 0; p < row->n; p++)
			row->val[p] = row->val[p] != 0; /* (E1) */
		break;
	case KDR_WEIGHT_LOG1P:
		for (int64_t p = 0; p < row->n; p++)
			row->val[p] = log1p(row->val[p]); /* (E2) */
		break;
	case KDR_WEIGHT_CPM: weigh_cpm(prep->median[set], row); break;
	case KDR_WEIGHT_TFIDF: weigh_tfidf(prep->idf + set * prep->cols, row); break;
	case KDR_WEIGHT_SQRT:
		for (int64_t p = 0; p < row->n; p++)
			row->val[p] = sqrt(row->val[p]); /* (E7) */
		break;
	}
	if (prep->options.norm != KDR_NORM_NONE)
		rows_normalise(prep->options.norm, row);
}

/* --- scale and choice of columns --------------------------------------------------------------- */

static void keep_entries(const kdr_prep *prep, kdri_row *row)
{
	if (!row->col) {
		for (int64_t k = 0; k < prep->nkept; k++)
			row->val[k] = row->val[prep->kept[k]];
		row->n = prep->nkept;
		return;
	}
	int64_t n = 0;
	for (int64_t p = 0; p < row->n; p++) {
		int64_t place = prep->place[row->col[p]];
		if (place < 0)
			continue;
		row->col[n] = (int32_t)place;
		row->val[n++] = row->val[p];
	}
	row->n = n;
}

/* (E6); halves where the difference itself has no number. */
static double scaled(double x, double offset, double divisor)
{
	double moved = x - offset;
	return fabs(moved) <= DBL_MAX ? moved / divisor : (x / 2 - offset / 2) / (divisor / 2);
}

void kdri_row_scale(const kdr_prep *prep, int64_t set, kdri_row *row)
{
	if (prep->options.scale == KDR_SCALE_TABLE) {
		kdri_row_table(prep, set, row);
	} else if (prep->divisor) {
		const double *offset = prep->offset + set * prep->cols;
		const double *divisor = prep->divisor + set * prep->cols;
		if (row->col)
			for (int64_t p = 0; p < row->n; p++) {
				int32_t j = row->col[p];
				row->val[p] = scaled(row->val[p], offset[j], divisor[j]);
			}
		else
			for (int64_t j = 0; j < row->n; j++)
				row->val[j] = scaled(row->val[j], offset[j], divisor[j]);
	}
	if (prep->kept)
		keep_entries(prep, row);
}
