/* Data sets named on the command line: read, with their labels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "core/words.h"

#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

kdr_task_path cli_task_at(const char *argument)
{
	enum { LONGEST = 255 };
	const kdr_task_path file = { .path = argument };
	const size_t length = strcspn(argument, "=");
	/* A file whose own name holds '=' is still a file. */
	if (!argument[length] || length == 0 || length > LONGEST || kdri_exists(argument))
		return file;
	for (size_t i = 0; i < length; i++)
		if (kdri_is_separator(argument[i]))
			return file;
	return (kdr_task_path){ argument + length + 1, cli_format("%.*s", (int)length, argument), false };
}

void cli_reading(const cli_args *args, kdr_read_options *out)
{
	enum { TOKENS = 64, RENAMES = 1024 };
	static const char *na[TOKENS + 1], *rename[RENAMES + 1],
	        *recode[RENAMES + 1]; /* one command line, one list */
	for (int i = 0; i < TOKENS; i++)
		na[i] = cli_get_nth(args, "na", i);
	for (int i = 0; i < RENAMES; i++) {
		rename[i] = cli_get_nth(args, "rename", i);
		recode[i] = cli_get_nth(args, "recode", i);
	}
	*out = (kdr_read_options){
		.size = sizeof *out,
		.format = cli_get(args, "format", NULL),
		.label_column = cli_get(args, "label-column", cli_get(args, "known-column", NULL)),
		.may_lack_labels = cli_get(args, "known-column", NULL) != NULL,
		.id_column = cli_get(args, "id-column", NULL),
		.feature_names = cli_get(args, "feature-names", NULL),
		.header = (kdr_header)cli_switch(args, "header"),
		.missing = cli_get(args, "missing", NULL),
		.decimal = cli_get(args, "decimal", NULL),
		.thousands = cli_get(args, "thousands", NULL),
		.skip_rows = cli_get(args, "skip-rows", NULL),
		.sheet = cli_get(args, "sheet", NULL),
		.transpose = cli_flag(args, "transpose"),
		.task_column = cli_get(args, "task-column", cli_get(args, "batch-key", NULL)),
		.columns = cli_get(args, "columns", NULL),
		.na = na,
		.rename = rename,
		.recode = recode,
		.delimiter = cli_get(args, "delimiter", NULL),
		.encoding = cli_get(args, "encoding", NULL),
		.text_column = cli_get(args, "text-column", NULL),
		.stream = (kdr_stream)cli_switch(args, "stream"),
	};
	if (cli_get(args, "explain", NULL)) { /* either may have the classes; reading_views has the rest */
		out->text_column = out->feature_names = NULL;
		out->may_lack_labels = out->may_lack_columns = true;
	}
}

/* How views are read. These options are for them only, and the format and --transpose for the data. Texts have no other columns. */
static void reading_views(const cli_args *args, kdr_read_options *out)
{
	cli_reading(args, out);
	out->text_column = cli_get(args, "text-column", NULL);
	out->feature_names = cli_get(args, "feature-names", NULL);
	out->format = NULL;
	out->transpose = false;
	out->together_only = true;
	if (out->text_column || !out->missing)
		out->missing = "keep";
	if (out->text_column) {
		static const char *const none[] = { NULL };
		out->columns = out->decimal = out->thousands = out->encoding = NULL;
		out->na = out->rename = out->recode = none;
	}
}

const char *cli_text_settings(const cli_args *args)
{
	const char *out = "", *value;
	for (const cli_option *o = cli_text_options; o->name; o++)
		if ((value = cli_get(args, o->name, NULL)))
			out = cli_format("%s%s=%s\n", out, o->name, value);
	return out;
}

void cli_names_check(kdr_data *const *data, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const char *name = kdr_data_name(data[i]);
		if (!name[0] || strpbrk(name, kdri_not_in_names) || strcmp(name, ".") == 0 ||
		    strcmp(name, "..") == 0)
			cli_usage_error(
			        "'%s' is not valid as the name of a data set; give another name with NAME=FILE",
			        name);
		for (int64_t j = 0; j < i; j++)
			if (strcmp(name, kdr_data_name(data[j])) == 0)
				cli_usage_error(
				        "two data sets are named '%s'; give them different names with NAME=FILE",
				        name);
	}
}

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool same_but_case(const char *a, const char *b)
{
	for (; *a && lower(*a) == lower(*b); a++)
		b++;
	return *a == *b;
}

