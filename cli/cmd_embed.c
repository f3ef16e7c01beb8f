/* kindred embed. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
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

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Preprocessing, in this order", cli_prep_options },
	{ "Input files", cli_reading_options },
	CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

static cli_path path_of(const cli_args *args, const kdr_data *task)
{
	const bool npy = strcmp(cli_get(args, "to", "csv"), "npy") == 0;
	return cli_join(cli_get(args, "output", NULL), kdr_data_name(task),
	                npy ? ".embedding.npy" : ".embedding.csv");
}

/* What cannot be written is better known before the work. */
static int embed_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks)
{
	CLI_DO(cli_make_folder(cli_get(args, "output", NULL)));
	for (int64_t t = 0; t < tasks->count; t++) {
		const cli_path to = path_of(args, tasks->data[t]);
		CLI_DO(cli_code(ctx, kdr_write_check(ctx, to.path, cli_flag(args, "force"))));
	}
	return EXIT_DONE;
}

static int write_task(kdr_context *ctx, const cli_args *args, const kdr_data *task, const double *xy,
                      int64_t n)
{
	static const char *const axes[] = { "x", "y" };
	kdr_mat m = kdr_mat_from_dense(xy, n, 2);
	kdr_data *points = NULL;
	const cli_path to = path_of(args, task);
	kdr_status st = kdr_data_borrow(ctx, kdr_data_name(task), &m, axes, kdr_data_ids(task), &points);
	kdr_data_show_ids(points);
	if (st == KDR_OK)
		st = kdr_write(ctx, to.path, NULL, points, cli_flag(args, "force"));
	kdr_data_free(points);
	return cli_code(ctx, st);
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

static int embed_put(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks, const kdr_embedding *e)
{
	int code = EXIT_DONE;
	bool files = cli_get(args, "output", NULL) != NULL;
	if (files && !cli_quiet(args))
		cli_printf("preprocessing: %s\n", kdr_embedding_preprocessing(e));
	if (!files)
		puts("task,id,x,y");
	for (int64_t t = 0; t < tasks->count && code == EXIT_DONE; t++) {
		int64_t n;
		const double *xy = kdr_embedding_task(e, t, &n);
		if (files)
			code = write_task(ctx, args, tasks->data[t], xy, n);
		else
			print_task(tasks->data[t], xy, n);
	}
	return code;
}

static int write_h5ad(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks,
                      const kdr_embedding *embedding)
{
	const double **xy = calloc(tasks->count > 0 ? (size_t)tasks->count : 1, sizeof *xy);
	if (!xy)
		return cli_no_memory();
	for (int64_t t = 0; t < tasks->count; t++)
		xy[t] = kdr_embedding_task(embedding, t, NULL);
	int code = cli_write_back(ctx, args, tasks, 0, NULL, xy);
	free(xy);
	return code;
}

static void embed_print_written(const cli_args *args, const cli_tasks *tasks)
{
	for (int64_t t = 0; t < tasks->count && cli_get(args, "output", NULL) && !cli_quiet(args); t++) {
		const cli_path to = path_of(args, tasks->data[t]);
		cli_printf("written: %s\n", to.path);
	}
	cli_write_back_print(args, tasks, 0);
}

static int embed_run(cli_args *args)
{
	cli_tasks tasks = { 0 };
	kdr_embedding *embedding = NULL;
	kdr_embed_options o;
	kdr_job *job = NULL;
	kdr_embed_options_init(&o);
	o.layout = (kdr_embed_layout)cli_get_choice(args, "layout", KDR_EMBED_FORCES);
	if (!cli_get_int(args, "neighbors", 1, 1000, &o.neighbors) ||
	    !cli_get_int(args, "sweeps", 1, 1000000, &o.sweeps))
		return EXIT_USAGE;
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	int code = cli_job_read(ctx, args, &job);
	if (code == EXIT_DONE)
		code = cli_tasks_read_positional(ctx, args, &tasks);
	if (code == EXIT_DONE && cli_get(args, "output", NULL))
		code = embed_check(ctx, args, &tasks);
	if (code == EXIT_DONE)
		code = cli_write_back(ctx, args, &tasks, 0, NULL, NULL);
	if (code == EXIT_DONE) {
		o.prep = kdr_job_options_of(job)->prep;
		o.choice = kdr_job_options_of(job)->choice;
		cli_session_limit(ctx);
		kdr_status st = kdr_embed(ctx, tasks.data, tasks.count, &o, &embedding);
		if (st == KDR_OK)
			st = kdr_outputs_begin(ctx, NULL);
		code = st == KDR_OK ? embed_put(ctx, args, &tasks, embedding) : cli_fail(ctx, st);
		if (code == EXIT_DONE)
			code = write_h5ad(ctx, args, &tasks, embedding);
		if (code == EXIT_DONE && (st = kdr_outputs_end(ctx, KDR_OK)) != KDR_OK)
			code = cli_fail(ctx, st);
		if (code == EXIT_DONE)
			embed_print_written(args, &tasks);
		if (cli_interrupted())
			code = EXIT_INTERRUPTED;
	}
	kdr_embedding_free(embedding);
	kdr_job_free(job);
	cli_tasks_free(&tasks);
	return cli_session_close(ctx, code);
}

const cli_command cli_embed = {
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
	.groups = groups,
	.completes_files = true,
	.run = embed_run,
};
