/* Votes on the edges of a graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * With partitions m = 1..M of weight u_m,
 *
 *   (E1)  co_ij = sum_m u_m [m puts i and j together] / sum_m u_m
 *
 * Only edges of the graph are evaluated, so that nothing is n x n. */
#include "engine/ensemble/ballot.h"

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
	KDRI_TRY(kdri_mul(ctx, n, count, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &b.label, size));
	KDRI_TRY(KDRI_NEW0(ctx, &b.weight, count));
	KDRI_TRY(KDRI_NEW0(ctx, &b.transfer, count));
	KDRI_TRY(KDRI_NEW0(ctx, &b.member, count));
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	kdri_ballot_free(ctx, &b);
	return st;
}

bool kdri_ballot_votes(const kdri_ballot *b, int64_t m, bool alone)
{
	return !(alone && b->transfer[m]);
}

void kdri_ballot_edges(kdr_context *ctx, const kdri_ballot *b, const kdr_csr *graph, const int32_t *theirs,
                       bool alone, double *co)
{
	double total = 0;
	for (int64_t m = 0; m < b->count; m++)
		total += kdri_ballot_votes(b, m, alone) ? b->weight[m] : 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (b->n > KDRI_BLOCK)
	for (int64_t i = 0; i < b->n; i++)
		for (int64_t p = graph->rowptr[i]; p < graph->rowptr[i + 1]; p++) {
			const int32_t *x = b->label + i * b->count,
			              *y = theirs + (int64_t)graph->col[p] * b->count;
			double sum = 0;
			for (int64_t m = 0; m < b->count; m++)
				sum += x[m] == y[m] && kdri_ballot_votes(b, m, alone) ? b->weight[m] : 0;
			co[p] = total > 0 ? sum / total : 0; /* (E1) */
		}
}
