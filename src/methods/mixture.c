/* Mixtures of numbers and categories as a method. SPDX-License-Identifier: BSD-3-Clause
 *
 * A cluster is normal in its numbers and multinomial in its categories, all independent; missing cells are skipped. Equations are
 * those of engine/mixture/mixture.c: (E1) of mixture.c to (E5) are an iteration, the objective is minus (E6), which never rises: the
 * log-likelihood and the logarithm of the pseudo-counts that keep shares, variances and levels off zero. The log-likelihood
 * itself (`loglik`) may fall by a small fraction of the latter.
 *
 * Each data set has its own mixture or, if pooled, all share one: one set of means, variances and levels, and shares
 * for each data set, with or without subtracting each data set's means. Starts are those of engine/mixture/starts.c,
 * or the given labels. If there are more than 20,000 rows, the starts use that many, evenly spaced; EM then continues
 * with all rows.
 *
 * [DLR77] A. P. Dempster, N. M. Laird, D. B. Rubin: Maximum likelihood from incomplete data via the EM algorithm. JRSS B
 *         39:1-38, 1977. */
#include "engine/mixture/mixture.h"
#include "api/method.h"
#include "comm/comm.h"
#include "methods/common/tasks.h"

enum { START_ROWS = 20000, MOST_CELLS = 100000000 };

static const char *const covariances[] = { "shared", "own", NULL };

static const char *const centrings[] = { "auto", "yes", "no", NULL };

static const kdr_option_desc options_table[] = {
	KDRI_CHOICE(
	        "covariance", 0, covariances,
	        "shared: one variance per numeric column for all clusters; own: each cluster has its own variances"),
	KDRI_CHOICE("centre", 0, centrings,
	            "with pooled data: subtract each data set's own means; auto: if that lowers the BIC"),
	KDRI_MAX_ITER(100),
	KDRI_REAL("tol", 1e-5, 0, 1,
	          "stop when the log-likelihood changes by less than this fraction of itself"),
	{ .name = NULL },
};

static const kdr_field_desc fields_table[] = {
	KDRI_ARRAY("probability", KDR_FLOAT64, "n x k", "posterior probability of each cluster",
	           .per_task = true, .scoring = KDR_SCORING_SHARES),
	KDRI_MIXTURE_FIELDS,
	{ .name = NULL },
};

static const char *const references_table[] = {
	"A. P. Dempster, N. M. Laird, D. B. Rubin: Maximum likelihood from incomplete data via the EM algorithm. JRSS B 39:1-38, 1977.",
	NULL,
};

typedef struct mixture_run {
	const kdr_problem *problem;
	const kdr_options *options;
	kdri_mixed all, some; /* rows of this rank; rows to start from, on every rank */
	bool whole;           /* `some` are all rows, and so may be empty: use `all` */
	double *means;        /* tables x numbers */
	int64_t *labels;      /* n */
} mixture_run;

static kdri_mixture_options mixture_options(const mixture_run *r, int64_t k)
{
	kdri_mixture_options o = kdri_mixture_options_of(k, kdri_opt_choice(r->options, "covariance") == 0);
	o.max_iter = kdri_opt_int(r->options, "max_iter");
	o.tol = kdri_opt_real(r->options, "tol");
	return o;
}

/* The labels that the caller gave to data set s, or to all (-1); NULL: none. */
static kdr_status given_labels(kdr_context *ctx, const mixture_run *r, int64_t s, int64_t **out)
{
	const int64_t first = s < 0 ? 0 : s, last = s < 0 ? r->all.tables : s + 1;
	for (int64_t t = first; t < last; t++)
		if (!r->problem->tasks[t].init)
			return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, out, r->all.begin[last] - r->all.begin[first]));
	for (int64_t t = first, at = 0; t < last; t++) {
		const int64_t n = r->all.begin[t + 1] - r->all.begin[t];
		memcpy(*out + at, r->problem->tasks[t].init, (size_t)n * sizeof **out);
		at += n;
	}
	return KDR_OK;
}

/* The best start, on rows that all ranks have. */
static kdr_status mixture_search(kdr_context *ctx, const mixture_run *r, int64_t s, int64_t k,
                                 kdri_mixture *out)
{
	kdr_status st;
	const kdri_mixed *m = r->some.n > 0 ? &r->some : &r->all;
	const int64_t begin = s < 0 ? 0 : m->begin[s], end = s < 0 ? m->n : m->begin[s + 1];
	const kdri_mixture_options o = mixture_options(r, k);
	kdri_encoded e = { 0 };
	kdri_starts starts = { 0 };
	kdri_mixed_part part = { 0 };
	int64_t *labels = NULL;
	KDRI_TRY(kdri_encoded_new(ctx, m, s < 0, begin, end, &e));
	KDRI_TRY(kdri_starts_new(ctx, &e, begin, end, k, s >= 0, false, (uint64_t)(s + 1), &starts));
	KDRI_TRY(KDRI_NEW(ctx, &labels, end - begin));
	KDRI_TRY(s < 0 ? kdri_mixed_pool_new(ctx, m, &part) : kdri_mixed_part_new(ctx, m, s, &part));
	KDRI_TRY(kdri_best_mixture(ctx, &part.data, &o, &starts, out, labels));
done:
	kdri_mixed_part_free(ctx, &part);
	kdri_encoded_free(ctx, &e);
	KDRI_FREE(ctx, starts.labels, labels);
	return st;
}

