/* A target that only bridges lead to: ttl and nmtf through each of them vote. SPDX-License-Identifier: BSD-3-Clause */
#include "methods/transfer_auto/tally.h"

#include <stdio.h>

static const double least_shared = 0.1;
enum { MOST_BRIDGES = 5 };

kdr_status kdri_transfer_needs_bridge(kdr_context *ctx, const kdr_problem *problem, int64_t target, bool *out)
{
	kdr_status st = KDR_OK;
	const kdr_mat *x = &problem->tasks[target].x;
	int64_t d = kdr_mat_cols(x), *own = NULL, *theirs = NULL, shared = 0, all = 0;
	bool bridge = false, wide = problem->views;
	for (int64_t t = 0; t < problem->ntasks; t++) {
		bridge = bridge || problem->tasks[t].role == KDR_ROLE_BRIDGE;
		wide = wide ||
		       (problem->tasks[t].role == KDR_ROLE_SOURCE && kdr_mat_cols(&problem->tasks[t].x) != d);
	}
	*out = bridge && wide;
	if (!bridge || wide)
		return KDR_OK;
	KDRI_TRY(KDRI_NEW(ctx, &own, d));
	KDRI_TRY(KDRI_NEW(ctx, &theirs, d));
	kdri_mat_col_counts(ctx, x, own);
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role != KDR_ROLE_SOURCE)
			continue;
		kdri_mat_col_counts(ctx, &problem->tasks[t].x, theirs);
		for (int64_t j = 0; j < d; j++)
			if (theirs[j] > 0) {
				shared += own[j];
				own[j] = 0;
			}
	}
	for (int64_t j = 0; j < d; j++)
		all += own[j];
	*out = (double)shared < least_shared * (double)(shared + all);
done:
	KDRI_FREE(ctx, own, theirs);
	return st;
}

/* The target alone, with the sources' class proportions. */
static kdr_status target_alone(kdr_context *ctx, const kdr_problem *problem, int64_t target, kdri_domains *d)
{
	const kdr_task *task = &problem->tasks[target];
	int64_t total = 0;
	d->n = kdr_mat_rows(&task->x);
	d->ntasks = 1;
	d->classes = d->set.classes = problem->classes;
	d->set.x.view = task->x;
	KDRI_DO(KDRI_NEW0(ctx, &d->begin, 2));
	KDRI_DO(KDRI_NEW(ctx, &d->class_of, d->classes));
	KDRI_DO(KDRI_NEW(ctx, &d->labels, d->n));
	KDRI_DO(KDRI_NEW(ctx, &d->unlabelled, d->n));
	KDRI_DO(KDRI_NEW0(ctx, &d->share, d->classes));
	d->begin[1] = d->n;
	for (int64_t i = 0; i < d->n; i++) {
		d->labels[i] = task->labels ? task->labels[i] : -1;
		d->unlabelled[i] = d->labels[i] < 0;
	}
	for (int64_t t = 0; t < problem->ntasks; t++)
		for (int64_t i = 0; problem->tasks[t].role == KDR_ROLE_SOURCE && problem->tasks[t].labels &&
		                    i < kdr_mat_rows(&problem->tasks[t].x);
		     i++)
			if (problem->tasks[t].labels[i] >= 0) {
				d->share[problem->tasks[t].labels[i]]++;
				total++;
			}
	for (int64_t c = 0; c < d->classes; c++) {
		d->class_of[c] = c;
		d->share[c] /= (double)KDRI_MAX(total, 1);
	}
	return KDR_OK;
}

/* One method through one bridge, which is one data set or, for first and second views, two. */
typedef struct crossing {
	kdri_transfer_tally *w;
	const kdr_problem *problem;
	int64_t target, bridge[2], views;
	const char *method;
} crossing;

