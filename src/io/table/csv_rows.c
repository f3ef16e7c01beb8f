/* Tables of text (CSV, TSV): all rows into a matrix. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each window is split into slices at the ends of rows. Without quotes these are newlines; otherwise one quick pass
 * finds them. Rows are parsed in parallel directly into the matrix, at the place given by the number of newlines before
 * them. This is an upper bound: blank rows leave gaps, which are closed afterwards. Threads only record the positions of
 * text cells (row names, labels), which are copied between windows, because nothing is allocated in parallel. If only
 * some rows are requested, slices are trimmed to these. */
#include <stdio.h>

#include "io/table/table.h"

enum trouble { FINE, HOLE, NOT_A_NUMBER, NOT_FINITE, RAGGED, TORN };

typedef struct problem {
	enum trouble what;
	const char *row, *at; /* where the row and the cell begin */
	int64_t field;
	const char *hole; /* the first cell without a value, or NULL */
	int64_t hole_field;
} problem;

typedef struct kdri_csv_note {
	uint32_t id, label, task; /* where the cells begin, from the window's data */
} note;

/* Whether a number is written as a code is, with zeros before other digits: 01067. The survey of all cells then decides what its column
 * is. */
static inline bool is_padded(const char *p, const char *end)
{
	if (*p != '0' || end - p < 2)
		return false;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p == end;
}

/* The number in the cell at p; *next is the delimiter or newline after it. Leaves the hot path for
 * quotes, cells without a value and everything that is no number. */
static inline enum trouble number_at(const kdri_csv_layout *l, int64_t field, const char *p, const char *end,
                                     double *value, const char **next)
{
	char point = l->typed ? '.' : l->points[field];
	while (kdri_is_blank(*p) && *p != l->delimiter)
		p++;
	const char *q = kdri_parse_decimal(p, end, point, value);
	if (q && !l->dressed && is_padded(p, q))
		q = NULL;
	if (q) {
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (*q == '\r' && q[1] == '\n')
			q++;
		if ((*q == l->delimiter || *q == '\n') && *value - *value == 0 && !l->na_numbers) {
			*next = q;
			return FINE;
		}
	}
	kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
	*next = cell.stop;
	if (cell.torn)
		return TORN;
	if (cell.quoted)
		point = l->points[field];
	(void)kdri_cell_recode(l, field, &cell);
	if (kdri_is_missing(cell.begin, cell.end, l->na)) {
		*value = NAN;
		return HOLE;
	}
	if ((!kdri_csv_is_number(&cell, point, value) || (!l->dressed && is_padded(cell.begin, cell.end))) &&
	    !(l->dressed && kdri_number_value(cell.begin, cell.end, point, l->thousands, value)))
		return NOT_A_NUMBER;
	return l->keep_nonfinite || *value - *value == 0 ? FINE : NOT_FINITE;
}

/* A cell that is no plain number, into the `features` columns of its field. */
static enum trouble other_at(const kdri_csv_layout *l, int64_t field, const char *p, double *out,
                             const char **next)
{
	const kdri_role *role = &l->roles[field];
	char text[KDRI_TEXT_LONGEST + 1];
	kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
	*next = cell.stop;
	if (cell.torn)
		return TORN;
	(void)kdri_cell_recode(l, field, &cell);
	bool missing = kdri_is_missing(cell.begin, cell.end, l->na) &&
	               !(role->words && kdri_is_word_for_missing(cell.begin, cell.end, l->na));
	for (int64_t k = 0; k < role->features; k++)
		out[k] = missing ? NAN : 0;
	if (role->features == 0)
		return FINE;
	if (missing)
		return HOLE;
	if (l->how[field] == KDRI_HOW_DATE)
		return kdri_date_value(cell.begin, cell.end, role->order, out) ? FINE : NOT_A_NUMBER;
	int64_t found = kdri_names_find_text(&role->texts, text, kdri_csv_copy(&cell, text, sizeof text));
	if (found >= 0 && found < role->features)
		out[found] = 1;
	return FINE;
}

/* Skips a trailing delimiter, which some programs write. */
static const char *skip_trailing(const char *stop, char delimiter)
{
	const char *q = stop + 1;
	if (*stop != delimiter)
		return stop;
	while (kdri_is_blank(*q) && *q != delimiter)
		q++;
	q += *q == '\r' && q[1] == '\n';
	return *q == '\n' ? q : stop;
}

/* The cells from field j on that are nothing but finite numbers, up to the last but one of the row: most of most tables. *p is
 * moved past them; how many. Words such as nan end in a letter, which is left to number_at. */
