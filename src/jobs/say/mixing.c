/* How well the data sets of a result mix, and which data sets and classes its clusters have. SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of neighbourhoods (engine/metrics/mixing.c) need a space that all data sets share. It is the array that the method marks as
 * such (kdr_field_desc.common_space); else the coordinates that the map of the report starts from
 * (kdri_embed_shared): samples minus the mean of their data set, along the leading directions of all.
 *
 * A cluster here is a cluster of all data sets: those of the same number (jobs/say/clusters.c). For a cluster with n_t of its n samples from data set t, and T data sets:
 *
 * (E1) largest = the largest n_t / n
 * (E2) entropy = - sum_t (n_t / n) log(n_t / n) / log T: 0 for one data set, 1 for equal shares of all
 * (E3) purity = the proportion of the most frequent known class among the samples whose class is known */
#include "comm/comm.h"
#include "core/json_write.h"
#include "core/names.h"
#include "engine/embed/embed.h"
#include "engine/metrics/metrics.h"
#include "jobs/job.h"
#include "jobs/say/say.h"

/* All samples, one data set after the other. */
typedef struct stacked {
	int64_t n;
	int64_t *set;     /* of each sample */
	int64_t *cluster; /* of each sample: its number */
	kdri_own x;
	const char *space;
} stacked;

static void stacked_free(kdr_context *ctx, stacked *s)
{
	KDRI_FREE(ctx, s->set, s->cluster);
	kdri_own_free(ctx, &s->x);
}

static kdr_status find_clusters(kdr_context *ctx, const kdr_result *r, stacked *s)
{
	for (int64_t t = 0; t < r->ntasks; t++)
		s->n += r->tasks[t].n;
	KDRI_DO(KDRI_NEW(ctx, &s->set, s->n));
	KDRI_DO(KDRI_NEW(ctx, &s->cluster, s->n));
	for (int64_t t = 0, at = 0; t < r->ntasks; t++)
		for (int64_t i = 0; i < r->tasks[t].n; i++, at++) {
			s->set[at] = t;
			s->cluster[at] = r->tasks[t].number[r->tasks[t].labels[i]];
		}
	return KDR_OK;
}

/* --- the common space ------------------------------------------------------------------------------------ */

/* The method's own, if it has one. */
static kdr_status stack_array(kdr_context *ctx, const kdr_result *r, const char *name, stacked *s)
{
	kdr_status st;
	kdr_mat *parts = NULL;
	const kdr_mat **list = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &parts, r->ntasks));
	KDRI_TRY(KDRI_NEW(ctx, &list, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdr_array a = kdr_result_array(r, name, t);
		if (!a.data || a.type != KDR_FLOAT64 || a.ndim != 2 || a.shape[0] != r->tasks[t].n ||
		    (t > 0 && a.shape[1] != kdr_mat_cols(&parts[0])))
			goto done;
		parts[t] = kdr_mat_from_dense(a.data, a.shape[0], a.shape[1]);
		list[t] = &parts[t];
	}
	KDRI_TRY(kdri_mat_stack(ctx, list, r->ntasks, &s->x));
	s->space = "the method's common representation of the data sets";
done:
	KDRI_FREE(ctx, parts, list);
	return st;
}

/* The map's, with at most `most` columns. */
static kdr_status stack_directions(kdr_context *ctx, const kdr_result *r, kdr_data *const *data, int64_t most,
                                   stacked *s)
{
	kdr_status st;
	kdr_mat *x = NULL;
	double *shared = NULL;
	int64_t width = 0;
	KDRI_TRY(KDRI_NEW(ctx, &x, r->ntasks));
	for (int64_t t = 0; t < r->ntasks; t++) {
		x[t] = kdr_data_mat(data[t]);
		if (data[t]->cols != data[0]->cols || data[t]->rows != r->tasks[t].n)
			goto done;
	}
	KDRI_TRY(kdri_embed_shared(ctx, x, r->ntasks, most, &shared, &width));
	s->x = (kdri_own){ kdr_mat_from_dense(shared, s->n, width), { shared } };
	s->space =
	        "the samples minus the mean of their data set, projected onto the leading directions of all data sets";
done:
	kdri_free(ctx, x);
	return st;
}

