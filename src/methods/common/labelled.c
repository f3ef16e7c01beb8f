/* The samples of a transfer problem, stacked. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/common/labelled.h"
#include "api/method.h"
#include "comm/comm.h"
#include "engine/linear/linear.h"

/* The samples of a transfer problem, by data set. */

kdr_status kdri_domains_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                            kdri_domains *out)
{
	kdr_status st;
	kdri_domains d = { .set.x.view = kdr_mat_from_dense(NULL, 0, 0), .ntasks = problem->ntasks };
	int64_t *number = NULL;
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &d.set));
	d.n = d.set.n;
	KDRI_TRY(KDRI_NEW0(ctx, &d.begin, d.ntasks + 1));
	KDRI_TRY(KDRI_NEW(ctx, &d.class_of, problem->classes));
	KDRI_TRY(KDRI_NEW(ctx, &number, problem->classes));
	KDRI_TRY(KDRI_NEW0(ctx, &d.share, problem->classes));
	KDRI_TRY(KDRI_NEW(ctx, &d.labels, d.n));
	KDRI_TRY(KDRI_NEW(ctx, &d.source, d.n));
	KDRI_TRY(KDRI_NEW(ctx, &d.unlabelled, d.n));
	for (int64_t c = 0; c < problem->classes; c++) {
		if (d.set.counts[c] == 0)
			continue;
		d.share[d.classes] = (double)d.set.counts[c] / (double)d.set.known;
		number[c] = d.classes;
		d.class_of[d.classes++] = c;
	}
	for (int64_t t = 0; t < d.ntasks; t++) {
		d.begin[t + 1] = d.begin[t] + kdr_mat_rows(&problem->tasks[t].x);
		for (int64_t i = d.begin[t]; i < d.begin[t + 1]; i++) {
			d.labels[i] = d.set.labels[i] >= 0 ? number[d.set.labels[i]] : -1;
			d.source[i] = problem->tasks[t].role == KDR_ROLE_SOURCE;
			d.unlabelled[i] = d.labels[i] < 0 && !d.source[i];
			d.known += d.labels[i] >= 0;
			d.wanted += d.unlabelled[i];
		}
	}
	*out = d;
	d = (kdri_domains){ .set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, number);
	kdri_domains_free(ctx, &d);
	return st;
}

void kdri_domains_free(kdr_context *ctx, kdri_domains *d)
{
	kdri_labelled_free(ctx, &d->set);
	KDRI_FREE(ctx, d->begin, d->class_of, d->share, d->labels, d->source, d->unlabelled);
	*d = (kdri_domains){ .set.x.view = kdr_mat_from_dense(NULL, 0, 0) };
}

kdr_status kdri_domains_put(kdr_context *ctx, const kdri_domains *d, const double *posterior,
                            const char *name, kdr_result *result)
{
	kdr_status st;
	double *all = NULL;
	int64_t size;
	KDRI_TRY(kdri_mul(ctx, d->n, d->set.classes, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &all, size));
	for (int64_t i = 0; i < d->n; i++)
		for (int64_t c = 0; c < d->classes; c++)
			all[i * d->set.classes + d->class_of[c]] = posterior[i * d->classes + c];
	KDRI_TRY(kdri_labelled_put(ctx, &d->set, all, name, result));
done:
	kdri_free(ctx, all);
	return st;
}

static kdr_status check_tasks(kdr_context *ctx, const kdr_problem *problem)
{
	const kdr_task *first = &problem->tasks[0];
	bool source = false, target = false;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		if (kdr_mat_cols(&task->x) != kdr_mat_cols(&first->x))
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "data set %s has %lld columns, but data set %s has %lld; align them first",
			        kdri_task_name(task), (long long)kdr_mat_cols(&task->x),
			        kdri_task_name(first), (long long)kdr_mat_cols(&first->x));
		if (task->role == KDR_ROLE_SOURCE && !task->labels)
			return kdri_fail(ctx, KDR_ERR_DATA, "data set %s is a source but has no labels",
			                 kdri_task_name(task));
		source = source || task->role == KDR_ROLE_SOURCE;
		target = target || task->role != KDR_ROLE_SOURCE;
	}
	if (!source)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "no source was given; at least one labelled data set is needed");
	if (!target)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "no target was given; every data set is a source");
	return KDR_OK;
}

