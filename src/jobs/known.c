/* Known classes and links of samples that are to be clustered. SPDX-License-Identifier: BSD-3-Clause
 *
 * Known classes come from files or from the caller, as those of a target (answers.c). The classes of all data sets are one list, in
 * order of first appearance or, if all are integers, increasing. If they are integers from 0 to k - 1, such as clusters of an earlier
 * run, each is the number of its cluster.
 *
 * A link is a line with two ids, separated by a comma, semicolon, tab or blanks. The id of a sample without one is its row, from 1. An id
 * that several data sets have is written as NAME:ID, with the name of the data set. */
#include "jobs/known.h"
#include "comm/comm.h"
#include "core/names.h"
#include "io/table/csv.h"

#include <stdio.h>

void kdri_job_known_free(kdr_context *ctx, kdri_job_known *k)
{
	for (int64_t t = 0; k->labels && t < k->problem.ntasks; t++)
		kdri_free(ctx, k->labels[t]);
	KDRI_FREE(ctx, k->labels, k->rows, k->tasks, k->links);
	kdri_strings_free(&ctx->allocator, k->names, k->nnames);
	*k = (kdri_job_known){ 0 };
}

/* --- classes ---------------------------------------------------------------------------------------------- */

kdr_status kdri_known_rows(kdr_context *ctx, const kdr_labels *known, const kdr_data *data,
                           const int64_t **row)
{
	*row = data->origin && known->n == data->file_rows ? data->origin : NULL;
	if (known->n == data->rows || *row)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_DATA,
	        "%lld known label%s, but data set %s has %lld sample%s; give one label per sample, '?' if unknown",
	        (long long)known->n, known->n == 1 ? "" : "s", data->name, (long long)data->rows,
	        data->rows == 1 ? "" : "s");
}

/* The labels of one data set, as indices into `classes`. */
static kdr_status add_labels(kdr_context *ctx, const kdr_labels *given, const kdr_data *data,
                             kdri_names *classes, int64_t *labels)
{
	const int64_t *row = NULL;
	KDRI_DO(kdri_known_rows(ctx, given, data, &row));
	for (int64_t i = 0; i < data->rows; i++) {
		const char *name = given->names[given->values[row ? row[i] : i]];
		if (strcmp(name, "?") != 0)
			KDRI_DO(kdri_names_add(ctx, classes, name, strlen(name), &labels[i]));
	}
	return KDR_OK;
}

/* Whether the classes are numbers of clusters: integers from 0 to the smallest k - 1. */
static bool are_clusters(const kdri_names *classes, const kdr_job_options *o, int64_t count, int64_t *largest)
{
	int64_t k = o->each_k ? INT64_MAX : o->k, value;
	for (int64_t t = 0; o->each_k && t < count; t++)
		k = KDRI_MIN(k, o->each_k[t]);
	*largest = -1;
	for (int64_t c = 0; c < classes->count; c++) {
		const char *name = classes->names[c], *end = name + strlen(name);
		if (kdri_parse_int(name, end, &value) != end || value < 0 || value >= k)
			return false;
		*largest = KDRI_MAX(*largest, value);
	}
	return true;
}

/* Integers become numbers of clusters if they can. */
static kdr_status number_classes(kdr_context *ctx, const kdr_job_options *o, kdri_names *classes,
                                 kdri_job_known *k)
{
	kdr_status st;
	const int64_t count = k->problem.ntasks;
	int64_t *all = NULL, total = 0, at = 0, largest, value;
	bool integers;
	char text[24];
	for (int64_t t = 0; t < count; t++)
		total += k->rows[t];
	KDRI_TRY(KDRI_NEW(ctx, &all, total));
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; i < k->rows[t]; i++)
			all[at++] = k->labels[t] ? k->labels[t][i] : -1;
	KDRI_TRY(kdri_names_sort_integers(ctx, classes, all, total, &integers));
	const bool clusters = integers && are_clusters(classes, o, count, &largest);
	at = 0;
	for (int64_t t = 0; t < count; t++)
		for (int64_t i = 0; i < k->rows[t]; i++, at++) {
			if (!k->labels[t] || all[at] < 0)
				continue;
			const char *name = classes->names[all[at]];
			k->labels[t][i] = all[at];
			if (clusters && kdri_parse_int(name, name + strlen(name), &value))
				k->labels[t][i] = value;
		}
	k->nnames = clusters ? largest + 1 : classes->count;
	KDRI_TRY(KDRI_NEW0(ctx, &k->names, k->nnames));
	for (int64_t c = 0; c < k->nnames; c++) {
		snprintf(text, sizeof text, "%lld", (long long)c);
		KDRI_TRY(kdri_strdup(ctx, clusters ? text : classes->names[c], &k->names[c]));
	}
