/* Matrix Market: writing. SPDX-License-Identifier: BSD-3-Clause
 *
 * Sparse matrices are written as coordinates, row by row; dense ones as an array, column by column as the format
 * requires. The field is "integer" if every value is an integer, so that readers can keep the type. */
#include "io/matrices/mtx.h"

static bool all_integers(const double *values, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!(fabs(values[i]) < 0x1p53 && values[i] == floor(values[i])))
			return false;
	return true;
}

static kdr_status put_coordinates(kdr_context *ctx, kdri_output *out, const kdr_data *d)
{
	char text[80];
	int64_t nnz = d->rowptr[d->rows];
	KDRI_DO(kdri_output_printf(ctx, out,
	                           "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %lld\n",
	                           all_integers(d->val, nnz) ? "integer" : "real", (long long)d->rows,
	                           (long long)d->cols, (long long)nnz));
	for (int64_t i = 0; i < d->rows; i++) {
		int lead = kdri_print_double((double)(i + 1), text);
		text[lead++] = ' ';
		for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++) {
			int n = lead + kdri_print_double((double)d->col[p] + 1, text + lead);
			text[n++] = ' ';
			n += kdri_print_double(d->val[p], text + n);
			text[n++] = '\n';
			KDRI_DO(kdri_output_write(ctx, out, text, (size_t)n));
		}
	}
	return KDR_OK;
}

static kdr_status put_array(kdr_context *ctx, kdri_output *out, const kdr_data *d)
{
	char text[32];
	KDRI_DO(kdri_output_printf(ctx, out, "%%%%MatrixMarket matrix array %s general\n%lld %lld\n",
	                           all_integers(d->dense, d->rows * d->cols) ? "integer" : "real",
	                           (long long)d->rows, (long long)d->cols));
	for (int64_t j = 0; j < d->cols; j++)
		for (int64_t i = 0; i < d->rows; i++) {
			int n = kdri_print_double(d->dense[i * d->cols + j], text);
			text[n++] = '\n';
			KDRI_DO(kdri_output_write(ctx, out, text, (size_t)n));
		}
	return KDR_OK;
}

kdr_status kdri_mtx_write(kdr_context *ctx, const char *path, const kdr_data *d, bool force)
{
	kdr_status st;
	kdri_output *out = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	KDRI_TRY(d->kind == KDR_MAT_DENSE ? put_array(ctx, out, d) : put_coordinates(ctx, out, d));
done:
	return kdri_output_finish(ctx, out, st);
}