/* Names that Windows has for devices, with or without an ending. */
static bool is_device(const char *name)
{
	static const char *const devices[] = { "con", "prn", "aux", "nul", "com?", "lpt?" };
	const size_t n = strcspn(name, ".");
	for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
		size_t i = 0;
		while (i < n && (lower(name[i]) == devices[d][i] ||
		                 (devices[d][i] == '?' && name[i] >= '0' && name[i] <= '9')))
			i++;
		if (i == n && n == strlen(devices[d]))
			return true;
	}
	return false;
}

void cli_names_check_files(kdr_data *const *data, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const char *name = kdr_data_name(data[i]);
		if (is_device(name))
			cli_usage_error(
			        "'%s' is the name of a device on Windows, so its files could not be opened there; give another name with NAME=FILE",
			        name);
		for (int64_t j = 0; j < i; j++)
			if (same_but_case(name, kdr_data_name(data[j])))
				cli_usage_error(
				        "the names of data sets '%s' and '%s' differ in case only, so on some systems their files would be the same; give them different names with NAME=FILE, or --recode for the values of a column",
				        kdr_data_name(data[j]), name);
	}
}

/* How missing values are handled by default: kept for methods that skip them, filled with the means of their file for the default
 * method of transfer, whose members need numbers. NULL: they are an error. */
static const char *default_missing(kdr_context *ctx, const cli_args *args)
{
	const char *command = cli_args_command(args)->name;
	const bool clusters = strcmp(command, "cluster") == 0;
	if (strcmp(command, "relate") == 0 || strcmp(command, "embed") == 0)
		return "keep"; /* as the default method of cluster */
	if (!clusters && strcmp(command, "transfer") != 0)
		return NULL;
	const kdr_family family = clusters ? KDR_FAMILY_CLUSTER : KDR_FAMILY_TRANSFER;
	const kdr_algo *algo = NULL, *usual = NULL;
	if (kdr_algo_require(ctx, cli_get(args, "method", NULL), family, &algo) != KDR_OK ||
	    kdr_algo_require(ctx, NULL, family, &usual) != KDR_OK)
		return NULL;
	return algo->flags & KDR_ALGO_TABLES ? "keep" : algo == usual ? "mean" : NULL;
}

/* Where data stay on disk for want of memory, arrays that are freed go back to the machine at once: glibc would keep those of
 * up to 32 MB for later, and pages of the data have to make room for nothing. */
static void give_memory_back(const cli_tasks *tasks)
{
#ifdef __GLIBC__
	bool streamed = false;
	for (int64_t i = 0; tasks->data && i < tasks->count; i++)
		streamed = streamed || kdr_data_streamed(tasks->data[i]);
	if (streamed) {
		(void)mallopt(M_MMAP_THRESHOLD, 1 << 18);
		(void)malloc_trim(0);
	}
#else
	(void)tasks;
#endif
}

kdr_task_path *cli_positional_tasks(const cli_args *args)
{
	const int count = cli_positional_count(args);
	kdr_task_path *list = cli_new((size_t)count, sizeof *list);
	for (int i = 0; i < count; i++)
		list[i] = cli_task_at(cli_positional(args, i));
	kdri_name_paths(list, count);
	return list;
}

/* Whether data sets are compared with runs alone, for which texts are read alone, too: by the default method of cluster. If data sets learn
 * from each other, this is not worth more memory than is allowed, or several readings of a file of vectors. */
static bool clusters_alone(const cli_run *run)
{
	const cli_args *args = run->args;
	const kdr_algo *usual = NULL;
	bool limited = (cli_get(args, "max-memory", NULL) || cli_get(args, "vectors", NULL)) &&
	               cli_switch(args, "transfer") != 2;
	for (int i = 0; cli_get_nth(args, "set", i); i++)
		limited = limited && strncmp(cli_get_nth(args, "set", i), "transfer=", 9) != 0;
	return !limited && cli_args_command(args) == &cli_cluster && cli_ranks() == 1 &&
	       kdr_algo_require(run->ctx, NULL, KDR_FAMILY_CLUSTER, &usual) == KDR_OK &&
	       cli_job_algo(run->job) == usual;
}

void cli_tasks_read(cli_run *run, kdr_task_path *list, int count)
{
	const cli_args *args = run->args;
	cli_tasks *out = &run->tasks;
	kdr_read_options reading;
	cli_reading(args, &reading);
	kdr_model_reading(out->model, &reading);
	if (!reading.missing)
		reading.missing = default_missing(run->ctx, args);
	reading.together_only = !clusters_alone(run);
	cli_ranks_paths(list, count, &reading);
	if (!reading.terms)
		reading.texts = cli_get(args, "explain", NULL) ? NULL : cli_text_settings(args);
	kdr_data **data = NULL;
	int64_t *from = NULL;
	cli_check_reading(kdr_read_tasks(run->ctx, list, count, &reading, &data, &from, &out->count));
	/* The library's lists go by its allocator, these by ours. */
	const size_t sets = (size_t)out->count;
	out->files = count;
	out->data = memcpy(cli_new(sets, sizeof(kdr_data *)), data, sets * sizeof(kdr_data *));
	out->from = memcpy(cli_new(sets, sizeof *from), from, sets * sizeof *from);
	kdr_free(run->ctx, data);
	kdr_free(run->ctx, from);
	give_memory_back(out);
	cli_names_check(out->data, out->count);
	cli_pass(cli_ranks_agree(EXIT_DONE));
	cli_ranks_place(run);
}

