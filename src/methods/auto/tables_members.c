/* The members of auto on tables. SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts of a mixture are partitions of the rows: k-means with 4 initialisations on encodings B, H and V, two seeds each, and
 * Ward's method on B for tables of at most 3,000 rows; of all tables together k-means alone, each table less its own mean. EM
 * (engine/mixture/mixture.c) runs from each, and the highest log-likelihood counts.
 *
 * Tables of more than 20,000 rows: starts, and k-means, are found on as many of them, evenly spaced. Mixtures go on from there
 * over all rows, the other rows join the nearest centre of k-means. So time is linear in the rows. */
#include "methods/auto/tables.h"

#include "comm/comm.h"
#include "engine/kmeans/lloyd.h"
#include "engine/mixture/ward.h"
#include "matrix/linalg.h"

enum { ENCODINGS = 3, SEEDS = 2, STARTS = ENCODINGS * SEEDS + 1, FEW_RUNS = 4, RUNS = 10, WARD_ROWS = 3000 };
static const char stage[] = "tables"; /* every run asks whether to stop, and then ends with what it has */

/* Encoded rows of all tables, and of all tables each less its mean. */
typedef struct encoded {
	kdri_encoder encoder[ENCODINGS];
	double *rows[ENCODINGS]; /* n x width */
} encoded;

static void encoded_free(kdr_context *ctx, encoded *e)
{
	for (int i = 0; i < ENCODINGS; i++) {
		kdri_encoder_free(ctx, &e->encoder[i]);
		kdri_free(ctx, e->rows[i]);
	}
}

static kdr_status encoded_new(kdr_context *ctx, const kdri_mixed *m, bool centred, encoded *e)
{
	kdr_status st = KDR_OK;
	int64_t size;
	for (int i = 0; i < ENCODINGS; i++) {
		KDRI_TRY(kdri_encoder_new(ctx, m, (kdri_encoding)i, centred, &e->encoder[i]));
		KDRI_TRY(kdri_mul(ctx, m->n, e->encoder[i].width, &size));
		KDRI_TRY(KDRI_NEW(ctx, &e->rows[i], size));
		kdri_encode(&e->encoder[i], m, 0, m->n, e->rows[i]);
	}
done:
	return st;
}

/* k-means of encoded rows begin .. end - 1. `centres` (k x width) may be NULL. */
static kdr_status encoded_kmeans(kdr_context *ctx, const encoded *e, int i, int64_t begin, int64_t end,
                                 int64_t k, int64_t runs, uint64_t stream, int64_t *labels, double *centres)
{
	kdr_status st;
	const int64_t width = e->encoder[i].width;
	const kdr_mat x = kdr_mat_from_dense(e->rows[i] + begin * width, end - begin, width);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result r = { 0 };
	o.n_init = runs;
	o.stage = stage;
	o.stream = stream;
	KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &r));
	memcpy(labels, r.labels, (size_t)(end - begin) * sizeof *labels);
	if (centres)
		memcpy(centres, r.centres, (size_t)(k * width) * sizeof *centres);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

/* --- mixtures ---------------------------------------------------------------------------------------------------------- */

typedef struct starts {
	int64_t count, n, *labels; /* count x n */
} starts;

/* Partitions of rows begin .. end - 1 to start from; `stream` tells tables apart. */
static kdr_status starts_new(kdr_context *ctx, const encoded *e, int64_t begin, int64_t end, int64_t k,
                             bool ward, uint64_t stream, starts *s)
{
	kdr_status st;
	int64_t size;
	*s = (starts){ .n = end - begin };
	KDRI_TRY(kdri_mul(ctx, STARTS, s->n, &size));
	KDRI_TRY(KDRI_NEW(ctx, &s->labels, size));
	for (int i = 0; i < ENCODINGS; i++)
		for (int seed = 0; seed < SEEDS; seed++, s->count++)
			KDRI_TRY(encoded_kmeans(ctx, e, i, begin, end, k, FEW_RUNS,
			                        stream * STARTS + (uint64_t)s->count,
			                        s->labels + s->count * s->n, NULL));
	if (ward && s->n <= WARD_ROWS) {
		const int64_t width = e->encoder[KDRI_ENCODE_B].width;
		KDRI_TRY(kdri_ward(ctx, e->rows[KDRI_ENCODE_B] + begin * width, s->n, width, k,
		                   s->labels + s->count * s->n));
		s->count++;
	}
done:
	return st;
}

