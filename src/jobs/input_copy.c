/* The tables that data sets were read from, with their results as further columns. SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sets are those of a result or of a result.json, which has how each table was read. Those of one file get into one copy of it:
 * data sets that the file was split into, and sheets of a workbook. */
#include "jobs/input_copy.h"

#include "core/system.h"
#include "io/binary.h"
#include "io/table/csv.h"
#include "io/text.h"
#include "io/workbook/xlsx_book.h"

#include <stdio.h>

/* What can be added to a table; WRITE_NEW only if the result has it. */
enum { WRITE_LABEL, WRITE_NAME, WRITE_CONFIDENCE, WRITE_SECOND, WRITE_NEW, WRITE_ALL };
static const char *const write_names[] = { "label", "name", "confidence", "second", "may_be_new" };

/* "label,name": which columns are wanted, in order. */
static kdr_status parse_columns(kdr_context *ctx, const char *list, int wanted[WRITE_ALL], int *count)
{
	*count = 0;
	for (const char *p = list; *p;) {
		const size_t n = strcspn(p, ",");
		int c = 0;
		while (c < WRITE_ALL && (strlen(write_names[c]) != n || strncmp(p, write_names[c], n) != 0))
			c++;
		bool twice = false;
		for (int i = 0; i < *count; i++)
			twice = twice || wanted[i] == c;
		if (c == WRITE_ALL || twice)
			return kdri_fail(
			        ctx, KDR_ERR_OPTION,
			        "columns to write: '%.*s' %s; use a list of label, name, confidence, second and may_be_new",
			        (int)KDRI_MIN(n, 60), p, twice ? "occurs twice" : "is not valid");
		wanted[(*count)++] = c;
		p += n + (p[n] == ',');
	}
	return *count > 0 ? KDR_OK : kdri_fail(ctx, KDR_ERR_OPTION, "columns to write: the list is empty");
}

kdr_status kdri_copied_check(kdr_context *ctx, const char *columns)
{
	int wanted[WRITE_ALL], count;
	return columns ? parse_columns(ctx, columns, wanted, &count) : KDR_OK;
}

/* Whether a data set has something for a column. */
static bool has_column(const kdri_copied *s, bool classes, int column)
{
	switch (column) {
	case WRITE_NAME:
		for (int64_t c = 0; s->name && c < s->k && !classes; c++)
			if (s->name[c])
				return true;
		return false;
	case WRITE_CONFIDENCE: return s->confidence;
	case WRITE_SECOND: return s->second;
	case WRITE_NEW: return s->fresh;
	default: return true;
	}
}

/* --- data sets of one file --------------------------------------------------------------------------------- */

/* The length of a table's path without the sheet of a workbook. */
static size_t file_length(const kdri_copied *s)
{
	const char *dot = s->dialect.workbook ? strstr(s->table, ".xls") : NULL;
	while (dot && (dot[4] == '\0' || (dot[5] != ':' && dot[5] != '\0')))
		dot = strstr(dot + 1, ".xls");
	return dot ? (size_t)(dot + 5 - s->table) : strlen(s->table);
}

static bool same_file(const kdri_copied *a, const kdri_copied *b)
{
	const size_t n = a->table && b->table ? file_length(a) : 0;
	return n > 0 && file_length(b) == n && memcmp(a->table, b->table, n) == 0;
}

static bool same_table(const kdri_copied *a, const kdri_copied *b)
{
	return a->table && b->table && strcmp(a->table, b->table) == 0;
}

/* The first data set that was read from the table of data set `at`. */
static int64_t first_of(const kdri_copied *sets, int64_t at)
{
	int64_t first = 0;
	while (first < at && !same_table(&sets[first], &sets[at]))
		first++;
	return first;
}

/* A label as text. */
static const char *label_text(const kdri_copied *s, int64_t label)
{
	return label < 0 || label >= s->k ? NULL : s->label[label];
}

