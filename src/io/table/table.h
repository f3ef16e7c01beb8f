/* Tables with columns of several kinds. SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of plain numbers is read in one pass (csv_read.c), which stops at the first cell that is not a number. In that case
 * every cell is inspected once (table_survey.c), the kind of each column is detected or taken from the options
 * (table_kind.c), and a second pass reads the columns accordingly. Only the findings of a pass are kept, so that the
 * memory is that of the result. */
#ifndef KDRI_TABLE_H
#define KDRI_TABLE_H

#include "core/names.h"
#include "io/table/csv.h"

/* --- cells: table_values.c -------------------------------------------- */

enum { KDRI_POINT = 1, KDRI_COMMA = 2 };           /* the decimal sign: bits */
enum { KDRI_DAY_FIRST = 1, KDRI_MONTH_FIRST = 2 }; /* 14/3 or 3/14: bits */

/* How a cell is written. */
typedef struct kdri_look {
	unsigned decimals; /* decimal separators with which it is a number */
	bool differ;       /* both, and the numbers differ */
	bool comma;        /* it contains a comma */
	bool grouped;      /* it has thousands separators with each of them */
	bool spaced;       /* these are blanks or apostrophes, with each of them */
	bool bare;         /* only digits, and not zero */
	bool round;        /* `differ`, and its last digit is zero */
	bool percent;
	int currency;    /* 0: none */
	double value;    /* the number: with the decimal point if possible */
	unsigned orders; /* orders in which it is a date */
	bool either;     /* both, and the dates differ */
} kdri_look;

/* Whether the text is a number, and how it is written; otherwise `look` is unchanged. */
bool kdri_number_look(const char *p, const char *end, char thousands, kdri_look *look);
bool kdri_number_value(const char *p, const char *end, char decimal, char thousands, double *value);
/* What separates thousands, by the option: KDRI_ANY_GROUPS if it is NULL, KDRI_NO_GROUPS, or one of . , ' and blank. */
enum { KDRI_ANY_GROUPS = '\0', KDRI_NO_GROUPS = 'n' };
kdr_status kdri_thousands_read(kdr_context *ctx, const char *text, char *out);
/* The same for dates; days since 1970-01-01. */
bool kdri_date_look(const char *p, const char *end, kdri_look *look);
bool kdri_date_value(const char *p, const char *end, unsigned order, double *days);
/* Whether a text means a missing value: it is empty or one of the known texts; `na`: further texts, ended by NULL, or
 * NULL. */
bool kdri_is_missing(const char *p, const char *end, const char *const *na);
/* Whether such a text is a word that can also be a category: none, null, NA, n/a. */
bool kdri_is_word_for_missing(const char *p, const char *end, const char *const *na);

typedef enum kdri_missing {
	KDRI_MISSING_ERROR,
	KDRI_MISSING_ZERO,
	KDRI_MISSING_MEAN,
	KDRI_MISSING_MEDIAN,
	KDRI_MISSING_DROP_ROW,
	KDRI_MISSING_DROP_COLUMN,
	KDRI_MISSING_KEEP /* NaN, for methods that skip missing values */
} kdri_missing;

/* --- column specifications: table_columns.c ---------------------------------------------------------------------------- */

/* What is specified for a column: an item of "height,width,city:category,-Nr,+day". */
typedef struct kdri_column_spec {
	char *name;
	bool optional;  /* the column need not exist: "name"?:kind */
	bool leave;     /* -name */
	bool keep;      /* +name */
	int kind;       /* a kdr_column_kind; -1: detect it */
	unsigned order; /* of dates; 0: detect it */
} kdri_column_spec;

typedef struct kdri_column_specs {
	kdri_column_spec *items;
	int64_t count;
	bool only;    /* columns that are not named are skipped */
	bool numbers; /* columns that are not named are numbers: *:number */
} kdri_column_specs;

kdr_status kdri_column_specs_read(kdr_context *ctx, const char *text, kdri_column_specs *out);
void kdri_column_specs_free(kdr_context *ctx, kdri_column_specs *specs);

/* --- findings: table.c ---------------------------------------------------------------------- */

struct kdr_findings {
	kdr_allocator allocator;
	kdr_finding *items;
	int64_t count;
};

/* `then`: how it is handled, and the option that helps. */
KDR_PRINTF(6, 7)
kdr_status kdri_finding_add(kdr_context *ctx, kdr_findings *list, int64_t line, bool fatal, const char *then,
                            const char *format, ...);

/* --- columns: table_survey.c, table_kind.c ------------------------------------------------------------ */

/* The maximum number and length of texts that are kept for a column; a column with more is not a category. */
enum { KDRI_TEXTS_MOST = 256, KDRI_TEXT_LONGEST = 120 };

