/* Settings that libraries read while they are loaded. SPDX-License-Identifier: BSD-3-Clause
 *
 * Libraries decide three things from the environment while they are loaded, before main is called:
 *
 * - Idle OpenMP threads spin for a while before they sleep, which takes processor time from other programs on a busy machine.
 *   Here they spin for some microseconds only.
 * - OpenBLAS reserves a buffer of 32 MB or more for each thread that it might use. The program calls it from one thread at a
 *   time, or from its own threads, and needs none of these buffers.
 * - If the address space is limited (ulimit -v) and too small for such a buffer, OpenBLAS retries for ever. The program therefore
 *   checks the available space first, and ends with an error if it is too small.
 *
 * A function in .preinit_array runs after all libraries are mapped and before any of them is initialised. It starts the program
 * again with the variables set, unless they are set already, and does not change anything that the user has set. Systems without
 * that section do without these settings. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "cli.h"

#include <sys/mman.h>
#include <sys/resource.h>

bool cli_room(size_t bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;
	void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	munmap(at, bytes);
	return true;
}

#if defined(__linux__) && defined(__ELF__) && !defined(KINDRED_SANITIZED)

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20, MOST_VARIABLES = 4096 };
/* A buffer of OpenBLAS at the load and one for a product, and the memory of a small job. */
#ifdef KINDRED_BUILTIN_BLAS
static const size_t room_needed = (size_t)24 * MEGABYTE;
static const bool openblas = false;
#define ROOM_TEXT "100 MB"
#else
static const bool openblas = true;
#define ROOM_TEXT "250 MB, on x86-64 600 MB"
#ifdef __aarch64__
static const size_t room_needed = (size_t)(2 * 34 + 24) * MEGABYTE;
#else
static const size_t room_needed = (size_t)(2 * 130 + 24) * MEGABYTE;
#endif
#endif

static bool is_set(char *const *environment, const char *name)
{
	const size_t n = strlen(name);
	for (; *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return true;
	return false;
}

static void start_settle(char **argv, char **environment)
{
	static char *const wanted[] = { "OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=10000",
		                        "OPENBLAS_NUM_THREADS=1" };
	static char *changed[MOST_VARIABLES + 8];
	static char self[4096];
	size_t n = 0;
	if (!cli_room(room_needed)) {
		static const char line[] =
		        "kindred: the limit on address space (ulimit -v) is too low for the libraries that the program uses; "
		        "set it to at least " ROOM_TEXT "\n";
		ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
		(void)written;
		_exit(EXIT_OTHER);
	}
	/* If the user has set one of the variables about waiting, both stay unchanged. */
	bool waiting = is_set(environment, "OMP_WAIT_POLICY") || is_set(environment, "GOMP_SPINCOUNT");
	bool blas = !openblas || is_set(environment, "OPENBLAS_NUM_THREADS");
	if (waiting && blas)
		return;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	for (; environment[n]; n++) {
		if (n == MOST_VARIABLES)
			return;
		changed[n] = environment[n];
	}
	for (int i = waiting ? 2 : 0; i < (blas ? 2 : 3); i++)
		changed[n++] = wanted[i];
	if (length > 0)
		execve(self, argv, changed); /* where that fails the program runs as it is */
}

static void before_all(int argc, char **argv, char **environment)
{
	(void)argc;
	start_settle(argv, environment);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = before_all;
#endif
