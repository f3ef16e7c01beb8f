/* Results to disk. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that could prevent writing a result (an existing file, a folder that cannot be created) is checked before the
 * work starts. All files appear together (kdr_outputs_begin): if one that belongs to the result fails nevertheless, none does. A
 * model, arrays or a table that fail do not take the result with them; the exit status shows the failure. */
#include "cli.h"
#include "core/system.h"
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

cli_path cli_join(const char *folder, const char *name, const char *ending)
{
	cli_path j;
	snprintf(j.path, sizeof j.path, "%s/%s%s", folder, name, ending);
	return j;
}

/* The folder that was created last, and the length of the first part of its path that did not exist before. */
static struct {
	char *path;
	size_t new_from;
} made_folder;

void cli_remove_empty_folder(void)
{
	char *path = made_folder.path;
	while (path && strlen(path) >= made_folder.new_from) {
		char *end = path + strlen(path);
		while (end > path && kdri_is_separator(end[-1]))
			*--end = '\0';
		if (remove(path) != 0)
			break;
		while (end > path && !kdri_is_separator(end[-1]))
			*--end = '\0';
	}
	free(path);
	made_folder.path = NULL;
}

int cli_make_folder(const char *folder)
{
	kdri_file info;
	if (kdri_file_at(folder, &info)) {
		if (info.folder)
			return EXIT_DONE;
		return cli_usage_error("%s is not a folder; -o and --arrays need a folder", folder);
	}
	/* With those it lies in. */
	char *path = strdup(folder), *p = path;
	bool made = path != NULL;
	size_t new_from = 0;
	for (char separator = '/'; made && separator;) {
		for (p += *p != '\0'; *p && !kdri_is_separator(*p);)
			p++;
		separator = *p;
		*p = '\0';
		made = kdri_mkdir(path) == 0;
		if (made && new_from == 0)
			new_from = strlen(path);
		made = made || errno == EEXIST;
		*p = separator;
	}
	if (!made)
		cli_error("%s: cannot create the folder: %s", folder, strerror(errno));
	free(made_folder.path);
	made_folder.path = new_from > 0 ? path : NULL;
	made_folder.new_from = new_from;
	if (new_from == 0)
		free(path);
	return made ? EXIT_DONE : EXIT_OTHER;
}

static int check_file(kdr_context *ctx, const cli_args *args, const char *path)
{
	return cli_code(ctx, kdr_write_check(ctx, path, cli_flag(args, "force")));
}

static int check_in(kdr_context *ctx, const cli_args *args, const char *folder, const char *name,
                    const char *ending)
{
	cli_path j = cli_join(folder, name, ending);
	return check_file(ctx, args, j.path);
}

/* The arrays a method may write, of each task where it has one for each. */
static int check_arrays(kdr_context *ctx, const cli_args *args, const char *folder, const cli_tasks *tasks)
{
	const bool transfer = strcmp(cli_args_command(args)->name, "transfer") == 0;
	const kdr_algo *algo = NULL;
	CLI_DO(cli_make_folder(folder));
	(void)kdr_algo_require(NULL, cli_get(args, "method", NULL),
	                       transfer ? KDR_FAMILY_TRANSFER : KDR_FAMILY_CLUSTER, &algo);
	char name[512];
	for (int64_t i = 0; cli_flag(args, "probabilities") && i < tasks->count; i++) {
		snprintf(name, sizeof name, "calibrated.%s", kdr_data_name(tasks->data[i]));
		CLI_DO(check_in(ctx, args, folder, name, ".npy"));
	}
	for (const kdr_field_desc *f = algo ? algo->fields : NULL; f && f->name; f++)
		for (int64_t i = 0; i < (f->per_task ? tasks->count : 1); i++) {
			snprintf(name, sizeof name, f->per_task ? "%s.%s" : "%s", f->name,
			         f->per_task ? kdr_data_name(tasks->data[i]) : "");
			CLI_DO(check_in(ctx, args, folder, name, ".npy"));
		}
	return EXIT_DONE;
}

/* What is written of each task that has labels. */
static const char *const of_task[] = { ".labels", ".samples.csv", ".probabilities.csv" };
static const char ask_file[] = ".ask.csv";

/* Whether samples to be labelled next are wanted, which only transfer offers. */
static bool asks(const cli_args *args)
{
	return strcmp(cli_args_command(args)->name, "transfer") == 0 && cli_get(args, "ask", NULL);
}

