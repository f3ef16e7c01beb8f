/* Tables of text (CSV, TSV): reading. SPDX-License-Identifier: BSD-3-Clause
 *
 * Each window is cut into slices at the ends of rows. Without a quote in sight these are newlines;
 * else one quick pass finds them. Rows are parsed in parallel straight into the matrix, at the place
 * given by the newlines before them: an upper bound, since blank and dropped rows leave holes, which
 * are closed afterwards. Cells of text (row names, labels) are only noted by the threads and copied
 * between windows, as nothing allocates in parallel. */
#include <stdio.h>

#include "io/csv.h"

enum trouble { FINE, NOT_A_NUMBER, NOT_FINITE, EMPTY, RAGGED, TORN };

typedef struct problem {
	enum trouble what;
	const char *row, *at; /* where the row and the cell begin */
	int64_t field;
} problem;

typedef struct note {
	uint32_t id, label; /* where the cells begin, from the window's data */
} note;

typedef struct table {
	double *values;
	int64_t rows, room;
	char **ids;
	int64_t *labels;
	kdri_names classes;
	note *notes; /* one for each line of the window; NULL if no column holds text */
	int64_t note_room;
} table;

/* The number in the cell at p; *next is the delimiter or newline after it. Leaves the hot path for
 * quotes, empty cells and everything that is no number. */
static inline enum trouble number_at(const kdri_csv_layout *l, const char *p, const char *end, double *value,
                                     const char **next)
{
	while (kdri_is_blank(*p) && *p != l->delimiter)
		p++;
	const char *q = kdri_parse_decimal(p, end, l->point, value);
	if (q) {
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (*q == '\r' && q[1] == '\n')
			q++;
		if ((*q == l->delimiter || *q == '\n') && (l->keep_nonfinite || *value - *value == 0)) {
			*next = q;
			return FINE;
		}
	}
	kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
	*next = cell.stop;
	if (cell.torn)
		return TORN;
	if (cell.end == cell.begin || (l->missing != KDRI_MISSING_ERROR && kdri_csv_is_missing(&cell)))
		return EMPTY;
	if (!kdri_csv_is_number(&cell, l->point, value))
		return NOT_A_NUMBER;
	return l->keep_nonfinite || *value - *value == 0 ? FINE : NOT_FINITE;
}

/* One row at p into `out`. Returns the start of the next row, or NULL with `bad` set. */
static const char *parse_row(const kdri_csv_layout *l, const char *p, const char *end, double *out,
                             const char *base, note *texts, bool *drop, problem *bad)
{
	const char *row = p;
	for (int64_t j = 0; j < l->fields; j++) {
		const char *at = p, *stop;
		enum trouble what = FINE;
		if (j == l->id || j == l->label) {
			kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
			*(j == l->id ? &texts->id : &texts->label) = (uint32_t)(p - base);
			what = cell.torn ? TORN : FINE;
			stop = cell.stop;
		} else {
			what = number_at(l, p, end, out, &stop);
			if (what == EMPTY && l->missing != KDRI_MISSING_ERROR) {
				*drop |= l->missing == KDRI_MISSING_DROP;
				*out = 0;
				what = FINE;
			}
			out++;
		}
		if (what == FINE && (*stop == '\n') != (j + 1 == l->fields))
			what = RAGGED;
		/* A row cut short by its last cell being empty is short, not empty. */
		if (what == EMPTY && *stop == '\n' && j + 1 < l->fields)
			what = RAGGED;
		if (what != FINE) {
			*bad = (problem){ what, row, at, j };
			return NULL;
		}
		p = stop + 1;
	}
	return p;
}

static int64_t parse_slice(const kdri_csv_layout *l, const kdri_slice *s, double *out, const char *base,
                           note *notes, problem *bad)
{
	int64_t rows = 0;
	note unused;
	for (const char *p = s->begin; p < s->end;) {
		bool drop = false;
		const char *q = p;
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (kdri_at_newline(q)) {
			p = q + (*q == '\r') + 1;
			continue;
		}
		p = parse_row(l, p, s->end, out + rows * l->cols, base, notes ? notes + rows : &unused, &drop,
		              bad);
		if (!p)
			break;
		rows += !drop;
	}
	return rows;
}

