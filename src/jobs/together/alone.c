/* Each data set clustered alone, before all are clustered together. SPDX-License-Identifier: BSD-3-Clause
 *
 * The run of a data set alone is a job of its own on a copy of the data, with the preprocessing that it would get without the others. So
 * `--no-transfer` gives what a run with that file gives. If data sets learn from each other, members of `auto` that use one data set are those
 * of these runs (engine/ensemble/members.h), data sets of more than KDRI_SHARING_MOST samples take their labels, and those of the others are
 * compared with them. Copies are freed one after the other; only if the numbers of clusters have to be found first are all of them kept until
 * then. With a range of numbers and without transfer, the run alone has the same range, and every level has its labels of that number. */
#include "jobs/together/sharing.h"

#include "comm/comm.h"
#include "core/side_by_side.h"
#include "jobs/content.h"
#include "prepare/prep.h"

void kdri_sharing_free(kdr_context *ctx, kdri_job_sharing *s)
{
	if (ctx->sharing == &s->fit)
		ctx->sharing = NULL;
	for (int64_t t = 0; s->fit.tasks && t < s->count; t++) {
		if (s->range) /* which has the result */
			s->fit.tasks[t].result = NULL;
		kdri_given_free(ctx, &s->fit.tasks[t]);
		if (s->range)
			kdr_result_free(s->range[t]);
		if (s->prep)
			kdri_free(ctx, s->prep[t]);
	}
	for (int64_t t = 0; s->raw && s->copies && t < s->count; t++)
		kdr_data_free(s->raw[t]);
	KDRI_FREE(ctx, s->fit.tasks, s->raw, s->words, s->rows, s->notes, s->k);
	kdri_free(ctx, s->names);
	KDRI_FREE(ctx, s->range, s->prep);
	*s = (kdri_job_sharing){ 0 };
}

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

/* The fit of a data set alone; levels->from not NULL: with all numbers of clusters of a range. */
static kdr_status fit_alone(kdr_context *ctx, kdri_job *job, kdr_data *data, kdri_k_ranges *levels,
                            kdri_given *given)
{
	kdr_status st;
	const kdri_inspected *inspected = ctx->inspected;
	const kdri_sharing *sharing = ctx->sharing, keep = { .keep = given };
	const bool no_model = ctx->no_model;
	kdr_task task = { .name = data->name,
		          .role = KDR_ROLE_TASK,
		          .x = kdr_data_mat(data),
		          .k = job->wanted->k,
		          .init = job->wanted->init ? job->wanted->init[0] : NULL };
	const kdr_problem about = { .size = sizeof(kdr_problem), .ntasks = 1 };
	ctx->inspected = NULL; /* what fits of all data sets keep is not for this one */
	ctx->sharing = levels->from ? NULL : &keep;
	st = kdri_levels_begin(ctx, job, &task, 1, job->wanted, levels);
	if (st == KDR_OK)
		st = kdri_job_fit(ctx, job, &task, &data, &about, &given->result);
	if (st == KDR_OK)
		st = kdri_levels_fit(ctx, job, &data, job->wanted, levels, &given->result);
	ctx->inspected = inspected;
	ctx->sharing = sharing;
	ctx->no_model = no_model;
	KDRI_TRY(st);
	if (levels->from)
		goto done; /* take_level has the labels */
	/* Labels with the numbers of the result. A data set that is a table alone has no ballot, but all of them may not be one. */
	const kdri_task_result *r = &given->result->tasks[0];
	const kdr_array sure = kdr_result_array(given->result, "confidence", 0);
	if (!given->answer.labels)
		KDRI_TRY(KDRI_NEW(ctx, &given->answer.labels, r->n));
	memcpy(given->answer.labels, r->labels, (size_t)r->n * sizeof *r->labels);
	if (!given->answer.agreement) {
		KDRI_TRY(KDRI_NEW(ctx, &given->answer.agreement, r->n));
		for (int64_t i = 0; i < r->n; i++)
			given->answer.agreement[i] = sure.data ? ((const double *)sure.data)[i] : 1;
	}
done:
	return st;
}

