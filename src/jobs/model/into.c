/* Adding data sets to a model. SPDX-License-Identifier: BSD-3-Clause
 *
 * The method clusters the new data sets together with the samples that the model keeps. Then the clusters of each new data set
 * get the numbers of the clusters of the model that they continue. With the mean c_z of cluster z of a data set with mean m, and n_z
 * samples in it:
 *
 *     (E1)  u_z = c_z - m; u_l of cluster l of the model: sum of n_l (c_l - m) over its data sets
 *     (E2)  the assignment of clusters z to clusters l with the largest sum of cos(u_z, u_l)
 *     (E3)  a pair stays if its cosine is at least 0.11 and either at least 0.8 or |c_z - c_l - s| <= 3 max(r_z, r_l): c_l the mean of cluster l over the data sets of the model, s the
 *           median over all pairs of each coordinate of c_z - c_l, which is the shift of the new data set, and r_z, r_l the root
 *           mean square distances of samples from c_z and c_l. With --new-clusters yes: 0.35 and 2
 *           All other clusters get new numbers.
 *
 * (E1) to (E3) are how auto matches the clusters of data sets (engine/ensemble/poll_report.c). The clusters of a new data set join those of the
 * model before the next one is matched. In the result the data sets of the model have no labels: it keeps only some of their
 * samples. docs/notes/into.md compares the rule with others. jobs/model/into_prepare.c has what comes
 * before the fit. */
#include "jobs/model/into.h"
#include "jobs/model/model.h"
#include "jobs/say/say.h"

#include "api/known.h"
#include "api/model.h"
#include "api/moments.h"
#include "api/number.h"
#include "engine/ensemble/probability_right.h"
#include "engine/graph/views.h"
#include "engine/metrics/metrics.h"
#include "matrix/linalg.h"

#include <stdio.h>
#include <stdlib.h>
/* --- numbers of clusters -------------------------------------------------------------------------------- */

/* The clusters that there are so far: those of the model, then new ones. Sums over data sets, times n_l. */
typedef struct pool {
	int64_t k, d;   /* clusters, columns */
	double *sum;    /* k x d: u_l */
	double *mean;   /* k x d: c_l */
	double *square; /* k: mean squared length of the samples */
	double *weight; /* k: n_l */
} pool;

static void pool_free(kdr_context *ctx, pool *p)
{
	kdri_free(ctx, p->sum);
	kdri_free(ctx, p->mean);
	kdri_free(ctx, p->square);
	kdri_free(ctx, p->weight);
}

/* Room for k clusters. */
static kdr_status pool_grow(kdr_context *ctx, pool *p, int64_t k)
{
	int64_t size;
	if (k <= p->k)
		return KDR_OK;
	KDRI_DO(kdri_mul(ctx, k, p->d, &size));
	KDRI_DO(KDRI_GROW(ctx, &p->sum, size));
	KDRI_DO(KDRI_GROW(ctx, &p->mean, size));
	KDRI_DO(KDRI_GROW(ctx, &p->square, k));
	KDRI_DO(KDRI_GROW(ctx, &p->weight, k));
	for (int64_t i = p->k * p->d; i < size; i++)
		p->sum[i] = p->mean[i] = 0;
	for (int64_t l = p->k; l < k; l++)
		p->square[l] = p->weight[l] = 0;
	p->k = k;
	return KDR_OK;
}

/* The clusters of one data set: means less the mean of the data set. */
typedef struct clusters {
	int64_t k;
	double *mean;      /* d */
	double *deviation; /* k x d: u_z */
	double *square;    /* k: mean squared length of the samples */
	int64_t *size;     /* k */
} clusters;

static void clusters_free(kdr_context *ctx, clusters *c)
{
	kdri_free(ctx, c->mean);
	kdri_free(ctx, c->deviation);
	kdri_free(ctx, c->square);
	kdri_free(ctx, c->size);
}

