/* Excel: a sheet as a table of text. SPDX-License-Identifier: BSD-3-Clause
 *
 * A sheet is XML, <row r="2"><c r="B2" s="1" t="s"><v>0</v></c></row>: cells with a reference, a format and a kind.
 * They are converted to the text of a CSV file, with one line per row of the sheet and one field per column, and read
 * as one. Column kinds, missing values, names and classes are therefore detected and specified as in any table, and
 * errors are reported with the line and column of the sheet. Texts are quoted, true and false become 1 and 0, days
 * become 2024-02-29, and errors (#DIV/0!) become #N/A.
 *
 * Sizes that a file declares do not cost memory: only cells with a value are kept, and a table that would be mostly
 * empty is refused before it is converted. */
#include "io/table/table.h"
#include "io/workbook/xlsx_book.h"

#include <stdio.h>
#include <stdlib.h>

/* Excel's own limits; the largest table, and the largest number of fields per cell with a value. */
enum {
	ROWS_MOST = 1 << 20,
	COLS_MOST = 1 << 14,
	CELLS_MOST = 1 << 26,
	FIELDS_FREE = 1 << 24,
	FIELDS_PER_CELL = 50,
	CELL_MOST = 1 << 20
};
typedef struct cell {
	int32_t row, col; /* from 0 */
	int64_t at;       /* into the texts */
	int32_t length;
	bool quoted;
} cell;

typedef struct sheet {
	const kdri_xlsx_book *book;
	cell *cells;
	int64_t count, room;
	char *text;
	int64_t size, text_room;
	int32_t rows, cols; /* up to the last with a value */
	int32_t widest;     /* columns up to the last cell, with a value or without */
	bool sorted;
} sheet;

enum { NUMBER, BOOLEAN, TEXT, SHARED, ERROR }; /* kinds of cells */

/* The sheet that is being read, and the current cell. */
typedef struct reading {
	sheet *sheet;
	bool data, in_text, spoken; /* within sheetData; in the value of a cell; in a phonetic reading */
	int64_t row, col;
	int kind;
	bool day, value;
	char *text;
	int64_t length, room;
} reading;

static kdr_status xlsx_bad(kdr_context *ctx, const sheet *s, const reading *r, const char *what)
{
	char column[4] = "";
	int n = 0;
	for (int64_t c = r->col + 1; c > 0 && n < 3; c = (c - 1) / 26, n++) {
		memmove(column + 1, column, (size_t)n);
		column[0] = (char)('A' + (c - 1) % 26);
	}
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: sheet '%s', cell %s%lld: %s", s->book->path,
	                 s->book->title, column, (long long)r->row + 1, what);
}

/* "AB12" -> row 11, column 27. */
static bool parse_reference(const char *p, reading *r)
{
	int64_t col = 0, row = 0;
	for (; *p >= 'A' && *p <= 'Z' && col <= COLS_MOST; p++)
		col = 26 * col + (*p - 'A' + 1);
	for (; *p >= '0' && *p <= '9' && row <= ROWS_MOST; p++)
		row = 10 * row + (*p - '0');
	r->row = row - 1;
	r->col = col - 1;
	return *p == '\0' && row >= 1 && row <= ROWS_MOST && col >= 1 && col <= COLS_MOST;
}

static kdr_status xlsx_append(kdr_context *ctx, sheet *s, const reading *r, const char *text, size_t length,
                              bool quoted)
{
	if (length == 0)
		return KDR_OK;
	if (s->count == CELLS_MOST)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: sheet '%s' has more than %d cells; save it as CSV",
		                 s->book->path, s->book->title, CELLS_MOST);
	KDRI_DO(KDRI_ROOM(ctx, &s->cells, &s->room, s->count + 1));
	KDRI_DO(KDRI_ROOM(ctx, &s->text, &s->text_room, s->size + (int64_t)length));
	if (s->count > 0) {
		const cell *before = &s->cells[s->count - 1];
		s->sorted &= before->row < r->row || (before->row == r->row && before->col < r->col);
	}
	memcpy(s->text + s->size, text, length);
	s->cells[s->count++] = (cell){ (int32_t)r->row, (int32_t)r->col, s->size, (int32_t)length, quoted };
	s->size += (int64_t)length;
	s->rows = KDRI_MAX(s->rows, (int32_t)r->row + 1);
	s->cols = KDRI_MAX(s->cols, (int32_t)r->col + 1);
	return KDR_OK;
}