done:
	kdri_free(ctx, all);
	return st;
}

static kdr_status take_classes(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets,
                               kdri_job_known *k)
{
	kdr_status st = KDR_OK;
	kdri_names classes = { 0 };
	kdr_labels *read = NULL;
	if (o->nknown_files > 0 && o->nknown_files != k->problem.ntasks)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%lld files of known classes for %lld data sets; give one for each",
		                 (long long)o->nknown_files, (long long)k->problem.ntasks);
	for (int64_t t = 0; t < k->problem.ntasks; t++) {
		const char *path = o->nknown_files > 0 ? o->known_files[t] : NULL;
		const kdr_labels *given = o->each_known ? o->each_known[t] : NULL;
		if (path && strcmp(path, "?") != 0) {
			KDRI_TRY(kdri_answers_read(ctx, &path, 1, sets[t], &read));
			given = read;
		}
		if (!given)
			continue;
		KDRI_TRY(KDRI_NEW(ctx, &k->labels[t], sets[t]->rows));
		for (int64_t i = 0; i < sets[t]->rows; i++)
			k->labels[t][i] = -1;
		k->tasks[t].labels = k->labels[t];
		KDRI_TRY(add_labels(ctx, given, sets[t], &classes, k->labels[t]));
		kdr_labels_free(read);
		read = NULL;
	}
	if (classes.count > 0)
		KDRI_TRY(number_classes(ctx, o, &classes, k));
done:
	kdr_labels_free(read);
	kdri_names_free(ctx, &classes);
	return st;
}

/* --- links ------------------------------------------------------------------------------------------------ */

typedef struct id_table {
	kdri_names names;
	int64_t *row; /* of each name; -1: several rows have it */
} id_table;

typedef struct id_tables {
	kdr_data *const *sets;
	int64_t count;
	id_table *tables; /* count; empty if samples have no ids */
} id_tables;

static void id_tables_free(kdr_context *ctx, id_tables *t)
{
	for (int64_t i = 0; t->tables && i < t->count; i++) {
		kdri_names_free(ctx, &t->tables[i].names);
		kdri_free(ctx, t->tables[i].row);
	}
	kdri_free(ctx, t->tables);
}

static kdr_status id_tables_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, id_tables *t)
{
	*t = (id_tables){ .sets = sets, .count = count };
	KDRI_DO(KDRI_NEW0(ctx, &t->tables, count));
	for (int64_t s = 0; s < count; s++) {
		id_table *table = &t->tables[s];
		table->names.borrows = true;
		if (!sets[s]->ids)
			continue;
		KDRI_DO(KDRI_NEW(ctx, &table->row, sets[s]->rows));
		for (int64_t i = 0; i < sets[s]->rows; i++) {
			int64_t at, before = table->names.count;
			KDRI_DO(kdri_names_add(ctx, &table->names, sets[s]->ids[i], strlen(sets[s]->ids[i]),
			                       &at));
			table->row[at] = at < before ? -1 : i;
		}
	}
	return KDR_OK;
}

