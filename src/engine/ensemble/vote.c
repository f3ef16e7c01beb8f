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
#include <math.h>

#include "engine/ensemble/vote.h"

enum { SERIAL_WORK = 1 << 14 };
static const double prior = 5, most_sure = 0.98, graph_weight = 2;

/* A classifier, a clustering or the neighbours. */
typedef struct voter {
	const int32_t *label; /* n: of each sample, below 0: none */
	int64_t labels;
	bool classifier;
	double weight;
	double *table; /* labels x c: theta, phi or psi by label; then its logarithms, `weight` times */
	double *size;  /* labels: samples that have each */
	bool used;     /* it has labels */
} voter;

typedef struct work {
	const kdri_vote_problem *p;
	voter *voters; /* members, clusterings, neighbours */
	double *tables;
	double *share;    /* c: ln pi */
	double *degree;   /* n */
	double *near;     /* n x c: D^-1 W P */
	int32_t *nearest; /* n: g_i, or -1 if a sample has no neighbour */
} work;

/* sum_i P_ik [label_i = l], for labels >= 0. */
static void count_pairs(const work *w, const double *posterior, const voter *v)
{
	int64_t c = w->p->classes;
	memset(v->table, 0, (size_t)(c * v->labels) * sizeof *v->table);
	for (int64_t i = 0; i < w->p->n; i++)
		for (int64_t k = 0; v->label[i] >= 0 && k < c; k++)
			v->table[v->label[i] * c + k] += posterior[i * c + k];
}

/* (E2) */
static void find_theta(const work *w, const double *posterior, voter *v)
{
	int64_t c = w->p->classes, n = w->p->n;
	double sure = 0;
	for (int64_t i = 0; i < n; i++)
		sure += posterior[i * c + v->label[i]];
	sure = KDRI_MIN(KDRI_MAX(sure / (double)n, 1 / (double)c), most_sure);
	count_pairs(w, posterior, v);
	for (int64_t k = 0; k < c; k++)
		for (int64_t l = 0; l < c; l++)
			v->table[l * c + k] += prior * (k == l ? sure : (1 - sure) / (double)(c - 1));
	v->used = true;
}

/* (E3), (E4). Clusters without samples have proportion 0 and are not used. */
static void find_phi(const work *w, const double *posterior, voter *v)
{
	int64_t c = w->p->classes, counted = 0;
	memset(v->size, 0, (size_t)v->labels * sizeof *v->size);
	for (int64_t i = 0; i < w->p->n; i++)
		if (v->label[i] >= 0) {
			v->size[v->label[i]]++;
			counted++;
		}
	v->used = counted > 0;
	count_pairs(w, posterior, v);
	for (int64_t l = 0; l < v->labels && counted > 0; l++)
		for (int64_t k = 0; k < c; k++)
			v->table[l * c + k] += prior * v->size[l] / (double)counted;
}

/* Columns of the table to sum 1, and their logarithms, `weight` times. */
static void take_logarithms(const work *w, const voter *v)
{
	int64_t c = w->p->classes;
	for (int64_t k = 0; k < c; k++) {
		double sum = 0;
		for (int64_t l = 0; l < v->labels; l++)
			sum += v->table[l * c + k];
		for (int64_t l = 0; l < v->labels; l++)
			v->table[l * c + k] = v->weight * log(v->table[l * c + k] / sum);
	}
}

static kdr_status find_near(kdr_context *ctx, const work *w, const double *posterior)
{
	int64_t c = w->p->classes;
	KDRI_DO(w->p->graph->apply(ctx, w->p->graph, posterior, c, c, w->near, c));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (w->p->n * c > SERIAL_WORK)
	for (int64_t i = 0; i < w->p->n; i++) {
		double *row = w->near + i * c;
		w->nearest[i] = w->degree[i] > 0 ? 0 : -1;
		for (int64_t k = 0; w->degree[i] > 0 && k < c; k++) {
			row[k] /= w->degree[i];
			if (row[k] > row[w->nearest[i]])
				w->nearest[i] = (int32_t)k;
		}
	}
	return KDR_OK;
}

static void keep_known(const kdri_vote_problem *p, int64_t i, double *row)
{
	for (int64_t k = 0; p->known && p->known[i] >= 0 && k < p->classes; k++)
		row[k] = p->known[i] == k;
}

