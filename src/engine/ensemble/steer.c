/* Clusters that follow known classes and links. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  clusters u of the vote are matched with classes c by the largest sum of n_uc / n_c + n_uc / (2 n_u), where n_uc samples of
 *         class c are known in cluster u, so that class c has number c
 *   (E2)  for each partition m of the ballot, and for the answer itself with the weight of all of them, and each cluster z of it,
 *         P_m(c | z) = (a v_zc + n_zc) / (a + n_z), a = 3
 *         v_zc: the fraction of z that the vote put in c; n_zc: known samples of class c in z, weighted so that all
 *         classes have the same total weight: otherwise a frequent class would absorb every cluster
 *   (E3)  S_ic = sum_m u_m P_m(c | m(i)) / sum_m u_m
 *   (E4)  linked samples: kdri_steer_linked on S
 *   (E5)  F_i = (sum_j w_ij F_j / sum_j w_ij + l S_i) / (1 + l), l = 1/2, in 30 rounds that begin with S; known and linked samples
 *         keep 1 for their cluster
 *   (E6)  other samples: the cluster with the largest F
 *
 * So the evidence of a partition about a cluster grows with the number of samples known in it, and that of the graph with the
 * proportion of a sample's neighbours that are known. Without known samples S follows the vote. docs/known.md has the measurements
 * behind a and l.
 *
 * Links of samples act as in constrained k-means, on scores instead of distances: Wagstaff, Cardie, Rogers, Schroedl: Constrained
 * k-means clustering with background knowledge. ICML 2001. */
#include "engine/ensemble/vote.h"

#include "engine/metrics/metrics.h"

enum { ROUNDS = 30, REPAIRS = 20 };
static const double prior = 3, hold = 0.5;

