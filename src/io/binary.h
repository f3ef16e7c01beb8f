/* What the readers of binary formats share. SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes in a file cannot be trusted. A reader allocates only what the file can contain: every size is compared with the
 * bytes that can still follow before memory is allocated. */
#ifndef KDRI_BINARY_H
#define KDRI_BINARY_H

#include "io/io.h"

/* Deflate cannot shrink data by more than this factor: a stream that claims more is damaged. */
#define KDRI_DEFLATE_MOST 1032

/* --- entries.c: numbers as they lie in files -------------------------------------------------- */

typedef enum kdri_element {
	KDRI_ELEMENT_I1,
	KDRI_ELEMENT_I2,
	KDRI_ELEMENT_I4,
	KDRI_ELEMENT_I8,
	KDRI_ELEMENT_U1,
	KDRI_ELEMENT_U2,
	KDRI_ELEMENT_U4,
	KDRI_ELEMENT_U8,
	KDRI_ELEMENT_F2,
	KDRI_ELEMENT_F4,
	KDRI_ELEMENT_F8,
	KDRI_ELEMENT_BOOL,
	KDRI_ELEMENT_BF2 /* bfloat16: the upper half of a float */
} kdri_element;

size_t kdri_element_size(kdri_element type);
bool kdri_element_integer(kdri_element type);
bool kdri_little_endian(void); /* this machine */
/* Converts `count` elements; `swapped` if their bytes are in the other order than this machine's.
 * `raw` needs no alignment and may be `out` itself if elements have 8 bytes. Integers beyond 2^53
 * are rounded to the nearest double. */
void kdri_element_to_double(kdri_element type, bool swapped, const void *raw, int64_t count, double *out);
/* Integers only. false if a value does not fit. */
bool kdri_element_to_int64(kdri_element type, bool swapped, const void *raw, int64_t count, int64_t *out);

/* --- bytes from anywhere ------------------------------------------------------------------------ */

typedef struct kdri_source {
	kdr_status (*read)(kdr_context *ctx, void *user, void *buffer, size_t want, size_t *got);
	void *user;
	const char *label; /* its name in errors: "file.npz:X" */
	int64_t most;      /* maximum number of bytes that can follow; -1: unknown */
} kdri_source;

/* --- npy.c: NumPy's array format, in files and in .npz members ---------------------------------- */

typedef struct kdri_npy_header {
	char kind; /* 'n' number, 'S' bytes, 'U' text */
	kdri_element type;
	int64_t width; /* bytes of an element */
	bool swapped, fortran;
	int ndim;
	int64_t shape[3];
	int64_t count; /* number of elements; count * width does not overflow, and the source can have as many bytes */
	int64_t begin; /* of the elements, in bytes */
} kdri_npy_header;

kdr_status kdri_npy_read_header(kdr_context *ctx, const kdri_source *source, kdri_npy_header *header);
/* After the header: reads a matrix (1-D: one column) into a data set; for C order, `header` may be reduced to the rows
 * that follow. */
kdr_status kdri_npy_read_matrix(kdr_context *ctx, const kdri_source *source, const kdri_npy_header *header,
                                kdr_data *data);
/* After the header: all elements, in the order of the file, as double or int64. */
kdr_status kdri_npy_read_doubles(kdr_context *ctx, const kdri_source *source, const kdri_npy_header *header,
                                 double **out);
kdr_status kdri_npy_read_int64(kdr_context *ctx, const kdri_source *source, const kdri_npy_header *header,
                               int64_t **out);
/* Indices 0 .. bound-1. */
kdr_status kdri_npy_read_indices(kdr_context *ctx, const kdri_source *source, const kdri_npy_header *header,
                                 int64_t bound, int32_t **out);
/* Exactly `size` bytes, or KDR_ERR_FORMAT for a source that ends early. */
kdr_status kdri_source_exactly(kdr_context *ctx, const kdri_source *source, void *buffer, size_t size);

enum { KDRI_NPY_HEADER_ROOM = 256 };
/* A version 1 header for C order; returns its length, a multiple of 64. `descr` is such as "f8". */
size_t kdri_npy_make_header(const char *descr, int ndim, const int64_t *shape,
                            unsigned char out[KDRI_NPY_HEADER_ROOM]);

/* --- compressed.c: rows or columns compressed, as other tools write them ------------------------- */

/* Takes data->rowptr, col, val as read (major axis compressed: rows, or columns if `by_column`; col
 * within the minor axis) with `nnz` entries, checks the pointers, and leaves what kdr_csr promises:
 * compressed rows, columns strictly increasing, duplicates summed. data->rows and cols must be set. */
kdr_status kdri_compressed_finish(kdr_context *ctx, const char *label, kdr_data *data, bool by_column,
                                  int64_t nnz);
/* Checks before the arrays are read that their lengths match the shape and that sizes fit int32. */
kdr_status kdri_compressed_check(kdr_context *ctx, const char *label, int64_t rows, int64_t cols,
                                 bool by_column, int64_t nptr, int64_t nindices, int64_t nvalues);

/* --- entries.c --------------------------------------------------------------------------------- */

/* Transposes a data set and its names. After a failure the data set can only be freed. */
kdr_status kdri_data_transpose(kdr_context *ctx, kdr_data *data);

/* --- folder.c: "file.h5:name" ------------------------------------------------------------------- */

/* Splits at a colon that follows the name of an existing file. *member is NULL if there is none; both
 * results are allocated. */
kdr_status kdri_split_member(kdr_context *ctx, const char *path, char **file, char **member);

/* 10x Genomics: what folders and CellRanger's .h5 share. */

/* Whether the folder contains matrix.mtx or matrix.mtx.gz. */
bool kdri_is_tenx(const char *folder);
/* Whether the folder of a matrix file also has the other files of 10x: "…matrix.mtx" and "…barcodes.tsv". */
bool kdri_beside_tenx(const char *matrix);

/* Makes names different as AnnData does: the second "A" is "A-1", the third "A-2", unless others are called so. */
kdr_status kdri_names_distinct(kdr_context *ctx, char **names, int64_t count);
/* If there are features of several kinds (genes, antibodies, guides), keeps only the genes and reports this in a message
 * event. `types`: "Gene Expression" etc., one per column; or NULL. Makes data->features distinct. */
kdr_status kdri_tenx_finish(kdr_context *ctx, char *const *types, kdr_data *data);

#endif
