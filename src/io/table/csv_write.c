/* Tables of text (CSV, TSV): writing. SPDX-License-Identifier: BSD-3-Clause
 *
 * Row names come first, under an empty title, and classes last, under "label", so that the reader finds them again. If
 * there are no column names but one of these needs a header, columns are called x1, x2, ... Names that look like numbers
 * are quoted, so that the reader recognises their row as a header. A sparse matrix is written with its zeros, a row at a
 * time. */
#include <stdio.h>

#include "core/utf8.h"
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

/* Writes one cell of text, quoted if necessary. */
static kdr_status csv_put_text(kdr_context *ctx, kdri_output *out, const char *text, char delimiter)
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
	                                                : csv_put_text(ctx, out, text, delimiter);
}

static kdr_status put_text(const writer *w, const char *text)
{
	return csv_put_text(w->ctx, w->out, text, w->delimiter);
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
	if (d->features || d->ids || d->labels) {
		if (d->ids)
			KDRI_TRY(put_text(&w, d->ids_title ? d->ids_title : ""));
		for (int64_t j = 0; j < d->cols; j++) {
			if (j > 0 || d->ids)
				KDRI_TRY(kdri_output_write(w.ctx, w.out, &w.delimiter, 1));
			if (d->features)
				KDRI_TRY(put_text(&w, d->features[j]));
			else
				KDRI_TRY(kdri_output_printf(w.ctx, w.out, "x%lld", (long long)j + 1));
		}
		if (d->labels)
			KDRI_TRY(kdri_output_printf(w.ctx, w.out, "%clabel", w.delimiter));
		KDRI_TRY(kdri_output_write(w.ctx, w.out, "\n", 1));
	}
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

/* Copies a text table with one more column.
 *
 * Rows are copied unchanged: separators, quotes, decimal signs, blank lines and line ends stay. A cell is added at
 * the end of each row, before the separator if rows end in one. The text is encoded as it was. */

typedef struct copier {
	kdr_context *ctx;
	kdri_output *out;
	const kdri_dialect *dialect;
	const char *const *titles; /* count */
	int count;
	const char *const *cells; /* rows x count */
	int64_t rows, at;         /* rows: data rows that have a cell; at: data rows written */
	bool header;              /* still to come */
	int64_t above;            /* rows above it, likewise */
} copier;

/* The byte of Windows-1252 that a character has; '?' for one that it lacks. */
static char byte_1252(uint32_t c)
{
	for (unsigned b = c < 0x80 ? c : 0x80; b < 256; b++)
		if (b < 0x80 ? b == c : kdri_1252((unsigned char)b) == c)
			return (char)b;
	return '?';
}

/* UTF-8 text in the encoding of the file. */
static kdr_status put_encoded(const copier *c, const char *text, size_t length)
{
	const kdri_dialect *d = c->dialect;
	if (d->encoding == KDRI_UTF8 && !d->returns)
		return kdri_output_write(c->ctx, c->out, text, length);
	for (size_t i = 0, n; i < length; i += n) {
		uint32_t code;
		char bytes[4];
		size_t used = 0;
		n = kdri_utf8_at(text + i, length - i, &code);
		code = n == 0 ? (unsigned char)text[i] : code;
		n = n == 0 ? 1 : n;
		code = code == '\n' && d->returns ? '\r' : code;
		if (d->encoding == KDRI_LATIN1) {
			bytes[used++] = byte_1252(code);
		} else if (d->encoding == KDRI_UTF8) {
			used = kdri_utf8_put(code, bytes);
		} else {
			uint32_t units[2] = { code, 0 };
			int count = 1;
			if (code >= 0x10000) {
				units[0] = 0xd800 + ((code - 0x10000) >> 10);
				units[1] = 0xdc00 + ((code - 0x10000) & 0x3ff);
				count = 2;
			}
			for (int u = 0; u < count; u++) {
				const char low = (char)(units[u] & 0xff), high = (char)(units[u] >> 8);
				bytes[used++] = d->encoding == KDRI_UTF16LE ? low : high;
				bytes[used++] = d->encoding == KDRI_UTF16LE ? high : low;
			}
		}
		KDRI_DO(kdri_output_write(c->ctx, c->out, bytes, used));
	}
	return KDR_OK;
}

/* A cell, in quotes if the delimiter, a quote or a newline is in it. A formula gets an apostrophe; the cells of the input stay as they
 * are. */
static kdr_status put_cell(const copier *c, const char *text)
{
	const bool formula = !c->ctx->raw_cells && kdri_is_formula(text);
	if (!formula && !strpbrk(text, "\"\r\n") && !strchr(text, c->dialect->delimiter))
		return put_encoded(c, text, strlen(text));
	KDRI_DO(put_encoded(c, formula ? "\"'" : "\"", formula ? 2 : 1));
	for (const char *p = text; *p;) {
		const size_t n = strcspn(p, "\"");
		KDRI_DO(n > 0 ? put_encoded(c, p, n) : put_encoded(c, "\"\"", 2));
		p += n > 0 ? n : 1;
	}
	return put_encoded(c, "\"", 1);
}

/* A title that none of the row's cells is: title, title_2, ... */
static void free_title(const copier *c, const char *title, const char *row, char *out, size_t room)
{
	snprintf(out, room, "%s", title);
	for (int number = 2;; number++) {
		bool taken = false;
		for (const char *p = row;; p++) {
			char text[64];
			kdri_csv_cell cell = kdri_csv_cell_at(p, c->dialect->delimiter);
			kdri_csv_copy(&cell, text, sizeof text);
			taken = taken || strcmp(text, out) == 0;
			p = cell.stop;
			if (*p == '\n')
				break;
		}
		if (!taken)
			return;
		snprintf(out, room, "%s_%d", title, number);
	}
}

/* Whether the row ends in a delimiter that begins no cell. */
static bool has_last_delimiter(const copier *c, const char *row)
{
	int64_t cells = 0;
	kdri_csv_cell cell;
	for (const char *p = row;; p = cell.stop + 1) {
		cell = kdri_csv_cell_at(p, c->dialect->delimiter);
		cells++;
		if (*cell.stop == '\n')
			break;
	}
	return cells == c->dialect->fields + 1 && !cell.quoted && cell.begin == cell.end;
}

/* Copies one row, [p, end) with its newline, which is omitted if it was `added`. */
static kdr_status copy_row(void *user, const char *p, const char *end, bool added)
{
	copier *c = user;
	const char *q = p, *body = end - 1, delimiter = c->dialect->delimiter;
	char title[64];
	while (kdri_is_blank(*q) && *q != delimiter)
		q++;
	if (c->above-- > 0 || kdri_at_newline(q)) /* a title, or blank */
		return put_encoded(c, p, (size_t)(end - p) - added);
	if (body > p && body[-1] == '\r')
		body--;
	const bool last = has_last_delimiter(c, p);
	KDRI_DO(put_encoded(c, p, (size_t)(body - p)));
	for (int i = 0; i < c->count; i++) {
		const char *text = !c->header && c->at < c->rows ? c->cells[c->at * c->count + i] : NULL;
		if (c->header)
			free_title(c, c->titles[i], p, title, sizeof title);
		if (!last || i > 0)
			KDRI_DO(put_encoded(c, &delimiter, 1));
		if (c->header || text)
			KDRI_DO(put_cell(c, c->header ? title : text));
	}
	c->at += !c->header;
	c->header = false;
	if (last)
		KDRI_DO(put_encoded(c, &delimiter, 1));
	return put_encoded(c, body, (size_t)(end - body) - added);
}

/* What precedes the table: a byte order mark, and a line "sep=;". */
void kdri_csv_skip_start(kdri_window *w)
{
	const char *p = w->data, *end = w->data + w->end;
	if (w->end >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	const char *word = p < end && *p == '"' ? p + 1 : p;
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	if (newline && newline - word >= 5 && newline - word <= 8 && kdri_same_word(word, 4, "sep="))
		p = newline + 1;
	w->begin = (size_t)(p - w->data);
}

kdr_status kdri_csv_each_row(kdr_context *ctx, kdri_window *w, char delimiter, kdri_csv_row_fn row,
                             void *user)
{
	kdr_status st = KDR_OK;
	for (;;) {
		const char *p = w->data + w->begin, *end = w->data + w->end;
		const char *stop = p < end ? kdri_csv_row_end(p, end, delimiter) : NULL;
		if (stop) {
			KDRI_TRY(row(user, p, stop, w->added && stop == end));
			w->begin = (size_t)(stop - w->data);
		} else if (w->last) {
			if (p < end)
				st = kdri_csv_unclosed(ctx, w, p);
			break;
		} else {
			KDRI_TRY(kdri_window_fill(ctx, w));
		}
	}
done:
	return st;
}

kdr_status kdri_csv_same_rows(kdr_context *ctx, const char *path, int64_t now, int64_t before)
{
	if (now == before)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_DATA,
	                 "%s: the file has changed: it has %lld rows now, but had %lld when it was read",
	                 path, (long long)now, (long long)before);
}

kdr_status kdri_csv_append_columns(kdr_context *ctx, const kdri_added *added, const char *const *titles,
                                   int count, const char *path, bool force)
{
	kdr_status st;
	const kdri_dialect *dialect = added->dialect;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	copier c = { .ctx = ctx,
		     .dialect = dialect,
		     .titles = titles,
		     .count = count,
		     .cells = added->cells,
		     .rows = added->rows,
		     .header = dialect->header,
		     .above = dialect->above };
	KDRI_TRY(kdri_input_open(ctx, added->input, &in));
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	w.recode.from = (kdri_encoding)dialect->encoding;
	w.recode.returns = dialect->returns;
	KDRI_TRY(kdri_output_open(ctx, path, force, &c.out));
	KDRI_TRY(kdri_window_fill(ctx, &w));
	kdri_csv_skip_start(&w);
	KDRI_TRY(put_encoded(&c, w.data, w.begin));
	KDRI_TRY(kdri_csv_each_row(ctx, &w, dialect->delimiter, copy_row, &c));
	KDRI_TRY(kdri_csv_same_rows(ctx, added->input, c.at, added->rows));
done:
	if (c.out)
		st = kdri_output_finish(ctx, c.out, st);
	kdri_window_close(ctx, &w);
	kdri_input_close(ctx, in);
	return st;
}
