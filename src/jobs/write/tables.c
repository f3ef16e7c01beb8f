/* Results as tables: samples, and the features that distinguish clusters. SPDX-License-Identifier: BSD-3-Clause
 *
 * Every text that could be misread (as a number or several cells) is quoted, and a formula gets an apostrophe; numbers are written so that
 * reading them gives the same values. */
#include "api/gather.h"
#include "comm/comm.h"
#include "core/numbers.h"
#include "io/binary.h"
#include "io/table/csv.h"
#include "jobs/content.h"
#include "jobs/known.h"
#include "jobs/say/say.h"
#include "jobs/write/input_copy.h"
#include "jobs/write/pages.h"
#include "jobs/write/row_text.h"

#include <stdio.h>

typedef struct table {
	kdr_context *ctx;
	kdri_output *out;
	kdri_pages pages;
	bool begun; /* the line has a cell */
} table;

static kdr_status tables_put(table *t, const char *text, size_t length)
{
	if (t->begun)
		KDRI_DO(kdri_output_write(t->ctx, t->out, ",", 1));
	t->begun = true;
	if (length > 0)
		KDRI_DO(kdri_output_write(t->ctx, t->out, text, length));
	return KDR_OK;
}

static kdr_status put_text(table *t, const char *text)
{
	kdr_status st = tables_put(t, NULL, 0);
	return st == KDR_OK ? kdri_csv_put_cell(t->ctx, t->out, text, ',') : st;
}

static kdr_status put_int(table *t, int64_t value)
{
	char text[32];
	return tables_put(t, text, (size_t)kdri_print_int(value, text));
}

/* An empty cell where it is not finite. */
static kdr_status put_real(table *t, double value)
{
	char text[32];
	return tables_put(t, text, isfinite(value) ? (size_t)kdri_print_double(value, text) : 0);
}

static kdr_status end_line(table *t)
{
	t->begun = false;
	return kdri_output_write(t->ctx, t->out, "\n", 1);
}

static kdr_status put_titles(table *t, const char *const *titles)
{
	for (; *titles; titles++)
		KDRI_DO(tables_put(t, *titles, strlen(*titles)));
	return end_line(t);
}

/* A label for the user: a number, a class, or an empty cell if there is none. */
static kdr_status put_label(table *t, const kdr_result *r, int64_t label)
{
	if (label < 0 || (r->classes && label >= r->nclasses))
		return tables_put(t, NULL, 0);
	return r->classes ? put_text(t, r->classes[label]) : put_int(t, label);
}

/* Whether some sample of a task has no label. */
static bool lacks_labels(const kdri_task_result *task)
{
	int64_t all = task->all;
	for (int64_t c = 0; task->sizes && c < task->k; c++)
		all -= task->sizes[c];
	return task->sizes && all > 0;
}

/* Why a sample has no label; empty if it has one. */
static kdr_status put_reason(table *t, const kdri_task_result *task, int64_t i)
{
	const char *text = task->labels[i] >= 0 ? ""
	                   : task->no_label && task->no_label[i]
	                           ? kdri_no_label_text((kdri_no_label)task->no_label[i])
	                           : "low confidence";
	return tables_put(t, text, strlen(text));
}

/* Makes the file, by `fill`. */
static kdr_status tables_write_table(kdr_context *ctx, const kdr_result *r, int64_t task, const char *path,
                                     bool force,
                                     kdr_status (*fill)(table *t, const kdr_result *r, int64_t task))
{
	kdr_status st;
	table t = { .ctx = ctx };
	KDRI_TRY(kdri_pages_open(ctx, r, path, force, &t.pages));
	t.out = t.pages.out;
	KDRI_TRY(fill(&t, r, task));
done:
	return kdri_pages_close(&t.pages, st);
}

typedef kdr_status put_row(table *t, const kdr_result *r, int64_t task, int64_t row);