/* With a time limit, each data set has a share of the time by its size, and all of them nine tenths. */
static void limit_time(kdr_context *ctx, const kdri_job_sharing *s, int64_t t)
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
static kdr_status run_alone(kdr_context *ctx, kdri_job_sharing *s, int64_t t, int64_t k, bool words,
                            kdri_given *to)
{
	kdr_status st;
	kdr_job_options o = options_of(s->job->wanted, t, k);
	kdri_k_ranges levels = { 0 };
	const double end = ctx->deadline;
	kdri_job job = { 0 };
	kdr_problem known;
	kdr_data *own = NULL;
	kdri_given_free(ctx, to);
	if (s->range) {
		o.k = s->levels->from[t];
		o.k_to = s->levels->to[t];
		KDRI_TRY(kdri_k_ranges_take(ctx, 1, &o, &levels));
	}
	KDRI_TRY(kdri_sharing_copy(ctx, words ? s->words[t] : s->raw[t], &own));
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
		kdri_given_free(ctx, to);
done:
	kdri_job_close(&job);
	kdri_k_ranges_free(ctx, &levels);
	kdr_data_free(own);
	return st;
}

/* Whether the data are tables, for which nothing of a run alone can be used again. */
static kdr_status are_tables(kdr_context *ctx, const kdri_job_sharing *s, bool *out)
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

/* Gives the labels of the level with k[t] clusters to the fit. A level that was not fitted, because the run was stopped, is not given. */
static kdr_status take_level(kdr_context *ctx, void *user, const int64_t *k)
{
	kdri_job_sharing *s = user;
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_result *all = s->range[t], *level = NULL;
		kdri_given *given = &s->fit.tasks[t];
		for (int64_t i = 0; i < all->level_count; i++)
			if (all->levels[i]->tasks[0].k == k[t])
				level = all->levels[i];
		given->result = NULL;
		kdri_given_free(ctx, given);
		if (!level)
			continue;
		const kdri_task_result *r = &level->tasks[0];
		const kdr_array sure = kdr_result_array(level, "confidence", 0);
		const size_t bytes = (size_t)r->n * sizeof(int64_t);
		KDRI_DO(KDRI_NEW(ctx, &given->answer.labels, r->n));
		KDRI_DO(KDRI_NEW(ctx, &given->answer.agreement, r->n));
		KDRI_DO(KDRI_NEW(ctx, &given->label, r->n));
		KDRI_DO(KDRI_NEW(ctx, &given->confidence, r->n));
		memcpy(given->answer.labels, r->labels, bytes);
		memcpy(given->label, r->labels, bytes);
		for (int64_t i = 0; i < r->n; i++)
			given->answer.agreement[i] = given->confidence[i] =
			        sure.data ? ((const double *)sure.data)[i] : 1;
		given->result = (kdr_result *)level;
		given->k = k[t];
		given->final = true;
	}
	return KDR_OK;
}

static kdr_status run_ranges(kdr_context *ctx, kdri_job_sharing *s)
{
	KDRI_DO(KDRI_NEW0(ctx, &s->range, s->count));
	KDRI_DO(are_tables(ctx, s, &s->tables));
	for (int64_t t = 0; t < s->count; t++) {
		KDRI_DO(run_alone(ctx, s, t, 0, s->words[t] != NULL, &s->fit.tasks[t]));
		s->range[t] = s->fit.tasks[t].result;
		s->fit.tasks[t].result = NULL; /* until take_level knows the number */
	}
	s->fit.find = take_level;
	s->fit.user = s;
	s->fit.levels = true;
	return KDR_OK;
}

/* Adds the answer of a run with words of its own to what is given. */
static kdr_status compare_words(kdr_context *ctx, kdri_job_sharing *s, int64_t t, int64_t k)
{
	kdri_given own = { .from = -1 };
	const kdr_status st = run_alone(ctx, s, t, k, true, &own);
	s->fit.tasks[t].own = own.answer;
	own.answer = (kdri_verdict){ 0 };
	kdri_given_free(ctx, &own);
	return st;
}

/* Runs alone, side by side. */
typedef struct runs {
	kdri_job_sharing *s;
	const int64_t *k;
	bool common; /* words, which clusters that are carried over need */
} runs;

