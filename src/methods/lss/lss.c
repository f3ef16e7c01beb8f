/* Alternating descent of LSSMTC and LSSTTC. SPDX-License-Identifier: BSD-3-Clause
 *
 * Key: [GZ09] Q. Gu, J. Zhou: Learning the shared subspace for multi-task clustering and transductive
 * transfer classification. ICDM 2009. Rows are samples here, columns there.
 *
 *   (E1)  J = lambda sum_k |X_k - P_k M_k|^2 + (1 - lambda) sum_k (|X_k W - P_k M|^2 - eps |X_k W|^2)
 *         over P_k >= 0, W'W = I                          [GZ09, eq. 4 and, with P_1 fixed, eq. 20; eps = 0]
 *   (E2)  M = (P'P)^+ P'X W                               [GZ09, eq. 6]
 *   (E3)  M_k = (P_k'P_k)^+ P_k'X_k                       [GZ09, eq. 8]
 *   (E4)  P_k <- P_k sqrt((A+ + P_k B-) / (A- + P_k B+))  [GZ09, eq. 14]
 *         A = lambda X_k M_k' + (1 - lambda) X_k W M',  B = lambda M_k M_k' + (1 - lambda) M M'
 *   (E5)  W: the l lowest eigenvectors of (1 - eps) X'X - Z Z', Z = X'P (P'P)^(-1/2)   [GZ09, eq. 16]
 *
 * symbol    variable                            symbol    variable
 * X_k       rows begin[k].. of x                P, P_k    p, by the same rows
 * F_k       X_k'P_k: f + k dim c                G_k       P_k'P_k: g + k c c
 * M_k'      m + k dim c                         M'        run->shared
 * X W       y                                   W         w
 *
 * A source's P is one-hot and constant, and its own term is not part of (E1) [GZ09, eq. 20].
 *
 * DEVIATION: the printed (E4) has no root. The auxiliary function of the paper's proof gives the root;
 * without it P can oscillate for ever (F = (1,-1), x = 0, P = (.9,.1)). `root` = false is the
 * printed form.
 * DEVIATION: eps, and W within the range of X. For eps = 0, as printed, W are directions in which the data
 * hardly vary; with d > n they may have X W = 0, and nothing is shared. The paper is eps = 0.
 * DEVIATION: (P'P)^+ is a pseudo-inverse, since columns of P may vanish.
 *
 * An iteration needs F_k = X_k'P_k, X_k M_k' and X W: 2 nnz (2c + l) flops, in addition to the W step. All parts of
 * (E1) follow from F and G: |X_k - P_k M_k|^2 = |X_k|^2 - <F_k, M_k'> at the M_k of (E3), and likewise for M.
 *
 * Rows may be held by several ranks (comm/comm.h), each with its rows of P. F_k, G_k, |X_k|^2 and |X W|^2 are then sums
 * over all of them, added in floating point, hence up to rounding; everything else is small and the same on every
 * rank. An iteration exchanges dim c + c^2 numbers per task, one for |X W|^2, and the numbers of the W step.
 */

#include "methods/lss/lss.h"
#include "api/method.h"
#include "comm/comm.h"

/* --- small pieces ------------------------------------------------------------------------------- */

/* Rows begin..end-1 of (E4); up = P B-, down = P B+. */
static void update_rows(int64_t begin, int64_t end, int64_t c, const double *a, const double *up,
                        const double *down, bool root, double *p)
{
	for (int64_t i = begin * c; i < end * c; i++) {
		double over = KDRI_MAX(a[i], 0) + up[i], under = KDRI_MAX(-a[i], 0) + down[i];
		/* under = 0 with p > 0 means that the cluster's centre is 0, so over is 0 too: leave. */
		if (!(under > 0))
			continue;
		double q = over / under, to = p[i] * (root ? sqrt(q) : q);
		p[i] = to < 1e-100 ? 0 : KDRI_MIN(to, 1e100); /* neither denormal nor infinite */
	}
}

