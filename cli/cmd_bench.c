/* kindred bench. SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "core/system.h"
#include "system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const cli_option own_options[] = {
	{ .name = "list", .help = "list the presets" },
	{ .name = "show",
	  .value = "PRESET",
	  .help = "print the plan of a preset, as a template for your own" },
	{ .name = "plan", .value = "FILE", .help = "run your own plan (JSON)" },
	{ .name = "methods", .value = "M[,M2,...]", .help = "compare these methods on the given TASKs" },
	{ .name = "clusters",
	  .letter = 'k',
	  .value = "K[,K2,...]",
	  .help = "with --methods: number of clusters: one value for all data sets, or one each (default: the number of known classes)" },
	{ .name = "set",
	  .value = "NAME=VALUE",
	  .repeats = true,
	  .help = "with --methods: set an option for every method that has it" },
	{ .name = "grid",
	  .value = "NAME=V,V2,...",
	  .repeats = true,
	  .help = "with --methods: try several values of an option, one row for each" },
	{ .name = "pick", .help = "with --grid: show only the best setting, chosen by the known classes" },
	{ .name = "repeats",
	  .value = "N",
	  .help = "number of repeats of each row (default: as in the plan, or 10)" },
	{ .name = "sample",
	  .value = "N",
	  .help = "use at most N samples of each data set, drawn again for each repeat" },
	{ .name = "only",
	  .value = "TEXT",
	  .repeats = true,
	  .help = "with -o DIR: run and print only the rows of presets whose file name, PRESET/TABLE/ROW.json, contains this text" },
	{ .name = "format",
	  .value = "md|csv|latex",
	  .help = "print tables as Markdown (default), LaTeX, or CSV with one line per row, data set and score" },
	{ .name = "quick", .help = "run a quick preview: 2 repeats, at most 300 samples per data set" },
	{ .name = "output",
	  .letter = 'o',
	  .value = "DIR",
	  .help = "write bench.md (with --format: bench.csv or bench.tex) and bench.json to this folder; for presets also one file per row, so that a stopped run can continue" },
	{ .name = "force", .help = "replace existing files" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Main options", own_options },
	{ "Preprocessing, with --methods", cli_prep_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* --- running -------------------------------------------------------------------------------------------- */

int bench_plan_adjust(const cli_args *args, bench_plan *plan)
{
	int64_t repeats = 0, sample = 0;
	if (!cli_get_int(args, "repeats", 1, 100000, &repeats) ||
	    !cli_get_int(args, "sample", 2, INT64_MAX, &sample))
		return EXIT_USAGE;
	if (cli_flag(args, "quick")) {
		repeats = repeats ? repeats : 2;
		sample = sample ? sample : 300;
	}
	for (int t = 0; t < plan->ntables; t++) {
		plan->tables[t].repeats = repeats ? (int)repeats : plan->tables[t].repeats;
		plan->tables[t].sample = sample ? sample : plan->tables[t].sample;
	}
	return EXIT_DONE;
}

/* What all tables of all plans gave, as text and as JSON. */
typedef struct record {
	cli_text out;
	kdri_json json;
	int runs, failed;
	const bench_set_of_rows *rows; /* where rows have files, these; else NULL */
	const char *folder;
	bool only; /* some rows of them */
	bench_format format;
	int tables; /* printed so far */
} record;

static const char *const formats[] = {
	[BENCH_MARKDOWN] = "md", [BENCH_CSV] = "csv", [BENCH_LATEX] = "latex"
};
static const char *const file_names[] = {
	[BENCH_MARKDOWN] = "bench.md", [BENCH_CSV] = "bench.csv", [BENCH_LATEX] = "bench.tex"
};

/* --format. Exit status. */
static int read_format(const cli_args *args, bench_format *out)
{
	const char *given = cli_get(args, "format", "md");
	for (int f = 0; f < 3; f++)
		if (strcmp(given, formats[f]) == 0) {
			*out = (bench_format)f;
			return EXIT_DONE;
		}
	cli_error("--format: '%s' is not valid; use md, csv or latex", given);
	return EXIT_USAGE;
}

