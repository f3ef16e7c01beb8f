/* Results to disk. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that could refuse a result (an existing file, a folder that cannot be made) is checked before
 * the work starts. Each file appears whole or not at all; result.json comes last, so that it is only there
 * when all the others are. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *join_path(const char *folder, const char *name, const char *ending)
{
	size_t room = strlen(folder) + strlen(name) + strlen(ending) + 2;
	char *path = malloc(room);
	if (path)
		snprintf(path, room, "%s/%s%s", folder, name, ending);
	else
		cli_error("out of memory");
	return path;
}

int cli_make_folder(const char *folder)
{
	struct stat info;
	if (stat(folder, &info) == 0) {
		if (S_ISDIR(info.st_mode))
			return EXIT_DONE;
		cli_error("%s: is not a folder; -o and --arrays need one", folder);
		return EXIT_USAGE;
	}
	if (mkdir(folder, 0777) != 0) {
		cli_error("%s: cannot make the folder: %s", folder, strerror(errno));
		return EXIT_OTHER;
	}
	return EXIT_DONE;
}

static int refuse_existing(const char *path)
{
	if (access(path, F_OK) != 0)
		return EXIT_DONE;
	cli_error("%s: exists already; --force replaces it", path);
	return EXIT_USAGE;
}

static int refuse_in(const char *folder, const char *name, const char *ending)
{
	char *path = join_path(folder, name, ending);
	int code = path ? refuse_existing(path) : EXIT_OTHER;
	free(path);
	return code;
}

int cli_outputs_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, bool labels)
{
	(void)ctx;
	const char *folder = cli_get(args, "output", NULL), *model = cli_get(args, "save-model", NULL);
	int code = EXIT_DONE;
	if (cli_flag(args, "report") && !folder) {
		cli_error("--report needs -o DIR to write report.html to");
		return EXIT_USAGE;
	}
	if (!cli_flag(args, "force")) {
		if (folder && (code = refuse_in(folder, "result", ".json")) != EXIT_DONE)
			return code;
		for (int64_t i = 0; folder && labels && i < tasks->count; i++)
			if ((code = refuse_in(folder, kdr_data_name(tasks->data[i]), ".labels")) != EXIT_DONE)
				return code;
		if (folder && cli_flag(args, "report") &&
		    (code = refuse_in(folder, "report", ".html")) != EXIT_DONE)
			return code;
		if (model && (code = refuse_existing(model)) != EXIT_DONE)
			return code;
	}
	/* A folder that cannot be written to is better known now than after hours of work. */
	struct stat info;
	if (folder && stat(folder, &info) == 0 && (!S_ISDIR(info.st_mode) || access(folder, W_OK) != 0)) {
		cli_error("%s: %s", folder,
		          S_ISDIR(info.st_mode) ? "no permission to write there" : "is not a folder");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

int cli_score(kdr_context *ctx, cli_run *run)
{
	const cli_tasks *tasks = run->tasks;
	run->scores = calloc((size_t)tasks->count, sizeof *run->scores);
	if (!run->scores) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	bool wanted = cli_flag(run->args, "score") || cli_get(run->args, "label-column", NULL);
	for (int64_t i = 0; i < tasks->count; i++) {
		int64_t n;
		const int64_t *labels = kdr_result_labels(run->result, i, &n);
		const int64_t *truth = tasks->truth[i] ? tasks->truth[i]->values
		                       : wanted        ? kdr_data_labels(tasks->data[i])
		                                       : NULL;
		if (!labels || !truth)
			continue;
		kdr_status st = kdr_evaluate(ctx, labels, truth, n, &run->scores[i]);
		if (st != KDR_OK)
			return cli_fail(ctx, st);
	}
	return EXIT_DONE;
}

/* --- result.json --------------------------------------------------------------------------------- */

/* One number, or a list of several. */
static void json_numbers(cli_json *j, const char *name, const double *values, int64_t count)
{
	if (count == 1) {
		cli_json_real(j, name, values[0]);
		return;
	}
	cli_json_array(j, name);
	for (int64_t i = 0; i < count; i++)
		cli_json_real(j, NULL, values[i]);
	cli_json_end_array(j);
}

static void json_options(cli_json *j, const kdr_options *options)
{
	cli_json_object(j, "options");
	for (const kdr_option_desc *o = kdr_options_algo(options)->options; o->name; o++) {
		int64_t count;
		const double *values = kdr_options_numbers(options, o->name, &count), value = values[0];
		switch (o->type) {
		case KDR_OPTION_INT: cli_json_int(j, o->name, (int64_t)value); break;
		case KDR_OPTION_REAL: cli_json_real(j, o->name, value); break;
		case KDR_OPTION_BOOL: cli_json_bool(j, o->name, value != 0); break;
		case KDR_OPTION_CHOICE: cli_json_string(j, o->name, o->choices[(int)value]); break;
		case KDR_OPTION_REALS: json_numbers(j, o->name, values, count); break;
		}
	}
	cli_json_end_object(j);
}

/* What the features were learnt with, and how many columns that makes. */
static void json_features(cli_json *j, const cli_run *run)
{
	cli_json_object(j, "features_from");
	cli_json_string(j, "method", kdr_options_algo(run->feature_options)->id);
	json_options(j, run->feature_options);
	cli_json_int(j, "columns", kdr_result_array(run->features, "features", 0).shape[1]);
	cli_json_end_object(j);
}

static void json_scores(cli_json *j, const kdr_scores *s)
{
	if (s->n == 0) {
		cli_json_null(j, "metrics");
		return;
	}
	cli_json_object(j, "metrics");
	cli_json_real(j, "acc", s->acc);
	cli_json_real(j, "nmi", s->nmi);
	cli_json_real(j, "nmi_arithmetic", s->nmi_arithmetic);
	cli_json_real(j, "nmi_max", s->nmi_max);
	cli_json_real(j, "ari", s->ari);
	cli_json_real(j, "purity", s->purity);
	cli_json_real(j, "homogeneity", s->homogeneity);
	cli_json_real(j, "completeness", s->completeness);
	cli_json_real(j, "v_measure", s->v_measure);
	cli_json_end_object(j);
}

/* Sizes of the clusters; `k` counters. */
static int64_t *cluster_sizes(const int64_t *labels, int64_t n, int64_t k)
{
	int64_t *sizes = calloc((size_t)(k > 0 ? k : 1), sizeof *sizes);
	for (int64_t i = 0; sizes && i < n; i++)
		sizes[labels[i]]++;
	return sizes;
}

static void json_task(cli_json *j, const cli_run *run, int64_t i)
{
	const kdr_data *data = run->tasks->data[i];
	kdr_mat x = kdr_data_mat(data);
	int64_t n, k = kdr_result_k(run->result, i);
	const int64_t *labels = kdr_result_labels(run->result, i, &n);
	cli_json_object(j, NULL);
	cli_json_string(j, "name", kdr_data_name(data));
	cli_json_string(j, "path", kdr_data_path(data));
	cli_json_int(j, "n", kdr_mat_rows(&x));
	cli_json_int(j, "d", kdr_mat_cols(&x));
	cli_json_int(j, "nnz", kdr_mat_nnz(&x));
	cli_json_int(j, "k", k);
	int64_t *sizes = labels ? cluster_sizes(labels, n, k) : NULL;
	cli_json_array(j, "sizes");
	for (int64_t c = 0; sizes && c < k; c++)
		cli_json_int(j, NULL, sizes[c]);
	cli_json_end_array(j);
	free(sizes);
	cli_json_array(j, "labels");
	for (int64_t r = 0; labels && r < n; r++)
		if (run->classes)
			cli_json_string(j, NULL, run->classes[labels[r]]);
		else
			cli_json_int(j, NULL, labels[r]);
	cli_json_end_array(j);
	json_scores(j, &run->scores[i]);
	cli_json_end_object(j);
}

static void json_matrix(cli_json *j, const double *m, int64_t rows, int64_t cols)
{
	cli_json_array(j, "matrix");
	for (int64_t r = 0; r < rows; r++) {
		cli_json_array(j, NULL);
		for (int64_t c = 0; c < cols; c++)
			cli_json_real(j, NULL, m[r * cols + c]);
		cli_json_end_array(j);
	}
	cli_json_end_array(j);
}

static void json_between_tasks(cli_json *j, const cli_run *run)
{
	const double *related = kdr_result_relatedness(run->result);
	int64_t n = run->tasks->count, matches = kdr_result_correspondence_count(run->result);
	if (related) {
		cli_json_object(j, "relatedness");
		cli_json_array(j, "tasks");
		for (int64_t i = 0; i < n; i++)
			cli_json_string(j, NULL, kdr_data_name(run->tasks->data[i]));
		cli_json_end_array(j);
		json_matrix(j, related, n, n);
		cli_json_end_object(j);
	}
	if (!matches)
		return;
	cli_json_array(j, "correspondence");
	for (int64_t i = 0; i < matches; i++) {
		kdr_correspondence c = kdr_result_correspondence_at(run->result, i);
		cli_json_object(j, NULL);
		cli_json_string(j, "from", kdr_data_name(run->tasks->data[c.from]));
		cli_json_string(j, "to", kdr_data_name(run->tasks->data[c.to]));
		json_matrix(j, c.matrix, c.rows, c.cols);
		cli_json_end_object(j);
	}
	cli_json_end_array(j);
}

static int64_t peak_rss_bytes(void)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
#ifdef __APPLE__
	return usage.ru_maxrss;
#else
	return (int64_t)usage.ru_maxrss * 1024;
#endif
}

