/* JSON to a tree. SPDX-License-Identifier: BSD-3-Clause
 *
 * A document is one arena: nothing is freed separately. The values of a list wait on a stack until its bracket
 * closes, and are then copied side by side into the arena, so that entry i is found at once. An object of more than
 * LINEAR members has pointers to them, in order of key, after its members. Nothing in the text is trusted: sizes
 * follow from the data read, never from declared sizes, and depth is bounded. */
#include <stdio.h>
#include <stdlib.h>

#include "core/internal.h"
#include "core/json_read.h"
#include "core/numbers.h"
#include "core/utf8.h"

enum { DEPTH = 500, LINEAR = 8, LEAST_BLOCK = 1 << 10, MOST_BLOCK = 1 << 16 };

struct kdri_json_value {
	kdri_json_type type;
	uint32_t line;   /* where it begins, from 0 */
	const char *key; /* in an object, else NULL */
	int64_t count;   /* entries, or bytes of text */
	union {
		double real;
		int64_t integer;
		const char *text;
		const kdri_json_value *items;
	} as;
};

typedef struct block {
	struct block *next;
	max_align_t data[];
} block;

typedef struct document {
	kdri_json_value root; /* first: a pointer to it is one to the document */
	kdr_allocator allocator;
	block *blocks;
} document;