/* The mixture of data set s, or of all (-1), and `probability` of its rows. */
static kdr_status mixture_run_one(kdr_context *ctx, mixture_run *r, int64_t s, int64_t k, kdri_mixture *out,
                                  double *probability)
{
	kdr_status st;
	const kdri_mixture_options o = mixture_options(r, k);
	kdri_mixture found = { 0 };
	kdri_mixed_part part = { 0 };
	int64_t *start = NULL, *labels = r->labels + (s < 0 ? 0 : r->all.begin[s]);
	KDRI_TRY(s < 0 ? kdri_mixed_pool_new(ctx, &r->all, &part)
	               : kdri_mixed_part_new(ctx, &r->all, s, &part));
	KDRI_TRY(given_labels(ctx, r, s, &start));
	if (start) {
		KDRI_TRY(kdri_mixture_fit(ctx, &part.data, &o, start, out, labels, probability));
		goto done;
	}
	kdri_apart(ctx);
	st = mixture_search(ctx, r, s, k, &found);
	kdri_rejoin(ctx);
	KDRI_TRY(kdri_agree(ctx, st));
	if (r->whole) {
		KDRI_TRY(kdri_mixture_assign(ctx, &part.data, &found, -1, labels, probability));
		*out = found;
		found = (kdri_mixture){ 0 };
	} else {
		KDRI_TRY(kdri_mixture_refit(ctx, &part.data, &o, &found, out, labels, probability));
	}
done:
	kdri_mixture_free(ctx, &found);
	kdri_mixed_part_free(ctx, &part);
	kdri_free(ctx, start);
	return st;
}

/* Labels, probabilities and model of data set s. */
static kdr_status mixture_put(kdr_context *ctx, const mixture_run *r, int64_t s, const kdri_mixture *m,
                              bool pooled, const double *probability, kdr_result *result)
{
	const int64_t begin = r->all.begin[s], n = r->all.begin[s + 1] - begin;
	const kdri_mixture_member member = { .mixture = m, .pooled = pooled };
	int64_t *labels = NULL;
	double *to = NULL;
	KDRI_DO(kdri_result_labels(ctx, result, s, &labels));
	memcpy(labels, r->labels + begin, (size_t)n * sizeof *labels);
	KDRI_DO(kdri_result_array(ctx, result, "probability", s, KDR_FLOAT64, 2, (int64_t[]){ n, m->k },
	                          &to));
	memcpy(to, probability, (size_t)(n * m->k) * sizeof *to);
	KDRI_DO(kdri_mixture_save(ctx, &r->all, s, &member, 1, r->means + s * r->all.numbers, result));
	if (!pooled)
		KDRI_DO(kdri_result_task_number(ctx, result, s, "loglik", m->loglik));
	return KDR_OK;
}

static kdr_status find_centring(kdr_context *ctx, mixture_run *r)
{
	kdr_status st = KDR_OK;
	const int wanted = kdri_opt_choice(r->options, "centre");
	bool centred = wanted == 1;
	if (wanted == 0 && r->problem->pooled) {
		kdri_apart(ctx);
		st = kdri_mixed_find_centring(ctx, r->some.n > 0 ? &r->some : &r->all, r->problem->tasks[0].k,
		                              &centred, NULL);
		kdri_rejoin(ctx);
		KDRI_TRY(kdri_agree(ctx, st));
	}
	r->all.centred = r->some.centred = centred;
done:
	return st;
}