/* Files that are read after the outputs are checked are inputs as well. */
static kdr_status protect_later_inputs(kdr_context *ctx, const cli_args *args)
{
	static const char *const later[] = { "known", "must-link", "cannot-link", "target-labels" };
	kdr_status st = KDR_OK;
	cli_list files;
	const char *given;
	for (size_t o = 0; o < sizeof later / sizeof later[0]; o++)
		for (int n = 0; (given = cli_get_nth(args, later[o], n)) && cli_list_split(given, &files);
		     n++) {
			for (int i = 0; i < files.count && st == KDR_OK; i++)
				st = kdr_context_protect_file(ctx, files.items[i]);
			cli_list_free(&files);
		}
	return st;
}

int cli_outputs_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, bool labels)
{
	const char *folder = cli_get(args, "output", NULL), *model = cli_get(args, "save-model", NULL);
	const char *arrays = cli_get(args, "arrays", NULL);
	const int64_t count = folder && labels ? tasks->count : 0;
	if (cli_flag(args, "report") && !folder)
		return cli_usage_error("--report needs -o DIR: the folder for report.html");
	/* What cannot be written is better known now than after hours of work. */
	CLI_DO(cli_code(ctx, protect_later_inputs(ctx, args)));
	if (folder) {
		CLI_DO(cli_make_folder(folder));
		CLI_DO(check_in(ctx, args, folder, "result", ".json"));
	}
	for (int64_t i = 0; i < count; i++) {
		cli_path path = cli_join(folder, kdr_data_name(tasks->data[i]), of_task[0]);
		CLI_DO(cli_code(ctx, kdr_labels_check(ctx, path.path, kdr_data_path(tasks->data[i]))));
	}
	for (int64_t i = 0; i < count; i++)
		for (int e = 0; e < (cli_flag(args, "probabilities") ? 3 : 2); e++)
			CLI_DO(check_in(ctx, args, folder, kdr_data_name(tasks->data[i]), of_task[e]));
	for (int64_t i = 0; folder && asks(args) && i < tasks->count; i++)
		CLI_DO(check_in(ctx, args, folder, kdr_data_name(tasks->data[i]), ask_file));
	if (folder && labels)
		CLI_DO(check_in(ctx, args, folder, "features", ".csv"));
	if (folder && cli_flag(args, "report"))
		CLI_DO(check_in(ctx, args, folder, "report", ".html"));
	if (model && !kdr_build_has("hdf5"))
		return cli_fail_with(
		        EXIT_OTHER,
		        "--save-model %s: models are HDF5 files, but this build of kindred has no HDF5",
		        model);
	if (model)
		CLI_DO(check_file(ctx, args, model));
	return arrays ? check_arrays(ctx, args, arrays, tasks) : EXIT_DONE;
}

/* --- files ---------------------------------------------------------------------------------------- */

char *cli_labels_text(const kdr_result *result, int64_t task, size_t *length)
{
	int64_t n, nclasses;
	const int64_t *labels = kdr_result_labels(result, task, &n);
	const char *const *classes = kdr_result_classes(result, &nclasses);
	size_t room = 1;
	if (!labels)
		return NULL;
	for (int64_t i = 0; i < n; i++)
		room += classes && labels[i] >= 0 && labels[i] < nclasses ? strlen(classes[labels[i]]) + 1
		                                                          : 22;
	char *text = malloc(room), *p = text;
	for (int64_t i = 0; text && i < n; i++)
		if (classes && labels[i] >= 0 && labels[i] < nclasses)
			p += sprintf(p, "%s\n", classes[labels[i]]);
		else if (classes || labels[i] < 0) /* left without one */
			p += sprintf(p, "?\n");
		else
			p += sprintf(p, "%lld\n", (long long)labels[i]);
	if (!text)
		cli_error("out of memory");
	*length = text ? (size_t)(p - text) : 0;
	return text;
}

