/* Class prototypes that samples are transported to. SPDX-License-Identifier: BSD-3-Clause
 *
 * Samples of equal mass are brought to prototypes mu_k of mass q_k, at a cost of 1 - cos and with entropy [M. Cuturi:
 * Sinkhorn distances. NIPS 2013]; then the prototypes move to the mean of the samples assigned to them:
 *
 *   (E1)  K_ik = exp(cos(e_i, mu_k) / blur)
 *   (E2)  u_i = (1 / n) / (K v)_i,  v_k = q_k / (K'u)_k, `steps` times from v = 1;  P = diag(u) K diag(v)
 *   (E3)  q = the mean of the known shares and the mean of K's rows, each scaled to sum 1
 *   (E4)  mu = P'E
 *
 * The posterior is P with rows to sum 1. No class can lose all of its samples or receive all of them, because its
 * mass is kept near its known share. Sums over samples are computed in fixed chunks, so the result does not depend on
 * the number of threads. */
#include "engine/transport/prototypes.h"

typedef struct work {
	const kdri_prototypes *p;
	double *k;       /* n x classes: K, then P */
	double *partial; /* KDRI_CHUNKS x classes */
	double *v, *q, *norm;
} work;

/* (E1), (E3) */
static kdr_status find_kernel(kdr_context *ctx, const work *t, const double *prototypes)
{
	const kdri_prototypes *p = t->p;
	int64_t c = p->classes, n = p->n;
	KDRI_DO(kdri_gemm(ctx, false, true, n, c, p->width, 1, p->e, p->width, prototypes, p->width, 0, t->k,
	                  c));
	for (int64_t k = 0; k < c; k++) {
		double length = sqrt(kdri_nrm2sq(prototypes + k * p->width, p->width));
		t->norm[k] = length > 0 ? 1 / (length * p->blur) : 0;
		t->q[k] = 0;
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * c > 1 << 13)
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < c; k++)
			t->k[i * c + k] = exp(t->k[i * c + k] * t->norm[k]);
	for (int64_t i = 0; i < n; i++) {
		const double *row = t->k + i * c;
		double sum = 0;
		for (int64_t k = 0; k < c; k++)
			sum += row[k];
		for (int64_t k = 0; k < c; k++)
			t->q[k] += row[k] / sum / (double)n;
	}
	for (int64_t k = 0; k < c; k++)
		t->q[k] = (t->q[k] + p->share[k]) / 2;
	return KDR_OK;
}

/* (E2): the plan takes the kernel's place. */
static void transport(kdr_context *ctx, const work *t)
{
	int64_t c = t->p->classes, n = t->p->n, chunks = kdri_chunks(n);
	for (int64_t k = 0; k < c; k++)
		t->v[k] = 1;
	for (int64_t step = 0; step <= t->p->steps; step++) {
		bool last = step == t->p->steps;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * c > 1 << 13)
		for (int64_t b = 0; b < chunks; b++) {
			double *sum = t->partial + b * c;
			memset(sum, 0, (size_t)c * sizeof *sum);
			for (int64_t i = kdri_chunk_begin(n, chunks, b);
			     i < kdri_chunk_begin(n, chunks, b + 1); i++) {
				double *row = t->k + i * c, u = 0;
				for (int64_t k = 0; k < c; k++)
					u += row[k] * t->v[k];
				u = 1 / ((double)n * u);
				for (int64_t k = 0; k < c; k++)
					sum[k] += u * row[k];
				for (int64_t k = 0; last && k < c; k++)
					row[k] *= u * t->v[k];
			}
		}
		for (int64_t k = 0; k < c && !last; k++) {
			double sum = 0;
			for (int64_t b = 0; b < chunks; b++)
				sum += t->partial[b * c + k];
			t->v[k] = t->q[k] / sum;
		}
	}
}

kdr_status kdri_prototypes_run(kdr_context *ctx, const kdri_prototypes *p, double *prototypes,
                               double *posterior)
{
	kdr_status st;
	int64_t c = p->classes, size;
	work t = { .p = p, .k = posterior };
	KDRI_TRY(kdri_mul(ctx, p->n, c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &t.partial, KDRI_CHUNKS * c));
	KDRI_TRY(KDRI_NEW(ctx, &t.v, 3 * c));
	t.q = t.v + c;
	t.norm = t.q + c;
	for (int64_t r = 0; r < p->rounds; r++) {
		KDRI_TRY(find_kernel(ctx, &t, prototypes));
		transport(ctx, &t);
		KDRI_TRY(kdri_gemm(ctx, true, false, c, p->width, p->n, 1, posterior, c, p->e, p->width, 0,
		                   prototypes, p->width)); /* (E4) */
		if (kdri_iteration(ctx, "ot-prototypes", r + 1, p->rounds, NAN))
			break;
	}
	for (int64_t i = 0; i < p->n; i++) {
		double *row = posterior + i * c, sum = 0;
		for (int64_t k = 0; k < c; k++)
			sum += row[k];
		for (int64_t k = 0; k < c; k++)
			row[k] /= sum;
	}
done:
	KDRI_FREE(ctx, t.partial, t.v);
	return st;
}
