/* Clusters that a small data set takes over from a larger one. SPDX-License-Identifier: BSD-3-Clause
 *
 * A data set of few samples per cluster is often clustered best by clusters of a larger data set like it. For data set t with n_t samples
 * and k_t clusters, and every other data set j:
 *
 *     (E1)  eligible: n_t >= 10, n_t <= 20 k_t, n_j >= 4 n_t; not tables
 *     (E2)  u_j of engine/graph/nearness.c, with t and j preprocessed as a pair; j: the data set with the smallest u. Go on if u < 0.65
 *     (E3)  the clusters of j's run alone are classes, and self-training labels t
 *     (E4)  with the shares p_j of the clusters in j and p_t in t, go on if TV - e < 0.1; TV = 1/2 sum |p_t - p_j|,
 *           e = 1/2 sqrt(0.64 (k_j - 1) / n_t), about what sampling alone gives
 *     (E5)  while t has more than k_t clusters, the smallest joins the one with the largest sum of its samples' scores
 *
 * At most KDRI_APART_MOST samples of j are used. Neither the order of the data sets nor a third one changes u or the labels: j has its labels
 * from a run alone, and is never smaller. Confidence is the share of
 * the label by exp(4 margin) times the mean confidence of that cluster in j: the label is right if both are. With the margins alone, the mean was 0.51
 * where 0.79 of the samples were right; with 4 times the margins it is 0.78 (42 cases). docs/notes/auto.md has the measurements. */
#include "jobs/sharing.h"

#include "core/numbers.h"
#include "engine/graph/knn.h"
#include "prepare/prep.h"

#include <stdio.h>

enum { LEAST_SAMPLES = 10, TIMES = 4 };
static const double most_excess = 0.1, sampling = 0.64, sharpness = 4;

kdr_status kdri_sharing_copy(kdr_context *ctx, const kdr_data *data, int64_t most, kdr_data **out)
{
	kdr_status st;
	int64_t *rows = NULL, count = data->rows;
	if (data->rows > most) {
		KDRI_TRY(kdri_apart_rows(ctx, data->rows, &rows, &count));
	} else {
		KDRI_TRY(KDRI_NEW(ctx, &rows, data->rows));
		for (int64_t i = 0; i < data->rows; i++)
			rows[i] = i;
	}
	KDRI_TRY(kdri_data_part(ctx, data, rows, count, out));
done:
	kdri_free(ctx, rows);
	return st;
}

/* --- which data set ------------------------------------------------------------------------------------------------- */

/* (E2) */
static kdr_status find_apart(kdr_context *ctx, const kdri_job_sharing *s, int64_t t, int64_t j, double *out)
{
	kdr_status st;
	kdri_job job = { 0 };
	kdr_data *pair[2] = { NULL, NULL };
	KDRI_TRY(kdri_sharing_copy(ctx, s->raw[t], KDRI_APART_MOST, &pair[0]));
	KDRI_TRY(kdri_sharing_copy(ctx, s->raw[j], KDRI_APART_MOST, &pair[1]));
	KDRI_TRY(kdri_job_open(ctx, s->job->wanted, KDR_FAMILY_CLUSTER, &job));
	KDRI_TRY(kdri_job_prepare(ctx, &job, pair, 2, 0));
	const kdr_mat xt = kdr_data_mat(pair[0]), xj = kdr_data_mat(pair[1]);
	*out = NAN;
	if (job.encoded || !job.prep->column_kind) /* not a table */
		KDRI_TRY(kdri_apart_find(ctx, &xt, &xj, out));
done:
	kdr_data_free(pair[0]);
	kdr_data_free(pair[1]);
	kdri_job_close(&job);
	return st;
}

/* (E1) */
static bool is_small(const kdri_job_sharing *s, int64_t t, int64_t k)
{
	return s->raw[t]->rows >= LEAST_SAMPLES && s->raw[t]->rows <= KDRI_SHARING_PER_CLUSTER * k;
}

static bool is_source(const kdri_job_sharing *s, int64_t j, int64_t t)
{
	return j != t && s->raw[j]->rows / TIMES >= s->raw[t]->rows;
}