static kdr_status report(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l, const problem *x)
{
	const char *path = kdri_input_path(w->in);
	kdri_csv_cell cell = kdri_csv_cell_at(x->at, l->delimiter);
	long long line = w->line + kdri_count_byte(w->data + w->begin, x->at, '\n') + 1;
	int length = (int)KDRI_MIN(cell.end - cell.begin, 40);
	char column[96] = "";
	if (l->names && l->names[x->field][0])
		snprintf(column, sizeof column, " (%.60s)", l->names[x->field]);
	switch (x->what) {
	case NOT_A_NUMBER: {
		bool comma = l->point == '.' && memchr(cell.begin, ',', (size_t)(cell.end - cell.begin));
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld, column %lld%s: '%.*s' is not a number%s", path, line,
		                 (long long)x->field + 1, column, length, cell.begin,
		                 comma ? " (a decimal comma has to be asked for)" : "");
	}
	case NOT_FINITE:
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: line %lld, column %lld%s: %.*s is not a finite number", path, line,
		                 (long long)x->field + 1, column, length, cell.begin);
	case EMPTY:
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: line %lld, column %lld%s: the cell is empty: a number is needed, or "
		                 "missing cells have to be set to zero or their rows dropped",
		                 path, line, (long long)x->field + 1, column);
	case TORN:
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld, column %lld%s: text follows the closing quote", path, line,
		                 (long long)x->field + 1, column);
	default: break;
	}
	int64_t found = 1;
	for (const char *p = x->row; *(p = kdri_csv_cell_at(p, l->delimiter).stop) != '\n'; p++)
		found++;
	line = w->line + kdri_count_byte(w->data + w->begin, x->row, '\n') + 1;
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld has %lld fields, expected %lld", path, line,
	                 (long long)found, (long long)l->fields);
}

