/* HDF5 files: what the readers and writers of .h5, .h5ad, MATLAB v7.3 and model files share. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_H5_H
#define KDRI_H5_H

#include <hdf5.h>

#include "core/internal.h"
#include "io/binary.h"

/* Work on an HDF5 file in a child process.
 *
 * HDF5's parser crashes on some damaged files, and does not return for others. With kdr_context_set_isolation, a child process therefore opens
 * the file, does one job, such as reading a data set or adding columns to a file, and ends. Without isolation the same
 * function runs in this process.
 *
 * The child allocates from an arena: memory, or a scratch file if the data stay on disk, that both processes have mapped
 * at the same address. The data and pointers that it leaves there are therefore valid in the parent. The parent checks
 * every pointer before it uses one, takes over the large arrays where they are and copies the rest.
 *
 * The child is a fork, so that a library can start it. This is safe although the parent may have threads: the child runs
 * only HDF5, malloc (which the C library keeps usable after a fork) and the readers of this folder with a context of one
 * thread. It prints nothing and ends with _exit. No thread of this library holds HDF5's lock while it is forked (h5.c). */

/* Does the work and fills the result, whose pointers are allocated by `ctx`. */
typedef kdr_status (*kdri_child_run)(kdr_context *ctx, const void *user, void *result);

typedef struct kdri_child_job {
	const char *path; /* of the HDF5 file */
	double file_bytes;
	bool changes; /* it changes the file rather than reads it */
	kdri_child_run run;
	const void *user;   /* its input */
	size_t result_size; /* bytes of the result, which may be 0 */
} kdri_child_job;

/* The results of a child in its arena. Starts zeroed; kdri_handed_free unmaps everything that was not taken over. */
enum { KDRI_HANDED_ARRAYS = 8, KDRI_HANDED_LARGE = 1 << 16 };
typedef struct kdri_handed {
	const char *path;
	char *begin; /* the arena; NULL: the job ran in this process, and its result can be used directly */
	size_t size, head;
	int fd; /* scratch file, or -1 */
	int ntaken;
	struct {
		char *at;
		size_t bytes;
	} taken[KDRI_HANDED_ARRAYS]; /* whole pages */
} kdri_handed;

/* Runs the job, in a child process if isolation is set and the system has fork (Windows does not). `result` is passed to the job, and is changed only if the job
 * succeeds. */
kdr_status kdri_run_apart(kdr_context *ctx, const kdri_child_job *job, void *result, kdri_handed *handed);
/* Takes over `count` elements of `size` bytes at `at`; NULL stays NULL. */
kdr_status kdri_handed_array(kdr_context *ctx, kdri_handed *handed, const void *at, int64_t count,
                             size_t size, void *out);
/* Copies `count` strings; NULL stays NULL. */
kdr_status kdri_handed_strings(kdr_context *ctx, const kdri_handed *handed, char *const *strings,
                               int64_t count, char ***out);
void kdri_handed_free(kdri_handed *handed);
/* The error for an invalid result of a child: KDR_ERR_FORMAT. */
kdr_status kdri_handed_damaged(kdr_context *ctx, const kdri_handed *handed);

/* Records that `bytes` bytes of a file have been read, because large files may take longer. Does nothing outside a
 * child. */
void kdri_child_progress(int64_t bytes);

/* HDF5 files: what the readers and writers of .h5, .h5ad, MATLAB v7.3 and model files share.
 *
 * These functions work in the calling process; kdri_h5_read and kdri_h5_items start a child process if isolation is set
 *.
 *
 * Every size is compared with the size of the file before anything is read. External links and external or virtual
 * storage are refused. HDF5's error printing is off while a file is open. */

/* --- h5.c: files and their contents --------------------------------------------------------------- */

typedef struct kdri_h5 {
	const char *path; /* borrowed */
	hid_t file;
	hid_t links;   /* access to objects: no external links */
	int64_t bytes; /* size of the file */
	int64_t *room; /* bytes that its datasets may still claim; only one file is open at a time */
	bool entered;
	H5E_auto2_t print; /* the previous error handler */
	void *print_data;
} kdri_h5;

/* Both start from a zeroed struct; close accepts one that was never opened. Close objects that were opened or created
 * before any other operation on the file. */
