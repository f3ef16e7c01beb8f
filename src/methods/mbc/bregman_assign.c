/* Nearest centroids by any Bregman divergence, with bounds. SPDX-License-Identifier: BSD-3-Clause
 *
 * By (E1) of mbc.h the label of x is the z with the smallest
 *     v_z = base_z - <G_z, x - m>,   base_z = d(m || c_z).
 * A divergence has no triangle inequality, but v_z is linear in x: when the centroids move,
 *     (E3)  |change of v_z - change of base_z| <= |change of G_z| |x - m|
 * by Cauchy and Schwarz. Therefore `gap`, a lower bound of the second smallest v minus the smallest, falls by at most
 *     (E4)  max_z(-change of base_z) + change of base_a + (max_z |change of G_z| + |change of G_a|) |x - m|,
 * z other than a, for a sample with label a. As long as it exceeds the rounding error, the label is kept without
 * reading the sample. The lowest index of the smallest computed v defines the label, with bounds or without.
 *
 * Rounding. Sums of d products err by at most d u times the lengths of what is multiplied, u = 2^-53; with
 * |x| <= |x - m| + |m| the error of a computed v is less than
 *     (E5)  E = C (max base + max |G| (|x - m| + 2 |m|)),   C = (d + 8) 2^-50. */
#include "methods/mbc/mbc.h"

void kdri_breg_reach(kdri_breg *b)
{
	double unit = (double)(b->d + 8) * 0x1p-50, origin = 0;
	for (int64_t f = 0; f < b->d; f++)
		origin += b->origin[f] * b->origin[f];
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(&b->km)) if (b->km.threads > 1)
	for (int64_t i = 0; i < b->n; i++) {
		double s = b->km.scale ? b->km.scale[i] : 1, sum = 0, size = 0;
		if (b->x.kind == KDR_MAT_DENSE) {
			const double *x = b->x.as.dense.data + i * b->x.as.dense.stride;
			for (int64_t f = 0; f < b->d; f++) {
				double e = s * x[f] - b->origin[f];
				sum += e * e;
			}
		} else {
			const kdr_csr *a = &b->x.as.csr;
			for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++) {
				double v = s * a->val[p];
				sum += v * (v - 2 * b->origin[a->col[p]]);
				size += v * v;
			}
			/* This sum cancels: what it can lose is added. */
			sum += origin + unit * (origin + 2 * size);
		}
		b->reach[i] = sqrt(KDRI_MAX(sum, 0.0)) * (1 + unit);
	}
}

/* Writes features f0..f1-1 of all centroids to the table and adds up the quantities of each centroid over them. */
static void load_features(kdri_breg *b, const double *dual, int64_t f0, int64_t f1, kdri_traits *part)
{
	const kdri_km_table *t = &b->km.table;
	for (int64_t z = 0; z < b->k; z++) {
		const double *g = dual + z * b->d;
		double *lane = t->at + z / KDRI_LANES * t->tile_step + z % KDRI_LANES;
		kdri_traits sum = { 0 };
		for (int64_t f = f0; f < f1; f++) {
			double *at = lane + f * t->feature_step, by = g[f] - 2 * *at;
			sum.moved += by * by; /* |change of G_z|^2 of (E3) */
			sum.square += g[f] * g[f];
			sum.offset += g[f] * b->origin[f];
			*at = g[f] / 2; /* the scan doubles it again */
		}
		part[z] = sum;
	}
}

