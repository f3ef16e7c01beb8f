/* Logistic regression of several classes jointly, by Newton's method. SPDX-License-Identifier: BSD-3-Clause
 *
 * Y has a one in each row's class, C = diag(c), Z = U W, and a row of P is softmax of the row of Z:
 *
 *   (E1)  f(W) = |W|^2 / 2 + sum_i c_i (log sum_k exp z_ik - z_iy)
 *   (E2)  G = W + U' C (P - Y)
 *   (E3)  H[S] = S + U' C (P o V - P o (row sums of P o V)),   V = U S
 *   (E4)  f(W) - min f <= |G|^2 / 2, as H >= I
 *
 * With a free bias its row is excluded from |W|^2 and of the S of (E3): H is then singular along equal changes of all
 * biases, along which f does not change and G is zero, so that conjugate gradients never move in this direction; (E4)
 * does not hold.
 *
 * A step solves H[S] = -G to a tenth of |G| by conjugate gradients and is halved until f falls by 0.01 of the
 * decrease that G predicts, as in linear.c; the pass that computes U S also evaluates f and G for a full step. One against the rest (linear.c) decouples the classes; here the classes
 * of a row compete, which separates similar classes.
 *
 * U   x with a constant feature     W  w     Z   z (n x k)     P   p (n x k)     G, S   g, s (d x k) */
#include "engine/linear/linear.h"

#include "comm/comm.h"

#include <float.h>

#include "matrix/linalg.h"
#include "matrix/range.h"

static const double armijo = 0.01, share = 0.1;

typedef struct newton {
	const kdr_mat *x;
	const kdri_linear_options *o;
	int64_t n, d, k;     /* d with the constant feature */
	int64_t held;        /* entries of w that are penalised */
	int64_t *labels;     /* n */
	bool *present;       /* k: whether the class has rows; W stays 0 where not, and P is 0 */
	double *cost;        /* n */
	double *z, *zv, *p;  /* n x k; zv: z at the end of a full step, then U s if the step is halved */
	const double *start; /* n x k: what the products of a pass are added to; NULL: zeros */
	double *g, *next, *s, *r, *conj, *hess; /* d x k; next: g at the end of a full step */
	double *partial;                        /* KDRI_PASS_CHUNKS */
	kdri_pass pass;
} newton;

/* --- vectors -------------------------------------------------------------------------------------- */

static double dot(kdr_context *ctx, const newton *t, int64_t count, const double *a, const double *b)
{
	double sum;
	kdri_vectors_dot(ctx, count, 1, a, b, t->partial, &sum);
	return sum;
}

/* y = scale y + alpha x */
static void softmax_combine(kdr_context *ctx, int64_t count, double scale, double alpha, const double *x,
                            double *y)
{
	kdri_vectors_combine(ctx, count, 1, &scale, &alpha, x, y);
}

/* --- the loss --------------------------------------------------------------------------------------- */

/* (E1) less the length of w, at z + step zv. */
static kdr_status sum_losses(kdr_context *ctx, const newton *t, double step, double *out)
{
	int64_t chunks = kdri_chunks(t->n), k = t->k;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (t->n * k > 1 << 12)
	for (int64_t c = 0; c < chunks; c++) {
		double sum = 0;
		for (int64_t i = kdri_chunk_begin(t->n, chunks, c); i < kdri_chunk_begin(t->n, chunks, c + 1);
		     i++) {
			const double *z = t->z + i * k, *v = t->zv + i * k;
			double most = -INFINITY, mass = 0;
			for (int64_t j = 0; j < k; j++)
				if (t->present[j])
					most = KDRI_MAX(most, z[j] + step * v[j]);
			for (int64_t j = 0; j < k; j++)
				mass += t->present[j] ? exp(z[j] + step * v[j] - most) : 0;
			sum += t->cost[i] * (log(mass) + most - z[t->labels[i]] - step * v[t->labels[i]]);
		}
		t->partial[c] = sum;
	}
	kdri_vectors_add(chunks, 1, t->partial, out);
	return kdri_sum(ctx, out, 1);
}

/* Rows of U p become those of C (P - Y) at start + U p, which zv is set to; also p. */
static void evaluate_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *a)
{
	const newton *t = user;
	const int64_t k = t->k;
	for (int64_t i = begin; i < end; i++, a += k) {
		for (int64_t j = 0; j < k; j++)
			t->zv[i * k + j] = a[j] += t->start ? t->start[i * k + j] : 0;
		t->partial[chunk] +=
		        t->cost[i] * kdri_losses_softmax(k, t->present, t->labels[i], a, t->p + i * k);
		for (int64_t j = 0; j < k; j++)
			a[j] = t->cost[i] * (t->p[i * k + j] - (j == t->labels[i]));
	}
}

