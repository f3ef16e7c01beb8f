/* Related Gaussian tasks. SPDX-License-Identifier: BSD-3-Clause
 *
 * Centre c of task t is
 *
 *   m_tc = R^t (m_c + s_tc),   m_c ~ N(0, (separation spread)^2 I),   s_tc ~ N(0, shift^2 I)   (E1)
 *
 * where R rotates disjoint random pairs of coordinates by `rotation` degrees each: every vector is rotated by that
 * angle (except for one coordinate if their number is odd), at O(d) cost.
 * A sample is x = m_tc + spread z with z ~ N(0, I), and noise columns are spread z too.           (E2)
 *
 * In few dimensions random centres are often close together; each is then the one of several candidates that is
 * farthest from the previous centres. */
#include "jobs/generate/synth.h"

#include <stdio.h>

typedef struct blobs {
	int64_t features; /* without noise */
	double spread;
	double *centres; /* tasks x k x features: (E1) */
} blobs;

static void free_blobs(const kdr_allocator *a, void *state)
{
	KDRI_FREE_WITH(a, ((blobs *)state)->centres, state);
}

/* --- rows -------------------------------------------------------------------------------------- */

/* Standard normal deviates by Marsaglia's polar method, which gives them in pairs. */
static void normals(kdri_rng *rng, double *x, int64_t n)
{
	for (int64_t i = 0; i < n; i += 2) {
		double u, v, s;
		do {
			u = 2 * kdri_rng_uniform(rng) - 1;
			v = 2 * kdri_rng_uniform(rng) - 1;
			s = u * u + v * v;
		} while (s >= 1 || s == 0);
		double f = sqrt(-2 * log(s) / s);
		x[i] = u * f;
		if (i + 1 < n)
			x[i + 1] = v * f;
	}
}

static void blobs_row(const kdr_generator *g, int64_t task, int64_t label, kdri_rng *rng, double *row)
{
	const blobs *b = g->state;
	const double *centre = b->centres + (task * g->k + label) * b->features;
	normals(rng, row, g->features);
	for (int64_t j = 0; j < b->features; j++)
		row[j] = centre[j] + b->spread * row[j]; /* (E2) */
	for (int64_t j = b->features; j < g->features; j++)
		row[j] *= b->spread;
}

static void blobs_name(const kdr_generator *g, int64_t task, int64_t column, char *name, size_t size)
{
	(void)task;
	const blobs *b = g->state;
	if (column < b->features)
		snprintf(name, size, "f%lld", (long long)column + 1);
	else
		snprintf(name, size, "noise%lld", (long long)(column - b->features) + 1);
}

static const kdri_design design = { .stage = "generate.blobs",
	                            .dense_row = blobs_row,
	                            .feature_name = blobs_name,
	                            .free_state = free_blobs };

/* --- centres ----------------------------------------------------------------------------------- */

/* Squared distance from x to the nearest of `count` centres. */
static double blobs_nearest(const double *centres, int64_t count, int64_t d, const double *x)
{
	double best = INFINITY;
	for (int64_t c = 0; c < count; c++) {
		double sum = 0;
		for (int64_t j = 0; j < d; j++)
			sum += (x[j] - centres[c * d + j]) * (x[j] - centres[c * d + j]);
		best = KDRI_MIN(best, sum);
	}
	return best;
}

static void draw_centres(const kdr_generator *g, double scale, double *candidate, double *centres)
{
	enum { FEW_FEATURES = 16, FEW_CENTRES = 1000, CANDIDATES = 8 };
	const blobs *b = g->state;
	kdri_rng rng = kdri_rng_stream(g->seed, "generate.blobs.centres", 0);
	int64_t d = b->features;
	int tries = d <= FEW_FEATURES && g->k <= FEW_CENTRES ? CANDIDATES : 1;
	for (int64_t c = 0; c < g->k; c++) {
		double farthest = -1;
		for (int i = 0; i < tries; i++) {
			normals(&rng, candidate, d);
			for (int64_t j = 0; j < d; j++)
				candidate[j] *= scale;
			double distance = tries > 1 ? blobs_nearest(centres, c, d, candidate) : 0;
			if (distance > farthest) {
				farthest = distance;
				memcpy(centres + c * d, candidate, (size_t)d * sizeof *centres);
			}
		}
	}
}