/* Counts the classes; warns of those without samples. */
static kdr_status labelled_check_classes(kdr_context *ctx, const kdri_labelled *s, kdr_result *result)
{
	int64_t present = 0, only = 0;
	for (int64_t c = 0; c < s->classes; c++)
		if (s->counts[c] > 0) {
			present++;
			only = c;
		}
	if (present == 0)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "no sample has a known class; at least two classes are needed");
	if (present == 1)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "all labelled samples are of class %lld; at least two classes are needed",
		                 (long long)only);
	for (int64_t c = 0; c < s->classes; c++)
		if (s->counts[c] == 0 && result)
			KDRI_DO(kdri_result_warn(
			        ctx, result,
			        "class %lld has no labelled sample, so no sample will be labelled with it",
			        (long long)c));
	return KDR_OK;
}

kdr_status kdri_labelled_new(kdr_context *ctx, const kdr_problem *problem, kdr_result *result,
                             kdri_labelled *out)
{
	kdr_status st;
	kdri_labelled s = { .problem = problem,
		            .classes = problem->classes,
		            .d = kdr_mat_cols(&problem->tasks[0].x),
		            .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	const kdr_mat **parts = NULL;
	int64_t at = 0;
	KDRI_TRY(check_tasks(ctx, problem));
	KDRI_TRY(KDRI_NEW(ctx, &parts, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		parts[t] = &problem->tasks[t].x;
		s.n += kdr_mat_rows(parts[t]);
	}
	KDRI_TRY(kdri_mat_stack(ctx, parts, problem->ntasks, &s.x));
	KDRI_TRY(KDRI_NEW(ctx, &s.labels, s.n));
	KDRI_TRY(KDRI_NEW(ctx, &s.weights, s.n));
	KDRI_TRY(KDRI_NEW0(ctx, &s.counts, s.classes));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		const kdr_task *task = &problem->tasks[t];
		for (int64_t i = 0; i < kdr_mat_rows(&task->x); i++, at++) {
			s.labels[at] = task->labels ? task->labels[i] : -1;
			s.weights[at] = task->weights ? task->weights[i] : 1;
			if (s.labels[at] >= 0) {
				s.counts[s.labels[at]]++;
				s.known++;
			}
		}
	}
	KDRI_TRY(kdri_sum_int(ctx, s.counts, s.classes));
	KDRI_TRY(labelled_check_classes(ctx, &s, result));
	*out = s;
	s = (kdri_labelled){ .x.view = kdr_mat_from_dense(NULL, 0, 0) };
done:
	kdri_free(ctx, parts);
	kdri_labelled_free(ctx, &s);
	return st;
}

void kdri_labelled_free(kdr_context *ctx, kdri_labelled *set)
{
	if (!set)
		return;
	kdri_own_free(ctx, &set->x);
	KDRI_FREE(ctx, set->labels, set->weights, set->counts);
	*set = (kdri_labelled){ .x.view = kdr_mat_from_dense(NULL, 0, 0) };
}

kdr_status kdri_labelled_put(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                             const char *name, kdr_result *result)
{
	int64_t c = set->classes, at = 0, usual = 0;
	for (int64_t j = 1; j < c; j++)
		if (set->counts[j] > set->counts[usual])
			usual = j;
	for (int64_t t = 0; t < set->problem->ntasks; t++) {
		const kdr_task *task = &set->problem->tasks[t];
		int64_t n = kdr_mat_rows(&task->x), *labels = NULL;
		double *to = NULL;
		if (task->role == KDR_ROLE_SOURCE) {
			at += n;
			continue;
		}
		KDRI_DO(kdri_result_labels(ctx, result, t, &labels));
		kdri_result_set_k(result, t, c);
		if (name) {
			KDRI_DO(kdri_result_array(ctx, result, name, t, KDR_FLOAT64, 2, (int64_t[]){ n, c },
			                          &to));
			memcpy(to, scores + at * c, (size_t)(n * c) * sizeof *to);
		}
		for (int64_t i = 0; i < n; i++, at++) {
			int64_t best = usual;
			for (int64_t j = 0; j < c; j++)
				if (set->counts[j] > 0 && scores[at * c + j] > scores[at * c + best])
					best = j;
			labels[i] = set->labels[at] >= 0 ? set->labels[at] : best;
		}
	}
	return KDR_OK;
}

kdr_status kdri_labelled_warn_unreached(kdr_context *ctx, const kdri_labelled *set, const double *scores,
                                        kdr_result *result)
{
	int64_t count = 0;
	for (int64_t i = 0; i < set->n; i++) {
		bool reached = set->labels[i] >= 0;
		for (int64_t j = 0; j < set->classes && !reached; j++)
			reached = scores[i * set->classes + j] != 0;
		count += !reached;
	}
	if (count == 0)
		return KDR_OK;
	return kdri_result_warn(
	        ctx, result,
	        "%lld sample%s not connected to any labelled sample and got the most frequent class",
	        (long long)count, count == 1 ? " is" : "s are");
}

int64_t kdri_labelled_rows(const kdri_labelled *set, bool known, int64_t *rows)
{
	int64_t count = 0;
	for (int64_t i = 0; i < set->n; i++)
		if ((set->labels[i] >= 0) == known)
			rows[count++] = i;
	return count;
}

/* One class against the rest.
 *
 * Output j has y = 1 for the samples of its class and -1 for all others [LIBLINEAR, one-vs-the-rest]. For two
 * classes one output does: swapping the classes turns w into -w. More classes can be fitted at once instead (linear.h). */

const kdr_option_desc kdri_linear_option_table[] = {
	KDRI_OPTIONS_LINEAR(1, 1e-6),
	KDRI_MAX_ITER(1000),
	{ .name = NULL },
};

const char *const kdri_linear_references[] = {
	"R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin: LIBLINEAR: a library for large linear "
	"classification. JMLR 9:1871-1874, 2008. [FCHWL08]",
	NULL,
};

kdr_status kdri_linear_put(kdr_context *ctx, kdr_result *result, int64_t d, int64_t classes, double bias,
                           const double *w)
{
	int64_t m = kdri_linear_outputs(classes);
	double *weights = NULL, *intercept = NULL;
	KDRI_DO(kdri_result_array(ctx, result, "weights", -1, KDR_FLOAT64, 2, (int64_t[]){ classes, d },
	                          &weights));
	KDRI_DO(kdri_result_array(ctx, result, "intercept", -1, KDR_FLOAT64, 1, (int64_t[]){ classes },
	                          &intercept));
	for (int64_t c = 0; c < classes; c++) {
		int64_t j = m > 1 ? c : 0;
		double sign = m > 1 || c == 1 ? 1 : -1;
		for (int64_t t = 0; t < d; t++)
			weights[c * d + t] = sign * w[t * m + j];
		intercept[c] = sign * bias * w[d * m + j];
	}
	return KDR_OK;
}

kdr_status kdri_linear_predict(kdr_context *ctx, const kdr_result *fitted, const kdr_options *options,
                               int64_t task, const kdr_mat *x, int64_t *labels)
{
	kdr_status st;
	kdr_array weights = kdr_result_array(fitted, "weights", -1),
	          intercept = kdr_result_array(fitted, "intercept", -1);
	double *w = NULL, *scores = NULL;
	int64_t n = kdr_mat_rows(x), d = kdr_mat_cols(x), size;
	(void)options, (void)task;
	if (!weights.data || weights.ndim != 2 || !intercept.data || intercept.ndim != 1 ||
	    intercept.shape[0] != weights.shape[0])
		return kdri_fail(ctx, KDR_ERR_DATA, "the model has no class weights and intercepts");
	if (weights.shape[1] != d)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "the data have %lld columns, but the model's weights have %lld",
		                 (long long)d, (long long)weights.shape[1]);
	int64_t classes = weights.shape[0];
	const double *by_class = weights.data, *constant = intercept.data;
	KDRI_TRY(kdri_mul(ctx, n, classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &scores, size));
	KDRI_TRY(KDRI_NEW(ctx, &w, (d + 1) * classes));
	for (int64_t c = 0; c < classes; c++) {
		double largest = fabs(constant[c]);
		for (int64_t t = 0; t < d; t++) {
			w[t * classes + c] = by_class[c * d + t];
			largest = KDRI_MAX(largest, fabs(by_class[c * d + t]));
		}
		w[d * classes + c] = largest > 0 ? constant[c] : -INFINITY;
	}
	KDRI_TRY(kdri_linear_scores(ctx, x, classes, 1, w, scores));
	for (int64_t i = 0; i < n; i++) {
		labels[i] = 0;
		for (int64_t c = 1; c < classes; c++)
			if (scores[i * classes + c] > scores[i * classes + labels[i]])
				labels[i] = c;
	}
done:
	KDRI_FREE(ctx, w, scores);
	return st;
}

