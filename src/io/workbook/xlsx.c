/* Excel: a sheet as a table of text. SPDX-License-Identifier: BSD-3-Clause
 *
 * A sheet is XML, <row r="2"><c r="B2" s="1" t="s"><v>0</v></c></row>: cells with a reference, a format and a kind.
 * They are converted to the text of a CSV file, with one line per row of the sheet and one field per column, and read
 * as one. Column kinds, missing values, names and classes are therefore detected and specified as in any table, and
 * errors are reported with the line and column of the sheet. Texts are quoted, true and false become 1 and 0, days
 * become 2024-02-29, and errors (#DIV/0!) become #N/A.
 *
 * Sizes that a file declares do not cost memory: only cells with a value are kept, and a table that would be mostly
 * empty is refused before it is converted. Cells refer to shared texts, and the CSV text is made row by row while it is read: a text
 * that many cells share is never held many times, but counts as often as it occurs (--max-unpacked). */
#include "core/system.h"
#include "io/archive/inflate.h"
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
	int64_t at;       /* into the texts of the sheet, or those that are shared */
	int32_t length;
	bool quoted, shared;
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
	int64_t unstored, hidden; /* formulas without a value; hidden rows */
	char formula[16];         /* the place of the first of these formulas, such as B2 */
} sheet;

enum { NUMBER, BOOLEAN, TEXT, SHARED, ERROR }; /* kinds of cells */

/* The sheet that is being read, and the current cell. */
typedef struct reading {
	sheet *sheet;
	bool data, in_text, spoken; /* within sheetData; in the value of a cell; in a phonetic reading */
	int64_t row, col;
	int kind;
	bool day, value;
	bool formula, stored; /* the cell has one; and a result, which may be an empty text */
	bool hidden;          /* a row that is not shown and has not been counted */
	char *text;
	int64_t length, room;
} reading;

/* The name of the current cell, such as AB12. */
static const char *cell_name(const reading *r, char out[16])
{
	char column[4] = "";
	int n = 0;
	for (int64_t c = r->col + 1; c > 0 && n < 3; c = (c - 1) / 26, n++) {
		memmove(column + 1, column, (size_t)n);
		column[0] = (char)('A' + (c - 1) % 26);
	}
	snprintf(out, 16, "%s%d", column, (int)r->row + 1);
	return out;
}

static kdr_status xlsx_bad(kdr_context *ctx, const sheet *s, const reading *r, const char *what)
{
	char name[16];
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: sheet '%s', cell %s: %s", s->book->path, s->book->title,
	                 cell_name(r, name), what);
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

/* Adds the current cell with a text, which is copied unless it is shared. */
static kdr_status xlsx_append(kdr_context *ctx, sheet *s, reading *r, const char *text, size_t length,
                              bool quoted, bool shared)
{
	if (length == 0)
		return KDR_OK;
	if (s->count == CELLS_MOST)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: sheet '%s' has more than %d cells; save it as CSV",
		                 s->book->path, s->book->title, CELLS_MOST);
	KDRI_DO(KDRI_ROOM(ctx, &s->cells, &s->room, s->count + 1));
	if (!shared)
		KDRI_DO(KDRI_ROOM(ctx, &s->text, &s->text_room, s->size + (int64_t)length));
	if (s->count > 0) {
		const cell *before = &s->cells[s->count - 1];
		s->sorted &= before->row < r->row || (before->row == r->row && before->col < r->col);
	}
	if (!shared)
		memcpy(s->text + s->size, text, length);
	s->cells[s->count++] =
	        (cell){ (int32_t)r->row, (int32_t)r->col, shared ? text - s->book->text : s->size,
		        (int32_t)length, quoted,          shared };
	s->size += shared ? 0 : (int64_t)length;
	s->hidden += r->hidden;
	r->hidden = false;
	s->rows = KDRI_MAX(s->rows, (int32_t)r->row + 1);
	s->cols = KDRI_MAX(s->cols, (int32_t)r->col + 1);
	return KDR_OK;
}

