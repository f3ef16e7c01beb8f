/* result.json: the contents of a result. SPDX-License-Identifier: BSD-3-Clause
 *
 * Apart from seconds and memory, the same result gives the same bytes. */
#include "jobs/write/json.h"
#include "api/result.h"
#include "comm/comm.h"
#include "core/json_write.h"
#include "core/system.h"
#include "jobs/content.h"
#include "jobs/say/say.h"
#include "jobs/write/input_copy.h"
#include "jobs/write/pages.h"
#include "jobs/write/result_file.h"

#include <stdio.h>

static bool is_brief(const kdri_json *j)
{
	const kdri_pages *p = j->user;
	return p->brief;
}

/* One number, or a list of several. */
static void put_numbers(kdri_json *j, const char *name, const double *values, int64_t count)
{
	if (count == 1)
		kdri_json_real(j, name, values[0]);
	else
		kdri_json_reals(j, name, values, count);
}

static void put_options(kdri_json *j, const kdr_options *options)
{
	kdri_json_object(j, "options");
	for (const kdr_option_desc *o = kdr_options_algo(options)->options; o->name; o++) {
		int64_t count;
		const double *values = kdri_options_numbers(options, o->name, &count), value = values[0];
		switch (o->type) {
		case KDR_OPTION_INT: kdri_json_int(j, o->name, (int64_t)value); break;
		case KDR_OPTION_REAL: kdri_json_real(j, o->name, value); break;
		case KDR_OPTION_BOOL: kdri_json_bool(j, o->name, value != 0); break;
		case KDR_OPTION_CHOICE: kdri_json_string(j, o->name, o->choices[(int)value]); break;
		case KDR_OPTION_REALS: put_numbers(j, o->name, values, count); break;
		}
	}
	kdri_json_end_object(j);
}

/* --- tasks ---------------------------------------------------------------------------------------- */

/* Names of clusters, null for those without one. */
static void put_names(kdri_json *j, const kdri_task_result *t)
{
	if (!t->names)
		return;
	kdri_json_array(j, "names");
	for (int64_t n = 0; n < kdri_cluster_span(t); n++) {
		const int64_t c = kdri_cluster_at(t, n);
		if (c >= 0 && t->names[c])
			kdri_json_string(j, NULL, t->names[c]);
		else
			kdri_json_null(j, NULL);
	}
	kdri_json_end_array(j);
}

static void put_row(kdri_json *j, int64_t row, const char *id, const char *reason)
{
	kdri_json_object(j, NULL);
	kdri_json_int(j, "row", row);
	kdri_json_string(j, "id", id);
	kdri_json_string(j, "reason", reason);
	kdri_json_end_object(j);
}

/* Rows of the file that are no samples, and samples without a label, because they have no content. */
static void put_left_out(kdri_json *j, const kdri_task_result *t)
{
	kdri_json_array(j, "left_out");
	for (int64_t i = 0; i < t->nleft_out; i++)
		put_row(j, t->left_out[i].row, t->left_out[i].id, t->left_out[i].reason);
	kdri_json_end_array(j);
	if (!t->no_label)
		return;
	kdri_json_array(j, "unlabelled");
	for (int64_t i = 0; i < t->n; i++)
		if (t->no_label[i])
			put_row(j, i + 1, t->ids ? t->ids[i] : "",
			        kdri_no_label_text((kdri_no_label)t->no_label[i]));
	kdri_json_end_array(j);
}