/* The cells of a data set. Texts of confidences go to `sure`, which has room for each row of the file. */
static void fill_cells(const kdri_copied *s, const int *wanted, int count, bool classes, char (*sure)[16],
                       int64_t rows, const char **cells)
{
	for (int64_t i = 0; i < s->n; i++) {
		const int64_t row = s->origin[i], label = s->labels[i];
		if (row >= rows)
			continue;
		if (s->confidence && isfinite(s->confidence[i]))
			kdri_snprintf(sure[row], sizeof sure[row], "%.3f", s->confidence[i]);
		for (int c = 0; c < count; c++) {
			const char *text = NULL;
			switch (wanted[c]) {
			case WRITE_LABEL: text = label_text(s, label); break;
			case WRITE_NAME:
				text = s->name && !classes && label >= 0 && label < s->k ? s->name[label]
				                                                         : NULL;
				break;
			case WRITE_CONFIDENCE: text = sure[row][0] ? sure[row] : NULL; break;
			case WRITE_SECOND: text = s->second ? label_text(s, s->second[i]) : NULL; break;
			default:
				text = s->fresh && s->fresh[i] >= 0 ? (s->fresh[i] ? "1" : "0") : NULL;
				break;
			}
			cells[row * count + c] = text;
		}
	}
}

/* A table with the cells of its data sets. */
typedef struct filled {
	kdri_added added;
	const char **cells;
	char (*sure)[16];
} filled;

static kdr_status fill_table(kdr_context *ctx, const kdri_copied *sets, int64_t count, int64_t at,
                             const int *wanted, int columns, bool classes, filled *out)
{
	const kdri_copied *own = &sets[at];
	KDRI_DO(KDRI_NEW0(ctx, &out->cells, own->file_rows * columns));
	KDRI_DO(KDRI_NEW0(ctx, &out->sure, own->file_rows));
	for (int64_t t = 0; t < count; t++)
		if (same_table(own, &sets[t]))
			fill_cells(&sets[t], wanted, columns, classes, out->sure, own->file_rows, out->cells);
	out->added = (kdri_added){ own->table, &own->dialect, out->cells, own->file_rows };
	return KDR_OK;
}

kdr_status kdri_copied_write(kdr_context *ctx, const kdri_copied *sets, int64_t count, int64_t at,
                             bool classes, const char *columns, const char *path, bool force)
{
	kdr_status st;
	const char *titles[WRITE_ALL];
	char own[WRITE_ALL][32];
	int wanted[WRITE_ALL], n = 0;
	int64_t ntables = 0;
	filled *tables = NULL;
	kdri_added *list = NULL;
	if (columns)
		KDRI_DO(parse_columns(ctx, columns, wanted, &n));
	for (int c = 0; c < WRITE_ALL && !columns; c++) {
		bool any = false;
		for (int64_t t = 0; t < count; t++)
			any = any || (same_file(&sets[at], &sets[t]) && has_column(&sets[t], classes, c));
		if (any)
			wanted[n++] = c;
	}
	for (int c = 0; c < n; c++) {
		const char *base = classes ? "class" : "cluster";
		snprintf(own[c], sizeof own[c], "%s_%s", base, write_names[wanted[c]]);
		titles[c] = wanted[c] == WRITE_LABEL ? base : wanted[c] == WRITE_NEW ? "may_be_new" : own[c];
	}
	KDRI_TRY(KDRI_NEW0(ctx, &tables, count));
	KDRI_TRY(KDRI_NEW0(ctx, &list, count));
	for (int64_t t = 0; t < count; t++)
		if (same_file(&sets[at], &sets[t]) && first_of(sets, t) == t) {
			KDRI_TRY(fill_table(ctx, sets, count, t, wanted, n, classes, &tables[ntables]));
			list[ntables] = tables[ntables].added;
			ntables++;
		}
	KDRI_TRY(sets[at].dialect.workbook
	                 ? kdri_xlsx_append_columns(ctx, list, ntables, titles, n, path, force)
	                 : kdri_csv_append_columns(ctx, &list[0], titles, n, path, force));
done:
	for (int64_t t = 0; tables && t < count; t++)
		KDRI_FREE(ctx, tables[t].cells, tables[t].sure);
	KDRI_FREE(ctx, tables, list);
	return st;
}

/* --- all files --------------------------------------------------------------------------------------------- */

/* Where the ending of a file name begins: ".csv.gz" counts as one. */
static size_t ending_at(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	if (dot > name && strcmp(dot, ".gz") == 0)
		for (const char *p = dot - 1; p > name; p--)
			if (*p == '.')
				return (size_t)(p - path);
	return dot > name ? (size_t)(dot - path) : strlen(path);
}