/* From the centroids of a result; for tables and after a change of weights, from the rows, of unit length for cosines. */
static kdr_status clusters_new(kdr_context *ctx, const kdr_result *r, int64_t t, const kdr_data *data,
                               bool reweighed, const int64_t *labels, const int64_t *sizes, int64_t k,
                               clusters *c)
{
	kdr_status st;
	const kdr_array known = kdr_result_array(r, "centroids", t),
	                unit = kdr_result_array(r, "unit_rows", t);
	const kdr_mat given = kdr_data_mat(data);
	kdri_own x = { .view = given };
	const int64_t d = data->cols;
	int64_t size, all = 0;
	c->k = k;
	KDRI_TRY(kdri_mul(ctx, k, d, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &c->deviation, size));
	KDRI_TRY(KDRI_NEW0(ctx, &c->mean, d));
	KDRI_TRY(KDRI_NEW0(ctx, &c->square, k));
	KDRI_TRY(KDRI_NEW0(ctx, &c->size, k));
	for (int64_t i = 0; i < data->rows; i++)
		c->size[labels[i]]++;
	if (unit.data && *(const int64_t *)unit.data)
		KDRI_TRY(kdri_unit_rows(ctx, &given, &x));
	for (int64_t i = 0; i < data->rows; i++) {
		const kdri_entries row = kdri_row_entries(&x.view, i);
		const double share = 1 / (double)c->size[labels[i]];
		c->square[labels[i]] += share * kdri_nrm2sq(row.val, row.count);
		for (int64_t p = 0; p < row.count; p++)
			c->deviation[labels[i] * d + kdri_entry_column(&row, p)] += share * row.val[p];
	}
	if (!reweighed && known.data && known.ndim == 2 && known.shape[0] == k && known.shape[1] == d)
		memcpy(c->deviation, known.data, (size_t)size * sizeof *c->deviation);
	if (sizes)
		memcpy(c->size, sizes, (size_t)k * sizeof *sizes);
	for (int64_t z = 0; z < k; z++)
		all += c->size[z];
	for (int64_t z = 0; z < k; z++)
		kdri_axpy((double)c->size[z] / (double)KDRI_MAX(all, 1), c->deviation + z * d, c->mean, d);
	for (int64_t z = 0; z < k; z++)
		kdri_axpy(-1, c->mean, c->deviation + z * d, d); /* (E1) */
done:
	kdri_own_free(ctx, &x);
	return st;
}

/* Cluster z has the number now[z]. */
static void pool_add(pool *p, const clusters *c, const int64_t *now)
{
	for (int64_t z = 0; z < c->k; z++) {
		const int64_t l = now ? now[z] : z;
		const double n = (double)c->size[z];
		kdri_axpy(n, c->deviation + z * p->d, p->sum + l * p->d, p->d);
		kdri_axpy(n, c->deviation + z * p->d, p->mean + l * p->d, p->d);
		kdri_axpy(n, c->mean, p->mean + l * p->d, p->d);
		p->square[l] += n * c->square[z];
		p->weight[l] += n;
	}
}

static int compare_reals(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* far[z]: the left side of (E3) divided by max(r_z, r_l); 0 for clusters without a pair. */
static kdr_status distances(kdr_context *ctx, const clusters *c, const pool *p, const int64_t *now,
                            double *far)
{
	kdr_status st;
	double *apart = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &apart, 2 * c->k));
	for (int64_t z = 0; z < c->k; z++)
		far[z] = 0;
	for (int64_t j = 0; j < p->d; j++) {
		int64_t pairs = 0;
		for (int64_t z = 0; z < c->k; z++)
			if (now[z] >= 0 && c->size[z] > 0 && p->weight[now[z]] > 0) {
				apart[z] = c->mean[j] + c->deviation[z * p->d + j] -
				           p->mean[now[z] * p->d + j] / p->weight[now[z]];
				apart[c->k + pairs++] = apart[z];
			}
		if (pairs == 0)
			continue;
		qsort(apart + c->k, (size_t)pairs, sizeof *apart, compare_reals);
		const double shift = (apart[c->k + (pairs - 1) / 2] + apart[c->k + pairs / 2]) / 2;
		for (int64_t z = 0; z < c->k; z++)
			if (now[z] >= 0 && c->size[z] > 0 && p->weight[now[z]] > 0)
				far[z] += (apart[z] - shift) * (apart[z] - shift);
	}
	for (int64_t z = 0; z < c->k; z++) {
		double own = c->square[z], theirs = now[z] >= 0 ? p->square[now[z]] : 0;
		const double weight = now[z] >= 0 ? p->weight[now[z]] : 0;
		for (int64_t j = 0; j < p->d; j++) {
			const double m = c->mean[j] + c->deviation[z * p->d + j];
			own -= m * m;
		}
		theirs = weight > 0 ? theirs / weight -
		                              kdri_nrm2sq(p->mean + now[z] * p->d, p->d) / weight / weight
		                    : 0;
		const double radius = sqrt(KDRI_MAX(KDRI_MAX(own, theirs), 0));
		far[z] = radius > 0 ? sqrt(far[z]) / radius : 0;
	}
