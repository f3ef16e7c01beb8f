/* Known classes of samples, as a person gave them. SPDX-License-Identifier: BSD-3-Clause
 *
 * One of three kinds of files:
 * - one label per line, "?" for unknown;
 * - two columns, the ids of some samples and their classes, in any order. It is recognised by its two columns and by ids that occur in the
 *   data. A first line is a header if no sample has its id, which has no digit, and no other line its class;
 * - tables that KDR_TABLE_ASK wrote, with the column `class` filled in where the person could tell. Those begin with the columns row, id and
 *   class; a spreadsheet may have saved them with another delimiter. */
#include "io/table/csv.h"
#include "jobs/known.h"

#include <stdio.h>

void kdri_ids_free(kdr_context *ctx, kdri_ids *t)
{
	for (int64_t i = 0; t->tables && i < t->count; i++) {
		kdri_names_free(ctx, &t->tables[i].names);
		kdri_free(ctx, t->tables[i].row);
	}
	kdri_free(ctx, t->tables);
}

kdr_status kdri_ids_new(kdr_context *ctx, kdr_data *const *sets, int64_t count, kdri_ids *t)
{
	*t = (kdri_ids){ .sets = sets, .count = count };
	KDRI_DO(KDRI_NEW0(ctx, &t->tables, count));
	for (int64_t s = 0; s < count; s++) {
		kdri_id_table *table = &t->tables[s];
		table->names.borrows = true;
		if (!sets[s]->ids)
			continue;
		KDRI_DO(KDRI_NEW(ctx, &table->row, sets[s]->rows));
		for (int64_t i = 0; i < sets[s]->rows; i++) {
			int64_t at, before = table->names.count;
			KDRI_DO(kdri_names_add(ctx, &table->names, sets[s]->ids[i], strlen(sets[s]->ids[i]),
			                       &at));
			table->row[at] = at < before ? -1 : i;
		}
	}
	return KDR_OK;
}

int64_t kdri_ids_row(const kdri_ids *t, int64_t set, const char *id)
{
	int64_t value;
	const char *end = id + strlen(id);
	if (t->sets[set]->ids) {
		const int64_t at = kdri_names_find(&t->tables[set].names, id);
		return at < 0 ? -1 : t->tables[set].row[at] < 0 ? -2 : t->tables[set].row[at];
	}
	return kdri_parse_int(id, end, &value) == end && value >= 1 && value <= t->sets[set]->rows ? value - 1
	                                                                                           : -1;
}

kdr_status kdri_two_cells(kdr_context *ctx, const char *text, char delimiter, char *cells[2], bool *two)
{
	kdr_status st = KDR_OK;
	const size_t length = strlen(text);
	char *copy = NULL;
	KDRI_TRY(KDRI_NEW(ctx, &copy, (int64_t)length + 2));
	memcpy(copy, text, length + 1);
	copy[length] = '\n';
	copy[length + 1] = '\0';
	*two = false;
	if (!kdri_csv_row_end(copy, copy + length + 1, delimiter))
		goto done; /* a quotation mark is not closed */
	kdri_csv_cell cell = kdri_csv_cell_at(copy, delimiter);
	KDRI_TRY(kdri_csv_text(ctx, &cell, &cells[0]));
	const char *next = cell.stop;
	*two = *next != '\n' && *next;
	if (*two) {
		next = kdri_skip_blanks(next + 1);
		cell = kdri_csv_cell_at(next, delimiter);
		KDRI_TRY(kdri_csv_text(ctx, &cell, &cells[1]));
		*two = *cell.stop == '\n' && cells[0][0];
	}
done:
	kdri_free(ctx, copy);
	return st;
}

typedef struct answers {
	kdr_context *ctx;
	const kdr_data *target;
	char **classes; /* by sample; NULL: unknown */
	int64_t found;
} answers;

static bool is_cell(const kdri_csv_cell *cell, const char *text)
{
	char room[16];
	kdri_csv_copy(cell, room, sizeof room);
	return strcmp(room, text) == 0;
}

/* The delimiter of a table whose first columns are row, id and class; '\0': this is none. `stop`: behind the newline of the line. */
static char table_delimiter(const char *line, const char *stop)
{
	static const char delimiters[] = ",;\t|";
	for (const char *d = delimiters; *d; d++) {
		if (kdri_csv_row_end(line, stop, *d) != stop)
			continue; /* a quotation mark is not closed */
		kdri_csv_cell row = kdri_csv_cell_at(line, *d);
		if (!is_cell(&row, "row") || *row.stop != *d)
			continue;
		kdri_csv_cell id = kdri_csv_cell_at(row.stop + 1, *d);
		if (!is_cell(&id, "id") || *id.stop != *d)
			continue;
		kdri_csv_cell class = kdri_csv_cell_at(id.stop + 1, *d);
		if (is_cell(&class, "class"))
			return *d;
	}
	return '\0';
}