/* What is printed: a table, or the totals of a plan. */
typedef struct printed {
	const bench_outcome *outcome;
	const bench_summary *summary;
	const record *record;
} printed;

static void print_part(FILE *out, const void *part)
{
	const printed *p = part;
	if (p->outcome)
		bench_print(out, p->outcome, p->record->format, p->record->tables == 0);
	else
		bench_summary_print(out, p->summary, p->record->format);
}

static void put_part(const cli_args *args, const printed *p)
{
	if (!cli_quiet(args)) {
		cli_print_by(stdout, print_part, p);
		fflush(stdout);
	}
	if (p->record->out.stream)
		print_part(p->record->out.stream, p);
}

static int run_here(kdr_context *ctx, const cli_args *args, bench_outcome *out)
{
	int64_t seed = 1;
	double limit = 0;
	if (!cli_get_int(args, "seed", 0, INT64_MAX / 2, &seed) ||
	    !cli_get_real(args, "time-limit", 0, INFINITY, &limit))
		return EXIT_USAGE;
	return bench_run(ctx, &(bench_how){ .seed = (uint64_t)seed, .limit = limit, .row = -1 }, out->table,
	                 out);
}

/* A table from the files of its rows. */
static int bench_gather(kdr_context *ctx, const record *r, bench_outcome *out)
{
	char path[4096];
	bool done;
	double seconds;
	int code = EXIT_DONE;
	for (int i = 0; i < r->rows->nunits && code == EXIT_DONE; i++) {
		const bench_unit *u = &r->rows->units[i];
		if (&u->plan->tables[u->table] == out->table &&
		    bench_unit_path(u, r->folder, path, sizeof path))
			code = bench_unit_read(ctx, u, path, &done, &seconds, out);
	}
	if (code != EXIT_DONE)
		bench_outcome_free(out);
	return code;
}

static int run_table(kdr_context *ctx, const cli_args *args, const bench_plan *plan, int table,
                     bench_summary *summary, record *r)
{
	bench_outcome outcome = { .table = &plan->tables[table] };
	int code = r->rows ? bench_gather(ctx, r, &outcome) : run_here(ctx, args, &outcome);
	if (code != EXIT_DONE || (r->only && outcome.nlines == 0)) {
		bench_outcome_free(&outcome);
		return code;
	}
	outcome.some = r->only;
	put_part(args, &(printed){ .outcome = &outcome, .record = r });
	r->tables++;
	bench_json(&r->json, &outcome);
	for (int l = 0; l < outcome.nlines; l++) {
		r->runs += outcome.lines[l].runs;
		r->failed += outcome.lines[l].failed;
	}
	if (plan->summary)
		bench_summary_add(summary, table, &outcome);
	bench_outcome_free(&outcome);
	return cli_interrupted() ? EXIT_INTERRUPTED : EXIT_DONE;
}

static int run_plan(kdr_context *ctx, const cli_args *args, const bench_plan *plan, record *r)
{
	bench_summary summary = { 0 };
	int code = plan->summary ? bench_summary_new(plan, &summary) : EXIT_DONE;
	for (int t = 0; t < plan->ntables && code == EXIT_DONE; t++)
		code = run_table(ctx, args, plan, t, &summary, r);
	if (plan->summary && !r->only && (code == EXIT_DONE || code == EXIT_INTERRUPTED))
		put_part(args, &(printed){ .summary = &summary, .record = r });
	bench_summary_free(&summary);
	return code;
}

