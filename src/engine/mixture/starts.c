/* Where mixtures start from. SPDX-License-Identifier: BSD-3-Clause
 *
 * Starts are partitions of the rows: k-means with 4 initialisations on encodings B, H and V, two seeds each, and Ward's method on
 * B for tables of at most 3,000 rows; for all tables together only k-means, each table minus its own mean. EM
 * (mixture.c) runs from each, and the result with the highest log-likelihood is used. */
#include "engine/mixture/starts.h"

#include "engine/kmeans/lloyd.h"
#include "engine/mixture/ward.h"
#include "matrix/linalg.h"

enum { SEEDS = 2, STARTS = KDRI_ENCODINGS * SEEDS + 1, FEW_RUNS = 4, WARD_ROWS = 3000 };
static const char stage[] =
        "mixture"; /* every run checks whether to stop, and then ends with its current result */

void kdri_encoded_free(kdr_context *ctx, kdri_encoded *e)
{
	for (int i = 0; i < KDRI_ENCODINGS; i++) {
		kdri_encoder_free(ctx, &e->encoder[i]);
		kdri_free(ctx, e->rows[i]);
	}
}

kdr_status kdri_encoded_new(kdr_context *ctx, const kdri_mixed *m, bool pooled, int64_t begin, int64_t end,
                            kdri_encoded *e)
{
	int64_t size;
	e->begin = begin;
	for (int i = 0; i < KDRI_ENCODINGS; i++) {
		KDRI_DO(kdri_encoder_new(ctx, m, (kdri_encoding)i, pooled, &e->encoder[i]));
		KDRI_DO(kdri_mul(ctx, end - begin, e->encoder[i].width, &size));
		KDRI_DO(KDRI_NEW(ctx, &e->rows[i], size));
		kdri_encode(&e->encoder[i], m, begin, end, e->rows[i]);
	}
	return KDR_OK;
}

