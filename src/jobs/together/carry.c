/* Clusters that a small data set takes over from a larger one. SPDX-License-Identifier: BSD-3-Clause
 *
 * A data set of few samples per cluster is often clustered best by clusters of a larger data set like it. For data set t with n_t samples
 * and k_t clusters, and every other data set j:
 *
 *     (E1)  eligible: n_t >= 10, n_t <= 20 k_t, n_j >= 4 n_t; not tables
 *     (E2)  u_j of engine/graph/nearness.c, with t and j preprocessed as a pair; j: the data set with the smallest u. Go on if u < 0.65
 *     (E3)  the clusters of j's run alone are classes, and self-training labels t, with both preprocessed as in (E2)
 *     (E4)  with the shares p_j of the clusters in j and p_t in t, go on if TV - e < 0.1; TV = 1/2 sum |p_t - p_j|,
 *           e = 1/2 sqrt(0.64 (k_j - 1) / n_t), about what sampling alone gives
 *     (E5)  while t has more than k_t clusters, the smallest joins the one with the largest sum of its samples' scores
 *
 * At most KDRI_APART_MOST samples of j are used. Neither the order of the data sets nor a third one changes u or the labels: j has its labels
 * from a run alone, and is never smaller. On several ranks, rank 0 gets the rows that are used. Confidence is the share of
 * the label by exp(4 margin) times the mean confidence of that cluster in j: the label is right if both are. With the margins alone, the mean was 0.51
 * where 0.79 of the samples were right; with 4 times the margins it is 0.78 (42 cases). docs/notes/auto.md has the measurements. */
#include "jobs/together/runs.h"

#include "comm/comm.h"
#include "core/numbers.h"
#include "engine/graph/knn.h"
#include "prepare/prep.h"

#include <stdio.h>

static const double sampling = 0.64, sharpness = 4;

kdr_status kdri_runs_copy(kdr_context *ctx, const kdr_data *data, kdr_data **out)
{
	kdr_status st;
	int64_t *rows = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &rows, data->rows));
	for (int64_t i = 0; i < data->rows; i++)
		rows[i] = i;
	KDRI_TRY(kdri_data_part(ctx, data, rows, data->rows, out));
done:
	kdri_free(ctx, rows);
	return st;
}

/* --- several ranks ------------------------------------------------------------------------------------------------- */

/* The values of all ranks replace those of rank 0, which are of `size` bytes each. */
static kdr_status gather(kdr_context *ctx, void *values, int64_t count, size_t size)
{
	void *own, *all = NULL;
	int64_t bytes;
	memcpy(&own, values, sizeof own);
	KDRI_DO(kdri_gather(ctx, own, count * (int64_t)size, &all, &bytes));
	if (!all)
		return KDR_OK;
	kdri_free(ctx, own);
	memcpy(values, &all, sizeof all);
	return KDR_OK;
}

/* Gives rank 0 the rows of all ranks; of names, those of the columns are left. */
static kdr_status gather_rows(kdr_context *ctx, kdr_data *d)
{
	kdr_status st = KDR_OK;
	const int64_t n = d->rows, nnz = d->kind == KDR_MAT_CSR ? d->rowptr[n] : 0;
	int64_t *length = NULL, *rowptr = NULL, all = n;
	if (!kdri_several(ctx))
		return KDR_OK;
	kdri_strings_free(&ctx->allocator, d->ids, n);
	kdri_strings_free(&ctx->allocator, d->excerpts, n);
	d->ids = d->excerpts = NULL;
	KDRI_FREE(ctx, d->labels, d->origin);
	d->labels = d->origin = NULL;
	KDRI_TRY(kdri_sum_int(ctx, &all, 1));
	if (d->kind == KDR_MAT_DENSE) {
		KDRI_TRY(gather(ctx, &d->dense, n * d->cols, sizeof *d->dense));
	} else {
		KDRI_TRY(KDRI_NEW(ctx, &length, n));
		for (int64_t i = 0; i < n; i++)
			length[i] = d->rowptr[i + 1] - d->rowptr[i];
		KDRI_TRY(gather(ctx, &length, n, sizeof *length));
		KDRI_TRY(gather(ctx, &d->col, nnz, sizeof *d->col));
		KDRI_TRY(gather(ctx, &d->val, nnz, sizeof *d->val));
	}
	if (kdri_rank(ctx) > 0)
		goto done;
	if (length) {
		KDRI_TRY(KDRI_NEW0(ctx, &rowptr, all + 1));
		for (int64_t i = 0; i < all; i++)
			rowptr[i + 1] = rowptr[i] + length[i];
		kdri_free(ctx, d->rowptr);
		d->rowptr = rowptr;
	}
	d->rows = all;
done:
	kdri_free(ctx, length);
	return st;
}

