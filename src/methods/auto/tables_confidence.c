/* Confidence of auto on tables. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  A = mean ARI of the members with the answer
 *   (E2)  s = mean over 6 draws (80 % of the rows, each column kept with probability 0.7, at least two of them) of the ARI of
 *         the answer with a mixture of shared variances that starts from it on the draw
 *   (E3)  estimated ARI of the answer with the truth: 1.28 (A + s) / 2 - 0.22, between 0 and 1
 *   (E4)  confidence of a row: the proportion of members, and of draws that contain it, that keep its label; labels
 *         are matched with those of the answer by assignment
 *
 * (E3) was fitted on generated tables; docs/notes/statements.md reports how often it holds. Draws are taken from the
 * rows that starts are found on; for the other rows of large tables, (E4) uses only members. */
#include "methods/auto/tables.h"

#include "comm/comm.h"
#include "engine/metrics/metrics.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

enum { DRAWS = 6, FEW_DRAWS = 2, LEAST_COLUMNS = 2 }; /* few: of other levels than the main result */
static const double row_share = 0.8, column_share = 0.7, slope = 1.28, intercept = -0.22;

kdr_status kdri_align_labels(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                             int64_t *to)
{
	kdr_status st;
	double *cost = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &cost, k * k));
	for (int64_t i = 0; i < n; i++)
		cost[b[i] * k + a[i]]--;
	KDRI_TRY(kdri_sum(ctx, cost, k * k));
	KDRI_TRY(kdri_assign(ctx, cost, k, k, to, NULL, NULL));
done:
	kdri_free(ctx, cost);
	return st;
}

/* ARI of two partitions into at most k clusters, of the rows of all ranks. */
static kdr_status rand_index(kdr_context *ctx, const int64_t *a, const int64_t *b, int64_t n, int64_t k,
                             double *out)
{
	kdr_status st;
	int64_t *counts = NULL;
	kdr_scores scores;
	KDRI_TRY(KDRI_NEW0(ctx, &counts, k * k));
	for (int64_t i = 0; i < n; i++)
		counts[a[i] * k + b[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, counts, k * k));
	KDRI_TRY(kdri_evaluate_counts(ctx, counts, k, k, &scores));
	*out = scores.ari;
done:
	kdri_free(ctx, counts);
	return st;
}

/* Counts, for each row of a table, the labels that were kept in `kept` and all compared ones in `compared`. */
static kdr_status compare_rows(kdr_context *ctx, const int64_t *answer, const int64_t *other, int64_t n,
                               int64_t k, const int64_t *rows, double *kept, double *compared, double *index)
{
	kdr_status st;
	int64_t *to = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &to, k));
	KDRI_TRY(rand_index(ctx, answer, other, n, k, index));
	KDRI_TRY(kdri_align_labels(ctx, answer, other, n, k, to));
	for (int64_t i = 0; i < n; i++) {
		const int64_t row = rows ? rows[i] : i;
		compared[row]++;
		kept[row] += to[other[i]] == answer[i];
	}
done:
	kdri_free(ctx, to);
	return st;
}

/* --- draws ---------------------------------------------------------------------------------------------------------------- */

/* Some rows of a table and some of the columns it has. */
static int64_t draw_rows(kdri_rng *rng, int64_t begin, int64_t end, int64_t *rows)
{
	int64_t n = 0;
	for (int64_t i = begin; i < end; i++)
		if (kdri_rng_uniform(rng) < row_share)
			rows[n++] = i;
	if (n == 0)
		rows[n++] = begin;
	return n;
}

static void draw_columns(kdri_rng *rng, const kdri_mixed *m, int64_t table, bool *columns)
{
	const int64_t p = m->numbers, all = p + m->categories;
	int64_t had = 0, kept = 0;
	for (int64_t j = 0; j < all; j++)
		had += j < p ? m->has_number[table * p + j] : m->has_category[table * m->categories + j - p];
	while (kept < KDRI_MIN(had, LEAST_COLUMNS)) {
		kept = 0;
		for (int64_t j = 0; j < all; j++) {
			bool has = j < p ? m->has_number[table * p + j]
			                 : m->has_category[table * m->categories + j - p];
			columns[j] = has && kdri_rng_uniform(rng) < column_share;
			kept += columns[j];
		}
	}
}

/* (E2): one draw of table s, whose rows of m have the labels `answer`. */
static kdr_status try_draw(kdr_context *ctx, const kdri_mixed *m, int64_t s, int64_t k, const int64_t *answer,
                           int64_t draw, double *kept, double *compared, double *index)
{
	kdr_status st;
	const int64_t begin = m->begin[s], count = m->begin[s + 1] - begin;
	kdri_rng rng = kdri_rng_stream(ctx->seed, "tables.draws", (uint64_t)(s * DRAWS + draw));
	kdri_mixed drawn = { 0 };
	kdri_mixed_part part = { 0 };
	kdri_mixture mixture = { 0 };
	kdri_mixture_options o = kdri_mixture_defaults(k);
	int64_t *rows = NULL, *labels = NULL, *start = NULL;
	bool *columns = NULL;
	o.shared = true;
	KDRI_TRY(KDRI_NEW(ctx, &rows, count));
	KDRI_TRY(KDRI_NEW0(ctx, &columns, m->numbers + m->categories));
	const int64_t n = draw_rows(&rng, begin, m->begin[s + 1], rows);
	draw_columns(&rng, m, s, columns);
	KDRI_TRY(kdri_mixed_take(ctx, m, rows, n, columns, &drawn));
	KDRI_TRY(kdri_mixed_part_new(ctx, &drawn, s, &part));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &start, n));
	for (int64_t i = 0; i < n; i++) {
		rows[i] -= begin;
		start[i] = answer[rows[i]];
	}
	KDRI_TRY(kdri_mixture_fit(ctx, &part.data, &o, start, &mixture, labels, NULL));
	KDRI_TRY(compare_rows(ctx, start, labels, n, k, rows, kept, compared, index));
