/* Samples in columns made samples in rows. SPDX-License-Identifier: BSD-3-Clause */
#include "io/binary.h"

enum { TILE = 32 }; /* rows and columns that are turned together, so that both stay in the cache */

static kdr_status turn_dense(kdr_context *ctx, kdr_data *d)
{
	double *turned = NULL;
	int64_t rows = d->rows, cols = d->cols, size;
	KDRI_DO(kdri_mul(ctx, rows, cols, &size));
	KDRI_DO(KDRI_NEW(ctx, &turned, size));
	for (int64_t i = 0; i < rows; i += TILE)
		for (int64_t j = 0; j < cols; j += TILE)
			for (int64_t p = i; p < KDRI_MIN(i + TILE, rows); p++)
				for (int64_t q = j; q < KDRI_MIN(j + TILE, cols); q++)
					turned[q * rows + p] = d->dense[p * cols + q];
	kdri_free(ctx, d->dense);
	d->dense = turned;
	return KDR_OK;
}

kdr_status kdri_data_transpose(kdr_context *ctx, kdr_data *d)
{
	int64_t rows = d->rows, cols = d->cols;
	char **names = d->features;
	if (d->labels || d->groups.of)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: transposed data cannot have a label column or task column", d->path);
	/* The kinds of columns describe features; columns that are samples must be numbers. */
	for (int64_t j = 0; d->sheet && j < d->sheet->ncolumns; j++) {
		kdr_column_kind kind = d->sheet->columns[j].kind;
		if (kind == KDR_COLUMN_CATEGORY || kind == KDR_COLUMN_DATE || kind == KDR_COLUMN_TEXT)
			return kdri_fail(
			        ctx, KDR_ERR_DATA,
			        "%s: column %lld (%s) is not a sample but was detected as %s%s%s; use --columns '-NAME' to skip it",
			        d->path, (long long)j + 1, d->sheet->columns[j].name,
			        kdr_column_kind_name(kind), d->sheet->columns[j].why[0] ? ": " : "",
			        d->sheet->columns[j].why);
	}
	kdri_sheet_free(&d->allocator, d->sheet);
	d->sheet = NULL;
	if (d->kind == KDR_MAT_DENSE) {
		KDRI_DO(turn_dense(ctx, d));
	} else {
		/* Rows that are compressed are the columns of the other. */
		int64_t nnz = d->rowptr[rows];
		KDRI_DO(kdri_compressed_check(ctx, d->path, cols, rows, true, rows + 1, nnz, nnz));
	}
	kdri_sheet_free(&d->allocator, d->sheet); /* its columns are rows now */
	d->sheet = NULL;
	d->dialect = (kdri_dialect){ 0 };
	d->rows = cols;
	d->cols = rows;
	d->features = d->ids;
	d->ids = names;
	if (d->kind == KDR_MAT_CSR)
		KDRI_DO(kdri_compressed_finish(ctx, d->path, d, true, d->rowptr[rows]));
	return KDR_OK;
}
