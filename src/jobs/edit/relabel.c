/* kdr_relabel: the files of a result again, after edits. SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/edit/relabel.h"
#include "core/json_write.h"
#include "io/table/csv.h"
#include "jobs/report/report.h"

#include <stdio.h>

kdr_status kdri_edited_labels(const kdri_edited *e, int64_t task, kdri_output *out)
{
	const kdri_edited_task *t = &e->tasks[task];
	for (int64_t i = 0; i < t->n; i++) {
		const char *name = t->labels[i] < 0 ? "?" : kdri_edited_name(e, task, t->labels[i]);
		KDRI_DO(e->classes || t->labels[i] < 0
		                ? kdri_output_printf(e->ctx, out, "%s\n", name)
		                : kdri_output_printf(e->ctx, out, "%lld\n", (long long)t->labels[i]));
	}
	return KDR_OK;
}

/* --- samples.csv ------------------------------------------------------------------------------------------- */

/* The id of a sample, or its number from 1. */
static kdr_status put_id(const kdri_edited *e, kdri_output *out, const kdri_edited_task *t, int64_t i)
{
	const char *id = kdri_json_text(kdri_json_at(t->ids, i), NULL);
	return id ? kdri_csv_put_cell(e->ctx, out, id, ',')
	          : kdri_output_printf(e->ctx, out, "%lld", (long long)i + 1);
}

/* The other cells, after a comma: empty if there is no text, or the number is not finite. */
static kdr_status put_text(const kdri_edited *e, kdri_output *out, const char *text)
{
	KDRI_DO(kdri_output_write(e->ctx, out, ",", 1));
	return text ? kdri_csv_put_cell(e->ctx, out, text, ',') : KDR_OK;
}

static kdr_status put_number(const kdri_edited *e, kdri_output *out, double value)
{
	char text[64] = ",";
	if (isfinite(value))
		text[1 + kdri_print_double(value, text + 1)] = '\0';
	return kdri_output_write(e->ctx, out, text, strlen(text));
}

/* A cluster number, negative if there is none. */
static kdr_status put_cluster(const kdri_edited *e, kdri_output *out, const kdri_json_value *value)
{
	const double number = kdri_json_number(value, NAN);
	return put_number(e, out, number < 0 ? NAN : number);
}

static kdr_status put_label(const kdri_edited *e, int64_t task, kdri_output *out, int64_t label)
{
	return e->classes ? put_text(e, out, kdri_edited_name(e, task, label))
	                  : put_number(e, out, label < 0 ? NAN : (double)label);
}

/* Why sample i has no label. */
static const char *unlabelled_reason(const kdri_json_value *task, int64_t i)
{
	const kdri_json_value *list = kdri_json_get(task, "unlabelled");
	int64_t low = 0, high = kdri_json_count(list); /* rows are in their order */
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;
		if (kdri_json_integer(kdri_json_get(kdri_json_at(list, middle), "row"), 0) < i + 1)
			low = middle + 1;
		else
			high = middle;
	}
	const kdri_json_value *found = kdri_json_at(list, low);
	const char *reason = kdri_json_text(kdri_json_get(found, "reason"), NULL);
	return reason && kdri_json_integer(kdri_json_get(found, "row"), 0) == i + 1 ? reason
	                                                                            : "low confidence";
}

/* Which columns beyond those of every result a data set has. */
typedef struct columns {
	const kdri_json_value *unlike, *cluster, *levels;
	bool names, marks, reasons;
} columns;

static columns find_columns(const kdri_edited *e, int64_t task)
{
	const kdri_edited_task *t = &e->tasks[task];
	columns c = { .unlike = kdri_json_get(t->json, "unlike_source"),
		      .cluster = kdri_json_get(t->json, "target_cluster"),
		      .levels = e->level ? NULL : kdri_json_get(e->root, "levels"),
		      .marks = e->marked };
	for (int64_t k = 0; !e->classes && k < e->numbers; k++)
		for (int64_t o = 0; o < e->ntasks; o++)
			c.names |= (!e->level || o == task) && e->tasks[o].clusters[k].exists &&
			           kdri_edited_called(e, o, k);
	for (int64_t i = 0; i < t->n && !c.reasons; i++)
		c.reasons = t->labels[i] < 0;
	return c;
}

static const kdri_json_value *level_label(const kdri_json_value *level, int64_t task, int64_t i)
{
	return kdri_json_at(kdri_json_get(kdri_json_at(kdri_json_get(level, "tasks"), task), "labels"), i);
}

static kdr_status put_sample_titles(const kdri_edited *e, kdri_output *out, const columns *c)
{
	KDRI_DO(kdri_output_printf(e->ctx, out, "id,%s%s,confidence,second%s",
	                           e->classes ? "class" : "cluster", c->names ? ",name" : "",
	                           c->unlike ? ",unlike_source,target_cluster" : ""));
	for (int64_t l = 0; l < kdri_json_count(c->levels); l++)
		KDRI_DO(kdri_output_printf(
		        e->ctx, out, ",cluster_%lld",
		        (long long)kdri_json_integer(kdri_json_get(kdri_json_at(c->levels, l), "k"), 0)));
	return kdri_output_printf(e->ctx, out, "%s%s\n", c->reasons ? ",reason" : "",
	                          c->marks ? ",wrong,note" : "");
}

