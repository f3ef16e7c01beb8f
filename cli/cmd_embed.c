/* kindred embed. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const char *const formats[] = { "csv", "npy", NULL };

static const cli_option own_options[] = {
	{ .name = "layout",
	  .value = "LAYOUT",
	  .listed = true,
	  .help = "forces (default): neighbours attract, others repel; directions: the two along which samples differ most" },
	{ .name = "neighbors",
	  .value = "N",
	  .help = "how many neighbours attract a sample (default 15, fewer where there are few samples)" },
	{ .name = "sweeps",
	  .value = "N",
	  .help = "how often the forces move all points (default 300 to 500, by the number of samples)" },
	{ .name = "to", .value = "FORMAT", .choices = formats, .help = "the files' format (default csv)" },
	{ .name = "output", .letter = 'o', .value = "DIR", .help = "write <task>.embedding.csv to DIR" },
	{ .name = "write-h5ad",
	  .value = "FILE",
	  .help = "give the input back as AnnData, with obsm[\"X_kindred\"]; FILE-TASK for several" },
	{ .name = "force", .help = "replace existing files" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },         { "Preprocessing, in this order", cli_prep_options },
	{ "Reading", cli_reading_options }, CLI_TEXT_GROUPS,
	{ "Common", cli_common_options },   { NULL, NULL },
};

static char *path_of(const cli_args *args, const kdr_data *task)
{
	const char *folder = cli_get(args, "output", NULL), *ending = cli_get(args, "to", "csv");
	size_t room = strlen(folder) + strlen(kdr_data_name(task)) + 32;
	char *path = malloc(room);
	if (path)
		snprintf(path, room, "%s/%s.embedding.%s", folder, kdr_data_name(task), ending);
	else
		cli_error("out of memory");
	return path;
}

/* What cannot be written is better known before the work. */
static int embed_check(kdr_context *ctx, const cli_args *args, const cli_tasks *tasks)
{
	int code = cli_make_folder(cli_get(args, "output", NULL));
	for (int64_t t = 0; t < tasks->count && code == EXIT_DONE; t++) {
		char *path = path_of(args, tasks->data[t]);
		kdr_status st = path ? kdr_write_check(ctx, path, cli_flag(args, "force")) : KDR_OK;
		code = !path ? EXIT_OTHER : st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
		free(path);
	}
	return code;
}

static int write_task(kdr_context *ctx, const cli_args *args, const kdr_data *task, const double *xy,
                      int64_t n)
{
	static const char *const axes[] = { "x", "y" };
	kdr_mat m = kdr_mat_from_dense(xy, n, 2);
	kdr_data *points = NULL;
	char *path = path_of(args, task);
	int code = EXIT_OTHER;
	if (path) {
		kdr_status st =
		        kdr_data_borrow(ctx, kdr_data_name(task), &m, axes, kdr_data_ids(task), &points);
		if (st == KDR_OK)
			st = kdr_write(ctx, path, NULL, points, cli_flag(args, "force"));
		code = st == KDR_OK ? EXIT_DONE : cli_fail(ctx, st);
	}
	if (code == EXIT_DONE && !cli_quiet(args))
		cli_printf("written: %s\n", path);
	kdr_data_free(points);
	free(path);
	return code;
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
	if (!xy) {
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	for (int64_t t = 0; t < tasks->count; t++)
		xy[t] = kdr_embedding_task(embedding, t, NULL);
	int code = cli_write_back(ctx, args, tasks, 0, NULL, xy);
	free(xy);
	return code;
}

static int embed_run(cli_args *args)
{
	int code;
	cli_tasks tasks = { 0 };
	kdr_embedding *embedding = NULL;
	kdr_embed_options o;
	kdr_prep_options prep;
	kdr_embed_options_init(&o);
	o.prep = &prep;
	o.layout = (kdr_embed_layout)cli_get_choice(args, "layout", KDR_EMBED_FORCES);
	if (!cli_get_int(args, "neighbors", 1, 1000, &o.neighbors) ||
	    !cli_get_int(args, "sweeps", 1, 1000000, &o.sweeps) || !cli_prep_read(args, &prep, &o.choice))
		return EXIT_USAGE;
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	code = cli_tasks_read_positional(ctx, args, &tasks);
	if (code == EXIT_DONE && cli_get(args, "output", NULL))
		code = embed_check(ctx, args, &tasks);
	if (code == EXIT_DONE)
		code = cli_write_back(ctx, args, &tasks, 0, NULL, NULL);
	if (code == EXIT_DONE) {
		cli_session_limit(ctx);
		kdr_status st = kdr_embed(ctx, tasks.data, tasks.count, &o, &embedding);
		code = st == KDR_OK ? embed_put(ctx, args, &tasks, embedding) : cli_fail(ctx, st);
		if (code == EXIT_DONE)
			code = write_h5ad(ctx, args, &tasks, embedding);
		if (cli_interrupted())
			code = EXIT_INTERRUPTED;
	}
	kdr_embedding_free(embedding);
	cli_tasks_free(&tasks);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_embed = {
	.name = "embed",
	.usage = "[--layout LAYOUT] [-o DIR] TASK...",
	.summary = "lay samples out in two dimensions, as the report draws them",
	.description =
	        "Writes x and y of every sample to <task>.embedding.csv, a line a sample, with its id where there is one; "
	        "without -o, to standard output. Samples that are alike lie together. Several tasks are drawn on common "
	        "axes: samples of different tasks that are each other's nearest, once each task's mean is taken away, pull "
	        "each other to the same place.\n\n"
	        "Only nearness means something: axes have no names, and neither the distance of far groups nor their sizes "
	        "can be compared. The same seed gives the same coordinates.",
	.example = "kindred embed -o out cornell.mtx texas.mtx\n"
	           "# the two leading directions alone, as an array\n"
	           "kindred embed --layout directions --to npy -o out counts.csv",
	.groups = groups,
	.completes_files = true,
	.run = embed_run,
};
