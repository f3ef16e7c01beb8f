/* Text tables: cells and columns. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_CSV_H
#define KDRI_CSV_H

#include "io/text.h"

/* How a pass reads a field. */
typedef enum kdri_how {
	KDRI_HOW_NUMBER,
	KDRI_HOW_SKIP,
	KDRI_HOW_TEXT,
	KDRI_HOW_CATEGORY,
	KDRI_HOW_DATE
} kdri_how;

/* The role of a field, and why it was chosen. */
typedef struct kdri_role {
	kdr_column_kind kind;
	unsigned order;   /* of dates: table.h */
	bool ordered;     /* some date depends on it */
	int64_t features; /* columns of the matrix */
	kdri_names texts; /* of a category */
	bool asked;       /* --columns names it */
	bool words;       /* words such as none are texts of it */
	int64_t missing;  /* cells */
	bool constant;
	double origin; /* the day that dates are counted from */
	char why[96];
} kdri_role;

/* The columns of a file, according to its first rows and the caller's options; later, according to all rows. */
typedef struct kdri_csv_layout {
	char delimiter, point; /* point: the default of fields without their own */
	bool point_given;      /* an option specifies it */
	char thousands;        /* kdri_thousands_read */
	bool typed;            /* kdr_read_options */
	bool header;
	int64_t above;       /* rows above the header, blank ones included */
	int64_t header_line; /* of the header that was found below other rows; 0: none was */
	bool empty; /* a header without rows (kdr_read_options.may_be_empty): it has `names`, but no roles */
	bool keep_nonfinite;
	bool dressed; /* numbers may have units and thousands separators */
	bool guessed; /* `id` is a guess from the first rows and is dropped if names repeat */
	bool quoted;  /* every cell of the first rows is in quotes, so that quotes carry no information */
	bool latin;   /* bytes that are not UTF-8 were read as Latin-1 */
	const char *const *na; /* specified texts that mean a missing value */
	bool na_numbers;       /* one of them is a number, or values change: every cell needs a look */
	const char **
	        recoded; /* `fields`: the key of a change of its values (kdri_cell_recode), or NULL; NULL: there are none */
	struct kdri_changes *changes; /* borrowed */
	int64_t fields;               /* cells in each row */
	int64_t cols;                 /* columns of the matrix */
	int64_t id, label, tasks;     /* fields that hold text, or -1 */
	char **names;                 /* `fields` names from the header, or NULL */
	kdri_role *roles;             /* `fields` of them */
	unsigned char *how;           /* `fields`: a kdri_how */
	char *points;                 /* `fields`: decimal signs */
} kdri_csv_layout;

/* Opens a window on the beginning of an input that can be rewound, detects the encoding and inspects the first rows; the
 * window is then past the header. `delimiter` 0: detect it. */
kdr_status kdri_csv_start(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                          kdri_window *w, kdri_csv_layout *l);
/* Inspects the first rows of the filled window and moves it past the header. `delimiter` 0: detect comma, semicolon, tab
 * or bar. */
kdr_status kdri_csv_layout_find(kdr_context *ctx, kdri_window *w, const kdr_read_options *options,
                                char delimiter, kdri_csv_layout *layout);
/* The error for a row that begins at p and is unfinished, within quotes, at the end of the file. */
kdr_status kdri_csv_unclosed(kdr_context *ctx, const kdri_window *w, const char *p);
void kdri_csv_layout_free(kdr_context *ctx, kdri_csv_layout *layout);
/* The field that `text` numbers, or -1. NULL is accepted. */
int64_t kdri_field_number(const char *text);
/* The field with the name or number `wanted`; -1 if there is none. */
int64_t kdri_csv_field(const kdri_csv_layout *l, const char *wanted);
/* The error for a column that does not exist; `what`: "id ", "label " or "". */
kdr_status kdri_csv_no_column(kdr_context *ctx, const char *path, const kdri_csv_layout *l,
                              const char *wanted, const char *what);
/* The title of a field, or x1, x2, ... in `room`. */
const char *kdri_csv_title(const kdri_csv_layout *l, int64_t field, char room[24]);
/* What --text-column calls a field: its title, or its number if the file has no header. */
const char *kdri_csv_text_column(const kdri_csv_layout *l, int64_t field, char room[24]);

