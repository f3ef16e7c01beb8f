/* Reads documents one by one from folders, lines or tables. SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/json_read.h"
#include "core/system.h"
#include "io/io.h"
#include "text/text.h"

/* Lines, and records of comma- or tab-separated fields, from a file.
 *
 * The buffer doubles when a record does not fit and the scan begins anew at the record's start, so the
 * work stays linear in the size of the file whatever the lengths of its lines. */

enum { FIRST_ROOM = 1 << 18 };

struct kdri_records {
	kdri_input *in;
	char *buffer;
	size_t begin, end, room; /* unread bytes; one more byte than `room` is allocated */
	int64_t line;            /* of the byte at `begin`, from 1 */
	bool end_of_file;
};

bool kdri_is_book(const char *path)
{
	return kdri_format_find(NULL, path) == &kdri_format_xlsx;
}

kdr_status kdri_records_open(kdr_context *ctx, const char *path, kdri_records **out)
{
	kdr_status st;
	kdri_records *r = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	KDRI_TRY(kdri_is_book(path) ? kdri_xlsx_text(ctx, path, &r->in) : kdri_input_open(ctx, path, &r->in));
	KDRI_TRY(KDRI_NEW(ctx, &r->buffer, FIRST_ROOM + 1));
	r->room = FIRST_ROOM;
	r->line = 1;
	*out = r;
	r = NULL;
done:
	kdri_records_close(ctx, r);
	return st;
}

void kdri_records_close(kdr_context *ctx, kdri_records *r)
{
	if (!r)
		return;
	kdri_input_close(ctx, r->in);
	KDRI_FREE(ctx, r->buffer, r);
}

/* Bytes of the file that have been read. */
static int64_t records_read(const kdri_records *r)
{
	return kdri_input_consumed(r->in);
}

/* A larger document is an error, because offsets inside a chunk have 32 bits. */
enum { KDRI_DOCUMENT_MAX = 1 << 28 };

/* Reads more bytes after the current ones; moves them to the front first, and grows the buffer if that is not
 * enough. */
static kdr_status records_fill(kdr_context *ctx, kdri_records *r)
{
	size_t got = 0, kept = r->end - r->begin;
	bool first = r->line == 1 && r->end == 0;
	if (kdri_text_stops(ctx))
		return kdri_fail(ctx, KDR_ERR_READ, "%s: reading was stopped", kdri_input_path(r->in));
	memmove(r->buffer, r->buffer + r->begin, kept);
	r->begin = 0;
	r->end = kept;
	if (kept == r->room) {
		if (r->room >= KDRI_DOCUMENT_MAX)
			return kdri_fail(ctx, KDR_ERR_FORMAT,
			                 "%s: line %lld: more than %d MB without a line end or closing quote",
			                 kdri_input_path(r->in), (long long)r->line, KDRI_DOCUMENT_MAX >> 20);
		KDRI_DO(KDRI_GROW(ctx, &r->buffer, 2 * r->room + 1));
		r->room *= 2;
	}
	KDRI_DO(kdri_input_read(ctx, r->in, r->buffer + kept, r->room - kept, &got));
	r->end += got;
	r->end_of_file = r->end < r->room;
	if (first && r->end >= 3 && memcmp(r->buffer, "\xef\xbb\xbf", 3) == 0)
		r->begin = 3; /* a byte order mark */
	return KDR_OK;
}

/* Where the record at p ends (at its line break, or at `end`); NULL if that is not to be seen yet.
 * A quote opens only at the start of a field, and is closed by one that is not doubled. */
static char *record_end(char *p, char *end, char delimiter, bool last, bool *open)
{
	*open = false;
	if (!delimiter) {
		char *line_end = memchr(p, '\n', (size_t)(end - p));
		return line_end ? line_end : last ? end : NULL;
	}
	bool field_start = true;
	while (p < end) {
		if (field_start && *p == '"') {
			do { /* skip doubled quotes */
				p = memchr(p + 1, '"', (size_t)(end - p - 1));
				*open = !p;
				if (!p || (p + 1 == end && !last))
					return NULL;
				p++;
			} while (p < end && *p == '"');
			field_start = false;
			continue;
		}
		if (*p == '\n')
			return p;
		field_start = *p == delimiter;
		p++;
	}
	return last ? end : NULL;
}

