/* Linux and other POSIX systems. SPDX-License-Identifier: BSD-3-Clause */
#include "system.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

extern char **environ;

/* A file that is opened while a standard descriptor is closed takes its number, and gets what the program prints. So the
 * numbers are occupied by something that can neither be read from nor printed to. */
cli_words cli_system_start(int argc, char **argv)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			break;
	return (cli_words){ argc, argv };
}

/* By default, glibc returns every array of more than 32 MB to the system, and the next one consists of new pages, each of which
 * the system clears when it is first used: 5 % of the time of a transfer of 2 x 100,000 x 50. Keeping up to 256 MB takes
 * 9 % more memory there. */
void cli_keep_memory(void)
{
#ifdef __GLIBC__
	enum { KEPT = 1 << 28 };
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

bool cli_is_terminal(FILE *stream)
{
	return isatty(fileno(stream));
}

void cli_on_stop(void (*stop)(int number))
{
	struct sigaction action = { .sa_handler = stop };
	sigemptyset(&action.sa_mask);
	sigaction(SIGTERM, &action, NULL);
	/* Signals that were ignored at the start stay ignored: SIGHUP under nohup, SIGINT in background jobs of scripts. */
	static const int optional[] = { SIGINT, SIGHUP };
	for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
		struct sigaction before;
		if (sigaction(optional[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(optional[i], &action, NULL);
	}
#ifdef SIGXFSZ
	signal(SIGXFSZ, SIG_IGN); /* a file-size limit is then an error of write(), with a message */
#endif
}

bool cli_text_open(cli_text *t)
{
	t->text = NULL;
	t->stream = open_memstream(&t->text, &t->length);
	return t->stream != NULL;
}

char *cli_text_close(cli_text *t)
{
	char *text = fclose(t->stream) == 0 ? t->text : NULL;
	if (!text)
		free(t->text);
	*t = (cli_text){ .length = t->length };
	return text;
}

/* --- the browser ---------------------------------------------------------------------------------- */

/* Starts a program with the page as its argument, without a shell between. A browser that goes on running has been started;
 * one that ends at once with an error has not. */
static bool start_browser(const char *program, char *page)
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

/* The browser that BROWSER names, or the one the desktop knows. */
bool cli_open_page(const char *html, const char **why)
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
			done = start_browser(own, page);
		for (size_t i = 0; i < sizeof known / sizeof known[0] && screen && !done; i++)
			done = start_browser(known[i], page);
	}
	free(page);
	*why = screen || own ? "" : " (no screen: DISPLAY is not set)";
	return done;
}
