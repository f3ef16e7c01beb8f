/* A layer of mSDA through a matrix of features x features. SPDX-License-Identifier: BSD-3-Clause
 *
 * With Q, Delta and W of msda_run.c, rows of X being samples:
 *
 *   (E4)  Q = q^2 Xc'Xc + diag(Delta)         sparse: X'X - n xbar xbar'; dense: from centred blocks of rows
 *   (E5)  W' = (I - Q^-1 diag(Delta)) / q     in the place of Q
 *   (E6)  b = xbar - q W xbar
 *   (E7)  H = tanh(X W' + 1 b')               sparse X times dense W', or blocks of rows
 *
 * n d^2 flops for (E4), d^3 for (E5), 2 n d^2 for (E7); on a sparse X only (E5) and 2 nnz d. Q and its inverse
 * are double in any precision, and W' is single only where H is its other factor. */
#include "methods/mtcfir/msda_work.h"

enum { SPARSE_ROWS = 4096, PANEL = 64 };

/* Rows of a block: as many as make about KDRI_MSDA_SCRATCH bytes. */
static int64_t block_height(const kdri_msda *w)
{
	int64_t size = w->h.floats ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
	return KDRI_MIN(w->m, KDRI_MAX(KDRI_MSDA_BLOCK, KDRI_MSDA_SCRATCH / (size * w->d)));
}

/* (E4), the lower triangle */
static kdr_status fill_q(kdri_msda *w, const kdri_block *q)
{
	kdr_status st = KDR_OK;
	int64_t d = w->d, height = block_height(w);
	double *at = q->data, q2 = w->q * w->q;
	if (w->sparse) {
		kdr_csr rows = w->x->as.csr;
		rows.rows = w->n;
		KDRI_TRY(kdri_sparse_gram(w->ctx, &w->xt.view.as.csr, &rows, NULL, q));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
		for (int64_t i = 0; i < d; i++)
			kdri_axpy(-(double)w->n * w->mean[i], w->mean, at + i * d, i + 1);
	} else {
		KDRI_TRY(kdri_msda_room(w, height, d));
		for (int64_t i = 0; i < w->n; i += height) {
			kdri_block rows = kdri_block_part(&w->room, 0, 0, KDRI_MIN(height, w->n - i), d);
			kdri_msda_centre(w, i, 0, 1, NULL, &rows);
			KDRI_TRY(kdri_block_syrk(w->ctx, true, 1, &rows, i > 0, q));
		}
		w->flops += (double)w->n * (double)d * (double)d;
	}
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < d; i++) {
		for (int64_t j = 0; j <= i; j++)
			at[i * d + j] *= q2;
		at[i * d + i] += w->delta[i];
	}
done:
	return st;
}

/* (E5), (E6): `q` holds Q^-1 and becomes W'. */
static void fill_weights(const kdri_msda *w, double *q)
{
	int64_t d = w->d;
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
	for (int64_t i = 0; i < d; i++) {
		/* (W xbar)_i = (xbar_i - delta_i (Q^-1 xbar)_i) / q */
		w->offset[i] = w->delta[i] * kdri_dot(q + i * d, w->mean, d);
		for (int64_t j = 0; j < d; j++)
			q[i * d + j] = ((i == j) - q[i * d + j] * w->delta[j]) / w->q;
	}
}

/* (E7) on a sparse X. A panel of columns of W' lies together while all rows of X meet it: spread over d rows it
 * would be in as many pages of memory. */
