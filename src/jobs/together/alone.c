/* Each data set clustered alone, before all are clustered together. SPDX-License-Identifier: BSD-3-Clause
 *
 * The run of a data set alone is a job of its own on a copy of the data, with the preprocessing that it would get without the others. So
 * `--no-transfer` gives what a run with that file gives. If data sets learn from each other, members of `auto` that use one data set are those
 * of these runs (engine/ensemble/evidence.h), data sets of more than KDRI_SHARING_MOST samples take their labels, and those of the others are
 * compared with them. Copies are freed one after the other; only if the numbers of clusters have to be found first are all of them kept until
 * then. With a range of numbers and without transfer, the run alone has the same range, and every level has its labels of that number. */
#include "jobs/together/levels.h"
#include "jobs/together/runs.h"

#include "comm/comm.h"
#include "core/side_by_side.h"
#include "jobs/joint.h"
#include "prepare/prep.h"

/* A run alone has nothing to compare with. */
static const kdri_evidence none = { 0 };

/* The options of the job, of one data set only, and without anything but a fit. */
static kdr_job_options options_of(const kdr_job_options *wanted, int64_t t, int64_t k)
{
	kdr_job_options o = *wanted;
	o.k = k;
	o.each_k = o.each_k_to = NULL;
	o.neach_k = o.k_to = 0;
	o.init = wanted->init ? &wanted->init[t] : NULL;
	o.map = o.quality = o.score = o.model = o.neighbours = false;
	o.no_model = true;
	return o;
}

static double number_of(const kdr_result *result, const char *name)
{
	const kdri_field *field = kdri_result_field(result, 0, name);
	return field ? field->number : NAN;
}

/* What is said about a data set elsewhere, from the result of its run or of one level of that. */
static void read_result(const kdr_result *result, kdri_alone *to)
{
	const kdri_field *members = kdri_result_field(result, -1, "members");
	to->known = true;
	to->k = result->tasks[0].k;
	to->stop = result->stop;
	to->beyond_noise = number_of(result, "beyond_noise");
	to->beyond_shuffled = number_of(result, "beyond_shuffled");
	to->agreement = number_of(result, "agreement");
	to->agreement_kmeans = number_of(result, "agreement_kmeans");
	to->estimate = number_of(result, "estimated_ari");
	to->confidence = kdr_result_array(result, "confidence", 0).data;
	to->agreements = kdr_result_array(result, "agreement", 0).data;
	to->members = members ? members->text : NULL;
}

/* The answer has the labels of the result, which numbers the clusters; a table and a level have no agreement of members. */
static kdr_status take_labels(kdr_context *ctx, const kdri_task_result *r, kdri_alone *to)
{
	if (!to->answer.labels)
		KDRI_DO(KDRI_NEW(ctx, &to->answer.labels, r->n));
	memcpy(to->answer.labels, r->labels, (size_t)r->n * sizeof *r->labels);
	if (to->answer.agreement)
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, &to->answer.agreement, r->n));
	for (int64_t i = 0; i < r->n; i++)
		to->answer.agreement[i] = to->confidence ? to->confidence[i] : 1;
	return KDR_OK;
}

/* The fit of a data set alone; levels->from not NULL: with all numbers of clusters of a range. */
static kdr_status fit_alone(kdr_context *ctx, kdri_job *job, kdr_data *data, kdri_k_ranges *levels,
                            kdri_alone *to)
{
	kdr_status st;
	kdri_joint one = { 0 };
	kdr_task task = { .name = data->name,
		          .role = KDR_ROLE_TASK,
		          .x = kdr_data_mat(data),
		          .k = job->wanted->k,
		          .init = job->wanted->init ? job->wanted->init[0] : NULL };
	const kdr_problem about = { .size = sizeof(kdr_problem), .ntasks = 1 };
	KDRI_TRY(kdri_levels_begin(ctx, job, &task, 1, job->wanted, levels));
	KDRI_TRY(kdri_joint_begin(ctx, job, &task, &data, &about, levels->from ? NULL : &none, &one));
	KDRI_TRY(kdri_joint_answer(ctx, &one, levels->from ? NULL : to, &to->result));
	KDRI_TRY(kdri_levels_fit(ctx, job, &data, job->wanted, NULL, levels, &to->result));
	if (levels->from)
		goto done; /* kdri_runs_level reads the labels */
	read_result(to->result, to);
	KDRI_TRY(take_labels(ctx, &to->result->tasks[0], to));
done:
	return kdri_joint_end(ctx, &one, st);
}