/* Lines that several threads make: each has an output that writes to memory. */
typedef struct table_lines {
	table *t;
	const kdr_result *r;
	int64_t task;
	put_row *put;
	struct line_memory {
		kdri_output *out;
		char *text; /* NULL: what is written is dropped */
		size_t used, room;
	} * memory;
} table_lines;

static kdr_status put_lines(const table_lines *l, table *t, int64_t first, int64_t end)
{
	for (int64_t i = first; i < end; i++) {
		KDRI_DO(l->put(t, l->r, l->task, i));
		KDRI_DO(end_line(t));
	}
	return KDR_OK;
}

static kdr_status keep_line(void *user, const void *bytes, size_t size)
{
	struct line_memory *m = user;
	if (m->text && size > m->room - m->used)
		return KDR_ERR_SIZE;
	if (m->text)
		memcpy(m->text + m->used, bytes, size);
	m->used += size;
	return KDR_OK;
}

static bool make_lines(void *user, int thread, int64_t first, int64_t end, char *text, size_t room,
                       size_t *used)
{
	const table_lines *l = user;
	struct line_memory *m = &l->memory[thread];
	table own = { .ctx = l->t->ctx, .out = m->out };
	m->text = NULL; /* an earlier block that did not fit may have unwritten bytes */
	bool made = kdri_output_flush(own.ctx, m->out) == KDR_OK;
	m->text = text;
	m->room = room;
	m->used = 0;
	made = made && put_lines(l, &own, first, end) == KDR_OK &&
	       kdri_output_flush(own.ctx, m->out) == KDR_OK;
	*used = m->used;
	return made;
}

static kdr_status take_lines(void *user, const char *text, size_t length)
{
	const table_lines *l = user;
	return kdri_output_write(l->t->ctx, l->t->out, text, length);
}

static kdr_status write_lines(void *user, int64_t first, int64_t end)
{
	const table_lines *l = user;
	return put_lines(l, l->t, first, end);
}

/* Writes the lines of the local rows, each by `put`, among those of all ranks. */
static kdr_status tables_put_rows(table *t, const kdr_result *r, int64_t at, put_row *put)
{
	kdr_status st;
	table_lines l = { .t = t, .r = r, .task = at, .put = put };
	const int64_t n = r->tasks[at].n, threads = kdri_row_text_shared(t->ctx, n) ? t->ctx->threads : 0;
	KDRI_TRY(KDRI_NEW0(t->ctx, &l.memory, threads));
	for (int64_t i = 0; i < threads; i++)
		KDRI_TRY(kdri_output_to(t->ctx, "memory", keep_line, &l.memory[i], &l.memory[i].out));
	KDRI_TRY(kdri_pages_turn(&t->pages));
	const kdri_row_text text = { &l, make_lines, take_lines, write_lines };
	st = kdri_row_text_write(t->ctx, &text, n);
	KDRI_TRY(kdri_pages_end_turn(&t->pages, st));
done:
	for (int64_t i = 0; l.memory && i < threads; i++)
		if (l.memory[i].out)
			kdri_output_finish(t->ctx, l.memory[i].out, KDR_ERR_SIZE); /* frees it */
	kdri_free(t->ctx, l.memory);
	return st;
}

static kdr_status put_id(table *t, const kdri_task_result *task, int64_t i)
{
	return task->ids ? put_text(t, task->ids[i]) : put_int(t, task->first + i + 1);
}

/* Whether clusters have names, or titles instead of names. */
static bool has_names(const kdr_result *r, int64_t at)
{
	return r->tasks[at].names || (r->titles && !r->classes);
}