kdr_status kdri_breg_load(kdri_breg *b)
{
	kdri_km *km = &b->km;
	int64_t blocks = (b->d + KDRI_KM_FEATURES - 1) / KDRI_KM_FEATURES;
	const double *dual = b->dual;
	if (b->domain.whitening) { /* <G, R x> = <R' G, x> */
		KDRI_DO(kdri_gemm(b->ctx, false, false, b->k, b->d, b->d, 1, b->dual, b->d,
		                  b->domain.whitening, b->d, 0, b->room, b->d));
		dual = b->room;
	}
#pragma omp parallel for schedule(dynamic, 1) num_threads(kdri_km_team(km)) if (km->threads > 1 && blocks > 1)
	for (int64_t p = 0; p < blocks; p++)
		load_features(b, dual, p * KDRI_KM_FEATURES, KDRI_MIN(b->d, (p + 1) * KDRI_KM_FEATURES),
		              km->partial + p * b->k);
	double most = 0, longest = 0, origin = 0, unit = (double)(b->d + 8) * 0x1p-50;
	for (int64_t f = 0; f < b->d; f++)
		origin += b->origin[f] * b->origin[f];
	for (int64_t z = 0; z < b->k; z++) {
		kdri_traits t = { 0 };
		for (int64_t p = 0; p < blocks; p++) {
			t.moved += km->partial[p * b->k + z].moved;
			t.square += km->partial[p * b->k + z].square;
			t.offset += km->partial[p * b->k + z].offset;
		}
		km->offset[z] = b->base[z] + t.offset; /* (E1) */
		b->drift[z] = sqrt(t.moved) * (1 + unit);
		most = KDRI_MAX(most, b->base[z]);
		longest = KDRI_MAX(longest, sqrt(t.square) * (1 + unit));
	}
	b->error_base = unit * (most + 2 * longest * sqrt(origin)); /* (E5) */
	b->error_reach = unit * longest;
	/* (E4), less its factor |x - m|, for each label a. */
	for (int64_t a = 0; a < b->k; a++) {
		double base = -INFINITY, reach = 0;
		for (int64_t z = 0; z < b->k; z++)
			if (z != a) {
				base = KDRI_MAX(base, b->base_before[z] - b->base[z]);
				reach = KDRI_MAX(reach, b->drift[z]);
			}
		b->lose_base[a] = base + (b->base[a] - b->base_before[a]);
		b->lose_reach[a] = reach + b->drift[a];
	}
	memcpy(b->base_before, b->base, (size_t)b->k * sizeof *b->base);
	return KDR_OK;
}

/* Rows of a block whose label is not certain. */
static int64_t open_rows(kdri_breg *b, int64_t begin, int64_t end, int64_t *rows)
{
	int64_t count = 0;
	for (int64_t i = begin; i < end; i++) {
		int32_t a = b->km.label[i];
		double reach = b->reach[i], error = 4 * (b->error_base + b->error_reach * reach);
		if (!b->fresh)
			b->gap[i] -= b->lose_base[a] + b->lose_reach[a] * reach + error; /* (E4) */
		rows[count] = i;
		count += b->fresh || !(b->gap[i] > error);
	}
	return count;
}

static void nearest_block(kdri_breg *b, int64_t block, double *room)
{
	kdri_km *km = &b->km;
	int64_t begin = block * KDRI_BLOCK, end = KDRI_MIN(b->n, begin + KDRI_BLOCK), moved = 0;
	int64_t rows[KDRI_BLOCK] = { 0 }, lanes = km->tiles * KDRI_LANES;
	int32_t arg[KDRI_BLOCK] = { 0 };
	double *best = room, *second = best + KDRI_BLOCK, *twice = second + KDRI_BLOCK,
	       *dots = twice + KDRI_BLOCK;
	int64_t count = open_rows(b, begin, end, rows);
	for (int64_t r = 0; r < count && km->twice; r++)
		twice[r] = km->twice[rows[r]];
	kdri_km_dots(&b->x, rows, count, &km->table, 0, lanes, dots, lanes);
	kdri_km_scan(dots, lanes, count, lanes, km->offset, km->twice ? twice : NULL, best, second, arg);
	for (int64_t r = 0; r < count; r++) {
		int64_t i = rows[r];
		km->label[i] = arg[r];
		moved += arg[r] != km->before[i];
		b->gap[i] = second[r] - best[r] - 2 * (b->error_base + b->error_reach * b->reach[i]);
	}
	km->moved[block] = moved;
}

void kdri_breg_nearest(kdri_breg *b)
{
	kdri_km *km = &b->km;
	int64_t blocks = kdri_km_blocks(km);
#pragma omp parallel num_threads(kdri_km_team(km)) if (km->threads > 1)
	{
		double *room = km->scratch + kdri_thread() * km->scratch_size;
#pragma omp for schedule(dynamic, 1)
		for (int64_t p = 0; p < blocks; p++)
			nearest_block(b, p, room);
	}
}

/* Initial labels of a Bregman clustering.
 *
 * k-means++ as in kmeanspp.c with divergences: each further seed is a sample drawn with probability proportional to D_i,
 * its divergence from the nearest seed so far; of 2 + floor(ln k) drawn (at most 8, a vector of the kernels, so that
 * they cost no more than one), the one that leaves the smallest sum of D_i is selected. By (E1) of mbc.h the
 * divergences of all samples from a seed are one product. */