static kdr_status put_sample(const kdri_edited *e, int64_t task, kdri_output *out, const columns *c,
                             int64_t i)
{
	const kdri_edited_task *t = &e->tasks[task];
	KDRI_DO(put_id(e, out, t, i));
	KDRI_DO(put_label(e, task, out, t->labels[i]));
	if (c->names)
		KDRI_DO(put_text(e, out, kdri_edited_called(e, task, t->labels[i])));
	KDRI_DO(put_number(e, out, kdri_json_number(kdri_json_at(t->confidence, i), NAN)));
	KDRI_DO(put_label(e, task, out, kdri_edited_second(e, t, i)));
	if (c->unlike) {
		KDRI_DO(put_number(e, out, kdri_json_number(kdri_json_at(c->unlike, i), NAN)));
		KDRI_DO(put_cluster(e, out, kdri_json_at(c->cluster, i)));
	}
	for (int64_t l = 0; l < kdri_json_count(c->levels); l++)
		KDRI_DO(put_cluster(e, out, level_label(kdri_json_at(c->levels, l), task, i)));
	if (c->reasons)
		KDRI_DO(kdri_output_printf(e->ctx, out, ",%s",
		                           t->labels[i] < 0 ? unlabelled_reason(t->json, i) : ""));
	if (c->marks)
		KDRI_DO(put_number(e, out, t->wrong[i] ? 1 : NAN));
	if (c->marks)
		KDRI_DO(put_text(e, out, t->notes[i]));
	return kdri_output_write(e->ctx, out, "\n", 1);
}

kdr_status kdri_edited_samples(const kdri_edited *e, int64_t task, kdri_output *out)
{
	const columns c = find_columns(e, task);
	KDRI_DO(put_sample_titles(e, out, &c));
	for (int64_t i = 0; i < e->tasks[task].n; i++)
		KDRI_DO(put_sample(e, task, out, &c, i));
	return KDR_OK;
}

static kdr_status fill_probabilities(const kdri_edited *e, int64_t task, kdri_output *out)
{
	kdr_status st;
	const kdri_edited_task *t = &e->tasks[task];
	const kdri_json_value *list = kdri_json_get(t->json, "probabilities");
	double *p = NULL;
	KDRI_TRY(KDRI_NEW(e->ctx, &p, e->numbers));
	KDRI_TRY(kdri_output_printf(e->ctx, out, "id"));
	for (int64_t c = 0; c < e->numbers; c++)
		if (t->clusters[c].exists)
			KDRI_TRY(put_label(e, task, out, c));
	KDRI_TRY(kdri_output_printf(e->ctx, out, "\n"));
	for (int64_t i = 0; i < t->n; i++) {
		kdri_edited_probabilities(e, t, kdri_json_at(list, i), p);
		KDRI_TRY(put_id(e, out, t, i));
		for (int64_t c = 0; c < e->numbers; c++)
			if (t->clusters[c].exists)
				KDRI_TRY(put_number(e, out, p[c]));
		KDRI_TRY(kdri_output_printf(e->ctx, out, "\n"));
	}
done:
	kdri_free(e->ctx, p);
	return st;
}

/* --- files ------------------------------------------------------------------------------------------------- */

/* Where the JSON goes. */
typedef struct receiver {
	kdr_context *ctx;
	kdri_output *out;
	kdr_status st;
} receiver;

static bool output_take(void *user, const char *text, size_t length)
{
	receiver *to = user;
	to->st = kdri_output_write(to->ctx, to->out, text, length);
	return to->st == KDR_OK;
}

kdr_status kdri_edited_write(const kdri_edited *e, int64_t task, kdri_edited_fill *fill, const char *path,
                             bool force)
{
	kdri_output *out = NULL;
	kdr_status st = kdri_output_open(e->ctx, path, force, &out);
	if (st == KDR_OK)
		st = fill(e, task, out);
	return kdri_output_finish(e->ctx, out, st);
}

/* The last file: it lists the others. */
static kdr_status write_result(kdr_context *ctx, const kdri_json_value *edited, const char *path, bool force)
{
	kdr_status st;
	receiver to = { ctx, NULL, KDR_OK };
	kdri_json j = { .allocator = &ctx->allocator, .take = output_take, .user = &to };
	KDRI_TRY(kdri_output_open(ctx, path, force, &to.out));
	kdri_json_put(&j, NULL, edited);
	kdri_json_flush(&j);
	KDRI_TRY(to.st);
	if (j.failed)
		KDRI_FAIL(ctx, KDR_ERR_MEMORY, "out of memory: the edited result");
	KDRI_TRY(kdri_output_printf(ctx, to.out, "\n"));
done:
	kdri_json_free(&j);
	return kdri_output_finish(ctx, to.out, st);
}

