/* kdr_fit: checks a problem once and passes it to its method. SPDX-License-Identifier: BSD-3-Clause */
#include "api/fitting.h"
#include "api/known.h"
#include "api/number.h"
#include "api/result.h"
#include "comm/comm.h"
#include "core/classes.h"
#include "matrix/blas.h"
#include "matrix/linalg.h"
#include "matrix/traits.h"

static kdr_status check_labels(kdr_context *ctx, const kdr_task *t, const int64_t *labels, int64_t low,
                               int64_t count, const char *what)
{
	int64_t n = kdr_mat_rows(&t->x);
	for (int64_t i = 0; i < n; i++)
		if (labels[i] < low || labels[i] >= count)
			return kdri_fail(ctx, KDR_ERR_DATA,
			                 "data set %s: %s of row %lld is %lld, but %lld to %lld are allowed",
			                 kdri_task_name(t), what, (long long)i + 1, (long long)labels[i],
			                 (long long)low, (long long)count - 1);
	return KDR_OK;
}

static kdr_status check_shape(kdr_context *ctx, const kdr_task *t)
{
	int64_t n = kdr_mat_rows(&t->x), d = kdr_mat_cols(&t->x);
	if ((n < 1 && !kdri_together(ctx)) || d < 1)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "data set %s has %lld rows and %lld columns; at least one of each is needed",
		                 kdri_task_name(t), (long long)n, (long long)d);
	if (t->x.kind != KDR_MAT_CSR) {
		if (!t->x.as.dense.data || t->x.as.dense.stride < d)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "data set %s: the dense matrix has no data, or its stride is less than its %lld columns",
			        kdri_task_name(t), (long long)d);
		return KDR_OK;
	}
	const kdr_csr *a = &t->x.as.csr;
	if (!a->rowptr || a->rowptr[0] != 0 || d > INT32_MAX || (a->rowptr[n] > 0 && (!a->col || !a->val)))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set %s: malformed sparse matrix; row pointers must begin with 0, and columns and values must not be NULL",
		        kdri_task_name(t));
	/* All of the row pointers first: the columns are only safe to read where these are right. */
	for (int64_t i = 0; i < n; i++)
		if (a->rowptr[i + 1] < a->rowptr[i])
			return kdri_fail(ctx, KDR_ERR_ARGUMENT,
			                 "data set %s: the row pointers decrease at row %lld",
			                 kdri_task_name(t), (long long)i + 1);
	for (int64_t i = 0; i < n; i++)
		for (int64_t p = a->rowptr[i]; p < a->rowptr[i + 1]; p++)
			if (a->col[p] < 0 || a->col[p] >= d ||
			    (p > a->rowptr[i] && a->col[p] <= a->col[p - 1]))
				return kdri_fail(
				        ctx, KDR_ERR_ARGUMENT,
				        "data set %s: the columns of row %lld are not increasing numbers from 0 to %lld",
				        kdri_task_name(t), (long long)i + 1, (long long)d - 1);
	return KDR_OK;
}

static kdr_status check_nonnegative(kdr_context *ctx, const kdr_algo *algo, const kdr_task *t,
                                    const kdr_data *data)
{
	char name[KDRI_ROW_NAME];
	const kdr_mat *x = &t->x;
	for (int64_t i = 0; i < kdr_mat_rows(x); i++) {
		kdri_entries row = kdri_row_entries(x, i);
		for (int64_t p = 0; p < row.count; p++)
			if (row.val[p] < 0) {
				kdri_snprintf(name, sizeof name, "row %lld", (long long)i + 1);
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "data set %s: %s, column %lld is %g, but method '%s' needs values >= 0; use --scale minmax",
				        kdri_task_name(t), data ? kdri_row_name(data, i, name) : name,
				        (long long)kdri_entry_column(&row, p) + 1, row.val[p], algo->id);
			}
	}
	return KDR_OK;
}

/* The parts that ranks have of a task fit together. *all: the rows of all of them. */
static kdr_status check_ranks(kdr_context *ctx, const kdr_task *t, int64_t *all)
{
	kdr_status st;
	KDRI_TRY(kdri_part(ctx, kdr_mat_rows(&t->x), NULL, all));
	int64_t d = kdr_mat_cols(&t->x), sparse = t->x.kind == KDR_MAT_CSR;
	int64_t has = 4 * sparse + 2 * (t->weights != NULL) + (t->init != NULL);
	int64_t ends[] = { d, has, t->k, -d, -has, -t->k };
	KDRI_TRY(kdri_max_int(ctx, ends, 6));
	if (*all < 1)
		st = kdri_fail(ctx, KDR_ERR_DATA, "data set %s: no rank has a row of it", kdri_task_name(t));
	else if (ends[0] != -ends[3] || ends[1] != -ends[4] || ends[2] != -ends[5])
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "data set %s: the parts on different ranks do not match (%lld to %lld columns); all must be dense or all sparse, with the same columns, the same k, and weights and initial labels on all ranks or on none",
		        kdri_task_name(t), (long long)-ends[3], (long long)ends[0]);
