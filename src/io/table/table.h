/* Tables whose columns are of all kinds. SPDX-License-Identifier: BSD-3-Clause
 *
 * A table of plain numbers is read in one pass (csv.c), which stops at the first cell that is none. Then every cell is
 * looked at once (table_survey.c), each column is taken for what that shows, or for what was told (table_kind.c), and
 * a second pass reads it as that. Only what a pass has found is kept, so memory is that of the result. */
#ifndef KDRI_TABLE_H
#define KDRI_TABLE_H

#include "io/table/csv.h"

/* --- cells: table_number.c, table_date.c, table_missing.c -------------------------------------------- */

enum { KDRI_POINT = 1, KDRI_COMMA = 2 };           /* the decimal sign: bits */
enum { KDRI_DAY_FIRST = 1, KDRI_MONTH_FIRST = 2 }; /* 14/3 or 3/14: bits */

/* How a cell is written. */
typedef struct kdri_look {
	unsigned decimals; /* decimal signs under which it is a number */
	bool differ;       /* both, and the numbers differ */
	bool comma;        /* there is a comma in it */
	bool grouped;      /* thousands are separated under every such sign */
	bool percent;
	int currency;    /* 0: none */
	double value;    /* of the number: by the point if that can be */
	unsigned orders; /* orders in which it is a date */
	bool either;     /* both, and the dates differ */
} kdri_look;

/* Whether the text is a number, and how; else `look` stays as it was. */
bool kdri_number_look(const char *p, const char *end, kdri_look *look);
bool kdri_number_value(const char *p, const char *end, char decimal, double *value);
const char *kdri_currency_name(int currency);
/* The same for dates; days since 1970-01-01. */
bool kdri_date_look(const char *p, const char *end, kdri_look *look);
bool kdri_date_value(const char *p, const char *end, unsigned order, double *days);
/* Empty, or one of the texts that stand for no value; `na`: more of them, ended by NULL, or NULL. */
bool kdri_is_missing(const char *p, const char *end, const char *const *na);

typedef enum kdri_missing {
	KDRI_MISSING_ERROR,
	KDRI_MISSING_ZERO,
	KDRI_MISSING_MEAN,
	KDRI_MISSING_MEDIAN,
	KDRI_MISSING_DROP_ROW,
	KDRI_MISSING_DROP_COLUMN,
	KDRI_MISSING_KEEP /* NaN, for methods that skip missing values */
} kdri_missing;

/* csv_start.c: "," ";" "tab" "|" and their names; *out stays where nothing is told. */
kdr_status kdri_delimiter_read(kdr_context *ctx, const char *told, char *out);

/* --- wishes: table_wish.c ---------------------------------------------------------------------------- */

/* What is told of a column: an item of "height,width,city:category,-Nr,+day". */
typedef struct kdri_wish {
	char *name;
	bool optional;  /* need not be there: "name"?:kind */
	bool leave;     /* -name */
	bool keep;      /* +name */
	int kind;       /* a kdr_column_kind; -1: find out */
	unsigned order; /* of dates; 0: find out */
} kdri_wish;

typedef struct kdri_wishes {
	kdri_wish *items;
	int64_t count;
	bool only;    /* columns that are not named are left out */
	bool numbers; /* columns that are not named are numbers: *:number */
} kdri_wishes;

kdr_status kdri_wishes_read(kdr_context *ctx, const char *text, kdri_wishes *out);
void kdri_wishes_free(kdr_context *ctx, kdri_wishes *wishes);

/* --- what is odd: table_findings.c ---------------------------------------------------------------------- */

struct kdr_findings {
	kdr_allocator allocator;
	kdr_finding *items;
	int64_t count;
};

/* `then`: what is done about it, and the flag that helps. */
KDR_PRINTF(6, 7)
kdr_status kdri_finding_add(kdr_context *ctx, kdr_findings *list, int64_t line, bool fatal, const char *then,
                            const char *format, ...);

/* --- columns: table_survey.c, table_kind.c ------------------------------------------------------------ */

/* Texts of a column are kept up to so many, and to such a length; a column with more is no category. */
enum { KDRI_TEXTS_MOST = 256, KDRI_TEXT_LONGEST = 120 };

/* What the cells of a column show. */
typedef struct kdri_evidence {
	int64_t cells, missing; /* all of them; of these, without a value */
	int64_t numbers, dates; /* cells that are */
	int64_t infinite;       /* numbers that are not finite */
	unsigned decimals;      /* decimal signs that suit all numbers */
	bool point_differs;     /* "1.234": it matters which sign it is, and it is a point; */
	bool comma_differs;     /* or a comma */
	bool grouped, percent,
	        unit;    /* thousands; signs of percent; numbers with neither percent nor currency */
	int currency;    /* the first; -1: several */
	unsigned orders; /* that suit all dates */
	bool either;     /* some date depends on it */
	bool running;    /* whole numbers 0, 1, 2, ... or 1, 2, 3, ... */
	bool whole;      /* whole numbers all */
	bool digits;     /* nothing but digits in all cells, */
	bool padded;     /* and zeros before other digits in some: codes, such as 01067 */
	int64_t missing_line, text_line, infinite_line, mixed_line; /* of the first such cell */
	char text[KDRI_TEXT_LONGEST + 1];                           /* that first cell of text */
	int64_t undated_line;                                       /* the first cell that is no date */
	char undated[KDRI_TEXT_LONGEST + 1];
	char mixed[KDRI_TEXT_LONGEST + 1]; /* the first number that does not fit those before */
	int64_t unclear_line;              /* a number that depends on the decimal sign, and has a comma */
	char unclear[KDRI_TEXT_LONGEST + 1];
	kdri_names texts; /* different cells, missing ones apart, while there are few */
	bool many;        /* there are more */
	uint64_t *seen;   /* hashes of all cells while none repeats: open addressing */
	int64_t seen_room, seen_count;
	bool repeats, unwatched; /* a cell repeats; nobody looks for it any more */
	bool named_ids;          /* the title is one of row names */
	double seen_first;       /* the number in the first row */
} kdri_evidence;

