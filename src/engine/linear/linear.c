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
 * f is strictly convex. A step s solves H s = -g to a tenth of |g| and is halved until f falls by 0.01
 * of the decrease that g predicts; with U s stored, a trial costs O(n). Near the minimum full steps are taken, and
 * each leaves about a tenth of the gradient [Lin, Weng & Keerthi, JMLR 9:627-650, 2008; Keerthi & DeCoste, JMLR
 * 6:341-361, 2005, for the squared hinge, whose l'' jumps].
 *
 * All outputs are updated together, each with its own scalars, so that a product U P reads the data once for all
 * of them. An output that has converged is no longer updated. The pass that computes U s (matrix/range.h) also evaluates f
 * and g for a full step: a step that is not halved needs no other pass than this one and those.
 *
 * Rows may be held by several ranks (comm/comm.h): sums over rows, U'a and the losses, are then those of all of them, and
 * everything else is the same on each. The last bits of these sums depend on the distribution of the rows.
 *
 * These are the problems of LIBLINEAR, with which the tests compare results. Its library cannot be used: it has no cost
 * per sample (tsvm needs it), copies the data into 16 bytes per entry, ends the process if memory is short, prints
 * through a global pointer and cannot be stopped.
 *
 * U     x with a constant feature     w      outputs in columns       c_i y_i    cost
 * z     z (n x m)                     g, H   g, by products           s          s */
/* Newton directions of linear classifiers, many at a time.
 *
 *     (E5)  (I + U' diag(h_j) U) s_j = -g_j,   j = 1..m      (a row of I is zero where the bias is free)
 *
 * are solved by conjugate gradients, stopped at |r_j| <= 0.1 |g_j|. A tenth is sufficient: a closer solution helps
 * only if the quadratic model is accurate that far. Measured on 20 Newsgroups (squared hinge, to 1e-6): 88 products,
 * against 103 with a fraction that shrinks with the gradient.
 *
 * A product reads the data once for all outputs. Two things keep it short. Outputs that have converged are removed
 * from the blocks. And a sample with h_ij = 0 for all active outputs adds nothing: beyond the margin the squared
 * hinge is flat, so that late steps need few samples. A fused pass (matrix/range.h) skips the others; if they are most of
 * the data, and in other passes if there are fewer than three in four to use, those are copied together. */
#include <float.h>

#include "api/method.h"
#include "comm/comm.h"
#include "engine/linear/linear.h"
#include "matrix/linalg.h"

static const double share = 0.1;

typedef struct kdri_direction {
	const kdr_mat *x;
	kdri_pass *pass;
	int64_t n, d, m;                         /* d with the constant feature */
	int64_t held;                            /* weights that are penalised: d, or d - 1 */
	int64_t width;                           /* outputs that have not converged, adjacent in all blocks */
	double *r, *p, *hp;                      /* d x width */
	const double *h;                         /* n x m */
	const int64_t *used;                     /* the rows of h in use; NULL: all */
	double *partial;                         /* KDRI_CHUNKS x m */
	double *rr, *limit, *old, *alpha, *beta; /* width */
	int64_t *live, *keep;                    /* which output a column belongs to */
	int64_t *rows;                           /* n */
} kdri_direction;

static kdr_status direction_open(kdr_context *ctx, const kdr_mat *x, kdri_pass *pass, int64_t held,
                                 int64_t outputs, kdri_direction *t)
{
	int64_t dm, n = kdr_mat_rows(x), d = kdr_mat_cols(x) + 1;
	*t = (kdri_direction){ .x = x, .pass = pass, .n = n, .d = d, .held = held, .m = outputs };
	KDRI_DO(kdri_mul(ctx, d, outputs, &dm));
	KDRI_DO(KDRI_NEW(ctx, &t->r, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->p, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->hp, dm));
	KDRI_DO(KDRI_NEW(ctx, &t->partial, KDRI_CHUNKS * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->rr, 5 * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->live, 2 * outputs));
	KDRI_DO(KDRI_NEW(ctx, &t->rows, n));
	t->limit = t->rr + outputs;
	t->old = t->limit + outputs;
	t->alpha = t->old + outputs;
	t->beta = t->alpha + outputs;
	t->keep = t->live + outputs;
	return KDR_OK;
}

static void direction_close(kdr_context *ctx, kdri_direction *t)
{
	void *all[] = { t->r, t->p, t->hp, t->partial, t->rr, t->live, t->rows };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		kdri_free(ctx, all[i]);
}