/* The detected kinds of the columns of the task's table. */
static void put_columns(kdri_json *j, const kdri_task_result *t)
{
	if (t->nnotes > 0)
		kdri_json_strings(j, "notes", t->notes, t->nnotes);
	if (!t->sheet)
		return;
	kdri_json_array(j, "columns");
	for (int64_t c = 0; c < t->sheet->ncolumns; c++) {
		const kdr_column *x = &t->sheet->columns[c];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", x->name);
		kdri_json_string(j, "kind", kdr_column_kind_name(x->kind));
		kdri_json_int(j, "features", x->features);
		kdri_json_int(j, "missing", x->missing);
		kdri_json_bool(j, "constant", x->constant);
		kdri_json_string(j, "why", x->why);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

/* Rows that represent a cluster, from 0. */
static void json_put_rows(kdri_json *j, const char *name, const int64_t *rows)
{
	int64_t count = 0;
	while (count < KDRI_EXAMPLES && rows[count] >= 0)
		count++;
	kdri_json_ints(j, name, rows, count);
}

/* A feature that sets a cluster apart. */
static void put_feature(kdri_json *j, const kdri_task_result *t, const kdri_feature_effect *f)
{
	static const char *const kinds[] = {
		[KDRI_UNIT_NUMBER] = "number", [KDRI_UNIT_SHARE] = "share", [KDRI_UNIT_DATE] = "date"
	};
	char column[KDRI_COLUMN_NAME], text[KDRI_EFFECT_TEXT];
	const char *name = kdri_column_name(t, f->column, column);
	kdri_json_object(j, NULL);
	kdri_json_string(j, "name", name);
	kdri_json_real(j, "effect", f->effect);
	kdri_json_real(j, "mean_inside", f->mean_inside);
	kdri_json_real(j, "mean_outside", f->mean_outside);
	if (isfinite(f->share_inside)) {
		kdri_json_real(j, "share_inside", f->share_inside);
		kdri_json_real(j, "share_outside", f->share_outside);
	}
	if (isfinite(f->p)) {
		kdri_json_real(j, "exploratory_p", f->p);
		kdri_json_real(j, "exploratory_p_adjusted", f->p_adjusted);
	}
	if (f->known) {
		size_t length;
		const char *level = kdri_table_column(t, f->column, &length);
		if (level) {
			kdri_snprintf(text, sizeof text, "%.*s", (int)length, name);
			kdri_json_string(j, "column", text);
			kdri_json_string(j, "category", level);
		}
		kdri_json_string(j, "kind", kinds[f->unit]);
		kdri_mean_text(f, f->mean_inside, text);
		kdri_json_string(j, "inside", text);
		kdri_mean_text(f, f->mean_outside, text);
		kdri_json_string(j, "outside", text);
		kdri_effect_text(t, f, text, sizeof text);
		kdri_json_string(j, "text", text);
	}
	kdri_json_end_object(j);
}

/* Which features describe a cluster, and the sentence they make. */
static void put_description(kdri_json *j, const kdri_task_result *t, const kdri_cluster_profile *p)
{
	char text[KDRI_DESCRIBED * (KDRI_EFFECT_TEXT + 2)], part[KDRI_EFFECT_TEXT];
	int64_t described[KDRI_DESCRIBED];
	int count = kdri_described(t, p, described);
	size_t used = 0;
	if (count == 0)
		return;
	for (int i = 0; i < count; i++) {
		kdri_effect_text(t, &p->features[described[i]], part, sizeof part);
		used += (size_t)kdri_snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", part);
	}
	kdri_json_string(j, "description", text);
	kdri_json_ints(j, "described", described, count);
}

/* What sets each cluster apart. */
static void put_profiles(kdri_json *j, const kdr_result *r, const kdri_task_result *t)
{
	kdri_json_array(j, "clusters");
	for (int64_t n = 0; n < kdri_cluster_span(t); n++) {
		const int64_t c = kdri_cluster_at(t, n);
		if (c < 0)
			continue;
		const kdri_cluster_profile *p = &t->profiles[c];
		kdri_json_object(j, NULL);
		kdri_json_int(j, "number", n);
		if (r->classes && c < r->nclasses)
			kdri_json_string(j, "class", r->classes[c]);
		if (t->names && t->names[c])
			kdri_json_string(j, "name", t->names[c]);
		if (r->titles && n < r->numbers && r->titles[n] && p->size > 0)
			kdri_json_string(j, "title", r->titles[n]);
		kdri_json_int(j, "size", p->size);
		put_description(j, t, p);
		kdri_json_array(j, "features");
		for (int64_t i = 0; i < p->nfeatures; i++)
			put_feature(j, t, &p->features[i]);
		kdri_json_end_array(j);
		if (t->examples) {
			json_put_rows(j, "typical", t->examples + 2 * c * KDRI_EXAMPLES);
			json_put_rows(j, "doubtful", t->examples + (2 * c + 1) * KDRI_EXAMPLES);
		}
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static void put_markers(kdri_json *j, const kdri_task_result *t)
{
	const kdri_markers *m = t->markers;
	char column[KDRI_COLUMN_NAME];
	kdri_json_object(j, "markers");
	kdri_json_array(j, "features");
	for (int64_t i = 0; i < m->count; i++)
		kdri_json_string(j, NULL, kdri_column_name(t, m->columns[i], column));
	kdri_json_end_array(j);
	kdri_json_string(j, "share_of", m->counts ? "not zero" : "above the mean");
	for (int share = 0; share < 2; share++) {
		kdri_json_array(j, share ? "share" : "mean"); /* in the order of `clusters` */
		for (int64_t n = 0; n < kdri_cluster_span(t); n++) {
			const int64_t c = kdri_cluster_at(t, n);
			if (c >= 0)
				kdri_json_reals(j, NULL, (share ? m->share : m->mean) + c * m->count,
				                m->count);
		}
		kdri_json_end_array(j);
	}
	kdri_json_string(j, "note",
	                 "p-values are exploratory, because the clusters were found in the same data");
	kdri_json_end_object(j);
}

/* How k was found, where it was: numbers for k from 2. */
static void put_curves(kdri_json *j, const kdr_result *r, int64_t task)
{
	static const struct {
		const char *array, *name;
	} curves[] = { { "eigengap", "eigengap" },
		       { "modularity", "modularity" },
		       { "k_agreement", "agreement" },
		       { "bic", "bic" },
		       { "prediction_strength", "prediction_strength" } };
	if (!kdr_result_array(r, "eigengap", task).data && !kdr_result_array(r, "bic", task).data)
		return;
	kdri_json_object(j, "k_curves");
	kdri_json_int(j, "from", 2);
	for (size_t a = 0; a < sizeof curves / sizeof curves[0]; a++) {
		kdr_array curve = kdr_result_array(r, curves[a].array, task);
		if (!curve.data || curve.type != KDR_FLOAT64 || curve.ndim != 1)
			continue;
		kdri_json_reals(j, curves[a].name, curve.data, curve.shape[0]);
	}
	kdri_json_end_object(j);
}

static void put_sharing(kdri_json *j, const kdri_task_result *t)
{
	const kdri_task_sharing *s = &t->sharing;
	if (!s->reason)
		return;
	kdri_json_object(j, "sharing");
	if (s->from)
		kdri_json_string(j, "from", s->from);
	else
		kdri_json_null(j, "from");
	kdri_json_real(j, "apart", s->apart);
	kdri_json_real(j, "moved", s->moved < 0 ? NAN : (double)s->moved);
	kdri_json_string(j, "reason", s->reason);
	kdri_json_end_object(j);
}

static kdr_status json_put_task(kdr_context *ctx, kdri_json *j, const kdr_result *r, int64_t i)
{
	const kdri_task_result *t = &r->tasks[i];
	kdri_json_object(j, NULL);
	kdri_json_string(j, "name", t->name);
	kdri_json_string(j, "path", t->path);
	kdri_json_int(j, "n", t->all);
	kdri_json_int(j, "d", t->d);
	if (t->compared)
		kdri_json_string(j, "compared_by", t->compared);
	if (t->view.path)
		kdri_json_string(j, "explained_by", t->view.path);
	kdri_json_int(j, "nnz", t->all_nnz);
	kdri_json_int(j, "k", t->k);
	put_names(j, t);
	kdri_json_labels(j, r, i);
	if (!is_brief(j))
		kdri_json_ids(j, r, i);
	put_left_out(j, t);
	put_columns(j, t);
	if (t->labels && t->origin && (t->dialect.delimiter || t->dialect.workbook) && !r->parted)
		kdri_json_table(j, t->path,
		                &(kdri_copied){ .table = kdri_result_table(t),
		                                .dialect = t->dialect,
		                                .file_rows = t->file_rows,
		                                .origin = t->origin,
		                                .n = t->n },
		                !is_brief(j));
	if (!is_brief(j))
		kdri_json_choices(j, r, i);
	if (t->profiles)
		put_profiles(j, r, t);
	if (t->markers && t->markers->count > 0)
		put_markers(j, t);
	if (t->nadvice > 0)
		kdri_json_strings(j, "advice", t->advice, t->nadvice);
	put_sharing(j, t);
	kdri_json_metrics(j, &t->scores);
	if (t->quality.n > 0) /* requested */
		kdri_json_quality(j, &t->quality);
	put_curves(j, r, i);
	kdr_status st = kdri_json_labelling(ctx, j, r, i);
	if (st == KDR_OK && !is_brief(j))
		st = kdri_json_map(ctx, j, r, i);
	kdri_json_end_object(j);
	return st;
}

/* --- levels ----------------------------------------------------------------------------------------- */

/* `before`: the level before, which split clusters are of. */
static void put_splits(kdri_json *j, const kdri_task_result *t, const kdri_task_result *before,
                       const kdri_task_result *named)
{
	char column[KDRI_COLUMN_NAME], left[KDRI_MEAN_TEXT], right[KDRI_MEAN_TEXT];
	kdri_json_array(j, "splits");
	for (int64_t i = 0; i < t->nsplits; i++) {
		const kdri_split *s = &t->splits[i];
		kdri_json_object(j, NULL);
		kdri_json_int(j, "of", kdri_cluster_number(before, s->of));
		kdri_json_ints(
		        j, "into",
		        (int64_t[]){ kdri_cluster_number(t, s->left), kdri_cluster_number(t, s->right) }, 2);
		kdri_json_ints(j, "samples", s->samples, 3);
		kdri_json_array(j, "features");
		for (int f = 0; f < s->nfeatures; f++) {
			kdri_json_object(j, NULL);
			const kdri_feature_effect *e = &s->features[f];
			kdri_json_string(j, "name", kdri_column_name(named, e->column, column));
			kdri_json_real(j, "effect", e->effect);
			kdri_json_reals(j, "means", (double[]){ e->mean_outside, e->mean_inside }, 2);
			if (e->known) {
				kdri_mean_text(e, e->mean_outside, left);
				kdri_mean_text(e, e->mean_inside, right);
				kdri_json_array(j, "texts");
				kdri_json_string(j, NULL, left);
				kdri_json_string(j, NULL, right);
				kdri_json_end_array(j);
			}
			kdri_json_end_object(j);
		}
		kdri_json_end_array(j);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static void put_level(kdri_json *j, const kdr_result *r, int64_t at)
{
	const kdr_result *level = r->levels[at];
	kdri_json_object(j, NULL);
	kdri_json_int(j, "k", level->level);
	kdri_json_string(j, "stop", kdr_stop_name(level->stop));
	kdri_json_array(j, "tasks");
	for (int64_t i = 0; i < level->ntasks; i++) {
		const kdri_task_result *t = &level->tasks[i];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", t->name);
		kdri_json_int(j, "k", t->k);
		put_names(j, t);
		kdri_json_labels(j, level, i);
		if (!is_brief(j))
			kdri_json_choices(j, level, i);
		kdri_json_metrics(j, &t->scores);
		if (t->parents && at > 0) {
			const kdri_task_result *before = &r->levels[at - 1]->tasks[i];
			kdri_json_array(j, "parents"); /* of the clusters 0, 1, ... */
			for (int64_t n = 0; n < kdri_cluster_span(t); n++) {
				const int64_t c = kdri_cluster_at(t, n);
				kdri_json_int(j, NULL,
				              c < 0 ? -1 : kdri_cluster_number(before, t->parents[c]));
			}
			kdri_json_end_array(j);
			put_splits(j, t, before, &r->tasks[i]);
		}
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	/* those of all levels are warnings of the result */
	kdri_json_array(j, "warnings");
	for (int64_t w = 0; w < level->warning_count; w++) {
		bool known = false;
		for (int64_t v = 0; v < r->warning_count; v++)
			known = known || strcmp(level->warnings[w], r->warnings[v]) == 0;
		if (!known)
			kdri_json_string(j, NULL, level->warnings[w]);
	}
	kdri_json_end_array(j);
	kdri_json_end_object(j);
}

static void put_levels(kdri_json *j, const kdr_result *r)
{
	if (r->level_count == 0)
		return;
	kdri_json_int(j, "level", r->level);
	kdri_json_array(j, "levels");
	for (int64_t i = 0; i < r->level_count; i++)
		put_level(j, r, i);
	kdri_json_end_array(j);
}

/* --- between tasks --------------------------------------------------------------------------------- */

static void put_matrix(kdri_json *j, const double *m, int64_t rows, int64_t cols)
{
	kdri_json_array(j, "matrix");
	for (int64_t r = 0; r < rows; r++)
		kdri_json_reals(j, NULL, m + r * cols, cols);
	kdri_json_end_array(j);
}

/* By the numbers of clusters; those that a data set lacks have zeros. */
static void put_match(kdri_json *j, const kdr_result *r, const kdr_correspondence *c)
{
	const kdri_task_result *from = &r->tasks[c->from], *to = &r->tasks[c->to];
	const int64_t rows = kdri_cluster_span(from), cols = kdri_cluster_span(to);
	kdri_json_array(j, "matrix");
	for (int64_t n = 0; n < rows; n++) {
		const int64_t a = kdri_cluster_at(from, n);
		kdri_json_array(j, NULL);
		for (int64_t m = 0; m < cols; m++) {
			const int64_t b = kdri_cluster_at(to, m);
			const bool has = a >= 0 && a < c->rows && b >= 0 && b < c->cols;
			kdri_json_real(j, NULL, has ? c->matrix[a * c->cols + b] : 0);
		}
		kdri_json_end_array(j);
	}
	kdri_json_end_array(j);
	if (!c->quality)
		return;
	kdri_json_array(j, "quality");
	for (int64_t n = 0; n < rows; n++) {
		const int64_t a = kdri_cluster_at(from, n);
		kdri_json_real(j, NULL, a >= 0 && a < c->rows ? c->quality[a] : 0);
	}
	kdri_json_end_array(j);
}

static void put_between(kdri_json *j, const kdr_result *r)
{
	if (r->relatedness) {
		kdri_json_object(j, "relatedness");
		kdri_json_array(j, "tasks");
		for (int64_t i = 0; i < r->ntasks; i++)
			kdri_json_string(j, NULL, r->tasks[i].name);
		kdri_json_end_array(j);
		put_matrix(j, r->relatedness, r->ntasks, r->ntasks);
		kdri_json_end_object(j);
	}
	if (!r->match_count)
		return;
	kdri_json_array(j, "correspondence");
	for (int64_t i = 0; i < r->match_count; i++) {
		const kdr_correspondence *c = &r->matches[i];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "from", r->tasks[c->from].name);
		kdri_json_string(j, "to", r->tasks[c->to].name);
		put_match(j, r, c);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
	if (r->ntasks > KDRI_ALL_PAIRS)
		kdri_json_string(j, "correspondence_pairs", "with the first data set and between neighbours");
}

static void put_bridges(kdri_json *j, const kdr_result *r)
{
	static const char *const features[KDR_BRIDGE_FEATURES] = {
		"complexity_source", "complexity_bridge", "complexity_target",
		"a_source_bridge",   "a_source_target",   "a_bridge_target",
	};
	if (!r->bridge_count)
		return;
	kdri_json_array(j, "bridges");
	for (int64_t i = 0; i < r->bridge_count; i++) {
		const kdri_bridge *b = &r->bridges[i];
		kdri_json_object(j, NULL);
		kdri_json_string(j, "name", b->name);
		kdri_json_string(j, "path", b->path);
		for (int f = 0; f < KDR_BRIDGE_FEATURES; f++)
			kdri_json_real(j, features[f], b->score.features[f]);
		kdri_json_real(j, "score", b->score.score);
		kdri_json_real(j, "probability", b->score.probability);
		kdri_json_real(j, "back", b->score.back);
		kdri_json_int(j, "rank", b->score.rank);
		kdri_json_bool(j, "chosen", b->score.rank == 0);
		kdri_json_string(j, "reason", b->score.reason);
		kdri_json_real(j, "acc", b->accuracy);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

static void put_shared(kdri_json *j, const kdr_result *r)
{
	if (!r->shared_count)
		return;
	kdri_json_array(j, "feature_clusters");
	for (int64_t i = 0; i < r->shared_count; i++) {
		const kdri_shared_features *f = &r->shared[i];
		/* Learnt features have no names. */
		char *const *names = r->feature_options ? NULL : r->tasks[f->task].features;
		kdri_json_object(j, NULL);
		kdri_json_string(j, "shared_with", f->with_target ? "target" : "source");
		kdri_json_int(j, "cluster", f->cluster);
		if (r->classes && f->class_index < r->nclasses)
			kdri_json_string(j, "class", r->classes[f->class_index]);
		kdri_json_real(j, "share", f->share);
		kdri_json_array(j, "features");
		for (int64_t c = 0; c < f->ncolumns; c++)
			if (names)
				kdri_json_string(j, NULL, names[f->columns[c]]);
			else
				kdri_json_int(j, NULL, f->columns[c]);
		kdri_json_end_array(j);
		kdri_json_end_object(j);
	}
	kdri_json_end_array(j);
}

/* A caveat about the calibration. */
static const char calibration_note[] =
        "probabilities are calibrated on held-out source samples; they hold for similar samples but cannot account for "
        "differences in the target; if the data shift, expect them to be less accurate";

static void put_calibration(kdri_json *j, const kdr_result *r)
{
	const kdr_calibration *c = &r->calibration;
	if (!r->calibrated)
		return;
	kdri_json_object(j, "calibration");
	kdri_json_strings(j, "classes", r->classes, r->nclasses);
	kdri_json_int(j, "held_out", c->held_out);
	kdri_json_real(j, "temperature", c->temperature);
	kdri_json_real(j, "label", c->label);
	kdri_json_real(j, "accuracy", c->accuracy);
	kdri_json_real(j, "log_loss", c->log_loss);
	kdri_json_string(j, "note", calibration_note);
	kdri_json_end_object(j);
}

/* --- entire results -------------------------------------------------------------------------------------- */

static void put_head(kdr_context *ctx, kdri_json *j, const kdr_result *r)
{
	const kdri_pages *p = j->user;
	kdri_json_string(j, "kindred", kdr_version());
	if (p->path)
		kdri_put_files(ctx, j, p->path);
	kdri_json_string(j, "command", r->command);
	if (r->command_line)
		kdri_json_string(j, "command_line", r->command_line);
	kdri_json_string(j, "method", r->algo->called ? r->algo->called : r->algo->id);
	put_options(j, r->options);
	if (r->feature_options) {
		kdri_json_object(j, "features_from");
		kdri_json_string(j, "method", kdr_options_algo(r->feature_options)->id);
		put_options(j, r->feature_options);
		kdri_json_int(j, "columns", r->feature_columns);
		kdri_json_end_object(j);
	}
	if (r->kind != KDR_DATA_UNKNOWN)
		kdri_json_string(j, "data", kdri_data_kind_name(r->kind));
	kdri_json_int(j, "seed", (int64_t)r->seed);
	kdri_json_int(j, "threads", r->threads);
	kdri_json_string(j, "preprocessing", r->prep_text ? r->prep_text : kdri_prep_describe(r->prep));
}

static void put_seconds(kdri_json *j, const kdri_seconds *s)
{
	kdri_json_object(j, "seconds");
	kdri_json_real(j, "read", s->read);
	kdri_json_real(j, "prepare", s->prepare);
	kdri_json_real(j, "fit", s->fit);
	if (s->layout > 0)
		kdri_json_real(j, "layout", s->layout);
	kdri_json_real(j, "write", s->write);
	kdri_json_real(j, "total", s->read + s->prepare + s->fit + s->layout + s->write);
	kdri_json_end_object(j);
}

static void put_fields(kdri_json *j, const kdr_result *r)
{
	kdri_json_object(j, "method_fields");
	for (int64_t i = 0; i < r->field_count; i++)
		if (r->fields[i].text)
			kdri_json_string(j, r->fields[i].name, r->fields[i].text);
		else
			kdri_json_real(j, r->fields[i].name, r->fields[i].number);
	kdri_json_end_object(j);
}

static kdr_status build(kdr_context *ctx, kdri_json *j, const kdr_result *r)
{
	kdri_json_object(j, NULL);
	put_head(ctx, j, r);
	kdri_json_array(j, "tasks");
	for (int64_t i = 0; i < r->ntasks; i++) {
		kdr_status st = json_put_task(ctx, j, r, i);
		if (st != KDR_OK)
			return st;
	}
	kdri_json_end_array(j);
	kdri_json_reals(j, "objective", r->objective, r->objective_count);
	kdri_json_string(j, "stop", kdr_stop_name(r->stop));
	kdri_json_int(j, "iterations", r->iterations);
	kdri_json_bool(j, "complete", kdr_result_complete(r));
	put_seconds(j, &r->seconds);
	kdri_json_int(j, "peak_rss_bytes",
	              r->peak_rss_bytes ? r->peak_rss_bytes : (int64_t)kdri_memory_peak());
	put_between(j, r);
	put_levels(j, r);
	put_bridges(j, r);
	put_shared(j, r);
	put_calibration(j, r);
	kdri_json_strings(j, "warnings", r->warnings, r->warning_count);
	put_fields(j, r);
	kdri_json_end_object(j);
	return KDR_OK;
}

static kdr_status no_memory(kdr_context *ctx, const kdri_json *j)
{
	return kdri_fail(ctx, KDR_ERR_MEMORY, "out of memory: result.json needs %zu bytes", j->room);
}

kdr_status kdr_result_json(kdr_context *ctx, const kdr_result *result, bool samples, char **text,
                           size_t *length)
{
	KDRI_NEED(ctx, result && text);
	kdri_pages none = { .ctx = ctx, .brief = !samples };
	kdri_json j = { .allocator = &ctx->allocator, .user = &none };
	const kdr_status st = build(ctx, &j, result);
	return kdri_json_take_text(ctx, &j, st, "result.json", text, length);
}

kdr_status kdri_result_tree(kdr_context *ctx, const kdr_result *result, bool samples, kdri_json_value **root)
{
	kdri_json_tree tree;
	kdri_pages none = { .ctx = ctx, .brief = !samples };
	kdri_json j = { .tree = &tree, .user = &none };
	kdr_status st = kdri_json_tree_begin(ctx, 1 << 16, &tree);
	if (st == KDR_OK)
		st = build(ctx, &j, result);
	return kdri_json_tree_end(&tree, st == KDR_OK && j.failed ? KDR_ERR_MEMORY : st, root);
}

static bool take_text(void *user, const char *text, size_t length)
{
	kdri_pages *p = user;
	if (p->failed == KDR_OK)
		p->failed = kdri_output_write(p->ctx, p->out, text, length);
	return p->failed == KDR_OK;
}

/* Writes the result to the open file if `st` is KDR_OK, and closes it. */
static kdr_status write_pages(kdr_context *ctx, const kdr_result *result, kdr_status st, kdri_pages *p)
{
	kdri_json j = { .allocator = &ctx->allocator, .take = take_text, .user = p };
	if (st == KDR_OK)
		st = build(ctx, &j, result);
	kdri_json_flush(&j);
	if (st == KDR_OK && j.failed)
		st = p->failed != KDR_OK ? p->failed : no_memory(ctx, &j);
	if (st == KDR_OK)
		st = kdri_output_write(ctx, p->out, "\n", 1);
	kdri_json_free(&j);
	return kdri_pages_close(p, st);
}

kdr_status kdr_result_write(kdr_context *ctx, const kdr_result *result, const char *path, bool force)
{
	kdri_pages p = { 0 };
	KDRI_NEED(ctx, result && path);
	/* The other ranks wait for this one, even after a failure. */
	kdr_status st = kdr_outputs_begin(ctx, NULL), opened = kdri_pages_open(ctx, result, path, force, &p);
	const bool begun = st == KDR_OK;
	p.path = path;
	if (st == KDR_OK && kdri_rank(ctx) == 0 && force)
		st = kdri_drop_earlier(ctx, path);
	st = write_pages(ctx, result, st == KDR_OK ? opened : st, &p);
	return begun ? kdr_outputs_end(ctx, st) : st;
}

typedef struct sink {
	kdr_context *ctx;
	kdr_text_put *put;
	void *user;
} sink;

static kdr_status put_block(void *user, const void *bytes, size_t size)
{
	const sink *s = user;
	return s->put(s->user, bytes, size)
	               ? KDR_OK
	               : kdri_fail(s->ctx, KDR_ERR_WRITE, "the result cannot be written");
}

kdr_status kdr_result_put(kdr_context *ctx, const kdr_result *result, kdr_text_put *put, void *user)
{
	kdri_pages p = { 0 };
	sink s = { ctx, put, user };
	KDRI_NEED(ctx, result && put);
	kdr_status st = kdri_pages_open_to(ctx, result, put_block, &s, &p);
	return write_pages(ctx, result, st, &p);
}
