/* Detects the layout of a table from its first rows. SPDX-License-Identifier: BSD-3-Clause
 *
 * - Delimiter: the one in a first line "sep=;". Otherwise, among comma, semicolon, tab and bar, those that split each
 *   of the first rows into the same number of cells; of these, the one with the largest fraction of values (numbers,
 *   dates, missing values) in all rows but the first; the comma if undecided.
 * - Rows above the header, such as titles (kdr_read_options.skip_rows): the header is the first row with a word above nothing but values.
 *   Rows before it are skipped if each has fewer filled cells than it has, and it has nearly as many as the fullest row.
 * - Header: the first row is one if some cell of it is a word (or a number in quotes, unless everything is in quotes)
 *   above a value. A header one cell shorter than the rows, as R writes it, has no name for the first column.
 * - A trailing delimiter, in the header, in the rows or in both, ends the row and does not begin a cell.
 * - Row names: the first column, if the header leaves it unnamed, or if its cell in the first row is a word and those
 *   of all other columns are values. */
#include <stdio.h>

#include "io/table/table.h"

/* The rows that show the layout; those among which a header is searched. */
enum { FIRST_ROWS = 12, LOOKED_AT = 48 };

typedef struct row {
	const char *begin, *end; /* NULL: none */
	int64_t fields;
} row;

static int64_t count_fields(const row *r, char delimiter)
{
	int64_t n = 1;
	for (const char *p = r->begin;; n++) {
		p = kdri_csv_cell_at(p, delimiter).stop;
		if (*p == '\n')
			return n;
		p++;
	}
}

/* The first row from *p on that is not blank. *open: the beginning of a row that does not end in the text. */
static row next_row(const char **p, const char *end, char delimiter, const char **open)
{
	row r = { 0 };
	while (*p < end && !r.begin) {
		const char *q = *p, *stop = kdri_csv_row_end(q, end, delimiter);
		if (!stop) {
			*open = q;
			return r;
		}
		*p = stop;
		while (kdri_is_blank(*q) && *q != delimiter)
			q++;
		if (!kdri_at_newline(q)) {
			r.begin = q;
			r.end = stop;
		}
	}
	return r;
}

/* The first rows that are not blank, at most `most` of them. Returns how many. */
static int first_rows(const kdri_window *w, char delimiter, row *rows, int most, const char **open)
{
	const char *p = w->data + w->begin, *end = w->data + w->end;
	int n = 0;
	*open = NULL;
	memset(rows, 0, (size_t)most * sizeof *rows);
	for (; n < most; n++) {
		rows[n] = next_row(&p, end, delimiter, open);
		if (!rows[n].begin)
			break;
	}
	return n;
}

/* A number, a date, or nothing. */
static bool is_value(const kdri_csv_cell *cell, char thousands, const char *const *na)
{
	kdri_look look;
	return !cell->torn && (kdri_is_missing(cell->begin, cell->end, na) ||
	                       kdri_number_look(cell->begin, cell->end, thousands, &look) ||
	                       kdri_date_look(cell->begin, cell->end, &look));
}

static kdri_csv_cell last_cell(const row *r, char delimiter)
{
	kdri_csv_cell cell = kdri_csv_cell_at(r->begin, delimiter);
	while (*cell.stop != '\n')
		cell = kdri_csv_cell_at(cell.stop + 1, delimiter);
	return cell;
}

static bool ends_empty(const row *r, char delimiter)
{
	kdri_csv_cell cell = last_cell(r, delimiter);
	return r->fields > 1 && !cell.quoted && cell.end == cell.begin;
}

/* How well a delimiter fits: 0 if it splits nothing, or splits rows into different numbers of cells; otherwise 1 plus
 * the fraction of values among the cells below the first row. */
static double suits(const row *rows, int n, char delimiter, char thousands, const char *const *na)
{
	int64_t cells = 0, values = 0, most = 0, least = INT64_MAX;
	for (int i = 0; i < n; i++) {
		int64_t fields = 0;
		for (const char *p = rows[i].begin;; p++) {
			kdri_csv_cell cell = kdri_csv_cell_at(p, delimiter);
			fields++;
			cells += i > 0;
			values += i > 0 && is_value(&cell, thousands, na);
			p = cell.stop;
			if (*p == '\n')
				break;
		}
		most = KDRI_MAX(most, fields);
		least = KDRI_MIN(least, fields);
		if (i == 0 && n > 1) /* a header may be a cell shorter, or longer */
			most = least = 0;
		if (i == 1)
			most = least = fields;
	}
	if (n == 0 || most < 2 || most > least + 1) /* one more: a trailing delimiter */
		return 0;
	return (most == least ? 1 : 0.5) + (cells ? (double)values / (double)cells : 0);
}

