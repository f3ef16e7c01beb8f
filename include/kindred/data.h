/* Data sets: reading, aligning, preprocessing, writing. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_DATA_H
#define KINDRED_DATA_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/matrix.h"

/* An owned data set: a matrix, and names for its rows, columns and classes where they are known. */
typedef struct kdr_data kdr_data;

KDR_API void kdr_data_free(kdr_data *data);
KDR_API kdr_mat kdr_data_mat(const kdr_data *data);
KDR_API bool kdr_data_streamed(const kdr_data *data); /* it is on disk: kdr_stream */
KDR_API const char *kdr_data_name(const kdr_data *data);
KDR_API const char *kdr_data_path(const kdr_data *data);            /* "" if it came from no file */
KDR_API const char *const *kdr_data_features(const kdr_data *data); /* NULL if unnamed */
KDR_API const char *const *kdr_data_ids(const kdr_data *data);      /* NULL if unnamed */
/* The first words of the text each row was made of, at most 120 characters on one line; NULL if it was made of none. */
KDR_API const char *const *kdr_data_excerpts(const kdr_data *data);
/* Class of each row as an index into the class names (-1 unknown), or NULL if none came along. */
KDR_API const int64_t *kdr_data_labels(const kdr_data *data);
KDR_API const char *const *kdr_data_classes(const kdr_data *data, int64_t *count);

/* A row of the file that is not in the matrix. */
typedef struct kdr_left_out {
	int64_t row;        /* of the file, from 1; a header does not count */
	const char *id;     /* its name; "" if it has none */
	const char *reason; /* such as "missing: height" */
} kdr_left_out;
/* The rows that were left out, in the order of the file; *count is 0 where all are there. */
KDR_API const kdr_left_out *kdr_data_left_out(const kdr_data *data, int64_t *count);

/* Of data that are some of the rows of a file (kdr_read_options.parts, kdr_data_rows): which row of it, from 0, each is; and
 * how many the file has. NULL where they are all of its rows. */
KDR_API const int64_t *kdr_data_origin(const kdr_data *data, int64_t *file_rows);

/* What a column of a table is taken for. */
typedef enum kdr_column_kind {
	KDR_COLUMN_NUMBER,
	KDR_COLUMN_CATEGORY, /* few texts: a feature "column=text" for each, 1 where a row has it, else 0 */
	KDR_COLUMN_DATE,     /* days since the first date of the file */
	KDR_COLUMN_ID,       /* names of the rows */
	KDR_COLUMN_LABEL,    /* classes */
	KDR_COLUMN_TEXT,     /* left out: many texts, or told to be text */
	KDR_COLUMN_EMPTY,    /* left out: no cell has a value */
	KDR_COLUMN_LEFT_OUT  /* left out as told, or for its missing values */
} kdr_column_kind;
/* "number", "category", ... */
KDR_API const char *kdr_column_kind_name(kdr_column_kind kind);
typedef struct kdr_column {
	const char *name;     /* its title, or x1, x2, ... */
	int64_t number;       /* in the file, from 1 */
	kdr_column_kind kind; /* what it was taken for */
	int64_t features;     /* columns of the matrix it became; 0: left out */
	int64_t missing;      /* cells without a value */
	bool constant;        /* one value throughout */
	const char *why;      /* such as "4 different texts", "a running number", "decimal comma" */
} kdr_column;
/* What was found in the table the data came from; NULL and 0 if they came from none. */
KDR_API const kdr_column *kdr_data_columns(const kdr_data *data, int64_t *count);

/* Makes a data set from copies. `features` may be NULL. */
KDR_API kdr_status kdr_data_new(kdr_context *ctx, const char *name, const kdr_mat *x,
                                const char *const *features, kdr_data **out);
/* The same without a copy of the matrix, which must live as long as the data set and is never changed: preprocessing that
 * would change it makes the data set's own copy. (Rows with gaps between them are copied at once.) Names are copied; `ids`
 * may be NULL. */
KDR_API kdr_status kdr_data_borrow(kdr_context *ctx, const char *name, const kdr_mat *x,
                                   const char *const *features, const char *const *ids, kdr_data **out);

