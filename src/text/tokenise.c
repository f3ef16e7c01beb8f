/* Text to tokens. SPDX-License-Identifier: BSD-3-Clause
 *
 * A token is a run of Unicode letters (general categories L*) with the marks that follow them (M*) and, in
 * KDR_TOKENS_WORDS, digits beside them ("covid19"); further below is what else such a token can be. It is case
 * folded and put into composed form (NFC), so that a word has a single spelling however it was typed:
 * "STRASSE" and "Straße", final and other sigma, precomposed and combining accents. Invisible characters
 * inside a word (soft hyphen, joiners) are dropped; the zero-width space separates. Chinese, Japanese and Thai are written without
 * spaces: each pair of neighbouring characters of a run is a token ("東京都": 東京, 京都), unless KDR_TOKENS_RUNS makes the
 * entire run one token. Such pairs are nearly as good as words for comparing documents [J.-Y. Nie, J. Gao, J. Zhang,
 * M. Zhou, IRAL 2000]. The order of the steps is: fold, length limits, stop words. Stemming follows when all words
 * are known: vocabulary.c. */
#include "core/utf8.h"
#include "text/text.h"

/* Addresses, emojis and names such as C++: what KDR_TOKENS_WORDS treats in a special way.
 *
 * Every look-ahead is bounded or skips what it has seen, so that tokenising stays linear in the length of the text. */

/* The longest local part of an e-mail address [RFC 5321, 4.5.3.1.1]. */
enum { LOCAL_MAX = 64 };

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (unsigned)(((unsigned char)c | 32) - 'a') < 26;
}

/* Whether a character belongs to a script without spaces between words: Thai, kana, Han. */
static bool is_dense(const char *p, const char *end)
{
	static const uint32_t ranges[][2] = { { 0xe01, 0xe4e },   { 0x3005, 0x3007 }, { 0x3041, 0x30ff },
		                              { 0x31f0, 0x31ff }, { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff },
		                              { 0xf900, 0xfaff }, { 0xff66, 0xff9f }, { 0x20000, 0x323af } };
	uint32_t c;
	if ((unsigned char)*p < 0xe0 || kdri_utf8_at(p, (size_t)(end - p), &c) == 0)
		return false;
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* The end of a URL whose scheme or "www" ends at p. */
static const char *url_end(const char *p, const char *end)
{
	for (int bytes = 1; p < end; p += bytes) {
		bytes = 1;
		if ((unsigned char)*p <= ' ' || strchr("<>\"`)]}", *p))
			break;
		if ((unsigned char)*p >= 0x80 &&
		    (kdri_character(p, end, &bytes) == KDRI_SEPARATES || is_dense(p, end)))
			break;
	}
	return p;
}

/* The end of an e-mail address of which a run of letters and digits ends at p; NULL if it is none. */
static const char *mail_end(const char *p, const char *end)
{
	const char *limit = end - p > LOCAL_MAX ? p + LOCAL_MAX : end, *domain;
	while (p < limit &&
	       (is_alphanumeric(*p) || *p == '.' || *p == '-' || *p == '_' || *p == '%' || *p == '+'))
		p++;
	if (p >= limit || *p != '@')
		return NULL;
	domain = ++p;
	bool dotted = false;
	for (; p < end && (is_alphanumeric(*p) || *p == '-' || *p == '.'); p++)
		dotted |= *p == '.' && p > domain && p + 1 < end && is_alphanumeric(p[1]);
	return dotted ? p : NULL;
}

static bool is_www(const char *p)
{
	return (p[0] | 32) == 'w' && (p[1] | 32) == 'w' && (p[2] | 32) == 'w';
}

/* The end of the URL or e-mail address whose first run of letters and digits is [begin, p), p < end; NULL if it is none. */
static const char *address_end(const char *begin, const char *p, const char *end)
{
	if (*p == ':')
		return end - p > 3 && p[1] == '/' && p[2] == '/' ? url_end(p + 3, end) : NULL;
	if (*p == '.' && p - begin == 3 && end - p > 1 && is_alphanumeric(p[1]) && is_www(begin))
		return url_end(p, end);
	return mail_end(p, end);
}

/* Bytes at p, p < end, that belong to a name such as C++ or C# whose letters are [begin, p). */
static size_t name_suffix(const char *begin, const char *p, const char *end)
{
	if (*p == '+' && end - p > 1 && p[1] == '+') {
		const char next = end - p > 2 ? p[2] : ' ';
		return next == '+' || (is_alphanumeric(next) && next > '9') ? 0 : 2;
	}
	return *p == '#' && p - begin == 1 && (end - p == 1 || !is_alphanumeric(p[1])) ? 1 : 0;
}

/* --- emojis ------------------------------------------------------------------------------------- */

enum { JOINER = 0x200d, TEXT_STYLE = 0xfe0e, EMOJI_STYLE = 0xfe0f };

static bool is_between(uint32_t c, uint32_t low, uint32_t high)
{
	return c >= low && c <= high;
}

static bool is_flag_letter(uint32_t c)
{
	return is_between(c, 0x1f1e6, 0x1f1ff);
}

/* Styles, skin tones and tags change how the emoji before them is drawn. */
static bool is_variation(uint32_t c)
{
	return c == TEXT_STYLE || c == EMOJI_STYLE || is_between(c, 0x1f3fb, 0x1f3ff) ||
	       is_between(c, 0xe0020, 0xe007f);
}

static bool is_emoji(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0x231a, 0x231b },   { 0x23e9, 0x23fa },   { 0x2600, 0x26ff },   { 0x2705, 0x2705 },
		{ 0x2708, 0x270d },   { 0x2728, 0x2728 },   { 0x274c, 0x274e },   { 0x2753, 0x2757 },
		{ 0x2763, 0x2764 },   { 0x2b50, 0x2b55 },   { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
		{ 0x1f18e, 0x1f19a }, { 0x1f1e6, 0x1f251 }, { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff },
		{ 0x1f7e0, 0x1f7eb }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff }
	};
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (is_between(c, ranges[i][0], ranges[i][1]))
			return true;
	return false;
}

