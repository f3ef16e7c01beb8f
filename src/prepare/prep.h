/* Preprocessing, inside the library. SPDX-License-Identifier: BSD-3-Clause
 *
 * How data sets are changed. Fitting reads the data sets and changes nothing. Then everything that the change needs is
 * allocated, and then the change is written, which cannot fail. A failure therefore leaves the data sets unchanged, and
 * there is never a second copy of the data, except for dense data that get more columns. Both kdr_prepare and
 * kdr_prep_apply pass every row through the same three functions (kdri_row_load, kdri_row_weigh, kdri_row_scale), so
 * that new samples are treated in exactly the same way.
 *
 * Columns have three numberings: that of a data set, that of the aligned columns (0..cols-1 of the fitted
 * preprocessing), and that of the output if only the top features are kept. */
#ifndef KDRI_PREP_H
#define KDRI_PREP_H

#include "core/internal.h"
#include "core/names.h"

struct kdr_prep {
	kdr_allocator allocator;
	kdr_prep_options options; /* align is never KDR_ALIGN_DEFAULT */
	int64_t tasks;            /* data sets it was fitted on */
	int64_t cols;             /* aligned columns */
	int64_t sets;             /* fitted sets of numbers: tasks if fitted one by one, else 1 */
	int64_t fit_each, centred;
	char **names;    /* of the aligned columns, or NULL */
	double *idf;     /* sets x cols: weight tfidf; else NULL */
	int64_t rows;    /* weight tfidf, fitted on all data sets together: their rows; 0: unknown */
	double *median;  /* sets: weight cpm: the row total that all rows are scaled to; otherwise NULL */
	double *offset;  /* sets x cols: scaled value = (value - offset) / divisor; NULL: no scaling */
	double *divisor; /* sets x cols */
	/* scale table (table.c), else NULL */
	int64_t *column_kind; /* cols: kdri_table_kind */
	double *unit;         /* sets x cols: take_logarithm of table.c; -1: none */
	double *low, *high;   /* sets x cols: the values that remain after clipping */
	double *hole;         /* tasks x cols: the encoded value of a missing cell */
	double *typical,
	        *spread; /* cols, numbers: median magnitude and width of the fitted values, 0 if unknown; NULL: all are */
	int64_t nkept;  /* output columns: cols if kept is NULL */
	int64_t *kept;  /* their aligned numbers, increasing; NULL: all */
	int64_t *place; /* cols: number of an aligned column among the kept, or -1; NULL: all */
	/* of features that come from tables: kinds.c */
	int64_t *group; /* cols: the first column of the category it belongs to, or -1; NULL: there is none */
	double *origin; /* cols: the day that dates are counted from, else 0; NULL: no dates */
	double *fill;   /* tasks x cols: replacement of missing values; NULL: another policy */
	char *reading_columns; /* kdr_read_options for new samples; NULL: not specified */
	char *reading_missing;
	char *reading_texts;                     /* NULL: samples are not texts */
	kdri_vectors *vectors;                   /* that texts are compared by; NULL: none */
	char **reading_na;                       /* ended by NULL */
	char **reading_rename, **reading_recode; /* the same; NULL: none */
	int64_t reading_nrename, reading_nrecode;
	int64_t reading_nna;
	char **warnings;
	int64_t nwarnings;
	char description[256];
};

/* --- prepare.c ------------------------------------------------------------------------------- */

kdr_status kdri_prep_new(kdr_context *ctx, const kdr_prep_options *options, int64_t tasks, kdr_prep **out);
KDR_PRINTF(3, 4) kdr_status kdri_prep_warn(kdr_context *ctx, kdr_prep *prep, const char *format, ...);
/* Takes over `kept` (which may be NULL) and derives nkept and place from it. */
kdr_status kdri_prep_keep(kdr_context *ctx, kdr_prep *prep, int64_t *kept, int64_t nkept);
/* Writes the description; the last step of making a kdr_prep. */
void kdri_prep_finish(kdr_prep *prep);

/* 0, unless rows depend on the fitted data only by the row total that counts are scaled to (weight cpm). Preprocessing with the same other number
 * differs in nothing else, for data sets with the same columns. */
uint64_t kdri_prep_totals(const kdr_prep *prep);

/* Their names on the command line, in the order of the enumerations. */
extern const char *const kdri_align_names[],
        *const kdri_weight_names[], *const kdri_norm_names[], *const kdri_scale_names[],
                                                                      *const kdri_top_names[];

/* --- inspect.c ----------------------------------------------------------------------------- */

/* Whether a name is an Ensembl gene, such as ENSG00000141510. */
bool kdri_is_gene(const char *name);
/* Writes a sentence if names suggest that samples are in columns; otherwise "". */
kdr_status kdri_orientation(kdr_context *ctx, kdr_data *const *tasks, int64_t count, char *text, size_t room);

/* --- hints.c ------------------------------------------------------------------------------------- */

