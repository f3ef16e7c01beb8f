/* Excel: sheets with more columns. SPDX-License-Identifier: BSD-3-Clause
 *
 * All members of the archive are copied, so that formats, formulas and other sheets stay. In these sheets, cells are
 * inserted before the </row> of each row that has a value; its <dimension>, which is optional, is removed because it
 * would be wrong. */
#include "io/workbook/xlsx_book.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct bytes {
	char *data;
	int64_t used, room;
} bytes;

static kdr_status add_bytes(kdr_context *ctx, bytes *b, const char *data, size_t size)
{
	KDRI_DO(KDRI_ROOM(ctx, &b->data, &b->room, b->used + (int64_t)size + 1));
	memcpy(b->data + b->used, data, size);
	b->used += (int64_t)size;
	b->data[b->used] = '\0';
	return KDR_OK;
}

static kdr_status add_text(kdr_context *ctx, bytes *b, const char *text)
{
	return add_bytes(ctx, b, text, strlen(text));
}

/* The cell of a row in the new column, which is number `column` from 0. */
static kdr_status add_cell(kdr_context *ctx, bytes *b, int32_t column, int32_t row, const char *text)
{
	char name[8] = "", reference[32];
	double unused;
	int n = 0;
	for (int32_t c = column + 1; c > 0 && n < 3; c = (c - 1) / 26, n++) {
		memmove(name + 1, name, (size_t)n);
		name[0] = (char)('A' + (c - 1) % 26);
	}
	const char *end = text + strlen(text);
	const bool number = kdri_parse_double(text, end, &unused) == end && isfinite(unused);
	kdri_snprintf(reference, sizeof reference, "<c r=\"%s%d\"", name, (int)row);
	KDRI_DO(add_text(ctx, b, reference));
	KDRI_DO(add_text(ctx, b, number ? "><v>" : " t=\"inlineStr\"><is><t xml:space=\"preserve\">"));
	/* Text between tags; characters that XML does not allow are omitted. */
	for (const char *p = text; *p; p++) {
		if (*p == '&' || *p == '<' || *p == '>')
			KDRI_DO(add_text(ctx, b, *p == '&' ? "&amp;" : *p == '<' ? "&lt;" : "&gt;"));
		else if ((unsigned char)*p >= ' ' || *p == '\t' || *p == '\n')
			KDRI_DO(add_bytes(ctx, b, p, 1));
	}
	return add_text(ctx, b, number ? "</v></c>" : "</t></is></c>");
}

/* A sheet and its new cells. */
typedef struct edit {
	kdri_xlsx_outline outline;
	char member[512], title[256]; /* of the archive; of the sheet */
	bool header;                  /* the sheet has one, which gets the titles of the outline */
	int count;
	const char *const *cells; /* rows x count */
	int64_t rows, done;       /* of them; rows of the outline that have been written */
} edit;

static kdr_status add_row_cell(kdr_context *ctx, edit *e, int32_t row, bytes *out)
{
	const int64_t at = e->done - e->header;
	if (e->done >= e->outline.nrows || e->outline.rows[e->done] != row)
		return KDR_OK; /* no cell of it has a value */
	e->done++;
	for (int i = 0; i < e->count; i++) {
		const char *text = at < 0         ? e->outline.titles[i]
		                   : at < e->rows ? e->cells[at * e->count + i]
		                                  : NULL;
		if (text)
			KDRI_DO(add_cell(ctx, out, e->outline.columns + i, row, text));
	}
	return KDR_OK;
}