/* csv_rows.c: reads all rows according to the layout's roles into a matrix, names and classes. */
typedef struct kdri_csv_table {
	double *values;
	int64_t rows, room;
	char **ids;
	int64_t *labels;
	kdri_names classes;
	int64_t *task_of; /* kdr_read_options.task_column */
	kdri_names tasks;
	struct kdri_csv_note *notes; /* one for each line of the window; NULL if no column holds text */
	int64_t note_room;
	bool part; /* only the rows of `keep` are wanted; `seen` were passed */
	kdri_range keep;
	int64_t seen;
	bool holes; /* some values are missing: the position of the first */
	int64_t hole_line, hole_field;
} kdri_csv_table;
/* *text is set if a field of numbers contains something else; the table is then not read. If `text` is NULL, this is an
 * error. Missing values are NaN. */
kdr_status kdri_csv_rows(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_csv_table *t,
                         bool *text);
void kdri_csv_table_free(kdr_context *ctx, kdri_csv_table *t);
/* Splits the unread text of the window into KDRI_SLICES slices at ends of rows. *whole: the length up to the last of them, 0 if
 * there is none. Returns the number of lines. */
int64_t kdri_csv_cut(const kdr_context *ctx, const kdri_window *w, char delimiter, kdri_slice *slices,
                     size_t *whole);

/* One cell: its text without surrounding blanks and quotes. */
typedef struct kdri_csv_cell {
	const char *begin, *end;
	bool quoted;
	bool torn;        /* something other than a delimiter follows the closing quote */
	const char *stop; /* the delimiter or newline after it */
} kdri_csv_cell;

/* The cell at p. The text must contain a complete row, that is, a newline outside quotes. */
kdri_csv_cell kdri_csv_cell_at(const char *p, char delimiter);
/* One past the newline that ends the row at p, or NULL if it does not end before `end`. */
const char *kdri_csv_row_end(const char *p, const char *end, char delimiter);
/* Whether the cell is a number, NaN and infinities included. */
bool kdri_csv_is_number(const kdri_csv_cell *cell, char point, double *value);
/* Copies the cell's text with doubled quotes undone, at most `room` bytes including the NUL. Returns its length. */
size_t kdri_csv_copy(const kdri_csv_cell *cell, char *out, size_t room);
/* A copy of the cell's text with doubled quotes undone. */
kdr_status kdri_csv_text(kdr_context *ctx, const kdri_csv_cell *cell, char **out);

/* csv_write.c: copies a text table unchanged and appends columns. A column is called by its title, or title_2 and so on if that name
 * exists. */
kdr_status kdri_csv_append_columns(kdr_context *ctx, const kdri_added *added, const char *const *titles,
                                   int count, const char *path, bool force);

/* Moves a window at the beginning of a table past a byte order mark and a line "sep=;". */
void kdri_csv_skip_start(kdri_window *w);
/* Calls `row` for every row of the window's file, blank ones included. `end` is behind the row's newline; `added`: the
 * file lacks that newline and the window has added it. */
typedef kdr_status (*kdri_csv_row_fn)(void *user, const char *row, const char *end, bool added);
kdr_status kdri_csv_each_row(kdr_context *ctx, kdri_window *w, char delimiter, kdri_csv_row_fn row,
                             void *user);
/* Fails if a table that is read a second time does not have the rows that it had before. */
kdr_status kdri_csv_same_rows(kdr_context *ctx, const char *path, int64_t now, int64_t before);

/* csv_read.c: the cells of some rows. place: for each of the `rows` data rows the row of `cells` that it becomes, or -1. titles:
 * dialect->fields texts, left NULL if the table has no header; cells: as many for each row. What a row lacks stays NULL. Both begin with NULLs
 * and are the caller's, also after a failure. */
kdr_status kdri_csv_pick(kdr_context *ctx, const char *input, const kdri_dialect *dialect,
                         const int64_t *place, int64_t rows, char **titles, char **cells);

/* csv_write.c */
/* The same for a table that people open in a spreadsheet: what it would evaluate as a formula begins with an apostrophe, unless
 * the context has raw_cells. */
kdr_status kdri_csv_put_cell(kdr_context *ctx, kdri_output *out, const char *text, char delimiter);
/* Whether a spreadsheet would evaluate this text: it begins with = + - @, a tab or CR, and is no number. */
bool kdri_is_formula(const char *text);
kdr_status kdri_csv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);
kdr_status kdri_tsv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force);

#endif