static kdr_status run_one(kdr_context *ctx, void *user, int64_t t, int worker)
{
	(void)worker;
	const runs *r = user;
	kdri_job_sharing *s = r->s;
	kdri_given *given = &s->fit.tasks[t];
	const bool large = s->rows[t] > KDRI_SHARING_MOST;
	if (s->transfer && s->tables && large)
		return KDR_OK;
	KDRI_DO(run_alone(ctx, s, t, r->k[t], s->words[t] && !r->common, given));
	if (s->words[t] && r->common)
		KDRI_DO(compare_words(ctx, s, t, r->k[t]));
	given->final = !s->transfer || (large && !s->tables);
	if (given->final)
		kdri_given_drop_graphs(ctx, given);
	return KDR_OK;
}

/* One run at a time where something is shared that cannot be divided: a device, a limit of memory or of time, other ranks. */
static int workers_for(const kdr_context *ctx, const kdri_job_sharing *s)
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

/* k[t] clusters of each data set; 0: to be found in each. */
static kdr_status run_each(kdr_context *ctx, void *user, const int64_t *k)
{
	kdri_job_sharing *s = user;
	KDRI_DO(are_tables(ctx, s, &s->tables));
	runs r = { s, k, kdri_sharing_may_carry(s, k) };
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
		KDRI_DO(kdri_sharing_carry(ctx, s, k));
	return KDR_OK;
}

/* Why data sets cannot be clustered alone first; *out NULL: they can. */
static kdr_status why_not(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets, int64_t count,
                          const char **out)
{
	bool streamed = false;
	for (int64_t t = 0; t < count; t++)
		streamed = streamed || sets[t]->streamed;
	KDRI_DO(kdri_any(ctx, &streamed));
	const bool transfer = kdri_opt_bool(job->options, "transfer");
	*out = streamed              ? "not compared with a run alone, because the data are on disk"
	       : !transfer           ? NULL
	       : ctx->deadline > 0   ? "not compared with a run alone, because of the time limit"
	       : ctx->max_memory > 0 ? "not compared with a run alone, because of the memory limit"
	       : job->feature_options
	               ? "not compared with a run alone, because features were learned from all data sets"
	               : NULL;
	return KDR_OK;
}

/* Which runs alone have words of their own. If data sets learn from each other, those of KDRI_SHARING_ONCE samples and more vote with the
 * partitions of their run alone, which needs common words, and texts with other words only are not left out. */
static kdr_status choose_words(kdr_context *ctx, kdr_data *const *sets, kdri_job_sharing *s)
{
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_data *alone = sets[t]->alone;
		unsigned char *empty = NULL;
		if (alone && s->transfer && alone->rows >= KDRI_SHARING_ONCE)
			continue;
		if (alone && s->transfer)
			KDRI_DO(kdri_content_find(ctx, alone, &empty));
		s->words[t] = empty ? NULL : alone;
		kdri_free(ctx, empty);
	}
	return KDR_OK;
}

static kdr_status begin_runs(kdr_context *ctx, kdr_data **sets, const kdri_k_ranges *levels,
                             kdri_job_sharing *s)
{
	const kdr_job_options *o = s->job->wanted;
	bool later = s->transfer && levels->span > 1;
	s->carries = s->transfer && !later && !o->init && !s->known->problem.tasks;
	KDRI_DO(KDRI_NEW0(ctx, &s->fit.tasks, s->count));
	KDRI_DO(KDRI_NEW0(ctx, &s->raw, s->count));
	KDRI_DO(KDRI_NEW0(ctx, &s->prep, s->count));
	KDRI_DO(KDRI_NEW0(ctx, &s->words, s->count));
	KDRI_DO(choose_words(ctx, sets, s));
	KDRI_DO(KDRI_NEW(ctx, &s->k, s->count));
	s->fit.count = s->count;
	s->levels = levels;
	for (int64_t t = 0; t < s->count; t++) {
		s->fit.tasks[t].from = -1;
		s->k[t] = o->each_k ? o->each_k[t] : o->k;
		later = later || (s->transfer && s->k[t] == 0);
	}
	if (!later) {
		memcpy(s->raw, sets, (size_t)s->count * sizeof *sets);
		return KDR_OK;
	}
	s->copies = true;
	for (int64_t t = 0; t < s->count; t++)
		KDRI_DO(kdri_sharing_copy(ctx, sets[t], &s->raw[t]));
	s->fit.find = run_each;
	s->fit.user = s;
	return KDR_OK;
}