/* The row of an id in one data set; -1: it has none, -2: several. */
static int64_t find_row(const id_tables *t, int64_t set, const char *id)
{
	int64_t value;
	const char *end = id + strlen(id);
	if (t->sets[set]->ids) {
		const int64_t at = kdri_names_find(&t->tables[set].names, id);
		return at < 0 ? -1 : t->tables[set].row[at] < 0 ? -2 : t->tables[set].row[at];
	}
	return kdri_parse_int(id, end, &value) == end && value >= 1 && value <= t->sets[set]->rows ? value - 1
	                                                                                           : -1;
}

static kdr_status find_id(kdr_context *ctx, const id_tables *t, const char *path, int64_t line,
                          const char *id, int64_t *set, int64_t *row)
{
	int64_t found = 0;
	*row = -1;
	for (int64_t s = 0; s < t->count; s++) {
		const size_t length = strlen(t->sets[s]->name);
		int64_t at = find_row(t, s, id);
		if (at == -1 && strncmp(id, t->sets[s]->name, length) == 0 && id[length] == ':')
			at = find_row(t, s, id + length + 1);
		if (at == -1)
			continue;
		found += at == -2 ? 2 : 1;
		*set = s;
		*row = at;
	}
	if (found == 0)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: line %lld: no sample has the id '%.80s'%s", path,
		                 (long long)line, id,
		                 t->sets[0]->ids ? "" : "; samples without ids are numbered from 1");
	if (found > 1)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: line %lld: several samples have the id '%.80s'; if they are in different data sets, write NAME:ID with the name of the data set",
		        path, (long long)line, id);
	return KDR_OK;
}

/* The two cells of a line; to be freed. */
static kdr_status split_line(kdr_context *ctx, const char *path, int64_t line, const char *text, char *ids[2])
{
	kdr_status st = KDR_OK;
	const size_t length = strlen(text);
	char *copy = NULL, delimiter = '\0';
	KDRI_TRY(KDRI_NEW(ctx, &copy, (int64_t)length + 2));
	memcpy(copy, text, length + 1);
	copy[length] = '\n';
	copy[length + 1] = '\0';
	for (const char *d = ",;\t"; *d && !delimiter; d++)
		delimiter = strchr(text, *d) ? *d : '\0';
	kdri_csv_cell cell = kdri_csv_cell_at(copy, delimiter ? delimiter : ' ');
	KDRI_TRY(kdri_csv_text(ctx, &cell, &ids[0]));
	const char *next = cell.stop;
	bool two = *next != '\n' && *next;
	if (two) {
		next = kdri_skip_blanks(next + 1);
		cell = kdri_csv_cell_at(next, delimiter ? delimiter : ' ');
		KDRI_TRY(kdri_csv_text(ctx, &cell, &ids[1]));
		two = *cell.stop == '\n' && ids[0][0] && ids[1][0];
	}
	if (!two)
		st = kdri_fail(
		        ctx, KDR_ERR_FORMAT,
		        "%s: line %lld: '%.80s' is not two ids, separated by a comma, semicolon, tab or blank",
		        path, (long long)line, text);
done:
	kdri_free(ctx, copy);
	return st;
}

static kdr_status add_link(kdr_context *ctx, kdri_job_known *k, kdr_link link)
{
	KDRI_DO(KDRI_ROOM(ctx, &k->links, &k->links_room, k->problem.nlinks + 1));
	k->links[k->problem.nlinks++] = link;
	return KDR_OK;
}

static kdr_status read_links(kdr_context *ctx, const char *path, bool apart, const id_tables *t,
                             kdri_job_known *k)
{
	kdr_status st;
	kdr_labels *lines = NULL; /* a line is a label */
	char *ids[2] = { NULL, NULL };
	int64_t set[2], row[2];
	if (!path)
		return KDR_OK;
	KDRI_TRY(kdr_read_labels(ctx, path, &lines));
	for (int64_t i = 0; i < lines->n; i++) {
		KDRI_TRY(split_line(ctx, path, i + 1, lines->names[lines->values[i]], ids));
		for (int e = 0; e < 2; e++) {
			KDRI_TRY(find_id(ctx, t, path, i + 1, ids[e], &set[e], &row[e]));
			kdri_free(ctx, ids[e]);
			ids[e] = NULL;
		}
		if (set[0] != set[1])
			KDRI_FAIL(
			        ctx, KDR_ERR_DATA,
			        "%s: line %lld: the samples are in data sets %s and %s, but links are between samples of one data set; use known classes (--known) across data sets",
			        path, (long long)i + 1, t->sets[set[0]]->name, t->sets[set[1]]->name);
		KDRI_TRY(add_link(
		        ctx, k,
		        (kdr_link){ .task = set[0], .row = row[0], .other = row[1], .apart = apart }));
	}
done:
	for (int e = 0; e < 2; e++)
		kdri_free(ctx, ids[e]);
	kdr_labels_free(lines);
	return st;
}