/* What kdri_csv_put_cell has put before a formula. */
static void drop_apostrophe(char *text)
{
	if (text[0] == '\'' && kdri_is_formula(text + 1))
		memmove(text, text + 1, strlen(text));
}

/* The class of one sample. */
static kdr_status take_answer(answers *a, const char *path, int64_t line, const char *text, char delimiter)
{
	kdr_status st = KDR_OK;
	kdr_context *ctx = a->ctx;
	kdri_csv_cell cell[3];
	char *id = NULL, *class = NULL;
	int64_t row = 0;
	for (int c = 0; c < 3; c++) {
		cell[c] = kdri_csv_cell_at(c == 0 ? text : cell[c - 1].stop + 1, delimiter);
		if (c < 2 && *cell[c].stop != delimiter)
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %lld has %d cell%s, expected row, id and class", path,
			                 (long long)line, c + 1, c ? "s" : "");
	}
	if (cell[2].begin == cell[2].end || is_cell(&cell[2], "?")) /* left open */
		return KDR_OK;
	if (kdri_parse_int(cell[0].begin, cell[0].end, &row) != cell[0].end || row < 1 ||
	    row > a->target->rows)
		return kdri_fail(ctx, KDR_ERR_DATA,
		                 "%s: line %lld: row '%.*s' is not one of the %lld samples of data set %s",
		                 path, (long long)line, (int)KDRI_MIN(cell[0].end - cell[0].begin, 40),
		                 cell[0].begin, (long long)a->target->rows, a->target->name);
	KDRI_TRY(kdri_csv_text(ctx, &cell[1], &id));
	KDRI_TRY(kdri_csv_text(ctx, &cell[2], &class));
	if (a->target->ids && strcmp(a->target->ids[row - 1], id) != 0)
		drop_apostrophe(id);
	drop_apostrophe(class);
	char **known = &a->classes[row - 1];
	if (a->target->ids && strcmp(a->target->ids[row - 1], id) != 0)
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: line %lld: row %lld has the id '%.80s', but in data set %s it is '%.80s': the file belongs to other data",
		        path, (long long)line, (long long)row, id, a->target->name, a->target->ids[row - 1]);
	else if (*known && strcmp(*known, class) != 0)
		st = kdri_fail(ctx, KDR_ERR_DATA,
		               "%s: line %lld: row %lld has two classes, '%.80s' and '%.80s'", path,
		               (long long)line, (long long)row, *known, class);
	else if (!*known) {
		*known = class;
		class = NULL;
		a->found++;
	}
done:
	KDRI_FREE(ctx, id, class);
	return st;
}

/* *other: the file is no such table, and nothing was taken. */
static kdr_status take_file(answers *a, const char *path, bool *other)
{
	kdr_status st;
	kdri_input *in = NULL;
	kdri_window w = { 0 };
	char delimiter = '\0';
	int64_t line = 0;
	KDRI_TRY(kdri_input_open(a->ctx, path, &in));
	KDRI_TRY(kdri_window_open(a->ctx, in, &w));
	KDRI_TRY(kdri_window_fill(a->ctx, &w));
	kdri_csv_skip_start(&w);
	for (;;) {
		const char *row = w.data + w.begin, *end = w.data + w.end;
		const char *stop = row < end ? kdri_csv_row_end(row, end, delimiter ? delimiter : ',') : NULL;
		if (!stop && w.last)
			break;
		if (!stop) {
			KDRI_TRY(kdri_window_fill(a->ctx, &w));
			continue;
		}
		line++;
		if (!delimiter) {
			delimiter = table_delimiter(row, stop);
			*other = !delimiter;
			if (*other)
				break;
		} else if (!kdri_at_newline(kdri_skip_blanks(row)) || *row == delimiter) {
			KDRI_TRY(take_answer(a, path, line, row, delimiter));
		}
		w.begin = (size_t)(stop - w.data);
	}
done:
	kdri_window_close(a->ctx, &w);
	kdri_input_close(a->ctx, in);
	return st;
}

/* --- ids and classes -------------------------------------------------------------------------------------- */

