/* Inspects every cell of a table once. SPDX-License-Identifier: BSD-3-Clause
 *
 * The data kept for a column do not grow with its rows, except for the hashes of cells that may be row names, until
 * one repeats. Rows of the wrong length are counted and skipped: only the end of the file stops the survey. */
#include "core/utf8.h"
#include "io/table/table.h"

#include <stdatomic.h>

/* Whether the hash occurred before. Two texts with the same hash count as a repetition; the column is then not used as
 * row names. */
static kdr_status seen_before(kdr_context *ctx, kdri_evidence *e, uint64_t hash, bool *before)
{
	uint64_t *larger = NULL;
	hash += hash == 0; /* 0 is an empty place */
	if (2 * e->seen_count >= e->seen_room) {
		int64_t room = e->seen_room ? 2 * e->seen_room : 64;
		KDRI_DO(KDRI_NEW0(ctx, &larger, room));
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
	return KDR_OK;
}

static void forget_seen(kdr_context *ctx, kdri_evidence *e)
{
	kdri_free(ctx, e->seen);
	e->seen = NULL;
	e->seen_room = e->seen_count = 0;
}

static uint64_t cell_hash(const kdri_csv_cell *cell)
{
	return kdri_fnv1a(cell->begin, (size_t)(cell->end - cell->begin));
}

/* Whether cells of the column must differ from each other. */
static bool is_watched(const kdri_evidence *e)
{
	return !e->repeats && !e->unwatched;
}

static kdr_status take_hash(kdr_context *ctx, uint64_t hash, kdri_evidence *e)
{
	if (!is_watched(e))
		return KDR_OK;
	KDRI_DO(seen_before(ctx, e, hash, &e->repeats));
	if (e->repeats)
		forget_seen(ctx, e);
	return KDR_OK;
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
	if (k->differ && e->unclear_line == 0) {
		e->unclear_line = line;
		memcpy(e->unclear, text, sizeof e->unclear);
	}
	e->grouped |= k->grouped;
	e->spaced |= k->spaced;
	e->round |= k->round;
	if (k->bare)
		*(k->value < 1000 ? &e->bare_small : &e->bare_large) = true;
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

/* Whether the cell is a number, and how it is written. What a typed table has outside quotes says nothing about its texts. */
static bool look_at(const kdri_csv_layout *l, const kdri_csv_cell *cell, kdri_look *look)
{
	if (!kdri_number_look(cell->begin, cell->end, l->thousands, look))
		return false;
	if (l->typed && !cell->quoted) {
		look->decimals = KDRI_POINT | KDRI_COMMA;
		look->differ = look->round = look->bare = look->spaced = false;
	}
	return true;
}

static kdr_status take_cell(kdr_context *ctx, const kdri_csv_layout *l, const kdri_csv_cell *cell,
                            int64_t row, int64_t line, kdri_evidence *e)
{
	char text[KDRI_TEXT_LONGEST + 1];
	kdri_look look = { 0 };
	int64_t index;
	e->cells++;
	if (kdri_is_missing(cell->begin, cell->end, l->na)) {
		e->running = false;
		if (e->missing++ == 0)
			e->missing_line = line;
		if (!kdri_is_word_for_missing(cell->begin, cell->end, l->na))
			return KDR_OK;
		e->words++;
		size_t n = kdri_csv_copy(cell, text, sizeof text);
		return kdri_names_add(ctx, &e->word_texts, text, n, &index);
	}
	size_t length = kdri_csv_copy(cell, text, sizeof text);
	bool number = look_at(l, cell, &look);
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
			e->text_row = row;
			e->text_line = line;
			memcpy(e->text, text, sizeof e->text);
		}
		e->many |= length + 1 == sizeof text; /* cut: too long for a category */
	}
	const bool digits = length > 0 && strspn(text, "0123456789") == length;
	e->digits = e->digits && digits;
	e->padded = e->padded || (digits && length > 1 && text[0] == '0');
	if (e->texts.count < KDRI_TEXTS_MOST)
		KDRI_DO(kdri_names_add(ctx, &e->texts, text, length, &index));
	else if (!e->many)
		e->many = kdri_names_find_text(&e->texts, text, length) < 0;
	KDRI_DO(take_hash(ctx, cell_hash(cell), e));
	/* Numbers are row names only with a matching title or if they count up; other columns need no hashes. */
	if (number && !e->named_ids && !e->unwatched && !e->running) {
		e->unwatched = true;
		forget_seen(ctx, e);
	}
	return KDR_OK;
}

