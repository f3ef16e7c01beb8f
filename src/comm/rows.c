/* Sums over the rows of all ranks that do not depend on the cut. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E101) to (E103) are in exact.h. The largest term has to be known before: one more pass over numbers that lie in memory. */
#include "comm/rows.h"

kdr_status kdri_rows_sum(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t all,
                         double *out)
{
	kdr_status st;
	double largest = 0;
	kdri_exact sum = { 0, 0 };
	bool bad = false;
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(weights ? weights[i] * v[i] : v[i]);
		largest = x > largest ? x : largest;
		bad |= !(x <= 1.7976931348623157e308);
	}
	if (bad)
		largest = INFINITY;
	KDRI_TRY(kdri_max(ctx, &largest, 1));
	if (!isfinite(largest) || !isfinite(largest * (double)all * 4)) {
		*out = INFINITY;
		goto done;
	}
	double big = kdri_exact_big(largest, all), small = big * kdri_exact_ratio(all); /* (E102) */
	for (int64_t i = 0; i < n; i++)
		kdri_exact_add(&sum, big, small, weights ? weights[i] * v[i] : v[i]);
	KDRI_TRY(kdri_sum(ctx, &sum.high, 2));
	*out = sum.high + sum.low; /* (E103) */
done:
	return st;
}
