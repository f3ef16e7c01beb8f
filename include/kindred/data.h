/* Data sets: creating, reading, preprocessing, writing. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_DATA_H
#define KINDRED_DATA_H

#include <stdbool.h>

#include "kindred/context.h"
#include "kindred/matrix.h"

/* A data set: a matrix, and names of its rows, columns and classes if they are known. */
typedef struct kdr_data kdr_data;

/* --- creating ------------------------------------------------------------------------------------------------------- */

/* Creates a data set from copies of a matrix and of its column names. `features` has one name per column and may be NULL.
 * Free *out with kdr_data_free. Cost: O(nnz + d) time and memory. */
KDR_API kdr_status kdr_data_new(kdr_context *ctx, const char *name, const kdr_mat *x,
                                const char *const *features, kdr_data **out);
/* Does the same without copying the matrix, which must outlive the data set and is never changed: preprocessing that would
 * change it makes a copy first, and so do rows with gaps between them. `features` and `ids` (row names) are copied and may
 * be NULL. Cost: O(nnz) to check the matrix; O(n + d) memory for names. */
KDR_API kdr_status kdr_data_borrow(kdr_context *ctx, const char *name, const kdr_mat *x,
                                   const char *const *features, const char *const *ids, kdr_data **out);
/* Makes the data set a table for spreadsheets: in CSV and TSV files, its row names have the title "id", and formulas among them
 * an apostrophe (kdr_context_set_raw_cells). Without this call, their title is empty, so that any names can be read again. Cost: O(1). */
KDR_API void kdr_data_show_ids(kdr_data *data);
/* Makes `view` the columns that explain what jobs find by those of *data: the same samples as word counts, genes or a table. Rows are
 * matched by their names if both have names, which must be unique, otherwise by their position in the file. Rows that one of both lacks are
 * skipped with a warning, and *data is then replaced. Classes that only the view has become those of *data, which owns the view afterwards.
 * Cost: O(n) time, and a copy of both if rows are skipped or their order differs. */
KDR_API kdr_status kdr_data_explain(kdr_context *ctx, kdr_data **data, kdr_data *view);
/* Lets jobs compare the samples of all these data sets by both their own columns and their views (kdr_data_explain), which all of them need.
 * Changes the data sets in place, even if the call fails afterwards. A result of such data sets cannot be saved as a model. Cost: that of
 * preprocessing, and a copy of both. */
KDR_API kdr_status kdr_data_combine(kdr_context *ctx, kdr_data *const *sets, int64_t count);
/* Creates a second data set, called `name` (NULL: the same name), that borrows the matrix of `data`, which must outlive it.
 * Use it for jobs, which change the data sets they are given. Cost: O(n + d) time and memory. */
KDR_API kdr_status kdr_data_view(kdr_context *ctx, const kdr_data *data, const char *name, kdr_data **out);
/* Creates a data set from some rows of `data`: `rows` holds `count` row numbers from 0, in any order, repeats allowed. Names,
 * classes and the description of the table are copied. Cost: O(copied entries + d) time and memory. */
KDR_API kdr_status kdr_data_rows(kdr_context *ctx, const kdr_data *data, const int64_t *rows, int64_t count,
                                 kdr_data **out);
KDR_API void kdr_data_free(kdr_data *data);

/* --- contents: each function costs O(1) and returns pointers that live as long as the data set ----------------------- */

