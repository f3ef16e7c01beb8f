/* JSON to a tree. SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing in the text is trusted: sizes follow from the data read, never from declared sizes, and depth is bounded. */
#include <stdio.h>

#include "core/internal.h"
#include "core/json_read.h"
#include "core/numbers.h"
#include "core/utf8.h"

enum { LINES_MOST = (1 << 28) - 1, DEPTH = 500, LEAST_BLOCK = 1 << 10, MOST_BLOCK = 1 << 16 };

typedef struct parser {
	kdr_context *ctx;
	const char *name, *begin, *p, *end;
	int64_t line;   /* the number of the first line */
	uint32_t lines; /* those before p */
	int depth;
	kdri_json_tree tree;
} parser;

KDR_PRINTF(3, 4)
static kdr_status json_read_wrong(const parser *in, const char *at, const char *format, ...)
{
	char what[120];
	va_list args;
	int64_t line = in->line;
	const char *start = in->begin;
	for (const char *c = in->begin; c < at; c++)
		if (*c == '\n') {
			line++;
			start = c + 1;
		}
	va_start(args, format);
	kdri_vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return kdri_fail(in->ctx, KDR_ERR_FORMAT, "%s: line %lld, column %lld: not valid JSON: %s", in->name,
	                 (long long)line, (long long)(at - start) + 1, what);
}

static kdr_status ends(const parser *in)
{
	return json_read_wrong(in, in->end, "unexpected end; the file may be truncated");
}

static void skip_blanks(parser *in)
{
	for (; in->p < in->end && (*in->p == ' ' || *in->p == '\t' || *in->p == '\n' || *in->p == '\r');
	     in->p++)
		in->lines += *in->p == '\n'; /* strings cannot hold any */
}

/* --- texts ------------------------------------------------------------------------------------ */

/* The four hexadecimal digits at p; -1 if they are missing. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t value = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
		            : c >= 'a' && c <= 'f' ? c - 'a' + 10
		            : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                                   : -1;
		if (digit < 0)
			return -1;
		value = 16 * value + digit;
	}
	return value;
}

/* "\u20ac", or a surrogate pair; *p is after the u. */
static kdr_status unicode_escape(parser *in, const char **p, char **to)
{
	const char *at = *p - 2;
	int32_t c = hex4(*p, in->end), low;
	if (c < 0)
		return json_read_wrong(in, at, "\\u needs four hexadecimal digits");
	*p += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		bool pair = in->end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u';
		low = pair ? hex4(*p + 2, in->end) : -1;
		if (low < 0xdc00 || low > 0xdfff)
			return json_read_wrong(in, at, "surrogate \\u%04x without its second half",
			                       (unsigned)c);
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		*p += 6;
	} else if (c >= 0xdc00 && c < 0xe000) {
		return json_read_wrong(in, at, "surrogate \\u%04x without its first half", (unsigned)c);
	}
	*to += kdri_utf8_put((uint32_t)c, *to);
	return KDR_OK;
}

/* The string whose opening quote is at in->p; the decoded text is never longer than the encoded one. */
static kdr_status parse_text(parser *in, const char **out, uint32_t *length)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *p = ++in->p, *stop = p;
	char *text = NULL, *to;
	while (stop < in->end && *stop != '"')
		stop += *stop == '\\' ? 2 : 1;
	if (stop >= in->end)
		return ends(in);
	KDRI_DO(kdri_json_tree_room(&in->tree, (size_t)(stop - p) + 1, &text));
	to = text;
	while (p < stop) {
		const char *escape;
		uint32_t character;
		const size_t bytes = kdri_utf8_at(p, (size_t)(stop - p), &character);
		if ((unsigned char)*p < 0x20)
			return json_read_wrong(in, p, "control character (0x%02x) in a string", (unsigned)*p);
		if (bytes == 0)
			return json_read_wrong(in, p, "not UTF-8 (0x%02x)", (unsigned)(unsigned char)*p);
		if (*p != '\\') {
			memcpy(to, p, bytes);
			to += bytes;
			p += bytes;
		} else if (p[1] == 'u') {
			p += 2;
			KDRI_DO(unicode_escape(in, &p, &to));
		} else if (p[1] != '\0' && (escape = strchr(from, p[1]))) {
			*to++ = means[escape - from];
			p += 2;
		} else {
			return json_read_wrong(in, p, "invalid escape sequence after a backslash");
		}
	}
	*to = '\0';
	*out = text;
	*length = (uint32_t)(to - text);
	in->p = stop + 1;
	return KDR_OK;
}

/* --- numbers and words ------------------------------------------------------------------------ */

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static kdr_status parse_number(parser *in, kdri_json_value *v)
{
	const char *start = in->p, *p = start + (*start == '-'), *whole = p, *part;
	p = digits(p, in->end);
	if (p == whole || (*whole == '0' && p > whole + 1))
		return json_read_wrong(in, start, "invalid number: it needs a digit, and no leading zero");
	bool integer = true;
	if (p < in->end && *p == '.') {
		part = p + 1;
		p = digits(part, in->end);
		if (p == part)
			return json_read_wrong(in, start,
			                       "invalid number: a digit is expected after the decimal point");
		integer = false;
	}
	if (p < in->end && (*p == 'e' || *p == 'E')) {
		part = p + 1;
		part += part < in->end && (*part == '+' || *part == '-');
		p = digits(part, in->end);
		if (p == part)
			return json_read_wrong(in, start,
			                       "invalid number: a digit is expected in the exponent");
		integer = false;
	}
	in->p = p;
	v->type = KDRI_JSON_INTEGER;
	if (integer && kdri_parse_int(start, p, &v->as.integer) == p)
		return KDR_OK;
	v->type = KDRI_JSON_REAL;
	if (kdri_parse_double(start, p, &v->as.real) != p || !isfinite(v->as.real))
		return json_read_wrong(in, start, "number out of range: the largest is 1.8e308");
	return KDR_OK;
}

