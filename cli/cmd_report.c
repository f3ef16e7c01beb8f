/* kindred report. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/system.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	CLI_VALUE("output", "FILE", "file to write the page to (default: report.html next to the result)",
	          .letter = 'o'),
	CLI_FLAG("open", "open the page in the default browser, if one is available"),
	CLI_FLAG("force", "replace an existing file"),
	CLI_OPTIONS_END,
};

static cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The page is written even if no browser can be started. */
static void report_open(const char *html)
{
	const char *why = "";
	if (!cli_open_page(html, &why))
		cli_warn("--open: no browser could be started%s; open %s yourself", why, html);
}

static int report_run(cli_args *args)
{
	char beside[8192];
	const char *json = cli_positional(args, 0), *html = cli_get(args, "output", NULL);
	if (cli_positional_count(args) != 1)
		return cli_usage_error("report needs one RESULT.json (got %d)", cli_positional_count(args));
	kdr_context *ctx;
	CLI_DO(cli_session_open(args, &ctx));
	if (!html) {
		snprintf(beside, sizeof beside, "%.*sreport.html", (int)kdri_folder_length(json), json);
		html = beside;
	}
	kdr_status st = kdr_report(ctx, json, html, cli_flag(args, "force"));
	if (st == KDR_OK && !cli_quiet(args))
		cli_printf("written: %s\n", html);
	if (st == KDR_OK && cli_flag(args, "open"))
		report_open(html);
	return cli_session_close(ctx, cli_code_reading(ctx, st));
}

const cli_command cli_report = {
	.name = "report",
	.usage = "[-o FILE] [--open] RESULT.json",
	.summary = "write a result as one self-contained HTML page",
	.description =
	        "Writes a result as one self-contained HTML page, which you can open offline, email and print. RESULT.json "
	        "is a result of cluster, transfer or relate, or a bench.json of python -m kindred.bench. The page has a map of the samples only if the result was "
	        "computed with --report.",
	.example = "kindred report --open out/result.json",
	.groups = groups,
	.completes_files = true,
	.run = report_run,
};