/* With a time limit, each data set has a share of the time by its size, and all of them nine tenths. */
static void limit_time(kdr_context *ctx, const kdri_runs *s, int64_t t)
{
	double rest = 0;
	for (int64_t i = t; i < s->count; i++)
		rest += (double)s->rows[i];
	if (ctx->deadline > 0)
		ctx->deadline = kdri_now() + 0.9 * (ctx->deadline - kdri_now()) * (double)s->rows[t] / rest;
}

/* A description of preprocessing without its first part, the features. */
static const char *steps_of(const char *description)
{
	const char *steps = strstr(description, "; ");
	return steps ? steps + 2 : "";
}

/* How the data set of a run alone was preprocessed; the words of texts may be its own. */
static kdr_status describe_run(kdr_context *ctx, const kdr_prep *prep, const kdr_data *own, bool words,
                               char **out)
{
	char text[512];
	const char *steps = steps_of(kdri_prep_describe(prep));
	if (!words)
		return kdri_strdup(ctx, steps, out);
	kdri_snprintf(text, sizeof text, "%lld words of its own%s%s", (long long)own->cols,
	              *steps ? "; " : "", steps);
	return kdri_strdup(ctx, text, out);
}

/* `words`: with words of its own. */
static kdr_status run_alone(kdr_context *ctx, kdri_runs *s, int64_t t, int64_t k, bool words, kdri_alone *to)
{
	kdr_status st;
	kdr_job_options o = options_of(s->job->wanted, t, k);
	kdri_k_ranges levels = { 0 };
	const double end = ctx->deadline;
	kdri_job job = { 0 };
	kdr_problem known;
	kdr_data *own = NULL;
	if (s->ranges) {
		o.k = s->levels->from[t];
		o.k_to = s->levels->to[t];
		KDRI_TRY(kdri_k_ranges_take(ctx, 1, &o, &levels));
	}
	KDRI_TRY(kdri_runs_copy(ctx, words ? s->words[t] : s->raw[t], &own));
	KDRI_TRY(kdri_job_open(ctx, &o, KDR_FAMILY_CLUSTER, &job));
	if (s->known->problem.tasks) {
		known = s->known->problem;
		known.tasks = &s->known->tasks[t];
		known.ntasks = 1;
		job.known = &known;
	}
	if (k == 0) /* its evidence is then that of the data set */
		KDRI_TRY(kdri_job_set(ctx, &job, "same_k", "0"));
	limit_time(ctx, s, t);
	st = kdri_job_prepare(ctx, &job, &own, 1, 0);
	if (st == KDR_OK)
		st = fit_alone(ctx, &job, own, &levels, to);
	to->totals = st == KDR_OK ? kdri_prep_totals(job.prep) : 0;
	if (st == KDR_OK && !s->prep[t])
		st = describe_run(ctx, job.prep, own, words, &s->prep[t]);
	ctx->deadline = end;
	ctx->timed_out = ctx->timed_out && end > 0 && kdri_late(ctx);
	if (st == KDR_OK) /* the same on all ranks */
		st = kdri_any(ctx, &ctx->timed_out);
	if (st != KDR_OK)
		kdri_alone_free(ctx, to);
done:
	kdri_job_close(&job);
	kdri_k_ranges_free(ctx, &levels);
	kdr_data_free(own);
	return st;
}