/* A cell has ended: stores its value as in a text table. */
static kdr_status finish_cell(kdr_context *ctx, sheet *s, const reading *r)
{
	const kdri_xlsx_book *b = s->book;
	const char *text = r->text ? r->text : "";
	if (!r->value)
		return KDR_OK;
	if (r->kind == SHARED) {
		char *end;
		long long index = strtoll(text, &end, 10);
		if (end == text || index < 0 || index >= b->ntexts)
			return xlsx_bad(ctx, s, r, "refers to a shared text that does not exist");
		const char *shared = b->text + b->at[index];
		return xlsx_append(ctx, s, r, shared, strlen(shared), true);
	}
	if (r->kind == TEXT)
		return xlsx_append(ctx, s, r, text, (size_t)r->length, true);
	if (r->kind == ERROR)
		return xlsx_append(ctx, s, r, "#N/A", 4, false);
	double number;
	const char *end = kdri_parse_double(text, text + r->length, &number);
	if (!end || end != text + r->length)
		return xlsx_bad(ctx, s, r, "its value is not a number");
	char date[32];
	if (r->day && r->kind == NUMBER && kdri_xlsx_date(number, b->from_1904, date, sizeof date))
		return xlsx_append(ctx, s, r, date, strlen(date), false);
	return xlsx_append(ctx, s, r, text, (size_t)r->length, false);
}

/* The type in a cell's attribute t: dates in ISO notation (d) are ordinary texts. */
static int kind_of(const char *t)
{
	static const struct {
		const char *t;
		int kind;
	} kinds[] = { { "n", NUMBER },  { "s", SHARED }, { "str", TEXT }, { "inlineStr", TEXT },
		      { "b", BOOLEAN }, { "e", ERROR },  { "d", TEXT } };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].t, t) == 0)
			return kinds[i].kind;
	return NUMBER;
}

static kdr_status begin_cell(kdr_context *ctx, const char *const *attributes, reading *r)
{
	const kdri_xlsx_book *b = r->sheet->book;
	const char *place = kdri_xml_attribute(attributes, "r"), *kind = kdri_xml_attribute(attributes, "t"),
	           *style = kdri_xml_attribute(attributes, "s");
	r->col++;
	if (place && !parse_reference(place, r))
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: sheet '%s': '%s' is not a cell", b->path, b->title,
		                 place);
	if (r->row < 0 || r->row >= ROWS_MOST || r->col >= COLS_MOST)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: sheet '%s': a cell is outside the possible rows and columns", b->path,
		                 b->title);
	r->sheet->widest = KDRI_MAX(r->sheet->widest, (int32_t)r->col + 1);
	r->kind = kind_of(kind ? kind : "n");
	const long format = style ? strtol(style, NULL, 10) : -1;
	r->day = format >= 0 && format < b->nformats && b->dates[format];
	r->value = false;
	r->length = 0;
	return KDR_OK;
}

static kdr_status open_cells(kdr_context *ctx, void *user, const char *name, const char *const *attributes)
{
	reading *r = user;
	if (strcmp(name, "sheetData") == 0) {
		r->data = true;
	} else if (!r->data) {
		return KDR_OK;
	} else if (strcmp(name, "row") == 0) {
		const char *row = kdri_xml_attribute(attributes, "r");
		r->row = row ? strtoll(row, NULL, 10) - 1 : r->row + 1;
		r->col = -1;
	} else if (strcmp(name, "c") == 0) {
		return begin_cell(ctx, attributes, r);
	} else if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) {
		r->in_text = true;
	} else if (strcmp(name, "rPh") == 0) {
		r->spoken = true;
	}
	return KDR_OK;
}