/* What the cells of a column contain. */
typedef struct kdri_evidence {
	int64_t cells, missing;      /* number of cells; missing ones among them */
	int64_t words;               /* missing ones that are words such as none */
	kdri_names word_texts;       /* the words as they are written */
	int64_t numbers, dates;      /* cells that are */
	int64_t infinite;            /* numbers that are not finite */
	unsigned decimals;           /* decimal separators that are possible for all numbers */
	bool point_differs;          /* "1.234": the separator matters, and it is a point; */
	bool comma_differs;          /* or a comma */
	bool grouped, percent, unit; /* thousands; percent signs; numbers with neither percent nor currency */
	bool spaced;                 /* blanks or apostrophes separate thousands */
	bool bare_small, bare_large; /* digits alone, below 1000 and from there on */
	bool round;                  /* a number that depends on the decimal sign ends in zero */
	int currency;                /* the first; -1: several */
	unsigned orders;             /* that suit all dates */
	bool either;                 /* some date depends on it */
	bool running;                /* integers 0, 1, 2, ... or 1, 2, 3, ... */
	bool whole;                  /* all are integers */
	bool digits;                 /* all cells contain only digits, */
	bool padded;                 /* and zeros before other digits in some: codes, such as 01067 */
	int64_t text_row;            /* the row, from 0, of text_line */
	int64_t missing_line, text_line, infinite_line, mixed_line; /* of the first such cell */
	char text[KDRI_TEXT_LONGEST + 1];                           /* that first cell of text */
	int64_t undated_line;                                       /* the first cell that is not a date */
	char undated[KDRI_TEXT_LONGEST + 1];
	char mixed[KDRI_TEXT_LONGEST + 1]; /* the first number that is inconsistent with those before */
	int64_t unclear_line;              /* the first number that depends on the decimal sign */
	char unclear[KDRI_TEXT_LONGEST + 1];
	kdri_names texts; /* distinct cells except missing ones, if there are few */
	bool many;        /* there are more than stored */
	uint64_t *seen;   /* hashes of all cells while none repeats: open addressing */
	int64_t seen_room, seen_count;
	bool repeats, unwatched; /* a cell repeats; repetitions are no longer searched */
	bool named_ids;          /* the title suggests row names */
	double seen_first;       /* the number in the first row */
} kdri_evidence;

typedef struct kdri_survey {
	kdri_evidence *fields;
	int64_t rows;
	int64_t ragged, ragged_line, ragged_fields; /* rows with another number of cells; the first */
	int64_t torn, torn_line, torn_field;
	int64_t unclosed_line; /* line of a quote without end; 0: none */
	bool not_utf8;
} kdri_survey;
kdr_status kdri_survey_run(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, int64_t first,
                           kdri_survey *out);
void kdri_survey_free(kdr_context *ctx, const kdri_csv_layout *l, kdri_survey *survey);

/* Decides the role of each field of the layout and lists problems. Fatal problems are in the list, too. */
kdr_status kdri_kinds_decide(kdr_context *ctx, const char *path, const kdr_read_options *options,
                             const kdri_column_specs *specs, kdri_survey *survey, kdri_csv_layout *l,
                             kdr_findings *findings);
/* Whether texts are of several words each, such as reviews. */
bool kdri_are_prose(char *const *texts, int64_t count);
/* Adds remarks on columns without problems and on missing values. */
kdr_status kdri_table_remark(kdr_context *ctx, kdri_missing policy, const kdri_survey *survey,
                             const kdri_csv_layout *l, kdr_findings *findings);
/* table_values.c: a part of kdri_kinds_decide. */
kdr_status kdri_decimals_decide(kdr_context *ctx, const kdri_survey *survey, kdri_csv_layout *l,
                                kdr_findings *findings);
/* Whether the points of some column may separate decimals or thousands. */
bool kdri_decimals_unclear(const kdri_survey *survey, const kdri_csv_layout *l);
/* table_role.c: gives for each field the item of `specs` that names it, or NULL; a name without a column is an error.
 * Free *out. */
kdr_status kdri_column_specs_match(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                                   const kdri_csv_layout *l, const kdri_column_spec ***out);
/* Roles of a table that is treated as numbers, except for ids, labels and specified columns; *plain is false if this is
 * not possible. */
kdr_status kdri_kinds_plain(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                            kdri_csv_layout *l, bool *plain);
/* table_columns.c: adds remarks on columns that options name and the table does not have; other tables may have them. */
kdr_status kdri_named_remark(kdr_context *ctx, const kdri_column_specs *specs, const kdri_csv_layout *l,
                             kdr_findings *findings);
/* "line 7, column 3 (width)". */
const char *kdri_place(const kdri_csv_layout *l, int64_t line, int64_t field, char room[160]);
/* Sets the columns of the roles in the matrix: cols, how and points follow from the kinds. */
kdr_status kdri_roles_settle(kdr_context *ctx, kdri_csv_layout *l);
/* Writes "line 3, column 1 (height): missing value (12 in total: height 7, width 5)". */
void kdri_missing_text(const kdri_csv_layout *l, int64_t line, int64_t field, char *text, size_t room);
extern const char kdri_missing_help[];

/* --- after reading: table_role.c, table_fill.c --------------------------------------------------------- */