/* Warns about columns of two data sets that probably mean the same and do not match. */
kdr_status kdri_hints(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count);
/* Of a text: 1 yes, 0 no, -1 neither. */
int kdri_yes_or_no(const char *text, size_t length);
/* The same about a data set and the columns of a model, as warnings of the context. */
kdr_status kdri_hints_model(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data);

/* --- align.c --------------------------------------------------------------------------------- */

/* The aligned columns of the columns of one data set. */
typedef struct kdri_columns {
	int64_t *to;     /* aligned column of each column, or -1: skipped */
	bool identity;   /* no column moves, is skipped or is filled in */
	bool increasing; /* the order of the remaining columns does not change */
	double *shift;   /* added to each column as a row is loaded; NULL: nothing */
	int64_t *
	        absent; /* aligned columns that the data set does not have, if they are not zero; otherwise NULL */
	int64_t nabsent;
	const double *fill; /* cols, borrowed: the value of absent columns; NULL: NaN (scale table) */
	int64_t *text_of; /* with fill, for each absent column: the data set's category that it is a level of,
			    filled only in rows in which the category is missing; -1: filled in all rows */
	bool *apart; /* of the data set's columns: left out because it tells data sets apart (apart.c); NULL: none */
	char **since; /* for each feature that is a date: the note on its column; otherwise NULL. NULL: there are none */
	int64_t nsince;
} kdri_columns;

/* Fills prep->cols and prep->names and one `columns` for each data set (zeroed before; the caller
 * frees each `to`). */
kdr_status kdri_align(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                      kdri_columns *columns);
/* The same for one new data set and given aligned columns. Skipped columns are reported in a message event, filled ones
 * in a warning. */
kdr_status kdri_align_new(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                          kdri_columns *columns);

/* Fills columns->absent and columns->text_of with scale table or columns->fill. */
kdr_status kdri_align_absent(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                             kdri_columns *columns);
void kdri_align_free(kdr_context *ctx, kdri_columns *columns);

/* The category of the data set that a name is a text of, such as `city=Paris`; -1: none. */
int64_t kdri_category_of(const kdr_data *d, const char *name);
/* Whether one of `cols` columns is aligned column u. */
bool kdri_has_column(const kdri_columns *columns, int64_t cols, int64_t u);
/* Sets identity and increasing by `to`, of `from` columns to `cols`. */
static inline void kdri_columns_order(kdri_columns *c, int64_t from, int64_t to)
{
	int64_t last = -1, stay = 0;
	c->increasing = true;
	for (int64_t j = 0; j < from; j++) {
		if (c->to[j] < 0)
			continue;
		c->increasing &= c->to[j] > last;
		last = c->to[j];
		stay++;
	}
	c->identity = c->increasing && stay == from && from == to;
}

/* --- hints.c: values of a model ------------------------------------------------------------------- */

/* Keeps the sizes of the values of numbers, and compares those of new samples with them: warnings of the context. */
kdr_status kdri_sizes_keep(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           const kdri_columns *columns);
kdr_status kdri_sizes_compare(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                              const kdri_columns *columns);

/* --- apart.c: columns that only distinguish data sets ------------------------------------------ */

/* Marks aligned columns to be left out, and warns about them. */
kdr_status kdri_apart_mark(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           kdri_columns *columns, bool *drop);

/* --- kinds.c: features that come from tables ----------------------------------------------------- */

/* Whether some column of its table was a category or a date; with `text`, also skipped text. */
bool kdri_data_mixed(const kdr_data *data, bool text);
/* After the alignment: merges the kinds of columns of all tasks. Fills `columns[].shift`, which the caller frees. */
kdr_status kdri_kinds_fit(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          kdri_columns *columns);
/* The same for a new data set: dates, and replacements of missing values. */
kdr_status kdri_kinds_shift(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                            kdri_columns *columns);
kdr_status kdri_kinds_refill(kdr_context *ctx, const kdr_prep *prep, int64_t task,
                             const kdri_columns *columns, kdr_data *data);
/* The part of kdri_kinds_done that can fail; call it before. */
kdr_status kdri_kinds_since(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                            kdri_columns *columns);
/* Records in a changed data set what happened to the columns of its table. */
void kdri_kinds_done(const kdr_prep *prep, const kdri_columns *columns, kdr_data *data);

/* --- table.c: scale table ------------------------------------------------------------------------ */

typedef enum kdri_table_kind { KDRI_TABLE_NUMBER, KDRI_TABLE_TWO, KDRI_TABLE_LEVEL } kdri_table_kind;

/* Makes the columns of each category adjacent, once groups are known. */
kdr_status kdri_table_order(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                            kdri_columns *columns);
/* Encodes prepared columns for distances, in place: the last equations of table.c. Does nothing unless the scale is
 * table. */