/* The best mixture of all starts. */
static kdr_status best_mixture(kdr_context *ctx, const kdri_mixture_data *d, int64_t k, bool shared,
                               const starts *s, kdri_mixture *out, int64_t *labels)
{
	kdr_status st = KDR_OK;
	kdri_mixture_options o = kdri_mixture_defaults(k);
	kdri_mixture best = { 0 }, m = { 0 };
	int64_t *found = NULL;
	kdr_stop stop;
	o.shared = shared;
	o.stage = stage;
	KDRI_TRY(KDRI_NEW(ctx, &found, s->n));
	for (int64_t i = 0; i < s->count; i++) {
		KDRI_TRY(kdri_mixture_fit(ctx, d, &o, s->labels + i * s->n, NULL, NULL, &m, found, NULL,
		                          &stop));
		if (i == 0 || m.loglik > best.loglik) {
			kdri_mixture_free(ctx, &best);
			best = m;
			m = (kdri_mixture){ 0 };
			memcpy(labels, found, (size_t)s->n * sizeof *labels);
		}
		kdri_mixture_free(ctx, &m);
	}
	*out = best;
	best = (kdri_mixture){ 0 };
done:
	kdri_mixture_free(ctx, &m);
	kdri_mixture_free(ctx, &best);
	kdri_free(ctx, found);
	return st;
}

kdr_status kdri_tables_mixture(kdr_context *ctx, const kdri_mixed *m, int64_t table, int64_t k, bool shared,
                               kdri_mixture *out, int64_t *labels)
{
	kdr_status st;
	const bool pooled = table < 0;
	encoded e = { 0 };
	starts s = { 0 };
	kdri_mixed_part part = { 0 };
	KDRI_TRY(encoded_new(ctx, m, pooled, &e));
	KDRI_TRY(starts_new(ctx, &e, pooled ? 0 : m->begin[table], pooled ? m->n : m->begin[table + 1], k,
	                    !pooled, (uint64_t)(table + 1), &s));
	KDRI_TRY(pooled ? kdri_mixed_pool_new(ctx, m, &part) : kdri_mixed_part_new(ctx, m, table, &part));
	KDRI_TRY(best_mixture(ctx, &part.data, k, shared, &s, out, labels));
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_free(ctx, s.labels);
	encoded_free(ctx, &e);
	return st;
}

/* --- members ------------------------------------------------------------------------------------------------------------- */

/* What the members find on the rows of kdri_tables_some. */
typedef struct found {
	int64_t *labels[KDRI_MIX_MEMBERS];
	double *centres[2]; /* of k-means on B and H: tables x k x width */
} found;

static void found_free(kdr_context *ctx, found *f)
{
	for (int m = 0; m < KDRI_MIX_MEMBERS; m++)
		kdri_free(ctx, f->labels[m]);
	kdri_free(ctx, f->centres[0]);
	kdri_free(ctx, f->centres[1]);
}

static kdr_status vote_room(kdr_context *ctx, kdri_tables *t, kdri_tables_member m, int64_t mixtures,
                            int64_t rows, found *f)
{
	kdr_status st;
	kdri_tables_vote *v = &t->votes[m];
	KDRI_TRY(KDRI_NEW(ctx, &f->labels[m], rows));
	KDRI_TRY(KDRI_NEW(ctx, &v->labels, t->all.n));
	if (mixtures > 0)
		KDRI_TRY(KDRI_NEW0(ctx, &v->mixture, mixtures));
	v->nmixtures = mixtures;
done:
	return st;
}

