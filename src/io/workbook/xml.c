/* XML as spreadsheets have it: text in, opened and closed elements and texts out. SPDX-License-Identifier: BSD-3-Clause */
#include "io/workbook/xml.h"

enum { BUFFER = 1 << 16, TEXT_MOST = 1 << 20 }; /* a cell of a spreadsheet holds 32767 characters */

kdr_status kdri_xml_open(kdr_context *ctx, const kdri_source *source, kdri_xml *x)
{
	*x = (kdri_xml){ .source = source };
	return KDRI_NEW(ctx, &x->buffer, BUFFER);
}

void kdri_xml_close(kdr_context *ctx, kdri_xml *x)
{
	kdri_free(ctx, x->buffer);
	kdri_free(ctx, x->text);
	*x = (kdri_xml){ 0 };
}

static kdr_status xml_bad(kdr_context *ctx, const kdri_xml *x, const char *what)
{
	return kdri_fail(ctx, KDR_ERR_FORMAT, "%s: not sound XML: %s", x->source->label, what);
}

/* The next byte without taking it; -1 at the end. */
static kdr_status peek(kdr_context *ctx, kdri_xml *x, int *c)
{
	kdr_status st = KDR_OK;
	if (x->begin == x->end && !x->last) {
		x->begin = 0;
		KDRI_TRY(x->source->read(ctx, x->source->user, x->buffer, BUFFER, &x->end));
		x->last = x->end < BUFFER;
	}
	*c = x->begin < x->end ? x->buffer[x->begin] : -1;
done:
	return st;
}

static kdr_status push(kdr_context *ctx, kdri_xml *x, char c)
{
	kdr_status st = KDR_OK;
	if (x->length + 1 >= x->room) {
		if (x->room >= TEXT_MOST)
			return xml_bad(ctx, x, "a text or tag of more than a megabyte");
		size_t room = x->room ? 2 * x->room : 256;
		KDRI_TRY(KDRI_GROW(ctx, &x->text, (int64_t)room));
		x->room = room;
	}
	x->text[x->length++] = c;
	x->text[x->length] = '\0';
done:
	return st;
}

