/* Texts and numbers for users: features that distinguish clusters, quality of matches, advice.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For a cluster c of a task with n samples x_i and mean m, on the data used for the fit:
 *
 *     (E1)  effect_j = (in_j - out_j) / s_j       in, out: means of c's samples and of the others,
 *                                                 s_j: the standard deviation of column j over all
 *     (W1)  specific_j = p ln(p / q)              word counts: p, q: shares of c's samples and of the others that have word j, each with
 *                                                 half a sample more
 *     (E2)  u_c = in - m                          the deviation of the cluster, as one direction
 *     (E3)  quality = chance of cos(u_c, u_l)     of c and the cluster l of another task it matches best (probability_right.h);
 *                                                 the method's own number if it has one. In tables, clusters of the same number
 *                                                 match, and it also depends on how clear the clusters of both are
 *
 * A profile has the columns of the largest effects, of word counts those of the largest (W1), none with an effect below 0.2, with the same number of positive and negative
 * effects; a cluster with low values in all columns only has negative ones. For data such as counts (no negative
 * entries, at least a tenth of the entries zero) it also has the proportion of samples with an entry, inside and
 * outside. Means and shares are those of the values before preprocessing, if these have been kept (kdri_original);
 * missing values are skipped. Time: O(nnz + k d) per task, O(d) memory. Sums are over the rows of all ranks. */
#include "comm/comm.h"
#include "engine/ensemble/probability_right.h"
#include "jobs/column_sums.h"
#include "jobs/job.h"
#include "jobs/say/say.h"
#include "matrix/linalg.h"

#include <stdio.h>

enum { MORE = 8, LESS = 8 };

/* Below this a difference is next to nothing. */
static const double least_effect = 0.2;

/* Below this fraction of its own weight another task hardly matters. */
static const double negligible = 0.05;

/* A task's rows by cluster, and the moments of its columns. */
typedef struct side {
	const kdr_data *data;
	int64_t k, all;         /* all: rows of all ranks */
	const int64_t *sizes;   /* k, over all of them */
	int64_t *order, *start; /* rows here of cluster c: order[start[c]] .. order[start[c + 1] - 1] */
	double *sum, *square;   /* over all rows */
	double *present;        /* rows with an entry, and of one cluster: 2 x columns; NULL: no counts */
	const double *original; /* values in the user's units; NULL: unknown */
	double *units; /* 5 x columns: sum, number and sum of squares of these; sum and number in one cluster */
	bool *yes_no; /* columns: they are all 0 or 1 */
	bool words;   /* (W1) ranks its columns */
} side;

static void side_free(kdr_context *ctx, side *s)
{
	KDRI_FREE(ctx, s->order, s->start, s->sum, s->square, s->present, s->units, s->yes_no);
}

static kdr_status like_counts(kdr_context *ctx, const kdr_data *d, int64_t all, bool *out)
{
	kdr_mat x = kdr_data_mat(d);
	int64_t entries = 0;
	bool negative = false;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(static) reduction(+ : entries) reduction(|| : negative)
	for (int64_t i = 0; i < d->rows; i++) {
		kdri_entries r = kdri_row_entries(&x, i);
		for (int64_t p = 0; p < r.count && !negative; p++) {
			negative = negative || r.val[p] < 0;
			entries += r.val[p] != 0;
		}
	}
	KDRI_DO(kdri_any(ctx, &negative));
	KDRI_DO(kdri_sum_int(ctx, &entries, 1));
	*out = !negative && (double)entries <= 0.9 * (double)all * (double)d->cols;
	return KDR_OK;
}

/* Adds rows of original values to sums and numbers of values; `square` and `other` may be NULL. */
static void add_original(kdr_context *ctx, const side *s, const int64_t *rows, int64_t count, double *sum,
                         double *number, double *square, double *other)
{
	if (!s->original)
		return;
	const kdr_mat x = kdr_mat_from_dense(s->original, s->data->rows, s->data->cols);
	kdri_column_sums_add(
	        ctx, &x, rows, count,
	        &(kdri_column_sums){ .sum = sum, .square = square, .missing = number, .other = other });
	for (int64_t j = 0; j < s->data->cols; j++)
		number[j] = (double)count - number[j];
}