done:
	kdri_free(ctx, apart);
	return st;
}

/* Numbers of the clusters of a data set, and the probability that each is right; 1 for new ones. */
static kdr_status choose_numbers(kdr_context *ctx, const clusters *c, kdr_new_clusters which, pool *p,
                                 int64_t *now, double *chance)
{
	kdr_status st;
	const bool never = which == KDR_NEW_CLUSTERS_NO, gladly = which == KDR_NEW_CLUSTERS_YES;
	const double least = gladly ? 0.35 : 0.11, most = gladly ? 2 : 3, alike = 0.8; /* cosines */
	double *cost = NULL, *far = NULL;
	int64_t size, next = p->k;
	KDRI_TRY(kdri_mul(ctx, c->k, p->k, &size));
	KDRI_TRY(KDRI_NEW(ctx, &cost, size));
	KDRI_TRY(KDRI_NEW(ctx, &far, c->k));
	for (int64_t z = 0; z < c->k; z++)
		for (int64_t l = 0; l < p->k; l++) {
			const double *u = c->deviation + z * p->d, *v = p->sum + l * p->d;
			const double length = sqrt(kdri_nrm2sq(u, p->d)) * sqrt(kdri_nrm2sq(v, p->d));
			cost[z * p->k + l] = length > 0 ? -kdri_dot(u, v, p->d) / length : 1;
		}
	KDRI_TRY(kdri_assign(ctx, cost, c->k, p->k, now, NULL, NULL)); /* (E2) */
	KDRI_TRY(distances(ctx, c, p, now, far));
	for (int64_t z = 0; z < c->k; z++) {
		const double cosine = now[z] >= 0 ? -cost[z * p->k + now[z]] : 0;
		chance[z] = now[z] >= 0 ? kdri_match_right(cosine, p->k, p->d) : 0;
		if (now[z] < 0 || (!never && c->size[z] > 0 &&
		                   (cosine < least || (cosine < alike && far[z] > most)))) { /* (E3) */
			now[z] = next++;
			chance[z] = 1;
		}
	}
done:
	kdri_free(ctx, cost);
	kdri_free(ctx, far);
	return st;
}

/* --- the result ------------------------------------------------------------------------------------------ */

/* What the fit found, and what becomes of it. */
typedef struct into {
	kdri_job *job;
	const kdr_model *model;
	kdr_data **all;     /* kept samples of the model's data sets, then the new data sets */
	int64_t old, count; /* data sets of the model; all */
	kdr_result *found, *result;
	kdri_own *x; /* what is clustered, where weights were changed */
	bool reweighed;
	pool pool;
	int64_t *now;
	double *chance;
} into;

static kdr_status copy_fields(kdr_context *ctx, const into *j, int64_t task)
{
	char name[128];
	for (int64_t i = 0; i < j->found->field_count; i++) {
		const kdri_field *f = &j->found->fields[i];
		if (f->task != task || f->stem >= sizeof name)
			continue;
		memcpy(name, f->name, f->stem);
		name[f->stem] = '\0';
		if (task < 0)
			KDRI_DO(f->text ? kdri_result_text(ctx, j->result, name, f->text)
			                : kdri_result_number(ctx, j->result, name, f->number));
		else
			KDRI_DO(f->text ? kdri_result_task_text(ctx, j->result, task, name, f->text)
			                : kdri_result_task_number(ctx, j->result, task, name, f->number));
	}
	return KDR_OK;
}

