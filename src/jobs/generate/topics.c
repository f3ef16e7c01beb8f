/* Text-like tasks over one vocabulary. SPDX-License-Identifier: BSD-3-Clause
 *
 * A quarter of the vocabulary is divided among the tasks as their own words, and the rest is common. Each word of a
 * document is drawn with probability `purity` from its topic, with `domain` from the task's own words, and otherwise
 * from the background. Topic and background each rank the common words in their own random order, and rank r = 1..N
 * has the probability of Benford's form of Zipf's law,
 *
 *   P(r) = ln(1 + 1/r) / ln(N + 1),   drawn as r = floor((N + 1)^u), u uniform on [0, 1)        (E1)
 *
 * which needs no table. A document has between a half and one and a half times `length` words. */
#include "jobs/generate/synth.h"

#include <stdio.h>

typedef struct topics {
	double purity, domain, length;
	int64_t common, own;        /* words all tasks share; words each task has to itself */
	double log_common, log_own; /* ln(N + 1) of (E1) for each */
	int32_t *ranking; /* (k + 1) x common: columns by rank, of each topic and of the background */
	int32_t *columns; /* common words, then each task's own: their columns */
} topics;

static void free_topics(const kdr_allocator *a, void *state)
{
	topics *s = state;
	KDRI_FREE_WITH(a, s->ranking, s->columns, s);
}

/* --- rows -------------------------------------------------------------------------------------- */

static int64_t draw_length(const topics *s, kdri_rng *rng)
{
	int64_t n = (int64_t)(s->length * (0.5 + kdri_rng_uniform(rng)) + 0.5);
	return KDRI_MAX(n, 1);
}

/* The length is the first thing a row draws. */
static int64_t room(const kdr_generator *g, kdri_rng rng)
{
	return draw_length(g->state, &rng);
}

static int64_t draw_rank(kdri_rng *rng, int64_t n, double log_n)
{
	int64_t r = (int64_t)exp(kdri_rng_uniform(rng) * log_n); /* (E1) */
	return KDRI_MIN(r, n) - 1;
}

static int32_t draw_word(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng)
{
	const topics *s = g->state;
	double source = kdri_rng_uniform(rng);
	if (source < s->purity)
		return s->ranking[label * s->common + draw_rank(rng, s->common, s->log_common)];
	if (source < s->purity + s->domain)
		return s->columns[s->common + task * s->own + draw_rank(rng, s->own, s->log_own)];
	return s->ranking[g->k * s->common + draw_rank(rng, s->common, s->log_common)];
}

static void topics_sort(int32_t *x, int64_t n)
{
	static const int64_t gaps[] = { 8858, 3937, 1750, 701, 301, 132, 57, 23, 10, 4, 1 }; /* Ciura */
	for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
		for (int64_t i = gaps[g]; i < n; i++) {
			int32_t v = x[i];
			int64_t j = i;
			for (; j >= gaps[g] && x[j - gaps[g]] > v; j -= gaps[g])
				x[j] = x[j - gaps[g]];
			x[j] = v;
		}
}

static int64_t topics_row(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng, int32_t *cols,
                          double *vals)
{
	int64_t words = draw_length(g->state, rng), nnz = 0;
	for (int64_t i = 0; i < words; i++)
		cols[i] = draw_word(g, task, label, rng);
	topics_sort(cols, words);
	for (int64_t i = 0; i < words; i++)
		if (nnz > 0 && cols[nnz - 1] == cols[i]) {
			vals[nnz - 1] += 1;
		} else {
			cols[nnz] = cols[i];
			vals[nnz++] = 1;
		}
	return nnz;
}

static void topics_dense_row(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng, double *row)
{
	int64_t words = draw_length(g->state, rng);
	memset(row, 0, (size_t)g->features * sizeof *row);
	for (int64_t i = 0; i < words; i++)
		row[draw_word(g, task, label, rng)] += 1;
}

static void topics_name(const kdr_generator *g, int64_t task, int64_t column, char *name, size_t size)
{
	(void)task;
	kdri_word(column, g->features, name, size);
}

static const kdri_design design = { .stage = "generate.topics",
	                            .dense_row = topics_dense_row,
	                            .sparse_row = topics_row,
	                            .room = room,
	                            .feature_name = topics_name,
	                            .free_state = free_topics };

/* --- making one -------------------------------------------------------------------------------- */

static kdr_status make_rankings(kdr_context *ctx, kdr_generator *g)
{
	topics *s = g->state;
	int64_t size;
	KDRI_DO(kdri_mul(ctx, g->k + 1, s->common, &size));
	KDRI_DO(KDRI_NEW(ctx, &s->ranking, size));
	KDRI_DO(KDRI_NEW(ctx, &s->columns, g->features));
	kdri_rng rng = kdri_rng_stream(g->seed, "generate.topics.columns", 0);
	kdri_shuffle(&rng, s->columns, g->features);
	for (int64_t c = 0; c <= g->k; c++) {
		int32_t *ranking = s->ranking + c * s->common;
		rng = kdri_rng_stream(g->seed, "generate.topics.ranking", (uint64_t)c);
		kdri_shuffle(&rng, ranking, s->common);
		for (int64_t r = 0; r < s->common; r++)
			ranking[r] = s->columns[ranking[r]];
	}
	return KDR_OK;
}

static kdr_status topics_check(kdr_context *ctx, const kdr_design *s)
{
	static const char what[] = "topics";
	KDRI_DO(kdri_check_count(ctx, what, "words", s->words, 2, 1000000000));
	KDRI_DO(kdri_check_real(ctx, what, "length", s->length, 1, 1e6));
	KDRI_DO(kdri_check_real(ctx, what, "purity", s->purity, 0, 1));
	KDRI_DO(kdri_check_real(ctx, what, "domain", s->domain, 0, 1));
	if (s->purity + s->domain > 1 + 1e-12)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "generate topics: purity %g and domain %g are fractions of a document; their sum must not exceed 1",
		        s->purity, s->domain);
	KDRI_DO(kdri_check_count(ctx, what, "missing (of k topics)", s->missing, 0, s->k - 1));
	if (s->domain > 0 && s->words / 4 < s->tasks)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "generate topics: %lld words are too few for %lld data sets with their own words; at least %lld are needed",
		        (long long)s->words, (long long)s->tasks, 4 * (long long)s->tasks);
	return KDR_OK;
}

kdr_status kdri_generate_topics(kdr_context *ctx, const kdr_design *spec, kdr_generator **out)
{
	kdr_status st;
	kdr_generator *g = NULL;
	topics *s = NULL;
	KDRI_TRY(kdri_generator_new(ctx, &design, "topics", spec->tasks, spec->k, spec->samples, &g));
	KDRI_TRY(topics_check(ctx, spec));
	KDRI_TRY(KDRI_NEW0(ctx, &s, 1));
	s->purity = spec->purity;
	s->domain = spec->domain;
	s->length = spec->length;
	s->own = spec->domain > 0 ? spec->words / 4 / spec->tasks : 0;
	s->common = spec->words - s->own * spec->tasks;
	s->log_common = log((double)s->common + 1);
	s->log_own = log((double)s->own + 1);
	g->state = s;
	g->features = spec->words;
	g->most = (int64_t)(1.5 * spec->length + 0.5) + 1;
	KDRI_TRY(make_rankings(ctx, g));
	KDRI_TRY(kdri_classes_new(ctx, g, spec->missing, 0, false));
	*out = g;
	g = NULL;
done:
	kdr_generator_free(g);
	return st;
}
