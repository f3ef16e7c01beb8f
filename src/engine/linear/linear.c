/* Linear classifiers by Newton's method. SPDX-License-Identifier: BSD-3-Clause
 *
 * With z_i = <w, u_i>, l the loss and y z its argument,
 *
 *   (E1)  f(w) = |w|^2 / 2 + sum_i c_i l(y_i z_i)
 *   (E2)  g = w + U' a,          a_i = c_i y_i l'(y_i z_i)
 *   (E3)  H = I + U' diag(h) U,  h_i = c_i l''(y_i z_i)
 *
 *   (E4)  f(w) - min f <= |g|^2 / 2, as H >= I
 *
 * With a free bias the last weight is excluded from |w|^2, and its row of I is zero; (E4) then does not hold.
 *
 * f is strictly convex. A step s solves H s = -g to a tenth of |g| (direction.c) and is halved until f falls by 0.01
 * of the decrease that g predicts; with U s stored, a trial costs O(n). Near the minimum full steps are taken, and
 * each leaves about a tenth of the gradient [Lin, Weng & Keerthi, JMLR 9:627-650, 2008; Keerthi & DeCoste, JMLR
 * 6:341-361, 2005, for the squared hinge, whose l'' jumps].
 *
 * All outputs are updated together, each with its own scalars, so that a product U P reads the data once for all
 * of them. An output that has converged is no longer updated.
 *
 * Rows may be held by several ranks (comm/comm.h): sums over rows, U'a and the losses, are then those of all of them, and
 * everything else is the same on each. The last bits of these sums depend on the distribution of the rows.
 *
 * These are the problems of LIBLINEAR, with which the tests compare results. Its library cannot be used: it has no cost
 * per sample (tsvm needs it), copies the data into 16 bytes per entry, ends the process if memory is short, prints
 * through a global pointer and cannot be stopped.
 *
 * U     x with a constant feature     w      outputs in columns       c_i y_i    cost
 * z     z (n x m)                     g, H   g, by products           s, U s     s, zs */
#include "engine/linear/linear.h"

#include <float.h>

#include "api/method.h"
#include "comm/comm.h"
#include "engine/linear/direction.h"
#include "matrix/vectors.h"

static const double armijo = 0.01;

typedef struct newton {
	const kdr_mat *x;
	const double *cost;
	const kdri_linear_options *o;
	int64_t n, d, m;        /* d with the constant feature */
	int64_t held;           /* weights that are penalised: d, or d - 1 where the bias is free */
	double *z, *zs, *a, *h; /* n x m */
	double *g, *s;          /* d x m */
	kdri_direction direction;
	double *partial;                                                  /* KDRI_CHUNKS x m */
	double *f, *g0, *gg, *trial, *ones, *step, *slope, *ww, *ws, *ss; /* m */
	bool *active, *busy;                                              /* m */
} newton;

static void newton_free(kdr_context *ctx, newton *t)
{
	double *all[] = { t->z, t->zs, t->a, t->h, t->g, t->s, t->partial, t->f };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		kdri_free(ctx, all[i]);
	kdri_free(ctx, t->active);
	kdri_direction_close(ctx, &t->direction);
}

static kdr_status newton_new(kdr_context *ctx, newton *t)
{
	kdr_status st;
	int64_t nm, dm;
	double **tall[] = { &t->z, &t->zs, &t->a, &t->h };
	double **scalars[] = { &t->f,    &t->g0,    &t->gg, &t->trial, &t->ones,
		               &t->step, &t->slope, &t->ww, &t->ws,    &t->ss };
	enum { SCALARS = sizeof scalars / sizeof scalars[0] };
	KDRI_TRY(kdri_mul(ctx, t->n, t->m, &nm));
	KDRI_TRY(kdri_mul(ctx, t->d, t->m, &dm));
	for (int i = 0; i < 4; i++)
		KDRI_TRY(KDRI_NEW(ctx, tall[i], nm));
	KDRI_TRY(KDRI_NEW(ctx, &t->g, dm));
	KDRI_TRY(KDRI_NEW(ctx, &t->s, dm));
	KDRI_TRY(KDRI_NEW(ctx, &t->partial, KDRI_CHUNKS * t->m));
	KDRI_TRY(KDRI_NEW0(ctx, &t->f, SCALARS * t->m));
	for (int i = 1; i < SCALARS; i++)
		*scalars[i] = t->f + i * t->m;
	for (int64_t j = 0; j < t->m; j++)
		t->ones[j] = 1;
	KDRI_TRY(KDRI_NEW0(ctx, &t->active, 2 * t->m));
	t->busy = t->active + t->m;
	KDRI_TRY(kdri_direction_open(ctx, t->x, t->o->bias, t->held, t->m, &t->direction));
done:
	return st;
}