static void build_json(cli_json *j, kdr_context *ctx, const cli_run *run)
{
	const kdr_result *r = run->result;
	int64_t count;
	const double *objective = kdr_result_objective(r, &count);
	cli_json_object(j, NULL);
	cli_json_string(j, "kindred", kdr_version());
	cli_json_string(j, "command", run->command);
	cli_json_string(j, "method", cli_method_name(run->method));
	json_options(j, run->options);
	if (run->features)
		json_features(j, run);
	if (run->tasks->kind)
		cli_json_string(j, "data", run->tasks->kind);
	cli_json_int(j, "seed", (int64_t)kdr_context_seed(ctx));
	cli_json_int(j, "threads", kdr_context_threads(ctx));
	cli_json_string(j, "preprocessing", kdr_prep_describe(run->tasks->prep));
	cli_json_array(j, "tasks");
	for (int64_t i = 0; i < run->tasks->count; i++)
		json_task(j, run, i);
	cli_json_end_array(j);
	cli_json_array(j, "objective");
	for (int64_t i = 0; i < count; i++)
		cli_json_real(j, NULL, objective[i]);
	cli_json_end_array(j);
	cli_json_string(j, "stop", kdr_stop_name(kdr_result_stop(r)));
	cli_json_int(j, "iterations", kdr_result_iterations(r));
	cli_json_object(j, "seconds");
	cli_json_real(j, "read", run->tasks->seconds_read);
	cli_json_real(j, "prepare", run->tasks->seconds_prepare);
	cli_json_real(j, "fit", run->seconds_fit);
	cli_json_real(j, "write", run->seconds_write);
	cli_json_real(j, "total", cli_now() - run->seconds_start);
	cli_json_end_object(j);
	cli_json_int(j, "peak_rss_bytes", peak_rss_bytes());
	json_between_tasks(j, run);
	if (run->more_json)
		run->more_json(j, run->more);
	cli_json_array(j, "warnings");
	for (int64_t i = 0; i < kdr_prep_warning_count(run->tasks->prep); i++)
		cli_json_string(j, NULL, kdr_prep_warning_at(run->tasks->prep, i));
	for (int64_t i = 0; run->features && i < kdr_result_warning_count(run->features); i++)
		cli_json_string(j, NULL, kdr_result_warning_at(run->features, i));
	for (int64_t i = 0; i < kdr_result_warning_count(r); i++)
		cli_json_string(j, NULL, kdr_result_warning_at(r, i));
	cli_json_end_array(j);
	cli_json_object(j, "method_fields");
	for (int64_t i = 0; i < kdr_result_field_count(r); i++) {
		double number;
		const char *text, *name = kdr_result_field_at(r, i, &number, &text);
		if (text)
			cli_json_string(j, name, text);
		else
			cli_json_real(j, name, number);
	}
	cli_json_end_object(j);
	cli_json_end_object(j);
}

