/* kdr_cluster: related data sets to clusters. SPDX-License-Identifier: BSD-3-Clause */
#include "api/magnitude.h"
#include "comm/comm.h"
#include "jobs/content.h"
#include "jobs/joint.h"
#include "jobs/known.h"
#include "jobs/model/into.h"
#include "jobs/model/model.h"
#include "jobs/say/say.h"
#include "jobs/together/levels.h"
#include "jobs/together/runs.h"
#include "jobs/together/stability.h"
#include "prepare/prep.h"

/* On the data as they were fitted. */
static kdr_status put_stability(kdr_context *ctx, kdri_job *job, kdr_data **sets, const kdr_job_options *o,
                                kdr_result *r)
{
	kdr_status st;
	const int64_t **labels = NULL;
	int64_t *k = NULL, resamples = o->resamples;
	double *stability = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &labels, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &k, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &stability, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		labels[t] = r->tasks[t].labels;
		k[t] = r->tasks[t].k;
	}
	const kdri_stability s = { sets, labels, k, r->ntasks, o->pooled };
	KDRI_TRY(kdri_job_stability(ctx, job, &s, &resamples, stability));
	for (int64_t t = 0; t < r->ntasks; t++) {
		r->tasks[t].quality.stability = stability[t];
		r->tasks[t].quality.resamples = resamples;
	}
done:
	KDRI_FREE(ctx, labels, k, stability);
	return st;
}

/* Once samples can be compared; stability is known already. The scores are ratios: that of values whose squares would overflow is that of
 * smaller ones. */
static kdr_status put_quality(kdr_context *ctx, kdr_data **sets, kdr_result *r)
{
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdr_task task = { .name = r->tasks[t].name, .x = kdr_data_mat(sets[t]) };
		const kdr_problem problem = { .size = sizeof problem, .tasks = &task, .ntasks = 1 };
		kdr_quality *q = &r->tasks[t].quality, before = *q;
		kdri_scaled scaled;
		KDRI_DO(kdri_scaled_new(ctx, &problem, &scaled));
		const kdr_status st =
		        kdr_quality_find(ctx, &scaled.problem.tasks[0].x, r->tasks[t].labels, q);
		kdri_scaled_free(ctx, &scaled);
		KDRI_DO(st);
		q->stability = before.stability;
		q->resamples = before.resamples;
	}
	return KDR_OK;
}

/* Numbers of clusters, then each data set alone where that waited for them, then the answer from the evidence. */
static kdr_status fit_together(kdr_context *ctx, kdri_job *job, kdr_task *tasks, kdr_data *const *sets,
                               const kdr_problem *about, kdri_runs *runs, kdr_result **out)
{
	kdr_status st;
	kdri_joint all = { 0 };
	KDRI_TRY(kdri_joint_begin(ctx, job, tasks, sets, about, kdri_runs_evidence(runs), &all));
	if (runs->when == KDRI_ALONE_LATER)
		KDRI_TRY(KDRI_TIMED("alone", kdri_runs_find(ctx, runs, all.k)));
	if (runs->ranges)
		KDRI_TRY(kdri_runs_level(ctx, runs, all.k));
	KDRI_TRY(kdri_joint_answer(ctx, &all, NULL, out));
done:
	return kdri_joint_end(ctx, &all, st);
}