static kdr_status find_nearest(kdr_context *ctx, kdri_job_sharing *s, int64_t t)
{
	kdri_sharing_note *note = &s->notes[t];
	double apart;
	for (int64_t j = 0; j < s->count; j++) {
		if (!is_source(s, j, t) || !s->fit.tasks[j].result)
			continue;
		KDRI_DO(find_apart(ctx, s, t, j, &apart));
		if (isnan(apart))
			continue;
		if (note->nearest < 0 || apart < note->apart ||
		    (apart == note->apart && strcmp(s->raw[j]->name, s->raw[note->nearest]->name) < 0)) {
			note->nearest = j;
			note->apart = apart;
		}
	}
	return KDR_OK;
}

/* --- labels -------------------------------------------------------------------------------------------------------- */

/* What self-training has found: labels and scores of t by the clusters of j. */
typedef struct carried {
	int64_t n, k, classes;
	int64_t *label; /* n: clusters of j */
	int64_t *of;    /* classes of the transfer: clusters of j */
	const double *scores;
	double *share;      /* n: the classifier's share of the label */
	kdr_result *result; /* of the transfer */
} carried;

static void carried_free(kdr_context *ctx, carried *c)
{
	KDRI_FREE(ctx, c->label, c->of, c->share);
	kdr_result_free(c->result);
}

/* The rows of j that are used, with its clusters as classes. */
static kdr_status source_of(kdr_context *ctx, const kdri_job_sharing *s, int64_t j, kdr_data **out)
{
	kdr_status st;
	const kdri_task_result *r = &s->fit.tasks[j].result->tasks[0];
	char(*text)[24] = NULL;
	const char **names = NULL;
	int64_t *rows = NULL, *labels = NULL, count;
	kdr_data *data = NULL;
	KDRI_TRY(kdri_sharing_copy(ctx, s->raw[j], KDRI_APART_MOST, &data));
	KDRI_TRY(kdri_apart_rows(ctx, s->raw[j]->rows, &rows, &count));
	KDRI_TRY(KDRI_NEW(ctx, &labels, count));
	KDRI_TRY(KDRI_NEW(ctx, &text, r->k));
	KDRI_TRY(KDRI_NEW(ctx, &names, r->k));
	for (int64_t c = 0; c < r->k; c++) {
		snprintf(text[c], sizeof text[c], "%lld", (long long)c);
		names[c] = text[c];
	}
	for (int64_t i = 0; i < count; i++)
		labels[i] = r->labels[rows[i]];
	KDRI_TRY(kdr_data_set_labels(ctx, data, labels, names, r->k));
	*out = data;
	data = NULL;
done:
	kdr_data_free(data);
	KDRI_FREE(ctx, text, names, rows, labels);
	return st;
}

/* The share of a label by exp(sharpness x margin). */
static double share_of(const double *scores, int64_t classes, int64_t label)
{
	double sum = 0;
	for (int64_t c = 0; c < classes; c++)
		sum += exp(sharpness * (scores[c] - scores[label]));
	return 1 / sum;
}

/* (E3) */
static kdr_status transfer_labels(kdr_context *ctx, const kdri_job_sharing *s, int64_t t, int64_t j,
                                  carried *out)
{
	kdr_status st;
	kdr_data *source = NULL, *target = NULL;
	const kdr_job_options *wanted = s->job->wanted;
	kdr_job_options o = {
		.size = sizeof o, .method = "self-training", .prep = wanted->prep, .choice = wanted->choice
	};
	KDRI_TRY(source_of(ctx, s, j, &source));
	KDRI_TRY(kdri_sharing_copy(ctx, s->raw[t], INT64_MAX, &target));
	const kdr_transfer_sets sets = {
		.size = sizeof sets, .sources = &source, .nsources = 1, .targets = &target, .ntargets = 1
	};
	KDRI_TRY(kdr_transfer(ctx, &sets, &o, &out->result));
	const kdr_array a = kdr_result_array(out->result, "scores", 1);
	const char *const *names = kdr_result_classes(out->result, &out->classes);
	const int64_t *labels = kdr_result_labels(out->result, 1, &out->n);
	out->scores = a.data;
	out->k = s->fit.tasks[j].result->tasks[0].k;
	KDRI_TRY(KDRI_NEW(ctx, &out->of, out->classes));
	KDRI_TRY(KDRI_NEW(ctx, &out->label, out->n));
	KDRI_TRY(KDRI_NEW(ctx, &out->share, out->n));
	for (int64_t c = 0; c < out->classes; c++)
		kdri_parse_int(names[c], names[c] + strlen(names[c]), &out->of[c]);
	for (int64_t i = 0; i < out->n; i++) {
		out->label[i] = out->of[labels[i]];
		out->share[i] = share_of(out->scores + i * out->classes, out->classes, labels[i]);
	}
done:
	kdr_data_free(source);
	kdr_data_free(target);
	return st;
}