/* The matrix; without rows and columns for NULL. */
KDR_API kdr_mat kdr_data_mat(const kdr_data *data);
/* Whether the matrix stays on disk: kdr_stream. */
KDR_API bool kdr_data_streamed(const kdr_data *data);
KDR_API const char *kdr_data_name(const kdr_data *data);
/* The file it was read from; "" if there is none. */
KDR_API const char *kdr_data_path(const kdr_data *data);
/* Column names and row names; NULL if unknown. */
KDR_API const char *const *kdr_data_features(const kdr_data *data);
KDR_API const char *const *kdr_data_ids(const kdr_data *data);
/* The first words of the text of each row, at most 120 characters on one line; NULL if the rows are not texts. */
KDR_API const char *const *kdr_data_excerpts(const kdr_data *data);
/* One line about what was chosen for texts, such as "texts: 120 English, 80 German (stop words removed)"; NULL if nothing was. */
KDR_API const char *kdr_data_text_note(const kdr_data *data);
/* The class of each row as an index into the class names, -1 if unknown; NULL if there are no classes. */
KDR_API const int64_t *kdr_data_labels(const kdr_data *data);
/* The class names; `count` may be NULL. */
KDR_API const char *const *kdr_data_classes(const kdr_data *data, int64_t *count);

/* A row of the file that is not in the matrix. May grow. */
typedef struct kdr_left_out {
	int64_t row;        /* of the file, from 1; a header does not count */
	const char *id;     /* its name; "" if it has none */
	const char *reason; /* such as "missing: height" */
} kdr_left_out;
/* Row number `index` of the rows that were skipped, in file order; NULL past the last. */
KDR_API const kdr_left_out *kdr_data_left_out_at(const kdr_data *data, int64_t index);

/* Returns the path of the CSV, TSV or Excel file that the data, or else their view (kdr_data_explain), were read from, whose rows
 * kdr_result_write_input can write with more columns. NULL: there is none. Cost: O(1). */
KDR_API const char *kdr_data_table(const kdr_data *data);
/* For data that are part of a file (kdr_read_options.parts, kdr_data_rows): the row of the file, from 0, that each row came
 * from, and the number of rows in the file. NULL if the data are all rows of a file. `file_rows` may be NULL. */
KDR_API const int64_t *kdr_data_origin(const kdr_data *data, int64_t *file_rows);

/* How a column of a table is treated. */
typedef enum kdr_column_kind {
	KDR_COLUMN_NUMBER,
	KDR_COLUMN_CATEGORY, /* few distinct texts: one feature "column=text" per text, 1 for the rows that have
			        it, otherwise 0 */
	KDR_COLUMN_DATE,     /* days since the earliest date of the file */
	KDR_COLUMN_ID,       /* row names */
	KDR_COLUMN_LABEL,    /* classes */
	KDR_COLUMN_TEXT,     /* skipped: many texts, or specified as text */
	KDR_COLUMN_EMPTY,    /* skipped: all values are missing */
	KDR_COLUMN_LEFT_OUT /* skipped as specified, or because of its missing values */
} kdr_column_kind;
/* The name of a kind, such as "number"; "" for an unknown one. */
KDR_API const char *kdr_column_kind_name(kdr_column_kind kind);
/* A column of a table. May grow. */
typedef struct kdr_column {
	const char *name;     /* its title, or x1, x2, ... */
	int64_t number;       /* in the file, from 1 */
	kdr_column_kind kind; /* how it is treated */
	int64_t features;     /* columns of the matrix it became; 0: skipped */
	int64_t missing;      /* missing values */
	bool constant;        /* all values are equal */
	const char *why;      /* such as "4 different texts", "consecutive numbers", "decimal comma" */
} kdr_column;
/* Column number `index`, from 0, of the table that the data were read from; NULL past the last, and if there was none. */
KDR_API const kdr_column *kdr_data_column_at(const kdr_data *data, int64_t index);

/* Note number `index`, from 0, on how the file was read: decisions that were not certain, and how to change them. NULL past the last. Jobs
 * add the notes of their data to the warnings of the result. */
KDR_API const char *kdr_data_note_at(const kdr_data *data, int64_t index);

/* --- classes -------------------------------------------------------------------------------------------------------- */

/* Sets the classes of a data set, replacing earlier ones: `labels` holds one index into `classes` per row, -1 if unknown;
 * `count` is the number of class names. Everything is copied. Cost: O(n + count) time and memory. */
KDR_API kdr_status kdr_data_set_labels(kdr_context *ctx, kdr_data *data, const int64_t *labels,
                                       const char *const *classes, int64_t count);
