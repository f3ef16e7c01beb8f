/* Reading and writing files: only this layer opens files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_IO_H
#define KDRI_IO_H

#include "core/internal.h"
#include "core/numbers.h"
#include "kindred/inspect.h"

/* --- input.c: bytes from a file or standard input, with gzip decompressed on the fly ------------------ */

typedef struct kdri_input kdri_input;

/* "-" is standard input. A directory, a missing file or one without permission is KDR_ERR_READ. */
kdr_status kdri_input_open(kdr_context *ctx, const char *path, kdri_input **out);
/* The same for bytes in memory, which must outlive the input; `name` is used instead of the path. */
kdr_status kdri_input_from_memory(kdr_context *ctx, const void *data, size_t size, const char *name,
                                  kdri_input **out);
/* The same for a text that is made while it is read: `size` bytes. `make` gives the next piece, at least one byte until the end; `again`
 * begins anew; `end`, unless NULL, frees what it needs when the input is closed. */
typedef struct kdri_maker {
	kdr_status (*make)(kdr_context *ctx, void *user, const char **piece, size_t *length);
	void (*again)(void *user);
	void (*end)(kdr_context *ctx, void *user);
	void *user;
	int64_t size;
} kdri_maker;
kdr_status kdri_input_made(kdr_context *ctx, const kdri_maker *maker, const char *name, kdri_input **out);
/* Up to `want` bytes; *got < want only at the end. A damaged or truncated gzip stream is
 * KDR_ERR_FORMAT. */
kdr_status kdri_input_read(kdr_context *ctx, kdri_input *in, void *buffer, size_t want, size_t *got);
/* Makes sure that the input, which must be at its beginning, can be read again from there. Data from a pipe are kept in
 * memory. */
kdr_status kdri_input_hold(kdr_context *ctx, kdri_input *in);
kdr_status kdri_input_rewind(kdr_context *ctx, kdri_input *in);
/* Skips bytes. If the file ends before, the next read notices it. */
kdr_status kdri_input_skip(kdr_context *ctx, kdri_input *in, int64_t bytes);
const char *kdri_input_path(const kdri_input *in);
/* Bytes of the file on disk, or -1 if unknown; and how many of them have been read. */
int64_t kdri_input_size(const kdri_input *in);
int64_t kdri_input_consumed(const kdri_input *in);
bool kdri_input_compressed(const kdri_input *in);
void kdri_input_close(kdr_context *ctx, kdri_input *in);

/* --- output.c: files that are written completely or not at all ------------------------------------------ */

typedef struct kdri_output kdri_output;

/* Writes to a temporary file in the folder of `path`, which kdri_output_finish renames to `path` after fsync. Compressed
 * if the name ends in .gz. An existing file is KDR_ERR_EXISTS unless `force`. */
kdr_status kdri_output_open(kdr_context *ctx, const char *path, bool force, kdri_output **out);
kdr_status kdri_output_write(kdr_context *ctx, kdri_output *o, const void *data, size_t size);
KDR_PRINTF(3, 4)
kdr_status kdri_output_printf(kdr_context *ctx, kdri_output *o, const char *format, ...);
/* An output without a file: `put` receives its bytes in blocks of up to KDRI_OUTPUT_BLOCK. `name` is used instead of the
 * path. */
enum { KDRI_OUTPUT_BLOCK = 1 << 16 };
typedef kdr_status kdri_output_put(void *user, const void *bytes, size_t size);
kdr_status kdri_output_to(kdr_context *ctx, const char *name, kdri_output_put *put, void *user,
                          kdri_output **out);
/* Flushes what was written so far. */
kdr_status kdri_output_flush(kdr_context *ctx, kdri_output *o);
/* Renames the temporary file if `st`, the status of writing its content, is KDR_OK; otherwise removes it and returns
 * `st`. Frees `o` in any case; it may be NULL after a failure. */
kdr_status kdri_output_finish(kdr_context *ctx, kdri_output *o, kdr_status st);
/* For libraries that open files themselves (HDF5): creates an empty temporary file and gives its name.
 * kdri_output_finish then syncs and renames it. */
const char *kdri_output_temporary(const kdri_output *o);

/* --- folder.c: what lies below a folder -------------------------------------------------------- */

typedef struct kdri_folder {
	char **paths;         /* of files, relative to the folder; folder by folder, names in byte order */
	int64_t count, bytes; /* files; what they hold */
} kdri_folder;

/* Lists all regular files below `root`. Names with a leading dot are skipped. Links are followed, except those to a
 * folder that contains them. */
kdr_status kdri_folder_list(kdr_context *ctx, const char *root, kdri_folder *out);
void kdri_folder_free(kdr_context *ctx, kdri_folder *folder);

/* --- folder.c: information in file names --------------------------------------------------------- */

/* "data/a.mtx.gz" -> "a"; the result is allocated. */
kdr_status kdri_path_stem(kdr_context *ctx, const char *path, char **out);
bool kdri_ends_with(const char *text, const char *suffix);