/* (E4): how much more the shares of the clusters differ than by sampling. */
static double excess_of(const carried *c, const kdri_task_result *j, const int64_t *sizes)
{
	double differ = 0, used = 0;
	for (int64_t z = 0; z < c->k; z++) {
		differ += fabs((double)sizes[z] / (double)c->n - (double)j->sizes[z] / (double)j->n);
		used += j->sizes[z] > 0;
	}
	return differ / 2 - 0.5 * sqrt(sampling * (used - 1) / (double)c->n);
}

/* (E5), one step. */
static void join_smallest(carried *c, int64_t *sizes)
{
	int64_t least = -1, to = -1;
	double best = -INFINITY;
	for (int64_t z = 0; z < c->k; z++)
		if (sizes[z] > 0 && (least < 0 || sizes[z] < sizes[least]))
			least = z;
	for (int64_t a = 0; a < c->classes; a++) {
		double sum = 0;
		for (int64_t i = 0; i < c->n; i++)
			sum += c->label[i] == least ? c->scores[i * c->classes + a] : 0;
		if (c->of[a] != least && sizes[c->of[a]] > 0 && sum > best) {
			best = sum;
			to = c->of[a];
		}
	}
	for (int64_t i = 0; i < c->n; i++)
		c->label[i] = c->label[i] == least ? to : c->label[i];
	sizes[to] += sizes[least];
	sizes[least] = 0;
}

static int64_t count_used(const int64_t *sizes, int64_t k)
{
	int64_t used = 0;
	for (int64_t z = 0; z < k; z++)
		used += sizes[z] > 0;
	return used;
}

/* Gives the labels to the fit, numbered from 0. */
static kdr_status give_labels(kdr_context *ctx, const kdri_job_sharing *s, int64_t t, int64_t j,
                              const carried *c, const int64_t *sizes)
{
	kdr_status st;
	kdri_given *given = &s->fit.tasks[t];
	const kdr_array sure = kdr_result_array(s->fit.tasks[j].result, "confidence", 0);
	const kdri_task_result *source = &s->fit.tasks[j].result->tasks[0];
	int64_t *number = NULL;
	double *mean = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &number, c->k));
	KDRI_TRY(KDRI_NEW0(ctx, &mean, c->k));
	KDRI_TRY(KDRI_NEW(ctx, &given->label, c->n));
	KDRI_TRY(KDRI_NEW(ctx, &given->confidence, c->n));
	KDRI_TRY(KDRI_NEW(ctx, &given->of, c->k));
	for (int64_t i = 0; i < source->n; i++)
		mean[source->labels[i]] += sure.data ? ((const double *)sure.data)[i] : 1;
	given->k = 0;
	for (int64_t z = 0; z < c->k; z++)
		if (sizes[z] > 0) {
			given->of[given->k] = z;
			number[z] = given->k++;
		}
	for (int64_t i = 0; i < c->n; i++) {
		const int64_t z = c->label[i];
		given->label[i] = number[z];
		given->confidence[i] = c->share[i] * mean[z] / (double)KDRI_MAX(1, source->sizes[z]);
	}
	given->from = j;
	given->final = true;
	kdri_given_drop_graphs(ctx, given);
done:
	KDRI_FREE(ctx, number, mean);
	return st;
}

static kdr_status carry(kdr_context *ctx, kdri_job_sharing *s, int64_t t, int64_t k)
{
	kdr_status st;
	const int64_t j = s->notes[t].nearest;
	carried c = { 0 };
	int64_t *sizes = NULL;
	KDRI_TRY(transfer_labels(ctx, s, t, j, &c));
	KDRI_TRY(KDRI_NEW0(ctx, &sizes, c.k));
	for (int64_t i = 0; i < c.n; i++)
		sizes[c.label[i]]++;
	s->notes[t].excess = excess_of(&c, &s->fit.tasks[j].result->tasks[0], sizes);
	if (s->notes[t].excess >= most_excess || !c.scores || kdr_result_stop(c.result) == KDR_STOP_CANCELLED)
		goto done;
	while (count_used(sizes, c.k) > k)
		join_smallest(&c, sizes);
	KDRI_TRY(give_labels(ctx, s, t, j, &c, sizes));
done:
	carried_free(ctx, &c);
	kdri_free(ctx, sizes);
	return st;
}

