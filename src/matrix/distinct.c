/* Counts distinct rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * It uses a hash set of rows, which stops growing at the requested number: for ordinary data after little more than
 * `most` rows. Rows of several ranks are compared by 64 bits of hash. */
#include "comm/comm.h"
#include "matrix/rows.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* How many of all ranks' hashes differ, `mine` of which are here. */
static kdr_status count_all(kdr_context *ctx, const int64_t *hashes, int64_t mine, int64_t most, int64_t *out)
{
	kdr_status st;
	int64_t start, all, enough = mine, *list = NULL, found = 0;
	KDRI_TRY(kdri_max_int(ctx, &enough, 1));
	if (enough >= most) {
		*out = enough;
		return KDR_OK;
	}
	KDRI_TRY(kdri_part(ctx, mine, &start, &all));
	KDRI_TRY(KDRI_NEW0(ctx, &list, all));
	memcpy(list + start, hashes, (size_t)mine * sizeof *list);
	KDRI_TRY(kdri_sum_int(ctx, list, all));
	qsort(list, (size_t)all, sizeof *list, by_size);
	for (int64_t i = 0; i < all; i++)
		found += i == 0 || list[i] != list[i - 1];
	*out = KDRI_MIN(found, most);
done:
	kdri_free(ctx, list);
	return st;
}

/* The slot of row i among `size` slots, a power of two: it holds the number + 1 of an equal row, or 0. */
static int64_t *slot_of(const kdr_mat *x, int64_t i, int64_t *slots, int64_t size, uint64_t *hash)
{
	kdri_entries r = kdri_row_entries(x, i);
	*hash = kdri_entries_hash(&r);
	for (uint64_t at = *hash & (uint64_t)(size - 1);; at = (at + 1) & (uint64_t)(size - 1)) {
		if (!slots[at])
			return &slots[at];
		kdri_entries other = kdri_row_entries(x, slots[at] - 1);
		if (kdri_entries_equal(&r, &other))
			return &slots[at];
	}
}

kdr_status kdri_rows_first(kdr_context *ctx, const kdr_mat *x, int64_t **first)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), *slots = NULL, *found = NULL, size = 16, distinct = 0;
	uint64_t hash;
	*first = NULL;
	while (size < 2 * n)
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	KDRI_TRY(KDRI_NEW(ctx, &found, n));
	for (int64_t i = 0; i < n; i++) {
		int64_t *slot = slot_of(x, i, slots, size, &hash);
		distinct += *slot == 0;
		*slot = *slot ? *slot : i + 1;
		found[i] = *slot - 1;
	}
	if (distinct > 1 && distinct < n) {
		*first = found;
		found = NULL;
	}
done:
	KDRI_FREE(ctx, slots, found);
	return st;
}

kdr_status kdri_rows_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
                              int64_t *out)
{
	kdr_status st;
	int64_t *slots = NULL, *hashes = NULL, size = 16,
	        found = 0; /* a slot holds a row's number + 1, or 0 */
	while (size < 2 * KDRI_MIN(most, kdr_mat_rows(x)))
		size *= 2;
	KDRI_TRY(KDRI_NEW0(ctx, &slots, size));
	KDRI_TRY(KDRI_NEW(ctx, &hashes, size));
	for (int64_t i = 0; i < kdr_mat_rows(x) && found < most; i++) {
		if (weights && !(weights[i] > 0))
			continue;
		uint64_t hash;
		int64_t *slot = slot_of(x, i, slots, size, &hash);
		if (!*slot) {
			*slot = i + 1;
			hashes[found++] = (int64_t)hash;
		}
	}
	if (kdri_together(ctx))
		KDRI_TRY(count_all(ctx, hashes, found, most, &found));
	*out = found;
done:
	KDRI_FREE(ctx, slots, hashes);
	return st;
}
