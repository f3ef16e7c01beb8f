/* Names of clusters: what a person calls them. SPDX-License-Identifier: BSD-3-Clause
 *
 * A name belongs to a number, in every data set and at every level that has it. Clusters without a given name are called as their known class
 * (api/number.c), else by their title (jobs/say/clusters.c). Two clusters never have the same given name. */
#include "jobs/say/names.h"
#include "core/numbers.h"
#include "core/utf8.h"
#include "jobs/job.h"
#include "jobs/known.h"
#include "jobs/say/say.h"

#include <stdio.h>

/* --- lists of names -------------------------------------------------------------------------------------- */

void kdri_name_list_free(kdr_context *ctx, kdri_name_list *list)
{
	kdri_strings_free(&ctx->allocator, list->names, list->count);
	kdri_free(ctx, list->numbers);
	*list = (kdri_name_list){ 0 };
}

/* What is wrong with a name; NULL: nothing. */
static const char *name_wrong(const char *name)
{
	int64_t characters = 0, blanks = 0;
	for (const char *p = name, *end = name + strlen(name); p < end; characters++) {
		uint32_t c = 0;
		p += KDRI_MAX(kdri_utf8_at(p, (size_t)(end - p), &c), 1);
		if (c < 0x20)
			return "has a control character";
		blanks += c == ' ';
	}
	return characters == blanks          ? "is empty"
	       : characters > KDRI_NAME_MOST ? "has more than 200 characters"
	                                     : NULL;
}

/* `where` begins the errors: a path and ": ", or "". */
static kdr_status check_list(kdr_context *ctx, const char *where, const int64_t *numbers,
                             const char *const *names, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const char *wrong = names[i] ? name_wrong(names[i]) : "is empty";
		if (wrong)
			return kdri_fail(ctx, KDR_ERR_DATA, "%sthe name of cluster %lld %s", where,
			                 (long long)numbers[i], wrong);
		for (int64_t o = 0; o < i; o++) {
			if (numbers[o] == numbers[i])
				return kdri_fail(ctx, KDR_ERR_DATA,
				                 "%scluster %lld has two names: '%.60s' and '%.60s'", where,
				                 (long long)numbers[i], names[o], names[i]);
			if (strcmp(names[o], names[i]) == 0)
				return kdri_fail(
				        ctx, KDR_ERR_DATA,
				        "%sclusters %lld and %lld have the same name, '%.60s': use different names, or merge the clusters",
				        where, (long long)numbers[o], (long long)numbers[i], names[i]);
		}
	}
	return KDR_OK;
}

/* "3,Young families": a number and a name; *number -1 if the first cell is no number. */
static kdr_status split_name(kdr_context *ctx, const char *text, char *cells[2], int64_t *number)
{
	bool two = false;
	*number = -1;
	for (const char *d = ",;\t|="; *d && !two; d++) {
		KDRI_FREE(ctx, cells[0], cells[1]);
		cells[0] = cells[1] = NULL;
		KDRI_DO(kdri_two_cells(ctx, text, *d, cells, &two));
	}
	const char *end = two ? cells[0] + strlen(cells[0]) : NULL;
	if (!two || kdri_parse_int(cells[0], end, number) != end)
		*number = -1;
	return KDR_OK;
}

kdr_status kdri_name_list_read(kdr_context *ctx, kdri_input *in, kdri_name_list *out)
{
	kdr_status st;
	const char *path = kdri_input_path(in);
	kdr_labels *lines = NULL; /* a line is a label */
	char *cells[2] = { NULL, NULL }, where[4096];
	*out = (kdri_name_list){ 0 };
	KDRI_TRY(kdri_labels_read(ctx, in, &lines));
	KDRI_TRY(KDRI_NEW(ctx, &out->numbers, lines->n));
	KDRI_TRY(KDRI_NEW0(ctx, &out->names, lines->n));
	for (int64_t i = 0; i < lines->n; i++) {
		const char *line = lines->names[lines->values[i]];
		int64_t number;
		KDRI_TRY(split_name(ctx, line, cells, &number));
		if (number < 0 && i == 0 && !strpbrk(line, "0123456789"))
			continue; /* a header */
		if (number < 0)
			KDRI_FAIL(
			        ctx, KDR_ERR_FORMAT,
			        "%s: line %lld: '%.80s' is not the number of a cluster and its name, such as 3,families; put a name with commas between quotation marks",
			        path, (long long)i + 1, line);
		out->numbers[out->count] = number;
		out->names[out->count++] = cells[1];
		cells[1] = NULL;
	}
	if (out->count == 0)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: has no names of clusters", path);
	kdri_snprintf(where, sizeof where, "%s: ", path);
	KDRI_TRY(check_list(ctx, where, out->numbers, (const char *const *)out->names, out->count));
done:
	KDRI_FREE(ctx, cells[0], cells[1]);
	kdr_labels_free(lines);
	if (st != KDR_OK)
		kdri_name_list_free(ctx, out);
	return st;
}