/* Labels and samples of a data set, and with --probabilities and --ask what these add. */
static kdr_status write_task(kdr_context *ctx, const cli_run *run, const char *folder, int64_t i, bool force)
{
	static const kdr_table kinds[] = { KDR_TABLE_LABELS, KDR_TABLE_SAMPLES, KDR_TABLE_PROBABILITIES };
	int64_t classes;
	const bool probable = kdr_result_probabilities(run->result, i, &classes) != NULL;
	const char *name = kdr_result_task_name(run->result, i);
	kdr_status st = KDR_OK;
	if (!kdr_result_labels(run->result, i, NULL))
		return KDR_OK;
	for (int e = 0; e < (probable ? 3 : 2) && st == KDR_OK; e++) {
		cli_path path = cli_join(folder, name, of_task[e]);
		st = kdr_result_write_table(ctx, run->result, kinds[e], i, path.path, force);
	}
	if (st == KDR_OK && asks(run->args)) {
		cli_path path = cli_join(folder, name, ask_file);
		st = kdr_result_write_table(ctx, run->result, KDR_TABLE_ASK, i, path.path, force);
	}
	return st;
}

/* NAME.npy, or NAME.TASK.npy. */
static cli_path array_path(const cli_run *run, const char *folder, const char *name, int64_t task)
{
	char text[512];
	if (task < 0)
		snprintf(text, sizeof text, "%s", name);
	else
		snprintf(text, sizeof text, "%s.%s", name, kdr_result_task_name(run->result, task));
	return cli_join(folder, text, ".npy");
}

/* The arrays of the method, and calibrated probabilities, which are of the job and not in the method's table. */
static kdr_status write_arrays(kdr_context *ctx, const cli_run *run, const char *folder, bool force)
{
	kdr_status st = KDR_OK;
	int64_t classes;
	for (int64_t i = 0; i < kdr_result_array_count(run->result) && st == KDR_OK; i++) {
		kdr_array a = kdr_result_array_at(run->result, i);
		cli_path path = array_path(run, folder, a.name, a.task);
		st = kdr_result_write_table(ctx, run->result, KDR_TABLE_ARRAY, i, path.path, force);
	}
	for (int64_t i = 0; i < kdr_result_ntasks(run->result) && st == KDR_OK; i++)
		if (kdr_result_probabilities(run->result, i, &classes)) {
			cli_path path = array_path(run, folder, "calibrated", i);
			st = kdr_result_write_table(ctx, run->result, KDR_TABLE_PROBABILITIES, i, path.path,
			                            force);
		}
	return st;
}

static bool print_some(void *user, const char *text, size_t length)
{
	(void)user;
	return fwrite(text, 1, length, stdout) == length;
}

static int output_print_json(kdr_context *ctx, const kdr_result *result)
{
	kdr_status st = kdr_result_put(ctx, result, print_some, NULL);
	return st == KDR_OK || ferror(stdout) ? cli_finish(EXIT_DONE) : cli_fail(ctx, st);
}

/* The first failure of several. */
static int output_first_of(int code, int next)
{
	return code == EXIT_DONE ? next : code;
}