/* Cuts the unread text at ends of rows. *whole: the text up to the last of them, 0 if there is none. */
static int64_t cut(const kdr_context *ctx, const kdri_window *w, char delimiter, kdri_slice *slices,
                   size_t *whole)
{
	const char *begin = w->data + w->begin, *end = w->data + w->end, *p = begin;
	*whole = 0;
	if (begin == end)
		return 0;
	if (!memchr(begin, '"', (size_t)(end - begin))) {
		while (end > begin && end[-1] != '\n')
			end--;
		if (end == begin)
			return 0;
		*whole = (size_t)(end - w->data);
		return kdri_slices_cut(ctx, begin, end, slices);
	}
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

static kdr_status make_room(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l, size_t whole,
                            int64_t lines, table *t)
{
	kdr_status st = KDR_OK;
	int64_t need = t->rows + lines, count;
	if (l->id >= 0 || l->label >= 0) {
		if (lines > t->note_room) {
			KDRI_TRY(KDRI_GROW(ctx, &t->notes, lines));
			t->note_room = lines;
		}
		if (l->id >= 0)
			KDRI_TRY(KDRI_GROW(ctx, &t->ids, need));
		if (l->label >= 0)
			KDRI_TRY(KDRI_GROW(ctx, &t->labels, need));
	}
	if (need > t->room || !t->values) {
		int64_t room = KDRI_MAX(need, kdri_window_foresee(w, whole, need));
		KDRI_TRY(kdri_mul(ctx, room, l->cols, &count));
		KDRI_TRY(KDRI_GROW(ctx, &t->values, count));
		t->room = room;
	}
done:
	return st;
}

/* Copies what was noted of the rows from t->rows on. */
static kdr_status copy_text(kdr_context *ctx, const kdri_window *w, const kdri_csv_layout *l,
                            const note *notes, int64_t rows, table *t)
{
	kdr_status st = KDR_OK;
	char *text = NULL;
	for (int64_t i = 0; i < rows; i++, t->rows++) {
		if (l->label >= 0) {
			kdri_csv_cell cell = kdri_csv_cell_at(w->data + notes[i].label, l->delimiter);
			int64_t *label = &t->labels[t->rows];
			*label = -1; /* an empty cell: unknown */
			if (cell.quoted) {
				KDRI_TRY(kdri_csv_text(ctx, &cell, &text));
				KDRI_TRY(kdri_names_add(ctx, &t->classes, text, strlen(text), label));
				kdri_free(ctx, text);
				text = NULL;
			} else if (cell.end > cell.begin) {
				KDRI_TRY(kdri_names_add(ctx, &t->classes, cell.begin,
				                        (size_t)(cell.end - cell.begin), label));
			}
		}
		if (l->id >= 0) {
			kdri_csv_cell cell = kdri_csv_cell_at(w->data + notes[i].id, l->delimiter);
			KDRI_TRY(kdri_csv_text(ctx, &cell, &t->ids[t->rows]));
		}
	}
done:
	kdri_free(ctx, text);
	return st;
}

static kdr_status read_window(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, table *t,
                              bool *finished)
{
	kdr_status st = KDR_OK;
	kdri_slice slices[KDRI_SLICES];
	int64_t rows[KDRI_SLICES], lines;
	problem problems[KDRI_SLICES] = { 0 };
	size_t whole;
	while ((lines = cut(ctx, w, l->delimiter, slices, &whole)) == 0 && !w->last)
		KDRI_TRY(kdri_window_fill(ctx, w));
	if (lines == 0) {
		*finished = true;
		return w->end > w->begin ? kdri_csv_unclosed(ctx, w, w->data + w->begin) : KDR_OK;
	}
	KDRI_TRY(make_room(ctx, w, l, whole, lines, t));
	double *values = t->values + t->rows * l->cols;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
	for (int i = 0; i < KDRI_SLICES; i++)
		rows[i] = parse_slice(l, &slices[i], values + slices[i].first * l->cols, w->data,
		                      t->notes ? t->notes + slices[i].first : NULL, &problems[i]);
	int64_t kept = 0;
	for (int i = 0; i < KDRI_SLICES; i++) {
		if (problems[i].what != FINE) {
			st = report(ctx, w, l, &problems[i]);
			goto done;
		}
		if (kept < slices[i].first)
			memmove(values + kept * l->cols, values + slices[i].first * l->cols,
			        (size_t)(rows[i] * l->cols) * sizeof *values);
		kept += rows[i];
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

/* Moves what was read into `data`: nothing here leaves it half-filled. */
static kdr_status hand_over(kdr_context *ctx, const kdri_csv_layout *l, table *t, kdr_data *data)
{
	kdr_status st;
	char **features = NULL;
	bool integers;
	KDRI_TRY(KDRI_GROW(ctx, &t->values, t->rows * l->cols));
	if (l->label >= 0)
		KDRI_TRY(kdri_names_sort_integers(ctx, &t->classes, t->labels, t->rows, &integers));
	if (l->names) {
		int64_t k = 0;
		KDRI_TRY(KDRI_NEW0(ctx, &features, l->cols));
		for (int64_t j = 0; j < l->fields; j++)
			if (j != l->id && j != l->label) {
				features[k++] = l->names[j];
				l->names[j] = NULL;
			}
	}
	data->kind = KDR_MAT_DENSE;
	data->rows = t->rows;
	data->cols = l->cols;
	data->dense = t->values;
	data->features = features;
	data->ids = t->ids;
	data->labels = t->labels;
	if (l->label >= 0) {
		data->classes = t->classes.names;
		data->nclasses = t->classes.count;
		t->classes.names = NULL;
	}
	t->values = NULL;
	t->ids = NULL;
	t->labels = NULL;
done:
	return st;
}

kdr_status kdri_csv_read(kdr_context *ctx, kdri_input *in, const kdr_read_options *options, char delimiter,
                         kdr_data *data)
{
	static const kdr_read_options none = { 0 };
	kdr_status st;
	kdri_window w = { 0 };
	kdri_csv_layout l = { 0 };
	table t = { 0 };
	bool finished = false;
	KDRI_TRY(kdri_window_open(ctx, in, &w));
	KDRI_TRY(kdri_window_fill(ctx, &w));
	if (w.end >= 3 && memcmp(w.data, "\xef\xbb\xbf", 3) == 0)
		w.begin = 3; /* UTF-8 with a byte order mark */
	if (w.end >= 2 && (memcmp(w.data, "\xff\xfe", 2) == 0 || memcmp(w.data, "\xfe\xff", 2) == 0)) {
		st = kdri_fail(ctx, KDR_ERR_FORMAT, "%s: is in UTF-16: save it as UTF-8",
		               kdri_input_path(in));
		goto done;
	}
	KDRI_TRY(kdri_csv_layout_find(ctx, &w, options ? options : &none, delimiter, &l));
	for (;;) {
		KDRI_TRY(read_window(ctx, &w, &l, &t, &finished));
		if (finished)
			break;
		KDRI_TRY(kdri_window_fill(ctx, &w));
	}
	if (t.rows == 0) {
		st = kdri_fail(ctx, KDR_ERR_DATA, "%s: no rows%s", kdri_input_path(in),
		               l.missing == KDRI_MISSING_DROP ? ": every row has an empty cell" : "");
		goto done;
	}
	KDRI_TRY(hand_over(ctx, &l, &t, data));
done:
	kdri_free(ctx, t.values);
	kdri_free(ctx, t.labels);
	kdri_free(ctx, t.notes);
	kdri_strings_free(&ctx->allocator, t.ids, t.rows);
	kdri_names_free(ctx, &t.classes);
	kdri_csv_layout_free(ctx, &l);
	kdri_window_close(ctx, &w);
	return st;
}

static kdr_status read_file(kdr_context *ctx, const char *path, const kdr_read_options *options,
                            char delimiter, kdr_data *data)
{
	kdr_status st;
	kdri_input *in = NULL;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	KDRI_TRY(kdri_csv_read(ctx, in, options, delimiter, data));
done:
	kdri_input_close(ctx, in);
	return st;
}

static kdr_status read_csv(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	return read_file(ctx, path, options, '\0', data);
}

static kdr_status read_tsv(kdr_context *ctx, const char *path, const kdr_read_options *options,
                           kdr_data *data)
{
	return read_file(ctx, path, options, '\t', data);
}

static const char *const csv_endings[] = { ".csv", ".csv.gz", NULL };
static const char *const tsv_endings[] = { ".tsv", ".tsv.gz", ".tab", ".tab.gz", NULL };

const kdri_format kdri_format_csv = {
	.id = "csv",
	.endings = csv_endings,
	.read = read_csv,
	.write = kdri_csv_write,
	.help = "comma- or semicolon-separated table, dense",
	.holds = KDR_HOLDS_FEATURES | KDR_HOLDS_LABELS,
};

const kdri_format kdri_format_tsv = {
	.id = "tsv",
	.endings = tsv_endings,
	.read = read_tsv,
	.write = kdri_tsv_write,
	.help = "tab-separated table, dense",
	.holds = KDR_HOLDS_FEATURES | KDR_HOLDS_LABELS,
};