/* The best of the delimiters that split the rows below others into equally many cells; '\0': none. */
static char delimiter_below(const kdri_window *w, const char *candidates, char thousands,
                            const char *const *na)
{
	row rows[LOOKED_AT];
	const char *open;
	for (int above = 1; above < LOOKED_AT; above++) {
		char best = '\0';
		double most = 0;
		for (const char *c = candidates; *c; c++) {
			const int n = first_rows(w, *c, rows, LOOKED_AT, &open),
			          left = KDRI_MIN(n - above, FIRST_ROWS);
			const double fit = left > 1 ? suits(rows + above, left, *c, thousands, na) : 0;
			if (fit >= 1 && fit > most) {
				most = fit;
				best = *c;
			}
		}
		if (best)
			return best;
	}
	return '\0';
}

static char find_delimiter(const kdri_window *w, const char *candidates, char thousands,
                           const char *const *na, bool below)
{
	row rows[FIRST_ROWS];
	const char *open;
	char best = '\0', fallback = '\0';
	double most = 0;
	for (const char *c = candidates; *c; c++) {
		int n = first_rows(w, *c, rows, FIRST_ROWS, &open);
		double fit = suits(rows, n, *c, thousands, na);
		if (fit > most) {
			most = fit;
			best = *c;
		}
		if (n > 0 && !fallback && count_fields(&rows[0], *c) > 1)
			fallback = *c;
	}
	const char under = below && most < 1 ? delimiter_below(w, candidates, thousands, na) : '\0';
	best = under ? under : best;
	return best ? best : fallback ? fallback : candidates[0];
}

/* "sep=;" on a line of its own, as spreadsheets write and read it: moves the window past it. */
static char separator_line(kdri_window *w)
{
	const char *p = w->data + w->begin, *end = w->data + w->end;
	const char *newline = memchr(p, '\n', (size_t)(end - p));
	if (!newline)
		return '\0';
	const char *q = newline > p && newline[-1] == '\r' ? newline - 1 : newline;
	bool quoted = q - p == 7 && *p == '"' && q[-1] == '"';
	p += quoted;
	q -= quoted;
	if (q - p != 5 || !kdri_same_word(p, 4, "sep="))
		return '\0';
	w->begin = (size_t)(newline + 1 - w->data);
	w->line++;
	return p[4];
}

/* Whether all cells of the rows are in quotes, which then do not indicate what is a number. */
static bool all_quoted(const row *rows, int n, char delimiter)
{
	for (int i = 0; i < n; i++)
		for (const char *p = rows[i].begin;; p++) {
			kdri_csv_cell cell = kdri_csv_cell_at(p, delimiter);
			if (!cell.quoted && cell.end > cell.begin)
				return false;
			p = cell.stop;
			if (*p == '\n')
				break;
		}
	return n > 1;
}

/* Whether a cell of the row is this text. */
static bool has_cell(const kdri_csv_layout *l, const row *r, const char *text)
{
	const char *p = r->begin;
	for (int64_t j = 0; j < r->fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		if ((size_t)(a.end - a.begin) == strlen(text) && memcmp(a.begin, text, strlen(text)) == 0)
			return true;
		p = a.stop + 1;
	}
	return false;
}

/* Whether all cells of the row are among the names. */
static bool has_names_only(const kdri_csv_layout *l, const row *r, const char *const *names)
{
	const char *p = r->begin;
	for (int64_t j = 0; j < r->fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		const size_t length = (size_t)(a.end - a.begin);
		const char *const *name = names;
		while (*name && (strlen(*name) != length || memcmp(*name, a.begin, length) != 0))
			name++;
		if (!*name)
			return false;
		p = a.stop + 1;
	}
	return r->fields > 0;
}