/* At z = start + U p (p NULL: zeros): zv = z, p, the losses and U' C (P - Y) in `next`. */
static kdr_status softmax_evaluate(kdr_context *ctx, newton *t, const double *start, const double *p,
                                   double *losses)
{
	t->start = start;
	memset(t->partial, 0, KDRI_PASS_CHUNKS * sizeof *t->partial);
	KDRI_DO(kdri_pass_run(ctx, &t->pass, t->x, NULL, t->n, t->k, p, evaluate_rows, t, t->next));
	kdri_vectors_add(kdri_pass_chunks(t->n), 1, t->partial, losses);
	KDRI_DO(kdri_sum(ctx, losses, 1));
	return kdri_sum(ctx, t->next, t->d * t->k);
}

/* Makes zv, the losses and `next` those of w: z, f, g and |g|^2. */
static void softmax_arrive(kdr_context *ctx, newton *t, const double *w, double losses, double *f, double *gg)
{
	double *z = t->z, *g = t->g;
	t->z = t->zv;
	t->zv = z;
	t->g = t->next;
	t->next = g;
	*f = losses + dot(ctx, t, t->held, w, w) / 2; /* (E1) */
	softmax_combine(ctx, t->held, 1, 1, w, t->g); /* (E2) */
	*gg = dot(ctx, t, t->d * t->k, t->g, t->g);
}

/* --- one step ------------------------------------------------------------------------------------------ */

/* Rows V of U conj become those of C (P o V - P o (row sums of P o V)). */
static void weigh_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *v)
{
	const newton *t = user;
	const int64_t k = t->k;
	(void)chunk;
	for (int64_t i = begin; i < end; i++, v += k) {
		const double *p = t->p + i * k;
		double mean = 0;
		for (int64_t j = 0; j < k; j++)
			mean += p[j] * v[j];
		for (int64_t j = 0; j < k; j++)
			v[j] = t->cost[i] * p[j] * (v[j] - mean);
	}
}

/* s: H[s] = -g to a tenth of |g|. */
static kdr_status find_step(kdr_context *ctx, newton *t, double gg)
{
	int64_t size = t->d * t->k, most = KDRI_MAX(2 * size, 50);
	double rr = gg;
	memset(t->s, 0, (size_t)size * sizeof *t->s);
	for (int64_t q = 0; q < size; q++)
		t->r[q] = t->conj[q] = -t->g[q];
	for (int64_t i = 0; i < most && rr > share * share * gg; i++) {
		/* hess = H[conj] */
		KDRI_DO(kdri_pass_run(ctx, &t->pass, t->x, NULL, t->n, t->k, t->conj, weigh_rows, t,
		                      t->hess));
		KDRI_DO(kdri_sum(ctx, t->hess, t->d * t->k));
		softmax_combine(ctx, t->held, 1, 1, t->conj, t->hess); /* (E3) */
		double curve = dot(ctx, t, size, t->conj, t->hess), before = rr;
		if (!(curve > 0)) /* rounding */
			break;
		softmax_combine(ctx, size, 1, rr / curve, t->conj, t->s);
		softmax_combine(ctx, size, 1, -rr / curve, t->hess, t->r);
		rr = dot(ctx, t, size, t->r, t->r);
		softmax_combine(ctx, size, rr / before, 1, t->r, t->conj);
		/* Any iterate is a direction of descent. Ranks must stop together: they do so between steps. */
		if (!kdri_together(ctx) && kdri_leave_off(ctx, "direction", i, most))
			break;
	}
	return KDR_OK;
}

/* Takes the first of the steps 1, 1/2, 1/4, .. that lowers f enough; none, and a step of 0, if no step does. */
static kdr_status softmax_step(kdr_context *ctx, newton *t, double *w, double *f, double *gg, double *step)
{
	const double slope = dot(ctx, t, t->d * t->k, t->g, t->s), ww = dot(ctx, t, t->held, w, w),
	             ws = dot(ctx, t, t->held, w, t->s), ss = dot(ctx, t, t->held, t->s, t->s);
	double losses;
	KDRI_DO(softmax_evaluate(ctx, t, t->z, t->s, &losses));
	*step = 1;
	/* The last term: close to the minimum f falls by less than it can hold. */
	for (int halvings = 0; !(losses + (ww + 2 * *step * ws + *step * *step * ss) / 2 <=
	                         *f + armijo * *step * slope + 4 * DBL_EPSILON * *f);
	     halvings++) {
		if (halvings == 0)
			softmax_combine(ctx, t->n * t->k, 1, -1, t->z, t->zv); /* U s */
		*step /= 2;
		if (halvings == 40) {
			*step = 0;
			return KDR_OK;
		}
		KDRI_DO(sum_losses(ctx, t, *step, &losses));
	}
	softmax_combine(ctx, t->d * t->k, 1, *step, t->s, w);
	if (*step < 1) {
		softmax_combine(ctx, t->n * t->k, 1, *step, t->zv, t->z);
		KDRI_DO(softmax_evaluate(ctx, t, t->z, NULL, &losses));
	}
	softmax_arrive(ctx, t, w, losses, f, gg);
	return KDR_OK;
}

/* --- the method ------------------------------------------------------------------------------------------ */

