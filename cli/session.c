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
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds after which an HDF5 file that yields nothing is damaged. */
static const double hdf5_patience = 30;

static volatile sig_atomic_t interrupts;

static struct {
	cli_run *run; /* the command that runs now */
	double limit; /* seconds; 0: none */
	bool quiet;   /* warnings are not printed */
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

void cli_print_json(kdri_json *j)
{
	if (j->failed)
		cli_error("out of memory");
	else
		puts(j->text);
	kdri_json_free(j);
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

static void put_error(const char *format, va_list args)
{
	if (!(only_first && reported) && !cli_ranks_hold(format, args))
		print_line("", format, args);
	reported = true;
}

void cli_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_error(format, args);
	va_end(args);
}

void cli_stop(int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_error(format, args);
	va_end(args);
	cli_end(code);
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

int cli_output_error;

int cli_exit_code(kdr_status status)
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

int cli_code(kdr_status status)
{
	const char *detail = kdr_context_error(session.run ? session.run->ctx : NULL);
	if (status == KDR_OK)
		return EXIT_DONE;
	const bool nothing = cli_interrupted() && !(session.run && session.run->result);
	const bool late = session.limit > 0 && session.run && cli_now() - session.run->start > session.limit;
	if (nothing)
		cli_error("interrupted before a result was available");
	else if (late && status == KDR_ERR_READ)
		cli_error("%s: the time limit (--time-limit) was reached", detail);
	else
		cli_error("%s", detail[0] ? detail : kdr_strerror(status));
	return nothing ? EXIT_INTERRUPTED : cli_exit_code(status);
}

void cli_pass(int code)
{
	if (code != EXIT_DONE)
		cli_end(code);
}

void cli_check(kdr_status status)
{
	cli_pass(cli_code(status));
}

void cli_check_reading(kdr_status status)
{
	const int code = cli_code(status);
	cli_pass(code != EXIT_INTERRUPTED && (status == KDR_ERR_UNSUPPORTED || status == KDR_ERR_SIZE)
	                 ? EXIT_DATA
	                 : code);
}

/* --- memory, and counts in sentences -------------------------------------------------------------- */

/* What cli_new gave: a list from here, so that a search for leaks finds it. */
static union block {
	union block *next;
	max_align_t alignment;
} * blocks;

void *cli_new(size_t count, size_t size)
{
	const size_t room = count < SIZE_MAX / 2 / size ? count * size : SIZE_MAX / 2;
	union block *new = calloc(1, sizeof *new + room);
	if (!new)
		cli_stop(EXIT_OTHER, "out of memory");
	new->next = blocks;
	blocks = new;
	return new + 1;
}

char *cli_format(const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	const int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = cli_new((size_t)length + 1, 1);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

void cli_text_begin(cli_text *t)
{
	if (!cli_text_open(t)) /* on Windows the text is in a file */
		cli_stop(
		        EXIT_OTHER, "%s",
		        errno == ENOMEM
		                ? "out of memory"
		                : "cannot create a temporary file; set TMP to a folder that you can write to");
}

char *cli_text_end(cli_text *t)
{
	char *text = cli_text_close(t);
	if (!text)
		cli_stop(EXIT_OTHER, "out of memory");
	return text;
}

const char *cli_count(int64_t n, const char *noun)
{
	static char texts[8][48];
	static int last;
	char *text = texts[++last % 8];
	const bool es = noun[strlen(noun) - 1] == 's';
	snprintf(text, sizeof texts[0], "%lld %s%s", (long long)n, noun, n == 1 ? "" : es ? "es" : "s");
	return text;
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
	cli_progress_text(e, cli_now() - session.run->start, session.limit, text, sizeof text);
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	progress.line_open = true;
}

static int on_event(void *user, const kdr_event *e)
{
	cli_run *run = user;
	double now = cli_now();
	if (e->kind == KDR_EVENT_WARNING && run->strict) {
		cli_error("%s (an error because of --strict)", e->message);
		run->refused = true;
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

void cli_session_open(cli_run *run)
{
	const cli_args *args = run->args;
	int64_t seed = 1, threads = 0;
	double memory = 0, unpacked = 0;
	cli_get_int(args, "seed", 0, INT64_MAX, &seed);
	cli_get_int(args, "threads", 1, 4096, &threads);
	cli_get_real(args, "time-limit", 0, INFINITY, &session.limit);
	cli_get_size(args, "max-memory", &memory);
	cli_get_size(args, "max-unpacked", &unpacked);
	cli_check(kdr_context_new(&run->ctx, NULL));
	kdr_context_set_seed(run->ctx, (uint64_t)seed);
	kdr_context_set_threads(run->ctx, (int)threads);
	kdr_context_set_isolation(run->ctx, hdf5_patience);
	kdr_context_set_max_memory(run->ctx, memory);
	kdr_context_set_max_unpacked(run->ctx, unpacked);
	kdr_context_set_raw_cells(run->ctx, cli_flag(args, "raw-cells"));
	if (memory == 0 && kdri_memory_total() >= least_to_keep)
		cli_keep_memory();
	cli_check(kdr_context_protect_inputs(run->ctx));
	const kdr_status st = kdr_context_set_device(run->ctx, cli_get(args, "device", NULL));
	if (st == KDR_ERR_ARGUMENT)
		cli_usage_error("--%s", kdr_context_error(run->ctx));
	cli_check(st);
	session.quiet = cli_quiet(args);
	progress.verbose = cli_flag(args, "verbose") && cli_rank() == 0;
	progress.show = !cli_quiet(args) && cli_rank() == 0 &&
	                strcmp(cli_get(args, "progress", cli_is_terminal(stderr) ? "1" : "0"), "1") == 0;
	kdr_context_set_progress(run->ctx, on_event, run);
	run->start = cli_now();
	cli_on_stop(on_interrupt);
}

void cli_session_limit(kdr_context *ctx)
{
	double left = session.limit - (cli_now() - session.run->start);
	if (session.limit > 0)
		kdr_context_set_time_limit(ctx, left > 1e-9 ? left : 1e-9);
}

/* Frees what the command has. */
static void session_close(cli_run *run)
{
	clear_line();
	kdr_result_free(run->result);
	kdr_job_free(run->job);
	cli_tasks_free(&run->tasks);
	for (int table = 0; table < 2 && run->ctx; table++)
		kdr_free(run->ctx, run->copies[table]);
	kdr_context_free(run->ctx);
	cli_unlock_folders();
	*run = (cli_run){ 0 }; /* demo runs other commands */
	session.run = NULL;
}

void cli_command_run(const cli_args *args)
{
	static cli_run run; /* outlives cli_end, which a search for leaks sees */
	run = (cli_run){ .args = args };
	session.run = &run;
	cli_args_command(args)->run(&run);
	session_close(&run);
}

void cli_end(int code)
{
	code = cli_ranks_agree(code);
	if (session.run)
		session_close(session.run);
	cli_ranks_leave();
	/* Where an earlier write failed, errno is of something else by now. */
	if (fflush(stdout) != 0)
		cli_output_error = errno;
	if (cli_output_error || ferror(stdout)) {
		cli_error("cannot write to standard output%s%s", cli_output_error ? ": " : "",
		          cli_output_error ? strerror(cli_output_error) : "; the disk may be full");
		code = code == EXIT_DONE ? EXIT_OTHER : code;
	}
	cli_ranks_early(code);
	if (code != EXIT_DONE)
		cli_remove_empty_folder();
	exit(code);
}