/* Samples that count for an active output: chunks find theirs, which are then moved together. */
static int64_t find_rows(kdr_context *ctx, kdri_direction *t, const double *h)
{
	const int64_t chunks = kdri_chunks(t->n);
	int64_t found[KDRI_CHUNKS], count = 0;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (t->n * t->m > 1 << 12)
	for (int64_t k = 0; k < chunks; k++) {
		const int64_t begin = kdri_chunk_begin(t->n, chunks, k),
		              end = kdri_chunk_begin(t->n, chunks, k + 1);
		int64_t *rows = t->rows + begin, own = 0;
		for (int64_t i = begin; i < end; i++) {
			bool any = false;
			for (int64_t c = 0; c < t->width; c++)
				any |= h[i * t->m + t->live[c]] > 0;
			rows[own] = i;
			own += any;
		}
		found[k] = own;
	}
	for (int64_t k = 0; k < chunks; k++) {
		memmove(t->rows + count, t->rows + kdri_chunk_begin(t->n, chunks, k),
		        (size_t)found[k] * sizeof *t->rows);
		count += found[k];
	}
	return count;
}

/* Columns keep[0..width-1] of a block that had `was`. */
static void close_up(const kdri_direction *t, int64_t was, double *block)
{
	for (int64_t i = 0; i < t->d; i++)
		for (int64_t c = 0; c < t->width; c++)
			block[i * t->width + c] = block[i * was + t->keep[c]];
}

static void drop_finished(kdri_direction *t)
{
	int64_t was = t->width, left = 0;
	for (int64_t c = 0; c < was; c++)
		if (t->rr[c] > t->limit[c]) {
			t->rr[left] = t->rr[c];
			t->limit[left] = t->limit[c];
			t->live[left] = t->live[c];
			t->keep[left++] = c;
		}
	t->width = left;
	if (left == was)
		return;
	close_up(t, was, t->r);
	close_up(t, was, t->p);
}

/* Rows of U p times those of h. */
static void weigh_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *z)
{
	const kdri_direction *t = user;
	const int64_t w = t->width;
	(void)chunk;
	for (int64_t i = begin; i < end; i++, z += w) {
		const double *h = t->h + (t->used ? t->used[i] : i) * t->m;
		if (w == t->m)
			for (int64_t c = 0; c < w; c++)
				z[c] *= h[c];
		else
			for (int64_t c = 0; c < w; c++)
				z[c] *= h[t->live[c]];
	}
}

static kdr_status direction_solve(kdr_context *ctx, kdri_direction *t, const kdr_mat *x, const int64_t *rows,
                                  int64_t n, double *s)
{
	int64_t most = KDRI_MAX(2 * t->d, 50);
	for (int64_t iteration = 0; iteration < most; iteration++) {
		drop_finished(t);
		int64_t w = t->width;
		if (!w)
			break;
		/* hp = (I + U' diag(h) U) p, of n rows */
		KDRI_DO(kdri_pass_run(ctx, t->pass, x, rows, n, t->width, t->p, weigh_rows, t, t->hp));
		KDRI_DO(kdri_sum(ctx, t->hp, t->d * t->width));
		for (int64_t q = 0; q < t->held * t->width; q++)
			t->hp[q] += t->p[q]; /* (E5) */
		kdri_vectors_dot(ctx, t->d, w, t->p, t->hp, t->partial, t->alpha);
		for (int64_t c = 0; c < w; c++)
			t->alpha[c] = t->alpha[c] > 0 ? t->rr[c] / t->alpha[c] : 0;
		for (int64_t q = 0; q < t->d; q++)
			for (int64_t c = 0; c < w; c++)
				s[q * t->m + t->live[c]] += t->alpha[c] * t->p[q * w + c];
		for (int64_t c = 0; c < w; c++)
			t->alpha[c] = -t->alpha[c];
		kdri_vectors_combine(ctx, t->d, w, NULL, t->alpha, t->hp, t->r);
		memcpy(t->old, t->rr, (size_t)w * sizeof *t->old);
		kdri_vectors_dot(ctx, t->d, w, t->r, t->r, t->partial, t->rr);
		for (int64_t c = 0; c < w; c++) {
			t->beta[c] = t->rr[c] / t->old[c];
			t->alpha[c] = 1;
		}
		kdri_vectors_combine(ctx, t->d, w, t->beta, t->alpha, t->r, t->p);
		/* Any iterate is a direction of descent. Ranks must stop together: they do so between directions. */
		if (!kdri_together(ctx) && kdri_leave_off(ctx, "direction", iteration, most))
			break;
	}
	return KDR_OK;
}

