/* How many different rows there are. SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash set of rows, which stops growing at the number asked for: on ordinary data that is after
 * little more than `most` rows. Zeros do not enter the hash, so that dense and sparse rows agree. */
#include "engine/kmeans/kmeans_work.h"

typedef struct row_view {
	const double *val;
	const int32_t *col; /* NULL: dense */
	int64_t count;
} row_view;

static row_view row_of(const kdr_mat *x, int64_t i)
{
	if (x->kind == KDR_MAT_DENSE)
		return (row_view){ x->as.dense.data + i * x->as.dense.stride, NULL, x->as.dense.cols };
	int64_t begin = x->as.csr.rowptr[i];
	return (row_view){ x->as.csr.val + begin, x->as.csr.col + begin, x->as.csr.rowptr[i + 1] - begin };
}

static uint64_t hash_of(const row_view *r)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;
	for (int64_t p = 0; p < r->count; p++) {
		uint64_t bits, at = (uint64_t)(r->col ? r->col[p] : p);
		if (r->val[p] == 0)
			continue;
		memcpy(&bits, &r->val[p], sizeof bits);
		hash = (hash ^ bits) * 0x100000001b3u;
		hash = (hash ^ (hash >> 29) ^ at) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 32;
	}
	return hash;
}

static int64_t next_nonzero(const row_view *r, int64_t p)
{
	while (p < r->count && r->val[p] == 0)
		p++;
	return p;
}

static bool same_row(const row_view *a, const row_view *b)
{
	int64_t p = next_nonzero(a, 0), q = next_nonzero(b, 0);
	while (p < a->count && q < b->count) {
		if ((a->col ? a->col[p] : p) != (b->col ? b->col[q] : q) || a->val[p] != b->val[q])
			return false;
		p = next_nonzero(a, p + 1);
		q = next_nonzero(b, q + 1);
	}
	return p == a->count && q == b->count;
}

kdr_status kdri_km_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
                            int64_t *out)
{
	kdr_status st;
	int64_t *slots = NULL, size = 16, found = 0; /* a slot holds a row's number + 1, or 0 */
	while (size < 2 * KDRI_MIN(most, kdr_mat_rows(x)))
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	for (int64_t i = 0; i < kdr_mat_rows(x) && found < most; i++) {
		if (weights && !(weights[i] > 0))
			continue;
		row_view r = row_of(x, i);
		uint64_t at = hash_of(&r) & (uint64_t)(size - 1);
		for (;; at = (at + 1) & (uint64_t)(size - 1)) {
			if (!slots[at]) {
				slots[at] = i + 1;
				found++;
				break;
			}
			row_view other = row_of(x, slots[at] - 1);
			if (same_row(&r, &other))
				break;
		}
	}
	*out = found;
done:
	kdri_free(ctx, slots);
	return st;
}