kdr_status kdri_records_next(kdr_context *ctx, kdri_records *r, char delimiter, char **record, size_t *length,
                             int64_t *line, bool *more)
{
	char *stop = NULL;
	bool open = false;
	for (;;) {
		if (r->begin == r->end && r->end_of_file) {
			*more = false;
			return KDR_OK;
		}
		if (r->begin < r->end)
			stop = record_end(r->buffer + r->begin, r->buffer + r->end, delimiter, r->end_of_file,
			                  &open);
		if (stop)
			break;
		if (r->end_of_file && open)
			return kdri_fail(
			        ctx, KDR_ERR_FORMAT,
			        "%s: line %lld: a quoted field is not closed before the end of the file",
			        kdri_input_path(r->in), (long long)r->line);
		KDRI_DO(records_fill(ctx, r));
	}
	char *start = r->buffer + r->begin;
	size_t n = (size_t)(stop - start);
	*line = r->line++;
	if (delimiter)
		for (const char *p = start; (p = memchr(p, '\n', (size_t)(stop - p))); p++)
			r->line++;
	r->begin += n + (stop < r->buffer + r->end);
	if (n > 0 && start[n - 1] == '\r')
		n--;
	*record = start;
	*length = n;
	*more = true;
	return KDR_OK;
}

size_t kdri_record_field(char *begin, const char *end, char delimiter, char **field, char **next)
{
	char *to = begin, *p = begin;
	*field = begin;
	if (p < end && *p == '"')
		for (p++; p < end; p++) {
			if (*p == '"' && (p + 1 == end || p[1] != '"')) {
				p++;
				break;
			}
			p += *p == '"';
			*to++ = *p;
		}
	while (p < end && *p != delimiter)
		*to++ = *p++;
	*next = p < end ? p + 1 : NULL;
	return (size_t)(to - begin);
}

/* Whether all names are among the fields of a copy of a record, which is modified; *fields: its number of fields. */
static bool has_names(char *record, size_t length, char delimiter, const char *const *names, int64_t *fields)
{
	char *field, *p = record;
	int64_t found = 0, wanted = 0;
	while (names[wanted])
		wanted++;
	for (*fields = 0; p; (*fields)++) {
		size_t n = kdri_record_field(p, record + length, delimiter, &field, &p);
		for (int64_t i = 0; i < wanted; i++)
			found += strlen(names[i]) == n && memcmp(field, names[i], n) == 0;
	}
	return found >= wanted;
}

/* The end of the record at p without its line end; NULL: there is none in the buffer. *next: the record after it. */
static char *record_stop(const kdri_records *r, char *p, char delimiter, char **next)
{
	bool open;
	char *end = r->buffer + r->end,
	     *stop = p < end ? record_end(p, end, delimiter, r->end_of_file, &open) : NULL;
	*next = stop && stop < end ? stop + 1 : end;
	return stop && stop > p && stop[-1] == '\r' ? stop - 1 : stop;
}

/* Finds the header, before the first record is taken: among the first records, the first that has all `names` (NULL-terminated) if one of
 * `delimiters` separates its fields. *above: the records before it; both stay if there is none. `most`: records to look at. */
static kdr_status records_header(kdr_context *ctx, kdri_records *r, const char *const *names,
                                 const char *delimiters, int64_t most, char *delimiter, int64_t *above)
{
	kdr_status st = KDR_OK;
	char *copy = NULL;
	if (r->begin == r->end && !r->end_of_file)
		KDRI_TRY(records_fill(ctx, r));
	KDRI_TRY(KDRI_NEW(ctx, &copy, r->end - r->begin + 1));
	for (int64_t found = most, i = 0; i < most && found == most; i++)
		for (const char *c = delimiters; *c && found == most; c++) {
			char *p = r->buffer + r->begin, *stop = NULL, *next = p;
			int64_t fields;
			for (int64_t k = 0; k <= i; k++) {
				p = next;
				stop = record_stop(r, p, *c, &next);
			}
			if (!stop)
				continue;
			const size_t n = (size_t)(stop - p);
			memcpy(copy, p, n);
			if (has_names(copy, n, *c, names, &fields)) {
				found = i;
				*delimiter = *c;
				*above = i;
			}
		}
done:
	kdri_free(ctx, copy);
	return st;
}

