/* Data sets named on the command line: read, with their labels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void cli_task_split(const char *argument, char *name, size_t room, const char **path)
{
	const char *equals = strchr(argument, '=');
	name[0] = '\0';
	*path = argument;
	/* A file whose own name holds '=' is still a file. */
	if (!equals || equals == argument || (size_t)(equals - argument) >= room || kdri_exists(argument))
		return;
	for (const char *p = argument; p < equals; p++)
		if (kdri_is_separator(*p))
			return;
	memcpy(name, argument, (size_t)(equals - argument));
	name[equals - argument] = '\0';
	*path = equals + 1;
}

void cli_reading(const cli_args *args, kdr_read_options *out)
{
	enum { TOKENS = 64, RENAMES = 1024 };
	static const char *na[TOKENS + 1], *rename[RENAMES + 1],
	        *recode[RENAMES + 1]; /* one command line, one list */
	const char *header = cli_get(args, "header", NULL), *stream = cli_get(args, "stream", NULL);
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
		.header = !header                    ? KDR_HEADER_FIND_OUT
		          : strcmp(header, "1") == 0 ? KDR_HEADER_YES
		                                     : KDR_HEADER_NO,
		.missing = cli_get(args, "missing", NULL),
		.decimal = cli_get(args, "decimal", NULL),
		.transpose = cli_flag(args, "transpose"),
		.task_column = cli_get(args, "task-column", cli_get(args, "batch-key", NULL)),
		.columns = cli_get(args, "columns", NULL),
		.na = na,
		.rename = rename,
		.recode = recode,
		.delimiter = cli_get(args, "delimiter", NULL),
		.encoding = cli_get(args, "encoding", NULL),
		.text_column = cli_get(args, "text-column", NULL),
		.stream = !stream                    ? KDR_STREAM_BY_SIZE
		          : strcmp(stream, "1") == 0 ? KDR_STREAM_YES
		                                     : KDR_STREAM_NO,
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
		out->columns = out->decimal = out->encoding = NULL;
		out->na = out->rename = out->recode = none;
	}
}

char *cli_text_settings(const cli_args *args)
{
	size_t room = 1, used = 0;
	for (const cli_option *o = cli_text_options; o->name; o++)
		room += strlen(o->name) + strlen(cli_get(args, o->name, "")) + 2;
	char *out = malloc(room);
	if (!out) {
		cli_error("out of memory");
		return NULL;
	}
	out[0] = '\0';
	for (const cli_option *o = cli_text_options; o->name; o++) {
		const char *value = cli_get(args, o->name, NULL);
		if (value)
			used += (size_t)snprintf(out + used, room - used, "%s=%s\n", o->name, value);
	}
	return out;
}

int cli_names_check(kdr_data *const *data, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const char *name = kdr_data_name(data[i]);
		if (!name[0] || strpbrk(name, kdri_not_in_names) || strcmp(name, ".") == 0 ||
		    strcmp(name, "..") == 0)
			return cli_usage_error(
			        "'%s' is not valid as the name of a data set; give another name with NAME=FILE",
			        name);
		for (int64_t j = 0; j < i; j++)
			if (strcmp(name, kdr_data_name(data[j])) == 0)
				return cli_usage_error(
				        "two data sets are named '%s'; give them different names with NAME=FILE",
				        name);
	}
	return EXIT_DONE;
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

/* Whether data sets are compared with runs alone, for which texts are read alone, too: by the default method of cluster. If data sets learn
 * from each other, this is not worth more memory than is allowed, or several readings of a file of vectors. */
static bool clusters_alone(kdr_context *ctx, const cli_args *args)
{
	bool limited = (cli_get(args, "max-memory", NULL) || cli_get(args, "vectors", NULL)) &&
	               strcmp(cli_get(args, "transfer", "1"), "0") != 0;
	const kdr_algo *algo = NULL, *usual = NULL;
	for (int i = 0; cli_get_nth(args, "set", i); i++)
		limited = limited && strncmp(cli_get_nth(args, "set", i), "transfer=", 9) != 0;
	return !limited && strcmp(cli_args_command(args)->name, "cluster") == 0 && cli_ranks() == 1 &&
	       kdr_algo_require(ctx, cli_get(args, "method", NULL), KDR_FAMILY_CLUSTER, &algo) == KDR_OK &&
	       kdr_algo_require(ctx, NULL, KDR_FAMILY_CLUSTER, &usual) == KDR_OK && algo == usual;
}