done:
	return st;
}

kdr_status kdri_check_k(kdr_context *ctx, const kdr_algo *algo, const kdr_task *t, int64_t samples)
{
	if (algo->family != KDR_FAMILY_CLUSTER)
		return KDR_OK;
	if (t->k < (algo->flags & KDR_ALGO_AUTO_K ? 0 : 1))
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set %s: method '%s' needs -k, the number of clusters; it must be at least 1",
		        kdri_task_name(t), algo->id);
	if (t->k > samples)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "data set %s: cannot form %lld clusters from %lld sample%s; use a k of at most %lld",
		        kdri_task_name(t), (long long)t->k, (long long)samples, samples == 1 ? "" : "s",
		        (long long)samples);
	return KDR_OK;
}

kdr_status kdri_check_entries(kdr_context *ctx, const kdr_algo *algo, const kdr_task *t, const kdr_data *data,
                              bool missing)
{
	const kdri_traits traits = kdri_traits_here(ctx, &t->x);
	if (traits.infinite) /* says where */
		KDRI_DO(kdri_mat_check_values(ctx, &t->x, kdri_task_name(t), data, missing));
	return (algo->flags & KDR_ALGO_NONNEG) && traits.negative ? check_nonnegative(ctx, algo, t, data)
	                                                          : KDR_OK;
}

static kdr_status check_task(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                             const kdr_task *t)
{
	int64_t n = kdr_mat_rows(&t->x), all;
	KDRI_DO(check_ranks(ctx, t, &all));
	KDRI_DO(kdri_check_entries(ctx, algo, t, NULL, problem->category != NULL));
	KDRI_DO(kdri_check_k(ctx, algo, t, all));
	if (t->init && t->k == 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "data set %s: initial labels need a specified k",
		                 kdri_task_name(t));
	if (t->init)
		KDRI_DO(check_labels(ctx, t, t->init, 0, t->k, "initial label"));
	if (t->labels)
		KDRI_DO(check_labels(ctx, t, t->labels, -1, problem->classes, "class"));
	if (t->weights) {
		if (!(algo->flags & KDR_ALGO_WEIGHTS))
			return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
			                 "method '%s' does not support sample weights", algo->id);
		double total = 0;
		for (int64_t i = 0; i < n; i++) {
			if (!(t->weights[i] >= 0 && isfinite(t->weights[i])))
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "data set %s: the weight of row %lld is %g; use a finite number >= 0",
				        kdri_task_name(t), (long long)i + 1, t->weights[i]);
			total += t->weights[i];
		}
		KDRI_DO(kdri_sum(ctx, &total, 1));
		if (total <= 0)
			return kdri_fail(ctx, KDR_ERR_DATA, "data set %s: all weights are zero",
			                 kdri_task_name(t));
	}
	return KDR_OK;
}

static kdr_status check_shapes(kdr_context *ctx, const kdr_problem *problem)
{
	if (!problem || problem->ntasks < 1 || !problem->tasks)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "no data set was given; at least one is needed");
	for (int64_t t = 0; t < problem->ntasks; t++)
		KDRI_DO(check_shape(ctx, &problem->tasks[t]));
	return KDR_OK;
}

/* The methods of a family that have a flag or, if `flag` is 0, support rows on several ranks. */
static void list_methods(kdr_family family, unsigned flag, char *out, size_t room)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = 0; i < kdr_algo_count() && used < room; i++) {
		const kdr_algo *a = kdr_algo_at(i);
		if (a->family == family && (flag ? (a->flags & flag) != 0 : kdri_algo_of(a)->ranks))
			used += (size_t)kdri_snprintf(out + used, room - used, "%s%s", used ? ", " : "",
			                              a->id);
	}
}

