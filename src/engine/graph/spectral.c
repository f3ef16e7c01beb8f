/* The spectral step. SPDX-License-Identifier: BSD-3-Clause
 *
 *   (E1)  Y = the k leading eigenvectors of D^-1/2 W D^-1/2, as columns (spectrum.c)
 *   (E2)  y_i <- y_i / |y_i|                          [Ng, Jordan & Weiss 2001]
 *   (E3)  clusters of the rows, by k-means or by rotation
 *   (E4)  NCut = sum over clusters c of (vol(c) - within(c)) / vol(c)
 *
 * Rows of zeros have no direction: vertices without edges and, if there are more components than k, the smallest
 * components. They are excluded from (E3). Each cluster that is still empty gets one of the first of them; the others
 * join the largest cluster. Rows on several ranks are counted in the order of all (comm/comm.h). */
/* Clusters from eigenvectors by rotation.
 *
 * The rows y_i of unit length are rotated until each lies near an axis [Yu & Shi, Multiclass spectral
 * clustering, ICCV 2003]: with Z the one-hot labels,
 *
 *   (E5)  maximise tr(Z' Y R) over labels Z and rotations R, alternately:
 *   (E6)  z_i = argmax_j (Y R)_ij, the first of equals
 *   (E7)  R = U V' where Y' Z = U diag(s) V', and then tr(Z' Y R) = sum of s.
 *
 * (E6) and (E7) never lower (E5), so the iteration ends. At the start, the columns of R are k rows of Y that are as
 * orthogonal to each other as possible, chosen one after the other, the first at random. The singular values of the k
 * x k matrix Y' Z are computed by one-sided Jacobi rotations, which are accurate for small ones too.
 *
 * Rows may lie on several ranks. Y' Z is a sum over rows of numbers up to 1, exact (comm/exact.h) and therefore the
 * same for any distribution of the rows; the rows that become axes are sent to all ranks. */
#include <float.h>

#include "comm/comm.h"
#include "engine/graph/landmarks.h"
#include "engine/graph/spectrum.h"
#include "engine/kmeans/kmeans.h"

/* Makes the columns of a (k x k) orthogonal by rotations from the right, gathered in v: a v = u diag(s). */
static void jacobi(int64_t k, double *a, double *v)
{
	memset(v, 0, (size_t)(k * k) * sizeof *v);
	for (int64_t j = 0; j < k; j++)
		v[j * k + j] = 1;
	bool turned = true;
	for (int sweep = 0; sweep < 60 && turned; sweep++) {
		turned = false;
		for (int64_t p = 0; p < k; p++)
			for (int64_t q = p + 1; q < k; q++) {
				double aa = 0, bb = 0, ab = 0;
				for (int64_t i = 0; i < k; i++) {
					aa += a[i * k + p] * a[i * k + p];
					bb += a[i * k + q] * a[i * k + q];
					ab += a[i * k + p] * a[i * k + q];
				}
				if (fabs(ab) <= 4 * DBL_EPSILON * sqrt(aa * bb))
					continue;
				turned = true;
				double zeta = (bb - aa) / (2 * ab);
				double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
				double c = 1 / hypot(1, t), s = c * t;
				for (int64_t i = 0; i < 2 * k; i++) {
					double *row = i < k ? a + i * k : v + (i - k) * k;
					double x = row[p], y = row[q];
					row[p] = c * x - s * y;
					row[q] = s * x + c * y;
				}
			}
	}
}

/* Column j of u becomes a unit vector orthogonal to those before it: the axis with the largest remaining part. */
static void complete(int64_t k, double *u, int64_t j, double *try)
{
	double most = -1;
	for (int64_t axis = 0; axis < k; axis++) {
		for (int64_t i = 0; i < k; i++)
			try[i] = i == axis;
		for (int pass = 0; pass < 2; pass++)
			for (int64_t c = 0; c < j; c++) {
				double inner = 0;
				for (int64_t i = 0; i < k; i++)
					inner += u[i * k + c] * try[i];
				for (int64_t i = 0; i < k; i++)
					try[i] -= inner * u[i * k + c];
			}
		double length = sqrt(kdri_nrm2sq(try, k));
		if (length <= most)
			continue;
		most = length;
		for (int64_t i = 0; i < k; i++)
			u[i * k + j] = try[i] / length;
	}
}

static void swap_columns(int64_t k, double *a, int64_t p, int64_t q)
{
	for (int64_t i = 0; i < k && p != q; i++) {
		double t = a[i * k + p];
		a[i * k + p] = a[i * k + q];
		a[i * k + q] = t;
	}
}