static kdr_status parse_word(parser *in, kdri_json_value *v)
{
	static const struct {
		const char *word;
		kdri_json_type type;
	} words[] = { { "null", KDRI_JSON_NULL }, { "false", KDRI_JSON_FALSE }, { "true", KDRI_JSON_TRUE } };
	size_t left = (size_t)(in->end - in->p);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);
		if (memcmp(in->p, words[i].word, KDRI_MIN(n, left)) != 0)
			continue;
		if (left < n)
			return ends(in);
		v->type = words[i].type;
		in->p += n;
		return KDR_OK;
	}
	return json_read_wrong(in, in->p, "a value is expected");
}

/* --- lists ------------------------------------------------------------------------------------ */

/* "key" : */
static kdr_status parse_key(parser *in, const char **key)
{
	uint32_t length = 0;
	const char *at = in->p, *text = "";
	if (in->p == in->end)
		return ends(in);
	if (*in->p != '"')
		return json_read_wrong(in, at, "a key in double quotes is expected");
	KDRI_DO(parse_text(in, &text, &length));
	if (length != strlen(text))
		return json_read_wrong(in, at, "a key contains \\u0000");
	*key = text;
	skip_blanks(in);
	if (in->p == in->end)
		return ends(in);
	if (*in->p != ':')
		return json_read_wrong(in, in->p, "':' is expected after a key");
	in->p++;
	skip_blanks(in);
	return KDR_OK;
}

static kdr_status parse_value(parser *in, const char *key);

static kdr_status parse_list(parser *in, const kdri_json_value *list)
{
	bool object = list->type == KDRI_JSON_OBJECT, first = true;
	char close = object ? '}' : ']';
	if (++in->depth > DEPTH)
		return json_read_wrong(in, in->p, "nested more than %d levels deep", DEPTH);
	KDRI_DO(kdri_json_tree_add(&in->tree, list));
	kdri_json_tree_open(&in->tree);
	in->p++;
	for (skip_blanks(in);; skip_blanks(in)) {
		const char *key = NULL;
		if (in->p < in->end && *in->p == close && first)
			break;
		first = false;
		if (object)
			KDRI_DO(parse_key(in, &key));
		KDRI_DO(parse_value(in, key));
		skip_blanks(in);
		if (in->p == in->end)
			return ends(in);
		if (*in->p == close)
			break;
		if (*in->p != ',')
			return json_read_wrong(in, in->p, "',' or '%c' is expected", close);
		in->p++;
	}
	in->depth--;
	in->p++;
	KDRI_DO(kdri_json_tree_close(&in->tree));
	const char *twin = kdri_json_tree_twin(&in->tree);
	return twin ? json_read_wrong(in, in->p - 1, "key '%.40s' occurs twice in one object", twin) : KDR_OK;
}

static kdr_status parse_value(parser *in, const char *key)
{
	kdri_json_value v = { .line = KDRI_MIN(in->lines, LINES_MOST), .key = key };
	if (in->p == in->end)
		return ends(in);
	if (*in->p == '{' || *in->p == '[') {
		v.type = *in->p == '{' ? KDRI_JSON_OBJECT : KDRI_JSON_ARRAY;
		return parse_list(in, &v);
	}
	if (*in->p == '"') {
		v.type = KDRI_JSON_TEXT;
		KDRI_DO(parse_text(in, &v.as.text, &v.count));
	} else {
		KDRI_DO(*in->p == '-' || (*in->p >= '0' && *in->p <= '9') ? parse_number(in, &v)
		                                                          : parse_word(in, &v));
	}
	return kdri_json_tree_add(&in->tree, &v);
}

kdr_status kdri_json_parse(kdr_context *ctx, const char *name, int64_t line, const char *text, size_t size,
                           kdri_json_value **root)
{
	kdr_status st;
	parser in = { .ctx = ctx, .name = name, .begin = text, .p = text, .end = text + size, .line = line };
	const int64_t bytes = (int64_t)size;
	KDRI_NEED(ctx, name && text && root);
	if (bytes > UINT32_MAX)
		return kdri_fail(ctx, KDR_ERR_SIZE, "%s: has %lld bytes, but JSON may have at most %lld",
		                 name, (long long)bytes, (long long)UINT32_MAX);
	KDRI_TRY(kdri_json_tree_begin(ctx, KDRI_MIN(KDRI_MAX(2 * size, LEAST_BLOCK), MOST_BLOCK), &in.tree));
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* some editors put this mark first */
		in.p += 3;
	skip_blanks(&in);
	KDRI_TRY(parse_value(&in, NULL));
	skip_blanks(&in);
	if (in.p < in.end)
		st = json_read_wrong(&in, in.p, "unexpected text after the end");
done:
	return kdri_json_tree_end(&in.tree, st, root);
}