kdr_status kdri_steer_numbers(kdr_context *ctx, const kdri_links *l, const int64_t *labels, int64_t k,
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

/* --- links ----------------------------------------------------------------------------------------------- */

typedef struct linked {
	const kdri_links *l;
	int64_t k;
	double *sums;    /* n x k: by the first sample of a group, the scores of all of it */
	int64_t *labels; /* n: by the first sample of a group, its cluster */
	bool *closed;    /* k: clusters that hold a sample from which the group must be apart */
} linked;

/* The best cluster that is not closed, other than `but`; -1: there is none. */
static int64_t best_open(const linked *s, int64_t root, int64_t but)
{
	int64_t best = -1;
	for (int64_t c = 0; c < s->k; c++)
		if (c != but && !s->closed[c] &&
		    (best < 0 || s->sums[root * s->k + c] > s->sums[root * s->k + best]))
			best = c;
	return best;
}

/* Where a group would go if it left its cluster, and what its scores lose by that; -1: it cannot. */
static int64_t alternative(const linked *s, int64_t root, double *loss)
{
	const kdri_links *l = s->l;
	const int64_t here = s->labels[root];
	memset(s->closed, 0, (size_t)s->k * sizeof *s->closed);
	for (int64_t p = 0; p < l->napart; p++) {
		const int64_t a = l->group[l->apart[2 * p]], b = l->group[l->apart[2 * p + 1]];
		if (a == root || b == root)
			s->closed[s->labels[a == root ? b : a]] = true;
	}
	const int64_t to = l->known[root] >= 0 ? -1 : best_open(s, root, here);
	*loss = to >= 0 ? s->sums[root * s->k + here] - s->sums[root * s->k + to] : INFINITY;
	return to;
}

/* Of each pair that shares a cluster, the group that loses less moves. */
static void repair(const linked *s)
{
	const kdri_links *l = s->l;
	bool moved = true;
	for (int round = 0; round < REPAIRS && moved; round++) {
		moved = false;
		for (int64_t p = 0; p < l->napart; p++) {
			const int64_t a = l->group[l->apart[2 * p]], b = l->group[l->apart[2 * p + 1]];
			double loss_a, loss_b;
			if (s->labels[a] != s->labels[b])
				continue;
			const int64_t to_a = alternative(s, a, &loss_a), to_b = alternative(s, b, &loss_b);
			if (to_a >= 0 && loss_a <= loss_b)
				s->labels[a] = to_a;
			else if (to_b >= 0)
				s->labels[b] = to_b;
			moved = moved || to_a >= 0 || to_b >= 0;
		}
	}
}

kdr_status kdri_steer_linked(kdr_context *ctx, const kdri_links *l, const double *scores, int64_t k,
                             int64_t *labels)
{
	kdr_status st = KDR_OK;
	linked s = { .l = l, .k = k, .labels = labels };
	int64_t size;
	for (int64_t i = 0; i < l->n; i++)
		labels[i] = l->known[i] >= 0 ? l->known[i] : labels[i];
	if (l->ngroups == 0 && l->napart == 0)
		return KDR_OK;
	KDRI_TRY(kdri_mul(ctx, l->n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &s.sums, size));
	KDRI_TRY(KDRI_NEW(ctx, &s.closed, k));
	memset(s.closed, 0, (size_t)k * sizeof *s.closed);
	for (int64_t i = 0; i < l->n; i++)
		for (int64_t c = 0; c < k; c++)
			s.sums[l->group[i] * k + c] += scores[i * k + c];
	for (int64_t i = 0; i < l->n; i++)
		if (l->group[i] != i && l->known[i] < 0)
			labels[l->group[i]] = best_open(&s, l->group[i], -1);
	repair(&s);
	for (int64_t i = 0; i < l->n; i++)
		labels[i] = labels[l->group[i]];
done:
	KDRI_FREE(ctx, s.sums, s.closed);
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
static void add_partition(kdr_context *ctx, const kdri_links *l, const kdri_ballot *b, int64_t m,
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
static kdr_status steer_scores(kdr_context *ctx, const kdri_links *l, const kdri_ballot *b, bool alone,
                               const int64_t *answer, int64_t k, double *s)
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

/* Samples that keep their label in (E5). */
static kdr_status find_fixed(kdr_context *ctx, const kdri_links *l, bool **out)
{
	bool *fixed = NULL;
	KDRI_DO(KDRI_NEW(ctx, &fixed, l->n));
	for (int64_t i = 0; i < l->n; i++)
		fixed[i] = l->known[i] >= 0;
	for (int64_t i = 0; i < l->n; i++)
		if (l->group[i] != i)
			fixed[i] = fixed[l->group[i]] = true;
	for (int64_t p = 0; p < 2 * l->napart; p++)
		fixed[l->apart[p]] = true;
	*out = fixed;
	return KDR_OK;
}

static void fix_rows(int64_t n, const bool *fixed, const int64_t *labels, int64_t k, double *f)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < k && fixed[i]; c++)
			f[i * k + c] = labels[i] == c;
}

/* (E5): f holds S before. inverse: of the column sums of a graph of samples and landmarks; middle: room for columns x k. */
static kdr_status spread(kdr_context *ctx, const kdr_mat *graph, const double *s, const bool *fixed,
                         const int64_t *labels, int64_t k, double *f, double *next)
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
	fix_rows(g->rows, fixed, labels, k, f);
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
		fix_rows(g->rows, fixed, labels, k, f);
	}
done:
	KDRI_FREE(ctx, sums, middle);
	return st;
}

kdr_status kdri_steer(kdr_context *ctx, const kdri_links *l, const kdri_ballot *b, bool alone,
                      const kdr_mat *graph, int64_t k, int64_t *labels)
{
	kdr_status st;
	int64_t *now = NULL, size;
	double *s = NULL, *f = NULL, *next = NULL;
	bool *fixed = NULL;
	KDRI_TRY(kdri_mul(ctx, l->n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &now, k));
	KDRI_TRY(KDRI_NEW0(ctx, &s, size));
	KDRI_TRY(KDRI_NEW(ctx, &f, size));
	KDRI_TRY(KDRI_NEW(ctx, &next, size));
	KDRI_TRY(kdri_steer_numbers(ctx, l, labels, k, now));
	for (int64_t i = 0; i < l->n; i++)
		labels[i] = now[labels[i]];
	KDRI_TRY(steer_scores(ctx, l, b, alone, labels, k, s));
	KDRI_TRY(kdri_steer_linked(ctx, l, s, k, labels)); /* (E4) */
	KDRI_TRY(find_fixed(ctx, l, &fixed));
	memcpy(f, s, (size_t)size * sizeof *f);
	if (graph)
		KDRI_TRY(spread(ctx, graph, s, fixed, labels, k, f, next));
	for (int64_t i = 0; i < l->n; i++) { /* (E6) */
		int64_t best = labels[i];
		for (int64_t c = 0; c < k && !fixed[i]; c++)
			best = f[i * k + c] > f[i * k + best] ? c : best;
		labels[i] = best;
	}
done:
	KDRI_FREE(ctx, now, s, f, next, fixed);
	return st;
}
