/* Errors, progress, interruption: what surrounds every command. SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"
#include "core/stages.h"
#include "core/system.h"
#include "core/utf8.h"
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds after which an HDF5 file that yields nothing is damaged. */
static const double hdf5_patience = 30;

static volatile sig_atomic_t interrupts;

static struct {
	double start, limit; /* seconds; limit 0: none */
	bool quiet;          /* warnings are not printed */
	bool strict;         /* warnings of the library are refusals */
	bool refused;
} session;

static struct {
	bool show;      /* a progress line is wanted */
	bool line_open; /* the terminal shows one now */
	bool verbose;
	double last_drawn; /* when, so that it is redrawn a few times a second at most */
} progress;

double cli_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void clear_line(void)
{
	if (progress.line_open)
		fputs("\r\033[K", stderr);
	progress.line_open = false;
}

void cli_print_safely(FILE *out, const char *text, size_t length)
{
	const char *end = text + length;
	for (const char *p = text; p < end;) {
		uint32_t c;
		size_t n = kdri_utf8_at(p, (size_t)(end - p), &c);
		bool obeyed = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0);
		if (n > 0 && !obeyed)
			fwrite(p, 1, n, out);
		for (size_t i = 0; (n == 0 || obeyed) && i < (n ? n : 1); i++)
			fprintf(out, "\\x%02x", (unsigned char)p[i]);
		p += n > 0 ? n : 1;
	}
}

void cli_print_data(const char *text, size_t length)
{
	if (cli_is_terminal(stdout))
		cli_print_safely(stdout, text, length);
	else
		fwrite(text, 1, length, stdout);
}

void cli_print_json(kdri_json *j)
{
	if (j->failed)
		cli_error("out of memory");
	else
		puts(j->text);
	kdri_json_free(j);
}

void cli_print_by(FILE *out, void (*print)(FILE *out, const void *what), const void *what)
{
	cli_text t;
	if (!cli_text_open(&t))
		return;
	print(t.stream, what);
	char *text = cli_text_close(&t);
	if (text)
		cli_print_safely(out, text, t.length);
	free(text);
}

static void print_line(const char *kind, const char *format, va_list args)
{
	clear_line();
	char text[4096];
	vsnprintf(text, sizeof text, format, args);
	fprintf(stderr, "kindred: %s", kind);
	cli_print_safely(stderr, text, strlen(text));
	fputc('\n', stderr);
}

void cli_printf(const char *format, ...)
{
	char text[4096];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	cli_print_safely(stdout, text, strlen(text));
}

static bool only_first, reported;

void cli_errors_once(void)
{
	only_first = true;
	reported = false;
}

void cli_error(const char *format, ...)
{
	va_list args;
	if (only_first && reported)
		return;
	reported = true;
	va_start(args, format);
	if (!cli_ranks_hold(format, args))
		print_line("", format, args);
	va_end(args);
}

void cli_warn(const char *format, ...)
{
	va_list args;
	if (cli_rank() > 0 || session.quiet)
		return;
	va_start(args, format);
	print_line("warning: ", format, args);
	va_end(args);
}

static int exit_code_of(kdr_status status)
{
	if (status == KDR_OK)
		return EXIT_DONE;
	switch (status / 10) {
	case 1: return EXIT_USAGE;
	case 2: return EXIT_DATA;
	case 3: return EXIT_NUMERIC;
	case 6: return EXIT_USAGE; /* the method cannot do what was requested */
	default: return EXIT_OTHER;
	}
}

int cli_fail(const kdr_context *ctx, kdr_status status)
{
	const char *detail = kdr_context_error(ctx);
	if (cli_interrupted())
		return cli_fail_with(EXIT_INTERRUPTED, "interrupted before a result was available");
	cli_error("%s", detail[0] ? detail : kdr_strerror(status));
	return exit_code_of(status);
}

int cli_code(const kdr_context *ctx, kdr_status status)
{
	return status == KDR_OK ? EXIT_DONE : cli_fail(ctx, status);
}

int cli_code_reading(const kdr_context *ctx, kdr_status status)
{
	int code = cli_code(ctx, status);
	return code != EXIT_INTERRUPTED && (status == KDR_ERR_UNSUPPORTED || status == KDR_ERR_SIZE)
	               ? EXIT_DATA
	               : code;
}

/* --- Ctrl-C ------------------------------------------------------------------------------------- */

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	if (++interrupts > 2) /* the third time the user means it: now */
		_exit(EXIT_INTERRUPTED);
}

bool cli_interrupted(void)
{
	return interrupts > 0;
}

/* --- progress ------------------------------------------------------------------------------------ */

static void session_draw(const kdr_event *e)
{
	char text[256];
	cli_progress_text(e, cli_now() - session.start, session.limit, text, sizeof text);
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	progress.line_open = true;
}

