/* A layer of mSDA through a matrix of features x features. SPDX-License-Identifier: BSD-3-Clause
 *
 * With Q, Delta and W of msda_run.c, rows of X being samples:
 *
 *   (E4)  Q = q^2 Xc'Xc + diag(Delta)         sparse: X'X - n xbar xbar'; dense: from centred blocks of rows
 *   (E5)  W' = (I - Q^-1 diag(Delta)) / q     stored in place of Q
 *   (E6)  b = xbar - q W xbar
 *   (E7)  H = tanh(X W' + 1 b')               sparse X times dense W', or blocks of rows
 *
 * n d^2 flops for (E4), d^3 for (E5), 2 n d^2 for (E7); on a sparse X only (E5) and 2 nnz d. Q and its inverse
 * are double in any precision, and W' is single only if H is its other factor. */
#include "methods/mtcfir/msda_work.h"

enum { SPARSE_ROWS = 4096 };

/* (E4), the lower triangle */
static kdr_status fill_q(kdri_msda *w, kdri_block q)
{
	kdr_status st = KDR_OK;
	int64_t d = w->d, high = w->h.high;
	if (w->sparse) {
		const kdri_sparse train = kdri_msda_train(w);
		KDRI_OP(w->ctx, w->dev, gram, &train, true, NULL, q);
	} else {
		KDRI_TRY(kdri_msda_room(w, high, d));
		for (int64_t i = 0; i < w->n; i += high) {
			int64_t rows = KDRI_MIN(high, w->n - i);
			kdri_block in, centred = kdri_block_part(w->room, 0, 0, rows, d);
			KDRI_TRY(kdri_panels_load(&w->h, i, 0, rows, d, &in));
			KDRI_OP(w->ctx, w->dev, centre, in, w->mean, 1, NULL, centred);
			KDRI_OP(w->ctx, w->dev, syrk, true, 1, centred, i > 0, q);
		}
		w->flops += (double)w->n * (double)d * (double)d;
	}
	KDRI_OP(w->ctx, w->dev, adjust, q, w->sparse ? w->mean : NULL, true, (double)w->n, w->q * w->q,
	        w->delta);
done:
	return st;
}

/* (E7) on a sparse X. A panel of columns of W' is contiguous while all rows of X are multiplied by it: spread over d
 * rows, it would be in d pages of memory. */
static kdr_status msda_features_apply_sparse(kdri_msda *w, kdri_block weights)
{
	kdr_status st;
	kdri_block panel = { 0 }, part = { 0 };
	int64_t d = w->d, wide = KDRI_MIN(kdri_msda_strip(w), d);
	int64_t block = KDRI_MIN(KDRI_MIN(w->m, SPARSE_ROWS), KDRI_MAX(1, w->h.most / kdri_stride(wide)));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, d, wide, false, &panel));
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, block, wide, false, &part));
	for (int64_t j = 0; j < d; j += wide) {
		int64_t cols = KDRI_MIN(wide, d - j);
		kdri_block from = kdri_block_part(panel, 0, 0, d, cols);
		KDRI_OP(w->ctx, w->dev, copy, kdri_block_part(weights, 0, j, d, cols), from);
		for (int64_t i = 0; i < w->m; i += block) {
			int64_t rows = KDRI_MIN(block, w->m - i);
			const kdri_sparse x = kdri_sparse_rows(&w->rows, i, i + rows);
			kdri_block y = kdri_block_part(part, 0, 0, rows, cols),
			           h = kdri_panels_view(&w->h, i, j, rows, cols);
			KDRI_OP(w->ctx, w->dev, multiply, &x, false, from, y);
			KDRI_OP(w->ctx, w->dev, tanh, y, NULL, NULL, w->offset + j, h);
			KDRI_TRY(kdri_panels_store(&w->h, i, j, h));
		}
	}
done:
	kdri_block_free(w->ctx, &panel);
	kdri_block_free(w->ctx, &part);
	return st;
}

/* (E7) on H, in place */
static kdr_status msda_features_apply_dense(kdri_msda *w, kdri_block weights)
{
	kdr_status st;
	int64_t d = w->d, high = w->h.high;
	KDRI_TRY(kdri_msda_room(w, high, d));
	for (int64_t i = 0; i < w->m; i += high) {
		int64_t rows = KDRI_MIN(high, w->m - i);
		kdri_block h, y = kdri_block_part(w->room, 0, 0, rows, d);
		KDRI_TRY(kdri_panels_load(&w->h, i, 0, rows, d, &h));
		KDRI_OP(w->ctx, w->dev, gemm, false, false, 1, h, weights, 0, y);
		KDRI_OP(w->ctx, w->dev, tanh, y, NULL, NULL, w->offset, h);
		KDRI_TRY(kdri_panels_store(&w->h, i, 0, h));
	}
	w->flops += 2 * (double)w->m * (double)d * (double)d;
done:
	return st;
}

/* (E4)-(E6): W' in the block, and b. */
static kdr_status msda_features_learn(kdri_msda *w, kdri_block q)
{
	kdr_status st;
	int64_t d = w->d;
	KDRI_TRY(fill_q(w, q));
	KDRI_OP(w->ctx, w->dev, inverse, q);
	w->flops += (double)d * (double)d * (double)d;
	/* (W xbar)_i = (xbar_i - delta_i (Q^-1 xbar)_i) / q (E6) */
	KDRI_OP(w->ctx, w->dev, row_dots, q, w->mean, w->offset);
	for (int64_t i = 0; i < d; i++)
		w->offset[i] *= w->delta[i];
	KDRI_OP(w->ctx, w->dev, complement, q, w->delta, w->q); /* (E5) */
done:
	return st;
}

kdr_status kdri_msda_by_features(kdri_msda *w)
{
	kdr_status st;
	kdri_block q = { 0 };
	KDRI_TRY(kdri_block_new(w->ctx, w->dev, w->d, w->d, false, &q));
	if (w->known) {
		KDRI_TRY(kdri_msda_recall(w, q));
	} else {
		KDRI_TRY(msda_features_learn(w, q));
		KDRI_TRY(kdri_msda_keep(w, q));
	}
	if (w->sparse) {
		KDRI_TRY(msda_features_apply_sparse(w, q));
	} else {
		if (w->h.all.single || w->h.room.single)
			kdri_block_narrow(&q);
		KDRI_TRY(msda_features_apply_dense(w, q));
	}
done:
	kdri_block_free(w->ctx, &q);
	return st;
}