/* Does the same from a file with one label per line: as many as the data set has rows, or as many as the file has that the
 * rows come from. Cost: O(size of the file) time and memory. */
KDR_API kdr_status kdr_data_read_labels(kdr_context *ctx, kdr_data *data, const char *path);
/* Gives `count` data sets that all have classes a common list of classes, in order of first appearance; the class "?" means
 * unknown. Cost: O(n + classes) time and memory. */
KDR_API kdr_status kdr_data_merge_classes(kdr_context *ctx, kdr_data *const *sets, int64_t count);

/* Labels, as read from a file. Frozen. */
typedef struct kdr_labels {
	int64_t n;
	int64_t *
	        values; /* indices into `names`, which are in order of first appearance or, if all are integers, increasing */
	char **names;
	int64_t count;    /* number of names */
	bool integers;    /* every line is an integer */
	int64_t *integer; /* then: the integers; else NULL */
} kdr_labels;
/* Reads one label per line. Free *out with kdr_labels_free. Cost: O(size of the file) time and memory. */
KDR_API kdr_status kdr_read_labels(kdr_context *ctx, const char *path, kdr_labels **out);
KDR_API void kdr_labels_free(kdr_labels *labels);

/* --- reading -------------------------------------------------------------------------------------------------------- */

/* Whether the first line of a table holds column names. */
typedef enum kdr_header { KDR_HEADER_FIND_OUT, KDR_HEADER_YES, KDR_HEADER_NO } kdr_header;

/* Whether a data set is held in memory or stays on disk, where methods that pass over the rows read it again each time. The
 * results are the same. A .npy file of float64 in C order is used directly and must not change meanwhile; for other formats,
 * and for preprocessed data, an unnamed temporary file is created in TMPDIR or /var/tmp. */
typedef enum kdr_stream {
	KDR_STREAM_BY_SIZE, /* on disk if three times its size exceeds the available or allowed memory */
	KDR_STREAM_YES,
	KDR_STREAM_NO
} kdr_stream;

/* How to read a file. Zero and NULL mean the default or automatic detection. "CSV" stands for all tables of text and for
 * workbooks. */
