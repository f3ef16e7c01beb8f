/* The visible text of HTML and mail. SPDX-License-Identifier: BSD-3-Clause
 *
 * This is not a parser but only its tokeniser, with the tolerance that pages of all ages need:
 * - "<" begins a tag only before a letter, "/", "!" or "?"; else it is text;
 * - a quoted attribute may contain ">"; a quote that is never closed is not a quote;
 * - a comment that is never closed ends at the next ">";
 * - script and style are removed with their contents, up to their end tag or the end of the text;
 * - tags within a word ("<b>H</b>ello") do not split it, all others end it (with a space);
 * - entities: numbers, and the names of HTML 4.
 * It is one pass, linear in the input: a search that finds nothing up to the end of the text is not repeated. */
#include <stdlib.h>
#include <strings.h>

#include "text/text.h"

/* The named characters of HTML 4 (section 24 of its specification), and XML's &apos;. */

typedef struct named {
	char name[10];
	uint16_t character;
} named;

/* In byte order. */
static const named table[] = {
	{ "AElig", 0x00c6 },   { "Aacute", 0x00c1 },  { "Acirc", 0x00c2 },    { "Agrave", 0x00c0 },
	{ "Alpha", 0x0391 },   { "Aring", 0x00c5 },   { "Atilde", 0x00c3 },   { "Auml", 0x00c4 },
	{ "Beta", 0x0392 },    { "Ccedil", 0x00c7 },  { "Chi", 0x03a7 },      { "Dagger", 0x2021 },
	{ "Delta", 0x0394 },   { "ETH", 0x00d0 },     { "Eacute", 0x00c9 },   { "Ecirc", 0x00ca },
	{ "Egrave", 0x00c8 },  { "Epsilon", 0x0395 }, { "Eta", 0x0397 },      { "Euml", 0x00cb },
	{ "Gamma", 0x0393 },   { "Iacute", 0x00cd },  { "Icirc", 0x00ce },    { "Igrave", 0x00cc },
	{ "Iota", 0x0399 },    { "Iuml", 0x00cf },    { "Kappa", 0x039a },    { "Lambda", 0x039b },
	{ "Mu", 0x039c },      { "Ntilde", 0x00d1 },  { "Nu", 0x039d },       { "OElig", 0x0152 },
	{ "Oacute", 0x00d3 },  { "Ocirc", 0x00d4 },   { "Ograve", 0x00d2 },   { "Omega", 0x03a9 },
	{ "Omicron", 0x039f }, { "Oslash", 0x00d8 },  { "Otilde", 0x00d5 },   { "Ouml", 0x00d6 },
	{ "Phi", 0x03a6 },     { "Pi", 0x03a0 },      { "Prime", 0x2033 },    { "Psi", 0x03a8 },
	{ "Rho", 0x03a1 },     { "Scaron", 0x0160 },  { "Sigma", 0x03a3 },    { "THORN", 0x00de },
	{ "Tau", 0x03a4 },     { "Theta", 0x0398 },   { "Uacute", 0x00da },   { "Ucirc", 0x00db },
	{ "Ugrave", 0x00d9 },  { "Upsilon", 0x03a5 }, { "Uuml", 0x00dc },     { "Xi", 0x039e },
	{ "Yacute", 0x00dd },  { "Yuml", 0x0178 },    { "Zeta", 0x0396 },     { "aacute", 0x00e1 },
	{ "acirc", 0x00e2 },   { "acute", 0x00b4 },   { "aelig", 0x00e6 },    { "agrave", 0x00e0 },
	{ "alefsym", 0x2135 }, { "alpha", 0x03b1 },   { "amp", 0x0026 },      { "and", 0x2227 },
	{ "ang", 0x2220 },     { "apos", 0x0027 },    { "aring", 0x00e5 },    { "asymp", 0x2248 },
	{ "atilde", 0x00e3 },  { "auml", 0x00e4 },    { "bdquo", 0x201e },    { "beta", 0x03b2 },
	{ "brvbar", 0x00a6 },  { "bull", 0x2022 },    { "cap", 0x2229 },      { "ccedil", 0x00e7 },
	{ "cedil", 0x00b8 },   { "cent", 0x00a2 },    { "chi", 0x03c7 },      { "circ", 0x02c6 },
	{ "clubs", 0x2663 },   { "cong", 0x2245 },    { "copy", 0x00a9 },     { "crarr", 0x21b5 },
	{ "cup", 0x222a },     { "curren", 0x00a4 },  { "dArr", 0x21d3 },     { "dagger", 0x2020 },
	{ "darr", 0x2193 },    { "deg", 0x00b0 },     { "delta", 0x03b4 },    { "diams", 0x2666 },
	{ "divide", 0x00f7 },  { "eacute", 0x00e9 },  { "ecirc", 0x00ea },    { "egrave", 0x00e8 },
	{ "empty", 0x2205 },   { "emsp", 0x2003 },    { "ensp", 0x2002 },     { "epsilon", 0x03b5 },
	{ "equiv", 0x2261 },   { "eta", 0x03b7 },     { "eth", 0x00f0 },      { "euml", 0x00eb },
	{ "euro", 0x20ac },    { "exist", 0x2203 },   { "fnof", 0x0192 },     { "forall", 0x2200 },
	{ "frac12", 0x00bd },  { "frac14", 0x00bc },  { "frac34", 0x00be },   { "frasl", 0x2044 },
	{ "gamma", 0x03b3 },   { "ge", 0x2265 },      { "gt", 0x003e },       { "hArr", 0x21d4 },
	{ "harr", 0x2194 },    { "hearts", 0x2665 },  { "hellip", 0x2026 },   { "iacute", 0x00ed },
	{ "icirc", 0x00ee },   { "iexcl", 0x00a1 },   { "igrave", 0x00ec },   { "image", 0x2111 },
	{ "infin", 0x221e },   { "int", 0x222b },     { "iota", 0x03b9 },     { "iquest", 0x00bf },
	{ "isin", 0x2208 },    { "iuml", 0x00ef },    { "kappa", 0x03ba },    { "lArr", 0x21d0 },
	{ "lambda", 0x03bb },  { "lang", 0x2329 },    { "laquo", 0x00ab },    { "larr", 0x2190 },
	{ "lceil", 0x2308 },   { "ldquo", 0x201c },   { "le", 0x2264 },       { "lfloor", 0x230a },
	{ "lowast", 0x2217 },  { "loz", 0x25ca },     { "lrm", 0x200e },      { "lsaquo", 0x2039 },
	{ "lsquo", 0x2018 },   { "lt", 0x003c },      { "macr", 0x00af },     { "mdash", 0x2014 },
	{ "micro", 0x00b5 },   { "middot", 0x00b7 },  { "minus", 0x2212 },    { "mu", 0x03bc },
	{ "nabla", 0x2207 },   { "nbsp", 0x00a0 },    { "ndash", 0x2013 },    { "ne", 0x2260 },
	{ "ni", 0x220b },      { "not", 0x00ac },     { "notin", 0x2209 },    { "nsub", 0x2284 },
	{ "ntilde", 0x00f1 },  { "nu", 0x03bd },      { "oacute", 0x00f3 },   { "ocirc", 0x00f4 },
	{ "oelig", 0x0153 },   { "ograve", 0x00f2 },  { "oline", 0x203e },    { "omega", 0x03c9 },
	{ "omicron", 0x03bf }, { "oplus", 0x2295 },   { "or", 0x2228 },       { "ordf", 0x00aa },
	{ "ordm", 0x00ba },    { "oslash", 0x00f8 },  { "otilde", 0x00f5 },   { "otimes", 0x2297 },
	{ "ouml", 0x00f6 },    { "para", 0x00b6 },    { "part", 0x2202 },     { "permil", 0x2030 },
	{ "perp", 0x22a5 },    { "phi", 0x03c6 },     { "pi", 0x03c0 },       { "piv", 0x03d6 },
	{ "plusmn", 0x00b1 },  { "pound", 0x00a3 },   { "prime", 0x2032 },    { "prod", 0x220f },
	{ "prop", 0x221d },    { "psi", 0x03c8 },     { "quot", 0x0022 },     { "rArr", 0x21d2 },
	{ "radic", 0x221a },   { "rang", 0x232a },    { "raquo", 0x00bb },    { "rarr", 0x2192 },
	{ "rceil", 0x2309 },   { "rdquo", 0x201d },   { "real", 0x211c },     { "reg", 0x00ae },
	{ "rfloor", 0x230b },  { "rho", 0x03c1 },     { "rlm", 0x200f },      { "rsaquo", 0x203a },
	{ "rsquo", 0x2019 },   { "sbquo", 0x201a },   { "scaron", 0x0161 },   { "sdot", 0x22c5 },
	{ "sect", 0x00a7 },    { "shy", 0x00ad },     { "sigma", 0x03c3 },    { "sigmaf", 0x03c2 },
	{ "sim", 0x223c },     { "spades", 0x2660 },  { "sub", 0x2282 },      { "sube", 0x2286 },
	{ "sum", 0x2211 },     { "sup", 0x2283 },     { "sup1", 0x00b9 },     { "sup2", 0x00b2 },
	{ "sup3", 0x00b3 },    { "supe", 0x2287 },    { "szlig", 0x00df },    { "tau", 0x03c4 },
	{ "there4", 0x2234 },  { "theta", 0x03b8 },   { "thetasym", 0x03d1 }, { "thinsp", 0x2009 },
	{ "thorn", 0x00fe },   { "tilde", 0x02dc },   { "times", 0x00d7 },    { "trade", 0x2122 },
	{ "uArr", 0x21d1 },    { "uacute", 0x00fa },  { "uarr", 0x2191 },     { "ucirc", 0x00fb },
	{ "ugrave", 0x00f9 },  { "uml", 0x00a8 },     { "upsih", 0x03d2 },    { "upsilon", 0x03c5 },
	{ "uuml", 0x00fc },    { "weierp", 0x2118 },  { "xi", 0x03be },       { "yacute", 0x00fd },
	{ "yen", 0x00a5 },     { "yuml", 0x00ff },    { "zeta", 0x03b6 },     { "zwj", 0x200d },
	{ "zwnj", 0x200c }
};

typedef struct key {
	const char *name;
	size_t length;
} key;

static int entities_compare(const void *a, const void *b)
{
	const key *k = a;
	const named *entry = b;
	size_t n = strlen(entry->name);
	int order = memcmp(k->name, entry->name, KDRI_MIN(k->length, n));
	return order ? order : (k->length > n) - (k->length < n);
}

/* The character with an HTML name such as "eacute"; 0 if there is none. */
static uint32_t kdri_html_entity(const char *name, size_t length)
{
	key k = { name, length };
	const named *entry =
	        bsearch(&k, table, sizeof table / sizeof table[0], sizeof table[0], entities_compare);
	return entry ? entry->character : 0;
}

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

/* Mail, news and HTTP headers.
 *
 * A header is a first line "Name: value" (or mbox's "From ", or "HTTP/1.0 200 OK") and all that follows
 * up to the first blank line. In text without a blank line, only the lines that look like header fields are removed.
 * Bodies are used unchanged: transfer encodings are not decoded. */

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