static int write_outputs(kdr_context *ctx, const cli_args *args, record *r)
{
	const char *folder = cli_get(args, "output", NULL);
	char path[4096];
	char *text = cli_text_close(&r->out);
	if (!text || r->json.failed) {
		free(text);
		cli_error("out of memory");
		return EXIT_OTHER;
	}
	bool force = cli_flag(args, "force");
	snprintf(path, sizeof path, "%s/%s", folder, file_names[r->format]);
	kdr_status st = kdr_write_file(ctx, path, text, r->out.length, force);
	free(text);
	snprintf(path, sizeof path, "%s/bench.json", folder);
	if (st == KDR_OK)
		st = kdr_write_file(ctx, path, r->json.text, r->json.used, force);
	if (st != KDR_OK)
		return cli_fail(ctx, st);
	if (!cli_quiet(args))
		cli_printf("%swritten to %s: %s, bench.json\n", r->format == BENCH_CSV ? "\n" : "", folder,
		           file_names[r->format]);
	return EXIT_DONE;
}

/* The plans asked for, one after another: --plan, --methods, or every preset named. */
static int run_all(kdr_context *ctx, const cli_args *args, record *r)
{
	const char *file = cli_get(args, "plan", NULL);
	bool methods = cli_get(args, "methods", NULL) != NULL;
	int count = file || methods ? 1 : cli_positional_count(args), code = EXIT_DONE;
	kdri_json_object(&r->json, NULL);
	kdri_json_string(&r->json, "kindred", kdr_version());
	kdri_json_string(&r->json, "command", "bench");
	kdri_json_array(&r->json, "tables");
	for (int i = 0; r->rows && i < r->rows->nplans && code == EXIT_DONE; i++)
		code = run_plan(ctx, args, &r->rows->plans[i], r);
	for (int i = 0; i < count && code == EXIT_DONE && !r->rows; i++) {
		bench_plan plan = { 0 };
		code = methods ? bench_plan_from_args(ctx, args, &plan)
		       : file  ? bench_plan_read(file, &plan)
		               : bench_preset_read(cli_positional(args, i), &plan);
		if (code == EXIT_DONE)
			code = bench_plan_adjust(args, &plan);
		if (code == EXIT_DONE)
			code = run_plan(ctx, args, &plan, r);
		bench_plan_free(&plan);
	}
	kdri_json_end_array(&r->json);
	kdri_json_end_object(&r->json);
	return code;
}

/* Presets with a folder: every row a file; with `tables` also the tables from these. */
static int run_rows(kdr_context *ctx, const cli_args *args, bool all, bool tables, record *r)
{
	bench_set_of_rows rows = { 0 };
	const char *folder = cli_get(args, "output", NULL);
	int code = bench_set_of_rows_read(args, all, &rows);
	if (code == EXIT_DONE)
		code = bench_rows_run(ctx, args, rows.units, rows.nunits, folder);
	if (code == EXIT_DONE && tables) {
		r->rows = &rows;
		r->folder = folder;
		code = run_all(ctx, args, r);
		r->rows = NULL;
	}
	bench_set_of_rows_free(&rows);
	return code;
}

/* Fails before any work if a file is in the way. */
static int bench_check_outputs(const cli_args *args, bench_format format)
{
	const char *folder = cli_get(args, "output", NULL);
	char path[4096];
	if (!folder)
		return EXIT_DONE;
	int code = cli_make_folder(folder);
	const char *const names[] = { file_names[format], "bench.json" };
	for (int i = 0; i < 2 && code == EXIT_DONE && !cli_flag(args, "force"); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		if (kdri_exists(path)) {
			cli_error("%s already exists; use --force to replace it", path);
			code = EXIT_USAGE;
		}
	}
	return code;
}

