/* What is in a data set, and what is odd about it. SPDX-License-Identifier: BSD-3-Clause */
#ifndef KINDRED_INSPECT_H
#define KINDRED_INSPECT_H

#include "kindred/data.h"

/* Everything is said of values: an entry a sparse matrix does not store is a zero. Non-finite values are
 * counted and otherwise left out. */
typedef struct kdr_inspection {
	int64_t rows, cols;
	int64_t nonzeros;
	double min, max;                /* of the finite values; 0 if there are none */
	bool integers;                  /* all finite values are whole numbers */
	int64_t negatives;              /* values below zero */
	int64_t nonfinite;              /* NaN or infinite */
	int64_t bad_row, bad_col;       /* the first of them, from 0; -1 if there is none */
	int64_t empty_rows, empty_cols; /* nothing but zeros */
	int64_t constant_cols;          /* one value throughout, zeros included */
	int64_t duplicate_rows;         /* rows equal to an earlier one */
	int64_t duplicate_names;        /* feature names met before */
} kdr_inspection;

KDR_API kdr_status kdr_inspect(kdr_context *ctx, const kdr_data *data, kdr_inspection *out);

/* Something odd about a file, and what is done about it. */
typedef struct kdr_finding {
	int64_t line; /* of the file, from 1: the first such place; 0: no place in particular */
	const char
	        *found; /* such as "line 7, column 3 (width): 'abc' is not a number, as 12 other cells are" */
	const char *then; /* what is done about it, and the option that helps */
	bool fatal;       /* kdr_read refuses the file */
} kdr_finding;
typedef struct kdr_findings kdr_findings;

/* Goes through the whole of a file, a table of text, and lists all that is odd about it, where kdr_read stops at the first
 * that is fatal. Of other formats it has nothing to say. `options` may be NULL. Free *out with kdr_findings_free. */
KDR_API kdr_status kdr_inspect_file(kdr_context *ctx, const char *path, const kdr_read_options *options,
                                    kdr_findings **out);
KDR_API int64_t kdr_findings_count(const kdr_findings *findings);
KDR_API const kdr_finding *kdr_findings_at(const kdr_findings *findings, int64_t index);
KDR_API void kdr_findings_free(kdr_findings *findings);

#endif
