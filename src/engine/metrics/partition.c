/* Two partitions of the same samples: compact labels and the contingency table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything is O(n) for any labels. Labels within a range of the order of n are counted in a table;
 * others, and cells of large contingency tables, are sorted by digits. */
#include "comm/comm.h"
#include "engine/metrics/metrics.h"

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS };

/* A table with more cells than this (512 MB) is an error, because it would be unreadable. */
static const int64_t most_dense_cells = (int64_t)1 << 26;

/* Sorts keys in place, and moves `tag` (may be NULL) with them. Least significant digit first; digits
 * that all keys share are skipped. key2 and tag2 are scratch of the same size. */
static void radix_sort(uint64_t *key, int64_t *tag, uint64_t *key2, int64_t *tag2, int64_t n,
                       uint64_t largest)
{
	uint64_t *from = key, *to = key2;
	int64_t *tag_from = tag, *tag_to = tag2;
	for (int shift = 0; shift < 64 && largest >> shift; shift += DIGIT_BITS) {
		int64_t start[BUCKETS] = { 0 };
		for (int64_t i = 0; i < n; i++)
			start[from[i] >> shift & (BUCKETS - 1)]++;
		if (start[from[0] >> shift & (BUCKETS - 1)] == n)
			continue;
		int64_t sum = 0;
		for (int b = 0; b < BUCKETS; b++) {
			int64_t size = start[b];
			start[b] = sum;
			sum += size;
		}
		for (int64_t i = 0; i < n; i++) {
			int64_t at = start[from[i] >> shift & (BUCKETS - 1)]++;
			to[at] = from[i];
			if (tag)
				tag_to[at] = tag_from[i];
		}
		uint64_t *k = from;
		from = to;
		to = k;
		int64_t *t = tag_from;
		tag_from = tag_to;
		tag_to = t;
	}
	if (from != key) {
		memcpy(key, from, (size_t)n * sizeof *key);
		if (tag)
			memcpy(tag, tag_from, (size_t)n * sizeof *tag);
	}
}

/* Labels in low .. low + range: rank by a table of the range. */
static kdr_status compact_by_table(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t low,
                                   int64_t range, int64_t *codes, int64_t **values, int64_t *count)
{
	kdr_status st;
	int64_t *rank = NULL, *distinct = NULL, found = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &rank, range + 1));
	for (int64_t i = 0; i < n; i++)
		rank[labels[i] - low] = 1;
	for (int64_t r = 0; r <= range; r++)
		found += rank[r];
	KDRI_TRY(KDRI_NEW(ctx, &distinct, found));
	found = 0;
	for (int64_t r = 0; r <= range; r++)
		if (rank[r]) {
			rank[r] = found;
			distinct[found++] = low + r;
		}
	for (int64_t i = 0; i < n; i++)
		codes[i] = rank[labels[i] - low];
	*count = found;
	if (values) {
		*values = distinct;
		distinct = NULL;
	}
done:
	KDRI_FREE(ctx, rank, distinct);
	return st;
}

/* Labels anywhere: sort (label, sample), then number the runs. */
static kdr_status compact_by_sort(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t low,
                                  uint64_t range, int64_t *codes, int64_t **values, int64_t *count)
{
	kdr_status st;
	uint64_t *key = NULL, *key2 = NULL;
	int64_t *tag = NULL, *tag2 = NULL, *distinct = NULL, found = 1;
	KDRI_TRY(KDRI_NEW(ctx, &key, n));
	KDRI_TRY(KDRI_NEW(ctx, &key2, n));
	KDRI_TRY(KDRI_NEW(ctx, &tag, n));
	KDRI_TRY(KDRI_NEW(ctx, &tag2, n));
	for (int64_t i = 0; i < n; i++) {
		key[i] = (uint64_t)labels[i] - (uint64_t)low; /* no signed overflow, and the same order */
		tag[i] = i;
	}
	radix_sort(key, tag, key2, tag2, n, range);
	for (int64_t i = 1; i < n; i++)
		found += key[i] != key[i - 1];
	KDRI_TRY(KDRI_NEW(ctx, &distinct, found));
	found = 0;
	for (int64_t i = 0; i < n; i++) {
		if (i == 0 || key[i] != key[i - 1])
			distinct[found++] = labels[tag[i]];
		codes[tag[i]] = found - 1;
	}
	*count = found;
	if (values) {
		*values = distinct;
		distinct = NULL;
	}
done:
	KDRI_FREE(ctx, key, key2, tag, tag2, distinct);
	return st;
}

