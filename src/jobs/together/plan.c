/* Whether and when each data set is clustered alone. SPDX-License-Identifier: BSD-3-Clause
 *
 * If the numbers of clusters are known, the runs alone come first, and the copies of the data that they need are made one after the other.
 * Only if data sets learn from each other and the numbers have to be found, all data are copied, and the runs wait for the numbers. */
#include "jobs/together/runs.h"

#include "comm/comm.h"
#include "jobs/content.h"
#include "jobs/together/levels.h"

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
static kdr_status choose_words(kdr_context *ctx, kdr_data *const *sets, kdri_runs *s)
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

static kdr_status begin_runs(kdr_context *ctx, kdr_data **sets, const kdri_k_ranges *levels, kdri_runs *s)
{
	const kdr_job_options *o = s->job->wanted;
	bool later = s->transfer && levels->span > 1;
	s->carries = s->transfer && !later && !o->init && !s->known->problem.tasks;
	KDRI_DO(kdri_evidence_new(ctx, s->count, &s->evidence));
	KDRI_DO(KDRI_NEW0(ctx, &s->raw, s->count));
	KDRI_DO(KDRI_NEW0(ctx, &s->prep, s->count));
	KDRI_DO(KDRI_NEW0(ctx, &s->words, s->count));
	KDRI_DO(choose_words(ctx, sets, s));
	KDRI_DO(KDRI_NEW(ctx, &s->k, s->count));
	s->levels = levels;
	s->ranges = !later && levels->span > 1;
	for (int64_t t = 0; t < s->count; t++) {
		s->k[t] = o->each_k ? o->each_k[t] : o->k;
		later = later || (s->transfer && s->k[t] == 0);
	}
	s->when = later ? KDRI_ALONE_LATER : KDRI_ALONE_FIRST;
	if (!later)
		memcpy(s->raw, sets, (size_t)s->count * sizeof *sets);
	for (int64_t t = 0; t < s->count && later; t++)
		KDRI_DO(kdri_runs_copy(ctx, sets[t], &s->raw[t]));
	return KDR_OK;
}

/* Whether each data set may be clustered alone first. */
static bool has_runs(const kdri_job *job, int64_t count)
{
	return strcmp(job->algo->id, "auto") == 0 && count > 1 && !job->wanted->pooled && !job->wanted->into;
}

kdr_status kdri_runs_nothing(kdr_context *ctx, const kdri_job *job, kdr_data *const *sets, int64_t count,
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

kdr_status kdri_runs_plan(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                          const kdri_job_known *known, const kdri_k_ranges *levels, kdri_runs *out)
{
	if (!has_runs(job, count))
		return KDR_OK;
	*out = (kdri_runs){ .job = job,
		            .known = known,
		            .count = count,
		            .transfer = kdri_opt_bool(job->options, "transfer") };
	KDRI_DO(why_not(ctx, job, sets, count, &out->why));
	KDRI_DO(KDRI_NEW(ctx, &out->notes, count));
	KDRI_DO(KDRI_NEW(ctx, &out->names, count));
	KDRI_DO(KDRI_NEW(ctx, &out->rows, count));
	for (int64_t t = 0; t < count; t++) {
		out->notes[t] = (kdri_runs_note){ .nearest = -1, .apart = NAN };
		out->names[t] = sets[t]->name;
		out->rows[t] = sets[t]->rows;
	}
	KDRI_DO(kdri_sum_int(ctx, out->rows, count));
	if (!out->why)
		KDRI_DO(begin_runs(ctx, sets, levels, out));
	out->sees = true;
	return KDR_OK;
}

const kdri_evidence *kdri_runs_evidence(const kdri_runs *s)
{
	return s->sees ? &s->evidence : NULL;
}

void kdri_runs_free(kdr_context *ctx, kdri_runs *s)
{
	for (int64_t t = 0; s->range && t < s->count; t++) {
		s->evidence.alone[t].result = NULL; /* which is a level of that */
		kdr_result_free(s->range[t]);
	}
	for (int64_t t = 0; s->prep && t < s->count; t++)
		kdri_free(ctx, s->prep[t]);
	for (int64_t t = 0; s->raw && s->when == KDRI_ALONE_LATER && t < s->count; t++)
		kdr_data_free(s->raw[t]);
	kdri_evidence_free(ctx, &s->evidence);
	KDRI_FREE(ctx, s->raw, s->words, s->rows, s->notes, s->k);
	kdri_free(ctx, s->names);
	KDRI_FREE(ctx, s->range, s->prep);
	*s = (kdri_runs){ 0 };
}
