/* The members of auto on tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * Mixtures are the best of several starts (engine/mixture/starts.c). For tables of more than 20,000 rows, starts and
 * k-means use 20,000 evenly spaced rows. Mixtures then continue with all rows, and the other rows join the nearest
 * centre of k-means, so that the time is linear in the number of rows.
 *
 * If several numbers of clusters are fitted (matrix/kept.h), the largest has half of the starts. Members of the numbers below it start from
 * its clusters, joined by Ward's method, and need few iterations. */
/* Confidence of auto on tables.
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
#include "comm/comm.h"
#include "engine/ensemble/poll.h"
#include "engine/kmeans/kmeans.h"
#include "engine/metrics/metrics.h"
#include "matrix/kept.h"
#include "matrix/linalg.h"

enum { RUNS = 10, FEW_ITERATIONS = 10 };

/* What the members find on the rows of kdri_tables_some. */
typedef struct found {
	int64_t *labels[KDRI_MIX_MEMBERS];
	double *centres[2]; /* of k-means on B and H: tables x k x width */
	/* Of a complete fit with more clusters, if labels are derived from it. */
	int64_t *finer[KDRI_MIX_MEMBERS], *finer_k;
	bool few; /* starts */
} found;

static void found_free(kdr_context *ctx, found *f)
{
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++) {
		KDRI_FREE(ctx, f->labels[m], f->finer[m]);
	}
	KDRI_FREE(ctx, f->finer_k, f->centres[0], f->centres[1]);
}

static kdr_status vote_room(kdr_context *ctx, kdri_tables *t, kdri_tables_member m, int64_t mixtures,
                            int64_t rows, found *f)
{
	kdri_tables_vote *v = &t->votes[m];
	KDRI_DO(KDRI_NEW(ctx, &f->labels[m], rows));
	KDRI_DO(KDRI_NEW(ctx, &v->labels, t->all.n));
	if (mixtures > 0)
		KDRI_DO(KDRI_NEW0(ctx, &v->mixture, mixtures));
	v->nmixtures = mixtures;
	return KDR_OK;
}

static int64_t largest_k(const kdri_tables *t)
{
	int64_t k = 0;
	for (int64_t s = 0; s < t->all.tables; s++)
		k = KDRI_MAX(k, t->k[s]);
	return k;
}

/* --- other numbers of clusters -------------------------------------------------------------------------------------------- */

static const char kept_k[] = "tables.k", kept_labels[] = "tables.labels";

static uint64_t member_key(int fit, int which)
{
	return (uint64_t)fit * KDRI_MIX_MEMBERS + (uint64_t)which;
}

static kdr_status keep_members(kdr_context *ctx, const kdri_tables *t, const found *f)
{
	const int fit = kdri_fits_before(ctx);
	const size_t bytes = (size_t)kdri_tables_some(t)->n * sizeof(int64_t);
	for (int which = 0; which < KDRI_MIX_MEMBERS && f->labels[which]; which++)
		KDRI_DO(kdri_kept_put(ctx, kept_labels, member_key(fit, which), f->labels[which], bytes));
	return kdri_kept_put(ctx, kept_k, (uint64_t)fit, t->k, (size_t)t->all.tables * sizeof *t->k);
}

/* The members of the complete fit with the fewest clusters of those that have enough. */
static kdr_status find_finer(kdr_context *ctx, const kdri_tables *t, found *f)
{
	kdr_status st;
	const int64_t T = t->all.tables, rows = kdri_tables_some(t)->n;
	int64_t *k = NULL, least = INT64_MAX, all = 0;
	int best = -1;
	if (!kdri_derives(ctx))
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &k, T));
	KDRI_TRY(KDRI_NEW(ctx, &f->finer_k, T));
	for (int fit = 0; fit < KDRI_COMPLETE_FITS; fit++) {
		bool enough = kdri_kept_find(ctx, kept_k, (uint64_t)fit, k, (size_t)T * sizeof *k);
		for (int64_t s = all = 0; s < T && enough; s++) {
			enough = k[s] >= t->k[s];
			all += k[s];
		}
		if (enough && all < least) {
			least = all;
			best = fit;
			memcpy(f->finer_k, k, (size_t)T * sizeof *k);
		}
	}
	for (int which = 0; which < KDRI_MIX_MEMBERS && best >= 0; which++) {
		KDRI_TRY(KDRI_NEW(ctx, &f->finer[which], rows));
		if (!kdri_kept_find(ctx, kept_labels, member_key(best, which), f->finer[which],
		                    (size_t)rows * sizeof(int64_t))) {
			kdri_free(ctx, f->finer[which]);
			f->finer[which] = NULL;
		}
	}
