/* Initial centres of k-means. SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means++ [Arthur & Vassilvitskii, SODA 2007]: the first centre is a sample drawn by weight, each further one a sample
 * drawn with probability proportional to w_i D_i^2, D_i its distance to the nearest centre so far. Greedy, as in
 * scikit-learn: of 2 + floor(ln k) samples drawn, the one that leaves the smallest sum of w_i D_i^2 is selected, the
 * first of equal ones. The distances to all drawn samples are one product with a table of them, at the cost of one
 * multiply-add per stored entry and vector of 8 candidates. Rows are many and candidates few, so that reading the rows takes
 * longer than multiplying them: the candidates of several starts share a table (a batch). (E1) and (E2) are in
 * kmeans_work.h.
 *
 * The sums of w_i D_i^2 that candidates are compared by are those of comm/exact.h, and the weights by which rows are drawn
 * are integer numbers of units, shares, of which all rows together have less than 2^62: sums of them are exact, and the
 * cumulative sums are the same everywhere. Neither depends on the distribution of the rows over ranks. The rank of a
 * candidate sends its row to all. For each centre, ranks exchange the candidates, the sum that each would leave, and
 * shares; between these exchanges they compute the products and do one pass over n numbers. Several problems do this in
 * step. */
#include "engine/kmeans/kmeans_work.h"

/* --- random rows ---------------------------------------------------------------------------- */

kdr_status kdri_km_shares_new(const kdri_km *w, kdri_km_shares *s)
{
	*s = (kdri_km_shares){ 0 };
	KDRI_DO(KDRI_NEW(w->ctx, &s->share, w->n));
	KDRI_DO(KDRI_NEW0(w->ctx, &s->before, w->groups_of_rows));
	return KDRI_NEW0(w->ctx, &s->own, w->groups_of_rows);
}

void kdri_km_shares_free(const kdri_km *w, kdri_km_shares *s)
{
	KDRI_FREE(w->ctx, s->share, s->before, s->own);
}

/* A weight in units, where `most` is the largest of all rows. */
static double share_units(const kdri_km *w, double most)
{
	int exponent = 0, rows = 0;
	/* most < 2^exponent, all < 2^rows */
	(void)frexp(most, &exponent);
	(void)frexp((double)w->all, &rows);
	return ldexp(1, KDRI_MIN(61 - rows - exponent, 1000));
}

/* Shares of n rows by their weights, and their sum. */
KDRI_KERNEL
static int64_t shares_fill(const double *weights, int64_t n, double units, int64_t *share)
{
	int64_t sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += share[i] = weights[i] > 0 ? 1 + (int64_t)(weights[i] * units) : 0;
	return sum;
}

kdr_status kdri_km_shares_set(const kdri_km *w, const double *weights, kdri_km_shares *s)
{
	double most = 0;
	for (int64_t i = 0; i < w->n; i++)
		most = KDRI_MAX(most, weights[i]);
	KDRI_DO(kdri_max(w->ctx, &most, 1));
	const double units = share_units(w, most);
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; g++) {
		s->own[g] = shares_fill(weights + i, w->rows_of[g], units, s->share + i);
		i += w->rows_of[g];
	}
	return kdri_parts(w->ctx, s->own, w->groups_of_rows, s->before, &s->total);
}

/* The row of this rank at which the cumulative shares of all rows first exceed `at`; -1: it belongs to another rank. */
static int64_t shares_find(const kdri_km *w, const kdri_km_shares *s, int64_t at)
{
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; i += w->rows_of[g++]) {
		int64_t left = at - s->before[g];
		if (left < 0 || left >= s->own[g])
			continue;
		while (left >= s->share[i])
			left -= s->share[i++];
		return i;
	}
	return -1;
}

int64_t kdri_km_shares_draw(const kdri_km *w, const kdri_km_shares *s, kdri_rng *rng)
{
	int64_t at = (int64_t)(kdri_rng_uniform(rng) * (double)s->total);
	return shares_find(w, s, KDRI_MIN(at, s->total - 1));
}

