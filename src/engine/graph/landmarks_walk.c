/* Steps between samples that share landmarks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Z (n x m, >= 0) joins samples to landmarks, and through them to each other (landmarks_spectrum.c). A sample is not
 * its own neighbour, so the weights of the other samples are
 *
 *   (E1)  W = Z L^-1 Z' - diag(s),  L = diag(Z'1),  s_i = sum_a z_ia^2 / L_a
 *   (E2)  W x = Z (L^-1 (Z'x)) - s x
 *
 * in O(n) for a fixed number of landmarks per sample, although W itself has up to n^2 entries. A sample that shares its
 * landmarks with no other has a row of zeros, which (E2) would reproduce only up to rounding. */
#include "engine/graph/landmarks.h"

#include "engine/graph/similarity.h"

/* Relative to a sample's edges: a smaller weight to others is rounding error. */
static const double least_shared = 1e-12;
enum { ALONE = -1 };

void kdri_landmarks_walk_free(kdr_context *ctx, kdri_landmarks_walk *w)
{
	KDRI_FREE(ctx, w->inverse, w->self);
	*w = (kdri_landmarks_walk){ .z = kdr_mat_from_dense(NULL, 0, 0) };
}

kdr_status kdri_landmarks_walk_new(kdr_context *ctx, const kdr_mat *z, kdri_landmarks_walk *out)
{
	kdr_status st;
	const kdr_csr *c = &z->as.csr;
	kdri_landmarks_walk w = { .z = *z };
	double *degree = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &w.inverse, c->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &w.self, c->rows));
	KDRI_TRY(KDRI_NEW(ctx, &degree, c->rows));
	KDRI_TRY(kdri_graph_degrees(ctx, z, degree));
	KDRI_TRY(kdri_mat_col_sums(ctx, z, w.inverse));
	for (int64_t a = 0; a < c->cols; a++)
		w.inverse[a] = w.inverse[a] > 0 ? 1 / w.inverse[a] : 0;
	for (int64_t i = 0; i < c->rows; i++) {
		for (int64_t p = c->rowptr[i]; p < c->rowptr[i + 1]; p++)
			w.self[i] += c->val[p] * c->val[p] * w.inverse[c->col[p]]; /* (E1) */
		if (degree[i] - w.self[i] <= least_shared * degree[i])
			w.self[i] = ALONE;
	}
	*out = w;
	w = (kdri_landmarks_walk){ .z = *z };
done:
	kdri_free(ctx, degree);
	kdri_landmarks_walk_free(ctx, &w);
	return st;
}

/* (E2) */
static kdr_status landmarks_walk_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                       int64_t ldx, double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_landmarks_walk *w = op->data;
	const int64_t m = kdr_mat_cols(&w->z);
	double *at_landmarks = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &at_landmarks, m * k));
	KDRI_TRY(kdri_mat_tmul(ctx, &w->z, x, k, ldx, at_landmarks, k));
	for (int64_t a = 0; a < m; a++)
		for (int64_t j = 0; j < k; j++)
			at_landmarks[a * k + j] *= w->inverse[a];
	KDRI_TRY(kdri_mat_mul(ctx, &w->z, at_landmarks, k, k, y, ldy));
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] =
			        w->self[i] == ALONE ? 0 : y[i * ldy + j] - w->self[i] * x[i * ldx + j];
done:
	kdri_free(ctx, at_landmarks);
	return st;
}

kdri_op kdri_op_landmarks(const kdri_landmarks_walk *walk)
{
	const int64_t n = kdr_mat_rows(&walk->z);
	return (kdri_op){ n, n, landmarks_walk_apply, NULL, walk };
}
