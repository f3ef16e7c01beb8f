/* Properties of the entries of a matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of rows are inspected in parallel and merged. Every field is a count, an extreme or a flag, so that the order does not
 * matter and the result is the same for any number of threads and ranks. */
#include "matrix/traits.h"

#include "comm/comm.h"
#include "matrix/linalg.h"
#include "matrix/rows.h"

static void traits_take_row(kdri_traits *t, const kdri_entries *row)
{
	double sum = 0, largest = 0;
	int64_t nonzero = 0;
	bool negative = false, fractional = false;
	for (int64_t p = 0; p < row->count; p++) {
		const double v = row->val[p];
		nonzero += v != 0;
		negative |= v < 0;
		fractional |= v != floor(v);
		sum += v;
		largest = KDRI_MAX(largest, v);
	}
	if (nonzero == 0)
		return;
	t->nonzero += (double)nonzero;
	t->negative |= negative;
	t->fractional |= fractional;
	t->at_largest = largest > t->largest ? 1 : t->at_largest + (largest == t->largest);
	t->largest = KDRI_MAX(t->largest, largest);
	t->thousand += sum >= 1000;
	t->least_sum = t->rows ? KDRI_MIN(t->least_sum, sum) : sum;
	t->most_sum = t->rows ? KDRI_MAX(t->most_sum, sum) : sum;
	t->rows++;
}

static void traits_merge(kdri_traits *t, const kdri_traits *other)
{
	const double largest = KDRI_MAX(t->largest, other->largest);
	t->at_largest = (t->largest == largest ? t->at_largest : 0) +
	                (other->largest == largest ? other->at_largest : 0);
	t->largest = largest;
	if (other->rows) {
		t->least_sum = t->rows ? KDRI_MIN(t->least_sum, other->least_sum) : other->least_sum;
		t->most_sum = t->rows ? KDRI_MAX(t->most_sum, other->most_sum) : other->most_sum;
	}
	t->cols = KDRI_MAX(t->cols, other->cols);
	t->cells += other->cells;
	t->nonzero += other->nonzero;
	t->negative |= other->negative;
	t->fractional |= other->fractional;
	t->rows += other->rows;
	t->thousand += other->thousand;
}

static kdr_status traits_join_ranks(kdr_context *ctx, kdri_traits *t)
{
	kdr_status st = KDR_OK;
	double sums[] = { t->cells, t->nonzero }, ends[] = { t->largest, t->rows ? -t->least_sum : -INFINITY,
		                                             t->rows ? t->most_sum : -INFINITY };
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_TRY(kdri_sum(ctx, sums, 2));
	KDRI_TRY(kdri_max(ctx, ends, 3));
	int64_t counts[] = { t->rows, t->thousand, t->largest == ends[0] ? t->at_largest : 0 };
	int64_t any[] = { t->negative, t->fractional, t->cols };
	KDRI_TRY(kdri_sum_int(ctx, counts, 3));
	KDRI_TRY(kdri_max_int(ctx, any, 3));
	*t = (kdri_traits){ .cols = any[2],
		            .cells = sums[0],
		            .nonzero = sums[1],
		            .negative = any[0],
		            .fractional = any[1],
		            .rows = counts[0],
		            .largest = ends[0],
		            .at_largest = counts[2],
		            .thousand = counts[1],
		            .least_sum = counts[0] ? -ends[1] : 0,
		            .most_sum = counts[0] ? ends[2] : 0 };
done:
	return st;
}

kdr_status kdri_traits_add(kdr_context *ctx, const kdr_mat *x, kdri_traits *t)
{
	const int64_t n = kdr_mat_rows(x), blocks = (n + KDRI_BLOCK - 1) / KDRI_BLOCK;
	kdri_traits found = { .cols = kdr_mat_cols(x), .cells = (double)n * (double)kdr_mat_cols(x) };
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) if (n > KDRI_BLOCK)
	for (int64_t b = 0; b < blocks; b++) {
		kdri_traits own = { 0 };
		for (int64_t i = b * KDRI_BLOCK; i < KDRI_MIN(n, (b + 1) * KDRI_BLOCK); i++) {
			const kdri_entries row = kdri_row_entries(x, i);
			traits_take_row(&own, &row);
		}
#pragma omp critical(kdri_traits)
		traits_merge(&found, &own);
	}
	kdr_status st = traits_join_ranks(ctx, &found);
	if (st == KDR_OK)
		traits_merge(t, &found);
	return st;
}
