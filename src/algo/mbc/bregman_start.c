/* Where a Bregman clustering starts. SPDX-License-Identifier: BSD-3-Clause
 *
 * k-means++ as in kmeanspp.c with divergences: each further seed is a sample drawn with probability
 * proportional to D_i, its divergence from the nearest seed so far; of 2 + floor(ln k) drawn (at most 8, a
 * vector of the kernels, so that they cost no more than one), the one is taken that leaves the smallest sum
 * of D_i. By (E1) of bregman_task.h the divergences of all samples from a seed are one product. */
#include "algo/mbc/bregman_task.h"

kdr_status kdri_breg_random(kdri_breg *b, kdri_rng *rng, int64_t *labels)
{
	kdr_status st;
	int64_t *order = NULL;
	KDRI_TRY(KDRI_NEW(b->ctx, &order, b->n));
	for (int64_t i = 0; i < b->n; i++) {
		order[i] = i;
		labels[i] = kdri_rng_below(rng, b->k);
	}
	/* k different samples, one for each cluster. */
	for (int64_t z = 0; z < b->k; z++) {
		int64_t j = z + kdri_rng_below(rng, b->n - z), at = order[j];
		order[j] = order[z];
		labels[at] = z;
	}
done:
	kdri_free(b->ctx, order);
	return st;
}

typedef struct seeding {
	double *nearest; /* D_i */
	double *trial;   /* n x lanes: what D_i would become */
	double *blocks;  /* blocks x lanes: sums of it */
} seeding;

/* Sample i as a point of the model, into centroid z of b. */
static kdr_status put_sample(kdri_breg *b, int64_t i, int64_t z)
{
	double *c = b->points + z * b->d, *to = b->domain.whitening ? b->scratch : c;
	double s = b->km.scale ? b->km.scale[i] : 1;
	for (int64_t f = 0; f < b->d; f++)
		to[f] = b->add;
	if (b->x.kind == KDR_MAT_DENSE)
		for (int64_t f = 0; f < b->d; f++)
			to[f] += s * b->x.as.dense.data[i * b->x.as.dense.stride + f];
	else
		for (int64_t p = b->x.as.csr.rowptr[i]; p < b->x.as.csr.rowptr[i + 1]; p++)
			to[b->x.as.csr.col[p]] += s * b->x.as.csr.val[p];
	if (!b->domain.whitening)
		return KDR_OK;
	return kdri_gemm(b->ctx, false, true, 1, b->d, b->d, 1, to, b->d, b->domain.whitening, b->d, 0, c,
	                 b->d);
}

/* Divergences of all samples from the centroids of tile 0; trial = the smaller of them and D_i. */
static void try_seeds(kdri_breg *b, seeding *s, int64_t lanes)
{
	kdri_km *km = &b->km;
	int64_t blocks = kdri_km_blocks(km);
#pragma omp parallel for schedule(static) num_threads(km->threads) if (km->threads > 1)
	for (int64_t p = 0; p < blocks; p++) {
		double *sum = s->blocks + p * KDRI_LANES;
		memset(sum, 0, KDRI_LANES * sizeof *sum);
		for (int64_t i = p * KDRI_BLOCK; i < KDRI_MIN(b->n, (p + 1) * KDRI_BLOCK); i++) {
			double dots[KDRI_LANES], *trial = s->trial + i * KDRI_LANES;
			kdri_km_dots(&b->x, &i, 1, &km->table, 0, KDRI_LANES, dots, KDRI_LANES);
			for (int64_t j = 0; j < lanes; j++) {
				double v = b->apart[i] + km->offset[j] -
				           (km->twice ? km->twice[i] : 2) * dots[j];
				trial[j] = KDRI_MIN(s->nearest[i], KDRI_MAX(v, 0.0));
				sum[j] += trial[j];
			}
		}
	}
}

/* A sample drawn with probability proportional to D_i; `total` is their sum. */
static int64_t draw(const kdri_breg *b, const seeding *s, double total, kdri_rng *rng)
{
	double left = kdri_rng_uniform(rng) * total;
	int64_t last = 0;
	for (int64_t i = 0; i < b->n; i++) {
		if (s->nearest[i] <= 0)
			continue;
		last = i;
		left -= s->nearest[i];
		if (left < 0)
			break;
	}
	return last;
}

static kdr_status spread_out(kdri_breg *b, kdri_rng *rng, seeding *s, int64_t *seed)
{
	kdr_status st = KDR_OK;
	int64_t tries = KDRI_MIN(KDRI_MIN(2 + (int64_t)log((double)b->k), KDRI_LANES), b->k);
	int64_t blocks = kdri_km_blocks(&b->km), rows[KDRI_LANES];
	double total = 0;
	for (int64_t i = 0; i < b->n; i++)
		s->nearest[i] = INFINITY;
	for (int64_t z = 0; z < b->k; z++) {
		int64_t count = z ? tries : 1, best = 0;
		for (int64_t j = 0; j < count; j++) {
			rows[j] = z && total > 0 ? draw(b, s, total, rng) : kdri_rng_below(rng, b->n);
			KDRI_TRY(put_sample(b, rows[j], j));
		}
		for (int64_t j = count; j < b->k;
		     j++) /* the rest stand where nothing is computed from them */
			memcpy(b->points + j * b->d, b->centre, (size_t)b->d * sizeof *b->points);
		KDRI_TRY(kdri_breg_place(b));
		try_seeds(b, s, count);
		double sums[KDRI_LANES] = { 0 };
		for (int64_t p = 0; p < blocks; p++)
			for (int64_t j = 0; j < count; j++)
				sums[j] += s->blocks[p * KDRI_LANES + j];
		for (int64_t j = 1; j < count; j++)
			if (sums[j] < sums[best])
				best = j;
		seed[z] = rows[best];
		total = sums[best];
		for (int64_t i = 0; i < b->n; i++)
			s->nearest[i] = s->trial[i * KDRI_LANES + best];
	}
done:
	return st;
}

kdr_status kdri_breg_plusplus(kdri_breg *b, kdri_rng *rng, int64_t *labels)
{
	kdr_status st;
	seeding s = { 0 };
	int64_t *seed = NULL, size;
	if (b->euclidean) {
		KDRI_TRY(kdri_km_plusplus(&b->km, rng));
		kdri_km_load_centres(&b->km);
		memset(b->km.before, 0, (size_t)b->n * sizeof *b->km.before);
		kdri_km_assign(&b->km, true);
	} else {
		KDRI_TRY(kdri_mul(b->ctx, b->n, KDRI_LANES, &size));
		KDRI_TRY(KDRI_NEW(b->ctx, &s.nearest, b->n));
		KDRI_TRY(KDRI_NEW(b->ctx, &s.trial, size));
		KDRI_TRY(KDRI_NEW(b->ctx, &s.blocks, kdri_km_blocks(&b->km) * KDRI_LANES));
		KDRI_TRY(KDRI_NEW(b->ctx, &seed, b->k));
		KDRI_TRY(spread_out(b, rng, &s, seed));
		for (int64_t z = 0; z < b->k; z++)
			KDRI_TRY(put_sample(b, seed[z], z));
		KDRI_TRY(kdri_breg_place(b));
		memset(b->km.before, 0, (size_t)b->n * sizeof *b->km.before);
		b->fresh = true;
		kdri_breg_nearest(b);
	}
	for (int64_t i = 0; i < b->n; i++)
		labels[i] = b->km.label[i];
done:
	kdri_free(b->ctx, s.nearest);
	kdri_free(b->ctx, s.trial);
	kdri_free(b->ctx, s.blocks);
	kdri_free(b->ctx, seed);
	return st;
}