/* Sums over the original values of all rows. */
static kdr_status find_original(kdr_context *ctx, side *s)
{
	const kdr_data *d = s->data;
	const int64_t cols = d->cols;
	s->original = d->original.values;
	if (!s->original && d->original.same && d->kind == KDR_MAT_DENSE && cols <= KDRI_ORIGINAL_MOST)
		s->original = d->dense;
	bool known = s->original || d->rows == 0; /* ranks without rows have no values */
	bool unknown = !known;
	KDRI_DO(kdri_any(ctx, &unknown));
	if (unknown || d->kind != KDR_MAT_DENSE || cols > KDRI_ORIGINAL_MOST) {
		s->original = NULL;
		return KDR_OK;
	}
	KDRI_DO(KDRI_NEW0(ctx, &s->units, 5 * cols));
	KDRI_DO(KDRI_NEW(ctx, &s->yes_no, cols));
	add_original(ctx, s, NULL, d->rows, s->units, s->units + cols, s->units + 2 * cols,
	             s->units + 3 * cols);
	KDRI_DO(kdri_sum(ctx, s->units, 3 * cols));
	for (int64_t j = 0; j < cols; j++) {
		bool other = s->units[3 * cols + j] > 0;
		KDRI_DO(kdri_any(ctx, &other));
		s->yes_no[j] = !other;
	}
	return KDR_OK;
}

static kdr_status words_side_new(kdr_context *ctx, const kdri_task_result *t, const kdr_data *data,
                                 bool words, side *out)
{
	kdr_status st;
	side s = { .data = data, .k = t->k, .all = t->all, .sizes = t->sizes };
	const kdr_mat x = kdr_data_mat(data);
	bool counts;
	KDRI_TRY(KDRI_NEW(ctx, &s.order, t->n));
	KDRI_TRY(KDRI_NEW0(ctx, &s.start, t->k + 2));
	KDRI_TRY(KDRI_NEW0(ctx, &s.sum, data->cols));
	KDRI_TRY(KDRI_NEW0(ctx, &s.square, data->cols));
	KDRI_TRY(like_counts(ctx, data, s.all, &counts));
	if (counts)
		KDRI_TRY(KDRI_NEW0(ctx, &s.present, 2 * data->cols));
	s.words = words && counts;
	KDRI_TRY(find_original(ctx, &s));
	kdri_column_sums_add(ctx, &x, NULL, t->n,
	                     &(kdri_column_sums){ .sum = s.sum, .square = s.square, .present = s.present });
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0 && t->labels[i] < t->k)
			s.start[t->labels[i] + 2]++;
	KDRI_TRY(kdri_sum(ctx, s.sum, data->cols));
	KDRI_TRY(kdri_sum(ctx, s.square, data->cols));
	if (counts)
		KDRI_TRY(kdri_sum(ctx, s.present, data->cols));
	for (int64_t c = 0; c < t->k; c++)
		s.start[c + 2] += s.start[c + 1];
	/* start[c + 1] moves from the first row of c to the first of c + 1. */
	for (int64_t i = 0; i < t->n; i++)
		if (t->labels[i] >= 0 && t->labels[i] < t->k)
			s.order[s.start[t->labels[i] + 1]++] = i;
	*out = s;
	s = (side){ 0 };
done:
	side_free(ctx, &s);
	return st;
}

/* Sums over the rows of cluster c; `present` may be NULL. */
static kdr_status cluster_sum(kdr_context *ctx, const side *s, int64_t c, double *sum, double *present)
{
	const kdr_mat x = kdr_data_mat(s->data);
	const size_t bytes = (size_t)s->data->cols * sizeof *sum;
	memset(sum, 0, bytes);
	if (present)
		memset(present, 0, bytes);
	kdri_column_sums_add(ctx, &x, s->order + s->start[c], s->start[c + 1] - s->start[c],
	                     &(kdri_column_sums){ .sum = sum, .present = present });
	KDRI_DO(kdri_sum(ctx, sum, s->data->cols));
	if (present)
		KDRI_DO(kdri_sum(ctx, present, s->data->cols));
	return KDR_OK;
}

/* --- profiles ------------------------------------------------------------------------------------- */

/* Inserts `f` into the `room` largest by rank; of equal ones the first is kept. */
static int words_insert(kdri_feature_effect *list, int count, int room, const kdri_feature_effect *f)
{
	int at = count;
	while (at > 0 && f->rank > list[at - 1].rank)
		at--;
	if (at == room)
		return count;
	if (count < room)
		count++;
	memmove(list + at + 1, list + at, (size_t)(count - at - 1) * sizeof *list);
	list[at] = *f;
	return count;
}

/* The shares of the samples that have an entry in f's column. */
static void put_shares(const side *s, double size, kdri_feature_effect *f)
{
	double all = s->present[f->column], inside = s->present[s->data->cols + f->column];
	f->share_inside = inside / size;
	f->share_outside = (all - inside) / ((double)s->all - size);
}