kdr_status kdri_encoded_kmeans(kdr_context *ctx, const kdri_encoded *e, int i, int64_t begin, int64_t end,
                               int64_t k, int64_t runs, uint64_t stream, const int64_t *start,
                               int64_t *labels, double *centres)
{
	kdr_status st;
	const int64_t width = e->encoder[i].width;
	const kdr_mat x = kdr_mat_from_dense(e->rows[i] + (begin - e->begin) * width, end - begin, width);
	kdri_kmeans_options o = kdri_kmeans_defaults(k);
	kdri_kmeans_result r = { 0 };
	o.n_init = runs;
	o.init_labels = start;
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

/* One start is enough if it is time to stop. */
static bool starts_stopped(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->timed_out;
}

/* --- mixtures ---------------------------------------------------------------------------------------------------------- */

kdr_status kdri_starts_new(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t k,
                           bool ward, bool few, uint64_t stream, kdri_starts *s)
{
	int64_t size;
	*s = (kdri_starts){ .n = end - begin };
	KDRI_DO(kdri_mul(ctx, STARTS, s->n, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->labels, size));
	for (int i = 0; i < KDRI_ENCODINGS; i++)
		for (int seed = 0; seed < (few ? 1 : SEEDS) && (s->count == 0 || !starts_stopped(ctx));
		     seed++, s->count++)
			KDRI_DO(kdri_encoded_kmeans(ctx, e, i, begin, end, k, FEW_RUNS,
			                            stream * STARTS + (uint64_t)s->count, NULL,
			                            s->labels + s->count * s->n, NULL));
	if (ward && s->n <= WARD_ROWS && !starts_stopped(ctx)) {
		const int64_t width = e->encoder[KDRI_ENCODE_B].width;
		KDRI_DO(kdri_ward(ctx, e->rows[KDRI_ENCODE_B] + (begin - e->begin) * width, s->n, width, k,
		                  s->labels + s->count * s->n));
		s->count++;
	}
	return KDR_OK;
}

kdr_status kdri_starts_join(kdr_context *ctx, const kdri_encoded *e, int64_t begin, int64_t end, int64_t from,
                            const int64_t *labels, int64_t k, kdri_starts *s)
{
	const int64_t width = e->encoder[KDRI_ENCODE_B].width;
	*s = (kdri_starts){ .n = end - begin, .count = 1 };
	KDRI_DO(KDRI_NEW(ctx, &s->labels, s->n));
	memcpy(s->labels, labels, (size_t)s->n * sizeof *labels);
	return kdri_ward_join(ctx, e->rows[KDRI_ENCODE_B] + (begin - e->begin) * width, s->n, width, from, k,
	                      s->labels);
}

kdri_mixture_options kdri_mixture_options_of(int64_t k, bool shared)
{
	kdri_mixture_options o = kdri_mixture_defaults(k);
	o.shared = shared;
	o.stage = stage;
	return o;
}

kdr_status kdri_best_mixture(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                             const kdri_starts *s, kdri_mixture *out, int64_t *labels)
{
	kdr_status st = KDR_OK;
	kdri_mixture best = { 0 }, m = { 0 };
	int64_t *found = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &found, s->n));
	for (int64_t i = 0; i < s->count && (i == 0 || !starts_stopped(ctx)); i++) {
		KDRI_TRY(kdri_mixture_fit(ctx, d, o, s->labels + i * s->n, &m, found, NULL));
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

kdr_status kdri_mixture_of(kdr_context *ctx, const kdri_mixed *m, int64_t table, int64_t k, bool shared,
                           kdri_mixture *out, int64_t *labels)
{
	kdr_status st;
	const bool pooled = table < 0;
	kdri_encoded e = { 0 };
	kdri_starts s = { 0 };
	kdri_mixed_part part = { 0 };
	const kdri_mixture_options o = kdri_mixture_options_of(k, shared);
	const int64_t begin = pooled ? 0 : m->begin[table], end = pooled ? m->n : m->begin[table + 1];
	KDRI_TRY(kdri_encoded_new(ctx, m, pooled, begin, end, &e));
	KDRI_TRY(kdri_starts_new(ctx, &e, pooled ? 0 : m->begin[table], pooled ? m->n : m->begin[table + 1],
	                         k, !pooled, false, (uint64_t)(table + 1), &s));
	KDRI_TRY(pooled ? kdri_mixed_pool_new(ctx, m, &part) : kdri_mixed_part_new(ctx, m, table, &part));
	KDRI_TRY(kdri_best_mixture(ctx, &part.data, &o, &s, out, labels));
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_free(ctx, s.labels);
	kdri_encoded_free(ctx, &e);
	return st;
}

kdr_status kdri_mixture_continue(kdr_context *ctx, const kdri_mixture_data *d, const kdri_mixture_options *o,
                                 kdri_mixture *m, int64_t *labels)
{
	kdri_mixture after = { 0 };
	kdr_status st = kdri_mixture_refit(ctx, d, o, m, &after, labels, NULL);
	if (st != KDR_OK)
		return st;
	kdri_mixture_free(ctx, m);
	*m = after;
	return KDR_OK;
}

kdr_status kdri_mixed_find_centring(kdr_context *ctx, const kdri_mixed *m, int64_t k, bool *centred)
{
	enum { MOST_ROWS = 2000 }; /* of each table */
	kdr_status st;
	kdri_mixed some = { 0 };
	kdri_mixture fitted = { 0 };
	int64_t *labels = NULL, n;
	double bic[2];
	*centred = true;
	if (m->tables < 2 || m->numbers == 0)
		return KDR_OK;
	KDRI_TRY(kdri_mixed_sample(ctx, m, -1, MOST_ROWS, &some));
	n = some.n;
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	for (int i = 0; i < 2; i++) {
		some.centred = i;
		KDRI_TRY(kdri_mixture_of(ctx, &some, -1, KDRI_MIN(k, n), true, &fitted, labels));
		bic[i] = kdri_mixed_bic(&some, -1, KDRI_MIN(k, n), fitted.loglik, n);
		kdri_mixture_free(ctx, &fitted);
	}
	*centred = bic[1] < bic[0];
done:
	kdri_mixed_free(ctx, &some);
	kdri_free(ctx, labels);
	return st;
}
