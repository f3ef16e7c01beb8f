/* Where k-means starts. SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means++ [Arthur & Vassilvitskii, SODA 2007]: the first centre is a sample drawn by weight, each
 * further one a sample drawn with probability proportional to w_i D_i^2, D_i its distance to the
 * nearest centre so far. Greedy, as in scikit-learn: of 2 + floor(ln k) samples drawn, the one that
 * leaves the smallest sum of w_i D_i^2 is taken, the first of equals. The distances to all drawn
 * samples are one product with a table of them, at the cost of one multiply-add per stored entry and
 * vector of 8 candidates. (E1) and (E2) are in kmeans_work.h.
 *
 * The sums of w_i D_i^2 that candidates are compared by are those of comm/exact.h, rows are drawn as kmeans_shares.c says:
 * neither depends on how the rows are cut between ranks. A candidate's rank gives its row to all. */
#include "engine/kmeans/kmeans_work.h"

enum { CANDIDATES = 48 }; /* 2 + ln k for any k */

typedef struct seeding {
	kdri_km *w;
	double *nearest;       /* D_i^2, n */
	kdri_km_shares shares; /* of w_i D_i^2 */
	double *blocks;        /* for each block of rows: high and low parts of the sums of candidates */
	double *trial;         /* n x lanes: min(D_i^2, distance to candidate) */
	double *row;           /* CANDIDATES x (d + 1): candidates as centres, and |x - m|^2 */
	double big, small;     /* t and t' of comm/exact.h for the sums of candidates */
	int64_t lanes, tiles;
	kdri_km_table table;
} seeding;

static double *entry_of(const seeding *s, int64_t lane, int64_t f)
{
	return s->table.at + lane / KDRI_LANES * s->table.tile_step + f * s->table.feature_step +
	       lane % KDRI_LANES;
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

/* Candidates of which rows[c] is a row here, -1 for those of other ranks: their rows on all. */
static kdr_status take_rows(const seeding *s, const int64_t *rows, int64_t count)
{
	const kdri_km *w = s->w;
	int64_t step = w->d + 1;
	for (int64_t c = 0; c < count; c++) {
		double *to = s->row + c * step;
		if (rows[c] < 0) {
			memset(to, 0, (size_t)step * sizeof *to);
			continue;
		}
		copy_row(w, rows[c], to);
		to[w->d] = w->norm[rows[c]];
	}
	return kdri_sum(w->ctx, s->row, count * step); /* of one row and zeros: exact */
}

/* trial[i][c] = min(D_i^2, |x_i - candidate c|^2), potential[c] = its weighted sum. */
static kdr_status try_candidates(seeding *s, int64_t count, double *potential)
{
	kdr_status st;
	kdri_km *w = s->w;
	int64_t blocks = kdri_km_blocks(w), lanes = s->lanes;
	double offset[CANDIDATES], sums[2 * CANDIDATES] = { 0 };
	for (int64_t c = 0; c < count; c++) {
		/* b of (E1) for c' = x_r - m: |x_r - m|^2 + 2 m . (x_r - m) */
		const double *row = s->row + c * (w->d + 1);
		double dot = 0;
		for (int64_t f = 0; f < w->d; f++) {
			double at = w->shift ? row[f] - w->shift[f] : row[f];
			*entry_of(s, c, f) = at;
			dot += w->shift ? w->shift[f] * at : 0;
		}
		offset[c] = row[w->d] + 2 * dot;
	}
#pragma omp parallel for schedule(static) num_threads(w->threads) if (w->threads > 1)
	for (int64_t b = 0; b < blocks; b++) {
		int64_t list[KDRI_BLOCK], begin = b * KDRI_BLOCK, m = KDRI_MIN(KDRI_BLOCK, w->n - begin);
		double *out = s->trial + begin * lanes;
		kdri_exact sum[CANDIDATES] = { { 0 } };
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
				double term = weight * v[c];
				kdri_exact_add(&sum[c], s->big, s->small, term);
			}
		}
		for (int64_t c = 0; c < count; c++) {
			s->blocks[2 * (b * CANDIDATES + c)] = sum[c].high;
			s->blocks[2 * (b * CANDIDATES + c) + 1] = sum[c].low;
		}
	}
	for (int64_t b = 0; b < blocks; b++)
		for (int64_t c = 0; c < 2 * count; c++)
			sums[c] += s->blocks[2 * b * CANDIDATES + c];
	KDRI_TRY(kdri_sum(w->ctx, sums, 2 * count));
	for (int64_t c = 0; c < count; c++)
		potential[c] = sums[2 * c] + sums[2 * c + 1];
