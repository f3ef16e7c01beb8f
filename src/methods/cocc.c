/* CoCC: transfers classes to documents of another domain through word clusters that both share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * [DXY07] W. Dai, G.-R. Xue, Q. Yang, Y. Yu: Co-clustering based classification for out-of-domain documents. KDD 2007.
 *
 * f(d, w) is the joint distribution of unlabelled samples and features, g(c, w) that of the classes and the features of
 * labelled samples; both are entries divided by their sum. Samples are assigned to clusters d^, one per class, and
 * features to m clusters w^, so that little mutual information is lost:
 *
 *   (E1)  J = I(D; W) - I(D^; W^) + lambda (I(C; W) - I(C; W^))   [DXY07, the loss]
 *   (E2)  d^(d) = argmin_d^ KL(f(W|d) || f^(W|d^)) = argmin_d^ - sum_w^ f(w^|d) log f(w^|d^)
 *   (E3)  w^(w) = argmin_w^ f(w) KL(f(D|w) || f^(D|w^)) + lambda g(w) KL(g(C|w) || g^(C|w^))
 *               = argmin_w^ - sum_d^ f(d^, w) log f(d^|w^) - lambda sum_c g(c, w) log g(c|w^)
 *
 * (E3) and (E2) alternate; neither raises J [DXY07]. The second forms follow because f^(w|d^) =
 * f(w^|d^) f(w) / f(w^), whose other factors do not depend on the choice. A round takes O(nnz + (n + d) m c)
 * operations.
 *
 *   (E4)  the first d^: multinomial naive Bayes of the known samples, every entry raised by the mean entry that is not 0
 *   (E5)  the first w^: k-means of the features' profiles, f(d^|w) next to g(c|w), weighted by f(w) + g(w)
 *
 * DEVIATION: (E5) replaces the CLUTO program, and the unit of (E4) replaces 1, so that entries need not be counts.
 *
 * f        asked rows of set.x over total     words    w^, d numbers; m of them
 * f(d^,w^) joint, c x m                       g(c,w^)  known, c x m
 * f(d^,w)  by_word, d x c                     g(c,w)   source, d x c
 * f(d,w^)  by_row, n x m                      d^       labels, -1 if not predicted */
#include "api/method.h"
#include "engine/kmeans/kmeans.h"
#include "methods/common/labelled.h"

static const char stage[] = "cocc";

static const double never = 1e300; /* - log 0: times 0 it is 0 */

static const kdr_option_desc options_table[] = {
	KDRI_REAL("lambda", 0.25, 0, 1e6,
	          "weight of the information that word clusters give about the known classes",
	          .symbol = "lambda"),
	KDRI_INT("words", 64, 1, 1e6, "number of feature clusters", .symbol = "|W^|"),
	KDRI_MAX_ITER(20),
	KDRI_TOL(0),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY(
	        "scores", KDR_FLOAT64, "n x classes",
	        "minus the divergence of the sample from each class, up to a constant common to all classes; at least -1000",
	        .per_task = true, .scoring = KDR_SCORING_MARGINS),
	KDRI_ARRAY("word_clusters", KDR_INT64, "d", "the cluster of each feature"),
	{ .name = NULL },
};

static const char *const references_table[] = {
	"W. Dai, G.-R. Xue, Q. Yang, Y. Yu: Co-clustering based classification for out-of-domain documents. KDD 2007.",
	NULL,
};

typedef struct cocc {
	kdri_domains set;
	int64_t n, d, c, m;
	double lambda, total;          /* sum of the entries of unlabelled samples */
	double constant;               /* I(D; W) + lambda I(C; W) */
	int64_t *labels, *words;       /* n; d */
	double *source, *by_word;      /* d x c each */
	double *joint, *known;         /* c x m each */
	double *by_row, *rows;         /* n x m; n: f(d) */
	double *scores, *costs, *logs; /* n x c; d x m; 2 x c x m */
} cocc;

static double xlogx(double x)
{
	return x > 0 ? x * log(x) : 0;
}

/* I of a joint distribution of `rows` by `cols`, whose margins it adds up; col: room for cols numbers. */
static double information(const double *joint, int64_t rows, int64_t cols, double *col)
{
	double sum = 0;
	memset(col, 0, (size_t)cols * sizeof *col);
	for (int64_t i = 0; i < rows; i++) {
		double row = 0;
		for (int64_t j = 0; j < cols; j++) {
			sum += xlogx(joint[i * cols + j]);
			row += joint[i * cols + j];
			col[j] += joint[i * cols + j];
		}
		sum -= xlogx(row);
	}
	for (int64_t j = 0; j < cols; j++)
		sum -= xlogx(col[j]);
	return sum;
}

/* --- tables ------------------------------------------------------------------------------------- */

