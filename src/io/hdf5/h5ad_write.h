/* What is added to AnnData files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KDRI_H5AD_WRITE_H
#define KDRI_H5AD_WRITE_H

#include "io/io.h"

/* Of each row of the file. */
typedef struct kdri_h5ad_notes {
	int64_t rows;
	const int32_t *codes; /* into the categories; -1: nothing is known of the row; NULL: of any */
	const char *const *categories;
	int64_t ncategories;
	const double *confidence; /* NaN: unknown; NULL: of no row */
	const double *xy;         /* two numbers a row; NULL: none were made */
} kdri_h5ad_notes;

/* A copy of the .h5ad file `input` with obs["kindred"], obs["kindred_confidence"] and obsm["X_kindred"] in it; or, where
 * `data` is not NULL, a new file of that matrix and its names. Whole or not at all. */
kdr_status kdri_h5ad_annotate(kdr_context *ctx, const char *path, const char *input, const kdr_data *data,
                              const kdri_h5ad_notes *notes, bool force);

#endif