/* The cell at *p, which is moved to the next one of its row; empty behind the last one, where *p is NULL. */
static kdri_csv_cell take_cell_at(const char **p, char delimiter)
{
	static const char nothing[] = "\n";
	if (!*p)
		return (kdri_csv_cell){ .begin = nothing, .end = nothing, .stop = nothing };
	const kdri_csv_cell cell = kdri_csv_cell_at(*p, delimiter);
	*p = *cell.stop == '\n' ? NULL : cell.stop + 1;
	return cell;
}

static int64_t filled_cells(const kdri_csv_layout *l, const row *r)
{
	int64_t filled = 0;
	for (const char *p = r->begin;; p++) {
		const kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		filled += cell.end > cell.begin;
		p = cell.stop;
		if (*p == '\n')
			return filled;
	}
}

/* Whether some cell of a row is a word, and those below it in all other rows are values. */
static bool is_above_values(const kdri_csv_layout *l, const row *rows, int n, int header)
{
	const char *at[LOOKED_AT];
	for (int i = header; i < n; i++)
		at[i] = rows[i].begin;
	while (at[header]) {
		const kdri_csv_cell title = take_cell_at(&at[header], l->delimiter);
		int64_t values = 0;
		bool all = title.end > title.begin && !is_value(&title, l->thousands, l->na);
		for (int i = header + 1; i < n; i++) {
			const kdri_csv_cell cell = take_cell_at(&at[i], l->delimiter);
			all = all && is_value(&cell, l->thousands, l->na);
			values += all && !kdri_is_missing(cell.begin, cell.end, l->na);
		}
		if (all && values > 0)
			return true;
	}
	return false;
}

/* The row among the first ones that is the header, if titles or other rows are above it; otherwise 0. */
static int header_below(const kdri_csv_layout *l, const row *rows, int n)
{
	int64_t filled[LOOKED_AT], most = 0, before = 0;
	for (int i = 0; i < n; i++) {
		filled[i] = filled_cells(l, &rows[i]);
		most = KDRI_MAX(most, filled[i]);
	}
	for (int i = 0; i + 1 < n; i++) {
		if (is_above_values(l, rows, n, i))
			return i > 0 && filled[i] > before && filled[i] > 1 && filled[i] + 1 >= most ? i : 0;
		before = KDRI_MAX(before, filled[i]);
	}
	return 0;
}

/* Whether a cell of the row is the old name of a column that gets another. */
static bool has_old_name(const kdri_csv_layout *l, const row *r, const kdri_named *named)
{
	const char *p = r->begin;
	for (int64_t j = 0; named && j < r->fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		if (kdri_named_is_old(named, a.begin, (size_t)(a.end - a.begin)))
			return true;
		p = a.stop + 1;
	}
	return false;
}

/* Whether at least half of the cells of a row are names of columns that the file may have: those of a model. */
static kdr_status has_model_names(kdr_context *ctx, const kdri_csv_layout *l, const row *r,
                                  const kdr_read_options *o, bool *out)
{
	kdr_status st;
	kdri_column_specs specs = { 0 };
	const char *p = r->begin;
	int64_t known = 0;
	KDRI_TRY(kdri_column_specs_read(ctx, o->columns, &specs));
	for (int64_t j = 0; j < r->fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		const size_t length = (size_t)(a.end - a.begin);
		bool found = false;
		for (int64_t i = 0; i < specs.count && !found; i++)
			found = specs.items[i].optional && strlen(specs.items[i].name) == length &&
			        memcmp(specs.items[i].name, a.begin, length) == 0;
		known += found;
		p = a.stop + 1;
	}
	*out = known > 0 && 2 * known >= r->fields;
done:
	kdri_column_specs_free(ctx, &specs);
	return st;
}

/* Whether a cell has to be in quotes, which then say nothing about what it is: "1,234". */
static bool needs_quotes(const kdri_csv_layout *l, const kdri_csv_cell *cell)
{
	return memchr(cell->begin, l->delimiter, (size_t)(cell->end - cell->begin)) != NULL;
}

