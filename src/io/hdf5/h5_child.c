/* Asking a child process what an HDF5 file holds. SPDX-License-Identifier: BSD-3-Clause
 *
 * The child gets `patience` seconds (kdr_context_set_isolation) in all, and one more for every megabyte it
 * delivers: a sound file of any size is read to its end, one in whose structures HDF5 runs in circles is
 * given up. While it waits the parent looks ten times a second whether the caller wants to stop. */
#ifdef __linux__
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS */
#endif
#include "io/hdf5/h5_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Rows that are fetched at once: whole chunks, about so much. */
enum { BLOCK_BYTES = 1 << 24, LOOK_MS = 100 };
static const double bytes_a_second = 1e6;

struct kdri_h5_child {
	kdr_context *ctx;
	const char *path;
	pid_t pid;
	int link, window;
	const char *at; /* the window, mapped: `room` bytes */
	int64_t room;
	double spent, delivered; /* seconds, bytes */
	bool lost;
	char why[256];       /* it was lost */
	kdri_h5_asked asked; /* the question being put, and its answer */
	kdri_h5_answer answer;
};

/* --- starting and ending ------------------------------------------------------------------------------ */

/* A file without a name that both processes can map; the child makes it longer, nobody shorter. */
static int new_window(void)
{
#ifdef __linux__
	int fd = memfd_create("kindred", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	return fd;
#else
	FILE *f = tmpfile();
	int fd = f ? dup(fileno(f)) : -1;
	if (f)
		fclose(f);
	return fd;
#endif
}

static void end(kdri_h5_child *c)
{
	int status = 0;
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGKILL); /* it only reads: there is nothing to finish */
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

/* The child is gone or has to go; the first reason stands. */
KDR_PRINTF(2, 3)
static void lose(kdri_h5_child *c, const char *format, ...)
{
	if (!c->lost) {
		va_list args;
		va_start(args, format);
		kdri_vsnprintf(c->why, sizeof c->why, format, args);
		va_end(args);
	}
	c->lost = true;
	end(c);
}

static void lose_dead(kdri_h5_child *c)
{
	int status = 0;
	pid_t got;
	while ((got = waitpid(c->pid, &status, 0)) < 0 && errno == EINTR)
		;
	c->pid = 0;
	if (got > 0 && WIFSIGNALED(status))
		lose(c, "the file is damaged: the HDF5 library crashes on it (signal %d)", WTERMSIG(status));
	else
		lose(c, "the file is damaged: the HDF5 library breaks off reading it");
}

/* --- questions ---------------------------------------------------------------------------------------- */

/* Waits for the answer; false once the child is lost. */
static bool wait_answer(kdri_h5_child *c)
{
	char *p = (char *)&c->answer;
	size_t missing = sizeof c->answer;
	double start = kdri_now();
	const double patience = c->ctx->isolation + c->delivered / bytes_a_second - c->spent;
	while (missing > 0) {
		struct pollfd ready = { .fd = c->link, .events = POLLIN };
		int n = poll(&ready, 1, LOOK_MS);
		if (n > 0) {
			ssize_t got = recv(c->link, p, missing, 0);
			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0) {
				lose_dead(c);
				return false;
			}
			p += got;
			missing -= (size_t)got;
			continue;
		}
		kdri_iteration(c->ctx, "read", 0, 0, NAN);
		if (c->ctx->cancelled) {
			lose(c, "interrupted");
			return false;
		}
		if (kdri_now() - start > patience) {
			lose(c,
			     "the file is damaged: the HDF5 library finds no end reading it (%.0f s for "
			     "%.1f MB)",
			     c->spent + kdri_now() - start, c->delivered / 1e6);
			return false;
		}
	}
	c->spent += kdri_now() - start;
	return true;
}