static int64_t largest_k(const kdri_tables *t)
{
	int64_t k = 0;
	for (int64_t s = 0; s < t->all.tables; s++)
		k = KDRI_MAX(k, t->k[s]);
	return k;
}

/* Members that see one table: (E2) of tables.c. */
static kdr_status find_alone(kdr_context *ctx, kdri_tables *t, const encoded *e, int64_t s, found *f)
{
	kdr_status st;
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t begin = m->begin[s], end = m->begin[s + 1], k = t->k[s];
	starts from = { 0 };
	kdri_mixed_part part = { 0 };
	KDRI_TRY(starts_new(ctx, e, begin, end, k, true, (uint64_t)s + 1, &from));
	KDRI_TRY(kdri_mixed_part_new(ctx, m, s, &part));
	for (kdri_tables_member which = KDRI_MIX_SHARED; which <= KDRI_MIX_OWN; which++)
		KDRI_TRY(best_mixture(ctx, &part.data, k, which == KDRI_MIX_SHARED, &from,
		                      &t->votes[which].mixture[s], f->labels[which] + begin));
	for (int i = 0; i < 2; i++) {
		const int64_t width = e->encoder[i].width;
		KDRI_TRY(encoded_kmeans(ctx, e, i, begin, end, k, RUNS, (uint64_t)s * STARTS + (uint64_t)i,
		                        f->labels[KDRI_MIX_KMEANS_B + i] + begin,
		                        f->centres[i] + s * largest_k(t) * width));
	}
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_free(ctx, from.labels);
	return st;
}

/* Members that see all tables. */
static kdr_status find_pooled(kdr_context *ctx, kdri_tables *t, found *f)
{
	kdr_status st;
	const kdri_mixed *m = kdri_tables_some(t);
	const int64_t k = t->k[0];
	encoded e = { 0 };
	starts from = { 0 };
	kdri_mixed_part pool = { 0 }, part = { 0 };
	kdri_mixture_options o = kdri_mixture_defaults(k);
	kdr_stop stop;
	KDRI_TRY(encoded_new(ctx, m, true, &e));
	KDRI_TRY(starts_new(ctx, &e, 0, m->n, k, false, 0, &from));
	KDRI_TRY(kdri_mixed_pool_new(ctx, m, &pool));
	for (kdri_tables_member which = KDRI_MIX_POOLED_SHARED; which <= KDRI_MIX_POOLED_OWN; which++)
		KDRI_TRY(best_mixture(ctx, &pool.data, k, which == KDRI_MIX_POOLED_SHARED, &from,
		                      &t->votes[which].mixture[0], f->labels[which]));
	for (int64_t s = 0; s < m->tables; s++) {
		KDRI_TRY(kdri_mixed_part_new(ctx, m, s, &part));
		KDRI_TRY(kdri_mixture_fit(ctx, &part.data, &o, f->labels[KDRI_MIX_POOLED_OWN] + m->begin[s],
		                          NULL, NULL, &t->votes[KDRI_MIX_FROM_POOLED].mixture[s],
		                          f->labels[KDRI_MIX_FROM_POOLED] + m->begin[s], NULL, &stop));
		kdri_mixed_part_free(ctx, &part);
	}
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_mixed_part_free(ctx, &pool);
	kdri_free(ctx, from.labels);
	encoded_free(ctx, &e);
	return st;
}

/* --- all rows -------------------------------------------------------------------------------------------------------------- */

