/* Mail, news and HTTP headers. SPDX-License-Identifier: BSD-3-Clause
 *
 * A header is a first line "Name: value" (or mbox's "From ", or "HTTP/1.0 200 OK") and all that follows
 * up to the first blank line. In text without a blank line, only the lines that look like header fields are removed.
 * Bodies are used unchanged: transfer encodings are not decoded. */
#include "text/text.h"

/* RFC 5322: printable ASCII but the colon. */
static bool is_field(const char *line, size_t length)
{
	size_t i = 0;
	while (i < length && line[i] > 32 && line[i] < 127 && line[i] != ':')
		i++;
	return i > 0 && i < length && line[i] == ':';
}

static bool mail_starts(const char *line, size_t length, const char *with)
{
	size_t n = strlen(with);
	return length >= n && memcmp(line, with, n) == 0;
}

static bool is_first(const char *line, size_t length)
{
	return is_field(line, length) || mail_starts(line, length, "From ") ||
	       mail_starts(line, length, "HTTP/");
}

static bool mail_has_name(const char *line, size_t length, const char *name)
{
	size_t i = 0;
	while (i < length && name[i] &&
	       (line[i] >= 'A' && line[i] <= 'Z' ? line[i] | 32 : line[i]) == name[i])
		i++;
	return name[i] == '\0' && i < length && line[i] == ':';
}

/* The line at text[at]: its length without the line end, and where the next one begins. */
static size_t line_at(const char *text, size_t length, size_t at, size_t *next)
{
	const char *end = memchr(text + at, '\n', length - at);
	size_t stop = end ? (size_t)(end - text) : length;
	*next = end ? stop + 1 : length;
	if (stop > at && text[stop - 1] == '\r')
		stop--;
	return stop - at;
}

size_t kdri_mail_strip(const char *text, size_t length, bool keep_subject, size_t *begin, char *subject)
{
	size_t at = 0, next = 0, written = 0, n = length ? line_at(text, length, 0, &next) : 0;
	size_t fields_end = 0; /* end of the leading lines that look like fields */
	bool in_subject = false, only_fields = true;
	*begin = 0;
	if (!is_first(text, n))
		return 0;
	while (at < length) {
		n = line_at(text, length, at, &next);
		if (n == 0)
			break;
		bool continued = text[at] == ' ' || text[at] == '\t';
		only_fields = only_fields && (at == 0 || continued || is_field(text + at, n));
		if (only_fields)
			fields_end = next;
		if (!continued)
			in_subject = only_fields && mail_has_name(text + at, n, "subject");
		if (keep_subject && in_subject) {
			/* The name's place is taken by the line break: never longer than the input. */
			size_t skip = continued ? 0 : strlen("subject:");
			memcpy(subject + written, text + at + skip, n - skip);
			written += n - skip;
			if (next > at + n || skip > 0)
				subject[written++] = '\n';
		}
		at = next;
	}
	bool blank = at < length;
	*begin = blank ? next : fields_end;
	return written;
}

bool kdri_mail_likely(const char *text, size_t length)
{
	static const char *const names[] = { "from",           "to",           "subject",      "date",
		                             "message-id",     "received",     "newsgroups",   "path",
		                             "mime-version",   "organization", "content-type", "return-path",
		                             "content-length", "server",       "lines" };
	size_t known = 0, next = 0;
	for (size_t at = 0; at < length; at = next) {
		const size_t n = line_at(text, length, at, &next);
		const char *line = text + at;
		if (at == 0 ? !is_first(line, n) : line[0] != ' ' && line[0] != '\t' && !is_field(line, n))
			break;
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
			known += mail_has_name(line, n, names[i]);
	}
	return known >= 2;
}
