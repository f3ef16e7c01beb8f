/* The visible text of HTML. SPDX-License-Identifier: BSD-3-Clause
 *
 * This is not a parser but only its tokeniser, with the tolerance that pages of all ages need:
 * - "<" begins a tag only before a letter, "/", "!" or "?"; else it is text;
 * - a quoted attribute may contain ">"; a quote that is never closed is not a quote;
 * - a comment that is never closed ends at the next ">";
 * - script and style are removed with their contents, up to their end tag or the end of the text;
 * - tags within a word ("<b>H</b>ello") do not split it, all others end it (with a space);
 * - entities: numbers, and the names of HTML 4.
 * It is one pass, linear in the input: a search that finds nothing up to the end of the text is not repeated. */
#include "text/text.h"

#include <strings.h>

typedef struct scanner {
	const char *p, *end;
	/* None of these occurs between here and the end: */
	bool no_quote[2], no_comment_end;
	char *out;
} scanner;

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_alnum(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Compares the tag's name, in any case. */
static bool is_name(const char *name, size_t length, const char *with)
{
	size_t i = 0;
	while (i < length && with[i] && (name[i] | 32) == with[i])
		i++;
	return i == length && with[i] == '\0';
}

/* Tags that may occur inside a word. */
static bool is_inline(const char *name, size_t length)
{
	static const char *const names[] = { "a",     "abbr",  "acronym", "b",      "bdo",    "big",
		                             "blink", "cite",  "code",    "del",    "dfn",    "em",
		                             "font",  "i",     "ins",     "kbd",    "mark",   "s",
		                             "samp",  "small", "span",    "strike", "strong", "sub",
		                             "sup",   "tt",    "u",       "var",    "wbr" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (is_name(name, length, names[i]))
			return true;
	return false;
}

/* Past the ">" that ends the tag at s->p, or the end of the text. */
static void skip_tag(scanner *s)
{
	const char *p = s->p;
	while (p < s->end && *p != '>') {
		if (*p++ != '=')
			continue;
		while (p < s->end && is_space(*p))
			p++;
		if (p == s->end || (*p != '"' && *p != '\''))
			continue;
		int which = *p == '"';
		const char *close = NULL;
		if (!s->no_quote[which])
			close = memchr(p + 1, *p, (size_t)(s->end - p - 1));
		s->no_quote[which] = !close;
		p = close ? close + 1 : p + 1;
	}
	s->p = p < s->end ? p + 1 : p;
}

static const char *html_find(const char *p, const char *end, const char *what)
{
	size_t n = strlen(what);
	while ((size_t)(end - p) >= n) {
		p = memchr(p, what[0], (size_t)(end - p) - n + 1);
		if (!p)
			return NULL;
		if (memcmp(p, what, n) == 0)
			return p;
		p++;
	}
	return NULL;
}

/* At "<!" or "<?". */
static void skip_declaration(scanner *s)
{
	if (!s->no_comment_end && s->end - s->p >= 4 && memcmp(s->p, "<!--", 4) == 0) {
		/* "<!-->" is a complete comment: the search may begin at its dashes. */
		const char *close = html_find(s->p + 2, s->end, "-->");
		if (close) {
			s->p = close + 3;
			return;
		}
		s->no_comment_end = true;
	}
	const char *close = memchr(s->p, '>', (size_t)(s->end - s->p));
	s->p = close ? close + 1 : s->end;
}

/* After <script ...> or <style ...>: to its end tag, which is left to the main loop. */
static void skip_content(scanner *s, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = s->p; (p = memchr(p, '<', (size_t)(s->end - p))); p++)
		if ((size_t)(s->end - p) >= n + 2 && p[1] == '/' && is_name(p + 2, n, name)) {
			s->p = p;
			return;
		}
	s->p = s->end;
}

static void tag(scanner *s)
{
	const char *name = s->p + 1;
	bool closing = name < s->end && *name == '/';
	name += closing;
	size_t n = 0;
	while (name + n < s->end && is_alnum(name[n]))
		n++;
	s->p = name + n;
	skip_tag(s);
	if (!is_inline(name, n))
		*s->out++ = ' ';
	if (!closing && is_name(name, n, "script"))
		skip_content(s, "script");
	else if (!closing && is_name(name, n, "style"))
		skip_content(s, "style");
}

/* At "&#": the number's character; false if there is no number. */
static bool html_number(scanner *s)
{
	const char *p = s->p + 2;
	bool hex = p < s->end && (*p | 32) == 'x';
	uint32_t value = 0, base = hex ? 16 : 10;
	p += hex;
	const char *digits = p;
	for (; p < s->end; p++) {
		uint32_t digit = *p >= '0' && *p <= '9'                     ? (uint32_t)(*p - '0')
		                 : hex && is_letter(*p) && (*p | 32) <= 'f' ? (uint32_t)((*p | 32) - 'a' + 10)
		                                                            : 99;
		if (digit >= base)
			break;
		value = KDRI_MIN(value * base + digit, 0x110000u);
	}
	if (p == digits)
		return false;
	/* Pages that mean Windows-1252 write its bytes as numbers: HTML 5 reads them so. */
	if (value >= 0x80 && value < 0xa0)
		value = kdri_1252((unsigned char)value);
	s->out += kdri_utf8_put(value ? value : 0xfffd, s->out);
	s->p = p < s->end && *p == ';' ? p + 1 : p;
	return true;
}

/* At "&": true if an entity was taken. */
static bool html_entity(scanner *s)
{
	const char *name = s->p + 1;
	size_t n = 0;
	if (name < s->end && *name == '#')
		return html_number(s);
	while (name + n < s->end && n < 9 && is_alnum(name[n]))
		n++;
	uint32_t c = kdri_html_entity(name, n);
	if (!c)
		return false;
	s->out += kdri_utf8_put(c, s->out);
	s->p = name + n < s->end && name[n] == ';' ? name + n + 1 : name + n;
	return true;
}

size_t kdri_html_strip(const char *text, size_t length, char *out)
{
	scanner s = { .p = text, .end = text + length, .out = out };
	while (s.p < s.end) {
		char c = *s.p, next = s.end - s.p > 1 ? s.p[1] : '\0';
		if (c == '<' && (is_letter(next) || next == '/'))
			tag(&s);
		else if (c == '<' && (next == '!' || next == '?'))
			skip_declaration(&s);
		else if (c != '&' || !html_entity(&s))
			*s.out++ = *s.p++;
	}
	return (size_t)(s.out - out);
}

bool kdri_html_likely(const char *text, size_t length)
{
	static const char *const tags[] = { "<html", "<body", "<!doctype html" };
	const char *end = text + KDRI_MIN(length, 4096);
	for (const char *p = text; p < end; p++)
		for (size_t i = 0; *p == '<' && i < sizeof tags / sizeof tags[0]; i++)
			if ((size_t)(end - p) > strlen(tags[i]) &&
			    strncasecmp(p, tags[i], strlen(tags[i])) == 0)
				return true;
	return false;
}
