/* Files with rows of several ranks. SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks write the same file with the same calls: the text that concerns all rows, and their own rows between
 * kdri_pages_turn and kdri_pages_end_turn. Only rank 0 has a file. The text of the other ranks is dropped, except for
 * their rows, which are sent to rank 0 in blocks, one rank after the other, so that it never has more than one block
 * of them in memory. If a result has all rows, as always without ranks, this is an ordinary file.
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
	const char *path;  /* of a result.json, which lists the files beside it; or NULL */
	bool parted;       /* other ranks have rows, too */
	bool turn;         /* rows are being written */
	bool brief;        /* lists with an entry for each sample are not wanted */
	kdr_status failed; /* for callers that cannot return it at once */
} kdri_pages;

/* All start from a zeroed struct, and end with kdri_pages_close, on all ranks. */
kdr_status kdri_pages_open(kdr_context *ctx, const kdr_result *result, const char *path, bool force,
                           kdri_pages *p);
/* Writes to a function instead of a file; it is called on rank 0. */
kdr_status kdri_pages_open_to(kdr_context *ctx, const kdr_result *result, kdri_output_put *put, void *user,
                              kdri_pages *p);
kdr_status kdri_pages_turn(kdri_pages *p);
/* `st`: how writing the rows here went. */
kdr_status kdri_pages_end_turn(kdri_pages *p, kdr_status st);
/* `st`: how all of it went; the status of all ranks. */
kdr_status kdri_pages_close(kdri_pages *p, kdr_status st);

#endif
