/* Checking data sets and files. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_INSPECT_H
#define KINDRED_INSPECT_H

#include "kindred/data.h"

/* Statistics of a matrix. An entry that a sparse matrix does not store is a zero. Values that are not finite are counted and
 * otherwise ignored. Frozen. */
typedef struct kdr_inspection {
	int64_t rows, cols;
	int64_t nonzeros;
	double min, max;                /* of the finite values; 0 if there are none */
	bool integers;                  /* all finite values are integers */
	int64_t negatives;              /* values below zero */
	int64_t nonfinite;              /* NaN or infinite */
	int64_t bad_row, bad_col;       /* the first of these, from 0; -1 if there is none */
	int64_t empty_rows, empty_cols; /* nothing but zeros */
	int64_t constant_cols;          /* all values are equal, zeros included */
	int64_t duplicate_rows;         /* rows equal to an earlier one */
	int64_t duplicate_names;        /* feature names that occurred before */
} kdr_inspection;

/* Computes the statistics of a data set. Cost: O(nnz + d log d) time, O(n + d) memory. */
KDR_API kdr_status kdr_inspect(kdr_context *ctx, const kdr_data *data, kdr_inspection *out);

/* A problem found in a file. May grow. */
typedef struct kdr_finding {
	int64_t line; /* of the file, from 1: the first such place; 0: no particular place */
	const char *
	        found; /* such as "line 7, column 3 (width): 'abc' is not a number, but 12 other cells in this
			   column are" */
	const char *then; /* how it is handled, and the option that helps */
	bool fatal;       /* kdr_read refuses the file */
} kdr_finding;
typedef struct kdr_findings kdr_findings;

/* Reads a table of text or an Excel sheet to its end and lists all its problems, while kdr_read stops at the first fatal one. For
 * AnnData it lists the columns of obs and the matrices of the file. For other formats, and with a text_column, the list is empty. `options` may be NULL. Free *out with kdr_findings_free.
 * Cost: O(size of the file) time, O(columns) memory. */
KDR_API kdr_status kdr_inspect_file(kdr_context *ctx, const char *path, const kdr_read_options *options,
                                    kdr_findings **out);
/* Returns problem number `index`, from 0; NULL past the last. Cost: O(1). */
KDR_API const kdr_finding *kdr_findings_at(const kdr_findings *findings, int64_t index);
KDR_API void kdr_findings_free(kdr_findings *findings);

#endif