static void use_change(const kdri_csv_layout *l, int64_t change)
{
	if (change >= 0)
		l->changes->used[change] = true;
}

static kdr_status table_survey_take_row(kdr_context *ctx, const kdri_csv_layout *l, const char *p,
                                        int64_t line, kdri_survey *s)
{
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
		use_change(l, kdri_cell_recode(l, j, &cell));
		if (j != l->label && j != l->tasks)
			KDRI_DO(take_cell(ctx, l, &cell, s->rows, line, &s->fields[j]));
		p = cell.stop + 1;
	}
	s->rows++;
	return KDR_OK;
}

/* --- rows in parallel -------------------------------------------------------------------------------- */

/* Most cells are like earlier ones of their column and change nothing but counters. Threads classify the cells of the slices of
 * a window against what was known before the window, which only grows: a cell that is routine then is also routine
 * later. They count the routine cells and record the position of the others, which one thread takes in the order of the
 * file. The result is therefore that of one pass. Of a routine cell in a column that may have row names, the hash is
 * recorded. */
enum { BYTES_PER_EVENT = 16 };
static const uint32_t entire_row = UINT32_MAX, hash_only = UINT32_C(1) << 31;

typedef struct tally {
	int32_t missing, words, numbers, dates, infinite; /* routine cells of a column */
} tally;

/* A cell that is not routine, its hash (`hash_only` is added to the field), or an `entire_row` of an unusual shape. */
typedef struct event {
	uint32_t row_at, cell_at; /* from the beginning of the slice, or the halves of the hash */
	uint32_t field;
	uint32_t row; /* rows of the slice before it, other than events */
} event;

static void replace_by_hash(event *x, uint64_t hash)
{
	x->row_at = (uint32_t)(hash >> 32);
	x->cell_at = (uint32_t)hash;
	x->field |= hash_only;
}

typedef struct survey_slice {
	event *events;
	int64_t count, room;
	int64_t rows;        /* without those that are events */
	const char *stopped; /* the row for which there was no more room */
	bool not_utf8;
} survey_slice;

static bool is_known_text(const kdri_evidence *e, const char *text, size_t length)
{
	return (e->many && e->texts.count >= KDRI_TEXTS_MOST) ||
	       kdri_names_find_text(&e->texts, text, length) >= 0;
}

static bool is_known_writing(const kdri_evidence *e, bool digits, bool padded)
{
	return (digits || !e->digits) && (!padded || e->padded);
}

static bool is_known_number(const kdri_evidence *e, const kdri_look *k)
{
	const bool plain = !k->differ && !k->percent && k->currency == 0;
	return (e->decimals & k->decimals) == e->decimals && e->undated_line != 0 &&
	       (!k->differ || (k->comma ? e->comma_differs : e->point_differs)) &&
	       (!k->spaced || e->spaced) && (!k->round || e->round) &&
	       (!k->bare || (k->value < 1000 ? e->bare_small : e->bare_large)) &&
	       (!k->grouped || e->grouped) && (!k->percent || e->percent) &&
	       (k->percent || k->currency != 0 || e->unit) &&
	       (k->currency == 0 || e->currency == k->currency || e->currency == -1) &&
	       (k->value - k->value == 0 || e->infinite > 0) &&
	       (!e->whole || (plain && k->value == floor(k->value))) && (e->named_ids || e->unwatched);
}