/* Whether the data are tables, for which nothing of a run alone can be used again. */
static kdr_status are_tables(kdr_context *ctx, const kdri_runs *s, bool *out)
{
	const kdr_job_options *wanted = s->job->wanted;
	kdr_recipe recipe = { .scale = wanted->prep->scale };
	if (kdri_prep_chosen(wanted->prep, wanted->choice)) {
		KDRI_DO(kdri_recipe_find(ctx, s->raw, s->count, false, &recipe));
		KDRI_DO(kdri_recipe_table(ctx, s->raw, s->count, &recipe));
	}
	*out = recipe.scale == KDR_SCALE_TABLE;
	return KDR_OK;
}

/* --- a range of numbers, without transfer -------------------------------------------------------------------------- */

static const kdr_result *level_of(const kdr_result *all, int64_t k)
{
	for (int64_t i = 0; i < all->level_count; i++)
		if (all->levels[i]->tasks[0].k == k)
			return all->levels[i];
	return NULL;
}

/* A level that was not fitted, because the run was stopped, is not known. */
kdr_status kdri_runs_level(kdr_context *ctx, kdri_runs *s, const int64_t *k)
{
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_result *level = level_of(s->range[t], k[t]);
		kdri_alone *to = &s->evidence.alone[t];
		to->result = NULL;
		kdri_alone_free(ctx, to);
		s->evidence.final[t] = level != NULL;
		if (!level)
			continue;
		read_result(level, to);
		to->level = true;
		to->result = (kdr_result *)level; /* that of s->range[t] */
		KDRI_DO(take_labels(ctx, &level->tasks[0], to));
	}
	return KDR_OK;
}

static kdr_status run_ranges(kdr_context *ctx, kdri_runs *s)
{
	KDRI_DO(KDRI_NEW0(ctx, &s->range, s->count));
	KDRI_DO(are_tables(ctx, s, &s->tables));
	for (int64_t t = 0; t < s->count; t++) {
		kdri_alone run = { 0 };
		KDRI_DO(run_alone(ctx, s, t, 0, s->words[t] != NULL, &run));
		s->range[t] = run.result;
		run.result = NULL;
		kdri_alone_free(ctx, &run);
	}
	return KDR_OK;
}

/* Adds the answer of a run with words of its own to what is given. */
static kdr_status compare_words(kdr_context *ctx, kdri_runs *s, int64_t t, int64_t k)
{
	kdri_alone own = { 0 };
	const kdr_status st = run_alone(ctx, s, t, k, true, &own);
	s->evidence.alone[t].own_words = own.answer;
	own.answer = (kdri_verdict){ 0 };
	kdri_alone_free(ctx, &own);
	return st;
}

/* Runs alone, side by side. */
typedef struct runs {
	kdri_runs *s;
	const int64_t *k;
	bool common; /* words, which clusters that are carried over need */
} runs;

static kdr_status run_one(kdr_context *ctx, void *user, int64_t t, int worker)
{
	(void)worker;
	const runs *r = user;
	kdri_runs *s = r->s;
	kdri_alone *alone = &s->evidence.alone[t];
	bool *final = &s->evidence.final[t];
	const bool large = s->rows[t] > KDRI_SHARING_MOST;
	if (s->transfer && s->tables && large)
		return KDR_OK;
	KDRI_DO(run_alone(ctx, s, t, r->k[t], s->words[t] && !r->common, alone));
	if (s->words[t] && r->common)
		KDRI_DO(compare_words(ctx, s, t, r->k[t]));
	*final = !s->transfer || (large && !s->tables);
	if (*final)
		kdri_alone_drop_graphs(ctx, alone);
	return KDR_OK;
}

