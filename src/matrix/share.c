/* Copies some rows of all ranks to every rank. SPDX-License-Identifier: BSD-3-Clause
 *
 * A row is on one rank and the others add zeros, so the sum is exact. Sparse rows stay sparse: their lengths are
 * exchanged first, then their entries. */
#include "comm/comm.h"
#include "matrix/linalg.h"

static kdr_status share_dense(kdr_context *ctx, const kdr_dense *x, const int64_t *here, int64_t n,
                              kdri_own *out)
{
	kdr_status st;
	double *to = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, n, x->cols, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &to, size));
	for (int64_t i = 0; i < n; i++)
		if (here[i] >= 0)
			memcpy(to + i * x->cols, x->data + here[i] * x->stride, (size_t)x->cols * sizeof *to);
	KDRI_TRY(kdri_sum(ctx, to, size));
	*out = (kdri_own){ kdr_mat_from_dense(to, n, x->cols), { to } };
	to = NULL;
done:
	kdri_free(ctx, to);
	return st;
}

static kdr_status share_sparse(kdr_context *ctx, const kdr_csr *x, const int64_t *here, int64_t n,
                               kdri_own *out)
{
	kdr_status st;
	int64_t *rowptr = NULL, *wide = NULL;
	int32_t *col = NULL;
	double *val = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &rowptr, n + 1));
	for (int64_t i = 0; i < n; i++)
		if (here[i] >= 0)
			rowptr[i + 1] = x->rowptr[here[i] + 1] - x->rowptr[here[i]];
	KDRI_TRY(kdri_sum_int(ctx, rowptr, n + 1));
	for (int64_t i = 0; i < n; i++)
		rowptr[i + 1] += rowptr[i];
	KDRI_TRY(KDRI_NEW(ctx, &col, rowptr[n]));
	KDRI_TRY(KDRI_NEW0(ctx, &wide, rowptr[n]));
	KDRI_TRY(KDRI_NEW0(ctx, &val, rowptr[n]));
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = rowptr[i]; here[i] >= 0 && p < rowptr[i + 1]; p++) {
			int64_t from = x->rowptr[here[i]] + p - rowptr[i];
			wide[p] = x->col[from];
			val[p] = x->val[from];
		}
	KDRI_TRY(kdri_sum_int(ctx, wide, rowptr[n]));
	KDRI_TRY(kdri_sum(ctx, val, rowptr[n]));
	for (int64_t p = 0; p < rowptr[n]; p++)
		col[p] = (int32_t)wide[p];
	*out = kdri_own_csr(n, x->cols, &rowptr, &col, &val);
done:
	KDRI_FREE(ctx, rowptr, wide, col, val);
	return st;
}

kdr_status kdri_mat_share(kdr_context *ctx, const kdr_mat *x, const int64_t *here, int64_t n, kdri_own *out)
{
	return x->kind == KDR_MAT_DENSE ? share_dense(ctx, &x->as.dense, here, n, out)
	                                : share_sparse(ctx, &x->as.csr, here, n, out);
}

kdr_status kdri_mat_take_all(kdr_context *ctx, const kdr_mat *x, const int64_t *rows, int64_t n,
                             kdri_own *out)
{
	kdr_status st;
	int64_t *here = NULL, start, all, own = kdr_mat_rows(x);
	if (!kdri_together(ctx))
		return kdri_mat_take(ctx, x, rows, n, out);
	KDRI_TRY(KDRI_NEW(ctx, &here, n));
	KDRI_TRY(kdri_part(ctx, own, &start, &all));
	for (int64_t i = 0; i < n; i++)
		here[i] = rows[i] >= start && rows[i] < start + own ? rows[i] - start : -1;
	KDRI_TRY(kdri_mat_share(ctx, x, here, n, out));
done:
	kdri_free(ctx, here);
	return st;
}
