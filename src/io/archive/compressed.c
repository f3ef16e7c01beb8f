/* Converts compressed rows or columns of other tools to the form that kdr_csr requires. SPDX-License-Identifier:
 * BSD-3-Clause */
#include "io/binary.h"

#include <stdlib.h>

/* The number of rows of a matrix stored by columns cannot be checked: at most this many are accepted, and this many per
 * entry and column of the file. */
enum { ROWS_FREE = 1 << 24, ROWS_PER_ENTRY = 1000 };
/* Entries whose values are copied rather than moved in place: 64 MB. */
enum { COPIED_MOST = 1 << 23 };

kdr_status kdri_compressed_check(kdr_context *ctx, const char *label, int64_t rows, int64_t cols,
                                 bool by_column, int64_t nptr, int64_t nindices, int64_t nvalues)
{
	int64_t major = by_column ? cols : rows;
	if (rows < 1 || cols < 1)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: the sparse matrix is empty (%lld x %lld); at least one row and one column are needed",
		        label, (long long)rows, (long long)cols);
	if (cols > INT32_MAX || (by_column && rows > INT32_MAX))
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: the sparse matrix has %lld x %lld entries; at most 2147483647 %s are supported",
		        label, (long long)rows, (long long)cols, cols > INT32_MAX ? "columns" : "rows");
	if (nptr - 1 != major)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: the sparse matrix has %lld %s, but %lld pointers",
		                 label, (long long)major, by_column ? "columns" : "rows", (long long)nptr);
	if (nindices != nvalues)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: the sparse matrix has %lld indices, but %lld values", label,
		                 (long long)nindices, (long long)nvalues);
	if (by_column && nvalues > INT32_MAX)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: the sparse matrix has %lld entries stored by columns; at most 2147483647 are supported (any number if stored by rows)",
		        label, (long long)nvalues);
	if (by_column && rows > ROWS_FREE && rows / ROWS_PER_ENTRY > nvalues + cols)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: the sparse matrix claims %lld rows for %lld entries",
		                 label, (long long)rows, (long long)nvalues);
	return KDR_OK;
}

/* Moves value p to to[p]: in another array if that is small; otherwise in place, along the cycles of the permutation,
 * which is three times as slow but needs no memory. `to` is overwritten. */
static kdr_status compressed_permute(kdr_context *ctx, int64_t nnz, int32_t *to, double **val)
{
	double *v = *val, *moved = NULL;
	if (nnz <= COPIED_MOST) {
		kdr_status st = KDRI_NEW(ctx, &moved, nnz);
		if (st != KDR_OK)
			return st;
		for (int64_t p = 0; p < nnz; p++)
			moved[to[p]] = v[p];
		kdri_free(ctx, v);
		*val = moved;
		return KDR_OK;
	}
	for (int64_t p = 0; p < nnz; p++)
		while (to[p] != p) { /* each step moves one value to its position */
			int32_t q = to[p];
			double swapped = v[q];
			v[q] = v[p];
			v[p] = swapped;
			to[p] = to[q];
			to[q] = q;
		}
	return KDR_OK;
}

/* Stored by columns to stored by rows: a counting sort, after which columns increase in each row. The row numbers are
 * replaced by the new positions of their entries, so that 16 bytes per entry are used for the 12 that remain, in
 * addition to the copy made by permute. */
static kdr_status compressed_turn(kdr_context *ctx, kdr_data *d)
{
	kdr_status st;
	int64_t *rowptr = NULL, nnz = d->rowptr[d->cols];
	int32_t *col = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, d->rows + 1));
	KDRI_TRY(KDRI_NEW(ctx, &col, nnz));
	for (int64_t p = 0; p < nnz; p++)
		rowptr[d->col[p] + 1]++;
	for (int64_t i = 0; i < d->rows; i++)
		rowptr[i + 1] += rowptr[i];
	int32_t *to = d->col; /* the new position of entry p */
	for (int64_t j = 0; j < d->cols; j++)
		for (int64_t p = d->rowptr[j]; p < d->rowptr[j + 1]; p++) {
			int64_t q = rowptr[d->col[p]]++;
			col[q] = (int32_t)j;
			to[p] = (int32_t)q;
		}
	memmove(rowptr + 1, rowptr, (size_t)d->rows * sizeof *rowptr);
	rowptr[0] = 0;
	KDRI_TRY(compressed_permute(ctx, nnz, to, &d->val));
	KDRI_FREE(ctx, d->rowptr, d->col);
	d->rowptr = rowptr;
	d->col = col;
	rowptr = NULL;
	col = NULL;
done:
	KDRI_FREE(ctx, rowptr, col);
	return st;
}

typedef struct entry {
	int32_t col;
	int64_t place; /* ties keep their order, so that sums do not depend on the sort */
	double val;
} entry;

static int by_column_then_place(const void *a, const void *b)
{
	const entry *x = a, *y = b;
	if (x->col != y->col)
		return x->col < y->col ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static bool increasing(const kdr_data *d, int64_t row)
{
	for (int64_t p = d->rowptr[row] + 1; p < d->rowptr[row + 1]; p++)
		if (d->col[p] <= d->col[p - 1])
			return false;
	return true;
}

/* Sorts the rows that need it and sums entries of the same place; the rest moves up. */
static kdr_status compressed_normalise(kdr_context *ctx, kdr_data *d)
{
	kdr_status st = KDR_OK;
	entry *row = NULL;
	int64_t longest = 0, out = 0, begin = 0;
	for (int64_t i = 0; i < d->rows; i++)
		if (!increasing(d, i))
			longest = KDRI_MAX(longest, d->rowptr[i + 1] - d->rowptr[i]);
	if (longest == 0)
		goto done;
	KDRI_TRY(KDRI_NEW(ctx, &row, longest));
	for (int64_t i = 0; i < d->rows; i++) {
		int64_t end = d->rowptr[i + 1], n = end - begin;
		/* rowptr[i] may have moved; begin is where the row was read. */
		bool sorted = true;
		for (int64_t p = begin + 1; p < end && sorted; p++)
			sorted = d->col[p] > d->col[p - 1];
		if (sorted) {
			memmove(d->col + out, d->col + begin, (size_t)n * sizeof *d->col);
			memmove(d->val + out, d->val + begin, (size_t)n * sizeof *d->val);
			out += n;
		} else {
			for (int64_t j = 0; j < n; j++)
				row[j] = (entry){ d->col[begin + j], j, d->val[begin + j] };
			qsort(row, (size_t)n, sizeof *row, by_column_then_place);
			for (int64_t j = 0; j < n; j++) {
				if (j > 0 && row[j].col == row[j - 1].col) {
					d->val[out - 1] += row[j].val;
				} else {
					d->col[out] = row[j].col;
					d->val[out++] = row[j].val;
				}
			}
		}
		begin = end;
		d->rowptr[i + 1] = out;
	}
done:
	kdri_free(ctx, row);
	return st;
}

kdr_status kdri_compressed_finish(kdr_context *ctx, const char *label, kdr_data *d, bool by_column,
                                  int64_t nnz)
{
	int64_t major = by_column ? d->cols : d->rows;
	bool right = d->rowptr[0] == 0 && d->rowptr[major] <= nnz;
	for (int64_t i = 0; i < major && right; i++)
		right = d->rowptr[i] <= d->rowptr[i + 1];
	if (!right)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: the pointers of the sparse matrix do not increase from 0 to its %lld entries",
		        label, (long long)nnz);
	d->kind = KDR_MAT_CSR;
	if (by_column)
		KDRI_DO(compressed_turn(ctx, d));
	return compressed_normalise(ctx, d);
}
