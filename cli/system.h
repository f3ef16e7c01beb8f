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

/* A stream that is printed to and then read as one text. cli_text_close returns the text, to be freed, or NULL. */
typedef struct cli_text {
	FILE *stream;
	char *text;
	size_t length;
} cli_text;
bool cli_text_open(cli_text *t);
char *cli_text_close(cli_text *t);

/* Opens a page in the default browser. Otherwise `why` says why not, or is empty. */
bool cli_open_page(const char *html, const char **why);

/* Runs a function in a process of its own, at most this many at a time. A system without fork runs it at once in this process. */
enum { CLI_ANY_NUMBER = 1 << 20 };
int cli_children_most(void);
/* The number of the process, or -1. */
long cli_child_start(int (*run)(void *user), void *user);
/* Waits until one process ends and returns its number, or -1 with errno. `killed` names the signal that ended it, or is NULL. */
long cli_child_wait(int *code, const char **killed);
void cli_child_stop(long number);

#endif