static kdr_status find_space(kdr_context *ctx, const kdr_result *r, kdr_data *const *data, int64_t most,
                             stacked *s)
{
	for (const kdr_field_desc *f = r->algo->fields; f && f->name && !s->space; f++)
		if (f->common_space)
			KDRI_DO(stack_array(ctx, r, f->name, s));
	if (!s->space)
		KDRI_DO(stack_directions(ctx, r, data, most, s));
	return KDR_OK;
}

/* --- what clusters have --------------------------------------------------------------------------------- */

static void describe_row(const kdri_table *t, int64_t row, int64_t sets, kdri_mixing_cluster *c)
{
	c->size = t->row_total[row];
	c->first = t->rowptr[row];
	c->sets = t->rowptr[row + 1] - t->rowptr[row];
	c->largest = c->entropy = 0;
	for (int64_t p = t->rowptr[row]; p < t->rowptr[row + 1]; p++) {
		double share = (double)t->count[p] / (double)c->size;
		c->largest = KDRI_MAX(c->largest, share);             /* (E1) */
		c->entropy -= share * log(share) / log((double)sets); /* (E2) */
	}
	c->entropy = KDRI_MAX(c->entropy, 0);
	c->purity = NAN;
}

static kdr_status put_sets(kdr_context *ctx, const kdr_result *r, const stacked *s, kdri_mixing *out)
{
	kdr_status st;
	kdri_table t = { 0 };
	KDRI_TRY(kdri_table_new(ctx, s->cluster, s->set, s->n, &t));
	KDRI_TRY(KDRI_NEW0(ctx, &out->clusters, t.rows));
	KDRI_TRY(KDRI_NEW(ctx, &out->set, t.cells));
	KDRI_TRY(KDRI_NEW(ctx, &out->samples, t.cells));
	out->nclusters = t.rows;
	for (int64_t c = 0; c < t.rows; c++) {
		out->clusters[c].number = t.row_label[c];
		describe_row(&t, c, r->ntasks, &out->clusters[c]);
	}
	for (int64_t p = 0; p < t.cells; p++) {
		out->set[p] = t.col_label[t.col[p]];
		out->samples[p] = t.count[p];
	}
done:
	kdri_table_free(ctx, &t);
	return st;
}

/* Classes have the same name in all data sets. */
static kdr_status put_purity(kdr_context *ctx, const kdr_result *r, kdr_data *const *data, const stacked *s,
                             kdri_mixing *out)
{
	kdr_status st;
	kdri_names names = { 0 };
	kdri_table t = { 0 };
	int64_t *class = NULL, *cluster = NULL, known = 0, at = 0, same;
	KDRI_TRY(KDRI_NEW(ctx, &class, s->n));
	KDRI_TRY(KDRI_NEW(ctx, &cluster, s->n));
	for (int64_t d = 0; d < r->ntasks; d++)
		for (int64_t i = 0; i < r->tasks[d].n; i++, at++) {
			int64_t own = data[d]->labels ? data[d]->labels[i] : -1;
			if (own < 0 || own >= data[d]->nclasses)
				continue;
			const char *name = data[d]->classes[own];
			KDRI_TRY(kdri_names_add(ctx, &names, name, strlen(name), &same));
			class[known] = same;
			cluster[known++] = s->cluster[at];
		}
	if (known == 0)
		goto done;
	KDRI_TRY(kdri_table_new(ctx, cluster, class, known, &t));
	for (int64_t row = 0, c = 0; row < t.rows; row++) {
		int64_t most = 0;
		while (out->clusters[c].number < t.row_label[row])
			c++;
		for (int64_t p = t.rowptr[row]; p < t.rowptr[row + 1]; p++)
			most = KDRI_MAX(most, t.count[p]);
		out->clusters[c].purity = (double)most / (double)t.row_total[row]; /* (E3) */
	}
done:
	kdri_names_free(ctx, &names);
	kdri_table_free(ctx, &t);
	KDRI_FREE(ctx, class, cluster);
	return st;
}

/* --- all of it ------------------------------------------------------------------------------------------ */

