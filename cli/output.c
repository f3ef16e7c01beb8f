/* Results to disk. SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything that could prevent writing a result (an existing file, a folder that cannot be created) is checked before the
 * work starts. All files appear together (kdr_outputs_begin): if one that belongs to the result fails nevertheless, none does. If a
 * model, arrays or a table fail, the others are written unless they would replace earlier files, which then all stay. */
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
	made_folder.path = NULL;
}

void cli_make_folder(const char *folder)
{
	kdri_file info;
	if (kdri_file_at(folder, &info) && info.folder)
		return;
	if (kdri_file_at(folder, &info))
		cli_usage_error("%s is not a folder; -o and --arrays need a folder", folder);
	/* With those it lies in. */
	char *path = strcpy(cli_new(strlen(folder) + 1, 1), folder), *p = path;
	bool made = true;
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
	made_folder.path = new_from > 0 ? path : NULL;
	made_folder.new_from = new_from;
	if (!made)
		cli_stop(EXIT_OTHER, "%s: cannot create the folder: %s", folder, strerror(errno));
}

/* The folders whose result this command writes. */
enum { LOCKS = 4 };
static struct {
	uint64_t device, number;
	intptr_t lock;
} locks[LOCKS];
static int nlocks;

void cli_unlock_folders(void)
{
	while (nlocks > 0)
		kdri_unlock(locks[--nlocks].lock);
}

/* Folders that cannot be locked are used nevertheless. */
void cli_lock_folder(const char *folder)
{
	kdri_file info;
	if (nlocks == LOCKS || !kdri_file_at(folder, &info))
		return;
	for (int i = 0; i < nlocks; i++)
		if (locks[i].device == info.device && locks[i].number == info.number)
			return;
	const intptr_t lock = kdri_lock_folder(folder);
	if (lock < 0 && errno == EWOULDBLOCK)
		cli_stop(
		        EXIT_OTHER,
		        "%s: another run of kindred is writing to this folder; wait for it, or choose another folder",
		        folder);
	if (lock < 0)
		return;
	locks[nlocks].device = info.device;
	locks[nlocks].number = info.number;
	locks[nlocks++].lock = lock;
}

/* Whether an output of this command exists already. */
static bool replaces;

kdr_status cli_write_check(const cli_run *run, const char *path)
{
	replaces = replaces || kdri_exists(path);
	return kdr_write_check(run->ctx, path, cli_flag(run->args, "force"));
}

static void check_file(const cli_run *run, cli_path at)
{
	cli_check(cli_write_check(run, at.path));
}

/* NAME.npy or, of a task, NAME.TASK.npy. */
static cli_path array_path(const char *folder, const char *name, const char *task)
{
	char text[512];
	snprintf(text, sizeof text, "%s%s%s", name, task ? "." : "", task ? task : "");
	return cli_join(folder, text, ".npy");
}

/* The arrays a method may write, of each task where it has one for each. */
static void check_arrays(const cli_run *run, const char *folder)
{
	const cli_tasks *tasks = &run->tasks;
	const kdr_algo *algo = NULL;
	cli_make_folder(folder);
	(void)kdr_algo_require(NULL, cli_get(run->args, "method", NULL),
	                       cli_family(cli_args_command(run->args)), &algo);
	for (int64_t i = 0; cli_flag(run->args, "probabilities") && i < tasks->count; i++)
		check_file(run, array_path(folder, "calibrated", kdr_data_name(tasks->data[i])));
	for (const kdr_field_desc *f = algo ? algo->fields : NULL; f && f->name; f++)
		for (int64_t i = 0; i < (f->per_task ? tasks->count : 1); i++)
			check_file(run, array_path(folder, f->name,
			                           f->per_task ? kdr_data_name(tasks->data[i]) : NULL));
}

/* What is written of each task that has labels. */
static const char *const of_task[] = { ".labels", ".samples.csv", ".probabilities.csv" };
static const char ask_file[] = ".ask.csv";

/* Whether samples to be labelled next are wanted, which only transfer offers. */
static bool asks(const cli_args *args)
{
	return cli_args_command(args) == &cli_transfer && cli_get(args, "ask", NULL);
}

/* Files that are read after the outputs are checked are inputs as well. */
static void protect_later_inputs(const cli_run *run)
{
	static const char *const later[] = { "known", "target-labels" };
	const char *given;
	for (size_t o = 0; o < sizeof later / sizeof later[0]; o++)
		for (int n = 0; (given = cli_get_nth(run->args, later[o], n)); n++) {
			const cli_list files = cli_list_split(given);
			for (int i = 0; i < files.count; i++)
				cli_check(kdr_context_protect_file(run->ctx, files.items[i]));
		}
}