done:
	kdri_free(ctx, k);
	return st;
}

static kdri_mixture_options member_options(const kdr_context *ctx, int64_t k, bool shared)
{
	kdri_mixture_options o = kdri_mixture_options_of(k, shared);
	if (kdri_derives(ctx))
		o.max_iter = FEW_ITERATIONS;
	return o;
}

/* What member `which` starts from, on rows begin .. end - 1 of table s (pooled: 0): the starts `usual`, or *joined; free
 * joined->labels. */
static kdr_status member_starts(kdr_context *ctx, const found *f, const kdri_encoded *e, int64_t s,
                                kdri_tables_member which, int64_t begin, int64_t end, int64_t k,
                                kdri_starts *joined)
{
	kdri_free(ctx, joined->labels);
	*joined = (kdri_starts){ 0 };
	return f->finer[which] ? kdri_starts_join(ctx, e, begin, end, f->finer_k[s], f->finer[which] + begin,
	                                          k, joined)
	                       : KDR_OK;
}

/* --- members ------------------------------------------------------------------------------------------------------------- */

/* Members that see one table: (E2) of tables.c. */
static kdr_status find_alone(kdr_context *ctx, kdri_tables *t, const kdri_encoded *e, int64_t s, found *f)
{
	kdr_status st;
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t begin = m->begin[s], end = m->begin[s + 1], k = t->k[s];
	kdri_starts from = { 0 }, joined = { 0 };
	kdri_mixed_part part = { 0 };
	if (!f->finer[KDRI_MIX_SHARED])
		KDRI_TRY(kdri_starts_new(ctx, e, begin, end, k, true, f->few, (uint64_t)s + 1, &from));
	KDRI_TRY(kdri_mixed_part_new(ctx, m, s, &part));
	for (kdri_tables_member which = KDRI_MIX_SHARED; which <= KDRI_MIX_OWN; which++) {
		const kdri_mixture_options o = member_options(ctx, k, which == KDRI_MIX_SHARED);
		KDRI_TRY(member_starts(ctx, f, e, s, which, begin, end, k, &joined));
		KDRI_TRY(kdri_best_mixture(ctx, &part.data, &o, joined.count ? &joined : &from,
		                           &t->votes[which].mixture[s], f->labels[which] + begin));
	}
	for (int i = 0; i < 2; i++) {
		const kdri_tables_member which = KDRI_MIX_KMEANS_B + i;
		KDRI_TRY(member_starts(ctx, f, e, s, which, begin, end, k, &joined));
		KDRI_TRY(kdri_encoded_kmeans(ctx, e, i, begin, end, k, f->few ? RUNS / 2 : RUNS,
		                             (uint64_t)s * 2 + (uint64_t)i, joined.labels,
		                             f->labels[which] + begin,
		                             f->centres[i] + s * largest_k(t) * e->encoder[i].width));
	}
done:
	kdri_mixed_part_free(ctx, &part);
	KDRI_FREE(ctx, from.labels, joined.labels);
	return st;
}