/* Bytes of the longest emoji with everything joined to it. */
enum { KDRI_EMOJI_ROOM = 64 };

/* The emoji at `text` without styles and skin tones, but with the emojis joined to it: `out` has room for KDRI_EMOJI_ROOM.
 * Returns the bytes read; 0: no emoji. */
static size_t kdri_emoji(const char *text, const char *end, char *out, size_t *length)
{
	const char *p = text;
	uint32_t c = 0, next = 0;
	size_t n = kdri_utf8_at(p, (size_t)(end - p), &c), m, used = 0;
	if (n == 0 || !is_emoji(c))
		return 0;
	for (;;) {
		memcpy(out + used, p, n);
		used += n;
		p += n;
		while (p < end && (n = kdri_utf8_at(p, (size_t)(end - p), &next)) > 0 && is_variation(next))
			p += n;
		if (p >= end || n == 0)
			break;
		if (used == n && is_flag_letter(c) && is_flag_letter(next))
			continue;
		/* The next emoji belongs to this one if a joiner connects them. */
		m = next == JOINER && p + n < end ? kdri_utf8_at(p + n, (size_t)(end - p) - n, &c) : 0;
		if (m == 0 || !is_emoji(c) || used + n + m > KDRI_EMOJI_ROOM)
			break;
		memcpy(out + used, p, n);
		used += n;
		p += n;
		n = m;
	}
	*length = used;
	return (size_t)(p - text);
}

bool kdri_only_emojis(const char *term)
{
	const char *end = term + strlen(term);
	char emoji[KDRI_EMOJI_ROOM];
	size_t n, length;
	while (term < end && (n = *term == ' ' ? 1 : kdri_emoji(term, end, emoji, &length)) > 0)
		term += n;
	return term == end;
}

/* Kinds of ASCII characters. JOINS: after a word, it may begin the rest of an address or of a name such as C++. */
enum { LETTER = 1, DIGIT = 2, JOINS = 4 };
#define FIVE(kind, c) \
	[(c)] = (kind), [(c) + 1] = (kind), [(c) + 2] = (kind), [(c) + 3] = (kind), [(c) + 4] = (kind)
#define LETTERS(a) \
	FIVE(LETTER, a), FIVE(LETTER, (a) + 5), FIVE(LETTER, (a) + 10), FIVE(LETTER, (a) + 15), \
	        FIVE(LETTER, (a) + 20), [(a) + 25] = LETTER
static const unsigned char kinds[256] = {
	LETTERS('a'),  LETTERS('A'),  FIVE(DIGIT, '0'), FIVE(DIGIT, '5'), [':'] = JOINS, ['.'] = JOINS,
	['@'] = JOINS, ['_'] = JOINS, ['%'] = JOINS,    ['+'] = JOINS,    ['-'] = JOINS, ['#'] = JOINS
};

static int kind_of(char c)
{
	return kinds[(unsigned char)c];
}

typedef struct run {
	const char *begin, *end;
	bool ascii, dense, emoji, letters; /* letters: not only digits */
} run;

/* Whether the digits at q continue a number or date such as 2.4 or 10:30, of which "4GHz" and "30am" are no words. */
static bool continues_number(const char *text, const char *q)
{
	return q - text >= 2 && kind_of(q[-2]) == DIGIT && q[-1] != '\0' && strchr(".,:-/", q[-1]);
}