/* Arrays of task t of a result, whose clusters get the numbers `now` (NULL: keep theirs) of k. */
static kdr_status copy_arrays(kdr_context *ctx, const kdr_result *from, int64_t t, const int64_t *now,
                              int64_t k, bool model_only, kdr_result *to)
{
	kdr_status st = KDR_OK;
	int64_t *same = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &same, k));
	for (int64_t z = 0; z < k; z++)
		same[z] = z;
	for (int64_t i = 0; i < kdr_result_array_count(from); i++) {
		const kdr_array a = kdr_result_array_at(from, i);
		const kdr_field_desc *f = from->algo->fields;
		while (f->name && strcmp(f->name, a.name) != 0)
			f++;
		if (a.task == t && strcmp(a.name, "match_quality") != 0 && (!model_only || f->in_model))
			KDRI_TRY(
			        kdri_array_renumbered(ctx, &a, now ? now : same, from->tasks[t].k, k, t, to));
	}
done:
	kdri_free(ctx, same);
	return st;
}

/* A data set of the model. Tables: the mixtures are those of this fit, which has found the clusters of the kept samples again. */
static kdr_status put_old(kdr_context *ctx, into *j, int64_t t)
{
	kdr_status st = KDR_OK;
	const kdr_result *before = j->model->fitted;
	const kdri_task_result *task = &before->tasks[t];
	const kdr_job_options *o = j->job->wanted;
	kdri_task_result *to = &j->result->tasks[t];
	const bool table = kdr_result_array(j->found, "table_shares", t).data != NULL;
	const int64_t k = task->k, *labels = j->found->tasks[t].labels;
	double *cost = NULL;
	int64_t *now = NULL, size;
	char text[400];
	KDRI_TRY(KDRI_NEW(ctx, &now, k));
	kdri_snprintf(text, sizeof text, "%s: a data set of the model, whose labels stay the same", to->name);
	KDRI_TRY(kdri_result_task_text(ctx, j->result, t, "advice", text));
	if (task->number) {
		KDRI_TRY(KDRI_NEW(ctx, &to->number, k));
		memcpy(to->number, task->number, (size_t)k * sizeof *to->number);
	}
	if (task->sizes) {
		KDRI_TRY(KDRI_NEW(ctx, &to->sizes, k));
		memcpy(to->sizes, task->sizes, (size_t)k * sizeof *to->sizes);
	}
	if (task->known && !o->model_without_samples) {
		KDRI_TRY(KDRI_NEW(ctx, &to->known, 2 * task->nknown));
		memcpy(to->known, task->known, 2 * (size_t)task->nknown * sizeof *to->known);
		to->nknown = task->nknown;
	}
	if (task->moments)
		KDRI_TRY(kdri_moments_copy(ctx, task->moments, NULL, k, &to->moments));
	KDRI_TRY(kdri_job_remember(ctx, j->job, task->remembered,
	                           task->remembered ? task->remembered->labels : NULL, k, to));
	if (!table) {
		KDRI_TRY(copy_arrays(ctx, before, t, NULL, k, true, j->result));
		goto done;
	}
	KDRI_TRY(kdri_mul(ctx, k, k, &size));
	KDRI_TRY(KDRI_NEW0(ctx, &cost, size));
	for (int64_t i = 0; i < j->all[t]->rows; i++)
		cost[labels[i] * k + j->all[t]->labels[i]]--;
	KDRI_TRY(kdri_assign(ctx, cost, k, k, now, NULL, NULL));
	KDRI_TRY(copy_arrays(ctx, j->found, t, now, k, true, j->result));
done:
	kdri_free(ctx, cost);
	kdri_free(ctx, now);
	return st;
}

/* Centroids with the weights of the model; those of numbers that a new data set has no cluster of are where the cluster would be
 * expected. Of tables: (almost) no share. */
