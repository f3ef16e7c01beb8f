/* Where k-means starts. SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means++ [Arthur & Vassilvitskii, SODA 2007]: the first centre is a sample drawn by weight, each
 * further one a sample drawn with probability proportional to w_i D_i^2, D_i its distance to the
 * nearest centre so far. Greedy, as in scikit-learn: of 2 + floor(ln k) samples drawn, the one that
 * leaves the smallest sum of w_i D_i^2 is taken, the first of equals. The distances to all drawn
 * samples are one product with a table of them, at the cost of one multiply-add per stored entry and
 * vector of 8 candidates. (E1) and (E2) are in
 * kmeans_work.h. */
#include "engine/kmeans/kmeans_work.h"

enum { CANDIDATES = 48 }; /* 2 + ln k for any k */

typedef struct seeding {
	kdri_km *w;
	double *nearest;  /* D_i^2, n */
	double *weighted; /* w_i D_i^2, n */
	double *blocks;   /* its sums over blocks of rows, then over candidates */
	double *trial;    /* n x lanes: min(D_i^2, distance to candidate) */
	int64_t lanes, tiles;
	kdri_km_table table;
} seeding;

static double *entry_of(const seeding *s, int64_t lane, int64_t f)
{
	return s->table.at + lane / KDRI_LANES * s->table.tile_step + f * s->table.feature_step +
	       lane % KDRI_LANES;
}

/* Puts row i into a lane of the table, or takes it out again (factor 0). */
static void place(const seeding *s, int64_t lane, int64_t i, double factor)
{
	const kdri_km *w = s->w;
	if (w->x->kind == KDR_MAT_DENSE) {
		const double *x = w->x->as.dense.data + i * w->x->as.dense.stride;
		for (int64_t f = 0; f < w->d; f++)
			*entry_of(s, lane, f) = factor * (w->shift ? x[f] - w->shift[f] : x[f]);
		return;
	}
	const kdr_csr *x = &w->x->as.csr;
	for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
		*entry_of(s, lane, x->col[p]) = factor * x->val[p];
}

/* Everything a candidate's lane must hold: the row, less the shift in all features. */
static void fill_lane(const seeding *s, int64_t lane, int64_t i, bool in)
{
	const kdri_km *w = s->w;
	if (w->shift && w->x->kind == KDR_MAT_CSR) {
		for (int64_t f = 0; f < w->d; f++)
			*entry_of(s, lane, f) = in ? -w->shift[f] : 0;
		const kdr_csr *x = &w->x->as.csr;
		for (int64_t p = x->rowptr[i]; p < x->rowptr[i + 1]; p++)
			*entry_of(s, lane, x->col[p]) = in ? x->val[p] - w->shift[x->col[p]] : 0;
		return;
	}
	place(s, lane, i, !in ? 0 : w->scale ? w->scale[i] : 1);
}

/* trial[i][c] = min(D_i^2, |x_i - candidate c|^2), potential[c] = its weighted sum. */
static void try_candidates(seeding *s, const int64_t *rows, int64_t count, double *potential)
{
	kdri_km *w = s->w;
	int64_t blocks = kdri_km_blocks(w), lanes = s->lanes;
	double offset[CANDIDATES];
	for (int64_t c = 0; c < count; c++) {
		fill_lane(s, c, rows[c], true);
		/* b of (E1) for c' = x_r - m: |x_r - m|^2 + 2 m . (x_r - m) */
		double dot = 0;
		for (int64_t f = 0; f < w->d && w->shift; f++)
			dot += w->shift[f] * *entry_of(s, c, f);
		offset[c] = w->norm[rows[c]] + 2 * dot;
	}
#pragma omp parallel for schedule(static) num_threads(w->threads) if (w->threads > 1)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t list[KDRI_BLOCK], begin = b * KDRI_BLOCK, m = KDRI_MIN(KDRI_BLOCK, w->n - begin);
		double *out = s->trial + begin * lanes, sum[CANDIDATES] = { 0 };
		for (int64_t i = 0; i < m; i++)
			list[i] = begin + i;
		kdri_km_dots(w->x, list, m, &s->table, 0, lanes, out, lanes);
		for (int64_t q = 0; q < m; q++) {
			int64_t i = begin + q;
			double near = s->nearest[i], weight = kdri_km_counts(w, i) ? kdri_km_weight(w, i) : 0;
			double two = w->twice ? w->twice[i] : 2, *v = out + q * lanes;
			for (int64_t c = 0; c < count; c++) {
				double t = w->norm[i] + (offset[c] - two * v[c]);
				/* Below the error of (E2) they are the same point. */
				t = t > w->error_unit * (6 * (w->norm[i] + offset[c]) + 12 * w->shift_norm)
				            ? t
				            : 0;
				v[c] = t < near ? t : near;
				sum[c] += weight * v[c];
			}
		}
		for (int64_t c = 0; c < count; c++)
			s->blocks[b * CANDIDATES + c] = sum[c];
	}
	for (int64_t c = 0; c < count; c++) {
		potential[c] = 0;
		for (int64_t b = 0; b < blocks; b++)
			potential[c] += s->blocks[b * CANDIDATES + c];
		fill_lane(s, c, rows[c], false);
	}
}