/* Places that are still in order are not stored, so that the entire list is not needed. */
int64_t kdri_shuffle_next(kdri_shuffle *s, int64_t j, int64_t count, kdri_rng *rng)
{
	/* Swaps the entries at positions `at` and j; position j is not used again. */
	int64_t at = j + kdri_rng_below(rng, count - j), found = at, here = j, seen = -1;
	for (int64_t c = 0; c < s->changed; c++) {
		if (s->place[c] == at) {
			found = s->is[c];
			seen = c;
		}
		if (s->place[c] == j)
			here = s->is[c];
	}
	seen = seen < 0 ? s->changed++ : seen;
	s->place[seen] = at;
	s->is[seen] = here;
	return found;
}

/* --- candidates ----------------------------------------------------------------------------- */

enum {
	CANDIDATES = 48, /* 2 + ln k for any k */
	HALF = KDRI_LANES / 2
};

typedef struct seeding {
	kdri_km *w;
	kdri_rng rng;
	double *centres;                            /* k x d, to be filled */
	double *room, *nearest, *trial[CANDIDATES]; /* n each: D_i^2, and min(D_i^2, distance to candidate) */
	kdri_km_shares shares;                      /* of w_i D_i^2 */
	double *blocks;                             /* for each block of rows and candidate: an outcome */
	double *row;            /* count x (d + 1): candidates as centres, and |x - m|^2 */
	double big, small;      /* t and t' of comm/exact.h for the sums of candidates */
	double farthest;        /* the largest |x - m|^2 */
	int64_t first, lanes;   /* in the table of the batch */
	int64_t trials, chosen; /* candidates for each centre but the first; centres so far */
	int64_t count;          /* candidates now; 0: no more centres */
} seeding;

/* Starts of one problem. */
typedef struct batch {
	seeding *s;
	int64_t count, lanes;
	double *dots; /* for each thread: a block of rows x lanes, and of rows x the lanes of a start */
	kdri_km_table table;
} batch;

/* Of a candidate: the sum of w_i D_i^2 with it in two parts, and its largest term. */
enum { HIGH, LOW, MOST, OUTCOME };

static double *entry_of(const kdri_km_table *table, int64_t lane, int64_t f)
{
	return table->at + lane / KDRI_LANES * table->tile_step + f * table->feature_step + lane % KDRI_LANES;
}

static void copy_row(const kdri_km *w, int64_t i, double *to)
{
	double scale = w->scale ? w->scale[i] : 1;
	if (w->x->kind == KDR_MAT_DENSE) {
		const double *x = w->x->as.dense.data + i * w->x->as.dense.stride;
		for (int64_t f = 0; f < w->d; f++)
			to[f] = scale * x[f];
		return;
	}
	const kdr_csr *x = &w->x->as.csr;
	memset(to, 0, (size_t)w->d * sizeof *to);
	for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
		to[x->col[p]] = scale * x->val[p];
}

/* The rows of the candidates, or zeros; rows[c] is a local row, or -1 for a candidate of another rank. */
static void kmeanspp_put_rows(const kdri_km *w, const int64_t *rows, int64_t count, double *to)
{
	for (int64_t c = 0; c < count; c++, to += w->d + 1) {
		if (rows[c] < 0) {
			memset(to, 0, (size_t)(w->d + 1) * sizeof *to);
			continue;
		}
		copy_row(w, rows[c], to);
		to[w->d] = w->norm[rows[c]];
	}
}

/* Copies a column of a block of distances. */
KDRI_KERNEL
static void copy_lane(const double *from, int64_t lanes, int64_t m, double *restrict to)
{
	for (int64_t q = 0; q < m && lanes == HALF; q++)
		to[q] = from[q * HALF];
	for (int64_t q = 0; q < m && lanes != HALF; q++)
		to[q] = from[q * lanes];
}

/* trial[c][i] = min(D_i^2, |x_i - candidate c|^2), and the outcomes of candidates over m rows from `begin` on, whose
 * products with the table are in `dots`; m x lanes numbers of `room` are overwritten. */