typedef struct kdr_read_options {
	size_t size;
	const char *format; /* "csv", "tsv", "mtx", "npy", ...; NULL: by the file's name */
	const char *name;   /* of the data set; NULL: the file's stem */
	const char
	        *label_column; /* CSV: name or number, from 1, of the column with the classes; NULL: none */
	const char *id_column; /* CSV: the column with the row names; NULL: none */
	kdr_header header;     /* CSV */
	const char *missing; /* CSV: how to handle missing values: NULL or "error", "zero", "mean", "median",
	                             "drop-row", "drop-column", "keep" (NaN, for methods that skip them) */
	const char
	        *decimal; /* CSV: "." or ","; NULL: detected for each column, or follows from `thousands` */
	const char *columns;   /* CSV: how to treat columns, such as "height,width,city:category,-Nr" */
	const char *const *na; /* CSV: further texts that mean a missing value, NULL-terminated; or NULL */
	const char *delimiter; /* CSV: "," ";" "tab" "|"; NULL: detected */
	const char *encoding;  /* CSV: "utf-8" "latin-1" "utf-16le" "utf-16be"; NULL: detected */
	bool keep_nonfinite;   /* CSV, Matrix Market: keep NaN and infinities; else they are an error */
	bool transpose;        /* samples are in columns: exchange rows and columns, with their names */
	const char *
	        task_column; /* column of a table, or of AnnData's obs, that splits the rows into data sets */
	kdr_stream stream;
	int64_t part,
	        parts; /* NumPy, Matrix Market, HDF5, AnnData, CSV: divide the rows into `parts` parts of equal size
	                         and read only part number `part`, from 0; it may be empty. parts 0: all rows */
	bool may_lack_labels; /* a table without label_column has no classes; else this is an error */
	bool may_be_empty; /* NumPy, SciPy, Matrix Market, HDF5, AnnData, CSV: accept a file without rows, as for a
	                         process that has no rows of a data set (kdr_mpi_place); else this is an error */
	const void *
	        memory; /* CSV: the text of the table, instead of a file; `path` is then its name in messages */
	size_t memory_bytes; /* length of `memory` */
	const char *const *
	        header_names; /* CSV: a first line whose cells are all among these names, NULL-terminated, is a header; or NULL */
	const char *const *
	        rename; /* new names of columns, NULL-terminated, or NULL: "Old=new", "\"Old\"=new" with doubled quotes inside,
	                     or the path of a CSV file of old and new names. All other options mean the new names */
	bool may_lack_columns; /* `columns` and `rename` may name columns that the file does not have; otherwise
			          this is an error. With kdr_read_tasks it is an error only if no file has the
			          column */
	const char *
	        texts; /* how to vectorise texts, one "name=value" per line: names as for kdr_text_options_set,
	                    such as "min-df=5"; what is not specified is chosen from the texts */
	const char *text_column;  /* count the words of this column of a CSV file, or field of JSON lines */
	const char *const *terms; /* the terms to count in texts; kdr_model_reading sets them */
	int64_t nterms;
	const char *const *
	        recode; /* CSV: new values of cells, NULL-terminated, or NULL: "Column:old=new", each in quotes if necessary, with doubled quotes
	                   inside, or the path of a CSV file with the columns column, old and new. "" means an empty cell */
	const char *const *model_rename,
	        *const *model_recode; /* the same of a model, which need not occur; kdr_model_reading sets them */
	const char *
	        feature_names; /* AnnData: the column of var with the names of features, such as gene symbols; NULL: the index.
	                            Features without a name there keep that of the index; arrays of obsm have names of their own */
	bool temporary;      /* kdr_read_tasks: the files are temporary, so that the data sets get no path */
	const void *vectors; /* with `terms`: the word vectors of a model; kdr_model_reading sets them */
	bool together_only; /* kdr_read_tasks: read texts once, over a common vocabulary. Otherwise each data set is also read alone, so that
	                       kdr_cluster can compare with a run alone; only its default method does */
	const char *
	        thousands; /* CSV: what separates thousands, "." "," "'" "space" or "none"; NULL: detected for each column */
	const char *
	        skip_rows; /* CSV: how many rows lie above the header, or above the data if there is none; NULL or "auto": detected */
	const char *
	        sheet; /* workbooks: the name of the sheet to read; "all", with kdr_read_tasks: each sheet that is not hidden is a data set. NULL:
	                      the first that is not hidden. A sheet in the path, as in file.xlsx:Sheet2, comes first */
	bool typed; /* CSV: numbers outside quotes have a decimal point and are no evidence for those in quotes, which are texts: a table made by a
	               program from columns with types */
} kdr_read_options;
KDR_DEFINE_INIT(kdr_read_options)

/* Reads a data set. `options` may be NULL. `path` "-" is standard input (`format` is then required); a folder is a 10x
 * folder or, without a matrix.mtx, a folder of texts. Column names come from the file or from a features.txt in the same folder with one line per column; row names
 * and excerpts, if the file has none, from NAME.ids and NAME.excerpts in the same folder, as 'kindred vectorize' writes
 * them. Free *out with kdr_data_free. Cost: O(size of the file) time; O(nnz) memory, or O(one block) for data that stay
 * on disk. */
KDR_API kdr_status kdr_read(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data **out);

/* A file or folder to read, and the name of its data set. Frozen. */
typedef struct kdr_task_path {
	const char *path,
	        *name; /* name NULL: the file's stem or the folder's name; of several sheets of a workbook, the sheet's */
	bool may_lack_labels; /* for this path, as in kdr_read_options */
} kdr_task_path;
/* Reads data sets that belong together: files, 10x folders, and folders of texts, whose words are counted over a common
 * vocabulary (kdr_vectorize). With options->task_column each path gives one data set per value of the column, whose name
 * begins with the file's if there are several paths. Texts in pipes are read once only (together_only). `from`, unless NULL, gets the index of the path of each data set.
 * Free each data set with kdr_data_free and the lists with kdr_free. `options` may be NULL; its name is not used.
 * Cost: as for kdr_read and kdr_vectorize. */