/* Detects what separates the fields of a table without names: one of , ; tab | under which the first records all have the same number of
 * fields. *out stays if none does. */
static kdr_status records_delimiter(kdr_context *ctx, kdri_records *r, char *out)
{
	enum { FIRST_RECORDS = 8 };
	static const char *const none[] = { NULL };
	kdr_status st = KDR_OK;
	char *copy = NULL;
	if (r->begin == r->end && !r->end_of_file)
		KDRI_TRY(records_fill(ctx, r));
	KDRI_TRY(KDRI_NEW(ctx, &copy, r->end - r->begin + 1));
	for (const char *c = ",;\t|"; *c; c++) {
		char *p = r->buffer + r->begin, *stop, *next;
		int64_t fields, first = 0;
		bool fits = true;
		for (int i = 0; fits && i < FIRST_RECORDS && (stop = record_stop(r, p, *c, &next));
		     i++, p = next) {
			memcpy(copy, p, (size_t)(stop - p));
			(void)has_names(copy, (size_t)(stop - p), *c, none, &fields);
			first = i == 0 ? fields : first;
			fits = fields == first && fields > 1;
		}
		if (fits && first > 0) {
			*out = *c;
			break;
		}
	}
done:
	kdri_free(ctx, copy);
	return st;
}

/* What columns of a table, and fields of JSON lines, are for. */
enum { ROLE_TEXT, ROLE_LABEL, ROLE_ID, ROLE_TASK, ROLES };

struct kdri_corpus {
	const kdr_corpus *what; /* outlives this */
	kdri_folder files;
	kdri_records *records;
	int64_t next, bytes; /* file; of those before it */
	char *buffer;        /* one file, or one JSON label */
	int64_t room;
	char *path;
	char delimiter;
	bool header;
	int64_t fields;           /* of a table: cells in its first row */
	const char *skip_rows;    /* of a table: kdr_read_options */
	int64_t above;            /* of a table: records above the header */
	const char *field[ROLES]; /* the column or field of each role; NULL: none */
	const char *only;         /* documents of other data sets are skipped; NULL: none */
	int64_t column[ROLES];    /* of a table, from 0; -1: none */
	kdri_json_value *json;    /* owns the text of the current document */
	char number[ROLES][24], id[24];
};

static const char *const role_options[ROLES] = {
	[ROLE_TEXT] = "text", [ROLE_LABEL] = "label", [ROLE_ID] = "id", [ROLE_TASK] = "task"
};

/* A column given by number, from 1; 0 if it is a name. */
static int64_t column_number(const char *field)
{
	char *end;
	if (field[0] < '1' || field[0] > '9')
		return 0;
	errno = 0;
	long long n = strtoll(field, &end, 10);
	return *end == '\0' && errno == 0 && n < INT32_MAX ? n : 0;
}

/* --- tables ----------------------------------------------------------------------------------- */

static kdr_status find_column(kdr_context *ctx, kdri_corpus *c, int role, char **names, const size_t *lengths,
                              int64_t count)
{
	char list[200];
	const char *name = c->field[role];
	int64_t number = column_number(name);
	for (int64_t j = 0; j < count; j++)
		if (lengths[j] == strlen(name) && memcmp(names[j], name, lengths[j]) == 0) {
			c->column[role] = j;
			return KDR_OK;
		}
	if (number > 0 && number <= count) {
		c->column[role] = number - 1;
		return KDR_OK;
	}
	list[0] = '\0';
	for (int64_t j = 0; j < count; j++)
		kdri_list_add(list, sizeof list, "%.*s", (int)KDRI_MIN(lengths[j], 60), names[j]);
	return kdri_fail(
	        ctx, KDR_ERR_ARGUMENT,
	        "%s: there is no column '%s'; the %lld columns are: %s (specify one with --%s-column)",
	        c->what->path, name, (long long)count, list, role_options[role]);
}

