/* Matrix Market files: header and parts. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_MTX_H
#define KDRI_MTX_H

#include "io/binary.h"
#include "io/text.h"

typedef enum kdri_mtx_symmetry { KDRI_MTX_GENERAL, KDRI_MTX_SYMMETRIC, KDRI_MTX_SKEW } kdri_mtx_symmetry;

typedef struct kdri_mtx_header {
	bool array;   /* dense, column by column */
	bool pattern; /* entries without values: ones */
	bool keep_nonfinite;
	kdri_mtx_symmetry symmetry;
	int64_t rows, cols;
	bool may_be_empty;
	kdri_range keep;  /* rows to hold */
	int64_t declared; /* lines of entries or values that must follow */
} kdri_mtx_header;

/* mtx_array.c: the values of a dense matrix, after the header. */
kdr_status kdri_mtx_read_array(kdr_context *ctx, kdri_window *w, const kdri_mtx_header *h, kdr_data *data);
/* mtx_array.c */
kdr_status kdri_mtx_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);

/* The errors that a line can have. */
enum kdri_mtx_trouble {
	KDRI_MTX_FINE,
	KDRI_MTX_NO_INDEX,
	KDRI_MTX_OUTSIDE,
	KDRI_MTX_NO_VALUE,
	KDRI_MTX_NOT_FINITE,
	KDRI_MTX_TEXT_AFTER,
	KDRI_MTX_UPPER,
	KDRI_MTX_TOO_MANY
};

typedef struct kdri_mtx_problem {
	enum kdri_mtx_trouble what;
	const char *line, *at;
} kdri_mtx_problem;

kdr_status kdri_mtx_report(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h,
                           const kdri_mtx_problem *problem);
/* "declares 100 entries, found 57" */
kdr_status kdri_mtx_short(kdr_context *ctx, const kdri_window *w, const kdri_mtx_header *h, int64_t found);

/* Whether the line at p is blank or a comment. */
static inline bool kdri_mtx_skip(const char *p)
{
	return *p == '%' || kdri_at_newline(p);
}

/* The start of the next line if only blanks follow in this line; otherwise NULL. */
static inline const char *kdri_mtx_line_end(const char *p)
{
	p = kdri_skip_blanks(p);
	return kdri_at_newline(p) ? p + (*p == '\r') + 1 : NULL;
}

#endif