/* --- results --------------------------------------------------------------------------------------------- */

/* Level i of a result, from 0; NULL past the last. A result without levels is its own. */
static kdr_result *level_at(kdr_result *r, int64_t i)
{
	if (r->level_count == 0)
		return i == 0 ? r : NULL;
	return i < r->level_count ? r->levels[i] : NULL;
}

static bool has_number(kdr_result *r, int64_t number)
{
	const kdr_result *level;
	for (int64_t i = 0; (level = level_at(r, i)); i++)
		for (int64_t t = 0; t < level->ntasks; t++)
			if (kdri_cluster_at(&level->tasks[t], number) >= 0)
				return true;
	return false;
}

/* "0, 1, 2": the numbers of a result's clusters. */
static void list_numbers(kdr_result *r, char *out, size_t room)
{
	int64_t span = 0;
	size_t used = 0;
	const kdr_result *level;
	for (int64_t i = 0; (level = level_at(r, i)); i++)
		for (int64_t t = 0; t < level->ntasks; t++)
			span = KDRI_MAX(span, kdri_cluster_span(&level->tasks[t]));
	out[0] = '\0';
	for (int64_t n = 0; n < span && used + 32 < room; n++)
		if (has_number(r, n))
			used += (size_t)kdri_snprintf(out + used, room - used, "%s%lld", used ? ", " : "",
			                              (long long)n);
}

/* Whether a cluster that keeps its name already has one of the new names. */
static kdr_status check_taken(kdr_context *ctx, kdr_result *r, const kdri_name_list *list)
{
	const kdr_result *level;
	for (int64_t i = 0; (level = level_at(r, i)); i++)
		for (int64_t t = 0; t < level->ntasks; t++) {
			const kdri_task_result *task = &level->tasks[t];
			for (int64_t c = 0; task->names && c < task->k; c++) {
				const int64_t number = kdri_cluster_number(task, c);
				int64_t same = -1;
				for (int64_t n = 0; task->names[c] && n < list->count; n++) {
					if (list->numbers[n] == number) {
						same = -1;
						break;
					}
					if (strcmp(list->names[n], task->names[c]) == 0)
						same = n;
				}
				if (same >= 0)
					return kdri_fail(
					        ctx, KDR_ERR_DATA,
					        "clusters %lld and %lld would have the same name, '%.60s': use different names, or merge the clusters",
					        (long long)number, (long long)list->numbers[same],
					        list->names[same]);
			}
		}
	return KDR_OK;
}

/* A cluster of one data set at one level that gets a name. */
typedef struct place {
	kdri_task_result *task;
	int64_t cluster;
	char *name;   /* a copy */
	char **names; /* new room for the names of the data set's clusters; NULL: there is room */
} place;

/* Everything is allocated before anything changes. */
static kdr_status apply_names(kdr_context *ctx, kdr_result *r, const kdri_name_list *list)
{
	kdr_status st = KDR_OK;
	place *places = NULL;
	kdr_result *level;
	int64_t most = 0, count = 0;
	for (int64_t i = 0; (level = level_at(r, i)); i++)
		most += level->ntasks * list->count;
	KDRI_TRY(KDRI_NEW0(ctx, &places, most));
	for (int64_t i = 0; (level = level_at(r, i)); i++)
		for (int64_t t = 0; t < level->ntasks; t++) {
			kdri_task_result *task = &level->tasks[t];
			bool room = task->names != NULL;
			for (int64_t n = 0; n < list->count; n++) {
				const int64_t c = kdri_cluster_at(task, list->numbers[n]);
				if (c < 0)
					continue;
				place *p = &places[count++];
				p->task = task;
				p->cluster = c;
				KDRI_TRY(kdri_strdup(ctx, list->names[n], &p->name));
				if (!room)
					KDRI_TRY(KDRI_NEW0(ctx, &p->names, task->k));
				room = true;
			}
		}
	for (int64_t i = 0; i < count; i++) {
		place *p = &places[i];
		if (p->names)
			p->task->names = p->names;
		char *before = p->task->names[p->cluster];
		p->task->names[p->cluster] = p->name;
		p->name = before;
		p->names = NULL;
	}
done:
	for (int64_t i = 0; i < count; i++)
		KDRI_FREE(ctx, places[i].name, places[i].names);
	kdri_free(ctx, places);
	return st;
}

