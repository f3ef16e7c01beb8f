/* The spectral step. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  Y = the k leading eigenvectors of D^-1/2 W D^-1/2, as columns (spectrum.c)
 *   (E2)  y_i <- y_i / |y_i|                          [Ng, Jordan & Weiss 2001]
 *   (E3)  clusters of the rows, by k-means or by rotation (discretise.c)
 *   (E4)  NCut = sum over clusters c of (vol(c) - within(c)) / vol(c)
 *
 * Rows of zeros have no direction: vertices without edges and, if there are more components than k, the smallest
 * components. They are excluded from (E3). Each cluster that is still empty gets one of the first of them; the others
 * join the largest cluster. Rows on several ranks are counted in the order of all (comm/comm.h). */
#include "engine/graph/spectral.h"

#include "comm/comm.h"
#include "engine/graph/landmarks.h"
#include "engine/kmeans/lloyd.h"

enum { STARTS = 10 };

kdri_spectral_options kdri_spectral_defaults(int64_t k)
{
	return (kdri_spectral_options){
		.k = k, .rounding = KDRI_ROUNDING_KMEANS, .n_init = STARTS, .max_iter = 300
	};
}

static bool spectral_stopped(const kdr_context *ctx)
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
	KDRI_FREE(ctx, volume, within);
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

/* (E3) on the m rows of this rank of `all` >= 1, into at most min(k, all) clusters; rows_of: the number of rows of each
 * task. */
static kdr_status round_rows(kdr_context *ctx, const kdr_mat *rows, const int64_t *rows_of, int64_t all,
                             const kdri_spectral_options *o, const int64_t *init, int64_t *labels,
                             kdri_spectral_result *r)
{
	kdr_status st;
	kdri_kmeans_result means = { 0 };
	const int64_t m = kdr_mat_rows(rows), tasks = o->rows_of ? o->tasks : 1;
	if (o->rounding == KDRI_ROUNDING_ROTATION) {
		kdri_spectral_options turned = *o;
		turned.init_labels = init;
		turned.rows_of = rows_of;
		turned.tasks = tasks;
		return kdri_discretise(ctx, rows->as.dense.data, m, &turned, labels, &r->iterations,
		                       &r->stop);
	}
	kdri_kmeans_options options = kdri_kmeans_defaults(KDRI_MIN(o->k, all));
	options.n_init = o->n_init;
	options.max_iter = o->max_iter;
	options.stream = o->stream;
	options.init_labels = all >= o->k ? init : NULL;
	options.rows_of = rows_of;
	options.tasks = tasks;
	KDRI_TRY(kdri_kmeans(ctx, rows, NULL, &options, &means));
	memcpy(labels, means.labels, (size_t)m * sizeof *labels);
	r->iterations = means.iterations;
	r->stop = means.stop;
done:
	kdri_kmeans_free(ctx, &means);
	return st;
}

/* Labels for rows without a direction (-1 so far); counts the clusters in use. lost: such rows of each task here, of
 * tasks with rows_of rows each. */
static kdr_status place_unreached(kdr_context *ctx, const int64_t *rows_of, const int64_t *lost,
                                  int64_t tasks, int64_t k, kdri_spectral_result *r)
{
	kdr_status st;
	int64_t *sizes = NULL, *empty = NULL, *start = NULL, empties = 0, largest = 0, all = 0, row = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, k));
	KDRI_TRY(KDRI_NEW(ctx, &empty, k));
	KDRI_TRY(KDRI_NEW(ctx, &start, tasks));
	KDRI_TRY(kdri_parts(ctx, lost, tasks, start, &all));
	for (int64_t t = 0; t < tasks; row += rows_of[t++])
		for (int64_t i = row; i < row + rows_of[t]; i++)
			if (r->labels[i] >= 0)
				sizes[r->labels[i]]++;
	KDRI_TRY(kdri_sum_int(ctx, sizes, k));
	for (int64_t c = 0; c < k; c++) {
		largest = sizes[c] > sizes[largest] ? c : largest;
		if (sizes[c] == 0)
			empty[empties++] = c;
	}
	row = 0;
	for (int64_t t = 0; t < tasks; row += rows_of[t++])
		for (int64_t i = row; i < row + rows_of[t]; i++)
			if (r->labels[i] < 0) {
				r->labels[i] = start[t] < empties ? empty[start[t]] : largest;
				start[t]++;
			}
	r->unreached = all;
	r->nonempty = k - KDRI_MAX(empties - all, 0);
