/* The Gram matrix of sparse rows. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  c_ik = sum over j in row i of x_ij w_j x_kj,   k <= i, from column j of X, a row of its transpose
 *
 * An entry of X is multiplied by the earlier entries of its column: sum_j nnz_j^2 multiply-adds, half of that by
 * symmetry, each a scattered access to one row of c, which stays in the cache. Every number is one sum in
 * increasing j.
 *
 * The sum of the squares of all c_ik does not need to store them: it is computed one row at a time, counting entries
 * left of the diagonal twice.
 *
 * Rows are skipped if it is time to stop and the caller can do without the result (`abandon` in the context). */
#include "matrix/block.h"

/* row[k] = (E1) for k <= last, of row i of y. */
static void gram_row(const kdr_csr *y, int64_t i, const kdr_csr *xt, const double *weight, int64_t last,
                     double *row)
{
	memset(row, 0, (size_t)(last + 1) * sizeof *row);
	for (int64_t p = y->rowptr[i]; p < y->rowptr[i + 1]; p++) {
		int32_t j = y->col[p];
		double v = y->val[p] * (weight ? weight[j] : 1);
		for (int64_t s = xt->rowptr[j]; s < xt->rowptr[j + 1] && xt->col[s] <= last; s++)
			row[xt->col[s]] += v * xt->val[s];
	}
}

/* Whether the remaining rows are skipped; also checks the caller's context. */
static bool gram_given_up(kdr_context *ctx, int64_t row, int64_t rows)
{
	return kdri_leave_off(ctx, "product", row, rows) && ctx->abandon;
}

/* Rows of c from those of y, each up to the diagonal (lower) or in full. */
static kdr_status products(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                           bool lower, kdri_block c)
{
	kdr_status st;
	double *room = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, c.cols, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	/* The last rows are the longest, so they are processed first. */
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (y->rows > 64)
	for (int64_t back = 0; back < y->rows; back++) {
		if (gram_given_up(ctx, back, y->rows))
			continue;
		int64_t thread = kdri_thread();
		int64_t i = y->rows - 1 - back, last = lower ? i : c.cols - 1;
		double *row = room + thread * c.cols;
		gram_row(y, i, xt, weight, last, row);
		kdri_block_write(&c, i, 0, last + 1, row);
	}
	st = kdri_abandoned(ctx);
done:
	kdri_free(ctx, room);
	return st;
}

kdr_status kdri_sparse_gram(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, const double *weight,
                            kdri_block c)
{
	return products(ctx, x, xt, weight, true, c);
}

kdr_status kdri_sparse_gram_square(kdr_context *ctx, const kdr_csr *x, const kdr_csr *xt, double *out)
{
	kdr_status st;
	double *room = NULL, *part = NULL, sum = 0;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, x->rows, ctx->threads, &size));
	KDRI_TRY(KDRI_NEW(ctx, &room, size));
	KDRI_TRY(KDRI_NEW(ctx, &part, x->rows));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic, 16) if (x->rows > 64)
	for (int64_t back = 0; back < x->rows; back++) {
		if (gram_given_up(ctx, back, x->rows))
			continue;
		int64_t i = x->rows - 1 - back;
		double *row = room + kdri_thread() * x->rows;
		gram_row(x, i, xt, NULL, i, row); /* (E1) */
		part[i] = 2 * kdri_nrm2sq(row, i) + row[i] * row[i];
	}
	KDRI_TRY(kdri_abandoned(ctx));
	for (int64_t i = 0; i < x->rows; i++)
		sum += part[i];
	*out = sum;
done:
	KDRI_FREE(ctx, room, part);
	return st;
}

kdr_status kdri_sparse_cross(kdr_context *ctx, const kdr_csr *y, const kdr_csr *xt, const double *weight,
                             kdri_block c)
{
	return products(ctx, y, xt, weight, false, c);
}
