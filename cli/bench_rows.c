/* Rows of presets as files: one for each preset, table and row. SPDX-License-Identifier: BSD-3-Clause
 *
 * A file has every single value of its row and the key of what they were made from: data, preprocessing, repeats, seed, the
 * method and its settings. Titles, notes and the figures of others are not in the key: they may change, and the run stands.
 *
 * Beside the key are the options that the plan leaves as they are, with their values: a row is of this plan as long as those are the
 * method's defaults. Files without them, of versions before, stand; so do files that do not know a new option. */
#include "bench.h"
#include "core/json_read.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_slug(const char *text, char *out, size_t room)
{
	size_t used = 0;
	for (; *text && used + 1 < room; text++)
		if (isalnum((unsigned char)*text))
			out[used++] = (char)tolower((unsigned char)*text);
		else if (*text == '=' && used + 6 < room) /* "eps = 0" and "eps 0" are not the same */
			used += (size_t)snprintf(out + used, room - used, "is");
		else if (used && out[used - 1] != '-')
			out[used++] = '-';
	while (used && out[used - 1] == '-')
		used--;
	out[used] = '\0';
}

bool bench_unit_path(const bench_unit *u, const char *folder, char *out, size_t room)
{
	char table[128], name[128];
	const bench_table *t = &u->plan->tables[u->table];
	bench_slug(t->title, table, sizeof table);
	bench_slug(t->rows[u->row].name, name, sizeof name);
	int length = snprintf(out, room, "%s/%s/%s/%s%s.json", folder, u->preset, table, name,
	                      u->quick ? ".quick" : "");
	return length > 0 && (size_t)length < room;
}

/* --- the key ---------------------------------------------------------------------------------------- */

static void key_set(kdri_json *j, const bench_data *d)
{
	kdri_json_object(j, NULL);
	kdri_json_string(j, "path", d->path + d->given);
	kdri_json_string(j, "name", d->name ? d->name : "");
	kdri_json_int(j, "role", d->role);
	kdri_json_int(j, "k", d->k);
	kdri_json_array(j, "classes");
	for (int i = 0; i < d->nclasses; i++) {
		kdri_json_string(j, NULL, d->classes[i]);
		kdri_json_string(j, NULL, d->called[i]);
	}
	kdri_json_end_array(j);
	kdri_json_array(j, "shares");
	for (int i = 0; i < 2; i++) {
		kdri_json_real(j, NULL, d->part[i]);
		kdri_json_real(j, NULL, d->words[i]);
	}
	kdri_json_end_array(j);
	for (int i = 0; i < d->nrare; i++)
		kdri_json_real(j, d->rare[i], d->kept[i]);
	kdri_json_end_object(j);
}

static void key_row(kdri_json *j, const bench_row *row)
{
	kdri_json_string(j, "method", row->method ? row->method : "");
	kdri_json_bool(j, "pooled", row->pooled);
	if (row->repeats)
		kdri_json_int(j, "repeats", row->repeats);
	kdri_json_object(j, "set");
	for (int i = 0; i < row->nset; i++)
		kdri_json_string(j, row->set[i].name, row->set[i].value);
	kdri_json_end_object(j);
	kdri_json_object(j, "grid");
	for (int i = 0; i < row->ngrid; i++)
		kdri_json_strings(j, row->grid[i].name, row->grid[i].values, row->grid[i].nvalues);
	kdri_json_end_object(j);
}

bool bench_unit_key(const bench_unit *u, char out[17])
{
	const bench_table *t = &u->plan->tables[u->table];
	bool own = false; /* what bench_begin_repeat asks of all rows */
	kdri_json j = { 0 };
	for (int r = 0; r < t->nrows; r++)
		own |= t->rows[r].method &&
		       (kdr_algo_find(t->rows[r].method)->flags & KDR_ALGO_OWN_FEATURES) != 0;
	kdri_json_object(&j, NULL);
	kdri_json_array(&j, "data");
	for (int i = 0; i < t->ndata; i++)
		key_set(&j, &t->data[i]);
	kdri_json_end_array(&j);
	kdri_json_string(&j, "design", t->design ? t->design : "");
	kdri_json_real(&j, "separation", t->separation);
	kdri_json_array(&j, "prep");
	kdri_json_int(&j, NULL, t->prep.align);
	kdri_json_int(&j, NULL, t->prep.weight);
	kdri_json_int(&j, NULL, t->prep.norm);
	kdri_json_int(&j, NULL, t->prep.scale);
	kdri_json_int(&j, NULL, t->prep.top_features);
	kdri_json_int(&j, NULL, t->prep.top_by);
	kdri_json_bool(&j, NULL, t->prep.fit_each);
	kdri_json_bool(&j, NULL, t->suggest);
	kdri_json_bool(&j, NULL, own);
	kdri_json_end_array(&j);
	kdri_json_int(&j, "sample", t->sample);
	kdri_json_int(&j, "repeats", t->repeats);
	kdri_json_int(&j, "start", t->start);
	kdri_json_bool(&j, "record", t->record);
	kdri_json_array(&j, "scores");
	for (int i = 0; i < t->nscores; i++)
		kdri_json_string(&j, NULL, bench_score_names[t->scores[i]]);
	kdri_json_end_array(&j);
	kdri_json_int(&j, "seed", (int64_t)u->seed);
	key_row(&j, &t->rows[u->row]);
	kdri_json_end_object(&j);
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (size_t i = 0; i < j.used && !j.failed; i++)
		hash = (hash ^ (unsigned char)j.text[i]) * 0x100000001b3u;
	snprintf(out, 17, "%016" PRIx64, hash);
	bool well = !j.failed;
	kdri_json_free(&j);
	return well;
}

