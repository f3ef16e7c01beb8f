/* kindred report. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static const cli_option own_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .value = "FILE",
	  .help = "where to write the page (default report.html beside the result)" },
	{ .name = "force", .help = "replace an existing file" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

static int run(cli_args *args)
{
	int code;
	char *beside = NULL;
	const char *json = cli_positional(args, 0), *html = cli_get(args, "output", NULL);
	if (cli_positional_count(args) != 1) {
		cli_error("report needs one RESULT.json; %d given", cli_positional_count(args));
		return EXIT_USAGE;
	}
	kdr_context *ctx = cli_session_open(args, &code);
	if (!ctx)
		return code;
	if (!html) {
		const char *slash = strrchr(json, '/');
		size_t folder = slash ? (size_t)(slash - json) + 1 : 0;
		beside = malloc(folder + sizeof "report.html");
		if (!beside) {
			cli_error("out of memory");
			code = EXIT_OTHER;
			goto done;
		}
		memcpy(beside, json, folder);
		strcpy(beside + folder, "report.html");
		html = beside;
	}
	kdr_status st = kdr_report(ctx, json, html, cli_flag(args, "force"));
	if (st != KDR_OK)
		code = cli_fail_reading(ctx, st);
	else if (!cli_quiet(args))
		cli_printf("written: %s\n", html);
done:
	free(beside);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_report = {
	.name = "report",
	.usage = "[-o FILE] RESULT.json",
	.summary = "turn a result into one self-contained HTML page",
	.description =
	        "The page holds everything it needs: it can be opened without a network, mailed and printed.",
	.example = "kindred report out/result.json",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
