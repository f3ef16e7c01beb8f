/* Matrices, dense or sparse. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything here is one pass over the stored entries. Sums over rows are divided into at most KDRI_CHUNKS chunks of
 * rows. Their number depends only on the rows, never on the number of threads. */
#include <float.h>

#include "comm/comm.h"
#include "matrix/sparse.h"

/* Below this many entries a pass costs less than waking the threads. */
enum { SERIAL_ENTRIES = 1 << 14 };

static int64_t entries(const kdr_mat *x)
{
	return x->kind == KDR_MAT_DENSE ? x->as.dense.rows * x->as.dense.cols
	                                : x->as.csr.rowptr[x->as.csr.rows] - x->as.csr.rowptr[0];
}

/* Whether a provider that holds x has computed it. */
static bool done_elsewhere(kdr_context *ctx, const kdr_mat *x, bool transposed, const double *b, int64_t k,
                           int64_t ldb, double *y, int64_t ldy, kdr_status *st)
{
	for (kdri_held *h = ctx->held; h; h = h->next)
		if (h->product(ctx, h, x, transposed, b, k, ldb, y, ldy, st))
			return true;
	return false;
}

kdr_status kdri_mat_mul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                        double *y, int64_t ldy)
{
	const kdr_dense *a = &x->as.dense;
	kdr_status st;
	if (done_elsewhere(ctx, x, false, b, k, ldb, y, ldy, &st))
		return st;
	if (x->kind == KDR_MAT_DENSE)
		return kdri_gemm(ctx, false, false, a->rows, k, a->cols, 1, a->data, a->stride, b, ldb, 0, y,
		                 ldy);
	kdri_csr_mul(ctx, &x->as.csr, b, k, ldb, y, ldy);
	return KDR_OK;
}

kdr_status kdri_mat_tmul(kdr_context *ctx, const kdr_mat *x, const double *b, int64_t k, int64_t ldb,
                         double *y, int64_t ldy)
{
	const kdr_dense *a = &x->as.dense;
	kdr_status st;
	if (done_elsewhere(ctx, x, true, b, k, ldb, y, ldy, &st))
		return st;
	if (x->kind == KDR_MAT_DENSE)
		return kdri_gemm(ctx, true, false, a->cols, k, a->rows, 1, a->data, a->stride, b, ldb, 0, y,
		                 ldy);
	kdri_csr_tmul(ctx, &x->as.csr, b, k, ldb, y, ldy);
	return KDR_OK;
}

kdr_status kdri_mat_row_norms(kdr_context *ctx, const kdr_mat *x, double *out)
{
	int64_t rows = kdr_mat_rows(x), blocks = (rows + KDRI_BLOCK - 1) / KDRI_BLOCK;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t end = KDRI_MIN(rows, (b + 1) * KDRI_BLOCK);
		for (int64_t i = b * KDRI_BLOCK; i < end; i++) {
			kdri_entries row = kdri_row_entries(x, i);
			out[i] = kdri_nrm2sq(row.val, row.count);
		}
	}
	return KDR_OK;
}

/* Adds rows begin..end-1 to `sum`, row after row. */
static void add_rows(const kdr_mat *x, int64_t begin, int64_t end, double *sum)
{
	if (x->kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &x->as.dense;
		for (int64_t i = begin; i < end; i++)
			kdri_axpy(1, a->data + i * a->stride, sum, a->cols);
	} else {
		const kdr_csr *a = &x->as.csr;
		for (int64_t p = a->rowptr[begin]; p < a->rowptr[end]; p++)
			sum[a->col[p]] += a->val[p];
	}
}

kdr_status kdri_mat_col_sums(kdr_context *ctx, const kdr_mat *x, double *out)
{
	kdr_status st;
	double *part = NULL;
	int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x), chunks = kdri_chunks(rows), size;
	KDRI_TRY(kdri_mul(ctx, KDRI_MAX(chunks - 1, 0), cols, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &part, size));
	memset(out, 0, (size_t)cols * sizeof *out);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t c = 0; c < chunks; c++)
		add_rows(x, kdri_chunk_begin(rows, chunks, c), kdri_chunk_begin(rows, chunks, c + 1),
		         c == 0 ? out : part + (c - 1) * cols);
	for (int64_t c = 1; c < chunks; c++)
		kdri_axpy(1, part + (c - 1) * cols, out, cols);
done:
	kdri_free(ctx, part);
	return st;
}

kdr_status kdri_mat_col_means(kdr_context *ctx, const kdr_mat *x, double *out)
{
	int64_t all;
	KDRI_DO(kdri_part(ctx, kdr_mat_rows(x), NULL, &all));
	KDRI_DO(kdri_mat_col_sums(ctx, x, out));
	KDRI_DO(kdri_sum(ctx, out, kdr_mat_cols(x)));
	for (int64_t j = 0; j < kdr_mat_cols(x); j++)
		out[j] /= (double)all;
	return KDR_OK;
}

KDRI_KERNEL
static bool all_finite(const double *v, int64_t n)
{
	int bad = 0;
#pragma omp simd reduction(| : bad)
	for (int64_t i = 0; i < n; i++)
		bad |= !(fabs(v[i]) <= DBL_MAX);
	return !bad;
}

kdr_status kdri_mat_check_values(kdr_context *ctx, const kdr_mat *x, const char *what, bool missing)
{
	int64_t rows = kdr_mat_rows(x), blocks = (rows + KDRI_BLOCK - 1) / KDRI_BLOCK, bad = blocks;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) \
        reduction(min \
                  : bad) if (entries(x) > SERIAL_ENTRIES)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t end = KDRI_MIN(rows, (b + 1) * KDRI_BLOCK);
		for (int64_t i = b * KDRI_BLOCK; i < end && b < bad; i++) {
			kdri_entries row = kdri_row_entries(x, i);
			if (!all_finite(row.val, row.count))
				bad = b;
		}
	}
	for (int64_t i = bad * KDRI_BLOCK; i < rows; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++)
			if (!isfinite(row.val[p]) && !(missing && isnan(row.val[p])))
				return kdri_fail(ctx, KDR_ERR_DATA,
				                 "data set %s: row %lld, column %lld is %s", what,
				                 (long long)i + 1, (long long)kdri_entry_column(&row, p) + 1,
				                 isnan(row.val[p]) ? "nan"
				                 : row.val[p] > 0  ? "inf"
				                                   : "-inf");
	}
	return KDR_OK;
}

kdr_status kdri_mat_check_finite(kdr_context *ctx, const kdr_mat *x, const char *what)
{
	return kdri_mat_check_values(ctx, x, what, false);
}

void kdri_mat_col_counts(kdr_context *ctx, const kdr_mat *x, int64_t *counts)
{
	enum { MOST = 1024 }; /* columns of which every thread has counts on its stack */
	const int64_t rows = kdr_mat_rows(x), cols = kdr_mat_cols(x);
	(void)ctx; /* without OpenMP */
	memset(counts, 0, (size_t)cols * sizeof *counts);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) \
        reduction(+ : counts[ : cols]) if (cols <= MOST && entries(x) > SERIAL_ENTRIES)
	for (int64_t i = 0; i < rows; i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++)
			counts[kdri_entry_column(&row, p)] += fabs(row.val[p]) > 0;
	}
}
