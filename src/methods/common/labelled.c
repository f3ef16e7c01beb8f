/* The samples of a transfer problem, stacked. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/common/labelled.h"
#include "api/method.h"
#include "comm/comm.h"

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