/* The same again, called `name` (NULL: the same), for jobs, which change what they are given: the matrix is borrowed from
 * `data`, which must live as long; names, classes and what is known of its table are copied. */
KDR_API kdr_status kdr_data_view(kdr_context *ctx, const kdr_data *data, const char *name, kdr_data **out);

/* Whether the first line of a table holds names. */
typedef enum kdr_header { KDR_HEADER_FIND_OUT, KDR_HEADER_YES, KDR_HEADER_NO } kdr_header;

/* Whether a data set is held in memory, or stays on disk, where methods that go through rows in turn read it again and
 * again: the same results in any case. A .npy file of float64 in C order is used as it is (it must not change meanwhile); of
 * other formats, and for what preprocessing makes of a data set, a scratch file without a name lies in TMPDIR, or /var/tmp. */
typedef enum kdr_stream {
	KDR_STREAM_BY_SIZE, /* on disk if three times its size is more than the memory there is, or may be used */
	KDR_STREAM_YES,
	KDR_STREAM_NO
} kdr_stream;

/* Zero and NULL mean the default, or "find out". */
typedef struct kdr_read_options {
	const char *format;       /* NULL: from the name. "csv" "tsv" "mtx" "npy" ... */
	const char *name;         /* NULL: the file's stem */
	const char *label_column; /* CSV: name or 1-based number of the column of classes; NULL: none */
	const char *id_column;    /* CSV: the column of row names; NULL: none */
	kdr_header header;        /* CSV */
	const char *missing;      /* CSV: missing values: NULL or "error", "zero", "mean", "median",
	                             "drop-row", "drop-column", "keep" (NaN, for methods that skip them) */
	const char *decimal;      /* CSV: "." or ","; NULL: by the evidence of each column */
	const char *columns;      /* CSV: what columns are, such as "height,width,city:category,-Nr" */
	const char *const *na;    /* CSV: more texts that stand for no value, ended by NULL; or NULL */
	const char *delimiter;    /* CSV: "," ";" "tab" "|"; NULL: found out */
	const char *encoding;     /* CSV: "utf-8" "latin-1" "utf-16le" "utf-16be"; NULL: found out */
	bool keep_nonfinite;      /* CSV, Matrix Market: take NaN and infinities as they are; else an error */
	bool transpose; /* samples are in columns: rows and columns change places, with their names */
	const char *
	        task_column; /* column of AnnData's obs, or of a table, of the task each row is of: kdr_data_split */
	kdr_stream stream;
	int64_t part,
	        parts; /* NumPy, Matrix Market, HDF5, AnnData, CSV: of `parts` parts of the rows, as equal as can be, read number `part`, from 0,
	                        and hold no more than that; it may be empty. parts 0: all rows */
	bool may_lack_labels; /* a table without label_column has no classes: no error */
	bool may_be_empty; /* NumPy, SciPy, Matrix Market, HDF5, AnnData, CSV: a file without rows is data without rows, as of a
	                         process that has none of a task (kdr_mpi_place); else an error */
} kdr_read_options;

KDR_API void kdr_read_options_init(kdr_read_options *options);

/* Reads a data set. `options` may be NULL. `path` "-" is standard input (format must be given); a folder is one of 10x's.
 * Names of columns come from the file, or from a features.txt beside it with as many lines as columns; names of rows
 * and first words of texts, where it has none, from a NAME.ids and a NAME.excerpts beside it, as 'kindred vectorize'
 * writes them, with as many lines as rows. */
KDR_API kdr_status kdr_read(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data **out);

/* A file or folder, and what its task is called; NULL: the file's stem, or the folder's name. */
typedef struct kdr_task_path {
	const char *path, *name;
	bool may_lack_labels; /* of this one, as in the options */
} kdr_task_path;
/* Reads data sets that belong together: files, 10x folders, and folders of texts, whose words are counted over one
 * vocabulary for all of them, as kdr_vectorize does without options. With options->task_column each becomes as many as the
 * column has values; where there are several paths their names begin with the file's. `from`, where not NULL, gets the
 * index of the path each came from. Free each with kdr_data_free, the lists with kdr_free. `options` may be NULL; its
 * name is not used. */