static kdr_status put_sample(table *t, const kdr_result *r, int64_t at, int64_t i)
{
	const kdri_task_result *task = &r->tasks[at];
	const double *sure = kdr_result_confidence(r, at, NULL),
	             *unlike = kdri_sample_array(r, "unlike_source", at, KDR_FLOAT64);
	const int64_t *cluster = kdri_sample_array(r, "target_clusters", at, KDR_INT64);
	KDRI_DO(put_id(t, task, i));
	KDRI_DO(put_label(t, r, task->labels[i]));
	if (has_names(r, at)) {
		const char *name = kdri_cluster_name(r, task, task->labels[i]);
		KDRI_DO(name ? put_text(t, name) : tables_put(t, NULL, 0));
	}
	KDRI_DO(put_real(t, sure ? sure[i] : NAN));
	KDRI_DO(put_label(t, r, task->second ? task->second[i] : -1));
	if (unlike)
		KDRI_DO(put_real(t, unlike[i]));
	if (unlike)
		KDRI_DO(cluster && cluster[i] >= 0 ? put_int(t, cluster[i]) : tables_put(t, NULL, 0));
	for (int64_t l = 0; l < r->level_count; l++)
		KDRI_DO(put_label(t, r, r->levels[l]->tasks[at].labels[i]));
	return lacks_labels(task) ? put_reason(t, task, i) : KDR_OK;
}

static kdr_status fill_samples(table *t, const kdr_result *r, int64_t at)
{
	const bool unlike = kdri_sample_array(r, "unlike_source", at, KDR_FLOAT64);
	const char *const titles[] = {
		"id",     r->classes ? "class" : "cluster", "name",           "confidence",
		"second", unlike ? "unlike_source" : NULL,  "target_cluster", NULL
	};
	char level[32];
	for (size_t i = 0; titles[i]; i++)
		if (i != 2 || has_names(r, at))
			KDRI_DO(tables_put(t, titles[i], strlen(titles[i])));
	for (int64_t i = 0; i < r->level_count; i++) {
		snprintf(level, sizeof level, "cluster_%lld", (long long)r->levels[i]->level);
		KDRI_DO(tables_put(t, level, strlen(level)));
	}
	if (lacks_labels(&r->tasks[at]))
		KDRI_DO(put_text(t, "reason"));
	KDRI_DO(end_line(t));
	return tables_put_rows(t, r, at, put_sample);
}

static kdr_status put_shares(table *t, const kdr_result *r, int64_t at, int64_t i)
{
	const kdri_task_result *task = &r->tasks[at];
	KDRI_DO(put_id(t, task, i));
	for (int64_t c = 0; c < task->k; c++)
		KDRI_DO(put_real(t, task->probabilities[i * task->k + c]));
	return KDR_OK;
}

static kdr_status fill_probabilities(table *t, const kdr_result *r, int64_t at)
{
	const kdri_task_result *task = &r->tasks[at];
	KDRI_DO(put_text(t, "id"));
	for (int64_t c = 0; c < task->k; c++)
		KDRI_DO(put_label(t, r, c));
	KDRI_DO(end_line(t));
	return tables_put_rows(t, r, at, put_shares);
}

/* The same as an array. */
static kdr_status fill_shares(table *t, const kdr_result *r, int64_t at)
{
	kdr_status st;
	const kdri_task_result *task = &r->tasks[at];
	unsigned char header[KDRI_NPY_HEADER_ROOM];
	int64_t shape[2] = { task->n, task->k };
	if (r->parted)
		KDRI_TRY(kdri_part(t->ctx, task->n, NULL, &shape[0]));
	KDRI_TRY(kdri_output_write(t->ctx, t->out, header, kdri_npy_make_header("f8", 2, shape, header)));
	KDRI_TRY(kdri_pages_turn(&t->pages));
	st = kdri_output_write(t->ctx, t->out, task->probabilities,
	                       (size_t)(task->n * task->k) * sizeof *task->probabilities);
	KDRI_TRY(kdri_pages_end_turn(&t->pages, st));
done:
	return st;
}

/* --- samples to be labelled next ------------------------------------------------------------------------- */

static const int64_t *asked_rows(const kdr_result *r, int64_t at, int64_t *count)
{
	const kdr_array a = kdr_result_array(r, "ask", at);
	*count = a.data && a.type == KDR_INT64 && a.ndim == 1 ? a.shape[0] : 0;
	return a.data;
}