static void try_rows(const seeding *s, int64_t begin, int64_t m, const double *weight, const double *offset,
                     const double *dots, int64_t ldo, double *room)
{
	const kdri_km *w = s->w;
	double sums[OUTCOME][CANDIDATES], *out = s->blocks + begin / KDRI_BLOCK * s->trials * OUTCOME,
	                                  most = 0;
	for (int64_t c = 0; c < s->count; c++)
		most = KDRI_MAX(most, offset[s->first + c]);
	const kdri_km_trial t = { .norm = w->norm + begin,
		                  .twice = w->twice ? w->twice + begin : NULL,
		                  .weight = weight,
		                  .near = s->nearest + begin,
		                  .dots = dots + s->first,
		                  .ldo = ldo,
		                  .out = room,
		                  .lanes = s->lanes,
		                  .offset = offset + s->first,
		                  .unit = w->error_unit,
		                  .base = 12 * w->shift_norm,
		                  .limit = w->error_unit * (6 * (s->farthest + most) + 12 * w->shift_norm),
		                  .big = s->big,
		                  .small = s->small,
		                  .high = sums[HIGH],
		                  .low = sums[LOW],
		                  .most = sums[MOST] };
	kdri_km_try(&t, m);
	for (int64_t c = 0; c < s->count; c++) {
		copy_lane(room + c, s->lanes, m, s->trial[c] + begin);
		for (int k = 0; k < OUTCOME; k++)
			*out++ = sums[k][c];
	}
}

/* Puts the candidates into the table; offset: b of (E1) for c' = x_r - m, |x_r - m|^2 + 2 m . (x_r - m). */
static void put_candidates(const seeding *s, const kdri_km_table *table, double *offset)
{
	const kdri_km *w = s->w;
	for (int64_t c = 0; c < s->count; c++) {
		const double *row = s->row + c * (w->d + 1);
		double dot = 0;
		for (int64_t f = 0; f < w->d; f++) {
			double at = w->shift ? row[f] - w->shift[f] : row[f];
			*entry_of(table, s->first + c, f) = at;
			dot += w->shift ? w->shift[f] * at : 0;
		}
		offset[s->first + c] = row[w->d] + 2 * dot;
	}
}

/* Of each candidate, those of all starts: parts of the sum over the rows here, and its largest term. */
static void try_candidates(const batch *t, double *sums, double *most)
{
	const kdri_km *w = t->s->w;
	const int64_t blocks = kdri_km_blocks(w);
	double offset[KDRI_KM_STARTS * CANDIDATES] = { 0 };
	for (int64_t p = 0; p < t->count; p++)
		put_candidates(&t->s[p], &t->table, offset);
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(w)) if (w->threads > 1)
	for (int64_t b = 0; b < blocks; b++) {
		const int64_t begin = b * KDRI_BLOCK, m = KDRI_MIN(KDRI_BLOCK, w->n - begin);
		int64_t list[KDRI_BLOCK] = { 0 };
		double weight[KDRI_BLOCK],
		        *dots = t->dots + kdri_thread() * KDRI_BLOCK * (t->lanes + t->s->lanes);
		for (int64_t i = 0; i < m; i++) {
			list[i] = begin + i;
			weight[i] = 1;
		}
		for (int64_t i = 0; i < m && (w->weights || w->scale); i++)
			weight[i] = kdri_km_counts(w, begin + i) ? kdri_km_weight(w, begin + i) : 0;
		kdri_km_dots(w->x, list, m, &t->table, 0, t->lanes, dots, t->lanes);
		for (int64_t p = 0; p < t->count; p++)
			if (t->s[p].count > 0)
				try_rows(&t->s[p], begin, m, weight, offset, dots, t->lanes,
				         dots + KDRI_BLOCK * t->lanes);
	}
	for (int64_t p = 0; p < t->count; p++)
		for (int64_t c = 0; c < t->s[p].count; c++, sums += 2, most++) {
			sums[0] = sums[1] = *most = 0;
			for (int64_t b = 0; b < blocks; b++) {
				const double *part = t->s[p].blocks + (b * t->s[p].trials + c) * OUTCOME;
				sums[0] += part[HIGH];
				sums[1] += part[LOW];
				*most = KDRI_MAX(*most, part[MOST]);
			}
		}
}

/* The shares here of w D^2, the largest of which is `most`; n numbers of `room` are overwritten. */
static void kmeanspp_shares(seeding *s, double most, double *room)
{
	kdri_km *w = s->w;
	const double units = share_units(w, most), *weighted = s->nearest;
	if (w->weights || w->scale) {
		for (int64_t i = 0; i < w->n; i++)
			room[i] = kdri_km_counts(w, i) ? kdri_km_weight(w, i) * s->nearest[i] : 0;
		weighted = room;
	}
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; i += w->rows_of[g++])
		s->shares.own[g] = shares_fill(weighted + i, w->rows_of[g], units, s->shares.share + i);
}

