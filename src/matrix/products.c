/* Inner products of pairs of rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * Products are those of the rows of X with the rows of Y, which may be X itself; below, Y = X.
 *
 * Dense rows: tiles of X X' by BLAS (matrix/tiles.c), 2 n^2 d flops.
 *
 * Sparse rows: the features' lists of rows (X', made once). Row i adds x_it x_jt to the sum of j for each
 * of its features t and each row j in the list of t,
 *
 *   (E1)  <x_i, x_j> = sum over t in i of x_it x_jt,
 *
 * one multiplication for each pair of rows and feature they share: sum_t df_t^2 in all, df_t the
 * length of list t. Text has about 10 n^2 of them, where dense products would need n^2 d. Lists are read in order,
 * and the n sums of a row stay in the second-level cache up to about 100,000 rows. Each sum runs over t in increasing
 * order, for any number of threads. */
#include "matrix/products.h"

kdr_status kdri_products_new(kdr_context *ctx, const kdr_mat *x, kdri_products *out)
{
	return kdri_products_between(ctx, x, x, out);
}

kdr_status kdri_products_between(kdr_context *ctx, const kdr_mat *x, const kdr_mat *y, kdri_products *out)
{
	kdr_status st = KDR_OK;
	kdri_products p = { .x = *x, .y = *y };
	if (x->kind == KDR_MAT_CSR) {
		int64_t size;
		KDRI_TRY(kdri_mat_transpose(ctx, y, &p.columns));
		KDRI_TRY(kdri_mul(ctx, kdr_mat_rows(y), ctx->threads, &size));
		KDRI_TRY(KDRI_NEW(ctx, &p.sums, size));
	}
	*out = p;
	p = (kdri_products){ 0 };
done:
	kdri_products_free(ctx, &p);
	return st;
}

void kdri_products_free(kdr_context *ctx, kdri_products *p)
{
	if (!p)
		return;
	kdri_own_free(ctx, &p->columns);
	kdri_free(ctx, p->sums);
	*p = (kdri_products){ 0 };
}

/* sums[j] = <x_i, y_j> for all j (E1). */
static void sparse_row(const kdr_csr *x, const kdr_csr *lists, int64_t i, double *sums)
{
	memset(sums, 0, (size_t)lists->cols * sizeof *sums);
	for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++) {
		const double v = x->val[p];
		const int32_t t = x->col[p], *row = lists->col;
		for (int64_t q = lists->rowptr[t]; q < lists->rowptr[t + 1]; q++)
			sums[row[q]] += v * lists->val[q];
	}
}

typedef struct shifted {
	kdri_tile_fn *use;
	void *user;
	int64_t begin;
} shifted;

static void use_shifted(void *user, int64_t row, int64_t col, int64_t cols, const double *piece)
{
	const shifted *s = user;
	s->use(s->user, row + s->begin, col, cols, piece);
}

kdr_status kdri_products_rows(kdr_context *ctx, const kdri_products *p, int64_t begin, int64_t end,
                              kdri_tile_fn *use, void *user)
{
	if (p->x.kind == KDR_MAT_DENSE) {
		const kdr_dense *a = &p->x.as.dense, *b = &p->y.as.dense;
		shifted s = { use, user, begin };
		return kdri_gemm_tiles(ctx, end - begin, b->rows, a->cols, a->data + begin * a->stride,
		                       a->stride, b->data, b->stride, use_shifted, &s);
	}
	const kdr_csr *x = &p->x.as.csr, *lists = &p->columns.view.as.csr;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 8)
	for (int64_t i = begin; i < end; i++) {
		int64_t thread = kdri_thread();
		double *sums = p->sums + thread * lists->cols;
		sparse_row(x, lists, i, sums);
		use(user, i, 0, lists->cols, sums);
	}
	return KDR_OK;
}