done:
	kdri_mixture_free(ctx, &mixture);
	kdri_mixed_part_free(ctx, &part);
	kdri_mixed_free(ctx, &drawn);
	KDRI_FREE(ctx, rows, columns, labels, start);
	return st;
}

/* --- all tables ------------------------------------------------------------------------------------------------------------- */

/* The answer of the rows that draws are taken from, on every rank: they are rows of all, evenly spaced. */
static kdr_status share_answer(kdr_context *ctx, const kdri_tables *t, int64_t s, int64_t *out)
{
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t count = m->begin[s + 1] - m->begin[s], mine = t->all.begin[s + 1] - t->all.begin[s];
	int64_t all;
	KDRI_DO(kdri_part(ctx, mine, NULL, &all));
	for (int64_t i = 0; i < count; i++) {
		const int64_t row = kdri_chunk_begin(all, count, i) - t->start[s];
		out[i] = row >= 0 && row < mine ? t->answer[t->all.begin[s] + row] : 0;
	}
	return kdri_sum_int(ctx, out, count);
}

static kdr_status draws_of(kdr_context *ctx, kdri_tables *t, int64_t s, const int64_t *answer, double *kept,
                           double *compared, double *mean, int64_t *done_draws)
{
	double index;
	const int64_t draws = kdri_repeats(ctx) ? FEW_DRAWS : DRAWS;
	*mean = 0;
	*done_draws = 0;
	for (int64_t d = 0; d < draws && !ctx->cancelled && !ctx->timed_out && !kdri_late(ctx); d++) {
		KDRI_DO(try_draw(ctx, kdri_tables_some(t), s, t->k[s], answer, d, kept, compared, &index));
		*mean += index;
		++*done_draws;
	}
	if (*done_draws > 0)
		*mean /= (double)*done_draws;
	return KDR_OK;
}

/* (E1) to (E4) of one table. */
static kdr_status sure_of(kdr_context *ctx, kdri_tables *t, int64_t s)
{
	kdr_status st;
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t begin = t->all.begin[s], n = t->all.begin[s + 1] - begin,
	              drawn = m->begin[s + 1] - m->begin[s];
	double *kept = NULL, *compared = NULL, *more = NULL, agreement = 0, stability, index;
	int64_t *answer = NULL, members = 0, draws, all;
	KDRI_TRY(KDRI_NEW0(ctx, &kept, n));
	KDRI_TRY(KDRI_NEW0(ctx, &compared, n));
	KDRI_TRY(KDRI_NEW0(ctx, &more, 2 * drawn));
	KDRI_TRY(KDRI_NEW(ctx, &answer, drawn));
	KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	for (int which = 0; which < KDRI_MIX_MEMBERS; which++) {
		const int64_t weight = kdri_tables_weight(t, (kdri_tables_member)which);
		if (weight == 0)
			continue;
		KDRI_TRY(compare_rows(ctx, t->answer + begin, t->votes[which].labels + begin, n, t->k[s],
		                      NULL, kept, compared, &index));
		agreement += (double)weight * index; /* (E1) */
		members += weight;
	}
	KDRI_TRY(share_answer(ctx, t, s, answer));
	kdri_apart(ctx);
	st = draws_of(ctx, t, s, answer, more, more + drawn, &stability, &draws); /* (E2) */
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	for (int64_t i = 0; i < drawn; i++) {
		const int64_t row = kdri_chunk_begin(all, drawn, i) - t->start[s];
		if (row >= 0 && row < n) {
			kept[row] += more[i];
			compared[row] += more[drawn + i];
		}
	}
	t->agreement[s] = agreement /= (double)members;
	t->estimate[s] = slope * (agreement + (draws > 0 ? stability : agreement)) / 2 + intercept; /* (E3) */
	t->estimate[s] = KDRI_MAX(0, KDRI_MIN(1, t->estimate[s]));
	for (int64_t i = 0; i < n; i++)
		t->confidence[begin + i] = kept[i] / compared[i]; /* (E4) */
done:
	KDRI_FREE(ctx, kept, compared, more, answer);
	return st;
}

/* That of a run of the table alone. */
static void take_confidence(kdri_tables *t, int64_t s, const kdri_given *given)
{
	const kdr_array a = kdr_result_array(given->result, "confidence", 0);
	memcpy(t->confidence + t->all.begin[s], a.data, (size_t)a.shape[0] * sizeof *t->confidence);
	t->agreement[s] = kdri_given_number(given, "agreement");
	t->estimate[s] = kdri_given_number(given, "estimated_ari");
}

kdr_status kdri_tables_confidence(kdr_context *ctx, kdri_tables *t)
{
	KDRI_DO(KDRI_NEW(ctx, &t->confidence, t->all.n));
	KDRI_DO(KDRI_NEW(ctx, &t->estimate, t->all.tables));
	KDRI_DO(KDRI_NEW(ctx, &t->agreement, t->all.tables));
	for (int64_t s = 0; s < t->all.tables; s++) {
		const kdri_given *given = kdri_given_of(ctx, s);
		if (given && given->final)
			take_confidence(t, s, given);
		else
			KDRI_DO(sure_of(ctx, t, s));
	}
	return KDR_OK;
}