KDR_API kdr_status kdr_read_tasks(kdr_context *ctx, const kdr_task_path *paths, int64_t npaths,
                                  const kdr_read_options *options, kdr_data ***out, int64_t **from,
                                  int64_t *count);

/* --- preprocessing --------------------------------------------------------------------------------------------------- */

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
	KDR_ALIGN_DEFAULT, /* by name if all data sets have column names, else by position */
	KDR_ALIGN_UNION,
	KDR_ALIGN_INTERSECT,
	KDR_ALIGN_POSITION
} kdr_align;

/* How features are ranked for top_features, over all data sets. */
typedef enum kdr_top {
	KDR_TOP_DF,        /* number of samples in which they are not zero */
	KDR_TOP_VARIANCE,  /* variance after weight and norm */
	KDR_TOP_DISPERSION /* molecule counts: variance beyond what the mean explains, in bins of the mean */
} kdr_top;

/* Returns the names of the values of an option of the command line, in the order of the enumeration, ended by NULL: "features"
 * (kdr_align), "weight", "norm", "scale", "top-by" (kdr_top), "fit-on" (all, each), "missing", "new-clusters"
 * (kdr_new_clusters), "preprocess" (kdr_prep_choice) or "layout" (kdr_embed_layout). NULL for other names. Cost: O(1). */
KDR_API const char *const *kdr_choices(const char *name);

/* How to preprocess, in the order align, weight, norm, scale, top features. Zero means none, or the default. */
typedef struct kdr_prep_options {
	size_t size;
	kdr_align align;
	kdr_weight weight;
	kdr_norm norm;
	kdr_scale scale;
	int64_t top_features; /* keep the N best features by top_by; 0: all */
	bool fit_each;        /* fit scaling and weights on each data set alone; default: on all together */
	kdr_top top_by;
} kdr_prep_options;
KDR_DEFINE_INIT(kdr_prep_options)

/* The kind of data, guessed from a few statistics. */
typedef enum kdr_data_kind {
	KDR_DATA_UNKNOWN, /* not inspected */
	KDR_DATA_DENSE,
	KDR_DATA_SPARSE,
	KDR_DATA_MEASUREMENTS, /* a few features */
	KDR_DATA_UNITS,        /* a few features in different units */
	KDR_DATA_WORDS,        /* word counts */
	KDR_DATA_MOLECULES,    /* molecule counts */
	KDR_DATA_HISTOGRAMS,
	KDR_DATA_TABLE, /* at most 64 columns: numbers in different units, yes/no columns, categories, dates */
	KDR_DATA_EMBEDDINGS /* dense, 65 to 4,096 columns of similar scale with both signs */
} kdr_data_kind;

/* Preprocessing that suits data of unknown origin. Frozen. */
typedef struct kdr_recipe {
	kdr_data_kind kind;
	kdr_weight weight;
	kdr_norm norm;
	kdr_scale scale;
	bool centre; /* subtract the mean of each data set before comparing samples, even if the data are sparse */
} kdr_recipe;
/* Chooses preprocessing by the kind of data: tf-idf for word counts, counts per million for molecule counts, square roots
 * for histograms, unit rows for dense data, standardised columns for a few measurements in different units. In programs with
 * several processes (mpi.h), all of them call it. Cost: O(nnz) time, O(d) memory. */
KDR_API kdr_status kdr_recipe_find(kdr_context *ctx, kdr_data *const *tasks, int64_t count, kdr_recipe *out);

/* Fitted preprocessing, which can be applied to new samples. */
typedef struct kdr_prep kdr_prep;