/* Whether take_cell would only count the cell, and take its hash in a column that is watched; it is then counted `times` times. */
static bool is_routine(const kdri_csv_layout *l, const kdri_csv_cell *cell, const kdri_evidence *e, int times,
                       tally *n)
{
	char text[KDRI_TEXT_LONGEST + 1];
	kdri_look look = { 0 };
	if (e->running)
		return false;
	const bool missing = kdri_is_missing(cell->begin, cell->end, l->na),
	           word = missing && kdri_is_word_for_missing(cell->begin, cell->end, l->na);
	const size_t length = kdri_csv_copy(cell, text, sizeof text);
	if (missing) {
		const bool known =
		        e->missing > 0 && (!word || kdri_names_find_text(&e->word_texts, text, length) >= 0);
		n->missing += known ? times : 0;
		n->words += known && word ? times : 0;
		return known;
	}
	const bool digits = length > 0 && strspn(text, "0123456789") == length;
	if (!is_known_writing(e, digits, digits && length > 1 && text[0] == '0') ||
	    !is_known_text(e, text, length))
		return false;
	if (look_at(l, cell, &look)) {
		if (!is_known_number(e, &look))
			return false;
		n->numbers += times;
		n->infinite += look.value - look.value != 0 ? times : 0;
		return true;
	}
	const bool date = kdri_date_look(cell->begin, cell->end, &look);
	if ((date ? (e->orders & look.orders) != e->orders || (look.either && !e->either)
	          : e->undated_line == 0) ||
	    e->text_line == 0 || (length + 1 == sizeof text && !e->many))
		return false;
	n->dates += date ? times : 0;
	return true;
}

/* The same for a cell at p that is a decimal number and nothing else: what most cells of most tables are. Returns the delimiter or
 * newline after it, or NULL to leave the cell to is_routine. */
static inline const char *plain_routine(const kdri_csv_layout *l, const char *p, const char *end,
                                        const kdri_evidence *e, int times, tally *n)
{
	double value;
	const char *q = kdri_parse_decimal(p, end, '.', &value);
	if (!q || q[-1] > '9' || value - value != 0)
		return NULL;
	const char *stop = q + (*q == '\r' && q[1] == '\n');
	if ((*stop != l->delimiter && *stop != '\n') || e->running || (!e->named_ids && !e->unwatched) ||
	    (!e->repeats && !e->unwatched) || !e->unit || e->undated_line == 0)
		return NULL;
	const char *point = memchr(p, '.', (size_t)(q - p)), *at = p;
	if (!l->typed && point
	            ? q - point == 4 /* 1.234 could be a thousand: is_routine examines it */
	            : !l->typed && value != 0 && !(fabs(value) < 1000 ? e->bare_small : e->bare_large))
		return NULL;
	while (at < q && *at >= '0' && *at <= '9')
		at++;
	if (!is_known_writing(e, at == q, at == q && q - p > 1 && *p == '0') ||
	    (point && !l->typed && (e->decimals & KDRI_COMMA)) || (e->whole && value != floor(value)) ||
	    q - p > KDRI_TEXT_LONGEST || !is_known_text(e, p, (size_t)(q - p)))
		return NULL;
	n->numbers += times;
	return stop;
}

/* The cells of the row at p, `times` times: 1, or -1 to undo it. Returns the beginning of the next row; NULL: the row has an unusual
 * shape, with *full: or there is no more room for events. *taken: fields that were counted. */
static const char *survey_row(const kdri_csv_layout *l, const kdri_slice *s, const char *row,
                              const kdri_survey *known, int times, int64_t fields, survey_slice *out,
                              tally *n, int64_t *taken, bool *full)
{
	const bool plain = !l->na_numbers && strchr(",;\t| ", l->delimiter);
	const char *p = row, *stop = row;
	for (int64_t j = 0; j < fields; j++, p = stop + 1) {
		const kdri_evidence *e = &known->fields[j];
		const bool skipped = j == l->label || j == l->tasks;
		*taken = j;
		stop = plain && !skipped ? plain_routine(l, p, s->end, e, times, &n[j]) : NULL;
		if (!stop) {
			kdri_csv_cell cell = kdri_csv_cell_at(p, l->delimiter);
			stop = cell.stop;
			if (cell.torn)
				return NULL;
			const int64_t change = kdri_cell_recode(l, j, &cell);
			const bool first = change >= 0 && !l->changes->used[change],
			           routine = !first && (skipped || is_routine(l, &cell, e, times, &n[j])),
			           hashed = routine && !skipped && is_watched(e) &&
			                    !kdri_is_missing(cell.begin, cell.end, l->na);
			if ((!routine || hashed) && times > 0) {
				event found = { .row_at = (uint32_t)(row - s->begin),
					        .cell_at = (uint32_t)(p - s->begin),
					        .field = (uint32_t)j,
					        .row = (uint32_t)out->rows };
				if (hashed)
					replace_by_hash(&found, cell_hash(&cell));
				*taken = j + hashed; /* is_routine has counted it */
				*full = out->count == out->room;
				if (*full)
					return NULL;
				out->events[out->count++] = found;
			}
		}
		*taken = j + 1;
		if (*stop == '\n' && j + 1 < l->fields)
			return NULL;
	}
	if (times > 0 && *stop != '\n') { /* a delimiter at the end, perhaps */
		const kdri_csv_cell cell = kdri_csv_cell_at(stop + 1, l->delimiter);
		stop = cell.stop;
		if (*stop != '\n' || cell.quoted || cell.end > cell.begin)
			return NULL;
	}
	return stop + 1;
}

