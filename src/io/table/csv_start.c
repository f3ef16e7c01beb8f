/* The beginning of a table of text: its encoding, its lines, its first rows. SPDX-License-Identifier: BSD-3-Clause */
#include "core/utf8.h"
#include "io/table/table.h"

static kdr_status parse_encoding(kdr_context *ctx, const char *text, kdri_encoding *out)
{
	static const struct {
		const char *name;
		kdri_encoding encoding;
	} names[] = {
		{ "utf-8", KDRI_UTF8 },     { "utf8", KDRI_UTF8 },         { "latin-1", KDRI_LATIN1 },
		{ "latin1", KDRI_LATIN1 },  { "iso-8859-1", KDRI_LATIN1 }, { "windows-1252", KDRI_LATIN1 },
		{ "cp1252", KDRI_LATIN1 },  { "utf-16le", KDRI_UTF16LE },  { "utf-16be", KDRI_UTF16BE },
		{ "utf-16", KDRI_UTF16LE },
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (kdri_same_word(text, strlen(text), names[i].name)) {
			*out = names[i].encoding;
			return KDR_OK;
		}
	return kdri_fail(ctx, KDR_ERR_OPTION,
	                 "unknown encoding '%.40s'; use utf-8, latin-1, utf-16le or utf-16be", text);
}

kdr_status kdri_delimiter_read(kdr_context *ctx, const char *text, char *out)
{
	if (!text)
		return KDR_OK;
	if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
		text = "\t";
	else if (strcmp(text, "comma") == 0)
		text = ",";
	else if (strcmp(text, "semicolon") == 0)
		text = ";";
	else if (strcmp(text, "bar") == 0 || strcmp(text, "pipe") == 0)
		text = "|";
	unsigned char c = (unsigned char)text[0];
	if (c == '\0' || text[1] || c >= 0x80 || c == '"' || c == '\n' || c == '\r' || (c >= '0' && c <= '9'))
		return kdri_fail(ctx, KDR_ERR_OPTION,
		                 "delimiter '%.20s' is not valid; use one character such as , ; | or tab",
		                 text);
	*out = (char)c;
	return KDR_OK;
}

/* Fills the window from the beginning of the input, once the encoding is known. */
static kdr_status csv_start_refill(kdr_context *ctx, kdri_window *w)
{
	const kdri_recode recode = { .from = w->recode.from, .returns = w->recode.returns };
	KDRI_DO(kdri_input_rewind(ctx, w->in));
	w->begin = w->end = 0;
	w->last = false;
	w->recode = recode;
	KDRI_DO(kdri_window_fill(ctx, w));
	if (w->end >= 3 && memcmp(w->data, "\xef\xbb\xbf", 3) == 0) /* the byte order mark */
		w->begin = 3;
	return KDR_OK;
}

kdr_status kdri_csv_start(kdr_context *ctx, kdri_input *in, const kdr_read_options *o, char delimiter,
                          kdri_window *w, kdri_csv_layout *l)
{
	kdri_encoding encoding;
	size_t mark = 0;
	bool latin = l->latin; /* known from an earlier pass over the entire file */
	KDRI_DO(kdri_delimiter_read(ctx, o->delimiter, &delimiter));
	kdri_window_close(ctx, w);
	KDRI_DO(kdri_input_rewind(ctx, in));
	KDRI_DO(kdri_window_open(ctx, in, w));
	KDRI_DO(kdri_window_fill(ctx, w));
	encoding = kdri_encoding_find(w->data, w->end, w->last, &mark);
	if (latin)
		encoding = KDRI_LATIN1;
	if (encoding == KDRI_LATIN1 && !o->encoding) {
		kdri_charset_counts counts = { 0 };
		kdri_charset_count(w->data, w->end, &counts);
		const kdri_charset charset = kdri_charset_find(&counts);
		if (charset != KDRI_CHARSET_NONE)
			return kdri_fail(
			        ctx, KDR_ERR_FORMAT,
			        "%s: appears to be encoded in %s; convert it to UTF-8 first, or use --encoding 'latin-1' if this is wrong",
			        kdri_input_path(in), kdri_charset_name(charset));
	}
	if (o->encoding)
		KDRI_DO(parse_encoding(ctx, o->encoding, &encoding));
	if (o->encoding && mark == 2) /* the byte order mark determines which of the two */
		encoding = w->data[0] == '\xff' ? KDRI_UTF16LE : KDRI_UTF16BE;
	w->recode.from = encoding;
	w->begin = encoding == KDRI_UTF8 ? mark : 0;
	if (encoding != KDRI_UTF8)
		KDRI_DO(csv_start_refill(ctx, w));
	/* Lines that end as on old Macintosh computers: a full window without a newline, except for the one added at
	 * the end. */
	const char *text = w->data + w->begin;
	size_t length = w->end - w->begin - (w->last && w->end > w->begin);
	const char *first = memchr(text, '\n', length) ? NULL : memchr(text, '\r', length);
	if (first && first + 1 < text + length) {
		w->recode.returns = true;
		KDRI_DO(csv_start_refill(ctx, w));
	}
	const char *zero = memchr(w->data + w->begin, '\0', w->end - w->begin);
	if (zero)
		return kdri_fail(
		        ctx, KDR_ERR_FORMAT, "%s: line %lld contains a zero byte; a text file is needed",
		        kdri_input_path(in), (long long)kdri_count_byte(w->data + w->begin, zero, '\n') + 1);
	kdri_csv_layout_free(ctx, l);
	KDRI_DO(kdri_csv_layout_find(ctx, w, o, delimiter, l));
	l->latin = encoding == KDRI_LATIN1;
	return KDR_OK;
}