static int on_event(void *user, const kdr_event *e)
{
	(void)user;
	double now = cli_now();
	if (e->kind == KDR_EVENT_WARNING && session.strict) {
		cli_error("%s (an error because of --strict)", e->message);
		session.refused = true;
		return 1;
	}
	if (e->kind == KDR_EVENT_WARNING)
		cli_warn("%s", e->message);
	if (e->kind == KDR_EVENT_MESSAGE && progress.verbose) {
		clear_line();
		fputs("kindred: ", stderr);
		cli_print_safely(stderr, e->message, strlen(e->message));
		fputc('\n', stderr);
	} else if (progress.show && (e->kind == KDR_EVENT_START || e->kind == KDR_EVENT_ITERATION)) {
		if (e->kind == KDR_EVENT_START || now - progress.last_drawn > 0.1) {
			session_draw(e);
			progress.last_drawn = now;
		}
	} else if (e->kind == KDR_EVENT_END) {
		clear_line();
	}
	return cli_interrupted();
}

/* --- a record of the stages, for bench/stages.py ---------------------------------------------------- */

/* If the environment variable KINDRED_STAGES names a file, one line per begin and end of a stage is appended to it: the thread,
 * "begin", "end" or "start" (core/stages.h), seconds of the monotonic clock, processor seconds of the process, and the name of the
 * stage. */
static int stage_file = -1;

static void record_stage(const char *thread, const char *what, const char *stage)
{
	char line[160];
	const int used = snprintf(line, sizeof line, "%s,%s,%.6f,%.6f,%.60s\n", thread, what, cli_now(),
	                          (double)clock() / CLOCKS_PER_SEC, stage);
	if (stage_file >= 0 && write(stage_file, line, (size_t)used) != used) /* the disk is full */
		stage_file = -1;
}

void cli_stages_record(void)
{
	const char *path = getenv("KINDRED_STAGES");
	stage_file = path && *path ? kdri_open(path, O_WRONLY | O_CREAT | O_APPEND) : -1;
	kdri_stage_hook = stage_file >= 0 ? record_stage : NULL;
}

/* --- the session --------------------------------------------------------------------------------- */

bool cli_quiet(const cli_args *args)
{
	return cli_flag(args, "quiet");
}

/* With this much memory, in the machine or the container, the 256 MB of cli_keep_memory do not matter. */
static const double least_to_keep = 4e9;

int cli_session_open(const cli_args *args, kdr_context **out)
{
	int64_t seed = 1, threads = 0;
	double memory = 0, unpacked = 0;
	kdr_context *ctx = NULL;
	if (!cli_get_int(args, "seed", 0, INT64_MAX, &seed) ||
	    !cli_get_int(args, "threads", 1, 4096, &threads) ||
	    !cli_get_real(args, "time-limit", 0, INFINITY, &session.limit) ||
	    !cli_get_size(args, "max-memory", &memory) || !cli_get_size(args, "max-unpacked", &unpacked))
		return EXIT_USAGE;
	kdr_status st = kdr_context_new(&ctx, NULL);
	if (st != KDR_OK)
		return cli_fail(NULL, st);
	kdr_context_set_seed(ctx, (uint64_t)seed);
	kdr_context_set_threads(ctx, (int)threads);
	kdr_context_set_isolation(ctx, hdf5_patience);
	kdr_context_set_max_memory(ctx, memory);
	kdr_context_set_max_unpacked(ctx, unpacked);
	kdr_context_set_raw_cells(ctx, cli_flag(args, "raw-cells"));
	if (memory == 0 && kdri_memory_total() >= least_to_keep)
		cli_keep_memory();
	if ((st = kdr_context_protect_inputs(ctx)) == KDR_OK)
		st = kdr_context_set_device(ctx, cli_get(args, "device", NULL));
	if (st != KDR_OK) {
		const int code = st == KDR_ERR_ARGUMENT ? cli_usage_error("--%s", kdr_context_error(ctx))
		                                        : cli_fail(ctx, st);
		kdr_context_free(ctx);
		return code;
	}
	session.quiet = cli_quiet(args);
	progress.verbose = cli_flag(args, "verbose") && cli_rank() == 0;
	progress.show = !cli_quiet(args) && cli_rank() == 0 &&
	                strcmp(cli_get(args, "progress", cli_is_terminal(stderr) ? "1" : "0"), "1") == 0;
	kdr_context_set_progress(ctx, on_event, NULL);
	session.start = cli_now();
	cli_on_stop(on_interrupt);
	*out = ctx;
	return EXIT_DONE;
}

void cli_session_strict(void)
{
	session.strict = true;
}

bool cli_session_refused(void)
{
	return session.refused;
}

void cli_session_limit(kdr_context *ctx)
{
	double left = session.limit - (cli_now() - session.start);
	if (session.limit > 0)
		kdr_context_set_time_limit(ctx, left > 1e-9 ? left : 1e-9);
}

int cli_finish(int exit_code)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		cli_error("cannot write to standard output: %s", strerror(errno));
		return exit_code == EXIT_DONE ? EXIT_OTHER : exit_code;
	}
	return exit_code;
}

int cli_session_close(kdr_context *ctx, int exit_code)
{
	clear_line();
	kdr_context_free(ctx);
	cli_ranks_leave();
	return cli_finish(exit_code);
}
