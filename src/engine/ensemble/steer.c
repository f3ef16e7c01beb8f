/* Clusters that follow known classes. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  clusters u of the vote are matched with classes c by the largest sum of n_uc / n_c + n_uc / (2 n_u), where n_uc samples of
 *         class c are known in cluster u, so that class c has number c
 *   (E2)  for each partition m of the ballot, and for the answer itself with the weight of all of them, and each cluster z of it,
 *         P_m(c | z) = (a v_zc + n_zc) / (a + n_z), a = 3
 *         v_zc: the fraction of z that the vote put in c; n_zc: known samples of class c in z, weighted so that all
 *         classes have the same total weight: otherwise a frequent class would absorb every cluster
 *   (E3)  S_ic = sum_m u_m P_m(c | m(i)) / sum_m u_m
 *   (E4)  F_i = (sum_j w_ij F_j / sum_j w_ij + l S_i) / (1 + l), l = 1/2, in 30 rounds that begin with S; known samples keep 1 for
 *         their class
 *   (E5)  other samples: the cluster with the largest F
 *
 * So the evidence of a partition about a cluster grows with the number of samples known in it, and that of the graph with the
 * proportion of a sample's neighbours that are known. Without known samples S follows the vote. docs/known.md has the measurements
 * behind a and l. */
#include "engine/ensemble/vote.h"

#include "engine/metrics/metrics.h"

enum { ROUNDS = 30 };
static const double prior = 3, hold = 0.5;

kdr_status kdri_steer_numbers(kdr_context *ctx, const kdri_known_classes *l, const int64_t *labels, int64_t k,
                              int64_t *now)
{
	kdr_status st;
	double *cost = NULL, *of_class = NULL, *of_cluster = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, k, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &cost, size));
	KDRI_TRY(KDRI_NEW0(ctx, &of_class, k));
	KDRI_TRY(KDRI_NEW0(ctx, &of_cluster, k));
	for (int64_t i = 0; i < l->n; i++)
		if (l->known[i] >= 0) {
			cost[labels[i] * k + l->known[i]]--;
			of_class[l->known[i]]++;
			of_cluster[labels[i]]++;
		}
	for (int64_t z = 0; z < k; z++)
		for (int64_t c = 0; c < k; c++)
			cost[z * k + c] *= 1 / KDRI_MAX(of_class[c], 1) + 0.5 / KDRI_MAX(of_cluster[z], 1);
	KDRI_TRY(kdri_assign(ctx, cost, k, k, now, NULL, NULL)); /* (E1) */
done:
	KDRI_FREE(ctx, cost, of_class, of_cluster);
	return st;
}

/* --- scores ---------------------------------------------------------------------------------------------- */

/* The cluster of sample i in partition m; m = -1: the answer. */
static int64_t part_of(const kdri_ballot *b, int64_t m, const int64_t *answer, int64_t i)
{
	return m < 0 ? answer[i] : b->label[i * b->count + m];
}

/* (E2) and (E3): adds partition m with its weight. each: the weight of a known sample of each class; table: room for
 * parts x (k + 2). */
static void add_partition(kdr_context *ctx, const kdri_known_classes *l, const kdri_ballot *b, int64_t m,
                          double weight, const int64_t *answer, int64_t k, int64_t parts, const double *each,
                          double *table, double *s)
{
	const int64_t width = k + 2; /* votes and known samples of each class; known samples; samples */
	memset(table, 0, (size_t)(parts * width) * sizeof *table);
	for (int64_t i = 0; i < l->n; i++)
		table[part_of(b, m, answer, i) * width + k + 1]++;
	for (int64_t i = 0; i < l->n; i++) {
		double *row = table + part_of(b, m, answer, i) * width;
		row[answer[i]] += prior / row[k + 1];
	}
	for (int64_t i = 0; i < l->n; i++)
		if (l->known[i] >= 0) {
			double *row = table + part_of(b, m, answer, i) * width;
			row[l->known[i]] += each[l->known[i]];
			row[k] += each[l->known[i]];
		}
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (l->n > KDRI_BLOCK)
	for (int64_t i = 0; i < l->n; i++) {
		const double *row = table + part_of(b, m, answer, i) * width;
		kdri_axpy(weight / (prior + row[k]), row, s + i * k, k);
	}
}

