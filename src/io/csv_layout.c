/* What a table's first rows say about its columns. SPDX-License-Identifier: BSD-3-Clause
 *
 * - Delimiter of a .csv: the comma, unless only the semicolon or the tab cuts the first two rows into
 *   equally many cells.
 * - Header: the first row is one if some cell of it is a word (or a number in quotes) above a cell that is
 *   a plain number or empty. A header one cell shorter than the rows, as R writes it, has no name
 *   for the first column.
 * - Row names: the first column, if the header leaves it unnamed, or if in the first row it holds
 *   a word and all other columns hold numbers. */
#include <stdio.h>

#include "io/csv.h"

typedef struct row {
	const char *begin, *end; /* NULL: there is none */
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

/* The first row from *p on that is not blank. *open: where a row begins that does not end in the text. */
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

/* The first two rows that are not blank. */
static void first_rows(const kdri_window *w, char delimiter, row rows[2], const char **open)
{
	const char *p = w->data + w->begin, *end = w->data + w->end;
	*open = NULL;
	rows[0] = next_row(&p, end, delimiter, open);
	rows[1] = rows[0].begin ? next_row(&p, end, delimiter, open) : (row){ 0 };
}

static char find_delimiter(const kdri_window *w, const char *candidates)
{
	row rows[2];
	const char *open;
	char fallback = '\0';
	for (const char *c = candidates; *c; c++) {
		first_rows(w, *c, rows, &open);
		if (!rows[0].begin)
			continue;
		int64_t n = count_fields(&rows[0], *c);
		if (n > 1 && (!rows[1].begin || count_fields(&rows[1], *c) == n))
			return *c;
		if (n > 1 && !fallback)
			fallback = *c;
	}
	return fallback ? fallback : candidates[0];
}

static bool is_plain_number(const kdri_csv_cell *cell, char point)
{
	double v;
	return kdri_csv_is_number(cell, point, &v) && !cell->quoted;
}

/* The field that `text` numbers, or -1. */
static int64_t field_number(const char *text)
{
	int64_t v;
	const char *end = text ? text + strlen(text) : NULL;
	return text && kdri_parse_int(text, end, &v) == end && v >= 1 ? v - 1 : -1;
}

static bool looks_like_header(const kdri_csv_layout *l, const row rows[2], const kdr_read_options *o)
{
	int64_t label = field_number(o->label_column), id = field_number(o->id_column);
	int64_t shift = rows[1].begin && rows[0].fields + 1 == rows[1].fields;
	bool words = false, numbers = false;
	if ((o->label_column && label < 0) || (o->id_column && id < 0))
		return true; /* columns are asked for by name */
	const char *p = rows[0].begin, *below = rows[1].begin;
	if (below && shift)
		below = kdri_csv_cell_at(below, l->delimiter).stop + 1;
	for (int64_t j = 0; j < rows[0].fields; j++) {
		kdri_csv_cell a = kdri_csv_cell_at(p, l->delimiter);
		bool word = !is_plain_number(&a, l->point) && (a.end > a.begin);
		words |= word;
		numbers |= is_plain_number(&a, l->point);
		if (below) {
			kdri_csv_cell b = kdri_csv_cell_at(below, l->delimiter);
			if (word && j != label && j != id &&
			    (is_plain_number(&b, l->point) || kdri_csv_is_missing(&b)))
				return true;
			below = *b.stop == '\n' ? NULL : b.stop + 1;
		}
		p = a.stop + 1;
	}
	return !rows[1].begin && words && !numbers;
}

static kdr_status read_names(kdr_context *ctx, const row *header, int64_t shift, kdri_csv_layout *l)
{
	kdr_status st;
	const char *p = header->begin;
	KDRI_TRY(KDRI_NEW0(ctx, &l->names, l->fields));
	if (shift)
		KDRI_TRY(kdri_strdup(ctx, "", &l->names[0]));
	for (int64_t j = shift; j < l->fields; j++) {
		kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		KDRI_TRY(kdri_csv_text(ctx, &cell, &l->names[j]));
		p = cell.stop + 1;
	}
done:
	return st;
}

static kdr_status find_column(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                              const char *wanted, const char *what, int64_t *field)
{
	*field = -1;
	if (!wanted)
		return KDR_OK;
	for (int64_t j = 0; l->names && j < l->fields; j++)
		if (strcmp(l->names[j], wanted) == 0) {
			*field = j;
			return KDR_OK;
		}
	int64_t number = field_number(wanted);
	if (number >= 0 && number < l->fields) {
		*field = number;
		return KDR_OK;
	}
	if (!l->names)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: no %s column '%s': without a header, a number from 1 to %lld is needed",
		                 kdri_input_path(w->in), what, wanted, (long long)l->fields);
	char list[128] = "";
	size_t used = 0;
	for (int64_t j = 0; j < l->fields && used < sizeof list - 24; j++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", j ? ", " : "",
		                         (int)(sizeof list - 24 - used), l->names[j]);
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: no %s column '%s': the %lld columns are %s%s",
	                 kdri_input_path(w->in), what, wanted, (long long)l->fields, list,
	                 used >= sizeof list - 24 ? " ..." : "");
}