/* From this number of rows on, a column of consecutive numbers is treated as row names, whatever its title. */
enum { KDRI_RUNNING_LEAST = 6 };
/* Searches for row names among columns of numbers if no other column has them and no option specifies them. *found: the
 * layout has changed, and the table must be read again with it. */
kdr_status kdri_table_find_ids(kdr_context *ctx, const char *path, const kdri_column_specs *specs,
                               kdri_csv_layout *l, const kdri_csv_table *t, bool *found);
/* Whether the row names are all different. */
kdr_status kdri_ids_differ(kdr_context *ctx, const kdri_csv_table *t, bool *out);

/* table_totals.c: whether a text begins with a word for sums or means. */
bool kdri_says_total(const char *text, size_t length);
/* Whether the last row may be the sum or mean of the others; *without_word: whether it also is without a word for that. */
bool kdri_may_be_total(const kdri_csv_layout *l, const kdri_csv_table *t, bool *without_word);
/* Removes the last row. *id: its name, to be freed, or NULL. */
kdr_status kdri_drop_last(kdr_context *ctx, kdri_csv_layout *l, kdri_csv_table *t, char **id);
/* table_fill.c: keeps the names, of classes or tasks, that the rows still have, in order of first appearance. */
kdr_status kdri_keep_names(kdr_context *ctx, int64_t rows, int64_t *of, kdri_names *names);

extern const char *const kdri_missing_names[]; /* in the order of kdri_missing */
kdr_status kdri_missing_read(kdr_context *ctx, const char *text, kdri_missing *out);
/* Handles missing values, which are NaN, according to the policy; dates are counted from the earliest. Skipped rows are
 * recorded in `data`; `sheet` keeps the values that replaced missing ones, and where. */
kdr_status kdri_table_fill(kdr_context *ctx, const char *path, kdri_missing policy, kdri_csv_layout *l,
                           kdri_csv_table *t, kdri_sheet *sheet, kdr_data *data);
/* The description of the columns. */
kdr_status kdri_table_describe(kdr_context *ctx, const kdr_read_options *options, kdri_csv_layout *l,
                               const kdri_csv_table *t, kdri_sheet *sheet);

/* The titles of columns in a table without rows. */
kdr_status kdri_table_titles(kdr_context *ctx, const kdri_csv_layout *l, kdri_sheet *sheet);

/* --- csv_read.c ---------------------------------------------------------------------------------------------- */

/* Lists all problems of a table. */
kdr_status kdri_csv_inspect(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                            kdr_findings *findings);

/* Columns that options name, over all files of a job.
 *
 * kdr_read_options.columns and .rename may name columns that only some of the files have. While files are read, the context
 * points to a kdri_named, which records what was found. */

/* Where a change comes from. Those of a table, and of a model, need not all occur. */
typedef enum kdri_change_from { KDRI_CHANGE_OPTION, KDRI_CHANGE_TABLE, KDRI_CHANGE_MODEL } kdri_change_from;
enum {
	KDRI_COLUMN_END = 0x1f, /* between the column and its value in the key of a change */
	KDRI_COLUMN_LONGEST = 255,
	KDRI_RECODE_KEY = KDRI_COLUMN_LONGEST + KDRI_TEXT_LONGEST + 4
};

typedef struct kdri_changes {
	kdri_names old; /* names of columns, or columns with values, */
	char **to;      /* and the new name or value of each */
	kdri_change_from *from;
	bool *used; /* some file has it */
	int64_t room;
} kdri_changes;

typedef struct kdri_named {
	bool several; /* a file need not have columns that other files have */
	kdri_changes names, values;
	bool *found; /* of each item of `columns`: some file has it; NULL: no table was read */
} kdri_named;

/* Reads the new names and sets ctx->named. kdri_named_end in any case. */
kdr_status kdri_named_begin(kdr_context *ctx, const kdr_read_options *options, bool several, kdri_named *out);
void kdri_named_end(kdr_context *ctx, kdri_named *named);
/* Gives columns of the file `path` their new names. Two columns with the same new name are an error. */
kdr_status kdri_named_rename(kdr_context *ctx, const char *path, char **names, int64_t count);
/* Keeps the changes of names and values, as options have them. */
kdr_status kdri_named_keep(kdr_context *ctx, kdri_sheet *sheet);
/* Finds the columns of a layout with values that change. */
kdr_status kdri_recode_begin(kdr_context *ctx, kdri_csv_layout *l);
/* Gives a cell its new value: the change that applies, or -1. */
int64_t kdri_cell_recode(const kdri_csv_layout *l, int64_t field, kdri_csv_cell *cell);
/* Whether a text is a column name that becomes another. */
bool kdri_named_is_old(const kdri_named *named, const char *text, size_t length);
/* After all files: the error for columns that none of them has. */
kdr_status kdri_named_check(kdr_context *ctx, const kdr_read_options *options, kdr_data *const *sets,
                            int64_t count);

#endif