static bool looks_like_header(const kdri_csv_layout *l, const row rows[2], const kdr_read_options *o,
                              const kdri_named *named)
{
	int64_t label = kdri_field_number(o->label_column), id = kdri_field_number(o->id_column);
	int64_t shift = rows[1].begin && rows[0].fields + 1 == rows[1].fields;
	bool words = false, numbers = false;
	if ((o->label_column && label < 0 && !o->may_lack_labels) || (o->id_column && id < 0) ||
	    (o->task_column && kdri_field_number(o->task_column) < 0))
		return true; /* columns are specified by name */
	if (o->label_column && label < 0 && has_cell(l, &rows[0], o->label_column))
		return true;
	if (has_old_name(l, &rows[0], named))
		return true;
	if (o->header_names && has_names_only(l, &rows[0], o->header_names))
		return true;
	const char *p = rows[0].begin, *below = rows[1].begin;
	if (below && shift)
		below = kdri_csv_cell_at(below, l->delimiter).stop + 1;
	for (int64_t j = 0; j < rows[0].fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		bool number = is_value(&a, l->thousands, l->na) && (l->quoted || !a.quoted);
		bool word = !number && a.end > a.begin;
		words |= word;
		numbers |= number && a.end > a.begin;
		if (below) {
			kdri_csv_cell b = kdri_csv_cell_at(below, l->delimiter);
			if (word && j != label && j != id && is_value(&b, l->thousands, l->na) &&
			    (l->quoted || !b.quoted || b.end == b.begin || needs_quotes(l, &b)))
				return true;
			below = *b.stop == '\n' ? NULL : b.stop + 1;
		}
		p = a.stop + 1;
	}
	return !rows[1].begin && words && !numbers;
}

static kdr_status csv_layout_read_names(kdr_context *ctx, const char *path, const kdr_read_options *o,
                                        const row *header, int64_t shift, kdri_csv_layout *l)
{
	const char *p = header->begin;
	KDRI_DO(KDRI_NEW0(ctx, &l->names, l->fields));
	if (shift)
		KDRI_DO(kdri_strdup(ctx, "", &l->names[0]));
	for (int64_t j = shift; j < l->fields; j++) {
		kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		KDRI_DO(kdri_csv_text(ctx, &cell, &l->names[j]));
		p = cell.stop + 1;
	}
	if (!o->transpose) /* else these are names of samples */
		KDRI_DO(kdri_named_rename(ctx, path, l->names, l->fields));
	return KDR_OK;
}

static kdr_status find_column(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                              const char *wanted, const char *what, int64_t *field)
{
	*field = wanted ? kdri_csv_field(l, wanted) : -1;
	return wanted && *field < 0 ? kdri_csv_no_column(ctx, kdri_input_path(w->in), l, wanted, what)
	                            : KDR_OK;
}

/* Whether the first field of `data` is a word and all others, but the label, are values. */
static bool starts_with_name(const kdri_csv_layout *l, const row *data)
{
	const char *p = data->begin;
	if (l->label == 0 || l->tasks == 0 || data->fields < 2)
		return false;
	for (int64_t j = 0; j < data->fields; j++) {
		kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		bool value = is_value(&cell, l->thousands, l->na);
		if (j == 0 ? value : !value && j != l->label && j != l->tasks)
			return false;
		p = cell.stop + 1;
	}
	return true;
}

/* A trailing delimiter does not begin a cell. */
static void drop_trailing(row *rows, int n, char delimiter)
{
	bool first = ends_empty(&rows[0], delimiter), others = n > 1;
	for (int i = 1; i < n && others; i++)
		others = ends_empty(&rows[i], delimiter) && rows[i].fields == rows[1].fields;
	if (n < 2)
		return;
	if (others && first && rows[0].fields == rows[1].fields) {
		rows[0].fields--;
		rows[1].fields--;
	} else if (others && rows[1].fields == rows[0].fields + 1) {
		rows[1].fields--;
	} else if (first && rows[0].fields == rows[1].fields + 1) {
		rows[0].fields--;
	}
}