done:
	return st;
}

/* Takes candidate c: D^2, and the shares of w D^2. */
static kdr_status take(seeding *s, int64_t c)
{
	kdri_km *w = s->w;
	double *weighted = w->distance;
	for (int64_t i = 0; i < w->n; i++) {
		s->nearest[i] = s->trial[i * s->lanes + c];
		weighted[i] = kdri_km_counts(w, i) ? kdri_km_weight(w, i) * s->nearest[i] : 0;
	}
	return kdri_km_shares_set(w, weighted, &s->shares);
}

kdr_status kdri_km_plusplus(kdri_km *w, kdri_rng *rng)
{
	kdr_status st;
	seeding s = { .w = w };
	int64_t n = w->n, trials = 2 + (int64_t)log((double)w->k), chosen = 0, size;
	double ends[2] = { 0, 0 };
	s.tiles = (trials + KDRI_LANES - 1) / KDRI_LANES;
	s.lanes = s.tiles * KDRI_LANES;
	KDRI_TRY(KDRI_NEW(w->ctx, &s.nearest, n));
	KDRI_TRY(kdri_km_shares_new(w, &s.shares));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.blocks, 2 * CANDIDATES * kdri_km_blocks(w)));
	KDRI_TRY(kdri_mul(w->ctx, n, s.lanes, &size));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.trial, size));
	KDRI_TRY(kdri_mul(w->ctx, trials, w->d + 1, &size));
	KDRI_TRY(KDRI_NEW(w->ctx, &s.row, size));
	KDRI_TRY(kdri_km_table_new(w->ctx, w->x->kind, w->d, s.tiles, &s.table));
	/* The first centre: D_i^2 = 1 for all. */
	for (int64_t i = 0; i < n; i++) {
		s.trial[i * s.lanes] = 1;
		ends[0] = KDRI_MAX(ends[0], w->norm[i]);
		ends[1] = KDRI_MAX(ends[1], kdri_km_weight(w, i));
	}
	KDRI_TRY(take(&s, 0));
	for (int64_t i = 0; i < n; i++)
		s.nearest[i] = INFINITY;
	KDRI_TRY(kdri_max(w->ctx, ends, 2));
	/* |x - y|^2 <= 4 max |x - m|^2, and some for rounding. */
	s.big = kdri_exact_big(5 * ends[0] * ends[1], w->all);
	s.small = s.big * kdri_exact_ratio(w->all);
	for (; chosen < w->k && s.shares.total > 0; chosen++) {
		int64_t rows[CANDIDATES] = { 0 }, count = chosen ? trials : 1, best = 0;
		double potential[CANDIDATES];
		for (int64_t c = 0; c < count; c++)
			rows[c] = kdri_km_shares_draw(w, &s.shares, rng);
		KDRI_TRY(take_rows(&s, rows, count));
		KDRI_TRY(try_candidates(&s, count, potential));
		for (int64_t c = 1; c < count; c++)
			if (potential[c] < potential[best])
				best = c;
		KDRI_TRY(take(&s, best));
		memcpy(w->centres + chosen * w->d, s.row + best * (w->d + 1),
		       (size_t)w->d * sizeof *w->centres);
	}
	/* Fewer distinct samples than centres: the rest repeat the first, and get no samples. */
	for (int64_t j = KDRI_MAX(chosen, 1); j < w->k; j++)
		memcpy(w->centres + j * w->d, w->centres, (size_t)w->d * sizeof *w->centres);
done:
	kdri_free(w->ctx, s.nearest);
	kdri_km_shares_free(w, &s.shares);
	kdri_free(w->ctx, s.blocks);
	kdri_free(w->ctx, s.trial);
	kdri_free(w->ctx, s.row);
	kdri_free(w->ctx, s.table.room);
	return st;
}

/* The first k of a random order of the rows that count. */
kdr_status kdri_km_random(kdri_km *w, kdri_rng *rng)
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
			memcpy(w->centres + j * w->d, w->centres, (size_t)w->d * sizeof *w->centres);
			continue;
		}
		int64_t row = kdri_shuffle_next(&order, j, s.shares.total, rng);
		int64_t mine = kdri_km_shares_find(w, &s.shares, row);
		KDRI_TRY(take_rows(&s, &mine, 1));
		memcpy(w->centres + j * w->d, s.row, (size_t)w->d * sizeof *w->centres);
	}
done:
	kdri_km_shares_free(w, &s.shares);
	kdri_free(w->ctx, s.row);
	kdri_free(w->ctx, order.place);
	kdri_free(w->ctx, order.is);
	return st;
}