/* A mixture goes on over all rows of its data. */
static kdr_status go_on(kdr_context *ctx, const kdri_mixture_data *d, bool shared, kdri_mixture *m,
                        int64_t *labels)
{
	kdri_mixture_options o = kdri_mixture_defaults(m->k);
	kdri_mixture after = { 0 };
	o.shared = shared;
	o.stage = stage;
	kdr_status st = kdri_mixture_refit(ctx, d, &o, m, &after, labels);
	if (st != KDR_OK)
		return st;
	kdri_mixture_free(ctx, m);
	*m = after;
	return KDR_OK;
}

/* The rows that k-means did not see join the nearest centre. */
static kdr_status join_nearest(kdr_context *ctx, kdri_tables *t, const encoded *e, int i, const found *f)
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

/* From some rows to all: their place among them if they are all there, else as the head of this file says. */
static kdr_status extend_member(kdr_context *ctx, kdri_tables *t, const encoded *e, kdri_tables_member which,
                                const found *f)
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
		KDRI_TRY(kdri_mixed_pool_new(ctx, &t->all, &part));
		KDRI_TRY(go_on(ctx, &part.data, shared, &v->mixture[0], v->labels));
		goto done;
	}
	for (int64_t s = 0; s < t->all.tables; s++) {
		KDRI_TRY(kdri_mixed_part_new(ctx, &t->all, s, &part));
		KDRI_TRY(go_on(ctx, &part.data, shared, &v->mixture[s], v->labels + t->all.begin[s]));
		kdri_mixed_part_free(ctx, &part);
	}
done:
	kdri_mixed_part_free(ctx, &part);
	return st;
}

/* What all ranks do alike on the rows they have in common. */
static kdr_status find_all(kdr_context *ctx, kdri_tables *t, bool pooled, const encoded *e, found *f,
                           bool *late)
{
	kdr_status st = KDR_OK;
	const int64_t T = t->all.tables;
	for (int64_t s = 0; s < T; s++)
		KDRI_TRY(find_alone(ctx, t, e, s, f));
	*late = kdri_late(ctx) || ctx->cancelled;
	if (pooled && !*late)
		KDRI_TRY(find_pooled(ctx, t, f));
done:
	return st;
}

kdr_status kdri_tables_members(kdr_context *ctx, kdri_tables *t)
{
	kdr_status st;
	const int64_t T = t->all.tables;
	const kdri_mixed *m = kdri_tables_some(t);
	bool pooled = T > 1 && kdri_opt_bool(t->options, "transfer"), late = false;
	encoded e = { 0 };
	found f = { 0 };
	for (int64_t s = 1; s < T; s++)
		pooled = pooled && t->k[s] == t->k[0];
	for (int which = 0; which < (pooled ? KDRI_MIX_MEMBERS : KDRI_MIX_POOLED_SHARED); which++)
		KDRI_TRY(vote_room(ctx, t, (kdri_tables_member)which,
		                   which == KDRI_MIX_KMEANS_B || which == KDRI_MIX_KMEANS_H          ? 0
		                   : which == KDRI_MIX_POOLED_SHARED || which == KDRI_MIX_POOLED_OWN ? 1
		                                                                                     : T,
		                   m->n, &f));
	kdri_apart(ctx);
	st = encoded_new(ctx, m, false, &e);
	for (int i = 0; i < 2 && st == KDR_OK; i++)
		st = KDRI_NEW(ctx, &f.centres[i], T * largest_k(t) * e.encoder[i].width);
	if (st == KDR_OK)
		st = find_all(ctx, t, pooled, &e, &f, &late);
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	KDRI_TRY(kdri_any(ctx, &late));
	for (int which = 0; which < KDRI_MIX_MEMBERS && t->votes[which].labels; which++) {
		if (late && which >= KDRI_MIX_POOLED_SHARED) { /* no time for members that see all tables */
			kdri_free(ctx, t->votes[which].labels);
			t->votes[which].labels = NULL;
			continue;
		}
		KDRI_TRY(extend_member(ctx, t, &e, (kdri_tables_member)which, &f));
	}
done:
	found_free(ctx, &f);
	encoded_free(ctx, &e);
	return st;
}