KDR_API kdr_status kdr_read_tasks(kdr_context *ctx, const kdr_task_path *paths, int64_t npaths,
                                  const kdr_read_options *options, kdr_data ***out, int64_t **from,
                                  int64_t *count);

/* Reads one label a line, as text. Caller frees with kdr_labels_free. */
typedef struct kdr_labels {
	int64_t n;
	int64_t *values; /* index into names: classes in order of first appearance, or, where all
	                    lines are integers, in increasing order */
	char **names;
	int64_t count;
	bool integers;    /* every line was an integer */
	int64_t *integer; /* then: the integers as read; else NULL */
} kdr_labels;
KDR_API kdr_status kdr_read_labels(kdr_context *ctx, const char *path, kdr_labels **out);
KDR_API void kdr_labels_free(kdr_labels *labels);

/* A copy of some rows, in the order given, with their names and classes. */
KDR_API kdr_status kdr_data_rows(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t n,
                                 kdr_data **out);
/* Makes several data sets of one: by `names`, one a row, or, where that is NULL, by the column of tasks it was read with
 * (kdr_read_options.task_column). One for each name, in order of first appearance, called by it with `prefix` before it
 * (NULL: nothing) and '_' in the place of '/'. Free each with kdr_data_free, the list with kdr_free. */
KDR_API kdr_status kdr_data_split(kdr_context *ctx, const kdr_data *data, const char *const *names,
                                  const char *prefix, kdr_data ***out, int64_t *count);
/* Gives the rows classes, in the place of those there were: one index into `classes` each, -1 where unknown. */
KDR_API kdr_status kdr_data_set_labels(kdr_context *ctx, kdr_data *data, const int64_t *labels,
                                       const char *const *classes, int64_t count);
/* The same from a file, one a line: as many as there are rows, or as the file had that the rows are some of. */
KDR_API kdr_status kdr_data_read_labels(kdr_context *ctx, kdr_data *data, const char *path);
/* Gives data sets that all have classes one list of them, in order of first appearance; the class "?" is unknown. */
KDR_API kdr_status kdr_data_merge_classes(kdr_context *ctx, kdr_data *const *sets, int64_t count);

typedef enum kdr_weight {
	KDR_WEIGHT_NONE,
	KDR_WEIGHT_BINARY,
	KDR_WEIGHT_LOG1P,
	KDR_WEIGHT_CPM,
	KDR_WEIGHT_TFIDF,
	KDR_WEIGHT_SQRT
} kdr_weight;
typedef enum kdr_norm { KDR_NORM_NONE, KDR_NORM_L1, KDR_NORM_L2 } kdr_norm;
typedef enum kdr_scale {
	KDR_SCALE_NONE,
	KDR_SCALE_STANDARD,
	KDR_SCALE_MINMAX,
	KDR_SCALE_TABLE /* skewed numbers on a log scale, outliers clipped, categories, missing values: docs/tables.md */
} kdr_scale;
typedef enum kdr_align {
	KDR_ALIGN_DEFAULT,
	KDR_ALIGN_UNION,
	KDR_ALIGN_INTERSECT,
	KDR_ALIGN_POSITION
} kdr_align;

/* What --top-features ranks features by, all tasks together. */
typedef enum kdr_top {
	KDR_TOP_DF,        /* samples they are not zero in */
	KDR_TOP_VARIANCE,  /* of values as weight and norm leave them */
	KDR_TOP_DISPERSION /* counts of molecules: variance beyond what the mean tells, by bins of the mean */
} kdr_top;

/* The names of what can be chosen for an option of the command line, in the order of the enumeration, ended by NULL:
 * "features" (kdr_align), "weight", "norm", "scale", "top-by" (kdr_top), "fit-on" (all, each), "missing", "preprocess"
 * (kdr_job_options.choice) or "layout" (kdr_embed_options.layout). NULL for other names. */
KDR_API const char *const *kdr_choices(const char *name);