static kdr_status take_links(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets,
                             kdri_job_known *k)
{
	kdr_status st = KDR_OK;
	id_tables t = { 0 };
	for (int64_t i = 0; i < o->nlinks; i++)
		KDRI_TRY(add_link(ctx, k, o->links[i]));
	if (!o->must_link && !o->cannot_link)
		goto done;
	KDRI_TRY(id_tables_new(ctx, sets, k->problem.ntasks, &t));
	KDRI_TRY(read_links(ctx, o->must_link, false, &t, k));
	KDRI_TRY(read_links(ctx, o->cannot_link, true, &t, k));
done:
	id_tables_free(ctx, &t);
	return st;
}

kdr_status kdri_job_known_take(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets,
                               int64_t count, kdri_job_known *out)
{
	kdr_status st;
	kdri_job_known k = { .problem = { .ntasks = count, .pooled = o->pooled } };
	kdri_links links = { 0 };
	const bool any = o->nknown_files > 0 || o->each_known || o->must_link || o->cannot_link || o->nlinks;
	if (!any)
		return KDR_OK;
	KDRI_TRY(kdri_job_alone(ctx, "known classes and links (--known, --must-link, --cannot-link)", true));
	KDRI_TRY(KDRI_NEW0(ctx, &k.tasks, count));
	KDRI_TRY(KDRI_NEW0(ctx, &k.labels, count));
	KDRI_TRY(KDRI_NEW(ctx, &k.rows, count));
	for (int64_t t = 0; t < count; t++) {
		k.tasks[t] = (kdr_task){ .name = sets[t]->name, .x = kdr_data_mat(sets[t]) };
		k.rows[t] = sets[t]->rows;
	}
	KDRI_TRY(take_classes(ctx, o, sets, &k));
	KDRI_TRY(take_links(ctx, o, sets, &k));
	k.problem.tasks = k.tasks;
	k.problem.classes = k.nnames;
	k.problem.class_names = (const char *const *)k.names;
	k.problem.links = k.links;
	KDRI_TRY(kdri_links_new(ctx, &k.problem, 0, count, sets, &links)); /* errors have the ids */
	*out = k;
	k = (kdri_job_known){ 0 };
done:
	kdri_links_free(ctx, &links);
	kdri_job_known_free(ctx, &k);
	return st;
}

kdr_status kdri_job_known_check(kdr_context *ctx, const kdri_job_known *k, kdr_data *const *sets,
                                kdr_result *r)
{
	int64_t broken = 0, first = -1;
	char a[KDRI_SAMPLE_TEXT], b[KDRI_SAMPLE_TEXT];
	for (int64_t i = 0; i < k->problem.nlinks; i++) {
		const kdr_link *l = &k->links[i];
		const int64_t *labels = r->tasks[l->task].labels;
		if ((labels[l->row] == labels[l->other]) != l->apart)
			continue;
		first = broken++ == 0 ? i : first;
	}
	if (broken == 0)
		return KDR_OK;
	kdri_sample_text(&k->problem, sets, k->links[first].task, k->links[first].row, a);
	kdri_sample_text(&k->problem, sets, k->links[first].task, k->links[first].other, b);
	return kdri_result_warn(
	        ctx, r,
	        "%lld of %lld links could not be kept, for example that of samples %s and %s; use more clusters or fewer cannot-links",
	        (long long)broken, (long long)k->problem.nlinks, a, b);
}