static void survey_slice_run(const kdri_csv_layout *l, const kdri_slice *s, const kdri_survey *known,
                             survey_slice *result, tally *n)
{
	const char *p = s->begin;
	survey_slice own = *result, *out = &own; /* neighbours in memory belong to other threads */
	out->not_utf8 = !kdri_utf8_valid(p, (size_t)(s->end - p));
	while (p < s->end) {
		const int64_t before = out->count;
		int64_t taken = 0;
		bool full = false;
		const char *q = p;
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (kdri_at_newline(q)) {
			p = q + (*q == '\r') + 1;
			continue;
		}
		const char *next = survey_row(l, s, p, known, 1, l->fields, out, n, &taken, &full);
		if (next) {
			out->rows++;
			p = next;
			continue;
		}
		int64_t ignored;
		(void)survey_row(l, s, p, known, -1, taken, out, n, &ignored, &full);
		out->count = before;
		if (full || before == out->room) {
			out->stopped = p;
			break;
		}
		out->events[out->count++] = (event){ .row_at = (uint32_t)(p - s->begin),
			                             .field = entire_row,
			                             .row = (uint32_t)out->rows };
		p = kdri_csv_row_end(p, s->end, l->delimiter);
	}
	*result = own;
}

/* Takes the rows from p to `end`, one after the other, until the survey has `most` rows; *line: lines before p. Returns in *stop the first
 * row that was not taken. */
static kdr_status take_rows(kdr_context *ctx, const kdri_csv_layout *l, const char *p, const char *end,
                            int64_t most, int64_t *line, kdri_survey *s, const char **stop)
{
	const char *next;
	for (; p < end && s->rows < most && (next = kdri_csv_row_end(p, end, l->delimiter)); p = next) {
		const char *q = p;
		while (kdri_is_blank(*q) && *q != l->delimiter)
			q++;
		if (!kdri_at_newline(q))
			KDRI_DO(table_survey_take_row(ctx, l, p, *line + 1, s));
		*line += kdri_count_byte(p, next, '\n');
	}
	*stop = p;
	return KDR_OK;
}

/* Takes the events of a slice; `line`: lines before it. */
static kdr_status survey_slice_take(kdr_context *ctx, const kdri_csv_layout *l, const kdri_slice *slice,
                                    const survey_slice *found, int64_t line, kdri_survey *s)
{
	const char *counted = slice->begin;
	int64_t before = s->rows; /* of the file before the slice, and of rows that were events */
	for (int64_t i = 0; i < found->count; i++) {
		const event *x = &found->events[i];
		if (x->field != entire_row && (x->field & hash_only)) {
			KDRI_DO(take_hash(ctx, (uint64_t)x->row_at << 32 | x->cell_at,
			                  &s->fields[x->field & ~hash_only]));
			continue;
		}
		const char *row = slice->begin + x->row_at;
		line += kdri_count_byte(counted, row, '\n');
		counted = row;
		s->rows = before + x->row;
		if (x->field == entire_row) {
			KDRI_DO(table_survey_take_row(ctx, l, row, line + 1, s));
			before = s->rows - x->row;
		} else {
			kdri_csv_cell cell = kdri_csv_cell_at(slice->begin + x->cell_at, l->delimiter);
			kdri_evidence *e = &s->fields[x->field];
			use_change(l, kdri_cell_recode(l, x->field, &cell));
			if (x->field == l->label || x->field == l->tasks)
				continue;
			KDRI_DO(take_cell(ctx, l, &cell, s->rows, line + 1, e));
			e->cells--; /* counted with the rows */
		}
	}
	s->rows = before + found->rows;
	s->not_utf8 |= found->not_utf8;
	if (found->stopped) {
		line += kdri_count_byte(counted, found->stopped, '\n');
		KDRI_DO(take_rows(ctx, l, found->stopped, slice->end, INT64_MAX, &line, s, &counted));
	}
	return KDR_OK;
}