/* The file of a data set without its folder and ending, or the data set's name if it is the only one of the file. */
static const char *name_of(const kdri_copied *sets, const char *const *names, int64_t count, int64_t t,
                           size_t *length)
{
	int64_t parts = 0;
	for (int64_t o = 0; o < count; o++)
		parts += same_file(&sets[o], &sets[t]);
	const char *name = names[t], *at = sets[t].table;
	*length = strlen(name);
	if (parts < 2)
		return name;
	for (const char *p = name = at; p < at + file_length(&sets[t]); p++)
		name = kdri_is_separator(*p) ? p + 1 : name;
	*length = name[0] ? 1 + strcspn(name + 1, ".") : 0;
	return name;
}

/* Whether another file would have this name; both are then named after their first data sets. */
static bool is_taken(const kdri_copied *sets, const char *const *names, int64_t count, int64_t t,
                     const char *name, size_t length)
{
	bool taken = false;
	for (int64_t o = 0; o < count; o++) {
		size_t n = 0;
		if (!sets[o].table || same_file(&sets[o], &sets[t]))
			continue;
		const char *other = name_of(sets, names, count, o, &n);
		taken = taken || (n == length && memcmp(name, other, n) == 0);
	}
	return taken;
}

static kdr_status check_path(kdr_context *ctx, const kdri_copied *s, const char *path)
{
	const bool workbook = kdri_ends_with(path, ".xlsx") || kdri_ends_with(path, ".xlsm");
	if (workbook == s->dialect.workbook)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_OPTION, "%s: %s", path,
	        workbook ? "the input is a text table; use a name that ends in .csv, .tsv, .tab or .txt"
	                 : "the input is an Excel file; use a name that ends in .xlsx");
}

kdr_status kdri_copied_write_all(kdr_context *ctx, const char *result, const kdri_copied *sets,
                                 const char *const *names, int64_t count, bool classes, const char *columns,
                                 const char *path, bool write, bool force)
{
	char file[8192];
	int64_t files = 0;
	for (int pass = 0; pass < 2; pass++) { /* counts the files, then writes them */
		const int64_t all = files;
		files = 0;
		for (int64_t t = 0; t < count; t++) {
			bool first = sets[t].table;
			for (int64_t o = 0; o < t && first; o++)
				first = !same_file(&sets[o], &sets[t]);
			if (!first)
				continue;
			files++;
			if (pass == 0)
				continue;
			size_t end = ending_at(path), length = 0;
			const char *name = all > 1 ? name_of(sets, names, count, t, &length) : "";
			if (all > 1 && is_taken(sets, names, count, t, name, length)) {
				name = names[t];
				length = strlen(name);
			}
			snprintf(file, sizeof file, "%.*s%s%.*s%s", (int)end, path, all > 1 ? "-" : "",
			         (int)length, name, path + end);
			KDRI_DO(check_path(ctx, &sets[t], file));
			KDRI_DO(write ? kdri_copied_write(ctx, sets, count, t, classes, columns, file, force)
			              : kdr_write_check(ctx, file, force));
		}
	}
	if (files == 0)
		return kdri_fail(
		        ctx, KDR_ERR_ARGUMENT,
		        "%s: no data set was read from a CSV, TSV or Excel file by this version of kindred",
		        result);
	return KDR_OK;
}

/* --- result.json ------------------------------------------------------------------------------------------- */

static const char *const encodings[] = { [KDRI_UTF8] = "utf-8",
	                                 [KDRI_LATIN1] = "latin-1",
	                                 [KDRI_UTF16LE] = "utf-16le",
	                                 [KDRI_UTF16BE] = "utf-16be" };
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