void cli_tasks_into(cli_run *run)
{
	const char *path = cli_get(run->args, "into", NULL);
	if (path)
		cli_check_reading(kdr_model_load(run->ctx, path, &run->tasks.model));
}

void cli_tasks_read_positional(cli_run *run)
{
	const int count = cli_positional_count(run->args);
	if (count == 0)
		cli_usage_error("%s needs at least one data file", cli_args_command(run->args)->name);
	cli_tasks_read(run, cli_positional_tasks(run->args), count);
}

/* --- labels -------------------------------------------------------------------------------------- */

/* FILE,FILE: one for each of `count` tasks, or for each of the `files` they came from. */
static cli_list split_files(const char *option, const char *text, int64_t count, int64_t files)
{
	const cli_list out = cli_list_split(text);
	if (out.count != count && out.count != files)
		cli_usage_error("--%s has %s for %s; give one file for each", option,
		                cli_count(out.count, "file"), cli_count(count, "data set"));
	return out;
}

/* --score: reads <stem>.labels next to the data, or uses the classes in the data. */
static void read_beside(kdr_context *ctx, kdr_data *data)
{
	char *path = NULL;
	bool own = false;
	cli_check(kdr_labels_beside(ctx, kdr_data_path(data), &path));
	cli_check(kdr_result_lists(ctx, path, &own));
	if (own)
		cli_stop(
		        EXIT_DATA,
		        "--score: %s was written by kindred, as the result.json next to it lists it, so it has no known classes; give them with --truth",
		        path);
	if (kdri_exists(path))
		cli_check_reading(kdr_data_read_labels(ctx, data, path));
	else if (!kdr_data_labels(data))
		cli_warn("--score: %s was not found, so data set %s is not scored", path,
		         kdr_data_name(data));
	kdr_free(ctx, path);
}

void cli_tasks_truth(cli_run *run)
{
	const char *truth = cli_get(run->args, "truth", NULL);
	const bool score = cli_flag(run->args, "score");
	cli_tasks *tasks = &run->tasks;
	const int64_t first = run->first, count = tasks->count - first,
	              before = count > 0 ? tasks->from[first] : 0;
	cli_list list = { 0 };
	tasks->scored = truth || score || cli_get(run->args, "label-column", NULL);
	if (truth)
		list = split_files("truth", truth, count, tasks->files - before);
	for (int64_t i = first; i < tasks->count; i++)
		if (truth)
			cli_check_reading(kdr_data_read_labels(
			        run->ctx, tasks->data[i],
			        list.items[list.count == count ? i - first : tasks->from[i] - before]));
		else if (score)
			read_beside(run->ctx, tasks->data[i]);
}

/* The numbers of one file of --init. */
static void read_init(kdr_context *ctx, const char *path, const kdr_data *data, kdr_labels **out)
{
	kdr_mat x = kdr_data_mat(data);
	cli_check_reading(kdr_read_labels(ctx, path, out));
	int64_t file_rows;
	const int64_t *origin = kdr_data_origin(data, &file_rows);
	if (origin && (*out)->integers && (*out)->n == file_rows) { /* those of the rows that are here */
		for (int64_t i = 0; i < kdr_mat_rows(&x); i++)
			(*out)->integer[i] =
			        (*out)->integer[origin[i]]; /* increasing: what is read was not written */
		(*out)->n = kdr_mat_rows(&x);
	}
	if ((*out)->n != kdr_mat_rows(&x))
		cli_stop(EXIT_DATA, "%s: %s, but data set %s has %s; give one label per sample", path,
		         cli_count((*out)->n, "initial label"), kdr_data_name(data),
		         cli_count(kdr_mat_rows(&x), "sample"));
	if (!(*out)->integers)
		cli_stop(EXIT_DATA,
		         "%s: the initial labels of data set %s must be whole numbers, starting at 0", path,
		         kdr_data_name(data));
}

/* --- --explain ------------------------------------------------------------------------------------ */