/* Work on the slices of one window: each of `threads` takes the next one until none remains. */
typedef struct survey_team {
	const kdri_csv_layout *l;
	const kdri_slice *slices;
	survey_slice *found;
	const kdri_survey *known;
	atomic_int next;
} survey_team;

static void survey_work(survey_team *t, tally *n)
{
	for (int i = atomic_fetch_add(&t->next, 1); i < KDRI_SLICES; i = atomic_fetch_add(&t->next, 1))
		survey_slice_run(t->l, &t->slices[i], t->known, &t->found[i], n);
}

/* The complete rows of the window. */
static kdr_status take_window(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, int64_t first,
                              kdri_survey *s)
{
	kdr_status st = KDR_OK;
	kdri_slice slices[KDRI_SLICES];
	survey_slice found[KDRI_SLICES];
	event *events = NULL;
	tally *tallies = NULL;
	size_t whole;
	const int threads = ctx->threads;
	const int64_t stride = l->fields + 8; /* threads write to cache lines of their own */
	const char *p = w->data + w->begin, *stop;
	KDRI_TRY(take_rows(ctx, l, p, w->data + w->end, first, &w->line, s, &stop));
	s->not_utf8 |= !kdri_utf8_valid(p, (size_t)(stop - p));
	w->begin = (size_t)(stop - w->data);
	const int64_t lines = s->rows < first ? 0 : kdri_csv_cut(ctx, w, l->delimiter, slices, &whole);
	if (lines == 0)
		return st;
	const char *begin = w->data + w->begin;
	KDRI_TRY(KDRI_NEW(ctx, &events, (int64_t)(whole - w->begin) / BYTES_PER_EVENT + KDRI_SLICES));
	KDRI_TRY(KDRI_NEW0(ctx, &tallies, threads * stride));
	for (int i = 0; i < KDRI_SLICES; i++)
		found[i] = (survey_slice){
			.events = events + (slices[i].begin - begin) / BYTES_PER_EVENT + i,
			.room = (slices[i].end - slices[i].begin) / BYTES_PER_EVENT,
		};
	survey_team team = { .l = l, .slices = slices, .found = found, .known = s };
#pragma omp parallel for num_threads(threads) schedule(static, 1)
	for (int t = 0; t < threads; t++)
		survey_work(&team, tallies + t * stride);
	for (int i = 0; i < KDRI_SLICES; i++) {
		const int64_t rows = found[i].rows;
		KDRI_TRY(survey_slice_take(ctx, l, &slices[i], &found[i], w->line + slices[i].first, s));
		for (int64_t j = 0; j < l->fields; j++)
			s->fields[j].cells += j != l->label && j != l->tasks ? rows : 0;
	}
	for (int64_t t = 0; t < threads; t++)
		for (int64_t j = 0; j < l->fields; j++) {
			const tally *n = &tallies[t * stride + j];
			kdri_evidence *e = &s->fields[j];
			e->missing += n->missing;
			e->words += n->words;
			e->numbers += n->numbers;
			e->dates += n->dates;
			e->infinite += n->infinite;
		}
	w->line += lines;
	w->begin = whole;
done:
	KDRI_FREE(ctx, events, tallies);
	return st;
}

kdr_status kdri_survey_run(kdr_context *ctx, kdri_window *w, const kdri_csv_layout *l, int64_t first,
                           kdri_survey *out)
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
		KDRI_TRY(take_window(ctx, w, l, KDRI_MAX(first, 1), &s));
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
		kdri_names_free(ctx, &s->fields[j].word_texts);
		kdri_free(ctx, s->fields[j].seen);
	}
	kdri_free(ctx, s->fields);
	*s = (kdri_survey){ 0 };
}