kdr_status kdri_sharing_run(kdr_context *ctx, kdri_job_sharing *s)
{
	if (!s->fit.tasks || s->copies)
		return KDR_OK;
	return s->levels->span > 1 ? run_ranges(ctx, s) : run_each(ctx, s, s->k);
}

/* Whether each data set may be clustered alone first. */
static bool has_runs(const kdri_job *job, int64_t count)
{
	return strcmp(job->algo->id, "auto") == 0 && count > 1 && !job->wanted->pooled && !job->wanted->into;
}

kdr_status kdri_sharing_nothing(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets, int64_t count,
                                bool *out)
{
	const char *why = NULL;
	*out = false;
	if (!has_runs(job, count))
		return KDR_OK;
	KDRI_DO(why_not(ctx, job, sets, count, &why));
	*out = !why && !kdri_opt_bool(job->options, "transfer");
	return KDR_OK;
}

kdr_status kdri_sharing_begin(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                              const kdri_job_known *known, const kdri_k_ranges *levels, kdri_job_sharing *out)
{
	if (!has_runs(job, count))
		return KDR_OK;
	*out = (kdri_job_sharing){ .job = job,
		                   .known = known,
		                   .count = count,
		                   .transfer = kdri_opt_bool(job->options, "transfer") };
	KDRI_DO(why_not(ctx, job, sets, count, &out->why));
	KDRI_DO(KDRI_NEW(ctx, &out->notes, count));
	KDRI_DO(KDRI_NEW(ctx, &out->names, count));
	KDRI_DO(KDRI_NEW(ctx, &out->rows, count));
	for (int64_t t = 0; t < count; t++) {
		out->notes[t] = (kdri_sharing_note){ .nearest = -1, .apart = NAN };
		out->names[t] = sets[t]->name;
		out->rows[t] = sets[t]->rows;
	}
	KDRI_DO(kdri_sum_int(ctx, out->rows, count));
	if (!out->why)
		KDRI_DO(begin_runs(ctx, sets, levels, out));
	ctx->sharing = &out->fit;
	return KDR_OK;
}

static bool has_warning(const kdr_result *r, const char *text)
{
	for (int64_t i = 0; i < r->warning_count; i++)
		if (strcmp(r->warnings[i], text) == 0)
			return true;
	return false;
}

/* Data sets that have the clusters of their run alone may have been preprocessed in another way than all of them together. */
static kdr_status put_prep(kdr_context *ctx, const kdri_job_sharing *s, const kdr_prep *prep,
                           kdr_result *result)
{
	const char *all = kdri_prep_describe(prep);
	char text[2048];
	int used = kdri_snprintf(text, sizeof text, "%s", all), more = 0;
	for (int64_t t = 0; t < s->count; t++) {
		const kdri_given *given = &s->fit.tasks[t];
		if (!given->final || given->from >= 0 || strcmp(s->prep[t], steps_of(all)) == 0)
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

kdr_status kdri_sharing_report(kdr_context *ctx, const kdri_job_sharing *s, kdr_result *result)
{
	if (s->fit.tasks)
		KDRI_DO(put_prep(ctx, s, s->job->prep, result));
	for (int64_t t = 0; t < s->count; t++) {
		const kdr_result *alone = s->fit.tasks ? s->fit.tasks[t].result : NULL;
		KDRI_DO(kdri_sharing_note_task(ctx, s, t, result));
		for (int64_t i = 0; alone && i < alone->warning_count; i++)
			if (!has_warning(result, alone->warnings[i]))
				KDRI_DO(kdri_result_warn(ctx, result, "%s", alone->warnings[i]));
	}
	return KDR_OK;
}