static kdr_status cluster_run(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                              const kdr_job_options *o, const kdri_job_known *known, kdri_k_ranges *levels,
                              kdr_result **out)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	kdr_result *result = NULL;
	kdri_runs runs = { 0 };
	const double start = kdri_now();
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, count));
	KDRI_TRY(kdri_runs_plan(ctx, job, sets, count, known, levels, &runs));
	if (runs.when == KDRI_ALONE_FIRST)
		KDRI_TRY(KDRI_TIMED("alone", kdri_runs_find(ctx, &runs, runs.k)));
	job->seconds.fit = kdri_now() - start;
	KDRI_TRY(KDRI_TIMED("preparation", kdri_job_prepare(ctx, job, sets, count, 0)));
	runs.evidence.totals = kdri_prep_totals(job->prep);
	/* One k for all, or one to be found for each. */
	if (o->each_k)
		KDRI_TRY(kdri_job_set(ctx, job, "same_k", "0"));
	for (int64_t i = 0; i < count; i++)
		tasks[i] = (kdr_task){ .name = sets[i]->name,
			               .role = KDR_ROLE_TASK,
			               .x = kdr_data_mat(sets[i]),
			               .k = o->each_k ? o->each_k[i] : o->k,
			               .init = o->init ? o->init[i] : NULL };
	const kdr_problem about = { .size = sizeof(kdr_problem), .ntasks = count, .pooled = o->pooled };
	KDRI_TRY(kdri_levels_begin(ctx, job, tasks, count, o, levels));
	KDRI_TRY(KDRI_TIMED("fit", fit_together(ctx, job, tasks, sets, &about, &runs, &result)));
	KDRI_TRY(kdri_runs_report(ctx, &runs, result));
	if (!runs.ranges)
		kdri_runs_free(ctx, &runs); /* other levels have no evidence */
	KDRI_TRY(KDRI_TIMED("levels", kdri_levels_fit(ctx, job, sets, o, &runs, levels, &result)));
	kdri_runs_free(ctx, &runs);
	job->known = NULL; /* resamples have other rows */
	for (int64_t i = 0; i < count; i++)
		KDRI_TRY(KDRI_TIMED("model", kdri_job_remember(ctx, job, sets[i], result->tasks[i].labels,
		                                               result->tasks[i].k, &result->tasks[i])));
	KDRI_TRY(KDRI_TIMED("agreement", kdri_job_agreement(ctx, job, sets, result)));
	if (o->quality)
		KDRI_TRY(KDRI_TIMED("stability", put_stability(ctx, job, sets, o, result)));
	KDRI_TRY(kdri_job_encode(ctx, job, sets, count));
	for (int64_t i = 0; i < count && job->wanted->score; i++)
		KDRI_TRY(kdri_job_score(ctx, result, i, sets[i], false, 0));
	KDRI_TRY(KDRI_TIMED("feature tests", kdri_job_words(ctx, result, sets, job->recipe.kind)));
	KDRI_TRY(KDRI_TIMED("feature tests", kdri_job_markers(ctx, result, sets)));
	KDRI_TRY(KDRI_TIMED("values", kdri_job_choices(ctx, result, sets)));
	KDRI_TRY(kdri_levels_finish(ctx, job, sets, result));
	if (o->quality)
		KDRI_TRY(KDRI_TIMED("quality", put_quality(ctx, sets, result)));
	KDRI_TRY(KDRI_TIMED("representation", kdri_job_representation(ctx, job, result, sets)));
	KDRI_TRY(KDRI_TIMED("map", kdri_job_map(ctx, job, result, sets)));
	kdri_job_finish(job, result);
	*out = result;
	result = NULL;
done:
	kdr_result_free(result);
	kdri_runs_free(ctx, &runs);
	kdri_free(ctx, tasks);
	return st;
}

kdr_status kdr_cluster(kdr_context *ctx, kdr_data *const *tasks, int64_t count,
                       const kdr_job_options *options, kdr_result **out)
{
	kdr_status st;
	kdri_job job = { 0 };
	kdri_job_known known = { 0 };
	kdri_k_ranges levels = { 0 };
	kdri_content content = { 0 };
	kdr_data **sets = NULL;
	kdr_result *result = NULL;
	kdr_job_options own;
	kdr_prep_options prep;
	bool nothing;
	KDRI_NEED(ctx, out);
	kdri_enter(ctx);
	KDRI_TRY(kdri_check_sets(ctx, "cluster", tasks, count, 1));
	KDRI_TRY(kdri_job_take(ctx, options, &own, &prep));
	KDRI_TRY(kdri_k_ranges_take(ctx, count, &own, &levels));
	options = &own;
	KDRI_TRY(kdri_job_alone(ctx, "a map of the samples (--report)", options->map));
	KDRI_TRY(kdri_job_alone(ctx, "--features-from", options->features_from != NULL));
	KDRI_TRY(KDRI_NEW(ctx, &sets, count)); /* kdr_prepare's own list */
	memcpy(sets, tasks, (size_t)count * sizeof *sets);
	KDRI_TRY(kdri_job_open(ctx, options, KDR_FAMILY_CLUSTER, &job));
	KDRI_TRY(kdri_job_known_take(ctx, options, sets, count, &known));
	KDRI_TRY(kdri_runs_nothing(ctx, &job, sets, count, &nothing));
	KDRI_TRY(kdri_content_take(ctx, sets, count, nothing, &content));
	KDRI_TRY(kdri_content_init(ctx, &content, own.init));
	kdri_content_known(&content, sets, &known);
	own.init = content.init ? content.init : own.init;
	job.known = known.problem.tasks ? &known.problem : NULL;
	for (int64_t t = 0; levels.from && t < count; t++)
		if (known.nnames > levels.from[t])
			KDRI_FAIL(
			        ctx, KDR_ERR_ARGUMENT,
			        "data set %s: k begins at %lld, but %lld classes are known; begin at %lld or above",
			        sets[t]->name, (long long)levels.from[t], (long long)known.nnames,
			        (long long)known.nnames);
	if (options->into && job.known)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "known classes cannot be combined with a model that data sets are added to");
	if (options->into)
		KDRI_TRY(kdri_cluster_into(ctx, &job, sets, count, &result));
	else
		KDRI_TRY(cluster_run(ctx, &job, sets, count, options, &known, &levels, &result));
	KDRI_TRY(kdri_content_put(ctx, &content, result->ntasks - count, result));
done:
	st = kdri_leave(ctx, st);
	if (st == KDR_OK) {
		kdri_job_use_numbers(result);
		*out = result;
		result = NULL;
	}
	kdr_result_free(result);
	kdri_job_close(&job);
	kdri_job_known_free(ctx, &known);
	kdri_k_ranges_free(ctx, &levels);
	kdri_content_free(ctx, &content);
	kdri_free(ctx, sets);
	return st;
}