static kdr_status close_cells(kdr_context *ctx, void *user, const char *name)
{
	reading *r = user;
	if (strcmp(name, "sheetData") == 0)
		r->data = false;
	else if (r->data && strcmp(name, "c") == 0)
		return finish_cell(ctx, r->sheet, r);
	else if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0)
		r->in_text = false;
	else if (strcmp(name, "rPh") == 0)
		r->spoken = false;
	return KDR_OK;
}

static kdr_status add_cell_text(kdr_context *ctx, void *user, const char *text, size_t length)
{
	reading *r = user;
	if (!r->data || !r->in_text || r->spoken)
		return KDR_OK;
	if (r->length + (int64_t)length > CELL_MOST)
		return xlsx_bad(ctx, r->sheet, r, "contains more than a megabyte");
	KDRI_DO(KDRI_ROOM(ctx, &r->text, &r->room, r->length + (int64_t)length + 1));
	memcpy(r->text + r->length, text, length);
	r->length += (int64_t)length;
	r->text[r->length] = '\0';
	r->value = true;
	return KDR_OK;
}

static kdr_status read_cells(kdr_context *ctx, sheet *s)
{
	static const kdri_xml_handlers handlers = { open_cells, close_cells, add_cell_text };
	reading r = { .sheet = s, .row = -1, .col = -1 };
	kdr_status st = kdri_xlsx_read_part(ctx, s->book, s->book->sheet, &handlers, &r);
	kdri_free(ctx, r.text);
	return st;
}

static int by_place(const void *pa, const void *pb)
{
	const cell *a = pa, *b = pb;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->col != b->col)
		return a->col < b->col ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static size_t put_cell(const sheet *s, const cell *c, char *out)
{
	const char *p = s->text + c->at;
	size_t n = 0;
	if (!c->quoted) {
		memcpy(out, p, (size_t)c->length);
		return (size_t)c->length;
	}
	out[n++] = '"';
	for (int32_t i = 0; i < c->length; i++) {
		if (p[i] == '"')
			out[n++] = '"';
		out[n++] = p[i];
	}
	out[n++] = '"';
	return n;
}

/* The cells as a CSV file. */
static kdr_status write_down(kdr_context *ctx, sheet *s, char **out, size_t *size)
{
	int64_t filled = 0, room = 0;
	size_t n = 0;
	if (s->count == 0)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: sheet '%s' is empty", s->book->path, s->book->title);
	if (!s->sorted)
		qsort(s->cells, (size_t)s->count, sizeof *s->cells, by_place);
	for (int64_t i = 0; i < s->count; i++) {
		filled += i == 0 || s->cells[i].row != s->cells[i - 1].row;
		room += s->cells[i].quoted ? 2 * (int64_t)s->cells[i].length + 2 : s->cells[i].length;
	}
	/* Empty rows count too: the reader of tables makes room for every line. */
	if (s->rows * (int64_t)s->cols > FIELDS_FREE &&
	    s->rows * (int64_t)s->cols / FIELDS_PER_CELL > s->count)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: sheet '%s' is nearly empty: it has %lld cells in %lld rows and %d columns",
		        s->book->path, s->book->title, (long long)s->count, (long long)s->rows, s->cols);
	room += filled * s->cols + s->rows + 1;
	KDRI_DO(KDRI_NEW(ctx, out, room));
	for (int64_t i = 0, row = 0; i < s->count;) {
		for (; row < s->cells[i].row; row++)
			(*out)[n++] = '\n'; /* an empty row, so that lines have the sheet's numbers */
		int64_t col = 0;
		for (; i < s->count && s->cells[i].row == row; i++) {
			if (i > 0 && s->cells[i - 1].row == row && s->cells[i - 1].col == s->cells[i].col)
				continue; /* a cell that occurs twice */
			for (; col < s->cells[i].col; col++)
				(*out)[n++] = ',';
			n += put_cell(s, &s->cells[i], *out + n);
		}
		for (; col + 1 < s->cols; col++)
			(*out)[n++] = ',';
		(*out)[n++] = '\n';
		row++;
	}
	*size = n;
	return KDR_OK;
}