static inline int64_t plain_numbers(const kdri_csv_layout *l, int64_t j, const char **p, const char *end,
                                    double *out)
{
	const int64_t most = l->na_numbers ? 0 : l->fields - 1 - j;
	const unsigned char *how = l->how + j;
	const char *points = l->points + j, *at = *p, *q, delimiter = l->delimiter;
	const bool typed = l->typed;
	double zero = 0;
	int64_t n = 0;
	while (n < most && how[n] == KDRI_HOW_NUMBER &&
	       (q = kdri_parse_decimal(at, end, typed ? '.' : points[n], out + n)) && *q == delimiter &&
	       q[-1] <= '9' && (l->dressed || !is_padded(at, q))) {
		zero += 0 * out[n++]; /* no other thread waits for it */
		at = q + 1;
	}
	if (zero != 0) { /* one is too large for a double: up to there */
		for (n = 0, at = *p; out[n] - out[n] == 0; n++)
			at = kdri_parse_decimal(at, end, typed ? '.' : points[n], out + n) + 1;
	}
	*p = at;
	return n;
}

/* One row at p into `out`. Returns the start of the next row, or NULL with `bad` set. */
static const char *parse_row(const kdri_csv_layout *l, const char *p, const char *end, double *out,
                             const char *base, note *texts, problem *bad)
{
	const char *row = p;
	for (int64_t j = 0; j < l->fields; j++) {
		int64_t plain = plain_numbers(l, j, &p, end, out);
		j += plain;
		out += plain;
		const char *at = p, *stop;
		enum trouble what;
		if (l->how[j] == KDRI_HOW_NUMBER) {
			what = number_at(l, j, p, end, out, &stop);
			out++;
		} else {
			if (l->how[j] == KDRI_HOW_TEXT)
				*(j == l->id      ? &texts->id
				  : j == l->label ? &texts->label
				                  : &texts->task) = (uint32_t)(p - base);
			what = other_at(l, j, p, out, &stop);
			out += l->roles[j].features;
		}
		if (j + 1 == l->fields && *stop != '\n')
			stop = skip_trailing(stop, l->delimiter);
		/* A truncated row is reported as such, whatever its last cell contains. */
		if (what == HOLE) {
			if (!bad->hole) {
				bad->hole = at;
				bad->hole_field = j;
			}
			what = FINE;
		}
		if (what == FINE && (*stop == '\n') != (j + 1 == l->fields))
			what = RAGGED;
		if (what != FINE) {
			*bad = (problem){ what, row, at, j, bad->hole, bad->hole_field };
			return NULL;
		}
		p = stop + 1;
	}
	return p;
}

/* The row after the one at p if that one is blank; otherwise NULL. */
static inline const char *skip_blank(const char *p, char delimiter)
{
	while (kdri_is_blank(*p) && *p != delimiter)
		p++;
	return kdri_at_newline(p) ? p + (*p == '\r') + 1 : NULL;
}

/* Leaves the wanted rows of a slice. */
static void csv_rows_trim(const kdri_csv_layout *l, kdri_csv_table *t, kdri_slice *s)
{
	const char *begin = NULL, *end = NULL, *next;
	for (const char *p = s->begin; p < s->end; p = next) {
		bool blank = (next = skip_blank(p, l->delimiter)) != NULL;
		if (!blank)
			next = kdri_csv_row_end(p, s->end, l->delimiter);
		if (!blank && t->seen >= t->keep.first && t->seen < t->keep.last) {
			begin = begin ? begin : p;
			end = next;
		}
		t->seen += !blank;
	}
	s->begin = begin ? begin : s->end;
	s->end = begin ? end : s->end;
}

static int64_t csv_rows_parse_slice(const kdri_csv_layout *l, const kdri_slice *s, double *out,
                                    const char *base, note *notes, problem *bad)
{
	int64_t rows = 0;
	note unused;
	for (const char *p = s->begin; p < s->end;) {
		const char *next = skip_blank(p, l->delimiter);
		if (next) {
			p = next;
			continue;
		}
		p = parse_row(l, p, s->end, out + rows * l->cols, base, notes ? notes + rows : &unused, bad);
		if (!p)
			break;
		rows++;
	}
	return rows;
}

