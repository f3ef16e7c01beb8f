/* Copies of the files that data sets were read from: which there are, and tables with the results as further columns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Data sets are those of a result or of a result.json, which has how each table was read. Those of one file get into one copy of it:
 * data sets that the file was split into, and sheets of a workbook. If data sets have rows in common, as those of a file that is given
 * twice under two names, each gets a copy of its own. */
#include "jobs/write/input_copy.h"

#include "core/system.h"
#include "io/binary.h"
#include "io/table/csv.h"
#include "io/text.h"
#include "io/workbook/xlsx_book.h"

#include <stdio.h>

/* What can be added to a table. */
enum { WRITE_LABEL, WRITE_NAME, WRITE_CONFIDENCE, WRITE_SECOND, WRITE_ALL };
static const char *const write_names[] = { "label", "name", "confidence", "second" };

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
			        "columns to write: '%.*s' %s; use a list of label, name, confidence and second",
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
	default: return true;
	}
}

/* --- data sets of one file --------------------------------------------------------------------------------- */

/* The length of a table's path without the sheet of a workbook. */
static size_t file_length(const kdri_copied *s)
{
	const char *sheet = s->dialect.workbook ? kdri_path_sheet(s->table) : NULL;
	return sheet ? (size_t)(sheet - 1 - s->table) : strlen(s->table);
}

static bool same_file(const kdri_copied *a, const kdri_copied *b)
{
	const size_t n = a->table && b->table ? file_length(a) : 0;
	return n > 0 && file_length(b) == n && memcmp(a->table, b->table, n) == 0;
}

/* The first data set that was read from the table of data set `at`. */
static int64_t first_of(const kdri_copied *sets, int64_t at)
{
	int64_t first = 0;
	while (!sets[first].table || strcmp(sets[first].table, sets[at].table) != 0)
		first++;
	return first;
}

/* Which copy of its file each data set gets into: copy[t] is its first data set, -1 without a file. at >= 0: only those of the file of
 * this data set. */
