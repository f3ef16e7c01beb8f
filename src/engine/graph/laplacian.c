/* The normalised Laplacian of a graph, for the eigensolver. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  S = D^-1/2 W D^-1/2;  the operator is -S, or 3 v v' - S with v = D^1/2 1 / |D^1/2 1| set aside
 *   (E2)  T = D^1/2 M^+ D^1/2 ~ (I - S)^-1,  M = D - W, by one cycle over the levels of the graph (matrix/levels.c)
 *
 * With v set aside, M is singular along 1: the component of x along v bypasses the cycle, T v = v. It must be kept;
 * otherwise the eigensolver could never correct the components of its vectors along v. */
#include "engine/graph/laplacian.h"

#include "matrix/ritz.h"

/* Below this size the plain method is faster than building several levels. */
enum { LEVELS_FROM = 500 };

void kdri_laplacian_free(kdr_context *ctx, kdri_laplacian *l)
{
	KDRI_FREE(ctx, l->root, l->room);
	kdri_levels_free(ctx, l->levels);
	*l = (kdri_laplacian){ 0 };
}

kdr_status kdri_laplacian_new(kdr_context *ctx, const kdr_mat *w, const double *degree, bool aside,
                              int64_t count, kdri_laplacian *out)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(w), size;
	kdri_laplacian l = { .w = w, .width = kdri_ritz_block(n, count) };
	KDRI_TRY(KDRI_NEW(ctx, &l.root, n));
	KDRI_TRY(kdri_mul(ctx, n, l.width, &size));
	KDRI_TRY(KDRI_NEW(ctx, &l.room, size));
	for (int64_t i = 0; i < n; i++) {
		l.root[i] = sqrt(degree[i]);
		l.volume += aside ? degree[i] : 0;
	}
	if (w->kind == KDR_MAT_CSR && n >= LEVELS_FROM)
		KDRI_TRY(kdri_levels_new(ctx, &w->as.csr, degree, l.width, &l.levels));
	*out = l;
	l = (kdri_laplacian){ 0 };
done:
	kdri_laplacian_free(ctx, &l);
	return st;
}

/* along[j] = v' x_j / |D^1/2 1|, in chunks that depend on n alone. */
static kdr_status parts_along(kdr_context *ctx, const kdri_laplacian *l, const double *x, int64_t k,
                              int64_t ldx, double *along)
{
	return kdri_gemm(ctx, true, false, 1, k, kdr_mat_rows(l->w), 1 / l->volume, l->root, 1, x, ldx, 0,
	                 along, k);
}

kdr_status kdri_laplacian_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_laplacian *l = op->data;
	int64_t n = op->rows, size;
	double *scaled = NULL, *along = NULL;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, size));
	KDRI_TRY(KDRI_NEW0(ctx, &along, k));
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, x, k, ldx, along));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			scaled[i * k + j] = x[i * ldx + j] / l->root[i];
	KDRI_TRY(kdri_mat_mul(ctx, l->w, scaled, k, k, y, ldy));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++) /* (E1) */
			y[i * ldy + j] = 3 * along[j] * l->root[i] - y[i * ldy + j] / l->root[i];
done:
	KDRI_FREE(ctx, scaled, along);
	return st;
}

kdr_status kdri_laplacian_solve(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k, int64_t ldx,
                                double *y, int64_t ldy)
{
	kdr_status st;
	const kdri_laplacian *l = op->data;
	int64_t n = op->rows;
	double *along = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &along, 2 * k));
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, x, k, ldx, along));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			l->room[i * k + j] = l->root[i] * (x[i * ldx + j] - along[j] * l->root[i]);
	KDRI_TRY(kdri_levels_solve(ctx, l->levels, l->room, k, k, y, ldy));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] *= l->root[i]; /* (E2) */
	if (l->volume > 0)
		KDRI_TRY(parts_along(ctx, l, y, k, ldy, along + k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (n * k > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] += (along[j] - along[k + j]) * l->root[i];
done:
	kdri_free(ctx, along);
	return st;
}

void kdri_laplacian_clear(const kdri_laplacian *l, int64_t k, double *x)
{
	int64_t n = kdr_mat_rows(l->w);
	for (int64_t j = 0; j < k && l->volume > 0; j++) {
		double along = 0;
		for (int64_t i = 0; i < n; i++)
			along += l->root[i] * x[i * k + j];
		for (int64_t i = 0; i < n; i++)
			x[i * k + j] -= along / l->volume * l->root[i];
	}
}
