/* Text to tokens. SPDX-License-Identifier: BSD-3-Clause
 *
 * A token is a run of Unicode letters (general categories L*) with the marks that follow them (M*) and, in
 * KDR_TOKENS_WORDS, digits beside them ("covid19"); patterns.c has what else such a token can be. It is case
 * folded and put into composed form (NFC), so that a word has a single spelling however it was typed:
 * "STRASSE" and "Straße", final and other sigma, precomposed and combining accents. Invisible characters
 * inside a word (soft hyphen, joiners) are dropped; the zero-width space separates. Chinese, Japanese and Thai are written without
 * spaces: each pair of neighbouring characters of a run is a token ("東京都": 東京, 京都), unless KDR_TOKENS_RUNS makes the
 * entire run one token. Such pairs are nearly as good as words for comparing documents [J.-Y. Nie, J. Gao, J. Zhang,
 * M. Zhou, IRAL 2000]. The order of the steps is: fold, length limits, stop words. Stemming follows when all words
 * are known: forms.c. */
#include "text/text.h"

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

bool kdri_is_dense(const char *p, const char *end)
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
			out->dense = class != KDR_TOKENS_RUNS && kdri_is_dense(p, end);
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
		    (role == KDRI_STARTS && divide && kdri_is_dense(q, end) != out->dense))
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
		const char *address = kdri_address_end(r->begin, *p, end);
		if (address) {
			*p = address;
			return false;
		}
	}
	if (r->ascii && r->letters && *p < end && (**p == '+' || **p == '#'))
		r->end = *p += kdri_name_suffix(r->begin, *p, end);
	return r->letters;
}

static bool append_emoji(const char **p, const char *end, kdri_tokens *out)
{
	char emoji[KDRI_EMOJI_ROOM];
	size_t n;
	*p += kdri_emoji(*p, end, emoji, &n);
	return append_token(emoji, n, out);
}

/* Counts a word for each language of which it is a stop word; detect.c says why single letters are not counted. */
static void count_languages(const kdri_terms *words, const char *word, size_t n, uint32_t hash,
                            kdri_tokens *out)
{
	const int32_t id = kdri_terms_find(words, word, n, hash);
	for (int l = 0; id >= 0 && l < KDRI_LANGUAGES; l++)
		out->hits[l] += words->terms[id].df >> l & 1;
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
	while (next_run(text, &p, end, o->tokens, &r)) {
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
		if (languages && n > 1)
			count_languages(languages, word, n, hash, out);
		if (characters < o->min_length ||
		    (stopwords && kdri_terms_find(stopwords, word, n, hash) >= 0))
			continue;
		end_token(n, out);
	}
	return KDRI_TOKENS_DONE;
}
