/* Sums over the rows of all ranks that do not depend on their distribution. SPDX-License-Identifier: BSD-3-Clause
 *
 * (E101) to (E103) are in exact.h. The largest term has to be known before: one more pass over numbers that lie in
 * memory. */
#include "comm/rows.h"

/* The largest |w_i v_i|, or infinity where one is no number. */
static double rows_largest_of(const double *weights, const double *v, int64_t n, int64_t step)
{
	double largest = 0;
	bool bad = false;
	for (int64_t i = 0; i < n; i++) {
		double x = fabs(weights ? weights[i] * v[i * step] : v[i * step]);
		largest = x > largest ? x : largest;
		bad |= !(x <= 1.7976931348623157e308);
	}
	return bad ? INFINITY : largest;
}

kdr_status kdri_rows_sums(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t count,
                          int64_t step, int64_t all, double *out)
{
	double largest[KDRI_ROWS_SUMS];
	kdri_exact sum[KDRI_ROWS_SUMS] = { { 0, 0 } };
	for (int64_t c = 0; c < count; c++)
		largest[c] = rows_largest_of(weights, v + c, n, step);
	KDRI_DO(kdri_max(ctx, largest, count));
	for (int64_t c = 0; c < count; c++) {
		bool finite = isfinite(largest[c]) && isfinite(largest[c] * (double)all * 4);
		out[c] = finite ? 0 : INFINITY;
		if (!finite)
			continue;
		double big = kdri_exact_big(largest[c], all),
		       small = big * kdri_exact_ratio(all); /* (E102) */
		for (int64_t i = 0; i < n; i++)
			kdri_exact_add(&sum[c], big, small,
			               weights ? weights[i] * v[i * step + c] : v[i * step + c]);
	}
	KDRI_DO(kdri_sum(ctx, &sum[0].high, 2 * count));
	for (int64_t c = 0; c < count; c++)
		out[c] += sum[c].high + sum[c].low; /* (E103) */
	return KDR_OK;
}

kdr_status kdri_rows_sum(kdr_context *ctx, const double *weights, const double *v, int64_t n, int64_t all,
                         double *out)
{
	return kdri_rows_sums(ctx, weights, v, n, 1, 1, all, out);
}