bool kdri_sharing_may_carry(const kdri_job_sharing *s, const int64_t *k)
{
	for (int64_t t = 0; t < s->count && s->carries && !s->tables; t++)
		for (int64_t j = 0; j < s->count && is_small(s, t, k[t]); j++)
			if (is_source(s, j, t))
				return true;
	return false;
}

kdr_status kdri_sharing_carry(kdr_context *ctx, kdri_job_sharing *s, const int64_t *k)
{
	kdr_status st = KDR_OK;
	const kdri_inspected *inspected = ctx->inspected;
	const kdri_sharing *sharing = ctx->sharing;
	ctx->inspected = NULL;
	ctx->sharing = NULL;
	for (int64_t t = 0; t < s->count && s->carries && !ctx->cancelled; t++) {
		if (!s->fit.tasks[t].result || s->fit.tasks[t].final || !is_small(s, t, k[t]))
			continue;
		KDRI_TRY(find_nearest(ctx, s, t));
		if (s->notes[t].nearest >= 0 && s->notes[t].apart < KDRI_APART_RELATED)
			KDRI_TRY(carry(ctx, s, t, k[t]));
	}
done:
	ctx->inspected = inspected;
	ctx->sharing = sharing;
	return st;
}

/* --- words --------------------------------------------------------------------------------------------------------- */

static void reason_of(const kdri_job_sharing *s, int64_t t, int64_t n, int64_t k, char *out, size_t room)
{
	const kdri_sharing_note *note = &s->notes[t];
	const char *near = note->nearest < 0 ? "" : s->names[note->nearest];
	if (!s->fit.tasks)
		snprintf(out, room, "%s", s->why);
	else if (!s->transfer)
		snprintf(out, room, "transfer was switched off");
	else if (s->tables)
		snprintf(out, room, "clusters of tables are not carried over");
	else if (n > KDRI_SHARING_MOST)
		snprintf(out, room, "it has more than %d samples", KDRI_SHARING_MOST);
	else if (!s->carries)
		snprintf(
		        out, room,
		        "clusters are not carried over with initial labels, known classes, links or a range of k");
	else if (n < LEAST_SAMPLES)
		snprintf(out, room, "it has fewer than %d samples", LEAST_SAMPLES);
	else if (n > KDRI_SHARING_PER_CLUSTER * k)
		snprintf(out, room, "it has more than %d samples per cluster", KDRI_SHARING_PER_CLUSTER);
	else if (note->nearest < 0)
		snprintf(out, room, "no other data set has %d times as many samples", TIMES);
	else if (note->apart >= KDRI_APART_RELATED)
		kdri_snprintf(out, room, "too different from %s (%.2f; carried over below %.2f)", near,
		              note->apart, KDRI_APART_RELATED);
	else if (note->excess >= most_excess)
		kdri_snprintf(
		        out, room,
		        "the cluster proportions would differ from those of %s (by %.2f more than expected by chance; carried over below %.2f)",
		        near, note->excess, most_excess);
	else
		kdri_snprintf(
		        out, room,
		        "it has %.3g samples per cluster, and they lie as near to those of %s as these to each other (%.2f; 0.5 = alike, 1 = apart)",
		        (double)n / (double)k, near, note->apart);
}

kdr_status kdri_sharing_note_task(kdr_context *ctx, const kdri_job_sharing *s, int64_t t, kdr_result *result)
{
	kdri_task_result *r = &result->tasks[t];
	const kdri_given *given = s->fit.tasks ? &s->fit.tasks[t] : NULL;
	const bool carries = given && given->label && given->from >= 0;
	const kdri_field *moved = kdri_result_field(result, t, "moved");
	char text[512];
	kdri_task_sharing *to = &r->sharing;
	reason_of(s, t, r->all, carries ? given->result->tasks[0].k : r->k, text, sizeof text);
	KDRI_DO(kdri_strdup(ctx, text, &to->reason));
	if (carries)
		KDRI_DO(kdri_strdup(ctx, s->names[given->from], &to->from));
	to->apart = s->notes ? s->notes[t].apart : NAN;
	to->moved = moved ? (int64_t)moved->number : given && given->final ? 0 : -1;
	return KDR_OK;
}