/* Known classes of samples that are to be clustered. */
static kdr_status check_known(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem)
{
	if (algo->family != KDR_FAMILY_CLUSTER || !kdri_has_known_classes(problem))
		return KDR_OK;
	if (!(algo->flags & KDR_ALGO_KNOWN)) {
		char list[300];
		list_methods(algo->family, KDR_ALGO_KNOWN, list, sizeof list);
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "method '%s' does not use known classes; use one of: %s", algo->id, list);
	}
	if (kdri_several(ctx))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
		                 "known classes are not available under mpirun; start a single process");
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		bool any = false;
		for (int64_t i = 0; task->labels && i < kdr_mat_rows(&task->x); i++)
			any = any || task->labels[i] >= 0;
		if (any && task->k > 0 && problem->classes > task->k)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "data set %s: k is %lld, but %lld classes are known; use a k of at least %lld",
			        kdri_task_name(task), (long long)task->k, (long long)problem->classes,
			        (long long)problem->classes);
	}
	return KDR_OK;
}

static kdr_status check_problem(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem)
{
	bool together = problem->pooled || (algo->flags & KDR_ALGO_JOINT);
	if (problem->pooled && !(algo->flags & KDR_ALGO_POOLED))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "method '%s' cannot pool data sets", algo->id);
	const kdr_task *first = &problem->tasks[0];
	if (problem->category && !(algo->flags & KDR_ALGO_TABLES))
		return kdri_fail(ctx, KDR_ERR_UNSUPPORTED, "method '%s' does not support categories",
		                 algo->id);
	for (int64_t i = 0; i < problem->ntasks; i++) {
		const kdr_task *t = &problem->tasks[i];
		kdr_status st = check_task(ctx, algo, problem, t);
		if (st == KDR_OK && problem->category && t->x.kind != KDR_MAT_DENSE)
			st = kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
			               "data set %s is sparse, but tables must be dense", kdri_task_name(t));
		if (st != KDR_OK)
			return st;
		if (together && algo->family != KDR_FAMILY_TRANSFER &&
		    kdr_mat_cols(&t->x) != kdr_mat_cols(&first->x))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "data set %s has %lld columns, but data set %s has %lld; align them first",
			        kdri_task_name(t), (long long)kdr_mat_cols(&t->x), kdri_task_name(first),
			        (long long)kdr_mat_cols(&first->x));
		if ((problem->pooled || (algo->flags & KDR_ALGO_SAME_K)) &&
		    algo->family == KDR_FAMILY_CLUSTER && t->k != first->k)
			return kdri_fail(
			        ctx, KDR_ERR_ARGUMENT,
			        "data set %s has k = %lld, but data set %s has k = %lld; %s needs the same k for all",
			        kdri_task_name(t), (long long)t->k, kdri_task_name(first),
			        (long long)first->k, problem->pooled ? "pooling" : algo->id);
	}
	return check_known(ctx, algo, problem);
}

/* With fewer different rows than clusters, identical samples end in different clusters, or clusters are empty. Tasks
 * that share clusters need not have samples in all of them. */
static kdr_status warn_duplicates(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                                  kdr_result *result)
{
	bool own = algo->family == KDR_FAMILY_CLUSTER && !(algo->flags & KDR_ALGO_SHARED_CLUSTERS) &&
	           !problem->pooled;
	for (int64_t t = 0; t < problem->ntasks && own; t++) {
		const kdr_task *task = &problem->tasks[t];
		int64_t distinct, k = kdr_result_k(result, t);
		KDRI_DO(kdri_rows_distinct(ctx, &task->x, task->weights, k, &distinct));
		if (distinct < k)
			KDRI_DO(kdri_result_warn(
			        ctx, result,
			        "data set %s has only %lld distinct sample%s for k = %lld; some clusters are empty or share identical samples",
			        kdri_task_name(task), (long long)distinct, distinct == 1 ? "" : "s",
			        (long long)k));
	}
	return KDR_OK;
}

/* One line for a data set of which a cluster has nearly all samples, or hardly any. There is no warning if a single
 * sample is more than 1 % of all; with more than 50 clusters, few means less than half of the mean size. Methods mention
 * empty clusters. */
