/* kindred embed. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <string.h>

static const char *const formats[] = { "csv", "npy", NULL };

static const cli_option own_options[] = {
	CLI_VALUE("layout", "LAYOUT",
	          "forces (default): neighbours attract each other, other samples repel; directions: the "
	          "two directions in which samples vary most",
	          .listed = true),
	CLI_VALUE("neighbors", "N",
	          "layout forces: number of neighbours that attract a sample (default 15, fewer for small "
	          "data)"),
	CLI_VALUE("sweeps", "N",
	          "layout forces: number of times all points are moved (default 300 to 500, depending on "
	          "the number of samples)"),
	CLI_VALUE("to", "FORMAT", "output format (default csv)", .choices = formats),
	CLI_VALUE("output", "DIR", "write <task>.embedding.csv to this folder (default: standard output)",
	          .letter = 'o'),
	CLI_VALUE("write-h5ad", "FILE",
	          "write the AnnData input with the coordinates in obsm[\"X_kindred\"]; several inputs: "
	          "FILE-TASK for each"),
	CLI_KEY_OPTION,
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_OPTIONS_END,
};

static cli_path path_of(const cli_args *args, const kdr_data *task)
{
	const bool npy = strcmp(cli_get(args, "to", "csv"), "npy") == 0;
	return cli_join(cli_get(args, "output", NULL), kdr_data_name(task),
	                npy ? ".embedding.npy" : ".embedding.csv");
}

/* What cannot be written is better known before the work. */
static void embed_check(const cli_run *run)
{
	cli_make_folder(cli_get(run->args, "output", NULL));
	cli_names_check_files(run->tasks.data, run->tasks.count);
	for (int64_t t = 0; t < run->tasks.count; t++) {
		const cli_path to = path_of(run->args, run->tasks.data[t]);
		cli_check(kdr_write_check(run->ctx, to.path, cli_flag(run->args, "force")));
	}
}

static void write_task(const cli_run *run, const kdr_data *task, const double *xy, int64_t n)
{
	static const char *const axes[] = { "x", "y" };
	kdr_mat m = kdr_mat_from_dense(xy, n, 2);
	kdr_data *points = NULL;
	const cli_path to = path_of(run->args, task);
	cli_check(kdr_data_borrow(run->ctx, kdr_data_name(task), &m, axes, kdr_data_ids(task), &points));
	kdr_data_show_ids(points);
	cli_check(kdr_write(run->ctx, to.path, NULL, points, cli_flag(run->args, "force")));
	kdr_data_free(points);
}

/* A field of a table: quoted where it must be. */
static void print_field(const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void print_task(const kdr_data *task, const double *xy, int64_t n)
{
	const char *const *ids = kdr_data_ids(task);
	char number[64];
	for (int64_t i = 0; i < n; i++) {
		print_field(kdr_data_name(task));
		putchar(',');
		snprintf(number, sizeof number, "%lld", (long long)i + 1);
		print_field(ids ? ids[i] : number);
		printf(",%.6g,%.6g\n", xy[2 * i], xy[2 * i + 1]);
	}
}

static void embed_put(cli_run *run, const kdr_embedding *e)
{
	const cli_tasks *tasks = &run->tasks;
	const bool files = cli_get(run->args, "output", NULL) != NULL;
	const double **xy = cli_new((size_t)tasks->count, sizeof *xy);
	if (files && !cli_quiet(run->args))
		cli_printf("preprocessing: %s\n", kdr_embedding_preprocessing(e));
	if (!files)
		puts("task,id,x,y");
	for (int64_t t = 0; t < tasks->count; t++) {
		int64_t n;
		xy[t] = kdr_embedding_task(e, t, &n);
		if (files)
			write_task(run, tasks->data[t], xy[t], n);
		else
			print_task(tasks->data[t], xy[t], n);
	}
	cli_check(cli_write_back(run, xy));
}

static void embed_run(cli_run *run)
{
	const cli_args *args = run->args;
	const cli_tasks *tasks = &run->tasks;
	kdr_embedding *embedding = NULL;
	kdr_embed_options o;
	kdr_embed_options_init(&o);
	o.layout = (kdr_embed_layout)cli_get_choice(args, "layout", KDR_EMBED_FORCES);
	cli_get_int(args, "neighbors", 1, 1000, &o.neighbors);
	cli_get_int(args, "sweeps", 1, 1000000, &o.sweeps);
	cli_session_open(run);
	const kdr_job_options *job = cli_job_read(run);
	cli_tasks_read_positional(run);
	if (cli_get(args, "output", NULL))
		embed_check(run);
	cli_check(cli_write_back(run, NULL));
	o.prep = job->prep;
	o.choice = job->choice;
	cli_session_limit(run->ctx);
	cli_check(kdr_embed(run->ctx, tasks->data, tasks->count, &o, &embedding));
	cli_check(kdr_outputs_begin(run->ctx, NULL));
	embed_put(run, embedding);
	cli_check(kdr_outputs_end(run->ctx, KDR_OK));
	for (int64_t t = 0; t < tasks->count && cli_get(args, "output", NULL) && !cli_quiet(args); t++) {
		const cli_path to = path_of(args, tasks->data[t]);
		cli_printf("written: %s\n", to.path);
	}
	cli_write_back_print(run);
	kdr_embedding_free(embedding);
	if (cli_interrupted())
		cli_end(EXIT_INTERRUPTED);
}

cli_command cli_embed = {
	.name = "embed",
	.usage = "[--layout LAYOUT] [-o DIR] TASK...",
	.summary = "compute the two-dimensional map of the samples that the report shows",
	.description =
	        "Computes a two-dimensional map of the samples, with similar samples close together. Writes x, y and, if "
	        "available, the id of every sample to <task>.embedding.csv, one line per sample.\n\n"
	        "Several data sets are drawn on the same axes. Samples of different data sets attract each other if they "
	        "are mutual nearest neighbours after the mean of each data set is subtracted.\n\n"
	        "Only proximity is meaningful: the axes have no units, and neither distances between far groups nor group "
	        "sizes can be compared. The same seed gives the same coordinates.",
	.example = "kindred embed -o out cornell.mtx texas.mtx\n"
	           "# the two leading directions, as a NumPy array\n"
	           "kindred embed --layout directions --to npy -o out counts.csv",
	.groups = { { "Options", own_options }, CLI_DATA_GROUPS },
	.completes_files = true,
	.run = embed_run,
};
