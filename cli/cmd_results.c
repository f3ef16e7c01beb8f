/* Commands on the files of a result: kindred relabel, cut and report. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "system.h"

/* --- relabel -------------------------------------------------------------------------------------- */

static const cli_option relabel_options[] = {
	CLI_VALUE("output", "DIR", "folder to write to", .letter = 'o'),
	CLI_VALUE(
	        "names", "FILE",
	        "names of clusters instead of EDITS.json, one line each: the number and the name, such as 3,families"),
	CLI_VALUE("write-h5ad", "FILE",
	          "also write a copy of the .h5ad input with the edited labels, to this file"),
	CLI_KEY_OPTION,
	CLI_TABLE_OPTION,
	CLI_VALUE("model", "FILE", "also copy this model to DIR, with the edited names"),
	CLI_FLAG("report", "also write report.html, the page of the edited result"),
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_OPTIONS_END,
};

static void relabel_run(cli_run *run)
{
	const cli_args *args = run->args;
	const char *result = cli_positional(args, 0), *names = cli_get(args, "names", NULL),
	           *edits = names ? names : cli_positional(args, 1), *folder = cli_get(args, "output", NULL);
	const kdr_relabel_options options = { .size = sizeof options,
		                              .h5ad = cli_get(args, "write-h5ad", NULL),
		                              .key = cli_get(args, "key-added", NULL),
		                              .table = cli_get(args, "write-table", NULL),
		                              .columns = cli_get(args, "write-columns", NULL),
		                              .model = cli_get(args, "model", NULL),
		                              .report = cli_flag(args, "report") };
	if (cli_positional_count(args) != (names ? 1 : 2))
		cli_usage_error(
		        names ? "relabel with --names needs one RESULT.json and no EDITS.json (got %d files)"
		              : "relabel needs RESULT.json and EDITS.json, or --names (got %d files)",
		        cli_positional_count(args));
	if (!folder)
		cli_usage_error("relabel needs -o DIR to write to");
	cli_session_open(run);
	cli_names_read(run);
	cli_make_folder(folder);
	cli_lock_folder(folder);
	cli_check_reading(kdr_relabel(run->ctx, result, edits, folder, &options, cli_flag(args, "force")));
	if (!cli_quiet(args))
		cli_printf("written: %s\n", folder);
}

cli_command cli_relabel = {
	.name = "relabel",
	.usage = "[options] -o DIR RESULT.json (EDITS.json | --names FILE)",
	.summary = "apply edits made in the report to a result",
	.description =
	        "Writes a result again with other names, merged clusters and moved samples: result.json, <task>.labels and "
	        "<task>.samples.csv. EDITS.json is the file that the report saves under 'Edit'. RESULT.json is the result that "
	        "the report was made from.",
	.example = "kindred relabel --report -o final out/result.json edits.json\n"
	           "# names only, also in the model\n"
	           "kindred relabel --names names.csv --model out/m.h5 -o final out/result.json",
	.groups = { { "Options", relabel_options }, CLI_COMMON },
	.completes_files = true,
	.run = relabel_run,
};

/* --- cut ------------------------------------------------------------------------------------------ */

static const cli_option cut_options[] = {
	CLI_VALUE("clusters", "K[,K2,...]",
	          "number of clusters: one of the range that the result was made with, or one for each data "
	          "set",
	          .letter = 'k'),
	CLI_VALUE("output", "DIR", "folder to write to", .letter = 'o'),
	CLI_TABLE_OPTION,
	CLI_FLAG("force", "replace existing files"),
	CLI_RAW_OPTION,
	CLI_OPTIONS_END,
};

static void cut_run(cli_run *run)
{
	const cli_args *args = run->args;
	const char *folder = cli_get(args, "output", NULL), *text = cli_get(args, "clusters", NULL);
	if (cli_positional_count(args) != 1)
		cli_usage_error("cut needs one RESULT.json (got %d)", cli_positional_count(args));
	if (!text || !folder)
		cli_usage_error(text ? "cut needs -o DIR to write to"
		                     : "cut needs -k K: the number of clusters");
	const cli_list list = cli_list_split(text);
	int64_t *k = cli_new((size_t)list.count, sizeof *k);
	for (int i = 0; i < list.count; i++)
		k[i] = cli_positive("-k", list.items[i]);
	cli_session_open(run);
	cli_make_folder(folder);
	cli_lock_folder(folder);
	const kdr_status st = kdr_cut(run->ctx, cli_positional(args, 0), k, list.count, folder,
	                              cli_get(args, "write-table", NULL),
	                              cli_get(args, "write-columns", NULL), cli_flag(args, "force"));
	(st == KDR_ERR_ARGUMENT ? cli_check : cli_check_reading)(st);
	if (!cli_quiet(args))
		cli_printf("written: %s\n", folder);
}

cli_command cli_cut = {
	.name = "cut",
	.usage = "-k K[,K2,...] -o DIR RESULT.json",
	.summary = "write the clusters of a result for another k",
	.description =
	        "If 'kindred cluster' was run with a range such as -k 3-8, its result.json has the clusters for every number in the "
	        "range. This command writes those for one of them: <task>.labels and <task>.samples.csv for each data set.",
	.example = "kindred cluster -k 3-8 -o out customers.csv\n"
	           "kindred cut -k 5 -o five out/result.json",
	.groups = { { "Options", cut_options }, CLI_COMMON },
	.completes_files = true,
	.run = cut_run,
};

/* --- report --------------------------------------------------------------------------------------- */

static const cli_option report_options[] = {
	CLI_VALUE("output", "FILE", "file to write the page to (default: report.html next to the result)",
	          .letter = 'o'),
	CLI_FLAG("open", "open the page in the default browser, if one is available"),
	CLI_FLAG("force", "replace an existing file"),
	CLI_OPTIONS_END,
};

/* The page is written even if no browser can be started. */
static void report_open(const char *html)
{
	const char *why = "";
	if (!cli_open_page(html, &why))
		cli_warn("--open: no browser could be started%s; open %s yourself", why, html);
}

static void report_run(cli_run *run)
{
	const char *json = cli_positional(run->args, 0), *html = cli_get(run->args, "output", NULL);
	if (cli_positional_count(run->args) != 1)
		cli_usage_error("report needs one RESULT.json (got %d)", cli_positional_count(run->args));
	html = html ? html : cli_format("%.*sreport.html", (int)kdri_folder_length(json), json);
	cli_session_open(run);
	cli_check_reading(kdr_report(run->ctx, json, html, cli_flag(run->args, "force")));
	if (!cli_quiet(run->args))
		cli_printf("written: %s\n", html);
	if (cli_flag(run->args, "open"))
		report_open(html);
}

cli_command cli_report = {
	.name = "report",
	.usage = "[-o FILE] [--open] RESULT.json",
	.summary = "write a result as one self-contained HTML page",
	.description =
	        "Writes a result as one self-contained HTML page, which you can open offline, email and print. RESULT.json "
	        "is a result of cluster, transfer or relate, or a bench.json of python -m kindred.bench. The page has a map of the samples only if the result was "
	        "computed with --report.",
	.example = "kindred report --open out/result.json",
	.groups = { { "Options", report_options }, CLI_COMMON },
	.completes_files = true,
	.run = report_run,
};
