/* The child that reads HDF5 for its parent. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each question is answered by the very function the parent would have called had it opened the file itself.
 * The window is a file in memory that only grows: the child makes it as long as an answer needs. */
#ifdef __linux__
#define _GNU_SOURCE /* prctl */
#endif
#include "io/hdf5/h5_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Names of a list of strings are believed up to this many bytes in all. */
static const int64_t most_text = (int64_t)1 << 31;

typedef struct server {
	kdr_context *ctx;
	kdri_h5 h5;
	int link, window;
	char *at; /* the window, mapped */
	int64_t room;
	int64_t used; /* by the answer being made */
} server;

bool kdri_h5_send(int link, const void *message, size_t size)
{
	const char *p = message;
	while (size > 0) {
		ssize_t n = send(link, p, size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static bool h5_serve_receive(int link, void *message, size_t size)
{
	char *p = message;
	while (size > 0) {
		ssize_t n = recv(link, p, size, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

/* --- what the child may do --------------------------------------------------------------------------- */

/* Half the machine's memory, beyond what was mapped when the process was copied. */
static void limit_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	struct rlimit limit;
	unsigned long mapped = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || pages <= 0 || size <= 0 || fscanf(f, "%lu", &mapped) != 1 ||
	    getrlimit(RLIMIT_AS, &limit) != 0) {
		if (f)
			fclose(f);
		return;
	}
	fclose(f);
	rlim_t most = ((rlim_t)mapped + (rlim_t)pages / 2) * (rlim_t)size;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most) {
		limit.rlim_cur = most;
		setrlimit(RLIMIT_AS, &limit);
	}
}

/* Alone, silent, and gone with its parent: what a crash would print or leave behind is nobody's concern. */
void kdri_h5_settle(void)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM };
	static const int kept_out[] = { SIGINT, SIGHUP, SIGQUIT }; /* the parent's to answer */
	const struct rlimit none = { 0, 0 };
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		signal(fatal[i], SIG_DFL);
	for (size_t i = 0; i < sizeof kept_out / sizeof kept_out[0]; i++)
		signal(kept_out[i], SIG_IGN);
	int nowhere = open("/dev/null", O_RDWR);
	for (int fd = 0; nowhere >= 0 && fd <= 2; fd++)
		dup2(nowhere, fd);
	setrlimit(RLIMIT_CORE, &none);
	limit_memory();
}

/* --- answers ----------------------------------------------------------------------------------------- */

/* Room for `bytes` more in the window; NULL, with the error set, where there is none. */
static void *more_room(server *s, int64_t bytes)
{
	int64_t need = s->used + bytes;
	if (need > s->room) {
		int64_t room = KDRI_MAX(need, KDRI_MIN(2 * s->room, need + (1 << 24)));
		if (s->at)
			munmap(s->at, (size_t)s->room);
		s->at = NULL;
		s->room = 0;
		void *at =
		        ftruncate(s->window, (off_t)room) != 0
		                ? MAP_FAILED
		                : mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_SHARED, s->window, 0);
		if (at == MAP_FAILED) {
			kdri_set_error(s->ctx, "%s: no memory for %.1f MB of it", s->h5.path,
			               (double)bytes / 1e6);
			return NULL;
		}
		s->at = at;
		s->room = room;
	}
	void *place = s->at + s->used;
	s->used = need;
	return place;
}

static kdr_status h5_serve_put(server *s, const void *data, int64_t bytes)
{
	void *place = more_room(s, bytes);
	if (!place)
		return KDR_ERR_MEMORY;
	memcpy(place, data, (size_t)bytes);
	return KDR_OK;
}

typedef struct listing {
	server *s;
	kdr_status st;
	int64_t count;
} listing;

/* Objects of a walk: a byte for the kind, then the name. */
static bool h5_serve_note(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind)
{
	(void)h5;
	listing *l = user;
	char letter = (char)kind;
	l->st = h5_serve_put(l->s, &letter, 1);
	if (l->st == KDR_OK)
		l->st = h5_serve_put(l->s, name, (int64_t)strlen(name) + 1);
	l->count++;
	return l->st == KDR_OK;
}

static kdr_status answer_walk(server *s, const kdri_h5_asked *q, int64_t *count)
{
	listing l = { .s = s };
	kdr_status st = kdri_h5_walk(s->ctx, &s->h5, q->name, (int)q->count, h5_serve_note, &l);
	*count = l.count;
	return st == KDR_OK ? l.st : st;
}

static kdr_status answer_rows(server *s, const kdri_h5_asked *q)
{
	const kdri_h5_array *a = &q->array;
	int64_t bytes = q->count * (int64_t)sizeof(double);
	for (int i = 1; i < a->ndim && i < 3; i++)
		bytes *= a->shape[i];
	void *place = more_room(s, bytes);
	if (!place)
		return KDR_ERR_MEMORY;
	return q->what == KDRI_H5_ROWS_INT64 ? kdri_h5_rows_int64(s->ctx, a, q->begin, q->count, place)
	                                     : kdri_h5_rows_double(s->ctx, a, q->begin, q->count, place);
}

