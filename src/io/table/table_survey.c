/* Inspects every cell of a table once. SPDX-License-Identifier: BSD-3-Clause
 *
 * The data kept for a column do not grow with its rows, except for the hashes of cells that may be row names, until
 * one repeats. Rows of the wrong length are counted and skipped: only the end of the file stops the survey. */
#include "core/utf8.h"
#include "io/table/table.h"

/* Whether the hash occurred before. Two texts with the same hash count as a repetition; the column is then not used as
 * row names. */
static kdr_status seen_before(kdr_context *ctx, kdri_evidence *e, uint64_t hash, bool *before)
{
	kdr_status st = KDR_OK;
	uint64_t *larger = NULL;
	hash += hash == 0; /* 0 is an empty place */
	if (2 * e->seen_count >= e->seen_room) {
		int64_t room = e->seen_room ? 2 * e->seen_room : 64;
		KDRI_TRY(KDRI_NEW0(ctx, &larger, room));
		for (int64_t i = 0; i < e->seen_room; i++)
			if (e->seen[i]) {
				int64_t s = (int64_t)(e->seen[i] & (uint64_t)(room - 1));
				while (larger[s])
					s = (s + 1) & (room - 1);
				larger[s] = e->seen[i];
			}
		kdri_free(ctx, e->seen);
		e->seen = larger;
		e->seen_room = room;
	}
	int64_t s = (int64_t)(hash & (uint64_t)(e->seen_room - 1));
	while (e->seen[s] && e->seen[s] != hash)
		s = (s + 1) & (e->seen_room - 1);
	*before = e->seen[s] == hash;
	e->seen_count += !*before;
	e->seen[s] = hash;
done:
	return st;
}

static void forget_seen(kdr_context *ctx, kdri_evidence *e)
{
	kdri_free(ctx, e->seen);
	e->seen = NULL;
	e->seen_room = e->seen_count = 0;
}

/* A number: how it is written, and whether it continues a sequence. */
static void take_number(kdri_evidence *e, const kdri_look *k, int64_t row, int64_t line, const char *text)
{
	unsigned before = e->decimals;
	e->numbers++;
	e->decimals &= k->decimals;
	if (before && !e->decimals) {
		e->mixed_line = line;
		memcpy(e->mixed, text, sizeof e->mixed);
	}
	if (k->differ)
		*(k->comma ? &e->comma_differs : &e->point_differs) = true;
	if (k->differ && k->comma && e->unclear_line == 0) {
		e->unclear_line = line;
		memcpy(e->unclear, text, sizeof e->unclear);
	}
	e->grouped |= k->grouped;
	e->percent |= k->percent;
	e->unit |= !k->percent && k->currency == 0;
	if (k->currency)
		e->currency = e->currency == 0 || e->currency == k->currency ? k->currency : -1;
	if (k->value - k->value != 0 && e->infinite++ == 0)
		e->infinite_line = line;
	bool plain = !k->differ && !k->percent && k->currency == 0;
	e->whole = e->whole && plain && k->value == floor(k->value);
	if (row == 0)
		e->seen_first = k->value;
	e->running = e->running && e->whole && (e->seen_first == 0 || e->seen_first == 1) &&
	             k->value == e->seen_first + (double)row;
}

static kdr_status take_cell(kdr_context *ctx, const kdri_csv_layout *l, const kdri_csv_cell *cell,
                            int64_t row, int64_t line, kdri_evidence *e)
{
	kdr_status st = KDR_OK;
	char text[KDRI_TEXT_LONGEST + 1];
	kdri_look look = { 0 };
	int64_t index;
	bool before = false;
	e->cells++;
	if (kdri_is_missing(cell->begin, cell->end, l->na)) {
		e->running = false;
		if (e->missing++ == 0)
			e->missing_line = line;
		return KDR_OK;
	}
	size_t length = kdri_csv_copy(cell, text, sizeof text);
	bool number = kdri_number_look(cell->begin, cell->end, &look);
	bool date = !number && kdri_date_look(cell->begin, cell->end, &look);
	if (!date && e->undated_line == 0) {
		e->undated_line = line;
		memcpy(e->undated, text, sizeof e->undated);
	}
	if (number) {
		take_number(e, &look, row, line, text);
	} else {
		e->running = false;
		if (date) {
			e->dates++;
			e->orders &= look.orders;
			e->either |= look.either;
		}
		if (e->text_line == 0) {
			e->text_line = line;
			memcpy(e->text, text, sizeof e->text);
		}
		e->many |= length + 1 == sizeof text; /* cut: too long for a category */
	}
	const bool digits = length > 0 && strspn(text, "0123456789") == length;
	e->digits = e->digits && digits;
	e->padded = e->padded || (digits && length > 1 && text[0] == '0');
	if (e->texts.count < KDRI_TEXTS_MOST)
		KDRI_TRY(kdri_names_add(ctx, &e->texts, text, length, &index));
	else if (!e->many)
		e->many = kdri_names_find_text(&e->texts, text, length) < 0;
	if (!e->repeats && !e->unwatched) {
		KDRI_TRY(seen_before(ctx, e, kdri_fnv1a(cell->begin, (size_t)(cell->end - cell->begin)),
		                     &before));
		if (before) {
			e->repeats = true;
			forget_seen(ctx, e);
		}
	}
	/* Numbers are row names only with a matching title or if they count up; other columns need no hashes. */
	if (number && !e->named_ids && !e->unwatched && !e->running) {
		e->unwatched = true;
		forget_seen(ctx, e);
	}
done:
	return st;
}