/* cost (n x m) = c_i y_i for the samples in rows[]. */
static void fill_costs(const kdri_labelled *set, const int64_t *rows, int64_t n, double cost, double *out)
{
	int64_t m = kdri_linear_outputs(set->classes);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < m; j++) {
			int64_t c = kdri_linear_class(set->classes, j);
			double y = set->labels[rows[i]] == c ? 1 : -1;
			/* A class without samples has no output: all its costs are 0, and so are its weights.
			 */
			out[i * m + j] = set->counts[c] > 0 ? y * cost * set->weights[rows[i]] : 0;
		}
}

static kdr_status train_jointly(kdr_context *ctx, const kdri_labelled *set, const int64_t *rows,
                                const kdr_mat *x, double cost, const kdri_linear_options *o, double *w,
                                kdri_linear_report *report)
{
	kdr_status st;
	int64_t n = kdr_mat_rows(x), *labels = NULL;
	double *costs = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &costs, n));
	for (int64_t i = 0; i < n; i++) {
		labels[i] = set->labels[rows[i]];
		costs[i] = cost * set->weights[rows[i]];
	}
	KDRI_TRY(kdri_softmax_train(ctx, x, set->classes, labels, costs, o, w, report));
done:
	KDRI_FREE(ctx, labels, costs);
	return st;
}

