/* SVMlight / LIBSVM: writing. SPDX-License-Identifier: BSD-3-Clause
 *
 * Indices are one-based and zeros are omitted. The label is the name of the class, 0 if the data have no classes, "?" if
 * that of a row is unknown. If the last column is empty, the first row gets an explicit zero there, which keeps the
 * number of columns. */
#include "io/text.h"

static bool last_column_used(const kdr_data *d)
{
	for (int64_t i = 0; i < d->rows; i++)
		if (d->kind == KDR_MAT_DENSE
		            ? d->dense[(i + 1) * d->cols - 1] != 0
		            : d->rowptr[i + 1] > d->rowptr[i] && d->col[d->rowptr[i + 1] - 1] == d->cols - 1)
			return true;
	return false;
}

static kdr_status put_pair(kdr_context *ctx, kdri_output *out, int64_t column, double value)
{
	char text[64];
	int n = 1;
	text[0] = ' ';
	n += kdri_print_double((double)(column + 1), text + n);
	text[n++] = ':';
	n += kdri_print_double(value, text + n);
	return kdri_output_write(ctx, out, text, (size_t)n);
}

static kdr_status put_row(kdr_context *ctx, kdri_output *out, const kdr_data *d, int64_t i)
{
	if (d->kind == KDR_MAT_DENSE) {
		for (int64_t j = 0; j < d->cols; j++)
			if (d->dense[i * d->cols + j] != 0)
				KDRI_DO(put_pair(ctx, out, j, d->dense[i * d->cols + j]));
	} else {
		for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
			KDRI_DO(put_pair(ctx, out, d->col[p], d->val[p]));
	}
	return KDR_OK;
}

kdr_status kdri_svmlight_write(kdr_context *ctx, const char *path, const kdr_data *d, bool force)
{
	kdr_status st;
	kdri_output *out = NULL;
	for (int64_t c = 0; d->labels && c < d->nclasses; c++)
		if (d->classes[c][0] == '\0' || strpbrk(d->classes[c], " \t\r\n#:,"))
			return kdri_fail(
			        ctx, KDR_ERR_UNSUPPORTED,
			        "%s: class '%s' cannot be written; a label in this format must be one word without '#', ':' and ','",
			        path, d->classes[c]);
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	bool widen = !last_column_used(d);
	for (int64_t i = 0; i < d->rows; i++) {
		const char *label = !d->labels ? "0" : d->labels[i] < 0 ? "?" : d->classes[d->labels[i]];
		KDRI_TRY(kdri_output_write(ctx, out, label, strlen(label)));
		KDRI_TRY(put_row(ctx, out, d, i));
		if (widen && i == 0)
			KDRI_TRY(put_pair(ctx, out, d->cols - 1, 0));
		KDRI_TRY(kdri_output_write(ctx, out, "\n", 1));
	}
done:
	return kdri_output_finish(ctx, out, st);
}