static int tasks_read_tasks(kdr_context *ctx, const cli_args *args, cli_task_arg *list, int count,
                            cli_tasks *out)
{
	kdr_read_options reading;
	*out = (cli_tasks){ .files = count, .model = out->model };
	cli_reading(args, &reading);
	kdr_model_reading(out->model, &reading);
	if (!reading.missing)
		reading.missing = default_missing(ctx, args);
	reading.together_only = !clusters_alone(ctx, args);
	CLI_DO(cli_ranks_paths(list, count, &reading));
	char *texts = cli_text_settings(args);
	if (!texts)
		return EXIT_USAGE;
	reading.texts = reading.terms ? reading.texts : texts;
	if (cli_get(args, "explain", NULL) && !reading.terms)
		reading.texts = NULL;
	kdr_task_path *paths = calloc((size_t)count, sizeof *paths);
	if (!paths) {
		free(texts);
		return cli_no_memory();
	}
	for (int i = 0; i < count; i++) {
		bool standard = strcmp(list[i].path, "-") == 0;
		paths[i] = (kdr_task_path){ .path = list[i].path,
			                    .name = list[i].name[0] ? list[i].name
			                            : standard      ? "stdin"
			                                            : NULL,
			                    .may_lack_labels = list[i].may_lack_labels };
	}
	kdr_data **data = NULL;
	int64_t *from = NULL, sets = 0;
	kdr_status st = kdr_read_tasks(ctx, paths, count, &reading, &data, &from, &sets);
	free(paths);
	free(texts);
	if (st != KDR_OK)
		return cli_code_reading(ctx, st);
	/* The library's lists go by its allocator, these by ours. */
	out->data = calloc((size_t)sets, sizeof(kdr_data *));
	out->from = calloc((size_t)sets, sizeof *out->from);
	for (int64_t i = 0; i < sets; i++)
		if (out->data && out->from) {
			out->data[out->count] = data[i];
			out->from[out->count++] = from[i];
		} else {
			kdr_data_free(data[i]);
		}
	kdr_free(ctx, data);
	kdr_free(ctx, from);
	if (out->count == 0)
		return cli_no_memory();
	give_memory_back(out);
	return out->data ? cli_names_check(out->data, out->count) : EXIT_DONE;
}

int cli_tasks_read(kdr_context *ctx, const cli_args *args, cli_task_arg *list, int count, cli_tasks *out)
{
	CLI_DO(cli_ranks_agree(tasks_read_tasks(ctx, args, list, count, out)));
	return cli_ranks_place(ctx, out->data, out->count);
}

int cli_tasks_into(kdr_context *ctx, const cli_args *args, cli_tasks *tasks)
{
	const char *path = cli_get(args, "into", NULL);
	return cli_code_reading(ctx, path ? kdr_model_load(ctx, path, &tasks->model) : KDR_OK);
}

int cli_tasks_read_positional(kdr_context *ctx, const cli_args *args, cli_tasks *out)
{
	int count = cli_positional_count(args);
	*out = (cli_tasks){ .model = out->model };
	if (count == 0)
		return cli_usage_error("%s needs at least one data file", cli_args_command(args)->name);
	cli_task_arg *list = calloc((size_t)count, sizeof *list);
	if (!list)
		return cli_no_memory();
	for (int i = 0; i < count; i++)
		cli_task_split(cli_positional(args, i), list[i].name, sizeof list[i].name, &list[i].path);
	int code = cli_tasks_read(ctx, args, list, count, out);
	free(list);
	return code;
}

/* --- labels -------------------------------------------------------------------------------------- */

int cli_labels_read(kdr_context *ctx, const char *path, kdr_data *data)
{
	return cli_code_reading(ctx, kdr_data_read_labels(ctx, data, path));
}

/* FILE,FILE: one for each of `count` tasks, or for each of the `files` they came from. Exit status. */
static int split_files(const char *option, const char *text, int64_t count, int64_t files, cli_list *out)
{
	if (!cli_list_split(text, out))
		return EXIT_OTHER;
	if (out->count == count || out->count == files)
		return EXIT_DONE;
	cli_error("--%s has %d file%s for %lld data set%s; give one file for each", option, out->count,
	          CLI_S(out->count), (long long)count, CLI_S(count));
	cli_list_free(out);
	return EXIT_USAGE;
}