/* A cell has ended: stores its value as in a text table. */
static kdr_status finish_cell(kdr_context *ctx, sheet *s, reading *r)
{
	const kdri_xlsx_book *b = s->book;
	const char *text = r->text ? r->text : "";
	if (!r->value && r->formula && (!r->stored || r->kind != TEXT) && s->unstored++ == 0)
		cell_name(r, s->formula);
	if (!r->value)
		return KDR_OK;
	if (r->kind == SHARED) {
		char *end;
		long long index = strtoll(text, &end, 10);
		if (end == text || index < 0 || index >= b->ntexts)
			return xlsx_bad(ctx, s, r, "refers to a shared text that does not exist");
		const char *shared = b->text + b->at[index];
		return xlsx_append(ctx, s, r, shared, strlen(shared), true, true);
	}
	if (r->kind == TEXT)
		return xlsx_append(ctx, s, r, text, (size_t)r->length, true, false);
	if (r->kind == ERROR)
		return xlsx_append(ctx, s, r, "#N/A", 4, false, false);
	double number;
	const char *end = kdri_parse_double(text, text + r->length, &number);
	if (!end || end != text + r->length)
		return xlsx_bad(ctx, s, r, "its value is not a number");
	char date[32];
	if (r->day && r->kind == NUMBER && kdri_xlsx_date(number, b->from_1904, date, sizeof date))
		return xlsx_append(ctx, s, r, date, strlen(date), false, false);
	return xlsx_append(ctx, s, r, text, (size_t)r->length, false, false);
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
	r->value = r->formula = r->stored = false;
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
		const char *row = kdri_xml_attribute(attributes, "r"),
		           *hidden = kdri_xml_attribute(attributes, "hidden");
		r->hidden = hidden && (strcmp(hidden, "1") == 0 || strcmp(hidden, "true") == 0);
		r->row = row ? strtoll(row, NULL, 10) - 1 : r->row + 1;
		r->col = -1;
	} else if (strcmp(name, "c") == 0) {
		return begin_cell(ctx, attributes, r);
	} else if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) {
		r->in_text = r->stored = true;
	} else if (strcmp(name, "f") == 0) {
		r->formula = true;
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

static const char *cell_text(const sheet *s, const cell *c)
{
	return (c->shared ? s->book->text : s->text) + c->at;
}

static size_t put_cell(const sheet *s, const cell *c, char *out)
{
	const char *p = cell_text(s, c);
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

/* A sheet that is read as a CSV file, one row after the other. */
typedef struct lines {
	kdri_xlsx_book book;
	sheet sheet;
	int64_t next; /* cell */
	int32_t row;  /* to be made next */
	char *text;   /* of a row */
	int64_t room;
} lines;

static void lines_free(kdr_context *ctx, lines *l)
{
	KDRI_FREE(ctx, l->sheet.cells, l->sheet.text, l->text);
	kdri_xlsx_close(ctx, &l->book);
}

static void lines_again(void *user)
{
	lines *l = user;
	l->next = l->row = 0;
}

/* The cells of a row from *at on, which is moved behind them; the most bytes that they have as CSV. */
static int64_t row_bytes(const sheet *s, int32_t row, int64_t *at)
{
	int64_t bytes = s->cols + 1;
	for (; *at < s->count && s->cells[*at].row == row; (*at)++)
		bytes += s->cells[*at].quoted ? 2 * (int64_t)s->cells[*at].length + 2 : s->cells[*at].length;
	return bytes;
}

static kdr_status lines_make(kdr_context *ctx, void *user, const char **piece, size_t *length)
{
	lines *l = user;
	const sheet *s = &l->sheet;
	int64_t end = l->next, col = 0;
	size_t n = 0;
	if (l->row == s->rows) {
		*length = 0;
		return KDR_OK;
	}
	const int64_t bytes = row_bytes(s, l->row, &end);
	KDRI_DO(KDRI_ROOM(ctx, &l->text, &l->room, bytes));
	for (int64_t i = l->next; i < end; i++) {
		if (i > l->next && s->cells[i - 1].col == s->cells[i].col)
			continue; /* a cell that occurs twice */
		for (; col < s->cells[i].col; col++)
			l->text[n++] = ',';
		n += put_cell(s, &s->cells[i], l->text + n);
	}
	for (; end > l->next && col + 1 < s->cols; col++)
		l->text[n++] = ',';
	l->text[n++] = '\n'; /* also of an empty row, so that lines have the sheet's numbers */
	l->next = end;
	l->row++;
	*piece = l->text;
	*length = n;
	return KDR_OK;
}

/* Sorts the cells and checks the size of the text that they become; *size: at most that many bytes. */
static kdr_status check_size(kdr_context *ctx, sheet *s, int64_t *size)
{
	kdri_file info = { 0 };
	if (s->count == 0 && s->unstored > 0)
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: sheet '%s' has only formulas without stored values (the first in %s); open the file in a spreadsheet program and save it",
		        s->book->path, s->book->title, s->formula);
	if (s->count == 0)
		return kdri_fail(ctx, KDR_ERR_DATA, "%s: sheet '%s' is empty", s->book->path, s->book->title);
	if (!s->sorted)
		qsort(s->cells, (size_t)s->count, sizeof *s->cells, by_place);
	/* Empty rows count too: the reader of tables makes room for every line. */
	if (s->rows * (int64_t)s->cols > FIELDS_FREE &&
	    s->rows * (int64_t)s->cols / FIELDS_PER_CELL > s->count)
		return kdri_fail(
		        ctx, KDR_ERR_SIZE,
		        "%s: sheet '%s' is nearly empty: it has %lld cells in %lld rows and %d columns",
		        s->book->path, s->book->title, (long long)s->count, (long long)s->rows, s->cols);
	int64_t at = 0;
	*size = 0;
	for (int32_t row = 0; row < s->rows; row++)
		*size += row_bytes(s, row, &at);
	(void)kdri_file_at(s->book->path, &info);
	return kdri_unpacked_check(ctx, s->book->path, (double)*size, (double)info.bytes, KDRI_ARCHIVE_TIMES);
}

/* Opens a sheet of a workbook as an input of CSV text, and sets the options to read it with. Free the lines after the input is closed. */
static kdr_status open_xlsx(kdr_context *ctx, const char *path, const char *file, const char *member,
                            kdr_read_options *options, lines *l, void (*end)(kdr_context *, void *),
                            kdri_input **in)
{
	int64_t size;
	/* Of how the text is written, only the numbers in texts of the sheet have to be detected: the rest is written here. */
	options->typed = true;
	options->delimiter = ",";
	options->encoding = "utf-8";
	l->sheet = (sheet){ .book = &l->book, .sorted = true };
	KDRI_DO(kdri_xlsx_open(ctx, file, member, &l->book));
	KDRI_DO(read_cells(ctx, &l->sheet));
	KDRI_DO(check_size(ctx, &l->sheet, &size));
	const kdri_maker maker = { lines_make, lines_again, end, l, size };
	return kdri_input_made(ctx, &maker, path, in);
}

/* Adds a note to the data or, if they are NULL, to the findings. */
static kdr_status say(kdr_context *ctx, const char *path, const char *found, const char *then, kdr_data *data,
                      kdr_findings *findings)
{
	if (!data)
		return kdri_finding_add(ctx, findings, 0, false, then, "%s", found);
	return data->sheet ? kdri_sheet_note(ctx, data->sheet, "%s: %s; %s", path, found, then) : KDR_OK;
}

/* What a reader of the sheet could not know. */
static kdr_status say_all(kdr_context *ctx, const char *path, const sheet *s, kdr_data *data,
                          kdr_findings *findings)
{
	char found[600];
	if (s->book->others[0]) {
		snprintf(found, sizeof found, "sheet '%s' was read, but not: %s", s->book->title,
		         s->book->others);
		KDRI_DO(say(ctx, path, found, "use --sheet NAME to read another, or --sheet all", data,
		            findings));
	}
	if (s->unstored > 0) {
		snprintf(found, sizeof found,
		         "%lld formula%s no stored value and %s missing (the first in %s)",
		         (long long)s->unstored, s->unstored == 1 ? " has" : "s have",
		         s->unstored == 1 ? "is" : "are", s->formula);
		KDRI_DO(say(ctx, path, found, "open the file in a spreadsheet program and save it", data,
		            findings));
	}
	if (s->hidden > 0) {
		snprintf(found, sizeof found, "%lld hidden or filtered row%s read like the others",
		         (long long)s->hidden, s->hidden == 1 ? " was" : "s were");
		KDRI_DO(say(ctx, path, found, "delete such rows to leave them out", data, findings));
	}
	return KDR_OK;
}

/* Reads the table into `data` or, if that is NULL, lists findings about it. */
static kdr_status with_xlsx(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            kdr_data *data, kdr_findings *findings)
{
	kdr_status st;
	kdri_input *in = NULL;
	lines l = { .room = 0 };
	char *file = NULL, *member = NULL, why[300];
	kdr_read_options own = options ? *options : (kdr_read_options){ .size = sizeof(kdr_read_options) };
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(open_xlsx(ctx, path, file, member, &own, &l, NULL, &in));
	st = data ? kdri_csv_read(ctx, in, &own, ',', data) : kdri_csv_inspect(ctx, in, &own, ',', findings);
	if (st == KDR_ERR_DATA && l.sheet.unstored > 0) { /* values are missing, and this may be why */
		snprintf(why, sizeof why, "%.280s", ctx->error);
		st = kdri_fail(
		        ctx, st,
		        "%s; formulas without a stored value are missing, too (the first in %s): open the file in a spreadsheet program and save it",
		        why, l.sheet.formula);
	}
	if (st != KDR_OK)
		goto done;
	KDRI_TRY(say_all(ctx, path, &l.sheet, data, findings));
	if (data)
		data->dialect = (kdri_dialect){ .workbook = true,
			                        .header = data->dialect.header,
			                        .above = data->dialect.above };
done:
	kdri_input_close(ctx, in);
	lines_free(ctx, &l);
	KDRI_FREE(ctx, file, member);
	return st;
}

static void lines_end(kdr_context *ctx, void *user)
{
	if (user)
		lines_free(ctx, user);
	kdri_free(ctx, user);
}

kdr_status kdri_xlsx_text(kdr_context *ctx, const char *path, kdri_input **out)
{
	kdr_status st;
	lines *l = NULL;
	char *file = NULL, *member = NULL;
	kdr_read_options own = { .size = sizeof own };
	KDRI_TRY(kdri_split_member(ctx, path, &file, &member));
	KDRI_TRY(KDRI_NEW0(ctx, &l, 1));
	KDRI_TRY(open_xlsx(ctx, path, file, member, &own, l, lines_end, out));
	l = NULL;
done:
	lines_end(ctx, l);
	KDRI_FREE(ctx, file, member);
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

/* Whether a cell of the row of cell `first` is this text. */
static bool is_title(const sheet *s, int64_t first, const char *text)
{
	for (int64_t i = first; i < s->count && s->cells[i].row == s->cells[first].row; i++)
		if ((size_t)s->cells[i].length == strlen(text) &&
		    memcmp(cell_text(s, &s->cells[i]), text, strlen(text)) == 0)
			return true;
	return false;
}

kdr_status kdri_xlsx_outline_read(kdr_context *ctx, const kdri_xlsx_book *book, int64_t above,
                                  const char *const *titles, int count, kdri_xlsx_outline *out)
{
	kdr_status st;
	sheet s = { .book = book, .sorted = true };
	KDRI_TRY(read_cells(ctx, &s));
	if (!s.sorted)
		qsort(s.cells, (size_t)s.count, sizeof *s.cells, by_place);
	KDRI_TRY(KDRI_NEW(ctx, &out->rows, s.count));
	int64_t first = 0;
	while (first < s.count && s.cells[first].row < above)
		first++;
	for (int64_t i = first; i < s.count; i++)
		if (i == first || s.cells[i].row != s.cells[i - 1].row)
			out->rows[out->nrows++] = s.cells[i].row + 1;
	out->columns = s.widest;
	for (int i = 0; i < count && i < KDRI_XLSX_ADDED; i++) {
		snprintf(out->titles[i], sizeof out->titles[i], "%s", titles[i]);
		for (int number = 2; is_title(&s, first, out->titles[i]); number++)
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
	.help = "Excel: the first sheet, file.xlsx:Sheet2, or those of --sheet; read as a text table",
	.holds = KDR_HOLDS_COLUMNS,
};