static kdr_status warn_sizes(kdr_context *ctx, const kdr_algo *algo, const kdr_problem *problem,
                             kdr_result *result)
{
	kdr_status st = KDR_OK;
	int64_t *sizes = NULL;
	for (int64_t t = 0; t < problem->ntasks && algo->family == KDR_FAMILY_CLUSTER; t++) {
		int64_t n, all, k = kdr_result_k(result, t), least = INT64_MAX, most = 0;
		const int64_t *labels = kdr_result_labels(result, t, &n);
		if (k < 2)
			continue;
		KDRI_TRY(KDRI_NEW0(ctx, &sizes, k));
		for (int64_t i = 0; i < n; i++)
			sizes[labels[i]]++;
		KDRI_TRY(kdri_sum_int(ctx, sizes, k));
		KDRI_TRY(kdri_part(ctx, n, NULL, &all));
		for (int64_t c = 0; c < k; c++) {
			most = KDRI_MAX(most, sizes[c]);
			least = sizes[c] > 0 ? KDRI_MIN(least, sizes[c]) : least;
		}
		kdri_free(ctx, sizes);
		sizes = NULL;
		const double total = (double)all, large = (double)most / total, small = (double)least / total;
		const bool nearly_all = large > 0.9, hardly_any = small < KDRI_MIN(0.01, 0.5 / (double)k);
		if (all < 100 || (!nearly_all && !hardly_any))
			continue;
		char text[128], of_all[48] = "";
		if (!nearly_all)
			kdri_snprintf(of_all, sizeof of_all, " of %lld samples", (long long)all);
		int used = nearly_all ? kdri_snprintf(text, sizeof text, "%lld of %lld samples (%.3g %%)",
		                                      (long long)most, (long long)all, 100 * large)
		                      : 0;
		if (hardly_any)
			kdri_snprintf(text + used, sizeof text - (size_t)used, "%s%lld%s (%.2g %%)",
			              nearly_all ? ", another only " : "only ", (long long)least, of_all,
			              100 * small);
		KDRI_TRY(kdri_result_warn(ctx, result, "data set %s: one cluster has %s",
		                          kdri_task_name(&problem->tasks[t]), text));
	}
done:
	kdri_free(ctx, sizes);
	return st;
}

/* Some methods support rows on several ranks; the error of the others lists them. */
kdr_status kdri_check_ranks(kdr_context *ctx, const kdri_algo *algo)
{
	char list[300];
	if (!kdri_several(ctx) || algo->ranks)
		return KDR_OK;
	list_methods(algo->info.family, 0, list, sizeof list);
	return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
	                 "method '%s' needs all rows in one process; under mpirun, use one of: %s",
	                 algo->info.id, list);
}

/* Classes that are given for samples of a target are its labels, whatever the method makes of them. */
static void keep_given_classes(const kdr_problem *problem, kdr_result *result)
{
	const bool classes = result->algo->family == KDR_FAMILY_TRANSFER &&
	                     !(result->algo->flags & KDR_ALGO_CLUSTERS_TARGET);
	for (int64_t t = 0; classes && t < result->ntasks; t++) {
		const int64_t *given = problem->tasks[t].labels;
		int64_t *labels = result->tasks[t].labels;
		for (int64_t i = 0; given && labels && i < result->tasks[t].n; i++)
			labels[i] = given[i] >= 0 ? given[i] : labels[i];
	}
}

static kdr_status warn_scaled(kdr_context *ctx, const kdri_scaled *p, kdr_result *result)
{
	if (p->exponent == 0)
		return KDR_OK;
	kdri_result_set_exponent(result, p->exponent);
	return kdri_result_warn(
	        ctx, result,
	        "the largest value is about %.1e, so all values were multiplied by 2^%d before the fit; arrays and objective refer to the multiplied values%s",
	        ldexp(0.75, p->exponent), -p->exponent,
	        p->exponent > 0 ? " (if it stands for a missing value, specify it with --na)" : "");
}

/* All ranks learn if one of them fails, even if it lacks the memory for options. */
kdr_status kdri_fit_begin(kdr_context *ctx, const kdri_algo *algo, const kdr_problem *problem,
                          const kdr_options *options, kdri_fitting *f)
{
	*f = (kdri_fitting){ .algo = algo, .problem = problem, .method = ctx->method, .entered = true };
	ctx->method = algo->info.id;
	kdri_enter(ctx);
	if (!options)
		KDRI_DO(kdri_options_new(ctx, algo, NULL, &f->defaults));
	f->options = options ? options : f->defaults;
	f->start = kdri_now();
	KDRI_DO(kdri_check_ranks(ctx, algo));
	KDRI_DO(kdri_blas_reserve(ctx));
	KDRI_DO(check_shapes(ctx, problem));
	KDRI_DO(kdri_inspect(ctx, problem, &f->seen));
	KDRI_DO(check_problem(ctx, &algo->info, problem));
	KDRI_DO(kdri_options_fit_tasks(ctx, f->options, problem->ntasks));
	KDRI_DO(kdri_result_new(ctx, &algo->info, problem, &f->result));
	KDRI_DO(kdri_result_about(ctx, f->result, problem, f->options));
	f->exchanges = ctx->comm ? ctx->comm->exchanges : 0;
	f->bytes = ctx->comm ? ctx->comm->bytes : 0;
	KDRI_DO(kdri_scaled_new(ctx, problem, &f->scaled));
	KDRI_DO(warn_scaled(ctx, &f->scaled, f->result));
	f->stage = true;
	kdri_stage_start(ctx, algo->info.id, 0);
	return KDR_OK;
}