/* f(d, w^) for the current word clusters. */
static void sum_rows(kdr_context *ctx, cocc *a)
{
	int64_t m = a->m;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static, KDRI_BLOCK) if (a->n > 4 * KDRI_BLOCK)
	for (int64_t i = 0; i < a->n; i++) {
		double *row = a->by_row + i * m;
		kdri_entries e = kdri_row_entries(&a->set.set.x.view, i);
		if (!a->set.unlabelled[i])
			continue;
		memset(row, 0, (size_t)m * sizeof *row);
		for (int64_t p = 0; p < e.count; p++)
			row[a->words[kdri_entry_column(&e, p)]] += e.val[p] / a->total;
	}
}

/* f(d^, w) for the current labels. */
static void sum_words(cocc *a)
{
	memset(a->by_word, 0, (size_t)(a->d * a->c) * sizeof *a->by_word);
	for (int64_t i = 0; i < a->n; i++) {
		kdri_entries e = kdri_row_entries(&a->set.set.x.view, i);
		for (int64_t p = 0; a->set.unlabelled[i] && p < e.count; p++)
			a->by_word[kdri_entry_column(&e, p) * a->c + a->labels[i]] += e.val[p] / a->total;
	}
}

/* From words x classes to classes x clusters of words. */
static void cocc_join(const cocc *a, const double *words, double *joint)
{
	memset(joint, 0, (size_t)(a->c * a->m) * sizeof *joint);
	for (int64_t w = 0; w < a->d; w++)
		for (int64_t j = 0; j < a->c; j++)
			joint[j * a->m + a->words[w]] += words[w * a->c + j];
}

/* logs (c x m) = log(joint / the sum of its row, or of its column). */
static void conditional(const double *joint, int64_t c, int64_t m, bool by_row, double weight, double *logs)
{
	for (int64_t outer = 0; outer < (by_row ? c : m); outer++) {
		int64_t count = by_row ? m : c, from = by_row ? outer * m : outer, step = by_row ? 1 : m;
		double sum = 0;
		for (int64_t i = 0; i < count; i++)
			sum += joint[from + i * step];
		for (int64_t i = 0; i < count; i++) {
			double x = joint[from + i * step];
			logs[from + i * step] = x > 0 ? weight * log(x / sum) : -never;
		}
	}
}

/* --- steps -------------------------------------------------------------------------------------- */

/* (E2); scores are minus the divergence by sample. A sample without entries gets the most frequent known class. */
static kdr_status step_rows(kdr_context *ctx, cocc *a)
{
	int64_t c = a->c, m = a->m;
	cocc_join(a, a->by_word, a->joint);
	conditional(a->joint, c, m, true, 1, a->logs);
	KDRI_DO(kdri_gemm(ctx, false, true, a->n, c, m, 1, a->by_row, m, a->logs, m, 0, a->scores, c));
	for (int64_t i = 0; i < a->n; i++) {
		int64_t best = 0;
		if (!a->set.unlabelled[i])
			continue;
		for (int64_t j = 0; j < c; j++) {
			double *score = a->scores + i * c + j;
			*score = a->rows[i] > 0 ? *score / a->rows[i] : log(a->set.share[j]);
			if (*score > a->scores[i * c + best])
				best = j;
		}
		a->labels[i] = best;
	}
	sum_words(a);
	cocc_join(a, a->by_word, a->joint);
	return KDR_OK;
}

/* (E3) */
static kdr_status step_words(kdr_context *ctx, cocc *a)
{
	int64_t c = a->c, m = a->m;
	conditional(a->joint, c, m, false, 1, a->logs);
	KDRI_DO(kdri_gemm(ctx, false, false, a->d, m, c, 1, a->by_word, c, a->logs, m, 0, a->costs, m));
	if (a->lambda > 0) {
		conditional(a->known, c, m, false, a->lambda, a->logs);
		KDRI_DO(kdri_gemm(ctx, false, false, a->d, m, c, 1, a->source, c, a->logs, m, 1, a->costs,
		                  m));
	}
	for (int64_t w = 0; w < a->d; w++) {
		int64_t best = a->words[w];
		for (int64_t j = 0; j < m;
		     j++) /* of equals the cluster it is in, so that nothing moves for nothing */
			if (a->costs[w * m + j] > a->costs[w * m + best])
				best = j;
		a->words[w] = best;
	}
	cocc_join(a, a->source, a->known);
	sum_rows(ctx, a);
	return KDR_OK;
}

/* (E1) */
static double cocc_value_of(cocc *a)
{
	return a->constant - information(a->joint, a->c, a->m, a->logs) -
	       a->lambda * information(a->known, a->c, a->m, a->logs);
}

/* --- start -------------------------------------------------------------------------------------- */

/* g, f(d), and I(D; W) + lambda I(C; W); *unit: the mean known entry that is not 0; *mass: the sum
 * of the known. */