typedef struct workspace {
	double *a, *v, *r; /* k x k: Y' Z, then U; V; R */
	double *s, *try;   /* k */
	double *overlap;   /* n: the deviation of a row from being orthogonal to the chosen columns */
	int64_t *labels;   /* n */
	kdri_exact *sums;  /* k x k */
	double *axis;      /* k */
	/* The order of all rows: those here are of `tasks` tasks, rows_of each, of which the first has number start. */
	const int64_t *rows_of;
	int64_t tasks, *start, all;
} workspace;

/* w->r = U V' of w->a = U diag(s) V' (E7). Returns the sum of s. */
static double polar(int64_t k, workspace *w)
{
	double sum = 0;
	int64_t rank = 0;
	jacobi(k, w->a, w->v);
	for (int64_t j = 0; j < k; j++) {
		double square = 0;
		for (int64_t i = 0; i < k; i++)
			square += w->a[i * k + j] * w->a[i * k + j];
		sum += w->s[j] = sqrt(square);
	}
	/* Columns with a direction are first; the others take any remaining one. */
	for (int64_t j = 0; j < k; j++)
		if (w->s[j] > 1e-12 * sum) {
			for (int64_t i = 0; i < k; i++)
				w->a[i * k + j] /= w->s[j];
			swap_columns(k, w->a, rank, j);
			swap_columns(k, w->v, rank, j);
			w->s[j] = w->s[rank];
			rank++;
		}
	for (int64_t j = rank; j < k; j++)
		complete(k, w->a, j, w->try);
	for (int64_t i = 0; i < k; i++)
		for (int64_t j = 0; j < k; j++)
			w->r[i * k + j] = kdri_dot(w->a + i * k, w->v + j * k, k);
	return sum;
}

/* --- the alternation ------------------------------------------------------------------------------- */

/* (E6): the labels under w->r; true if one changed. */
static bool discretise_assign(kdr_context *ctx, const double *y, int64_t n, int64_t k, const double *r,
                              int64_t *labels)
{
	int changed = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) reduction(| : changed) if (n * k * k > 1 << 16)
	for (int64_t i = 0; i < n; i++) {
		int64_t best = 0;
		double most = -INFINITY;
		for (int64_t j = 0; j < k; j++) {
			double inner = 0;
			for (int64_t c = 0; c < k; c++)
				inner += y[i * k + c] * r[c * k + j];
			if (inner > most) {
				most = inner;
				best = j;
			}
		}
		changed |= labels[i] != best;
		labels[i] = best;
	}
	return changed != 0;
}

/* w->a = Y' Z */
static kdr_status discretise_gather(kdr_context *ctx, const double *y, int64_t n, int64_t k, workspace *w)
{
	const double big = kdri_exact_big(1, w->all), small = big * kdri_exact_ratio(w->all);
	memset(w->sums, 0, (size_t)(k * k) * sizeof *w->sums);
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < k; c++)
			kdri_exact_add(&w->sums[c * k + w->labels[i]], big, small, y[i * k + c]);
	KDRI_DO(kdri_sum(ctx, &w->sums->high, 2 * k * k));
	for (int64_t p = 0; p < k * k; p++)
		w->a[p] = w->sums[p].high + w->sums[p].low;
	return KDR_OK;
}

/* The number of local row i among all rows, and the local row with number `number`; -1: none. */
static int64_t number_of(const workspace *w, int64_t i)
{
	int64_t t = 0;
	for (; i >= w->rows_of[t]; t++)
		i -= w->rows_of[t];
	return w->start[t] + i;
}

static int64_t discretise_place_of(const workspace *w, int64_t number)
{
	int64_t row = 0;
	for (int64_t t = 0; t < w->tasks; row += w->rows_of[t++])
		if (number >= w->start[t] && number < w->start[t] + w->rows_of[t])
			return row + number - w->start[t];
	return -1;
}

/* The number of the row with the least overlap, the first of equals. */
static kdr_status least_overlap(kdr_context *ctx, int64_t n, const workspace *w, int64_t *out)
{
	int64_t first = 0;
	for (int64_t i = 1; i < n; i++)
		if (w->overlap[i] < w->overlap[first])
			first = i;
	double most = n > 0 ? -w->overlap[first] : -INFINITY;
	KDRI_DO(kdri_max(ctx, &most, 1));
	*out = INT64_MAX;
	for (int64_t i = 0; i < n; i++)
		if (-w->overlap[i] == most)
			*out = KDRI_MIN(*out, number_of(w, i));
	return kdri_min_int(ctx, out, 1);
}