/* --score: reads <stem>.labels next to the data, or uses the classes in the data. */
static int read_beside(kdr_context *ctx, kdr_data *data)
{
	char *path = NULL;
	int code = EXIT_DONE;
	bool own = false;
	kdr_status st = kdr_labels_beside(ctx, kdr_data_path(data), &path);
	if (st == KDR_OK)
		st = kdr_result_lists(ctx, path, &own);
	if (st != KDR_OK)
		code = cli_fail(ctx, st);
	else if (own)
		code = cli_fail_with(
		        EXIT_DATA,
		        "--score: %s was written by kindred, as the result.json next to it lists it, so it has no known classes; give them with --truth",
		        path);
	else if (kdri_exists(path))
		code = cli_labels_read(ctx, path, data);
	else if (!kdr_data_labels(data))
		cli_warn("--score: %s was not found, so data set %s is not scored", path,
		         kdr_data_name(data));
	kdr_free(ctx, path);
	return code;
}

int cli_tasks_truth(kdr_context *ctx, const cli_args *args, int64_t first, cli_tasks *tasks)
{
	const char *truth = cli_get(args, "truth", NULL);
	bool score = cli_flag(args, "score");
	cli_list list = { 0 };
	int code = EXIT_DONE;
	tasks->scored = truth || score || cli_get(args, "label-column", NULL);
	int64_t count = tasks->count - first, before = first < tasks->count ? tasks->from[first] : 0;
	if (truth)
		CLI_DO(split_files("truth", truth, count, tasks->files - before, &list));
	for (int64_t i = first; i < tasks->count && code == EXIT_DONE; i++)
		if (truth)
			code = cli_labels_read(
			        ctx, list.items[list.count == count ? i - first : tasks->from[i] - before],
			        tasks->data[i]);
		else if (score)
			code = read_beside(ctx, tasks->data[i]);
	cli_list_free(&list);
	return code;
}

/* The numbers of one file of --init. */
static int read_init(kdr_context *ctx, const char *path, const kdr_data *data, kdr_labels **out)
{
	kdr_mat x = kdr_data_mat(data);
	CLI_DO(cli_code_reading(ctx, kdr_read_labels(ctx, path, out)));
	int64_t file_rows;
	const int64_t *origin = kdr_data_origin(data, &file_rows);
	if (origin && (*out)->integers && (*out)->n == file_rows) { /* those of the rows that are here */
		for (int64_t i = 0; i < kdr_mat_rows(&x); i++)
			(*out)->integer[i] =
			        (*out)->integer[origin[i]]; /* increasing: what is read was not written */
		(*out)->n = kdr_mat_rows(&x);
	}
	if ((*out)->n != kdr_mat_rows(&x))
		return cli_fail_with(
		        EXIT_DATA,
		        "%s: %lld initial label%s, but data set %s has %lld sample%s; give one label per sample",
		        path, (long long)(*out)->n, CLI_S((*out)->n), kdr_data_name(data),
		        (long long)kdr_mat_rows(&x), CLI_S(kdr_mat_rows(&x)));
	if (!(*out)->integers)
		return cli_fail_with(
		        EXIT_DATA,
		        "%s: the initial labels of data set %s must be whole numbers, starting at 0", path,
		        kdr_data_name(data));
	return EXIT_DONE;
}

/* --- --explain ------------------------------------------------------------------------------------ */

/* A view in the AnnData file of a data set, such as "X": FILE:X, to be freed. NULL: it is a file of its own. */
static char *view_inside(const char *view, const char *path)
{
	static const char ending[] = ".h5ad";
	const char *end = strstr(path, ending);
	if (!end || kdri_exists(view))
		return NULL;
	const size_t file = (size_t)(end - path) + strlen(ending), room = file + strlen(view) + 2;
	char *out = malloc(room);
	if (out)
		snprintf(out, room, "%.*s:%s", (int)file, path, view);
	return out;
}

/* Reads the views, one for each file of the data sets from `first` on, and gives them to these. */
static int read_views(kdr_context *ctx, const cli_args *args, const cli_list *list, int64_t first, int files,
                      cli_tasks *tasks)
{
	kdr_read_options reading;
	kdr_data **views = NULL;
	int64_t count = 0;
	int code = EXIT_DONE;
	char *texts = cli_text_settings(args);
	kdr_task_path *paths = calloc((size_t)files + 1, sizeof *paths);
	char **inside = calloc((size_t)files + 1, sizeof *inside);
	reading_views(args, &reading);
	reading.texts = texts;
	if (!texts || !paths || !inside)
		code = cli_no_memory();
	for (int64_t t = first, i = 0; t < tasks->count && code == EXIT_DONE; t++) {
		if (t > first && tasks->from[t] == tasks->from[t - 1])
			continue;
		const char *given = list->items[list->count == 1 ? 0 : i];
		inside[i] = view_inside(given, kdr_data_path(tasks->data[t]));
		paths[i].path = inside[i] ? inside[i] : given;
		i++;
	}
	if (code == EXIT_DONE)
		code = cli_code_reading(ctx,
		                        kdr_read_tasks(ctx, paths, files, &reading, &views, NULL, &count));
	if (code == EXIT_DONE && count != tasks->count - first)
		code = cli_usage_error(
		        "--explain has %lld data sets for %lld; its files need the same values in the column of data sets",
		        (long long)count, (long long)(tasks->count - first));
	for (int64_t i = 0; i < count && code == EXIT_DONE; i++) {
		code = cli_code_reading(ctx, kdr_data_explain(ctx, &tasks->data[first + i], views[i]));
		if (code == EXIT_DONE)
			views[i] = NULL;
	}
	for (int64_t i = 0; i < count; i++)
		kdr_data_free(views[i]);
	kdr_free(ctx, views);
	for (int i = 0; inside && i < files; i++)
		free(inside[i]);
	free(inside);
	free(paths);
	free(texts);
	return code;
}