/* Header, names and the roles of the columns, from the first rows. */
static kdr_status csv_layout_assign(kdr_context *ctx, const kdri_window *w, const kdr_read_options *o,
                                    row *rows, int n, kdri_csv_layout *l)
{
	kdr_status st = KDR_OK;
	const char *path = kdri_input_path(w->in);
	for (int i = 0; i < n; i++)
		rows[i].fields = count_fields(&rows[i], l->delimiter);
	drop_trailing(rows, n, l->delimiter);
	bool named = false;
	KDRI_TRY(has_model_names(ctx, l, &rows[0], o, &named));
	l->header = o->header == KDR_HEADER_FIND_OUT ? named || looks_like_header(l, rows, o, ctx->named)
	                                             : o->header == KDR_HEADER_YES;
	l->fields = rows[0].fields;
	if (l->header) {
		l->empty = !rows[1].begin && kdri_may_be_empty(o);
		if (l->empty) {
			st = csv_layout_read_names(ctx, path, o, &rows[0], 0, l);
			goto done;
		}
		if (!rows[1].begin && l->fields == 1)
			KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: one line, no data: is this a CSV file?", path);
		if (!rows[1].begin)
			KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: the file has a header of %lld columns, but no rows",
			          path, (long long)l->fields);
		int64_t shift = rows[1].fields == rows[0].fields + 1;
		l->fields += shift;
		KDRI_TRY(csv_layout_read_names(ctx, path, o, &rows[0], shift, l));
	}
	l->label = o->label_column && o->may_lack_labels ? kdri_csv_field(l, o->label_column) : -1;
	if (!o->may_lack_labels)
		KDRI_TRY(find_column(ctx, w, l, o->label_column, "label ", &l->label));
	KDRI_TRY(find_column(ctx, w, l, o->id_column, "id ", &l->id));
	KDRI_TRY(find_column(ctx, w, l, o->task_column, "task ", &l->tasks));
	if (l->tasks >= 0 && (l->tasks == l->id || l->tasks == l->label))
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: column '%s' cannot be the task column and also the label or id column", path,
		          o->task_column);
	if (l->id >= 0 && l->id == l->label)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: column '%s' cannot be both the label column and the id column", path,
		          o->id_column);
	if (!o->id_column && l->label != 0 && l->tasks != 0 && l->fields > 1) {
		bool unnamed = l->header && l->names[0][0] == '\0';
		if (unnamed || starts_with_name(l, &rows[l->header]))
			l->id = 0;
		l->guessed = l->id == 0 && !unnamed;
	}
	if (l->fields - (l->id >= 0) - (l->label >= 0) - (l->tasks >= 0) < 1)
		KDRI_FAIL(
		        ctx, KDR_ERR_DATA,
		        "%s: no usable column: all are labels, row names or task names; add columns with values",
		        path);
	if (!o->transpose)
		KDRI_TRY(kdri_recode_begin(ctx, l));
done:
	return st;
}

/* Whether options name a cell of the row, which is then the header. */
static bool names_header(const kdri_csv_layout *l, const row *first, const kdr_read_options *o,
                         const kdri_named *named)
{
	row r = *first;
	r.fields = count_fields(first, l->delimiter);
	return (o->label_column && has_cell(l, &r, o->label_column)) ||
	       (o->id_column && has_cell(l, &r, o->id_column)) ||
	       (o->task_column && has_cell(l, &r, o->task_column)) || has_old_name(l, &r, named);
}

/* Moves the window to the row at `to`, which is below `rows` others. */
static void move_to(kdri_window *w, const char *to, int64_t rows, kdri_csv_layout *l)
{
	l->above += rows;
	w->line += kdri_count_byte(w->data + w->begin, to, '\n');
	w->begin = (size_t)(to - w->data);
}

static void find_header_below(kdri_window *w, kdri_csv_layout *l)
{
	row rows[LOOKED_AT];
	const char *open, *p = w->data + w->begin;
	const int n = first_rows(w, l->delimiter, rows, LOOKED_AT, &open), header = header_below(l, rows, n);
	int64_t above = 0;
	if (header == 0)
		return;
	for (; p < rows[header].begin && above <= rows[header].begin - w->data; above++)
		p = kdri_csv_row_end(p, w->data + w->end, l->delimiter);
	move_to(w, rows[header].begin, above, l);
	l->header_line = w->line + 1;
}

/* Rows to skip, as the option specifies them; -1: to be detected. */
static kdr_status read_skip(kdr_context *ctx, const kdr_read_options *o, int64_t *out)
{
	const char *text = o->skip_rows, *end = text ? text + strlen(text) : NULL;
	*out = o->header == KDR_HEADER_NO || (o->typed && o->memory) ? 0 : -1;
	if (!text || strcmp(text, "auto") == 0)
		return KDR_OK;
	if (kdri_parse_int(text, end, out) == end && *out >= 0)
		return KDR_OK;
	return kdri_fail(ctx, KDR_ERR_OPTION,
	                 "'%.40s' is not a number of rows to skip; use 0 or more, or auto", text);
}

