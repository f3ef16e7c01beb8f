/* kindred report. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static const cli_option own_options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .value = "FILE",
	  .help = "file to write the page to (default: report.html next to the result)" },
	{ .name = "open", .help = "open the page in the default browser, if one is available" },
	{ .name = "force", .help = "replace an existing file" },
	CLI_OPTIONS_END,
};

static const cli_option_group groups[] = {
	{ "Options", own_options },
	{ "Common", cli_common_options },
	{ NULL, NULL },
};

/* Starts a program with the page as its argument, without a shell between. A browser that goes on running has been started;
 * one that ends at once with an error has not. */
static bool report_start(const char *program, char *page)
{
	enum { TRIES = 20 };
	const struct timespec pause = { .tv_nsec = 50000000 };
	char *const words[] = { (char *)program, page, NULL };
	posix_spawn_file_actions_t files;
	pid_t child, ended = 0;
	int status = 0;
	/* without its streams: a reader of the output of this program must not wait for the browser */
	if (posix_spawn_file_actions_init(&files) != 0)
		return false;
	for (int fd = 0; fd < 3 && status == 0; fd++)
		status = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY,
		                                          0);
	if (status == 0)
		status = posix_spawnp(&child, program, &files, NULL, words, environ);
	posix_spawn_file_actions_destroy(&files);
	if (status != 0)
		return false;
	for (int i = 0; i < TRIES && ended == 0; i++) {
		ended = waitpid(child, &status, WNOHANG);
		if (ended == 0)
			nanosleep(&pause, NULL);
	}
	return ended == 0 || (ended == child && status == 0);
}

/* The page in the default browser: the one BROWSER names, or the one the desktop knows. Where there is none the page is
 * written all the same. */
static void open_page(const char *html)
{
#ifdef __APPLE__
	static const char *const known[] = { "open" };
	bool screen = true;
#else
	static const char *const known[] = { "xdg-open", "x-www-browser", "sensible-browser" };
	bool screen = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
#endif
	const char *own = getenv("BROWSER");
	size_t room = strlen(html) + 3;
	char *page = malloc(room);
	bool done = false;
	if (page) {
		/* a name that begins with a dash is no option */
		snprintf(page, room, "%s%s", html[0] == '-' ? "./" : "", html);
		if (own && own[0]) /* works without a screen too: some browsers do, and some run elsewhere */
			done = report_start(own, page);
		for (size_t i = 0; i < sizeof known / sizeof known[0] && screen && !done; i++)
			done = report_start(known[i], page);
	}
	if (!done)
		cli_warn("--open: no browser could be started%s; open %s yourself",
		         screen || own ? "" : " (no screen: DISPLAY is not set)", html);
	free(page);
}

static int report_run(cli_args *args)
{
	int code;
	char *beside = NULL;
	const char *json = cli_positional(args, 0), *html = cli_get(args, "output", NULL);
	if (cli_positional_count(args) != 1) {
		cli_error("report needs one RESULT.json (got %d)", cli_positional_count(args));
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
	.summary = "write a result as one self-contained HTML page",
	.description =
	        "Writes a result as one self-contained HTML page, which you can open offline, email and print. RESULT.json "
	        "is a result of cluster, transfer, relate or bench (bench.json). The page has a map of the samples only if the result was "
	        "computed with --report.",
	.example = "kindred report --open out/result.json",
	.groups = groups,
	.completes_files = true,
	.run = report_run,
};