static kdr_status csv_rows_report(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                                  const problem *x)
{
	const char *path = kdri_input_path(w->in);
	kdri_csv_cell cell = kdri_csv_cell_at(x->at, l->delimiter);
	long long line = w->line + kdri_count_byte(w->data + w->begin, x->at, '\n') + 1;
	int length = (int)KDRI_MIN(cell.end - cell.begin, 40);
	char column[96] = "";
	if (l->names && l->names[x->field][0])
		snprintf(column, sizeof column, " (%.60s)", l->names[x->field]);
	switch (x->what) {
	case NOT_A_NUMBER:
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld, column %lld%s: '%.*s' is not a %s",
		                 path, line, (long long)x->field + 1, column, length, cell.begin,
		                 l->how[x->field] == KDRI_HOW_DATE ? "date" : "number");
	case NOT_FINITE:
		if (cell.end - cell.begin > length)
			return kdri_fail(ctx, KDR_ERR_DATA,
			                 "%s: line %lld, column %lld%s: %.*s... is not a finite number", path,
			                 line, (long long)x->field + 1, column, length, cell.begin);
		return kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: line %lld, column %lld%s: %.*s is not a finite number; use --na '%.*s' to treat it as missing",
		        path, line, (long long)x->field + 1, column, length, cell.begin, length, cell.begin);
	case TORN:
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld, column %lld%s: unexpected text after the closing quote",
		                 path, line, (long long)x->field + 1, column);
	default: break;
	}
	int64_t found = 1;
	for (const char *p = x->row; *(p = kdri_csv_cell_at(p, l->delimiter).stop) != '\n'; p++)
		found++;
	line = w->line + kdri_count_byte(w->data + w->begin, x->row, '\n') + 1;
	return kdri_fail(
	        ctx, KDR_ERR_FORMAT,
	        "%s: line %lld has %lld field%s, expected %lld; fix the line, or set the separator with --delimiter",
	        path, line, (long long)found, found == 1 ? "" : "s", (long long)l->fields);
}

int64_t kdri_csv_cut(const kdr_context *ctx, const kdri_window *w, char delimiter, kdri_slice *slices,
                     size_t *whole)
{
	const char *begin = w->data + w->begin, *end = w->data + w->end, *p = begin;
	*whole = 0;
	if (begin == end)
		return 0;
	while (end > begin && end[-1] != '\n')
		end--;
	if (end == begin)
		return 0;
	const int64_t lines = kdri_slices_cut(ctx, begin, end, slices);
	bool quoted = false;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic) reduction(|| : quoted)
	for (int i = 0; i < KDRI_SLICES; i++)
		quoted = quoted ||
		         memchr(slices[i].begin, '"', (size_t)(slices[i].end - slices[i].begin)) != NULL;
	if (!quoted) {
		*whole = (size_t)(end - w->data);
		return lines;
	}
	end = w->data + w->end;
	for (int i = 0; i < KDRI_SLICES; i++) {
		const char *target = begin + (end - begin) * (i + 1) / KDRI_SLICES, *next;
		slices[i].begin = p;
		while (p < target && (next = kdri_csv_row_end(p, end, delimiter)))
			p = next;
		slices[i].end = p;
	}
	*whole = p > begin ? (size_t)(p - w->data) : 0;
	return kdri_slices_count(ctx, slices);
}

static kdr_status csv_rows_make_room(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                                     size_t whole, int64_t lines, kdri_csv_table *t)
{
	int64_t need = t->rows + lines, count;
	if (l->id >= 0 || l->label >= 0 || l->tasks >= 0) {
		if (lines > t->note_room) {
			KDRI_DO(KDRI_GROW(ctx, &t->notes, lines));
			t->note_room = lines;
		}
		if (l->id >= 0)
			KDRI_DO(KDRI_GROW(ctx, &t->ids, need));
		if (l->label >= 0)
			KDRI_DO(KDRI_GROW(ctx, &t->labels, need));
		if (l->tasks >= 0)
			KDRI_DO(KDRI_GROW(ctx, &t->task_of, need));
	}
	if (need > t->room || !t->values) {
		int64_t room = kdri_window_foresee(w, whole, need);
		room = KDRI_MAX(need, t->part ? KDRI_MIN(room, t->keep.last - t->keep.first) : room);
		KDRI_DO(kdri_mul(ctx, room, l->cols, &count));
		KDRI_DO(KDRI_GROW_RESULT(ctx, &t->values, count));
		t->room = room;
	}
	return KDR_OK;
}

/* The number of the cell's text among `names`; -1: the cell is empty. */
static kdr_status number_text(kdr_context *ctx, const kdri_csv_cell *cell, kdri_names *names, int64_t *out)
{
	kdr_status st = KDR_OK;
	char *text = NULL;
	*out = -1;
	if (cell->quoted) {
		KDRI_TRY(kdri_csv_text(ctx, cell, &text));
		KDRI_TRY(kdri_names_add(ctx, names, text, strlen(text), out));
	} else if (cell->end > cell->begin) {
		KDRI_TRY(kdri_names_add(ctx, names, cell->begin, (size_t)(cell->end - cell->begin), out));
	}
done:
	kdri_free(ctx, text);
	return st;
}