static kdr_status complete(kdr_context *ctx, kdri_fitting *f)
{
	kdr_result *result = f->result;
	const kdr_algo *algo = &f->algo->info;
	KDRI_DO(kdri_number_clusters(ctx, f->problem, result));
	result->sweeps = (algo->flags & KDR_ALGO_SWEEPS) && !kdri_options_is_set(f->options, "tol");
	KDRI_DO(warn_duplicates(ctx, algo, f->problem, result));
	KDRI_DO(warn_sizes(ctx, algo, f->problem, result));
	kdri_scaled_free(ctx, &f->scaled);
	keep_given_classes(f->problem, result);
	KDRI_DO(kdri_result_count(ctx, result));
	KDRI_DO(kdri_known_put(ctx, f->problem, result));
	if (kdri_together(ctx)) { /* what rank 0 sent while it fitted */
		KDRI_DO(kdri_result_number(ctx, result, "ranks", kdri_ranks(ctx)));
		KDRI_DO(kdri_result_number(ctx, result, "exchanges",
		                           (double)(ctx->comm->exchanges - f->exchanges)));
		KDRI_DO(kdri_result_number(ctx, result, "bytes_sent", (double)(ctx->comm->bytes - f->bytes)));
	}
	result->seconds.fit = kdri_now() - f->start;
	return KDR_OK;
}

kdr_status kdri_fit_end(kdr_context *ctx, kdri_fitting *f, kdr_status st, kdr_result **out)
{
	if (!f->entered)
		return st;
	if (f->stage)
		kdri_stage_end(ctx, f->algo->info.id);
	if (st == KDR_OK)
		st = complete(ctx, f);
	kdri_scaled_free(ctx, &f->scaled);
	kdri_inspect_end(ctx, &f->seen);
	st = kdri_leave(ctx, st);
	if (st == KDR_OK) {
		*out = f->result;
		f->result = NULL;
	}
	kdr_result_free(f->result);
	kdr_options_free(f->defaults);
	ctx->method = f->method;
	*f = (kdri_fitting){ 0 };
	return st;
}

static kdr_status fit_together(kdr_context *ctx, const kdri_algo *algo, const kdr_problem *problem,
                               const kdr_options *options, kdr_result **out)
{
	kdri_fitting f;
	kdr_status st = kdri_fit_begin(ctx, algo, problem, options, &f);
	if (st == KDR_OK)
		st = algo->fit(ctx, &f.scaled.problem, f.options, f.result);
	return kdri_fit_end(ctx, &f, st, out);
}

kdr_status kdri_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                    kdr_result **out)
{
	return fit_together(ctx, kdri_options_algo(options), problem, options, out);
}

kdr_status kdr_fit(kdr_context *ctx, const char *algo_id, const kdr_problem *problem,
                   const kdr_options *options, kdr_result **out)
{
	const kdri_algo *algo = algo_id ? kdri_algo_find(algo_id) : NULL;
	kdr_problem own;
	KDRI_NEED(ctx, algo_id && problem && out);
	if (!algo)
		return kdri_algo_unknown(ctx, algo_id, NULL);
	if (options && kdri_options_algo(options) != algo)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "the options are for method '%s', not '%s'",
		                 kdr_options_algo(options)->id, algo->info.id);
	kdr_status st = KDRI_TAKE(ctx, kdr_problem, problem, &own);
	return st == KDR_OK ? fit_together(ctx, algo, &own, options, out) : st;
}

kdr_status kdri_fit_member(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdr_result **out)
{
	kdr_status st;
	const kdri_algo *algo = kdri_options_algo(options);
	kdr_result *result = NULL;
	const char *method = ctx->method;
	ctx->method = algo->info.id;
	KDRI_TRY(kdri_result_new(ctx, &algo->info, problem, &result));
	kdri_stage_start(ctx, algo->info.id, 0);
	st = algo->fit(ctx, problem, options, result);
	kdri_stage_end(ctx, algo->info.id);
	KDRI_TRY(st);
	KDRI_TRY(kdri_number_clusters(ctx, problem, result));
	*out = result;
	result = NULL;
done:
	ctx->method = method;
	kdr_result_free(result);
	return st;
}