/* --- columns ------------------------------------------------------------------------------------ */

static void dots(kdr_context *ctx, const newton *t, int64_t rows, const double *a, const double *b,
                 double *out)
{
	kdri_vectors_dot(ctx, rows, t->m, a, b, t->partial, out);
}

static void linear_combine(kdr_context *ctx, const newton *t, int64_t rows, const double *scale,
                           const double *alpha, const double *x, double *y)
{
	kdri_vectors_combine(ctx, rows, t->m, scale, alpha, x, y);
}

/* z = U w */
static kdr_status linear_forward(kdr_context *ctx, const newton *t, const double *w, double *z)
{
	return kdri_linear_scores(ctx, t->x, t->m, t->o->bias, w, z);
}

/* y = U' a; the row of the bias is bias times the sum of a. */
static kdr_status linear_backward(kdr_context *ctx, const newton *t, const double *a, double *y)
{
	kdr_status st = kdri_mat_tmul(ctx, t->x, a, t->m, t->m, y, t->m);
	double *last = y + (t->d - 1) * t->m;
	dots(ctx, t, t->n, a, NULL, last);
	for (int64_t j = 0; j < t->m; j++)
		last[j] *= t->o->bias;
	return st == KDR_OK ? kdri_sum(ctx, y, t->d * t->m) : st;
}

/* --- the loss ------------------------------------------------------------------------------------ */

static inline double linear_loss(kdri_loss kind, double z)
{
	if (kind == KDRI_LOSS_SQUARED_HINGE)
		return z < 1 ? (1 - z) * (1 - z) : 0;
	return z > 0 ? log1p(exp(-z)) : log1p(exp(z)) - z;
}

/* The losses at z + step_j zs, summed by output, times their costs; (E1) less the length of w. */
static kdr_status sum_losses(kdr_context *ctx, const newton *t, double *out)
{
	int64_t chunks = kdri_chunks(t->n), m = t->m;
#pragma omp parallel for num_threads(ctx->threads) if (t->n * m > 1 << 12)
	for (int64_t c = 0; c < chunks; c++) {
		double *sum = t->partial + c * m;
		memset(sum, 0, (size_t)m * sizeof *sum);
		for (int64_t i = kdri_chunk_begin(t->n, chunks, c); i < kdri_chunk_begin(t->n, chunks, c + 1);
		     i++)
			for (int64_t j = 0; j < m; j++) {
				int64_t at = i * m + j;
				double q = t->cost[at], y = q < 0 ? -1 : 1;
				if (q != 0)
					sum[j] += fabs(q) *
					          linear_loss(t->o->loss,
					                      y * (t->z[at] + t->step[j] * t->zs[at]));
			}
	}
	kdri_vectors_add(chunks, m, t->partial, out);
	return kdri_sum(ctx, out, m);
}

/* a and h of (E2), (E3) at z. */
static void derivatives(kdr_context *ctx, const newton *t)
{
	bool hinge = t->o->loss == KDRI_LOSS_SQUARED_HINGE;
#pragma omp parallel for num_threads(ctx->threads) if (t->n * t->m > 1 << 12)
	for (int64_t at = 0; at < t->n * t->m; at++) {
		double q = t->cost[at], c = fabs(q), z = q < 0 ? -t->z[at] : t->z[at];
		if (hinge) {
			t->a[at] = z < 1 ? -2 * q * (1 - z) : 0;
			t->h[at] = z < 1 ? 2 * c : 0;
		} else {
			double p = z > 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z)); /* 1 / (1 + e^z) */
			t->a[at] = -q * p;
			t->h[at] = c * p * (1 - p);
		}
	}
}