kdr_status kdri_h5_open(kdr_context *ctx, const char *path, kdri_h5 *h5);
/* Writes to the temporary file of an output; `path` is named in errors. */
kdr_status kdri_h5_create(kdr_context *ctx, const char *path, const char *temporary, kdri_h5 *h5);
/* Opens the temporary file, which is a valid HDF5 file, for changes. */
kdr_status kdri_h5_reopen(kdr_context *ctx, const char *path, const char *temporary, kdri_h5 *h5);
/* Closes an object, attribute, type, shape or property list; accepts what could not be opened. */
void kdri_h5_drop(hid_t id);
void kdri_h5_close(kdri_h5 *h5);
/* The bytes of memory that the datasets of a file may claim, considering compression and wider numbers. */
double kdri_h5_most(double file_bytes);
/* The size of a file that can be read, or an error that names the reason. */
kdr_status kdri_h5_check_file(kdr_context *ctx, const char *path, int64_t *bytes);
/* One file is open at a time, and none while the process is copied: not all builds of HDF5 have locks, and
 * a copy must not inherit one that is held. */
void kdri_h5_lock(void);
void kdri_h5_unlock(void);
/* Whether the system refused a write to the file that was closed last; else what failed was wrong in the file. */
bool kdri_h5_disk_failed(void);
/* Ends writing: KDR_ERR_WRITE if not all bytes reached the file. Closes in any case. */
kdr_status kdri_h5_finish(kdr_context *ctx, kdri_h5 *h5);
/* The error with HDF5's own reason from its error stack; call it right after the failure. */
kdr_status kdri_h5_fail(kdr_context *ctx, const kdri_h5 *h5, kdr_status status, const char *name,
                        const char *what);

typedef enum kdri_h5_kind { KDRI_H5_NONE, KDRI_H5_GROUP, KDRI_H5_DATASET } kdri_h5_kind;
kdri_h5_kind kdri_h5_what(const kdri_h5 *h5, const char *name);

/* Calls `visit` for each object that hard links below `group` lead to, at most 12 levels deep and 100000 objects, until
 * it returns false. */
typedef bool (*kdri_h5_visit)(void *user, const kdri_h5 *h5, const char *name, kdri_h5_kind kind);
kdr_status kdri_h5_walk(kdr_context *ctx, const kdri_h5 *h5, const char *group, int levels,
                        kdri_h5_visit visit, void *user);

/* The name of attribute i of an object and its number of values; false: no more attributes. */
bool kdri_h5_attribute_at(const kdri_h5 *h5, const char *name, int64_t i, char *out, size_t room,
                          int64_t *count);
/* Attribute of an object as text; false if there is none, or none that is text. */
bool kdri_h5_text(const kdri_h5 *h5, const char *name, const char *attribute, char *out, size_t room);
/* Reads exactly `count` numbers, as HDF5's native type or as integers; false if there is another number of them. */
bool kdri_h5_numbers(const kdri_h5 *h5, const char *name, const char *attribute, hid_t native, int64_t count,
                     void *out);
bool kdri_h5_integers(const kdri_h5 *h5, const char *name, const char *attribute, int64_t count,
                      int64_t *out);

/* --- h5_read.c: datasets ------------------------------------------------------------------------------ */

typedef enum kdri_h5_class { KDRI_H5_NUMBER, KDRI_H5_STRING, KDRI_H5_COMPOUND, KDRI_H5_OTHER } kdri_h5_class;

/* An open dataset with a plausible size. */
typedef struct kdri_h5_array {
	hid_t id, space, type;
	kdri_h5_class type_class;
	bool floating;
	int ndim; /* may be more than 3; shape then holds the first three */
	int64_t shape[3], count;
	int64_t chunk_rows; /* rows that are stored together: 1 if the dataset is not chunked */
	char label[256];    /* "file.h5:/name" */
} kdri_h5_array;

kdr_status kdri_h5_array_open(kdr_context *ctx, const kdri_h5 *h5, const char *name, kdri_h5_array *out);
/* Accepts a zeroed struct. */
void kdri_h5_array_close(kdri_h5_array *array);

/* Rows begin .. begin+rows-1 (of the first dimension, everything of the others), converted by HDF5. */
kdr_status kdri_h5_rows_double(kdr_context *ctx, const kdri_h5_array *array, int64_t begin, int64_t rows,
                               double *out);
kdr_status kdri_h5_rows_int64(kdr_context *ctx, const kdri_h5_array *array, int64_t begin, int64_t rows,
                              int64_t *out);
/* All elements of a 1-D dataset. Integers become their decimal text. `field`: of a compound; or NULL. */
kdr_status kdri_h5_strings(kdr_context *ctx, const kdri_h5_array *array, const char *field, char ***out);
/* An integer field of all elements of a 1-D compound. */
kdr_status kdri_h5_field_int64(kdr_context *ctx, const kdri_h5_array *array, const char *field,
                               int64_t **out);
bool kdri_h5_has_field(const kdri_h5_array *array, const char *field, bool *text);

/* --- h5_read.c: matrices in and out ------------------------------------------------------------------ */

