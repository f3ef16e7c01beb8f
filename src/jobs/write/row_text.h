/* The text of many rows, made by several threads and written in order. SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads make the text of blocks of rows in memory of a fixed size. A block with longer rows is made again by the caller's
 * thread, straight into the file: nothing allocates in a parallel region. The bytes are those of one thread. */
#ifndef KDRI_ROW_TEXT_H
#define KDRI_ROW_TEXT_H

#include "core/internal.h"

typedef struct kdri_row_text {
	void *user;
	/* Makes the text of rows first .. end - 1 on the given thread (0 .. threads - 1); false: it needs more than `room` bytes. */
	bool (*make)(void *user, int thread, int64_t first, int64_t end, char *text, size_t room,
	             size_t *used);
	/* Writes a block of text. */
	kdr_status (*take)(void *user, const char *text, size_t length);
	/* Makes and writes rows first .. end - 1. */
	kdr_status (*write)(void *user, int64_t first, int64_t end);
} kdri_row_text;

/* Whether `rows` rows are enough for several threads. */
bool kdri_row_text_shared(const kdr_context *ctx, int64_t rows);
/* Writes rows 0 .. rows - 1. */
kdr_status kdri_row_text_write(kdr_context *ctx, const kdri_row_text *t, int64_t rows);

#endif
