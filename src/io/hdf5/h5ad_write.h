/* Additions to AnnData files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_H5AD_WRITE_H
#define KDRI_H5AD_WRITE_H

#include "io/io.h"

enum { KDRI_H5AD_KEY = 100 };

/* jobs/write/h5ad.c: an error unless names can begin with `key`; NULL can. */
kdr_status kdri_h5ad_check_key(kdr_context *ctx, const char *key);

/* Of each row of the file. */
typedef struct kdri_h5ad_notes {
	const char *key; /* names begin with it, at most KDRI_H5AD_KEY bytes; NULL: kindred */
	int64_t rows;
	const int32_t *codes;  /* index of the category; -1: unknown for this row; NULL: unknown for all */
	const int32_t *second; /* the same for the second choice */
	const char *const *categories,
	        *const *titles; /* titles: what else they are called, each once; NULL: nothing */
	int64_t ncategories;
	const double *confidence;    /* NaN: unknown; NULL: unknown for all */
	const double *unlike_source; /* rank from 0 to 1; NaN: unknown; NULL: unknown for all */
	const double *
	        match; /* that the cluster is the same in all data sets; NaN: it is in one; NULL: unknown for all */
	const double *xy;     /* two numbers per row; NULL: not computed */
	const double *shared; /* `width` numbers per row, NaN: unknown; NULL: not computed */
	int64_t width;
} kdri_h5ad_notes;

/* Writes a copy of the .h5ad file `input` with these columns of obs and arrays of obsm or, if
 * `data` is not NULL, a new file with that matrix and its names. The file is written completely or not at all. */
kdr_status kdri_h5ad_annotate(kdr_context *ctx, const char *path, const char *input, const kdr_data *data,
                              const kdri_h5ad_notes *notes, bool force);

/* Writes a copy of the model `input` with another list "classes" or "names". */
kdr_status kdri_model_rename(kdr_context *ctx, const char *path, const char *input, const char *list,
                             const char *const *names, int64_t count, bool force);

#endif