kdr_status kdri_lss_update(kdr_context *ctx, int64_t n, int64_t c, const double *a, const double *b,
                           bool root, double *p)
{
	kdr_status st;
	double *up = NULL, *down = NULL, *plus = NULL, *minus = NULL;
	int64_t blocks = (n + KDRI_BLOCK - 1) / KDRI_BLOCK;
	KDRI_TRY(KDRI_NEW(ctx, &up, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &down, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &plus, c * c));
	KDRI_TRY(KDRI_NEW(ctx, &minus, c * c));
	for (int64_t i = 0; i < c * c; i++) {
		plus[i] = KDRI_MAX(b[i], 0);
		minus[i] = KDRI_MAX(-b[i], 0);
	}
	KDRI_TRY(kdri_gemm(ctx, false, false, n, c, c, 1, p, c, minus, c, 0, up, c));
	KDRI_TRY(kdri_gemm(ctx, false, false, n, c, c, 1, p, c, plus, c, 0, down, c));
#pragma omp parallel for num_threads(kdri_team(ctx)) if (n * c > 1 << 14)
	for (int64_t i = 0; i < blocks; i++)
		update_rows(i * KDRI_BLOCK, KDRI_MIN(n, (i + 1) * KDRI_BLOCK), c, a, up, down, root, p);
done:
	KDRI_FREE(ctx, up, down, plus, minus);
	return st;
}

/* --- the state ---------------------------------------------------------------------------------- */

typedef struct state {
	const kdri_lss_problem *problem;
	const kdri_lss_options *options;
	kdri_lss *run;
	const kdr_mat *x; /* the data iterated on: those given, or the same in fewer coordinates */
	int64_t n, dim, c, l, ntasks;
	double *w, *y;    /* dim x l; n x l */
	double *f, *m;    /* per task, dim x c */
	double *g;        /* per task, c x c */
	double *fsum, *z; /* dim x c */
	double *gsum, *inv, *half, *b;
	double *hw, *shared; /* c x l: F'W and M */
	double *a, *r;       /* n x c */
	double *norms;       /* |X_k|^2 */
} state;

static bool is_fixed(const state *s, int64_t t)
{
	return s->problem->fixed && s->problem->fixed[t];
}

static int64_t lss_rows_of(const state *s, int64_t t)
{
	return s->problem->begin[t + 1] - s->problem->begin[t];
}

static kdr_status squared_norms(kdr_context *ctx, state *s)
{
	kdr_status st = kdri_mat_row_norms(ctx, s->x, s->r);
	for (int64_t t = 0; t < s->ntasks && st == KDR_OK; t++) {
		s->norms[t] = 0;
		for (int64_t i = s->problem->begin[t]; i < s->problem->begin[t + 1]; i++)
			s->norms[t] += s->r[i];
	}
	return st == KDR_OK ? kdri_sum(ctx, s->norms, s->ntasks) : st;
}

static kdr_status state_new(kdr_context *ctx, const kdri_lss_problem *problem,
                            const kdri_lss_options *options, kdri_lss *run, state *s)
{
	int64_t dc;
	*s = (state){ .problem = problem, .options = options, .run = run };
	s->x = kdri_subspace_data(&run->subspace);
	s->n = kdr_mat_rows(s->x);
	s->dim = kdr_mat_cols(s->x);
	s->c = problem->c;
	s->l = run->l;
	s->ntasks = problem->ntasks;
	KDRI_DO(kdri_mul(ctx, s->dim, s->c, &dc));
	KDRI_DO(KDRI_NEW0(ctx, &s->w, s->dim * s->l));
	KDRI_DO(KDRI_NEW(ctx, &s->y, s->n * s->l));
	KDRI_DO(KDRI_NEW(ctx, &s->f, s->ntasks * dc));
	KDRI_DO(KDRI_NEW(ctx, &s->m, s->ntasks * dc));
	KDRI_DO(KDRI_NEW(ctx, &s->g, s->ntasks * s->c * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->fsum, dc));
	KDRI_DO(KDRI_NEW(ctx, &s->z, dc));
	KDRI_DO(KDRI_NEW(ctx, &s->gsum, s->c * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->inv, s->c * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->half, s->c * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->b, s->c * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->hw, s->c * s->l));
	KDRI_DO(KDRI_NEW(ctx, &s->shared, s->c * s->l));
	KDRI_DO(KDRI_NEW(ctx, &s->a, s->n * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->r, s->n * s->c));
	KDRI_DO(KDRI_NEW(ctx, &s->norms, s->ntasks));
	return squared_norms(ctx, s);
}

