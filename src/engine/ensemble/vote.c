/* A vote of classifiers that learns the typical errors of each. SPDX-License-Identifier: BSD-3-Clause
 *
 * [DS79] A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
 * Statistics 28, 1979. With priors, and with clusters and neighbours as further voters.
 *
 * P_ik is the probability that sample i is of class k. It starts as the mean of the votes; then, `rounds` times,
 *
 *   (E1)  pi_k = (sum_i P_ik + 1) / (n + c)
 *   (E2)  theta^m_kl = sum_i P_ik [l_mi = l] + s (a_m if k = l, else (1 - a_m) / (c - 1)), rows to sum 1,
 *         a_m = mean_i P_{i, l_mi}, within [1 / c, .98]
 *   (E3)  phi_kj = sum_i P_ik [z_i = j] + s share_j, rows to sum 1, share_j the proportion of samples in cluster j
 *   (E4)  psi as phi, for the clusters g_i = argmax_k (D^-1 W P)_ik, anew in every round
 *   (E5)  T_ik = ln pi_k + sum_m ln theta^m_{k, l_mi} + sum_z ln phi_{k, z_i} + 2 ln psi_{k, g_i},
 *         phi and psi from the second round on
 *   (E6)  P = softmax of T by rows; rows of known class stay one-hot
 *
 * A clustering that is unrelated to the classes has equal phi for every class and cancels out.
 *
 * l_mi  votes[m][i]     z  clusters     W  graph     c  classes     s  prior, 5 samples */
#include "engine/ensemble/vote.h"

static const double prior = 5, most_sure = 0.98, graph_weight = 2;

typedef struct work {
	const kdri_vote_problem *p;
	double *table;    /* c x the most labels a voter has */
	double *degree;   /* n */
	double *share;    /* the most labels */
	double *near;     /* n x c: D^-1 W P */
	int32_t *nearest; /* n: g_i, or -1 if a sample has no neighbour */
	double *t;        /* n x c */
} work;

/* sum_i P_ik [label_i = l], for labels >= 0. */
static void count_pairs(const work *w, const double *posterior, const int32_t *label, int64_t labels)
{
	int64_t c = w->p->classes;
	memset(w->table, 0, (size_t)(c * labels) * sizeof *w->table);
	for (int64_t i = 0; i < w->p->n; i++)
		for (int64_t k = 0; label[i] >= 0 && k < c; k++)
			w->table[k * labels + label[i]] += posterior[i * c + k];
}

/* Rows of the table to sum 1, and their logarithms, `weight` times, to T. */
static void add_logarithms(const work *w, const int32_t *label, int64_t labels, double weight)
{
	int64_t c = w->p->classes;
	for (int64_t k = 0; k < c; k++) {
		double *row = w->table + k * labels, sum = 0;
		for (int64_t l = 0; l < labels; l++)
			sum += row[l];
		for (int64_t l = 0; l < labels; l++)
			row[l] = weight * log(row[l] / sum);
	}
	for (int64_t i = 0; i < w->p->n; i++)
		for (int64_t k = 0; label[i] >= 0 && k < c; k++)
			w->t[i * c + k] += w->table[k * labels + label[i]];
}

/* (E2) */
static void add_member(const work *w, const double *posterior, const int32_t *vote)
{
	int64_t c = w->p->classes, n = w->p->n;
	double sure = 0;
	for (int64_t i = 0; i < n; i++)
		sure += posterior[i * c + vote[i]];
	sure = KDRI_MIN(KDRI_MAX(sure / (double)n, 1 / (double)c), most_sure);
	count_pairs(w, posterior, vote, c);
	for (int64_t k = 0; k < c; k++)
		for (int64_t l = 0; l < c; l++)
			w->table[k * c + l] += prior * (k == l ? sure : (1 - sure) / (double)(c - 1));
	add_logarithms(w, vote, c, 1);
}

/* (E3), (E4). Clusters without samples have proportion 0 and are not used. */
static void add_clusters(const work *w, const double *posterior, const int32_t *cluster, int64_t clusters,
                         double weight)
{
	int64_t c = w->p->classes, counted = 0;
	memset(w->share, 0, (size_t)clusters * sizeof *w->share);
	for (int64_t i = 0; i < w->p->n; i++)
		if (cluster[i] >= 0) {
			w->share[cluster[i]]++;
			counted++;
		}
	if (counted == 0)
		return;
	count_pairs(w, posterior, cluster, clusters);
	for (int64_t k = 0; k < c; k++)
		for (int64_t j = 0; j < clusters; j++)
			w->table[k * clusters + j] += prior * w->share[j] / (double)counted;
	add_logarithms(w, cluster, clusters, weight);
}