/* f, g and |g|^2 at w, whose products are in z. */
static kdr_status linear_evaluate(kdr_context *ctx, newton *t, const double *w)
{
	kdr_status st;
	memset(t->step, 0, (size_t)t->m * sizeof *t->step);
	KDRI_TRY(sum_losses(ctx, t, t->f));
	dots(ctx, t, t->held, w, w, t->ww);
	for (int64_t j = 0; j < t->m; j++)
		t->f[j] += t->ww[j] / 2; /* (E1) */
	derivatives(ctx, t);
	KDRI_TRY(linear_backward(ctx, t, t->a, t->g));
	linear_combine(ctx, t, t->held, NULL, t->ones, w, t->g); /* (E2) */
	dots(ctx, t, t->d, t->g, t->g, t->gg);
done:
	return st;
}

/* --- one step --------------------------------------------------------------------------------------- */

/* step_j: the first of 1, 1/2, 1/4, .. that lowers f enough; 0 where none does, and at rest. */
static kdr_status search_line(kdr_context *ctx, newton *t, const double *w)
{
	kdr_status st = KDR_OK;
	int64_t m = t->m;
	dots(ctx, t, t->d, t->g, t->s, t->slope);
	dots(ctx, t, t->held, w, t->s, t->ws);
	dots(ctx, t, t->held, t->s, t->s, t->ss);
	for (int64_t j = 0; j < m; j++) {
		t->busy[j] = t->active[j];
		t->step[j] = t->active[j];
	}
	for (int halvings = 0; halvings < 40; halvings++) {
		bool any = false;
		KDRI_TRY(sum_losses(ctx, t, t->trial));
		for (int64_t j = 0; j < m; j++) {
			double s = t->step[j];
			double f = t->trial[j] + (t->ww[j] + 2 * s * t->ws[j] + s * s * t->ss[j]) / 2;
			/* The last term: close to the minimum f falls by less than it can hold. */
			if (t->busy[j] && f > t->f[j] + armijo * s * t->slope[j] + 4 * DBL_EPSILON * t->f[j])
				t->step[j] = s / 2;
			else
				t->busy[j] = false;
			any = any || t->busy[j];
		}
		if (!any)
			return KDR_OK;
	}
	for (int64_t j = 0; j < m; j++)
		t->step[j] = t->busy[j] ? 0 : t->step[j];
done:
	return st;
}

/* --- the method -------------------------------------------------------------------------------------- */

/* |g|^2 at w = 0: what tol refers to, whatever the start. */
static kdr_status measure_start(kdr_context *ctx, newton *t)
{
	memset(t->z, 0, (size_t)(t->n * t->m) * sizeof *t->z);
	derivatives(ctx, t);
	kdr_status st = linear_backward(ctx, t, t->a, t->g);
	dots(ctx, t, t->d, t->g, t->g, t->g0);
	return st;
}

/* (E4) matters if the classes are separable: f then decreases by orders of magnitude more than g. Which outputs have
 * still to move; false if none. */
static bool still_active(newton *t)
{
	bool any = false;
	for (int64_t j = 0; j < t->m; j++) {
		double tol = t->o->tol;
		bool steep = t->gg[j] > tol * tol * t->g0[j],
		     far = !t->o->free_bias && t->gg[j] > 2 * tol * t->f[j]; /* (E4) */
		t->active[j] = (steep || far) && t->gg[j] > DBL_MIN;
		any = any || t->active[j];
	}
	return any;
}

static double total(const newton *t)
{
	double sum = 0;
	for (int64_t j = 0; j < t->m; j++)
		sum += t->f[j];
	return sum;
}

