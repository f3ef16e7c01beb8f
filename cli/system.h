/* What differs between operating systems for the program: system_posix.c and system_windows.c. The library's part is
 * core/system.h. SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prepares the standard streams, and returns the arguments as UTF-8. Called first. */
typedef struct cli_words {
	int count;
	char **texts;
} cli_words;
cli_words cli_system_start(int argc, char **argv);
/* From now on, arrays that are freed are kept for the next ones, where the system's allocator can do so. */
void cli_keep_memory(void);
/* Whether a standard stream is a terminal that understands control sequences. */
bool cli_is_terminal(FILE *stream);
/* `stop` is called, possibly on another thread, if the user asks the program to stop (Ctrl-C). */
void cli_on_stop(void (*stop)(int number));

/* A stream that is printed to and then read as one text. cli_text_close returns the text, to be freed, or NULL. cli_text_begin and
 * cli_text_end (session.c) end the program instead of failing. */
typedef struct cli_text {
	FILE *stream;
	char *text;
	size_t length;
} cli_text;
bool cli_text_open(cli_text *t);
char *cli_text_close(cli_text *t);
void cli_text_begin(cli_text *t);
char *cli_text_end(cli_text *t);

/* Opens a page in the default browser. Otherwise `why` says why not, or is empty. */
bool cli_open_page(const char *html, const char **why);

#endif