/* Whether all samples are here and have a cluster. */
static bool has_clusters(const kdr_context *ctx, const kdr_result *r)
{
	int64_t n = 0;
	for (int64_t t = 0; t < r->ntasks; t++) {
		const kdri_task_result *task = &r->tasks[t];
		for (int64_t i = 0; i < task->n; i++)
			if (!task->labels || task->labels[i] < 0 || task->labels[i] >= task->k)
				return false;
		n += task->n;
	}
	return r->ntasks > 1 && n > 0 && !kdri_several(ctx);
}

kdr_status kdri_job_mixing(kdr_context *ctx, const kdri_job *job, kdr_result *r, kdr_data *const *data)
{
	kdr_status st = KDR_OK;
	stacked s = { 0 };
	kdri_mixing *own = NULL;
	if (!has_clusters(ctx, r))
		return KDR_OK;
	KDRI_TRY(KDRI_NEW0(ctx, &own, 1));
	r->mixing = own; /* which frees it */
	own->figures = (kdri_mixing_figures){ .ilisi = NAN, .kbet = NAN, .batch_asw = NAN };
	KDRI_TRY(find_clusters(ctx, r, &s));
	KDRI_TRY(put_sets(ctx, r, &s, own));
	if (job->wanted->score)
		KDRI_TRY(put_purity(ctx, r, data, &s, own));
	if (ctx->cancelled || ctx->timed_out)
		goto done;
	KDRI_TRY(find_space(ctx, r, data, KDRI_EMBED_SHARED, &s));
	own->space = s.space;
	const kdri_pooled_sets all = { &s.x.view, s.set, r->ntasks, s.cluster };
	if (s.space)
		KDRI_TRY(kdri_mixing_find(ctx, &all, &own->figures));
done:
	stacked_free(ctx, &s);
	return st;
}

kdr_status kdri_job_representation(kdr_context *ctx, const kdri_job *job, kdr_result *r,
                                   kdr_data *const *data)
{
	enum { MOST = 50 };
	kdr_status st = KDR_OK;
	stacked s = { 0 };
	int64_t at = 0;
	if (!job->wanted->representation || kdri_several(ctx) || ctx->cancelled || ctx->timed_out)
		return KDR_OK;
	for (int64_t t = 0; t < r->ntasks; t++)
		s.n += r->tasks[t].n;
	KDRI_TRY(find_space(ctx, r, data, MOST, &s));
	if (!s.space)
		goto done;
	const int64_t all = kdr_mat_cols(&s.x.view), width = KDRI_MIN(all, MOST);
	const double *x = s.x.parts[0];
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		KDRI_TRY(KDRI_NEW(ctx, &task->shared, task->n * width));
		task->width = width;
		for (int64_t i = 0; i < task->n; i++, at++)
			memcpy(task->shared + i * width, x + at * all, (size_t)width * sizeof *x);
	}
done:
	stacked_free(ctx, &s);
	return st;
}

void kdri_json_mixing(kdri_json *j, const kdr_result *r)
{
	const kdri_mixing *m = r->mixing;
	if (!m)
		return;
	kdri_json_object(j, "mixing");
	kdri_json_real(j, "ilisi", m->figures.ilisi);
	kdri_json_real(j, "kbet", m->figures.kbet);
	kdri_json_real(j, "batch_asw", m->figures.batch_asw);
	kdri_json_int(j, "tested", m->figures.tested);
	kdri_json_string(j, "space", m->space);
	kdri_json_array(j, "clusters");
	for (int64_t c = 0; c < m->nclusters; c++) {
		const kdri_mixing_cluster *own = &m->clusters[c];
		kdri_json_object(j, NULL);
		kdri_json_int(j, "number", own->number);
		kdri_json_int(j, "size", own->size);
		kdri_json_object(j, "samples");
		for (int64_t p = own->first; p < own->first + own->sets; p++)
			kdri_json_int(j, r->tasks[m->set[p]].name, m->samples[p]);
		kdri_json_end_object(j);
		kdri_json_real(j, "largest", own->largest);
		kdri_json_real(j, "entropy", own->entropy);
		if (isfinite(own->purity))
			kdri_json_real(j, "purity", own->purity);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}