void kdri_json_table(kdri_json *j, const char *path, const kdri_copied *table, bool samples)
{
	const kdri_dialect *d = &table->dialect;
	const char delimiter[] = { d->delimiter, '\0' };
	bool all = true; /* each sample has the row of its number */
	kdri_json_object(j, "table");
	if (strcmp(path, table->table) != 0)
		kdri_json_string(j, "path", table->table);
	kdri_json_string(j, "format", d->workbook ? "xlsx" : "csv");
	kdri_json_bool(j, "header", d->header);
	if (!d->workbook) {
		kdri_json_string(j, "delimiter", delimiter);
		kdri_json_string(j, "encoding", encodings[d->encoding]);
		kdri_json_bool(j, "cr", d->returns);
		kdri_json_int(j, "columns", d->fields);
	}
	kdri_json_int(j, "rows", table->file_rows);
	for (int64_t i = 0; i < table->n; i++)
		all = all && table->origin[i] == i;
	if (samples && !all) {
		kdri_json_array(j, "row_of_sample");
		for (int64_t i = 0; i < table->n; i++)
			kdri_json_int(j, NULL, table->origin[i] + 1);
		kdri_json_end_array(j);
	}
	kdri_json_end_object(j);
}

kdr_status kdri_copied_numbers(kdr_context *ctx, int64_t k, char (**texts)[24], const char ***label)
{
	KDRI_DO(KDRI_NEW(ctx, texts, k));
	KDRI_DO(KDRI_NEW(ctx, label, k));
	for (int64_t c = 0; c < k; c++) {
		kdri_snprintf((*texts)[c], sizeof(*texts)[c], "%lld", (long long)c);
		(*label)[c] = (*texts)[c];
	}
	return KDR_OK;
}

kdr_status kdri_copied_integers(kdr_context *ctx, const kdri_json_value *list, int64_t n, int64_t **out)
{
	if (!kdri_json_is(list, KDRI_JSON_ARRAY))
		return KDR_OK;
	KDRI_DO(KDRI_NEW(ctx, out, n));
	for (int64_t i = 0; i < n; i++)
		(*out)[i] = kdri_json_integer(kdri_json_at(list, i), -1);
	return KDR_OK;
}

/* The text of a field; NULL if it has NULs. */
static const char *text_at(const kdri_json_value *object, const char *key)
{
	size_t length = 0;
	const char *text = kdri_json_text(kdri_json_get(object, key), &length);
	return text && strlen(text) == length ? text : NULL;
}

kdr_status kdri_copied_table(kdr_context *ctx, const char *result, const kdri_json_value *task, int64_t n,
                             kdri_copied *to, int64_t **origin)
{
	const kdri_json_value *table = kdri_json_get(task, "table"),
	                      *rows = kdri_json_get(table, "row_of_sample");
	const char *own = text_at(table, "path"), *path = own ? own : text_at(task, "path"),
	           *format = text_at(table, "format"), *delimiter = text_at(table, "delimiter"),
	           *encoding = text_at(table, "encoding");
	if (!table)
		return KDR_OK;
	to->file_rows = kdri_json_integer(kdri_json_get(table, "rows"), -1);
	to->dialect = (kdri_dialect){
		.workbook = format && strcmp(format, "xlsx") == 0,
		.header = kdri_json_is(kdri_json_get(table, "header"), KDRI_JSON_TRUE),
		.returns = kdri_json_is(kdri_json_get(table, "cr"), KDRI_JSON_TRUE),
		.fields = kdri_json_integer(kdri_json_get(table, "columns"), 0),
	};
	bool sound = path && format && to->file_rows >= n && to->file_rows < (int64_t)1 << 40 &&
	             (!rows || kdri_json_count(rows) == n);
	if (sound && !to->dialect.workbook) {
		int e = 0;
		while (encoding && e < ENCODINGS && strcmp(encoding, encodings[e]) != 0)
			e++;
		sound = encoding && e < ENCODINGS && delimiter && delimiter[0] && !delimiter[1];
		to->dialect.encoding = e;
		to->dialect.delimiter = sound ? delimiter[0] : '\0';
	}
	if (sound)
		KDRI_DO(KDRI_NEW(ctx, origin, n));
	for (int64_t i = 0; i < n && sound; i++) {
		(*origin)[i] = rows ? kdri_json_integer(kdri_json_at(rows, i), 0) - 1 : i;
		sound = (*origin)[i] >= 0 && (*origin)[i] < to->file_rows;
	}
	if (!sound)
		return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: line %lld: 'table' does not describe a table",
		                 result, (long long)kdri_json_line(table));
	to->table = path;
	to->origin = *origin;
	to->n = n;
	return KDR_OK;
}