/* The method's probabilities of the target's rows into w->p. */
static kdr_status cross(kdr_context *ctx, void *user)
{
	kdr_status st;
	const crossing *c = user;
	const kdr_problem *problem = c->problem;
	kdri_transfer_tally *w = c->w;
	kdr_task *tasks = NULL;
	kdr_options *options = NULL;
	kdr_result *result = NULL;
	int64_t count = 0;
	KDRI_TRY(KDRI_NEW(ctx, &tasks, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++)
		if (problem->tasks[t].role == KDR_ROLE_SOURCE)
			tasks[count++] = problem->tasks[t];
	for (int64_t v = 0; v < c->views; v++)
		tasks[count++] = problem->tasks[c->bridge[v]];
	tasks[count] = problem->tasks[c->target];
	const kdr_problem part = { .tasks = tasks, .ntasks = count + 1, .classes = problem->classes };
	KDRI_TRY(kdri_options_new(ctx, kdri_algo_find(c->method), NULL, &options));
	KDRI_TRY(kdri_fit_member(ctx, &part, options, &result));
	kdr_array p = kdr_result_array(result, "probabilities", count);
	memcpy(w->p, p.data, (size_t)(w->n * w->c) * sizeof *w->p);
	const char *name = problem->tasks[c->bridge[0]].name;
	for (int64_t i = 0; w->frame.result && i < kdr_result_warning_count(result); i++)
		KDRI_TRY(kdri_result_warn(w->ctx, w->frame.result, "%s through %s: %s", c->method,
		                          name ? name : "the bridge", kdr_result_warning_at(result, i)));
done:
	kdri_free(ctx, tasks);
	kdr_options_free(options);
	kdr_result_free(result);
	return st;
}

static kdr_status run_bridges(kdri_transfer_tally *w, const kdr_problem *problem, int64_t target,
                              kdri_transfer_verdict *v)
{
	static const char *const methods[] = { "ttl", "nmtf" };
	kdr_status st;
	int64_t *bridges = NULL, count = 0, m = 0;
	bool views = problem->views, answered;
	KDRI_TRY(KDRI_NEW(w->ctx, &bridges, problem->ntasks));
	for (int64_t t = 0; t < problem->ntasks; t++) {
		if (problem->tasks[t].role == KDR_ROLE_BRIDGE)
			bridges[count++] = t;
		views = views ||
		        (problem->tasks[t].role == KDR_ROLE_SOURCE &&
		         kdr_mat_cols(&problem->tasks[t].x) != kdr_mat_cols(&problem->tasks[target].x));
	}
	if (views)
		count /= 2;
	w->frame = kdri_frame_new(w->ctx, w->frame.result, 1);
	for (int64_t b = 0; b < KDRI_MIN(count, MOST_BRIDGES); b++)
		for (int k = 0; k < 2; k++, m++) {
			crossing c = { .w = w,
				       .problem = problem,
				       .target = target,
				       .bridge = { bridges[b], views ? bridges[count + b] : -1 },
				       .views = views ? 2 : 1,
				       .method = methods[k] };
			const char *name = problem->tasks[bridges[b]].name;
			snprintf(v->name[m], sizeof v->name[m], "%s through %.60s", methods[k],
			         name ? name : "a bridge");
			KDRI_TRY(kdri_frame_ask(&w->frame,
			                        &(kdri_turn){ .name = v->name[m],
			                                      .number = m,
			                                      .of = 2 * count,
			                                      .run = cross,
			                                      .user = &c },
			                        &answered));
			if (answered)
				KDRI_TRY(kdri_transfer_tally_take(w, m, w->p));
		}
	KDRI_TRY(kdri_frame_end(&w->frame, KDR_ERR_DATA, "no bridge could be used; the last error was"));
done:
	kdri_free(w->ctx, bridges);
	return st;
}

kdr_status kdri_transfer_bridged_new(kdr_context *ctx, const kdr_problem *problem, int64_t target,
                                     const kdri_transfer_options *options, kdr_result *result,
                                     kdri_transfer_verdict *out)
{
	kdr_status st;
	kdri_transfer_tally w = kdri_transfer_tally_empty(ctx, options, result);
	kdri_transfer_verdict v = { .distance = NAN, .right = NAN };
	KDRI_TRY(target_alone(ctx, problem, target, &w.d));
	w.n = w.d.n;
	w.c = w.d.classes;
	KDRI_TRY(kdri_transfer_views_new(ctx, &w.d, &options->joins, &w.v));
	KDRI_TRY(kdri_transfer_tally_room(ctx, &w));
	KDRI_TRY(run_bridges(&w, problem, target, &v));
	KDRI_TRY(kdri_transfer_tally_vote(&w));
	KDRI_TRY(kdri_transfer_tally_fill(&w, &v));
	*out = v;
	v = (kdri_transfer_verdict){ 0 };
done:
	kdri_transfer_verdict_free(ctx, &v);
	kdri_transfer_tally_free(ctx, &w);
	return st;
}
