/* kindred report. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

static const cli_option own_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .value = "FILE",
	  .help = "where to write the page (default report.html beside the result)" },
	{ .name = "open", .help = "open the page in the default browser, where there is one" },
	{ .name = "force", .help = "replace an existing file" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* The page in the default browser, without a shell between. Where there is none the page is written all the same. */
static void open_page(const char *html)
{
#ifdef __APPLE__
	static char opener[] = "open";
	bool screen = true;
#else
	static char opener[] = "xdg-open";
	bool screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
#endif
	size_t room = strlen(html) + 3;
	char *path = malloc(room);
	pid_t child;
	int status = 1;
	if (path) {
		/* a name that begins with a dash is no option */
		snprintf(path, room, "%s%s", html[0] == '-' ? "./" : "", html);
		char *const words[] = { opener, path, NULL };
		if (screen && posix_spawnp(&child, opener, NULL, NULL, words, environ) == 0)
			waitpid(child, &status, 0);
	}
	if (status != 0)
		cli_warn("--open: no browser could be started here; open %s in one", html);
	free(path);
}

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
	if (st == KDR_OK && cli_flag(args, "open"))
		open_page(html);
done:
	free(beside);
	cli_session_close(ctx);
	return cli_finish(code);
}

const cli_command cli_report = {
	.name = "report",
	.usage = "[-o FILE] [--open] RESULT.json",
	.summary = "turn a result into one self-contained HTML page",
	.description =
	        "The page holds everything it needs: it can be opened without a network, mailed and printed. A result of cluster or "
	        "transfer that was written with --report has coordinates of its samples, and the page a map of them. A bench.json "
	        "becomes a page too.",
	.example = "kindred report --open out/result.json",
	.groups = groups,
	.completes_files = true,
	.run = run,
};