/* F_k, G_k, M_k (E3) of one task for its present P. */
static kdr_status task_centres(kdr_context *ctx, state *s, int64_t t)
{
	int64_t c = s->c, dc = s->dim * c, begin = s->problem->begin[t], n = lss_rows_of(s, t);
	kdr_mat x = kdri_rows(s->x, begin, begin + n);
	const double *p = s->run->p + begin * c;
	double *f = s->f + t * dc, *g = s->g + t * c * c;
	KDRI_DO(kdri_mat_tmul(ctx, &x, p, c, c, f, c));
	KDRI_DO(kdri_gemm(ctx, true, false, c, c, n, 1, p, c, p, c, 0, g, c));
	KDRI_DO(kdri_sum(ctx, f, dc));
	KDRI_DO(kdri_sum(ctx, g, c * c));
	KDRI_DO(kdri_pseudo_inverse(ctx, c, g, s->inv, NULL));
	return kdri_gemm(ctx, false, false, s->dim, c, c, 1, f, c, s->inv, c, 0, s->m + t * dc, c);
}

/* Sums over tasks, and Z of (E5). */
static kdr_status sum_tasks(kdr_context *ctx, state *s)
{
	int64_t c = s->c, dc = s->dim * c;
	memcpy(s->fsum, s->f, (size_t)dc * sizeof *s->f);
	memcpy(s->gsum, s->g, (size_t)(c * c) * sizeof *s->g);
	for (int64_t t = 1; t < s->ntasks; t++) {
		kdri_axpy(1, s->f + t * dc, s->fsum, dc);
		kdri_axpy(1, s->g + t * c * c, s->gsum, c * c);
	}
	KDRI_DO(kdri_pseudo_inverse(ctx, c, s->gsum, s->inv, s->half));
	return kdri_gemm(ctx, false, false, s->dim, c, c, 1, s->fsum, c, s->half, c, 0, s->z, c);
}

/* X W and M (E2) for the present W; `inv` is that of sum_tasks. */
static kdr_status shared_centres(kdr_context *ctx, state *s)
{
	int64_t c = s->c, l = s->l;
	KDRI_DO(kdri_mat_mul(ctx, s->x, s->w, l, l, s->y, l));
	KDRI_DO(kdri_gemm(ctx, true, false, c, l, s->dim, 1, s->fsum, c, s->w, l, 0, s->hw, l));
	return kdri_gemm(ctx, false, false, c, l, c, 1, s->inv, c, s->hw, l, 0, s->shared, l);
}

/* (E1) at the present P, W with M, M_k optimal: objective, and its two parts before weighing. */
static kdr_status lss_evaluate(kdr_context *ctx, const state *s, double *out)
{
	int64_t dc = s->dim * s->c;
	double lambda = s->options->lambda, within = 0, spread = kdri_nrm2sq(s->y, s->n * s->l);
	KDRI_DO(kdri_sum(ctx, &spread, 1));
	for (int64_t t = 0; t < s->ntasks; t++)
		if (!is_fixed(s, t))
			within += s->norms[t] - kdri_dot(s->f + t * dc, s->m + t * dc, dc);
	double across = (1 - s->options->subspace.eps) * spread - kdri_dot(s->hw, s->shared, s->c * s->l);
	out[0] = lambda * within + (1 - lambda) * across;
	out[1] = within;
	out[2] = across;
	return KDR_OK;
}