static kdr_status find_copies(kdr_context *ctx, const kdri_copied *sets, int64_t count, int64_t at,
                              int64_t *copy)
{
	kdr_status st;
	int64_t **used = NULL,
	        *turn = NULL; /* how many copies have each row of a table; which of its file's it is */
	KDRI_TRY(kdri_calloc(ctx, &used, count, sizeof *used));
	KDRI_TRY(KDRI_NEW0(ctx, &turn, count));
	for (int64_t t = 0; t < count; t++) {
		const kdri_copied *s = &sets[t];
		copy[t] = -1;
		if (!s->table || !s->table[0] || (at >= 0 && !same_file(s, &sets[at])))
			continue;
		const int64_t first = first_of(sets, t), rows = sets[first].file_rows;
		if (first == t)
			KDRI_TRY(KDRI_NEW0(ctx, &used[t], rows));
		for (int64_t i = 0; i < s->n; i++)
			if (s->origin[i] < rows)
				turn[t] = KDRI_MAX(turn[t], used[first][s->origin[i]]);
		for (int64_t i = 0; i < s->n; i++)
			if (s->origin[i] < rows)
				used[first][s->origin[i]] = turn[t] + 1;
		for (copy[t] = 0; !same_file(&sets[copy[t]], s) || turn[copy[t]] != turn[t];)
			copy[t]++;
	}
done:
	for (int64_t t = 0; used && t < count; t++)
		kdri_free(ctx, used[t]);
	KDRI_FREE(ctx, used, turn);
	return st;
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
			default: text = s->second ? label_text(s, s->second[i]) : NULL; break;
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

/* The table of data set `at` with the cells of all that are in the same copy. */
static kdr_status fill_table(kdr_context *ctx, const kdri_copied *sets, const int64_t *copy, int64_t count,
                             int64_t at, const int *wanted, int columns, bool classes, filled *out)
{
	const kdri_copied *own = &sets[at];
	KDRI_DO(KDRI_NEW0(ctx, &out->cells, own->file_rows * columns));
	KDRI_DO(KDRI_NEW0(ctx, &out->sure, own->file_rows));
	for (int64_t t = 0; t < count; t++)
		if (copy[t] == copy[at] && strcmp(own->table, sets[t].table) == 0)
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
	int64_t ntables = 0, *copy = NULL;
	filled *tables = NULL;
	kdri_added *list = NULL;
	if (columns)
		KDRI_DO(parse_columns(ctx, columns, wanted, &n));
	KDRI_TRY(KDRI_NEW(ctx, &copy, count));
	KDRI_TRY(find_copies(ctx, sets, count, at, copy));
	for (int c = 0; c < WRITE_ALL && !columns; c++) {
		bool any = false;
		for (int64_t t = 0; t < count; t++)
			any = any || (copy[t] == copy[at] && has_column(&sets[t], classes, c));
		if (any)
			wanted[n++] = c;
	}
	for (int c = 0; c < n; c++) {
		const char *base = classes ? "class" : "cluster";
		snprintf(own[c], sizeof own[c], "%s_%s", base, write_names[wanted[c]]);
		titles[c] = wanted[c] == WRITE_LABEL ? base : own[c];
	}
	KDRI_TRY(KDRI_NEW0(ctx, &tables, count));
	KDRI_TRY(KDRI_NEW0(ctx, &list, count));
	for (int64_t t = 0; t < count; t++) {
		bool first = copy[t] == copy[at];
		for (int64_t o = copy[at]; first && o < t; o++)
			first = copy[o] != copy[at] || strcmp(sets[o].table, sets[t].table) != 0;
		if (!first)
			continue;
		KDRI_TRY(fill_table(ctx, sets, copy, count, t, wanted, n, classes, &tables[ntables]));
		list[ntables] = tables[ntables].added;
		ntables++;
	}
	KDRI_TRY(sets[at].dialect.workbook
	                 ? kdri_xlsx_append_columns(ctx, list, ntables, titles, n, path, force)
	                 : kdri_csv_append_columns(ctx, &list[0], titles, n, path, force));
done:
	for (int64_t t = 0; tables && t < count; t++)
		KDRI_FREE(ctx, tables[t].cells, tables[t].sure);
	KDRI_FREE(ctx, tables, list, copy);
	return st;
}

/* --- all files --------------------------------------------------------------------------------------------- */

/* Where the ending of a file name begins: ".csv.gz" counts as one. */
static size_t ending_at(const char *path)
{
	const char *name = path + kdri_folder_length(path), *dot = strrchr(name, '.');
	if (dot > name && strcmp(dot, ".gz") == 0)
		for (const char *p = dot - 1; p > name; p--)
			if (*p == '.')
				return (size_t)(p - path);
	return dot > name ? (size_t)(dot - path) : strlen(path);
}

/* The file of a data set without its folder, ending, and what is inside it. */
static const char *stem_of(const kdri_copied *s, int *length)
{
	const char *inside = strstr(s->table, ".h5ad:"), *name = s->table;
	const char *end = inside ? inside : s->table + file_length(s);
	for (const char *p = s->table; p < end; p++)
		name = kdri_is_separator(*p) ? p + 1 : name;
	const char *dot = name < end ? memchr(name + 1, '.', (size_t)(end - name - 1)) : NULL;
	*length = (int)((dot ? dot : end) - name);
	return name;
}

/* Tables keep their format. */
static kdr_status check_path(kdr_context *ctx, const kdri_copied *s, const char *path)
{
	static const char *const texts[] = { ".csv", ".tsv", ".tab", ".txt", NULL };
	const bool workbook = kdri_ends_with(path, ".xlsx") || kdri_ends_with(path, ".xlsm");
	char ending[16];
	snprintf(ending, sizeof ending, "%s", path + ending_at(path));
	if (kdri_ends_with(ending, ".gz"))
		ending[strlen(ending) - 3] = '\0';
	if (s->dialect.workbook ? workbook : !s->dialect.delimiter || kdri_word_index(texts, ending) >= 0)
		return KDR_OK;
	return kdri_fail(
	        ctx, KDR_ERR_OPTION, "%s: %s", path,
	        s->dialect.workbook
	                ? "the input is an Excel file; use a name that ends in .xlsx"
	                : "the input is a text table; use a name that ends in .csv, .tsv, .tab or .txt");
}

/* A copy is named after its data set or, if there are several, after the file; copies that would have the same name then, after their first
 * data sets. */
kdr_status kdri_copy_paths(kdr_context *ctx, const kdri_copied *sets, int64_t count, const char *path,
                           char ***out)
{
	kdr_status st;
	struct {
		const char *text;
		int length;
	} *name = NULL;
	int64_t *copy = NULL, copies = 0;
	char **list = NULL, *to = NULL;
	size_t room = (size_t)count * sizeof *list, end = ending_at(path);
	KDRI_TRY(KDRI_NEW(ctx, &copy, count));
	KDRI_TRY(kdri_calloc(ctx, &name, count, sizeof *name));
	KDRI_TRY(find_copies(ctx, sets, count, -1, copy));
	for (int64_t t = 0; t < count; t++) {
		copies += copy[t] == t;
		if (copy[t] == t)
			name[t].length = (int)strlen(name[t].text = sets[t].task);
		else if (copy[t] >= 0)
			name[copy[t]].text = stem_of(&sets[copy[t]], &name[copy[t]].length);
		room += strlen(path) + strlen(sets[t].task) + strlen(sets[t].table ? sets[t].table : "") + 2;
	}
	KDRI_TRY(kdri_calloc(ctx, &list, (int64_t)room, 1));
	to = (char *)(list + count);
	for (int64_t t = 0; t < count; t++) {
		bool taken = false;
		if (copy[t] != t) {
			list[t] = copy[t] < 0 ? NULL : list[copy[t]];
			continue;
		}
		for (int64_t o = 0; o < count; o++)
			taken = taken || (copy[o] == o && o != t && name[o].length == name[t].length &&
			                  memcmp(name[o].text, name[t].text, (size_t)name[t].length) == 0);
		list[t] = to;
		if (copies == 1)
			to += sprintf(to, "%s", path) + 1;
		else if (taken)
			to += sprintf(to, "%.*s-%s%s", (int)end, path, sets[t].task, path + end) + 1;
		else
			to += sprintf(to, "%.*s-%.*s%s", (int)end, path, name[t].length, name[t].text,
			              path + end) +
			      1;
		KDRI_TRY(check_path(ctx, &sets[t], list[t]));
	}
	*out = list;
	list = NULL;
done:
	KDRI_FREE(ctx, name, copy, list);
	return st;
}

kdr_status kdr_copy_paths(kdr_context *ctx, kdr_data *const *sets, int64_t count, bool tables,
                          const char *path, char ***out)
{
	kdr_status st;
	kdri_copied *parts = NULL;
	kdri_file info;
	KDRI_NEED(ctx, path && out);
	KDRI_DO(kdri_check_sets(ctx, "kdr_copy_paths", sets, count, 1));
	KDRI_TRY(KDRI_NEW0(ctx, &parts, count));
	for (int64_t t = 0; t < count; t++) {
		const kdr_data *d = sets[t];
		parts[t].task = d->name;
		while (tables && d && !d->dialect.delimiter && !d->dialect.workbook)
			d = d->view;
		/* A pipe is read once. */
		if (!d || (tables && !d->dialect.workbook && !(kdri_file_at(d->path, &info) && info.regular)))
			continue;
		parts[t].table = d->path;
		parts[t].dialect = tables ? d->dialect : (kdri_dialect){ 0 };
		parts[t].n = d->rows;
		KDRI_TRY(kdri_data_origin(ctx, d, (int64_t **)&parts[t].origin, &parts[t].file_rows));
	}
	KDRI_TRY(kdri_copy_paths(ctx, parts, count, path, out));
done:
	for (int64_t t = 0; parts && t < count; t++)
		kdri_free(ctx, (void *)parts[t].origin);
	kdri_free(ctx, parts);
	return st;
}

bool kdri_first_of_copy(char *const *file, int64_t t)
{
	int64_t first = 0;
	while (file[first] != file[t])
		first++;
	return file[t] && first == t;
}

kdr_status kdri_copied_write_all(kdr_context *ctx, const char *result, const kdri_copied *sets, int64_t count,
                                 bool classes, const char *columns, const char *path, bool write, bool force)
{
	kdr_status st;
	char **file = NULL;
	bool any = false;
	KDRI_TRY(kdri_copy_paths(ctx, sets, count, path, &file));
	for (int64_t t = 0; t < count; t++) {
		if (kdri_first_of_copy(file, t))
			KDRI_TRY(write ? kdri_copied_write(ctx, sets, count, t, classes, columns, file[t],
			                                   force)
			               : kdr_write_check(ctx, file[t], force));
		any = any || file[t];
	}
	if (!any)
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT,
		          "%s: no data set was read from a CSV, TSV or Excel file by this version of kindred",
		          result);
done:
	kdri_free(ctx, file);
	return st;
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