/* Takes the candidate with the smallest sum. */
static void take_best(seeding *s, const double *sums, const double *most)
{
	const int64_t d = s->w->d;
	int64_t best = 0;
	double least = INFINITY;
	for (int64_t c = 0; c < s->count; c++) {
		double potential = sums[2 * c] + sums[2 * c + 1];
		if (potential < least || c == 0) {
			least = potential;
			best = c;
		}
	}
	double *swap = s->nearest;
	s->nearest = s->trial[best];
	s->trial[best] = swap;
	kmeanspp_shares(s, most[best], swap);
	memcpy(s->centres + s->chosen++ * d, s->row + best * (d + 1), (size_t)d * sizeof *s->row);
}

/* --- problems in step ----------------------------------------------------------------------- */

typedef struct crew {
	kdr_context *ctx;
	seeding *s;
	batch *batches;
	int64_t count, batch_count;
	double *rows;  /* candidates of all */
	double *tried; /* sums of all candidates, then largest terms */
	int64_t *own;  /* shares of all */
} crew;

static kdr_status open_seeding(seeding *s)
{
	kdri_km *w = s->w;
	int64_t n = w->n, size;
	s->trials = kdri_km_trials(w->k);
	s->lanes = (s->trials + HALF - 1) / HALF * HALF;
	KDRI_DO(kdri_mul(w->ctx, n, s->trials + 1, &size));
	KDRI_DO(KDRI_NEW(w->ctx, &s->room, size));
	s->nearest = s->room + s->trials * n;
	for (int64_t c = 0; c < s->trials; c++)
		s->trial[c] = s->room + c * n;
	KDRI_DO(kdri_km_shares_new(w, &s->shares));
	return KDRI_NEW(w->ctx, &s->blocks, OUTCOME * s->trials * kdri_km_blocks(w));
}

/* A batch of the starts that follow s[0] and belong to the same problem. */
static kdr_status open_batch(seeding *s, int64_t left, batch *t)
{
	const kdri_km *w = s->w;
	t->s = s;
	for (; t->count < left && t->count < KDRI_KM_STARTS && s[t->count].w == w; t->count++) {
		s[t->count].first = t->lanes;
		t->lanes += s[t->count].lanes;
	}
	/* Half a tile may be used alone, if the machine has a kernel for it. */
	const int64_t tiles = (t->lanes + KDRI_LANES - 1) / KDRI_LANES;
	if (t->lanes > HALF || kdri_km_reach(w->x->kind) > HALF)
		t->lanes = tiles * KDRI_LANES;
	KDRI_DO(KDRI_NEW(w->ctx, &t->dots, w->threads * KDRI_BLOCK * (t->lanes + s->lanes)));
	return kdri_km_table_new(w->ctx, w->x->kind, w->d, tiles, &t->table);
}

static kdr_status open_crew(crew *c)
{
	int64_t rows = 0, candidates = 0, groups = 0, size;
	for (int64_t p = 0; p < c->count; p++) {
		const seeding *s = &c->s[p];
		KDRI_DO(open_seeding(&c->s[p]));
		KDRI_DO(kdri_mul(c->ctx, s->trials, s->w->d + 1, &size));
		rows += size;
		candidates += s->trials;
		groups += s->w->groups_of_rows;
	}
	KDRI_DO(KDRI_NEW(c->ctx, &c->rows, rows));
	KDRI_DO(KDRI_NEW(c->ctx, &c->tried, OUTCOME * candidates));
	KDRI_DO(KDRI_NEW(c->ctx, &c->own, groups));
	for (int64_t p = 0; p < c->count; p += c->batches[c->batch_count++].count)
		KDRI_DO(open_batch(&c->s[p], c->count - p, &c->batches[c->batch_count]));
	return KDR_OK;
}

