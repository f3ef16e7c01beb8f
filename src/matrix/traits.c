/* Properties of the entries of a matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks of rows are inspected in parallel and merged. Every field is a count, an extreme or a flag, so that the order does not
 * matter and the result is the same for any number of threads and ranks. */
#include "matrix/traits.h"

#include "comm/comm.h"
#include "matrix/linalg.h"

#include <float.h>

/* What one row adds. Sums of rows are compared with each other and with 1000 only, so that their order of addition may vary. */
KDRI_KERNEL
static kdri_traits traits_of_row(const double *v, int64_t count)
{
	static const double whole = 0x1p52; /* numbers above it have no fraction */
	double sum = 0, largest = 0, magnitude = 0;
	int64_t nonzero = 0;
	int infinite = 0, negative = 0, fractional = 0;
#pragma omp simd reduction(+ : sum, nonzero) reduction(max : largest, magnitude) \
        reduction(| : infinite, negative, fractional)
	for (int64_t p = 0; p < count; p++) {
		const double a = fabs(v[p]);
		infinite |= !(a <= DBL_MAX);
		negative |= v[p] < 0;
		fractional |= a < whole && (a + whole) - whole != a;
		nonzero += a != 0;
		sum += v[p];
		largest = largest < v[p] ? v[p] : largest;
		magnitude = magnitude < a ? a : magnitude;
	}
	return (kdri_traits){ .nonzero = (double)nonzero,
		              .infinite = infinite,
		              .negative = negative,
		              .fractional = fractional,
		              .rows = 1,
		              .magnitude = magnitude,
		              .largest = largest,
		              .at_largest = 1,
		              .thousand = sum >= 1000,
		              .least_sum = sum,
		              .most_sum = sum };
}

static void traits_merge(kdri_traits *t, const kdri_traits *other)
{
	const double largest = KDRI_MAX(t->largest, other->largest);
	t->at_largest = (t->largest == largest ? t->at_largest : 0) +
	                (other->largest == largest ? other->at_largest : 0);
	t->largest = largest;
	t->magnitude = KDRI_MAX(t->magnitude, other->magnitude);
	t->infinite |= other->infinite;
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
	double sums[] = { t->cells, t->nonzero };
	double ends[] = { t->largest, t->rows ? -t->least_sum : -INFINITY, t->rows ? t->most_sum : -INFINITY,
		          t->magnitude };
	if (!kdri_together(ctx))
		return KDR_OK;
	KDRI_DO(kdri_sum(ctx, sums, 2));
	KDRI_DO(kdri_max(ctx, ends, 4));
	int64_t counts[] = { t->rows, t->thousand, t->largest == ends[0] ? t->at_largest : 0 };
	int64_t any[] = { t->negative, t->fractional, t->cols, t->infinite };
	KDRI_DO(kdri_sum_int(ctx, counts, 3));
	KDRI_DO(kdri_max_int(ctx, any, 4));
	*t = (kdri_traits){ .cols = any[2],
		            .cells = sums[0],
		            .nonzero = sums[1],
		            .infinite = any[3],
		            .negative = any[0],
		            .fractional = any[1],
		            .rows = counts[0],
		            .magnitude = ends[3],
		            .largest = ends[0],
		            .at_largest = counts[2],
		            .thousand = counts[1],
		            .least_sum = counts[0] ? -ends[1] : 0,
		            .most_sum = counts[0] ? ends[2] : 0 };
	return KDR_OK;
}

static bool same_entries(const kdr_mat *a, const kdr_mat *b)
{
	if (a->kind != b->kind || kdr_mat_rows(a) != kdr_mat_rows(b) || kdr_mat_cols(a) != kdr_mat_cols(b))
		return false;
	return a->kind == KDR_MAT_DENSE
	               ? a->as.dense.data == b->as.dense.data && a->as.dense.stride == b->as.dense.stride
	               : a->as.csr.val == b->as.csr.val && a->as.csr.rowptr == b->as.csr.rowptr;
}

kdri_traits kdri_traits_here(kdr_context *ctx, const kdr_mat *x)
{
	const int64_t n = kdr_mat_rows(x), blocks = (n + KDRI_BLOCK - 1) / KDRI_BLOCK;
	kdri_traits found = { .cols = kdr_mat_cols(x), .cells = (double)n * (double)kdr_mat_cols(x) };
	for (const kdri_inspected *s = ctx->inspected; s && n > 0; s = s->before)
		for (int64_t t = 0; t < s->count; t++)
			if (same_entries(x, &s->x[t]))
				return s->traits[t];
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > KDRI_BLOCK)
	for (int64_t b = 0; b < blocks; b++) {
		kdri_traits own = { 0 };
		for (int64_t i = b * KDRI_BLOCK; i < KDRI_MIN(n, (b + 1) * KDRI_BLOCK); i++) {
			const kdri_entries row = kdri_row_entries(x, i);
			const kdri_traits one = traits_of_row(row.val, row.count);
			if (one.nonzero > 0)
				traits_merge(&own, &one);
		}
#pragma omp critical(kdri_traits)
		traits_merge(&found, &own);
	}
	return found;
}

kdr_status kdri_traits_add(kdr_context *ctx, const kdr_mat *x, kdri_traits *t)
{
	kdri_traits found = kdri_traits_here(ctx, x);
	kdr_status st = traits_join_ranks(ctx, &found);
	if (st == KDR_OK)
		traits_merge(t, &found);
	return st;
}

kdr_status kdri_inspect(kdr_context *ctx, const kdr_problem *problem, kdri_inspected *seen)
{
	KDRI_DO(KDRI_NEW(ctx, &seen->x, problem->ntasks));
	KDRI_DO(KDRI_NEW(ctx, &seen->traits, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		seen->x[t] = problem->tasks[t].x;
		seen->traits[t] = kdri_traits_here(ctx, &seen->x[t]);
	}
	seen->count = problem->ntasks;
	seen->before = ctx->inspected;
	ctx->inspected = seen;
	return KDR_OK;
}

void kdri_inspect_end(kdr_context *ctx, kdri_inspected *seen)
{
	if (ctx->inspected == seen)
		ctx->inspected = seen->before;
	KDRI_FREE(ctx, seen->x, seen->traits);
	*seen = (kdri_inspected){ 0 };
}