kdr_status kdri_labels_compact(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                               int64_t **values, int64_t *count)
{
	if (n < 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "got labels of %lld samples; at least one is needed",
		                 (long long)n);
	int64_t low = labels[0], high = labels[0];
	for (int64_t i = 1; i < n; i++) {
		low = KDRI_MIN(low, labels[i]);
		high = KDRI_MAX(high, labels[i]);
	}
	uint64_t range = (uint64_t)high - (uint64_t)low;
	if (range <= 4 * (uint64_t)n + BUCKETS)
		return compact_by_table(ctx, labels, n, low, (int64_t)range, codes, values, count);
	return compact_by_sort(ctx, labels, n, low, range, codes, values, count);
}

kdr_status kdri_labels_compact_all(kdr_context *ctx, const int64_t *labels, int64_t n, int64_t *codes,
                                   int64_t **values, int64_t *count)
{
	kdr_status st;
	int64_t *sizes = NULL, *names = NULL, most = 0, k = 0;
	if (!kdri_together(ctx))
		return kdri_labels_compact(ctx, labels, n, codes, values, count);
	for (int64_t i = 0; i < n; i++)
		most = KDRI_MAX(most, labels[i] + 1);
	KDRI_TRY(kdri_max_int(ctx, &most, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, most));
	KDRI_TRY(KDRI_NEW(ctx, &names, most));
	for (int64_t i = 0; i < n; i++)
		sizes[labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, sizes, most));
	for (int64_t c = 0; c < most; c++)
		if (sizes[c] > 0) {
			names[k] = c;
			sizes[c] = k++;
		}
	for (int64_t i = 0; i < n; i++)
		codes[i] = sizes[labels[i]];
	*values = names;
	*count = k;
	names = NULL;
done:
	KDRI_FREE(ctx, sizes, names);
	return st;
}

/* --- the table ------------------------------------------------------------------------------ */

void kdri_table_free(kdr_context *ctx, kdri_table *t)
{
	KDRI_FREE(ctx, t->row_label, t->col_label, t->row_total, t->col_total, t->rowptr, t->col, t->count);
	*t = (kdri_table){ 0 };
}

/* Cells from a dense count: for tables of no more cells than a few times the samples. */
static kdr_status cells_by_count(kdr_context *ctx, const int64_t *a, const int64_t *b, kdri_table *t)
{
	kdr_status st;
	int64_t *dense = NULL, all = t->rows * t->cols;
	KDRI_TRY(KDRI_NEW0(ctx, &dense, all));
	for (int64_t i = 0; i < t->n; i++)
		dense[a[i] * t->cols + b[i]]++;
	for (int64_t c = 0; c < all; c++)
		t->cells += dense[c] > 0;
	KDRI_TRY(KDRI_NEW(ctx, &t->col, t->cells));
	KDRI_TRY(KDRI_NEW(ctx, &t->count, t->cells));
	int64_t p = 0;
	for (int64_t r = 0; r < t->rows; r++) {
		for (int64_t c = 0; c < t->cols; c++)
			if (dense[r * t->cols + c]) {
				t->col[p] = c;
				t->count[p++] = dense[r * t->cols + c];
			}
		t->rowptr[r + 1] = p;
	}
done:
	kdri_free(ctx, dense);
	return st;
}

/* Cells from the sorted list of (row, column) pairs, one number a pair. */
static kdr_status cells_by_sort(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t most,
                                kdri_table *t)
{
	kdr_status st;
	uint64_t *key = NULL, *key2 = NULL, cols = (uint64_t)t->cols;
	KDRI_TRY(KDRI_NEW(ctx, &key, t->n));
	KDRI_TRY(KDRI_NEW(ctx, &key2, t->n));
	for (int64_t i = 0; i < t->n; i++)
		key[i] = (uint64_t)a[i] * cols + (uint64_t)b[i];
	radix_sort(key, NULL, key2, NULL, t->n, (uint64_t)most - 1);
	t->cells = 1;
	for (int64_t i = 1; i < t->n; i++)
		t->cells += key[i] != key[i - 1];
	KDRI_TRY(KDRI_NEW(ctx, &t->col, t->cells));
	KDRI_TRY(KDRI_NEW(ctx, &t->count, t->cells));
	int64_t p = 0;
	for (int64_t i = 0; i < t->n; p++) {
		int64_t first = i;
		while (i < t->n && key[i] == key[first])
			i++;
		t->col[p] = (int64_t)(key[first] % cols);
		t->count[p] = i - first;
		t->rowptr[key[first] / cols + 1] = p + 1;
	}
done:
	KDRI_FREE(ctx, key, key2);
	return st;
}

