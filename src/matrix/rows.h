/* Rows of a dense or sparse matrix. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_ROWS_H
#define KDRI_ROWS_H

#include "core/internal.h"

/* The stored entries of one row, borrowed: all of a dense one. */
typedef struct kdri_entries {
	const double *val;
	const int32_t *col; /* increasing; NULL: dense, entry p is column p */
	int64_t count;
} kdri_entries;

static inline kdri_entries kdri_row_entries(const kdr_mat *x, int64_t i)
{
	if (x->kind == KDR_MAT_DENSE)
		return (kdri_entries){ x->as.dense.data + i * x->as.dense.stride, NULL, x->as.dense.cols };
	int64_t begin = x->as.csr.rowptr[i];
	return (kdri_entries){ x->as.csr.val + begin, x->as.csr.col + begin,
		               x->as.csr.rowptr[i + 1] - begin };
}

/* The column of entry p. */
static inline int64_t kdri_entry_column(const kdri_entries *row, int64_t p)
{
	return row->col ? row->col[p] : p;
}

bool kdri_mat_nonnegative(const kdr_mat *x);

/* The columns of sparse rows that have stored entries, in increasing order; to be freed. Memory: O(nnz), whatever the number
 * of columns. */
kdr_status kdri_columns_used(kdr_context *ctx, const kdr_mat *x, int32_t **list, int64_t *count);

/* Rows begin .. end - 1 of x, borrowed. */
static inline kdr_mat kdri_rows(const kdr_mat *x, int64_t begin, int64_t end)
{
	kdr_mat part = *x;
	if (x->kind == KDR_MAT_DENSE) {
		part.as.dense.data += begin * x->as.dense.stride;
		part.as.dense.rows = end - begin;
	} else {
		part.as.csr.rowptr += begin;
		part.as.csr.rows = end - begin;
	}
	return part;
}

/* Zeros, stored or not, count for nothing: a dense row and a sparse one of the same numbers have one hash and are
 * equal. Numbers are compared bit for bit, so that NaN equals itself. */
uint64_t kdri_entries_hash(const kdri_entries *row);
bool kdri_entries_equal(const kdri_entries *a, const kdri_entries *b);

/* rows.c: different rows of positive weight (weights NULL: all), counted up to `most`. */
kdr_status kdri_rows_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
                              int64_t *out);
/* (*first)[i] is the first row that is equal to row i; NULL if no two rows are equal, or all of them are. To be freed. */
kdr_status kdri_rows_first(kdr_context *ctx, const kdr_mat *x, int64_t **first);

#endif
