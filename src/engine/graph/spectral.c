/* The spectral step. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  Y = the k leading eigenvectors of D^-1/2 W D^-1/2, as columns (spectrum.c)
 *   (E2)  y_i <- y_i / |y_i|                          [Ng, Jordan & Weiss 2001]
 *   (E3)  clusters of the rows, by k-means or by rotation (discretise.c)
 *   (E4)  NCut = sum over clusters c of (vol(c) - within(c)) / vol(c)
 *
 * Rows of zeros have no direction: vertices without edges and, where there are more components than k,
 * the smallest components. They stay out of (E3). Clusters that had no row at all get the first of them, one
 * each; the others join the largest cluster. */
#include "engine/graph/spectral.h"

#include "engine/kmeans/lloyd.h"

kdri_spectral_options kdri_spectral_defaults(int64_t k)
{
	return (kdri_spectral_options){
		.k = k, .rounding = KDRI_ROUNDING_KMEANS, .n_init = 10, .max_iter = 300
	};
}

static bool stopped(const kdr_context *ctx)
{
	return ctx->cancelled || ctx->timed_out;
}

kdr_status kdri_ncut_value(kdr_context *ctx, const kdr_mat *w, const int64_t *labels, int64_t k, double *out)
{
	kdr_status st;
	double *volume = NULL, *within = NULL, total = 0;
	int64_t n = kdr_mat_rows(w);
	KDRI_TRY(KDRI_NEW0(ctx, &volume, k));
	KDRI_TRY(KDRI_NEW0(ctx, &within, k));
	for (int64_t i = 0; i < n; i++) {
		kdri_entries row = kdri_row_entries(w, i);
		for (int64_t p = 0; p < row.count; p++) {
			volume[labels[i]] += row.val[p];
			if (labels[kdri_entry_column(&row, p)] == labels[i])
				within[labels[i]] += row.val[p];
		}
	}
	for (int64_t c = 0; c < k; c++)
		total += volume[c] > 0 ? (volume[c] - within[c]) / volume[c] : 0; /* (E4) */
	*out = total;
done:
	kdri_free(ctx, volume);
	kdri_free(ctx, within);
	return st;
}

/* (E2); rows[] lists those that are not zero. Returns how many. */
static int64_t normalise_rows(double *y, int64_t n, int64_t k, int64_t *rows)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++) {
		double length = sqrt(kdri_nrm2sq(y + i * k, k));
		for (int64_t j = 0; j < k && length > 0; j++)
			y[i * k + j] /= length;
		if (length > 0)
			rows[count++] = i;
	}
	return count;
}

/* (E3) on m rows, m >= 1, into at most min(k, m) clusters. */
static kdr_status round_rows(kdr_context *ctx, const kdr_mat *rows, const kdri_spectral_options *o,
                             const int64_t *init, int64_t *labels, kdri_spectral_result *r)
{
	kdr_status st;
	kdri_kmeans_result means = { 0 };
	int64_t m = kdr_mat_rows(rows);
	if (o->rounding == KDRI_ROUNDING_ROTATION) {
		kdri_spectral_options turned = *o;
		turned.init_labels = init;
		return kdri_discretise(ctx, rows->as.dense.data, m, &turned, labels, &r->iterations,
		                       &r->stop);
	}
	kdri_kmeans_options options = kdri_kmeans_defaults(KDRI_MIN(o->k, m));
	options.n_init = o->n_init;
	options.max_iter = o->max_iter;
	options.stream = o->stream;
	options.init_labels = m >= o->k ? init : NULL;
	KDRI_TRY(kdri_kmeans(ctx, rows, NULL, &options, &means));
	memcpy(labels, means.labels, (size_t)m * sizeof *labels);
	r->iterations = means.iterations;
	r->stop = means.stop;
done:
	kdri_kmeans_free(ctx, &means);
	return st;
}