/* (E4) for one task. */
static kdr_status update_task(kdr_context *ctx, state *s, int64_t t)
{
	int64_t c = s->c, l = s->l, dc = s->dim * c, begin = s->problem->begin[t], n = lss_rows_of(s, t);
	double lambda = s->options->lambda, *a = s->a + begin * c;
	kdr_mat x = kdri_rows(s->x, begin, begin + n);
	memset(a, 0, (size_t)(n * c) * sizeof *a);
	if (lambda > 0)
		KDRI_DO(kdri_mat_mul(ctx, &x, s->m + t * dc, c, c, a, c));
	KDRI_DO(kdri_gemm(ctx, false, true, n, c, l, 1 - lambda, s->y + begin * l, l, s->shared, l, lambda, a,
	                  c));
	KDRI_DO(kdri_gemm(ctx, true, false, c, c, s->dim, lambda, s->m + t * dc, c, s->m + t * dc, c, 0, s->b,
	                  c));
	KDRI_DO(kdri_gemm(ctx, false, true, c, c, l, 1 - lambda, s->shared, l, s->shared, l, 1, s->b, c));
	KDRI_DO(kdri_lss_update(ctx, n, c, a, s->b, s->options->root, s->run->p + begin * c));
	return task_centres(ctx, s, t);
}

/* --- the run ------------------------------------------------------------------------------------ */

static kdr_status lss_start(kdr_context *ctx, state *s)
{
	/* One-hot plus `soften` where P is free. */
	for (int64_t t = 0; t < s->ntasks; t++) {
		double soft = is_fixed(s, t) ? 0 : s->options->soften;
		for (int64_t i = s->problem->begin[t]; i < s->problem->begin[t + 1]; i++)
			for (int64_t j = 0; j < s->c; j++)
				s->run->p[i * s->c + j] = soft + (s->problem->labels[i] == j ? 1 : 0);
	}
	for (int64_t t = 0; t < s->ntasks; t++)
		KDRI_DO(task_centres(ctx, s, t));
	KDRI_DO(sum_tasks(ctx, s));
	if (s->options->w0)
		KDRI_DO(kdri_subspace_coordinates(ctx, &s->run->subspace, s->options->w0, s->w));
	else
		KDRI_DO(kdri_subspace_solve(ctx, &s->run->subspace, s->z, s->w));
	KDRI_DO(shared_centres(ctx, s));
	return lss_evaluate(ctx, s, s->run->start);
}

static kdr_status lss_iterate(kdr_context *ctx, state *s)
{
	kdri_lss *run = s->run;
	for (int64_t t = 0; t < s->ntasks; t++)
		if (!is_fixed(s, t))
			KDRI_DO(update_task(ctx, s, t)); /* (E4), then (E3) for the new P */
	KDRI_DO(sum_tasks(ctx, s));
	KDRI_DO(kdri_subspace_solve(ctx, &run->subspace, s->z, s->w)); /* (E5) */
	KDRI_DO(shared_centres(ctx, s));                               /* (E2) for the new P, W */
	KDRI_DO(KDRI_ROOM(ctx, &run->trace, &run->room, 3 * (run->iterations + 1)));
	KDRI_DO(lss_evaluate(ctx, s, run->trace + 3 * run->iterations));
	run->iterations++;
	return KDR_OK;
}

/* Whether J fell by less than tol of its size; for tol = 0, whether it did not change at all. */
static bool has_converged(const state *s)
{
	const kdri_lss *run = s->run;
	const double *now = run->trace + 3 * (run->iterations - 1);
	const double *before = run->iterations > 1 ? now - 3 : run->start;
	double tol = s->options->tol;
	return tol > 0 ? before[0] - now[0] < tol * fabs(before[0]) : before[0] == now[0];
}

void kdri_lss_free(kdr_context *ctx, kdri_lss *run)
{
	KDRI_FREE(ctx, run->p, run->labels, run->w, run->shared, run->embedded, run->start, run->trace);
	kdri_subspace_free(ctx, &run->subspace);
	*run = (kdri_lss){ 0 };
}

