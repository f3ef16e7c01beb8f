/* Conjugate gradients for several right-hand sides. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  alpha = <r, z> / <p, A p>,  x += alpha p,  r -= alpha A p
 *   (E2)  z = r / scale
 *   (E3)  beta = <r, z> / <r, z> before,  p = z + beta p          [Hestenes & Stiefel 1952]
 *
 * for each column with its own alpha and beta, so that one product A P serves all columns. Columns that have
 * converged are no longer updated. */
#include "matrix/vectors.h"

typedef struct state {
	double *r, *z, *p, *ap, *partial;
	double *rz, *before, *alpha, *beta, *norm, *bound; /* m */
	bool *busy;
} state;

static void state_free(kdr_context *ctx, state *s)
{
	KDRI_FREE(ctx, s->r, s->z, s->p, s->ap, s->partial, s->rz, s->busy);
}

static kdr_status state_new(kdr_context *ctx, int64_t n, int64_t m, state *s)
{
	int64_t size;
	KDRI_DO(kdri_mul(ctx, n, m, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->r, size));
	KDRI_DO(KDRI_NEW(ctx, &s->z, size));
	KDRI_DO(KDRI_NEW(ctx, &s->p, size));
	KDRI_DO(KDRI_NEW(ctx, &s->ap, size));
	KDRI_DO(KDRI_NEW(ctx, &s->partial, KDRI_CHUNKS * m));
	KDRI_DO(KDRI_NEW(ctx, &s->rz, 6 * m));
	KDRI_DO(KDRI_NEW(ctx, &s->busy, m));
	s->before = s->rz + m;
	s->alpha = s->rz + 2 * m;
	s->beta = s->rz + 3 * m;
	s->norm = s->rz + 4 * m;
	s->bound = s->rz + 5 * m;
	return KDR_OK;
}

static void precondition(kdr_context *ctx, int64_t n, int64_t m, const double *scale, const double *r,
                         double *z)
{
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * m > 1 << 15)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++)
			z[i * m + j] = scale ? r[i * m + j] / scale[i] : r[i * m + j]; /* (E2) */
}

/* True while a column's residual is above its bound. */
static bool any_busy(kdr_context *ctx, int64_t n, int64_t m, state *s)
{
	bool any = false;
	kdri_vectors_dot(ctx, n, m, s->r, s->r, s->partial, s->norm);
	for (int64_t j = 0; j < m; j++) {
		s->busy[j] = s->norm[j] > s->bound[j];
		any = any || s->busy[j];
	}
	return any;
}

kdr_status kdri_cg(kdr_context *ctx, const kdri_op *a, const double *scale, int64_t m, const double *b,
                   double tol, int64_t max_iter, const char *stage, double *x, int64_t *iterations,
                   kdr_stop *stop)
{
	kdr_status st;
	state s = { 0 };
	int64_t n = a->rows;
	*iterations = 0;
	*stop = KDR_STOP_CONVERGED;
	KDRI_TRY(state_new(ctx, n, m, &s));
	KDRI_TRY(a->apply(ctx, a, x, m, m, s.r, m));
	kdri_vectors_dot(ctx, n, m, b, b, s.partial, s.bound);
	for (int64_t j = 0; j < m; j++) {
		s.bound[j] *= tol * tol;
		s.alpha[j] = 1;
		s.beta[j] = -1;
	}
	kdri_vectors_combine(ctx, n, m, s.beta, s.alpha, b, s.r); /* r = b - A x */
	precondition(ctx, n, m, scale, s.r, s.z);
	memcpy(s.p, s.z, (size_t)(n * m) * sizeof *s.p);
	kdri_vectors_dot(ctx, n, m, s.r, s.z, s.partial, s.rz);
	while (any_busy(ctx, n, m, &s)) {
		if (*iterations >= max_iter) {
			*stop = KDR_STOP_MAX_ITER;
			break;
		}
		KDRI_TRY(a->apply(ctx, a, s.p, m, m, s.ap, m));
		kdri_vectors_dot(ctx, n, m, s.p, s.ap, s.partial, s.alpha);
		for (int64_t j = 0; j < m; j++)
			s.alpha[j] = s.busy[j] && s.alpha[j] > 0 ? s.rz[j] / s.alpha[j] : 0; /* (E1) */
		kdri_vectors_combine(ctx, n, m, NULL, s.alpha, s.p, x);
		for (int64_t j = 0; j < m; j++)
			s.alpha[j] = -s.alpha[j];
		kdri_vectors_combine(ctx, n, m, NULL, s.alpha, s.ap, s.r);
		precondition(ctx, n, m, scale, s.r, s.z);
		memcpy(s.before, s.rz, (size_t)m * sizeof *s.before);
		kdri_vectors_dot(ctx, n, m, s.r, s.z, s.partial, s.rz);
		for (int64_t j = 0; j < m; j++) {
			s.beta[j] = s.before[j] > 0 ? s.rz[j] / s.before[j] : 0; /* (E3) */
			s.alpha[j] = 1;
		}
		kdri_vectors_combine(ctx, n, m, s.beta, s.alpha, s.z, s.p);
		++*iterations;
		if (kdri_iteration(ctx, stage, *iterations, 0, NAN)) {
			*stop = kdri_stop_reason(ctx);
			break;
		}
	}
done:
	state_free(ctx, &s);
	return st;
}