static kdr_status read_header(kdr_context *ctx, kdri_corpus *c)
{
	kdr_status st;
	char *record, **names = NULL;
	size_t length, *lengths = NULL;
	int64_t line, count = 0, room = 0;
	bool more;
	KDRI_TRY(kdri_records_next(ctx, c->records, c->delimiter, &record, &length, &line, &more));
	if (!more)
		KDRI_FAIL(ctx, KDR_ERR_FORMAT, "%s: the file is empty; a line with column names is needed",
		          c->what->path);
	for (char *p = record; p; count++) {
		if (count == room) {
			room = 2 * room + 16;
			KDRI_TRY(KDRI_GROW(ctx, &names, room));
			KDRI_TRY(KDRI_GROW(ctx, &lengths, room));
		}
		lengths[count] = kdri_record_field(p, record + length, c->delimiter, &names[count], &p);
	}
	for (int role = 0; role < ROLES; role++)
		if (c->field[role])
			KDRI_TRY(find_column(ctx, c, role, names, lengths, count));
	c->header = true;
	c->fields = count - (lengths[count - 1] == 0); /* the line may end in a delimiter */
done:
	KDRI_FREE(ctx, names, lengths);
	return st;
}

/* Skips the records above the header. */
static kdr_status skip_records(kdr_context *ctx, kdri_corpus *c, int64_t count)
{
	char *record;
	size_t length;
	int64_t line;
	bool more = true;
	for (int64_t i = 0; i < count && more; i++)
		KDRI_DO(kdri_records_next(ctx, c->records, c->delimiter, &record, &length, &line, &more));
	return KDR_OK;
}

enum { HEADER_MOST = 48 }; /* records among which a header is searched */

static kdr_status open_table(kdr_context *ctx, kdri_corpus *c)
{
	const kdr_corpus *what = c->what;
	const char *names[ROLES + 1] = { NULL };
	int count = 0;
	for (int role = 0; role < ROLES; role++) {
		c->column[role] = c->field[role] ? column_number(c->field[role]) - 1 : -1;
		if (c->field[role] && c->column[role] < 0)
			names[count++] = c->field[role];
	}
	bool tabs = kdri_ends_with(what->path, ".tsv") || kdri_ends_with(what->path, ".tsv.gz") ||
	            kdri_ends_with(what->path, ".tab") || kdri_ends_with(what->path, ".tab.gz");
	const bool book = kdri_is_book(what->path);
	c->delimiter = book ? ',' : what->delimiter ? what->delimiter : tabs ? '\t' : ',';
	if (what->header == KDR_HEADER_NO && count > 0)
		return kdri_fail(ctx, KDR_ERR_ARGUMENT,
		                 "%s: without a header, specify columns by number, from 1; found '%s'",
		                 what->path, names[0]);
	const bool fixed = book || what->delimiter || tabs,
	           find = !c->skip_rows || strcmp(c->skip_rows, "auto") == 0;
	const char *const skip = find ? "0" : c->skip_rows, *end = skip + strlen(skip);
	const char own[] = { c->delimiter, '\0' };
	int64_t more = 0;
	if (kdri_parse_int(skip, end, &c->above) != end || c->above < 0)
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "'%.40s' is not a number of rows to skip; use 0 or more, or auto", skip);
	KDRI_DO(skip_records(ctx, c, c->above));
	if (count > 0)
		KDRI_DO(records_header(ctx, c->records, names, fixed ? own : ",;\t|", find ? HEADER_MOST : 1,
		                       &c->delimiter, &more));
	else if (!fixed)
		KDRI_DO(records_delimiter(ctx, c->records, &c->delimiter));
	KDRI_DO(skip_records(ctx, c, more));
	c->above += more;
	if (what->header == KDR_HEADER_YES || count > 0)
		return read_header(ctx, c);
	return KDR_OK;
}

/* A row without any cell, which other readers of tables skip too. */
static bool is_blank(const kdri_corpus *c, const char *record, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((record[i] != ' ' && record[i] != '\t') || record[i] == c->delimiter)
			return false;
	return true;
}

/* Sets what a role other than the text has in a document; an empty cell is none. */
static void set_role(kdri_document *d, int role, const char *text, size_t length)
{
	if (length == 0)
		return;
	if (role == ROLE_LABEL) {
		d->label = text;
		d->label_length = length;
	} else if (role == ROLE_ID) {
		d->id = text;
		d->id_length = length;
	} else {
		d->task = text;
		d->task_length = length;
	}
}

/* A document is called by its line unless it has a name. */
static void number_document(kdri_corpus *c, int64_t line, kdri_document *d)
{
	d->id = c->id;
	d->id_length = (size_t)snprintf(c->id, sizeof c->id, "%lld", (long long)line);
}