/* --- what the plan leaves as it is ------------------------------------------------------------------- */

/* Whether the plan sets an option of the row, to one value or to several. */
static bool is_set(const bench_row *row, const char *name)
{
	bool found = false;
	for (int i = 0; i < row->nset; i++)
		found |= strcmp(row->set[i].name, name) == 0;
	for (int i = 0; i < row->ngrid; i++)
		found |= strcmp(row->grid[i].name, name) == 0;
	return found;
}

static bool write_defaults(kdr_context *ctx, kdri_json *j, const bench_row *row)
{
	kdr_options *options = NULL;
	const kdr_option_desc *o;
	if (kdr_options_new(ctx, row->method, &options) != KDR_OK)
		return false;
	kdri_json_object(j, "defaults");
	for (size_t i = 0; (o = kdr_algo_option_at(kdr_options_algo(options), i)); i++) {
		double value = kdr_options_get(options, o->name);
		if (is_set(row, o->name))
			continue;
		if (o->type == KDR_OPTION_CHOICE)
			kdri_json_string(j, o->name, o->choices[(int)value]);
		else
			kdri_json_real(j, o->name, value);
	}
	kdri_json_end_object(j);
	kdr_options_free(options);
	return true;
}

/* Whether `defaults`, as a file has them, are those in force; NULL: it has none. */
static bool same_defaults(kdr_context *ctx, const kdri_json_value *defaults, const bench_row *row)
{
	kdr_options *options = NULL;
	const kdr_option_desc *o;
	bool same = true;
	if (!defaults || !row->method || kdr_options_new(ctx, row->method, &options) != KDR_OK)
		return !defaults;
	for (size_t i = 0; (o = kdr_algo_option_at(kdr_options_algo(options), i)); i++) {
		const kdri_json_value *there = kdri_json_get(defaults, o->name);
		double value = kdr_options_get(options, o->name);
		if (!there)
			continue;
		if (o->type == KDR_OPTION_CHOICE)
			same &= kdri_json_is(there, KDRI_JSON_TEXT) &&
			        strcmp(kdri_json_text(there, NULL), o->choices[(int)value]) == 0;
		else
			same &= kdri_json_number(there, NAN) == value;
	}
	kdr_options_free(options);
	return same;
}

/* --- writing ----------------------------------------------------------------------------------------- */

static void write_line(kdri_json *j, const bench_outcome *o, const bench_line *line)
{
	const bench_table *t = o->table;
	kdri_json_object(j, NULL);
	kdri_json_string(j, "setting", line->setting);
	kdri_json_real(j, "seconds", line->seconds);
	kdri_json_int(j, "runs", line->runs);
	kdri_json_int(j, "failed", line->failed);
	if (line->error)
		kdri_json_string(j, "error", line->error);
	kdri_json_object(j, "scores");
	for (int c = 0; c < t->nscores; c++) {
		kdri_json_array(j, bench_score_names[t->scores[c]]);
		for (int i = 0; i < o->ntasks; i++) {
			kdri_json_array(j, NULL);
			for (int r = 0; r < o->repeats; r++)
				kdri_json_real(j, NULL, line->values[(r * t->nscores + c) * o->ntasks + i]);
			kdri_json_end_array(j);
		}
		kdri_json_end_array(j);
	}
	kdri_json_end_object(j);
	if (line->nrecords)
		kdri_json_object(j, "record");
	for (int i = 0; i < line->nrecords; i++)
		kdri_json_reals(j, line->records[i].name, line->records[i].values, line->records[i].count);
	if (line->nrecords)
		kdri_json_end_object(j);
	kdri_json_end_object(j);
}