/* What the answer puts into the window, mapped. */
static bool map_answer(kdri_h5_child *c)
{
	const int64_t bytes = c->answer.bytes;
	struct stat info;
	if (bytes > c->room) {
		if (c->room > 0)
			munmap((void *)c->at, (size_t)c->room);
		c->at = "";
		c->room = 0;
		if (fstat(c->window, &info) != 0 || info.st_size < bytes) {
			lose(c, "the file is damaged: the HDF5 library breaks off reading it");
			return false;
		}
		void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, c->window, 0);
		if (at == MAP_FAILED) {
			lose(c, "no memory for %.1f MB of it", (double)bytes / 1e6);
			return false;
		}
		c->at = at;
		c->room = info.st_size;
	}
	return true;
}

/* Puts c->asked to the child. KDR_OK: c->answer is there, its first `bytes` bytes in the window (where
 * bytes < 0: as many as it says). */
static kdr_status ask(kdri_h5_child *c, kdri_h5_question what, int64_t bytes)
{
	kdri_h5_answer *a = &c->answer;
	c->asked.what = what;
	if (!c->lost && !kdri_h5_send(c->link, &c->asked, sizeof c->asked))
		lose_dead(c);
	if (c->lost || !wait_answer(c))
		goto lost;
	a->error[sizeof a->error - 1] = '\0';
	if (a->st != KDR_OK)
		return kdri_fail(c->ctx, a->st, "%s", a->error);
	if (a->bytes < 0 || (bytes >= 0 && a->bytes != bytes)) {
		lose(c, "the file is damaged: the HDF5 library breaks off reading it");
		goto lost;
	}
	if (!map_answer(c))
		goto lost;
	c->delivered += (double)a->bytes;
	return KDR_OK;
lost:
	return kdri_fail(c->ctx, KDR_ERR_FORMAT, "%s: %s", c->path, c->why);
}

/* Names the object and attribute (or field) of the next question; false if they are longer than any. */
static bool about(kdri_h5_child *c, const char *name, const char *attribute)
{
	kdri_h5_asked *q = &c->asked;
	size_t n = strlen(name), m = attribute ? strlen(attribute) : 0;
	if (n >= sizeof q->name || m >= sizeof q->attribute)
		return false;
	memset(q, 0, sizeof *q);
	memcpy(q->name, name, n + 1);
	if (attribute)
		memcpy(q->attribute, attribute, m + 1);
	return true;
}

kdr_status kdri_h5_child_open(kdr_context *ctx, const char *path, kdri_h5_child **out)
{
	kdr_status st;
	kdri_h5_child *c = NULL;
	int ends[2] = { -1, -1 };
	KDRI_TRY(KDRI_NEW0(ctx, &c, 1));
	*c = (kdri_h5_child){ .ctx = ctx, .path = path, .link = -1, .window = new_window(), .at = "" };
	if (c->window < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot be read in a process of its own: %s", path,
		               strerror(errno));
		goto done;
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	c->link = ends[0];
	kdri_h5_lock();
	c->pid = fork();
	kdri_h5_unlock();
	if (c->pid == 0) {
		close(ends[0]);
		kdri_h5_serve(ends[1], c->window, path);
	}
	if (c->pid < 0) {
		st = kdri_fail(ctx, KDR_ERR_READ, "%s: cannot be read in a process of its own: %s", path,
		               strerror(errno));
		goto done;
	}
	close(ends[1]); /* so that the child's end is seen */
	ends[1] = -1;
	if (!wait_answer(c))
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: %s", path, c->why);
	else if (c->answer.st != KDR_OK)
		st = kdri_fail(ctx, c->answer.st, "%.500s", c->answer.error);
done:
	if (ends[1] >= 0)
		close(ends[1]);
	if (st == KDR_OK)
		*out = c;
	else
		st = kdri_h5_child_close(ctx, c, st);
	return st;
}

kdr_status kdri_h5_child_close(kdr_context *ctx, kdri_h5_child *c, kdr_status st)
{
	if (!c)
		return st;
	/* Whatever was made of missing answers: this is why they are missing. */
	if (c->lost)
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: %s", c->path, c->why);
	end(c);
	if (c->link >= 0)
		close(c->link);
	if (c->window >= 0)
		close(c->window);
	if (c->room > 0)
		munmap((void *)c->at, (size_t)c->room);
	kdri_free(ctx, c);
	return st;
}

/* --- the functions of h5.h ------------------------------------------------------------------------------ */