void cli_outputs_check(const cli_run *run, bool labels)
{
	const cli_args *args = run->args;
	const char *folder = cli_get(args, "output", NULL), *model = cli_get(args, "save-model", NULL);
	const char *arrays = cli_get(args, "arrays", NULL);
	kdr_data *const *data = run->tasks.data;
	const int64_t count = folder && labels ? run->tasks.count : 0;
	replaces = false;
	if (cli_flag(args, "report") && !folder)
		cli_usage_error("--report needs -o DIR: the folder for report.html");
	/* What cannot be written is better known now than after hours of work. */
	protect_later_inputs(run);
	if (folder) {
		cli_make_folder(folder);
		cli_lock_folder(folder);
		check_file(run, cli_join(folder, "result", ".json"));
	}
	cli_names_check_files(data, count);
	for (int64_t i = 0; i < count; i++) {
		cli_path path = cli_join(folder, kdr_data_name(data[i]), of_task[0]);
		cli_check(kdr_labels_check(run->ctx, path.path, kdr_data_path(data[i])));
	}
	for (int64_t i = 0; i < count; i++)
		for (int e = 0; e < (cli_flag(args, "probabilities") ? 3 : 2); e++)
			check_file(run, cli_join(folder, kdr_data_name(data[i]), of_task[e]));
	for (int64_t i = 0; i < count && asks(args); i++)
		check_file(run, cli_join(folder, kdr_data_name(data[i]), ask_file));
	if (folder && labels)
		check_file(run, cli_join(folder, "features", ".csv"));
	if (folder && cli_flag(args, "report"))
		check_file(run, cli_join(folder, "report", ".html"));
	if (model && !kdr_build_has("hdf5"))
		cli_stop(EXIT_OTHER,
		         "--save-model %s: models are HDF5 files, but this build of kindred has no HDF5",
		         model);
	if (model)
		cli_check(cli_write_check(run, model));
	if (arrays)
		check_arrays(run, arrays);
}

/* Whether the file holds just this text. */
static bool holds_already(const char *path, const char *text, size_t size)
{
	FILE *f = kdri_fopen(path);
	char *found = f ? malloc(size + 1) : NULL;
	bool same = found && fread(found, 1, size + 1, f) == size && memcmp(found, text, size) == 0;
	free(found);
	if (f)
		fclose(f);
	return same;
}

bool cli_write_lines(const cli_run *run, const char *path, const char *const *strings, const int64_t *index,
                     int64_t count, const char *blank)
{
	cli_text t;
	cli_text_begin(&t);
	for (int64_t i = 0; i < count; i++) {
		const char *string = !index ? strings[i] : index[i] < 0 ? "?" : strings[index[i]];
		/* A line break in it would shift every line after it. */
		for (const char *p = string[0] ? string : blank; *p; p++)
			fputc(*p == '\n' ? '?' : *p, t.stream);
		fputc('\n', t.stream);
	}
	char *text = cli_text_end(&t);
	const bool needed = !holds_already(path, text, t.length);
	const bool force = cli_flag(run->args, "force");
	if (needed) {
		cli_check(kdr_write_check(run->ctx, path, force));
		cli_check(kdr_write_file(run->ctx, path, text, t.length, force));
	}
	free(text);
	return needed;
}

/* --- files ---------------------------------------------------------------------------------------- */

/* Labels and samples of a data set, and with --probabilities and --ask what these add. */
static kdr_status write_task(const cli_run *run, const char *folder, int64_t i, bool force)
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
		st = kdr_result_write_table(run->ctx, run->result, kinds[e], i, path.path, force);
	}
	if (st == KDR_OK && asks(run->args)) {
		cli_path path = cli_join(folder, name, ask_file);
		st = kdr_result_write_table(run->ctx, run->result, KDR_TABLE_ASK, i, path.path, force);
	}
	return st;
}

/* The arrays of the method, and calibrated probabilities, which are of the job and not in the method's table. */
static kdr_status write_arrays(const cli_run *run, const char *folder, bool force)
{
	kdr_status st = KDR_OK;
	int64_t classes;
	for (int64_t i = 0; i < kdr_result_array_count(run->result) && st == KDR_OK; i++) {
		kdr_array a = kdr_result_array_at(run->result, i);
		cli_path path = array_path(folder, a.name,
		                           a.task < 0 ? NULL : kdr_result_task_name(run->result, a.task));
		st = kdr_result_write_table(run->ctx, run->result, KDR_TABLE_ARRAY, i, path.path, force);
	}
	for (int64_t i = 0; i < kdr_result_ntasks(run->result) && st == KDR_OK; i++)
		if (kdr_result_probabilities(run->result, i, &classes)) {
			cli_path path =
			        array_path(folder, "calibrated", kdr_result_task_name(run->result, i));
			st = kdr_result_write_table(run->ctx, run->result, KDR_TABLE_PROBABILITIES, i,
			                            path.path, force);
		}
	return st;
}

static bool print_some(void *user, const char *text, size_t length)
{
	(void)user;
	const bool put = fwrite(text, 1, length, stdout) == length;
	if (!put)
		cli_output_error = errno;
	return put;
}