/* --- files ---------------------------------------------------------------------------------------- */

/* Bytes of one line of a labels file, at most. */
static size_t widest_label(const cli_run *run, int64_t k)
{
	size_t widest = 24;
	for (int64_t c = 0; run->classes && c < k; c++)
		widest = strlen(run->classes[c]) + 2 > widest ? strlen(run->classes[c]) + 2 : widest;
	return widest;
}

static int write_labels(kdr_context *ctx, const cli_run *run, const char *folder, int64_t i, bool force)
{
	int64_t n;
	const int64_t *labels = kdr_result_labels(run->result, i, &n);
	if (!labels)
		return EXIT_DONE;
	char *path = join_path(folder, kdr_data_name(run->tasks->data[i]), ".labels");
	char *text = malloc((size_t)n * widest_label(run, kdr_result_k(run->result, i)) + 1), *p = text;
	int code = EXIT_OTHER;
	if (path && text) {
		for (int64_t r = 0; r < n; r++)
			p += run->classes ? sprintf(p, "%s\n", run->classes[labels[r]])
			                  : sprintf(p, "%lld\n", (long long)labels[r]);
		kdr_status st = kdr_write_file(ctx, path, text, (size_t)(p - text), force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	} else {
		cli_error("out of memory");
	}
	free(text);
	free(path);
	return code;
}

static int write_arrays(kdr_context *ctx, const cli_run *run, const char *folder, bool force)
{
	int code = cli_make_folder(folder);
	for (int64_t i = 0; i < kdr_result_array_count(run->result) && code == EXIT_DONE; i++) {
		kdr_array a = kdr_result_array_at(run->result, i);
		char name[512];
		if (a.task < 0)
			snprintf(name, sizeof name, "%s", a.name);
		else
			snprintf(name, sizeof name, "%s.%s", a.name, kdr_data_name(run->tasks->data[a.task]));
		char *path = join_path(folder, name, ".npy");
		if (!path)
			return EXIT_OTHER;
		kdr_status st = kdr_write_array(ctx, path, &a, force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
		free(path);
	}
	return code;
}

static int write_model(kdr_context *ctx, const cli_run *run, const char *path, bool force)
{
	const cli_tasks *tasks = run->tasks;
	const char **names = calloc((size_t)tasks->count, sizeof *names);
	if (!names) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t i = 0; i < tasks->count; i++)
		names[i] = kdr_data_name(tasks->data[i]);
	kdr_mat x = kdr_data_mat(tasks->data[0]);
	kdr_model_info info = {
		.task_names = names,
		.prep = tasks->prep,
		.features = kdr_data_features(tasks->data[0]),
		.nfeatures = kdr_mat_cols(&x),
		.classes = run->classes,
		.nclasses = run->nclasses,
		.options = run->options,
	};
	kdr_status st = kdr_model_save(ctx, path, run->result, &info, force);
	free(names);
	return st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
}

static int write_json(kdr_context *ctx, cli_run *run, const char *folder, bool force)
{
	cli_json json = { 0 };
	int code = EXIT_DONE;
	build_json(&json, ctx, run);
	if (json.failed) {
		cli_error("out of memory");
		code = EXIT_OTHER;
	} else if (folder) {
		char *path = join_path(folder, "result", ".json");
		json.text[json.used++] = '\n';
		kdr_status st =
		        path ? kdr_write_file(ctx, path, json.text, json.used, force) : KDR_ERR_MEMORY;
		if (st != KDR_OK)
			code = path ? cli_fail(ctx, st) : EXIT_OTHER;
		free(path);
	} else {
		puts(json.text);
		code = cli_finish(EXIT_DONE);
	}
	cli_json_free(&json);
	return code;
}

static int write_report(kdr_context *ctx, const char *folder, bool force)
{
	char *json = join_path(folder, "result", ".json"), *html = join_path(folder, "report", ".html");
	int code = EXIT_OTHER;
	if (json && html) {
		kdr_status st = kdr_report(ctx, json, html, force);
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	free(json);
	free(html);
	return code;
}

int cli_outputs_write(kdr_context *ctx, cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL), *arrays = cli_get(run->args, "arrays", NULL);
	const char *model = cli_get(run->args, "save-model", NULL);
	bool force = cli_flag(run->args, "force");
	double start = cli_now();
	int code = EXIT_DONE;
	if (arrays)
		code = write_arrays(ctx, run, arrays, force);
	if (model && code == EXIT_DONE)
		code = write_model(ctx, run, model, force);
	if (folder && code == EXIT_DONE)
		code = cli_make_folder(folder);
	for (int64_t i = 0; folder && i < run->tasks->count && code == EXIT_DONE; i++)
		code = write_labels(ctx, run, folder, i, force);
	run->seconds_write = cli_now() - start;
	if (code == EXIT_DONE)
		code = write_json(ctx, run, folder, force);
	if (folder && cli_flag(run->args, "report") && code == EXIT_DONE)
		code = write_report(ctx, folder, force);
	return code;
}

static void print_summary(FILE *out, const cli_run *run)
{
	char *text = NULL;
	size_t length = 0;
	FILE *memory = open_memstream(&text, &length);
	if (memory)
		cli_summary(memory, run);
	if (memory && fclose(memory) == 0)
		cli_print_safely(out, text, length);
	free(text);
}

int cli_outputs_finish(kdr_context *ctx, cli_run *run)
{
	bool to_folder = cli_get(run->args, "output", NULL) != NULL;
	if (cli_interrupted() && !to_folder) {
		cli_error("interrupted; with -o DIR the best result so far would have been written");
		return EXIT_INTERRUPTED;
	}
	int code = cli_outputs_write(ctx, run);
	/* With -o the summary is the output; else standard output belongs to result.json. */
	if (code == EXIT_DONE && !cli_quiet(run->args) &&
	    (to_folder || isatty(STDERR_FILENO) || cli_flag(run->args, "verbose")))
		print_summary(to_folder ? stdout : stderr, run);
	return code;
}
