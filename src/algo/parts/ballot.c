/* Votes on the edges of a graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * With partitions m = 1..M of weight u_m and a graph w of nearest neighbours,
 *
 *   (E1)  co_ij = sum_m u_m [m puts i and j together] / sum_m u_m
 *   (E2)  W_ij = w_ij (0.05 + co_ij)^2
 *   (E3)  the answer: the spectral step on W (spectral.c)
 *   (E4)  confidence_i = sum_j w_ij a_ij / sum_j w_ij,  a_ij = co_ij if the answer puts i and j together,
 *         1 - co_ij if not
 *
 * Only edges of the graph are looked at, so that nothing is n x n: the rest of the co-association matrix
 * would be multiplied by w_ij = 0. The square makes edges that most partitions cut nearly vanish, and the 0.05
 * keeps the graph in one piece where all of them do: a partition in one cluster adds the same to all
 * edges, one in singletons nothing, and neither moves the answer. */
#include "algo/parts/ballot.h"

#include "algo/parts/spectral.h"

static const double least_vote = 0.05;

void kdri_ballot_free(kdr_context *ctx, kdri_ballot *b)
{
	kdri_free(ctx, b->label);
	kdri_free(ctx, b->weight);
	kdri_free(ctx, b->transfer);
	kdri_free(ctx, b->member);
	*b = (kdri_ballot){ 0 };
}

kdr_status kdri_ballot_new(kdr_context *ctx, int64_t n, int64_t count, kdri_ballot *out)
{
	kdr_status st;
	kdri_ballot b = { .n = n, .count = count };
	int64_t size;
	KDR_TRY(kdri_mul(ctx, n, count, &size));
	KDR_TRY(KDRI_NEW0(ctx, &b.label, size));
	KDR_TRY(KDRI_NEW0(ctx, &b.weight, count));
	KDR_TRY(KDRI_NEW0(ctx, &b.transfer, count));
	KDR_TRY(KDRI_NEW0(ctx, &b.member, count));
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	kdri_ballot_free(ctx, &b);
	return st;
}

static bool votes(const kdri_ballot *b, int64_t m, bool single)
{
	return !(single && b->transfer[m]);
}

void kdri_ballot_edges(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *graph, bool single, double *co)
{
	double total = 0;
	for (int64_t m = 0; m < b->count; m++)
		total += votes(b, m, single) ? b->weight[m] : 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t p = graph->rowptr[i]; p < graph->rowptr[i + 1]; p++) {
			const int32_t *x = b->label + i * b->count,
			              *y = b->label + (int64_t)graph->col[p] * b->count;
			double sum = 0;
			for (int64_t m = 0; m < b->count; m++)
				sum += x[m] == y[m] && votes(b, m, single) ? b->weight[m] : 0;
			co[p] = total > 0 ? sum / total : 0; /* (E1) */
		}
}

/* (E4). A sample without edges has nobody to agree about. */
static void confidence(kdr_context *ctx, const kdr_csr *graph, const double *co, const int64_t *labels,
                       double *out)
{
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (graph->rows > KDRI_BLOCK)
	for (int64_t i = 0; i < graph->rows; i++) {
		double sum = 0, total = 0;
		for (int64_t p = graph->rowptr[i]; p < graph->rowptr[i + 1]; p++) {
			sum += graph->val[p] * (labels[i] == labels[graph->col[p]] ? co[p] : 1 - co[p]);
			total += graph->val[p];
		}
		out[i] = total > 0 ? KDRI_MIN(sum / total, 1) : 0;
	}
}

/* Clusters get numbers in the order of their first samples: names that rounding does not choose. */
static kdr_status number_clusters(kdr_context *ctx, int64_t n, int64_t k, int64_t *labels)
{
	int64_t *name = NULL, next = 0;
	kdr_status st = KDRI_NEW(ctx, &name, k);
	for (int64_t c = 0; st == KDR_OK && c < k; c++)
		name[c] = -1;
	for (int64_t i = 0; st == KDR_OK && i < n; i++) {
		int64_t *to = &name[labels[i]];
		if (*to < 0)
			*to = next++;
		labels[i] = *to;
	}
	kdri_free(ctx, name);
	return st;
}

void kdri_verdict_free(kdr_context *ctx, kdri_verdict *v)
{
	kdri_free(ctx, v->labels);
	kdri_free(ctx, v->confidence);
	*v = (kdri_verdict){ 0 };
}

kdr_status kdri_verdict_new(kdr_context *ctx, const kdri_ballot *b, const kdr_mat *graph,
                            const kdri_verdict_options *o, kdri_verdict *out)
{
	kdr_status st;
	const kdr_csr *g = &graph->as.csr;
	kdri_verdict v = { 0 };
	kdri_spectral_result s = { 0 };
	double *co = NULL, *weighted = NULL;
	KDR_TRY(KDRI_NEW(ctx, &v.labels, b->n));
	KDR_TRY(KDRI_NEW(ctx, &v.confidence, b->n));
	KDR_TRY(KDRI_NEW(ctx, &co, g->rowptr[b->n]));
	KDR_TRY(KDRI_NEW(ctx, &weighted, g->rowptr[b->n]));
	kdri_ballot_edges(ctx, b, g, o->single, co);
	for (int64_t p = 0; p < g->rowptr[b->n]; p++)
		weighted[p] = g->val[p] * (least_vote + co[p]) * (least_vote + co[p]); /* (E2) */
	kdr_mat w = kdr_mat_from_csr(b->n, b->n, g->rowptr, g->col, weighted);
	kdri_spectral_options spectral = kdri_spectral_defaults(o->k);
	spectral.n_init = o->n_init;
	spectral.max_iter = o->max_iter;
	spectral.init_labels = o->init;
	KDR_TRY(kdri_spectral(ctx, &w, &spectral, &s)); /* (E3) */
	bool cut_short = s.stop == KDR_STOP_TIME || s.stop == KDR_STOP_CANCELLED;
	for (int64_t i = 0; i < b->n; i++)
		v.labels[i] = cut_short && b->count > 0 ? b->label[i * b->count] : s.labels[i];
	if (!o->init)
		KDR_TRY(number_clusters(ctx, b->n, o->k, v.labels));
	confidence(ctx, g, co, v.labels, v.confidence);
	KDR_TRY(kdri_ncut_value(ctx, &w, v.labels, o->k, &v.ncut));
	v.isolated = s.isolated;
	v.nonempty = s.nonempty;
	v.stop = s.stop;
	*out = v;
	v = (kdri_verdict){ 0 };
done:
	kdri_spectral_free(ctx, &s);
	kdri_free(ctx, co);
	kdri_free(ctx, weighted);
	kdri_verdict_free(ctx, &v);
	return st;
}