/* Whether a run begins at *q, which is otherwise moved behind what separates. */
static bool begins_run(const char *text, const char **q, const char *end, kdr_token_class class, run *out)
{
	const char *p = *q;
	int bytes = 1;
	const unsigned char c = (unsigned char)*p;
	if (kinds[c] == LETTER)
		return true;
	if (class == KDR_TOKENS_WORDS && kinds[c] == DIGIT) {
		if (!continues_number(text, p))
			return true;
		while (p < end && kind_of(*p) == DIGIT)
			p++;
		*q = p;
		return false;
	}
	if (c >= 0x80 && class != KDR_TOKENS_ASCII) {
		char room[KDRI_EMOJI_ROOM];
		size_t length;
		out->ascii = false;
		if (kdri_character(p, end, &bytes) == KDRI_STARTS) {
			out->dense = class != KDR_TOKENS_RUNS && is_dense(p, end);
			return true;
		}
		out->emoji = class == KDR_TOKENS_WORDS && (c == 0xe2 || c == 0xf0) &&
		             kdri_emoji(p, end, room, &length) > 0;
		if (out->emoji)
			return true;
		out->ascii = true;
	}
	*q = p + bytes;
	return false;
}

/* The next run at or after *p, which is set to its end. Returns false at the end of the text. */
static bool next_run(const char *text, const char **p, const char *end, kdr_token_class class, run *out)
{
	const char *q = *p;
	const bool ascii_only = class == KDR_TOKENS_ASCII, divide = !ascii_only && class != KDR_TOKENS_RUNS;
	const int belongs = class == KDR_TOKENS_WORDS ? LETTER | DIGIT : LETTER;
	int seen = 0, bytes;
	*out = (run){ .ascii = true };
	for (;;) {
		while (q < end && (unsigned char)*q < 0x80 && !(kind_of(*q) & belongs))
			q++;
		if (q >= end || begins_run(text, &q, end, class, out))
			break;
	}
	out->begin = out->end = *p = q;
	if (q >= end)
		return false;
	for (; !out->emoji; q += bytes) {
		for (; q < end && (kind_of(*q) & belongs) && !out->dense; q++)
			seen |= kind_of(*q);
		if (q >= end || ascii_only || (unsigned char)*q < 0x80)
			break;
		const kdri_character_role role = kdri_character(q, end, &bytes);
		if (role == KDRI_SEPARATES ||
		    (role == KDRI_STARTS && divide && is_dense(q, end) != out->dense))
			break;
		out->ascii = false;
		seen |= role == KDRI_STARTS ? LETTER : 0;
	}
	out->letters = seen & LETTER;
	*p = out->end = q;
	return true;
}

static size_t lower_ascii(bool lowercase, const char *text, size_t length, char *out)
{
	for (size_t i = 0; i < length; i++)
		out[i] = lowercase ? (char)(text[i] | 32) : text[i];
	return length;
}