/* The first three columns are what kdri_answers_read reads. */
static kdr_status fill_ask(table *t, const kdr_result *r, int64_t at)
{
	static const char *const titles[] = { "row",    "id",         "class",          "suggested", "second",
		                              "margin", "confidence", "target_cluster", NULL };
	const kdri_task_result *task = &r->tasks[at];
	const double *sure = kdr_result_confidence(r, at, NULL),
	             *margin = kdri_sample_array(r, "margin", at, KDR_FLOAT64);
	const int64_t *cluster = kdri_sample_array(r, "target_clusters", at, KDR_INT64);
	int64_t count;
	const int64_t *rows = asked_rows(r, at, &count);
	for (int c = 0; titles[c]; c++)
		KDRI_DO(tables_put(t, titles[c], strlen(titles[c])));
	for (int64_t c = 0; c < task->nshown; c++)
		KDRI_DO(put_text(t, task->shown_titles[c] ? task->shown_titles[c] : ""));
	KDRI_DO(end_line(t));
	for (int64_t i = 0; i < count; i++) {
		const int64_t row = rows[i];
		KDRI_DO(put_int(t, task->first + row + 1));
		KDRI_DO(put_id(t, task, row));
		KDRI_DO(tables_put(t, NULL, 0));
		KDRI_DO(put_label(t, r, task->labels[row]));
		KDRI_DO(put_label(t, r, task->second ? task->second[row] : -1));
		KDRI_DO(put_real(t, margin ? margin[row] : NAN));
		KDRI_DO(put_real(t, sure ? sure[row] : NAN));
		KDRI_DO(cluster ? put_int(t, cluster[row]) : tables_put(t, NULL, 0));
		for (int64_t c = 0; c < task->nshown; c++) {
			const char *text = i < task->shown_rows ? task->shown[i * task->nshown + c] : NULL;
			KDRI_DO(text ? put_text(t, text) : tables_put(t, NULL, 0));
		}
		KDRI_DO(end_line(t));
	}
	return KDR_OK;
}

/* --- labels and arrays --------------------------------------------------------------------------------- */

/* Unchanged: a line of a label file is never quoted. */
static kdr_status put_plain(table *t, const kdr_result *r, int64_t at, int64_t i)
{
	int64_t label = r->tasks[at].labels[i];
	if (!r->classes && label >= 0)
		return put_int(t, label);
	const char *text = label >= 0 && label < r->nclasses ? r->classes[label] : "?";
	return tables_put(t, text, strlen(text));
}

static kdr_status fill_labels(table *t, const kdr_result *r, int64_t at)
{
	return tables_put_rows(t, r, at, put_plain);
}

/* Row-major: where samples are the second axis, each row has its turn. */
static kdr_status fill_array(table *t, const kdr_result *r, int64_t index)
{
	kdr_status st;
	const kdr_array *a = &r->arrays[index];
	const int axis = kdri_sample_axis(r, a);
	unsigned char header[KDRI_NPY_HEADER_ROOM];
	int64_t shape[3] = { a->shape[0], a->shape[1], a->shape[2] }, turns = 1, size = 8;
	const unsigned char *from = a->data;
	for (int d = 0; d < a->ndim; d++) {
		turns *= d < axis ? a->shape[d] : 1;
		size *= d < axis ? 1 : a->shape[d];
	}
	if (axis >= 0 && r->parted)
		KDRI_TRY(kdri_part(t->ctx, a->shape[axis], NULL, &shape[axis]));
	KDRI_TRY(kdri_output_write(
	        t->ctx, t->out, header,
	        kdri_npy_make_header(a->type == KDR_INT64 ? "i8" : "f8", a->ndim, shape, header)));
	for (int64_t i = 0; i < turns; i++, from += size) {
		if (axis >= 0)
			KDRI_TRY(kdri_pages_turn(&t->pages));
		st = kdri_output_write(t->ctx, t->out, from, (size_t)size);
		st = axis >= 0 ? kdri_pages_end_turn(&t->pages, st) : st;
		if (st != KDR_OK)
			break;
	}
done:
	return st;
}