/* Whether the first field of `data` is a word and all others, but the label, are numbers or empty. */
static bool starts_with_name(const kdri_csv_layout *l, const row *data)
{
	const char *p = data->begin;
	if (l->label == 0 || data->fields < 2)
		return false;
	for (int64_t j = 0; j < data->fields; j++) {
		kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		double v;
		bool number = kdri_csv_is_number(&cell, l->point, &v);
		bool missing = kdri_csv_is_missing(&cell);
		/* "1,5" is a number with the other decimal point, not a name */
		if (j == 0 && kdri_csv_is_number(&cell, l->point == '.' ? ',' : '.', &v))
			return false;
		if (j == 0 ? number || missing : !number && !missing && j != l->label)
			return false;
		p = cell.stop + 1;
	}
	return true;
}

static kdr_status read_wishes(kdr_context *ctx, const kdr_read_options *o, kdri_csv_layout *l)
{
	const char *missing = o->missing ? o->missing : "error", *decimal = o->decimal ? o->decimal : ".";
	if (strcmp(missing, "error") == 0)
		l->missing = KDRI_MISSING_ERROR;
	else if (strcmp(missing, "zero") == 0)
		l->missing = KDRI_MISSING_ZERO;
	else if (strcmp(missing, "drop-row") == 0)
		l->missing = KDRI_MISSING_DROP;
	else
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "missing '%s' is unknown: error, zero or drop-row are allowed", missing);
	if (strcmp(decimal, ".") != 0 && strcmp(decimal, ",") != 0)
		return kdri_fail(ctx, KDR_ERR_OPTION, "decimal '%s' is unknown: '.' or ',' are allowed",
		                 decimal);
	l->point = decimal[0];
	return KDR_OK;
}

kdr_status kdri_csv_unclosed(kdr_context *ctx, const kdri_window *w, const char *p)
{
	int64_t line = w->line + kdri_count_byte(w->data + w->begin, p, '\n') + 1;
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: a quote opens and never closes",
	                 kdri_input_path(w->in), (long long)line);
}

/* Header, names and the roles of the columns, from the first rows. */
static kdr_status assign(kdr_context *ctx, const kdri_window *w, const kdr_read_options *o, row rows[2],
                         kdri_csv_layout *l)
{
	kdr_status st = KDR_OK;
	const char *path = kdri_input_path(w->in);
	for (int i = 0; i < 2; i++)
		if (rows[i].begin)
			rows[i].fields = count_fields(&rows[i], l->delimiter);
	l->header = o->header == KDR_HEADER_FIND_OUT ? looks_like_header(l, rows, o)
	                                             : o->header == KDR_HEADER_YES;
	l->fields = rows[0].fields;
	if (l->header) {
		if (!rows[1].begin) {
			st = kdri_fail(ctx, KDR_ERR_DATA, "%s: a header of %lld columns, but no rows", path,
			               (long long)l->fields);
			goto done;
		}
		int64_t shift = rows[1].fields == rows[0].fields + 1;
		l->fields += shift;
		KDRI_TRY(read_names(ctx, &rows[0], shift, l));
	}
	KDRI_TRY(find_column(ctx, w, l, o->label_column, "label", &l->label));
	KDRI_TRY(find_column(ctx, w, l, o->id_column, "id", &l->id));
	if (l->id >= 0 && l->id == l->label) {
		st = kdri_fail(ctx, KDR_ERR_ARGUMENT,
		               "%s: column '%s' cannot hold both the labels and the row names", path,
		               o->id_column);
		goto done;
	}
	if (!o->id_column && l->label != 0 && l->fields > 1) {
		bool unnamed = l->header && l->names[0][0] == '\0';
		if (unnamed || starts_with_name(l, &rows[l->header]))
			l->id = 0;
	}
	l->cols = l->fields - (l->id >= 0) - (l->label >= 0);
	if (l->cols < 1)
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: no column is left for the numbers", path);
done:
	return st;
}

kdr_status kdri_csv_layout_find(kdr_context *ctx, kdri_window *w, const kdr_read_options *o, char delimiter,
                                kdri_csv_layout *l)
{
	kdr_status st;
	row rows[2];
	const char *open;
	*l = (kdri_csv_layout){ .id = -1, .label = -1, .keep_nonfinite = o->keep_nonfinite };
	KDRI_TRY(read_wishes(ctx, o, l));
	for (;;) {
		l->delimiter = delimiter ? delimiter : find_delimiter(w, l->point == ',' ? ";\t" : ",;\t");
		first_rows(w, l->delimiter, rows, &open);
		if (rows[1].begin || w->last)
			break;
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
	if (open && !rows[1].begin) {
		st = kdri_csv_unclosed(ctx, w, open);
		goto done;
	}
	if (!rows[0].begin) {
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: the file is empty: no rows", kdri_input_path(w->in));
		goto done;
	}
	KDRI_TRY(assign(ctx, w, o, rows, l));
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
	l->names = NULL;
}
