/* Files that rows of several ranks are written to. SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks write the same file with the same calls: what is about the whole, and between kdri_pages_turn and
 * kdri_pages_end_turn their own rows. Rank 0 alone has a file. Of the others' text all is dropped but their rows, which come
 * to rank 0 in blocks, one rank after the other, so that it never holds more than a block of them. Where a result has all
 * rows, as ever without ranks, this is a file and nothing else.
 *
 *     KDRI_TRY(kdri_pages_open(ctx, result, path, force, &p));
 *     ... to p.out: a header
 *     KDRI_TRY(kdri_pages_turn(&p));
 *     st = ... to p.out: the rows here
 *     KDRI_TRY(kdri_pages_end_turn(&p, st));
 * done:
 *     return kdri_pages_close(&p, st);   the file appears, or nothing
 */
#ifndef KDRI_PAGES_H
#define KDRI_PAGES_H

#include "io/io.h"

typedef struct kdri_pages {
	kdr_context *ctx;
	kdri_output *out;
	bool parted;       /* other ranks have rows, too */
	bool turn;         /* what is written are rows */
	bool brief;        /* lists with an entry for each sample are not wanted */
	kdr_status failed; /* for callers that cannot return it at once */
} kdri_pages;

/* All start from a zeroed struct, and end with kdri_pages_close, on all ranks. */
kdr_status kdri_pages_open(kdr_context *ctx, const kdr_result *result, const char *path, bool force,
                           kdri_pages *p);
/* To a function in place of a file; it is called on rank 0. */
kdr_status kdri_pages_open_to(kdr_context *ctx, const kdr_result *result, kdri_output_put *put, void *user,
                              kdri_pages *p);
kdr_status kdri_pages_turn(kdri_pages *p);
/* `st`: how writing the rows here went. */
kdr_status kdri_pages_end_turn(kdri_pages *p, kdr_status st);
/* `st`: how all of it went; the status of all ranks. */
kdr_status kdri_pages_close(kdri_pages *p, kdr_status st);

#endif