/* True for a dataset of numbers with two dimensions, or a group that holds a sparse matrix. */
bool kdri_h5_is_matrix(const kdri_h5 *h5, const char *name);
/* Reads one into a data set: dense (1-D: one column), or a group with data, indices and indptr, in
 * AnnData's layouts of any age. Only the range of rows in `options` is used; it may be NULL. */
kdr_status kdri_h5_read_matrix(kdr_context *ctx, const kdri_h5 *h5, const char *name,
                               const kdr_read_options *options, kdr_data *data);
/* A dataset of one or two dimensions; those of MATLAB are stored transposed and always read in full. */
kdr_status kdri_h5_read_dense(kdr_context *ctx, const kdri_h5_array *array, bool transposed,
                              const kdr_read_options *options, kdr_data *data);
/* data, indices, indptr of these names in `group`; used for MATLAB's ir, jc too. */
kdr_status kdri_h5_read_compressed(kdr_context *ctx, const kdri_h5 *h5, const char *group,
                                   const char *const names[3], bool by_column, int64_t rows, int64_t cols,
                                   const kdr_read_options *options, kdr_data *data);

/* --- hdf5.c: a data set, read in a child process if isolation is set ------------------ */

/* Fills a data set from an open file. `member`: what follows the file's name and a colon; or NULL. */
typedef kdr_status (*kdri_h5_reader)(kdr_context *ctx, const kdri_h5 *h5, const char *member,
                                     const kdr_read_options *options, kdr_data *data);
kdr_status kdri_h5_read(kdr_context *ctx, const char *path, const kdr_read_options *options,
                        kdri_h5_reader reader, kdr_data *data);

/* --- h5_items.c: everything in a small file, read in a child process if isolation is set --- */

/* A group, a dataset or an attribute. */
typedef struct kdri_h5_item {
	char *name;               /* "arrays/centres", "tasks/0@name", "@format" */
	kdri_h5_class type_class; /* KDRI_H5_OTHER: it has no values, or none that are read */
	bool floating;
	int ndim;
	int64_t shape[3], count;
	void *values; /* `count` doubles or int64_t, or char * */
} kdri_h5_item;

typedef struct kdri_h5_items {
	kdri_h5_item *list; /* by name */
	int64_t count;
	kdri_handed handed; /* where they are, if a child has read them */
} kdri_h5_items;

/* Reads groups to the third level, datasets of up to three dimensions, and attributes of one. Starts zeroed. */
kdr_status kdri_h5_read_items(kdr_context *ctx, const char *path, kdri_h5_items *items);
/* The object, or the attribute of that object; NULL if there is none. */
const kdri_h5_item *kdri_h5_item_find(const kdri_h5_items *items, const char *object, const char *attribute);
void kdri_h5_items_free(kdr_context *ctx, kdri_h5_items *items);
/* Stores the checksum of all items of an open file as an attribute of its root. Call it after the last change. */
kdr_status kdri_h5_seal(kdr_context *ctx, const kdri_h5 *h5);
/* Whether the items have that checksum, or the file has none. */
bool kdri_h5_items_intact(const kdri_h5_items *items);

/* --- h5_write.c ----------------------------------------------------------------------------------------- */

kdr_status kdri_h5_make_group(kdr_context *ctx, const kdri_h5 *h5, const char *name);
kdr_status kdri_h5_write_array(kdr_context *ctx, const kdri_h5 *h5, const char *name, hid_t type, int ndim,
                               const int64_t *shape, const void *data);
/* Variable-length UTF-8. */
kdr_status kdri_h5_write_strings(kdr_context *ctx, const kdri_h5 *h5, const char *name,
                                 const char *const *strings, int64_t count);
/* An attribute of `ndim` dimensions, 0 for one value; a type below 0 could not be made. */
kdr_status kdri_h5_set_attribute(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                                 hid_t type, int ndim, const int64_t *shape, const void *data);
/* Replaces an attribute, which need not exist, by a list of texts. */
kdr_status kdri_h5_set_texts(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                             const char *const *texts, int64_t count);
kdr_status kdri_h5_set_text(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                            const char *text);
kdr_status kdri_h5_set_integers(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                                const int64_t *values, int64_t count);
kdr_status kdri_h5_set_reals(kdr_context *ctx, const kdri_h5 *h5, const char *name, const char *attribute,
                             const double *values, int64_t count);
/* A matrix as kdri_h5_read_matrix reads it: a dataset, or a group in AnnData's CSR layout. */
kdr_status kdri_h5_write_matrix(kdr_context *ctx, const kdri_h5 *h5, const char *name, const kdr_data *data);

/* CellRanger's .h5. */

#endif