/* (E4) matters if the classes are separable: f then decreases by orders of magnitude more than g. */
static bool is_done(const newton *t, double gg, double g0, double f)
{
	double tol = t->o->tol;
	bool steep = gg > tol * tol * g0, far = !t->o->free_bias && gg > 2 * tol * f; /* (E4) */
	return (!steep && !far) || gg <= DBL_MIN;
}

static kdr_status softmax_minimise(kdr_context *ctx, newton *t, double *w, kdri_linear_report *report)
{
	double g0, gg, step, before, steep, losses;
	bool zeros = true;
	for (int64_t q = 0; q < t->d * t->k; q++)
		zeros = zeros && w[q] == 0;
	KDRI_DO(softmax_evaluate(ctx, t, NULL, NULL,
	                         &losses)); /* what tol refers to: the gradient at w = 0 */
	g0 = dot(ctx, t, t->d * t->k, t->next, t->next);
	if (!zeros)
		KDRI_DO(softmax_evaluate(ctx, t, NULL, w, &losses));
	softmax_arrive(ctx, t, w, losses, &report->start, &gg);
	report->value = report->start;
	report->stop = KDR_STOP_CONVERGED;
	while (!is_done(t, gg, g0, report->value)) {
		if (report->iterations >= t->o->max_iter) {
			report->stop = KDR_STOP_MAX_ITER;
			break;
		}
		before = report->value;
		steep = gg;
		KDRI_DO(find_step(ctx, t, gg));
		KDRI_DO(softmax_step(ctx, t, w, &report->value, &gg, &step));
		if (step == 0) { /* as low as rounding allows */
			report->stop = KDR_STOP_STALLED;
			break;
		}
		report->iterations++;
		if (t->o->trace)
			KDRI_DO(kdri_result_objective(ctx, t->o->trace, report->value));
		if (report->value >= before && gg >= steep) { /* the same */
			report->stop = KDR_STOP_STALLED;
			break;
		}
		if (kdri_iteration(ctx, t->o->stage, report->iterations, t->o->max_iter, report->value)) {
			report->stop = kdri_stop_reason(ctx);
			break;
		}
	}
	return KDR_OK;
}

/* Rows that count, with their labels and costs; copied where others lie between them. */
static kdr_status take_rows(kdr_context *ctx, newton *t, const int64_t *labels, const double *cost,
                            kdri_own *some)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(t->x), count = 0, *rows = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows, n));
	KDRI_TRY(KDRI_NEW(ctx, &t->labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &t->cost, n));
	KDRI_TRY(KDRI_NEW0(ctx, &t->present, t->k));
	for (int64_t i = 0; i < n; i++)
		if (labels[i] >= 0 && cost[i] > 0) {
			t->labels[count] = labels[i];
			t->cost[count] = cost[i];
			t->present[labels[i]] = true;
			rows[count++] = i;
		}
	if (count > 0 && rows[count - 1] - rows[0] + 1 == count)
		some->view = kdri_rows(t->x, rows[0], rows[0] + count);
	else
		KDRI_TRY(kdri_mat_take(ctx, t->x, rows, count, some));
	t->x = &some->view;
	t->n = count;
	for (int64_t j = 0; j < t->k; j++)
		KDRI_TRY(kdri_any(ctx, &t->present[j]));
done:
	kdri_free(ctx, rows);
	return st;
}

kdr_status kdri_softmax_train(kdr_context *ctx, const kdr_mat *x, int64_t classes, const int64_t *labels,
                              const double *cost, const kdri_linear_options *options, double *w,
                              kdri_linear_report *report)
{
	kdr_status st;
	kdri_own some = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	newton t = { .x = x, .o = options, .d = kdr_mat_cols(x) + 1, .k = classes };
	t.held = (t.d - options->free_bias) * classes;
	*report = (kdri_linear_report){ 0 };
	KDRI_TRY(take_rows(ctx, &t, labels, cost, &some));
	int64_t nk, dk;
	double **tall[] = { &t.z, &t.zv, &t.p };
	double **wide[] = { &t.g, &t.next, &t.s, &t.r, &t.conj, &t.hess };
	KDRI_TRY(kdri_mul(ctx, t.n, t.k, &nk));
	KDRI_TRY(kdri_mul(ctx, t.d, t.k, &dk));
	for (size_t i = 0; i < sizeof tall / sizeof tall[0]; i++)
		KDRI_TRY(KDRI_NEW(ctx, tall[i], nk));
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
		KDRI_TRY(KDRI_NEW(ctx, wide[i], dk));
	KDRI_TRY(KDRI_NEW(ctx, &t.partial, KDRI_PASS_CHUNKS));
	KDRI_TRY(kdri_pass_open(ctx, t.x, t.o->bias, t.k, &t.pass));
	KDRI_TRY(softmax_minimise(ctx, &t, w, report));
done:
	KDRI_FREE(ctx, t.cost, t.z, t.zv, t.p, t.g, t.next, t.s, t.r, t.conj, t.hess, t.partial, t.labels,
	          t.present);
	kdri_pass_close(ctx, &t.pass);
	kdri_own_free(ctx, &some);
	return st;
}
