/* Learning with local and global consistency. SPDX-License-Identifier: BSD-3-Clause
 *
 * On a graph W over the samples of all tasks, with D = diag(W 1), S = D^-1/2 W D^-1/2 and Y the one-hot
 * classes (0 where unknown), the scores are the limit of F <- alpha S F + (1 - alpha) Y,
 *     (E1)  F = (1 - alpha) (I - alpha S)^-1 Y,                                           [ZBLWS04, eq. 4]
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
#include "methods/spread/spread.h"

static const kdr_option_desc options_table[] = {
	KDRI_OPTIONS_GRAPH(10),
	KDRI_REAL("alpha", 0.5, 0, 1, "fraction of a sample's scores that comes from its neighbours",
	          .open_min = true, .open_max = true, .symbol = "alpha"),
	KDRI_OPTIONS_SOLVER,
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("scores", KDR_FLOAT64, "n x classes", "score of each class, >= 0", .per_task = true,
	           .scoring = KDR_SCORING_SHARES),
	{ .name = NULL },
};

static const char *const references_table[] = {
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

/* F of (E1). */
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
	                 kdri_opt_int(options, "max_iter"), "llgc", f, iterations, stop)); /* (E1) */
	for (int64_t p = 0; p < n * c; p++)
		f[p] = KDRI_MAX(f[p], 0);
done:
	KDRI_FREE(ctx, root, y, scaled);
	return st;
}

static kdr_status llgc_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	return kdri_spread_fit(ctx, problem, options, llgc_solve, result);
}

const kdri_algo kdri_algo_llgc = {
	.info = { .id = "llgc",
	          .class_name = "LLGC",
	          .title = "learning with local and global consistency",
	          .summary = "spreads labels over a normalised graph of all samples",
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = 0,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = llgc_fit,
};
