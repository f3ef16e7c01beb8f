/* Cosines of samples that have no negative entry, as a product that is never formed. SPDX-License-Identifier:
 * BSD-3-Clause
 *
 * Words, molecules and pixels are counted: no sample has a negative entry, and no cosine of two samples is negative.
 * Then max(cos, 0) changes nothing, and with U the samples scaled to unit length (n x d, rows of zeros are unchanged)
 *
 *   (E1)  M = U U',   M Y = U (U' Y)
 *   (E2)  |M|^2 = |U' U|^2 if U is dense and d x d is smaller; sparse: sum over i of |U u_i|^2, one row of M at a
 *         time
 *   (E3)  U U' = F F' + diag(own), F the columns with two entries or more, own_i the sum of squares of row i of the others
 *
 * (E1) takes 4 e k flops for e entries instead of 2 n^2 k: a twenty-fifth of them for five thousand texts of a hundred
 * words each, and the n x n matrix is never formed. (E2) is computed once. The results are those of M up to rounding.
 *
 * Most words of a complete vocabulary occur in one text or none (E3).
 *
 * U   u, F if columns are dropped      U'  turned      U' Y  room      |M|^2  square */
#include "methods/mtcfir/cosines.h"

#include "engine/graph/views.h"

/* Time of an entry relative to that in a product of dense matrices. */
static const double sparse_times = 2, dense_times = 1.5;

bool kdri_cosines_pay(const kdr_mat *x)
{
	const double n = (double)kdr_mat_rows(x), entries = (double)kdr_mat_nnz(x);
	return 2 * entries * (x->kind == KDR_MAT_DENSE ? dense_times : sparse_times) < n * n &&
	       kdri_mat_nonnegative(x);
}

/* (E2) */
static kdr_status find_square(kdr_context *ctx, kdri_cosines *c)
{
	kdr_status st;
	const kdr_mat *u = &c->u.view;
	int64_t d = kdr_mat_cols(u), size;
	double *gram = NULL;
	if (u->kind == KDR_MAT_CSR)
		return kdri_sparse_gram_square(ctx, &u->as.csr, &c->turned.view.as.csr, &c->square);
	KDRI_TRY(kdri_mul(ctx, d, d, &size));
	KDRI_TRY(KDRI_NEW(ctx, &gram, size));
	KDRI_TRY(kdri_syrk(ctx, true, d, u->as.dense.rows, u->as.dense.data, u->as.dense.stride, gram, d));
	c->square = kdri_nrm2sq(gram, size);
done:
	kdri_free(ctx, gram);
	return st;
}

/* (E3), if it drops half of all columns or more. */
static kdr_status drop_rare(kdr_context *ctx, kdri_cosines *c)
{
	kdr_status st;
	kdri_own some = { .view = kdr_mat_from_dense(NULL, 0, 0) }, u = some;
	const kdr_csr *t = &c->turned.view.as.csr;
	int64_t count = 0, *list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &list, t->rows));
	for (int64_t j = 0; j < t->rows; j++)
		if (t->rowptr[j + 1] > t->rowptr[j] + 1)
			list[count++] = j;
	if (2 * count > t->rows || count == 0)
		goto done;
	KDRI_TRY(KDRI_NEW0(ctx, &c->own, t->cols));
	for (int64_t j = 0; j < t->rows; j++)
		if (t->rowptr[j + 1] == t->rowptr[j] + 1)
			c->own[t->col[t->rowptr[j]]] += t->val[t->rowptr[j]] * t->val[t->rowptr[j]];
	KDRI_TRY(kdri_mat_take(ctx, &c->turned.view, list, count, &some));
	KDRI_TRY(kdri_mat_transpose(ctx, &some.view, &u));
	kdri_own_free(ctx, &c->turned);
	kdri_own_free(ctx, &c->u);
	c->turned = some;
	c->u = u;
	some = u = (kdri_own){ .view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_own_free(ctx, &some);
	kdri_own_free(ctx, &u);
	kdri_free(ctx, list);
	return st;
}

kdr_status kdri_cosines_new(kdr_context *ctx, const kdr_mat *x, int64_t columns, kdri_cosines *out)
{
	kdr_status st;
	int64_t size;
	const kdri_own none = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_cosines c = { .u = none, .turned = none, .columns = columns };
	KDRI_TRY(kdri_unit_rows(ctx, x, &c.u));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(kdri_mat_transpose(ctx, &c.u.view, &c.turned));
	KDRI_TRY(find_square(ctx, &c));
	if (x->kind == KDR_MAT_CSR)
		KDRI_TRY(drop_rare(ctx, &c));
	KDRI_TRY(kdri_mul(ctx, kdr_mat_cols(&c.u.view), columns, &size));
	KDRI_TRY(KDRI_NEW(ctx, &c.room, size));
	*out = c;
	c = (kdri_cosines){ .u = none, .turned = none };
done:
	kdri_cosines_free(ctx, &c);
	return st;
}

void kdri_cosines_free(kdr_context *ctx, kdri_cosines *c)
{
	kdri_own_free(ctx, &c->u);
	kdri_own_free(ctx, &c->turned);
	KDRI_FREE(ctx, c->room, c->own);
	c->room = c->own = NULL;
}

/* (E1) */
static kdr_status cosines_multiply(kdr_context *ctx, const void *data, kdri_block y, kdri_block n)
{
	const kdri_cosines *c = data;
	const bool sparse = c->u.view.kind == KDR_MAT_CSR;
	for (int64_t j = 0; j < y.cols; j += c->columns) {
		int64_t wide = KDRI_MIN(c->columns, y.cols - j);
		const double *from = (const double *)y.data + j;
		if (sparse)
			KDRI_DO(kdri_mat_mul(ctx, &c->turned.view, from, wide, y.stride, c->room, wide));
		else
			KDRI_DO(kdri_mat_tmul(ctx, &c->u.view, from, wide, y.stride, c->room, wide));
		KDRI_DO(kdri_mat_mul(ctx, &c->u.view, c->room, wide, wide, (double *)n.data + j, n.stride));
	}
	for (int64_t i = 0; c->own && i < y.rows; i++)
		kdri_axpy(c->own[i], (const double *)y.data + i * y.stride, (double *)n.data + i * n.stride,
		          y.cols);
	return KDR_OK;
}

kdri_snmf_matrix kdri_snmf_cosines(const kdri_cosines *c)
{
	return (kdri_snmf_matrix){ .dev = &kdri_cpu,
		                   .rows = kdr_mat_rows(&c->u.view),
		                   .square = c->square,
		                   .multiply = cosines_multiply,
		                   .data = c };
}