static void blobs_turn(double *x, const int32_t *order, int64_t d, double degrees)
{
	const double radians = fmod(degrees, 360) * 3.14159265358979323846 / 180;
	double c = cos(radians), s = sin(radians);
	for (int64_t p = 0; p + 1 < d; p += 2) {
		double *u = x + order[p], *v = x + order[p + 1], old = *u;
		*u = c * old - s * *v;
		*v = s * old + c * *v;
	}
}

static kdr_status make_centres(kdr_context *ctx, kdr_generator *g, const kdr_design *spec)
{
	kdr_status st;
	blobs *b = g->state;
	int64_t d = spec->features, count, size;
	double *base = NULL, *move = NULL;
	int32_t *order = NULL;
	KDRI_TRY(kdri_mul(ctx, spec->k, d, &count));
	KDRI_TRY(kdri_mul(ctx, spec->tasks, count, &size));
	KDRI_TRY(KDRI_NEW(ctx, &b->centres, size));
	KDRI_TRY(KDRI_NEW(ctx, &base, count));
	KDRI_TRY(KDRI_NEW(ctx, &move, d));
	KDRI_TRY(KDRI_NEW(ctx, &order, d));
	draw_centres(g, spec->separation * spec->spread, move, base);
	kdri_rng rng = kdri_rng_stream(g->seed, "generate.blobs.planes", 0);
	kdri_shuffle(&rng, order, d);
	for (int64_t t = 0; t < spec->tasks; t++) {
		rng = kdri_rng_stream(g->seed, "generate.blobs.shift", (uint64_t)t);
		for (int64_t c = 0; c < spec->k; c++) {
			double *m = b->centres + (t * spec->k + c) * d;
			normals(&rng, move, d);
			for (int64_t j = 0; j < d; j++)
				m[j] = base[c * d + j] + spec->shift * move[j];
			blobs_turn(m, order, d, spec->rotation * (double)t); /* (E1) */
		}
	}
done:
	KDRI_FREE(ctx, base, move, order);
	return st;
}

/* --- making one -------------------------------------------------------------------------------- */

static kdr_status blobs_check(kdr_context *ctx, const kdr_design *s)
{
	static const char what[] = "blobs";
	const double large = 1e100;
	KDRI_DO(kdri_check_count(ctx, what, "features", s->features, 1, INT32_MAX));
	KDRI_DO(kdri_check_count(ctx, what, "noise features", s->noise_features, 0, INT32_MAX));
	KDRI_DO(kdri_check_real(ctx, what, "separation", s->separation, 0, large));
	KDRI_DO(kdri_check_real(ctx, what, "spread", s->spread, 1 / large, large));
	KDRI_DO(kdri_check_real(ctx, what, "shift", s->shift, 0, large));
	KDRI_DO(kdri_check_real(ctx, what, "rotation", s->rotation, -360, 360));
	KDRI_DO(kdri_check_real(ctx, what, "imbalance", s->imbalance, 0, 1));
	return kdri_check_count(ctx, what, "missing (of k clusters)", s->missing, 0, s->k - 1);
}

kdr_status kdri_generate_blobs(kdr_context *ctx, const kdr_design *spec, kdr_generator **out)
{
	kdr_status st;
	kdr_generator *g = NULL;
	blobs *b = NULL;
	KDRI_TRY(kdri_generator_new(ctx, &design, "blobs", spec->tasks, spec->k, spec->samples, &g));
	KDRI_TRY(blobs_check(ctx, spec));
	KDRI_TRY(KDRI_NEW0(ctx, &b, 1));
	b->features = spec->features;
	b->spread = spec->spread;
	g->state = b;
	g->features = spec->features + spec->noise_features;
	KDRI_TRY(make_centres(ctx, g, spec));
	KDRI_TRY(kdri_classes_new(ctx, g, spec->missing, spec->imbalance, false));
	*out = g;
	g = NULL;
done:
	kdr_generator_free(g);
	return st;
}