/* Shares of all ranks, of the problems that have taken a centre. */
static kdr_status kmeanspp_share(crew *c)
{
	kdr_status st;
	int64_t *each = NULL, groups = 0;
	for (int64_t p = 0; p < c->count; p++)
		for (int64_t g = 0; c->s[p].count > 0 && g < c->s[p].w->groups_of_rows; g++)
			c->own[groups++] = c->s[p].shares.own[g];
	KDRI_TRY(kdri_each_of(c->ctx, c->own, groups, &each));
	groups = 0;
	for (int64_t p = 0; p < c->count; p++) {
		seeding *s = &c->s[p];
		if (s->count == 0)
			continue;
		kdri_parts_of(c->ctx, each, groups, s->w->groups_of_rows, s->shares.before, &s->shares.total);
		groups += s->w->groups_of_rows;
	}
done:
	kdri_free(c->ctx, each);
	return st;
}

/* Before the first centre D_i^2 = 1 for all. */
static kdr_status kmeanspp_begin(crew *c)
{
	kdr_status st;
	double *ends =
	        NULL; /* of each problem: the largest |x - m|^2, weight, and weight of a row that counts */
	KDRI_TRY(KDRI_NEW0(c->ctx, &ends, 3 * c->count));
	for (int64_t p = 0; p < c->count; p++) {
		const seeding *s = &c->s[p];
		const kdri_km *w = s->w;
		double *end = ends + 3 * p;
		for (int64_t i = 0; i < w->n; i++) {
			double weight = kdri_km_weight(w, i);
			s->nearest[i] = 1;
			end[0] = KDRI_MAX(end[0], w->norm[i]);
			end[1] = KDRI_MAX(end[1], weight);
			end[2] = KDRI_MAX(end[2], kdri_km_counts(w, i) ? weight : 0);
		}
	}
	KDRI_TRY(kdri_max(c->ctx, ends, 3 * c->count));
	for (int64_t p = 0; p < c->count; p++) {
		seeding *s = &c->s[p];
		const double *end = ends + 3 * p;
		/* |x - y|^2 <= 4 max |x - m|^2, and some for rounding. */
		s->big = kdri_exact_big(5 * end[0] * end[1], s->w->all);
		s->small = s->big * kdri_exact_ratio(s->w->all);
		s->farthest = end[0];
		s->count = 1;
		kmeanspp_shares(s, end[2], s->trial[0]);
		for (int64_t i = 0; i < s->w->n; i++)
			s->nearest[i] = INFINITY;
	}
	KDRI_TRY(kmeanspp_share(c));
done:
	kdri_free(c->ctx, ends);
	return st;
}

/* Candidates for one more centre of each problem; *all: how many. */
static kdr_status kmeanspp_draw(crew *c, int64_t *all)
{
	int64_t size = 0;
	*all = 0;
	for (int64_t p = 0; p < c->count; p++) {
		seeding *s = &c->s[p];
		s->count = s->chosen == s->w->k || s->shares.total == 0 ? 0 : s->chosen ? s->trials : 1;
		s->row = c->rows + size;
		size += s->count * (s->w->d + 1);
		*all += s->count;
	}
#pragma omp parallel for num_threads(kdri_km_team(c->s->w)) if (c->s->w->threads > 1 && c->count > 1)
	for (int64_t p = 0; p < c->count; p++) {
		seeding *s = &c->s[p];
		int64_t rows[CANDIDATES] = { 0 };
		for (int64_t j = 0; j < s->count; j++)
			rows[j] = kdri_km_shares_draw(s->w, &s->shares, &s->rng);
		kmeanspp_put_rows(s->w, rows, s->count, s->row);
	}
	if (size > 0)
		KDRI_DO(kdri_sum(c->ctx, c->rows, size)); /* of one row and zeros: exact */
	return KDR_OK;
}

/* The best of `all` candidates become centres. */
static kdr_status kmeanspp_choose(crew *c, int64_t all)
{
	double *sums = c->tried, *most = sums + 2 * all;
	for (int64_t b = 0, at = 0; b < c->batch_count; b++) {
		int64_t count = 0;
		for (int64_t p = 0; p < c->batches[b].count; p++)
			count += c->batches[b].s[p].count;
		if (count > 0)
			try_candidates(&c->batches[b], sums + 2 * at, most + at);
		at += count;
	}
	KDRI_DO(kdri_sum_and_max(c->ctx, sums, 2 * all, all));
#pragma omp parallel for num_threads(kdri_km_team(c->s->w)) if (c->s->w->threads > 1 && c->count > 1)
	for (int64_t p = 0; p < c->count; p++) {
		int64_t at = 0;
		for (int64_t q = 0; q < p; q++)
			at += c->s[q].count;
		if (c->s[p].count > 0)
			take_best(&c->s[p], sums + 2 * at, most + at);
	}
	return kmeanspp_share(c);
}