/* Whether a shell takes the word as it stands. */
static bool is_plain(const char *word)
{
	static const char plain[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	return word[0] && word[strspn(word, plain)] == '\0';
}

/* A quote inside quotes is '\''. */
static char *put_word(char *to, const char *word)
{
	static const char quote[4] = { '\'', '\\', '\'', '\'' };
	bool plain = is_plain(word);
	if (!plain)
		*to++ = '\'';
	for (; *word; word++)
		if (*word == '\'') {
			memcpy(to, quote, sizeof quote);
			to += sizeof quote;
		} else {
			*to++ = *word;
		}
	if (!plain)
		*to++ = '\'';
	return to;
}

/* The complete command line, quoted for a shell; to be freed. NULL: out of memory. */
static char *command_line(const cli_args *args)
{
	static const char program[] = "kindred ";
	const char *name = cli_args_command(args)->name, *word;
	size_t room = sizeof program + strlen(name);
	for (int i = 0; (word = cli_word(args, i)); i++)
		room += 4 * strlen(word) + 3;
	char *text = malloc(room), *to = text;
	if (!text)
		return NULL;
	to += sprintf(to, "%s%s", program, name);
	for (int i = 0; (word = cli_word(args, i)); i++) {
		*to++ = ' ';
		to = put_word(to, word);
	}
	*to = '\0';
	return text;
}

/* The report shows how to repeat the run. */
static kdr_status put_command(kdr_context *ctx, const cli_run *run)
{
	char *line = command_line(run->args);
	kdr_status st = line ? kdr_result_set_command_line(ctx, run->result, line) : KDR_OK;
	free(line);
	return st;
}

/* The files in the folder of the result; result.json is the last because it lists them. */
static kdr_status write_folder(kdr_context *ctx, const cli_run *run, const char *folder, bool force,
                               double start)
{
	cli_path features = cli_join(folder, "features", ".csv"), html = cli_join(folder, "report", ".html"),
	         json = cli_join(folder, "result", ".json");
	kdr_status st = KDR_OK;
	for (int64_t i = 0; i < kdr_result_ntasks(run->result) && st == KDR_OK; i++)
		st = write_task(ctx, run, folder, i, force);
	if (st == KDR_OK)
		st = kdr_result_write_table(ctx, run->result, KDR_TABLE_FEATURES, 0, features.path, force);
	kdr_result_set_write_seconds(run->result, cli_now() - start);
	if (st == KDR_OK && cli_flag(run->args, "report"))
		st = kdr_report_result(ctx, run->result, html.path, force);
	return st == KDR_OK ? kdr_result_write(ctx, run->result, json.path, force) : st;
}

/* A folder that all ranks write to, which rank 0 creates. Exit status. */
static int common_folder(const char *folder)
{
	return cli_ranks_agree(folder && cli_rank() == 0 ? cli_make_folder(folder) : EXIT_DONE);
}

int cli_outputs_write(kdr_context *ctx, const cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL), *arrays = cli_get(run->args, "arrays", NULL);
	const char *model = cli_get(run->args, "save-model", NULL);
	bool force = cli_flag(run->args, "force");
	double start = cli_now();
	cli_errors_once();
	int code = cli_ranks_agree(cli_code(ctx, kdr_outputs_begin(ctx, folder)));
	code = output_first_of(code, common_folder(folder));
	code = output_first_of(code, common_folder(arrays));
	if (code != EXIT_DONE)
		return code;
	if (arrays)
		code = cli_code(ctx, write_arrays(ctx, run, arrays, force));
	if (model && cli_rank() == 0)
		code = output_first_of(code, cli_code(ctx, kdr_model_save(ctx, model, run->result, force)));
	code = output_first_of(code,
	                       cli_write_back(ctx, run->args, run->tasks, run->first, run->result, NULL));
	/* Ranks that have not failed must not wait for one that has. */
	int own = cli_ranks_agree(cli_code(ctx, put_command(ctx, run)));
	if (own == EXIT_DONE) {
		kdr_status st = folder ? write_folder(ctx, run, folder, force, start) : KDR_OK;
		own = cli_ranks_agree(cli_code(ctx, kdr_outputs_end(ctx, st)));
	}
	kdr_result_set_write_seconds(run->result, cli_now() - start);
	if (!folder && own == EXIT_DONE)
		own = output_print_json(ctx, run->result);
	return output_first_of(code, own);
}

static void print_summary(FILE *out, const void *run)
{
	cli_summary(out, run);
}

/* The summary is printed from result.json without its lists of samples. */
static int output_summary(kdr_context *ctx, const cli_run *run, FILE *out)
{
	char *text = NULL;
	size_t length = 0;
	kdri_json_value *about = NULL;
	kdr_status st = kdr_result_json(ctx, run->result, false, &text, &length);
	if (st == KDR_OK)
		st = kdri_json_parse(ctx, "result.json", 1, text, length, &about);
	if (st == KDR_OK) {
		cli_run with = *run;
		with.about = about;
		cli_print_by(out, print_summary, &with);
	}
	kdri_json_value_free(about);
	kdr_free(ctx, text);
	return cli_code(ctx, st);
}

/* All ranks have the same statuses, except for the files that only rank 0 writes. */
int cli_outputs_finish(kdr_context *ctx, const cli_run *run)
{
	bool to_folder = cli_get(run->args, "output", NULL) != NULL;
	if (cli_ranks_any(cli_interrupted()) && !to_folder)
		return cli_fail_with(
		        EXIT_INTERRUPTED,
		        "interrupted; nothing was written (use -o DIR to keep the best result so far)");
	int code = cli_outputs_write(ctx, run);
	/* With -o the summary is the output; else standard output belongs to result.json. */
	if (code == EXIT_DONE && cli_rank() == 0 && !cli_quiet(run->args) &&
	    (to_folder || cli_is_terminal(stderr) || cli_flag(run->args, "verbose")))
		code = output_summary(ctx, run, to_folder ? stdout : stderr);
	if (code == EXIT_DONE)
		cli_write_back_print(run->args, run->tasks, run->first);
	return code;
}