/* --- read.c: files that contain a matrix; what stays on disk ------------------------------------------------------------------ */

/* kdr_read for everything but texts. */
kdr_status kdri_read(kdr_context *ctx, const char *path, const kdr_read_options *options, kdr_data **out);
/* The path itself or, of a workbook without a sheet in its path, those of the sheets that options->sheet names. Free with kdri_strings_free. */
kdr_status kdri_sheet_paths(kdr_context *ctx, const char *path, const kdr_read_options *options, char ***out,
                            int64_t *count);
/* The same for functions that read one: *out is its path. */
kdr_status kdri_sheet_path(kdr_context *ctx, const char *path, const kdr_read_options *options, char **out);
/* The approximate memory of a file's data, estimated from its size on disk; 0 if there is no file. */
double kdri_file_bytes(const char *path);
/* Whether data sets of `bytes` bytes in total stay on disk. */
bool kdri_streams(const kdr_context *ctx, kdr_stream wanted, double bytes);

/* xlsx_book.c: the sheets of a workbook that are not hidden, in their order. Free with kdri_strings_free. */
kdr_status kdri_xlsx_sheets(kdr_context *ctx, const char *path, char ***out, int64_t *count);
/* xlsx.c: a sheet as CSV text. */
kdr_status kdri_xlsx_text(kdr_context *ctx, const char *path, kdri_input **out);

/* --- readers and writers: one file per format, all listed in formats.c ------------------------ */

/* A format, recognised by its name or by file name endings. It has either `read` or, if it is read from one stream of
 * bytes, `parse`: both fill matrix, names and labels of a new data set. `write` may be NULL. */
typedef struct kdri_format {
	const char *id;             /* "csv" */
	const char *const *endings; /* { ".csv", ".csv.gz", NULL } */
	kdr_status (*read)(kdr_context *ctx, const char *path, const kdr_read_options *options,
	                   kdr_data *data);
	kdr_status (*parse)(kdr_context *ctx, kdri_input *in, const kdr_read_options *options,
	                    kdr_data *data);
	kdr_status (*write)(kdr_context *ctx, const char *path, const kdr_data *data, bool force);
	/* Reads a file to its end and lists its problems; or NULL. */
	kdr_status (*inspect)(kdr_context *ctx, const char *path, const kdr_read_options *options,
	                      kdr_findings *findings);
	const char *help;
	unsigned holds; /* KDR_HOLDS_* */
	bool parts;     /* reads a part of the rows: kdr_read_options.parts; */
	bool columns;   /* and label and task columns of the entire file */
} kdri_format;

/* Which rows of a file a reader is to read: first..last-1. */
typedef struct kdri_range {
	int64_t first, last;
} kdri_range;
/* entries.c */
kdri_range kdri_range_of(const kdr_read_options *options, int64_t rows);
/* Whether a file without rows is allowed. This is unknown if rows are columns of the file. */
static inline bool kdri_may_be_empty(const kdr_read_options *options)
{
	return options && options->may_be_empty && !options->transpose;
}
/* Records which of the `rows` rows of a file `data` has. */
kdr_status kdri_range_note(kdr_context *ctx, const kdr_read_options *options, kdri_range range, int64_t rows,
                           kdr_data *data);

/* Reduces texts of all rows of that file to those of the rows of `data`. NULL is accepted. */
void kdri_range_keep(kdr_context *ctx, const kdr_data *data, char **texts);

extern const kdri_format kdri_format_csv, kdri_format_tsv, kdri_format_mtx, kdri_format_svmlight; /* text */
extern const kdri_format kdri_format_tenx; /* a folder */
extern const kdri_format kdri_format_xlsx; /* text within an archive */
extern const kdri_format kdri_format_npy, kdri_format_npz, kdri_format_safetensors, kdri_format_hdf5,
        kdri_format_h5ad, kdri_format_mat; /* binary */

/* The format called `id`, or the format implied by the file name `path`; NULL if there is none. A suffix ":variable" of
 * .mat and .h5 paths is ignored. */
const kdri_format *kdri_format_find(const char *id, const char *path);
/* The name of a format that is recognised by file name but not supported, such as "Parquet"; otherwise NULL. */
const char *kdri_format_elsewhere(const char *path);
/* The formats in the order they are listed to people; NULL past the last. */
const kdri_format *kdri_format_at(int64_t index);

/* The readers of text from an open input, for tests that have bytes and no file. `delimiter` 0: detected. */
kdr_status kdri_csv_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                         kdr_data *data);
kdr_status kdri_mtx_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, kdr_data *data);
kdr_status kdri_svmlight_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options,
                              kdr_data *data);
kdr_status kdri_labels_read(kdr_context *ctx, kdri_input *in, kdr_labels **out);

/* Cells to append to the rows of a table: `cells` has a text for each row and new column, row by row, NULL for an empty cell. */
typedef struct kdri_added {
	const char *input; /* the file, or a sheet of a workbook */
	const kdri_dialect *dialect;
	const char *const *cells;
	int64_t rows;
} kdri_added;

#endif