/* Rows of data set t, drawn if it has more than `most`: on rank 0 those of all ranks. labels, unless NULL: their clusters. */
static kdr_status take_rows(kdr_context *ctx, const kdri_runs *s, int64_t t, int64_t most, kdr_data **out,
                            int64_t **labels)
{
	kdr_status st;
	const kdr_data *data = s->raw[t];
	int64_t *rows = NULL, *own = NULL, count = s->rows[t], first = 0, n = 0, all;
	if (count > most) {
		KDRI_TRY(kdri_apart_rows(ctx, count, &rows, &count));
	} else {
		KDRI_TRY(KDRI_NEW(ctx, &rows, count));
		for (int64_t i = 0; i < count; i++)
			rows[i] = i;
	}
	KDRI_TRY(kdri_part(ctx, data->rows, &first, &all));
	for (int64_t i = 0; i < count; i++)
		if (rows[i] >= first && rows[i] < first + data->rows)
			rows[n++] = rows[i] - first;
	KDRI_TRY(kdri_data_part(ctx, data, rows, n, out));
	KDRI_TRY(gather_rows(ctx, *out));
	if (labels) {
		KDRI_TRY(KDRI_NEW(ctx, &own, n));
		for (int64_t i = 0; i < n; i++)
			own[i] = s->evidence.alone[t].result->tasks[0].labels[rows[i]];
		KDRI_TRY(gather(ctx, &own, n, sizeof *own));
		*labels = own;
		own = NULL;
	}
done:
	KDRI_FREE(ctx, rows, own);
	return st;
}

/* What rank 0 does alone, with data that it has. */
static kdr_status on_first(kdr_context *ctx, kdr_status (*run)(kdr_context *ctx, void *user), void *user)
{
	kdr_status st = KDR_OK;
	if (kdri_rank(ctx) == 0) {
		kdri_apart(ctx);
		st = run(ctx, user);
		kdri_rejoin(ctx);
	}
	return kdri_agree(ctx, st);
}

/* --- which data set ------------------------------------------------------------------------------------------------- */

/* Aligns and preprocesses data set t and another one as they would be clustered. `job`: to be closed, also after a failure. */
static kdr_status prepare_pair(kdr_context *ctx, const kdri_runs *s, kdr_data *t, kdr_data *j, kdri_job *job)
{
	KDRI_DO(kdri_job_open(ctx, s->job->wanted, KDR_FAMILY_CLUSTER, job));
	return kdri_job_prepare(ctx, job, (kdr_data *[]){ t, j }, 2, 0);
}

typedef struct compared {
	const kdri_runs *s;
	kdr_data *pair[2];
	double apart;
} compared;

static kdr_status compare_pair(kdr_context *ctx, void *user)
{
	kdr_status st;
	compared *c = user;
	kdri_job job = { 0 };
	KDRI_TRY(prepare_pair(ctx, c->s, c->pair[0], c->pair[1], &job));
	const kdr_mat xt = kdr_data_mat(c->pair[0]), xj = kdr_data_mat(c->pair[1]);
	if (job.encoded || !job.prep->column_kind) /* not a table */
		KDRI_TRY(kdri_apart_find(ctx, &xt, &xj, &c->apart));
done:
	kdri_job_close(&job);
	return st;
}

/* (E2) */
static kdr_status find_apart(kdr_context *ctx, const kdri_runs *s, int64_t t, int64_t j, double *out)
{
	kdr_status st;
	compared c = { .s = s, .apart = NAN };
	KDRI_TRY(take_rows(ctx, s, t, KDRI_APART_MOST, &c.pair[0], NULL));
	KDRI_TRY(take_rows(ctx, s, j, KDRI_APART_MOST, &c.pair[1], NULL));
	KDRI_TRY(on_first(ctx, compare_pair, &c));
	KDRI_TRY(kdri_share(ctx, &c.apart, sizeof c.apart, 0));
	*out = c.apart;
done:
	kdr_data_free(c.pair[0]);
	kdr_data_free(c.pair[1]);
	return st;
}

/* (E1) */
static bool is_small(const kdri_runs *s, int64_t t, int64_t k)
{
	return s->rows[t] >= KDRI_CARRY_LEAST && s->rows[t] <= KDRI_SHARING_PER_CLUSTER * k;
}

static bool is_source(const kdri_runs *s, int64_t j, int64_t t)
{
	return j != t && s->rows[j] / KDRI_CARRY_TIMES >= s->rows[t];
}