static void put_centroids(const into *j, int64_t t, const clusters *c)
{
	const kdr_array centroid = kdr_result_array(j->result, "centroids", t),
	                share = kdr_result_array(j->result, "table_shares", t);
	const int64_t k = j->pool.k, d = j->pool.d;
	for (int64_t i = 0; share.data && i < share.shape[0] * share.shape[1]; i++)
		((double *)share.data)[i] = KDRI_MAX(((double *)share.data)[i], 1e-300);
	for (int64_t l = 0; centroid.data && l < k; l++) {
		const double *from = j->pool.sum + l * d;
		double by = j->pool.weight[l] > 0 ? 1 / j->pool.weight[l] : 0;
		for (int64_t z = 0; z < c->k; z++)
			if (j->now[z] == l) {
				from = c->deviation + z * d;
				by = 1;
			}
		for (int64_t p = 0; p < d; p++)
			((double *)centroid.data)[l * d + p] = c->mean[p] + by * from[p];
	}
}

/* "continues clusters 0 (93 %) and 2 (71 %) of the model (estimated probability); cluster 4 is new" */
static kdr_status put_advice(kdr_context *ctx, const into *j, int64_t t, const clusters *c, int64_t before)
{
	const kdri_field *own = kdri_result_field(j->found, t, "advice");
	const char *advice = own && own->text ? own->text : NULL;
	char continued[400] = "", fresh[200] = "", text[1400];
	int64_t count = 0;
	for (int64_t z = 0; z < c->k; z++) {
		if (c->size[z] == 0)
			continue;
		if (j->now[z] < before)
			kdri_list_add(continued, sizeof continued, "%lld (%.0f %%)", (long long)j->now[z],
			              100 * j->chance[z]);
		else
			kdri_list_add(fresh, sizeof fresh, "%lld", (long long)j->now[z]);
		count += j->now[z] >= before;
	}
	kdri_snprintf(text, sizeof text, "%s%s%s%s%s%s%s", advice ? advice : j->result->tasks[t].name,
	              advice ? "\n" : ": ",
	              continued[0] ? "continues clusters of the model (estimated probability): " : "",
	              continued, continued[0] && fresh[0] ? "; " : "", fresh[0] ? "new clusters: " : "",
	              fresh);
	KDRI_DO(kdri_result_task_text(ctx, j->result, t, "advice", text));
	return kdri_result_task_number(ctx, j->result, t, "new_clusters", (double)count);
}

static kdr_status put_new(kdr_context *ctx, into *j, int64_t t)
{
	kdr_status st;
	kdri_task_result *from = &j->found->tasks[t], *to = &j->result->tasks[t];
	clusters c = { 0 };
	int64_t *labels = NULL;
	const int64_t before = j->pool.k;
	KDRI_TRY(clusters_new(ctx, j->found, t, j->all[t], j->reweighed, from->labels, NULL, from->k, &c));
	KDRI_TRY(KDRI_GROW(ctx, &j->now, from->k));
	KDRI_TRY(KDRI_GROW(ctx, &j->chance, from->k));
	KDRI_TRY(choose_numbers(ctx, &c, j->job->wanted->new_clusters, &j->pool, j->now, j->chance));
	int64_t k = j->pool.k;
	for (int64_t z = 0; z < c.k; z++)
		k = KDRI_MAX(k, j->now[z] + 1);
	KDRI_TRY(pool_grow(ctx, &j->pool, k));
	pool_add(&j->pool, &c, j->now);
	kdri_result_set_k(j->result, t, k);
	KDRI_TRY(kdri_result_labels(ctx, j->result, t, &labels));
	for (int64_t i = 0; i < to->n; i++)
		labels[i] = j->now[from->labels[i]];
	for (int64_t i = 0; i < from->nknown; i++)
		from->known[2 * i + 1] = j->now[from->known[2 * i + 1]];
	to->known = from->known;
	to->nknown = from->nknown;
	from->known = NULL;
	to->remembered = from->remembered;
	from->remembered = NULL;
	for (int64_t i = 0; to->remembered && i < to->remembered->rows; i++)
		to->remembered->labels[i] = j->now[to->remembered->labels[i]];
	if (from->moments)
		KDRI_TRY(kdri_moments_copy(ctx, from->moments, j->now, k, &to->moments));
	KDRI_TRY(copy_arrays(ctx, j->found, t, j->now, k, false, j->result));
	put_centroids(j, t, &c);
	KDRI_TRY(copy_fields(ctx, j, t));
	KDRI_TRY(put_advice(ctx, j, t, &c, before));
done:
	clusters_free(ctx, &c);
	return st;
}

