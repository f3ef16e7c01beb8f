/* Whether clusters are clearer than those found in random noise. SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means finds clusters in any data, and members that use the same noise agree on them. Its clusters are therefore
 * compared with those it finds in noise of the same size and spread [the idea of Liu, Hayes, Nobel & Marron, JASA 103,
 * 2008]: with y the samples along their leading directions, s_j their spread along direction j and
 *
 *   (E1)  w(y) = sum_i |y_i - c(i)|^2 / sum_i |y_i - mean|^2,  c(i) the nearest of k means
 *   (E2)  z_ij = s_j g_ij, g independent and normal; rows brought to unit length where those of y were
 *   (E3)  beyond = (mean of w(z) - w(y)) / spread of w(z),     over DRAWS draws of z
 *
 * For normal y itself (E3) is Student's t with DRAWS - 1 degrees of freedom, times sqrt(1 + 1 / DRAWS). With few draws
 * or few starts, the same samples would count as noise with one seed and not with another. If rows are distributed over
 * ranks, the inspected rows are sent to all ranks, and each computes the same. */
#include "methods/auto/reference.h"

#include "comm/comm.h"
#include "core/side_by_side.h"
#include "engine/kmeans/lloyd.h"

enum { DRAWS = 24, MOST_ROWS = 600, STARTS = 5, LEAST_VALUES = 1000 };

/* (E1) */
static kdr_status left_over(kdr_context *ctx, const double *y, int64_t n, int64_t d, int64_t k, double *out)
{
	kdr_status st;
	kdri_kmeans_result whole = { 0 }, parts = { 0 };
	kdr_mat x = kdr_mat_from_dense(y, n, d);
	kdri_kmeans_options o = kdri_kmeans_defaults(1);
	o.stage = NULL;
	o.n_init = 1;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &whole));
	o.k = k;
	o.n_init = STARTS;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &parts));
	*out = whole.objective > 0 ? parts.objective / whole.objective : 1;
done:
	kdri_kmeans_free(ctx, &whole);
	kdri_kmeans_free(ctx, &parts);
	return st;
}

/* (E2) */
static void reference_draw(kdri_rng *rng, int64_t n, int64_t d, const double *spread, bool unit, double *z)
{
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < d; j++)
			z[i * d + j] = spread[j] * kdri_rng_normal(rng);
		double length = unit ? sqrt(kdri_nrm2sq(z + i * d, d)) : 1;
		for (int64_t j = 0; j < d && length > 0; j++)
			z[i * d + j] /= length;
	}
}

typedef struct comparison {
	const double *rows, *spread;
	int64_t n, d, k;
	bool unit;
	double w[DRAWS + 1]; /* of the draws; of the rows */
} comparison;

static kdr_status reference_one(kdr_context *ctx, void *user, int64_t i, int worker)
{
	kdr_status st;
	comparison *c = user;
	double *z = NULL;
	(void)worker;
	if (i == DRAWS)
		return left_over(ctx, c->rows, c->n, c->d, c->k, &c->w[i]);
	kdri_rng rng = kdri_rng_stream(ctx->seed, "noise", (uint64_t)i);
	KDRI_TRY(KDRI_NEW(ctx, &z, c->n * c->d));
	reference_draw(&rng, c->n, c->d, c->spread, c->unit, z);
	KDRI_TRY(left_over(ctx, z, c->n, c->d, c->k, &c->w[i]));
done:
	kdri_free(ctx, z);
	return st;
}

/* (E3) */
static kdr_status reference_compare(kdr_context *ctx, comparison *c, double *out)
{
	double sum = 0, square = 0;
	/* Starting threads takes longer than a draw from few values. */
	const int workers = c->n * c->d < LEAST_VALUES ? 1 : (int)KDRI_MIN(kdri_team(ctx), DRAWS + 1);
	KDRI_DO(kdri_side_by_side(
	        ctx,
	        &(kdri_side){ .count = DRAWS + 1, .workers = workers, .run = reference_one, .user = c }));
	for (int64_t i = 0; i < DRAWS; i++)
		sum += c->w[i];
	for (int64_t i = 0; i < DRAWS; i++)
		square += (c->w[i] - sum / DRAWS) * (c->w[i] - sum / DRAWS);
	double off = sqrt(square / (DRAWS - 1));
	*out = off > 0 ? (sum / DRAWS - c->w[DRAWS]) / off : 0;
	return KDR_OK;
}

kdr_status kdri_beyond_noise(kdr_context *ctx, const kdr_dense *y, const double *spread, bool unit, int64_t k,
                             double *out)
{
	kdr_status st;
	int64_t start, all, n, d = y->cols;
	double *rows = NULL;
	kdr_context own = *ctx; /* separately: the time limit must not stop only one rank */
	*out = 0;
	KDRI_TRY(kdri_part(ctx, y->rows, &start, &all));
	n = KDRI_MIN(all, MOST_ROWS);
	if (k < 2 || n < 3 * k || d < 1)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &rows, n * d));
	for (int64_t i = 0; i < n; i++) {
		int64_t row = kdri_chunk_begin(all, n, i) - start;
		if (row >= 0 && row < y->rows)
			memcpy(rows + i * d, y->data + row * y->stride, (size_t)d * sizeof *rows);
	}
	KDRI_TRY(kdri_sum(ctx, rows, n * d));
	comparison c = { .rows = rows, .spread = spread, .n = n, .d = d, .k = k, .unit = unit };
	if (!kdri_together(ctx)) {
		st = reference_compare(ctx, &c, out);
		goto done;
	}
	own.comm = NULL;
	own.progress = NULL;
	own.deadline = 0;
	st = reference_compare(&own, &c, out);
	if (st != KDR_OK)
		st = kdri_fail(ctx, st, "%s", own.error);
done:
	kdri_free(ctx, rows);
	return st;
}