static kdr_status msda_features_apply_sparse(kdri_msda *w, const double *weights)
{
	kdr_status st;
	double *panel = NULL, *part = NULL;
	int64_t d = w->d, block = KDRI_MIN(w->m, SPARSE_ROWS);
	KDRI_TRY(KDRI_NEW(w->ctx, &panel, d * PANEL));
	KDRI_TRY(KDRI_NEW(w->ctx, &part, block * PANEL));
	for (int64_t j = 0; j < d; j += PANEL) {
		int64_t cols = KDRI_MIN(PANEL, d - j);
		for (int64_t i = 0; i < d; i++)
			memcpy(panel + i * PANEL, weights + i * d + j, (size_t)cols * sizeof *panel);
		for (int64_t i = 0; i < w->m; i += block) {
			int64_t rows = KDRI_MIN(block, w->m - i);
			kdr_mat x = kdri_rows(w->x, i, i + rows);
			KDRI_TRY(kdri_mat_mul(w->ctx, &x, panel, cols, PANEL, part, PANEL));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
			for (int64_t r = 0; r < rows; r++) {
				kdri_axpy(1, w->offset + j, part + r * PANEL, cols);
				kdri_msda_put(&w->h, i + r, j, cols, part + r * PANEL);
			}
		}
	}
done:
	kdri_free(w->ctx, panel);
	kdri_free(w->ctx, part);
	return st;
}

/* h[i] = tanh(from + offset) for a row of the block `from`. */
static void put_row(const kdri_msda *w, int64_t i, const kdri_block *from, int64_t r)
{
	if (w->h.floats) {
		const float *v = (const float *)from->data + r * from->stride;
		float *to = (float *)w->h.data + i * w->h.stride;
		for (int64_t j = 0; j < w->d; j++)
			to[j] = v[j] + (float)w->offset[j];
		kdri_tanhf(to, w->d);
	} else {
		const double *v = (const double *)from->data + r * from->stride;
		double *to = (double *)w->h.data + i * w->h.stride;
		for (int64_t j = 0; j < w->d; j++)
			to[j] = v[j] + w->offset[j];
		kdri_tanh(to, w->d);
	}
}

/* (E7) on H, in place */
static kdr_status msda_features_apply_dense(kdri_msda *w, const kdri_block *weights)
{
	kdr_status st;
	int64_t d = w->d, height = block_height(w);
	KDRI_TRY(kdri_msda_room(w, height, d));
	for (int64_t i = 0; i < w->m; i += height) {
		int64_t rows = KDRI_MIN(height, w->m - i);
		kdri_block in = kdri_block_part(&w->h, i, 0, rows, d);
		kdri_block out = kdri_block_part(&w->room, 0, 0, rows, d);
		KDRI_TRY(kdri_block_gemm(w->ctx, false, false, 1, &in, weights, 0, &out));
#pragma omp parallel for num_threads(w->ctx->threads) schedule(static)
		for (int64_t r = 0; r < rows; r++)
			put_row(w, i + r, &out, r);
	}
	w->flops += 2 * (double)w->m * (double)d * (double)d;
done:
	return st;
}

/* (E4)-(E6): W' in the block, and b. */
static kdr_status msda_features_learn(kdri_msda *w, const kdri_block *q)
{
	kdr_status st;
	int64_t d = w->d;
	KDRI_TRY(fill_q(w, q));
	KDRI_TRY(kdri_cholesky(w->ctx, d, q->data, d));
	KDRI_TRY(kdri_cholesky_inverse(w->ctx, d, q->data, d));
	w->flops += (double)d * (double)d * (double)d;
	fill_weights(w, q->data);
done:
	return st;
}

kdr_status kdri_msda_by_features(kdri_msda *w)
{
	kdr_status st;
	kdri_block q = { 0 };
	int64_t d = w->d;
	KDRI_TRY(kdri_block_new(w->ctx, d, d, false, &q));
	if (w->known) {
		kdri_msda_recall(w, q.data, d);
	} else {
		KDRI_TRY(msda_features_learn(w, &q));
		kdri_msda_keep(w, q.data, d);
	}
	if (w->sparse) {
		KDRI_TRY(msda_features_apply_sparse(w, q.data));
	} else {
		if (w->h.floats)
			kdri_block_narrow(&q);
		KDRI_TRY(msda_features_apply_dense(w, &q));
	}
done:
	kdri_block_free(w->ctx, &q);
	return st;
}