/* The number of a row by its tag; the one after `before` if it has none. */
static int32_t row_number(const char *tag, const char *end, int32_t before)
{
	for (const char *p = tag + 4; p + 4 < end; p++)
		if ((*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') && p[1] == 'r' && p[2] == '=')
			return (int32_t)strtol(p + 4, NULL, 10);
	return before + 1;
}

/* The sheet's XML with the new cells. */
static kdr_status edit_sheet(kdr_context *ctx, const bytes *sheet, edit *e, bytes *out)
{
	const char *p = sheet->data, *dimension = strstr(p, "<dimension");
	const char *after = dimension ? strchr(dimension, '>') : NULL;
	int32_t row = 0;
	if (after && after[-1] == '/') {
		KDRI_DO(add_bytes(ctx, out, p, (size_t)(dimension - p)));
		p = after + 1;
	}
	for (;;) {
		const char *tag = strstr(p, "<row"), *end = tag ? strchr(tag, '>') : NULL;
		if (!end)
			break;
		if (tag[4] != ' ' && tag[4] != '>' && tag[4] != '/' && tag[4] != '\n' && tag[4] != '\t' &&
		    tag[4] != '\r') { /* another element */
			KDRI_DO(add_bytes(ctx, out, p, (size_t)(tag + 4 - p)));
			p = tag + 4;
			continue;
		}
		row = row_number(tag, end, row);
		const char *close = end[-1] == '/' ? end + 1 : strstr(end, "</row>");
		if (!close)
			break;
		KDRI_DO(add_bytes(ctx, out, p, (size_t)(close - p)));
		if (end[-1] != '/')
			KDRI_DO(add_row_cell(ctx, e, row, out));
		p = close;
	}
	return add_text(ctx, out, p);
}

static kdr_status read_member(kdr_context *ctx, const kdri_zip *zip, int64_t index, const char *label,
                              bytes *out)
{
	enum { BLOCK = 1 << 16 };
	kdr_status st;
	kdri_zip_member *member = NULL;
	kdri_source source;
	size_t got = BLOCK;
	KDRI_TRY(kdri_zip_member_open(ctx, zip, index, label, &member, &source));
	while (got == BLOCK) {
		KDRI_TRY(KDRI_ROOM(ctx, &out->data, &out->room, out->used + BLOCK + 1));
		KDRI_TRY(source.read(ctx, source.user, out->data + out->used, BLOCK, &got));
		out->used += (int64_t)got;
	}
	out->data[out->used] = '\0';
done:
	kdri_zip_member_close(ctx, member);
	return st;
}

/* Whether all rows of a sheet were found. */
static kdr_status check_edit(kdr_context *ctx, const kdri_xlsx_book *book, const edit *e)
{
	if (e->done == e->outline.nrows && e->outline.nrows - e->header == e->rows)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_UNSUPPORTED,
	                 "%s: sheet '%s' is stored in a way that cannot be copied; save it as CSV",
	                 book->path, e->title);
}

/* The archive with the sheets replaced. */
static kdr_status write_book(kdr_context *ctx, const kdri_xlsx_book *book, edit *edits, int64_t sheets,
                             const char *path, bool force)
{
	kdr_status st;
	const int64_t count = kdri_zip_count(book->zip);
	bytes *members = NULL, edited = { 0 };
	kdri_zip_new *list = NULL;
	kdri_zip_part *parts = NULL;
	kdri_output *out = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &members, count));
	KDRI_TRY(KDRI_NEW0(ctx, &list, count));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, count));
	for (int64_t i = 0; i < count; i++) {
		KDRI_TRY(read_member(ctx, book->zip, i, book->path, &members[i]));
		for (int64_t e = 0; e < sheets; e++)
			if (strcmp(kdri_zip_name(book->zip, i), edits[e].member) == 0) {
				KDRI_TRY(edit_sheet(ctx, &members[i], &edits[e], &edited));
				kdri_free(ctx, members[i].data);
				members[i] = edited;
				edited = (bytes){ 0 };
			}
		parts[i] = (kdri_zip_part){ members[i].data, (size_t)members[i].used };
		list[i] = (kdri_zip_new){ kdri_zip_name(book->zip, i), &parts[i], 1 };
	}
	for (int64_t e = 0; e < sheets; e++)
		KDRI_TRY(check_edit(ctx, book, &edits[e]));
	KDRI_TRY(kdri_output_open(ctx, path, force, &out));
	st = kdri_zip_write(ctx, out, list, (int)count);
	st = kdri_output_finish(ctx, out, st);
done:
	for (int64_t i = 0; members && i < count; i++)
		kdri_free(ctx, members[i].data);
	KDRI_FREE(ctx, edited.data, members, list, parts);
	return st;
}

/* Opens the workbook of a sheet, and finds its rows. */
static kdr_status open_sheet(kdr_context *ctx, const kdri_added *added, const char *const *titles, int count,
                             char **file, kdri_xlsx_book *book, edit *e)
{
	kdr_status st;
	char *member = NULL;
	KDRI_TRY(kdri_split_member(ctx, added->input, file, &member));
	KDRI_TRY(kdri_xlsx_open(ctx, *file, member, book));
	KDRI_TRY(kdri_xlsx_outline_read(ctx, book, added->dialect->above, titles, count, &e->outline));
	kdri_snprintf(e->member, sizeof e->member, "%s", book->sheet);
	kdri_snprintf(e->title, sizeof e->title, "%s", book->title);
	e->header = added->dialect->header;
	e->count = KDRI_MIN(count, KDRI_XLSX_ADDED);
	e->cells = added->cells;
	e->rows = added->rows;
done:
	kdri_free(ctx, member);
	return st;
}

kdr_status kdri_xlsx_append_columns(kdr_context *ctx, const kdri_added *added, int64_t sheets,
                                    const char *const *titles, int count, const char *path, bool force)
{
	kdr_status st;
	kdri_xlsx_book book = { .zip = NULL };
	edit *edits = NULL;
	char *file = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &edits, sheets));
	for (int64_t s = 0; s < sheets; s++) {
		kdri_xlsx_close(ctx, &book);
		book = (kdri_xlsx_book){ .zip = NULL };
		kdri_free(ctx, file);
		file = NULL;
		KDRI_TRY(open_sheet(ctx, &added[s], titles, count, &file, &book, &edits[s]));
	}
	KDRI_TRY(write_book(ctx, &book, edits, sheets, path, force));
done:
	kdri_xlsx_close(ctx, &book);
	for (int64_t s = 0; edits && s < sheets; s++)
		kdri_free(ctx, edits[s].outline.rows);
	KDRI_FREE(ctx, edits, file);
	return st;
}
