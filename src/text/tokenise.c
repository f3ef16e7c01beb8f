/* Text to tokens. SPDX-License-Identifier: BSD-3-Clause
 *
 * A token is a run of Unicode letters (general categories L*) with the marks that follow them (M*), case
 * folded and put into composed form (NFC), so that a word has a single spelling however it was typed:
 * "STRASSE" and "Straße", final and other sigma, precomposed and combining accents. Invisible characters
 * inside a word (soft hyphen, joiners) are dropped; the zero-width space separates. Chinese, Japanese and Thai are written without
 * spaces: each pair of neighbouring characters of a run is a token ("東京都": 東京, 京都), unless KDR_TOKENS_RUNS makes the
 * entire run one token. Such pairs are nearly as good as words for comparing documents [J.-Y. Nie, J. Gao, J. Zhang,
 * M. Zhou, IRAL 2000]. The order of the steps is: fold, length limits, stop words. Stemming follows when all words
 * are known: forms.c. */
#include "text/text.h"

static bool is_ascii_letter(unsigned char c)
{
	return (unsigned)((c | 32) - 'a') < 26;
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

typedef struct run {
	const char *begin, *end;
	bool ascii, dense;
} run;

/* The next run at or after *p, which is set to its end. Returns false at the end of the text. */
static bool next_run(const char **p, const char *end, kdr_token_class class, run *out)
{
	const char *q = *p;
	const bool ascii_only = class == KDR_TOKENS_ASCII, divide = class == KDR_TOKENS_LETTERS;
	int bytes = 1;
	*out = (run){ .ascii = true };
	for (; q < end; q += bytes) {
		bytes = 1;
		if (is_ascii_letter((unsigned char)*q))
			break;
		if (!ascii_only && (unsigned char)*q >= 0x80 &&
		    kdri_character(q, end, &bytes) == KDRI_STARTS) {
			out->ascii = false;
			out->dense = divide && is_dense(q, end);
			break;
		}
	}
	out->begin = out->end = q;
	*p = q;
	if (q >= end)
		return false;
	for (q += bytes; q < end; q += bytes) {
		bytes = 1;
		if (is_ascii_letter((unsigned char)*q)) {
			if (out->dense)
				break;
			continue;
		}
		if (ascii_only || (unsigned char)*q < 0x80)
			break;
		const kdri_character_role role = kdri_character(q, end, &bytes);
		if (role == KDRI_SEPARATES ||
		    (role == KDRI_STARTS && divide && is_dense(q, end) != out->dense))
			break;
		out->ascii = false;
	}
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

static bool is_ascii(const char *text, size_t length)
{
	unsigned char all = 0;
	for (size_t i = 0; i < length; i++)
		all |= (unsigned char)text[i];
	return all < 0x80;
}

static bool append_token(const char *word, size_t n, kdri_tokens *out)
{
	if (out->count + 2 > out->room || out->text_used + (int64_t)n + 1 > out->text_room)
		return false;
	memcpy(out->text + out->text_used, word, n);
	out->text_used += (int64_t)n;
	out->text[out->text_used++] = ' ';
	out->start[++out->count] = (uint32_t)out->text_used;
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

kdri_tokenise_result kdri_tokenise(const kdr_text_options *o, const kdri_terms *stopwords, const char *text,
                                   size_t length, kdri_tokens *out)
{
	const char *p = text, *end = text + length;
	run r;
	int32_t room[KDRI_RUN_MAX + 1];
	if (!kdri_unicode_known && o->tokens != KDR_TOKENS_ASCII && !is_ascii(text, length))
		return KDRI_TOKENS_NO_UNICODE;
	while (next_run(&p, end, o->tokens, &r)) {
		char *word = (char *)room;
		size_t n = (size_t)(r.end - r.begin);
		if (r.dense) {
			if (!append_pairs(o, &r, out))
				return KDRI_TOKENS_FULL;
			continue;
		}
		if (r.ascii) {
			if ((int64_t)n < o->min_length || (int64_t)n > o->max_length)
				continue;
			lower_ascii(!o->keep_case, r.begin, n, word);
		} else {
			n = kdri_fold_run(!o->keep_case, r.begin, n, room);
			int64_t characters = count_characters(word, n);
			if (n == 0 || characters < o->min_length || characters > o->max_length)
				continue;
		}
		if (stopwords && kdri_terms_find(stopwords, word, n, kdri_term_hash(word, n)) >= 0)
			continue;
		if (!append_token(word, n, out))
			return KDRI_TOKENS_FULL;
	}
	return KDRI_TOKENS_DONE;
}