typedef struct pairs {
	int64_t n;        /* lines */
	char *(*cell)[2]; /* n: id and class */
	kdri_ids ids;
	int64_t target;
	int64_t strange;   /* ids that no sample has */
	char names[3][64]; /* the first of them */
} pairs;

static void pairs_free(kdr_context *ctx, pairs *p)
{
	for (int64_t i = 0; p->cell && i < p->n; i++)
		KDRI_FREE(ctx, p->cell[i][0], p->cell[i][1]);
	kdri_free(ctx, p->cell);
	kdri_ids_free(ctx, &p->ids);
}

/* Splits all lines at the first delimiter that gives two cells each; *two: there is one. */
static kdr_status split_pairs(kdr_context *ctx, const kdr_labels *lines, pairs *p, bool *two)
{
	KDRI_DO(KDRI_NEW0(ctx, &p->cell, lines->n));
	p->n = lines->n;
	*two = false;
	for (const char *d = ",;\t|"; *d && !*two; d++) {
		*two = true;
		for (int64_t i = 0; i < p->n && *two; i++) {
			KDRI_FREE(ctx, p->cell[i][0], p->cell[i][1]);
			p->cell[i][0] = p->cell[i][1] = NULL;
			KDRI_DO(kdri_two_cells(ctx, lines->names[lines->values[i]], *d, p->cell[i], two));
		}
	}
	return KDR_OK;
}

/* The row of an id in the target; -1: another data set has it, or it was skipped when its file was read; -2: several; -3: none has it. */
static int64_t pair_row(const pairs *p, char *id)
{
	int64_t row = -1;
	for (int turn = 0; turn < 2; turn++) {
		for (int64_t s = 0; s < p->ids.count; s++) {
			const kdr_data *set = p->ids.sets[s];
			const int64_t at = kdri_ids_row(&p->ids, s, id);
			if (at != -1)
				return s == p->target ? at : -1;
			for (int64_t i = 0; i < set->nleft_out; i++)
				if (strcmp(set->left_out[i].id, id) == 0)
					return row;
		}
		drop_apostrophe(id);
	}
	return -3;
}

static bool is_header(const pairs *p)
{
	if (strpbrk(p->cell[0][0], "0123456789"))
		return false;
	for (int64_t i = 1; i < p->n; i++)
		if (strcmp(p->cell[i][1], p->cell[0][1]) == 0)
			return false;
	return true;
}

static kdr_status pairs_strange(kdr_context *ctx, const char *path, const pairs *p)
{
	char more[48] = "";
	const char *const *ids = (const char *const *)p->ids.sets[p->target]->ids;
	if (p->strange > 3)
		snprintf(more, sizeof more, " and %lld more", (long long)p->strange - 3);
	return kdri_fail(ctx, KDR_ERR_DATA, "%s: no sample has the id%s '%s'%s%s%s%s%s%s%s; %s%.60s%s", path,
	                 p->strange == 1 ? "" : "s", p->names[0], p->strange > 1 ? ", '" : "",
	                 p->strange > 1 ? p->names[1] : "", p->strange > 1 ? "'" : "",
	                 p->strange > 2 ? ", '" : "", p->strange > 2 ? p->names[2] : "",
	                 p->strange > 2 ? "'" : "", more,
	                 ids ? "the data have ids such as '" : "samples without ids are numbered from 1",
	                 ids ? ids[0] : "", ids ? "'" : "");
}

/* The class of a sample. */
static kdr_status take_pair(answers *a, const char *path, int64_t row, char *pair[2])
{
	char **known = &a->classes[row];
	drop_apostrophe(pair[1]);
	if (!pair[1][0] || strcmp(pair[1], "?") == 0) /* left open */
		return KDR_OK;
	if (*known && strcmp(*known, pair[1]) != 0)
		return kdri_fail(a->ctx, KDR_ERR_DATA,
		                 "%s: the sample '%.80s' has two classes, '%.80s' and '%.80s'", path, pair[0],
		                 *known, pair[1]);
	if (!*known) {
		*known = pair[1];
		pair[1] = NULL;
		a->found++;
	}
	return KDR_OK;
}