done:
	KDRI_FREE(ctx, sizes, empty, start);
	return st;
}

static kdr_status spectrum_of(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *o,
                              kdri_spectrum *out)
{
	return o->landmarks ? kdri_landmarks_spectrum(ctx, w, o->k, out)
	                    : kdri_spectrum_new(ctx, w, o->k, out);
}

static kdr_status spectral_cluster(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *o,
                                   kdri_spectral_result *r)
{
	kdr_status st;
	kdri_spectrum s = { 0 };
	kdri_own taken = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	const int64_t n = kdr_mat_rows(w), k = o->k, tasks = o->rows_of ? o->tasks : 1;
	const int64_t *rows_of = o->rows_of ? o->rows_of : &n;
	int64_t *rows = NULL, *labels = NULL, *init = NULL, *reached = NULL, *lost = NULL, all = 0;
	KDRI_TRY(spectrum_of(ctx, w, o, &s)); /* (E1) */
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &init, n));
	KDRI_TRY(KDRI_NEW0(ctx, &reached, tasks));
	KDRI_TRY(KDRI_NEW0(ctx, &lost, tasks));
	memcpy(r->values, s.values, (size_t)k * sizeof *r->values);
	memcpy(r->embedding, s.vectors, (size_t)(n * k) * sizeof *r->embedding);
	r->components = s.components;
	r->isolated = s.isolated;
	int64_t m = normalise_rows(r->embedding, n, k, rows);
	for (int64_t t = 0, i = 0, end = 0; t < tasks; t++) {
		int64_t before = i;
		end += rows_of[t];
		while (i < m && rows[i] < end)
			i++;
		reached[t] = i - before;
		lost[t] = rows_of[t] - reached[t];
	}
	for (int64_t i = 0; i < n; i++)
		r->labels[i] = -1;
	KDRI_TRY(kdri_part(ctx, m, NULL, &all));
	if (all > 0) {
		kdr_mat whole = kdr_mat_from_dense(r->embedding, n, k);
		KDRI_TRY(kdri_mat_take(ctx, &whole, rows, m, &taken));
		for (int64_t i = 0; i < m; i++)
			init[i] = o->init_labels ? o->init_labels[rows[i]] : 0;
		KDRI_TRY(round_rows(ctx, &taken.view, reached, all, o, o->init_labels ? init : NULL, labels,
		                    r));
		for (int64_t i = 0; i < m; i++)
			r->labels[rows[i]] = labels[i];
	}
	KDRI_TRY(place_unreached(ctx, rows_of, lost, tasks, k, r));
done:
	kdri_spectrum_free(ctx, &s);
	kdri_own_free(ctx, &taken);
	KDRI_FREE(ctx, rows, labels, init, reached, lost);
	return st;
}

kdr_status kdri_spectral(kdr_context *ctx, const kdr_mat *w, const kdri_spectral_options *options,
                         kdri_spectral_result *result)
{
	kdr_status st;
	kdri_spectral_result r = { .stop = KDR_STOP_CONVERGED };
	int64_t n = kdr_mat_rows(w), k = options->k, all = n, size;
	if (options->landmarks)
		KDRI_TRY(kdri_part(ctx, n, NULL, &all));
	if (k < 1 || k > all)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "cannot form %lld clusters of %lld samples; use 1 to %lld", (long long)k,
		                 (long long)all, (long long)all);
	KDRI_TRY(kdri_mul(ctx, n, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &r.labels, n));
	KDRI_TRY(KDRI_NEW0(ctx, &r.embedding, size));
	KDRI_TRY(KDRI_NEW0(ctx, &r.values, k));
	if (!spectral_stopped(ctx)) {
		st = spectral_cluster(ctx, w, options, &r);
		if (st == KDR_ERR_NUMERIC && spectral_stopped(ctx)) /* between products of the eigensolver */
			st = KDR_OK;
		if (st != KDR_OK)
			goto done;
	}
	if (spectral_stopped(ctx))
		r.stop = kdri_stop_reason(ctx);
	r.nonempty = KDRI_MAX(r.nonempty, 1);
	if (options->landmarks)
		KDRI_TRY(kdri_landmarks_ncut(ctx, w, r.labels, k, &r.ncut));
	else
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
	KDRI_FREE(ctx, result->labels, result->embedding, result->values);
	*result = (kdri_spectral_result){ 0 };
}