/* --- features ------------------------------------------------------------------------------------------ */

static kdr_status put_effect(table *t, const kdri_task_result *task, const kdri_feature_effect *f)
{
	char column[KDRI_COLUMN_NAME], table_column[KDRI_EFFECT_TEXT], date[KDRI_MEAN_TEXT];
	size_t length;
	const char *name = kdri_column_name(task, f->column, column);
	const char *level = kdri_table_column(task, f->column, &length);
	kdri_snprintf(table_column, sizeof table_column, "%.*s", (int)length, name);
	KDRI_DO(put_text(t, name));
	KDRI_DO(put_real(t, f->effect));
	for (int side = 0; side < 2; side++) {
		const double mean = side ? f->mean_outside : f->mean_inside;
		if (f->known && f->unit == KDRI_UNIT_DATE) {
			kdri_mean_text(f, mean, date);
			KDRI_DO(tables_put(t, date, strlen(date)));
		} else {
			KDRI_DO(put_real(t, mean));
		}
	}
	KDRI_DO(put_real(t, f->share_inside));
	KDRI_DO(put_real(t, f->share_outside));
	KDRI_DO(put_text(t, level ? table_column : name));
	KDRI_DO(level ? put_text(t, level) : tables_put(t, NULL, 0));
	KDRI_DO(put_real(t, f->p));
	KDRI_DO(put_real(t, f->p_adjusted));
	return end_line(t);
}

static kdr_status fill_features(table *t, const kdr_result *r, int64_t at)
{
	const char *const titles[] = { "task",
		                       r->classes ? "class" : "cluster",
		                       "size",
		                       "feature",
		                       "effect",
		                       "mean_inside",
		                       "mean_outside",
		                       "share_inside",
		                       "share_outside",
		                       "column",
		                       "category",
		                       "exploratory_p",
		                       "exploratory_p_adjusted",
		                       NULL };
	(void)at; /* all tasks */
	KDRI_DO(put_titles(t, titles));
	for (int64_t i = 0; i < r->ntasks; i++) {
		const kdri_task_result *task = &r->tasks[i];
		for (int64_t c = 0; task->profiles && c < task->k; c++)
			for (int64_t f = 0; f < task->profiles[c].nfeatures; f++) {
				KDRI_DO(put_text(t, task->name));
				KDRI_DO(put_label(t, r, kdri_cluster_number(task, c)));
				KDRI_DO(put_int(t, task->profiles[c].size));
				KDRI_DO(put_effect(t, task, &task->profiles[c].features[f]));
			}
	}
	return KDR_OK;
}

/* --- the input ------------------------------------------------------------------------------------------ */

/* Texts of labels and names of clusters that a copied table gets. */
typedef struct label_texts {
	char (*numbers)[24];
	const char **label, **name; /* k; ntasks x k */
} label_texts;

/* A data set as its table gets it; borrows from the texts. */
static kdri_copied copied_of(const kdr_result *r, int64_t at, const label_texts *l, int64_t k)
{
	const kdri_task_result *t = &r->tasks[at];
	const bool known = t->labels && t->origin && (t->dialect.delimiter || t->dialect.workbook) &&
	                   kdri_result_table(t)[0];
	for (int64_t c = 0; c < k && !r->classes; c++)
		l->name[at * k + c] = kdri_cluster_name(r, t, c);
	return (kdri_copied){ .task = t->name,
		              .table = known ? kdri_result_table(t) : NULL,
		              .dialect = t->dialect,
		              .file_rows = t->file_rows,
		              .origin = t->origin,
		              .n = t->n,
		              .labels = t->labels,
		              .second = t->second,
		              .confidence = kdr_result_confidence(r, at, NULL),
		              .label = l->label,
		              .name = l->name + at * k,
		              .k = k };
}

