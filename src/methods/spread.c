/* Labels spread over a graph: what gfhf and llgc share. SPDX-License-Identifier: BSD-3-Clause */
/* Gaussian fields and harmonic functions.
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
/* Learning with local and global consistency.
 *
 * On a graph W over the samples of all tasks, with D = diag(W 1), S = D^-1/2 W D^-1/2 and Y the one-hot
 * classes (0 where unknown), the scores are the limit of F <- alpha S F + (1 - alpha) Y,
 *     (E3)  F = (1 - alpha) (I - alpha S)^-1 Y,                                           [ZBLWS04, eq. 4]
 * solved by conjugate gradients: the condition number is at most (1 + alpha) / (1 - alpha). A sample gets the
 * class with the largest score. A sample from which no labelled one can be reached has scores 0 and gets the
 * most frequent class. Known labels are unchanged in the result, even if F favours another class.
 *
 * The regularisation mu of [GZ09] is 1 / alpha - 1.
 *
 * DEVIATION: [ZBLWS04] uses alpha = 0.99. F is then so smooth that every sample can get the class with the most
 * labels: this happened for 17 of 67 pairs of data sets. A smaller alpha fixes this; scaling the scores of each class
 * to its proportion of the labels (class mass normalisation) did not, on webkb4. The default is 0.5.
 *
 * W   graph.w      F   f (n x classes)     S   by products, with root_i = d_i^-1/2
 */
#include "api/method.h"
#include "engine/graph/similarity.h"
#include "engine/graph/spectrum.h"
#include "matrix/linalg.h"
#include "methods/common/labelled.h"

/* Of so few samples one class is no surprise. */
enum { FEW = 10 };

/* Adds a warning if all unlabelled samples of a task got the same class although the labelled ones have several. */
static kdr_status warn_one_class(kdr_context *ctx, const kdri_labelled *set, const kdr_problem *problem,
                                 kdr_result *result)
{
	int64_t at = 0, several = 0;
	for (int64_t j = 0; j < set->classes; j++)
		several += set->counts[j] > 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x), length, first = -1, unknown = 0;
		const int64_t *labels =
		        task->role == KDR_ROLE_SOURCE ? NULL : kdr_result_labels(result, t, &length);
		bool same = labels != NULL;
		for (int64_t i = 0; labels && i < n; i++) {
			if (set->labels[at + i] >= 0)
				continue;
			first = unknown++ ? first : labels[i];
			same = same && labels[i] == first;
		}
		at += n;
		if (several > 1 && same && unknown >= FEW)
			KDRI_DO(kdri_result_warn(
			        ctx, result,
			        "all %lld unlabelled samples of data set %s got the same class, so labels probably spread too far; try fewer neighbours, a smaller alpha (llgc) or another method",
			        (long long)unknown, task->name ? task->name : ""));
	}
	return KDR_OK;
}

/* f (n x classes, 0 on entry): scores of all samples from the graph w and the labels known. */
typedef kdr_status kdri_spread(kdr_context *ctx, const kdri_labelled *set, const kdr_mat *w,
                               const kdr_options *options, double *f, int64_t *iterations, kdr_stop *stop);

/* fit of a method based on label spreading, whose options are KDRI_OPTIONS_GRAPH and KDRI_OPTIONS_SOLVER and whose
 * array is "scores". */
static kdr_status spread_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                             kdri_spread *spread, kdr_result *result)
{
	kdr_status st;
	kdri_labelled set = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_graph graph = { .w.view = set.x.view };
	kdri_graph_options g = kdri_graph_options_of(options);
	double *f = NULL;
	int64_t size, iterations;
	kdr_stop stop;
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &set));
	KDRI_TRY(kdri_mul(ctx, set.n, set.classes, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &f, size));
	KDRI_TRY(kdri_graph_new(ctx, &set.x.view, &g, &graph));
	KDRI_TRY(spread(ctx, &set, &graph.w.view, options, f, &iterations, &stop));
	KDRI_TRY(kdri_labelled_warn_unreached(ctx, &set, f, result));
	KDRI_TRY(kdri_labelled_put(ctx, &set, f, "scores", result));
	KDRI_TRY(warn_one_class(ctx, &set, problem, result));
	if (g.similarity == KDRI_SIMILARITY_GAUSS)
		KDRI_TRY(kdri_result_number(ctx, result, "sigma", graph.sigma));
	if (graph.candidates)
		KDRI_TRY(kdri_result_number(ctx, result, "neighbour_candidates", (double)graph.candidates));
	kdri_result_stop(result, stop, iterations);
done:
	kdri_labelled_free(ctx, &set);
	kdri_graph_free(ctx, &graph);
	kdri_free(ctx, f);
	return st;
}

/* The options of a method that solves its problem by kdri_cg. */
/* clang-format off */
#define KDRI_OPTIONS_SOLVER \
	KDRI_INT("max_iter", 1000, 0, 1e9, "maximum number of iterations of the linear solver"), \
	KDRI_REAL("tol", 1e-10, 0, 1, \
	          "stop when the residual of the linear system is at most this fraction of its right-hand side")
/* clang-format on */

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
	return spread_fit(ctx, problem, options, gfhf_solve, result);
}

