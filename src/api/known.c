/* The samples of a fit, by which a model recognises them. SPDX-License-Identifier: BSD-3-Clause */
#include "api/known.h"
#include "api/result.h"
#include "comm/comm.h"
#include "matrix/linalg.h"

#include <stdlib.h>

enum { PILE_BITS = 8, PILES = 1 << PILE_BITS };

static int64_t hash_of(const kdr_mat *x, int64_t i)
{
	const kdri_entries row = kdri_row_entries(x, i);
	return (int64_t)kdri_entries_hash(&row);
}

/* By hash, then by label. */
static int known_compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Keeps one pair of each hash, with the label that most of its samples have; returns how many. */
static int64_t known_merge(int64_t *pairs, int64_t count)
{
	int64_t kept = 0, most = 0;
	for (int64_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && known_compare(pairs + 2 * i, pairs + 2 * next) == 0;)
			next++;
		const bool another = kept == 0 || pairs[2 * kept - 2] != pairs[2 * i];
		if (another || next - i > most) {
			kept += another;
			most = next - i;
			memmove(pairs + 2 * kept - 2, pairs + 2 * i, 2 * sizeof *pairs);
		}
	}
	return kept;
}

/* The pile of a pair, by the upper bits of its hash; piles are in the order of known_compare. */
static int pile_of(const int64_t *pair)
{
	return (int)(((uint64_t)pair[0] ^ (uint64_t)1 << 63) >> (64 - PILE_BITS));
}

/* Sorts pairs into `sorted`. They are first dealt out to piles, which threads sort independently. */
static void known_sort(kdr_context *ctx, const int64_t *pairs, int64_t n, int64_t *sorted)
{
	int64_t start[PILES + 1] = { 0 }, next[PILES];
	for (int64_t i = 0; i < n; i++)
		start[pile_of(pairs + 2 * i) + 1]++;
	for (int p = 0; p < PILES; p++) {
		start[p + 1] += start[p];
		next[p] = start[p];
	}
	for (int64_t i = 0; i < n; i++)
		memcpy(sorted + 2 * next[pile_of(pairs + 2 * i)]++, pairs + 2 * i, 2 * sizeof *pairs);
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) if (n > 1 << 12)
	for (int p = 0; p < PILES; p++)
		qsort(sorted + 2 * start[p], (size_t)(start[p + 1] - start[p]), 2 * sizeof *sorted,
		      known_compare);
}

/* The hashes and labels of the samples that have a label; returns how many. */
static int64_t known_hash(kdr_context *ctx, const kdr_mat *x, const kdri_task_result *t, int64_t *pairs)
{
	int64_t n = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static)
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0)
			pairs[2 * i] = hash_of(x, i);
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0) {
			pairs[2 * n] = pairs[2 * i];
			pairs[2 * n++ + 1] = t->labels[i];
		}
	return n;
}

static kdr_status known_put_task(kdr_context *ctx, const kdr_mat *x, kdri_task_result *t)
{
	kdr_status st;
	int64_t *pairs = NULL, *all = NULL, *sorted = NULL, bytes = 0, n = 0;
	KDRI_TRY(KDRI_NEW(ctx, &pairs, 2 * t->n));
	n = known_hash(ctx, x, t, pairs);
	bytes = 2 * n * (int64_t)sizeof *pairs;
	if (kdri_several(ctx)) {
		KDRI_TRY(kdri_gather(ctx, pairs, bytes, &all, &bytes));
		kdri_free(ctx, pairs);
		pairs = all;
	}
	if (!pairs) /* rank 0 has them */
		goto done;
	n = bytes / (2 * (int64_t)sizeof *pairs);
	KDRI_TRY(KDRI_NEW(ctx, &sorted, 2 * n));
	known_sort(ctx, pairs, n, sorted);
	t->nknown = known_merge(sorted, n);
	t->known = sorted;
	sorted = NULL;
done:
	KDRI_FREE(ctx, pairs, sorted);
	return st;
}

kdr_status kdri_known_put(kdr_context *ctx, const kdr_problem *problem, kdr_result *result)
{
	for (int64_t t = 0; t < result->ntasks && (result->algo->flags & KDR_ALGO_PREDICT); t++)
		if (result->tasks[t].labels && result->tasks[t].all <= KDRI_KNOWN_MOST)
			KDRI_DO(known_put_task(ctx, &problem->tasks[t].x, &result->tasks[t]));
	return KDR_OK;
}

void kdri_known_apply(const kdr_result *fitted, int64_t task, const kdr_mat *x, int64_t *labels)
{
	const kdri_task_result *t = &fitted->tasks[task];
	for (int64_t i = 0; t->nknown > 0 && i < kdr_mat_rows(x); i++) {
		const int64_t hash = hash_of(x, i);
		int64_t low = 0, high = t->nknown;
		while (low < high) {
			const int64_t middle = low + (high - low) / 2;
			if (t->known[2 * middle] < hash)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < t->nknown && t->known[2 * low] == hash)
			labels[i] = t->known[2 * low + 1];
	}
}

bool kdri_known_sound(const int64_t *known, int64_t count, int64_t k)
{
	for (int64_t i = 0; i < count; i++)
		if (known[2 * i + 1] < 0 || known[2 * i + 1] >= k ||
		    (i > 0 && known[2 * i] <= known[2 * i - 2]))
			return false;
	return true;
}