static bool kmeanspp_stops(crew *c)
{
	return !kdri_together(c->ctx) && kdri_leave_off(c->ctx, "centres", c->s[0].chosen, c->s[0].w->k);
}

kdr_status kdri_km_plusplus(const kdri_km_seed *seeds, int64_t count)
{
	kdr_status st;
	bool stopped;
	crew c = { .ctx = seeds[0].w->ctx, .count = count };
	KDRI_TRY(KDRI_NEW0(c.ctx, &c.s, count));
	for (int64_t p = 0; p < count; p++)
		c.s[p] = (seeding){ .w = seeds[p].w, .rng = seeds[p].rng, .centres = seeds[p].centres };
	KDRI_TRY(KDRI_NEW0(c.ctx, &c.batches, count));
	KDRI_TRY(open_crew(&c));
	KDRI_TRY(kmeanspp_begin(&c));
	while (!(stopped = kmeanspp_stops(&c))) {
		int64_t all;
		KDRI_TRY(kmeanspp_draw(&c, &all));
		if (all == 0)
			break;
		KDRI_TRY(kmeanspp_choose(&c, all));
	}
	for (int64_t p = 0; p < count && stopped; p++) { /* random rows take no time */
		KDRI_TRY(kdri_km_random(c.s[p].w, &c.s[p].rng, c.s[p].centres));
		c.s[p].chosen = c.s[p].w->k;
	}
	/* Fewer distinct samples than centres: the rest repeat the first, and get no samples. */
	for (int64_t p = 0; p < count; p++)
		for (int64_t j = KDRI_MAX(c.s[p].chosen, 1), d = c.s[p].w->d; j < c.s[p].w->k; j++)
			memcpy(c.s[p].centres + j * d, c.s[p].centres, (size_t)d * sizeof(double));
done:
	for (int64_t p = 0; c.s && p < count; p++) {
		KDRI_FREE(c.ctx, c.s[p].room, c.s[p].blocks);
		kdri_km_shares_free(c.s[p].w, &c.s[p].shares);
	}
	for (int64_t b = 0; c.batches && b < count; b++)
		KDRI_FREE(c.ctx, c.batches[b].dots, c.batches[b].table.room);
	KDRI_FREE(c.ctx, c.s, c.batches, c.rows, c.tried, c.own);
	return st;
}

/* The first k of a random order of the rows that count. */
kdr_status kdri_km_random(kdri_km *w, kdri_rng *rng, double *centres)
{
	kdr_status st;
	seeding s = { .w = w };
	kdri_shuffle order = { 0 };
	KDRI_TRY(kdri_km_shares_new(w, &s.shares));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.row, w->d + 1));
	KDRI_TRY(KDRI_NEW(w->ctx, &order.place, w->k));
	KDRI_TRY(KDRI_NEW(w->ctx, &order.is, w->k));
	for (int64_t g = 0, i = 0; g < w->groups_of_rows; g++)
		for (int64_t end = i + w->rows_of[g]; i < end; i++)
			s.shares.own[g] += s.shares.share[i] = kdri_km_counts(w, i);
	KDRI_TRY(kdri_parts(w->ctx, s.shares.own, w->groups_of_rows, s.shares.before, &s.shares.total));
	for (int64_t j = 0; j < w->k; j++) {
		if (j >= s.shares.total) {
			memcpy(centres + j * w->d, centres, (size_t)w->d * sizeof *centres);
			continue;
		}
		int64_t row = kdri_shuffle_next(&order, j, s.shares.total, rng);
		int64_t mine = shares_find(w, &s.shares, row);
		kmeanspp_put_rows(w, &mine, 1, s.row);
		KDRI_TRY(kdri_sum(w->ctx, s.row, w->d + 1)); /* of one row and zeros: exact */
		memcpy(centres + j * w->d, s.row, (size_t)w->d * sizeof *centres);
	}
done:
	kdri_km_shares_free(w, &s.shares);
	KDRI_FREE(w->ctx, s.row, order.place, order.is);
	return st;
}