static kdr_status next_row(kdr_context *ctx, kdri_corpus *c, kdri_document *d, bool *more)
{
	char *record, *field, *p;
	size_t length;
	int64_t line, column = 0, last = 0;
	do {
		KDRI_DO(kdri_records_next(ctx, c->records, c->delimiter, &record, &length, &line, more));
		if (!*more)
			return KDR_OK;
	} while (is_blank(c, record, length));
	*d = (kdri_document){ .text = NULL };
	number_document(c, line, d);
	for (p = record; p; column++) {
		size_t n = kdri_record_field(p, record + length, c->delimiter, &field, &p);
		for (int role = ROLE_LABEL; role < ROLES; role++)
			if (column == c->column[role])
				set_role(d, role, field, n);
		if (column == c->column[ROLE_TEXT]) {
			d->text = field;
			d->length = n;
		}
	}
	for (int role = 0; role < ROLES; role++)
		last = KDRI_MAX(last, c->column[role]);
	if (column <= last)
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld has %lld columns, but column %lld is needed", c->what->path,
		                 (long long)line, (long long)column, (long long)last + 1);
	c->fields = c->fields ? c->fields : column;
	return KDR_OK;
}

/* --- JSON lines --------------------------------------------------------------------------------- */

/* A string, an integer, true or false, as text. */
static kdr_status json_role(kdr_context *ctx, kdri_corpus *c, int role, int64_t line, kdri_document *d)
{
	static const char *const truth[] = { "false", "true" };
	const kdri_json_value *value = kdri_json_get(c->json, c->field[role]);
	const char *text;
	size_t length;
	if (!value || kdri_json_is(value, KDRI_JSON_NULL))
		return KDR_OK;
	if (kdri_json_is(value, KDRI_JSON_TEXT)) {
		text = kdri_json_text(value, &length);
	} else if (kdri_json_is_bool(value)) {
		text = truth[kdri_json_is(value, KDRI_JSON_TRUE)];
		length = strlen(text);
	} else if (kdri_json_is(value, KDRI_JSON_INTEGER)) {
		text = c->number[role];
		length = (size_t)snprintf(c->number[role], sizeof c->number[role], "%lld",
		                          (long long)kdri_json_integer(value, 0));
	} else {
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld: '%s' is not a string, an integer, true or false",
		                 c->what->path, (long long)line, c->field[role]);
	}
	set_role(d, role, text, length);
	return KDR_OK;
}

static kdr_status next_json(kdr_context *ctx, kdri_corpus *c, kdri_document *d, bool *more)
{
	char *record;
	size_t length;
	int64_t line;
	const char *path = c->what->path, *field = c->field[ROLE_TEXT];
	kdri_json_value_free(c->json);
	c->json = NULL;
	do {
		KDRI_DO(kdri_records_next(ctx, c->records, '\0', &record, &length, &line, more));
		if (!*more)
			return KDR_OK;
	} while (length == 0);
	KDRI_DO(kdri_json_parse(ctx, path, line, record, length, &c->json));
	const kdri_json_value *text = kdri_json_get(c->json, field);
	if (!kdri_json_is(text, KDRI_JSON_TEXT))
		return kdri_fail(ctx, KDR_ERR_FORMAT,
		                 "%s: line %lld: %s; an object with a string '%s' is needed", path,
		                 (long long)line,
		                 !kdri_json_is(c->json, KDRI_JSON_OBJECT) ? "not an object"
		                 : text                                   ? "the field is not a string"
		                                                          : "the field is missing",
		                 field);
	*d = (kdri_document){ .text = NULL };
	d->text = kdri_json_text(text, &d->length);
	number_document(c, line, d);
	for (int role = ROLE_LABEL; role < ROLES; role++)
		if (c->field[role])
			KDRI_DO(json_role(ctx, c, role, line, d));
	return KDR_OK;
}

/* --- lines and folders -------------------------------------------------------------------------- */

static kdr_status next_line(kdr_context *ctx, kdri_corpus *c, kdri_document *d, bool *more)
{
	char *record;
	size_t length;
	int64_t line;
	KDRI_DO(kdri_records_next(ctx, c->records, '\0', &record, &length, &line, more));
	if (!*more)
		return KDR_OK;
	*d = (kdri_document){ .text = record, .length = length };
	number_document(c, line, d);
	return KDR_OK;
}