static kdr_status table_survey_take_row(kdr_context *ctx, const kdri_csv_layout *l, const char *p,
                                        int64_t line, kdri_survey *s)
{
	kdr_status st = KDR_OK;
	int64_t found = 0;
	const char *q = p;
	for (;;
	     q++) { /* first whether the row has the right number of cells: otherwise its cells are ignored */
		kdri_csv_cell cell = kdri_csv_cell_at(q, l->delimiter);
		found++;
		if (cell.torn && s->torn++ == 0) {
			s->torn_line = line;
			s->torn_field = found - 1;
		}
		q = cell.stop;
		if (*q == '\n') {
			found -= found == l->fields + 1 && !cell.quoted && cell.end == cell.begin;
			break;
		}
	}
	if (found != l->fields) {
		if (s->ragged++ == 0) {
			s->ragged_line = line;
			s->ragged_fields = found;
		}
		return KDR_OK;
	}
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
		if (j != l->label && j != l->tasks)
			KDRI_TRY(take_cell(ctx, l, &cell, s->rows, line, &s->fields[j]));
		p = cell.stop + 1;
	}
	s->rows++;
done:
	return st;
}

/* The complete rows of the window. */
static kdr_status take_window(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_survey *s)
{
	kdr_status st = KDR_OK;
	const char *p = w->data + w->begin, *end = w->data + w->end, *next;
	const char *start = p;
	for (; p < end && (next = kdri_csv_row_end(p, end, l->delimiter)); p = next) {
		const char *q = p;
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (!kdri_at_newline(q))
			KDRI_TRY(table_survey_take_row(ctx, l, p, w->line + 1, s));
		w->line += kdri_count_byte(p, next, '\n');
	}
	s->not_utf8 |= !kdri_utf8_valid(start, (size_t)(p - start));
	w->begin = (size_t)(p - w->data);
done:
	return st;
}

kdr_status kdri_survey_run(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, kdri_survey *out)
{
	kdr_status st;
	kdri_survey s = { 0 };
	KDRI_TRY(KDRI_NEW0(ctx, &s.fields, l->fields));
	for (int64_t j = 0; j < l->fields; j++) {
		kdri_evidence *e = &s.fields[j];
		e->decimals = KDRI_POINT | KDRI_COMMA;
		e->orders = KDRI_DAY_FIRST | KDRI_MONTH_FIRST;
		e->running = e->whole = e->digits = true;
		e->named_ids = l->names && kdri_name_of_ids(l->names[j]);
	}
	for (;;) {
		KDRI_TRY(take_window(ctx, w, l, &s));
		if (w->last) {
			if (w->begin < w->end)
				s.unclosed_line = w->line + 1;
			break;
		}
		KDRI_TRY(kdri_window_fill(ctx, w));
	}
	*out = s;
	s = (kdri_survey){ 0 };
done:
	kdri_survey_free(ctx, l, &s);
	return st;
}

void kdri_survey_free(kdr_context *ctx, const kdri_csv_layout *l, kdri_survey *s)
{
	for (int64_t j = 0; s->fields && j < l->fields; j++) {
		kdri_names_free(ctx, &s->fields[j].texts);
		kdri_free(ctx, s->fields[j].seen);
	}
	kdri_free(ctx, s->fields);
	*s = (kdri_survey){ 0 };
}