static kdr_status skip_rows(kdr_context *ctx, kdri_window *w, char delimiter, int64_t count,
                            kdri_csv_layout *l)
{
	for (int64_t i = 0; i < count;) {
		const char *p = w->data + w->begin, *end = w->data + w->end;
		const char *stop = p < end ? kdri_csv_row_end(p, end, delimiter ? delimiter : ',') : NULL;
		if (stop) {
			move_to(w, stop, 1, l);
			i++;
		} else if (w->last) {
			return kdri_fail(ctx, KDR_ERR_DATA,
			                 "%s: has only %lld rows; --skip-rows %lld leaves none",
			                 kdri_input_path(w->in), (long long)i, (long long)count);
		} else {
			KDRI_DO(kdri_window_fill(ctx, w));
		}
	}
	return KDR_OK;
}

/* The signs in numbers, as options specify them. */
static kdr_status read_signs(kdr_context *ctx, const kdr_read_options *o, kdri_csv_layout *l)
{
	const char *decimal = o->decimal;
	if (decimal && strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)
		return kdri_fail(ctx, KDR_ERR_OPTION, "decimal separator '%s' is not valid; use '.' or ','",
		                 decimal);
	KDRI_DO(kdri_thousands_read(ctx, o->thousands, &l->thousands));
	if (decimal && decimal[0] == l->thousands)
		return kdri_fail(
		        ctx, KDR_ERR_OPTION,
		        "'%s' cannot separate both decimals and thousands; change --decimal or --thousands",
		        decimal);
	l->point_given = decimal || l->thousands == '.' || l->thousands == ',';
	l->point = decimal ? decimal[0] : l->thousands == '.' ? ',' : '.';
	l->typed = o->typed;
	return KDR_OK;
}

kdr_status kdri_csv_layout_find(kdr_context *ctx, kdri_window *w, const kdr_read_options *o, char delimiter,
                                kdri_csv_layout *l)
{
	kdr_status st;
	row rows[FIRST_ROWS];
	const char *open;
	int n;
	*l = (kdri_csv_layout){
		.id = -1, .label = -1, .tasks = -1, .keep_nonfinite = o->keep_nonfinite, .na = o->na
	};
	KDRI_TRY(read_signs(ctx, o, l));
	for (const char *const *na = o->na; na && *na; na++) {
		kdri_look look;
		l->na_numbers =
		        l->na_numbers || kdri_number_look(*na, *na + strlen(*na), l->thousands, &look);
	}
	char declared = separator_line(w);
	if (!delimiter)
		delimiter = declared;
	int64_t skip;
	KDRI_TRY(read_skip(ctx, o, &skip));
	if (skip > 0)
		KDRI_TRY(skip_rows(ctx, w, delimiter, skip, l));
	for (;;) {
		l->delimiter = delimiter ? delimiter
		                         : find_delimiter(w, l->point == ',' ? ";\t|" : ",;\t|", l->thousands,
		                                          o->na, skip < 0);
		n = first_rows(w, l->delimiter, rows, FIRST_ROWS, &open);
		if (n > 1 || w->last)
			break;
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
	if (open && n < 2) {
		st = kdri_csv_unclosed(ctx, w, open);
		goto done;
	}
	if (n == 0)
		KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: the file is empty", kdri_input_path(w->in));
	if (skip < 0 && !names_header(l, &rows[0], o, ctx->named)) {
		find_header_below(w, l);
		n = first_rows(w, l->delimiter, rows, FIRST_ROWS, &open);
	}
	l->quoted = all_quoted(rows, n, l->delimiter);
	KDRI_TRY(csv_layout_assign(ctx, w, o, rows, n, l));
	if (l->header) {
		size_t begin = (size_t)(rows[0].end - w->data);
		w->line += kdri_count_byte(w->data + w->begin, w->data + begin, '\n');
		w->begin = begin;
	}
done:
	return st;
}

void kdri_csv_layout_free(kdr_context *ctx, kdri_csv_layout *l)
{
	kdri_strings_free(&ctx->allocator, l->names, l->fields);
	for (int64_t j = 0; l->roles && j < l->fields; j++)
		kdri_names_free(ctx, &l->roles[j].texts);
	KDRI_FREE(ctx, l->roles, l->how, l->points, l->recoded);
	*l = (kdri_csv_layout){ .id = -1, .label = -1, .tasks = -1 };
}