/* What the fit says about all data sets. */
static kdr_status put_common(kdr_context *ctx, into *j)
{
	const kdr_result *from = j->found;
	kdr_result *to = j->result;
	double *relatedness = NULL;
	KDRI_DO(copy_fields(ctx, j, -1));
	for (int64_t i = 0; i < kdr_result_array_count(from); i++) {
		const kdr_array a = kdr_result_array_at(from, i);
		if (a.task < 0)
			KDRI_DO(kdri_array_renumbered(ctx, &a, NULL, 0, 0, -1, to));
	}
	if (from->relatedness) {
		KDRI_DO(kdri_result_relatedness(ctx, to, &relatedness));
		memcpy(relatedness, from->relatedness, (size_t)(j->count * j->count) * sizeof *relatedness);
	}
	for (int64_t i = 0; i < from->objective_count; i++)
		KDRI_DO(kdri_result_objective(ctx, to, from->objective[i]));
	for (int64_t i = 0; i < from->warning_count; i++)
		KDRI_DO(kdri_result_warn(ctx, to, "%s", from->warnings[i]));
	kdri_result_stop(to, from->stop, from->iterations);
	to->shared_clusters = true;
	kdri_result_set_exponent(to, kdri_result_exponent(from));
	return KDR_OK;
}

static kdr_status into_assemble(kdr_context *ctx, into *j, const kdr_problem *problem)
{
	kdr_status st;
	const kdr_result *before = j->model->fitted;
	clusters c = { 0 };
	KDRI_TRY(kdri_result_new(ctx, j->job->algo, problem, &j->result));
	KDRI_TRY(kdri_result_about(ctx, j->result, problem, j->job->options));
	for (int64_t t = 0; t < j->count; t++)
		KDRI_TRY(kdri_result_describe(ctx, j->result, t, j->all[t]));
	KDRI_TRY(put_common(ctx, j));
	j->pool.d = j->all[0]->cols;
	for (int64_t t = 0; t < j->old; t++) {
		const kdri_task_result *task = &before->tasks[t];
		KDRI_TRY(clusters_new(ctx, before, t, j->all[t], false, j->all[t]->labels, task->sizes,
		                      task->k, &c));
		KDRI_TRY(pool_grow(ctx, &j->pool, kdri_cluster_span(task)));
		pool_add(&j->pool, &c, task->number);
		clusters_free(ctx, &c);
		c = (clusters){ 0 };
	}
	for (int64_t t = j->old; t < j->count; t++)
		KDRI_TRY(put_new(ctx, j, t));
	KDRI_TRY(kdri_result_count(ctx, j->result));
	for (int64_t t = 0; t < j->old; t++)
		KDRI_TRY(put_old(ctx, j, t));
done:
	clusters_free(ctx, &c);
	return st;
}

/* The number of clusters of new data set i: as specified, or that of the model. */
static kdr_status into_k(kdr_context *ctx, const into *j, int64_t i, int64_t most, int64_t *k)
{
	const kdr_job_options *o = j->job->wanted;
	*k = o->each_k ? o->each_k[i] : o->k;
	if (*k > most && o->new_clusters == KDR_NEW_CLUSTERS_NO)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "-k %lld: the model has %lld clusters, and --new-clusters 'no' allows no more; use --new-clusters 'yes' or 'auto'",
		        (long long)*k, (long long)most);
	if (*k == 0)
		*k = KDRI_MIN(most, j->all[j->old + i]->rows);
	return KDR_OK;
}