/* s (d x m) with (I + U' diag(h_j) U) s_j = -g_j for the active outputs j, to 0.1 of |g_j|; 0 for the others. h is
 * n x m, gg_j = |g_j|^2. U is x with the constant feature of `pass`, which
 * has been opened for x. */
static kdr_status direction_find(kdr_context *ctx, kdri_direction *t, const double *h, const double *g,
                                 const double *gg, const bool *active, double *s)
{
	kdr_status st;
	kdri_own few = { .view = kdr_mat_from_dense(NULL, 0, 0) };
	memset(s, 0, (size_t)(t->d * t->m) * sizeof *s);
	t->width = 0;
	for (int64_t j = 0; j < t->m; j++)
		if (active[j]) {
			t->rr[t->width] = gg[j];
			t->limit[t->width] = share * share * gg[j];
			t->live[t->width++] = j;
		}
	const int64_t w = t->width, count = find_rows(ctx, t, h), scarce = t->pass->fused ? 1 : 3;
	const bool some = count < t->n, copy = 4 * count < scarce * t->n,
	           listed = t->pass->fused && some && !copy;
	if (copy)
		KDRI_TRY(kdri_mat_take(ctx, t->x, t->rows, count, &few));
	t->h = h;
	t->used = copy || listed ? t->rows : NULL;
	for (int64_t q = 0; q < t->d; q++)
		for (int64_t c = 0; c < w; c++)
			t->r[q * w + c] = t->p[q * w + c] = -g[q * t->m + t->live[c]];
	KDRI_TRY(direction_solve(ctx, t, copy ? &few.view : t->x, listed ? t->rows : NULL,
	                         t->used ? count : t->n, s));
done:
	kdri_own_free(ctx, &few);
	return st;
}

static const double armijo = 0.01;

typedef struct newton {
	const kdr_mat *x;
	const double *cost;
	const kdri_linear_options *o;
	int64_t n, d, m;      /* d with the constant feature */
	int64_t held;         /* weights that are penalised: d, or d - 1 where the bias is free */
	double *z, *zs, *h;   /* n x m; zs: z at the end of a full step, then U s if the step is halved */
	const double *start;  /* n x m: what the products of a pass are added to; NULL: zeros */
	double *g, *next, *s; /* d x m; next: g at the end of a full step */
	kdri_pass pass;
	kdri_direction direction;
	double *partial;                                                  /* KDRI_PASS_CHUNKS x m */
	double *f, *g0, *gg, *trial, *ones, *step, *slope, *ww, *ws, *ss; /* m */
	bool *active, *busy;                                              /* m */
} newton;

static void newton_free(kdr_context *ctx, newton *t)
{
	double *all[] = { t->z, t->zs, t->h, t->g, t->next, t->s, t->partial, t->f };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		kdri_free(ctx, all[i]);
	kdri_free(ctx, t->active);
	direction_close(ctx, &t->direction);
	kdri_pass_close(ctx, &t->pass);
}