kdr_status kdri_lss_run(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss_options *options,
                        kdri_lss *out)
{
	kdr_status st;
	kdri_lss run = { .stop = KDR_STOP_MAX_ITER };
	state s = { 0 };
	int64_t n = kdr_mat_rows(problem->x), d = kdr_mat_cols(problem->x);
	KDRI_TRY(kdri_subspace_new(ctx, problem->x, &options->subspace, &run.subspace));
	run.l = run.subspace.l;
	KDRI_TRY(KDRI_NEW(ctx, &run.p, n * problem->c));
	KDRI_TRY(KDRI_NEW(ctx, &run.labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &run.w, d * run.l));
	KDRI_TRY(KDRI_NEW(ctx, &run.start, 3));
	KDRI_TRY(state_new(ctx, problem, options, &run, &s));
	KDRI_TRY(lss_start(ctx, &s));
	bool stopped = ctx->cancelled || ctx->timed_out;
	while (!stopped && run.stop == KDR_STOP_MAX_ITER && run.iterations < options->max_iter) {
		KDRI_TRY(lss_iterate(ctx, &s));
		if (has_converged(&s))
			run.stop = KDR_STOP_CONVERGED;
		stopped = kdri_iteration(ctx, options->stage, run.iterations, options->max_iter,
		                         run.trace[3 * (run.iterations - 1)]);
	}
	if (stopped)
		run.stop = kdri_stop_reason(ctx);
	/* First maximum of the row of P; a row of zeros keeps its first label. */
	for (int64_t i = 0; i < s.n; i++) {
		const double *p = s.run->p + i * s.c;
		int64_t best = 0;
		for (int64_t j = 1; j < s.c; j++)
			if (p[j] > p[best])
				best = j;
		s.run->labels[i] = p[best] > 0 ? best : s.problem->labels[i];
	}
	KDRI_TRY(kdri_subspace_features(ctx, &run.subspace, s.w, run.w));
	run.shared = s.shared;
	run.embedded = s.y;
	s.shared = s.y = NULL;
	*out = run;
	run = (kdri_lss){ 0 };
done:
	KDRI_FREE(ctx, s.w, s.y, s.f, s.m, s.g, s.fsum, s.z, s.gsum, s.inv, s.half, s.b, s.hw, s.shared, s.a,
	          s.r, s.norms);
	kdri_lss_free(ctx, &run);
	return st;
}

/* Options and results of LSSMTC and LSSTTC. */

enum { TOP = 10 };

const char *const kdri_subspace_choices[] = { "range", "full", NULL };

kdri_subspace_options kdri_subspace_read_options(const kdr_options *options, int64_t c)
{
	int64_t l = kdri_opt_int(options, "l");
	return (kdri_subspace_options){ .l = l ? l : c,
		                        .c = c,
		                        .automatic = l == 0,
		                        .eps = kdri_opt_real(options, "eps"),
		                        .full = kdri_opt_choice(options, "subspace") == 1,
		                        .energy = kdri_opt_real(options, "energy") };
}

kdri_lss_options kdri_lss_read_options(const kdr_options *options, int64_t c, const char *stage)
{
	return (kdri_lss_options){ .lambda = kdri_opt_real(options, "lambda"),
		                   .subspace = kdri_subspace_read_options(options, c),
		                   .root = kdri_opt_bool(options, "root"),
		                   .soften = kdri_opt_real(options, "soften"),
		                   .max_iter = kdri_opt_int(options, "max_iter"),
		                   .tol = kdri_opt_real(options, "tol"),
		                   .stage = stage };
}

/* out[0..count-1]: the places of the largest of key[0], key[stride], ..; ties to the lowest place. */
static void top_places(const double *key, int64_t n, int64_t stride, bool by_size, int64_t count,
                       int64_t *out)
{
	double best[TOP];
	int64_t filled = 0;
	for (int64_t i = 0; i < n; i++) {
		double value = by_size ? fabs(key[i * stride]) : key[i * stride];
		int64_t at = filled;
		while (at > 0 && best[at - 1] < value)
			at--;
		if (at >= count)
			continue;
		filled = KDRI_MIN(filled + 1, count);
		for (int64_t j = filled - 1; j > at; j--) {
			best[j] = best[j - 1];
			out[j] = out[j - 1];
		}
		best[at] = value;
		out[at] = i;
	}
}