static kdr_status mixture_run_all(kdr_context *ctx, mixture_run *r, kdr_result *result)
{
	kdr_status st;
	const kdr_problem *problem = r->problem;
	const int64_t parts = problem->pooled ? 1 : problem->ntasks;
	kdri_mixture *mixtures = NULL;
	kdri_trace *traces = NULL;
	double *probability = NULL;
	int64_t most = 0, size;
	double cells = 0;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		most = KDRI_MAX(most, problem->tasks[t].k);
		cells += (double)kdr_mat_rows(&problem->tasks[t].x) *
		         (double)kdr_mat_cols(&problem->tasks[t].x);
	}
	/* Very wide data take seconds to read, and there is no result yet: the run fails if it must stop here. */
	const bool before = ctx->abandon;
	ctx->abandon = !kdri_together(ctx) && cells > MOST_CELLS;
	st = kdri_mixed_new(ctx, problem, &r->all);
	ctx->abandon = before;
	KDRI_TRY(st);
	KDRI_TRY(kdri_mixed_some(ctx, &r->all, START_ROWS, &r->some, &r->whole));
	KDRI_TRY(find_centring(ctx, r));
	KDRI_TRY(KDRI_NEW0(ctx, &r->means, problem->ntasks * r->all.numbers));
	KDRI_TRY(kdri_mixed_means(ctx, &r->all, r->means));
	KDRI_TRY(kdri_mul(ctx, r->all.n, most, &size));
	KDRI_TRY(KDRI_NEW(ctx, &probability, size));
	KDRI_TRY(KDRI_NEW(ctx, &r->labels, r->all.n));
	KDRI_TRY(KDRI_NEW0(ctx, &mixtures, parts));
	KDRI_TRY(KDRI_NEW0(ctx, &traces, parts));
	KDRI_TRY(kdri_mixture_save_columns(ctx, &r->all, result));
	for (int64_t s = 0; s < parts; s++) {
		kdri_mixture *m = &mixtures[s];
		KDRI_TRY(mixture_run_one(ctx, r, problem->pooled ? -1 : s, problem->tasks[s].k, m,
		                         probability));
		for (int64_t i = 0; i < m->iterations; i++) /* what falls */
			m->values[i] = -m->values[i];
		traces[s] = (kdri_trace){ m->iterations > 0 ? m->values[0] : 0, m->values, m->iterations,
			                  m->stop, 1 };
		for (int64_t t = problem->pooled ? 0 : s; t < (problem->pooled ? problem->ntasks : s + 1);
		     t++)
			KDRI_TRY(mixture_put(ctx, r, t, m, problem->pooled,
			                     probability + (problem->pooled ? r->all.begin[t] * m->k : 0),
			                     result));
	}
	if (problem->pooled)
		KDRI_TRY(kdri_result_number(ctx, result, "loglik", mixtures[0].loglik));
	KDRI_TRY(kdri_put_traces(ctx, traces, parts, result));
done:
	for (int64_t s = 0; mixtures && s < parts; s++)
		kdri_mixture_free(ctx, &mixtures[s]);
	KDRI_FREE(ctx, mixtures, traces, probability);
	return st;
}

static kdr_status mixture_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                              kdr_result *result)
{
	mixture_run r = { .problem = problem, .options = options };
	kdr_status st = mixture_run_all(ctx, &r, result);
	kdri_mixed_free(ctx, &r.all);
	kdri_mixed_free(ctx, &r.some);
	KDRI_FREE(ctx, r.means, r.labels);
	return st;
}

static kdr_status mixture_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                                  int64_t task, const kdr_mat *x, int64_t *labels)
{
	(void)options;
	return kdri_mixture_predict(ctx, fitted, task, x, labels, NULL);
}

const kdri_algo kdri_algo_mixture = {
	.info = { .id = "mixture",
	          .class_name = "Mixture",
	          .title = "Mixture of distributions for tables",
	          .summary =
	                  "EM for tables of numbers and categories, each data set alone or all pooled; missing values are skipped",
	          .objective =
	                  "J = - sum_i ln sum_c pi_tc prod_j p(x_ij | c)^u_j - R\n"
	                  "R      logarithm of the pseudo-counts: sum_tc ln pi_tc + sum_j u_j sum_cl f_jl ln theta_jcl, and with covariance=own - 1/2 sum_j u_j sum_c (ln v_cj + g_j / (2 v_cj))\n"
	                  "x_ij   value of column j in row i of table t; missing values are skipped\n"
	                  "pi_tc  proportion of cluster c in table t (array table_shares)\n"
	                  "p      normal density with mean m_cj and variance v_cj for numbers, theta_jcl of level l for categories\n"
	                  "u_j    weight of column j: 1, or 1/g if g columns repeat each other (array table_weights)\n"
	                  "g_j    variance of column j\n"
	                  "f_jl   proportion of level l in column j",
	          .steps = "1. probability of each cluster for each row, from pi, m, v and theta\n"
	                   "2. pi, m, v and theta from these probabilities, with the pseudo-counts",
	          .use = "Tables of numbers and categories, also with missing values, whose columns are nearly independent within a cluster.",
	          .cost = "O(n k columns) per iteration. With more than 20,000 rows, the starts use that many.",
	          .family = KDR_FAMILY_CLUSTER,
	          .flags = KDR_ALGO_POOLED | KDR_ALGO_MONOTONE | KDR_ALGO_PREDICT | KDR_ALGO_TABLES |
	                   KDR_ALGO_RECIPE,
	          .options = options_table,
	          .fields = fields_table,
	          .references = references_table },
	.fit = mixture_fit,
	.predict = mixture_predict,
	.ranks = true,
};
