/* Tables of text (CSV, TSV): writing. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row names come first, under an empty title, and classes last, under "label", so that the reader finds them again. If
 * there are no column names but one of these needs a header, columns are called x1, x2, ... Names that look like numbers
 * are quoted, so that the reader recognises their row as a header. A sparse matrix is written with its zeros, a row at a
 * time. */
#include "io/table/csv.h"

typedef struct writer {
	kdr_context *ctx;
	kdri_output *out;
	char delimiter;
} writer;

/* What begins like a formula is quoted too: spreadsheets differ in what they take for one. */
static bool needs_quotes(const char *text, char delimiter)
{
	size_t n = strlen(text);
	double v;
	return n == 0 || kdri_is_blank(text[0]) || kdri_is_blank(text[n - 1]) || strpbrk(text, "\"\r\n") ||
	       strchr(text, delimiter) || strchr("=+-@", text[0]) || strncmp(text, "\xef\xbb\xbf", 3) == 0 ||
	       kdri_parse_double(text, text + n, &v) == text + n;
}

/* In quotes, with `before` at its beginning. */
static kdr_status put_quoted(kdr_context *ctx, kdri_output *out, const char *before, const char *text)
{
	KDRI_DO(kdri_output_write(ctx, out, "\"", 1));
	KDRI_DO(kdri_output_write(ctx, out, before, strlen(before)));
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\"");
		KDRI_DO(kdri_output_write(ctx, out, p, n));
		p += n;
		if (*p) {
			KDRI_DO(kdri_output_write(ctx, out, "\"\"", 2));
			p++;
		}
	}
	return kdri_output_write(ctx, out, "\"", 1);
}

kdr_status kdri_csv_put_text(kdr_context *ctx, kdri_output *out, const char *text, char delimiter)
{
	return needs_quotes(text, delimiter) ? put_quoted(ctx, out, "", text)
	                                     : kdri_output_write(ctx, out, text, strlen(text));
}

bool kdri_is_formula(const char *text)
{
	const char *end = text + strlen(text);
	double v;
	return text[0] && strchr("=+-@\t\r", text[0]) && kdri_parse_double(text, end, &v) != end;
}

kdr_status kdri_csv_put_cell(kdr_context *ctx, kdri_output *out, const char *text, char delimiter)
{
	return !ctx->raw_cells && kdri_is_formula(text) ? put_quoted(ctx, out, "'", text)
	                                                : kdri_csv_put_text(ctx, out, text, delimiter);
}

static kdr_status put_text(const writer *w, const char *text)
{
	return kdri_csv_put_text(w->ctx, w->out, text, w->delimiter);
}

static kdr_status put_header(const writer *w, const kdr_data *d)
{
	if (d->ids)
		KDRI_DO(put_text(w, d->ids_title ? d->ids_title : ""));
	for (int64_t j = 0; j < d->cols; j++) {
		if (j > 0 || d->ids)
			KDRI_DO(kdri_output_write(w->ctx, w->out, &w->delimiter, 1));
		if (d->features)
			KDRI_DO(put_text(w, d->features[j]));
		else
			KDRI_DO(kdri_output_printf(w->ctx, w->out, "x%lld", (long long)j + 1));
	}
	if (d->labels)
		KDRI_DO(kdri_output_printf(w->ctx, w->out, "%clabel", w->delimiter));
	return kdri_output_write(w->ctx, w->out, "\n", 1);
}

/* `row` has room for one row of zeros, put back after use. */
static kdr_status csv_write_put_rows(const writer *w, const kdr_data *d, double *row)
{
	char text[32];
	for (int64_t i = 0; i < d->rows; i++) {
		const double *x = d->kind == KDR_MAT_DENSE ? d->dense + i * d->cols : row;
		if (d->kind == KDR_MAT_CSR)
			for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
				row[d->col[p]] = d->val[p];
		if (d->ids)
			KDRI_DO(d->ids_title ? kdri_csv_put_cell(w->ctx, w->out, d->ids[i], w->delimiter)
			                     : put_text(w, d->ids[i]));
		for (int64_t j = 0; j < d->cols; j++) {
			text[0] = w->delimiter;
			int n = kdri_print_double(x[j], text + 1);
			bool first = j == 0 && !d->ids;
			KDRI_DO(kdri_output_write(w->ctx, w->out, text + first, (size_t)(n + !first)));
		}
		if (d->labels) {
			KDRI_DO(kdri_output_write(w->ctx, w->out, &w->delimiter, 1));
			if (d->labels[i] >= 0)
				KDRI_DO(put_text(w, d->classes[d->labels[i]]));
		}
		KDRI_DO(kdri_output_write(w->ctx, w->out, "\n", 1));
		if (d->kind == KDR_MAT_CSR)
			for (int64_t p = d->rowptr[i]; p < d->rowptr[i + 1]; p++)
				row[d->col[p]] = 0;
	}
	return KDR_OK;
}

static kdr_status csv_write_write_table(kdr_context *ctx, const char *path, const kdr_data *d, bool force,
                                        char delimiter)
{
	kdr_status st;
	writer w = { ctx, NULL, delimiter };
	double *row = NULL;
	KDRI_TRY(kdri_output_open(ctx, path, force, &w.out));
	KDRI_TRY(KDRI_NEW0(ctx, &row, d->cols));
	if (d->features || d->ids || d->labels)
		KDRI_TRY(put_header(&w, d));
	KDRI_TRY(csv_write_put_rows(&w, d, row));
done:
	kdri_free(ctx, row);
	return kdri_output_finish(ctx, w.out, st);
}

kdr_status kdri_csv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	return csv_write_write_table(ctx, path, data, force, ',');
}

kdr_status kdri_tsv_write(kdr_context *ctx, const char *path, const kdr_data *data, bool force)
{
	return csv_write_write_table(ctx, path, data, force, '\t');
}
