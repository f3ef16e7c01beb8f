/* Known classes of samples that are to be clustered. SPDX-License-Identifier: BSD-3-Clause
 *
 * Known classes come from files or from the caller, as those of a target (answers.c). The classes of all data sets are one list, in
 * order of first appearance or, if all are integers, increasing. If they are integers from 0 to k - 1, such as clusters of an earlier
 * run, each is the number of its cluster. */
#include "jobs/known.h"
#include "comm/comm.h"
#include "core/names.h"
#include "io/table/csv.h"

#include <stdio.h>

void kdri_job_known_free(kdr_context *ctx, kdri_job_known *k)
{
	for (int64_t t = 0; k->labels && t < k->problem.ntasks; t++)
		kdri_free(ctx, k->labels[t]);
	KDRI_FREE(ctx, k->labels, k->rows, k->tasks);
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
	        "%lld known label%s, but data set %s has %lld sample%s; give one label per sample, '?' if unknown, or a CSV file with id and class",
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

/* Those of the file of data set t. `same`: room for the data sets with the same file, which may have its other ids. */
static kdr_status read_known(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets, int64_t count,
                             int64_t t, kdr_data **same, kdr_labels **out)
{
	const char *path = o->known_files[t];
	int64_t n = 0, at = 0;
	if (strcmp(path, "?") == 0)
		return KDR_OK;
	for (int64_t s = 0; s < count; s++)
		if (strcmp(o->known_files[s], path) == 0) {
			at = s == t ? n : at;
			same[n++] = sets[s];
		}
	return kdri_answers_read(ctx, &path, 1, same, n, at, out);
}

/* The classes of the data, if they are those that are known: an empty cell and "?" mean unknown. */
static kdr_status add_data_classes(kdr_context *ctx, const kdr_data *data, kdri_names *classes,
                                   int64_t *labels)
{
	for (int64_t i = 0; i < data->rows; i++) {
		const char *name = data->labels[i] < 0 ? "?" : data->classes[data->labels[i]];
		if (name[0] && strcmp(name, "?") != 0)
			KDRI_DO(kdri_names_add(ctx, classes, name, strlen(name), &labels[i]));
	}
	return KDR_OK;
}

static kdr_status take_classes(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets,
                               kdri_job_known *k)
{
	kdr_status st = KDR_OK;
	const int64_t count = k->problem.ntasks;
	kdri_names classes = { 0 };
	kdr_labels *read = NULL;
	kdr_data **same = NULL;
	if (o->nknown_files > 0 && o->nknown_files != count)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%lld files of known classes for %lld data sets; give one for each",
		                 (long long)o->nknown_files, (long long)count);
	KDRI_TRY(KDRI_NEW(ctx, &same, count));
	for (int64_t t = 0; t < count; t++) {
		const kdr_labels *given = o->each_known ? o->each_known[t] : NULL;
		const bool own = o->known_in_data && sets[t]->labels;
		if (o->nknown_files > 0)
			KDRI_TRY(read_known(ctx, o, sets, count, t, same, &read));
		given = read ? read : given;
		if (!given && !own)
			continue;
		KDRI_TRY(KDRI_NEW(ctx, &k->labels[t], sets[t]->rows));
		for (int64_t i = 0; i < sets[t]->rows; i++)
			k->labels[t][i] = -1;
		k->tasks[t].labels = k->labels[t];
		KDRI_TRY(given ? add_labels(ctx, given, sets[t], &classes, k->labels[t])
		               : add_data_classes(ctx, sets[t], &classes, k->labels[t]));
		kdr_labels_free(read);
		read = NULL;
	}
	if (o->known_in_data && classes.count == 0)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "no class is known: the column of known classes (--known-column) is missing or empty in every data set");
	if (classes.count > 0)
		KDRI_TRY(number_classes(ctx, o, &classes, k));
done:
	kdri_free(ctx, same);
	kdr_labels_free(read);
	kdri_names_free(ctx, &classes);
	return st;
}

kdr_status kdri_job_known_take(kdr_context *ctx, const kdr_job_options *o, kdr_data *const *sets,
                               int64_t count, kdri_job_known *out)
{
	kdr_status st;
	kdri_job_known k = { .problem = { .ntasks = count, .pooled = o->pooled } };
	const bool any = o->nknown_files > 0 || o->each_known || o->known_in_data;
	if (!any)
		return KDR_OK;
	KDRI_TRY(kdri_job_alone(ctx, "known classes (--known)", true));
	KDRI_TRY(KDRI_NEW0(ctx, &k.tasks, count));
	KDRI_TRY(KDRI_NEW0(ctx, &k.labels, count));
	KDRI_TRY(KDRI_NEW(ctx, &k.rows, count));
	for (int64_t t = 0; t < count; t++) {
		k.tasks[t] = (kdr_task){ .name = sets[t]->name, .x = kdr_data_mat(sets[t]) };
		k.rows[t] = sets[t]->rows;
	}
	KDRI_TRY(take_classes(ctx, o, sets, &k));
	k.problem.tasks = k.tasks;
	k.problem.classes = k.nnames;
	k.problem.class_names = (const char *const *)k.names;
	*out = k;
	k = (kdri_job_known){ 0 };
done:
	kdri_job_known_free(ctx, &k);
	return st;
}