static kdr_status find_nearest(kdr_context *ctx, kdri_runs *s, int64_t t)
{
	kdri_runs_note *note = &s->notes[t];
	double apart;
	for (int64_t j = 0; j < s->count; j++) {
		if (!is_source(s, j, t) || !s->evidence.alone[j].known)
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

/* What self-training has found: labels and scores of t by the clusters of j. Rank 0 finds it, and gives the others what has no comment. */
typedef struct carried {
	kdri_runs *s;
	int64_t t, j;
	kdr_data *source, *target; /* rows of j, and t */
	int64_t *clusters;         /* of j, for the rows of `source` */
	int64_t n, k, most;        /* n: of t; k: clusters of j; most: clusters of t */
	int64_t classes;           /* of the transfer */
	int64_t *of;               /* classes: clusters of j */
	const double *scores;      /* n x classes */
	kdr_result *result;        /* of the transfer */
	int64_t *label, *sizes;    /* n: clusters of j; k */
	double *share;             /* n: the classifier's share of the label */
	struct {
		double excess; /* (E4) */
		int64_t takes; /* whether t takes these labels */
	} answer;
} carried;

static void carried_free(kdr_context *ctx, carried *c)
{
	KDRI_FREE(ctx, c->label, c->of, c->share, c->sizes, c->clusters);
	kdr_result_free(c->result);
	kdr_data_free(c->source);
	kdr_data_free(c->target);
}

/* The clusters of j become the classes of its rows. */
static kdr_status name_clusters(kdr_context *ctx, carried *c)
{
	kdr_status st;
	char(*text)[24] = NULL;
	const char **names = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &text, c->k));
	KDRI_TRY(KDRI_NEW(ctx, &names, c->k));
	for (int64_t z = 0; z < c->k; z++) {
		snprintf(text[z], sizeof text[z], "%lld", (long long)z);
		names[z] = text[z];
	}
	KDRI_TRY(kdr_data_set_labels(ctx, c->source, c->clusters, names, c->k));
done:
	KDRI_FREE(ctx, text, names);
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
static kdr_status transfer_labels(kdr_context *ctx, carried *c)
{
	const kdr_prep_options done = { .size = sizeof done };
	kdr_job_options o = {
		.size = sizeof o, .method = "self-training", .prep = &done, .choice = KDR_PREP_NONE
	};
	KDRI_DO(name_clusters(ctx, c));
	const kdr_transfer_sets sets = { .size = sizeof sets,
		                         .sources = &c->source,
		                         .nsources = 1,
		                         .targets = &c->target,
		                         .ntargets = 1 };
	KDRI_DO(kdr_transfer(ctx, &sets, &o, &c->result));
	const kdr_array a = kdr_result_array(c->result, "scores", 1);
	const char *const *names = kdr_result_classes(c->result, &c->classes);
	const int64_t *labels = kdr_result_labels(c->result, 1, NULL);
	c->scores = a.data;
	KDRI_DO(KDRI_NEW(ctx, &c->of, c->classes));
	for (int64_t z = 0; z < c->classes; z++)
		kdri_parse_int(names[z], names[z] + strlen(names[z]), &c->of[z]);
	for (int64_t i = 0; i < c->n; i++) {
		c->label[i] = c->of[labels[i]];
		c->share[i] = share_of(c->scores + i * c->classes, c->classes, labels[i]);
		c->sizes[c->label[i]]++;
	}
	return KDR_OK;
}

/* (E4): how much more the shares of the clusters differ than by sampling. */
static double excess_of(const carried *c)
{
	double differ = 0, used = 0;
	const int64_t *sizes = c->s->evidence.alone[c->j].result->tasks[0].sizes;
	for (int64_t z = 0; z < c->k; z++) {
		differ += fabs((double)c->sizes[z] / (double)c->n -
		               (double)sizes[z] / (double)c->s->rows[c->j]);
		used += sizes[z] > 0;
	}
	return differ / 2 - 0.5 * sqrt(sampling * (used - 1) / (double)c->n);
}

/* (E5), one step. */
static void join_smallest(carried *c)
{
	int64_t *sizes = c->sizes;
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

static kdr_status find_labels(kdr_context *ctx, void *user)
{
	carried *c = user;
	kdri_job job = { 0 };
	const kdr_status st = prepare_pair(ctx, c->s, c->target, c->source, &job);
	kdri_job_close(&job);
	KDRI_DO(st);
	KDRI_DO(transfer_labels(ctx, c));
	c->answer.excess = excess_of(c);
	c->answer.takes = c->answer.excess < KDRI_CARRY_EXCESS && c->scores &&
	                  kdr_result_stop(c->result) != KDR_STOP_CANCELLED;
	while (c->answer.takes && count_used(c->sizes, c->k) > c->most)
		join_smallest(c);
	return KDR_OK;
}

/* Gives the labels to the fit, numbered from 0: those of the rows of this rank. */
static kdr_status give_labels(kdr_context *ctx, carried *c)
{
	kdr_status st;
	kdri_evidence *e = &c->s->evidence;
	kdri_carried *to = &e->carried[c->t];
	const double *sure = e->alone[c->j].confidence;
	const kdri_task_result *source = &e->alone[c->j].result->tasks[0];
	const int64_t n = c->s->raw[c->t]->rows;
	int64_t *number = NULL, first = 0, all;
	double *mean = NULL;
	KDRI_TRY(kdri_part(ctx, n, &first, &all));
	KDRI_TRY(KDRI_NEW(ctx, &number, c->k));
	KDRI_TRY(KDRI_NEW0(ctx, &mean, c->k));
	KDRI_TRY(KDRI_NEW(ctx, &to->labels, n));
	KDRI_TRY(KDRI_NEW(ctx, &to->confidence, n));
	KDRI_TRY(KDRI_NEW(ctx, &to->of, c->k));
	for (int64_t i = 0; i < source->n; i++)
		mean[source->labels[i]] += sure ? sure[i] : 1;
	KDRI_TRY(kdri_sum(ctx, mean, c->k));
	to->k = 0;
	for (int64_t z = 0; z < c->k; z++)
		if (c->sizes[z] > 0) {
			to->of[to->k] = z;
			number[z] = to->k++;
		}
	for (int64_t i = 0; i < n; i++) {
		const int64_t z = c->label[first + i];
		to->labels[i] = number[z];
		to->confidence[i] = c->share[first + i] * mean[z] / (double)KDRI_MAX(1, source->sizes[z]);
	}
	to->from = c->j;
	e->final[c->t] = true;
	kdri_alone_drop_graphs(ctx, &e->alone[c->t]);
done:
	KDRI_FREE(ctx, number, mean);
	return st;
}

static kdr_status carry(kdr_context *ctx, kdri_runs *s, int64_t t, int64_t k)
{
	kdr_status st;
	carried c = { .s = s, .t = t, .j = s->notes[t].nearest, .n = s->rows[t], .most = k };
	c.k = s->evidence.alone[c.j].k;
	KDRI_TRY(KDRI_NEW(ctx, &c.label, c.n));
	KDRI_TRY(KDRI_NEW(ctx, &c.share, c.n));
	KDRI_TRY(KDRI_NEW0(ctx, &c.sizes, c.k));
	KDRI_TRY(take_rows(ctx, s, c.j, KDRI_APART_MOST, &c.source, &c.clusters));
	KDRI_TRY(take_rows(ctx, s, t, INT64_MAX, &c.target, NULL));
	KDRI_TRY(on_first(ctx, find_labels, &c));
	KDRI_TRY(kdri_share(ctx, &c.answer, sizeof c.answer, 0));
	s->notes[t].excess = c.answer.excess;
	if (!c.answer.takes)
		goto done;
	KDRI_TRY(kdri_share(ctx, c.label, c.n * (int64_t)sizeof *c.label, 0));
	KDRI_TRY(kdri_share(ctx, c.share, c.n * (int64_t)sizeof *c.share, 0));
	KDRI_TRY(kdri_share(ctx, c.sizes, c.k * (int64_t)sizeof *c.sizes, 0));
	KDRI_TRY(give_labels(ctx, &c));
done:
	carried_free(ctx, &c);
	return st;
}

bool kdri_runs_may_carry(const kdri_runs *s, const int64_t *k)
{
	for (int64_t t = 0; t < s->count && s->carries && !s->tables; t++)
		for (int64_t j = 0; j < s->count && is_small(s, t, k[t]); j++)
			if (is_source(s, j, t))
				return true;
	return false;
}

kdr_status kdri_runs_carry(kdr_context *ctx, kdri_runs *s, const int64_t *k)
{
	kdr_status st = KDR_OK;
	bool stopped = false;
	for (int64_t t = 0; t < s->count && s->carries; t++) {
		stopped = stopped || ctx->cancelled;
		KDRI_TRY(kdri_any(ctx, &stopped));
		if (stopped)
			break;
		if (!s->evidence.alone[t].known || s->evidence.final[t] || !is_small(s, t, k[t]))
			continue;
		KDRI_TRY(find_nearest(ctx, s, t));
		if (s->notes[t].nearest >= 0 && s->notes[t].apart < KDRI_APART_RELATED)
			KDRI_TRY(carry(ctx, s, t, k[t]));
	}
done:
	return st;
}