typedef struct kdr_prep_options {
	kdr_align align;
	kdr_weight weight;
	kdr_norm norm;
	kdr_scale scale;
	int64_t top_features; /* keep the N features that are first by top_by; 0: all */
	bool fit_each;        /* fit on each task by itself; default: on all together */
	kdr_top top_by;
} kdr_prep_options;
KDR_API void kdr_prep_options_init(kdr_prep_options *options);

/* What data look like: a guess by a few counts, worth showing to a person. */
typedef enum kdr_data_kind {
	KDR_DATA_UNKNOWN, /* nobody looked */
	KDR_DATA_DENSE,
	KDR_DATA_SPARSE,
	KDR_DATA_MEASUREMENTS, /* a few features */
	KDR_DATA_UNITS,        /* a few features in different units */
	KDR_DATA_WORDS,        /* counts of words */
	KDR_DATA_MOLECULES,    /* counts of molecules */
	KDR_DATA_HISTOGRAMS,
	KDR_DATA_TABLE /* at most 64 columns: numbers in different units, yes/no columns, categories, dates */
} kdr_data_kind;
/* Such as "counts of words"; "" if unknown. */
KDR_API const char *kdr_data_kind_name(kdr_data_kind kind);

/* What suits data sets nobody has said anything about: tf-idf for counts of words, cpm for those of molecules,
 * square roots for histograms, unit rows for dense data, columns of equal spread for a few measurements in
 * different units. Where ranks have the rows between them, all call it. */
typedef struct kdr_recipe {
	kdr_data_kind kind;
	kdr_weight weight;
	kdr_norm norm;
	kdr_scale scale;
	bool centre; /* samples are compared less their mean even where most entries are zero */
} kdr_recipe;
KDR_API kdr_status kdr_recipe_find(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdr_recipe *out);

/* Preprocessing fitted on data, to be applied again to new samples: opaque. */
typedef struct kdr_prep kdr_prep;

/* Aligns the features of `count` data sets and preprocesses them in place, in the order weight,
 * norm, scale, top features. *out may be NULL if the fitted steps are not wanted; its warnings then
 * come as message events. `options` may be NULL: alignment alone. On failure the data sets are
 * unchanged. */
KDR_API kdr_status kdr_prepare(kdr_context *ctx, kdr_data **tasks, int64_t count,
                               const kdr_prep_options *options, kdr_prep **out);
/* Applies fitted steps to a new data set (as task `task` where they were fitted one by one). Features
 * are found by name where both sides have names: unknown ones are left out, missing ones are zero,
 * and a message event says so. Else by position, and there must be equally many. */
KDR_API kdr_status kdr_prep_apply(kdr_context *ctx, const kdr_prep *prep, int64_t task, kdr_data *data);
KDR_API void kdr_prep_free(kdr_prep *prep);
KDR_API int64_t kdr_prep_warning_count(const kdr_prep *prep);
KDR_API const char *kdr_prep_warning_at(const kdr_prep *prep, int64_t index);
/* What was done, on one line, such as "features: union (3 tasks, 2500 columns); tfidf; l2". */
KDR_API const char *kdr_prep_describe(const kdr_prep *prep);

/* What a format can hold besides the matrix. */
enum { KDR_HOLDS_FEATURES = 1 << 0, KDR_HOLDS_LABELS = 1 << 1 };
/* What the format called `format` can hold, or the one that the name of `path` implies (as kdr_write finds it). */
KDR_API unsigned kdr_format_holds(const char *format, const char *path);
/* Writes a matrix in the format of the name (.csv .tsv .mtx .npy, with .gz where usual), completely or not at all. */
KDR_API kdr_status kdr_write(kdr_context *ctx, const char *path, const char *format, const kdr_data *data,
                             bool force);

/* Whether a file could be written now: what a long job asks of all its outputs before it begins. Like every
 * function that writes, it makes the folders on the way. Leaves no file behind, and what is there alone. */
KDR_API kdr_status kdr_write_check(kdr_context *ctx, const char *path, bool force);
/* Writes `size` bytes to a file, whole or not at all; compressed if the name ends in .gz. */
KDR_API kdr_status kdr_write_file(kdr_context *ctx, const char *path, const void *bytes, size_t size,
                                  bool force);

KDR_API void kdr_free(kdr_context *ctx, void *ptr);

#endif
