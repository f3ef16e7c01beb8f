/* The program as a WebAssembly module. SPDX-License-Identifier: BSD-3-Clause
 *
 * The module is the command-line program. The linker replaces two of its functions by those below (tools/wasm.sh): progress goes to
 * the JavaScript function Module.progress instead of a terminal, and HDF5 files are read without a child process. */
#define _GNU_SOURCE 1 /* sync_file_range */
#include <emscripten.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>

#include "progress.h"

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