/* Whether a shell takes the word as it stands. */
static bool is_plain(const char *word)
{
	static const char plain[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	return word[0] && word[strspn(word, plain)] == '\0';
}

/* After a blank. A quote inside quotes is '\''. */
static void put_word(FILE *out, const char *word)
{
	const char *quote = is_plain(word) ? "" : "'";
	fprintf(out, " %s", quote);
	for (; *word; word++) {
		fputs(*word == '\'' ? "'\\'" : "", out);
		fputc(*word, out);
	}
	fputs(quote, out);
}

/* The complete command line, quoted for a shell, with which the report shows how to repeat the run. */
static kdr_status put_command(const cli_run *run)
{
	const char *word;
	cli_text t;
	cli_text_begin(&t);
	fprintf(t.stream, "kindred %s", cli_args_command(run->args)->name);
	for (int i = 0; (word = cli_word(run->args, i)); i++)
		put_word(t.stream, word);
	char *text = cli_text_end(&t);
	const kdr_status st = kdr_result_set_command_line(run->ctx, run->result, text);
	free(text);
	return st;
}

/* The files in the folder of the result; result.json is the last because it lists them. */
static kdr_status write_folder(const cli_run *run, const char *folder, bool force, double start)
{
	cli_path features = cli_join(folder, "features", ".csv"), html = cli_join(folder, "report", ".html"),
	         json = cli_join(folder, "result", ".json");
	kdr_status st = KDR_OK;
	for (int64_t i = 0; i < kdr_result_ntasks(run->result) && st == KDR_OK; i++)
		st = write_task(run, folder, i, force);
	if (st == KDR_OK)
		st = kdr_result_write_table(run->ctx, run->result, KDR_TABLE_FEATURES, 0, features.path,
		                            force);
	kdr_result_set_write_seconds(run->result, cli_now() - start);
	if (st == KDR_OK && cli_flag(run->args, "report"))
		st = kdr_report_result(run->ctx, run->result, html.path, force);
	return st == KDR_OK ? kdr_result_write(run->ctx, run->result, json.path, force) : st;
}

/* A folder that all ranks write to, which rank 0 creates. */
static void common_folder(const char *folder)
{
	if (folder && cli_rank() == 0)
		cli_make_folder(folder);
	cli_pass(cli_ranks_agree(EXIT_DONE));
}

/* Ranks that have not failed must not wait for one that has. */
static void write_outputs(cli_run *run)
{
	const char *folder = cli_get(run->args, "output", NULL), *arrays = cli_get(run->args, "arrays", NULL);
	const char *model = cli_get(run->args, "save-model", NULL);
	bool force = cli_flag(run->args, "force");
	double start = cli_now();
	cli_errors_once();
	cli_check(kdr_outputs_begin(run->ctx, folder));
	cli_pass(cli_ranks_agree(EXIT_DONE));
	common_folder(folder);
	common_folder(arrays);
	kdr_status extra = arrays ? write_arrays(run, arrays, force) : KDR_OK;
	if (extra == KDR_OK && model && cli_rank() == 0)
		extra = kdr_model_save(run->ctx, model, run->result, force);
	if (extra == KDR_OK)
		extra = cli_write_back(run, NULL);
	const char *why = extra == KDR_OK ? NULL : cli_format("%s", kdr_context_error(run->ctx));
	bool kept = false;
	int own = cli_ranks_agree(cli_code(put_command(run)));
	if (own == EXIT_DONE) {
		kdr_status st = folder ? write_folder(run, folder, force, start) : KDR_OK;
		kept = st == KDR_OK && extra != KDR_OK && replaces;
		st = kdr_outputs_end(run->ctx, kept ? extra : st);
		own = cli_ranks_agree(kept ? cli_exit_code(st) : cli_code(st));
	}
	if (why && (kept || own == EXIT_DONE))
		cli_error("%s; %s", why,
		          kept ? "nothing was written, and the earlier files are unchanged"
		               : "the other outputs were written");
	kdr_result_set_write_seconds(run->result, cli_now() - start);
	if (!folder && own == EXIT_DONE) {
		kdr_status st = kdr_result_put(run->ctx, run->result, print_some, NULL);
		own = ferror(stdout) ? EXIT_DONE : cli_code(st); /* cli_end reports a full disk */
	}
	cli_pass(extra == KDR_OK ? own : cli_exit_code(extra));
}

/* The summary is printed from what result.json has, without its lists of samples. */
static void output_summary(cli_run *run, FILE *out)
{
	kdri_json_value *about = NULL;
	cli_check(kdri_result_tree(run->ctx, run->result, false, &about));
	run->about = about;
	cli_summary(out, run);
	run->about = NULL;
	kdri_json_value_free(about);
}

/* All ranks have the same statuses, except for the files that only rank 0 writes. */
void cli_outputs_finish(cli_run *run)
{
	bool to_folder = cli_get(run->args, "output", NULL) != NULL;
	if (cli_ranks_any(cli_interrupted()) && !to_folder)
		cli_stop(EXIT_INTERRUPTED,
		         "interrupted; nothing was written (use -o DIR to keep the best result so far)");
	write_outputs(run);
	/* With -o the summary is the output; else standard output belongs to result.json. */
	if (cli_rank() == 0 && !cli_quiet(run->args) &&
	    (to_folder || cli_is_terminal(stderr) || cli_flag(run->args, "verbose")))
		output_summary(run, to_folder ? stdout : stderr);
	cli_write_back_print(run);
}