static void vote_start(const kdri_vote_problem *p, double *posterior)
{
	int64_t c = p->classes;
	memset(posterior, 0, (size_t)(p->n * c) * sizeof *posterior);
	for (int64_t m = 0; m < p->members; m++)
		for (int64_t i = 0; i < p->n; i++)
			posterior[i * c + p->votes[m][i]] += 1 / (double)p->members;
	for (int64_t i = 0; i < p->n; i++)
		keep_known(p, i, posterior + i * c);
}

/* (E5), (E6) for sample i and the first `count` voters. */
static void soften(const work *w, int64_t count, int64_t i, double *row)
{
	int64_t c = w->p->classes;
	double most, sum = 0;
	memcpy(row, w->share, (size_t)c * sizeof *row);
	for (int64_t j = 0; j < count; j++) {
		const voter *v = &w->voters[j];
		for (int64_t k = 0; v->used && v->label[i] >= 0 && k < c; k++)
			row[k] += v->table[v->label[i] * c + k];
	}
	most = row[0];
	for (int64_t k = 1; k < c; k++)
		most = KDRI_MAX(most, row[k]);
	for (int64_t k = 0; k < c; k++)
		sum += row[k] = exp(row[k] - most);
	for (int64_t k = 0; k < c; k++)
		row[k] /= sum;
	keep_known(w->p, i, row);
}

static kdr_status run_round(kdr_context *ctx, const work *w, bool first, double *posterior)
{
	const kdri_vote_problem *p = w->p;
	const int64_t count = first ? p->members : p->members + p->clusterings + (p->graph ? 1 : 0);
	if (!first && p->graph)
		KDRI_DO(find_near(ctx, w, posterior));
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (p->n * p->classes > SERIAL_WORK)
	for (int64_t j = 0; j <= count; j++) {
		if (j == count) {
			/* (E1) */
			int64_t c = w->p->classes, n = w->p->n;
			for (int64_t k = 0; k < c; k++)
				w->share[k] = 1;
			for (int64_t i = 0; i < n; i++)
				for (int64_t k = 0; k < c; k++)
					w->share[k] += posterior[i * c + k];
			for (int64_t k = 0; k < c; k++)
				w->share[k] = log(w->share[k] / (double)(n + c));
			continue;
		}
		(w->voters[j].classifier ? find_theta : find_phi)(w, posterior, &w->voters[j]);
		take_logarithms(w, &w->voters[j]);
	}
#pragma omp parallel for num_threads(kdri_team(ctx)) if (p->n * p->classes > SERIAL_WORK)
	for (int64_t i = 0; i < p->n; i++)
		soften(w, count, i, posterior + i * p->classes);
	return KDR_OK;
}

/* Members, then clusterings, then neighbours, with their tables. */
static kdr_status find_voters(kdr_context *ctx, work *w)
{
	const kdri_vote_problem *p = w->p;
	const int64_t count = p->members + p->clusterings + 1;
	int64_t total = 0, at = 0;
	KDRI_DO(KDRI_NEW(ctx, &w->voters, count));
	for (int64_t j = 0; j < count; j++) {
		const bool member = j < p->members, clusters = !member && j + 1 < count;
		w->voters[j] = (voter){ .label = member     ? p->votes[j]
			                         : clusters ? p->clusters[j - p->members]
			                                    : w->nearest,
			                .labels = clusters ? p->k[j - p->members] : p->classes,
			                .classifier = member,
			                .weight = member || clusters ? 1 : graph_weight };
		total += (p->classes + 1) * w->voters[j].labels;
	}
	KDRI_DO(KDRI_NEW(ctx, &w->tables, total));
	for (int64_t j = 0; j < count; j++) {
		w->voters[j].table = w->tables + at;
		at += p->classes * w->voters[j].labels;
		w->voters[j].size = w->tables + at;
		at += w->voters[j].labels;
	}
	return KDR_OK;
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
	int64_t n = problem->n, c = problem->classes, size;
	work w = { .p = problem };
	KDRI_TRY(kdri_mul(ctx, n, c, &size));
	KDRI_TRY(KDRI_NEW(ctx, &w.share, c));
	KDRI_TRY(KDRI_NEW0(ctx, &w.near, size));
	KDRI_TRY(KDRI_NEW0(ctx, &w.degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.nearest, n));
	KDRI_TRY(find_voters(ctx, &w));
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
	KDRI_FREE(ctx, w.voters, w.tables, w.share, w.near, w.degree, w.nearest);
	return st;
}