/* Labels for rows without a direction (-1 so far); counts the clusters in use. */
static void place_unreached(int64_t n, int64_t k, int64_t *sizes, kdri_spectral_result *r)
{
	int64_t largest = 0, empty = 0;
	for (int64_t i = 0; i < n; i++)
		if (r->labels[i] >= 0)
			sizes[r->labels[i]]++;
	for (int64_t c = 1; c < k; c++)
		if (sizes[c] > sizes[largest])
			largest = c;
	for (int64_t i = 0; i < n; i++) {
		if (r->labels[i] >= 0)
			continue;
		while (empty < k && sizes[empty] > 0)
			empty++;
		r->labels[i] = empty < k ? empty : largest;
		sizes[r->labels[i]]++;
	}
	for (int64_t c = 0; c < k; c++)
		r->nonempty += sizes[c] > 0;
}

static kdr_status cluster(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *o,
                          kdri_spectral_result *r)
{
	kdr_status st;
	kdri_spectrum s = { 0 };
	kdri_own taken = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t n = kdr_mat_rows(w), k = o->k, *rows = NULL, *labels = NULL, *init = NULL, *sizes = NULL;
	KDRI_TRY(kdri_spectrum_new(ctx, w, k, &s)); /* (E1) */
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &init, n));
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, k));
	memcpy(r->values, s.values, (size_t)k * sizeof *r->values);
	memcpy(r->embedding, s.vectors, (size_t)(n * k) * sizeof *r->embedding);
	r->components = s.components;
	r->isolated = s.isolated;
	int64_t m = normalise_rows(r->embedding, n, k, rows);
	r->unreached = n - m;
	for (int64_t i = 0; i < n; i++)
		r->labels[i] = -1;
	if (m > 0) {
		kdr_mat all = kdr_mat_from_dense(r->embedding, n, k);
		KDRI_TRY(kdri_mat_take(ctx, &all, rows, m, &taken));
		for (int64_t i = 0; i < m; i++)
			init[i] = o->init_labels ? o->init_labels[rows[i]] : 0;
		KDRI_TRY(round_rows(ctx, &taken.view, o, o->init_labels ? init : NULL, labels, r));
		for (int64_t i = 0; i < m; i++)
			r->labels[rows[i]] = labels[i];
	}
	place_unreached(n, k, sizes, r);
done:
	kdri_spectrum_free(ctx, &s);
	kdri_own_free(ctx, &taken);
	kdri_free(ctx, rows);
	kdri_free(ctx, labels);
	kdri_free(ctx, init);
	kdri_free(ctx, sizes);
	return st;
}

kdr_status kdri_spectral(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *options,
                         kdri_spectral_result *result)
{
	kdr_status st;
	kdri_spectral_result r = { .stop = KDR_STOP_CONVERGED };
	int64_t n = kdr_mat_rows(w), k = options->k, size;
	if (k < 1 || k > n)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%lld clusters of %lld samples: 1 to %lld are allowed", (long long)k,
		                 (long long)n, (long long)n);
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &r.labels, n));
	KDRI_TRY(KDRI_NEW0(ctx, &r.embedding, size));
	KDRI_TRY(KDRI_NEW0(ctx, &r.values, k));
	if (!stopped(ctx)) {
		st = cluster(ctx, w, options, &r);
		if (st == KDR_ERR_NUMERIC && stopped(ctx)) /* between products of the eigensolver */
			st = KDR_OK;
		if (st != KDR_OK)
			goto done;
	}
	if (stopped(ctx))
		r.stop = kdri_stop_reason(ctx);
	r.nonempty = KDRI_MAX(r.nonempty, 1);
	KDRI_TRY(kdri_ncut_value(ctx, w, r.labels, k, &r.ncut));
	*result = r;
	r = (kdri_spectral_result){ 0 };
done:
	kdri_spectral_free(ctx, &r);
	return st;
}

void kdri_spectral_free(kdr_context *ctx, kdri_spectral_result *result)
{
	if (!result)
		return;
	kdri_free(ctx, result->labels);
	kdri_free(ctx, result->embedding);
	kdri_free(ctx, result->values);
	*result = (kdri_spectral_result){ 0 };
}
