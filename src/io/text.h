/* What the readers of text share. SPDX-License-Identifier: BSD-3-Clause
 *
 * A file is read through a window of a few megabytes. Each window of complete lines is split into slices at newlines.
 * The slices are parsed in parallel, each directly into its place in the result, which follows from the number of
 * newlines before it. The memory is therefore that of the result plus the window, and the result does not depend on the
 * number of threads. */
#ifndef KDRI_TEXT_H
#define KDRI_TEXT_H

#include "core/names.h"
#include "io/io.h"

/* --- input.c --------------------------------------------------------------------------------- */

/* input.c: converts bytes of other encodings to UTF-8 while they are read. */
typedef enum kdri_encoding { KDRI_UTF8, KDRI_LATIN1, KDRI_UTF16LE, KDRI_UTF16BE } kdri_encoding;
typedef struct kdri_recode {
	kdri_encoding from;
	bool returns;          /* lines end in CR alone */
	bool end;              /* nothing follows */
	unsigned char rest[4]; /* the beginning of an incomplete character */
	size_t nrest;
} kdri_recode;
/* Detects the encoding from the first bytes of a text: a byte order mark, NUL bytes at every second place, bytes that
 * are not UTF-8. *mark: bytes of the mark. */
kdri_encoding kdri_encoding_find(const char *text, size_t length, bool whole, size_t *mark);

typedef struct kdri_window {
	kdri_input *in; /* borrowed */
	kdri_recode recode;
	char *data;
	size_t begin, end, room; /* unread text is data[begin .. end) */
	bool last;    /* nothing follows; the text then ends with a newline, which is added if necessary */
	bool added;   /* that newline has been added */
	int64_t line; /* lines before `begin`, kept by the reader */
} kdri_window;

kdr_status kdri_window_open(kdr_context *ctx, kdri_input *in, kdri_window *w);
/* Moves unread text to the front and reads more. If the window is full of one unfinished line, it grows up to a limit.
 * Reports progress. */
kdr_status kdri_window_fill(kdr_context *ctx, kdri_window *w);
void kdri_window_close(kdr_context *ctx, kdri_window *w);
/* Fills the window until it has a complete line; *whole is the end of the last complete line (0: at the end). */
kdr_status kdri_window_lines(kdr_context *ctx, kdri_window *w, size_t *whole);
/* Estimates how many items the entire file has if there were `count` up to data[whole]; used to allocate results once.
 * It depends only on the size of the file, so that wrong sizes in a header have no effect. */
int64_t kdri_window_foresee(const kdri_window *w, size_t whole, int64_t count);
/* KDRI_GROW for these. Threads wait for each other when they touch pages for the first time: large pages are fewer. */
kdr_status kdri_grow_result(kdr_context *ctx, void *inout, int64_t count, size_t size);
#define KDRI_GROW_RESULT(ctx, inout, count) kdri_grow_result((ctx), (inout), (count), sizeof **(inout))

/* --- slices ----------------------------------------------------------------------------------- */

enum { KDRI_SLICES = 64 };

typedef struct kdri_slice {
	const char *begin, *end; /* complete lines */
	int64_t lines;           /* newlines in it */
	int64_t first;           /* newlines in the slices before */
} kdri_slice;

/* Splits [begin, end), which ends with a newline, into KDRI_SLICES pieces (some may be empty) and counts their lines.
 * Returns the number of lines. */
int64_t kdri_slices_cut(const kdr_context *ctx, const char *begin, const char *end, kdri_slice *slices);
/* Fills `lines` and `first` of slices cut by other means. */
int64_t kdri_slices_count(const kdr_context *ctx, kdri_slice *slices);
int64_t kdri_count_byte(const char *begin, const char *end, char byte);

static inline bool kdri_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *kdri_skip_blanks(const char *p)
{
	while (kdri_is_blank(*p))
		p++;
	return p;
}

/* At the end of a line: "\n" or "\r\n". */
static inline bool kdri_at_newline(const char *p)
{
	return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* svmlight.c */
kdr_status kdri_svmlight_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);

/* --- labels.c --------------------------------------------------------------------------------- */

/* The lines of a file of names. A blank line before the last name, or more than `most` names, is
 * KDR_ERR_DATA. */
kdr_status kdri_lines_read(kdr_context *ctx, const char *path, int64_t most, char ***out, int64_t *count);

/* --- entries.c: entries of a sparse matrix in any order, to compressed rows -------------------- */
/* The same, and where each row begins. */
kdr_status kdri_entries_to_rows(kdr_context *ctx, int64_t rows, int64_t cols, int64_t *count, int32_t *row,
                                int32_t *col, double *val, int64_t **rowptr);
/* Sorts one row's entries by column in place. */
void kdri_entries_sort_row(int64_t count, int32_t *col, double *val);

#endif