/* Copies the notes on the rows from t->rows on. */
static kdr_status copy_text(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                            const note *notes, int64_t rows, kdri_csv_table *t)
{
	for (int64_t i = 0; i < rows; i++, t->rows++) {
		kdri_csv_cell cell;
		if (l->label >= 0) {
			cell = kdri_csv_cell_at(w->data + notes[i].label, l->delimiter);
			(void)kdri_cell_recode(l, l->label, &cell);
			KDRI_DO(number_text(ctx, &cell, &t->classes, &t->labels[t->rows]));
		}
		if (l->tasks >= 0) {
			cell = kdri_csv_cell_at(w->data + notes[i].task, l->delimiter);
			(void)kdri_cell_recode(l, l->tasks, &cell);
			KDRI_DO(number_text(ctx, &cell, &t->tasks, &t->task_of[t->rows]));
		}
		if (l->id >= 0) {
			cell = kdri_csv_cell_at(w->data + notes[i].id, l->delimiter);
			KDRI_DO(kdri_csv_text(ctx, &cell, &t->ids[t->rows]));
		}
	}
	return KDR_OK;
}

static kdr_status read_window(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_csv_table *t,
                              bool *text, bool *finished)
{
	kdr_status st = KDR_OK;
	kdri_slice slices[KDRI_SLICES];
	int64_t rows[KDRI_SLICES], lines, wanted;
	problem problems[KDRI_SLICES] = { 0 };
	size_t whole;
	while ((lines = kdri_csv_cut(ctx, w, l->delimiter, slices, &whole)) == 0 && !w->last)
		KDRI_TRY(kdri_window_fill(ctx, w));
	if (lines == 0) {
		*finished = true;
		return w->end > w->begin ? kdri_csv_unclosed(ctx, w, w->data + w->begin) : KDR_OK;
	}
	for (int i = 0; t->part && i < KDRI_SLICES; i++)
		csv_rows_trim(l, t, &slices[i]);
	wanted = t->part ? kdri_slices_count(ctx, slices) : lines;
	KDRI_TRY(csv_rows_make_room(ctx, w, l, whole, wanted, t));
	double *values = t->values + t->rows * l->cols;
#pragma omp parallel for num_threads(kdri_team(ctx)) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++)
		rows[i] = csv_rows_parse_slice(l, &slices[i], values + slices[i].first * l->cols, w->data,
		                               t->notes ? t->notes + slices[i].first : NULL, &problems[i]);
	int64_t kept = 0;
	for (int i = 0; i < KDRI_SLICES; i++) {
		if (problems[i].what == NOT_A_NUMBER && text) {
			*text = *finished = true;
			return KDR_OK;
		}
		if (problems[i].what != FINE) {
			st = csv_rows_report(ctx, w, l, &problems[i]);
			goto done;
		}
		if (kept < slices[i].first)
			memmove(values + kept * l->cols, values + slices[i].first * l->cols,
			        (size_t)(rows[i] * l->cols) * sizeof *values);
		kept += rows[i];
		if (problems[i].hole && !t->holes) {
			t->holes = true;
			t->hole_field = problems[i].hole_field;
			t->hole_line =
			        w->line + kdri_count_byte(w->data + w->begin, problems[i].hole, '\n') + 1;
		}
		if (t->notes)
			KDRI_TRY(copy_text(ctx, w, l, t->notes + slices[i].first, rows[i], t));
		else
			t->rows += rows[i];
	}
	w->line += lines;
	w->begin = whole;
done:
	return st;
}

kdr_status kdri_csv_rows(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_csv_table *t,
                         bool *text)
{
	kdr_status st;
	bool finished = false;
	for (;;) {
		KDRI_TRY(read_window(ctx, w, l, t, text, &finished));
		if (finished)
			break;
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
	if (t->rows == 0 && !t->part && !(text && *text))
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: the file has no rows", kdri_input_path(w->in));
done:
	return st;
}

void kdri_csv_table_free(kdr_context *ctx, kdri_csv_table *t)
{
	KDRI_FREE(ctx, t->values, t->labels, t->notes);
	kdri_strings_free(&ctx->allocator, t->ids, t->rows);
	kdri_names_free(ctx, &t->classes);
	kdri_free(ctx, t->task_of);
	kdri_names_free(ctx, &t->tasks);
	*t = (kdri_csv_table){ 0 };
}