/* Of a word that they have less of, for the others. */
double kdri_specific(double has, double size, double other_has, double other)
{
	const double p = (has + 0.5) / (size + 1), q = (other_has + 0.5) / (other + 1);
	return p > q ? p * log(p / q) : q * log(q / p); /* (W1) */
}

static double specific(const side *s, double size, int64_t j)
{
	const double inside = s->present[s->data->cols + j];
	return kdri_specific(inside, size, s->present[j] - inside, (double)s->all - size);
}

/* Sums over the original values of the rows of cluster c. */
static kdr_status cluster_original(kdr_context *ctx, const side *s, int64_t c)
{
	const int64_t cols = s->data->cols;
	double *sum = s->units + 3 * cols;
	memset(sum, 0, (size_t)(2 * cols) * sizeof *sum);
	add_original(ctx, s, s->order + s->start[c], s->start[c + 1] - s->start[c], sum, sum + cols, NULL,
	             NULL);
	return kdri_sum(ctx, sum, 2 * cols);
}

/* The means of f's column in the user's units; nothing changes if no row inside or outside has a value. */
static void put_original(const side *s, kdri_feature_effect *f)
{
	const int64_t cols = s->data->cols, j = f->column;
	const double sum = s->units[j], number = s->units[cols + j], square = s->units[2 * cols + j];
	const double inside = s->units[3 * cols + j], ninside = s->units[4 * cols + j];
	if (!(ninside > 0) || !(number > ninside))
		return;
	f->known = true;
	f->mean_inside = inside / ninside;
	f->mean_outside = (sum - inside) / (number - ninside);
	f->deviation = sqrt(KDRI_MAX(square / number - sum / number * (sum / number), 0));
	if (s->data->original.values) {
		f->unit = (kdri_unit)s->data->original.unit[j];
		f->origin = s->data->original.origin[j];
	}
	if (s->yes_no[j])
		f->unit = KDRI_UNIT_SHARE;
	if (f->unit == KDRI_UNIT_SHARE) {
		f->share_inside = f->mean_inside;
		f->share_outside = f->mean_outside;
	}
}

static kdr_status profile(kdr_context *ctx, const side *s, int64_t c, double *sum, kdri_cluster_profile *out)
{
	kdr_status st = KDR_OK;
	kdri_feature_effect more[MORE], less[LESS], *own = NULL;
	int nmore = 0, nless = 0, all = 0;
	double n = (double)s->all, size = (double)s->sizes[c];
	out->size = s->sizes[c];
	if (out->size == 0 || out->size == s->all)
		return KDR_OK;
	KDRI_TRY(cluster_sum(ctx, s, c, sum, s->present ? s->present + s->data->cols : NULL));
	for (int64_t j = 0; j < s->data->cols; j++) {
		double mean = s->sum[j] / n, square = s->square[j] / n, variance = square - mean * mean;
		if (!(variance > 1e-12 * square))
			continue;
		kdri_feature_effect f = { .column = j,
			                  .mean_inside = sum[j] / size,
			                  .mean_outside = (s->sum[j] - sum[j]) / (n - size),
			                  .share_inside = NAN,
			                  .share_outside = NAN,
			                  .p = NAN,
			                  .p_adjusted = NAN };
		f.effect = (f.mean_inside - f.mean_outside) / sqrt(variance); /* (E1) */
		f.rank = s->words ? specific(s, size, j) : fabs(f.effect);
		if (f.effect >= least_effect)
			nmore = words_insert(more, nmore, MORE, &f);
		else if (f.effect <= -least_effect)
			nless = words_insert(less, nless, LESS, &f);
	}
	KDRI_TRY(KDRI_NEW(ctx, &own, nmore + nless));
	for (int i = 0; i < nmore; i++)
		all = words_insert(own, all, nmore + nless, &more[i]);
	for (int i = 0; i < nless; i++)
		all = words_insert(own, all, nmore + nless, &less[i]);
	if (s->units)
		KDRI_TRY(cluster_original(ctx, s, c));
	for (int i = 0; i < all; i++) {
		if (s->present)
			put_shares(s, size, &own[i]);
		if (s->units)
			put_original(s, &own[i]);
	}
	out->features = own;
	out->nfeatures = all;
	own = NULL;
done:
	kdri_free(ctx, own);
	return st;
}