static kdr_status linear_minimise(kdr_context *ctx, newton *t, double *w, kdri_linear_report *report)
{
	kdr_status st;
	KDRI_TRY(measure_start(ctx, t));
	KDRI_TRY(linear_forward(ctx, t, w, t->z));
	memset(t->zs, 0, (size_t)(t->n * t->m) * sizeof *t->zs);
	KDRI_TRY(linear_evaluate(ctx, t, w));
	report->start = report->value = total(t);
	report->stop = KDR_STOP_CONVERGED;
	while (still_active(t)) {
		bool moved = false;
		if (report->iterations >= t->o->max_iter) {
			report->stop = KDR_STOP_MAX_ITER;
			break;
		}
		KDRI_TRY(kdri_direction_find(ctx, &t->direction, t->h, t->g, t->gg, t->active, t->s));
		KDRI_TRY(linear_forward(ctx, t, t->s, t->zs));
		KDRI_TRY(search_line(ctx, t, w));
		for (int64_t j = 0; j < t->m; j++)
			moved = moved || t->step[j] > 0;
		if (!moved) { /* as low as rounding allows */
			report->stop = KDR_STOP_STALLED;
			break;
		}
		linear_combine(ctx, t, t->d, NULL, t->step, t->s, w);
		linear_combine(ctx, t, t->n, NULL, t->step, t->zs, t->z);
		KDRI_TRY(linear_evaluate(ctx, t, w));
		report->iterations++;
		report->value = total(t);
		if (t->o->trace)
			KDRI_TRY(kdri_result_objective(ctx, t->o->trace, report->value));
		if (kdri_iteration(ctx, t->o->stage, report->iterations, t->o->max_iter, report->value)) {
			report->stop = kdri_stop_reason(ctx);
			break;
		}
	}
done:
	return st;
}

/* Rows before the first and after the last that costs anything teach nothing: a target below its sources is half of all. */
static kdr_mat taught_rows(const kdr_mat *x, int64_t outputs, const double *cost, int64_t *begin)
{
	int64_t first = 0, end = kdr_mat_rows(x) * outputs;
	while (end > 0 && cost[end - 1] == 0)
		end--;
	while (first < end && cost[first] == 0)
		first++;
	*begin = first < end ? first / outputs : 0;
	return first < end ? kdri_rows(x, *begin, (end - 1) / outputs + 1) : *x;
}

kdr_status kdri_linear_train(kdr_context *ctx, const kdr_mat *all, int64_t outputs, const double *cost,
                             const kdri_linear_options *options, double *w, kdri_linear_report *report)
{
	kdr_status st;
	*report = (kdri_linear_report){ 0 };
	int64_t begin;
	const kdr_mat x = taught_rows(all, outputs, cost, &begin);
	newton t = { .x = &x,
		     .cost = cost + begin * outputs,
		     .o = options,
		     .n = kdr_mat_rows(&x),
		     .d = kdr_mat_cols(&x) + 1,
		     .held = kdr_mat_cols(&x) + !options->free_bias,
		     .m = outputs };
	KDRI_TRY(newton_new(ctx, &t));
	KDRI_TRY(linear_minimise(ctx, &t, w, report));
done:
	newton_free(ctx, &t);
	return st;
}

kdr_status kdri_linear_scores(kdr_context *ctx, const kdr_mat *x, int64_t outputs, double bias,
                              const double *w, double *scores)
{
	int64_t n = kdr_mat_rows(x);
	const double *last = w + kdr_mat_cols(x) * outputs;
	kdr_status st = kdri_mat_mul(ctx, x, w, outputs, outputs, scores, outputs);
	for (int64_t i = 0; st == KDR_OK && i < n; i++)
		for (int64_t j = 0; j < outputs; j++)
			scores[i * outputs + j] += bias * last[j];
	return st;
}

void kdri_linear_spread(int64_t n, int64_t classes, const double *outputs, double *scores)
{
	int64_t m = kdri_linear_outputs(classes);
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < classes; c++)
			scores[i * classes + c] = m > 1    ? outputs[i * m + c]
			                          : c == 1 ? outputs[i]
			                                   : -outputs[i];
}

/* With the squared hinge, rows beyond the margin drop out of the Hessian: the others are copied if they are fewer than 3/4. */
double kdri_linear_bytes(const kdri_extent *x, double rows, double outputs, kdri_loss loss)
{
	const double few = loss == KDRI_LOSS_SQUARED_HINGE ? KDRI_MIN(rows / x->n, 0.75) : 0;
	return 8 * outputs * (7 * x->n + 6 * x->d) + 8 * x->n + few * kdri_extent_bytes(x);
}