static int64_t count_characters(const char *text, size_t length)
{
	int64_t n = 0;
	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* Whether a text can be cut into tokens: without utf8proc, it has to be ASCII, apart from emojis. */
static bool is_known(const kdr_text_options *o, const char *text, size_t length)
{
	char room[KDRI_EMOJI_ROOM];
	size_t n;
	if (kdri_unicode_known || o->tokens == KDR_TOKENS_ASCII)
		return true;
	for (size_t i = 0; i < length; i += n)
		if ((unsigned char)text[i] < 0x80)
			n = 1;
		else if (o->tokens != KDR_TOKENS_WORDS ||
		         (n = kdri_emoji(text + i, text + length, room, &(size_t){ 0 })) == 0)
			return false;
	return true;
}

static bool has_room(const kdri_tokens *t, size_t n)
{
	return t->count + 2 <= t->room && t->text_used + (int64_t)n + 1 <= t->text_room;
}

/* Appends the n bytes that have been written behind the last token. */
static void end_token(size_t n, kdri_tokens *out)
{
	out->text_used += (int64_t)n;
	out->text[out->text_used++] = ' ';
	out->start[++out->count] = (uint32_t)out->text_used;
}

static bool append_token(const char *word, size_t n, kdri_tokens *out)
{
	if (!has_room(out, n))
		return false;
	memcpy(out->text + out->text_used, word, n);
	end_token(n, out);
	return true;
}

/* The character at p with its marks ends there. */
static const char *after_character(const char *p, const char *end)
{
	int bytes;
	kdri_character(p, end, &bytes);
	for (p += bytes; p < end && kdri_character(p, end, &bytes) == KDRI_CONTINUES;)
		p += bytes;
	return p;
}

/* Pairs of neighbouring characters; a run of one is a token itself if tokens may be that short. */
static bool append_pairs(const kdr_text_options *o, const run *r, kdri_tokens *out)
{
	int32_t room[KDRI_RUN_MAX + 1];
	const char *first = r->begin, *second = after_character(first, r->end), *third;
	if (second == r->end && o->min_length > 1)
		return true;
	do {
		third = second < r->end ? after_character(second, r->end) : second;
		const size_t n = kdri_fold_run(!o->keep_case, first, (size_t)(third - first), room);
		if (n > 0 && !append_token((const char *)room, n, out))
			return false;
		first = second;
		second = third;
	} while (third < r->end);
	return true;
}

/* KDR_TOKENS_WORDS: removes addresses and adds the end of names such as C++ to a run, which ends at *p. False: no word. */
static bool is_word(run *r, const char **p, const char *end)
{
	if (end - *p > 1 && kind_of(**p) == JOINS && ((*p)[1] == '/' || kind_of((*p)[1]))) {
		const char *address = address_end(r->begin, *p, end);
		if (address) {
			*p = address;
			return false;
		}
	}
	if (r->ascii && r->letters && *p < end && (**p == '+' || **p == '#'))
		r->end = *p += name_suffix(r->begin, *p, end);
	return r->letters;
}

static bool append_emoji(const char **p, const char *end, kdri_tokens *out)
{
	char emoji[KDRI_EMOJI_ROOM];
	size_t n = 0;
	*p += kdri_emoji(*p, end, emoji, &n);
	return append_token(emoji, n, out);
}

kdri_tokenise_result kdri_tokenise(const kdr_text_options *o, const kdri_terms *stopwords,
                                   const kdri_terms *languages, const char *text, size_t length,
                                   kdri_tokens *out)
{
	const char *p = text, *end = text + length;
	run r;
	int32_t room[KDRI_RUN_MAX + 1];
	if (!is_known(o, text, length))
		return KDRI_TOKENS_NO_UNICODE;
	for (int64_t runs = 1; next_run(text, &p, end, o->tokens, &r); runs++) {
		if (runs % KDRI_RUNS_BETWEEN == 0 && kdri_text_stops(out->ctx))
			return KDRI_TOKENS_STOPPED;
		if (r.emoji || r.dense) {
			if (!(r.emoji ? append_emoji(&p, end, out) : append_pairs(o, &r, out)))
				return KDRI_TOKENS_FULL;
			continue;
		}
		if (o->tokens == KDR_TOKENS_WORDS && !is_word(&r, &p, end))
			continue;
		size_t n = (size_t)(r.end - r.begin);
		int64_t characters = (int64_t)n;
		if (r.ascii && (characters > o->max_length || (characters < o->min_length && !languages)))
			continue;
		if (!r.ascii) {
			n = kdri_fold_run(!o->keep_case, r.begin, n, room);
			characters = count_characters((const char *)room, n);
			if (n == 0 || characters > o->max_length)
				continue;
		}
		if (!has_room(out, n))
			return KDRI_TOKENS_FULL;
		/* Words are spelt where they stay if they are kept. */
		char *word = out->text + out->text_used;
		if (r.ascii)
			lower_ascii(!o->keep_case, r.begin, n, word);
		else
			memcpy(word, room, n);
		const uint32_t hash = stopwords || languages ? kdri_term_hash(word, n) : 0;
		if (languages && n > 1) {
			/* Counts a word for each language of which it is a stop word; detect.c says why single letters are not counted. */
			const int32_t id = kdri_terms_find(languages, word, n, hash);
			for (int l = 0; id >= 0 && l < KDRI_LANGUAGES; l++)
				out->hits[l] += languages->terms[id].df >> l & 1;
		}
		if (characters < o->min_length ||
		    (stopwords && kdri_terms_find(stopwords, word, n, hash) >= 0))
			continue;
		end_token(n, out);
	}
	return KDRI_TOKENS_DONE;
}

/* The first words of a document, for display. */

/* Invisible characters, and characters that change the direction of text, which could disguise the following text. */
static bool is_blank(uint32_t c)
{
	return c <= 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0x61c || (c >= 0x2000 && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202f) || (c >= 0x2060 && c <= 0x206f) || c == 0x3000 || c == 0xfeff;
}

size_t kdri_excerpt(const char *text, size_t length, char *out)
{
	size_t used = 0;
	bool gap = false, more = false;
	for (int characters = 0; length > 0 && !more;) {
		uint32_t c;
		size_t n = kdri_utf8_at(text, length, &c);
		if (n == 0 || is_blank(c)) {
			gap = used > 0;
			n = n ? n : 1;
		} else if (characters + gap >= KDRI_EXCERPT) {
			more = true;
		} else {
			if (gap) {
				out[used++] = ' ';
				characters++;
			}
			memcpy(out + used, text, n);
			used += n;
			characters++;
			gap = false;
		}
		text += n;
		length -= n;
	}
	if (more) {
		memcpy(out + used, "\xE2\x80\xA6", 3); /* an ellipsis */
		used += 3;
	}
	out[used] = '\0';
	return used;
}