static kdr_status put_profiles(kdr_context *ctx, kdri_task_result *t, const side *s)
{
	kdr_status st;
	double *sum = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &t->profiles, t->k));
	KDRI_TRY(KDRI_NEW(ctx, &sum, s->data->cols));
	t->words = s->words;
	for (int64_t c = 0; c < t->k; c++)
		KDRI_TRY(profile(ctx, s, c, sum, &t->profiles[c]));
done:
	kdri_free(ctx, sum);
	return st;
}

/* --- matches ---------------------------------------------------------------------------------------- */

/* (E2); zeros for an empty cluster. */
static kdr_status direction(kdr_context *ctx, const side *s, int64_t c, double *u)
{
	kdr_status st = cluster_sum(ctx, s, c, u, NULL);
	double n = (double)s->all, size = (double)s->sizes[c];
	for (int64_t j = 0; j < s->data->cols; j++)
		u[j] = size > 0 ? u[j] / size - s->sum[j] / n : 0;
	return st;
}

static double cosine(const double *u, const double *v, int64_t d)
{
	double uv = 0, uu = 0, vv = 0;
	for (int64_t j = 0; j < d; j++) {
		uv += u[j] * v[j];
		uu += u[j] * u[j];
		vv += v[j] * v[j];
	}
	return uu > 0 && vv > 0 ? uv / sqrt(uu) / sqrt(vv) : 0;
}

/* A cluster without samples matches nothing. */
static void drop_empty(const side *a, const side *b, const kdr_correspondence *m, double *matrix)
{
	for (int64_t z = 0; z < m->rows; z++)
		for (int64_t l = 0; l < m->cols; l++)
			if ((a->sizes && a->k == m->rows && a->sizes[z] == 0) ||
			    (b->sizes && b->k == m->cols && b->sizes[l] == 0))
				matrix[z * m->cols + l] = 0;
}

/* The estimated ARI of the clusters of a table; NaN for other data. */
static double estimate_of(const kdr_result *r, int64_t task)
{
	const kdri_field *field = kdri_result_field(r, task, "estimated_ari");
	return field ? field->number : NAN;
}

/* (E3); a match that is less likely than KDRI_LEAST_MATCH is none, as in auto. Clusters of tables with the same number match. The matrix of mbc is the relation that its objective is
 * about, with rows of fixed sums: it stays. */
static kdr_status put_quality(kdr_context *ctx, const kdr_result *r, const side *sides, kdr_correspondence *m)
{
	kdr_status st = KDR_OK;
	kdr_array own = kdr_result_array(r, "match_quality", m->from); /* tasks x clusters */
	const side *a = &sides[m->from], *b = &sides[m->to];
	double *quality = NULL, *u = NULL, *v = NULL, *matrix = (double *)m->matrix; /* the result owns it */
	const double clear = estimate_of(r, m->from), other = estimate_of(r, m->to);
	const bool table = isfinite(clear + other), fixed = table || strcmp(r->algo->id, "mbc") == 0;
	if (!fixed)
		drop_empty(a, b, m, matrix);
	bool given = own.data && own.type == KDR_FLOAT64 && own.ndim == 2 && own.shape[0] == r->ntasks &&
	             own.shape[1] == m->rows;
	if (!given && (!a->data || !b->data || a->data->cols != b->data->cols || a->k != m->rows ||
	               b->k != m->cols || (r->algo->flags & KDR_ALGO_OWN_FEATURES)))
		return KDR_OK; /* directions in different spaces have no angle */
	KDRI_TRY(KDRI_NEW0(ctx, &quality, m->rows));
	if (!given) {
		KDRI_TRY(KDRI_NEW(ctx, &u, a->data->cols));
		KDRI_TRY(KDRI_NEW(ctx, &v, a->data->cols));
	}
	for (int64_t z = 0; z < m->rows; z++) {
		const double *w = m->matrix + z * m->cols;
		int64_t best = 0;
		if (given) {
			quality[z] = ((const double *)own.data)[m->to * m->rows + z];
			continue;
		}
		for (int64_t l = 1; l < m->cols; l++)
			best = w[l] > w[best] ? l : best;
		if (!(w[best] > 0))
			continue;
		KDRI_TRY(direction(ctx, a, z, u));
		KDRI_TRY(direction(ctx, b, best, v));
		const double cos = cosine(u, v, a->data->cols);
		quality[z] = table ? kdri_table_match_right(cos, fmin(clear, other))
		                   : kdri_match_right(cos, a->k, a->data->cols); /* (E3) */
		if (quality[z] < KDRI_LEAST_MATCH && !fixed)
			memset(matrix + z * m->cols, 0, (size_t)m->cols * sizeof *matrix);
	}
	m->quality = quality;
	quality = NULL;
done:
	KDRI_FREE(ctx, quality, u, v);
	return st;
}