static kdr_status corpus_read_file(kdr_context *ctx, kdri_corpus *c, const char *path, size_t *length)
{
	kdr_status st;
	kdri_input *in = NULL;
	size_t used = 0, got = 0;
	KDRI_TRY(kdri_input_open(ctx, path, &in));
	do {
		/* One byte more than the file has, so that one read sees its end. */
		int64_t want = KDRI_MAX(kdri_input_size(in) + 1, 2 * (int64_t)used);
		want = KDRI_MIN(KDRI_MAX(want, 1 << 16), KDRI_DOCUMENT_MAX + 1);
		KDRI_TRY(KDRI_ROOM(ctx, &c->buffer, &c->room, want));
		KDRI_TRY(kdri_input_read(ctx, in, c->buffer + used, (size_t)c->room - used, &got));
		used += got;
		if (used > KDRI_DOCUMENT_MAX)
			KDRI_FAIL(ctx, KDR_ERR_DATA, "%s: a document is larger than %d MB, the maximum", path,
			          KDRI_DOCUMENT_MAX >> 20);
	} while ((int64_t)used == c->room);
	*length = used;
	c->bytes += kdri_input_size(in);
done:
	kdri_input_close(ctx, in);
	return st;
}

static kdr_status next_file(kdr_context *ctx, kdri_corpus *c, kdri_document *d, bool *more)
{
	size_t root = strlen(c->what->path), length = 0;
	*more = c->next < c->files.count;
	if (!*more)
		return KDR_OK;
	const char *below = c->files.paths[c->next++], *slash = strchr(below, '/');
	KDRI_DO(KDRI_GROW(ctx, &c->path, root + strlen(below) + 2));
	memcpy(c->path, c->what->path, root);
	c->path[root] = '/';
	memcpy(c->path + root + 1, below, strlen(below) + 1);
	KDRI_DO(corpus_read_file(ctx, c, c->path, &length));
	*d = (kdri_document){ .text = c->buffer, .length = length, .id = below, .id_length = strlen(below) };
	if (slash) {
		d->label = below;
		d->label_length = (size_t)(slash - below);
	}
	return KDR_OK;
}

/* An error if at least half of the files of a folder are data files, because counting the words of tables of numbers makes no
 * sense. */
static kdr_status check_texts(kdr_context *ctx, const char *path, const kdri_folder *files)
{
	const char *first = NULL, *end = NULL;
	int64_t data = 0, same = 0;
	char kind[16] = "";
	for (int64_t i = 0; i < files->count; i++) {
		const char *name = files->paths[i];
		if (!kdri_format_find(NULL, name) && !kdri_format_elsewhere(name))
			continue;
		if (!first) {
			first = name;
			end = strrchr(name, '.');
			if (end && strcmp(end, ".gz") == 0) /* the ending before it */
				while (end > name) {
					end--;
					if (*end == '.')
						break;
				}
		}
		data++;
		same += end && kdri_ends_with(name, end);
	}
	if (data == 0 || 2 * data < files->count)
		return KDR_OK;
	for (size_t i = 0; end && i + 1 < sizeof kind && end[i + 1] && end[i + 1] != '.'; i++)
		kind[i] =
		        (char)(end[i + 1] >= 'a' && end[i + 1] <= 'z' ? end[i + 1] - 'a' + 'A' : end[i + 1]);
	return kdri_fail(ctx, KDR_ERR_DATA,
	                 "%s holds %lld %s file%s, not texts; give the files themselves: %s/%.*s*%s", path,
	                 (long long)same, kind, same == 1 ? "" : "s", path, (int)kdri_folder_length(first),
	                 first, end ? end : "");
}

/* --- all kinds ---------------------------------------------------------------------------------- */