/* Takes candidate c: D^2, its weighted form and the latter's sums over blocks. */
static double take(seeding *s, int64_t c)
{
	kdri_km *w = s->w;
	double total = 0;
	for (int64_t b = 0; b < kdri_km_blocks(w); b++) {
		double sum = 0;
		for (int64_t i = b * KDRI_BLOCK; i < KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK); i++) {
			s->nearest[i] = s->trial[i * s->lanes + c];
			s->weighted[i] = kdri_km_counts(w, i) ? kdri_km_weight(w, i) * s->nearest[i] : 0;
			sum += s->weighted[i];
		}
		s->blocks[b * CANDIDATES] = sum;
		total += sum;
	}
	return total;
}

/* A row with probability weighted[i] / total; blocks[b * CANDIDATES] are its sums over blocks. */
static int64_t draw(const seeding *s, double total, kdri_rng *rng)
{
	const kdri_km *w = s->w;
	double left = kdri_rng_uniform(rng) * total;
	int64_t last = -1, blocks = kdri_km_blocks(w);
	for (int64_t b = 0; b < blocks; b++) {
		double sum = s->blocks[b * CANDIDATES];
		if (left >= sum && b + 1 < blocks) {
			left -= sum;
			if (sum > 0)
				last = b * KDRI_BLOCK; /* a row of this block stands by, see below */
			continue;
		}
		for (int64_t i = b * KDRI_BLOCK; i < KDRI_MIN(w->n, (b + 1) * KDRI_BLOCK); i++) {
			if (s->weighted[i] <= 0)
				continue;
			last = i;
			if (left < s->weighted[i])
				return i;
			left -= s->weighted[i];
		}
	}
	/* Rounding ran past the end: the last row that can be drawn. */
	while (s->weighted[last] <= 0)
		last++;
	return last;
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

kdr_status kdri_km_plusplus(kdri_km *w, kdri_rng *rng)
{
	kdr_status st;
	seeding s = { .w = w };
	int64_t n = w->n, trials = 2 + (int64_t)log((double)w->k), chosen = 0, size;
	s.tiles = (trials + KDRI_LANES - 1) / KDRI_LANES;
	s.lanes = s.tiles * KDRI_LANES;
	KDRI_TRY(KDRI_NEW(w->ctx, &s.nearest, n));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.weighted, n));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.blocks, CANDIDATES * kdri_km_blocks(w)));
	KDRI_TRY(kdri_mul(w->ctx, n, s.lanes, &size));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.trial, size));
	KDRI_TRY(kdri_km_table_new(w->ctx, w->x->kind, w->d, s.tiles, &s.table));
	/* The first centre: D_i^2 = 1 for all. */
	for (int64_t i = 0; i < n; i++) {
		s.nearest[i] = INFINITY;
		s.trial[i * s.lanes] = 1;
	}
	double total = take(&s, 0);
	for (int64_t i = 0; i < n; i++)
		s.nearest[i] = INFINITY;
	for (; chosen < w->k && total > 0; chosen++) {
		int64_t rows[CANDIDATES] = { 0 }, count = chosen ? trials : 1, best = 0;
		double potential[CANDIDATES];
		for (int64_t c = 0; c < count; c++)
			rows[c] = draw(&s, total, rng);
		try_candidates(&s, rows, count, potential);
		for (int64_t c = 1; c < count; c++)
			if (potential[c] < potential[best])
				best = c;
		total = take(&s, best);
		copy_row(w, rows[best], w->centres + chosen * w->d);
	}
	/* Fewer distinct samples than centres: the rest repeat the first, and get no samples. */
	for (int64_t j = KDRI_MAX(chosen, 1); j < w->k; j++)
		memcpy(w->centres + j * w->d, w->centres, (size_t)w->d * sizeof *w->centres);
done:
	kdri_free(w->ctx, s.nearest);
	kdri_free(w->ctx, s.weighted);
	kdri_free(w->ctx, s.blocks);
	kdri_free(w->ctx, s.trial);
	kdri_free(w->ctx, s.table.room);
	return st;
}

kdr_status kdri_km_random(kdri_km *w, kdri_rng *rng)
{
	/* The first k of a random order of the rows that count. */
	int64_t count = 0;
	for (int64_t i = 0; i < w->n; i++)
		if (kdri_km_counts(w, i))
			w->list[count++] = i;
	for (int64_t j = 0; j < w->k; j++) {
		if (j >= count) {
			memcpy(w->centres + j * w->d, w->centres, (size_t)w->d * sizeof *w->centres);
			continue;
		}
		int64_t at = j + kdri_rng_below(rng, count - j), row = w->list[at];
		w->list[at] = w->list[j];
		w->list[j] = row;
		copy_row(w, row, w->centres + j * w->d);
	}
	return KDR_OK;
}