typedef struct parser {
	kdr_context *ctx;
	const char *name, *begin, *p, *end;
	int64_t line;   /* the number of the first line */
	uint32_t lines; /* those before p */
	document *doc;
	size_t used, room;          /* of the newest block, in bytes */
	kdri_json_value *stack;     /* values of lists that are still open */
	int64_t height, stack_room; /* of the stack */
	int depth;
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

/* Room in the arena. */
static kdr_status json_read_take(parser *in, size_t size, void *out)
{
	block *fresh = NULL;
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!in->doc->blocks || size > in->room - in->used) {
		size_t guess = 2 * (size_t)(in->end - in->begin);
		size_t room = KDRI_MAX(size, KDRI_MIN(KDRI_MAX(guess, LEAST_BLOCK), MOST_BLOCK));
		KDRI_DO(kdri_alloc(in->ctx, &fresh, (int64_t)(sizeof *fresh + room), 1));
		fresh->next = in->doc->blocks;
		in->doc->blocks = fresh;
		in->used = 0;
		in->room = room;
	}
	*(void **)out = (char *)in->doc->blocks->data + in->used;
	in->used += size;
	return KDR_OK;
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
static kdr_status parse_text(parser *in, const char **out, int64_t *length)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *p = ++in->p, *stop = p;
	char *text = NULL, *to;
	while (stop < in->end && *stop != '"')
		stop += *stop == '\\' ? 2 : 1;
	if (stop >= in->end)
		return ends(in);
	KDRI_DO(json_read_take(in, (size_t)(stop - p) + 1, &text));
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
	*length = to - text;
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

static int by_key(const void *a, const void *b)
{
	return strcmp((*(const kdri_json_value *const *)a)->key, (*(const kdri_json_value *const *)b)->key);
}

static const kdri_json_value *const *sorted_members(const kdri_json_value *object)
{
	return (const kdri_json_value *const *)(object->as.items + object->count);
}

/* Two members with one key, or NULL. */
static const kdri_json_value *find_twin(const kdri_json_value *object, const kdri_json_value **sorted)
{
	const kdri_json_value *items = object->as.items;
	for (int64_t i = 1; i < object->count; i++) {
		if (object->count > LINEAR && strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			return sorted[i];
		for (int64_t j = 0; object->count <= LINEAR && j < i; j++)
			if (strcmp(items[j].key, items[i].key) == 0)
				return &items[i];
	}
	return NULL;
}

/* Moves what waits on the stack above `base` into the arena, as the entries of `list`. */
static kdr_status close_list(parser *in, int64_t base, kdri_json_value *list)
{
	kdri_json_value *items = NULL;
	bool indexed = list->type == KDRI_JSON_OBJECT && in->height - base > LINEAR;
	list->count = in->height - base;
	KDRI_DO(json_read_take(
	        in, (size_t)list->count * (sizeof *items + (indexed ? sizeof(kdri_json_value *) : 0)),
	        &items));
	if (list->count > 0)
		memcpy(items, in->stack + base, (size_t)list->count * sizeof *items);
	list->as.items = items;
	in->height = base;
	in->p++;
	if (list->type != KDRI_JSON_OBJECT)
		return KDR_OK;
	const kdri_json_value **sorted = (const kdri_json_value **)(items + list->count);
	for (int64_t i = 0; indexed && i < list->count; i++)
		sorted[i] = &items[i];
	if (indexed)
		qsort(sorted, (size_t)list->count, sizeof *sorted, by_key);
	const kdri_json_value *twin = find_twin(list, sorted);
	if (twin)
		return json_read_wrong(in, in->p - 1, "key '%.40s' occurs twice in one object", twin->key);
	return KDR_OK;
}

/* "key" : */
static kdr_status parse_key(parser *in, const char **key)
{
	int64_t length = 0;
	const char *at = in->p, *text = "";
	if (in->p == in->end)
		return ends(in);
	if (*in->p != '"')
		return json_read_wrong(in, at, "a key in double quotes is expected");
	KDRI_DO(parse_text(in, &text, &length));
	if ((size_t)length != strlen(text))
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

static kdr_status parse_value(parser *in, kdri_json_value *v);

static kdr_status parse_list(parser *in, kdri_json_value *list)
{
	kdr_status st;
	int64_t base = in->height;
	bool object = list->type == KDRI_JSON_OBJECT;
	char close = object ? '}' : ']';
	if (++in->depth > DEPTH)
		return json_read_wrong(in, in->p, "nested more than %d levels deep", DEPTH);
	in->p++;
	for (skip_blanks(in);; skip_blanks(in)) {
		kdri_json_value entry = { 0 };
		if (in->p < in->end && *in->p == close && in->height == base)
			break;
		if (object)
			KDRI_TRY(parse_key(in, &entry.key));
		KDRI_TRY(parse_value(in, &entry));
		KDRI_TRY(KDRI_ROOM(in->ctx, &in->stack, &in->stack_room, in->height + 1));
		in->stack[in->height++] = entry;
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
	st = close_list(in, base, list);
done:
	return st;
}

static kdr_status parse_value(parser *in, kdri_json_value *v)
{
	if (in->p == in->end)
		return ends(in);
	v->line = in->lines;
	switch (*in->p) {
	case '{': v->type = KDRI_JSON_OBJECT; return parse_list(in, v);
	case '[': v->type = KDRI_JSON_ARRAY; return parse_list(in, v);
	case '"': v->type = KDRI_JSON_TEXT; return parse_text(in, &v->as.text, &v->count);
	default:
		return *in->p == '-' || (*in->p >= '0' && *in->p <= '9') ? parse_number(in, v)
		                                                         : parse_word(in, v);
	}
}

kdr_status kdri_json_parse(kdr_context *ctx, const char *name, int64_t line, const char *text, size_t size,
                           kdri_json_value **root)
{
	kdr_status st;
	parser in = { .ctx = ctx, .name = name, .begin = text, .p = text, .end = text + size, .line = line };
	KDRI_NEED(ctx, name && text && root);
	KDRI_TRY(KDRI_NEW0(ctx, &in.doc, 1));
	in.doc->allocator = ctx->allocator;
	if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* some editors put this mark first */
		in.p += 3;
	skip_blanks(&in);
	KDRI_TRY(parse_value(&in, &in.doc->root));
	skip_blanks(&in);
	if (in.p < in.end) {
		st = json_read_wrong(&in, in.p, "unexpected text after the end");
		goto done;
	}
	*root = &in.doc->root;
	in.doc = NULL;
done:
	kdri_free(ctx, in.stack);
	if (in.doc)
		kdri_json_value_free(&in.doc->root);
	return st;
}

void kdri_json_value_free(kdri_json_value *root)
{
	document *doc = (document *)root;
	if (!doc)
		return;
	kdr_allocator allocator = doc->allocator;
	for (block *b = doc->blocks, *next; b; b = next) {
		next = b->next;
		kdri_free_with(&allocator, b);
	}
	kdri_free_with(&allocator, doc);
}

/* --- looking -------------------------------------------------------------------------------- */

kdri_json_type kdri_json_typeof(const kdri_json_value *v)
{
	return v ? v->type : KDRI_JSON_ABSENT;
}

int64_t kdri_json_line(const kdri_json_value *v)
{
	return v ? (int64_t)v->line + 1 : 0;
}

int64_t kdri_json_count(const kdri_json_value *v)
{
	return v && (v->type == KDRI_JSON_ARRAY || v->type == KDRI_JSON_OBJECT) ? v->count : 0;
}

const kdri_json_value *kdri_json_at(const kdri_json_value *v, int64_t index)
{
	return index >= 0 && index < kdri_json_count(v) ? &v->as.items[index] : NULL;
}

const char *kdri_json_key(const kdri_json_value *v)
{
	return v && v->key ? v->key : "";
}

const kdri_json_value *kdri_json_get(const kdri_json_value *v, const char *key)
{
	if (!v || v->type != KDRI_JSON_OBJECT)
		return NULL;
	if (v->count > LINEAR) {
		kdri_json_value wanted = { .key = key };
		const kdri_json_value *probe = &wanted, *const * found;
		found = bsearch(&probe, sorted_members(v), (size_t)v->count, sizeof probe, by_key);
		return found ? *found : NULL;
	}
	for (int64_t i = 0; i < v->count; i++)
		if (strcmp(v->as.items[i].key, key) == 0)
			return &v->as.items[i];
	return NULL;
}

double kdri_json_number(const kdri_json_value *v, double otherwise)
{
	if (kdri_json_typeof(v) == KDRI_JSON_INTEGER)
		return (double)v->as.integer;
	return kdri_json_typeof(v) == KDRI_JSON_REAL ? v->as.real : otherwise;
}

int64_t kdri_json_integer(const kdri_json_value *v, int64_t otherwise)
{
	return kdri_json_typeof(v) == KDRI_JSON_INTEGER ? v->as.integer : otherwise;
}

const char *kdri_json_text(const kdri_json_value *v, size_t *length)
{
	bool text = kdri_json_typeof(v) == KDRI_JSON_TEXT;
	if (length)
		*length = text ? (size_t)v->count : 0;
	return text ? v->as.text : NULL;
}
