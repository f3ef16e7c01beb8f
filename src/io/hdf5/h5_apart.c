/* One piece of work on an HDF5 file, in a process of its own. SPDX-License-Identifier: BSD-3-Clause
 *
 * What h5_child.h says of reading holds for changing a file that others wrote: HDF5 may crash on it. The child is given
 * some seconds, and one more for each megabyte of the file. */
#include "io/hdf5/h5_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOK_MS = 100 };
static const double bytes_a_second = 1e6;

typedef struct outcome {
	kdr_status st;
	char error[512];
} outcome;

_Noreturn static void work(int link, kdri_h5_work run, const void *user)
{
	static outcome done;
	kdr_context *ctx = NULL;
	kdri_h5_settle();
	/* A context of its own: the caller's allocator may have locks that other threads held at the fork. */
	if (kdr_context_new(&ctx, NULL) != KDR_OK)
		_exit(1);
	done.st = run(ctx, user);
	snprintf(done.error, sizeof done.error, "%s", kdr_context_error(ctx));
	ssize_t sent = write(link, &done, sizeof done);
	_exit(sent == (ssize_t)sizeof done ? 0 : 1);
}

/* Waits for the outcome; false: it never came. */
static bool await(int link, double patience, outcome *done)
{
	char *p = (char *)done;
	size_t missing = sizeof *done;
	double start = kdri_now();
	while (missing > 0 && kdri_now() - start < patience) {
		struct pollfd ready = { .fd = link, .events = POLLIN };
		if (poll(&ready, 1, LOOK_MS) <= 0)
			continue;
		ssize_t got = read(link, p, missing);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		missing -= (size_t)got;
	}
	return missing == 0;
}

kdr_status kdri_h5_apart(kdr_context *ctx, const char *path, double bytes, kdri_h5_work run, const void *user)
{
	int ends[2];
	outcome done = { .st = KDR_OK };
	if (ctx->isolation <= 0)
		return run(ctx, user);
	if (pipe(ends) != 0)
		return kdri_fail(ctx, KDR_ERR_WRITE, "%s: %s", path, strerror(errno));
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	kdri_h5_lock();
	pid_t pid = fork();
	kdri_h5_unlock();
	if (pid == 0) {
		close(ends[0]);
		work(ends[1], run, user);
	}
	close(ends[1]);
	bool came = pid > 0 && await(ends[0], ctx->isolation + bytes / bytes_a_second, &done);
	close(ends[0]);
	if (pid > 0) {
		int status;
		if (!came)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (!came)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: the file is damaged: the HDF5 library breaks off changing it", path);
	done.error[sizeof done.error - 1] = '\0';
	return done.st == KDR_OK ? KDR_OK : kdri_fail(ctx, done.st, "%s", done.error);
}
