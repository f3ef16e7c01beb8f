/* Matrices as operators. SPDX-License-Identifier: BSD-3-Clause
 *
 * The centred operator never forms X - 1 m' (m the column means), which would be dense:
 *
 *   (E1)  (X - 1 m') B  = X B  - 1 (m' B)
 *   (E2)  (X - 1 m')' B = X' B - m (1' B) */
#include "matrix/linalg.h"

static kdr_status mat_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                            double *y, int64_t ldy)
{
	return kdri_mat_mul(ctx, op->data, x, k, ldx, y, ldy);
}

static kdr_status mat_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                              double *y, int64_t ldy)
{
	return kdri_mat_tmul(ctx, op->data, x, k, ldx, y, ldy);
}

kdri_op kdri_op_mat(const kdr_mat *x)
{
	return (kdri_op){ kdr_mat_rows(x), kdr_mat_cols(x), mat_apply, mat_apply_t, x };
}

static kdr_status centred_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_centred *c = op->data;
	double *shift = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &shift, k));
	KDRI_TRY(kdri_mat_mul(ctx, c->x, x, k, ldx, y, ldy));
	for (int64_t j = 0; j < op->cols; j++) /* (E1) */
		kdri_axpy(c->mean[j], x + j * ldx, shift, k);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (op->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < op->rows; i++)
		kdri_axpy(-1, shift, y + i * ldy, k);
done:
	kdri_free(ctx, shift);
	return st;
}

static kdr_status centred_apply_t(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                  int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_centred *c = op->data;
	double *total = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &total, k));
	KDRI_TRY(kdri_mat_tmul(ctx, c->x, x, k, ldx, y, ldy));
	const kdr_mat rows = { .kind = KDR_MAT_DENSE, .as.dense = { x, op->rows, k, ldx } };
	KDRI_TRY(kdri_mat_col_sums(ctx, &rows, total)); /* (E2) */
	for (int64_t j = 0; j < op->cols; j++)
		kdri_axpy(-c->mean[j], total, y + j * ldy, k);
done:
	kdri_free(ctx, total);
	return st;
}

kdri_op kdri_op_centred(const kdri_centred *c)
{
	return (kdri_op){ kdr_mat_rows(c->x), kdr_mat_cols(c->x), centred_apply, centred_apply_t, c };
}