kdri_h5_kind kdri_h5_child_what(kdri_h5_child *c, const char *name)
{
	if (!about(c, name, NULL) || ask(c, KDRI_H5_WHAT, 0) != KDR_OK)
		return KDRI_H5_NONE;
	return c->answer.number == KDRI_H5_GROUP     ? KDRI_H5_GROUP
	       : c->answer.number == KDRI_H5_DATASET ? KDRI_H5_DATASET
	                                             : KDRI_H5_NONE;
}

bool kdri_h5_child_is_matrix(kdri_h5_child *c, const char *name)
{
	return about(c, name, NULL) && ask(c, KDRI_H5_IS_MATRIX, 0) == KDR_OK && c->answer.number != 0;
}

kdr_status kdri_h5_child_walk(kdri_h5_child *c, const kdri_h5 *h5, const char *group, int levels,
                              kdri_h5_visit visit, void *user)
{
	kdr_status st = KDR_OK;
	char *list = NULL;
	if (!about(c, group, NULL))
		return kdri_fail(c->ctx, KDR_ERR_FORMAT, "%s: a group's name is too long", c->path);
	c->asked.count = levels;
	KDRI_TRY(ask(c, KDRI_H5_WALK, -1));
	/* A copy: the visitor asks questions of its own. */
	const int64_t bytes = c->answer.bytes;
	KDRI_TRY(KDRI_NEW(c->ctx, &list, bytes + 1));
	memcpy(list, c->at, (size_t)bytes);
	list[bytes] = '\0';
	for (int64_t p = 0; p + 1 < bytes; p += 2 + (int64_t)strlen(list + p + 1)) {
		kdri_h5_kind kind = list[p] == KDRI_H5_GROUP ? KDRI_H5_GROUP : KDRI_H5_DATASET;
		if (!visit(user, h5, list + p + 1, kind) || c->lost)
			break;
	}
done:
	kdri_free(c->ctx, list);
	return st;
}

bool kdri_h5_child_text(kdri_h5_child *c, const char *name, const char *attribute, char *out, size_t room)
{
	if (!about(c, name, attribute))
		return false;
	c->asked.count = (int64_t)room;
	if (ask(c, KDRI_H5_TEXT, (int64_t)room) != KDR_OK || !c->answer.number)
		return false;
	memcpy(out, c->at, room);
	out[room - 1] = '\0';
	return true;
}

bool kdri_h5_child_numbers(kdri_h5_child *c, bool integers, const char *name, const char *attribute,
                           int64_t count, void *out)
{
	if (count < 0 || !about(c, name, attribute))
		return false;
	c->asked.count = count;
	if (ask(c, integers ? KDRI_H5_INTEGERS : KDRI_H5_REALS, count * (int64_t)sizeof(double)) != KDR_OK ||
	    !c->answer.number)
		return false;
	memcpy(out, c->at, (size_t)count * sizeof(double));
	return true;
}

int64_t kdri_h5_child_count(kdri_h5_child *c, const char *name, const char *attribute)
{
	return about(c, name, attribute) && ask(c, KDRI_H5_COUNT, 0) == KDR_OK ? c->answer.number : -1;
}

/* Whether an array's description can be relied on. */
static bool sound(const kdri_h5_array *a)
{
	int64_t count = 1;
	if (a->type_class < KDRI_H5_NUMBER || a->type_class > KDRI_H5_OTHER || a->ndim < 0 ||
	    a->ndim > H5S_MAX_RANK || a->chunk_rows < 1 || a->count < 0)
		return false;
	for (int i = 0; i < a->ndim && i < 3; i++)
		if (a->shape[i] < 0 || kdri_mul(NULL, count, a->shape[i], &count) != KDR_OK)
			return false;
	return a->ndim > 3 || count == a->count;
}