/* *other: the file has no ids and classes, and nothing was taken. */
static kdr_status take_pairs(answers *a, const char *path, const kdr_labels *lines, pairs *p, bool *other)
{
	bool two;
	int64_t found = 0, *row = NULL, file_rows;
	kdr_status st;
	KDRI_TRY(split_pairs(a->ctx, lines, p, &two));
	*other = !two;
	if (!two)
		goto done;
	KDRI_TRY(KDRI_NEW(a->ctx, &row, p->n));
	for (int64_t i = 0; i < p->n; i++) {
		row[i] = pair_row(p, p->cell[i][0]);
		found += row[i] > -3;
		if (row[i] == -2)
			KDRI_FAIL(a->ctx, KDR_ERR_DATA,
			          "%s: several samples have the id '%.80s', so that their class is unclear",
			          path, p->cell[i][0]);
		if (row[i] == -3 && !(i == 0 && is_header(p)) && p->strange++ < 3)
			snprintf(p->names[p->strange - 1], sizeof p->names[0], "%.60s", p->cell[i][0]);
	}
	(void)kdr_data_origin(a->target, &file_rows);
	*other = found == 0 && (p->n == a->target->rows || p->n == file_rows);
	if (!*other && p->strange > 0)
		KDRI_TRY(pairs_strange(a->ctx, path, p));
	for (int64_t i = 0; i < p->n && !*other; i++)
		if (row[i] >= 0)
			KDRI_TRY(take_pair(a, path, row[i], p->cell[i]));
done:
	kdri_free(a->ctx, row);
	return st;
}

/* As if there were a file with one label per line. */
static kdr_status to_labels(const answers *a, const char *name, kdr_labels **out)
{
	kdr_status st;
	size_t size = 0;
	char *text = NULL, *p;
	kdri_input *in = NULL;
	for (int64_t i = 0; i < a->target->rows; i++)
		size += (a->classes[i] ? strlen(a->classes[i]) : 1) + 1;
	KDRI_TRY(KDRI_NEW(a->ctx, &text, (int64_t)size + 1));
	p = text;
	for (int64_t i = 0; i < a->target->rows; i++)
		p += sprintf(p, "%s\n", a->classes[i] ? a->classes[i] : "?");
	KDRI_TRY(kdri_input_from_memory(a->ctx, text, size, name, &in));
	KDRI_TRY(kdri_labels_read(a->ctx, in, out));
done:
	kdri_input_close(a->ctx, in);
	kdri_free(a->ctx, text);
	return st;
}

/* A file that is no table of KDR_TABLE_ASK. */
static kdr_status read_plain(answers *a, const char *path, kdr_data *const *sets, int64_t count,
                             int64_t target, kdr_labels **out)
{
	kdr_status st;
	kdr_labels *lines = NULL;
	pairs p = { .target = target };
	bool other = false;
	KDRI_TRY(kdr_read_labels(a->ctx, path, &lines));
	KDRI_TRY(kdri_ids_new(a->ctx, sets, count, &p.ids));
	KDRI_TRY(take_pairs(a, path, lines, &p, &other));
	for (int64_t s = 0; other && s < count && count > 1; s++)
		if (!sets[s]->origin)
			KDRI_FAIL(
			        a->ctx, KDR_ERR_DATA,
			        "%s: one file of known classes for %lld data sets; give one file for each, or a CSV file with id and class",
			        path, (long long)count);
	if (other) {
		*out = lines;
		lines = NULL;
	} else {
		KDRI_TRY(to_labels(a, path, out));
	}
done:
	pairs_free(a->ctx, &p);
	kdr_labels_free(lines);
	return st;
}

kdr_status kdri_answers_read(kdr_context *ctx, const char *const *paths, int64_t npaths,
                             kdr_data *const *sets, int64_t count, int64_t target, kdr_labels **out)
{
	kdr_status st;
	answers a = { .ctx = ctx, .target = sets[target] };
	KDRI_TRY(KDRI_NEW0(ctx, &a.classes, a.target->rows));
	for (int64_t i = 0; i < npaths; i++) {
		bool other = false;
		KDRI_TRY(take_file(&a, paths[i], &other));
		if (other && npaths == 1) {
			KDRI_TRY(read_plain(&a, paths[i], sets, count, target, out));
			goto done;
		}
		if (other)
			KDRI_FAIL(
			        ctx, KDR_ERR_FORMAT,
			        "%s: does not begin with the columns row, id and class: of several files of known classes, all must be like those that --ask writes",
			        paths[i]);
	}
	if (a.found == 0)
		st = kdri_fail(
		        ctx, KDR_ERR_DATA,
		        "%s: no class is filled in: write the class of each sample into column 'class'",
		        paths[0]);
	else
		KDRI_TRY(to_labels(&a, paths[0], out));
done:
	kdri_strings_free(&ctx->allocator, a.classes, a.classes ? a.target->rows : 0);
	return st;
}
