/* How many clusters there might be. SPDX-License-Identifier: BSD-3-Clause
 *
 * With l_1 >= l_2 >= ... the eigenvalues of D^-1/2 W D^-1/2,
 *
 *   (E1)  gap(k) = l_k - l_(k+1)                                       [von Luxburg 2007, section 8.3]
 *   (E2)  stability(k) = mean over pairs of RUNS runs of k-means, one start each, on the rows of the first k
 *         eigenvectors, of the adjusted Rand index of the two partitions
 *
 * The guess is the widest gap in 2 .. most. On real data it is right less than half of the time, and no
 * other rule does better (docs/auto.md): so it comes with both curves, with the range of those k whose gap is at least half
 * as wide, and with a word. Fairly sure: no other gap is half as wide, and the partition stable; else not sure. A word in
 * between, for gaps a quarter wider than the next, was right in 10 of 61 runs and is gone. */
#include "algo/auto/guess_k.h"

#include "engine/graph/spectral.h"
#include "engine/kmeans/lloyd.h"

enum { RUNS = 4 };
static const double stable = 0.9, clear = 2;

void kdri_k_curves_free(kdr_context *ctx, kdri_k_curves *c)
{
	kdri_free(ctx, c->gap);
	kdri_free(ctx, c->stability);
	*c = (kdri_k_curves){ 0 };
}

/* Rows of the first k of `width` columns, scaled to unit length. */
static void embed(const double *vectors, int64_t n, int64_t width, int64_t k, double *out)
{
	for (int64_t i = 0; i < n; i++) {
		double length = sqrt(kdri_nrm2sq(vectors + i * width, k));
		for (int64_t j = 0; j < k; j++)
			out[i * k + j] = length > 0 ? vectors[i * width + j] / length : 0;
	}
}

/* (E2) for one k; labels: RUNS x n of scratch. */
static kdr_status stability(kdr_context *ctx, const double *rows, int64_t n, int64_t k, int64_t *labels,
                            double *out)
{
	kdr_status st = KDR_OK;
	kdr_mat x = kdr_mat_from_dense(rows, n, k);
	kdri_kmeans_result r = { 0 };
	double sum = 0;
	for (int64_t run = 0; run < RUNS; run++) {
		kdri_kmeans_options o = kdri_kmeans_defaults(k);
		o.n_init = 1;
		o.stage = NULL;
		o.stream = (uint64_t)(k * RUNS + run);
		KDRI_TRY(kdri_kmeans(ctx, &x, NULL, &o, &r));
		memcpy(labels + run * n, r.labels, (size_t)n * sizeof *labels);
		kdri_kmeans_free(ctx, &r);
		for (int64_t other = 0; other < run; other++) {
			kdr_scores s;
			KDRI_TRY(kdr_evaluate(ctx, labels + run * n, labels + other * n, n, &s));
			sum += s.ari;
		}
	}
	*out = sum / (RUNS * (RUNS - 1) / 2.0);
done:
	kdri_kmeans_free(ctx, &r);
	return st;
}

kdr_status kdri_k_curves_new(kdr_context *ctx, const kdr_mat *graph, int64_t most, kdri_k_curves *out)
{
	kdr_status st = KDR_OK;
	int64_t n = kdr_mat_rows(graph), *labels = NULL, size;
	kdri_k_curves c = { 0 };
	kdri_spectrum s = { 0 };
	double *rows = NULL;
	most = KDRI_MIN(most, n - 1);
	if (most < 2) {
		*out = c;
		return KDR_OK;
	}
	c.count = most - 1;
	KDRI_TRY(KDRI_NEW0(ctx, &c.gap, c.count));
	KDRI_TRY(KDRI_NEW0(ctx, &c.stability, c.count));
	KDRI_TRY(kdri_mul(ctx, n, KDRI_MAX(most, RUNS), &size));
	KDRI_TRY(KDRI_NEW(ctx, &rows, size));
	KDRI_TRY(KDRI_NEW(ctx, &labels, size));
	KDRI_TRY(kdri_spectrum_new(ctx, graph, most + 1, &s));
	for (int64_t k = 2; k <= most; k++) {
		c.gap[k - 2] = s.values[k - 1] - s.values[k]; /* (E1) */
		embed(s.vectors, n, most + 1, k, rows);
		KDRI_TRY(stability(ctx, rows, n, k, labels, &c.stability[k - 2]));
		if (kdri_iteration(ctx, "number of clusters", k - 1, most - 1, NAN))
			break;
	}
	*out = c;
	c = (kdri_k_curves){ 0 };
done:
	kdri_spectrum_free(ctx, &s);
	kdri_free(ctx, rows);
	kdri_free(ctx, labels);
	kdri_k_curves_free(ctx, &c);
	return st;
}

static double mean_gap(const kdri_k_curves *curves, int64_t count, int64_t p)
{
	double gap = 0;
	for (int64_t t = 0; t < count; t++)
		gap += curves[t].gap[p] / (double)count;
	return gap;
}

kdri_k_guess kdri_k_guess_of(const kdri_k_curves *curves, int64_t count)
{
	kdri_k_guess g = { .k = 1, .gap = -1, .second_gap = -1 };
	int64_t length = count ? curves[0].count : 0;
	for (int64_t t = 1; t < count; t++)
		length = KDRI_MIN(length, curves[t].count);
	for (int64_t p = 0; p < length; p++) {
		double gap = mean_gap(curves, count, p), steady = 0;
		for (int64_t t = 0; t < count; t++)
			steady += curves[t].stability[p] / (double)count;
		if (gap > g.gap) {
			g.second = g.gap < 0 ? 0 : g.k;
			g.second_gap = g.gap;
			g.k = p + 2;
			g.gap = gap;
			g.stability = steady;
		} else if (gap > g.second_gap) {
			g.second = p + 2;
			g.second_gap = gap;
		}
	}
	g.low = g.high = g.k;
	for (int64_t p = 0; p < length; p++)
		if (clear * mean_gap(curves, count, p) >= g.gap && g.gap > 0) {
			g.low = KDRI_MIN(g.low, p + 2);
			g.high = KDRI_MAX(g.high, p + 2);
		}
	g.gap = KDRI_MAX(g.gap, 0);
	g.second_gap = KDRI_MAX(g.second_gap, 0);
	if (length > 0) {
		g.sure = g.gap >= clear * g.second_gap && g.stability >= stable;
	}
	return g;
}
