/* Known classes of a target, as a person gave them. SPDX-License-Identifier: BSD-3-Clause
 *
 * Either a file with one label per line, "?" for unknown, or tables that KDR_TABLE_ASK wrote, with the column `class` filled in where the
 * person could tell. Those begin with the columns row, id and class; a spreadsheet may have saved them with another delimiter. */
#include "io/table/csv.h"
#include "jobs/job.h"

#include <stdio.h>

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

/* The delimiter of a table whose first columns are row, id and class; '\0': this is none. */
static char table_delimiter(const char *line)
{
	static const char delimiters[] = ",;\t|";
	for (const char *d = delimiters; *d; d++) {
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
			delimiter = table_delimiter(row);
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

kdr_status kdri_answers_read(kdr_context *ctx, const char *const *paths, int64_t count,
                             const kdr_data *target, kdr_labels **out)
{
	kdr_status st;
	answers a = { .ctx = ctx, .target = target };
	KDRI_TRY(KDRI_NEW0(ctx, &a.classes, target->rows));
	for (int64_t i = 0; i < count; i++) {
		bool other = false;
		KDRI_TRY(take_file(&a, paths[i], &other));
		if (other && count == 1) {
			KDRI_TRY(kdr_read_labels(ctx, paths[i], out));
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
	kdri_strings_free(&ctx->allocator, a.classes, a.classes ? target->rows : 0);
	return st;
}