static kdr_status tabulate(kdr_context *ctx, cocc *a, double *unit, double *mass)
{
	kdr_status st;
	double *col = NULL, sum = 0, known = 0;
	int64_t entries = 0;
	KDRI_TRY(KDRI_NEW0(ctx, &col, a->d));
	for (int64_t i = 0; i < a->n; i++) {
		kdri_entries e = kdri_row_entries(&a->set.set.x.view, i);
		for (int64_t p = 0; p < e.count; p++) {
			int64_t w = kdri_entry_column(&e, p);
			if (a->set.unlabelled[i]) {
				a->rows[i] += e.val[p];
				col[w] += e.val[p];
				sum += xlogx(e.val[p]);
			} else if (a->set.labels[i] >= 0) {
				a->source[w * a->c + a->set.labels[i]] += e.val[p];
				known += e.val[p];
				entries += e.val[p] > 0;
			}
		}
		a->total += a->rows[i];
	}
	*mass = known;
	*unit = entries ? known / (double)entries : 1;
	for (int64_t w = 0; w < a->d; w++)
		sum -= xlogx(col[w]);
	a->total = a->total > 0 ? a->total : 1;
	for (int64_t i = 0; i < a->n; i++) {
		sum -= xlogx(a->rows[i]);
		a->rows[i] /= a->total;
	}
	/* with margins left to sum to the total: I = sum x log x - rows - columns, over the total, + log total */
	a->constant = sum / a->total + log(a->total);
	for (int64_t i = 0; i < a->d * a->c; i++)
		a->source[i] /= known > 0 ? known : 1;
	a->constant += a->lambda * information(a->source, a->d, a->c, a->logs);
done:
	kdri_free(ctx, col);
	return st;
}

/* (E4) */
static kdr_status first_labels(kdr_context *ctx, cocc *a, double unit, double mass)
{
	kdr_status st;
	int64_t c = a->c;
	double *logs = NULL, *sum = a->logs; /* c numbers of room */
	KDRI_TRY(KDRI_NEW(ctx, &logs, a->d * c));
	memset(sum, 0, (size_t)c * sizeof *sum);
	for (int64_t w = 0; w < a->d; w++)
		for (int64_t j = 0; j < c; j++)
			sum[j] += logs[w * c + j] = a->source[w * c + j] * mass + unit;
	for (int64_t i = 0; i < a->d * c; i++)
		logs[i] = log(logs[i] / sum[i % c]);
	KDRI_TRY(kdri_mat_mul(ctx, &a->set.set.x.view, logs, c, c, a->scores, c));
	for (int64_t i = 0; i < a->n; i++) {
		int64_t best = 0;
		for (int64_t j = 0; j < c; j++) {
			a->scores[i * c + j] += unit * log(a->set.share[j]);
			if (a->scores[i * c + j] > a->scores[i * c + best])
				best = j;
		}
		a->labels[i] = best;
	}
	sum_words(a);
done:
	kdri_free(ctx, logs);
	return st;
}

/* (E5) */
static kdr_status first_words(kdr_context *ctx, cocc *a)
{
	kdr_status st;
	int64_t c = a->c, width = 2 * c;
	double *profile = NULL, *weight = NULL;
	kdri_kmeans_result found = { 0 };
	kdri_kmeans_options o = kdri_kmeans_defaults(a->m);
	KDRI_TRY(KDRI_NEW0(ctx, &profile, a->d * width));
	KDRI_TRY(KDRI_NEW0(ctx, &weight, a->d));
	for (int64_t w = 0; w < a->d; w++) {
		const double *parts[2] = { a->by_word + w * c, a->source + w * c };
		for (int side = 0; side < 2; side++) {
			double sum = 0;
			for (int64_t j = 0; j < c; j++)
				sum += parts[side][j];
			for (int64_t j = 0; sum > 0 && j < c; j++)
				profile[w * width + side * c + j] = parts[side][j] / sum;
			weight[w] += sum;
		}
	}
	const kdr_mat x = kdr_mat_from_dense(profile, a->d, width);
	o.n_init = 1;
	KDRI_TRY(kdri_kmeans(ctx, &x, weight, &o, &found));
	memcpy(a->words, found.labels, (size_t)a->d * sizeof *a->words);
	cocc_join(a, a->by_word, a->joint);
	cocc_join(a, a->source, a->known);
	sum_rows(ctx, a);
done:
	KDRI_FREE(ctx, profile, weight);
	kdri_kmeans_free(ctx, &found);
	return st;
}