/* Centres (d x c) of rows begin .. end-1: X'P (P'P)^+. */
static kdr_status centres_of(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                             int64_t begin, int64_t end, double *out)
{
	kdr_status st;
	int64_t c = problem->c, d = kdr_mat_cols(problem->x), n = end - begin;
	const double *p = run->p + begin * c;
	kdr_mat x = kdri_rows(problem->x, begin, end);
	double *f = NULL, *g = NULL, *inv = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &f, d * c));
	KDRI_TRY(KDRI_NEW(ctx, &g, c * c));
	KDRI_TRY(KDRI_NEW(ctx, &inv, c * c));
	KDRI_TRY(kdri_mat_tmul(ctx, &x, p, c, c, f, c));
	KDRI_TRY(kdri_gemm(ctx, true, false, c, c, n, 1, p, c, p, c, 0, g, c));
	KDRI_TRY(kdri_sum(ctx, f, d * c));
	KDRI_TRY(kdri_sum(ctx, g, c * c));
	KDRI_TRY(kdri_pseudo_inverse(ctx, c, g, inv, NULL));
	KDRI_TRY(kdri_gemm(ctx, false, false, d, c, c, 1, f, c, inv, c, 0, out, c));
done:
	KDRI_FREE(ctx, f, g, inv);
	return st;
}

static kdr_status lss_result_put_task(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                                      int64_t t, int64_t task, double *centres, kdr_result *result)
{
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x), begin = problem->begin[t];
	int64_t n = problem->begin[t + 1] - begin;
	double *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "P", task, KDR_FLOAT64, 2, (int64_t[]){ n, c }, &to));
	memcpy(to, run->p + begin * c, (size_t)(n * c) * sizeof *to);
	KDRI_DO(kdri_result_array(ctx, result, "embedding", task, KDR_FLOAT64, 2, (int64_t[]){ n, l }, &to));
	memcpy(to, run->embedded + begin * l, (size_t)(n * l) * sizeof *to);
	KDRI_DO(centres_of(ctx, problem, run, begin, begin + n, centres));
	KDRI_DO(kdri_result_array(ctx, result, "centres", task, KDR_FLOAT64, 2, (int64_t[]){ c, d }, &to));
	for (int64_t j = 0; j < c; j++)
		for (int64_t i = 0; i < d; i++)
			to[j * d + i] = centres[i * c + j];
	return KDR_OK;
}

/* Features of directions by weight; of clusters by how far the pooled centre is above the mean of all. */
static kdr_status put_top(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                          double *centres, kdr_result *result)
{
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x), top = KDRI_MIN(d, TOP), *to = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "top_direction", -1, KDR_INT64, 2, (int64_t[]){ l, top },
	                          &to));
	for (int64_t j = 0; j < l; j++)
		top_places(run->w + j, d, l, true, top, to + j * top);
	KDRI_DO(centres_of(ctx, problem, run, 0, problem->begin[problem->ntasks], centres));
	for (int64_t i = 0; i < d; i++) {
		double mean = 0;
		for (int64_t j = 0; j < c; j++)
			mean += centres[i * c + j] / (double)c;
		for (int64_t j = 0; j < c; j++)
			centres[i * c + j] -= mean;
	}
	KDRI_DO(kdri_result_array(ctx, result, "top_cluster", -1, KDR_INT64, 2, (int64_t[]){ c, top }, &to));
	for (int64_t j = 0; j < c; j++)
		top_places(centres + j, d, c, false, top, to + j * top);
	return KDR_OK;
}

static kdr_status put_trace(kdr_context *ctx, const kdri_lss *run, kdr_result *result)
{
	static const char *const names[2] = { "within", "across" };
	for (int64_t i = 0; i < run->iterations; i++)
		KDRI_DO(kdri_result_objective(ctx, result, run->trace[3 * i]));
	for (int part = 0; part < 2; part++) {
		double *to = NULL;
		KDRI_DO(kdri_result_array(ctx, result, names[part], -1, KDR_FLOAT64, 1,
		                          (int64_t[]){ run->iterations + 1 }, &to));
		to[0] = run->start[1 + part];
		for (int64_t i = 0; i < run->iterations; i++)
			to[i + 1] = run->trace[3 * i + 1 + part];
	}
	KDRI_DO(kdri_result_number(ctx, result, "objective_start", run->start[0]));
	kdri_result_stop(result, run->stop, run->iterations);
	return KDR_OK;
}