/* p_c = sigma(score_c), scaled to sum 1, as LIBLINEAR and scikit-learn do; jointly: softmax of the scores. */
static void probabilities(const kdri_labelled *set, const double *scores, bool jointly, double *p)
{
	int64_t c = set->classes;
	for (int64_t i = 0; i < set->n; i++) {
		double sum = 0, most = -INFINITY;
		for (int64_t j = 0; j < c; j++)
			most = set->counts[j] > 0 ? KDRI_MAX(most, scores[i * c + j]) : most;
		for (int64_t j = 0; j < c; j++) {
			double s = scores[i * c + j], q = jointly ? exp(s - most) : 1 / (1 + exp(-s));
			sum += p[i * c + j] = set->counts[j] > 0 ? q : 0;
		}
		for (int64_t j = 0; j < c; j++)
			p[i * c + j] = sum > 0 ? p[i * c + j] / sum : set->counts[j] > 0;
	}
}

kdr_status kdri_linear_fit(kdr_context *ctx, const kdr_problem *problem, const kdr_options *options,
                           kdri_loss loss, bool joint, kdr_result *result)
{
	kdr_status st;
	kdri_labelled set = { .x.view = kdr_mat_from_dense(NULL, 0, 0) };
	kdri_own x = set.x;
	int64_t *rows = NULL, size;
	double *cost = NULL, *w = NULL, *outputs = NULL, *scores = NULL, *p = NULL;
	kdri_linear_report report;
	kdri_linear_options o = { .loss = loss,
		                  .bias = kdri_opt_real(options, "bias"),
		                  .free_bias = joint,
		                  .tol = kdri_opt_real(options, "tol"),
		                  .max_iter = kdri_opt_int(options, "max_iter"),
		                  .stage = kdr_options_algo(options)->id,
		                  .trace = result };
	KDRI_TRY(kdri_labelled_new(ctx, problem, result, &set));
	int64_t m = kdri_linear_outputs(set.classes);
	KDRI_TRY(KDRI_NEW(ctx, &rows, set.n));
	int64_t n = kdri_labelled_rows(&set, true, rows);
	KDRI_TRY(kdri_mat_take(ctx, &set.x.view, rows, n, &x));
	KDRI_TRY(kdri_mul(ctx, set.n, set.classes, &size));
	KDRI_TRY(KDRI_NEW(ctx, &cost, n * m));
	KDRI_TRY(KDRI_NEW0(ctx, &w, (set.d + 1) * m));
	KDRI_TRY(KDRI_NEW(ctx, &outputs, set.n * m));
	KDRI_TRY(KDRI_NEW(ctx, &scores, size));
	if (joint && set.classes > 2) {
		KDRI_TRY(train_jointly(ctx, &set, rows, &x.view, kdri_opt_real(options, "cost"), &o, w,
		                       &report));
	} else {
		fill_costs(&set, rows, n, kdri_opt_real(options, "cost"), cost);
		KDRI_TRY(kdri_linear_train(ctx, &x.view, m, cost, &o, w, &report));
	}
	KDRI_TRY(kdri_linear_scores(ctx, &set.x.view, m, o.bias, w, outputs));
	kdri_linear_spread(ctx, set.n, set.classes, outputs, scores);
	if (loss == KDRI_LOSS_LOGISTIC) {
		KDRI_TRY(KDRI_NEW(ctx, &p, size));
		probabilities(&set, scores, joint && set.classes > 2, p);
		KDRI_TRY(kdri_labelled_put(ctx, &set, p, "probabilities", result));
	}
	KDRI_TRY(kdri_labelled_put(ctx, &set, scores, "scores", result));
	KDRI_TRY(kdri_linear_put(ctx, result, set.d, set.classes, o.bias, w));
	KDRI_TRY(kdri_result_number(ctx, result, "objective_start", report.start));
	kdri_result_stop(result, report.stop, report.iterations);
done:
	kdri_labelled_free(ctx, &set);
	kdri_own_free(ctx, &x);
	KDRI_FREE(ctx, rows, cost, w, outputs, scores, p);
	return st;
}
