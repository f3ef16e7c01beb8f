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

#endif