static int bench_command(cli_args *args)
{
	int code;
	const char *preset = cli_get(args, "show", NULL), *text;
	bool methods = cli_get(args, "methods", NULL), file = cli_get(args, "plan", NULL);
	size_t size;
	record r = { 0 };
	if (cli_flag(args, "list"))
		return bench_presets_list();
	if (preset) {
		if ((code = bench_preset_find(preset, &text, &size)) == EXIT_DONE)
			fwrite(text, 1, size, stdout);
		return cli_finish(code);
	}
	if (methods + file > 1 || (file && cli_positional_count(args) > 0) ||
	    (!methods && !file && cli_positional_count(args) == 0)) {
		cli_error(
		        "bench needs one of: preset names ('kindred bench --list' lists them), --plan FILE, or --methods with data files");
		return EXIT_USAGE;
	}
	const char *folder = cli_get(args, "output", NULL);
	bool all = !methods && !file && strcmp(cli_positional(args, 0), "all") == 0;
	bool by_rows = folder && !methods && !file;
	if (all && (!folder || cli_positional_count(args) > 1)) {
		cli_error("bench all needs -o DIR, the folder for the results, and no other preset");
		return EXIT_USAGE;
	}
	bool only = cli_get(args, "only", NULL);
	if (only && !by_rows) {
		cli_error("--only needs presets and -o DIR, the folder with their rows");
		return EXIT_USAGE;
	}
	bool tables = !all && !only; /* some rows make no table to be kept, but are printed */
	if ((code = read_format(args, &r.format)) != EXIT_DONE)
		return code;
	r.only = only;
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	code = tables ? bench_check_outputs(args, r.format) : cli_make_folder(folder);
	if (code == EXIT_DONE && folder && tables && !cli_text_open(&r.out))
		code = bench_no_memory();
	if (code == EXIT_DONE)
		code = by_rows ? run_rows(ctx, args, all, tables || only, &r) : run_all(ctx, args, &r);
	/* Some that fail are a finding, and stand under the table; all are a failure. */
	bool none = code == EXIT_DONE && r.runs > 0 && r.failed == r.runs;
	if (r.out.stream && (code == EXIT_DONE || (code == EXIT_INTERRUPTED && !by_rows))) {
		int written = write_outputs(ctx, args, &r);
		code = written == EXIT_DONE ? code : written;
	}
	if (r.out.stream)
		free(cli_text_close(&r.out));
	kdri_json_free(&r.json);
	cli_session_close(ctx);
	if (none && code == EXIT_DONE) {
		cli_error("bench: all %d runs failed; the lines below the table give the reasons", r.failed);
		code = EXIT_OTHER;
	}
	return cli_finish(code);
}

/* The presets and, first of all, "all". */
static const char *preset_name(int index)
{
	const char *text;
	size_t size;
	return index == 0 ? "all" : bench_preset(index - 1, &text, &size);
}

const cli_command cli_bench = {
	.name = "bench",
	.usage = "PRESET... | all -o DIR | --plan FILE | --methods M[,M2,...] TASK... [OPTION...]",
	.summary = "compare methods: tables of means and standard deviations",
	.description =
	        "Compares methods on the same data with the same seeds, and prints tables of means and standard "
	        "deviations. PRESETs reproduce tables of papers and show the published figures next to ours; set "
	        "KINDRED_DATA to the folder with their data. With --methods, the known classes of each TASK are read from "
	        "<stem>.labels next to it.\n\n"
	        "With -o DIR, the rows of presets run in parallel, one per thread, and each row is saved in its own file. "
	        "Run the same command again to continue a stopped run: saved rows are not computed again, unless the plan "
	        "has changed. 'all' runs every preset of a paper.\n\n"
	        "Repeat r uses the seed --seed + r. If a plan chooses settings by the known classes, as the papers do, the "
	        "header of its table states this. A plan is a JSON file, see docs/bench.md.",
	.example = "kindred bench --list\n"
	           "# three methods on two data sets, and several values of one option\n"
	           "kindred bench --methods kmeans,ncut,mbc --grid lambda=0.1,0.5 \\\n"
	           "    --weight tfidf --norm l2 a.mtx b.mtx",
	.groups = groups,
	.completes_files = true,
	.argument = preset_name,
	.run = bench_command,
};