static kdr_status cocc_new(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result, cocc *a)
{
	double unit, mass;
	KDRI_DO(kdri_domains_new(ctx, problem, result, &a->set));
	int64_t n = a->n = a->set.n, d = a->d = a->set.set.d, c = a->c = a->set.classes;
	int64_t m = a->m = KDRI_MIN(kdri_opt_int(options, "words"), d);
	a->lambda = kdri_opt_real(options, "lambda");
	KDRI_DO(KDRI_NEW(ctx, &a->labels, n));
	KDRI_DO(KDRI_NEW(ctx, &a->words, d));
	KDRI_DO(KDRI_NEW0(ctx, &a->source, d * c));
	KDRI_DO(KDRI_NEW(ctx, &a->by_word, d * c));
	KDRI_DO(KDRI_NEW(ctx, &a->joint, c * m));
	KDRI_DO(KDRI_NEW(ctx, &a->known, c * m));
	KDRI_DO(KDRI_NEW0(ctx, &a->by_row, n * m));
	KDRI_DO(KDRI_NEW0(ctx, &a->rows, n));
	KDRI_DO(KDRI_NEW0(ctx, &a->scores, n * c));
	KDRI_DO(KDRI_NEW(ctx, &a->costs, d * m));
	KDRI_DO(KDRI_NEW(ctx, &a->logs, c * m));
	KDRI_DO(tabulate(ctx, a, &unit, &mass));
	KDRI_DO(first_labels(ctx, a, unit, mass));
	return first_words(ctx, a);
}

/* --- the method --------------------------------------------------------------------------------- */

static kdr_status cocc_iterate(kdr_context *ctx, cocc *a, int64_t most, double tol, kdr_result *result)
{
	double value = cocc_value_of(a), before;
	kdr_stop stop = KDR_STOP_MAX_ITER;
	int64_t done_so_far = 0;
	bool stopped = false;
	KDRI_DO(kdri_result_number(ctx, result, "objective_start", value));
	KDRI_DO(kdri_result_number(ctx, result, "information", a->constant));
	while (!stopped && stop == KDR_STOP_MAX_ITER && done_so_far < most) {
		before = value;
		KDRI_DO(step_words(ctx, a));
		KDRI_DO(step_rows(ctx, a));
		value = cocc_value_of(a);
		KDRI_DO(kdri_result_objective(ctx, result, value));
		if (before - value <= KDRI_MAX(tol, 1e-14) * a->constant)
			stop = KDR_STOP_CONVERGED;
		stopped = kdri_iteration(ctx, stage, ++done_so_far, most, value);
	}
	kdri_result_stop(result, stopped ? kdri_stop_reason(ctx) : stop, done_so_far);
	return KDR_OK;
}

static kdr_status cocc_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result *result)
{
	kdr_status st;
	cocc a = { .set.set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
	int64_t *words = NULL;
	KDRI_TRY(cocc_new(ctx, problem, options, result, &a));
	KDRI_TRY(cocc_iterate(ctx, &a, kdri_opt_int(options, "max_iter"), kdri_opt_real(options, "tol"),
	                      result));
	for (int64_t i = 0; i < a.n * a.c; i++)
		a.scores[i] = KDRI_MAX(a.scores[i], -1000);
	KDRI_TRY(kdri_domains_put(ctx, &a.set, a.scores, "scores", result));
	KDRI_TRY(kdri_result_array(ctx, result, "word_clusters", -1, KDR_INT64, 1, (int64_t[]){ a.d },
	                           &words));
	memcpy(words, a.words, (size_t)a.d * sizeof *words);
done:
	KDRI_FREE(ctx, a.labels, a.words, a.source, a.by_word, a.joint, a.known, a.by_row, a.rows, a.scores,
	          a.costs, a.logs);
	kdri_domains_free(ctx, &a.set);
	return st;
}

const kdri_algo kdri_algo_cocc = {
	.info = { .id = "cocc",
	          .class_name = "CoCC",
	          .title = "Co-clustering based classification",
	          .summary =
	                  "labels documents of another domain through word clusters that both domains share",
	          .objective =
	                  "J = I(D; W) - I(D^; W^) + lambda ( I(C; W) - I(C; W^) )\n"
	                  "I      mutual information\n"
	                  "D, W   unlabelled samples and features, with their values divided by their sum as joint distribution\n"
	                  "C      classes of the labelled samples, with the features\n"
	                  "D^     clusters of the unlabelled samples, one per class\n"
	                  "W^     clusters of the features, shared by all data sets\n"
	                  "lambda option lambda",
	          .steps = "1. each feature joins the feature cluster that loses the least information\n"
	                   "2. each sample joins the class that loses the least information",
	          .use = "Word counts whose words are partly new in the target.",
	          .cost = "O(nnz + (n + d) m classes) operations per iteration, m the number of feature clusters.",
	          .place = KDR_PLACE_PAPER,
	          .family = KDR_FAMILY_TRANSFER,
	          .flags = KDR_ALGO_JOINT | KDR_ALGO_MONOTONE | KDR_ALGO_NONNEG | KDR_ALGO_COUNTS,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = cocc_fit,
};