/* (E3) of all partitions: n x k. answer: numbered by classes. */
static kdr_status steer_scores(kdr_context *ctx, const kdri_known_classes *l, const kdri_ballot *b,
                               bool alone, const int64_t *answer, int64_t k, double *s)
{
	kdr_status st;
	double *table = NULL, *each = NULL, total = 0, classes = 0;
	int64_t parts = k, size;
	for (int64_t m = 0; m < b->count; m++)
		total += kdri_ballot_votes(b, m, alone) ? b->weight[m] : 0;
	for (int64_t p = 0; p < b->n * b->count; p++)
		parts = KDRI_MAX(parts, b->label[p] + 1);
	KDRI_TRY(kdri_mul(ctx, parts, k + 2, &size));
	KDRI_TRY(KDRI_NEW(ctx, &table, size));
	KDRI_TRY(KDRI_NEW0(ctx, &each, k));
	for (int64_t i = 0; i < l->n; i++)
		if (l->known[i] >= 0)
			classes += each[l->known[i]]++ == 0;
	for (int64_t c = 0; c < k; c++)
		each[c] = each[c] > 0 ? (double)l->nknown / (classes * each[c]) : 0;
	total = total > 0 ? total : 1;
	for (int64_t m = -1; m < b->count; m++)
		if (m < 0 || kdri_ballot_votes(b, m, alone))
			add_partition(ctx, l, b, m, m < 0 ? 0.5 : 0.5 * b->weight[m] / total, answer, k,
			              parts, each, table, s);
done:
	KDRI_FREE(ctx, table, each);
	return st;
}

/* --- neighbours ------------------------------------------------------------------------------------------ */

/* Known samples keep their class. */
static void fix_rows(const kdri_known_classes *l, int64_t k, double *f)
{
	for (int64_t i = 0; i < l->n; i++)
		for (int64_t c = 0; c < k && l->known[i] >= 0; c++)
			f[i * k + c] = l->known[i] == c;
}

/* (E4): f holds S before. inverse: of the column sums of a graph of samples and landmarks; middle: room for columns x k. */
static kdr_status spread(kdr_context *ctx, const kdr_mat *graph, const double *s, const kdri_known_classes *l,
                         int64_t k, double *f, double *next)
{
	kdr_status st = KDR_OK;
	const kdr_csr *g = &graph->as.csr;
	double *sums = NULL, *middle = NULL;
	int64_t size;
	const bool square = g->rows == g->cols;
	KDRI_TRY(KDRI_NEW0(ctx, &sums, g->cols));
	if (!square) {
		KDRI_TRY(kdri_mul(ctx, g->cols, k, &size));
		KDRI_TRY(KDRI_NEW(ctx, &middle, size));
		for (int64_t p = 0; p < g->rowptr[g->rows]; p++)
			sums[g->col[p]] += g->val[p];
	}
	fix_rows(l, k, f);
	for (int round = 0; round < ROUNDS && !ctx->cancelled; round++) {
		if (!square) { /* from samples to landmarks, and back */
			KDRI_TRY(kdri_mat_tmul(ctx, graph, f, k, k, middle, k));
			for (int64_t a = 0; a < g->cols; a++)
				for (int64_t c = 0; c < k; c++)
					middle[a * k + c] /= sums[a] > 0 ? sums[a] : 1;
		}
		KDRI_TRY(kdri_mat_mul(ctx, graph, square ? f : middle, k, k, next, k));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (g->rows > KDRI_BLOCK)
		for (int64_t i = 0; i < g->rows; i++) {
			double degree = 0;
			for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++)
				degree += g->val[p];
			for (int64_t c = 0; c < k; c++)
				f[i * k + c] =
				        ((degree > 0 ? next[i * k + c] / degree : 0) + hold * s[i * k + c]) /
				        (1 + hold);
		}
		fix_rows(l, k, f);
	}
done:
	KDRI_FREE(ctx, sums, middle);
	return st;
}

kdr_status kdri_steer(kdr_context *ctx, const kdri_known_classes *l, const kdri_ballot *b, bool alone,
                      const kdr_mat *graph, int64_t k, int64_t *labels)
{
	kdr_status st;
	int64_t *now = NULL, size;
	double *s = NULL, *f = NULL, *next = NULL;
	KDRI_TRY(kdri_mul(ctx, l->n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &now, k));
	KDRI_TRY(KDRI_NEW0(ctx, &s, size));
	KDRI_TRY(KDRI_NEW(ctx, &f, size));
	KDRI_TRY(KDRI_NEW(ctx, &next, size));
	KDRI_TRY(kdri_steer_numbers(ctx, l, labels, k, now));
	for (int64_t i = 0; i < l->n; i++)
		labels[i] = now[labels[i]];
	KDRI_TRY(steer_scores(ctx, l, b, alone, labels, k, s));
	memcpy(f, s, (size_t)size * sizeof *f);
	if (graph)
		KDRI_TRY(spread(ctx, graph, s, l, k, f, next));
	for (int64_t i = 0; i < l->n; i++) { /* (E5) */
		int64_t best = l->known[i] >= 0 ? l->known[i] : labels[i];
		for (int64_t c = 0; c < k && l->known[i] < 0; c++)
			best = f[i * k + c] > f[i * k + best] ? c : best;
		labels[i] = best;
	}
done:
	KDRI_FREE(ctx, now, s, f, next);
	return st;
}
