/* Products with a matrix and with its transpose in one pass over the rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * Two separate products read a tall matrix twice from memory, and BLAS copies it into its own layout each time, which
 * costs as much as the arithmetic if the blocks have few columns. If x is dense and the blocks fit into the second-level
 * cache, rows are therefore taken in groups that fit into the first-level cache and are multiplied both ways
 * (pass_rows.h). 100,000 x 50 with k = 8: 5 ms instead of 20 ms on one core.
 *
 * Rows are divided into at most KDRI_PASS_CHUNKS chunks, whose sums are added in order: the result does not depend on the
 * number of threads. */
#include "matrix/range.h"

#include "matrix/linalg.h"

enum {
	MOST_NUMBERS = 1 << 14, /* in a block */
	GROUP_NUMBERS = 3072,   /* in a group of rows */
	LEAST_ROWS = 16,
	MOST_ROWS = 64,
	PAD = 8, /* columns of a block are padded to a multiple of this, the widest register */
	SERIAL_WORK = 1 << 14
};

#define KDRI_BODY "matrix/pass_rows.h"
#include "matrix/each_machine.h"

static int64_t padded(int64_t k)
{
	return KDRI_MAX(1, (k + PAD - 1) / PAD) * PAD;
}

/* Rows of a group: a multiple of 8. */
static int64_t group_rows(int64_t d)
{
	return KDRI_MIN(MOST_ROWS, KDRI_MAX(LEAST_ROWS, GROUP_NUMBERS / d / 8 * 8));
}

kdr_status kdri_pass_open(kdr_context *ctx, const kdr_mat *x, double bias, int64_t k, kdri_pass *t)
{
	const int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x) + 1, wide = padded(k);
	int64_t size;
	*t = (kdri_pass){ .bias = bias,
		          .d = d,
		          .k = k,
		          .fused = x->kind == KDR_MAT_DENSE && !ctx->held && d <= MOST_NUMBERS / wide };
	if (t->fused) {
		KDRI_DO(KDRI_NEW(ctx, &t->p, d * wide));
		KDRI_DO(KDRI_NEW(ctx, &t->sums, KDRI_PASS_CHUNKS * d * wide));
		KDRI_DO(KDRI_NEW(ctx, &t->z, KDRI_PASS_CHUNKS * (group_rows(d) + 1) * wide));
	} else {
		KDRI_DO(kdri_mul(ctx, n, k, &size));
		KDRI_DO(KDRI_NEW(ctx, &t->sums, KDRI_PASS_CHUNKS * k));
		KDRI_DO(KDRI_NEW(ctx, &t->z, size));
	}
	return KDR_OK;
}

void kdri_pass_close(kdr_context *ctx, kdri_pass *t)
{
	KDRI_FREE(ctx, t->p, t->sums, t->z);
}

/* The pass over rows begin .. end - 1; y (d x wide) is added to. */
static void pass_chunk(const kdri_pass *t, const kdr_dense *x, const int64_t *rows, int64_t chunk,
                       int64_t begin, int64_t end, int64_t k, const double *p, kdri_pass_fn *change,
                       void *user, double *y)
{
	const int64_t cols = t->d - 1, wide = padded(k), most = group_rows(t->d);
	double *z = t->z + chunk * (most + 1) * padded(t->k);
	const double *row[MOST_ROWS];
	for (int64_t i = begin; i < end; i += most) {
		const int64_t count = KDRI_MIN(most, end - i);
		for (int64_t r = 0; r < count; r++)
			row[r] = x->data + (rows ? rows[i + r] : i + r) * x->stride;
		if (p)
			KDRI_PICK(forward)(row, count, cols, p, wide, t->bias, k, z);
		else
			memset(z, 0, (size_t)(count * k) * sizeof *z);
		change(user, chunk, i, i + count, z);
		KDRI_PICK(backward)(row, count, cols, z, k, y, wide);
	}
}

static kdr_status pass_fused(kdr_context *ctx, kdri_pass *t, const kdr_mat *x, const int64_t *rows, int64_t n,
                             int64_t k, const double *p, kdri_pass_fn *change, void *user, double *y)
{
	const int64_t d = t->d, wide = padded(k), chunks = kdri_pass_chunks(n);
	memset(t->p, 0, (size_t)(d * wide) * sizeof *t->p);
	for (int64_t q = 0; p && q < d; q++)
		memcpy(t->p + q * wide, p + q * k, (size_t)k * sizeof *p);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n * d > SERIAL_WORK)
	for (int64_t c = 0; c < chunks; c++) {
		double *sum = t->sums + c * d * wide;
		if (kdri_leave_off(ctx, "product", c, chunks) && ctx->abandon)
			continue;
		memset(sum, 0, (size_t)(d * wide) * sizeof *sum);
		pass_chunk(t, &x->as.dense, rows, c, kdri_chunk_begin(n, chunks, c),
		           kdri_chunk_begin(n, chunks, c + 1), k, p ? t->p : NULL, change, user, sum);
	}
	KDRI_DO(kdri_abandoned(ctx));
	for (int64_t q = 0; q < d; q++)
		for (int64_t j = 0; j < k; j++) {
			double sum = 0;
			for (int64_t c = 0; c < chunks; c++)
				sum += t->sums[(c * d + q) * wide + j];
			y[q * k + j] = q == d - 1 ? t->bias * sum : sum;
		}
	return KDR_OK;
}

kdr_status kdri_pass_run(kdr_context *ctx, kdri_pass *t, const kdr_mat *x, const int64_t *rows, int64_t n,
                         int64_t k, const double *p, kdri_pass_fn *change, void *user, double *y)
{
	const int64_t chunks = kdri_pass_chunks(n);
	if (t->fused)
		return pass_fused(ctx, t, x, rows, n, k, p, change, user, y);
	if (p)
		KDRI_DO(kdri_mat_mul(ctx, x, p, k, k, t->z, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * k > 1 << 12)
	for (int64_t c = 0; c < chunks; c++) {
		const int64_t begin = kdri_chunk_begin(n, chunks, c),
		              end = kdri_chunk_begin(n, chunks, c + 1);
		const double *last = p ? p + (t->d - 1) * k : NULL;
		for (int64_t i = begin; i < end; i++)
			for (int64_t j = 0; j < k; j++)
				t->z[i * k + j] = p ? t->z[i * k + j] + t->bias * last[j] : 0;
		change(user, c, begin, end, t->z + begin * k);
	}
	KDRI_DO(kdri_mat_tmul(ctx, x, t->z, k, k, y, k));
	kdri_vectors_dot(ctx, n, k, t->z, NULL, t->sums, y + (t->d - 1) * k);
	for (int64_t j = 0; j < k; j++)
		y[(t->d - 1) * k + j] *= t->bias;
	return KDR_OK;
}