/* Aligns the features of `count` data sets and preprocesses them in place. `options` may be NULL: alignment only. `out` may be
 * NULL if the fitted steps are not needed; warnings then become KDR_EVENT_MESSAGE events. On failure the data sets are
 * unchanged. Free *out with kdr_prep_free. Cost: O(nnz + d log d) time, O(nnz) memory. */
KDR_API kdr_status kdr_prepare(kdr_context *ctx, kdr_data **tasks, int64_t count,
                               const kdr_prep_options *options, kdr_prep **out);
/* Applies fitted steps to a new data set in place, as to data set number `task` if they were fitted on each alone. Features are
 * matched by name if both sides have names: unknown ones are dropped, missing ones are zero, and an event reports this. Else
 * they are matched by position, and their numbers must be equal. Cost: O(nnz + d) time and memory. */
KDR_API kdr_status kdr_prep_apply(kdr_context *ctx, const kdr_prep *prep, int64_t task, kdr_data *data);
KDR_API void kdr_prep_free(kdr_prep *prep);

/* --- writing: every function creates missing folders and writes a file completely or not at all ----------------------- */

/* What a format can store in addition to the matrix. */
enum {
	KDR_HOLDS_FEATURES = 1 << 0,
	KDR_HOLDS_LABELS = 1 << 1,
	KDR_HOLDS_COLUMNS = 1 << 2,    /* of numbers, texts and dates, as CSV, TSV and Excel */
	KDR_HOLDS_CHARACTERS = 1 << 3, /* columns as plain text: CSV, TSV */
	KDR_HOLDS_OBS = 1 << 4,        /* AnnData's columns of classes and data sets */
	KDR_HOLDS_MATRIX = 1 << 5      /* all formats have this */
};
/* Returns KDR_HOLDS_... of the format called `format` or, if that is NULL, of the format of `path`; 0 if the format is
 * unknown. Cost: O(1). */
KDR_API unsigned kdr_format_holds(const char *format, const char *path);
/* Writes a data set in the format called `format` (NULL: by the name: .csv .tsv .mtx .npy, with .gz if the format allows it).
 * `force` replaces an existing file. Cost: O(nnz) time, O(d) memory. */
KDR_API kdr_status kdr_write(kdr_context *ctx, const char *path, const char *format, const kdr_data *data,
                             bool force);
/* Checks whether a file can be written now, as a long job should do for its outputs before it starts. Creates no file and
 * changes no existing one. Cost: O(1). */
KDR_API kdr_status kdr_write_check(kdr_context *ctx, const char *path, bool force);
/* From here on, files that are written with this context keep temporary names until kdr_outputs_end with the same nesting: then
 * all of them appear, result.json last, or none. `folder` is the one whose earlier result.json an error refers to; or NULL. Cost: O(1). */
KDR_API kdr_status kdr_outputs_begin(kdr_context *ctx, const char *folder);
/* With an open set: result.json lists this file, which will be written after it. Cost: O(1). */
KDR_API kdr_status kdr_outputs_expect(kdr_context *ctx, const char *path);
/* Renames the files if `status`, that of writing them, is KDR_OK; otherwise removes them and returns `status`. The error
 * message then states whether the earlier result is unchanged. Cost: O(files). */
KDR_API kdr_status kdr_outputs_end(kdr_context *ctx, kdr_status status);
/* From here on, a file that was read with this context is never replaced (KDR_ERR_EXISTS), whatever its name. Cost: O(1). */
KDR_API kdr_status kdr_context_protect_inputs(kdr_context *ctx);
/* With protected inputs: treats a file as read, because it will be read later. Does nothing if the file does not exist. Cost: O(1). */
KDR_API kdr_status kdr_context_protect_file(kdr_context *ctx, const char *path);
/* Writes `size` bytes to a file, compressed if the name ends in .gz. Cost: O(size) time, O(1) memory. */
KDR_API kdr_status kdr_write_file(kdr_context *ctx, const char *path, const void *bytes, size_t size,
                                  bool force);

#endif