static kdr_status find_near(kdr_context *ctx, const work *w, const double *posterior)
{
	kdr_status st;
	int64_t c = w->p->classes;
	KDRI_TRY(w->p->graph->apply(ctx, w->p->graph, posterior, c, c, w->near, c));
	for (int64_t i = 0; i < w->p->n; i++) {
		double *row = w->near + i * c;
		w->nearest[i] = w->degree[i] > 0 ? 0 : -1;
		for (int64_t k = 0; w->degree[i] > 0 && k < c; k++) {
			row[k] /= w->degree[i];
			if (row[k] > row[w->nearest[i]])
				w->nearest[i] = (int32_t)k;
		}
	}
done:
	return st;
}

static void keep_known(const kdri_vote_problem *p, double *posterior)
{
	for (int64_t i = 0; p->known && i < p->n; i++)
		for (int64_t k = 0; p->known[i] >= 0 && k < p->classes; k++)
			posterior[i * p->classes + k] = p->known[i] == k;
}

static void vote_start(const kdri_vote_problem *p, double *posterior)
{
	int64_t c = p->classes;
	memset(posterior, 0, (size_t)(p->n * c) * sizeof *posterior);
	for (int64_t m = 0; m < p->members; m++)
		for (int64_t i = 0; i < p->n; i++)
			posterior[i * c + p->votes[m][i]] += 1 / (double)p->members;
	keep_known(p, posterior);
}

/* (E6) */
static void soften(const work *w, double *posterior)
{
	int64_t c = w->p->classes;
	for (int64_t i = 0; i < w->p->n; i++) {
		const double *t = w->t + i * c;
		double most = t[0], sum = 0;
		for (int64_t k = 1; k < c; k++)
			most = KDRI_MAX(most, t[k]);
		for (int64_t k = 0; k < c; k++)
			sum += posterior[i * c + k] = exp(t[k] - most);
		for (int64_t k = 0; k < c; k++)
			posterior[i * c + k] /= sum;
	}
	keep_known(w->p, posterior);
}

static void add_shares(const work *w, const double *posterior)
{
	int64_t c = w->p->classes, n = w->p->n;
	for (int64_t k = 0; k < c; k++) {
		double sum = 1;
		for (int64_t i = 0; i < n; i++)
			sum += posterior[i * c + k];
		sum = log(sum / (double)(n + c)); /* (E1) */
		for (int64_t i = 0; i < n; i++)
			w->t[i * c + k] = sum;
	}
}

static kdr_status run_round(kdr_context *ctx, const work *w, bool first, double *posterior)
{
	kdr_status st = KDR_OK;
	const kdri_vote_problem *p = w->p;
	add_shares(w, posterior);
	for (int64_t m = 0; m < p->members; m++)
		add_member(w, posterior, p->votes[m]);
	for (int64_t z = 0; !first && z < p->clusterings; z++)
		add_clusters(w, posterior, p->clusters[z], p->k[z], 1);
	if (!first && p->graph) {
		KDRI_TRY(find_near(ctx, w, posterior));
		add_clusters(w, posterior, w->nearest, p->classes, graph_weight); /* (E5) */
	}
	soften(w, posterior);
done:
	return st;
}

static kdr_status find_degrees(kdr_context *ctx, work *w)
{
	kdr_status st;
	double *ones = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &ones, w->p->n));
	for (int64_t i = 0; i < w->p->n; i++)
		ones[i] = 1;
	KDRI_TRY(w->p->graph->apply(ctx, w->p->graph, ones, 1, 1, w->degree, 1));
done:
	kdri_free(ctx, ones);
	return st;
}

kdr_status kdri_vote(kdr_context *ctx, const kdri_vote_problem *problem, double *posterior,
                     double *neighbours)
{
	kdr_status st;
	int64_t n = problem->n, c = problem->classes, most = c, size;
	work w = { .p = problem };
	for (int64_t z = 0; z < problem->clusterings; z++)
		most = KDRI_MAX(most, problem->k[z]);
	KDRI_TRY(kdri_mul(ctx, n, c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w.table, c * most));
	KDRI_TRY(KDRI_NEW(ctx, &w.share, most));
	KDRI_TRY(KDRI_NEW(ctx, &w.t, size));
	KDRI_TRY(KDRI_NEW0(ctx, &w.near, size));
	KDRI_TRY(KDRI_NEW0(ctx, &w.degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.nearest, n));
	if (problem->graph)
		KDRI_TRY(find_degrees(ctx, &w));
	vote_start(problem, posterior);
	for (int64_t round = 0; round < problem->rounds; round++)
		KDRI_TRY(run_round(ctx, &w, round == 0, posterior));
	if (problem->graph)
		KDRI_TRY(find_near(ctx, &w, posterior));
	if (neighbours)
		memcpy(neighbours, w.near, (size_t)size * sizeof *neighbours);
done:
	kdri_free(ctx, w.table);
	kdri_free(ctx, w.share);
	kdri_free(ctx, w.t);
	kdri_free(ctx, w.near);
	kdri_free(ctx, w.degree);
	kdri_free(ctx, w.nearest);
	return st;
}
