/* kindred relabel. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

static const cli_option own_options[] = {
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

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The page of the result in a folder. */
static kdr_status write_report(kdr_context *ctx, const char *folder, bool check, bool force)
{
	const cli_path json = cli_join(folder, "result", ".json"), html = cli_join(folder, "report", ".html");
	if (!check)
		return kdr_report(ctx, json.path, html.path, force);
	kdr_status st = kdr_write_check(ctx, html.path, force);
	return st == KDR_OK ? kdr_outputs_expect(ctx, html.path) : st; /* result.json lists it */
}

static int relabel_run(cli_args *args)
{
	const char *result = cli_positional(args, 0), *names = cli_get(args, "names", NULL),
	           *edits = names ? names : cli_positional(args, 1), *folder = cli_get(args, "output", NULL);
	const bool report = cli_flag(args, "report"), force = cli_flag(args, "force");
	const kdr_relabel_options options = { .size = sizeof options,
		                              .h5ad = cli_get(args, "write-h5ad", NULL),
		                              .key = cli_get(args, "key-added", NULL),
		                              .table = cli_get(args, "write-table", NULL),
		                              .columns = cli_get(args, "write-columns", NULL),
		                              .model = cli_get(args, "model", NULL) };
	kdr_status st = KDR_OK;
	if (cli_positional_count(args) != (names ? 1 : 2))
		return cli_usage_error(
		        names ? "relabel with --names needs one RESULT.json and no EDITS.json (got %d files)"
		              : "relabel needs RESULT.json and EDITS.json, or --names (got %d files)",
		        cli_positional_count(args));
	if (!folder)
		return cli_usage_error("relabel needs -o DIR to write to");
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	int code = cli_names_read(ctx, args, NULL);
	if (code == EXIT_DONE)
		code = cli_make_folder(folder);
	if (code == EXIT_DONE) {
		st = kdr_outputs_begin(ctx, folder);
		if (st == KDR_OK && report)
			st = write_report(ctx, folder, true, force);
		if (st == KDR_OK)
			st = kdr_relabel(ctx, result, edits, folder, &options, force);
		if (st == KDR_OK && report)
			st = write_report(ctx, folder, false, force);
		st = kdr_outputs_end(ctx, st);
	}
	if (st != KDR_OK)
		code = cli_code_reading(ctx, st);
	else if (code == EXIT_DONE && !cli_quiet(args))
		cli_printf("written: %s\n", folder);
	return cli_session_close(ctx, code);
}

const cli_command cli_relabel = {
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
	.groups = groups,
	.completes_files = true,
	.run = relabel_run,
};
