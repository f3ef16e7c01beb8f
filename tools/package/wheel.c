/* Linked into the library of the wheel, so that it can contain Debian's static libraries and run with an older C library.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The linker's option --wrap redirects the names below to this file.
 *  - hypot and arc4random_buf (called by expat) have versions of glibc 2.35 and 2.36. Here an older hypot and getrandom, which are
 *    in glibc 2.25, are used instead.
 *  - The static libraries of HDF5 and LIBSVM are compiled for programs, which have stdout and stderr in the same file. They get
 *    copies of both pointers. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "the oldest version of glibc's symbols is not known for this processor"
#endif

double older_hypot(double x, double y);
__asm__(".symver older_hypot, hypot@" OLDEST);
double __wrap_hypot(double x, double y)
{
	return older_hypot(x, y);
}

void __wrap_arc4random_buf(void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = getrandom((char *)bytes + done, n - done, 0);
		if (got > 0)
			done += (size_t)got;
	}
}

extern FILE *__real_stdout, *__real_stderr;
FILE *__wrap_stdout, *__wrap_stderr;
__attribute__((constructor)) static void copy_streams(void)
{
	__wrap_stdout = __real_stdout;
	__wrap_stderr = __real_stderr;
}