kdr_status kdri_table_new(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, kdri_table *out)
{
	kdr_status st;
	kdri_table t = { .n = n };
	int64_t *row = NULL, *col = NULL, all = 0;
	KDRI_TRY(KDRI_NEW(ctx, &row, KDRI_MAX(n, 0)));
	KDRI_TRY(KDRI_NEW(ctx, &col, KDRI_MAX(n, 0)));
	KDRI_TRY(kdri_labels_compact(ctx, a, n, row, &t.row_label, &t.rows));
	KDRI_TRY(kdri_labels_compact(ctx, b, n, col, &t.col_label, &t.cols));
	KDRI_TRY(kdri_mul(ctx, t.rows, t.cols, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &t.row_total, t.rows));
	KDRI_TRY(KDRI_NEW0(ctx, &t.col_total, t.cols));
	KDRI_TRY(KDRI_NEW0(ctx, &t.rowptr, t.rows + 1));
	KDRI_TRY(all / 4 <= n + BUCKETS ? cells_by_count(ctx, row, col, &t)
	                                : cells_by_sort(ctx, row, col, all, &t));
	for (int64_t r = 0; r < t.rows; r++)
		for (int64_t p = t.rowptr[r]; p < t.rowptr[r + 1]; p++) {
			t.row_total[r] += t.count[p];
			t.col_total[t.col[p]] += t.count[p];
		}
	*out = t;
	t = (kdri_table){ 0 };
done:
	KDRI_FREE(ctx, row, col);
	kdri_table_free(ctx, &t);
	return st;
}

kdr_status kdri_table_counts(kdr_context *ctx, const int64_t *counts, int64_t rows, int64_t cols,
                             kdri_table *out)
{
	kdr_status st;
	kdri_table t = { 0 };
	int64_t *code = NULL, p = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &code, cols)); /* samples in a column, then its place + 1, or 0 */
	for (int64_t c = 0; c < rows * cols; c++) {
		t.n += counts[c];
		t.cells += counts[c] > 0;
		code[c % cols] += counts[c];
	}
	if (t.n < 1)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "the contingency table has no samples; at least one is needed");
	KDRI_TRY(KDRI_NEW(ctx, &t.row_label, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.col_label, cols));
	KDRI_TRY(KDRI_NEW(ctx, &t.row_total, rows));
	KDRI_TRY(KDRI_NEW(ctx, &t.col_total, cols));
	KDRI_TRY(KDRI_NEW0(ctx, &t.rowptr, rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &t.col, t.cells));
	KDRI_TRY(KDRI_NEW(ctx, &t.count, t.cells));
	for (int64_t c = 0; c < cols; c++)
		if (code[c] > 0) {
			t.col_label[t.cols] = c;
			t.col_total[t.cols++] = code[c];
			code[c] = t.cols;
		}
	for (int64_t r = 0; r < rows; r++) {
		int64_t sum = 0;
		for (int64_t c = 0; c < cols; c++)
			if (counts[r * cols + c] > 0) {
				t.col[p] = code[c] - 1;
				t.count[p++] = counts[r * cols + c];
				sum += counts[r * cols + c];
			}
		if (sum > 0) {
			t.row_label[t.rows] = r;
			t.row_total[t.rows++] = sum;
			t.rowptr[t.rows] = p;
		}
	}
	*out = t;
	t = (kdri_table){ 0 };
done:
	kdri_free(ctx, code);
	kdri_table_free(ctx, &t);
	return st;
}

kdr_status kdr_contingency(kdr_context *ctx, const int64_t *labels, const int64_t *truth, int64_t n,
                           int64_t **counts, int64_t **clusters, int64_t *nclusters, int64_t **classes,
                           int64_t *nclasses)
{
	kdr_status st;
	kdri_table t = { 0 };
	int64_t *dense = NULL;
	KDRI_NEED(ctx, labels && truth && counts && clusters && nclusters && classes && nclasses);
	KDRI_TRY(kdri_table_new(ctx, labels, truth, n, &t));
	if (t.rows > most_dense_cells / t.cols)
		KDRI_FAIL(
		        ctx, KDR_ERR_SIZE,
		        "a contingency table of %lld clusters x %lld classes is too large; at most %lld cells are supported",
		        (long long)t.rows, (long long)t.cols, (long long)most_dense_cells);
	KDRI_TRY(KDRI_NEW0(ctx, &dense, t.rows * t.cols));
	for (int64_t r = 0; r < t.rows; r++)
		for (int64_t p = t.rowptr[r]; p < t.rowptr[r + 1]; p++)
			dense[r * t.cols + t.col[p]] = t.count[p];
	*counts = dense;
	*clusters = t.row_label;
	*nclusters = t.rows;
	*classes = t.col_label;
	*nclasses = t.cols;
	dense = t.row_label = t.col_label = NULL;
done:
	kdri_free(ctx, dense);
	kdri_table_free(ctx, &t);
	return st;
}