int cli_tasks_explain(kdr_context *ctx, const cli_args *args, int64_t first, cli_tasks *tasks)
{
	const char *text = cli_get(args, "explain", NULL);
	const bool both = cli_flag(args, "both-views");
	int files = 0;
	cli_list list;
	if (!text)
		return EXIT_DONE;
	if (both)
		first = 0;
	if (cli_ranks() > 1)
		return cli_usage_error("--explain is not available under mpirun; use a single process");
	for (int64_t t = first; t < tasks->count; t++)
		files += t == first || tasks->from[t] != tasks->from[t - 1];
	if (!cli_list_split(text, &list))
		return EXIT_OTHER;
	const char *inside = list.count == 1 ? strstr(kdr_data_path(tasks->data[first]), ".h5ad") : NULL;
	int code = list.count == files || (inside && !kdri_exists(list.items[0]))
	                   ? read_views(ctx, args, &list, first, files, tasks)
	                   : cli_usage_error("--explain has %d file%s for %d; give one for each", list.count,
	                                     CLI_S(list.count), files);
	cli_list_free(&list);
	return code == EXIT_DONE && both ? cli_code(ctx, kdr_data_combine(ctx, tasks->data, tasks->count))
	                                 : code;
}

int cli_tasks_init(kdr_context *ctx, const cli_args *args, cli_tasks *tasks)
{
	const char *text = cli_get(args, "init", NULL);
	int code = EXIT_DONE;
	cli_list list;
	if (!text)
		return EXIT_DONE;
	CLI_DO(split_files("init", text, tasks->count, tasks->count, &list));
	tasks->init = calloc((size_t)tasks->count, sizeof *tasks->init);
	tasks->start = calloc((size_t)tasks->count, sizeof *tasks->start);
	if (!tasks->init || !tasks->start)
		code = cli_no_memory();
	for (int64_t i = 0; i < tasks->count && code == EXIT_DONE; i++) {
		code = read_init(ctx, list.items[i], tasks->data[i], &tasks->init[i]);
		if (code == EXIT_DONE)
			tasks->start[i] = tasks->init[i]->integer;
	}
	cli_list_free(&list);
	return code;
}

int cli_tasks_known(const cli_args *args, cli_tasks *tasks)
{
	const char *text = cli_get(args, "known", NULL);
	if (!text)
		return EXIT_DONE;
	/* One file may have the ids of all data sets. */
	CLI_DO(split_files("known", text, tasks->count, strchr(text, ',') ? tasks->files : 1,
	                   &tasks->known_files));
	const int given = tasks->known_files.count;
	int files = 0;
	for (int i = 0; i < given; i++)
		files += strcmp(tasks->known_files.items[i], "?") != 0;
	if (files == 0)
		return cli_usage_error("--known has no effect: it names no file, only '?'; remove it");
	tasks->known = calloc((size_t)tasks->count, sizeof *tasks->known);
	if (!tasks->known)
		return cli_no_memory();
	for (int64_t i = 0; i < tasks->count; i++)
		tasks->known[i] = tasks->known_files.items[given == tasks->count ? i
		                                           : given == 1          ? 0
		                                                                 : tasks->from[i]];
	return EXIT_DONE;
}

void cli_tasks_free(cli_tasks *tasks)
{
	free(tasks->known);
	cli_list_free(&tasks->known_files);
	kdr_model_free(tasks->model);
	for (int64_t i = 0; i < tasks->count; i++) {
		kdr_data_free(tasks->data[i]);
		kdr_labels_free(tasks->init ? tasks->init[i] : NULL);
	}
	free(tasks->data);
	free(tasks->from);
	free(tasks->init);
	free(tasks->start);
	*tasks = (cli_tasks){ 0 };
}
