/* How many different rows there are. SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash set of rows, which stops growing at the number asked for: on ordinary data that is after
 * little more than `most` rows. */
#include "linalg/rows.h"

kdr_status kdri_rows_distinct(kdr_context *ctx, const kdr_mat *x, const double *weights, int64_t most,
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
		kdri_entries r = kdri_row_entries(x, i);
		uint64_t at = kdri_entries_hash(&r) & (uint64_t)(size - 1);
		for (;; at = (at + 1) & (uint64_t)(size - 1)) {
			if (!slots[at]) {
				slots[at] = i + 1;
				found++;
				break;
			}
			kdri_entries other = kdri_row_entries(x, slots[at] - 1);
			if (kdri_entries_equal(&r, &other))
				break;
		}
	}
	*out = found;
done:
	kdri_free(ctx, slots);
	return st;
}