static kdr_status write_input(kdr_context *ctx, const kdr_result *r, int64_t at, const char *columns,
                              const char *path, bool force)
{
	kdr_status st;
	label_texts l = { .numbers = NULL };
	kdri_copied *sets = NULL;
	int64_t k = 0;
	KDRI_DO(kdri_copied_check(ctx, columns));
	if (!r)
		return KDR_OK;
	for (int64_t t = 0; t < r->ntasks; t++)
		k = KDRI_MAX(k, r->classes ? r->nclasses : kdri_cluster_span(&r->tasks[t]));
	KDRI_TRY(kdri_copied_numbers(ctx, k, &l.numbers, &l.label));
	KDRI_TRY(KDRI_NEW0(ctx, &l.name, r->ntasks * k));
	KDRI_TRY(KDRI_NEW(ctx, &sets, r->ntasks));
	for (int64_t c = 0; c < k && r->classes; c++)
		l.label[c] = r->classes[c];
	for (int64_t t = 0; t < r->ntasks; t++)
		sets[t] = copied_of(r, t, &l, k);
	if (!sets[at].table)
		KDRI_FAIL(ctx, KDR_ERR_UNSUPPORTED, "%s was not read from a CSV, TSV or Excel file",
		          r->tasks[at].name);
	KDRI_TRY(kdri_copied_write(ctx, sets, r->ntasks, at, r->classes != NULL, columns, path, force));
done:
	KDRI_FREE(ctx, l.numbers, l.label, l.name, sets);
	return st;
}

kdr_status kdr_result_write_input(kdr_context *ctx, const kdr_result *r, int64_t at, const char *columns,
                                  const char *path, bool force)
{
	KDRI_NEED(ctx, path && (!r || kdr_result_labels(r, at, NULL)));
	ctx->writing++;
	const kdr_status st = write_input(ctx, r, at, columns, path, force);
	ctx->writing--;
	return st;
}

/* --- all of them --------------------------------------------------------------------------------------- */

kdr_status kdr_result_write_table(kdr_context *ctx, const kdr_result *result, kdr_table what, int64_t index,
                                  const char *path, bool force)
{
	static const struct {
		const char *needs;
		kdr_status (*fill)(table *t, const kdr_result *r, int64_t at);
	} tables[] = {
		[KDR_TABLE_LABELS] = { "a data set with labels", fill_labels },
		[KDR_TABLE_SAMPLES] = { "a data set with labels", fill_samples },
		[KDR_TABLE_PROBABILITIES] = { "a data set with probabilities", fill_probabilities },
		[KDR_TABLE_FEATURES] = { "a result", fill_features },
		[KDR_TABLE_ARRAY] = { "an array of the result", fill_array },
		[KDR_TABLE_ASK] = { "a data set with samples to label next", fill_ask },
	};
	if ((int)what < 0 || what > KDR_TABLE_ASK)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "table %d is not one of kdr_table", (int)what);
	bool has = ctx && result && path;
	if (what == KDR_TABLE_LABELS || what == KDR_TABLE_SAMPLES)
		has = has && kdr_result_labels(result, index, NULL);
	else if (what == KDR_TABLE_PROBABILITIES)
		has = has && kdr_result_probabilities(result, index, NULL);
	else if (what == KDR_TABLE_ASK)
		has = has && kdr_result_labels(result, index, NULL) &&
		      kdr_result_array(result, "ask", index).data;
	else if (what == KDR_TABLE_ARRAY)
		has = has && index >= 0 && index < result->array_count;
	if (!has)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT, "kdr_result_write_table: %s and a path are needed",
		                 tables[what].needs);
	if (what == KDR_TABLE_PROBABILITIES && kdri_ends_with(path, ".npy"))
		return tables_write_table(ctx, result, index, path, force, fill_shares);
	return tables_write_table(ctx, result, index, path, force, tables[what].fill);
}
