/* Clusters from eigenvectors by rotation. SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows y_i of unit length are rotated until each lies near an axis [Yu & Shi, Multiclass spectral
 * clustering, ICCV 2003]: with Z the one-hot labels,
 *
 *   (E1)  maximise tr(Z' Y R) over labels Z and rotations R, alternately:
 *   (E2)  z_i = argmax_j (Y R)_ij, the first of equals
 *   (E3)  R = U V' where Y' Z = U diag(s) V', and then tr(Z' Y R) = sum of s.
 *
 * (E2) and (E3) never lower (E1), so the iteration ends. At the start, the columns of R are k rows of Y that are as
 * orthogonal to each other as possible, chosen one after the other, the first at random. The singular values of the k
 * x k matrix Y' Z are computed by one-sided Jacobi rotations, which are accurate for small ones too.
 *
 * Rows may lie on several ranks. Y' Z is a sum over rows of numbers up to 1, exact (comm/exact.h) and therefore the
 * same for any distribution of the rows; the rows that become axes are sent to all ranks. */
#include <float.h>

#include "comm/rows.h"
#include "engine/graph/spectral.h"

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

/* w->r = U V' of w->a = U diag(s) V' (E3). Returns the sum of s. */
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

/* (E2): the labels under w->r; true if one changed. */
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

/* One run from w->r; *value: (E1) at its end. */
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

kdr_status kdri_discretise(kdr_context *ctx, const double *rows, int64_t n, const kdri_spectral_options *o,
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