/* UTF-8 of a character; one that cannot be in a text is U+FFFD. Returns its bytes. */
static int xml_encode(uint32_t c, char out[4])
{
	if (c < 9 || (c > 10 && c < 32 && c != 13) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (int i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

/* What the entity at p, behind its '&', stands for: the bytes; *used: its length with the ';'. 0: it is none. */
static int xml_entity(const char *p, size_t length, char out[4], size_t *used)
{
	static const struct {
		const char *name;
		char is;
	} known[] = { { "lt;", '<' }, { "gt;", '>' }, { "amp;", '&' }, { "quot;", '"' }, { "apos;", '\'' } };
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t n = strlen(known[i].name);
		if (length >= n && memcmp(p, known[i].name, n) == 0) {
			out[0] = known[i].is;
			*used = n;
			return 1;
		}
	}
	if (length < 3 || p[0] != '#')
		return 0;
	bool hex = p[1] == 'x';
	uint32_t c = 0;
	for (size_t i = hex ? 2 : 1; i < length && i < 12; i++) {
		int digit = p[i] >= '0' && p[i] <= '9'          ? p[i] - '0'
		            : hex && p[i] >= 'a' && p[i] <= 'f' ? p[i] - 'a' + 10
		            : hex && p[i] >= 'A' && p[i] <= 'F' ? p[i] - 'A' + 10
		                                                : -1;
		if (p[i] == ';' && i > (hex ? 2 : 1)) {
			*used = i + 1;
			return xml_encode(c, out);
		}
		if (digit < 0 || c > 0x110000)
			return 0;
		c = c * (hex ? 16 : 10) + (uint32_t)digit;
	}
	return 0;
}

/* Entities decoded, into `out` with room for `room` bytes and the end. Texts only get shorter, so it may be the same place. */
static size_t decode(const char *p, size_t length, char *out, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < length;) {
		char piece[4] = { p[i] };
		size_t used = 0;
		int bytes = p[i] == '&' ? xml_entity(p + i + 1, length - i - 1, piece, &used) : 0;
		i += bytes ? used + 1 : 1;
		bytes = bytes ? bytes : 1;
		if (n + (size_t)bytes > room)
			break;
		memcpy(out + n, piece, (size_t)bytes);
		n += (size_t)bytes;
	}
	out[n] = '\0';
	return n;
}

/* Takes bytes up to and with `end`, into the text where `keep`. */
static kdr_status take_until(kdr_context *ctx, kdri_xml *x, const char *end, bool keep)
{
	kdr_status st = KDR_OK;
	size_t matched = 0, n = strlen(end);
	for (int c;;) {
		KDRI_TRY(peek(ctx, x, &c));
		if (c < 0) {
			st = xml_bad(ctx, x, "it ends too early");
			goto done;
		}
		x->begin++;
		if (keep)
			KDRI_TRY(push(ctx, x, (char)c));
		/* The ends looked for repeat no character but the first: "-->", "]]>", "?>". */
		if (c == end[matched])
			matched++;
		else if (!(matched == 2 && c == end[0] && end[0] == end[1]))
			matched = c == end[0];
		if (matched == n)
			break;
	}
	if (keep) {
		x->length -= n;
		x->text[x->length] = '\0';
	}
done:
	return st;
}

static bool xml_starts(const kdri_xml *x, const char *with)
{
	return x->length == strlen(with) && memcmp(x->text, with, x->length) == 0;
}

/* The rest of a tag, behind '<': until a '>' outside quotes. Comments and instructions are passed over: *none. Marked
 * sections are texts: *section. */
static kdr_status read_tag(kdr_context *ctx, kdri_xml *x, bool *none, bool *section)
{
	kdr_status st = KDR_OK;
	int quote = 0;
	*none = *section = false;
	for (int c;;) {
		KDRI_TRY(peek(ctx, x, &c));
		if (c < 0) {
			st = xml_bad(ctx, x, "it ends within a tag");
			goto done;
		}
		x->begin++;
		if (c == '>' && !quote)
			break;
		if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? 0 : c;
		KDRI_TRY(push(ctx, x, c ? (char)c : ' '));
		if (xml_starts(x, "!--") || xml_starts(x, "?") || xml_starts(x, "![CDATA[")) {
			*section = x->text[1] == '[';
			*none = !*section;
			const char *end = x->text[0] == '?' ? "?>" : *section ? "]]>" : "-->";
			x->length = 0;
			KDRI_TRY(take_until(ctx, x, end, *section));
			goto done;
		}
		if (xml_starts(x, "!DOCTYPE")) {
			st = xml_bad(ctx, x, "it has a document type, which spreadsheets have not");
			goto done;
		}
	}
done:
	return st;
}

/* The name ends with a NUL, and where there is a prefix it is passed over. */
static void cut_name(kdri_xml *x)
{
	char *p = x->text, *name = p;
	for (; *p && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r'; p++)
		if (*p == ':')
			name = p + 1;
	*p = '\0';
	x->name = name;
}

kdr_status kdri_xml_next(kdr_context *ctx, kdri_xml *x, kdri_xml_event *event)
{
	kdr_status st = KDR_OK;
	bool none = true, section = false;
	if (x->closing) {
		x->closing = false;
		*event = KDRI_XML_CLOSE;
		return KDR_OK;
	}
	while (none) {
		int c;
		x->length = 0;
		KDRI_TRY(push(ctx, x, ' ')); /* there is a buffer */
		x->length = 0;
		x->text[0] = '\0';
		KDRI_TRY(peek(ctx, x, &c));
		if (c < 0) {
			*event = KDRI_XML_END;
			goto done;
		}
		if (c != '<') {
			for (; c >= 0 && c != '<';) {
				x->begin++;
				KDRI_TRY(push(ctx, x, c ? (char)c : ' '));
				KDRI_TRY(peek(ctx, x, &c));
			}
			x->length = decode(x->text, x->length, x->text, x->length);
			*event = KDRI_XML_TEXT;
			goto done;
		}
		x->begin++;
		KDRI_TRY(read_tag(ctx, x, &none, &section));
	}
	if (section) {
		*event = KDRI_XML_TEXT;
		goto done;
	}
	*event = x->text[0] == '/' ? KDRI_XML_CLOSE : KDRI_XML_OPEN;
	if (*event == KDRI_XML_CLOSE)
		memmove(x->text, x->text + 1, x->length--);
	else if (x->length > 0 && x->text[x->length - 1] == '/') {
		x->text[--x->length] = '\0';
		x->closing = true;
	}
	cut_name(x);
	if (!x->name[0])
		st = xml_bad(ctx, x, "a tag without a name");
done:
	return st;
}

bool kdri_xml_is(const kdri_xml *x, const char *name)
{
	return strcmp(x->name, name) == 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool kdri_xml_attribute(const kdri_xml *x, const char *name, char *out, size_t room)
{
	size_t wanted = strlen(name);
	const char *p = x->name + strlen(x->name) + 1, *end = x->text + x->length;
	while (p < end) {
		while (p < end && is_space(*p))
			p++;
		const char *begin = p;
		while (p < end && *p != '=' && !is_space(*p))
			p++;
		const char *colon = memchr(begin, ':', (size_t)(p - begin));
		const char *own = colon ? colon + 1 : begin;
		bool found = (size_t)(p - own) == wanted && memcmp(own, name, wanted) == 0;
		while (p < end && (is_space(*p) || *p == '='))
			p++;
		if (p >= end || (*p != '"' && *p != '\''))
			return false;
		const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
		if (!close)
			return false;
		if (found) {
			decode(p + 1, (size_t)(close - p - 1), out, room - 1);
			return true;
		}
		p = close + 1;
	}
	return false;
}
