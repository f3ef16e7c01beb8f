/* Gaussian fields and harmonic functions. SPDX-License-Identifier: BSD-3-Clause
 *
 * On a graph W over the samples of all tasks, labels spread from the labelled samples: with l the labelled
 * samples, u the others, D = diag(W 1) and Y the one-hot classes,
 *     (E1)  F_l = Y_l,   (D_uu - W_uu) F_u = W_ul Y_l                                     [ZGL03, eq. 5]
 * so that each F_i is the mean of its neighbours' (harmonic): the chance that a random walk from i
 * meets a labelled sample of each class first. The system is solved by conjugate gradients, preconditioned
 * with D_uu. With `cmn`, masses of classes are matched to their shares q_c among the labelled samples,
 *     (E2)  score_ic = q_c F_ic / sum over u of F_uc.                                     [ZGL03, eq. 9]
 * A sample gets the class with the largest score. A sample from which no labelled one can be reached has
 * scores 0 and gets the most frequent class.
 *
 * W   graph.w      F   f (n x classes)     D   degree     q   share of a class, in counts
 */
#include "api/method.h"
#include "methods/spread/spread.h"

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_GRAPH(10),
	KDRI_BOOL("cmn", 0,
	          "class mass normalisation: scale the scores so that the classes keep their proportions"),
	KDRI_OPTIONS_SOLVER,
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes",
	           "harmonic function of each class; rows sum to 1 unless cmn is set", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"X. Zhu, Z. Ghahramani, J. Lafferty: Semi-supervised learning using Gaussian fields and harmonic "
	"functions. ICML 2003. [ZGL03]",
	NULL,
};

/* D - W on the samples without a label; the identity on the others and on those without edges. */
typedef struct laplacian {
	const kdr_mat *w;
	const int64_t *labels;
	const double *degree;
} laplacian;

static bool is_free(const laplacian *l, int64_t i)
{
	return l->labels[i] < 0 && l->degree[i] > 0;
}

/* x is 0 outside the free samples, and so stays whatever is made of it. */
static kdr_status laplacian_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                  int64_t ldx, double *y, int64_t ldy)
{
	const laplacian *l = op->data;
	kdr_status st = kdri_mat_mul(ctx, l->w, x, k, ldx, y, ldy);
	if (st != KDR_OK)
		return st;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (op->rows * k > 1 << 15)
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] = is_free(l, i) ? l->degree[i] * x[i * ldx + j] - y[i * ldy + j]
			                               : x[i * ldx + j];
	return KDR_OK;
}

/* (E2) */
static void match_masses(const kdri_labelled *set, double *f)
{
	int64_t c = set->classes;
	for (int64_t j = 0; j < c; j++) {
		double mass = 0, share = (double)set->counts[j] / (double)set->known;
		for (int64_t i = 0; i < set->n; i++)
			mass += set->labels[i] < 0 ? f[i * c + j] : 0;
		for (int64_t i = 0; i < set->n && mass > 0; i++)
			f[i * c + j] *= set->labels[i] < 0 ? share / mass : 1;
	}
}

/* F of (E1), and (E2) where it is wanted. */
static kdr_status gfhf_solve(kdr_context *ctx, const kdri_labelled *set, const kdr_mat *w,
                             const kdr_options *options, double *f, int64_t *iterations, kdr_stop *stop)
{
	kdr_status st;
	int64_t n = set->n, c = set->classes;
	double *degree = NULL, *scale = NULL, *y = NULL, *b = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &degree, n));
	KDRI_TRY(KDRI_NEW(ctx, &scale, n));
	KDRI_TRY(KDRI_NEW0(ctx, &y, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &b, n * c));
	KDRI_TRY(kdri_graph_degrees(ctx, w, degree));
	const laplacian l = { w, set->labels, degree };
	const kdri_op op = { n, n, laplacian_apply, NULL, &l };
	for (int64_t i = 0; i < n; i++)
		if (set->labels[i] >= 0)
			y[i * c + set->labels[i]] = 1;
	KDRI_TRY(kdri_mat_mul(ctx, w, y, c, c, b, c));
	for (int64_t i = 0; i < n; i++) {
		scale[i] = is_free(&l, i) ? degree[i] : 1;
		for (int64_t j = 0; j < c && !is_free(&l, i); j++)
			b[i * c + j] = 0;
	}
	KDRI_TRY(kdri_cg(ctx, &op, scale, c, b, kdri_opt_real(options, "tol"),
	                 kdri_opt_int(options, "max_iter"), "gfhf", f, iterations, stop)); /* (E1) */
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < c; j++)
			f[i * c + j] = set->labels[i] >= 0 ? y[i * c + j] : KDRI_MAX(f[i * c + j], 0);
	if (kdri_opt_bool(options, "cmn"))
		match_masses(set, f);
done:
	KDRI_FREE(ctx, degree, scale, y, b);
	return st;
}

static kdr_status gfhf_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	return kdri_spread_fit(ctx, problem, options, gfhf_solve, result);
}

const kdri_algo kdri_algo_gfhf = {
	.info = { .id = "gfhf",
	          .class_name = "GFHF",
	          .title = "Gaussian fields and harmonic functions",
	          .summary = "spreads labels over a graph of all samples; known labels stay fixed",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = 0,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = gfhf_fit,
};