static kdr_status newton_new(kdr_context *ctx, newton *t)
{
	int64_t nm, dm;
	double **tall[] = { &t->z, &t->zs, &t->h }, **wide[] = { &t->g, &t->next, &t->s };
	double **scalars[] = { &t->f,    &t->g0,    &t->gg, &t->trial, &t->ones,
		               &t->step, &t->slope, &t->ww, &t->ws,    &t->ss };
	enum { SCALARS = sizeof scalars / sizeof scalars[0] };
	KDRI_DO(kdri_mul(ctx, t->n, t->m, &nm));
	KDRI_DO(kdri_mul(ctx, t->d, t->m, &dm));
	for (int i = 0; i < 3; i++) {
		KDRI_DO(KDRI_NEW(ctx, tall[i], nm));
		KDRI_DO(KDRI_NEW(ctx, wide[i], dm));
	}
	KDRI_DO(KDRI_NEW(ctx, &t->partial, KDRI_PASS_CHUNKS * t->m));
	KDRI_DO(KDRI_NEW0(ctx, &t->f, SCALARS * t->m));
	for (int i = 1; i < SCALARS; i++)
		*scalars[i] = t->f + i * t->m;
	for (int64_t j = 0; j < t->m; j++)
		t->ones[j] = 1;
	KDRI_DO(KDRI_NEW0(ctx, &t->active, 2 * t->m));
	t->busy = t->active + t->m;
	KDRI_DO(kdri_pass_open(ctx, t->x, t->o->bias, t->m, &t->pass));
	return direction_open(ctx, t->x, &t->pass, t->held, t->m, &t->direction);
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
#pragma omp parallel for num_threads(kdri_team(ctx)) if (t->n * m > 1 << 12)
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

/* Rows of U p become those of the derivatives a of (E2) at start + U p, which zs is set to; also h of (E3). */
static void evaluate_rows(void *user, int64_t chunk, int64_t begin, int64_t end, double *a)
{
	enum { PIECE = 512 };
	const newton *t = user;
	const int64_t m = t->m, wide = KDRI_MIN(m, PIECE), step = PIECE / wide;
	const bool hinge = t->o->loss == KDRI_LOSS_SQUARED_HINGE;
	double *sum = t->partial + chunk * m, loss[PIECE];
	for (int64_t i = begin; i < end; i += step)
		for (int64_t j = 0; j < m; j += PIECE) {
			const int64_t rows = KDRI_MIN(step, end - i), cols = KDRI_MIN(wide, m - j),
			              count = rows * cols, at = i * m + j;
			double *own = a + at - begin * m;
			for (int64_t e = 0; e < count; e++)
				t->zs[at + e] = own[e] += t->start ? t->start[at + e] : 0;
			(hinge ? kdri_losses_hinge : kdri_losses_logistic)(count, t->cost + at, own,
			                                                   t->h + at, loss);
			for (int64_t r = 0; r < rows; r++)
				for (int64_t c = 0; c < cols; c++)
					sum[j + c] += loss[r * cols + c];
		}
}

/* The derivatives at z = 0. */
static void derive_at_zero(void *user, int64_t chunk, int64_t begin, int64_t end, double *a)
{
	const newton *t = user;
	const double slope = t->o->loss == KDRI_LOSS_SQUARED_HINGE ? -2 : -0.5;
	(void)chunk;
	for (int64_t e = begin * t->m; e < end * t->m; e++)
		a[e - begin * t->m] = slope * t->cost[e];
}

/* At z = start + U p (p NULL: zeros): zs = z, h, the losses and U' a. */
static kdr_status linear_evaluate(kdr_context *ctx, newton *t, const double *start, const double *p,
                                  double *losses, double *g)
{
	t->start = start;
	memset(t->partial, 0, (size_t)(KDRI_PASS_CHUNKS * t->m) * sizeof *t->partial);
	KDRI_DO(kdri_pass_run(ctx, &t->pass, t->x, NULL, t->n, t->m, p, evaluate_rows, t, g));
	kdri_vectors_add(kdri_pass_chunks(t->n), t->m, t->partial, losses);
	KDRI_DO(kdri_sum(ctx, losses, t->m));
	return kdri_sum(ctx, g, t->d * t->m);
}

/* Makes zs, the losses and `next` those of w: z, f, g and |g|^2. */
static void linear_arrive(kdr_context *ctx, newton *t, const double *w, const double *losses)
{
	double *z = t->z, *g = t->g;
	t->z = t->zs;
	t->zs = z;
	t->g = t->next;
	t->next = g;
	dots(ctx, t, t->held, w, w, t->ww);
	for (int64_t j = 0; j < t->m; j++)
		t->f[j] = losses[j] + t->ww[j] / 2;              /* (E1) */
	linear_combine(ctx, t, t->held, NULL, t->ones, w, t->g); /* (E2) */
	dots(ctx, t, t->d, t->g, t->g, t->gg);
}

/* --- one step --------------------------------------------------------------------------------------- */

/* Halves the steps that do not lower f enough; the losses at the end of these steps are in `trial`. Whether there were any. */
static bool halve_steps(newton *t)
{
	bool any = false;
	for (int64_t j = 0; j < t->m; j++) {
		double s = t->step[j], f = t->trial[j] + (t->ww[j] + 2 * s * t->ws[j] + s * s * t->ss[j]) / 2;
		/* The last term: close to the minimum f falls by less than it can hold. */
		if (t->busy[j] && f > t->f[j] + armijo * s * t->slope[j] + 4 * DBL_EPSILON * t->f[j])
			t->step[j] = s / 2;
		else
			t->busy[j] = false;
		any = any || t->busy[j];
	}
	return any;
}

/* Takes the first of the steps 1, 1/2, 1/4, .. that lowers f enough, for each output; none where no step does. Whether any output moved.
 */
static kdr_status linear_step(kdr_context *ctx, newton *t, double *w, bool *moved)
{
	dots(ctx, t, t->d, t->g, t->s, t->slope);
	dots(ctx, t, t->held, w, t->s, t->ws);
	dots(ctx, t, t->held, t->s, t->s, t->ss);
	for (int64_t j = 0; j < t->m; j++) {
		t->busy[j] = t->active[j];
		t->step[j] = t->active[j];
	}
	KDRI_DO(linear_evaluate(ctx, t, t->z, t->s, t->trial, t->next));
	bool halved = false;
	for (int halvings = 0; halvings < 40 && halve_steps(t); halvings++) {
		if (!halved) {
			/* zs = U s, if it was z + U s. */
			for (int64_t j = 0; j < t->m; j++)
				t->ones[j] = -1;
			linear_combine(ctx, t, t->n, NULL, t->ones, t->z, t->zs);
			for (int64_t j = 0; j < t->m; j++)
				t->ones[j] = 1;
		}
		halved = true;
		KDRI_DO(sum_losses(ctx, t, t->trial));
	}
	*moved = false;
	for (int64_t j = 0; j < t->m; j++) {
		t->step[j] = t->busy[j] ? 0 : t->step[j];
		*moved = *moved || t->step[j] > 0;
	}
	if (!*moved)
		return KDR_OK;
	linear_combine(ctx, t, t->d, NULL, t->step, t->s, w);
	if (halved) {
		linear_combine(ctx, t, t->n, NULL, t->step, t->zs, t->z);
		KDRI_DO(linear_evaluate(ctx, t, t->z, NULL, t->trial, t->next));
	}
	linear_arrive(ctx, t, w, t->trial);
	return KDR_OK;
}

/* --- the method -------------------------------------------------------------------------------------- */

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
	bool zeros = true;
	for (int64_t q = 0; q < t->d * t->m; q++)
		zeros = zeros && w[q] == 0;
	KDRI_DO(linear_evaluate(ctx, t, NULL, zeros ? NULL : w, t->trial, t->next));
	linear_arrive(ctx, t, w, t->trial);
	/* tol refers to |g|^2 at w = 0, whatever the start. */
	memcpy(t->g0, t->gg, (size_t)t->m * sizeof *t->g0);
	if (!zeros) {
		KDRI_DO(kdri_pass_run(ctx, &t->pass, t->x, NULL, t->n, t->m, NULL, derive_at_zero, t,
		                      t->next));
		KDRI_DO(kdri_sum(ctx, t->next, t->d * t->m));
		dots(ctx, t, t->d, t->next, t->next, t->g0);
	}
	report->start = report->value = total(t);
	report->stop = KDR_STOP_CONVERGED;
	while (still_active(t)) {
		bool moved;
		if (report->iterations >= t->o->max_iter) {
			report->stop = KDR_STOP_MAX_ITER;
			break;
		}
		KDRI_DO(direction_find(ctx, &t->direction, t->h, t->g, t->gg, t->active, t->s));
		KDRI_DO(linear_step(ctx, t, w, &moved));
		if (!moved) { /* as low as rounding allows */
			report->stop = KDR_STOP_STALLED;
			break;
		}
		report->iterations++;
		report->value = total(t);
		if (t->o->trace)
			KDRI_DO(kdri_result_objective(ctx, t->o->trace, report->value));
		if (kdri_iteration(ctx, t->o->stage, report->iterations, t->o->max_iter, report->value)) {
			report->stop = kdri_stop_reason(ctx);
			break;
		}
	}
	return KDR_OK;
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
	const int64_t n = kdr_mat_rows(x);
	const double *last = w + kdr_mat_cols(x) * outputs;
	const kdr_status st = kdri_mat_mul(ctx, x, w, outputs, outputs, scores, outputs);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * outputs > 1 << 14)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < outputs; j++)
			scores[i * outputs + j] += bias * last[j];
	return st;
}

void kdri_linear_spread(kdr_context *ctx, int64_t n, int64_t classes, const double *outputs, double *scores)
{
	int64_t m = kdri_linear_outputs(classes);
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * classes > 1 << 14)
	for (int64_t i = 0; i < n; i++)
		for (int64_t c = 0; c < classes; c++)
			scores[i * classes + c] = m > 1    ? outputs[i * m + c]
			                          : c == 1 ? outputs[i]
			                                   : -outputs[i];
}