const kdri_algo kdri_algo_gfhf = {
	.info = { .id = "gfhf",
	          .class_name = "GFHF",
	          .title = "Gaussian fields and harmonic functions",
	          .summary = "spreads labels over a graph of all samples; known labels stay fixed",
	          .objective =
	                  "E = 1/2 sum_ij W_ij |F_i - F_j|^2, with F_i = Y_i for labelled samples: minimised exactly, and not recorded\n"
	                  "F_i    scores of the classes of sample i (array scores)\n"
	                  "Y_i    class of sample i, one-hot\n"
	                  "W_ij   similarity of samples i and j of all data sets if one is among the nearest neighbours of the other, otherwise 0",
	          .steps =
	                  "1. solve (D_uu - W_uu) F_u = W_ul Y_l by conjugate gradients (u: unlabelled, l: labelled, D: row sums of W)\n"
	                  "2. with cmn=true, scale the scores so that the classes keep their proportions",
	          .use = "Source and target lie close together in feature space, so that near neighbours share a class.",
	          .cost = "The graph, and O(n neighbours classes) per iteration of the solver.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = 0,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = gfhf_fit,
};

static const kdr_option_desc llgc_options_table[] = {
	KDRI_OPTIONS_GRAPH(10),
	KDRI_REAL("alpha", 0.5, 0, 1, "fraction of a sample's scores that comes from its neighbours",
	          .open_min = true, .open_max = true, .symbol = "alpha"),
	KDRI_OPTIONS_SOLVER,
	{ .name = NULL },
};

static const kdr_field_desc llgc_fields_table[] = {
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes", "score of each class, >= 0", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	{ .name = NULL },
};

static const char *const llgc_references_table[] = {
	"D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schoelkopf: Learning with local and global consistency. "
	"NIPS 2003. [ZBLWS04]",
	NULL,
};

/* I - alpha S. */
typedef struct spreading {
	const kdr_mat *w;
	const double *root;
	double alpha;
	double *scaled; /* n x classes: D^-1/2 x */
} spreading;

static kdr_status spreading_apply(kdr_context *ctx, const kdri_op *op, const double *x, int64_t k,
                                  int64_t ldx, double *y, int64_t ldy)
{
	const spreading *s = op->data;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (op->rows * k > 1 << 15)
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			s->scaled[i * k + j] = s->root[i] * x[i * ldx + j];
	kdr_status st = kdri_mat_mul(ctx, s->w, s->scaled, k, k, y, ldy);
	if (st != KDR_OK)
		return st;
#pragma omp parallel for num_threads(kdri_team(ctx)) if (op->rows * k > 1 << 15)
	for (int64_t i = 0; i < op->rows; i++)
		for (int64_t j = 0; j < k; j++)
			y[i * ldy + j] = x[i * ldx + j] - s->alpha * s->root[i] * y[i * ldy + j];
	return KDR_OK;
}

/* F of (E3). */
static kdr_status llgc_solve(kdr_context *ctx, const kdri_labelled *set, const kdr_mat *w,
                             const kdr_options *options, double *f, int64_t *iterations, kdr_stop *stop)
{
	kdr_status st;
	int64_t n = set->n, c = set->classes;
	double *root = NULL, *y = NULL, *scaled = NULL, alpha = kdri_opt_real(options, "alpha");
	KDRI_TRY(KDRI_NEW(ctx, &root, n));
	KDRI_TRY(KDRI_NEW0(ctx, &y, n * c));
	KDRI_TRY(KDRI_NEW(ctx, &scaled, n * c));
	KDRI_TRY(kdri_graph_degrees(ctx, w, root));
	for (int64_t i = 0; i < n; i++) {
		root[i] = root[i] > 0 ? 1 / sqrt(root[i]) : 0;
		if (set->labels[i] >= 0)
			y[i * c + set->labels[i]] = 1 - alpha;
	}
	const spreading s = { w, root, alpha, scaled };
	const kdri_op op = { n, n, spreading_apply, NULL, &s };
	KDRI_TRY(kdri_cg(ctx, &op, NULL, c, y, kdri_opt_real(options, "tol"),
	                 kdri_opt_int(options, "max_iter"), "llgc", f, iterations, stop)); /* (E3) */
	for (int64_t p = 0; p < n * c; p++)
		f[p] = KDRI_MAX(f[p], 0);
done:
	KDRI_FREE(ctx, root, y, scaled);
	return st;
}

static kdr_status llgc_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	return spread_fit(ctx, problem, options, llgc_solve, result);
}

const kdri_algo kdri_algo_llgc = {
	.info = { .id = "llgc",
	          .class_name = "LLGC",
	          .title = "Learning with local and global consistency",
	          .summary = "spreads labels over a normalised graph of all samples",
	          .objective =
	                  "Q = 1/2 ( sum_ij W_ij |F_i / sqrt(D_i) - F_j / sqrt(D_j)|^2 + mu sum_i |F_i - Y_i|^2 ): minimised exactly, and not recorded\n"
	                  "F_i    scores of the classes of sample i (array scores)\n"
	                  "Y_i    class of sample i, one-hot; 0 if unknown\n"
	                  "W_ij   similarity of samples i and j of all data sets if one is among the nearest neighbours of the other, otherwise 0\n"
	                  "D_i    sum of row i of W\n"
	                  "mu     1 / alpha - 1, alpha the option",
	          .steps =
	                  "1. solve (I - alpha S) F = (1 - alpha) Y by conjugate gradients, S = D^-1/2 W D^-1/2\n"
	                  "2. a sample gets the class with the largest score",
	          .use = "As gfhf, if labels may be wrong or scores should not follow a few of them.",
	          .cost = "The graph, and O(n neighbours classes) per iteration of the solver.",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = 0,
	          .options = llgc_options_table,
	          .fields = llgc_fields_table,
	          .references = llgc_references_table },
	.fit = llgc_fit,
};