/* Whether a file of edits has lines with numbers and names of clusters; else it is JSON. */
static bool is_name_list(const char *text, size_t size)
{
	bool begins = true;
	for (size_t i = 0; i < size && text[i] != '{' && text[i] != '['; i++) {
		if (begins && text[i] >= '0' && text[i] <= '9')
			return true;
		begins = text[i] == '\n' || (begins && strchr(" \t\"", text[i]));
	}
	return false;
}

kdr_status kdr_relabel(kdr_context *ctx, const char *result_json, const char *edits_json, const char *folder,
                       const kdr_relabel_options *options, bool force)
{
	static const struct {
		const char *ending;
		kdri_edited_fill *fill;
	} files[] = { { ".labels", kdri_edited_labels },
		      { ".samples.csv", kdri_edited_samples },
		      { ".probabilities.csv", fill_probabilities } };
	kdr_status st;
	char path[8192], page[8192], *text = NULL;
	size_t size = 0;
	kdri_json_value *root = NULL, *edits = NULL, *edited = NULL;
	kdri_input *lines = NULL;
	kdri_name_list names = { 0 };
	kdri_edited e = { .ctx = ctx };
	kdri_edited_copies copies = { .sets = NULL };
	kdr_relabel_options o;
	bool begun = false;
	KDRI_NEED(ctx, result_json && edits_json && folder);
	KDRI_DO(KDRI_TAKE(ctx, kdr_relabel_options, options, &o));
	KDRI_DO(kdri_copied_check(ctx, o.columns));
	KDRI_TRY(kdr_outputs_begin(ctx, folder));
	begun = true;
	KDRI_TRY(kdri_result_file_read(ctx, result_json, &root));
	KDRI_TRY(kdri_edited_open(ctx, result_json, root, NULL, &e));
	KDRI_TRY(kdri_result_file_text(ctx, edits_json, &text, &size));
	if (is_name_list(text, size)) {
		KDRI_TRY(kdri_input_from_memory(ctx, text, size, edits_json, &lines));
		KDRI_TRY(kdri_name_list_read(ctx, lines, &names));
		KDRI_TRY(kdri_edits_names(&e, edits_json, &names));
	} else {
		KDRI_TRY(kdri_json_parse(ctx, edits_json, 1, text, size, &edits));
		KDRI_TRY(kdri_edits_apply(&e, edits_json, edits));
	}
	if (o.h5ad || o.table)
		KDRI_TRY(kdri_edited_copies_new(&e, &copies));
	/* First whether everything can be written, then all of it. */
	for (int write = 0; write < 2; write++) {
		for (int64_t t = 0; t < e.ntasks; t++)
			for (size_t f = 0; f < sizeof files / sizeof *files && e.tasks[t].n > 0; f++) {
				if (files[f].fill == fill_probabilities &&
				    !kdri_json_is(kdri_json_get(e.tasks[t].json, "probabilities"),
				                  KDRI_JSON_ARRAY))
					continue;
				snprintf(path, sizeof path, "%s/%s%s", folder, e.tasks[t].name,
				         files[f].ending);
				const char *data =
				        kdri_json_text(kdri_json_get(e.tasks[t].json, "path"), NULL);
				if (f == 0 && data && !write)
					KDRI_TRY(kdr_labels_check(ctx, path, data));
				KDRI_TRY(write ? kdri_edited_write(&e, t, files[f].fill, path, force)
				               : kdr_write_check(ctx, path, force));
			}
		if (o.h5ad)
			KDRI_TRY(kdri_edited_h5ad(&e, &copies, o.h5ad, o.key, write, force));
		if (o.table)
			KDRI_TRY(kdri_copied_write_all(ctx, result_json, copies.sets, e.ntasks, e.classes,
			                               o.columns, o.table, write, force));
		if (o.model) {
			const char *name = strrchr(o.model, '/');
			snprintf(path, sizeof path, "%s/%s", folder, name ? name + 1 : o.model);
			KDRI_TRY(kdri_edited_model(&e, o.model, path, write, force));
		}
		snprintf(path, sizeof path, "%s/result.json", folder);
		snprintf(page, sizeof page, "%s/report.html", folder);
		if (o.report && !write) {
			KDRI_TRY(kdr_write_check(ctx, page, force));
			KDRI_TRY(kdr_outputs_expect(ctx, page)); /* result.json lists it */
		}
		if (write && force)
			KDRI_TRY(kdri_drop_earlier(ctx, path));
		if (write)
			KDRI_TRY(kdri_edited_tree(&e, path, &edited));
		KDRI_TRY(write ? write_result(ctx, edited, path, force) : kdr_write_check(ctx, path, force));
	}
	if (o.report)
		KDRI_TRY(kdri_report_write(ctx, edited, page, force));
done:
	kdri_json_value_free(edited);
	kdri_edited_copies_free(&e, &copies);
	kdri_edited_close(&e);
	kdri_input_close(ctx, lines);
	kdri_name_list_free(ctx, &names);
	kdri_json_value_free(edits);
	kdri_free(ctx, text);
	kdri_json_value_free(root);
	return begun ? kdr_outputs_end(ctx, st) : st;
}