/* --- advice ------------------------------------------------------------------------------------------- */

/* Where clusters come from first, then what the method has, and why clusters were not carried over last. */
static kdr_status put_shared_advice(kdr_context *ctx, kdr_result *r, int64_t t, const char *said)
{
	const kdri_task_result *task = &r->tasks[t];
	const kdri_task_sharing *s = &task->sharing;
	char text[1024];
	if (s->from) {
		snprintf(text, sizeof text, "%s: clusters carried over from %s: %s", task->name, s->from,
		         s->reason);
		KDRI_DO(kdri_result_advise(ctx, r, t, text));
	}
	KDRI_DO(kdri_result_advise(ctx, r, t, said));
	if (s->reason && !s->from && !isnan(s->apart)) {
		snprintf(text, sizeof text, "clusters were not carried over: %s", s->reason);
		KDRI_DO(kdri_result_advise(ctx, r, t, text));
	}
	return KDR_OK;
}

/* How sure the number of clusters is, where the method found it. */
static kdr_status put_evidence(kdr_context *ctx, kdr_result *r, int64_t t)
{
	const kdri_field *own = kdri_result_field(r, t, "k_evidence"),
	                 *all = own ? own : kdri_result_field(r, -1, "k_evidence");
	return all && all->text ? kdri_result_advise(ctx, r, t, all->text) : KDR_OK;
}

/* The method's advice about a task, or advice based on the relatedness that it learnt. */
static kdr_status put_advice(kdr_context *ctx, kdr_result *r, int64_t t)
{
	const kdri_field *field = kdri_result_field(r, t, "advice");
	const char *said = field ? field->text : NULL;
	const double *row = r->relatedness ? r->relatedness + t * r->ntasks : NULL;
	int64_t best = -1;
	char text[1024];
	if (said)
		return put_shared_advice(ctx, r, t, said);
	if (!row || r->ntasks < 2)
		return KDR_OK;
	for (int64_t s = 0; s < r->ntasks; s++)
		if (s != t && (best < 0 || row[s] > row[best]))
			best = s;
	if (row[best] < negligible)
		snprintf(text, sizeof text, "%s: hardly uses the other data sets", r->tasks[t].name);
	else
		kdri_snprintf(text, sizeof text, "%s: mostly uses %s (relatedness %.2f)", r->tasks[t].name,
		              r->tasks[best].name, row[best]);
	return kdri_result_advise(ctx, r, t, text);
}

kdr_status kdri_job_words(kdr_context *ctx, kdr_result *r, kdr_data *const *data, kdr_data_kind kind)
{
	kdr_status st;
	side *sides = NULL, shown = { 0 };
	kdr_data_kind shown_kind = kind;
	bool explained = false;
	KDRI_TRY(KDRI_NEW0(ctx, &sides, r->ntasks));
	KDRI_TRY(kdri_job_explain(ctx, r, data, &explained, &shown_kind));
	for (int64_t t = 0; t < r->ntasks; t++) {
		kdri_task_result *task = &r->tasks[t];
		const kdr_data *view = kdri_shown(data[t]);
		const bool wanted = task->labels && task->sizes && task->k > 0;
		if (wanted)
			KDRI_TRY(words_side_new(
			        ctx, task, data[t],
			        kind == KDR_DATA_WORDS || (data[t]->texts && !data[t]->vectors), &sides[t]));
		if (wanted && view != data[t])
			KDRI_TRY(words_side_new(ctx, task, view, shown_kind == KDR_DATA_WORDS || view->texts,
			                        &shown));
		if (wanted && explained == (view != data[t]))
			KDRI_TRY(put_profiles(ctx, task, explained ? &shown : &sides[t]));
		side_free(ctx, &shown);
		shown = (side){ 0 };
		KDRI_TRY(put_advice(ctx, r, t));
		KDRI_TRY(put_evidence(ctx, r, t));
	}
	for (int64_t i = 0; i < r->match_count; i++)
		KDRI_TRY(put_quality(ctx, r, sides, &r->matches[i]));
	KDRI_TRY(kdri_job_number(ctx, r));
	KDRI_TRY(kdri_job_titles(ctx, r));
done:
	side_free(ctx, &shown);
	for (int64_t t = 0; sides && t < r->ntasks; t++)
		side_free(ctx, &sides[t]);
	kdri_free(ctx, sides);
	return st;
}
