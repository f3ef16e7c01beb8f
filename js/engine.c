/* The program as a WebAssembly module. SPDX-License-Identifier: BSD-3-Clause
 *
 * The module is the command-line program. The linker replaces three of its functions by those below (tools/wasm.sh): progress goes to
 * the JavaScript function Module.progress instead of a terminal, HDF5 files are read
 * without a child process, and the command line in results is that of the program. */
#define _GNU_SOURCE 1 /* sync_file_range */
#include <emscripten.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

EM_JS(void, engine_progress,
      (const char *stage, double fraction, double objective, double seconds, double remaining, int at_most), {
	      if (Module.progress)
		      Module.progress({ stage : UTF8ToString(stage), fraction, objective, seconds, remaining, atMost : !!at_most });
      });

void __wrap_cli_progress_text(const kdr_event *event, double elapsed, double limit, char *text, size_t room);
void __wrap_cli_progress_text(const kdr_event *event, double elapsed, double limit, char *text, size_t room)
{
	(void)limit;
	engine_progress(event->counted, event->fraction, event->objective, elapsed, event->remaining, event->at_most);
	if (room > 0)
		text[0] = '\0';
}

void __wrap_kdr_context_set_isolation(kdr_context *ctx, double seconds);
void __wrap_kdr_context_set_isolation(kdr_context *ctx, double seconds)
{
	(void)ctx, (void)seconds;
}

/* Removes `part` from `text`, or puts `instead` in its place, wherever it occurs; `instead` is not longer. */
static void replace(char *text, const char *part, const char *instead)
{
	const size_t n = strlen(part), m = strlen(instead);
	for (char *at = strstr(text, part); at; at = strstr(at, part)) {
		memcpy(at, instead, m);
		memmove(at + m, at + n, strlen(at + n) + 1);
	}
}

kdr_status __real_kdr_result_set_command_line(kdr_context *ctx, kdr_result *result, const char *text);
kdr_status __wrap_kdr_result_set_command_line(kdr_context *ctx, kdr_result *result, const char *text);
/* The command line that the report shows: without the folders of the module and the options that js/kindred.js adds. */
kdr_status __wrap_kdr_result_set_command_line(kdr_context *ctx, kdr_result *result, const char *text)
{
	char *shown = strdup(text), *folder;
	if (!shown)
		return __real_kdr_result_set_command_line(ctx, result, text);
	replace(shown, " --max-memory=4G", "");
	replace(shown, " --no-stream", "");
	replace(shown, " --progress", "");
	replace(shown, "=/out/model.h5", "=model.h5");
	replace(shown, "=/out", "=out");
	while ((folder = strstr(shown, "/files/in/"))) {
		char *name = folder + strlen("/files/in/");
		name += strspn(name, "0123456789");
		name += *name == '/';
		memmove(folder, name, strlen(name) + 1);
	}
	kdr_status st = __real_kdr_result_set_command_line(ctx, result, shown);
	free(shown);
	return st;
}

/* System calls that emscripten lacks: files are in memory, and there are no other programs. */
int sync_file_range(int fd, off_t offset, off_t bytes, unsigned flags)
{
	(void)fd, (void)offset, (void)bytes, (void)flags;
	return 0;
}

int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const environment[restrict])
{
	(void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)environment;
	return ENOSYS;
}