kdr_status kdri_breg_random(kdri_breg *b, kdri_rng *rng, int64_t *labels)
{
	kdr_status st;
	kdri_shuffle order = { 0 };
	const int64_t first = b->km.first[0], all = b->km.all;
	KDRI_TRY(KDRI_NEW(b->ctx, &order.place, b->k));
	KDRI_TRY(KDRI_NEW(b->ctx, &order.is, b->k));
	for (int64_t i = 0; i < all; i++) { /* those of other ranks, too: one stream for all */
		int64_t label = kdri_rng_below(rng, b->k);
		if (i >= first && i < first + b->n)
			labels[i - first] = label;
	}
	/* k different samples, one for each cluster. */
	for (int64_t z = 0; z < b->k; z++) {
		int64_t at = kdri_shuffle_next(&order, z, all, rng) - first;
		if (at >= 0 && at < b->n)
			labels[at] = z;
	}
done:
	KDRI_FREE(b->ctx, order.place, order.is);
	return st;
}

typedef struct seeding {
	double *nearest; /* D_i */
	double *trial;   /* n x lanes: D_i with each candidate */
	double *seeds;   /* k x d: those taken */
	kdri_km_shares shares;
} seeding;

/* Sample i as the rows are, into `to`. */
static void copy_sample(const kdri_breg *b, int64_t i, double *to)
{
	double s = b->km.scale ? b->km.scale[i] : 1;
	for (int64_t f = 0; f < b->d; f++)
		to[f] = b->add;
	if (b->x.kind == KDR_MAT_DENSE)
		for (int64_t f = 0; f < b->d; f++)
			to[f] += s * b->x.as.dense.data[i * b->x.as.dense.stride + f];
	else
		for (int64_t p = b->x.as.csr.rowptr[i]; p < b->x.as.csr.rowptr[i + 1]; p++)
			to[b->x.as.csr.col[p]] += s * b->x.as.csr.val[p];
}

/* Divergences of all samples from the centroids of tile 0; trial = the smaller of them and D_i. */
static void try_seeds(kdri_breg *b, seeding *s, int64_t lanes)
{
	kdri_km *km = &b->km;
	int64_t blocks = kdri_km_blocks(km);
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(km)) if (km->threads > 1)
	for (int64_t p = 0; p < blocks; p++)
		for (int64_t i = p * KDRI_BLOCK; i < KDRI_MIN(b->n, (p + 1) * KDRI_BLOCK); i++) {
			double dots[KDRI_LANES], *trial = s->trial + i * KDRI_LANES;
			kdri_km_dots(&b->x, &i, 1, &km->table, 0, KDRI_LANES, dots, KDRI_LANES);
			for (int64_t j = 0; j < lanes; j++) {
				double v = b->apart[i] + km->offset[j] -
				           (km->twice ? km->twice[i] : 2) * dots[j];
				trial[j] = KDRI_MIN(s->nearest[i], KDRI_MAX(v, 0.0));
			}
		}
}

/* The row here that is number `at` of all rows, or -1. */
static int64_t row_at(const kdri_breg *b, int64_t at)
{
	at -= b->km.first[0];
	return at >= 0 && at < b->n ? at : -1;
}

static kdr_status spread_out(kdri_breg *b, kdri_rng *rng, seeding *s)
{
	int64_t tries = KDRI_MIN(KDRI_MIN(2 + (int64_t)log((double)b->k), KDRI_LANES), b->k);
	int64_t rows[KDRI_LANES];
	for (int64_t i = 0; i < b->n; i++)
		s->nearest[i] = INFINITY;
	for (int64_t z = 0; z < b->k; z++) {
		int64_t count = z ? tries : 1, best = 0;
		double sums[KDRI_LANES] = { 0 };
		for (int64_t j = 0; j < count; j++)
			rows[j] = z && s->shares.total > 0 ? kdri_km_shares_draw(&b->km, &s->shares, rng)
			                                   : row_at(b, kdri_rng_below(rng, b->km.all));
		/* Copies samples, as points of the model, to the first centroids of b; rows[j] < 0: the sample is on another rank. */
		double *to = b->domain.whitening ? b->room : b->points;
		memset(to, 0, (size_t)(count * b->d) * sizeof *to);
		for (int64_t j = 0; j < count; j++)
			if (rows[j] >= 0)
				copy_sample(b, rows[j], to + j * b->d);
		KDRI_DO(kdri_sum(b->ctx, to, count * b->d)); /* of one sample and zeros: exact */
		if (b->domain.whitening)
			KDRI_DO(kdri_gemm(b->ctx, false, true, count, b->d, b->d, 1, to, b->d,
			                  b->domain.whitening, b->d, 0, b->points, b->d));
		for (int64_t j = count; j < b->k;
		     j++) /* the others have a position from which nothing is computed */
			memcpy(b->points + j * b->d, b->centre, (size_t)b->d * sizeof *b->points);
		KDRI_DO(kdri_breg_place(b));
		try_seeds(b, s, count);
		/* The sums of the D_i that would result from each seed. */
		KDRI_DO(kdri_rows_sums(b->ctx, b->km.weights, s->trial, b->n, count, KDRI_LANES, b->km.all,
		                       sums));
		for (int64_t j = 1; j < count; j++)
			if (sums[j] < sums[best])
				best = j;
		memcpy(s->seeds + z * b->d, b->points + best * b->d, (size_t)b->d * sizeof *s->seeds);
		for (int64_t i = 0; i < b->n; i++)
			s->nearest[i] = s->trial[i * KDRI_LANES + best];
		KDRI_DO(kdri_km_shares_set(&b->km, s->nearest, &s->shares));
	}
	return KDR_OK;
}

