/* Whether a graph of neighbours deserves its say. SPDX-License-Identifier: BSD-3-Clause
 *
 * The vote (verdict.c) cuts a graph w, so it can be no better than w is. Two signs of a bad one need no truth:
 *
 *   (E1)  l_k, the k-th largest eigenvalue of D^-1/2 w D^-1/2: 1 where w falls into k pieces, less the more
 *         edges run between any k parts of it
 *   (E2)  a = mean NMI of the graph's own partition (its normalised cut) with the other members'
 *         b = mean NMI of the partitions of two other members; both by weight
 *   (E3)  doubt = (1 - l_k) max(0, 1 - a / b)
 *
 * Neither is enough. Clear pieces that only the graph sees are often right (on reuters3 and handdigits it beats all
 * other members), and small tasks have blurred graphs that still agree with the rest. Where w is blurred *and*
 * alone in what it says, the votes know better. docs/auto.md has the measurements. */
#include "algo/auto/ballot.h"

#include "linalg/ritz.h"

/* 1 - l_k from D^-1/2 w D^-1/2. An eigenvalue is off by the square of its vector's error: a rough vector will do. */
static kdr_status blur(kdr_context *ctx, const kdr_mat *graph, int64_t k, double *out)
{
	kdr_status st;
	const kdr_csr *g = &graph->as.csr;
	int64_t n = g->rows, size;
	double *scale = NULL, *val = NULL, *ones = NULL, *values = NULL, *vectors = NULL;
	bool converged;
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scale, n));
	KDRI_TRY(KDRI_NEW(ctx, &ones, n));
	KDRI_TRY(KDRI_NEW(ctx, &val, g->rowptr[n]));
	KDRI_TRY(KDRI_NEW(ctx, &values, k));
	KDRI_TRY(KDRI_NEW(ctx, &vectors, size));
	for (int64_t i = 0; i < n; i++)
		ones[i] = 1;
	KDRI_TRY(kdri_mat_mul(ctx, graph, ones, 1, 1, scale, 1));
	for (int64_t i = 0; i < n; i++)
		scale[i] = scale[i] > 0 ? 1 / sqrt(scale[i]) : 0;
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = g->rowptr[i]; p < g->rowptr[i + 1]; p++)
			val[p] = -scale[i] * g->val[p] *
			         scale[g->col[p]]; /* the solver looks for the lowest */
	kdr_mat w = kdr_mat_from_csr(n, n, g->rowptr, g->col, val);
	kdri_op op = kdri_op_mat(&w);
	const kdri_ritz_options o = { .count = k, .tol = 1e-3 };
	KDRI_TRY(kdri_ritz_lowest(ctx, &op, &o, values, vectors, &converged));
	*out = KDRI_MIN(1, KDRI_MAX(0, 1 + values[k - 1])); /* (E1) */
done:
	kdri_free(ctx, scale);
	kdri_free(ctx, ones);
	kdri_free(ctx, val);
	kdri_free(ctx, values);
	kdri_free(ctx, vectors);
	return st;
}

/* max(0, 1 - a / b); 0 where there are not two other members to compare with. */
static kdr_status solitude(kdr_context *ctx, const kdri_ballot *b, bool single, double *out)
{
	kdr_status st;
	int64_t *parts = NULL, size;
	double own = 0, own_weight = 0, rest = 0, rest_weight = 0;
	KDRI_TRY(kdri_mul(ctx, b->n, b->count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &parts, size));
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t m = 0; m < b->count; m++)
			parts[m * b->n + i] = b->label[i * b->count + m];
	for (int64_t x = 0; x < b->count; x++)
		for (int64_t y = 0; y < x; y++) {
			bool graph = x == b->graph || y == b->graph;
			double weight =
			        graph ? b->weight[x == b->graph ? y : x] : b->weight[x] * b->weight[y];
			kdr_scores s;
			if (b->member[x] == b->member[y] || (single && (b->transfer[x] || b->transfer[y])))
				continue;
			KDRI_TRY(kdr_evaluate(ctx, parts + x * b->n, parts + y * b->n, b->n, &s));
			*(graph ? &own : &rest) += weight * s.nmi;
			*(graph ? &own_weight : &rest_weight) += weight;
		}
	own = own_weight > 0 ? own / own_weight : 0; /* (E2) */
	rest = rest_weight > 0 ? rest / rest_weight : 0;
	*out = own < rest ? 1 - own / rest : 0;
done:
	kdri_free(ctx, parts);
	return st;
}

kdr_status kdri_graph_doubt(kdr_context *ctx, const kdri_ballot *b, const kdr_mat *graph, int64_t k,
                            bool single, double *out)
{
	kdr_status st = KDR_OK;
	double alone = 0, blurred = 0;
	if (b->graph >= 0)
		KDRI_TRY(solitude(ctx, b, single, &alone));
	if (alone > 0)
		KDRI_TRY(blur(ctx, graph, k, &blurred));
	*out = blurred * alone; /* (E3) */
done:
	return st;
}
