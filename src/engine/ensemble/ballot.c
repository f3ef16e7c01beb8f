/* Votes on the edges of a graph. SPDX-License-Identifier: BSD-3-Clause
 *
 * With partitions m = 1..M of weight u_m,
 *
 *   (E1)  co_ij = sum_m u_m [m puts i and j together] / sum_m u_m
 *
 * Only edges of the graph are evaluated, so that nothing is n x n. */
#include "engine/ensemble/ballot.h"

#include "matrix/kept.h"

void kdri_ballot_free(kdr_context *ctx, kdri_ballot *b)
{
	KDRI_FREE(ctx, b->label, b->weight, b->transfer, b->member);
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
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) if (b->n > KDRI_BLOCK)
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

/* --- for other numbers of clusters ------------------------------------------------------------------------ */

static const char kept_size[] = "ballot", kept_label[] = "ballot.label", kept_weight[] = "ballot.weight",
                  kept_transfer[] = "ballot.transfer", kept_member[] = "ballot.member";

static uint64_t ballot_key(int fit, int64_t task)
{
	return (uint64_t)task * 2 + (uint64_t)fit;
}

kdr_status kdri_ballot_keep(kdr_context *ctx, int64_t task, const kdri_ballot *b)
{
	const uint64_t key = ballot_key(kdri_fits_before(ctx), task);
	const int64_t size[3] = { b->n, b->count, b->best };
	const size_t count = (size_t)b->count;
	KDRI_DO(kdri_kept_put(ctx, kept_label, key, b->label, (size_t)b->n * count * sizeof *b->label));
	KDRI_DO(kdri_kept_put(ctx, kept_weight, key, b->weight, count * sizeof *b->weight));
	KDRI_DO(kdri_kept_put(ctx, kept_transfer, key, b->transfer, count * sizeof *b->transfer));
	KDRI_DO(kdri_kept_put(ctx, kept_member, key, b->member, count * sizeof *b->member));
	return kdri_kept_put(ctx, kept_size, key, size, sizeof size);
}

/* The ballot of one fit; out->count 0: none. */
static kdr_status ballot_of_fit(kdr_context *ctx, int fit, int64_t task, kdri_ballot *out)
{
	kdr_status st = KDR_OK;
	const uint64_t key = ballot_key(fit, task);
	kdri_ballot b = { 0 };
	int64_t size[3];
	if (!kdri_kept_find(ctx, kept_size, key, size, sizeof size))
		return KDR_OK;
	KDRI_TRY(kdri_ballot_new(ctx, size[0], size[1], &b));
	b.best = size[2];
	const size_t count = (size_t)b.count;
	if (kdri_kept_find(ctx, kept_label, key, b.label, (size_t)b.n * count * sizeof *b.label) &&
	    kdri_kept_find(ctx, kept_weight, key, b.weight, count * sizeof *b.weight) &&
	    kdri_kept_find(ctx, kept_transfer, key, b.transfer, count * sizeof *b.transfer) &&
	    kdri_kept_find(ctx, kept_member, key, b.member, count * sizeof *b.member)) {
		*out = b;
		b = (kdri_ballot){ 0 };
	}
done:
	kdri_ballot_free(ctx, &b);
	return st;
}

kdr_status kdri_ballot_kept(kdr_context *ctx, int64_t task, kdri_ballot *out)
{
	kdr_status st = KDR_OK;
	kdri_ballot part[KDRI_COMPLETE_FITS] = { { 0 } }, b = { 0 };
	int64_t count = 0;
	for (int f = 0; f < KDRI_COMPLETE_FITS; f++) {
		KDRI_TRY(ballot_of_fit(ctx, f, task, &part[f]));
		count += part[f].count;
	}
	if (count == 0)
		goto done;
	KDRI_TRY(kdri_ballot_new(ctx, KDRI_MAX(part[0].n, part[1].n), count, &b));
	for (int64_t f = 0, m = 0; f < KDRI_COMPLETE_FITS; f++)
		for (int64_t q = 0; q < part[f].count; q++, m++) {
			for (int64_t i = 0; i < b.n; i++)
				b.label[i * count + m] = part[f].label[i * part[f].count + q];
			b.weight[m] = part[f].weight[q];
			b.transfer[m] = part[f].transfer[q];
			b.member[m] = part[f].member[q];
		}
	*out = b;
	b = (kdri_ballot){ 0 };
done:
	for (int f = 0; f < KDRI_COMPLETE_FITS; f++)
		kdri_ballot_free(ctx, &part[f]);
	kdri_ballot_free(ctx, &b);
	return st;
}

kdr_status kdri_ballot_align(kdr_context *ctx, const kdri_ballot *b, const int64_t *labels, int64_t k,
                             int32_t **out)
{
	kdr_status st;
	int64_t most = 0, *counts = NULL;
	int32_t *to = NULL, *aligned = NULL;
	for (int64_t p = 0; p < b->n * b->count; p++)
		most = KDRI_MAX(most, b->label[p] + 1);
	KDRI_TRY(KDRI_NEW(ctx, &counts, most * k));
	KDRI_TRY(KDRI_NEW(ctx, &to, most));
	KDRI_TRY(KDRI_NEW(ctx, &aligned, b->n * b->count));
	for (int64_t m = 0; m < b->count; m++) {
		memset(counts, 0, (size_t)(most * k) * sizeof *counts);
		for (int64_t i = 0; i < b->n; i++)
			counts[b->label[i * b->count + m] * k + labels[i]]++;
		for (int64_t c = 0; c < most; c++) {
			to[c] = 0;
			for (int32_t z = 1; z < k; z++)
				to[c] = counts[c * k + z] > counts[c * k + to[c]] ? z : to[c];
		}
		for (int64_t i = 0; i < b->n; i++)
			aligned[i * b->count + m] = to[b->label[i * b->count + m]];
	}
	*out = aligned;
	aligned = NULL;
done:
	KDRI_FREE(ctx, counts, to, aligned);
	return st;
}