kdr_status kdri_table_encode(kdr_context *ctx, const kdr_prep *prep, int64_t task, kdr_data *data);
/* Whether some column has exactly two values in all data sets together. */
kdr_status kdri_table_yes_no(kdr_context *ctx, kdr_data *const *tasks, int64_t count, bool *out);
/* Such as "treated as a table: 5 numbers, 2 yes/no, 3 categories; 2 numbers on a log scale". */
void kdri_table_sentence(const kdr_prep *prep, char *text, size_t room);

/* --- rows.c: one row through all steps ------------------------------------------------------- */

/* A row of aligned columns. Dense: n = columns, col is NULL. Sparse: n entries, columns increasing. */
typedef struct kdri_row {
	int64_t n;
	int32_t *col;
	double *val;
} kdri_row;

/* Rows are split into chunks, each processed by one thread. The number of chunks depends only on the shape, because sums
 * are combined in their order. Each chunk has `length` values of storage. */
typedef struct kdri_row_chunks {
	int64_t count, rows, length;
	bool sparse;
	int32_t *col;
	double *val;
} kdri_row_chunks;
kdr_status kdri_row_chunks_new(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                               kdri_row_chunks *out);
void kdri_row_chunks_free(kdr_context *ctx, kdri_row_chunks *chunks);
static inline int64_t kdri_row_chunk_begin(const kdri_row_chunks *chunks, int64_t chunk)
{
	int64_t each = chunks->rows / chunks->count, rest = chunks->rows % chunks->count;
	return chunk * each + KDRI_MIN(chunk, rest);
}
kdri_row kdri_row_chunk_row(const kdri_row_chunks *chunks, int64_t chunk);

/* Loads row i with its columns aligned. */
void kdri_row_load(const kdr_data *data, const kdri_columns *columns, int64_t i, int64_t cols, kdri_row *row);
/* Then weight and norm, then scale and the choice of columns, by the fitted numbers of `set`. */
void kdri_row_weigh(const kdr_prep *prep, int64_t set, kdri_row *row);
void kdri_row_scale(const kdr_prep *prep, int64_t set, kdri_row *row);
/* The same with scale table: table.c. */
void kdri_row_table(const kdr_prep *prep, int64_t set, kdri_row *row);

/* --- weight.c, scale.c, weight.c: fitting -------------------------------------------------------------- */

/* KDR_ERR_DATA naming the first entry the steps are not defined for. */
kdr_status kdri_check_values(kdr_context *ctx, const kdr_prep *prep, const kdr_data *data,
                             const kdri_columns *columns);
/* KDR_ERR_UNSUPPORTED if scaling would turn an entry that sparse data do not store into a value
 * other than zero. */
kdr_status kdri_check_zeros(kdr_context *ctx, const kdr_prep *prep, int64_t set, const kdr_data *data,
                            const kdri_columns *columns);
kdr_status kdri_fit_weight(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                           const kdri_columns *columns);
kdr_status kdri_fit_top(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                        const kdri_columns *columns);
kdr_status kdri_fit_scale(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns);
kdr_status kdri_fit_table(kdr_context *ctx, kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                          const kdri_columns *columns);
/* Mean and sum of squared deviations of each aligned column over the rows of all tasks: as given, after weight and norm,
 * or just before the logarithm of a weight that takes one. */
typedef enum kdri_moments_of { KDRI_MOMENTS_RAW, KDRI_MOMENTS_WEIGHTED, KDRI_MOMENTS_COUNTS } kdri_moments_of;
kdr_status kdri_column_moments(kdr_context *ctx, const kdr_prep *prep, kdr_data *const *tasks, int64_t count,
                               const kdri_columns *columns, kdri_moments_of what, double *rows, double *mean,
                               double *m2);

/* --- prepare.c: the change itself -------------------------------------------------------------- */

/* --- dump.c: fitted preprocessing as named arrays, for model files --------------------------- */

typedef struct kdri_dump_array {
	const char *name;
	kdr_dtype type;
	int64_t count;
	const void *data;
} kdri_dump_array;

typedef struct kdri_dump_strings {
	const char *name;
	int64_t count;
	const char *const *strings;
} kdri_dump_strings;

typedef struct kdri_prep_dump {
	kdri_dump_array arrays[32];
	int narrays;
	kdri_dump_strings strings[16];
	int nstrings;
} kdri_prep_dump;

/* Everything that kdri_prep_import needs, borrowed from `prep`, without arrays that do not apply. */
kdr_status kdri_prep_export(kdr_context *ctx, const kdr_prep *prep, kdri_prep_dump *dump);
/* Builds a copy. Every name, type, count and value is checked first: a damaged or hostile file gives KDR_ERR_FORMAT.
 * Arrays and strings with unknown names are ignored. */
kdr_status kdri_prep_import(kdr_context *ctx, const kdri_prep_dump *dump, kdr_prep **out);
/* A copy for `more` further data sets, which is not fitted again: missing values of these are replaced by the mean replacement of
 * the others. */
kdr_status kdri_prep_extend(kdr_context *ctx, const kdr_prep *prep, int64_t more, kdr_prep **out);

#endif