static kdr_status into_run(kdr_context *ctx, into *j)
{
	kdr_status st;
	kdr_task *tasks = NULL;
	int64_t most = 0;
	kdri_job *job = j->job;
	KDRI_TRY(KDRI_NEW0(ctx, &tasks, j->count));
	for (int64_t t = 0; t < j->old; t++)
		most = KDRI_MAX(most, j->model->fitted->tasks[t].k);
	for (int64_t t = 0; t < j->count; t++) {
		tasks[t] = (kdr_task){ .name = j->all[t]->name,
			               .role = KDR_ROLE_TASK,
			               .x = kdr_data_mat(j->all[t]) };
		if (t < j->old)
			tasks[t].k = j->model->fitted->tasks[t].k;
		else
			KDRI_TRY(into_k(ctx, j, t - j->old, most, &tasks[t].k));
	}
	KDRI_TRY(kdri_into_reweigh(ctx, job->prep, j->all, j->old, j->count, j->x));
	for (int64_t t = 0; t < j->count; t++)
		if (j->x[t].parts[0]) {
			tasks[t].x = j->x[t].view;
			j->reweighed = true;
		}
	kdr_problem about = { .size = sizeof(kdr_problem), .ntasks = j->count };
	KDRI_TRY(kdri_job_fit(ctx, job, tasks, j->all, &about, NULL, &j->found));
	if (kdri_result_exponent(j->found) != kdri_result_exponent(j->model->fitted)) {
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "the values are too far from those that the model was fitted on");
		goto done;
	}
	for (int64_t t = j->old; t < j->count; t++)
		KDRI_TRY(kdri_job_remember(ctx, job, j->all[t], j->found->tasks[t].labels,
		                           j->found->tasks[t].k, &j->found->tasks[t]));
	for (int64_t t = 0; t < j->count; t++)
		tasks[t].x = kdr_data_mat(j->all[t]);
	about.tasks = tasks;
	for (int64_t t = 0; t < j->count && j->reweighed; t++) {
		kdri_free(ctx, j->found->tasks[t].known);
		j->found->tasks[t].known = NULL;
		j->found->tasks[t].nknown = 0;
	}
	if (j->reweighed)
		KDRI_TRY(kdri_known_put(ctx, &about, j->found));
	KDRI_TRY(kdri_job_encode(ctx, job, j->all, j->count));
	KDRI_TRY(into_assemble(ctx, j, &about));
	KDRI_TRY(kdri_job_agreement(ctx, job, j->all, j->result));
	for (int64_t t = j->old; t < j->count && job->wanted->score; t++)
		KDRI_TRY(kdri_job_score(ctx, j->result, t, j->all[t], false, 0));
	KDRI_TRY(kdri_job_take_titles(ctx, j->model->fitted, j->result));
	KDRI_TRY(kdri_job_words(ctx, j->result, j->all, job->recipe.kind));
	KDRI_TRY(kdri_job_take_names(ctx, j->model->fitted, j->result));
	KDRI_TRY(kdri_job_markers(ctx, j->result, j->all));
	KDRI_TRY(kdri_job_choices(ctx, j->result, j->all));
	KDRI_TRY(kdri_job_representation(ctx, job, j->result, j->all));
	KDRI_TRY(kdri_job_map(ctx, job, j->result, j->all));
	kdri_job_finish(job, j->result);
done:
	kdri_free(ctx, tasks);
	return st;
}

kdr_status kdri_cluster_into(kdr_context *ctx, kdri_job *job, kdr_data **sets, int64_t count,
                             kdr_result **out)
{
	kdr_status st;
	const kdr_model *m = job->wanted->into;
	into j = { .job = job, .model = m, .old = m->ntasks, .count = m->ntasks + count };
	kdr_data **kept = NULL;
	KDRI_TRY(kdri_into_prepare(ctx, job, sets, count, &kept));
	KDRI_TRY(KDRI_NEW(ctx, &j.all, j.count));
	KDRI_TRY(KDRI_NEW0(ctx, &j.x, j.count));
	for (int64_t t = 0; t < j.count; t++)
		j.all[t] = t < j.old ? kept[t] : sets[t - j.old];
	KDRI_TRY(into_run(ctx, &j));
	*out = j.result;
	j.result = NULL;
done:
	for (int64_t t = 0; kept && t < j.old; t++)
		kdr_data_free(kept[t]);
	for (int64_t t = 0; j.x && t < j.count; t++)
		kdri_own_free(ctx, &j.x[t]);
	kdri_free(ctx, j.x);
	kdri_free(ctx, kept);
	kdri_free(ctx, j.all);
	kdri_free(ctx, j.now);
	kdri_free(ctx, j.chance);
	pool_free(ctx, &j.pool);
	kdr_result_free(j.found);
	kdr_result_free(j.result);
	return st;
}