/* Members that see all tables. */
static kdr_status find_pooled(kdr_context *ctx, kdri_tables *t, found *f)
{
	kdr_status st;
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t k = t->k[0];
	kdri_encoded e = { 0 };
	kdri_starts from = t->pooled.starts, joined = { 0 };
	kdri_mixed_part pool = { 0 }, part = { 0 };
	const kdri_mixture_options own = member_options(ctx, k, false);
	const bool known = from.count > 0;
	t->pooled.starts = (kdri_starts){ 0 };
	KDRI_TRY(kdri_encoded_new(ctx, m, true, 0, m->n, &e));
	if (!f->finer[KDRI_MIX_POOLED_SHARED] && !known)
		KDRI_TRY(kdri_starts_new(ctx, &e, 0, m->n, k, false, f->few, 0, &from));
	KDRI_TRY(kdri_mixed_pool_new(ctx, m, &pool));
	for (kdri_tables_member which = KDRI_MIX_POOLED_SHARED; which <= KDRI_MIX_POOLED_OWN; which++) {
		if (known && which == KDRI_MIX_POOLED_SHARED) {
			memcpy(f->labels[which], t->pooled.labels, (size_t)m->n * sizeof(int64_t));
			t->votes[which].mixture[0] = t->pooled.mixture;
			t->pooled.mixture = (kdri_mixture){ 0 };
			continue;
		}
		const kdri_mixture_options o = member_options(ctx, k, which == KDRI_MIX_POOLED_SHARED);
		KDRI_TRY(member_starts(ctx, f, &e, 0, which, 0, m->n, k, &joined));
		KDRI_TRY(kdri_best_mixture(ctx, &pool.data, &o, joined.count ? &joined : &from,
		                           &t->votes[which].mixture[0], f->labels[which]));
	}
	for (int64_t s = 0; s < m->tables; s++) {
		KDRI_TRY(kdri_mixed_part_new(ctx, m, s, &part));
		KDRI_TRY(kdri_mixture_fit(ctx, &part.data, &own, f->labels[KDRI_MIX_POOLED_OWN] + m->begin[s],
		                          &t->votes[KDRI_MIX_FROM_POOLED].mixture[s],
		                          f->labels[KDRI_MIX_FROM_POOLED] + m->begin[s], NULL));
		kdri_mixed_part_free(ctx, &part);
	}
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_mixed_part_free(ctx, &pool);
	KDRI_FREE(ctx, from.labels, joined.labels);
	kdri_encoded_free(ctx, &e);
	return st;
}

/* --- all rows -------------------------------------------------------------------------------------------------------------- */

/* The rows that k-means did not see join the nearest centre. */
static kdr_status join_nearest(kdr_context *ctx, kdri_tables *t, const kdri_encoded *e, int i, const found *f)
{
	enum { ROWS = 4096 };
	kdr_status st;
	const int64_t width = e->encoder[i].width;
	double *rows = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows, ROWS * width));
	for (int64_t s = 0; s < t->all.tables; s++)
		for (int64_t begin = t->all.begin[s]; begin < t->all.begin[s + 1]; begin += ROWS) {
			const int64_t end = KDRI_MIN(begin + ROWS, t->all.begin[s + 1]);
			kdri_encode(&e->encoder[i], &t->all, begin, end, rows);
			const kdr_mat x = kdr_mat_from_dense(rows, end - begin, width);
			KDRI_TRY(kdri_kmeans_assign(ctx, &x, f->centres[i] + s * largest_k(t) * width,
			                            t->k[s], false,
			                            t->votes[KDRI_MIX_KMEANS_B + i].labels + begin));
		}
done:
	kdri_free(ctx, rows);
	return st;
}

/* Extends labels from some rows to all: copies them by position if these are all rows, otherwise as described at the
 * top of this file. */
static kdr_status extend_member(kdr_context *ctx, kdri_tables *t, const kdri_encoded *e,
                                kdri_tables_member which, const found *f)
{
	kdr_status st = KDR_OK;
	kdri_tables_vote *v = &t->votes[which];
	const kdri_mixed *m = kdri_tables_some(t);
	kdri_mixed_part part = { 0 };
	if (t->whole) {
		for (int64_t s = 0; s < t->all.tables; s++)
			memcpy(v->labels + t->all.begin[s], f->labels[which] + m->begin[s] + t->start[s],
			       (size_t)(t->all.begin[s + 1] - t->all.begin[s]) * sizeof *v->labels);
		return KDR_OK;
	}
	if (which == KDRI_MIX_KMEANS_B || which == KDRI_MIX_KMEANS_H)
		return join_nearest(ctx, t, e, which - KDRI_MIX_KMEANS_B, f);
	const bool shared = which == KDRI_MIX_SHARED || which == KDRI_MIX_POOLED_SHARED;
	if (v->nmixtures == 1 && (which == KDRI_MIX_POOLED_SHARED || which == KDRI_MIX_POOLED_OWN)) {
		const kdri_mixture_options o = member_options(ctx, t->k[0], shared);
		KDRI_TRY(kdri_mixed_pool_new(ctx, &t->all, &part));
		KDRI_TRY(kdri_mixture_continue(ctx, &part.data, &o, &v->mixture[0], v->labels));
		goto done;
	}
	for (int64_t s = 0; s < t->all.tables; s++) {
		const kdri_mixture_options o = member_options(ctx, t->k[s], shared);
		KDRI_TRY(kdri_mixed_part_new(ctx, &t->all, s, &part));
		KDRI_TRY(kdri_mixture_continue(ctx, &part.data, &o, &v->mixture[s],
		                               v->labels + t->all.begin[s]));
		kdri_mixed_part_free(ctx, &part);
	}
done:
	kdri_mixed_part_free(ctx, &part);
	return st;
}