/* Strings one after the other, each with its NUL. */
static kdr_status answer_strings(server *s, const kdri_h5_asked *q, const char *field)
{
	kdr_status st;
	char **strings = NULL;
	KDRI_TRY(kdri_h5_strings(s->ctx, &q->array, field, &strings));
	for (int64_t i = 0; i < q->array.shape[0]; i++) {
		if (s->used > most_text) {
			st = kdri_fail(s->ctx, KDR_ERR_SIZE, "%s: its strings have more than %.0f MB",
			               q->array.label, (double)most_text / 1e6);
			goto done;
		}
		KDRI_TRY(h5_serve_put(s, strings[i], (int64_t)strlen(strings[i]) + 1));
	}
done:
	kdri_strings_free(&s->ctx->allocator, strings, q->array.shape[0]);
	return st;
}

static kdr_status answer_field(server *s, const kdri_h5_asked *q, const char *field)
{
	kdr_status st;
	int64_t *values = NULL;
	KDRI_TRY(kdri_h5_field_int64(s->ctx, &q->array, field, &values));
	KDRI_TRY(h5_serve_put(s, values, q->array.shape[0] * (int64_t)sizeof *values));
done:
	kdri_free(s->ctx, values);
	return st;
}

/* Attributes: text, or numbers. */
static kdr_status answer_attribute(server *s, const kdri_h5_asked *q, int64_t *found)
{
	int64_t bytes = q->what == KDRI_H5_TEXT ? q->count : q->count * (int64_t)sizeof(double);
	void *place = more_room(s, bytes);
	if (!place)
		return KDR_ERR_MEMORY;
	if (q->what == KDRI_H5_TEXT)
		*found = kdri_h5_text(&s->h5, q->name, q->attribute, place, (size_t)q->count);
	else if (q->what == KDRI_H5_INTEGERS)
		*found = kdri_h5_integers(&s->h5, q->name, q->attribute, q->count, place);
	else
		*found = kdri_h5_reals(&s->h5, q->name, q->attribute, q->count, place);
	return KDR_OK;
}

static void answer(server *s, const kdri_h5_asked *q, kdri_h5_answer *a)
{
	const char *field = q->attribute[0] ? q->attribute : NULL;
	bool text = false;
	s->used = 0;
	a->st = KDR_OK;
	switch (q->what) {
	case KDRI_H5_WHAT: a->number = kdri_h5_what(&s->h5, q->name); break;
	case KDRI_H5_WALK: a->st = answer_walk(s, q, &a->number); break;
	case KDRI_H5_TEXT:
	case KDRI_H5_INTEGERS:
	case KDRI_H5_REALS: a->st = answer_attribute(s, q, &a->number); break;
	case KDRI_H5_COUNT: a->number = kdri_h5_count(&s->h5, q->name, q->attribute); break;
	case KDRI_H5_OPEN_ARRAY: a->st = kdri_h5_array_open(s->ctx, &s->h5, q->name, &a->array); break;
	case KDRI_H5_ROWS_DOUBLE:
	case KDRI_H5_ROWS_INT64: a->st = answer_rows(s, q); break;
	case KDRI_H5_STRINGS: a->st = answer_strings(s, q, field); break;
	case KDRI_H5_FIELD_INT64: a->st = answer_field(s, q, field); break;
	case KDRI_H5_HAS_FIELD:
		a->number = kdri_h5_has_field(&q->array, field, &text);
		a->more = text;
		break;
	case KDRI_H5_IS_MATRIX: a->number = kdri_h5_is_matrix(&s->h5, q->name); break;
	}
	a->bytes = a->st == KDR_OK ? s->used : 0;
	if (a->st != KDR_OK)
		snprintf(a->error, sizeof a->error, "%s", kdr_context_error(s->ctx));
}

_Noreturn void kdri_h5_serve(int link, int window, const char *path)
{
	static kdri_h5_asked q;
	static kdri_h5_answer a;
	server s = { .link = link, .window = window };
	kdri_h5_settle();
	/* A context of its own: the caller's allocator may have locks that other threads held at the fork. */
	if (kdr_context_new(&s.ctx, NULL) != KDR_OK)
		_exit(1);
	a.st = kdri_h5_open(s.ctx, path, &s.h5);
	snprintf(a.error, sizeof a.error, "%s", kdr_context_error(s.ctx));
	while (kdri_h5_send(link, &a, sizeof a) && h5_serve_receive(link, &q, sizeof q)) {
		memset(&a, 0, sizeof a);
		answer(&s, &q, &a);
	}
	_exit(0);
}