/* The first rotation: rows of Y, each the one most nearly orthogonal to those before it. */
static kdr_status choose_axes(kdr_context *ctx, const double *y, int64_t n, int64_t k, int64_t first,
                              workspace *w)
{
	memset(w->overlap, 0, (size_t)n * sizeof *w->overlap);
	for (int64_t j = 0; j < k; j++) {
		int64_t here = discretise_place_of(w, first);
		for (int64_t c = 0; c < k; c++)
			w->axis[c] = here >= 0 ? y[here * k + c] : 0;
		KDRI_DO(kdri_sum(ctx, w->axis, k)); /* of one row and zeros */
		for (int64_t c = 0; c < k; c++)
			w->r[c * k + j] = w->axis[c];
		for (int64_t i = 0; i < n; i++)
			w->overlap[i] += fabs(kdri_dot(y + i * k, w->axis, k));
		KDRI_DO(least_overlap(ctx, n, w, &first));
	}
	return KDR_OK;
}

/* One run from w->r; *value: (E5) at its end. */
static kdr_status discretise_run(kdr_context *ctx, const double *y, int64_t n, const kdri_spectral_options *o,
                                 workspace *w, int64_t *iterations, kdr_stop *stop, double *value)
{
	*value = 0;
	*stop = KDR_STOP_MAX_ITER;
	for (*iterations = 0; *iterations < KDRI_MAX(o->max_iter, 1);) {
		bool changed = discretise_assign(ctx, y, n, o->k, w->r, w->labels);
		KDRI_DO(kdri_any(ctx, &changed));
		KDRI_DO(discretise_gather(ctx, y, n, o->k, w));
		*value = polar(o->k, w);
		++*iterations;
		if (!changed) {
			*stop = KDR_STOP_CONVERGED;
			break;
		}
		if (kdri_iteration(ctx, "rotation", *iterations, o->max_iter, (double)w->all - *value)) {
			*stop = kdri_stop_reason(ctx);
			break;
		}
	}
	return KDR_OK;
}

/* Labels from the unit rows of `rows` (n x k) by the best rotation; the rows may lie on several ranks. */
static kdr_status discretise(kdr_context *ctx, const double *rows, int64_t n, const kdri_spectral_options *o,
                             int64_t *labels, int64_t *iterations, kdr_stop *stop)
{
	kdr_status st;
	workspace w = { .rows_of = o->rows_of ? o->rows_of : &n, .tasks = o->rows_of ? o->tasks : 1 };
	int64_t k = o->k, runs = o->init_labels ? 1 : o->n_init;
	double best = -1;
	KDRI_TRY(KDRI_NEW(ctx, &w.a, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &w.v, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &w.r, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &w.s, k));
	KDRI_TRY(KDRI_NEW(ctx, &w.try, k));
	KDRI_TRY(KDRI_NEW(ctx, &w.overlap, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &w.sums, k * k));
	KDRI_TRY(KDRI_NEW(ctx, &w.axis, k));
	KDRI_TRY(KDRI_NEW(ctx, &w.start, w.tasks));
	KDRI_TRY(kdri_parts(ctx, w.rows_of, w.tasks, w.start, &w.all));
	for (int64_t i = 0; i < runs && (i == 0 || *stop == KDR_STOP_CONVERGED || *stop == KDR_STOP_MAX_ITER);
	     i++) {
		int64_t took;
		kdr_stop why;
		double value;
		for (int64_t j = 0; j < n; j++)
			w.labels[j] = o->init_labels ? o->init_labels[j] : -1;
		if (o->init_labels) {
			KDRI_TRY(discretise_gather(ctx, rows, n, k, &w));
			polar(k, &w);
		} else {
			kdri_rng rng =
			        kdri_rng_stream(ctx->seed, "rotation", (o->stream << 20) + (uint64_t)i);
			KDRI_TRY(choose_axes(ctx, rows, n, k, kdri_rng_below(&rng, w.all), &w));
		}
		KDRI_TRY(discretise_run(ctx, rows, n, o, &w, &took, &why, &value));
		if (value > best) {
			best = value;
			memcpy(labels, w.labels, (size_t)n * sizeof *labels);
			*iterations = took;
			*stop = why;
		}
		if (ctx->cancelled || ctx->timed_out)
			*stop = kdri_stop_reason(ctx);
	}
done:
	KDRI_FREE(ctx, w.a, w.v, w.r, w.s, w.try, w.overlap, w.labels, w.sums, w.axis, w.start);
	return st;
}

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
		return discretise(ctx, rows->as.dense.data, m, &turned, labels, &r->iterations, &r->stop);
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