/* The steps that all ranks perform identically on their common rows. */
static kdr_status find_all(kdr_context *ctx, kdri_tables *t, bool pooled, const kdri_encoded *e, found *f,
                           bool *late)
{
	kdr_status st = KDR_OK;
	const int64_t T = t->all.tables;
	for (int64_t s = 0; s < T; s++)
		KDRI_TRY(find_alone(ctx, t, e, s, f));
	*late = kdri_late(ctx) || ctx->cancelled;
	if (!pooled || *late)
		goto done;
	st = find_pooled(ctx, t, f);
	if (kdri_over_limit(ctx, st)) {
		*late = true; /* for all ranks */
		st = kdri_result_warn(ctx, t->result, "methods that use all tables together were skipped: %s",
		                      ctx->error);
	}
done:
	return st;
}

kdr_status kdri_tables_members(kdr_context *ctx, kdri_tables *t)
{
	kdr_status st;
	const int64_t T = t->all.tables;
	const kdri_mixed *m = kdri_tables_some(t);
	bool pooled = T > 1 && kdri_opt_bool(t->options, "transfer"), late = false;
	kdri_encoded e = { 0 };
	found f = { 0 };
	for (int64_t s = 1; s < T; s++)
		pooled = pooled && t->k[s] == t->k[0];
	for (int which = 0; which < (pooled ? KDRI_MIX_MEMBERS : KDRI_MIX_POOLED_SHARED); which++)
		KDRI_TRY(vote_room(ctx, t, (kdri_tables_member)which,
		                   which == KDRI_MIX_KMEANS_B || which == KDRI_MIX_KMEANS_H          ? 0
		                   : which == KDRI_MIX_POOLED_SHARED || which == KDRI_MIX_POOLED_OWN ? 1
		                                                                                     : T,
		                   m->n, &f));
	f.few = kdri_repeats(ctx);
	KDRI_TRY(find_finer(ctx, t, &f));
	kdri_apart(ctx);
	st = kdri_encoded_new(ctx, m, false, 0, m->n, &e);
	for (int i = 0; i < 2 && st == KDR_OK; i++)
		st = KDRI_NEW(ctx, &f.centres[i], T * largest_k(t) * e.encoder[i].width);
	if (st == KDR_OK)
		st = find_all(ctx, t, pooled, &e, &f, &late);
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	KDRI_TRY(kdri_any(ctx, &late));
	t->late = late;
	if (!late && !kdri_derives(ctx))
		KDRI_TRY(keep_members(ctx, t, &f));
	for (int which = 0; which < KDRI_MIX_MEMBERS && t->votes[which].labels; which++) {
		if (late &&
		    which >= KDRI_MIX_POOLED_SHARED) { /* no time or memory for members that see all tables */
			kdri_free(ctx, t->votes[which].labels);
			t->votes[which].labels = NULL;
			continue;
		}
		KDRI_TRY(extend_member(ctx, t, &e, (kdri_tables_member)which, &f));
	}
done:
	found_free(ctx, &f);
	kdri_encoded_free(ctx, &e);
	return st;
}

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
static void take_confidence(kdri_tables *t, int64_t s, const kdri_alone *alone)
{
	const int64_t begin = t->all.begin[s];
	memcpy(t->confidence + begin, alone->confidence,
	       (size_t)(t->all.begin[s + 1] - begin) * sizeof *t->confidence);
	t->agreement[s] = alone->agreement;
	t->estimate[s] = alone->estimate;
}

kdr_status kdri_tables_confidence(kdr_context *ctx, kdri_tables *t)
{
	KDRI_DO(KDRI_NEW(ctx, &t->confidence, t->all.n));
	KDRI_DO(KDRI_NEW(ctx, &t->estimate, t->all.tables));
	KDRI_DO(KDRI_NEW(ctx, &t->agreement, t->all.tables));
	for (int64_t s = 0; s < t->all.tables; s++) {
		if (kdri_evidence_use(t->evidence, t->order, s) == KDRI_USE_LABELS)
			take_confidence(t, s, kdri_evidence_alone(t->evidence, t->order, s));
		else
			KDRI_DO(sure_of(ctx, t, s));
	}
	return KDR_OK;
}