/* Any divergence: seeds, and each sample to the nearest of them. */
static kdr_status bregman_start_seed(kdri_breg *b, kdri_rng *rng)
{
	kdr_status st;
	seeding s = { 0 };
	int64_t size;
	KDRI_TRY(kdri_mul(b->ctx, b->n, KDRI_LANES, &size));
	KDRI_TRY(KDRI_NEW(b->ctx, &s.nearest, b->n));
	KDRI_TRY(KDRI_NEW(b->ctx, &s.trial, size));
	KDRI_TRY(KDRI_NEW(b->ctx, &s.seeds, b->k * b->d));
	KDRI_TRY(kdri_km_shares_new(&b->km, &s.shares));
	KDRI_TRY(spread_out(b, rng, &s));
	memcpy(b->points, s.seeds, (size_t)(b->k * b->d) * sizeof *s.seeds);
	KDRI_TRY(kdri_breg_place(b));
	memset(b->km.before, 0, (size_t)b->n * sizeof *b->km.before);
	b->fresh = true;
	kdri_breg_nearest(b);
done:
	KDRI_FREE(b->ctx, s.nearest, s.trial, s.seeds);
	kdri_km_shares_free(&b->km, &s.shares);
	return st;
}

/* Squared Euclidean distances: the start of k-means, of all tasks in step. */
static kdr_status seed_euclidean(kdri_breg *const *b, kdri_rng *rng, int64_t count)
{
	kdr_status st;
	kdri_km_seed *seeds = NULL;
	KDRI_TRY(KDRI_NEW(b[0]->ctx, &seeds, count));
	for (int64_t t = 0; t < count; t++)
		seeds[t] = (kdri_km_seed){ &b[t]->km, rng[t], b[t]->km.centres };
	KDRI_TRY(kdri_km_plusplus(seeds, count));
	for (int64_t t = 0; t < count; t++) {
		kdri_km *w = seeds[t].w;
		kdri_km_load_centres(w);
		memset(w->before, 0, (size_t)w->n * sizeof *w->before);
		kdri_km_assign(w, true);
	}
done:
	kdri_free(b[0]->ctx, seeds);
	return st;
}

kdr_status kdri_breg_plusplus(kdri_breg *const *b, kdri_rng *rng, int64_t count, int64_t *const *labels)
{
	/* Alone one after the other, which takes less memory. */
	const int64_t step = b[0]->euclidean && kdri_several(b[0]->ctx) ? count : 1;
	for (int64_t t = 0; t < count; t += step)
		if (b[0]->euclidean)
			KDRI_DO(seed_euclidean(b + t, rng + t, step));
		else
			KDRI_DO(bregman_start_seed(b[t], &rng[t]));
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; i < b[t]->n; i++)
			labels[t][i] = b[t]->km.label[i];
	return KDR_OK;
}

kdr_status kdri_breg_place(kdri_breg *b)
{
	const kdri_divergence *v = b->domain.divergence;
	int64_t d = b->d;
	if (b->euclidean) {
		kdri_km_load_centres(&b->km);
		return KDR_OK;
	}
#pragma omp parallel for schedule(static) num_threads(kdri_km_team(&b->km)) if (b->km.threads > 1)
	for (int64_t z = 0; z < b->k; z++) {
		double *g = b->dual + z * d;
		v->gradient(b->points + z * d, d, g);
		for (int64_t f = 0; f < d; f++)
			g[f] -= b->slope[f];
		b->base[z] = v->between_by ? v->between_by(b->centre, b->points + z * d, g, d)
		                           : v->between(b->centre, b->points + z * d, d);
	}
	return kdri_breg_load(b);
}