/* A view in the AnnData file of a data set, such as "X": FILE:X. NULL: it is a file of its own. */
static char *view_inside(const char *view, const char *path)
{
	static const char ending[] = ".h5ad";
	const char *end = strstr(path, ending);
	if (!end || kdri_exists(view))
		return NULL;
	return cli_format("%.*s%s:%s", (int)(end - path), path, ending, view);
}

/* Reads the views, one for each file of the data sets from `first` on, and gives them to these. */
static void read_views(const cli_run *run, const cli_list *list, int64_t first, int files)
{
	const cli_tasks *tasks = &run->tasks;
	kdr_read_options reading;
	kdr_data **views = NULL;
	int64_t count = 0;
	kdr_task_path *paths = cli_new((size_t)files, sizeof *paths);
	reading_views(run->args, &reading);
	reading.texts = cli_text_settings(run->args);
	for (int64_t t = first, i = 0; t < tasks->count; t++) {
		if (t > first && tasks->from[t] == tasks->from[t - 1])
			continue;
		const char *given = list->items[list->count == 1 ? 0 : i];
		const char *inside = view_inside(given, kdr_data_path(tasks->data[t]));
		paths[i++].path = inside ? inside : given;
	}
	cli_check_reading(kdr_read_tasks(run->ctx, paths, files, &reading, &views, NULL, &count));
	if (count != tasks->count - first)
		cli_usage_error(
		        "--explain has %lld data sets for %lld; its files need the same values in the column of data sets",
		        (long long)count, (long long)(tasks->count - first));
	for (int64_t i = 0; i < count; i++)
		cli_check_reading(kdr_data_explain(run->ctx, &tasks->data[first + i], views[i]));
	kdr_free(run->ctx, views);
}

void cli_tasks_explain(cli_run *run)
{
	const char *text = cli_get(run->args, "explain", NULL);
	const bool both = cli_flag(run->args, "both-views");
	const int64_t first = both ? 0 : run->first;
	const cli_tasks *tasks = &run->tasks;
	int files = 0;
	if (!text)
		return;
	if (cli_ranks() > 1)
		cli_usage_error("--explain is not available under mpirun; use a single process");
	for (int64_t t = first; t < tasks->count; t++)
		files += t == first || tasks->from[t] != tasks->from[t - 1];
	const cli_list list = cli_list_split(text);
	const char *inside = list.count == 1 ? strstr(kdr_data_path(tasks->data[first]), ".h5ad") : NULL;
	if (list.count != files && (!inside || kdri_exists(list.items[0])))
		cli_usage_error(
		        "--explain has %s for %s; give one for each, separated by commas, or the name of a layer, X or obsm/NAME for AnnData files",
		        cli_count(list.count, "file"), cli_count(files, "data file"));
	read_views(run, &list, first, files);
	if (both)
		cli_check(kdr_data_combine(run->ctx, tasks->data, tasks->count));
}

void cli_tasks_init(cli_run *run)
{
	const char *text = cli_get(run->args, "init", NULL);
	cli_tasks *tasks = &run->tasks;
	if (!text)
		return;
	const cli_list list = split_files("init", text, tasks->count, tasks->count);
	tasks->init = cli_new((size_t)tasks->count, sizeof *tasks->init);
	tasks->start = cli_new((size_t)tasks->count, sizeof *tasks->start);
	for (int64_t i = 0; i < tasks->count; i++) {
		read_init(run->ctx, list.items[i], tasks->data[i], &tasks->init[i]);
		tasks->start[i] = tasks->init[i]->integer;
	}
}

void cli_tasks_known(cli_run *run)
{
	const char *text = cli_get(run->args, "known", NULL);
	cli_tasks *tasks = &run->tasks;
	if (!text)
		return;
	/* One file may have the ids of all data sets. */
	const cli_list list = split_files("known", text, tasks->count, strchr(text, ',') ? tasks->files : 1);
	int files = 0;
	for (int i = 0; i < list.count; i++)
		files += strcmp(list.items[i], "?") != 0;
	if (files == 0)
		cli_usage_error("--known has no effect: it names no file, only '?'; remove it");
	tasks->known = cli_new((size_t)tasks->count, sizeof *tasks->known);
	for (int64_t i = 0; i < tasks->count; i++)
		tasks->known[i] = list.items[list.count == tasks->count ? i
		                             : list.count == 1          ? 0
		                                                        : tasks->from[i]];
}

void cli_tasks_free(cli_tasks *tasks)
{
	kdr_model_free(tasks->model);
	for (int64_t i = 0; i < tasks->count; i++) {
		kdr_data_free(tasks->data[i]);
		kdr_labels_free(tasks->init ? tasks->init[i] : NULL);
	}
}