typedef struct kdri_survey {
	kdri_evidence *fields;
	int64_t rows;
	int64_t ragged, ragged_line, ragged_fields; /* rows with another number of cells; the first */
	int64_t torn, torn_line, torn_field;
	int64_t unclosed_line; /* a quote that never closes; 0: none */
	bool not_utf8;
} kdri_survey;

/* Looks at every cell from the window on. */
kdr_status kdri_survey_run(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_survey *out);
void kdri_survey_free(kdr_context *ctx, const kdri_csv_layout *l, kdri_survey *survey);

/* Decides for each field of the layout: fills its roles, and lists what is odd. What is fatal is in the list. */
kdr_status kdri_kinds_decide(kdr_context *ctx, const char *path, const kdr_read_options *options,
                             const kdri_wishes *wishes, kdri_survey *survey, kdri_csv_layout *l,
                             kdr_findings *findings);
/* What is worth saying of columns that are in order, and of missing values. */
kdr_status kdri_table_remark(kdr_context *ctx, kdri_missing policy, const kdri_survey *survey,
                             const kdri_csv_layout *l, kdr_findings *findings);
/* table_decimal.c: a part of that. */
kdr_status kdri_decimals_decide(kdr_context *ctx, const kdr_read_options *options, const kdri_survey *survey,
                                kdri_csv_layout *l, kdr_findings *findings);
/* table_role.c. Of each field the item of `wishes` that is about it, or NULL; what it names and is not there is an error. Free *out. */
kdr_status kdri_wishes_match(kdr_context *ctx, const char *path, const kdri_wishes *wishes,
                             const kdri_csv_layout *l, const kdri_wish ***out);
/* Roles of a table that is taken for numbers, but for ids, labels and wishes; false where it cannot be. */
kdr_status kdri_kinds_plain(kdr_context *ctx, const char *path, const kdri_wishes *wishes, kdri_csv_layout *l,
                            bool *plain);
/* named.c: what options name and the table lacks, which other tables may have. */
kdr_status kdri_named_remark(kdr_context *ctx, const kdri_wishes *wishes, const kdri_csv_layout *l,
                             kdr_findings *findings);
/* "line 7, column 3 (width)". */
const char *kdri_place(const kdri_csv_layout *l, int64_t line, int64_t field, char room[160]);
/* The roles have their place in the matrix: cols, how and points follow from the kinds. */
kdr_status kdri_roles_settle(kdr_context *ctx, kdri_csv_layout *l);
/* "line 3, column 1 (height): the cell has no value; 12 cells have none, in columns height (7), width (5)". */
void kdri_missing_text(const kdri_csv_layout *l, int64_t line, int64_t field, char *text, size_t room);
extern const char kdri_missing_help[];

/* --- after reading: table_id.c, table_fill.c, table_sheet.c --------------------------------------------- */

/* Whether a title is one that people give to row names: id, nr, index, ... */
bool kdri_name_of_ids(const char *name);
/* So many rows make a column that counts row names, whatever its title. */
enum { KDRI_RUNNING_LEAST = 6 };
/* Looks for row names among columns of numbers, where nothing else has them and nothing is told of them. *found: the
 * layout has changed, and the table has to be read by it. */
kdr_status kdri_table_find_ids(kdr_context *ctx, const char *path, const kdri_wishes *wishes,
                               kdri_csv_layout *l, const kdri_csv_table *t, bool *found);
/* Whether the row names are all different. */
kdr_status kdri_ids_differ(kdr_context *ctx, const kdri_csv_table *t, bool *out);

extern const char *const kdri_missing_names[]; /* in the order of kdri_missing */
kdr_status kdri_missing_read(kdr_context *ctx, const char *told, kdri_missing *out);
/* What is to be done about cells without a value, which are NaN; dates are counted from the first. Rows left out are
 * noted in `data`; `sheet` keeps what filled holes, and where they were. */
kdr_status kdri_table_fill(kdr_context *ctx, const char *path, kdri_missing policy, kdri_csv_layout *l,
                           kdri_csv_table *t, kdri_sheet *sheet, kdr_data *data);
/* The description of the columns. */
kdr_status kdri_table_describe(kdr_context *ctx, const kdr_read_options *options, kdri_csv_layout *l,
                               const kdri_csv_table *t, kdri_sheet *sheet);

/* The titles of columns that no row says anything of. */
kdr_status kdri_table_titles(kdr_context *ctx, const kdri_csv_layout *l, kdri_sheet *sheet);

/* --- csv.c ---------------------------------------------------------------------------------------------- */

/* All that is odd about a table. */
kdr_status kdri_csv_inspect(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                            kdr_findings *findings);

#endif