kdr_status kdri_h5_child_array(kdri_h5_child *c, const char *name, kdri_h5_array *out)
{
	kdr_status st;
	if (!about(c, name, NULL))
		return kdri_fail(c->ctx, KDR_ERR_FORMAT, "%s: there is no such dataset", c->path);
	KDRI_TRY(ask(c, KDRI_H5_OPEN_ARRAY, 0));
	kdri_h5_array a = c->answer.array;
	a.label[sizeof a.label - 1] = '\0';
	a.child = c;
	if (!sound(&a)) {
		st = kdri_fail(c->ctx, KDR_ERR_FORMAT, "%s: has no shape", a.label);
		goto done;
	}
	*out = a;
done:
	return st;
}

/* The next question is about this array, and maybe a field of it. */
static bool about_array(const kdri_h5_array *a, const char *field)
{
	if (!about(a->child, "", field))
		return false;
	a->child->asked.array = *a;
	a->child->asked.array.child = NULL;
	return true;
}

kdr_status kdri_h5_child_rows(const kdri_h5_array *a, bool integers, int64_t begin, int64_t rows, void *out)
{
	kdr_status st = KDR_OK;
	kdri_h5_child *c = a->child;
	int64_t width = sizeof(double);
	if (a->ndim > 3)
		return kdri_fail(c->ctx, KDR_ERR_FORMAT, "%s: has %d dimensions; at most 3 are read",
		                 a->label, a->ndim);
	for (int i = 1; i < a->ndim; i++)
		width *= a->shape[i];
	if (a->count == 0)
		return KDR_OK;
	int64_t block = KDRI_MAX(1, BLOCK_BYTES / width);
	block = (block + a->chunk_rows - 1) / a->chunk_rows * a->chunk_rows;
	for (int64_t i = 0; i < rows; i += block) {
		const int64_t n = KDRI_MIN(block, rows - i);
		if (!about_array(a, NULL))
			return KDR_ERR_INTERNAL;
		c->asked.begin = begin + i;
		c->asked.count = n;
		KDRI_TRY(ask(c, integers ? KDRI_H5_ROWS_INT64 : KDRI_H5_ROWS_DOUBLE, n * width));
		memcpy((char *)out + i * width, c->at, (size_t)(n * width));
	}
done:
	return st;
}

kdr_status kdri_h5_child_strings(kdr_context *ctx, const kdri_h5_array *a, const char *field, char ***out)
{
	kdr_status st;
	kdri_h5_child *c = a->child;
	char **strings = NULL;
	const int64_t n = a->shape[0];
	if (a->ndim != 1 || !about_array(a, field))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: does not hold a list of strings or integers",
		                 a->label);
	KDRI_TRY(ask(c, KDRI_H5_STRINGS, -1));
	KDRI_TRY(KDRI_NEW0(ctx, &strings, n));
	int64_t at = 0;
	for (int64_t i = 0; i < n; i++) {
		const char *stop = memchr(c->at + at, '\0', (size_t)(c->answer.bytes - at));
		if (!stop) {
			st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: its strings cannot be read", a->label);
			goto done;
		}
		KDRI_TRY(kdri_strndup(ctx, c->at + at, (size_t)(stop - c->at - at), &strings[i]));
		at = stop - c->at + 1;
	}
	*out = strings;
	strings = NULL;
done:
	kdri_strings_free(&ctx->allocator, strings, n);
	return st;
}

kdr_status kdri_h5_child_field(kdr_context *ctx, const kdri_h5_array *a, const char *field, int64_t **out)
{
	kdr_status st;
	int64_t *values = NULL;
	if (a->ndim != 1 || !about_array(a, field))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: does not hold a list of integers", a->label);
	KDRI_TRY(ask(a->child, KDRI_H5_FIELD_INT64, a->shape[0] * (int64_t)sizeof *values));
	KDRI_TRY(KDRI_NEW(ctx, &values, a->shape[0]));
	memcpy(values, a->child->at, (size_t)a->shape[0] * sizeof *values);
	*out = values;
done:
	return st;
}

bool kdri_h5_child_has_field(const kdri_h5_array *a, const char *field, bool *text)
{
	if (!about_array(a, field) || ask(a->child, KDRI_H5_HAS_FIELD, 0) != KDR_OK ||
	    !a->child->answer.number)
		return false;
	*text = a->child->answer.more != 0;
	return true;
}
