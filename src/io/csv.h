/* Tables of text: cells and columns. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CSV_H
#define KDRI_CSV_H

#include "io/text.h"

/* What the file's first rows and the caller's wishes say about its columns. */
typedef struct kdri_csv_layout {
	char delimiter, point;
	enum { KDRI_MISSING_ERROR, KDRI_MISSING_ZERO, KDRI_MISSING_DROP } missing;
	bool header;
	bool keep_nonfinite;
	int64_t fields;    /* cells in each row */
	int64_t cols;      /* of them, columns of numbers */
	int64_t id, label; /* fields that hold text, or -1 */
	char **names;      /* `fields` names from the header, or NULL */
} kdri_csv_layout;

/* Looks at the first rows of the window, which is filled, and moves it past the header.
 * `delimiter` 0: find out among comma, semicolon and tab. */
kdr_status kdri_csv_layout_find(kdr_context *ctx, kdri_window *w, const kdr_read_options *options,
                                char delimiter, kdri_csv_layout *layout);
/* The error for a row, beginning at p, that the end of the file cuts off within quotes. */
kdr_status kdri_csv_unclosed(kdr_context *ctx, const kdri_window *w, const char *p);
void kdri_csv_layout_free(kdr_context *ctx, kdri_csv_layout *layout);

/* One cell: its text without blanks around it; within the quotes where it had them. */
typedef struct kdri_csv_cell {
	const char *begin, *end;
	bool quoted;
	bool torn;        /* something other than a delimiter follows the closing quote */
	const char *stop; /* the delimiter or newline after it */
} kdri_csv_cell;

/* The cell at p. The text must hold a whole row, that is, a newline outside quotes. */
kdri_csv_cell kdri_csv_cell_at(const char *p, char delimiter);
/* One past the newline that ends the row at p, or NULL if it does not end before `end`. */
const char *kdri_csv_row_end(const char *p, const char *end, char delimiter);
/* Whether the cell is a number, NaN and infinities included. */
bool kdri_csv_is_number(const kdri_csv_cell *cell, char point, double *value);
/* Empty, or NA, or NaN. */
bool kdri_csv_is_missing(const kdri_csv_cell *cell);
/* A copy of the cell's text, doubled quotes made one. */
kdr_status kdri_csv_text(kdr_context *ctx, const kdri_csv_cell *cell, char **out);

/* csv_write.c */

/* One cell of text, quoted where it must be. */
kdr_status kdri_csv_put_text(kdr_context *ctx, kdri_output *out, const char *text, char delimiter);
kdr_status kdri_csv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);
kdr_status kdri_tsv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);

#endif