/* One run at a time where something is shared that cannot be divided: a device, a limit of memory or of time, other ranks. */
static int workers_for(const kdr_context *ctx, const kdri_runs *s)
{
	double data = 0, each = 0; /* bytes */
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_mat x = kdr_data_mat(s->raw[t]);
		const double n = (double)s->rows[t], own = 8 * (double)kdr_mat_nnz(&x);
		data += own;
		each = KDRI_MAX(each, 4 * own + 8 * n * n);
	}
	const bool alone = ctx->device || ctx->device_choice == KDRI_DEVICE_NAMED || ctx->max_memory > 0 ||
	                   ctx->deadline > 0 || kdri_together(ctx);
	return alone ? 1 : kdri_workers(ctx, s->count, each, data);
}

static kdr_status run_each(kdr_context *ctx, kdri_runs *s, const int64_t *k)
{
	KDRI_DO(are_tables(ctx, s, &s->tables));
	runs r = { s, k, kdri_runs_may_carry(s, k) };
	const int workers = workers_for(ctx, s);
	if (workers > 1)
		KDRI_DO(kdri_side_by_side(ctx, &(kdri_side){ .count = s->count,
		                                             .workers = workers,
		                                             .run = run_one,
		                                             .user = &r,
		                                             .stage = "alone",
		                                             .total = s->count }));
	for (int64_t t = 0; t < s->count && workers == 1; t++)
		KDRI_DO(run_one(ctx, &r, t, 0));
	if (!s->tables)
		KDRI_DO(kdri_runs_carry(ctx, s, k));
	return KDR_OK;
}

static bool has_warning(const kdr_result *r, const char *text)
{
	for (int64_t i = 0; i < r->warning_count; i++)
		if (strcmp(r->warnings[i], text) == 0)
			return true;
	return false;
}

kdr_status kdri_runs_find(kdr_context *ctx, kdri_runs *s, const int64_t *k)
{
	const struct kdri_inspected *inspected = ctx->inspected;
	ctx->inspected = NULL; /* what fits of all data sets keep is not for one of them */
	const kdr_status st = s->ranges ? run_ranges(ctx, s) : run_each(ctx, s, k);
	ctx->inspected = inspected;
	return st;
}

/* Data sets that have the clusters of their run alone may have been preprocessed in another way than all of them together. */
static kdr_status put_prep(kdr_context *ctx, const kdri_runs *s, const kdr_prep *prep, kdr_result *result)
{
	const char *all = kdri_prep_describe(prep);
	char text[2048];
	int used = kdri_snprintf(text, sizeof text, "%s", all), more = 0;
	for (int64_t t = 0; t < s->count; t++) {
		if (!s->evidence.final[t] || s->evidence.carried[t].from >= 0 ||
		    strcmp(s->prep[t], steps_of(all)) == 0)
			continue;
		if (more++ < 4)
			used += kdri_snprintf(text + used, sizeof text - (size_t)used,
			                      "; clusters of %.60s: %.200s", s->names[t],
			                      *s->prep[t] ? s->prep[t] : "none");
	}
	if (more > 4)
		kdri_snprintf(text + used, sizeof text - (size_t)used, "; %d more as if clustered alone",
		              more - 4);
	return more > 0 ? kdri_strdup(ctx, text, &result->prep_text) : KDR_OK;
}

kdr_status kdri_runs_report(kdr_context *ctx, const kdri_runs *s, kdr_result *result)
{
	const bool known = s->evidence.count > 0;
	if (known)
		KDRI_DO(put_prep(ctx, s, s->job->prep, result));
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_result *alone = known ? s->evidence.alone[t].result : NULL;
		KDRI_DO(kdri_runs_note_task(ctx, s, t, result));
		for (int64_t i = 0; alone && i < alone->warning_count; i++)
			if (!has_warning(result, alone->warnings[i]))
				KDRI_DO(kdri_result_warn(ctx, result, "%s", alone->warnings[i]));
	}
	return KDR_OK;
}
