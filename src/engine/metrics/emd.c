/* The distance of two partitions of the same samples. SPDX-License-Identifier: BSD-3-Clause
 *
 *     (E1)  d_M = min sum_zl w_zl |u_z - v_l|^2,   sum_l w_zl = p_z,   sum_z w_zl = q_l,   w >= 0
 * [Zhang & Zhang, AAAI 2010, eq. 8]: the earth mover's distance between the clusters' means u and v. Clusters have equal
 * weights (p_z = 1/K) or are weighted by size (p_z = n_z/n). Unlike the scores, it takes into account whether different
 * clusters are close to each other. */
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

typedef struct side {
	int64_t k, *code, *size;
	double *mean; /* k x d */
} side;

static void side_free(kdr_context *ctx, side *s)
{
	KDRI_FREE(ctx, s->code, s->size, s->mean);
}

static kdr_status emd_side_new(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, side *s)
{
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), room;
	KDRI_DO(KDRI_NEW(ctx, &s->code, n));
	KDRI_DO(kdri_labels_compact(ctx, labels, n, s->code, NULL, &s->k));
	KDRI_DO(kdri_mul(ctx, s->k, d, &room));
	KDRI_DO(KDRI_NEW0(ctx, &s->size, s->k));
	KDRI_DO(KDRI_NEW0(ctx, &s->mean, room));
	for (int64_t i = 0; i < n; i++) {
		double *sum = s->mean + s->code[i] * d;
		s->size[s->code[i]]++;
		if (x->kind == KDR_MAT_DENSE)
			kdri_axpy(1, x->as.dense.data + i * x->as.dense.stride, sum, d);
		else
			for (int64_t p = x->as.csr.rowptr[i]; p < x->as.csr.rowptr[i + 1]; p++)
				sum[x->as.csr.col[p]] += x->as.csr.val[p];
	}
	for (int64_t z = 0; z < s->k; z++)
		for (int64_t f = 0; f < d; f++)
			s->mean[z * d + f] /= (double)s->size[z];
	return KDR_OK;
}

kdr_status kdr_emd(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, const int64_t *truth,
                   double *uniform, double *proportional)
{
	kdr_status st;
	side a = { 0 }, b = { 0 };
	double *cost = NULL, *flow = NULL, *p = NULL, *q = NULL, value[2] = { 0 };
	if (!ctx || !x || !labels || !truth)
		return KDR_ERR_ARGUMENT;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), room;
	if (n < 1)
		return kdri_fail(ctx, KDR_ERR_DATA, "there are no samples; at least one is needed");
	KDRI_TRY(kdri_mat_check_finite(ctx, x, "emd"));
	KDRI_TRY(emd_side_new(ctx, x, labels, &a));
	KDRI_TRY(emd_side_new(ctx, x, truth, &b));
	KDRI_TRY(kdri_mul(ctx, a.k, b.k, &room));
	KDRI_TRY(KDRI_NEW(ctx, &cost, room));
	KDRI_TRY(KDRI_NEW(ctx, &flow, room));
	KDRI_TRY(KDRI_NEW(ctx, &p, a.k));
	KDRI_TRY(KDRI_NEW(ctx, &q, b.k));
	for (int64_t z = 0; z < a.k; z++)
		for (int64_t l = 0; l < b.k; l++) {
			double sum = 0;
			for (int64_t f = 0; f < d; f++) {
				double e = a.mean[z * d + f] - b.mean[l * d + f];
				sum += e * e;
			}
			cost[z * b.k + l] = sum;
		}
	for (int by_size = 0; by_size < 2; by_size++) { /* (E1), in integer units: exact marginals */
		for (int64_t z = 0; z < a.k; z++)
			p[z] = by_size ? (double)a.size[z] : (double)b.k;
		for (int64_t l = 0; l < b.k; l++)
			q[l] = by_size ? (double)b.size[l] : (double)a.k;
		KDRI_TRY(kdri_transport(ctx, cost, a.k, b.k, p, q, flow, NULL, NULL, &value[by_size]));
		value[by_size] /= by_size ? (double)n : (double)a.k * (double)b.k;
	}
	if (uniform)
		*uniform = value[0];
	if (proportional)
		*proportional = value[1];
done:
	side_free(ctx, &a);
	side_free(ctx, &b);
	KDRI_FREE(ctx, cost, flow, p, q);
	return st;
}