kdr_status kdri_lss_put(kdr_context *ctx, const kdri_lss_problem *problem, const kdri_lss *run,
                        const int64_t *tasks, kdr_result *result)
{
	kdr_status st;
	int64_t c = problem->c, l = run->l, d = kdr_mat_cols(problem->x);
	double *centres = NULL, *to = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &centres, d * c));
	KDRI_TRY(kdri_result_array(ctx, result, "W", -1, KDR_FLOAT64, 2, (int64_t[]){ d, l }, &to));
	memcpy(to, run->w, (size_t)(d * l) * sizeof *to);
	KDRI_TRY(kdri_result_array(ctx, result, "shared_centres", -1, KDR_FLOAT64, 2, (int64_t[]){ c, l },
	                           &to));
	memcpy(to, run->shared, (size_t)(c * l) * sizeof *to);
	for (int64_t t = 0; t < problem->ntasks; t++)
		KDRI_TRY(lss_result_put_task(ctx, problem, run, t, tasks[t], centres, result));
	KDRI_TRY(put_top(ctx, problem, run, centres, result));
	KDRI_TRY(put_trace(ctx, run, result));
	KDRI_TRY(kdri_subspace_report(ctx, &run->subspace, -1, result));
	KDRI_TRY(kdri_subspace_warn(ctx, &run->subspace, result));
done:
	kdri_free(ctx, centres);
	return st;
}

/* --- predict ------------------------------------------------------------------------------------ */

/* scores (n x c) += weight (|m_j|^2 - 2 x_i . m_j): what of weight |x_i - m_j|^2 depends on j. A centre of
 * zeros is a cluster that vanished: it takes no sample. */
static kdr_status add_distances(kdr_context *ctx, const kdr_mat *x, const double *m, int64_t c, double weight,
                                double *scores)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x);
	double *mt = NULL, *products = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &mt, d * c));
	KDRI_TRY(KDRI_NEW(ctx, &products, n * c));
	for (int64_t j = 0; j < c; j++)
		for (int64_t i = 0; i < d; i++)
			mt[i * c + j] = m[j * d + i];
	KDRI_TRY(kdri_mat_mul(ctx, x, mt, c, c, products, c));
	for (int64_t j = 0; j < c; j++) {
		double size = kdri_nrm2sq(m + j * d, d), constant = size > 0 ? weight * size : INFINITY;
		for (int64_t i = 0; i < n; i++)
			scores[i * c + j] += constant - 2 * weight * products[i * c + j];
	}
done:
	KDRI_FREE(ctx, mt, products);
	return st;
}

kdr_status kdri_lss_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                            int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st = KDR_OK;
	kdr_array own = kdr_result_array(fitted, "centres", task), w = kdr_result_array(fitted, "W", -1),
	          shared = kdr_result_array(fitted, "shared_centres", -1);
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), c = own.shape[0], l = w.shape[1];
	double lambda = kdri_opt_real(options, "lambda"), *y = NULL, *scores = NULL;
	if (!own.data || !w.data || !shared.data || own.ndim != 2 || w.ndim != 2 || shared.ndim != 2 ||
	    shared.shape[0] != c || shared.shape[1] != l || own.shape[1] != w.shape[0])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the model has no centres or no subspace for data set number %lld",
		                 (long long)task + 1);
	if (d != own.shape[1])
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's centres have %lld",
		                 (long long)d, (long long)own.shape[1]);
	KDRI_TRY(KDRI_NEW0(ctx, &scores, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &y, n * l));
	if (lambda > 0)
		KDRI_TRY(add_distances(ctx, x, own.data, c, lambda, scores));
	if (lambda < 1 && l > 0) { /* 0: the data were constant */
		KDRI_TRY(kdri_mat_mul(ctx, x, w.data, l, l, y, l));
		kdr_mat embedded = kdr_mat_from_dense(y, n, l);
		KDRI_TRY(add_distances(ctx, &embedded, shared.data, c, 1 - lambda, scores));
	}
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t j = 1; j < c; j++)
			if (scores[i * c + j] < scores[i * c + labels[i]])
				labels[i] = j;
	}
done:
	KDRI_FREE(ctx, scores, y);
	return st;
}