static kdr_status check_clusters(kdr_context *ctx, const kdr_result *r)
{
	return r->classes ? kdri_fail(ctx, KDR_ERR_ARGUMENT,
	                              "the labels are classes, which have names: only clusters get names")
	                  : KDR_OK;
}

kdr_status kdr_result_rename(kdr_context *ctx, kdr_result *r, const int64_t *numbers,
                             const char *const *names, int64_t count)
{
	char all[512];
	KDRI_NEED(ctx, r && count >= 0 && (count == 0 || (numbers && names)));
	KDRI_DO(check_clusters(ctx, r));
	KDRI_DO(check_list(ctx, "", numbers, names, count));
	for (int64_t i = 0; i < count; i++)
		if (!has_number(r, numbers[i])) {
			list_numbers(r, all, sizeof all);
			return kdri_fail(ctx, KDR_ERR_DATA, "there is no cluster %lld: the clusters are %s",
			                 (long long)numbers[i], all);
		}
	/* The list is only read. */
	const kdri_name_list list = { .count = count,
		                      .numbers = (int64_t *)numbers,
		                      .names = (char **)names };
	KDRI_DO(check_taken(ctx, r, &list));
	return apply_names(ctx, r, &list);
}

kdr_status kdr_result_read_names(kdr_context *ctx, kdr_result *r, const char *path)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_name_list list = { 0 };
	char all[512], unknown[256] = "";
	size_t used = 0;
	KDRI_NEED(ctx, path);
	KDRI_DO(kdri_input_open(ctx, path, &in));
	st = kdri_name_list_read(ctx, in, &list);
	kdri_input_close(ctx, in);
	if (st == KDR_OK && r)
		st = check_clusters(ctx, r);
	if (st == KDR_OK && r)
		st = check_taken(ctx, r, &list);
	if (st == KDR_OK && r)
		st = apply_names(ctx, r, &list);
	for (int64_t i = 0; r && i < list.count; i++)
		if (!has_number(r, list.numbers[i]) && used + 32 < sizeof unknown)
			used += (size_t)kdri_snprintf(unknown + used, sizeof unknown - used, "%s%lld",
			                              used ? ", " : "", (long long)list.numbers[i]);
	if (st == KDR_OK && used > 0) { /* a long fit is not lost */
		list_numbers(r, all, sizeof all);
		st = kdri_result_warn(ctx, r, "%s: there is no cluster %s: the clusters are %s", path,
		                      unknown, all);
	}
	kdri_name_list_free(ctx, &list);
	return st;
}

const char *kdr_result_name(const kdr_result *r, int64_t number)
{
	const char *name = NULL;
	for (int64_t t = 0; r && !r->classes && t < r->ntasks && !name; t++)
		if (kdri_cluster_at(&r->tasks[t], number) >= 0)
			name = kdri_cluster_name(r, &r->tasks[t], number);
	return name;
}

kdr_status kdri_job_take_names(kdr_context *ctx, const kdr_result *from, kdr_result *to)
{
	kdr_status st = KDR_OK;
	kdri_name_list list = { 0 };
	int64_t span = 0;
	for (int64_t t = 0; t < from->ntasks; t++)
		span = KDRI_MAX(span, kdri_cluster_span(&from->tasks[t]));
	KDRI_TRY(KDRI_NEW0(ctx, &list.numbers, span));
	KDRI_TRY(KDRI_NEW0(ctx, &list.names, span));
	for (int64_t n = 0; n < span; n++)
		for (int64_t t = 0; t < from->ntasks; t++) {
			const kdri_task_result *task = &from->tasks[t];
			const int64_t c = kdri_cluster_at(task, n);
			if (c < 0 || !task->names || !task->names[c])
				continue;
			list.numbers[list.count] = n;
			list.names[list.count++] = task->names[c]; /* borrowed */
			break;
		}
	KDRI_TRY(apply_names(ctx, to, &list));
done:
	KDRI_FREE(ctx, list.numbers, list.names);
	return st;
}
