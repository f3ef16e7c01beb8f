/* HDF5 at arm's length: the file is open in a child process. SPDX-License-Identifier: BSD-3-Clause
 *
 * HDF5's parser does not withstand damaged files: it crashes, or never comes back. So where the context says
 * so (kdr_context_set_isolation) everything that h5.h offers for reading is asked of a child process, one
 * question at a time over a socket; answers of more than a few bytes lie in a window of memory that both
 * have mapped, from which the parent copies block by block, so that no array exists twice. All judgement of
 * what the file holds stays in the parent, which believes the child nothing it has not checked.
 *
 * The child is forked, not started anew, so that a library can do it too. That is sound although the parent
 * may have threads: between fork and its end the child runs HDF5, malloc (which the C library keeps usable
 * after fork) and what is in h5_serve.c; it never enters a parallel region, prints nothing and leaves by
 * _exit. HDF5's own lock is not held by a thread of this library at that moment (h5.c sees to it). */
#ifndef KDRI_H5_CHILD_H
#define KDRI_H5_CHILD_H

#include "io/hdf5/h5.h"

typedef enum kdri_h5_question {
	KDRI_H5_WHAT,
	KDRI_H5_WALK,
	KDRI_H5_TEXT,
	KDRI_H5_INTEGERS,
	KDRI_H5_REALS,
	KDRI_H5_COUNT,
	KDRI_H5_OPEN_ARRAY,
	KDRI_H5_ROWS_DOUBLE,
	KDRI_H5_ROWS_INT64,
	KDRI_H5_STRINGS,
	KDRI_H5_FIELD_INT64,
	KDRI_H5_HAS_FIELD,
	KDRI_H5_IS_MATRIX,
} kdri_h5_question;

typedef struct kdri_h5_asked {
	kdri_h5_question what;
	int64_t begin, count;
	kdri_h5_array array;             /* as the child gave it; its ids mean something to the child alone */
	char name[1104], attribute[512]; /* or the name of a field; "" for none */
} kdri_h5_asked;

typedef struct kdri_h5_answer {
	kdr_status st;
	int64_t number; /* a count, a kind, a truth */
	int64_t bytes;  /* in the window */
	int64_t more;   /* second truth of HAS_FIELD */
	kdri_h5_array array;
	char error[512];
} kdri_h5_answer;

/* --- h5_child.c: the parent ------------------------------------------------------------------------ */

typedef struct kdri_h5_child kdri_h5_child;

/* Starts the child and has it open the file. */
kdr_status kdri_h5_child_open(kdr_context *ctx, const char *path, kdri_h5_child **out);
/* Ends it and says how it went: `st`, or why the child did not live to answer. Accepts NULL. */
kdr_status kdri_h5_child_close(kdr_context *ctx, kdri_h5_child *child, kdr_status st);

/* What the functions of these names in h5.h do. Truths are false, kinds none, once the child is gone;
 * kdri_h5_child_close then says why. */
kdri_h5_kind kdri_h5_child_what(kdri_h5_child *child, const char *name);
kdr_status kdri_h5_child_walk(kdri_h5_child *child, const kdri_h5 *h5, const char *group, int levels,
                              kdri_h5_visit visit, void *user);
bool kdri_h5_child_text(kdri_h5_child *child, const char *name, const char *attribute, char *out,
                        size_t room);
bool kdri_h5_child_numbers(kdri_h5_child *child, bool integers, const char *name, const char *attribute,
                           int64_t count, void *out);
int64_t kdri_h5_child_count(kdri_h5_child *child, const char *name, const char *attribute);
kdr_status kdri_h5_child_array(kdri_h5_child *child, const char *name, kdri_h5_array *out);
kdr_status kdri_h5_child_rows(const kdri_h5_array *array, bool integers, int64_t begin, int64_t rows,
                              void *out);
kdr_status kdri_h5_child_strings(kdr_context *ctx, const kdri_h5_array *array, const char *field,
                                 char ***out);
kdr_status kdri_h5_child_field(kdr_context *ctx, const kdri_h5_array *array, const char *field,
                               int64_t **out);
bool kdri_h5_child_has_field(const kdri_h5_array *array, const char *field, bool *text);
bool kdri_h5_child_is_matrix(kdri_h5_child *child, const char *name);

/* --- h5_serve.c: the child -------------------------------------------------------------------------- */

/* Answers until the parent closes the socket. Never returns. */
_Noreturn void kdri_h5_serve(int link, int window, const char *path);

/* Makes this process, a fork, one that a crash of HDF5 may end: silent, bounded, gone with its parent. */
void kdri_h5_settle(void);

/* --- h5_apart.c: work that is done in a process of its own ------------------------------------------- */

/* Runs it, there where the context says so, with another context: `user` is all it may use. `bytes` of the file `path` say
 * how long it may take. */
typedef kdr_status (*kdri_h5_work)(kdr_context *ctx, const void *user);
kdr_status kdri_h5_apart(kdr_context *ctx, const char *path, double bytes, kdri_h5_work run,
                         const void *user);

/* Whole messages; false at the end, or once nothing can be sent any more. */
bool kdri_h5_send(int link, const void *message, size_t size);

#endif