kdr_status kdri_corpus_open(kdr_context *ctx, const kdr_corpus *what, const kdri_corpus_roles *roles,
                            kdri_corpus **out)
{
	kdr_status st;
	kdri_corpus *c = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &c, 1));
	c->what = what;
	c->field[ROLE_TEXT] = what->text_field ? what->text_field : "text";
	c->field[ROLE_LABEL] = what->label_field;
	c->field[ROLE_ID] = roles ? roles->id : NULL;
	c->field[ROLE_TASK] = roles ? roles->task : NULL;
	c->only = roles ? roles->only : NULL;
	c->skip_rows = roles ? roles->skip_rows : NULL;
	switch (what->kind) {
	case KDR_CORPUS_FOLDER:
		KDRI_TRY(kdri_folder_list(ctx, what->path, &c->files));
		KDRI_TRY(check_texts(ctx, what->path, &c->files));
		break;
	case KDR_CORPUS_LINES:
	case KDR_CORPUS_JSON: KDRI_TRY(kdri_records_open(ctx, what->path, &c->records)); break;
	case KDR_CORPUS_TABLE:
		KDRI_TRY(kdri_records_open(ctx, what->path, &c->records));
		KDRI_TRY(open_table(ctx, c));
		break;
	default:
		KDRI_FAIL(ctx, KDR_ERR_ARGUMENT, "%s: corpus kind %d is not valid; use 0 to %d", what->path,
		          (int)what->kind, (int)KDR_CORPUS_JSON);
	}
	*out = c;
	c = NULL;
done:
	kdri_corpus_close(ctx, c);
	return st;
}

static kdr_status next_document(kdr_context *ctx, kdri_corpus *c, kdri_document *document, bool *more)
{
	switch (c->what->kind) {
	case KDR_CORPUS_FOLDER: return next_file(ctx, c, document, more);
	case KDR_CORPUS_LINES: return next_line(ctx, c, document, more);
	case KDR_CORPUS_TABLE: return next_row(ctx, c, document, more);
	default: return next_json(ctx, c, document, more);
	}
}

kdr_status kdri_corpus_next(kdr_context *ctx, kdri_corpus *c, kdri_document *document, bool *more)
{
	do
		KDRI_DO(next_document(ctx, c, document, more));
	while (*more && c->only &&
	       !(document->task && document->task_length == strlen(c->only) &&
	         memcmp(document->task, c->only, document->task_length) == 0));
	return KDR_OK;
}

kdr_status kdri_corpus_skip(kdr_context *ctx, kdri_corpus *c, int64_t count)
{
	kdri_document d;
	bool more = c->records != NULL;
	if (!c->records && count > 0)
		c->next += count;
	for (int64_t i = 0; i < count && more; i++)
		KDRI_DO(kdri_corpus_next(ctx, c, &d, &more));
	return KDR_OK;
}

bool kdri_corpus_can_reopen(const kdr_corpus *what)
{
	kdri_file info;
	return what->path && (kdri_path_sheet(what->path) ||
	                      (kdri_file_at(what->path, &info) && (info.regular || info.folder)));
}

int64_t kdri_corpus_read(const kdri_corpus *c)
{
	return c->records ? records_read(c->records) : c->bytes;
}

kdri_dialect kdri_corpus_dialect(const kdri_corpus *c)
{
	if (c->what->kind != KDR_CORPUS_TABLE)
		return (kdri_dialect){ 0 };
	if (kdri_is_book(c->what->path))
		return (kdri_dialect){ .workbook = true, .header = c->header, .above = c->above };
	return (kdri_dialect){
		.delimiter = c->delimiter, .header = c->header, .fields = c->fields, .above = c->above
	};
}

int64_t kdri_corpus_total(const kdri_corpus *c)
{
	return c->files.count;
}

kdr_status kdri_corpus_name(kdr_context *ctx, const kdr_corpus *what, char **out)
{
	size_t end = strlen(what->path), begin;
	if (what->name)
		return kdri_strdup(ctx, what->name, out);
	if (strcmp(what->path, "-") == 0)
		return kdri_strdup(ctx, "stdin", out);
	if (what->kind != KDR_CORPUS_FOLDER)
		return kdri_path_stem(ctx, what->path, out);
	/* Not the stem: the dots of "rec.autos" are part of its name. */
	while (end > 1 && what->path[end - 1] == '/')
		end--;
	for (begin = end; begin > 0 && what->path[begin - 1] != '/';)
		begin--;
	return kdri_strndup(ctx, what->path + begin, end - begin, out);
}

void kdri_corpus_close(kdr_context *ctx, kdri_corpus *c)
{
	if (!c)
		return;
	kdri_json_value_free(c->json);
	kdri_records_close(ctx, c->records);
	kdri_folder_free(ctx, &c->files);
	KDRI_FREE(ctx, c->buffer, c->path, c);
}