int bench_unit_write(kdr_context *ctx, const bench_unit *u, const char *path, const bench_outcome *o,
                     double seconds)
{
	const bench_table *t = o->table;
	char key[17];
	kdri_json j = { 0 };
	bool well = bench_unit_key(u, key);
	kdri_json_object(&j, NULL);
	kdri_json_string(&j, "kindred", kdr_version());
	kdri_json_string(&j, "preset", u->preset);
	kdri_json_string(&j, "table", t->title);
	kdri_json_string(&j, "row", t->rows[u->row].name);
	kdri_json_string(&j, "method", t->rows[u->row].method);
	kdri_json_string(&j, "key", key);
	well = well && write_defaults(ctx, &j, &t->rows[u->row]);
	kdri_json_int(&j, "seed", (int64_t)u->seed);
	kdri_json_int(&j, "repeats", o->repeats);
	kdri_json_int(&j, "sample", t->sample);
	kdri_json_real(&j, "seconds", seconds);
	kdri_json_strings(&j, "tasks", o->tasks, o->ntasks);
	kdri_json_array(&j, "lines");
	for (int l = 0; l < o->nlines; l++)
		write_line(&j, o, &o->lines[l]);
	kdri_json_end_array(&j);
	kdri_json_end_object(&j);
	kdr_status st = well && !j.failed ? kdr_write_file(ctx, path, j.text, j.used, true) : KDR_ERR_MEMORY;
	int code = st == KDR_OK ? EXIT_DONE : !well || j.failed ? bench_no_memory() : cli_fail(ctx, st);
	kdri_json_free(&j);
	return code;
}

/* --- reading ----------------------------------------------------------------------------------------- */

/* The names of tasks, if none were known. */
static bool bench_rows_read_tasks(const kdri_json_value *root, bench_outcome *out)
{
	const kdri_json_value *tasks = kdri_json_get(root, "tasks");
	int wanted = 0;
	for (int i = 0; i < out->table->ndata; i++)
		wanted += bench_scored(out->table, i);
	if (kdri_json_count(tasks) != wanted)
		return false;
	if (!out->tasks && !(out->tasks = calloc((size_t)wanted + 1, sizeof(char *))))
		return false;
	for (int i = out->ntasks; i < wanted; i++)
		if (!(out->tasks[out->ntasks++] = strdup(kdri_json_text(kdri_json_at(tasks, i), NULL))))
			return false;
	return true;
}

/* The figures of the row's lines. */
static bool read_lines(const kdri_json_value *root, const bench_unit *u, bench_outcome *out)
{
	const kdri_json_value *lines = kdri_json_get(root, "lines");
	const bench_table *t = out->table;
	int64_t at = 0;
	if (!bench_rows_read_tasks(root, out) || (!out->lines && bench_lines_new(t, -1, out) != EXIT_DONE))
		return false;
	out->repeats = (int)kdri_json_integer(kdri_json_get(root, "repeats"), 0);
	if (out->repeats > t->repeats)
		return false;
	for (int l = 0; l < out->nlines; l++) {
		bench_line *line = &out->lines[l];
		if (line->row != &t->rows[u->row])
			continue;
		const kdri_json_value *from = kdri_json_at(lines, at++);
		const kdri_json_value *scores = kdri_json_get(from, "scores"),
		                      *error = kdri_json_get(from, "error");
		line->seconds = kdri_json_number(kdri_json_get(from, "seconds"), 0);
		line->runs = (int)kdri_json_integer(kdri_json_get(from, "runs"), 0);
		line->failed = (int)kdri_json_integer(kdri_json_get(from, "failed"), 0);
		line->error = error ? strdup(kdri_json_text(error, NULL)) : NULL;
		for (int c = 0; c < t->nscores; c++) {
			const kdri_json_value *tasks = kdri_json_get(scores, bench_score_names[t->scores[c]]);
			for (int i = 0; i < out->ntasks; i++)
				for (int r = 0; r < out->repeats; r++)
					line->values[(r * t->nscores + c) * out->ntasks + i] =
					        kdri_json_number(kdri_json_at(kdri_json_at(tasks, i), r),
					                         NAN);
		}
	}
	return at == kdri_json_count(lines);
}

int bench_unit_read(kdr_context *ctx, const bench_unit *u, const char *path, bool *done, double *seconds,
                    bench_outcome *out)
{
	size_t size = 0;
	char key[17];
	*done = false;
	*seconds = NAN;
	if (!bench_unit_key(u, key))
		return bench_no_memory();
	char *text = bench_read_text(path, &size);
	if (!text)
		return EXIT_DONE; /* not there */
	kdri_json_value *root = NULL;
	kdr_status st = kdri_json_parse(ctx, path, 1, text, size, &root);
	free(text);
	if (st != KDR_OK)
		return cli_fail_reading(ctx, st);
	const char *there = kdri_json_text(kdri_json_get(root, "key"), NULL);
	*seconds = kdri_json_number(kdri_json_get(root, "seconds"), NAN);
	*done = there && strcmp(there, key) == 0 &&
	        same_defaults(ctx, kdri_json_get(root, "defaults"), &u->plan->tables[u->table].rows[u->row]);
	int code = EXIT_DONE;
	if (*done && out && !read_lines(root, u, out)) {
		cli_error("%s: not a row of this table; delete the file to compute the row again", path);
		code = EXIT_DATA;
	}
	kdri_json_value_free(root);
	return code;
}
