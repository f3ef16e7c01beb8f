/* Rows of a matrix: parts, hashes, equality. SPDX-License-Identifier: BSD-3-Clause */
#include "matrix/rows.h"

#include "matrix/linalg.h"

#include <stdlib.h>

kdr_mat kdri_rows(const kdr_mat *x, int64_t begin, int64_t end)
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

static int by_column(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

kdr_status kdri_columns_used(kdr_context *ctx, const kdr_mat *x, int32_t **list, int64_t *count)
{
	const kdr_csr *s = &x->as.csr;
	const int64_t begin = s->rowptr[0], all = s->rowptr[s->rows] - begin;
	int32_t *used = NULL;
	int64_t found = 0;
	KDRI_DO(KDRI_NEW(ctx, &used, all));
	memcpy(used, s->col + begin, (size_t)all * sizeof *used);
	qsort(used, (size_t)all, sizeof *used, by_column);
	for (int64_t p = 0; p < all; p++)
		if (p == 0 || used[p] != used[found - 1])
			used[found++] = used[p];
	*list = used;
	*count = found;
	return KDR_OK;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

uint64_t kdri_entries_hash(const kdri_entries *row)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;
	for (int64_t p = 0; p < row->count; p++) {
		if (row->val[p] == 0)
			continue;
		uint64_t state = hash ^ (uint64_t)kdri_entry_column(row, p) * 0xff51afd7ed558ccdu ^
		                 bits_of(row->val[p]);
		hash = kdri_random(&state);
	}
	return hash;
}

static int64_t next_nonzero(const kdri_entries *row, int64_t p)
{
	while (p < row->count && row->val[p] == 0)
		p++;
	return p;
}

bool kdri_entries_equal(const kdri_entries *a, const kdri_entries *b)
{
	int64_t p = next_nonzero(a, 0), q = next_nonzero(b, 0);
	while (p < a->count && q < b->count) {
		if (kdri_entry_column(a, p) != kdri_entry_column(b, q) ||
		    bits_of(a->val[p]) != bits_of(b->val[q]))
			return false;
		p = next_nonzero(a, p + 1);
		q = next_nonzero(b, q + 1);
	}
	return p == a->count && q == b->count;
}

bool kdri_mat_nonnegative(const kdr_mat *x)
{
	bool nonnegative = true;
	for (int64_t i = 0; i < kdr_mat_rows(x) && nonnegative; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		nonnegative = row.count == 0 || kdri_least(row.val, row.count) >= 0;
	}
	return nonnegative;
}