/* A sheet of a workbook as an input of CSV text, and the options to read it with. Free *text after the input is closed. */
static kdr_status open_xlsx(kdr_context *ctx, const char *path, kdr_read_options *options, char **text,
                            kdri_input **in)
{
	kdr_status st;
	kdri_xlsx_book book = { .zip = NULL };
	sheet s = { .book = &book, .sorted = true };
	char *file = NULL, *member = NULL;
	size_t size = 0;
	/* Of how the text is written, only the numbers in texts of the sheet have to be detected: the rest was written here. */
	options->typed = true;
	options->delimiter = ",";
	options->encoding = "utf-8";
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(kdri_xlsx_open(ctx, file, member, &book));
	KDRI_TRY(read_cells(ctx, &s));
	KDRI_TRY(write_down(ctx, &s, text, &size));
	KDRI_TRY(kdri_input_from_memory(ctx, *text, size, path, in));
done:
	KDRI_FREE(ctx, s.cells, s.text);
	kdri_xlsx_close(ctx, &book);
	KDRI_FREE(ctx, file, member);
	return st;
}

/* Reads the table into `data` or, if that is NULL, lists findings about it. */
static kdr_status with_xlsx(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data, kdr_findings *findings)
{
	kdr_status st;
	kdri_input *in = NULL;
	char *text = NULL;
	kdr_read_options own = options ? *options : (kdr_read_options){ .size = sizeof(kdr_read_options) };
	KDRI_TRY(open_xlsx(ctx, path, &own, &text, &in));
	KDRI_TRY(data ? kdri_csv_read(ctx, in, &own, ',', data)
	              : kdri_csv_inspect(ctx, in, &own, ',', findings));
	if (data)
		data->dialect = (kdri_dialect){ .workbook = true, .header = data->dialect.header };
done:
	kdri_input_close(ctx, in);
	kdri_free(ctx, text);
	return st;
}

static kdr_status read_xlsx(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data)
{
	return with_xlsx(ctx, path, options, data, NULL);
}

static kdr_status inspect_xlsx(kdr_context *ctx, const char *path, const kdr_read_options *options,
                               kdr_findings *findings)
{
	return with_xlsx(ctx, path, options, NULL, findings);
}

/* Whether a cell of the first row is this text. */
static bool is_title(const sheet *s, const char *text)
{
	for (int64_t i = 0; i < s->count && s->cells[i].row == s->cells[0].row; i++)
		if ((size_t)s->cells[i].length == strlen(text) &&
		    memcmp(s->text + s->cells[i].at, text, strlen(text)) == 0)
			return true;
	return false;
}

kdr_status kdri_xlsx_outline_read(kdr_context *ctx, const kdri_xlsx_book *book, const char *const *titles,
                                  int count, kdri_xlsx_outline *out)
{
	kdr_status st;
	sheet s = { .book = book, .sorted = true };
	KDRI_TRY(read_cells(ctx, &s));
	if (!s.sorted)
		qsort(s.cells, (size_t)s.count, sizeof *s.cells, by_place);
	KDRI_TRY(KDRI_NEW(ctx, &out->rows, s.count));
	for (int64_t i = 0; i < s.count; i++)
		if (i == 0 || s.cells[i].row != s.cells[i - 1].row)
			out->rows[out->nrows++] = s.cells[i].row + 1;
	out->columns = s.widest;
	for (int i = 0; i < count && i < KDRI_XLSX_ADDED; i++) {
		snprintf(out->titles[i], sizeof out->titles[i], "%s", titles[i]);
		for (int number = 2; is_title(&s, out->titles[i]); number++)
			snprintf(out->titles[i], sizeof out->titles[i], "%s_%d", titles[i], number);
	}
done:
	KDRI_FREE(ctx, s.cells, s.text);
	return st;
}

static const char *const endings[] = { ".xlsx", ".xlsm", NULL };

const kdri_format kdri_format_xlsx = {
	.id = "xlsx",
	.endings = endings,
	.read = read_xlsx,
	.inspect = inspect_xlsx,
	.help = "Excel: the first sheet, or file.xlsx:Sheet2; read as a text table",
	.holds = KDR_HOLDS_COLUMNS,
};
