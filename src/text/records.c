/* Lines, and records of comma- or tab-separated fields, from a file. SPDX-License-Identifier: BSD-3-Clause
 *
 * The buffer doubles when a record does not fit and the scan begins anew at the record's start, so the
 * work stays linear in the size of the file whatever the lengths of its lines. */
#include "io/io.h"
#include "text/text.h"

enum { FIRST_ROOM = 1 << 18 };

struct kdri_records {
	kdri_input *in;
	char *buffer;
	size_t begin, end, room; /* unread bytes; one more byte than `room` is allocated */
	int64_t line;            /* of the byte at `begin`, from 1 */
	bool end_of_file;
};

kdr_status kdri_records_open(kdr_context *ctx, const char *path, kdri_records **out)
{
	kdr_status st;
	kdri_records *r = NULL;
	KDRI_TRY(KDRI_NEW0(ctx, &r, 1));
	KDRI_TRY(kdri_input_open(ctx, path, &r->in));
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

int64_t kdri_records_read(const kdri_records *r)
{
	return kdri_input_consumed(r->in);
}

/* Reads more bytes after the current ones; moves them to the front first, and grows the buffer if that is not
 * enough. */
static kdr_status records_fill(kdr_context *ctx, kdri_records *r)
{
	size_t got = 0, kept = r->end - r->begin;
	bool first = r->line == 1 && r->end == 0;
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

kdr_status kdri_records_delimiter(kdr_context *ctx, kdri_records *r, const char *const *names, char *out)
{
	static const char candidates[] = ",;\t|";
	enum { FIRST_RECORDS = 8 };
	kdr_status st = KDR_OK;
	char *copy = NULL;
	if (r->begin == r->end && !r->end_of_file)
		KDRI_TRY(records_fill(ctx, r));
	KDRI_TRY(KDRI_NEW(ctx, &copy, r->end - r->begin + 1));
	for (const char *c = candidates; *c; c++) {
		char *p = r->buffer + r->begin, *end = r->buffer + r->end, *stop;
		int64_t fields, first = 0;
		bool open, fits = true;
		/* Whether all named columns are in the first record or, without names, all of several records have
		 * the same number of fields. */
		for (int i = 0; p < end && fits && i < (names[0] ? 1 : FIRST_RECORDS); i++, p = stop + 1) {
			if (!(stop = record_end(p, end, *c, r->end_of_file, &open)))
				break;
			size_t n = (size_t)(stop - p);
			n -= n > 0 && p[n - 1] == '\r';
			memcpy(copy, p, n);
			fits = has_names(copy, n, *c, names, &fields);
			first = i == 0 ? fields : first;
			fits = fits && fields == first && (names[0] || fields > 1);
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
