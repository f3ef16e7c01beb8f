/* Which clusters of different tasks are counterparts. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  u_z = c_z - m, the cluster's mean less its task's: what sets it apart
 *   (E2)  cost_zl = 1 - cos(u_z, u_l)
 *   (E3)  min sum_zl cost_zl f_zl,  sum_l f_zl = a_z,  sum_z f_zl = b_l          (kdri_transport)
 *
 * Subtracting the task's mean removes what all of its samples share, such as an offset of a laboratory. */
#include "methods/auto/counterparts.h"
#include "engine/ensemble/probability_right.h"
#include "engine/metrics/metrics.h"

#include "comm/comm.h"

static const double certain = 10;

kdr_status kdri_cluster_means(kdr_context *ctx, const kdr_mat *x, const int64_t *labels, int64_t k,
                              double *means)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), size;
	double *one_hot = NULL, *sums = NULL, *count = NULL;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &one_hot, size));
	KDRI_TRY(kdri_mul(ctx, d, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &sums, size));
	KDRI_TRY(KDRI_NEW0(ctx, &count, k));
	for (int64_t i = 0; i < n; i++) {
		one_hot[i * k + labels[i]] = 1;
		count[labels[i]]++;
	}
	KDRI_TRY(kdri_mat_tmul(ctx, x, one_hot, k, k, sums, k));
	KDRI_TRY(kdri_sum(ctx, sums, size));
	KDRI_TRY(kdri_sum(ctx, count, k));
	for (int64_t z = 0; z < k; z++)
		for (int64_t j = 0; j < d; j++)
			means[z * d + j] = count[z] > 0 ? sums[j * k + z] / count[z] : 0;
done:
	KDRI_FREE(ctx, one_hot, sums, count);
	return st;
}

/* (E1), scaled to unit length; zeros for an empty cluster. */
static void departures(const kdri_clusters *c, double *out)
{
	for (int64_t z = 0; z < c->k; z++) {
		double *u = out + z * c->d;
		const double *mean = c->means + z * c->d;
		bool empty = kdri_nrm2sq(mean, c->d) == 0;
		for (int64_t j = 0; j < c->d; j++)
			u[j] = empty ? 0 : mean[j] - c->mean[j];
		double length = sqrt(kdri_nrm2sq(u, c->d));
		for (int64_t j = 0; j < c->d; j++)
			u[j] = length > 0 ? u[j] / length : 0;
	}
}

/* The weight of each cluster: equal for all, or proportional to its size. With sizes, a cluster that is split in two
 * on one side only can be matched with both parts. */
static void marginal(const kdri_clusters *c, bool alike, double *out)
{
	double total = 0;
	for (int64_t z = 0; z < c->k; z++)
		total += (double)c->sizes[z];
	for (int64_t z = 0; z < c->k; z++)
		out[z] = alike ? 1 / (double)c->k : (double)c->sizes[z] / total;
}

/* Whether the classes of both clusters are known. */
static bool both_known(const kdri_clusters *a, int64_t z, const kdri_clusters *b, int64_t l)
{
	return a->known && b->known && a->known[z] && b->known[l];
}

kdr_status kdri_counterparts(kdr_context *ctx, const kdri_clusters *a, const kdri_clusters *b, double *flow,
                             double *chance)
{
	kdr_status st;
	double *u = NULL, *v = NULL, *cost = NULL, *supply = NULL, *demand = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, a->k, b->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &u, a->k * a->d));
	KDRI_TRY(KDRI_NEW(ctx, &v, b->k * b->d));
	KDRI_TRY(KDRI_NEW(ctx, &cost, size));
	KDRI_TRY(KDRI_NEW(ctx, &supply, a->k));
	KDRI_TRY(KDRI_NEW(ctx, &demand, b->k));
	departures(a, u);
	departures(b, v);
	KDRI_TRY(kdri_gemm(ctx, false, true, a->k, b->k, a->d, -1, u, a->d, v, b->d, 0, cost, b->k));
	for (int64_t p = 0; p < size; p++)
		cost[p] += 1; /* (E2) */
	for (int64_t z = 0; z < a->k; z++)
		for (int64_t l = 0; l < b->k; l++)
			if (both_known(a, z, b, l)) /* costs are from 0 to 2 */
				cost[z * b->k + l] = z == l ? -certain : certain;
	marginal(a, a->k == b->k, supply);
	marginal(b, a->k == b->k, demand);
	KDRI_TRY(kdri_transport(ctx, cost, a->k, b->k, supply, demand, flow, NULL, NULL, NULL)); /* (E3) */
	for (int64_t z = 0; z < a->k; z++) {
		int64_t best = 0;
		for (int64_t l = 1; l < b->k; l++)
			if (flow[z * b->k + l] > flow[z * b->k + best])
				best = l;
		chance[z] =
		        both_known(a, z, b, best) ? z == best : kdri_match_right(1 - cost[z * b->k + best]);
		if (chance[z] < KDRI_LEAST_MATCH)
			memset(flow + z * b->k, 0, (size_t)b->k * sizeof *flow);
	}
done:
	KDRI_FREE(ctx, u, v, cost, supply, demand);
	return st;
}
